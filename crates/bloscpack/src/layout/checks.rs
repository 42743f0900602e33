//! Structural checks of header and metadata, before any chunk is read.

use std::ops::Range;

use container_core::array::byte_len;
use container_core::report::Severity;
use container_core::{Limits, Value};

use super::Layout;
use crate::NumpyArray;
use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::fault::{Fault, FaultKind};
use crate::header::{Dialect, MAX_CHUNK, Options};
use crate::items::item_type::{Elements, ItemType, items_of_shape};

impl Layout {
    /// Checks the fields of the header.
    pub(super) fn check_header(&mut self) {
        self.check_options();
        let header = self.header;
        if !header.checksum_is_known() {
            let message = format!("unknown checksum {} (expected 0 to 8)", header.checksum.0);
            self.add_fault(FaultKind::UnknownChecksum, 6..7, message);
        }
        let dialect = header.dialect;
        if header.reserved != 0 {
            let range = match dialect {
                Dialect::V1 => 5..8,
                Dialect::V2 => 24..32,
                _ => 28..32,
            };
            self.add_fault(FaultKind::ReservedNotZero, range, "reserved bytes of the header are set");
        }
        let count_at = if dialect == Dialect::V1 { 8..16 } else { 16..24 };
        if header.nchunks < -1 {
            self.add_fault(
                FaultKind::ImpossibleSize,
                count_at,
                format!("impossible number of chunks: {}", header.nchunks),
            );
        }
        if matches!(dialect, Dialect::V2 | Dialect::V3 | Dialect::V3Interim) {
            self.check_sizes();
        }
    }

    fn check_sizes(&mut self) {
        let header = self.header;
        let impossible = |size: i32| size < -1 || u32::try_from(size).is_ok_and(|size| size > MAX_CHUNK);
        for (size, range, what) in
            [(header.chunk_size, 8..12, "chunk-size"), (header.last_chunk, 12..16, "last-chunk")]
        {
            if impossible(size) {
                self.add_fault(FaultKind::ImpossibleSize, range, format!("{what} is {size}"));
            }
        }
        let (chunk, last) = (header.chunk_size, header.last_chunk);
        // Version 2 wrote a larger last chunk, and a chunk size of 0 for a single one.
        if header.dialect != Dialect::V2 && last > chunk && chunk >= 0 {
            let message = format!("the last chunk of {last} bytes is larger than the others of {chunk}");
            self.add_fault(FaultKind::ImpossibleSize, 8..16, message);
        }
        if header.nchunks == 0 && (chunk > 0 || last > 0) {
            let message = format!("no chunks, of {chunk} bytes, and the last of {last}");
            self.add_fault(FaultKind::ImpossibleSize, 8..24, message);
        }
        let spare = header.max_app_chunks;
        if spare < 0 {
            self.add_fault(FaultKind::ImpossibleSize, 24..32, format!("max-app-chunks is {spare}"));
        } else if spare > 0 && header.nchunks == -1 {
            let message = format!("{spare} spare entries after an unknown number of chunks");
            self.add_fault(FaultKind::ImpossibleSize, 16..32, message);
        } else if spare > 0 && !header.has_offsets() {
            let message = format!("{spare} spare entries of a missing table of offsets");
            self.add_fault(FaultKind::ReservedNotZero, 24..32, message);
        }
    }

    fn check_options(&mut self) {
        let options = self.header.options;
        let undefined = |options: u8| format!("option bits {options:#04x} are not defined in this version");
        match self.header.dialect {
            Dialect::P0 => {}
            Dialect::V1 => {
                // The byte of the options in later versions.
                let [options, ..] = self.header.reserved.to_le_bytes();
                if Options(options).has(Options::VARIABLE_LENGTH) {
                    self.add_fault(FaultKind::UndefinedOptions, 5..6, undefined(options));
                }
            }
            Dialect::V2 if options.has(Options::VARIABLE_LENGTH) => {
                self.add_fault(FaultKind::UndefinedOptions, 5..6, undefined(options.0 & !1));
            }
            // Its reader checks bit 0 only.
            Dialect::V2 if options.0 > 1 => {
                self.add_fault(FaultKind::ReservedNotZero, 5..6, undefined(options.0 & !1));
            }
            Dialect::V2 => {}
            Dialect::V3 | Dialect::V3Interim | Dialect::Vl | Dialect::VlAsV3 => self.check_new_options(),
        }
    }

