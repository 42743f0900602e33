use proptest::prelude::*;

use super::*;
use crate::dtype::{ByteOrder, Kind};
use crate::{ErrorKind, Limits};

/// A header that `numpy.save` wrote: the expression of the array, the bytes up to the spaces, and the whole length.
/// The rest is spaces and one line end.
struct Saved {
    expression: &'static str,
    start: &'static [u8],
    len: usize,
    dtype: &'static str,
    shape: &'static [u64],
    /// Order of the saved array: numpy marks arrays that are contiguous in both orders as C.
    order: Order,
    is_fortran: bool,
}

#[rustfmt::skip]
const SAVED: [Saved; 9] = [
    Saved { expression: "np.zeros(3, '<f4')",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }",
        len: 128, dtype: "<f4", shape: &[3], order: Order::C, is_fortran: false },
    Saved { expression: "np.float64(1)",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (), }",
        len: 128, dtype: "<f8", shape: &[], order: Order::C, is_fortran: false },
    Saved { expression: "np.zeros((3, 4), '>i2', order='F')",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '>i2', 'fortran_order': True, 'shape': (3, 4), }",
        len: 128, dtype: ">i2", shape: &[3, 4], order: Order::F, is_fortran: true },
    Saved { expression: "np.zeros((2, 1), 'S5', order='F')",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '|S5', 'fortran_order': False, 'shape': (2, 1), }",
        len: 128, dtype: "|S5", shape: &[2, 1], order: Order::F, is_fortran: false },
    Saved { expression: "np.zeros((7, 123456), '|b1', order='F')",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '|b1', 'fortran_order': True, 'shape': (7, 123456), }",
        len: 128, dtype: "|b1", shape: &[7, 123_456], order: Order::F, is_fortran: true },
    Saved { expression: "np.zeros((12345, 0), '|V80', order='F')",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': '|V80', 'fortran_order': False, 'shape': (12345, 0), }",
        len: 128, dtype: "|V80", shape: &[12345, 0], order: Order::F, is_fortran: false },
    Saved { expression: "np.zeros((0, 5), [('a', '<f4'), ('\u{e9}', '|u1')])",
        start: b"\x93NUMPY\x01\x00v\x00{'descr': [('a', '<f4'), ('\xe9', '|u1')], \
            'fortran_order': False, 'shape': (0, 5), }",
        len: 128, dtype: "[('a', '<f4'), ('\u{e9}', '|u1')]", shape: &[0, 5], order: Order::C, is_fortran: false },
    Saved { expression: "np.zeros(2, [('\u{65e5}', '<i4')])",
        start: b"\x93NUMPY\x03\x00t\x00\x00\x00{'descr': [('\xe6\x97\xa5', '<i4')], \
            'fortran_order': False, 'shape': (2,), }",
        len: 128, dtype: "[('\u{65e5}', '<i4')]", shape: &[2], order: Order::C, is_fortran: false },
    // The spaces for growth reach the end of the unit exactly, and numpy adds another: 192, not 128.
    Saved { expression: "np.zeros(3, [('x' * 32, '<f4')])",
        start: b"\x93NUMPY\x01\x00\xb6\x00{'descr': [('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')], \
            'fortran_order': False, 'shape': (3,), }",
        len: 192, dtype: "[('xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx', '<f4')]",
        shape: &[3], order: Order::C, is_fortran: false },
];

impl Saved {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = self.start.to_vec();
        bytes.resize(self.len - 1, b' ');
        bytes.push(b'\n');
        bytes
    }
}

/// A version 1.0 header around any text.
fn headed(text: &str) -> Vec<u8> {
    let mut bytes = MAGIC.to_vec();
    bytes.extend([1, 0]);
    bytes.extend(u16::try_from(text.len()).unwrap().to_le_bytes());
    bytes.extend(text.bytes());
    bytes
}

fn parse(bytes: &[u8]) -> crate::Result<Header> {
    Header::parse(bytes, u64::MAX, &Limits::default())
}

#[test]
fn headers_are_written_as_numpy_writes_them() {
    for saved in SAVED {
        let dtype = DType::parse(saved.dtype).unwrap();
        let bytes = Header::to_bytes(&dtype, saved.shape, saved.order).unwrap();
        assert_eq!(bytes, saved.bytes(), "{}", saved.expression);
    }
}

