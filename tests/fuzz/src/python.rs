//! Python literals and numpy's types as text.

use container_core::ErrorKind;
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::python_literal::{Literal, parse};

use crate::lens::look_at_error;

/// Parses a literal, and checks that it is spelled so that it parses as the same again.
pub fn literal_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    let literal = match parse(&text) {
        Ok(literal) => literal,
        Err(error) => {
            look_at_error(&error);
            assert!(error.range().is_some_and(|range| range.start <= text.len() as u64), "{error:?}");
            return;
        }
    };
    let json = literal.json();
    let read: Result<serde_json::Value, _> = serde_json::from_str(&json);
    assert!(read.is_ok(), "{json:?}: {read:?}");
    if is_finite(&literal) {
        let repr = literal.repr();
        assert_eq!(parse(&repr).ok().as_ref(), Some(&literal), "{repr:?}");
    }
}

/// False where a number was too large for a float: Python spells it `inf`, which is no literal.
fn is_finite(literal: &Literal) -> bool {
    match literal {
        Literal::Float(value) => value.is_finite(),
        Literal::List(items) | Literal::Tuple(items) => items.iter().all(is_finite),
        Literal::Dict(pairs) => pairs.iter().all(|(key, value)| is_finite(key) && is_finite(value)),
        _ => true,
    }
}

/// A type that is read is shown so that it reads as the same again.
pub fn dtype_parse(data: &[u8]) {
    let text = String::from_utf8_lossy(data);
    match DType::parse(&text) {
        Ok(dtype) => same_again(&dtype),
        Err(error) => look_at_error(&error),
    }
}

fn same_again(dtype: &DType) {
    let descr = dtype.descr();
    assert_eq!(parse(&descr.repr()).ok().as_ref(), Some(&descr));
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let ordered = dtype.with_order(order);
        assert!(ordered.is_in_order(order));
        assert_eq!(ordered.itemsize(), dtype.itemsize());
        let len = dtype.itemsize().saturating_mul(2);
        if len <= 1 << 12 {
            let items: Vec<u8> = (0..len).map(|at| at as u8).collect();
            let mut swapped = items.clone();
            if let Err(error) = dtype.swap_to(order, &mut swapped) {
                // Fields that overlap and would both have to be reversed, which only a dict can describe.
                let overlap = matches!(descr, Literal::Dict(_)) || descr.repr().contains("'offsets'");
                assert!(overlap && matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
                continue;
            }
            assert_eq!(dtype.is_in_order(order), ordered == *dtype);
            assert!(!dtype.is_in_order(order) || swapped == items);
        }
    }
    // One name stands for both byte orders of bfloat16.
    if !has_big_bfloat(dtype) {
        let (shown, written) = (dtype.to_string(), descr.repr());
        // JSON has a null among the titles where some fields of a dict have one and others do not.
        let is_shown = DType::parse(&shown).ok().as_ref() == Some(dtype);
        assert!(is_shown || shown.contains("null"), "{dtype:?} is shown as {shown}");
        assert_eq!(DType::parse(&written).ok().as_ref(), Some(dtype), "written as {written}");
    }
}

fn has_big_bfloat(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => scalar.kind == Kind::BFloat && scalar.order == ByteOrder::Big,
        DType::Record(record) => record.fields.iter().any(|field| has_big_bfloat(&field.dtype)),
    }
}
