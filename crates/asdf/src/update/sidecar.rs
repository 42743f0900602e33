//! Where a journal is kept, so that tests can stand in for the disk.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write};
use std::path::{Path, PathBuf};

use container_core::write::{keep_permissions, sync_directory};
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
pub(crate) struct FileSidecar {
    path: PathBuf,
    /// The file beside which it is.
    of: PathBuf,
}

impl FileSidecar {
    pub(crate) fn beside(path: &Path) -> Self {
        // Beside the file itself, whatever link leads to it.
        let of = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = OsString::from(&of);
        name.push(".asdfjournal");
        Self { path: name.into(), of }
    }

    fn directory(&self) -> &Path {
        self.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
    }
}

impl Sidecar for FileSidecar {
    fn read(&self, limits: &Limits) -> Result<Option<Vec<u8>>> {
        let place = |error: Error| error.part(self.path.display().to_string());
        match fs::symlink_metadata(&self.path) {
            Ok(kind) if kind.is_file() => {
                // Without it the file may be neither the old nor the new one.
                limits.allocate(kind.len()).map_err(place)?;
                Ok(Some(fs::read(&self.path).map_err(|error| place(error.into()))?))
            }
            // A link, a pipe or a directory of that name is not ours.
            Ok(_) => Ok(None),
            // A name that is longer than there are is nobody's.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
                Ok(None)
            }
            Err(error) => Err(place(error.into())),
        }
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        let place = |error: std::io::Error| Error::from(error).part(self.path.display().to_string());
        // Whatever else has the name must not be replaced.
        if self.path.symlink_metadata().is_ok_and(|kind| !kind.is_file()) {
            return Err(Error::usage(format!("{} is in the way", self.path.display())));
        }
        let mut file =
            tempfile::Builder::new().prefix(".holdall-").tempfile_in(self.directory()).map_err(place)?;
        file.write_all(bytes)?;
        // Whoever may read the file has to read this, too.
        keep_permissions(file.as_file(), &self.of)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|failed| place(failed.error))?;
        sync_directory(&self.path)
    }

    fn remove(&mut self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => sync_directory(&self.path),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_no_journal_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.asdf");
        fs::write(&path, b"file").unwrap();
        let mut sidecar = FileSidecar::beside(&path);
        assert!(sidecar.read(&Limits::default()).unwrap().is_none());
        sidecar.put(b"journal").unwrap();
        assert_eq!(sidecar.read(&Limits::default()).unwrap().unwrap(), b"journal");
        let refused = sidecar.read(&Limits::default().with_memory(3)).unwrap_err();
        assert!(matches!(refused.kind(), container_core::ErrorKind::Limit { .. }), "{refused}");
        let long = FileSidecar::beside(&folder.path().join("n".repeat(250)));
        assert!(long.read(&Limits::default()).unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn whoever_may_read_the_file_may_read_its_journal() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.asdf");
        fs::write(&path, b"file").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o664)).unwrap();
        FileSidecar::beside(&path).put(b"journal").unwrap();
        let journal = folder.path().join("a.asdf.asdfjournal");
        assert_eq!(journal.metadata().unwrap().permissions().mode() & 0o777, 0o664);
    }
}
