//! ASDF files: arrays that go there and come back, trees that change and stay, files in several files.

use std::path::Path;

use serde_json::{Value, json};

use crate::support::{contents, files, floats, holdall, npy, run, testdata};

/// The header, a tree whose comments and spelling are no writer's, and a block of the bytes 1, 2, 3 with the MD5 that md5sum gives.
pub fn by_hand() -> Vec<u8> {
    let mut file = TREE.as_bytes().to_vec();
    file.extend_from_slice(&block(&[1, 2, 3], MD5_OF_123));
    file
}

pub const TREE: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n# by hand\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
    meta: {exposure: 30.50, name: 'x'}   # seconds\nflags: [yes, 0x10, 1:30]\nimage: !core/ndarray-1.1.0\n  source: 0\n  datatype: uint8\n  \
    byteorder: big\n  shape: [3]\n...\n";

pub const MD5_OF_123: [u8; 16] =
    [0x52, 0x89, 0xdf, 0x73, 0x7d, 0xf5, 0x73, 0x26, 0xfc, 0xdd, 0x22, 0x59, 0x7a, 0xfb, 0x1f, 0xac];

pub fn block(data: &[u8], md5: [u8; 16]) -> Vec<u8> {
    let mut block = b"\xd3BLK\x00\x30\0\0\0\0\0\0\0\0".to_vec();
    for _ in 0..3 {
        block.extend_from_slice(&(data.len() as u64).to_be_bytes());
    }
    block.extend_from_slice(&md5);
    block.extend_from_slice(data);
    block
}

fn write(path: &Path, bytes: &[u8]) {
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn arrays_of_every_type_and_order_go_there_and_back() {
    let directory = files();
    let at = directory.path();
    let data: Vec<u8> = (0..96).collect();
    for (descr, shape, len) in [
        ("|u1", "(6,)", 6),
        ("|i1", "(2, 3)", 6),
        (">u2", "(3, 2, 1)", 12),
        ("<i4", "(6,)", 24),
        ("<f2", "(2, 3)", 12),
        (">f8", "(2, 3)", 48),
        ("<c8", "(3,)", 24),
        (">c16", "(6,)", 96),
        ("|S5", "(2,)", 10),
        ("<u8", "()", 8),
        ("<f4", "(0, 3)", 0),
    ] {
        for fortran in [false, true] {
            let array = npy(descr, fortran && shape.matches(',').count() > 1, shape, &data[..len]);
            write(&at.join("a.npy"), &array);
            run(at, &["convert", "a.npy", "a.asdf", "-f", "--verify"]).expect(0);
            run(at, &["convert", "a.asdf", "b.npy", "-f", "--verify"]).expect(0);
            let back = std::fs::read(at.join("b.npy")).unwrap();
            assert!(
                back == array || shape.contains("(0") || shape.ends_with("1)"),
                "{descr} {shape} {fortran}"
            );
            assert!(run(at, &["verify", "--schema", "a.asdf"]).expect(0).starts_with("a.asdf\tsound\t"));
            assert!(run(at, &["ls", "a.asdf"]).expect(0).starts_with("data\t"));
        }
    }
    write(&at.join("a.npy"), &npy("|b1", false, "(3,)", &[1, 0, 1]));
    run(at, &["convert", "a.npy", "a.asdf", "-f", "--verify"]).expect(0);
    assert_eq!(run(at, &["cat", "a.asdf::data"]).expect(0), "True\nFalse\nTrue\n");
}

#[test]
fn requested_codecs_and_checksums_are_used() {
    let directory = files();
    let at = directory.path();
    let data: Vec<u8> = (0..6000_u32).flat_map(|at| (at / 100).to_le_bytes()).collect();
    write(&at.join("a.npy"), &npy("<u4", false, "(6000,)", &data));
    for (codec, word) in [
        ("none", "none"),
        ("zlib:9", "zlib"),
        ("bzp2", "bzp2"),
        ("lz4", "lz4"),
        ("zstd:3", "zstd"),
        ("blosc", "blosc"),
    ] {
        run(at, &["convert", "a.npy", "a.asdf", "-f", "--verify", "--codec", codec]).expect(0);
        let line = run(at, &["ls", "a.asdf"]).expect(0).to_owned();
        assert_eq!(line.split('\t').nth(5), Some(word), "{line}");
        let stored: u64 = line.split('\t').nth(6).unwrap().trim().parse().unwrap();
        assert!(word == "none" || stored < 24000, "{line}");
        assert!(run(at, &["verify", "a.asdf"]).expect(0).contains("1 of 1 blocks checked"), "{codec}");
        let layout = run(at, &["layout", "a.asdf"]).expect(0).to_owned();
        assert!(layout.contains("\tmd5\tdata"), "{layout}");
    }
    run(at, &["convert", "a.npy", "a.asdf", "-f", "--checksum", "none"]).expect(0);
    assert!(!run(at, &["layout", "a.asdf"]).expect(0).contains("md5"));
    let before = contents(at);
    for words in
        [["--codec", "snappy"], ["--codec", "none:3"], ["--checksum", "crc32"], ["--filter", "shuffle"]]
    {
        let run = run(at, &[&["convert", "a.npy", "new.asdf"][..], &words].concat());
        run.expect(2);
        let expected = ["it has", "no levels", "unknown checksum"];
        assert!(expected.iter().any(|text| run.err.contains(text)), "{run:#?}");
    }
    assert_eq!(contents(at), before);
}

#[test]
fn types_missing_in_asdf_need_as_bytes() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.npy"), &npy("<M8[s]", false, "(2,)", &[1; 16]));
    assert!(run(at, &["convert", "a.npy", "a.asdf"]).err.contains("--as-bytes"));
    let run_ = run(at, &["convert", "a.npy", "a.asdf", "--as-bytes", "--verify"]);
    run_.expect(0);
    assert!(run_.err.contains("kept as 8 bytes an element, little-endian"), "{run_:#?}");
    assert!(run(at, &["ls", "a.asdf"]).expect(0).starts_with("data\t|u1\t(2, 8)\t"));
    for (descr, size) in [(">M8[ns]", 8), (">m8[25s]", 8)] {
        let data: Vec<u8> = (0..2 * size).collect();
        write(&at.join("big.npy"), &npy(descr, false, "(2,)", &data));
        for target in ["big.asdf", "big.gsd"] {
            run(at, &["convert", "big.npy", target, "--as-bytes", "--verify", "-f"]).expect(0);
            let values = run(at, &["cat", target]);
            assert_eq!(values.expect(0), "7 6 5 4 3 2 1 0\n15 14 13 12 11 10 9 8\n", "{descr} {target}");
        }
    }
    // Without effect for formats that have all the types.
    for target in ["big.ra", "big.blp", "big.b2nd", "copy.npy"] {
        run(at, &["convert", "big.npy", target, "--as-bytes", "--verify"]).expect(0);
    }
}

