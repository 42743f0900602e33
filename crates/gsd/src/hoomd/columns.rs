//! Logged quantities as columns: every `log/` quantity of any number of frames, in one pass over the index.
//!
//! Quantities that change once in a while are stored by HOOMD-blue's writers in the frames where they differ from frame 0. What
//! the other frames have is up to the caller: frame 0's value, by the rule of the schema ([`Gaps::FromFrame0`]), or null
//! ([`Gaps::Null`]). Which values were stored is kept either way.

use container_core::{Error, Result};

use crate::ChunkType;
use crate::file::File;
use crate::frames::Frames;

mod buffers;
mod collect;
mod glob;
mod validity;

pub use buffers::{Texts, Values};
pub use validity::ValidityBitmap;

/// Value of a frame that does not store a quantity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Gaps {
    /// Frame 0's value, by the schema's rule and as in `gsd.hoomd.read_log`; null where frame 0 lacks it, too.
    #[default]
    FromFrame0,
    /// Null.
    Null,
}

/// Treatment of a quantity whose type or shape changes from frame to frame. Texts may have any length.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Changes {
    /// It is an error.
    #[default]
    Refuse,
    /// It is left out and listed in [`LogTable::skipped`].
    Skip,
}

/// Selection of quantities by shape.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Shapes {
    /// All: scalars, vectors, quantities per particle and per bond.
    #[default]
    All,
    /// Single values and texts.
    Scalars,
}

/// Options of [`LogTable::read`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct LogOptions {
    /// Names or patterns, with `*`, `?` and `[abc]` as in shells, with or without the `log/` before them. Empty for all logs.
    pub names: Vec<String>,
    /// Frames; all by default.
    pub frames: Option<Frames>,
    /// Value of frames that do not store one.
    pub gaps: Gaps,
    /// Treatment of quantities that change in type or shape.
    pub changes: Changes,
    /// Shapes of the selected quantities.
    pub shapes: Shapes,
    /// Number of threads; 0 counts as 1.
    pub threads: usize,
}

impl LogOptions {
    /// The same for these names or patterns.
    #[must_use]
    pub fn with_names<N: Into<String>>(mut self, names: impl IntoIterator<Item = N>) -> Self {
        self.names = names.into_iter().map(Into::into).collect();
        self
    }

    /// The same for some frames.
    #[must_use]
    pub const fn with_frames(mut self, frames: Frames) -> Self {
        self.frames = Some(frames);
        self
    }

    /// The same with other gaps.
    #[must_use]
    pub const fn with_gaps(mut self, gaps: Gaps) -> Self {
        self.gaps = gaps;
        self
    }

    /// The same with another treatment of changes.
    #[must_use]
    pub const fn with_changes(mut self, changes: Changes) -> Self {
        self.changes = changes;
        self
    }

    /// The same for some shapes.
    #[must_use]
    pub const fn with_shapes(mut self, shapes: Shapes) -> Self {
        self.shapes = shapes;
        self
    }

    /// The same on `threads` threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }
}

/// Logged quantities of many frames, a row for each frame.
#[derive(Clone, Debug, PartialEq)]
pub struct LogTable {
    /// The frame of each row.
    pub frames: Vec<u64>,
    /// Its time step, by the schema: stored, else frame 0's, else 0.
    pub steps: Vec<u64>,
    /// Rows whose time step the file stores.
    pub stored_steps: ValidityBitmap,
    /// The quantities, in the order of their names in the file.
    pub columns: Vec<Column>,
    /// Quantities left out, by [`Changes::Skip`] or because none of the selected frames has a value.
    pub skipped: Vec<SkippedColumn>,
}

/// One quantity.
#[derive(Clone, Debug, PartialEq)]
pub struct Column {
    /// Its name: `log/…`.
    pub name: String,
    /// Its type in the file.
    pub chunk_type: ChunkType,
    /// Rows of its chunk; 1 of texts.
    pub n: u64,
    /// Columns of its chunk; 1 of texts.
    pub m: u32,
    /// The values, row after row, each row n·m values in C order; zeros and empty texts where they are null.
    pub values: Values,
    /// Rows whose values the file stores.
    pub stored: ValidityBitmap,
    /// Whether rows that the file does not store have frame 0's values; else they are null.
    pub inherits: bool,
}

