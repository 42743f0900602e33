//! `Container` for an open GSD file, and its entry in the table of formats.

use std::any::Any;
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use container_core::array::{Array, StoredArray};
use container_core::block::Block;
use container_core::container::{
    self, About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment,
};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{CodecSpec, DuplicatePaths, Format, Input, Level, OptionSpec, Probe, Support};
use container_core::region::{AxisSelection, Region};
use container_core::report::{Loss, Report};
use container_core::source::{Source, try_zeroed_vec};
use container_core::{Error, Limits, Progress, Result, Value};

use crate::check::{self, CheckTarget};
use crate::datasets::{DatasetIndex, StoredDataset};
use crate::file::{File, OpenOptions};
use crate::frames::Frames;
use crate::hoomd::defaults::DefaultDataset;
use crate::hoomd::log_records::{self, LogRecords};
use crate::index::IndexEntry;
use crate::layout::Strictness;
use crate::stacked::names::NameStats;
use crate::stacked::{Defaults, Rows, StackedChunks};
use crate::{append, byte_map, header, hoomd, import, info, metadata, repair, set_names};

const ALL: Level = Level::Yes;

/// GSD in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["gsd"],
    order: Some(Order::C),
    support: &[
        Support { version: "2.1", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support { version: "2.0", read: ALL, write: Level::Partly, verify: ALL, repair: ALL },
        Support { version: "1.0, 0.3", read: ALL, write: Level::Partly, verify: ALL, repair: ALL },
        Support { version: "big-endian", read: ALL, write: Level::No, verify: ALL, repair: ALL },
    ],
    magics: header::MAGICS,
    codecs: &[CodecSpec::NONE],
    options: &[
        OptionSpec::new("frames", "RANGE"),
        OptionSpec::new("repeats", "keep|drop"),
        OptionSpec::new("application", "TEXT"),
        OptionSpec::new("schema", "TEXT"),
        OptionSpec::new("schema-version", "N.N"),
    ],
    duplicate_paths: DuplicatePaths::Never,
    import: Some(import::import),
    comparable_metadata: Some(metadata::comparable),
    change_metadata: Some(set_names::change_metadata),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    ..Format::new(
        "gsd",
        "GSD",
        |probe: &Probe<'_>| header::byte_order(probe.head).is_some(),
        |input: Input, options: &container::OpenOptions| Ok(Box::new(GsdContainer::new(input, options)?)),
    )
};

/// A GSD file as a `Container`.
struct GsdContainer {
    file: File,
    /// The bytes once more, for callers that need a file of their own.
    source: Arc<Box<dyn Source>>,
    options: OpenOptions,
    limits: Limits,
    datasets: DatasetIndex,
    /// Readable chunks in file order, once they are asked for.
    chunks: OnceLock<Vec<IndexEntry>>,
    /// The log as records, once it is asked for; `None` in a file without logs.
    log: OnceLock<Option<LogRecords>>,
}

impl GsdContainer {
    fn new(input: Input, options: &container::OpenOptions) -> Result<Self> {
        let source = Arc::new(input.into_source()?);
        let limits = options.limits;
        let options_of_file = OpenOptions {
            strictness: Strictness::Lenient,
            limits,
            access: options.access,
            ..OpenOptions::default()
        };
        let file = File::from_source(Box::new(Arc::clone(&source)), &options_of_file)?;
        let defaults = match options.defaults {
            container::Defaults::Apply => Defaults::Schema,
            container::Defaults::StoredOnly => Defaults::StoredOnly,
        };
        let datasets = DatasetIndex::new(&file, NameStats::new(&file, defaults)?);
        let options = options_of_file;
        Ok(Self { file, source, options, limits, datasets, chunks: OnceLock::new(), log: OnceLock::new() })
    }

    fn chunks(&self) -> &[IndexEntry] {
        self.chunks.get_or_init(|| {
            let len = self.file.layout().file_len();
            let readable = |entry: &IndexEntry| entry.byte_range().is_some_and(|range| range.end <= len);
            let mut chunks: Vec<IndexEntry> = self.file.index().iter().filter(readable).collect();
            chunks.sort_by_key(|entry| entry.location);
            chunks
        })
    }

    /// True where the file may have a log, which is read only on request.
    fn may_log(&self) -> bool {
        self.file.header().schema_name() == hoomd::SCHEMA
            && self.file.nframes() > 0
            && self.file.names().iter().any(|name| name.starts_with("log/"))
            && self.file.names().id(log_records::PATH).is_none()
    }

