//! Plans, frame by frame, the chunks of the new file, so that each frame reads as before.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use container_core::format::Output;
use container_core::report::Loss;
use container_core::{Limits, Progress, Result};

use super::chunk_data::{Data, equal};
use super::source::{Chunk, Counts, NameRole, SourceFile};
use super::{RedundantChunks, RewriteOptions, RewriteReport};
use crate::ChunkType;
use crate::file::File;
use crate::frames::Frames;
use crate::hoomd::schema::{Fit, Inherit};
use crate::index::IndexEntry;
use crate::late_logs::{Logs, added};
use crate::writer::sequential::Plan;

/// A chunk of the new file.
struct Item {
    id: u16,
    chunk_type: ChunkType,
    n: u64,
    m: u32,
    data: Data,
}

impl Item {
    fn copy(input: usize, chunk: &Chunk) -> Self {
        let IndexEntry { n, m, .. } = chunk.entry;
        // Entries without a valid type have been refused.
        let chunk_type = chunk.entry.chunk_type().unwrap_or(ChunkType::Uint8);
        Self { id: chunk.id, chunk_type, n, m, data: Data::Chunk { input, entry: chunk.entry } }
    }
}

/// The new frame 0.
#[derive(Default)]
struct Base {
    /// By id: the input that each chunk is of, and its entry there.
    chunks: BTreeMap<u16, (usize, IndexEntry)>,
    counts: Counts,
    /// Set where it is frame 0 of an input: chunks that frames inherit from it are inherited unchanged.
    same_as: Option<usize>,
}

pub(super) struct FramePlan<'f> {
    inputs: Vec<SourceFile<'f>>,
    plan: Plan,
    meanings: Vec<NameRole>,
    redundant_chunks: RedundantChunks,
    schema: bool,
    base: Base,
    /// Whether frame 0's chunk of an input is equal to that of the base, by input and id.
    same: HashMap<(usize, u16), bool>,
    /// Whether each redundant chunk is left out, in the order in which they are found.
    drops: Vec<bool>,
    dropped: u64,
    added: u64,
    /// Logs that frames will appear to have, by id: the first frame, and the number of frames.
    gained: BTreeMap<u16, (u64, u64)>,
    /// Frames without chunks at the end.
    unseen: u64,
    /// The notice for logs that the new frame 0 lacks.
    late: Vec<Loss>,
}

