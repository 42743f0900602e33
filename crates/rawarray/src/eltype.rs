//! Element types: the meaning of element code and width together.

use container_core::dtype::{ByteOrder, DType, Kind};

use crate::header::{Eltype, Flags, Header};

/// Reason for an element code and a width that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum EltypeError {
    /// The code is over 5.
    Code,
    /// The width is invalid for the code.
    Width(&'static str),
}

/// The element type of a file, in its own byte order.
///
/// Code 5 is resolved by width: 2 is bfloat16 (description, Rust crate), 1 is Bool and 8 with [`Flags::BITS`] is a bit array
/// (both RawArray.jl).
pub(crate) fn element_type(header: &Header, order: ByteOrder) -> Result<DType, EltypeError> {
    let bits = header.flags.has(Flags::BITS);
    let kind = match (header.eltype, header.elbyte) {
        (Eltype(code), _) if code > Eltype::BFLOAT16.0 => return Err(EltypeError::Code),
        (Eltype::BFLOAT16, 8) if bits => return Ok(DType::native(Kind::Bool, 1)),
        _ if bits => return Err(EltypeError::Width("a bit array has eltype 5 and elbyte 8")),
        (Eltype::USER, _) => Kind::Void,
        (Eltype::INT, _) => Kind::Int,
        (Eltype::UINT, _) => Kind::Uint,
        (Eltype::FLOAT, _) => Kind::Float,
        (Eltype::COMPLEX, width) if width % 2 == 1 => {
            return Err(EltypeError::Width("a complex number has two parts of one width"));
        }
        (Eltype::COMPLEX, _) => Kind::Complex,
        (Eltype::BFLOAT16, 2) => Kind::BFloat,
        (Eltype::BFLOAT16, 1) => Kind::Bool,
        // The description does not define them; their width is that of whole elements.
        (Eltype::BFLOAT16, 4) => Kind::Opaque(1),
        _ => return Err(EltypeError::Width("eltype 5 is bfloat16 in 2 bytes or bool in 1, and opaque in 4")),
    };
    let size = usize::try_from(header.elbyte);
    let size = size.map_err(|_| EltypeError::Width("an element is larger than this machine can address"))?;
    Ok(DType::new(kind, size, order))
}

/// True unless the elements are opaque, or numbers of a width that numpy lacks.
pub(crate) fn is_known_width(dtype: &DType) -> bool {
    let Some(scalar) = dtype.as_scalar() else { return true };
    match scalar.kind {
        Kind::Int | Kind::Uint => matches!(scalar.size, 1 | 2 | 4 | 8),
        Kind::Float => matches!(scalar.size, 2 | 4 | 8),
        Kind::Complex => matches!(scalar.size, 8 | 16),
        Kind::Opaque(_) => false,
        _ => true,
    }
}

/// The type in the public API: widths that numpy lacks are opaque, but keep their byte order.
pub(crate) fn public_type(dtype: &DType) -> DType {
    let integer = dtype.as_scalar().is_some_and(|scalar| matches!(scalar.kind, Kind::Int | Kind::Uint));
    // Integers of up to 128 bits and complex32 keep their meaning, but print as |V<n>.
    match dtype.as_scalar() {
        Some(scalar)
            if !(is_known_width(dtype) || (integer && scalar.size <= 16) || is_half_complex(dtype)) =>
        {
            let parts = if scalar.kind == Kind::Complex { 2 } else { 1 };
            DType::new(Kind::Opaque(parts), scalar.size, scalar.order)
        }
        _ => dtype.clone(),
    }
}

fn is_half_complex(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Complex && scalar.size == 4)
}

/// Code and width for `dtype`. `None` where only the code for user types fits.
pub(crate) fn eltype_of(dtype: &DType) -> Option<Eltype> {
    match dtype.as_scalar()?.kind {
        Kind::Int => Some(Eltype::INT),
        Kind::Uint => Some(Eltype::UINT),
        Kind::Float => Some(Eltype::FLOAT),
        Kind::Complex => Some(Eltype::COMPLEX),
        Kind::BFloat | Kind::Bool => Some(Eltype::BFLOAT16),
        _ => None,
    }
}

/// Formats the element type for people: `complex64`, `user (80 bytes)`.
pub(crate) fn describe(header: &Header) -> String {
    let bits = header.elbyte.saturating_mul(8);
    match (header.eltype, header.elbyte) {
        (Eltype::USER, width) => format!("user ({width} bytes)"),
        (Eltype::INT, _) => format!("int{bits}"),
        (Eltype::UINT, _) => format!("uint{bits}"),
        (Eltype::FLOAT, _) => format!("float{bits}"),
        (Eltype::COMPLEX, _) => format!("complex{bits}"),
        (Eltype::BFLOAT16, 2) => "bfloat16".into(),
        (Eltype::BFLOAT16, 1) => "bool".into(),
        (Eltype::BFLOAT16, 8) if header.flags.has(Flags::BITS) => "bool".into(),
        (Eltype(code), width) => format!("unknown (eltype {code}, elbyte {width})"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dtype(flags: u64, eltype: u64, elbyte: u64) -> Result<String, EltypeError> {
        let header = Header {
            byte_order: ByteOrder::Little,
            flags: Flags(flags),
            eltype: Eltype(eltype),
            elbyte,
            size: 0,
            ndims: 0,
        };
        element_type(&header, ByteOrder::Big).map(|dtype| public_type(&dtype).to_string())
    }

    #[test]
    fn codes_and_widths_resolve_as_documented() {
        let cases = [
            ((0, 0, 80), "|V80"),
            ((0, 1, 1), "|i1"),
            ((0, 1, 3), "|V3"),
            ((0, 2, 8), ">u8"),
            ((0, 2, 16), "|V16"),
            ((0, 3, 2), ">f2"),
            ((0, 3, 16), "|V16"),
            ((0, 4, 4), "|V4"),
            ((0, 4, 8), ">c8"),
            ((0, 4, 32), "|V32"),
            ((0, 5, 2), "bfloat16"),
            ((0, 5, 1), "|b1"),
            ((0, 5, 4), "|V4"),
            ((6, 5, 8), "|b1"),
        ];
        for ((flags, eltype, elbyte), want) in cases {
            assert_eq!(dtype(flags, eltype, elbyte).as_deref(), Ok(want), "{flags} {eltype} {elbyte}");
        }
    }

    #[test]
    fn impossible_pairs_are_named() {
        assert_eq!(dtype(0, 6, 4), Err(EltypeError::Code));
        for (flags, eltype, elbyte) in [(0, 4, 7), (0, 5, 3), (0, 5, 8), (4, 3, 8), (4, 5, 1)] {
            assert!(matches!(dtype(flags, eltype, elbyte), Err(EltypeError::Width(_))), "{eltype} {elbyte}");
        }
    }
}
