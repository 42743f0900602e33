#![expect(clippy::arithmetic_side_effects, reason = "small numbers")]

use container_core::container::{Container, ReadOptions};
use container_core::{ErrorKind, Limits, Progress};
use csv_core::ReadRecordResult;
use proptest::prelude::*;

use super::*;
use crate::export::{AsStored, ExportFormat, export};

fn asked(text: &[u8], dtype: &str, header: Header) -> Result<Plain> {
    let dtype = if dtype.is_empty() { None } else { Some(DType::parse(dtype)?) };
    decode(&text.to_vec(), &Csv { dtype, header, delimiter: b',' }, &Limits::default())
}

fn found(text: &str) -> Plain {
    asked(text.as_bytes(), "", Header::Auto).unwrap()
}

fn bytes(plain: &Plain) -> Vec<u8> {
    let array = plain.read(0, &plain.whole()[0].1, &ReadOptions::default()).unwrap();
    array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
}

/// Type and shape, as `ls` shows them.
fn kind(plain: &Plain) -> (String, Vec<u64>) {
    (plain.datasets()[0].dtype.to_string(), plain.datasets()[0].shape.clone())
}

/// Elements as `cat --format csv` writes them.
fn as_csv(dtype: &str, shape: &[u64], bytes: &[u8]) -> Vec<u8> {
    let dtype = DType::parse(dtype).unwrap();
    let plain = Plain::new(Box::new(bytes.to_vec()), dtype, shape.to_vec(), Order::C).unwrap();
    let (region, read) = (&plain.whole()[0].1, ReadOptions::default());
    let mut out = Vec::new();
    export(&plain, 0, region, ExportFormat::Csv, AsStored::No, &read, Progress::none(), &mut out).unwrap();
    out
}

