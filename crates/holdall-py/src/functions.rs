//! The verbs: each gives the JSON line that the command prints for it.

use std::ffi::OsString;
use std::path::PathBuf;

use container_core::container::{CheckDepth, Container, OpenOptions};
use container_core::write::Overwrite;
use holdall::address::shown;
use holdall::append::{Addition, AppendOptions, append, append_from};
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert as convert_file, write};
use holdall::diff::{DiffOptions, diff as diff_containers};
use holdall::formats::{FORMATS, target_format};
use holdall::open::open_for_streaming;
use holdall::views::named_source::NamedSource;
use holdall::{Accept, Address, Error, Progress, Stop, json};
use pyo3::prelude::*;
use serde_json::Value as Json;

use crate::errors::{raise, raise_at};
use crate::held::Held;
use crate::options::{OpenWords, WriteWords, read};
use crate::patient::{Told, patiently};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(formats, module)?)?;
    module.add_function(wrap_pyfunction!(split_address, module)?)?;
    module.add_function(wrap_pyfunction!(parse_selection, module)?)?;
    module.add_function(wrap_pyfunction!(verify, module)?)?;
    module.add_function(wrap_pyfunction!(convert, module)?)?;
    module.add_function(wrap_pyfunction!(recode, module)?)?;
    module.add_function(wrap_pyfunction!(repair, module)?)?;
    module.add_function(wrap_pyfunction!(diff, module)?)?;
    module.add_function(wrap_pyfunction!(digest, module)?)?;
    module.add_function(wrap_pyfunction!(save, module)?)?;
    module.add_function(wrap_pyfunction!(append_arrays, module)?)?;
    module.add_function(wrap_pyfunction!(append_files, module)?)
}

/// The operations on each version of each format.
#[pyfunction]
fn formats() -> Vec<String> {
    FORMATS.iter().map(|format| json::format_json(format).to_string()).collect()
}

/// `(file, dataset, selection)` of `FILE::PATH[SEL]`.
#[pyfunction]
fn split_address(text: OsString) -> (OsString, Option<String>, Option<String>) {
    let Address { file, dataset, selection } = Address::parse_os(&text);
    // As text: a `Path` would fold the slashes of a URL.
    (file.into_os_string(), dataset, selection)
}

/// `(start, step, count, kept)` of each axis that the text of a selection chooses of an array of `shape`.
#[pyfunction]
fn parse_selection(text: &str, shape: Vec<u64>) -> PyResult<Vec<(u64, i64, u64, bool)>> {
    let region = container_core::region::Region::parse(text, &shape).map_err(raise)?;
    let axis = |axis: &container_core::region::AxisSelection| {
        (axis.start, axis.step, axis.count, axis.kept == container_core::region::Kept::Yes)
    };
    Ok(region.axes().iter().map(axis).collect())
}

/// `holdall.verify/1`.
#[pyfunction]
fn verify(
    py: Python<'_>,
    path: PathBuf,
    words: OpenWords,
    is_quick: bool,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let depth = if is_quick { CheckDepth::Quick } else { CheckDepth::Full };
    let (open, limits) = (words.options()?, words.limits());
    let checked = patiently(py, told, move |progress, stop| {
        let read = read(threads, container_core::container::Digests::Compare, limits).with_stop(stop);
        let verification = holdall::verify_with(&path, depth, &open, &read, progress);
        json::verify_json(&verification).to_string()
    })?;
    Ok(checked)
}

/// `holdall.convert/1`; with `differences` where the target was read back and was not the source.
#[pyfunction]
fn convert(
    py: Python<'_>,
    source: OsString,
    target: PathBuf,
    open: OpenWords,
    words: WriteWords,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let work = Making::new(&open, words, threads)?;
    let name = target.display().to_string();
    let done = patiently(py, told, move |progress, stop| {
        let outcome = convert_file(&Address::parse_os(&source), &target, &work.options(progress, stop));
        outcome.map(|outcome| outcome_json(&source.display().to_string(), &name, outcome))
    })?;
    done.map_err(raise)
}

