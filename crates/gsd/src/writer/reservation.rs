//! Chunks that several threads or processes fill, each with its own rows.
//!
//! The owner of the writer reserves the room, hands out row writers or a token, and ends the frame when every row is there. Rows
//! are written in place, and become visible with the commit.

use std::fs::File;
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use container_core::dtype::Element;
use container_core::write::storage::{FileStorage, Storage, write_all_at};
use container_core::{Error, Result};

use super::Writer;
use crate::ChunkType;

/// A chunk whose room is reserved in the frame that has not ended.
#[derive(Debug)]
pub struct Reservation {
    shared: Arc<SharedFile>,
}

/// Writes rows of a reserved chunk, until its frame ends or is given up. Clones may be used in other threads; see
/// [`Reservation::to_token`] for other processes.
#[derive(Clone, Debug)]
pub struct RowWriter {
    shared: Arc<SharedFile>,
}

#[derive(Debug)]
struct SharedFile {
    file: File,
    place: RowPlace,
    rows: Arc<Rows>,
}

/// A chunk, and where it goes.
#[derive(Clone, Copy, Debug)]
struct RowPlace {
    chunk_type: ChunkType,
    n: u64,
    m: u32,
    at: u64,
}

impl RowPlace {
    /// Bytes of a row. The whole chunk has been found to fit a file.
    const fn row_len(&self) -> u64 {
        self.m as u64 * self.chunk_type.size()
    }
}

/// Number of rows, and those that are claimed.
#[derive(Debug)]
pub(super) struct Rows {
    count: u64,
    claims: Mutex<Claims>,
}

#[derive(Debug, Default)]
struct Claims {
    /// None overlap; they are in order.
    rows: Vec<Claim>,
    /// The frame has ended or was given up: its space may belong to other data.
    closed: bool,
}

/// Rows that are being written or have been written.
#[derive(Clone, Debug)]
struct Claim {
    rows: Range<u64>,
    written: bool,
}

impl Rows {
    fn new(count: u64) -> Self {
        Self { count, claims: Mutex::default() }
    }

    fn claims(&self) -> MutexGuard<'_, Claims> {
        self.claims.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The first rows that are not written yet.
    pub(super) fn missing(&self) -> Option<Range<u64>> {
        let mut next = 0;
        for claim in &self.claims().rows {
            if claim.rows.start > next || !claim.written {
                let end = if claim.rows.start > next { claim.rows.start } else { claim.rows.end };
                return Some(next..end);
            }
            next = claim.rows.end;
        }
        (next < self.count).then_some(next..self.count)
    }

    fn claim(&self, rows: &Range<u64>) -> Result<()> {
        let mut claims = self.claims();
        if claims.closed {
            return Err(Error::usage("the frame of this chunk has ended or was given up"));
        }
        let claims = &mut claims.rows;
        let place = claims.partition_point(|claim| claim.rows.end <= rows.start);
        if let Some(other) = claims.get(place).filter(|claim| claim.rows.start < rows.end) {
            let (mine, other) = (rows, &other.rows);
            let problem = format!(
                "rows {}..{} overlap rows {}..{}, which are written already",
                mine.start, mine.end, other.start, other.end
            );
            return Err(Error::usage(problem));
        }
        claims.insert(place, Claim { rows: rows.clone(), written: false });
        Ok(())
    }

    /// Refuses rows from now on.
    ///
    /// # Errors
    /// `Usage` while rows are being written.
    pub(super) fn close(&self) -> Result<()> {
        let mut claims = self.claims();
        if claims.rows.iter().any(|claim| !claim.written) {
            return Err(Error::usage("rows of a reserved chunk are being written"));
        }
        claims.closed = true;
        Ok(())
    }

    /// Marks a claim as written, or removes it.
    fn finish_claim(&self, rows: &Range<u64>, written: bool) {
        let claims = &mut self.claims().rows;
        if let Some(place) = claims.iter().position(|claim| claim.rows == *rows) {
            match claims.get_mut(place) {
                Some(claim) if written => claim.written = true,
                _ => _ = claims.remove(place),
            }
        }
    }
}

impl Writer<FileStorage> {
    /// Reserves the space of a chunk of N × M elements in the current frame. Rows that are not written are zero.
    ///
    /// The frame ends only when all rows have been written or [confirmed](Reservation::confirm).
    ///
    /// # Errors
    /// As [`Writer::write_chunk`].
    pub fn reserve_chunk(
        &mut self,
        name: &str,
        chunk_type: ChunkType,
        n: u64,
        m: u32,
    ) -> Result<Reservation> {
        let size = self.check_chunk(chunk_type, n, m)?;
        let file = self.storage.get().file().try_clone()?;
        let id = self.names.take(name, self.frame)?;
        let at = self.guard(|writer| {
            writer.write_buffer()?;
            let at = writer.end + writer.padding(size);
            writer.storage.set_len(at + size)?;
            writer.end = at + size;
            Ok(at)
        })?;
        self.push_entry(id, chunk_type, n, m, at);
        let rows = Arc::new(Rows::new(n));
        self.reservations.push(Arc::clone(&rows));
        let place = RowPlace { chunk_type, n, m, at };
        Ok(Reservation { shared: Arc::new(SharedFile { file, place, rows }) })
    }
}

/// First word of a token, with its version.
const TOKEN_PREFIX: &str = "gsd-rows-1";

impl Reservation {
    /// A writer of rows, for this thread or another.
    #[must_use]
    pub fn row_writer(&self) -> RowWriter {
        RowWriter { shared: Arc::clone(&self.shared) }
    }

