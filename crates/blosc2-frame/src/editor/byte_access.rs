//! The data as one run of bytes over all chunks, uncommitted ones included.

use std::ops::Range;

use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::Editor;
use crate::header::ChunkSize;

/// Bytes of a chunk in a frame whose first elements determine that.
const DEFAULT_CHUNK_LEN: u64 = 1 << 20;

/// A chunk, and the byte of the data at which it starts.
#[derive(Clone, Copy, Default)]
struct Position {
    index: u64,
    start: u64,
}

impl Editor {
    /// Bytes of all chunks, uncommitted ones included.
    #[must_use]
    pub fn data_len(&self) -> u64 {
        self.sizes.nbytes
    }

    /// Returns the bytes of each chunk added to a frame of equal chunks; `added` bytes determine that if there is none yet. `None` if
    /// each chunk has its own size.
    #[must_use]
    pub fn extension_len(&self, added: u64) -> Option<u64> {
        match self.sizes.chunksize {
            ChunkSize::Fixed(len) => Some(u64::from(len)),
            ChunkSize::Variable => None,
            ChunkSize::Unset => {
                let item = u64::from(self.header.typesize).max(1);
                Some((DEFAULT_CHUNK_LEN / item).max(1).saturating_mul(item).min(added.max(1)))
            }
        }
    }

    /// Reads the bytes `range` of all chunks joined.
    ///
    /// # Errors
    /// `Usage` for a range that ends after the data; those of [`Editor::read_chunk`]; `Limit`.
    pub fn read_range(&self, range: Range<u64>) -> Result<Vec<u8>> {
        self.check_bytes(&range)?;
        let mut bytes: Vec<u8> = try_zeroed_vec(range.end - range.start, &self.limits)?;
        let mut position = Position::default();
        let mut rest = &mut bytes[..];
        let mut at = range.start;
        while !rest.is_empty() {
            let within = self.within(&mut position, at, rest.len())?;
            let (part, others) = std::mem::take(&mut rest).split_at_mut(within.len());
            let chunk = self.read_chunk(position.index)?;
            part.copy_from_slice(chunk.get(within).ok_or_else(|| self.too_short(position.index))?);
            at = at.saturating_add(part.len() as u64);
            rest = others;
        }
        Ok(bytes)
    }

    /// Overwrites the bytes from `start` on with `bytes`, and appends the rest after the end. Chunks that are covered are not
    /// read.
    ///
    /// # Errors
    /// `Usage` for a start after the end; those of [`Editor::read_chunk`], [`Editor::update`] and [`Editor::extend`].
    pub fn write_range(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        self.check_bytes(&(start..start))?;
        let inside = self.data_len().saturating_sub(start).min(bytes.len() as u64);
        let (mut rest, behind) = bytes.split_at(usize::try_from(inside).unwrap_or(bytes.len()));
        let mut position = Position::default();
        let mut at = start;
        while !rest.is_empty() {
            let within = self.within(&mut position, at, rest.len())?;
            let (part, others) = rest.split_at(within.len());
            if self.chunk_len(position.index)? == part.len() as u64 {
                self.update(position.index, part)?;
            } else {
                let mut chunk = self.read_chunk(position.index)?;
                let place = chunk.get_mut(within).ok_or_else(|| self.too_short(position.index))?;
                place.copy_from_slice(part);
                self.update(position.index, &chunk)?;
            }
            at = at.saturating_add(part.len() as u64);
            rest = others;
        }
        self.extend(behind)
    }