impl Column {
    /// Values per row: n·m.
    #[must_use]
    pub fn width(&self) -> usize {
        usize::try_from(self.n.saturating_mul(self.m.into())).unwrap_or(usize::MAX)
    }

    /// Shape of a row: () of single values and texts, (n,), (m,) of a chunk of one row, or (n, m).
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        match (self.n, self.m) {
            (1, 1) => Vec::new(),
            (n, 1) => vec![n],
            (1, m) => vec![m.into()],
            (n, m) => vec![n, m.into()],
        }
    }

    /// True where a row has no value.
    #[must_use]
    pub fn is_null(&self, row: usize) -> bool {
        !self.inherits && !self.stored.get(row)
    }

    /// True where a row has the value of frame 0 because its own frame stores none.
    #[must_use]
    pub fn is_inherited(&self, row: usize) -> bool {
        self.inherits && !self.stored.get(row)
    }

    /// True where some row has no value.
    #[must_use]
    pub fn has_nulls(&self) -> bool {
        !self.inherits && !self.stored.all()
    }
}

/// A quantity that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SkippedColumn {
    /// Its name.
    pub name: String,
    /// The first frame that differs from those before it; `None` where no frame has a value.
    pub frame: Option<u64>,
    /// The reason, for people.
    pub why: String,
}

impl LogTable {
    /// Reads the logs of a file.
    ///
    /// # Errors
    /// `Usage` for frames that the file does not have, a name or pattern that fits no log, and, unless they are skipped, for a
    /// quantity that changes in type or shape, naming the frame; `Malformed` and `Truncated` for entries that describe no chunk
    /// of the file, `Limit`, `Io`.
    pub fn read(file: &File, options: &LogOptions) -> Result<Self> {
        let frames = options.frames.unwrap_or_else(|| Frames::all(file));
        frames.check(file)?;
        let ids = chosen(file, &options.names)?;
        collect::read(file, &ids, &frames, options)
    }

    /// Reads the logs with exactly these names; see [`LogTable::read`].
    ///
    /// # Errors
    /// As [`LogTable::read`].
    pub fn read_named<N: AsRef<str>>(file: &File, names: &[N], options: &LogOptions) -> Result<Self> {
        let frames = options.frames.unwrap_or_else(|| Frames::all(file));
        frames.check(file)?;
        let id = |name: &N| {
            let name = name.as_ref();
            let id = file.names().id(name).filter(|_| name.starts_with("log/"));
            id.ok_or_else(|| not_logged(name))
        };
        let mut ids = names.iter().map(id).collect::<Result<Vec<u16>>>()?;
        ids.sort_unstable();
        ids.dedup();
        collect::read(file, &ids, &frames, options)
    }

    /// Number of rows: of frames.
    #[must_use]
    pub fn len(&self) -> usize {
        self.frames.len()
    }

    /// True without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// The quantity called `name`, with or without `log/`.
    #[must_use]
    pub fn column(&self, name: &str) -> Option<&Column> {
        self.columns
            .iter()
            .find(|column| column.name == name || column.name.strip_prefix("log/") == Some(name))
    }
}

/// Ids of the selected logs, ascending.
fn chosen(file: &File, patterns: &[String]) -> Result<Vec<u16>> {
    let mut used = vec![false; patterns.len()];
    let mut ids = Vec::new();
    for (name, id) in file.names().iter().zip(0_u16..) {
        let Some(short) = name.strip_prefix("log/") else { continue };
        let mut take = patterns.is_empty();
        for (pattern, used) in patterns.iter().zip(&mut used) {
            if glob::matches(pattern, &name) || glob::matches(pattern, short) {
                (take, *used) = (true, true);
            }
        }
        if take && file.names().id(&name) == Some(id) {
            ids.push(id);
        }
    }
    match patterns.iter().zip(used).find(|(_, used)| !used) {
        Some((pattern, _)) => Err(not_logged(pattern)),
        None => Ok(ids),
    }
}

fn not_logged(name: &str) -> Error {
    Error::usage(format!("no log is named {name}"))
}

#[cfg(test)]
mod tests;
