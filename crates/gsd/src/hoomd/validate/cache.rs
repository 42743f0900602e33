//! What a check has found, and what it has looked at: chunks that name the same bytes are looked at once, and counted each.

use std::collections::HashMap;

use container_core::Result;

use crate::File;
use crate::hoomd::Problem;
use crate::hoomd::read::field_at;
use crate::index::IndexEntry;

/// Looks that are remembered. Disjoint ranges more than these are small ones of a large file, which are soon read again.
const MAX_REMEMBERED: usize = 1 << 14;

/// What was asked of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Look {
    Finite,
    Text,
    Outside,
    Ids,
    /// The largest tag.
    Tags,
    /// How many rows of text, or shapes.
    Count,
}

/// A look at some bytes: all that its result depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Seen {
    look: Look,
    field: usize,
    location: i64,
    n: u64,
    m: u32,
    type_code: u8,
    /// Rows wanted, types there are, or the box, as bits.
    beside: [u64; 8],
}

impl Seen {
    pub(crate) fn new(look: Look, field: usize, entry: &IndexEntry) -> Self {
        let IndexEntry { location, n, m, type_code, .. } = *entry;
        Self { look, field, location, n, m, type_code, beside: [0; 8] }
    }

    pub(crate) fn beside(mut self, values: impl IntoIterator<Item = u64>) -> Self {
        self.beside.iter_mut().zip(values).for_each(|(place, value)| *place = value);
        self
    }
}

/// Problems, equal ones of several frames counted together.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) problems: Vec<Problem>,
    pub(crate) frame: u64,
    /// Places of the problems of a chunk, by its name.
    places: HashMap<String, Vec<usize>>,
    /// The code of the problem that a look had.
    looks: HashMap<Seen, Option<&'static str>>,
    numbers: HashMap<Seen, Option<u64>>,
    /// Types of frame 0's chunks, by id.
    initial: Option<HashMap<u16, IndexEntry>>,
}

impl Found {
    pub(crate) fn of_frame(frame: u64) -> Self {
        Self { frame, ..Self::default() }
    }

    pub(crate) fn push(&mut self, problem: Problem, entry: Option<&IndexEntry>) {
        if self.again(problem.code, &problem.chunk) {
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

    /// Counts a problem that is known.
    fn again(&mut self, code: &str, chunk: &str) -> bool {
        for at in self.places.get(chunk).into_iter().flatten() {
            if let Some(known) = self.problems.get_mut(*at).filter(|known| known.code == code) {
                known.frames = known.frames.saturating_add(1);
                return true;
            }
        }
        false
    }

    /// Looks at a chunk, unless its bytes were looked at for the same before: then the problem of then is counted once more.
    pub(crate) fn look(
        &mut self,
        seen: Seen,
        entry: &IndexEntry,
        look: impl FnOnce(&mut Self) -> Result<Option<Problem>>,
    ) -> Result<()> {
        if let Some(known) = self.looks.get(&seen).copied() {
            if let Some(code) = known {
                self.again(code, field_at(seen.field).name);
            }
            return Ok(());
        }
        let problem = look(self)?;
        if self.looks.len() >= MAX_REMEMBERED {
            self.looks.clear();
        }
        self.looks.insert(seen, problem.as_ref().map(|problem| problem.code));
        self.push_some(problem, Some(entry));
        Ok(())
    }

    /// A number of a chunk, computed once for all that name the same bytes; `None` where there is none.
    pub(crate) fn number(
        &mut self,
        seen: Seen,
        compute: impl FnOnce() -> Result<Option<u64>>,
    ) -> Result<Option<u64>> {
        if let Some(known) = self.numbers.get(&seen) {
            return Ok(*known);
        }
        let number = compute()?;
        if self.numbers.len() >= MAX_REMEMBERED {
            self.numbers.clear();
        }
        self.numbers.insert(seen, number);
        Ok(number)
    }

    /// Frame 0's chunk of an id, of several the one that a search finds.
    pub(crate) fn initial(&mut self, file: &File, id: u16) -> Option<IndexEntry> {
        let collect = || file.found_of_frame(0).into_iter().map(|entry| (entry.id, entry)).collect();
        self.initial.get_or_insert_with(collect).get(&id).copied()
    }
}