    /// Returns the table of the log; `None` for a file without one, or with one that is damaged.
    ///
    /// # Errors
    /// Those of the source and `Limit`: the next call then tries again.
    fn log(&self) -> Result<Option<&LogRecords>> {
        if let Some(log) = self.log.get() {
            return Ok(log.as_ref());
        }
        match LogRecords::read(&self.file, self.datasets.name_stats.defaults) {
            Err(error) if error.is_interruption() => Err(error),
            read => Ok(self.log.get_or_init(|| read.ok().flatten()).as_ref()),
        }
    }

    fn is_log(&self, index: usize) -> bool {
        index == self.datasets.count() && self.may_log()
    }

    /// Returns the dataset of defaults whose number follows those of the index and the log.
    fn default_dataset(&self, index: usize) -> Option<DefaultDataset> {
        let number = index.checked_sub(self.datasets.count())?.checked_sub(1)?;
        DefaultDataset::of_number(number)
    }

    /// Reads a region of values that no chunk of its frame stores.
    fn read_derived(
        &self,
        derived: DefaultDataset,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'_>> {
        let gone = || Error::usage("no such dataset");
        let stack = derived.stack(&self.file, &self.datasets).ok_or_else(gone)?;
        let dataset = derived.describe(&self.file, &self.datasets, &stack).ok_or_else(gone)?;
        if let DefaultDataset::Stacked(_) | DefaultDataset::Partly(_) = derived {
            // Offsets of all frames are dropped before those of the chosen frames are searched for.
            drop(stack);
            let first = match derived {
                DefaultDataset::Partly(id) => self.datasets.name_stats.get(id).map(|name| name.first),
                _ => None,
            };
            return self.read_frames(&dataset, first.as_ref(), region, options);
        }
        if let Some(entry) = derived.ancestor(&self.file, &stack) {
            return self.read_chunk(&entry, region, options);
        }
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        let [row, rest @ ..] = region.axes() else { return Err(gone()) };
        let mut shape = dataset.shape.clone();
        shape[0] = row.count;
        let rows = Rows::from(row);
        let mut bytes = try_zeroed_vec(stack.byte_len(&rows)?, &options.limits)?;
        stack.with_stop(options.limits.stop).read_into(&rows, &mut bytes, options.threads)?;
        let axes = [&[AxisSelection { start: 0, step: 1, ..*row }][..], rest].concat();
        let picked = Region::new(axes, &shape)?;
        Array::new(dataset.dtype, shape, Order::C, Cow::Owned(bytes))?.select(&picked)
    }

    /// Reads a region of the chunks of one name in all frames.
    fn read_stacked(&self, id: u16, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let name_stats = &self.datasets.name_stats;
        let gone = || Error::usage("no such dataset");
        let dataset = name_stats.stacked(&self.file, id).ok_or_else(gone)?;
        let first = name_stats.get(id).map(|name| name.first).ok_or_else(gone)?;
        self.read_frames(&dataset, Some(&first), region, options)
    }

