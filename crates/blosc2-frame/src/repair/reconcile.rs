//! Reconciles header, metalayers and chunks where they contradict each other: sizes, array shape, number of chunks.

use blosc_chunk::{Filter, MAX_BLOCKSIZE, Pipeline};
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::{Error, Result};

use super::index::{digests_match, parse_digests};
use super::input::DamagedFrame;
use super::recovered_frame::RecoveredFrame;
use crate::b2nd::{self, Geometry, Meta};
use crate::fault::FaultKind;
use crate::header::{ChunkSize, FIXED_LEN, MAX_TYPESIZE};
use crate::layout::MAX_FILTER_META;
use crate::metalayer::Metalayers;
use crate::offsets::{Offset, Offsets};

/// Chunks that may be missing of an array whose shape alone counts them: a shape that needs more counts as damaged.
const MAX_MISSING: u64 = 1 << 20;

/// Values that the headers of the first chunks have in common: second copies of those in the frame header.
struct ChunkHeaders {
    /// The typesize, where all have the same.
    typesize: Option<u8>,
    /// Decoded sizes.
    nbytes: Vec<u32>,
    /// The filters, where all chunks that are not one value have the same.
    filters: Option<Pipeline>,
}

impl ChunkHeaders {
    /// Number of chunks whose headers are read at most.
    const MAX_COUNT: usize = 4096;

    fn read(origin: &DamagedFrame, base: u64, offsets: &Offsets) -> Self {
        let stored = offsets.iter().take(Self::MAX_COUNT).filter_map(|offset| match offset {
            Offset::Stored(at) => origin.chunk_header(base, at),
            _ => None,
        });
        let headers: Vec<_> = stored.map(|(header, _)| header).collect();
        let filters = headers.iter().filter(|header| header.special().is_none()).map(|header| header.filters);
        Self {
            typesize: common(headers.iter().map(|header| header.typesize)),
            nbytes: headers.iter().map(|header| header.nbytes).collect(),
            filters: common(filters),
        }
    }

    /// Returns the size of all chunks but the last, which may be shorter; `None` where they differ.
    fn chunksize(&self) -> Option<u32> {
        let (last, others) = self.nbytes.split_last()?;
        let size = if others.is_empty() { *last } else { common(others.iter().copied())? };
        Some(size).filter(|size| last <= size)
    }
}

/// Returns the value that all of `values` are; `None` where they differ.
fn common<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// Creates a line about a corrected field of the header.
fn corrected(what: String, evidence: Evidence) -> RepairItem {
    RepairItem::new(0..FIXED_LEN as u64, what).with_evidence(evidence)
}

