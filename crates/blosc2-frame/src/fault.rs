//! Faults and oddities: each kind with its stable code, severity and location. The message is where the fault is found: look for uses of the kind.
//! Findings that only a check has are in `check`.

container_core::fault_kinds! {
    /// The file ends before the length that the header gives the frame.
    FrameTruncated = error("truncated", "blosc2 frame"),
    /// A length of the header that cannot be.
    HeaderLen = error("header_len", "blosc2 frame header"),
    /// A length of the frame that cannot be.
    FrameLen = error("frame_len", "blosc2 frame header"),
    /// A size of all data that cannot be, or other chunks than that of different sizes hold.
    Nbytes = error("nbytes", "blosc2 frame header"),
    /// A size of the chunks section that cannot be.
    Cbytes = error("cbytes", "blosc2 frame header"),
    /// A size of elements that cannot be.
    Typesize = error("typesize", "blosc2 frame header"),
    /// A size of blocks that cannot be.
    Blocksize = error("blocksize", "blosc2 frame header"),
    /// A chunk size that cannot be, such as none although there are data.
    Chunksize = error("chunksize", "blosc2 frame header"),
    /// More filters than there are places.
    Filters = error("filters", "blosc2 frame header"),
    /// Filters for chunks to come that nobody has, which keeps C-Blosc2 or python-blosc2 from opening the frame.
    FiltersUnknown = warning("filters_unknown", "blosc2 frame header"),
    /// A type of frame that the user defines, which C-Blosc2 does not open.
    FrameType = warning("frame_type", "blosc2 frame header"),
    /// Bits of the header that are reserved.
    ReservedNotZero = note("reserved_not_zero", "blosc2 frame header"),
    /// The version of the frame does not fit what its flags say.
    VersionFlags = warning("version_flags", "blosc2 frame header"),
    /// The metalayers cannot be read.
    MetalayersUnreadable = error("metalayers", "blosc2 metalayers"),
    /// Metalayers that can be read, but are not as they should be: more than 16, a name twice, another size of their index.
    MetalayersOdd = error("metalayers", "blosc2 metalayers"),
    /// The trailer cannot be read, or is not where the frame ends.
    TrailerUnreadable = error("trailer", "blosc2 frame trailer"),
    /// The header says otherwise than the trailer whether there are user metalayers.
    VlmetaFlag = warning("vlmeta_flag", "blosc2 frame trailer"),
    /// A fingerprint, which no known writer makes.
    Fingerprint = note("fingerprint", "blosc2 frame trailer"),
    /// The chunk that holds the offsets cannot be read.
    IndexUnreadable = error("offsets", "blosc2 frame index"),
    /// The index has more or fewer offsets than the header needs.
    IndexCount = error("offsets", "blosc2 frame index"),
    /// Bytes between index and trailer.
    IndexSlack = note("index_slack", "blosc2 frame index"),
    /// An offset that leads out of the chunks section.
    OffsetOutside = error("offset", "blosc2 frame index"),
    /// A negative offset without a known meaning, or with bits beside it.
    OffsetUnknown = error("offset", "blosc2 frame index"),
    /// One offset for all chunks, which cannot all be there.
    OffsetsSame = error("offsets", "blosc2 frame index"),
    /// Chunks do not lie in the order of their data: insertions and updates leave this.
    OffsetsUnsorted = note("offsets_unsorted", "blosc2 frame index"),
    /// A chunk that is in the index twice.
    SharedChunk = warning("shared_chunk", "blosc2 chunk"),
    /// A chunk that shares bytes with another.
    ChunkOverlap = error("chunk_overlap", "blosc2 chunk"),
    /// No chunk is where the index leads: its header cannot be, or it reaches out of the chunks section.
    ChunkHeader = error("chunk_header", "blosc2 chunk"),
    /// A chunk goes on where the chunks section, or its file, ends.
    ChunkTruncated = error("chunk_header", "blosc2 chunk"),
    /// A chunk holds more or fewer bytes than the header says.
    ChunkSizeMismatch = error("chunk_size", "blosc2 chunk"),
    /// A chunk with the header of Blosc1, which C-Blosc2 does not read in frames.
    ChunkShortHeader = error("chunk_header", "blosc2 chunk"),
    /// A chunk whose header gives its blocks another length than they have: C-Blosc2 wrote such, and does not read them.
    ChunkBlocksize = warning("chunk_blocksize", "blosc2 chunk"),
    /// Elements of another size than those of the frame.
    TypesizeDiffers = note("typesize_differs", "blosc2 chunk"),
    /// A chunk of nothing but zeros, NaN or unset bytes that is stored all the same: C-Blosc2 does not read it from files.
    StoredSpecial = warning("stored_special", "blosc2 chunk"),
    /// A chunk that is not stored in a frame of chunks of different sizes (C-Blosc2 wrote such, and does not read them). It is the only
    /// one, so that the others tell how long it is.
    ChunkSizeSalvaged = warning("zeros_of_unknown_size", "blosc2 chunk"),
    /// Chunks of NaN that are not stored, in a frame of elements of another size than floats have (C-Blosc2 writes such, and does not read
    /// them).
    NanWidth = error("nan_width", "blosc2 frame index"),
    /// As [`FaultKind::ChunkSizeSalvaged`], and nothing tells how long it is.
    ChunkSizeLost = error("chunk_size", "blosc2 chunk"),
    /// Chunks of different codecs.
    MixedCodecs = note("mixed_codecs", "blosc2 chunk"),
    /// Chunks with blocks of different lengths and others, which C-Blosc2 does not mix.
    MixedBlocks = error("mixed_blocks", "blosc2 chunk"),
    /// Bytes in the chunks section that no offset leads to: deleted and replaced chunks.
    DeadSpace = note("dead_space", "blosc2 frame"),
    /// Bytes after the end of the frame.
    TrailingBytes = note("trailing_bytes", "blosc2 frame"),
    /// The file of a chunk is not there.
    PartMissing = error("chunk_file", "blosc2 chunk"),
    /// The file of a chunk is longer or shorter than the chunk.
    PartSize = error("chunk_file", "blosc2 chunk"),
    /// A file of a chunk that no offset leads to.
    PartUnused = note("stray_file", "blosc2 chunk"),
    /// The stored sizes of the chunks do not add up to what the header says.
    StoredSizesDiffer = warning("stored_sizes_differ", "blosc2 frame header"),
}

impl FaultKind {
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
