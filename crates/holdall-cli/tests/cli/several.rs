//! Several datasets by one address, and several files.

use serde_json::Value;
use tempfile::TempDir;

use crate::support::{files, floats, rawarray, run};

const NDARRAY: &str = "!<tag:stsci.edu:asdf/core/ndarray-1.1.0>";

/// `image.asdf` has `roman/data`, `roman/meta/mask`, `roman/err` and `other`; `star.asdf` has `a*`, `ab` and `a/b`. `good.ra` is there as well.
fn desk() -> TempDir {
    let directory = files();
    let write = |name: &str, tree: &str| {
        let text = format!("#ASDF 1.0.0\n%YAML 1.1\n---\n{tree}...\n").replace("ARRAY", NDARRAY);
        std::fs::write(directory.path().join(name), text).unwrap();
    };
    write(
        "image.asdf",
        "roman:\n  data: ARRAY {data: [1, 2], datatype: int16}\n  meta:\n    mask: ARRAY {data: [0, 1, 0], datatype: uint8}\n    \
         filter: F158\n  err: ARRAY {data: [[3, 4], [5, 6]], datatype: int16}\nother: ARRAY {data: [7], datatype: int16}\n",
    );
    write(
        "star.asdf",
        "'a*': ARRAY {data: [1], datatype: int16}\nab: ARRAY {data: [2], datatype: int16}\na:\n  b: ARRAY {data: [3], datatype: int16}\n",
    );
    directory
}

