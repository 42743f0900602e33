//! Writes a new contiguous frame from front to back: chunks as they come, index and trailer after them, the header last.

use blosc_chunk::{BatchEncoder, Chunk, Params, Special};
use container_core::format::Output;
use container_core::{Error, Limits, Result, Value};

use crate::checksums::{self, Digests};
use crate::header::{Header, Kind};
use crate::metalayer::Metalayers;
use crate::options::FrameOptions;
use crate::trailer::Trailer;
use crate::{attributes, msgpack};

mod chunk_size;
mod chunks;
mod header;
mod offsets;
mod output;
mod stored_chunk;
#[cfg(test)]
mod tests;
mod vlmetalayers;

pub(crate) use chunk_size::{ChunkSizes, MAX_CHUNK_LEN, SizeChange, check_range};
use chunks::ChunkWriter;
pub(crate) use header::{
    apply_size_change, check_total, encoder_with, frame_encoder, geometry, header_len, mixed_blocks_error,
    new_header, set_chunksize,
};
pub(crate) use offsets::OffsetTable;
use output::Sink;
pub(crate) use stored_chunk::{StoreRules, StoredChunk, check, check_mark, physical, stored_form};
pub(crate) use vlmetalayers::{remove_vlmetalayer, set_vlmetalayer};

/// Writes a new frame to an output.
///
/// ```
/// use blosc2_frame::{Frame, FrameOptions, Writer, default_params};
///
/// let mut options = FrameOptions::default();
/// options.params = default_params(2);
/// let mut bytes = Vec::new();
/// let mut writer = Writer::new(&mut bytes, options)?;
/// writer.append(&[1, 0, 2, 0, 3, 0])?;
/// writer.append(&[4, 0])?;
/// writer.set_vlmetalayer("count", &[4])?;
/// writer.finish()?;
/// assert_eq!(bytes[..10], blosc2_frame::header::MAGIC);
/// # Ok::<(), blosc2_frame::Error>(())
/// ```
pub struct Writer<'o> {
    body: ChunkWriter<'o>,
    options: FrameOptions,
    batch_encoder: BatchEncoder,
    metalayers: Metalayers,
    trailer: Trailer,
    /// An earlier call failed: the contents of the output are undefined then.
    failed: bool,
}

impl<'o> Writer<'o> {
    /// Starts a frame where `out` is. An output that cannot go back (a pipe, memory) gets it when it is complete; until then chunks
    /// wait in memory, and over 8 MiB in a temporary file without a name.
    ///
    /// The kind in the options does not matter here: this is always one file. [`crate::Editor::create`] makes sparse frames.
    ///
    /// # Errors
    /// `Usage` for contradictory parameters; `Io`.
    pub fn new(out: &'o mut dyn Output, options: FrameOptions) -> Result<Self> {
        let mut header = new_header(&options)?;
        header.kind = Kind::Contiguous;
        Self::with_header(out, header, options)
    }

    /// As [`Writer::new`], with the fields of the header that do not depend on its chunks.
    pub(crate) fn with_header(
        out: &'o mut dyn Output,
        mut header: Header,
        options: FrameOptions,
    ) -> Result<Self> {
        let metalayers = options.metalayers.clone();
        header.header_len = header_len(&metalayers)?;
        let geometry = geometry(&header, &metalayers);
        let batch_encoder = frame_encoder(options.params.clone(), geometry, options.plugins.clone())?;
        let sink = Sink::new(out, u64::from(header.header_len))?;
        let mut body = ChunkWriter::new(sink, header, options.variable_chunks);
        body.digests = options.checksums.map(Digests::new);
        Ok(Self { body, options, batch_encoder, metalayers, trailer: Trailer::default(), failed: false })
    }

    /// Returns the options of the writer.
    #[must_use]
    pub fn options(&self) -> &FrameOptions {
        &self.options
    }

    /// Returns the number of chunks so far.
    #[must_use]
    pub fn chunk_count(&self) -> u64 {
        self.body.offsets.len()
    }

    /// Sets the encoding of further chunks. The header keeps the parameters of the first ones.
    ///
    /// # Errors
    /// `Usage` for contradictory parameters, and for another typesize.
    pub fn set_params(&mut self, params: Params) -> Result<()> {
        self.batch_encoder = encoder_with(&self.batch_encoder, params, self.body.header.typesize)?;
        Ok(())
    }

    /// Encodes `data` as the next chunk. Chunks of all zeros, or all NaN, take no room in frames of chunks of one size. With more threads
    /// than one in the parameters its blocks are encoded at once; see [`Writer::append_all`] for many small chunks.
    ///
    /// # Errors
    /// `Usage` for an empty chunk, for one over the size limit, and for another size if the options do not allow that; `Io`.
    pub fn append(&mut self, data: &[u8]) -> Result<()> {
        self.append_all(&[data])
    }

