//! Items: lines and files into a container and out again, byte for byte.

use std::io::Write;
use std::path::Path;
use std::process::Stdio;

use crate::support::{Run, contents, holdall, run};

/// Standard output of a run, as bytes.
pub fn bytes_of(directory: &Path, args: &[&str]) -> Vec<u8> {
    let output = holdall(directory).args(args).output().unwrap();
    assert!(output.status.success(), "{args:?} {:#?}", Run::of(&output));
    output.stdout
}

/// Runs with `input` in standard input.
pub fn run_with(directory: &Path, args: &[&str], input: &[u8]) -> (Run, Vec<u8>) {
    let mut command = holdall(directory);
    command.args(args).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    child.stdin.take().unwrap().write_all(input).unwrap();
    let output = child.wait_with_output().unwrap();
    (Run::of(&output), output.stdout)
}

/// Texts with every kind of end and of line.
fn texts() -> Vec<Vec<u8>> {
    let many: String =
        (0..5000).map(|number| format!("line {number} {}\n", "x".repeat(number % 300))).collect();
    let mut open_end = many.clone().into_bytes();
    open_end.pop();
    [
        &b""[..],
        b"\n",
        b"a",
        b"a\n",
        b"a\r\n\n\nb",
        b"\xff\xfe\nlatin\n",
        "é\n€\n".as_bytes(),
        many.as_bytes(),
        &open_end,
    ]
    .map(<[u8]>::to_vec)
    .to_vec()
}

#[test]
fn options_are_accepted_between_source_and_target() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("t.txt"), "one\ntwo\n").unwrap();
    run(at, &["pack", "t.txt", "--items", "lines", "t.blp"]).expect(0);
    assert_eq!(bytes_of(at, &["extract", "--items", "t.blp"]), b"one\ntwo\n");
    run(at, &["pack", "t.txt", "-f", "u.blp", "--dtype", "|u1"]).expect(0);
    let alone = run(at, &["pack", "t.txt"]);
    alone.expect(2);
    assert!(alone.err.contains("source or target is missing"), "{alone:#?}");
    let missing = run(at, &["append", "--items", "files", "t.blp", "missing"]);
    missing.expect(2);
    assert!(missing.err.contains("missing"), "{missing:#?}");
}

#[test]
fn a_text_comes_back_byte_for_byte() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    for text in texts() {
        std::fs::write(at.join("t.txt"), &text).unwrap();
        run(at, &["pack", "--items", "lines", "t.txt", "t.blp", "--verify", "-f"]).expect(0);
        assert_eq!(bytes_of(at, &["extract", "--items", "t.blp"]), text);
        // Through pipes, both ways.
        let (packed, container) =
            run_with(at, &["pack", "--items", "lines", "-", "-", "--to", "bloscpack"], &text);
        assert_eq!((packed.code, packed.err.as_str()), (Some(0), ""));
        assert_eq!(container, std::fs::read(at.join("t.blp")).unwrap());
        let (extracted, out) = run_with(at, &["extract", "--items", "-"], &container);
        assert_eq!((extracted.code, out), (Some(0), text));
        assert!(run(at, &["verify", "t.blp"]).expect(0).contains("\tsound\t"));
    }
}

