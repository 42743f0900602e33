//! Arrays by the simplest means there are, to compare the library's with.

use container_core::array::Array;
use container_core::dtype::Order;
use container_core::region::{AxisSelection, Kept, Region};

use crate::feed::Feed;
use crate::options::limits;

/// Most elements that are walked one by one.
const MAX_WALKED_ELEMENTS: u64 = 1 << 12;

/// The elements in `order`, where they can be had.
pub(crate) fn bytes_of(array: &Array<'_>, order: Order) -> Option<Vec<u8>> {
    array.bytes(order, &limits()).ok().map(std::borrow::Cow::into_owned)
}

/// A region of an array of `shape`: any start, any step, any count that stays within.
pub(crate) fn region(shape: &[u64], feed: &mut Feed<'_>) -> Region {
    let axes = shape.iter().map(|len| axis(*len, feed)).collect();
    Region::new(axes, shape).expect("it was made for this shape")
}

fn axis(len: u64, feed: &mut Feed<'_>) -> AxisSelection {
    let kept = if feed.flag() { Kept::Yes } else { Kept::No };
    if len == 0 {
        return AxisSelection { start: 0, step: 1, count: 0, kept: Kept::Yes };
    }
    let start = feed.word() % len;
    let step = match feed.below(4) {
        0 => 1,
        1 => -1,
        2 => feed.below(9) as i64 - 4,
        _ => feed.word().cast_signed() % i64::try_from(len).unwrap_or(i64::MAX),
    };
    let step = if step == 0 { 1 } else { step };
    let room = if step > 0 { len - 1 - start } else { start };
    let most = room / step.unsigned_abs() + 1;
    let count = match kept {
        Kept::No => 1,
        Kept::Yes => feed.word() % most + u64::from(feed.flag()),
    };
    AxisSelection { start, step, count, kept }
}

/// Elements of `region`, row by row, out of `whole`: all elements of an array of `shape`, row by row, each of `size`
/// bytes. `None` where they are many.
pub(crate) fn pick(whole: &[u8], shape: &[u64], size: usize, region: &Region) -> Option<Vec<u8>> {
    match region.len()? {
        0 => return Some(Vec::new()),
        1..=MAX_WALKED_ELEMENTS => {}
        _ => return None,
    }
    let mut indices: Vec<u64> = vec![0];
    for (axis, len) in region.axes().iter().zip(shape) {
        let mut next = Vec::new();
        for index in indices {
            for at in 0..axis.count {
                let along = axis.start.wrapping_add_signed(axis.step.wrapping_mul(at.cast_signed()));
                next.push(index * len + along);
            }
        }
        indices = next;
    }
    // Elements of no bytes have indices beyond those of memory.
    let item = |index: u64| {
        let start = usize::try_from(index * size as u64).expect("bytes within memory");
        &whole[start..start + size]
    };
    Some(indices.into_iter().flat_map(item).copied().collect())
}
