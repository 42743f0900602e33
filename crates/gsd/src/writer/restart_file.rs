//! Restart files: one frame, replaced again and again.

use std::path::Path;

use container_core::Result;
use container_core::write::storage::FileStorage;
use container_core::write::{AtomicFile, Durability, Overwrite};

use super::{Commit, Writer, WriterOptions, is_not_found};

/// Writes a whole file that replaces the one at `path` in one step: a crash at any moment leaves the old file or the new one. For
/// restart files, instead of [`Writer::truncate`] and a new frame.
///
/// `fill` writes the frames; the last one need not be ended. Readers that have the old file open keep it.
///
/// # Errors
/// `Usage` for names that do not fit the header, and while another writer has the old file; what `fill` gives, and `Io`: the old file
/// is then as it was.
pub fn write_restart(
    path: impl AsRef<Path>,
    options: &WriterOptions,
    fill: impl FnOnce(&mut Writer) -> Result<()>,
) -> Result<()> {
    let path = path.as_ref();
    // Held until the new file is in its place.
    let replaced = match FileStorage::open(path) {
        Err(error) if !is_not_found(&error) => return Err(error.in_file(path.display().to_string())),
        opened => opened.ok(),
    };
    let file = AtomicFile::create(path, Overwrite::Replace)?;
    let storage = FileStorage::lock(file.file().try_clone()?, path)?;
    // The file is invisible until it is complete, and it is synced as a whole.
    let new = options.clone().with_commit(Commit::Manual).with_durability(Durability::Cached);
    let mut writer = Writer::create_storage(storage, &new)?;
    fill(&mut writer)?;
    if writer.pending > 0 {
        writer.end_frame()?;
    }
    writer.close()?;
    file.commit(options.durability)?;
    drop(replaced);
    Ok(())
}