#[test]
fn headers_of_numpy_are_read() {
    for saved in SAVED {
        let header = parse(&saved.bytes()).unwrap();
        assert_eq!(header.version, (saved.start[6], 0), "{}", saved.expression);
        assert_eq!(header.dtype, DType::parse(saved.dtype).unwrap(), "{}", saved.expression);
        assert_eq!(header.shape, saved.shape, "{}", saved.expression);
        assert_eq!(header.order == Order::F, saved.is_fortran, "{}", saved.expression);
        assert_eq!(header.data_at, saved.len as u64, "{}", saved.expression);
    }
}

#[test]
#[cfg_attr(miri, ignore = "long headers")]
fn long_headers_are_version_2() {
    // numpy.save of np.zeros(1, [('x' * n, '<f4')]): 65360 is version 1.0 with b6 ff, 65460 is 2.0 with 34 00 01 00.
    for (n, start, len) in
        [(65360, &b"\x01\x00\xb6\xff{"[..], 65472), (65460, &b"\x02\x004\x00\x01\x00{"[..], 65600)]
    {
        let dtype = DType::parse(&format!("[('{}', '<f4')]", "x".repeat(n))).unwrap();
        let bytes = Header::to_bytes(&dtype, &[1], Order::C).unwrap();
        assert!(bytes[6..].starts_with(start), "{n}");
        assert_eq!(bytes.len(), len);
        assert_eq!(parse(&bytes).unwrap().dtype, dtype);
    }
}

#[test]
fn headers_of_old_writers_are_read() {
    // Python 2 wrote long integers with their suffix, and numpy aligned to 16 bytes.
    let text = "{'descr': '<f8', 'fortran_order': False, 'shape': (3L, 4L), }     \n";
    assert_eq!(parse(&headed(text)).unwrap().shape, [3, 4]);
    let text = "{\"shape\":(2,),\"fortran_order\":True,\"descr\":\"|u1\"}";
    let header = parse(&headed(text)).unwrap();
    assert_eq!((header.order, header.data_at, header.data_len), (Order::F, 10 + 49, 2));
}

#[test]
fn a_file_cut_anywhere_reports_the_missing_range() {
    let mut file = SAVED[2].bytes();
    file.extend([0; 24]);
    for len in (0..file.len()).step_by(if cfg!(miri) { 19 } else { 1 }) {
        let cut = &file[..len];
        let error = Header::read(&cut, &Limits::default()).unwrap_err();
        let range = match len {
            0..6 => {
                assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{len}: {error:?}");
                continue;
            }
            6 | 7 => 0..8,
            8 | 9 => 0..10,
            10..128 => 10..128,
            _ => 128..152,
        };
        let have = len as u64 - range.start;
        let need = range.end - range.start;
        assert!(
            matches!(error.kind(), ErrorKind::Truncated { need: n, have: h } if (*n, *h) == (need, have)),
            "{len}: {error:?}"
        );
        assert_eq!(error.range(), Some(range), "{len}");
    }
    assert_eq!(Header::read(&file, &Limits::default()).unwrap().data_len, 24);
}

#[test]
fn needed_asks_for_the_whole_header_and_no_more() {
    let file = SAVED[0].bytes();
    assert_eq!(Header::needed(&file[..Header::PRELUDE_LEN], u64::MAX).unwrap(), 128);
    let error = parse(&file[..127]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 118, have: 117 }), "{error:?}");
}

#[test]
fn files_without_the_npy_magic_are_another_format() {
    for bytes in [&b""[..], b"\x93NUMPZ\x01\x00v\x00", b"PK\x03\x04", b"\x93NUM"] {
        let error = parse(bytes).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::WrongFormat { .. }), "{error:?}");
    }
}

#[test]
fn unknown_versions_are_unsupported() {
    for version in [[0, 0], [1, 1], [4, 0], [255, 255]] {
        let mut bytes = SAVED[0].bytes();
        bytes[6..8].copy_from_slice(&version);
        let error = parse(&bytes).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error:?}");
        assert_eq!(error.range(), Some(6..8));
    }
}

#[test]
fn a_huge_header_length_is_checked_against_file_then_bound() {
    let start = b"\x93NUMPY\x02\x00\xff\xff\xff\xff";
    let error = Header::needed(start, 100).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 0xffff_ffff, have: 88 }), "{error:?}");
    let error = Header::needed(start, u64::MAX).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Limit { asked: 0xffff_ffff, allowed: 0x10_0000, .. }),
        "{error:?}"
    );
}

