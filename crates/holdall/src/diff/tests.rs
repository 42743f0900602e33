use super::*;
use crate::testing::Memory;
use container_core::ErrorKind;
use container_core::dtype::{DType, Kind, Order};

fn differences(a: &Memory, b: &Memory, options: &DiffOptions<'_>) -> Vec<String> {
    let found = diff(a, &a.all(), b, &b.all(), options).unwrap();
    let told = found.into_iter().map(|one| match one.dataset {
        Some(dataset) => format!("{dataset}: {}", one.what),
        None => one.what,
    });
    told.collect()
}

fn exact(a: &Memory, b: &Memory) -> Vec<String> {
    differences(a, b, &DiffOptions::default())
}

fn one(dtype: &str, shape: &[u64], bytes: &[u8]) -> Memory {
    Memory::new().with("data", dtype, shape, bytes)
}

fn doubles(values: &[f64]) -> Memory {
    let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    one("<f8", &[values.len() as u64], &bytes)
}

#[test]
fn byte_order_and_storage_order_are_ignored() {
    let rows = one("<u2", &[2, 3], &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    let dtype = DType::parse(">u2").unwrap();
    let columns =
        Memory::new().with_type("x", dtype, &[2, 3], Order::F, &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5]);
    assert!(exact(&rows, &columns).is_empty());
    assert!(exact(&columns, &rows).is_empty());
    assert!(exact(&columns, &columns).is_empty());
}

