//! Sound files, which are kept whole, and what looked like damage in them.

use super::build::*;
use crate::ChunkType;
use crate::header::Version;
use container_core::Progress;
use container_core::dtype::ByteOrder;

fn plain() -> Builder {
    Builder::new("none", Version::new(2, 1), ByteOrder::Little)
}

/// All is kept, with and without salvage, and the second repair gives the same bytes as the first.
fn assert_kept_whole(file: &[u8]) {
    let listed = frames(file).unwrap();
    for uncommitted_frames in
        [crate::repair::UncommittedFrames::Checked, crate::repair::UncommittedFrames::Off]
    {
        let options = crate::repair::RepairOptions::default().with_uncommitted_frames(uncommitted_frames);
        let run = |file: &[u8]| {
            let mut out = Vec::new();
            let report =
                crate::repair::repair_source(&file, &options, Some(&mut out), Progress::none()).unwrap();
            assert_eq!(
                report,
                crate::repair::repair_source(&file, &options, None, Progress::none()).unwrap()
            );
            (out, report)
        };
        let (once, report) = run(file);
        assert_eq!(frames(&once).unwrap(), listed, "{report:?}");
        let (twice, report) = run(&once);
        assert!(once == twice && report.lost.is_empty(), "{report:?}");
    }
}

#[test]
fn empty_file_with_noise_between_blocks_is_repaired() {
    let mut builder = Builder::hoomd();
    builder.header.index_allocated_entries = 1;
    builder.file[..256].copy_from_slice(&builder.header.to_bytes());
    builder.file[738] = 16;
    let (new, report) = repaired(&builder.file).unwrap();
    assert!(new.is_empty() && report.lost.is_empty(), "{report:?}");
    let guessed: Vec<_> = report.guessed.iter().map(|item| item.range.clone()).collect();
    assert_eq!(guessed, [Some(288..4352)], "{report:?}");
}

#[test]
fn short_chunks_before_padding_are_kept() {
    let mut builder = plain();
    for frame in 0..20_u64 {
        // Seven bytes mostly, five in frame 7, each padded to eight.
        let len = if frame == 7 { 5 } else { 7 };
        builder.chunk("log/text", ChunkType::Uint8, len, 1, &b"energy."[..len as usize]);
        let end = builder.file.len().next_multiple_of(8);
        builder.file.resize(end, 0);
        builder.end_frame();
    }
    builder.flush();
    assert_kept_whole(&builder.file);
    // Nor are they lost where something else is.
    let at = builder.header.index_location as usize + 32 * 15;
    builder.file[at + 30] = 99;
    let (new, report) = repaired(&builder.file).unwrap();
    let text = &new[7]["log/text"];
    assert_eq!((text.1, text.3.as_slice()), (5, &b"energ"[..]), "{report:?}");
}

#[test]
fn the_last_frame_may_have_fewer_chunks_and_bytes_behind_it() {
    let (mut builder, whole) = sample(6, 4, 3);
    builder.chunk("configuration/step", ChunkType::Uint64, 1, 1, &7000_u64.to_le_bytes()).end_frame().flush();
    builder.file.extend([0xA5; 500]);
    assert_kept_whole(&builder.file);
    assert_eq!(repaired(&builder.file).unwrap().0.len(), whole.len() + 1);
}

#[test]
fn empty_chunks_with_offsets_in_the_header_are_kept() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let mut builder = Builder::new("none", Version::new(2, 1), order);
        for frame in 0..4_u32 {
            builder.chunk("a", ChunkType::Uint32, 1, 1, &frame.to_le_bytes());
            builder.chunk("b", ChunkType::Float, 0, 3, &[]).end_frame();
        }
        builder.flush();
        let entry = builder.header.index_location as usize + 32;
        let place = entry + 16..entry + 24;
        let bytes = match order {
            ByteOrder::Little => 8_i64.to_le_bytes(),
            ByteOrder::Big => 8_i64.to_be_bytes(),
        };
        builder.file[place].copy_from_slice(&bytes);
        assert_kept_whole(&builder.file);
        // The same where another entry is damaged.
        let at = builder.header.index_location as usize + 32 * 5;
        builder.file[at + 30] = 99;
        let (new, report) = committed(&builder.file).unwrap();
        assert!(new[0].contains_key("b") && new.len() == 4, "{report:?}");
    }
}

#[test]
fn names_in_use_are_not_replaced() {
    for name in ["a\u{7}b\nc", "a", "\u{1}"] {
        let mut builder = plain();
        // Behind it stands the namelist: log/ and a would be a name of the schema.
        let namelist = builder.header.namelist_location as usize;
        builder.file[namelist - 4..namelist].copy_from_slice(b"log/");
        builder.header.index_allocated_entries = 100;
        let header = builder.header.to_bytes();
        builder.file[..256].copy_from_slice(&header);
        for frame in 0..3_u64 {
            builder.chunk(name, ChunkType::Uint64, 1, 1, &frame.to_le_bytes()).end_frame();
        }
        builder.flush();
        assert_kept_whole(&builder.file);
        assert!(repaired(&builder.file).unwrap().0.iter().all(|frame| frame.contains_key(name)));
    }
}

