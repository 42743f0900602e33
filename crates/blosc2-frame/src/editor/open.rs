//! Opening a frame for changes, and making one to change.

use std::path::Path;

use blosc_chunk::{BatchEncoder, Chunk, Decoder, Params};
use container_core::container::Tolerance;
use container_core::source::{Access, Source, try_zeroed_vec};
use container_core::write::journal::recover;
use container_core::write::storage::{FileStorage, Storage, StorageSource};
use container_core::write::{AtomicFile, Durability, Overwrite, sync_directory};
use container_core::{Error, Result, Stop};

use super::directory::{Directory, lock};
use super::file::ContiguousFile;
use super::store::Store;
use super::{EditOptions, Editor, room};
use crate::checksums::{self, Digests};
use crate::header::Kind;
use crate::journal::{self, JournalStore, NoJournal};
use crate::layout::Layout;
use crate::lock::{Locking, SidecarLock};
use crate::options::{FrameOptions, default_params};
use crate::sparse_directory::{INDEX_NAME, open_file};
use crate::writer::{ChunkSizes, OffsetTable, Writer, geometry, header_len, new_header};

impl Editor {
    /// Opens the frame in the file, or the sparse frame in the directory, at `path`.
    ///
    /// # Errors
    /// Those of [`crate::Layout::parse`], and its first fault; `Usage` where another process writes to it; `Io`.
    pub fn open(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        Self::open_at(path, 0, options)
    }

    /// Opens the frame that begins at byte `at` of the file at `path`, and ends where that does.
    ///
    /// # Errors
    /// As [`Editor::open`]; `Unsupported` for a header without room for metalayers as C-Blosc2 stores them; `Usage` when the frame is to
    /// begin after the start and other bytes follow it.
    pub fn open_at(path: impl AsRef<Path>, at: u64, options: &EditOptions) -> Result<Self> {
        let path = path.as_ref();
        let named = |error: Error| error.in_file(path.display().to_string());
        let lock = match options.lock {
            Locking::Off => None,
            Locking::JournalStore => Some(SidecarLock::exclusive(path).map_err(named)?),
        };
        if path.is_dir() {
            let editor = Self::open_directory(path, options).map_err(named)?;
            return Ok(Self { _lock: lock, ..editor });
        }
        let storage = Box::new(FileStorage::open(path)?);
        let sidecar = Box::new(journal::sidecar(path));
        let editor = Self::open_storage_with(storage, sidecar, at, options).map_err(named)?;
        Ok(Self { _lock: lock, ..editor })
    }

    /// Opens the frame that begins at byte `at` of `storage`.
    ///
    /// There is no place for a journal, so a power cut may tear a header that crosses sectors; see
    /// [`Editor::open_storage_with`].
    ///
    /// # Errors
    /// As [`Editor::open_at`].
    pub fn open_storage(storage: Box<dyn Storage>, at: u64, options: &EditOptions) -> Result<Self> {
        Self::open_storage_with(storage, Box::new(NoJournal), at, options)
    }

    /// As [`Editor::open_storage`], with a place for a journal. What an earlier one has to finish is finished first.
    ///
    /// # Errors
    /// As [`Editor::open_at`].
    pub fn open_storage_with(
        mut storage: Box<dyn Storage>,
        mut sidecar: Box<dyn JournalStore>,
        at: u64,
        options: &EditOptions,
    ) -> Result<Self> {
        recover(&mut *storage, &mut *sidecar, &journal::KIND, &options.limits)?;
        let (layout, head) = {
            let source = StorageSource::new(&*storage)?;
            let layout = parse(&source, at, options)?;
            let head = source.read(layout.header_range())?.into_owned();
            (layout, head)
        };
        if layout.header().kind == Kind::Sparse {
            return Err(
                Error::usage("the index of a sparse frame").with_hint("open the directory that it is in")
            );
        }
        // A commit writes metalayers as C-Blosc2 does. Where they are longer so, they would reach into the chunks.
        if !layout.offsets().is_empty() && is_short(&layout) {
            let problem = "metalayers that are shorter than C-Blosc2 writes them";
            let hint = "copy the frame to a new file, and change that";
            return Err(Error::unsupported(problem).with_range(layout.header_range()).with_hint(hint));
        }
        let file = ContiguousFile::new(storage, sidecar, at, head, layout.end())?;
        Self::new(Store::File(file), &layout, options)
    }

