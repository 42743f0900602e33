//! New files of the command's verbs: with nothing reported, none is one that a check calls damaged.

use std::path::Path;

use container_core::container::{CheckDepth, OpenOptions, ReadOptions, visible_datasets};
use container_core::write::{Durability, Overwrite};
use container_core::{Limits, Progress};
use holdall::convert::{ConvertOptions, ConvertOutcome, convert};
use holdall::recode::recode;
use holdall::repair::repair_with;
use holdall::verify::{VerifyStatus, verify_with};
use holdall::{Accept, Address, open_with};

use crate::manifest::{Fixture, all_fixtures};

const EXTENSIONS: [&str; 5] = ["asdf", "b2nd", "blp", "gsd", "ra"];

fn is_damaged(path: &Path) -> bool {
    let options = limits();
    let read = ReadOptions::default().with_limits(options.limits);
    verify_with(path, CheckDepth::Full, &options, &read, Progress::none()).verdict == VerifyStatus::Damaged
}

/// Most bytes of the datasets that are converted.
const MAX_BYTES: u64 = 1 << 18;

fn limits() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(16 << 20);
    options
}

/// Whether what a file says it holds is little.
fn is_small(path: &Path) -> bool {
    open_with(path, Accept::Containers, &limits()).is_ok_and(|opened| {
        let listed = visible_datasets(&*opened.container).map(|(_, dataset)| dataset.logical);
        listed.fold(0, u64::saturating_add) <= MAX_BYTES
    })
}

fn source(fixture: &Fixture) -> std::path::PathBuf {
    fixture.main.as_ref().map_or_else(|| fixture.full_path.clone(), |main| fixture.full_path.join(main))
}

#[test]
fn conversions_that_succeed_leave_no_damaged_file() {
    let folder = tempfile::tempdir().expect("a folder");
    let options = ConvertOptions {
        overwrite: Overwrite::Replace,
        durability: Durability::Cached,
        open: limits(),
        ..ConvertOptions::default()
    };
    let (mut problems, mut count) = (Vec::new(), 0);
    for fixture in all_fixtures() {
        let source = source(&fixture);
        if !is_small(&source) {
            continue;
        }
        for extension in EXTENSIONS {
            let target = folder.path().join(format!("new.{extension}"));
            if let Ok(ConvertOutcome::Done(_)) = convert(&Address::file(&source), &target, &options) {
                count += 1;
                if is_damaged(&target) {
                    problems.push(format!("{} to {extension}", fixture.path));
                }
            }
        }
        let target = folder.path().join("recoded");
        if let Ok(ConvertOutcome::Done(_)) = recode(&source, &target, &options)
            && is_damaged(&target)
        {
            problems.push(format!("{} recoded", fixture.path));
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 1000, "only {count} conversions");
}

#[test]
fn repairs_without_a_loss_leave_no_damaged_file_and_report_the_same_without_one() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("new");
    let (mut problems, mut count) = (Vec::new(), 0);
    for fixture in all_fixtures() {
        // Names of other files lead nowhere from another folder, where they are a note.
        if fixture.main.is_some() || !is_small(&fixture.full_path) {
            continue;
        }
        let run = |target: Option<&Path>| {
            let options = limits();
            repair_with(&fixture.full_path, target, Overwrite::Replace, &options, Progress::none())
        };
        let (wet, dry) = (run(Some(&target)), run(None));
        match (wet, dry) {
            (Ok(wet), Ok(dry)) => {
                count += 1;
                if wet.report != dry.report {
                    problems.push(format!(
                        "{}: {:?}, without a target {:?}",
                        fixture.path, wet.report, dry.report
                    ));
                }
                if wet.report.lost.is_empty() && is_damaged(&target) {
                    problems.push(format!("{}: damaged, and nothing is lost", fixture.path));
                }
            }
            (Err(_), Err(_)) => {}
            (wet, dry) => problems.push(format!("{}: {wet:?}, without a target {dry:?}", fixture.path)),
        }
    }
    assert!(problems.is_empty(), "{problems:#?}");
    assert!(count > 500, "only {count} repairs");
}
