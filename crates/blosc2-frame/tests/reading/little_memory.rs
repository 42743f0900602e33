//! Checks within less memory than a chunk takes.

use blosc2_frame::{ErrorKind, FORMAT};
use container_core::Progress;
use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::report::Finding;

use crate::manifest::fixtures;

/// Returns the findings of a check within `memory` bytes; `None` where that is too little.
fn findings(container: &dyn Container, memory: u64) -> Option<Vec<Finding>> {
    let mut options = ReadOptions::default();
    options.limits = options.limits.with_memory(memory);
    match container.check(CheckDepth::Full, &options, Progress::none()) {
        Ok(report) => Some(report.findings),
        Err(error) => {
            assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
            None
        }
    }
}

/// A chunk over the limit is decoded block by block, with the same report as a whole one.
#[test]
fn chunks_over_the_limit_are_checked_block_by_block() {
    let (mut seen, mut damaged) = (0, 0);
    for fixture in fixtures() {
        let path = fixture.full_path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let Ok(container) = (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()) else {
            continue;
        };
        // The manifest does not list it for damaged files.
        let chunk = fixture.chunksize.and_then(|len| u64::try_from(len).ok()).unwrap_or(1 << 14);
        if !(2..1 << 20).contains(&chunk) {
            continue;
        }
        let Some(whole) = findings(&*container, 1 << 24) else { continue };
        let mut is_seen = false;
        for memory in [chunk - 1, chunk / 2, chunk / 3] {
            if let Some(within) = findings(&*container, memory) {
                assert_eq!(within, whole, "{} within {memory}", fixture.path);
                is_seen = true;
            }
        }
        seen += usize::from(is_seen);
        damaged += usize::from(is_seen && whole.iter().any(|finding| finding.code == "undecodable_chunk"));
    }
    assert!(seen > 300 && damaged > 8, "{seen}, {damaged} of them damaged");
}
