//! The header of a block (ASDF standard 1.6.0, file layout, "Block header"). All numbers are big-endian.

use container_codecs::checksum::Algorithm;
use container_core::checksum::Digest;
use nom::bytes::complete::{tag, take};
use nom::number::complete::{be_u16, be_u32, be_u64};
use nom::{IResult, Parser};

/// Magic token at the start of every block. Its first byte is invalid UTF-8, so the magic cannot occur in the tree.
pub const MAGIC: [u8; 4] = [0xd3, b'B', b'L', b'K'];

/// Bytes of magic and header size.
pub const PREFIX_LEN: u64 = 6;

/// Minimum header size: bytes after that field.
pub const MIN_SIZE: u16 = 48;

/// Bytes of a block before its data, with the shortest header.
pub const MIN_LEN: u64 = 54;

/// The flag of a block that extends to the end of the file.
pub const STREAMED: u32 = 1;

/// The fields of a block header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BlockHeader {
    /// Bytes of the header after this field; at least 48.
    pub header_size: u16,
    /// Bit 0: streamed. No other is defined.
    pub flags: u32,
    /// The name of the codec, padded with NULs; all NUL where the data are stored plainly.
    pub compression: [u8; 4],
    /// Bytes that are allocated for the data, used or not.
    pub allocated_size: u64,
    /// Bytes of the data as stored.
    pub used_size: u64,
    /// Bytes of the data after decoding.
    pub data_size: u64,
    /// MD5 of the used bytes as stored; all zero means absent.
    pub checksum: [u8; 16],
}

impl BlockHeader {
    /// Reads the header at the start of `bytes`, of which 54 are enough. `None` for fewer bytes, a wrong magic, or a header size below 48.
    #[must_use]
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        fields(bytes).ok().map(|(_, header)| header).filter(|header| header.header_size >= MIN_SIZE)
    }

    /// The first 54 bytes of the block. The caller writes the zeros of a longer header after them.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 54] {
        let mut bytes = Vec::with_capacity(54);
        bytes.extend_from_slice(&MAGIC);
        bytes.extend_from_slice(&self.header_size.to_be_bytes());
        bytes.extend_from_slice(&self.flags.to_be_bytes());
        bytes.extend_from_slice(&self.compression);
        for size in [self.allocated_size, self.used_size, self.data_size] {
            bytes.extend_from_slice(&size.to_be_bytes());
        }
        bytes.extend_from_slice(&self.checksum);
        let mut whole = [0; 54];
        whole.iter_mut().zip(bytes).for_each(|(to, from)| *to = from);
        whole
    }

    /// Bytes from the magic to the data.
    #[must_use]
    pub const fn len(&self) -> u64 {
        PREFIX_LEN.saturating_add(self.header_size as u64)
    }

    /// Never true: there is always a magic.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        false
    }

    /// True where the data extend to the end of the file.
    #[must_use]
    pub const fn is_streamed(&self) -> bool {
        self.flags & STREAMED != 0
    }

    /// True where the data are encoded.
    #[must_use]
    pub fn is_compressed(&self) -> bool {
        self.compression != [0; 4]
    }

    /// The stored digest; `None` where all of its bytes are zero.
    #[must_use]
    pub fn digest(&self) -> Option<Digest> {
        if self.checksum == [0; 16] { None } else { Digest::new(&self.checksum).ok() }
    }

    /// Algorithm of the digest.
    pub const ALGORITHM: Algorithm = Algorithm::Md5;
}

fn fields(input: &[u8]) -> IResult<&[u8], BlockHeader> {
    let (rest, (_, header_size, flags, compression)) =
        (tag(&MAGIC[..]), be_u16, be_u32, take(4_usize)).parse(input)?;
    let (rest, (allocated_size, used_size, data_size, sum)) =
        (be_u64, be_u64, be_u64, take(16_usize)).parse(rest)?;
    let mut header = BlockHeader {
        header_size,
        flags,
        compression: [0; 4],
        allocated_size,
        used_size,
        data_size,
        checksum: [0; 16],
    };
    header.compression.copy_from_slice(compression);
    header.checksum.copy_from_slice(sum);
    Ok((rest, header))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn fields_are_at_the_specified_offsets() {
        let mut bytes = b"\xd3BLK\x00\x30\x00\x00\x00\x01zlib".to_vec();
        bytes.extend_from_slice(&[0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0x80, 0, 0, 0, 0, 0, 0, 2, 0]);
        bytes.extend(1..=16);
        let header = BlockHeader::parse(&bytes).unwrap();
        assert_eq!((header.allocated_size, header.used_size, header.data_size), (256, 128, 512));
        assert!(header.is_streamed() && header.is_compressed());
        assert_eq!((header.len(), &header.compression), (54, b"zlib"));
        assert_eq!(header.digest().unwrap().as_bytes(), &header.checksum);
        assert!(BlockHeader::parse(&bytes[..53]).is_none());
        bytes[5] = 47;
        assert!(BlockHeader::parse(&bytes).is_none());
    }

    proptest! {
        #[test]
        fn bytes_and_fields_are_inverse(
            (header_size, flags, compression, checksum) in (48_u16.., any::<u32>(), any::<[u8; 4]>(), any::<[u8; 16]>()),
            (allocated_size, used_size, data_size) in any::<(u64, u64, u64)>(),
        ) {
            let header = BlockHeader { header_size, flags, compression, allocated_size, used_size, data_size, checksum };
            prop_assert_eq!(BlockHeader::parse(&header.to_bytes()), Some(header));
        }
    }
}
