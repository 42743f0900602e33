//! Tests of notes, which make no tree invalid, and of the schemas that a tag has.

use super::*;

fn notes(standard: &str, text: &str) -> Vec<(NoteKind, String, u64)> {
    let report = validate(&tree(text), &Options::default().standard(Version::parse(standard))).unwrap();
    assert_eq!(report.violations, []);
    report.notes.into_iter().map(|note| (note.kind, note.path, note.count)).collect()
}

#[test]
fn tags_without_schemas_are_counted() {
    let text = "{a: !<tag:b.org:c-1.0.0> 1, d: [!<tag:b.org:c-1.0.0> 1, !other 2], e: !!str 5, f: ! x}";
    assert_eq!(
        notes("1.6.0", text),
        [(NoteKind::UnknownTag, "a".to_owned(), 2), (NoteKind::UnknownTag, "d/1".to_owned(), 1)]
    );
}

#[test]
fn tags_belong_to_versions_of_the_standard() {
    let time = "{t: !time/time-1.1.0 '2000-01-01T00:00:00'}";
    assert_eq!(notes("1.5.0", time), []);
    assert_eq!(notes("1.6.0", time), [(NoteKind::OtherStandard, "t".to_owned(), 1)]);
    // The astronomy tags left the core with 1.6.0 and have manifests of their own since.
    assert_eq!(notes("1.6.0", "{t: !time/time-1.4.0 '2000-01-01T00:00:00'}"), []);
    assert_eq!(
        notes("1.5.0", "{t: !time/time-1.4.0 '2000-01-01T00:00:00'}"),
        [(NoteKind::OtherStandard, "t".to_owned(), 1)]
    );
    assert_eq!(notes("1.7.0", "!core/ndarray-1.2.0 [1]"), []);
}

#[test]
fn literals_beyond_64_bits_and_odd_keys_are_noted() {
    let note = |kind| [(kind, String::new(), 1)];
    assert_eq!(notes("1.6.0", "9223372036854775807"), []);
    assert_eq!(notes("1.6.0", "9223372036854775808"), note(NoteKind::LargeInteger));
    assert_eq!(notes("1.6.0", "-9223372036854775806"), []);
    assert_eq!(notes("1.6.0", "-9223372036854775807"), note(NoteKind::LargeInteger));
    assert_eq!(notes("1.6.0", "{9223372036854775808: 1}"), note(NoteKind::LargeInteger));
    assert_eq!(notes("1.6.0", "{1.5: a}"), note(NoteKind::Key));
    assert_eq!(notes("1.6.0", "{null: a}"), note(NoteKind::Key));
    assert_eq!(notes("1.5.0", "{null: a}"), []);
    assert_eq!(notes("1.6.0", "{1: a, true: b, c: d, <<: {e: f}}"), []);
}

#[test]
fn values_with_tags_are_judged_wherever_they_are() {
    let bad = "{a: [{b: !core/software-1.0.0 {name: x}}]}";
    let report = validate(&tree(bad), &Options::default()).unwrap();
    assert_eq!(report.violations.len(), 1);
    assert_eq!(report.violations[0].path, "a/0/b");
    assert_eq!(report.violations[0].message, "lacks `version`");
    assert_eq!(report.violations[0].schema, "http://stsci.edu/schemas/asdf/core/software-1.0.0");
    // A reference takes the place of the value elsewhere, with all entries next to it.
    let reference = "{a: !core/software-1.0.0 {name: x, $ref: 'other.asdf#/a'}, b: {$ref: 'x', c: !core/software-1.0.0 {}}}";
    assert!(validate(&tree(reference), &Options::default()).unwrap().is_valid());
}

#[test]
fn history_items_schema_checks_only_the_first_entry() {
    // Its `items` is a list, which draft-04 takes for a tuple.
    let good = "!core/asdf-1.1.0 {history: {entries: [!core/history_entry-1.0.0 {description: d}, 5]}}";
    assert!(validate(&tree(good), &Options::default()).unwrap().is_valid());
    let bad = "!core/asdf-1.1.0 {history: {entries: [5]}}";
    assert!(!validate(&tree(bad), &Options::default()).unwrap().is_valid());
}