    fn open_directory(dir: &Path, options: &EditOptions) -> Result<Self> {
        let lock = lock(dir)?;
        let source = open_file(&dir.join(INDEX_NAME), Access::Positioned, &options.limits)?;
        let layout = parse(&source, 0, options)?;
        if layout.header().kind != Kind::Sparse {
            return Err(
                Error::usage(format!("{INDEX_NAME} is a contiguous frame")).with_hint("open that file")
            );
        }
        let directory = Directory::open(dir, layout.header().cbytes, lock)?;
        Self::new(Store::Directory(directory), &layout, options)
    }

    fn new(mut store: Store, layout: &Layout, options: &EditOptions) -> Result<Self> {
        let mut header = layout.header().clone();
        if is_short(layout) {
            header.header_len = header_len(layout.metalayers())?;
            store.set_head_len(header.header_len);
        }
        let params = Params {
            compressor: header.compressor,
            codec_meta: header.codec_meta,
            level: header.level.min(9),
            filters: header.filters,
            split: header.split,
            blocksize: usize::try_from(header.blocksize)
                .ok()
                .filter(|len| *len > 0 && !header.variable_blocks),
            dictionary: header.use_dictionary,
            threads: options.threads,
            ..default_params(usize::try_from(header.typesize).unwrap_or(usize::MAX))
        };
        let geometry = geometry(&header, layout.metalayers());
        let sizes = ChunkSizes {
            chunksize: header.chunksize,
            count: layout.offsets().len(),
            nbytes: header.nbytes,
            may_vary: options.variable_chunks || header.variable_chunks || header.variable_blocks,
        };
        let mut editor = Self {
            store,
            limits: options.limits,
            metalayers: layout.metalayers().clone(),
            trailer: layout.trailer().clone(),
            sizes,
            offsets: OffsetTable::new(layout.offsets().clone(), options.limits),
            digests: None,
            _lock: None,
            batch_encoder: BatchEncoder::new(params, geometry, options.plugins.clone()),
            header,
            changed: false,
            failed: false,
            stop: Stop::never(),
            unplaced: None,
        };
        editor.digests = editor.own_digests();
        Ok(editor)
    }

    /// Returns the digests that the frame has, if they are those of its chunks: what another program has changed stays
    /// without.
    fn own_digests(&self) -> Option<Digests> {
        let mut all = self.trailer.vlmetalayers.iter();
        let (_, stored) = all.find(|(name, _)| name == checksums::NAME)?;
        let chunk = Chunk::parse(stored).ok()?;
        let mut value = try_zeroed_vec(chunk.nbytes() as u64, &self.limits).ok()?;
        Decoder::new().with_limits(self.limits).decode(&chunk, &mut value).ok()?;
        Digests::parse(&value, self.offsets.offsets(), self.header.nbytes, &self.limits)
    }

    /// Makes an empty frame at the unused `path`, and opens it.
    ///
    /// # Errors
    /// `Usage` for an existing file, and for contradictory options; `Io`, marked by [`Error::after_change`] if the frame exists and may
    /// not survive a power cut.
    pub fn create(path: impl AsRef<Path>, frame: FrameOptions, options: &EditOptions) -> Result<Self> {
        let path = path.as_ref();
        let params = frame.params.clone();
        let may_vary = frame.variable_chunks;
        let checksums = frame.checksums;
        let create = |target: &Path, frame: FrameOptions| -> Result<()> {
            let mut file = AtomicFile::create(target, Overwrite::Refuse)?;
            let mut header = new_header(&frame)?;
            header.kind = frame.kind;
            Writer::with_header(&mut file, header, frame)?.finish()?;
            file.commit(Durability::Synced)
        };
        if frame.kind == Kind::Sparse {
            // Judged before anything is made.
            new_header(&frame)?;
            std::fs::create_dir(path)
                .map_err(|error| Error::from(error).in_file(path.display().to_string()))?;
            let created = create(&path.join(INDEX_NAME), frame);
            if created.as_ref().is_err_and(|error| !error.is_after_change()) {
                let _ = std::fs::remove_dir(path);
            }
            created.and_then(|()| sync_directory(path).map_err(Error::after_change))?;
        } else {
            create(path, frame)?;
        }
        let mut editor = Self::open(path, options)?;
        editor.set_params(params)?;
        editor.sizes.may_vary |= may_vary;
        if let Some(algorithm) = checksums {
            editor.set_checksums(Some(algorithm))?;
        }
        Ok(editor)
    }
}

