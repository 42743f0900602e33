//! The `Container` of an ASDF file, and the entry for the table of formats.

use std::any::Any;
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use container_core::array::Array;
use container_core::block::Block;
use container_core::codec::Codecs;
use container_core::container::{
    About, Axes, CheckDepth, Container, Dataset, Defaults, FileStructure, Interchange, MetadataText,
    OpenOptions, ReadOptions, Segment, Visibility, codecs_of_datasets,
};
use container_core::format::{DuplicatePaths, Format, Input, Level, OptionSpec, Probe, Support};
use container_core::region::Region;
use container_core::report::{Loss, Report};
use container_core::source::Source;
use container_core::write::journal::Notice;
use container_core::{Error, Limits, Progress, Result, Value};

use crate::check;
use crate::datasets;
use crate::file::File;
use crate::file::external::FileSet;
use crate::file::open_options::Strictness;
use crate::header::{LINE, MAGIC};
use crate::interchange::append;
use crate::interchange::facade;
use crate::interchange::import;
use crate::interchange::metadata;
use crate::interchange::metadata::value::{self, View};
use crate::update::{self, read_with_notice};
use crate::{byte_map, compression, info, repair};

const ALL: Level = Level::Yes;

/// ASDF in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["asdf"],
    support: &[
        Support { version: "standard 1.6.0", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support { version: "standards 1.0.0 to 1.5.0", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support { version: "standard 1.7.0 (draft)", read: ALL, write: Level::No, verify: ALL, repair: ALL },
    ],
    magics: &[LINE],
    codecs: compression::names::CODECS,
    options: &[
        OptionSpec::new("checksum", "none|md5"),
        OptionSpec::new("standard", "1.0.0 to 1.6.0"),
        OptionSpec::new("align", "N"),
        OptionSpec::new("padding", "FACTOR"),
        OptionSpec::new("streamed", "PATH"),
    ],
    has_masks: true,
    duplicate_paths: DuplicatePaths::FromOwnFormat,
    journal_suffix: Some(update::JOURNAL.suffix),
    import: Some(import::import),
    comparable_metadata: Some(metadata::comparable),
    change_metadata: Some(facade::change_metadata),
    other_files: Some(other_files),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    ..Format::new(
        "asdf",
        "ASDF",
        |probe: &Probe<'_>| {
            let rest = probe.head.strip_prefix(MAGIC);
            rest.is_some_and(|rest| matches!(rest, [b' ' | b'\t', ..]))
        },
        |input, options| open(input, options, compression::codecs()),
    )
};

/// The other files that the file at `path` consists of; none where it cannot be opened.
fn other_files(input: Input, options: &OpenOptions, path: &Path) -> Vec<PathBuf> {
    let opened = AsdfContainer::new(input, options, compression::codecs());
    opened.map(|opened| facade::other_files(&opened.file, path)).unwrap_or_default()
}

/// Opens an input with codecs for its blocks: those of [`compression::codecs`], and any that the caller adds.
///
/// # Errors
/// As [`File::open`]; `Usage` for a directory.
pub fn open(input: Input, options: &OpenOptions, codecs: Codecs) -> Result<Box<dyn Container>> {
    Ok(Box::new(AsdfContainer::new(input, options, codecs)?))
}

/// An ASDF file as a `Container`.
struct AsdfContainer {
    file: File,
    /// Path of the file, if it is a file.
    path: Option<PathBuf>,
    limits: Limits,
    /// Whether masks hide elements.
    defaults: Defaults,
    /// Axis order in which column-major arrays are shown.
    axes: Axes,
    /// Built on first use: there may be very many arrays.
    datasets: OnceLock<Vec<Dataset>>,
    /// The first dataset of each block.
    of_blocks: OnceLock<HashMap<usize, String>>,
    /// A journal next to the file.
    journal: Option<Notice>,
}

impl AsdfContainer {
    fn new(input: Input, options: &OpenOptions, codecs: Codecs) -> Result<Self> {
        let path = input.path.clone();
        let mut source = input.into_source()?;
        let mut notice = None;
        if let Some(path) = &path {
            // A change that a crash interrupted is shown as completed.
            (source, notice) = read_with_notice(path, source, &options.limits)?;
        }
        let folder = path.as_deref().and_then(Path::parent);
        let folder = folder.map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder });
        let source: Arc<dyn Source> = Arc::from(source);
        let own = crate::OpenOptions::from(options).with_codecs(codecs);
        let open = |own| File::from_source(Box::new(Arc::clone(&source)), folder, own);
        let file = match open(own.clone()) {
            // A file without a readable tree has blocks to show and to check.
            Err(error) if error.is_damage() => {
                open(own.with_strictness(Strictness::Lenient)).map_err(|again| {
                    match again.is_transient() {
                        true => again,
                        false => error,
                    }
                })?
            }
            other => other?,
        };
        Ok(Self {
            file,
            path,
            limits: options.limits,
            defaults: options.defaults,
            axes: options.axes,
            datasets: OnceLock::new(),
            of_blocks: OnceLock::new(),
            journal: notice,
        })
    }

    /// The region of an array as it is stored, for an array whose axes are shown in reverse.
    fn stored_region(&self, index: usize, region: &Region) -> Result<Option<Region>> {
        if self.axes == Axes::AsStored || !datasets::is_column_major(&self.file, index) {
            return Ok(None);
        }
        region.reversed(&self.file.geometry(index)?.shape).map(Some)
    }

    fn of_blocks(&self) -> &HashMap<usize, String> {
        self.of_blocks.get_or_init(|| datasets::of_blocks(&self.file))
    }
}

