//! Every bit of index entries, flipped.

use container_core::Progress;
use container_core::dtype::ByteOrder;
use container_core::report::RepairReport;

use super::build::*;
use crate::ChunkType;
use crate::header::Version;
use crate::repair::{RepairOptions, repair_source};

/// Counts of the results for flipped bits of some entries.
#[derive(Debug, Default, PartialEq, Eq)]
struct Outcome {
    /// The file came back whole, and the repair told of one entry.
    mended: usize,
    /// The file came back whole, frames without entries told from their data.
    salvaged: usize,
    /// The loss is reported.
    told: usize,
    /// Nobody can tell: what the index then says fits as well.
    unseen: Vec<usize>,
}

/// Flips every bit of the entries in `slots`.
fn flip(builder: &Builder, slots: &[usize]) -> Outcome {
    let whole = frames(&builder.file).unwrap();
    let start = builder.header.index_location as usize;
    let mut outcome = Outcome::default();
    for (slot, bit) in slots.iter().flat_map(|slot| (0..256).map(move |bit| (*slot, bit))) {
        let mut file = builder.file.clone();
        file[start + 32 * slot + bit / 8] ^= 1 << (bit % 8);
        let Ok((new, report)) = repaired(&file) else {
            outcome.told += 1;
            continue;
        };
        let entry = Some((start + 32 * slot) as u64..(start + 32 * slot + 32) as u64);
        let flips: Vec<_> =
            report.guessed.iter().filter(|item| item.what.ends_with("is one bit away and fits")).collect();
        if flips.is_empty() && report.lost.is_empty() && new != whole {
            // Frames and names as they are listed, by an index that breaks no rule.
            assert!(sound(&file).is_some(), "slot {slot}, bit {bit}: {report:?}");
            assert_eq!(new, frames(&file).unwrap(), "slot {slot}, bit {bit}: {report:?}");
            outcome.unseen.push(bit);
        } else if new == whole && report.lost.is_empty() && !flips.is_empty() {
            assert!(matches!(flips[..], [one] if one.range == entry), "slot {slot}, bit {bit}: {report:?}");
            outcome.mended += 1;
        } else if new == whole {
            outcome.salvaged += 1;
        } else {
            assert!(flips.is_empty(), "slot {slot}, bit {bit}: {report:?}");
            assert!(!report.lost.is_empty(), "slot {slot}, bit {bit}: {report:?}");
            outcome.told += 1;
        }
    }
    outcome
}

fn run(file: &[u8]) -> (Vec<u8>, RepairReport) {
    let mut out = Vec::new();
    let options = RepairOptions::default();
    let report = repair_source(&file, &options, Some(&mut out), Progress::none()).unwrap();
    assert_eq!(report, repair_source(&file, &options, None, Progress::none()).unwrap());
    (out, report)
}

#[test]
fn entries_with_one_other_bit_are_as_they_were_written() {
    // First, within a frame, beside the index that moved, last.
    for (builder, slots) in [(sample(20, 4, 20).0, [0, 8, 31, 61]), (sample(50, 5, 9).0, [5, 60, 128, 151])] {
        let outcome = flip(&builder, &slots);
        assert!(outcome.mended > 950 && outcome.told < 12, "{outcome:?}");
    }
}

/// The chunk after the box and the number of particles in frame 0 follows the step in other frames, which lack these.
#[test]
fn a_chunk_in_the_room_of_the_names_is_where_it_was_written_or_lost() {
    let mut builder = Builder::hoomd();
    for frame in 0..4_u8 {
        builder.chunk("configuration/step", ChunkType::Uint64, 1, 1, &u64::from(frame).to_le_bytes());
        if frame == 0 {
            builder.chunk("configuration/box", ChunkType::Float, 6, 1, &[2; 24]);
            builder.chunk("particles/N", ChunkType::Uint32, 1, 1, &[3, 0, 0, 0]);
        }
        builder.chunk("particles/position", ChunkType::Float, 3, 3, &[frame + 1; 36]).end_frame();
    }
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    let place = 256 + 32 * 3 + 16;
    assert_eq!(builder.file[place..place + 2], 5412_u16.to_le_bytes());
    let mut file = builder.file.clone();
    file[place + 1] ^= 1;
    let (new, report) = repaired(&file).unwrap();
    assert!(new == whole && report.guessed.len() == 1 && report.lost.is_empty(), "{report:?}");
    // Of two bits nothing tells which they are.
    file[place] ^= 8;
    let (new, report) = repaired(&file).unwrap();
    assert!(!new[0].contains_key("particles/position") && !report.lost.is_empty(), "{report:?}");
    // Nor do entries explain that the place of the names is another.
    for bit in 0..8 {
        let mut file = builder.file.clone();
        file[24] ^= 1 << bit;
        let (new, report) = repaired(&file).unwrap();
        assert!(new == whole && !report.guessed.is_empty(), "{bit}: {report:?}");
    }
}

