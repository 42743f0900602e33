//! New files written in one go, from beginning to end, to anything that takes bytes.
//!
//! A [`Plan`] lists all chunks first; a [`SequentialWriter`] then writes header, names and index, and takes the chunks' bytes as one
//! stream. It never seeks, so the output may be a pipe. The same plan and the same bytes give the same file:
//!
//! ```text
//! 0..256     header; file layer 2.1, little-endian
//! 256..      namelist, at least one zero byte after the last name
//! …          index, at a multiple of 64: sorted by (frame, id), room for as many entries as are used and as there are frames
//! …          chunks in the order of the plan, each at a multiple of the alignment (8)
//! ```
//!
//! The room of the index follows the reference's rule that a frame has to be below the number of entries allocated: with
//! frames that have no chunk, unused entries follow the used ones.

use std::collections::HashMap;
use std::io::{BufWriter, Write};

use container_core::dtype::ByteOrder;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Limits, Result};

use crate::ChunkType;
use crate::header::{self, Header, NAMELIST_ENTRY_LEN, Version, name_field};
use crate::index::IndexEntry;
use crate::namelist::MAX_NAMES;

/// Version of the file layer of new files.
const FILE_LAYER: Version = Version::new(2, 1);

/// Alignment of the index, in bytes.
const INDEX_ALIGNMENT: u64 = 64;

/// Content of a new file: names and chunks, without the chunks' bytes. Takes 32 bytes of memory a chunk.
#[derive(Clone, Debug)]
pub struct Plan {
    header: Header,
    alignment: u64,
    names: Vec<Box<[u8]>>,
    ids: HashMap<Box<[u8]>, u16>,
    names_len: u64,
    /// In the order of the data; locations are relative to the first chunk.
    entries: Vec<IndexEntry>,
    data_len: u64,
}

impl Plan {
    /// An empty file of a schema.
    ///
    /// # Errors
    /// `Usage` for an application or schema of more than 63 bytes, or with a NUL.
    pub fn new(application: &str, schema: &str, schema_version: Version) -> Result<Self> {
        let application = name_field("application", application)?;
        let schema = name_field("schema", schema)?;
        Ok(Self::with_fields(application, schema, schema_version, [0; 80]))
    }

    /// An empty file with the application, schema, schema version and reserved bytes of another.
    #[must_use]
    pub fn like(header: &Header) -> Self {
        Self::with_fields(header.application, header.schema, header.schema_version, header.reserved)
    }

    /// The header planned so far.
    pub(crate) const fn header(&self) -> &Header {
        &self.header
    }

    fn with_fields(
        application: [u8; 64],
        schema: [u8; 64],
        schema_version: Version,
        reserved: [u8; 80],
    ) -> Self {
        let header = Header {
            byte_order: ByteOrder::Little,
            index_location: 0,
            index_allocated_entries: 0,
            namelist_location: header::LEN,
            namelist_allocated_entries: 1,
            schema_version,
            gsd_version: FILE_LAYER,
            application,
            schema,
            reserved,
        };
        let (names, ids, entries) = (Vec::new(), HashMap::new(), Vec::new());
        Self { header, alignment: 8, names, ids, names_len: 0, entries, data_len: 0 }
    }

    /// The same with chunks at multiples of `bytes`, a power of two up to 4096. At 8, the default, a mapped file lends
    /// elements of every type as they are.
    ///
    /// # Errors
    /// `Usage` for another number, and where chunks are planned already.
    pub fn with_alignment(mut self, bytes: u64) -> Result<Self> {
        if !bytes.is_power_of_two() || bytes > 4096 || !self.entries.is_empty() {
            return Err(Error::usage(format!("chunks cannot be aligned to {bytes} bytes")));
        }
        self.alignment = bytes;
        Ok(self)
    }

    /// The id of a name, which is added to the list if it is new. Names are bytes; readers interpret them as UTF-8.
    ///
    /// # Errors
    /// `Usage` for an empty name, one with a NUL, and the 65536th.
    pub fn name(&mut self, name: &[u8]) -> Result<u16> {
        if let Some(id) = self.ids.get(name) {
            return Ok(*id);
        }
        let shown = || String::from_utf8_lossy(name);
        if name.is_empty() || name.contains(&0) {
            return Err(Error::usage(format!("{:?} cannot be the name of a chunk", shown())));
        }
        let id = u16::try_from(self.names.len()).ok().filter(|id| usize::from(*id) < MAX_NAMES);
        let id = id.ok_or_else(|| {
            Error::usage(format!("too many names: {:?} would be number {}", shown(), MAX_NAMES + 1))
        })?;
        self.names.push(name.into());
        self.ids.insert(name.into(), id);
        self.names_len = self.names_len.saturating_add(name.len() as u64).saturating_add(1);
        Ok(id)
    }

