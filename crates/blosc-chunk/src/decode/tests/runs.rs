//! Short pieces of blocks that are long enough for filters to be undone for each piece alone.

use super::*;
use crate::{BloscVersion, Compressor, Encoder, Params, Pipeline, SplitMode};

/// Makes `count` runs in a block of `len` bytes, of any place and length up to `most`.
pub(super) fn runs_of(len: usize, count: usize, most: usize, seed: &mut u32) -> Vec<Range<usize>> {
    let mut next = |below: usize| {
        *seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (*seed >> 8) as usize % below.max(1)
    };
    let mut at = 0;
    let mut runs = Vec::new();
    for left in (1..=count).rev() {
        let start = at + next(2 * (len - at) / left + 1).min(len - at);
        at = start + next(most + 1).min(len - start);
        runs.push(start..at);
    }
    runs
}

/// Elements of `typesize` bytes: the first byte counts, the second is noise, the third is the same everywhere, the others are 0.
fn values(typesize: usize, len: usize) -> Vec<u8> {
    let byte = |at: usize| match at % typesize {
        0 => (at / typesize / 5).to_le_bytes()[0],
        1 => (at.wrapping_mul(2_654_435_761) >> 11).to_le_bytes()[0],
        2 => 0x41,
        _ => 0,
    };
    (0..len).map(byte).collect()
}

#[test]
#[cfg_attr(miri, ignore = "slow, and no other code than the smaller tests run")]
fn runs_of_long_blocks_are_those_parts_of_them() {
    let pipelines: [&[&str]; 9] = [
        &["none"],
        &["shuffle"],
        &["bitshuffle"],
        &["delta"],
        &["delta", "shuffle"],
        &["delta", "bitshuffle"],
        &["shuffle", "bytedelta"],
        &["shuffle:2"],
        &["bitshuffle", "shuffle"],
    ];
    let mut seed = 3;
    let mut decoder = Decoder::new();
    for (typesize, len) in [(4, 70_000), (1, 40_000), (3, 50_002), (12, 90_003), (16, 60_000)] {
        let data = values(typesize, len);
        for words in pipelines {
            for (compressor, split) in [
                (Compressor::LZ4, SplitMode::Always),
                (Compressor::LZ4, SplitMode::Never),
                (Compressor::BLOSCLZ, SplitMode::Always),
                (Compressor::ZSTD, SplitMode::Always),
            ] {
                let mut encoder = Encoder::new(Params {
                    blosc_version: BloscVersion::Blosc2,
                    compressor,
                    codec_meta: 0,
                    level: 5,
                    typesize,
                    filters: Pipeline::parse_words(words).unwrap(),
                    split,
                    blocksize: Some(len / 2 / typesize * typesize),
                    dictionary: false,
                    threads: 1,
                })
                .unwrap();
                let mut bytes = Vec::new();
                encoder.encode(&data, &mut bytes).unwrap();
                let chunk = Chunk::parse(&bytes).unwrap();
                for (index, block) in chunk.blocks().enumerate() {
                    let whole = &data[block.clone()];
                    for (count, most) in [(1, 3), (2, 20), (3, 1), (4, 300), (16, 16), (60, 16), (9, 2000)] {
                        let runs = runs_of(block.len(), count, most, &mut seed);
                        let want: Vec<u8> =
                            runs.iter().flat_map(|run| &whole[run.clone()]).copied().collect();
                        let mut dst = vec![0xA5; want.len()];
                        decoder.decode_runs(&chunk, index, &runs, &mut dst).unwrap();
                        let case =
                            format!("{words:?} {compressor} {split:?} {typesize} block {index} {runs:?}");
                        assert!(dst == want, "{case}");
                    }
                }
            }
        }
    }
}
