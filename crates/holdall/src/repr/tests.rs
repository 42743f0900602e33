//! Expected texts are the output of numpy 1.26 for the same bytes: `str()` of the scalar, and `repr()` of Python's own types.

use super::*;

fn shown(dtype: &str, bytes: &[u8]) -> String {
    let mut out = String::new();
    write_item(&DType::parse(dtype).unwrap(), bytes, &mut out);
    out
}

fn double(bits: u64) -> String {
    let little = shown("<f8", &bits.to_le_bytes());
    assert_eq!(shown(">f8", &bits.to_be_bytes()), little);
    little
}

#[test]
fn doubles_are_the_shortest_decimals_that_read_back() {
    let cases = [
        (0x3ff0_0000_0000_0000, "1.0"),
        (0x8000_0000_0000_0000, "-0.0"),
        (0x430c_6bf5_2634_0000, "1000000000000000.0"),
        (0x4341_c379_37e0_8000, "1e+16"),
        (0x4341_c379_37e0_7fff, "9999999999999998.0"),
        (0x3f1a_36e2_eb1c_432d, "0.0001"),
        (0x3f19_f3c7_0c99_6b76, "9.9e-05"),
        (0x54b2_49ad_2594_c37d, "1e+100"),
        (0x0000_0000_0000_0001, "5e-324"),
        (0x7fef_ffff_ffff_ffff, "1.7976931348623157e+308"),
        (0x3fb9_9999_9999_999a, "0.1"),
        (0x7ff8_0000_0000_0000, "nan"),
        (0xfff8_0000_0000_0000, "nan"),
        (0xfff0_0000_0000_0000, "-inf"),
        (0x3d30_0000_0000_0000, "5.684341886080802e-14"),
        (0x4340_0000_0000_0000, "9007199254740992.0"),
    ];
    for (bits, text) in cases {
        assert_eq!(double(bits), text, "{bits:#x}");
    }
}

#[test]
fn a_value_between_two_shortest_decimals_takes_the_even_one() {
    assert_eq!(double((580_807_545_643_588.0_f64 + 0.25).to_bits()), "580807545643588.2");
    assert_eq!(double(2_f64.powi(-25).to_bits()), "2.9802322387695312e-08");
    assert_eq!(shown("<f4", &(343_126.0_f32 + 0.125).to_le_bytes()), "343126.12");
}

#[test]
fn narrower_floats_have_the_digits_of_their_own_precision() {
    let single = |bits: u32| shown("<f4", &bits.to_le_bytes());
    let cases = [
        (0x3dcc_cccd, "0.1"),
        (0x4b80_0000, "16777216.0"),
        (0x5a0e_1bca, "1e+16"),
        (0x38d1_b717, "1e-04"),
        (0x7f7f_ffff, "3.4028235e+38"),
        (0x0000_0001, "1e-45"),
    ];
    for (bits, text) in cases {
        assert_eq!(single(bits), text, "{bits:#x}");
    }
    let half = |bits: u16| shown(">f2", &bits.to_be_bytes());
    let cases = [
        (31743, "65500.0"),
        (11878, "0.1"),
        (1, "6e-08"),
        (1024, "6.104e-05"),
        (1678, "0.0001"),
        (13653, "0.3333"),
        (9216, "0.01563"),
        (0x8000, "-0.0"),
        (0xfc00, "-inf"),
    ];
    for (bits, text) in cases {
        assert_eq!(half(bits), text, "{bits:#x}");
    }
}

/// numpy lacks bfloat16. 0.1 is nearest to 0x3dcd, and 3.39e38 is the shortest for the largest number: 3.4e38 would round to infinity.
#[test]
fn bfloats_follow_the_same_rules() {
    let bfloat = |bits: u16| shown("bfloat16", &bits.to_le_bytes());
    let cases =
        [(0x3dcd, "0.1"), (0x3f80, "1.0"), (0x7f7f, "3.39e+38"), (1, "9e-41"), (0x7fc0, "nan"), (0, "0.0")];
    for (bits, text) in cases {
        assert_eq!(bfloat(bits), text, "{bits:#x}");
    }
}

