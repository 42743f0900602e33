//! Cut at every byte and with every header bit flipped, a fixture gives an error with its place, or the right data.

use container_core::container::OpenOptions;
use container_core::format::Input;
use container_core::report::{Severity, Verdict};
use container_core::{ErrorKind, Limits, Progress};

use crate::corpus::{Seen, format, see};
use crate::manifest::{Fixture, fixtures};

/// Enough for every fixture, and nothing for what damage may ask for.
fn options() -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 20);
    options
}

fn look(fixture: &Fixture, bytes: Vec<u8>) -> container_core::Result<Seen> {
    let file = (format(&fixture.format).open)(Input::bytes(Box::new(bytes)), &options())?;
    see(&*file)
}

#[test]
fn a_file_cut_anywhere_says_so_or_still_holds_its_values() {
    for fixture in fixtures().iter().filter(|fixture| fixture.verdict == "sound") {
        let bytes = fixture.bytes();
        let whole = look(fixture, bytes.clone()).expect("a sound fixture");
        // All but the trailer.
        let end = bytes.len() as u64 - fixture.trailer.unwrap_or(0);
        for cut in 0..bytes.len() {
            let name = format!("{} cut at {cut}", fixture.path);
            match look(fixture, bytes[..cut].to_vec()) {
                Err(error) if cut < 8 => {
                    assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{name}");
                }
                Err(error) => {
                    assert!(cut < 48, "{name}: {error}");
                    let ErrorKind::Truncated { need: 48, have } = error.kind() else {
                        panic!("{name}: {error}")
                    };
                    assert_eq!((*have, error.range()), (cut as u64, Some(0..48)), "{name}");
                }
                Ok(seen) if (cut as u64) < end => {
                    assert_eq!(seen.report.verdict(), Verdict::Damaged, "{name}");
                    assert!(seen.values.is_err(), "{name}: values of a cut file");
                    let mut errors = seen.report.findings.iter().filter(|it| it.severity == Severity::Error);
                    // What is missing lies in the range of some finding: it starts in the file and ends after it.
                    assert!(
                        errors.any(|it| it
                            .range
                            .as_ref()
                            .is_some_and(|it| it.start <= cut as u64 && it.end > cut as u64)
                            || it.code == "undecodable_data"
                            || it.code == "reshape_bug"
                            || it.code == "size_mismatch"),
                        "{name}: {:?}",
                        seen.report.findings
                    );
                }
                Ok(seen) => assert_eq!(seen.values, whole.values, "{name}: the trailer alone is cut"),
            }
        }
    }
}

#[test]
fn a_flipped_header_bit_never_reads_past_the_file_or_its_shape() {
    for fixture in fixtures() {
        let bytes = fixture.bytes();
        for at in 0..bytes.len().min(48 + 8 * 8) {
            for bit in 0..8 {
                let mut damaged = bytes.clone();
                damaged[at] ^= 1 << bit;
                let name = format!("{} with bit {bit} of byte {at} flipped", fixture.path);
                let Ok(seen) = look(&fixture, damaged) else { continue };
                assert_eq!(seen.layout.last().map(|last| last.range.end), Some(seen.size), "{name}");
                if seen.values.is_ok() {
                    assert_eq!(seen.report.verdict(), Verdict::Sound, "{name}: values of a damaged file");
                }
            }
        }
    }
}

#[test]
fn repairs_of_damaged_files_never_panic_and_are_sound_when_they_work() {
    for fixture in fixtures().iter().filter(|fixture| fixture.verdict == "sound") {
        let bytes = fixture.bytes();
        let repair = format(&fixture.format).repair.expect("a repair");
        for cut in 0..bytes.len() {
            let mut out = Vec::new();
            let input = Input::bytes(Box::new(bytes[..cut].to_vec()));
            let Ok(report) = repair(input, &options(), Some(&mut out), Progress::none()) else { continue };
            let seen = look(fixture, out).expect("a repaired file opens");
            assert_eq!(seen.report.verdict(), Verdict::Sound, "{} cut at {cut}", fixture.path);
            assert!(seen.values.is_ok() && !report.kept.is_empty());
        }
    }
}
