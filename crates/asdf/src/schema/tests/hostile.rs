//! Schemas and trees that would never end, or take all memory.

use container_core::ErrorKind;

use super::*;

fn limited(schema: &str, text: &str) -> Result<Report> {
    let mut schemas = Schemas::new();
    let uri = schemas.add(schema.as_bytes(), "asdf://test/schema")?;
    let mut options = Options::default().with(&schemas, Some(&uri));
    options.max_steps = 1_000_000;
    validate(&tree(text), &options)
}

#[test]
fn circles_end() {
    assert!(limited("$ref: '#'", "5").unwrap().is_valid());
    assert!(
        limited("allOf: [{$ref: '#'}, {anyOf: [{$ref: '#'}, {not: {$ref: '#'}}]}]", "{a: 1}")
            .unwrap()
            .is_valid()
    );
    // A list that holds itself.
    let circle = "&a [1, *a, {b: *a}]";
    assert!(
        limited(
            "{items: {anyOf: [{type: integer}, {$ref: '#'}]}, additionalProperties: {$ref: '#'}}",
            circle
        )
        .unwrap()
        .is_valid()
    );
    assert!(!limited("items: {$ref: '#', type: array}", circle).unwrap().is_valid());
    // Two of them, compared.
    let twice = "[&a [1, *a], &b [1, *b]]";
    assert!(matches!(limited("uniqueItems: true", twice).unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn shared_schemas_and_nodes_are_validated_once() {
    // 2^60 ways through the schema.
    let mut schema = String::from("definitions:\n  n0: {type: integer}\n");
    for n in 1..=60 {
        let before = n - 1;
        schema += &format!(
            "  n{n}: {{anyOf: [{{$ref: '#/definitions/n{before}'}}, {{$ref: '#/definitions/n{before}'}}]}}\n"
        );
    }
    schema += "items: {$ref: '#/definitions/n60'}\n";
    assert!(limited(&schema, "[1, 2]").unwrap().is_valid());
    let report = limited(&schema, "[x]").unwrap();
    assert!(report.violations[0].message.len() < 1000, "{}", report.violations[0].message);
    // 8^30 ways through the tree.
    let mut text = String::from("a0: &a0 [x]\n");
    for n in 1..=30 {
        let alias = format!("*a{}", n - 1);
        text += &format!("a{n}: &a{n} [{}]\n", vec![alias; 8].join(", "));
    }
    let schema = "{additionalProperties: {$ref: '#'}, items: {$ref: '#'}}";
    assert!(limited(schema, &format!("\n{text}")).unwrap().is_valid());
}

#[test]
fn long_chains_of_references_are_refused_before_the_stack_ends() {
    let mut schema = String::from("definitions:\n  n0: {type: integer}\n");
    for n in 1..=20_000 {
        schema += &format!("  n{n}: {{$ref: '#/definitions/n{}'}}\n", n - 1);
    }
    schema += "$ref: '#/definitions/n20000'\n";
    assert!(matches!(limited(&schema, "5").unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn deep_trees_take_no_more_of_the_stack_than_there_is() {
    let schema = "properties: {a: {anyOf: [{$ref: '#'}, {oneOf: [{$ref: '#'}, {type: integer}]}]}}\nitems: {$ref: '#'}\ntype: object";
    let deep = |depth: usize| format!("{}1{}", "{a: ".repeat(depth), "}".repeat(depth));
    assert!(limited(schema, &deep(100)).unwrap().is_valid());
    assert!(matches!(limited(schema, &deep(200)).unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn steps_are_counted() {
    let text = format!("[{}]", vec!["1"; 2000].join(", "));
    let schema = format!("allOf: [{}]", vec!["{items: {minimum: 0}}"; 2000].join(", "));
    assert!(matches!(limited(&schema, &text).unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn patterns_are_bounded() {
    assert!(limited("pattern: '^(a+)+$'", &format!("{}b", "a".repeat(5000))).is_ok());
    assert!(matches!(
        limited("pattern: '((a{100}){100}){100}'", "5").unwrap_err().kind(),
        ErrorKind::Limit { .. }
    ));
    let error = limited("type: string\npattern: '('", "5").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
    assert_eq!(error.file_name(), Some("asdf://test/schema"));
}

#[test]
fn keywords_with_values_they_cannot_have_are_refused_with_their_place() {
    for (schema, value) in [
        ("type: text", "text"),
        ("type: [integer, 5]", "5"),
        ("items: {minimum: x}", "x"),
        ("maxLength: -1", "-1"),
        ("multipleOf: 0", "0"),
        ("required: a", "a"),
        ("allOf: {}", "{}"),
        ("not: 5", "5"),
        ("properties: [a]", "[a]"),
        ("uniqueItems: 1", "1"),
        ("datatype: float128", "float128"),
    ] {
        let error = Schemas::new().add(schema.as_bytes(), "s").unwrap_err();
        let range = error.range().unwrap();
        let place = &schema[usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap()];
        assert_eq!(place, value, "{schema}: {error}");
    }
    assert!(Schemas::new().add(b"[]", "s").is_err());
    assert!(Schemas::new().add(b"5", "s").is_err());
}

#[test]
fn failed_add_leaves_the_schemas_unchanged() {
    let mut schemas = Schemas::new();
    schemas.add(b"{id: 'asdf://a', type: string}", "a").unwrap();
    schemas.add(b"{id: 'asdf://a', type: 5}", "a").unwrap_err();
    let report = validate(&tree("5"), &Options::default().with(&schemas, Some("asdf://a"))).unwrap();
    assert_eq!(report.violations.len(), 1);
}

#[test]
fn number_of_reported_violations_is_limited() {
    let text = format!("[{}]", vec!["x"; 5000].join(", "));
    let report = limited("items: {type: integer}", &text).unwrap();
    assert_eq!(report.violations.len(), 1000);
    assert!(!report.complete);
}