    /// The name of an id.
    #[must_use]
    pub fn name_of(&self, id: u16) -> Option<&[u8]> {
        self.names.get(usize::from(id)).map(|name| &**name)
    }

    /// Adds a chunk of `n` rows and `m` columns. Chunks are written in the order in which they are added, frames rising; within
    /// a frame the order is free.
    ///
    /// # Errors
    /// `Usage` for a frame below the one before, a name that is not in the list, `m` of 0, and sizes past 2^63 bytes; `Limit`
    /// without memory for the entry. A second chunk of one name in one frame shows in [`Plan::emit`].
    pub fn chunk(&mut self, frame: u64, id: u16, chunk_type: ChunkType, n: u64, m: u32) -> Result<()> {
        let wrong = |why: &str| Err(Error::usage(format!("frame {frame}, name {id}, {n} by {m}: {why}")));
        if self.entries.last().is_some_and(|last| last.frame > frame) {
            return wrong("frame number lower than the one before");
        }
        if usize::from(id) >= self.names.len() {
            return wrong("the name is not in the list");
        }
        if m == 0 {
            return wrong("a chunk needs at least one column");
        }
        // Within bounds in which all sums of the layout are far from 2^64.
        let most = 1_u64 << 62;
        let start = self.data_len.checked_next_multiple_of(self.alignment);
        let entry = IndexEntry { frame, n, location: 0, m, id, type_code: chunk_type.code(), flags: 0 };
        let end = start.zip(entry.size()).and_then(|(start, size)| start.checked_add(size));
        let Some((start, end)) = start.zip(end).filter(|(_, end)| *end <= most && frame < most) else {
            return wrong("the file would be too large");
        };
        let location = i64::try_from(start).unwrap_or(0);
        let len = self.entries.len() as u64;
        self.entries.try_reserve(1).map_err(|_| Error::limit("entries of the index", len, len))?;
        self.entries.push(IndexEntry { location, ..entry });
        self.data_len = end;
        Ok(())
    }

    /// Number of planned chunks.
    #[must_use]
    pub fn chunks(&self) -> usize {
        self.entries.len()
    }

    /// Length of the file in bytes.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.data_at().saturating_add(self.data_len)
    }

    /// 64-byte units of the namelist, with a byte to spare: the reference refuses a block whose last byte is not 0.
    fn namelist_slots(&self) -> u64 {
        self.names_len.saturating_add(1).div_ceil(NAMELIST_ENTRY_LEN)
    }

    fn index_at(&self) -> u64 {
        let names = self.namelist_slots().saturating_mul(NAMELIST_ENTRY_LEN);
        header::LEN.saturating_add(names).next_multiple_of(INDEX_ALIGNMENT)
    }

    /// At least one: readers fail on an index without room.
    fn index_slots(&self) -> u64 {
        let frames = self.entries.last().map_or(0, |last| last.frame.saturating_add(1));
        frames.max(self.entries.len() as u64).max(1)
    }

    fn data_at(&self) -> u64 {
        let index = self.index_slots().saturating_mul(header::INDEX_ENTRY_LEN);
        // Far below 2^64, so that the next multiple is, too.
        let end = self.index_at().saturating_add(index).min(1 << 63);
        end.next_multiple_of(self.alignment)
    }

    /// Writes header, names and index to `out`, which starts at the file's first byte.
    ///
    /// # Errors
    /// `Usage` for two chunks of one name in one frame; `Limit` where frames without chunks would make unused entries of more
    /// than `limits.memory` bytes; `Io`.
    pub fn emit<W: Write>(mut self, out: W, limits: &Limits) -> Result<SequentialWriter<W>> {
        let (index_at, index_slots, data_at) = (self.index_at(), self.index_slots(), self.data_at());
        let unused = index_slots.saturating_sub(self.entries.len() as u64);
        if unused > 1 {
            limits.allocate(unused.saturating_mul(header::INDEX_ENTRY_LEN))?;
        }
        self.header.namelist_allocated_entries = self.namelist_slots();
        self.header.index_location = index_at;
        self.header.index_allocated_entries = index_slots;
        let base = i64::try_from(data_at).map_err(|_| Error::usage("the file would be too large"))?;
        for entry in &mut self.entries {
            entry.location = entry.location.saturating_add(base);
        }

        let mut out = CountingWriter { out: BufWriter::with_capacity(1 << 20, out), at: 0 };
        out.write(&self.header.to_bytes())?;
        for name in &self.names {
            out.write(name)?;
            out.write(&[0])?;
        }
        out.pad_to(index_at)?;
        let mut sorted: Vec<u32> = Vec::new();
        for frame in self.entries.chunk_by(|a, b| a.frame == b.frame) {
            // Ids are unique within a frame, so a frame has fewer than 2^16 entries.
            sorted.clear();
            sorted.extend((0..).take(frame.len()));
            let id = |at: &u32| frame.get(*at as usize).map_or(u16::MAX, |entry| entry.id);
            sorted.sort_by_key(id);
            let mut previous = None;
            for entry in sorted.iter().filter_map(|at| frame.get(*at as usize)) {
                if previous == Some(entry.id) {
                    let name =
                        self.names.get(usize::from(entry.id)).map(|name| String::from_utf8_lossy(name));
                    let name = name.unwrap_or_default();
                    return Err(Error::usage(format!("duplicate chunk {name:?} in frame {}", entry.frame)));
                }
                previous = Some(entry.id);
                out.write(&entry.to_bytes(ByteOrder::Little))?;
            }
        }
        out.pad_to(data_at)?;
        let end = data_at.saturating_add(self.data_len);
        let mut emitter = SequentialWriter { out, entries: self.entries, next: 0, left: 0, end };
        emitter.advance()?;
        Ok(emitter)
    }
}

