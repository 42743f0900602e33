//! The physical map of a store: of a zip file its headers, members and directory; of a directory every frame in it.

use std::collections::HashMap;
use std::ops::Range;

use container_core::Result;
use container_core::block::Block;
use container_core::container::{Container, Segment};

use super::archive::{Archive, Member};
use super::container::{Kind, Store, clip, path_of};
use super::leaf::{Leaf, Role};

/// The digest of members of a zip file.
pub(crate) const CRC: &str = "crc32";

/// Contents of a zip file.
pub(crate) type Zip = Archive;

/// A block of a leaf, with the file that it is in.
pub(crate) struct Stored {
    part: Option<String>,
    range: Range<u64>,
    decoded_len: u64,
    codec: Option<String>,
}

impl Block for Stored {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn part(&self) -> Option<&str> {
        self.part.as_deref()
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        self.codec.as_deref()
    }
}

/// Returns the blocks of all leaves that have bytes of their own.
pub(crate) fn blocks(store: &Store) -> Vec<Stored> {
    let mut blocks = Vec::new();
    for leaf in store.leaves.iter().filter(|leaf| leaf.place.inside.is_none()) {
        let Some(container) = leaf.container() else { continue };
        blocks.extend(container.blocks().into_iter().map(|block| Stored {
            part: part_of(leaf, block.part()),
            range: block.range(),
            decoded_len: block.decoded_len(),
            codec: block.codec().map(str::to_owned),
        }));
    }
    blocks
}

/// Returns the file of something in a leaf: of a sparse frame one of its files.
pub(crate) fn part_of(leaf: &Leaf, own: Option<&str>) -> Option<String> {
    match (&leaf.place.part, own) {
        (Some(part), Some(own)) => Some(format!("{part}/{own}")),
        (part, own) => part.clone().or_else(|| own.map(str::to_owned)),
    }
}

/// Tells `look` of every run of bytes in order.
pub(crate) fn for_each_segment(store: &Store, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
    let mut leaves: Vec<&Leaf> = store.leaves.iter().filter(|leaf| leaf.place.inside.is_none()).collect();
    match &store.kind {
        Kind::Zip(archive) => zip(archive, store.size, &leaves, look),
        Kind::Directory | Kind::Embed => {
            leaves.sort_by(|a, b| a.place.part.cmp(&b.place.part));
            leaves.into_iter().try_for_each(|leaf| file(leaf, look))
        }
    }
}

/// Maps all of a file, or of the files of a sparse frame.
fn file(leaf: &Leaf, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
    let Some(container) = leaf.container() else {
        return look(Segment {
            part: leaf.place.part.clone(),
            range: leaf.place.range.clone(),
            role: "unreadable".to_owned(),
            dataset: dataset(leaf, None),
            ..Segment::default()
        });
    };
    container.for_each_segment(&mut |mut segment| {
        segment.part = part_of(leaf, segment.part.as_deref());
        segment.dataset = dataset(leaf, segment.dataset.as_deref());
        look(segment)
    })
}

fn zip(
    archive: &Archive,
    size: u64,
    leaves: &[&Leaf],
    look: &mut dyn FnMut(Segment) -> Result<()>,
) -> Result<()> {
    let by_start: HashMap<u64, &Leaf> = leaves.iter().map(|leaf| (leaf.place.range.start, *leaf)).collect();
    // The place of a member without its local header is unknown.
    let mut members: Vec<&Member> =
        archive.members.iter().filter(|member| !member.header.is_empty()).collect();
    members.sort_by_key(|member| member.header.start);
    let mut tiles = Tiles { at: 0, look };
    for member in members {
        tiles.put(member.header.clone(), "unused", |range| Segment::plain(range, "local header"))?;
        let leaf = by_start.get(&member.data.start).filter(|_| member.refused.is_none());
        let own = leaf.and_then(|leaf| Some((*leaf, leaf.container()?)));
        if let Some((leaf, container)) = own {
            member_parts(leaf, &*container, &mut tiles)?;
        }
        let dataset = leaf.and_then(|leaf| dataset(leaf, None));
        tiles.put(member.data.clone(), "unused", |range| Segment {
            dataset,
            checksum: Some(CRC.to_owned()),
            ..Segment::plain(range, "member")
        })?;
    }
    tiles.put(archive.directory.clone(), "unused", |range| Segment::plain(range, "central directory"))?;
    tiles.put(size..size, "trailing", |range| Segment::plain(range, ""))
}

/// Adds the byte ranges of a member, as its own container lists them.
fn member_parts(leaf: &Leaf, container: &dyn Container, tiles: &mut Tiles<'_>) -> Result<()> {
    let within = &leaf.place.range;
    container.for_each_segment(&mut |segment| {
        let Some(range) = clip(&segment.range, within) else { return Ok(()) };
        tiles.put(range, "member", |range| Segment {
            range,
            dataset: dataset(leaf, segment.dataset.as_deref()),
            checksum: Some(CRC.to_owned()),
            ..segment
        })
    })
}

/// Returns the dataset that something in a leaf belongs to: all of a frame with values belongs to them.
fn dataset(leaf: &Leaf, own: Option<&str>) -> Option<String> {
    let path = || own.map_or_else(|| leaf.key.clone(), |own| path_of(&leaf.key, own));
    (leaf.role == Role::Data).then(path)
}

/// Consecutive runs of bytes: gaps are reported, and overlaps are cut.
struct Tiles<'l> {
    at: u64,
    look: &'l mut dyn FnMut(Segment) -> Result<()>,
}

impl Tiles<'_> {
    fn put(&mut self, range: Range<u64>, gap: &str, make: impl FnOnce(Range<u64>) -> Segment) -> Result<()> {
        if range.start > self.at {
            (self.look)(Segment::plain(self.at..range.start, gap))?;
            self.at = range.start;
        }
        let rest = self.at..range.end;
        if rest.start < rest.end {
            self.at = rest.end;
            (self.look)(make(rest))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_neither_overlap_nor_leave_gaps() {
        let mut told = Vec::new();
        let mut look = |segment: Segment| {
            told.push((segment.range, segment.role));
            Ok(())
        };
        let mut tiles = Tiles { at: 0, look: &mut look };
        for (range, role) in [(2..5, "a"), (3..4, "b"), (4..8, "c"), (8..8, "d"), (9..10, "e")] {
            tiles.put(range, "gap", |range| Segment::plain(range, role)).unwrap();
        }
        let want = [(0..2, "gap"), (2..5, "a"), (5..8, "c"), (8..9, "gap"), (9..10, "e")];
        assert_eq!(told, want.map(|(range, role)| (range, role.to_owned())));
    }
}
