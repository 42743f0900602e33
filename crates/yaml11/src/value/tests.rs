//! A value that is written and read again is the same value: tags, scalars, order, and shared nodes. Styles are wishes, which may differ.

use proptest::prelude::*;

use super::Yaml;
use crate::{Collection, Document, EmitOptions, Int, ScalarStyle, Timestamp, YamlLimits, emit_document};

const YAML: &str = "tag:yaml.org,2002:";

fn again(value: &Yaml) -> Result<Yaml, TestCaseError> {
    let text = emit_document(value, &EmitOptions::default().with_tag_handle("!", "tag:example.org:ab/"));
    let text = text.map_err(|error| TestCaseError::fail(format!("{error}: {value:?}")))?;
    let document = Document::parse(text.as_bytes(), 0, &YamlLimits::default());
    let document = document.map_err(|error| TestCaseError::fail(format!("{error}:\n{text}")))?;
    Yaml::from_node(document.root()).map_err(|error| TestCaseError::fail(error.to_string()))
}

/// Equal but for styles; every NaN is one.
fn is_same(one: &Yaml, other: &Yaml) -> bool {
    match (one, other) {
        (Yaml::Float(one), Yaml::Float(other)) => {
            one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
        }
        (Yaml::Text(one, _), Yaml::Text(other, _)) => one == other,
        (Yaml::Sequence(one, _), Yaml::Sequence(other, _)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Yaml::Mapping(one, _), Yaml::Mapping(other, _)) => {
            let is_pair = |(one, other): (&(Yaml, Yaml), &(Yaml, Yaml))| {
                is_same(&one.0, &other.0) && is_same(&one.1, &other.1)
            };
            one.len() == other.len() && one.iter().zip(other).all(is_pair)
        }
        (Yaml::Tagged(tag, one), Yaml::Tagged(same, other))
        | (Yaml::Anchored(tag, one), Yaml::Anchored(same, other)) => tag == same && is_same(one, other),
        _ => one == other,
    }
}

/// Adds anchors to the marked nodes, and replaces others by aliases.
fn share(value: Yaml, number: &mut usize, done: &mut Vec<String>) -> Yaml {
    match value {
        Yaml::Anchored(_, inner) => {
            *number += 1;
            let name = format!("n{number}");
            let inner = share(*inner, number, done);
            done.push(name.clone());
            Yaml::Anchored(name, Box::new(inner))
        }
        Yaml::Alias(text) if !done.is_empty() => Yaml::Alias(done[text.len() % done.len()].clone()),
        Yaml::Alias(_) => Yaml::Null,
        Yaml::Tagged(tag, inner) => Yaml::Tagged(tag, Box::new(share(*inner, number, done))),
        Yaml::Sequence(items, style) => {
            Yaml::Sequence(items.into_iter().map(|item| share(item, number, done)).collect(), style)
        }
        Yaml::Mapping(pairs, style) => {
            let mut each = |value| share(value, number, done);
            Yaml::Mapping(pairs.into_iter().map(|(key, value)| (each(key), each(value))).collect(), style)
        }
        other => other,
    }
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{0,8}",
        "[ -~]{0,90}",
        "[ \\n:#'\"\\\\a-c\\-,?\\[{}]{0,12}",
        "(word [a-z]{0,9}){0,30}",
        "( ?[ab]?\n){0,5}",
        any::<String>().prop_filter("no surrogate stands for these", |text| !text.contains('\u{feff}')),
        prop::sample::select(vec![
            "",
            "~",
            "yes",
            "null",
            "1",
            "1e3",
            "0o17",
            "1:30",
            "<<",
            "=",
            "-",
            "---",
            "...",
            ".inf",
            "2001-12-14",
            "!x",
            "&x",
            "*x",
            "\u{85}",
            "a\u{2028} b",
            "\r\n",
            "\t",
            " a",
            "a ",
            "a\n\n",
            "\na",
            "%x",
            "# x",
        ])
        .prop_map(str::to_owned),
    ]
}

