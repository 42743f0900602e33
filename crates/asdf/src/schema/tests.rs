//! Trees made by hand, and the resources of the standard.

use super::*;
use crate::yaml::YamlLimits;

fn tree(text: &str) -> Document {
    let text = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- {text}\n...\n");
    Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap()
}

/// The violations of a tree by a schema for its root.
fn by(schema: &str, text: &str) -> Vec<Violation> {
    let mut schemas = Schemas::new();
    let uri = schemas.add(schema.as_bytes(), "asdf://test/schema").unwrap();
    validate(&tree(text), &Options::default().with(&schemas, Some(&uri))).unwrap().violations
}

#[test]
fn resources_are_named_by_their_ids_and_all_are_there() {
    let uris: Vec<&str> = standard_resources().collect();
    assert!(uris.is_sorted());
    let none = Schemas::new();
    let mut resources = Resources::new(&none);
    for uri in &uris {
        let at = resources.load(uri).unwrap().unwrap();
        let document = resources.document(at).unwrap();
        assert_eq!(document.root().get("id").unwrap().text().trim_end_matches('#'), *uri);
    }
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("schemas");
    let mut files = 0;
    let mut open = vec![folder];
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            match path.extension().and_then(|end| end.to_str()) {
                Some("yaml" | "json") => files += 1,
                _ if path.is_dir() => open.push(path),
                _ => {}
            }
        }
    }
    assert_eq!(files, uris.len());
}

#[test]
fn schemas_of_the_standard_fit_their_metaschemas() {
    let none = Schemas::new();
    let (mut schemas, mut work_limit) =
        (CompiledSchemas::new(Resources::new(&none)), WorkLimit::new(1_000_000));
    for uri in standard_resources() {
        if uri.contains("/manifests/") {
            continue;
        }
        let report = check_schema(uri, &none).unwrap();
        assert_eq!(report.violations, [], "{uri}");
        schemas.find(uri, &mut work_limit).unwrap().unwrap();
    }
    schemas.read_all().unwrap();
}

#[test]
fn examples_of_the_standard_are_valid() {
    let none = Schemas::new();
    let mut count = 0;
    for uri in standard_resources() {
        for example in examples(uri, &none).unwrap() {
            count += 1;
            let report = example.validate(&none).unwrap();
            assert_eq!(report.violations, [], "{uri}: {example:?}");
        }
    }
    assert_eq!(count, 105);
}

mod arrays;
mod hostile;
mod keywords;
mod notes;
