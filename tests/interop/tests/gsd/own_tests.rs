//! gsd's own tests, which come with its package, with the file layer here in the place of theirs.

use std::process::Command;

use interop::peer::{python, script};

/// Intended differences: chunk names of more than 63 bytes in files of version 1.0 are refused, not cut, and a file that is open for writing is not
/// opened for writing again.
const DIFFERENT: [&str; 4] = [
    "test_fl.py::test_gsd_v1_write[(a,x)]",
    "test_fl.py::test_gsd_v1_write[(r,a)]",
    "test_fl.py::test_gsd_v1_write[(r,w)]",
    "test_hoomd.py::test_flush[(a,x)]",
];
const PASSED: &str = "144 passed";

fn run(scheme: &str) {
    const FOLDER: &str = "import gsd.fl, pathlib; print(pathlib.Path(gsd.fl.__file__).parent / 'test')";
    let folder = Command::new(python().unwrap()).args(["-c", FOLDER]).output().unwrap();
    let folder = String::from_utf8(folder.stdout).unwrap();
    let output = Command::new(python().unwrap())
        .args(["-m", "pytest", "-q", "-rf", "--tb=no", "-p", "no:cacheprovider", "-p", "gsd_fl"])
        .args(["test_fl.py", "test_hoomd.py"])
        .current_dir(folder.trim())
        .env("PYTHONPATH", search_path())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("HOLDALL_GSD_SERVER", env!("CARGO_BIN_EXE_gsd_fl_server"))
        .env("HOLDALL_GSD_SCHEME", scheme)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let mut failed: Vec<&str> = said
        .lines()
        .filter_map(|line| line.strip_prefix("FAILED ")?.split(" - ").next())
        .map(|name| name.trim_start_matches("test/").trim())
        .collect();
    failed.sort_unstable();
    let problems = String::from_utf8_lossy(&output.stderr);
    let last = said.lines().last().unwrap_or_default();
    println!("gsd's tests, {scheme}: {last}");
    assert_eq!(failed, DIFFERENT, "{said}{problems}");
    assert!(last.contains(PASSED), "{said}{problems}");
}

/// The module that stands in, before what is there already.
fn search_path() -> std::ffi::OsString {
    let peers = script("gsd_fl.py").parent().unwrap().to_owned();
    let others = std::env::var_os("PYTHONPATH").unwrap_or_default();
    std::env::join_paths([peers].into_iter().chain(std::env::split_paths(&others))).unwrap()
}

#[test]
fn gsds_own_tests_pass_with_atomic_commits() {
    run("atomic");
}

#[test]
fn gsds_own_tests_pass_in_the_references_scheme() {
    run("reference");
}
