//! The namelist: names of chunks, which index entries refer to by position in the list.
//!
//! File layer 2.0 and later pack NUL-terminated names of any length; 1.0 and before give each a slot of 64 bytes. The list ends
//! at an empty name or at the end of the block, which a full 2.x list may reach exactly.

use std::borrow::Cow;
use std::sync::OnceLock;

use nom::bytes::complete::{tag, take_till1};
use nom::multi::many_m_n;
use nom::sequence::terminated;
use nom::{IResult, Parser};

use crate::header::NAMELIST_ENTRY_LEN;
use crate::name_ids::{NameMap, Seed};

/// Maximum number of names of a file: ids have 16 bits, and the reference reserves 65535 for "not found".
pub const MAX_NAMES: usize = 65535;

/// The names of a file, by id. Names are bytes; those that are not UTF-8 are shown with replacement characters.
#[derive(Clone, Debug, Default)]
pub struct NameList {
    names: Vec<Box<[u8]>>,
    /// Bytes of the block up to and with the NUL of the last name.
    used: u64,
    ids: OnceLock<NameMap>,
}

impl NameList {
    /// Parses a namelist block; `v1` for slots of 64 bytes. Names past the 65535th are left out.
    #[must_use]
    pub fn parse(block: &[u8], v1: bool) -> Self {
        let mut names: Vec<Box<[u8]>> = Vec::new();
        let mut used = 0_u64;
        if v1 {
            for slot in block.as_chunks::<64>().0.iter().take(MAX_NAMES) {
                let name = slot.split(|byte| *byte == 0).next().unwrap_or_default();
                if name.is_empty() {
                    break;
                }
                names.push(name.into());
                used = used.saturating_add(NAMELIST_ENTRY_LEN);
            }
        } else if let Ok((_, packed)) = packed_names(block) {
            for name in packed {
                used = used.saturating_add(name.len() as u64).saturating_add(1);
                names.push(name.into());
            }
        }
        Self { names, used, ids: OnceLock::new() }
    }

    /// Names that were never in a file.
    ///
    /// Takes at most [`MAX_NAMES`] of them.
    pub fn from_names<N: AsRef<[u8]>>(names: impl IntoIterator<Item = N>) -> Self {
        let names: Vec<Box<[u8]>> =
            names.into_iter().take(MAX_NAMES).map(|name| name.as_ref().into()).collect();
        let used =
            names.iter().fold(0_u64, |used, name| used.saturating_add(name.len() as u64).saturating_add(1));
        Self { names, used, ids: OnceLock::new() }
    }

    /// Number of names.
    #[must_use]
    pub fn len(&self) -> usize {
        self.names.len()
    }

    /// True without names.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }

    /// Number of bytes of the block that names take, the NUL or the rest of the slot included.
    #[must_use]
    pub const fn used_len(&self) -> u64 {
        self.used
    }

    /// The bytes of the name `id`.
    #[must_use]
    pub fn bytes(&self, id: u16) -> Option<&[u8]> {
        self.names.get(usize::from(id)).map(|name| &**name)
    }

    /// The name `id` as text; invalid UTF-8 is replaced.
    #[must_use]
    pub fn get(&self, id: u16) -> Option<Cow<'_, str>> {
        self.bytes(id).map(String::from_utf8_lossy)
    }

    /// All names as text, by rising id.
    pub fn iter(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.names.iter().map(|name| String::from_utf8_lossy(name))
    }

    /// All names as they are stored, by rising id.
    pub(crate) fn raw(&self) -> impl Iterator<Item = &[u8]> {
        self.names.iter().map(|name| &**name)
    }

    /// The first `count` names.
    pub(crate) fn first(mut self, count: usize) -> Self {
        if count < self.names.len() {
            self.names.truncate(count);
            self = Self::from_names(&self.names);
        }
        self
    }

    /// The id of `name`. Where a file lists one twice, the first: what the reference's readers find. A name that is not UTF-8 is found
    /// as it is shown, where no other name is that.
    #[must_use]
    pub fn id(&self, name: &str) -> Option<u16> {
        let ids = self.ids.get_or_init(|| {
            let mut ids = NameMap::with_capacity_and_hasher(self.names.len(), Seed::default());
            for (name, id) in self.names.iter().zip(0_u16..) {
                ids.entry(name.clone()).or_insert(id);
            }
            ids
        });
        let shown = |id: &u16| self.get(*id).is_some_and(|one| one == name);
        ids.get(name.as_bytes()).copied().or_else(|| {
            // A linear search is only for names that are not UTF-8, of which files have few.
            let replaced = name.contains(char::REPLACEMENT_CHARACTER);
            replaced.then(|| (0..=u16::MAX).take(self.len()).find(shown)).flatten()
        })
    }
}

/// Names up to an empty one, at most [`MAX_NAMES`]: a list of one-letter names takes many times the memory of their block.
fn packed_names(block: &[u8]) -> IResult<&[u8], Vec<&[u8]>> {
    many_m_n(0, MAX_NAMES, terminated(take_till1(|byte| byte == 0), tag(&[0][..]))).parse(block)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    fn listed(block: &[u8], v1: bool) -> Vec<String> {
        NameList::parse(block, v1).iter().map(Cow::into_owned).collect()
    }

    #[test]
    fn packed_names_end_at_an_empty_one_or_with_the_block() {
        assert_eq!(listed(b"a\0bc\0\0d\0", false), ["a", "bc"]);
        assert_eq!(listed(b"a\0bc\0", false), ["a", "bc"]);
        // A name without its NUL is cut.
        assert_eq!(listed(b"a\0bc", false), ["a"]);
        assert!(listed(b"", false).is_empty() && listed(b"\0\0", false).is_empty());
        assert_eq!(NameList::parse(b"a\0bc\0\0\0", false).used_len(), 5);
    }

    #[test]
    fn non_utf8_names_are_found_by_their_lossy_form() {
        let names = NameList::from_names([&b"a\xff"[..], b"a\xfe", b"b"]);
        assert_eq!(names.get(1).unwrap(), "a\u{fffd}");
        // As with equal names, the first.
        assert_eq!(names.id("a\u{fffd}"), Some(0));
        assert_eq!(names.id("b\u{fffd}"), None);
        let names = NameList::from_names([&b"a\xff"[..], "a\u{fffd}".as_bytes()]);
        assert_eq!(names.id("a\u{fffd}"), Some(1));
    }

    #[test]
    fn slots_hold_one_name_each() {
        let mut block = [0_u8; 192];
        block[..2].copy_from_slice(b"ab");
        block[64..128].fill(b'x');
        assert_eq!(listed(&block, true), ["ab".to_owned(), "x".repeat(64)]);
        assert_eq!(listed(&block[64..], true), ["x".repeat(64)]);
    }

    #[test]
    fn names_past_the_most_there_can_be_are_left_out() {
        let names = NameList::parse(&b"a\0".repeat(MAX_NAMES + 9), false);
        assert_eq!((names.len(), names.used_len()), (MAX_NAMES, 2 * MAX_NAMES as u64));
    }

    #[test]
    fn the_first_of_two_equal_names_is_found() {
        let names = NameList::parse(b"a\0b\0a\0", false);
        assert_eq!((names.id("a"), names.id("b"), names.id("c")), (Some(0), Some(1), None));
    }
}
