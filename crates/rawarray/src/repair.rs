//! Bringing back what can be proved of a damaged file, into a new one.
//!
//! The first 48 bytes and the dimensions must be there and be valid: without them nothing says what the rest is. A repair corrects what the
//! file has evidence for:
//!
//! * data that end early: whole slabs along the last dimension are kept (along the last one that leaves any);
//! * a size field of 0, or one where the dimensions lead to the end of the file: the size follows from the dimensions;
//! * the size of an LZ4 block: where the block of so many bytes ends ([`payload`]);
//! * the mistakes of known writers: ndims after a `reshape`, flag bit 1 over plain data, an empty array without dimensions.
//!
//! Size and dimensions that contradict each other otherwise are reported as lost, with all elements kept.
//!
//! The result is little-endian and encoded as the input was.

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod payload;

use std::ops::Range;
use std::path::Path;

use container_codecs::lz4::{block_shape, decode_prefix};
use container_core::block::read_block;
use container_core::container::OpenOptions;
use container_core::dtype::{ByteOrder, DType};
use container_core::format::{Input, Output, repair_file};
use container_core::region::element_count;
use container_core::report::{Evidence, RepairItem, RepairReport, Severity};
use container_core::source::{into_vec, try_zeroed_vec};
use container_core::{Error, Progress, Result, magic};

use crate::bits::Bits;
use crate::container::FORMAT;
use crate::fault::Fault;
use crate::file::File;
use crate::header::FIXED_LEN;
use crate::layout::{DeclaredEncoding, Layout};
use crate::leb128::Leb128;
use crate::write::{BigEndian, Encoder, Target};
use crate::{Eltype, Encoding};

/// Repairs the file at `path` into a new one at `target`. The input is only read.
///
/// # Errors
/// `Malformed` and `Truncated` when nothing can be brought back, `Usage` when the target exists, `Io`. No file appears then.
pub fn repair(path: impl AsRef<Path>, target: impl AsRef<Path>) -> Result<RepairReport> {
    repair_file(path.as_ref(), target.as_ref(), repair_to)
}

/// The entry for the table of formats.
pub(crate) fn repair_to(
    input: Input,
    options: &OpenOptions,
    out: Option<&mut dyn Output>,
    progress: Progress<'_>,
) -> Result<RepairReport> {
    let mut report = RepairReport::default();
    let source = magic::with_corrected_magic(input.into_source()?, FORMAT.magics, &mut report)?;
    let source = payload::with_header_of_payload(source, &options.limits, &mut report)?;
    let file = File::from_source(source, options)?;
    let plan = Plan::new(&file, report)?;
    if let Some(out) = out {
        plan.write(&file, out, progress)?;
    }
    Ok(plan.report)
}

/// Contents of the new file, and their sources.
struct Plan {
    target: Target,
    values: Values,
    trailer: Range<u64>,
    report: RepairReport,
}

enum Values {
    /// Plain bytes of the input.
    Stored(Range<u64>),
    /// Decoded, in the byte order of the input.
    Decoded(Vec<u8>),
}

