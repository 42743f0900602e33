//! Temporary names of new files and directories, and removal of what killed writers left under them.
//!
//! A name is `.holdall-<hash of the target's name>-<number>.part`, in the directory of the target, so that the next writer of that target
//! finds leftovers without a search through the directory. A writer holds an exclusive lock (`flock`) on the file or directory; a process
//! that ends loses its locks. So a regular file or a directory of the same user without a lock is a leftover, and is removed. Without such
//! locks, leftovers are kept.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use super::directory_of;
use crate::{Error, Result};

/// Maximum number of simultaneous writers of one target with such a name. Further ones get a name that is not searched for.
const MAX_NAMES: u32 = 4;

/// Number of attempts: another writer may take a leftover away just when its name is taken again.
const MAX_ATTEMPTS: u32 = 16;

/// The start of the name for a target, with the number of a writer.
fn start(target: &Path, number: u32) -> String {
    let name = target.file_name().unwrap_or_default();
    // FNV-1a: of two targets with the same hash, each leaves the other's locked files alone.
    let fold = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
    let hash = name.as_encoded_bytes().iter().fold(0xcbf2_9ce4_8422_2325, fold);
    format!(".holdall-{hash:016x}-{number}")
}

fn path(target: &Path, number: u32) -> PathBuf {
    directory_of(target).join(start(target, number) + SUFFIX)
}

const SUFFIX: &str = ".part";

