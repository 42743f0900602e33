//! The block size of a chunk, and whether its blocks are split into byte planes.
//!
//! Any choice can be decoded. This one is that of C-Blosc, by Blosc version, so that our chunks compare with those of the C
//! libraries: `tuning/cases.txt` holds their choices, and the tests compare. There are two intended differences. A block size
//! that the caller asks for is kept in Blosc1, where the C library multiplies it for splitting. It is rounded down to whole
//! elements in Blosc2 when blocks are split, where the C library loses the bytes in between.
//!
//! Spec: blosc2 section 4, bloscpack section 3.3.

use crate::filters::Filter;
use crate::{BloscVersion, Compressor, Params, SplitMode, header};

const KIB: usize = 1024;

/// Largest size of a block in bytes; below the 715 827 542 of Blosc1, so good for both.
pub(crate) const MAX_BLOCKSIZE: usize = header::MAX_BLOCKSIZE as usize;

/// Fewest elements of a stream that is split off: Blosc2, then Blosc1 (whose readers apply the rule themselves).
const MIN_SPLIT_ITEMS: usize = 32;
const MIN_SPLIT_ITEMS_BLOSC1: usize = 128;
/// Widest element that is split without a request.
const MAX_SPLIT_TYPESIZE: usize = 16;
/// Shortest block of Blosc1.
const MIN_BLOCKSIZE_BLOSC1: usize = 128;

/// Partition of a chunk into blocks and streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Bytes of every block but the last, at least 1.
    pub(crate) blocksize: usize,
    /// Streams of every block but a shorter last one: 1, or the stored typesize when blocks are split.
    pub(crate) streams: usize,
    /// Whether the header is to have the bit for splitting. With elements of one byte, both values mean one stream.
    pub(crate) split: bool,
}

impl Blocks {
    /// The choice for a chunk of no bytes.
    pub(crate) const ONE_BYTE: Self = Self { blocksize: 1, streams: 1, split: false };
}

/// Returns the typesize as the header can hold it.
pub(crate) const fn stored_typesize(typesize: usize) -> u8 {
    if typesize > 255 { 1 } else { typesize.to_le_bytes()[0] }
}

/// Chooses the partition of a chunk of `nbytes`, at least 1.
pub(crate) fn choose(params: &Params, nbytes: usize) -> Blocks {
    match params.blosc_version {
        BloscVersion::Blosc1 => choose_blosc1(params, nbytes),
        BloscVersion::Blosc2 => choose_blosc2(params, nbytes),
    }
}

fn choose_blosc2(params: &Params, nbytes: usize) -> Blocks {
    let stored = usize::from(stored_typesize(params.typesize));
    let blocksize = match params.blocksize {
        Some(asked) => asked.min(nbytes),
        None => whole_items(automatic_blosc2(params, nbytes).min(nbytes), params.typesize),
    };
    let mut blocks = Blocks { blocksize, streams: 1, split: wants_split(params, stored, blocksize) };
    if blocks.split && blocksize % stored != 0 {
        // Streams of equal length have no place for half an element.
        blocks.blocksize = whole_items(blocksize, stored);
        blocks.split = blocks.blocksize >= stored && wants_split(params, stored, blocks.blocksize);
    }
    if blocks.split {
        blocks.streams = stored;
    }
    blocks
}

fn automatic_blosc2(params: &Params, nbytes: usize) -> usize {
    if nbytes < params.typesize {
        return 1;
    }
    let level = params.level;
    if level > 0 && wants_split(params, params.typesize, nbytes) && nbytes >= 32 * KIB {
        let for_each_byte = match level {
            ..=3 => 32 * KIB,
            4..=6 => 64 * KIB,
            7 => 128 * KIB,
            8 => 256 * KIB,
            _ => 512 * KIB,
        };
        return for_each_byte.saturating_mul(params.typesize).clamp(32 * KIB, 4096 * KIB);
    }
    by_level(params, nbytes)
}

fn choose_blosc1(params: &Params, nbytes: usize) -> Blocks {
    let typesize = usize::from(stored_typesize(params.typesize));
    let splits = |blocksize: usize| {
        let asked = match params.split {
            SplitMode::Always => true,
            SplitMode::Never => false,
            SplitMode::Auto | SplitMode::ForwardCompat => params.compressor != Compressor::ZSTD,
        };
        asked && typesize <= MAX_SPLIT_TYPESIZE && blocksize / typesize >= MIN_SPLIT_ITEMS_BLOSC1
    };
    let blocksize = match params.blocksize {
        _ if nbytes < typesize => 1,
        Some(asked) => asked.max(MIN_BLOCKSIZE_BLOSC1),
        None => {
            let blocksize = by_level(params, nbytes);
            if params.level > 0 && splits(blocksize) {
                (blocksize.min(256 * KIB) * typesize).clamp(64 * KIB, 1024 * KIB)
            } else {
                blocksize
            }
        }
    };
    let blocksize = whole_items(blocksize.min(nbytes), typesize);
    let split = splits(blocksize);
    Blocks { blocksize, streams: if split { typesize } else { 1 }, split }
}

