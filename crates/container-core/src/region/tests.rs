use super::*;

/// `(start, step, count)` of `range(len)[term]`, by CPython.
#[test]
fn slices_follow_python() {
    let cases = [
        (":", 5, (0, 1, 5)),
        ("1:4", 5, (1, 1, 3)),
        ("-3:-1", 5, (2, 1, 2)),
        ("::-1", 5, (4, -1, 5)),
        ("::4", 10, (0, 4, 3)),
        ("8:2:-3", 10, (8, -3, 2)),
        ("100:200", 5, (5, 1, 0)),
        ("-100:2", 5, (0, 1, 2)),
        ("3:1", 5, (3, 1, 0)),
        ("::-1", 0, (0, -1, 0)),
    ];
    for (term, len, (start, step, count)) in cases {
        let axis = parse_axis(term, len).unwrap();
        assert_eq!((axis.step, axis.count), (step, count), "{term} of {len}");
        assert!(count == 0 || axis.start == start, "{term} of {len}");
    }
}

#[test]
fn regions_turn_with_their_arrays() {
    let region = Region::parse("1:, 0", &[3, 2]).unwrap();
    assert_eq!(region.reversed(&[2, 3]).unwrap(), Region::parse("0, 1:", &[2, 3]).unwrap());
    assert!(region.reversed(&[2, 2]).is_err());
}

#[test]
fn indices_drop_their_axis_and_dots_fill_in() {
    let shape = [4, 5, 6];
    assert_eq!(Region::parse("1, ..., ::2", &shape).unwrap().shape(), [5, 3]);
    assert_eq!(Region::parse("...", &shape).unwrap(), Region::whole(&shape));
    assert_eq!(Region::parse("", &shape).unwrap(), Region::whole(&shape));
    assert_eq!(Region::parse("-1,-1,-1", &shape).unwrap().shape(), [0_u64; 0]);
    assert_eq!(Region::parse("2,", &shape).unwrap().shape(), [5, 6]);
    for bad in ["4", "-5", "a", "1:2:3:4", "::0", "0,0,0,0", "...,...", ",1", "1 2"] {
        let error = Region::parse(bad, &shape).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Usage(_)), "{bad}");
    }
}

#[test]
fn numpy_only_selections_are_named_in_the_error() {
    for (text, what) in [
        ("[1, 3]", "a list of indices"),
        ("0, [1,3]", "a list of indices"),
        ("(1, 2), 0", "a list of indices"),
        ("np.array([1])", "a list of indices"),
        ("x>3", "a condition"),
        ("typeid==1", "a condition"),
        ("~mask", "a condition"),
        ("[True, False]", "a condition"),
        ("'flux'", "the name of a field"),
    ] {
        let error = Region::parse(text, &[4, 5]).unwrap_err().to_string();
        assert!(error.contains(&format!("selection [{text}]")), "{error}");
        assert!(error.ends_with(&format!("takes numbers, slices and ..., not {what}")), "{error}");
    }
}

#[test]
fn a_part_of_a_region_is_selected_of_what_it_selects() {
    let region = Region::parse("8:1:-2, 3, 1:", &[10, 5, 4]).unwrap();
    assert_eq!(region.shape(), [4, 3]);
    let part = region.sub_region(&[(1, 2), (2, 1)]).unwrap();
    assert_eq!(part, Region::parse("6:3:-2, 3, 3:4", &[10, 5, 4]).unwrap());
    assert_eq!(region.sub_region(&[(3, 1)]).unwrap(), Region::parse("2:1:-2, 3, 1:", &[10, 5, 4]).unwrap());
    assert!(region.sub_region(&[(4, 0), (3, 0)]).unwrap().is_empty());
    for outside in [(0, 5), (4, 1), (u64::MAX, 1), (1, u64::MAX)] {
        assert!(region.sub_region(&[outside]).is_err(), "{outside:?}");
    }
}

#[test]
fn pieces_cover_the_region_in_storage_order() {
    let shape = [3, 4, 5];
    for order in [Order::C, Order::F] {
        for text in ["...", "::2, 1:, ::-1", "1", ":, 2, :", "0:0"] {
            let region = Region::parse(text, &shape).unwrap();
            let whole = indices(&region, order);
            for most in [1, 2, 3, 4, 7, 12, 20, 100] {
                let pieces: Vec<Region> = region.chunks(order, most).collect();
                assert!(pieces.iter().all(|piece| piece.len().unwrap() <= most), "{text} {most}");
                let joined: Vec<Vec<u64>> = pieces.iter().flat_map(|piece| indices(piece, order)).collect();
                assert_eq!(joined, whole, "{text} by {most} in {order:?}");
            }
        }
    }
}

