//! Spellings of types, and what is wrong with those that are none.

use super::*;

#[test]
fn every_fault_of_a_description_says_what_is_wrong() {
    for (text, what) in [
        ("'f3'", "'f3' is not a type"),
        ("<q9", "'<q9' is not a type"),
        ("[('a', 'f4', 1, 2)]", "a field is neither (name, type) nor (name, type, shape)"),
        ("['a']", "a field is neither (name, type) nor (name, type, shape)"),
        ("[(1, 'f4')]", "the name of a field is not text"),
        ("[((1, 'a'), 'f4')]", "the title of a field is not text"),
        ("[(('t', 1), 'f4')]", "the name of a field is not text"),
        ("[('a', 'f4', 'x')]", "the shape of a sub-array is not a tuple of lengths"),
        ("[('a', 'f4'), ('a', 'f4')]", "two fields are called 'a'"),
        ("('f4', 1, 2)", "a type as a tuple is not (type, shape)"),
        ("[('a', 1)]", "invalid description of a type (expected text, a list or a dict)"),
        ("{'names': ['a']}", "a type as a dict lacks its list of names or of formats"),
        ("{'names': None, 'formats': ['f4']}", "a type as a dict lacks its list of names or of formats"),
        (
            "{'names': ['a'], 'formats': ['f4', 'f4']}",
            "formats of a type: wrong number (expected one for each name)",
        ),
        (
            "{'names': ['a'], 'formats': ['f4'], 'offsets': [0, 4]}",
            "offsets of a type: wrong number (expected one for each name)",
        ),
        (
            "{'names': ['a'], 'formats': ['f4'], 'titles': []}",
            "titles of a type: wrong number (expected one for each name)",
        ),
        ("{'names': [1], 'formats': ['f4']}", "the name of a field is not text"),
        ("{'names': ['a'], 'formats': ['f4'], 'titles': [1]}", "the title of a field is not text"),
        ("{'names': ['a'], 'formats': ['f4'], 'offsets': [-1]}", "a field has no valid offset"),
        (
            "{'names': ['a'], 'formats': ['f4'], 'itemsize': 3}",
            "the fields of a type do not fit its itemsize",
        ),
        (
            "{'names': ['a'], 'formats': ['f4'], 'itemsize': 'x'}",
            "the fields of a type do not fit its itemsize",
        ),
        ("V9223372036854775808", "an element is larger than memory can address"),
    ] {
        let error = DType::parse(text).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{text}: {error}");
        assert!(error.to_string().contains(what), "{text}: {error}");
    }
}

#[test]
fn an_aligned_type_needs_its_offsets_and_its_size() {
    let parse =
        |rest: &str| DType::parse(&format!("{{'names': ['a', 'b'], 'formats': ['u1', '<u4'], {rest}}}"));
    let whole = parse("'offsets': [0, 4], 'itemsize': 8, 'aligned': True").unwrap();
    assert_eq!((whole.itemsize(), fields(&whole)[1].offset), (8, 4));
    for lacking in ["'itemsize': 8, 'aligned': True", "'offsets': [0, 4], 'aligned': True", "'aligned': True"]
    {
        let error = parse(lacking).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{lacking}");
    }
    let packed = parse("'offsets': None, 'itemsize': None, 'titles': None, 'aligned': False").unwrap();
    assert_eq!((packed.itemsize(), fields(&packed)[1].offset), (5, 1));
    assert_eq!(parse("'itemsize': 5").unwrap().itemsize(), 5);
    assert!(parse("'itemsize': 4").is_err());
}

