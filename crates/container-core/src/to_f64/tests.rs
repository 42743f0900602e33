use super::*;
use crate::dtype::DType;

fn read(descr: &str, bytes: &[u8], part: ComplexPart) -> Vec<f64> {
    let dtype = DType::parse(descr).unwrap();
    let mut out = Vec::new();
    to_f64(dtype.as_scalar().unwrap(), bytes, part, &mut out);
    out
}

/// Expected values by numpy.
#[test]
fn numbers_of_every_kind_are_what_they_are_in_numpy() {
    assert_eq!(read("|b1", &[0, 1], ComplexPart::Abs), [0.0, 1.0]);
    assert_eq!(read("<i2", &[0xff, 0xff, 1, 0], ComplexPart::Abs), [-1.0, 1.0]);
    assert_eq!(read(">u4", &[0, 0, 1, 0], ComplexPart::Abs), [256.0]);
    assert_eq!(read("<u8", &[0xff; 8], ComplexPart::Abs), [18_446_744_073_709_551_615.0]);
    assert_eq!(read("<f2", &[0, 0x3c, 0, 0xfc], ComplexPart::Abs), [1.0, f64::NEG_INFINITY]);
    assert_eq!(read("bfloat16", &[0x80, 0x3f], ComplexPart::Abs), [1.0]);
    assert_eq!(read(">f4", &[0x3f, 0x80, 0, 0, 9], ComplexPart::Abs), [1.0]);
    assert!(read("|S2", b"ab", ComplexPart::Abs).is_empty());
}

#[test]
fn doubles_have_every_integer_up_to_the_fifty_third_power_of_two() {
    let most = 1_i128 << 53;
    assert_eq!([most as f64, (most + 1) as f64], [9_007_199_254_740_992.0; 2]);
    assert!([most, -most, 0].iter().all(|value| !is_beyond_f64(*value)));
    assert!([most + 1, -most - 1, i128::MAX, i128::MIN].iter().all(|value| is_beyond_f64(*value)));
}

#[test]
#[cfg_attr(miri, ignore = "Miri gives hypot and atan2 an error by chance")]
fn complex_numbers_yield_the_requested_part() {
    let bytes: Vec<u8> = [3.0_f32, -4.0].iter().flat_map(|part| part.to_le_bytes()).collect();
    assert_eq!(read("<c8", &bytes, ComplexPart::Abs), [5.0]);
    assert_eq!(read("<c8", &bytes, ComplexPart::Re), [3.0]);
    assert_eq!(read("<c8", &bytes, ComplexPart::Im), [-4.0]);
    assert_eq!(read("<c8", &bytes, ComplexPart::Phase), [-0.927_295_218_001_612_2]);
}

/// `numpy.percentile([0.0, 1.0, 4.0], …)`, and of numbers further apart than the greatest double.
#[test]
fn percentiles_interpolate_between_two_values() {
    let percentile = |values: &[f64], percent| {
        let (ranks, part) = percentile_ranks(percent, values.len() as u64);
        let [low, high] = ranks.map(|rank| values[usize::try_from(rank).unwrap()]);
        interpolate(low, high, part)
    };
    let of = |values: &[f64]| [0.0, 25.0, 50.0, 75.0, 100.0].map(|percent| percentile(values, percent));
    assert_eq!(of(&[0.0, 1.0, 4.0]), [0.0, 0.5, 1.0, 2.5, 4.0]);
    assert_eq!(of(&[-1.7e308, 1.7e308]), [-1.7e308, -8.5e307, 0.0, 8.5e307, 1.7e308]);
    assert_eq!(of(&[7.0]), [7.0; 5]);
    assert_eq!(percentile_ranks(50.0, 0), ([0, 0], 0.0));
}