/// As [`convert`], of a file in its own format.
#[pyfunction]
fn recode(
    py: Python<'_>,
    source: PathBuf,
    target: PathBuf,
    open: OpenWords,
    words: WriteWords,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let work = Making::new(&open, words, threads)?;
    let done = patiently(py, told, move |progress, stop| {
        let outcome = holdall::recode(&source, &target, &work.options(progress, stop))?;
        Ok(outcome_json(&source.display().to_string(), &target.display().to_string(), outcome))
    })?;
    done.map_err(raise)
}

/// `holdall.repair/1`. Without a target it says what it would do.
#[pyfunction]
fn repair(
    py: Python<'_>,
    source: PathBuf,
    target: Option<PathBuf>,
    is_overwriting: bool,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let overwrite = if is_overwriting { Overwrite::Replace } else { Overwrite::Refuse };
    let path = source.clone();
    let done = patiently(py, told, move |progress, _| {
        let done =
            holdall::repair_with(&source, target.as_deref(), overwrite, &OpenOptions::default(), progress)?;
        let target = target.map(|target| target.display().to_string());
        let mut line = json::repair_json(&source.display().to_string(), target.as_deref(), &done);
        put(&mut line, "format", done.format.into());
        Ok(line.to_string())
    })?;
    done.map_err(|error| raise_at_if_io(error, &path))
}

/// `holdall.diff/1`.
#[pyfunction]
fn diff(
    py: Python<'_>,
    a: OsString,
    b: OsString,
    open: OpenWords,
    tolerances: (f64, f64),
    ignore: Vec<String>,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let (options, limits) = (open.options()?, open.limits());
    let done = patiently(py, told, move |progress, stop| {
        let read = read(threads, digests_default(), limits).with_stop(stop);
        let (left, right) = (Address::parse_os(&a), Address::parse_os(&b));
        let opened = |address: &Address| {
            holdall::open_with(&address.file, Accept::ContainersAndArrays, &options)
                .map_err(|error| named(error, address))
        };
        let (first, second) = (opened(&left)?, opened(&right)?);
        let select = |address: &Address, container: &dyn Container| {
            address.select(container).map_err(|error| named(error, address))
        };
        let (of_first, of_second) = (select(&left, &*first.container)?, select(&right, &*second.container)?);
        let (rtol, atol) = tolerances;
        let options = DiffOptions { rtol, atol, ignore: &ignore, read, progress, ..DiffOptions::default() };
        let first = NamedSource::new(&*first.container, shown(&left.file));
        let second = NamedSource::new(&*second.container, shown(&right.file));
        let found = diff_containers(&first, &of_first, &second, &of_second, &options)?;
        Ok(json::diff_json(&a.display().to_string(), &b.display().to_string(), &found, &[]).to_string())
    })?;
    done.map_err(raise)
}

