//! Trees of any text: read, written anew, edited, held against schemas.

use asdf::edit::parse_value;
use asdf::schema::{Options, Schemas, check_schema, validate};
use asdf::yaml::{
    Collection, Document, EmitOptions, Kind, Node, NodeId, Yaml, YamlLimits, emit_document, emit_node,
};
use asdf::{TAG_PREFIX, TreeEditor};
use container_core::Limits;

use crate::feed::Feed;
use crate::lens::look_at_error;
use crate::options::small_options;

fn bounds() -> YamlLimits {
    let mut limits = YamlLimits::default();
    (limits.nodes, limits.expanded) = (100_000, 20_000);
    limits
}

fn parse(text: &[u8]) -> Option<Document> {
    Document::parse(text, 0, &bounds()).inspect_err(look_at_error).ok()
}

/// The last of the paths that were walked is found, or one that leads to it is that of another node, too: of two keys that are spelled alike as a
/// path, one is found with what is in it.
fn is_found(document: &Document, walked: &[(String, NodeId)]) {
    let Some(((path, _), before)) = walked.split_last() else { return };
    let mut found: &str = path;
    while document.find(found).is_none() {
        found = found.rsplit_once('/').map_or("", |(parent, _)| parent);
    }
    if found != path {
        let node = document.find(found).map(|node| node.target().id());
        let parent = before.iter().rev().find(|(known, _)| known == found).map(|(_, id)| *id);
        assert_ne!(node, parent, "{path:?} is not found");
    }
}

/// Reads the text as a tree; what is written of it means the same.
pub fn asdf_tree(data: &[u8]) {
    let Some(document) = parse(data) else { return };
    assert_eq!(document.text().as_bytes(), data);
    let limits = small_options().limits;
    for expand in [false, true] {
        let mut paths = Vec::new();
        let walked = document.walk(expand, &limits, &mut |path, node| {
            look_at(node, data);
            if paths.len() < 50 {
                paths.push((path.to_owned(), node.target().id()));
            }
            Ok(true)
        });
        if let Err(error) = walked {
            look_at_error(&error);
        }
        (0..paths.len()).for_each(|at| is_found(&document, &paths[..=at]));
    }
    let value = match Yaml::from_node(document.root()) {
        Ok(value) => value,
        Err(error) => return look_at_error(&error),
    };
    let wide = EmitOptions::default().with_tag_handle("!", TAG_PREFIX);
    let mut narrow = wide.clone();
    narrow.width = 1;
    narrow.newline = "\r\n";
    for options in [wide, narrow] {
        let text = match emit_document(&value, &options) {
            Ok(text) => text,
            Err(error) => {
                look_at_error(&error);
                continue;
            }
        };
        let again = match Document::parse(text.as_bytes(), 0, &bounds()) {
            Ok(again) => again,
            // Anchors and tags come in more bytes than they were.
            Err(error) if matches!(error.kind(), container_core::ErrorKind::Limit { .. }) => continue,
            Err(error) => panic!("what was written cannot be read: {error}\n{text}"),
        };
        let read = Yaml::from_node(again.root()).expect("it was read before");
        assert_eq!(format!("{:?}", meant(&read)), format!("{:?}", meant(&value)), "{text}");
        let second = emit_document(&read, &options).expect("it was written before");
        assert_eq!(second, text);
    }
    if let Err(error) = asdf::Tree::new(document).to_value() {
        look_at_error(&error);
    }
}

/// The value without styles, which are wishes.
fn meant(value: &Yaml) -> Yaml {
    let pair = |(key, value): &(Yaml, Yaml)| (meant(key), meant(value));
    match value {
        Yaml::Text(text, _) => Yaml::Text(text.clone(), None),
        Yaml::Sequence(items, _) => Yaml::Sequence(items.iter().map(meant).collect(), None),
        Yaml::Mapping(pairs, _) => Yaml::Mapping(pairs.iter().map(pair).collect(), None),
        Yaml::Tagged(tag, value) => Yaml::Tagged(tag.clone(), Box::new(meant(value))),
        Yaml::Anchored(name, value) => Yaml::Anchored(name.clone(), Box::new(meant(value))),
        other => other.clone(),
    }
}

fn look_at(node: Node<'_>, data: &[u8]) {
    assert!(node.span().start <= node.span().end && node.span().end <= data.len());
    match node.kind() {
        Kind::Scalar => assert!(node.scalar().is_some()),
        Kind::Sequence => assert_eq!(node.items().len(), node.len()),
        Kind::Mapping => assert!(node.scalar().is_none() && node.get("\u{1}").is_none()),
    }
}

