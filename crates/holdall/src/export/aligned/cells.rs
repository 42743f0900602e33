//! Cells of equal width: the text of each element, padded as numpy pads elements of its type.

use container_core::dtype::{DType, Field, Record, Scalar};

use crate::repr::float::Float;
use crate::repr::{FieldMasks, Item, MISSING, field_bytes, is_missing, part, write_decoded};

/// The bytes of an element, and a byte for each of its scalars that is not 0 where one is missing; empty where none is.
#[derive(Clone, Debug, Default)]
pub(super) struct Cell {
    bytes: Vec<u8>,
    mask: Vec<u8>,
}

impl Cell {
    pub(super) fn new(bytes: &[u8], mask: &[u8]) -> Self {
        Self { bytes: bytes.to_vec(), mask: mask.to_vec() }
    }
}

/// The texts of elements of one type.
pub(super) fn aligned(dtype: &DType, cells: &[Cell]) -> Vec<String> {
    let parts: Vec<(&[u8], &[u8])> = cells.iter().map(|cell| (&cell.bytes[..], &cell.mask[..])).collect();
    elements(dtype, &parts)
}

fn elements(dtype: &DType, parts: &[(&[u8], &[u8])]) -> Vec<String> {
    match dtype {
        DType::Scalar(scalar) => scalars(scalar, parts),
        DType::Record(record) => records(record, parts),
    }
}

fn scalars(scalar: &Scalar, parts: &[(&[u8], &[u8])]) -> Vec<String> {
    let items: Vec<Option<Item<'_>>> = parts
        .iter()
        .map(|(bytes, mask)| if is_missing(mask) { None } else { Some(Item::decode(scalar, bytes)) })
        .collect();
    let is_text = |item: &Option<Item<'_>>| matches!(item, Some(Item::Text(_) | Item::Bytes(_)));
    let is_float = |item: &Option<Item<'_>>| matches!(item, None | Some(Item::Float(_)));
    let is_complex = |item: &Option<Item<'_>>| matches!(item, None | Some(Item::Complex(..)));
    if items.iter().all(Option::is_none) {
        return vec![MISSING.to_owned(); items.len()];
    }
    if items.iter().all(is_float) {
        let floats = items.iter().map(|item| match item {
            Some(Item::Float(value)) => Some(*value),
            _ => None,
        });
        return padded(floats_aligned(&floats.collect::<Vec<_>>(), ""), Side::Left);
    }
    if items.iter().all(is_complex) {
        return complexes(&items);
    }
    let side = if items.iter().any(is_text) { Side::Right } else { Side::Left };
    let texts = items.iter().map(|item| {
        let mut text = String::new();
        match item {
            None => text.push_str(MISSING),
            Some(item) => write_decoded(item, &mut text),
        }
        text
    });
    padded(texts.collect(), side)
}

/// Side of the blanks.
#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

fn padded(mut texts: Vec<String>, side: Side) -> Vec<String> {
    let width = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0);
    for text in &mut texts {
        *text = match side {
            Side::Left => format!("{text:>width$}"),
            Side::Right => format!("{text:<width$}"),
        };
    }
    texts
}

/// Parts of a float around its decimal point.
struct Split {
    whole: String,
    fraction: String,
}

/// Floats with their points below each other, in the fewest digits that distinguish them, as numpy prints them with `floatmode="unique"`. Where
/// the largest is 1e8 or more (1e6 and 1e3 for singles and halves), below 1e-4 or more than 1000 times the smallest, all have exponents.
/// `None` is missing; `plus` is the sign of positive numbers.
fn floats_aligned(values: &[Option<Float>], plus: &str) -> Vec<String> {
    let finite = || values.iter().flatten().filter(|value| value.value().is_finite());
    let magnitudes = || finite().map(|value| value.value().abs()).filter(|value| *value != 0.0);
    let (low, high) =
        magnitudes().fold((f64::INFINITY, 0.0_f64), |(low, high), value| (low.min(value), high.max(value)));
    let cutoff = values.iter().flatten().map(|value| value.scientific_from()).fold(1e8, f64::min);
    let has_exponents = high > 0.0 && (high >= cutoff || low < 1e-4 || high / low > 1000.0);
    let split: Vec<Option<(Split, String)>> = values
        .iter()
        .map(|value| {
            let value = (*value)?;
            let (digits, exponent) = value.shortest()?;
            let sign = if value.value().is_sign_negative() { "-" } else { plus };
            Some(if has_exponents {
                scientific(sign, &digits, exponent)
            } else {
                (positional(sign, &digits, exponent), String::new())
            })
        })
        .collect();
    let longest = |len: fn(&(Split, String)) -> usize| split.iter().flatten().map(len).max().unwrap_or(0);
    let whole = longest(|(split, _)| split.whole.len());
    let fraction = longest(|(split, _)| split.fraction.len());
    let digits = longest(|(_, exponent)| exponent.len().saturating_sub(1));
    let texts = split.iter().zip(values).map(|(split, value)| match (split, value) {
        (Some((Split { whole: left, .. }, exponent)), Some(value)) if has_exponents => {
            // All have as many digits as the longest, which for the others are those of their exact values.
            let exact = format!("{:.fraction$e}", value.value().abs());
            let (mantissa, _) = exact.split_once('e').unwrap_or((&exact, ""));
            let sign = left.get(..left.len().saturating_sub(1)).unwrap_or_default();
            let mantissa =
                if fraction == 0 { format!("{sign}{mantissa}.") } else { format!("{sign}{mantissa}") };
            let width = whole.saturating_add(fraction).saturating_add(1);
            // Exponents have one width: e-05, e+100.
            let (sign, number) = exponent.split_at_checked(1).unwrap_or(("", exponent));
            format!("{mantissa:>width$}e{sign}{number:0>digits$}")
        }
        (Some((Split { whole: left, fraction: right }, _)), _) => {
            format!("{left:>whole$}.{right:<fraction$}")
        }
        (None, None) => MISSING.to_owned(),
        (None, Some(value)) if value.value().is_nan() => format!("{plus}nan"),
        (None, Some(value)) => format!("{}inf", if value.value() < 0.0 { "-" } else { plus }),
    });
    texts.collect()
}

