//! The arithmetic of an array's chunks and blocks.
//!
//! Spec: docs/formats/blosc2.md, "b2nd: geometry". Chunks are in C order over the grid of chunks, blocks in C order over the grid of
//! a chunk (whose last blocks are padded), elements in C order inside a block. The last chunks of an axis are padded too.

use container_core::{Error, Result};

/// Shapes of an array, checked: every product below fits its type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Geometry {
    shape: Vec<u64>,
    chunkshape: Vec<u32>,
    blockshape: Vec<u32>,
    itemsize: usize,
    /// Chunks along each axis.
    chunk_grid: Vec<u64>,
    /// Blocks of a chunk along each axis.
    block_grid: Vec<u64>,
    chunk_count: u64,
    blocks_per_chunk: u64,
    block_bytes: u64,
    chunk_bytes: u64,
}

impl Geometry {
    /// Checks shapes against each other and against what chunks can hold.
    ///
    /// An axis of length 0 has no chunks, so that chunk and block may be 0 there. With no dimensions there is one element.
    ///
    /// # Errors
    /// `Malformed` for lists of different lengths, a chunk or block of 0 along an axis of another length, and products that
    /// overflow: a padded chunk of 2 GiB, a padded array of 2^63 bytes.
    pub fn new(shape: &[u64], chunkshape: &[u32], blockshape: &[u32], itemsize: usize) -> Result<Self> {
        let wrong = |what: String| Err(Error::malformed(what).with_context("b2nd"));
        if chunkshape.len() != shape.len() || blockshape.len() != shape.len() {
            return wrong(format!(
                "{} lengths of chunks and {} of blocks for {} dimensions",
                chunkshape.len(),
                blockshape.len(),
                shape.len()
            ));
        }
        let is_empty = shape.contains(&0);
        let mut chunk_grid = Vec::with_capacity(shape.len());
        let mut block_grid = Vec::with_capacity(shape.len());
        for (axis, ((len, chunk), block)) in shape.iter().zip(chunkshape).zip(blockshape).enumerate() {
            if (*chunk == 0 && *len > 0) || (*block == 0 && *chunk > 0) {
                return wrong(format!("axis {axis} of {len} in chunks of {chunk} and blocks of {block}"));
            }
            chunk_grid.push(len.div_ceil(u64::from(*chunk).max(1)));
            block_grid.push(u64::from(chunk.div_ceil((*block).max(1))));
        }
        let product =
            |numbers: &[u64]| numbers.iter().try_fold(1_u64, |product, next| product.checked_mul(*next));
        let blocks: Vec<u64> = blockshape.iter().map(|len| u64::from(*len)).collect();
        let item = itemsize as u64;
        let bytes = || {
            let block_bytes = product(&blocks)?.checked_mul(item)?;
            let blocks_per_chunk = product(&block_grid)?;
            let chunk_bytes = block_bytes.checked_mul(blocks_per_chunk)?;
            let chunk_count = if is_empty { 0 } else { product(&chunk_grid)? };
            let all = chunk_bytes.checked_mul(chunk_count)?;
            let fits = chunk_bytes <= 0x7fff_ffff && i64::try_from(all).is_ok();
            fits.then_some((block_bytes, blocks_per_chunk, chunk_bytes, chunk_count))
        };
        let Some((block_bytes, blocks_per_chunk, chunk_bytes, chunk_count)) = bytes() else {
            return wrong(format!(
                "an array {shape:?} of {itemsize} bytes in chunks {chunkshape:?} and blocks {blockshape:?} is too large"
            ));
        };
        Ok(Self {
            shape: shape.to_vec(),
            chunkshape: chunkshape.to_vec(),
            blockshape: blockshape.to_vec(),
            itemsize,
            chunk_grid,
            block_grid,
            chunk_count,
            blocks_per_chunk,
            block_bytes,
            chunk_bytes,
        })
    }

    /// Returns the length of each axis.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        &self.shape
    }

    /// Elements of a chunk along each axis.
    #[must_use]
    pub fn chunkshape(&self) -> &[u32] {
        &self.chunkshape
    }

    /// Elements of a block along each axis.
    #[must_use]
    pub fn blockshape(&self) -> &[u32] {
        &self.blockshape
    }

    /// Bytes of an element.
    #[must_use]
    pub const fn itemsize(&self) -> usize {
        self.itemsize
    }

    /// Chunks along each axis.
    #[must_use]
    pub fn chunk_grid(&self) -> &[u64] {
        &self.chunk_grid
    }

    /// Blocks of a chunk along each axis, padded ones included.
    #[must_use]
    pub fn block_grid(&self) -> &[u64] {
        &self.block_grid
    }

    /// Returns the number of chunks; 0 where an axis has length 0.
    #[must_use]
    pub const fn chunk_count(&self) -> u64 {
        self.chunk_count
    }

    /// Returns the number of blocks in each chunk.
    #[must_use]
    pub const fn blocks_per_chunk(&self) -> u64 {
        self.blocks_per_chunk
    }

    /// Bytes of a block.
    #[must_use]
    pub const fn block_bytes(&self) -> u64 {
        self.block_bytes
    }

    /// Bytes of a chunk with its padding: what each chunk of the frame decodes to.
    #[must_use]
    pub const fn chunk_bytes(&self) -> u64 {
        self.chunk_bytes
    }

    /// Returns the place of the chunk `index` in the grid, outermost axis first.
    #[must_use]
    pub fn chunk_place(&self, index: u64) -> Vec<u64> {
        unravel(index, &self.chunk_grid)
    }

    /// Returns the place of the block `index` in the grid of a chunk.
    #[must_use]
    pub fn block_place(&self, index: u64) -> Vec<u64> {
        unravel(index, &self.block_grid)
    }
}

/// Returns the indices of the element `index` of a grid in C order.
fn unravel(index: u64, grid: &[u64]) -> Vec<u64> {
    let mut rest = index;
    let mut place = vec![0; grid.len()];
    for (at, len) in place.iter_mut().zip(grid).rev() {
        *at = rest.checked_rem(*len).unwrap_or(0);
        rest = rest.checked_div(*len).unwrap_or(0);
    }
    place
}