impl Plan {
    fn new(file: &File, mut report: RepairReport) -> Result<Self> {
        let faults = file.faults();
        // A mistake in the header that leaves the data without a meaning.
        let hopeless = faults.iter().find(|fault| {
            matches!(
                fault,
                Fault::DimsTruncated { .. }
                    | Fault::NdimsLimit { .. }
                    | Fault::DimsOverflow { .. }
                    | Fault::UnknownFlag(_)
                    | Fault::UnknownEltype(_)
                    | Fault::ImpossibleElbyte { .. }
                    | Fault::AmbiguousEncoding { .. }
            )
        });
        if let Some(fault) = hopeless {
            return Err(fault
                .error()
                .with_hint("the header does not describe the data, so no repair can be verified"));
        }
        let layout = file.layout().with_corrections();
        for fault in faults.iter().filter(|fault| fault.severity() == Severity::Error) {
            report_correction(&mut report, fault, &layout);
        }
        let dtype = layout.dtype().cloned().ok_or_else(|| Error::malformed("the elements have no type"))?;
        let encoding =
            if faults.contains(&&Fault::FlagOnRawData) { Encoding::Plain } else { file.encoding() };
        let (values, have) = recover_values(file, &layout, encoding)?;
        let dims = keep_whole_slabs(layout.dims(), have).ok_or_else(|| nothing_left(&layout))?;
        let count = element_count(dims.iter().copied()).unwrap_or(0);
        let values = values.keep(count, dtype.itemsize() as u64);
        report_values(&mut report, &layout, &dims, count, &values);
        report_excess(&mut report, file, &layout, encoding);
        if count == layout.element_count().unwrap_or(0) {
            report_rest(&mut report, file, &layout, encoding);
        }
        let trailer = trailer_of(file, &layout, encoding, dims == layout.dims());
        if !trailer.is_empty() {
            report.kept.push(RepairItem::new(trailer.clone(), "trailer"));
        }
        let target = Target {
            eltype: layout.header().eltype,
            dtype: dtype.with_order(ByteOrder::Little),
            dims,
            encoding,
            header_order: ByteOrder::Little,
            big_endian: keeps_flag(&layout),
        };
        Ok(Self { target, values, trailer, report })
    }

    fn write(&self, file: &File, out: &mut dyn Output, progress: Progress<'_>) -> Result<()> {
        let from = file.layout().dtype().cloned().unwrap_or_else(|| self.target.dtype.clone());
        let mut encoder = Encoder::start(out, self.target.clone(), &file.options().limits)?;
        encoder.reserve()?;
        match &self.values {
            Values::Decoded(bytes) => encoder.push(bytes, &from)?,
            Values::Stored(range) => {
                copy(file, range, from.itemsize(), progress, |piece| encoder.push(piece, &from))?;
            }
        }
        let out = encoder.finish()?;
        copy(file, &self.trailer, 1, Progress::none(), |piece| Ok(out.write_all(piece)?))
    }
}

impl Values {
    /// The first `count` elements of `width` bytes.
    fn keep(self, count: u64, width: u64) -> Self {
        let len = count.saturating_mul(width);
        match self {
            Self::Stored(range) => Self::Stored(range.start..range.start.saturating_add(len).min(range.end)),
            Self::Decoded(mut bytes) => {
                bytes.truncate(usize::try_from(len).unwrap_or(usize::MAX));
                Self::Decoded(bytes)
            }
        }
    }
}

/// The values that are there, and how many.
fn recover_values(file: &File, layout: &Layout, encoding: Encoding) -> Result<(Values, u64)> {
    let width = layout.dtype().map_or(1, DType::itemsize).max(1) as u64;
    let count = layout.element_count().unwrap_or(0);
    let data = layout.data_at().min(layout.file_len())..layout.file_len();
    if encoding == Encoding::Plain {
        let have = (data.end - data.start) / width;
        return Ok((Values::Stored(data), have.min(count)));
    }
    let limits = &file.options().limits;
    if let Ok(segment) = file.segment() {
        let values = read_block(file.source(), &segment, file.codecs(), limits, 1)?;
        return Ok((Values::Decoded(into_vec(values, limits)?), count));
    }
    if file.source().lend(data.clone()).is_none() {
        limits.allocate(data.end - data.start)?;
    }
    let src = file.source().read(data)?;
    let bytes = match encoding {
        Encoding::Bits => decode_bits(&src, count, layout.data_order(), limits)?,
        Encoding::Leb128 => {
            let codec = layout.dtype().and_then(Leb128::new);
            let codec = codec.ok_or_else(|| Error::malformed("LEB128 data that are not integers"))?;
            let scan = codec.scan(&src, count);
            let mut values = try_zeroed_vec(scan.values.saturating_mul(width), limits)?;
            container_core::codec::Codec::decode(&codec, &src[..scan.used], &mut values)?;
            values
        }
        _ => {
            // The block is as long as the size field says; what follows is none of it.
            let size = usize::try_from(layout.header().size).unwrap_or(usize::MAX);
            let src = &src[..size.min(src.len())];
            // A byte of LZ4 makes at most 255.
            let most = (src.len() as u64).saturating_mul(255).saturating_add(64);
            let mut values = try_zeroed_vec(count.saturating_mul(width).min(most), limits)?;
            let made = decode_prefix(src, &mut values);
            values.truncate(made);
            values
        }
    };
    let have = bytes.len() as u64 / width;
    Ok((Values::Decoded(bytes), have.min(count)))
}

