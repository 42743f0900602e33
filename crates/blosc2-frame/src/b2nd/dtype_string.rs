//! The element type as python-blosc2 writes it into the metalayer.
//!
//! That is `dtype.str` for scalars and `str(dtype)` for records: a list of fields without gaps, else a dict with their offsets.
//! Within either, `str` leaves out the `|` of types without a byte order and calls bool `?`. (python-blosc2 before 4 refuses the
//! dict.)

use container_core::dtype::{DType, Field, Record};
use container_core::python_literal::Literal;
use container_core::{Error, Result};

/// Returns the text for the metalayer.
///
/// # Errors
/// `Unsupported` for types that numpy lacks: bfloat16, integers of odd widths.
pub(super) fn text(dtype: &DType) -> Result<String> {
    if !dtype.is_plain_numpy() {
        return Err(Error::unsupported(format!(
            "{dtype} is not an element type of numpy, which arrays need"
        ))
        .with_hint(format!("its bytes can be stored as |V{}", dtype.itemsize())));
    }
    Ok(match dtype {
        DType::Scalar(_) => dtype.to_string(),
        DType::Record(record) => describe(record).repr(),
    })
}

fn describe(record: &Record) -> Literal {
    if is_packed(record) {
        let item = |field: &Field| {
            let mut item = vec![name(field), format(&field.dtype)];
            if !field.shape.is_empty() {
                item.push(lens(&field.shape));
            }
            Literal::Tuple(item)
        };
        return Literal::List(record.fields.iter().map(item).collect());
    }
    let of = |item: fn(&Field) -> Literal| Literal::List(record.fields.iter().map(item).collect());
    let key = |text: &str| Literal::Str(text.into());
    let mut pairs = vec![
        (key("names"), of(|field| Literal::Str(field.name.clone()))),
        (key("formats"), of(whole_format)),
        (key("offsets"), of(|field| number(field.offset))),
    ];
    if record.fields.iter().any(|field| field.title.is_some()) {
        pairs.push((key("titles"), of(|field| field.title.clone().map_or(Literal::None, Literal::Str))));
    }
    pairs.push((key("itemsize"), number(record.size)));
    Literal::Dict(pairs)
}

/// Whether every field begins at the end of the one before, and the record ends with the last.
fn is_packed(record: &Record) -> bool {
    let mut end = 0_usize;
    record.fields.iter().all(|field| {
        let fits = field.offset == end;
        let count = field.shape.iter().fold(1_usize, |count, len| count.saturating_mul(*len));
        end = end.saturating_add(field.dtype.itemsize().saturating_mul(count));
        fits
    }) && end == record.size
}

fn name(field: &Field) -> Literal {
    let name = Literal::Str(field.name.clone());
    match &field.title {
        Some(title) => Literal::Tuple(vec![Literal::Str(title.clone()), name]),
        None => name,
    }
}

fn whole_format(field: &Field) -> Literal {
    match field.shape.as_slice() {
        [] => format(&field.dtype),
        shape => Literal::Tuple(vec![format(&field.dtype), lens(shape)]),
    }
}

fn format(dtype: &DType) -> Literal {
    match dtype {
        DType::Record(record) => describe(record),
        DType::Scalar(_) => {
            let text = dtype.to_string();
            let text = match text.strip_prefix('|') {
                Some("b1") => "?".to_owned(),
                Some(short) => short.to_owned(),
                None => text,
            };
            Literal::Str(text)
        }
    }
}

fn lens(shape: &[usize]) -> Literal {
    Literal::Tuple(shape.iter().map(|len| number(*len)).collect())
}

fn number(number: usize) -> Literal {
    Literal::Int(number as i128)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Left what `numpy.dtype` is given, right what python-blosc2 4.14.1 wrote for it (with numpy 2).
    #[test]
    fn types_are_spelled_as_python_spells_them() {
        let cases = [
            ("i4", "<i4"),
            (">f8", ">f8"),
            ("U7", "<U7"),
            ("S3", "|S3"),
            ("V10", "|V10"),
            ("M8[ns]", "<M8[ns]"),
            ("?", "|b1"),
            ("m8", "<m8"),
            (
                "[('a', 'i4'), ('b', 'U3'), ('c', 'f4', (2, 3))]",
                "[('a', '<i4'), ('b', '<U3'), ('c', '<f4', (2, 3))]",
            ),
            (
                "[('a', 'i2'), ('n', [('x', 'i1'), ('y', 'f4')])]",
                "[('a', '<i2'), ('n', [('x', 'i1'), ('y', '<f4')])]",
            ),
            ("[(('t', 'a'), 'i4')]", "[(('t', 'a'), '<i4')]"),
            ("[('é\"\\'', 'i4')]", "[('é\"\\'', '<i4')]"),
            (
                "{'names': ['a', 'b'], 'formats': ['i4', 'f8'], 'offsets': [0, 8], 'itemsize': 16}",
                "{'names': ['a', 'b'], 'formats': ['<i4', '<f8'], 'offsets': [0, 8], 'itemsize': 16}",
            ),
            (
                "{'names': ['a', 'b'], 'formats': ['i4', 'i2'], 'offsets': [0, 2]}",
                "{'names': ['a', 'b'], 'formats': ['<i4', '<i2'], 'offsets': [0, 2], 'itemsize': 4}",
            ),
            ("[('s', 'S5'), ('v', 'V3'), ('q', '?')]", "[('s', 'S5'), ('v', 'V3'), ('q', '?')]"),
        ];
        for (given, want) in cases {
            let dtype = DType::parse(given).unwrap();
            let written = text(&dtype).unwrap();
            assert_eq!(written, want, "{given}");
            assert_eq!(DType::parse(&written).unwrap(), dtype, "{given}");
        }
    }

    #[test]
    fn dtypes_missing_in_numpy_are_refused() {
        let error = text(&DType::parse("bfloat16").unwrap()).unwrap_err();
        assert!(matches!(error.kind(), container_core::ErrorKind::Unsupported(_)));
    }
}
