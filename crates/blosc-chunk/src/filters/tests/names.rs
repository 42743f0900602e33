//! Numbers, names and properties of filters.

use super::*;

/// Numbers of blosc2.h and of `include/blosc2/filters-registry.h` (C-Blosc2 3.3.5).
#[test]
fn numbers_have_the_names_of_c_blosc2() {
    for (id, name, is_known, is_unassigned, is_lossy) in [
        (0, "none", true, false, false),
        (1, "shuffle", true, false, false),
        (2, "bitshuffle", true, false, false),
        (3, "delta", true, false, false),
        (4, "trunc_prec", true, false, true),
        (5, "unknown", false, true, false),
        (31, "unknown", false, true, false),
        (32, "ndcell", true, false, false),
        (33, "ndmean", true, false, true),
        (34, "bytedelta_buggy", true, false, false),
        (35, "bytedelta", true, false, false),
        (36, "int_trunc", true, false, true),
        (37, "unknown", false, true, false),
        (159, "unknown", false, true, false),
        (160, "user-defined", false, false, false),
        (255, "user-defined", false, false, false),
    ] {
        let filter = Filter::new(id, 0);
        assert_eq!(filter.name(), name);
        assert_eq!(
            (filter.is_known(), filter.is_unassigned(), filter.is_lossy()),
            (is_known, is_unassigned, is_lossy)
        );
        assert_eq!(filter, Filter { id, meta: 0 });
    }
}

#[test]
fn words_and_filters_are_inverse() {
    for (word, id, meta) in [
        ("shuffle", 1, 0),
        ("shuffle:255", 1, 255),
        ("bitshuffle", 2, 0),
        ("delta", 3, 0),
        ("trunc_prec:10", 4, 10),
        ("trunc_prec:-128", 4, 128),
        ("ndcell:4", 32, 4),
        ("ndmean:3", 33, 3),
        ("bytedelta", 35, 0),
        ("bytedelta:8", 35, 8),
        ("int_trunc:-3", 36, 253),
        ("int_trunc:127", 36, 127),
    ] {
        let pipeline = Pipeline::parse_words(&[word]).unwrap();
        assert_eq!(pipeline.0[5], Filter::new(id, meta), "{word}");
        assert!(pipeline.0[..5].iter().all(|slot| slot.id == 0), "{word}");
        assert_eq!(pipeline.names(), [word]);
    }
    // Those that have no word.
    for (filter, shown) in [
        (Filter::new(34, 4), "bytedelta_buggy:4"),
        (Filter::new(34, 0), "bytedelta_buggy"),
        (Filter::new(40, 7), "unknown (40)"),
        (Filter::new(200, 0), "user-defined (200)"),
        (Filter::new(0, 0), "none"),
        (Filter::new(2, 9), "bitshuffle"),
    ] {
        assert_eq!(filter.to_string(), shown);
    }
    for word in
        ["shuffle:-1", "bytedelta:256", "bitshuffle:1", "int_trunc", "ndmean", "trunc_prec:-129", "ndcell:-1"]
    {
        let error = Pipeline::parse_words(&[word]).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{word}: {error}");
    }
    assert_eq!(Pipeline::parse_words(&["", "none", "delta", "none"]).unwrap().names(), ["delta"]);
}

#[test]
fn a_pipeline_without_lossy_filters_keeps_the_others_in_place() {
    let slots = [(4, 10), (1, 4), (33, 2), (0, 0), (36, 3), (35, 4)];
    let pipeline = Pipeline(slots.map(|(id, meta)| Filter::new(id, meta)));
    let kept = [(0, 0), (1, 4), (0, 0), (0, 0), (0, 0), (35, 4)];
    assert_eq!(pipeline.without_lossy().0, kept.map(|(id, meta)| Filter::new(id, meta)));
    assert!(pipeline.is_lossy() && !pipeline.without_lossy().is_lossy());
    assert!(!pipeline.is_empty() && Pipeline::none().is_empty() && !Pipeline::bitshuffle().is_empty());
    assert_eq!(Pipeline::default(), Pipeline::none());
}

#[test]
fn errors_report_who_may_have_an_unavailable_filter() {
    for (id, has) in [
        (5, "does not exist"),
        (31, "does not exist"),
        (37, "registered plugin"),
        (159, "registered plugin"),
        (160, "by the program that wrote"),
        (255, "by the program that wrote"),
    ] {
        let error = Pipeline([Filter::new(id, 0); 6]).check_known_with(&NONE).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
        assert!(error.to_string().contains(&format!("filter number {id} ")), "{error}");
        assert!(error.to_string().contains(has), "{error}");
    }
}

/// Low bits of little-endian integers of every width that C-Blosc2 takes; a rest is kept.
#[test]
fn int_trunc_clears_bits_of_every_width() {
    for (typesize, value) in [(1, 0xf8_u64), (2, 0xfff8), (4, 0xffff_fff8), (8, 0xffff_ffff_ffff_fff8)] {
        let mut expected = value.to_le_bytes()[..typesize].repeat(3);
        expected.resize(3 * typesize + typesize / 2, 0xff);
        let src = vec![0xff; expected.len()];
        assert_eq!(made(&src, |src, dst| int_trunc(-3, typesize, src, dst).unwrap()), expected, "{typesize}");
        // Positive: the bits that stay.
        let stay = i8::try_from(8 * typesize - 3).unwrap();
        assert_eq!(
            made(&src, |src, dst| int_trunc(stay, typesize, src, dst).unwrap()),
            expected,
            "{typesize}"
        );
    }
}
