//! Appends elements along the last dimension, and changes trailers. The new file is written next to the old one, which is locked meanwhile, and
//! replaces it in one step: a crash at any time leaves the old one or the new one.

use std::fs::File as StdFile;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;

use container_core::array::byte_len;
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Axes, OpenOptions};
use container_core::dtype::Order;
use container_core::format::{MetadataChanges, WriteRequest};
use container_core::interchange::{self, WHOLE};
use container_core::report::{Loss, Severity};
use container_core::source::open_path;
use container_core::write::storage::{FileStorage, require_at};
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result, Value};

use crate::header::Header;
use crate::{Encoding, File, TRAILER, trailer};

/// The entry for the table of formats: appends the selected dataset along the last dimension, which is the slowest, so that present elements stay in
/// place. All other dimensions agree.
///
/// # Errors
/// `Usage` for encoded files, scalars, and data that do not fit type or shape; the first error of a damaged file; those of reading; `Io`. The file is
/// then unchanged.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &WriteRequest<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    job.options.check_append_options("RawArray", &[])?;
    if let Some((name, _)) = job.options.codec.as_ref().filter(|(name, _)| name != "none") {
        return Err(Error::usage(format!("elements appended to a plain file cannot be stored as {name}")));
    }
    let old = ExistingFile::open(path, open)?;
    if old.file.encoding() != Encoding::Plain {
        let problem = format!("cannot append to data that are stored as {}", old.file.encoding().name());
        return Err(Error::usage(problem).with_hint("holdall recode --codec none makes a file that grows"));
    }
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let dtype = old.file.dtype()?;
    let swap = dataset.dtype.order_for(&dtype)?;
    let (mut added, order) = match open.axes {
        Axes::AsStored => (region.shape(), Order::F),
        Axes::Reversed => (region.shape(), Order::C),
    };
    if open.axes == Axes::Reversed {
        added.reverse();
    }
    let mut dims = old.file.dims().to_vec();
    let (Some((last, rest)), Some((more, others))) = (dims.split_last_mut(), added.split_last()) else {
        return Err(Error::usage("a single value has no dimension to append along"));
    };
    if rest != others {
        let problem = format!("array of dimensions {:?}: cannot append {added:?}", old.file.dims());
        return Err(Error::usage(problem).with_hint("all dimensions but the last have to agree"));
    }
    *last = last.checked_add(*more).ok_or_else(|| Error::usage("more than 2^64 elements"))?;
    let size = byte_len(&dtype, &dims).ok_or_else(|| Error::usage("more than 2^64 bytes"))?;
    check_readable(job.container, index, region, &job.read)?;
    let header = Header { size, ..*old.file.header() };
    old.replace(&header, &dims, durability, |out| {
        let mut swapped = Vec::new();
        for_each_chunk(job.container, index, region, order, &job.read, job.progress, |bytes| {
            let Some(order) = swap else { return Ok(out.write_all(bytes)?) };
            swapped.clear();
            swapped.extend_from_slice(bytes);
            dataset.dtype.swap_to(order, &mut swapped)?;
            Ok(out.write_all(&swapped)?)
        })?;
        old.copy(old.file.trailer_range(), out)
    })?;
    Ok(job.container.losses())
}

/// Applies changes to the trailer, below `/trailer`.
pub(crate) fn change_metadata(path: &Path, changes: &MetadataChanges<'_>) -> Result<Vec<String>> {
    set_trailer(path, changes.open, changes.durability, |tree| changes.apply(tree, Some(TRAILER)))
        .map(|()| Vec::new())
}