    /// Reads a region of all frames. `first` is a chunk whose type and shape all have; `None` for a name without chunks.
    ///
    /// The chosen frames are located first. One stored frame is read as an array in the file, so that it may be borrowed. Several frames
    /// are copied into one buffer, from which the remaining axes are selected.
    fn read_frames(
        &self,
        dataset: &Dataset,
        first: Option<&IndexEntry>,
        region: &Region,
        options: &ReadOptions,
    ) -> Result<Array<'_>> {
        let name_stats = &self.datasets.name_stats;
        let gone = || Error::usage("no such dataset");
        let region = Region::new(region.axes().to_vec(), &dataset.shape)?;
        let [frames, inner @ ..] = region.axes() else { return Err(gone()) };
        let dtype = dataset.dtype.clone();
        if region.is_empty() {
            let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
            return selected(Array::new(dtype, counts, Order::C, Cow::Borrowed(&[]))?, &region);
        }
        let inner_shape = dataset.shape.get(1..).unwrap_or_default();
        let chosen = Frames { step: if frames.count == 1 { 1 } else { frames.step }, ..Frames::from(frames) };
        let stack = match first {
            Some(first)
                if DefaultDataset::parse(&self.file, name_stats, &dataset.path)
                    .is_some_and(DefaultDataset::is_partly) =>
            {
                StackedChunks::with_gaps(&self.file, &dataset.path, &chosen, first)?
            }
            Some(first) => {
                StackedChunks::like(&self.file, &dataset.path, &chosen, name_stats.defaults, first)?
            }
            None => StackedChunks::new(&self.file, &dataset.path, &chosen, name_stats.defaults)?,
        };
        if chosen.count == 1
            && let Some(data_at) = stack.chunk_offset(0)
        {
            let mut axes = region.axes().to_vec();
            axes[0] = AxisSelection { start: 0, step: 1, ..axes[0] };
            let mut shape = dataset.shape.clone();
            shape[0] = 1;
            let stored = StoredArray { dtype, order: Order::C, data_at, shape: shape.clone() };
            return stored.read(
                self.file.source(),
                &Region::new(axes, &shape)?,
                &options.limits,
                options.threads,
            );
        }
        // Rows of chunks are selected while copying, columns afterwards.
        let (rows, axes) = match inner {
            [row, rest @ ..] if first.is_none_or(|first| inner_shape == first.shape()) => {
                let taken = AxisSelection { start: 0, step: 1, ..*row };
                (Rows::from(row), [&[taken][..], rest].concat())
            }
            _ => (Rows::All, inner.to_vec()),
        };
        let mut bytes = try_zeroed_vec(stack.byte_len(&rows)?, &options.limits)?;
        stack.with_stop(options.limits.stop).read_into(&rows, &mut bytes, options.threads)?;
        let mut shape = vec![chosen.count];
        shape.extend(inner_shape);
        if let (Rows::Strided { count, .. }, Some(place)) = (rows, shape.get_mut(1)) {
            *place = count;
        }
        let frames = AxisSelection { start: 0, step: 1, ..*frames };
        let axes = [&[frames][..], &axes].concat();
        let picked = Region::new(axes, &shape)?;
        Array::new(dtype, shape, Order::C, Cow::Owned(bytes))?.select(&picked)
    }

    /// Reads the mask of a region: true for values of frames that do not store the name.
    fn partly_mask(&self, id: u16, region: &Region, options: &ReadOptions) -> Result<Array<'static>> {
        let gone = || Error::usage("no such dataset");
        let first = self.datasets.name_stats.get(id).map(|name| name.first).ok_or_else(gone)?;
        let [frames, inner @ ..] = region.axes() else { return Err(gone()) };
        let counts: Vec<u64> = region.axes().iter().map(|axis| axis.count).collect();
        let each = inner.iter().fold(1, |len: u64, axis| len.saturating_mul(axis.count));
        let mut bytes: Vec<u8> = try_zeroed_vec(frames.count.saturating_mul(each), &options.limits)?;
        let each = usize::try_from(each).unwrap_or(usize::MAX);
        if !bytes.is_empty() {
            let chosen =
                Frames { step: if frames.count == 1 { 1 } else { frames.step }, ..Frames::from(frames) };
            let name = self.file.names().get(id).ok_or_else(gone)?;
            let stack = StackedChunks::with_gaps(&self.file, &name, &chosen, &first)?;
            for (slot, part) in bytes.chunks_exact_mut(each).enumerate() {
                options.limits.stop.check()?;
                part.fill(stack.chunk_offset(slot).is_none().into());
            }
        }
        selected(Array::new(DType::native(Kind::Bool, 1), counts, Order::C, bytes.into())?, region)
    }

    fn read_chunk(&self, entry: &IndexEntry, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let mut stored = self.file.stored_array(entry)?;
        stored.shape = self.datasets.name_stats.shape_of(&self.file, entry)?;
        stored.read(self.file.source(), region, &options.limits, options.threads)
    }
}

/// An array of the region's counts without the axes that the region drops.
fn selected<'a>(array: Array<'a>, region: &Region) -> Result<Array<'a>> {
    let axes = region.axes().iter().map(|axis| AxisSelection { start: 0, step: 1, ..*axis }).collect();
    let kept = Region::new(axes, array.shape())?;
    array.select(&kept)
}

impl Container for GsdContainer {
    fn about(&self) -> About {
        About {
            format: FORMAT.name,
            version: Some(self.file.header().gsd_version.to_string()),
            size: self.file.layout().file_len(),
            complete: self.file.layout().is_complete() && !check::lacks_all_entries(&self.file, &self.limits),
            details: info::details(&self.file, &self.datasets.name_stats, &self.limits),
        }
    }

    fn meta(&self) -> Result<Value> {
        info::meta(&self.file)
    }

    fn datasets(&self) -> &[Dataset] {
        self.datasets.ready()
    }

    fn dataset_count(&self) -> usize {
        // The log as a table repeats listed data, so it is not listed.
        self.datasets.count()
    }