/// Makes something of a new temporary name for `target` and locks it. `make` fails with `AlreadyExists` where there is something of that name.
fn make<T>(
    target: &Path,
    make: impl Fn(&mut tempfile::Builder<'_, '_>) -> io::Result<T>,
    lock: impl Fn(&T) -> io::Result<File>,
    place: impl Fn(&T) -> PathBuf,
) -> Result<(T, Option<File>)> {
    clean(target);
    for attempt in 0..MAX_ATTEMPTS {
        let prefix = start(target, attempt % MAX_NAMES);
        let mut builder = tempfile::Builder::new();
        builder.prefix(&prefix).suffix(SUFFIX).rand_bytes(0);
        match make(&mut builder) {
            Ok(made) => {
                let locked = lock(&made).ok().filter(try_lock);
                // Another process took it for a leftover before it was locked.
                if locked.as_ref().is_none_or(|file| is_at(file, &place(&made))) {
                    return Ok((made, locked));
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    let mut builder = tempfile::Builder::new();
    let made = make(builder.prefix(".holdall-").suffix(SUFFIX))?;
    let locked = lock(&made).ok().filter(try_lock);
    Ok((made, locked))
}

/// A new file next to `target`, with the permissions `mode` from the start.
pub(super) fn file(target: &Path, mode: u32) -> Result<tempfile::NamedTempFile> {
    let make_file = |builder: &mut tempfile::Builder<'_, '_>| {
        with_mode(builder, mode);
        builder.tempfile_in(directory_of(target))
    };
    let lock = |file: &tempfile::NamedTempFile| file.as_file().try_clone();
    make(target, make_file, lock, |file| file.path().to_owned()).map(|(file, _)| file)
}

/// A new directory next to `target`, with its lock.
pub(super) fn directory(target: &Path) -> Result<(tempfile::TempDir, Option<File>)> {
    let make_directory = |builder: &mut tempfile::Builder<'_, '_>| {
        with_mode(builder, 0o777);
        builder.tempdir_in(directory_of(target))
    };
    make(target, make_directory, |made| File::open(made.path()), |made| made.path().to_owned())
}

#[cfg(unix)]
fn with_mode(builder: &mut tempfile::Builder<'_, '_>, mode: u32) {
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(mode));
}

#[cfg(not(unix))]
fn with_mode(_builder: &mut tempfile::Builder<'_, '_>, _mode: u32) {}

/// A name for a file without one, before it replaces `target`. `link` fails with `AlreadyExists` where the name is taken.
#[cfg(target_os = "linux")]
pub(super) fn link(
    target: &Path,
    file: &File,
    link: impl Fn(&Path) -> io::Result<()>,
) -> Result<tempfile::TempPath> {
    clean(target);
    let is_locked = try_lock(file);
    for attempt in 0..MAX_ATTEMPTS {
        let path = path(target, attempt % MAX_NAMES);
        match link(&path) {
            Ok(()) => {
                let path = tempfile::TempPath::try_from_path(path)?;
                if !is_locked || is_at(file, &path) {
                    return Ok(path);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(Error::from(io::Error::from(io::ErrorKind::AlreadyExists))
        .with_context(format!("{MAX_NAMES} writers of one file")))
}

/// Removes leftovers of killed writers of `target`.
pub(super) fn clean(target: &Path) {
    for number in 0..MAX_NAMES {
        let path = path(target, number);
        // A leftover that cannot be removed is harmless.
        let _ = remove_leftover(&path);
    }
}

#[cfg(unix)]
fn remove_leftover(path: &Path) -> io::Result<()> {
    use rustix::fs::{CWD, Mode, OFlags};
    use std::os::unix::fs::MetadataExt;
    let about = path.symlink_metadata()?;
    let is_ours = about.uid() == rustix::process::geteuid().as_raw();
    if !is_ours || !(about.is_file() || about.is_dir()) {
        return Ok(());
    }
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(CWD, path, flags, Mode::empty())?);
    if !try_lock(&file) || !is_at(&file, path) {
        return Ok(());
    }
    if about.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) }
}

#[cfg(not(unix))]
fn remove_leftover(_path: &Path) -> io::Result<()> {
    Ok(())
}

/// Tries to take the lock, which is released when the file, and all handles that share its position, are closed.
fn try_lock(file: &File) -> bool {
    cfg!(unix) && file.try_lock().is_ok()
}

/// Whether `path` still names an open file.
#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let place = |about: std::fs::Metadata| (about.dev(), about.ino());
    let named = path.symlink_metadata().map(place);
    file.metadata().map(place).is_ok_and(|open| named.is_ok_and(|named| named == open))
}

#[cfg(not(unix))]
fn is_at(_file: &File, _path: &Path) -> bool {
    true
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::write::{AtomicDirectory, AtomicFile, Durability, Overwrite};
    use std::fs;

    fn names(directory: &Path) -> Vec<String> {
        let entries = fs::read_dir(directory).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn the_next_writer_of_a_target_removes_what_was_left() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a.ra");
        let leave = |number: u32| {
            fs::write(path(&target, number), b"left").unwrap();
        };
        leave(0);
        leave(3);
        // A directory, with something in it.
        fs::create_dir(path(&target, 2)).unwrap();
        fs::write(path(&target, 2).join("chunk"), b"left").unwrap();
        // Those of another target, and files of other names, are not this writer's.
        let other = path(&place.path().join("b.ra"), 0);
        fs::write(&other, b"theirs").unwrap();
        fs::write(place.path().join(".holdall-mine.part"), b"mine").unwrap();
        AtomicFile::create(&target, Overwrite::Refuse).unwrap().commit(Durability::Cached).unwrap();
        let kept = [".holdall-mine.part", other.file_name().unwrap().to_str().unwrap(), "a.ra"];
        let mut kept = kept.map(str::to_owned);
        kept.sort();
        assert_eq!(names(place.path()), kept);
        let target = place.path().join("d.zarr");
        fs::create_dir(path(&target, 1)).unwrap();
        AtomicDirectory::create(&target, Overwrite::Refuse).unwrap().commit(Durability::Cached).unwrap();
        assert_eq!(names(place.path()).len(), 4);
    }

    #[test]
    fn clean_keeps_temporary_files_of_other_writers() {
        let place = tempfile::tempdir().unwrap();
        let target = place.path().join("a");
        let mut files: Vec<_> = (0..6).map(|_| file(&target, 0o600).unwrap()).collect();
        let paths: Vec<_> = files.iter().map(|file| file.path().to_owned()).collect();
        clean(&target);
        assert!(paths.iter().all(|path| path.exists()));
        assert_eq!(paths[0], path(&target, 0));
        // A link and its target are not leftovers.
        files.remove(0);
        std::os::unix::fs::symlink(&paths[1], &paths[0]).unwrap();
        clean(&target);
        assert!(paths[0].is_symlink() && paths[1].exists());
        let made = AtomicDirectory::create(place.path().join("d"), Overwrite::Refuse).unwrap();
        clean(&place.path().join("d"));
        assert!(made.path().exists());
    }
}
