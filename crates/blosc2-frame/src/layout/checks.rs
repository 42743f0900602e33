//! Consistency checks between header, index and trailer.

use std::ops::Range;

use blosc_chunk::Special;

use super::Layout;
use crate::b2nd;
use crate::decoder_pool;
use crate::fault::{Fault, FaultKind};
use crate::header::{BARE_LEN, ChunkSize, Header, Kind, MAX_TYPESIZE};
use crate::metalayer::MAX_METALAYERS;
use crate::offsets::{Offset, Offsets};

/// The most that python-blosc2 takes for the byte of a filter.
pub(crate) const MAX_FILTER_META: u8 = 127;

/// Largest number of faults of single offsets that are reported singly; the rest are counted.
const MAX_REPORTED: u64 = 64;

impl Layout {
    /// Sizes and flags of the header. `fixed` are its first 87 bytes.
    pub(super) fn check_fields(&mut self, fixed: &[u8]) {
        let header = self.header.clone();
        let (variable, version) = (header.variable_chunks || header.variable_blocks, header.version);
        let is_variable = header.chunksize == ChunkSize::Variable;
        let is_told = self.faults.iter().any(|fault| fault.kind() == FaultKind::Chunksize);
        if header.chunksize == ChunkSize::Unset && header.nbytes > 0 && !is_told {
            let message = format!("{} bytes of data in chunks of an unknown size", header.nbytes);
            self.add_fault(FaultKind::Chunksize, self.field(57, 5), message);
        } else if is_variable && header.nbytes > 0 && !header.variable_chunks {
            let message = "a chunk size of 0, without the flag for chunks of different sizes";
            self.add_fault(FaultKind::Chunksize, self.field(57, 5), message);
        }
        if !(1..=MAX_TYPESIZE).contains(&header.typesize) {
            let message = format!("elements of {} bytes", header.typesize);
            self.add_fault(FaultKind::Typesize, self.field(47, 5), message);
        }
        if header.blocksize > i32::MAX.unsigned_abs() {
            let message = format!("blocks of {} bytes", header.blocksize);
            self.add_fault(FaultKind::Blocksize, self.field(52, 5), message);
        }
        if variable && version < 3 {
            let message = format!(
                "chunks or blocks of different sizes in a frame of version {version}; they came with 3"
            );
            self.add_fault(FaultKind::VersionFlags, self.field(25, 1), message);
        } else if header.variable_chunks && matches!(header.chunksize, ChunkSize::Fixed(_)) {
            let message = "a chunk size, with the flag for chunks of different sizes";
            self.add_fault(FaultKind::VersionFlags, self.field(25, 1), message);
        }
        self.check_reserved(fixed);
    }

    fn check_reserved(&mut self, fixed: &[u8]) {
        let byte = |at: usize| fixed.get(at).copied().unwrap_or_default();
        let bits = byte(26) & 0xf0;
        if bits != 0 {
            let message =
                format!("bits {bits:#04x} of the type of the frame are set: C-Blosc2 does not open it");
            self.add_fault(FaultKind::FrameType, self.field(26, 1), message);
        }
        for (slot, filter) in (0_u64..).zip(self.header.filters.0) {
            if filter.is_unassigned() {
                let message = format!(
                    "unknown filter number {} for new chunks: C-Blosc2 does not open the frame",
                    filter.id
                );
                self.add_fault(
                    FaultKind::FiltersUnknown,
                    self.field(71_u64.saturating_add(slot), 1),
                    message,
                );
            }
            if filter.meta > MAX_FILTER_META {
                let message = format!(
                    "the byte {} for filter {slot}: python-blosc2 does not open the frame",
                    filter.meta
                );
                self.add_fault(
                    FaultKind::FiltersUnknown,
                    self.field(79_u64.saturating_add(slot), 1),
                    message,
                );
            }
        }
        let set = [(28, 0xfc), (85, 0xfe), (86, 0xff)];
        for (at, mask) in set {
            let bits = byte(at) & mask;
            if bits != 0 {
                let message = format!("reserved bits {bits:#04x} are set in byte {at} of the header");
                self.add_fault(FaultKind::ReservedNotZero, self.field(at as u64, 1), message);
            }
        }
    }

