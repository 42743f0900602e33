//! The containers below a folder.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use container_core::Error;
use container_core::format::{Formats, Probe};

use crate::formats;

/// The index of a sparse frame of Blosc2, next to which are the files `00000000.chunk` and so on.
const INDEX: &str = "chunks.b2frame";

/// Folders within folders beyond this are a mistake, or a trap.
const DEEPEST: usize = 128;

/// An entry below a folder.
#[derive(Debug)]
pub enum Found {
    /// A container, or a file with the extension of one.
    Container(PathBuf),
    /// A folder that cannot be listed, or not to its end, and why: `Io`, and `Limit` for one that is over 128 deep. Or a file without the extension
    /// of a container whose first bytes cannot be read: it may be one.
    Unreadable(PathBuf, Error),
}

/// The containers below a folder, those of `further` formats included, by name within each folder, files and folders together. A folder that cannot be listed, or a file that cannot be
/// read, is listed among them and does not hide others.
///
/// A Blosc chunk without the extension of one is not listed: it may be part of a Zarr array.
///
/// Containers are detected by their bytes; files with the extension of a format are listed too, so that one with a ruined start is not skipped. A
/// folder that is itself a container is listed as one, without its parts. Other files in a sparse frame of Blosc2 are listed, also if `folder` is one
/// itself. Symbolic links to files are followed, those to folders are not; a broken link is listed if its name has the extension of a format.
#[must_use]
pub fn containers(folder: &Path, further: Formats) -> Vec<Found> {
    let mut found = Vec::new();
    walk(folder, DEEPEST, further, &mut found);
    found
}

/// True for a folder that is not a container itself, and may hold some.
#[must_use]
pub fn is_plain_folder(path: &Path, further: Formats) -> bool {
    path.is_dir() && !is_container(&Probe { head: &[], directory: Some(path), len: None }, further)
}

fn is_container(probe: &Probe<'_>, further: Formats) -> bool {
    formats::containers(further).any(|format| (format.sniff)(probe))
}

fn walk(folder: &Path, depth: usize, further: Formats, found: &mut Vec<Found>) {
    let Some(deeper) = depth.checked_sub(1) else {
        let error = Error::limit("folders within folders", DEEPEST as u64 + 1, DEEPEST as u64);
        found.push(Found::Unreadable(folder.to_owned(), error));
        return;
    };
    let (mut entries, cut) = list(folder);
    if let Some(error) = cut {
        found.push(Found::Unreadable(folder.to_owned(), error.into()));
    }
    entries.sort_by_key(fs::DirEntry::file_name);
    let has_parts = is_sparse_frame(folder);
    for entry in entries {
        let path = entry.path();
        let is_folder = match entry.file_type() {
            Ok(kind) => kind.is_dir(),
            Err(error) => {
                found.push(Found::Unreadable(path, error.into()));
                continue;
            }
        };
        if is_folder {
            let is_plain = !is_container(&Probe { head: &[], directory: Some(&path), len: None }, further);
            if !is_plain {
                found.push(Found::Container(path.clone()));
            }
            if is_plain || is_sparse_frame(&path) {
                walk(&path, deeper, further, found);
            }
        } else if has_parts && is_part(&path) {
            // The frame is one container.
        } else if has_extension(&path, further) && (path.is_file() || is_broken_link(&path)) {
            found.push(Found::Container(path));
        } else if path.is_file() {
            match begins_as_container(&path, further) {
                Ok(true) => found.push(Found::Container(path)),
                Ok(false) => {}
                Err(error) => found.push(Found::Unreadable(path, error.into())),
            }
        }
    }
}

/// Entries of a folder, and the error that ended the list, if one did.
fn list(folder: &Path) -> (Vec<fs::DirEntry>, Option<io::Error>) {
    let mut entries = Vec::new();
    let all = fs::read_dir(folder).and_then(|mut all| {
        all.try_for_each(|entry| {
            entries.push(entry?);
            Ok(())
        })
    });
    (entries, all.err())
}

/// True for a folder with the index of a sparse frame of Blosc2. Only the index makes it a frame: a stray chunk must not hide other files.
#[must_use]
pub fn is_sparse_frame(folder: &Path) -> bool {
    folder.join(INDEX).is_file()
}

fn is_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == INDEX) || path.extension().is_some_and(|it| it == "chunk")
}

fn has_extension(path: &Path, further: Formats) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is = |own: &&str| own.eq_ignore_ascii_case(extension);
    formats::containers(further).flat_map(|format| format.extensions).any(is)
}

/// True for a broken link, or one to itself.
fn is_broken_link(path: &Path) -> bool {
    path.is_symlink() && path.metadata().is_err()
}

