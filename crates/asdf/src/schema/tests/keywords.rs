//! Keywords of draft-04, and those that YAML adds: a schema, trees that fit it and trees that do not. The verdicts are those of JSON Schema draft-04,
//! validation. Python asdf 6.0 agrees with each, except where it ends with an exception: keys that are not text with `patternProperties`, and
//! references to `#` in a schema without `id`.

use super::*;

fn all(schema: &str, valid: &[&str], invalid: &[&str]) {
    for text in valid {
        assert_eq!(by(schema, text), [], "{schema}\n{text}");
    }
    for text in invalid {
        assert!(!by(schema, text).is_empty(), "{schema}\n{text}");
    }
}

#[test]
fn types_are_those_of_yaml_1_1() {
    all(
        "type: integer",
        &["5", "1_000", "0x1F", "1:30", "99999999999999999999999999999999999999999999"],
        &["5.0", "true", "'5'", "08", "[]", "null"],
    );
    all("type: number", &["5", "5.5", ".nan", ".inf", "-.inf"], &["1e3", "true", "'5'", "null"]);
    all("type: boolean", &["true", "no", "ON"], &["1", "y", "'true'"]);
    all(
        "type: string",
        &["a", "''", "y", "1e3", "!core/complex-1.0.0 1+1j", "!unknown 5"],
        &["5", "null", "2001-12-14", "yes"],
    );
    all("type: 'null'", &["null", "~", ""], &["0", "''", "false"]);
    all("type: [array, object]", &["[]", "{}"], &["5", "!!set {a, b}"]);
    // YAML reads some texts as dates, which the schema accepts as text.
    all(
        "{type: string, format: date-time}",
        &["2001-12-14T21:59:43Z", "2001-12-14 21:59:43.10 -5", "any text"],
        &["5", "2001-12-14"],
    );
}

#[test]
fn bounds_of_numbers_and_texts() {
    all("minimum: 3", &["3", "3.0", "4", "x", ".nan", ".inf"], &["2", "2.99", "-.inf"]);
    all("{minimum: 3, exclusiveMinimum: true}", &["3.001", "4"], &["3", "3.0"]);
    all(
        "maximum: 9007199254740992.0",
        &["9007199254740992", "-5"],
        &["9007199254740993", "99999999999999999999999999999999999999999999"],
    );
    all("{maximum: 3, exclusiveMaximum: true}", &["2"], &["3", "3.0"]);
    // 4.02 over 0.01 is not whole in binary floats.
    all("multipleOf: 0.0001", &["0", "0.0075", "'x'"], &["0.00751"]);
    all("multipleOf: 0.01", &["5"], &["0.015", "4.02"]);
    all("{minLength: 2, maxLength: 3}", &["ab", "äöü", "5", "[a]"], &["a", "abcd"]);
    all("pattern: '^[+-]$'", &["'+'", "5"], &["'+ '", "x"]);
    all("pattern: es", &["test"], &["tst"]);
}

#[test]
fn lists() {
    all("{minItems: 1, maxItems: 2}", &["[1]", "[1, 2]", "{}"], &["[]", "[1, 2, 3]"]);
    all(
        "uniqueItems: true",
        &["[1, true, '1', [1], {a: 1}]", "[.nan, .nan]"],
        &["[1, 1.0]", "[{a: 1, b: 2}, {b: 2, a: 1}]", "[[], []]", "[a, b, a]"],
    );
    all("items: {type: integer}", &["[]", "[1, 2]", "x"], &["[1, x]"]);
    // Tuples: `history` of core/asdf-1.1.0 has them by mistake.
    all("items: [{type: integer}]", &["[1, x, y]", "[]"], &["[x]"]);
    all("{items: [{type: integer}], additionalItems: false}", &["[1]", "[]"], &["[1, 2]"]);
    all("{items: [{}], additionalItems: {type: string}}", &["[1, a]"], &["[1, 2]"]);
    all(
        "enum: [1, [a], {b: null}, 2001-12-14]",
        &["1", "1.0", "[a]", "{b: null}", "2001-12-14"],
        &["true", "[b]", "{b: 1}", "2001-12-15"],
    );
}

