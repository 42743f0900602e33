//! Frames that were written and not committed.

use super::build::*;
use crate::ChunkType;
use crate::header::Version;
use container_core::dtype::ByteOrder;

#[test]
fn frames_written_before_a_kill_are_found() {
    for particles in [1, 4, 300] {
        let mut builder = Builder::hoomd();
        for frame in 0..25 {
            builder.hoomd_frame(1000 * (frame + 1), particles);
            if frame == 2 {
                builder.flush();
            }
        }
        let killed = builder.file.clone();
        builder.flush();
        let whole = frames(&builder.file).unwrap();
        let (new, report) = committed(&killed).unwrap();
        assert_eq!(new, whole[..3], "{report:?}");
        assert_eq!(report.lost.len(), 1, "{report:?}");
        let (new, report) = repaired(&killed).unwrap();
        assert_eq!(new, whole, "{particles} {report:?}");
        assert!(report.lost.is_empty() && report.guessed.len() == 1, "{report:?}");
        // What is missing at the end of the last frame is not made up.
        let (new, report) = repaired(&killed[..killed.len() - 1]).unwrap();
        assert_eq!(new, whole[..24], "{report:?}");
        assert_eq!(report.lost.len(), 1, "{report:?}");
    }
}

#[test]
fn frames_with_optional_chunks_are_split_correctly() {
    let mut builder = Builder::hoomd();
    let frame = |builder: &mut Builder, at: u64| {
        if at % 3 == 1 {
            let velocity: Vec<u8> = (0..12).flat_map(|axis| ((at + axis) as f32).to_le_bytes()).collect();
            builder.chunk("particles/velocity", ChunkType::Float, 4, 3, &velocity);
        }
        builder.hoomd_frame(100 * at + 100, 4);
    };
    (0..8).for_each(|at| frame(&mut builder, at));
    builder.flush();
    (8..30).for_each(|at| frame(&mut builder, at));
    let killed = builder.file.clone();
    builder.flush();
    let (new, report) = repaired(&killed).unwrap();
    assert_eq!(new, frames(&builder.file).unwrap(), "{report:?}");
}

#[test]
fn bytes_that_cannot_be_frames_are_left_out() {
    let (builder, whole) = sample(5, 4, 9);
    for fill in [0xFF, 0x41, 1] {
        let mut file = builder.file.clone();
        file.extend([fill; 4000]);
        let (new, report) = repaired(&file).unwrap();
        assert_eq!(new, whole);
        let [left] = &report.guessed[..] else { panic!("{report:?}") };
        assert_eq!(left.what, "4000 bytes that belong to no frame: left out");
        assert!(report.lost.is_empty(), "{report:?}");
        // Nobody has looked for frames in them.
        let (new, report) = committed(&file).unwrap();
        assert_eq!(new, whole);
        assert_eq!((report.guessed.len(), report.lost.len()), (0, 1), "{report:?}");
        // They may be what a lost entry described.
        let at = builder.header.index_location as usize + 32;
        file[at + 30] = 0;
        let (_, report) = repaired(&file).unwrap();
        assert!(report.lost.iter().any(|it| it.what.starts_with("4000 bytes")), "{report:?}");
    }
    // Zeros are what a power cut leaves of data, and what nobody misses.
    let mut file = builder.file.clone();
    file.extend([0; 4000]);
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole);
    assert!(report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
}

#[test]
fn uncommitted_frames_without_a_rising_value_are_discarded() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for _ in 0..5 {
        builder.chunk("a", ChunkType::Float, 2, 1, &[0, 0, 0x80, 0x3F, 0, 0, 0, 0x40]).end_frame();
    }
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    builder.chunk("a", ChunkType::Float, 2, 1, &[0, 0, 0x80, 0x3F, 0, 0, 0, 0x40]).end_frame();
    let (new, report) = repaired(&builder.file).unwrap();
    assert_eq!(new, whole);
    assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{report:?}");
}

#[test]
fn a_torn_last_frame_is_completed_or_kept_as_it_is() {
    let (builder, whole) = sample(10, 4, 5);
    // The last entry of the last frame was not written: the frame reads as whole.
    let index = builder.header.index_location as usize;
    for missing in 1..3 {
        let mut file = builder.file.clone();
        let at = index + 32 * (32 - missing);
        file[at..index + 32 * 32].fill(0);
        let (new, report) = committed(&file).unwrap();
        // Nothing is wrong with the file as it is.
        assert_eq!(new, frames(&file).unwrap(), "{report:?}");
        assert_eq!((new.len(), new[9].len()), (10, 3 - missing));
        let (new, report) = repaired(&file).unwrap();
        assert_eq!(new, whole, "{report:?}");
    }
}