    fn check_new_options(&mut self) {
        let (options, dialect) = (self.header.options, self.header.dialect);
        if options.0 & !0b111 != 0 {
            let message = format!("unknown option bits {:#04x}", options.0 & !0b111);
            self.add_fault(FaultKind::UndefinedOptions, 5..6, message);
        }
        match dialect {
            Dialect::V3Interim => {
                let message = "version 3 with option bit 2 and zlib metadata: a snapshot of December 2012, never released";
                self.add_fault(FaultKind::InterimVersion, 4..6, message);
            }
            Dialect::Vl if !options.has(Options::VARIABLE_LENGTH) => {
                let message = "version 4 without option bit 2, which is not defined";
                self.add_fault(FaultKind::UndefinedOptions, 4..6, message);
            }
            _ => {}
        }
        if dialect.is_variable_length() && !options.has(Options::OFFSETS) {
            self.add_fault(FaultKind::OffsetsMissing, 5..6, "a variable-length file without offsets");
        }
    }

    /// The proposal defines no version number. Bit 2 of a version 3 may be damage as well: then another field does not fit.
    pub(super) fn check_proposal(&mut self) {
        if self.header.dialect != Dialect::VlAsV3 {
            return;
        }
        let is_whole =
            self.faults.iter().all(|fault| fault.severity() < Severity::Error) && self.metadata.is_some();
        let (kind, message) = if is_whole {
            (
                FaultKind::ProposalVersion,
                "the variable-length proposal under version byte 3, which holdall writes as 4",
            )
        } else {
            let message = "version 3 with option bit 2: the variable-length proposal perhaps, or damage";
            (FaultKind::VariableLengthVersion, message)
        };
        self.add_fault(kind, 4..6, message);
    }

    pub(super) fn check_metadata(&mut self, limits: &Limits) {
        let Some(metadata) = &self.metadata else { return };
        let Some(tree) = metadata.tree.clone() else { return };
        let range = metadata.payload.clone();
        if self.header.dialect.is_variable_length() {
            self.check_items(&tree, range);
            return;
        }
        match NumpyArray::from_metadata(&tree, limits) {
            Ok(numpy) => self.numpy = numpy,
            Err(error) => self.faults.push(Fault::of_error(FaultKind::NumpyMetadata, error, range.clone())),
        }
        let Some(numpy) = &self.numpy else { return };
        let need = byte_len(&numpy.dtype, &numpy.shape);
        if let Some(have) = self.data_len
            && need != Some(have)
        {
            let message = self.explain_misfit(need, have);
            self.add_fault(FaultKind::ShapeMismatch, range, message);
        }
    }

    /// The reason why shape and bytes may differ.
    fn explain_misfit(&self, need: Option<u64>, have: u64) -> String {
        let Some(need) = need else { return "the shape is larger than 2^64 bytes".to_owned() };
        let message = format!("the chunks contain {have} bytes (expected {need} by the shape)");
        let typesize = u64::from(self.header.typesize).max(1);
        let chunk = u64::try_from(self.header.chunk_size).unwrap_or(0);
        let whole = u64::try_from(self.header.nchunks).unwrap_or(0).saturating_sub(1);
        // 0.11 to 0.14 cut every chunk to whole elements after they had counted the chunks.
        let lost = need.saturating_sub(have);
        if lost > 0 && whole > 0 && chunk.is_multiple_of(typesize) && lost < whole.saturating_mul(typesize) {
            return format!(
                "{message}: bloscpack 0.11 to 0.14 lost them where the chunk size was not a multiple of the typesize"
            );
        }
        if need < have {
            return format!("{message}: `blpk append` does not update the shape");
        }
        message
    }

    /// Whether the items are whole elements of the declared type, and the shape has as many of them as there are.
    fn check_items(&mut self, tree: &Value, range: Range<u64>) {
        let items = ItemType::from_metadata(tree);
        let is_torn = |(_, chunk): &(u64, &ChunkEntry)| {
            let is_whole = chunk.state() == ChunkState::Whole;
            is_whole && !Elements::of(items.as_ref(), chunk.nbytes()).is_declared
        };
        let mut torn = (0..).zip(&self.chunks).filter(is_torn);
        if let (Some(ItemType::Ragged(dtype)), Some((index, chunk))) = (&items, torn.next()) {
            let more = match torn.count() {
                0 => String::new(),
                more => format!(" (and {more} more)"),
            };
            let message =
                format!("item {index} has {} bytes, not whole elements of {dtype}{more}", chunk.nbytes());
            let place = chunk.range().start;
            let range = place.saturating_add(4)..place.saturating_add(8);
            self.faults.push(Fault::new(FaultKind::ItemElements, range, message).of(index));
        }
        let Some(shape) = tree.get("shape") else { return };
        if !matches!(shape, Value::List(_)) {
            return self.add_fault(FaultKind::ItemCount, range, "the shape is not a list of lengths");
        }
        let count = items_of_shape(shape);
        // Without a count, the number of chunks found.
        let items = self.count().unwrap_or(self.chunks.len() as u64);
        if count != Some(items) {
            let message = format!("the shape of the metadata does not fit {items} items");
            self.add_fault(FaultKind::ItemCount, range, message);
        }
    }
}
