use proptest::prelude::*;

use super::super::{ByteOrder, Field, Record};
use super::*;
use crate::ErrorKind;

mod spelling;

/// `(numpy expression, str or repr(descr), itemsize, offsets)`, all as numpy 2.5 on x86-64 prints them.
#[rustfmt::skip]
const NUMPY: [(&str, &str, usize, &[usize]); 26] = [
    ("np.dtype('f4')", "<f4", 4, &[]),
    ("np.dtype('>f8')", ">f8", 8, &[]),
    ("np.dtype(bool)", "|b1", 1, &[]),
    ("np.dtype(np.int8)", "|i1", 1, &[]),
    ("np.dtype('>u2')", ">u2", 2, &[]),
    ("np.dtype('f2')", "<f2", 2, &[]),
    ("np.dtype(np.longdouble)", "<f16", 16, &[]),
    ("np.dtype('c8')", "<c8", 8, &[]),
    ("np.dtype('>c16')", ">c16", 16, &[]),
    ("np.dtype(np.clongdouble)", "<c32", 32, &[]),
    ("np.dtype('S5')", "|S5", 5, &[]),
    ("np.dtype('U7')", "<U7", 28, &[]),
    ("np.dtype('>U2')", ">U2", 8, &[]),
    ("np.dtype('V80')", "|V80", 80, &[]),
    ("np.dtype('M8[ns]')", "<M8[ns]", 8, &[]),
    ("np.dtype('>M8[25s]')", ">M8[25s]", 8, &[]),
    ("np.dtype('m8')", "<m8", 8, &[]),
    ("np.dtype([])", "[]", 0, &[]),
    ("np.dtype([('a', 'f4'), ('b', '>i2', (2, 3))])",
        "[('a', '<f4'), ('b', '>i2', (2, 3))]", 16, &[0, 4]),
    ("np.dtype([('x', 'u1'), ('y', 'f8')], align=True)",
        "[('x', '|u1'), ('', '|V7'), ('y', '<f8')]", 16, &[0, 8]),
    ("np.dtype([(('a title', 'a'), 'i4'), ('b', 'S3')])",
        "[(('a title', 'a'), '<i4'), ('b', '|S3')]", 7, &[0, 4]),
    ("np.dtype([('in', [('p', 'i1'), ('q', 'M8[D]')], (2,)), ('é', '?')])",
        "[('in', [('p', '|i1'), ('q', '<M8[D]')], (2,)), ('é', '|b1')]", 19, &[0, 18]),
    ("np.dtype({'names': ['a', 'b'], 'formats': ['<u2', '<f4'], 'offsets': [2, 8], 'itemsize': 16})",
        "[('', '|V2'), ('a', '<u2'), ('', '|V4'), ('b', '<f4'), ('', '|V4')]", 16, &[2, 8]),
    (r"np.dtype([('it\'s', '<i4'), ('\u200b\x80日', 'V3')])",
        r#"[("it's", '<i4'), ('\u200b\x80日', '|V3')]"#, 7, &[0, 4]),
    ("np.dtype([('a', 'f4', 1), ('z', 'i8', (0,))])",
        "[('a', '<f4', (1,)), ('z', '<i8', (0,))]", 4, &[0, 4]),
    ("np.dtype([('n', np.dtype({'names': ['k'], 'formats': ['u1'], 'itemsize': 4})), ('m', 'u1')])",
        "[('n', [('k', '|u1'), ('', '|V3')]), ('m', '|u1')]", 5, &[0, 4]),
];

fn fields(dtype: &DType) -> &[Field] {
    match dtype {
        DType::Record(record) => &record.fields,
        DType::Scalar(_) => &[],
    }
}

fn names(text: &str) -> Vec<String> {
    fields(&DType::parse(text).unwrap()).iter().map(|field| field.name.clone()).collect()
}

#[test]
fn types_are_described_as_numpy_describes_them() {
    for (expression, descr, itemsize, offsets) in NUMPY {
        let dtype = DType::parse(descr).unwrap();
        let found = match dtype.descr() {
            Literal::Str(text) => text,
            literal => literal.repr(),
        };
        assert_eq!(found, descr, "{expression}");
        assert_eq!(dtype.itemsize(), itemsize, "{expression}");
        assert_eq!(
            fields(&dtype).iter().map(|field| field.offset).collect::<Vec<_>>(),
            offsets,
            "{expression}"
        );
        assert!(dtype.is_plain_numpy(), "{expression}");
    }
}

#[test]
fn printed_dtypes_parse_back_unchanged() {
    for (expression, descr, ..) in NUMPY {
        let dtype = DType::parse(descr).unwrap();
        assert_eq!(DType::parse(&dtype.to_string()).unwrap(), dtype, "{expression}");
    }
}

#[test]
fn every_spelling_of_a_scalar_is_read() {
    let little = |kind, size| DType::new(kind, size, ByteOrder::Little);
    let cases = [
        ("float32", little(Kind::Float, 4)),
        ("f4", little(Kind::Float, 4)),
        ("=f4", little(Kind::Float, 4)),
        ("|f4", little(Kind::Float, 4)),
        ("<f4", DType::new(Kind::Float, 4, ByteOrder::Little)),
        (">f4", DType::new(Kind::Float, 4, ByteOrder::Big)),
        ("int64", little(Kind::Int, 8)),
        ("uint16", little(Kind::Uint, 2)),
        ("complex128", little(Kind::Complex, 16)),
        ("bool", little(Kind::Bool, 1)),
        ("?", little(Kind::Bool, 1)),
        ("b1", little(Kind::Bool, 1)),
        ("<b1", little(Kind::Bool, 1)),
        ("b", little(Kind::Int, 1)),
        ("S5", little(Kind::Bytes, 5)),
        ("a5", little(Kind::Bytes, 5)),
        ("S", little(Kind::Bytes, 0)),
        ("U7", little(Kind::Unicode, 28)),
        (">U7", DType::new(Kind::Unicode, 28, ByteOrder::Big)),
        ("V8", little(Kind::Void, 8)),
        ("<V8", little(Kind::Void, 8)),
        ("'<i2'", DType::new(Kind::Int, 2, ByteOrder::Little)),
        ("bfloat16", DType::new(Kind::BFloat, 2, ByteOrder::Little)),
        (">bfloat16", DType::new(Kind::BFloat, 2, ByteOrder::Big)),
        ("datetime64[ns]", little(Kind::Datetime("[ns]".into()), 8)),
        ("M8[1s]", little(Kind::Datetime("[s]".into()), 8)),
        ("M8[025s]", little(Kind::Datetime("[25s]".into()), 8)),
        ("M8[generic]", little(Kind::Datetime(String::new()), 8)),
        ("m8[μs]", little(Kind::Timedelta("[us]".into()), 8)),
        ("timedelta64", little(Kind::Timedelta(String::new()), 8)),
    ];
    for (text, want) in cases {
        assert_eq!(DType::parse(text).unwrap(), want, "{text}");
    }
}

#[test]
fn dtypes_missing_in_numpy_print_as_opaque_bytes() {
    let cases = [
        (Kind::Int, 3, "|V3"),
        (Kind::Int, 16, "|V16"),
        (Kind::Uint, 16, "|V16"),
        (Kind::Complex, 4, "|V4"),
        (Kind::Float, 3, "|V3"),
        (Kind::Float, 10, "|V10"),
        (Kind::Unicode, 6, "|V6"),
    ];
    for (kind, size, text) in cases {
        let dtype = DType::new(kind, size, ByteOrder::Big);
        assert_eq!(dtype.to_string(), text);
        assert!(!dtype.is_plain_numpy(), "{text}");
    }
    let bfloat = DType::new(Kind::BFloat, 2, ByteOrder::Little);
    assert_eq!((bfloat.to_string().as_str(), bfloat.is_plain_numpy()), ("bfloat16", false));
    let record = DType::parse("[('a', '<f4'), ('b', [('c', 'bfloat16')])]").unwrap();
    assert!(record.has_bfloat() && !record.is_plain_numpy());
}

#[test]
fn records_print_as_json() {
    let dtype = DType::parse("[(('t', 'a\"'), '<f4'), ('b', [('c', '>i2', (2, 3))])]").unwrap();
    assert_eq!(dtype.to_string(), r#"[[["t", "a\""], "<f4"], ["b", [["c", ">i2", [2, 3]]]]]"#);
    assert_eq!(DType::parse(&dtype.to_string()).unwrap(), dtype);
}

#[test]
fn fields_without_a_name_are_padding_or_numbered() {
    // numpy.dtype([('', 'i4'), ('', 'i2')]).names; the opaque one between is padding, as numpy.load has it.
    assert_eq!(names("[('', '<i4'), ('', '|V4'), ('', '<i2')]"), ["f0", "f2"]);
    let padded = DType::parse("[('a', '|u1'), ('', '|V2', (3,)), ('b', '|u1')]").unwrap();
    assert_eq!((padded.itemsize(), fields(&padded)[1].offset), (8, 7));
}

#[test]
fn dicts_place_fields_freely() {
    // numpy.dtype({...}).fields and .itemsize
    let text = "{'names': ['a', 'b'], 'formats': ['<i4', ('<i2', (2,))], 'offsets': [4, 2], 'itemsize': 9}";
    let dtype = DType::parse(text).unwrap();
    let found: Vec<_> = fields(&dtype).iter().map(|field| (field.offset, field.shape.as_slice())).collect();
    assert_eq!((found, dtype.itemsize()), (vec![(4, &[][..]), (2, &[2][..])], 9));
    assert_eq!(dtype.descr().repr(), text);
    assert_eq!(DType::parse(&dtype.to_string()).unwrap(), dtype);

    let text = "{'names': ('a', 'b'), 'formats': ('<i4', '|u1'), 'titles': ['x', None], 'aligned': False}";
    let dtype = DType::parse(text).unwrap();
    assert_eq!(dtype.descr().repr(), "[(('x', 'a'), '<i4'), ('b', '|u1')]");
}

#[test]
fn sub_arrays_of_sub_arrays_are_one() {
    let dtype = DType::parse("[('a', ('<f4', (2,)), (3,))]").unwrap();
    assert_eq!((fields(&dtype)[0].shape.as_slice(), dtype.itemsize()), (&[3, 2][..], 24));
    let (dtype, shape) = DType::from_descr(&python_literal::parse("('<f4', 5)").unwrap()).unwrap();
    assert_eq!((dtype.to_string().as_str(), shape.as_slice()), ("<f4", &[5][..]));
}

#[test]
fn invalid_dtype_texts_are_malformed() {
    let texts = [
        "",
        "<",
        "i3",
        "i16",
        "b2",
        "S-1",
        "S٣",
        "i 4",
        "l",
        "日",
        "M8[]",
        "M8[ns",
        "M8[s/10]",
        "M8[9999999999s]",
        "V9223372036854775808",
        "U4611686018427387904",
        "[",
        "['f4']",
        "[('a',)]",
        "[('a', 'f4', -1)]",
        "[('a', 'f4', (True,))]",
        "[('a', 'f4', (2147483648,))]",
        "[('a', 'f4', (2147483647, 2147483647, 2147483647, 0))]",
        "[('a', 'V0', (2147483647, 2147483647, 2147483647))]",
        "[('a', 'V9000000000000000000'), ('b', 'V9000000000000000000')]",
        "[(b'a', 'f4')]",
        "[(('t', 't', 'a'), 'f4')]",
        "[('a', 'f4'), ('a', 'i4')]",
        "[(('a', 'b'), 'f4'), ('a', 'i4')]",
        "[('f1', 'i1'), ('', 'i2')]",
        "{'names': ['a']}",
        "{'names': ['a'], 'formats': []}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [-1]}",
        "{'names': ['a'], 'formats': ['i4'], 'offsets': [9223372036854775807]}",
        "{'names': ['a'], 'formats': ['i4'], 'itemsize': 3}",
        "('f4',)",
    ];
    for text in texts {
        let error = DType::parse(text).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{text}: {error:?}");
    }
}

#[test]
fn dtypes_without_a_stored_form_are_unsupported() {
    for text in ["O", "|O", "object", "[('a', '|O')]", "|T16", "f12", "<c24", "('<f4', (2,))"] {
        let error = DType::parse(text).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{text}: {error:?}");
    }
}

#[test]
fn sixty_five_axes_are_too_many() {
    let sub_array = |ndims: usize| format!("[('a', 'u1', ({}))]", "1, ".repeat(ndims));
    assert!(DType::parse(&sub_array(64)).is_ok());
    assert!(DType::parse(&sub_array(65)).is_err());
}

#[test]
fn a_message_quotes_only_the_start_of_a_long_text() {
    assert!(DType::parse(&"x".repeat(1 << 20)).unwrap_err().to_string().len() < 100);
}

#[test]
fn descr_of_an_inconsistent_record_is_a_dict() {
    let dtype = DType::native(Kind::Uint, 8);
    let field =
        Field { name: "a".into(), title: None, dtype, shape: vec![usize::MAX, 2], offset: usize::MAX };
    let record = DType::Record(Record { fields: vec![field], size: 0 });
    assert!(matches!(record.descr(), Literal::Dict(_)));
}

fn any_dtype() -> impl Strategy<Value = DType> {
    let codes: Vec<_> =
        NUMPY.iter().map(|(_, descr, ..)| *descr).filter(|descr| !descr.starts_with('[')).collect();
    let leaf = prop::sample::select(codes).prop_map(|code| DType::parse(code).unwrap());
    leaf.prop_recursive(3, 16, 4, |inner| {
        let shape = prop::collection::vec(0_usize..4, 0..3);
        prop::collection::vec((inner, shape, 0_usize..3, any::<bool>()), 0..4).prop_map(|parts| {
            let mut end = 0;
            let mut fields = Vec::new();
            for (index, (dtype, shape, gap, titled)) in parts.into_iter().enumerate() {
                let title = titled.then(|| format!("title {index}"));
                let offset = end + gap;
                end = offset + dtype.itemsize() * shape.iter().product::<usize>();
                fields.push(Field { name: format!("field {index}"), title, dtype, shape, offset });
            }
            DType::Record(Record { fields, size: end + 1 })
        })
    })
}

proptest! {
    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn descriptions_keep_everything(dtype in any_dtype()) {
        prop_assert_eq!(DType::from_descr(&dtype.descr()).unwrap(), (dtype.clone(), vec![]));
        prop_assert_eq!(DType::parse(&dtype.to_string()).unwrap(), dtype);
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn no_text_panics(text in r#"[<>=|]?([a-zA-Z?]{0,12}[0-9]{0,20}(\[[0-9]{0,12}[a-zμ]{0,3}\]?)?|.{0,12})"#) {
        let _ = DType::parse(&text);
    }

    #[test]
    #[cfg_attr(miri, ignore = "minutes to think of one value")]
    fn no_description_panics(parts in prop::collection::vec(
        (r"[ab]?", r"[<|][iuSVUM][0-9]{1,19}", prop::collection::vec(any::<u32>(), 0..4)), 0..4))
    {
        let items = parts.into_iter().map(|(name, code, shape)| {
            let shape = shape.into_iter().map(|dim| Literal::Int(dim.into())).collect();
            Literal::Tuple(vec![Literal::Str(name), Literal::Str(code), Literal::Tuple(shape)])
        });
        if let Ok((dtype, _)) = DType::from_descr(&Literal::List(items.collect())) {
            // Sizes of accepted types can be multiplied without overflow.
            for field in fields(&dtype) {
                let len = field.shape.iter().product::<usize>() * field.dtype.itemsize();
                prop_assert!(field.offset + len <= dtype.itemsize());
            }
        }
    }
}
