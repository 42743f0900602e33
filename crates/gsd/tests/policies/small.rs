//! A file of two frames with two chunks each, and changes to it.

use container_core::dtype::ByteOrder;
use gsd::{Header, IndexEntry, Version};

/// Offset of the index of 8 slots.
pub const INDEX: u64 = 256;
/// Offset of the namelist of 64 bytes.
pub const NAMES: u64 = 512;
/// Offset of the chunks.
pub const DATA: u64 = 576;

/// Names `a` and `bb`; in each frame two numbers of 16 bits, and three of 32.
pub fn small(order: ByteOrder, version: Version) -> Vec<u8> {
    let v1 = version < Version::new(2, 0);
    let header = Header {
        byte_order: order,
        index_location: INDEX,
        index_allocated_entries: 8,
        namelist_location: NAMES,
        namelist_allocated_entries: if v1 { 2 } else { 1 },
        schema_version: Version::new(1, 0),
        gsd_version: version,
        application: text(b"by hand"),
        schema: text(b"none"),
        reserved: [0; 80],
    };
    let mut file = header.to_bytes().to_vec();
    let data = if v1 { DATA + 64 } else { DATA };
    for frame in 0..2 {
        let at = i64::try_from(data + 16 * frame).unwrap();
        let a = IndexEntry { frame, n: 2, location: at, m: 1, id: 0, type_code: 2, flags: 0 };
        let bb = IndexEntry { frame, n: 1, location: at + 4, m: 3, id: 1, type_code: 9, flags: 0 };
        // In 1.0 chunks are in the order of writing.
        let entries = if v1 { [bb, a] } else { [a, bb] };
        entries.iter().for_each(|entry| file.extend(entry.to_bytes(order)));
    }
    file.resize(512, 0);
    if v1 {
        file.extend(text(b"a"));
        file.extend(text(b"bb"));
    } else {
        file.extend(text(b"a\0bb"));
    }
    file.extend((1..=32).collect::<Vec<u8>>());
    file
}

/// The file that changes are made to.
pub fn usual() -> Vec<u8> {
    small(ByteOrder::Little, Version::new(2, 1))
}

fn text(text: &[u8]) -> [u8; 64] {
    let mut field = [0; 64];
    field[..text.len()].copy_from_slice(text);
    field
}

pub fn put(mut file: Vec<u8>, at: u64, bytes: &[u8]) -> Vec<u8> {
    let at = usize::try_from(at).unwrap();
    file[at..at + bytes.len()].copy_from_slice(bytes);
    file
}

/// Bytes of the entry at `at`.
pub fn slot(at: u64) -> std::ops::Range<u64> {
    INDEX + 32 * at..INDEX + 32 * at + 32
}

/// The usual file with another entry at `at`.
pub fn with_entry(at: u64, change: impl Fn(&mut IndexEntry)) -> Vec<u8> {
    let file = usual();
    let start = usize::try_from(slot(at).start).unwrap();
    let mut entry = IndexEntry::from_bytes(file[start..].first_chunk().unwrap(), ByteOrder::Little);
    change(&mut entry);
    put(file, slot(at).start, &entry.to_bytes(ByteOrder::Little))
}
