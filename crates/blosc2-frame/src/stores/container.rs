//! The container of a store: the datasets of each leaf, with paths below its key.

use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use container_core::array::Array;
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, Defaults, FileStructure, Interchange, ReadOptions, Segment,
    Visibility,
};
use container_core::region::Region;
use container_core::report::{Finding, Loss, Report};
use container_core::{Error, Limits, Progress, Result, Value};

use super::ctable::{self, Rows, Table, TableColumn, Texts};
use super::leaf::{Leaf, Leaves, Role};
use super::{byte_map, check, describe};
use crate::dataset_view::DATASET;

/// Codes of findings about leaves that were not found.
const HIDING_CODES: [&str; 4] = ["embed_map", "embed_data", "store_depth", "store_unlisted"];

/// A store.
pub(crate) struct Store {
    /// Kind of store: `b2z`, `b2d`, `b2e`.
    pub(crate) kind: Kind,
    /// Bytes of all its files.
    pub(crate) size: u64,
    /// The leaves, by their keys.
    pub(crate) leaves: Vec<Leaf>,
    pub(crate) references: Vec<(String, String)>,
    pub(crate) findings: Vec<Finding>,
    /// The tables in it.
    pub(crate) tables: Vec<Table>,
    /// The columns of tables that are shown, by the index of their leaf.
    pub(crate) columns: HashMap<usize, TableColumn>,
    defaults: Defaults,
    limits: Limits,
    /// The live rows of each table, once they have been read.
    rows: Vec<OnceLock<Arc<Rows>>>,
    /// The texts of the column that was read last, by the key of its leaf.
    texts: Mutex<Option<(String, Arc<Texts>)>>,
    /// Datasets that are listed, and those that only a recursive listing shows.
    listed: Spans,
    hidden: Spans,
    keys: HashMap<String, usize>,
    /// The datasets of leaves that are one array, by their index.
    ready: OnceLock<Vec<Dataset>>,
    blocks: OnceLock<Vec<byte_map::Stored>>,
}

/// Storage of a store.
pub(crate) enum Kind {
    /// A zip file of frames.
    Zip(byte_map::Zip),
    /// A directory of frames.
    Directory,
    /// One frame that holds the others.
    Embed,
}

impl Kind {
    pub(crate) const fn name(&self) -> &'static str {
        match self {
            Self::Zip(_) => "b2z",
            Self::Directory => "b2d",
            Self::Embed => "b2e",
        }
    }
}

/// Indices of each leaf: leaf, its first own index, and the index that this has in the store.
#[derive(Default)]
struct Spans {
    spans: Vec<(usize, usize, usize)>,
    count: usize,
}

impl Spans {
    fn push(&mut self, leaf: usize, from: usize, count: usize) {
        if count > 0 {
            self.spans.push((leaf, from, self.count));
            self.count = self.count.saturating_add(count);
        }
    }

    /// Returns leaf and own index of an index.
    fn get(&self, index: usize) -> Option<(usize, usize)> {
        if index >= self.count {
            return None;
        }
        let at = self.spans.partition_point(|(_, _, start)| *start <= index).checked_sub(1)?;
        let (leaf, from, start) = self.spans.get(at)?;
        Some((*leaf, from.checked_add(index.checked_sub(*start)?)?))
    }

    /// Returns the index of a leaf's own index, if it is one of these.
    fn find(&self, leaf: usize, own: usize) -> Option<usize> {
        let at = self.spans.binary_search_by_key(&leaf, |(leaf, _, _)| *leaf).ok()?;
        let (_, from, start) = self.spans.get(at)?;
        let index = start.checked_add(own.checked_sub(*from)?)?;
        (index < self.spans.get(at + 1).map_or(self.count, |(_, _, next)| *next)).then_some(index)
    }
}