#[test]
fn chunk_data_resembling_entries_is_kept_as_data() {
    let mut builder = plain();
    builder.header.index_allocated_entries = 2;
    let header = builder.header.to_bytes();
    builder.file[..256].copy_from_slice(&header);
    let (index, end) = (256 + 64, 256 + 32 * 128);
    // Two entries fill the index; behind it stands one more, which is the data of the first.
    builder.chunk("a", ChunkType::Uint8, 32, 1, &[0; 32]).end_frame();
    builder.chunk("a", ChunkType::Uint8, 8, 1, &[7; 8]).end_frame().flush();
    let second = crate::index::IndexBlock::new(&builder.file[256..320], ByteOrder::Little).get(1).unwrap();
    let fake = crate::index::IndexEntry { frame: 2, ..second }.to_bytes(ByteOrder::Little);
    assert!(index + 32 < end);
    builder.file[index..index + 32].copy_from_slice(&fake);
    builder.file[256 + 16..256 + 24].copy_from_slice(&(index as i64).to_le_bytes());
    assert_kept_whole(&builder.file);
}

#[test]
fn the_dry_run_fails_where_the_other_does() {
    let (builder, _) = sample(3, 4, 9);
    let mut options = crate::repair::RepairOptions::default().with_name(0, "same").with_name(1, "same");
    let both = |options: &crate::repair::RepairOptions| {
        let mut out = Vec::new();
        let wet = crate::repair::repair_source(&&builder.file[..], options, Some(&mut out), Progress::none());
        let dry = crate::repair::repair_source(&&builder.file[..], options, None, Progress::none());
        (wet.unwrap_err().to_string(), dry.unwrap_err().to_string())
    };
    let (wet, dry) = both(&options);
    assert_eq!(wet, dry);
    options.names = [(0, String::new())].into();
    let (wet, dry) = both(&options);
    assert_eq!(wet, dry);
}

#[test]
fn frame_numbers_past_reason_are_refused() {
    let mut builder = plain();
    builder.chunk("a", ChunkType::Uint64, 1, 1, &[1; 8]).end_frame().flush();
    for frame in [524_288_u64, 1 << 40] {
        builder.file[256..264].copy_from_slice(&frame.to_le_bytes());
        let mut out = Vec::new();
        let wet = crate::repair::repair_source(
            &&builder.file[..],
            &Default::default(),
            Some(&mut out),
            Progress::none(),
        );
        let dry =
            crate::repair::repair_source(&&builder.file[..], &Default::default(), None, Progress::none());
        assert!(out.is_empty());
        assert_eq!(wet.unwrap_err().to_string(), dry.unwrap_err().to_string());
    }
}

/// As gsd.hoomd leaves a frame whose append failed and was repeated: its first chunks are there twice.
#[test]
fn a_frame_that_was_written_again_keeps_the_chunks_that_readers_find() {
    for (at, written) in [(1, 2), (3, 1), (5, 3), (0, 4)] {
        let mut builder = Builder::hoomd();
        for frame in 0..6_u64 {
            if frame == at {
                let step = 1000 * (frame + 1);
                let lattice = [9.0_f32, 10.0, 10.0, 0.0, 0.0, 0.0];
                let chunks: [(&str, ChunkType, u64, u32, Vec<u8>); 4] = [
                    ("configuration/box", ChunkType::Float, 6, 1, bytemuck::cast_slice(&lattice).to_vec()),
                    ("particles/N", ChunkType::Uint32, 1, 1, 3_u32.to_le_bytes().to_vec()),
                    ("configuration/step", ChunkType::Uint64, 1, 1, step.to_le_bytes().to_vec()),
                    ("particles/position", ChunkType::Float, 3, 3, vec![1; 36]),
                ];
                // Later frames have no box and no N.
                let skip = if frame == 0 { 0 } else { 2 };
                for (name, of, n, m, bytes) in chunks.iter().skip(skip).take(written) {
                    builder.chunk(name, *of, *n, *m, bytes);
                }
            }
            builder.hoomd_frame(1000 * (frame + 1), 3);
        }
        builder.flush();
        assert_kept_whole(&builder.file);
        let (new, report) = repaired(&builder.file).unwrap();
        assert_eq!((new.len(), report.lost.len()), (6, 0), "{report:?}");
        assert!(report.guessed.iter().any(|item| item.what.contains("duplicate name")), "{report:?}");
    }
}
