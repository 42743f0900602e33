//! Faults and oddities: each kind with its stable code, severity and location. The message is where the fault is found: look for uses of the kind.
//! Findings that only a check has are in `check`.

use std::ops::Range;

use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind};

container_core::fault_kinds! {
    /// The index runs past the end of the file.
    IndexPastEnd = error("index_past_end", "gsd file"),
    /// The namelist runs past the end of the file, or has no room at all.
    NamelistPastEnd = error("namelist_past_end", "gsd file"),
    /// Header, index and namelist share bytes.
    BlocksOverlap = error("blocks_overlap", "gsd file"),
    /// The index has no room for an entry.
    IndexEmpty = error("index_empty", "gsd file"),
    /// A type code without a meaning.
    EntryType = error("entry_type", "gsd file"),
    /// A chunk that is not within the file.
    EntryRange = error("entry_range", "gsd file"),
    /// A frame that is not below the number of entries allocated.
    EntryFrame = error("entry_frame", "gsd file"),
    /// A name that is not in the namelist.
    EntryId = error("entry_id", "gsd file"),
    /// Flags that are set.
    EntryFlags = error("entry_flags", "gsd file"),
    /// A chunk of 0 columns, which the reference does not write and Python's reader refuses.
    EntryZeroColumns = error("entry_zero_columns", "gsd file"),
    /// An entry that comes before its predecessor.
    EntryOrder = error("entry_order", "gsd file"),
    /// Two entries of one frame and name: readers differ in which they find.
    EntryDuplicate = warning("entry_duplicate", "gsd file"),
    /// Unused slots between entries: readers differ in where the index ends.
    HoleInIndex = error("hole_in_index", "gsd file"),
    /// Bytes are set in unused slots: an entry that was not written whole.
    TailNotZero = error("tail_not_zero", "gsd file"),
    /// Two chunks share some of their bytes.
    ChunksOverlap = error("chunks_overlap", "gsd file"),
    /// A chunk lies in header, index or namelist.
    ChunkInBlock = error("chunk_in_block", "gsd file"),
    /// The last byte of the namelist is set.
    NamelistUnterminated = error("namelist_unterminated", "gsd file"),
    /// Bytes are set after the last name.
    NamelistTail = warning("namelist_tail", "gsd file"),
    /// A name that is not UTF-8.
    NameNotUtf8 = warning("name_not_utf8", "gsd file"),
    /// A name that is listed twice.
    NameDuplicate = warning("name_duplicate", "gsd file"),
    /// A name that no chunk has.
    NameUnused = note("name_unused", "gsd file"),
    /// Application or schema are not text padded with NULs.
    HeaderText = warning("header_text", "gsd file"),
    /// Reserved bytes of the header are set.
    ReservedNotZero = note("reserved_not_zero", "gsd file"),
    /// An earlier copy of the index.
    DeadIndex = note("dead_index", "gsd file"),
    /// An earlier copy of the namelist.
    DeadBytes = note("dead_bytes", "gsd file"),
    /// Data that no entry names.
    OrphanBytes = note("orphan_bytes", "gsd file"),
    /// Two entries name the same bytes.
    SharedBytes = note("shared_bytes", "gsd file"),
    /// Frames without an entry, although data lie where theirs would be.
    EntriesMissing = error("entries_missing", "gsd file"),
    /// Frames without a chunk.
    ChunklessFrames = note("chunkless_frames", "gsd file"),
    /// The last frame lacks chunks that the frames before it have.
    FramePattern = warning("frame_pattern", "gsd file"),
    /// A chunk that could not be read.
    UnreadableChunk = error("unreadable_chunk", "gsd file"),
}

/// One thing that is wrong or odd, or a run of equal ones. [`Fault::code`] is the stable name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    range: Range<u64>,
    /// Range in which it was found; equal faults in adjacent ranges are reported as one.
    place: Range<u64>,
    count: u64,
    message: String,
}

impl Fault {
    pub(crate) fn new(kind: FaultKind, range: Range<u64>, message: impl Into<String>) -> Self {
        Self { kind, place: range.clone(), range, count: 1, message: message.into() }
    }

    /// Returns the kind of the fault.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// The absolute bytes that it concerns: of the index for an entry; for what runs past the end, those that are claimed.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// Returns the number of equal faults in the range.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.count
    }

    /// The sentence for people, about the first of them.
    #[must_use]
    pub fn message(&self) -> String {
        match self.count {
            0 | 1 => self.message.clone(),
            more => format!("{} (and {} more)", self.message, more.saturating_sub(1)),
        }
    }

    /// As a finding of a check.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding::new(self.severity(), self.code(), self.message()).at(self.range())
    }

    /// As the error of an open that does not let it pass.
    #[must_use]
    pub fn error(&self) -> Error {
        Error::new(ErrorKind::Malformed(self.message().into()))
            .with_range(self.range())
            .with_context(self.kind.location())
    }
}

/// Faults as they are found: equal ones side by side become one, and of each kind only so many are kept apart.
#[derive(Clone, Debug, Default)]
pub(crate) struct Faults {
    all: Vec<Fault>,
    /// Of each kind that was met: where its last fault is, and how many there are.
    kinds: Vec<(FaultKind, usize, usize)>,
}

