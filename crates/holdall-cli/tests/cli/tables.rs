//! Tables of python-blosc2, through the verbs: live rows, nulls as missing elements, and one report of the rest.

use std::path::Path;

use crate::support::run;

const TABLE: &str = "table_nulls.b2z";

/// The table of testdata/blosc2/stores.py: rows 0 to 6, of which row 2 is deleted, and rows 1 and 5 are null.
fn fixture() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2/ok").join(TABLE);
    std::fs::copy(from, folder.path().join(TABLE)).unwrap();
    folder
}

fn count(text: &str, part: &str) -> usize {
    text.matches(part).count()
}

const DELETED: &str = "1 of 7 rows is deleted";

#[test]
fn nulls_of_a_table_are_missing_in_every_text() {
    let folder = fixture();
    for (column, format, want) in [
        ("int_flag", "text", "0\n--\n21\n28\n--\n42\n"),
        ("int_flag", "csv", "0\n\"\"\n21\n28\n\"\"\n42\n"),
        ("int_flag", "json", "[0,null,21,28,null,42]\n"),
        ("int_value[::-2]", "json", "[600,400,null]\n"),
        ("float_flag", "json", "[0.0,null,\"NaN\",1.0,null,1.5]\n"),
        ("word", "json", "[\"red\",null,\"green\",\"red\",null,\"red\"]\n"),
        ("item", "text", "c0\n--\nc3\nc4\n--\nc6\n"),
        ("array_value[1:3]", "json", "[[null,null],\n[3,-1]]\n"),
        ("time_flag[:2]", "json", "[\"1969-12-31T23:59:59.999999\",null]\n"),
    ] {
        let done = run(folder.path(), &["cat", &format!("{TABLE}::{column}"), "--format", format]);
        assert_eq!(done.expect(0), want, "{column} {format}");
        assert_eq!(count(&done.err, DELETED), 1, "{done:#?}");
    }
}

#[test]
fn a_conversion_lists_each_loss_of_a_table_once() {
    let folder = fixture();
    for target in ["npy", "b2nd", "blp", "ra", "gsd", "zarr", "fits", "asdf"] {
        for column in ["int_flag", "float_value"] {
            let out = format!("{column}.{target}");
            let done = run(folder.path(), &["convert", &format!("{TABLE}::{column}"), &out, "--verify"]);
            done.expect(0);
            assert_eq!(count(&done.err, DELETED), 1, "{out}: {done:#?}");
            assert_eq!(count(&done.err, "the schema of the table"), 1, "{out}: {done:#?}");
            // An ASDF file has the mask.
            let masks = usize::from(target != "asdf");
            assert_eq!(count(&done.err, "mask: 2 of 6 elements are missing"), masks, "{out}: {done:#?}");
            assert_eq!(count(&done.err, "sequence"), 0, "{out}: {done:#?}");
        }
    }
    let shown = |path: &str| run(folder.path(), &["cat", path, "--format", "json"]).expect(0).to_owned();
    assert_eq!(shown("int_flag.npy"), "[0,0,21,28,0,42]\n");
    assert_eq!(shown("float_value.b2nd"), "[0.0,\"NaN\",1.5,2.0,\"NaN\",3.0]\n");
    assert_eq!(shown("int_flag.asdf::_cols/int_flag"), "[0,null,21,28,null,42]\n");
    let words = ["convert", &format!("{TABLE}::int_flag"), "filled.npy", "--fill", "-7"];
    run(folder.path(), &words).expect(0);
    assert_eq!(shown("filled.npy"), "[0,-7,21,28,-7,42]\n");
}

#[test]
fn columns_with_the_same_loss_are_in_one_line() {
    let folder = fixture();
    let done = run(folder.path(), &["convert", TABLE, "all.zarr"]);
    done.expect(0);
    for what in
        [DELETED, "are missing (null or masked); each is NaN", "each has its stored value", "each is NaT"]
    {
        let lines: Vec<&str> = done.err.lines().filter(|line| line.contains(what)).collect();
        // Of the arrays other counts are missing: 4 of 12 elements.
        let arrays = lines.iter().filter(|line| line.contains("4 of 12 elements")).count();
        assert_eq!(lines.len() - arrays, 1, "{what}: {done:#?}");
        assert!(arrays < 2, "{what}: {done:#?}");
    }
    assert!(done.err.contains("_cols/float_flag, _cols/float_value: mask: 2 of 6"), "{done:#?}");
    assert!(done.err.contains("_cols/sequence: a column that is not decoded: lists"), "{done:#?}");
    // The list for machines has a loss for each dataset.
    let done = run(folder.path(), &["convert", TABLE, "more.zarr", "--json"]);
    assert!(count(done.expect(0), "mask: 2 of 6") > 10, "{done:#?}");
}

#[test]
fn verbs_count_the_live_rows() {
    let folder = fixture();
    let at = folder.path();
    let listed = run(at, &["ls", TABLE]);
    assert!(listed.expect(0).contains("_cols/time_value\t<M8[ms]\t(6,)"), "{listed:#?}");
    assert!(!listed.out.contains("notnull") && !listed.out.contains("_valid_rows"), "{listed:#?}");
    assert_eq!(count(&listed.err, DELETED), 1, "{listed:#?}");
    let info = run(at, &["info", TABLE]);
    assert!(info.expect(0).contains("rows: 6, deleted: 1"), "{info:#?}");
    let stat = run(at, &["stat", &format!("{TABLE}::int_value"), "--json"]);
    assert!(stat.expect(0).contains("\"min\":0") && stat.out.contains("\"masked\":2"), "{stat:#?}");
    run(at, &["diff", TABLE, TABLE]).expect(0);
    run(at, &["plot", &format!("{TABLE}::float_flag"), "-o", "out.png"]).expect(0);
    run(at, &["extract", TABLE, "-o", "out"]).expect(0);
    assert_eq!(run(at, &["cat", "out/_cols/number.npy"]).expect(0), "0\n1\n3\n4\n5\n6\n");
    // The digest of the values and nulls, wherever they are.
    let address = format!("{TABLE}::int_flag");
    run(at, &["convert", &address, "m.asdf"]).expect(0);
    let digests = run(at, &["digest", &address, "m.asdf::_cols/int_flag"]);
    let digests: Vec<&str> = digests.expect(0).lines().map(|line| line.split(' ').next().unwrap()).collect();
    assert_eq!(digests[0], digests[1]);
}

#[test]
fn stored_option_shows_all_stored_values_and_arrays() {
    let folder = fixture();
    let at = folder.path();
    let done = run(at, &["cat", "--stored", &format!("{TABLE}::int_value"), "--format", "json"]);
    assert_eq!(done.expect(0), "[0,-32768,200,300,400,-32768,600]\n");
    assert_eq!(done.err, "");
    let listed = run(at, &["ls", "--stored", TABLE]);
    assert!(listed.expect(0).contains("_cols/time_value\t<i8\t(7,)"), "{listed:#?}");
    assert!(
        listed.out.contains("_cols/sequence/chunks/0") && listed.out.contains("_valid_rows"),
        "{listed:#?}"
    );
}
