//! The grid of chunks: regular, the last ones along an axis filled up.

use std::path::PathBuf;

use container_core::container::Dataset;
use container_core::dtype::Order;
use container_core::region::{Kept, Region};
use container_core::{Error, Result};

/// Bytes of a chunk for sources without chunks.
const USUAL: u64 = 4 << 20;

/// More files than this are not made of one array, if its chunks are small.
const MAX_SMALL_FILES: u64 = 10_000;

/// Maximum bytes of a chunk that joins several of the source to reduce their number.
const LARGE: u64 = 64 << 20;

/// Shape of an array and of its chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Grid {
    pub(super) shape: Vec<u64>,
    /// Lengths of a chunk, as many as `shape`; none is 0.
    pub(super) chunk: Vec<u64>,
}

impl Grid {
    /// The grid of `region` of a dataset: that of `--chunks`, else that of the source, else whole runs of storage.
    ///
    /// # Errors
    /// `Usage` for text that is not a shape.
    pub(super) fn new(dataset: &Dataset, region: &Region, word: Option<&str>, itemsize: u64) -> Result<Self> {
        let shape = region.shape();
        if let Some(word) = word.filter(|word| *word != "none") {
            return Ok(Self { chunk: parsed(word, &shape)?, shape });
        }
        let mut grid = match of_source(dataset, region) {
            Some(chunk) => Self { chunk, shape },
            None => Self { chunk: usual(&shape, dataset.order, itemsize), shape },
        };
        grid.put_together(dataset.order, itemsize);
        Ok(grid)
    }

    /// Number of chunks along each axis.
    fn counts(&self) -> impl Iterator<Item = u64> + Clone {
        self.shape.iter().zip(&self.chunk).map(|(len, chunk)| len.div_ceil(*chunk))
    }

    /// Elements of a chunk; `None` beyond 2^64.
    pub(super) fn chunk_len(&self) -> Option<u64> {
        self.chunk.iter().try_fold(1_u64, |len, axis| len.checked_mul(*axis))
    }

    /// The places of all chunks, in C order. Empty for a region without elements.
    pub(super) fn chunks(&self) -> Chunks {
        let counts: Vec<u64> = self.counts().collect();
        Chunks { next: (!counts.contains(&0)).then(|| vec![0; counts.len()]), counts }
    }

    /// First index and length along each axis of the array's part in the chunk at `place`.
    pub(super) fn part(&self, place: &[u64]) -> impl Iterator<Item = (u64, u64)> {
        place.iter().zip(self.shape.iter().zip(&self.chunk)).map(|(at, (len, chunk))| {
            let start = at.saturating_mul(*chunk);
            (start, (*chunk).min(len.saturating_sub(start)))
        })
    }

    /// Doubles chunks along the slowest axes while there are too many of them.
    fn put_together(&mut self, order: Order, itemsize: u64) {
        let many = |grid: &Self| grid.counts().fold(1, u64::saturating_mul) > MAX_SMALL_FILES;
        let axes: Vec<usize> = match order {
            Order::C => (0..self.shape.len()).collect(),
            Order::F => (0..self.shape.len()).rev().collect(),
        };
        for axis in axes {
            while many(self)
                && self.chunk[axis] < self.shape[axis]
                && self.chunk_len().is_some_and(|len| len.saturating_mul(itemsize.max(1)) <= LARGE / 2)
            {
                self.chunk[axis] = self.chunk[axis].saturating_mul(2);
            }
        }
    }
}

/// The name of a chunk: `c/0/1`.
pub(super) fn key(place: &[u64]) -> PathBuf {
    std::iter::once("c".to_owned()).chain(place.iter().map(u64::to_string)).collect()
}

/// Lengths as they are typed: one for each axis, or one for the first.
fn parsed(word: &str, shape: &[u64]) -> Result<Vec<u64>> {
    let bad = || {
        let problem = format!("{word:?} is not a shape of chunks for an array of {} dimensions", shape.len());
        Error::usage(problem).with_hint("lengths over 0, such as 100,100")
    };
    let lens = word.split(',').map(|len| len.trim().parse().ok().filter(|len| *len > 0));
    let lens: Vec<u64> = lens.collect::<Option<_>>().ok_or_else(bad)?;
    match (lens.as_slice(), shape) {
        (lens, shape) if lens.len() == shape.len() => Ok(lens.to_vec()),
        ([first], [_, rest @ ..]) => {
            Ok([*first].into_iter().chain(rest.iter().map(|len| (*len).max(1))).collect())
        }
        _ => Err(bad()),
    }
}