#[test]
fn an_array_under_an_empty_key_is_named_by_a_slash() {
    let directory = files();
    let at = directory.path();
    let text = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        '': !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: little, shape: [3]}\n...\n";
    let head = [b"\xd3BLK\x00\x30", &[0; 8][..]].concat();
    let sizes: Vec<u8> = (0..3).flat_map(|_| 3_u64.to_be_bytes()).collect();
    let bytes = [text.as_bytes(), &head, &sizes, &[0; 16], &[4, 5, 6]].concat();
    write(&at.join("e.asdf"), &bytes);
    assert!(run(at, &["ls", "e.asdf"]).expect(0).starts_with("/\t|u1\t(3,)\t"));
    assert!(run(at, &["ls", "--json", "e.asdf"]).expect(0).contains("\"path\":\"/\""));
    assert_eq!(run(at, &["cat", "e.asdf::/"]).expect(0), "4\n5\n6\n");
    let inline = run(at, &["meta", "--inline", "e.asdf"]);
    assert!(inline.expect(0).contains("'': !core/ndarray-1.1.0"), "{inline:#?}");
    write(&at.join("inline.asdf"), inline.out.as_bytes());
    assert!(run(at, &["diff", "e.asdf", "inline.asdf"]).expect(0).is_empty());
    assert_eq!(run(at, &["meta", "--replace", "--set", "/=7", "inline.asdf"]).expect(0), "");
    assert_eq!(run(at, &["meta", "inline.asdf", "/"]).expect(0).trim(), "7");
}

#[test]
fn set_changes_only_the_given_pointers() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    run(
        at,
        &[
            "meta",
            "a.asdf",
            "--set",
            "/meta/exposure=31.5",
            "--set",
            "/flags/-='no'",
            "--unset",
            "/meta/name",
        ],
    )
    .expect(0);
    let file = std::fs::read(at.join("a.asdf")).unwrap();
    let text = String::from_utf8_lossy(&file);
    assert!(text.starts_with("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n# by hand\n"), "{text}");
    assert!(text.contains("meta: {exposure: 31.5}   # seconds\n"), "{text}");
    assert!(text.contains("flags: [yes, 0x10, 1:30, 'no']\n"), "{text}");
    assert_eq!(run(at, &["meta", "--json", "a.asdf", "/flags"]).expect(0), "[true,16,90,\"no\"]\n");
    assert_eq!(run(at, &["cat", "a.asdf::image"]).expect(0), "1\n2\n3\n");
    assert!(run(at, &["verify", "a.asdf"]).expect(0).starts_with("a.asdf\tsound\t"));
    // All or nothing.
    for bad in ["/nowhere/x=1", "/meta/exposure=[1", "meta=1", "/meta", "/x~2y=1"] {
        let run = run(at, &["meta", "a.asdf", "--set", "/meta/exposure=99.5", "--set", bad]);
        assert_eq!(run.code, Some(2), "{bad} {run:#?}");
        assert_eq!(std::fs::read(at.join("a.asdf")).unwrap(), file, "{bad}");
    }
    for absent in ["/nothere", "/nothere/x", "/meta/nothere", "/flags/-"] {
        let unset = run(at, &["meta", "a.asdf", "--set", "/meta/exposure=99.5", "--unset", absent]);
        assert_eq!(unset.code, Some(2), "{absent} {unset:#?}");
        let step = absent.trim_end_matches("/x");
        assert_eq!(unset.err, format!("holdall: a.asdf: the tree has no {step:?}\n"));
        assert_eq!(std::fs::read(at.join("a.asdf")).unwrap(), file, "{absent}");
    }
    let first = run(at, &["meta", "a.asdf", "--set", "/nothere/x=1"]);
    assert!(
        first.err.ends_with("the tree has no \"/nothere\"\n  try: set it first, in the root\n"),
        "{first:#?}"
    );
    let typed = run(at, &["meta", "a.asdf", "--set", "/meta/exposure=[1"]);
    assert!(typed.err.contains("the value for /meta/exposure: invalid YAML: "), "{typed:#?}");
    assert!(!typed.err.contains("holdall verify"), "{typed:#?}");
    let other = run(at, &["meta", "good.ra", "--set", "/a=1"]);
    assert_eq!(other.code, Some(2), "{other:#?}");
    assert_eq!(
        other.err,
        "holdall: good.ra: a RawArray file stores \"a\" only in its trailer\n  try: --set /trailer/a=…\n"
    );
}

