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
