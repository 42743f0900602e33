//! Replaces scalars of a tree all at once, by their nodes.

use container_core::{Error, Result};

use crate::{Collection, Document, EmitOptions, NodeId, Origin, Scalar, Yaml, emit_node};

/// Replaces some scalars in the text of a tree, and keeps every other byte. The result is parsed again, and all other nodes are compared
/// with the old ones.
///
/// # Errors
/// `Unsupported` where a value does not fit its place, as a text under a tag of numbers; `Limit`.
pub fn replace_scalars(document: &Document, changes: &[(NodeId, Yaml)]) -> Result<Document> {
    let refused = || refused(document);
    let mut places = Vec::with_capacity(changes.len());
    for (id, value) in changes {
        // For an alias, the anchored node is changed, once.
        let node = document.node(*id).target();
        if matches!(value, Yaml::Text(..)) && node.tag().is_some_and(|tag| tag != "tag:yaml.org,2002:str") {
            return Err(refused());
        }
        let text = emit_node(value, 0, Collection::Flow, &EmitOptions::default())?;
        places.push((node.content_span(), text.trim_start().to_owned(), node.id(), value));
    }
    places.sort_by_key(|(span, ..)| (span.start, span.end));
    places.dedup_by(|one, other| one.2 == other.2 && one.1 == other.1);
    let mut text = String::with_capacity(document.text().len());
    let mut at = 0;
    for (span, new, ..) in &places {
        let before = document.text().get(at..span.start).ok_or_else(refused)?;
        text.push_str(before);
        text.push_str(new);
        at = span.end;
    }
    text.push_str(document.text().get(at..).ok_or_else(refused)?);
    let origin = Origin { base: 0, ..document.origin() };
    let outcome = Document::parse_from(origin, text.as_bytes(), document.limits())?;
    if outcome.len() != document.len() {
        return Err(refused());
    }
    let mut places = places.iter().map(|(_, _, id, value)| (*id, *value)).collect::<Vec<_>>();
    places.sort_by_key(|(id, _)| *id);
    for (old, new) in document.nodes().zip(outcome.nodes()) {
        let same = old.is_alias() == new.is_alias()
            && old.anchor() == new.anchor()
            && old.tag() == new.tag()
            && old.kind() == new.kind();
        let fits = match places.binary_search_by_key(&old.target().id(), |(id, _)| *id) {
            Ok(place) => {
                places.get(place).is_some_and(|(_, value)| is_value(new.target().scalar().as_ref(), value))
            }
            Err(_) => {
                old.text() == new.text() && old.len() == new.len() && old.scalar_style() == new.scalar_style()
            }
        };
        if !same || !fits {
            return Err(refused());
        }
    }
    Ok(outcome)
}

/// Whether a scalar is that number or text.
fn is_value(now: Option<&Scalar<'_>>, wanted: &Yaml) -> bool {
    match (now, wanted) {
        (Some(Scalar::Text(now)), Yaml::Text(wanted, _)) => now == wanted,
        (Some(Scalar::Int(now)), Yaml::Int(wanted)) => now == wanted,
        _ => false,
    }
}

fn refused(document: &Document) -> Error {
    document
        .origin()
        .named(Error::unsupported("cannot change one value of the tree without changing another"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::YamlLimits;

    const TREE: &str = "%YAML 1.1\n# a comment\n---\na: {source: &s 0 , b: [x, 'y']} # c\nd: {source:   *s}\ne:\n  source: 1\n...\n";

    fn change(path: &str, value: Yaml) -> Result<String> {
        let limits = YamlLimits::default();
        let document = Document::parse(TREE.as_bytes(), 0, &limits).unwrap();
        let id = document.find(path).unwrap().id();
        replace_scalars(&document, &[(id, value)]).map(|document| document.text().to_owned())
    }

    #[test]
    fn replacement_changes_only_the_scalar() {
        let new = change("e/source", Yaml::int(12)).unwrap();
        assert_eq!(new, TREE.replace("source: 1", "source: 12"));
        let new = change("a/source", Yaml::text("x0001.ext")).unwrap();
        assert_eq!(new, TREE.replace("&s 0 ,", "&s x0001.ext ,"));
        // An alias is changed through its anchor.
        assert_eq!(change("d/source", Yaml::int(7)).unwrap(), TREE.replace("&s 0 ,", "&s 7 ,"));
        let new = change("e/source", Yaml::text("a: #b, [1]")).unwrap();
        assert!(new.contains("source: 'a: #b, [1]'\n"), "{new}");
    }

    #[test]
    fn a_scalar_under_a_tag_of_another_type_is_refused() {
        let limits = YamlLimits::default();
        let document = Document::parse(b"--- {source: !!int 0}\n", 0, &limits).unwrap();
        let id = document.find("source").unwrap().id();
        assert!(replace_scalars(&document, &[(id, Yaml::text("a.ext"))]).is_err());
        let new = replace_scalars(&document, &[(id, Yaml::int(3))]).unwrap();
        assert_eq!(new.text(), "--- {source: !!int 3}\n");
    }
}
