//! Tables against those that python-blosc2 wrote, and against damaged ones.

use std::fs;
use std::path::Path;

use container_core::array::Array;
use container_core::container::{Container, Dataset, Defaults, OpenOptions, ReadOptions};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::Input;
use container_core::region::Region;
use container_core::{Limits, Result, Value};

use crate::b2nd::{self, NdOptions};

fn open(bytes: Vec<u8>, defaults: Defaults) -> Result<Box<dyn Container>> {
    let mut options = OpenOptions::default();
    options.defaults = defaults;
    (crate::FORMAT.open)(Input::bytes(Box::new(bytes)), &options)
}

fn fixture(name: &str) -> Vec<u8> {
    fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2/ok").join(name)).unwrap()
}

fn tables() -> [Box<dyn Container>; 2] {
    ["table_nulls.b2z", "table_embedded.b2e"].map(|name| open(fixture(name), Defaults::Apply).unwrap())
}

fn dataset(store: &dyn Container, path: &str) -> Dataset {
    store.dataset(store.find(path).unwrap_or_else(|| panic!("{path}"))).unwrap().into_owned()
}

fn read(store: &dyn Container, path: &str, selection: &str) -> Result<(Array<'static>, Option<Vec<u8>>)> {
    let (limits, options) = (Limits::default(), ReadOptions::default());
    let index = store.find(path).unwrap_or_else(|| panic!("{path}"));
    let region = Region::parse(selection, &store.dataset(index).unwrap().shape)?;
    let mask = store.mask(index, &region, &options)?;
    let mask = mask.map(|mask| mask.bytes(Order::C, &limits).unwrap().into_owned());
    Ok((store.read(index, &region, &options)?.into_owned(&limits)?, mask))
}

/// Returns the elements as texts, `--` where one is missing.
fn shown(store: &dyn Container, path: &str, selection: &str) -> Vec<String> {
    let (array, mask) = read(store, path, selection).unwrap();
    let dtype = array.dtype().clone();
    let bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    let elements = bytes.chunks_exact(dtype.itemsize()).map(|element| one(&dtype, element));
    let is_missing = |at: usize| mask.as_ref().is_some_and(|mask| mask[at] != 0);
    elements.enumerate().map(|(at, text)| if is_missing(at) { "--".to_owned() } else { text }).collect()
}

/// Returns a little-endian element as text.
fn one(dtype: &DType, element: &[u8]) -> String {
    let float = |part: &[u8]| match part.len() {
        4 => f32::from_le_bytes(part.try_into().unwrap()).to_string(),
        _ => f64::from_le_bytes(part.try_into().unwrap()).to_string(),
    };
    match (&dtype.as_scalar().unwrap().kind, element.len()) {
        (Kind::Float, _) => float(element),
        (Kind::Complex, 8) => format!("{}{}", float(&element[..4]), float(&element[4..])),
        (Kind::Unicode, _) => {
            let units = element.as_chunks::<4>().0.iter().map(|unit| u32::from_le_bytes(*unit));
            units.take_while(|unit| *unit != 0).map(|unit| char::from_u32(unit).unwrap()).collect()
        }
        (Kind::Bytes, _) => {
            String::from_utf8_lossy(element).trim_end_matches('\0').escape_debug().to_string()
        }
        (_, size) => {
            let mut wide = [if element[size - 1] & 0x80 == 0 || size == 1 { 0 } else { 0xff }; 8];
            wide[..size].copy_from_slice(element);
            i64::from_le_bytes(wide).to_string()
        }
    }
}

