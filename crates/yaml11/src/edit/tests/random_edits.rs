//! Random edits of random documents: everything else stays, byte by byte and value by value.

use std::ops::Range;

use container_core::json_pointer::escape;
use proptest::prelude::*;

use super::random_documents::{Choices, RandomDocument, random_document};
use crate::edit::verify::is_value;
use crate::edit::{TreeEditor, spans};
use crate::{Collection, Document, Kind, Yaml, YamlLimits};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default())
        .unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// The value without anchor and tag.
fn bare(value: &Yaml) -> &Yaml {
    match value {
        Yaml::Anchored(_, inner) | Yaml::Tagged(_, inner) => bare(inner),
        other => other,
    }
}

fn bare_mut(value: &mut Yaml) -> &mut Yaml {
    match value {
        Yaml::Anchored(_, inner) | Yaml::Tagged(_, inner) => bare_mut(inner),
        other => other,
    }
}

/// The steps to some collection of the value, with its children's count.
fn choose_collection(value: &Yaml, choices: &mut Choices<'_>) -> Vec<usize> {
    let mut steps = Vec::new();
    let mut value = value;
    loop {
        let children: Vec<&Yaml> = match bare(value) {
            Yaml::Sequence(items, _) => items.iter().collect(),
            Yaml::Mapping(pairs, _) => pairs.iter().map(|(_, value)| value).collect(),
            _ => vec![],
        };
        let collections: Vec<usize> = (0..children.len())
            .filter(|at| matches!(bare(children[*at]), Yaml::Sequence(..) | Yaml::Mapping(..)))
            .collect();
        if collections.is_empty() || choices.below(3) == 0 {
            return steps;
        }
        let step = collections[choices.below(collections.len())];
        steps.push(step);
        value = children[step];
    }
}

fn at<'v>(value: &'v mut Yaml, steps: &[usize]) -> &'v mut Yaml {
    let mut value = value;
    for step in steps {
        value = match bare_mut(value) {
            Yaml::Sequence(items, _) => &mut items[*step],
            Yaml::Mapping(pairs, _) => &mut pairs[*step].1,
            _ => unreachable!(),
        };
    }
    bare_mut(value)
}

fn path_of(value: &Yaml, steps: &[usize]) -> String {
    let mut path = String::new();
    let mut value = value;
    for step in steps {
        path.push('/');
        value = match bare(value) {
            Yaml::Sequence(items, _) => {
                path.push_str(&step.to_string());
                &items[*step]
            }
            Yaml::Mapping(pairs, _) => {
                path.push_str(&escape(&key(&pairs[*step].0)));
                &pairs[*step].1
            }
            _ => unreachable!(),
        };
    }
    path
}

fn key(key: &Yaml) -> String {
    match bare(key) {
        Yaml::Text(text, _) => text.clone(),
        _ => unreachable!(),
    }
}

fn new_value(choices: &mut Choices<'_>) -> Yaml {
    let style = [None, Some(Collection::Flow), Some(Collection::Block)][choices.below(3)];
    match choices.below(10) {
        0 => Yaml::int(7),
        1 => Yaml::text("new"),
        2 => Yaml::text("a: b # 'c'"),
        3 => Yaml::Null,
        4 => Yaml::text("two\nlines\n"),
        5 => Yaml::text("words and words and words ".repeat(8)),
        6 => Yaml::Sequence(vec![], style),
        7 => {
            Yaml::Mapping(vec![(Yaml::text("k"), Yaml::int(1)), (Yaml::text("l"), Yaml::text("x\ny"))], style)
        }
        8 => Yaml::Sequence(vec![Yaml::sequence([Yaml::int(1)]), Yaml::mapping([("m", Yaml::Null)])], style),
        _ => Yaml::Anchored("a1".into(), Box::new(Yaml::mapping([("m", Yaml::Alias("a1".into()))])))
            .tagged("tag:example.org:ab/core/x-1.0.0"),
    }
}

/// Whether the value has an anchor, which gets another name where the document has it too.
fn has_anchor(value: &Yaml) -> bool {
    matches!(value, Yaml::Tagged(_, inner) if matches!(**inner, Yaml::Anchored(..)))
}

/// Comments that end their line, with their numbers.
fn comments(text: &str) -> Vec<&str> {
    text.split("# c")
        .skip(1)
        .filter_map(|rest| rest.split_whitespace().next())
        .filter(|id| id.parse::<u32>().is_ok())
        .collect()
}

/// From the first byte of a pair or item to its last.
fn extent(document: &Document, path: &str, index: usize) -> Range<usize> {
    let collection = document.find(path).unwrap().target();
    match collection.kind() {
        Kind::Mapping => spans::pair(collection, index).map(|pair| pair.start..pair.end),
        _ => spans::item(collection, index).map(|item| item.start..item.end),
    }
    .unwrap()
}