impl Container for AsdfContainer {
    fn about(&self) -> About {
        About {
            format: FORMAT.name,
            version: Some(self.file.front().header.version.to_string()),
            size: self.file.front().size,
            complete: self.file.is_listed() || self.file.layout().is_complete(),
            details: {
                let mut details = info::details(&self.file);
                details.extend(self.journal.as_ref().map(Notice::detail));
                details
            },
        }
    }

    fn meta(&self) -> Result<Value> {
        self.file.require_tree()?;
        value::to_value(self.file.tree().root(), View::Whole, &self.limits)
    }

    fn logical_meta(&self) -> Result<Value> {
        self.file.require_tree()?;
        value::to_value(self.file.tree().root(), View::Logical, &self.limits)
    }

    fn datasets(&self) -> &[Dataset] {
        self.datasets.get_or_init(|| datasets::datasets(&self.file, self.axes))
    }

    fn dataset_count(&self) -> usize {
        self.file.arrays().len().saturating_add(self.file.block_count())
    }

    fn codecs(&self) -> Option<BTreeSet<String>> {
        if self.file.is_listed() { None } else { Some(codecs_of_datasets(self)) }
    }

    fn listed_count(&self) -> usize {
        match datasets::block_visibility(&self.file) {
            Visibility::Always => self.dataset_count(),
            Visibility::Recursive => self.file.arrays().len(),
        }
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        if self.file.is_listed() && self.datasets.get().is_none() && index < self.file.arrays().len() {
            return datasets::array_dataset(&self.file, self.axes, index).map(Cow::Owned);
        }
        match self.datasets().get(index) {
            Some(dataset) => Some(Cow::Borrowed(dataset)),
            None => datasets::block_dataset(&self.file, index).map(Cow::Owned),
        }
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.file.find_array(path).or_else(|| self.file.find_block(path))
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        if let Some(block) = index.checked_sub(self.file.arrays().len()) {
            return self.file.read_block_region(block, region, options);
        }
        match self.stored_region(index, region)? {
            Some(stored) => Ok(self.file.read_index(index, &stored, options)?.reversed_axes()),
            None => self.file.read_index(index, region, options),
        }
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        let is_held = match index.checked_sub(self.file.arrays().len()) {
            Some(block) => self.file.hold_block_region(block, region, options)?,
            None => {
                let stored = self.stored_region(index, region)?;
                self.file.hold_region(index, stored.as_ref().unwrap_or(region), options)?
            }
        };
        if is_held {
            return Ok(());
        }
        container_core::chunked_read::check_furthest_readable(self, index, region, options)
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        match (self.defaults, self.file.arrays().get(index)) {
            (Defaults::Apply, Some(entry)) => {
                let stored = self.stored_region(index, region)?;
                let mask = self.file.mask_of(&entry.array, stored.as_ref().unwrap_or(region), options);
                let mask = mask.map_err(|error| {
                    let hint = "--stored (Defaults::StoredOnly) reads all stored values, masked or not";
                    error.with_context(entry.path.clone()).with_hint(hint)
                })?;
                Ok(if stored.is_some() { mask.map(Array::reversed_axes) } else { mask })
            }
            _ => Ok(None),
        }
    }
}

impl FileStructure for AsdfContainer {
    fn may_hide_datasets(&self) -> bool {
        self.file.unread_tree().is_some()
    }

    fn unlisted(&self) -> Box<dyn Iterator<Item = (String, Error)> + '_> {
        Box::new(self.file.unlisted_arrays().map(|(path, error)| (path.to_owned(), error)))
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        self.file.blocks().iter().map(|block| block as &dyn Block).collect()
    }

    fn read_structure(&self) -> Result<()> {
        self.file.read_layout().map(|_| ())
    }

    fn byte_map(&self) -> Vec<Segment> {
        let mut map = byte_map::segments(self.file.layout(), self.of_blocks());
        for part in FileSet::open(&self.file, self.path.as_deref()).all.into_iter().skip(1) {
            let dataset = part.dataset.map(|path| (0, path)).into_iter().collect();
            let of_part = byte_map::segments(part.file.layout(), &dataset);
            map.extend(of_part.into_iter().map(|segment| Segment { part: part.name.clone(), ..segment }));
        }
        map.extend(self.journal.as_ref().map(Notice::segment));
        map
    }

    /// Without the byte map, which has several entries for each block.
    fn checksums(&self) -> BTreeSet<String> {
        let has_digest = |file: &File| file.layout().blocks.iter().any(byte_map::has_digest);
        let is_any = has_digest(&self.file)
            || FileSet::open(&self.file, self.path.as_deref())
                .all
                .iter()
                .skip(1)
                .any(|part| has_digest(part.file));
        is_any.then(|| crate::BlockHeader::ALGORITHM.name().to_owned()).into_iter().collect()
    }

    fn uncompared(&self) -> Option<String> {
        self.file.uncompared()
    }

    fn notices(&self) -> Vec<String> {
        self.journal.iter().map(|notice| notice.message.clone()).collect()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        self.read_structure()?;
        let (path, datasets) = (self.path.as_deref(), self.of_blocks());
        Ok(check::check(&self.file, path, datasets, depth, options, progress)?
            .with(self.journal.as_ref().map(Notice::finding)))
    }
}

impl Interchange for AsdfContainer {
    fn metadata_text(&self) -> Option<&dyn MetadataText> {
        Some(&self.file)
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(&self.file)
    }

    fn losses(&self) -> Vec<Loss> {
        datasets::losses(self.logical_meta(), self.datasets())
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        metadata::export_metadata(&self.file, selection, &self.limits)
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        match self.defaults {
            // A writer of the elements reads their mask itself.
            Defaults::Apply => Vec::new(),
            Defaults::StoredOnly => metadata::lost_masks(&self.file, self.datasets(), selection),
        }
    }
}
