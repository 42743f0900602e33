//! Encoding several chunks at once, each with the digest that follows it in the file.

use std::sync::{Mutex, PoisonError};

use blosc_chunk::{Encoder, Params};
use container_core::{Error, Result};

use crate::ChecksumCode;

/// Bytes of raw data that are encoded in one go, unless a single chunk has more.
const BATCH: usize = 64 << 20;

/// Below this many bytes a thread costs more than it encodes.
const LEAST: usize = 64 << 10;

/// Encoders, one for each thread, and the chunks that they made last. The bytes do not depend on how many there are.
#[derive(Debug)]
pub(crate) struct Engine {
    params: Params,
    threads: usize,
    /// At least one once something has been encoded.
    encoders: Vec<Encoder>,
    /// Takes a chunk that stands alone, with all threads on its blocks.
    solo: Option<Encoder>,
    checksum: ChecksumCode,
    encoded: Vec<Vec<u8>>,
}

impl Engine {
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
            encoded: Vec::new(),
        })
    }

    /// How many chunks of `chunk_size` bytes are best encoded together: enough for every thread to have several, and no more than
    /// [`BATCH`] bytes. At least 1.
    pub(crate) fn batch(&self, chunk_size: usize) -> usize {
        (BATCH / chunk_size.max(1)).clamp(1, self.threads.saturating_mul(4))
    }

    /// Encodes each of `pieces` into a chunk with its digest after it.
    ///
    /// # Errors
    /// Those of [`Encoder::encode`].
    pub(crate) fn encode(&mut self, pieces: &[&[u8]]) -> Result<&[Vec<u8>]> {
        if self.encoded.len() < pieces.len() {
            self.encoded.resize_with(pieces.len(), Vec::new);
        }
        let bytes: usize = pieces.iter().map(|piece| piece.len()).sum();
        let threads = self.threads.min(pieces.len()).min(bytes / LEAST);
        if let ([piece], true) = (pieces, self.threads > 1 && bytes > LEAST) {
            self.alone(piece)?;
        } else if threads <= 1 {
            let encoder = self.encoders.first_mut().ok_or_else(no_encoder)?;
            for (piece, out) in pieces.iter().zip(&mut self.encoded) {
                encode_one(encoder, self.checksum, piece, out)?;
            }
        } else {
            self.shared(pieces, threads)?;
        }
        Ok(self.encoded.get(..pieces.len()).unwrap_or_default())
    }

    fn alone(&mut self, piece: &[u8]) -> Result<()> {
        let encoder = match &mut self.solo {
            Some(encoder) => encoder,
            none => none.insert(Encoder::new(Params { threads: self.threads, ..self.params.clone() })?),
        };
        let out = self.encoded.first_mut().ok_or_else(no_encoder)?;
        encode_one(encoder, self.checksum, piece, out)
    }

    /// Each thread takes the next piece until none is left. A thread that the system refuses to start is done without.
    fn shared(&mut self, pieces: &[&[u8]], threads: usize) -> Result<()> {
        while self.encoders.len() < threads {
            self.encoders.push(Encoder::new(Params { threads: 1, ..self.params.clone() })?);
        }
        let checksum = self.checksum;
        let jobs = Mutex::new(pieces.iter().zip(&mut self.encoded));
        let work = |encoder: &mut Encoder| -> Result<()> {
            loop {
                let job = jobs.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some((piece, out)) = job else { return Ok(()) };
                encode_one(encoder, checksum, piece, out)?;
            }
        };
        let (first, others) = self.encoders.split_first_mut().ok_or_else(no_encoder)?;
        let work = &work;
        std::thread::scope(|scope| {
            let started = others.iter_mut().take(threads - 1).map_while(|encoder| {
                std::thread::Builder::new().spawn_scoped(scope, move || work(encoder)).ok()
            });
            let running: Vec<_> = started.collect();
            let own = work(first);
            let results = running.into_iter().map(|thread| match thread.join() {
                Ok(result) => result,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            // All are joined before an error is given.
            results.fold(own, Result::and)
        })
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