/// Faults of one kind that are told apart; those after are counted with the last.
const MAX_REPORTED: usize = 100;

impl Faults {
    /// Adds a fault; its sentence is made only where it is kept apart.
    pub(crate) fn add(&mut self, kind: FaultKind, range: Range<u64>, message: impl FnOnce() -> String) {
        self.add_found_at(range.clone(), kind, range, message);
    }

    /// Adds a fault that was found at `place` and concerns `range`.
    pub(crate) fn add_found_at(
        &mut self,
        place: Range<u64>,
        kind: FaultKind,
        range: Range<u64>,
        message: impl FnOnce() -> String,
    ) {
        let known = self.kinds.iter_mut().find(|(one, ..)| *one == kind);
        if let Some((_, last, count)) = known {
            if let Some(fault) = self.all.get_mut(*last)
                && (fault.place.end == place.start || *count >= MAX_REPORTED)
            {
                fault.place.end = fault.place.end.max(place.end);
                fault.range = fault.range.start.min(range.start)..fault.range.end.max(range.end);
                fault.count = fault.count.saturating_add(1);
                return;
            }
            (*last, *count) = (self.all.len(), count.saturating_add(1));
        } else {
            self.kinds.push((kind, self.all.len(), 1));
        }
        self.all.push(Fault { place, ..Fault::new(kind, range, message()) });
    }

    /// Adds a fault that is told apart as long as there is room for it.
    pub(crate) fn push(&mut self, fault: Fault) {
        let Fault { kind, range, message, .. } = fault;
        let known = self.kinds.iter().find(|(one, ..)| *one == kind);
        if known.is_none_or(|(.., count)| *count < MAX_REPORTED) {
            match self.kinds.iter_mut().find(|(one, ..)| *one == kind) {
                Some((_, last, count)) => (*last, *count) = (self.all.len(), count.saturating_add(1)),
                None => self.kinds.push((kind, self.all.len(), 1)),
            }
            self.all.push(Fault::new(kind, range, message));
        } else {
            self.add(kind, range, || message);
        }
    }

    pub(crate) fn as_slice(&self) -> &[Fault] {
        &self.all
    }

    pub(crate) fn into_vec(self) -> Vec<Fault> {
        self.all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_folded_and_kinds_bounded() {
        let mut faults = Faults::default();
        for at in 0..1000_u64 {
            faults.add(FaultKind::EntryType, at * 32..at * 32 + 32, || format!("entry {at}"));
        }
        for at in 0..1000_u64 {
            faults.add(FaultKind::EntryFlags, at * 64..at * 64 + 32, || format!("entry {at}"));
        }
        let [run, apart @ ..] = faults.as_slice() else { panic!() };
        assert_eq!((run.range(), run.count()), (0..32_000, 1000));
        assert_eq!(apart.len(), MAX_REPORTED);
        assert_eq!(apart.iter().map(Fault::count).sum::<u64>(), 1000);
        assert_eq!(apart.last().unwrap().range().end, 999 * 64 + 32);
    }

    #[test]
    fn adjacent_entry_faults_are_merged_by_claimed_range() {
        let mut faults = Faults::default();
        // Two entries side by side, whose chunks are not; then one that is apart.
        for (slot, claimed) in [(0, 900..1000), (1, 800..850), (3, 10..2000)] {
            faults.add_found_at(slot * 32..slot * 32 + 32, FaultKind::EntryRange, claimed, String::new);
        }
        let told: Vec<_> = faults.as_slice().iter().map(|fault| (fault.range(), fault.count())).collect();
        assert_eq!(told, [(800..1000, 2), (10..2000, 1)]);
    }

    #[test]
    fn faults_are_findings_and_errors_at_their_bytes() {
        let fault = Fault::new(FaultKind::EntryType, 288..320, "index entry 1: unknown type code");
        assert_eq!(
            (fault.kind(), fault.code(), fault.severity()),
            (FaultKind::EntryType, "entry_type", Severity::Error)
        );
        let finding =
            Finding::new(Severity::Error, "entry_type", "index entry 1: unknown type code").at(288..320);
        assert_eq!(fault.finding(), finding);
        let error = fault.error();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
        assert_eq!((error.range(), error.context()), (Some(288..320), Some("gsd file")));
        // A run of equal ones is told by the first.
        let mut faults = Faults::default();
        for (at, text) in [(256_u64, "one"), (288, "two"), (320, "three")] {
            faults.add(FaultKind::EntryType, at..at + 32, || text.into());
            let more = match at {
                256 => "one",
                288 => "one (and 1 more)",
                _ => "one (and 2 more)",
            };
            assert_eq!(faults.as_slice()[0].message(), more);
        }
    }

    #[test]
    fn faults_that_are_told_apart_are_bounded_in_number() {
        let mut faults = Faults::default();
        for at in 0..120_u64 {
            // Side by side, and apart nevertheless.
            faults.push(Fault::new(FaultKind::OrphanBytes, at * 10..at * 10 + 10, format!("run {at}")));
        }
        let all = faults.into_vec();
        assert_eq!((all.len(), all[0].message(), all[98].range()), (100, "run 0".to_owned(), 980..990));
        assert_eq!((all[99].range(), all[99].count()), (990..1200, 21));
        assert_eq!(all[99].message(), "run 99 (and 20 more)");
    }
}
