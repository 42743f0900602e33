//! Locates each frame's values.

use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::Defaults;
use crate::ChunkType;
use crate::file::File;
use crate::frames::{Frames, sweep};
use crate::hoomd::schema::{self, Inherit};
use crate::index::IndexEntry;
use crate::read_buffer::ReadBuffer;

/// Type, shape and offset of a frame's values.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct ValueLocation {
    frame: u64,
    pub(super) chunk_type: ChunkType,
    pub(super) n: u64,
    pub(super) m: u32,
}

impl ValueLocation {
    /// Returns frame, type and shape of an entry; `None` without a type.
    pub(super) fn of(entry: &IndexEntry) -> Option<Self> {
        let IndexEntry { frame, n, m, .. } = *entry;
        entry.chunk_type().map(|chunk_type| Self { frame, chunk_type, n, m })
    }

    /// The first chunk of that name in the file, or the schema's default.
    pub(super) fn any(file: &File, name: &str) -> Option<Self> {
        let id = file.names().id(name);
        let entry = id.and_then(|id| file.index().iter().find(|entry| entry.id == id));
        if let Some(entry) = entry {
            let IndexEntry { frame, n, m, .. } = entry;
            return entry.chunk_type().map(|chunk_type| Self { frame, chunk_type, n, m });
        }
        let field = schema::field(name)?;
        let (n, m) = field.default_shape(0);
        Some(Self { frame: 0, chunk_type: field.chunk_type, n, m })
    }
}

/// Search for the chunks of a [`StackedChunks`](super::StackedChunks).
pub(super) struct ValueSearch<'a> {
    pub(super) file: &'a File,
    pub(super) name: &'a str,
    pub(super) frames: &'a Frames,
    pub(super) found: Option<ValueLocation>,
    pub(super) places: Vec<u64>,
    pub(super) default: Vec<u8>,
    /// By frame, whether it holds single precision, where both precisions are read as double; else empty.
    pub(super) singles: Option<Vec<bool>>,
}

impl ValueSearch<'_> {
    /// Offsets of the chunks that the frames store.
    pub(super) fn stored(&mut self) -> Result<()> {
        let Some(id) = self.file.names().id(self.name) else { return Ok(()) };
        let (file, frames) = (self.file, self.frames);
        sweep(file, &[id], frames, |slot, _, entry| {
            let slot = usize::try_from(slot).unwrap_or(usize::MAX);
            let place = self.accept(slot, entry.frame, entry)?;
            if let Some(one) = self.places.get_mut(slot) {
                *one = place;
            }
            Ok(())
        })
    }

    /// The offset of a chunk, if it is in the file and like the others.
    fn accept(&mut self, slot: usize, frame: u64, entry: &IndexEntry) -> Result<u64> {
        let range = entry.byte_range().zip(entry.chunk_type());
        let range = range.filter(|(range, _)| range.end <= self.file.layout().file_len() && range.start > 0);
        let Some((range, mut chunk_type)) = range else {
            return Err(Error::malformed(format!(
                "the entry of frame {frame} does not describe a chunk of the file"
            )));
        };
        if let Some(singles) = &mut self.singles {
            let single = chunk_type == ChunkType::Float;
            if single {
                chunk_type = ChunkType::Double;
            } else if chunk_type != ChunkType::Double {
                let problem = format!("frame {frame}: {} are not real numbers", chunk_type.name());
                return Err(Error::usage(problem));
            }
            if let Some(one) = singles.get_mut(slot) {
                *one = single;
            }
        }
        self.agree(ValueLocation { frame, chunk_type, n: entry.n, m: entry.m })?;
        Ok(range.start)
    }

    fn agree(&mut self, new: ValueLocation) -> Result<()> {
        let Some(old) = self.found else {
            self.found = Some(new);
            return Ok(());
        };
        if (old.chunk_type, old.n, old.m) == (new.chunk_type, new.n, new.m) {
            return Ok(());
        }
        let say =
            |found: &ValueLocation| format!("{} by {} of {}", found.n, found.m, found.chunk_type.name());
        let problem = format!("frame {} has {}, frame {} has {}", new.frame, say(&new), old.frame, say(&old));
        let error = Error::usage(problem);
        let hint = if (old.n, old.m) == (new.n, new.m) {
            "read it as f64"
        } else {
            "choose frames of one shape, or read frame by frame"
        };
        Err(error.with_hint(hint))
    }

    /// Sets the offsets of values that the frames do not store.
    pub(super) fn gaps(&mut self, defaults: Defaults) -> Result<()> {
        let inherits = if defaults.applies(self.file) { schema::inherits(self.name) } else { Inherit::Never };
        let missing = |frame: u64| Err(Error::usage(format!("frame {frame} has no such chunk")));
        let gap = self.places.iter().zip(0_u64..).find(|(place, _)| **place == 0);
        let first = gap.and_then(|(_, slot)| self.frames.frame(slot)).unwrap_or(0);
        let field = schema::field(self.name);
        let counts = match (inherits, field.and_then(|field| field.container.count_chunk())) {
            (Inherit::Never, _) => return missing(first),
            (Inherit::IfSameN, Some(chunk)) => Some(Counts::new(self.file, chunk, self.frames)?),
            _ => None,
        };
        let id = self.file.names().id(self.name);
        let ancestor = id.and_then(|id| self.file.find_id(0, id));
        for at in 0..self.places.len() {
            if self.places.get(at) != Some(&0) {
                continue;
            }
            let frame = self.frames.frame(at as u64).unwrap_or(0);
            let (n, same) = match &counts {
                Some(counts) => counts.of(at),
                None => (0, true),
            };
            let place = match (ancestor.filter(|_| same), field) {
                (Some(entry), _) => self.accept(at, frame, &entry)?,
                (None, Some(field)) => {
                    let own = ancestor.and_then(|entry| entry.chunk_type());
                    let chunk_type = self.found.map(|found| found.chunk_type).or(own);
                    let chunk_type = chunk_type.unwrap_or(field.chunk_type);
                    let wide = self.singles.is_some() && field.is_real();
                    let chunk_type = if wide { ChunkType::Double } else { chunk_type };
                    let n =
                        if field.name == "particles/type_shapes" { self.particle_types(frame)? } else { n };
                    let (n, m) = field.default_shape(n);
                    self.agree(ValueLocation { frame, chunk_type, n, m })?;
                    self.default = field.default_row(chunk_type, self.file.header().byte_order);
                    0
                }
                (None, None) => return missing(frame),
            };
            if let Some(one) = self.places.get_mut(at) {
                *one = place;
            }
        }
        Ok(())
    }

    /// Number of particle types in a frame.
    fn particle_types(&self, frame: u64) -> Result<u64> {
        let chunk = |frame| self.file.find_chunk(frame, "particles/types");
        Ok(chunk(frame).or_else(|| chunk(0)).map_or(1, |entry| entry.n))
    }
}

