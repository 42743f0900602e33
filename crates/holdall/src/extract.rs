//! Taking datasets and items out of a container, as files.

use std::collections::HashSet;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::Order;
use container_core::format::{ITEM, ITEM_NAME, ItemKind};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::address::typed;
use crate::created_folders::NewFolders;
use crate::diff::PassOver;
use crate::export::{AsStored, ExportFormat, export, least_len};
use crate::items::{attribute, relative_name};
use crate::lines::{Ending, ending_of};
use crate::views::drop_frame_axis::without_frame_axis;
use crate::views::fill_missing::Filled;

/// Form in which a dataset is extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExtractAs {
    /// Its bytes, under the name it was packed with, or `items/<number>`.
    Items,
    /// A `.npy` file named by its path.
    Arrays,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extracted {
    /// Path of the dataset.
    pub dataset: String,
    /// Path of the new file.
    pub path: PathBuf,
    /// Bytes of its elements.
    pub bytes: u64,
    /// The name that it has in the container, where that could not be used.
    pub refused_name: Option<String>,
    /// Losses: metadata and values that the file does not hold.
    pub losses: Vec<Loss>,
}

/// True for an item, which `--items` extracts as its bytes: by the attribute that its container gives it.
#[must_use]
pub fn is_item(dataset: &Dataset) -> bool {
    attribute(dataset, ITEM).is_some()
}

/// True for an item of numbers, which is an array as well.
#[must_use]
pub fn is_numbers(dataset: &Dataset) -> bool {
    attribute(dataset, ITEM) == Some(ItemKind::Numbers.word())
}

/// True for an item of UTF-8 text.
#[must_use]
pub fn is_text(dataset: &Dataset) -> bool {
    attribute(dataset, ITEM) == Some(ItemKind::Text.word())
}

/// True where the items of a container make up lines: they were packed as such, or are all texts without names.
///
/// # Errors
/// Those of [`Container::meta`].
pub fn are_lines(container: &dyn Container, selection: &[(usize, Region)]) -> Result<bool> {
    let texts = |mut items: std::slice::Iter<'_, (usize, Region)>| {
        items.all(|(index, _)| {
            let dataset = container.dataset(*index);
            dataset.is_some_and(|dataset| is_text(&dataset) && attribute(&dataset, ITEM_NAME).is_none())
        })
    };
    Ok(ending_of(container.meta()?.get("others")).is_some() || texts(selection.iter()))
}

/// Options for taking datasets out.
#[derive(Clone, Copy)]
pub struct ExtractOptions<'a> {
    /// The treatment of files that exist.
    pub overwrite: Overwrite,
    /// Options for reading values.
    pub read: ReadOptions,
    /// The value of missing elements, as a cell of CSV; `None` for NaN, NaT, or otherwise the stored value.
    pub fill: Option<&'a str>,
    /// Called for each dataset that cannot be written; the others are then written. Without it the first error ends the extraction.
    pub failed: Option<PassOver<'a>>,
    /// Called with `(done, total)` in bytes of elements.
    pub progress: Progress<'a>,
}

impl Default for ExtractOptions<'_> {
    /// Writes all or none, without replacing files.
    fn default() -> Self {
        let (overwrite, read) = (Overwrite::default(), ReadOptions::default());
        Self { overwrite, read, fill: None, failed: None, progress: Progress::none() }
    }
}

impl ExtractOptions<'_> {
    /// Passes an error about one dataset to the callback that continues without it. A request to stop ends them all.
    fn pass_over<T>(&self, path: &str, result: Result<T>) -> Result<Option<T>> {
        match (result.map_err(|error| error.in_dataset(typed(path))), self.failed) {
            (Ok(done), _) => Ok(Some(done)),
            (Err(error), Some(failed)) if !matches!(error.kind(), ErrorKind::Cancelled) => {
                failed(path, error);
                Ok(None)
            }
            (Err(error), _) => Err(error),
        }
    }
}

/// Writes items one after the other, each with a line feed after it, but for the last one of a text that was packed
/// without: the lines of a text come out as they went in.
///
/// # Errors
/// Those of reading, unless [`ExtractOptions::failed`] takes them; `Io` from `out`, which then holds a part of the items; `Cancelled`.
pub fn extract_lines(
    container: &dyn Container,
    selection: &[(usize, Region)],
    options: &ExtractOptions<'_>,
    out: &mut dyn Write,
) -> Result<()> {
    let ending = ending_of(container.meta()?.get("others")).unwrap_or(Ending::LineFeed);
    let (total, mut done) = (bytes_of(container, selection), 0);
    let last = container.dataset_count();
    for (index, region) in selection {
        let path = container.require(*index)?.path.clone();
        let item = || {
            let array = container.read(*index, region, &options.read)?;
            Ok(array.bytes(Order::C, &options.read.limits)?.into_owned())
        };
        let Some(bytes) = options.pass_over(&path, item())? else { continue };
        out.write_all(&bytes)?;
        // The end that is missing is that of the text's last line, whichever are taken out.
        if ending == Ending::LineFeed || index + 1 != last {
            out.write_all(b"\n")?;
        }
        done += bytes.len() as u64;
        options.progress.tick(done, total)?;
    }
    out.flush()?;
    Ok(())
}

fn bytes_of(container: &dyn Container, selection: &[(usize, Region)]) -> u64 {
    let datasets = selection.iter().filter_map(|(index, _)| container.dataset(*index));
    datasets.map(|dataset| dataset.logical).fold(0, u64::saturating_add)
}

