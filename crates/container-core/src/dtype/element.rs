//! Rust types that can be the elements of an array.

use half::{bf16, f16};
use num_complex::Complex;

use super::{DType, Kind};

/// A Rust type whose values are stored as they lie in memory.
///
/// Implemented for the integers up to 128 bits, `f32`, `f64`, [`half::f16`], [`half::bf16`] and complex numbers
/// of the IEEE types. For your own plain-old-data record, derive [`bytemuck::Pod`] and write
/// `impl Element for Record {}`: its bytes are then taken as they are, whatever the byte order of the file.
pub trait Element: bytemuck::Pod + Send + Sync {
    /// The type in this machine's byte order. The default is opaque bytes of the type's size.
    #[must_use]
    fn dtype() -> DType {
        DType::void(size_of::<Self>())
    }
}

macro_rules! elements {
    ($($kind:ident: $($type:ty),+;)+) => {$($(
        impl Element for $type {
            fn dtype() -> DType {
                DType::native(Kind::$kind, size_of::<Self>())
            }
        }
    )+)+};
}

elements! {
    Int: i8, i16, i32, i64, i128;
    Uint: u8, u16, u32, u64, u128;
    Float: f16, f32, f64;
    BFloat: bf16;
    Complex: Complex<f16>, Complex<f32>, Complex<f64>;
}