/// The chunks of the source along the axes that are kept, where no axis is passed through in steps.
fn of_source(dataset: &Dataset, region: &Region) -> Option<Vec<u64>> {
    let chunks = dataset.chunks.as_ref().filter(|chunks| chunks.len() == region.axes().len())?;
    let axes = region.axes().iter().zip(chunks);
    if axes.clone().any(|(axis, _)| axis.step != 1) {
        return None;
    }
    let kept = axes.filter(|(axis, _)| axis.kept == Kept::Yes);
    Some(kept.map(|(axis, chunk)| (*chunk).min(axis.count).max(1)).collect())
}

/// Runs of storage: the fastest axes whole, the next one cut, the slowest ones index by index.
fn usual(shape: &[u64], order: Order, itemsize: u64) -> Vec<u64> {
    let mut chunk = vec![1; shape.len()];
    let axes: Box<dyn Iterator<Item = usize>> = match order {
        Order::C => Box::new((0..shape.len()).rev()),
        Order::F => Box::new(0..shape.len()),
    };
    let mut room = (USUAL / itemsize.max(1)).max(1);
    for axis in axes {
        chunk[axis] = shape[axis].clamp(1, room);
        room = (room / chunk[axis]).max(1);
    }
    chunk
}

/// Every place of a grid.
pub(super) struct Chunks {
    next: Option<Vec<u64>>,
    counts: Vec<u64>,
}

impl Iterator for Chunks {
    type Item = Vec<u64>;

    fn next(&mut self) -> Option<Vec<u64>> {
        let place = self.next.take()?;
        let mut after = place.clone();
        for (at, count) in after.iter_mut().zip(&self.counts).rev() {
            *at += 1;
            if *at < *count {
                self.next = Some(after);
                break;
            }
            *at = 0;
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn default_chunks_are_contiguous_runs_of_storage() {
        assert_eq!(usual(&[1000, 1024, 1024], Order::C, 4), [1, 1024, 1024]);
        assert_eq!(usual(&[1000, 1024, 512], Order::C, 4), [2, 1024, 512]);
        assert_eq!(usual(&[1000, 1024, 1000], Order::F, 8), [1000, 524, 1]);
        assert_eq!(usual(&[0, 5], Order::C, 8), [1, 5]);
        assert_eq!(usual(&[], Order::C, 8), [0_u64; 0]);
    }

    #[test]
    fn places_are_walked_in_c_order_and_the_last_are_cut() {
        let grid = Grid { shape: vec![5, 3], chunk: vec![2, 3] };
        let places: Vec<Vec<u64>> = grid.chunks().collect();
        assert_eq!(places, [[0, 0], [1, 0], [2, 0]]);
        assert_eq!(grid.part(&[2, 0]).collect::<Vec<_>>(), [(4, 1), (0, 3)]);
        assert_eq!(key(&[2, 0]), PathBuf::from("c/2/0"));
        assert_eq!(Grid { shape: vec![], chunk: vec![] }.chunks().collect::<Vec<_>>(), [[0_u64; 0]]);
        assert_eq!(Grid { shape: vec![0, 2], chunk: vec![1, 2] }.chunks().count(), 0);
    }

    #[test]
    fn many_small_chunks_are_put_together() {
        let mut grid = Grid { shape: vec![1_000_000, 3], chunk: vec![1, 3] };
        grid.put_together(Order::C, 4);
        assert_eq!(grid.chunk, [128, 3]);
        let mut few = Grid { shape: vec![100, 3], chunk: vec![1, 3] };
        few.put_together(Order::C, 4);
        assert_eq!(few.chunk, [1, 3]);
    }

    #[test]
    fn typed_shapes_are_for_each_axis_or_for_the_first() {
        assert_eq!(parsed("2, 3", &[9, 9]).unwrap(), [2, 3]);
        assert_eq!(parsed("2", &[9, 0]).unwrap(), [2, 1]);
        for bad in ["", "0,1", "1,2,3", "a"] {
            assert!(parsed(bad, &[9, 9]).is_err(), "{bad}");
        }
    }
}
