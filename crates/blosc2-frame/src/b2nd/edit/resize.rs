//! Other shapes: chunks appear and go at their places in the grid, and edges are cleared.

use blosc_chunk::Special;
use container_core::source::try_zeroed_vec;
use container_core::{Error, Result};

use super::super::Geometry;
use super::super::chunk_boxes::{chunk_index, for_each_place};
use super::super::create::to_u32;
use super::super::default_chunks::partition;
use super::NdEditor;

/// The number of a chunk that was not there.
const NEW_CHUNK: u64 = u64::MAX;

impl NdEditor {
    /// Gives the array another shape. Elements keep their indices; new ones are zeros and take no room, and of an axis that gets
    /// shorter the last ones go.
    ///
    /// # Errors
    /// `Usage` for another number of dimensions, for more than an array can be, and where chunks have length 0; those of
    /// [`crate::Editor::read_chunk`] for chunks at the edges.
    pub fn resize(&mut self, shape: &[u64]) -> Result<()> {
        if shape.len() != self.shape().len() {
            let problem = format!("a shape of {} dimensions for one of {}", shape.len(), self.shape().len());
            return Err(Error::usage(problem));
        }
        self.with_shape(shape)?;
        self.change(|own| {
            let smaller: Vec<u64> = own.shape().iter().zip(shape).map(|(old, new)| *old.min(new)).collect();
            own.shrink(&smaller)?;
            own.grow(shape, Edges::Cleared)
        })
    }

    /// Returns the geometry with another shape.
    pub(super) fn with_shape(&self, shape: &[u64]) -> Result<Geometry> {
        let (chunks, blocks) = (self.geometry.chunkshape(), self.geometry.blockshape());
        // For an array without elements, python-blosc2 makes the chunks as long as the array: the first elements determine
        // them.
        if chunks.contains(&0) && !shape.contains(&0) {
            let itemsize = self.geometry.itemsize();
            // As for an axis that grows, and not for the few elements that come first.
            let own = partition(self.shape(), itemsize, self.editor.params(), None, None)?;
            return Geometry::new(shape, own.chunkshape(), own.blockshape(), itemsize)
                .map_err(|error| Error::usage(error.kind().to_string()));
        }
        Geometry::new(shape, chunks, blocks, self.geometry.itemsize())
            .map_err(|error| Error::usage(error.kind().to_string()))
    }

    /// Takes the chunks of `geometry`, where the array has none.
    fn take_partition(&mut self, geometry: &Geometry) -> Result<()> {
        if geometry.chunkshape() == self.geometry.chunkshape() {
            return Ok(());
        }
        self.meta.chunkshape = geometry.chunkshape().to_vec();
        self.meta.blockshape = geometry.blockshape().to_vec();
        self.editor.set_chunksize(to_u32(geometry.chunk_bytes())?)?;
        self.editor.set_blocks(to_u32(geometry.block_bytes())?, geometry.blockshape());
        Ok(())
    }

    /// Cuts axes: the chunks at the new edges get zeros after them.
    pub(super) fn shrink(&mut self, shape: &[u64]) -> Result<()> {
        let old = self.geometry.clone();
        if shape == old.shape() {
            return Ok(());
        }
        let new = self.with_shape(shape)?;
        // Up to where chunks that stay reach in the old array.
        let edges = |(axis, len): (usize, &u64)| {
            let chunk = u64::from(old.chunkshape()[axis]).max(1);
            len.div_ceil(chunk).saturating_mul(chunk).min(old.shape()[axis])
        };
        let kept: Vec<u64> = shape.iter().enumerate().map(edges).collect();
        for (axis, len) in shape.iter().enumerate() {
            self.clear_slab(axis, *len, &kept)?;
        }
        self.rebuild(new, |axis, at| (at < old.chunk_grid()[axis]).then_some(at))
    }

    /// Lengthens axes.
    pub(super) fn grow(&mut self, shape: &[u64], edges: Edges) -> Result<()> {
        let old = self.geometry.clone();
        if shape == old.shape() {
            return Ok(());
        }
        let new = self.with_shape(shape)?;
        self.rebuild(new, |axis, at| (at < old.chunk_grid()[axis]).then_some(at))?;
        if edges == Edges::Overwritten || old.chunk_count() == 0 {
            return Ok(());
        }
        // Up to where old chunks reach in the new array.
        let edges = |(axis, len): (usize, &u64)| {
            let chunk = u64::from(old.chunkshape()[axis]).max(1);
            len.div_ceil(chunk).saturating_mul(chunk).min(shape[axis])
        };
        let kept: Vec<u64> = old.shape().iter().enumerate().map(edges).collect();
        for (axis, len) in old.shape().iter().enumerate() {
            self.clear_slab(axis, *len, &kept)?;
        }
        Ok(())
    }