#[test]
fn a_tree_is_shown_with_its_tags() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    assert_eq!(
        run(at, &["tree", "a.asdf"]).expect(0),
        "meta\tmap\t{2 entries}\nmeta/exposure\tfloat\t30.5\nmeta/name\ttext\tx\nflags\tlist\t[3 items]\nflags/0\tbool\ttrue\n\
         flags/1\tint\t16\nflags/2\tint\t90\nimage\tdataset\t!core/ndarray-1.1.0 |u1 (3,) C none\n"
    );
    assert_eq!(run(at, &["tree", "--type", "!core/ndarray-*", "a.asdf"]).expect(0).lines().count(), 1);
    assert_eq!(run(at, &["tree", "--depth", "1", "a.asdf"]).expect(0).lines().count(), 3);
    run(at, &["tree", "--grep", "nothing at all", "a.asdf"]).expect(1);
    assert!(run(at, &["meta", "a.asdf", "--yaml"]).expect(0).contains("'x'}   # seconds\n"));
    for (option, address) in
        [("--yaml", "a.asdf::[0]"), ("--inline", "a.asdf::image"), ("--inline", "a.asdf::[0]")]
    {
        let run = run(at, &["meta", address, option]);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{run:#?}");
        assert!(run.err.ends_with(&format!("\n  try: holdall meta a.asdf {option}\n")), "{run:#?}");
    }
    let image = run(at, &["meta", "a.asdf::image", "--yaml"]);
    assert_eq!(image.expect(0), run(at, &["meta", "a.asdf", "/image", "--yaml"]).expect(0));
    assert_eq!(
        run(at, &["meta", "a.asdf", "/meta", "--yaml"]).expect(0),
        "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- {exposure: 30.5, name: 'x'}\n...\n"
    );
    run(at, &["meta", "a.asdf", "/none", "--yaml"]).expect(1);
    run(at, &["meta", "good.ra", "--yaml"]).expect(2);
}

#[test]
fn a_file_is_exploded_edited_and_imploded() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    let listed = run(at, &["explode", "a.asdf", "-o", "parts"]);
    assert_eq!(listed.expect(0), "parts/a_exploded0000.asdf\nparts/a_exploded.asdf\n");
    let tree = at.join("parts/a_exploded.asdf");
    let text = std::fs::read_to_string(&tree).unwrap();
    assert_eq!(text, TREE.replace("source: 0", "source: a_exploded0000.asdf"));
    assert_eq!(run(at, &["cat", "parts/a_exploded.asdf::image"]).expect(0), "1\n2\n3\n");
    // With a text editor.
    write(&tree, text.replace("30.50", "44.0").as_bytes());
    run(at, &["implode", "parts/a_exploded.asdf", "-o", "b.asdf"]).expect(0);
    run(at, &["meta", "a.asdf", "--set", "/meta/exposure=44.0"]).expect(0);
    // The change in place leaves a byte of padding; else the files are the same.
    let edited = TREE.replace("30.50", "44.0");
    assert!(std::fs::read(at.join("a.asdf")).unwrap().starts_with(edited.as_bytes()));
    let imploded = std::fs::read(at.join("b.asdf")).unwrap();
    assert!(imploded.starts_with(&[edited.as_bytes(), &block(&[1, 2, 3], MD5_OF_123)].concat()));
    assert_eq!(run(at, &["diff", "a.asdf", "b.asdf"]).expect(0), "");
    // Existing files are kept by default, and other formats lack this form.
    run(at, &["explode", "a.asdf", "-o", "parts"]).expect(2);
    run(at, &["explode", "a.asdf", "-o", "parts", "-f"]).expect(0);
    assert!(run(at, &["explode", "good.ra"]).err.contains("ASDF"));
    let no_folder = run(at, &["explode", "a.asdf", "-o", "good.ra"]);
    no_folder.expect(2);
    assert!(no_folder.err.contains("good.ra: making the directory: "), "{no_folder:#?}");
    std::fs::remove_file(at.join("parts/a_exploded0000.asdf")).unwrap();
    assert_eq!(run(at, &["implode", "parts/a_exploded.asdf"]).code, Some(2));
    let verified = run(at, &["verify", "parts/a_exploded.asdf"]);
    assert!(verified.expect(0).contains("\tnote\texternal\t"), "{verified:#?}");
}

