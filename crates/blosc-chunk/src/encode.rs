//! Encodes chunks.
//!
//! [`Encoder`] decides what kind of chunk the bytes become: one without streams when they are all alike (`special`), one that
//! stores them plainly, or one with a stream for each block or byte plane. Blocks are encoded by `worker`, on one thread or
//! several (`parallel`); `stream` holds the codecs, `dictionary` what they share, `blocks` the chunks whose blocks the caller
//! cuts. Nothing in a chunk depends on the number of threads or on chunks before it.
//!
//! Spec: blosc2 sections 1, 3, 4 and 17; bloscpack section 3.

use std::io;

use container_core::{Error, Result};

use crate::tuning::{self, Blocks};
use crate::{CodecPlugin, Compressor, Filter, Geometry, Header, Pipeline, Plugins};

mod check;
mod dictionary;
mod parallel;
mod special_value;
mod stream;
#[cfg(test)]
mod tests;
mod variable_blocks;
mod worker;

use worker::{Plan, Worker};

/// Whose chunks to write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BloscVersion {
    /// Version 2, with a 16-byte header: what Blosc1 and Bloscpack read.
    Blosc1,
    /// Version 5, with a 32-byte header.
    Blosc2,
}

impl BloscVersion {
    /// Bytes of a header, 16 or 32: what a chunk takes beyond its data at most.
    #[must_use]
    pub const fn header_len(self) -> usize {
        match self {
            Self::Blosc1 => 16,
            Self::Blosc2 => 32,
        }
    }

    /// Returns the largest number of bytes in a chunk: the largest `int32_t` of C, less the header.
    #[must_use]
    pub const fn max_nbytes(self) -> usize {
        0x7FFF_FFFF - self.header_len()
    }

    /// Returns the length below which data are stored (`BLOSC_MIN_BUFFERSIZE`).
    const fn min_nbytes(self) -> usize {
        match self {
            Self::Blosc1 => 128,
            Self::Blosc2 => 32,
        }
    }
}

/// Rule for storing a block as one stream for each byte of the element.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SplitMode {
    /// Always. In chunks of Blosc1 only where its readers expect it: elements of up to 16 bytes, 128 or more in a block.
    Always,
    /// Never.
    Never,
    /// When it helps, by the codec and level.
    Auto,
    /// As `Auto`, in a way that older readers take.
    #[default]
    ForwardCompat,
}

/// Parameters for writing chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Params {
    /// Whose chunks.
    pub blosc_version: BloscVersion,
    /// The codec.
    pub compressor: Compressor,
    /// The codec's own byte, which chunks hold: 0 but for those of [`Plugins`].
    pub codec_meta: u8,
    /// 0 (stored) to 9.
    pub level: u8,
    /// Bytes of an element, 1 to 512 MiB; over 255 the chunk stores 1.
    pub typesize: usize,
    /// Filters. Chunks of Blosc1 have one at most, byte or bit shuffle.
    pub filters: Pipeline,
    /// Splitting.
    pub split: SplitMode,
    /// Bytes of a block, 1 to 536 866 816; `None` chooses as C-Blosc does. Cut to what there is, and to whole elements where
    /// streams need them.
    pub blocksize: Option<usize>,
    /// Whether to make a dictionary (zstd, lz4 and lz4hc of Blosc2). It is left out where it does not make the chunk shorter;
    /// the comparison takes twice the time.
    pub dictionary: bool,
    /// Largest number of threads that encode one chunk. The bytes do not depend on it.
    pub threads: usize,
}

/// Encodes chunks. Keeps contexts and buffers from one chunk to the next.
///
/// Chunk encoder: its output depends on the bytes and on the parameters alone.
#[derive(Debug)]
pub struct Encoder {
    params: Params,
    plugins: Plugins,
    blockshape: Vec<usize>,
    /// One for each thread; the first is always there.
    workers: Vec<Worker>,
}

impl Encoder {
    /// Creates an encoder.
    ///
    /// A `bytedelta` filter that counts its streams by the element gets their number written out. So the chunk is readable
    /// without its frame.
    ///
    /// # Errors
    /// `Usage` for contradictory parameters, `Unsupported` for codecs and filters that are only read, `Io` when there is no
    /// memory.
    pub fn new(params: Params) -> Result<Self> {
        Self::new_with_plugins(params, Plugins::new())
    }