fn lines(out: &str) -> Vec<Value> {
    out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// The first column of `ls`.
fn listed(at: &std::path::Path, args: &[&str]) -> Vec<String> {
    let run = run(at, &[&["ls"], args].concat());
    run.expect(0).lines().map(|line| line.split('\t').next().unwrap().to_owned()).collect()
}

#[test]
fn groups_and_stars_name_datasets() {
    let directory = desk();
    let at = directory.path();
    for (path, names) in [
        ("roman", &["roman/data", "roman/meta/mask", "roman/err"][..]),
        ("roman/", &["roman/data", "roman/meta/mask", "roman/err"]),
        ("roman/*", &["roman/data", "roman/err"]),
        ("roman/**", &["roman/data", "roman/meta/mask", "roman/err"]),
        ("**/mask", &["roman/meta/mask"]),
        ("*", &["other"]),
    ] {
        assert_eq!(listed(at, &[&format!("image.asdf::{path}")]), names, "{path}");
    }
    // A dataset of that very name comes first.
    assert_eq!(listed(at, &["star.asdf::a*"]), ["a*"]);
    assert_eq!(listed(at, &["star.asdf::a"]), ["a/b"]);
    assert_eq!(listed(at, &["star.asdf::*b"]), ["ab"]);
    // A pattern that fits nothing is a no, a name that is not there no answer.
    run(at, &["ls", "image.asdf::x*"]).expect(1);
    run(at, &["ls", "image.asdf::x"]).expect(2);
}

#[test]
fn several_datasets_are_printed_below_their_names() {
    let directory = desk();
    let at = directory.path();
    assert_eq!(
        run(at, &["cat", "image.asdf::roman/*"]).expect(0),
        "==> image.asdf::roman/data <==\n1\n2\n\n==> image.asdf::roman/err <==\n3 4\n5 6\n"
    );
    assert_eq!(
        run(at, &["cat", "image.asdf::roman/*[0]"]).expect(0),
        "==> image.asdf::roman/data[0] <==\n1\n\n==> image.asdf::roman/err[0] <==\n3\n4\n"
    );
    // One that fits is labelled, too: the form does not depend on the file.
    assert_eq!(run(at, &["cat", "image.asdf::o*"]).expect(0), "==> image.asdf::other <==\n7\n");
    let both = run(at, &["cat", "good.ra", "image.asdf::other"]);
    assert_eq!(
        both.expect(0),
        "==> good.ra::data <==\n0.0 3.0\n1.0 4.0\n2.0 5.0\n\n==> image.asdf::other <==\n7\n"
    );
    let json = run(at, &["cat", "--format", "json", "image.asdf::roman/*[-1]", "good.ra"]);
    assert_eq!(
        lines(json.expect(0)),
        [
            serde_json::json!({"schema": "holdall.cat/1", "path": "image.asdf", "dataset": "roman/data", "selection": "-1", "values": 2}),
            serde_json::json!({"schema": "holdall.cat/1", "path": "image.asdf", "dataset": "roman/err", "selection": "-1", "values": [5, 6]}),
            serde_json::json!({"schema": "holdall.cat/1", "path": "good.ra", "dataset": "data", "selection": null, "values": [[0.0, 3.0], [1.0, 4.0], [2.0, 5.0]]}),
        ]
    );
    let raw = run(at, &["cat", "--format", "raw", "image.asdf::roman/meta/mask", "image.asdf::roman/meta/*"]);
    assert_eq!(raw.expect(0), "\0\u{1}\0\0\u{1}\0");
    run(at, &["cat", "--format", "csv", "image.asdf::roman/*"]).expect(2);
    run(at, &["cat", "--format", "csv", "image.asdf::o*"]).expect(0);
}

#[test]
fn a_target_of_several_is_written_whole_or_not_at_all() {
    let directory = desk();
    let at = directory.path();
    run(at, &["cat", "image.asdf::roman/*", "good.ra", "-o", "all.txt"]).expect(0);
    let text = std::fs::read_to_string(at.join("all.txt")).unwrap();
    assert_eq!(text.matches("==> ").count(), 3);
    run(at, &["cat", "image.asdf::roman/*", "cut.ra", "-o", "part.txt"]).expect(2);
    assert!(!at.join("part.txt").exists());
}

#[test]
fn a_file_that_cannot_be_read_hides_no_other() {
    let directory = desk();
    let at = directory.path();
    for verb in ["cat", "ls", "tree"] {
        let run = run(at, &[verb, "other.txt", "image.asdf::other", "missing.ra"]);
        assert!(run.expect(2).contains("image.asdf"), "{run:?}");
        assert!(run.err.contains("other.txt") && run.err.contains("missing.ra"), "{run:?}");
    }
}

#[test]
fn verbs_for_one_dataset_name_those_that_fit() {
    let directory = desk();
    let at = directory.path();
    for args in [&["plot", "image.asdf::roman", "-o", "x.png"][..], &["meta", "image.asdf::roman/*"]] {
        let run = run(at, args);
        run.expect(2);
        assert!(run.err.contains("datasets") && run.err.contains("roman/data, "), "{run:?}");
    }
}

#[test]
fn values_and_digests_of_several_have_their_addresses() {
    let directory = desk();
    let at = directory.path();
    let stat = run(at, &["stat", "--json", "image.asdf::roman/*[0]"]);
    let stat = lines(stat.expect(0));
    assert_eq!((&stat[0]["dataset"], &stat[0]["selection"]), (&"roman/data".into(), &"0".into()));
    assert_eq!((&stat[1]["dataset"], &stat[1]["max"]), (&"roman/err".into(), &4.into()));
    let digests = run(at, &["digest", "image.asdf::roman/*[0]", "star.asdf::a"]).expect(0).to_owned();
    let addresses: Vec<&str> = digests.lines().map(|line| line.split_once("  ").unwrap().1).collect();
    assert_eq!(addresses, ["image.asdf::roman/data[0]", "image.asdf::roman/err[0]", "star.asdf::a/b"]);
    std::fs::write(at.join("list"), &digests).unwrap();
    run(at, &["digest", "--check", "list"]).expect(0);
    run(at, &["extract", "image.asdf::roman/*", "-o", "out"]).expect(0);
    assert_eq!(std::fs::read_dir(at.join("out")).unwrap().count(), 1);
    run(at, &["convert", "image.asdf::roman", "part.asdf"]).expect(0);
    assert_eq!(listed(at, &["part.asdf"]).len(), 3);
}

#[test]
fn several_files_and_folders_are_listed_by_address() {
    let directory = desk();
    let at = directory.path();
    assert_eq!(listed(at, &["good.ra", "image.asdf::other"]), ["good.ra::data", "image.asdf::other"]);
    std::fs::create_dir(at.join("sub")).unwrap();
    std::fs::write(at.join("sub/x.ra"), rawarray(3, 4, &[2], &floats(2))).unwrap();
    // A folder names its files, though there is one.
    let name = std::path::Path::new("sub").join("x.ra");
    assert_eq!(listed(at, &["sub"]), [format!("{}::data", name.display())]);
    assert_eq!(listed(at, &["good.ra"]), ["data"]);
    let json = run(at, &["ls", "--json", "good.ra"]);
    assert_eq!(lines(json.expect(0))[0]["file"], "good.ra");
}

#[test]
fn a_tree_of_several_files_is_searched_as_grep_does() {
    let directory = desk();
    let at = directory.path();
    let found = run(at, &["tree", "--grep", "F158", "good.ra", "image.asdf"]);
    assert_eq!(
        found.expect(0),
        "image.asdf\troman\tmap\t{3 entries}\nimage.asdf\troman/meta\tmap\t{2 entries}\nimage.asdf\troman/meta/filter\ttext\tF158\n"
    );
    assert_eq!(found.err, "");
    let nothing = run(at, &["tree", "--grep", "nosuch", "good.ra", "image.asdf"]);
    assert_eq!((nothing.expect(1), nothing.err.as_str()), ("", "holdall: 2 files: nothing matches\n"));
    // A file that cannot be read outweighs.
    run(at, &["tree", "--grep", "F158", "other.txt", "image.asdf"]).expect(2);
}
