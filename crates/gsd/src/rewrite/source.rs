//! One source file of a rewrite: the chunks of its frames, and those that they inherit by the schema.

use std::collections::{BTreeSet, HashSet};

use container_core::{Error, Result};

use crate::file::File;
use crate::frames::Frames;
use crate::hoomd::schema::{self, Container, Field, Inherit};
use crate::index::IndexEntry;
use crate::read_buffer::ReadBuffer;
use crate::stacked::read::count_of;
use crate::writer::sequential::Plan;

/// The counted containers' N, in the order of [`Container::COUNTED`].
pub(super) type Counts = [u64; 7];

/// The role of a name of the new file.
#[derive(Clone, Copy)]
pub(super) struct NameRole {
    pub(super) inherits: Inherit,
    pub(super) field: Option<&'static Field>,
    /// The container whose N decides whether this chunk is inherited.
    pub(super) container: Option<usize>,
    /// The container whose N this chunk is.
    pub(super) counts: Option<usize>,
    pub(super) is_step: bool,
}

impl NameRole {
    pub(super) fn of(name: &[u8], schema: bool) -> Self {
        // As in trajectories, a log whose name is not UTF-8 is a log.
        let shown = String::from_utf8_lossy(name);
        let name = Some(&*shown).filter(|_| schema);
        let field = name.and_then(schema::field);
        let inherits = name.map_or(Inherit::Never, schema::inherits);
        let place = |of: Container| Container::COUNTED.iter().position(|one| *one == of);
        let container =
            field.filter(|_| inherits == Inherit::IfSameN).and_then(|field| place(field.container));
        let counts =
            Container::COUNTED.iter().position(|one| one.count_chunk().is_some_and(|n| name == Some(n)));
        Self { inherits, field, container, counts, is_step: name == Some("configuration/step") }
    }

    /// True where a frame with counts `own` inherits from a frame 0 with counts `first`.
    pub(super) fn is_inherited(&self, own: &Counts, first: &Counts) -> bool {
        match (self.inherits, self.container) {
            (Inherit::Never, _) => false,
            (Inherit::Always, _) | (Inherit::IfSameN, None) => true,
            (Inherit::IfSameN, Some(at)) => own.get(at) == first.get(at),
        }
    }
}

/// A chunk of an input under its id in the new file.
#[derive(Clone, Copy)]
pub(super) struct Chunk {
    pub(super) id: u16,
    pub(super) entry: IndexEntry,
}

pub(super) struct SourceFile<'f> {
    pub(super) file: &'f File,
    pub(super) frames: Frames,
    /// Ids in the new file; `None` for a name that is listed a second time.
    ids: Vec<Option<u16>>,
    /// Ids in this file whose chunks are left out.
    dropped: HashSet<u16>,
    /// Likely start of the entries of the next frame.
    next: usize,
    /// Frame 0's chunks, by rising id in the new file, and its counts.
    pub(super) first: Vec<Chunk>,
    pub(super) first_counts: Counts,
    pub(super) window: ReadBuffer<'f>,
    /// Reads frame 0 while the main buffer reads the other frames in sequence.
    pub(super) beside: ReadBuffer<'f>,
}

impl<'f> SourceFile<'f> {
    /// Adds the file's names to the plan, but for those that are left out.
    pub(super) fn new(
        file: &'f File,
        frames: Frames,
        plan: &mut Plan,
        meanings: &mut Vec<NameRole>,
        schema: bool,
        left_out: &BTreeSet<String>,
    ) -> Result<Self> {
        let (mut ids, mut seen, mut dropped) = (Vec::new(), HashSet::new(), HashSet::new());
        for own in (0..u16::MAX).take(file.names().len()) {
            let name = file.names().bytes(own).unwrap_or_default();
            if left_out.contains(&*String::from_utf8_lossy(name)) {
                dropped.insert(own);
                ids.push(None);
                continue;
            }
            let id = plan.name(name)?;
            if usize::from(id) == meanings.len() {
                meanings.push(NameRole::of(name, schema));
            }
            ids.push(Some(id).filter(|id| seen.insert(*id)));
        }
        let window = || ReadBuffer::new(file.source(), file.options().limits);
        let (window, beside) = (window(), window());
        let mut input = Self {
            file,
            frames,
            ids,
            dropped,
            next: 0,
            first: Vec::new(),
            first_counts: [0; 7],
            window,
            beside,
        };
        if file.nframes() > 0 {
            let mut chunks = input.chunks(0)?;
            input.first_counts = input.counts(&chunks, meanings)?;
            chunks.sort_by_key(|chunk| chunk.id);
            input.first = chunks;
        }
        Ok(input)
    }

