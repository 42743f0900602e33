//! One spelling of a place in a tree, whichever verb shows or takes it.

use crate::support::run;

const TREE: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
    roman:\n  meta: {exposure: 30.5, 'a/b': 1}\n  'x/y': !core/ndarray-1.0.0 {data: [7]}\n  \
    data: !core/ndarray-1.0.0 {data: [1, 2, 3]}\n'': {inner: 5}\n...\n";

fn folder() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::write(directory.path().join("a.asdf"), TREE).unwrap();
    directory
}

#[test]
fn every_verb_takes_a_place_with_a_slash_before_it_or_without() {
    let directory = folder();
    let at = directory.path();
    for slash in ["", "/"] {
        let address = |path: &str| format!("a.asdf::{slash}{path}");
        for (words, out) in [
            (vec!["cat".to_owned(), address("roman/data")], "1\n2\n3\n"),
            (vec!["cat".to_owned(), address("roman/data[1:]")], "2\n3\n"),
            (vec!["cat".to_owned(), address("roman/x~1y")], "7\n"),
            (vec!["meta".to_owned(), "a.asdf".to_owned(), format!("{slash}roman/meta/exposure")], "30.5\n"),
            (vec!["meta".to_owned(), address("roman/meta/exposure")], "30.5\n"),
            (vec!["meta".to_owned(), address("roman/meta/a~1b")], "1\n"),
            (vec!["meta".to_owned(), address("roman/meta"), "exposure".to_owned()], "30.5\n"),
            (vec!["meta".to_owned(), address("roman/meta"), "/exposure".to_owned()], "30.5\n"),
            (
                vec!["tree".to_owned(), address("roman/meta")],
                "roman/meta\tmap\t{2 entries}\nroman/meta/exposure\tfloat\t30.5\nroman/meta/a~1b\tint\t1\n",
            ),
        ] {
            assert_eq!(run(at, &words).expect(0), out, "{words:?}");
        }
        for verb in ["ls", "stat", "tree", "digest"] {
            assert!(run(at, &[verb, &address("roman")]).expect(0).contains("roman/data"), "{verb}");
            run(at, &[verb, &address("roman/data")]).expect(0);
        }
        run(at, &["convert", &address("roman/data"), &format!("new{}.npy", slash.len())]).expect(0);
        assert!(
            run(at, &["meta", &address("roman/data"), "--yaml"]).expect(0).contains("ndarray"),
            "{slash}"
        );
        run(at, &["find", &format!("{slash}roman/meta/exposure > 30"), "a.asdf"]).expect(0);
        run(at, &["meta", "a.asdf", "--set", &format!("{slash}roman/meta/exposure=30.5")]).expect(0);
    }
}

/// The paths that `tree` prints are taken by `meta` and, of arrays, by `cat`.
#[test]
fn every_path_of_a_tree_is_an_address() {
    let directory = folder();
    let at = directory.path();
    let tree = run(at, &["tree", "a.asdf"]);
    let rows: Vec<Vec<&str>> = tree.expect(0).lines().map(|line| line.split('\t').collect()).collect();
    let paths: Vec<&str> = rows.iter().map(|row| row[0]).collect();
    assert_eq!(
        paths,
        [
            "roman",
            "roman/meta",
            "roman/meta/exposure",
            "roman/meta/a~1b",
            "roman/x~1y",
            "roman/data",
            "/",
            "//inner"
        ]
    );
    for row in rows {
        let (path, kind) = (row[0], row[1]);
        run(at, &["meta", "a.asdf", path]).expect(0);
        if kind == "dataset" {
            run(at, &["cat", &format!("a.asdf::{path}")]).expect(0);
        } else {
            run(at, &["meta", &format!("a.asdf::{path}")]).expect(0);
        }
    }
}

#[test]
fn attributes_follow_the_path_of_their_dataset() {
    let directory = crate::support::files();
    let at = directory.path();
    let tree = run(at, &["tree", "good.ra::data"]);
    assert!(tree.expect(0).contains("data/eltype\tint\t3\n"), "{tree:#?}");
    for words in [&["meta", "good.ra::data/eltype"][..], &["meta", "good.ra::/data", "eltype"]] {
        assert_eq!(run(at, words).expect(0), "3\n", "{words:?}");
    }
    run(at, &["meta", "good.ra::data/nosuch"]).expect(1);
}
