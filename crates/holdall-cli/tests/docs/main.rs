//! Runs the sessions in the README and in docs/, and compares the command's reference with its help.
//!
//! `cargo xtask docs` writes answers and reference anew.

mod commands_in_text;
mod gallery;
#[cfg(target_os = "linux")]
mod page;
#[cfg(target_os = "linux")]
#[path = "../common/pseudo_terminal.rs"]
mod pseudo_terminal;
#[cfg(target_os = "linux")]
mod sessions;
#[cfg(target_os = "linux")]
mod terminal_picture;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Variable that selects whether generated files are written or compared; without it they are compared.
const GOLDENS: &str = "HOLDALL_GOLDENS";

/// Program that starts the command where this machine cannot: see `cargo xtask cross`.
const RUNNER: &str = "HOLDALL_RUNNER";

fn writes_goldens() -> bool {
    env::var_os(GOLDENS).is_some_and(|how| how == "write")
}

fn repository() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the repository")
}

/// Folders of pages that people read, from the top of the repository.
const PAGES: &[&str] = &["", "docs", "docs/tutorials", "docs/formats"];

fn page_files(root: &Path) -> Vec<PathBuf> {
    let folder = |folder: &&str| fs::read_dir(root.join(folder)).expect("a folder of pages");
    let entries = PAGES.iter().flat_map(folder).map(|entry| entry.expect("an entry").path());
    let mut pages: Vec<PathBuf> =
        entries.filter(|page| page.extension().is_some_and(|extension| extension == "md")).collect();
    pages.sort();
    pages
}

#[test]
fn reference() {
    let path = repository().join("docs/cli.md");
    let made = reference_page();
    if writes_goldens() {
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

/// The command, started by another program where this machine cannot.
fn holdall() -> Command {
    let program = env!("CARGO_BIN_EXE_holdall");
    let Some(runner) = env::var_os(RUNNER) else { return Command::new(program) };
    let mut command = Command::new(runner);
    command.arg(program);
    command
}

/// As on a terminal of 100 columns.
fn help(args: &[&str]) -> String {
    let output = holdall().args(args).env("COLUMNS", "100").output().expect("holdall runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).expect("text").replace(".exe", "");
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n") + "\n"
}
