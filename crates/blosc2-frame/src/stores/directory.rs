//! The directory of a `.b2d`: every frame below it, by its path. Links are not followed, so files outside are never read.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use container_core::report::{Finding, Severity};
use container_core::{Error, Result};

use super::leaf::severity_of;
use crate::header::MAGIC;
use crate::sparse_directory::INDEX_NAME;

/// Depth of nested directories that are searched.
pub(crate) const MAX_DEPTH: usize = 32;

/// Largest number of files and directories that are examined.
const MAX_ENTRIES: u64 = 1 << 20;

/// A frame in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct File {
    /// Its path below the store, with `/` between names.
    pub(crate) part: String,
    /// Its path.
    pub(crate) path: PathBuf,
    /// Bytes in it; of a sparse frame those of all its files.
    pub(crate) len: u64,
    /// True for a sparse frame, which is a directory.
    pub(crate) sparse: bool,
}

/// Entries below a directory.
#[derive(Default)]
pub(crate) struct Walk {
    /// Frames in the order of their paths.
    pub(crate) files: Vec<File>,
    /// Oddities.
    pub(crate) findings: Vec<Finding>,
    looked_at: u64,
}

impl Walk {
    /// Looks for frames below `root`.
    ///
    /// # Errors
    /// `Io` where `root` cannot be listed; `Limit` for over a million entries.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        let mut walk = Self::default();
        walk.list(root, "", 0)?;
        walk.files.sort_by(|a, b| a.part.cmp(&b.part));
        Ok(walk)
    }

    fn list(&mut self, directory: &Path, below: &str, depth: usize) -> Result<()> {
        for entry in fs::read_dir(directory)? {
            let entry = entry?;
            self.looked_at = self.looked_at.saturating_add(1);
            if self.looked_at > MAX_ENTRIES {
                return Err(Error::limit("entries of a directory", self.looked_at, MAX_ENTRIES));
            }
            let name = entry.file_name();
            let Some(name) = name.to_str() else {
                let part = format!("{below}{}", name.to_string_lossy());
                self.add_finding(Severity::Warning, "store_name", part, "its name is not UTF-8");
                continue;
            };
            let part = format!("{below}{name}");
            // Of the entry itself, not of what a link points to.
            let kind = entry.file_type()?;
            if kind.is_symlink() {
                self.add_finding(
                    Severity::Warning,
                    "store_link",
                    part,
                    "a symbolic link, which is not followed",
                );
            } else if kind.is_dir() {
                self.enter(&entry.path(), part, depth)?;
            } else if kind.is_file() {
                self.take(entry.path(), part)?;
            }
        }
        Ok(())
    }

    fn enter(&mut self, path: &Path, part: String, depth: usize) -> Result<()> {
        if is_plain_file(&path.join(INDEX_NAME)) {
            let len = size_of_files(path);
            self.files.push(File { part, path: path.to_owned(), len, sparse: true });
            return Ok(());
        }
        if depth >= MAX_DEPTH {
            let message = format!("a directory {MAX_DEPTH} levels down, which is not read");
            self.add_finding(Severity::Error, "store_depth", part, message);
            return Ok(());
        }
        if let Err(error) = self.list(path, &format!("{part}/"), depth + 1) {
            if !matches!(error.kind(), container_core::ErrorKind::Io(_)) {
                return Err(error);
            }
            self.add_finding(
                severity_of(&error),
                "store_unlisted",
                part,
                format!("it cannot be listed: {error}"),
            );
        }
        Ok(())
    }

    fn take(&mut self, path: PathBuf, part: String) -> Result<()> {
        // Files next to a frame that serve its changes are not part of the store: C-Blosc2's locks, our journals.
        if part.ends_with(".b2lock") || part.ends_with(".b2journal") {
            return Ok(());
        }
        let len = fs::symlink_metadata(&path)?.len();
        let is_leaf = if has_leaf_extension(&part) { Ok(true) } else { starts_like_a_frame(&path) };
        match is_leaf {
            Ok(true) => self.files.push(File { part, path, len, sparse: false }),
            Ok(false) => self.add_finding(Severity::Note, "store_stray", part, "a file that is not a frame"),
            Err(error) => self.add_finding(severity_of(&error), "leaf_unreadable", part, error.to_string()),
        }
        Ok(())
    }

    fn add_finding(
        &mut self,
        severity: Severity,
        code: &'static str,
        part: String,
        message: impl Into<String>,
    ) {
        let mut finding = Finding::new(severity, code, message);
        finding.part = Some(part);
        self.findings.push(finding);
    }
}