fn scalar() -> impl Strategy<Value = Yaml> {
    let styles = prop::option::of(prop::sample::select(vec![
        ScalarStyle::Plain,
        ScalarStyle::SingleQuoted,
        ScalarStyle::DoubleQuoted,
        ScalarStyle::Literal,
        ScalarStyle::Folded,
    ]));
    let texts = (text(), styles).prop_map(|(text, style)| Yaml::Text(text, style)).boxed();
    let time = (0..24_u8, 0..60_u8, 0..60_u8, 0..1_000_000_u32);
    let dates = (1..=9999, 1..=12_u8, 1..=28_u8, prop::option::of((time, prop::option::of(-1439..1440))));
    let dates = dates.prop_map(|(year, month, day, rest)| {
        let (time, offset) = rest.map_or((None, None), |(time, offset)| (Some(time), offset));
        Yaml::Timestamp(Timestamp { year, month, day, time, offset })
    });
    prop_oneof![
        4 => texts.clone(),
        1 => Just(Yaml::Null),
        1 => any::<bool>().prop_map(Yaml::Bool),
        1 => any::<i128>().prop_map(|value| Yaml::Int(Int::Small(value))),
        1 => any::<i16>().prop_map(Yaml::int),
        1 => "-?[1-9][0-9]{40,60}".prop_map(|digits| Yaml::Int(Int::Big(digits))),
        2 => any::<u64>().prop_map(|bits| Yaml::Float(f64::from_bits(bits))),
        2 => (any::<i32>(), -9_i32..9).prop_map(|(digits, power)| {
            Yaml::Float(f64::from(digits) * 10_f64.powi(power))
        }),
        1 => dates,
        1 => prop::collection::vec(any::<u8>(), 0..200).prop_map(Yaml::Binary),
        // Under a tag of others every scalar is text.
        2 => (tag(), texts).prop_map(|(tag, value)| value.tagged(tag)),
        1 => Just(Yaml::text("<<").tagged(format!("{YAML}merge"))),
        1 => Just(Yaml::text("=").tagged(format!("{YAML}value"))),
        1 => "x{1,9}".prop_map(Yaml::Alias),
    ]
}

fn tag() -> impl Strategy<Value = String> {
    prop::sample::select(vec![
        "tag:example.org:ab/core/thing-1.0.0",
        "http://x.org/tags/y-1.0.0",
        "!local",
        "tag:a,2000:b!c,d e%[é]",
    ])
    .prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Yaml> {
    let tree = scalar().prop_recursive(4, 40, 6, |inner| {
        let style = prop::option::of(prop::sample::select(vec![Collection::Flow, Collection::Block]));
        let items = (prop::collection::vec(inner.clone(), 0..6), style.clone());
        let items = items.prop_map(|(items, style)| Yaml::Sequence(items, style));
        let pairs = (prop::collection::vec((inner.clone(), inner.clone()), 0..5), style);
        let pairs = pairs.prop_map(|(pairs, style)| Yaml::Mapping(pairs, style));
        let either = prop_oneof![items, pairs].boxed();
        prop_oneof![
            4 => either.clone(),
            1 => (tag(), either).prop_map(|(tag, value)| value.tagged(tag)),
            1 => inner.prop_filter("an alias has no anchor, nor has an anchor two", |value| {
                !matches!(value, Yaml::Alias(_) | Yaml::Anchored(..))
            }).prop_map(|value| Yaml::Anchored(String::new(), Box::new(value))),
        ]
    });
    // These two have their meaning without quotes, and no anchor.
    tree.prop_map(|tree| share(tree, &mut 0, &mut Vec::new()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        rng_seed: proptest::test_runner::RngSeed::Fixed(12),
        ..ProptestConfig::with_cases(3000)
    })]

    #[test]
    fn a_value_that_is_written_and_read_is_the_same(value in value()) {
        let read = again(&value)?;
        prop_assert!(is_same(&read, &value), "{:?}\nis not\n{:?}", read, value);
        // A value that was read once has styles too, which are kept where possible.
        let second = again(&read)?;
        prop_assert!(is_same(&second, &read), "{:?}\nis not\n{:?}", second, read);
    }
}
