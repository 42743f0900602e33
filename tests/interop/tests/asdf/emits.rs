//! Trees that are written and edited here: PyYAML reads the values that were meant, and the text around an edit stays.

use std::collections::HashMap;

use asdf::TAG_PREFIX;
use asdf::edit::TreeEditor;
use asdf::yaml::{
    Collection, Document, EmitOptions, Int, Kind, Node, ScalarStyle, Yaml, YamlLimits, emit_document,
};
use serde_json::json;

use crate::documents::Maker;
use crate::nodes::{self, below};
use crate::peers::{Release, peer};
use crate::random::{Random, cases};
use crate::trees;

/// A random tree with anchors, and the nodes that a reader should see.
struct Grower<'r> {
    random: &'r mut Random,
    /// Anchors with the path at which each was made, and what a scalar is.
    anchors: Vec<(String, String, Option<String>)>,
    prefix: &'static str,
    names: usize,
    found: Vec<(String, String)>,
}

impl Grower<'_> {
    fn grow(&mut self, path: &str, depth: u64) -> Yaml {
        if !self.anchors.is_empty() && self.random.chance(1) {
            let at = self.random.below(self.anchors.len() as u64) as usize;
            let (name, first, is) = self.anchors[at].clone();
            self.found.push((path.to_owned(), is.unwrap_or_else(|| format!("alias of {first}"))));
            return Yaml::Alias(name);
        }
        let tag = self.random.pick(&[
            "",
            "",
            "",
            "",
            "tag:stsci.edu:asdf/core/thing-1.0.0",
            "asdf://x.org/y-1.0.0",
            "!local",
        ]);
        self.names += 1;
        let name = self.random.chance(1).then(|| format!("{}{}", self.prefix, self.names));
        let at = self.found.len();
        let node = if depth > 0 && self.random.chance(6) {
            // A cycle could only be named here, before what it names is done.
            self.collection(path, depth, tag)
        } else {
            self.scalar(path, tag)
        };
        match name {
            Some(name) => {
                let is = matches!(&node, Yaml::Sequence(..) | Yaml::Mapping(..));
                let is_collection = is
                    || matches!(&node, Yaml::Tagged(_, inner) if matches!(**inner, Yaml::Sequence(..) | Yaml::Mapping(..)));
                let is = (!is_collection).then(|| self.found[at].1.clone());
                self.anchors.push((name.clone(), path.to_owned(), is));
                Yaml::Anchored(name, Box::new(node))
            }
            None => node,
        }
    }

    fn collection(&mut self, path: &str, depth: u64, tag: &str) -> Yaml {
        let style = self.random.pick(&[None, None, Some(Collection::Flow), Some(Collection::Block)]);
        let kind = if self.random.chance(5) { "seq" } else { "map" };
        self.found
            .push((path.to_owned(), if tag.is_empty() { kind.to_owned() } else { format!("{tag} {kind}") }));
        let count = self.random.below(5);
        let made = if kind == "seq" {
            let items = (0..count).map(|at| self.grow(&below(path, &at.to_string()), depth - 1));
            Yaml::Sequence(items.collect(), style)
        } else {
            let mut names: Vec<String> = (0..count)
                .map(|_| if self.random.chance(3) { self.random.text() } else { self.random.name() })
                .collect();
            names.sort();
            names.dedup();
            // Such a key leaves no step in a path.
            names.retain(|name| !name.is_empty());
            let pairs = names.into_iter().map(|name| {
                let value = self.grow(&below(path, &name), depth - 1);
                (Yaml::text(name), value)
            });
            Yaml::Mapping(pairs.collect(), style)
        };
        if tag.is_empty() { made } else { made.tagged(tag) }
    }

    fn scalar(&mut self, path: &str, tag: &str) -> Yaml {
        if !tag.is_empty() {
            let text = self.random.text();
            self.found.push((path.to_owned(), format!("{tag} {text}")));
            return self.styled(text).tagged(tag);
        }
        let value = match self.random.below(4) {
            0 => Yaml::Null,
            1 => Yaml::Int(Int::Small(
                i128::from(self.random.bits())
                    * i128::from(self.random.bits())
                    * if self.random.chance(5) { 1 } else { -1 },
            )),
            2 => Yaml::Float(f64::from_bits(self.random.bits() << 16 | self.random.bits() & 0xffff)),
            _ => loop {
                let value = self.random.value(0);
                // Complex numbers have a tag of their own.
                if value.get("$complex").is_none() {
                    break trees::yaml(&value);
                }
            },
        };
        let is = match &value {
            Yaml::Null => "null".to_owned(),
            Yaml::Bool(value) => format!("bool {value}"),
            Yaml::Int(Int::Small(number)) => format!("int {number}"),
            Yaml::Float(value) if value.is_nan() => "float nan".to_owned(),
            Yaml::Float(value) => format!("float {:016x}", value.to_bits()),
            Yaml::Text(text, _) => format!("str {text}"),
            Yaml::Timestamp(time) => format!("timestamp {}", crate::view::iso(time)),
            Yaml::Binary(bytes) => format!("binary {}", crate::view::hex(bytes)),
            other => panic!("{other:?}"),
        };
        self.found.push((path.to_owned(), is));
        match value {
            Yaml::Text(text, _) => self.styled(text),
            other => other,
        }
    }

    fn styled(&mut self, text: String) -> Yaml {
        use ScalarStyle::{DoubleQuoted, Folded, Literal, Plain, SingleQuoted};
        let styles =
            [None, None, Some(Plain), Some(SingleQuoted), Some(DoubleQuoted), Some(Literal), Some(Folded)];
        Yaml::Text(text, self.random.pick(&styles))
    }
}