    /// Frame 0's chunk of a name.
    pub(super) fn first(&self, id: u16) -> Option<&Chunk> {
        self.first.binary_search_by_key(&id, |chunk| chunk.id).ok().and_then(|at| self.first.get(at))
    }

    /// The chunks of a frame in file order.
    pub(super) fn chunks(&mut self, frame: u64) -> Result<Vec<Chunk>> {
        let index = self.file.index();
        let of = |at: usize| index.get(at).map(|entry| entry.frame);
        let sequential = of(self.next).is_some_and(|here| here >= frame)
            && (self.next == 0 || of(self.next - 1).is_some_and(|before| before < frame));
        let start = if sequential { self.next } else { self.file.frame_entries(frame).start };
        let mut chunks = Vec::new();
        let mut at = start;
        while let Some(entry) = index.get(at).filter(|entry| entry.frame == frame) {
            if !self.dropped.contains(&entry.id) {
                chunks.push(self.chunk(at, entry)?);
            }
            at += 1;
        }
        if of(at).is_some_and(|after| after < frame) {
            return Err(self.chunk_error(at, "its frame comes before that of an earlier entry"));
        }
        if of(at).is_some_and(|after| after >= self.file.nframes()) {
            return Err(self.chunk_error(at, "its frame comes after that of the last entry"));
        }
        self.next = at;
        chunks.sort_by_key(|chunk| (chunk.id, chunk.entry.location));
        if chunks.windows(2).any(|pair| pair[0].id == pair[1].id) {
            // The reference writes duplicates on request. The one that a search finds is kept.
            let file = self.file;
            chunks.retain(|chunk| file.find_id(frame, chunk.entry.id) == Some(chunk.entry));
            chunks.dedup_by_key(|chunk| chunk.id);
        }
        // Empty chunks share their offset with the next chunk.
        chunks.sort_by_key(|chunk| (chunk.entry.location, chunk.entry.size(), chunk.id));
        Ok(chunks)
    }

    fn chunk(&self, at: usize, entry: IndexEntry) -> Result<Chunk> {
        if let Some(problem) = self.file.layout().entry_problem(&entry) {
            return Err(self.chunk_error(at, problem));
        }
        let id = self.ids.get(usize::from(entry.id)).copied().flatten().ok_or_else(|| {
            let name = self.file.names().get(entry.id).unwrap_or_default();
            Error::unsupported(format!("the name {name:?} is listed twice, with chunks under both"))
        })?;
        Ok(Chunk { id, entry })
    }

    fn chunk_error(&self, at: usize, problem: &str) -> Error {
        let start = self.file.header().index_location.saturating_add((at as u64).saturating_mul(32));
        Error::malformed(format!("index entry {at}: {problem}"))
            .with_range(start..start.saturating_add(32))
            .with_hint("try: holdall repair")
    }

    /// The counts of a frame: stored, else frame 0's, else 0.
    pub(super) fn counts(&mut self, chunks: &[Chunk], meanings: &[NameRole]) -> Result<Counts> {
        let mut counts = self.first_counts;
        for chunk in chunks {
            let counted = meanings.get(usize::from(chunk.id)).and_then(|meaning| meaning.counts);
            if let Some(place) = counted.and_then(|at| counts.get_mut(at)) {
                *place = count_of(self.file, &chunk.entry, &mut self.window)?;
            }
        }
        Ok(counts)
    }
}
