//! `lines`: no source file grows past what one sitting can read.

use std::collections::BTreeMap;

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::rust_source::RustSource;
use crate::{Outcome, flags};

/// More than this fails.
const LIMIT: usize = 700;
/// More than this is worth a look.
const LOOK: usize = 500;
/// The limit for files of tests, whose tables of cases are read one at a time.
const TEST_LIMIT: usize = 1500;

/// Files that may be longer, up to how many lines, and why.
const ALLOWED: &[(&str, usize, &str)] = &[];

pub(crate) fn lines(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let files = repo.rust_files()?;
    let count = files.len();
    let (notes, failures) = judge(&files, ALLOWED);
    for line in notes.iter().chain(&failures) {
        println!("{line}");
    }
    if !failures.is_empty() {
        bail!("too long, of {count} Rust files: {}; split them by the nouns of the spec", failures.len());
    }
    println!("{count} Rust files, none too long");
    Ok(Outcome::Done)
}

/// Notes and failures over `files`.
fn judge(files: &BTreeMap<String, String>, allowed: &[(&str, usize, &str)]) -> (Vec<String>, Vec<String>) {
    let mut notes = Vec::new();
    let mut failures = Vec::new();
    for (path, text) in files {
        let source = RustSource::new(path, text);
        let (count, mut limit) = if source.is_all_tests() {
            (source.lines().count(), TEST_LIMIT)
        } else {
            (source.product_lines().count(), LIMIT)
        };
        let exception = allowed.iter().find(|(name, ..)| name == path);
        if let Some((_, more, _)) = exception {
            limit = *more;
        }
        if count > limit {
            failures.push(format!("{path}: {count} lines without tests, the limit is {limit}"));
        } else if let Some((_, _, reason)) = exception {
            notes.push(format!("note: {path}: {count} lines, allowed: {reason}"));
        } else if count > LOOK && limit == LIMIT {
            notes.push(format!("note: {path}: {count} lines without tests, look again"));
        }
    }
    for (path, ..) in allowed.iter().filter(|(path, ..)| !files.contains_key(*path)) {
        failures.push(format!("{path}: allowed to be long, but there is no such file"));
    }
    (notes, failures)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(path: &str, text: String, allowed: &[(&str, usize, &str)]) -> (usize, usize) {
        let (notes, failures) = judge(&BTreeMap::from([(path.to_owned(), text)]), allowed);
        (notes.len(), failures.len())
    }

    #[test]
    fn a_long_file_fails_and_a_longish_one_is_noted() {
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(500), &[]), (0, 0));
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(501), &[]), (1, 0));
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(700), &[]), (1, 0));
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(701), &[]), (0, 1));
    }

    #[test]
    fn tests_do_not_count_but_have_their_own_limit() {
        let tests = format!("{}#[cfg(test)]\nmod tests {{\n{}}}\n", "x\n".repeat(400), "y;\n".repeat(600));
        assert_eq!(judged("crates/a/src/a.rs", tests, &[]), (0, 0));
        assert_eq!(judged("crates/a/src/a/tests.rs", "x\n".repeat(1500), &[]), (0, 0));
        assert_eq!(judged("crates/a/src/a/tests.rs", "x\n".repeat(1501), &[]), (0, 1));
        assert_eq!(judged("tests/src/truncation.rs", "x\n".repeat(1400), &[]), (0, 0));
    }

    #[test]
    fn an_exception_has_a_limit_too_and_ends_with_its_file() {
        let allowed = [("crates/a/src/a.rs", 900, "one table")];
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(900), &allowed), (1, 0));
        assert_eq!(judged("crates/a/src/a.rs", "x\n".repeat(901), &allowed), (0, 1));
        assert_eq!(judged("crates/a/src/b.rs", String::new(), &allowed), (0, 1));
    }
}
