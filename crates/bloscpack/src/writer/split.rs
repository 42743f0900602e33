//! Splits a stream of bytes into chunks.

use std::io::{Read, Seek, Write};

use blosc_chunk::BatchEncoder;
use container_core::{Error, Result};

use super::OrderedOutput;
use crate::ChecksumCode;
use crate::write::ChunkOptions;

/// Gathers bytes until there is a batch of chunks, encodes them, and hands them to a sink. Every chunk but the last has
/// `chunk_size` bytes.
#[derive(Debug)]
pub(crate) struct Chunker {
    encoder: BatchEncoder,
    checksum: ChecksumCode,
    chunk_size: usize,
    batch_len: usize,
    /// Pending bytes, fewer than a batch.
    pending: Vec<u8>,
    taken: u64,
    /// Number of bytes before encoding, if announced.
    total: Option<u64>,
    /// An earlier call failed, which leaves the file in an undefined state.
    failed: bool,
}

impl Chunker {
    /// Takes `total` bytes, if that is given.
    pub(crate) fn new(chunks: &ChunkOptions, chunk_size: usize, total: Option<u64>) -> Result<Self> {
        let encoder = chunks.encoder()?;
        let chunk_size = chunk_size.max(1);
        Ok(Self {
            batch_len: encoder.batch_count(chunk_size).saturating_mul(chunk_size),
            encoder,
            checksum: chunks.checksum,
            chunk_size,
            pending: Vec::new(),
            taken: 0,
            total,
            failed: false,
        })
    }

    /// Takes the next bytes, any number of them.
    pub(crate) fn push<W: Write + Seek>(
        &mut self,
        mut bytes: &[u8],
        sink: &mut OrderedOutput<W>,
    ) -> Result<()> {
        self.start_call()?;
        self.take(bytes.len() as u64)?;
        while !bytes.is_empty() {
            // Whole batches are encoded in place.
            if self.pending.is_empty() && bytes.len() >= self.batch_len {
                let (batch, rest) = bytes.split_at(self.batch_len);
                self.encode(batch, sink)?;
                bytes = rest;
                continue;
            }
            let (head, rest) = bytes.split_at(bytes.len().min(self.batch_len - self.pending.len()));
            self.pending.extend_from_slice(head);
            bytes = rest;
            self.encode_full_batch(sink)?;
        }
        self.failed = false;
        Ok(())
    }

    /// Takes all bytes of `reader`, straight into the batch.
    pub(crate) fn push_all<W: Write + Seek>(
        &mut self,
        reader: &mut dyn Read,
        sink: &mut OrderedOutput<W>,
    ) -> Result<u64> {
        self.start_call()?;
        let before = self.taken;
        loop {
            // One byte over the announced length shows that there are more.
            let left =
                self.total.map_or(u64::MAX, |total| total.saturating_sub(self.taken).saturating_add(1));
            let most = left.min((self.batch_len - self.pending.len()) as u64);
            let got = reader.take(most).read_to_end(&mut self.pending)? as u64;
            self.take(got)?;
            self.encode_full_batch(sink)?;
            if got < most {
                self.failed = false;
                return Ok(self.taken - before);
            }
        }
    }

    /// Encodes the remaining bytes, which is one empty chunk for an empty stream; returns the number of bytes.
    pub(crate) fn finish<W: Write + Seek>(mut self, sink: &mut OrderedOutput<W>) -> Result<u64> {
        self.start_call()?;
        if let Some(total) = self.total.filter(|total| self.taken != *total) {
            return Err(Error::usage(format!("{} bytes (expected {total}, as announced)", self.taken)));
        }
        let rest = std::mem::take(&mut self.pending);
        if !rest.is_empty() {
            self.encode(&rest, sink)?;
        } else if sink.count() == 0 {
            // As bloscpack does.
            self.write_chunks(&[&[]], sink)?;
        }
        Ok(self.taken)
    }

    /// Marks the writer as failed until the call has succeeded.
    fn start_call(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.failed, true) {
            return Err(Error::usage("an earlier write failed, so bytes are missing"));
        }
        Ok(())
    }

    fn take(&mut self, len: u64) -> Result<()> {
        self.taken = self.taken.saturating_add(len);
        match self.total.filter(|total| self.taken > *total) {
            None => Ok(()),
            Some(total) => Err(Error::usage(format!("more bytes than the announced {total}"))),
        }
    }

    fn encode_full_batch<W: Write + Seek>(&mut self, sink: &mut OrderedOutput<W>) -> Result<()> {
        if self.pending.len() == self.batch_len {
            let batch = std::mem::take(&mut self.pending);
            self.encode(&batch, sink)?;
            self.pending = batch;
            self.pending.clear();
        }
        Ok(())
    }

    fn encode<W: Write + Seek>(&mut self, bytes: &[u8], sink: &mut OrderedOutput<W>) -> Result<()> {
        let pieces: Vec<&[u8]> = bytes.chunks(self.chunk_size).collect();
        self.write_chunks(&pieces, sink)
    }

    fn write_chunks<W: Write + Seek>(&mut self, pieces: &[&[u8]], sink: &mut OrderedOutput<W>) -> Result<()> {
        let checksum = self.checksum;
        let mut put = |encoded: &[u8]| sink.chunk(encoded, 0);
        self.encoder.encode_with(pieces, &|chunk| checksum.complete(chunk), &mut put)
    }
}