#[test]
fn first_difference_is_reported_with_values_and_count() {
    let a = one("<u2", &[2, 3], &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    let b = one("<u2", &[2, 3], &[0, 0, 1, 0, 9, 0, 8, 0, 4, 0, 5, 0]);
    assert_eq!(exact(&a, &b), ["data: values: 2 of 6 differ, the first at [0, 2]: 2 and 9"]);
    // Column by column the element at [1, 0] is met before the one at [0, 2].
    let columns = |bytes: &[u8]| {
        Memory::new().with_type("data", DType::parse("|u1").unwrap(), &[2, 3], Order::F, bytes)
    };
    let (a, b) = (columns(&[0, 3, 1, 4, 2, 5]), columns(&[0, 8, 1, 4, 9, 5]));
    assert_eq!(exact(&a, &b), ["data: values: 2 of 6 differ, the first at [0, 2]: 2 and 9"]);
    assert_eq!(exact(&one("|u1", &[], &[1]), &one("|u1", &[], &[2])), ["data: value: 1 and 2"]);
}

#[test]
fn an_element_that_is_missing_on_one_side_differs() {
    let plain = doubles(&[1.0, 0.0, 3.0]);
    let masked = |mask: &[u8]| doubles(&[1.0, 7.0, 3.0]).masked("data", mask);
    assert_eq!(
        exact(&masked(&[0, 1, 0]), &plain),
        ["data: values: 1 of 3 differ, the first at [1]: -- and 0.0"]
    );
    assert_eq!(
        exact(&plain, &masked(&[0, 1, 1])),
        ["data: values: 2 of 3 differ, the first at [1]: 0.0 and --"]
    );
    // Masked elements are not values.
    let other = doubles(&[1.0, f64::NAN, 3.0]).masked("data", &[0, 1, 0]);
    assert!(exact(&masked(&[0, 1, 0]), &other).is_empty());
    let close = DiffOptions { rtol: 0.5, ..DiffOptions::default() };
    assert_eq!(differences(&masked(&[0, 1, 0]), &plain, &close).len(), 1);
    let records = |mask: &[u8]| one("[('a', '|u1'), ('b', '|u1')]", &[2], &[1, 2, 3, 4]).masked("data", mask);
    assert!(exact(&records(&[1, 0]), &records(&[1, 1, 0, 0])).is_empty());
    assert_eq!(
        exact(&records(&[1, 0]), &records(&[0, 1, 0, 0])),
        ["data: values: 1 of 2 differ, the first at [0]: (--, --) and (1, --)"]
    );
}

#[test]
fn differences_far_into_large_data_are_found_and_counted() {
    // Several pieces of 8 MiB.
    let shape = [5, 2_000_003];
    let mut bytes = vec![7_u8; 10_000_015];
    let a = one("|u1", &shape, &bytes);
    bytes[2_000_003 * 4 + 12] = 1;
    bytes[2_000_003 * 4 + 2_000_002] = 1;
    let b = one("|u1", &shape, &bytes);
    assert_eq!(exact(&a, &b), ["data: values: 2 of 10000015 differ, the first at [4, 12]: 7 and 1"]);
}

#[test]
fn bits_decide_unless_a_tolerance_is_given() {
    let nan = |payload: u64| f64::from_bits(0x7ff8_0000_0000_0000 | payload);
    assert!(exact(&doubles(&[nan(1)]), &doubles(&[nan(1)])).is_empty());
    assert_eq!(exact(&doubles(&[nan(1)]), &doubles(&[nan(2)])).len(), 1);
    assert_eq!(
        exact(&doubles(&[0.0]), &doubles(&[-0.0])),
        ["data: values: 1 of 1 differ, the first at [0]: 0.0 and -0.0"]
    );
    let loose = DiffOptions { atol: 1e-9, ..DiffOptions::default() };
    assert!(differences(&doubles(&[nan(1), 0.0]), &doubles(&[nan(2), -0.0]), &loose).is_empty());
}

/// Each verdict is that of numpy.isclose(a, b, rtol, atol, equal_nan=True).
#[test]
fn tolerances_are_numpys() {
    let inf = f64::INFINITY;
    let cases = [
        (1.0, 1.1, 0.0, 0.1000001, true),
        (1.0, 1.1, 0.0, 0.09, false),
        (100.0, 101.0, 0.01, 0.0, true),
        (101.0, 100.0, 0.01, 0.0, true),
        (98.9, 100.0, 0.01, 0.0, false),
        (inf, inf, 0.1, 0.0, true),
        (inf, -inf, 0.1, 0.0, false),
        (1.0, inf, 0.1, 0.0, false),
        (f64::NAN, 1.0, 0.1, 0.1, false),
    ];
    for (a, b, rtol, atol, close) in cases {
        let options = DiffOptions { rtol, atol, ..DiffOptions::default() };
        let found = differences(&doubles(&[a]), &doubles(&[b]), &options);
        assert_eq!(found.is_empty(), close, "{a} {b} {rtol} {atol}");
    }
}

#[test]
fn integers_differ_exactly_and_complex_numbers_by_modulus() {
    let close = |dtype: &str, a: &[u8], b: &[u8], atol| {
        let options = DiffOptions { atol, ..DiffOptions::default() };
        differences(&one(dtype, &[1], a), &one(dtype, &[1], b), &options).is_empty()
    };
    // As doubles both would be 2^63.
    assert!(!close("<i8", &i64::MAX.to_le_bytes(), &(i64::MAX - 2).to_le_bytes(), 1.0));
    assert!(close("<i8", &i64::MAX.to_le_bytes(), &(i64::MAX - 1).to_le_bytes(), 1.0));
    assert!(!close("<i8", &i64::MAX.to_le_bytes(), &i64::MIN.to_le_bytes(), 1e18));
    assert!(close(">u8", &[0xff; 8], &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xfe], 1.0));
    let complex = |re: f32, im: f32| [re.to_le_bytes(), im.to_le_bytes()].concat();
    assert!(close("<c8", &complex(0.0, 0.0), &complex(3.0, 4.0), 5.0));
    assert!(!close("<c8", &complex(0.0, 0.0), &complex(3.0, 4.0), 4.9));
    assert!(close("<c8", &complex(f32::NAN, 0.0), &complex(1.0, f32::NAN), 0.1));
    assert!(close("bfloat16", &0x3f80_u16.to_le_bytes(), &0x3f81_u16.to_le_bytes(), 0.01));
    assert!(close(">f2", &[0x3c, 0x00], &[0x3c, 0x01], 0.001));
    // Text, times and bools are the same or not.
    assert!(!close("|S1", b"a", b"b", 1e9));
    assert!(!close("|b1", &[0], &[1], 1e9));
}

