//! GSD files cut anywhere and with any header or index bit flipped: what is still read of a frame is what was there.

use std::collections::BTreeMap;

use container_core::container::{CheckDepth, Container, ReadOptions, all_datasets};
use container_core::format::Input;
use container_core::report::{Report, Severity, Verdict};
use container_core::{ErrorKind, Progress};

use crate::corpus::{elements, format, options};
use crate::manifest::{Fixture, fixtures, sha256};

const HEADER: u64 = 256;

fn sound() -> impl Iterator<Item = Fixture> {
    fixtures().into_iter().filter(|fixture| {
        fixture.format == "gsd" && fixture.verdict == "sound" && !fixture.path.contains("duplicate")
    })
}

fn look(bytes: &[u8]) -> container_core::Result<Box<dyn Container>> {
    (format("gsd").open)(Input::bytes(Box::new(bytes.to_vec())), &options())
}

fn check(file: &dyn Container) -> Report {
    file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).expect("a check")
}

/// The values of every stored chunk that can be read, without their shape, which may be in a chunk of its own, by `frames/<n>/<name>`.
fn chunks(file: &dyn Container) -> BTreeMap<String, String> {
    let frames = all_datasets(file).filter(|(_, dataset)| dataset.path.starts_with("frames/"));
    let read = frames.filter_map(|(index, dataset)| {
        let values = elements(file, index).ok()?;
        Some((dataset.path.clone(), format!("{} {}", dataset.dtype, sha256(&values))))
    });
    read.collect()
}

/// Lists the cuts of a file: near both ends, and some between.
fn cuts(len: usize) -> impl Iterator<Item = usize> {
    (0..len).filter(move |&cut| {
        if len < 1100 { cut % 3 == 0 || len - cut < 64 } else { len - cut < 40 || cut % 211 == 0 }
    })
}

#[test]
fn truncated_file_is_an_error_or_holds_only_original_chunks() {
    let mut count = 0;
    for fixture in sound() {
        let bytes = fixture.bytes();
        let whole = chunks(&*look(&bytes).expect("a sound fixture"));
        let end = bytes.len() as u64 - fixture.expendable();
        for cut in cuts(bytes.len()) {
            let name = format!("{} cut at {cut}", fixture.path);
            let seen = look(&bytes[..cut]);
            let cut = cut as u64;
            match seen {
                Err(error) if cut < 8 => {
                    assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{name}: {error}");
                }
                Err(error) => {
                    assert!(cut < HEADER, "{name}: {error}");
                    let ErrorKind::Truncated { need, have } = error.kind() else { panic!("{name}: {error}") };
                    assert!(*have == cut && *need <= HEADER, "{name}: {error}");
                }
                Ok(file) => {
                    count += 1;
                    let report = check(&*file);
                    expect_cut(&name, cut < end, cut, &report);
                    for (path, values) in chunks(&*file) {
                        assert_eq!(whole.get(&path), Some(&values), "{name}: {path}");
                    }
                }
            }
        }
    }
    assert!(count > 5000, "only {count} cuts");
}

/// Checks that the missing bytes, or those that announce them, are in the range of some error.
fn expect_cut(name: &str, damaged: bool, cut: u64, report: &Report) {
    assert_eq!(report.verdict() == Verdict::Damaged, damaged, "{name}: {:?}", report.findings);
    let mut errors = report.findings.iter().filter(|finding| finding.severity == Severity::Error);
    let explains = errors.any(|error| {
        error.code.ends_with("_past_end") || error.range.as_ref().is_some_and(|range| range.end > cut)
    });
    assert!(explains || !damaged, "{name}: {:?}", report.findings);
}

#[test]
fn a_flipped_bit_of_header_or_index_is_survived() {
    for fixture in sound() {
        let bytes = fixture.bytes();
        // Text and reserved bytes mean nothing to the reader; of the index the first entries.
        let places = (0..48).chain([112]).chain(256..256 + 8 * 32).filter(|&at| at < bytes.len());
        for at in places {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << (at % 8);
            let name = format!("{} with a bit of byte {at} flipped", fixture.path);
            let Ok(file) = look(&damaged) else { continue };
            _ = check(&*file);
            _ = chunks(&*file);
            let layout = file.byte_map();
            let mut end = 0;
            for segment in &layout {
                assert_eq!(segment.range.start, end, "{name}: {layout:?}");
                end = segment.range.end;
            }
            assert_eq!(end, bytes.len() as u64, "{name}");
        }
    }
}

/// Repairs bytes, and checks that the result is undamaged; `None` where the repair finds nothing to keep.
fn sound_after_repair(bytes: &[u8], what: &str) -> Option<Vec<u8>> {
    let repair = format("gsd").repair.expect("a repair");
    let mut out = Vec::new();
    repair(Input::bytes(Box::new(bytes.to_vec())), &options(), Some(&mut out), Progress::none()).ok()?;
    let file =
        (format("gsd").open)(Input::bytes(Box::new(out.clone())), &options()).expect("a repaired file opens");
    let report = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).expect("a check");
    assert_eq!(report.verdict(), Verdict::Sound, "{what}: {:?}", report.findings);
    Some(out)
}

#[test]
fn repairs_of_cut_files_are_sound_and_hold_only_what_was_there() {
    for fixture in sound() {
        let bytes = fixture.bytes();
        let whole = chunks(&*look(&bytes).expect("a sound fixture"));
        for cut in cuts(bytes.len()).step_by(5) {
            let name = format!("{} cut at {cut}", fixture.path);
            let Some(repaired) = sound_after_repair(&bytes[..cut], &name) else {
                continue;
            };
            // Salvaged frames of files that hold orphans are new to it.
            if fixture.expendable() > 0 {
                continue;
            }
            // Of a name that was cut no part is taken for it: a placeholder stands for it.
            let chunks = chunks(&*look(&repaired).expect("it opened before")).into_iter();
            for (path, values) in chunks.filter(|(path, _)| !path.contains("/unknown/")) {
                // Frames move up over one that is left out.
                let field = |path: &str| path.splitn(3, '/').nth(2).map(str::to_owned);
                let same = |(was, old): (&String, &String)| {
                    field(was) == field(&path) && old.replace('>', "<") == values
                };
                assert!(whole.iter().any(same), "{name}: {path}");
            }
        }
    }
}
