//! Files with inserted or deleted bytes, so that neither offsets nor the walk point to the chunks after these.

use container_core::Limits;
use container_core::dtype::{DType, Order};
use container_core::report::Evidence;

use super::{data, ranges, repair_bytes, sound, stored, values};
use crate::NumpyArray;
use crate::layout::Layout;
use crate::repair::*;
use crate::write::{Offsets, WriteOptions};

/// Ten chunks of 100 bytes and one of 50, all 20 longer in the file, the first at 1000.
pub(super) fn whole() -> Vec<u8> {
    sound(&stored())
}

/// The same at 32, without a table of offsets.
pub(super) fn bare() -> Vec<u8> {
    sound(&WriteOptions { offsets: Offsets::None, ..stored() })
}

/// The data, with zeros for some chunks.
pub(super) fn without(lost: &[usize]) -> Vec<u8> {
    let mut data = data(1050);
    for chunk in lost {
        let end = (chunk * 100 + 100).min(data.len());
        data[chunk * 100..end].fill(0);
    }
    data
}

pub(super) fn whats(items: &[RepairItem]) -> Vec<&str> {
    items.iter().map(|item| item.what.as_str()).collect()
}

#[test]
fn a_byte_more_or_less_in_one_chunk_costs_that_chunk() {
    for mut damaged in [whole(), bare()] {
        let first = damaged.len() - 1270;
        let place = first + 2 * 120 + 50;
        let mut longer = damaged.clone();
        longer.insert(place, 7);
        damaged.remove(place);
        for (damaged, shift) in [(longer, 1), (damaged, -1)] {
            let (repaired, report) = repair_bytes(damaged);
            assert_eq!(values(&repaired), without(&[2]), "{report:?}");
            let at = |chunk: u64| (first as u64 + chunk * 120).saturating_add_signed(shift);
            let lost = first as u64 + 240..at(3).min(first as u64 + 360);
            assert_eq!(ranges(&report.lost), std::iter::once(lost).collect::<Vec<_>>());
            let found = RepairItem::new(at(3)..at(11) - 50, "chunks 3 to 10: found by header and content");
            let found = found.with_evidence(Evidence::Walk);
            assert!(report.guessed.contains(&found), "{report:?}");
        }
    }
}

#[test]
fn inserted_or_removed_bytes_before_the_chunks_lose_no_data() {
    for damaged in [whole(), bare()] {
        // In the table of offsets, where there is one, and at the end of the header.
        let longer = [&damaged[..32], &[1, 2, 3], &damaged[32..]].concat();
        let (repaired, report) = repair_bytes(longer);
        assert_eq!(values(&repaired), data(1050));
        assert!(report.lost.is_empty(), "{report:?}");
    }
    let mut shorter = whole();
    shorter.drain(300..313);
    assert_eq!(values(&repair_bytes(shorter).0), data(1050));
}

#[test]
fn a_sector_that_is_gone_costs_the_chunks_in_it() {
    // Chunks 3 and 4 and parts of 2 and 5; without offsets, what is left ends where the file does.
    for mut damaged in [whole(), bare()] {
        let first = damaged.len() - 1270;
        damaged.drain(first + 340..first + 620);
        let (repaired, report) = repair_bytes(damaged);
        assert_eq!(values(&repaired), without(&[2, 3, 4, 5]), "{report:?}");
    }
    // The last chunks are cut off as well, and all chunks have the same length, so that the number of missing ones is uncertain.
    let mut moved = whole();
    moved.drain(1340..1620);
    moved.truncate(1340 + 100 + 2 * 120 + 40);
    let mut overwritten = bare();
    overwritten[32 + 340..32 + 620].fill(9);
    overwritten.truncate(32 + 620 + 100 + 2 * 120 + 40);
    for damaged in [moved, overwritten.clone()] {
        let (_, report) = repair_bytes(damaged);
        assert!(
            whats(&report.lost).iter().any(|what| what.ends_with("without a number: left out")),
            "{report:?}"
        );
        assert!(report.lost.iter().any(|item| item.what.ends_with("chunks: not found")), "{report:?}");
    }
    // Chunk 2 up to what lies over it; nothing has the number of those after it.
    let values = values(&repair_bytes(overwritten).0);
    assert!(values.starts_with(&data(200)) && values.len() < 400, "{}", values.len());
}

