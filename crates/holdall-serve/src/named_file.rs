//! Files as they are handed to a server.

use std::path::PathBuf;

/// Most files of a list; those behind them are left out.
pub const MAX_FILES: usize = 10_000;

/// A file to show.
#[derive(Clone, Debug)]
pub struct NamedFile {
    /// The argument of the user: the file, a folder above it, or a URL.
    pub argument: PathBuf,
    /// The file.
    pub path: PathBuf,
}