#[test]
fn padding_within_records_is_not_looked_at() {
    let dtype = "[('a', '|u1'), ('', '|V1'), ('b', '<u2', (2,))]";
    let a = one(dtype, &[2], &[1, 0xaa, 2, 0, 3, 0, 4, 0xbb, 5, 0, 6, 0]);
    let b = one(dtype, &[2], &[1, 0x00, 2, 0, 3, 0, 4, 0x00, 5, 0, 6, 0]);
    assert!(exact(&a, &b).is_empty());
    let c = one(dtype, &[2], &[1, 0x00, 2, 0, 3, 0, 4, 0x00, 5, 0, 7, 0]);
    assert_eq!(exact(&a, &c), ["data: values: 1 of 2 differ, the first at [1]: (4, [5, 6]) and (4, [5, 7])"]);
}

#[test]
fn shape_and_dtype_differences_are_reported() {
    let (a, b) = (one("<f4", &[2], &[0; 8]), one("<f8", &[1], &[0; 8]));
    assert_eq!(exact(&a, &b), ["data: shape: [2] and [1]", "data: dtype: <f4 and <f8"]);
    // Types that numpy lacks are distinguished by size alone.
    let wide = DType::native(Kind::Int, 16);
    let wide = Memory::new().with_type("data", wide, &[1], Order::C, &[5; 16]);
    assert!(exact(&wide, &one("|V16", &[1], &[5; 16])).is_empty());
    let bfloat = one("bfloat16", &[1], &[0, 0]);
    assert_eq!(exact(&bfloat, &one("<f4", &[1], &[0; 4])), ["data: dtype: bfloat16 and <f4"]);
}

#[test]
fn datasets_are_paired_by_path_unless_there_is_one_of_each() {
    assert!(
        exact(&Memory::new().with("a", "|u1", &[1], &[1]), &Memory::new().with("b", "|u1", &[1], &[1]))
            .is_empty()
    );
    let a = Memory::new().with("x", "|u1", &[1], &[1]).with("y", "|u1", &[1], &[2]);
    let b = Memory::new().with("z", "|u1", &[1], &[1]).with("y", "|u1", &[1], &[3]);
    assert_eq!(
        exact(&a, &b),
        [
            "x: only in the first",
            "y: values: 1 of 1 differ, the first at [0]: 2 and 3",
            "z: only in the second"
        ]
    );
    let found = |ignore: &str| {
        let ignore = [ignore.to_owned()];
        differences(&a, &b, &DiffOptions { ignore: &ignore, ..DiffOptions::default() })
    };
    assert!(found("?").is_empty());
    // The rest is one of each, but not a pair.
    assert_eq!(found("y"), ["x: only in the first", "z: only in the second"]);
}

#[test]
fn regions_are_compared_by_what_they_select() {
    let a = one("|u1", &[2, 4], &[0, 1, 2, 3, 4, 5, 6, 7]);
    let b = one("|u1", &[2], &[7, 5]);
    let chosen = |memory: &Memory, text: &str| {
        let shape = &memory.datasets()[0].shape;
        vec![(0, Region::parse(text, shape).unwrap())]
    };
    let found = |text: &str| {
        diff(&a, &chosen(&a, text), &b, &chosen(&b, ":"), &DiffOptions::default()).unwrap().len()
    };
    assert_eq!(found("1, ::-2"), 0);
    assert_eq!(found("1, 1::2"), 1);
    assert_eq!(found("1"), 1);
}

#[test]
fn metadata_is_compared_within_one_format() {
    let tree = |name: &str, time: i128| {
        let units = vec![Value::from("m"), Value::from(name)];
        Value::Map(vec![("a/b".into(), units.into()), ("time".into(), Value::Int(time))])
    };
    let mut a = one("|u1", &[1], &[1]).attribute("data", "unit", "m");
    let mut b = one("|u1", &[1], &[1]).attribute("data", "scale", 2_u64);
    (a.meta, b.meta) = (tree("s", 1), tree("kg", 2));
    assert_eq!(
        exact(&a, &b),
        [
            r#"metadata /a~1b/1: "s" and "kg""#,
            "metadata /time: 1 and 2",
            r#"data: attribute /unit: only in the first: "m""#,
            "data: attribute /scale: only in the second: 2",
        ]
    );
    let ignore = ["/a~1b/*".to_owned(), "t?me".into(), "unit".into(), "scale".into()];
    assert!(differences(&a, &b, &DiffOptions { ignore: &ignore, ..DiffOptions::default() }).is_empty());
    // A part of the data is compared without the metadata of the file.
    let part = [(0, Region::parse("0:0", &[1]).unwrap())];
    let found = diff(&a, &part, &b, &part, &DiffOptions::default()).unwrap();
    assert!(found.iter().all(|one| one.what.starts_with("attribute")));
    b.format = "other";
    assert!(exact(&a, &b).is_empty());
}