fn decode_bits(src: &[u8], count: u64, order: ByteOrder, limits: &container_core::Limits) -> Result<Vec<u8>> {
    let words = src.len() / 8;
    let have = count.min((words as u64).saturating_mul(64));
    let mut values = try_zeroed_vec(have, limits)?;
    let used = usize::try_from(crate::bits::stored_len(have)).unwrap_or(0);
    container_core::codec::Codec::decode(&Bits { order }, &src[..used], &mut values)?;
    Ok(values)
}

/// The dimensions when only the first `have` elements are there: whole slabs along the last dimension, or, where not even one
/// is whole, along an earlier one, the later ones being 1. `None` when no element is left of an array that had some.
fn keep_whole_slabs(dims: &[u64], have: u64) -> Option<Vec<u64>> {
    let count = element_count(dims.iter().copied())?;
    if have >= count {
        return Some(dims.to_vec());
    }
    for axis in (0..dims.len()).rev() {
        let slab = element_count(dims[..axis].iter().copied())?;
        if have >= slab {
            let mut kept = dims.to_vec();
            kept[axis] = have / slab;
            kept[axis + 1..].fill(1);
            return Some(kept);
        }
    }
    None
}

fn nothing_left(layout: &Layout) -> Error {
    let data = layout.data_at()..layout.file_len();
    Error::malformed("the data contain no whole element").with_context("rawarray data").with_range(data)
}

/// Reports the correction of a fault, with its evidence, or as lost the word that has none.
fn report_correction(report: &mut RepairReport, fault: &Fault, corrected: &Layout) {
    let dims = corrected.dims();
    let (what, evidence) = match fault {
        Fault::ReshapeBug { ndims, .. } => {
            let what = format!("dimensions {dims:?}: a reshape did not update the count {ndims}");
            (what, Evidence::KnownDamage)
        }
        Fault::EmptyWithoutDims { .. } => ("dimensions [0]: an empty array".into(), Evidence::KnownDamage),
        Fault::FlagOnRawData => ("the data are plain, flag bit 1 is wrong".into(), Evidence::KnownDamage),
        Fault::SizeMismatch { size, expected } => {
            let end = corrected.data_at().saturating_add(*expected);
            // As many varints as the elements end with the file, whatever their width: it is right unless the size is that of another.
            let is_other_width = || size.is_multiple_of(corrected.element_count().unwrap_or(0));
            let ends_there = match corrected.form() {
                DeclaredEncoding::Encoded => !is_other_width(),
                _ => end == corrected.file_len(),
            };
            let evidence = match size {
                // The writer did not live to set it.
                0 => Evidence::KnownDamage,
                _ if ends_there => Evidence::Walk,
                _ => {
                    let what = format!("the size field {size}, which contradicts the dimensions {dims:?}");
                    report.lost.push(RepairItem::new(fault.range(), what));
                    return;
                }
            };
            (format!("the dimensions {dims:?} are right, the size field {size} is wrong"), evidence)
        }
        _ => return,
    };
    report.guessed.push(RepairItem::new(fault.range(), what).with_evidence(evidence));
}

fn report_values(report: &mut RepairReport, layout: &Layout, dims: &[u64], count: u64, values: &Values) {
    let data_at = layout.data_at();
    report.kept.insert(0, RepairItem::new(0..data_at, "element type and dimensions"));
    let whole = layout.element_count().unwrap_or(0);
    let range = match values {
        Values::Stored(range) => range.clone(),
        Values::Decoded(_) => data_at.min(layout.file_len())..layout.file_len(),
    };
    if !range.is_empty() {
        report.kept.push(RepairItem::new(range.clone(), format!("{count} elements, dimensions {dims:?}")));
    }
    if count < whole {
        let what =
            format!("{} of {whole} elements: the last dimensions were {:?}", whole - count, layout.dims());
        let claimed = layout.decoded_len().map_or(range.end, |len| data_at.saturating_add(len));
        let lost = if matches!(values, Values::Stored(_)) { range.end..claimed } else { range };
        report.lost.push(RepairItem::new(lost, what));
    }
}

