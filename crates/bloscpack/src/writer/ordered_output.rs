//! Output of a file's parts in the order in which they become final: chunks first, header and offsets later.

use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;

use container_core::write::AtomicFile;
use container_core::{Error, Result};
use tempfile::SpooledTempFile;

/// Maximum number of bytes held in memory before they go to a temporary file.
const MAX_SPOOL_IN_MEMORY: usize = 8 << 20;

/// Length of the buffer that gathers small chunks, in bytes.
const BUFFER_LEN: usize = 64 << 10;

/// Takes encoded chunks, and puts header, metadata and table before them.
#[derive(Debug)]
pub(crate) struct OrderedOutput<W: Write + Seek> {
    out: BufWriter<W>,
    /// Offset of the file in `out`.
    start: u64,
    /// Temporary file for chunks while the length of the head before them is unknown.
    spool: Option<SpooledTempFile>,
    /// Offset of each chunk, counted from the first.
    places: Vec<u64>,
    /// Bytes of chunks and slack so far.
    body_len: u64,
}

/// Everything before the first chunk.
pub(crate) struct Head {
    /// Header and metadata section.
    pub bytes: Vec<u8>,
    /// Entries of the table of offsets; 0 for none.
    pub entries: u64,
}

impl<W: Write + Seek> OrderedOutput<W> {
    /// Starts at the position of `out`: with `head`, or without one yet, so that the chunks have to wait.
    pub(crate) fn new(mut out: W, head: Option<&Head>) -> Result<Self> {
        let start = out.stream_position()?;
        let spool = head.is_none().then(|| SpooledTempFile::new(MAX_SPOOL_IN_MEMORY));
        let out = BufWriter::with_capacity(BUFFER_LEN, out);
        let mut sink = Self { out, start, spool, places: Vec::new(), body_len: 0 };
        if let Some(head) = head {
            sink.write_head(head)?;
        }
        Ok(sink)
    }

    /// Header, metadata, and a table of -1.
    fn write_head(&mut self, head: &Head) -> Result<()> {
        self.out.write_all(&head.bytes)?;
        repeat(&mut self.out, 0xff, head.entries.saturating_mul(8))
    }

    /// Writes the next chunk with its digest, and `slack` zeros after it.
    pub(crate) fn chunk(&mut self, encoded: &[u8], slack: u64) -> Result<()> {
        self.places.push(self.body_len);
        self.body_len = self.body_len.saturating_add(encoded.len() as u64).saturating_add(slack);
        let out: &mut dyn Write = match &mut self.spool {
            Some(spool) => spool,
            None => &mut self.out,
        };
        out.write_all(encoded)?;
        repeat(out, 0, slack)
    }

    /// Number of chunks so far.
    pub(crate) fn count(&self) -> u64 {
        self.places.len() as u64
    }

    /// Sets the item of each chunk so far, in the order in which they were written.
    pub(crate) fn reorder(&mut self, items: impl Iterator<Item = usize>) {
        let mut order: Vec<(usize, u64)> = items.zip(self.places.iter().copied()).collect();
        order.sort_unstable_by_key(|(item, _)| *item);
        self.places = order.into_iter().map(|(_, place)| place).collect();
    }

    /// Writes `head`, which has the same length as the one written at the start, and fills in the table; returns the output,
    /// positioned at its end.
    pub(crate) fn finish(mut self, head: &Head) -> Result<W> {
        if let Some(mut spool) = self.spool.take() {
            self.write_head(head)?;
            spool.rewind()?;
            io::copy(&mut spool, &mut self.out)?;
        }
        let end = self.out.stream_position()?;
        let table_at = self.start.saturating_add(head.bytes.len() as u64);
        if head.entries > 0 {
            let chunks_at = (head.bytes.len() as u64).saturating_add(head.entries.saturating_mul(8));
            self.out.seek(SeekFrom::Start(table_at))?;
            for place in &self.places {
                self.out.write_all(&offset(chunks_at, *place)?)?;
            }
        }
        // The header comes last: without a table it is the only mark of a complete file.
        self.out.seek(SeekFrom::Start(self.start))?;
        self.out.write_all(&head.bytes)?;
        self.out.seek(SeekFrom::Start(end))?;
        self.out.into_inner().map_err(|failed| failed.into_error().into())
    }
}

impl OrderedOutput<AtomicFile> {
    /// Copies chunks with their digests unchanged from another file: `ranges` of it, in order. The kernel copies them if it can.
    pub(crate) fn take_over(&mut self, from: &File, ranges: impl Iterator<Item = Range<u64>>) -> Result<()> {
        self.out.flush()?;
        let mut run = 0..0;
        for range in ranges {
            self.places.push(self.body_len);
            self.body_len = self.body_len.saturating_add(range.end - range.start);
            if run.end != range.start {
                self.copy(from, run)?;
                run = range.start..range.start;
            }
            run.end = range.end;
        }
        self.copy(from, run)
    }

    /// Copies bytes with chunks at `starts`, absolute in the other file.
    pub(crate) fn take_over_gaps(
        &mut self,
        from: &File,
        range: Range<u64>,
        starts: impl Iterator<Item = u64>,
    ) -> Result<()> {
        self.out.flush()?;
        self.places.extend(starts.map(|start| self.body_len + (start - range.start)));
        self.body_len = self.body_len.saturating_add(range.end - range.start);
        self.copy(from, range)
    }

    fn copy(&mut self, mut from: &File, range: Range<u64>) -> Result<()> {
        let len = range.end.saturating_sub(range.start);
        if len == 0 {
            return Ok(());
        }
        from.seek(SeekFrom::Start(range.start))?;
        let copied = io::copy(&mut from.take(len), &mut self.out.get_ref().file())?;
        if copied != len {
            return Err(Error::truncated(range, copied).with_context("the file being appended to"));
        }
        Ok(())
    }
}

fn offset(chunks_at: u64, place: u64) -> Result<[u8; 8]> {
    let offset = chunks_at.checked_add(place).and_then(|offset| i64::try_from(offset).ok());
    Ok(offset.ok_or_else(|| Error::usage("a file over 2^63 bytes"))?.to_le_bytes())
}

/// Writes one byte `count` times.
fn repeat(out: &mut dyn Write, byte: u8, count: u64) -> Result<()> {
    if count > 0 {
        io::copy(&mut BufReader::with_capacity(BUFFER_LEN, io::repeat(byte).take(count)), out)?;
    }
    Ok(())
}
