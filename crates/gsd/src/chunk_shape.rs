//! Chunk shapes (rows and columns) of arrays of any rank.
//!
//! An array of shape (N,) is N × 1 and one of shape (N, M) is N × M, with M from 2 on. Any other shape, which an index entry cannot
//! express, is N × 1 with a second chunk `<name>/shape`: one uint64 for each axis.

/// Suffix that the name of a shape chunk adds to the name of its chunk.
pub(crate) const SHAPE_SUFFIX: &str = "/shape";

/// Rows and columns of a chunk, and the shape to store in a second chunk where the entry cannot express it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ChunkShape {
    /// Number of rows.
    pub(crate) n: u64,
    /// Number of columns.
    pub(crate) m: u32,
    /// Values of the chunk `<name>/shape`; `None` without one.
    pub(crate) beside: Option<Vec<u64>>,
}

impl ChunkShape {
    /// Returns the stored form of an array of `shape`; `None` where it has more than 2^64 elements.
    pub(crate) fn of(shape: &[u64]) -> Option<Self> {
        match *shape {
            [n] => Some(Self { n, m: 1, beside: None }),
            [n, m] if m > 1 && u32::try_from(m).is_ok() => {
                Some(Self { n, m: u32::try_from(m).ok()?, beside: None })
            }
            _ => {
                let n = container_core::region::element_count(shape.iter().copied())?;
                Some(Self { n, m: 1, beside: Some(shape.to_vec()) })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(shape: &[u64]) -> (u64, u32, bool) {
        let shape = ChunkShape::of(shape).unwrap();
        (shape.n, shape.m, shape.beside.is_some())
    }

    #[test]
    fn shapes_beyond_n_by_m_are_stored_separately() {
        assert_eq!(of(&[7]), (7, 1, false));
        assert_eq!(of(&[0]), (0, 1, false));
        assert_eq!(of(&[7, 3]), (7, 3, false));
        assert_eq!(of(&[0, 3]), (0, 3, false));
        assert_eq!(of(&[]), (1, 1, true));
        assert_eq!(of(&[7, 1]), (7, 1, true));
        assert_eq!(of(&[7, 0]), (0, 1, true));
        assert_eq!(of(&[2, 3, 4]), (24, 1, true));
        assert_eq!(of(&[2, 1 << 32]), (2 << 32, 1, true));
        assert_eq!(ChunkShape::of(&[1 << 40, 1 << 40]), None);
    }
}