/// The rows 0, 1, 3, 4, 5 and 6 of `null_row` in testdata/blosc2/stores.py, of which 1 and 5 are null, as python-blosc2 4.14.1 reads them.
#[test]
fn columns_have_their_live_rows_and_nulls_are_missing() {
    const DAY: i64 = 18_263;
    let at = |k: i64| (((DAY * 24 + 3) * 60 + 4) * 60 + 5) * 1000 + 678 + k;
    let times: Vec<String> = [0, 3, 4, 6].map(|k| at(k).to_string()).to_vec();
    for store in tables() {
        let is = |name: &str, dtype: &str, want: [&str; 6]| {
            let found = dataset(&*store, &format!("_cols/{name}"));
            assert_eq!((found.dtype.to_string().as_str(), &found.shape[..1]), (dtype, &[6][..]), "{name}");
            assert_eq!(shown(&*store, name, ""), want, "{name}");
        };
        is("number", "<i4", ["0", "1", "3", "4", "5", "6"]);
        is("int_flag", "<i4", ["0", "--", "21", "28", "--", "42"]);
        is("int_value", "<i2", ["0", "--", "300", "400", "--", "600"]);
        // NaN is a value if there are flags for null, and null if the schema declares it.
        is("float_flag", "<f8", ["0", "--", "NaN", "1", "--", "1.5"]);
        is("float_value", "<f4", ["0", "--", "1.5", "2", "--", "3"]);
        is("bool_value", "|u1", ["0", "--", "1", "0", "--", "0"]);
        is(
            "complex_flag",
            "<c8",
            ["0-0", "--", "3-3", "4-4", "--", "6-6"].map(|it| if it == "0-0" { "00" } else { it }),
        );
        is("string_value", "<U4", ["s0", "--", "s3", "s4", "--", "s6"]);
        is("bytes_value", "|S4", ["b0", "--", "b3", "b4", "--", "b6"]);
        is("time_value", "<M8[ms]", [&times[0], "--", &times[1], &times[2], "--", &times[3]]);
        is("time_flag", "<M8[us]", ["-1", "--", "2", "3", "--", "5"]);
        is("word", "<U5", ["red", "--", "green", "red", "--", "red"]);
        is("text", "<U7", ["größe 0", "größe 1", "größe 3", "größe 4", "größe 5", "größe 6"]);
        is("text_value", "<U3", ["a0", "--", "a3", "a4", "--", "a6"]);
        is("text_flag", "<U2", ["", "--", "b3", "b4", "--", "b6"]);
        is("item", "<U2", ["c0", "--", "c3", "c4", "--", "c6"]);
        is("item_bytes", "|S2", ["\\0\\u{1}", "--", "\\0\\u{4}", "\\0\\u{5}", "--", "\\0\\u{7}"]);
    }
}

/// An element of an array that is the null value makes no row null: all of them do.
#[test]
fn rows_of_arrays_are_null_as_a_whole() {
    for store in tables() {
        let value = shown(&*store, "array_value", "");
        assert_eq!(value, ["0", "-1", "--", "--", "3", "-1", "4", "-1", "--", "--", "6", "-1"]);
        let flag = shown(&*store, "array_flag", "");
        assert_eq!(flag, ["0", "NaN", "--", "--", "3", "NaN", "4", "NaN", "--", "--", "6", "NaN"]);
        assert_eq!(shown(&*store, "array_value", "1:3, 1"), ["--", "-1"]);
        assert_eq!(shown(&*store, "array_flag", "::-2, 0"), ["6", "4", "--"]);
    }
}

#[test]
fn selections_count_live_rows() {
    for store in tables() {
        for (selection, want) in [
            ("::-1", &["6", "5", "4", "3", "1", "0"][..]),
            ("1:4", &["1", "3", "4"]),
            ("2", &["3"]),
            ("-2::-2", &["5", "3", "0"]),
            ("3:3", &[]),
        ] {
            assert_eq!(shown(&*store, "number", selection), want, "{selection}");
        }
        assert_eq!(shown(&*store, "time_flag", "::-3"), ["5", "2"]);
        assert_eq!(shown(&*store, "word", "4:1:-1"), ["--", "red", "green"]);
        assert_eq!(shown(&*store, "text", "1:3"), ["größe 1", "größe 3"]);
        assert!(read(&*store, "number", "6").is_err());
    }
}

