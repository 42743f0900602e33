use super::*;
use crate::testing::{Memory, npy_bytes};
use container_core::ErrorKind;
use container_core::container::Container;
use container_core::dtype::{ByteOrder, DType, Field, Kind, Order, Record};

fn exported(
    container: &Memory,
    selection: &str,
    format: ExportFormat,
    as_stored: AsStored,
) -> Result<Vec<u8>> {
    let region = Region::parse(selection, &container.datasets()[0].shape)?;
    let mut out = Vec::new();
    let read = ReadOptions::default();
    export(container, 0, &region, format, as_stored, &read, Progress::none(), &mut out)?;
    Ok(out)
}

fn text_of(container: &Memory, selection: &str, format: ExportFormat) -> String {
    String::from_utf8(exported(container, selection, format, AsStored::No).unwrap()).unwrap()
}

fn one(dtype: &str, shape: &[u64], bytes: &[u8]) -> Memory {
    Memory::new().with("data", dtype, shape, bytes)
}

fn points(text: &str) -> Vec<u8> {
    text.chars().flat_map(|point| u32::from(point).to_le_bytes()).collect()
}

/// Two axes stored column by column: [[0, 1, 2], [3, 4, 5]] as big-endian 2-byte integers.
fn column_major() -> Memory {
    let dtype = DType::parse(">i2").unwrap();
    Memory::new().with_type("data", dtype, &[2, 3], Order::F, &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5])
}

/// numpy.savetxt(sys.stdout, a, '%d') for one and two axes.
#[test]
fn text_is_in_rows_as_savetxt_has_them() {
    use ExportFormat::Text;
    let bytes: Vec<u8> = (0..12).collect();
    assert_eq!(text_of(&one("|u1", &[3], &bytes[..3]), "...", Text), "0\n1\n2\n");
    assert_eq!(text_of(&one("|u1", &[2, 3], &bytes[..6]), "...", Text), "0 1 2\n3 4 5\n");
    assert_eq!(text_of(&column_major(), "...", Text), "0 1 2\n3 4 5\n");
    assert_eq!(text_of(&column_major(), "1, ::-2", Text), "5\n3\n");
    assert_eq!(text_of(&column_major(), "1, 0", Text), "3\n");
    assert_eq!(text_of(&column_major(), "0:0", Text), "");
    let cube = one("|u1", &[2, 3, 2], &bytes);
    assert_eq!(text_of(&cube, "...", Text), "0 1\n2 3\n4 5\n\n6 7\n8 9\n10 11\n");
    let four = one("|u1", &[2, 1, 1, 2], &bytes[..4]);
    assert_eq!(text_of(&four, "...", Text), "0 1\n\n2 3\n");
}

#[test]
fn csv_has_columns_rows_or_indices() {
    use ExportFormat::Csv;
    let bytes: Vec<u8> = (0..8).collect();
    assert_eq!(text_of(&one("|u1", &[], &[7]), "...", Csv), "7\n");
    assert_eq!(text_of(&one("|u1", &[3], &bytes[..3]), "...", Csv), "0\n1\n2\n");
    assert_eq!(text_of(&one("|u1", &[3, 1], &bytes[..3]), "...", Csv), "0\n1\n2\n");
    assert_eq!(text_of(&column_major(), "...", Csv), "0,1,2\n3,4,5\n");
    let cube = text_of(&one("|u1", &[2, 2, 2], &bytes), "1", Csv);
    assert_eq!(cube, "4,5\n6,7\n");
    let cube = text_of(&one("|u1", &[2, 2, 2], &bytes), "1:", Csv);
    assert_eq!(cube, "axis0,axis1,axis2,value\n0,0,0,4\n0,0,1,5\n0,1,0,6\n0,1,1,7\n");
}

