//! Corrections of a header whose payload has the evidence: the size of an LZ4 block, and dimensions with other numbers of elements than are
//! stored.

use container_codecs::lz4::{BlockEnd, block_shape};
use container_core::region::element_count;
use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{Limits, Result};

use crate::Encoding;
use crate::encoding;
use crate::fault::Fault;
use crate::header::{FIXED_LEN, Header};
use crate::layout::{DeclaredEncoding, Layout};

/// Returns the source with a header that fits its payload, or as it is where that says nothing.
///
/// # Errors
/// Those of the source.
pub(super) fn with_header_of_payload(
    source: Box<dyn Source>,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Box<dyn Source>> {
    let Ok(layout) = Layout::parse(&*source, limits) else { return Ok(source) };
    let is_reshaped = layout.faults().iter().any(|fault| matches!(fault, Fault::ReshapeBug { .. }));
    let Some(len) = layout.decoded_len().filter(|_| !is_reshaped) else { return Ok(source) };
    let stored = match layout.form() {
        DeclaredEncoding::Plain => Stored::Elements(layout.header().size),
        DeclaredEncoding::Encoded => stored_in_block(&*source, &layout, len, limits)?,
        DeclaredEncoding::Bits => Stored::Unknown,
    };
    let (header, mut dims) = (*layout.header(), layout.dims().to_vec());
    let header = match stored {
        Stored::Size(size) => {
            let what = format!("the size field is {size}, the end of a block of {len} bytes");
            report.guessed.push(RepairItem::new(32..40, what).with_evidence(Evidence::Walk));
            Header { size, ..header }
        }
        // The end of the file speaks for the size field, and both against the dimensions.
        Stored::Elements(stored)
            if layout.data_at().checked_add(header.size) == Some(layout.file_len())
                && stored != len
                && stored > 0
                && stored.is_multiple_of(header.elbyte)
                && !dims.is_empty() =>
        {
            let count = stored.checked_div(header.elbyte).unwrap_or(0);
            dims = whole_slabs(&dims, count, stored < len)
                .unwrap_or_else(|| std::iter::once(count).chain(dims.iter().skip(1).map(|_| 1)).collect());
            let what = format!(
                "the dimensions {:?} contradict size and data: all elements are kept, as {dims:?}",
                layout.dims()
            );
            report.lost.push(RepairItem::new(FIXED_LEN..layout.data_at(), what));
            header
        }
        _ => return Ok(source),
    };
    Ok(Box::new(Overlay::new(source, header.to_bytes(&dims))))
}

/// The dimensions with another last one, where `count` elements are fewer than they ask for and are whole slabs along it.
fn whole_slabs(dims: &[u64], count: u64, are_fewer: bool) -> Option<Vec<u64>> {
    let (_, leading) = dims.split_last()?;
    let slab = element_count(leading.iter().copied())?;
    let last = count.checked_div(slab).filter(|_| are_fewer && count.is_multiple_of(slab))?;
    Some(leading.iter().copied().chain([last]).collect())
}

/// Findings of the payload about the header.
enum Stored {
    /// Bytes of the elements when decoded.
    Elements(u64),
    /// Bytes of the LZ4 block, where the size field has another number.
    Size(u64),
    Unknown,
}

/// Walks the LZ4 block of damaged data: as far as the size field says, or up to `len` decoded bytes.
fn stored_in_block(source: &dyn Source, layout: &Layout, len: u64, limits: &Limits) -> Result<Stored> {
    let range = layout.data_at()..layout.file_len();
    if source.lend(range.clone()).is_none() && limits.allocate(range.end.saturating_sub(range.start)).is_err()
    {
        return Ok(Stored::Unknown);
    }
    let data = source.read(range)?;
    let detected = encoding::detect(layout, &data, None);
    let is_damage =
        |fault: &Fault| matches!(fault, Fault::DataTruncated { .. } | Fault::UndecodableData { .. });
    if detected.encoding != Encoding::Lz4 || !detected.faults.iter().any(is_damage) {
        return Ok(Stored::Unknown);
    }
    let block = usize::try_from(layout.header().size).ok().and_then(|size| data.get(..size));
    let shape = block.map(|block| block_shape(block, u64::MAX));
    Ok(match shape.filter(|shape| shape.end == BlockEnd::Complete) {
        Some(shape) => Stored::Elements(shape.decoded_len),
        None => block_len(&data, len).map_or(Stored::Unknown, Stored::Size),
    })
}

/// Returns the length of the LZ4 block of `decoded_len` bytes at the start of `data`: up to the literals that make the last of these bytes.
fn block_len(data: &[u8], decoded_len: u64) -> Option<u64> {
    let reached = block_shape(data, decoded_len.checked_sub(1)?);
    let block = data.get(..reached.encoded_len)?;
    block_shape(block, decoded_len).is_exactly(decoded_len).then_some(block.len() as u64)
}