#[test]
fn omitted_rows_and_columns_are_reported_once() {
    for store in tables() {
        let notices = store.notices();
        assert_eq!(
            notices.iter().filter(|it| it.contains("1 of 7 rows is deleted")).count(),
            1,
            "{notices:?}"
        );
        assert_eq!(notices.iter().filter(|it| it.contains("sequence (lists")).count(), 1, "{notices:?}");
        let refused = store.find("sequence").unwrap();
        let error = read(&*store, "sequence", "").unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Unsupported(_)), "{error}");
        assert!(error.to_string().contains("column sequence"), "{error}");
        let all: Vec<(usize, Region)> = (0..store.listed_count())
            .map(|index| (index, Region::whole(&store.dataset(index).unwrap().shape)))
            .collect();
        assert!(refused >= all.len(), "the column is listed");
        let losses = store.unexported_metadata(&all);
        let told = |text: &str| losses.iter().filter(|loss| loss.what.contains(text)).count();
        assert_eq!((told("1 of 7 rows is deleted"), told("not decoded")), (1, 1), "{losses:?}");
        let losses = store.unexported_metadata(&all[..1]);
        let told = |text: &str| losses.iter().filter(|loss| loss.what.contains(text)).count();
        assert_eq!((told("1 of 7 rows is deleted"), told("not decoded")), (1, 0), "{losses:?}");
    }
}

#[test]
fn stored_arrays_are_listed_on_request() {
    let store = open(fixture("table_nulls.b2z"), Defaults::StoredOnly).unwrap();
    assert_eq!(dataset(&*store, "time_flag").dtype.to_string(), "<i8");
    assert_eq!(shown(&*store, "number", ""), ["0", "1", "2", "3", "4", "5", "6"]);
    assert_eq!(shown(&*store, "int_value", "1"), ["-32768"]);
    assert_eq!(shown(&*store, "_valid_rows", ""), ["1", "1", "0", "1", "1", "1", "1"]);
    let listed: Vec<String> =
        (0..store.listed_count()).map(|index| store.dataset(index).unwrap().path.clone()).collect();
    assert!(
        listed.contains(&"_valid_rows".to_owned()) && listed.contains(&"_cols/int_flag.notnull".to_owned())
    );
    assert!(store.notices().is_empty());
    // Otherwise they are parts of what is listed.
    let store = open(fixture("table_nulls.b2z"), Defaults::Apply).unwrap();
    let listed = (0..store.listed_count()).map(|index| store.dataset(index).unwrap().path.clone());
    assert_eq!(listed.filter(|path| path.contains('.') || path.starts_with("_valid")).count(), 0);
    assert!(store.find("_cols/int_flag.notnull") >= Some(store.listed_count()));
}

/// Makes a frame of an array in memory.
fn array<T: bytemuck::Pod>(dtype: &str, shape: &[u64], elements: &[T]) -> Vec<u8> {
    let bytes = bytemuck::cast_slice(elements).to_vec();
    let array = Array::new(DType::parse(dtype).unwrap(), shape.to_vec(), Order::C, bytes.into()).unwrap();
    let mut frame = Vec::new();
    b2nd::write_array_to(&mut frame, &array, &NdOptions::default()).unwrap();
    frame
}

/// Makes a frame of msgpack.
fn items(items: &Value) -> Vec<u8> {
    let mut frame = Vec::new();
    let mut writer = crate::Writer::new(&mut frame, crate::FrameOptions::default()).unwrap();
    writer.append(&crate::msgpack::from_value(items).unwrap()).unwrap();
    writer.finish().unwrap();
    frame
}

