//! Structs of the caller's own, and the dicts that Python makes of them.

use std::collections::BTreeMap;

use container_core::ErrorKind;
use serde::{Deserialize, Serialize};

use super::*;

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Station {
    name: String,
    place: (f64, f64),
    readings: Vec<u32>,
    parent: Option<Box<Station>>,
    #[serde(default)]
    notes: BTreeMap<String, bool>,
}

fn station() -> Station {
    Station {
        name: "Grüze".into(),
        place: (47.5, -8.75),
        readings: vec![0, 127, 128, 70_000],
        parent: Some(Box::new(Station {
            name: String::new(),
            place: (0.0, 1.0),
            readings: Vec::new(),
            parent: None,
            notes: BTreeMap::new(),
        })),
        notes: [("checked".to_owned(), true)].into(),
    }
}

/// By msgpack-python 1.2.4, `msgpack.packb` of the dict that is meant:
/// {"name": "Grüze", "place": [47.5, -8.75], "readings": [0, 127, 128, 70000], "parent": {"name": "", "place": [0.0, 1.0],
/// "readings": [], "parent": None, "notes": {}}, "notes": {"checked": True}}
const PYTHON: &[u8] =
    b"\x85\xa4name\xa6Gr\xc3\xbcze\xa5place\x92\xcb\x40\x47\xc0\0\0\0\0\0\xcb\xc0\x21\x80\0\0\0\0\0\
\xa8readings\x94\0\x7f\xcc\x80\xce\0\x01\x11\x70\xa6parent\x85\xa4name\xa0\xa5place\x92\xcb\0\0\0\0\0\0\0\0\
\xcb\x3f\xf0\0\0\0\0\0\0\xa8readings\x90\xa6parent\xc0\xa5notes\x80\xa5notes\x81\xa7checked\xc3";

#[test]
fn structs_are_the_dicts_of_python() {
    assert_eq!(to_msgpack(&station()).unwrap(), PYTHON);
    assert_eq!(from_msgpack::<Station>(PYTHON).unwrap(), station());
}

#[derive(Debug, PartialEq, Deserialize)]
struct Short {
    name: String,
    readings: Vec<u32>,
}

#[test]
fn fields_may_be_more_and_in_another_order() {
    let short = Short { name: "Grüze".into(), readings: vec![0, 127, 128, 70_000] };
    assert_eq!(from_msgpack::<Short>(PYTHON).unwrap(), short);
    // {"readings": [1], "name": "x"}
    let other = b"\x82\xa8readings\x91\x01\xa4name\xa1x";
    assert_eq!(from_msgpack::<Short>(other).unwrap(), Short { name: "x".into(), readings: vec![1] });
    // ["x", [1]], without names.
    let bare = b"\x92\xa1x\x91\x01";
    assert_eq!(from_msgpack::<Short>(bare).unwrap(), Short { name: "x".into(), readings: vec![1] });
}

#[test]
fn invalid_or_mismatched_msgpack_is_refused_with_its_range() {
    let mut more = PYTHON.to_vec();
    more.push(0xc0);
    let all = PYTHON.len() as u64;
    for (bytes, range) in [
        (&more[..], all..all + 1),
        (&PYTHON[..PYTHON.len() - 1], 0..all - 1),
        (b"", 0..0),
        (b"\xc1", 0..1),
        (b"\x92\x01\x02", 0..3),
        // Four thousand million items, and none.
        (b"\x82\xa4name\xa1x\xa8readings\xdd\xff\xff\xff\xff", 0..22),
        (b"\x82\xa8readings\x90\xa4name\xdb\xff\xff\xff\xff", 0..21),
    ] {
        let error = from_msgpack::<Short>(bytes).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
        assert_eq!(error.range(), Some(range), "{error}");
    }
}

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Nest(Vec<Nest>);

#[test]
fn depth_is_bounded() {
    let nested = |levels: usize| [vec![0x91; levels - 1], vec![0x90]].concat();
    from_msgpack::<Nest>(&nested(30)).unwrap();
    for levels in [200, 1_000_000] {
        assert!(from_msgpack::<Nest>(&nested(levels)).is_err());
        assert!(from_msgpack::<serde::de::IgnoredAny>(&nested(levels)).is_err());
    }
}

#[test]
fn types_without_msgpack_are_refused() {
    struct Refuses;

    impl Serialize for Refuses {
        fn serialize<S: serde::Serializer>(&self, _: S) -> std::result::Result<S::Ok, S::Error> {
            Err(serde::ser::Error::custom("no"))
        }
    }

    assert!(matches!(to_msgpack(&Refuses).unwrap_err().kind(), ErrorKind::Usage(_)));
}
