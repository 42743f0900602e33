//! Thrift's compact protocol, in which the footer and the page headers of Parquet files are: structures of numbered fields.
//!
//! Spec: <https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md>

use container_core::{Error, Result};

/// Structures within structures that are skipped. Those of Parquet have five.
const MAX_DEPTH: usize = 16;

/// The type of a field or of the elements of a list, as it is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Kind(u8);

impl Kind {
    const TRUE: Self = Self(1);
    const FALSE: Self = Self(2);
    const I8: Self = Self(3);
    const DOUBLE: Self = Self(7);
    const BINARY: Self = Self(8);
    const LIST: Self = Self(9);
    const SET: Self = Self(10);
    const MAP: Self = Self(11);
    const STRUCT: Self = Self(12);
}

/// A reader of bytes, which are a whole structure and perhaps more.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// The error for a structure that is longer than its bytes: the caller may have more of them.
pub(super) fn ends_early() -> Error {
    Error::malformed("a structure ends early")
}

impl<'a> Reader<'a> {
    pub(super) const fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bytes that have been read.
    pub(super) const fn position(&self) -> usize {
        self.at
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = self.bytes.get(self.at).copied().ok_or_else(ends_early)?;
        self.at = self.at.saturating_add(1);
        Ok(byte)
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let end = self.at.checked_add(len).ok_or_else(ends_early)?;
        let taken = self.bytes.get(self.at..end).ok_or_else(ends_early)?;
        self.at = end;
        Ok(taken)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Error::malformed("an integer is longer than 64 bits"))
    }

    /// An integer of 16, 32 or 64 bits.
    pub(super) fn integer(&mut self) -> Result<i64> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1).cast_signed() ^ (zigzag & 1).cast_signed().wrapping_neg())
    }

    /// An integer that counts or places something.
    pub(super) fn count(&mut self) -> Result<u64> {
        let value = self.integer()?;
        u64::try_from(value).map_err(|_| Error::malformed(format!("a count is negative ({value})")))
    }

    pub(super) fn binary(&mut self) -> Result<&'a [u8]> {
        let len = usize::try_from(self.varint()?).map_err(|_| ends_early())?;
        self.take(len)
    }

    pub(super) fn text(&mut self) -> Result<String> {
        let text = std::str::from_utf8(self.binary()?);
        text.map(str::to_owned).map_err(|_| Error::malformed("a name is not UTF-8"))
    }

    /// Type and number of the elements of a list.
    fn list(&mut self) -> Result<(Kind, u64)> {
        let head = self.byte()?;
        let len = match head >> 4 {
            15 => self.varint()?,
            short => short.into(),
        };
        Ok((Kind(head & 15), len))
    }

    /// Calls `element` for each element of a list.
    pub(super) fn each(&mut self, mut element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        let (_, len) = self.list()?;
        // Each has a byte at least, so the bytes bound the number.
        (0..len).try_for_each(|_| {
            let before = self.at;
            element(self)?;
            if self.at == before { Err(ends_early()) } else { Ok(()) }
        })
    }

    /// Reads a structure: calls `field` with the number of each field, which reads its value, or leaves it with `false`.
    pub(super) fn structure(&mut self, mut field: impl FnMut(&mut Self, i64) -> Result<bool>) -> Result<()> {
        let mut id = 0;
        while let Some(kind) = self.field(&mut id)? {
            let before = self.at;
            if !field(self, id)? {
                self.at = before;
                self.skip(kind, MAX_DEPTH)?;
            }
        }
        Ok(())
    }

    /// The next field: its type, with its number in `id`. `None` at the end of the structure.
    fn field(&mut self, id: &mut i64) -> Result<Option<Kind>> {
        let head = self.byte()?;
        if head == 0 {
            return Ok(None);
        }
        *id = match head >> 4 {
            0 => self.integer()?,
            delta => id.saturating_add(delta.into()),
        };
        Ok(Some(Kind(head & 15)))
    }

    fn skip(&mut self, kind: Kind, depth: usize) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(Error::malformed("structures within structures are too deep"));
        };
        match kind {
            Kind::TRUE | Kind::FALSE => {}
            Kind::I8 => {
                self.byte()?;
            }
            Kind(4..=6) => {
                self.varint()?;
            }
            Kind::DOUBLE => {
                self.take(8)?;
            }
            Kind::BINARY => {
                self.binary()?;
            }
            Kind::LIST | Kind::SET => {
                let (kind, len) = self.list()?;
                self.skip_all(&[kind], len, depth)?;
            }
            Kind::MAP => {
                let len = self.varint()?;
                if len > 0 {
                    let kinds = self.byte()?;
                    self.skip_all(&[Kind(kinds >> 4), Kind(kinds & 15)], len, depth)?;
                }
            }
            Kind::STRUCT => {
                let mut id = 0;
                while let Some(kind) = self.field(&mut id)? {
                    self.skip(kind, depth)?;
                }
            }
            Kind(other) => return Err(Error::malformed(format!("unknown type of a field ({other})"))),
        }
        Ok(())
    }

    fn skip_all(&mut self, kinds: &[Kind], len: u64, depth: usize) -> Result<()> {
        for _ in 0..len {
            for kind in kinds {
                match *kind {
                    // Elements have a byte where fields have none.
                    Kind::TRUE | Kind::FALSE => {
                        self.byte()?;
                    }
                    kind => self.skip(kind, depth)?,
                }
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    /// `{1: 300, 3: "ab", 4: [1, -1], 20: true, 21: {1: 7}}`, by the rules of the specification.
    const STRUCTURE: &[u8] =
        &[0x15, 0xd8, 0x04, 0x28, 2, b'a', b'b', 0x19, 0x25, 2, 1, 0x01, 40, 0x1c, 0x15, 14, 0, 0];

    #[test]
    fn fields_are_read_or_skipped() {
        let mut reader = Reader::new(STRUCTURE);
        let (mut number, mut list, mut ids) = (0, Vec::new(), Vec::new());
        reader
            .structure(|reader, id| {
                ids.push(id);
                match id {
                    1 => number = reader.integer()?,
                    4 => reader.each(|reader| {
                        list.push(reader.integer()?);
                        Ok(())
                    })?,
                    _ => return Ok(false),
                }
                Ok(true)
            })
            .unwrap();
        assert_eq!((number, list, ids), (300, vec![1, -1], vec![1, 3, 4, 20, 21]));
        assert_eq!(reader.position(), STRUCTURE.len());
    }

    #[test]
    fn every_cut_is_an_error_and_depth_is_bounded() {
        for end in 0..STRUCTURE.len() {
            assert!(Reader::new(&STRUCTURE[..end]).structure(|_, _| Ok(false)).is_err(), "{end}");
        }
        let nested = vec![0x1c; 1 << 20];
        assert!(
            Reader::new(&nested).structure(|_, _| Ok(false)).unwrap_err().to_string().contains("too deep")
        );
        // A list that claims 2^62 elements, each of them empty.
        let long = [0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f];
        assert!(Reader::new(&long).structure(|_, _| Ok(false)).is_err());
    }
}
