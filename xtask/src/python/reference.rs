//! The reference files of the ASDF Standard: only its source package has them, and they are not ours to copy.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::repo::Repo;
use crate::step::Step;

/// Pins the package by its digest.
pub(super) const REQUIREMENTS: &str = "tests/requirements-asdf-files.txt";
/// Folder where tests expect them.
const FOLDER: &str = ".venv/asdf-standard/reference_files";
/// Versions of the standard, each with its folder of 16 files.
const VERSIONS: [&str; 7] = ["1.0.0", "1.1.0", "1.2.0", "1.3.0", "1.4.0", "1.5.0", "1.6.0"];
const FILES: usize = 16 * VERSIONS.len();

/// Takes the folder out of the package; `filter` keeps every name inside the target.
const UNPACK: &str = "import sys, tarfile
from pathlib import Path
package, = Path(sys.argv[1]).glob('*.tar.gz')
with tarfile.open(package) as archive:
    for member in archive.getmembers():
        _, _, member.name = member.name.partition('/')
        if member.name.startswith('reference_files/') and member.isfile():
            archive.extract(member, sys.argv[1], filter='data')
";

/// Fetches the package and unpacks the files.
///
/// # Errors
/// When the package index refuses, or the package is another one than that of the digest.
pub(super) fn make(repo: &Repo, python: &Path) -> Result<()> {
    let folder = repo.path(FOLDER);
    let parent = folder.parent().unwrap_or(&folder);
    Step::new(repo, python)
        .args(["-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-input", "--no-deps"])
        .args(["--only-binary", ":all:", "--no-binary", "asdf-standard"])
        .args(["--require-hashes", "-r", REQUIREMENTS, "--dest"])
        .arg(parent)
        .run()?;
    Step::new(repo, python).args(["-c", UNPACK]).arg(parent).run()
}

/// "112 reference files".
///
/// # Errors
/// When some are missing.
pub(super) fn describe(repo: &Repo) -> Result<String> {
    let mut count = 0;
    for version in VERSIONS {
        for entry in fs::read_dir(repo.path(FOLDER).join(version))? {
            count += usize::from(entry?.path().extension().is_some_and(|it| it == "asdf"));
        }
    }
    ensure!(count == FILES, "{FOLDER} has {count} of {FILES} files");
    Ok(format!("; {count} reference files"))
}
