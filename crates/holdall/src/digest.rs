//! A digest of an array: the same for the same type, shape and values, whatever the format, order, byte order, codec or chunks.
//!
//! Hashed with SHA-256 are one line of JSON, `{"holdall.digest":1,"dtype":"<f4","shape":[2,3]}`, a line feed, and the elements in C order, every
//! number little-endian. Records are their fields one after the other, without padding and titles. Missing elements have zero bytes; then a line
//! `{"mask":true}` and a byte for each scalar follow, 1 for a missing one. `docs/digest.md` has the full definition, and a numpy program with the
//! same result.

use container_codecs::checksum::Algorithm;
use container_core::checksum::Digest;
use container_core::chunked_read::{check_readable, for_each_chunk, for_each_masked_chunk};
use container_core::container::{Container, Digests, ReadOptions};
use container_core::dtype::{ByteOrder, DType, Order};
use container_core::mask::Hidden;
use container_core::region::Region;
use container_core::source::PIECE_LEN;
use container_core::{Progress, Result};
use serde_json::json;

use crate::address::Address;
use crate::json::dtype_json;
use crate::views::drop_frame_axis::without_frame_axes;

mod list;

use crate::pack_records::Packer;
pub use list::{Line, line};

/// Type, shape and digest of an array.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayDigest {
    /// The type that was hashed: little-endian, records without padding and titles.
    pub dtype: DType,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// SHA-256.
    pub digest: Digest,
}

/// The datasets of an address. As for a conversion, the one frame of a file drops its axis of frames.
///
/// # Errors
/// As [`Address::select`].
pub fn select(address: &Address, container: &dyn Container) -> Result<Vec<(usize, Region)>> {
    let mut selection = address.select(container)?;
    without_frame_axes(container, &mut selection);
    Ok(selection)
}

/// The digest of the elements of `region` of a dataset. Memory is bounded by a piece of it. Digests of the file are always compared,
/// whatever `read` is.
///
/// # Errors
/// Those of [`Container::read`]; `Unsupported` for records of very many parts; `Cancelled`.
pub fn digest(
    container: &dyn Container,
    index: usize,
    region: &Region,
    read: &ReadOptions,
    progress: Progress<'_>,
) -> Result<ArrayDigest> {
    let mut read = *read;
    read.digests = Digests::Compare;
    let stored = container.require(index)?.dtype.clone();
    let packer = Packer::new(&stored)?;
    let dtype = packer.dtype().with_order(ByteOrder::Little);
    let shape = region.shape();
    let mut running = Algorithm::Sha256.start();
    running.update(header(&dtype, &shape).as_bytes());
    let is_plain = packer.is_plain() && stored.is_in_order(ByteOrder::Little);
    check_readable(container, index, region, &read)?;
    let mut made = Vec::new();
    let mut any = false;
    let mut add = |run: &[u8]| {
        let size = stored.itemsize().max(1);
        for run in run.chunks((PIECE_LEN / size).max(1).saturating_mul(size)) {
            read.limits.stop.check()?;
            if is_plain {
                running.update(run);
                continue;
            }
            made.clear();
            packer.pack(run, &mut made);
            packer.dtype().swap_to(ByteOrder::Little, &mut made)?;
            running.update(&made);
        }
        Ok(())
    };
    if container.has_mask(index, &read)? {
        for_each_masked_chunk(container, index, region, Order::C, &read, progress, |run, hidden| {
            let Some(hidden) = hidden.filter(|hidden| hidden.any()) else { return add(run) };
            any = true;
            // Masked elements are not values.
            let mut shown = run.to_vec();
            hidden.fill(&stored, &mut shown, &|_, part| part.fill(0));
            add(&shown)
        })?;
    } else {
        for_each_chunk(container, index, region, Order::C, &read, progress, add)?;
    }
    if any {
        running.update(b"{\"mask\":true}\n");
        let most = (MASK_PIECE.min(read.limits.memory / 4) / (stored.itemsize() as u64).max(1)).max(1);
        for piece in region.chunks(Order::C, most) {
            read.limits.stop.check()?;
            if let Some(mask) = container.mask(index, &piece, &read)? {
                running.update(Hidden::new(&mask, &stored, Order::C, &read.limits)?.bytes());
            }
        }
    }
    Ok(ArrayDigest { dtype, shape, digest: running.finish() })
}

/// Bytes of elements whose mask is read at once.
const MASK_PIECE: u64 = 16 << 20;

/// The line before the elements.
fn header(dtype: &DType, shape: &[u64]) -> String {
    let line = json!({ "holdall.digest": 1, "dtype": dtype_json(dtype), "shape": shape });
    format!("{line}\n")
}

#[cfg(test)]
mod tests;
