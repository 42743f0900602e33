//! Adding to the end of a file.

use std::path::Path;

use container_core::array::byte_len;
use container_core::container::{Container, Digests, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::format::{AppendFn, Format, Formats, TargetOptions, WriteRequest};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{Error, Progress, Result};

use crate::address::{Address, shown};
use crate::csv::{Csv, rows_like};
use crate::formats::containers;
use crate::items::{ItemSource, Items};
use crate::open::{Accept, OpenFile, is_stream, open_with, recognise};
use crate::option_words::explain;
use crate::output_file::refuse_source;
use crate::pack::raw_source;
use crate::raw_bytes::Plain;
use crate::verify::first_damage;
use crate::views::fill_missing::Filled;
use crate::views::named_source::NamedSource;

/// Data to be added.
#[derive(Clone, Copy, Debug)]
pub enum Addition<'a> {
    /// The datasets of an address, in any format that is read, array files included.
    Datasets(&'a Address),
    /// Raw elements; `-` is standard input.
    Raw {
        /// Path of the lines.
        source: &'a Path,
        /// Their type, which is that of the file but for its byte order; `None` where it is that, too.
        dtype: Option<&'a DType>,
    },
    /// The rows of a table of text, of the type that the file has; `-` is standard input.
    Table {
        /// Path of the table.
        source: &'a Path,
        /// Options for reading it. A type is that of the file but for its byte order.
        csv: &'a Csv,
    },
    /// Items.
    Items(ItemSource<'a>),
}

/// Options of an append.
#[derive(Clone)]
pub struct AppendOptions<'a> {
    /// Guarantee about the disk when the call returns.
    pub durability: Durability,
    /// Options for writing the new data, else the file's own settings. Its limits are those of `open`.
    pub import: TargetOptions,
    /// Options for opening the file and the data.
    pub open: OpenOptions,
    /// Options for reading values. Digests are always compared.
    pub read: ReadOptions,
    /// The value of missing elements, as a cell of CSV; `None` for NaN, NaT, or otherwise the stored value.
    pub fill: Option<&'a str>,
    /// Called with `(done, total)` in bytes of elements.
    pub progress: Progress<'a>,
}

impl Default for AppendOptions<'_> {
    /// Synced, with the file's own settings.
    fn default() -> Self {
        Self {
            durability: Durability::default(),
            import: TargetOptions::default(),
            open: OpenOptions::default(),
            read: ReadOptions::default(),
            fill: None,
            progress: Progress::none(),
        }
    }
}

/// Result of an append.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Appended {
    /// The file's format by its machine name.
    pub format: &'static str,
    /// Paths of the datasets that were added, in the source.
    pub datasets: Vec<String>,
    /// Losses: parts of the data that the file does not hold. Where there is a warning, some losses may be missing.
    pub losses: Vec<Loss>,
    /// The error of the last sync: the file has grown, and a power cut may undo it.
    pub warning: Option<String>,
}

/// Adds to the file at `path`. The change is atomic, except for a streamed ASDF array, which grows row by row: an error removes the new rows, and a
/// kill may leave some of them, complete.
///
/// # Errors
/// `Usage` for a format without appending (listing those that have it), for a file added to itself, and for data that do not fit the file's
/// type or shape; those of opening and reading either; `Io`.
pub fn append(path: &Path, addition: Addition<'_>, options: &AppendOptions<'_>) -> Result<Appended> {
    if is_stream(path) {
        return Err(Error::usage("cannot append to standard input"));
    }
    let job = Job::new(path, options)?;
    match addition {
        Addition::Datasets(address) => {
            refuse_source(&address.file, path)?;
            let source = open_with(&address.file, Accept::ContainersAndArrays, &options.open)
                .map_err(|error| error_of(error, &address.file))?;
            let selection =
                address.select(&*source.container).map_err(|error| error_of(error, &address.file))?;
            if let ([], Some(error)) = (selection.as_slice(), first_damage(&*source.container)) {
                return Err(error_of(error, &address.file));
            }
            let named = NamedSource::new(&*source.container, shown(&address.file));
            job.run(&named, &selection).map_err(|error| match error.hint() {
                // The next step is another address of the source.
                Some(hint) if hint.contains("FILE::PATH") => error_of(error, &address.file),
                _ => error,
            })
        }
        Addition::Raw { source, dtype } => {
            refuse_source(source, path)?;
            let plain = like(path, source, dtype, options)?;
            job.run(&plain, &plain.whole())
        }
        Addition::Table { source, csv } => {
            refuse_source(source, path)?;
            let plain = rows_of(path, source, csv, options)?;
            job.run(&plain, &plain.whole())
        }
        Addition::Items(source) => {
            match source {
                ItemSource::Lines(text) => refuse_source(text, path)?,
                ItemSource::Files(files) => files.iter().try_for_each(|file| refuse_source(file, path))?,
                ItemSource::Arrays(sources, _) => sources.iter().try_for_each(|source| {
                    refuse_source(&Address::parse_os(source.as_os_str()).file, path)
                })?,
            }
            let items = Items::open(source, &options.open).map_err(|error| match source {
                ItemSource::Lines(one) => error_of(error, one),
                ItemSource::Files(_) | ItemSource::Arrays(..) => error,
            })?;
            let items = items.into_container()?;
            job.run(&items, &items.all())
        }
    }
}

/// Adds datasets of a container to the file at `path`, as [`append`] does those of a file: for values that are in memory or seen through
/// a container of the caller's own.
///
/// # Errors
/// As [`append`], except for errors of a source file.
pub fn append_from(
    path: &Path,
    container: &dyn Container,
    selection: &[(usize, Region)],
    options: &AppendOptions<'_>,
) -> Result<Appended> {
    Job::new(path, options)?.run(container, selection)
}

