//! The header of the metadata section of version 3, 32 bytes.
//!
//! Spec: "Description of the metadata section" in the Bloscpack README.

use container_core::{Error, Result};
use nom::bytes::complete::take;
use nom::number::complete::{le_u8, le_u32};
use nom::{IResult, Parser};

use crate::ChecksumCode;

/// Length of this header in bytes.
pub const LEN: u64 = 32;

/// Metadata header: the fields of the 32 bytes before the metadata, unchecked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MetadataHeader {
    /// The serializer: `JSON` and four NULs (not blanks, as the README has it).
    pub magic_format: [u8; 8],
    /// Reserved; written 0.
    pub meta_options: u8,
    /// Checksum of the stored payload.
    pub meta_checksum: ChecksumCode,
    /// 0 none, 1 zlib.
    pub meta_codec: u8,
    /// 0 to 9. Writers keep the requested level when they store without a codec.
    pub meta_level: u8,
    /// Length of the metadata text in bytes.
    pub meta_size: u32,
    /// Length of the payload with the zeros after it, in bytes.
    pub max_meta_size: u32,
    /// Length of the payload in bytes.
    pub meta_comp_size: u32,
    /// Reserved for codecs by name; empty.
    pub user_codec: [u8; 8],
}

impl MetadataHeader {
    /// `JSON`, as it is stored.
    pub const JSON: [u8; 8] = *b"JSON\0\0\0\0";

    /// Parses the header at the start of `bytes`.
    ///
    /// # Errors
    /// `Truncated` when there are fewer than 32; the range counts from the start of `bytes`.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let cut = |_| Error::truncated(0..LEN, bytes.len() as u64).with_context("bloscpack metadata header");
        fields(bytes).map(|(_, header)| header).map_err(cut)
    }

    /// The bytes of the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 32] {
        let codes = [self.meta_options, self.meta_checksum.0, self.meta_codec, self.meta_level];
        let sizes = [self.meta_size, self.max_meta_size, self.meta_comp_size];
        let sizes = sizes.into_iter().flat_map(u32::to_le_bytes);
        let all = self.magic_format.into_iter().chain(codes).chain(sizes).chain(self.user_codec);
        let mut out = [0; 32];
        out.iter_mut().zip(all).for_each(|(place, byte)| *place = byte);
        out
    }

    /// Length of the whole section in bytes: this header, the payload and the zeros after it, and the digest.
    #[must_use]
    pub fn section_len(&self) -> u64 {
        let digest = self.meta_checksum.digest_len() as u64;
        LEN.saturating_add(self.max_meta_size.into()).saturating_add(digest)
    }

    /// True where the serializer is JSON, with any padding of the name.
    #[must_use]
    pub fn is_json(&self) -> bool {
        let padding = |byte: &u8| matches!(byte, 0 | b' ');
        let (name, rest) = self.magic_format.split_at_checked(4).unwrap_or_default();
        name == b"JSON" && rest.iter().all(padding)
    }
}

fn fields(bytes: &[u8]) -> IResult<&[u8], MetadataHeader> {
    let (rest, (magic, meta_options, checksum, meta_codec, meta_level)) =
        (take(8_usize), le_u8, le_u8, le_u8, le_u8).parse(bytes)?;
    let (rest, (meta_size, max_meta_size, meta_comp_size, user)) =
        (le_u32, le_u32, le_u32, take(8_usize)).parse(rest)?;
    let eight = |bytes: &[u8]| bytes.try_into().unwrap_or_default();
    let header = MetadataHeader {
        magic_format: eight(magic),
        meta_options,
        meta_checksum: ChecksumCode(checksum),
        meta_codec,
        meta_level,
        meta_size,
        max_meta_size,
        meta_comp_size,
        user_codec: eight(user),
    };
    Ok((rest, header))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn reader_and_writer_are_inverse(bytes in prop::array::uniform32(any::<u8>())) {
            prop_assert_eq!(MetadataHeader::parse(&bytes).unwrap().to_bytes(), bytes);
        }
    }

    #[test]
    fn names_may_be_padded_with_blanks_and_sections_have_a_length() {
        // As bloscpack 0.16 writes `{}`: 20 bytes of room for 2, adler32, not compressed because zlib would not make it shorter.
        let bytes = *b"JSON\0\0\0\0\0\x01\0\x06\x02\0\0\0\x14\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0";
        let mut header = MetadataHeader::parse(&bytes).unwrap();
        assert_eq!((header.meta_size, header.meta_comp_size, header.section_len()), (2, 2, 56));
        assert!(header.is_json());
        header.magic_format = *b"JSON    ";
        assert!(header.is_json());
        for other in [b"BSON\0\0\0\0", b"JSONB\0\0\0", b"\0\0\0\0\0\0\0\0"] {
            header.magic_format = *other;
            assert!(!header.is_json());
        }
        let error = MetadataHeader::parse(&bytes[..31]).unwrap_err();
        assert!(matches!(error.kind(), container_core::ErrorKind::Truncated { need: 32, have: 31 }));
    }
}
