//! Files that stand beside another: journals of changes.

use std::ffi::OsString;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::{directory_of, keep_permissions, sync_directory};
use crate::{Error, Result};

/// A file that is called as another with something behind, whether it is there or not.
#[derive(Clone, Debug)]
pub struct Beside {
    path: PathBuf,
    /// The file beside which it is.
    of: PathBuf,
}

impl Beside {
    /// The one beside the file that `path` leads to, through whatever links, with `suffix` behind its name.
    #[must_use]
    pub fn new(path: &Path, suffix: &str) -> Self {
        let of = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let mut name = OsString::from(&of);
        name.push(suffix);
        Self { path: name.into(), of }
    }

    /// How many bytes there are. `None` where there is nothing, and for a link, a pipe or a directory of that name, which is somebody else's.
    ///
    /// # Errors
    /// `Io` where that cannot be told.
    pub fn len(&self) -> Result<Option<u64>> {
        match fs::symlink_metadata(&self.path) {
            Ok(kind) => Ok(Some(kind.len()).filter(|_| kind.is_file())),
            // A name that is longer than there are is nobody's.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
                Ok(None)
            }
            Err(error) => Err(self.named(error)),
        }
    }

    /// All that is in it.
    ///
    /// # Errors
    /// `Io`.
    pub fn read(&self) -> Result<Vec<u8>> {
        fs::read(&self.path).map_err(|error| self.named(error))
    }

    /// Makes `bytes` all that is in it, in one step, for whoever has rights to the file beside which it is. When this returns they are on the
    /// disk.
    ///
    /// # Errors
    /// `Usage` where a link, a pipe or a directory has its name; `Io`.
    pub fn put(&self, bytes: &[u8]) -> Result<()> {
        if self.path.symlink_metadata().is_ok_and(|kind| !kind.is_file()) {
            return Err(Error::usage(format!("{} is in the way", self.path.display())));
        }
        let mut file = tempfile::Builder::new()
            .prefix(".holdall-")
            .tempfile_in(directory_of(&self.path))
            .map_err(|error| self.named(error))?;
        file.write_all(bytes)?;
        // Whoever may read the file has to read this, too.
        keep_permissions(file.as_file(), &self.of)?;
        file.as_file().sync_all()?;
        file.persist(&self.path).map_err(|failed| self.named(failed.error))?;
        sync_directory(&self.path)
    }

    /// Takes it away, if it is there. It may come back after a power cut.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Makes last what has been done to its name.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync_name(&self) -> Result<()> {
        sync_directory(&self.path)
    }

    /// An error that tells which file it is about.
    pub fn named(&self, error: impl Into<Error>) -> Error {
        error.into().part(self.path.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_is_read_until_it_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"file").unwrap();
        let beside = Beside::new(&path, ".journal");
        assert_eq!(beside.len().unwrap(), None);
        for bytes in [&b"journal"[..], b"another"] {
            beside.put(bytes).unwrap();
            assert_eq!((beside.len().unwrap(), beside.read().unwrap()), (Some(7), bytes.to_vec()));
        }
        assert_eq!(fs::read(folder.path().join("a.journal")).unwrap(), b"another");
        beside.remove().unwrap();
        beside.remove().unwrap();
        assert_eq!(beside.len().unwrap(), None);
        assert!(beside.read().unwrap_err().to_string().contains("a.journal"));
        fs::create_dir(folder.path().join("a.journal")).unwrap();
        assert_eq!(beside.len().unwrap(), None);
        assert!(matches!(beside.put(b"x").unwrap_err().kind(), crate::ErrorKind::Usage(_)));
        let long = Beside::new(&folder.path().join("n".repeat(250)), ".journal");
        assert_eq!(long.len().unwrap(), None);
    }

    #[cfg(unix)]
    #[test]
    fn it_is_found_through_links_and_by_whoever_may_read_the_file() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a"), folder.path().join("link"));
        fs::write(&path, b"file").unwrap();
        fs::set_permissions(&path, PermissionsExt::from_mode(0o664)).unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        Beside::new(&link, ".journal").put(b"journal").unwrap();
        let journal = folder.path().join("a.journal");
        assert_eq!(journal.metadata().unwrap().permissions().mode() & 0o777, 0o664);
        assert_eq!(Beside::new(&path, ".journal").read().unwrap(), b"journal");
    }
}
