//! Where a journal is kept, so that tests can stand in for the disk.

use std::path::Path;

use container_core::write::Beside;
use container_core::{Limits, Result};

/// A journal's place.
pub trait Sidecar: Send + Sync {
    /// What is in it, if it is there.
    ///
    /// # Errors
    /// `Io`.
    fn read(&self, limits: &Limits) -> Result<Option<Vec<u8>>>;

    /// Makes `bytes` all that is in it, in one step. When this returns they are on the disk.
    ///
    /// # Errors
    /// `Io`.
    fn put(&mut self, bytes: &[u8]) -> Result<()>;

    /// Takes it away. When this returns it does not come back.
    ///
    /// # Errors
    /// `Io`.
    fn remove(&mut self) -> Result<()>;
}

/// The file beside another, named as that with `.asdfjournal` behind.
#[derive(Clone, Debug)]
pub(crate) struct FileSidecar(Beside);

impl FileSidecar {
    pub(crate) fn beside(path: &Path) -> Self {
        Self(Beside::new(path, ".asdfjournal"))
    }
}

impl Sidecar for FileSidecar {
    fn read(&self, limits: &Limits) -> Result<Option<Vec<u8>>> {
        let Some(len) = self.0.len()? else { return Ok(None) };
        // Without it the file may be neither the old nor the new one.
        limits.allocate(len).map_err(|error| self.0.named(error))?;
        self.0.read().map(Some)
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.0.put(bytes)
    }

    fn remove(&mut self) -> Result<()> {
        self.0.remove()?;
        self.0.sync_name()
    }
}

/// One in memory.
#[cfg(test)]
#[derive(Clone, Default)]
pub(crate) struct Kept(std::sync::Arc<std::sync::Mutex<Option<Vec<u8>>>>);

#[cfg(test)]
impl Sidecar for Kept {
    fn read(&self, _limits: &Limits) -> Result<Option<Vec<u8>>> {
        Ok(self.0.lock().unwrap().clone())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<()> {
        *self.0.lock().unwrap() = Some(bytes.to_vec());
        Ok(())
    }

    fn remove(&mut self) -> Result<()> {
        *self.0.lock().unwrap() = None;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_read_is_no_journal_that_is_not_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.asdf");
        std::fs::write(&path, b"file").unwrap();
        let mut sidecar = FileSidecar::beside(&path);
        assert!(sidecar.read(&Limits::default()).unwrap().is_none());
        sidecar.put(b"journal").unwrap();
        assert_eq!(sidecar.read(&Limits::default()).unwrap().unwrap(), b"journal");
        let refused = sidecar.read(&Limits::default().with_memory(3)).unwrap_err();
        assert!(matches!(refused.kind(), container_core::ErrorKind::Limit { .. }), "{refused}");
        let long = FileSidecar::beside(&folder.path().join("n".repeat(250)));
        assert!(long.read(&Limits::default()).unwrap().is_none());
    }
}
