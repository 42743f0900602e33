//! The file at fault heads an error: the source that cannot be read, or the target that cannot be written.

use std::path::Path;

use crate::support::{files, floats, holdall, npy, rawarray, run};

/// A folder with sources of several formats; `x.EXT` are sound, `bad.asdf` has a wrong digest.
fn folder() -> tempfile::TempDir {
    let directory = files();
    let at = directory.path();
    for (name, shape, count) in
        [("x.npy", "(6,)", 6), ("long.npy", "(6000,)", 6000), ("wide.npy", "(1000, 6)", 6000)]
    {
        std::fs::write(at.join(name), npy("<f4", false, shape, &floats(count))).unwrap();
    }
    let line = rawarray(3, 4, &[6], &floats(6));
    std::fs::write(at.join("line.ra"), &line).unwrap();
    std::fs::write(at.join("cut.ra"), &line[..line.len() - 5]).unwrap();
    for name in ["x.asdf", "x.b2nd", "x.blp", "x.gsd", "bad.asdf"] {
        run(at, &["convert", "x.npy", name]).expect(0);
    }
    let mut bytes = std::fs::read(at.join("bad.asdf")).unwrap();
    let last = bytes.windows(5).rposition(|word| word == b"#ASDF").map_or(bytes.len(), |index| index);
    // A byte of the elements: the block is before the index.
    let place = bytes[..last].windows(4).rposition(|word| word == 5_f32.to_le_bytes()).unwrap();
    bytes[place] ^= 1;
    std::fs::write(at.join("bad.asdf"), bytes).unwrap();
    directory
}

/// Asserts that `words` fail with an error that begins with the name of `file`, in at most three lines.
#[track_caller]
fn assert_names(at: &Path, words: &[&str], file: &str) {
    let run = run(at, words);
    assert_eq!(run.code, Some(2), "{words:?} {run:#?}");
    let lines: Vec<&str> = run.err.lines().collect();
    let rest = lines[0].strip_prefix(&format!("holdall: {file}"));
    let is_named = rest.is_some_and(|rest| rest.starts_with(": ") || rest.starts_with("::data: "));
    assert!(is_named, "{words:?} names {:?}", lines[0]);
    assert!(lines.len() <= 3, "{words:?} {run:#?}");
}

#[test]
fn a_source_that_cannot_be_read_heads_the_error() {
    let directory = folder();
    let at = directory.path();
    for source in ["missing.ra", "other.txt", "empty.ra", "cut.ra", "bad.asdf"] {
        for words in [
            &["convert", source, "new.npy"][..],
            &["convert", source, "new.gsd"],
            &["convert", source, "new.zarr"],
            &["append", "x.blp", source],
            &["append", "x.b2nd", source],
            &["append", "line.ra", source],
            &["diff", "x.npy", source],
            &["diff", source, "x.npy"],
            &["digest", source],
            &["stat", source],
            &["plot", source, "-o", "new.png"],
        ] {
            assert_names(at, words, source);
        }
    }
    for source in ["missing.ra", "other.txt", "empty.ra", "cut.ra"] {
        assert_names(at, &["recode", source, "new.ra"], source);
        assert_names(at, &["pack", "--items", "arrays", "x.npy", source, "new.blp"], source);
        assert_names(at, &["explode", source, "-o", "new"], source);
        assert_names(at, &["implode", source, "-o", "new.asdf"], source);
    }
    for words in [
        &["pack", "missing", "new.blp"][..],
        &["pack", "--items", "lines", "missing", "new.blp"],
        &["pack", "--items", "files", "x.npy", "missing", "new.blp"],
        &["pack", "--dtype", "<f4", "missing", "new.blp"],
        &["append", "x.blp", "missing", "--raw"],
        &["append", "x.blp", "missing", "--csv"],
        &["append", "x.gsd", "missing"],
        &["digest", "--check", "missing"],
        &["catalog", "missing", "-o", "new.parquet"],
    ] {
        let run = run(at, words);
        assert!(run.err.starts_with("holdall: missing: "), "{words:?} {run:#?}");
    }
    // The other file, where that is at fault.
    for words in [&["append", "missing.blp", "x.npy"][..], &["append", "missing.blp", "nor.npy"]] {
        assert_names(at, words, "missing.blp");
    }
    let left = std::fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let left: Vec<String> = left.filter(|name| name.starts_with("new") && name != "new.parquet").collect();
    assert!(left.is_empty(), "{left:?}");
}