/// Makes an EmbedStore with a table of this schema and these leaves.
fn table(schema: &str, leaves: &[(&str, Vec<u8>)]) -> Result<Box<dyn Container>> {
    let mut meta = Vec::new();
    let mut writer = crate::Writer::new(&mut meta, crate::FrameOptions::default()).unwrap();
    for (name, value) in [("kind", "ctable"), ("schema", schema)] {
        writer.set_vlmetalayer(name, &crate::msgpack::from_value(&value.into()).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    let mut all = vec![("_meta", meta)];
    all.extend(leaves.iter().cloned());
    let (mut data, mut map) = (Vec::new(), Vec::new());
    for (key, frame) in all {
        let place = [("offset", data.len() as u64), ("length", frame.len() as u64)];
        let place = place.map(|(name, number)| (name.to_owned(), Value::from(number)));
        map.push((format!("/{key}"), Value::Map(place.to_vec())));
        data.extend(frame);
    }
    let mut options = crate::FrameOptions::default();
    options.metalayers.set("b2embed", b"\x81\xa7version\x01".to_vec()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = crate::Writer::new(&mut bytes, options).unwrap();
    writer.append(&data).unwrap();
    let map = Value::Map(vec![("embed_map".to_owned(), Value::Map(map))]);
    writer.set_vlmetalayer("estore_metadata", &crate::msgpack::from_value(&map).unwrap()).unwrap();
    writer.finish().unwrap();
    open(bytes, Defaults::Apply)
}

fn schema(column: &str) -> String {
    format!(
        "{{\"version\": 1, \"columns\": [{{\"name\": \"a\", {column}}}, {{\"name\": \"z\", \"kind\": \"int32\"}}]}}"
    )
}

fn live(flags: &[u8]) -> (&'static str, Vec<u8>) {
    ("_valid_rows", array("|b1", &[flags.len() as u64], flags))
}

fn good() -> (&'static str, Vec<u8>) {
    ("_cols/z", array("<i4", &[3], &[7_i32, 8, 9]))
}

/// A fault, a schema that contradicts the leaves, and the leaves.
type Case = (&'static str, &'static str, Vec<(&'static str, Vec<u8>)>);

/// A column that contradicts its schema is refused by its name, and the others are read.
#[test]
fn a_damaged_column_is_refused_and_the_others_are_read() {
    let ints = |elements: &[i64]| array("<i8", &[elements.len() as u64], elements);
    let codes = |elements: &[i32]| array("<i4", &[elements.len() as u64], elements);
    let bytes = |elements: &[u8]| array("|u1", &[elements.len() as u64], elements);
    let texts = |texts: &[&str]| items(&Value::List(texts.iter().map(|text| Value::from(*text)).collect()));
    let cases: Vec<Case> = vec![
        ("too short", "\"kind\": \"int64\"", vec![("_cols/a", ints(&[1, 2]))]),
        (
            "times of other types",
            "\"kind\": \"timestamp\", \"unit\": \"s\"",
            vec![("_cols/a", codes(&[1, 2, 3]))],
        ),
        ("no unit", "\"kind\": \"timestamp\", \"unit\": \"h\"", vec![("_cols/a", ints(&[1, 2, 3]))]),
        ("a kind to come", "\"kind\": \"decimal\"", vec![("_cols/a", ints(&[1, 2, 3]))]),
        ("no kind", "\"other\": 1", vec![("_cols/a", ints(&[1, 2, 3]))]),
        (
            "a null of another kind",
            "\"kind\": \"int64\", \"null_value\": \"x\"",
            vec![("_cols/a", ints(&[1, 2, 3]))],
        ),
        (
            "too few flags",
            "\"kind\": \"int64\", \"null_storage\": \"mask\"",
            vec![("_cols/a", ints(&[1, 2, 3])), ("_cols/a.notnull", array("|b1", &[2], &[1_u8, 0]))],
        ),
        (
            "flags that are none",
            "\"kind\": \"int64\", \"null_storage\": \"mask\"",
            vec![("_cols/a", ints(&[1, 2, 3])), ("_cols/a.notnull", ints(&[1, 0, 1]))],
        ),
        (
            "a code too many",
            "\"kind\": \"dictionary\", \"null_code\": -1",
            vec![("_cols/a", codes(&[0, 2, 1])), ("_cols/a_dict", texts(&["x", "y"]))],
        ),
        (
            "a code below the null code",
            "\"kind\": \"dictionary\", \"null_code\": -1",
            vec![("_cols/a", codes(&[0, -2, 1])), ("_cols/a_dict", texts(&["x", "y"]))],
        ),
        ("no dictionary", "\"kind\": \"dictionary\"", vec![("_cols/a", codes(&[0, 0, 0]))]),
        (
            "a dictionary of numbers",
            "\"kind\": \"dictionary\"",
            vec![("_cols/a", codes(&[0, 0, 0])), ("_cols/a_dict", items(&Value::List(vec![1_u64.into()])))],
        ),
        (
            "starts that fall",
            "\"kind\": \"utf8\"",
            vec![("_cols/a", ints(&[0, 2, 1, 3])), ("_cols/a.utf8", bytes(b"abc"))],
        ),
        (
            "starts past the bytes",
            "\"kind\": \"utf8\"",
            vec![("_cols/a", ints(&[0, 1, 2, 4])), ("_cols/a.utf8", bytes(b"abc"))],
        ),
        (
            "a letter in two",
            "\"kind\": \"utf8\"",
            vec![("_cols/a", ints(&[0, 1, 2, 3])), ("_cols/a.utf8", bytes("aß".as_bytes()))],
        ),
        (
            "too few texts",
            "\"kind\": \"utf8\"",
            vec![("_cols/a", ints(&[0, 1, 3])), ("_cols/a.utf8", bytes(b"abc"))],
        ),
        ("no bytes", "\"kind\": \"utf8\"", vec![("_cols/a", ints(&[0, 1, 2, 3]))]),
        ("items that are no lists", "\"kind\": \"vlstring\"", vec![("_cols/a", items(&Value::from(7_u64)))]),
        (
            "items by arrow",
            "\"kind\": \"vlstring\", \"serializer\": \"arrow\"",
            vec![("_cols/a", texts(&["x", "y", "z"]))],
        ),
        ("too few items", "\"kind\": \"vlstring\"", vec![("_cols/a", texts(&["x", "y"]))]),
        ("a NUL at the end", "\"kind\": \"vlstring\"", vec![("_cols/a", texts(&["x", "y\0", "z"]))]),
    ];
    for (what, column, mut leaves) in cases {
        leaves.extend([live(&[1, 1, 1]), good()]);
        let store = table(&schema(column), &leaves).unwrap();
        assert_eq!(shown(&*store, "z", ""), ["7", "8", "9"], "{what}");
        let index = store.find("a").unwrap();
        let region = Region::whole(&store.dataset(index).unwrap().shape);
        let read = store.read(index, &region, &ReadOptions::default());
        let error = read.map(|_| ()).unwrap_err();
        assert!(error.to_string().contains("column a"), "{what}: {error}");
        let _ = (store.absence(index, &region), store.mask(index, &region, &ReadOptions::default()));
    }
}

/// A row is not shown where it is unknown whether it is deleted.
#[test]
fn a_table_whose_rows_or_schema_are_unknown_is_refused() {
    let column = "\"kind\": \"int32\"";
    let of = || ("_cols/a", array("<i4", &[3], &[1_i32, 2, 3]));
    let newer = "{\"version\": 4, \"columns\": [{\"name\": \"a\", \"kind\": \"int32\"}]}";
    let cases = [
        (schema(column), vec![of()]),
        (schema(column), vec![of(), ("_valid_rows", array("<i4", &[3], &[1_i32, 1, 1]))]),
        (schema(column), vec![of(), ("_valid_rows", array("|b1", &[3, 1], &[1_u8, 1, 1]))]),
        (newer.to_owned(), vec![of(), live(&[1, 1, 1])]),
        ("not a schema".to_owned(), vec![of(), live(&[1, 1, 1])]),
        ("{\"columns\": 1}".to_owned(), vec![of(), live(&[1, 1, 1])]),
    ];
    for (schema, leaves) in cases {
        let store = table(&schema, &leaves).unwrap();
        let index = store.find("_cols/a").unwrap();
        let region = Region::whole(&store.dataset(index).unwrap().shape);
        assert!(store.read(index, &region, &ReadOptions::default()).is_err(), "{schema}");
        assert!(store.absence(index, &region).is_some(), "{schema}");
    }
}

/// As python-blosc2 4.14.1 reads its own: NaN in a schema, room for rows to come, codes without a null, texts that are words of its own.
#[test]
fn tables_written_by_python_are_read() {
    let nan = "\"kind\": \"float32\", \"null_value\": NaN";
    let store = table(
        &schema(nan),
        &[("_cols/a", array("<f4", &[4], &[1.5_f32, f32::NAN, 2.0, 0.0])), live(&[1, 1, 0, 0]), good()],
    );
    let store = store.unwrap();
    assert_eq!(shown(&*store, "a", ""), ["1.5", "--"]);
    assert!(store.notices().is_empty(), "{:?}", store.notices());
    let texts = Value::List(["__tuple__", "x"].map(Value::from).to_vec());
    let store =
        table(&schema("\"kind\": \"vlstring\""), &[("_cols/a", items(&texts)), live(&[1, 1]), good()])
            .unwrap();
    assert_eq!(shown(&*store, "a", ""), ["__tuple__", "x"]);
    let none = table(
        &schema("\"kind\": \"int32\""),
        &[("_cols/a", array("<i4", &[2], &[1_i32, 2])), live(&[0, 0]), good()],
    );
    assert_eq!(dataset(&*none.unwrap(), "a").shape, [0]);
}

/// As `t[:]` of a table of which every third row is deleted, in columns that are cut into many chunks.
#[test]
fn many_deleted_rows_are_passed_over() {
    let count = 5000_u32;
    let flags: Vec<u8> =
        (0..count).map(|row| u8::from(row % 3 != 0 && !(100..1000).contains(&row))).collect();
    let ints: Vec<i32> = (0..5000).collect();
    let mut frames = [Vec::new(), Vec::new()];
    let [of_flags, of_ints] = &mut frames;
    let options =
        NdOptions { chunkshape: Some(vec![700]), blockshape: Some(vec![70]), ..NdOptions::default() };
    let array = |dtype: &str, bytes: &[u8]| {
        Array::new(DType::parse(dtype).unwrap(), vec![u64::from(count)], Order::C, bytes.to_vec().into())
            .unwrap()
    };
    b2nd::write_array_to(of_flags, &array("|b1", &flags), &options).unwrap();
    b2nd::write_array_to(of_ints, &array("<i4", bytemuck::cast_slice(&ints)), &options).unwrap();
    let [of_flags, of_ints] = frames;
    let store =
        table(&schema("\"kind\": \"int32\""), &[("_cols/a", of_ints), ("_valid_rows", of_flags)]).unwrap();
    let live = ints.iter().zip(&flags).filter(|(_, flag)| **flag != 0);
    let live: Vec<i32> = live.map(|(row, _)| *row).collect();
    let values = |selection: &str| -> Vec<i32> {
        let (array, _) = read(&*store, "a", selection).unwrap();
        array.elements::<i32>(Order::C, &Limits::default()).unwrap().into_owned()
    };
    assert_eq!(values(":"), live);
    assert_eq!(values("::-1"), live.iter().rev().copied().collect::<Vec<_>>());
    assert_eq!(values("5:2000:7"), live[5..2000].iter().step_by(7).copied().collect::<Vec<_>>());
    assert_eq!(values("::500"), live.iter().step_by(500).copied().collect::<Vec<_>>());
}

#[test]
fn every_cut_and_flip_of_a_table_is_survived() {
    let whole = fixture("table_embedded.b2e");
    let survive = |bytes: Vec<u8>| {
        let Ok(store) = open(bytes, Defaults::Apply) else { return };
        let (_, _) = (store.notices(), store.losses());
        for index in 0..store.dataset_count() {
            let shape = store.dataset(index).unwrap().shape.clone();
            let region = Region::whole(&shape);
            let _ = store.read(index, &region, &ReadOptions::default());
            let _ = store.mask(index, &region, &ReadOptions::default());
        }
    };
    for at in (0..whole.len()).step_by(23) {
        let mut bytes = whole.clone();
        bytes[at] ^= 0x55;
        survive(bytes);
        survive(whole[..at].to_vec());
    }
}
