//! Atomic writing of files: a failure leaves no partial file, and readers never see one.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use crate::{Error, ErrorKind, Result};

mod directory;
#[cfg(feature = "journal")]
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
pub mod journal;
mod preallocate;
pub mod sectors;
#[cfg(feature = "journal")]
mod sidecar;
pub mod storage;
mod temporary;

pub use directory::AtomicDirectory;
#[cfg(feature = "journal")]
use sidecar::SidecarFile;

/// Treatment of a target that exists.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Overwrite {
    /// Fail, leaving it alone.
    #[default]
    Refuse,
    /// Replace it, in one step.
    Replace,
}

/// Guarantee about the disk when a write returns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// File and directory are synced first.
    #[default]
    Synced,
    /// The kernel writes them when it likes; a power cut may lose the file. One that replaces another is on the disk before it does.
    Cached,
}

/// A file that appears under its name only when it is complete.
///
/// It is written next to its target and moved there by [`AtomicFile::commit`]. Dropped without commit, it is removed. On Linux it is
/// written without a name where the file system supports that, so that a killed process leaves no file either, except in the moment in
/// which an existing target is replaced. The next writer of that target removes such a leftover.
#[derive(Debug)]
pub struct AtomicFile {
    temporary: Temporary,
    target: PathBuf,
    /// The target as the caller named it, for errors.
    name: PathBuf,
    /// The directory, for syncing its entry; `None` where it cannot be read.
    directory: Option<File>,
    overwrite: Overwrite,
}

#[derive(Debug)]
enum Temporary {
    #[cfg(target_os = "linux")]
    Unnamed(File),
    Named(tempfile::NamedTempFile),
}

impl AtomicFile {
    /// Starts a new file for `target`.
    ///
    /// # Errors
    /// `Usage` when the target exists and may not be replaced, or is not a regular file; `Io`.
    pub fn create(target: impl AsRef<Path>, overwrite: Overwrite) -> Result<Self> {
        let target = target.as_ref();
        Self::start(target, overwrite).map_err(|error| of_target(error, target))
    }

    fn start(name: &Path, overwrite: Overwrite) -> Result<Self> {
        let target = resolve(name, overwrite)?;
        let directory = directory_of(&target);
        temporary::clean(&target);
        let temporary = Self::unnamed(directory)?;
        let temporary = match temporary {
            Some(temporary) => temporary,
            None => match temporary::file(&target, 0o666) {
                Ok(file) => Temporary::Named(file),
                Err(error) => {
                    return Err(directory
                        .metadata()
                        .map_or_else(|io| no_directory(io, directory), |_| error));
                }
            },
        };
        let directory = if cfg!(unix) { File::open(directory).ok() } else { None };
        Ok(Self { temporary, target, name: name.to_owned(), directory, overwrite })
    }

