//! Opening a file of any supported format, which is detected by its bytes, never by its name.

use std::io;
use std::path::{Path, PathBuf};

use container_core::container::{Container, Dataset, OpenOptions, all_datasets};
use container_core::dtype::Order;
use container_core::format::{Format, Formats, Input, Probe};
use container_core::source::{Access, Passing, Source, open_path, open_path_to_pass, read_stream};
use container_core::{Error, Limits, OpenDataset, Result, Value};

use crate::address::{Address, is_url, shown};
use crate::foreign::Foreign;
use crate::formats::{ARRAY_FILES, containers};
use crate::missing_file::explain;
use crate::views::assume_dtype::Assumed;
use crate::{concurrent_writer, leading_bytes};

/// Kinds of files that may be opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Accept {
    /// The container formats alone.
    Containers,
    /// Files of single arrays as well: for uses that need only values.
    ContainersAndArrays,
}

/// An open file and its format.
pub struct OpenFile {
    /// Its format.
    pub format: &'static Format,
    /// The file.
    pub container: Box<dyn Container>,
    /// Its path; `None` for standard input and bytes in memory.
    pub path: Option<PathBuf>,
    /// The limits that it was opened with. [`OpenFile::dataset`] reads within them, unless it is given other options.
    pub limits: Limits,
}

impl OpenFile {
    /// The dataset at `path`: `"roman/data"`. Values are read lazily.
    ///
    /// # Errors
    /// `Usage` where the path does not exist, with paths that do; `Absent` where the file may lack it.
    pub fn dataset(&self, path: &str) -> Result<OpenDataset<'_>> {
        let index = Address::find_path(path, &*self.container).map_err(|error| self.named(error))?;
        self.at(index)
    }

    /// The datasets that a plain listing shows, in the order of the file.
    pub fn datasets(&self) -> impl Iterator<Item = OpenDataset<'_>> {
        (0..self.container.listed_count()).filter_map(|index| self.at(index).ok())
    }

    /// The metadata as a tree.
    ///
    /// # Errors
    /// As [`Container::meta`].
    pub fn meta(&self) -> Result<Value> {
        self.container.meta().map_err(|error| self.named(error))
    }

    fn at(&self, index: usize) -> Result<OpenDataset<'_>> {
        let dataset = OpenDataset::of_container(&*self.container, index)?;
        Ok(dataset.within(self.limits).in_file(self.path.as_deref()))
    }

    fn named(&self, error: Error) -> Error {
        match &self.path {
            Some(path) if error.file_name().is_none() => error.in_file(path.display().to_string()),
            _ => error,
        }
    }
}

impl std::fmt::Debug for OpenFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenFile")
            .field("format", &self.format.name)
            .field("path", &self.path)
            .finish_non_exhaustive()
    }
}