#[test]
fn an_item_is_a_line_without_its_line_feed() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    std::fs::write(at.join("t.txt"), "one\r\n\nthree, é\x1b[2J").unwrap();
    run(at, &["pack", "--items", "lines", "t.txt", "t.blp"]).expect(0);
    // Version 4, offsets and metadata and variable length, adler32, typesize 1, sizes unknown, 3 items.
    let file = std::fs::read(at.join("t.blp")).unwrap();
    assert_eq!(file[..24], *b"blpk\x04\x07\x01\x01\xff\xff\xff\xff\xff\xff\xff\xff\x03\0\0\0\0\0\0\0");
    let meta = run(at, &["meta", "--json", "t.blp"]);
    let meta: serde_json::Value = serde_json::from_str(meta.expect(0)).unwrap();
    assert_eq!((&meta["dtype"], &meta["shape"]), (&"varchar".into(), &serde_json::json!([3])));
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/0"]), b"one\r");
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/1"]), b"");
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/2"]), "three, é\x1b[2J".as_bytes());
    assert_eq!(bytes_of(at, &["cat", "t.blp::items/0[0:2]"]), b"on");
    assert_eq!(bytes_of(at, &["cat", "--format", "raw", "t.blp::items/0"]), b"one\r");
    assert_eq!(
        bytes_of(at, &["cat", "--format", "text", "t.blp::items/2"]),
        "three, é\\u{1b}[2J\n".as_bytes()
    );
    assert_eq!(bytes_of(at, &["cat", "--format", "json", "t.blp::items/0"]), b"[111,110,101,13]\n");
    assert_eq!(bytes_of(at, &["extract", "--items", "t.blp::items/0"]), b"one\r\n");
    for address in ["t.blp", "t.blp::items/3", "t.blp::items/03", "t.blp::data"] {
        run(at, &["cat", address]).expect(2);
    }
    run(at, &["cat", "t.blp::items/0", "-o", "item"]).expect(0);
    assert_eq!(std::fs::read(at.join("item")).unwrap(), b"one\r");
    let listed = run(at, &["ls", "t.blp"]);
    assert!(listed.expect(0).starts_with("items/0\t|u1\t(4,)\tC\t"), "{listed:#?}");
}

pub fn with_files() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::create_dir(directory.path().join("sub")).unwrap();
    let zeros = vec![0; 100_000];
    for (name, bytes) in
        [("a.bin", &b"\x00\xff\n"[..]), ("sub/b.txt", b"text"), ("empty", b""), ("zeros", &zeros)]
    {
        std::fs::write(directory.path().join(name), bytes).unwrap();
    }
    directory
}

const FILES: [&str; 4] = ["a.bin", "sub/b.txt", "empty", "zeros"];

#[test]
fn files_come_back_under_their_names() {
    let directory = with_files();
    let at = directory.path();
    let pack =
        [&["pack", "--items", "files"], &FILES[..], &["all.blp", "--codec", "zstd:3", "--verify"]].concat();
    run(at, &pack).expect(0);
    assert!(std::fs::metadata(at.join("all.blp")).unwrap().len() < 2000);
    let extracted = run(at, &["extract", "--items", "all.blp", "-o", "out/new"]);
    assert!(extracted.expect(0).starts_with("items/0\tout/new/a.bin\t3\n"), "{extracted:#?}");
    assert_eq!(extracted.err, "");
    for name in FILES {
        assert_eq!(
            std::fs::read(at.join("out/new").join(name)).unwrap(),
            std::fs::read(at.join(name)).unwrap()
        );
    }
    assert_eq!(bytes_of(at, &["cat", "all.blp::items/0"]), b"\x00\xff\n");
    // These items are not lines.
    run(at, &["extract", "--items", "all.blp"]).expect(2);
    run(at, &["extract", "all.blp", "-o", "out"]).expect(2);
    // One of them, and over what is there only when asked.
    run(at, &["extract", "--items", "all.blp::items/1", "-o", "one"]).expect(0);
    assert_eq!(contents(&at.join("one/sub")), [("b.txt".to_owned(), b"text".to_vec())]);
    std::fs::write(at.join("one/sub/b.txt"), b"precious").unwrap();
    let refused = run(at, &["extract", "--items", "all.blp", "-o", "one"]);
    refused.expect(2);
    assert!(refused.err.contains("exists") && refused.err.contains("-f"), "{refused:#?}");
    assert_eq!(contents(&at.join("one")).len(), 1);
    assert_eq!(contents(&at.join("one/sub")), [("b.txt".to_owned(), b"precious".to_vec())]);
    run(at, &["extract", "--items", "all.blp", "-o", "one", "-f"]).expect(0);
    assert_eq!(contents(&at.join("one/sub")), [("b.txt".to_owned(), b"text".to_vec())]);
}

