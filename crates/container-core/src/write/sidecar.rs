//! Sidecar files next to another file: journals of changes.

use std::ffi::OsString;
use std::fs::{self, File, Metadata};
use std::io::{ErrorKind, Write as _};
use std::path::{Path, PathBuf};

use super::{keep_permissions, sync_directory, temporary};
use crate::source::read_exact_at;
use crate::{Error, Result};

/// A file whose name is that of another with a suffix; it need not exist.
#[derive(Clone, Debug)]
pub struct SidecarFile {
    path: PathBuf,
    /// The file next to which it is.
    of: PathBuf,
}

impl SidecarFile {
    /// The sidecar of the file at `path`, links resolved: its name with `suffix` appended.
    #[must_use]
    pub fn new(path: &Path, suffix: &str) -> Self {
        // Parent folders are the same for both names, so that only a link at the end has to be followed.
        let is_link = path.symlink_metadata().is_ok_and(|about| about.is_symlink());
        let of = if is_link { path.canonicalize() } else { std::path::absolute(path) };
        let of = of.unwrap_or_else(|_| path.to_owned());
        let mut name = OsString::from(&of);
        name.push(suffix);
        Self { path: name.into(), of }
    }

    /// Its name.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens it for reading, if it is a regular file with one name, of the user who owns the file next to it, or of this process's. Any other file
    /// there may be from another user.
    ///
    /// # Errors
    /// `Io`.
    pub(super) fn open(&self) -> Result<Own> {
        let about = match fs::symlink_metadata(&self.path) {
            Ok(about) => about,
            // A name that is too long cannot exist.
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::InvalidFilename) => {
                return Ok(Own::Absent);
            }
            Err(error) => return Err(self.named(error)),
        };
        if let Some(reason) = self.reason_against(&about) {
            return Ok(Own::Foreign(reason));
        }
        let file = match open_plain(&self.path) {
            Ok(file) => file,
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(Own::Absent),
            Err(error) => return Err(self.named(error)),
        };
        // Another file may have taken the name in between.
        let about = file.metadata().map_err(|error| self.named(error))?;
        Ok(match self.reason_against(&about) {
            Some(reason) => Own::Foreign(reason),
            None => Own::File(OwnFile { file, len: about.len(), beside: self.clone() }),
        })
    }

    /// A reason not to trust a file of this name.
    fn reason_against(&self, about: &Metadata) -> Option<String> {
        if about.is_symlink() {
            return Some("it is a link".to_owned());
        }
        if !about.is_file() {
            return Some("not a regular file".to_owned());
        }
        self.owner_against(about)
    }

    #[cfg(unix)]
    fn owner_against(&self, about: &Metadata) -> Option<String> {
        use std::os::unix::fs::MetadataExt;
        if about.nlink() > 1 {
            return Some(format!("it has {} hard links", about.nlink()));
        }
        let is_owners = fs::metadata(&self.of).is_ok_and(|of| of.uid() == about.uid());
        let is_ours = rustix::process::geteuid().as_raw() == about.uid();
        (!is_owners && !is_ours).then(|| format!("it belongs to another user, {}", about.uid()))
    }

    /// Ownership is not checked elsewhere.
    #[cfg(not(unix))]
    fn owner_against(&self, _about: &Metadata) -> Option<String> {
        None
    }

    /// Creates it with the contents `bytes`, in one step, with the permissions of the file next to it. When this returns it is on the disk.
    ///
    /// # Errors
    /// `Usage` where the name is taken; `Io`. No file is created then.
    pub fn put(&self, bytes: &[u8]) -> Result<()> {
        let mut file = temporary::file(&self.of, 0o600).map_err(|error| self.named(error))?;
        file.write_all(bytes)?;
        // Users who may read the file have to read this, too.
        keep_permissions(file.as_file(), &self.of)?;
        file.as_file().sync_all()?;
        if let Err(failed) = file.persist_noclobber(&self.path) {
            return Err(match failed.error.kind() {
                ErrorKind::AlreadyExists => Error::usage(format!("{} exists already", self.path.display())),
                _ => self.named(failed.error),
            });
        }
        sync_directory(&self.path).inspect_err(|_| _ = fs::remove_file(&self.path))
    }

    /// Removes it, if it exists. It may reappear after a power cut.
    ///
    /// # Errors
    /// `Io`.
    pub fn remove(&self) -> Result<()> {
        match fs::remove_file(&self.path) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Syncs the change of its name to the disk.
    ///
    /// # Errors
    /// `Io`.
    pub fn sync_name(&self) -> Result<()> {
        sync_directory(&self.path)
    }

    /// An error that names the file.
    pub fn named(&self, error: impl Into<Error>) -> Error {
        error.into().in_file(self.path.display().to_string())
    }
}

/// The file that has the name of a [`SidecarFile`].
pub(super) enum Own {
    /// No file.
    Absent,
    /// A file that is not trusted: the reason.
    Foreign(String),
    /// A file.
    File(OwnFile),
}

/// An open file that belongs to another.
pub(super) struct OwnFile {
    file: File,
    len: u64,
    beside: SidecarFile,
}

impl OwnFile {
    pub(super) const fn len(&self) -> u64 {
        self.len
    }

    /// # Errors
    /// `Io`.
    pub(super) fn read_at(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        read_exact_at(&self.file, at, dst).map_err(|error| self.beside.named(error))
    }
}

/// Opens a file that is neither a link nor waits for a writer.
#[cfg(unix)]
fn open_plain(path: &Path) -> std::io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    Ok(File::from(openat(CWD, path, flags, Mode::empty())?))
}

#[cfg(not(unix))]
fn open_plain(path: &Path) -> std::io::Result<File> {
    File::open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(beside: &SidecarFile) -> Option<Vec<u8>> {
        match beside.open().unwrap() {
            Own::Absent => None,
            Own::Foreign(reason) => panic!("{reason}"),
            Own::File(own) => {
                let mut bytes = vec![0; usize::try_from(own.len()).unwrap()];
                own.read_at(0, &mut bytes).unwrap();
                Some(bytes)
            }
        }
    }

    #[test]
    fn put_writes_the_sidecar_until_remove_deletes_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        fs::write(&path, b"file").unwrap();
        let beside = SidecarFile::new(&path, ".journal");
        assert_eq!(bytes(&beside), None);
        beside.put(b"journal").unwrap();
        // An existing file is not replaced.
        assert!(matches!(beside.put(b"another").unwrap_err().kind(), crate::ErrorKind::Usage(_)));
        assert_eq!(bytes(&beside).unwrap(), b"journal");
        assert_eq!(fs::read(folder.path().join("a.journal")).unwrap(), b"journal");
        beside.remove().unwrap();
        beside.remove().unwrap();
        assert_eq!(bytes(&beside), None);
        let long = SidecarFile::new(&folder.path().join("n".repeat(250)), ".journal");
        assert_eq!(bytes(&long), None);
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
        SidecarFile::new(&link, ".journal").put(b"journal").unwrap();
        let journal = folder.path().join("a.journal");
        assert_eq!(journal.metadata().unwrap().permissions().mode() & 0o777, 0o664);
        assert_eq!(bytes(&SidecarFile::new(&path, ".journal")).unwrap(), b"journal");
    }
}
