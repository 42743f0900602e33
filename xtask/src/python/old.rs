//! The older releases of the peers, which files still come from. What needs no Python of its own lies in a folder that
//! is put on the path when asked for; what does is an environment inside the other.

use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Result, bail};

use crate::repo::Repo;
use crate::step::Step;

use super::find::{Python, Version};
use super::{interpreter, package_names};

/// Beside the newest releases, under the same Python.
pub(super) const BESIDE_REQUIREMENTS: &str = "tests/requirements-old.txt";
const BESIDE: &str = ".venv/old-gsd";
/// Has wheels for no Python later than 3.13.
pub(super) const BLOSC2_REQUIREMENTS: &str = "tests/requirements-old-blosc2.txt";
const BLOSC2: &str = ".venv/old-blosc2";
const BLOSC2_PYTHONS: Range<Version> = Version(3, 11, 0)..Version(3, 14, 0);

/// What asks a Python for the versions of the packages that are its arguments.
pub(super) const VERSIONS: &str = "import sys\nfrom importlib.metadata import version\n\
    print(', '.join(n + ' ' + version(n) for n in sys.argv[1:]))";

/// Installs them into the environment of `python`, which was made just now.
///
/// # Errors
/// When the package index refuses, or no Python here has wheels of the old blosc2.
pub(super) fn make(repo: &Repo, python: &Path, found: &[Python]) -> Result<()> {
    super::pip(repo, python).args(["--no-deps", "--target", BESIDE, "-r", BESIDE_REQUIREMENTS]).run()?;
    // The oldest of them: what people who stayed with the old release have.
    let bases = || found.iter().rev().filter(|base| BLOSC2_PYTHONS.contains(&base.version));
    let mut tried = Vec::new();
    for base in bases() {
        let made = Step::new(repo, &base.program).args(["-m", "venv", "--clear", BLOSC2]).run();
        match made.and_then(|()| super::pip(repo, &blosc2(repo)).args(["-r", BLOSC2_REQUIREMENTS]).run()) {
            Ok(()) => return Ok(()),
            Err(error) => tried.push(format!("Python {}: {error:#}", base.version)),
        }
    }
    let Version(major, minor, _) = BLOSC2_PYTHONS.start;
    bail!(
        "{BLOSC2_REQUIREMENTS} needs a Python from {major}.{minor} to 3.13 ({})",
        if tried.is_empty() { "none was found".to_owned() } else { tried.join("; ") }
    )
}

/// "gsd 3.4.1; Python 3.11.7, blosc2 3.1.1, numpy 2.2.6".
///
/// # Errors
/// When one of them is not there.
pub(super) fn describe(repo: &Repo, python: &Path, beside: &str, of_blosc2: &str) -> Result<String> {
    let beside = Step::new(repo, python)
        .args(["-c", VERSIONS])
        .args(package_names(beside))
        .env("PYTHONPATH", repo.path(BESIDE))
        .stdout()?;
    let old = blosc2(repo);
    let base = super::version(repo, &old)?;
    let of_blosc2 = Step::new(repo, &old).args(["-c", VERSIONS]).args(package_names(of_blosc2)).stdout()?;
    Ok(format!("{}; {base}, {}", beside.trim(), of_blosc2.trim()))
}

fn blosc2(repo: &Repo) -> PathBuf {
    interpreter(&repo.path(BLOSC2))
}
