//! Files with digests in which a bit was flipped: verbs that copy their bytes must not make a new digest over them.

use std::path::Path;

use crate::support::run;

/// Rows of the array, and of a chunk where there are chunks.
const ROWS: usize = 47;

/// 47 rows of 100 integers that no codec would shorten, in `name` with digests, with one bit of row `row` flipped.
fn damaged(at: &Path, name: &str, row: usize, options: &[&str]) {
    let values: Vec<u8> = (0_u32..)
        .take(ROWS * 100)
        .flat_map(|number| number.wrapping_mul(2_654_435_761).to_le_bytes())
        .collect();
    std::fs::write(at.join("values.bin"), &values).unwrap();
    let pack =
        ["pack", "--dtype", "<i4", "--shape", "47,100", "values.bin", name, "--codec", "none", "--force"];
    run(at, &[&pack, options].concat()).expect(0);
    let mut file = std::fs::read(at.join(name)).unwrap();
    let wanted = &values[row * 400..row * 400 + 16];
    let place = file.windows(16).position(|bytes| bytes == wanted).unwrap();
    file[place] ^= 1;
    std::fs::write(at.join(name), file).unwrap();
}

#[test]
fn copies_compare_before_they_sign() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let chunked: &[&str] = &["--chunks", "20", "--checksum", "sha256"];
    let frame: &[&str] = &["--filter", "none", "--chunks", "20,100", "--checksum", "sha256"];
    for (name, options) in [("a.b2nd", frame), ("a.blp", chunked), ("a.asdf", &["--checksum", "md5"])] {
        damaged(at, name, 25, options);
        let end = Path::new(name).extension().unwrap().to_str().unwrap();
        let mut targets: Vec<Vec<String>> = ["b2nd", "blp", "asdf", "npy", "ra", "zarr"]
            .map(|target| vec!["convert".to_owned(), name.to_owned(), format!("out.{target}")])
            .into();
        for more in
            [&[][..], &["--codec", "lz4"], &["--compact"], &["--checksum", "none"], &["--checksum", "sha1"]]
        {
            if name == "a.asdf" && more.contains(&"sha1") {
                continue;
            }
            let target = format!("out.{end}");
            let words = [&["recode", name][..], more, &[target.as_str()]].concat();
            targets.push(words.into_iter().map(str::to_owned).collect());
        }
        for words in targets {
            let done = run(at, &words);
            assert!(
                done.expect(2).is_empty() && done.err.contains("checksum differs"),
                "{words:?}: {done:#?}"
            );
            assert!(!at.join(words.last().unwrap()).exists(), "{words:?}");
        }
        assert!(run(at, &["verify", name]).expect(1).contains("damaged"), "{name}");
    }
    // Where another program has changed a chunk on purpose.
    run(at, &["recode", "--lenient", "--checksum", "none", "a.b2nd", "out.b2nd"]).expect(0);
    run(at, &["verify", "out.b2nd"]).expect(0);
}

#[test]
fn rows_are_not_added_to_a_damaged_chunk() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    for (name, options) in [
        ("a.b2nd", &["--filter", "none", "--chunks", "20,100", "--checksum", "sha256"][..]),
        ("a.blp", &["--chunks", "20", "--checksum", "sha256"]),
    ] {
        damaged(at, name, 45, options);
        let before = std::fs::read(at.join(name)).unwrap();
        run(at, &["convert", &format!("{name}::[:3]"), "rows.npy", "--force"]).expect(0);
        let done = run(at, &["append", name, "rows.npy"]);
        assert!(done.expect(2).is_empty() && done.err.contains("checksum differs"), "{name}: {done:#?}");
        assert_eq!(std::fs::read(at.join(name)).unwrap(), before, "{name}");
    }
}
