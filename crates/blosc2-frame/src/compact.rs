//! Rewrites a frame without unreferenced bytes: dead space between chunks, unused files.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::Path;

use container_core::source::Access;
use container_core::write::journal::recover;
use container_core::write::storage::{FileStorage, require_at};
use container_core::write::{AtomicFile, Durability, Overwrite, sync_directory};
use container_core::{Error, Limits, Result};

use crate::editor::lock_directory;
use crate::frame::Frame;
use crate::header::{FIXED_LEN, Header, Kind};
use crate::journal;
use crate::lock::{Locking, SidecarLock};
use crate::offsets::{Offset, Offsets};
use crate::options::OpenOptions;
use crate::sparse_directory::{INDEX_NAME, SparseDirectory, part_name};
use crate::trailer::{Fingerprint, Trailer};
use crate::{checksums, writer};

/// Options for compacting a frame.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompactOptions {
    /// Bounds on what the file may ask for.
    pub limits: Limits,
    /// Durability of the new file before it takes the place of the old one.
    pub durability: Durability,
    /// Whether bytes after the frame are removed as well. They may be left over from a crash, or belong to another program.
    pub drop_trailing: bool,
    /// Whether the protocol of C-Blosc2's sidecar `.b2lock` is kept.
    pub lock: Locking,
}

impl Default for CompactOptions {
    /// Syncs the new frame, and refuses a frame with other bytes after it.
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            durability: Durability::Synced,
            drop_trailing: false,
            lock: Locking::Off,
        }
    }
}

/// Result of compacting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct CompactReport {
    /// Bytes of the file, or of all files, before.
    pub before: u64,
    /// Bytes after.
    pub after: u64,
}

/// Removes unreferenced bytes from the frame at `path`. Chunks are copied as they are stored, in the order of the data.
///
/// A contiguous frame is written anew and replaces the old one in one step; until then, and after any error, the old one stays. In
/// the directory of a sparse frame, unused files of chunks are removed.
///
/// # Errors
/// Those of opening the frame and of reading its chunks; `Usage` when another program writes to it, and for other bytes after it
/// that are not to be removed; `Io`.
pub fn compact(path: impl AsRef<Path>, options: &CompactOptions) -> Result<CompactReport> {
    let path = path.as_ref();
    let _lock = match options.lock {
        Locking::Off => None,
        Locking::JournalStore => Some(SidecarLock::exclusive(path)?),
    };
    let open = OpenOptions { limits: options.limits, access: Access::Positioned, ..OpenOptions::default() };
    if path.is_dir() {
        let _lock = lock_directory(path)?;
        return directory(path, &Frame::open_with(path, &open)?);
    }
    let mut storage = FileStorage::open(path)?;
    let mut sidecar = journal::sidecar(path);
    recover(&mut storage, &mut sidecar, &journal::KIND, &options.limits)?;
    let frame = Frame::open_with(path, &open)?;
    let layout = frame.layout();
    if frame.header().kind == Kind::Sparse {
        return Err(
            Error::usage("the index of a sparse frame").with_hint("compact the directory that it is in")
        );
    }
    let (end, len) = (layout.end(), layout.file_len());
    if end < len && !options.drop_trailing {
        let problem = format!("{} bytes follow the frame", len - end);
        return Err(Error::usage(problem)
            .with_range(end..len)
            .in_file(path.display().to_string())
            .with_hint("allow them to be removed, or copy them first"));
    }
    let mut out = BufWriter::with_capacity(1 << 20, AtomicFile::create(path, Overwrite::Replace)?);
    let mut after = 0_u64;
    frame.assemble(&mut |piece| {
        after = after.saturating_add(piece.len() as u64);
        Ok(out.write_all(piece)?)
    })?;
    let out = out.into_inner().map_err(|failed| Error::from(failed.into_error()))?;
    // A program may replace the file without the lock.
    require_at(storage.file(), path)?;
    out.commit(options.durability)?;
    Ok(CompactReport { before: len, after })
}