#[test]
fn entries_behind_the_visible_end_are_taken_as_guessed() {
    let (builder, whole) = sample(10, 4, 5);
    let mut file = builder.file.clone();
    // Eight frames are committed: 5 + 7 * 3 entries.
    file[16..24].copy_from_slice(&26_u64.to_le_bytes());
    let (new, report) = committed(&file).unwrap();
    assert_eq!(new, whole[..8], "{report:?}");
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole, "{report:?}");
    assert_eq!(report.guessed.len(), 1, "{report:?}");
}

/// Nothing in their bytes tells that they are frames: the entries alone do.
#[test]
fn entries_behind_the_visible_end_count_without_a_rising_value() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..5 {
        builder.chunk("a", ChunkType::Uint8, 3, 1, &[9 - frame; 3]).end_frame();
    }
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    let mut file = builder.file.clone();
    file[16..24].copy_from_slice(&3_u64.to_le_bytes());
    assert_eq!(committed(&file).unwrap().0, whole[..3]);
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, whole, "{report:?}");
    assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{report:?}");
}

#[test]
fn frame_0_is_enough_to_go_by() {
    for first_step in [0, 7] {
        let mut builder = Builder::hoomd();
        for frame in 0..12 {
            // The first step is not written where it is 0.
            if frame == 0 && first_step == 0 {
                let lattice = [10.0_f32, 10.0, 10.0, 0.0, 0.0, 0.0];
                builder.chunk("configuration/box", ChunkType::Float, 6, 1, bytemuck::cast_slice(&lattice));
                builder.chunk("particles/N", ChunkType::Uint32, 1, 1, &4_u32.to_le_bytes());
                let positions: Vec<u8> =
                    (0..12).flat_map(|at| (at as f32 / 3.0 - 1.0).to_le_bytes()).collect();
                builder.chunk("particles/position", ChunkType::Float, 4, 3, &positions);
                builder.chunk("log/energy", ChunkType::Double, 1, 1, &1.5_f64.to_le_bytes());
                builder.end_frame();
            } else {
                builder.hoomd_frame(first_step + 500 * frame, 4);
            }
            if frame == 0 {
                builder.flush();
            }
        }
        let killed = builder.file.clone();
        builder.flush();
        let whole = frames(&builder.file).unwrap();
        let (new, report) = repaired(&killed).unwrap();
        assert_eq!(new, whole, "{first_step} {report:?}");
        assert!(report.lost.is_empty() && report.guessed.len() == 2, "{report:?}");
    }
}

#[test]
fn every_version_and_byte_order_is_salvaged() {
    let orders = [ByteOrder::Little, ByteOrder::Big];
    for (version, order) in
        [(0, 3), (1, 0), (2, 0), (2, 1)].into_iter().flat_map(|v| orders.map(|order| (v, order)))
    {
        let mut builder = Builder::new("hoomd", Version::new(version.0, version.1), order);
        for frame in 0..20 {
            builder.hoomd_frame(1000 * (frame + 1), 4);
            if frame == 4 {
                builder.flush();
            }
        }
        let killed = builder.file.clone();
        builder.flush();
        let (new, report) = repaired(&killed).unwrap();
        assert_eq!(new, frames(&builder.file).unwrap(), "{version:?} {order:?} {report:?}");
    }
}

/// Bytes that are never lent.
struct CopyingSource(Vec<u8>);

impl container_core::source::Source for CopyingSource {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> crate::Result<()> {
        container_core::source::Source::read_into(&self.0, at, dst)
    }
}

