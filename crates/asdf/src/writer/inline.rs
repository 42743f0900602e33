//! Arrays whose elements are stored in the tree.

use container_core::dtype::{ByteOrder, DType, Kind, Order, Record, Scalar};
use container_core::{Error, Result};

use super::datatype::datatype;
use super::plan::ArraySpec;
use super::root::{PREFIX, ndarray_tag};
use crate::header::Version;
use crate::yaml::{Collection, Yaml};

/// Limit of the elements of an inline array: a larger one is not readable for people any more.
const MAX_INLINE_ELEMENTS: u64 = 1 << 24;

/// The node of an array with its elements.
///
/// # Errors
/// `Unsupported` for a type without a name; `Usage` for another number of bytes, for invalid text, and for more elements than a tree should hold.
pub(super) fn node(spec: &ArraySpec, bytes: &[u8], standard: Version) -> Result<Yaml> {
    let (datatype, _) = datatype(&spec.dtype, standard)?;
    let len = spec.given_len()?;
    if bytes.len() as u64 != len {
        return Err(Error::usage(format!(
            "wrong number of bytes: {} (expected {len} for the array)",
            bytes.len()
        )));
    }
    let data = items(spec, bytes)?;
    let mut pairs = vec![("data", data)];
    pairs.extend(spec.mask.clone().map(|mask| ("mask", mask)));
    let shape = spec.shape.iter().map(|len| Yaml::int(*len)).collect();
    pairs.extend([("datatype", datatype), ("shape", Yaml::Sequence(shape, Some(Collection::Flow)))]);
    Ok(Yaml::mapping(pairs).tagged(ndarray_tag(standard)))
}

/// The elements as nested lists, in C order for any order of the bytes.
pub(crate) fn items(spec: &ArraySpec, bytes: &[u8]) -> Result<Yaml> {
    let elements = spec.shape.iter().fold(1, |count: u64, len| count.saturating_mul(*len));
    // Lists of empty lists take nodes as well.
    let lists =
        spec.shape.iter().take_while(|len| **len > 0).fold(1, |count: u64, len| count.saturating_mul(*len));
    if elements.max(lists) > MAX_INLINE_ELEMENTS {
        return Err(Error::usage(format!(
            "too many elements for a tree: {} (expected at most {MAX_INLINE_ELEMENTS})",
            elements.max(lists)
        )));
    }
    let itemsize = spec.dtype.itemsize();
    let mut steps = vec![0_usize; spec.shape.len()];
    let mut step = itemsize;
    let mut set = |axis: usize| {
        steps[axis] = step;
        step = step.saturating_mul(usize::try_from(spec.shape[axis]).unwrap_or(usize::MAX));
    };
    match spec.order {
        Order::C => (0..spec.shape.len()).rev().for_each(&mut set),
        Order::F => (0..spec.shape.len()).for_each(&mut set),
    }
    axis(&spec.dtype, &spec.shape, &steps, bytes, 0)
}

fn axis(dtype: &DType, shape: &[u64], steps: &[usize], bytes: &[u8], at: usize) -> Result<Yaml> {
    let (Some((len, shape)), Some((step, steps))) = (shape.split_first(), steps.split_first()) else {
        let item = bytes.get(at..at.saturating_add(dtype.itemsize()));
        return element(dtype, item.ok_or_else(|| Error::usage("an array ends before its last element"))?);
    };
    let count = usize::try_from(*len).unwrap_or(usize::MAX);
    let items: Result<Vec<Yaml>> = (0..count)
        .map(|index| axis(dtype, shape, steps, bytes, at.saturating_add(index.saturating_mul(*step))))
        .collect();
    Ok(Yaml::Sequence(items?, shape.is_empty().then_some(Collection::Flow)))
}

fn element(dtype: &DType, bytes: &[u8]) -> Result<Yaml> {
    match dtype {
        DType::Scalar(kind) => scalar(kind, bytes),
        DType::Record(record) => fields(record, bytes),
    }
}