/// Two entries with the same text, as of a YAML tree with the keys `1` and `"1"`.
#[test]
fn entries_whose_keys_read_the_same_are_compared_each_with_its_own() {
    let with = |values: &[&str]| {
        let mut memory = one("|u1", &[1], &[1]);
        let entries = values.iter().map(|value| ("1".to_owned(), Value::from(*value)));
        memory.meta = Value::Map(entries.collect());
        memory
    };
    assert!(exact(&with(&["a", "b"]), &with(&["a", "b"])).is_empty());
    assert_eq!(exact(&with(&["a", "a"]), &with(&["a", "c"])), [r#"metadata /1: "a" and "c""#]);
    assert_eq!(exact(&with(&["a", "b"]), &with(&["z", "b"])), [r#"metadata /1: "a" and "z""#]);
    assert_eq!(exact(&with(&["a", "b"]), &with(&["a"])), [r#"metadata /1: only in the first: "b""#]);
    assert_eq!(exact(&with(&["a"]), &with(&["a", "b"])), [r#"metadata /1: only in the second: "b""#]);
}

#[test]
fn one_nan_in_the_metadata_is_as_good_as_another() {
    let with = |value: Value| {
        let mut memory = one("|u1", &[1], &[1]);
        memory.meta = value;
        memory
    };
    assert!(exact(&with(f64::NAN.into()), &with((-f64::NAN).into())).is_empty());
    assert_eq!(exact(&with(0.0.into()), &with((-0.0).into())), ["metadata: 0.0 and -0.0"]);
    assert_eq!(exact(&with(Value::Int(1)), &with(1.0.into())), ["metadata: 1 and 1.0"]);
}

#[test]
fn damage_error_names_the_damaged_file() {
    let (sound, torn) = (one("|u1", &[1], &[1]), one("|u1", &[1], &[1]).damaged("data"));
    let error = |a: &Memory, b: &Memory| diff(a, &a.all(), b, &b.all(), &DiffOptions::default()).unwrap_err();
    assert_eq!(error(&torn, &sound).file_name(), Some("the first file"));
    let error = error(&sound, &torn);
    assert_eq!((error.file_name(), error.range()), (Some("the second file"), Some(16..48)));
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
}

#[test]
fn diff_of_unreadable_files_reports_damage() {
    let (empty, ruined) = (Memory::new(), Memory::new().damaged("gone"));
    assert!(exact(&empty, &empty).is_empty());
    let error = diff(&ruined, &[], &ruined, &[], &DiffOptions::default()).unwrap_err();
    assert_eq!((error.is_damage(), error.file_name()), (true, Some("the first file")));
    let error = diff(&empty, &[], &ruined, &[], &DiffOptions::default()).unwrap_err();
    assert_eq!(error.file_name(), Some("the second file"));
}

#[test]
fn progress_reaches_its_total_and_can_stop() {
    use std::ops::ControlFlow;
    use std::sync::Mutex;
    let (a, b) = (doubles(&[1.0, 2.0]), doubles(&[1.0, 2.0]));
    let told = Mutex::new(vec![]);
    let tick = |done, total| {
        told.lock().unwrap().push((done, total));
        ControlFlow::Continue(())
    };
    let options = DiffOptions { progress: Progress::new(&tick), ..DiffOptions::default() };
    assert!(differences(&a, &b, &options).is_empty());
    assert_eq!(told.into_inner().unwrap().last(), Some(&(16, 16)));
    let stop = |_, _| ControlFlow::Break(());
    let options = DiffOptions { progress: Progress::new(&stop), ..DiffOptions::default() };
    let error = diff(&a, &a.all(), &b, &b.all(), &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled));
}