/// A streamed block has flag 1, and no sizes and digest that mean anything (ASDF standard, file layout).
#[test]
fn an_exploded_stream_takes_rows() {
    let directory = files();
    let at = directory.path();
    let tree = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\nrows: !core/ndarray-1.1.0 {source: -1, datatype: float32, byteorder: little, shape: ['*', 3]}\n...\n";
    let header = [&b"\xd3BLK\x00\x30\x00\x00\x00\x01"[..], &[0; 44]].concat();
    let rows = floats(6);
    write(&at.join("a.asdf"), &[tree.as_bytes(), &header, &rows].concat());
    write(&at.join("row.npy"), &npy("<f4", false, "(1, 3)", &floats(3)));
    run(at, &["explode", "a.asdf", "-o", "parts"]).expect(0);
    let part = at.join("parts/a_exploded0000.asdf");
    let bytes = std::fs::read(&part).unwrap();
    assert!(bytes.ends_with(&[&header[..], &rows].concat()), "still streamed, and no index");
    // The tree defines a row, so the file of the block alone cannot be appended to.
    let alone = run(at, &["append", "parts/a_exploded0000.asdf", "row.npy"]);
    alone.expect(2);
    assert!(alone.err.contains("the file with the tree"), "{alone:#?}");
    assert_eq!(std::fs::read(&part).unwrap(), bytes);
    run(at, &["append", "parts/a_exploded.asdf", "row.npy"]).expect(0);
    assert_eq!(std::fs::read(&part).unwrap(), [&bytes[..], &floats(3)].concat());
    let shown = run(at, &["cat", "parts/a_exploded.asdf::rows[-1]", "--format", "json"]);
    assert_eq!(shown.expect(0).trim(), "[0.0,1.0,2.0]");
    run(at, &["verify", "parts/a_exploded.asdf"]).expect(0);
    run(at, &["implode", "parts/a_exploded.asdf", "-o", "b.asdf"]).expect(0);
    let whole = std::fs::read(at.join("b.asdf")).unwrap();
    assert!(whole.ends_with(&[&header[..], &rows, &floats(3)].concat()));
    // Rows of another length are refused.
    write(&at.join("wide.npy"), &npy("<f4", false, "(1, 4)", &floats(4)));
    run(at, &["append", "parts/a_exploded.asdf", "wide.npy"]).expect(2);
    assert_eq!(std::fs::read(&part).unwrap().len(), bytes.len() + 12);
}

#[test]
fn info_omits_empty_rows_and_shows_comments() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), b"#ASDF 1.0.0\n# made by hand\n# in October\n%YAML 1.1\n--- {a: 1}\n...\n");
    let shown = run(at, &["info", "a.asdf"]);
    assert!(!shown.expect(0).contains("null"), "{shown:#?}");
    assert!(shown.out.contains("\nstandard taken\t1.0.0\n"), "{shown:#?}");
    assert!(shown.out.contains("made by hand") && shown.out.contains("in October"), "{shown:#?}");
    let line: Value = serde_json::from_str(run(at, &["info", "--json", "a.asdf"]).expect(0)).unwrap();
    assert_eq!(line["details"]["standard"], Value::Null);
    assert_eq!(line["details"]["comments"], json!(["# made by hand", "# in October"]));
}

#[test]
fn no_verb_replaces_a_file_that_the_source_is_in() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["explode", "a.asdf", "-o", "parts"]).expect(0);
    let (tree, part) = ("parts/a_exploded.asdf", "parts/a_exploded0000.asdf");
    let before = std::fs::read(at.join(part)).unwrap();
    let image = format!("{tree}::image");
    for args in [
        &["implode", tree, "-o", part, "-f"][..],
        &["recode", tree, part, "-f", "--codec", "zlib"],
        &["convert", tree, part, "-f"],
        &["convert", &image, part, "-f"],
        &["repair", tree, "-o", part, "-f"],
        &["cat", &image, "-o", part, "-f"],
    ] {
        let refused = run(at, args);
        refused.expect(2);
        assert!(refused.err.contains("is a part of the source"), "{refused:#?}");
        assert_eq!(std::fs::read(at.join(part)).unwrap(), before, "{args:?}");
    }
    // Exploded again it has its blocks next to it wherever it is.
    run(at, &["explode", tree, "-o", "others"]).expect(0);
    assert_eq!(run(at, &["cat", "others/a_exploded_exploded.asdf::image"]).expect(0), "1\n2\n3\n");
}

/// Verdict, blocks, and for each finding its code, its file and its dataset.
fn findings(at: &Path, file: &str, code: i32) -> (String, Value, Vec<[String; 3]>) {
    let line: Value = serde_json::from_str(run(at, &["verify", "--json", file]).expect(code)).unwrap();
    let word = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let found = line["findings"].as_array().unwrap().iter();
    let found = found.map(|it| [word(&it["code"]), word(&it["part"]), word(&it["dataset"])]).collect();
    (word(&line["verdict"]), line["blocks"].clone(), found)
}

