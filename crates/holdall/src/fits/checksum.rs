//! The sums that headers hold: 32-bit words added with the carry brought around (FITS standard 4.0, section 4.4.2.7 and appendix J).

/// A running sum of big-endian words.
#[derive(Clone, Debug, Default)]
pub(super) struct Sum {
    sum: u64,
    /// Bytes of a word that is not whole yet.
    rest: Vec<u8>,
}

impl Sum {
    /// Adds the next bytes.
    pub(super) fn add(&mut self, mut bytes: &[u8]) {
        if !self.rest.is_empty() {
            let (head, tail) = bytes.split_at(bytes.len().min(4 - self.rest.len()));
            self.rest.extend_from_slice(head);
            bytes = tail;
            if let Ok(word) = <[u8; 4]>::try_from(self.rest.as_slice()) {
                self.sum += u64::from(u32::from_be_bytes(word));
                self.rest.clear();
            }
        }
        let (words, rest) = bytes.as_chunks::<4>();
        for part in words.chunks(1 << 20) {
            self.sum += part.iter().map(|word| u64::from(u32::from_be_bytes(*word))).sum::<u64>();
            self.fold();
        }
        self.rest.extend_from_slice(rest);
    }

    /// The sum; whole blocks leave no part of a word over.
    pub(super) fn value(&self) -> u32 {
        let mut done = self.clone();
        done.fold();
        u32::try_from(done.sum).unwrap_or(u32::MAX)
    }

    fn fold(&mut self) {
        while self.sum > u64::from(u32::MAX) {
            self.sum = (self.sum & u64::from(u32::MAX)) + (self.sum >> 32);
        }
    }
}

/// The complement of a sum in sixteen letters and digits, rotated as in the card, whose twelfth column has the last character of a word.
pub(super) fn encoded(sum: u32) -> String {
    let mut columns = [[0_u8; 4]; 4];
    for (column, byte) in columns.iter_mut().zip((!sum).to_be_bytes()) {
        // Four characters, which add up to the byte and four times the character 0.
        *column = [byte / 4 + b'0'; 4];
        column[0] += byte % 4;
        let is_mark = |c: u8| (b':'..=b'@').contains(&c) || (b'['..=b'`').contains(&c);
        while column.iter().any(|c| is_mark(*c)) {
            for pair in column.as_chunks_mut::<2>().0 {
                if pair.iter().any(|c| is_mark(*c)) {
                    pair[0] += 1;
                    pair[1] -= 1;
                }
            }
        }
    }
    let letters = (0..16).map(|at| columns[at % 4][at / 4]);
    let mut letters: Vec<u8> = letters.collect();
    letters.rotate_right(1);
    letters.into_iter().map(char::from).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checksum_wraps_carries_and_accepts_any_chunk_length() {
        let bytes: Vec<u8> =
            (0..999_u32).flat_map(|at| (at.wrapping_mul(0x9e37_79b9)).to_be_bytes()).collect();
        let whole = (0..999_u32).fold(0_u64, |sum, at| {
            let sum = sum + u64::from(at.wrapping_mul(0x9e37_79b9));
            (sum & 0xffff_ffff) + (sum >> 32)
        });
        for step in [1, 3, 4, 7, 5000] {
            let mut sum = Sum::default();
            bytes.chunks(step).for_each(|part| sum.add(part));
            assert_eq!(u64::from(sum.value()), whole, "{step}");
        }
    }

    #[test]
    fn a_sum_is_encoded_as_the_standard_has_it() {
        // The example of appendix J: the sum 868229149 is "hcHjjc9ghcEghc9g".
        assert_eq!(encoded(868_229_149), "hcHjjc9ghcEghc9g");
    }
}
