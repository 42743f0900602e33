//! Frames that stand for others: which values are absent, and in what words.

use super::*;
use crate::{FrameOptions, Writer, default_params};

/// Makes a frame of three chunks of 8 bytes, of which the second may be zeros, which are not stored.
fn frame(metalayer: &str, mark: &Value, user: &[(&str, Value)], has_zeros: bool) -> Frame {
    let mut options = FrameOptions { params: default_params(1), ..FrameOptions::default() };
    options.metalayers.set(metalayer, msgpack::from_value(mark).unwrap()).unwrap();
    let mut out = Vec::new();
    let mut writer = Writer::new(&mut out, options).unwrap();
    for chunk in [b"aabbccdd", if has_zeros { &[0; 8] } else { b"eeffgghh" }, b"iijjkkll"] {
        writer.append(chunk).unwrap();
    }
    for (name, value) in user {
        writer.set_vlmetalayer(name, &msgpack::from_value(value).unwrap()).unwrap();
    }
    writer.finish().unwrap();
    Frame::from_bytes(out).unwrap()
}

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Kinds of the metalayer `b2o` of python-blosc2 4.14.1.
#[test]
fn objects_name_the_recipe_of_their_values() {
    for (mark, recipe) in [
        (map(&[("kind", "lazyexpr".into())]), Recipe::Expression),
        (map(&[("kind", "lazyudf".into())]), Recipe::Function),
        (map(&[("kind", "c2array".into())]), Recipe::Server),
        (map(&[("kind", "of tomorrow".into())]), Recipe::Object),
        (map(&[("version", 1_u8.into())]), Recipe::Object),
        (map(&[("kind", 7_u8.into())]), Recipe::Object),
    ] {
        let frame = frame(OBJECT, &mark, &[(OBJECT, "x + 1".into())], false);
        let Some(Absence::Made(found)) = Absence::of(&frame) else { panic!("{mark:?}") };
        assert_eq!(found, recipe, "{mark:?}");
        let absence = Absence::Made(recipe);
        assert!(absence.fetched().is_none());
        let described = absence.description().unwrap();
        assert!(described.contains(recipe.description()) && !recipe.description().is_empty());
        assert!(absence.loss().unwrap().contains(&described));
        assert!(absence.of_chunks(&frame, std::iter::empty()).is_some());
        // The recipe is shown.
        assert_eq!(Absence::recipe(&frame), Some("x + 1".into()));
    }
    let texts =
        [Recipe::Expression, Recipe::Function, Recipe::Server, Recipe::Object].map(Recipe::description);
    assert!((0..4).all(|one| (0..one).all(|other| texts[one] != texts[other])), "{texts:?}");
    // The old metalayer is one of arrays alone.
    assert!(Absence::of(&frame(LAZY, &Value::Int(0), &[], false)).is_none());
}

#[test]
fn a_proxy_lacks_what_it_has_not_fetched() {
    let source = map(&[("urlpath", "a.b2nd".into())]);
    let bits = |bits: u8| Value::Bytes(vec![bits]);
    let remote = map(&[("kind", "remote_array".into())]);
    // Fetched parts, all parts, and whether each chunk is there.
    for (mark, user, has_zeros, told, there) in [
        (&source, vec![("proxy-fetched", bits(0b101))], false, "2 of 3 chunks", [true, false, true]),
        (&source, vec![("proxy-fetched", bits(0b111))], false, "3 of 3 chunks", [true; 3]),
        (&remote, vec![("proxy-fetched", bits(0b001))], false, "1 of 3 chunks", [true, false, false]),
        // Without bits, chunks that are stored.
        (&source, vec![], true, "2 of 3 chunks", [true, false, true]),
        (&source, vec![], false, "3 of 3 chunks", [true; 3]),
        // Bits of another number of chunks are none.
        (&source, vec![("proxy-fetched", Value::Bytes(vec![0, 0]))], false, "3 of 3 chunks", [true; 3]),
        // Left behind by a killed process.
        (
            &source,
            vec![("proxy-fetched", bits(0b111)), ("proxy-dirty", true.into())],
            false,
            "0 of 3 chunks",
            [false; 3],
        ),
        (
            &source,
            vec![("proxy-fetched-bpc", 2_u8.into()), ("proxy-fetched-blocks", bits(0b10_0111))],
            false,
            "4 of 6 blocks",
            [true, false, false],
        ),
        // A bit for each chunk counts where blocks have none; without either nothing does.
        (
            &source,
            vec![("proxy-fetched-bpc", 2_u8.into()), ("proxy-fetched", bits(0b011))],
            false,
            "2 of 3 chunks",
            [true, true, false],
        ),
        (&source, vec![("proxy-fetched-bpc", 2_u8.into())], false, "0 of 3 chunks", [false; 3]),
    ] {
        let name = if mark == &source { PROXY } else { OBJECT };
        let frame = frame(name, mark, &user, has_zeros);
        let absence = Absence::of(&frame).unwrap();
        let fetched = absence.fetched().unwrap();
        assert_eq!(fetched.to_string(), told, "{user:?}");
        let is_partial = there != [true; 3];
        assert_eq!(fetched.is_partial(), is_partial, "{told}");
        for text in [absence.description(), absence.loss()] {
            assert_eq!(text.is_some(), is_partial, "{told}: {text:?}");
            assert!(text.is_none_or(|text| text.contains(told)), "{told}");
        }
        assert_eq!(Absence::recipe(&frame), None);
        for (chunk, is_there) in (0..).zip(there) {
            let error = absence.of_chunks(&frame, std::iter::once(chunk));
            assert_eq!(error.is_none(), is_there, "{told} {chunk}");
            let is_named =
                |error: &Error| error.to_string().contains(&format!("chunk {chunk} was not fetched"));
            assert!(error.is_none_or(|error| is_named(&error) && error.hint().is_some()), "{told} {chunk}");
        }
        assert!(absence.of_chunks(&frame, std::iter::empty()).is_none(), "{told}");
        assert_eq!(absence.of_chunks(&frame, 0..3).is_some(), is_partial, "{told}");
    }
    let mut empty = Vec::new();
    let mut options = FrameOptions::default();
    options.metalayers.set(PROXY, vec![0xc0]).unwrap();
    Writer::new(&mut empty, options).unwrap().finish().unwrap();
    assert!(Absence::of(&Frame::from_bytes(empty).unwrap()).is_none());
}

#[test]
fn marks_of_stand_ins_are_left_out_of_copies() {
    for (name, is_left) in [
        ("b2o", true),
        ("LazyArray", true),
        ("_LazyArray", true),
        ("proxy-source", true),
        ("proxy-fetched", true),
        ("proxy", false),
        ("b2nd", false),
        ("unit", false),
    ] {
        assert_eq!(is_of_stand_in(name), is_left, "{name}");
    }
}
