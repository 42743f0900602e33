use super::tree::Forms;
use super::*;

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

#[test]
fn values_missing_in_json_round_trip() {
    let tree = map(&[
        ("bytes", vec![0_u8, 255, 16].into()),
        ("none", Vec::<u8>::new().into()),
        (
            "numbers",
            vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, -0.0, 1.5]
                .into_iter()
                .map(Value::Float)
                .collect::<Vec<_>>()
                .into(),
        ),
        ("odd", Value::Float(f64::from_bits(0x7ff8_0000_0000_0001))),
        ("large", Value::Int(1 << 64)),
        ("most", Value::Int(u64::MAX.into())),
        ("text", "\u{0}é".into()),
    ]);
    let json = to_json_value(&tree);
    assert_eq!(json.pointer("/bytes/$holdall:bytes"), Some(&"00ff10".into()));
    assert_eq!(json.pointer("/large/$holdall:int"), Some(&"18446744073709551616".into()));
    assert_eq!(json.pointer("/odd/$holdall:float"), Some(&"0x7ff8000000000001".into()));
    assert_eq!(json.get("most"), tree.get("most"));
    let back = from_json_value(json);
    assert!(is_equivalent(&back, &tree), "{back:?}");
    assert!(matches!(back.get("odd"), Some(Value::Float(odd)) if odd.to_bits() == 0x7ff8_0000_0000_0001));
}

#[test]
fn invalid_forms_remain_plain_maps() {
    for odd in
        [form("bytes", "0"), form("bytes", "zz"), form("float", "1"), form("int", "x"), form("new", "1")]
    {
        assert_eq!(from_json_value(odd.clone()), odd);
    }
    let two = map(&[("$holdall:bytes", "00".into()), ("b", Value::Null)]);
    assert_eq!(from_json_value(two.clone()), two);
}

#[test]
fn keys_that_could_mislead_become_pairs() {
    let user = map(&[("a", map(&[("$holdall:bytes", "00".into())]))]);
    let safe = escape_reserved(user.clone(), Forms::None);
    assert_eq!(safe.pointer("/a/$holdall:pairs/0/0"), Some(&"$holdall:bytes".into()));
    assert_eq!(escape_reserved(user.clone(), Forms::Known), user);
    // It only resembles a form; nor is a map that cannot be taken for one other than its form.
    assert!(!is_equivalent(&safe, &user));
    for key in ["$holdall:new", "$holdall:"] {
        let user = map(&[
            ("a", map(&[(key, "00".into())])),
            ("b", map(&[(key, Value::Null), ("$holdall:int", "1".into())])),
        ]);
        let safe = escape_reserved(user.clone(), Forms::None);
        assert!(safe != user && is_equivalent(&safe, &user) && is_equivalent(&user, &safe), "{key}");
        assert!(
            !is_equivalent(&safe, &map(&[("a", map(&[(key, "01".into())])), ("b", Value::Null)])),
            "{key}"
        );
    }
    let twice = map(&[("a", 1_u64.into()), ("a", 2_u64.into())]);
    let safe = escape_reserved(twice, Forms::Known);
    assert_eq!(safe.pointer("/$holdall:whole/$holdall:pairs/1/1"), Some(&Value::Int(2)));
    assert_eq!(escape_reserved(Value::Int(3), Forms::Known), map(&[(WHOLE, Value::Int(3))]));
}

#[test]
fn names_that_are_taken_are_set_aside_and_joined_again() {
    let tree = map(&[("shape", Value::Null), ("b", Value::Int(1))]);
    let aside = escape_top(tree.clone(), &|key, _| key == "shape");
    assert_eq!(aside.pointer("/$holdall:more/shape"), Some(&Value::Null));
    assert!(is_equivalent(&unescape_top(aside), &tree));
    assert!(is_equivalent(&unescape_top(tree.clone()), &tree));
}

#[test]
fn the_one_dataset_keeps_its_path() {
    let tree = with_dataset_name(map(&[]), "particles/position");
    assert_eq!(path_of(&tree, "data"), "particles/position");
    assert_eq!(path_of(&tree, "own"), "own");
    assert_eq!(with_dataset_name(map(&[]), "data"), map(&[]));
}

#[test]
fn values_beyond_the_maximum_depth_are_lost() {
    let deep = (0..MAX_DEPTH).fold(Value::Null, |value, _| Value::List(vec![value]));
    let (kept, lost) = limit_depth(map(&[("deep", deep), ("b", Value::Null)]));
    assert_eq!((kept, lost.len()), (map(&[("b", Value::Null)]), 1));
}

