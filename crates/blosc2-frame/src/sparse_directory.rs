//! The files of a sparse frame: a directory with `chunks.b2frame`, and each chunk in a file named by its number.
//!
//! Names are made of numbers alone, and links are not followed, so that all files of a frame are in its directory.

use std::fs;
use std::path::{Path, PathBuf};

use container_core::source::{Access, Source, open_path};
use container_core::{Error, ErrorKind, Limits, Result};

/// The file with header, index and trailer.
pub(crate) const INDEX_NAME: &str = "chunks.b2frame";

/// Returns the name of the file of the chunk with this number.
pub(crate) fn part_name(number: u64) -> String {
    format!("{number:08X}.chunk")
}

/// Returns the number in a file's name.
pub(crate) fn part_number(name: &str) -> Option<u64> {
    let digits = name.strip_suffix(".chunk")?;
    let number = u64::from_str_radix(digits, 16).ok()?;
    (part_name(number) == name).then_some(number)
}

/// Directory of the chunks of a sparse frame.
#[derive(Clone, Debug)]
pub(crate) struct SparseDirectory {
    dir: PathBuf,
    access: Access,
}

impl SparseDirectory {
    pub(crate) fn new(dir: &Path, access: Access) -> Self {
        Self { dir: dir.to_owned(), access }
    }

    /// Opens the file of the chunk with this number.
    ///
    /// # Errors
    /// `Malformed` for a missing file, or an entry that is not a file; `Io`.
    pub(crate) fn open(&self, number: u64, limits: &Limits) -> Result<Box<dyn Source>> {
        let name = part_name(number);
        open_file(&self.dir.join(&name), self.access, limits).map_err(|error| error.in_file(name))
    }

    /// Returns the numbers and sizes of all files with names of chunks, in the order of the numbers.
    pub(crate) fn list(&self) -> Result<Vec<(u64, u64)>> {
        let mut found = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let name = entry.file_name();
            if let Some(number) = name.to_str().and_then(part_number) {
                found.push((number, entry.metadata()?.len()));
            }
        }
        found.sort_unstable();
        Ok(found)
    }
}

/// Opens a file of a sparse frame; refuses links, pipes and directories.
pub(crate) fn open_file(path: &Path, access: Access, limits: &Limits) -> Result<Box<dyn Source>> {
    let kind = fs::symlink_metadata(path).map_err(|error| match error.kind() {
        std::io::ErrorKind::NotFound => Error::malformed("the file of a chunk is missing"),
        _ => Error::new(ErrorKind::Io(error)),
    })?;
    if !kind.is_file() {
        return Err(Error::malformed("not a file, as a chunk of a sparse frame must be"));
    }
    open_path(path, access, limits)
}
