//! Reconciles header, metalayers and chunks where they contradict each other: sizes, array shape, number of chunks.

use blosc_chunk::MAX_BLOCKSIZE;
use container_core::report::RepairReport;
use container_core::{Error, Result};

use super::array_shape;
use super::chunk_order::{digests_match, parse_digests};
use super::chunk_stats::ChunkStats;
use super::input::DamagedFrame;
use super::item;
use super::recovered_frame::RecoveredFrame;
use crate::b2nd::{self, Geometry, Meta};
use crate::header::{ChunkSize, MAX_TYPESIZE};
use crate::metalayer::Metalayers;
use crate::offsets::{Offset, Offsets};

impl RecoveredFrame {
    /// Makes sizes, array shape and number of chunks consistent between header, metalayers and chunks.
    ///
    /// The chunks decide where they agree, as each has a header of its own, and the frame has only one. The order of the steps
    /// matters: the typesize and the size of chunks are settled before the shape of the array, and that before the number of chunks.
    ///
    /// # Errors
    /// `Malformed` for marks whose length no other value determines.
    pub fn reconcile(&mut self, origin: &DamagedFrame, report: &mut RepairReport) -> Result<()> {
        let stats = ChunkStats::of(origin, self.base, &self.offsets);
        let fixed = 0..crate::header::FIXED_LEN as u64;
        if !(1..=MAX_TYPESIZE).contains(&self.header.typesize) {
            self.header.typesize = stats.typesize.map_or(1, u32::from);
            let what = format!("elements of {} bytes, as chunks say", self.header.typesize);
            report.guessed.push(item(fixed.clone(), what));
        }
        self.reconcile_typesize(&stats, report);
        if self.header.blocksize > MAX_BLOCKSIZE {
            let what = format!("blocks of {} bytes: left to each chunk", self.header.blocksize);
            report.guessed.push(item(fixed.clone(), what));
            self.header.blocksize = 0;
        }
        if let Some(filters) = stats.filters(&self.header.filters) {
            let what = format!("filters for chunks to come: {filters}, as chunks have them");
            report.guessed.push(item(fixed.clone(), what));
            self.header.filters = filters;
        }
        let by_header = match self.header.chunksize {
            ChunkSize::Variable if self.trusted => None,
            ChunkSize::Fixed(len) => Some(len),
            _ => stats.nbytes.first().copied(),
        };
        if let Some(len) = by_header {
            let usual = stats.most_common_size();
            let fits = stats.nbytes.is_empty() || stats.nbytes.contains(&len);
            // One short chunk alone does not prove that others would be as short.
            let chunksize = if fits || (stats.nbytes.len() == 1 && usual < Some(len) && self.trusted) {
                len
            } else {
                let usual = usual.unwrap_or(len);
                let what = format!("chunks of {usual} bytes, as the chunks say, not of {len}");
                report.guessed.push(item(fixed.clone(), what));
                self.expected = None;
                self.trusted = false;
                usual
            };
            if stats.sizes_vary(chunksize) && self.header.version >= 3 {
                self.header.chunksize = ChunkSize::Variable;
            } else {
                self.header.chunksize = ChunkSize::Fixed(chunksize);
            }
        }
        self.reconcile_array(&stats, report);
        let unknown = || {
            let problem = "an index of chunks that are not stored, and nothing tells how long they are";
            Err(Error::malformed(problem).with_range(57..62))
        };
        if self.header.chunksize == ChunkSize::Unset && !self.offsets.is_empty() {
            return unknown();
        }
        self.reconcile_count(origin, report)?;
        self.find_left_over(origin);
        // Among others such a chunk is lost; if all are so, the frame is empty.
        if matches!(self.offsets, Offsets::Same(Offset::Special(_), 1..))
            && self.header.chunksize == ChunkSize::Variable
            && self.left_over.is_none()
        {
            return unknown();
        }
        self.find_digests();
        Ok(())
    }