/// The format of an input.
///
/// # Errors
/// `WrongFormat` when it is not one of those accepted.
pub fn sniff(probe: &Probe<'_>, accept: Accept, further: Formats) -> Result<&'static Format> {
    let fits = |format: &&'static Format| (format.sniff)(probe);
    if let Some(format) = containers(further).find(fits) {
        return Ok(format);
    }
    let array = ARRAY_FILES.iter().copied().find(fits);
    if accept == Accept::ContainersAndArrays
        && let Some(format) = array
    {
        return Ok(format);
    }
    let arrays = if accept == Accept::ContainersAndArrays { ARRAY_FILES } else { &[] };
    let known: Vec<&str> =
        containers(further).chain(arrays.iter().copied()).map(|format| format.title).collect();
    let error = Error::wrong_format(format!("a file of a known format ({})", known.join(", ")));
    if let (Some(foreign), None) = (Foreign::of_probe(probe), array) {
        return Err(foreign.explain(error));
    }
    Err(match (array, probe) {
        (Some(array), _) => {
            let error = error.with_context(format!("this is a {} file", array.title));
            match containers(further)
                .find(|format| format.import.is_some())
                .and_then(|format| format.extensions.first())
            {
                Some(extension) => error.with_hint(format!("holdall convert FILE NEW.{extension}")),
                None => error,
            }
        }
        (None, Probe { directory: Some(_), .. }) => error.with_context("this is a directory"),
        (None, Probe { head: [], .. }) => error.with_context("this file is empty").with_hint(EMPTY),
        (None, _) => match damaged(probe, further) {
            Some(format) => {
                let begins = format!("its first bytes are nearly those of {} files", format.title);
                error.with_context(begins).with_hint(repair_command(format))
            }
            None => error,
        },
    })
}

/// The next step for an empty file.
const EMPTY: &str = "the file again from its source: a program or a download that failed leaves such files";

/// The command that repairs a file of a format.
pub(crate) fn repair_command(format: &Format) -> String {
    format!("holdall repair FILE -o NEW.{}", format.extensions.first().unwrap_or(&""))
}

/// The format of an undetected input that begins nearly as the files of a repairable one.
fn damaged(probe: &Probe<'_>, further: Formats) -> Option<&'static Format> {
    let is_near = |format: &&'static Format| {
        format.repair.is_some() && container_core::magic::closest_magic(probe.head, format.magics).is_some()
    };
    containers(further).find(is_near)
}

/// Opens a container or a file of one array with the default options: a file, a directory where a format is one, or standard input for the path
/// `-`, which is read into memory. The format is that of its bytes, whatever its name.
///
/// # Errors
/// As [`open_with`].
pub fn open(path: impl AsRef<Path>) -> Result<OpenFile> {
    open_with(path.as_ref(), Accept::ContainersAndArrays, &OpenOptions::default())
}

/// Opens a file with options, as [`open`] does. A file that ends early and that has just been written to is opened once more: another process may
/// be between two writes.
///
/// # Errors
/// `Io`; `WrongFormat`; `Limit` for a stream over the memory limit; and those of the format's own open. The file is named.
pub fn open_with(path: &Path, accept: Accept, options: &OpenOptions) -> Result<OpenFile> {
    named(path, concurrent_writer::look(path, || open_once(path, accept, options), is_unfinished))
}

/// The same, with the name of the file in its error, unless that is standard input.
fn named<T>(path: &Path, opened: Result<T>) -> Result<T> {
    opened.map_err(|error| match is_stream(path) || error.file_name().is_some() {
        true => error,
        false => error.in_file(shown(path)),
    })
}

/// As [`open_with`], with the first `len` bytes of what is opened, from the same source.
///
/// # Errors
/// As [`open_with`], without the name of the file.
pub(crate) fn open_with_head(
    path: &Path,
    accept: Accept,
    options: &OpenOptions,
    len: u64,
) -> Result<(OpenFile, Vec<u8>)> {
    let (source, path) = read(path, options)?;
    let head = source.read(0..source.len().min(len))?.into_owned();
    Ok((open_source(source, path, accept, options)?, head))
}

fn open_once(path: &Path, accept: Accept, options: &OpenOptions) -> Result<OpenFile> {
    let (format, input) = recognise(path, accept, options)?;
    opened(format, input, options)
}

/// True where a file ends early, or is damaged as far as opening it shows. A quick check would take longer than many a read.
fn is_unfinished(opened: &Result<OpenFile>) -> bool {
    match opened {
        Ok(opened) => !opened.container.about().complete,
        Err(error) => error.is_damage(),
    }
}

fn opened(format: &'static Format, input: Input, options: &OpenOptions) -> Result<OpenFile> {
    let path = input.path.clone();
    let container = (format.open)(input, options)?;
    let container = match &options.assume_dtype {
        Some(dtype) => Box::new(Assumed::new(container, dtype.clone())?),
        None => container,
    };
    Ok(OpenFile { format, container, path, limits: options.limits })
}

/// Notices about journals next to the file at `path`, for callers of functions that do not return a container. A file without any is not
/// opened.
#[must_use]
pub fn journal_notices(path: &Path, options: &OpenOptions) -> Vec<String> {
    let mut suffixes = containers(options.formats).filter_map(|format| format.journal_suffix);
    let is_there = |suffix: &str| {
        let target = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = target.into_os_string();
        name.push(suffix);
        Path::new(&name).symlink_metadata().is_ok()
    };
    if is_stream(path) || !suffixes.any(is_there) {
        return Vec::new();
    }
    open_with(path, Accept::Containers, options)
        .map_or_else(|_| Vec::new(), |opened| opened.container.notices())
}

/// Opens a file whose values will pass through once, in `order` (`None` for the order in which they are stored).
///
/// Values that are stored in that order, plainly or in small blocks, are read in pieces by position rather than mapped: that is as fast, and the
/// memory of the process stays at a piece instead of growing to the size of the file. [`OpenOptions::access`] other than `Auto` is obeyed. A file
/// that ends early and has just been written to is opened once more, as [`open`] does.
///
/// # Errors
/// As [`open`].
pub fn open_for_streaming(
    path: &Path,
    accept: Accept,
    options: &OpenOptions,
    order: impl Fn(&OpenFile) -> Option<Order>,
) -> Result<OpenFile> {
    named(
        path,
        concurrent_writer::look(path, || open_to_pass_once(path, accept, options, &order), is_unfinished),
    )
}

fn open_to_pass_once(
    path: &Path,
    accept: Accept,
    options: &OpenOptions,
    order: &impl Fn(&OpenFile) -> Option<Order>,
) -> Result<OpenFile> {
    let (format, input, pass) = recognise_to_pass(path, accept, options)?;
    let opened = opened(format, input, options)?;
    if matches!(pass, Pass::Never) || !passes(&*opened.container, order(&opened)) {
        return Ok(opened);
    }
    match pass {
        Pass::Never => Ok(opened),
        Pass::Switch(passing) => {
            passing.read_by_position();
            Ok(opened)
        }
        Pass::Reopen => {
            let mut options = options.clone();
            options.access = Access::Positioned;
            open_once(path, accept, &options)
        }
    }
}

/// The means of setting an open input to reading by position.
pub(crate) enum Pass {
    /// It stays as it is: another access was requested, or the bytes come once.
    Never,
    /// Its one source is switched.
    Switch(Passing),
    /// A directory, whose format opens the files: they are opened again.
    Reopen,
}

/// As [`recognise`], with a switch to positioned reads.
pub(crate) fn recognise_to_pass(
    path: &Path,
    accept: Accept,
    options: &OpenOptions,
) -> Result<(&'static Format, Input, Pass)> {
    if options.access != Access::Auto || is_stream(path) || is_url(path) || is_directory(path) {
        let (format, input) = recognise(path, accept, options)?;
        let is_again = options.access == Access::Auto && opens_again(path);
        return Ok((format, input, if is_again { Pass::Reopen } else { Pass::Never }));
    }
    let opened = open_path_to_pass(path, &options.limits);
    let (source, passing) = opened.map_err(|error| explain(error, path))?;
    let (format, input) = find_source(source, Some(path.to_owned()), accept, options)?;
    Ok((format, input, passing.map_or(Pass::Never, Pass::Switch)))
}

/// A larger block that has to be decoded is mapped rather than copied before.
const MAX_SMALL_BLOCK: u64 = 4 << 20;

/// Maximum number of datasets of a file that is read by position as a whole: to inspect all blocks of more would take longer than a read.
const MAX_PASSED_DATASETS: usize = 1000;

/// True where pieces in `order` are pieces of the file, or are decoded from small ones.
pub(crate) fn passes(container: &dyn Container, order: Option<Order>) -> bool {
    if container.dataset_count() > MAX_PASSED_DATASETS {
        return false;
    }
    let along =
        |dataset: &Dataset| order.is_none_or(|order| order == dataset.order || dataset.shape.len() < 2);
    container.has_small_blocks(MAX_SMALL_BLOCK) && all_datasets(container).all(|(_, dataset)| along(&dataset))
}

/// Opens bytes of any source. Formats that are stored in several files use `path`.
///
/// # Errors
/// As [`open`].
pub fn open_source(
    source: Box<dyn Source>,
    path: Option<PathBuf>,
    accept: Accept,
    options: &OpenOptions,
) -> Result<OpenFile> {
    let (format, input) = find_source(source, path, accept, options)?;
    opened(format, input, options)
}

/// Detects the format without opening the file, so that a failure to open can still name it.
pub(crate) fn recognise(
    path: &Path,
    accept: Accept,
    options: &OpenOptions,
) -> Result<(&'static Format, Input)> {
    find(path, accept, options)
}

/// A file for a repair.
pub(crate) struct Damaged {
    pub(crate) format: &'static Format,
    pub(crate) input: Input,
    /// The error for a file that cannot be repaired, where its first bytes are damaged.
    pub(crate) unknown: Option<Error>,
    /// Number of foreign bytes before it.
    pub(crate) prefix: u64,
}

/// As [`recognise`], for a repair: also of a container whose first bytes are damaged, or that has foreign bytes before it.
pub(crate) fn recognise_damaged(path: &Path, options: &OpenOptions) -> Result<Damaged> {
    if is_directory(path) {
        let (format, input) = recognise(path, Accept::Containers, options)?;
        return Ok(Damaged { format, input, unknown: None, prefix: 0 });
    }
    let (source, path) = read(path, options)?;
    let head = head(&*source)?;
    let probe = Probe { head: &head, directory: None, len: Some(source.len()) };
    let (format, unknown) = match sniff(&probe, Accept::Containers, options.formats) {
        Ok(format) => (Some(format), None),
        // A container within a file of another program is a part of it.
        Err(error) if Foreign::of_probe(&probe).is_some() => return Err(error),
        Err(error) => (damaged(&probe, options.formats), Some(error)),
    };
    if let Some(format) = format {
        return Ok(Damaged { format, input: Input { source: Some(source), path }, unknown, prefix: 0 });
    }
    if let Some(foreign) = Foreign::of_source(&*source)? {
        let error = unknown.unwrap_or_else(|| Error::wrong_format("a file of a known format"));
        return Err(foreign.explain(error));
    }
    match (leading_bytes::find(&source.into(), path.as_ref(), options)?, unknown) {
        (Some(leading_bytes::Found { at, format, input }), _) => {
            Ok(Damaged { format, input, unknown: None, prefix: at })
        }
        (None, Some(error)) => Err(error),
        (None, None) => Err(Error::wrong_format("a file of a known format")),
    }
}

/// An input, and the format that `sniff` finds it to be.
fn find(path: &Path, accept: Accept, options: &OpenOptions) -> Result<(&'static Format, Input)> {
    if is_directory(path) {
        let format = sniff(&Probe { head: &[], directory: Some(path), len: None }, accept, options.formats)?;
        return Ok((format, Input { source: None, path: Some(path.to_owned()) }));
    }
    let (source, path) = read(path, options)?;
    find_source(source, path, accept, options)
}

fn find_source(
    source: Box<dyn Source>,
    path: Option<PathBuf>,
    accept: Accept,
    options: &OpenOptions,
) -> Result<(&'static Format, Input)> {
    let head = head(&*source)?;
    let probe = Probe { head: &head, directory: None, len: Some(source.len()) };
    let found = sniff(&probe, accept, options.formats);
    match found {
        Ok(format) => Ok((format, Input { source: Some(source), path })),
        Err(error) => Err(leading_bytes::tell(error, source, path.as_ref(), options)),
    }
}

/// The bytes of a file; those of standard input or of an address that is not a path are without a path.
fn read(path: &Path, options: &OpenOptions) -> Result<(Box<dyn Source>, Option<PathBuf>)> {
    if let Some(source) = at_address(path, options) {
        return Ok((source?, None));
    }
    if is_stream(path) {
        let bytes = read_stream(&mut io::stdin().lock(), &options.limits)?;
        return Ok((Box::new(bytes), None));
    }
    let opened = open_path(path, options.access, &options.limits);
    Ok((opened.map_err(|error| explain(error, path))?, Some(path.to_owned())))
}

/// The bytes at an address that is not a path.
fn at_address(path: &Path, options: &OpenOptions) -> Option<Result<Box<dyn Source>>> {
    if let Some(addresses) = &options.addresses
        && let Some(opened) = addresses.open(path, &options.limits)
    {
        return Some(opened);
    }
    if !is_url(path) {
        return None;
    }
    #[cfg(feature = "remote")]
    {
        use container_core::source::Addresses as _;
        crate::remote::Urls(holdall_remote::Client::new(Default::default())).open(path, &options.limits)
    }
    #[cfg(not(feature = "remote"))]
    Some(Err(Error::usage("URLs cannot be opened: built without the feature `remote`")
        .with_hint("a download, and holdall on the file: curl -LO URL")))
}

/// The bytes by which formats are recognised.
fn head(source: &dyn Source) -> Result<Vec<u8>> {
    Ok(source.read(0..source.len().min(Probe::LEN as u64))?.into_owned())
}

fn is_directory(path: &Path) -> bool {
    !is_stream(path) && !is_url(path) && path.is_dir()
}

/// True for the path of standard input or output: `-`.
#[must_use]
pub fn is_stream(path: &Path) -> bool {
    path.as_os_str() == "-"
}

/// True for an input that can be opened repeatedly: a pipe under a name, as `/dev/stdin` is, gives its bytes once.
pub(crate) fn opens_again(path: &Path) -> bool {
    path.is_file() || path.is_dir()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::npy_bytes;
    use container_core::ErrorKind;
    #[cfg(feature = "rawarray")]
    use container_core::{container::ReadOptions, region::Region};

    fn open_bytes(bytes: &[u8], accept: Accept) -> Result<OpenFile> {
        open_source(Box::new(bytes.to_vec()), None, accept, &OpenOptions::default())
    }

    #[test]
    fn an_array_file_opens_only_where_arrays_are_accepted() {
        let bytes = npy_bytes("<u2", "False", "(2,)", &[1, 0, 2, 0]);
        let opened = open_bytes(&bytes, Accept::ContainersAndArrays).unwrap();
        assert_eq!(opened.format.name, "npy");
        assert_eq!(opened.container.datasets()[0].shape, [2]);
        let error = open_bytes(&bytes, Accept::Containers).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }));
    }

    #[cfg(any(feature = "bloscpack", feature = "rawarray"))]
    #[test]
    fn array_file_error_suggests_convert() {
        let bytes = npy_bytes("<u2", "False", "(2,)", &[1, 0, 2, 0]);
        let error = open_bytes(&bytes, Accept::Containers).unwrap_err();
        let first = crate::formats::FORMATS[0];
        let hint = format!("holdall convert FILE NEW.{}", first.extensions[0]);
        assert_eq!(error.hint(), Some(hint.as_str()));
        assert!(error.to_string().contains(first.title));
    }

    #[test]
    fn unrecognised_bytes_are_reported_as_wrong_format() {
        for (bytes, word) in [(&b""[..], "empty"), (b"hello", "known format"), (b"\x93NUMP", "known format")]
        {
            let error = open_bytes(bytes, Accept::ContainersAndArrays).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }));
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    /// The rest of the file comes while it is opened for the first time.
    #[cfg(feature = "rawarray")]
    #[test]
    fn a_file_that_is_being_written_is_opened_once_more_to_pass() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.ra");
        let whole = crate::testing::ra_bytes();
        std::fs::write(&path, &whole[..whole.len() - 1]).unwrap();
        let calls = std::cell::Cell::new(0);
        let opened = open_for_streaming(&path, Accept::Containers, &OpenOptions::default(), |_| {
            calls.set(calls.get() + 1);
            std::fs::write(&path, &whole).unwrap();
            None
        });
        assert!(opened.unwrap().container.about().complete);
        assert_eq!(calls.get(), 2);
    }

    /// A file that is removed before its order is read cannot be opened again.
    #[cfg(feature = "rawarray")]
    #[test]
    fn a_file_that_passes_through_is_opened_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.ra");
        std::fs::write(&path, crate::testing::ra_bytes()).unwrap();
        let opened = open_for_streaming(&path, Accept::Containers, &OpenOptions::default(), |_| {
            std::fs::remove_file(&path).unwrap();
            None
        });
        let opened = opened.unwrap();
        let region = Region::whole(&opened.container.datasets()[0].shape);
        opened.container.read(0, &region, &ReadOptions::default()).unwrap();
        assert!(!path.exists());
    }

    #[cfg(not(feature = "remote"))]
    #[test]
    fn urls_need_a_feature_or_a_download() {
        let error = open("https://example.org/a.asdf").unwrap_err();
        assert!(error.to_string().contains("`remote`"), "{error}");
        assert!(error.hint().is_some_and(|hint| hint.contains("download")));
    }

    #[test]
    fn directories_and_missing_files_are_errors() {
        let directory = tempfile::tempdir().unwrap();
        let error = open_with(directory.path(), Accept::Containers, &OpenOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }));
        assert!(error.to_string().contains("directory"));
        let missing = directory.path().join("no.ra");
        let error = open_with(&missing, Accept::Containers, &OpenOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(error) if error.kind() == io::ErrorKind::NotFound));
    }
}