#[test]
fn item_names_stay_inside_the_output_directory() {
    let directory = with_files();
    let at = directory.path();
    let inner = at.join("sub");
    let absolute = at.join("zeros");
    let args = ["pack", "--items", "files", "../a.bin", "b.txt", absolute.to_str().unwrap(), "all.blp"];
    run(&inner, &args).expect(0);
    run(&inner, &["extract", "--items", "all.blp", "-o", "out"]).expect(0);
    let names: Vec<String> = contents(&inner.join("out")).into_iter().map(|(name, _)| name).collect();
    assert!(names.contains(&"a.bin".to_owned()) && names.contains(&"b.txt".to_owned()), "{names:?}");
    assert!(inner.join("out").join(absolute.strip_prefix("/").unwrap()).exists());
}

#[test]
fn a_damaged_item_leaves_no_file() {
    let directory = with_files();
    let at = directory.path();
    run(at, &[&["pack", "--items", "files"], &FILES[..], &["all.blp"]].concat()).expect(0);
    let mut bytes = std::fs::read(at.join("all.blp")).unwrap();
    let last = bytes.len() - 6;
    bytes[last] ^= 1;
    std::fs::write(at.join("all.blp"), bytes).unwrap();
    let before = contents(at);
    let failed = run(at, &["extract", "--items", "all.blp", "-o", "."]);
    failed.expect(2);
    assert_eq!(contents(at), before, "{failed:#?}");
    run(at, &["cat", "all.blp::items/0"]).expect(0);
    run(at, &["cat", "all.blp::items/3"]).expect(2);
    run(at, &["verify", "all.blp"]).expect(1);
}

#[test]
fn failed_pack_leaves_the_directory_unchanged() {
    let directory = with_files();
    let at = directory.path();
    std::fs::write(at.join("there.blp"), b"precious").unwrap();
    let before = contents(at);
    for (args, word) in [
        (&["pack", "--items", "lines", "missing", "new.blp"][..], "missing"),
        (&["pack", "--items", "files", "a.bin", "missing", "new.blp"], "missing"),
        (&["pack", "--items", "files", "a.bin", "sub", "new.blp"], "directory"),
        (&["pack", "--items", "files", "a.bin", "./a.bin", "new.blp"], "a.bin"),
        (&["pack", "--items", "files", "-", "new.blp"], "standard input"),
        (&["pack", "--items", "files", "a.bin", "./a.bin", "--to", "bloscpack"], "source itself"),
        (&["pack", "--items", "lines", "a.bin", "zeros", "new.blp"], "one source"),
        (&["pack", "--items", "lines", "a.bin", "there.blp"], "exists"),
        (&["pack", "--items", "lines", "a.bin", "new.npy"], "Bloscpack"),
        (&["pack", "--items", "lines", "a.bin", "new.ra"], "Bloscpack"),
        (&["pack", "--items", "lines", "a.bin", "new.blp", "--codec", "bzp2"], "blosclz, lz4"),
        (&["pack", "--items", "lines", "a.bin", "new.blp", "--filter", "delta"], "bitshuffle"),
        (&["pack", "--items", "lines", "a.bin", "new.blp", "--checksum", "md4"], "sha512"),
        (&["pack", "--items", "lines", "a.bin", "no/such/new.blp"], "No such file"),
        (&["pack", "a.bin", "new.blp"], "--items lines"),
        (&["pack", "--items", "words", "a.bin", "new.blp"], "lines"),
        (&["extract", "--items", "a.bin", "-o", "out"], "known format"),
    ] {
        let refused = run(at, args);
        refused.expect(2);
        assert!(refused.err.contains(word), "{args:?} {refused:#?}");
        assert_eq!(contents(at), before, "{args:?}");
    }
}

#[test]
fn machine_output_has_its_keys() {
    let directory = with_files();
    let at = directory.path();
    let line = |args: &[&str]| -> serde_json::Value {
        let run = run(at, args);
        serde_json::from_str(run.expect(0).lines().next().unwrap()).unwrap()
    };
    assert_eq!(
        line(&["pack", "--json", "--items", "files", "a.bin", "sub/b.txt", "new.blp"]),
        serde_json::json!({
            "schema": "holdall.pack/1", "sources": ["a.bin", "sub/b.txt"], "target": "new.blp",
            "format": "bloscpack", "items": 2, "kind": "bytes",
        })
    );
    assert_eq!(
        line(&["extract", "--json", "--items", "new.blp", "-o", "out"]),
        serde_json::json!({
            "schema": "holdall.extract/1", "source": "new.blp", "dataset": "items/0", "target": "out/a.bin",
            "bytes": 3, "refused_name": null,
        })
    );
}

