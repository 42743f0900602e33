//! Files at addresses that are not paths.

use std::fmt::Debug;
use std::path::{Path, PathBuf};

use super::Source;
use crate::{Limits, Result};

/// Opens files at addresses that are not paths, such as URLs: a program hands one to whatever opens files for it
/// ([`OpenOptions::addresses`](crate::container::OpenOptions::addresses)).
pub trait Addresses: Debug + Send + Sync {
    /// The file at `address`, or `None` where that is a path. Memory of the source is within `limits`.
    fn open(&self, address: &Path, limits: &Limits) -> Option<Result<Box<dyn Source>>>;

    /// The addresses of the files that a pattern or a folder names, those of a folder with one of `extensions`; `None` for a path, and for the address of
    /// one file.
    fn list(&self, address: &Path, extensions: &[&str], limits: &Limits) -> Option<Result<Vec<PathBuf>>> {
        let _ = (address, extensions, limits);
        None
    }
}
