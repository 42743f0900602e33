//! [`FileStructure`]: the bytes of an open file, for listings of them and checks.

use std::collections::BTreeSet;

use super::{CheckDepth, Container, ReadOptions, Segment};
use crate::block::Block;
use crate::report::Report;
use crate::{Error, Progress, Result};

/// Blocks, byte map and soundness of an open file.
pub trait FileStructure: Send + Sync {
    /// False where opening proved that all datasets are listed. Else damage may hide some, which a check reports.
    fn may_hide_datasets(&self) -> bool {
        true
    }

    /// The datasets that opening has found and that no list contains, because they cannot be read: the path of each, and the reason. A
    /// hostile file has very many.
    fn unlisted(&self) -> Box<dyn Iterator<Item = (String, Error)> + '_> {
        Box::new(std::iter::empty())
    }

    /// True where the file decides whether a dataset exists: one that is not found is [`Absent`](crate::ErrorKind::Absent), not a mistake
    /// of the caller.
    fn may_lack_datasets(&self) -> bool {
        false
    }

    /// Reads what opening a far file has left for later of [`FileStructure::blocks`] and [`FileStructure::byte_map`]. These read it themselves, but do
    /// not report a failure of its source.
    ///
    /// # Errors
    /// Those of the source.
    fn read_structure(&self) -> Result<()> {
        Ok(())
    }

    /// The stored blocks, in file order.
    fn blocks(&self) -> Vec<&dyn Block>;

    /// True where no block that has to be decoded takes more than `most` bytes. A format with a common bound for its blocks inspects none of
    /// them.
    fn has_small_blocks(&self, most: u64) -> bool {
        let is_small = |block: &&dyn Block| {
            let range = block.range();
            block.codec().is_none() || range.end.saturating_sub(range.start) <= most
        };
        self.blocks().iter().all(is_small)
    }

    /// The physical map: the purpose of every byte. Tiles the file from 0 to its size, without gaps or overlaps.
    fn byte_map(&self) -> Vec<Segment>;

    /// Calls `look` with each entry of the map, in order, until it fails. A format whose map is long makes them one by one.
    ///
    /// # Errors
    /// Those of `look`.
    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        self.byte_map().into_iter().try_for_each(look)
    }

    /// The names of the digests in the file.
    fn checksums(&self) -> BTreeSet<String> {
        self.byte_map().into_iter().filter_map(|segment| segment.checksum).collect()
    }

    /// Notices about the opened file for any user of it, a line each: a journal next to it. A check and [`Container::about`](super::Container::about) include them.
    fn notices(&self) -> Vec<String> {
        Vec::new()
    }

    /// A line about the first digest that reads under [`Digests::Whole`](super::Digests::Whole) have not compared, because they read only a part of its range.
    fn uncompared(&self) -> Option<String> {
        None
    }

    /// Checks for damage and oddities. Damage is a finding, not an error.
    ///
    /// # Errors
    /// Only those that prevent the check: `Io`, `Missing`, `Cancelled`, `Limit`.
    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report>;
}

/// A container that shows another one differently: the bytes are the other's.
pub trait View: Send + Sync {
    /// The container that is shown.
    fn inner(&self) -> &dyn Container;
}

impl<V: View> FileStructure for V {
    fn may_hide_datasets(&self) -> bool {
        self.inner().may_hide_datasets()
    }

    fn unlisted(&self) -> Box<dyn Iterator<Item = (String, Error)> + '_> {
        self.inner().unlisted()
    }

    fn may_lack_datasets(&self) -> bool {
        self.inner().may_lack_datasets()
    }

    fn read_structure(&self) -> Result<()> {
        self.inner().read_structure()
    }

    fn blocks(&self) -> Vec<&dyn Block> {
        self.inner().blocks()
    }

    fn has_small_blocks(&self, most: u64) -> bool {
        self.inner().has_small_blocks(most)
    }

    fn byte_map(&self) -> Vec<Segment> {
        self.inner().byte_map()
    }

    fn for_each_segment(&self, look: &mut dyn FnMut(Segment) -> Result<()>) -> Result<()> {
        self.inner().for_each_segment(look)
    }

    fn checksums(&self) -> BTreeSet<String> {
        self.inner().checksums()
    }

    fn notices(&self) -> Vec<String> {
        self.inner().notices()
    }

    fn uncompared(&self) -> Option<String> {
        self.inner().uncompared()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        self.inner().check(depth, options, progress)
    }
}