/// Edits a tree: the text up to the first NUL is the tree, the next is a value to put at places that the rest chooses.
pub fn asdf_editor(data: &[u8]) {
    let mut parts = data.splitn(3, |byte| *byte == 0);
    let mut next = || parts.next().unwrap_or_default();
    let (Some(document), value, choices) = (parse(next()), next(), next()) else { return };
    let value = std::str::from_utf8(value).ok().and_then(|text| parse_value(text).ok());
    let value = value.unwrap_or(Yaml::Int(asdf::yaml::Int::Small(5)));
    let mut feed = Feed::new(choices);
    let original = document.text().to_owned();
    let mut editor = TreeEditor::new(document);
    for _ in 0..4 {
        let before = editor.text().to_owned();
        let path = place(editor.document(), &mut feed);
        let index = feed.below(4);
        let set = feed.below(5);
        let done = match set {
            0 => editor.set(&path, &value),
            1 => editor.insert(&path, index, &value),
            2 => editor.push(&path, &value),
            3 => editor.remove(&path),
            _ => editor.rename(&path, "a new: key"),
        };
        match done {
            Err(error) => {
                look_at_error(&error);
                assert_eq!(editor.text(), before, "a refused edit changes the text");
            }
            Ok(()) => {
                let read = Document::parse(editor.text().as_bytes(), 0, &bounds()).expect("an edited tree");
                assert_eq!(read.len(), editor.document().len());
                let is_plain = matches!(value, Yaml::Int(_) | Yaml::Text(..) | Yaml::Bool(_) | Yaml::Null);
                if set == 0 && is_plain && !path.ends_with('-') {
                    let found = Yaml::from_node(read.find(&path).expect("it was set")).expect("a scalar");
                    let found = if let Yaml::Anchored(_, inner) = found { *inner } else { found };
                    match (&found, &value) {
                        (Yaml::Text(found, _), Yaml::Text(value, _)) => assert_eq!(found, value),
                        _ => assert_eq!(found, value, "at {path:?} of {:?}", editor.text()),
                    }
                }
                let (now, changed) = (editor.text(), editor.changed());
                assert_eq!(now[..changed.start], original[..changed.start]);
                let tail = now.len() - changed.end;
                assert_eq!(now[changed.end..], original[original.len() - tail..]);
            }
        }
    }
    if let Ok(text) =
        emit_node(&value, 2, Collection::Block, &EmitOptions::default().with_tag_handle("!", TAG_PREFIX))
    {
        assert!(!text.is_empty());
    }
}

/// A path of the document, or one that is not there.
fn place(document: &Document, feed: &mut Feed<'_>) -> String {
    let mut paths = vec![String::new()];
    // The limit is met where there are too many, and those before it will do.
    let _ = document.walk(true, &Limits::default(), &mut |path, _| {
        paths.push(path.to_owned());
        Ok(paths.len() < 64)
    });
    let mut path = feed.one_of(&(0..paths.len()).collect::<Vec<_>>()[..]);
    if path >= paths.len() {
        path = 0;
    }
    let path = paths.swap_remove(path);
    match feed.below(6) {
        0 => format!("{path}/new"),
        1 => format!("{path}/-"),
        _ => path,
    }
}

/// Holds a tree against a schema: the schema is the text up to the first NUL, the tree what follows.
pub fn asdf_schema(data: &[u8]) {
    let (schema, tree) = match data.iter().position(|byte| *byte == 0) {
        Some(at) => (&data[..at], &data[at + 1..]),
        None => (data, &b"a: [1, {b: c}]"[..]),
    };
    let mut schemas = Schemas::new();
    let uri = match schemas.add(schema, "asdf://fuzz/schema") {
        Ok(uri) => uri,
        Err(error) => return look_at_error(&error),
    };
    if let Err(error) = check_schema(&uri, &schemas) {
        look_at_error(&error);
    }
    let Some(document) = parse(tree) else { return };
    for custom in [None, Some(uri.as_str())] {
        let mut options = Options::default().with(&schemas, custom);
        options.max_steps = 100_000;
        match validate(&document, &options) {
            Ok(report) => {
                assert_eq!(report.is_valid(), report.violations.is_empty());
                for violation in &report.violations {
                    assert!(violation.range.end <= tree.len() && !violation.message.is_empty());
                }
            }
            Err(error) => look_at_error(&error),
        }
    }
}
