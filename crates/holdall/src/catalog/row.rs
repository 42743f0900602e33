//! The columns of a catalogue, and a row of them.

use serde_json::json;

/// The text beside the table that says how it was made.
pub(super) const KEY: &str = "holdall.catalog";

/// The form of the values of a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Text.
    Text,
    /// A number of bytes.
    Bytes,
    /// Lengths of axes: a list of integers.
    Lengths,
    /// Microseconds since 1970 in UTC.
    Time,
}

/// The columns before those of metadata: their names and forms. A row may lack any but `path`.
pub const COLUMNS: [(&str, Form); 15] = [
    ("path", Form::Text),
    ("dataset", Form::Text),
    ("format", Form::Text),
    ("shape", Form::Lengths),
    ("dtype", Form::Text),
    ("chunks", Form::Lengths),
    ("codec", Form::Text),
    ("bytes", Form::Bytes),
    ("stored", Form::Bytes),
    ("file_bytes", Form::Bytes),
    ("modified", Form::Time),
    ("head_sha256", Form::Text),
    ("verdict", Form::Text),
    ("message", Form::Text),
    ("checked", Form::Time),
];

/// A row of a catalogue: a dataset, or a file without one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// The file, as it was named or found.
    pub path: String,
    /// Path of the dataset in it; `None` where the file has none, or cannot be read.
    pub dataset: Option<String>,
    /// Format by its machine name; `None` where it was not recognised.
    pub format: Option<String>,
    /// Length of each axis.
    pub shape: Option<Vec<u64>>,
    /// Type in numpy's words; of records the list of fields as JSON.
    pub dtype: Option<String>,
    /// Elements of a chunk along each axis; `None` where there are none.
    pub chunks: Option<Vec<u64>>,
    /// Codec by the command's word.
    pub codec: Option<String>,
    /// Bytes of the elements.
    pub bytes: Option<u64>,
    /// Bytes of the blocks that hold them.
    pub stored: Option<u64>,
    /// Length of the file; of a directory, of the files in it.
    pub file_bytes: Option<u64>,
    /// Time of the last change, in microseconds since 1970.
    pub modified: Option<i64>,
    /// SHA-256 of the first [`HEAD_LEN`](super::HEAD_LEN) bytes of the file, or of all, in hexadecimal digits.
    pub head_sha256: Option<String>,
    /// Outcome of a quick check: a word of `VerifyStatus`. `None` where none was made.
    pub verdict: Option<String>,
    /// The first error of the file.
    pub message: Option<String>,
    /// Time of reading the file, in microseconds since 1970.
    pub checked: Option<i64>,
    /// Values of [`Table::pointers`]: text as it is, other values as JSON.
    pub meta: Vec<Option<String>>,
}

/// Length and time of the last change of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// In bytes.
    pub len: Option<u64>,
    /// In microseconds since 1970.
    pub modified: Option<i64>,
}

impl Stamp {
    /// Age below which a change may be followed by another with the same time and length.
    const MIN_AGE: i64 = 2_000_000;

    /// True for a file whose row, read at `checked`, is that of this stamp.
    pub(super) fn is_current(self, row: Self, checked: Option<i64>) -> bool {
        let is_old = match (self.modified, checked) {
            (Some(modified), Some(checked)) => checked.saturating_sub(modified) >= Self::MIN_AGE,
            _ => false,
        };
        self == row && self.len.is_some() && is_old
    }
}

/// The columns of metadata of a catalogue, and how its files were read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Table {
    /// JSON pointers into the metadata of a file, with the slash at the start.
    pub pointers: Vec<String>,
    /// Options that rows depend on, in any words.
    pub options: String,
}

impl Table {
    /// Adds a pointer, with or without its first slash; once.
    pub fn add(&mut self, pointer: &str) {
        let slash = if pointer.starts_with('/') { "" } else { "/" };
        let pointer = format!("{slash}{pointer}");
        if !self.pointers.contains(&pointer) {
            self.pointers.push(pointer);
        }
    }

    /// The name of a pointer's column: without its first slash, unless another column is called that.
    #[must_use]
    pub fn column_of(pointer: &str) -> &str {
        let name = pointer.strip_prefix('/').unwrap_or(pointer);
        let is_taken = name.is_empty() || COLUMNS.iter().any(|(column, _)| *column == name);
        if is_taken { pointer } else { name }
    }

    /// The text beside the table, by which a later run recognises its rows as those that it would make.
    #[must_use]
    pub(super) fn text(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        json!({
            "schema": "holdall.catalog/1", "version": version, "meta": self.pointers, "options": self.options
        })
        .to_string()
    }
}