/// A file being written, up to the bytes of its chunks.
pub struct SequentialWriter<W: Write> {
    out: CountingWriter<W>,
    entries: Vec<IndexEntry>,
    /// The chunk after the one being written.
    next: usize,
    /// Number of bytes that the current chunk lacks.
    left: u64,
    end: u64,
}

impl<W: Write> SequentialWriter<W> {
    /// Takes the bytes of the planned chunks, little-endian, one chunk after the other without anything between them, in
    /// pieces of any length.
    ///
    /// # Errors
    /// `Usage` for more bytes than are planned; `Io`.
    pub fn write(&mut self, mut bytes: &[u8]) -> Result<()> {
        while !bytes.is_empty() {
            let len = usize::try_from(self.left).unwrap_or(usize::MAX).min(bytes.len());
            let Some((piece, rest)) = bytes.split_at_checked(len).filter(|_| len > 0) else {
                return Err(Error::usage(format!("{} bytes more than the chunks have", bytes.len())));
            };
            self.out.write(piece)?;
            self.left = self.left.saturating_sub(len as u64);
            bytes = rest;
            self.advance()?;
        }
        Ok(())
    }

    /// Goes on to the next chunk that has bytes, when the last one is complete.
    fn advance(&mut self) -> Result<()> {
        while self.left == 0 {
            let Some(entry) = self.entries.get(self.next) else { return Ok(()) };
            self.next = self.next.saturating_add(1);
            self.left = entry.size().unwrap_or(0);
            if self.left > 0 {
                self.out.pad_to(u64::try_from(entry.location).unwrap_or(0))?;
            }
        }
        Ok(())
    }

    /// Absolute offset of the next byte.
    #[must_use]
    pub fn position(&self) -> u64 {
        self.out.at
    }

    /// Ends the file and returns the output, flushed.
    ///
    /// # Errors
    /// `Usage` when chunks lack bytes; `Io`.
    pub fn finish(mut self) -> Result<W> {
        if self.left > 0 {
            return Err(Error::usage(format!("{} bytes of a chunk are missing", self.left)));
        }
        self.out.pad_to(self.end)?;
        self.out.out.flush()?;
        self.out.out.into_inner().map_err(|failed| failed.into_error().into())
    }
}

struct CountingWriter<W: Write> {
    out: BufWriter<W>,
    at: u64,
}

impl<W: Write> CountingWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.out.write_all(bytes)?;
        self.at = self.at.saturating_add(bytes.len() as u64);
        Ok(())
    }

    fn pad_to(&mut self, end: u64) -> Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        while self.at < end {
            let len = usize::try_from(end.saturating_sub(self.at)).unwrap_or(usize::MAX).min(ZEROS.len());
            self.write(ZEROS.get(..len).unwrap_or_default())?;
        }
        Ok(())
    }
}

/// A chunk in memory: `(frame, name, type, n, m, bytes)`, bytes little-endian.
pub type NewChunk<'a> = (u64, &'a str, ChunkType, u64, u32, &'a [u8]);

/// A whole file in memory.
///
/// # Errors
/// As [`Plan::name`], [`Plan::chunk`], [`Plan::emit`] and [`SequentialWriter::finish`].
pub fn to_vec(mut plan: Plan, chunks: &[NewChunk<'_>]) -> Result<Vec<u8>> {
    for (frame, name, chunk_type, n, m, _) in chunks {
        let id = plan.name(name.as_bytes())?;
        plan.chunk(*frame, id, *chunk_type, *n, *m)?;
    }
    let limits = Limits::default();
    let mut file: Vec<u8> = try_zeroed_vec(plan.file_len(), &limits)?;
    file.clear();
    let mut emitter = plan.emit(file, &limits)?;
    for (.., bytes) in chunks {
        emitter.write(bytes)?;
    }
    emitter.finish()
}

#[cfg(test)]
mod tests;
