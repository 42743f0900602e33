//! `consumers`: packages outside the workspace that depend on one crate each, as a stranger's would.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use toml::{Table, Value};

use crate::repo::{Repo, folders};
use crate::step::Step;
use crate::{Outcome, flags};

const FOLDER: &str = "tests/consumers";

/// Prefixes of the names that must not be in the dependency tree of a consumer.
const BANNED: &[(&str, &[&str])] = &[
    (
        "container-core-only",
        &[
            "zstd",
            "bzip2",
            "libbz2",
            "lz4",
            "lzma",
            "snap",
            "flate2",
            "zlib",
            "sha",
            "md",
            "crc32fast",
            "serde",
        ],
    ),
    ("asdf-only", &["rmp", "serde_json", "zfp", "arrow", "parquet"]),
    ("yaml11-only", &["zstd", "bzip2", "flate2", "rmp", "serde_yaml", "serde_json", "regex"]),
    ("rawarray-only", &["zstd", "bzip2", "libbz2", "yaml", "holdall-yaml", "serde_yaml", "rmp"]),
    ("blosc2-frame-only", &["bzip2", "libbz2", "yaml", "holdall-yaml", "serde_yaml", "serde_json", "zfp"]),
    (
        "gsd-only",
        &[
            "zstd",
            "bzip2",
            "libbz2",
            "lz4",
            "flate2",
            "zlib",
            "yaml",
            "holdall-yaml",
            "serde_yaml",
            "rmp",
            "arrow",
            "parquet",
        ],
    ),
];

pub(crate) fn consumers(repo: &Repo, args: &[String]) -> Result<Outcome> {
    flags(args, [])?;
    let target = repo.target()?;
    let ours: Vec<String> = repo.packages("Cargo.toml")?.into_iter().map(|package| package.name).collect();
    let outside = Outside::new()?;
    for dir in folders(&repo.path(FOLDER))? {
        let name = dir.file_name().context("a folder has a name")?.to_string_lossy().into_owned();
        let copy = outside.0.join(&name);
        copy_package(repo, &ours, &dir, &copy)?;
        let cargo =
            |command: &str| Step::cargo(repo).arg(command).dir(&copy).env("CARGO_TARGET_DIR", &target);
        cargo("run").arg("--quiet").run()?;
        let tree = cargo("tree").args(["--edges", "normal,build", "--prefix", "none"]).stdout()?;
        let banned =
            BANNED.iter().find(|(consumer, _)| *consumer == name).map_or(&[][..], |(_, names)| names);
        if let Some(line) = banned_in(&tree, banned) {
            bail!("{name} depends on {line}, which it must not need");
        }
        // The tree lists a package again wherever it is needed again.
        let packages: BTreeSet<&str> = tree.lines().map(|line| line.trim_end_matches(" (*)")).collect();
        println!("  {name}: {} packages in its tree", packages.len());
    }
    Ok(Outcome::Done)
}

/// The manifests of the consumers, relative to the root.
///
/// # Errors
/// When their folder cannot be listed.
pub(crate) fn manifests(repo: &Repo) -> Result<Vec<String>> {
    let folders = folders(&repo.path(FOLDER))?;
    Ok(folders.iter().map(|dir| repo.name_of(&dir.join("Cargo.toml"))).collect())
}

/// A temporary folder that is no part of the workspace; removed at the end.
struct Outside(PathBuf);

impl Outside {
    fn new() -> Result<Self> {
        let dir = std::env::temp_dir().join(format!("holdall-consumers-{}", std::process::id()));
        fs::create_dir_all(&dir)?;
        Ok(Self(dir))
    }
}

