use super::*;
use crate::testing::Memory;
use container_core::dtype::Order;

fn stats(dtype: &str, shape: &[u64], bytes: &[u8], memory: u64) -> Vec<Stat> {
    let container = Memory::new().with("data", dtype, shape, bytes);
    let limits = container_core::Limits::default().with_memory(memory);
    let read = ReadOptions::default().with_threads(3).with_limits(limits);
    stat(&container, 0, &Region::whole(shape), &read, Progress::none()).unwrap()
}

/// `numpy` of the same values: `np.percentile`, `mean`, `std`, without values that are not finite.
#[test]
fn floats_are_measured_as_numpy_does() {
    let values: Vec<f32> = (0..1000).map(|at| ((at * 7919) % 1000) as f32 / 8.0).collect();
    let mut bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    for odd in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::INFINITY] {
        bytes.extend(odd.to_le_bytes());
    }
    // The least memory takes more passes than two.
    for memory in [1 << 30, 20_000, 4000] {
        let [stat] = &stats("<f4", &[1004], &bytes, memory)[..] else { panic!("one column") };
        assert_eq!((stat.count, stat.nan, stat.negative_infinity, stat.positive_infinity), (1004, 1, 1, 2));
        let found = stat.summary.as_ref().unwrap();
        assert_eq!((found.min, found.max), (Number::Float(0.0), Number::Float(124.875)));
        // Pieces are added up one by one, so the last digit depends on their length.
        assert!((found.mean - 62.4375).abs() < 1e-12);
        assert!((found.std - 36.084_373_782_151_19).abs() < 1e-12);
        let percentiles = [1.24875, 6.24375, 31.218_75, 62.4375, 93.656_25, 118.631_25, 123.626_25];
        assert_eq!(found.percentiles, percentiles.map(Number::Float));
        assert_eq!(found.histogram.counts.iter().sum::<u64>(), 1000);
    }
}

#[test]
fn integers_are_exact_where_doubles_are_not() {
    let bytes: Vec<u8> = [u64::MAX, u64::MAX - 1, 1].iter().flat_map(|value| value.to_be_bytes()).collect();
    let [stat] = &stats(">u8", &[3], &bytes, 1 << 30)[..] else { panic!("one column") };
    let found = stat.summary.as_ref().unwrap();
    assert_eq!(found.max, Number::Integer(u64::MAX.into()));
    assert_eq!(found.sum, Number::Integer(2 * i128::from(u64::MAX)));
    let json = stat_json("f", "data", None, stat);
    assert_eq!(json["max"], u64::MAX);
    assert_eq!(json["sum"], "36893488147419103230");
}

/// Numbers that doubles round to multiples of 256: `np.std` of their differences to the first equals theirs.
#[test]
fn integers_beyond_two_to_the_53_are_distinguished() {
    let start = 1_i64 << 60;
    let bytes: Vec<u8> = (0..1000).flat_map(|at| (start + (at * 7919) % 1000).to_le_bytes()).collect();
    for memory in [1 << 30, 20_000, 4000] {
        let [stat] = &stats("<i8", &[1000], &bytes, memory)[..] else { panic!("one column") };
        let found = stat.summary.as_ref().unwrap();
        assert!((found.std - 288.674_990_257_209_5).abs() < 1e-9, "{}", found.std);
        let percentiles = [9, 49, 249, 499, 749, 949, 989].map(|at| Number::Integer((start + at).into()));
        assert_eq!(found.percentiles, percentiles);
        let counts = &found.histogram.counts;
        assert!(counts.iter().all(|count| (31..=32).contains(count)), "{counts:?}");
        assert_eq!((found.histogram.low, found.histogram.high), (start as f64, (start + 999) as f64));
    }
    let wide: Vec<u8> = [i64::MIN, i64::MAX, 0, 1].iter().flat_map(|value| value.to_le_bytes()).collect();
    let [stat] = &stats("<i8", &[4], &wide, 1 << 30)[..] else { panic!("one column") };
    let found = stat.summary.as_ref().unwrap();
    // numpy's, of the doubles.
    assert!((found.std / 6.521_908_912_666_392e18 - 1.0).abs() < 1e-12, "{}", found.std);
    assert_eq!(found.histogram.counts.iter().sum::<u64>(), 4);
}