#[test]
fn mappings() {
    all("{minProperties: 1, maxProperties: 1}", &["{a: 1}", "[]"], &["{}", "{a: 1, b: 2}"]);
    all("required: [a, b]", &["{a: null, b: 1}", "5"], &["{a: 1}", "{}"]);
    all("properties: {a: {type: integer}}", &["{a: 1}", "{b: x}", "5"], &["{a: x}"]);
    all(
        "{properties: {a: {}}, patternProperties: {'^x': {type: integer}}, additionalProperties: false}",
        &["{a: 1, x1: 1}", "{}"],
        &["{a: 1, b: 2}", "{x1: y}", "{5: 1}"],
    );
    all("additionalProperties: {type: integer}", &["{a: 1, 5: 6}"], &["{a: x}"]);
    // A key that YAML takes for a truth value is the same one in schema and tree.
    all("properties: {on: {type: integer}}", &["{on: 1}", "{'on': x}"], &["{on: x}", "{yes: x}"]);
    all(
        "dependencies: {a: [b], c: {required: [d]}}",
        &["{a: 1, b: 2}", "{c: 1, d: 2}", "{}", "5"],
        &["{a: 1}", "{c: 1}"],
    );
    // Merged keys are keys, and of two that are equal the last counts.
    all(
        "{required: [a], properties: {a: {type: integer}}}",
        &["{<<: {a: 1}}", "{a: x, a: 1}", "{<<: {a: x}, a: 1}"],
        &["{<<: {a: x}}"],
    );
}

#[test]
fn several_schemas_for_one_value() {
    all("allOf: [{minimum: 3}, {maximum: 5}]", &["4"], &["2", "6"]);
    all("anyOf: [{type: string}, {minimum: 3}]", &["x", "3"], &["2"]);
    all("oneOf: [{minimum: 3}, {maximum: 5}]", &["2", "6"], &["4"]);
    all("not: {type: integer}", &["x", "5.0"], &["5"]);
    all("definitions: {n: {type: integer}}\nitems: {$ref: '#/definitions/n'}", &["[1]"], &["[x]"]);
    // Keywords next to a reference count.
    all(
        "definitions: {n: {type: integer}}\nitems: {$ref: '#/definitions/n', minimum: 3}",
        &["[3]"],
        &["[1]", "[x]"],
    );
    all(
        "{properties: {next: {$ref: '#'}}, additionalProperties: false}",
        &["{next: {next: {}}}"],
        &["{next: {nxt: 1}}"],
    );
    all(
        "{id: 'http://a/b', items: {$ref: 'http://stsci.edu/schemas/asdf/unit/unit-1.0.0'}}",
        &["[!unit/unit-1.0.0 m]", "[m]"],
        &["[5]"],
    );
}

/// Within an alternative, too, every property and every item is validated.
#[test]
fn alternatives_are_validated_to_their_end() {
    let properties = "{properties: {a: {type: integer}, b: {type: integer}}}";
    all(
        &format!("anyOf: [{properties}, {{type: array}}]"),
        &["{a: 1, b: 2}", "[x]"],
        &["{a: 1, b: x}", "{a: x, b: 1}"],
    );
    all(&format!("not: {properties}"), &["{a: 1, b: x}", "{a: x}"], &["{a: 1, b: 2}", "5"]);
    all("anyOf: [{items: {type: integer}}, {type: string}]", &["[1, 2, 3]", "x"], &["[1, 2, x]", "[x, 2]"]);
    all(
        "anyOf: [{properties: {a: {}}, additionalProperties: false}, {type: array}]",
        &["{a: 1}", "{}"],
        &["{a: 1, b: 2}", "{b: 2, a: 1}"],
    );
    all(
        "oneOf: [{required: [a, b]}, {required: [c]}]",
        &["{a: 1, b: 2}", "{c: 1, a: 1}"],
        &["{a: 1}", "{a: 1, b: 2, c: 3}"],
    );
    all(
        "anyOf: [{dependencies: {a: [b], c: [d]}}, {type: string}]",
        &["{a: 1, b: 2}"],
        &["{a: 1, b: 2, c: 3}"],
    );
    all(
        "anyOf: [{items: [{}, {type: integer}], additionalItems: false}, {type: string}]",
        &["[x, 1]"],
        &["[x, y]", "[x, 1, 2]"],
    );
}