    #[cfg(target_os = "linux")]
    fn unnamed(directory: &Path) -> Result<Option<Temporary>> {
        use rustix::fs::{CWD, Mode, OFlags};
        let flags = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        // Mode 666 less the umask, as for any new file.
        match rustix::fs::openat(CWD, directory, flags, Mode::from_raw_mode(0o666)) {
            // It is given its name through /proc, which a sandbox may lack.
            Ok(file) => {
                let named = Path::new(&name_in_proc(&file)).exists();
                Ok(named.then(|| Temporary::Unnamed(File::from(file))))
            }
            Err(
                errno @ (rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR | rustix::io::Errno::ACCESS),
            ) => Err(no_directory(io::Error::from(errno), directory)),
            // Not every file system has them (NFS, some overlays).
            Err(_) => Ok(None),
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn unnamed(_directory: &Path) -> Result<Option<Temporary>> {
        Ok(None)
    }

    /// The path at which it will appear: of a link to a file that is replaced, that file's.
    #[must_use]
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The file being written.
    #[must_use]
    pub fn file(&self) -> &File {
        match &self.temporary {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => file,
            Temporary::Named(file) => file.as_file(),
        }
    }

    /// Reserves room for `len` bytes, so that a full disk shows at once and the blocks are contiguous. The file ends where the last write
    /// ends, not at `len`.
    ///
    /// # Errors
    /// `Io` when the disk is full. File systems that cannot reserve are left alone.
    pub fn reserve(&self, len: u64) -> Result<()> {
        preallocate::take(self.file(), 0..len).map_err(|error| of_target(error, &self.name))
    }

    /// Compares the room on the disk with `len` bytes, the minimum length of the file. Reserves nothing.
    ///
    /// # Errors
    /// `Io` when the disk has less. File systems that do not report their room pass.
    pub fn require_room(&self, len: u64) -> Result<()> {
        preallocate::look(self.file(), 0..len).map_err(|error| of_target(error, &self.name))
    }

    /// Moves the complete file to its target.
    ///
    /// # Errors
    /// `Usage` when the target has appeared meanwhile and may not be replaced; `Io`. The target is then unchanged, unless only the last
    /// step failed, the sync of the directory: the new file is then in place, may not survive a power cut, and the error is marked by
    /// [`Error::after_change`].
    pub fn commit(self, durability: Durability) -> Result<()> {
        let name = self.name.clone();
        self.finish(durability).map_err(|error| of_target(error, &name))
    }

    fn finish(self, durability: Durability) -> Result<()> {
        if durability == Durability::Synced {
            self.file().sync_all()?;
        }
        let Self { temporary, target, directory, overwrite, .. } = self;
        match temporary {
            #[cfg(target_os = "linux")]
            Temporary::Unnamed(file) => link(&file, &target, overwrite, durability)?,
            Temporary::Named(file) => {
                let result = match overwrite {
                    Overwrite::Refuse => file.persist_noclobber(&target),
                    Overwrite::Replace => {
                        replace(file.as_file(), &target, durability)?;
                        file.persist(&target)
                    }
                };
                result.map_err(|failed| cannot_place(failed.error))?;
            }
        }
        match directory.filter(|_| durability == Durability::Synced) {
            Some(directory) => sync_open_directory(&directory).map_err(Error::after_change),
            None => Ok(()),
        }
    }
}

/// Makes the entry of the file at `path` in its directory last: without that a power cut may leave a file that was synced without
/// a name. Directories that cannot be opened, and systems on which they cannot be synced, are let pass.
///
/// # Errors
/// `Io`.
pub fn sync_directory(path: impl AsRef<Path>) -> Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(directory_of(path.as_ref())) {
        Ok(directory) => sync_open_directory(&directory),
        Err(_) => Ok(()),
    }
}

fn sync_open_directory(directory: &File) -> Result<()> {
    match directory.sync_all() {
        // Some file systems lack it.
        Err(error) if error.kind() != io::ErrorKind::InvalidInput => Err(error.into()),
        _ => Ok(()),
    }
}

/// Readies a complete file for the place of another, if there is one. Without a sync some file systems may leave an empty file after a power cut,
/// and the other would be lost.
fn replace(file: &File, target: &Path, durability: Durability) -> io::Result<()> {
    keep_permissions(file, target)?;
    if durability == Durability::Cached && target.symlink_metadata().is_ok() {
        file.sync_data()
    } else {
        Ok(())
    }
}

/// Gives `file` the permissions of the file at `target`, if there is one, and its owner and group, as far as the system lets: where the group cannot
/// be given, another group must not get its permissions.
///
/// # Errors
/// `Io`.
#[cfg(unix)]
fn keep_permissions(file: &File, target: &Path) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, PermissionsExt, fchown};
    const OF_GROUP: u32 = 0o2070;
    const AS_OWNER: u32 = 0o4000;
    let Ok(replaced) = target.metadata() else { return Ok(()) };
    let own = file.metadata()?;
    let mut mode = replaced.permissions().mode();
    if own.gid() != replaced.gid() && fchown(file, None, Some(replaced.gid())).is_err() {
        mode &= !OF_GROUP;
    }
    if own.uid() != replaced.uid() && fchown(file, Some(replaced.uid()), None).is_err() {
        mode &= !AS_OWNER;
    }
    // Last: a change of the owner takes some of them away.
    file.set_permissions(std::fs::Permissions::from_mode(mode))
}

/// Gives `file` the permissions of the file at `target`, if there is one.
///
/// # Errors
/// `Io`.
#[cfg(not(unix))]
fn keep_permissions(file: &File, target: &Path) -> io::Result<()> {
    match target.metadata() {
        Ok(replaced) => file.set_permissions(replaced.permissions()),
        Err(_) => Ok(()),
    }
}

/// Errors name the target, so that they are not taken for those of a source.
impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.file().write(bytes);
        written.map_err(|error| of_target(error.into(), &self.name).into())
    }

    fn flush(&mut self) -> io::Result<()> {
        let flushed = self.file().flush();
        flushed.map_err(|error| of_target(error.into(), &self.name).into())
    }
}

impl Seek for AtomicFile {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let moved = self.file().seek(to);
        moved.map_err(|error| of_target(error.into(), &self.name).into())
    }
}