/// A block that decodes to more than the dimensions ask for: it is damaged, or more than one of them is wrong.
fn report_excess(report: &mut RepairReport, file: &File, layout: &Layout, encoding: Encoding) {
    if encoding != Encoding::Lz4 || file.segment().is_ok() {
        return;
    }
    let start = layout.data_at();
    let data = start..start.saturating_add(layout.header().size).min(layout.file_len());
    let full = layout.decoded_len().unwrap_or(u64::MAX);
    let has_room = file.source().lend(data.clone()).is_some()
        || file.options().limits.allocate(data.end.saturating_sub(start)).is_ok();
    if let Some(block) = has_room.then(|| file.source().read(data.clone()).ok()).flatten()
        && block_shape(&block, full).decoded_len > full
    {
        let what = format!("decoded data after the {full} bytes of the dimensions {:?}", layout.dims());
        report.lost.push(RepairItem::new(data, what));
    }
}

/// All elements that the dimensions ask for were made of encoded data, which are damaged all the same: there are too many of them, if the
/// dimensions are not wrong.
fn report_rest(report: &mut RepairReport, file: &File, layout: &Layout, encoding: Encoding) {
    let is_encoded = matches!(encoding, Encoding::Lz4 | Encoding::Leb128);
    let is_odd =
        |fault: &&Fault| matches!(fault, Fault::DataTruncated { .. } | Fault::UndecodableData { .. });
    if !is_encoded || !report.lost.is_empty() || !file.faults().iter().any(is_odd) {
        return;
    }
    let data = layout.data_at().min(layout.file_len())..layout.file_len();
    if data.is_empty() {
        let what = format!("no element is missing, and the size field {} is wrong", layout.header().size);
        report.guessed.push(RepairItem::new(32..40, what).with_evidence(Evidence::Walk));
    } else {
        let what = format!("data after the elements of the dimensions {:?}, if any", layout.dims());
        report.lost.push(RepairItem::new(data, what));
    }
}

/// Flag bit 0 stays only where it is the sole record of an order that nobody can undo.
fn keeps_flag(layout: &Layout) -> BigEndian {
    let header = layout.header();
    let opaque = header.eltype == Eltype::USER && layout.data_order() == ByteOrder::Big;
    if opaque { BigEndian::Yes } else { BigEndian::No }
}

/// Bytes after complete data, which are kept as they are.
fn trailer_of(file: &File, layout: &Layout, encoding: Encoding, complete: bool) -> Range<u64> {
    let known = file.trailer_range();
    if encoding == Encoding::Lz4 && known.is_empty() {
        let end = layout.data_at().saturating_add(layout.header().size);
        return end.min(layout.file_len())..layout.file_len();
    }
    if !known.is_empty() || !matches!(encoding, Encoding::Plain | Encoding::Bits) || !complete {
        return known;
    }
    let data_at = layout.data_at().max(FIXED_LEN);
    let stored = match encoding {
        Encoding::Bits => layout.element_count().map(crate::bits::stored_len),
        _ => layout.decoded_len(),
    };
    let end = stored.map_or(layout.file_len(), |len| data_at.saturating_add(len));
    end.min(layout.file_len())..layout.file_len()
}

/// Passes `range` on in pieces of whole items.
fn copy(
    file: &File,
    range: &Range<u64>,
    item: usize,
    progress: Progress<'_>,
    mut sink: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let item = item.max(1);
    let most = (((1 << 20) / item).max(1) * item) as u64;
    let mut at = range.start;
    while at < range.end {
        let next = range.end.min(at.saturating_add(most));
        if file.source().lend(at..next).is_none() {
            file.options().limits.allocate(next - at)?;
        }
        sink(&file.source().read(at..next)?)?;
        at = next;
        progress.tick(at - range.start, range.end - range.start)?;
    }
    Ok(())
}
