//! Tables of text into containers, and output of `cat` back into them.

use std::path::Path;

use crate::items::{bytes_of, run_with};
use crate::support::run;

fn write(at: &Path, name: &str, text: &str) {
    std::fs::write(at.join(name), text).unwrap();
}

#[test]
fn a_table_goes_into_every_format_by_its_name_or_by_a_flag() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "t.csv", "1,2.5\n3,4\n");
    write(at, "u.txt", "1\t2.5\r\n3\t4\r\n");
    // A file of frames has one.
    let values = |target: &str| if target == "a.gsd" { "a.gsd::[0]".to_owned() } else { target.to_owned() };
    for target in ["a.b2nd", "a.blp", "a.asdf", "a.gsd", "a.ra", "a.npy"] {
        let cat = || bytes_of(at, &["cat", &values(target), "--format", "csv"]);
        run(at, &["pack", "t.csv", target, "--verify"]).expect(0);
        assert_eq!(cat(), b"1.0,2.5\n3.0,4.0\n", "{target}");
        run(at, &["pack", "--csv", "--delimiter", "tab", "u.txt", target, "-f"]).expect(0);
        assert_eq!(cat(), b"1.0,2.5\n3.0,4.0\n", "{target}");
    }
    let (piped, out) = run_with(at, &["pack", "--csv", "-", "-", "--to", "npy"], b"1,2.5\n3,4\n");
    assert_eq!((piped.code, out), (Some(0), std::fs::read(at.join("a.npy")).unwrap()));
}

#[test]
fn rows_of_tables_are_appended_in_the_type_of_the_file() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let cat = |file: &str| String::from_utf8(bytes_of(at, &["cat", file, "--format", "csv"])).unwrap();
    write(at, "t.csv", "x,y\n1,2.5\n");
    write(at, "more.csv", "x,y\n3,4\n");
    write(at, "u.txt", "5\t6\n");
    write(at, "swapped.csv", "y,x\n1,2\n");
    write(at, "wide.csv", "1,2,3\n");
    write(at, "word.csv", "7,seven\n");
    for target in ["a.b2nd", "a.blp"] {
        // Records, and a matrix of singles in the order of another machine.
        run(at, &["pack", "t.csv", target]).expect(0);
        run(at, &["append", target, "more.csv"]).expect(0);
        run(at, &["append", target, "--csv", "--delimiter", "tab", "u.txt"]).expect(0);
        let refused = run(at, &["append", target, "swapped.csv"]);
        refused.expect(2);
        assert!(refused.err.contains(r#"swapped.csv: column 1 is called "y""#), "{refused:#?}");
        assert_eq!(cat(target), "x,y\n1,2.5\n3,4.0\n5,6.0\n", "{target}");
        run(at, &["pack", "--csv", "--dtype", ">f4", "t.csv", target, "-f"]).expect(0);
        let before = bytes_of(at, &["digest", target]);
        for (wrong, why) in [("wide.csv", "does not take"), ("word.csv", "seven")] {
            let refused = run(at, &["append", target, wrong]);
            refused.expect(2);
            assert!(refused.err.contains(why), "{refused:#?}");
        }
        run(at, &["append", target, "--raw", "--header", "skip", "more.csv"]).expect(2);
        run(at, &["append", target, "--header", "skip", target]).expect(2);
        assert_eq!(bytes_of(at, &["digest", target]), before);
        run(at, &["append", target, "--header", "names", "more.csv"]).expect(0);
        let (piped, _) = run_with(at, &["append", target, "--csv", "-"], b"5,6\n");
        assert_eq!(piped.code, Some(0));
        assert_eq!(cat(target), "1.0,2.5\n3.0,4.0\n5.0,6.0\n", "{target}");
    }
    // One column is a row of one, and a row alone may be a frame.
    write(at, "one.csv", "1\n2\n");
    run(at, &["pack", "--dtype", "|u1", "--shape", "6,1", "one.csv", "one.b2nd"]).expect(2);
    run(at, &["pack", "--dtype", "|u1", "--shape", "4,1", "one.csv", "one.b2nd"]).expect(0);
    run(at, &["append", "one.b2nd", "one.csv"]).expect(0);
    assert_eq!(cat("one.b2nd"), "49\n10\n50\n10\n1\n2\n");
}

#[test]
fn csv_from_cat_packs_to_the_same_array() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "t.csv", "name,p[0],p[1]\n\"a, b\",1,2\nc,3,4\n");
    run(at, &["pack", "t.csv", "t.asdf"]).expect(0);
    assert_eq!(bytes_of(at, &["cat", "t.asdf", "--format", "csv"]), b"name,p[0],p[1]\n\"a, b\",1,2\nc,3,4\n");
    let raw: Vec<u8> = (0..48).collect();
    std::fs::write(at.join("r.bin"), raw).unwrap();
    run(at, &["pack", "--dtype", ">u2", "--shape", "4,3,2", "r.bin", "r.b2nd"]).expect(0);
    run(at, &["cat", "r.b2nd", "-o", "r.csv"]).expect(0);
    run(at, &["pack", "--csv", "--dtype", ">u2", "r.csv", "back.b2nd"]).expect(0);
    run(at, &["diff", "r.b2nd", "back.b2nd"]).expect(0);
}

#[test]
fn content_takes_precedence_over_the_csv_extension() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "t.csv", "1\n2\n");
    run(at, &["pack", "t.csv", "t.npy"]).expect(0);
    std::fs::rename(at.join("t.npy"), at.join("n.csv")).unwrap();
    run(at, &["pack", "n.csv", "n.ra"]).expect(0);
    assert_eq!(bytes_of(at, &["cat", "n.ra"]), b"1\n2\n");
    // With a type, a table's bytes are raw elements.
    run(at, &["pack", "--dtype", "|u1", "t.csv", "bytes.npy"]).expect(0);
    assert_eq!(bytes_of(at, &["cat", "bytes.npy", "--format", "raw"]), b"1\n2\n");
}

#[test]
fn invalid_csv_creates_no_target() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write(at, "t.csv", "1,2\n3\n");
    write(at, "names.csv", "a,b\n1,x\n");
    write(at, "t.txt", "1\n");
    for (args, what) in [
        (&["pack", "t.csv", "t.ra"][..], "row 2: 1 cells (expected 2, as in the first row)"),
        (&["pack", "missing.csv", "t.ra"], "missing.csv"),
        (&["pack", "t.txt", "t.ra"], "--csv"),
        (&["pack", "t.txt", "t.ra", "--csv", "--dtype", "|V1"], "row 1: column 1"),
        (&["pack", "names.csv", "t.gsd"], "gsd"),
        (&["pack", "t.txt", "t.ra", "--dtype", "|u1", "--header", "skip"], "--csv"),
        (&["pack", "t.txt", "t.ra", "--header", "skip"], "--csv"),
        (&["pack", "t.csv", "t.ra", "--delimiter", "ab"], "one character of ASCII, or tab"),
        (&["pack", "t.csv", "t.blp", "--csv", "--items", "lines"], "cannot be used with"),
    ] {
        let run = run(at, args);
        run.expect(2);
        assert!(run.err.to_lowercase().contains(&what.to_lowercase()), "{args:?}: {}", run.err);
    }
    assert_eq!(std::fs::read_dir(at).unwrap().count(), 3);
}
