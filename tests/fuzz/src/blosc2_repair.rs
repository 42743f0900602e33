//! Frames of any bytes, repaired.

use blosc2_frame::{Error, ErrorKind, FORMAT, Frame, Result};
use container_core::Progress;
use container_core::container::Tolerance;
use container_core::format::{Input, Output};
use container_core::report::{RepairReport, Severity};

use crate::blosc2_file::open;
use crate::lens::look_at_error;
use crate::options::{read_options, small_options};
use crate::repaired;

/// Most chunks and bytes that are compared.
const MAX_CHUNKS: u64 = 256;
const MAX_COMPARED_BYTES: u64 = 1 << 17;

/// Repairs the bytes, and holds the result against them.
pub fn blosc2_repair(data: &[u8]) {
    let before = open(data, Tolerance::Strict).ok();
    // A few bytes of index may be more chunks than anyone wants to write.
    let lenient = open(data, Tolerance::Lenient).ok();
    let many = |frame: &Frame| frame.chunk_count() > MAX_CHUNKS || frame.data_len() > MAX_COMPARED_BYTES;
    if lenient.as_ref().is_some_and(many) {
        return;
    }
    let (mended, report) = match repair(data) {
        Ok(done) => done,
        Err(error) => {
            let sound = before.is_some() && is_clean(data);
            let limit = matches!(error.kind(), ErrorKind::Limit { .. });
            return assert!(!sound || limit, "sound, but not repaired: {error}");
        }
    };
    let fixed = match open(&mended, Tolerance::Strict) {
        Ok(fixed) => fixed,
        Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => return,
        Err(error) => panic!("repaired: {error}"),
    };
    for item in report.kept.iter().chain(&report.guessed).chain(&report.lost) {
        assert!(!item.what.is_empty());
        assert!(item.range.as_ref().is_none_or(|range| range.start <= range.end), "{item:?}");
    }
    assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
    let faults = fixed.layout().faults().iter().filter(|fault| fault.severity() == Severity::Error);
    assert_eq!(faults.count(), 0, "repaired, and {:?}", fixed.layout().faults());
    let is_copied = report.kept.iter().chain(&report.lost).any(|item| item.what.ends_with("copied as it is"));
    if report.guessed.is_empty() && !is_copied {
        for index in 0..fixed.chunk_count().min(MAX_CHUNKS) {
            let read = fixed.read_chunk(index, &read_options());
            // A shape that is believed may have chunks for which there is no memory here.
            let limit = |error: &Error| matches!(error.kind(), ErrorKind::Limit { .. });
            let fits = read.as_ref().map_or_else(limit, |_| true);
            assert!(fits, "chunk {index} of what was repaired: {read:?} {report:?}");
        }
    }
    if let Some(before) = before.filter(|_| is_clean(data)) {
        // Bytes behind the frame have no place in the new one; all else is kept.
        let end = before.layout().header_range().start.saturating_add(before.header().frame_len);
        let behind = end.max(before.layout().trailer_range().end)..data.len() as u64;
        assert!(
            report.lost.iter().all(|lost| lost.range.as_ref() == Some(&behind)),
            "{behind:?}: {report:?}"
        );
        assert_eq!(before.chunk_count(), fixed.chunk_count());
        assert_eq!(before.metalayers(), fixed.metalayers());
        for index in 0..before.chunk_count() {
            let (old, new) =
                (before.read_chunk(index, &read_options()), fixed.read_chunk(index, &read_options()));
            assert_eq!(old.ok(), new.ok(), "chunk {index}");
        }
    }
}

/// The repaired file and the report, which is the same without a file.
fn repair(data: &[u8]) -> Result<(Vec<u8>, RepairReport)> {
    let run = |out: Option<&mut dyn Output>| {
        let repair = FORMAT.repair.expect("frames are repaired");
        repair(Input::bytes(Box::new(data.to_vec())), &small_options(), out, Progress::none())
    };
    let mut out = Vec::new();
    let (wet, dry) = (run(Some(&mut out)), run(None));
    match (wet, dry) {
        (Ok(wet), Ok(dry)) => {
            assert_eq!(wet, dry);
            Ok((out, wet))
        }
        (Err(wet), dry) => {
            look_at_error(&wet);
            assert!(dry.is_err() || !wet.is_damage(), "with a target {wet:?}, without one {dry:?}");
            Err(wet)
        }
        (Ok(_), Err(dry)) => panic!("without a target {dry:?}"),
    }
}

/// Nothing is wrong with the bytes, nor odd.
fn is_clean(data: &[u8]) -> bool {
    repaired::is_clean(&FORMAT, data, &small_options())
}
