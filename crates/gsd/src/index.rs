//! The index: 32-byte entries, each the place, type and shape of one chunk.
//!
//! Spec: "Index block" of the file layer document. Since file layer 2.0 entries are sorted by frame and id; in 1.0 files they
//! are in write order within a frame. The first entry whose location is 0 ends the list, as does the end of the block.

use std::ops::Range;

use container_core::block::Block;
use container_core::dtype::ByteOrder;
use nom::number::complete::{i64, u8, u16, u32, u64};
use nom::{IResult, Parser};

use crate::ChunkType;
use crate::header::endianness;

/// One entry of the index: `struct gsd_index_entry`. Its fields are unchecked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct IndexEntry {
    /// Frame that the chunk belongs to.
    pub frame: u64,
    /// Rows.
    pub n: u64,
    /// Absolute offset of the first byte; 0 in an unused entry.
    pub location: i64,
    /// Columns, the fast axis.
    pub m: u32,
    /// Index of the chunk's name in the namelist.
    pub id: u16,
    /// Type code; see [`IndexEntry::chunk_type`].
    pub type_code: u8,
    /// Reserved, 0.
    pub flags: u8,
}

impl IndexEntry {
    /// Parses one entry.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32], order: ByteOrder) -> Self {
        fn le(bytes: &[u8; 32]) -> Option<IndexEntry> {
            // Constant offsets of a fixed array: loads, without a check that could fail.
            Some(IndexEntry {
                frame: u64::from_le_bytes(*bytes.first_chunk()?),
                n: u64::from_le_bytes(*bytes.get(8..)?.first_chunk()?),
                location: i64::from_le_bytes(*bytes.get(16..)?.first_chunk()?),
                m: u32::from_le_bytes(*bytes.get(24..)?.first_chunk()?),
                id: u16::from_le_bytes(*bytes.get(28..)?.first_chunk()?),
                type_code: *bytes.get(30)?,
                flags: *bytes.get(31)?,
            })
        }
        match order {
            ByteOrder::Little => le(bytes).unwrap_or_default(),
            ByteOrder::Big => fields(order, bytes).map_or_else(|_| Self::default(), |(_, entry)| entry),
        }
    }

    /// The 32 bytes of the entry.
    #[must_use]
    pub fn to_bytes(&self, order: ByteOrder) -> [u8; 32] {
        // Constant ranges of a fixed array: stores, without a check that could fail.
        let mut bytes = [0; 32];
        let (frame, n, location, m, id) = match order {
            ByteOrder::Little => (
                self.frame.to_le_bytes(),
                self.n.to_le_bytes(),
                self.location.to_le_bytes(),
                self.m.to_le_bytes(),
                self.id.to_le_bytes(),
            ),
            ByteOrder::Big => (
                self.frame.to_be_bytes(),
                self.n.to_be_bytes(),
                self.location.to_be_bytes(),
                self.m.to_be_bytes(),
                self.id.to_be_bytes(),
            ),
        };
        bytes[..8].copy_from_slice(&frame);
        bytes[8..16].copy_from_slice(&n);
        bytes[16..24].copy_from_slice(&location);
        bytes[24..28].copy_from_slice(&m);
        bytes[28..30].copy_from_slice(&id);
        bytes[30] = self.type_code;
        bytes[31] = self.flags;
        bytes
    }

    /// True for a slot that ends the list.
    #[must_use]
    pub const fn is_unused(&self) -> bool {
        self.location == 0
    }

    /// The element type; `None` for a code without one.
    #[must_use]
    pub const fn chunk_type(&self) -> Option<ChunkType> {
        ChunkType::from_code(self.type_code)
    }

    /// Bytes of the chunk; `None` without a type, and past 2^64.
    #[must_use]
    pub fn size(&self) -> Option<u64> {
        self.n.checked_mul(u64::from(self.m))?.checked_mul(self.chunk_type()?.size())
    }

    /// Absolute bytes of the chunk; `None` for an impossible range: no type, a negative location, past 2^64.
    #[must_use]
    pub fn byte_range(&self) -> Option<Range<u64>> {
        let start = u64::try_from(self.location).ok()?;
        Some(start..start.checked_add(self.size()?)?)
    }

    /// Shape as arrays have it: (N,) where M is 1, else (N, M).
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        if self.m == 1 { vec![self.n] } else { vec![self.n, self.m.into()] }
    }
}

impl Block for IndexEntry {
    /// The chunk's bytes; empty at 0 for an impossible range (see [`IndexEntry::byte_range`]).
    fn range(&self) -> Range<u64> {
        self.byte_range().unwrap_or(0..0)
    }

    fn decoded_len(&self) -> u64 {
        self.size().unwrap_or(0)
    }

    fn codec(&self) -> Option<&str> {
        None
    }
}

fn fields(order: ByteOrder, bytes: &[u8]) -> IResult<&[u8], IndexEntry> {
    let order = endianness(order);
    let (rest, (frame, n, location)) = (u64(order), u64(order), i64(order)).parse(bytes)?;
    let (rest, (m, id, type_code, flags)) = (u32(order), u16(order), u8, u8).parse(rest)?;
    Ok((rest, IndexEntry { frame, n, location, m, id, type_code, flags }))
}

/// The entries of an index, parsed on demand.
#[derive(Clone, Copy, Debug)]
pub struct IndexBlock<'a> {
    entries: &'a [[u8; 32]],
    order: ByteOrder,
}

