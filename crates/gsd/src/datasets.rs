//! Index of a file's datasets by number: stacked names, then the chunks of names that do not stack, then all other chunks.
//!
//! A dataset is made on demand. The index holds one count for every 64 entries.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::OnceLock;

use container_core::container::Dataset;

use crate::file::File;
use crate::index::IndexEntry;
use crate::stacked::names::{Listing, NameStats};

/// Number of entries that one count covers.
const ENTRIES_PER_COUNT: usize = 64;

pub(crate) struct DatasetIndex {
    pub(crate) name_stats: NameStats,
    /// Ids of the names that stack.
    stacked: Vec<u16>,
    /// Their datasets.
    ready: Vec<Dataset>,
    /// Number of chunks that are listed frame by frame, and of those listed only recursively.
    apart: u64,
    recursive: u64,
    /// Before each run of entries: the number of either kind.
    counts: OnceLock<Vec<[u64; 2]>>,
}

/// The stored chunks of a dataset.
pub(crate) enum StoredDataset {
    /// The chunks of a name in all frames.
    Stacked(u16),
    /// One chunk.
    Chunk(IndexEntry),
}

impl DatasetIndex {
    pub(crate) fn new(file: &File, name_stats: NameStats) -> Self {
        let (mut stacked, mut ready, mut apart, mut recursive) = (Vec::new(), Vec::new(), 0, 0);
        for id in (0..=u16::MAX).take(name_stats.names.len()) {
            let Some(name) = name_stats.get(id) else { continue };
            match name.view {
                Listing::Stacked(_) => {
                    recursive += name.frames;
                    // Of two names with the same spelling, an address means the first.
                    if let Some(dataset) = name_stats.stacked(file, id) {
                        stacked.push(id);
                        ready.push(dataset);
                    }
                }
                Listing::Apart => apart += name.frames,
                Listing::Aside => recursive += name.frames,
                Listing::Hidden => {}
            }
        }
        Self { name_stats, stacked, ready, apart, recursive, counts: OnceLock::new() }
    }

    pub(crate) fn ready(&self) -> &[Dataset] {
        &self.ready
    }

    pub(crate) fn listed_count(&self) -> usize {
        self.ready.len().saturating_add(usize::try_from(self.apart).unwrap_or(usize::MAX))
    }

    pub(crate) fn count(&self) -> usize {
        let chunks = usize::try_from(self.apart.saturating_add(self.recursive)).unwrap_or(usize::MAX);
        self.ready.len().saturating_add(chunks)
    }

    pub(crate) fn dataset(&self, file: &File, index: usize) -> Option<Cow<'_, Dataset>> {
        match self.stored(file, index)? {
            StoredDataset::Stacked(_) => self.ready.get(index).map(Cow::Borrowed),
            StoredDataset::Chunk(entry) => self.name_stats.single(file, &entry).map(Cow::Owned),
        }
    }

    pub(crate) fn stored(&self, file: &File, index: usize) -> Option<StoredDataset> {
        if let Some(id) = self.stacked.get(index) {
            return Some(StoredDataset::Stacked(*id));
        }
        let rest = index.checked_sub(self.ready.len())? as u64;
        let (kind, nth) = if rest < self.apart { (0, rest) } else { (1, rest - self.apart) };
        self.nth(file, kind, nth).map(StoredDataset::Chunk)
    }

    pub(crate) fn find(&self, file: &File, path: &str) -> Option<usize> {
        if let Some(index) = self.ready.iter().position(|dataset| dataset.path == path) {
            return Some(index);
        }
        let (frame, name) = path.strip_prefix("frames/")?.split_once('/')?;
        let number: u64 = frame.parse().ok().filter(|number: &u64| number.to_string() == frame)?;
        // Of a name that is listed twice, the id that the frame stores.
        let named = file.names().iter().zip(0_u16..).filter(|(shown, _)| shown == name).map(|(_, id)| id);
        let mut ids = file.names().id(name).into_iter().chain(named);
        let id = ids.find(|id| file.find_id(number, *id).is_some())?;
        let at = file.find_position(number, id)?;
        let kind = self.kind(id)?;
        let counts = self.counts(file);
        let run = at / ENTRIES_PER_COUNT;
        let before = self.of_kind(file, run * ENTRIES_PER_COUNT..at, kind).count();
        let nth = counts.get(run)?[kind] + before as u64 + if kind == 1 { self.apart } else { 0 };
        usize::try_from(nth).ok()?.checked_add(self.ready.len())
    }

    /// 0 for listed chunks, 1 for those listed only recursively.
    fn kind(&self, id: u16) -> Option<usize> {
        match self.name_stats.get(id)?.view {
            Listing::Apart => Some(0),
            Listing::Stacked(_) | Listing::Aside => Some(1),
            Listing::Hidden => None,
        }
    }

    fn counts(&self, file: &File) -> &[[u64; 2]] {
        self.counts.get_or_init(|| {
            let (mut counts, mut so_far) = (Vec::new(), [0_u64; 2]);
            let hidden = file.hidden();
            for (at, entry) in file.index().iter().enumerate() {
                if at % ENTRIES_PER_COUNT == 0 {
                    counts.push(so_far);
                }
                if let Some(kind) = self.kind(entry.id).filter(|_| !hidden.contains(at)) {
                    so_far[kind] += 1;
                }
            }
            counts
        })
    }

    /// The `nth` entry of a kind.
    fn nth(&self, file: &File, kind: usize, nth: u64) -> Option<IndexEntry> {
        let counts = self.counts(file);
        let run = counts.partition_point(|before| before[kind] <= nth).checked_sub(1)?;
        let range: Range<usize> =
            run * ENTRIES_PER_COUNT..file.index().len().min(run * ENTRIES_PER_COUNT + ENTRIES_PER_COUNT);
        let skip = usize::try_from(nth - counts[run][kind]).ok()?;
        self.of_kind(file, range, kind).nth(skip)
    }

    /// The entries of a kind at some positions.
    fn of_kind(&self, file: &File, range: Range<usize>, kind: usize) -> impl Iterator<Item = IndexEntry> {
        let hidden = file.hidden();
        let entries = range.clone().zip(file.index().slice(range).iter());
        let found =
            entries.filter(move |(at, entry)| self.kind(entry.id) == Some(kind) && !hidden.contains(*at));
        found.map(|(_, entry)| entry)
    }
}
