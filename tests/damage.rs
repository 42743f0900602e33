//! Cut at every byte and with every header bit flipped, a fixture gives an error with its place, or the right data.

use std::ops::Range;

use container_core::format::Input;
use container_core::report::{Finding, Severity, Verdict};
use container_core::{Error, ErrorKind, Progress};

use crate::corpus::{Seen, format, options, see};
use crate::manifest::{Fixture, fixtures};

/// Those of one array or of items; `gsd_damage` and `blosc2_damage` have the others.
fn flat_fixtures() -> impl Iterator<Item = Fixture> {
    fixtures().into_iter().filter(|fixture| ["bloscpack", "rawarray"].contains(&fixture.format.as_str()))
}

fn look(fixture: &Fixture, bytes: Vec<u8>) -> container_core::Result<Seen> {
    let file = (format(&fixture.format).open)(Input::bytes(Box::new(bytes)), &options())?;
    see(&*file)
}

/// Lists the cuts of a file: every offset, or in large files those near both ends and some between.
fn cuts(len: usize) -> impl Iterator<Item = usize> {
    (0..len).filter(move |&cut| len < 500 || cut < 160 || len - cut < 50 || cut % 61 == 0)
}

/// Checks the error for a file that is cut within its header.
fn expect_cut_header(fixture: &Fixture, cut: usize, error: &Error) {
    let name = format!("{} cut at {cut}: {error}", fixture.path);
    let (magic, header) = if fixture.format == "rawarray" { (8, 48) } else { (4, 32) };
    match error.kind() {
        ErrorKind::WrongFormat { .. } => assert!((cut as u64) < magic, "{name}"),
        ErrorKind::Truncated { need, have } => {
            assert!((magic..header).contains(&(cut as u64)) && *need <= header, "{name}");
            assert_eq!((*have, error.range()), (cut as u64, Some(0..*need)), "{name}");
        }
        // Eight bytes of a file before versions that claim more chunks than there are versions.
        _ => assert!(fixture.path.starts_with("ok/p0") && cut < 24, "{name}"),
    }
}

/// A cut file is damaged: where, is said, and none of what is missing is made up.
fn expect_cut_file(fixture: &Fixture, cut: u64, whole: &Seen, seen: &Seen) {
    let name = format!("{} cut at {cut}", fixture.path);
    // Nothing says how many chunks an unfinished file has: those that are whole are read.
    let unfinished = fixture.codes.iter().any(|code| code == "unfinished");
    if unfinished && seen.report.verdict() == Verdict::Sound {
        return;
    }
    assert_eq!(seen.report.verdict(), Verdict::Damaged, "{name}");
    // The first of several items may be there still, and of an empty array there is nothing to miss.
    let proved = fixture.format != "rawarray" && seen.values == whole.values || unfinished;
    assert!(seen.values.is_err() || proved, "{name}: values of a cut file");
    let mut errors = seen.report.findings.iter().filter(|it| it.severity == Severity::Error);
    // What is missing lies in the range of some finding: it starts in the file and ends after it.
    let symptoms = ["undecodable_data", "reshape_bug", "size_mismatch", "chunk_header"];
    // Of −1 items only the table itself tells how long it is: where it leads past the end, the −1 is what is shown.
    let untold = |finding: &Finding| unfinished && finding.code == "offsets_unset";
    let explained = |finding: &Finding| {
        let within = |range: &Range<u64>| range.start <= cut && range.end > cut;
        finding.range.as_ref().is_some_and(within) || symptoms.contains(&finding.code) || untold(finding)
    };
    assert!(errors.any(explained), "{name}: {:?}", seen.report.findings);
}

#[test]
fn truncated_file_is_an_error_or_keeps_its_values() {
    for fixture in flat_fixtures().filter(|fixture| fixture.verdict == "sound") {
        let bytes = fixture.bytes();
        let whole = look(&fixture, bytes.clone()).expect("a sound fixture");
        let end = bytes.len() as u64 - fixture.expendable();
        for cut in cuts(bytes.len()) {
            match look(&fixture, bytes[..cut].to_vec()) {
                Err(error) => expect_cut_header(&fixture, cut, &error),
                Ok(seen) if (cut as u64) < end => expect_cut_file(&fixture, cut as u64, &whole, &seen),
                Ok(seen) => assert_eq!(seen.values, whole.values, "{} cut at {cut}", fixture.path),
            }
        }
    }
}

#[test]
fn a_flipped_header_bit_never_reads_past_the_file_or_its_shape() {
    for fixture in flat_fixtures() {
        let bytes = fixture.bytes();
        let whole = look(&fixture, bytes.clone()).ok();
        // All of RawArray's header; Bloscpack's, and some of what follows: metadata, offsets, chunks.
        let flipped = if fixture.format == "rawarray" { 48 + 8 * 8 } else { 96 };
        for at in 0..bytes.len().min(flipped) {
            // Every bit would take minutes where chunks have to be decoded each time.
            let bits =
                if fixture.format == "rawarray" || bytes.len() < 200 { 0..8 } else { at % 8..at % 8 + 1 };
            for bit in bits {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let name = format!("{} with bit {bit} of byte {at} flipped", fixture.path);
                let Ok(seen) = look(&fixture, damaged) else { continue };
                assert_eq!(seen.layout.last().map(|last| last.range.end), Some(seen.size), "{name}");
                if seen.values.is_ok() && fixture.format == "rawarray" {
                    assert_eq!(seen.report.verdict(), Verdict::Sound, "{name}: values of a damaged file");
                } else if seen.values.is_ok() && seen.report.verdict() == Verdict::Damaged {
                    expect_same_values(&fixture, whole.as_ref(), &seen, &name);
                }
            }
        }
    }
}

/// Damage that leaves values readable has not changed them.
fn expect_same_values(fixture: &Fixture, whole: Option<&Seen>, seen: &Seen, name: &str) {
    let Some(whole) = whole.filter(|_| fixture.verdict == "sound") else { return };
    let same_type = whole.dtype == seen.dtype && whole.shape == seen.shape;
    assert!(!same_type || whole.values == seen.values, "{name}: other values of a damaged file");
}

#[test]
fn repairs_of_damaged_files_never_panic_and_are_sound_when_they_work() {
    for fixture in flat_fixtures().filter(|fixture| fixture.verdict == "sound") {
        let bytes = fixture.bytes();
        let repair = format(&fixture.format).repair.expect("a repair");
        for cut in cuts(bytes.len()) {
            let mut out = Vec::new();
            let input = Input::bytes(Box::new(bytes[..cut].to_vec()));
            let Ok(report) = repair(input, &options(), Some(&mut out), Progress::none()) else { continue };
            let seen = look(&fixture, out).expect("a repaired file opens");
            assert_eq!(seen.report.verdict(), Verdict::Sound, "{} cut at {cut}", fixture.path);
            let nothing_left = fixture.items.is_some() && seen.dtype.is_none();
            assert!(seen.values.is_ok() || nothing_left, "{} cut at {cut}", fixture.path);
            assert!(!report.kept.is_empty() || nothing_left, "{} cut at {cut}", fixture.path);
        }
    }
}
