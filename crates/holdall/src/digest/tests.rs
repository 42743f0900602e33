use super::*;
use crate::testing::Memory;
use container_core::dtype::{Field, Kind, Record};

fn of(memory: &Memory) -> String {
    let region = Region::whole(&memory.datasets()[0].shape);
    digest(memory, 0, &region, &ReadOptions::default(), Progress::none()).unwrap().digest.to_string()
}

/// By hashlib and numpy: `docs/digest.md`, `digest(numpy.arange(6, dtype="<u2").reshape(2, 3))`.
const SIX: &str = "28bd062d72c96839bffeaf5f1e82b6953dd037b12a603c479b9aae95c9b00d24";

#[test]
fn byte_order_and_order_make_no_difference() {
    let little = [0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0];
    let big = [0, 0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5];
    let columns = [0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5, 0];
    assert_eq!(of(&Memory::new().with("a", "<u2", &[2, 3], &little)), SIX);
    assert_eq!(of(&Memory::new().with("b", ">u2", &[2, 3], &big)), SIX);
    let u2 = DType::parse("<u2").unwrap();
    assert_eq!(of(&Memory::new().with_type("c", u2, &[2, 3], Order::F, &columns)), SIX);
    assert_ne!(of(&Memory::new().with("a", "<i2", &[2, 3], &little)), SIX);
    assert_ne!(of(&Memory::new().with("a", "<u2", &[3, 2], &little)), SIX);
    let (memory, read) =
        (Memory::new().with("a", "<u2", &[3, 3], &[&little[..], &[9; 6]].concat()), ReadOptions::default());
    let region = Region::parse(":2", &[3, 3]).unwrap();
    let part = digest(&memory, 0, &region, &read, Progress::none()).unwrap();
    assert_eq!((part.digest.to_string().as_str(), part.shape), (SIX, vec![2, 3]));
}

#[test]
fn numpy_gives_the_same() {
    // Each by the program of docs/digest.md.
    let nan = [0x7f, 0xf8, 0, 0, 0, 0, 0, 0];
    let cases = [
        (">f8", &[][..], &nan[..], "a15e35fbad60f170bb80c67422aaa6aad3302f67c414d79d48a196459179a648"),
        ("|S5", &[0, 3], &[], "267d723644d5a6e546b74b8ca89bf124c70c2464a0463edbcad66c52d34c8ea5"),
        (
            ">U2",
            &[2],
            &[0, 0, 0, 0xe9, 0, 0, 0, 0, 0, 0, 0, b'a', 0, 0, 0, b'b'],
            "02eb91cdb052356e9a2128a6da5adb5d7006deac7bba4d29ce876edbee95cee8",
        ),
    ];
    for (dtype, shape, bytes, expected) in cases {
        assert_eq!(of(&Memory::new().with("a", dtype, shape, bytes)), expected, "{dtype}");
    }
}

/// By the program of `docs/digest.md`, of `numpy.ma.array` of the same values and masks.
#[test]
fn masked_elements_are_hashed_independently_of_their_bytes() {
    let masked = |bytes: &[u8]| Memory::new().with("a", "<i2", &[2, 2], bytes).masked("a", &[0, 1, 0, 0]);
    let expected = "c99e8a0df1af191ae2503ad3068f3e4bfa23ba94c1c1e28f7fb098f27d3aef06";
    assert_eq!(of(&masked(&[1, 0, 9, 0, 3, 0, 4, 0])), expected);
    assert_eq!(of(&masked(&[1, 0, 0, 0, 3, 0, 4, 0])), expected);
    let records = [&[0, 1][..], &2.5_f32.to_le_bytes(), &[0, 3], &4.5_f32.to_le_bytes()].concat();
    let records = Memory::new().with("a", "[('x', '>i2'), ('y', '<f4')]", &[2], &records);
    assert_eq!(
        of(&records.masked("a", &[0, 1, 0, 0])),
        "6f90c190a5098ce8d59ffb4dc404440ae10acc445329fd6ad2412d07eadc4bc9"
    );
    let six = Memory::new().with("a", "<u2", &[2, 3], &[0, 0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0]);
    assert_eq!(of(&six.masked("a", &[0; 6])), SIX);
}

#[test]
fn padding_and_titles_of_records_are_left_out() {
    let number = |code: &str| DType::parse(code).unwrap();
    let field = |name: &str, dtype, shape, offset| Field {
        name: name.into(),
        title: Some(format!("title {name}")),
        dtype,
        shape,
        offset,
    };
    let inner =
        Record { fields: vec![Field { title: None, ..field("x", number(">i2"), vec![], 0) }], size: 2 };
    // numpy: {'names': ['b', 'a', 's'], 'formats': ['>f4', ('>u2', (2,)), [('x', '>i2')]], 'offsets': [8, 0, 5], 'itemsize': 16}
    let fields = vec![
        field("b", number(">f4"), vec![], 8),
        field("a", number(">u2"), vec![2], 0),
        field("s", DType::Record(inner), vec![], 5),
    ];
    let dtype = DType::Record(Record { fields, size: 16 });
    let bytes: Vec<u8> = (0..48).collect();
    let memory = Memory::new().with_type("a", dtype, &[3], Order::C, &bytes);
    assert_eq!(of(&memory), "bf07ee55c2e58aa014df758c69334ae37b5a271d95848492c7c7442d91d60a66");
}

#[test]
fn records_of_very_many_parts_are_refused() {
    let byte = DType::new(Kind::Uint, 1, ByteOrder::Little);
    let gap = |shape: Vec<usize>, dtype: DType, size| {
        let field = Field { name: "a".into(), title: None, dtype, shape, offset: 0 };
        DType::Record(Record { fields: vec![field], size })
    };
    let dtype = gap(vec![1 << 30], gap(vec![], byte, 2), 2 << 30);
    assert!(Packer::new(&dtype).is_err());
}

#[test]
fn a_line_comes_back_whatever_the_address() {
    let digest = Algorithm::Sha256.digest(b"");
    let addresses: [&[u8]; 6] =
        [b"a.ra::data", b"a b.ra::x[0:1, ...]", b"a\\b\nc\r.ra", b" a", b"*a", b"\xFF\\\xE9.ra::data"];
    for address in addresses {
        let text = line(&digest, address);
        assert!(!text.contains(&b'\n') && !text.contains(&b'\r'));
        assert_eq!(Line::parse(&text).unwrap(), Some(Line { digest, address: address.into() }));
    }
    assert_eq!(line(&digest, b"a"), b"e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855  a");
    assert_eq!(Line::parse(b" \t").unwrap(), None);
    assert_eq!(Line::parse(b"# made on Monday").unwrap(), None);
    let digits = "e3".repeat(32);
    for bad in [
        digits.clone(),
        format!("{digits}  "),
        format!("{digits}a  a"),
        format!("\\{digits}  a\\x"),
        format!("+{}  a", &digits[1..]),
    ] {
        assert!(Line::parse(bad.as_bytes()).is_err(), "{bad}");
    }
}