/// Elements as RawArray files hold them, which `pack` makes of raw bytes.
#[test]
fn arrays_are_items_of_their_type() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let bytes = |values: &[f64]| values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>();
    std::fs::write(at.join("a.bin"), bytes(&[1.0, 2.5, 3.0])).unwrap();
    std::fs::write(at.join("b.bin"), bytes(&[9.0])).unwrap();
    run(at, &["pack", "--dtype", "<f8", "b.bin", "b.ra"]).expect(0);
    for (target, item) in [("n.blp", "items"), ("n.b2frame", "chunks")] {
        run(at, &["pack", "--items", "arrays", "--dtype", "<f8", "a.bin", "b.ra", target, "--verify"])
            .expect(0);
        let listed = run(at, &["ls", target]);
        let lines: Vec<&str> = listed.expect(0).lines().collect();
        assert!(lines[0].starts_with(&format!("{item}/0\t<f8\t(3,)")), "{lines:?}");
        assert!(lines[1].starts_with(&format!("{item}/1\t<f8\t(1,)")), "{lines:?}");
        let first = format!("{target}::{item}/0");
        assert_eq!(run(at, &["cat", &first]).expect(0), "1.0\n2.5\n3.0\n");
        assert!(run(at, &["stat", "--json", &first]).expect(0).contains("\"min\":1.0,\"max\":3.0,"));
        // Added data get that type too, in its byte order; bytes are taken for it where they are whole elements.
        run(at, &["pack", "--dtype", ">f8", "b.bin", "big.ra", "-f"]).expect(0);
        run(at, &["append", target, "b.ra"]).expect(0);
        run(at, &["append", target, "big.ra"]).expect(0);
        run(at, &["append", "--items", "files", target, "b.bin"]).expect(0);
        let last = run(at, &["cat", &format!("{target}::{item}/3")]);
        let swapped = f64::from_bits(9.0_f64.to_bits().swap_bytes());
        assert_eq!(last.expect(0).trim().parse::<f64>().unwrap().to_bits(), swapped.to_bits());
        assert_eq!(run(at, &["cat", &format!("{target}::{item}/4")]).expect(0), "9.0\n");
        std::fs::write(at.join("text"), "eight by").unwrap();
        std::fs::write(at.join("short"), "four").unwrap();
        run(at, &["append", "--items", "lines", target, "text"]).expect(2);
        run(at, &["append", "--items", "files", target, "short"]).expect(2);
        run(at, &["verify", target]).expect(0);
        // An item comes out as an array, or as its bytes.
        run(at, &["extract", &first, "-o", target.trim_start_matches("n.")]).expect(0);
        run(at, &["extract", "--items", &first, "-o", target.trim_start_matches("n.")]).expect(0);
        let out = at.join(target.trim_start_matches("n."));
        assert_eq!(std::fs::read(out.join("a")).unwrap(), bytes(&[1.0, 2.5, 3.0]));
        assert!(out.join(item).join("0.npy").exists());
    }
    // The same array has the same digest wherever it is.
    let digest = |of: &str| run(at, &["digest", of]).expect(0)[..64].to_owned();
    assert_eq!(digest("n.blp::items/1"), digest("b.ra"));
    assert_eq!(digest("n.b2frame::chunks/1"), digest("b.ra"));
    run(at, &["convert", "n.blp::items/0", "a.npy"]).expect(0);
    assert_eq!(digest("a.npy"), digest("n.blp::items/0"));
    for args in [
        &["pack", "--items", "lines", "--dtype", "<f8", "text", "x.blp"][..],
        &["pack", "--items", "arrays", "a.bin", "x.blp"],
        &["pack", "--items", "arrays", "--dtype", "<f4", "b.ra", "x.blp"],
    ] {
        run(at, args).expect(2);
        assert!(!at.join("x.blp").exists());
    }
}