impl<'a> IndexBlock<'a> {
    /// The entries in `bytes`; an incomplete entry at the end is left out.
    #[must_use]
    pub fn new(bytes: &'a [u8], order: ByteOrder) -> Self {
        Self { entries: bytes.as_chunks().0, order }
    }

    /// Number of entries.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.entries.len()
    }

    /// True without entries.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entry at `at`.
    #[must_use]
    pub fn get(&self, at: usize) -> Option<IndexEntry> {
        self.entries.get(at).map(|bytes| IndexEntry::from_bytes(bytes, self.order))
    }

    /// The entries as they are stored.
    pub(crate) const fn slots(&self) -> &'a [[u8; 32]] {
        self.entries
    }

    /// The byte order of the entries.
    pub(crate) const fn order(&self) -> ByteOrder {
        self.order
    }

    /// Frame and id of the entry at `at`, by which the index is sorted.
    pub(crate) fn key(&self, at: usize) -> Option<(u64, u16)> {
        let bytes = self.entries.get(at)?;
        let (frame, id) = (*bytes.first_chunk()?, *bytes.get(28..)?.first_chunk()?);
        Some(match self.order {
            ByteOrder::Little => (u64::from_le_bytes(frame), u16::from_le_bytes(id)),
            ByteOrder::Big => (u64::from_be_bytes(frame), u16::from_be_bytes(id)),
        })
    }

    /// The first `len` entries, or all where there are fewer.
    #[must_use]
    pub fn first(&self, len: usize) -> Self {
        Self { entries: self.entries.get(..len).unwrap_or(self.entries), order: self.order }
    }

    /// The entries from `range.start` to `range.end`; none where the index is not that long.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Self {
        Self { entries: self.entries.get(range).unwrap_or_default(), order: self.order }
    }

    /// All entries in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = IndexEntry> + DoubleEndedIterator + Clone + use<'a> {
        let order = self.order;
        self.entries.iter().map(move |bytes| IndexEntry::from_bytes(bytes, order))
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn byte_range_rejects_overflow_and_negative_locations() {
        let entry = IndexEntry { n: 1 << 62, m: 4, type_code: 9, location: 256, ..IndexEntry::default() };
        assert_eq!((entry.size(), entry.byte_range()), (None, None));
        let entry = IndexEntry { n: 2, m: 3, type_code: 9, location: -1, ..IndexEntry::default() };
        assert_eq!((entry.size(), entry.byte_range()), (Some(24), None));
        assert_eq!(IndexEntry { type_code: 12, ..entry }.size(), None);
        assert_eq!(IndexEntry { location: 300, ..entry }.byte_range(), Some(300..324));
    }

    proptest! {
        #[test]
        fn reader_and_writer_are_inverse(bytes in any::<[u8; 32]>(), big in any::<bool>()) {
            let order = if big { ByteOrder::Big } else { ByteOrder::Little };
            let entry = IndexEntry::from_bytes(&bytes, order);
            prop_assert_eq!(entry.to_bytes(order), bytes);
            // The loads and nom's parser read the same.
            prop_assert_eq!(fields(order, &bytes).unwrap().1, entry);
        }
    }

    #[test]
    fn entries_are_blocks_of_their_bytes() {
        let entry = IndexEntry { n: 2, m: 3, type_code: 9, location: 300, ..IndexEntry::default() };
        assert_eq!((entry.range(), entry.decoded_len(), entry.codec()), (300..324, 24, None));
        let nowhere = IndexEntry { type_code: 0, ..entry };
        assert_eq!((nowhere.range(), nowhere.decoded_len()), (0..0, 0));
        assert!(IndexEntry::default().is_unused() && !entry.is_unused());
        assert_eq!((entry.shape(), IndexEntry { m: 1, ..entry }.shape()), (vec![2, 3], vec![2]));
        assert_eq!(IndexEntry { m: 0, ..entry }.shape(), [2, 0]);
    }

    #[test]
    fn parts_of_an_index_have_its_entries() {
        let entry = |frame: u64, id| IndexEntry { frame, id, location: 300, ..IndexEntry::default() };
        let entries = [entry(0, 0), entry(0, 7), entry(1, 0x0102), entry(0x0102_0304, 1)];
        for order in [ByteOrder::Little, ByteOrder::Big] {
            let mut bytes: Vec<u8> = entries.iter().flat_map(|entry| entry.to_bytes(order)).collect();
            // The last one lacks a byte.
            bytes.extend([1; 31]);
            let index = IndexBlock::new(&bytes, order);
            assert_eq!((index.len(), index.is_empty(), index.order()), (4, false, order));
            assert_eq!((index.get(2), index.get(4)), (Some(entries[2]), None));
            assert_eq!(
                (index.key(3), index.key(2), index.key(4)),
                (Some((0x0102_0304, 1)), Some((1, 0x0102)), None)
            );
            let listed = |index: IndexBlock<'_>| index.iter().collect::<Vec<_>>();
            assert_eq!(listed(index.first(2)), entries[..2]);
            assert_eq!(listed(index.first(9)), entries);
            assert_eq!(listed(index.slice(1..3)), entries[1..3]);
            assert!(index.slice(1..5).is_empty() && index.first(0).is_empty());
            assert_eq!(index.slots().len(), 4);
        }
    }
}
