use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use container_core::{Error, Limits};

use super::*;

struct Numbered(usize);

impl OneFile for Numbered {
    fn path(&self) -> &Path {
        Path::new("numbered")
    }
}

fn numbered() -> Vec<Numbered> {
    (0..3 * MAX_EARLY).map(Numbered).collect()
}

#[test]
fn few_results_wait_behind_a_slow_file() {
    let (files, started) = (numbered(), AtomicUsize::new(0));
    let look = |file: &Numbered, _: &Share<'_>| {
        let before = started.fetch_add(1, Ordering::Relaxed);
        if file.0 > 0 {
            return before;
        }
        // The other workers go as far as they may, and no farther.
        while started.load(Ordering::Relaxed) < MAX_EARLY {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(50));
        started.load(Ordering::Relaxed)
    };
    let mut found = Vec::new();
    let report = |seen| {
        found.push(seen);
        Ok(())
    };
    in_order(&files, 3, Limits::default(), look, |_| false, report).unwrap();
    assert_eq!(found.len(), files.len());
    assert_eq!(found[0], MAX_EARLY, "files that were looked at before the first was reported");
}

#[test]
fn a_failed_report_ends_workers_that_wait() {
    let (files, started) = (numbered(), AtomicUsize::new(0));
    let look = |file: &Numbered, _: &Share<'_>| {
        started.fetch_add(1, Ordering::Relaxed);
        while file.0 == 0 && started.load(Ordering::Relaxed) < MAX_EARLY {
            std::thread::sleep(Duration::from_millis(1));
        }
    };
    let report = |()| Err(Failure { subject: None, error: Error::usage("full") });
    let failure = in_order(&files, 3, Limits::default(), look, |()| false, report).unwrap_err();
    assert!(failure.error.to_string().contains("full"));
    assert!(started.load(Ordering::Relaxed) <= MAX_EARLY + 3);
}