fn directory(path: &Path, frame: &Frame) -> Result<CompactReport> {
    let used: BTreeSet<i64> = frame.layout().offsets().iter().map(Offset::to_raw).collect();
    let index_len = frame.layout().file_len();
    let mut done = CompactReport { before: index_len, after: index_len };
    for (number, len) in SparseDirectory::new(path, Access::Positioned).list()? {
        done.before = done.before.saturating_add(len);
        if used.contains(&number.cast_signed()) {
            done.after = done.after.saturating_add(len);
        } else {
            fs::remove_file(path.join(part_name(number)))?;
        }
    }
    Ok(done)
}

/// Writes `frame` as a sparse one into `dir`, which is made. Chunks are copied as they are stored. The way back is
/// [`Frame::write_to`].
///
/// # Errors
/// Those of reading chunks; `Io`, also where there is something at `dir`. Whatever was made is then removed, unless the error is marked by
/// [`Error::after_change`]: then the frame is complete and may not survive a power cut.
pub fn to_directory(frame: &Frame, dir: impl AsRef<Path>, durability: Durability) -> Result<()> {
    let dir = dir.as_ref();
    fs::create_dir(dir).map_err(|error| Error::from(error).in_file(dir.display().to_string()))?;
    let done = fill_directory(frame, dir, durability);
    if done.as_ref().is_err_and(|error| !error.is_after_change()) {
        let _ = fs::remove_dir_all(dir);
    }
    done
}

/// Writes `frame` as a sparse one into the existing, empty directory `dir`. Files that were written stay after an error.
///
/// # Errors
/// As [`to_directory`].
pub fn fill_directory(frame: &Frame, dir: impl AsRef<Path>, durability: Durability) -> Result<()> {
    let dir = dir.as_ref();
    let (mut cbytes, mut next) = (0_u64, 0_u64);
    let own = frame.layout().offsets();
    let mut numbers = Vec::new();
    for (index, offset) in (0_u64..).zip(own.distinct()) {
        let number = match offset {
            Offset::Stored(_) => {
                let chunk = frame.chunk(index)?;
                let mut file = File::create_new(dir.join(part_name(next)))?;
                file.write_all(&chunk)?;
                if durability == Durability::Synced {
                    file.sync_all()?;
                }
                cbytes = cbytes.saturating_add(chunk.len() as u64);
                next = next.saturating_add(1);
                Offset::Stored(next.saturating_sub(1))
            }
            mark => mark,
        };
        numbers.push(number.to_raw());
    }
    let offsets = match own {
        Offsets::Same(offset @ Offset::Special(_), count) => Offsets::Same(*offset, *count),
        _ => Offsets::Each(numbers),
    };
    let mut index = Vec::new();
    offsets.encode(&mut index)?;
    let mut trailer = Trailer { fingerprint: Fingerprint::default(), ..frame.layout().trailer().clone() };
    if let Some(digests) = checksums::moved(frame, &offsets)? {
        writer::set_vlmetalayer(&mut trailer.vlmetalayers, checksums::NAME, &digests)?;
    }
    let trailer = trailer.encode();
    let head = frame.layout().header_range();
    let metalayers = frame.source().read(head.start.saturating_add(FIXED_LEN as u64)..head.end)?;
    let lens = [head.end.saturating_sub(head.start), index.len() as u64, trailer.len() as u64];
    let header =
        Header { kind: Kind::Sparse, cbytes, frame_len: lens.iter().sum(), ..frame.header().clone() };
    let target = dir.join(INDEX_NAME);
    let mut file = AtomicFile::create(&target, Overwrite::Refuse)?;
    file.write_all(&[&header.encode(), &*metalayers, &index, &trailer].concat())?;
    file.commit(durability)?;
    if durability == Durability::Synced {
        sync_directory(dir).map_err(Error::after_change)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
