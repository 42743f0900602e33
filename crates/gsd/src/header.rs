//! The header: the first 256 bytes, which point at the index and the namelist.
//!
//! Spec: "Header block" of the file layer document, sizes of the two `*_allocated_entries` by the reference's code, which the
//! document swaps. Reader and writer are next to each other; a test checks that they are inverse.

use std::ops::Range;

use container_core::dtype::ByteOrder;
use container_core::{Error, Result};
use nom::bytes::complete::take;
use nom::number::Endianness;
use nom::number::complete::{u32, u64};
use nom::{IResult, Parser};

/// The magic of a little-endian file; reversed, that of a big-endian one.
pub const MAGIC: u64 = 0x65DF_65DF_65DF_65DF;

/// First bytes of a file of either byte order.
pub(crate) const MAGICS: &[&[u8]] = &[&MAGIC.to_le_bytes(), &MAGIC.to_be_bytes()];

/// Bytes of the header.
pub const LEN: u64 = 256;

/// Bytes of an index entry, the unit of [`Header::index_allocated_entries`].
pub const INDEX_ENTRY_LEN: u64 = 32;

/// Bytes of a slot of the namelist, the unit of [`Header::namelist_allocated_entries`] in every version.
pub const NAMELIST_ENTRY_LEN: u64 = 64;

/// A version, `major << 16 | minor`: `gsd_make_version`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Version(pub u32);

impl Version {
    /// Version `major.minor`.
    #[must_use]
    pub const fn new(major: u16, minor: u16) -> Self {
        Self((major as u32) << 16 | minor as u32)
    }

    /// The major version.
    #[must_use]
    pub const fn major(self) -> u32 {
        self.0 >> 16
    }

    /// The minor version.
    #[must_use]
    pub const fn minor(self) -> u32 {
        self.0 & 0xFFFF
    }
}

impl std::fmt::Display for Version {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}.{}", self.major(), self.minor())
    }
}

/// The header of a file: `struct gsd_header`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Byte order of every number in the file. Big-endian hosts dump their structs as they are.
    pub byte_order: ByteOrder,
    /// Absolute offset of the index.
    pub index_location: u64,
    /// Room of the index in entries, not how many are used.
    pub index_allocated_entries: u64,
    /// Absolute offset of the namelist.
    pub namelist_location: u64,
    /// Room of the namelist in units of 64 bytes.
    pub namelist_allocated_entries: u64,
    /// Version of the schema.
    pub schema_version: Version,
    /// Version of the file layer.
    pub gsd_version: Version,
    /// Name of the generating application, NUL-padded.
    pub application: [u8; 64],
    /// Name of the schema, NUL-padded.
    pub schema: [u8; 64],
    /// Reserved bytes, kept as they are.
    pub reserved: [u8; 80],
}

impl Header {
    /// Parses the first 256 bytes of a file.
    ///
    /// # Errors
    /// `WrongFormat` without the magic in either byte order, `Truncated` when there are fewer than 256 bytes.
    pub fn parse(bytes: &[u8]) -> Result<Self> {
        let byte_order =
            byte_order(bytes).ok_or_else(|| Error::wrong_format("a GSD file").with_range(0..8))?;
        match fields(byte_order, bytes) {
            Ok((_, header)) => Ok(header),
            Err(_) => Err(Error::truncated(0..LEN, bytes.len() as u64).with_context("gsd header")),
        }
    }

    /// The 256 bytes of the header.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; 256] {
        let mut bytes = Vec::with_capacity(256);
        let words = [
            MAGIC,
            self.index_location,
            self.index_allocated_entries,
            self.namelist_location,
            self.namelist_allocated_entries,
        ];
        let versions = [self.schema_version.0, self.gsd_version.0];
        match self.byte_order {
            ByteOrder::Little => {
                words.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
                versions.iter().for_each(|word| bytes.extend(word.to_le_bytes()));
            }
            ByteOrder::Big => {
                words.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
                versions.iter().for_each(|word| bytes.extend(word.to_be_bytes()));
            }
        }
        bytes.extend(self.application);
        bytes.extend(self.schema);
        bytes.extend(self.reserved);
        // The fields add up to 256 bytes.
        bytes.try_into().unwrap_or([0; 256])
    }

    /// Absolute bytes of the whole index, used or not; `None` where they reach past 2^64.
    #[must_use]
    pub fn index_range(&self) -> Option<Range<u64>> {
        let len = self.index_allocated_entries.checked_mul(INDEX_ENTRY_LEN)?;
        Some(self.index_location..self.index_location.checked_add(len)?)
    }

    /// Absolute bytes of the whole namelist, used or not; `None` where they reach past 2^64.
    #[must_use]
    pub fn namelist_range(&self) -> Option<Range<u64>> {
        let len = self.namelist_allocated_entries.checked_mul(NAMELIST_ENTRY_LEN)?;
        Some(self.namelist_location..self.namelist_location.checked_add(len)?)
    }

    /// True for the layout of names and index of file layer 1.0 and before: names in slots of 64 bytes, index in write order.
    #[must_use]
    pub const fn is_v1(&self) -> bool {
        self.gsd_version.major() < 2
    }

    /// True for the versions that the reference reads: 0.3, and 1.0 up to but without 3.0.
    #[must_use]
    pub fn is_supported(&self) -> bool {
        let version = self.gsd_version;
        version == Version::new(0, 3) || (Version::new(1, 0)..Version::new(3, 0)).contains(&version)
    }

    /// Name of the generating application; invalid UTF-8 is replaced.
    #[must_use]
    pub fn application_name(&self) -> String {
        text(&self.application)
    }

    /// Name of the schema; invalid UTF-8 is replaced.
    #[must_use]
    pub fn schema_name(&self) -> String {
        text(&self.schema)
    }
}

