//! Write options.

use container_core::Limits;
use container_core::write::Durability;

use crate::header::Version;
use crate::yaml::{Timestamp, Yaml};

/// Options for writing a file.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// The version of the standard that the file names, with its tags: 1.0.0 to 1.6.0. 1.6.0 by default.
    pub standard: Version,
    /// Whether blocks have the MD5 of their stored bytes; true by default. A streamed block never has one.
    pub checksums: bool,
    /// Whether a block index follows the blocks; true by default. A streamed block forbids it.
    pub index: bool,
    /// Room after the tree and in each block.
    pub padding: Padding,
    /// Data of every block begin at a multiple of this number of bytes, a power of two up to 32768: 4096 lets them be mapped. Block headers are made
    /// longer for it, which Python asdf 5.2 and 6.0 read, and 2.15 does not. `None` by default.
    pub align: Option<u64>,
    /// Library that wrote the file, for `asdf_library` of the tree: name and version. `None` leaves out `asdf_library`.
    pub software: Option<(String, String)>,
    /// Whether `history` lists the extension of the standard's core tags, as Python asdf does. From version 1.2.0 on.
    pub extensions: bool,
    /// Entries that are added to `history`.
    pub history: Vec<NewHistoryEntry>,
    /// Digests are computed on another thread where there are at least two, and codecs may use all of them.
    pub threads: usize,
    /// Whether a file is on the disk when [`Writer::finish`](super::Writer::finish) returns.
    pub durability: Durability,
    /// Bounds on memory.
    pub limits: Limits,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            standard: Version::LAST_STANDARD,
            checksums: true,
            index: true,
            padding: Padding::None,
            align: None,
            software: Some(("holdall".into(), env!("CARGO_PKG_VERSION").into())),
            extensions: true,
            history: Vec::new(),
            threads: 1,
            durability: Durability::Synced,
            limits: Limits::default(),
        }
    }
}

/// A change of a file, for its `history` (`core/history_entry-1.0.0`).
#[derive(Clone, Debug, PartialEq)]
pub struct NewHistoryEntry {
    /// Description of the change.
    pub description: String,
    /// Time of the change.
    pub time: Option<Timestamp>,
    /// Name and version of the software.
    pub software: Option<(String, String)>,
}

impl NewHistoryEntry {
    /// The entry in the tree.
    #[must_use]
    pub fn to_yaml(&self) -> Yaml {
        let mut pairs = vec![("description", Yaml::text(&self.description))];
        pairs.extend(self.time.clone().map(|time| ("time", Yaml::Timestamp(time))));
        pairs.extend(
            self.software.as_ref().map(|(name, version)| ("software", super::root::software(name, version))),
        );
        Yaml::mapping(pairs).tagged("tag:stsci.edu:asdf/core/history_entry-1.0.0")
    }
}

/// Room for the tree and for blocks to grow in, as Python asdf's `pad_blocks` makes it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Padding {
    /// None.
    #[default]
    None,
    /// The present bytes times this factor, then up to the next multiple of 4096 bytes, and 4096 more. Python's `True` is 1.1. Factors below 1 count
    /// as 1.
    Factor(f64),
}

/// The unit of padding: the size of a page and of most file systems' blocks.
pub(crate) const PADDING_UNIT: u64 = 4096;

impl Padding {
    /// Bytes to add to `size`.
    #[must_use]
    pub(crate) fn after(self, size: u64) -> u64 {
        let Self::Factor(factor) = self else { return 0 };
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            clippy::cast_precision_loss,
            reason = "room need not be exact, and a cast from float saturates"
        )]
        let wanted = (size as f64 * factor).ceil() as u64;
        let units = wanted.max(size).div_ceil(PADDING_UNIT).saturating_add(1);
        units.saturating_mul(PADDING_UNIT).saturating_sub(size)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Values of Python asdf 6.0.0's `calculate_padding` with blocks of 4096 bytes.
    #[test]
    fn room_is_as_much_as_python_makes() {
        let room = |factor: f64, size| Padding::Factor(factor).after(size);
        assert_eq!(room(1.1, 664), 8192 - 664);
        assert_eq!(room(1.1, 4096), 12288 - 4096);
        assert_eq!(room(1.0, 4096), 8192 - 4096);
        assert_eq!(room(2.0, 5000), 16384 - 5000);
        assert_eq!(room(1.1, 0), 4096);
        assert_eq!(room(0.1, 5000), 12288 - 5000);
        assert_eq!(Padding::None.after(5000), 0);
    }
}
