//! Directories that appear whole or not at all.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{
    Durability, Overwrite, directory_of, exists, no_directory, of_target, sync_directory, temporary,
};
use crate::{Error, Result};

/// A directory that appears under its name only when it is complete.
///
/// It is filled next to its target, under a name that begins with `.holdall-`, and moved there by [`AtomicDirectory::commit`]. Dropped
/// without commit, it is removed with all its contents. The next writer of that target removes leftovers of a killed process.
#[derive(Debug)]
pub struct AtomicDirectory {
    temporary: tempfile::TempDir,
    /// Lock, held while the directory is filled: the next writer of the target removes unlocked leftovers.
    lock: Option<fs::File>,
    target: PathBuf,
    /// Whether an existing directory is replaced.
    replaces: bool,
}

impl AtomicDirectory {
    /// Starts a directory. `overwrite` permits replacing an existing one: all of its contents are then removed.
    ///
    /// # Errors
    /// `Usage` when the target exists and may not be replaced, or is not a directory; `Io`.
    pub fn create(target: impl AsRef<Path>, overwrite: Overwrite) -> Result<Self> {
        let target = target.as_ref();
        Self::start(target, overwrite).map_err(|error| of_target(error, target))
    }

    fn start(target: &Path, overwrite: Overwrite) -> Result<Self> {
        let target = resolve(target, overwrite)?;
        // A target that appears later has not been checked.
        let replaces = target.symlink_metadata().is_ok();
        let directory = directory_of(&target);
        let (temporary, lock) =
            temporary::directory(&target).map_err(|error| match directory.metadata() {
                Err(io) => no_directory(io, directory),
                Ok(_) => error,
            })?;
        Ok(Self { temporary, lock, target, replaces })
    }

    /// The directory to fill.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Moves the complete directory to its target. On Linux a replaced one is exchanged with it in one step, and then removed.
    ///
    /// # Errors
    /// `Usage` when the target has appeared meanwhile; `Io`. The target is then unchanged, unless the error is marked by
    /// [`Error::after_change`].
    pub fn commit(self, durability: Durability) -> Result<()> {
        let target = self.target.clone();
        self.finish(durability).map_err(|error| of_target(error, &target))
    }

    fn finish(self, durability: Durability) -> Result<()> {
        let Self { temporary, lock, target, replaces } = self;
        if durability == Durability::Synced {
            sync_below(temporary.path())?;
        }
        if replaces && target.symlink_metadata().is_ok() {
            fs::set_permissions(temporary.path(), target.metadata()?.permissions())?;
            // The replaced directory now has the temporary name, and is removed with it.
            exchange(temporary.path(), &target)?;
        } else {
            place(temporary.path(), &target)?;
        }
        let synced = match durability {
            Durability::Synced => sync_directory(&target).map_err(Error::after_change),
            Durability::Cached => Ok(()),
        };
        drop(lock);
        // After a move the temporary name is free.
        let closed = match temporary.close() {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(Error::from(error).after_change()),
            _ => Ok(()),
        };
        synced.and(closed)
    }
}

fn resolve(target: &Path, overwrite: Overwrite) -> Result<PathBuf> {
    match target.metadata() {
        Ok(_) if overwrite == Overwrite::Refuse => Err(exists()),
        Ok(kind) if !kind.is_dir() => Err(Error::usage("is not a directory")),
        Ok(_) => Ok(target.canonicalize()?),
        Err(_) if target.is_symlink() => Err(Error::usage("is a link to a missing directory")),
        Err(_) => Ok(target.to_owned()),
    }
}