#[test]
fn files_that_arrays_are_in_are_checked_with_the_tree() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["explode", "a.asdf", "-o", "parts"]).expect(0);
    let (tree, other) = ("parts/a_exploded.asdf", at.join("parts/a_exploded0000.asdf"));
    let counts = |checked: u64, bad: u64| json!({"total": 1, "checked": checked, "bad": bad});
    assert_eq!(findings(at, tree, 0), ("sound".to_owned(), counts(1, 0), vec![]));
    let listed: Value = serde_json::from_str(run(at, &["ls", "--json", tree]).expect(0)).unwrap();
    assert_eq!((&listed["stored"], &listed["codec"]), (&json!(3), &json!("none")));
    // Every byte of both files, each from its start.
    let mut ends: Vec<(Value, u64)> = Vec::new();
    for line in run(at, &["layout", "--json", tree]).expect(0).lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        if ends.last().is_none_or(|(part, _)| *part != line["part"]) {
            ends.push((line["part"].clone(), 0));
        }
        let (_, end) = ends.last_mut().unwrap();
        assert_eq!(line["start"], *end);
        *end = line["end"].as_u64().unwrap();
        let of_array = ["block header", "data"].contains(&line["role"].as_str().unwrap());
        assert_eq!(line["dataset"] == "image", of_array);
    }
    let len = |path: &Path| std::fs::metadata(path).unwrap().len();
    assert_eq!(ends, [(Value::Null, len(&at.join(tree))), (json!("a_exploded0000.asdf"), len(&other))]);
    assert_eq!(run(at, &["layout", &format!("{tree}::image")]).expect(0).lines().count(), 2);
    // Values and all go on into other files.
    for target in ["b.npy", "b.asdf", "b.b2nd", "b.ra"] {
        run(at, &["convert", tree, target, "--verify"]).expect(0);
        run(at, &["diff", "-q", target, "a.asdf::image"]).expect(0);
    }
    let whole = std::fs::read(&other).unwrap();
    let data = whole.windows(3).rposition(|bytes| bytes == [1, 2, 3]).unwrap();
    let name = "a_exploded0000.asdf";
    let of = |code: &str, part: &str| [code.to_owned(), part.to_owned(), "image".to_owned()];
    let mut bad = whole.clone();
    bad[data] = 9;
    write(&other, &bad);
    assert_eq!(findings(at, tree, 1), ("damaged".to_owned(), counts(1, 1), vec![of("checksum", name)]));
    assert!(run(at, &["verify", tree]).expect(1).contains("a_exploded0000.asdf: block 0: "));
    assert_eq!(run(at, &["convert", tree, "c.npy"]).code, Some(2));
    write(&other, &whole[..data + 2]);
    assert_eq!(findings(at, tree, 1), ("damaged".to_owned(), counts(0, 1), vec![of("truncated", name)]));
    for bytes in [&b""[..], b"hello", &whole[..4], b"#ASDF 2.0.0\n"] {
        write(&other, bytes);
        let none = json!({"total": 0, "checked": 0, "bad": 0});
        assert_eq!(findings(at, tree, 1), ("damaged".to_owned(), none, vec![of("external", name)]));
    }
    // A file without a block has no part of the array.
    write(&other, b"#ASDF 1.0.0\n%YAML 1.1\n--- {}\n...\n");
    assert_eq!(findings(at, tree, 1).2, [of("external", "-")]);
    std::fs::remove_file(&other).unwrap();
    assert_eq!(findings(at, tree, 0).2, [of("external", "-")]);
    assert!(run(at, &["verify", tree]).expect(0).contains(name));
}

#[test]
fn files_that_name_one_another_are_checked_once() {
    let directory = files();
    let at = directory.path();
    for (name, other) in [("a.asdf", "b.asdf"), ("b.asdf", "sub/c.asdf"), ("sub/c.asdf", "d.asdf")] {
        let tree = TREE.replace("source: 0", &format!("source: {other}"));
        std::fs::create_dir_all(at.join("sub")).unwrap();
        write(&at.join(name), &[tree.as_bytes(), &block(&[1, 2, 3], MD5_OF_123)].concat());
    }
    // A path from below cannot go up.
    let tree = TREE.replace("source: 0", "source: ../a.asdf");
    write(&at.join("sub/d.asdf"), &[tree.as_bytes(), &block(&[1, 2, 3], MD5_OF_123)].concat());
    let (verdict, blocks, found) = findings(at, "a.asdf", 0);
    assert_eq!((verdict.as_str(), &blocks["checked"]), ("sound", &json!(4)));
    // The first block of each is referred to by another file; other oddities of these files are reported when they are checked themselves.
    assert_eq!(found, [["no_index".to_owned(), "-".to_owned(), "-".to_owned()]]);
    let outside = run(at, &["verify", "sub/d.asdf"]);
    assert!(
        outside.expect(0).contains("\tnote\texternal\t") && outside.out.contains("../a.asdf"),
        "{outside:#?}"
    );
}

#[test]
fn repair_reports_invalid_nodes_and_keeps_the_tree() {
    let directory = files();
    let at = directory.path();
    for (change, what) in [
        ("shape: [3]", "shape: [4]"),
        ("shape: [3]", "shape: [-1]"),
        ("shape: [3]", "shape: [3]\n  mask: word"),
        ("flags: [yes", "flags: [!!int word"),
    ] {
        let text = TREE.replace(change, what);
        write(&at.join("a.asdf"), &[text.as_bytes(), &block(&[1, 2, 3], MD5_OF_123)].concat());
        run(at, &["verify", "a.asdf"]).expect(1);
        let line = run(at, &["repair", "--json", "a.asdf", "-o", "b.asdf", "-f"]).expect(1).to_owned();
        let line: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(line["lost"].as_array().unwrap().len(), 1, "{line}");
        let from = text.find(if what.starts_with("flags") { "!!int" } else { "!core/ndarray" }).unwrap();
        assert_eq!(line["lost"][0]["start"], json!(from), "{line}");
        // The tree stays, and so does the verdict.
        assert!(std::fs::read(at.join("b.asdf")).unwrap().starts_with(text.as_bytes()));
        run(at, &["verify", "b.asdf"]).expect(1);
    }
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["repair", "a.asdf", "-o", "b.asdf", "-f"]).expect(0);
}