/// Every index tuple of a region, in the order of its storage.
fn indices(region: &Region, order: Order) -> Vec<Vec<u64>> {
    let mut list = vec![vec![]];
    let mut axes: Vec<&AxisSelection> = region.axes().iter().collect();
    if order == Order::F {
        axes.reverse();
    }
    for axis in axes {
        list = list
            .into_iter()
            .flat_map(|head: Vec<u64>| {
                (0..axis.count).map(move |at| {
                    let index = axis.start as i64 + axis.step * at as i64;
                    [head.clone(), vec![index as u64]].concat()
                })
            })
            .collect();
    }
    list
}

#[test]
fn a_zero_dimension_hides_an_overflow() {
    assert_eq!(element_count([1 << 63, 0, 5].into_iter()), Some(0));
    assert_eq!(element_count([1 << 63, 2].into_iter()), None);
    assert_eq!(element_count(std::iter::empty()), Some(1));
}

#[test]
fn truth_values_are_conditions_and_words_that_contain_them_are_not() {
    for text in ["True", "0, False", "not True"] {
        let error = Region::check_terms(text).unwrap_err().to_string();
        assert!(error.ends_with("not a condition"), "{text}: {error}");
    }
    for text in ["Trueish", "aFalse", "1:2", ""] {
        Region::check_terms(text).unwrap();
    }
}

#[test]
fn a_text_that_selects_from_no_array_is_refused_without_one() {
    for text in ["", " ", "1", "1,", "...", "1:2:3, ..., ::-1", "5, 5, 5, 5", ":"] {
        Region::check_syntax(text).unwrap();
    }
    for (text, problem) in [
        ("a", "\"a\" is not an index"),
        ("1:b", "\"b\" is not an index"),
        ("None", "a selection makes no new axes"),
        ("0, np.newaxis", "a selection makes no new axes"),
        ("0, newaxis", "a selection makes no new axes"),
        ("numpy.newaxis", "a selection makes no new axes"),
        ("1,,2", "an index is missing"),
        (",", "an index is missing"),
        (",1", "an index is missing"),
        ("::0", "the step is 0"),
        ("1:2:3:4", "\"1:2:3:4\" has more than two colons"),
        ("x > 3", "a selection takes numbers, slices and ..., not a condition"),
    ] {
        let error = Region::check_syntax(text).unwrap_err();
        assert!(matches!(error.kind(), crate::ErrorKind::Usage(_)));
        let problem = format!("selection [{text}]: {problem}");
        assert_eq!(error.to_string(), problem);
        if text != "," && !text.starts_with(",") {
            assert!(Region::parse(text, &[9; 4]).is_err(), "{text}");
        }
    }
}

#[test]
fn errors_of_a_selection_name_the_axis() {
    let error = |text: &str| Region::parse(text, &[4, 5]).unwrap_err().to_string();
    assert_eq!(
        error("0, 5"),
        "selection [0, 5]: axis 1 of length 5: index 5 is outside (0 to 4, or -5 to -1 from the end)"
    );
    let ends = "(0 to 3, or -4 to -1 from the end)";
    assert_eq!(error("-5"), format!("selection [-5]: axis 0 of length 4: index -5 is outside {ends}"));
    let empty = Region::parse("0", &[0]).unwrap_err().to_string();
    assert!(empty.ends_with("index 0 is outside (the axis is empty)"), "{empty}");
    assert_eq!(error("0,0,0"), "selection [0,0,0]: 3 indices for an array of 2 dimensions");
    assert_eq!(error("...,..."), "selection [...,...]: more than one ... for an array of 2 dimensions");
    assert!(Region::parse("3, -5", &[4, 5]).is_ok() && Region::parse("-4, 4", &[4, 5]).is_ok());
}