#[test]
fn tags_are_matched_by_patterns() {
    let wanted = "properties: {a: {tag: 'tag:stsci.edu:asdf/unit/quantity-1.*'}}";
    all(
        wanted,
        &["{a: !unit/quantity-1.1.0 {value: 1.0, unit: m}}"],
        &["{a: !unit/unit-1.0.0 m}", "{a: {value: 1}}", "{a: 5}"],
    );
    all("tag: 'tag:yaml.org,2002:map'", &["{}"], &["[]"]);
    all("items: {tag: 'tag:yaml.org,2002:int'}", &["[1]"], &["['1']", "[1.0]", "[true]"]);
}

#[test]
fn violations_report_message_path_and_schema_pointer() {
    let schema = "id: asdf://a.org/s-1.0.0\nproperties: {b: {items: {properties: {'c/d': {type: integer}}}}}";
    let text = "{b: [{}, {c/d: x}]}";
    let found = by(schema, text);
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].path, "b/1/c~1d");
    assert_eq!(found[0].schema, "asdf://a.org/s-1.0.0");
    assert_eq!(found[0].pointer, "/properties/b/items/properties/c~1d/type");
    assert_eq!(found[0].message, "is a string, not of type integer");
    assert_eq!(&tree(text).text()[found[0].range.clone()], "x");

    let found = by("anyOf: [{type: string}, {required: [a, b]}, {type: array}]", "{a: 1}");
    assert_eq!(found[0].message, "matches none of 3 alternatives; the nearest fails because it lacks `b`");
    let found = by("anyOf: [{type: string}, {type: array}]", "5");
    assert_eq!(
        found[0].message,
        "is not allowed here: is an integer, not of type string; is an integer, not of type array"
    );
    let found = by("{minItems: 3, items: {type: integer}}", "[x, 1]");
    assert_eq!(found.len(), 2, "both are said: {found:?}");
}

/// Each message has the value and what was expected.
#[test]
fn each_keyword_has_a_message_and_a_pointer() {
    for (schema, text, pointer, message) in [
        ("multipleOf: 0.5", "0.75", "multipleOf", "0.75 is not a multiple of 0.5"),
        ("minimum: 3", "2", "minimum", "2 is below 3"),
        ("{minimum: 3, exclusiveMinimum: true}", "3", "minimum", "3 is not above 3"),
        ("maximum: 3", "4", "maximum", "4 is above 3"),
        ("{maximum: 3, exclusiveMaximum: true}", "3.0", "maximum", "3.0 is not below 3"),
        ("minLength: 2", "a", "minLength", "has 1 characters (expected at least 2)"),
        ("maxLength: 2", "abc", "maxLength", "has 3 characters (expected at most 2)"),
        ("minItems: 2", "[1]", "minItems", "has 1 items (expected at least 2)"),
        ("maxItems: 2", "[1, 2, 3]", "maxItems", "has 3 items (expected at most 2)"),
        ("minProperties: 1", "{}", "minProperties", "has 0 keys (expected at least 1)"),
        ("maxProperties: 1", "{a: 1, b: 2}", "maxProperties", "has 2 keys (expected at most 1)"),
        ("pattern: '^a'", "ba", "pattern", "`ba` does not match the pattern ^a"),
        (
            "tag: 'tag:yaml.org,2002:map'",
            "[]",
            "tag",
            "has tag tag:yaml.org,2002:seq (expected tag:yaml.org,2002:map)",
        ),
        ("uniqueItems: true", "[a, 1, b, 1.0]", "uniqueItems", "items 1 and 3 are equal"),
        (
            "{items: [{}, {}], additionalItems: false}",
            "[1, 2, 3]",
            "items",
            "has 3 items (expected at most 2)",
        ),
        ("enum: [1, [a], b]", "c", "enum", "`c` is not one of 1, a list of 1 items, `b`"),
        ("required: [a, b]", "{}", "required", "lacks `a`, `b`"),
        (
            "{properties: {a: {}}, additionalProperties: false}",
            "{b: 1}",
            "properties",
            "has `b`, which is not allowed",
        ),
        ("dependencies: {a: [b, c]}", "{a: 1, c: 1}", "dependencies", "lacks `b`, which `a` needs"),
        ("not: {}", "1", "not", "matches a schema that is not allowed"),
        (
            "oneOf: [{minimum: 3}, {type: string}, {maximum: 5}]",
            "4",
            "oneOf",
            "matches 2 of 3 alternatives (expected exactly one, found numbers 0, 2)",
        ),
        ("anyOf: []", "4", "anyOf", "matches no alternative"),
    ] {
        let found = by(schema, text);
        let told: Vec<(&str, &str)> = found.iter().map(|it| (&*it.pointer, &*it.message)).collect();
        assert_eq!(told, [(&*format!("/{pointer}"), message)], "{schema}");
    }
}

