//! The older releases of the peers, which files still come from. What needs no Python of its own lies in a folder that
//! is put on the path when asked for; what does is an environment inside the other.

use std::fs;
use std::ops::Range;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};

use crate::repo::Repo;
use crate::step::Step;

use super::find::{Python, Version};
use super::{interpreter, package_names};

/// Beside the newest releases, under the same Python.
const BESIDE: &str = ".venv/old-gsd";
const BESIDE_REQUIREMENTS: &str = "tests/requirements-old.txt";

/// An environment of its own.
struct Own {
    folder: &'static str,
    requirements: &'static str,
    /// The Pythons that there are wheels for.
    pythons: Range<Version>,
    choice: Choice,
}

/// The one that is taken of several Pythons.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Choice {
    /// That of people who stayed with an old release.
    Oldest,
    Newest,
}

const OWN: [Own; 5] = [
    // Tests of the Python package, under the oldest Python that it is for.
    Own {
        folder: super::PACKAGE,
        requirements: super::PACKAGE_REQUIREMENTS,
        pythons: Version(3, 11, 0)..Version(3, 15, 0),
        choice: Choice::Oldest,
    },
    // And under a new one: from 3.12 on, classes in Python can export a buffer, and numpy prefers that to `__array__`.
    Own {
        folder: super::PACKAGE_NEWEST,
        requirements: super::PACKAGE_REQUIREMENTS,
        pythons: Version(3, 12, 0)..Version(3, 15, 0),
        choice: Choice::Newest,
    },
    Own {
        folder: ".venv/old-blosc2",
        requirements: "tests/requirements-old-blosc2.txt",
        pythons: Version(3, 11, 0)..Version(3, 14, 0),
        choice: Choice::Oldest,
    },
    Own {
        folder: ".venv/mid-asdf",
        requirements: "tests/requirements-mid-asdf.txt",
        pythons: Version(3, 11, 0)..Version(3, 14, 0),
        choice: Choice::Oldest,
    },
    Own {
        folder: ".venv/old-asdf",
        requirements: "tests/requirements-old-asdf.txt",
        pythons: Version(3, 11, 0)..Version(3, 13, 0),
        choice: Choice::Oldest,
    },
];

/// Python code that prints the versions of the packages that are its arguments.
pub(super) const VERSIONS: &str = "import sys\nfrom importlib.metadata import version\n\
    print(', '.join(n + ' ' + version(n) for n in sys.argv[1:]))";

/// The texts of all their requirements.
///
/// # Errors
/// When one cannot be read.
pub(super) fn requirements(repo: &Repo) -> Result<String> {
    let names = [BESIDE_REQUIREMENTS].into_iter().chain(OWN.iter().map(|own| own.requirements));
    names.map(|name| fs::read_to_string(repo.path(name)).context(name)).collect()
}

/// Installs them into the environment of `python`, which was made just now.
///
/// # Errors
/// When the package index refuses, or no Python here has wheels of one.
pub(super) fn make(repo: &Repo, python: &Path, found: &[Python]) -> Result<()> {
    super::pip(repo, python).args(["--no-deps", "--target", BESIDE, "-r", BESIDE_REQUIREMENTS]).run()?;
    OWN.iter().try_for_each(|own| own.make(repo, python, found))
}

impl Own {
    fn python(&self, repo: &Repo) -> PathBuf {
        interpreter(&repo.path(self.folder))
    }

    /// Installs with the pip of `newest`, which spares this environment one of its own.
    fn make(&self, repo: &Repo, newest: &Path, found: &[Python]) -> Result<()> {
        let mut bases: Vec<&Python> =
            found.iter().filter(|base| self.pythons.contains(&base.version)).collect();
        if self.choice == Choice::Oldest {
            bases.reverse();
        }
        let mut tried = Vec::new();
        for base in bases {
            let venv = ["-m", "venv", "--without-pip", "--clear", self.folder];
            let made = Step::new(repo, &base.program).args(venv).run();
            let pip = || Step::new(repo, newest).args(["-m", "pip", "--python"]).arg(self.python(repo));
            let install = || super::install(pip()).args(["-r", self.requirements]).run();
            match made.and_then(|()| install()) {
                Ok(()) => return Ok(()),
                Err(error) => tried.push(format!("Python {}: {error:#}", base.version)),
            }
        }
        let (Version(major, minor, _), Version(.., below, _)) = (self.pythons.start, self.pythons.end);
        bail!(
            "{} needs a Python from {major}.{minor} to {major}.{} ({})",
            self.requirements,
            below - 1,
            if tried.is_empty() { "none was found".to_owned() } else { tried.join("; ") }
        )
    }

    fn describe(&self, repo: &Repo) -> Result<String> {
        let python = self.python(repo);
        let names = package_names(&fs::read_to_string(repo.path(self.requirements))?);
        let versions = Step::new(repo, &python).args(["-c", VERSIONS]).args(names).stdout()?;
        Ok(format!("; {}, {}", super::version(repo, &python)?, versions.trim()))
    }
}

/// "gsd 3.4.1; Python 3.11.7, blosc2 3.1.1, numpy 2.2.6; …".
///
/// # Errors
/// When one of them is not there.
pub(super) fn describe(repo: &Repo, python: &Path) -> Result<String> {
    let names = package_names(&fs::read_to_string(repo.path(BESIDE_REQUIREMENTS))?);
    let beside = Step::new(repo, python)
        .args(["-c", VERSIONS])
        .args(names)
        .env("PYTHONPATH", repo.path(BESIDE))
        .stdout()?;
    let own = OWN.iter().map(|own| own.describe(repo)).collect::<Result<String>>()?;
    Ok(format!("{}{own}", beside.trim()))
}