impl Store {
    /// Creates a store of these leaves.
    ///
    /// # Errors
    /// Those of the source, for the metadata of tables.
    pub(crate) fn new(kind: Kind, size: u64, found: Leaves<'_>) -> Result<Self> {
        let Leaves { options, mut leaves, references, mut findings, .. } = found;
        let (defaults, limits) = (options.defaults, options.limits);
        // Stable, so that of two leaves of one key the one that readers find stays the first.
        leaves.sort_by(|a, b| a.key.cmp(&b.key));
        let mut keys: HashMap<String, usize> = HashMap::new();
        let tables = ctable::find(&leaves)?;
        for (at, leaf) in leaves.iter_mut().enumerate() {
            if keys.contains_key(&leaf.key) {
                findings.push(check::double(leaf));
                // Nothing is hidden: the other one is found under its file's name.
                leaf.key.clone_from(&leaf.file);
                if keys.contains_key(&leaf.key) {
                    leaf.key = format!("{}#{at}", leaf.file);
                }
            }
            keys.insert(leaf.key.clone(), at);
        }
        let shows_tables = defaults == Defaults::Apply;
        let columns = if shows_tables { ctable::columns(&tables, &leaves, &keys) } else { HashMap::new() };
        let (mut listed, mut hidden) = (Spans::default(), Spans::default());
        for (at, leaf) in leaves.iter().enumerate().filter(|(_, leaf)| leaf.role == Role::Data) {
            if let Some(column) = columns.get(&at) {
                let is_extra = column.own >= leaf.count;
                let others = if is_extra { 0..leaf.count } else { column.own + 1..leaf.count };
                if column.refusal().is_none() {
                    listed.push(at, column.own, 1);
                    hidden.push(at, others.start, others.len());
                } else {
                    hidden.push(at, 0, leaf.count.saturating_add(usize::from(is_extra)));
                }
                continue;
            }
            let is_shown = ctable::is_listed(&tables, &leaf.key)
                && !(shows_tables && ctable::is_part(&tables, &leaf.key));
            let shown = if is_shown { leaf.listed } else { 0 };
            listed.push(at, 0, shown);
            hidden.push(at, shown, leaf.count.saturating_sub(shown));
        }
        let rows = tables.iter().map(|_| OnceLock::new()).collect();
        let (ready, blocks, texts) = (OnceLock::new(), OnceLock::new(), Mutex::new(None));
        Ok(Self {
            kind,
            size,
            leaves,
            references,
            findings,
            tables,
            columns,
            defaults,
            limits,
            rows,
            texts,
            listed,
            hidden,
            keys,
            ready,
            blocks,
        })
    }

    /// Whether columns are shown as their tables have them, rather than as they are stored.
    pub(crate) fn shows_tables(&self) -> bool {
        self.defaults == Defaults::Apply
    }

    /// Returns the column that a dataset of a leaf is.
    fn column(&self, leaf: usize, own: usize) -> Option<&TableColumn> {
        self.columns.get(&leaf).filter(|column| column.own == own)
    }

    /// Returns the column that the dataset of an index is.
    pub(crate) fn column_of(&self, index: usize) -> Option<&TableColumn> {
        let (leaf, own) = self.place(index)?;
        self.column(leaf, own)
    }

    /// Returns the live rows of a table.
    ///
    /// # Errors
    /// `Malformed` for a table without a record of them; those of reading it.
    pub(crate) fn rows(&self, table: usize) -> Result<Arc<Rows>> {
        let missing = || Error::malformed("the table has no _valid_rows, which marks its live rows");
        let (cell, table) = self.rows.get(table).zip(self.tables.get(table)).ok_or_else(missing)?;
        if let Some(rows) = cell.get() {
            return Ok(Arc::clone(rows));
        }
        let leaf = self.leaf(&table.live_rows_key()).ok_or_else(missing)?;
        let rows =
            leaf.error_copy("").map_or_else(|| Rows::read(&*leaf.open()?, 0, &self.read_options()), Err);
        let rows =
            rows.map_err(|error| check::in_place(error, &leaf.place).with_context("live rows of the table"))?;
        Ok(Arc::clone(cell.get_or_init(|| Arc::new(rows))))
    }