/// Chunks of different lengths are identified by their lengths, wherever they are.
#[test]
fn chunks_are_identified_by_the_lengths_in_the_offset_table() {
    let mut options = WriteOptions { chunk_size: Some(1000), ..stored() };
    options.chunks.level = 9;
    let mut bytes = data(10_500);
    // Each chunk has another share of zeros.
    bytes.iter_mut().enumerate().filter(|(at, _)| at % 1000 < at / 1000 * 90).for_each(|(_, byte)| *byte = 0);
    let mut writer = crate::Writer::new(std::io::Cursor::new(Vec::new()), Some(10_500), &options).unwrap();
    writer.push(&bytes).unwrap();
    let mut damaged = writer.complete().unwrap().0.into_inner();
    let layout = Layout::parse(&damaged, &Limits::default()).unwrap();
    let start = |index: usize| usize::try_from(layout.chunks()[index].range().start).unwrap();
    // Chunks 1 to 3 are gone but for some bytes, and so are the chunks after chunk 6.
    damaged.truncate(start(7) + 5);
    damaged.drain(start(1) + 4..start(4) - 3);
    let (repaired, report) = repair_bytes(damaged);
    bytes[1000..4000].fill(0);
    assert_eq!(values(&repaired), bytes[..7000], "{report:?}");
    assert!(whats(&report.guessed).contains(&"chunks 4 to 6: found by header and content"));
}

#[test]
fn copied_chunk_after_a_sound_file_is_removed() {
    let sound = whole();
    let more = [&sound[..], &sound[1000..1120]].concat();
    let (repaired, report) = repair_bytes(more);
    assert!(repaired == sound && report.lost.is_empty(), "{report:?}");
}

#[test]
fn chunks_that_are_too_many_are_left_out() {
    let mut damaged = bare();
    damaged.extend_from_within(damaged.len() - 190..);
    damaged.remove(32 + 240 + 50);
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!(values(&repaired), without(&[2]), "{report:?}");
    assert!(whats(&report.lost).contains(&"2 extra chunks: left out"), "{report:?}");
}

/// The header contains the number of chunks, and so do the shape and the chunks.
#[test]
fn wrong_chunk_count_in_the_header_loses_no_data() {
    let numpy = NumpyArray { dtype: DType::parse("<i2").unwrap(), shape: vec![175, 3], order: Order::C };
    let mut shaped = stored().for_array(&numpy);
    shaped.chunks.level = 0;
    for sound in [whole(), bare(), sound(&shaped)] {
        for count in [10_i64, 3, 9, 12, 27, 11 + (1 << 17), 11 | 1 << 40] {
            let mut damaged = sound.clone();
            damaged[16..24].copy_from_slice(&count.to_le_bytes());
            let (repaired, report) = repair_bytes(damaged);
            assert_eq!(values(&repaired), data(1050), "{count}: {report:?}");
            assert!(report.lost.is_empty(), "{count}: {report:?}");
        }
    }
    // With a shape the chunks need not all be there.
    let mut damaged = sound(&shaped);
    damaged[16] = 12;
    let at = damaged.len() - 300;
    damaged.remove(at);
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!((values(&repaired), report.lost.len()), (without(&[8]), 1), "{report:?}");
}

#[test]
fn metadata_of_unknown_length_is_the_only_loss() {
    let options = WriteOptions { json: Some(br#"{"a": 1}"#.to_vec()), ..stored() };
    let mut damaged = sound(&options);
    // The length of the section, in its header, and that of what it holds.
    damaged[32 + 16 + 3] = 0x7f;
    damaged[32 + 12] ^= 1;
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!(values(&repaired), data(1050));
    assert_eq!(whats(&report.lost), ["metadata: length unknown"]);
}

#[test]
fn a_file_of_headers_is_not_searched_forever() {
    let mut hostile = whole();
    hostile[1000..].fill(0);
    // Each claims to be a chunk of 100 bytes, to which the rest of the file belongs.
    let mut header = hostile[1000..1016].to_vec();
    header.copy_from_slice(&whole()[1000..1016]);
    header[2] = 0;
    header[12..16].copy_from_slice(&(1_u32 << 20).to_le_bytes());
    for _ in 0..1 << 16 {
        hostile.extend_from_slice(&header);
    }
    let mut out = Vec::new();
    let done =
        repair_to(Input::bytes(Box::new(hostile)), &OpenOptions::default(), Some(&mut out), Progress::none());
    let error = done.unwrap_err();
    assert!(error.is_damage(), "{error}");
}
