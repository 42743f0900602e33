//! `THIRD-PARTY.txt`: what of others is in the program, and the texts of its licences.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::repo::Repo;
use crate::step::Step;

/// Beginnings of the names of files that hold licences.
const NAMES: [&str; 6] = ["license", "licence", "copying", "copyright", "notice", "unlicense"];

/// Depth to which a package is searched for them: C sources lie in folders of their own.
const DEPTH: usize = 2;

/// Files of others in the repository that the program has in it.
const FILES: [(&str, &str); 2] = [
    ("DejaVu Sans, the font of pictures", "crates/holdall-plot/fonts/LICENSE"),
    ("the schemas of the ASDF standard", "crates/asdf/schemas/LICENSE"),
];
/// Licences of what the page of `holdall serve` is built from, compressed.
const PAGE: &str = "crates/holdall-serve/assets/licences.txt.gz";

/// Parts of a program that no package of the registry holds.
const RUST: &str = "The standard library of Rust, https://www.rust-lang.org, is under MIT OR Apache-2.0, whose texts are below; copyright The Rust Project Contributors.\n";
const MUSL: &str = "The C library musl, https://musl.libc.org, is under the MIT licence, whose text is below; copyright 2005-2020 Rich Felker, et al.\n";

/// The text for the program of `package` with `features`, built for `target`.
pub(super) fn text(repo: &Repo, package: &str, features: &str, target: &str) -> Result<String> {
    let tree = ["tree", "--locked", "--prefix", "none", "--edges", "normal,no-proc-macro"];
    let tree = Step::cargo(repo)
        .args(tree)
        .args(["--package", package, "--features", features, "--target", target])
        .stdout()?;
    let linked: BTreeSet<(&str, &str)> = tree.lines().filter_map(package_of).collect();
    let metadata = ["metadata", "--locked", "--format-version=1", "--filter-platform", target];
    let metadata: Value = serde_json::from_str(&Step::cargo(repo).args(metadata).stdout()?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let mut list = String::new();
    let mut texts = Texts::default();
    for package in packages.iter().filter(|package| package["source"].is_string()) {
        let text = |key: &str| package[key].as_str().unwrap_or_default();
        if !linked.contains(&(text("name"), text("version"))) {
            continue;
        }
        let name = format!("{} {}", text("name"), text("version"));
        list += &format!("{name:<32} {:<42} {}\n", text("license"), text("repository"));
        let folder = Path::new(text("manifest_path")).parent().context("a manifest lies in a folder")?;
        for file in licence_files(folder, DEPTH)? {
            let bytes = fs::read(&file).with_context(|| file.display().to_string())?;
            texts.add(&name, &String::from_utf8_lossy(&bytes));
        }
    }
    for (what, file) in FILES {
        texts.add(what, &fs::read_to_string(repo.path(file)).with_context(|| file)?);
    }
    let mut page = String::new();
    flate2::read::GzDecoder::new(fs::File::open(repo.path(PAGE))?)
        .read_to_string(&mut page)
        .with_context(|| PAGE)?;
    texts.add("the page of `holdall serve`", &page);
    let musl = if target.contains("-musl") { MUSL } else { "" };
    Ok(format!(
        "What of others is in this program, and its licences.\n\n{RUST}{musl}\n{list}\n{}",
        texts.shown()
    ))
}

/// Name and version in a line of `cargo tree`.
fn package_of(line: &str) -> Option<(&str, &str)> {
    let (name, rest) = line.split_once(" v")?;
    Some((name, rest.split_whitespace().next()?))
}

/// The licence files in `folder`, and so many folders below it.
fn licence_files(folder: &Path, depth: usize) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut entries = fs::read_dir(folder)
        .with_context(|| folder.display().to_string())?
        .collect::<std::io::Result<Vec<_>>>()?;
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let kind = entry.file_type()?;
        let name = entry.file_name().to_string_lossy().to_lowercase();
        if kind.is_file() && NAMES.iter().any(|start| name.starts_with(start)) {
            found.push(entry.path());
        } else if kind.is_dir() && depth > 0 {
            found.extend(licence_files(&entry.path(), depth - 1)?);
        }
    }
    Ok(found)
}

/// Texts of licences, each once, with what is under it.
#[derive(Default)]
struct Texts(BTreeMap<String, (String, Vec<String>)>);

impl Texts {
    /// Texts that differ in white space alone are one.
    fn add(&mut self, whose: &str, text: &str) {
        let words: Vec<&str> = text.split_whitespace().collect();
        let (_, owners) = self.0.entry(words.join(" ")).or_insert_with(|| (text.to_owned(), Vec::new()));
        if !owners.iter().any(|owner| owner == whose) {
            owners.push(whose.to_owned());
        }
    }

    fn shown(&self) -> String {
        let rule = "=".repeat(80);
        let part = |(text, owners): &(String, Vec<String>)| {
            format!("{rule}\n{}\n{rule}\n\n{}\n\n", owners.join(", "), text.trim())
        };
        self.0.values().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_cargo_tree_name_packages() {
        assert_eq!(package_of("zstd-sys v2.0.16+zstd.1.5.7"), Some(("zstd-sys", "2.0.16+zstd.1.5.7")));
        assert_eq!(package_of("holdall v0.1.0 (/src/crates/holdall) (*)"), Some(("holdall", "0.1.0")));
        assert_eq!(package_of(""), None);
    }

    #[test]
    fn a_text_is_shown_once_with_all_that_is_under_it() {
        let mut texts = Texts::default();
        texts.add("a 1.0", "One licence\nin two lines.\n");
        texts.add("b 2.0", "One licence in\ntwo lines.");
        texts.add("b 2.0", "One licence in two lines.");
        texts.add("c 3.0", "Another.");
        let shown = texts.shown();
        assert_eq!(shown.matches("in two lines.").count(), 1, "{shown}");
        assert!(shown.contains("\na 1.0, b 2.0\n") && shown.contains("\nc 3.0\n"), "{shown}");
    }
}