#[test]
fn forms_are_maps_of_one_key_with_the_prefix() {
    let bytes = form("bytes", "00");
    assert_eq!(bytes, map(&[("$holdall:bytes", "00".into())]));
    assert_eq!(form_of(&bytes), Some(("bytes", &"00".into())));
    for plain in [map(&[]), map(&[("bytes", Value::Null)]), Value::Null, Value::List(vec![bytes.clone()])] {
        assert_eq!(form_of(&plain), None);
    }
    assert_eq!(form_of(&map(&[("$holdall:a", Value::Null), ("$holdall:b", Value::Null)])), None);
    let both = Value::List(vec![1_u64.into(), 2_u64.into()]);
    assert_eq!(pair(&both), Some((&1_u64.into(), &2_u64.into())));
    for other in [Value::List(vec![1_u64.into()]), Value::List(vec![Value::Null; 3]), Value::Null] {
        assert_eq!(pair(&other), None);
    }
    assert_eq!((entries(&bytes).len(), entries(&both).len()), (1, 0));
}

#[test]
fn a_target_without_metadata_loses_their_names() {
    let tree = map(&[("a", Value::Null), ("b", Value::Null)]);
    assert_eq!(losses(&tree), Some(Loss { dataset: None, what: "metadata: a, b".into() }));
    assert_eq!((losses(&map(&[])), losses(&Value::Null)), (None, None));
}

#[test]
fn numbers_that_json_lacks_have_words() {
    let word = |number: f64| to_json_value(&Value::Float(number));
    assert_eq!(word(f64::INFINITY), form("float", "inf"));
    assert_eq!(word(f64::NEG_INFINITY), form("float", "-inf"));
    assert_eq!(word(f64::NAN), form("float", "nan"));
    assert_eq!(word(-f64::NAN), form("float", "0xfff8000000000000"));
    assert_eq!(word(-1.5), Value::Float(-1.5));
    for number in [i64::MIN.into(), u64::MAX.into(), -1_i128] {
        assert_eq!(to_json_value(&Value::Int(number)), Value::Int(number));
    }
    for number in [i128::from(i64::MIN) - 1, i128::from(u64::MAX) + 1] {
        let json = to_json_value(&Value::Int(number));
        assert_eq!(json, form("int", number.to_string()));
        assert_eq!(from_json_value(json), Value::Int(number));
    }
    // The bits of a number that is none.
    let number = form("float", "0x3ff0000000000000");
    assert_eq!(from_json_value(number.clone()), number);
    assert_eq!(from_json_value(form("float", "-inf")), Value::Float(f64::NEG_INFINITY));
    assert_eq!(from_json_value(form("bytes", "fF0a")), Value::Bytes(vec![255, 10]));
    let inner = Value::List(vec![map(&[("x", form("bytes", "01"))])]);
    assert_eq!(from_json_value(inner), Value::List(vec![map(&[("x", Value::Bytes(vec![1]))])]));
}

#[test]
fn depth_counts_the_values_around_a_value() {
    let deep = map(&[("a", Value::Null), ("b", Value::List(vec![Value::Null, map(&[])]))]);
    assert_eq!(
        (depth(&Value::Null), depth(&map(&[])), depth(&Value::List(vec![])), depth(&deep)),
        (0, 1, 1, 3)
    );
    let nested = |levels| (0..levels).fold(Value::Null, |inner, _| Value::List(vec![inner]));
    let tree = map(&[("just", nested(MAX_DEPTH - 1))]);
    assert_eq!(limit_depth(tree.clone()), (tree, vec![]));
    let (kept, lost) = limit_depth(map(&[("over", nested(MAX_DEPTH))]));
    assert_eq!(kept, map(&[]));
    assert_eq!(lost[0].what, "metadata: over, more than 48 values within each other");
    assert_eq!(limit_depth(nested(99)), (nested(99), vec![]));
}

#[test]
fn the_name_of_the_source_is_kept_where_only_escapes_differ() {
    let named = |name: &str| map(&[("a", Value::Null), (NAME, name.into())]);
    for (own, source, want) in [
        ("x/y~1z", "x/y/z", "x/y/z"),
        ("x/y/z", "x/y~1z", "x/y~1z"),
        ("a~0b", "a~b", "a~b"),
        ("x", "x", "x"),
        ("x", "y", "x"),
    ] {
        assert_eq!(with_equal_name(named(own), &named(source)), named(want), "{own} {source}");
    }
    let bare = map(&[("a", Value::Null)]);
    assert_eq!(with_equal_name(bare.clone(), &named("x")), bare);
    assert_eq!(with_equal_name(named("x"), &bare), named("x"));
    let again = with_dataset_name(named("x"), "z");
    assert_eq!(again, named("z"));
    assert_eq!(with_dataset_name(Value::Null, "z"), Value::Null);
}

