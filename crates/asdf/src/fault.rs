//! What can be wrong or odd about a file: each case with its stable code, its place and its sentence.

use std::ops::Range;

use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind};

/// What is wrong or odd.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A version of the file format other than 1.0.0.
    Version,
    /// A version of the standard that is none, or that was never published.
    Standard,
    /// Blanks or empty lines before the tree, which Python asdf refuses.
    BlankBeforeTree,
    /// A tree without the line `%YAML 1.1`.
    NoYamlDirective,
    /// A tree without the line of three dots that ends it.
    TreeUnterminated,
    /// Blanks after the three dots that end the tree.
    TreeEndBlanks,
    /// The tree cannot be read.
    TreeUnreadable,
    /// Bytes between header and first block of a file without a tree.
    PaddingWithoutTree,
    /// Bytes after the tree of a file without blocks that are neither NUL nor blank.
    JunkAfterTree,
    /// The file ends within the header of a block.
    BlockHeaderTruncated,
    /// A header size below 48.
    BlockHeaderSize,
    /// The file ends within the data of a block.
    BlockTruncated,
    /// A block that says it uses more bytes than are set aside for it.
    UsedOverAllocated,
    /// A plain block with two sizes of its data.
    PlainSizes,
    /// Flags without a meaning.
    BlockFlags,
    /// A streamed block with a name of a codec.
    StreamedCompressed,
    /// A codec without a known meaning.
    UnknownCompression,
    /// Bytes between blocks that no block has set aside.
    Gap,
    /// Bytes after the last block that are no index.
    JunkAfterBlocks,
    /// An index that cannot be read.
    IndexUnreadable,
    /// An index that lists other offsets than those of the blocks, as after an edit by hand.
    IndexStale,
    /// An index in a file without blocks, or behind a streamed block.
    IndexForbidden,
    /// Bytes after the index that are not NUL.
    JunkAfterIndex,
    /// No index, although there are blocks.
    IndexAbsent,
    /// What is tagged as an array and is none, or lies outside of its block.
    Array,
    /// Bytes behind the last whole row of a streamed block.
    TornRow,
    /// An axis along which every element is the same one.
    ZeroStride,
    /// Records that may have gaps which the tree does not tell of.
    PaddedRecords,
}

impl FaultKind {
    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::Version => "version",
            Self::Standard => "standard",
            Self::BlankBeforeTree => "blank_before_tree",
            Self::NoYamlDirective => "no_yaml_directive",
            Self::TreeUnterminated => "tree_unterminated",
            Self::TreeEndBlanks => "tree_end_blanks",
            Self::TreeUnreadable => "tree",
            Self::PaddingWithoutTree => "padding_without_tree",
            Self::JunkAfterTree => "junk_after_tree",
            Self::BlockHeaderTruncated | Self::BlockHeaderSize => "block_header",
            Self::BlockTruncated => "truncated",
            Self::UsedOverAllocated => "used_over_allocated",
            Self::PlainSizes => "plain_sizes",
            Self::BlockFlags => "block_flags",
            Self::StreamedCompressed => "streamed_compressed",
            Self::UnknownCompression => "compression",
            Self::Gap => "gap",
            Self::JunkAfterBlocks => "junk_after_blocks",
            Self::IndexUnreadable => "index",
            Self::IndexStale => "stale_index",
            Self::IndexForbidden => "index_forbidden",
            Self::JunkAfterIndex => "junk_after_index",
            Self::IndexAbsent => "no_index",
            Self::Array => "array",
            Self::TornRow => "torn_row",
            Self::ZeroStride => "zero_stride",
            Self::PaddedRecords => "padded_records",
        }
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::TreeUnterminated
            | Self::TreeUnreadable
            | Self::BlockHeaderTruncated
            | Self::BlockHeaderSize
            | Self::BlockTruncated
            | Self::UsedOverAllocated
            | Self::PlainSizes
            | Self::StreamedCompressed
            | Self::Array => Severity::Error,
            Self::Version | Self::IndexStale | Self::IndexAbsent => Severity::Note,
            _ => Severity::Warning,
        }
    }

    const fn part_of_file(self) -> &'static str {
        match self {
            Self::Version | Self::Standard => "asdf header",
            Self::BlankBeforeTree
            | Self::NoYamlDirective
            | Self::TreeUnterminated
            | Self::TreeEndBlanks
            | Self::TreeUnreadable => "asdf tree",
            Self::Array | Self::TornRow | Self::ZeroStride | Self::PaddedRecords => "asdf ndarray",
            Self::IndexUnreadable | Self::IndexStale | Self::IndexForbidden | Self::IndexAbsent => {
                "asdf block index"
            }
            Self::PaddingWithoutTree | Self::JunkAfterTree | Self::JunkAfterBlocks | Self::JunkAfterIndex => {
                "asdf file"
            }
            _ => "asdf block",
        }
    }
}

/// One thing that is wrong or odd, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fault {
    kind: FaultKind,
    range: Range<u64>,
    message: String,
    block: Option<usize>,
    /// Bytes of the range that are there, where the file ends within it.
    have: Option<u64>,
}

impl Fault {
    /// A fault of the bytes `range`.
    pub(crate) fn new(kind: FaultKind, range: Range<u64>, message: impl Into<String>) -> Self {
        Self { kind, range, message: message.into(), block: None, have: None }
    }

    /// A file of `file_len` bytes ends before the bytes that it claims.
    pub(crate) fn truncated(kind: FaultKind, claimed: Range<u64>, file_len: u64, what: &str) -> Self {
        let need = claimed.end.saturating_sub(claimed.start);
        let have = file_len.saturating_sub(claimed.start).min(need);
        let message = format!("the file ends within {what}: need {need} bytes, {have} present");
        Self { have: Some(have), ..Self::new(kind, claimed, message) }
    }

    /// The block that it concerns, counted from 0.
    pub(crate) fn of_block(mut self, index: usize) -> Self {
        self.block = Some(index);
        self
    }

    /// What is wrong or odd.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        self.kind
    }

    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(&self) -> &'static str {
        self.kind.code()
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub const fn severity(&self) -> Severity {
        self.kind.severity()
    }

    /// The absolute bytes that it concerns. A truncation's are those that the file claims.
    #[must_use]
    pub fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    /// The sentence for people.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The block that it concerns, counted from 0.
    #[must_use]
    pub const fn block(&self) -> Option<usize> {
        self.block
    }

    /// As a finding of a check.
    #[must_use]
    pub fn finding(&self) -> Finding {
        Finding::new(self.severity(), self.code(), self.message.clone()).at(self.range())
    }

    /// As the error that reading what it concerns gives.
    #[must_use]
    pub fn error(&self) -> Error {
        let need = self.range.end.saturating_sub(self.range.start);
        let kind = match self.have {
            Some(have) => ErrorKind::Truncated { need, have },
            None => ErrorKind::Malformed(self.message.clone().into()),
        };
        let error = Error::new(kind).at(self.range()).context(self.kind.part_of_file());
        if self.severity() == Severity::Error {
            error.hint("holdall repair FILE -o NEW brings back what is there")
        } else {
            error
        }
    }
}