#[test]
fn a_file_that_is_written_again_keeps_its_tree() {
    let directory = files();
    let at = directory.path();
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["recode", "a.asdf", "b.asdf", "--codec", "zlib", "--verify"]).expect(0);
    assert!(std::fs::read(at.join("b.asdf")).unwrap().starts_with(TREE.as_bytes()));
    assert_eq!(run(at, &["diff", "a.asdf", "b.asdf"]).expect(0), "");
    run(at, &["convert", "a.asdf", "c.asdf", "--checksum", "none"]).expect(0);
    assert!(!run(at, &["layout", "c.asdf"]).expect(0).contains("md5"));
    let lost = run(at, &["convert", "a.asdf", "d.npy"]);
    lost.expect(0);
    assert!(lost.err.contains("tree: meta, flags"), "{lost:#?}");
}

#[test]
fn a_digest_that_differs_stops_everything_but_an_explicit_wish() {
    let directory = files();
    let at = directory.path();
    let mut file = by_hand();
    let last = file.len() - 1;
    file[last] ^= 1;
    write(&at.join("bad.asdf"), &file);
    let verified = run(at, &["verify", "bad.asdf"]);
    let start = TREE.len();
    assert!(
        verified.expect(1).contains(&format!("\terror\tchecksum\t{start}..{}\timage\t", start + 57)),
        "{verified:#?}"
    );
    run(at, &["cat", "bad.asdf::image"]).expect(2);
    assert_eq!(run(at, &["cat", "--no-verify", "bad.asdf::image"]).expect(0), "1\n2\n2\n");
    for args in [
        &["convert", "bad.asdf", "new.npy"][..],
        &["convert", "bad.asdf", "new.asdf"],
        &["recode", "bad.asdf", "new.asdf"],
        &["explode", "bad.asdf", "-o", "new"],
    ] {
        run(at, args).expect(2);
    }
    assert!(!at.join("new.npy").exists() && !at.join("new.asdf").exists());
}

#[test]
fn rows_go_to_the_end_of_a_streamed_array() {
    let directory = files();
    let at = directory.path();
    let tree = TREE.replace("source: 0", "source: -1").replace("shape: [3]", "shape: ['*', 2]");
    let mut file = tree.into_bytes();
    file.extend_from_slice(b"\xd3BLK\x00\x30\0\0\0\x01\0\0\0\0");
    file.extend_from_slice(&[0; 40]);
    file.extend_from_slice(&[1, 2, 3]);
    write(&at.join("s.asdf"), &file);
    assert!(run(at, &["verify", "s.asdf"]).expect(0).contains("\twarning\ttorn_row\t"));
    write(&at.join("rows.npy"), &npy("|u1", false, "(2, 2)", &[5, 6, 7, 8]));
    run(at, &["append", "s.asdf", "rows.npy"]).expect(0);
    assert_eq!(run(at, &["cat", "s.asdf::image"]).expect(0), "1 2\n5 6\n7 8\n");
    let before = std::fs::read(at.join("s.asdf")).unwrap();
    write(&at.join("rows.npy"), &npy("|u1", false, "(1, 3)", &[5, 6, 7]));
    run(at, &["append", "s.asdf", "rows.npy"]).expect(2);
    write(&at.join("rows.npy"), &npy("<u2", false, "(1, 2)", &[5, 6, 7, 8]));
    run(at, &["append", "s.asdf", "rows.npy"]).expect(2);
    assert_eq!(std::fs::read(at.join("s.asdf")).unwrap(), before);
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["append", "a.asdf", "rows.npy"]).expect(2);
}

#[test]
fn schema_option_validates_the_tree() {
    let directory = files();
    let at = directory.path();
    let wrong = TREE.replace("datatype: uint8", "datatype: uint8\n  strides: [0]");
    let mut file = wrong.into_bytes();
    file.extend_from_slice(&block(&[1, 2, 3], MD5_OF_123));
    write(&at.join("wrong.asdf"), &file);
    write(&at.join("a.asdf"), &by_hand());
    run(at, &["verify", "wrong.asdf"]).expect(0);
    assert!(run(at, &["verify", "--schema", "wrong.asdf"]).expect(1).contains("\terror\tschema\t"));
    run(at, &["verify", "--schema", "a.asdf"]).expect(0);
    write(
        &at.join("own.yaml"),
        b"%YAML 1.1\n---\nid: http://example.org/own\ntype: object\nrequired: [operator]\n...\n",
    );
    let judged = run(at, &["verify", "--schema=own.yaml", "a.asdf"]);
    assert!(judged.expect(1).contains("operator"), "{judged:#?}");
    write(&at.join("own.yaml"), b"[1, 2]");
    run(at, &["verify", "--schema=own.yaml", "a.asdf"]).expect(2);
    let none = run(at, &["verify", "--schema", "good.ra"]);
    assert!(none.expect(0).contains("no_schema"), "{none:#?}");
}

