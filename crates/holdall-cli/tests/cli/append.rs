//! Files that grow: by rows, by raw elements, by items; whole or not at all.

use std::io::Write;
use std::process::Stdio;

use crate::bloscpack::with_blp;
use crate::items::{bytes_of, with_files};
use crate::support::{Run, contents, floats, holdall, npy, run, testdata};

#[test]
fn a_file_grows_by_what_fits_it() {
    let directory = with_blp();
    let at = directory.path();
    std::fs::write(at.join("a.npy"), npy("<f4", false, "(3, 2)", &floats(6))).unwrap();
    run(at, &["convert", "a.npy", "a.blp", "--chunks", "2"]).expect(0);
    run(at, &["append", "a.blp", "a.npy"]).expect(0);
    run(at, &["append", "a.blp", "a.npy::[1:2]"]).expect(0);
    let mut expected = [floats(6), floats(6), floats(4)[8..].to_vec()].concat();
    assert_eq!(raw(at, "a.blp"), expected);
    assert!(run(at, &["ls", "a.blp"]).expect(0).starts_with("data\t<f4\t(7, 2)\tC\t"));
    // Raw elements, from a pipe.
    let mut child =
        holdall(at).args(["append", "--raw", "a.blp", "-"]).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(&floats(8)).unwrap();
    assert!(child.wait().unwrap().success());
    expected.extend(floats(8));
    assert_eq!(raw(at, "a.blp"), expected);
    assert!(run(at, &["verify", "a.blp"]).expect(0).contains("\tsound\t"));
    // The file of the Python tool, whose chunk is filled up.
    std::fs::write(at.join("more"), b", and more").unwrap();
    std::fs::write(at.join("two.npy"), npy(">u2", false, "(1,)", &[1, 2])).unwrap();
    run(at, &["convert", "two.npy", "two.blp"]).expect(0);
    std::fs::write(at.join("two.raw"), [3, 4]).unwrap();
    run(at, &["append", "--raw", "two.blp", "two.raw"]).expect(0);
    run(at, &["append", "--raw", "--dtype", "<u2", "two.blp", "two.raw"]).expect(0);
    run(at, &["append", "--raw", "--dtype", "<u4", "two.blp", "two.raw"]).expect(2);
    assert_eq!(run(at, &["cat", "two.blp"]).expect(0), "258\n772\n1027\n");
    run(at, &["append", "--raw", "hello.blp", "more"]).expect(0);
    assert_eq!(raw(at, "hello.blp"), b"hello bloscpack, and more");
}

/// The refusal names the axis, in both ways.
#[test]
fn a_column_major_file_grows_by_what_its_refusal_names() {
    let directory = with_blp();
    let at = directory.path();
    std::fs::write(at.join("f.npy"), npy("|u1", true, "(2, 3)", &[0, 3, 1, 4, 2, 5])).unwrap();
    std::fs::write(at.join("row.npy"), npy("|u1", false, "(1, 3)", &[6, 7, 8])).unwrap();
    std::fs::write(at.join("column.npy"), npy("|u1", false, "(1, 2)", &[6, 7])).unwrap();
    run(at, &["convert", "f.npy", "old.blp"]).expect(0);
    let refused = run(at, &["append", "old.blp", "row.npy"]);
    refused.expect(2);
    for ways in ["OLD.blp ROWS.b2nd, then ROWS.b2nd NEW.blp", "--reversed-dims OLD.blp NEW.blp"] {
        assert!(refused.err.contains(ways), "{refused:#?}");
    }
    run(at, &["convert", "old.blp", "rows.b2nd"]).expect(0);
    run(at, &["convert", "rows.b2nd", "new.blp"]).expect(0);
    run(at, &["append", "new.blp", "row.npy"]).expect(0);
    assert_eq!(run(at, &["cat", "new.blp"]).expect(0), "0 1 2\n3 4 5\n6 7 8\n");
    run(at, &["convert", "--reversed-dims", "old.blp", "reversed.blp"]).expect(0);
    run(at, &["append", "reversed.blp", "column.npy"]).expect(0);
    assert_eq!(run(at, &["cat", "reversed.blp"]).expect(0), "0 3\n1 4\n2 5\n6 7\n");
}

#[test]
fn only_what_an_append_takes_is_offered() {
    let directory = with_blp();
    let at = directory.path();
    std::fs::write(at.join("a.npy"), npy("<f4", false, "(3, 2)", &floats(6))).unwrap();
    let none = "takes no checksum (it takes none of these options)";
    let filters = "takes no checksum (it takes filter, split, dictionary)";
    let of_frames = "takes no checksum (it takes frames, as-bytes, new-logs)";
    let streamed = std::fs::read(testdata().join("asdf/ok/stream.asdf")).unwrap();
    std::fs::write(at.join("s.asdf"), streamed).unwrap();
    for (file, title, takes) in
        [("b.b2nd", "Blosc2", filters), ("c.gsd", "GSD", of_frames), ("s.asdf", "ASDF", none)]
    {
        if title != "ASDF" {
            run(at, &["convert", "a.npy", file]).expect(0);
        }
        let before = contents(at);
        let refused = run(at, &["append", file, "a.npy", "-O", "checksum=crc32"]);
        refused.expect(2);
        assert_eq!(refused.err, format!("holdall: {file}: appending to {title} {takes}\n"));
        for option in ["--chunks=2", "--blocks=2", "--checksum=none"] {
            let unknown = run(at, &["append", file, "a.npy", option]);
            unknown.expect(2);
            assert!(unknown.err.contains("unexpected argument"), "{unknown:#?}");
        }
        assert_eq!(contents(at), before, "{file}");
    }
}

