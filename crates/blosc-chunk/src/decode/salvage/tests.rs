use super::*;
use crate::{BloscVersion, Compressor, Encoder, Params, Pipeline, SplitMode};

const BLOCK: usize = 2048;

/// Makes a chunk of eight blocks of 2048 bytes, of patterns that repeat a few times each.
fn chunk(mut params: Params) -> (Vec<u8>, Vec<u8>) {
    params.blocksize = Some(BLOCK);
    let mut state = 1_u32;
    let mut next = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        state >> 16
    };
    let mut data = Vec::new();
    while data.len() < 8 * BLOCK {
        let pattern = [next(), next()].map(|word| word | 0x0101_0101).map(u32::to_le_bytes).concat();
        data.extend(pattern.repeat(3 + next() as usize % 6));
    }
    data.truncate(8 * BLOCK);
    let mut chunk = Vec::new();
    Encoder::new(params).unwrap().encode(&data, &mut chunk).unwrap();
    assert!(chunk.len() < data.len() && Chunk::parse(&chunk).unwrap().block_count() == 8);
    (data, chunk)
}

fn params(compressor: Compressor) -> Params {
    Params {
        blosc_version: BloscVersion::Blosc2,
        compressor,
        codec_meta: 0,
        level: 5,
        typesize: 4,
        filters: Pipeline::shuffle(),
        split: SplitMode::Auto,
        blocksize: None,
        dictionary: false,
        threads: 1,
    }
}

fn intact(chunk: &Chunk<'_>, dst: &mut [u8]) -> Vec<bool> {
    Decoder::new().decode_intact_blocks(chunk, chunk.bytes().len(), dst).unwrap()
}

/// Decodes the intact blocks of `damaged`, and asserts that all of it is the data or zeros.
fn whole(data: &[u8], damaged: &[u8]) -> Vec<bool> {
    let mut out = vec![1; data.len()];
    let chunk = Chunk::parse(damaged).unwrap();
    let whole = intact(&chunk, &mut out);
    for (index, is_whole) in whole.iter().enumerate() {
        let place = index * BLOCK..(index + 1) * BLOCK;
        let is_zeros = out[place.clone()].iter().all(|byte| *byte == 0);
        assert!(if *is_whole { out[place.clone()] == data[place] } else { is_zeros }, "block {index}");
    }
    whole
}

#[test]
fn zeros_cost_no_block_that_they_do_not_touch() {
    for compressor in [Compressor::ZSTD, Compressor::LZ4, Compressor::ZLIB, Compressor::BLOSCLZ] {
        for typesize in [1, 4] {
            let (data, sound) = chunk(Params { typesize, ..params(compressor) });
            assert_eq!(whole(&data, &sound), [true; 8]);
            let own = Chunk::parse(&sound).unwrap();
            let ranges: Vec<_> = (0..8).map(|index| own.block_range(index).unwrap()).collect();
            for at in (ranges[0].start..sound.len()).step_by(37) {
                let end = sound.len().min(at + 64);
                let mut damaged = sound.clone();
                damaged[at..end].fill(0);
                let chunk = Chunk::parse(&damaged).unwrap();
                let found = intact(&chunk, &mut vec![0; 8 * BLOCK]);
                for (range, is_whole) in ranges.iter().zip(found) {
                    let is_touched = range.start < end && range.end > at;
                    assert!(is_whole || is_touched, "{compressor:?} {typesize} {at} {range:?}");
                    // A block whose beginning is zeros would be zeros.
                    let is_begun = (at..end.saturating_sub(3)).contains(&range.start);
                    assert!(!(is_whole && is_begun), "{compressor:?} {typesize} {at} {range:?}");
                }
            }
        }
    }
}

#[test]
fn wrong_block_start_loses_only_its_block_and_the_previous_one() {
    let (data, sound) = chunk(params(Compressor::ZSTD));
    for block in 0..8 {
        for other in [0, 5, 36, 200, 1 << 20, u32::MAX] {
            let mut damaged = sound.clone();
            damaged[32 + 4 * block..][..4].copy_from_slice(&u32::to_le_bytes(other));
            let found = whole(&data, &damaged);
            assert!(
                (0..8).all(|index| found[index] == (index != block && index + 1 != block)),
                "{block} {other}: {found:?}"
            );
        }
        // That of another block: neither is sure.
        let mut damaged = sound.clone();
        let next = (block + 1) % 8;
        damaged.copy_within(32 + 4 * next..36 + 4 * next, 32 + 4 * block);
        let found = whole(&data, &damaged);
        let is_sure = |index: usize| ![block, next].contains(&index) && index + 1 != block;
        assert!((0..8).all(|index| found[index] == is_sure(index)), "{block}: {found:?}");
    }
}

