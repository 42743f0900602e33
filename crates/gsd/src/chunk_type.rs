//! The types that a chunk's elements can have.

use container_core::dtype::{ByteOrder, DType, Kind, Scalar};

/// Element type of a chunk: `gsd_type` of the file layer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum ChunkType {
    /// Unsigned 8-bit integer.
    Uint8 = 1,
    /// Unsigned 16-bit integer.
    Uint16 = 2,
    /// Unsigned 32-bit integer.
    Uint32 = 3,
    /// Unsigned 64-bit integer.
    Uint64 = 4,
    /// Signed 8-bit integer.
    Int8 = 5,
    /// Signed 16-bit integer.
    Int16 = 6,
    /// Signed 32-bit integer.
    Int32 = 7,
    /// Signed 64-bit integer.
    Int64 = 8,
    /// IEEE 754 single precision.
    Float = 9,
    /// IEEE 754 double precision.
    Double = 10,
    /// One byte of UTF-8 text; file layer 2.1 and later.
    Character = 11,
}

impl ChunkType {
    /// All of them, by rising code.
    pub const ALL: [Self; 11] = [
        Self::Uint8,
        Self::Uint16,
        Self::Uint32,
        Self::Uint64,
        Self::Int8,
        Self::Int16,
        Self::Int32,
        Self::Int64,
        Self::Float,
        Self::Double,
        Self::Character,
    ];

    /// The type of a code in an index entry; `None` for 0 and codes above 11.
    #[must_use]
    pub const fn from_code(code: u8) -> Option<Self> {
        match code {
            1 => Some(Self::Uint8),
            2 => Some(Self::Uint16),
            3 => Some(Self::Uint32),
            4 => Some(Self::Uint64),
            5 => Some(Self::Int8),
            6 => Some(Self::Int16),
            7 => Some(Self::Int32),
            8 => Some(Self::Int64),
            9 => Some(Self::Float),
            10 => Some(Self::Double),
            11 => Some(Self::Character),
            _ => None,
        }
    }

    /// The code in an index entry.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }

    /// Bytes per element: `gsd_sizeof_type`.
    #[must_use]
    pub const fn size(self) -> u64 {
        self.itemsize() as u64
    }

    const fn itemsize(self) -> usize {
        match self {
            Self::Uint8 | Self::Int8 | Self::Character => 1,
            Self::Uint16 | Self::Int16 => 2,
            Self::Uint32 | Self::Int32 | Self::Float => 4,
            Self::Uint64 | Self::Int64 | Self::Double => 8,
        }
    }

    /// The integer in `bytes`, of which at most eight are read; sign-extended for signed types.
    pub(crate) fn integer(self, bytes: &[u8], order: ByteOrder) -> i128 {
        let is_signed = matches!(self, Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64);
        let top = match order {
            ByteOrder::Little => bytes.last(),
            ByteOrder::Big => bytes.first(),
        };
        let is_negative = is_signed && top.is_some_and(|byte| *byte >= 0x80);
        let mut wide = [if is_negative { 0xFF } else { 0 }; 8];
        let put = |(to, from): (&mut u8, &u8)| *to = *from;
        match order {
            ByteOrder::Little => wide.iter_mut().zip(bytes).for_each(put),
            // The first bytes are the high ones.
            ByteOrder::Big => wide.iter_mut().zip(bytes.iter().rev()).for_each(put),
        }
        if is_signed { i64::from_le_bytes(wide).into() } else { u64::from_le_bytes(wide).into() }
    }

    /// The reference's name: `uint8`, `float`, `character`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uint8 => "uint8",
            Self::Uint16 => "uint16",
            Self::Uint32 => "uint32",
            Self::Uint64 => "uint64",
            Self::Int8 => "int8",
            Self::Int16 => "int16",
            Self::Int32 => "int32",
            Self::Int64 => "int64",
            Self::Float => "float",
            Self::Double => "double",
            Self::Character => "character",
        }
    }

    /// The element type in arrays; characters are `|S1`.
    #[must_use]
    pub fn dtype(self, order: ByteOrder) -> DType {
        let kind = match self {
            Self::Uint8 | Self::Uint16 | Self::Uint32 | Self::Uint64 => Kind::Uint,
            Self::Int8 | Self::Int16 | Self::Int32 | Self::Int64 => Kind::Int,
            Self::Float | Self::Double => Kind::Float,
            Self::Character => Kind::Bytes,
        };
        DType::new(kind, self.itemsize(), order)
    }

    /// The type that holds elements of `dtype` exactly, byte order aside; `None` for what GSD lacks: bool, f16, complex
    /// numbers, strings, times, records.
    #[must_use]
    pub fn from_dtype(dtype: &DType) -> Option<Self> {
        let DType::Scalar(Scalar { kind, size, .. }) = dtype else { return None };
        Some(match (kind, size) {
            (Kind::Uint, 1) => Self::Uint8,
            (Kind::Uint, 2) => Self::Uint16,
            (Kind::Uint, 4) => Self::Uint32,
            (Kind::Uint, 8) => Self::Uint64,
            (Kind::Int, 1) => Self::Int8,
            (Kind::Int, 2) => Self::Int16,
            (Kind::Int, 4) => Self::Int32,
            (Kind::Int, 8) => Self::Int64,
            (Kind::Float, 4) => Self::Float,
            (Kind::Float, 8) => Self::Double,
            (Kind::Bytes, 1) => Self::Character,
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_sizes_and_dtypes_agree() {
        // Sizes by code, from the reference's table.
        let sizes = [0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 1, 0];
        for (code, size) in (0_u8..).zip(sizes) {
            let found = ChunkType::from_code(code);
            assert_eq!(found.map_or(0, ChunkType::size), size, "{code}");
            if let Some(found) = found {
                assert_eq!(found.code(), code);
                assert_eq!(found.dtype(ByteOrder::Big).itemsize() as u64, size);
                assert_eq!(ChunkType::from_dtype(&found.dtype(ByteOrder::Big)), Some(found));
            }
        }
        for text in ["|b1", "<f2", "<c8", "<U1", "|V4", "|S2"] {
            assert_eq!(ChunkType::from_dtype(&DType::parse(text).unwrap()), None, "{text}");
        }
    }
}
