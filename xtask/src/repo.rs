//! The repository: its root, its text files, its packages.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result};
use serde_json::Value;

use crate::step::Step;

/// Packages that are workspaces of their own, beside the consumers; docs/decisions.md says why.
pub(crate) const BENCH: &str = "tests/bench/Cargo.toml";
pub(crate) const FUZZ: &str = "tests/fuzz/libfuzzer/Cargo.toml";
/// The extension module of the Python package.
pub(crate) const PY: &str = "crates/holdall-py/Cargo.toml";

#[derive(Debug)]
pub(crate) struct Repo {
    pub(crate) root: PathBuf,
}

/// A package of the workspace, as `cargo metadata` tells it.
#[derive(Debug)]
pub(crate) struct Package {
    pub(crate) name: String,
    /// Its manifest, relative to the root, with `/`.
    pub(crate) manifest: String,
    /// Its features, and those that each turns on.
    pub(crate) features: Vec<(String, Vec<String>)>,
    /// Dependencies that its users build with it, not its dev-dependencies: ours by folder, which is how their dependents call them.
    pub(crate) dependencies: Vec<String>,
    pub(crate) binaries: Vec<String>,
}

impl Repo {
    /// The repository that holds the current directory.
    ///
    /// # Errors
    /// When there is none.
    pub(crate) fn find() -> Result<Self> {
        let here = std::env::current_dir()?;
        let root = here.ancestors().find(|dir| dir.join("xtask/Cargo.toml").is_file());
        Ok(Self::at(root.context("run this inside the holdall repository")?))
    }

    pub(crate) fn at(root: impl AsRef<Path>) -> Self {
        Self { root: root.as_ref().to_owned() }
    }

    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.root.join(relative)
    }

    /// `path` as people write it: relative to the root, with `/`.
    pub(crate) fn name_of(&self, path: &Path) -> String {
        let path = path.strip_prefix(&self.root).unwrap_or(path);
        let parts: Vec<_> = path.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        parts.join("/")
    }

    /// Returns the folder where cargo builds.
    ///
    /// # Errors
    /// When `cargo metadata` fails.
    pub(crate) fn target(&self) -> Result<PathBuf> {
        let metadata = self.metadata("Cargo.toml")?;
        let dir =
            metadata["target_directory"].as_str().context("cargo metadata names no target directory")?;
        Ok(PathBuf::from(dir))
    }

    /// The packages of the workspace whose manifest is `manifest`, by name.
    ///
    /// # Errors
    /// When `cargo metadata` fails.
    pub(crate) fn packages(&self, manifest: &str) -> Result<Vec<Package>> {
        let metadata = self.metadata(manifest)?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let mut packages = packages
            .iter()
            .map(|package| self.package(package).context("cargo metadata has another form"))
            .collect::<Result<Vec<_>>>()?;
        packages.sort_by(|a, b| a.name.cmp(&b.name));
        Ok(packages)
    }

    /// The version of a package of the workspace.
    ///
    /// # Errors
    /// When there is none of that name.
    pub(crate) fn version(&self, package: &str) -> Result<String> {
        let metadata = self.metadata("Cargo.toml")?;
        let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
        let version =
            packages.iter().find(|other| other["name"] == package).map(|package| &package["version"]);
        let version = version.and_then(Value::as_str);
        Ok(version.with_context(|| format!("{package} has no version"))?.to_owned())
    }

    /// Returns the output of `cargo metadata` for the packages whose workspace's manifest is `manifest`.
    ///
    /// # Errors
    /// When it fails.
    pub(crate) fn metadata(&self, manifest: &str) -> Result<Value> {
        let text = Step::cargo(self)
            .args(["metadata", "--no-deps", "--format-version=1", "--manifest-path", manifest])
            .stdout()?;
        Ok(serde_json::from_str(&text)?)
    }

    fn package(&self, package: &Value) -> Option<Package> {
        let dependencies = package["dependencies"].as_array()?.iter();
        let dependencies = dependencies
            .filter(|dependency| dependency["kind"].as_str() != Some("dev"))
            .map(|dependency| Some(dependency_name(dependency)?.to_owned()))
            .collect::<Option<Vec<_>>>()?;
        let binaries = package["targets"].as_array()?.iter();
        let binaries = binaries
            .filter(|target| {
                target["kind"].as_array().is_some_and(|kinds| kinds.iter().any(|kind| kind == "bin"))
            })
            .map(|target| Some(target["name"].as_str()?.to_owned()))
            .collect::<Option<Vec<_>>>()?;
        let features = package["features"].as_object()?.iter().map(|(name, turns_on)| {
            let turns_on = turns_on.as_array()?.iter();
            Some((name.clone(), turns_on.filter_map(Value::as_str).map(str::to_owned).collect()))
        });
        Some(Package {
            name: package["name"].as_str()?.to_owned(),
            manifest: self.name_of(Path::new(package["manifest_path"].as_str()?)),
            features: features.collect::<Option<Vec<_>>>()?,
            dependencies,
            binaries,
        })
    }

    /// Every text file that is, or would be, committed: name and contents, by name.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn text_files(&self) -> Result<BTreeMap<String, String>> {
        let mut files = BTreeMap::new();
        for name in self.file_names()? {
            let path = self.path(&name);
            // Git also lists what is deleted but still in its index, and links to folders.
            if !path.is_file() {
                continue;
            }
            let bytes = fs::read(&path).with_context(|| name.clone())?;
            if !bytes.contains(&0)
                && let Ok(text) = String::from_utf8(bytes)
            {
                files.insert(name, text);
            }
        }
        Ok(files)
    }

    /// As [`Repo::text_files`], the Rust sources only.
    ///
    /// # Errors
    /// When a file cannot be read.
    pub(crate) fn rust_files(&self) -> Result<BTreeMap<String, String>> {
        let mut files = self.text_files()?;
        files.retain(|name, _| name.ends_with(".rs"));
        Ok(files)
    }

    /// Names from git where there is a checkout, else (an unpacked archive) from the tree itself.
    pub(crate) fn file_names(&self) -> Result<Vec<String>> {
        let git = Command::new("git")
            .args(["ls-files", "--cached", "--others", "--exclude-standard", "-z"])
            .current_dir(&self.root)
            .stderr(Stdio::null())
            .output();
        if self.path(".git").exists()
            && let Ok(output) = git
            && output.status.success()
        {
            let names = String::from_utf8_lossy(&output.stdout).into_owned();
            return Ok(names.split_terminator('\0').map(str::to_owned).collect());
        }
        let mut names = Vec::new();
        self.walk(&self.root, &mut names)?;
        Ok(names)
    }

    fn walk(&self, dir: &Path, names: &mut Vec<String>) -> Result<()> {
        const BUILT: [&str; 6] = [".git", ".venv", "__pycache__", "target", "corpus", "artifacts"];
        for entry in fs::read_dir(dir).with_context(|| self.name_of(dir))? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() && !BUILT.iter().any(|built| entry.file_name() == *built) {
                self.walk(&entry.path(), names)?;
            } else if kind.is_file() {
                names.push(self.name_of(&entry.path()));
            }
        }
        Ok(())
    }
}