/// First numbers, steps between them, and the mean and deviation.
const OFFSETS: [(f64, f64, f64, f64); 3] = [
    (1000000000.0, 0.015625, 0.7734375, 0.4510323444956581),
    (1000000000000.0, 0.015625, 0.7734375, 0.4510323444956581),
    (1000000000000000.0, 1.0, 49.5, 28.86607004772212),
];

/// Expected: the root of the mean of the exact squares, by Python's fractions, of a hundred numbers that come equally often.
#[test]
fn far_from_zero_deviations_are_those_of_the_numbers() {
    for (offset, unit, mean, deviation) in OFFSETS {
        let numbers = (0..100_000_u64).map(|at| offset + (at * 7919 % 100) as f64 * unit);
        let bytes: Vec<u8> = numbers.flat_map(f64::to_le_bytes).collect();
        let [stat] = &stats("<f8", &[100_000], &bytes, 1 << 30)[..] else { panic!("one column") };
        let found = stat.summary.as_ref().unwrap();
        assert_eq!(found.mean, offset + mean, "{offset}");
        assert!((found.std / deviation - 1.0).abs() < 1e-13, "{offset}: {} {deviation}", found.std);
    }
}

/// Exact, rounded down: by Python's integers.
#[test]
fn percentiles_of_integers_beyond_doubles_are_exact() {
    let percentiles = |descr: &str, values: [i64; 2]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let [stat] = &stats(descr, &[2], &bytes, 1 << 30)[..] else { panic!("one column") };
        stat.summary.as_ref().unwrap().percentiles
    };
    let of_signed = percentiles("<i8", [-i64::MAX, 0]);
    assert_eq!(of_signed[3], Number::Integer(-4_611_686_018_427_387_904));
    assert_eq!(of_signed[5], Number::Integer(-461_168_601_842_738_791));
    let of_unsigned = percentiles("<u8", [i64::MIN, -1]);
    assert_eq!(of_unsigned[0], Number::Integer(9_315_605_757_223_323_566));
}

/// numpy's: `np.percentile([-3, 0, 2**60], [1, 5, 25, 50])`. Distant values do not round near ones.
#[test]
fn percentiles_between_small_integers_are_doubles_whatever_else_there_is() {
    let percentiles = |values: &[i64]| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let [stat] = &stats("<i8", &[values.len() as u64], &bytes, 1 << 30)[..] else { panic!("one column") };
        stat.summary.as_ref().unwrap().percentiles
    };
    let (float, far) = (Number::Float, 1_i64 << 60);
    let found = percentiles(&[-3, 0, far]);
    assert_eq!(found[..4], [float(-2.94), float(-2.7), float(-1.5), float(0.0)]);
    assert_eq!(found[4], Number::Integer(1 << 59));
    // 2⁵³ is a double, the integer after it is not.
    let most = 1_i64 << 53;
    assert_eq!(percentiles(&[most - 3, most - 2, far])[2], float((most - 2) as f64));
    assert_eq!(percentiles(&[most - 2, most + 1, far])[2], Number::Integer((most - 1).into()));
    assert_eq!(percentiles(&[-far, 1, 2])[4], float(1.5));
    // From 0, too, all the digits there are.
    assert_eq!(percentiles(&[0, far + 1, far + 3])[4], Number::Integer((far + 2).into()));
}

