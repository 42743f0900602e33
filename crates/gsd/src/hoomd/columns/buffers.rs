//! Column buffers: values of one type in memory.

use container_core::dtype::{ByteOrder, Element};
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

use crate::ChunkType;

macro_rules! values {
    ($($(#[$doc:meta])* $variant:ident($element:ty) = $type:ident;)+) => {
        /// Values of one type, in this machine's byte order.
        #[derive(Clone, Debug, PartialEq)]
        #[non_exhaustive]
        pub enum Values {
            $($(#[$doc])* $variant(Vec<$element>),)+
            /// Texts, one per row.
            Text(Texts),
        }

        impl Values {
            /// `len` zeros of a type; `len` empty texts for characters.
            pub(super) fn zeros(of: ChunkType, len: u64, limits: &Limits) -> Result<Self> {
                Ok(match of {
                    $(ChunkType::$type => Self::$variant(try_zeroed_vec(len, limits)?),)+
                    ChunkType::Character => Self::Text(Texts { bytes: String::new(), spans: try_zeroed_vec(len, limits)? }),
                })
            }

            /// The bytes of numbers, in this machine's byte order; none of texts.
            #[must_use]
            pub fn number_bytes(&self) -> &[u8] {
                match self {
                    $(Self::$variant(values) => bytemuck::cast_slice(values),)+
                    Self::Text(_) => &[],
                }
            }

            /// The bytes of numbers; of texts, those of their spans.
            pub(super) fn bytes_mut(&mut self) -> &mut [u8] {
                match self {
                    $(Self::$variant(values) => bytemuck::cast_slice_mut(values),)+
                    Self::Text(texts) => bytemuck::cast_slice_mut(&mut texts.spans),
                }
            }

            /// Converts numbers copied from a file of `order` to this machine's byte order.
            pub(super) fn swap_from(&mut self, order: ByteOrder) {
                if order == ByteOrder::NATIVE {
                    return;
                }
                match self {
                    $(Self::$variant(values) => {
                        const LEN: usize = size_of::<$element>();
                        let bytes: &mut [u8] = bytemuck::cast_slice_mut(values);
                        bytes.as_chunks_mut::<LEN>().0.iter_mut().for_each(|word| word.reverse());
                    })+
                    Self::Text(_) => {}
                }
            }

            /// The numbers, if they are of type `T`.
            #[must_use]
            pub fn elements<T: Element>(&self) -> Option<&[T]> {
                match self {
                    $(Self::$variant(values) if T::dtype() == <$element>::dtype() => {
                        bytemuck::try_cast_slice(values).ok()
                    })+
                    _ => None,
                }
            }

            /// Number of values: rows times values of a row; of texts, the rows.
            #[must_use]
            pub fn len(&self) -> usize {
                match self {
                    $(Self::$variant(values) => values.len(),)+
                    Self::Text(texts) => texts.len(),
                }
            }
        }
    };
}

values! {
    /// Unsigned 8-bit integers.
    U8(u8) = Uint8;
    /// Unsigned 16-bit integers.
    U16(u16) = Uint16;
    /// Unsigned 32-bit integers.
    U32(u32) = Uint32;
    /// Unsigned 64-bit integers.
    U64(u64) = Uint64;
    /// Signed 8-bit integers.
    I8(i8) = Int8;
    /// Signed 16-bit integers.
    I16(i16) = Int16;
    /// Signed 32-bit integers.
    I32(i32) = Int32;
    /// Signed 64-bit integers.
    I64(i64) = Int64;
    /// Single precision.
    F32(f32) = Float;
    /// Double precision.
    F64(f64) = Double;
}

impl Values {
    /// True without values.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Texts of any length; equal ones of one chunk are stored once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Texts {
    pub(super) bytes: String,
    /// Start and end of each.
    pub(super) spans: Vec<[u64; 2]>,
}

impl Texts {
    /// Number of texts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// True without texts.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The text of a row.
    #[must_use]
    pub fn get(&self, row: usize) -> Option<&str> {
        let [start, end] = *self.spans.get(row)?;
        self.bytes.get(usize::try_from(start).ok()?..usize::try_from(end).ok()?)
    }
}