#[test]
fn a_target_that_cannot_be_written_heads_the_error() {
    let directory = folder();
    let at = directory.path();
    std::fs::create_dir(at.join("folder.npy")).unwrap();
    for (target, words) in [
        ("none/x.npy", &["convert", "x.npy", "none/x.npy"][..]),
        ("none/x.gsd", &["convert", "x.npy", "none/x.gsd"]),
        ("none/x.zarr", &["convert", "x.npy", "none/x.zarr"]),
        ("good.ra", &["convert", "x.npy", "good.ra"]),
        ("x.npy", &["convert", "x.npy", "x.npy"]),
        ("folder.npy", &["convert", "x.npy", "folder.npy"]),
        ("folder.npy", &["convert", "-f", "x.npy", "folder.npy"]),
        ("x.xyz", &["convert", "x.npy", "x.xyz"]),
        ("x.ra", &["convert", "x.npy", "x.ra", "--codec", "zsdt"]),
        ("x.b2nd", &["recode", "x.asdf", "x.b2nd"]),
        ("none/x.asdf", &["recode", "x.asdf", "none/x.asdf"]),
        ("none/x.asdf", &["repair", "x.asdf", "-o", "none/x.asdf"]),
        ("good.ra", &["repair", "x.asdf", "-o", "good.ra"]),
        ("none/x.blp", &["pack", "x.npy", "none/x.blp"]),
        ("none/x.blp", &["pack", "--items", "files", "x.npy", "none/x.blp"]),
        ("good.ra", &["explode", "x.asdf", "-o", "good.ra"]),
        ("none/x.asdf", &["implode", "x.asdf", "-o", "none/x.asdf"]),
        ("good.ra/data.npy", &["extract", "x.asdf", "-o", "good.ra"]),
        ("none/x.csv", &["cat", "x.asdf", "-o", "none/x.csv"]),
        ("folder.npy", &["cat", "x.asdf", "-o", "folder.npy"]),
        ("none/x.png", &["plot", "x.asdf", "-o", "none/x.png"]),
        ("x.jpg", &["plot", "x.asdf", "-o", "x.jpg"]),
        ("none/x.parquet", &["catalog", "x.asdf", "-o", "none/x.parquet"]),
    ] {
        let run = run(at, words);
        let first = run.err.lines().next().unwrap_or_default();
        // Of a folder that is a file, the part that is one is named.
        let shorter = target.split('/').next().unwrap();
        let is_named = |name: &str| first.starts_with(&format!("holdall: {name}: "));
        assert!(run.code == Some(2) && (is_named(target) || is_named(shorter)), "{words:?} {run:#?}");
        assert!(run.err.lines().count() <= 3, "{words:?} {run:#?}");
    }
    let missing = run(at, &["convert", "x.npy", "none/x.npy"]).err;
    assert!(
        missing.contains("directory none: ") && missing.contains("\n  try: mkdir -p none\n"),
        "{missing}"
    );
    let there = run(at, &["convert", "x.npy", "good.ra"]).err;
    assert_eq!(there, "holdall: good.ra: already exists\n  try: use -f to replace it\n");
    let source = run(at, &["convert", "x.npy", "x.npy"]).err;
    assert!(source.starts_with("holdall: x.npy: is the source itself\n"), "{source}");
}

/// Files of at most a kilobyte, as on a full disk; without the signal that would end the process.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_the_targets() {
    use std::process::{Command, Stdio};
    let directory = folder();
    let at = directory.path();
    let program = holdall(at).get_program().to_owned();
    if std::env::var_os("HOLDALL_RUNNER").is_some() {
        return;
    }
    for (target, words) in [
        ("new.npy", &["convert", "long.npy", "new.npy"][..]),
        ("new.asdf", &["convert", "long.npy", "new.asdf"]),
        ("new.blp", &["convert", "long.npy", "new.blp"]),
        ("new.b2nd", &["convert", "long.npy", "new.b2nd"]),
        ("new.gsd", &["convert", "long.npy", "new.gsd"]),
        ("new.ra", &["convert", "long.npy", "new.ra"]),
        ("new.zarr", &["convert", "long.npy", "new.zarr"]),
        ("new.fits", &["convert", "long.npy", "new.fits"]),
        ("new.csv", &["cat", "long.npy", "-o", "new.csv"]),
        ("new.blp", &["pack", "--items", "files", "long.npy", "new.blp"]),
        ("x.blp", &["append", "x.blp", "long.npy", "--codec", "none"]),
        ("line.ra", &["append", "line.ra", "long.npy"]),
        ("x.gsd", &["append", "x.gsd", "wide.npy"]),
        ("new.png", &["plot", "long.npy", "-o", "new.png"]),
    ] {
        let mut shell = Command::new("sh");
        shell
            .args(["-c", "trap '' XFSZ; ulimit -f 1; exec \"$0\" \"$@\" 2>&1 | cat"])
            .arg(&program)
            .args(words);
        let output = shell.current_dir(at).stdin(Stdio::null()).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(text.starts_with(&format!("holdall: {target}: ")), "{words:?} {text}");
        assert!(text.contains("File too large"), "{words:?} {text}");
        assert!(!target.starts_with("new") || !at.join(target).exists(), "{words:?}");
    }
}
