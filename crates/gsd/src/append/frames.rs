//! Appends the frames of one GSD file to another.
//!
//! With the schema `hoomd`, a frame's missing chunks mean those of frame 0, which is another one in the target file. Inherited
//! values that would change are written out.

use std::collections::{BTreeMap, BTreeSet};

use container_core::dtype::ByteOrder;
use container_core::format::WriteRequest;
use container_core::report::Loss;
use container_core::{Error, Result};

use crate::hoomd::SCHEMA;
use crate::hoomd::schema::{self, Container, Inherit, Rows};
use crate::import::planned_chunk::{frame_at, frame_slice};
use crate::import::same_format::{copy_chunk, entries_of};
use crate::import::{ImportSettings, no_frames};
use crate::late_logs::{Logs, added};
use crate::writer::Writer;
use crate::{File, IndexEntry};

const STEP: &str = "configuration/step";

/// Adds the frames of `source`, or some of them.
pub(super) fn add(
    writer: &mut Writer,
    source: &File,
    settings: &ImportSettings,
    job: &WriteRequest<'_>,
) -> Result<Vec<Loss>> {
    let (own, other) = (writer.header().schema_name(), source.header().schema_name());
    if own != other {
        let problem = format!("cannot append frames of schema {other:?} (expected {own:?})");
        return Err(Error::usage(problem).with_hint("FILE::PATH, to add an array"));
    }
    let chosen = frame_slice(settings.frames.as_deref().unwrap_or(":"), source.nframes())?;
    if chosen.count == 0 && source.nframes() > 0 {
        return Ok(vec![no_frames()]);
    }
    // An empty file takes the source's frame 0 as its own.
    let starts_anew = writer.nframes() == 0 && frame_at(chosen, 0)? == 0;
    let mut bridge = if own == SCHEMA && !starts_anew { Some(Bridge::new(writer, source)?) } else { None };
    let (dropped, mut losses) = match own == SCHEMA {
        true => {
            let frames = (0..chosen.count).map(|new| frame_at(chosen, new));
            Logs::of(writer)?.check(&added(source, frames)?, settings.new_logs)?
        }
        false => (BTreeSet::new(), Vec::new()),
    };
    let mut entries = Vec::new();
    let mut present = BTreeSet::new();
    for new in 0..chosen.count {
        let frame = frame_at(chosen, new)?;
        entries_of(source, frame, &mut entries);
        present.clear();
        for entry in &entries {
            let name = source.names().get(entry.id);
            let name = name.ok_or_else(|| Error::malformed("a chunk without a name"))?;
            // For a name that is listed twice, readers find the chunk of the first.
            let is_hidden = source.find_chunk(frame, &name).is_some_and(|found| found.id != entry.id);
            if is_hidden || dropped.contains(&*name) {
                continue;
            }
            write(writer, source, &name, entry, job)?;
            present.insert(name.into_owned());
        }
        if let Some(bridge) = &mut bridge {
            bridge.fill(writer, source, frame, &present, &dropped, job)?;
        }
        writer.end_frame()?;
        job.progress.tick(new.saturating_add(1), chosen.count)?;
    }
    losses.extend(bridge.into_iter().flat_map(|bridge| bridge.losses.into_values()));
    Ok(losses)
}

/// Copies a chunk.
fn write(
    writer: &mut Writer,
    source: &File,
    name: &str,
    entry: &IndexEntry,
    job: &WriteRequest<'_>,
) -> Result<()> {
    let chunk_type = entry.chunk_type().ok_or_else(|| Error::malformed("a chunk without a type"))?;
    writer.write_chunk_bytes(name, chunk_type, entry.n, entry.m, &bytes_of(source, entry, job)?)
}

/// The bytes of a chunk, little-endian.
fn bytes_of(source: &File, entry: &IndexEntry, job: &WriteRequest<'_>) -> Result<Vec<u8>> {
    job.options.limits.allocate(entry.size().unwrap_or(u64::MAX))?;
    let mut bytes = Vec::new();
    copy_chunk(source, entry, &mut |piece| {
        bytes.extend_from_slice(piece);
        Ok(())
    })?;
    Ok(bytes)
}

/// Values of absent chunks, in the source and in the file.
struct Bridge {
    /// Chunks of the source's frame 0, and of the file's.
    there: BTreeMap<String, IndexEntry>,
    here: BTreeMap<String, IndexEntry>,
    /// Members of each container in the source's frame 0, and in the file's.
    counts_there: Vec<u64>,
    counts_here: Vec<u64>,
    /// Whether both frames 0 have the same chunk of a name, for the names compared so far.
    same: BTreeMap<String, bool>,
    losses: BTreeMap<String, Loss>,
}

impl Bridge {
    fn new(writer: &Writer, source: &File) -> Result<Self> {
        let mut there = BTreeMap::new();
        let mut entries = Vec::new();
        entries_of(source, 0, &mut entries);
        for entry in entries {
            if let Some(name) = source.names().get(entry.id) {
                there.insert(name.into_owned(), entry);
            }
        }
        let mut here = BTreeMap::new();
        for name in writer.names() {
            if let Some(entry) = writer.find_chunk(0, &name)? {
                here.insert(name.into_owned(), entry);
            }
        }
        let counts_there = Container::COUNTED.map(|of| count(there.get(counted_by(of)), |e| read(source, e)));
        let counts_here =
            Container::COUNTED.map(|of| count(here.get(counted_by(of)), |entry| writer.read_chunk(entry)));
        Ok(Self {
            there,
            here,
            counts_there: counts_there.into_iter().collect::<Result<_>>()?,
            counts_here: counts_here.into_iter().collect::<Result<_>>()?,
            same: BTreeMap::new(),
            losses: BTreeMap::new(),
        })
    }