/// A record is a list of its fields' values.
fn fields(record: &Record, bytes: &[u8]) -> Result<Yaml> {
    let field = |field: &container_core::dtype::Field| {
        let shape: Vec<u64> = field.shape.iter().map(|len| *len as u64).collect();
        let spec = ArraySpec::new(field.dtype.clone(), shape);
        let len = usize::try_from(spec.given_len()?).unwrap_or(usize::MAX);
        let bytes = bytes.get(field.offset..field.offset.saturating_add(len));
        items(&spec, bytes.ok_or_else(|| Error::usage("a field reaches past its record"))?)
    };
    let values: Result<Vec<Yaml>> = record.fields.iter().map(field).collect();
    Ok(Yaml::Sequence(values?, Some(Collection::Flow)))
}

/// Up to eight bytes as a number, most significant first.
fn number(bytes: impl DoubleEndedIterator<Item = u8>, order: ByteOrder) -> u64 {
    let join = |number: u64, byte: u8| number << 8 | u64::from(byte);
    match order {
        ByteOrder::Big => bytes.fold(0, join),
        ByteOrder::Little => bytes.rev().fold(0, join),
    }
}

fn scalar(scalar: &Scalar, bytes: &[u8]) -> Result<Yaml> {
    let raw = |bytes: &[u8]| number(bytes.iter().copied(), scalar.order);
    Ok(match &scalar.kind {
        Kind::Bool => Yaml::Bool(raw(bytes) != 0),
        Kind::Uint => Yaml::int(raw(bytes)),
        Kind::Int => {
            // The sign bit goes to the top and back.
            let shift = 64_u32.saturating_sub(u32::try_from(bytes.len().saturating_mul(8)).unwrap_or(64));
            Yaml::int((raw(bytes) << shift).cast_signed() >> shift)
        }
        Kind::Float => Yaml::Float(float(raw(bytes), bytes.len())),
        Kind::Complex => {
            let (real, imaginary) = bytes.split_at(bytes.len() / 2);
            let text = complex(float(raw(real), real.len()), float(raw(imaginary), imaginary.len()));
            Yaml::text(text).tagged(format!("{PREFIX}core/complex-1.0.0"))
        }
        Kind::Bytes => {
            let text = bytes.trim_ascii_end_nul();
            let text = std::str::from_utf8(text).ok().filter(|text| text.is_ascii());
            Yaml::text(text.ok_or_else(|| Error::usage("an ascii array with bytes that are not ASCII"))?)
        }
        Kind::Unicode => {
            let words: Vec<u32> =
                bytes.chunks_exact(4).map(|word| u32::try_from(raw(word)).unwrap_or(u32::MAX)).collect();
            let len = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
            let text: Option<String> = words[..len].iter().map(|word| char::from_u32(*word)).collect();
            Yaml::text(text.ok_or_else(|| Error::usage("a ucs4 array with invalid characters"))?)
        }
        _ => {
            return Err(Error::unsupported(format!(
                "elements of type {} in a tree",
                DType::Scalar(scalar.clone())
            )));
        }
    })
}

trait TrimNul {
    fn trim_ascii_end_nul(&self) -> &[u8];
}

impl TrimNul for [u8] {
    fn trim_ascii_end_nul(&self) -> &[u8] {
        let len = self.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        &self[..len]
    }
}

/// A number of 2, 4 or 8 bytes. Wider ones hold every narrower number.
fn float(raw: u64, len: usize) -> f64 {
    match len {
        8 => f64::from_bits(raw),
        4 => f64::from(f32::from_bits(u32::try_from(raw).unwrap_or_default())),
        _ => half(u16::try_from(raw).unwrap_or_default()),
    }
}

/// IEEE 754 binary16.
fn half(raw: u16) -> f64 {
    let sign = if raw & 0x8000 == 0 { 1.0 } else { -1.0 };
    let (exponent, fraction) = (i32::from(raw >> 10 & 0x1f), f64::from(raw & 0x3ff));
    sign * match exponent {
        0 => fraction * 2_f64.powi(-24),
        31 if fraction == 0.0 => f64::INFINITY,
        31 => f64::NAN,
        _ => (1024.0 + fraction) * 2_f64.powi(exponent - 25),
    }
}