#[test]
fn check_zeros_refuses_unused_bytes_after_a_block_of_zeros() {
    for typesize in [1, 4] {
        let (data, sound) = chunk(Params { typesize, ..params(Compressor::LZ4) });
        let own = Chunk::parse(&sound).unwrap();
        own.check_zeros().unwrap();
        for block in 0..8 {
            let range = own.block_range(block).unwrap();
            for len in [4 * typesize, 64, range.len()] {
                let mut damaged = sound.clone();
                damaged[range.start..range.start + len].fill(0);
                let error = Chunk::parse(&damaged).unwrap().check_zeros().unwrap_err();
                let from = (range.start + 4 * typesize) as u64;
                assert_eq!(error.range(), Some(from..range.end as u64), "{typesize} {block} {len}");
            }
        }
        // Zeros that an encoder wrote.
        let mut zeros = data.clone();
        zeros[BLOCK..3 * BLOCK].fill(0);
        zeros[7 * BLOCK..].fill(0);
        let params = Params { typesize, blocksize: Some(BLOCK), ..params(Compressor::LZ4) };
        for threads in [1, 3] {
            let mut chunk = Vec::new();
            Encoder::new(Params { threads, ..params.clone() }).unwrap().encode(&zeros, &mut chunk).unwrap();
            Chunk::parse(&chunk).unwrap().check_zeros().unwrap();
        }
    }
}

#[test]
fn differences_need_what_they_are_from() {
    let mut filters = Pipeline::shuffle();
    filters.0[0] = Filter::new(Filter::DELTA, 0);
    let (data, sound) = chunk(Params { filters, ..params(Compressor::ZSTD) });
    let own = Chunk::parse(&sound).unwrap();
    for (block, left) in [(0, 0), (3, 7)] {
        let mut damaged = sound.clone();
        damaged[own.block_range(block).unwrap()].fill(0);
        assert_eq!(whole(&data, &damaged).iter().filter(|is_whole| **is_whole).count(), left);
    }
}

#[test]
fn chunks_without_streams_have_no_ranges_of_blocks() {
    let (data, sound) = chunk(params(Compressor::ZSTD));
    let plain = Params { level: 0, blocksize: Some(BLOCK), ..params(Compressor::ZSTD) };
    let mut chunk = Vec::new();
    Encoder::new(plain).unwrap().encode(&data, &mut chunk).unwrap();
    assert_eq!(whole(&data, &chunk), [true; 8]);
    assert!(Chunk::parse(&chunk).unwrap().block_range(0).is_err());
    assert!(Chunk::parse(&sound).unwrap().block_range(8).is_err());
}

/// Bytes that do not exist cost the blocks that they belong to, and no other.
#[test]
fn blocks_after_the_bytes_that_exist_are_not_intact() {
    for (level, compressor) in [(5, Compressor::ZSTD), (5, Compressor::LZ4)] {
        let (data, sound) = chunk(Params { level, ..params(compressor) });
        let own = Chunk::parse(&sound).unwrap();
        let ranges: Vec<_> = (0..8).map(|index| own.block_range(index).unwrap()).collect();
        let cuts = ranges.iter().flat_map(|range| [range.start + 1, range.end - 1, range.end]);
        for have in cuts.chain([0, 32, 63, 64, sound.len()]) {
            // What is after them is not to be believed, whatever it is.
            let mut out = vec![1; data.len()];
            let found = Decoder::new().decode_intact_blocks(&own, have, &mut out).unwrap();
            for (index, range) in ranges.iter().enumerate() {
                // The starts of blocks are stored before all of them.
                let is_there = range.end <= have && 36 + 4 * index <= have;
                assert_eq!(found[index], is_there, "{have} {index}");
                let place = index * BLOCK..(index + 1) * BLOCK;
                let is_zeros = out[place.clone()].iter().all(|byte| *byte == 0);
                assert!(if is_there { out[place.clone()] == data[place] } else { is_zeros });
            }
        }
    }
    // Of a stored chunk, blocks whose bytes all exist.
    let (data, _) = chunk(params(Compressor::ZSTD));
    let mut stored = Vec::new();
    let plain = Params { level: 0, blocksize: Some(BLOCK), ..params(Compressor::ZSTD) };
    Encoder::new(plain).unwrap().encode(&data, &mut stored).unwrap();
    let own = Chunk::parse(&stored).unwrap();
    for (have, count) in
        [(0, 0), (32 + BLOCK - 1, 0), (32 + BLOCK, 1), (32 + 5 * BLOCK + 7, 5), (stored.len(), 8)]
    {
        let mut out = vec![1; data.len()];
        let found = Decoder::new().decode_intact_blocks(&own, have, &mut out).unwrap();
        let expected: Vec<bool> = (0..8).map(|index| index < count).collect();
        assert_eq!(found, expected, "{have}");
        assert!(
            out[..count * BLOCK] == data[..count * BLOCK]
                && out[count * BLOCK..].iter().all(|byte| *byte == 0)
        );
    }
}
