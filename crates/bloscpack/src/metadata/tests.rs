use container_core::ErrorKind;

use super::*;

fn read(json: &str) -> Result<(Value, Spelling)> {
    from_json(json.as_bytes(), &Limits::default())
}

fn hex(text: &str) -> Vec<u8> {
    let digits = (0..text.len()).step_by(2).map(|at| u8::from_str_radix(&text[at..at + 2], 16).unwrap());
    digits.collect()
}

/// Sections by bloscpack 0.16's `_write_metadata`, without the zeros between payload and digest.
#[test]
fn sections_are_those_of_the_reference() {
    let section = |json: &str, options| encode_section(json.as_bytes(), &options).unwrap();
    let empty = hex("4a534f4e000000000001000602000000140000000200000000000000000000007b7d");
    let expected = [&empty[..], &[0; 18], &hex("f9007501")].concat();
    assert_eq!(section("{}", MetadataOptions::default()), expected);

    let text = Value::Map(vec![(
        "a".into(),
        vec![1_u8.into(), 2.5.into(), Value::Null, true.into(), "é\u{2028}😀\"\\\n\x7f".into()].into(),
    )]);
    let json = to_json(&text).unwrap();
    assert_eq!(json, r#"{"a":[1,2.5,null,true,"\u00e9\u2028\ud83d\ude00\"\\\n\u007f"]}"#);
    let stored = section(&json, MetadataOptions::default());
    assert_eq!((stored.len(), &stored[652..]), (656, &hex("fd121948")[..]));
    assert_eq!(read(&json).unwrap(), (text, Spelling::Json));

    // zlib's own bytes may differ from ours; what is around them may not.
    let long = format!(r#"{{"k":"{}"}}"#, "a".repeat(200));
    let options =
        MetadataOptions { checksum: ChecksumCode(4), max_meta_size: Some(500), ..MetadataOptions::default() };
    let section = section(&long, options);
    assert_eq!(section.len(), 32 + 500 + 20);
    let header = MetadataHeader::parse(&section).unwrap();
    assert_eq!((header.meta_codec, header.meta_level, header.meta_size), (1, 6, 208));
    let theirs = hex("789cab56ca56b2524a1c2640a9160094e64dee");
    assert_eq!(decode_payload(&header, &theirs, &Limits::default()).unwrap(), long.as_bytes());
    let ours = &section[32..32 + header.meta_comp_size as usize];
    assert_eq!(decode_payload(&header, ours, &Limits::default()).unwrap(), long.as_bytes());
    assert_eq!(inflate_unsized(&theirs, &Limits::default()).unwrap(), long.as_bytes());
}

#[test]
fn oversized_or_unencodable_metadata_is_refused() {
    let options = MetadataOptions { level: None, max_meta_size: Some(1), ..MetadataOptions::default() };
    assert!(matches!(encode_section(b"{}", &options).unwrap_err().kind(), ErrorKind::Usage(_)));
    let options = MetadataOptions { checksum: ChecksumCode(9), ..MetadataOptions::default() };
    assert!(matches!(encode_section(b"{}", &options).unwrap_err().kind(), ErrorKind::Unsupported(_)));
    assert!(to_json(&Value::Float(f64::NAN)).is_err() && to_json(&Value::Bytes(vec![])).is_err());
}

#[test]
fn lying_sections_are_errors_and_bombs_stay_within_the_limit() {
    let section = encode_section("[0]".repeat(100).as_bytes(), &MetadataOptions::default()).unwrap();
    let header = MetadataHeader::parse(&section).unwrap();
    let payload = &section[32..32 + header.meta_comp_size as usize];
    let kind = |change: fn(&mut MetadataHeader), memory| {
        let mut header = header;
        change(&mut header);
        decode_payload(&header, payload, &Limits::default().with_memory(memory)).unwrap_err().into_kind()
    };
    assert!(matches!(kind(|it| it.meta_size += 1, 1 << 20), ErrorKind::Malformed(_)));
    assert!(matches!(kind(|it| it.meta_size -= 1, 1 << 20), ErrorKind::Malformed(_)));
    assert!(matches!(kind(|it| it.meta_size = u32::MAX, 1 << 20), ErrorKind::Malformed(_)));
    assert!(matches!(kind(|_| {}, 299), ErrorKind::Limit { .. }));
    assert!(matches!(kind(|it| it.meta_codec = 2, 1 << 20), ErrorKind::Unsupported(_)));
    assert!(matches!(kind(|it| it.magic_format = *b"BSON\0\0\0\0", 1 << 20), ErrorKind::Unsupported(_)));
    let mut bomb = Vec::new();
    Zlib.encode(&vec![b' '; 1 << 20], Some(9), &mut bomb).unwrap();
    let limits = Limits::default().with_memory(1 << 16);
    assert!(matches!(inflate_unsized(&bomb, &limits).unwrap_err().kind(), ErrorKind::Limit { .. }));
    assert!(matches!(inflate_unsized(b"x\x9cno", &limits).unwrap_err().kind(), ErrorKind::Malformed(_)));
}

#[test]
fn json_is_read_as_python_reads_it() {
    let (tree, _) =
        read(r#" {"b": 1, "a": 2, "b": 3, "n": -9223372036854775808, "u": 18446744073709551615} "#).unwrap();
    assert_eq!(tree.get("b"), Some(&Value::Int(3)));
    assert_eq!(tree.get("n"), Some(&Value::Int(i64::MIN.into())));
    assert_eq!(tree.get("u"), Some(&Value::Int(u64::MAX.into())));
    let (tree, spelling) = read(r#"["\ud800", "\\ud800\ud83d\ude00", "\udc00x"]"#).unwrap();
    assert_eq!(spelling, Spelling::LoneSurrogates);
    assert_eq!(tree, vec!["\u{fffd}".into(), "\\ud800😀".into(), Value::from("\u{fffd}x")].into());
    let (tree, spelling) = read("{'dtype': 'varchar', 'shape': [1024], 'others': []}").unwrap();
    assert_eq!((tree.get("dtype"), spelling), (Some(&"varchar".into()), Spelling::Python));
    for bad in ["", "{", "{} x", "{'a'", "nul", "{1: 2}", "\u{feff}{}"] {
        assert!(matches!(read(bad).unwrap_err().kind(), ErrorKind::Malformed(_)), "{bad}");
    }
    assert!(matches!(
        from_json(b"\xff\xfe", &Limits::default()).unwrap_err().kind(),
        ErrorKind::Malformed(_)
    ));
    assert!(read(&"[".repeat(100_000)).is_err());
}

/// Values that Python's `json.loads` gives for the same text, except for integers over 128 bits.
#[test]
fn numbers_that_only_python_takes_come_back() {
    let json =
        r#"{"a":NaN,"b":[Infinity,-Infinity,1],"c":"NaN \" NaN","\u0000k":"\u00001","NaN":"\u0000NaN"}"#;
    let (tree, spelling) = read(json).unwrap();
    assert_eq!(spelling, Spelling::NonFinite);
    assert!(matches!(tree.get("a"), Some(Value::Float(value)) if value.is_nan()));
    let infinite = vec![f64::INFINITY.into(), f64::NEG_INFINITY.into(), Value::Int(1)];
    assert_eq!(tree.get("b"), Some(&infinite.into()));
    assert_eq!(tree.get("c"), Some(&"NaN \" NaN".into()));
    assert_eq!(tree.get("\0k"), Some(&"\u{0}1".into()));
    assert_eq!(tree.get("NaN"), Some(&"\0NaN".into()));
    assert_eq!(to_python_json(&tree).unwrap(), json);
    assert!(matches!(to_json(&tree).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert_eq!(read(r#"["\ud800",NaN]"#).unwrap().1, Spelling::LoneSurrogates);
    for bad in ["nan", "-NaN", "+Infinity", "NaN1", "[NaN", "Infinity2", "{NaN:1}", "{NaN :1}"] {
        assert!(matches!(read(bad).unwrap_err().kind(), ErrorKind::Malformed(_)), "{bad}");
    }
}

/// Decimal digits name one number, which a sum in floating point may miss by one.
#[test]
fn numbers_are_the_nearest_to_their_digits() {
    for digits in ["31.245270191439438", "121.48791951161945", "5e-324", "1.7976931348623157e+308"] {
        let (tree, _) = read(&format!("[{digits}, NaN]")).unwrap();
        assert_eq!(tree.pointer("/0"), Some(&Value::Float(digits.parse().unwrap())), "{digits}");
    }
}

#[test]
fn integers_keep_128_bits() {
    let json =
        "[18446744073709551616,-9223372036854775809,170141183460469231731687303715884105727,1e20,-0.0]";
    let (tree, spelling) = read(json).unwrap();
    assert_eq!(spelling, Spelling::Json);
    let Value::List(items) = &tree else { panic!("{tree:?}") };
    assert_eq!(items[0], Value::Int(1 << 64));
    assert_eq!(items[1], Value::Int(i128::from(i64::MIN) - 1));
    assert_eq!(items[2], Value::Int(i128::MAX));
    assert_eq!(items[3], Value::Float(1e20));
    // One more than fits; and one that no float comes near.
    let (tree, spelling) = read("[170141183460469231731687303715884105728]").unwrap();
    assert_eq!((tree, spelling), (vec![Value::Float(2_f64.powi(127))].into(), Spelling::HugeIntegers));
    assert!(read(&"9".repeat(400)).is_err() && read("018446744073709551616").is_err());
}
