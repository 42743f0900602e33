use super::*;
use crate::{Editor, FrameOptions, Writer};

fn names(all: &Entries) -> Vec<&str> {
    all.iter().map(|(name, _)| name.as_str()).collect()
}

#[test]
fn values_are_skipped_whole() {
    // Each by the Python package msgpack 1.1: 1, -1, "a"*40, b"x"*300, [1, [2, {}]], {"a": 1.5}, ext 42, a timestamp, 2**40.
    let values: [&[u8]; 9] = [
        b"\x01",
        b"\xff",
        &[b"\xd9\x28".as_slice(), &[b'a'; 40]].concat(),
        &[b"\xc5\x01\x2c".as_slice(), &[b'x'; 300]].concat(),
        b"\x92\x01\x92\x02\x80",
        b"\x81\xa1a\xcb\x3f\xf8\0\0\0\0\0\0",
        b"\xc7\x03\x2aabc",
        b"\xd6\xff\0\0\0\x01",
        b"\xcf\0\0\x01\0\0\0\0\0",
    ];
    for value in values {
        let followed = [value, b"rest"].concat();
        assert_eq!(skip(&followed), Some(&b"rest"[..]), "{value:x?}");
        for len in 0..value.len() {
            assert_eq!(skip(&value[..len]), None, "{value:x?} cut at {len}");
        }
    }
    // Deeper than any stack, and longer than it claims.
    assert_eq!(skip(&[0x91; 1 << 20]), None);
    assert_eq!(skip(b"\xdd\xff\xff\xff\xff\x01"), None);
    assert_eq!(skip(b"\xc1"), None);
}

#[test]
fn attributes_beyond_the_15th_and_long_names_are_within_attrs() {
    let mut all = Vec::new();
    let limits = Limits::default();
    for number in 0..20_u8 {
        set(&mut all, &format!("key {number:02}"), &[number], &limits).unwrap();
    }
    let long = "a name of more than thirty-one bytes";
    set(&mut all, long, b"\xa4long", &limits).unwrap();
    assert_eq!(all.len(), MAX_METALAYERS);
    assert_eq!(names(&all)[14..], ["key 14", NAME]);
    let within = read(&all, &limits).unwrap().unwrap();
    assert_eq!(names(&within), ["key 15", "key 16", "key 17", "key 18", "key 19", long]);
    // Each stays where it is.
    set(&mut all, "key 03", b"\xc3", &limits).unwrap();
    set(&mut all, "key 17", b"\xc2", &limits).unwrap();
    assert_eq!(read(&all, &limits).unwrap().unwrap()[2].1, b"\xc2");
    assert!(remove(&mut all, "key 02", &limits).unwrap());
    // There is room again, and what is within stays within.
    set(&mut all, "key 18", b"\x07", &limits).unwrap();
    assert!(!names(&all).contains(&"key 18"));
    set(&mut all, "new", b"\x07", &limits).unwrap();
    assert_eq!(names(&all).last(), Some(&"new"));
    for name in ["key 15", "key 16", "key 17", "key 18", "key 19"] {
        assert!(remove(&mut all, name, &limits).unwrap());
        assert!(!remove(&mut all, name, &limits).unwrap());
    }
    assert!(names(&all).contains(&NAME));
    assert!(remove(&mut all, long, &limits).unwrap());
    assert!(!names(&all).contains(&NAME));
}

#[test]
fn set_preserves_foreign_metalayers_and_the_limit_of_16() {
    let limits = Limits::default();
    let mut all = Vec::new();
    set_vlmetalayer(&mut all, NAME, b"\x93\x01\x02\x03").unwrap();
    let before = all.clone();
    let long = "n".repeat(40);
    assert!(matches!(set(&mut all, &long, b"\x01", &limits).unwrap_err().kind(), crate::ErrorKind::Usage(_)));
    assert!(set(&mut all, "short", b"\x01\x02", &limits).is_err());
    assert_eq!(all, before);
    let mut full = Vec::new();
    for number in 0..16 {
        set_vlmetalayer(&mut full, &format!("{number}"), b"\x01").unwrap();
    }
    assert!(set(&mut full, "more", b"\x01", &limits).is_err());
    set(&mut full, "3", b"\x02", &limits).unwrap();
    assert_eq!(full.len(), 16);
}

#[test]
fn frames_show_both_as_one_list() {
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, FrameOptions::default()).unwrap();
    for number in 0..17 {
        writer.set_attribute(&format!("key {number:02}"), &Value::Int(number)).unwrap();
    }
    writer.finish().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    std::fs::write(&path, bytes).unwrap();
    let mut editor = Editor::open(&path, &crate::EditOptions::default()).unwrap();
    editor.set_attribute("key 16", &Value::Text("other".to_owned())).unwrap();
    assert!(editor.remove_attribute("key 00").unwrap());
    editor.commit(crate::Durability::Synced).unwrap();
    drop(editor);
    let frame = Frame::open(&path).unwrap();
    let found = frame.attributes().unwrap();
    let expected: Vec<String> = (1..17).map(|number| format!("key {number:02}")).collect();
    assert_eq!(names_of(&found), expected);
    assert_eq!(found[15].1, Value::Text("other".to_owned()));
    assert_eq!(found[4].1, Value::Int(5));
    assert_eq!(frame.attribute("key 16").unwrap().as_deref(), Some(&b"\xa5other"[..]));
    assert_eq!(frame.attribute("key 05").unwrap().as_deref(), Some(&b"\x05"[..]));
    assert_eq!(frame.attribute("key 00").unwrap(), None);
    assert_eq!(frame.attribute(NAME).unwrap(), None);
}

fn names_of(found: &[(String, Value)]) -> Vec<String> {
    found.iter().map(|(name, _)| name.clone()).collect()
}