/// Blocks that are not split grow with the level, and are twice as long for codecs that are slow anyway.
fn by_level(params: &Params, nbytes: usize) -> usize {
    if nbytes < 32 * KIB {
        return nbytes;
    }
    let is_slow = matches!(params.compressor, Compressor::LZ4HC | Compressor::ZLIB | Compressor::ZSTD);
    let base = if is_slow { 64 * KIB } else { 32 * KIB };
    match params.level {
        0 => base / 4,
        1 => base / 2,
        2 => base,
        3 => base * 2,
        4 | 5 => base * 4,
        9.. if is_slow => base * 16,
        _ => base * 8,
    }
}

/// Whether Blosc2 splits blocks of `blocksize`.
fn wants_split(params: &Params, typesize: usize, blocksize: usize) -> bool {
    match params.split {
        SplitMode::Always => true,
        SplitMode::Never => false,
        SplitMode::Auto | SplitMode::ForwardCompat => {
            let codec_gains = match params.compressor {
                Compressor::BLOSCLZ | Compressor::LZ4 => true,
                Compressor::ZSTD => params.level <= 5,
                _ => false,
            };
            codec_gains
                && params.filters.contains(Filter::SHUFFLE)
                && typesize <= MAX_SPLIT_TYPESIZE
                && blocksize / typesize >= MIN_SPLIT_ITEMS
        }
    }
}

/// Returns the most whole elements in `blocksize`, if there is one.
const fn whole_items(blocksize: usize, typesize: usize) -> usize {
    if blocksize > typesize { blocksize - blocksize % typesize } else { blocksize }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Filter, Pipeline};

    fn filters(words: &str) -> Pipeline {
        let mut slots = [Filter::default(); 6];
        match words {
            "none" => {}
            "shuffle" => slots[5] = Filter::new(Filter::SHUFFLE, 0),
            "shuffle:4" => slots[5] = Filter::new(Filter::SHUFFLE, 4),
            "bitshuffle" => slots[5] = Filter::new(Filter::BITSHUFFLE, 0),
            "delta+shuffle" => {
                slots[4] = Filter::new(Filter::DELTA, 0);
                slots[5] = Filter::new(Filter::SHUFFLE, 0);
            }
            other => panic!("{other}"),
        }
        Pipeline(slots)
    }

    /// Columns: Blosc version, nbytes, typesize, codec, level, filters, split mode (1 to 4), requested block size (0: none), then
    /// what C-Blosc 1.21.7 or C-Blosc2 3.3.5 chose: block size, and whether it split (? where the chunk does not show it).
    #[test]
    fn block_size_and_split_are_those_of_the_c_libraries() {
        let mut count = 0;
        for line in include_str!("tuning/cases.txt").lines().filter(|line| !line.starts_with('#')) {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| words[at].parse::<usize>().unwrap();
            let params = Params {
                blosc_version: if words[0] == "1" { BloscVersion::Blosc1 } else { BloscVersion::Blosc2 },
                compressor: Compressor::from_name(words[3]).unwrap(),
                codec_meta: 0,
                level: words[4].parse().unwrap(),
                typesize: number(2),
                filters: filters(words[5]),
                split: match number(6) {
                    1 => SplitMode::Always,
                    2 => SplitMode::Never,
                    3 => SplitMode::Auto,
                    _ => SplitMode::ForwardCompat,
                },
                blocksize: Some(number(7)).filter(|&asked| asked > 0),
                dictionary: false,
                threads: 1,
            };
            let blocks = choose(&params, number(1));
            assert_eq!(blocks.blocksize, number(8), "{line}");
            if words[9] != "?" {
                assert_eq!(blocks.split, words[9] == "1", "{line}");
            }
            count += 1;
        }
        assert!(count >= 500, "only {count} cases");
    }

    #[test]
    fn split_blocks_hold_whole_elements() {
        let params = Params {
            blosc_version: BloscVersion::Blosc2,
            compressor: Compressor::LZ4,
            codec_meta: 0,
            level: 5,
            typesize: 7,
            filters: filters("shuffle"),
            split: SplitMode::Always,
            blocksize: Some(16384),
            dictionary: false,
            threads: 1,
        };
        assert_eq!(choose(&params, 100_000), Blocks { blocksize: 16380, streams: 7, split: true });
        // Fewer bytes than an element: the only stream is that of the block.
        assert_eq!(choose(&params, 5).streams, 1);
    }
}