/// # Errors
/// Those of [`Layout::parse`], and the first fault of the structure: damaged frames are not edited.
fn parse(source: &dyn Source, at: u64, options: &EditOptions) -> Result<Layout> {
    let layout = Layout::parse(source, at, &options.limits)?;
    match layout.blocking(Tolerance::Strict) {
        Some(fault) => Err(fault.error()),
        None => Ok(layout),
    }
}

/// True for a header that has no room for its metalayers as C-Blosc2 stores them.
fn is_short(layout: &Layout) -> bool {
    layout.metalayers().encode().len() > room(layout.header())
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use container_codecs::checksum::Algorithm;
    use container_core::ErrorKind;

    use super::*;
    use crate::Frame;
    use crate::options::default_params;

    /// Sizes may differ where the new frame or the editor allows it.
    #[test]
    fn a_new_frame_has_the_options_that_it_is_made_with() {
        for kind in [Kind::Contiguous, Kind::Sparse] {
            for (of_frame, of_editor) in [(false, false), (true, false), (false, true), (true, true)] {
                let folder = tempfile::tempdir().unwrap();
                let path = folder.path().join("new.b2frame");
                let frame = FrameOptions {
                    params: Params { level: 3, ..default_params(2) },
                    variable_chunks: of_frame,
                    checksums: of_frame.then_some(Algorithm::Crc32),
                    kind,
                    ..FrameOptions::default()
                };
                let options = EditOptions { variable_chunks: of_editor, ..EditOptions::default() };
                let mut editor = Editor::create(&path, frame.clone(), &options).unwrap();
                assert_eq!((editor.chunk_count(), editor.header().kind), (0, kind));
                assert_eq!((editor.params().level, editor.params().typesize), (3, 2));
                editor.append(b"aabb").unwrap();
                let longer = editor.append(b"ccddee");
                assert_eq!(longer.is_ok(), of_frame || of_editor, "{kind:?} {of_frame} {of_editor}");
                editor.commit(Durability::Cached).unwrap();
                assert_eq!(path.is_dir(), kind == Kind::Sparse);
                let opened = Frame::open(&path).unwrap();
                assert_eq!(opened.chunk_count(), if longer.is_ok() { 2 } else { 1 });
                let digests = opened.verified_reads().algorithm(&opened);
                assert_eq!(digests, of_frame.then_some(Algorithm::Crc32));
                drop(editor);
                // Never over another.
                let error = Editor::create(&path, frame, &options).err().unwrap();
                assert!(matches!(error.kind(), ErrorKind::Usage(_) | ErrorKind::Io(_)), "{error}");
                assert!(!error.is_after_change());
            }
        }
        let folder = tempfile::tempdir().unwrap();
        let wrong = FrameOptions {
            params: Params { level: 10, ..default_params(2) },
            kind: Kind::Sparse,
            ..FrameOptions::default()
        };
        let path = folder.path().join("wrong.b2frame");
        assert!(Editor::create(&path, wrong, &EditOptions::default()).is_err());
        assert!(!path.exists(), "nothing is left of a frame that cannot be");
    }

    #[test]
    fn an_order_lists_each_chunk_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new.b2frame");
        let frame = FrameOptions { params: default_params(1), ..FrameOptions::default() };
        let mut editor = Editor::create(&path, frame, &EditOptions::default()).unwrap();
        [b"aabb", b"ccdd", b"eeff"].iter().for_each(|chunk| editor.append(*chunk).unwrap());
        for wrong in [&[0, 1][..], &[0, 1, 2, 3], &[0, 1, 1], &[0, 1, 3], &[]] {
            let error = editor.reorder(wrong).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{wrong:?}: {error}");
        }
        editor.reorder(&[2, 0, 1]).unwrap();
        let chunks = [0, 1, 2].map(|index| editor.read_chunk(index).unwrap());
        assert_eq!(chunks, [b"eeff", b"aabb", b"ccdd"]);
    }
}
