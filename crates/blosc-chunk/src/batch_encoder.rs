//! Encoding, one chunk on several threads or several chunks at once. The bytes do not depend on how many threads there are.

use container_core::threads::fill_in_order;
use container_core::{Error, Result};

use crate::{Encoder, Geometry, Params, Plugins};

/// Raw bytes that are encoded in one go, or wait to be passed on; a single chunk may have more.
const MAX_BATCH_LEN: usize = 64 << 20;

/// Below this many bytes a thread costs more than it encodes.
const MIN_THREAD_LEN: usize = 64 << 10;

/// Encoders for many chunks with the same parameters, one for each thread.
///
/// They are made when there is something to encode, so that a writer that only copies chunks needs no codec.
#[derive(Debug)]
pub struct BatchEncoder {
    params: Params,
    geometry: Geometry,
    plugins: Plugins,
    /// One for each thread that was ever needed.
    encoders: Vec<Encoder>,
    /// Memory of chunks that have been passed on.
    buffers: Vec<Vec<u8>>,
}

impl BatchEncoder {
    /// Creates encoders on up to `params.threads` threads. The parameters are checked when there is something to encode;
    /// [`BatchEncoder::encoder`] reports faults in them earlier.
    #[must_use]
    pub const fn new(params: Params, geometry: Geometry, plugins: Plugins) -> Self {
        Self { params, geometry, plugins, encoders: Vec::new(), buffers: Vec::new() }
    }

    /// Returns the parameters.
    #[must_use]
    pub const fn params(&self) -> &Params {
        &self.params
    }

    /// Returns the geometry of the chunks.
    #[must_use]
    pub const fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Codecs and filters of the caller's own.
    #[must_use]
    pub const fn plugins(&self) -> &Plugins {
        &self.plugins
    }

    /// Returns the number of chunks of `chunk_size` bytes that are best encoded together: several for every thread, in no more than 64
    /// MiB. At least 1.
    #[must_use]
    pub fn batch_count(&self, chunk_size: usize) -> usize {
        (MAX_BATCH_LEN / chunk_size.max(1)).clamp(1, self.params.threads.max(1).saturating_mul(4))
    }

    /// Moves the encoders out; those that stay are made anew when they are needed.
    #[must_use]
    pub fn take(&mut self) -> Self {
        let rest = Self::new(self.params.clone(), self.geometry.clone(), self.plugins.clone());
        std::mem::replace(self, rest)
    }

    /// Returns an encoder that uses the number of threads in the parameters.
    ///
    /// # Errors
    /// Those of [`Encoder::new_with_plugins`].
    pub fn encoder(&mut self) -> Result<&mut Encoder> {
        self.grow(1)?;
        let threads = self.params.threads;
        let encoder = self.encoders.first_mut().ok_or_else(no_encoder)?;
        encoder.set_threads(threads);
        Ok(encoder)
    }

    fn grow(&mut self, count: usize) -> Result<()> {
        while self.encoders.len() < count {
            let params = Params { threads: 1, ..self.params.clone() };
            let encoder = Encoder::new_with_plugins(params, self.plugins.clone())?;
            self.encoders.push(encoder.with_geometry(self.geometry.clone()));
        }
        Ok(())
    }

    /// Encodes each of `pieces` and passes the chunks to `sink` in order, on this thread, while others are being encoded.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] and of `sink`.
    pub fn encode(&mut self, pieces: &[&[u8]], sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.encode_with(pieces, &|_| (), sink)
    }

    /// As [`BatchEncoder::encode`]; `complete` appends to each chunk what follows it, a checksum for one, on the thread that encoded it.
    ///
    /// # Errors
    /// As [`BatchEncoder::encode`].
    pub fn encode_with(
        &mut self,
        pieces: &[&[u8]],
        complete: &(dyn Fn(&mut Vec<u8>) + Sync),
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let mut rest = pieces;
        while let Some(first) = rest.first() {
            // As many as may wait at once, and at least one.
            let mut bytes = first.len();
            let more = rest.iter().skip(1).take_while(|piece| {
                bytes = bytes.saturating_add(piece.len());
                bytes <= MAX_BATCH_LEN
            });
            let (batch, after) = rest.split_at(1 + more.count());
            rest = after;
            self.encode_batch(batch, complete, sink)?;
        }
        Ok(())
    }

    fn encode_batch(
        &mut self,
        batch: &[&[u8]],
        complete: &(dyn Fn(&mut Vec<u8>) + Sync),
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let bytes: usize = batch.iter().map(|piece| piece.len()).sum();
        let threads = self.params.threads.min(batch.len()).min(bytes / MIN_THREAD_LEN);
        let encode = |encoder: &mut Encoder, piece: &&[u8], out: &mut Vec<u8>| {
            encoder.encode(piece, out)?;
            complete(out);
            Ok(())
        };
        if threads > 1 {
            self.grow(threads)?;
            let tools = self.encoders.get_mut(..threads).ok_or_else(no_encoder)?;
            tools.iter_mut().for_each(|encoder| encoder.set_threads(1));
            return fill_in_order(tools, &mut self.buffers, batch, encode, sink);
        }
        let mut out = self.buffers.pop().unwrap_or_default();
        for piece in batch {
            out.clear();
            encode(self.encoder()?, piece, &mut out)?;
            sink(&out)?;
        }
        self.buffers.push(out);
        Ok(())
    }
}

fn no_encoder() -> Error {
    Error::usage("no encoder")
}

#[cfg(test)]
mod tests;
