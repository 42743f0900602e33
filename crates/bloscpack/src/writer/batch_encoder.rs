//! Encoding several chunks at once, each with the digest that follows it in the file.

use blosc_chunk::{Encoder, Params};
use container_core::threads::fill_in_order;
use container_core::{Error, Result};

use crate::ChecksumCode;

/// Bytes of raw data that are encoded in one go, unless a single chunk has more.
const MAX_BATCH_LEN: usize = 64 << 20;

/// Below this many bytes a thread costs more than it encodes.
const MIN_THREAD_LEN: usize = 64 << 10;

/// Encoders, one for each thread. The bytes do not depend on how many there are.
#[derive(Debug)]
pub(crate) struct BatchEncoder {
    params: Params,
    threads: usize,
    /// At least one once something has been encoded.
    encoders: Vec<Encoder>,
    /// Takes a chunk that stands alone, with all threads on its blocks.
    solo: Option<Encoder>,
    checksum: ChecksumCode,
    /// Memory of chunks that have been passed on.
    buffers: Vec<Vec<u8>>,
}

impl BatchEncoder {
    /// Encoders for up to `threads` threads.
    ///
    /// # Errors
    /// Those of [`Encoder::new`].
    pub(crate) fn new(params: Params, checksum: ChecksumCode, threads: usize) -> Result<Self> {
        let first = Encoder::new(Params { threads: 1, ..params.clone() })?;
        Ok(Self {
            params,
            threads: threads.max(1),
            encoders: vec![first],
            solo: None,
            checksum,
            buffers: Vec::new(),
        })
    }

    /// Number of chunks of `chunk_size` bytes that are best encoded together: enough for every thread to have several, and no more
    /// than [`MAX_BATCH_LEN`] bytes. At least 1.
    pub(crate) fn batch(&self, chunk_size: usize) -> usize {
        (MAX_BATCH_LEN / chunk_size.max(1)).clamp(1, self.threads.saturating_mul(4))
    }

    /// Encodes each of `pieces` into a chunk with its digest after it, and passes them to `sink` in order, on this thread, while
    /// others are being encoded.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`] and of `sink`.
    pub(crate) fn encode(
        &mut self,
        pieces: &[&[u8]],
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let threads = self.threads.min(pieces.len()).min(bytes / MIN_THREAD_LEN);
        if threads > 1 {
            return self.shared(pieces, threads, sink);
        }
        let alone = pieces.len() == 1 && self.threads > 1 && bytes > MIN_THREAD_LEN;
        let encoder = match (&mut self.solo, alone) {
            (_, false) => self.encoders.first_mut().ok_or_else(no_encoder)?,
            (Some(encoder), true) => encoder,
            (none, true) => {
                none.insert(Encoder::new(Params { threads: self.threads, ..self.params.clone() })?)
            }
        };
        let mut out = self.buffers.pop().unwrap_or_default();
        for piece in pieces {
            encode_one(encoder, self.checksum, piece, &mut out)?;
            sink(&out)?;
        }
        self.buffers.push(out);
        Ok(())
    }

    /// As [`BatchEncoder::encode`], an encoder for each thread.
    fn shared(
        &mut self,
        pieces: &[&[u8]],
        threads: usize,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        while self.encoders.len() < threads {
            self.encoders.push(Encoder::new(Params { threads: 1, ..self.params.clone() })?);
        }
        let tools = self.encoders.get_mut(..threads).ok_or_else(no_encoder)?;
        let checksum = self.checksum;
        let encode = |encoder: &mut Encoder, piece: &&[u8], out: &mut Vec<u8>| {
            encode_one(encoder, checksum, piece, out)
        };
        fill_in_order(tools, &mut self.buffers, pieces, encode, sink)
    }
}

fn encode_one(encoder: &mut Encoder, checksum: ChecksumCode, piece: &[u8], out: &mut Vec<u8>) -> Result<()> {
    out.clear();
    encoder.encode(piece, out)?;
    let mut digest = Vec::new();
    checksum.append_digest(out, &mut digest);
    out.append(&mut digest);
    Ok(())
}

fn no_encoder() -> Error {
    Error::usage("no encoder")
}