/// Follows a link to the file that will be replaced, and refuses one that cannot or may not be replaced.
fn resolve(target: &Path, overwrite: Overwrite) -> Result<PathBuf> {
    match target.metadata() {
        Ok(kind) if kind.is_dir() => Err(Error::usage("is a directory, not a file")),
        Ok(kind) if !kind.is_file() => Err(Error::usage("is not a regular file")),
        Ok(_) if overwrite == Overwrite::Refuse => Err(exists()),
        Ok(_) => Ok(target.canonicalize()?),
        // A dangling link blocks the name as a file does.
        Err(_) if target.is_symlink() => Err(Error::usage("is a link to a missing file")),
        Err(_) => Ok(target.to_owned()),
    }
}

/// The error for a target that may not be replaced.
fn exists() -> Error {
    Error::usage("already exists").with_hint("use -f to replace it")
}

/// An error of a target, with its name; one of the operating system also with the attempt.
fn of_target(error: Error, target: &Path) -> Error {
    let error = error.with_subject(target.display().to_string());
    if matches!(error.kind(), ErrorKind::Io(_)) { error.with_context("writing") } else { error }
}

/// The error for a new file whose directory cannot be used.
fn no_directory(error: io::Error, directory: &Path) -> Error {
    let is_missing = error.kind() == io::ErrorKind::NotFound && directory.symlink_metadata().is_err();
    let error = Error::from(error).with_context(format!("directory {}", directory.display()));
    if is_missing { error.with_hint(format!("mkdir -p {}", directory.display())) } else { error }
}

fn cannot_place(error: io::Error) -> Error {
    if error.kind() == io::ErrorKind::AlreadyExists { exists() } else { error.into() }
}

fn directory_of(target: &Path) -> &Path {
    match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    }
}

#[cfg(target_os = "linux")]
fn name_in_proc(file: &impl std::os::fd::AsRawFd) -> String {
    format!("/proc/self/fd/{}", file.as_raw_fd())
}

