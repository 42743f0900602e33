//! Bytes in the order in which they came last, the latest first.

/// The bytes, sixteen in a row, the first one lowest: moving those of a row up is one shift.
pub(super) struct Recent([u128; 16]);

impl Recent {
    /// The bytes in their first order.
    pub(super) fn new(bytes: &[u8; 256]) -> Self {
        let (rows, _) = bytes.as_chunks::<16>();
        let mut all = [0; 16];
        for (row, bytes) in all.iter_mut().zip(rows) {
            *row = u128::from_le_bytes(*bytes);
        }
        Self(all)
    }

    /// The latest byte.
    #[inline(always)]
    pub(super) const fn first(&self) -> u8 {
        let [first, ..] = &self.0;
        let [byte, ..] = first.to_le_bytes();
        byte
    }

    /// Makes the byte at `place`, of 256, the latest, and gives it.
    #[inline(always)]
    pub(super) fn take(&mut self, place: usize) -> u8 {
        let shift = u32::try_from(place % 16).unwrap_or(0).wrapping_mul(8);
        let from = u128::MAX.wrapping_shl(shift);
        let Some((row, before)) = self.0.get_mut(..=place / 16).and_then(<[u128]>::split_last_mut) else {
            return 0;
        };
        let [byte, ..] = row.wrapping_shr(shift).to_le_bytes();
        let mut carry = u128::from(byte);
        for row in before {
            let all = *row;
            *row = all << 8 | carry;
            carry = all >> 120;
        }
        // Bytes after the place stay, those before it move up.
        *row = (*row & from << 8) | (*row & !from) << 8 | carry;
        byte
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::indexing_slicing)]
mod tests {
    use super::*;

    #[test]
    fn bytes_move_to_the_front() {
        let mut plain: Vec<u8> = (0..=255).map(|byte: u8| byte.wrapping_mul(7)).collect();
        let mut recent = Recent::new(plain.as_slice().try_into().unwrap());
        let mut places: Vec<usize> = (0..256).chain((0..256).rev()).collect();
        places.extend((0..5000_usize).map(|at| at * at / 3 % 256));
        for place in places {
            let byte = plain.remove(place);
            plain.insert(0, byte);
            assert_eq!(recent.take(place), byte, "{place}");
            assert_eq!(recent.first(), byte);
        }
        for place in 0..256 {
            assert_eq!(recent.take(255), plain[255 - place]);
        }
    }
}