#[test]
fn manifests_and_schemas_can_be_added() {
    let mut schemas = Schemas::new();
    let schema = b"id: asdf://b.org/schemas/c-1.0.0\ntype: object\nrequired: [d]\nproperties: {d: {$ref: gone-1.0.0}}\n";
    schemas.add(schema, "c.yaml").unwrap();
    let manifest = b"id: asdf://b.org/manifests/m-1.0.0\nextension_uri: asdf://b.org/extensions/m-1.0.0\ntags:\n- tag_uri: asdf://b.org/tags/c-1.0.0\n  schema_uri: [asdf://b.org/schemas/c-1.0.0]\n";
    schemas.add(manifest, "m.yaml").unwrap();
    assert_eq!(
        schemas.uris().collect::<Vec<_>>(),
        ["asdf://b.org/manifests/m-1.0.0", "asdf://b.org/schemas/c-1.0.0"]
    );
    let options = Options::default().with(&schemas, None);
    let report = validate(&tree("{a: !<asdf://b.org/tags/c-1.0.0> {}}"), &options).unwrap();
    assert_eq!(report.violations[0].message, "lacks `d`");
    let report = validate(&tree("{a: !<asdf://b.org/tags/c-1.0.0> {d: 1}}"), &options).unwrap();
    assert!(report.is_valid());
    assert_eq!(report.notes[0].kind, NoteKind::MissingSchema);
    assert_eq!(report.notes[0].about, "asdf://b.org/schemas/gone-1.0.0");
}

/// `extension_manifest-1.0.0`: a version, or bounds on it.
#[test]
fn manifests_name_the_versions_that_they_are_for() {
    let text = "!<asdf://b.org/tags/c-1.0.0> {}";
    let is_known = |requirement: &str, standard: &str| {
        let mut schemas = Schemas::new();
        schemas.add(b"id: asdf://b.org/schemas/c-1.0.0\ntype: object\n", "c.yaml").unwrap();
        let manifest = format!(
            "id: asdf://b.org/manifests/m-1.0.0\nextension_uri: asdf://b.org/extensions/m-1.0.0\n{requirement}\ntags:\n- {{tag_uri: asdf://b.org/tags/c-1.0.0, schema_uri: asdf://b.org/schemas/c-1.0.0}}\n"
        );
        schemas.add(manifest.as_bytes(), "m.yaml").unwrap();
        let options = Options::default().standard(Version::parse(standard)).with(&schemas, None);
        let notes = validate(&tree(text), &options).unwrap().notes;
        assert!(notes.iter().all(|note| note.kind == NoteKind::OtherStandard), "{notes:?}");
        notes.is_empty()
    };
    for (requirement, versions) in [
        ("", ["1.4.0", "1.5.0", "1.6.0"].as_slice()),
        ("asdf_standard_requirement: 1.5.0", &["1.5.0"]),
        ("asdf_standard_requirement: {gt: 1.5.0}", &["1.6.0"]),
        ("asdf_standard_requirement: {gte: 1.5.0}", &["1.5.0", "1.6.0"]),
        ("asdf_standard_requirement: {lt: 1.5.0}", &["1.4.0"]),
        ("asdf_standard_requirement: {lte: 1.5.0}", &["1.4.0", "1.5.0"]),
        ("asdf_standard_requirement: {gt: 1.4.0, lt: 1.6.0}", &["1.5.0"]),
        ("asdf_standard_requirement: {gt: 1.5.0, lt: 1.5.0}", &[]),
    ] {
        for standard in ["1.4.0", "1.5.0", "1.6.0"] {
            assert_eq!(
                is_known(requirement, standard),
                versions.contains(&standard),
                "{requirement} {standard}"
            );
        }
    }
}