proptest! {
    #[test]
    fn scribbles_hold_their_values(bytes in proptest::collection::vec(any::<u8>(), 0..400)) {
        let RandomDocument { text, value } = random_document(&mut Choices::new(&bytes));
        prop_assert!(is_value(&value, parse(&text).root()), "{}", text);
    }

    #[test]
    fn random_edits_change_what_they_name(
        bytes in proptest::collection::vec(any::<u8>(), 0..400),
        edits in proptest::collection::vec(any::<u8>(), 0..60),
    ) {
        let RandomDocument { text, value: mut model } = random_document(&mut Choices::new(&bytes));
        let mut editor = TreeEditor::new(parse(&text));
        let mut choices = Choices::new(&edits);
        for number in 0..4 {
            let before = editor.text().to_owned();
            let steps = choose_collection(&model, &mut choices);
            let path = path_of(&model, &steps);
            let collection_path = path.clone();
            let collection = at(&mut model, &steps);
            let new = new_value(&mut choices);
            let len = match collection { Yaml::Sequence(items, _) => items.len(), Yaml::Mapping(pairs, _) => pairs.len(), _ => 0 };
            let index = choices.below(len.max(1));
            let kept = collection.clone();
            // All comments of the document except those within the place stay; this many may go.
            let (result, what, may_go) = match (choices.below(4), collection) {
                (0, Yaml::Sequence(items, _)) if len > 0 => {
                    let path = format!("{path}/{index}");
                    let span = editor.document().find(&path).unwrap().span();
                    items[index] = new.clone();
                    (editor.set(&path, &new), format!("set {path}"), Some(span))
                }
                (0, Yaml::Mapping(pairs, _)) if len > 0 => {
                    let path = format!("{path}/{}", escape(&key(&pairs[index].0)));
                    let span = editor.document().find(&path).unwrap().span();
                    pairs[index].1 = new.clone();
                    (editor.set(&path, &new), format!("set {path}"), Some(span))
                }
                (1, Yaml::Sequence(items, _)) if len > 0 => {
                    let path = format!("{path}/{index}");
                    let span = extent(editor.document(), &collection_path, index);
                    items.remove(index);
                    (editor.remove(&path), format!("remove {path}"), Some(span))
                }
                (1, Yaml::Mapping(pairs, _)) if len > 0 => {
                    let path = format!("{path}/{}", escape(&key(&pairs[index].0)));
                    let span = extent(editor.document(), &collection_path, index);
                    pairs.remove(index);
                    (editor.remove(&path), format!("remove {path}"), Some(span))
                }
                (2, Yaml::Mapping(pairs, _)) if len > 0 => {
                    let path = format!("{path}/{}", escape(&key(&pairs[index].0)));
                    pairs[index].0 = Yaml::text(format!("renamed {number}"));
                    (editor.rename(&path, &format!("renamed {number}")), format!("rename {path}"), None)
                }
                (_, Yaml::Sequence(items, _)) => {
                    let index = choices.below(len + 1);
                    items.insert(index, new.clone());
                    (editor.insert(&path, index, &new), format!("insert {path} {index}"), None)
                }
                (_, Yaml::Mapping(pairs, _)) => {
                    let path = format!("{path}/added {number}");
                    pairs.push((Yaml::text(format!("added {number}")), new.clone()));
                    (editor.set(&path, &new), format!("add {path}"), None)
                }
                _ => unreachable!(),
            };
            let after = editor.text().to_owned();
            match result {
                Err(error) => {
                    // An edit is refused only where it would remove an anchored node.
                    prop_assert!(error.to_string().contains("elsewhere refers to this value"), "{}\n{}\n{}", what, error, before);
                    prop_assert_eq!(&after, &before);
                    *at(&mut model, &steps) = kept;
                }
                Ok(()) => {
                    if !has_anchor(&new) || !before.split('&').any(|rest| rest.starts_with("a1") && rest[2..].starts_with([' ', '\r', '\n'])) {
                        let holds = is_value(&model, editor.document().root());
                        prop_assert!(holds, "{}\n{}\n---- to\n{}", what, before, after);
                    } else {
                        // Another name was chosen; the model takes the new document.
                        model = Yaml::from_node(editor.document().root()).unwrap();
                    }
                    let lost: Vec<_> = comments(&before).into_iter().filter(|id| !comments(&after).contains(id)).collect();
                    let within = may_go.map(|span| {
                        let end = spans::skip_ignored(&before, span.end).max(span.end);
                        let line = spans::line_start(&before, span.start)..spans::next_line(&before, end);
                        comments(&before[line]).len()
                    });
                    let allowed = within.unwrap_or(0);
                    prop_assert!(lost.len() <= allowed, "{} lost {:?}\n{}\n---- to\n{}", what, lost, before, after);
                    if before.contains("\r\n") {
                        prop_assert_eq!(after.matches('\n').count(), after.matches("\r\n").count());
                    }
                }
            }
        }
        let changed = editor.changed();
        prop_assert_eq!(&editor.text()[..changed.start], &text[..changed.start]);
        let behind = editor.text().len() - changed.end;
        prop_assert_eq!(&editor.text()[changed.end..], &text[text.len() - behind..]);
    }
}
