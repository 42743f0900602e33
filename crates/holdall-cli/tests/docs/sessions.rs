//! Sessions and scripts of the pages, typed into an empty folder a page, as at a terminal of 100 columns.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs, thread};

use tempfile::TempDir;

use crate::page::{Block, BlockKind, matches};
use crate::pseudo_terminal::shown;
use crate::{RUNNER, page_files, repository, writes_goldens};

/// Line between the answers of a page: no command prints it.
const MARK: &str = "\u{1}answer ends with";

/// Line of a page whose commands are typed in the folder of the samples.
const IN_SAMPLES: &str = "<!-- typed in the folder of `holdall samples` -->";

#[test]
fn sessions() {
    let root = repository();
    // The gallery's commands are run with its pictures, by the test of the gallery.
    let pages: Vec<PathBuf> =
        page_files(&root).into_iter().filter(|page| !page.ends_with("gallery.md")).collect();
    let of_page = |page: &PathBuf| {
        let name = page.strip_prefix(&root).expect("a page of ours").display().to_string();
        Page { name, path: page.clone() }.check(&root)
    };
    let halves: Vec<Vec<PathBuf>> = pages.chunks(pages.len().div_ceil(2)).map(<[PathBuf]>::to_vec).collect();
    let problems: Vec<String> = thread::scope(|scope| {
        let halves: Vec<_> = halves
            .iter()
            .map(|half| scope.spawn(|| half.iter().flat_map(&of_page).collect::<Vec<String>>()))
            .collect();
        halves.into_iter().flat_map(|half| half.join().expect("a page that can be read")).collect()
    });
    assert!(problems.is_empty(), "{}\n(`cargo xtask docs` writes answers anew)", problems.join("\n"));
}

/// An empty folder to type in, and the command on the path.
pub struct Desk {
    folder: TempDir,
    programs: TempDir,
}

impl Desk {
    pub fn new() -> Self {
        let desk = Self {
            folder: tempfile::tempdir().expect("a folder"),
            programs: tempfile::tempdir().expect("a folder"),
        };
        desk.install();
        desk
    }

    /// Puts the command under its name, started by another program where this machine cannot: see `cargo xtask cross`.
    fn install(&self) {
        let program = env!("CARGO_BIN_EXE_holdall");
        let path = self.programs.path().join("holdall");
        match env::var_os(RUNNER) {
            None => symlink(program, path).expect("a link"),
            Some(runner) => {
                let script = format!("#!/bin/sh\nexec {} '{program}' \"$@\"\n", runner.display());
                fs::write(&path, script).expect("a file");
                fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("a program");
            }
        }
    }

    pub fn write_samples(&self) {
        let mut samples = Command::new(self.programs.path().join("holdall"));
        let made = samples.args(["samples", "--force", "-o"]).arg(self.folder.path()).output();
        assert!(made.expect("holdall runs").status.success(), "the samples");
    }

    /// The settings of a person at a terminal of 100 columns.
    pub fn prepare<'c>(&self, command: &'c mut Command) -> &'c mut Command {
        let mut path = OsString::from(self.programs.path());
        path.push(":");
        path.push(env::var_os("PATH").unwrap_or_default());
        command.current_dir(&self.folder).env("PATH", path).env("HOME", self.folder.path());
        // Without CI programs show progress.
        let settings = [
            ("TERM", "xterm"),
            ("COLUMNS", "100"),
            ("NO_COLOR", "1"),
            ("CI", "1"),
            ("TZ", "UTC"),
            ("LC_ALL", "C.UTF-8"),
        ];
        command.envs(settings)
    }
}

struct Page {
    name: String,
    path: PathBuf,
}

impl Page {
    /// Runs the page, and compares or writes its answers; returns what differs.
    fn check(&self, root: &Path) -> Vec<String> {
        let text = fs::read_to_string(&self.path).expect("a page").replace("\r\n", "\n");
        let blocks = Block::of_page(&text);
        if blocks.is_empty() {
            return Vec::new();
        }
        let desk = Desk::new();
        if text.contains("testdata/") {
            symlink(root.join("testdata"), desk.folder.path().join("testdata")).expect("a link");
        }
        if text.lines().any(|line| line == IN_SAMPLES) {
            desk.write_samples();
        }
        let mut answers = run(&blocks, &desk).into_iter();
        let mut problems = Vec::new();
        let mut replaced = BTreeMap::new();
        for block in &blocks {
            let answers: Vec<Answer> = answers.by_ref().take(block.steps.len()).collect();
            let line = block.lines.start;
            if block.kind == BlockKind::Script {
                if let Some(answer) = answers.first().filter(|answer| answer.status != "0") {
                    let said = answer.lines.join("\n");
                    problems.push(format!("{}:{line}: ends with {}\n{said}", self.name, answer.status));
                }
                continue;
            }
            let mut lines = Vec::new();
            for (step, answer) in block.steps.iter().zip(answers) {
                if matches(&step.answer, &answer.lines) {
                    lines.push(step.answer.clone());
                    continue;
                }
                if !writes_goldens() {
                    let (shown, said) = (step.answer.join("\n"), answer.lines.join("\n"));
                    let command = &step.command;
                    problems.push(format!(
                        "{}:{line}: $ {command}\n--- the page\n{shown}\n+++ the command\n{said}",
                        self.name
                    ));
                }
                lines.push(answer.lines);
            }
            replaced.insert(block.lines.start, (block.lines.end, block.with_answers(&lines)));
        }
        if writes_goldens() {
            let made = with_blocks(&text, &replaced);
            if made != text {
                fs::write(&self.path, made).expect("the page can be written");
            }
        }
        problems
    }
}

/// The page with other lines between the fences of its sessions, by the first line of each.
fn with_blocks(text: &str, blocks: &BTreeMap<usize, (usize, Vec<String>)>) -> String {
    let lines: Vec<&str> = text.lines().collect();
    let mut made = String::new();
    let mut at = 0;
    for (start, (end, body)) in blocks {
        let before = lines[at..*start].iter().map(|line| (*line).to_owned());
        before.chain(body.iter().cloned()).for_each(|line| made += &(line + "\n"));
        at = *end;
    }
    lines[at..].iter().for_each(|line| made += &format!("{line}\n"));
    made
}

struct Answer {
    lines: Vec<String>,
    status: String,
}

/// The answer of each step: both streams as a terminal shows them, from one shell, so that `cd` and variables stay.
fn run(blocks: &[Block], desk: &Desk) -> Vec<Answer> {
    let mut script = String::new();
    for block in blocks {
        for step in &block.steps {
            let command = match block.kind {
                BlockKind::Session => step.command.clone(),
                BlockKind::Script => format!("(\n{}\n)", step.command),
            };
            // The status stays that of the command, as the next one may ask for it.
            script +=
                &format!("{command}\n__status=$?; printf '\\n{MARK} %s\\n' $__status; (exit $__status)\n");
        }
    }
    let mut shell = Command::new("sh");
    let text = shown(desk.prepare(shell.args(["-c", &script])));
    let mut answers = Vec::new();
    let mut lines: Vec<String> = Vec::new();
    for line in text.lines() {
        match line.strip_prefix(MARK) {
            Some(status) => {
                while lines.last().is_some_and(String::is_empty) {
                    lines.pop();
                }
                answers.push(Answer { lines: std::mem::take(&mut lines), status: status.trim().to_owned() });
            }
            None => lines.push(line.trim_end().to_owned()),
        }
    }
    let steps: usize = blocks.iter().map(|block| block.steps.len()).sum();
    assert_eq!(answers.len(), steps, "the shell ended early:\n{text}");
    answers
}
