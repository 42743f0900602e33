//! `fixtures`: each folder of `testdata/` is made by its own `make.py` and listed in its `MANIFEST.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use sha2::{Digest as _, Sha256};
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::python::{self, hex};
use crate::repo::{Repo, folders};
use crate::step::Step;
use crate::{Outcome, Usage, flags};

/// The folders of fixtures; whatever else stands beside them is not one.
pub(crate) const FOLDERS: [&str; 3] = ["ok", "odd", "bad"];

pub(crate) fn fixtures(repo: &Repo, args: &[String]) -> Result<Outcome> {
    let (options, names): (Vec<_>, Vec<_>) = args.iter().cloned().partition(|arg| arg.starts_with('-'));
    let [check] = flags(&options, ["--check"])?;
    let dirs = wanted(folders(&repo.path("testdata"))?, &names)?;
    let python = python::ready(repo)?;
    let mut wrong = Vec::new();
    let mut count = 0;
    for dir in dirs {
        if !dir.join("MANIFEST.toml").is_file() {
            bail!("{} has no MANIFEST.toml", repo.name_of(&dir));
        }
        if dir.join("make.py").is_file() {
            Step::new(repo, &python)
                .args(["-B", "make.py"])
                .args(check.then_some("--check"))
                .dir(&dir)
                .run()?;
        }
        let manifest = fs::read_to_string(dir.join("MANIFEST.toml"))?;
        let listed = listed(&manifest).with_context(|| repo.name_of(&dir.join("MANIFEST.toml")))?;
        count += listed.len();
        wrong.extend(compare(&dir, &listed)?.iter().map(|what| format!("{}/{what}", repo.name_of(&dir))));
    }
    for what in &wrong {
        println!("{what}");
    }
    if !wrong.is_empty() {
        bail!("differences between manifests and fixtures: {}", wrong.len());
    }
    println!("{count} fixtures, each as its manifest says");
    Ok(Outcome::Done)
}

/// Of these folders those of the formats that are named; all if none is.
fn wanted(folders: Vec<PathBuf>, names: &[String]) -> Result<Vec<PathBuf>> {
    let is = |folder: &Path, name: &str| folder.file_name().is_some_and(|it| it == name);
    if let Some(name) = names.iter().find(|name| !folders.iter().any(|folder| is(folder, name))) {
        return Err(Usage(format!("no fixtures of a format {name:?}")).into());
    }
    let named = |folder: &PathBuf| names.is_empty() || names.iter().any(|name| is(folder, name));
    Ok(folders.into_iter().filter(named).collect())
}

/// Path and sha256 of each `[[file]]`, and of each of its `files` where it is a folder. Parsed, not deserialised: a
/// shape may hold numbers beyond TOML's i64.
fn listed(manifest: &str) -> Result<Vec<(String, String)>> {
    let manifest = DeTable::parse(manifest)?;
    let files = manifest.get_ref().get("file").and_then(|files| files.get_ref().as_array());
    let text = |file: &DeValue<'_>, key: &str| {
        let value = file.get(key).and_then(|value| value.get_ref().as_str());
        value.map(str::to_owned).with_context(|| format!("a [[file]] without {key}"))
    };
    let mut listed = Vec::new();
    for file in files.context("no [[file]] entries")?.iter().map(Spanned::get_ref) {
        let path = text(file, "path")?;
        match file.get("files").and_then(|files| files.get_ref().as_array()) {
            None => listed.push((path, text(file, "sha256")?)),
            Some(files) => {
                for file in files.iter().map(Spanned::get_ref) {
                    listed.push((format!("{path}/{}", text(file, "name")?), text(file, "sha256")?));
                }
            }
        }
    }
    Ok(listed)
}

/// Lists the differences between the list and the files below `dir`.
fn compare(dir: &Path, listed: &[(String, String)]) -> Result<Vec<String>> {
    let mut wrong = Vec::new();
    let mut names = BTreeSet::new();
    for (path, sha256) in listed {
        if !names.insert(path.as_str()) {
            wrong.push(format!("{path}: listed twice"));
        }
        match fs::read(dir.join(path)) {
            Ok(bytes) if hex(&Sha256::digest(&bytes)) == *sha256 => {}
            Ok(_) => wrong.push(format!("{path}: not the sha256 of the manifest")),
            Err(error) => wrong.push(format!("{path}: {error}")),
        }
    }
    for folder in FOLDERS {
        for path in files_below(dir, folder)? {
            if !names.contains(path.as_str()) {
                wrong.push(format!("{path}: not in the manifest"));
            }
        }
    }
    Ok(wrong)
}

/// The files in `dir/folder` and below, relative to `dir`, with `/`; none where there is no such folder.
///
/// # Errors
/// When a folder cannot be listed.
pub(crate) fn files_below(dir: &Path, folder: &str) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let path = dir.join(folder);
    if !path.is_dir() {
        return Ok(files);
    }
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
        if entry.file_type()?.is_dir() {
            files.extend(files_below(dir, &name)?);
        } else {
            files.push(name);
        }
    }
    files.sort();
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    // sha256("abc"), from FIPS 180-4's examples.
    const ABC: &str = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

    #[test]
    fn entries_without_path_or_digest_are_errors() {
        let manifest =
            format!("[[file]]\npath = \"ok/a.ra\"\nsha256 = \"{ABC}\"\nshape = [18446744073709551615]\n");
        assert_eq!(listed(&manifest).unwrap(), [("ok/a.ra".to_owned(), ABC.to_owned())]);
        let folder =
            format!("[[file]]\npath = \"ok/a.b2d\"\nfiles = [{{ name = \"b/c\", sha256 = \"{ABC}\" }}]\n");
        assert_eq!(listed(&folder).unwrap(), [("ok/a.b2d/b/c".to_owned(), ABC.to_owned())]);
        assert!(listed("[[file]]\npath = \"ok/a.ra\"\n").is_err());
        assert!(listed("").is_err());
    }

    #[test]
    fn formats_are_named_or_all() {
        let folders = || vec![PathBuf::from("testdata/blosc2"), PathBuf::from("testdata/gsd")];
        assert_eq!(wanted(folders(), &[]).unwrap(), folders());
        assert_eq!(wanted(folders(), &["gsd".to_owned()]).unwrap(), folders()[1..]);
        assert!(wanted(folders(), &["gs".to_owned()]).unwrap_err().is::<Usage>());
    }

    #[test]
    fn fixture_differences_of_every_kind_are_reported() {
        let dir = std::env::temp_dir().join(format!("xtask-fixtures-{}", std::process::id()));
        fs::create_dir_all(dir.join("bad/deep")).unwrap();
        for name in ["bad/a.ra", "bad/b.ra", "bad/deep/stray.ra", "bad/stray.txt", "bad.golden.txt"] {
            fs::write(dir.join(name), "abc").unwrap();
        }
        let entry = |path: &str, sha256: &str| (path.to_owned(), sha256.to_owned());
        let list =
            [entry("bad/a.ra", ABC), entry("bad/a.ra", ABC), entry("bad/b.ra", "00"), entry("ok/c.ra", ABC)];
        let wrong = compare(&dir, &list).unwrap();
        fs::remove_dir_all(&dir).unwrap();
        let begins: Vec<&str> = wrong.iter().map(|what| what.split(':').next().unwrap()).collect();
        assert_eq!(begins, ["bad/a.ra", "bad/b.ra", "ok/c.ra", "bad/deep/stray.ra", "bad/stray.txt"]);
    }
}
