//! The rows of a table, one at a time, in memory that has a bound.

use std::ops::Range;

use container_core::source::{PIECE_LEN, Source};
use container_core::{Error, Limits, Result};
use csv_core::ReadRecordResult;
use memchr::{memchr_iter, memchr3};

/// Room for the cells of a row to begin with.
const INITIAL_ROW_CAPACITY: usize = 1 << 10;

/// Reads rows, by the rules of `csv_core`; lines without quotes are split at once, which is several times as fast. Empty lines are skipped, as by
/// Python's `csv.DictReader` and pandas.
pub(super) struct Rows<'a> {
    source: &'a dyn Source,
    core: csv_core::Reader,
    delimiter: u8,
    piece: Vec<u8>,
    /// Number of bytes of the piece that have been used.
    used: usize,
    /// End of the piece in the source.
    end: u64,
    cells: Vec<u8>,
    ends: Vec<usize>,
    /// Bytes that the cells of a row may take.
    most: u64,
    number: u64,
}

/// A row.
pub(super) struct Row<'a> {
    cells: &'a [u8],
    ends: &'a [usize],
    /// Bytes between two cells.
    gap: usize,
    /// Counted from 1, a header included.
    pub(super) number: u64,
    /// Its bytes in the source.
    pub(super) range: Range<u64>,
}

impl<'a> Rows<'a> {
    pub(super) fn new(source: &'a dyn Source, delimiter: u8, limits: &Limits) -> Self {
        let core = csv_core::ReaderBuilder::new().delimiter(delimiter).build();
        Self {
            source,
            core,
            delimiter,
            piece: Vec::new(),
            used: 0,
            end: 0,
            cells: vec![0; INITIAL_ROW_CAPACITY],
            ends: vec![0; INITIAL_ROW_CAPACITY],
            most: limits.memory,
            number: 0,
        }
    }

    /// The next row; `None` after the last.
    ///
    /// # Errors
    /// Those of the source; `Limit` for a row longer than the limit on memory, such as one after an unclosed quote.
    pub(super) fn next(&mut self) -> Result<Option<Row<'_>>> {
        match self.plain_line() {
            Some(line) => self.split(line).map(Some),
            None => self.parse(),
        }
    }

    /// The next nonempty line in memory, if it is without quotes, as most rows are.
    fn plain_line(&mut self) -> Option<Range<usize>> {
        // A byte order mark is not part of the first row.
        if self.number == 0 {
            return None;
        }
        loop {
            let rest = self.piece.get(self.used..)?;
            let len = memchr3(b'\n', b'\r', b'"', rest)?;
            let ending = match rest.get(len..)? {
                [b'\n', ..] => 1,
                [b'\r', b'\n', ..] => 2,
                _ => return None,
            };
            let start = self.used;
            let end = start.saturating_add(len);
            self.used = end.saturating_add(ending);
            if len > 0 {
                return Some(start..end);
            }
        }
    }

    /// A line without quotes as a row.
    fn split(&mut self, line: Range<usize>) -> Result<Row<'_>> {
        let start = self.place(line.start);
        let cells = self.piece.get(line).unwrap_or_default();
        let mut count = 0_usize;
        for end in memchr_iter(self.delimiter, cells).chain([cells.len()]) {
            if count >= self.ends.len() {
                grow(&mut self.ends, self.most)?;
            }
            if let Some(place) = self.ends.get_mut(count) {
                *place = end;
            }
            count = count.saturating_add(1);
        }
        self.number = self.number.saturating_add(1);
        Ok(Row {
            cells,
            ends: self.ends.get(..count).unwrap_or_default(),
            gap: 1,
            number: self.number,
            range: start..self.at(),
        })
    }

    /// The next row by all rules, whatever is in it.
    fn parse(&mut self) -> Result<Option<Row<'_>>> {
        let (mut cells_len, mut count) = (0_usize, 0_usize);
        let start = self.at();
        loop {
            if self.used >= self.piece.len() && self.end < self.source.len() {
                let end = self.source.len().min(self.end.saturating_add(PIECE_LEN as u64));
                self.piece.clear();
                self.piece.extend_from_slice(&self.source.read(self.end..end)?);
                (self.used, self.end) = (0, end);
            }
            let input = self.piece.get(self.used..).unwrap_or_default();
            let cells = self.cells.get_mut(cells_len..).unwrap_or_default();
            let ends = self.ends.get_mut(count..).unwrap_or_default();
            let (result, read, wrote, ended) = self.core.read_record(input, cells, ends);
            self.used = self.used.saturating_add(read);
            cells_len = cells_len.saturating_add(wrote);
            count = count.saturating_add(ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::OutputFull => grow(&mut self.cells, self.most)?,
                ReadRecordResult::OutputEndsFull => grow(&mut self.ends, self.most)?,
                ReadRecordResult::End => return Ok(None),
                ReadRecordResult::Record => break,
            }
        }
        self.number = self.number.saturating_add(1);
        Ok(Some(Row {
            cells: self.cells.get(..cells_len).unwrap_or_default(),
            ends: self.ends.get(..count).unwrap_or_default(),
            gap: 0,
            number: self.number,
            range: start..self.at(),
        }))
    }

    /// Position of the reader in the source.
    fn at(&self) -> u64 {
        self.place(self.used)
    }

    /// Position in the source of a byte of the piece.
    fn place(&self, in_piece: usize) -> u64 {
        let left = self.piece.len().saturating_sub(in_piece) as u64;
        self.end.saturating_sub(left)
    }
}

/// Twice the room, within the limit.
fn grow<T: Copy + Default>(room: &mut Vec<T>, most: u64) -> Result<()> {
    let len = room.len().saturating_mul(2);
    let asked = (len as u64).saturating_mul(size_of::<T>() as u64);
    if asked > most {
        let error = Error::limit("memory in bytes (one row of a table)", asked, most);
        return Err(error.with_hint("a larger --limit-memory"));
    }
    room.try_reserve_exact(len.saturating_sub(room.len())).map_err(|_| Error::out_of_memory(asked, most))?;
    room.resize(len, T::default());
    Ok(())
}

impl Row<'_> {
    /// Number of cells.
    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    /// Its cells, without their quotes.
    pub(super) fn cells(&self) -> impl Iterator<Item = &[u8]> {
        let mut start = 0;
        self.ends.iter().map(move |end| {
            let cell = self.cells.get(start..*end).unwrap_or_default();
            start = end.saturating_add(self.gap);
            cell
        })
    }

    /// An error about this row.
    pub(super) fn error(&self, what: impl std::fmt::Display) -> Error {
        Error::usage(format!("row {}: {what}", self.number)).with_range(self.range.clone())
    }
}