/// `123`, 1 as `12.3`; without digits behind the point nothing is there: `12.`.
fn positional(sign: &str, digits: &str, exponent: i32) -> Split {
    let point = usize::try_from(exponent.saturating_add(1)).unwrap_or(0);
    let zeros = usize::try_from(exponent.saturating_add(1).saturating_neg()).unwrap_or(0);
    let (whole, fraction) = digits.split_at_checked(point).unwrap_or((digits, ""));
    let whole = if whole.is_empty() { "0".to_owned() } else { format!("{whole:0<point$}") };
    let fraction = format!("{}{fraction}", "0".repeat(zeros));
    Split { whole: format!("{sign}{whole}"), fraction: fraction.trim_end_matches('0').to_owned() }
}

/// `123`, 1 as `1.23` and `+01`.
fn scientific(sign: &str, digits: &str, exponent: i32) -> (Split, String) {
    let (whole, fraction) = digits.split_at_checked(1).unwrap_or(("0", ""));
    let fraction = fraction.trim_end_matches('0').to_owned();
    (
        Split { whole: format!("{sign}{whole}"), fraction },
        format!("{}{:02}", if exponent < 0 { '-' } else { '+' }, exponent.unsigned_abs()),
    )
}

/// Complex numbers, their real and imaginary parts aligned apart: `1. +2.j`.
fn complexes(items: &[Option<Item<'_>>]) -> Vec<String> {
    let part = |which: fn(Float, Float) -> Float| -> Vec<Float> {
        let parts = items.iter().filter_map(|item| match item {
            Some(Item::Complex(re, im)) => Some(which(*re, *im)),
            _ => None,
        });
        parts.collect()
    };
    let (re, im) = (part(|re, _| re), part(|_, im| im));
    let some = |values: Vec<Float>| values.into_iter().map(Some).collect::<Vec<_>>();
    let re = padded(floats_aligned(&some(re), ""), Side::Left);
    let im = padded(floats_aligned(&some(im), "+"), Side::Left);
    let mut both = re.iter().zip(&im);
    let texts = items.iter().map(|item| match item.as_ref().and_then(|_| both.next()) {
        None => MISSING.to_owned(),
        Some((re, im)) => {
            let digits = im.trim_end_matches(' ');
            format!("{re}{digits}j{}", im.get(digits.len()..).unwrap_or_default())
        }
    });
    padded(texts.collect(), Side::Left)
}

/// Records with each field aligned: `(1, 2.5 )`.
fn records(record: &Record, parts: &[(&[u8], &[u8])]) -> Vec<String> {
    let mut masks: Vec<FieldMasks<'_>> = parts.iter().map(|(_, mask)| FieldMasks::new(mask)).collect();
    let mut texts = vec![String::from("("); parts.len()];
    for (at, field) in record.fields.iter().enumerate() {
        let values: Vec<(&[u8], &[u8])> = parts
            .iter()
            .zip(&mut masks)
            .map(|((bytes, _), masks)| (field_bytes(field, bytes), masks.next(field)))
            .collect();
        for (text, value) in texts.iter_mut().zip(field_texts(field, &values)) {
            text.push_str(if at > 0 { ", " } else { "" });
            text.push_str(&value);
        }
    }
    let end = if record.fields.len() == 1 { ",)" } else { ")" };
    texts.iter_mut().for_each(|text| text.push_str(end));
    texts
}

/// A field of several records, its sub-array in brackets.
fn field_texts(field: &Field, values: &[(&[u8], &[u8])]) -> Vec<String> {
    if field.shape.is_empty() {
        return elements(&field.dtype, values);
    }
    // Items without bytes are not spelled out: a type may claim any number of them.
    let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
    let count = if values.first().is_none_or(|(bytes, _)| bytes.is_empty()) { 0 } else { count };
    let items: Vec<(&[u8], &[u8])> = values
        .iter()
        .flat_map(|(bytes, mask)| (0..count).map(move |at| (part(bytes, at, count), part(mask, at, count))))
        .collect();
    let texts = elements(&field.dtype, &items);
    let shape = if count == 0 { &[0][..] } else { &field.shape };
    let mut chunks = texts.chunks(count.max(1));
    values.iter().map(|_| nested(shape, chunks.next().unwrap_or_default())).collect()
}

fn nested(shape: &[usize], texts: &[String]) -> String {
    let Some((count, inner)) = shape.split_first() else { return texts.concat() };
    let len = texts.len().checked_div(*count).unwrap_or(0).max(1);
    let parts: Vec<String> = texts.chunks(len).map(|texts| nested(inner, texts)).collect();
    format!("[{}]", parts.join(", "))
}