    fn listed_count(&self) -> usize {
        self.datasets.listed_count()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        if self.is_log(index) {
            return self.log().ok().flatten().map(|log| Cow::Borrowed(log.dataset()));
        }
        if let Some(derived) = self.default_dataset(index) {
            return derived.dataset(&self.file, &self.datasets).map(Cow::Owned);
        }
        self.datasets.dataset(&self.file, index)
    }

    fn find(&self, path: &str) -> Option<usize> {
        let found = self.datasets.find(&self.file, path);
        let log = || (path == log_records::PATH && self.may_log()).then(|| self.datasets.count());
        let derived = || {
            let derived = DefaultDataset::parse(&self.file, &self.datasets.name_stats, path)?;
            derived.stack(&self.file, &self.datasets)?;
            self.datasets.count().checked_add(1)?.checked_add(derived.number()?)
        };
        found.or_else(log).or_else(derived)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        if self.is_log(index) {
            let log = self.log()?.ok_or_else(|| Error::usage("the file has no log table"))?;
            return log.array()?.select(region);
        }
        if let Some(derived) = self.default_dataset(index) {
            return self.read_derived(derived, region, options);
        }
        match self.datasets.stored(&self.file, index) {
            Some(StoredDataset::Stacked(id)) => self.read_stacked(id, region, options),
            Some(StoredDataset::Chunk(entry)) => self.read_chunk(&entry, region, options),
            None => Err(Error::usage(format!("no dataset {index}"))),
        }
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        if self.is_log(index) {
            let Some(mask) = self.log()?.map(LogRecords::mask).transpose()?.flatten() else {
                return Ok(None);
            };
            let part = mask.select(region)?;
            let bytes = part.bytes(Order::C, &options.limits)?.into_owned();
            return Array::new(part.dtype().clone(), part.shape().to_vec(), Order::C, bytes.into()).map(Some);
        }
        match self.default_dataset(index) {
            Some(DefaultDataset::Partly(id)) => self.partly_mask(id, region, options).map(Some),
            _ => Ok(None),
        }
    }
}

impl FileStructure for GsdContainer {
    fn may_lack_datasets(&self) -> bool {
        true
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        self.chunks().iter().map(|chunk| chunk as &dyn Block).collect()
    }

    fn byte_map(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let push = |segment| {
            segments.push(segment);
            Ok(())
        };
        let mut push = push;
        // An error while reading a gap ends the map.
        let _ = self.for_each_segment(&mut push);
        segments
    }

    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        let visit = |range, part| look(byte_map::segment(&self.file, range, &part));
        byte_map::walk(&self.file, &self.limits, visit, |_, _, _, _| {})
    }

    fn checksums(&self) -> BTreeSet<String> {
        BTreeSet::new()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        let again = || File::from_source(Box::new(Arc::clone(&self.source)), &self.options);
        let subject = CheckTarget {
            file: &self.file,
            name_stats: &self.datasets.name_stats,
            chunks: self.chunks(),
            again: &again,
        };
        check::check(&subject, depth, options, progress)
    }
}

impl Interchange for GsdContainer {
    fn left_out(&self, index: usize) -> Vec<Loss> {
        let log = if self.is_log(index) { self.log().ok().flatten() } else { None };
        log.map(|log| log.left_out().to_vec()).unwrap_or_default()
    }

    fn as_any(&self) -> Option<&dyn Any> {
        Some(&self.file)
    }

    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        let name_stats = &self.datasets.name_stats;
        let derived = || {
            let derived = DefaultDataset::parse(&self.file, name_stats, &dataset.path);
            matches!(derived, Some(DefaultDataset::Stacked(_) | DefaultDataset::Partly(_)))
        };
        self.datasets.ready().iter().any(|own| own.path == dataset.path) || derived()
    }

    fn losses(&self) -> Vec<Loss> {
        let header = self.file.header();
        let what = format!(
            "application {:?}, schema {:?} {}",
            header.application_name(),
            header.schema_name(),
            header.schema_version
        );
        vec![Loss { dataset: None, what }]
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        metadata::of_file(&self.file, &self.datasets, selection)
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        let what = "names of chunks that are not UTF-8 or duplicates, and the frames that store them";
        let hidden =
            "application, schema and frames: the metadata of the file have a key \"gsd\" of their own";
        let told =
            [(!metadata::has_clear_names(&self.file), what), (metadata::is_hidden(&self.file), hidden)];
        let told = told.into_iter().filter(|(is_told, _)| *is_told);
        let told = told.map(|(_, what)| Loss { dataset: None, what: what.to_owned() });
        told.chain(selection.iter().flat_map(|(index, _)| self.left_out(*index))).collect()
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
