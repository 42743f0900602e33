//! Packing of other data into containers: raw elements, the lines of a text, whole files.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use container_core::container::{OpenOptions, visible_datasets};
use container_core::dtype::{DType, Order};
use container_core::format::{Format, Formats, Input, ItemKind, Pack};
use container_core::region::Region;
use container_core::source::{FileSource, Source, open_path, read_stream};
use container_core::{Error, Result};

use crate::address::{Address, shown};
use crate::convert::{ConvertOptions, ConvertOutcome, ReadBack, write};
use crate::diff::Difference;
use crate::formats::{containers, target_format};
pub use crate::items::ItemSource;
use crate::items::Items;
use crate::open::is_stream;
use crate::option_words::explain;
use crate::output_file::{Target, refuse_source};
use crate::raw_bytes::Plain;

/// Result of packing items.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packing {
    /// The target's format by its machine name.
    pub target_format: &'static str,
    /// Number of items.
    pub items: u64,
    /// Kind of the items.
    pub kind: ItemKind,
    /// The type of their elements, where they are numbers.
    pub dtype: Option<DType>,
    /// The error of the last sync: the target is in its place, and a power cut may undo it.
    pub warning: Option<String>,
}

/// End of a packing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PackOutcome {
    /// The target is in its place.
    Done(Packing),
    /// The target differed from the source when read back, and was removed.
    Differs(Vec<Difference>),
}

/// Type and shape of raw bytes.
#[derive(Clone, Debug, PartialEq)]
pub struct RawBytesSpec {
    /// The elements' type, with its byte order.
    pub dtype: DType,
    /// Length of each axis; `None` for one axis, as long as the bytes make it.
    pub shape: Option<Vec<u64>>,
    /// The order of the axes.
    pub order: Order,
}

/// Writes items to a new file. Memory is bounded, except for one item and about eight bytes for each.
///
/// # Errors
/// `Usage` for a target that is a source, exists, or whose format lacks items (listing those that have them), for files that share a name;
/// `Limit` for an item over the limit on memory; `Io`. New files are then removed.
pub fn pack_items(
    source: ItemSource<'_>,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<PackOutcome> {
    let format = match source {
        ItemSource::Lines(path) => check_target([path], target, options)?,
        ItemSource::Files(paths) => check_target(paths.iter().map(PathBuf::as_path), target, options)?,
        ItemSource::Arrays(paths, _) => {
            let files: Vec<PathBuf> =
                paths.iter().map(|path| Address::parse_os(path.as_os_str()).file).collect();
            check_target(files.iter().map(PathBuf::as_path), target, options)?
        }
    };
    let items = Items::open(source, &options.open)?;
    write_items(&items, format, target, options)
}

/// Writes opened items; the rest of [`pack_items`].
fn write_items(
    items: &Items,
    format: &'static Format,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<PackOutcome> {
    let pack = format.pack.ok_or_else(|| no_items(format, options.open.formats))?;
    let mut out = Target::create(target, options.overwrite)?;
    let mut import = options.import.clone();
    import.limits = options.open.limits.with_stop(options.read.limits.stop);
    let count = items.len() as u64;
    let task = Pack {
        items: &mut (0..items.len()).map(|index| items.get(index).map(Cow::into_owned)),
        count: Some(count),
        kind: items.kind,
        dtype: items.dtype(),
        names: items.names.as_deref(),
        others: &items.others,
        options: &import,
        progress: options.progress,
    };
    pack(task, &mut out).map_err(|error| explain(error, format, &options.import, &shown(target)))?;
    if options.verify == ReadBack::Yes {
        let differences = read_back(items, format, &out, options)?;
        if !differences.is_empty() {
            return Ok(PackOutcome::Differs(differences));
        }
    }
    let warning = out.commit_or_warn(options.durability)?;
    let (kind, dtype) = (items.kind, items.dtype().cloned());
    Ok(PackOutcome::Done(Packing { target_format: format.name, items: count, kind, dtype, warning }))
}

fn no_items(format: &Format, further: Formats) -> Error {
    let able = containers(further).filter(|format| format.pack.is_some());
    let able: Vec<String> =
        able.map(|format| format!("{} (.{})", format.title, format.extensions.join(", ."))).collect();
    let error = Error::usage(format!("{} files cannot store items of different lengths", format.title));
    if able.is_empty() { error } else { error.with_hint(format!("a target that does: {}", able.join(", "))) }
}

/// Opens the unnamed new file, and compares it item by item.
fn read_back(
    items: &Items,
    format: &Format,
    out: &Target,
    options: &ConvertOptions<'_>,
) -> Result<Vec<Difference>> {
    let written = out.written().ok_or_else(|| Error::usage("a pipe cannot be read back"))??;
    let mut plainly = OpenOptions::default();
    plainly.limits = options.open.limits;
    let container = (format.open)(Input::bytes(Box::new(FileSource::new(written)?)), &plainly)?;
    let count = container.listed_count();
    let difference = |dataset: Option<String>, what: String| vec![Difference { dataset, what }];
    if count != items.len() {
        let what = format!("{} items became {count}", items.len());
        return Ok(difference(None, what));
    }
    for (number, (index, dataset)) in visible_datasets(&*container).enumerate() {
        let array = container.read(index, &Region::whole(&dataset.shape), &options.read)?;
        if array.bytes(Order::C, &options.open.limits)? != items.get(number)? {
            return Ok(difference(Some(dataset.path.clone()), "its bytes differ".into()));
        }
    }
    Ok(Vec::new())
}

/// Writes raw elements to a new file of any format that is written. `-` is standard input, which is read into memory.
///
/// # Errors
/// As [`convert`](crate::convert()), and `Usage` where the bytes do not fit `array`.
pub fn pack_raw(
    source: &Path,
    array: &RawBytesSpec,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<ConvertOutcome> {
    let format = check_target([source], target, options)?;
    let bytes = raw_source(source, &options.open)?;
    let plain = match &array.shape {
        None => Plain::of_rows(bytes, array.dtype.clone(), &[], array.order)?,
        Some(shape) => Plain::new(bytes, array.dtype.clone(), shape.clone(), array.order)?,
    };
    write(&plain, &plain.whole(), format, target, options)
}

/// The format of a target, checked to be none of the sources, and readable if it is to be read back.
pub(crate) fn check_target<'a>(
    sources: impl IntoIterator<Item = &'a Path>,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<&'static Format> {
    let format = target_format(target, options.to, options.open.formats)?;
    sources.into_iter().try_for_each(|source| refuse_source(source, target))?;
    if options.verify == ReadBack::Yes && is_stream(target) {
        return Err(
            Error::usage("standard output cannot be read back").with_hint("pack to a file to verify it")
        );
    }
    Ok(format)
}

/// The bytes of a file or of standard input.
pub(crate) fn raw_source(path: &Path, options: &OpenOptions) -> Result<Box<dyn Source>> {
    if is_stream(path) {
        return Ok(Box::new(read_stream(&mut std::io::stdin().lock(), &options.limits)?));
    }
    open_path(path, options.access, &options.limits)
}

#[cfg(test)]
mod tests;