/// Marks an error as one of the added data, not of the file they are added to.
fn error_of(error: Error, path: &Path) -> Error {
    error.with_subject(shown(path))
}

fn cannot(format: &Format, further: Formats) -> Error {
    let able = containers(further).filter(|format| format.append.is_some());
    let able: Vec<&str> = able.map(|format| format.title).collect();
    let error = Error::usage(format!("cannot append to {} files", format.title));
    match able.as_slice() {
        [] => error,
        able => error.with_hint(format!("a file of another format: {}", able.join(", "))),
    }
}

struct Job<'a> {
    path: &'a Path,
    format: &'static Format,
    append: AppendFn,
    options: &'a AppendOptions<'a>,
}

impl<'a> Job<'a> {
    fn new(path: &'a Path, options: &'a AppendOptions<'a>) -> Result<Self> {
        let (format, _) = recognise(path, Accept::ContainersAndArrays, &options.open)?;
        let append = format.append.ok_or_else(|| cannot(format, options.open.formats))?;
        Ok(Self { path, format, append, options })
    }

    fn run(&self, container: &dyn Container, selection: &[(usize, Region)]) -> Result<Appended> {
        let Self { path, format, append, options } = self;
        let mut read = options.read;
        read.digests = Digests::Compare;
        read = read.with_limits(options.open.limits);
        let mut import = options.import.clone();
        import.limits = options.open.limits.with_stop(options.read.limits.stop);
        let filled = Filled::new(container, selection, options.fill, &read)?;
        let mut losses = filled.as_ref().map(Filled::losses).unwrap_or_default();
        let container = filled.as_ref().map_or(container, |filled| filled as &dyn Container);
        let job = WriteRequest { container, selection, options: &import, read, progress: options.progress };
        let mut warning = None;
        let appended = append(path, &options.open, &job, options.durability);
        match appended.map_err(|error| explain(error, format, &options.import, &shown(path))) {
            // Repeating the call as after a failure would add everything twice.
            Err(error) if error.is_after_change() => warning = Some(error.to_string()),
            added => losses.extend(added?),
        }
        let datasets = selection.iter().filter_map(|(index, _)| container.dataset(*index));
        let datasets = datasets.map(|dataset| dataset.path.clone()).collect();
        Ok(Appended { format: format.name, datasets, losses, warning })
    }
}

/// The one dataset of the file at `path`, to which `what` are added as rows.
fn grown(path: &Path, what: &str, options: &AppendOptions<'_>) -> Result<(OpenFile, usize)> {
    let target = open_with(path, Accept::ContainersAndArrays, &options.open)?;
    let [(index, _)] = Address::file(path).select(&*target.container)?[..] else {
        let error = Error::usage(format!("{what} can only be appended to files of one array"));
        return Err(error.with_hint("--items for files of items"));
    };
    Ok((target, index))
}

/// A table of text as rows of the one dataset of the file at `path`.
fn rows_of(path: &Path, source: &Path, csv: &Csv, options: &AppendOptions<'_>) -> Result<Plain> {
    let (target, index) = grown(path, "tables", options)?;
    let dataset = target.container.require(index)?;
    if let Some(dtype) = &csv.dtype {
        dtype.order_for(&dataset.dtype)?;
    }
    let rows = || {
        let text = raw_source(source, &options.open)?;
        let row = dataset.shape.get(1..).unwrap_or_default();
        rows_like(&*text, csv, (&dataset.dtype, row), &options.open.limits)
    };
    rows().map_err(|error| error_of(error, source))
}

/// Raw bytes as elements of the type that the one dataset of the file at `path` has, in the byte order of `given`, with its axes but the first.
fn like(path: &Path, source: &Path, given: Option<&DType>, options: &AppendOptions<'_>) -> Result<Plain> {
    let (target, index) = grown(path, "raw elements", options)?;
    let dataset = target.container.require(index)?;
    let rest = dataset.shape.get(1..).unwrap_or_default();
    let bytes = raw_source(source, &options.open).map_err(|error| error_of(error, source))?;
    let itemsize = dataset.dtype.itemsize().max(1) as u64;
    let mut dtype = given.unwrap_or(&dataset.dtype).clone();
    dtype.order_for(&dataset.dtype)?;
    if dtype.is_void() && rest.is_empty() && !bytes.len().is_multiple_of(itemsize) {
        // Bytes without a type: Bloscpack's typesize does not bind the new ones.
        dtype = DType::new(Kind::Uint, 1, ByteOrder::NATIVE);
    }
    // The slowest axis grows: the last one of a column-major format.
    if target.format.order == Some(Order::F) && dataset.order == Order::F && !rest.is_empty() {
        let rest = dataset.shape.get(..dataset.shape.len() - 1).unwrap_or_default();
        let slab = byte_len(&dtype, rest).filter(|slab| *slab > 0 && bytes.len().is_multiple_of(*slab));
        let slab = slab.ok_or_else(|| {
            Error::usage(format!(
                "{} bytes are not a whole number of {dtype} of dimensions {rest:?}",
                bytes.len()
            ))
        })?;
        let last = bytes.len() / slab;
        let shape = rest.iter().copied().chain([last]).collect();
        return Plain::new(bytes, dtype, shape, Order::F);
    }
    Plain::of_rows(bytes, dtype, rest, dataset.order)
}

#[cfg(test)]
mod tests;