/// `1.5-2.0i`, as the standard spells complex numbers.
pub(crate) fn complex(real: f64, imaginary: f64) -> String {
    let part = |value: f64| match value {
        value if value.is_nan() => "nan".to_owned(),
        value if value.is_infinite() => if value > 0.0 { "inf" } else { "-inf" }.to_owned(),
        value => format!("{value:?}"),
    };
    let imaginary = part(imaginary);
    let sign = if imaginary.starts_with('-') { "" } else { "+" };
    format!("{}{sign}{imaginary}i", part(real))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dtype: DType, shape: &[u64], bytes: &[u8]) -> Yaml {
        items(&ArraySpec::new(dtype, shape), bytes).unwrap()
    }

    #[test]
    fn numbers_are_read_in_their_order() {
        let big = |kind, size| DType::new(kind, size, ByteOrder::Big);
        assert_eq!(of(big(Kind::Int, 2), &[], &[0xff, 0xfe]), Yaml::int(-2));
        assert_eq!(of(big(Kind::Uint, 8), &[], &[0xff; 8]), Yaml::int(u64::MAX));
        assert_eq!(of(big(Kind::Int, 8), &[], &[0xff; 8]), Yaml::int(-1));
        assert_eq!(
            of(big(Kind::Float, 4), &[], &0.1_f32.to_be_bytes()),
            Yaml::Float(0.100_000_001_490_116_12)
        );
        let halves = [
            (0x3c00, 1.0),
            (0xc000, -2.0),
            (0x0001, 2_f64.powi(-24)),
            (0x7bff, 65504.0),
            (0x3555, 0.333_251_953_125),
        ];
        for (raw, value) in halves {
            assert_eq!(half(raw), value, "{raw:#x}");
        }
        assert!(half(0x7e00).is_nan() && half(0xfc00) == f64::NEG_INFINITY);
        assert_eq!(complex(1.0, -0.0), "1.0-0.0i");
        assert_eq!(complex(f64::NAN, f64::INFINITY), "nan+infi");
        assert_eq!(complex(1e-7, 1e22), "1e-7+1e22i");
    }

    #[test]
    fn columns_first_are_turned() {
        let spec = ArraySpec::new(DType::native(Kind::Uint, 1), [2, 3]).order(Order::F);
        let rows = [[0, 2, 4], [1, 3, 5]]
            .map(|row| Yaml::Sequence(row.map(Yaml::int).to_vec(), Some(Collection::Flow)));
        assert_eq!(items(&spec, &[0, 1, 2, 3, 4, 5]).unwrap(), Yaml::Sequence(rows.to_vec(), None));
    }

    #[test]
    fn text_ends_before_its_nuls() {
        assert_eq!(of(DType::new(Kind::Bytes, 4, ByteOrder::Little), &[], b"a\0b\0"), Yaml::text("a\0b"));
        let ucs4 = DType::new(Kind::Unicode, 8, ByteOrder::Big);
        assert_eq!(of(ucs4.clone(), &[], &[0, 1, 0xf6, 0, 0, 0, 0, 0]), Yaml::text("\u{1f600}"));
        assert!(items(&ArraySpec::new(ucs4, []), &[0xff; 8]).is_err());
        assert!(items(&ArraySpec::new(DType::new(Kind::Bytes, 1, ByteOrder::Little), []), &[0x80]).is_err());
    }

    #[test]
    fn lists_that_no_tree_should_hold_are_refused() {
        let spec = ArraySpec::new(DType::native(Kind::Uint, 1), [1 << 40, 0]);
        assert!(items(&spec, &[]).is_err());
        assert_eq!(of(DType::native(Kind::Uint, 1), &[0, 1 << 40], &[]), Yaml::Sequence(vec![], None));
    }
}