    /// Encodes each of `pieces` as the next chunk, on the number of threads in the parameters. The bytes do not depend on it.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub fn append_all(&mut self, pieces: &[&[u8]]) -> Result<()> {
        let mut after = self.body.sizes;
        for piece in pieces {
            let fit = after.insert(after.count, piece.len(), 1)?;
            apply_size_change(&mut after, fit);
            after.count = after.count.saturating_add(1);
            after.nbytes = after.nbytes.saturating_add(piece.len() as u64);
        }
        self.body.check_uniform_blocks(false)?;
        self.start_call()?;
        let body = &mut self.body;
        self.batch_encoder.encode(pieces, &mut |chunk| body.take(&Chunk::parse(chunk)?))?;
        self.failed = false;
        Ok(())
    }

    /// Writes an encoded chunk as it is. One of zeros, NaN or uninitialized bytes becomes a mark in the index, or in a frame of chunks
    /// of different sizes a chunk that repeats a value.
    ///
    /// # Errors
    /// As [`Writer::append`]; those of parsing an invalid chunk; `Usage` for one of Blosc1.
    pub fn append_chunk(&mut self, chunk: &[u8]) -> Result<()> {
        let chunk = check(chunk)?;
        self.body.sizes.insert(self.body.sizes.count, chunk.nbytes(), 1)?;
        self.body.check_uniform_blocks(chunk.header().has_variable_blocks())?;
        self.start_call()?;
        self.body.take(&chunk)?;
        self.failed = false;
        Ok(())
    }

    /// Writes a chunk of `nbytes` bytes that hold only `special`, which is not [`Special::Value`].
    ///
    /// # Errors
    /// As [`Writer::append`]; `Usage` for NaN of a width other than 4 and 8, and for partial elements except zeros.
    pub fn append_special(&mut self, special: Special, nbytes: u32) -> Result<()> {
        self.append_specials(special, nbytes, 1)
    }

    /// Writes `count` chunks of `nbytes` bytes each that hold only `special`. In a frame of chunks of one size that takes no time and
    /// no room, for any number of them.
    ///
    /// # Errors
    /// As [`Writer::append_special`].
    pub fn append_specials(&mut self, special: Special, nbytes: u32, count: u64) -> Result<()> {
        check_mark(special, u64::from(nbytes), self.body.header.typesize)?;
        self.take_marks(special, nbytes, count)
    }

    /// Writes the marks of another frame, where the last one may end within an element.
    ///
    /// # Errors
    /// As [`Writer::append`].
    pub(crate) fn take_marks(&mut self, special: Special, nbytes: u32, count: u64) -> Result<()> {
        if count == 0 {
            return Ok(());
        }
        self.body.sizes.insert(self.body.sizes.count, nbytes as usize, count)?;
        self.body.check_uniform_blocks(false)?;
        self.start_call()?;
        self.body.take_specials(special, nbytes as usize, count)?;
        self.failed = false;
        Ok(())
    }

    /// Writes a chunk whose blocks the caller cuts, each of which can be read without the others (C-Blosc2 3.0). A frame has only such
    /// chunks, or none of them.
    ///
    /// # Errors
    /// As [`Writer::append`]; `Usage` for an empty block, and for chunks of both kinds.
    pub fn append_blocks(&mut self, blocks: &[&[u8]]) -> Result<()> {
        let mut chunk = Vec::new();
        self.batch_encoder.encoder()?.encode_blocks(blocks, &mut chunk)?;
        self.append_chunk(&chunk)
    }

    /// Gives a metalayer of the options another value of the same length, for values that are final only after the chunks, as the shape
    /// of an array that grew.
    ///
    /// # Errors
    /// `Usage` for a metalayer that does not exist or has another length.
    pub fn set_metalayer(&mut self, name: &str, value: Vec<u8>) -> Result<()> {
        match self.metalayers.get(name) {
            Some(own) if own.len() == value.len() => self.metalayers.set(name, value),
            Some(own) => {
                let problem = format!(
                    "wrong number of bytes for the metalayer {name:?}: {} (expected {})",
                    value.len(),
                    own.len()
                );
                Err(Error::usage(problem))
            }
            None => {
                Err(Error::usage(format!("no metalayer {name:?}"))
                    .with_hint("metalayers are set in the options"))
            }
        }
    }

    /// Sets a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// `Usage` for a name of no or over 31 bytes and for a 17th one.
    pub fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        set_vlmetalayer(&mut self.trailer.vlmetalayers, name, value)
    }

    /// Sets an attribute: a piece of user metadata, or, where there is no room for one more or its name is too long for one, an entry
    /// of the piece called `attrs`. See [`Frame::attributes`](crate::Frame::attributes).
    ///
    /// # Errors
    /// `Usage` where there are 16 pieces and none is `attrs`, or `attrs` is not a map; those of
    /// [`msgpack::from_value`](crate::msgpack::from_value).
    pub fn set_attribute(&mut self, name: &str, value: &Value) -> Result<()> {
        let value = msgpack::from_value(value)?;
        attributes::set(&mut self.trailer.vlmetalayers, name, &value, &Limits::default())
    }

    /// Sets pieces of user metadata as they are stored, with any names and in any number.
    pub(crate) fn take_trailer(&mut self, trailer: Trailer) {
        self.trailer = trailer;
    }

    /// Writes index, trailer and header, and leaves the output after the frame.
    ///
    /// # Errors
    /// `Usage` after an earlier call that failed; `Io`.
    pub fn finish(mut self) -> Result<()> {
        self.start_call()?;
        let ChunkWriter { mut sink, mut header, sizes, offsets, digests } = self.body;
        if let Some(digests) = digests {
            let value = digests.encode(offsets.offsets(), sizes.nbytes)?;
            set_vlmetalayer(&mut self.trailer.vlmetalayers, checksums::NAME, &value)?;
        }
        header.cbytes = sink.len();
        let mut index = Vec::new();
        offsets.offsets().encode(&mut index)?;
        sink.put(&index)?;
        sink.put(&self.trailer.encode())?;
        header.frame_len = sink.len().saturating_add(u64::from(header.header_len));
        header.has_vlmetalayers = !self.trailer.vlmetalayers.is_empty();
        header.nbytes = sizes.nbytes;
        set_chunksize(&mut header, sizes.chunksize);
        check_total(header.frame_len)?;
        check_total(header.nbytes)?;
        let mut bytes = header.encode();
        bytes.extend(self.metalayers.encode());
        sink.finish(&bytes)
    }

    /// Marks the writer as failed until the call has succeeded.
    fn start_call(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(Error::usage("an earlier write failed, so bytes are missing"));
        }
        Ok(())
    }
}