    /// Writes the values that a frame of the source has from frame 0 or by default, where they would be read differently here.
    ///
    /// For each absent name the inherited chunk of the source is compared with the one that the frame would inherit here. If they differ, the
    /// source's chunk is written, or the default where the source's frame has that.
    fn fill(
        &mut self,
        writer: &mut Writer,
        source: &File,
        frame: u64,
        present: &BTreeSet<String>,
        dropped: &BTreeSet<String>,
        job: &WriteRequest<'_>,
    ) -> Result<()> {
        let mut counts = self.counts_there.clone();
        for (of, count_of) in Container::COUNTED.into_iter().zip(&mut counts) {
            let entry = source.find_chunk(frame, counted_by(of));
            if entry.is_some() {
                *count_of = count(entry.as_ref(), |entry| read(source, entry))?;
            }
        }
        let names: BTreeSet<&String> = self.there.keys().chain(self.here.keys()).collect();
        let names: Vec<String> = names
            .into_iter()
            .filter(|name| !present.contains(*name) && !dropped.contains(*name))
            .cloned()
            .collect();
        let mut step = present.contains(STEP);
        for name in names {
            let inherits = schema::inherits(&name);
            if inherits == Inherit::Never {
                continue;
            }
            let place = schema::field(&name)
                .and_then(|field| Container::COUNTED.iter().position(|of| *of == field.container));
            let n = place.and_then(|place| counts.get(place)).copied().unwrap_or(0);
            let as_in = |counts: &[u64]| {
                inherits == Inherit::Always || place.and_then(|place| counts.get(place)) == Some(&n)
            };
            let instead = |of: &'_ BTreeMap<String, IndexEntry>, counts: &[u64]| {
                of.get(&name).copied().filter(|_| as_in(counts))
            };
            let there = instead(&self.there, &self.counts_there);
            let here = instead(&self.here, &self.counts_here);
            match (there, here) {
                (None, None) => {}
                (Some(there), Some(here)) if self.is_same(&name, &there, &here, writer, source, job)? => {}
                (Some(there), _) => {
                    write(writer, source, &name, &there, job)?;
                    step |= name == STEP;
                }
                (None, Some(here)) => {
                    self.write_default(writer, &name, &here, n, job)?;
                    step |= name == STEP;
                }
            }
        }
        // A frame without a chunk would be lost at the end of the file.
        if !step {
            let value = match self.there.get(STEP) {
                Some(entry) => bytes_of(source, entry, job)?,
                None => vec![0; 8],
            };
            writer.write_chunk_bytes(STEP, crate::ChunkType::Uint64, 1, 1, &value)?;
        }
        Ok(())
    }

    fn is_same(
        &mut self,
        name: &str,
        there: &IndexEntry,
        here: &IndexEntry,
        writer: &Writer,
        source: &File,
        job: &WriteRequest<'_>,
    ) -> Result<bool> {
        if let Some(same) = self.same.get(name) {
            return Ok(*same);
        }
        let shape = |entry: &IndexEntry| (entry.type_code, entry.n, entry.m);
        let same = shape(there) == shape(here) && bytes_of(source, there, job)? == writer.read_chunk(here)?;
        self.same.insert(name.to_owned(), same);
        Ok(same)
    }

    /// Writes the default of `n` members in the type that frame 0 has here; absent logs have no default.
    fn write_default(
        &mut self,
        writer: &mut Writer,
        name: &str,
        here: &IndexEntry,
        n: u64,
        job: &WriteRequest<'_>,
    ) -> Result<()> {
        let field = schema::field(name);
        let (Some(field), Some(chunk_type)) = (field, here.chunk_type()) else {
            let what = "frames without it read that of frame 0".to_owned();
            self.losses.insert(name.to_owned(), Loss { dataset: Some(name.to_owned()), what });
            return Ok(());
        };
        let n = if field.rows == Rows::Types { 1 } else { n };
        let bytes = field.default_bytes(n, chunk_type, ByteOrder::Little, &job.options.limits)?;
        let (rows, columns) = field.written_shape(n);
        writer.write_chunk_bytes(name, chunk_type, rows, columns.max(1), &bytes)
    }
}

fn counted_by(of: Container) -> &'static str {
    of.count_chunk().unwrap_or_default()
}

fn read(source: &File, entry: &IndexEntry) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    // A count is at most 8 bytes long; longer chunks are not counts.
    if entry.size().is_some_and(|size| size <= 8) {
        copy_chunk(source, entry, &mut |piece| {
            bytes.extend_from_slice(piece);
            Ok(())
        })?;
    }
    Ok(bytes)
}

/// The number in a chunk that stores a count; 0 without one.
fn count(entry: Option<&IndexEntry>, read: impl Fn(&IndexEntry) -> Result<Vec<u8>>) -> Result<u64> {
    let Some(entry) = entry.filter(|entry| entry.size().is_some_and(|size| size <= 8)) else { return Ok(0) };
    let mut number = [0; 8];
    number.iter_mut().zip(read(entry)?).for_each(|(place, byte)| *place = byte);
    Ok(u64::from_le_bytes(number))
}
