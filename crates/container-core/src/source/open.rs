//! Opening a path as a source.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use super::passing::{Passing, PassingSource};
use super::{FileSource, Source, read_exact_at};
use crate::{Error, Limits, Result};

/// Access to the bytes of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Access {
    /// Mapped where the build and the file allow it, else by position. Pipes and files of some kilobytes are read into memory. Some formats map a
    /// file only when more of it is read than to open it.
    ///
    /// No process may truncate a mapped file or rewrite it in place as long as it is open: reading a page that is gone ends the process (SIGBUS
    /// on Unix). Writers that replace a file by renaming, as all of this workspace do, are harmless. [`Access::Positioned`] lifts this
    /// condition.
    #[default]
    Auto,
    /// Positioned reads: for files that others may truncate or rewrite meanwhile.
    Positioned,
    /// Read into memory at once, within [`Limits::memory`].
    Memory,
}

/// Opens `path`.
///
/// # Errors
/// `Io`; `Usage` for a directory; `Limit` when it has to be read into memory and is larger than the limit.
pub fn open_path(path: &Path, access: Access, limits: &Limits) -> Result<Box<dyn Source>> {
    open_as(path, access, limits, mapped)
}

/// As [`open_path`], for formats that read little to open a file. Under [`Access::Auto`] the file is mapped only with the first large read
/// or after some small ones; until then the source cannot lend bytes.
///
/// # Errors
/// As [`open_path`].
pub fn open_path_lazy_mmap(path: &Path, access: Access, limits: &Limits) -> Result<Box<dyn Source>> {
    open_as(path, access, limits, mapped_late)
}

/// As [`open_path`], for formats that read a few bytes in many places to open a file. Under [`Access::Auto`] it is mapped at once, but the
/// first small reads ([`Source::read_into`]) are positioned reads.
///
/// # Errors
/// As [`open_path`].
pub fn open_path_probed_mmap(path: &Path, access: Access, limits: &Limits) -> Result<Box<dyn Source>> {
    open_as(path, access, limits, probed)
}

/// As [`open_path`] under [`Access::Auto`], and a switch to positioned reads, which only a regular file has.
///
/// # Errors
/// As [`open_path`].
pub fn open_path_to_pass(path: &Path, limits: &Limits) -> Result<(Box<dyn Source>, Option<Passing>)> {
    match opened(path, Access::Auto, limits)? {
        Opened::Memory(bytes) => Ok((Box::new(bytes), None)),
        Opened::File(file, _) => {
            let by_position = FileSource::new(file.try_clone()?)?;
            let (source, passing) = PassingSource::new(mapped(file)?, by_position);
            Ok((Box::new(source), Some(passing)))
        }
    }
}

/// Opens `path`; a regular file under [`Access::Auto`] by `auto`.
fn open_as(
    path: &Path,
    access: Access,
    limits: &Limits,
    auto: fn(File) -> Result<Box<dyn Source>>,
) -> Result<Box<dyn Source>> {
    match opened(path, access, limits)? {
        Opened::Memory(bytes) => Ok(Box::new(bytes)),
        Opened::File(file, len) if access == Access::Auto => match copied(&file, len, limits) {
            Some(bytes) => Ok(Box::new(bytes)),
            None => auto(file),
        },
        Opened::File(file, _) => positioned(file),
    }
}

/// Bytes of a file that is read rather than mapped: a map and the first page of it took 5 µs, reading this many bytes 2 µs.
const MAX_COPIED: u64 = 16 << 10;

/// The bytes of a small file; `None` for a larger one, and for one that has become shorter meanwhile, which is opened as larger ones are.
fn copied(file: &File, len: u64, limits: &Limits) -> Option<Vec<u8>> {
    let mut bytes = vec![0; usize::try_from(len).ok().filter(|_| len <= MAX_COPIED.min(limits.memory))?];
    read_exact_at(file, 0, &mut bytes).ok()?;
    Some(bytes)
}

fn positioned(file: File) -> Result<Box<dyn Source>> {
    Ok(Box::new(FileSource::new(file)?))
}

#[cfg(feature = "mmap")]
fn mapped(file: File) -> Result<Box<dyn Source>> {
    match super::mmap::map_file(&file) {
        Ok(map) => Ok(Box::new(map)),
        Err(_) => positioned(file),
    }
}

#[cfg(feature = "mmap")]
fn mapped_late(file: File) -> Result<Box<dyn Source>> {
    Ok(Box::new(super::lazy_mmap::LateSource::new(file)?))
}

#[cfg(feature = "mmap")]
fn probed(file: File) -> Result<Box<dyn Source>> {
    Ok(Box::new(super::probe_then_mmap::ProbedSource::new(file)?))
}

#[cfg(not(feature = "mmap"))]
use positioned as mapped;
#[cfg(not(feature = "mmap"))]
use positioned as mapped_late;
#[cfg(not(feature = "mmap"))]
use positioned as probed;

enum Opened {
    /// A regular file that is not empty, and its length in bytes.
    File(File, u64),
    /// Contents of another kind of file, or of a whole file on request.
    Memory(Vec<u8>),
}

fn opened(path: &Path, access: Access, limits: &Limits) -> Result<Opened> {
    let mut file = File::open(path)?;
    let kind = file.metadata()?;
    if kind.is_dir() {
        return Err(Error::usage("this is a directory, not a file"));
    }
    // Files of /proc have a length of 0 and contents all the same.
    if !kind.is_file() || kind.len() == 0 || access == Access::Memory {
        return Ok(Opened::Memory(read_stream(&mut file, limits)?));
    }
    Ok(Opened::File(file, kind.len()))
}

/// Reads a stream to its end, holding at most [`Limits::memory`] bytes.
///
/// # Errors
/// `Io`; `Limit` when there is more than the limit.
pub fn read_stream(stream: &mut dyn Read, limits: &Limits) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let most = limits.memory.saturating_add(1);
    stream.take(most).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limits.memory {
        return Err(Error::limit(
            "memory in bytes (input that cannot be read by position)",
            most,
            limits.memory,
        ));
    }
    Ok(bytes)
}

#[cfg(all(test, feature = "mmap"))]
mod tests {
    use std::io::Write as _;

    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri maps no files")]
    fn small_files_are_read_and_larger_ones_mapped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a");
        for len in [1, MAX_COPIED, MAX_COPIED + 1] {
            let bytes: Vec<u8> = (0..len).map(|at| (at % 251) as u8).collect();
            std::fs::write(&path, &bytes).unwrap();
            let none = Limits::default().with_memory(0);
            for limits in [Limits::default(), none] {
                let source = open_path(&path, Access::Auto, &limits).unwrap();
                assert_eq!(&*source.read(0..len).unwrap(), bytes);
                // Bytes overwritten in place show only through a map.
                File::options().write(true).open(&path).unwrap().write_all(b"\xFF").unwrap();
                let is_copy = source.read(0..1).unwrap()[0] == 0;
                assert_eq!(is_copy, len <= MAX_COPIED && limits.memory > 0, "{len} bytes");
                std::fs::write(&path, &bytes).unwrap();
            }
        }
    }
}
