use std::error::Error as _;

use super::*;

#[test]
fn a_truncation_reads_as_the_house_wants_it() {
    let error = Error::truncated(48..168, 64).with_context("rawarray dims").with_context("file");
    assert_eq!(
        error.to_string(),
        "rawarray dims: file ends early: need 120 bytes, 64 present (bytes 48..168)"
    );
}

#[test]
fn the_error_is_one_pointer_wide() {
    assert_eq!(size_of::<Error>(), size_of::<usize>());
}

/// One error of each kind, its sentence, whether it is damage, and its kind as an `io::Error`.
fn one_of_each() -> Vec<(Error, &'static str, bool, io::ErrorKind)> {
    let checksum = ErrorKind::Checksum { stored: "0a".into(), computed: "0b".into() };
    let refused = io::Error::from(io::ErrorKind::PermissionDenied);
    let invalid = io::ErrorKind::InvalidData;
    vec![
        (Error::wrong_format("a .npy file"), "not a .npy file", false, invalid),
        (
            Error::new(ErrorKind::Truncated { need: 9, have: 4 }),
            "file ends early: need 9 bytes, 4 present",
            true,
            io::ErrorKind::UnexpectedEof,
        ),
        (Error::malformed("a negative length"), "a negative length", true, invalid),
        (Error::unsupported("version 9"), "version 9", false, io::ErrorKind::Unsupported),
        (Error::new(checksum), "checksum differs: stored 0a, computed 0b", true, invalid),
        (
            Error::limit("memory in bytes", 10, 5),
            "memory in bytes would be 10, the limit is 5",
            false,
            io::ErrorKind::OutOfMemory,
        ),
        (
            Error::out_of_memory(10, 50),
            "memory in bytes (the machine refused it) would be 10, the limit is 50",
            false,
            io::ErrorKind::OutOfMemory,
        ),
        (Error::new(ErrorKind::Missing(3..7)), "bytes 3..7 are not loaded", false, invalid),
        (Error::from(refused), "permission denied", false, io::ErrorKind::PermissionDenied),
        (Error::usage("no such dataset"), "no such dataset", false, io::ErrorKind::InvalidInput),
        (Error::absent("no frame 3"), "no frame 3", false, invalid),
        (Error::cancelled(), "cancelled", false, io::ErrorKind::Other),
    ]
}

#[test]
fn each_kind_has_its_sentence_and_its_kind_of_io_error() {
    for (error, text, is_damage, kind) in one_of_each() {
        assert_eq!((error.to_string().as_str(), error.is_damage()), (text, is_damage));
        assert_eq!(error.source().is_some(), text == "permission denied", "{text}");
        let discriminant = std::mem::discriminant(error.kind());
        let io = io::Error::from(error);
        assert_eq!(io.kind(), kind, "{text}");
        let back = Error::from(io);
        assert_eq!((back.to_string().as_str(), std::mem::discriminant(back.kind())), (text, discriminant));
    }
}

#[test]
fn an_io_error_of_the_system_is_carried_as_one() {
    let error = Error::from(io::Error::other("no power"));
    assert!(matches!(error.kind(), ErrorKind::Io(inner) if inner.kind() == io::ErrorKind::Other));
    assert!(matches!(error.into_kind(), ErrorKind::Io(_)));
}

#[test]
fn the_innermost_place_wins() {
    let error = Error::malformed("x");
    assert_eq!((error.range(), error.context(), error.file_name()), (None, None, None));
    assert_eq!((error.dataset(), error.hint(), error.is_after_change()), (None, None, false));
    let error = error.with_range(3..5).with_context("in").in_file("a.1").in_dataset("d/1").with_hint("try");
    let error = error.with_range(0..9).with_context("out").in_file("a").in_dataset("d").with_hint("stop");
    assert_eq!((error.range(), error.context(), error.file_name()), (Some(3..5), Some("in"), Some("a.1")));
    assert_eq!((error.dataset(), error.hint()), (Some("d/1"), Some("try")));
    assert_eq!(error.subject(), None);
    assert_eq!(error.with_subject("b").with_subject("a").subject(), Some("b"));
}

#[test]
fn the_sentence_names_every_place_that_is_given() {
    let plain = || Error::malformed("bad size");
    assert_eq!(plain().to_string(), "bad size");
    assert_eq!(plain().with_range(1..2).to_string(), "bad size (bytes 1..2)");
    assert_eq!(plain().in_file("b.1").to_string(), "bad size (b.1)");
    assert_eq!(plain().with_range(1..2).in_file("b.1").to_string(), "bad size (b.1, bytes 1..2)");
    assert_eq!(plain().in_dataset("a/b").to_string(), "a/b: bad size");
    assert_eq!(plain().in_dataset("a/b").with_subject("x").to_string(), "x: a/b: bad size");
    let all = plain().with_context("block").in_dataset("a/b").with_hint("not shown").after_change();
    assert_eq!(all.to_string(), "the change was made, but a power cut may undo it: a/b: block: bad size");
    assert!(all.is_after_change());
    let all = all.rolled_back();
    assert_eq!((all.to_string().as_str(), all.is_after_change()), ("a/b: block: bad size", false));
}

#[test]
fn a_shift_moves_the_range_and_nothing_else() {
    assert_eq!(Error::malformed("x").with_range(3..5).shifted(10).range(), Some(13..15));
    assert_eq!(Error::malformed("x").shifted(10).range(), None);
    let end = Error::malformed("x").with_range(3..u64::MAX).shifted(4).range();
    assert_eq!(end, Some(7..u64::MAX));
}

#[test]
fn every_kind_has_a_name_and_says_whether_the_file_is_at_fault() {
    let checksum = ErrorKind::Checksum { stored: "a".into(), computed: "b".into() };
    let cases = [
        (Error::wrong_format("x"), "wrong_format", [false, false]),
        (Error::truncated(0..4, 1), "truncated", [true, false]),
        (Error::malformed("x"), "malformed", [true, false]),
        (Error::unsupported("x"), "unsupported", [false, false]),
        (Error::new(checksum), "checksum", [true, false]),
        (Error::limit("x", 2, 1), "limit", [false, true]),
        (Error::new(ErrorKind::Missing(0..4)), "missing", [false, true]),
        (io::Error::other("x").into(), "io", [false, true]),
        (Error::usage("x"), "usage", [false, false]),
        (Error::absent("x"), "absent", [false, false]),
        (Error::cancelled(), "cancelled", [false, true]),
    ];
    for (error, name, fault) in cases {
        assert_eq!((error.kind().name(), [error.is_damage(), error.is_interruption()]), (name, fault));
    }
}

#[test]
fn debug_is_the_text_and_the_next_step() {
    let error = Error::usage("x").with_context("c").with_range(1..2).in_file("f").without_file("g");
    assert_eq!(format!("{error:?}"), "c: x (f, bytes 1..2)");
    assert_eq!(Error::usage("x").in_file("f").without_file("f").to_string(), "x");
    assert_eq!(format!("{:?}", error.with_hint("h")), "c: x (f, bytes 1..2)\n  try: h");
}