#[test]
fn dates_are_dates_and_nat_is_counted() {
    let times = [1_700_000_000_000_000_001_i64, 1_700_000_000_000_000_003, i64::MIN];
    let bytes: Vec<u8> = times.iter().flat_map(|value| value.to_le_bytes()).collect();
    let [stat] = &stats("<M8[ns]", &[3], &bytes, 1 << 30)[..] else { panic!("one column") };
    assert_eq!((stat.nan, stat.of), (1, Measured::Dates));
    let json = stat_json("f", "data", Some("0:3"), stat);
    assert_eq!(json["min"], "2023-11-14T22:13:20.000000001");
    assert_eq!(json["percentiles"]["50"], "2023-11-14T22:13:20.000000002");
    assert_eq!(json["mean"], serde_json::Value::Null);
}

#[test]
fn records_are_measured_by_field_and_strings_by_length() {
    let container = Memory::new();
    let descr = r"[('x', '<i2', (2,)), ('name', '|S3')]";
    let dtype = DType::parse(descr).unwrap();
    let container =
        container.with_type("data", dtype, &[2], Order::C, b"\x01\0\xff\xffab\0\x02\0\x03\0\0\0\0");
    let read = ReadOptions::default();
    let found = stat(&container, 0, &Region::whole(&[2]), &read, Progress::none()).unwrap();
    let [x, name] = &found[..] else { panic!("two fields") };
    assert_eq!((x.field.as_deref(), x.count), (Some("x"), 4));
    assert_eq!(x.summary.as_ref().unwrap().sum, Number::Integer(5));
    assert_eq!((name.of, name.count, name.empty), (Measured::Length, 2, 1));
    assert_eq!(name.summary.as_ref().unwrap().max, Number::Integer(2));
}

#[test]
fn summary_requires_measurable_finite_values() {
    let [none] = &stats("<f8", &[0, 3], &[], 1 << 30)[..] else { panic!("one column") };
    assert!(none.count == 0 && none.summary.is_none());
    let [nan] = &stats("<f8", &[1], &f64::NAN.to_le_bytes(), 1 << 30)[..] else { panic!("one column") };
    assert!(nan.nan == 1 && nan.summary.is_none());
    let [opaque] = &stats("|V3", &[2], &[0; 6], 1 << 30)[..] else { panic!("one column") };
    assert!(opaque.count == 2 && opaque.of == Measured::Nothing && opaque.summary.is_none());
}

#[test]
fn full_f64_range_is_summarised_without_overflow() {
    let bytes: Vec<u8> = [f64::MIN, f64::MAX, 0.0].iter().flat_map(|value| value.to_le_bytes()).collect();
    let [stat] = &stats("<f8", &[3], &bytes, 1 << 30)[..] else { panic!("one column") };
    let found = stat.summary.as_ref().unwrap();
    assert_eq!((found.mean, found.histogram.counts[0], found.histogram.counts[31]), (0.0, 1, 1));
    // Between neighbours that are further apart than the greatest double.
    let bytes: Vec<u8> = [f64::MIN, f64::MAX].iter().flat_map(|value| value.to_le_bytes()).collect();
    let [stat] = &stats("<f8", &[2], &bytes, 1 << 30)[..] else { panic!("one column") };
    let quarter = f64::MAX / 2.0;
    let percentiles = &stat.summary.as_ref().unwrap().percentiles;
    assert_eq!(percentiles[2..5], [-quarter, 0.0, quarter].map(Number::Float));
}

