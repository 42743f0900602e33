//! `cargo xtask <task>`: everything that is done to this repository, the same here and in CI.
//!
//! To add a task: write `pub fn name(repo: &Repo, args: &[String]) -> Result<Outcome>` in the file of its group and
//! give it one line in [`TASKS`].
#![forbid(unsafe_code)]
#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program for the terminal")]

mod banned_words;
mod book;
mod campaign;
mod check;
mod ci;
mod conformance;
mod consumers;
mod cross;
mod dependency_rules;
mod dist;
mod docs;
mod file_length;
mod fixtures;
mod fuzz;
mod licences;
mod links;
mod miri;
mod mutants;
mod package;
mod parallel;
mod python;
mod repo;
mod rust_source;
mod shadow;
mod step;
mod test;
mod tools;
mod web;
mod wheel;
mod zarrs;

use std::process::ExitCode;

use anyhow::Result;

use repo::Repo;

/// Result of a task that did not fail.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// It ran and passed.
    Done,
    /// It could not run here, and why. Never used for a check that could have run.
    NotRun(String),
}

/// A wrong command line: ends with exit code 2.
#[derive(Debug)]
pub(crate) struct Usage(pub(crate) String);

impl std::fmt::Display for Usage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Usage {}

pub(crate) struct Task {
    pub(crate) name: &'static str,
    args: &'static str,
    help: &'static str,
    pub(crate) run: fn(&Repo, &[String]) -> Result<Outcome>,
}

impl Task {
    fn call(&self) -> String {
        format!("{} {}", self.name, self.args).trim_end().to_owned()
    }
}

const fn task(
    name: &'static str,
    args: &'static str,
    help: &'static str,
    run: fn(&Repo, &[String]) -> Result<Outcome>,
) -> Task {
    Task { name, args, help, run }
}

#[rustfmt::skip]
pub(crate) const TASKS: &[Task] = &[
    task("ci", "[--quick]", "every check, in the order that fails soonest; --quick: those that take seconds", ci::ci),
    task("setup", "[--fresh]", "make .venv with the newest Python found and the pinned peers", python::setup),
    task("test", "[--debug|--release] [--no-run]", "setup, then all tests, debug and release", test::test),
    task("wheel", "[--release]", "setup, then build the Python package and run its tests; --release: as it is published", wheel::wheel),
    task("web", "[--check|--test|--pictures]", "build the page of holdall serve by npm, or compare; --test: drive it in Chromium; --pictures: those of docs/viewer.md", web::web),
    task("shadow", "[--short] [SUITE…]", "the test suites of gsd, asdf, blosc2 and bloscpack, with their files read by holdall as well", shadow::shadow),
    task("fmt", "", "formatting, also of the packages outside the workspace", check::fmt),
    task("clippy", "", "lints as errors, with default and with all features", check::clippy),
    task("doc", "", "documentation, warnings as errors", check::doc),
    task("features", "", "each feature of each library alone, and none", check::features),
    task("msrv", "", "check with the declared minimum Rust, which rustup installs where it can", check::msrv),
    task("consumers", "", "build and run outside packages that depend on one crate each", consumers::consumers),
    task("lines", "", "no source file over the line limit", file_length::lines),
    task("arrows", "", "who may depend on whom, and where nom, unsafe, printing may stand", dependency_rules::arrows),
    task("links", "", "links between documents, the site's contents, what docs/ARCHITECTURE.md names", links::links),
    task("words", "", "no machine-local paths or foreign hosts in the text", banned_words::words),
    task("book", "", "the pages of docs/ as a site in target/book, every link in it checked", book::book),
    task("docs", "[--check]", "run the sessions of the documents and write their answers and the reference, or compare", docs::docs),
    task("package", "[--build]", "every crate is ready for the registry; --build: and builds out of its package", package::package),
    task("dist", "", "the archive of a release for this machine: the command as one static program, its pages, licences", dist::dist),
    task("fixtures", "[--check] [FORMAT...]", "regenerate testdata/*/ by their make.py, or compare", fixtures::fixtures),
    task("goldens", "[--check]", "rewrite the readable dumps of the fixtures, or compare", test::goldens),
    task("fuzz", "TARGET|all|smoke [--seconds N|--runs N|--keep] [--sanitizer none] [--no-trace-compares]", "cargo-fuzz on nightly; smoke: deterministic mutants on stable; --keep: choose the committed inputs", fuzz::fuzz),
    task("campaign", "[--seconds N] [--seed S]", "hostile files through the command, under limits", campaign::campaign),
    task("conformance", "[--check]", "the fixtures through all implementations, into docs/conformance.md; --check: ours alone", conformance::conformance),
    task("zarrs", "", "the crate zarrs reads what is converted to Zarr", zarrs::zarrs),
    task("bench", "NAME|--peers [ARGS…]", "setup, then a benchmark against other libraries, or all of them and the table of their ratios", test::bench),
    task("licences", "", "what deny.toml says of licences, bans and sources, against what cargo metadata says", licences::licences),
    task("deny", "[--advisories]", "licences, bans, sources and advisories by cargo-deny, which is built for it", tools::deny),
    task("mutants", "CRATE", "a sample of changes to a crate's code, and how many its own tests notice", mutants::mutants),
    task("miri", "[--big-endian]", "the core and the chunks under Miri, where it is installed; --big-endian: as another machine", miri::miri),
    task("cross", "[--check] [i686] [s390x]", "check and test for 32 bits and big-endian; --check: no tests", cross::cross),
];

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let Some((name, args)) = args.split_first() else {
        print!("{}", list());
        return ExitCode::SUCCESS;
    };
    if matches!(name.as_str(), "-h" | "--help" | "help") {
        print!("{}", list());
        return ExitCode::SUCCESS;
    }
    let Some(task) = TASKS.iter().find(|task| task.name == name) else {
        eprint!("xtask: no task called {name:?}\n\n{}", list());
        return ExitCode::from(2);
    };
    match Repo::find().and_then(|repo| (task.run)(&repo, args)) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::NotRun(why)) => {
            println!("{name}: not run: {why}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("\nxtask {name}: {error:#}");
            if error.is::<Usage>() {
                eprintln!("usage: cargo xtask {}", task.call());
                return ExitCode::from(2);
            }
            ExitCode::FAILURE
        }
    }
}

fn list() -> String {
    let mut text = String::from("usage: cargo xtask <task> [arguments]\n\n");
    for task in TASKS {
        text += &format!("  {:<38} {}\n", task.call(), task.help);
    }
    text
}

/// Takes the flags in `known` from `args`.
///
/// # Errors
/// [`Usage`] for anything else.
pub(crate) fn flags<const N: usize>(args: &[String], known: [&str; N]) -> Result<[bool; N]> {
    let mut given = [false; N];
    for arg in args {
        match known.iter().position(|flag| flag == arg) {
            Some(at) => given[at] = true,
            None => return Err(Usage(format!("unexpected argument {arg:?}")).into()),
        }
    }
    Ok(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_task_is_listed_once_and_named_apart() {
        let text = list();
        for task in TASKS {
            assert_eq!(TASKS.iter().filter(|other| other.name == task.name).count(), 1, "{}", task.name);
            assert!(text.contains(task.help));
        }
    }

    #[test]
    fn an_unknown_flag_is_a_usage_error() {
        let args = ["--check".to_owned(), "--chekc".to_owned()];
        assert_eq!(flags(&args[..1], ["--check"]).unwrap(), [true]);
        assert!(flags(&args, ["--check"]).unwrap_err().is::<Usage>());
    }
}