/// `numpy.ma.MaskedArray.compressed()` of the array that Python asdf opens, without NaN.
#[test]
fn stat_leaves_out_what_a_mask_hides() {
    let ok = testdata().join("asdf/ok");
    for (file, more, want) in [
        ("mask_array.asdf", None, json!([12, 4, 1, -4.0, 3.25, -0.321_428_571_428_571_45])),
        ("mask_nan.asdf", None, json!([12, 1, 0, -5.0, 3.25, -0.863_636_363_636_363_6])),
        ("mask_same_inline.asdf", None, json!([12, 5, 1, -4.0, 2.5, -1.0])),
        ("inline_masked.asdf", None, json!([3, 1, 0, 1, 3, 2.0])),
        ("mask_array.asdf", Some("--stored"), json!([12, 0, 1, -5.0, 3.25, -0.863_636_363_636_363_6])),
    ] {
        let file = format!("{file}::a");
        let args: Vec<&str> = ["stat", "--json", &file].into_iter().chain(more).collect();
        let found: Value = serde_json::from_str(run(&ok, &args).expect(0)).unwrap();
        let told = ["count", "masked", "nan", "min", "max", "mean"].map(|key| found[key].clone());
        assert_eq!(Value::from(told.to_vec()), want, "{file}");
    }
    let row = run(&ok, &["stat", "mask_array.asdf::a"]);
    assert_eq!(row.expect(0).trim_end().rsplit('\t').next(), Some("4"), "{row:#?}");
}

/// A mask is a part of its array.
#[test]
fn mask_is_listed_as_child_of_its_array() {
    let file = testdata().join("asdf/ok/masks_written.asdf");
    let tree = |depth: &str| {
        let arguments = ["tree", "--type", "dataset", "--depth", depth, file.to_str().unwrap()];
        let told = run(Path::new("."), &arguments);
        told.expect(0).lines().map(|row| row.split('\t').next().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(tree("9"), ["a", "a/mask", "b", "b/mask"]);
    assert_eq!(tree("1"), ["a", "b"]);
}

/// The picture is that of the same values with NaN in the place of those that the mask hides; of integers, too, whose least value is hidden.
#[test]
fn plot_draws_what_a_mask_hides_as_nan() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    let raw = |address: &str| {
        let file = testdata().join("asdf/ok").join(address);
        let output = holdall(at).args(["cat", "--format", "raw"]).arg(file).output().unwrap();
        assert!(output.status.success());
        output.stdout
    };
    let (mut values, mask) = (raw("mask_array.asdf::a"), raw("mask_array.asdf::a/mask"));
    for (value, _) in values.chunks_exact_mut(8).zip(&mask).filter(|(_, masked)| **masked != 0) {
        value.copy_from_slice(&f64::NAN.to_le_bytes());
    }
    std::fs::write(at.join("nan.npy"), npy("<f8", false, "(4, 3)", &values)).unwrap();
    let long = 1_i64 << 60;
    let data: Vec<i64> = vec![long + 3, -999, long + 1, long + 7];
    let tree = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
        a: !core/ndarray-1.1.0\n  data: {data:?}\n  mask: -999\n  datatype: int64\n...\n"
    );
    std::fs::write(at.join("long.asdf"), tree).unwrap();
    let picture = |address: &str, more: &[&str]| {
        let args = [&["plot", address, "--title", "t", "-f", "-o", "picture.svg"][..], more].concat();
        let recipe = {
            let run = run(at, &args);
            run.expect(0);
            run.err
        };
        // But for the recipe, which names the file, and the name of the dataset.
        let svg = std::fs::read_to_string(at.join("picture.svg")).unwrap().replace(">data<", ">a<");
        let (head, rest) = svg.split_once("<desc>").unwrap();
        (format!("{head}{}", rest.split_once("</desc>").unwrap().1), recipe)
    };
    let masked = testdata().join("asdf/ok/mask_array.asdf::a");
    let masked = masked.to_str().unwrap();
    assert!(picture(masked, &[]).1.contains("5 of 12 points have no finite value, or are masked\n"));
    for more in [&[][..], &["--hist"], &["--range", "minmax"]] {
        let (want, _) = picture("nan.npy", more);
        assert!(picture(masked, more).0 == want, "{more:?}");
        assert!(picture(masked, &[more, &["--stored"]].concat()).0 != want, "{more:?}");
    }
    let (_, recipe) = picture("long.asdf::a", &["--hist"]);
    assert!(recipe.contains(&format!("--range={long}.5,{}.5", long + 7)), "{recipe}");
}