/// The name by which rules call a dependency in the output of `cargo metadata`: the folder of one of ours, the package of another.
fn dependency_name(dependency: &Value) -> Option<&str> {
    let folder = dependency["path"].as_str().and_then(|path| Path::new(path).file_name()?.to_str());
    folder.or_else(|| dependency["name"].as_str())
}

/// The folders in `dir`, by name.
///
/// # Errors
/// When it cannot be listed.
pub(crate) fn folders(dir: &Path) -> Result<Vec<PathBuf>> {
    let mut folders = Vec::new();
    for entry in fs::read_dir(dir).with_context(|| dir.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            folders.push(entry.path());
        }
    }
    folders.sort();
    Ok(folders)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependencies_are_called_by_folder_or_by_package() {
        let name = |dependency: Value| dependency_name(&dependency).map(str::to_owned);
        let ours =
            serde_json::json!({"name": "holdall-gsd", "rename": "gsd", "path": "/src/holdall/crates/gsd"});
        assert_eq!(name(ours).as_deref(), Some("gsd"));
        assert_eq!(name(serde_json::json!({"name": "zstd", "rename": "z"})).as_deref(), Some("zstd"));
    }

    #[test]
    fn an_unpacked_archive_is_listed_without_what_was_built() {
        let root = std::env::temp_dir().join(format!("xtask-repo-{}", std::process::id()));
        for (name, bytes) in [
            ("README.md", &b"text"[..]),
            ("crates/a/src/lib.rs", b"// text"),
            ("testdata/a.ra", b"rawarray\0\0"),
            ("testdata/latin.txt", b"caf\xe9"),
            ("target/debug/a.rs", b"built"),
            (".venv/lib/a.py", b"installed"),
        ] {
            let path = root.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        }
        let repo = Repo::at(&root);
        let text: Vec<String> = repo.text_files().unwrap().into_keys().collect();
        let rust: Vec<String> = repo.rust_files().unwrap().into_keys().collect();
        fs::remove_dir_all(&root).unwrap();
        assert_eq!(text, ["README.md", "crates/a/src/lib.rs"]);
        assert_eq!(rust, ["crates/a/src/lib.rs"]);
    }
}