/// The N of a container in each of some frames: stored, else frame 0's, else 0.
struct Counts {
    first: u64,
    /// Empty where none of the frames stores it.
    stored: Vec<u64>,
}

impl Counts {
    fn new(file: &File, chunk: &str, frames: &Frames) -> Result<Self> {
        let none = Self { first: 0, stored: Vec::new() };
        let Some(id) = file.names().id(chunk) else { return Ok(none) };
        let mut window = ReadBuffer::new(file.source(), file.options().limits);
        if file.source().is_far() {
            let mut ranges: Vec<_> =
                file.find_id(0, id).and_then(|entry| entry.byte_range()).into_iter().collect();
            sweep(file, &[id], frames, |_, _, entry| {
                ranges.extend(entry.byte_range());
                Ok(())
            })?;
            file.source().prefetch(&ranges)?;
        }
        let first = match file.find_id(0, id) {
            Some(entry) => count_of(file, &entry, &mut window)?,
            None => 0,
        };
        let mut stored: Vec<u64> = Vec::new();
        sweep(file, &[id], frames, |slot, _, entry| {
            let count = count_of(file, entry, &mut window)?;
            if stored.is_empty() {
                stored = try_zeroed_vec(frames.count, &file.options().limits)?;
                stored.fill(first);
            }
            if let Some(one) = usize::try_from(slot).ok().and_then(|slot| stored.get_mut(slot)) {
                *one = count;
            }
            Ok(())
        })?;
        Ok(Self { first, stored })
    }

    /// N at `slot`, and whether it equals frame 0's.
    fn of(&self, slot: usize) -> (u64, bool) {
        let n = self.stored.get(slot).copied().unwrap_or(self.first);
        (n, n == self.first)
    }
}

/// The value of a count chunk: one integer of any width, of 0 to 2^32 − 1.
///
/// A value out of range is an error: it is not comparable with the counts of other frames.
pub(crate) fn count_of(file: &File, entry: &IndexEntry, window: &mut ReadBuffer<'_>) -> Result<u64> {
    let wrong = || Error::malformed(format!("the count of frame {} is not a single integer", entry.frame));
    let chunk_type = entry.chunk_type().filter(|_| entry.n == 1 && entry.m == 1).ok_or_else(wrong)?;
    let range = entry.byte_range().ok_or_else(wrong)?;
    if matches!(chunk_type, ChunkType::Float | ChunkType::Double | ChunkType::Character) {
        return Err(wrong());
    }
    let value = chunk_type.integer(window.bytes(range.clone())?, file.header().byte_order);
    u32::try_from(value).map(u64::from).map_err(|_| {
        let problem = format!("the count of frame {} is out of range", entry.frame);
        Error::malformed(problem)
            .with_range(range)
            .with_hint("--stored shows and copies chunks without the schema")
    })
}
