//! Destination of a new file: an atomic file, or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Stdout, Write};
use std::path::{Path, PathBuf};

use container_core::container::OpenOptions;
use container_core::format::{Format, Output, WriteSeek};
use container_core::source::Access;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, ErrorKind, Result};

use crate::open::is_stream;
use crate::open::{Accept, recognise};

/// Bytes that are gathered before a pipe is given any.
const PIPE_BUFFER: usize = 256 << 10;

/// A file being written. Errors of writing name it, so that they are not taken for the source's.
pub(crate) struct Target {
    to: To,
    name: String,
}

enum To {
    File(AtomicFile),
    Pipe(BufWriter<Stdout>),
}

impl Target {
    /// Starts a file, or standard output for the path `-`.
    ///
    /// # Errors
    /// As [`AtomicFile::create`].
    pub(crate) fn create(path: &Path, overwrite: Overwrite) -> Result<Self> {
        if is_stream(path) {
            let pipe = BufWriter::with_capacity(PIPE_BUFFER, io::stdout());
            return Ok(Self { to: To::Pipe(pipe), name: "standard output".into() });
        }
        let name = path.display().to_string();
        match AtomicFile::create(path, overwrite) {
            Ok(file) => Ok(Self { to: To::File(file), name }),
            Err(error) => Err(blame(error, &name)),
        }
    }

    /// The file that has been written, to be read back; `None` for a pipe.
    pub(crate) fn written(&self) -> Option<io::Result<File>> {
        match &self.to {
            To::File(file) => Some(file.file().try_clone()),
            To::Pipe(_) => None,
        }
    }

    /// Puts the complete file in its place.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`]; `Io` where a pipe does not take the rest.
    pub(crate) fn commit(self, durability: Durability) -> Result<()> {
        let Self { to, name } = self;
        let done = match to {
            To::File(file) => file.commit(durability),
            To::Pipe(mut pipe) => pipe.flush().map_err(Error::from),
        };
        done.map_err(|error| blame(error, &name))
    }

    /// As [`Target::commit`], but returns an error after the change as a warning, for callers that still report on the target.
    ///
    /// # Errors
    /// As [`Target::commit`], but for those after the change.
    pub(crate) fn commit_or_warn(self, durability: Durability) -> Result<Option<String>> {
        warned(self.commit(durability))
    }

    fn blame<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| blame(error.into(), &self.name).into())
    }
}

/// Refuses a directory of something else as a target: `is_own` recognises those that may be replaced, and an empty one may be, too. All that is in it
/// would go.
///
/// # Errors
/// `Usage`; `Io`.
pub(crate) fn refuse_foreign(target: &Path, is_own: impl Fn(&Path) -> bool) -> Result<()> {
    if !target.is_dir() || is_own(target) || std::fs::read_dir(target)?.next().is_none() {
        return Ok(());
    }
    let error = Error::usage("is a directory of another kind and is not replaced");
    Err(error.with_hint("another name, or an empty directory").with_subject(target.display().to_string()))
}

/// Turns an error after the change into a warning.
pub(crate) fn warned(done: Result<()>) -> Result<Option<String>> {
    match done {
        Err(error) if error.is_after_change() => Ok(Some(error.to_string())),
        done => done.map(|()| None),
    }
}

/// An error of a target, with its name.
fn blame(error: Error, name: &str) -> Error {
    let error = error.with_subject(name);
    if matches!(error.kind(), ErrorKind::Io(_)) { error.with_context("writing") } else { error }
}

impl Write for Target {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let result = match &mut self.to {
            To::File(file) => file.write(bytes),
            To::Pipe(pipe) => pipe.write(bytes),
        };
        self.blame(result)
    }

    fn flush(&mut self) -> io::Result<()> {
        let result = match &mut self.to {
            To::File(file) => file.flush(),
            To::Pipe(pipe) => pipe.flush(),
        };
        self.blame(result)
    }
}

impl Seek for Target {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let result = match &mut self.to {
            To::File(file) => file.seek(to),
            To::Pipe(_) => Err(io::ErrorKind::NotSeekable.into()),
        };
        self.blame(result)
    }
}

impl Output for Target {
    fn reserve(&mut self, len: u64) -> Result<()> {
        match &self.to {
            To::File(file) => file.reserve(len).map_err(|error| blame(error, &self.name)),
            To::Pipe(_) => Ok(()),
        }
    }

    fn as_seek(&mut self) -> Option<&mut dyn WriteSeek> {
        match self.to {
            To::File(_) => Some(self),
            To::Pipe(_) => None,
        }
    }
}

/// Refuses a target that is the source: by another name, through a link, or as a second hard link; or a directory that it is in, which
/// would be replaced with all that is in it; or one of the files that the source is stored in.
///
/// # Errors
/// `Usage`.
pub fn refuse_source(source: &Path, target: &Path) -> Result<()> {
    if is_stream(source) || is_stream(target) {
        return Ok(());
    }
    let of_target = |problem: String, hint: &'static str| {
        Error::usage(problem).with_hint(hint).with_subject(target.display().to_string())
    };
    if target.is_dir() && source != target && is_within(source, target) && !is_same_file(source, target) {
        let problem = format!("is a directory with the source in it, {}", source.display());
        return Err(of_target(problem, "write to another directory"));
    }
    if is_same_file(source, target) {
        return Err(of_target("is the source itself".into(), "write to another file"));
    }
    let is_hit = |part: PathBuf| is_same_file(&part, target) || target.is_dir() && is_within(&part, target);
    // A target that does not exist cannot be a part, which saves the search.
    let is_part = target.exists()
        && (source.is_dir() && is_within(target, source) || parts(source).into_iter().any(is_hit));
    if is_part {
        let problem = format!("is a part of the source, {}", source.display());
        return Err(of_target(problem, "write to another file"));
    }
    Ok(())
}

