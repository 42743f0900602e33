//! Faults of a file: each kind with its stable code, severity and location. The message is where the fault is found: look for uses of the kind.
//! Findings that only a check has are in `check`.

container_core::fault_kinds! {
    /// A version of the file format other than 1.0.0.
    Version = note("version", "asdf header"),
    /// An invalid version of the standard, or one that was never published.
    Standard = warning("standard", "asdf header"),
    /// Blanks or empty lines before the tree, which Python asdf refuses.
    BlankBeforeTree = warning("blank_before_tree", "asdf tree"),
    /// A line before the tree that is neither blank nor a comment: Python asdf does not find the tree then.
    JunkBeforeTree = error("junk_before_tree", "asdf tree"),
    /// A tree without the line `%YAML 1.1`.
    NoYamlDirective = warning("no_yaml_directive", "asdf tree"),
    /// A tree without the line of three dots that ends it.
    TreeUnterminated = error("tree_unterminated", "asdf tree"),
    /// Blanks after the three dots that end the tree.
    TreeEndBlanks = warning("tree_end_blanks", "asdf tree"),
    /// The tree cannot be read.
    TreeUnreadable = error("tree", "asdf tree"),
    /// Bytes between header and first block of a file without a tree.
    PaddingWithoutTree = warning("padding_without_tree", "asdf file"),
    /// Bytes after the tree of a file without blocks that are neither NUL nor blank.
    JunkAfterTree = warning("junk_after_tree", "asdf file"),
    /// The file ends within the header of a block.
    BlockHeaderTruncated = error("block_header", "asdf block"),
    /// The headers of the blocks of a far file could not be read.
    BlockHeadersUnread = error("block_header", "asdf block"),
    /// A header size below 48.
    BlockHeaderSize = error("block_header", "asdf block"),
    /// The file ends within the data of a block.
    BlockTruncated = error("truncated", "asdf block"),
    /// A block whose used size is more than its allocated size.
    UsedOverAllocated = error("used_over_allocated", "asdf block"),
    /// A plain block with two sizes of its data.
    PlainSizes = error("plain_sizes", "asdf block"),
    /// Flags without a meaning.
    BlockFlags = warning("block_flags", "asdf block"),
    /// A streamed block with a name of a codec.
    StreamedCompressed = error("streamed_compressed", "asdf block"),
    /// A codec with an unknown label.
    UnknownCompression = warning("compression", "asdf block"),
    /// Bytes between blocks that are allocated to none.
    Gap = warning("gap", "asdf block"),
    /// Bytes after the last block that are not an index.
    JunkAfterBlocks = warning("junk_after_blocks", "asdf file"),
    /// An index that cannot be read.
    IndexUnreadable = warning("index", "asdf block index"),
    /// An index whose offsets differ from those of the blocks, as after an edit by hand.
    IndexStale = note("stale_index", "asdf block index"),
    /// A block that only the index lists: there is neither a header nor another block at its offset.
    BlockMissing = error("missing_block", "asdf block"),
    /// An index in a file without blocks, or after a streamed block.
    IndexForbidden = warning("index_forbidden", "asdf block index"),
    /// Bytes after the index that are not NUL.
    JunkAfterIndex = warning("junk_after_index", "asdf file"),
    /// No index, although there are blocks.
    IndexAbsent = note("no_index", "asdf block index"),
    /// An invalid node with the tag of an array, or an array outside of its block.
    Array = error("array", "asdf ndarray"),
    /// Bytes after the last whole row of a streamed block.
    TornRow = warning("torn_row", "asdf ndarray"),
    /// An axis with a stride of 0: all its elements are the same one.
    ZeroStride = warning("zero_stride", "asdf ndarray"),
    /// Records that may have gaps which the tree does not describe.
    PaddedRecords = warning("padded_records", "asdf ndarray"),
}

/// One fault or oddity, with its range.
pub type Fault = container_core::fault::Fault<FaultKind>;

/// The block that a fault concerns.
pub(crate) fn block_of(fault: &Fault) -> Option<usize> {
    fault.index().and_then(|index| usize::try_from(index).ok())
}
