//! Chunks with one damaged block: the others come back as guesses, and the contents of that one are reported lost.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use std::ops::Range;

use blosc_chunk::{Chunk, Params};
use container_codecs::checksum::Algorithm;
use container_core::array::Array;
use container_core::dtype::{DType, Order};
use container_core::region::Region;

use super::*;
use crate::b2nd::{NdOptions, write_array_to};

/// Patterns of 8 bytes that come a few times each: no block is of one value.
fn data(len: usize) -> Vec<u8> {
    let pattern = |at: usize| ((at / 5) as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    (0..len.div_ceil(8)).flat_map(pattern).take(len).collect()
}

/// Makes three chunks of four blocks of 1000 bytes, the last of two and a half.
fn frame(checksums: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let options = FrameOptions {
        params: Params { blocksize: Some(1000), ..default_params(4) },
        checksums: checksums.then(|| Algorithm::from_name("crc32").unwrap()),
        ..FrameOptions::default()
    };
    let mut writer = Writer::new(&mut out, options).unwrap();
    data(10_500).chunks(4000).for_each(|chunk| writer.append(chunk).unwrap());
    writer.finish().unwrap();
    out
}

/// Returns the range of a block of a chunk.
fn place(file: &[u8], chunk: u64, block: usize) -> Range<usize> {
    let frame = Frame::from_bytes(file.to_vec()).unwrap();
    let crate::offsets::Offset::Stored(at) = frame.layout().offsets().get(chunk).unwrap() else { panic!() };
    let start = (frame.layout().chunks().start + at) as usize;
    let range = Chunk::parse(&file[start..]).unwrap().block_range(block).unwrap();
    start + range.start..start + range.end
}

fn whats(items: &[RepairItem]) -> Vec<&str> {
    items.iter().map(|item| item.what.as_str()).collect()
}

#[test]
fn a_damaged_block_costs_what_it_held() {
    for checksums in [false, true] {
        let sound = frame(checksums);
        for (chunk, block, lost) in [(0, 1, 1000..2000), (1, 3, 7000..8000), (2, 2, 10_000..10_500)] {
            let mut bytes = sound.clone();
            bytes[place(&sound, chunk, block)].fill(0xff);
            let (report, out) = repaired(&bytes).unwrap();
            let mut expected = data(10_500);
            expected[lost.clone()].fill(0);
            assert!(chunks(out.clone(), "block").concat() == expected, "{report:?}");
            let elements = lost.start / 4..lost.end / 4;
            let told = format!(
                "chunk {chunk}, elements {elements:?}, bytes {lost:?} of the data: zeros in the new frame"
            );
            assert_eq!(whats(&report.lost), [told]);
            let count = if chunk == 2 { "2 of its 3" } else { "3 of its 4" };
            assert!(report.guessed.len() == 1 && report.guessed[0].what.contains(count), "{report:?}");
            let (report, again) = repaired(&out).unwrap();
            assert!(again == out && report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
        }
    }
}

/// A chunk that fits no digest and decodes all the same: the damaged block is unknown.
#[test]
fn a_chunk_whose_blocks_all_decode_is_whole_or_lost() {
    let sound = frame(true);
    let start = place(&sound, 0, 0).start;
    for at in start..place(&sound, 0, 3).end {
        let mut bytes = sound.clone();
        bytes[at] ^= 4;
        let (report, out) = repaired(&bytes).unwrap();
        let (own, was) = (chunks(out, "bit")[0].clone(), data(4000));
        let is_there = |block: &usize| own[block * 1000..][..1000] == was[block * 1000..][..1000];
        let is_zeros = |block: &usize| own[block * 1000..][..1000].iter().all(|byte| *byte == 0);
        assert!((0..4).all(|block| is_there(&block) || is_zeros(&block)), "{at}: {report:?}");
        let kept = (0..4).filter(is_there).count();
        assert!(!report.lost.is_empty() && kept < 4, "{at}: {report:?}");
        assert_eq!(report.guessed.len(), usize::from(kept > 0), "{at}: {report:?}");
    }
}

/// A block of zeros, the beginning of which is where it was, would be one of the value zero.
#[test]
fn zeroed_sectors_are_reported_as_lost_blocks() {
    let sound = frame(false);
    let (first, last) = (place(&sound, 1, 0).start, place(&sound, 1, 3).end);
    for at in first..last - 64 {
        let mut bytes = sound.clone();
        bytes[at..at + 64].fill(0);
        let (report, out) = repaired(&bytes).unwrap();
        let own = chunks(out, "sector")[1].clone();
        for block in 0..4 {
            let place = place(&sound, 1, block);
            let (part, was) = (&own[block * 1000..][..1000], &data(8000)[4000 + block * 1000..][..1000]);
            let is_touched = place.start < at + 64 && at < place.end;
            assert!(part == was || is_touched, "{at}, block {block}: {report:?}");
            let is_zeros = part.iter().all(|byte| *byte == 0);
            assert!(!is_zeros || !report.lost.is_empty(), "{at}, block {block}: {report:?}");
        }
    }
}

#[test]
fn lost_array_elements_are_reported_by_axis_ranges() {
    let bytes: Vec<u8> = data(45 * 40 * 4);
    let array =
        Array::new(DType::parse("<i4").unwrap(), vec![45, 40], Order::C, bytes.clone().into()).unwrap();
    let options =
        NdOptions { chunkshape: Some(vec![30, 40]), blockshape: Some(vec![10, 25]), ..NdOptions::default() };
    let mut sound = Vec::new();
    write_array_to(&mut sound, &array, &options).unwrap();
    // The second chunk: rows 30 to 60, of which 45 are there. Its blocks are 3 by 2.
    for (block, rows, columns) in [(0, 30..40, 0..25), (3, 40..45, 25..40)] {
        let mut damaged = sound.clone();
        damaged[place(&sound, 1, block)].fill(0xff);
        let (report, out) = repaired(&damaged).unwrap();
        let told = format!(
            "chunk 1, elements [{}:{}, {}:{}] of the array: zeros in the new frame",
            rows.start, rows.end, columns.start, columns.end
        );
        assert_eq!(whats(&report.lost), [told], "{report:?}");
        let mut expected = bytes.clone();
        for row in rows {
            expected[(row * 40 + columns.start) * 4..(row * 40 + columns.end) * 4].fill(0);
        }
        let mended = crate::b2nd::NdArray::from_frame(Frame::from_bytes(out).unwrap()).unwrap();
        let mut all = vec![1; expected.len()];
        mended.read_into(&Region::whole(&[45, 40]), &mut all, &ReadOptions::default()).unwrap();
        assert!(all == expected, "{report:?}");
    }
}

/// The frame of [`frame`], cut at a byte: every block before it is there, and none after it.
#[test]
fn of_a_chunk_that_the_file_cuts_the_blocks_in_front_of_the_cut_are_kept() {
    for level in [0, 5] {
        let mut sound = Vec::new();
        let options = FrameOptions {
            params: Params { blocksize: Some(1000), level, ..default_params(4) },
            ..FrameOptions::default()
        };
        let mut writer = Writer::new(&mut sound, options).unwrap();
        data(10_500).chunks(4000).for_each(|chunk| writer.append(chunk).unwrap());
        writer.finish().unwrap();
        let ends: Vec<(u64, usize)> = (0..3)
            .flat_map(|chunk| (0..if chunk < 2 { 4 } else { 3 }).map(move |block| (chunk, block)))
            .map(|(chunk, block)| (chunk * 4000 + block as u64 * 1000, end_of(&sound, chunk, block)))
            .collect();
        let (first, last) = (ends[0].1, ends.last().unwrap().1);
        // Bytes within a block are alike, plain ones above all.
        let is_near = |cut: usize| ends.iter().any(|(_, end)| cut.abs_diff(*end) < 50);
        let step = if level > 0 { 11 } else { 97 };
        for cut in (first..last).filter(|cut| is_near(*cut) || cut % step == 0) {
            let (report, out) = repaired(&sound[..cut]).unwrap();
            let mut expected = vec![0; 10_500];
            for (start, end) in &ends {
                let held = *start as usize..(*start as usize + 1000).min(10_500);
                if *end <= cut {
                    expected[held.clone()].copy_from_slice(&data(10_500)[held]);
                }
            }
            let all = chunks(out.clone(), "cut").concat();
            // Chunks that are missing completely are not part of a frame without an array.
            let (there, gone) = expected.split_at(all.len());
            let is_empty = gone.iter().all(|byte| *byte == 0);
            assert!(all == there && is_empty, "level {level}, {cut}: {report:?}");
            assert!(!report.lost.is_empty(), "{cut}: {report:?}");
            let reach = |item: &RepairItem| item.range.as_ref().is_none_or(|range| range.end <= cut as u64);
            let all = report.kept.iter().chain(&report.guessed).chain(&report.lost);
            assert!(all.clone().all(reach), "{cut}: {report:?}");
            let (report, again) = repaired(&out).unwrap();
            assert!(again == out && report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
        }
    }
}

/// Returns the end of a block in the file; also for a chunk that holds its data uncompressed.
fn end_of(file: &[u8], chunk: u64, block: usize) -> usize {
    let frame = Frame::from_bytes(file.to_vec()).unwrap();
    let crate::offsets::Offset::Stored(at) = frame.layout().offsets().get(chunk).unwrap() else { panic!() };
    let start = (frame.layout().chunks().start + at) as usize;
    let parsed = Chunk::parse(&file[start..]).unwrap();
    let header = parsed.header();
    if header.is_memcpyed() {
        start + header.len() + parsed.blocks().nth(block).unwrap().end
    } else {
        place(file, chunk, block).end
    }
}

/// The one chunk of a small array, whose blocks are the only data.
#[test]
fn an_array_of_one_chunk_that_is_cut_has_its_first_rows() {
    let bytes: Vec<u8> = data(64 * 25 * 4);
    let array =
        Array::new(DType::parse("<i4").unwrap(), vec![64, 25], Order::C, bytes.clone().into()).unwrap();
    let options =
        NdOptions { chunkshape: Some(vec![64, 25]), blockshape: Some(vec![8, 25]), ..NdOptions::default() };
    let mut sound = Vec::new();
    write_array_to(&mut sound, &array, &options).unwrap();
    let (report, out) = repaired(&sound[..place(&sound, 0, 4).end + 3]).unwrap();
    assert_eq!(whats(&report.lost).len(), 3, "{report:?}");
    let mended = crate::b2nd::NdArray::from_frame(Frame::from_bytes(out).unwrap()).unwrap();
    let mut all = vec![1; bytes.len()];
    mended.read_into(&Region::whole(&[64, 25]), &mut all, &ReadOptions::default()).unwrap();
    let rows = 5 * 8 * 25 * 4;
    assert!(all[..rows] == bytes[..rows] && all[rows..].iter().all(|byte| *byte == 0), "{report:?}");
    // Not a block of it.
    assert!(repaired(&sound[..place(&sound, 0, 0).start + 3]).is_err());
}

/// Without an index and without a record of the number of chunks; the header counts their bytes.
#[test]
fn cut_off_variable_size_chunks_are_reported() {
    let path = corpus("ok").join("variable_growing.b2frame");
    let sound = std::fs::read(path).unwrap();
    let scan = Frame::from_bytes(sound.clone()).unwrap().scan_chunks().unwrap();
    let ends: Vec<u64> = scan.chunks.iter().map(|chunk| chunk.range.end).collect();
    for (count, end) in (1..).zip(&ends[..ends.len() - 1]) {
        let (report, out) = repaired(&sound[..*end as usize]).unwrap();
        assert_eq!(chunks(out, "cut").len(), count);
        assert_eq!(report.lost.len(), 1, "{report:?}");
        assert!(report.lost[0].what.ends_with("bytes of 288: not found"), "{report:?}");
    }
}

/// One value over and over: C-Blosc2 reads no such chunk of an array whose blocks are of another length.
#[test]
fn the_blocks_of_a_chunk_of_one_value_are_those_of_the_array() {
    let sound = std::fs::read(corpus("ok").join("old_full_i2.b2nd")).unwrap();
    let frame = Frame::from_bytes(sound.clone()).unwrap();
    let last = frame.scan_chunks().unwrap().chunks.last().unwrap().range.start as usize;
    assert_eq!(sound[last + 8..last + 12], 12_u32.to_le_bytes());
    for len in [6_u32, 24, 2060] {
        let mut damaged = sound.clone();
        damaged[last + 8..last + 12].copy_from_slice(&len.to_le_bytes());
        let input = Input::bytes(Box::new(damaged.clone()));
        let container = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
        let report = container
            .check(container_core::container::CheckDepth::Full, &ReadOptions::default(), Progress::none())
            .unwrap();
        assert!(report.findings.iter().any(|finding| finding.code == "geometry"), "{len}: {report:?}");
        let (report, out) = repaired(&damaged).unwrap();
        assert!(out == repaired(&sound).unwrap().1 && report.guessed.len() == 1, "{len}: {report:?}");
    }
}

/// Each chunk is a file of its own: the cut of one loses its later blocks, and none of the others.
#[test]
fn a_sparse_frame_with_a_cut_chunk_keeps_the_blocks_before_the_cut() {
    let directory = tempfile::tempdir().unwrap();
    for level in [0, 5] {
        let path = directory.path().join(format!("sparse{level}"));
        let params = Params { blocksize: Some(1000), level, ..default_params(4) };
        let options = FrameOptions { params, kind: crate::Kind::Sparse, ..FrameOptions::default() };
        let mut editor = Editor::create(&path, options, &EditOptions::default()).unwrap();
        let all: Vec<u8> = data(12_000);
        all.chunks(4000).for_each(|chunk| editor.append(chunk).map(|_| ()).unwrap());
        editor.commit(Durability::Synced).unwrap();
        drop(editor);
        for number in 0..3 {
            let part = path.join(format!("{number:08X}.chunk"));
            let sound = std::fs::read(&part).unwrap();
            let chunk = Chunk::parse(&sound).unwrap();
            for block in 0..4 {
                let end = if chunk.header().is_memcpyed() {
                    chunk.header().len() + (block + 1) * 1000
                } else {
                    chunk.block_range(block).unwrap().end
                };
                for (cut, kept) in [(end, block + 1), (end - 1, block)] {
                    std::fs::write(&part, &sound[..cut]).unwrap();
                    let target = directory.path().join("mended.b2frame");
                    let report = repair(&path, &target).unwrap();
                    let mended = std::fs::read(&target).unwrap();
                    std::fs::remove_file(&target).unwrap();
                    let mut want = all.clone();
                    want[number * 4000 + kept * 1000..(number + 1) * 4000].fill(0);
                    // Blocks that end in the file are whole, and so is the chunk where that is all of it.
                    assert!(
                        chunks(mended.clone(), "cut").concat() == want,
                        "{level} {number} {cut}: {report:?}"
                    );
                    assert_eq!(report.lost.is_empty(), cut == sound.len(), "{report:?}");
                    let (again, out) = repaired(&mended).unwrap();
                    assert!(out == mended && again.lost.is_empty() && again.guessed.is_empty(), "{again:?}");
                }
            }
            // It claims more bytes than fit in memory: it is lost, and all others are kept.
            let mut claims = sound[..sound.len() - 100].to_vec();
            claims[12..16].copy_from_slice(&(1_u32 << 31).to_le_bytes());
            std::fs::write(&part, claims).unwrap();
            let mut options = OpenOptions::default();
            options.limits.memory = 1 << 20;
            let (input, mut out) = (Input { source: None, path: Some(path.clone()) }, Vec::new());
            repair_to(input, &options, Some(&mut out), Progress::none()).unwrap();
            let mut want = all.clone();
            want[number * 4000..(number + 1) * 4000].fill(0);
            assert!(chunks(out, "cut").concat() == want, "{level} {number}");
            std::fs::write(&part, &sound).unwrap();
        }
    }
}

/// Sizes and filters determine what a block holds: with others than the frame has, none of its blocks is taken.
#[test]
fn blocks_of_a_chunk_with_another_header_are_not_guessed() {
    let sound = frame(false);
    let start = place(&sound, 0, 0).start - 32 - 4 * 4;
    assert_eq!(sound[start..start + 4], [5, 1, sound[start + 2], 4]);
    let mut damaged = sound.clone();
    damaged[place(&sound, 0, 1)].fill(0xff);
    let (report, _) = repaired(&damaged).unwrap();
    assert!(report.guessed.len() == 1 && report.guessed[0].what.contains("3 of its 4"), "{report:?}");
    // Typesize; decoded size; filters and their bytes, from the first to the last.
    for (at, byte) in [(3, 2), (4, 0x9c), (16, 3), (21, 0), (24, 1), (29, 2)] {
        let mut other = damaged.clone();
        assert_ne!(other[start + at], byte, "{at}");
        other[start + at] = byte;
        let (report, out) = repaired(&other).unwrap();
        assert!(report.guessed.is_empty(), "{at}: {report:?}");
        assert_eq!(whats(&report.lost), ["chunk 0: zeros in the new frame"], "{at}");
        let mut expected = data(10_500);
        expected[..4000].fill(0);
        assert!(chunks(out, "other header").concat() == expected, "{at}: {report:?}");
    }
}
