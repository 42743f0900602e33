//! Writing a file of fixed-size chunks from front to back, in bounded memory.

mod ordered_output;
mod seek_or_pipe;
mod split;

pub(crate) use ordered_output::{Head, OrderedOutput};
pub(crate) use seek_or_pipe::with_seek;
pub(crate) use split::Chunker;

use std::io::{Read, Seek, Write};
use std::path::Path;

use container_core::write::AtomicFile;
use container_core::{Error, Result};

use crate::header::{Dialect, Header, Options};
use crate::metadata::{encode_section, to_json};
use crate::write::{Offsets, WriteOptions};

/// Writes a file as its bytes come. Chunks are encoded in batches, on the number of threads in the options; the bytes of the file
/// are the same for any number.
///
/// Header and table of offsets come before the chunks, so it matters whether the number of bytes is given beforehand:
///
/// * given: the header is written first, then a table of -1, then the chunks; the table is filled in at the end. Aborted before, it
///   has -1 everywhere, which marks an unfinished file;
/// * not given, without a table: the header is written with -1 in its counts and completed at the end;
/// * not given, with a table: the chunks wait in a temporary file without a name (in memory, up to 8 MiB) and are copied when their
///   number is final. Aborted before, it leaves `out` empty.
#[derive(Debug)]
pub struct Writer<W: Write + Seek = AtomicFile> {
    sink: OrderedOutput<W>,
    chunker: Chunker,
    options: WriteOptions,
    /// Encoded metadata section; empty for none.
    section: Vec<u8>,
    chunk_size: usize,
}

impl Writer<AtomicFile> {
    /// Starts a file that appears at `path` when it is finished. Dropped before, it leaves no file.
    ///
    /// # Errors
    /// `Usage` for options that make no sense, and for an existing file that may not be replaced; `Io`.
    pub fn create(path: impl AsRef<Path>, total: Option<u64>, options: &WriteOptions) -> Result<Self> {
        Self::new(AtomicFile::create(path, options.overwrite)?, total, options)
    }

    /// Completes the file and moves it to its path; returns the number of bytes before encoding.
    ///
    /// # Errors
    /// `Usage` when the number of bytes differs from the announced one, `Io`. No file appears then.
    pub fn finish(self) -> Result<u64> {
        let durability = self.options.durability;
        let (file, total) = self.complete()?;
        file.commit(durability)?;
        Ok(total)
    }
}

impl<W: Write + Seek> Writer<W> {
    /// Starts a file of `total` bytes (before encoding), if that is given, at the position of `out`.
    ///
    /// # Errors
    /// `Usage` for options that make no sense together, `Io`.
    pub fn new(out: W, total: Option<u64>, options: &WriteOptions) -> Result<Self> {
        let chunk_size = match (options.chunk_size()?, total) {
            (most, Some(total)) => usize::try_from(total).map_or(most, |total| most.min(total)),
            (most, None) => most,
        };
        let chunker = Chunker::new(&options.chunks, chunk_size, total)?;
        let json = match (&options.json, &options.metadata) {
            (Some(json), _) => Some(json.clone()),
            (None, Some(value)) => Some(to_json(value)?.into_bytes()),
            (None, None) => None,
        };
        let section = json.map(|json| encode_section(&json, &options.metadata_options)).transpose()?;
        let section = section.unwrap_or_default();
        let head = match (total, options.offsets) {
            (None, Offsets::Table) => None,
            _ => Some(head(options, &section, chunk_size, total)?),
        };
        let sink = OrderedOutput::new(out, head.as_ref())?;
        Ok(Self { sink, chunker, options: options.clone(), section, chunk_size })
    }

    /// Takes the next bytes, any number of them.
    ///
    /// # Errors
    /// `Usage` when there are more bytes than announced; `Io`, perhaps for bytes of an earlier call.
    pub fn push(&mut self, bytes: &[u8]) -> Result<()> {
        self.chunker.push(bytes, &mut self.sink)
    }

    /// Takes all bytes of `reader`; returns their number.
    ///
    /// # Errors
    /// As [`Writer::push`], and those of the reader.
    pub fn push_all(&mut self, reader: &mut dyn Read) -> Result<u64> {
        self.chunker.push_all(reader, &mut self.sink)
    }

    /// Completes the file and returns the output, positioned at its end, with the number of bytes before encoding.
    ///
    /// # Errors
    /// `Usage` when the number of bytes differs from the announced one, or an earlier call failed; `Io`.
    pub fn complete(mut self) -> Result<(W, u64)> {
        let taken = self.chunker.finish(&mut self.sink)?;
        let chunk_size = usize::try_from(taken).map_or(self.chunk_size, |all| all.min(self.chunk_size));
        let head = head(&self.options, &self.section, chunk_size, Some(taken))?;
        Ok((self.sink.finish(&head)?, taken))
    }
}

/// Builds the head of a file, before its chunks, with -1 for unknown fields while `total` is unknown.
pub(crate) fn head(
    options: &WriteOptions,
    section: &[u8],
    chunk_size: usize,
    total: Option<u64>,
) -> Result<Head> {
    let stride = (chunk_size as u64).max(1);
    let count = total.map(|total| total.div_ceil(stride).max(1));
    let last = total.zip(count).map(|(total, count)| total - (count - 1) * stride);
    let spare = match (options.offsets, count) {
        (Offsets::Table, Some(count)) => {
            let wanted = options.max_app_chunks.unwrap_or_else(|| count.saturating_mul(10));
            wanted.min(i64::MAX.unsigned_abs().saturating_sub(count))
        }
        _ => 0,
    };
    let table = if options.offsets == Offsets::Table { Options::OFFSETS } else { 0 };
    let metadata = if section.is_empty() { 0 } else { Options::METADATA };
    let too_long = |_| Error::usage("a file of more than 2^63 chunks");
    let header = Header {
        options: Options(table | metadata),
        checksum: options.chunks.checksum,
        typesize: options.chunks.stored_typesize(),
        chunk_size: i32::try_from(chunk_size).map_err(too_long)?,
        last_chunk: last.map_or(Ok(-1), i32::try_from).map_err(too_long)?,
        nchunks: count.map_or(Ok(-1), i64::try_from).map_err(too_long)?,
        max_app_chunks: i64::try_from(spare).map_err(too_long)?,
        ..Header::new(Dialect::V3)
    };
    let bytes = [&header.to_bytes(), section].concat();
    Ok(Head { bytes, entries: header.offset_count().unwrap_or(0) })
}

#[cfg(test)]
mod tests;