/// The quoting is that of Python's csv.writer(lineterminator='\n').
#[test]
fn csv_spreads_records_and_quotes_what_needs_it() {
    use ExportFormat::Csv;
    let dtype = "[('n, m', '<i2'), ('s', '|S3'), ('u', '<U3'), ('p', [('x', '|u1', (2,))])]";
    let bytes = [
        &[1, 0][..],
        b"a,\0",
        &points("\"q\n"),
        &[8, 9],
        &[2, 0],
        b"\xff\0\0",
        &points("é"),
        &[0; 8],
        &[6, 7],
    ];
    let records = one(dtype, &[2], &bytes.concat());
    assert_eq!(
        text_of(&records, "...", Csv),
        "\"n, m\",s,u,p.x[0],p.x[1]\n1,\"a,\",\"\"\"q\n\",8,9\n2,b'\\xff',é,6,7\n"
    );
    let matrix = one("[('a', '|u1')]", &[1, 2], &[5, 6]);
    assert_eq!(text_of(&matrix, "...", Csv), "axis0,axis1,a\n0,0,5\n0,1,6\n");
}

/// The numbers are those of Python's json.dumps; the rest follows cli.md on machine output.
#[test]
fn json_nests_lists_and_spells_what_json_lacks() {
    use ExportFormat::Json;
    assert_eq!(text_of(&column_major(), "...", Json), "[[0,1,2],\n[3,4,5]]\n");
    assert_eq!(text_of(&column_major(), "1, 2", Json), "5\n");
    assert_eq!(text_of(&one("|u1", &[2, 1, 2], &[1, 2, 3, 4]), "...", Json), "[[[1,2]],\n[[3,4]]]\n");
    let numbers = [0.1, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e16, -0.0];
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_be_bytes()).collect();
    let floats = text_of(&one(">f8", &[6], &bytes), "...", Json);
    assert_eq!(floats, "[0.1,\"NaN\",\"Infinity\",\"-Infinity\",1e+16,-0.0]\n");
    let complex = [1_f32, f32::NAN].iter().flat_map(|part| part.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(text_of(&one("<c8", &[1], &complex), "...", Json), "[[1.0,\"NaN\"]]\n");
    assert_eq!(text_of(&one("|b1", &[2], &[1, 0]), "...", Json), "[true,false]\n");
    assert_eq!(text_of(&one("|S3", &[1], b"a\xff\0"), "...", Json), "[\"61ff\"]\n");
    assert_eq!(text_of(&one("|V2", &[1], b"a\0"), "...", Json), "[\"6100\"]\n");
    assert_eq!(text_of(&one("<U2", &[1], &points("\"\n")), "...", Json), "[\"\\\"\\n\"]\n");
    let times = [1_i64, i64::MIN].iter().flat_map(|count| count.to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(text_of(&one("<M8[D]", &[2], &times), "...", Json), "[\"1970-01-02\",\"NaT\"]\n");
    assert_eq!(text_of(&one("<m8[D]", &[2], &times), "...", Json), "[1,\"NaT\"]\n");
    let dtype = "[('a', '|u1'), ('b', '|u1', (2,))]";
    assert_eq!(text_of(&one(dtype, &[1], &[1, 2, 3]), "...", Json), "[{\"a\":1,\"b\":[2,3]}]\n");
}

/// `str` of numpy's masked arrays has `--`; JSON has null, CSV a cell without anything.
#[test]
fn missing_elements_are_shown_as_such() {
    let singles = |values: &[f32]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<_>>();
    let rows = one("<f4", &[2, 2], &singles(&[1.0, 9.0, 3.0, 4.0])).masked("data", &[0, 1, 0, 0]);
    assert_eq!(text_of(&rows, "...", ExportFormat::Text), "1.0 --\n3.0 4.0\n");
    assert_eq!(text_of(&rows, "...", ExportFormat::Csv), "1.0,\n3.0,4.0\n");
    assert_eq!(text_of(&rows, "...", ExportFormat::Json), "[[1.0,null],\n[3.0,4.0]]\n");
    assert_eq!(text_of(&rows, "0, ::-1", ExportFormat::Json), "[null,1.0]\n");
    let column = one("|u1", &[2], &[1, 2]).masked("data", &[1, 0]);
    assert_eq!(text_of(&column, "...", ExportFormat::Csv), "\"\"\n2\n");
    let records = one(
        "[('a', '|u1'), ('t', '<U1'), ('v', '|u1', (2,))]",
        &[2],
        &[1, b'x', 0, 0, 0, 2, 3, 4, b'y', 0, 0, 0, 5, 6],
    );
    let fields = records.masked("data", &[0, 1, 0, 1, 1, 0, 0, 0]);
    assert_eq!(text_of(&fields, "...", ExportFormat::Text), "(1, --, [2, --])\n(--, 'y', [5, 6])\n");
    assert_eq!(text_of(&fields, "...", ExportFormat::Csv), "a,t,v[0],v[1]\n1,,2,\n,y,5,6\n");
    assert_eq!(
        text_of(&fields, "...", ExportFormat::Json),
        "[{\"a\":1,\"t\":null,\"v\":[2,null]},{\"a\":null,\"t\":\"y\",\"v\":[5,6]}]\n"
    );
}

/// `numpy.ma.MaskedArray.filled` with NaN, and the stored value for types without NaN.
#[test]
fn formats_without_masks_store_nan_and_report_the_loss() {
    let halves = one(">f2", &[3], &[0x3c, 0, 0x40, 0, 0x42, 0]).masked("data", &[0, 1, 0]);
    let mut out = Vec::new();
    let (region, read) = (Region::whole(&[3]), ReadOptions::default());
    let losses =
        export(&halves, 0, &region, ExportFormat::Raw, AsStored::No, &read, Progress::none(), &mut out)
            .unwrap();
    assert_eq!(out, [0, 0x3c, 0, 0x7e, 0, 0x42]);
    assert_eq!(losses[0].what, "mask: 1 of 3 elements is missing (null or masked); each is NaN");
    let whole = one("<i2", &[2], &[1, 0, 2, 0]).masked("data", &[1, 0]);
    let file = exported(&whole, "...", ExportFormat::Npy, AsStored::No).unwrap();
    assert_eq!(file[file.len() - 4..], [1, 0, 2, 0]);
    let complex = one("<c8", &[1], &[1; 8]).masked("data", &[1]);
    assert_eq!(
        exported(&complex, "...", ExportFormat::Raw, AsStored::No).unwrap(),
        [0, 0, 0xc0, 0x7f, 0, 0, 0, 0]
    );
    let dates = one("<M8[D]", &[1], &[1; 8]).masked("data", &[1]);
    assert_eq!(exported(&dates, "...", ExportFormat::Raw, AsStored::No).unwrap(), i64::MIN.to_le_bytes());
}

#[test]
fn json_integers_are_numbers_up_to_64_bits() {
    let wide = |kind, value: &[u8]| {
        let dtype = DType::new(kind, value.len(), ByteOrder::Little);
        text_of(&Memory::new().with_type("data", dtype, &[], Order::C, value), "...", ExportFormat::Json)
    };
    assert_eq!(wide(Kind::Uint, &u64::MAX.to_le_bytes()), "18446744073709551615\n");
    assert_eq!(wide(Kind::Int, &(-5_i128).to_le_bytes()), "-5\n");
    assert_eq!(wide(Kind::Uint, &(1_u128 << 64).to_le_bytes()), "\"18446744073709551616\"\n");
    assert_eq!(wide(Kind::Int, &i128::MIN.to_le_bytes()), "\"-170141183460469231731687303715884105728\"\n");
}

/// json.dumps(np.zeros(shape).tolist()).
#[test]
fn json_keeps_the_shape_of_arrays_without_elements() {
    for (shape, text) in
        [(&[0][..], "[]\n"), (&[2, 0], "[[],[]]\n"), (&[0, 3], "[]\n"), (&[1, 2, 0], "[[[],[]]]\n")]
    {
        assert_eq!(text_of(&one("<f8", shape, &[]), "...", ExportFormat::Json), text);
    }
    // numpy cannot have such an array; the lists are not spelled out.
    assert_eq!(text_of(&one("<f8", &[1 << 60, 0], &[]), "...", ExportFormat::Json), "[]\n");
}

#[test]
fn raw_is_row_by_row_and_little_endian() {
    let raw = |selection| exported(&column_major(), selection, ExportFormat::Raw, AsStored::No).unwrap();
    assert_eq!(raw("..."), [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    assert_eq!(raw(":, 1"), [1, 0, 4, 0]);
}

#[test]
fn npy_keeps_byte_order_and_column_major_data() {
    let file = exported(&column_major(), "...", ExportFormat::Npy, AsStored::No).unwrap();
    let expected = npy_bytes(">i2", "True", "(2, 3)", &[0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5]);
    // numpy leaves room in the header for the last axis to grow, so only its text is compared.
    assert_eq!(file[10..70], expected[10..70]);
    assert_eq!(file[file.len() - 12..], expected[expected.len() - 12..]);
}

#[test]
fn npy_widens_bfloat16_unless_as_stored() {
    let dtype = DType::new(Kind::BFloat, 2, ByteOrder::Big);
    // 1.0 and -2.0, whose singles have these bytes first.
    let memory = Memory::new().with_type("data", dtype, &[2], Order::C, &[0x3f, 0x80, 0xc0, 0x00]);
    let widened = exported(&memory, "...", ExportFormat::Npy, AsStored::No).unwrap();
    assert!(String::from_utf8_lossy(&widened).contains("'<f4'"));
    assert_eq!(widened[widened.len() - 8..], [1_f32.to_le_bytes(), (-2_f32).to_le_bytes()].concat());
    let bits = exported(&memory, "...", ExportFormat::Npy, AsStored::Yes).unwrap();
    assert!(String::from_utf8_lossy(&bits).contains("'>u2'"));
    assert_eq!(bits[bits.len() - 4..], [0x3f, 0x80, 0xc0, 0x00]);
}

#[test]
fn elements_of_no_bytes_are_counted_but_not_without_end() {
    assert_eq!(text_of(&one("|S0", &[2], b""), "...", ExportFormat::Text), "b''\nb''\n");
    let many = exported(&one("|S0", &[1 << 60], b""), "...", ExportFormat::Text, AsStored::No);
    assert!(matches!(many.unwrap_err().kind(), ErrorKind::Limit { asked: 0x1000_0000_0000_0000, .. }));
}

#[test]
fn a_record_of_too_many_columns_is_refused() {
    let field = Field {
        name: "a".into(),
        title: None,
        dtype: DType::native(Kind::Uint, 1),
        shape: vec![70_000],
        offset: 0,
    };
    let dtype = DType::Record(Record { fields: vec![field], size: 70_000 });
    let memory = Memory::new().with_type("data", dtype, &[0], Order::C, &[]);
    let error = exported(&memory, "...", ExportFormat::Csv, AsStored::No).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
}

#[test]
fn damage_is_an_error_with_its_place() {
    let torn = one("<u2", &[2], &[0; 4]).damaged("data");
    for format in ExportFormat::ALL {
        let error = exported(&torn, "...", format, AsStored::No).unwrap_err();
        assert_eq!((error.range(), error.is_damage()), (Some(16..48), true), "{format:?}");
    }
}

#[test]
fn closed_pipe_is_reported_as_broken_pipe() {
    struct Closed;
    impl Write for Closed {
        fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
            Err(std::io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let memory = one("|u1", &[3], &[1, 2, 3]);
    let region = Region::whole(&[3]);
    for format in ExportFormat::ALL {
        let read = ReadOptions::default();
        let result = export(&memory, 0, &region, format, AsStored::No, &read, Progress::none(), &mut Closed);
        let error = result.unwrap_err();
        assert!(
            matches!(error.kind(), ErrorKind::Io(error) if error.kind() == std::io::ErrorKind::BrokenPipe)
        );
    }
}

#[test]
fn formats_are_found_by_name_and_extension() {
    for format in ExportFormat::ALL {
        assert_eq!(ExportFormat::by_name(format.name()).unwrap(), format);
        assert_eq!(
            ExportFormat::for_path(Path::new(&format!("a.{}", format.name().to_uppercase()))),
            Some(format)
        );
    }
    assert_eq!(ExportFormat::for_path(Path::new("a.txt")), Some(ExportFormat::Text));
    assert_eq!(ExportFormat::for_path(Path::new("a.ra")), None);
    assert_eq!(ExportFormat::for_path(Path::new("npy")), None);
    assert!(ExportFormat::by_name("xml").unwrap_err().to_string().contains("text, csv, json, raw, npy"));
}

mod any_type {
    use super::*;
    use proptest::prelude::*;

    fn scalars() -> impl Strategy<Value = DType> {
        let kind = prop::sample::select(vec![
            Kind::Bool,
            Kind::Int,
            Kind::Uint,
            Kind::Float,
            Kind::BFloat,
            Kind::Complex,
            Kind::Bytes,
            Kind::Unicode,
            Kind::Void,
            Kind::Datetime("[25s]".into()),
            Kind::Datetime("[9223372036854775807W]".into()),
            Kind::Datetime("[]".into()),
            Kind::Timedelta(String::new()),
        ]);
        let order = prop::sample::select(vec![ByteOrder::Little, ByteOrder::Big]);
        (kind, 0_usize..19, order).prop_map(|(kind, size, order)| DType::new(kind, size, order))
    }

    /// Records with fields at any offset, some of them outside.
    fn types() -> impl Strategy<Value = DType> {
        scalars().prop_recursive(3, 12, 3, |inner| {
            let field = (inner, 0_usize..40, prop::collection::vec(0_usize..4, 0..3));
            (prop::collection::vec(field, 0..4), 0_usize..40).prop_map(|(fields, size)| {
                let named = fields.into_iter().enumerate().map(|(at, (dtype, offset, shape))| Field {
                    name: format!("f{at}"),
                    title: None,
                    dtype,
                    shape,
                    offset,
                });
                DType::Record(Record { fields: named.collect(), size })
            })
        })
    }

    proptest! {
        #[test]
        fn no_bytes_of_any_type_stop_the_printer(
            dtype in types(),
            bytes in prop::collection::vec(prop::sample::select(vec![0_u8, 1, 0x22, 0x3c, 0x7f, 0x80, 0xff]), 80),
        ) {
            let size = dtype.itemsize();
            let memory = Memory::new().with_type("data", dtype, &[2], Order::C, &bytes[..size * 2]);
            for format in [ExportFormat::Text, ExportFormat::Csv, ExportFormat::Json] {
                let text = String::from_utf8(exported(&memory, "...", format, AsStored::No).unwrap()).unwrap();
                prop_assert!(text.ends_with('\n'));
                if format == ExportFormat::Json {
                    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
                    prop_assert_eq!(value.as_array().map(Vec::len), Some(2));
                }
                if format == ExportFormat::Text {
                    prop_assert_eq!(text.lines().count(), 2);
                }
            }
        }
    }
}

/// 65535³ records without bytes, within one element of one byte.
#[test]
fn csv_omits_columns_of_zero_size_records() {
    let nothing = "['a', [['b', [['c', [], [65535]]], [65535]]], [65535]]";
    let records = one(&format!("[{nothing}, ['x', '|u1'], ['e', '|u1', [0]]]"), &[2], &[5, 6]);
    assert_eq!(text_of(&records, "...", ExportFormat::Csv), "x\n5\n6\n");
}

#[test]
fn items_of_text_are_text() {
    let item = |bytes: &[u8]| {
        let item = one("|u1", &[bytes.len() as u64], bytes);
        item.attribute("data", container_core::format::ITEM, "text")
    };
    let text = "two\r\nlines, é";
    assert_eq!(text_of(&item(text.as_bytes()), "...", ExportFormat::Text), "two\\r\nlines, é\n");
    assert_eq!(text_of(&item(b"ended\n"), "...", ExportFormat::Text), "ended\n");
    assert_eq!(text_of(&item(b""), "...", ExportFormat::Text), "");
    assert_eq!(text_of(&item("é".as_bytes()), "0:1", ExportFormat::Text), "\u{fffd}\n");
    assert_eq!(exported(&item(b"a\xff"), "...", ExportFormat::Raw, AsStored::No).unwrap(), b"a\xff");
}
