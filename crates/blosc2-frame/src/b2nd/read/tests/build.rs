//! Frames of arrays, put together element by element from the formulas of the specification, without the code under test.

use blosc_chunk::{Compressor, Encoder, Filter, Params, Pipeline, SplitMode};

use crate::b2nd::{Meta, NAME};
use crate::header::{ChunkSize, Header, Kind};
use crate::{Frame, Metalayers, Offset, Offsets, OpenOptions, Trailer, default_params};
use blosc_chunk::Special;

/// Storage of the chunks of a frame.
#[derive(Clone, Debug)]
pub(super) struct Making {
    pub(super) shape: Vec<u64>,
    pub(super) chunkshape: Vec<u32>,
    pub(super) blockshape: Vec<u32>,
    pub(super) itemsize: usize,
    pub(super) compressor: Compressor,
    pub(super) level: u8,
    pub(super) filters: Pipeline,
    /// Blocks of the chunks, where they are not those of the array.
    pub(super) blocksize: Option<usize>,
    /// Each chunk with this remainder by 4 is a mark for zeros, the next repeats one value.
    pub(super) special: Option<u64>,
}

impl Making {
    pub(super) fn new(shape: &[u64], chunkshape: &[u32], blockshape: &[u32], itemsize: usize) -> Self {
        Self {
            shape: shape.to_vec(),
            chunkshape: chunkshape.to_vec(),
            blockshape: blockshape.to_vec(),
            itemsize,
            compressor: Compressor::LZ4,
            level: 5,
            filters: Pipeline::shuffle(),
            blocksize: None,
            special: None,
        }
    }

    /// Chunks along each axis, and blocks of a chunk.
    fn grids(&self) -> (Vec<u64>, Vec<u64>) {
        let chunks =
            self.shape.iter().zip(&self.chunkshape).map(|(len, chunk)| len.div_ceil(u64::from(*chunk)));
        let blocks =
            self.chunkshape.iter().zip(&self.blockshape).map(|(len, block)| u64::from(len.div_ceil(*block)));
        (chunks.collect(), blocks.collect())
    }

    pub(super) fn block_bytes(&self) -> usize {
        self.blockshape.iter().map(|len| *len as usize).product::<usize>() * self.itemsize
    }

    /// Returns the chunk and the byte in it where an element is.
    pub(super) fn place(&self, index: &[u64]) -> (usize, usize) {
        let (chunks, blocks) = self.grids();
        let (mut chunk, mut block, mut item) = (0, 0, 0);
        for axis in 0..index.len() {
            let (chunk_len, block_len) = (u64::from(self.chunkshape[axis]), u64::from(self.blockshape[axis]));
            chunk = chunk * chunks[axis] + index[axis] / chunk_len;
            block = block * blocks[axis] + index[axis] % chunk_len / block_len;
            item = item * block_len + index[axis] % chunk_len % block_len;
        }
        (chunk as usize, block as usize * self.block_bytes() + item as usize * self.itemsize)
    }

    /// Returns the frame, and the bytes of the elements in C order.
    pub(super) fn make(&self) -> (Vec<u8>, Vec<u8>) {
        let (chunk_grid, block_grid) = self.grids();
        let chunk_bytes = self.block_bytes() * block_grid.iter().product::<u64>() as usize;
        let count = if self.shape.contains(&0) { 0 } else { chunk_grid.iter().product::<u64>() };
        // Padding that is not zero, so that it is seen where it does not belong.
        let mut chunks = vec![vec![0xee; chunk_bytes]; count as usize];
        let mut elements = Vec::new();
        for (number, index) in indices(&self.shape).enumerate() {
            let (chunk, at) = self.place(&index);
            let element: Vec<u8> = match (chunk as u64 % 4, self.special) {
                (rest, Some(zeros)) if rest == zeros => vec![0; self.itemsize],
                (rest, Some(zeros)) if rest == (zeros + 1) % 4 => vec![7; self.itemsize],
                _ => (0..self.itemsize)
                    .map(|byte| (number * (byte + 3) / (1 + byte * byte) + byte) as u8)
                    .collect(),
            };
            chunks[chunk][at..at + self.itemsize].copy_from_slice(&element);
            elements.extend(element);
        }
        (self.frame(&chunks, chunk_bytes), elements)
    }

    fn params(&self) -> Params {
        Params {
            compressor: self.compressor,
            level: self.level,
            filters: self.filters,
            split: SplitMode::Auto,
            blocksize: Some(self.blocksize.unwrap_or(self.block_bytes()).max(1)),
            ..default_params(self.itemsize)
        }
    }

    fn frame(&self, chunks: &[Vec<u8>], chunk_bytes: usize) -> Vec<u8> {
        let mut encoder = Encoder::new(self.params()).unwrap();
        let (mut data, mut offsets) = (Vec::new(), Vec::new());
        for (index, chunk) in chunks.iter().enumerate() {
            let at = Offset::Stored(data.len() as u64);
            match self.special.map(|zeros| (4 + index as u64 - zeros) % 4) {
                Some(0) => {
                    offsets.push(Offset::Special(Special::Zeros).to_raw());
                    continue;
                }
                Some(1) => _ = encoder.value(&vec![7; self.itemsize], chunk_bytes, &mut data).unwrap(),
                _ => _ = encoder.encode(chunk, &mut data).unwrap(),
            }
            offsets.push(at.to_raw());
        }
        let meta = Meta {
            version: 0,
            shape: self.shape.clone(),
            chunkshape: self.chunkshape.clone(),
            blockshape: self.blockshape.clone(),
            dtype_format: Some(0),
            dtype: format!("|V{}", self.itemsize),
        };
        let mut metalayers = Metalayers::new();
        metalayers.set(NAME, meta.encode()).unwrap();
        let metalayers = metalayers.encode();
        let mut behind = Vec::new();
        Offsets::Each(offsets).encode(&mut behind).unwrap();
        behind.extend(Trailer::default().encode());
        let header_len = crate::header::FIXED_LEN + metalayers.len();
        let header = Header {
            header_len: header_len as u32,
            frame_len: (header_len + data.len() + behind.len()) as u64,
            version: 2,
            variable_chunks: false,
            variable_blocks: false,
            kind: Kind::Contiguous,
            compressor: self.compressor,
            level: self.level,
            split: SplitMode::Auto,
            nbytes: (chunks.len() * chunk_bytes) as u64,
            cbytes: data.len() as u64,
            typesize: self.itemsize as u32,
            blocksize: self.block_bytes() as u32,
            chunksize: ChunkSize::Fixed(chunk_bytes as u32),
            threads: (1, 1),
            has_vlmetalayers: false,
            filters: self.filters,
            codec_meta: 0,
            use_dictionary: false,
        };
        [header.encode(), metalayers, data, behind].concat()
    }
}

/// Returns all indices of an array in C order.
pub(super) fn indices(shape: &[u64]) -> impl Iterator<Item = Vec<u64>> + use<'_> {
    let count: u64 = shape.iter().product();
    (0..count).map(|number| {
        let mut rest = number;
        let mut index: Vec<u64> = shape.iter().rev().map(|len| (rest % len, rest /= len).0).collect();
        index.reverse();
        index
    })
}

pub(super) fn open(bytes: Vec<u8>, cache: u64) -> Frame {
    let options = OpenOptions { cache, ..OpenOptions::default() };
    Frame::from_source(Box::new(bytes), 0, &options).unwrap()
}

pub(super) fn pipeline(id: u8) -> Pipeline {
    let mut filters = Pipeline::default();
    filters.0[5] = Filter::new(id, 0);
    filters
}