#[test]
fn headers_that_contradict_the_format_are_malformed() {
    let texts = [
        "",
        "[]",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'extra': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), 'shape': (4,)}",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': [3]}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 3}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-3,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (3.0,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (18446744073709551616,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '|u1', 'fortran_order': False, 'shape': (18446744073709551615,)}",
        "{'descr': '|V0', 'fortran_order': False, 'shape': (4294967296, 4294967296)}",
        "{'descr': '<f3', 'fortran_order': False, 'shape': (3,)}",
        "{'descr': None, 'fortran_order': False, 'shape': (3,)}",
    ];
    for text in texts {
        let error = parse(&headed(text)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{text}: {error:?}");
        let range = error.range().unwrap();
        assert!(range.start >= 10 && range.end <= 10 + text.len().max(1) as u64, "{text}: {error:?}");
    }
}

#[test]
fn an_empty_axis_makes_any_shape_small() {
    let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 0)}";
    assert_eq!(parse(&headed(text)).unwrap().data_len, 0);
}

#[test]
fn a_fault_in_the_text_has_its_place_in_the_file() {
    // Two bytes of latin-1 precede it, which are four in UTF-8.
    let mut bytes = headed("{'xx', }");
    bytes[12..14].copy_from_slice(b"\xe9\xe9");
    assert_eq!(parse(&bytes).unwrap_err().range(), Some(15..16));

    let mut bytes = b"\x93NUMPY\x03\x00\x05\x00\x00\x00".to_vec();
    bytes.extend(b"{'\xff'}");
    let error = parse(&bytes).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error:?}");
    assert_eq!(error.range(), Some(14..15));
}

#[test]
fn deep_nesting_and_many_axes_are_refused() {
    let deep = "[".repeat(if cfg!(miri) { 600 } else { 60_000 });
    let error = parse(&headed(&deep)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error:?}");
    let axes = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': ({})}}", "1, ".repeat(65));
    let error = parse(&headed(&axes)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 65, allowed: 64, .. }), "{error:?}");
}

#[test]
fn objects_and_sub_array_elements_are_unsupported() {
    for descr in ["'|O'", "[('a', '|O')]", "('<f4', (2,))"] {
        let text = format!("{{'descr': {descr}, 'fortran_order': False, 'shape': (3,)}}");
        let error = parse(&headed(&text)).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{descr}: {error:?}");
    }
}

#[test]
fn dtypes_that_npy_cannot_describe_are_refused() {
    let overlap = "{'names': ['a', 'b'], 'formats': ['<i4', '<i2'], 'offsets': [0, 2], 'itemsize': 4}";
    let nested = format!("[('in', {overlap})]");
    // Of 32 bits no element is that long.
    let long = if cfg!(target_pointer_width = "64") { "V2147483648" } else { "bfloat16" };
    for text in ["[('a', 'bfloat16', (2,))]", "bfloat16", overlap, &nested, long] {
        let error = Header::to_bytes(&DType::parse(text).unwrap(), &[1], Order::C).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{text}: {error:?}");
    }
    let error = Header::to_bytes(&DType::void(4), &[1 << 62, 2], Order::C).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error:?}");
}

#[test]
fn integers_that_numpy_lacks_are_written_as_opaque_bytes() {
    let wide = DType::new(Kind::Int, 16, ByteOrder::Little);
    let header = parse(&Header::to_bytes(&wide, &[2], Order::C).unwrap()).unwrap();
    assert_eq!((header.dtype, header.data_len), (DType::void(16), 32));
}

#[test]
fn a_file_streams_in_pieces_of_any_length() {
    // numpy.save of np.arange(6, dtype='>u2').reshape(2, 3)
    let mut want =
        b"\x93NUMPY\x01\x00v\x00{'descr': '>u2', 'fortran_order': False, 'shape': (2, 3), }".to_vec();
    want.resize(127, b' ');
    want.extend(b"\n\x00\x00\x00\x01\x00\x02\x00\x03\x00\x04\x00\x05");
    let dtype = DType::new(Kind::Uint, 2, ByteOrder::Big);
    let mut writer = Writer::new(Vec::new(), &dtype, &[2, 3], Order::C).unwrap();
    for piece in [&want[128..129], &want[129..129], &want[129..140]] {
        writer.write(piece).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), want);
}

