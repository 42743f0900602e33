//! The containers below a folder.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

use container_core::format::Probe;
use container_core::{Error, Result};

use crate::formats::FORMATS;

/// The index of a sparse frame of Blosc2, beside which lie files `00000000.chunk` and so on.
const INDEX: &str = "chunks.b2frame";

/// Folders within folders beyond this are a mistake, or a trap.
const DEEPEST: usize = 128;

/// The containers below a folder, by name within each folder, files and folders together.
///
/// They are told by their bytes; files with the extension of a format are taken too, so that one with a ruined beginning is not passed over. A folder that
/// is itself a container is one, and its parts are not looked at; what else lies in a sparse frame of Blosc2 is, and so it is where `folder` is
/// one itself. Symbolic links to files are followed, those to
/// folders are not.
///
/// # Errors
/// `Io` for a folder that cannot be listed, `Limit` for one that is over 128 deep.
pub fn containers(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    walk(folder, DEEPEST, &mut found)?;
    Ok(found)
}

/// True for a folder that is no container itself, and may hold some.
#[must_use]
pub fn is_plain_folder(path: &Path) -> bool {
    path.is_dir() && !is_container(&Probe { head: &[], directory: Some(path) })
}

fn is_container(probe: &Probe<'_>) -> bool {
    FORMATS.iter().any(|format| (format.sniff)(probe))
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<()> {
    let at = |error: std::io::Error| Error::from(error).context(folder.display().to_string());
    if depth == 0 {
        return Err(Error::limit("folders within folders", DEEPEST as u64 + 1, DEEPEST as u64));
    }
    let mut entries = fs::read_dir(folder).map_err(at)?.collect::<Result<Vec<_>, _>>().map_err(at)?;
    entries.sort_by_key(fs::DirEntry::file_name);
    let has_parts = is_sparse_frame(folder);
    for entry in entries {
        let path = entry.path();
        if entry.file_type().map_err(at)?.is_dir() {
            let is_plain = is_plain_folder(&path);
            if !is_plain {
                found.push(path.clone());
            }
            if is_plain || is_sparse_frame(&path) {
                walk(&path, depth - 1, found)?;
            }
        } else if has_parts && is_part(&path) {
            // The frame is looked at as a whole.
        } else if path.is_file() && (has_extension(&path) || begins_as_container(&path)) {
            found.push(path);
        }
    }
    Ok(())
}

/// True for a folder with the index of a sparse frame of Blosc2. That alone makes it a frame: a stray one must not hide what else is there.
#[must_use]
pub fn is_sparse_frame(folder: &Path) -> bool {
    folder.join(INDEX).is_file()
}

fn is_part(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name == INDEX) || path.extension().is_some_and(|it| it == "chunk")
}

fn has_extension(path: &Path) -> bool {
    let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let is = |own: &&str| own.eq_ignore_ascii_case(extension);
    FORMATS.iter().flat_map(|format| format.extensions).any(is)
}

fn begins_as_container(path: &Path) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(Probe::LEN as u64).read_to_end(&mut head));
    read.is_ok() && is_container(&Probe { head: &head, directory: None })
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
        let found = containers(root.path()).unwrap();
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
        let beside = containers(&root.path().join("set.b2nd")).unwrap();
        assert_eq!(beside, expected[3..5].iter().map(|name| root.path().join(name)).collect::<Vec<_>>());
        assert!(is_plain_folder(root.path()) && !is_plain_folder(&root.path().join("set.b2nd")));
    }

    #[cfg(unix)]
    #[test]
    fn links_to_folders_are_no_way_round_in_circles() {
        let root = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(root.path(), root.path().join("again")).unwrap();
        assert!(containers(root.path()).unwrap().is_empty());
        assert!(containers(&root.path().join("missing")).is_err());
    }
}
