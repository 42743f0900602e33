//! Indexes in order and out of it, against looking at every entry.

use std::collections::BTreeSet;

use container_core::dtype::ByteOrder;
use gsd::header::{Header, Version};
use gsd::{Defaults, File, Frames, IndexEntry, Rows, StackedChunks, Strictness};

use crate::feed::Feed;
use crate::gsd_file::open;

/// Bytes that chunks are taken from.
const DATA: usize = 512;

/// A file in parts.
struct Parts {
    bytes: Vec<u8>,
    /// The slots of the index, up to the end of the block.
    slots: Vec<IndexEntry>,
    names: usize,
    v1: bool,
}

/// Finds what looking at all finds, by every policy, and refuses what it should.
pub fn gsd_lookup(data: &[u8]) {
    let mut feed = Feed::new(data);
    let parts = parts(&mut feed);
    let end = probed_end(&parts);
    match open(&parts.bytes, Strictness::Compatible) {
        Ok(file) => {
            assert_eq!(Some(file.layout().entries() as usize), end);
            compatible(&file, &parts);
        }
        Err(error) => assert!(end.is_none(), "the reference opens it: {error}"),
    }
    let strict = open(&parts.bytes, Strictness::Strict);
    assert_eq!(strict.is_ok(), is_strict(&parts), "{:?} of {:?}", strict.err(), parts.slots);
    if let Ok(file) = &strict {
        finds(file, &parts.slots, &mut feed);
        stacks(file, &mut feed);
    }
    let lenient = open(&parts.bytes, Strictness::Lenient).expect("blocks are where they should be");
    assert_eq!(is_strict(&parts), lenient.layout().faults().is_empty(), "{:?}", lenient.layout().faults());
    // Behind the end, what is no entry is what a write has left.
    let (mut used, mut hole) = (0, false);
    for (at, entry) in parts.slots.iter().enumerate() {
        hole |= entry.is_unused();
        if !entry.is_unused() && (!hole || is_valid(entry, &parts) && entry.m > 0) {
            (used, hole) = (at + 1, false);
        }
    }
    let placed: Vec<IndexEntry> = parts.slots[..used]
        .iter()
        .filter(|entry| !entry.is_unused() && is_placed(entry, &parts))
        .copied()
        .collect();
    finds(&lenient, &placed, &mut feed);
    stacks(&lenient, &mut feed);
}

fn parts(feed: &mut Feed<'_>) -> Parts {
    let version =
        feed.one_of(&[Version::new(2, 0), Version::new(2, 1), Version::new(1, 0), Version::new(0, 3)]);
    let order = feed.one_of(&[ByteOrder::Little, ByteOrder::Big]);
    let v1 = version.major() < 2;
    let (count, spare) = (feed.below(40), feed.below(12));
    let allocated = (count + spare).max(1);
    let names = 1 + feed.below(6);
    let names_len = if v1 { 64 * names } else { 64 };
    let names_at = 256 + 32 * allocated;
    let data_at = names_at + names_len;
    let mut slots = Vec::new();
    let (mut frame, mut id) = (0, 0);
    for _ in 0..count {
        let type_code = 1 + feed.below(10) as u8;
        let (n, m) = (feed.below(5) as u64, 1 + feed.below(3) as u32);
        let at = data_at + feed.below(DATA - 5 * 3 * 8);
        let mut entry = IndexEntry { frame, n, location: at as i64, m, id, type_code, flags: 0 };
        // One of many is wrong in some way.
        match feed.below(240) {
            1 => entry.type_code = feed.byte(),
            2 => entry.flags = feed.byte(),
            3 => entry.frame = feed.word(),
            4 => entry.id = feed.word() as u16,
            5 => entry.location = feed.word().cast_signed(),
            6 => entry.location = 0,
            7 => entry.n = feed.word(),
            8 => entry.m = feed.word() as u32,
            9 => entry.frame = feed.below(allocated) as u64,
            _ => {}
        }
        slots.push(entry);
        let step = feed.below(5);
        match step {
            0 => frame += 1 + feed.below(3) as u64,
            _ if usize::from(id) + 1 < names && !v1 => {
                id += 1 + feed.below(names - usize::from(id) - 1) as u16
            }
            _ if v1 => {
                id = feed.below(names) as u16;
                continue;
            }
            _ => frame += 1,
        }
        if step == 0 || usize::from(id) >= names || slots.last().is_some_and(|last| last.frame != frame) {
            id = feed.below(names) as u16;
        }
    }
    slots.resize(allocated, IndexEntry::default());
    let mut schema = [0; 64];
    let name = feed.one_of(&["none", "hoomd"]);
    schema[..name.len()].copy_from_slice(name.as_bytes());
    let header = Header {
        byte_order: order,
        index_location: 256,
        index_allocated_entries: allocated as u64,
        namelist_location: names_at as u64,
        namelist_allocated_entries: (names_len / 64) as u64,
        schema_version: Version::new(1, 4),
        gsd_version: version,
        application: [0; 64],
        schema,
        reserved: [0; 80],
    };
    let mut bytes = header.to_bytes().to_vec();
    slots.iter().for_each(|entry| bytes.extend(entry.to_bytes(order)));
    let width = if v1 { 64 } else { 2 };
    let mut list = vec![0; names_len];
    for at in 0..names {
        list[at * width] = b'a' + at as u8;
    }
    bytes.extend(list);
    bytes.extend((0..DATA).map(|at| at as u8));
    Parts { bytes, slots, names, v1 }
}