fn begins_as_container(path: &Path, further: Formats) -> io::Result<bool> {
    let mut head = Vec::new();
    File::open(path)?.take(Probe::LEN as u64).read_to_end(&mut head)?;
    Ok(is_container(&Probe { head: &head, directory: None, len: None }, further))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(all(feature = "rawarray", feature = "blosc2"))]
    #[test]
    fn containers_are_found_by_bytes_and_by_extension() {
        let root = tempfile::tempdir().unwrap();
        let put = |name: &str, bytes: &[u8]| {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, bytes).unwrap();
        };
        put("z.ra", b"ruined");
        put("b/named_otherwise.dat", b"rawarray and more");
        put("b/a.txt", b"neither");
        put("a/deep/er/x.RA", b"");
        put("set.b2nd/chunks.b2frame", b"a part");
        put("set.b2nd/00000000.chunk", b"rawarray as a part");
        put("set.b2nd/stray.ra", b"no part");
        put("set.b2nd/more/stray.ra", b"no part");
        let found = paths(root.path());
        let names: Vec<_> = found.iter().map(|path| path.strip_prefix(root.path()).unwrap()).collect();
        let expected = [
            "a/deep/er/x.RA",
            "b/named_otherwise.dat",
            "set.b2nd",
            "set.b2nd/more/stray.ra",
            "set.b2nd/stray.ra",
            "z.ra",
        ];
        assert_eq!(names, expected.map(Path::new));
        let beside = paths(&root.path().join("set.b2nd"));
        assert_eq!(beside, expected[3..5].iter().map(|name| root.path().join(name)).collect::<Vec<_>>());
        assert!(is_plain_folder(root.path(), &[]) && !is_plain_folder(&root.path().join("set.b2nd"), &[]));
    }

    /// Paths of a folder that can be listed to its end.
    fn paths(folder: &Path) -> Vec<PathBuf> {
        let path = |found| match found {
            Found::Container(path) => path,
            Found::Unreadable(path, error) => panic!("{}: {error}", path.display()),
        };
        containers(folder, &[]).into_iter().map(path).collect()
    }

    #[cfg(unix)]
    #[test]
    fn symlinked_folders_are_skipped() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("again")).unwrap();
        assert!(containers(root.path(), &[]).is_empty());
        let missing = root.path().join("missing");
        let found = containers(&missing, &[]);
        assert!(matches!(&found[..], [Found::Unreadable(path, _)] if *path == missing), "{found:?}");
    }

    /// The kernel never gives bytes of a process's memory at 0.
    #[cfg(all(target_os = "linux", feature = "rawarray"))]
    #[test]
    fn unreadable_files_are_reported() {
        let root = tempfile::tempdir().unwrap();
        let link = |to: &str, name: &str| std::os::unix::fs::symlink(to, root.path().join(name)).unwrap();
        link("/proc/self/mem", "a");
        link("nowhere", "b.ra");
        link("nowhere", "c.txt");
        link("d.ra", "d.ra");
        let found = containers(root.path(), &[]);
        let [Found::Unreadable(a, error), Found::Container(b), Found::Container(d)] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(matches!(error.kind(), container_core::ErrorKind::Io(_)), "{error}");
        assert_eq!([a, b, d], ["a", "b.ra", "d.ra"].map(|name| root.path().join(name)).each_ref());
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_folder_that_is_too_deep_hides_no_file() {
        let root = tempfile::tempdir().unwrap();
        let deep: PathBuf = std::iter::repeat_n("d", DEEPEST).collect();
        fs::create_dir_all(root.path().join(&deep)).unwrap();
        for name in ["a.ra", "z.ra"] {
            fs::write(root.path().join(name), b"rawarray").unwrap();
        }
        let found = containers(root.path(), &[]);
        let [Found::Container(a), Found::Unreadable(folder, error), Found::Container(z)] = &found[..] else {
            panic!("{found:?}");
        };
        assert_eq!((a, z), (&root.path().join("a.ra"), &root.path().join("z.ra")));
        assert_eq!(*folder, root.path().join(&deep));
        assert!(matches!(error.kind(), container_core::ErrorKind::Limit { .. }), "{error}");
    }

    /// A folder whose path is longer than the system accepts, which no user can list.
    #[cfg(all(target_os = "linux", feature = "rawarray"))]
    #[test]
    fn a_folder_that_cannot_be_listed_hides_no_file() {
        let root = tempfile::tempdir().unwrap();
        // Half of a path's maximum length, under the other half.
        let half: PathBuf = std::iter::repeat_n("n".repeat(200), 12).collect();
        let (upper, lower) = (root.path().join("upper").join(&half), root.path().join("lower"));
        fs::create_dir_all(&upper).unwrap();
        fs::create_dir_all(lower.join(&half)).unwrap();
        fs::rename(&lower, upper.join("lower")).unwrap();
        for name in ["a.ra", "z.ra"] {
            fs::write(root.path().join(name), b"rawarray").unwrap();
        }
        let found = containers(root.path(), &[]);
        let [Found::Container(_), Found::Unreadable(folder, error), Found::Container(z)] = &found[..] else {
            panic!("{found:?}");
        };
        assert!(folder.starts_with(&upper), "{folder:?}");
        assert!(matches!(error.kind(), container_core::ErrorKind::Io(_)), "{error}");
        assert_eq!(*z, root.path().join("z.ra"));
    }
}