#[test]
fn blocks_that_no_array_names_are_datasets_of_bytes() {
    let directory = files();
    let at = directory.path();
    let unnamed = TREE.replace("source: 0", "source: 1");
    let blocks = [block(b"abc", [0; 16]), block(&[1, 2, 3], MD5_OF_123)].concat();
    write(&at.join("tree.asdf"), &[unnamed.as_bytes(), &blocks[..]].concat());
    write(&at.join("none.asdf"), &[b"#ASDF 1.0.0\n", &blocks[..]].concat());
    for name in ["tree.asdf", "none.asdf"] {
        let address = format!("{name}::blocks/0");
        assert_eq!(run(at, &["cat", &address]).expect(0), "97\n98\n99\n");
        assert_eq!(run(at, &["cat", &address, "--format", "raw"]).expect(0), "abc");
        assert!(run(at, &["ls", "-R", name]).expect(0).contains("blocks/0\t|u1\t(3,)\tC\t-\tnone\t3\t3\n"));
        run(at, &["extract", &address, "-o", "out", "-f"]).expect(0);
        let bytes = std::fs::read(at.join("out/blocks/0.npy")).unwrap();
        assert_eq!(bytes, npy("|u1", false, "(3,)", b"abc"));
        // From any format, the array is the same.
        let digest = run(at, &["digest", &address]).expect(0).split(' ').next().unwrap().to_owned();
        for target in ["a.npy", "a.ra", "a.b2nd", "a.blp", "a.gsd", "a.asdf", "a.zarr"] {
            run(at, &["convert", &address, target, "-f"]).expect(0);
            let of_target = if target.ends_with("zarr") { continue } else { run(at, &["digest", target]) };
            assert!(of_target.expect(0).starts_with(&digest), "{target}");
        }
        run(at, &["cat", &format!("{name}::blocks/2")]).expect(2);
    }
    assert!(!run(at, &["ls", "tree.asdf"]).expect(0).contains("blocks"));
    let listed = run(at, &["ls", "none.asdf"]);
    assert_eq!(listed.expect(0).lines().count(), 2);
    run(at, &["convert", "none.asdf", "new.asdf", "--verify"]).expect(0);
    let cat = |address: &str| run(at, &["cat", address, "--format", "raw"]).expect(0).to_owned();
    assert_eq!(
        (cat("new.asdf::blocks/0"), cat("new.asdf::~blocks/1")),
        ("abc".into(), "\x01\x02\x03".into())
    );
}

/// Records of a number, two truth values and, within a record, a character.
const RECORDS: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n\
    x: !core/ndarray-1.1.0\n  source: SOURCE\n  datatype:\n  - {name: n, datatype: uint8, byteorder: big}\n  \
    - {name: flags, datatype: bool8, byteorder: big, shape: [2]}\n  \
    - name: inner\n    datatype: [{name: t, datatype: [ucs4, 1], byteorder: big}]\n    byteorder: big\n  \
    byteorder: big\n  shape: [2]\n...\n";

#[test]
fn invalid_field_values_are_refused() {
    let directory = files();
    let at = directory.path();
    let sound = [7, 0, 1, 0, 0, 0, 65, 4, 1, 0, 0, 1, 0xf6, 0];
    let (mut flag, mut surrogate, mut beyond) = (sound, sound, sound);
    (flag[9], surrogate[12], beyond[4]) = (4, 0xd8, 0x11);
    surrogate[11] = 0;
    for (name, data, is_sound) in [
        ("sound", sound, true),
        ("flag", flag, false),
        ("surrogate", surrogate, false),
        ("beyond", beyond, false),
    ] {
        let code = i32::from(!is_sound);
        let refused = if is_sound { 0 } else { 2 };
        let (file, exploded) = (format!("{name}.asdf"), format!("{name}_main.asdf"));
        let block = block(&data, [0; 16]);
        write(&at.join(&file), &[RECORDS.replace("SOURCE", "0").as_bytes(), &block].concat());
        write(&at.join(&exploded), RECORDS.replace("SOURCE", &format!("{name}_part.asdf")).as_bytes());
        write(&at.join(format!("{name}_part.asdf")), &[b"#ASDF 1.0.0\n", &block[..]].concat());
        let new = at.join("new");
        std::fs::create_dir(&new).unwrap();
        for file in [&file, &exploded] {
            let told = run(at, &["verify", file]).expect(code).to_owned();
            let field = if name == "flag" { "flags" } else { "inner" };
            assert_eq!(told.contains(&format!("field \"{field}\": ")), !is_sound, "{told}");
            run(at, &["convert", file, "new/a.asdf"]).expect(refused);
            run(at, &["convert", &format!("{file}::x"), "new/b.asdf"]).expect(refused);
            run(at, &["recode", file, "new/c.asdf"]).expect(refused);
            run(at, &["recode", file, "new/d.asdf", "--codec", "zlib"]).expect(refused);
            run(at, &["explode", file, "-o", "new/parts"]).expect(refused);
            run(at, &["implode", file, "-o", "new/e.asdf"]).expect(refused);
            assert_eq!(contents(&new).is_empty(), !is_sound, "{file}");
            std::fs::remove_dir_all(&new).unwrap();
            std::fs::create_dir(&new).unwrap();
            // The bytes as they are, in formats that hold any.
            run(at, &["convert", file, "new/f.npy"]).expect(0);
            run(at, &["convert", "new/f.npy", "new/g.asdf"]).expect(refused);
            run(at, &["repair", file, "-o", "h.asdf", "-f"]).expect(code);
            std::fs::remove_dir_all(&new).unwrap();
            std::fs::create_dir(&new).unwrap();
        }
        std::fs::remove_dir(&new).unwrap();
    }
}