    /// Creates an encoder with codecs and filters of the caller's own.
    ///
    /// # Errors
    /// As [`Encoder::new`]; `Usage` for codecs of users in chunks of Blosc1.
    pub fn new_with_plugins(mut params: Params, plugins: Plugins) -> Result<Self> {
        check::params(&params, &plugins)?;
        for filter in &mut params.filters.0 {
            if filter.id == Filter::BYTEDELTA && filter.meta == 0 {
                filter.meta = tuning::stored_typesize(params.typesize);
            }
        }
        let worker = Worker::new(&params, &plugins)?;
        Ok(Self { params, plugins, blockshape: Vec::new(), workers: vec![worker] })
    }

    /// Sets the geometry of an array's chunks, whose blocks have a shape: filters over cells need it. Its typesize is
    /// ignored; [`Params`] have one.
    #[must_use]
    pub fn with_geometry(mut self, geometry: Geometry) -> Self {
        self.blockshape = geometry.blockshape;
        self
    }

    /// Returns the parameters of the encoder.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// Encodes each chunk on up to `threads` threads from now on.
    pub fn set_threads(&mut self, threads: usize) {
        self.params.threads = threads;
    }

    /// Returns the largest length of a chunk of `nbytes`, if its blocks are not cut by the caller.
    #[must_use]
    pub fn max_encoded_len(&self, nbytes: usize) -> usize {
        nbytes.saturating_add(self.params.blosc_version.header_len())
    }

    /// Appends the chunk that holds `src` to `out`, and returns its length.
    ///
    /// Chunks of Blosc2 that repeat one value (or hold only zeros, or NaN) become a header, unless the level is 0.
    ///
    /// # Errors
    /// `Usage` when `src` is longer than a chunk can be or a filter does not fit it, `Io` when there is no memory. `out` is
    /// then as it was.
    pub fn encode(&mut self, src: &[u8], out: &mut Vec<u8>) -> Result<usize> {
        let start = out.len();
        let done = self.append(src, out);
        if done.is_err() {
            out.truncate(start);
        }
        done.map(|()| out.len() - start)
    }

    fn append(&mut self, src: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let blosc_version = self.params.blosc_version;
        check::nbytes(blosc_version, src.len())?;
        if src.is_empty() {
            return self.store(src, Blocks::ONE_BYTE, out);
        }
        if blosc_version == BloscVersion::Blosc2
            && self.params.level > 0
            && let Some(found) = special_value::detect(&self.params, src)
        {
            return self.append_special(&found, src.len(), out);
        }
        let blocks = tuning::choose(&self.params, src.len());
        let starts_len = src.len().div_ceil(blocks.blocksize).saturating_mul(4);
        if self.params.level == 0 || src.len() < blosc_version.min_nbytes() || starts_len >= src.len() {
            return self.store(src, blocks, out);
        }
        if self.params.dictionary {
            return self.append_with_dictionary(src, blocks, out);
        }
        self.append_streams(src, blocks, None, out)
    }

    /// Appends a chunk with streams, or one that stores the bytes if that is not longer.
    fn append_streams(
        &mut self,
        src: &[u8],
        blocks: Blocks,
        dictionary: Option<&[u8]>,
        out: &mut Vec<u8>,
    ) -> Result<()> {
        let start = out.len();
        let mut header = self.header(src.len(), blocks);
        let reference = self.reference(src, blocks)?;
        let plan = Plan::new(&self.params, &self.plugins, &self.blockshape, src, blocks)
            .with_reference(reference.as_deref());
        // The last block may go over what a chunk may come to, which is found out after it.
        reserve(out, self.max_encoded_len(src.len()) + plan.max_block_len())?;
        header.encode(out);
        let starts_at = out.len();
        out.resize(starts_at + 4 * plan.count(), 0);
        if let Some(dictionary) = dictionary {
            header.blosc2_flags |= 0x01;
            out.extend_from_slice(&le32(dictionary.len()));
            out.extend_from_slice(dictionary);
        }
        let limit = start + self.max_encoded_len(src.len());
        let outcome = parallel::encode_blocks(&mut self.workers, &plan, start..limit, starts_at, out)?;
        match outcome {
            Outcome::TooLong => {
                out.truncate(start);
                self.store(src, blocks, out)
            }
            Outcome::AllZeros if self.keeps_zeros() => {
                out.truncate(start);
                self.append_special(&special_value::Found::Zeros, src.len(), out)
            }
            Outcome::AllZeros | Outcome::Encoded => {
                header.cbytes = to_u32(out.len() - start);
                overwrite(&header, &mut out[start..starts_at]);
                Ok(())
            }
        }
    }

