//! Entries that no search finds, because their frame has another chunk of the same name.
//!
//! `gsd.hoomd` leaves such entries where an append raised an exception and was repeated. The reference reads one chunk of each name
//! and frame, and so does this crate: the choice depends on the slots that its search reads (see [`File::find_id`]).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use crate::file::File;
use crate::index::{IndexBlock, IndexEntry};
use crate::index_search::SortedIndex;
use crate::namelist::NameList;

/// One bit for each entry of the index, set where the entry is hidden by another. Empty if no entry is hidden.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ShadowedEntries {
    words: Vec<u64>,
}

impl ShadowedEntries {
    /// Scans the index of a file, whose names may be listed more than once.
    pub(crate) fn of_file(file: &File) -> Self {
        let index = file.index();
        let mut hidden = Self::of(index, file.header().is_v1(), file.nframes(), file.names().len());
        hidden.add_names(index, file.names());
        hidden
    }

    /// Scans an index whose entries are sorted, of frames below `frames` and ids below `names`.
    pub(crate) fn of(index: IndexBlock<'_>, is_v1: bool, frames: u64, names: usize) -> Self {
        let mut hidden = Self::default();
        let sorted = SortedIndex::new(index, frames, names);
        let mut set = |at: usize| hidden.set(at, index.len());
        if is_v1 {
            let mut seen = HashSet::new();
            let mut frame = None;
            // A search finds the last entry of a name.
            for at in (0..index.len()).rev() {
                let Some((of, id)) = index.key(at) else { continue };
                if frame != Some(of) {
                    seen.clear();
                    frame = Some(of);
                }
                if !seen.insert(id) {
                    set(at);
                }
            }
            return hidden;
        }
        let mut at = 0_usize;
        while let Some(key) = index.key(at) {
            let mut end = at.saturating_add(1);
            while index.key(end) == Some(key) {
                end = end.saturating_add(1);
            }
            if end.saturating_sub(at) > 1 {
                let found = sorted.position(key.0, key.1).filter(|found| (at..end).contains(found));
                let found = found.unwrap_or_else(|| end.saturating_sub(1));
                (at..end).filter(|other| *other != found).for_each(&mut set);
            }
            at = end;
        }
        hidden
    }

    /// Hides the chunks of names that are listed again, where their frame has one under an earlier id: both have one path.
    fn add_names(&mut self, index: IndexBlock<'_>, names: &NameList) {
        let mut first: HashMap<Cow<'_, str>, u16> = HashMap::new();
        let mut groups: HashMap<u16, (u16, u16)> = HashMap::new();
        for (name, id) in names.iter().zip(0_u16..) {
            // The id that a search for the name finds comes before all others.
            let found = names.id(&name).unwrap_or(id);
            let group = *first.entry(name).or_insert(found);
            if group != id {
                groups.insert(group, (group, 0));
                groups.insert(id, (group, id.saturating_add(1)));
            }
        }
        if groups.is_empty() {
            return;
        }
        let mut start = 0_usize;
        while let Some((frame, _)) = index.key(start) {
            let mut best: HashMap<u16, u16> = HashMap::new();
            let mut end = start;
            while let Some((_, id)) = index.key(end).filter(|key| key.0 == frame) {
                if let Some((group, rank)) = groups.get(&id) {
                    let least = best.entry(*group).or_insert(*rank);
                    *least = (*least).min(*rank);
                }
                end = end.saturating_add(1);
            }
            for at in start..end {
                let group = index.key(at).and_then(|(_, id)| groups.get(&id));
                if group.is_some_and(|(group, rank)| best.get(group).is_some_and(|least| least < rank)) {
                    self.set(at, index.len());
                }
            }
            start = end;
        }
    }

    fn set(&mut self, at: usize, len: usize) {
        if self.words.is_empty() {
            self.words.resize(len.div_ceil(64), 0);
        }
        if let Some(word) = self.words.get_mut(at / 64) {
            *word |= 1 << (at % 64);
        }
    }

    /// True for an entry that is hidden.
    pub(crate) fn contains(&self, at: usize) -> bool {
        self.words.get(at / 64).is_some_and(|word| word >> (at % 64) & 1 == 1)
    }