fn grow(random: &mut Random, path: &str, depth: u64, prefix: &'static str) -> (Yaml, Vec<(String, String)>) {
    let mut grower = Grower { random, anchors: Vec::new(), prefix, names: 0, found: Vec::new() };
    let tree = grower.grow(path, depth);
    (tree, grower.found)
}

#[test]
fn emitted_trees_are_what_pyyaml_reads() {
    let mut random = Random::new(7);
    let mut problems = Vec::new();
    for _ in 0..cases(800) {
        let (tree, expected) = grow(&mut random, "", 4, "n");
        let mut options = EmitOptions::default().with_tag_handle("!", TAG_PREFIX);
        options.width = random.pick(&[80, 80, 20, 1, 200]);
        options.newline = random.pick(&["\n", "\n", "\r\n"]);
        if random.chance(2) {
            options.tag_handles.push(("!x!".to_owned(), "asdf://x.org/".to_owned()));
        }
        let text = emit_document(&tree, &options).unwrap();
        let theirs = peer(Release::Newest).try_ask("yaml", json!({ "text": text }));
        let mut found = match theirs {
            Ok(answer) => nodes::differences(&nodes::of_answer(&answer["nodes"]), &expected),
            Err(error) => vec![error],
        };
        match Document::parse(text.as_bytes(), 0, &YamlLimits::default()) {
            Ok(document) => found.extend(nodes::differences(&nodes::of(&document), &expected)),
            Err(error) => found.push(error.to_string()),
        }
        if !found.is_empty() {
            problems.push(format!("{found:#?}\n{text}"));
        }
    }
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems[..problems.len().min(5)].join("\n"));
}

/// Paths of all nodes, and whether each is a mapping or sequence of its own, of how many items.
// Each level makes the path of the next.
#[allow(clippy::needless_pass_by_value)]
fn places(node: Node<'_>, path: String, found: &mut Vec<(String, Option<Kind>, usize)>) {
    if node.is_alias() {
        return;
    }
    let kind = (node.kind() != Kind::Scalar).then(|| node.kind());
    found.push((path.clone(), kind, node.len()));
    for (at, item) in node.items().enumerate() {
        places(item, below(&path, &at.to_string()), found);
    }
    for (key, value) in node.pairs() {
        places(value, below(&path, key.text()), found);
    }
}

/// Whether `path` is `place` or below it.
fn is_within(path: &str, place: &str) -> bool {
    path == place || path.strip_prefix(place).is_some_and(|rest| rest.starts_with('/'))
}

/// Whether nothing else is in what holds it.
fn is_only(document: &Document, place: &str) -> bool {
    let (parent, _) = place.rsplit_once('/').unwrap_or(("", place));
    document.find(parent).unwrap().len() == 1
}

/// The bytes before and behind the lines of some bytes and of the key or dash before them.
fn around(text: &str, range: &std::ops::Range<usize>) -> (usize, usize) {
    let mut head = text[..range.start].trim_end();
    let mut before = head.rfind('\n').map_or(0, |at| at + 1);
    // Comments may stand between a key and its value.
    while before > 0 && head[before..].trim_start().starts_with('#') {
        head = text[..before].trim_end();
        before = head.rfind('\n').map_or(0, |at| at + 1);
    }
    let behind = text[range.end..].find('\n').map_or(text.len(), |at| range.end + at + 1);
    (before, text.len() - behind)
}

