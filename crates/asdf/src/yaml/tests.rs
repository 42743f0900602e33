//! Documents against what PyYAML 6.0.3 (libyaml 0.2.5) makes of them, and places against the text.

use container_core::Limits;

use super::{Document, YamlLimits};

fn parse(text: &str) -> Document {
    Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap()
}

/// Every node by path with its span and content as they stand in the text.
fn places(text: &str) -> Vec<(String, String, String)> {
    let document = parse(text);
    let mut found = Vec::new();
    document
        .walk(false, &Limits::default(), &mut |path, node| {
            found.push((path.to_owned(), text[node.span()].to_owned(), text[node.content_span()].to_owned()));
            Ok(true)
        })
        .unwrap();
    found
}

#[test]
fn a_node_without_text_stands_behind_its_anchor_and_tag() {
    let found = places("- &x\n- !!str\n- &y !!str\n- !!str &z\n-\n- *x\n");
    let spans: Vec<_> = found.iter().skip(1).map(|(_, span, _)| span.as_str()).collect();
    assert_eq!(spans, ["&x", "!!str", "&y !!str", "!!str &z", "", "*x"]);
    assert!(found.iter().skip(1).all(|(_, _, content)| content.is_empty()));
}
