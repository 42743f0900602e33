//! ASDF files in several files, and back.

use std::path::{Path, PathBuf};

#[cfg(feature = "asdf")]
use container_core::container::CheckDepth;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::write::{Durability, Overwrite};
use container_core::{Error, Result};

use crate::created_folders::NewFolders;
use crate::open::{Accept, OpenFile, is_stream, open_with};
use crate::output_file::{Target, refuse_source};

/// Options for exploding and imploding files.
#[derive(Clone, Debug, Default)]
pub struct ExplodeOptions {
    /// Treatment of files that exist.
    pub overwrite: Overwrite,
    /// Guarantee about the disk when the call returns.
    pub durability: Durability,
    /// Options for opening the source.
    pub open: OpenOptions,
    /// Options for comparing its digests, which they always are.
    pub read: ReadOptions,
}

/// The files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Exploded {
    /// The files; that of the tree last.
    pub files: Vec<PathBuf>,
    /// Losses: the parts that the files lack, as text.
    pub losses: Vec<String>,
}

/// Writes the tree of the ASDF file at `path` to `<name>_exploded.asdf` in `folder` (by default that of the file), and each block to a file
/// next to it. Blocks that its arrays have in other files are included. A missing folder is created, and removed with the files on failure.
///
/// # Errors
/// `Usage` for other formats, and for files that exist; `Checksum`; `Malformed` for a file that a check reports as damaged; those of opening the
/// file; `Io`. New files are then removed.
pub fn explode(path: &Path, folder: Option<&Path>, options: &ExplodeOptions) -> Result<Exploded> {
    let opened = open_with(path, Accept::Containers, &options.open)?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| !is_stream(path));
    let stem = stem.ok_or_else(|| Error::usage("files that are exploded have a name that is text"))?;
    let folder = folder.or_else(|| path.parent()).unwrap_or(Path::new(""));
    let mut folders = NewFolders::default();
    folders.make(folder)?;
    let target = folder.join(format!("{stem}_exploded.asdf"));
    refuse_source(path, &target)?;
    let done = run(&opened, &target, options)?;
    folders.keep();
    Ok(done)
}

/// Writes one file of the ASDF file at `path` and of the blocks that its arrays have in others, at `target`, or at `<name>_all.asdf` next
/// to it.
///
/// # Errors
/// As [`explode`]; those of the other files, which have to exist.
pub fn implode(path: &Path, target: Option<&Path>, options: &ExplodeOptions) -> Result<Exploded> {
    let opened = open_with(path, Accept::Containers, &options.open)?;
    let target = match target {
        Some(target) => target.to_owned(),
        None => {
            let stem = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| !is_stream(path));
            let stem =
                stem.ok_or_else(|| Error::usage("a name for the new file is missing").with_hint("-o NEW"))?;
            path.with_file_name(format!("{stem}_all.asdf"))
        }
    };
    refuse_source(path, &target)?;
    let mut out = Target::create(&target, options.overwrite)?;
    join(&opened, &mut out, options)?;
    out.commit(options.durability)?;
    Ok(Exploded { files: vec![target], losses: Vec::new() })
}

#[cfg(feature = "asdf")]
fn run(opened: &OpenFile, target: &Path, options: &ExplodeOptions) -> Result<Exploded> {
    let file = file(opened)?;
    require_sound(opened, file, options)?;
    let mut write = asdf::writer::WriteOptions::default();
    (write.threads, write.limits) = (options.read.threads, options.open.limits);
    let done = asdf::explode::explode(file, target, options.overwrite, options.durability, &write)?;
    let losses = done.dropped.iter().map(|block| format!("block {block}, which no array uses"));
    Ok(Exploded { losses: losses.collect(), files: done.files })
}

#[cfg(feature = "asdf")]
fn join(opened: &OpenFile, out: &mut Target, options: &ExplodeOptions) -> Result<()> {
    let file = file(opened)?;
    require_sound(opened, file, options)?;
    let mut write = asdf::writer::WriteOptions::default();
    (write.threads, write.limits) = (options.read.threads, options.open.limits);
    asdf::explode::implode(file, &write, out).map(|_| ())
}

/// Refuses a file that a check calls damaged: its blocks are copied as they are.
#[cfg(feature = "asdf")]
fn require_sound(opened: &OpenFile, file: &asdf::File, options: &ExplodeOptions) -> Result<()> {
    let read = options.read.with_limits(options.open.limits);
    let Some(error) = crate::verify::damage(&*opened.container, CheckDepth::Full, &read)? else {
        return Ok(());
    };
    // A digest that does not fit has an error of its own.
    check_digests(file, options)?;
    Err(error.with_hint("holdall repair FILE -o NEW"))
}

/// Compares the digests of the file's blocks, and of those that its arrays have in other files.
#[cfg(feature = "asdf")]
fn check_digests(file: &asdf::File, options: &ExplodeOptions) -> Result<()> {
    asdf::facade::check_digests(file, &options.read)?;
    for entry in file.arrays() {
        if let asdf::ByteSource::External(uri) = &entry.array.source {
            asdf::facade::check_digests(file.external(uri)?, &options.read)
                .map_err(|error| error.in_file(uri.clone()))?;
        }
    }
    Ok(())
}

#[cfg(feature = "asdf")]
fn file(opened: &OpenFile) -> Result<&asdf::File> {
    let file = opened.container.as_any().and_then(|native| native.downcast_ref::<asdf::File>());
    file.ok_or_else(|| cannot(opened))
}

#[cfg(not(feature = "asdf"))]
fn run(opened: &OpenFile, _: &Path, _: &ExplodeOptions) -> Result<Exploded> {
    Err(cannot(opened))
}

#[cfg(not(feature = "asdf"))]
fn join(opened: &OpenFile, _: &mut Target, _: &ExplodeOptions) -> Result<()> {
    Err(cannot(opened))
}

fn cannot(opened: &OpenFile) -> Error {
    Error::usage(format!("{} files have no exploded form (ASDF files do)", opened.format.title))
}
