//! The rows of an earlier catalogue, for files that have not changed since.

use std::collections::HashMap;
use std::iter::{Enumerate, Peekable};

use container_core::{Error, Result};

use super::read::{CatalogReader, Rows};
use super::row::{Row, Stamp, Table};
use crate::verify::VerifyStatus;

/// Files of an earlier catalogue, and where their rows are.
pub struct Previous {
    files: HashMap<String, Entry>,
}

/// The rows of an earlier catalogue, file by file.
pub struct PreviousRows<'a> {
    previous: &'a Previous,
    rows: Peekable<Enumerate<Rows<'a>>>,
}

/// A file of an earlier catalogue.
#[derive(Clone, Copy, Debug)]
struct Entry {
    /// Numbers of its rows: the first, and the one after the last.
    rows: (usize, usize),
    stamp: Stamp,
    checked: Option<i64>,
    /// Its rows say all: it could be read, and they are next to each other.
    is_whole: bool,
}

impl Previous {
    /// Looks through a catalogue. `None` where it was made with other pointers, options or by another version: none of its rows stands for what a run
    /// with `table` would make.
    ///
    /// # Errors
    /// Those of reading it.
    pub fn of(catalog: &CatalogReader, table: &Table) -> Result<Option<Self>> {
        if catalog.text() != Some(table.text().as_str()) {
            return Ok(None);
        }
        let mut files: HashMap<String, Entry> = HashMap::new();
        let mut last = String::new();
        let columns = ["path", "file_bytes", "modified", "verdict", "checked"];
        for (number, row) in catalog.rows_of(&columns).enumerate() {
            let row = row?;
            let stamp = Stamp { len: row.file_bytes, modified: row.modified };
            // What keeps a file from being read may change without it, as a permission.
            let is_readable = row.verdict.as_deref() != Some(VerifyStatus::Unreadable.name());
            match files.get_mut(&row.path) {
                Some(entry) if row.path == last => entry.rows.1 = number + 1,
                Some(entry) => entry.is_whole = false,
                None => {
                    let rows = (number, number + 1);
                    let entry = Entry { rows, stamp, checked: row.checked, is_whole: is_readable };
                    files.insert(row.path.clone(), entry);
                }
            }
            last = row.path;
        }
        Ok(Some(Self { files }))
    }

    /// True where the rows of a file with this stamp are those that reading it would make.
    #[must_use]
    pub fn is_current(&self, path: &str, stamp: Stamp) -> bool {
        let is_current = |entry: &Entry| entry.is_whole && stamp.is_current(entry.stamp, entry.checked);
        self.files.get(path).is_some_and(is_current)
    }

    /// The rows of the same catalogue.
    #[must_use]
    pub fn rows<'a>(&'a self, catalog: &'a CatalogReader) -> PreviousRows<'a> {
        PreviousRows { previous: self, rows: catalog.rows().enumerate().peekable() }
    }
}

impl PreviousRows<'_> {
    /// Passes the rows of a file to `take`. The files have to be asked for in the order of the catalogue: `false`, without any, for one that comes
    /// before the last one.
    ///
    /// # Errors
    /// Those of reading the catalogue, and of `take`.
    pub fn take(&mut self, path: &str, mut take: impl FnMut(Row) -> Result<()>) -> Result<bool> {
        let Some(Entry { rows: (first, end), .. }) = self.previous.files.get(path).copied() else {
            return Ok(false);
        };
        if self.rows.peek().is_none_or(|(number, _)| *number > first) {
            return Ok(false);
        }
        while let Some((number, row)) = self.rows.next_if(|(number, _)| *number < end) {
            let row = row?;
            if number < first {
                continue;
            }
            if row.path != path {
                return Err(Error::malformed("the catalogue has changed while it was read"));
            }
            take(row)?;
        }
        Ok(true)
    }
}