    /// Clears the elements from `start` on along `axis`, in the box of `shape` from the origin on.
    fn clear_slab(&mut self, axis: usize, start: u64, shape: &[u64]) -> Result<()> {
        if start >= shape[axis] {
            return Ok(());
        }
        let mut origin = vec![0; shape.len()];
        let mut slab = shape.to_vec();
        origin[axis] = start;
        slab[axis] = shape[axis] - start;
        self.clear(&origin, &slab)
    }

    /// Rearranges the chunks into another grid. `old_at` returns, by axis, the position in the old grid of one in the new grid.
    /// Chunks without an old position are zeros, and old chunks without a new one are removed.
    pub(super) fn rebuild(
        &mut self,
        new: Geometry,
        old_at: impl Fn(usize, u64) -> Option<u64>,
    ) -> Result<()> {
        self.take_partition(&new)?;
        let old = std::mem::replace(&mut self.geometry, new);
        let (have, want) = (old.chunk_count(), self.geometry.chunk_count());
        let len = to_u32(self.geometry.chunk_bytes())?;
        let inner = |geometry: &Geometry| geometry.chunk_grid().iter().skip(1).copied().collect::<Vec<u64>>();
        let at_end = have == 0 || want == 0 || inner(&old) == inner(&self.geometry);
        let low = old.chunk_grid().first().min(self.geometry.chunk_grid().first()).copied().unwrap_or(1);
        if at_end && (have == 0 || want == 0 || (0..low).all(|at| old_at(0, at) == Some(at))) {
            if want < have {
                self.editor.delete(want, have - want)?;
            } else if want > have {
                self.editor.insert_special(have, Special::Zeros, len, want - have)?;
            }
        } else {
            self.permute(&old, len, &old_at)?;
        }
        self.meta.shape = self.geometry.shape().to_vec();
        self.editor.set_metalayer(self.name, self.meta.encode())
    }

    /// As [`NdEditor::rebuild`] anywhere in the grid: new chunks are made at the end, all are put in order, and what is then at the end
    /// goes.
    fn permute(
        &mut self,
        old: &Geometry,
        len: u32,
        old_at: &impl Fn(usize, u64) -> Option<u64>,
    ) -> Result<()> {
        let (have, want) = (old.chunk_count(), self.geometry.chunk_count());
        // Twice the list of all, old and new, and who stays.
        self.limits.allocate(have.saturating_add(want).saturating_mul(17))?;
        let mut order: Vec<u64> = Vec::with_capacity(usize::try_from(have + want).unwrap_or(0));
        let mut stays: Vec<u8> = try_zeroed_vec(have, &self.limits)?;
        let mut made = 0;
        let ranges: Vec<_> = self.geometry.chunk_grid().iter().map(|len| 0..*len).collect();
        for_each_place(&ranges, |place| {
            let was: Option<Vec<u64>> =
                place.iter().enumerate().map(|(axis, at)| old_at(axis, *at)).collect();
            let index = match was {
                Some(was) => chunk_index(old, &was),
                None => NEW_CHUNK,
            };
            if let Some(stays) = usize::try_from(index).ok().and_then(|at| stays.get_mut(at)) {
                *stays = 1;
                order.push(index);
            } else {
                order.push(have + made);
                made += 1;
            }
            Ok(())
        })?;
        order.extend((0_u64..).zip(&stays).filter(|(_, stays)| **stays == 0).map(|(index, _)| index));
        if made > 0 {
            self.editor.insert_special(have, Special::Zeros, len, made)?;
        }
        self.editor.reorder(&order)?;
        if have + made > want {
            self.editor.delete(want, have + made - want)?;
        }
        Ok(())
    }
}

/// Treatment of the padding after the old end of an array, in the chunks that reach over it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Edges {
    /// It is made zeros.
    Cleared,
    /// It is written at once.
    Overwritten,
}
