//! Element types in Zarr's words, with the fill value whose bytes are all zero.

use container_core::dtype::{DType, Kind, Scalar};
use serde_json::{Map, Value as Json, json};

/// A type as written in the metadata.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ZarrType {
    pub(super) name: Json,
    pub(super) fill: Json,
    /// True where the codec `bytes` needs an order.
    pub(super) has_order: bool,
}

/// Zarr's type for elements of `dtype`, little-endian, records packed; `None` for types that zarr-python cannot read.
pub(super) fn zarr_type(dtype: &DType) -> Option<ZarrType> {
    let record = match dtype {
        DType::Scalar(scalar) => return of_scalar(scalar),
        DType::Record(record) => record,
    };
    let (mut fields, mut fill) = (Vec::new(), Map::new());
    for field in &record.fields {
        // It cannot hold sub-arrays.
        let of_field = zarr_type(&field.dtype).filter(|_| field.shape.is_empty())?;
        fields.push(json!({ "name": field.name, "data_type": of_field.name }));
        fill.insert(field.name.clone(), of_field.fill);
    }
    let name = json!({ "name": "struct", "configuration": { "fields": fields } });
    (!record.fields.is_empty()).then(|| ZarrType { name, fill: fill.into(), has_order: true })
}

/// Opaque bytes.
pub(super) fn raw(size: usize) -> ZarrType {
    // Base64 of zeros.
    let tail = ["", "AA==", "AAA="].get(size % 3).copied().unwrap_or_default();
    let fill = format!("{}{tail}", "AAAA".repeat(size / 3));
    of_bytes("raw_bytes", size, fill)
}

fn of_bytes(name: &str, size: usize, fill: String) -> ZarrType {
    let name = json!({ "name": name, "configuration": { "length_bytes": size } });
    ZarrType { name, fill: fill.into(), has_order: false }
}

fn of_scalar(scalar: &Scalar) -> Option<ZarrType> {
    let Scalar { kind, size, .. } = scalar;
    let bits = size.checked_mul(8)?;
    let plain = |name: String, fill: Json| ZarrType { name: name.into(), fill, has_order: *size > 1 };
    Some(match (kind, size) {
        (_, 0) => return None,
        (Kind::Bool, 1) => plain("bool".into(), false.into()),
        (Kind::Int, 1 | 2 | 4 | 8) => plain(format!("int{bits}"), 0.into()),
        (Kind::Uint, 1 | 2 | 4 | 8) => plain(format!("uint{bits}"), 0.into()),
        (Kind::Float, 2 | 4 | 8) => plain(format!("float{bits}"), 0.0.into()),
        (Kind::Complex, 8 | 16) => plain(format!("complex{bits}"), json!([0.0, 0.0])),
        (Kind::Bytes, _) => of_bytes("null_terminated_bytes", *size, String::new()),
        (Kind::Unicode, _) if size.is_multiple_of(4) => {
            ZarrType { has_order: true, ..of_bytes("fixed_length_utf32", *size, String::new()) }
        }
        (Kind::Void, _) => raw(*size),
        (Kind::Datetime(unit), 8) => of_time("numpy.datetime64", unit)?,
        (Kind::Timedelta(unit), 8) => of_time("numpy.timedelta64", unit)?,
        _ => return None,
    })
}

/// `unit` in numpy's spelling: `[ns]`, `[25s]`, or empty for the generic one.
fn of_time(name: &str, unit: &str) -> Option<ZarrType> {
    let inner = unit.trim_start_matches('[').trim_end_matches(']');
    let word = inner.trim_start_matches(|c: char| c.is_ascii_digit());
    let factor = inner.strip_suffix(word)?;
    let factor: u32 = if factor.is_empty() { 1 } else { factor.parse().ok()? };
    let word = if word.is_empty() { "generic" } else { word };
    let name = json!({ "name": name, "configuration": { "unit": word, "scale_factor": factor } });
    Some(ZarrType { name, fill: 0.into(), has_order: true })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_have_the_names_that_zarr_python_gives_them() {
        let cases = [
            ("|b1", json!("bool")),
            ("|u1", json!("uint8")),
            (">i8", json!("int64")),
            ("<f2", json!("float16")),
            ("<c16", json!("complex128")),
            ("|S5", json!({"name": "null_terminated_bytes", "configuration": {"length_bytes": 5}})),
            ("<U7", json!({"name": "fixed_length_utf32", "configuration": {"length_bytes": 28}})),
            ("|V8", json!({"name": "raw_bytes", "configuration": {"length_bytes": 8}})),
            (
                "<M8[ns]",
                json!({"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 1}}),
            ),
            (
                "<m8[25s]",
                json!({"name": "numpy.timedelta64", "configuration": {"unit": "s", "scale_factor": 25}}),
            ),
        ];
        for (dtype, name) in cases {
            assert_eq!(zarr_type(&DType::parse(dtype).unwrap()).unwrap().name, name, "{dtype}");
        }
        for none in ["bfloat16", "<f16", "<c32", "|S0", "[['a', '<i4', [2]]]", "[['a', 'bfloat16']]"] {
            assert_eq!(zarr_type(&DType::parse(none).unwrap()), None, "{none}");
        }
        assert_eq!([1, 2, 3, 8].map(|size| raw(size).fill), ["AA==", "AAA=", "AAAA", "AAAAAAAAAAA="]);
        let record = zarr_type(&DType::parse("[['a', '<i4'], ['b', '|S2']]").unwrap()).unwrap();
        assert_eq!(record.fill, json!({"a": 0, "b": ""}));
    }
}
