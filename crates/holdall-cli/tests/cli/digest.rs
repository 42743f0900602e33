//! `digest`: the same for the same array in every format, and lists of them.

use std::fs;

use crate::support::{files, holdall, run};

/// Into every format and back: one digest.
#[test]
fn an_array_has_one_digest_in_every_format() {
    let directory = files();
    let place = directory.path();
    let first = run(place, &["digest", "good.ra"]).expect(0).to_owned();
    let (digest, address) = first.trim_end().split_once("  ").unwrap();
    assert_eq!(address, "good.ra::data");
    for target in ["b.npy", "b.blp", "b.b2nd", "b.asdf", "b.gsd", "c.ra"] {
        run(place, &["convert", "good.ra", target]).expect(0);
        let again = run(place, &["digest", target]);
        assert_eq!(again.expect(0), format!("{digest}  {target}::data\n"));
    }
    run(place, &["convert", "b.b2nd", "c.blp", "--codec", "zstd:9", "--filter", "bitshuffle"]).expect(0);
    let list = run(place, &["digest", "-j", "3", "good.ra", "b.asdf::data", "c.blp", "b.npy::[:1]"]);
    let list = list.expect(0);
    let lines: Vec<&str> = list.lines().collect();
    assert_eq!(
        lines[..3],
        ["good.ra::data", "b.asdf::data", "c.blp::data"].map(|name| format!("{digest}  {name}"))
    );
    assert!(!lines[3].starts_with(digest) && lines[3].ends_with("  b.npy::[:1]"));
}

