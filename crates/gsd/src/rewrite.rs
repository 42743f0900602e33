//! New files from the frames of others: all of one ([`repack`]), some of one ([`slice()`]), all of several ([`concat()`]).
//!
//! Bytes outside chunks are not copied: older copies of the index, bytes that no entry points at. The result is of file layer 2.1 and little-endian,
//! whatever the input was; application, schema, its version and the names stay.
//!
//! Under the `hoomd` schema a frame inherits from frame 0 what it does not store. So that every frame reads as it did, the new frame 0
//! stores all that the old one inherited, and other frames what they would no longer inherit. With [`RedundantChunks::Drop`] chunks are
//! left out that are equal to those that the frame inherits.
//!
//! Frames are read twice, once to lay the file out and once to write it; 32 bytes of memory a chunk are held. The same input
//! and options give the same bytes.

use container_core::format::Output;
use container_core::report::Loss;
use container_core::{Error, Progress, Result};

use crate::file::File;
use crate::frames::Frames;
use crate::import::HeaderSettings;
pub use crate::late_logs::NewLogs;
use crate::stacked::Defaults;
use crate::writer::sequential::Plan;

mod chunk_data;
mod frames;
mod source;

use frames::FramePlan;

/// Treatment of `hoomd` chunks that are equal to the chunk that their frame would inherit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum RedundantChunks {
    /// They are left out. Kept are time steps, texts, which `gsd.hoomd` 5.0.1 does not inherit, and one chunk of each frame, without which
    /// readers would not see the last frame.
    #[default]
    Drop,
    /// They are written.
    Keep,
}

/// Options of rewriting files.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct RewriteOptions {
    /// Whether the schema's rule for absent chunks is applied; if not, chunks are copied as they are stored.
    pub defaults: Defaults,
    /// Treatment of chunks that are equal to the inherited ones.
    pub redundant_chunks: RedundantChunks,
    /// The treatment of logs that the new frame 0 lacks, where `gsd.hoomd` could read frames in their own file, but not in the new one.
    pub new_logs: NewLogs,
    /// Chunks start at multiples of this many bytes; see [`Plan::with_alignment`].
    pub alignment: u64,
    /// Header fields to be replaced.
    pub(crate) header: HeaderSettings,
}

impl Default for RewriteOptions {
    fn default() -> Self {
        Self {
            defaults: Defaults::default(),
            redundant_chunks: RedundantChunks::default(),
            new_logs: NewLogs::default(),
            alignment: 8,
            header: HeaderSettings::default(),
        }
    }
}

impl RewriteOptions {
    /// The same with other defaults.
    #[must_use]
    pub const fn with_defaults(mut self, defaults: Defaults) -> Self {
        self.defaults = defaults;
        self
    }

    /// The same with another treatment of redundant chunks.
    #[must_use]
    pub const fn with_redundant_chunks(mut self, redundant_chunks: RedundantChunks) -> Self {
        self.redundant_chunks = redundant_chunks;
        self
    }

    /// The same with another way to treat logs that the new frame 0 lacks.
    #[must_use]
    pub const fn with_new_logs(mut self, new_logs: NewLogs) -> Self {
        self.new_logs = new_logs;
        self
    }

    /// The same with chunks at other multiples.
    #[must_use]
    pub const fn with_alignment(mut self, bytes: u64) -> Self {
        self.alignment = bytes;
        self
    }
}

/// Contents of a rewritten file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteReport {
    /// Number of frames.
    pub frames: u64,
    /// Number of chunks.
    pub chunks: u64,
    /// Number of chunks left out because their frame inherits the same.
    pub dropped: u64,
    /// Number of chunks added, which frames inherited before and would not inherit now.
    pub added: u64,
    /// Length of the file in bytes.
    pub file_len: u64,
    /// Contents that frames lacked and readers of the new file will see: logs that only the new frame 0 has. Also logs that were left out,
    /// and frames that `gsd.hoomd` can no longer read.
    pub losses: Vec<Loss>,
}

/// Writes all frames of a file.
///
/// # Errors
/// `Malformed` for entries that describe no chunk of the file and for frames out of order, `Truncated`, `Unsupported` for chunks
/// under a name that is listed twice, `Limit`, `Io`, `Cancelled`.
pub fn repack(
    file: &File,
    out: &mut dyn Output,
    options: &RewriteOptions,
    progress: Progress<'_>,
) -> Result<RewriteReport> {
    slice(file, &Frames::all(file), out, options, progress)
}

/// Writes some frames of a file, the first of them as frame 0.
///
/// # Errors
/// `Usage` for frames that the file does not have; else as [`repack`].
pub fn slice(
    file: &File,
    frames: &Frames,
    out: &mut dyn Output,
    options: &RewriteOptions,
    progress: Progress<'_>,
) -> Result<RewriteReport> {
    write(&[(file, *frames)], out, options, progress)
}

/// Writes all frames of several files, one file after the other. The first one's application is that of the result; the schema
/// version is the highest.
///
/// # Errors
/// `Usage` without files, for files of several schemas, for more than 65535 names, and for logs that [`NewLogs::Refuse`] does not take;
/// else as [`repack`].
pub fn concat(
    files: &[&File],
    out: &mut dyn Output,
    options: &RewriteOptions,
    progress: Progress<'_>,
) -> Result<RewriteReport> {
    let parts: Vec<(&File, Frames)> = files.iter().map(|file| (*file, Frames::all(file))).collect();
    write(&parts, out, options, progress)
}

/// Writes some frames of several files, one after the other; see [`concat()`].
///
/// # Errors
/// As [`slice()`] and [`concat()`].
pub fn write(
    parts: &[(&File, Frames)],
    out: &mut dyn Output,
    options: &RewriteOptions,
    progress: Progress<'_>,
) -> Result<RewriteReport> {
    let Some(((first, _), rest)) = parts.split_first() else {
        return Err(Error::usage("no file to write"));
    };
    let mut header = *first.header();
    for (other, _) in rest {
        let (schema, wanted) = (other.header().schema_name(), header.schema_name());
        if schema != wanted {
            return Err(Error::usage(format!("cannot combine files of schemas {wanted:?} and {schema:?}")));
        }
        header.schema_version = header.schema_version.max(other.header().schema_version);
    }
    for (file, frames) in parts {
        frames.check(file)?;
    }
    let header = options.header.apply(&header);
    let plan = Plan::like(&header).with_alignment(options.alignment)?;
    FramePlan::new(parts, plan, options)?.run(out, progress)
}

#[cfg(test)]
mod tests;
#[cfg(test)]
pub(crate) use tests::big_endian;
