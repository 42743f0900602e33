//! The values of a field: borrowed, copied, or made of defaults.

use std::borrow::Cow;
use std::sync::OnceLock;

use bytemuck::Pod;
use container_core::dtype::ByteOrder;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::{FieldSource, FrameView, field_at};
use crate::ChunkType;
use crate::hoomd::float_array::{FloatArray, SinglePrecision};
use crate::hoomd::schema::Field;
use crate::index::IndexEntry;

/// Values of frame 0, aligned for every type.
#[derive(Debug)]
pub(crate) struct AlignedValues {
    words: Vec<u64>,
    len: usize,
}

impl AlignedValues {
    fn cast<T: Pod>(&self) -> &[T] {
        let bytes: &[u8] = bytemuck::cast_slice(&self.words);
        bytemuck::try_cast_slice(bytes.get(..self.len).unwrap_or_default()).unwrap_or_default()
    }
}

impl<'t> FrameView<'t> {
    /// Rows of integers; each `T` is a row.
    pub(crate) fn rows<T: Pod>(&self, at: usize) -> Result<Cow<'t, [T]>> {
        let field = field_at(at);
        self.load(at, field, self.field_source(at)?, field.chunk_type)
    }

    /// Rows of reals, in the precision in which they are stored. A default has the precision of frame 0's chunk, else f32.
    pub(crate) fn reals<S: SinglePrecision>(&self, at: usize) -> Result<FloatArray<'t, S>> {
        let field = field_at(at);
        let source = self.field_source(at)?;
        let chunk_type = match source {
            FieldSource::Stored(entry) | FieldSource::Frame0(entry) => self.fitting_type(field, &entry)?,
            FieldSource::SharedDefault => ChunkType::Float,
            FieldSource::Default => {
                let initial = self.core.initial.entry(self.file(), at);
                initial.and_then(|entry| entry.chunk_type()).unwrap_or(ChunkType::Float)
            }
        };
        Ok(match chunk_type {
            ChunkType::Double => FloatArray::F64(self.load(at, field, source, ChunkType::Double)?),
            _ => FloatArray::F32(self.load(at, field, source, ChunkType::Float)?),
        })
    }

    /// Rows of `T` from the field's chunk or its default, whose elements are as wide as those of `like`.
    fn load<T: Pod>(
        &self,
        at: usize,
        field: &Field,
        source: FieldSource,
        like: ChunkType,
    ) -> Result<Cow<'t, [T]>> {
        match source {
            FieldSource::Stored(entry) => {
                self.check(field, &entry, size_of::<T>())?;
                match self.lend(&entry) {
                    Some(rows) => Ok(Cow::Borrowed(rows)),
                    None => Ok(Cow::Owned(self.copy(&entry)?)),
                }
            }
            FieldSource::Frame0(entry) => {
                self.check(field, &entry, size_of::<T>())?;
                match self.lend(&entry) {
                    Some(rows) => Ok(Cow::Borrowed(rows)),
                    None => Ok(Cow::Borrowed(self.shared(at, field, Some(&entry), like)?.cast())),
                }
            }
            FieldSource::SharedDefault => Ok(Cow::Borrowed(self.shared(at, field, None, like)?.cast())),
            FieldSource::Default => {
                let rows = self.row_count(field)?.unwrap_or(0);
                let limits = &self.file().options().limits;
                // Fixed chunks hold all their values in one default row.
                let row = field.default_row(like, ByteOrder::NATIVE);
                let mut values: Vec<T> = try_zeroed_vec(rows, limits)?;
                if row.iter().any(|byte| *byte != 0) {
                    let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut values);
                    for place in bytes.chunks_exact_mut(row.len().max(1)) {
                        place.copy_from_slice(&row);
                    }
                }
                Ok(Cow::Owned(values))
            }
        }
    }

    /// Frame 0's values, kept for all frames.
    fn shared(
        &self,
        at: usize,
        field: &Field,
        entry: Option<&IndexEntry>,
        like: ChunkType,
    ) -> Result<&'t AlignedValues> {
        let missing = || Error::usage("no such field of the schema");
        let cell: &'t OnceLock<AlignedValues> = self.core.shared(at).ok_or_else(missing)?;
        if let Some(values) = cell.get() {
            return Ok(values);
        }
        let limits = &self.file().options().limits;
        let aligned = match entry {
            Some(entry) => {
                let len = entry.size().unwrap_or(0);
                let mut words: Vec<u64> = try_zeroed_vec(len.div_ceil(8), limits)?;
                let len = limits.allocate(len)?;
                let bytes: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                self.fill(entry, bytes.get_mut(..len).unwrap_or_default())?;
                AlignedValues { words, len }
            }
            None => {
                let rows = self.row_count(field)?.unwrap_or(0);
                let bytes = field.default_bytes(rows, like, ByteOrder::NATIVE, limits)?;
                let mut words: Vec<u64> = try_zeroed_vec((bytes.len() as u64).div_ceil(8), limits)?;
                let place: &mut [u8] = bytemuck::cast_slice_mut(&mut words);
                place.get_mut(..bytes.len()).unwrap_or_default().copy_from_slice(&bytes);
                AlignedValues { words, len: bytes.len() }
            }
        };
        Ok(cell.get_or_init(|| aligned))
    }

    /// The rows of a chunk where they can be borrowed.
    fn lend<T: Pod>(&self, entry: &IndexEntry) -> Option<&'t [T]> {
        let order = self.file().header().byte_order;
        if order != ByteOrder::NATIVE && entry.chunk_type()?.size() > 1 {
            return None;
        }
        let bytes = self.file().source().lend(entry.byte_range()?)?;
        bytemuck::try_cast_slice(bytes).ok()
    }

    fn copy<T: Pod>(&self, entry: &IndexEntry) -> Result<Vec<T>> {
        let rows = entry.size().unwrap_or(0) / (size_of::<T>() as u64).max(1);
        let mut values: Vec<T> = try_zeroed_vec(rows, &self.file().options().limits)?;
        self.fill(entry, bytemuck::cast_slice_mut(&mut values))?;
        Ok(values)
    }

    /// Reads a chunk into `dst`, in this machine's byte order.
    fn fill(&self, entry: &IndexEntry, dst: &mut [u8]) -> Result<()> {
        let file = self.file();
        let array = file.stored_array(entry)?;
        file.source().read_into(array.data_at, dst)?;
        if !array.dtype.is_in_order(ByteOrder::NATIVE) {
            array.dtype.swap_to(ByteOrder::NATIVE, dst)?;
        }
        Ok(())
    }
}
