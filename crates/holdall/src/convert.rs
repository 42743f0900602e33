//! Converting between formats.

mod directory;
mod verify_metadata;

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::Path;

use container_core::chunked_read::require_present;
use container_core::container::{Axes, CheckDepth, Container, Defaults, Digests, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::{DuplicatePaths, Format, Input, TargetOptions, WriteRequest};
use container_core::interchange::path_of;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::source::{FileSource, Source};
use container_core::write::{Durability, Overwrite};
use container_core::{Error, Progress, Result};

use crate::address::{Address, shown};
use crate::diff::{Attributes, DiffOptions, Difference, Retyped, compare_datasets};
use crate::formats::target_format;
use crate::open::{Accept, OpenFile, is_stream, open_for_streaming};
use crate::option_words::explain;
use crate::output_file::{Target, refuse_source};
use crate::verify::{damage, first_damage};
use crate::views::drop_frame_axis::without_frame_axes;
use crate::views::fill_missing::Filled;
use crate::views::named_source::NamedSource;
use crate::views::reverse_axes::Reversed;

/// Options of a conversion.
#[derive(Clone)]
pub struct ConvertOptions<'a> {
    /// The target's format by its machine name; `None` to go by the extension.
    pub to: Option<&'a str>,
    /// Treatment of a target that exists.
    pub overwrite: Overwrite,
    /// Guarantee about the disk when the call returns.
    pub durability: Durability,
    /// Options for writing the target. Its limits are those of `open`.
    pub import: TargetOptions,
    /// Options for opening the source.
    pub open: OpenOptions,
    /// Options for reading values. Digests are always compared.
    pub read: ReadOptions,
    /// The value of missing elements in targets without masks, as a cell of CSV; `None` for NaN, NaT, and otherwise the stored value. With a
    /// value, ASDF targets are written without masks, too.
    pub fill: Option<&'a str>,
    /// Verification of the target before it takes its place.
    pub verify: ReadBack,
    /// Treatment of targets that lack parts of their source.
    pub losses: Losses,
    /// Called with `(done, total)` in bytes of elements; a second time while reading back.
    pub progress: Progress<'a>,
}

impl Default for ConvertOptions<'_> {
    /// Target format by extension, refusing an existing target, synced, not read back, losses reported.
    fn default() -> Self {
        Self {
            to: None,
            overwrite: Overwrite::default(),
            durability: Durability::default(),
            import: TargetOptions::default(),
            open: OpenOptions::default(),
            read: ReadOptions::default(),
            fill: None,
            verify: ReadBack::default(),
            losses: Losses::default(),
            progress: Progress::none(),
        }
    }
}

/// Verification of a target by reading it back and comparing it with its source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReadBack {
    /// It is trusted.
    #[default]
    No,
    /// Shapes, types, values and carried metadata are compared before the target takes its place.
    Yes,
}

/// Treatment of targets that lack parts of their source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Losses {
    /// Written; [`Conversion::losses`] lists the missing parts.
    #[default]
    Report,
    /// Not written: an error lists the missing parts, and an existing target stays.
    Refuse,
}

impl Losses {
    /// Passes unless something is lost and that is refused.
    ///
    /// # Errors
    /// `Usage`, with the losses.
    pub(crate) fn check(self, losses: &[Loss]) -> Result<()> {
        if self == Self::Report || losses.is_empty() {
            return Ok(());
        }
        let listed = losses.iter().map(|Loss { dataset, what }| match dataset {
            Some(dataset) => format!("{dataset}: {what}"),
            None => what.clone(),
        });
        let listed: Vec<String> = listed.collect();
        Err(Error::usage(format!("the target would lose: {}", listed.join("; "))))
    }
}

/// Result of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversion {
    /// The target's format by its machine name.
    pub target_format: &'static str,
    /// Paths of the datasets that were converted, in the source.
    pub datasets: Vec<String>,
    /// Losses: the parts that the target lacks.
    pub losses: Vec<Loss>,
    /// Why the target may not survive a power cut, where the disk did not confirm it.
    pub warning: Option<String>,
}

/// End of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConvertOutcome {
    /// The target is in its place.
    Done(Conversion),
    /// The target differed from the source when read back, and was removed.
    Differs(Vec<Difference>),
}

