//! Arrays whose values are not in their file: expressions, functions, references to servers, proxies that fetched a part or none.

use std::path::Path;

use crate::support::run;

/// A fixture of python-blosc2 in a folder of its own.
fn fixture(name: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2/ok").join(name);
    std::fs::copy(from, folder.path().join(name)).unwrap();
    folder
}

const VERBS: [&[&str]; 9] = [
    &["cat", "IN"],
    &["cat", "IN", "--format", "json"],
    &["stat", "IN"],
    &["digest", "IN"],
    &["diff", "IN", "IN"],
    &["plot", "IN", "-o", "out.png"],
    &["extract", "IN", "-o", "out"],
    &["recode", "IN", "out.b2nd"],
    &["recode", "IN", "out.b2nd", "--codec", "lz4"],
];

const TARGETS: [&str; 9] = ["npy", "b2nd", "asdf", "blp", "ra", "gsd", "zarr", "fits", "csv"];

/// Asserts that every verb that gives values refuses `address` with `why`, and writes no file.
fn refused(at: &Path, file: &str, address: &str, why: &str) {
    let mut commands: Vec<Vec<String>> =
        VERBS.iter().map(|words| words.iter().map(|word| word.replace("IN", address)).collect()).collect();
    // Recoding takes only a whole file.
    commands.retain(|words| words[0] != "recode" || address == file);
    commands.extend(
        TARGETS
            .iter()
            .filter(|target| **target != "csv")
            .map(|target| vec!["convert".to_owned(), address.to_owned(), format!("out.{target}")]),
    );
    for words in commands {
        let done = run(at, &words);
        assert_eq!((done.expect(2), done.err.contains(why)), ("", true), "{words:?}: {done:#?}");
        // A folder may be left, but must be empty.
        let _ = std::fs::remove_dir(at.join("out"));
        let left: Vec<_> = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert!(left.iter().all(|name| name == file || name == "rows.npy"), "{words:?}: {left:?}");
    }
}

#[test]
fn a_column_that_is_not_decoded_gives_no_values() {
    let folder = fixture("table_nulls.b2z");
    let why = "column sequence is not decoded: lists";
    refused(folder.path(), "table_nulls.b2z", "table_nulls.b2z::sequence", why);
}

#[test]
fn computed_and_remote_arrays_are_refused_unless_lenient() {
    for (name, why) in [
        ("expression.b2nd", "are computed from a stored expression"),
        ("expression_old.b2nd", "are computed from a stored expression"),
        ("expression_function.b2nd", "are computed from a stored function"),
        ("expression_on_server.b2nd", "are on a server"),
    ] {
        let folder = fixture(name);
        let at = folder.path();
        refused(at, name, name, why);
        assert!(run(at, &["info", name]).expect(0).contains(why), "{name}");
        let listed = run(at, &["ls", name]);
        assert!(listed.expect(0).contains("(5, 7)") && listed.err.contains(why), "{listed:#?}");
        assert!(run(at, &["ls", "--json", name]).expect(0).contains(why), "{name}");
        run(at, &["verify", name]).expect(0);
        // Stored placeholders can be read.
        let lenient = run(at, &["cat", "--lenient", "--format", "json", name]);
        assert_eq!(lenient.expect(0).matches('0').count(), 35, "{lenient:#?}");
        let converted = run(at, &["convert", "--lenient", name, "out.npy"]);
        assert!(converted.expect(0).is_empty() && converted.err.contains(why), "{converted:#?}");
    }
}

/// Values by python-blosc2: those of the source, `numbers("i4", 5, 7)` in parts.py, in the first chunk of (4, 5).
#[test]
fn a_proxy_gives_what_it_fetched_and_no_more() {
    let folder = fixture("proxy.b2nd");
    let at = folder.path();
    let why = "has 1 of 4 chunks";
    refused(at, "proxy.b2nd", "proxy.b2nd", why);
    let held = "proxy.b2nd::[:4,:5]";
    let values = run(at, &["cat", held, "--format", "json"]);
    let source = "[[-20,-16,-12,-12,-10],\n[-1,3,6,10,13],\n[18,19,19,22,26],\n[28,31,32,35,36]]\n";
    assert_eq!(values.expect(0), source);
    run(at, &["cat", "proxy.b2nd::[3:5,0]"]).expect(2);
    run(at, &["cat", "proxy.b2nd::[0,5:0:-5]"]).expect(2);
    run(at, &["cat", "proxy.b2nd::[0,4:0:-2]"]).expect(0);
    for said in [run(at, &["info", "proxy.b2nd"]).out, run(at, &["ls", "proxy.b2nd"]).err] {
        assert!(said.contains(why), "{said}");
    }
    // The extracted part is an ordinary array.
    run(at, &["convert", held, "part.b2nd"]).expect(0);
    assert_eq!(run(at, &["cat", "part.b2nd", "--format", "json"]).expect(0), values.out);
    run(at, &["convert", held, "part.asdf"]).expect(0);
    run(at, &["convert", "part.asdf", "back.b2nd"]).expect(0);
    assert_eq!(run(at, &["cat", "back.b2nd", "--format", "json"]).expect(0), values.out);
    // Rows added to a proxy would be rows of no source.
    run(at, &["convert", "--lenient", "proxy.b2nd::[:1]", "rows.npy"]).expect(0);
    let before = std::fs::read(at.join("proxy.b2nd")).unwrap();
    run(at, &["append", "proxy.b2nd", "rows.npy"]).expect(2);
    assert_eq!(std::fs::read(at.join("proxy.b2nd")).unwrap(), before);
}

/// All blocks of the first chunk and the first of the second, of 2 × 3 elements, were fetched.
#[test]
fn partly_fetched_chunks_are_readable_by_block() {
    let folder = fixture("proxy_blocks.b2nd");
    let at = folder.path();
    for (selection, code) in
        [("0:4,0:5", 0), ("0:2,0:7", 0), ("1,5:7", 0), ("2,5:7", 2), ("4,0", 2), ("0:0", 0)]
    {
        let done = run(at, &["cat", &format!("proxy_blocks.b2nd::[{selection}]")]);
        assert_eq!(done.code, Some(code), "{selection}: {done:#?}");
        assert!(code == 0 || done.err.contains("5 of 16 blocks"), "{done:#?}");
    }
}

#[test]
fn arrays_in_stores_are_refused_each_by_itself() {
    let folder = fixture("expressions.b2e");
    let at = folder.path();
    refused(at, "expressions.b2e", "expressions.b2e::expression", "stored expression");
    refused(at, "expressions.b2e", "expressions.b2e::proxy", "1 of 4 chunks");
    run(at, &["cat", "expressions.b2e::plain"]).expect(0);
    let (info, listed) = (run(at, &["info", "expressions.b2e"]), run(at, &["ls", "expressions.b2e"]));
    for why in ["stored expression", "1 of 4 chunks"] {
        assert!(info.expect(0).contains(why) && listed.err.contains(why), "{info:#?} {listed:#?}");
    }
}