#[test]
fn columns_are_the_first_type_that_has_all_their_cells() {
    for (text, dtype, shape) in [
        ("1\n-2\n", "<i8", &[2][..]),
        ("1,2\n3,4\n5,6\n", "<i8", &[3, 2]),
        ("18446744073709551615\n0\n", "<u8", &[2]),
        ("1,2.5\n", "<f8", &[1, 2]),
        ("1\n1e5\n", "<f8", &[2]),
        ("nan\n-inf\n", "<f8", &[2]),
        ("-0\n3\n", "<f8", &[2]),
        ("True\nfalse\n", "|b1", &[2]),
        ("(1+2j)\n3\n", "<c16", &[2]),
        ("1e-5-2e+3j\n", "<c16", &[1]),
        ("a\n\u{e9}\u{1d11e}b\n", "<U3", &[2]),
        // Text that a number would not reproduce stays text.
        ("007\n8\n", "<U3", &[2]),
        ("18446744073709551616\n", "<U20", &[1]),
        ("-1\n18446744073709551615\n", "<U20", &[2]),
        ("1e999\n", "<U5", &[1]),
        ("(1)\n", "<U3", &[1]),
        ("True\n1\n", "<U4", &[2]),
        ("0x10\n", "<U4", &[1]),
        ("inf\ninfo\n", "<U4", &[2]),
        // A gap among numbers.
        ("1,2\n,3\n", "<f8", &[2, 2]),
        ("9007199254740993,1\n,3\n", r#"[["f0", "<U16"], ["f1", "<i8"]]"#, &[2]),
        ("9007199254740993,1\n2,3.5\n", r#"[["f0", "<i8"], ["f1", "<f8"]]"#, &[2]),
        ("9007199254740992,1\n2,3.5\n", "<f8", &[2, 2]),
        ("a,1\n", r#"[["f0", "<U1"], ["f1", "<i8"]]"#, &[1]),
    ] {
        let plain = found(text);
        assert_eq!(kind(&plain), (dtype.to_owned(), shape.to_vec()), "{text:?}");
    }
    assert_eq!(kind(&asked(b"a\n\xff\xfe\n", "", Header::Auto).unwrap()).0, "|S2");
}

#[test]
fn values_are_in_little_endian_order_row_by_row() {
    assert_eq!(bytes(&found("1,2\n-1,300\n")), [1_i64, 2, -1, 300].map(i64::to_le_bytes).concat());
    let doubles = [1.5, f64::NAN, -0.0, 0.0].map(f64::to_le_bytes).concat();
    assert_eq!(bytes(&found(" 1.5 ,\r\n\r\n-0,1e-400")), doubles);
    assert_eq!(bytes(&found("\u{feff}1\n2\n")), [1_i64, 2].map(i64::to_le_bytes).concat());
    // A byte order mark is not part of the first cell, and `cat` writes without it.
    let text = ["\u{feff}1\0\0", "\u{feff}\0\0\0"].concat();
    let elements: Vec<u8> = text.chars().flat_map(|character| u32::from(character).to_le_bytes()).collect();
    let written = as_csv("<U4", &[2], &elements);
    assert_eq!(bytes(&asked(&written, "<U4", Header::None).unwrap()), elements);
    let text = bytes(&found("ab\n\"c\"\"\n\"\n"));
    assert_eq!(text, b"a\0\0\0b\0\0\0\0\0\0\0c\0\0\0\"\0\0\0\n\0\0\0");
    let record = found("1,x,True\n");
    assert_eq!(bytes(&record), b"\x01\0\0\0\0\0\0\0x\0\0\0\x01");
}

#[test]
fn the_first_row_is_names_where_it_is_text_above_values() {
    let fields = |names: [&str; 2]| format!(r#"[["{}", "<i8"], ["{}", "<f8"]]"#, names[0], names[1]);
    for (text, header, dtype, shape) in [
        ("id,v\n1,2.5\n", Header::Auto, fields(["id", "v"]), &[1][..]),
        ("id,2\n1,2.5\n", Header::Auto, "[[\"f0\", \"<U2\"], [\"f1\", \"<f8\"]]".into(), &[2]),
        ("1,2.5\n", Header::Auto, "<f8".into(), &[1, 2]),
        ("a,b\nc,d\n", Header::Auto, "<U1".into(), &[2, 2]),
        ("a,b\nc,d\n", Header::Names, r#"[["a", "<U1"], ["b", "<U1"]]"#.into(), &[1]),
        ("id,v\n1,2\n", Header::Skip, "<i8".into(), &[1, 2]),
        ("id,\n1,2.5\n", Header::Names, fields(["id", "f1"]), &[1]),
        ("1,2\n3,4.5\n", Header::Names, fields(["1", "2"]), &[1]),
        ("x\n1\n", Header::None, "<U1".into(), &[2]),
    ] {
        let plain = asked(text.as_bytes(), "", header).unwrap();
        assert_eq!(kind(&plain), (dtype, shape.to_vec()), "{text:?}");
    }
}

/// All rows, as texts of cells.
fn rows(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
    let (text, limits) = (text.to_vec(), Limits::default());
    let mut rows = Rows::new(&text, b',', &limits);
    let mut all = Vec::new();
    while let Some(row) = rows.next().unwrap() {
        assert_eq!(row.number, all.len() as u64 + 1);
        all.push(row.cells().map(<[u8]>::to_vec).collect());
    }
    all
}

/// Over several pieces of the source, whose ends fall anywhere in lines, quotes and line ends.
#[test]
fn rows_with_and_without_quotes_follow_each_other() {
    let (mut text, mut expected) = (Vec::new(), Vec::new());
    for at in 0..200_000 {
        let (row, cells): (String, [String; 3]) = match at % 7 {
            0 => (format!("\"a\n{at}\",,\"x\"\"\"\n"), [format!("a\n{at}"), String::new(), "x\"".into()]),
            1 => (format!("{at},b\"c,\r\n"), [at.to_string(), "b\"c".into(), String::new()]),
            2 => (format!("\n\r\n{at},,d\r"), [at.to_string(), String::new(), "d".into()]),
            3 => (format!(",,{at}\r\n\r\n"), [String::new(), String::new(), at.to_string()]),
            _ => (format!("{at},1,2\n"), [at.to_string(), "1".into(), "2".into()]),
        };
        text.extend_from_slice(row.as_bytes());
        expected.push(cells.map(String::into_bytes).to_vec());
    }
    assert!(text.len() > 2 * container_core::source::PIECE_LEN);
    // Not `assert_eq`, which would write all of it.
    assert!(rows(&text) == expected);
    text.pop();
    assert!(rows(&text) == expected);
}

#[test]
fn column_names_define_axes_and_sub_arrays() {
    let cube = "axis0,axis1,axis2,value\n0,0,0,7\n0,0,1,8\n1,0,0,9\n1,0,1,6\n";
    let plain = found(cube);
    assert_eq!(kind(&plain), ("<i8".to_owned(), vec![2, 1, 2]));
    assert_eq!(bytes(&plain), [7_i64, 8, 9, 6].map(i64::to_le_bytes).concat());
    // Without a place, out of order, or twice: columns like others.
    for text in
        [cube.replace("1,0,1", "1,1,1"), cube.replace("0,0,1", "1,0,2"), cube.replace("0,0,1", "0,0,0")]
    {
        assert_eq!(kind(&found(&text)).1, [4], "{text}");
    }
    // Fields of these names, where the requested type has all of them.
    let record = r#"[["axis0", "<i8"], ["axis1", "<i8"], ["axis2", "<i8"], ["value", "<i8"]]"#;
    assert_eq!(kind(&asked(cube.as_bytes(), record, Header::Auto).unwrap()), (record.to_owned(), vec![4]));
    let parts = found("p[0],p[1],q,m[0][0],m[0][1],m[1][0],m[1][1],r[0],r[2]\n1,2,3,4,5,6,7,8,9\n");
    let dtype =
        r#"[["p", "<i8", [2]], ["q", "<i8"], ["m", "<i8", [2, 2]], ["r[0]", "<i8"], ["r[2]", "<i8"]]"#;
    assert_eq!(kind(&parts), (dtype.to_owned(), vec![1]));
    assert_eq!(bytes(&parts), [1_i64, 2, 3, 4, 5, 6, 7, 8, 9].map(i64::to_le_bytes).concat());
}

#[test]
fn names_are_held_against_those_of_the_records() {
    let dtype = r#"[["a", "<i2"], ["p", "<i2", [2]], ["in", [["x", "<i2"]]]]"#;
    let row = |lead: &str| format!("{lead}\n1,2,3,4\n").into_bytes();
    let packed = |lead: &str, header| asked(&row(lead), dtype, header);
    let added = |lead: &str, header| {
        let csv = Csv { header, ..Csv::default() };
        rows_like(&row(lead), &csv, (&DType::parse(dtype).unwrap(), &[]), &Limits::default())
    };
    let values = [1_i16, 2, 3, 4].map(i16::to_le_bytes).concat();
    for (lead, header) in [
        ("a,p[0],p[1],in.x", Header::Auto),
        ("a,p[0],p[1],in.x", Header::Names),
        ("in.x,p[0],p[1],a", Header::Skip),
    ] {
        assert_eq!(bytes(&packed(lead, header).unwrap()), values, "{lead}");
        assert_eq!(bytes(&added(lead, header).unwrap()), values, "{lead}");
    }
    // Other names are new ones when packing, and names of other columns when appending.
    for header in [Header::Auto, Header::Names] {
        assert_eq!(bytes(&packed("b,q,r,s", header).unwrap()), values);
        let error = added("a,q,r,s", header).err().unwrap();
        assert_eq!(error.to_string(), r#"column 2 is called "q" (expected "p[0]")"#);
        for error in [packed("a,p[0],in.x,p[1]", header), added("a,p[0],in.x,p[1]", header)] {
            let error = error.err().unwrap();
            assert_eq!(error.to_string(), r#"column 3 is called "in.x" (expected "p[1]")"#);
        }
    }
    // One of them in another place is enough, and a space after a comma is not part of a name.
    let three = r#"[["x", "<i2"], ["y", "<i2"], ["z", "<i2"]]"#;
    for lead in ["y,x,w", "y, x, z", "w,v,x"] {
        let error = asked(format!("{lead}\n1,2,3\n").as_bytes(), three, Header::Auto).err().unwrap();
        assert!(error.to_string().contains("is called"), "{lead}: {error}");
    }
    assert_eq!(kind(&asked(b"x, y, w\n1,2,3\n", three, Header::Auto).unwrap()).1, [1]);
    // Columns that only count are counted.
    let cube = b"axis0,axis1,b,a\n0,0,1,2\n0,1,3,4\n";
    let error = asked(cube, r#"[["a", "<i2"], ["b", "<i2"]]"#, Header::Auto).err().unwrap();
    assert!(error.to_string().starts_with("column 3 is called \"b\""), "{error}");
    // As `pack` calls a column without a name.
    let unnamed = rows_like(
        &b",v\n1,2\n".to_vec(),
        &Csv { header: Header::Names, ..Csv::default() },
        (&DType::parse(r#"[["f0", "<i2"], ["v", "<i2"]]"#).unwrap(), &[]),
        &Limits::default(),
    );
    assert_eq!(bytes(&unnamed.unwrap()), [1, 0, 2, 0]);
}

/// Records of text alone, invalid dates: a row that could be values is names where it has those of the columns.
#[test]
fn header_row_is_distinguished_from_text_and_date_values() {
    let texts = r#"[["x", "<U4"], ["p", "<U4", [2]], ["in", [["y", "|S4"]]]]"#;
    let record = DType::parse(texts).unwrap();
    let added = |text: &str| {
        rows_like(&text.as_bytes().to_vec(), &Csv::default(), (&record, &[]), &Limits::default())
    };
    let rows = |plain: Result<Plain>| kind(&plain.unwrap()).1;
    let row = "q,r,s,t\n";
    for (text, count) in [
        (format!("x,p[0],p[1],in.y\n{row}"), 1),
        (format!("x, p[0], p[1], in.y\n{row}"), 1),
        (format!("x,p[0],p[1],z\n{row}"), 2),
        (row.to_owned(), 1),
    ] {
        assert_eq!(rows(added(&text)), [count], "{text}");
        assert_eq!(rows(asked(text.as_bytes(), texts, Header::Auto)), [count], "{text}");
    }
    let swapped = format!("in.y,p[0],p[1],x\n{row}");
    assert!(added(&swapped).is_err() && asked(swapped.as_bytes(), texts, Header::Auto).is_err());
    let plane = r#"[["x", "<U4"], ["y", "<U4"]]"#;
    assert_eq!(rows(asked(b"axis0,axis1,x,y\n0,0,a,b\n0,1,c,d\n", plane, Header::Auto)), [1, 2]);
    let cube = "axis0,axis1,axis2,value\n0,0,0,a\n0,0,1,b\n";
    assert_eq!(rows(asked(cube.as_bytes(), "<U4", Header::Auto)), [1, 1, 2]);
    let dated = r#"[["name", "<U4"], ["day", "<M8[D]"]]"#;
    assert_eq!(rows(asked(b"abc,NaT\nd,2021-02-03\n", dated, Header::Auto)), [2]);
    assert_eq!(rows(asked(b"name,day\nd,2021-02-03\n", dated, Header::Auto)), [1]);
    assert_eq!(rows(asked(b"NaT\n2021-02-03\n", "<M8[D]", Header::Auto)), [2]);
    assert_eq!(rows(asked(b"day\n2021-02-03\n", "<M8[D]", Header::Auto)), [1]);
}

/// Integers alone are kept from the first reading: they are those of the second, whatever the first row is.
#[test]
fn tables_of_integers_are_what_they_are_by_their_type() {
    let body = |rows: i64| -> String {
        (0..rows).map(|at| format!("{},{at}\n", at.wrapping_mul(0x1234_5678_9abc))).collect()
    };
    let check = |text: String, header| {
        let Ok(found) = asked(text.as_bytes(), "", header) else { return };
        let (dtype, shape) = kind(&found);
        let again = asked(text.as_bytes(), &dtype, header).unwrap();
        let start: String = text.chars().take(20).collect();
        assert_eq!(kind(&again).1, shape, "{start:?} {header:?}");
        assert!(bytes(&again) == bytes(&found), "{start:?} {header:?}");
    };
    let first =
        ["", "1,2\n", "a,b\n", " 7 ,+8\n", "a,1\n", "1.5,2\n", "18446744073709551615,0\n", "p[0],p[1]\n"];
    for first in first {
        for header in [Header::Auto, Header::Names, Header::Skip, Header::None] {
            check(format!("{first}{}9,\"-1\"\n", body(3)), header);
        }
    }
    // More than stays in memory.
    check(body(70_000), Header::Auto);
    assert_eq!(kind(&found("1,2\n-3,4\n")), ("<i8".to_owned(), vec![2, 2]));
}

/// Names do not turn a type without fields into records, and axes are axes.
#[test]
fn rows_of_more_axes_are_added_with_their_names() {
    let text = b"axis0,axis1,axis2,value\n0,0,0,1\n0,0,1,2\n1,0,0,3\n1,0,1,4\n".to_vec();
    let dtype = DType::parse("<i2").unwrap();
    for header in [Header::Auto, Header::Names] {
        let csv = Csv { header, ..Csv::default() };
        let plain = rows_like(&text, &csv, (&dtype, &[1, 2]), &Limits::default()).unwrap();
        assert_eq!(kind(&plain), ("<i2".to_owned(), vec![2, 1, 2]));
        assert_eq!(bytes(&plain), [1_i16, 2, 3, 4].map(i16::to_le_bytes).concat());
        let matrix = rows_like(&b"a,b\n1,2\n".to_vec(), &csv, (&dtype, &[2]), &Limits::default()).unwrap();
        assert_eq!(kind(&matrix), ("<i2".to_owned(), vec![1, 2]));
    }
}

#[test]
fn quote_and_newline_delimiters_are_refused() {
    for delimiter in [b'"', b'\r', b'\n'] {
        let csv = Csv { delimiter, ..Csv::default() };
        let error = open_csv(&b"1,2\n".to_vec(), &csv, &Limits::default()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    }
}

#[test]
fn requested_dtype_applies_to_cells_or_records() {
    let of = |text: &str, dtype: &str, header| {
        let plain = asked(text.as_bytes(), dtype, header).unwrap();
        (kind(&plain).1, bytes(&plain))
    };
    assert_eq!(of("1,2\n3,4\n", ">u2", Header::Auto), (vec![2, 2], vec![0, 1, 0, 2, 0, 3, 0, 4]));
    assert_eq!(of("a,b\n3,4\n", "|i1", Header::Auto), (vec![1, 2], vec![3, 4]));
    assert_eq!(of("a\nb\n", "|S2", Header::Auto), (vec![2], b"a\0b\0".to_vec()));
    assert_eq!(of("1\n0\nTrue\n", "|b1", Header::Auto), (vec![3], vec![1, 0, 1]));
    assert_eq!(of("0x00fF\n", "|V2", Header::Auto), (vec![1], vec![0, 255]));
    assert_eq!(
        of("1970-01-02\nNaT\n", "<M8[D]", Header::Auto).1,
        [1, i64::MIN].map(i64::to_le_bytes).concat()
    );
    assert_eq!(of("5\n", ">m8[s]", Header::Auto).1, 5_i64.to_be_bytes());
    assert_eq!(of("", "<f8", Header::Auto), (vec![0], vec![]));
    let record = "[('a', '|u1'), ('p', '>u2', (2,))]";
    assert_eq!(of("1,2,3\n", record, Header::Auto), (vec![1], vec![1, 0, 2, 0, 3]));
    assert_eq!(of("x,y,z\n1,2,3\n", record, Header::Auto), (vec![1], vec![1, 0, 2, 0, 3]));
    let names = asked(b"x,y\n1,2\n", "|u1", Header::Names).unwrap();
    assert_eq!(kind(&names).0, r#"[["x", "|u1"], ["y", "|u1"]]"#);
}

#[test]
fn invalid_cells_are_errors_with_row_and_range() {
    for (text, dtype, range, what) in [
        ("1\n300\n", "|u1", Some(2..6), r#"row 2: column 1: "300" is not |u1"#),
        ("300\n1\n", "|u1", Some(0..4), r#"row 1: column 1: "300" is not |u1"#),
        ("1,2\n3\n", "", Some(4..6), "row 2: 1 cells (expected 2, as in the first row)"),
        ("1\nx\n", "<f4", Some(2..4), r#"row 2: column 1: "x" is not <f4"#),
        ("1e39\n", "<f4", Some(0..5), r#"row 1: column 1: "1e39" is not <f4"#),
        ("65520\n", "<f2", Some(0..6), r#"row 1: column 1: "65520" is not <f2"#),
        ("1.0\n", "<i8", Some(0..4), r#"row 1: column 1: "1.0" is not <i8"#),
        ("abc\n", "<U2", Some(0..4), r#"row 1: column 1: "abc" is not <U2"#),
        ("2021-02-29\n", "<M8[D]", Some(0..11), r#"row 1: column 1: "2021-02-29" is not <M8[D]"#),
        ("0x0\n", "|V1", Some(0..4), r#"row 1: column 1: "0x0" is not |V1"#),
        ("1,2\n", "[('a', '|u1')]", None, r#"2 columns ([["a", "|u1"]] has 1)"#),
        ("", "", None, "a table without values has no type"),
    ] {
        let error = asked(text.as_bytes(), dtype, Header::Auto).err().expect(what);
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(error.to_string().contains(what), "{error}");
        assert_eq!(error.range(), range, "{text:?}");
    }
    let twice = asked(b"a,a\n1,2\n", "", Header::Auto).err().unwrap();
    assert!(twice.to_string().contains(r#"two columns are called "a""#), "{twice}");
}

#[test]
fn memory_and_size_are_bounded() {
    let mut limits = Limits::default();
    limits.memory = 1 << 16;
    let read = |text: Vec<u8>| decode(&text, &Csv::default(), &limits).err().unwrap();
    let unended = [b"1,2\n\"".to_vec(), vec![b'x'; 1 << 17]].concat();
    for text in [unended, vec![b','; 1 << 17]] {
        let error = read(text);
        assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    }
    // The elements of a row, which are longer than its text.
    let long = Csv { dtype: DType::parse("<U65536").ok(), ..Csv::default() };
    let error = decode(&b"1,2\n".to_vec(), &long, &limits).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    // One long cell would be as long in all rows.
    let text = [vec![b'x'; 1 << 16], b"\ny".repeat(1 << 10)].concat();
    let error = decode(&text, &Csv::default(), &Limits::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let wide = Csv { dtype: DType::parse("<U65536").ok(), ..Csv::default() };
    assert!(decode(&text[..1 << 16].to_vec(), &wide, &Limits::default()).is_ok());
}

/// 65535³ records without bytes, next to one byte.
#[test]
fn zero_size_fields_have_no_columns_and_are_skipped_fast() {
    let nothing = "['a', [['b', [['c', [], [65535]]], [65535]]], [65535]]";
    let plain = asked(b"1\n2\n", &format!("[{nothing}, ['x', '|u1']]"), Header::None).unwrap();
    assert_eq!((kind(&plain).1, bytes(&plain)), (vec![2], vec![1, 2]));
}

#[test]
fn records_have_a_bound_and_matrices_do_not() {
    let names: Vec<String> = (0..70_000).map(|at| format!("c{at}")).collect();
    let numbers = ["1"; 70_000].join(",");
    let text = format!("{}\n{numbers}\n", names.join(","));
    let error = asked(text.as_bytes(), "", Header::Auto).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert_eq!(kind(&asked(text.as_bytes(), "", Header::Skip).unwrap()).1, [1, 70_000]);
}

proptest! {
    /// Numbers come back from the text that `cat` writes of them, in their own type.
    #[test]
    fn numbers_come_back_from_their_text(bits in prop::collection::vec(any::<u64>(), 1..20)) {
        let text_of = |bits: &[u64]| bits.iter().map(|value| i64::to_le_bytes(*value as i64)).collect::<Vec<_>>().concat();
        for dtype in ["|i1", ">u2", "<i4", ">i8", "<u8", "<f2", ">f2", "<f4", ">f4", "<f8", "<c8", "<c16", "<m8[s]", "<M8[ns]", ">M8[7D]", "|b1", "|V8"] {
            let size = DType::parse(dtype).unwrap().itemsize();
            let mut all = text_of(&bits);
            all.truncate(all.len() / 16 * 16);
            if dtype == "|b1" {
                all.iter_mut().for_each(|byte| *byte &= 1);
            }
            let shape = [(all.len() / size) as u64];
            let text = as_csv(dtype, &shape, &all);
            let back = asked(&text, dtype, Header::None);
            if all.is_empty() {
                continue;
            }
            let back = back.unwrap();
            // The bits of NaN are not in its text.
            prop_assert_eq!(as_csv(dtype, &shape, &bytes(&back)), text.clone(), "{}", dtype);
            if !String::from_utf8(text).unwrap().contains("nan") {
                prop_assert_eq!(bytes(&back), all, "{}", dtype);
            }
        }
    }

    /// Text of any kind comes back, empty cells among it.
    #[test]
    fn text_comes_back(cells in prop::collection::vec("[a-c,\"\n\r \u{e9}]{0,3}", 1..12)) {
        let width = 3;
        let points = cells.iter().flat_map(|cell| {
            let mut points: Vec<u32> = cell.chars().map(u32::from).collect();
            points.resize(width, 0);
            points
        });
        let all: Vec<u8> = points.flat_map(u32::to_le_bytes).collect();
        let text = as_csv("<U3", &[cells.len() as u64, 1], &all);
        let back = asked(&text, "<U3", Header::None).unwrap();
        prop_assert_eq!(bytes(&back), all);
    }

    /// Rows are those of `csv_core` alone.
    #[test]
    fn rows_are_those_of_the_library(text in prop::collection::vec(prop::sample::select(b"ab,,\"\"\r\n\n\xef".to_vec()), 0..60)) {
        let mut expected: Vec<Vec<Vec<u8>>> = Vec::new();
        let mut core = csv_core::Reader::new();
        let (mut cells, mut ends) = ([0; 64], [0; 64]);
        let (mut at, mut len, mut count) = (0, 0, 0);
        loop {
            let (result, read, wrote, ended) = core.read_record(&text[at..], &mut cells[len..], &mut ends[count..]);
            (at, len, count) = (at + read, len + wrote, count + ended);
            match result {
                ReadRecordResult::InputEmpty => {}
                ReadRecordResult::Record => {
                    let starts = [0].iter().chain(&ends);
                    expected.push(starts.zip(&ends[..count]).map(|(start, end)| cells[*start..*end].to_vec()).collect());
                    (len, count) = (0, 0);
                }
                ReadRecordResult::End => break,
                full => panic!("{full:?}"),
            }
        }
        prop_assert_eq!(rows(&text), expected);
    }

    /// No text at all is more than an error.
    #[test]
    fn any_text_is_read_or_refused(text in prop::collection::vec(any::<u8>(), 0..200), header in 0..4_usize) {
        let header = [Header::Auto, Header::Names, Header::Skip, Header::None][header];
        for dtype in ["", "<f4", "|S3", "[('a', '<U2'), ('b', '|u1', (2,))]"] {
            if let Ok(plain) = asked(&text, dtype, header) {
                let shape = &plain.datasets()[0].shape;
                prop_assert_eq!(bytes(&plain).len() as u64, shape.iter().product::<u64>() * plain.datasets()[0].dtype.itemsize() as u64);
            }
        }
    }
}