impl RecoveredFrame {
    /// Makes sizes, array shape and number of chunks consistent between header, metalayers and chunks.
    ///
    /// The chunks decide where they agree, as each has a header of its own, and the frame has only one. The order of the steps
    /// matters: the typesize and the size of chunks are settled before the shape of the array, and that before the number of chunks.
    ///
    /// # Errors
    /// `Malformed` for marks whose length no other value determines.
    pub fn reconcile(&mut self, origin: &DamagedFrame, report: &mut RepairReport) -> Result<()> {
        let chunks = ChunkHeaders::read(origin, self.base, &self.offsets);
        self.report_header(&chunks, report);
        if !(1..=MAX_TYPESIZE).contains(&self.header.typesize) {
            let found = self.header.typesize;
            self.header.typesize = chunks.typesize.map_or(1, u32::from);
            match chunks.typesize {
                Some(own) => {
                    let what = format!("typesize: corrected to {own}, that of the chunks (found {found})");
                    report.guessed.push(corrected(what, Evidence::SecondCopy));
                }
                None => {
                    let what = format!("typesize: no chunk has one (found {found})");
                    report.lost.push(RepairItem::new(47..52, what));
                }
            }
        }
        self.reconcile_typesize(&chunks, report);
        if self.header.blocksize > MAX_BLOCKSIZE {
            let found = self.header.blocksize;
            let what = format!("blocksize: corrected to 0, as each chunk has its own (found {found})");
            report.guessed.push(corrected(what, Evidence::SecondCopy));
            self.header.blocksize = 0;
        }
        let is_odd = |filter: &Filter| filter.is_unassigned() || filter.meta > MAX_FILTER_META;
        let found = self.header.filters;
        if let Some(own) = chunks.filters.filter(|own| *own != found && !own.0.iter().any(is_odd))
            && found.0.iter().any(is_odd)
        {
            let what = format!("filters: corrected to {own}, those of the chunks (found {found})");
            report.guessed.push(corrected(what, Evidence::SecondCopy));
            self.header.filters = own;
        }
        self.reconcile_chunksize(&chunks, report);
        self.reconcile_array(&chunks, report);
        let unknown = || {
            let problem = "chunks that are not stored: length unknown";
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

    /// Reports the fields of the header that are written anew because the old ones cannot be.
    fn report_header(&self, chunks: &ChunkHeaders, report: &mut RepairReport) {
        let has_trailer = !self.trailer_range.is_empty();
        for fault in &self.faults {
            let (what, evidence) = match fault.kind() {
                FaultKind::FrameLen
                | FaultKind::Cbytes
                | FaultKind::FrameTruncated
                | FaultKind::TrailerUnreadable
                    if has_trailer =>
                {
                    ("lengths of the frame: corrected to those of its parts", Evidence::Walk)
                }
                FaultKind::VlmetaFlag => ("flag for user metadata: corrected by the trailer", Evidence::Walk),
                FaultKind::Nbytes => {
                    ("nbytes: corrected to the sum of those of the chunks", Evidence::SecondCopy)
                }
                FaultKind::Filters if chunks.filters == Some(self.header.filters) => {
                    ("number of filters: corrected by the chunks", Evidence::SecondCopy)
                }
                FaultKind::Filters => {
                    report.lost.push(RepairItem::new(fault.range(), "number of filters: above 6"));
                    continue;
                }
                _ => continue,
            };
            let item = RepairItem::new(fault.range(), what).with_evidence(evidence);
            if !report.guessed.iter().any(|other| other.what == what) {
                report.guessed.push(item);
            }
        }
    }

    /// Corrects the chunk size that no chunk has to that of the chunks; in a frame of chunks of different sizes each has its own.
    fn reconcile_chunksize(&mut self, chunks: &ChunkHeaders, report: &mut RepairReport) {
        let sizes = &chunks.nbytes;
        let is_right = match self.header.chunksize {
            // The only chunk may be shorter.
            ChunkSize::Fixed(len) => {
                sizes.contains(&len) || self.trusted && matches!(sizes[..], [only] if only < len)
            }
            ChunkSize::Variable => !self.faults.iter().any(|fault| fault.kind() == FaultKind::Chunksize),
            ChunkSize::Unset => false,
        };
        if is_right || sizes.is_empty() {
            return;
        }
        let found = match self.header.chunksize {
            ChunkSize::Fixed(len) => format!(" (found {len})"),
            _ => String::new(),
        };
        let by_array = || {
            let item_len = usize::try_from(self.header.typesize).ok()?;
            let geometry = self.array_meta()?.1.ok().and_then(|meta| geometry(&meta, item_len).ok())?;
            u32::try_from(geometry.chunk_bytes()).ok().filter(|len| sizes.contains(len))
        };
        let what = match chunks.chunksize().or_else(by_array) {
            Some(len) => {
                self.header.chunksize = ChunkSize::Fixed(len);
                format!("chunksize: corrected to {len}, that of the chunks{found}")
            }
            None => {
                self.header.chunksize = ChunkSize::Variable;
                self.header.version = self.header.version.max(3);
                format!("chunksize: corrected to 0, as the chunks are of different sizes{found}")
            }
        };
        report.guessed.push(corrected(what, Evidence::SecondCopy));
        self.expected = None;
        self.trusted = false;
    }

    /// Returns the metalayer of an array: its name and its value.
    fn array_meta(&self) -> Option<(&'static str, Result<Meta>)> {
        let mut names = [b2nd::NAME, b2nd::OLD_NAME].into_iter();
        names.find_map(|name| self.metalayers.get(name).map(|value| (name, Meta::parse(value))))
    }

    /// Corrects the typesize to the one that fits the length of the array's chunks, if the chunks' typesize or the dtype confirms it.
    fn reconcile_typesize(&mut self, chunks: &ChunkHeaders, report: &mut RepairReport) {
        let own = usize::try_from(self.header.typesize).unwrap_or(usize::MAX);
        let ChunkSize::Fixed(len) = self.header.chunksize else { return };
        let Some((_, Ok(meta))) = self.array_meta() else { return };
        let chunk_bytes = |item_len| geometry(&meta, item_len).ok().map(|geometry| geometry.chunk_bytes());
        if chunk_bytes(own) == Some(len.into()) {
            return;
        }
        let by_len = chunk_bytes(1).and_then(|count| u64::from(len).checked_div(count));
        let Some(item_len) = by_len.and_then(|item_len| usize::try_from(item_len).ok()) else { return };
        // Those of over 255 bytes are of one byte in chunks.
        let by_chunks = usize::from(chunks.typesize.unwrap_or(0));
        let by_type = b2nd::dtype_of(&meta, item_len).is_ok() && b2nd::dtype_of(&meta, own).is_err();
        if chunk_bytes(item_len) == Some(len.into()) && (by_chunks == item_len || by_type) {
            let what = format!("typesize: corrected to {item_len}, that of the array (found {own})");
            report.guessed.push(corrected(what, Evidence::SecondCopy));
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
    fn reconcile_array(&mut self, chunks: &ChunkHeaders, report: &mut RepairReport) {
        let mut lost = Vec::new();
        let is_array = loop {
            self.reconcile_name(report);
            let Some((name, meta)) = self.array_meta() else { break false };
            let Some(why) = self.reconcile_metalayer(name, meta, chunks, report) else { break true };
            self.metalayers = without_metalayer(&self.metalayers, name);
            lost.push((name, why));
        };
        for (name, why) in lost {
            let what = if is_array {
                format!("metalayer {name:?}: {why}; another one has the shape of the array")
            } else {
                format!("shape of the array: {why}; the data become a row of elements")
            };
            report.lost.push(RepairItem::new(FIXED_LEN as u64..self.base, what));
        }
    }

    /// Restores the name of a `b2nd` metalayer whose name has one wrong byte: its value is the shape of an array of chunks as many and as
    /// large as there are.
    fn reconcile_name(&mut self, report: &mut RepairReport) {
        let Some(wrong) = b2nd::misnamed(&self.metalayers, &self.header, self.offsets.len()) else { return };
        let mut renamed = Metalayers::new();
        for (name, value) in self.metalayers.iter() {
            let name = if name == wrong { b2nd::NAME } else { name };
            // Names that could be set can be set again.
            let _ = renamed.set(name, value.to_vec());
        }
        let what = format!("name of a metalayer: corrected to {:?} (found {wrong:?})", b2nd::NAME);
        let item = RepairItem::new(FIXED_LEN as u64..self.base, what);
        report.guessed.push(item.with_evidence(Evidence::SecondCopy));
        self.metalayers = renamed;
    }

    /// Takes the array geometry from the metalayer `name`. Returns the reason where it does not fit the chunks.
    fn reconcile_metalayer(
        &mut self,
        name: &str,
        meta: Result<Meta>,
        chunks: &ChunkHeaders,
        report: &mut RepairReport,
    ) -> Option<String> {
        let item_len = usize::try_from(self.header.typesize).unwrap_or(1);
        let parsed = meta.and_then(|meta| Ok((geometry(&meta, item_len)?, meta)));
        let (geometry, meta) = match parsed {
            Ok(parsed) => parsed,
            Err(error) => return Some(error.kind().to_string()),
        };
        let is_of_chunks = match self.header.chunksize {
            ChunkSize::Fixed(len) => u64::from(len) == geometry.chunk_bytes(),
            _ => false,
        };
        if !is_of_chunks && !chunks.nbytes.is_empty() {
            return Some("its chunks are of another size".to_owned());
        }
        let (needed, found) = (geometry.chunk_count(), self.offsets.len());
        // Of a file that was cut chunks are missing, and the header counts them, or nothing does.
        let is_counted = self.expected == Some(needed) || needed == found;
        let may_be_cut = self.expected != Some(found)
            && self.index.is_empty()
            && (found..=found.saturating_add(MAX_MISSING)).contains(&needed);
        if !is_counted && !may_be_cut {
            return Some(format!("it needs {needed} chunks, and there are {found}"));
        }
        self.reconcile_dtype(name, meta, report);
        self.array = Some(geometry.chunk_bytes());
        self.expected = Some(needed);
        if let Ok(len) = u32::try_from(geometry.chunk_bytes()) {
            self.header.chunksize = ChunkSize::Fixed(len);
        }
        if let Ok(len) = u32::try_from(geometry.block_bytes()) {
            self.header.blocksize = len;
        }
        None
    }

    /// Replaces an element type that is unreadable, or of another size, by that of opaque bytes.
    fn reconcile_dtype(&mut self, name: &str, mut meta: Meta, report: &mut RepairReport) {
        let typesize = usize::try_from(self.header.typesize).unwrap_or(1);
        if b2nd::dtype_of(&meta, typesize).is_err_and(|error| error.is_damage()) {
            let what =
                format!("element type {:?}: not one of {typesize} bytes; elements become opaque", meta.dtype);
            report.lost.push(RepairItem::new(FIXED_LEN as u64..self.base, what));
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
            let what = format!("chunks of {} bytes of {nbytes}: not found", nbytes - found);
            report.lost.push(RepairItem::new(end..end, what));
        }
    }

    /// Compares the number of chunks found with the expected number, and reports the difference.
    fn reconcile_count(&mut self, origin: &DamagedFrame, report: &mut RepairReport) -> Result<()> {
        let found = self.offsets.len();
        let Some(expected) = self.expected else {
            if found == 0 && self.header.nbytes > 0 {
                return Err(Error::malformed("no chunk found").with_range(0..origin.len()));
            }
            self.reconcile_bytes(origin, report);
            return Ok(());
        };
        let end = origin.len();
        if found == 0 && expected > 0 {
            let problem = "no chunk found, nor an index of any";
            return Err(Error::malformed(problem).with_range(self.base.min(end)..end));
        }
        if found == expected {
            return Ok(());
        }
        if self.array.is_none() {
            // A run of elements is as long as its chunks are many.
            if !self.index.is_empty() || found > expected {
                let (source, evidence) = match self.index.is_empty() {
                    true => ("file", Evidence::Walk),
                    false => ("index", Evidence::Index),
                };
                let what = format!(
                    "number of chunks: corrected to {found}, that of the {source} (found {expected})"
                );
                report.guessed.push(RepairItem::new(29..38, what).with_evidence(evidence));
            } else {
                let what = format!("{} chunks of {expected}: not found", expected - found);
                report.lost.push(RepairItem::new(end..end, what));
            }
            self.expected = None;
            self.trusted = false;
        } else if found > expected {
            let what = format!("{} chunks beyond the {expected} of the shape: left out", found - expected);
            report.lost.push(RepairItem::new(end..end, what));
        } else {
            let what = format!(
                "{} chunks of {expected}: not found, or zeros that were never stored; zeros at the end take their place",
                expected - found
            );
            report.lost.push(RepairItem::new(end..end, what));
        }
        Ok(())
    }
}

/// Returns the geometry of an array of elements of `item_len` bytes.
fn geometry(meta: &Meta, item_len: usize) -> Result<Geometry> {
    Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len)
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
