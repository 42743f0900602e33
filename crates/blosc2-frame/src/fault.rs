//! Faults and oddities of a frame: each case with its stable code, its place and its sentence.

use container_core::Error;
use container_core::report::Severity;

/// Kind of a fault or an oddity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum FaultKind {
    /// The file ends before the length that the header gives the frame.
    FrameTruncated,
    /// A length of the header that cannot be.
    HeaderLen,
    /// A length of the frame that cannot be.
    FrameLen,
    /// A size of all data that cannot be, or other chunks than that of different sizes hold.
    Nbytes,
    /// A size of the chunks section that cannot be.
    Cbytes,
    /// A size of elements that cannot be.
    Typesize,
    /// A size of blocks that cannot be.
    Blocksize,
    /// A chunk size that cannot be, such as none although there are data.
    Chunksize,
    /// More filters than there are places.
    Filters,
    /// Filters for chunks to come that nobody has, which keeps C-Blosc2 or python-blosc2 from opening the frame.
    FiltersUnknown,
    /// A type of frame that the user defines, which C-Blosc2 does not open.
    FrameType,
    /// Bits of the header that are reserved.
    ReservedNotZero,
    /// The version of the frame does not fit what its flags say.
    VersionFlags,
    /// The metalayers cannot be read.
    MetalayersUnreadable,
    /// Metalayers that can be read, but are not as they should be: more than 16, a name twice, another size of their index.
    MetalayersOdd,
    /// The trailer cannot be read, or is not where the frame ends.
    TrailerUnreadable,
    /// The header says otherwise than the trailer whether there are user metalayers.
    VlmetaFlag,
    /// A fingerprint, which no known writer makes.
    Fingerprint,
    /// The chunk that holds the offsets cannot be read.
    IndexUnreadable,
    /// The index has more or fewer offsets than the header needs.
    IndexCount,
    /// Bytes between index and trailer.
    IndexSlack,
    /// An offset that leads out of the chunks section.
    OffsetOutside,
    /// A negative offset without a known meaning, or with bits beside it.
    OffsetUnknown,
    /// One offset for all chunks, which cannot all be there.
    OffsetsSame,
    /// Chunks do not lie in the order of their data: insertions and updates leave this.
    OffsetsUnsorted,
    /// A chunk that is in the index twice.
    SharedChunk,
    /// A chunk that shares bytes with another.
    ChunkOverlap,
    /// No chunk is where the index leads: its header cannot be, or it reaches out of the chunks section.
    ChunkHeader,
    /// A chunk goes on where the chunks section, or its file, ends.
    ChunkTruncated,
    /// A chunk holds more or fewer bytes than the header says.
    ChunkSizeMismatch,
    /// A chunk with the header of Blosc1, which C-Blosc2 does not read in frames.
    ChunkShortHeader,
    /// A chunk whose header gives its blocks another length than they have: C-Blosc2 wrote such, and does not read them.
    ChunkBlocksize,
    /// Elements of another size than those of the frame.
    TypesizeDiffers,
    /// A chunk of nothing but zeros, NaN or unset bytes that is stored all the same: C-Blosc2 does not read it from files.
    StoredSpecial,
    /// A chunk that is not stored in a frame of chunks of different sizes (C-Blosc2 wrote such, and does not read them). It is the only
    /// one, so that the others tell how long it is.
    ChunkSizeSalvaged,
    /// Chunks of NaN that are not stored, in a frame of elements of another size than floats have (C-Blosc2 writes such, and does not read
    /// them).
    NanWidth,
    /// As [`FaultKind::ChunkSizeSalvaged`], and nothing tells how long it is.
    ChunkSizeLost,
    /// Chunks of different codecs.
    MixedCodecs,
    /// Chunks with blocks of different lengths and others, which C-Blosc2 does not mix.
    MixedBlocks,
    /// Bytes in the chunks section that no offset leads to: deleted and replaced chunks.
    DeadSpace,
    /// Bytes after the end of the frame.
    TrailingBytes,
    /// The file of a chunk is not there.
    PartMissing,
    /// The file of a chunk is longer or shorter than the chunk.
    PartSize,
    /// A file of a chunk that no offset leads to.
    PartUnused,
    /// The stored sizes of the chunks do not add up to what the header says.
    StoredSizesDiffer,
}

