//! Results of checks by chunk: chunks that share bytes are checked once and counted each.

use std::collections::HashMap;

use container_core::Result;

use crate::File;
use crate::hoomd::Problem;
use crate::hoomd::read::field_at;
use crate::index::IndexEntry;

/// Number of results that are kept. A file with more distinct ranges has small ones, which are quickly read again.
const MAX_REMEMBERED: usize = 1 << 14;

/// The kind of check of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum ChunkCheck {
    Finite,
    Text,
    Outside,
    Ids,
    /// The largest tag.
    Tags,
    /// Number of rows of text, or of shapes.
    Count,
}

/// One check of some bytes: everything that its result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct CheckedChunk {
    check: ChunkCheck,
    field: usize,
    location: i64,
    n: u64,
    m: u32,
    type_code: u8,
    /// Number of rows required, number of types, or the box, as bits.
    parameters: [u64; 8],
}

impl CheckedChunk {
    pub(crate) fn new(check: ChunkCheck, field: usize, entry: &IndexEntry) -> Self {
        let IndexEntry { location, n, m, type_code, .. } = *entry;
        Self { check, field, location, n, m, type_code, parameters: [0; 8] }
    }

    pub(crate) fn with_parameters(mut self, values: impl IntoIterator<Item = u64>) -> Self {
        self.parameters.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        self
    }
}

/// Problems, equal ones of several frames counted together.
#[derive(Debug, Default)]
pub(crate) struct ValidationCache {
    pub(crate) problems: Vec<Problem>,
    pub(crate) frame: u64,
    /// Places of the problems of a chunk, by its name.
    places: HashMap<String, Vec<usize>>,
    /// The code of the problem that a check found.
    results: HashMap<CheckedChunk, Option<&'static str>>,
    numbers: HashMap<CheckedChunk, Option<u64>>,
    /// Types of frame 0's chunks, by id.
    initial: Option<HashMap<u16, IndexEntry>>,
}

impl ValidationCache {
    pub(crate) fn of_frame(frame: u64) -> Self {
        Self { frame, ..Self::default() }
    }

    pub(crate) fn push(&mut self, problem: Problem, entry: Option<&IndexEntry>) {
        if self.count_again(problem.code, &problem.chunk) {
            return;
        }
        let range = entry.and_then(IndexEntry::byte_range);
        self.places.entry(problem.chunk.clone()).or_default().push(self.problems.len());
        self.problems.push(Problem { frame: self.frame, range, ..problem });
    }

    pub(crate) fn push_some(&mut self, problem: Option<Problem>, entry: Option<&IndexEntry>) {
        if let Some(problem) = problem {
            self.push(problem, entry);
        }
    }

    /// Counts a problem found before.
    fn count_again(&mut self, code: &str, chunk: &str) -> bool {
        for at in self.places.get(chunk).into_iter().flatten() {
            if let Some(known) = self.problems.get_mut(*at).filter(|known| known.code == code) {
                known.frames = known.frames.saturating_add(1);
                return true;
            }
        }
        false
    }

    /// Checks a chunk. If the same bytes had the same check before, counts its problem again.
    pub(crate) fn check_once(
        &mut self,
        checked: CheckedChunk,
        entry: &IndexEntry,
        check: impl FnOnce(&mut Self) -> Result<Option<Problem>>,
    ) -> Result<()> {
        if let Some(known) = self.results.get(&checked).copied() {
            if let Some(code) = known {
                self.count_again(code, field_at(checked.field).name);
            }
            return Ok(());
        }
        let problem = check(self)?;
        if self.results.len() >= MAX_REMEMBERED {
            self.results.clear();
        }
        self.results.insert(checked, problem.as_ref().map(|problem| problem.code));
        self.push_some(problem, Some(entry));
        Ok(())
    }

    /// A number of a chunk, computed once for all entries with the same bytes; `None` for a chunk without one.
    pub(crate) fn number(
        &mut self,
        checked: CheckedChunk,
        compute: impl FnOnce() -> Result<Option<u64>>,
    ) -> Result<Option<u64>> {
        if let Some(known) = self.numbers.get(&checked) {
            return Ok(*known);
        }
        let number = compute()?;
        if self.numbers.len() >= MAX_REMEMBERED {
            self.numbers.clear();
        }
        self.numbers.insert(checked, number);
        Ok(number)
    }

    /// Frame 0's chunk of an id, of several the one that a search finds.
    pub(crate) fn frame0_entry(&mut self, file: &File, id: u16) -> Option<IndexEntry> {
        let collect = || file.found_of_frame(0).into_iter().map(|entry| (entry.id, entry)).collect();
        self.initial.get_or_insert_with(collect).get(&id).copied()
    }
}