impl Drop for Outside {
    fn drop(&mut self) {
        // Nothing depends on its absence.
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn copy_package(repo: &Repo, ours: &[String], from: &Path, to: &Path) -> Result<()> {
    fs::create_dir_all(to.join("src"))?;
    fs::copy(from.join("src/main.rs"), to.join("src/main.rs")).with_context(|| repo.name_of(from))?;
    let manifest = fs::read_to_string(from.join("Cargo.toml")).with_context(|| repo.name_of(from))?;
    let workspace = fs::read_to_string(repo.path("Cargo.toml"))?;
    let manifest = with_profile(&with_absolute_paths(&manifest, from)?, &workspace, ours)?;
    fs::write(to.join("Cargo.toml"), manifest)?;
    // The versions of the workspace, so that what is built already is used again and no index is asked.
    if repo.path("Cargo.lock").is_file() {
        fs::copy(repo.path("Cargo.lock"), to.join("Cargo.lock"))?;
    }
    Ok(())
}

/// The manifest with the paths of its dependencies, relative to `dir`, made absolute.
fn with_absolute_paths(manifest: &str, dir: &Path) -> Result<String> {
    let mut manifest: Table = manifest.parse()?;
    let dependencies = manifest.get_mut("dependencies").and_then(Value::as_table_mut);
    for dependency in dependencies.context("a consumer without dependencies")?.iter_mut() {
        if let Some(path) = dependency.1.get_mut("path") {
            let relative = path.as_str().context("a path that is no text")?;
            *path = Value::String(plain(&dir.join(relative)).to_string_lossy().into_owned());
        }
    }
    Ok(manifest.to_string())
}

/// The manifest with the profile in which the workspace builds for tests, so that foreign packages are built once for both; `ours`,
/// which have other features here and are built again, without optimisation: a program runs for a moment.
fn with_profile(manifest: &str, workspace: &str, ours: &[String]) -> Result<String> {
    let (mut manifest, workspace): (Table, Table) = (manifest.parse()?, workspace.parse()?);
    let profile = workspace.get("profile").and_then(|profiles| profiles.get("dev"));
    let profile = profile.and_then(Value::as_table).context("the workspace has no profile dev")?;
    let mut profile = profile.clone();
    let packages = profile.entry("package").or_insert_with(|| Value::Table(Table::new()));
    let packages = packages.as_table_mut().context("profile.dev.package is no table")?;
    for name in ours {
        packages.insert(
            name.clone(),
            Value::Table(Table::from_iter([("opt-level".to_owned(), Value::Integer(0))])),
        );
    }
    manifest.insert(
        "profile".to_owned(),
        Value::Table(Table::from_iter([("dev".to_owned(), Value::Table(profile))])),
    );
    Ok(manifest.to_string())
}

/// `path` without `..`. `Path::canonicalize` would give Windows paths that cargo does not take.
fn plain(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => {
                plain.pop();
            }
            Component::CurDir => {}
            other => plain.push(other),
        }
    }
    plain
}

/// The first line of `tree` that begins with a banned name.
fn banned_in<'a>(tree: &'a str, banned: &[&str]) -> Option<&'a str> {
    tree.lines().find(|line| banned.iter().any(|name| line.starts_with(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relative_paths_become_absolute_and_the_rest_stays() {
        let manifest = "[package]\nname = \"a-only\"\n[workspace]\n[dependencies]\na = { path = \"../../../crates/a\" }\n";
        let dir = std::env::temp_dir().join("x/tests/consumers/a-only");
        let table: Table = with_absolute_paths(manifest, &dir).unwrap().parse().unwrap();
        let path = table["dependencies"]["a"]["path"].as_str().unwrap();
        assert_eq!(Path::new(path), std::env::temp_dir().join("x/crates/a"));
        assert_eq!(table["package"]["name"].as_str(), Some("a-only"));
        assert!(table.contains_key("workspace"));
    }

    #[test]
    fn consumers_are_built_in_the_profile_of_the_tests() {
        let workspace = "[workspace]\n[profile.dev]\nopt-level = 1\n[profile.dev.package]\n\"*\" = { debug = false }\n[profile.release]\nlto = true\n";
        let ours = ["a".to_owned()];
        let table: Table =
            with_profile("[package]\nname = \"a-only\"\n", workspace, &ours).unwrap().parse().unwrap();
        assert_eq!(table["profile"]["dev"]["opt-level"].as_integer(), Some(1));
        assert_eq!(table["profile"].as_table().unwrap().len(), 1);
        assert_eq!(table["profile"]["dev"]["package"]["*"]["debug"].as_bool(), Some(false));
        assert_eq!(table["profile"]["dev"]["package"]["a"]["opt-level"].as_integer(), Some(0));
        assert_eq!(table["package"]["name"].as_str(), Some("a-only"));
        assert!(with_profile("", "[workspace]\n", &ours).is_err());
    }

    #[test]
    fn banned_packages_are_found_in_a_tree() {
        let tree = "rawarray-only v0.0.0\nrawarray v0.1.0\nzstd-sys v2.0.16+zstd.1.5.7\n";
        assert_eq!(banned_in(tree, &["bzip2", "zstd"]), Some("zstd-sys v2.0.16+zstd.1.5.7"));
        assert_eq!(banned_in(tree, &["bzip2"]), None);
    }
}
