//! Reading regions of stored arrays, against picking elements one by one.

use container_core::Result;
use container_core::array::StoredArray;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::source::Source;

use crate::feed::Feed;
use crate::options::limits;
use crate::values::{bytes_of, pick, region};

/// A source that lends nothing, so that regions are read in parts.
struct Copying<'a>(&'a [u8]);

impl Source for Copying<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

/// Any region of an array of any shape, order and element size is read right from memory and from a file.
pub fn array_region(data: &[u8]) {
    let mut feed = Feed::new(data);
    let size = feed.one_of(&[1, 2, 3, 4, 5, 8, 16, 0]);
    // Rarely so large that what lies between the elements of a region is sought over, not read.
    let shape: Vec<u64> = match feed.below(8) {
        0 => vec![feed.below(4000) as u64, feed.below(9) as u64],
        1 => vec![feed.below(9) as u64, feed.below(4000) as u64, feed.below(4) as u64],
        _ => (0..feed.below(6)).map(|_| feed.below(8) as u64).collect(),
    };
    let order = feed.one_of(&[Order::C, Order::F]);
    let data_at = feed.below(20) as u64;
    let count = shape.iter().product::<u64>() as usize;
    let file: Vec<u8> = (0..data_at as usize + count * size).map(|at| (at * 41 / 8) as u8).collect();
    let stored = StoredArray { dtype: DType::void(size), shape, order, data_at };
    let part = region(&stored.shape, &mut feed);
    check(&stored, &file, &part);
}

fn check(stored: &StoredArray, file: &[u8], part: &Region) {
    let (shape, size) = (&stored.shape, stored.dtype.itemsize());
    // Picking works row by row; columns are rows of the array with its axes reversed.
    let elements = &file[stored.data_at as usize..];
    let reversed = |list: &[u64]| list.iter().rev().copied().collect::<Vec<u64>>();
    let expected = match stored.order {
        Order::C => pick(elements, shape, size, part),
        Order::F => {
            let mut axes = part.axes().to_vec();
            axes.reverse();
            let part = Region::new(axes, &reversed(shape)).expect("reversed with its shape");
            pick(elements, &reversed(shape), size, &part)
        }
    };
    let copying = Copying(file);
    let sources: [&dyn Source; 2] = [&file, &copying];
    for source in sources {
        let array = stored.read(source, part, &limits(), 1).expect("a region of the array");
        assert_eq!(array.shape(), part.shape());
        let bytes = bytes_of(&array, stored.order).expect("within the limits");
        if let Some(expected) = &expected {
            assert!(bytes == *expected, "{part:?} of {stored:?}");
        }
        // The other order is the same order of the array seen with its axes reversed.
        let other = if stored.order == Order::C { Order::F } else { Order::C };
        let rows = bytes_of(&array, other).expect("within the limits");
        assert!(bytes_of(&array.clone().reversed_axes(), stored.order) == Some(rows));
        in_pieces(stored, source, part, &bytes);
    }
}

/// The pieces of a region, one after the other, are the region.
fn in_pieces(stored: &StoredArray, source: &dyn Source, part: &Region, bytes: &[u8]) {
    let count = part.len().expect("it was read");
    if count == 0 || count > 1 << 10 {
        return;
    }
    for most in [1, 3, 64] {
        let mut joined = Vec::new();
        for piece in part.chunks(stored.order, most) {
            assert!(piece.len().is_some_and(|len| len <= most && len > 0));
            let array = stored.read(source, &piece, &limits(), 1).expect("a part of the region");
            joined.extend(bytes_of(&array, stored.order).expect("within the limits"));
        }
        assert!(joined == bytes, "{part:?} of {stored:?} by {most}");
    }
}
