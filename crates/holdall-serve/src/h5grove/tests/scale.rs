use super::*;
use std::time::Instant;
#[test]
fn scale() {
    for f in ["/tmp/h5t/many.asdf", "/tmp/h5t/many.gsd"] {
        let t = Instant::now();
        let c = open_with(Path::new(f), Accept::Containers, &OpenOptions::default()).unwrap().container;
        eprintln!("{f} open {:?}", t.elapsed());
        let t = Instant::now();
        let o = Opened::new(c);
        eprintln!("new {:?}", t.elapsed());
        for _ in 0..2 {
            let t = Instant::now();
            let m = o.meta("/");
            eprintln!("meta {:?} {}", t.elapsed(), m["children"].as_array().unwrap().len());
        }
        let t = Instant::now();
        let p = o.entities.paths(o.container.as_ref(), "/", &Limits::default()).unwrap();
        eprintln!("paths {:?} {}", t.elapsed(), p.as_array().unwrap().len());
    }
}