/// `numpy.dtype(name).str`.
#[test]
fn names_of_scalars_are_those_of_numpy() {
    for (names, text) in [
        ("bool bool_ ? b1", "|b1"),
        ("int8 byte b i1", "|i1"),
        ("uint8 ubyte B u1", "|u1"),
        ("int16 short h i2", "<i2"),
        ("uint16 ushort H u2", "<u2"),
        ("int32 intc i i4", "<i4"),
        ("uint32 uintc I u4", "<u4"),
        ("int64 longlong q i8", "<i8"),
        ("uint64 ulonglong Q u8", "<u8"),
        ("float16 half e f2", "<f2"),
        ("float32 single f f4", "<f4"),
        ("float64 double float d f8", "<f8"),
        ("float128 f16", "<f16"),
        ("complex64 csingle F c8", "<c8"),
        ("complex128 cdouble complex D c16", "<c16"),
        ("complex256 c32", "<c32"),
        ("bytes bytes_ S0 a0", "|S0"),
        ("str str_ unicode U0", "<U0"),
        ("void V0", "|V0"),
        ("datetime64[ns] M8[ns] M8[1ns]", "<M8[ns]"),
        ("timedelta64 m8 m8[generic]", "<m8"),
        ("M8[us] M8[μs] M8[µs]", "<M8[us]"),
        ("m8[25s]", "<m8[25s]"),
    ] {
        for name in names.split(' ') {
            assert_eq!(DType::parse(name).unwrap().to_string(), text, "{name}");
        }
    }
    for unit in ["Y", "M", "W", "D", "h", "m", "s", "ms", "us", "ns", "ps", "fs", "as"] {
        let text = format!("<M8[{unit}]");
        assert_eq!(DType::parse(&text).unwrap().to_string(), text);
    }
}

#[test]
fn types_that_numpy_lacks_are_not_plain() {
    for (kind, size, text) in [
        (Kind::Int, 16, "|V16"),
        (Kind::Uint, 3, "|V3"),
        (Kind::Float, 10, "|V10"),
        (Kind::Complex, 4, "|V4"),
        (Kind::Bool, 2, "|V2"),
        (Kind::BFloat, 2, "bfloat16"),
        (Kind::BFloat, 4, "|V4"),
        (Kind::Unicode, 6, "|V6"),
        (Kind::Datetime("[s]".into()), 4, "|V4"),
        (Kind::Timedelta(String::new()), 4, "|V4"),
        (Kind::Opaque(2), 8, "|V8"),
    ] {
        let dtype = DType::new(kind.clone(), size, ByteOrder::Little);
        assert_eq!((dtype.to_string().as_str(), dtype.is_plain_numpy()), (text, false), "{kind:?} {size}");
        assert_eq!(dtype.has_bfloat(), kind == Kind::BFloat, "{kind:?}");
        let field = Field { name: "a".into(), title: None, dtype, shape: vec![], offset: 0 };
        let record = DType::Record(Record { fields: vec![field], size });
        assert_eq!((record.is_plain_numpy(), record.has_bfloat()), (false, kind == Kind::BFloat));
    }
    assert_eq!(format!("{:>6}|", DType::parse("<f4").unwrap()), "   <f4|");
}

#[test]
fn types_of_metadata_are_texts_and_lists() {
    let list = |items: Vec<Value>| Value::List(items);
    let text = |text: &str| Value::from(text);
    assert_eq!(DType::from_value(&text("<f4")).unwrap(), DType::parse("<f4").unwrap());
    let fields = list(vec![
        list(vec![text("a"), text("<f4")]),
        list(vec![text("b"), text("|u1"), list(vec![2_u64.into()])]),
    ]);
    let want = DType::parse("[('a', '<f4'), ('b', '|u1', (2,))]").unwrap();
    assert_eq!(DType::from_value(&fields).unwrap(), want);
    // One field without a name, as numpy 1 describes a plain type.
    let plain = list(vec![list(vec![text(""), text("|V5")])]);
    assert_eq!(DType::from_value(&plain).unwrap(), DType::parse("|V5").unwrap());
    let named = list(vec![list(vec![text("a"), text("|V5")])]);
    assert_eq!(DType::from_value(&named).unwrap(), DType::parse("[('a', '|V5')]").unwrap());
    for bad in [Value::Null, list(vec![Value::Null]), Value::Float(1.0), Value::Map(vec![])] {
        let error = DType::from_value(&bad).unwrap_err();
        assert!(error.to_string().contains("the dtype is neither text nor a list"), "{error}");
    }
    assert!(matches!(DType::from_value(&1_u64.into()).unwrap_err().kind(), ErrorKind::Malformed(_)));
}