#[test]
fn shapes_may_differ_from_frame_to_frame() {
    for (version, order) in [
        (Version::new(2, 1), ByteOrder::Little),
        (Version::new(2, 0), ByteOrder::Big),
        (Version::new(1, 0), ByteOrder::Little),
    ] {
        let mut builder = Builder::new("none", version, order);
        for frame in 0..24_u8 {
            let (rows, id) = (u64::from(frame * 7 % 5 + 1), frame % 3);
            builder.chunk("a", ChunkType::Float, rows, 2, &vec![frame + 1; 8 * rows as usize]);
            if id != 1 {
                builder.chunk("b", ChunkType::Uint16, 3, 1, &[frame + 1; 6]);
            }
            builder.chunk("c", ChunkType::Uint8, 5, 1, &[frame + 1; 5]).end_frame();
        }
        builder.flush();
        let outcome = flip(&builder, &[7, 20, 33]);
        assert!(outcome.mended > 700 && outcome.told < 40, "{version} {order:?} {outcome:?}");
    }
}

#[test]
fn a_mended_file_needs_no_other_repair() {
    let (builder, whole) = sample(20, 4, 20);
    for (slot, bit) in [(9, 8 * 8 + 1), (12, 3), (30, 8 * 16 + 5), (40, 8 * 24 + 1), (50, 8 * 28 + 1)] {
        let mut file = builder.file.clone();
        file[256 + 32 * slot + bit / 8] ^= 1 << (bit % 8);
        let (once, report) = run(&file);
        assert_eq!(frames(&once).unwrap(), whole, "{report:?}");
        let (twice, report) = run(&once);
        assert!(twice == once && report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
    }
}

/// The first chunk lies over the second where it has a row more, as it does where the second begins a row earlier.
#[test]
fn of_two_entries_that_may_each_be_the_damaged_one_neither_is_changed() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    builder
        .chunk("a", ChunkType::Uint8, 8, 1, &[1; 8])
        .chunk("b", ChunkType::Uint8, 8, 1, &[2; 8])
        .end_frame();
    builder.flush();
    let mut file = builder.file.clone();
    // One after the other, each the whole of both; and the first in the place of the second.
    file[256 + 16] ^= 8;
    let (_, report) = repaired(&file).unwrap_or_default();
    assert!(!report.guessed.iter().any(|item| item.what.contains("one bit")), "{report:?}");
}

/// The loss of the end of the file is not a flipped bit of the last entry.
#[test]
fn a_chunk_that_lost_its_end_is_not_a_shorter_one() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..6_u8 {
        let rows = u64::from(frame % 2 * 2 + 5);
        builder.chunk("a", ChunkType::Uint64, rows, 1, &vec![frame + 1; 8 * rows as usize]).end_frame();
    }
    builder.flush();
    let file = &builder.file[..builder.file.len() - 8];
    let (new, report) = repaired(file).unwrap();
    assert_eq!(new, frames(&builder.file).unwrap()[..5], "{report:?}");
    assert!(!report.lost.is_empty(), "{report:?}");
}

#[test]
fn an_index_that_is_pointed_at_a_little_off_is_no_reason_to_change_entries() {
    let (mut builder, whole) = sample(50, 4, 9);
    for distance in [32, 64, 512] {
        let header =
            crate::Header { index_location: builder.header.index_location - distance, ..builder.header };
        builder.file[..256].copy_from_slice(&header.to_bytes());
        let (new, report) = repaired(&builder.file).unwrap();
        assert!(new.iter().all(|frame| whole.contains(frame)), "{distance}: {report:?}");
    }
    // Into its middle: the entries before are in order with those behind.
    for distance in [32, 640, 1024] {
        let header =
            crate::Header { index_location: builder.header.index_location + distance, ..builder.header };
        builder.file[..256].copy_from_slice(&header.to_bytes());
        let (new, report) = repaired(&builder.file).unwrap();
        assert_eq!(new, whole, "{distance}: {report:?}");
    }
}

/// All names of the frames count, also those that the place in the header leaves out.
#[test]
fn names_that_several_entries_have_are_missing_from_a_list_that_lacks_them() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..10_u8 {
        for (name, rows) in [("a", 5), ("bb", 3), ("c", 1)] {
            // The first are zeros, as behind the names.
            builder.chunk(name, ChunkType::Uint16, rows, 1, &vec![frame; 2 * rows as usize]);
        }
        builder.end_frame();
    }
    builder.flush();
    let header = crate::Header { namelist_location: builder.header.namelist_location + 2, ..builder.header };
    builder.file[..256].copy_from_slice(&header.to_bytes());
    let (new, report) = repaired(&builder.file).unwrap();
    builder.file[..256].copy_from_slice(&builder.header.to_bytes());
    assert_eq!(new, frames(&builder.file).unwrap(), "{report:?}");
    assert!(!report.guessed.is_empty());
}