/// Writes the datasets of an address to a new file in another format, or the same. The target `-` is standard output, which needs a format
/// that streams. Memory is bounded by the pieces in which values pass, not by the data. A failure removes new files and leaves an existing
/// target unchanged.
///
/// # Errors
/// `Usage` for a target that is the source, exists, or has an unknown format, for several datasets into a format of one, for reading back from a
/// pipe or a subset of the frames, and for reversed axes where source and target are column-major formats. `Unsupported` for data that the target's
/// format cannot hold; those of opening and reading the source; `Io`.
pub fn convert(source: &Address, target: &Path, options: &ConvertOptions<'_>) -> Result<ConvertOutcome> {
    let format = target_format(target, options.to, options.open.formats)?;
    refuse_source(&source.file, target)?;
    if options.verify == ReadBack::Yes && is_stream(target) {
        return Err(
            Error::usage("standard output cannot be read back").with_hint("convert to a file to verify it")
        );
    }
    let some_frames = |(word, range): &(String, String)| word == "frames" && !range.is_empty();
    if options.verify == ReadBack::Yes && options.import.extra.iter().any(some_frames) {
        let problem = "a target that has some of the frames is not what it was made from";
        return Err(Error::usage(problem).with_hint("FILE::PATH[SEL], or holdall diff"));
    }
    let target_order = |_: &OpenFile| match options.import.axes {
        Axes::AsStored => format.order,
        Axes::Reversed => format.order.map(Order::reversed),
    };
    let opened = open_for_streaming(&source.file, Accept::ContainersAndArrays, &options.open, target_order)?;
    let is_column_major = |format: &Format| format.order == Some(Order::F);
    let is_turned_twice = options.open.axes == Axes::Reversed && options.import.axes == Axes::Reversed;
    if is_turned_twice && is_column_major(opened.format) && is_column_major(format) {
        let problem =
            format!("reversed axes have no effect from {} to {}", opened.format.title, format.title);
        return Err(Error::usage(problem).with_hint("another format: NEW.npy"));
    }
    let mut selection = source.select(&*opened.container)?;
    if format.name != opened.format.name {
        without_frame_axes(&*opened.container, &mut selection);
    }
    if let ([], Some(error)) = (selection.as_slice(), first_damage(&*opened.container)) {
        return Err(error);
    }
    let named = NamedSource::new(&*opened.container, shown(&source.file));
    write(&named, &selection, format, target, options)
}

/// Writes datasets of a container to a new file of `format`; the rest of [`convert`], for values that are in memory or seen through a
/// container of the caller's own. Formats without masks take a view in which missing elements have values.
///
/// # Errors
/// As [`convert`], except for errors of a source file.
pub fn write(
    container: &dyn Container,
    selection: &[(usize, Region)],
    format: &'static Format,
    target: &Path,
    options: &ConvertOptions<'_>,
) -> Result<ConvertOutcome> {
    if options.losses == Losses::Refuse && is_stream(target) {
        let problem = "losses to standard output cannot be refused";
        return Err(Error::usage(problem).with_hint("convert to a file"));
    }
    // Before the target's format reports losses: absent values are of no type.
    selection.iter().try_for_each(|(index, region)| require_present(container, *index, region))?;
    let mut read = options.read;
    read = read.with_limits(options.open.limits);
    let filled = match (format.has_masks, options.fill) {
        (true, None) => None,
        (_, fill) => Filled::new(container, selection, fill, &read)?,
    };
    let written = match filled {
        None => write_as_it_is(container, selection, format, target, options, Vec::new()),
        Some(filled) => {
            let known = filled.losses();
            write_as_it_is(&filled, selection, format, target, options, known)
        }
    };
    written.map_err(|error| explain(error, format, &options.import, &shown(target)))
}