fn is_placed(entry: &IndexEntry, parts: &Parts) -> bool {
    entry.frame < parts.slots.len() as u64 && usize::from(entry.id) < parts.names
}

fn is_valid(entry: &IndexEntry, parts: &Parts) -> bool {
    let size = u128::from(entry.n)
        * u128::from(entry.m)
        * [0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1].get(usize::from(entry.type_code)).copied().unwrap_or(0);
    let is_typed = (1..=11).contains(&entry.type_code);
    let ends = u128::try_from(entry.location).ok().map(|at| at + size);
    let within = ends.is_some_and(|end| end <= parts.bytes.len() as u128);
    is_typed && within && is_placed(entry, parts) && entry.flags == 0
}

/// Returns the end of the reference's search for the end of the index; `None` where it refuses the file.
fn probed_end(parts: &Parts) -> Option<usize> {
    let slots = &parts.slots;
    if slots[0].is_unused() {
        return Some(0);
    }
    if !is_valid(&slots[0], parts) {
        return None;
    }
    let (mut left, mut right) = (0, slots.len());
    while right - left > 1 {
        let middle = usize::midpoint(left, right);
        if slots[middle].is_unused() {
            right = middle;
            continue;
        }
        if !is_valid(&slots[middle], parts) || slots[middle].frame < slots[left].frame {
            return None;
        }
        left = middle;
    }
    Some(right)
}

/// Every entry makes sense, they are in order, and nothing is behind the last.
fn is_strict(parts: &Parts) -> bool {
    let used = parts.slots.iter().take_while(|entry| !entry.is_unused()).count();
    let (entries, rest) = parts.slots.split_at(used);
    let key = |entry: &IndexEntry| (entry.frame, entry.id);
    let ordered = entries
        .windows(2)
        .all(|pair| if parts.v1 { pair[0].frame <= pair[1].frame } else { key(&pair[0]) < key(&pair[1]) });
    let mut keys: Vec<(u64, u16)> = entries.iter().map(key).collect();
    keys.sort_unstable();
    // In 1.0 files nothing keeps two of one name apart.
    let twice = !parts.v1 && keys.windows(2).any(|pair| pair[0] == pair[1]);
    let valid = entries.iter().all(|entry| is_valid(entry, parts) && entry.m > 0);
    ordered && !twice && valid && rest.iter().all(|entry| *entry == IndexEntry::default())
}

/// Finds by halves what the reference does: entries in order are all found.
fn compatible(file: &File, parts: &Parts) {
    let used = file.layout().entries() as usize;
    let entries = &parts.slots[..used];
    let ordered = entries.is_sorted_by_key(|entry| (entry.frame, entry.id));
    for entry in entries {
        let found = file.find_id(entry.frame, entry.id);
        let is_one = found.is_some_and(|found| (found.frame, found.id) == (entry.frame, entry.id));
        assert!(is_one || !ordered || !is_placed(entry, parts), "{entry:?} {found:?}");
        assert!(is_one || found.is_none());
    }
}

