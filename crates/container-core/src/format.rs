//! The interface of one format to a program that handles all of them: one value, [`Format`], made by each format's crate.

mod items;
mod metadata_change;
mod options;

use std::io::{Seek, Write};
use std::path::{Path, PathBuf};

use crate::container::{Container, OpenOptions, ReadOptions};
use crate::dtype::Order;
use crate::interchange;
use crate::region::Region;
use crate::report::{Loss, RepairReport};
use crate::source::{Source, open_path};
use crate::write::{AtomicFile, Durability, Overwrite};
use crate::{Error, Progress, Result, Value};

pub use items::{ITEM, ITEM_NAME, ItemKind, Pack, item_order};
pub use metadata_change::{MetaChange, MetadataChanges, Replace};
pub use options::{CodecSpec, Levels, OptionSpec, TargetOptions};

/// Writes datasets to an output and returns what it could not carry over.
pub type ImportFn = fn(&WriteRequest<'_>, &mut dyn Output) -> Result<Vec<Loss>>;

/// Writes the provable part of an input to an output, if there is one, and reports the repair.
pub type RepairFn = fn(Input, &OpenOptions, Option<&mut dyn Output>, Progress<'_>) -> Result<RepairReport>;

/// Adds elements to the end of the file at a path, with the file's own settings unless the options give others. After a crash the file is
/// unchanged.
pub type AppendFn = fn(&Path, &OpenOptions, &WriteRequest<'_>, Durability) -> Result<Vec<Loss>>;

/// Writes a file of items, each of a length of its own.
pub type PackFn = fn(Pack<'_>, &mut dyn Output) -> Result<()>;

/// Writes datasets to a new, empty directory and returns what it could not carry over.
pub type WriteDirectoryFn = fn(&WriteRequest<'_>, &Path) -> Result<Vec<Loss>>;

/// Opens a target that was just written from a request.
pub type OpenWrittenFn = fn(Input, &WriteRequest<'_>) -> Result<Box<dyn Container>>;

/// Divides the datasets of a request into those that a target can hold and losses.
pub type RepresentableFn = fn(&WriteRequest<'_>) -> Result<(Vec<(usize, Region)>, Vec<Loss>)>;

/// Opens an input at a path and returns the paths of the other files that it consists of.
pub type OtherFilesFn = fn(Input, &OpenOptions, &Path) -> Vec<PathBuf>;

/// Compares a written directory with the request it was made from and returns the differences.
pub type CompareDirectoryFn = fn(&WriteRequest<'_>, &Path) -> Result<Vec<Loss>>;

/// Changes the metadata of the file at a path, all or none, and returns notes on the changes.
pub type ChangeMetadataFn = fn(&Path, &MetadataChanges<'_>) -> Result<Vec<String>>;

/// The carried metadata of a source and those of the target that was made from it, without what the format itself adds, leaves out or spells
/// differently.
pub type ComparableMetadataFn = fn(Value, Value) -> (Value, Value);

/// A list of formats.
pub type Formats = &'static [&'static Format];

/// A format as a table of functions and facts. A program that opens every format holds a list of these. A new one is made from
/// [`Format::new`], with the fields that differ.
#[derive(Clone, Copy)]
pub struct Format {
    /// The name in machine output: `rawarray`.
    pub name: &'static str,
    /// The name for people: `RawArray`.
    pub title: &'static str,
    /// File name extensions of targets, without the dot; the first is the usual one.
    pub extensions: &'static [&'static str],
    /// The order in which it stores elements, where it has but one.
    pub order: Option<Order>,
    /// Support for each version or dialect.
    pub support: &'static [Support],
    /// First bytes of its files, to correct damaged ones; `sniff` may check for more, or accept others.
    pub magics: &'static [&'static [u8]],
    /// True where a file is opened by a head of some kilobytes, however large it is: without an index, a table of chunks or a tree.
    pub opens_by_head: bool,
    /// Codecs of targets.
    pub codecs: &'static [CodecSpec],
    /// Options of targets besides the codec.
    pub options: &'static [OptionSpec],
    /// True where targets hold masks of missing elements. Others get a value in the place of each.
    pub has_masks: bool,
    /// Targets with several datasets of one path.
    pub duplicate_paths: DuplicatePaths,
    /// Ending of the name of the journal that an interrupted change leaves next to a file: `.asdfjournal`.
    pub journal_suffix: Option<&'static str>,
    /// Detects whether an input is this format, by its bytes alone.
    pub sniff: fn(&Probe<'_>) -> bool,
    /// Opens an input.
    pub open: fn(Input, &OpenOptions) -> Result<Box<dyn Container>>,
    /// Opens a target that was just written from a request, to compare it with its source; `None` for `open`.
    pub open_written: Option<OpenWrittenFn>,
    /// Writes datasets of any container in this format.
    pub import: Option<ImportFn>,
    /// Writes datasets as a directory, where the options ask for one.
    pub write_directory: Option<DirectoryTarget>,
    /// The datasets of a request that a target can hold, and the others as losses; `None` where it holds all.
    pub representable: Option<RepresentableFn>,
    /// Comparison of a target's metadata with its source's; `None` where they are not read back.
    pub comparable_metadata: Option<ComparableMetadataFn>,
    /// Changes metadata in place.
    pub change_metadata: Option<ChangeMetadataFn>,
    /// The paths of the other files that the file at a path consists of. Absent files are left out.
    pub other_files: Option<OtherFilesFn>,
    /// Writes the provable part of a damaged file; without an output it only reports.
    pub repair: Option<RepairFn>,
    /// Adds to an existing file.
    pub append: Option<AppendFn>,
    /// Writes items of any length.
    pub pack: Option<PackFn>,
}

impl Format {
    /// A format that is only read: without extensions, codecs and options, in any order of elements.
    #[must_use]
    pub const fn new(
        name: &'static str,
        title: &'static str,
        sniff: fn(&Probe<'_>) -> bool,
        open: fn(Input, &OpenOptions) -> Result<Box<dyn Container>>,
    ) -> Self {
        Self {
            name,
            title,
            extensions: &[],
            order: None,
            support: &[],
            magics: &[],
            opens_by_head: false,
            codecs: &[],
            options: &[],
            has_masks: false,
            duplicate_paths: DuplicatePaths::Allowed,
            journal_suffix: None,
            sniff,
            open,
            open_written: None,
            import: None,
            write_directory: None,
            representable: None,
            comparable_metadata: Some(|source, written| (source, written)),
            change_metadata: None,
            other_files: None,
            repair: None,
            append: None,
            pack: None,
        }
    }
}

impl std::fmt::Debug for Format {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Format").field(&self.name).finish()
    }
}

/// Targets with several datasets of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DuplicatePaths {
    /// All are written.
    Allowed,
    /// All are written from a source of the same format; of others only the first, the rest are losses.
    FromOwnFormat,
    /// Only the first is written, the others are losses.
    Never,
}

/// A directory as a target.
#[derive(Clone, Copy)]
pub struct DirectoryTarget {
    /// True where the options ask for a directory.
    pub is_asked: fn(&TargetOptions) -> bool,
    /// Writes it.
    pub write: WriteDirectoryFn,
    /// Differences between a written directory and the request it was made from; `None` where the format opens the directory.
    pub read_back: Option<CompareDirectoryFn>,
    /// True for an existing directory of this kind, which may be replaced.
    pub is_one: fn(&Path) -> bool,
    /// The error for standard output as the target.
    pub not_a_stream: fn() -> Error,
}

/// Support for one version or dialect of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Support {
    /// The version or dialect.
    pub version: &'static str,
    /// Support for reading.
    pub read: Level,
    /// Support for writing.
    pub write: Level,
    /// Support for finding damage.
    pub verify: Level,
    /// Support for repairing damage.
    pub repair: Level,
}

/// Extent of support.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Level {
    /// Wholly.
    Yes,
    /// In part, as documented on the format's page.
    Partly,
    /// Without support.
    No,
}

/// The first bytes of an input, for telling formats apart.
#[derive(Clone, Copy, Debug)]
pub struct Probe<'a> {
    /// Up to [`Probe::LEN`] bytes from the start; empty for a directory.
    pub head: &'a [u8],
    /// The directory, where the input is one.
    pub directory: Option<&'a Path>,
    /// Length of the whole input in bytes, if known: formats without a signature are recognised by it too.
    pub len: Option<u64>,
}

impl Probe<'_> {
    /// Bytes that a probe holds of an input that has them.
    pub const LEN: usize = 512;
}

/// Something to open: bytes, with the path they came from where there is one.
pub struct Input {
    /// The bytes; `None` for a directory.
    pub source: Option<Box<dyn Source>>,
    /// The path, for formats that are stored in several files.
    pub path: Option<PathBuf>,
}

impl Input {
    /// An input of bytes without a path.
    #[must_use]
    pub fn bytes(source: Box<dyn Source>) -> Self {
        Self { source: Some(source), path: None }
    }

    /// The bytes, for formats that are always one file.
    ///
    /// # Errors
    /// `Usage` for a directory.
    pub fn into_source(self) -> Result<Box<dyn Source>> {
        self.source.ok_or_else(|| Error::usage("this is a directory, not a file"))
    }
}

/// Destination of a new file.
pub trait Output: Write {
    /// Announces the length of the file, so that a full disk shows before the first write.
    ///
    /// # Errors
    /// `Io` when the disk is full.
    fn reserve(&mut self, len: u64) -> Result<()> {
        let _ = len;
        Ok(())
    }

    /// The output as something that can be patched; `None` for pipes.
    fn as_seek(&mut self) -> Option<&mut dyn WriteSeek> {
        None
    }
}

/// Both traits in one, for trait objects.
pub trait WriteSeek: Write + Seek {}

impl<T: Write + Seek> WriteSeek for T {}

impl Output for AtomicFile {
    fn reserve(&mut self, len: u64) -> Result<()> {
        Self::reserve(self, len)
    }

    fn as_seek(&mut self) -> Option<&mut dyn WriteSeek> {
        Some(self)
    }
}

impl Output for Vec<u8> {}

/// An output that only takes bytes one after the other: a pipe.
pub struct Pipe<W>(pub W);

impl<W: Write> Write for Pipe<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.0.flush()
    }
}