/// As [`write`], with losses that were found before.
fn write_as_it_is(
    container: &dyn Container,
    selection: &[(usize, Region)],
    format: &'static Format,
    target: &Path,
    options: &ConvertOptions<'_>,
    known: Vec<Loss>,
) -> Result<ConvertOutcome> {
    let (selection, doubles) = one_of_each_path(container, selection, format);
    let selection = &*selection;
    let count = known.len();
    let known = [known, doubles].concat();
    let import =
        format.import.ok_or_else(|| Error::unsupported(format!("{} files are not written", format.title)))?;
    let mut read = options.read;
    read.digests = Digests::Compare;
    read = read.with_limits(options.open.limits);
    let mut import_options = options.import.clone();
    import_options.limits = read.limits;
    let task =
        WriteRequest { container, selection, options: &import_options, read, progress: options.progress };
    if let Some(directory) = format.write_directory.filter(|it| (it.is_asked)(&import_options)) {
        return directory::write(&task, &directory, format, target, options, &known);
    }
    // A file is written without a name, verified, then committed.
    let mut out = Target::create(target, options.overwrite)?;
    let (able, lacking) = match format.representable {
        Some(representable) => representable(&task)?,
        None => (selection.to_vec(), Vec::new()),
    };
    let selection = &*able;
    let task = WriteRequest { selection, ..task };
    let losses = [known, lacking, import(&task, &mut out)?].concat();
    options.losses.check(&losses)?;
    if options.verify == ReadBack::Yes {
        let differences = read_back(
            &task,
            format,
            &*reopened(&task, format, &out)?,
            losses.get(count..).unwrap_or_default(),
        )?;
        if !differences.is_empty() {
            return Ok(ConvertOutcome::Differs(differences));
        }
    }
    refuse_damaged_file(&task, format, &out, options.verify)?;
    let warning = out.commit_or_warn(options.durability)?;
    Ok(done(container, selection, format, losses, warning))
}

/// Refuses a target that a check reports as damaged, by its structure alone unless it is read back anyway. Output to a pipe cannot be
/// recalled.
fn refuse_damaged_file(
    task: &WriteRequest<'_>,
    format: &Format,
    out: &Target,
    verify: ReadBack,
) -> Result<()> {
    // A format with a reader of its own for new files has no check.
    if format.open_written.is_some() {
        return Ok(());
    }
    let Some(written) = out.written() else { return Ok(()) };
    let target = open_written(task, format, Box::new(FileSource::new(written?)?))?;
    refuse_damaged(task, format, &*target, verify)
}

fn refuse_damaged(
    task: &WriteRequest<'_>,
    format: &Format,
    target: &dyn Container,
    verify: ReadBack,
) -> Result<()> {
    let depth = if verify == ReadBack::Yes { CheckDepth::Full } else { CheckDepth::Quick };
    match damage(target, depth, &task.read)? {
        None => Ok(()),
        Some(error) => Err(error
            .with_context(format!("the new {} file would be damaged", format.title))
            .with_hint("holdall verify FILE; holdall repair FILE -o NEW")),
    }
}

/// The selection with one dataset of each path, and the others as losses, for formats that identify datasets by path. Two chunks of one name in one
/// frame of a GSD file share a path, as do keys of an ASDF tree that have the same text; a tree that stays a tree keeps them.
fn one_of_each_path<'s>(
    container: &dyn Container,
    selection: &'s [(usize, Region)],
    format: &Format,
) -> (Cow<'s, [(usize, Region)]>, Vec<Loss>) {
    let keeps_all = match format.duplicate_paths {
        DuplicatePaths::Allowed => true,
        DuplicatePaths::FromOwnFormat => container.about().format == format.name,
        DuplicatePaths::Never => false,
    };
    if keeps_all {
        return (Cow::Borrowed(selection), Vec::new());
    }
    let path = |index: usize| container.dataset(index).map(|dataset| dataset.path.clone());
    let mut seen = HashMap::new();
    let mut doubles = Vec::new();
    let mut is_first = |index: usize| {
        let Some(path) = path(index) else { return true };
        let is_first = *seen.entry(path.clone()).or_insert(index) == index;
        if !is_first {
            let what = "duplicate name: the target stores one dataset of a name".to_owned();
            doubles.push(Loss { dataset: Some(path), what });
        }
        is_first
    };
    let kept: Vec<_> = selection.iter().filter(|(index, _)| is_first(*index)).cloned().collect();
    (Cow::Owned(kept), doubles)
}

