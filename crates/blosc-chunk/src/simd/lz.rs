//! Copies of matches, for LZ4 and BloscLZ.

/// Writes `len` bytes at `done`, each a copy of the byte `distance` before it.
///
/// # Panics
/// When `distance` is 0 or larger than `done`, or the bytes do not fit.
pub(crate) fn repeat(dst: &mut [u8], done: usize, distance: usize, len: usize) {
    let start = done - distance;
    if distance >= len {
        dst.copy_within(start..start + len, done);
    } else if distance == 1 {
        let byte = dst[start];
        dst[done..done + len].fill(byte);
    } else {
        // What is there repeats with the period, so that each round can copy all of it and double it.
        let mut copied = 0;
        while copied < len {
            let part = (distance + copied).min(len - copied);
            dst.copy_within(start..start + part, done + copied);
            copied += part;
        }
    }
}

/// How many bytes `a` and `b` have in common from their start.
pub(crate) fn common_prefix(a: &[u8], b: &[u8]) -> usize {
    let mut same = 0;
    for (x, y) in a.chunks_exact(8).zip(b.chunks_exact(8)) {
        let difference = u64::from_le_bytes(x.try_into().expect("eight bytes"))
            ^ u64::from_le_bytes(y.try_into().expect("eight bytes"));
        if difference != 0 {
            return same + (difference.trailing_zeros() / 8) as usize;
        }
        same += 8;
    }
    same + a[same.min(a.len())..].iter().zip(&b[same.min(b.len())..]).take_while(|(x, y)| x == y).count()
}