/// Squares of these numbers exceed doubles. Expected: the root of the mean of the squares of exact differences, with Python's fractions.
#[test]
fn deviation_is_accurate_when_squares_exceed_f64_range() {
    let most = f64::MAX;
    let least = 5e-324;
    let mut mixed = vec![0.0; 5000];
    mixed.extend((0..5000_u32).map(|at| f64::from(at % 10) * 1e-200));
    let mut steps: Vec<f64> =
        (0..10_000_u32).map(|at| 1e300 + f64::from(at * 7919 % 10_000) * 1e296).collect();
    let cases: [(&[f64], f64); 8] = [
        (&[1e200, 3e200], 1e200),
        (&[-most, most], most),
        (&[-most, most, 0.0, 1.0], 1.271_161_006_153_646_2e308),
        (&[1e160, 1e160, 1e160], 0.0),
        (&[least, 3.0 * least], least),
        (&[1e-170, -2e-170, 5e-170], 2.867_441_755_680_875_6e-170),
        (&mixed, 3.031_088_913_245_535_2e-200),
        (&steps, 2.886_751_331_514_372e299),
    ];
    let std = |values: &[f64], memory: u64| {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let [stat] = &stats("<f8", &[values.len() as u64], &bytes, memory)[..] else { panic!("one column") };
        stat.summary.as_ref().unwrap().std
    };
    for (values, expected) in cases {
        // Of pieces, too, which are added up.
        for memory in [1 << 30, 40_000] {
            let found = std(values, memory);
            assert!((found - expected).abs() <= 2e-13 * expected, "{:?}: {found} {expected}", values.first());
        }
    }
    // A constant far away from the others.
    steps.truncate(5000);
    steps.fill(most);
    steps.extend([-most; 5000]);
    assert!((std(&steps, 40_000) / most - 1.0).abs() < 1e-14);
}