#[test]
fn too_many_or_too_few_bytes_are_an_error() {
    let dtype = DType::void(3);
    let mut file = Vec::new();
    let mut writer = Writer::new(&mut file, &dtype, &[2], Order::F).unwrap();
    let error = writer.write(&[0; 7]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error:?}");
    writer.write(&[0; 5]).unwrap();
    let error = writer.finish().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error:?}");
    assert_eq!(file.len(), 128 + 5);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in any::<Vec<u8>>(), version in 1_u8..4, file_len in any::<u64>()) {
        let mut file = MAGIC.to_vec();
        file.extend([version, 0]);
        file.extend(&bytes);
        let _ = Header::parse(&file, file_len, &Limits::default());
        let _ = Header::read(&bytes, &Limits::default());
    }

    #[test]
    fn no_changed_byte_panics(case in 0..SAVED.len(), at in 0_usize..192, byte in any::<u8>()) {
        let mut file = SAVED[case].bytes();
        let at = at % file.len();
        file[at] = byte;
        if let Ok(header) = parse(&file) {
            prop_assert!(header.data_at.checked_add(header.data_len).is_some());
        }
    }

    #[test]
    fn headers_are_read_as_written(shape in prop::collection::vec(0_u64..1 << 12, 0..5), fortran in any::<bool>()) {
        let dtype = DType::parse("[('a', '<f4', (3,)), ('b', 'S5')]").unwrap();
        let order = if fortran { Order::F } else { Order::C };
        let bytes = Header::to_bytes(&dtype, &shape, order).unwrap();
        prop_assert_eq!(bytes.len() % 64, 0);
        let header = parse(&bytes).unwrap();
        prop_assert_eq!((&header.dtype, &header.shape, header.data_at), (&dtype, &shape, bytes.len() as u64));
    }
}

#[test]
fn every_fault_of_a_header_says_what_is_wrong() {
    let with = |descr: &str, order: &str, shape: &str| {
        format!("{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}}}")
    };
    for (text, what) in [
        ("[]".to_owned(), "not a dict"),
        (
            "{'descr': '<f4', 'fortran_order': False}".to_owned(),
            "the keys are not descr, fortran_order and shape",
        ),
        (with("'<f4'", "0", "(3,)"), "fortran_order is neither True nor False"),
        (with("'<f4'", "False", "[3]"), "shape is not a tuple"),
        (with("'<f4'", "False", "(3.0,)"), "shape contains an item that is not a length"),
        (with("'<f4'", "False", "(-1,)"), "shape contains an item that is not a length"),
        (with("'<f4'", "False", "(18446744073709551615,)"), "the array is larger than a file can be"),
        (with("'|u1'", "False", "(18446744073709551600,)"), "the array is larger than a file can be"),
        (with("('<f4', (2,))", "False", "(3,)"), "a sub-array as the type of elements"),
    ] {
        let error = parse(&headed(&text)).unwrap_err();
        let end = 10 + text.len();
        assert_eq!(error.to_string(), format!("npy header: {what} (bytes 10..{end})"), "{text}");
    }
    let text = with("'|u1'", "True", "(7, 2)");
    let bytes = headed(&text);
    let data = bytes.len() as u64;
    let whole = Header::parse(&bytes, data + 14, &Limits::default()).unwrap();
    assert_eq!((whole.data_at, whole.data_len), (data, 14));
    let error = Header::parse(&bytes, data + 13, &Limits::default()).unwrap_err();
    assert_eq!((error.context(), error.range()), (Some("npy elements"), Some(data..data + 14)));
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 14, have: 13 }));
}

#[test]
fn a_header_of_a_mebibyte_is_the_longest() {
    let needed = |len: u32| {
        let start = [&b"\x93NUMPY\x03\x00"[..], &len.to_le_bytes()].concat();
        Header::needed(&start, u64::MAX)
    };
    assert_eq!(needed(1 << 20).unwrap(), 12 + (1 << 20));
    let error = needed((1 << 20) + 1).unwrap_err();
    assert_eq!((error.context(), error.range()), (Some("npy header"), Some(12..13 + (1 << 20))));
    let cut = Header::needed(b"\x93NUMPY\x02\x00\x01\x00", u64::MAX).unwrap_err();
    assert!(matches!(cut.kind(), ErrorKind::Truncated { need: 12, have: 10 }), "{cut}");
}
