//! GSD files of any bytes, repaired.

use container_core::Progress;
use container_core::dtype::ByteOrder;
use container_core::format::Output;
use container_core::report::RepairReport;
use gsd::repair::{RepairOptions, UncommittedFrames, repair_source};
use gsd::{FORMAT, File, Strictness};

use crate::gsd_file::open;
use crate::options::small_options;
use crate::repaired::{self, with_and_without};

/// Repairs the bytes, and holds the result against them.
pub fn gsd_repair(data: &[u8]) {
    let was_strict = open(data, Strictness::Strict).ok().filter(|_| is_sound(data));
    for uncommitted_frames in [UncommittedFrames::Checked, UncommittedFrames::Off] {
        let mut options = RepairOptions::default().with_uncommitted_frames(uncommitted_frames);
        options.limits = small_options().limits;
        let (repaired, report) = match repair(data, &options) {
            Ok(done) => done,
            Err(error) => {
                let Some(file) = &was_strict else { continue };
                // What says nothing but its name holds nothing to bring back.
                let empty = file.nframes() == 0;
                let limit = matches!(error.kind(), gsd::ErrorKind::Limit { .. });
                assert!(empty || limit, "sound, but not repaired: {error}");
                continue;
            }
        };
        let fixed = open(&repaired, Strictness::Strict).expect("a repaired file opens");
        assert!(is_sound(&repaired), "repaired, and damaged: {report:?} {:?}", errors(&repaired));
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
        for item in report.kept.iter().chain(&report.guessed).chain(&report.lost) {
            assert!(!item.what.is_empty());
            assert!(item.range.as_ref().is_none_or(|range| range.start <= range.end), "{item:?}");
        }
        for item in report.kept.iter().chain(&report.guessed) {
            let within = item.range.as_ref().is_none_or(|range| range.end <= data.len() as u64);
            assert!(within, "{item:?}");
        }
        let (again, second) = repair(&repaired, &options).expect("a sound file");
        assert!(second.lost.is_empty(), "{second:?}");
        assert!(again == repaired, "a second repair changes something: {second:?}");
        // Where no frame is listed, an older index may list some.
        if let Some(file) = was_strict.as_ref().filter(|file| file.nframes() > 0) {
            keeps(file, &fixed, uncommitted_frames, &report);
        }
    }
}

/// Every chunk of a sound file is in the repaired one.
fn keeps(file: &File, fixed: &File, uncommitted_frames: UncommittedFrames, report: &RepairReport) {
    // Bytes without an entry may be lost, and texts of the header that are none; chunks may not.
    let known = [
        "that no entry describes",
        "written again later",
        "the bytes after the text of the application",
        "is not all text",
    ];
    let is_known =
        |what: &str| known.iter().any(|end| what.ends_with(end)) || what.contains("no entry is left");
    assert!(report.lost.iter().all(|item| is_known(&item.what)), "{report:?}");
    assert!(fixed.nframes() >= file.nframes());
    if uncommitted_frames == UncommittedFrames::Off {
        assert_eq!(fixed.nframes(), file.nframes());
    }
    for entry in file.index().iter() {
        let Some(name) = file.names().bytes(entry.id).and_then(|name| std::str::from_utf8(name).ok()) else {
            continue;
        };
        // Of several entries for one chunk, which file layer 1.0 may have, readers find one.
        if file.find_chunk(entry.frame, name) != Some(entry) {
            continue;
        }
        let found =
            fixed.find_chunk(entry.frame, name).unwrap_or_else(|| panic!("{entry:?} {name}: {report:?}"));
        assert_eq!((found.n, found.m, found.type_code), (entry.n, entry.m, entry.type_code));
        let is_bytes = entry.chunk_type().is_some_and(|one| one.size() == 1);
        if is_bytes || file.header().byte_order == ByteOrder::Little {
            assert!(file.read_chunk(&entry).ok() == fixed.read_chunk(&found).ok(), "{name} changed");
        }
    }
}

/// The repaired file and the report, which is the same without a file.
fn repair(data: &[u8], options: &RepairOptions) -> gsd::Result<(Vec<u8>, RepairReport)> {
    let run = |out: Option<&mut dyn Output>| repair_source(&data.to_vec(), options, out, Progress::none());
    with_and_without(run)
}

/// Nothing is wrong with the bytes.
fn is_sound(data: &[u8]) -> bool {
    repaired::is_sound(&FORMAT, data, &small_options())
}

/// Codes of all that is wrong with the bytes.
fn errors(data: &[u8]) -> Vec<&'static str> {
    repaired::errors(&FORMAT, data, &small_options())
}

/// Nor is anything doubtful.
pub(crate) fn is_clean(data: &[u8]) -> bool {
    repaired::is_clean(&FORMAT, data, &small_options())
}