#[test]
fn masked_elements_are_counted_and_excluded() {
    let shape = [2, 3];
    let bytes: Vec<u8> = [1_i16, -999, 3, 4, -999, 7].iter().flat_map(|value| value.to_le_bytes()).collect();
    let records: Vec<u8> = (0..24).collect();
    let memory = Memory::new()
        .with("numbers", "<i2", &shape, &bytes)
        .with("records", r#"[["a","|u1"],["b","|u1",[3]]]"#, &shape, &records)
        .with("opaque", "|V4", &shape, &records);
    let mask = [0, 1, 0, 0, 1, 0];
    let memory =
        ["numbers", "records", "opaque"].iter().fold(memory, |memory, path| memory.masked(path, &mask));
    let measured = |index, region: &str| {
        let region = Region::parse(region, &shape).unwrap();
        stat(&memory, index, &region, &ReadOptions::default().with_threads(2), Progress::none()).unwrap()
    };
    let numbers = |region| {
        let [stat] = &measured(0, region)[..] else { panic!("one column") };
        let found = stat.summary.as_ref().map(|found| (found.min, found.sum));
        assert_eq!(stat_json("f", "numbers", None, stat)["masked"], stat.masked);
        (stat.count, stat.masked, found)
    };
    let integer = Number::Integer;
    assert_eq!(numbers(""), (6, 2, Some((integer(1), integer(15)))));
    assert_eq!(numbers("1, ::-1"), (3, 1, Some((integer(4), integer(11)))));
    assert_eq!(numbers(":, 1"), (2, 2, None));
    let [a, b] = &measured(1, "")[..] else { panic!("two fields") };
    // numpy: np.ma.array(np.arange(24).reshape(6, 4), mask=[[m] * 4 for m in mask]).sum(0) is 40, 44, 48, 52.
    assert_eq!((a.masked, a.summary.as_ref().unwrap().sum), (2, integer(40)));
    assert_eq!((b.count, b.masked, b.summary.as_ref().unwrap().sum), (18, 6, integer(44 + 48 + 52)));
    let [opaque] = &measured(2, "")[..] else { panic!("one column") };
    assert_eq!((opaque.count, opaque.masked), (6, 2));
}

/// numpy: `np.ma.array(a, mask=m)['x'].sum()` and the like, for a mask of the fields.
#[test]
fn a_mask_of_fields_hides_in_each_column_what_is_its_own() {
    let dtype = r#"[["x","|u1"],["p",[["y","|u1"],["z","|u1",[2]]]]]"#;
    let bytes = [1, 10, 20, 21, 2, 11, 30, 31, 3, 12, 40, 41];
    let mask = [0, 1, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0];
    let memory = Memory::new().with("r", dtype, &[3], &bytes).masked("r", &mask);
    let found = stat(&memory, 0, &Region::whole(&[3]), &ReadOptions::default(), Progress::none()).unwrap();
    let told: Vec<_> = found
        .iter()
        .map(|stat| {
            (stat.field.as_deref().unwrap(), stat.count, stat.masked, stat.summary.as_ref().unwrap().sum)
        })
        .collect();
    let integer = Number::Integer;
    assert_eq!(
        told,
        [("x", 3, 2, integer(1)), ("p.y", 3, 1, integer(11 + 12)), ("p.z", 6, 2, integer(20 + 21 + 30 + 41))]
    );
}

/// Arrays as Blosc2 stores them, and the same values in memory, which are walked.
#[cfg(feature = "blosc2")]
mod of_one_value {
    use blosc2_frame::b2nd::{Fill, NdOptions, write_array_to, write_filled};
    use container_core::Result;
    use container_core::array::Array;
    use container_core::dtype::DType;
    use container_core::format::Input;

    use super::*;

    fn opened(frame: Vec<u8>) -> Box<dyn Container> {
        let input = Input::bytes(Box::new(frame));
        (blosc2_frame::FORMAT.open)(input, &container_core::container::OpenOptions::default()).unwrap()
    }

    fn options(chunk: u32) -> NdOptions {
        let mut options = NdOptions::default();
        (options.chunkshape, options.blockshape) = (Some(vec![chunk]), Some(vec![chunk.min(1 << 20)]));
        options
    }

    fn of(container: &dyn Container, len: u64, memory: u64) -> Result<Vec<Stat>> {
        let limits = container_core::Limits::default().with_memory(memory);
        let read = ReadOptions::default().with_threads(2).with_limits(limits);
        stat(container, 0, &Region::whole(&[len]), &read, Progress::none())
    }

    #[test]
    fn chunks_of_one_value_come_to_what_they_come_to_when_they_are_walked() {
        let random = |at: u64| (at.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f64 / 7.0 - 1e5;
        let parts = |at: u64| match at / 5000 {
            1 | 2 | 5 => 0.0,
            _ => random(at),
        };
        let values: Vec<f64> = (0..40_000).map(parts).collect();
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let dtype = DType::parse("<f8").unwrap();
        let array = Array::new(dtype, vec![40_000], Order::C, bytes.as_slice().into()).unwrap();
        let mut frame = Vec::new();
        write_array_to(&mut frame, &array, &options(1000)).unwrap();
        let container = opened(frame);
        assert!(container.repeated(0, &Region::parse("5000:15000", &[40_000]).unwrap()).is_some());
        // Pieces of a sixteenth of the memory, and more or fewer passes.
        for memory in [64_000, 16_000_000] {
            let found = of(&*container, 40_000, memory).unwrap();
            assert_eq!(format!("{found:?}"), format!("{:?}", stats("<f8", &[40_000], &bytes, memory)));
        }
    }

    #[test]
    fn a_terabyte_of_one_value_is_counted() {
        let len = 1_u64 << 37;
        let dtype = DType::parse("<f8").unwrap();
        for (fill, value) in [(Fill::Zeros, 0.0), (Fill::Value(&2.5_f64.to_le_bytes()), 2.5)] {
            let mut frame = Vec::new();
            write_filled(&mut frame, &dtype, &[len], fill, &options(1 << 26)).unwrap();
            let found = of(&*opened(frame), len, 8 << 30).unwrap();
            let summary = found[0].summary.as_ref().unwrap();
            assert_eq!(
                (found[0].count, summary.min, summary.max),
                (len, Number::Float(value), Number::Float(value))
            );
            assert_eq!((summary.mean, summary.std), (value, 0.0));
            assert_eq!(summary.histogram.counts.iter().sum::<u64>(), len);
        }
        let mut frame = Vec::new();
        write_filled(&mut frame, &dtype, &[len], Fill::Nan, &options(1 << 26)).unwrap();
        let found = of(&*opened(frame), len, 8 << 30).unwrap();
        assert!(found[0].nan == len && found[0].summary.is_none());
    }
}