    /// Corrects the typesize to the one that fits the length of the array's chunks, if the chunks' typesize or the dtype confirms it.
    fn reconcile_typesize(&mut self, stats: &ChunkStats, report: &mut RepairReport) {
        let own = usize::try_from(self.header.typesize).unwrap_or(usize::MAX);
        let ChunkSize::Fixed(len) = self.header.chunksize else { return };
        let names = [b2nd::NAME, b2nd::OLD_NAME];
        let Some(Ok(meta)) = names.iter().find_map(|name| self.metalayers.get(name)).map(Meta::parse) else {
            return;
        };
        let chunk_bytes = |item_len: usize| {
            let geometry = Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len);
            geometry.ok().map(|geometry| geometry.chunk_bytes())
        };
        if chunk_bytes(own) == Some(len.into()) {
            return;
        }
        let by_len = chunk_bytes(1).and_then(|count| u64::from(len).checked_div(count));
        let Some(item_len) = by_len.and_then(|item_len| usize::try_from(item_len).ok()) else { return };
        // Those of over 255 bytes are of one byte in chunks.
        let by_chunks = usize::from(stats.common.unwrap_or(0));
        let by_type = b2nd::dtype_of(&meta, item_len).is_ok() && b2nd::dtype_of(&meta, own).is_err();
        if chunk_bytes(item_len) == Some(len.into()) && (by_chunks == item_len || by_type) {
            let what =
                format!("elements of {item_len} bytes, not of {own}: those of which the array consists");
            report.guessed.push(item(47..52, what));
            self.header.typesize = u32::try_from(item_len).unwrap_or(self.header.typesize);
        }
    }

    /// Finds the length of a mark for zeros: C-Blosc2 marks zeros in the index even in frames where a mark does not determine
    /// their length.
    fn find_left_over(&mut self, origin: &DamagedFrame) {
        let marks = self.offsets.iter().filter(|offset| matches!(offset, Offset::Special(_)));
        if self.header.chunksize != ChunkSize::Variable || !self.trusted || marks.take(2).count() != 1 {
            return;
        }
        let len = |offset: Offset| match offset {
            Offset::Stored(at) => origin.chunk_header(self.base, at).map(|(header, _)| header.nbytes.into()),
            _ => Some(0),
        };
        let others = self.offsets.iter().try_fold(0_u64, |sum, offset| sum.checked_add(len(offset)?));
        self.left_over =
            others.and_then(|others| self.header.nbytes.checked_sub(others)).filter(|left| *left > 0);
    }

    /// Finds digests of the chunks in the index and of the bytes that the header counts.
    fn find_digests(&mut self) {
        if self.digests.is_some() {
            return;
        }
        let Some(stored) = parse_digests(&self.trailer, &self.limits) else { return };
        self.digests = Some(stored).filter(|stored| digests_match(stored, &self.header, &self.offsets));
    }

    /// Drops `b2nd` metalayers that do not fit the chunks, until one fits or none is left.
    fn reconcile_array(&mut self, stats: &ChunkStats, report: &mut RepairReport) {
        let mut lost = Vec::new();
        let is_array = loop {
            self.reconcile_name(report);
            let names = [b2nd::NAME, b2nd::OLD_NAME];
            let Some(name) = names.into_iter().find(|name| self.metalayers.get(name).is_some()) else {
                break false;
            };
            let Some(why) = self.reconcile_metalayer(name, stats, report) else { break true };
            self.metalayers = without_metalayer(&self.metalayers, name);
            lost.push((name, why));
        };
        for (name, why) in lost {
            let what = if is_array {
                format!("the metalayer {name:?} ({why}), beside one that holds the shape of the array")
            } else {
                format!("the shape of the array ({why}): what it held becomes a row of elements")
            };
            report.lost.push(item(crate::header::FIXED_LEN as u64..self.base, what));
        }
    }

    /// Takes the array geometry from the metalayer `name`, corrected where one correction is possible. Returns the reason where it does not
    /// fit the chunks.
    fn reconcile_metalayer(
        &mut self,
        name: &str,
        stats: &ChunkStats,
        report: &mut RepairReport,
    ) -> Option<String> {
        let item_len = usize::try_from(self.header.typesize).unwrap_or(1);
        let geometry = self.metalayers.get(name).map(|bytes| {
            let meta = Meta::parse(bytes)?;
            Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len)
        });
        let len = match self.header.chunksize {
            ChunkSize::Fixed(len) => Some(u64::from(len)),
            _ => None,
        };
        let (geometry, many) = match geometry {
            Some(Ok(geometry)) if stats.nbytes.is_empty() || len == Some(geometry.chunk_bytes()) => {
                self.reconcile_shape(name, geometry, report)
            }
            Some(Err(error)) => match len.and_then(|len| self.guess_shape(name, len, report)) {
                Some(geometry) => (Some(Ok(geometry)), None),
                None => (Some(Err(error)), None),
            },
            other => (other, None),
        };
        match geometry {
            Some(Ok(geometry)) if stats.nbytes.is_empty() || len == Some(geometry.chunk_bytes()) => {
                self.reconcile_dtype(name, report);
                self.array = Some(geometry.chunk_bytes());
                self.expected = Some(geometry.chunk_count());
                if let Ok(len) = u32::try_from(geometry.chunk_bytes()) {
                    self.header.chunksize = ChunkSize::Fixed(len);
                }
                if let Ok(len) = u32::try_from(geometry.block_bytes()) {
                    self.header.blocksize = len;
                }
            }
            Some(Err(error)) => return Some(error.kind().to_string()),
            _ if many.is_some() => {
                let (needed, found) = (many.unwrap_or(0), self.offsets.len());
                return Some(format!("it needs {needed} chunks, and there are {found}"));
            }
            _ => return Some("its chunks are of another size".to_owned()),
        }
        None
    }

    /// Restores the name of a `b2nd` metalayer whose name has one wrong byte.
    fn reconcile_name(&mut self, report: &mut RepairReport) {
        let count = self.offsets.len();
        let Some(wrong) = b2nd::misnamed(&self.metalayers, &self.header, count).map(str::to_owned) else {
            return;
        };
        let mut renamed = Metalayers::new();
        for (name, value) in self.metalayers.iter() {
            let name = if name == wrong { b2nd::NAME } else { name };
            // Names that could be set can be set again.
            let _ = renamed.set(name, value.to_vec());
        }
        self.metalayers = renamed;
        let what = format!("the metalayer {wrong:?} is {:?}: it holds the shape of the array", b2nd::NAME);
        report.guessed.push(item(crate::header::FIXED_LEN as u64..self.base, what));
    }

    /// Returns the shape of an array, if the chunks can have it; else the number of chunks that it needs. If header and chunks agree
    /// on another number, that one counts.
    fn reconcile_shape(
        &mut self,
        name: &str,
        geometry: Geometry,
        report: &mut RepairReport,
    ) -> (Option<Result<Geometry>>, Option<u64>) {
        let (needed, found) = (geometry.chunk_count(), self.offsets.len());
        if needed == found || self.expected == Some(needed) {
            return (Some(Ok(geometry)), None);
        }
        if let Some(guess) = self.guess_shape(name, geometry.chunk_bytes(), report) {
            return (Some(Ok(guess)), None);
        }
        let agree = self.expected == Some(found);
        if agree || !array_shape::is_plausible(needed, found.max(self.expected.unwrap_or(0))) {
            return (None, Some(needed));
        }
        (Some(Ok(geometry)), None)
    }

    /// Guesses a shape with the number of chunks that header and index agree on.
    fn guess_shape(&mut self, name: &str, len: u64, report: &mut RepairReport) -> Option<Geometry> {
        let count = self.expected.filter(|expected| *expected == self.offsets.len())?;
        let item_len = usize::try_from(self.header.typesize).ok()?;
        let meta = Meta::parse(self.metalayers.get(name)?).ok()?;
        let guess = array_shape::guess(&meta, item_len, count, len)?;
        let shapes =
            format!("{:?}, not {:?}, which is not one of {count} chunks", guess.meta.shape, meta.shape);
        let padding = if guess.is_padded { "; what is behind the last row may be padding" } else { "" };
        let what = format!("the shape of the array, axis {}: {shapes}{padding}", guess.axis);
        // The metalayer exists.
        self.metalayers.set(name, guess.meta.encode()).ok()?;
        report.guessed.push(item(crate::header::FIXED_LEN as u64..self.base, what));
        Some(guess.geometry)
    }

    /// Replaces an element type that is unreadable, or of another size, by that of opaque bytes.
    fn reconcile_dtype(&mut self, name: &str, report: &mut RepairReport) {
        let typesize = usize::try_from(self.header.typesize).unwrap_or(1);
        let Some(Ok(mut meta)) = self.metalayers.get(name).map(Meta::parse) else { return };
        let other = meta.dtype_format.filter(|format| *format != 0);
        if let Some(format) = other {
            meta.dtype_format = Some(0);
            if b2nd::dtype_of(&meta, typesize).is_ok() {
                let what = format!(
                    "the element type {:?} is numpy's; no other is known, nor of format {format}",
                    meta.dtype
                );
                report.guessed.push(item(crate::header::FIXED_LEN as u64..self.base, what));
                // The metalayer exists.
                let _ = self.metalayers.set(name, meta.encode());
                return;
            }
            meta.dtype_format = other;
        }
        let is_wrong = b2nd::dtype_of(&meta, typesize).is_err_and(|error| error.is_damage());
        if is_wrong {
            let what = format!("elements of {typesize} bytes; their type {:?} cannot be", meta.dtype);
            report.guessed.push(item(crate::header::FIXED_LEN as u64..self.base, what));
            meta.dtype = format!("|V{typesize}");
            // The metalayer exists.
            let _ = self.metalayers.set(name, meta.encode());
        }
    }

    /// Reports missing bytes of chunks of different sizes without an index that counts them: the header gives their sum.
    fn reconcile_bytes(&self, origin: &DamagedFrame, report: &mut RepairReport) {
        if self.header.chunksize != ChunkSize::Variable || !self.index.is_empty() {
            return;
        }
        let len = |offset: Offset| match offset {
            Offset::Stored(at) => origin.chunk_header(self.base, at).map_or(0, |(header, _)| header.nbytes),
            _ => 0,
        };
        let found = self.offsets.iter().map(|offset| u64::from(len(offset))).fold(0, u64::saturating_add);
        let (end, nbytes) = (origin.len(), self.header.nbytes);
        if found < nbytes {
            let what = format!("{} of {nbytes} bytes: their chunks are not there", nbytes - found);
            report.lost.push(item(end..end, what));
        }
    }

    /// Compares the number of chunks found with the expected number, and reports the difference.
    fn reconcile_count(&mut self, origin: &DamagedFrame, report: &mut RepairReport) -> Result<()> {
        let found = self.offsets.len();
        let Some(expected) = self.expected else {
            if found == 0 && self.header.nbytes > 0 {
                return Err(Error::malformed("there is no chunk").with_range(0..origin.len()));
            }
            self.reconcile_bytes(origin, report);
            return Ok(());
        };
        let end = origin.len();
        if found == 0 && expected > 0 {
            let problem = "not one chunk can be found, nor an index that tells of any";
            return Err(Error::malformed(problem).with_range(self.base.min(end)..end));
        }
        if found == expected {
            return Ok(());
        }
        if self.array.is_none() {
            // A run of elements is as long as its chunks are many.
            if !self.index.is_empty() {
                let what = format!("{found} chunks, as the index has, where the header speaks of {expected}");
                report.guessed.push(item(29..38, what));
            } else if found > expected {
                let what = format!(
                    "{} chunks more than the header speaks of: they were appended, or deleted",
                    found - expected
                );
                report.guessed.push(item(29..38, what));
            } else {
                let what = format!("{} chunks of {expected}, which are not there", expected - found);
                report.lost.push(item(end..end, what));
            }
            self.expected = None;
            self.trusted = false;
        } else if found > expected {
            let more = found - expected;
            let what = format!("{more} chunks beyond the {expected} that the shape has room for: left out");
            report.lost.push(item(end..end, what));
        } else {
            let what = format!(
                "{} chunks of {expected} are not found: lost, or of zeros and never stored; zeros at the end take their place",
                expected - found
            );
            report.lost.push(item(end..end, what));
        }
        Ok(())
    }
}

/// Copies the metalayers without those called `name`.
fn without_metalayer(metalayers: &Metalayers, name: &str) -> Metalayers {
    let mut kept = Metalayers::new();
    for (own, value) in metalayers.iter().filter(|(own, _)| *own != name) {
        // Names that were read can be written; a missing one is minor next to the shape.
        let _ = kept.set(own, value.to_vec());
    }
    kept
}