/// Gives an unnamed file its name.
#[cfg(target_os = "linux")]
fn link(file: &File, target: &Path, overwrite: Overwrite, durability: Durability) -> Result<()> {
    use rustix::fs::{AtFlags, CWD, linkat};

    let unnamed = name_in_proc(file);
    let place = |at: &Path| linkat(CWD, unnamed.as_str(), CWD, at, AtFlags::SYMLINK_FOLLOW);
    match place(target) {
        Ok(()) => return Ok(()),
        Err(rustix::io::Errno::EXIST) if overwrite == Overwrite::Replace => {}
        Err(errno) => return Err(cannot_place(errno.into())),
    }
    // linkat never replaces: the file gets a temporary name next to its target and is renamed from there.
    replace(file, target, durability)?;
    let beside = temporary::link(target, file, |at| place(at).map_err(io::Error::from))?;
    beside.persist(target).map_err(|failed| failed.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = std::fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_file_appears_complete_or_not_at_all() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.ra");
        let mut file = AtomicFile::create(&target, Overwrite::Refuse).unwrap();
        file.write_all(b"half").unwrap();
        assert!(!target.exists());
        drop(file);
        assert!(names(directory.path()).is_empty());

        let mut file = AtomicFile::create(&target, Overwrite::Refuse).unwrap();
        file.reserve(1 << 20).unwrap();
        file.write_all(b"whole").unwrap();
        file.commit(Durability::Synced).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"whole");
        assert_eq!(names(directory.path()), ["a.ra"]);
    }

    #[test]
    fn an_existing_file_is_replaced_only_on_request() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a.ra");
        let mut early = AtomicFile::create(&target, Overwrite::Refuse).unwrap();
        std::fs::write(&target, b"old").unwrap();
        let error = AtomicFile::create(&target, Overwrite::Refuse).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)));
        // It appeared after the other writer had started.
        early.write_all(b"new").unwrap();
        assert!(early.commit(Durability::Cached).is_err());
        assert_eq!(std::fs::read(&target).unwrap(), b"old");

        let mut file = AtomicFile::create(&target, Overwrite::Replace).unwrap();
        file.write_all(b"new").unwrap();
        file.commit(Durability::Cached).unwrap();
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(names(directory.path()), ["a.ra"]);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn more_room_than_the_disk_has_is_refused_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let file = AtomicFile::create(directory.path().join("a"), Overwrite::Refuse).unwrap();
        for error in [file.reserve(1 << 60), file.require_room(1 << 60)] {
            let error = error.unwrap_err();
            let ErrorKind::Io(error) = error.kind() else { panic!("{error}") };
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
        }
        file.require_room(1 << 10).unwrap();
    }

    #[test]
    fn the_longest_name_can_be_replaced() {
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("n".repeat(250));
        for text in ["old", "new"] {
            let mut file = AtomicFile::create(&target, Overwrite::Replace).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.commit(Durability::Synced).unwrap();
        }
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
    }

    #[test]
    fn directories_and_missing_places_are_refused() {
        let directory = tempfile::tempdir().unwrap();
        assert!(AtomicFile::create(directory.path(), Overwrite::Replace).is_err());
        let nowhere = directory.path().join("no/such/a.ra");
        let error = AtomicFile::create(nowhere, Overwrite::Replace).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Io(_)));
    }

    #[cfg(unix)]
    #[test]
    fn a_link_is_followed_and_permissions_are_kept() {
        use std::os::unix::fs::PermissionsExt;
        let directory = tempfile::tempdir().unwrap();
        let (target, link) = (directory.path().join("a"), directory.path().join("b"));
        std::fs::write(&target, b"old").unwrap();
        std::fs::set_permissions(&target, PermissionsExt::from_mode(0o640)).unwrap();
        std::os::unix::fs::symlink("a", &link).unwrap();
        let mut file = AtomicFile::create(&link, Overwrite::Replace).unwrap();
        file.write_all(b"new").unwrap();
        file.commit(Durability::Cached).unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&target).unwrap(), b"new");
        assert_eq!(target.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    }

    /// Runs where this process may give files away, which the superuser may.
    #[cfg(unix)]
    #[test]
    fn a_file_keeps_its_owner_and_group() {
        use std::os::unix::fs::{MetadataExt, chown};
        let directory = tempfile::tempdir().unwrap();
        let target = directory.path().join("a");
        std::fs::write(&target, b"old").unwrap();
        let given = chown(&target, Some(1234), Some(2345)).is_ok();
        std::fs::set_permissions(&target, std::os::unix::fs::PermissionsExt::from_mode(0o2664)).unwrap();
        let mut file = AtomicFile::create(&target, Overwrite::Replace).unwrap();
        file.write_all(b"new").unwrap();
        file.commit(Durability::Synced).unwrap();
        let kind = target.metadata().unwrap();
        assert_eq!((std::fs::read(&target).unwrap(), kind.mode() & 0o7777), (b"new".to_vec(), 0o2664));
        assert!(!given || (kind.uid(), kind.gid()) == (1234, 2345), "{kind:?}");
    }

    #[test]
    fn refusals_of_a_target_name_it() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("a"), b"old").unwrap();
        let refused = |name: &str, overwrite| {
            let error = AtomicFile::create(at(name), overwrite).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
            let text = error.to_string().replace(&directory.path().display().to_string(), "D");
            (text, error.hint().map(str::to_owned))
        };
        let hint = Some("use -f to replace it".to_owned());
        assert_eq!(refused("a", Overwrite::Refuse), ("D/a: already exists".into(), hint));
        std::fs::create_dir(at("d")).unwrap();
        for overwrite in [Overwrite::Refuse, Overwrite::Replace] {
            assert_eq!(refused("d", overwrite), ("D/d: is a directory, not a file".into(), None));
        }
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("none", at("l")).unwrap();
            assert_eq!(refused("l", Overwrite::Replace), ("D/l: is a link to a missing file".into(), None));
            std::os::unix::fs::symlink("a", at("to a")).unwrap();
            let file = AtomicFile::create(at("to a"), Overwrite::Replace).unwrap();
            assert_eq!(file.target(), at("a").canonicalize().unwrap());
        }
        let mut file = AtomicFile::create(at("new"), Overwrite::Refuse).unwrap();
        assert_eq!(file.target(), at("new"));
        file.write_all(b"0123").unwrap();
        assert_eq!(file.seek(SeekFrom::Start(1)).unwrap(), 1);
        file.write_all(b"x").unwrap();
        file.flush().unwrap();
        assert_eq!(file.seek(SeekFrom::End(0)).unwrap(), 4);
        assert_eq!(file.file().metadata().unwrap().len(), 4);
        file.commit(Durability::Synced).unwrap();
        assert_eq!(std::fs::read(at("new")).unwrap(), b"0x23");
        sync_directory(at("new")).unwrap();
        sync_directory(at("none/of/them")).unwrap();
        assert_eq!(
            (directory_of(Path::new("a")), directory_of(Path::new("b/a"))),
            (Path::new("."), Path::new("b"))
        );
    }
}