    /// Returns the texts of the column of a leaf, which `read` reads unless it was the last one.
    ///
    /// # Errors
    /// Those of `read`.
    pub(crate) fn texts_of(&self, leaf: &Leaf, read: impl FnOnce() -> Result<Texts>) -> Result<Arc<Texts>> {
        let mut held = self.texts.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, texts)) = held.as_ref().filter(|(key, _)| *key == leaf.key) {
            return Ok(Arc::clone(texts));
        }
        *held = None;
        let texts = Arc::new(read()?);
        *held = Some((leaf.key.clone(), Arc::clone(&texts)));
        Ok(texts)
    }

    /// Returns the leaf at an index.
    ///
    /// # Errors
    /// `Usage` for an index past the end.
    pub(crate) fn leaf_at(&self, index: usize) -> Result<&Leaf> {
        self.leaves.get(index).ok_or_else(|| Error::usage("no such leaf"))
    }

    /// Returns the options for what a table needs to be described.
    pub(crate) fn read_options(&self) -> ReadOptions {
        ReadOptions::default().with_limits(self.limits)
    }

    /// Returns the first datasets, until one that its leaf makes on demand.
    fn first_ready(&self) -> Vec<Dataset> {
        let mut ready = Vec::new();
        for index in 0..self.listed.count {
            let held = |(leaf, own): (usize, usize)| {
                let container = self.leaves.get(leaf)?.container()?;
                match self.column(leaf, own) {
                    // All texts are read to find their type, which is deferred until it is needed.
                    Some(column) => (!column.is_text()).then_some(()),
                    None => container.datasets().get(own).map(|_| ()),
                }
            };
            let Some(own) = self.place(index).filter(|place| held(*place).is_some()) else { break };
            let Some(dataset) = self.make(own) else { break };
            ready.push(dataset);
        }
        ready
    }

    /// Returns leaf and own index of an index.
    pub(crate) fn place(&self, index: usize) -> Option<(usize, usize)> {
        match index.checked_sub(self.listed.count) {
            None => self.listed.get(index),
            Some(index) => self.hidden.get(index),
        }
    }

    fn make(&self, (at, own): (usize, usize)) -> Option<Dataset> {
        let leaf = self.leaves.get(at)?;
        let column = self.column(at, own);
        let mut dataset = match column {
            Some(column) => column.dataset(self, leaf)?,
            None => leaf.container()?.dataset(own)?.into_owned(),
        };
        dataset.path = path_of(&leaf.key, &dataset.path);
        if self.listed.find(at, own).is_none() {
            dataset.visibility = Visibility::Recursive;
        }
        describe::add_attributes(self, leaf, column.is_some(), &mut dataset);
        Some(dataset)
    }

    /// Returns the leaf of a key.
    pub(crate) fn leaf(&self, key: &str) -> Option<&Leaf> {
        self.leaves.get(*self.keys.get(key)?)
    }
}

/// Returns the path in the store of the dataset that the leaf calls `own`.
pub(crate) fn path_of(key: &str, own: &str) -> String {
    if own == DATASET { key.to_owned() } else { format!("{key}/{own}") }
}

impl Container for Store {
    fn about(&self) -> About {
        About {
            format: super::FORMAT,
            version: None,
            size: self.size,
            // A leaf that a disk does not give may be whole.
            complete: self.leaves.iter().all(|leaf| match leaf.open() {
                Ok(container) => container.about().complete,
                Err(error) => leaf.error().unwrap_or(&error).is_interruption(),
            }),
            details: describe::details(self),
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(describe::meta(self))
    }

    fn logical_meta(&self) -> Result<Value> {
        Ok(describe::logical_meta(self))
    }

    fn datasets(&self) -> &[Dataset] {
        self.ready.get_or_init(|| self.first_ready())
    }

    fn dataset_count(&self) -> usize {
        self.listed.count.saturating_add(self.hidden.count)
    }

    fn listed_count(&self) -> usize {
        self.listed.count
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        if let Some(dataset) = self.ready.get().and_then(|ready| ready.get(index)) {
            return Some(Cow::Borrowed(dataset));
        }
        self.make(self.place(index)?).map(Cow::Owned)
    }

    /// Finds a dataset by the key, with or without the slash that keys begin with in python-blosc2; else by the name of a
    /// column.
    fn find(&self, path: &str) -> Option<usize> {
        let path = path.strip_prefix('/').unwrap_or(path);
        let index = |at: usize, own: &str| {
            let column = self.columns.get(&at).filter(|_| own == DATASET).map(|column| column.own);
            let own = column.or_else(|| self.leaves.get(at)?.container()?.find(own))?;
            let hidden = || Some(self.listed.count.saturating_add(self.hidden.find(at, own)?));
            self.listed.find(at, own).or_else(hidden)
        };
        if let Some(found) = self.keys.get(path).and_then(|at| index(*at, DATASET)) {
            return Some(found);
        }
        let below = path.rmatch_indices('/').find_map(|(slash, _)| {
            let (key, own) = path.split_at_checked(slash)?;
            index(*self.keys.get(key)?, own.get(1..)?)
        });
        below.or_else(|| index(*self.keys.get(&ctable::column_key(path))?, DATASET))
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        // Texts of a column that are held are copied without another check.
        options.limits.stop.check()?;
        let (at, own) = self.place(index).ok_or_else(|| Error::usage(format!("no dataset {index}")))?;
        let leaf = self.leaf_at(at)?;
        if let Some(column) = self.column(at, own) {
            return column.read(self, leaf, region, options);
        }
        let container = leaf.open()?;
        let read = container.read(own, region, options).and_then(|array| array.into_owned(&options.limits));
        read.map_err(|error| check::in_place(error, &leaf.place))
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        let Some((at, column)) = self.place(index).and_then(|(at, own)| Some((at, self.column(at, own)?)))
        else {
            return Ok(None);
        };
        column.mask(self, self.leaf_at(at)?, region, options)
    }

    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        let (at, own) = self.place(index)?;
        let leaf = self.leaves.get(at)?;
        if let Some(column) = self.column(at, own) {
            return column.absence(self, leaf, region);
        }
        leaf.container()?.absence(own, region).map(|error| check::in_place(error, &leaf.place))
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        let (at, own) = self.place(index)?;
        let leaf = self.leaves.get(at)?;
        match self.column(at, own) {
            Some(column) => column.repeated(self, leaf, region),
            None => leaf.container()?.repeated(own, region),
        }
    }
}