fn raw(at: &std::path::Path, file: &str) -> Vec<u8> {
    let output = holdall(at).args(["cat", "--format", "raw", file]).output().unwrap();
    assert!(output.status.success(), "{:#?}", Run::of(&output));
    output.stdout
}

#[test]
fn failed_append_leaves_all_files_unchanged() {
    let directory = with_blp();
    let at = directory.path();
    std::fs::write(at.join("wide.npy"), npy("<f4", false, "(2, 3)", &floats(6))).unwrap();
    std::fs::write(at.join("double.npy"), npy("<f8", false, "(1, 2)", &[0; 16])).unwrap();
    std::fs::write(at.join("a.npy"), npy("<f4", false, "(3, 2)", &floats(6))).unwrap();
    run(at, &["convert", "a.npy", "a.blp"]).expect(0);
    let mut damaged = std::fs::read(at.join("a.blp")).unwrap();
    let at_data = damaged.len() - 10;
    damaged[at_data] ^= 1;
    std::fs::write(at.join("damaged.blp"), damaged).unwrap();
    let before = contents(at);
    for (args, word) in [
        (&["append", "a.blp", "wide.npy"][..], ""),
        (&["append", "a.blp", "double.npy"], ""),
        (&["append", "a.blp", "missing.npy"], "missing.npy"),
        (&["append", "a.blp", "cut.ra"], ""),
        (&["append", "a.blp", "other.txt"], "other.txt"),
        (&["append", "a.blp", "a.blp"], "source itself"),
        (&["append", "a.blp", "."], "part of the source"),
        (&["append", "a.blp", "--raw", "other.txt"], "whole number"),
        (&["append", "a.blp", "a.npy", "--codec", "bzp2"], "blosclz"),
        (&["append", "a.blp", "a.npy", "wide.npy"], "one source"),
        (&["append", "damaged.blp", "a.npy"], ""),
        (&["append", "missing.blp", "a.npy"], "missing.blp"),
        (&["append", "-", "a.npy"], "standard input"),
        (&["append", "good.ra", "double.npy"], "not <f8"),
        (&["append", "good.npy", "a.npy"], "Bloscpack"),
        (&["append", "other.txt", "a.npy"], "known format"),
    ] {
        let refused = run(at, args);
        refused.expect(2);
        assert!(refused.err.contains(word), "{args:?} {refused:#?}");
        assert!(refused.err.lines().count() <= 3, "{args:?} {refused:#?}");
        assert_eq!(contents(at), before, "{args:?}");
    }
}

#[test]
fn items_are_added_and_stored_in_another_way() {
    let directory = with_files();
    let at = directory.path();
    std::fs::write(at.join("t.txt"), b"one\ntwo").unwrap();
    std::fs::write(at.join("u.txt"), b"three\n").unwrap();
    run(at, &["pack", "--items", "lines", "u.txt", "t.blp"]).expect(0);
    run(at, &["append", "--items", "lines", "t.blp", "t.txt"]).expect(0);
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/2"]), b"two");
    run(at, &["append", "t.blp", "t.blp"]).expect(2);
    run(at, &["recode", "t.blp", "v.blp", "--codec", "zlib:9", "--checksum", "sha256", "--verify"]).expect(0);
    assert_eq!(bytes_of(at, &["extract", "--items", "--text", "v.blp"]), b"three\none\ntwo\n");
    assert_eq!(std::fs::read(at.join("v.blp")).unwrap()[6], 6);
    run(at, &["append", "t.blp", "v.blp::items/1"]).expect(0);
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/3"]), b"one");
    run(at, &["verify", "t.blp", "v.blp"]).expect(0);
}

#[test]
fn append_has_its_keys() {
    let directory = with_files();
    let at = directory.path();
    run(at, &["pack", "--items", "files", "a.bin", "new.blp"]).expect(0);
    let added = run(at, &["append", "--json", "--items", "files", "new.blp", "zeros"]);
    let line: serde_json::Value = serde_json::from_str(added.expect(0)).unwrap();
    assert_eq!(
        line,
        serde_json::json!({
            "schema": "holdall.append/1", "sources": ["zeros"], "target": "new.blp", "format": "bloscpack",
            "datasets": ["items/0"], "losses": [],
        })
    );
}

/// python-blosc2 makes the chunks of an array without elements as long as itself: `blosc2.zeros(0)`, and here (0, 3).
#[test]
fn an_array_whose_chunks_have_no_length_grows() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/hand_empty_axis.b2nd");
    std::fs::copy(fixture, at.join("a.b2nd")).unwrap();
    std::fs::write(at.join("v.bin"), (1..7_i32).flat_map(i32::to_le_bytes).collect::<Vec<_>>()).unwrap();
    run(at, &["pack", "--dtype", "<i4", "--shape", "2,3", "v.bin", "rows.b2nd"]).expect(0);
    for rows in ["[[1,2,3],\n[4,5,6]]\n", "[[1,2,3],\n[4,5,6],\n[1,2,3],\n[4,5,6]]\n"] {
        run(at, &["append", "a.b2nd", "rows.b2nd"]).expect(0);
        assert_eq!(run(at, &["cat", "a.b2nd", "--format", "json"]).expect(0), rows);
        run(at, &["verify", "a.b2nd"]).expect(0);
    }
}
