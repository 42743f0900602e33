//! The bytes of a chunk of an array that belong to no element: after the edge of the array, or of the chunk in its last blocks.

use crate::b2nd::Geometry;

/// True where `bytes`, the decoded chunk `index` from its block `first` on, has bytes set that belong to no element. By convention they are
/// zeros; they stay when an array shrinks.
pub(crate) fn has_set_padding(geometry: &Geometry, index: u64, first: u64, bytes: &[u8]) -> bool {
    let Some(inside) = inside(geometry, index) else { return false };
    let item = geometry.itemsize();
    let blocks: Vec<u64> = geometry.blockshape().iter().map(|len| u64::from(*len)).collect();
    let Some((row_len, outer)) = blocks.split_last() else { return false };
    let (Ok(row_bytes), Ok(block_bytes)) =
        (usize::try_from(row_len.saturating_mul(item as u64)), usize::try_from(geometry.block_bytes()))
    else {
        return false;
    };
    if row_bytes == 0 || block_bytes == 0 {
        return false;
    }
    for (number, block) in (first..).zip(bytes.chunks(block_bytes)) {
        let place = geometry.block_place(number);
        // Elements of the block along each axis.
        let here: Vec<u64> = place
            .iter()
            .zip(&blocks)
            .zip(&inside)
            .map(|((at, len), end)| end.saturating_sub(at.saturating_mul(*len)).min(*len))
            .collect();
        if here == blocks {
            continue;
        }
        let used = here.last().copied().unwrap_or(0).saturating_mul(item as u64);
        let used = usize::try_from(used).unwrap_or(row_bytes);
        let mut at = vec![0_u64; outer.len()];
        for row in block.chunks(row_bytes) {
            let is_inside = at.iter().zip(&here).all(|(at, end)| at < end);
            let rest = if is_inside { row.get(used..).unwrap_or_default() } else { row };
            if rest.iter().any(|byte| *byte != 0) {
                return true;
            }
            for (axis, len) in at.iter_mut().zip(outer).rev() {
                *axis += 1;
                if *axis < *len {
                    break;
                }
                *axis = 0;
            }
        }
    }
    false
}

/// Elements of a chunk along each axis that are within both chunk and array; `None` where the chunk has no padding.
fn inside(geometry: &Geometry, index: u64) -> Option<Vec<u64>> {
    let place = geometry.chunk_place(index);
    let axes = place.iter().zip(geometry.chunkshape()).zip(geometry.shape());
    let inside: Vec<u64> = axes
        .map(|((at, chunk), len)| {
            let chunk = u64::from(*chunk);
            len.saturating_sub(at.saturating_mul(chunk)).min(chunk)
        })
        .collect();
    let blocks = geometry.blockshape().iter().zip(geometry.block_grid());
    let padded =
        blocks.zip(&inside).any(|((block, count), len)| u64::from(*block).saturating_mul(*count) != *len);
    padded.then_some(inside)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The (5, 7) array in chunks (4, 5) and blocks (2, 3): extents of a chunk are (4, 6), of the grid (2, 2).
    #[test]
    fn bytes_behind_the_edges_are_padding() {
        let geometry = Geometry::new(&[5, 7], &[4, 5], &[2, 3], 1).unwrap();
        // Of the first chunk the sixth column is padding: the last element of each row of the blocks to the right.
        let mut chunk = [0_u8; 24];
        for block in [0, 1, 2, 3] {
            for row in [0, 1] {
                for column in [0, 1, 2] {
                    chunk.fill(0);
                    let at = block * 6 + row * 3 + column;
                    chunk[at] = 1;
                    let is_padding = block % 2 == 1 && column == 2;
                    assert_eq!(has_set_padding(&geometry, 0, 0, &chunk), is_padding, "byte {at}");
                    // Block by block.
                    let in_its_block = |number: usize| {
                        has_set_padding(&geometry, 0, number as u64, &chunk[number * 6..][..6])
                    };
                    assert_eq!(
                        [0, 1, 2, 3].map(in_its_block),
                        [0, 1, 2, 3].map(|n| n == block && is_padding)
                    );
                    // Of the last one all but one row of two.
                    let is_padding = !(block == 0 && row == 0 && column < 2);
                    assert_eq!(has_set_padding(&geometry, 3, 0, &chunk), is_padding, "byte {at} of the last");
                }
            }
        }
        let tight = Geometry::new(&[4], &[4], &[2], 2).unwrap();
        assert!(!has_set_padding(&tight, 0, 0, &[1; 8]));
    }
}
