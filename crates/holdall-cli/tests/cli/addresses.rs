//! FILE, FILE::PATH, FILE::PATH[SEL], and standard input in their place.

use std::io::Write;
use std::process::Stdio;

use crate::support::{Run, files, floats, holdall, rawarray, rawarray_with_flags, run};

/// `numpy.arange(6, dtype='f4').reshape(3, 2, order='F')`, as its rows print.
const ROWS: &str = "0.0 3.0\n1.0 4.0\n2.0 5.0\n";

#[test]
fn values_are_selected_as_numpy_does() {
    let directory = files();
    for (address, text) in [
        ("good.ra", ROWS),
        ("good.ra::data", ROWS),
        ("good.ra::data[::-1, 1]", "5.0\n4.0\n3.0\n"),
        ("good.ra::[1]", "1.0\n4.0\n"),
        ("good.ra::data[-1, -1]", "5.0\n"),
        ("good.npy::data[0:2, :]", "0.0 3.0\n1.0 4.0\n"),
    ] {
        assert_eq!(run(directory.path(), &["cat", address]).expect(0), text, "{address}");
    }
    for address in ["good.ra::nosuch", "good.ra::data[3]", "good.ra::data[0, 0, 0]", "good.ra::data[x]"] {
        run(directory.path(), &["cat", address]).expect(2);
    }
}

#[test]
fn a_file_literally_called_like_an_address_wins() {
    let directory = files();
    std::fs::write(directory.path().join("good.ra::data[0]"), rawarray(2, 1, &[2], &[7, 8])).unwrap();
    assert_eq!(run(directory.path(), &["cat", "good.ra::data[0]"]).expect(0), "7\n8\n");
    assert!(run(directory.path(), &["info", "good.ra::data[0]"]).expect(0).contains("format\tRawArray"));
}

#[test]
fn commands_accept_a_dataset() {
    let directory = files();
    let at = directory.path();
    assert!(
        run(at, &["ls", "good.ra::data"]).expect(0).starts_with("data\t<f4\t(3, 2)\tF\t-\tnone\t24\t24\n")
    );
    assert_eq!(run(at, &["meta", "good.ra::data", "/eltype"]).expect(0), "3\n");
    assert!(run(at, &["tree", "good.ra::data"]).expect(0).starts_with("data\tdataset\t"));
    let layout = run(at, &["layout", "good.ra::data"]);
    assert!(layout.expect(0).lines().all(|line| line.ends_with("\tdata")), "{layout:#?}");
    let info = run(at, &["info", "good.ra::data"]);
    assert!(info.expect(0).starts_with("path\tgood.ra::data\nformat\tRawArray\ndtype\t<f4\n"), "{info:#?}");
    let json: serde_json::Value =
        serde_json::from_str(run(at, &["info", "--json", "good.ra::data"]).expect(0)).unwrap();
    assert_eq!((&json["path"], &json["dataset"]["path"]), (&"good.ra".into(), &"data".into()));
    run(at, &["info", "good.ra::data[0]"]).expect(2);
    run(at, &["info", "good.ra::none"]).expect(2);
}

#[test]
fn reversed_dims_show_the_transpose() {
    let directory = files();
    let at = directory.path();
    assert_eq!(run(at, &["cat", "--reversed-dims", "good.ra"]).expect(0), "0.0 1.0 2.0\n3.0 4.0 5.0\n");
    // There and back under the same option is the same file.
    run(at, &["convert", "--reversed-dims", "--verify", "good.ra", "c.npy"]).expect(0);
    assert_eq!(run(at, &["cat", "c.npy"]).expect(0), "0.0 1.0 2.0\n3.0 4.0 5.0\n");
    run(at, &["convert", "--reversed-dims", "--verify", "c.npy", "back.ra"]).expect(0);
    assert_eq!(std::fs::read(at.join("back.ra")).unwrap(), std::fs::read(at.join("good.ra")).unwrap());
}

#[test]
fn options_about_reading_reach_the_format() {
    let directory = files();
    let at = directory.path();
    assert_eq!(run(at, &["cat", "--positioned", "good.ra"]).expect(0), ROWS);
    // Julia's mislabelled floats: flag bit 1, yet plain data.
    std::fs::write(at.join("julia.ra"), rawarray_with_flags(2, 3, 4, &[2], &floats(2))).unwrap();
    run(at, &["cat", "julia.ra"]).expect(2);
    assert_eq!(run(at, &["cat", "--lenient", "julia.ra"]).expect(0), "0.0\n1.0\n");
    // 300, -65, 0 as signed LEB128; the byte length of the flag is given instead of guessed.
    let mut bytes = rawarray_with_flags(2, 1, 2, &[3], &[0; 6]);
    bytes.truncate(56);
    bytes.extend([0xd8, 0x04, 0x81, 0x01, 0x00]);
    std::fs::write(at.join("leb.ra"), bytes).unwrap();
    assert_eq!(run(at, &["cat", "--assume-codec", "leb128", "leb.ra"]).expect(0), "300\n-65\n0\n");
    run(at, &["cat", "--assume-codec", "lz4", "leb.ra"]).expect(2);
}

#[test]
fn standard_input_takes_the_place_of_a_file() {
    let directory = files();
    let bytes = std::fs::read(directory.path().join("good.ra")).unwrap();
    for (args, code, text) in [
        (&["cat", "-"][..], 0, ROWS),
        (&["cat", "--", "-::data[0]"], 0, "0.0\n3.0\n"),
        (&["verify", "--quick", "-", "cut.ra"], 1, "-\tsound\t"),
        (&["diff", "-", "good.npy"], 0, ""),
        (&["convert", "-", "new.npy"], 0, ""),
        (&["info", "-"], 0, "path\t-\nformat\tRawArray\n"),
    ] {
        let mut child = holdall(directory.path())
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        child.stdin.take().unwrap().write_all(&bytes).unwrap();
        let run = Run::of(&child.wait_with_output().unwrap());
        assert!(run.expect(code).starts_with(text), "{args:?} {run:#?}");
    }
    let new = std::fs::read(directory.path().join("new.npy")).unwrap();
    assert_eq!(new, std::fs::read(directory.path().join("good.npy")).unwrap());
    run(directory.path(), &["diff", "-", "-"]).expect(2);
}