/// Expected values by numpy.
#[test]
fn numbers_of_every_width_and_order_become_doubles() {
    for (descr, bytes, want) in [
        ("|i1", &[0xfe, 2][..], &[-2.0, 2.0][..]),
        ("|u1", &[0xfe, 2], &[254.0, 2.0]),
        (">i2", &[0xff, 0xfe], &[-2.0]),
        ("<u2", &[0xfe, 0xff], &[65534.0]),
        ("<i4", &[0xfe, 0xff, 0xff, 0xff], &[-2.0]),
        (">i8", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfd], &[-3.0]),
        (">u8", &[0, 0, 0, 0, 0, 0, 1, 0], &[256.0]),
        ("<f8", &[0, 0, 0, 0, 0, 0, 0xf8, 0x3f], &[1.5]),
        (">f8", &[0x3f, 0xf8, 0, 0, 0, 0, 0, 0], &[1.5]),
        (">f2", &[0x3c, 0], &[1.0]),
        ("<m8[s]", &[5, 0, 0, 0, 0, 0, 0, 0], &[5.0]),
        (">M8[ns]", &[0, 0, 0, 0, 0, 0, 0, 7], &[7.0]),
        ("|b1", &[0, 3], &[0.0, 1.0]),
    ] {
        assert_eq!(read(descr, bytes, ComplexPart::Abs), want, "{descr}");
    }
    let half = DType::new(Kind::Complex, 4, ByteOrder::Little);
    let mut modulus = Vec::new();
    to_f64(half.as_scalar().unwrap(), &[0, 0x42, 0, 0x44], ComplexPart::Abs, &mut modulus);
    assert_eq!(modulus, [5.0]);
    let pair: Vec<u8> = [3.0_f64, 4.0, 1.0, 0.0].iter().flat_map(|part| part.to_be_bytes()).collect();
    assert_eq!(read(">c16", &pair, ComplexPart::Im), [4.0, 0.0]);
    assert_eq!(read(">c16", &pair[..24], ComplexPart::Re), [3.0]);
}

#[test]
fn no_time_is_not_a_number() {
    for descr in ["<M8[s]", "<m8"] {
        let bytes = [i64::MIN.to_le_bytes(), (i64::MIN + 1).to_le_bytes()].concat();
        let times = read(descr, &bytes, ComplexPart::Abs);
        assert!(times[0].is_nan() && times[1] == -(2.0_f64.powi(63)), "{descr}");
    }
}

#[test]
fn types_that_are_not_numbers_become_none() {
    let numbers = [
        "|b1", "|i1", "<i2", "<i4", "<i8", "|u1", "<u2", "<u4", "<u8", "<f2", "<f4", "<f8", "bfloat16",
        "<c8", "<c16", "<M8[s]", "<m8",
    ];
    for (descrs, is) in [(&numbers[..], true), (&["|S1", "<U1", "|V2", "<f16", "<c32"][..], false)] {
        for descr in descrs {
            let dtype = DType::parse(descr).unwrap();
            assert_eq!(is_number(dtype.as_scalar().unwrap()), is, "{descr}");
            let read = read(descr, &[1; 64], ComplexPart::Abs);
            assert_eq!(read.len(), if is { 64 / dtype.itemsize() } else { 0 }, "{descr}");
        }
    }
}

/// numpy's `_lerp`: exact at both ends, and the same from the middle on as from the other end.
#[test]
#[allow(clippy::float_cmp)]
fn interpolation_is_from_the_nearer_end() {
    assert_eq!(interpolate(0.1, 0.7, 0.0), 0.1);
    assert_eq!(interpolate(0.1, 0.7, 1.0), 0.7);
    assert_eq!(interpolate(2.0, 10.0, 0.25), 4.0);
    assert_eq!(interpolate(2.0, 10.0, 0.75), 8.0);
    // From the lower end 0.5 would be another double.
    let (low, high) = (1.0, 1.0 + 3.0 * f64::EPSILON);
    assert_eq!(interpolate(low, high, 0.5), high - (high - low) * 0.5);
    assert!(
        interpolate(f64::NEG_INFINITY, 1.0, 0.5).is_infinite()
            || interpolate(f64::NEG_INFINITY, 1.0, 0.5).is_nan()
    );
    assert_eq!(interpolate(-1.7e308, 1.7e308, 0.75), 8.5e307);
}

#[test]
fn ranks_enclose_a_percentile() {
    assert_eq!(percentile_ranks(0.0, 5), ([0, 0], 0.0));
    assert_eq!(percentile_ranks(100.0, 5), ([4, 4], 0.0));
    assert_eq!(percentile_ranks(50.0, 5), ([2, 2], 0.0));
    assert_eq!(percentile_ranks(12.5, 5), ([0, 1], 0.5));
    assert_eq!(percentile_ranks(90.625, 5), ([3, 4], 0.625));
    assert_eq!(percentile_ranks(30.0, 1), ([0, 0], 0.0));
}
