//! Detects blocks that the header does not count.
//!
//! C-Blosc2 3.3.5 cuts a partial last element off, as a block of its own, if the length of blocks is given and is that of the chunk or
//! more. It writes a header of one block as long as the chunk, which it does not read back. Earlier releases (2.16) write the length
//! that blocks have.

use container_core::Result;

use super::Header;

/// Bytes of the start of a block, and of the length of a dictionary.
const WORD: usize = 4;

impl Header {
    /// Parses as [`Header::parse`], but corrects `blocksize` if the starts of blocks show that a partial last element is a block of its
    /// own. `bytes` are those of the chunk, as many as there are; of those after the header twelve are read.
    ///
    /// # Errors
    /// As [`Header::parse`].
    pub fn parse_with_starts(bytes: &[u8]) -> Result<Self> {
        let mut header = Self::parse(bytes)?;
        if let Some(len) = header.whole_elements().filter(|_| header.has_two_starts(bytes)) {
            header.blocksize = len;
        }
        Ok(header)
    }

    /// Bytes of the whole elements of a chunk of one block, which ends in a part of one.
    fn whole_elements(&self) -> Option<u32> {
        let is_one = self.extended && self.has_streams() && !self.has_variable_blocks();
        let rest = self.nbytes.checked_rem(self.typesize.into()).filter(|rest| *rest > 0)?;
        let len = self.nbytes.checked_sub(rest).filter(|len| *len > 0)?;
        (is_one && self.blocksize >= self.nbytes).then_some(len)
    }

    /// Whether the chunk begins with the starts of two blocks: the first bytes of either block come right after both.
    fn has_two_starts(&self, bytes: &[u8]) -> bool {
        let word = |number: usize| -> Option<u32> {
            let at = number.checked_mul(WORD)?.checked_add(self.len())?;
            let word = bytes.get(at..at.checked_add(WORD)?)?;
            Some(u32::from_le_bytes(word.try_into().ok()?))
        };
        let (Some(first), Some(second)) = (word(0), word(1)) else { return false };
        let table = u32::try_from(self.len()).unwrap_or(u32::MAX).saturating_add(8);
        // A dictionary is stored between the starts and the streams.
        let dictionary =
            if self.has_dictionary() { word(2).map(|len| len.saturating_add(4)) } else { Some(0) };
        dictionary.and_then(|len| table.checked_add(len)) == Some(first.min(second))
            && first != second
            && first.max(second).saturating_add(4) <= self.cbytes
    }
}