    /// Returns the token that another process needs in addition to the path of the file, as a line of text. See
    /// [`RowWriter::open_token`].
    ///
    /// # Errors
    /// `Io`.
    pub fn to_token(&self) -> Result<String> {
        let RowPlace { chunk_type, n, m, at } = self.shared.place;
        let identity = identity(&self.shared.file)?;
        Ok(format!("{TOKEN_PREFIX} {at} {} {n} {m} {identity}", chunk_type.code()))
    }

    /// Marks `rows` as written by other processes, on the caller's word.
    ///
    /// # Errors
    /// `Usage` for rows that the chunk has not, and for some that were written here or confirmed before.
    pub fn confirm(&self, rows: Range<u64>) -> Result<()> {
        check_rows(&rows, self.shared.place.n)?;
        self.shared.rows.claim(&rows)?;
        self.shared.rows.finish_claim(&rows, true);
        Ok(())
    }

    /// The first rows that have been neither written here nor confirmed.
    #[must_use]
    pub fn missing(&self) -> Option<Range<u64>> {
        self.shared.rows.missing()
    }
}

impl RowWriter {
    /// A writer of rows of a chunk that another process has reserved in the file at `path`. That process keeps its lock, and assigns
    /// the rows: overlapping rows are refused only within one process. It also ends the frame, without notice to this writer, so rows
    /// have to be written before it [confirms](Reservation::confirm) them: later writes would change a committed frame.
    ///
    /// # Errors
    /// `Usage` for an invalid token, or one of another file; `Io`.
    pub fn open_token(path: impl AsRef<Path>, token: &str) -> Result<Self> {
        let place = parse_token(token)
            .ok_or_else(|| Error::usage(format!("{token:?} is not a reservation of a chunk")))?;
        let file = std::fs::OpenOptions::new().read(true).write(true).open(path)?;
        let end = place.n.saturating_mul(place.row_len()).saturating_add(place.at);
        if !token.ends_with(&format!(" {}", identity(&file)?)) || file.metadata()?.len() < end {
            return Err(Error::usage("the reservation belongs to another file"));
        }
        let rows = Arc::new(Rows::new(place.n));
        Ok(Self { shared: Arc::new(SharedFile { file, place, rows }) })
    }

    /// Rows and columns of the chunk.
    #[must_use]
    pub fn shape(&self) -> (u64, u32) {
        (self.shared.place.n, self.shared.place.m)
    }

    /// Writes whole rows from `first_row` on.
    ///
    /// # Errors
    /// `Usage` for elements of another type than the chunk's, for part of a row, for rows that the chunk has not, and for some that are
    /// written already; `Io`, after which they can be written again.
    pub fn write_rows<T: Element>(&self, first_row: u64, elements: &[T]) -> Result<()> {
        let place = &self.shared.place;
        let dtype = T::dtype();
        if ChunkType::from_dtype(&dtype) != Some(place.chunk_type) {
            return Err(Error::usage(format!(
                "the chunk has elements of {}, not {dtype}",
                place.chunk_type.name()
            )));
        }
        self.write_row_bytes(first_row, &dtype.little_endian(bytemuck::cast_slice(elements))?)
    }

    /// As [`RowWriter::write_rows`], for elements given as little-endian bytes.
    ///
    /// # Errors
    /// As [`RowWriter::write_rows`].
    pub fn write_row_bytes(&self, first_row: u64, bytes: &[u8]) -> Result<()> {
        let place = &self.shared.place;
        let (len, row_len) = (bytes.len() as u64, place.row_len());
        if len % row_len != 0 {
            return Err(Error::usage(format!("{len} bytes are not whole rows of {row_len} bytes")));
        }
        let rows = first_row..first_row.saturating_add(len / row_len);
        check_rows(&rows, place.n)?;
        if rows.is_empty() {
            return Ok(());
        }
        self.shared.rows.claim(&rows)?;
        // Within the chunk, which fits a file.
        let at = place.at + first_row * row_len;
        let written = write_all_at(&self.shared.file, at, bytes);
        self.shared.rows.finish_claim(&rows, written.is_ok());
        written
    }

    /// Waits until the rows written here are on the disk. On a local disk the owner's commit does that for all; on a file system of
    /// another machine each process has to.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync(&self) -> Result<()> {
        Ok(self.shared.file.sync_data()?)
    }
}

fn check_rows(rows: &Range<u64>, count: u64) -> Result<()> {
    if rows.start > rows.end || rows.end > count {
        return Err(Error::usage(format!(
            "rows {}..{} are outside a chunk of {count} rows",
            rows.start, rows.end
        )));
    }
    Ok(())
}

fn parse_token(token: &str) -> Option<RowPlace> {
    let mut words = token.split(' ');
    if words.next()? != TOKEN_PREFIX {
        return None;
    }
    let at = words.next()?.parse().ok()?;
    let chunk_type = ChunkType::from_code(words.next()?.parse().ok()?)?;
    let (n, m): (u64, u32) = (words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let place = RowPlace { chunk_type, n, m, at };
    let end = n.checked_mul(place.row_len()).and_then(|len| len.checked_add(at))?;
    (m > 0 && end <= i64::MAX as u64).then_some(place)
}

/// Identity of a file, on systems that provide one.
fn identity(file: &File) -> Result<String> {
    let about = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::MetadataExt;
        Ok(format!("{}:{}", about.dev(), about.ino()))
    }
    #[cfg(not(unix))]
    {
        Ok(if about.is_file() { "file" } else { "" }.to_owned())
    }
}

#[cfg(test)]
mod tests;
