//! Faults and oddities of a file: each case with its stable code, its place and its sentence.

use container_core::report::Severity;

/// Kind of a fault or an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// Option bits that the version does not have, or lacks.
    UndefinedOptions,
    /// A checksum code over 8: nobody knows where the chunks are.
    UnknownChecksum,
    /// A snapshot of version 3 of December 2012, never released.
    InterimVersion,
    /// Option bit 2 with version byte 3, in a file that is not otherwise one of the variable-length proposal.
    VariableLengthVersion,
    /// The variable-length proposal under version byte 3: all of the file is as it says.
    ProposalVersion,
    /// A size or count in the header that none can be, or that contradicts another.
    ImpossibleSize,
    /// The number of chunks is −1: the file was never finished, or is a stream.
    Unfinished,
    /// The chunk size is −1 in a format of chunks of one size.
    SizeUnknown,
    /// Reserved bytes are set.
    ReservedNotZero,
    /// The file ends within its metadata.
    MetadataTruncated,
    /// The sizes of the metadata contradict each other.
    MetadataSizes,
    /// The metadata do not fit their digest.
    MetadataChecksum,
    /// The metadata cannot be read.
    MetadataUnreadable,
    /// The metadata can be read, but not by every reader.
    MetadataSpelling,
    /// Bytes are set after the metadata: old ones, where a tool has edited them.
    MetadataPadding,
    /// The metadata say that there is an array, but not what it is.
    NumpyMetadata,
    /// Shape and type need another number of bytes than there are.
    ShapeMismatch,
    /// The shape of a variable-length file has another number of items than there are.
    ItemCount,
    /// An item whose bytes are not whole elements of the type that the metadata declare.
    ItemElements,
    /// A variable-length file without offsets.
    OffsetsMissing,
    /// The file ends within its table of offsets.
    OffsetsTruncated,
    /// No offset is set: writing was aborted.
    OffsetsUnset,
    /// An offset points elsewhere than to its chunk.
    OffsetMismatch,
    /// A spare entry of the table of offsets is set, as if there were more chunks.
    SpareOffset,
    /// The file ends before or within a chunk.
    ChunkTruncated,
    /// A chunk without a possible header.
    ChunkHeader,
    /// A chunk shares bytes with another.
    ChunkOverlap,
    /// A chunk holds more or fewer bytes than the header says.
    ChunkSizeMismatch,
    /// Chunks of Blosc2, which Bloscpack never wrote.
    Blosc2Chunk,
    /// Bytes between chunks.
    Gap,
    /// Bytes between items: room that was reserved for longer ones, or what shorter ones left.
    Reserve,
    /// Bytes after the last chunk: an append may leave them.
    TrailingBytes,
    /// Bytes after the last chunk that is found, where nothing tells how many there are: they may have been chunks.
    UnknownTail,
}

impl FaultKind {
    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::UndefinedOptions => "undefined_options",
            Self::UnknownChecksum => "unknown_checksum",
            Self::InterimVersion => "interim_version",
            Self::VariableLengthVersion => "variable_length_version",
            Self::ProposalVersion => "proposal_version",
            Self::ImpossibleSize => "impossible_size",
            Self::Unfinished => "unfinished",
            Self::SizeUnknown => "size_unknown",
            Self::ReservedNotZero => "reserved_not_zero",
            Self::MetadataTruncated => "metadata_truncated",
            Self::MetadataSizes => "metadata_sizes",
            Self::MetadataChecksum => "metadata_checksum",
            Self::MetadataUnreadable => "metadata_unreadable",
            Self::MetadataSpelling => "metadata_spelling",
            Self::MetadataPadding => "metadata_padding",
            Self::NumpyMetadata => "numpy_metadata",
            Self::ShapeMismatch => "shape_mismatch",
            Self::ItemCount => "item_count",
            Self::ItemElements => "item_elements",
            Self::OffsetsMissing => "offsets_missing",
            Self::OffsetsTruncated => "offsets_truncated",
            Self::OffsetsUnset => "offsets_unset",
            Self::OffsetMismatch => "offset_mismatch",
            Self::SpareOffset => "spare_offset",
            Self::ChunkTruncated => "chunk_truncated",
            Self::ChunkHeader => "chunk_header",
            Self::ChunkOverlap => "chunk_overlap",
            Self::ChunkSizeMismatch => "chunk_size_mismatch",
            Self::Blosc2Chunk => "blosc2_chunk",
            Self::Gap => "gap",
            Self::Reserve => "reserved_room",
            Self::TrailingBytes => "trailing_bytes",
            Self::UnknownTail => "unknown_tail",
        }
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::Unfinished
            | Self::SizeUnknown
            | Self::ReservedNotZero
            | Self::MetadataSpelling
            | Self::ItemElements
            | Self::ProposalVersion
            | Self::Gap => Severity::Warning,
            Self::MetadataPadding | Self::Reserve | Self::Blosc2Chunk | Self::TrailingBytes => Severity::Note,
            _ => Severity::Error,
        }
    }

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

impl container_core::fault::FaultKind for FaultKind {
    fn code(self) -> &'static str {
        self.code()
    }

    fn severity(self) -> Severity {
        self.severity()
    }

    fn place(self) -> &'static str {
        match self {
            kind if kind.affects_metadata() => "bloscpack metadata",
            Self::OffsetsMissing | Self::OffsetsTruncated | Self::OffsetsUnset | Self::OffsetMismatch => {
                "bloscpack offsets"
            }
            Self::ChunkTruncated | Self::ChunkHeader | Self::ChunkOverlap | Self::ChunkSizeMismatch => {
                "bloscpack chunk"
            }
            Self::ShapeMismatch => "bloscpack data",
            _ => "bloscpack header",
        }
    }

    fn is_unsupported(self) -> bool {
        matches!(
            self,
            Self::UndefinedOptions
                | Self::UnknownChecksum
                | Self::InterimVersion
                | Self::VariableLengthVersion
        )
    }
}
