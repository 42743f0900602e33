//! ASDF files of any bytes, repaired.

use asdf::{FORMAT, File, Strictness};
use container_core::container::StaleChecksums;
use container_core::dtype::Order;
use container_core::report::{RepairItem, RepairReport};

use crate::asdf_file::open;
use crate::options::{read_options, small_options};
use crate::repaired::{self, repaired};

/// First bytes of an index (ASDF standard 1.6.0, file layout, "Block index").
const MARKER: &[u8] = b"#ASDF BLOCK INDEX";

/// Repairs the bytes, and holds the result against them.
pub fn asdf_repair(data: &[u8]) {
    let clean = is_clean(data);
    for digests in [StaleChecksums::Keep, StaleChecksums::Renew] {
        let (repaired, report) = match repair(data, digests) {
            Ok(done) => done,
            Err(error) => {
                let limit = matches!(error.kind(), container_core::ErrorKind::Limit { .. });
                assert!(!clean || limit, "clean, but not repaired: {error}");
                continue;
            }
        };
        for item in report.kept.iter().chain(&report.guessed).chain(&report.lost) {
            assert!(!item.what.is_empty());
            assert!(item.range.as_ref().is_none_or(|range| range.start <= range.end), "{item:?}");
        }
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
        let fixed = open(&repaired, Strictness::Compatible).expect("a repaired file opens");
        if clean {
            assert!(report.lost.is_empty(), "{report:?}");
            keeps(&open(data, Strictness::Compatible).expect("it is clean"), &fixed);
        }
        if has_swallowed_an_index(&fixed, &repaired) || ends_in_nonsense(&fixed) {
            continue;
        }
        let (again, second) = repair(&repaired, digests).expect("a repaired file");
        assert!(again == repaired, "a second repair changes something: {second:?}");
        // What nobody can mend stays, and each repair says so.
        let is_told = |item: &RepairItem| report.lost.iter().any(|first| is_same(&first.what, &item.what));
        assert!(second.lost.iter().all(is_told), "{second:?} after {report:?}");
        assert!(second.guessed.is_empty(), "{second:?}");
    }
}

/// A streamed block goes on over what looks like an index. That may lead to other blocks, now that the first repair has moved them.
fn has_swallowed_an_index(fixed: &File, bytes: &[u8]) -> bool {
    let streamed = fixed.blocks().last().filter(|block| block.header.is_streamed());
    let data = streamed.and_then(|block| bytes.get(usize::try_from(block.data.start).ok()?..));
    data.is_some_and(|data| data.windows(MARKER.len()).any(|part| part == MARKER))
}

/// A streamed block that names a codec, which the first repair tells as lost: data in the place of a header, in which there may be blocks that
/// another hypothesis leads to.
fn ends_in_nonsense(fixed: &File) -> bool {
    let last = fixed.blocks().last().map(|block| &block.header);
    last.is_some_and(|header| header.is_streamed() && header.is_compressed())
}

/// Both tell of one thing: in the same words but for places, or of one array, which the first repair could not cut because others share it.
fn is_same(first: &str, second: &str) -> bool {
    let words = |text: &str| text.replace(|letter: char| letter.is_ascii_digit(), "");
    let array = second.split_once(": unreadable array left unchanged").map(|(name, _)| format!("{name}: "));
    words(first) == words(second) || array.is_some_and(|array| first.starts_with(&array))
}

/// Every array of a clean file is in the repaired one.
fn keeps(file: &File, fixed: &File) {
    assert_eq!(file.arrays().len(), fixed.arrays().len());
    for (index, entry) in file.arrays().iter().enumerate().take(64) {
        assert_eq!(entry.path, fixed.arrays()[index].path);
        let values = |file: &File| {
            let geometry = file.geometry(index).ok().filter(|it| it.byte_len() < 1 << 20)?;
            let whole = file.whole(index).ok()?;
            let read = file.read_index(index, &whole, &read_options()).ok()?;
            let bytes = read.bytes(Order::C, &small_options().limits).ok()?.into_owned();
            Some((geometry.shape.clone(), bytes))
        };
        assert!(values(file) == values(fixed), "{} changed", entry.path);
    }
}

/// The repaired file and the report, which is the same without a file.
fn repair(data: &[u8], digests: StaleChecksums) -> container_core::Result<(Vec<u8>, RepairReport)> {
    let mut options = small_options();
    options.stale_checksums = digests;
    repaired(&FORMAT, data, &options)
}

/// Nothing is wrong with the bytes, nor odd: an index that lists a block too many is odd, and a repair takes it at its word.
fn is_clean(data: &[u8]) -> bool {
    repaired::is_clean(&FORMAT, data, &small_options())
}