    /// Returns the decoded block 0, which differences refer to, if filters before them change it.
    fn reference(&mut self, src: &[u8], blocks: Blocks) -> Result<Option<Vec<u8>>> {
        let filters = self.params.filters;
        let may_change = filters.is_lossy() || self.has_plugin_filters();
        if !may_change || !filters.contains(Filter::DELTA) || src.len() <= blocks.blocksize {
            return Ok(None);
        }
        let plan = Plan::new(&self.params, &self.plugins, &self.blockshape, src, blocks);
        self.workers[0].decoded_first(&plan).map(Some)
    }

    /// Whether a chunk whose streams are all zeros holds zeros and may be written as such. A filter plugin may encode other
    /// bytes to zeros. C-Blosc2 (3.3.5) ignores that: it decodes zeros.
    fn keeps_zeros(&self) -> bool {
        self.params.blosc_version == BloscVersion::Blosc2 && !self.has_plugin_filters()
    }

    fn has_plugin_filters(&self) -> bool {
        self.params.filters.filters().any(|filter| !filter.is_known())
    }

    /// Appends the bytes as they are, after a header with the bit for stored bytes.
    fn store(&self, src: &[u8], blocks: Blocks, out: &mut Vec<u8>) -> Result<()> {
        reserve(out, self.max_encoded_len(src.len()))?;
        let mut header = self.header(src.len(), blocks);
        // In 32-byte headers the codec and the bit for splitting do not apply to stored bytes, so C-Blosc2 leaves them out.
        header.flags = if header.extended { 0x07 } else { header.flags | 0x02 };
        header.cbytes = to_u32(src.len() + header.len());
        header.encode(out);
        out.extend_from_slice(src);
        Ok(())
    }

    /// Returns the header of a chunk with streams, but for its length.
    fn header(&self, nbytes: usize, blocks: Blocks) -> Header {
        let Params { blosc_version, compressor, codec_meta, filters, .. } = self.params;
        let extended = blosc_version == BloscVersion::Blosc2;
        let mut flags = compressor.format() << 5;
        if extended {
            flags |= if filters.contains(Filter::DELTA) { 0x0D } else { 0x05 };
        } else if filters.contains(Filter::SHUFFLE) {
            flags |= 0x01;
        } else if filters.contains(Filter::BITSHUFFLE) {
            flags |= 0x04;
        }
        if !blocks.split {
            flags |= 0x10;
        }
        Header {
            version: if extended { 5 } else { 2 },
            versionlz: self.plugins.codec(compressor.0).map_or(1, CodecPlugin::version),
            flags,
            typesize: tuning::stored_typesize(self.params.typesize),
            nbytes: to_u32(nbytes),
            blocksize: to_u32(blocks.blocksize),
            cbytes: 0,
            filters,
            compressor,
            codec_meta,
            blosc2_flags2: 0,
            blosc2_flags: 0,
            extended,
        }
    }
}

/// Outcome of encoding the blocks of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Outcome {
    /// They are in the output.
    Encoded,
    /// They are in the output, and all of them are zeros.
    AllZeros,
    /// They are no shorter than the bytes themselves.
    TooLong,
}

/// Makes room for `len` more bytes. `Vec::reserve` would end the process where this reports.
fn reserve(out: &mut Vec<u8>, len: usize) -> Result<()> {
    out.try_reserve(len).map_err(|_| Error::from(io::Error::from(io::ErrorKind::OutOfMemory)))
}

/// Converts a length that [`check::nbytes`] has bounded.
fn to_u32(len: usize) -> u32 {
    u32::try_from(len).expect("chunks are shorter than 2 GiB")
}

fn le32(len: usize) -> [u8; 4] {
    to_u32(len).to_le_bytes()
}

/// Replaces a header that was written before all fields were computed.
fn overwrite(header: &Header, place: &mut [u8]) {
    let mut bytes = Vec::with_capacity(Header::MAX_LEN);
    header.encode(&mut bytes);
    place.copy_from_slice(&bytes);
}