impl<W: Write> Output for Pipe<W> {}

/// A request to write datasets in another format.
pub struct WriteRequest<'a> {
    /// The container of the values.
    pub container: &'a dyn Container,
    /// Datasets by index, each with the region to take.
    pub selection: &'a [(usize, Region)],
    /// Options for writing them.
    pub options: &'a TargetOptions,
    /// Options for reading them.
    pub read: ReadOptions,
    /// Called with `(done, total)` in bytes of elements.
    pub progress: Progress<'a>,
}

/// Repairs the file or directory at `path` into a new file at `target`, which appears when it is complete and synced. The input is only read.
///
/// # Errors
/// Those of `repair`; `Usage` when the target exists; `Io`. No file appears then.
pub fn repair_file(path: &Path, target: &Path, repair: RepairFn) -> Result<RepairReport> {
    let options = OpenOptions::default();
    let source = match path.is_dir() {
        true => None,
        false => Some(open_path(path, options.access, &options.limits)?),
    };
    let mut out = AtomicFile::create(target, Overwrite::Refuse)?;
    let input = Input { source, path: Some(path.to_owned()) };
    let report = repair(input, &options, Some(&mut out), Progress::none())?;
    out.commit(Durability::Synced)?;
    Ok(report)
}

impl WriteRequest<'_> {
    /// Metadata to be carried with the selected datasets, and the losses: see [`crate::interchange`]. With one dataset, its path is among it unless it is
    /// `data`.
    ///
    /// # Errors
    /// Those of [`Interchange::export_metadata`](crate::container::Interchange::export_metadata), but for metadata that are damaged: these are a loss.
    pub fn metadata(&self) -> Result<(Value, Vec<Loss>)> {
        let tree = match self.container.export_metadata(self.selection) {
            Err(error) if error.is_damage() => {
                let what = format!("unreadable metadata: {error}");
                return Ok((Value::Map(Vec::new()), vec![Loss { dataset: None, what }]));
            }
            other => other?,
        };
        let (tree, losses) = interchange::limit_depth(tree);
        let tree = match self.selection {
            [(index, _)] => interchange::with_dataset_name(tree, &self.container.require(*index)?.path),
            _ => tree,
        };
        Ok((self.options.with_metadata(tree), losses))
    }

    /// True where all that the source lists is selected, in its order and whole.
    #[must_use]
    pub fn is_all(&self) -> bool {
        self.selection.len() == self.container.listed_count()
            && self.selection.iter().enumerate().all(|(place, (index, region))| {
                let dataset = self.container.dataset(*index);
                place == *index && dataset.is_some_and(|dataset| region.is_whole(&dataset.shape))
            })
    }

    /// The one dataset, for formats that hold one.
    ///
    /// # Errors
    /// `Usage` for zero or several, listing them.
    pub fn single(&self) -> Result<(usize, &Region)> {
        match self.selection {
            [(index, region)] => Ok((*index, region)),
            [] => Err(Error::usage("no dataset to convert")),
            several => {
                // A file may hold millions.
                const MAX_NAMED: usize = 20;
                let shown =
                    several.iter().take(MAX_NAMED).filter_map(|(index, _)| self.container.dataset(*index));
                let mut shown = shown.map(|dataset| dataset.path.clone()).collect::<Vec<_>>().join(", ");
                if several.len() > MAX_NAMED {
                    shown.push_str(&format!(" and {} more", several.len() - MAX_NAMED));
                }
                let problem = format!("the target holds one array, the source has {shown}");
                Err(Error::usage(problem).with_hint("name one: FILE::PATH"))
            }
        }
    }
}

#[cfg(test)]
#[allow(
    clippy::redundant_closure,
    clippy::redundant_closure_for_method_calls,
    reason = "paths have one lifetime"
)]
mod tests;
