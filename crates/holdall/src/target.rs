//! Where a new file goes: an atomic file, or standard output.

use std::fs::File;
use std::io::{self, BufWriter, Seek, SeekFrom, Stdout, Write};
use std::path::Path;

use container_core::format::{Output, WriteSeek};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, ErrorKind, Result};

use crate::open::is_stream;

/// Bytes that are gathered before a pipe is given any.
const PIPE_BUFFER: usize = 256 << 10;

/// A file being written. What goes wrong while writing names it, so that it is not taken for the source's fault.
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

    /// What has been written, to be read back; `None` for a pipe.
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

    fn blame<T>(&self, result: io::Result<T>) -> io::Result<T> {
        result.map_err(|error| blame(error.into(), &self.name).into())
    }
}

/// Other errors of a target name it themselves.
fn blame(error: Error, name: &str) -> Error {
    match error.kind() {
        ErrorKind::Io(_) => error.context(format!("writing {name}")),
        _ => error,
    }
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
/// would be replaced with all that is in it.
///
/// # Errors
/// `Usage`.
pub fn refuse_source(source: &Path, target: &Path) -> Result<()> {
    if is_stream(source) || is_stream(target) {
        return Ok(());
    }
    let is_within = || match (source.canonicalize(), target.canonicalize()) {
        (Ok(source), Ok(target)) => source.starts_with(target),
        _ => false,
    };
    if target.is_dir() && source != target && is_within() && !is_same_file(source, target) {
        let problem = format!("{} is in the target, {}", source.display(), target.display());
        return Err(Error::usage(problem).hint("write to another directory"));
    }
    if !is_same_file(source, target) {
        return Ok(());
    }
    Err(Error::usage(format!("{} is the source itself", target.display())).hint("write to another file"))
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
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink("a", at("link")).unwrap();
            std::fs::hard_link(at("a"), at("hard")).unwrap();
            assert!(refuse_source(&at("a"), &at("link")).is_err());
            assert!(refuse_source(&at("hard"), &at("a")).is_err());
        }
    }

    #[test]
    fn what_goes_wrong_while_writing_names_the_target() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("no/such/place.npy");
        let error = Target::create(&path, Overwrite::Refuse).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Io(_)));
        let existing = directory.path().join("a.npy");
        std::fs::write(&existing, b"x").unwrap();
        let error = Target::create(&existing, Overwrite::Refuse).err().unwrap();
        assert!(error.to_string().contains("a.npy exists"));
        let mut target = Target::create(&existing, Overwrite::Replace).unwrap();
        let error = Error::from(target.seek(SeekFrom::Current(-1)).unwrap_err());
        assert!(matches!(error.kind(), ErrorKind::Io(_)));
        assert!(error.what().unwrap().contains("a.npy"));
    }
}