#[test]
fn bytes_that_are_read_in_pieces_give_the_same() {
    use crate::repair::{RepairOptions, repair_source};
    use container_core::Progress;
    // An index, found by a search, and a chunk, both across the bounds of pieces of 4 MiB.
    let mut builder = Builder::hoomd();
    for frame in 0..70 {
        builder.hoomd_frame(1000 * (frame + 1), 10_000);
        if frame == 65 {
            builder.flush();
        }
    }
    let mut file = builder.file;
    file[8..16].fill(0xFF);
    let (mut lent, mut copied) = (Vec::new(), Vec::new());
    let options = RepairOptions::default();
    let one = repair_source(&file, &options, Some(&mut lent), Progress::none()).unwrap();
    let other = repair_source(&CopyingSource(file), &options, Some(&mut copied), Progress::none()).unwrap();
    assert_eq!(one, other);
    assert!(lent == copied);
    assert_eq!(frames(&lent).unwrap().len(), 70, "{one:?}");
}

/// A file whose names and data reached the disk, and whose entries did not.
fn without_entries(builder: &Builder) -> Vec<u8> {
    let mut file = builder.file.clone();
    let block = builder.header.index_range().unwrap();
    file[block.start as usize..block.end as usize].fill(0);
    file
}

#[test]
fn frames_of_a_file_without_an_entry_are_laid_out_by_the_schema() {
    for (particles, count) in [(1, 6), (4, 1), (4, 9), (300, 3)] {
        let (builder, whole) = sample(count, particles, 40);
        let (new, report) = repaired(&without_entries(&builder)).unwrap();
        assert_eq!(new, whole, "{particles} {report:?}");
        assert!(report.lost.is_empty(), "{report:?}");
        assert!(report.guessed.iter().any(|item| item.what.contains("laid out by the schema")), "{report:?}");
        // Without salvage there is nothing.
        assert!(committed(&without_entries(&builder)).is_err());
    }
}

#[test]
fn texts_and_types_of_frame_0_are_recovered() {
    let mut builder = Builder::hoomd();
    for frame in 0..4_u64 {
        builder.chunk("configuration/step", ChunkType::Uint64, 1, 1, &(frame * 50 + 7).to_le_bytes());
        if frame == 0 {
            let lattice = [10.0_f32, 12.0, 14.0, 0.0, 0.0, 0.0];
            builder.chunk("configuration/box", ChunkType::Float, 6, 1, bytemuck::cast_slice(&lattice));
            builder.chunk("particles/N", ChunkType::Uint32, 1, 1, &3_u32.to_le_bytes());
            builder.chunk("particles/types", ChunkType::Int8, 2, 5, b"A\0\0\0\0long\0");
            builder.chunk("particles/typeid", ChunkType::Uint32, 3, 1, bytemuck::cast_slice(&[0_u32, 1, 1]));
            builder.chunk(
                "particles/mass",
                ChunkType::Float,
                3,
                1,
                bytemuck::cast_slice(&[1.5_f32, 2.5, 2.0]),
            );
        }
        let positions: Vec<f32> =
            (0..9_u16).map(|at| f32::from(at) / 2.0 - f32::from(frame as u8) / 4.0 - 1.0).collect();
        builder
            .chunk("particles/position", ChunkType::Float, 3, 3, bytemuck::cast_slice(&positions))
            .end_frame();
    }
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    let (new, report) = repaired(&without_entries(&builder)).unwrap();
    assert_eq!(new, whole, "{report:?}");
}

#[test]
fn names_without_frames_are_kept() {
    let (builder, _) = sample(2, 4, 9);
    let mut file = without_entries(&builder);
    file.truncate(5376);
    let mut out = Vec::new();
    let report = crate::repair::repair_source(
        &&file[..],
        &Default::default(),
        Some(&mut out),
        container_core::Progress::none(),
    );
    let report = report.unwrap();
    assert!(report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
    let file = crate::File::from_source(Box::new(out), &crate::OpenOptions::default()).unwrap();
    assert_eq!((file.nframes(), file.names().len()), (0, 5));
}

#[test]
fn index_copy_after_the_last_frame_is_ignored() {
    let mut builder = Builder::hoomd();
    for frame in 0..22 {
        builder.hoomd_frame(1000 * (frame + 1), 4);
        if frame == 19 {
            builder.flush();
        }
    }
    let mut killed = builder.file.clone();
    builder.flush();
    let whole = frames(&builder.file).unwrap();
    let block = builder.header.index_range().unwrap();
    let copy = killed[block.start as usize..block.end as usize].to_vec();
    killed.extend(copy);
    killed.extend([0; 4096]);
    let (new, report) = repaired(&killed).unwrap();
    assert_eq!(new, whole, "{report:?}");
    assert!(report.lost.is_empty(), "{report:?}");
}
