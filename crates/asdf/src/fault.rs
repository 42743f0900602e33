//! Faults of a file, each with a stable code, a location and a message.

use container_core::report::Severity;

/// Kind of a fault.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// A version of the file format other than 1.0.0.
    Version,
    /// A version of the standard that is none, or that was never published.
    Standard,
    /// Blanks or empty lines before the tree, which Python asdf refuses.
    BlankBeforeTree,
    /// A line before the tree that is neither blank nor a comment: Python asdf does not find the tree then.
    JunkBeforeTree,
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
    /// A block that only the index tells of: no header is there, nor another block.
    BlockMissing,
    /// An index in a file without blocks, or behind a streamed block.
    IndexForbidden,
    /// Bytes after the index that are not NUL.
    JunkAfterIndex,
    /// No index, although there are blocks.
    IndexAbsent,
    /// A node that is tagged as an array and is none, or an array outside of its block.
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
            Self::JunkBeforeTree => "junk_before_tree",
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
            Self::BlockMissing => "missing_block",
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
            Self::JunkBeforeTree
            | Self::TreeUnterminated
            | Self::TreeUnreadable
            | Self::BlockHeaderTruncated
            | Self::BlockHeaderSize
            | Self::BlockTruncated
            | Self::UsedOverAllocated
            | Self::PlainSizes
            | Self::StreamedCompressed
            | Self::BlockMissing
            | Self::Array => Severity::Error,
            Self::Version | Self::IndexStale | Self::IndexAbsent => Severity::Note,
            _ => Severity::Warning,
        }
    }
}

/// One thing that is wrong or odd, with its place.
pub type Fault = container_core::fault::Fault<FaultKind>;

impl container_core::fault::FaultKind for FaultKind {
    fn code(self) -> &'static str {
        self.code()
    }

    fn severity(self) -> Severity {
        self.severity()
    }

    fn place(self) -> &'static str {
        match self {
            Self::Version | Self::Standard => "asdf header",
            Self::BlankBeforeTree
            | Self::JunkBeforeTree
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

/// The block that a fault concerns.
pub(crate) fn block_of(fault: &Fault) -> Option<usize> {
    fault.index().and_then(|index| usize::try_from(index).ok())
}