/// The NUL-padded field of 64 bytes that holds `name`.
///
/// # Errors
/// `Usage` for a name of 64 bytes or more, or with a NUL: it would be cut. The reference cuts at 63 bytes.
pub fn name_field(what: &str, name: &str) -> Result<[u8; 64]> {
    let mut field = [0; 64];
    match field.get_mut(..name.len()) {
        Some(room) if name.len() < 64 && !name.contains('\0') => room.copy_from_slice(name.as_bytes()),
        _ => {
            let problem = format!("the {what} {name:?} does not fit 63 bytes without NUL ({})", name.len());
            return Err(Error::usage(problem));
        }
    }
    Ok(field)
}

/// The byte order of a file that starts with these bytes; `None` where it is not a GSD file.
#[must_use]
pub fn byte_order(bytes: &[u8]) -> Option<ByteOrder> {
    let magic = bytes.first_chunk::<8>()?;
    if *magic == MAGIC.to_le_bytes() {
        Some(ByteOrder::Little)
    } else if *magic == MAGIC.to_be_bytes() {
        Some(ByteOrder::Big)
    } else {
        None
    }
}

pub(crate) fn endianness(order: ByteOrder) -> Endianness {
    match order {
        ByteOrder::Little => Endianness::Little,
        ByteOrder::Big => Endianness::Big,
    }
}

fn text(field: &[u8]) -> String {
    let name = field.split(|byte| *byte == 0).next().unwrap_or_default();
    String::from_utf8_lossy(name).into_owned()
}

fn fields(byte_order: ByteOrder, bytes: &[u8]) -> IResult<&[u8], Header> {
    let order = endianness(byte_order);
    let word = || u64(order);
    let (rest, (_magic, index_location, index_allocated_entries, namelist_location, namelist_allocated)) =
        (word(), word(), word(), word(), word()).parse(bytes)?;
    let (rest, (schema_version, gsd_version)) = (u32(order), u32(order)).parse(rest)?;
    let (rest, (application, schema, reserved)) =
        (take(64_usize), take(64_usize), take(80_usize)).parse(rest)?;
    let header = Header {
        byte_order,
        index_location,
        index_allocated_entries,
        namelist_location,
        namelist_allocated_entries: namelist_allocated,
        schema_version: Version(schema_version),
        gsd_version: Version(gsd_version),
        application: array(application),
        schema: array(schema),
        reserved: array(reserved),
    };
    Ok((rest, header))
}

/// The bytes that `take` has counted, as an array of that length.
fn array<const N: usize>(bytes: &[u8]) -> [u8; N] {
    bytes.try_into().unwrap_or([0; N])
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use container_core::ErrorKind;
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_short_header_reports_its_range_and_other_magics_are_other_formats() {
        let error = Header::parse(&MAGIC.to_le_bytes()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { need: 256, have: 8 }));
        for other in [&b""[..], b"\xdf\x65\xdf", b"rawarray"] {
            assert!(matches!(Header::parse(other).unwrap_err().kind(), ErrorKind::WrongFormat { .. }));
        }
    }

    #[test]
    fn names_that_would_be_cut_are_refused() {
        assert_eq!(&name_field("schema", "hoomd").unwrap()[..7], b"hoomd\0\0");
        assert!(name_field("schema", &"x".repeat(63)).is_ok());
        for long in ["x".repeat(64), "x".repeat(99), "a\0b".into()] {
            assert!(name_field("schema", &long).is_err());
        }
    }

    #[test]
    fn versions_are_those_of_the_reference() {
        let mut header = Header::parse(&[&MAGIC.to_be_bytes()[..], &[0; 248]].concat()).unwrap();
        assert_eq!(header.byte_order, ByteOrder::Big);
        for (major, minor, supported) in
            [(0, 2, false), (0, 3, true), (0, 4, false), (1, 0, true), (2, 9, true), (3, 0, false)]
        {
            header.gsd_version = Version::new(major, minor);
            assert_eq!(header.is_supported(), supported, "{}", header.gsd_version);
        }
    }

    proptest! {
        #[test]
        fn reader_and_writer_are_inverse(
            words in any::<[u64; 4]>(), versions in any::<[u32; 2]>(), fill in any::<u8>(), big in any::<bool>(),
        ) {
            let header = Header {
                byte_order: if big { ByteOrder::Big } else { ByteOrder::Little },
                index_location: words[0],
                index_allocated_entries: words[1],
                namelist_location: words[2],
                namelist_allocated_entries: words[3],
                schema_version: Version(versions[0]),
                gsd_version: Version(versions[1]),
                application: [fill; 64],
                schema: [fill.wrapping_add(1); 64],
                reserved: [fill.wrapping_add(2); 80],
            };
            prop_assert_eq!(Header::parse(&header.to_bytes()).unwrap(), header);
        }
    }
}
