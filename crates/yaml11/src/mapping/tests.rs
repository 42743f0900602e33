use std::fmt::Write as _;

use super::*;
use crate::{Yaml, YamlLimits};

fn document(text: &str) -> Document {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap()
}

/// Steps of `work` on the texts of `make` for 500, 1000 and 2000: no more than linear in them.
#[track_caller]
fn assert_linear(make: impl Fn(usize) -> String, work: impl Fn(&Document, usize)) {
    let steps = [500, 1000, 2000].map(|count| {
        let document = document(&make(count));
        work(&document, count);
        document.steps() as f64
    });
    assert!(steps[1] < 2.3 * steps[0] && steps[2] < 2.3 * steps[1], "{steps:?}");
}

fn lines(count: usize, line: impl Fn(usize) -> String) -> String {
    (0..count).map(line).collect()
}

#[test]
fn every_key_of_a_mapping_is_found_in_steps_that_grow_as_its_keys() {
    let keys = |count| lines(count, |at| format!("k{at}: {at}\n{at}: x\n"));
    assert_linear(keys, |document, count| {
        for at in 0..count {
            assert_eq!(document.find(&format!("k{at}")).unwrap().text(), at.to_string());
            assert!(document.find(&format!("none{at}")).is_none());
        }
    });
}

#[test]
fn every_item_of_a_sequence_is_found_in_steps_that_grow_as_its_items() {
    assert_linear(
        |count| lines(count, |at| format!("- {at}\n")),
        |document, count| {
            (0..count).for_each(|at| assert!(document.find(&at.to_string()).is_some()));
        },
    );
}

#[test]
fn values_are_set_in_steps_that_grow_as_they_are_many() {
    let keys = |count| lines(count, |at| format!("k{at}: &a{at} {{source: {at}}}\n")) + "last: *a0\n";
    for flow in [false, true] {
        let text = |count| {
            if flow {
                format!("{{{}}}\n", lines(count, |at| format!("k{at}: {{source: {at}}}, ")))
            } else {
                keys(count)
            }
        };
        assert_linear(text, |document, count| {
            // The anchored node stays.
            let paths: Vec<String> = (1..count).map(|at| format!("k{at}")).collect();
            let values = paths.iter().map(|path| (path.as_str(), &Yaml::Null));
            assert!(crate::edit::can_set(document, values));
        });
    }
}

#[test]
fn mappings_that_are_merged_are_put_together_in_steps_that_grow_as_they_are_many() {
    let merged = |count: usize| {
        let mut text = String::from("t:\n");
        (0..count).for_each(|at| writeln!(text, "- &m{at} {{k{at}: 1}}").unwrap());
        let all: Vec<String> = (0..count).map(|at| format!("*m{at}")).collect();
        writeln!(text, "r:\n  <<: [{}]", all.join(", ")).unwrap();
        text
    };
    assert_linear(merged, |document, count| {
        assert_eq!(document.find("r").unwrap().pairs().len(), count);
    });
}

/// The table's answers, against those of a walk over all pairs.
#[test]
fn a_table_answers_as_the_pairs_do() {
    let mut text = lines(50, |at| format!("k{at}: {at}\n"));
    text += "k7: again\n1: one\n\"1\": text\ntrue: yes\n1.5: float\n~: null\n\"=\": quoted\n? [a]\n: list\n2020-01-01: day\n";
    for extra in
        ["", "=: plain\n", "<<: {m: merged, k3: not}\n", "\"<<\": {m: no}\n", "? !!str <<\n: {m: no}\n"]
    {
        let large = document(&(text.clone() + extra));
        let root = large.root();
        let keys: Vec<String> = (0..50).map(|at| format!("k{at}")).collect();
        let more = ["1", "true", "1.5", "null", "~", "", "=", "<<", "m", "day", "2020-01-01", "none", "k"];
        for key in keys.iter().map(String::as_str).chain(more) {
            // The first lookup makes no table.
            let fresh = || document(&(text.clone() + extra));
            let first = fresh().root().get(key).map(Node::span);
            let first_child = fresh().root().child(key).map(Node::span);
            assert_eq!(root.get(key).map(Node::span), first, "{key:?} with {extra:?}");
            assert_eq!(root.child(key).map(Node::span), first_child, "{key:?} with {extra:?}");
        }
    }
}
