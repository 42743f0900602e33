//! `setup`: a virtual environment with the Python peers that tests, fixtures and benchmarks compare against.

mod find;
mod old_pythons;
mod reference;
mod suites;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};

use crate::repo::Repo;
use crate::step::Step;
use crate::{Outcome, flags};

use find::Python;

const REQUIREMENTS: &str = "tests/requirements.txt";
const VENV: &str = ".venv";
/// The environment in which the Python package is built and tested.
pub(crate) const PACKAGE: &str = ".venv/package";
pub(crate) const PACKAGE_REQUIREMENTS: &str = "tests/requirements-package.txt";
/// The same with the newest Python.
pub(crate) const PACKAGE_NEWEST: &str = ".venv/package-newest";
/// Source packages of peers, unpacked for their tests.
pub(crate) const SUITES: &str = suites::FOLDER;
/// Says from what the environment was made.
const STAMP: &str = "made-from.txt";
/// Pure Python that was only released as source.
const SOURCE_ONLY: &[&str] = &["bloscpack"];

pub(crate) fn setup(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let [fresh] = flags(args, ["--fresh"])?;
    if fresh && repo.path(VENV).exists() {
        fs::remove_dir_all(repo.path(VENV))?;
    }
    ready(repo)?;
    Ok(Outcome::Done)
}

/// The environment's Python, made now if there is none for the requirements as they are. Prints what it is.
///
/// # Errors
/// When no Python here can make it, saying what was tried.
pub(crate) fn ready(repo: &Repo) -> Result<PathBuf> {
    let requirements = Requirements::read(repo)?;
    let python = interpreter(&repo.path(VENV));
    if let Some(what) = up_to_date(repo, &python, &requirements) {
        println!("peers: {what} ({VENV}, up to date)");
        return Ok(python);
    }
    let found = find::usable(&repo.path(VENV));
    if found.is_empty() {
        bail!(
            "no Python {} or newer that can make virtual environments (modules venv and ensurepip) was found on PATH or among pyenv's versions",
            find::OLDEST
        );
    }
    let mut tried = Vec::new();
    for base in &found {
        match make(repo, base, &python, &requirements.newest) {
            Ok(()) => {
                old_pythons::make(repo, &python, &found)?;
                reference::make(repo, &python)?;
                suites::make(repo, &python)?;
                let what = describe_all(repo, &python, &requirements)?;
                fs::write(repo.path(VENV).join(STAMP), stamp(&requirements.all, &what))?;
                println!("peers: {what} ({VENV}, made with {})", base.program.display());
                return Ok(python);
            }
            Err(error) => {
                println!("Python {}: {error:#}", base.version);
                tried.push(base.version.to_string());
            }
        }
    }
    bail!(
        "no Python could install {REQUIREMENTS} (tried {}): is the package index reachable?",
        tried.join(", ")
    )
}

pub(crate) fn interpreter(venv: &Path) -> PathBuf {
    if cfg!(windows) { venv.join("Scripts").join("python.exe") } else { venv.join("bin").join("python") }
}

/// The texts of the requirements.
struct Requirements {
    newest: String,
    all: String,
}

impl Requirements {
    fn read(repo: &Repo) -> Result<Self> {
        let text = |name: &'static str| fs::read_to_string(repo.path(name)).context(name);
        let newest = text(REQUIREMENTS)?;
        let fetched = [text(reference::REQUIREMENTS)?, suites::requirements(repo)?];
        let all = [newest.clone(), old_pythons::requirements(repo)?, fetched.concat()].concat();
        Ok(Self { newest, all })
    }
}

/// Returns the packages of the environment, if it was made from these requirements and still works.
fn up_to_date(repo: &Repo, python: &Path, requirements: &Requirements) -> Option<String> {
    let stamped = fs::read_to_string(repo.path(VENV).join(STAMP)).ok()?;
    let what = describe_all(repo, python, requirements).ok()?;
    (stamped == stamp(&requirements.all, &what)).then_some(what)
}

fn stamp(requirements: &str, what: &str) -> String {
    format!("requirements sha256 {}\n{what}\n", hex(&Sha256::digest(requirements)))
}

fn make(repo: &Repo, base: &Python, python: &Path, requirements: &str) -> Result<()> {
    Step::new(repo, &base.program).args(["-m", "venv", "--clear", VENV]).run()?;
    // What was never released as a wheel is built by the setuptools that is installed here, not by the newest one.
    let setuptools = requirements.lines().find(|line| line.starts_with("setuptools=="));
    pip(repo, python).arg(setuptools.context("no setuptools== in the requirements")?).run()?;
    let built = SOURCE_ONLY.iter().flat_map(|name| ["--no-binary", name]);
    pip(repo, python).args(built).args(["--no-build-isolation", "--use-pep517", "-r", REQUIREMENTS]).run()
}

/// Wheels only: building numpy from source needs compilers and half an hour.
fn pip(repo: &Repo, python: &Path) -> Step {
    install(Step::new(repo, python).args(["-m", "pip"]))
}

fn install(pip: Step) -> Step {
    pip.args(["install", "--quiet", "--disable-pip-version-check", "--no-input", "--only-binary", ":all:"])
}

/// "Python 3.13.0, numpy 2.5.5; gsd 3.4.1; Python 3.11.7, blosc2 3.1.1; 112 reference files".
fn describe_all(repo: &Repo, python: &Path, requirements: &Requirements) -> Result<String> {
    let base = version(repo, python)?;
    let names = package_names(&requirements.newest);
    let new = Step::new(repo, python).args(["-c", old_pythons::VERSIONS]).args(names).stdout()?;
    let (old, files) = (old_pythons::describe(repo, python)?, reference::describe(repo)?);
    Ok(format!("{base}, {}; {old}{files}{}", new.trim(), suites::describe(repo)?))
}

/// "Python 3.13.0".
fn version(repo: &Repo, python: &Path) -> Result<String> {
    const PYTHON: &str = "import platform\nprint('Python ' + platform.python_version())";
    Ok(Step::new(repo, python).args(["-c", PYTHON]).stdout()?.trim().to_owned())
}

/// The names in a requirements file of `name==version` lines, each once.
fn package_names(requirements: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for line in requirements.lines().map(|line| line.split('#').next().unwrap_or_default().trim()) {
        let name: String = line.chars().take_while(|&c| c.is_alphanumeric() || "-_.".contains(c)).collect();
        if !name.is_empty() && !line.starts_with('-') && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requirement_names_are_listed_once() {
        let text = "# peers\nnumpy==2.2.6; python_version < \"3.11\"\nnumpy==2.5.5; python_version >= \"3.12\"\n\
                    --only-binary :all:\npython-lz4==4.4  # oracle\n\n";
        assert_eq!(package_names(text), ["numpy", "python-lz4"]);
    }

    #[test]
    fn the_stamp_changes_with_requirements_and_versions() {
        // sha256("abc"), from FIPS 180-4's examples.
        assert_eq!(
            stamp("abc", "Python 3.13.0"),
            "requirements sha256 ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\nPython 3.13.0\n"
        );
        assert_ne!(stamp("a", "x"), stamp("b", "x"));
        assert_ne!(stamp("a", "x"), stamp("a", "y"));
    }
}