#[test]
fn explicit_selections_stay_within_their_axes() {
    let axis = |start, step, count| AxisSelection { start, step, count, kept: Kept::Yes };
    let fits = |axis, len| Region::new(vec![axis], &[len]).is_ok();
    for (selection, len) in [
        (axis(0, 1, 5), 5),
        (axis(4, -2, 3), 5),
        (axis(4, 1, 1), 5),
        (axis(0, 3, 2), 4),
        (axis(9, 0, 0), 5),
        (axis(0, 1, 0), 0),
        (axis(u64::MAX - 1, -1, 2), u64::MAX),
    ] {
        assert!(fits(selection, len), "{selection:?} of {len}");
    }
    for (selection, len) in [
        (axis(0, 1, 6), 5),
        (axis(4, -2, 4), 5),
        (axis(5, 1, 1), 5),
        (axis(5, -1, 2), 5),
        (axis(0, 0, 1), 5),
        (axis(0, 4, 2), 4),
        (axis(0, i64::MAX, u64::MAX), u64::MAX),
        (axis(0, i64::MIN, u64::MAX), u64::MAX),
    ] {
        assert!(!fits(selection, len), "{selection:?} of {len}");
    }
    let error = Region::new(vec![axis(0, 1, 6)], &[5]).unwrap_err();
    assert_eq!(error.to_string(), "a selection reaches outside an axis of length 5");
    let error = Region::new(vec![axis(0, 1, 1)], &[5, 5]).unwrap_err();
    assert_eq!(error.to_string(), "1 selections for 2 dimensions");
}

#[test]
fn a_region_counts_what_it_selects() {
    let region = Region::parse("::2, 1, 1:", &[5, 4, 3]).unwrap();
    assert_eq!((region.len(), region.is_empty(), region.is_whole(&[5, 4, 3])), (Some(6), false, false));
    assert_eq!(region.axes().len(), 3);
    let empty = Region::parse("2:2", &[5, 4]).unwrap();
    assert_eq!((empty.len(), empty.is_empty()), (Some(0), true));
    assert!(Region::whole(&[5, 4]).is_whole(&[5, 4]) && !Region::whole(&[5, 4]).is_whole(&[5, 5]));
    assert!(!Region::parse("::-1", &[5]).unwrap().is_whole(&[5]));
    assert_eq!(Region::whole(&[1 << 33, 1 << 33]).len(), None);
}

#[test]
fn pieces_are_as_long_as_they_may_be() {
    let counts = |shape: &[u64], order, most| {
        Region::whole(shape).chunks(order, most).map(|piece| piece.len().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(counts(&[3, 4], Order::C, 4), [4, 4, 4]);
    assert_eq!(counts(&[3, 4], Order::C, 8), [8, 4]);
    assert_eq!(counts(&[3, 4], Order::C, 11), [8, 4]);
    assert_eq!(counts(&[3, 4], Order::C, 12), [12]);
    assert_eq!(counts(&[3, 4], Order::C, 3), [3, 1, 3, 1, 3, 1]);
    assert_eq!(counts(&[3, 4], Order::F, 6), [6, 6]);
    assert_eq!(counts(&[3, 4], Order::F, 0), [1; 12]);
    assert_eq!(counts(&[], Order::C, 1), [1]);
    assert_eq!(counts(&[3, 0], Order::C, 9), [0_u64; 0]);
    // Beyond 2^64 elements, the fast axis alone fits.
    let mut huge = Region::whole(&[1 << 40, 1 << 40]).chunks(Order::C, 1 << 41);
    assert_eq!(huge.next().unwrap().len(), Some(1 << 41));
    assert_eq!(huge.next().unwrap().axes()[0].start, 2);
}

#[test]
fn selections_of_other_programs_are_answered_with_ours() {
    let hint = |text: &str| Region::parse(text, &[10, 10]).unwrap_err().hint().map(str::to_owned);
    for (text, wanted) in [
        ("[1, 5, 7]", "an address for each: FILE::PATH[1] FILE::PATH[5] FILE::PATH[7]"),
        ("[0,1,2]", "FILE::PATH[0:3]"),
        ("(1, 4, 7)", "FILE::PATH[1:8:3]"),
        ("[1,2,4,8,9]", "a slice with a step"),
        ("[9223372036854775807, 0, -9223372036854775808]", "an address for each"),
        ("0, [1,2]", "a slice with a step"),
        ("x>3", "numpy in Python"),
        ("1.5", "whole numbers"),
        ("1e3", "whole numbers"),
        ("0, None", "the selection without it"),
        ("slice(0,3)", "[START:STOP:STEP]"),
        ("0-3", "FILE::PATH[0:3], which is without 3"),
        ("0..3", "FILE::PATH[0:3], which is without 3"),
        ("0 1", "commas between the axes"),
        ("0;1", "commas between the axes"),
        ("alpha", "--format csv"),
        ("'alpha'", "--format csv"),
    ] {
        let hint = hint(text);
        assert!(hint.as_deref().is_some_and(|hint| hint.contains(wanted)), "{text}: {hint:?}");
    }
    for text in ["10", "::0", "0,0,0", "0,,1", "inf", "nan:"] {
        let hint = hint(text);
        assert!(hint.is_none() || text.starts_with(|c: char| c.is_alphabetic()), "{text}: {hint:?}");
    }
}