impl<'f> FramePlan<'f> {
    pub(super) fn new(
        parts: &[(&'f File, Frames)],
        mut plan: Plan,
        options: &RewriteOptions,
    ) -> Result<Self> {
        let schema = parts.first().is_some_and(|(file, _)| options.defaults.applies(file));
        let mut meanings = Vec::new();
        let (dropped, late) = if schema { late_logs(parts, options)? } else { Default::default() };
        let inputs: Result<Vec<_>> = parts
            .iter()
            .map(|(file, frames)| SourceFile::new(file, *frames, &mut plan, &mut meanings, schema, &dropped))
            .collect();
        Ok(Self {
            inputs: inputs?,
            plan,
            meanings,
            redundant_chunks: options.redundant_chunks,
            schema,
            base: Base::default(),
            same: HashMap::new(),
            drops: Vec::new(),
            dropped: 0,
            added: 0,
            gained: BTreeMap::new(),
            unseen: 0,
            late,
        })
    }

    /// Lays the file out, and writes it.
    pub(super) fn run(mut self, out: &mut dyn Output, progress: Progress<'_>) -> Result<RewriteReport> {
        let frames: u64 = self.inputs.iter().map(|input| input.frames.count).sum();
        let mut plan = self.plan.clone();
        let mut frame = 0;
        self.each(Pass::Plan, &mut |_, items| {
            for Item { id, chunk_type, n, m, .. } in items {
                plan.chunk(frame, *id, *chunk_type, *n, *m)?;
            }
            frame += 1;
            Ok(())
        })?;
        let (chunks, file_len) = (plan.chunks() as u64, plan.file_len());
        out.reserve(file_len)?;
        let limits = self.inputs.first().map_or_else(Limits::default, |input| input.file.options().limits);
        let mut emitter = plan.emit(out, &limits)?;
        let (mut done, mut told) = (0, 0);
        self.each(Pass::Write, &mut |inputs, items| {
            for item in items {
                item.data.pieces(inputs, &mut |bytes| {
                    done += bytes.len() as u64;
                    if done - told > 1 << 20 {
                        told = done;
                        progress.tick(done, file_len)?;
                    }
                    emitter.write(bytes)
                })?;
            }
            Ok(())
        })?;
        emitter.finish()?;
        progress.tick(file_len, file_len)?;
        let losses = self.losses();
        Ok(RewriteReport {
            frames: frames - self.unseen,
            chunks,
            dropped: self.dropped,
            added: self.added,
            file_len,
            losses,
        })
    }

    fn losses(&self) -> Vec<Loss> {
        let gained = self.gained.iter().map(|(id, (first, count))| {
            let name = self.plan.name_of(*id).unwrap_or_default();
            let what = format!(
                "{count} frames, the first is {first}, had no such log: they now read that of frame 0"
            );
            Loss { dataset: Some(String::from_utf8_lossy(name).into_owned()), what }
        });
        let unseen = (self.unseen > 0).then(|| {
            let what = match self.unseen {
                1 => "the last frame has no chunks, and readers do not see it".to_owned(),
                count => format!("the last {count} frames have no chunks, and readers do not see them"),
            };
            Loss { dataset: None, what }
        });
        gained.chain(unseen).chain(self.late.iter().cloned()).collect()
    }

    /// Calls `visit` with the chunks of each new frame.
    fn each(&mut self, pass: Pass, visit: &mut Visit<'_, 'f>) -> Result<()> {
        let total: u64 = self.inputs.iter().map(|input| input.frames.count).sum();
        self.unseen = 0;
        let mut decided = std::mem::take(&mut self.drops).into_iter();
        let mut new = 0;
        for at in 0..self.inputs.len() {
            let frames = self.inputs[at].frames;
            for frame in (0..frames.count).filter_map(|slot| frames.frame(slot)) {
                let stored = self.inputs[at].chunks(frame)?;
                let counts = self.inputs[at].counts(&stored, &self.meanings)?;
                let mut items = if new == 0 {
                    self.start(at, frame, &stored, counts)
                } else {
                    let mut items = self.stored(at, &stored, &counts, pass, &mut decided)?;
                    self.gaps(at, new, &stored, &counts, pass, &mut items)?;
                    if let Some(chunk) = stored.last().filter(|_| items.is_empty()) {
                        // One chunk stays, so that readers see the last frame.
                        items.push(Item::copy(at, chunk));
                        self.dropped -= u64::from(pass == Pass::Plan);
                    }
                    items
                };
                if items.is_empty() && new + 1 == total {
                    items.extend(self.placeholder_chunk(at, &counts));
                }
                self.unseen = if items.is_empty() { self.unseen + 1 } else { 0 };
                visit(&mut self.inputs, &items)?;
                new += 1;
            }
        }
        Ok(())
    }

    /// The new frame 0: its stored and its inherited chunks.
    fn start(&mut self, at: usize, frame: u64, stored: &[Chunk], counts: Counts) -> Vec<Item> {
        let input = &self.inputs[at];
        let mut items: Vec<Item> = stored.iter().map(|chunk| Item::copy(at, chunk)).collect();
        if frame != 0 {
            let inherited = input.first.iter().filter(|chunk| {
                let meaning = &self.meanings[usize::from(chunk.id)];
                meaning.is_inherited(&counts, &input.first_counts) && !stores(stored, chunk.id)
            });
            items.extend(inherited.map(|chunk| Item::copy(at, chunk)));
        }
        let chunks = items.iter().filter_map(|item| match &item.data {
            Data::Chunk { input, entry } => Some((item.id, (*input, *entry))),
            Data::Pattern(..) => None,
        });
        self.base = Base { chunks: chunks.collect(), counts, same_as: (frame == 0).then_some(at) };
        items
    }

    /// Lists the chunks that a frame stores, without those that it inherits anyway.
    fn stored(
        &mut self,
        at: usize,
        stored: &[Chunk],
        counts: &Counts,
        pass: Pass,
        decided: &mut impl Iterator<Item = bool>,
    ) -> Result<Vec<Item>> {
        let mut items = Vec::with_capacity(stored.len());
        for chunk in stored {
            let meaning = self.meanings[usize::from(chunk.id)];
            let base = self.base.chunks.get(&chunk.id).copied();
            // gsd.hoomd, up to 5.0.1 at least, fails to read a frame that inherits a text.
            let is_text = chunk.entry.chunk_type() == Some(ChunkType::Character);
            let free = self.redundant_chunks == RedundantChunks::Drop && !meaning.is_step && !is_text;
            let base = base.filter(|_| free && meaning.is_inherited(counts, &self.base.counts));
            if let Some((of, entry)) = base {
                let drop = match pass {
                    Pass::Plan => equal(&mut self.inputs, (at, &chunk.entry), (of, &entry))?,
                    Pass::Write => decided.next().unwrap_or(false),
                };
                if pass == Pass::Plan {
                    self.drops.push(drop);
                    self.dropped += u64::from(drop);
                }
                if drop {
                    continue;
                }
            }
            items.push(Item::copy(at, chunk));
        }
        Ok(items)
    }

    /// Adds the values that a frame inherited, or had by default, and would lose.
    fn gaps(
        &mut self,
        at: usize,
        new: u64,
        stored: &[Chunk],
        counts: &Counts,
        pass: Pass,
        items: &mut Vec<Item>,
    ) -> Result<()> {
        if !self.schema || self.base.same_as == Some(at) {
            return Ok(());
        }
        let before = items.len();
        let firsts = self.inputs[at].first.iter().map(|chunk| chunk.id);
        let mut ids: Vec<u16> = self.base.chunks.keys().copied().chain(firsts).collect();
        ids.sort_unstable();
        ids.dedup();
        for id in ids {
            let meaning = self.meanings[usize::from(id)];
            if meaning.inherits == Inherit::Never || stores(stored, id) {
                continue;
            }
            let input = &self.inputs[at];
            let old = input.first(id).filter(|_| meaning.is_inherited(counts, &input.first_counts)).copied();
            let base = self.base.chunks.get(&id).copied();
            let base = base.filter(|_| meaning.is_inherited(counts, &self.base.counts));
            match (old, base) {
                (Some(chunk), Some(base)) => {
                    if !self.is_same(at, &chunk, base)? {
                        items.push(Item::copy(at, &chunk));
                    }
                }
                (Some(chunk), None) => items.push(Item::copy(at, &chunk)),
                (None, Some(base)) => match self.default(at, id, &base.1, stored, counts)? {
                    Some(item) if !self.is_default(&item, base)? => items.push(item),
                    Some(_) => {}
                    None if pass == Pass::Plan => self.gained.entry(id).or_insert((new, 0)).1 += 1,
                    None => {}
                },
                (None, None) => {}
            }
        }
        if pass == Pass::Plan {
            self.added += (items.len() - before) as u64;
        }
        Ok(())
    }

    fn is_same(&mut self, at: usize, chunk: &Chunk, (of, entry): (usize, IndexEntry)) -> Result<bool> {
        if let Some(same) = self.same.get(&(at, chunk.id)) {
            return Ok(*same);
        }
        let same = equal(&mut self.inputs, (at, &chunk.entry), (of, &entry))?;
        self.same.insert((at, chunk.id), same);
        Ok(same)
    }

    /// True where the new frame 0 stores the default.
    fn is_default(&mut self, item: &Item, (of, entry): (usize, IndexEntry)) -> Result<bool> {
        let Data::Pattern(pattern, _) = &item.data else { return Ok(false) };
        if (Some(item.chunk_type), item.n, item.m) != (entry.chunk_type(), entry.n, entry.m) {
            return Ok(false);
        }
        // Shape and type are those of the one chunk of the new frame 0, so the result is the same for all frames.
        if let Some(same) = self.same.get(&(usize::MAX, item.id)) {
            return Ok(*same);
        }
        let (mut same, mut expected) = (true, pattern.iter().cycle());
        let stored = Data::Chunk { input: of, entry };
        stored.pieces(&mut self.inputs, &mut |bytes| {
            same = same && bytes.iter().zip(&mut expected).all(|(stored, default)| stored == default);
            Ok(())
        })?;
        self.same.insert((usize::MAX, item.id), same);
        Ok(same)
    }

    /// The default of a chunk, in the type that the new frame 0 has it in, if readers take it; `None` for logs, which have none.
    ///
    /// # Errors
    /// `Limit` for a default that takes more than any chunk and than the memory that readers of it would be given: a large N takes no
    /// space in a file.
    fn default(
        &self,
        at: usize,
        id: u16,
        base: &IndexEntry,
        stored: &[Chunk],
        counts: &Counts,
    ) -> Result<Option<Item>> {
        let meaning = &self.meanings[usize::from(id)];
        let Some(field) = meaning.field else { return Ok(None) };
        let n = match meaning.container {
            Some(container) => counts.get(container).copied().unwrap_or(0),
            None => self.particle_types(at, stored),
        };
        let file = self.inputs[at].file;
        let is_taken = |found: &ChunkType| field.fit(*found, file.header().schema_version) != Fit::Wrong;
        let chunk_type = base.chunk_type().filter(is_taken).unwrap_or(field.chunk_type);
        let (n, m) = field.written_shape(n);
        let row = field.default_row(chunk_type, container_core::dtype::ByteOrder::Little);
        let len = n.saturating_mul(m.into()).saturating_mul(chunk_type.size());
        if base.size().is_none_or(|size| size < len) {
            file.options().limits.allocate(len).map_err(|error| error.with_context(field.name))?;
        }
        Ok(Some(Item { id, chunk_type, n, m, data: Data::Pattern(row, len) }))
    }

    /// Number of particle types of a frame.
    fn particle_types(&self, at: usize, stored: &[Chunk]) -> u64 {
        let is_types = |chunk: &&Chunk| {
            self.meanings[usize::from(chunk.id)].field.is_some_and(|field| field.name == "particles/types")
        };
        let types = stored.iter().find(is_types);
        types.or_else(|| self.inputs[at].first.iter().find(is_types)).map_or(1, |chunk| chunk.entry.n)
    }

    /// A chunk that a frame without any inherits, preferably its time step: without a chunk readers would not see the last frame.
    fn placeholder_chunk(&mut self, at: usize, counts: &Counts) -> Option<Item> {
        let input = &self.inputs[at];
        let inherited =
            |chunk: &&Chunk| self.meanings[usize::from(chunk.id)].is_inherited(counts, &input.first_counts);
        let chunks = input.first.iter().filter(inherited);
        chunks
            .max_by_key(|chunk| self.meanings[usize::from(chunk.id)].is_step)
            .map(|chunk| Item::copy(at, chunk))
    }
}

/// The logs to leave out of a file made from several, and the losses for those that its frame 0 lacks.
fn late_logs(parts: &[(&File, Frames)], options: &RewriteOptions) -> Result<(BTreeSet<String>, Vec<Loss>)> {
    let [(first, _), others @ ..] = parts else { return Ok(Default::default()) };
    if others.is_empty() {
        // Frames that are read in the whole file are read in a part of it.
        return Ok(Default::default());
    }
    let others: Vec<&File> = others.iter().map(|(file, _)| *file).collect();
    let logs = Logs::of_files(first, &others);
    if logs.are_all_in(first) {
        return Ok(Default::default());
    }
    let mut all = Vec::new();
    for (file, frames) in parts {
        // Bytes that a name takes in a set: one for each log of each frame.
        const NAME_LEN: u64 = 64;
        file.options().limits.allocate(frames.count.saturating_mul(logs.len()).saturating_mul(NAME_LEN))?;
        all.extend(added(file, (0..frames.count).filter_map(|slot| frames.frame(slot)).map(Ok))?);
    }
    logs.check(&all, options.new_logs)
}

/// Takes the chunks of a new frame.
type Visit<'a, 'f> = dyn FnMut(&mut [SourceFile<'f>], &[Item]) -> Result<()> + 'a;

/// The pass over the frames; both passes visit the same chunks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pass {
    Plan,
    Write,
}

fn stores(stored: &[Chunk], id: u16) -> bool {
    stored.iter().any(|chunk| chunk.id == id)
}