    /// True where no entry is hidden.
    pub(crate) const fn is_empty(&self) -> bool {
        self.words.is_empty()
    }
}

impl File {
    /// The entries that a search finds, each with its position, in the order of the index. The first call scans all of it.
    pub(crate) fn found_entries(&self) -> impl Iterator<Item = (usize, IndexEntry)> {
        let hidden = self.hidden();
        self.index().iter().enumerate().filter(|(at, _)| !hidden.contains(*at))
    }

    /// The entries of a frame that a search finds, in the order of the index.
    pub(crate) fn found_of_frame(&self, frame: u64) -> Vec<IndexEntry> {
        let entries = self.index().slice(self.frame_entries(frame));
        let mut found: Vec<IndexEntry> = entries.iter().filter(|entry| entry.frame == frame).collect();
        if self.header().is_v1() {
            let mut seen = HashSet::with_capacity(found.len());
            found.reverse();
            found.retain(|entry| seen.insert(entry.id));
            found.reverse();
            return found;
        }
        if found.windows(2).any(|pair| matches!(pair, [one, other] if one.id == other.id)) {
            found = found
                .chunk_by(|one, other| one.id == other.id)
                .filter_map(|run| match run {
                    [one] => Some(*one),
                    [.., last] => self.find_id(frame, last.id).or(Some(*last)),
                    [] => None,
                })
                .collect();
        }
        found
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use container_core::dtype::ByteOrder;
    use proptest::prelude::*;

    use crate::header::{Header, Version, name_field};
    use crate::{File, IndexEntry, OpenOptions};

    /// A file of one-byte chunks with these keys, which are its whole index.
    fn file(keys: &[(u64, u16)], version: Version) -> File {
        let header = Header {
            byte_order: ByteOrder::Little,
            index_location: 256,
            index_allocated_entries: keys.len().max(20) as u64,
            namelist_location: 256 + 32 * keys.len().max(20) as u64,
            namelist_allocated_entries: 8,
            schema_version: Version::new(1, 0),
            gsd_version: version,
            application: name_field("application", "test").unwrap(),
            schema: name_field("schema", "none").unwrap(),
            reserved: [0; 80],
        };
        let names_at = usize::try_from(header.namelist_location).unwrap();
        let mut bytes = header.to_bytes().to_vec();
        bytes.resize(names_at + 8 * 64, 0);
        let mut at = names_at;
        for name in [b'a', b'b', b'c', b'd', b'e'] {
            bytes[at] = name;
            at += if header.is_v1() { 64 } else { 2 };
        }
        for (at, &(frame, id)) in keys.iter().enumerate() {
            let location = i64::try_from(bytes.len()).unwrap();
            let entry = IndexEntry { frame, n: 1, location, m: 1, id, type_code: 1, flags: 0 };
            bytes[256 + 32 * at..][..32].copy_from_slice(&entry.to_bytes(ByteOrder::Little));
            bytes.push(u8::try_from(at).unwrap());
        }
        File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap()
    }

    proptest! {
        #[test]
        fn of_each_name_and_frame_the_chunk_that_a_search_finds_is_left(
            mut keys in proptest::collection::vec((0_u64..6, 0_u16..5), 1..40),
            is_v1 in any::<bool>(),
        ) {
            if is_v1 {
                keys.sort_by_key(|key| key.0);
            } else {
                keys.sort_unstable();
            }
            let file = file(&keys, if is_v1 { Version::new(1, 0) } else { Version::new(2, 1) });
            let found: Vec<IndexEntry> = file.found_entries().map(|(_, entry)| entry).collect();
            let by_frame: Vec<IndexEntry> = (0..6).flat_map(|frame| file.found_of_frame(frame)).collect();
            prop_assert_eq!(&found, &by_frame);
            let mut single = keys.clone();
            single.sort_unstable();
            single.dedup();
            prop_assert_eq!(found.len(), single.len());
            for (frame, id) in single {
                let entry = file.find_id(frame, id).unwrap();
                prop_assert!(found.contains(&entry));
            }
        }
    }
}