    /// Adds `bytes` after the data: a last chunk that is shorter than the others is filled up first. In a frame of chunks of different
    /// sizes they become one chunk.
    ///
    /// # Errors
    /// As [`Editor::append`].
    pub fn extend(&mut self, bytes: &[u8]) -> Result<()> {
        if bytes.is_empty() {
            return Ok(());
        }
        let Some(len) = self.extension_len(bytes.len() as u64) else { return self.append(bytes) };
        let len = self.limits.allocate(len)?.max(1);
        let mut rest = bytes;
        let held = self.data_len() % len as u64;
        if let Some(last) = self.chunk_count().checked_sub(1).filter(|_| held > 0) {
            let mut chunk = self.read_chunk(last)?;
            let (fill, others) = rest.split_at(len.saturating_sub(chunk.len()).min(rest.len()));
            chunk.extend_from_slice(fill);
            self.update(last, &chunk)?;
            rest = others;
        }
        self.append_all(&rest.chunks(len).collect::<Vec<_>>())
    }

    fn check_bytes(&self, range: &Range<u64>) -> Result<()> {
        let len = self.data_len();
        if range.start > range.end || range.end > len {
            return Err(Error::usage(format!("bytes {}..{} of {len}", range.start, range.end)));
        }
        Ok(())
    }

    /// Returns the bytes of one chunk from the byte `at` of the data on, `most` at most; `position` becomes that chunk's.
    fn within(&self, position: &mut Position, at: u64, most: usize) -> Result<Range<usize>> {
        if let ChunkSize::Fixed(len) = self.sizes.chunksize {
            let len = u64::from(len).max(1);
            *position = Position { index: at / len, start: at / len * len };
        }
        loop {
            let len = self.chunk_len(position.index)?;
            let end = position.start.saturating_add(len);
            if at < end {
                let first = usize::try_from(at.saturating_sub(position.start)).unwrap_or(usize::MAX);
                let count = usize::try_from(end - at).unwrap_or(usize::MAX).min(most);
                return Ok(first..first.saturating_add(count));
            }
            *position = Position { index: position.index.saturating_add(1), start: end };
        }
    }

    fn too_short(&self, index: u64) -> Error {
        Error::malformed(format!("chunk {index} is shorter than the frame says"))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::{Durability, EditOptions, Frame, FrameOptions, default_params};
    use container_core::container::ReadOptions;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn bytes_are_those_of_a_vector(
            sizes in prop::collection::vec(1_u8..9, 0..5),
            is_variable in any::<bool>(),
            steps in prop::collection::vec((any::<u16>(), prop::collection::vec(any::<u8>(), 0..20), any::<bool>()), 1..8),
        ) {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("a.b2frame");
            let options = FrameOptions { params: default_params(1), variable_chunks: is_variable, ..FrameOptions::default() };
            let edit = EditOptions { variable_chunks: is_variable, ..EditOptions::default() };
            let mut editor = Editor::create(&path, options, &edit).unwrap();
            let mut model: Vec<u8> = Vec::new();
            for size in sizes {
                let piece = vec![size; if is_variable { size.into() } else { 6 }];
                editor.append(&piece).unwrap();
                model.extend(piece);
            }
            for (at, bytes, is_added) in steps {
                if is_added {
                    editor.extend(&bytes).unwrap();
                    model.extend(&bytes);
                } else {
                    let at = usize::from(at) % (model.len() + 1);
                    editor.write_range(at as u64, &bytes).unwrap();
                    let end = (at + bytes.len()).min(model.len());
                    model.splice(at..end, bytes).for_each(drop);
                    let from = at / 2;
                    prop_assert_eq!(editor.read_range(from as u64..model.len() as u64).unwrap(), &model[from..]);
                }
                prop_assert_eq!(editor.data_len(), model.len() as u64);
            }
            editor.commit(Durability::Cached).unwrap();
            let frame = Frame::open(&path).unwrap();
            let read = frame.read_range(0..model.len() as u64, &ReadOptions::default()).unwrap();
            prop_assert_eq!(read, model);
        }
    }

    #[test]
    fn bytes_behind_the_end_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.b2frame");
        let mut editor = Editor::create(&path, FrameOptions::default(), &EditOptions::default()).unwrap();
        editor.extend(&[1, 2, 3]).unwrap();
        assert!(editor.read_range(2..4).is_err());
        assert!(editor.write_range(4, &[1]).is_err());
        assert_eq!(editor.read_range(3..3).unwrap(), []);
    }
}