impl FaultKind {
    /// The stable name, as in machine output.
    #[must_use]
    pub const fn code(self) -> &'static str {
        match self {
            Self::FrameTruncated => "truncated",
            Self::HeaderLen => "header_len",
            Self::FrameLen => "frame_len",
            Self::Nbytes => "nbytes",
            Self::Cbytes => "cbytes",
            Self::Typesize => "typesize",
            Self::Blocksize => "blocksize",
            Self::Chunksize => "chunksize",
            Self::Filters => "filters",
            Self::FiltersUnknown => "filters_unknown",
            Self::FrameType => "frame_type",
            Self::ReservedNotZero => "reserved_not_zero",
            Self::VersionFlags => "version_flags",
            Self::MetalayersUnreadable | Self::MetalayersOdd => "metalayers",
            Self::TrailerUnreadable => "trailer",
            Self::VlmetaFlag => "vlmeta_flag",
            Self::Fingerprint => "fingerprint",
            Self::IndexUnreadable => "offsets",
            Self::IndexCount => "offsets",
            Self::IndexSlack => "index_slack",
            Self::OffsetOutside => "offset",
            Self::OffsetUnknown => "offset",
            Self::OffsetsSame => "offsets",
            Self::OffsetsUnsorted => "offsets_unsorted",
            Self::SharedChunk => "shared_chunk",
            Self::ChunkOverlap => "chunk_overlap",
            Self::ChunkHeader => "chunk_header",
            Self::ChunkTruncated => "chunk_header",
            Self::ChunkSizeMismatch => "chunk_size",
            Self::ChunkShortHeader => "chunk_header",
            Self::ChunkBlocksize => "chunk_blocksize",
            Self::TypesizeDiffers => "typesize_differs",
            Self::StoredSpecial => "stored_special",
            Self::NanWidth => "nan_width",
            Self::ChunkSizeSalvaged => "zeros_of_unknown_size",
            Self::ChunkSizeLost => "chunk_size",
            Self::MixedCodecs => "mixed_codecs",
            Self::MixedBlocks => "mixed_blocks",
            Self::DeadSpace => "dead_space",
            Self::TrailingBytes => "trailing_bytes",
            Self::PartMissing => "chunk_file",
            Self::PartSize => "chunk_file",
            Self::PartUnused => "stray_file",
            Self::StoredSizesDiffer => "stored_sizes_differ",
        }
    }

    /// Damage, something that may trouble a reader, or merely odd.
    #[must_use]
    pub const fn severity(self) -> Severity {
        match self {
            Self::VersionFlags
            | Self::FiltersUnknown
            | Self::FrameType
            | Self::VlmetaFlag
            | Self::SharedChunk
            | Self::ChunkBlocksize
            | Self::ChunkSizeSalvaged
            | Self::StoredSpecial
            | Self::StoredSizesDiffer => Severity::Warning,
            Self::ReservedNotZero
            | Self::Fingerprint
            | Self::IndexSlack
            | Self::OffsetsUnsorted
            | Self::TypesizeDiffers
            | Self::MixedCodecs
            | Self::DeadSpace
            | Self::TrailingBytes
            | Self::PartUnused => Severity::Note,
            _ => Severity::Error,
        }
    }

    /// True where it keeps the frame as a whole from being read, and a strict reader from opening it.
    #[must_use]
    pub const fn is_structural(self) -> bool {
        matches!(
            self,
            Self::FrameTruncated
                | Self::HeaderLen
                | Self::FrameLen
                | Self::Nbytes
                | Self::Cbytes
                | Self::Typesize
                | Self::Blocksize
                | Self::Chunksize
                | Self::Filters
                | Self::MetalayersUnreadable
                | Self::TrailerUnreadable
                | Self::IndexUnreadable
                | Self::IndexCount
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
            Self::MetalayersUnreadable | Self::MetalayersOdd => "blosc2 metalayers",
            Self::TrailerUnreadable | Self::Fingerprint | Self::VlmetaFlag => "blosc2 frame trailer",
            Self::IndexUnreadable
            | Self::IndexCount
            | Self::IndexSlack
            | Self::OffsetOutside
            | Self::OffsetUnknown
            | Self::OffsetsSame
            | Self::NanWidth
            | Self::OffsetsUnsorted => "blosc2 frame index",
            Self::SharedChunk
            | Self::ChunkOverlap
            | Self::ChunkHeader
            | Self::ChunkSizeMismatch
            | Self::ChunkShortHeader
            | Self::ChunkBlocksize
            | Self::TypesizeDiffers
            | Self::ChunkTruncated
            | Self::StoredSpecial
            | Self::ChunkSizeSalvaged
            | Self::ChunkSizeLost
            | Self::MixedCodecs
            | Self::MixedBlocks
            | Self::PartMissing
            | Self::PartSize
            | Self::PartUnused => "blosc2 chunk",
            Self::FrameTruncated | Self::DeadSpace | Self::TrailingBytes => "blosc2 frame",
            _ => "blosc2 frame header",
        }
    }
}

/// The error of something that counts its bytes from its own start, which is at byte `by` of the file.
pub(crate) fn shift(error: Error, by: u64) -> Error {
    let range = error.range().map(|range| by.saturating_add(range.start)..by.saturating_add(range.end));
    let what = error.context().map(str::to_owned);
    let hint = error.hint().map(str::to_owned);
    let part = error.file_name().map(str::to_owned);
    let mut shifted = Error::new(error.into_kind());
    if let Some(range) = range {
        shifted = shifted.with_range(range);
    }
    if let Some(what) = what {
        shifted = shifted.with_context(what);
    }
    if let Some(hint) = hint {
        shifted = shifted.with_hint(hint);
    }
    match part {
        Some(part) => shifted.in_file(part),
        None => shifted,
    }
}
