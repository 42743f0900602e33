//! What is done to the bytes of a block before the codec, and undone after it.

/// One slot of a pipeline: a filter by its number, with its own byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Filter {
    /// 0 is an empty slot.
    pub id: u8,
    /// What the filter makes of it.
    pub meta: u8,
}

impl Filter {
    /// An empty slot.
    pub const NONE: u8 = 0;
    /// Byte shuffle; meta: width, 0 for the typesize.
    pub const SHUFFLE: u8 = 1;
    /// Bit shuffle.
    pub const BITSHUFFLE: u8 = 2;
    /// XOR with the previous word, or with block 0.
    pub const DELTA: u8 = 3;
    /// Clears low bits of the mantissa; lossy.
    pub const TRUNC_PREC: u8 = 4;
    /// Cells of n-dimensional blocks, one after the other.
    pub const NDCELL: u8 = 32;
    /// The mean of each cell; lossy.
    pub const NDMEAN: u8 = 33;
    /// Byte differences as C-Blosc2 2.8.0 to 2.9.3 made them.
    pub const BYTEDELTA_BUGGY: u8 = 34;
    /// Byte differences within each of meta streams.
    pub const BYTEDELTA: u8 = 35;
    /// Clears low bits of integers; lossy.
    pub const INT_TRUNC: u8 = 36;

    /// A filter and its byte.
    #[must_use]
    pub const fn new(id: u8, meta: u8) -> Self {
        Self { id, meta }
    }
}

/// Six slots, in the order of encoding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pipeline(pub [Filter; 6]);
