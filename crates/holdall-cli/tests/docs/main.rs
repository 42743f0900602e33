//! Runs the sessions in the README and in docs/, and compares the command's reference with its help.
//!
//! `cargo xtask docs` writes answers and reference anew.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Variable that selects whether generated files are written or compared; without it they are compared.
const GOLDENS: &str = "HOLDALL_GOLDENS";

/// Program that starts the command where this machine cannot: see `cargo xtask cross`.
const RUNNER: &str = "HOLDALL_RUNNER";

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// They refer to `testdata/` next to them, and write files of their own, which must not end in the repository.
#[test]
#[cfg(unix)]
fn sessions() {
    let root = repository();
    let desk = tempfile::tempdir().expect("a folder");
    std::os::unix::fs::symlink(root.join("testdata"), desk.path().join("testdata")).expect("a link");
    bcolz_directory(&root, &desk.path().join("old.bcolz"));
    env::set_current_dir(&desk).expect("the folder");
    let cases = trycmd::TestCases::new();
    if let Some(runner) = env::var_os(RUNNER) {
        cases.register_bin("holdall", started_by(&runner, desk.path()));
    }
    for pages in ["README.md", "docs/*.md", "docs/tutorials/*.md"] {
        cases.case(root.join(pages));
    }
    // Its output differs between systems.
    if cfg!(target_os = "linux") {
        cases.register_bin("od", on_path("od")).case(root.join("docs/formats/*.md"));
    }
    cases.run();
}

/// A program that starts the command by another.
#[cfg(unix)]
fn started_by(runner: &std::ffi::OsStr, folder: &Path) -> PathBuf {
    use std::os::unix::fs::PermissionsExt as _;
    let path = folder.join("holdall");
    let script = format!("#!/bin/sh\nexec {} '{}' \"$@\"\n", runner.display(), env!("CARGO_BIN_EXE_holdall"));
    fs::write(&path, script).expect("a file");
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
    path
}

#[cfg(unix)]
fn on_path(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut places = env::split_paths(&path).map(|place| place.join(program));
    places.find(|place| place.is_file()).unwrap_or_else(|| panic!("{program} is not on PATH"))
}

/// Files that bcolz writes for an array of one chunk: its chunks are Bloscpack files of version 1.
#[cfg(unix)]
fn bcolz_directory(root: &Path, path: &Path) {
    let write = |name: &str, bytes: &[u8]| {
        let file = path.join(name);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(file, bytes).expect("a file");
    };
    write("data/__0.blp", &fs::read(root.join("testdata/bloscpack/ok/v1_bcolz.blp")).expect("the chunk"));
    write("meta/sizes", br#"{"shape": [500], "nbytes": 4000, "cbytes": 600}"#);
    write(
        "meta/storage",
        br#"{"dtype": "<f8", "cparams": {"clevel": 5, "shuffle": 1, "cname": "blosclz"}, "chunklen": 500, "expectedlen": 500, "dflt": 0.0}"#,
    );
}

#[test]
fn reference() {
    let path = repository().join("docs/cli.md");
    let made = reference_page();
    if env::var_os(GOLDENS).is_some_and(|how| how == "write") {
        fs::write(&path, made).expect("docs/cli.md can be written");
        return;
    }
    let there = fs::read_to_string(&path).expect("docs/cli.md").replace("\r\n", "\n");
    let differs = (1..).zip(there.lines().zip(made.lines())).find(|(_, (there, made))| there != made);
    assert!(
        there == made,
        "docs/cli.md is not what the command says, from {differs:?} on: run `cargo xtask docs`"
    );
}

/// The help of the command, then that of each verb.
fn reference_page() -> String {
    let front = help(&["--help"]);
    let verbs: Vec<&str> = front
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  "))
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|verb| *verb != "help")
        .collect();
    assert!(verbs.contains(&"info"), "no verbs in the help: {front}");
    let mut page = format!(
        "# The command\n\nWhat `holdall --help` says, and `holdall VERB --help` for each verb. Written by `cargo xtask docs`.\n\n\
         ```text\n{front}```\n"
    );
    for verb in verbs {
        page += &format!("\n## {verb}\n\n```text\n{}```\n", help(&[verb, "--help"]));
    }
    page
}

/// As on a terminal of 100 columns.
fn help(args: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_holdall");
    let mut command = Command::new(env::var_os(RUNNER).unwrap_or_else(|| program.into()));
    if env::var_os(RUNNER).is_some() {
        command.arg(program);
    }
    let output = command.args(args).env("COLUMNS", "100").output().expect("holdall runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text").replace(".exe", "");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
