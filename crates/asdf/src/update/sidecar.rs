//! Where a journal is kept, so that tests can stand in for the disk.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use container_core::write::sync_directory;
use container_core::{Error, Limits, Result};

/// A journal's place.
pub trait Sidecar: Send + Sync {
    /// What is in it, if it is there.
    ///
    /// # Errors
    /// `Io`.
    fn read(&self, limits: &Limits) -> Result<Option<Vec<u8>>>;

    /// Makes `bytes` all that is in it, in one step. When this returns they are on the disk.
    ///
    /// # Errors
    /// `Io`.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;

    /// Takes it away. When this returns it does not come back.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&mut self) -> Result<()>;
}

/// The file beside another, named as that with `.asdfjournal` behind.
#[derive(Clone, Debug)]
pub(crate) struct FileSidecar(PathBuf);

impl FileSidecar {
    pub(crate) fn beside(path: &Path) -> Self {
        // Beside the file itself, whatever link leads to it.
        let mut name = OsString::from(path.canonicalize().unwrap_or_else(|_| path.to_owned()));
        name.push(".asdfjournal");
        Self(name.into())
    }

    fn directory(&self) -> &Path {
        self.0.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

impl Sidecar for FileSidecar {
    fn read(&self, limits: &Limits) -> Result<Option<Vec<u8>>> {
        // A link, a pipe or a directory of that name is not ours; nor is one that no memory holds.
        match fs::symlink_metadata(&self.0) {
            Ok(kind) if kind.is_file() && limits.allocate(kind.len()).is_ok() => Ok(Some(fs::read(&self.0)?)),
            _ => Ok(None),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let place = |error: std::io::Error| Error::from(error).part(self.0.display().to_string());
        // Whatever else has the name must not be replaced.
        if self.0.symlink_metadata().is_ok_and(|kind| !kind.is_file()) {
            return Err(Error::usage(format!("{} is in the way", self.0.display())));
        }
        let mut file =
            tempfile::Builder::new().prefix(".holdall-").tempfile_in(self.directory()).map_err(place)?;
        file.write_all(bytes)?;
        file.as_file().sync_all()?;
        file.persist(&self.0).map_err(|failed| place(failed.error))?;
        sync_directory(&self.0)
    }

    fn remove(&mut self) -> Result<()> {
        match fs::remove_file(&self.0) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => sync_directory(&self.0),
        }
    }
}
