//! Invariants of every repair, and queries of the file before and after.

use container_core::container::{CheckDepth, OpenOptions};
use container_core::format::{Format, Input, Output};
use container_core::report::{RepairReport, Report, Severity, Verdict};
use container_core::{Progress, Result};

use crate::lens::look_at_error;
use crate::options::read_options;

/// The repaired file and the report, which is the same without a file; so is the error.
pub(crate) fn repaired(
    format: &Format,
    data: &[u8],
    options: &OpenOptions,
) -> Result<(Vec<u8>, RepairReport)> {
    let repair = format.repair.expect("the format is repaired");
    with_and_without(|out| repair(Input::bytes(Box::new(data.to_vec())), options, out, Progress::none()))
}

/// As [`repaired`], by a function of the format's own.
pub(crate) fn with_and_without(
    run: impl Fn(Option<&mut dyn Output>) -> Result<RepairReport>,
) -> Result<(Vec<u8>, RepairReport)> {
    let mut out = Vec::new();
    let (wet, dry) = (run(Some(&mut out)), run(None));
    match (wet, dry) {
        (Ok(wet), Ok(dry)) => {
            assert_eq!(wet, dry);
            Ok((out, wet))
        }
        (Err(wet), Err(dry)) => {
            look_at_error(&wet);
            assert_eq!(wet.to_string(), dry.to_string());
            Err(wet)
        }
        (wet, dry) => panic!("with a target {wet:?}, without one {dry:?}"),
    }
}

/// All that is found; `None` where the bytes do not open.
fn report(format: &Format, data: &[u8], options: &OpenOptions) -> Option<Report> {
    let lens = (format.open)(Input::bytes(Box::new(data.to_vec())), options).ok()?;
    lens.check(CheckDepth::Full, &read_options(), Progress::none()).ok()
}

/// Nothing is wrong with the bytes.
pub(crate) fn is_sound(format: &Format, data: &[u8], options: &OpenOptions) -> bool {
    report(format, data, options).is_some_and(|report| report.verdict() == Verdict::Sound)
}

/// Codes of all that is wrong; one of their own where the bytes do not open.
pub(crate) fn errors(format: &Format, data: &[u8], options: &OpenOptions) -> Vec<&'static str> {
    let Some(report) = report(format, data, options) else { return vec!["not_opened"] };
    report.findings.iter().filter(|one| one.severity == Severity::Error).map(|one| one.code).collect()
}

/// Nor is anything doubtful.
pub(crate) fn is_clean(format: &Format, data: &[u8], options: &OpenOptions) -> bool {
    let clean = |report: Report| report.findings.iter().all(|one| one.severity == Severity::Note);
    report(format, data, options).is_some_and(clean)
}
