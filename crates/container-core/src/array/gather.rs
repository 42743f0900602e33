//! Copying the elements of a strided view into contiguous storage.

use super::{Array, contiguous_strides};
use crate::dtype::Order;
use crate::source::STOP_LEN;
use crate::{Error, Result, Stop};

/// One axis of the copy: how many, and how far apart on both sides.
#[derive(Clone, Copy)]
struct Axis {
    count: usize,
    from: i64,
    to: usize,
}

/// A tile of a transposition: 32 × 32 elements of 8 bytes take half of a first-level cache.
const TILE: usize = 32;

/// Copies the elements of `array`, in `order`, to `dst`, whose length the caller has checked, until `stop` is requested.
pub(super) fn gather(array: &Array<'_>, order: Order, dst: &mut [u8], stop: Stop) -> Result<()> {
    let size = array.dtype.itemsize();
    if array.is_empty() || size == 0 {
        return Ok(());
    }
    let outside = || Error::usage("a view reaches outside its bytes");
    let mut axes = Vec::new();
    let target = contiguous_strides(&array.shape, size, order)?;
    for ((count, from), to) in array.shape.iter().zip(&array.strides).zip(target) {
        if *count != 1 {
            let count = usize::try_from(*count).map_err(|_| outside())?;
            axes.push(Axis { count, from: *from, to: usize::try_from(to).map_err(|_| outside())? });
        }
    }
    check_reach(array, &axes, size)?;
    // Fastest in the target first; neighbours that are contiguous on both sides become one axis.
    axes.sort_by_key(|axis| axis.to);
    let mut merged: Vec<Axis> = Vec::new();
    for axis in axes {
        match merged.last_mut() {
            Some(last) if last.from.checked_mul(last.count as i64) == Some(axis.from) => {
                last.count *= axis.count;
            }
            _ => merged.push(axis),
        }
    }
    // The axis that is fastest in the source comes second, so that the two can be tiled.
    if let Some(nearest) = (1..merged.len()).min_by_key(|at| merged[*at].from.unsigned_abs()) {
        merged.swap(1, nearest);
    }
    let origin = i64::try_from(array.origin).map_err(|_| outside())?;
    let mut below = size;
    let every = merged.iter().map(|axis| {
        let every = (STOP_LEN / below).max(1);
        below = below.saturating_mul(axis.count);
        every
    });
    let copy = Copy { src: &array.bytes, size, stop, every: every.collect() };
    copy.walk(&merged, origin, dst, 0)
}

/// Checks that the first and the last byte of the copy are within the bytes of the view.
fn check_reach(array: &Array<'_>, axes: &[Axis], size: usize) -> Result<()> {
    let (mut low, mut high) = (i128::from(array.origin), i128::from(array.origin));
    for axis in axes {
        let span = i128::from(axis.from) * (axis.count as i128 - 1);
        if span < 0 { low += span } else { high += span }
    }
    if low < 0 || high + size as i128 > array.bytes.len() as i128 {
        return Err(Error::usage("a view reaches outside its bytes"));
    }
    Ok(())
}

struct Copy<'a> {
    src: &'a [u8],
    size: usize,
    stop: Stop,
    /// For each axis, the indices that take about [`STOP_LEN`] bytes together.
    every: Vec<usize>,
}

impl Copy<'_> {
    /// `axes`: the fastest in the target first, the others in any order. `from` and `to` are byte offsets, inside by
    /// `check_reach`. Recurses once for each axis. One check for [`STOP_LEN`] bytes, and for each of the innermost loops.
    fn walk(&self, axes: &[Axis], from: i64, dst: &mut [u8], to: usize) -> Result<()> {
        match axes {
            [] => self.run(from, dst, to, self.size),
            [only] if only.count > STOP_LEN / self.size.min(STOP_LEN) => {
                let most = (STOP_LEN / self.size).max(1);
                for at in (0..only.count).step_by(most) {
                    self.stop.check()?;
                    let part = [Axis { count: most.min(only.count - at), ..*only }];
                    self.walk(&part, from + only.from * at as i64, dst, to + only.to * at)?;
                }
            }
            [only] if only.from == self.size as i64 => self.run(from, dst, to, only.count * self.size),
            [only] => self.column(*only, from, dst, to),
            [fast, slow] if fast.from != self.size as i64 => self.tiles(*fast, *slow, from, dst, to)?,
            [inner @ .., outer] => {
                let every = self.every[inner.len()];
                for index in 0..outer.count {
                    if index % every == 0 {
                        self.stop.check()?;
                    }
                    self.walk(inner, from + outer.from * index as i64, dst, to + outer.to * index)?;
                }
            }
        }
        Ok(())
    }

    fn run(&self, from: i64, dst: &mut [u8], to: usize, len: usize) {
        let from = usize::try_from(from).unwrap_or(usize::MAX - len);
        if let (Some(src), Some(dst)) = (self.src.get(from..from + len), dst.get_mut(to..to + len)) {
            dst.copy_from_slice(src);
        }
    }

    fn column(&self, axis: Axis, from: i64, dst: &mut [u8], to: usize) {
        match self.size {
            1 => column::<1>(self.src, axis, from, dst, to),
            2 => column::<2>(self.src, axis, from, dst, to),
            4 => column::<4>(self.src, axis, from, dst, to),
            8 => column::<8>(self.src, axis, from, dst, to),
            16 => column::<16>(self.src, axis, from, dst, to),
            size => {
                for index in 0..axis.count {
                    self.run(from + axis.from * index as i64, dst, to + axis.to * index, size);
                }
            }
        }
    }

    /// A transposition: reads of one tile touch `TILE` lines of the source, all of which stay in the cache.
    fn tiles(&self, fast: Axis, slow: Axis, from: i64, dst: &mut [u8], to: usize) -> Result<()> {
        for slow_at in (0..slow.count).step_by(TILE) {
            for fast_at in (0..fast.count).step_by(TILE) {
                self.stop.check()?;
                let part = Axis { count: TILE.min(fast.count - fast_at), ..fast };
                let from = from + fast.from * fast_at as i64;
                let to = to + fast.to * fast_at;
                for index in slow_at..slow.count.min(slow_at + TILE) {
                    self.column(part, from + slow.from * index as i64, dst, to + slow.to * index);
                }
            }
        }
        Ok(())
    }
}

fn column<const N: usize>(src: &[u8], axis: Axis, from: i64, dst: &mut [u8], to: usize) {
    let Some(dst) = dst.get_mut(to..to + axis.count * N) else { return };
    let mut at = from;
    for item in dst.as_chunks_mut::<N>().0 {
        let start = usize::try_from(at).unwrap_or(usize::MAX - N);
        if let Some(bytes) = src.get(start..start + N) {
            item.copy_from_slice(bytes);
        }
        at = at.wrapping_add(axis.from);
    }
}
