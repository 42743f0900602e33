//! Files of which some datasets cannot be read: the others can.

use std::path::Path;

use crate::support::{contents, run};

/// An ASDF file of three arrays of 16-bit integers, `bad` with a digest that is not that of its block.
fn write_one_bad(file: &Path) {
    let mut bytes =
        b"#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n".to_vec();
    for (source, name) in ["first", "deep/bad", "last"].iter().enumerate() {
        let array = format!(
            "!<tag:stsci.edu:asdf/core/ndarray-1.0.0> {{source: {source}, datatype: int16, byteorder: little, shape: [3]}}"
        );
        bytes.extend(match name.split_once('/') {
            Some((above, name)) => format!("{above}: {{{name}: {array}}}\n").into_bytes(),
            None => format!("{name}: {array}\n").into_bytes(),
        });
    }
    bytes.extend(b"...\n");
    for block in 0..3_u8 {
        bytes.extend(b"\xd3BLK\x00\x30");
        bytes.extend([0; 8]);
        bytes.extend([6_u64, 6, 6].iter().flat_map(|len| len.to_be_bytes()));
        // None, but for the second block.
        bytes.extend([if block == 1 { 1 } else { 0 }; 16]);
        bytes.extend([block * 10 + 1, 0, block * 10 + 2, 0, block * 10 + 3, 0]);
    }
    std::fs::write(file, bytes).unwrap();
}

#[test]
fn stat_measures_the_arrays_that_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_one_bad(&at.join("a.asdf"));
    for args in [&["stat", "a.asdf"][..], &["stat", "a.asdf", "a.asdf::last"]] {
        let told = run(at, args);
        let rows: Vec<&str> = told.expect(2).lines().map(|row| row.split('\t').next().unwrap()).collect();
        assert_eq!(rows[..2], ["a.asdf::first", "a.asdf::last"], "{told:#?}");
        assert!(told.err.contains("a.asdf: deep/bad: md5: checksum differs"), "{told:#?}");
        assert_eq!(rows.len(), args.len(), "{told:#?}");
    }
    let json = run(at, &["stat", "--json", "a.asdf"]);
    assert_eq!(json.expect(2).lines().count(), 2);
    run(at, &["stat", "a.asdf::last"]).expect(0);
}

#[test]
fn extract_writes_all_or_what_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_one_bad(&at.join("a.asdf"));
    let before = contents(at);
    for target in ["out", "out/of/here", "."] {
        let failed = run(at, &["extract", "a.asdf", "-o", target]);
        failed.expect(2);
        assert!(failed.err.contains("a.asdf: deep/bad: md5: checksum differs"), "{failed:#?}");
        assert_eq!(contents(at), before, "{target}");
    }
    let some = run(at, &["extract", "--keep-going", "a.asdf", "-o", "out", "--json"]);
    assert_eq!(some.expect(2).lines().count(), 2);
    assert!(some.err.contains("a.asdf: deep/bad: md5: checksum differs"), "{some:#?}");
    let names = |folder: &str| -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(at.join(folder))
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    assert_eq!(names("out"), ["first.npy", "last.npy"]);
    let last = std::fs::read(at.join("out/last.npy")).unwrap();
    assert!(last.ends_with(&[21, 0, 22, 0, 23, 0]));
    run(at, &["extract", "--no-verify", "a.asdf", "-o", "all"]).expect(0);
    assert_eq!(names("all/deep"), ["bad.npy"]);
    // Without a readable dataset no folder is made.
    run(at, &["extract", "-k", "a.asdf::deep/bad", "-o", "none"]).expect(2);
    assert!(!at.join("none").exists());
}

#[test]
fn diff_compares_the_arrays_that_can_be_read() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_one_bad(&at.join("a.asdf"));
    let mut bytes = std::fs::read(at.join("a.asdf")).unwrap();
    *bytes.last_mut().unwrap() = 1;
    std::fs::write(at.join("b.asdf"), bytes).unwrap();
    let told = run(at, &["diff", "a.asdf", "b.asdf"]);
    assert!(told.expect(2).starts_with("last\t"), "{told:#?}");
    assert!(told.err.contains("deep/bad: md5: checksum differs"), "{told:#?}");
    let json = run(at, &["diff", "--json", "a.asdf", "a.asdf"]);
    let json: serde_json::Value = serde_json::from_str(json.expect(2)).unwrap();
    assert_eq!((&json["same"], &json["unreadable"][0]["dataset"]), (&false.into(), &"deep/bad".into()));
}

#[test]
fn a_folder_is_not_left_by_what_fails() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    write_one_bad(&at.join("a.asdf"));
    let before = contents(at);
    for args in [
        &["explode", "a.asdf", "-o", "new/folder"][..],
        &["convert", "a.asdf", "new.zarr"],
        &["convert", "a.asdf", "new.b2d"],
        &["convert", "a.asdf::deep/bad", "new.npy"],
        &["man", "-o", "a.asdf/x"],
    ] {
        run(at, args).expect(2);
        assert_eq!(contents(at), before, "{args:?}");
    }
}
