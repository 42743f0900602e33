//! gsd's library, and comparing with what it lists.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;

use interop::peer::{beside, python, script};

/// A release of gsd.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gsd {
    /// 5.0.1.
    Newest,
    /// 3.4.1, which reads the schema up to 1.4.
    Old,
}

/// Runs a command of `gsd_cases.py`.
pub fn gsd<A: AsRef<OsStr>>(release: Gsd, args: impl IntoIterator<Item = A>) {
    let mut python = Command::new(python().unwrap());
    python.arg(script("gsd_cases.py")).args(args);
    if release == Gsd::Old {
        python.env("PYTHONPATH", beside("old-gsd"));
    }
    let output = python.output().unwrap();
    assert!(output.status.success(), "{release:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// The files of `folder` with this extension.
pub fn files(folder: &Path, extension: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut found: Vec<PathBuf> =
        entries.filter(|path| path.extension().is_some_and(|it| it == extension)).collect();
    found.sort();
    found
}

/// Returns a peer's listing of `path`.
pub fn listed(path: &Path, by: &str) -> String {
    let list = path.with_extension(by);
    std::fs::read_to_string(&list).unwrap_or_else(|error| panic!("{}: {error}", list.display()))
}

/// Says where two lists differ.
#[track_caller]
pub fn assert_same(found: &str, expected: &str, what: &str) {
    if found == expected {
        return;
    }
    let only = |some: &str, other: &str| -> Vec<String> {
        some.lines().filter(|line| !other.lines().any(|it| it == *line)).take(8).map(str::to_owned).collect()
    };
    panic!("{what}: found {:#?}, expected {:#?}", only(found, expected), only(expected, found));
}

/// Has gsd.fl and gsd.pygsd list every file of a folder, and compares with `expected`.
pub fn assert_chunks(release: Gsd, folder: &Path, expected: impl Fn(&Path) -> String) {
    gsd(release, [OsStr::new("chunks"), folder.as_os_str()]);
    for path in files(folder, "gsd") {
        let expected = expected(&path);
        for by in ["fl", "pygsd"] {
            assert_same(&listed(&path, by), &expected, &format!("{} by {by} of {release:?}", path.display()));
        }
    }
}
