//! Folders that are created for new files, and removed again if those fail.

use std::fs;
use std::path::{Path, PathBuf};

use container_core::{Error, Result};

/// Folders that were not there before. Dropped before [`NewFolders::keep`], those that are empty are removed.
#[derive(Debug, Default)]
pub(crate) struct NewFolders(Vec<PathBuf>);

impl NewFolders {
    /// Makes a folder and those above it, as far as they are not there.
    ///
    /// # Errors
    /// `Io`, with the name of the folder.
    pub(crate) fn make(&mut self, folder: &Path) -> Result<()> {
        let missing: Vec<&Path> = folder
            .ancestors()
            .take_while(|above| !above.as_os_str().is_empty() && above.symlink_metadata().is_err())
            .collect();
        for above in missing.into_iter().rev() {
            match fs::create_dir(above) {
                Ok(()) => self.0.push(above.to_owned()),
                // Made meanwhile by another program, or named twice: `a/../a`.
                Err(_) if above.is_dir() => {}
                Err(error) => return Err(named(error, above)),
            }
        }
        // A file or a dangling link in the place of the folder.
        if folder.as_os_str().is_empty() || folder.is_dir() {
            return Ok(());
        }
        fs::create_dir_all(folder).map_err(|error| named(error, folder))
    }

    /// Removes the empty ones of the folders that were made after the first `kept`.
    pub(crate) fn remove_after(&mut self, kept: usize) {
        while self.0.len() > kept {
            if let Some(folder) = self.0.pop() {
                // Folders with other files stay.
                let _ = fs::remove_dir(folder);
            }
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Lets them stay.
    pub(crate) fn keep(mut self) {
        self.0.clear();
    }
}

impl Drop for NewFolders {
    fn drop(&mut self) {
        self.remove_after(0);
    }
}

fn named(error: std::io::Error, folder: &Path) -> Error {
    Error::from(error).with_context("making the directory").with_subject(folder.display().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_empty_folders_that_were_made_are_removed() {
        let place = tempfile::tempdir().unwrap();
        let at = |name: &str| place.path().join(name);
        fs::create_dir(at("old")).unwrap();
        let mut folders = NewFolders::default();
        for name in ["old/a/b", "new/c", "new/c", "full"] {
            folders.make(&at(name)).unwrap();
        }
        assert!(at("old/a/b").is_dir() && at("new/c").is_dir());
        fs::write(at("full/file"), b"x").unwrap();
        drop(folders);
        assert!(at("old").is_dir() && !at("old/a").exists() && !at("new").exists());
        assert!(at("full/file").is_file());
        let mut folders = NewFolders::default();
        folders.make(&at("new/c")).unwrap();
        folders.keep();
        assert!(at("new/c").is_dir());
        fs::write(at("file"), b"x").unwrap();
        assert!(NewFolders::default().make(&at("file")).is_err());
        assert!(NewFolders::default().make(&at("file/d")).is_err());
        NewFolders::default().make(Path::new("")).unwrap();
    }
}