impl FileStructure for Store {
    fn unlisted(&self) -> Box<dyn Iterator<Item = (String, Error)> + '_> {
        let of_leaf = |leaf: &Leaf| {
            let error = leaf.error_copy(&format!("{} cannot be read: ", leaf.key))?;
            Some((leaf.key.clone(), check::in_place(error, &leaf.place)))
        };
        // Leaves of an EmbedStore or a directory that were not found for its damage.
        let is_hiding = |finding: &&Finding| HIDING_CODES.contains(&finding.code);
        let of_finding = |finding: &Finding| {
            let error = Error::malformed(finding.message.clone());
            let error = finding.range.clone().into_iter().fold(error, Error::with_range);
            (String::new(), finding.part.clone().into_iter().fold(error, Error::in_file))
        };
        let others = self.findings.iter().filter(is_hiding).map(of_finding);
        Box::new(self.leaves.iter().filter_map(of_leaf).chain(others))
    }

    fn notices(&self) -> Vec<String> {
        ctable::notices(self)
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        self.blocks.get_or_init(|| byte_map::blocks(self)).iter().map(|block| block as &dyn Block).collect()
    }

    fn has_small_blocks(&self, most: u64) -> bool {
        let own = self.leaves.iter().filter(|leaf| leaf.place.inside.is_none());
        own.filter_map(Leaf::container).all(|container| container.has_small_blocks(most))
    }

    fn byte_map(&self) -> Vec<Segment> {
        let mut segments = Vec::new();
        let mut push = |segment| {
            segments.push(segment);
            Ok(())
        };
        // Only `push` could fail.
        let _ = byte_map::for_each_segment(self, &mut push);
        segments
    }

    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        byte_map::for_each_segment(self, look)
    }

    fn checksums(&self) -> BTreeSet<String> {
        let containers = self.leaves.iter().filter_map(Leaf::container);
        let own = matches!(self.kind, Kind::Zip(_)).then(|| byte_map::CRC.to_owned());
        containers.flat_map(|container| container.checksums()).chain(own).collect()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        check::check(self, depth, options, progress)
    }
}

impl Interchange for Store {
    fn losses(&self) -> Vec<Loss> {
        describe::losses(self)
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        describe::carried(self, selection)
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        describe::unexported_metadata(self, selection)
    }
}

/// Clips a byte range of a leaf to the range of the leaf in a shared file.
pub(crate) fn clip(range: &Range<u64>, within: &Range<u64>) -> Option<Range<u64>> {
    let clipped = range.start.max(within.start)..range.end.min(within.end);
    (clipped.start < clipped.end).then_some(clipped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indices_go_to_leaves_and_back() {
        let mut spans = Spans::default();
        spans.push(0, 0, 1);
        spans.push(2, 3, 4);
        spans.push(3, 0, 0);
        spans.push(5, 0, 2);
        let places: Vec<_> = (0..8).map(|index| spans.get(index)).collect();
        let want = [(0, 0), (2, 3), (2, 4), (2, 5), (2, 6), (5, 0), (5, 1)];
        assert_eq!(places[..7], want.map(Some));
        assert_eq!(places[7], None);
        for (index, (leaf, own)) in want.into_iter().enumerate() {
            assert_eq!(spans.find(leaf, own), Some(index));
        }
        for (leaf, own) in [(0, 1), (1, 0), (2, 2), (2, 7), (3, 0), (5, 2)] {
            assert_eq!(spans.find(leaf, own), None, "{leaf} {own}");
        }
    }
}
