//! The entries that every tree gets: `asdf_library` and `history` (ASDF standard 1.6.0, core schemas, asdf).

use super::*;

/// The tree of a file without arrays, from its root on.
fn written(tree: Yaml, options: WriteOptions) -> Result<String> {
    let mut file = Vec::new();
    Plan::new(options).start(tree, &mut file)?.finish()?;
    let text = String::from_utf8(file).unwrap();
    Ok(text[text.find("---").unwrap()..].to_owned())
}

fn old() -> WriteOptions {
    WriteOptions {
        standard: crate::Version { major: 1, minor: 1, patch: 0 },
        software: None,
        ..WriteOptions::default()
    }
}

/// No software of its own, so that only what the caller has is there.
fn silent() -> WriteOptions {
    WriteOptions { software: None, ..WriteOptions::default() }
}

fn entry() -> NewHistoryEntry {
    NewHistoryEntry { description: "made".into(), time: None, software: Some(("x".into(), "1".into())) }
}

#[test]
fn the_history_takes_the_form_of_the_version() {
    let item = || Yaml::mapping([("description", Yaml::text("before"))]);
    let list = || Yaml::mapping([("history", Yaml::sequence([item()]))]);
    let of = |tree: Yaml, options: WriteOptions| written(tree, options).unwrap();
    assert_eq!(
        of(list(), WriteOptions { history: vec![entry()], ..silent() }),
        "--- !core/asdf-1.1.0\nhistory:\n  entries:\n  - description: before\n  - !core/history_entry-1.0.0\n    description: made\n    software: !core/software-1.0.0\n      name: x\n      version: '1'\n...\n"
    );
    assert_eq!(
        of(
            Yaml::mapping([(
                "history",
                Yaml::mapping([("entries", Yaml::sequence([item()])), ("more", Yaml::int(1))])
            )]),
            old()
        ),
        "--- !core/asdf-1.0.0\nhistory:\n- description: before\n...\n"
    );
    // Before 1.2.0 an empty list is left out, from then on an empty mapping.
    let empty = || Yaml::mapping([("a", Yaml::int(1)), ("history", Yaml::sequence([]))]);
    assert_eq!(of(empty(), old()), "--- !core/asdf-1.0.0\na: 1\n...\n");
    assert_eq!(of(empty(), silent()), "--- !core/asdf-1.1.0\na: 1\n...\n");
    // Other values, and other keys, are the caller's.
    let odd = |history: Yaml| {
        of(Yaml::mapping([("history", history)]), WriteOptions { history: vec![entry()], ..silent() })
    };
    assert_eq!(odd(Yaml::text("mine")), "--- !core/asdf-1.1.0\nhistory: mine\n...\n");
    let text = odd(Yaml::mapping([("entries", Yaml::int(5)), ("more", Yaml::int(1))]));
    assert!(
        text.contains("entries: 5") && text.contains("more: 1") && text.contains("description: made"),
        "{text}"
    );
}

#[test]
fn the_extension_of_the_standard_is_listed_once() {
    let uri = "asdf://asdf-format.org/core/extensions/core-1.6.0";
    let extension = |uri: &str| {
        Yaml::mapping([("extension_class", Yaml::text("b.C")), ("extension_uri", Yaml::text(uri))])
    };
    for same in [
        extension(uri),
        extension(uri).tagged("tag:stsci.edu:asdf/core/extension_metadata-1.0.0"),
        Yaml::Anchored("x".into(), Box::new(extension(uri))),
    ] {
        let extensions = Yaml::sequence([extension("asdf://b.org/other"), same]);
        let tree = || Yaml::mapping([("history", Yaml::mapping([("extensions", extensions.clone())]))]);
        let text = written(tree(), WriteOptions::default()).unwrap();
        assert_eq!(text.matches(uri).count(), 1, "{text}");
        assert!(text.contains("holdall.asdf") && text.contains("asdf://b.org/other"), "{text}");
        assert!(text.find(uri) < text.find("asdf://b.org/other"), "{text}");
        // On request those of the caller stay as they are.
        let text = written(tree(), WriteOptions { extensions: false, ..WriteOptions::default() }).unwrap();
        assert_eq!(text.matches(uri).count(), 1, "{text}");
        assert!(!text.contains("holdall.asdf"), "{text}");
    }
}

#[test]
fn the_library_is_the_one_that_writes_or_the_one_before() {
    let tree = || Yaml::mapping([("a", Yaml::int(1)), ("asdf_library", Yaml::text("previous"))]);
    assert_eq!(
        written(tree(), silent()).unwrap(),
        "--- !core/asdf-1.1.0\nasdf_library: previous\na: 1\n...\n"
    );
    let options = WriteOptions {
        software: Some(("x".into(), "2".into())),
        extensions: false,
        ..WriteOptions::default()
    };
    let text = written(tree(), options).unwrap();
    assert!(text.contains("name: x") && !text.contains("previous"), "{text}");
}

#[test]
fn the_root_has_its_own_tag_and_keeps_its_anchor() {
    let pairs = || Yaml::mapping([("a", Yaml::Alias("r".into()))]);
    let text = written(Yaml::Anchored("r".into(), Box::new(pairs().tagged("!other"))), silent()).unwrap();
    assert!(
        text.starts_with("--- &r !core/asdf-1.1.0") && !text.contains("!other") && text.contains("*r"),
        "{text}"
    );
    for root in [Yaml::Null, Yaml::text("x"), Yaml::sequence([])] {
        assert!(written(root, silent()).is_err());
    }
    for (major, minor, patch) in [(0, 0, 0), (2, 0, 0), (1, 7, 0), (1, 6, 1), (1, 0, 1)] {
        let standard = crate::Version { major, minor, patch };
        let error = written(Yaml::mapping::<String>([]), WriteOptions { standard, ..silent() }).unwrap_err();
        assert!(error.to_string().contains(&standard.to_string()), "{error}");
    }
}
