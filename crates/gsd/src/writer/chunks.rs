//! Chunks of the frame that has not ended.

use std::borrow::Cow;

use container_core::array::Array;
use container_core::dtype::{ByteOrder, Element, Order};
use container_core::write::storage::Storage;
use container_core::{Error, Result};

use super::Writer;
use super::names::Slots;
use crate::ChunkType;
use crate::chunk_shape::{ChunkShape, SHAPE_SUFFIX};
use crate::index::IndexEntry;

impl<S: Storage> Writer<S> {
    /// Writes a chunk of N × M elements, row by row, to the frame that has not ended: `gsd_write_chunk`. Values are not converted:
    /// the chunk has the type of the elements.
    ///
    /// # Errors
    /// `Usage` for a type that GSD lacks, for M = 0, for another number of elements than N × M, for a name that is empty, has a NUL, is
    /// one too many, or is in the frame already. `Io`, which ends the writing.
    pub fn write_chunk<T: Element>(&mut self, name: &str, n: u64, m: u32, elements: &[T]) -> Result<()> {
        let dtype = T::dtype();
        let chunk_type = ChunkType::from_dtype(&dtype).ok_or_else(|| {
            Error::usage(format!("GSD has no chunks of {dtype}"))
                .with_hint("store them as bytes: uint8, N × M")
        })?;
        let bytes = dtype.little_endian(bytemuck::cast_slice(elements))?;
        self.write_chunk_bytes(name, chunk_type, n, m, &bytes)
    }

    /// Writes a chunk whose elements are given as little-endian bytes.
    ///
    /// # Errors
    /// As [`Writer::write_chunk`].
    pub fn write_chunk_bytes(
        &mut self,
        name: &str,
        chunk_type: ChunkType,
        n: u64,
        m: u32,
        bytes: &[u8],
    ) -> Result<()> {
        let size = self.check_chunk(chunk_type, n, m)?;
        if size != bytes.len() as u64 {
            let problem = format!("chunk {name:?}: {n} × {m} {} are {size} bytes", chunk_type.name());
            return Err(Error::usage(format!("{problem}, these are {}", bytes.len())));
        }
        let id = self.names.take(name, self.frame)?;
        let most = self.options.maximum_write_buffer_size;
        // The reference's rules: a chunk that does not fit the buffer goes after the buffered ones, and one that fills the buffer is
        // written directly.
        if bytes.len() > most.saturating_sub(self.buffer.len()) {
            self.guard(Self::write_buffer)?;
        }
        let padding = self.padding(size);
        let at = self.end + self.buffer.len() as u64 + padding;
        if bytes.len() < most {
            // The padding is a few bytes.
            self.buffer.resize(self.buffer.len() + usize::try_from(padding).unwrap_or(0), 0);
            self.buffer.extend_from_slice(bytes);
        } else {
            self.guard(|writer| {
                // The buffer has been written, or was empty: the bytes are more than it holds, or all that it may.
                writer.write_buffer()?;
                writer.storage.write_at(at, bytes)?;
                writer.end = at + size;
                Ok(())
            })?;
        }
        self.push_entry(id, chunk_type, n, m, at);
        Ok(())
    }

    /// Writes text: type `character`, M = 1, one row per byte of UTF-8.
    ///
    /// # Errors
    /// As [`Writer::write_chunk`]; `Usage` for a file of layer 1.0, which has no such type.
    pub fn write_string(&mut self, name: &str, text: &str) -> Result<()> {
        self.write_chunk_bytes(name, ChunkType::Character, text.len() as u64, 1, text.as_bytes())
    }

    /// Writes opaque bytes: type `uint8`, M = 1.
    ///
    /// # Errors
    /// As [`Writer::write_chunk`].
    pub fn write_blob(&mut self, name: &str, bytes: &[u8]) -> Result<()> {
        self.write_chunk_bytes(name, ChunkType::Uint8, bytes.len() as u64, 1, bytes)
    }

    /// Writes an array of any rank: (N,) and (N, M) as they are, others as N × 1 with a chunk `<name>/shape` of `uint64`.
    ///
    /// Axes are stored with the last one fastest, whatever the array's order in memory.
    ///
    /// # Errors
    /// As [`Writer::write_chunk`].
    pub fn write_array(&mut self, name: &str, array: &Array<'_>) -> Result<()> {
        let dtype = array.dtype();
        let chunk_type = ChunkType::from_dtype(dtype).ok_or_else(|| {
            Error::usage(format!("GSD has no chunks of {dtype}"))
                .with_hint("store them as bytes: uint8, N × M")
        })?;
        let mut bytes = array.bytes(Order::C, &self.options.limits)?;
        if !dtype.is_in_order(ByteOrder::Little) {
            let mut swapped = container_core::source::into_vec(bytes, &self.options.limits)?;
            dtype.swap_to(ByteOrder::Little, &mut swapped)?;
            bytes = Cow::Owned(swapped);
        }
        let shape = ChunkShape::of(array.shape())
            .ok_or_else(|| Error::usage(format!("{:?} elements are over 2^64", array.shape())))?;
        self.write_chunk_bytes(name, chunk_type, shape.n, shape.m, &bytes)?;
        match shape.beside {
            Some(beside) => {
                self.write_chunk(&format!("{name}{SHAPE_SUFFIX}"), beside.len() as u64, 1, &beside)
            }
            None => Ok(()),
        }
    }

    /// Bytes of a chunk that can be written.
    pub(super) fn check_chunk(&self, chunk_type: ChunkType, n: u64, m: u32) -> Result<u64> {
        self.check_usable()?;
        if m == 0 {
            return Err(
                Error::usage("a chunk has at least one column (M = 0)").with_hint("N = 0 makes it empty")
            );
        }
        if chunk_type == ChunkType::Character && self.names.slots() == Slots::Fixed {
            return Err(Error::usage("files of layer 1.0 have no text").with_hint("upgrade the file"));
        }
        let size = n.checked_mul(u64::from(m)).and_then(|count| count.checked_mul(chunk_type.size()));
        let size = size.filter(|size| {
            let end = self.end.checked_add(self.buffer.len() as u64 + 64);
            end.and_then(|end| end.checked_add(*size)).is_some_and(|end| i64::try_from(end).is_ok())
        });
        size.ok_or_else(|| {
            Error::usage(format!("a chunk of {n} × {m} {} would end past 2^63 bytes", chunk_type.name()))
        })
    }

    /// Number of padding bytes before a chunk of that size.
    pub(super) fn padding(&self, size: u64) -> u64 {
        let at = self.end + self.buffer.len() as u64;
        if size == 0 { 0 } else { at.next_multiple_of(self.options.chunk_alignment()) - at }
    }

    pub(super) fn push_entry(&mut self, id: u16, chunk_type: ChunkType, n: u64, m: u32, at: u64) {
        // `check_chunk` has checked that offsets fit.
        let location = i64::try_from(at).unwrap_or(i64::MAX);
        let type_code = chunk_type.code();
        self.entries.push(IndexEntry { frame: self.frame, n, location, m, id, type_code, flags: 0 });
        self.pending += 1;
    }

    /// Writes the buffered chunks to the end of the file.
    pub(super) fn write_buffer(&mut self) -> Result<()> {
        if !self.buffer.is_empty() {
            self.storage.write_at(self.end, &self.buffer)?;
            self.end += self.buffer.len() as u64;
            self.buffer.clear();
        }
        Ok(())
    }
}
