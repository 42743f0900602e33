//! Edits an array in place.
//!
//! [`NdEditor`] translates changes of elements and shapes to changes of whole chunks. [`Editor`] makes these so that the file is the
//! old frame or the new one. The shape is part of the header, and is written with it.
//!
//! Elements between the end of the array and the end of its last chunks are zeros by convention, but C-Blosc2 leaves the old values
//! when it makes an array shorter. So they are set to zero here when the array gets shorter, and checked when it grows over them.

use std::borrow::Cow;
use std::path::Path;

use blosc_chunk::{Params, Special};
use container_core::array::Array;
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::source::try_zeroed_vec;
use container_core::write::Durability;
use container_core::{Error, Limits, Result, Stop};

use super::chunk_boxes::{ChunkBoxes, chunk_index};
use super::create::{NdOptions, to_u32, zero_chunk};
use super::{Geometry, Meta, NAME, OLD_NAME, array, dtype, dtype_string};
use crate::editor::{EditOptions, Editor};

mod resize;
mod shift;
#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;

/// An array that is being changed. Nothing is seen by readers before [`NdEditor::commit`]; what was not committed is lost with the
/// editor.
pub struct NdEditor {
    editor: Editor,
    name: &'static str,
    meta: Meta,
    dtype: DType,
    geometry: Geometry,
    limits: Limits,
    /// A change broke off: chunks may be half of the old array and half of the new one.
    failed: bool,
}

impl NdEditor {
    /// Opens the array in the file, or the directory, at `path`.
    ///
    /// # Errors
    /// As [`Editor::open`] and [`super::NdArray::from_frame`].
    pub fn open(path: impl AsRef<Path>, options: &EditOptions) -> Result<Self> {
        Self::from_editor(Editor::open(path, options)?, &options.limits)
    }

    /// Opens the array in a frame that is open for changes.
    ///
    /// # Errors
    /// As [`super::NdArray::from_frame`].
    pub fn from_editor(editor: Editor, limits: &Limits) -> Result<Self> {
        let found = [NAME, OLD_NAME].into_iter().find(|name| editor.metalayers().get(name).is_some());
        let name =
            found.ok_or_else(|| Error::usage("a frame without the metalayer \"b2nd\" is not an array"))?;
        let meta = Meta::parse(editor.metalayers().get(name).unwrap_or_default())?;
        let itemsize = usize::try_from(editor.header().typesize).unwrap_or(usize::MAX);
        let geometry = Geometry::new(&meta.shape, &meta.chunkshape, &meta.blockshape, itemsize)?;
        array::check_frame(&geometry, editor.header(), editor.chunk_count())?;
        let dtype = dtype::parse(&meta, itemsize)?;
        Ok(Self { editor, name, meta, dtype, geometry, limits: *limits, failed: false })
    }

    /// Creates an array of zeros at the unused `path`, and opens it. A chunk takes no room before it gets values.
    ///
    /// # Errors
    /// Those of [`Editor::create`] and of [`super::partition()`]; `Unsupported` for types that numpy lacks.
    pub fn create(
        path: impl AsRef<Path>,
        dtype: &DType,
        shape: &[u64],
        options: &NdOptions,
        edit: &EditOptions,
    ) -> Result<Self> {
        let geometry = options.geometry(shape, dtype.itemsize())?;
        let params = options.chunk_params(&geometry, dtype)?;
        let frame = options.frame(&geometry, &dtype_string::text(dtype)?, params)?;
        let mut editor = Editor::create(path, frame, edit)?;
        for (name, value) in &options.vlmetalayers {
            editor.set_vlmetalayer(name, value)?;
        }
        if geometry.chunk_count() > 0 {
            let len = to_u32(geometry.chunk_bytes())?;
            editor.insert_special(0, Special::Zeros, len, geometry.chunk_count())?;
        }
        editor.commit(Durability::default())?;
        Self::from_editor(editor, &edit.limits)
    }

    /// Returns the element type.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Shapes of array, chunks and blocks, with changes that are not committed.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// Returns the length of each axis, with changes that are not committed.
    #[must_use]
    pub fn shape(&self) -> &[u64] {
        self.geometry.shape()
    }

    /// Returns the editor of the frame.
    #[must_use]
    pub fn frame(&self) -> &Editor {
        &self.editor
    }

    /// Sets the encoding of further chunks. Element size and block size stay the array's.
    ///
    /// # Errors
    /// As [`Editor::set_params`].
    pub fn set_params(&mut self, mut params: Params) -> Result<()> {
        params.typesize = self.geometry.itemsize();
        params.blocksize = usize::try_from(self.geometry.block_bytes()).ok().filter(|len| *len > 0);
        self.editor.set_params(params)
    }

    /// Sets a piece of user metadata: by convention msgpack.
    ///
    /// # Errors
    /// As [`Editor::set_vlmetalayer`].
    pub fn set_vlmetalayer(&mut self, name: &str, value: &[u8]) -> Result<()> {
        self.editor.set_vlmetalayer(name, value)
    }

    /// Removes a piece of user metadata; false where there was none.
    pub fn remove_vlmetalayer(&mut self, name: &str) -> bool {
        self.editor.remove_vlmetalayer(name)
    }

    /// Makes further reads and changes end with `Cancelled` at the next chunk once `stop` requests it. Such a change is incomplete, and
    /// commits are refused after it.
    pub fn set_stop(&mut self, stop: Stop) {
        self.editor.set_stop(stop);
    }