#[test]
fn pointers_lead_to_the_schema_of_the_value() {
    for (schema, text, path, pointer) in [
        ("additionalProperties: {type: integer}", "{a: x}", "a", "/additionalProperties/type"),
        ("patternProperties: {'^a/': {type: integer}}", "{a/b: x}", "a~1b", "/patternProperties/^a~1/type"),
        ("items: [{}, {type: integer}]", "[1, x]", "1", "/items/1/type"),
        ("{items: [{}], additionalItems: {type: integer}}", "[1, x]", "1", "/additionalItems/type"),
        ("allOf: [{}, {minimum: 3}]", "2", "", "/allOf/1/minimum"),
        ("dependencies: {a: {required: [b]}}", "{a: 1}", "", "/dependencies/a/required"),
        (
            "definitions: {n: {type: integer}}\nitems: {$ref: '#/definitions/n'}",
            "[x]",
            "0",
            "/definitions/n/type",
        ),
    ] {
        let found = by(schema, text);
        let told: Vec<(&str, &str)> = found.iter().map(|it| (&*it.path, &*it.pointer)).collect();
        assert_eq!(told, [(path, pointer)], "{schema}");
    }
}

/// JSON Schema draft-04, validation: the values that each keyword may have.
#[test]
fn keywords_of_other_values_make_a_schema_invalid() {
    for schema in [
        "type: 5",
        "type: [integer, text]",
        "type: {}",
        "enum: 5",
        "allOf: {}",
        "multipleOf: 0",
        "multipleOf: -1",
        "multipleOf: x",
        "minimum: x",
        "{minimum: 3, exclusiveMinimum: 3}",
        "minLength: -1",
        "minLength: 1.5",
        "maxItems: x",
        "uniqueItems: 1",
        "required: a",
        "required: [[a]]",
        "properties: []",
        "dependencies: []",
        "dependencies: {a: 5}",
        "additionalProperties: 5",
        "pattern: '('",
        "pattern: []",
        "tag: []",
        "ndim: x",
        "datatype: int7",
        "items: 5",
        "properties: {a: 5}",
    ] {
        let mut schemas = Schemas::new();
        let result = schemas.add(schema.as_bytes(), "own.yaml").and_then(|uri| {
            let options = Options::default().with(&schemas, Some(&uri));
            validate(&tree("{a: !core/ndarray-1.1.0 [1]}"), &options).map(drop)
        });
        assert!(result.is_err_and(|error| error.is_damage()), "{schema}");
    }
    // A pattern that grows beyond a megabyte.
    let mut schemas = Schemas::new();
    let added = schemas
        .add(b"pattern: '((a{99}){99}){99}'", "own.yaml")
        .and_then(|uri| validate(&tree("a"), &Options::default().with(&schemas, Some(&uri))).map(drop));
    assert!(matches!(added.unwrap_err().kind(), container_core::ErrorKind::Limit { .. }));
}
