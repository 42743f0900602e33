//! Rust types that can be the elements of an array.

use half::{bf16, f16};
use num_complex::Complex;

use super::{ByteOrder, DType, Kind};
use crate::to_f64::is_real;
use crate::{Error, Result};

/// A Rust type whose values are stored with their bytes in memory.
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

/// Refuses elements of another type than `T`, byte order aside. A `T` that is opaque takes every type of its size.
///
/// # Errors
/// `Usage`, with both types.
pub(crate) fn expect_type<T: Element>(have: &DType) -> Result<()> {
    let want = T::dtype();
    let same = match want.as_scalar() {
        Some(scalar) if want.is_void() => scalar.size == have.itemsize(),
        _ => want == have.with_order(ByteOrder::NATIVE),
    };
    if same {
        return Ok(());
    }
    let error = Error::usage(format!("the elements are {have}, not {want}"));
    let are_real = [have, &want].iter().all(|dtype| dtype.as_scalar().is_some_and(is_real));
    Err(if are_real {
        error.with_hint("read_all, and to_f64 of its array, which converts numbers")
    } else {
        error
    })
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
