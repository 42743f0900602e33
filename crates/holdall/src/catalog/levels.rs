//! Runs of small integers: levels, and numbers of values in a dictionary.
//!
//! Spec: <https://github.com/apache/parquet-format/blob/master/Encodings.md> (RLE / Bit-Packing Hybrid)

use std::ops::Range;

use container_core::{Error, Result};

/// A decoder of a range of a page, which is passed to each call.
#[derive(Debug)]
pub(super) struct Runs {
    bytes: Range<usize>,
    width: u32,
    run: Run,
}

#[derive(Debug)]
enum Run {
    /// A value that follows so many times.
    Repeated { left: u64, value: u32 },
    /// Values of `width` bits from this bit on.
    Packed { left: u64, bit: u64 },
}

impl Runs {
    /// Runs of integers of `width` bits.
    ///
    /// # Errors
    /// `Malformed` for more than 32.
    pub(super) fn new(bytes: Range<usize>, width: u32) -> Result<Self> {
        if width > 32 {
            return Err(Error::malformed(format!("integers of {width} bits")));
        }
        Ok(Self { bytes, width, run: Run::Repeated { left: 0, value: 0 } })
    }

    /// The next integer.
    ///
    /// # Errors
    /// `Malformed` after the last.
    pub(super) fn next(&mut self, page: &[u8]) -> Result<u32> {
        if self.width == 0 {
            return Ok(0);
        }
        loop {
            match &mut self.run {
                Run::Repeated { left: 0, .. } | Run::Packed { left: 0, .. } => {
                    self.run = self.next_run(page)?;
                }
                Run::Repeated { left, value } => {
                    *left = left.saturating_sub(1);
                    return Ok(*value);
                }
                Run::Packed { left, bit } => {
                    *left = left.saturating_sub(1);
                    let at = *bit;
                    *bit = bit.saturating_add(self.width.into());
                    return packed(page, at, self.width);
                }
            }
        }
    }

    fn byte(&mut self, page: &[u8]) -> Result<u8> {
        let at = self.bytes.next().ok_or_else(ends_early)?;
        page.get(at).copied().ok_or_else(ends_early)
    }

    fn next_run(&mut self, page: &[u8]) -> Result<Run> {
        let mut head = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte(page)?;
            head |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                break;
            }
        }
        let count = head >> 1;
        if head & 1 == 1 {
            let bit = (self.bytes.start as u64).saturating_mul(8);
            let len = count.saturating_mul(self.width.into());
            // The last run may be cut where its values are not needed.
            let len = usize::try_from(len).unwrap_or(usize::MAX).min(self.bytes.len());
            self.bytes.start = self.bytes.start.saturating_add(len);
            let fits = (len as u64).saturating_mul(8).checked_div(self.width.into()).unwrap_or(0);
            return match count.saturating_mul(8).min(fits) {
                0 => Err(ends_early()),
                left => Ok(Run::Packed { left, bit }),
            };
        }
        let mut value = 0_u32;
        for at in 0..self.width.div_ceil(8) {
            value |= u32::from(self.byte(page)?).checked_shl(at.saturating_mul(8)).unwrap_or(0);
        }
        // A run of none is followed by another; its bytes bound their number.
        Ok(Run::Repeated { left: count, value })
    }
}

fn ends_early() -> Error {
    Error::malformed("a page has fewer values than its header says")
}

/// `width` bits from a bit on, the lowest first.
fn packed(page: &[u8], bit: u64, width: u32) -> Result<u32> {
    let first = usize::try_from(bit >> 3).map_err(|_| ends_early())?;
    let offset = u32::try_from(bit & 7).unwrap_or(0);
    let len = usize::try_from(offset.saturating_add(width).div_ceil(8)).unwrap_or(0);
    let bytes = first.checked_add(len).and_then(|end| page.get(first..end)).ok_or_else(ends_early)?;
    let mut word = [0; 8];
    word.iter_mut().zip(bytes).for_each(|(to, from)| *to = *from);
    let mask = (1_u64 << width).wrapping_sub(1);
    u32::try_from((u64::from_le_bytes(word) >> offset) & mask).map_err(|_| ends_early())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn all(page: &[u8], width: u32, count: usize) -> Vec<u32> {
        let mut runs = Runs::new(0..page.len(), width).unwrap();
        (0..count).map(|_| runs.next(page).unwrap()).collect()
    }

    /// The example of the specification: 0 to 7 in 3 bits are 88 c6 fa.
    #[test]
    fn the_example_of_the_specification_is_read() {
        assert_eq!(all(&[0x03, 0x88, 0xc6, 0xfa], 3, 8), [0, 1, 2, 3, 4, 5, 6, 7]);
        // Then 300 times 5.
        let more = [0x03, 0x88, 0xc6, 0xfa, 0xd8, 0x04, 5];
        let values = all(&more, 3, 308);
        assert!(values[8..].iter().all(|value| *value == 5));
        assert!(
            Runs::new(0..7, 3)
                .map(|mut runs| (0..309).try_for_each(|_| runs.next(&more).map(drop)))
                .unwrap()
                .is_err()
        );
    }

    #[test]
    fn widths_are_bounded_and_none_needs_no_bytes() {
        assert_eq!(all(&[], 0, 3), [0, 0, 0]);
        assert!(Runs::new(0..1, 33).is_err());
        assert_eq!(all(&[2, 1, 2, 3, 4], 32, 1), [0x0403_0201]);
    }
}