/// True for a path below the directory.
fn is_within(path: &Path, directory: &Path) -> bool {
    match (path.canonicalize(), directory.canonicalize()) {
        (Ok(path), Ok(directory)) => path.starts_with(directory),
        _ => false,
    }
}

/// The other files that a file consists of, where it can be opened: an ASDF file may have blocks in others.
fn parts(source: &Path) -> Vec<PathBuf> {
    if !source.is_file() {
        return Vec::new();
    }
    let mut options = OpenOptions::default();
    // Reads only the tree, so a file that is then read by position need not be mapped.
    options.access = Access::Positioned;
    match recognise(source, Accept::Containers, &options) {
        Ok((Format { other_files: Some(other_files), .. }, input)) => other_files(input, &options, source),
        _ => Vec::new(),
    }
}

#[cfg(unix)]
fn is_same_file(a: &Path, b: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    match (a.metadata(), b.metadata()) {
        (Ok(a), Ok(b)) => (a.dev(), a.ino()) == (b.dev(), b.ino()),
        _ => false,
    }
}

#[cfg(not(unix))]
fn is_same_file(a: &Path, b: &Path) -> bool {
    match (a.canonicalize(), b.canonicalize()) {
        (Ok(a), Ok(b)) => a == b,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_source_is_found_out_under_other_names() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::write(at("a"), b"x").unwrap();
        std::fs::write(at("b"), b"x").unwrap();
        assert!(refuse_source(&at("a"), &at("a")).is_err());
        assert!(refuse_source(&at("a"), &at("./a")).is_err());
        assert!(refuse_source(&at("a"), &at("b")).is_ok());
        assert!(refuse_source(&at("a"), &at("new")).is_ok());
        assert!(refuse_source(Path::new("-"), Path::new("-")).is_ok());
        std::fs::create_dir(at("d")).unwrap();
        std::fs::write(at("d/a"), b"x").unwrap();
        assert!(refuse_source(&at("d/a"), &at("d")).is_err());
        assert!(refuse_source(&at("a"), &at("d")).is_ok());
        // A directory that is a container, and one of its files.
        assert!(refuse_source(&at("d"), &at("d/a")).is_err());
        assert!(refuse_source(&at("d"), &at("d/new")).is_ok());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", at("link")).unwrap();
            std::fs::hard_link(at("a"), at("hard")).unwrap();
            assert!(refuse_source(&at("a"), &at("link")).is_err());
            assert!(refuse_source(&at("hard"), &at("a")).is_err());
        }
    }

    #[cfg(feature = "asdf")]
    #[test]
    fn the_files_that_a_source_names_are_found_out() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        std::fs::create_dir(at("sub")).unwrap();
        let tree = "#ASDF 1.0.0\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\na: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> {source: a.asdf, datatype: uint8, byteorder: big, shape: [2]}\nb: {$ref: 'sub/b.asdf#/x'}\nc: {$ref: '#/b'}\n...\n";
        std::fs::write(at("x.asdf"), tree).unwrap();
        // One that cannot be opened is a part, too.
        for name in ["a.asdf", "sub/b.asdf", "c.asdf"] {
            std::fs::write(at(name), b"damaged").unwrap();
        }
        let refused = |name: &str| refuse_source(&at("x.asdf"), &at(name));
        for name in ["a.asdf", "./a.asdf", "sub/b.asdf", "sub"] {
            let error = refused(name).unwrap_err();
            assert!(error.to_string().contains("is a part of the source"), "{name}: {error}");
        }
        assert!(refused("c.asdf").is_ok() && refused("new.asdf").is_ok());
        assert!(refuse_source(&at("a.asdf"), &at("x.asdf")).is_ok());
        #[cfg(unix)]
        {
            std::fs::hard_link(at("a.asdf"), at("hard")).unwrap();
            assert!(refused("hard").is_err());
        }
        std::fs::remove_file(at("a.asdf")).unwrap();
        assert!(refused("a.asdf").is_ok());
    }

    #[test]
    fn write_errors_name_the_target() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("no/such/place.npy");
        let error = Target::create(&path, Overwrite::Refuse).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Io(_)));
        let existing = directory.path().join("a.npy");
        std::fs::write(&existing, b"x").unwrap();
        let error = Target::create(&existing, Overwrite::Refuse).err().unwrap();
        assert!(error.to_string().contains("a.npy: already exists"));
        let mut target = Target::create(&existing, Overwrite::Replace).unwrap();
        let error = Error::from(target.seek(SeekFrom::Current(-1)).unwrap_err());
        assert!(matches!(error.kind(), ErrorKind::Io(_)));
        assert!(error.subject().unwrap().ends_with("a.npy"));
    }
}
