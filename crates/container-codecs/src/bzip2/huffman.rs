//! The codes of a bzip2 block: up to six tables, which change every fifty symbols.

use super::bits::Reader;

/// Bits of the longest code.
pub(super) const LONGEST: usize = 20;

/// Number of bits that are looked up at once: nearly all codes, and tables that stay in the nearest cache.
const QUICK: u32 = 10;

/// Most symbols: two of runs, 255 places, the end.
pub(super) const MAX_SYMBOLS: usize = 258;

/// A table that symbols are read with. Which code is whose follows from the lengths alone: shorter ones come first, and equal ones in the
/// order of their symbols.
pub(super) struct Table {
    /// For the next bits: a symbol, and in the lowest five bits the length of its code; zero where that is longer.
    quick: [u16; 1 << QUICK],
    /// For each length: the first code, how many there are, and where their symbols begin.
    lens: [(u32, u32, usize); LONGEST + 1],
    symbols: [u16; MAX_SYMBOLS],
}

impl Table {
    pub(super) const EMPTY: Self =
        Self { quick: [0; 1 << QUICK], lens: [(0, 0, 0); LONGEST + 1], symbols: [0; MAX_SYMBOLS] };

    /// Takes the lengths of the codes, 1 to [`LONGEST`]. `None` where there are more codes than such lengths have room for.
    pub(super) fn set(&mut self, lens: &[u8]) -> Option<()> {
        self.quick = [0; 1 << QUICK];
        let (mut code, mut at) = (0_u32, 0_usize);
        for (len, slot) in (0_u8..).zip(self.lens.iter_mut()).skip(1) {
            code = code.checked_mul(2)?;
            let (first, begin) = (code, at);
            for (symbol, _) in (0_u16..).zip(lens).filter(|(_, other)| **other == len) {
                *self.symbols.get_mut(at)? = symbol;
                at = at.checked_add(1)?;
                if let Some(spare) = QUICK.checked_sub(u32::from(len)) {
                    let start = usize::try_from(code.checked_shl(spare)?).ok()?;
                    let end = start.checked_add(1_usize.checked_shl(spare)?)?;
                    self.quick.get_mut(start..end)?.fill(symbol << 5 | u16::from(len));
                }
                code = code.checked_add(1)?;
            }
            if code > 1_u32.checked_shl(u32::from(len))? {
                return None;
            }
            *slot = (first, code.saturating_sub(first), begin);
        }
        Some(())
    }

    /// The next symbol, of a reader that has [`LONGEST`] bits; `None` where no code begins so.
    #[inline(always)]
    pub(super) fn symbol(&self, bits: &mut Reader<'_>) -> Option<usize> {
        let entry = *self.quick.get(usize::try_from(bits.peek(QUICK)).unwrap_or(0))?;
        if entry != 0 {
            bits.skip(u32::from(entry & 31));
            return Some(usize::from(entry >> 5));
        }
        self.long_symbol(bits)
    }

    #[cold]
    fn long_symbol(&self, bits: &mut Reader<'_>) -> Option<usize> {
        (0_u32..).zip(&self.lens).skip(1).find_map(|(len, (first, count, begin))| {
            let code = u32::try_from(bits.peek(len)).ok()?;
            let number = code.checked_sub(*first).filter(|number| number < count)?;
            let symbol = *self.symbols.get(begin.checked_add(usize::try_from(number).ok()?)?)?;
            bits.skip(len);
            Some(usize::from(symbol))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_follow_from_their_lengths() {
        let mut table = Table::EMPTY;
        // 0, 10, 110, 1110 …, and at the end two of the longest.
        let mut lens: Vec<u8> = (1..20).collect();
        lens.extend([20, 20]);
        table.set(&lens).unwrap();
        let bits = [0b0101_1011, 0b1011_1111, 0b1111_1111, 0b1111_1000, 0, 0, 0, 0, 0];
        let mut reader = Reader::new(&bits, 0);
        let mut symbol = || {
            reader.refill();
            table.symbol(&mut reader)
        };
        assert_eq!(
            (symbol(), symbol(), symbol(), symbol(), symbol()),
            (Some(0), Some(1), Some(2), Some(3), Some(19))
        );
        assert_eq!(symbol(), Some(0));
        // As many codes as there is room for, and one more.
        assert_eq!(table.set(&[1, 2, 2]), Some(()));
        assert_eq!(table.set(&[1, 2, 2, 20]), None);
        // An undefined code.
        table.set(&[2, 2]).unwrap();
        let mut reader = Reader::new(&[0b0100_1100, 0, 0], 0);
        reader.refill();
        let mut symbol = || table.symbol(&mut reader);
        assert_eq!((symbol(), symbol(), symbol()), (Some(1), Some(0), None));
    }
}
