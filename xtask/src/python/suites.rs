//! Tests that only the source packages of peers have: fetched, unpacked, and never committed.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};

use crate::repo::Repo;
use crate::step::Step;

/// The folder where tests of the Python package look for them.
pub(super) const FOLDER: &str = ".venv/suites";

/// A source package.
struct Suite {
    name: &'static str,
    /// Pins the package by its digest.
    requirements: &'static str,
    /// The folder of tests in the package, and how many Python files it has.
    tests: &'static str,
    files: usize,
    /// True for what is built by the setuptools that is installed, not by the newest one: pip builds metadata of what it downloads.
    is_old: bool,
}

const SUITES: [Suite; 2] = [
    Suite {
        name: "bloscpack",
        requirements: "tests/requirements-suite-bloscpack.txt",
        tests: "bloscpack-0.16.0/test",
        files: 12,
        is_old: true,
    },
    Suite {
        name: "blosc2",
        requirements: "tests/requirements-suite-blosc2.txt",
        tests: "blosc2-4.14.1/tests",
        files: 58,
        is_old: false,
    },
];

/// Takes all files out of the packages; `filter` keeps every name inside the target.
const UNPACK: &str = "import sys, tarfile
from pathlib import Path
for package in Path(sys.argv[1]).glob('*.tar.gz'):
    with tarfile.open(package) as archive:
        archive.extractall(sys.argv[1], filter='data')
    package.unlink()
";

/// The texts of the requirements.
///
/// # Errors
/// When one cannot be read.
pub(super) fn requirements(repo: &Repo) -> Result<String> {
    let text = |suite: &Suite| fs::read_to_string(repo.path(suite.requirements)).context(suite.requirements);
    SUITES.iter().map(text).collect()
}

/// Fetches the packages and unpacks them.
///
/// # Errors
/// When the package index refuses, or a package is another one than that of the digest.
pub(super) fn make(repo: &Repo, python: &Path) -> Result<()> {
    let folder = repo.path(FOLDER);
    for suite in &SUITES {
        let isolated: &[&str] = if suite.is_old { &["--no-build-isolation"] } else { &[] };
        Step::new(repo, python)
            .args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--disable-pip-version-check",
                "--no-input",
                "--no-deps",
            ])
            .args(["--only-binary", ":all:", "--no-binary", suite.name])
            .args(isolated)
            .args(["--require-hashes", "-r", suite.requirements, "--dest"])
            .arg(&folder)
            .run()?;
    }
    Step::new(repo, python).args(["-c", UNPACK]).arg(&folder).run()
}

/// "; tests of bloscpack, blosc2".
///
/// # Errors
/// When some are missing.
pub(super) fn describe(repo: &Repo) -> Result<String> {
    for suite in &SUITES {
        let mut count = 0;
        for entry in fs::read_dir(repo.path(FOLDER).join(suite.tests))? {
            count += usize::from(entry?.path().extension().is_some_and(|it| it == "py"));
        }
        ensure!(count == suite.files, "{} has {count} of {} files", suite.tests, suite.files);
    }
    let names: Vec<&str> = SUITES.iter().map(|suite| suite.name).collect();
    Ok(format!("; tests of {}", names.join(", ")))
}
