//! A read for which a stop was requested before decodes, copies and compares nothing, in every format.

use std::sync::atomic::{AtomicBool, Ordering};

use container_core::container::{Container, ReadOptions, all_datasets};
use container_core::region::Region;
use container_core::source::FileSource;
use container_core::{ErrorKind, Stop};

use crate::corpus;
use crate::manifest::all_fixtures;

/// Of all fixtures, from memory and from a file that lends nothing: what a source lends, and what is empty, is all that a read gives. Other
/// errors are those of the read without the request.
#[test]
fn reads_are_cancelled_after_a_stop_request() {
    let asked: &'static AtomicBool = Box::leak(Box::default());
    asked.store(true, Ordering::Relaxed);
    for format in ["asdf", "blosc2", "bloscpack", "gsd", "rawarray"] {
        let mut cancelled = 0;
        for fixture in all_fixtures().into_iter().filter(|fixture| fixture.format == format) {
            let mut ways = vec![corpus::open_fixture(&fixture)];
            if fixture.files.is_none() {
                let source = FileSource::open(&fixture.full_path).unwrap();
                ways.push(corpus::open(format, Box::new(source)));
            }
            for container in ways.iter().flatten() {
                cancelled += cancelled_reads(&**container, &fixture.path, Stop::when(asked));
            }
        }
        assert!(cancelled > 50, "{format}: {cancelled}");
    }
}

fn cancelled_reads(container: &dyn Container, path: &str, stop: Stop) -> usize {
    let options = ReadOptions::default();
    let mut cancelled = 0;
    for (index, dataset) in all_datasets(container) {
        let region = Region::whole(&dataset.shape);
        match container.read(index, &region, &options.with_stop(stop)) {
            Err(error) if matches!(error.kind(), ErrorKind::Cancelled) => cancelled += 1,
            Ok(array) if array.is_empty() || array.dtype().itemsize() == 0 || array.parts().2 => {}
            Ok(_) => panic!("{path} {}: read all the same", dataset.path),
            Err(error) => {
                let other = container.read(index, &region, &options).map(drop).expect_err(path);
                assert_eq!(other.to_string(), error.to_string(), "{path} {}", dataset.path);
            }
        }
    }
    cancelled
}
