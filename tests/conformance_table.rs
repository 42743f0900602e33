//! Every fixture, as holdall and as others read it: the table of `docs/conformance.md` is true, whole, and each difference has its reason.
//!
//! The answers of others are in the committed page, and come anew from the file that `HOLDALL_PEERS` names (`cargo xtask conformance` asks them). The
//! answers of holdall are computed here, each time.

mod page;
mod reasons;

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use container_core::Progress;
use container_core::container::{CheckDepth, Container, ReadOptions};

use crate::corpus::{as_listed, elements, open_fixture, shown};
use crate::manifest::{Fixture, all_fixtures, sha256, testdata};
use page::{Answers, Row};

/// Returns holdall's answer for a fixture, in the words of the page.
fn ours(fixture: &Fixture) -> &'static str {
    let Ok(file) = open_fixture(fixture) else { return "refused" };
    let agrees = agrees(&*file, fixture);
    let verdict = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none());
    if verdict.is_ok_and(|report| report.verdict().name() == "sound") {
        return match agrees {
            None => "read",
            Some(true) => "equal",
            Some(false) => "other",
        };
    }
    let whole = shown(&*file).is_ok_and(|all| all.iter().all(|it| it.values.is_ok()));
    match agrees {
        // Values that the damage leaves alone are read, and are the right ones.
        Some(false) => "other",
        Some(true) => "reported",
        None => {
            if whole {
                "reported"
            } else {
                "refused"
            }
        }
    }
}

/// Whether the values are those of the manifest; `None` where it has none.
fn agrees(file: &dyn Container, fixture: &Fixture) -> Option<bool> {
    let are = |kind: &str, expected: &[String]| {
        expected.iter().enumerate().all(|(number, sha)| {
            let found = file.find(&format!("{kind}/{number}")).map(|index| elements(file, index));
            found.is_some_and(|bytes| bytes.is_ok_and(|bytes| sha256(&bytes) == *sha))
        })
    };
    if let Some(expected) = fixture.datasets.as_ref().filter(|it| !it.is_empty()) {
        return Some(shown(file).is_ok_and(|found| as_listed(found) == *expected));
    }
    if let Some(expected) = &fixture.chunk_values {
        return Some(are("chunks", expected));
    }
    if let Some(expected) = fixture.items.as_ref().filter(|it| !it.is_empty()) {
        return Some(are("items", expected));
    }
    fixture.values.as_ref().map(|sha| elements(file, 0).is_ok_and(|bytes| sha256(&bytes) == *sha))
}

/// In order, on all processors.
fn all_of_ours(fixtures: &[Fixture]) -> Vec<&'static str> {
    let next = AtomicUsize::new(0);
    let answers = Mutex::new(vec![""; fixtures.len()]);
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, Ordering::Relaxed);
                    let Some(fixture) = fixtures.get(at) else { break };
                    let answer = ours(fixture);
                    answers.lock().expect("no panic")[at] = answer;
                }
            });
        }
    });
    answers.into_inner().expect("no panic")
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "what a machine cannot address is told differently")]
fn every_fixture_has_its_row_and_every_difference_its_reason() {
    const TELL: &str =
        "cargo xtask conformance asks the other implementations and writes docs/conformance.md anew";
    let path = testdata().join("../docs/conformance.md");
    let committed = std::fs::read_to_string(&path).expect("the page");
    let asked = std::env::var_os("HOLDALL_PEERS");
    let others = match &asked {
        Some(file) => Answers::told(&std::fs::read_to_string(file).expect("what the peers answered")),
        None => Answers::committed(&committed),
    };
    let fixtures = all_fixtures();
    let ours = all_of_ours(&fixtures);
    let rows: Vec<Row<'_>> =
        fixtures.iter().zip(ours).map(|(fixture, ours)| Row::new(fixture, ours, &others)).collect();
    let text = page::written(&committed, &rows, &others);
    if std::env::var("HOLDALL_GOLDENS").is_ok_and(|mode| mode == "write") {
        std::fs::write(&path, &text).expect("the page");
    } else {
        let line = text.lines().zip(committed.lines()).find(|(now, then)| now != then);
        assert_eq!(line, None, "docs/conformance.md; {TELL}");
        assert_eq!(text.len(), committed.len(), "docs/conformance.md; {TELL}");
    }
    let problems = page::problems(&rows);
    assert!(problems.is_empty(), "{}\n({TELL})", problems.join("\n"));
}