/// Everything in the list is found, and nothing else.
fn finds(file: &File, list: &[IndexEntry], feed: &mut Feed<'_>) {
    let list: Vec<&IndexEntry> = list.iter().filter(|entry| !entry.is_unused()).collect();
    let frames = list.iter().map(|entry| entry.frame + 1).max().unwrap_or(0);
    assert_eq!(file.nframes(), frames, "{list:?}");
    for frame in 0..frames + 2 {
        for id in 0..8 {
            let mut candidates = list.iter().filter(|entry| (entry.frame, entry.id) == (frame, id));
            match file.find_id(frame, id) {
                Some(found) => assert!(candidates.any(|one| **one == found), "{found:?} in {list:?}"),
                None => assert!(candidates.next().is_none(), "frame {frame}, id {id} in {list:?}"),
            }
        }
        let range = file.frame_entries(frame);
        // Of several chunks of one name, a list that had to be put in order has one.
        let key = |entry: &IndexEntry| (entry.frame == frame).then_some(entry.id);
        let listed: BTreeSet<u16> = file.index().slice(range).iter().filter_map(|one| key(&one)).collect();
        let expected: BTreeSet<u16> = list.iter().filter_map(|one| key(one)).collect();
        assert_eq!(listed, expected, "frame {frame} of {list:?}");
    }
    for _ in 0..feed.below(6) {
        let (frame, id) = (feed.word(), feed.word() as u16);
        let found = file.find_id(frame, id);
        assert_eq!(found.is_some(), list.iter().any(|entry| (entry.frame, entry.id) == (frame, id)));
    }
}

/// A frame has two chunks of one name.
fn has_two_of_one(file: &File) -> bool {
    let keys: BTreeSet<_> = file.index().iter().map(|entry| (entry.frame, entry.id)).collect();
    keys.len() < file.index().len()
}

/// Many frames at once are what they are one by one.
fn stacks(file: &File, feed: &mut Feed<'_>) {
    for _ in 0..4 {
        let Some(name) = file.names().get(feed.below(6) as u16) else { continue };
        let start = feed.below(file.nframes().min(1 << 15) as usize + 1) as u64;
        let count = feed.below((file.nframes().min(1 << 15) - start) as usize + 1) as u64;
        let frames = Frames::range(start..start + count);
        let entries: Vec<Option<IndexEntry>> =
            (start..start + count).map(|frame| file.find_chunk(frame, &name)).collect();
        let twice = has_two_of_one(file);
        let stack = match StackedChunks::new(file, &name, &frames, Defaults::StoredOnly) {
            Ok(stack) => stack,
            Err(error) => {
                let first = entries.first().copied().flatten();
                let form = |entry: &IndexEntry| (entry.n, entry.m, entry.type_code);
                let fits = |entry: &Option<IndexEntry>| {
                    let readable = entry.is_some_and(|entry| file.read_chunk(&entry).is_ok());
                    readable && entry.as_ref().map(form) == first.as_ref().map(form)
                };
                assert!(
                    twice || !entries.iter().all(fits) || entries.is_empty(),
                    "{name} {frames:?}: {error}"
                );
                continue;
            }
        };
        if twice {
            // One is found, and the other stacked.
            continue;
        }
        let array = stack.read(&Rows::All, 1).expect("it was found");
        let bytes = array.bytes(container_core::dtype::Order::C, &crate::options::limits()).expect("small");
        let mut joined = Vec::new();
        for entry in &entries {
            let entry = entry.expect("a stack of chunks that are there");
            joined.extend_from_slice(&file.read_chunk(&entry).expect("it was found"));
        }
        assert!(*bytes == joined, "{name} {frames:?}");
        let (_, n, _) = stack.extent();
        if n > 0 && !joined.is_empty() {
            let row = feed.below(n as usize) as u64;
            let rows = Rows::Strided { start: row, step: -1, count: row + 1 };
            let part = stack.read(&rows, 1).expect("rows that are there");
            let part = part.bytes(container_core::dtype::Order::C, &crate::options::limits()).expect("small");
            let width = joined.len() / entries.len() / n as usize;
            let picked: Vec<u8> = joined
                .chunks(joined.len() / entries.len())
                .flat_map(|frame| {
                    (0..=row as usize).rev().flat_map(move |row| &frame[row * width..(row + 1) * width])
                })
                .copied()
                .collect();
            assert!(*part == picked, "{name} {frames:?} {rows:?}");
        }
    }
}