/// Changes the trailer of the file at `path` to the result of `change`: a map with the one key `trailer`, where a JSON object is a map, and other
/// text or bytes are themselves.
///
/// # Errors
/// `Usage` for LEB128, which has no room for a trailer, and where `change` names another entry; those of `change`; the first error of a damaged file;
/// `Io`. The file is then unchanged.
pub fn set_trailer(
    path: impl AsRef<Path>,
    open: &OpenOptions,
    durability: Durability,
    change: impl FnOnce(Value) -> Result<Value>,
) -> Result<()> {
    let old = ExistingFile::open(path.as_ref(), open)?;
    let range = old.file.trailer_range();
    if range.end - range.start > trailer::MAX_TRAILER_LEN {
        return Err(Error::usage(format!(
            "the trailer of {} bytes is not metadata",
            range.end - range.start
        )));
    }
    let said = match trailer::to_tree(old.file.trailer()?.into_owned()) {
        Value::Map(entries) => match &entries[..] {
            [] => None,
            [(key, whole)] if key == WHOLE => Some(whole.clone()),
            _ => Some(Value::Map(entries)),
        },
        other => Some(other),
    };
    let before = Value::Map(said.into_iter().map(|said| (TRAILER.to_owned(), said)).collect());
    let after = change(before.clone())?;
    if after == before {
        return Ok(());
    }
    let bytes = match interchange::entries(&after) {
        [] => Vec::new(),
        [(key, said)] if key == TRAILER => match said {
            Value::Map(_) => trailer::from_tree(said)?,
            whole => trailer::from_tree(&Value::Map(vec![(WHOLE.to_owned(), whole.clone())]))?,
        },
        entries => {
            let name =
                entries.iter().map(|(key, _)| key.as_str()).find(|key| *key != TRAILER).unwrap_or_default();
            let error = Error::usage(format!("a RawArray file stores {name:?} only in its trailer"));
            return Err(error.with_hint(format!("--set /{TRAILER}/{name}=…")));
        }
    };
    if old.file.encoding() == Encoding::Leb128 && !bytes.is_empty() {
        return Err(Error::usage("LEB128 data run to the end of the file and leave no room for a trailer"));
    }
    let (header, dims) = (*old.file.header(), old.file.dims().to_vec());
    old.replace(&header, &dims, durability, |out| Ok(out.write_all(&bytes)?))
}

/// The file to change, locked against other writers.
struct ExistingFile<'p> {
    storage: FileStorage,
    path: &'p Path,
    file: File,
}

impl<'p> ExistingFile<'p> {
    /// Opens a file without damage.
    fn open(path: &'p Path, open: &OpenOptions) -> Result<Self> {
        // Locked before anything is read: the new file takes over the old bytes.
        let storage = FileStorage::open(path)?;
        let file = File::from_source(open_path(path, open.access, &open.limits)?, open)?;
        if let Some(fault) = file.faults().into_iter().find(|fault| fault.severity() == Severity::Error) {
            return Err(fault.error().with_hint("repair it into a new file first: holdall repair"));
        }
        Ok(Self { storage, path, file })
    }

    /// Writes header and data, calls `rest` to write the remainder, and puts the new file in the place of the old one.
    fn replace(
        &self,
        header: &Header,
        dims: &[u64],
        durability: Durability,
        rest: impl FnOnce(&mut AtomicFile) -> Result<()>,
    ) -> Result<()> {
        let mut out = AtomicFile::create(self.path, Overwrite::Replace)?;
        out.write_all(&header.to_bytes(dims))?;
        let data = self.file.layout().data_at()..self.file.trailer_range().start;
        self.copy(data, &mut out)?;
        rest(&mut out)?;
        require_at(self.storage.file(), self.path)?;
        out.commit(durability)
    }

    fn copy(&self, range: Range<u64>, out: &mut AtomicFile) -> Result<()> {
        let len = range.end.saturating_sub(range.start);
        let mut from: &StdFile = self.storage.file();
        from.seek(SeekFrom::Start(range.start))?;
        let copied = io::copy(&mut from.take(len), out)?;
        if copied == len {
            Ok(())
        } else {
            Err(Error::truncated(range, copied).with_context("the file that is changed"))
        }
    }
}

#[cfg(test)]
mod tests;
