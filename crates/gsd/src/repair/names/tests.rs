use std::collections::BTreeMap;

use super::*;

fn lists(bytes: &[u8], v1: bool, needed: usize) -> Vec<(Range<u64>, Vec<String>)> {
    let mut lists = Vec::new();
    search(bytes, 1000, v1, needed, &mut lists);
    let names = |found: &RecoveredNames| {
        found.names.iter().map(|name| String::from_utf8(name.clone().unwrap()).unwrap()).collect()
    };
    lists.iter().map(|found| (found.range.clone(), names(found))).collect()
}

#[test]
fn lists_of_names_are_found_among_other_bytes() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let bytes = b"\x01\x02first\0second/name\0\0\0\xFFa\0b\0c\0\0";
    assert_eq!(
        lists(bytes, false, 2),
        [(1002..1020, names(&["first", "second/name"])), (1023..1029, names(&["a", "b", "c"]))]
    );
    assert_eq!(lists(bytes, false, 3), [(1023..1029, names(&["a", "b", "c"]))]);
    assert_eq!(lists(bytes, false, 4), []);
    // The same name twice is no list, and a name ends with a NUL.
    assert_eq!(lists(b"a\0a\0\0", false, 2), []);
    assert_eq!(lists(b"a\0b", false, 2), []);
    assert_eq!(lists(b"a\0b\x01", false, 1), [(1000..1002, names(&["a"]))]);
    let mut slots = vec![1; 3];
    for name in [&b"one"[..], b"two"] {
        let at = slots.len();
        slots.extend(name);
        slots.resize(at + 64, 0);
    }
    assert_eq!(lists(&slots, true, 2), [(1003..1131, names(&["one", "two"]))]);
    assert_eq!(lists(&slots[..130], true, 2), []);
}

#[test]
fn blocks_end_at_their_first_empty_name() {
    assert_eq!(until_empty_name(b"a\0bc\0\0d\0", false), b"a\0bc\0");
    assert_eq!(until_empty_name(b"\0\0a", false), b"\0");
    assert_eq!(until_empty_name(b"a\0b", false), b"a\0b");
    let mut slots = [0; 200];
    slots[0] = b'a';
    slots[64] = b'b';
    assert_eq!(until_empty_name(&slots, true), &slots[..128]);
    slots[70] = b'x';
    assert_eq!(until_empty_name(&slots, true), &slots[..64]);
    assert_eq!(until_empty_name(&slots[..100], true), &slots[..64]);
}

#[test]
fn a_slot_holds_a_name_and_zeros() {
    let slot = |bytes: &[u8]| {
        let mut slot = [0; 64];
        slot[..bytes.len()].copy_from_slice(bytes);
        slot_name(&slot).map(<[u8]>::to_vec)
    };
    assert_eq!(slot(b"abc"), Some(b"abc".to_vec()));
    assert_eq!(slot(&[b'x'; 63]), Some(vec![b'x'; 63]));
    assert_eq!([slot(b""), slot(b"a\0b"), slot(b"\0a"), slot(&[b'x'; 64])], [None, None, None, None]);
}

#[test]
fn names_are_readable_and_plausible_as_programs_choose_them() {
    assert!(is_readable("log/é".as_bytes()) && is_readable(b"a b"));
    assert!(!is_readable(b"") && !is_readable(b"a\nb") && !is_readable(b"a\xFF") && !is_readable(b"\x7F"));
    let plausible = |names: &[&[u8]]| are_plausible(&NameList::from_names(names));
    assert!(plausible(&[b"a", b"b"]) && plausible(&[]));
    assert!(!plausible(&[b"a", b"a"]) && !plausible(&[b"a", b"\x01"]));
}

#[test]
fn names_of_the_schema_begin_with_a_container() {
    for name in [
        "configuration/x",
        "particles/N",
        "bonds/",
        "angles/x",
        "dihedrals/x",
        "impropers/x",
        "constraints/x",
        "pairs/x",
        "state/x",
        "log/a/b",
    ] {
        assert!(is_schema_name(name.as_bytes()), "{name}");
    }
    for name in ["log", "logs/a", "og/a", "/log", "", "a/log"] {
        assert!(!is_schema_name(name.as_bytes()), "{name}");
    }
}

#[test]
fn names_before_a_hole_keep_their_places() {
    let filled = |bytes: &[u8], needed: usize, committed: usize| {
        let mut names = vec![None; needed];
        fill_before_hole(bytes, &mut names, committed);
        names
            .into_iter()
            .map(|name| name.map_or_else(String::new, |name| String::from_utf8(name).unwrap()))
            .collect::<Vec<_>>()
    };
    // A hole after the second: it may have lost its end, unless the schema has it.
    assert_eq!(filled(b"first\0second\0\0\0fourth\0", 4, 4), ["first", "", "", ""]);
    assert_eq!(filled(b"first\0particles/N\0\0\0fourth\0", 4, 4), ["first", "particles/N", "", ""]);
    assert_eq!(filled(b"particles/N\0second\0third\0\0x\0", 4, 4), ["particles/N", "second", "", ""]);
    // Without a hole, all; with fewer than committed entries need, up to the first that the schema does not have.
    assert_eq!(filled(b"first\0second\0\0\0", 3, 2), ["first", "second", ""]);
    assert_eq!(filled(b"first\0second\0\0\0", 3, 3), ["", "", ""]);
    assert_eq!(filled(b"particles/N\0second\0\0\0", 3, 3), ["particles/N", "", ""]);
    // A name without its NUL is cut.
    assert_eq!(filled(b"first\0second\0thi", 3, 0), ["first", "second", ""]);
    assert_eq!(filled(b"", 2, 2), ["", ""]);
}