    /// Reads the elements of `region` in C order, with changes that are not committed. Every chunk that it touches is decoded
    /// whole.
    ///
    /// # Errors
    /// `Usage` for a region of another shape; those of [`Editor::read_chunk`]; `Limit`.
    pub fn read(&self, region: &Region) -> Result<Array<'static>> {
        let region = Region::new(region.axes().to_vec(), self.shape())?;
        let window = ChunkBoxes::region(region.axes(), self.geometry.itemsize())?;
        let mut bytes = try_zeroed_vec(window.byte_len(), &self.limits)?;
        self.read_window(&window, &mut bytes)?;
        Array::new(self.dtype.clone(), region.shape(), Order::C, Cow::Owned(bytes))
    }

    /// Gives the elements of `region` the values of `values`, which have its shape and the array's type. Chunks that are covered are
    /// not read.
    ///
    /// # Errors
    /// `Usage` for another type or shape; those of [`Editor::read_chunk`] and [`Editor::update`].
    pub fn set(&mut self, region: &Region, values: &Array<'_>) -> Result<()> {
        let region = Region::new(region.axes().to_vec(), self.shape())?;
        self.check_type(values)?;
        if values.shape() != region.shape() {
            let problem =
                format!("values of shape {:?} for {:?} of the array", values.shape(), region.shape());
            return Err(Error::usage(problem));
        }
        let window = ChunkBoxes::region(region.axes(), self.geometry.itemsize())?;
        let limits = self.limits;
        let bytes = values.bytes(Order::C, &limits)?;
        self.change(|own| own.write_window(&window, &bytes))
    }

    /// Gives all elements of `region` one value: an element, as stored.
    ///
    /// # Errors
    /// As [`NdEditor::set`].
    pub fn fill(&mut self, region: &Region, value: &[u8]) -> Result<()> {
        let region = Region::new(region.axes().to_vec(), self.shape())?;
        if value.len() != self.geometry.itemsize() {
            let problem = format!(
                "a value of {} bytes (expected {}, as the elements)",
                value.len(),
                self.geometry.itemsize()
            );
            return Err(Error::usage(problem));
        }
        let window = ChunkBoxes::region(region.axes(), value.len())?.of_one_element();
        self.change(|own| own.write_window(&window, value))
    }

    /// Commits the changes. When this returns they are as durable as requested.
    ///
    /// Each commit writes index and trailer anew, 8 bytes for each chunk, and leaves the old ones as dead space. Many commits of little data make a
    /// large file: commit every some hundred rows, or [`compact`](crate::compact()) the file at the end, as `holdall recode` does.
    ///
    /// # Errors
    /// As [`Editor::commit`]; `Usage` after an incomplete change, which is discarded when the editor is dropped.
    pub fn commit(&mut self, durability: Durability) -> Result<()> {
        self.check_whole()?;
        self.editor.commit(durability)
    }

    /// Runs a change that may break off half done.
    fn change(&mut self, change: impl FnOnce(&mut Self) -> Result<()>) -> Result<()> {
        self.check_whole()?;
        let result = change(self);
        self.failed = result.is_err();
        result
    }

    fn check_whole(&self) -> Result<()> {
        if self.failed {
            return Err(Error::usage("an earlier change of this array failed").with_hint("open it again"));
        }
        Ok(())
    }

    fn check_type(&self, values: &Array<'_>) -> Result<()> {
        if *values.dtype() == self.dtype {
            return Ok(());
        }
        Err(Error::usage(format!("values of type {} for an array of {}", values.dtype(), self.dtype)))
    }

    fn read_chunk(&self, place: &[u64]) -> Result<Vec<u8>> {
        let chunk = self.editor.read_chunk(chunk_index(&self.geometry, place))?;
        if chunk.len() as u64 != self.geometry.chunk_bytes() {
            let problem = format!("a chunk of {} bytes, not {}", chunk.len(), self.geometry.chunk_bytes());
            return Err(Error::malformed(problem).with_context(format!("chunk {place:?}")));
        }
        Ok(chunk)
    }

    fn read_window(&self, window: &ChunkBoxes, buffer: &mut [u8]) -> Result<()> {
        window.for_each_chunk(&self.geometry, |place| {
            window.read_chunk(&self.geometry, place, &self.read_chunk(place)?, buffer)
        })
    }

    fn write_window(&mut self, window: &ChunkBoxes, buffer: &[u8]) -> Result<()> {
        let geometry = self.geometry.clone();
        window.for_each_chunk(&geometry, |place| {
            let covered = window.covers(&geometry, place);
            let mut chunk =
                if covered { zero_chunk(&geometry, &self.limits)? } else { self.read_chunk(place)? };
            window.write_chunk(&geometry, place, buffer, &mut chunk)?;
            self.editor.update(chunk_index(&geometry, place), &chunk)
        })
    }

    /// Makes the elements of a box zeros, where they are not.
    fn clear(&mut self, origin: &[u64], shape: &[u64]) -> Result<()> {
        let geometry = self.geometry.clone();
        let zero = vec![0; geometry.itemsize()];
        let window = ChunkBoxes::plain(origin, shape, geometry.itemsize())?.of_one_element();
        window.for_each_chunk(&geometry, |place| {
            let chunk = self.read_chunk(place)?;
            let mut cleared = chunk.clone();
            window.write_chunk(&geometry, place, &zero, &mut cleared)?;
            if cleared == chunk {
                return Ok(());
            }
            self.editor.update(chunk_index(&geometry, place), &cleared)
        })
    }
}
