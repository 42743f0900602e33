//! Default shapes of chunks and blocks.
//!
//! The choice depends on shape, element and codec alone, so that the same array makes the same file everywhere (python-blosc2
//! asks the machine for the sizes of its caches). A block is what has to be decoded for one element: 256 KiB for fast codecs,
//! 512 KiB for slow ones, twice that at level 9, where ratio is all. A chunk is what is encoded at once and rewritten for one
//! element: 8 or 16 MiB, some 32 blocks, enough for several threads. Axes are filled from the last, so that blocks are runs of
//! rows. An axis that has to be cut is cut into equal parts if it has a suitable divisor, else into parts as equal as possible.

use blosc_chunk::{Compressor, MAX_BLOCKSIZE, MAX_CHUNK_NBYTES, Params};
use container_core::{Error, Result};

use super::{Geometry, MAX_DIMENSIONS};

/// Largest size of a chunk before encoding, in bytes.
const MAX_CHUNK: u64 = MAX_CHUNK_NBYTES as u64;

/// Largest size of a block in bytes.
const MAX_BLOCK: u64 = MAX_BLOCKSIZE as u64;

/// Divisors that are tried before an axis is cut unevenly.
const MAX_DIVISORS: u64 = 4096;

/// Returns the partition of an array of `shape`, of elements of `itemsize` bytes: as requested, or by the rules above without
/// a request. Along an axis of length 0, which may grow, chunks are as long as along one without end.
///
/// # Errors
/// `Usage` for over 16 dimensions, for elements of no bytes, for shapes of another number of dimensions or with a 0, for blocks
/// larger than chunks, for chunks of 2 GiB or blocks of 512 MiB, and for arrays of 2^63 bytes with their padding.
pub fn partition(
    shape: &[u64],
    itemsize: usize,
    params: &Params,
    chunkshape: Option<&[u32]>,
    blockshape: Option<&[u32]>,
) -> Result<Geometry> {
    if shape.len() > MAX_DIMENSIONS {
        let problem = format!("{} dimensions (expected at most {MAX_DIMENSIONS})", shape.len());
        return Err(Error::usage(problem));
    }
    if itemsize == 0 {
        return Err(Error::usage("elements of no bytes cannot be stored in chunks"));
    }
    for (what, asked) in [("chunks", chunkshape), ("blocks", blockshape)] {
        if let Some(asked) = asked
            && (asked.len() != shape.len() || asked.contains(&0))
        {
            return Err(Error::usage(format!("{what} of {asked:?} for an array of shape {shape:?}")));
        }
    }
    let targets = Targets::new(params, itemsize);
    let (chunks, blocks) = match (chunkshape, blockshape) {
        (Some(chunks), Some(blocks)) => (chunks.to_vec(), blocks.to_vec()),
        (Some(chunks), None) => (chunks.to_vec(), fill_u32(chunks, targets.block)),
        (None, Some(blocks)) => (around(shape, blocks, targets.chunk), blocks.to_vec()),
        (None, None) => {
            let chunks = fill(shape, targets.chunk);
            let blocks = fill_u32(&chunks, targets.block);
            (chunks, blocks)
        }
    };
    if chunks.iter().zip(&blocks).any(|(chunk, block)| block > chunk) {
        return Err(Error::usage(format!("blocks of {blocks:?} do not fit into chunks of {chunks:?}")));
    }
    let geometry = Geometry::new(shape, &chunks, &blocks, itemsize)
        .map_err(|error| Error::usage(error.kind().to_string()))?;
    if geometry.chunk_bytes() > MAX_CHUNK || geometry.block_bytes() > MAX_BLOCK {
        return Err(Error::usage(format!(
            "chunks of {} bytes in blocks of {}: a chunk holds {MAX_CHUNK} and a block {MAX_BLOCK} at most",
            geometry.chunk_bytes(),
            geometry.block_bytes()
        )));
    }
    Ok(geometry)
}

/// Target sizes of chunks and blocks, in elements.
struct Targets {
    chunk: u64,
    block: u64,
}

impl Targets {
    fn new(params: &Params, itemsize: usize) -> Self {
        let is_slow = matches!(params.compressor, Compressor::LZ4HC | Compressor::ZLIB | Compressor::ZSTD);
        let (chunk, block) = if is_slow { (16 << 20, 512 << 10) } else { (8 << 20, 256 << 10) };
        let block = if params.level >= 9 { 2 * block } else { block };
        let item = itemsize as u64;
        Self { chunk: (chunk / item).max(1), block: (block / item).max(1) }
    }
}

/// Returns a box of at most `most` elements in an array of `lens`, as long as possible along the last axes. `most` is under
/// 2^32.
fn fill(lens: &[u64], most: u64) -> Vec<u32> {
    let mut rest = most.max(1);
    let mut shape: Vec<u32> = Vec::with_capacity(lens.len());
    for len in lens.iter().rev() {
        let taken = if *len == 0 { rest } else { cut(*len, rest) };
        rest = (rest / taken.max(1)).max(1);
        shape.push(u32::try_from(taken).unwrap_or(u32::MAX));
    }
    shape.reverse();
    shape
}

fn fill_u32(lens: &[u32], most: u64) -> Vec<u32> {
    let lens: Vec<u64> = lens.iter().map(|len| u64::from(*len)).collect();
    fill(&lens, most)
}

/// Chunks of whole blocks, about `most` elements of them.
fn around(shape: &[u64], blocks: &[u32], most: u64) -> Vec<u32> {
    let block = blocks.iter().fold(1_u64, |items, len| items.saturating_mul(u64::from(*len)));
    let grid: Vec<u64> =
        shape.iter().zip(blocks).map(|(len, block)| len.div_ceil(u64::from(*block))).collect();
    let counts = fill(&grid, (most / block).max(1));
    let chunk = |((count, block), len): ((&u32, &u32), &u64)| {
        // The last block of an axis may stick out of the array; the chunk need not.
        let whole = count.saturating_mul(*block);
        if *len == 0 {
            whole
        } else {
            u64::from(whole).min((*len).max(u64::from(*block))).try_into().unwrap_or(whole)
        }
    };
    counts.iter().zip(blocks).zip(shape).map(chunk).collect()
}

/// Returns the length of the parts that an axis of `len` is cut into, at most `most`: the longest divisor over half of that,
/// or else the length for the fewest parts of about equal length.
fn cut(len: u64, most: u64) -> u64 {
    if len <= most {
        return len;
    }
    let fewest = len.div_ceil(most);
    // The number of parts is at most twice the smallest one, and the number of lengths at most half of `most`.
    let by_count =
        (fewest..=fewest.saturating_mul(2)).take_while(|count| *count <= fewest.saturating_add(MAX_DIVISORS));
    let by_len = (most / 2 + 1..=most).rev().take(usize::try_from(MAX_DIVISORS).unwrap_or(usize::MAX));
    let divisor = if fewest < most / 2 {
        by_count
            .filter(|count| len.is_multiple_of(*count))
            .map(|count| len / count)
            .find(|part| *part > most / 2)
    } else {
        by_len.into_iter().find(|part| len.is_multiple_of(*part))
    };
    divisor.unwrap_or_else(|| len.div_ceil(fewest))
}

#[cfg(test)]
mod tests;