/// `(path, digest)` of each dataset of an address.
#[pyfunction]
fn digest(
    py: Python<'_>,
    address: OsString,
    open: OpenWords,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<Vec<(String, String)>> {
    let (options, limits) = (open.options()?, open.limits());
    let done = patiently(py, told, move |progress, stop| {
        let address = Address::parse_os(&address);
        let read = read(threads, container_core::container::Digests::Compare, limits).with_stop(stop);
        let order = |_: &holdall::OpenFile| Some(container_core::dtype::Order::C);
        let opened = open_for_streaming(&address.file, Accept::ContainersAndArrays, &options, order)
            .map_err(|error| named(error, &address))?;
        let container = &*opened.container;
        let parts = holdall::digest::select(&address, container)?;
        let digest = |(index, region): (usize, container_core::region::Region)| {
            let made = holdall::digest::digest(container, index, &region, &read, progress)?;
            Ok((container.require(index)?.path.clone(), made.digest.to_string()))
        };
        parts.into_iter().map(digest).collect::<holdall::Result<Vec<_>>>()
    })?;
    done.map_err(raise)
}

/// Writes arrays to a new file: `holdall.convert/1`.
#[pyfunction]
fn save(
    py: Python<'_>,
    target: PathBuf,
    arrays: &Bound<'_, PyAny>,
    meta: Option<&Bound<'_, PyAny>>,
    words: WriteWords,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let held = Held::new(arrays, meta)?;
    let name = target.display().to_string();
    let work = Making { open: OpenOptions::default(), words, threads: 1, limits: holdall::Limits::default() };
    let done = patiently(py, told, move |progress, stop| {
        let options = work.options(progress, stop);
        let format = target_format(&target, options.to, options.open.formats)?;
        write(&held, &held.all(), format, &target, &options).map(|outcome| outcome_json("", &name, outcome))
    })?;
    done.map_err(raise)
}

/// Adds arrays to a file: `holdall.append/1`.
#[pyfunction]
fn append_arrays(
    py: Python<'_>,
    target: PathBuf,
    arrays: &Bound<'_, PyAny>,
    words: WriteWords,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let held = Held::new(arrays, None)?;
    let path = target.clone();
    let done = patiently(py, told, move |progress, stop| {
        let options = appending(&words, OpenOptions::default(), 1, progress, stop);
        let done = append_from(&target, &held, &held.all(), &options)?;
        Ok(json::append_json(&[], &target.display().to_string(), &done).to_string())
    })?;
    done.map_err(|error| raise_at_if_io(error, &path))
}

/// Adds the datasets of an address to a file: `holdall.append/1`.
#[pyfunction]
fn append_files(
    py: Python<'_>,
    target: PathBuf,
    source: OsString,
    open: OpenWords,
    words: WriteWords,
    threads: usize,
    told: Told<'_, '_>,
) -> PyResult<String> {
    let open = open.options()?;
    let done = patiently(py, told, move |progress, stop| {
        let options = appending(&words, open, threads, progress, stop);
        let done = append(&target, Addition::Datasets(&Address::parse_os(&source)), &options)?;
        Ok(json::append_json(&[source.display().to_string()], &target.display().to_string(), &done)
            .to_string())
    })?;
    done.map_err(raise)
}

/// The settings of a conversion.
struct Making {
    open: OpenOptions,
    words: WriteWords,
    threads: usize,
    limits: holdall::Limits,
}

impl Making {
    fn new(open: &OpenWords, words: WriteWords, threads: usize) -> PyResult<Self> {
        Ok(Self { open: open.options()?, words, threads, limits: open.limits() })
    }

    fn options<'a>(&'a self, progress: Progress<'a>, stop: Stop) -> ConvertOptions<'a> {
        ConvertOptions {
            to: self.words.format.as_deref(),
            overwrite: self.words.overwrites(),
            durability: self.words.durability(),
            import: self.words.import(),
            open: self.open.clone(),
            read: read(self.threads, digests_default(), self.limits).with_stop(stop),
            fill: self.words.fill.as_deref(),
            verify: if self.words.verify { ReadBack::Yes } else { ReadBack::No },
            losses: self.words.losses(),
            progress,
        }
    }
}

fn appending<'a>(
    words: &'a WriteWords,
    open: OpenOptions,
    threads: usize,
    progress: Progress<'a>,
    stop: Stop,
) -> AppendOptions<'a> {
    let read = read(threads, digests_default(), open.limits).with_stop(stop);
    AppendOptions {
        durability: words.durability(),
        import: words.import(),
        open,
        read,
        fill: words.fill.as_deref(),
        progress,
    }
}

fn digests_default() -> container_core::container::Digests {
    container_core::container::Digests::default()
}

fn outcome_json(source: &str, target: &str, outcome: ConvertOutcome) -> String {
    match outcome {
        ConvertOutcome::Done(conversion) => json::convert_json(source, target, &conversion).to_string(),
        ConvertOutcome::Differs(differences) => {
            json::diff_json(source, target, &differences, &[]).to_string()
        }
    }
}

fn put(line: &mut Json, key: &str, value: Json) {
    if let Some(map) = line.as_object_mut() {
        map.insert(key.to_owned(), value);
    }
}

/// Names the file of an error, unless the error names one.
fn named(error: Error, address: &Address) -> Error {
    error.with_subject(shown(&address.file))
}

fn raise_at_if_io(error: Error, path: &std::path::Path) -> PyErr {
    if error.subject().is_some() { raise(error) } else { raise_at(error, path) }
}
