//! Pythons of this machine. Each candidate is run and asked: names and folders promise nothing, and a pyenv shim may point to no version at all.

use std::collections::BTreeMap;
use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use crate::repo::folders;

/// Major, minor and micro.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version(pub(super) u32, pub(super) u32, pub(super) u32);

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.0, self.1, self.2)
    }
}

/// The oldest that the peers still support.
pub(super) const OLDEST: Version = Version(3, 11, 0);

#[derive(Debug)]
pub(super) struct Python {
    pub(super) program: PathBuf,
    pub(super) version: Version,
}

/// Answer of a candidate.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    version: Version,
    /// CPython and no preview: what wheels are built for.
    ordinary: bool,
    makes_venvs: bool,
}

/// Asked of every candidate; must run on any Python 3.
const ASK: &str = "import sys, platform
from importlib.util import find_spec
ordinary = sys.implementation.name == 'cpython' and sys.version_info[3] == 'final'
venvs = find_spec('venv') is not None and find_spec('ensurepip') is not None
print('python', '%d.%d.%d' % sys.version_info[:3], int(ordinary), int(venvs))";

/// The Pythons that can make the environment, newest first, one per version; none inside `except`, which is the
/// environment itself. Says which had to be passed over.
pub(super) fn usable(except: &Path) -> Vec<Python> {
    let mut by_version: BTreeMap<Version, PathBuf> = BTreeMap::new();
    let mut without: BTreeMap<Version, PathBuf> = BTreeMap::new();
    for program in candidates().into_iter().filter(|program| !program.starts_with(except)) {
        match ask(&program) {
            Some(Answer { version, ordinary: true, makes_venvs }) if version >= OLDEST => {
                let list = if makes_venvs { &mut by_version } else { &mut without };
                list.entry(version).or_insert(program);
            }
            _ => {}
        }
    }
    for (version, program) in without.iter().filter(|(version, _)| !by_version.contains_key(version)) {
        println!("Python {version} ({}) has no venv or ensurepip module: passed over", program.display());
    }
    let newest_first = by_version.into_iter().rev();
    newest_first.map(|(version, program)| Python { program, version }).collect()
}

/// Programs that may be a Python, those on PATH before those of pyenv.
fn candidates() -> Vec<PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let mut programs: Vec<PathBuf> = env::split_paths(&path).flat_map(|dir| in_folder(&dir)).collect();
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| env::home_dir().map(|home| home.join(".pyenv")));
    if let Some(pyenv) = pyenv
        && let Ok(versions) = folders(&pyenv.join("versions"))
    {
        programs.extend(versions.iter().flat_map(|dir| in_folder(&dir.join("bin"))));
    }
    programs
}

/// `python3`, `python` and `python3.NN` in `dir`.
fn in_folder(dir: &Path) -> Vec<PathBuf> {
    let minors = (OLDEST.1..OLDEST.1 + 20).rev().map(|minor| format!("python3.{minor}"));
    let names = ["python3".to_owned(), "python".to_owned()].into_iter().chain(minors);
    let programs = names.map(|name| dir.join(name + env::consts::EXE_SUFFIX));
    programs.filter(|program| program.is_file()).collect()
}

fn ask(program: &Path) -> Option<Answer> {
    let output = Command::new(program)
        .args(["-c", ASK])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output()
        .ok()
        .filter(|output| output.status.success())?;
    answer(&String::from_utf8(output.stdout).ok()?)
}

fn answer(text: &str) -> Option<Answer> {
    let mut words = text.lines().find_map(|line| line.strip_prefix("python "))?.split_whitespace();
    let mut numbers = words.next()?.split('.').map(str::parse);
    let mut number = || numbers.next()?.ok();
    let version = Version(number()?, number()?, number()?);
    let mut flag = || words.next().map(|word| word == "1");
    Some(Answer { version, ordinary: flag()?, makes_venvs: flag()? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_order_by_number_not_by_letter() {
        let version = |text: &str| answer(&format!("python {text} 1 1\n")).unwrap().version;
        assert!(version("3.9.18") < OLDEST);
        assert!(version("3.11.0") >= OLDEST);
        assert!(version("3.13.0") > version("3.9.18"));
        assert!(version("3.10.13") > version("3.10.2"));
        assert_eq!(version("3.14.1").to_string(), "3.14.1");
    }

    #[test]
    fn an_answer_is_found_among_noise_or_not_at_all() {
        let expected = Answer { version: Version(3, 12, 1), ordinary: true, makes_venvs: false };
        assert_eq!(answer("warning: x\npython 3.12.1 1 0\n"), Some(expected));
        for text in ["", "python", "python 3.12 1 1", "python 3.x.1 1 1", "python 3.12.1 1", "Python 3.12.1"]
        {
            assert_eq!(answer(text), None, "{text:?}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_shim_that_fails_is_passed_over() {
        assert_eq!(ask(Path::new("/bin/false")), None);
        assert_eq!(ask(Path::new("/bin/echo")), None);
        assert_eq!(ask(Path::new("/bin/no-such-python")), None);
    }
}