#[test]
fn complex_numbers_are_written_as_numpy_does() {
    let complex = |re: f64, im: f64| shown("<c16", &[re.to_le_bytes(), im.to_le_bytes()].concat());
    assert_eq!(complex(1.0, 2.0), "(1+2j)");
    assert_eq!(complex(0.0, 1.0), "1j");
    assert_eq!(complex(-0.0, 1.0), "(-0+1j)");
    assert_eq!(complex(0.0, -0.0), "-0j");
    assert_eq!(complex(0.0, f64::NEG_INFINITY), "-infj");
    assert_eq!(complex(f64::NAN, -f64::NAN), "(nan+nanj)");
    assert_eq!(complex(1e16, 1e-5), "(1e+16+1e-05j)");
    assert_eq!(complex(1e15, -1.0), "(1000000000000000-1j)");
    // numpy lacks complex32; its parts are halves.
    let mut out = String::new();
    let dtype = DType::new(Kind::Complex, 4, ByteOrder::Little);
    write_item(&dtype, &[0x00, 0x3c, 0x66, 0x2e], &mut out);
    assert_eq!(out, "(1+0.1j)");
}

#[test]
fn integers_of_every_width_are_decimal() {
    let integer = |kind: Kind, order, bytes: &[u8]| {
        let mut out = String::new();
        write_item(&DType::new(kind, bytes.len(), order), bytes, &mut out);
        out
    };
    use ByteOrder::{Big, Little};
    assert_eq!(shown("|i1", &[0x80]), "-128");
    assert_eq!(shown(">i2", &[0xff, 0xfe]), "-2");
    assert_eq!(shown("<u8", &[0xff; 8]), "18446744073709551615");
    // int.from_bytes(bytes.fromhex('000080'), 'little', signed=True)
    assert_eq!(integer(Kind::Int, Little, &[0x00, 0x00, 0x80]), "-8388608");
    assert_eq!(integer(Kind::Uint, Big, &[0x01, 0x00, 0x02]), "65538");
    // -(1 << 127) and (1 << 128) - 1
    let least = [&[0; 15][..], &[0x80]].concat();
    assert_eq!(integer(Kind::Int, Little, &least), "-170141183460469231731687303715884105728");
    assert_eq!(integer(Kind::Uint, Big, &[0xff; 16]), "340282366920938463463374607431768211455");
    // Wider ones are not interpreted.
    assert_eq!(integer(Kind::Int, Little, &[1; 17]), format!("0x{}", "01".repeat(17)));
}