#[test]
fn keys_of_the_top_are_removed_and_set_aside() {
    let tree = map(&[("a", 1_u64.into()), ("b", Value::Null), ("a", 2_u64.into())]);
    assert_eq!(remove_key(tree.clone(), "a"), map(&[("b", Value::Null)]));
    assert_eq!((remove_key(tree.clone(), "c"), remove_key(Value::Null, "a")), (tree.clone(), Value::Null));
    assert_eq!(escape_top(tree.clone(), &|_, _| false), tree);
    assert_eq!(escape_top(Value::Null, &|_, _| true), Value::Null);
    assert_eq!(unescape_top(Value::Null), Value::Null);
    // A name at the top wins over one that was set aside, and `more` that is no map stays.
    let aside = map(&[(MORE, map(&[("a", 7_u64.into()), ("c", Value::Null)])), ("a", 1_u64.into())]);
    assert_eq!(unescape_top(aside), map(&[("a", 1_u64.into()), ("c", Value::Null)]));
    let odd = map(&[(MORE, Value::Null), ("a", Value::Null)]);
    assert_eq!(unescape_top(odd.clone()), odd);
}

#[test]
fn pairs_of_names_are_read_as_a_map() {
    let pairs = |items: &[(Value, Value)]| {
        form(
            "pairs",
            items
                .iter()
                .map(|(key, value)| Value::List(vec![key.clone(), value.clone()]))
                .collect::<Vec<_>>(),
        )
    };
    let named = |value: &Value| -> Option<Vec<String>> {
        Some(named_entries(value)?.into_iter().map(|(key, _)| key.to_owned()).collect())
    };
    let text = |text: &str| Value::from(text);
    assert_eq!(named(&map(&[("a", Value::Null)])), Some(vec!["a".into()]));
    assert_eq!(named(&Value::Null), None);
    assert_eq!(
        named(&pairs(&[(text("a"), Value::Null), (text("b"), Value::Null)])),
        Some(vec!["a".into(), "b".into()])
    );
    assert_eq!(named(&pairs(&[])), Some(vec![]));
    // Twice, not text, or a form but for the pairs around it: the pairs themselves are the map.
    let whole = Some(vec!["$holdall:pairs".to_owned()]);
    assert_eq!(named(&pairs(&[(text("a"), Value::Null), (text("a"), Value::Null)])), whole);
    assert_eq!(named(&pairs(&[(Value::Int(1), Value::Null)])), whole);
    assert_eq!(named(&pairs(&[(text("$holdall:int"), text("1"))])), whole);
    assert_eq!(named(&form("pairs", Value::List(vec![Value::Null]))), whole);
    assert_eq!(named(&pairs(&[(text("$holdall:new"), text("1"))])), Some(vec!["$holdall:new".into()]));
    let two = pairs(&[(text("$holdall:int"), text("1")), (text("b"), Value::Null)]);
    assert_eq!(named(&two), Some(vec!["$holdall:int".into(), "b".into()]));
}

#[test]
fn trees_are_equivalent_whatever_the_order_of_their_keys() {
    let one = map(&[("a", 1_u64.into()), ("b", Value::Float(f64::NAN))]);
    let other = map(&[("b", Value::Float(-f64::NAN)), ("a", 1_u64.into())]);
    assert!(is_equivalent(&one, &other));
    for different in [
        map(&[("a", 1_u64.into())]),
        map(&[("a", 1_u64.into()), ("c", Value::Null)]),
        map(&[("a", 2_u64.into()), ("b", Value::Float(f64::NAN))]),
        map(&[("a", 1_u64.into()), ("b", Value::Float(1.0))]),
        Value::Null,
    ] {
        assert!(!is_equivalent(&one, &different) && !is_equivalent(&different, &one), "{different:?}");
    }
    let list = |items: &[u64]| Value::List(items.iter().map(|item| (*item).into()).collect());
    assert!(is_equivalent(&list(&[1, 2]), &list(&[1, 2])) && !is_equivalent(&list(&[1, 2]), &list(&[2, 1])));
    assert!(!is_equivalent(&list(&[1]), &list(&[1, 2])));
    assert!(!is_equivalent(&Value::Float(0.0), &Value::Float(-0.0)));
    assert!(is_equivalent(&"a".into(), &"a".into()) && !is_equivalent(&"a".into(), &"b".into()));
}
