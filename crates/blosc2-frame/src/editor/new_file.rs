//! A frame in a new file, which gets its name with the first commit.

use container_core::write::storage::FileStorage;
use container_core::write::{AtomicFile, Durability};
use container_core::{Error, Result};

use super::{EditOptions, Editor};
use crate::journal::{self, NoJournal};

impl Editor {
    /// Opens the complete frame in `file` for changes. The first [`Editor::commit`], with or without changes, gives the file its name.
    /// An editor that is dropped before leaves no file.
    ///
    /// ```
    /// use blosc2_frame::container_core::write::{AtomicFile, Overwrite};
    /// use blosc2_frame::{Durability, EditOptions, Editor, FrameOptions, Writer};
    ///
    /// let folder = tempfile::tempdir()?;
    /// let path = folder.path().join("a.b2frame");
    /// let mut file = AtomicFile::create(&path, Overwrite::Refuse)?;
    /// Writer::new(&mut file, FrameOptions::default())?.finish()?;
    /// let mut editor = Editor::place_on_commit(file, &EditOptions::default())?;
    /// editor.append(&[1, 2, 3])?;
    /// assert!(!path.exists());
    /// editor.commit(Durability::Synced)?;
    /// assert!(path.exists());
    /// # Ok::<(), blosc2_frame::Error>(())
    /// ```
    ///
    /// # Errors
    /// As [`Editor::open_storage`].
    pub fn place_on_commit(file: AtomicFile, options: &EditOptions) -> Result<Self> {
        let open = file.file().try_clone().map_err(Error::from)?;
        let storage = FileStorage::lock(open, file.target())?;
        let mut editor = Self::open_storage_with(Box::new(storage), Box::new(NoJournal), 0, options)?;
        editor.unplaced = Some(file);
        Ok(editor)
    }

    /// Gives a new file its name.
    ///
    /// # Errors
    /// As [`AtomicFile::commit`]; the editor is then of no more use.
    pub(super) fn place(&mut self, durability: Durability) -> Result<()> {
        let Some(file) = self.unplaced.take() else { return Ok(()) };
        let target = file.target().to_owned();
        self.failed = true;
        file.commit(durability)?;
        self.failed = false;
        self.store.set_sidecar(Box::new(journal::sidecar(&target)));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use container_core::write::Overwrite;

    use super::*;
    use crate::{Frame, FrameOptions, Writer};

    fn new(path: &std::path::Path, overwrite: Overwrite) -> Editor {
        let mut file = AtomicFile::create(path, overwrite).unwrap();
        Writer::new(&mut file, FrameOptions::default()).unwrap().finish().unwrap();
        Editor::place_on_commit(file, &EditOptions::default()).unwrap()
    }

    #[test]
    fn the_file_appears_with_the_first_commit_and_is_edited_on() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        let count = || std::fs::read_dir(folder.path()).unwrap().count();
        let mut editor = new(&path, Overwrite::Refuse);
        editor.append(&[1; 4]).unwrap();
        drop(editor);
        assert_eq!(count(), 0);

        let mut editor = new(&path, Overwrite::Refuse);
        assert!(editor.is_changed());
        editor.append(&[1; 4]).unwrap();
        editor.commit(Durability::Synced).unwrap();
        assert!(!editor.is_changed());
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
        // The lock went along.
        assert!(Editor::open(&path, &EditOptions::default()).is_err());
        editor.append(&[2; 4]).unwrap();
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
        editor.commit(Durability::Synced).unwrap();
        assert_eq!((Frame::open(&path).unwrap().chunk_count(), count()), (2, 1));
    }

    #[test]
    fn a_file_without_changes_is_placed_as_it_is_and_never_over_another() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        let mut editor = new(&path, Overwrite::Refuse);
        editor.commit(Durability::Cached).unwrap();
        let empty = std::fs::read(&path).unwrap();
        let mut plain = Vec::new();
        Writer::new(&mut plain, FrameOptions::default()).unwrap().finish().unwrap();
        assert_eq!(empty, plain);

        drop(editor);
        let mut late = {
            std::fs::remove_file(&path).unwrap();
            new(&path, Overwrite::Refuse)
        };
        std::fs::write(&path, b"other").unwrap();
        assert!(late.commit(Durability::Cached).is_err());
        assert!(late.append(&[1]).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
        let mut over = new(&path, Overwrite::Replace);
        over.append(&[7]).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"other");
        over.commit(Durability::Cached).unwrap();
        assert_eq!(Frame::open(&path).unwrap().chunk_count(), 1);
    }
}