#[test]
fn bools_bytes_and_text_are_pythons() {
    assert_eq!(shown("|b1", &[1]), "True");
    assert_eq!(shown("|b1", &[0]), "False");
    assert_eq!(shown("|S5", b"ab\0c\0"), r"b'ab\x00c'");
    assert_eq!(shown("|S6", b"a\n\xff'\"\\"), r#"b'a\n\xff\'"\\'"#);
    assert_eq!(shown("|S3", b"it'"), r#"b"it'""#);
    assert_eq!(shown("|S0", b""), "b''");
    let points =
        |text: &str| text.chars().flat_map(|point| u32::from(point).to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(shown("<U4", &points("Zoë\0")), "Zoë");
    assert_eq!(shown(">U1", &[0, 0, 0x26, 0x3a]), "☺");
    assert_eq!(shown("|V2", &[0x00, 0x1f]), "0x001f");
    assert_eq!(shown("<f16", &[7; 16]), format!("0x{}", "07".repeat(16)));
}

#[test]
fn text_cannot_steer_a_terminal_or_break_a_line() {
    let points =
        |text: &str| text.chars().flat_map(|point| u32::from(point).to_le_bytes()).collect::<Vec<_>>();
    assert_eq!(shown("<U6", &points("\x1b[31m\n")), r"\x1b[31m\n");
    assert_eq!(shown("<U2", &points("\u{202e}a")), r"\u202ea");
    // Surrogates and numbers past Unicode are not characters.
    assert_eq!(shown("<U2", &[0x00, 0xd8, 0, 0, 0xff, 0xff, 0xff, 0xff]), "\u{fffd}\u{fffd}");
}

#[test]
fn dates_are_iso_as_far_as_the_unit_goes() {
    let cases = [
        (0, "D", "1970-01-01"),
        (-1, "D", "1969-12-31"),
        (50, "Y", "2020"),
        (-5000, "Y", "-3030"),
        (5, "M", "1970-06"),
        (2, "W", "1970-01-15"),
        (1, "h", "1970-01-01T01"),
        (1, "m", "1970-01-01T00:01"),
        (1, "25s", "1970-01-01T00:00:25"),
        (1, "ms", "1970-01-01T00:00:00.001"),
        (-1, "us", "1969-12-31T23:59:59.999999"),
        (i64::MAX, "ns", "2262-04-11T23:47:16.854775807"),
        (1, "as", "1970-01-01T00:00:00.000000000000000001"),
        (i64::MAX, "D", "25252734927768524-07-27"),
        (-i64::MAX, "s", "-292277022657-01-27T08:29:53"),
        (-800_000, "D", "-221-09-04"),
        (-719_528, "D", "0000-01-01"),
        (-719_529, "D", "-001-12-31"),
        (5, "7D", "1970-02-05"),
        (i64::MIN, "s", "NaT"),
    ];
    for (count, unit, text) in cases {
        assert_eq!(shown(&format!("<M8[{unit}]"), &i64::to_le_bytes(count)), text, "{count} {unit}");
    }
    // A count without a unit is not a date.
    assert_eq!(shown("<M8", &5_i64.to_le_bytes()), "5");
}

#[test]
fn time_differences_are_their_count() {
    // str(np.array([5], 'm8[25s]')) is [5].
    assert_eq!(shown("<m8[25s]", &5_i64.to_le_bytes()), "5");
    assert_eq!(shown(">m8[ns]", &i64::MIN.to_be_bytes()), "NaT");
}

#[test]
fn records_are_tuples() {
    // np.array([(1, 2.5, b'ab\x00c', "x'y", [1, 2], (True,))], ...)[0].tolist(), the sub-array as a list.
    let dtype =
        "[('a', '<i4'), ('b', '<f8'), ('c', '|S5'), ('d', '<U3'), ('e', '|u1', (2,)), ('f', [('g', '?')])]";
    let points = "x'y".chars().flat_map(|point| u32::from(point).to_le_bytes()).collect::<Vec<_>>();
    let bytes = [&1_i32.to_le_bytes()[..], &2.5_f64.to_le_bytes(), b"ab\0c\0", &points, &[1, 2, 1]].concat();
    assert_eq!(shown(dtype, &bytes), r#"(1, 2.5, b'ab\x00c', "x'y", [1, 2], (True,))"#);
    assert_eq!(shown("[('a', '|u1', (2, 2))]", &[1, 2, 3, 4]), "([[1, 2], [3, 4]],)");
}

#[test]
fn dtypes_larger_than_their_bytes_are_shown_empty() {
    let field = |shape: Vec<usize>, offset| Field {
        name: "a".into(),
        title: None,
        dtype: DType::native(Kind::Bytes, 0),
        shape,
        offset,
    };
    let record = |fields| DType::Record(Record { fields, size: 1 });
    let mut out = String::new();
    write_item(&record(vec![field(vec![usize::MAX, usize::MAX], 0)]), &[1], &mut out);
    write_item(&record(vec![field(vec![], usize::MAX)]), &[1], &mut out);
    assert_eq!(out, "([],)(b'',)");
    assert_eq!(shown("<f8", &[1, 2]), "0x0102");
}