/// Writes datasets to files below `directory`, which is made if it does not exist. Names from the container stay below it: parts that leave
/// it, or that no file system accepts, are dropped or replaced by `items/<number>`.
///
/// # Errors
/// `Usage` where a file exists and may not be replaced (before anything is written), or a link points elsewhere; those of reading, unless
/// [`ExtractOptions::failed`] takes them; `Io`. New files and folders are then removed.
pub fn extract_files(
    container: &dyn Container,
    selection: &[(usize, Region)],
    form: ExtractAs,
    directory: &Path,
    options: &ExtractOptions<'_>,
) -> Result<Vec<Extracted>> {
    let plan = plan(container, selection, form);
    for (name, _) in &plan {
        let path = directory.join(name);
        no_link(directory, name)?;
        if options.overwrite == Overwrite::Refuse && path.symlink_metadata().is_ok() {
            let error = Error::usage("already exists").with_hint("use -f to replace it");
            return Err(error.with_subject(path.display().to_string()));
        }
    }
    let (total, mut done) = (bytes_of(container, selection), 0);
    // Dropped in the reverse order: the files go first.
    let mut folders = NewFolders::default();
    let mut undo = Undo(Vec::new());
    let mut files = Vec::new();
    for ((index, region), (name, refused_name)) in selection.iter().zip(plan) {
        let dataset = &*container.require(*index)?;
        let path = directory.join(&name);
        let new = path.symlink_metadata().is_err();
        let kept = folders.len();
        let written = path
            .parent()
            .map_or(Ok(()), |parent| folders.make(parent))
            .and_then(|()| write_file(container, *index, region, form, &path, options));
        let Some(losses) = options.pass_over(&dataset.path, written)? else {
            folders.remove_after(kept);
            continue;
        };
        if new {
            undo.0.push(path.clone());
        }
        done += dataset.logical;
        let (dataset, bytes) = (dataset.path.clone(), dataset.logical);
        files.push(Extracted { dataset, path, bytes, refused_name, losses });
        options.progress.tick(done, total)?;
    }
    undo.0.clear();
    folders.keep();
    Ok(files)
}

fn write_file(
    container: &dyn Container,
    index: usize,
    region: &Region,
    form: ExtractAs,
    path: &Path,
    options: &ExtractOptions<'_>,
) -> Result<Vec<Loss>> {
    let form = match form {
        ExtractAs::Items => ExportFormat::Raw,
        ExtractAs::Arrays => ExportFormat::Npy,
    };
    let file = AtomicFile::create(path, options.overwrite)?;
    file.require_room(least_len(&*container.require(index)?, region, form))?;
    let mut out = BufWriter::with_capacity(256 << 10, file);
    let bare = without_frame_axis(container, index, region);
    let region = bare.as_ref().unwrap_or(region);
    let filled = match options.fill {
        Some(fill) => Filled::new(container, &[(index, region.clone())], Some(fill), &options.read)?,
        None => None,
    };
    let mut losses = filled.as_ref().map(Filled::losses).unwrap_or_default();
    let container = filled.as_ref().map_or(container, |filled| filled as &dyn Container);
    losses.extend(export(
        container,
        index,
        region,
        form,
        AsStored::No,
        &options.read,
        Progress::none(),
        &mut out,
    )?);
    let file = out.into_inner().map_err(|failed| Error::from(failed.into_error()))?;
    file.commit(Durability::Cached)?;
    Ok(losses)
}

/// New files, removed when the others fail.
struct Undo(Vec<PathBuf>);

impl Drop for Undo {
    fn drop(&mut self) {
        for path in &self.0 {
            // Another process may have removed it meanwhile.
            let _ = std::fs::remove_file(path);
        }
    }
}

/// A name for each dataset, with the one that it could not have. No two are the same, and none is a directory of another.
fn plan(
    container: &dyn Container,
    selection: &[(usize, Region)],
    form: ExtractAs,
) -> Vec<(String, Option<String>)> {
    let (mut files, mut directories) = (HashSet::new(), HashSet::new());
    let mut fits = |name: &str| {
        // On file systems that take upper and lower case for the same, too.
        let key = name.to_lowercase();
        let mut above: Vec<&str> = key.match_indices('/').map(|(at, _)| &key[..at]).collect();
        if files.contains(&key)
            || directories.contains(&key)
            || above.iter().any(|part| files.contains(*part))
        {
            return false;
        }
        directories.extend(above.drain(..).map(str::to_owned));
        files.insert(key)
    };
    let extension = match form {
        ExtractAs::Items => "",
        ExtractAs::Arrays => ".npy",
    };
    let datasets = selection.iter().map(|(index, _)| container.dataset(*index));
    let named = datasets.enumerate().map(|(number, dataset)| {
        let own = dataset.as_deref().and_then(|dataset| match form {
            ExtractAs::Items => attribute(dataset, ITEM_NAME),
            ExtractAs::Arrays => Some(dataset.path.as_str()),
        });
        let path = dataset.as_deref().and_then(|dataset| relative_name(&dataset.path));
        let kept = own.and_then(relative_name).or_else(|| path.filter(|_| own.is_none()));
        if let Some(name) = kept.map(|name| format!("{name}{extension}")).filter(|name| fits(name)) {
            let refused = own.filter(|own| **own != name[..name.len() - extension.len()]);
            return (name.clone(), refused.map(str::to_owned));
        }
        let mut name = format!("items/{number}{extension}");
        let mut attempt = 1;
        while !fits(&name) {
            attempt += 1;
            name = format!("items/{number}-{attempt}{extension}");
        }
        (name, own.map(str::to_owned))
    });
    named.collect()
}

/// Refuses names that leave the directory through a link below it.
fn no_link(directory: &Path, name: &str) -> Result<()> {
    let ends = name.match_indices('/').map(|(at, _)| at).chain([name.len()]);
    for end in ends {
        let path = directory.join(&name[..end]);
        if path.is_symlink() {
            return Err(Error::usage("is a link to another place").with_subject(path.display().to_string()));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
