//! Element types as the tree spells them (ASDF standard 1.6.0, core schemas, ndarray, "datatype").

use container_core::dtype::{ByteOrder, DType, Field, Kind, Record, Scalar};
use container_core::{Error, Result};

use crate::header::Version;
use crate::yaml::{Collection, Yaml};

/// `datatype` of an array, and its `byteorder`.
///
/// # Errors
/// `Unsupported` for a type without a name in that version of the standard.
pub(crate) fn datatype(dtype: &DType, standard: Version) -> Result<(Yaml, &'static str)> {
    match dtype {
        DType::Scalar(scalar) => Ok((scalar_type(scalar, standard)?, order(scalar))),
        DType::Record(record) => {
            let fields: Result<Vec<Yaml>> =
                record.fields.iter().map(|field| field_type(field, standard)).collect();
            // Every field has its own; the array's, which is still required, is that of the first number.
            Ok((Yaml::Sequence(fields?, Some(Collection::Block)), first_order(record).unwrap_or("little")))
        }
    }
}

/// Bytes of an element in the file, where fields have no gaps between them.
pub(crate) fn packed_size(dtype: &DType) -> u64 {
    match dtype {
        DType::Scalar(scalar) => scalar.size as u64,
        DType::Record(record) => {
            let size = |field: &Field| packed_size(&field.dtype).saturating_mul(count(field));
            record.fields.iter().map(size).fold(0, u64::saturating_add)
        }
    }
}

/// Items of a field.
pub(crate) fn count(field: &Field) -> u64 {
    field.shape.iter().fold(1, |count: u64, len| count.saturating_mul(*len as u64))
}

fn field_type(field: &Field, standard: Version) -> Result<Yaml> {
    let (inner, order) = datatype(&field.dtype, standard)?;
    let mut pairs =
        vec![("name", Yaml::text(&field.name)), ("datatype", inner), ("byteorder", Yaml::text(order))];
    if !field.shape.is_empty() {
        pairs.push(("shape", Yaml::sequence(field.shape.iter().map(|len| Yaml::int(*len as u64)))));
    }
    let flow = matches!(field.dtype, DType::Scalar(_)).then_some(Collection::Flow);
    let pairs = pairs.into_iter().map(|(key, value)| (Yaml::text(key), value)).collect();
    Ok(Yaml::Mapping(pairs, flow))
}

fn scalar_type(scalar: &Scalar, standard: Version) -> Result<Yaml> {
    let name = match (&scalar.kind, scalar.size) {
        (Kind::Bool, 1) => "bool8",
        (Kind::Int, 1) => "int8",
        (Kind::Int, 2) => "int16",
        (Kind::Int, 4) => "int32",
        (Kind::Int, 8) => "int64",
        (Kind::Uint, 1) => "uint8",
        (Kind::Uint, 2) => "uint16",
        (Kind::Uint, 4) => "uint32",
        (Kind::Uint, 8) => "uint64",
        (Kind::Float, 2) if has_float16(standard) => "float16",
        (Kind::Float, 4) => "float32",
        (Kind::Float, 8) => "float64",
        (Kind::Complex, 8) => "complex64",
        (Kind::Complex, 16) => "complex128",
        (Kind::Bytes, size) => return Ok(sized("ascii", size)),
        (Kind::Unicode, size) if size.is_multiple_of(4) => return Ok(sized("ucs4", size / 4)),
        (Kind::Float, 2) => {
            let what = format!("float16 arrays in version {standard} of the ASDF standard");
            return Err(Error::unsupported(what).with_hint("write version 1.6.0"));
        }
        _ => {
            let what = format!(
                "elements of type {}, which the ASDF standard has no name for",
                DType::Scalar(scalar.clone())
            );
            return Err(Error::unsupported(what));
        }
    };
    Ok(Yaml::text(name))
}

fn sized(name: &str, size: usize) -> Yaml {
    Yaml::Sequence(vec![Yaml::text(name), Yaml::int(size as u64)], Some(Collection::Flow))
}

const fn has_float16(standard: Version) -> bool {
    standard.major > 1 || standard.minor >= 6
}

/// Byte order of a type in the tree. Types without an order are written as big-endian, as Python asdf does.
fn order(scalar: &Scalar) -> &'static str {
    let dtype = DType::Scalar(scalar.clone());
    match (dtype.is_in_order(ByteOrder::Big), scalar.order) {
        (true, _) | (_, ByteOrder::Big) => "big",
        (false, ByteOrder::Little) => "little",
    }
}

fn first_order(record: &Record) -> Option<&'static str> {
    record.fields.first().and_then(|field| match &field.dtype {
        DType::Scalar(scalar) => Some(order(scalar)),
        DType::Record(record) => first_order(record),
    })
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;

    use super::*;

    /// The core schemas have float16 since 1.6.0.
    #[test]
    fn half_precision_is_in_the_standard_since_1_6() {
        let half = DType::parse("<f2").unwrap();
        for (standard, is_there) in
            [("1.0.0", false), ("1.5.0", false), ("1.6.0", true), ("1.7.0", true), ("2.0.0", true)]
        {
            let written = datatype(&half, Version::parse(standard).unwrap());
            assert_eq!(written.is_ok(), is_there, "{standard}");
            if let Err(error) = written {
                assert!(
                    matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some(),
                    "{error}"
                );
                assert!(error.to_string().contains(standard), "{error}");
            }
        }
    }

    #[test]
    fn sizes_of_elements_leave_gaps_out() {
        for (numpy, size) in [("<f8", 8), ("|S5", 5), ("[('a', '|u1'), ('b', '<i4', (2, 3))]", 25)] {
            assert_eq!(packed_size(&DType::parse(numpy).unwrap()), size, "{numpy}");
        }
        let field = |name: &str, dtype: &str, offset| {
            let dtype = DType::parse(dtype).unwrap();
            Field { name: name.to_owned(), title: None, dtype, shape: vec![], offset }
        };
        let aligned = Record { fields: vec![field("a", "|u1", 0), field("b", "<f8", 8)], size: 16 };
        assert_eq!(packed_size(&DType::Record(aligned)), 9);
    }
}
