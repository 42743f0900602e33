//! The header: six 64-bit words and the dimensions.
//!
//! Spec: "File Structure" and "Elemental Type Specification" of the RawArray description. Reader and writer are next to each other and share the list
//! of fields; a test checks that they are inverse.

use container_core::dtype::ByteOrder;
use container_core::{Error, Result};
use nom::number::Endianness;
use nom::number::complete::u64 as word;
use nom::{IResult, Parser};

/// The first eight bytes of every file.
pub const MAGIC: [u8; 8] = *b"rawarray";

/// The magic of a file in a big-endian machine's own order: C and Julia write every word natively.
pub const MAGIC_REVERSED: [u8; 8] = *b"yarrawar";

/// Bytes before the dimensions.
pub const FIXED_LEN: u64 = 48;

/// Feature bits of a file. Unknown ones are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Flags(pub u64);

impl Flags {
    /// Elements are stored most significant byte first.
    pub const BIG_ENDIAN: u64 = 1;
    /// Elements are encoded: one LZ4 block (C library, since 2019) or LEB128 varints (RawArray.jl).
    pub const ENCODED: u64 = 2;
    /// Elements are single bits in 64-bit words (RawArray.jl).
    pub const BITS: u64 = 4;

    /// True where every bit of `mask` is set.
    #[must_use]
    pub const fn has(self, mask: u64) -> bool {
        self.0 & mask == mask
    }

    /// The bits without a meaning in any implementation.
    #[must_use]
    pub const fn unknown(self) -> u64 {
        self.0 & !(Self::BIG_ENDIAN | Self::ENCODED | Self::BITS)
    }
}

/// Element type code. Unknown ones are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Eltype(pub u64);

impl Eltype {
    /// User-defined: opaque bytes.
    pub const USER: Self = Self(0);
    /// Two's complement integer.
    pub const INT: Self = Self(1);
    /// Unsigned integer; text has one byte per element.
    pub const UINT: Self = Self(2);
    /// IEEE 754 binary floating point.
    pub const FLOAT: Self = Self(3);
    /// Pairs of floats, real part first.
    pub const COMPLEX: Self = Self(4);
    /// bfloat16 in 2 bytes (description, Rust), or Bool in 1 (RawArray.jl), or 64-bit words of bits with [`Flags::BITS`].
    pub const BFLOAT16: Self = Self(5);
}

/// The six words before the dimensions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Byte order of every word of the header.
    pub byte_order: ByteOrder,
    /// Feature bits.
    pub flags: Flags,
    /// Element type code.
    pub eltype: Eltype,
    /// Bytes per element.
    pub elbyte: u64,
    /// Bytes of the data segment: as stored, but before encoding in the LEB128 form.
    pub size: u64,
    /// Number of dimensions.
    pub ndims: u64,
}

impl Header {
    /// End of `ndims` dimensions, and start of the data; `None` beyond 64 bits.
    pub(crate) fn dims_end(&self) -> Option<u64> {
        self.ndims.checked_mul(8)?.checked_add(FIXED_LEN)
    }

    /// Parses the first 48 bytes of a file.
    ///
    /// # Errors
    /// `WrongFormat` without the magic, `Truncated` when there are fewer than 48 bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let byte_order = match bytes.get(..MAGIC.len()) {
            Some(magic) if magic == MAGIC => ByteOrder::Little,
            Some(magic) if magic == MAGIC_REVERSED => ByteOrder::Big,
            _ => return Err(Error::wrong_format("a RawArray file").with_range(0..8)),
        };
        match fields(byte_order, bytes) {
            Ok((_, header)) => Ok(header),
            Err(_) => Err(Error::truncated(0..FIXED_LEN, bytes.len() as u64).with_context("rawarray header")),
        }
    }

    /// Parses dimensions: as many whole words as `bytes` holds.
    #[must_use]
    pub fn parse_dims(self, bytes: &[u8]) -> Vec<u64> {
        let parsed: IResult<&[u8], Vec<u64>, nom::error::Error<&[u8]>> =
            nom::multi::many0(word(endianness(self.byte_order))).parse(bytes);
        parsed.map_or_else(|_| Vec::new(), |(_, dims)| dims)
    }

    /// The bytes of the header with its dimensions; [`Header::ndims`] is taken from `dims`.
    #[must_use]
    pub fn to_bytes(self, dims: &[u64]) -> Vec<u8> {
        let magic = u64::from_le_bytes(MAGIC);
        let fixed = [magic, self.flags.0, self.eltype.0, self.elbyte, self.size, dims.len() as u64];
        let words = fixed.iter().chain(dims);
        match self.byte_order {
            ByteOrder::Little => words.flat_map(|word| word.to_le_bytes()).collect(),
            ByteOrder::Big => words.flat_map(|word| word.to_be_bytes()).collect(),
        }
    }
}

fn endianness(order: ByteOrder) -> Endianness {
    match order {
        ByteOrder::Little => Endianness::Little,
        ByteOrder::Big => Endianness::Big,
    }
}

/// Magic and five words.
fn fields(byte_order: ByteOrder, bytes: &[u8]) -> IResult<&[u8], Header> {
    let word = || word(endianness(byte_order));
    let (rest, (_magic, flags, eltype, elbyte, size, ndims)) =
        (word(), word(), word(), word(), word(), word()).parse(bytes)?;
    let header = Header { byte_order, flags: Flags(flags), eltype: Eltype(eltype), elbyte, size, ndims };
    Ok((rest, header))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use container_core::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_example_of_the_description_parses() {
        // `od -t uL -N 64 test.ra` in the description, section "File Introspection".
        let words = [8746397786917265778_u64, 0, 4, 8, 96, 2, 3, 4];
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
        let header = Header::parse(&bytes).unwrap();
        assert_eq!((header.eltype, header.elbyte, header.size, header.ndims), (Eltype::COMPLEX, 8, 96, 2));
        assert_eq!(header.byte_order, ByteOrder::Little);
        assert_eq!(header.parse_dims(&bytes[48..]), [3, 4]);
    }

    #[test]
    fn a_short_header_reports_its_range() {
        let error = Header::parse(b"rawarray\0\0").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { need: 48, have: 10 }));
        assert_eq!(error.range(), Some(0..48));
        for other in [&b""[..], b"rawarra", b".ra\xfd", b"RAWARRAY"] {
            assert!(matches!(Header::parse(other).unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
        }
    }

    proptest! {
        #[test]
        fn reader_and_writer_are_inverse(
            words in any::<[u64; 4]>(), dims in prop::collection::vec(any::<u64>(), 0..9), big in any::<bool>(),
        ) {
            let [flags, eltype, elbyte, size] = words;
            let byte_order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let ndims = dims.len() as u64;
            let header =
                Header { byte_order, flags: Flags(flags), eltype: Eltype(eltype), elbyte, size, ndims };
            let bytes = header.to_bytes(&dims);
            prop_assert_eq!(bytes.len(), 48 + 8 * dims.len());
            prop_assert_eq!(Header::parse(&bytes).unwrap(), header);
            prop_assert_eq!(header.parse_dims(&bytes[48..]), dims);
        }
    }
}