    /// Checks each offset by itself, and their order.
    ///
    /// An offset is valid if a header fits between it and the end of the chunks, if its file number fits in 32 bits (sparse frames),
    /// or if it is a mark without further bits. After the pass over all offsets, faults that concern many of them are reported once:
    /// the number of unreported ones, an offset that all share, NaN for a typesize without one, and offsets out of order.
    pub(super) fn check_offsets(&mut self) {
        let section = self.chunks();
        let room = section.end.saturating_sub(section.start);
        let is_sparse = self.header.kind == Kind::Sparse;
        let mut told = 0_u64;
        let (mut before, mut unsorted) = (None, false);
        let mut faults = Vec::new();
        // A value that all share is checked once.
        let count = if matches!(self.offsets, Offsets::Same(..)) { 1 } else { u64::MAX };
        for (index, offset) in (0_u64..count).zip(self.offsets.iter()) {
            let wrong = match offset {
                Offset::Stored(at) if is_sparse => {
                    (at > u64::from(u32::MAX)).then_some((FaultKind::OffsetOutside, at.cast_signed()))
                }
                // A chunk has 16 bytes of header or more.
                Offset::Stored(at) => {
                    (at.saturating_add(16) > room).then_some((FaultKind::OffsetOutside, at.cast_signed()))
                }
                Offset::Unknown(raw) => Some((FaultKind::OffsetUnknown, raw)),
                Offset::Special(_) => {
                    let raw = self.offsets.raw(index).unwrap_or(0);
                    (raw != offset.to_raw()).then_some((FaultKind::OffsetUnknown, raw))
                }
            };
            if let (Offset::Stored(at), None) = (offset, &wrong) {
                unsorted |= before.is_some_and(|before| at < before);
                before = Some(at);
            }
            if let Some((kind, raw)) = wrong {
                told = told.saturating_add(1);
                if told <= MAX_REPORTED {
                    let place = if is_sparse {
                        "a file cannot have this number".to_owned()
                    } else {
                        format!("the chunks have {room} bytes")
                    };
                    let message = match kind {
                        FaultKind::OffsetUnknown if matches!(offset, Offset::Special(_)) => {
                            format!("the offset {raw:#018x} of chunk {index} has undefined bits")
                        }
                        FaultKind::OffsetUnknown => {
                            format!("unknown offset {raw:#018x} of chunk {index}")
                        }
                        _ => format!("the offset of chunk {index} is {raw}, {place}"),
                    };
                    faults.push(Fault::new(kind, self.index(), message).of(index));
                }
            }
        }
        if told > MAX_REPORTED {
            let message = format!("{} more offsets are invalid", told.saturating_sub(MAX_REPORTED));
            faults.push(Fault::new(FaultKind::OffsetOutside, self.index(), message));
        }
        if let Offsets::Same(Offset::Stored(_), 2..) = self.offsets {
            let message = format!("{} chunks have the same offset", self.offsets.len());
            faults.push(Fault::new(FaultKind::OffsetsSame, self.index(), message));
        }
        let is_nan = |offset: &Offset| *offset == Offset::Special(Special::Nan);
        let nan = match self.offsets {
            Offsets::Same(offset, count) => (is_nan(&offset) && count > 0).then_some((0, count)),
            Offsets::Each(_) => (0_u64..)
                .zip(self.offsets.iter())
                .find(|(_, offset)| is_nan(offset))
                .map(|(first, _)| (first, self.offsets.iter().filter(is_nan).count() as u64)),
        };
        if let Some((first, count)) = nan
            && !decoder_pool::has_nan(self.header.typesize)
        {
            let message = format!(
                "{count} chunks of NaN, the first one chunk {first}, in elements of {} bytes, which have no NaN",
                self.header.typesize
            );
            faults.push(Fault::new(FaultKind::NanWidth, self.index(), message).of(first));
        }
        if unsorted {
            let message = "chunks are not stored in the order of their data";
            faults.push(Fault::new(FaultKind::OffsetsUnsorted, self.index(), message));
        }
        self.faults.append(&mut faults);
    }

    /// Checks metalayers, trailer and the bytes after them.
    pub(super) fn check_rest(&mut self) {
        let header = self.header_range();
        self.check_metalayers();
        if self.header.header_len < BARE_LEN && self.metalayers.is_empty() && header.end <= self.file_len {
            let message = format!("a header of {} bytes", self.header.header_len);
            self.add_fault(FaultKind::HeaderLen, self.field(10, 5), message);
        }
        let has_trailer = !self.trailer_range.is_empty()
            && !self.faults.iter().any(|fault| fault.kind() == FaultKind::TrailerUnreadable);
        if has_trailer && self.header.has_vlmetalayers == self.trailer.vlmetalayers.is_empty() {
            let message = format!(
                "the header declares {} user metalayers (found {} in the trailer)",
                if self.header.has_vlmetalayers { "some" } else { "no" },
                self.trailer.vlmetalayers.len()
            );
            self.add_fault(FaultKind::VlmetaFlag, self.field(68, 1), message);
        }
        let fingerprint = self.trailer.fingerprint;
        if fingerprint.kind != 0 || fingerprint.bytes != [0; 16] {
            let end = self.trailer_range.end;
            let message = format!("unknown fingerprint type {}", fingerprint.kind);
            self.add_fault(FaultKind::Fingerprint, end.saturating_sub(17)..end, message);
        }
        let end = self.end();
        if end < self.file_len {
            let rest: Range<u64> = end..self.file_len;
            let message = format!("{} bytes follow the frame", rest.end.saturating_sub(rest.start));
            self.add_fault(FaultKind::TrailingBytes, rest, message);
        }
    }
}

impl Layout {
    fn check_metalayers(&mut self) {
        let mut names: Vec<&str> = self.metalayers.iter().map(|(name, _)| name).collect();
        let count = names.len();
        names.sort_unstable();
        names.dedup();
        let message = if count > MAX_METALAYERS {
            format!("{count} metalayers (expected at most {MAX_METALAYERS})")
        } else if names.len() < count {
            "two metalayers of one name, of which the first is read".to_owned()
        } else if let Some(name) = b2nd::misnamed(&self.metalayers, &self.header, self.offsets.len()) {
            format!("the metalayer {name:?} is that of an array, whose name is {:?}", b2nd::NAME)
        } else if self.metalayers.has_other_index() {
            "the size of the index of the metalayers is wrong".to_owned()
        } else {
            return;
        };
        self.add_fault(FaultKind::MetalayersOdd, self.header_range(), message);
    }
}

impl Header {
    /// Bytes of an element for arithmetic: never 0.
    #[must_use]
    pub fn item_len(&self) -> u64 {
        u64::from(self.typesize).max(1)
    }
}