fn done(
    container: &dyn Container,
    selection: &[(usize, Region)],
    format: &Format,
    losses: Vec<Loss>,
    warning: Option<String>,
) -> ConvertOutcome {
    let datasets = selection.iter().filter_map(|(index, _)| container.dataset(*index));
    let datasets = datasets.map(|dataset| dataset.path.clone()).collect();
    ConvertOutcome::Done(Conversion { target_format: format.name, datasets, losses, warning })
}

/// Reopens the target, which is still unnamed.
fn reopened(task: &WriteRequest<'_>, format: &Format, out: &Target) -> Result<Box<dyn Container>> {
    let written = out.written().ok_or_else(|| Error::usage("a pipe cannot be read back"))??;
    open_written(task, format, Box::new(FileSource::new(written)?))
}

/// Compares a written target with its source.
fn read_back(
    task: &WriteRequest<'_>,
    format: &Format,
    target: &dyn Container,
    losses: &[Loss],
) -> Result<Vec<Difference>> {
    let mut target_selection = Address::file("-").select(target)?;
    without_new_masks(task, target, &mut target_selection)?;
    if let ([(index, _)], 2..) = (task.selection, target_selection.len()) {
        // Aliases in a tree make several datasets of the one array.
        let (tree, own) = (task.metadata()?.0, task.container.require(*index)?.path.clone());
        let path = path_of(&tree, &own);
        let is_it = |(index, _): &&(usize, Region)| {
            target.dataset(*index).is_some_and(|dataset| dataset.path == path)
        };
        if let Some(it) = target_selection.iter().find(is_it).cloned() {
            target_selection = vec![it];
        }
    }
    let options = DiffOptions { read: task.read, progress: task.progress, ..DiffOptions::default() };
    let compare = |source: &dyn Container, selection: &[(usize, Region)]| {
        let (attributes, retyped) = (Attributes::PassedOver, Retyped::Allowed);
        compare_datasets(source, selection, target, &target_selection, &options, attributes, retyped)
    };
    let mut found = verify_metadata::compare(task, format, target, &target_selection, losses)?;
    found.extend(match task.options.axes {
        Axes::AsStored => compare(task.container, task.selection),
        Axes::Reversed => {
            let view = Reversed::new(task.container);
            let selection =
                task.selection.iter().map(|(index, region)| Ok((*index, view.region(*index, region)?)));
            compare(&view, &selection.collect::<Result<Vec<_>>>()?)
        }
    }?);
    Ok(found)
}

/// Leaves out masks that are arrays only in the target: they are compared with the elements.
fn without_new_masks(
    task: &WriteRequest<'_>,
    target: &dyn Container,
    selection: &mut Vec<(usize, Region)>,
) -> Result<()> {
    let is_mask = |path: &str| path == "mask" || path.ends_with("/mask");
    let mut had = false;
    let mut has = false;
    for (index, _) in task.selection {
        had |= is_mask(&task.container.require(*index)?.path);
        has |= task.container.has_mask(*index, &task.read)?;
    }
    if !has || had {
        return Ok(());
    }
    selection.retain(|(index, _)| {
        let above = target.dataset(*index).and_then(|mask| Some(mask.path.strip_suffix("/mask")?.to_owned()));
        above.is_none_or(|above| target.find(&above).is_none())
    });
    Ok(())
}

/// Opens the target by the reader of its format.
fn open_written(
    task: &WriteRequest<'_>,
    format: &Format,
    source: Box<dyn Source>,
) -> Result<Box<dyn Container>> {
    if let Some(open) = format.open_written {
        return open(Input::bytes(source), task);
    }
    // Our own file: the guesses that the source may need are not for it.
    let mut plainly = OpenOptions::default();
    plainly.limits = task.options.limits;
    let masked = |(index, _): &(usize, Region)| task.container.has_mask(*index, &task.read);
    if format.has_masks && !task.selection.iter().map(masked).collect::<Result<Vec<_>>>()?.contains(&true) {
        // A mask among the metadata hides values that the source shows.
        plainly.defaults = Defaults::StoredOnly;
    }
    (format.open)(Input::bytes(source), &plainly)
}

#[cfg(test)]
mod tests;