#[test]
fn lists_are_checked_line_by_line_and_the_worst_counts() {
    let directory = files();
    let place = directory.path();
    run(place, &["convert", "good.ra", "b.npy"]).expect(0);
    let list = run(place, &["digest", "good.ra", "b.npy"]).expect(0).to_owned();
    fs::write(place.join("list"), &list).unwrap();
    let checked = run(place, &["digest", "--check", "list"]);
    assert_eq!(checked.expect(0), "good.ra::data: OK\nb.npy::data: OK\n");
    assert_eq!(run(place, &["digest", "--check", "--quiet", "list"]).expect(0), "");
    assert_eq!(run(place, &["digest", "--check", "--quiet", "--json", "list"]).expect(0), "");

    let other = list.replacen(&list[..1], if list.starts_with('0') { "1" } else { "0" }, 1);
    fs::write(place.join("other"), &other).unwrap();
    let checked = run(place, &["digest", "-c", "other"]);
    assert_eq!(checked.expect(1), "good.ra::data: FAILED\nb.npy::data: OK\n");
    assert!(checked.err.contains("1 of 2 arrays"), "{checked:#?}");
    let json = run(place, &["digest", "-c", "--json", "other"]);
    assert!(json.expect(1).lines().next().unwrap().contains(r#""status":"failed""#), "{json:#?}");

    fs::remove_file(place.join("b.npy")).unwrap();
    let checked = run(place, &["digest", "-c", "other"]);
    assert_eq!(checked.expect(2), "good.ra::data: FAILED\nb.npy::data: UNREADABLE\n");
    fs::write(place.join("nonsense"), "abc\n").unwrap();
    let nothing = run(place, &["digest", "-c", "nonsense"]);
    nothing.expect(2);
    assert!(nothing.err.contains("line 1") && nothing.err.contains("no digest in this list"), "{nothing:#?}");
}

#[test]
fn json_reports_the_hashed_dataset_and_algorithm() {
    let directory = files();
    let line = run(directory.path(), &["digest", "--json", "good.ra"]).expect(0).to_owned();
    for part in [
        r#""schema":"holdall.digest/1""#,
        r#""address":"good.ra::data""#,
        r#""dataset":"data""#,
        r#""algorithm":"sha256""#,
    ] {
        assert!(line.contains(part), "{line}");
    }
    run(directory.path(), &["digest", "missing.ra"]).expect(2);
    run(directory.path(), &["digest", "--quiet", "good.ra"]).expect(2);
}

#[test]
fn targets_for_other_programs_are_written_whole_or_not_at_all() {
    let directory = files();
    let place = directory.path();
    run(place, &["convert", "good.ra", "a.zarr"]).expect(0);
    assert!(place.join("a.zarr/zarr.json").is_file());
    run(place, &["convert", "good.ra", "a.zarr"]).expect(2);
    run(place, &["convert", "-f", "good.ra", "a.zarr", "--codec", "zstd"]).expect(0);
    fs::copy(place.join("good.ra"), place.join("a.zarr/a.ra")).unwrap();
    run(place, &["convert", "-f", "a.zarr/a.ra", "a.zarr"]).expect(2);
    run(place, &["convert", "--verify", "good.ra", "b.zarr"]).expect(0);
    run(place, &["convert", "--verify", "good.ra", "b.fits"]).expect(0);
    assert!(place.join("b.zarr").exists() && place.join("b.fits").exists());
    run(place, &["convert", "--verify", "good.ra", "-", "--to", "fits"]).expect(2);
    assert!(
        !fs::read_dir(place).unwrap().any(|entry| entry
            .unwrap()
            .file_name()
            .to_str()
            .unwrap()
            .starts_with(".holdall"))
    );
}

/// `::` and invalid UTF-8 in the name of a file do not break its own list.
#[cfg(unix)]
#[test]
fn a_list_names_files_in_the_bytes_that_they_have() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    let directory = files();
    let place = directory.path();
    let names: [&[u8]; 2] = [b"x::y.ra", b"n\xE9\xFF.ra"];
    let mut digest = holdall(place);
    digest.arg("digest");
    for name in names {
        let name = OsStr::from_bytes(name);
        fs::copy(place.join("good.ra"), place.join(name)).unwrap();
        digest.arg(name);
    }
    let list = digest.output().unwrap().stdout;
    assert!(list.windows(10).any(|part| part == b"n\xE9\xFF.ra::da"), "{}", list.escape_ascii());
    fs::write(place.join("list"), &list).unwrap();
    let checked = run(place, &["digest", "--check", "--quiet", "list"]);
    assert_eq!(checked.expect(0), "");
    assert_eq!(
        run(place, &["cat", "x::y.ra::data[0, 0]"]).expect(0),
        run(place, &["cat", "good.ra::data[0, 0]"]).expect(0)
    );
}

/// `FILE::` is the file: a list with that name for one array once reported all others as changed.
#[test]
fn an_array_whose_key_is_empty_has_an_address() {
    let directory = files();
    let place = directory.path();
    let text = "#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
                '': !core/ndarray-1.0.0 [1, 2]\nb: !core/ndarray-1.0.0 [3]\n...\n";
    fs::write(place.join("keys.asdf"), text).unwrap();
    let list = run(place, &["digest", "keys.asdf"]).expect(0).to_owned();
    let addresses: Vec<&str> = list.lines().filter_map(|line| Some(line.split_once("  ")?.1)).collect();
    assert_eq!(addresses, ["keys.asdf::/", "keys.asdf::b"]);
    fs::write(place.join("list"), &list).unwrap();
    let checked = run(place, &["digest", "--check", "list"]);
    assert_eq!(checked.expect(0), "keys.asdf::/: OK\nkeys.asdf::b: OK\n");
    assert_eq!(run(place, &["cat", "keys.asdf::/"]).expect(0), "1\n2\n");
    assert_eq!(run(place, &["cat", "keys.asdf::/[1]"]).expect(0), "2\n");
    assert!(run(place, &["cat", "keys.asdf"]).err.contains("one of: /, b"));
}

#[test]
fn a_folder_is_a_line_for_each_array_of_each_container_below_it() {
    let directory = tempfile::tempdir().unwrap();
    let at = directory.path();
    fs::create_dir_all(at.join("top/night 1")).unwrap();
    let raw = |name: &str, bytes: &[u8]| {
        fs::write(at.join("raw"), bytes).unwrap();
        run(at, &["pack", "--dtype", "<u2", "raw", name]).expect(0);
    };
    raw("top/b.ra", &[1, 0, 2, 0]);
    raw("top/night 1/a.ra", &[3, 0]);
    // A name with separators is a name where such a file exists.
    raw("top/night 1/x::y[0].blp", &[4, 0]);
    fs::write(at.join("top/notes.txt"), "no container").unwrap();
    let list = run(at, &["digest", "top"]).expect(0).to_owned();
    let names: Vec<&str> = list.lines().map(|line| &line[66..]).collect();
    assert_eq!(names, ["top/b.ra::data", "top/night 1/a.ra::data", "top/night 1/x::y[0].blp::data"]);
    fs::write(at.join("list"), &list).unwrap();
    run(at, &["digest", "--check", "list"]).expect(0);
    raw_over(&at.join("top/b.ra"));
    run(at, &["digest", "--check", "list"]).expect(1);
    // One that cannot be read hides no other.
    fs::write(at.join("top/c.ra"), "rawarray").unwrap();
    let run = run(at, &["digest", "top"]);
    assert!(matches!(run.code, Some(1 | 2)), "{run:#?}");
    assert!(run.err.contains("top/c.ra") && run.out.lines().count() == 3, "{run:#?}");
}

/// Changes the last byte of a file.
fn raw_over(path: &std::path::Path) {
    let mut bytes = fs::read(path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    fs::write(path, bytes).unwrap();
}