/// Renames `from` to `to`, which must not exist.
#[cfg(target_os = "linux")]
fn place(from: &Path, to: &Path) -> Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(()),
        Err(Errno::EXIST) => Err(exists()),
        // Not every file system has it (NFS).
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => place_plainly(from, to),
        Err(errno) => Err(io::Error::from(errno).into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn place(from: &Path, to: &Path) -> Result<()> {
    place_plainly(from, to)
}

fn place_plainly(from: &Path, to: &Path) -> Result<()> {
    if to.symlink_metadata().is_ok() {
        return Err(exists());
    }
    Ok(fs::rename(from, to)?)
}

#[cfg(target_os = "linux")]
fn exchange(a: &Path, b: &Path) -> Result<()> {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    use rustix::io::Errno;
    match renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE) {
        Ok(()) => Ok(()),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => exchange_plainly(a, b),
        Err(errno) => Err(io::Error::from(errno).into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn exchange(a: &Path, b: &Path) -> Result<()> {
    exchange_plainly(a, b)
}

/// Exchanges the two in three renames; the first is undone where the second fails.
fn exchange_plainly(a: &Path, b: &Path) -> Result<()> {
    let mut aside = a.as_os_str().to_owned();
    aside.push(".old");
    fs::rename(b, &aside)?;
    if let Err(error) = fs::rename(a, b) {
        fs::rename(&aside, b)?;
        return Err(error.into());
    }
    Ok(fs::rename(&aside, a)?)
}

/// Has all that is below `directory` on the disk.
#[cfg(target_os = "linux")]
fn sync_below(directory: &Path) -> Result<()> {
    // One call for any number of files.
    rustix::fs::syncfs(fs::File::open(directory)?).map_err(io::Error::from)?;
    Ok(())
}

#[cfg(not(target_os = "linux"))]
fn sync_below(directory: &Path) -> Result<()> {
    let mut folders = vec![directory.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                folders.push(entry.path());
            } else {
                fs::OpenOptions::new().write(true).open(entry.path())?.sync_all()?;
            }
        }
        sync_directory(folder.join("."))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn a_directory_appears_whole_or_not_at_all() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.zarr");
        let made = AtomicDirectory::create(&target, Overwrite::Refuse).unwrap();
        fs::write(made.path().join("x"), b"1").unwrap();
        assert!(!target.exists());
        drop(made);
        assert!(names(place.path()).is_empty());
        for (overwrite, name) in [(Overwrite::Refuse, "x"), (Overwrite::Replace, "y")] {
            let made = AtomicDirectory::create(&target, overwrite).unwrap();
            fs::create_dir(made.path().join("c")).unwrap();
            fs::write(made.path().join(name), b"1").unwrap();
            made.commit(Durability::Synced).unwrap();
            assert_eq!(
                (names(place.path()), names(&target)),
                (vec!["a.zarr".into()], vec!["c".into(), name.into()])
            );
        }
        assert!(AtomicDirectory::create(&target, Overwrite::Refuse).is_err());
    }

    #[test]
    fn targets_created_meanwhile_are_preserved() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.zarr");
        let made = AtomicDirectory::create(&target, Overwrite::Refuse).unwrap();
        fs::create_dir(&target).unwrap();
        assert!(made.commit(Durability::Cached).is_err());
        assert_eq!(names(place.path()), ["a.zarr"]);
        // It has not been checked, even if replacing is permitted.
        let target = place.path().join("b.zarr");
        let made = AtomicDirectory::create(&target, Overwrite::Replace).unwrap();
        fs::create_dir(&target).unwrap();
        fs::write(target.join("theirs"), b"1").unwrap();
        assert!(made.commit(Durability::Cached).is_err());
        assert_eq!(names(&target), ["theirs"]);
        fs::write(place.path().join("file"), b"1").unwrap();
        assert!(AtomicDirectory::create(place.path().join("file"), Overwrite::Replace).is_err());
    }

    #[test]
    fn places_are_changed_where_the_system_cannot_do_it_in_one_step() {
        let place = tempfile::tempdir().unwrap();
        let (a, b) = (place.path().join("a"), place.path().join("b"));
        for path in [&a, &b] {
            fs::create_dir(path).unwrap();
            fs::write(path.join(path.file_name().unwrap()), b"1").unwrap();
        }
        exchange_plainly(&a, &b).unwrap();
        assert_eq!((names(&a), names(&b)), (vec!["b".to_owned()], vec!["a".to_owned()]));
    }
}
