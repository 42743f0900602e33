#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]

use container_core::dtype::ByteOrder;
use proptest::prelude::*;

use super::*;
use crate::fault::Faults;
use crate::header::{Header, Version};
use crate::index::IndexEntry;
use crate::index_scan::{scan, scan_from};

const FILE_LEN: u64 = 10_000;

fn header(v1: bool) -> Header {
    let file = crate::writer::sequential::to_vec(
        crate::writer::sequential::Plan::new("", "", Version::new(1, 0)).unwrap(),
        &[],
    )
    .unwrap();
    let mut header = Header::parse(&file).unwrap();
    if v1 {
        header.gsd_version = Version::new(1, 0);
    }
    header
}

fn entry(at: u64) -> IndexEntry {
    let type_code = 1 + u8::try_from(at % 11).unwrap();
    let location = 256 + i64::try_from(at).unwrap();
    IndexEntry {
        frame: at / 3,
        n: at % 5,
        location,
        m: 2,
        id: u16::try_from(at % 3).unwrap(),
        type_code,
        flags: 0,
    }
}

/// Returns an index of `count` valid entries and 20 unused slots after one change.
fn changed(count: u64, at: u64, change: impl Fn(&mut IndexEntry)) -> Vec<u8> {
    let mut entries: Vec<IndexEntry> = (0..count).map(entry).collect();
    entries.resize(entries.len() + 20, IndexEntry::default());
    if let Some(entry) = entries.get_mut(usize::try_from(at).unwrap()) {
        change(entry);
    }
    entries.iter().flat_map(|entry| entry.to_bytes(ByteOrder::Little)).collect()
}

fn sound_of(bytes: &[u8], v1: bool) -> (usize, bool) {
    let header = header(v1);
    let rules = Rules { header: &header, file_len: FILE_LEN, names: 3, frames: 1000 };
    let index = IndexBlock::new(bytes, ByteOrder::Little);
    let sound = valid_slots(index, &rules);
    (sound, is_zero(index, sound))
}

/// A change to an entry, by what it is called.
type Change = (&'static str, fn(&mut IndexEntry));

#[test]
fn each_fault_ends_the_sound_part_before_its_block() {
    let faults: &[Change] = &[
        ("type 0", |entry| entry.type_code = 0),
        ("type 12", |entry| entry.type_code = 12),
        ("type 27, whose low bits are 11", |entry| entry.type_code = 27),
        ("flags", |entry| entry.flags = 1),
        ("no columns", |entry| entry.m = 0),
        ("name", |entry| entry.id = 3),
        ("frame", |entry| entry.frame = 1000),
        ("before", |entry| entry.frame = 0),
        ("below 0", |entry| entry.location = -5),
        ("past the end", |entry| entry.location = 10_001),
        ("ends past the end", |entry| (entry.n, entry.m) = (5001, 2)),
        ("wraps", |entry| (entry.n, entry.m, entry.type_code) = (1 << 62, 4, 1)),
        ("unused", |entry| entry.location = 0),
    ];
    for (name, fault) in faults {
        let (sound, _) = sound_of(&changed(256, 200, fault), false);
        assert!((192..=200).contains(&sound), "{name}: {sound}");
    }
    assert_eq!(sound_of(&changed(256, 999, |_| ()), false), (256, true));
    assert_eq!(sound_of(&changed(256, 270, |entry| entry.m = 1), false), (256, false));
    // The end of a chunk may be the end of the file, and an empty one may be there.
    let at_end: &[Change] = &[
        ("ends at the end", |entry| (entry.n, entry.location, entry.type_code) = (50, 9900, 1)),
        ("is empty at the end", |entry| (entry.n, entry.location) = (0, 10_000)),
    ];
    for (name, change) in at_end {
        assert_eq!(sound_of(&changed(256, 200, change), false), (256, true), "{name}");
    }
}

#[test]
fn order_within_a_frame_is_free_in_layer_1() {
    let swapped = changed(256, 4, |entry| entry.id = 0);
    assert_eq!(sound_of(&swapped, true).0, 256);
    assert_eq!(sound_of(&swapped, false).0, 0);
}

proptest! {
    /// An index that the check accepts has no fault in the scan of each slot; and the scan finds the same after it.
    #[test]
    fn accepted_index_passes_the_full_scan(
        count in 0_u64..200,
        changes in proptest::collection::vec((0_u64..220, 0_usize..32, any::<u8>()), 0..3),
        v1 in any::<bool>(),
    ) {
        let mut bytes = changed(count, 999, |_| ());
        for (slot, at, value) in changes {
            let place = usize::try_from(slot).unwrap() * 32 + at;
            if let Some(byte) = bytes.get_mut(place) {
                *byte = value;
            }
        }
        let header = header(v1);
        let rules = Rules { header: &header, file_len: FILE_LEN, names: 3, frames: 1000 };
        let index = IndexBlock::new(&bytes, ByteOrder::Little);
        let sound = valid_slots(index, &rules);
        let mut faults = Faults::default();
        let first = scan_from(index.first(sound), 0, &rules, &mut faults, false);
        prop_assert!(faults.as_slice().is_empty());
        prop_assert_eq!((first.used, first.dropped, first.rebuild), (sound, 0, false));
        let (mut slow, mut fast) = (Faults::default(), Faults::default());
        let whole = scan_from(index, 0, &rules, &mut slow, false);
        let skipping = scan(index, &rules, &mut fast, false);
        prop_assert_eq!((whole.used, whole.dropped, whole.rebuild), (skipping.used, skipping.dropped, skipping.rebuild));
        prop_assert_eq!(format!("{:?}", slow.as_slice()), format!("{:?}", fast.as_slice()));
    }
}