fn chosen(names: &[Option<&[u8]>], as_listed: bool, wanted: &[(u16, &str)]) -> (Vec<String>, RepairReport) {
    let found = RecoveredNames {
        names: names.iter().map(|name| name.map(<[u8]>::to_vec)).collect(),
        range: 700..800,
        guess: None,
        as_listed,
    };
    let wanted: BTreeMap<u16, String> = wanted.iter().map(|(id, name)| (*id, (*name).to_owned())).collect();
    let mut report = RepairReport::default();
    let names = choose(found, &wanted, &mut report);
    (names.into_iter().map(|name| String::from_utf8_lossy(&name).into_owned()).collect(), report)
}

#[test]
fn lost_names_are_replaced_by_ones_that_no_other_has() {
    let item = |what: &str| RepairItem::new(700..700, what);
    let (names, report) = chosen(&[Some(b"a"), None, Some(b"unknown/1")], false, &[]);
    assert_eq!(names, ["a", "unknown/1_", "unknown/1"]);
    assert_eq!(report.lost, [item("name 1 is lost, replaced by \"unknown/1_\"")]);
    // A name listed twice, and one that is not text, of a list that was found.
    let (names, report) = chosen(&[Some(b"a"), Some(b"a"), Some(b"b\xFFc")], false, &[]);
    assert_eq!(names, ["a", "unknown/1", "unknown/2"]);
    let told = |id: u16, old: &str| {
        format!("name {id}, {old:?}, is a duplicate or not text, replaced by \"unknown/{id}\"")
    };
    assert_eq!(report.lost, [item(&told(1, "a")), item(&told(2, "b\u{FFFD}c"))]);
    assert_eq!(report.guessed, []);
    // Of the file's own list names are as they are.
    let (names, report) = chosen(&[Some(b"a"), Some(b"a"), Some(b"b\xFFc")], true, &[]);
    assert_eq!(names, ["a", "unknown/1", "b\u{FFFD}c"]);
    assert_eq!(report.guessed, [item(&told(1, "a")).with_evidence(Evidence::Index)]);
    assert_eq!(report.lost, []);
    // A name of 63 bytes that was cut within a character.
    let (names, report) = chosen(&[Some("aé".as_bytes().split_last().unwrap().1)], false, &[]);
    assert_eq!((names, report), (vec!["a".to_owned()], RepairReport::default()));
    let (names, report) = chosen(&[Some(b"a"), None], false, &[(0, "new"), (1, "a")]);
    assert_eq!(names, ["new", "a"]);
    let kept = [item("name 0 is \"new\", as requested"), item("name 1 is \"a\", as requested")];
    assert_eq!((report.kept.as_slice(), report.lost.len()), (&kept[..], 0));
}

#[test]
fn a_field_of_text_is_cut_at_its_first_byte_that_is_none() {
    let field = |bytes: &[u8]| {
        let mut field = [0; 64];
        field[..bytes.len()].copy_from_slice(bytes);
        field
    };
    for good in [&b""[..], b"hoomd", "é".as_bytes(), &[b'x'; 63]] {
        assert_eq!(text(&field(good)), Ok(()));
    }
    assert_eq!(text(&field(b"ab\x01c")), Err(field(b"ab")));
    assert_eq!(text(&field(b"ab\xFFc")), Err(field(b"ab")));
    assert_eq!(text(&field(b"ab\xFF\x01")), Err(field(b"ab")));
    assert_eq!(text(&field(b"a\x01b\xFF")), Err(field(b"a")));
    assert_eq!(text(&[b'x'; 64]), Err(field(&[b'x'; 63])));
    // A character of two bytes at the end goes as a whole.
    let long = ["x".repeat(62).as_bytes(), "é".as_bytes()].concat();
    assert_eq!(text(&field(&long)), Err(field(&[b'x'; 62])));
    assert!(is_filled(&[b'x'; 64]) && is_filled(&field(&long)));
    assert!(is_filled(&field(&[&[b'x'; 61][..], &[0xF0, 0x9F, 0x98]].concat())));
    assert!(
        !is_filled(&field(b"x"))
            && !is_filled(&[1; 64])
            && !is_filled(&field(&[&[b'x'; 60][..], &[0xFF; 4]].concat()))
    );
}
