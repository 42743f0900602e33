//! Faults and oddities: each kind with its stable code, severity and location. The message is where the fault is found: look for uses of the kind.
//! Findings that only a check has are in `check`.

container_core::fault_kinds! {
    /// Option bits that the version does not have, or lacks.
    UndefinedOptions = unsupported("undefined_options", "bloscpack header"),
    /// A checksum code over 8: nobody knows where the chunks are.
    UnknownChecksum = unsupported("unknown_checksum", "bloscpack header"),
    /// A snapshot of version 3 of December 2012, never released.
    InterimVersion = unsupported("interim_version", "bloscpack header"),
    /// Option bit 2 with version byte 3, in a file that is not otherwise one of the variable-length proposal.
    VariableLengthVersion = unsupported("variable_length_version", "bloscpack header"),
    /// The variable-length proposal under version byte 3: all of the file is as it says.
    ProposalVersion = warning("proposal_version", "bloscpack header"),
    /// A size or count in the header that none can be, or that contradicts another.
    ImpossibleSize = error("impossible_size", "bloscpack header"),
    /// The number of chunks is −1: the file was never finished, or is a stream.
    Unfinished = warning("unfinished", "bloscpack header"),
    /// The chunk size is −1 in a format of chunks of one size.
    SizeUnknown = warning("size_unknown", "bloscpack header"),
    /// Reserved bytes are set.
    ReservedNotZero = warning("reserved_not_zero", "bloscpack header"),
    /// The file ends within its metadata.
    MetadataTruncated = error("metadata_truncated", "bloscpack metadata"),
    /// The sizes of the metadata contradict each other.
    MetadataSizes = error("metadata_sizes", "bloscpack metadata"),
    /// The metadata do not fit their digest.
    MetadataChecksum = error("metadata_checksum", "bloscpack metadata"),
    /// The metadata cannot be read.
    MetadataUnreadable = error("metadata_unreadable", "bloscpack metadata"),
    /// The metadata can be read, but not by every reader.
    MetadataSpelling = warning("metadata_spelling", "bloscpack header"),
    /// Bytes are set after the metadata: old ones, where a tool has edited them.
    MetadataPadding = note("metadata_padding", "bloscpack header"),
    /// The metadata say that there is an array, but not what it is.
    NumpyMetadata = error("numpy_metadata", "bloscpack metadata"),
    /// Shape and type need another number of bytes than there are.
    ShapeMismatch = error("shape_mismatch", "bloscpack data"),
    /// The shape of a variable-length file has another number of items than there are.
    ItemCount = error("item_count", "bloscpack header"),
    /// An item whose bytes are not whole elements of the type that the metadata declare.
    ItemElements = warning("item_elements", "bloscpack header"),
    /// A variable-length file without offsets.
    OffsetsMissing = error("offsets_missing", "bloscpack offsets"),
    /// The file ends within its table of offsets.
    OffsetsTruncated = error("offsets_truncated", "bloscpack offsets"),
    /// No offset is set: writing was aborted.
    OffsetsUnset = error("offsets_unset", "bloscpack offsets"),
    /// An offset points elsewhere than to its chunk.
    OffsetMismatch = error("offset_mismatch", "bloscpack offsets"),
    /// A spare entry of the table of offsets is set, as if there were more chunks.
    SpareOffset = error("spare_offset", "bloscpack header"),
    /// The file ends before or within a chunk.
    ChunkTruncated = error("chunk_truncated", "bloscpack chunk"),
    /// A chunk without a possible header.
    ChunkHeader = error("chunk_header", "bloscpack chunk"),
    /// A chunk shares bytes with another.
    ChunkOverlap = error("chunk_overlap", "bloscpack chunk"),
    /// A chunk holds more or fewer bytes than the header says.
    ChunkSizeMismatch = error("chunk_size_mismatch", "bloscpack chunk"),
    /// Chunks of Blosc2, which Bloscpack never wrote.
    Blosc2Chunk = note("blosc2_chunk", "bloscpack header"),
    /// Bytes between chunks.
    Gap = warning("gap", "bloscpack header"),
    /// Bytes between items: room that was reserved for longer ones, or what shorter ones left.
    Reserve = note("reserved_room", "bloscpack header"),
    /// Bytes after the last chunk: an append may leave them.
    TrailingBytes = note("trailing_bytes", "bloscpack header"),
    /// Bytes after the last chunk that is found, where nothing tells how many there are: they may have been chunks.
    UnknownTail = error("unknown_tail", "bloscpack header"),
}

impl FaultKind {
    /// True where the file ends too early.
    #[must_use]
    pub const fn is_truncation(self) -> bool {
        matches!(self, Self::MetadataTruncated | Self::OffsetsTruncated | Self::ChunkTruncated)
    }

    /// True for what keeps type and shape from being known for certain.
    #[must_use]
    pub const fn affects_metadata(self) -> bool {
        matches!(
            self,
            Self::MetadataTruncated
                | Self::MetadataSizes
                | Self::MetadataChecksum
                | Self::MetadataUnreadable
                | Self::NumpyMetadata
        )
    }
}

/// One thing that is wrong or odd, with its place.
pub type Fault = container_core::fault::Fault<FaultKind>;
