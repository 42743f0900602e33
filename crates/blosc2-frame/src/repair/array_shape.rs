//! Corrects an array shape that needs another number of chunks than the frame has.

use crate::b2nd::{Geometry, Meta};
use crate::writer::MAX_CHUNKS;

/// Chunks of a shape beyond those that exist, if their number has no other source: with more the shape counts as damaged.
const MAX_MISSING: u64 = 1 << 20;

/// Whether a shape of `needed` chunks is plausible for a frame with `there` chunks.
pub(super) fn is_plausible(needed: u64, there: u64) -> bool {
    needed <= MAX_CHUNKS && needed <= there.saturating_mul(16).saturating_add(MAX_MISSING)
}

/// A corrected shape.
pub(super) struct GuessedShape {
    pub meta: Meta,
    pub geometry: Geometry,
    /// The axis with a changed length.
    pub axis: usize,
    /// Whether the length is a multiple of the chunk's, and may include padding.
    pub is_padded: bool,
}

/// Returns the shape with the length of one axis changed so that the array has `count` chunks of `chunk_bytes`, where one alone comes
/// about by a changed bit, or one axis alone can be that which is damaged.
pub(super) fn guess(meta: &Meta, item_len: usize, count: u64, chunk_bytes: u64) -> Option<GuessedShape> {
    let with = |axis: usize, len: u64| {
        let mut meta = meta.clone();
        *meta.shape.get_mut(axis)? = len;
        let geometry = Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, item_len).ok()?;
        let fits = geometry.chunk_count() == count && geometry.chunk_bytes() == chunk_bytes;
        fits.then_some(GuessedShape { meta, geometry, axis, is_padded: false })
    };
    let axes = 0..meta.shape.len();
    let flipped = axes.clone().flat_map(|axis| (0..64).map(move |bit| (axis, 1_u64 << bit)));
    let mut by_bit = flipped.filter_map(|(axis, bit)| with(axis, meta.shape.get(axis)? ^ bit));
    if let Some(first) = by_bit.next() {
        return by_bit.next().is_none().then_some(first);
    }
    let whole = axes.filter_map(|axis| {
        // As many chunks along the axis as the others leave of all.
        let chunk = u64::from(*meta.chunkshape.get(axis)?).max(1);
        let lens = meta.shape.iter().zip(&meta.chunkshape).enumerate().filter(|(other, _)| *other != axis);
        let others = lens
            .map(|(_, (len, chunk))| len.div_ceil(u64::from(*chunk).max(1)))
            .try_fold(1_u64, u64::checked_mul)?;
        let along = count.checked_div(others).filter(|along| along.checked_mul(others) == Some(count))?;
        with(axis, along.checked_mul(chunk)?).map(|guess| GuessedShape { is_padded: chunk > 1, ..guess })
    });
    let mut whole = whole.collect::<Vec<_>>().into_iter();
    let first = whole.next()?;
    whole.next().is_none().then_some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(shape: &[u64], chunkshape: &[u32], count: u64) -> Option<(Vec<u64>, bool)> {
        let chunkshape = chunkshape.to_vec();
        let bytes = chunkshape.iter().map(|len| u64::from(*len)).product();
        let meta =
            Meta { shape: shape.to_vec(), blockshape: chunkshape.clone(), chunkshape, ..Meta::default() };
        guess(&meta, 1, count, bytes).map(|guess| (guess.meta.shape, guess.is_padded))
    }

    #[test]
    fn one_length_alone_is_changed() {
        // 10 by 9 in chunks of 4 by 3: nine chunks.
        assert_eq!(guessed(&[10 | 1 << 40, 9], &[4, 3], 9), Some((vec![10, 9], false)));
        assert_eq!(guessed(&[10, 9 | 1 << 63], &[4, 3], 9), Some((vec![10, 9], false)));
        // Several bits: the padding is unknown.
        assert_eq!(guessed(&[10_000_003, 9], &[4, 3], 9), Some((vec![12, 9], true)));
        assert_eq!(guessed(&[10_000_003, 9], &[1, 3], 9), Some((vec![3, 9], false)));
        // Either axis may be it, and more than one bit.
        assert_eq!(guessed(&[12, 12], &[4, 4], 15), None);
        // Any length of one axis yields another number than seven.
        assert_eq!(guessed(&[10, 9], &[4, 3], 7), None);
        assert_eq!(guessed(&[], &[], 7), None);
    }
}