#[test]
fn edits_change_what_was_named_and_no_other_line() {
    let mut random = Random::new(8);
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for number in 0..cases(500) {
        let mut maker = Maker::new(&mut random, false);
        maker.document();
        let text = maker.out;
        let Ok(document) = Document::parse(text.as_bytes(), 0, &YamlLimits::default()) else { continue };
        let mut all = Vec::new();
        places(document.root(), String::new(), &mut all);
        let before = nodes::of(&document);
        let (place, kind, len) = all[random.below(all.len() as u64) as usize].clone();
        let what = random.pick(&["set", "set", "remove", "insert", "add"]);
        let mut editor = TreeEditor::new(document.clone());
        let (done, expected, range) = match (what, kind) {
            ("set", _) if !place.is_empty() => {
                let (value, new) = grow(&mut random, &place, 2, "new");
                let mut expected: Vec<_> =
                    before.iter().filter(|(path, _)| !is_within(path, &place)).cloned().collect();
                expected.extend(new);
                (editor.set(&place, &value), expected, document.find(&place).unwrap().span())
            }
            ("insert", Some(Kind::Sequence)) => {
                let at = random.below(len as u64 + 1) as usize;
                let (value, new) = grow(&mut random, &below(&place, &at.to_string()), 2, "new");
                let mut expected = moved(&before, &place, at, 1);
                expected.extend(new);
                (editor.insert(&place, at, &value), expected, document.find(&place).unwrap().span())
            }
            ("add", Some(Kind::Mapping)) => {
                let path = below(&place, "new key");
                let (value, new) = grow(&mut random, &path, 2, "new");
                let mut expected = before.clone();
                expected.extend(new);
                (editor.set(&path, &value), expected, document.find(&place).unwrap().span())
            }
            ("remove", _) if !place.is_empty() => {
                let (parent, last) = place.rsplit_once('/').unwrap_or(("", &place));
                let holder = document.find(parent).unwrap();
                let kept: Vec<_> =
                    before.iter().filter(|(path, _)| !is_within(path, &place)).cloned().collect();
                let expected = match holder.kind() {
                    Kind::Sequence => moved(&kept, parent, last.parse().unwrap(), -1),
                    _ => kept,
                };
                (editor.remove(&place), expected, holder.span())
            }
            _ => continue,
        };
        let label = format!("{number}: {what} {place:?} in\n{text}");
        if let Err(error) = done {
            // What other places name does not go, and flow text in a key has no room for more.
            assert!(matches!(error.kind(), container_core::ErrorKind::Usage(_)), "{error}: {label}");
            assert_eq!(editor.text(), text, "{label}");
            *counts.entry("refused").or_default() += 1;
            continue;
        }
        *counts.entry(what).or_default() += 1;
        let new = editor.text().to_owned();
        // An empty collection stands on the line of what holds it, and so does the first thing in it where it was empty.
        let stays = what != "remove" || !is_only(&document, &place);
        if stays {
            let (head, tail) = around(&text, &range);
            assert!(new.starts_with(&text[..head]), "{label}\nbecame\n{new}");
            assert!(new.ends_with(&text[text.len() - tail..]), "{label}\nbecame\n{new}");
        }
        let changed = editor.changed();
        assert!(text.starts_with(&new[..changed.start]) && text.ends_with(&new[changed.end..]), "{label}");
        let answer = peer(Release::Newest).ask("yaml", json!({ "text": new }));
        let problems = nodes::differences(&nodes::of_answer(&answer["nodes"]), &expected);
        assert!(problems.is_empty(), "{problems:#?}: {label}\nbecame\n{new}");
    }
    for what in ["set", "remove", "insert", "add"] {
        assert!(counts.get(what).is_some_and(|count| *count > 10), "{counts:?}");
    }
    assert!(counts.get("refused").is_none_or(|count| *count < 60), "{counts:?}");
}

/// Nodes with the items of a sequence from one on at other places, by so many.
fn moved(nodes: &[(String, String)], sequence: &str, from: usize, by: i64) -> Vec<(String, String)> {
    let path = |path: &str| -> String {
        let prefix = if sequence.is_empty() { String::new() } else { format!("{sequence}/") };
        let Some(rest) = path.strip_prefix(&prefix).filter(|rest| !rest.is_empty()) else {
            return path.to_owned();
        };
        let (index, deeper) =
            rest.split_once('/').map_or((rest, None), |(index, deeper)| (index, Some(deeper)));
        let index: usize = index.parse().unwrap();
        let index = if index >= from { (index as i64 + by) as usize } else { index };
        deeper.map_or_else(|| format!("{prefix}{index}"), |deeper| format!("{prefix}{index}/{deeper}"))
    };
    let is = |is: &str| {
        is.strip_prefix("alias of ")
            .map_or_else(|| is.to_owned(), |first| format!("alias of {}", path(first)))
    };
    nodes.iter().map(|(place, what)| (path(place), is(what))).collect()
}