/// Extensions by which python-blosc2 takes a file for a leaf without reading it.
pub(crate) fn has_leaf_extension(part: &str) -> bool {
    [".b2nd", ".b2f", ".b2b"].iter().any(|extension| part.ends_with(extension))
}

/// True for a file, but not for a link to one.
pub(crate) fn is_plain_file(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|kind| kind.is_file())
}

/// Whether a file begins as a frame does.
///
/// # Errors
/// `Io` where the system does not give its bytes.
fn starts_like_a_frame(path: &Path) -> Result<bool> {
    let mut start = [0; MAGIC.len()];
    match fs::File::open(path).and_then(|mut file| file.read_exact(&mut start)) {
        Ok(()) => Ok(start == MAGIC),
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => Ok(false),
        Err(error) => Err(error.into()),
    }
}

fn size_of_files(directory: &Path) -> u64 {
    let entries = fs::read_dir(directory).into_iter().flatten().filter_map(std::result::Result::ok);
    entries.filter_map(|entry| entry.metadata().ok()).map(|kind| kind.len()).fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame_at(path: &Path) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, MAGIC).unwrap();
    }

    #[test]
    fn frames_are_found_by_extension_or_by_magic() {
        let root = tempfile::tempdir().unwrap();
        frame_at(&root.path().join("a.b2nd"));
        frame_at(&root.path().join("g/h/odd.name"));
        frame_at(&root.path().join("s.b2f/chunks.b2frame"));
        fs::write(root.path().join("s.b2f/00000000.chunk"), [0; 40]).unwrap();
        fs::write(root.path().join("broken.b2b"), b"").unwrap();
        fs::write(root.path().join("embed.b2e.b2lock"), b"x").unwrap();
        fs::write(root.path().join("notes.txt"), b"x").unwrap();
        let walk = Walk::new(root.path()).unwrap();
        let parts: Vec<(&str, u64, bool)> =
            walk.files.iter().map(|file| (file.part.as_str(), file.len, file.sparse)).collect();
        let magic = MAGIC.len() as u64;
        assert_eq!(
            parts,
            [
                ("a.b2nd", magic, false),
                ("broken.b2b", 0, false),
                ("g/h/odd.name", magic, false),
                ("s.b2f", magic + 40, true)
            ]
        );
        let codes: Vec<_> =
            walk.findings.iter().map(|finding| (finding.code, finding.part.as_deref())).collect();
        assert_eq!(codes, [("store_stray", Some("notes.txt"))]);
    }

    #[cfg(unix)]
    #[test]
    fn symlinks_are_reported_and_skipped() {
        let outside = tempfile::tempdir().unwrap();
        frame_at(&outside.path().join("secret.b2nd"));
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("out")).unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("round")).unwrap();
        std::os::unix::fs::symlink(outside.path().join("secret.b2nd"), root.path().join("a.b2nd")).unwrap();
        let walk = Walk::new(root.path()).unwrap();
        assert_eq!(walk.files, []);
        let mut parts: Vec<_> = walk.findings.iter().map(|finding| finding.part.clone().unwrap()).collect();
        parts.sort();
        assert_eq!(parts, ["a.b2nd", "out", "round"]);
        assert!(walk.findings.iter().all(|finding| finding.code == "store_link"));
    }

    #[test]
    fn the_depth_is_bounded() {
        let root = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", MAX_DEPTH + 2).collect();
        frame_at(&root.path().join(&deep).join("far.b2nd"));
        let near: PathBuf = std::iter::repeat_n("d", MAX_DEPTH).collect();
        frame_at(&root.path().join(&near).join("near.b2nd"));
        let walk = Walk::new(root.path()).unwrap();
        assert_eq!(walk.files.len(), 1);
        assert!(walk.files[0].part.ends_with("near.b2nd"));
        assert_eq!(walk.findings[0].code, "store_depth");
    }
}
