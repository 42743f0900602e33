//! Reading an array.

use std::path::Path;

use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::DType;
use container_core::region::Region;
use container_core::{Error, Result};

use super::{Geometry, Meta};
use crate::frame::Frame;
use crate::options::OpenOptions;

/// An n-dimensional array in a frame.
pub struct NdArray {
    frame: Frame,
    meta: Meta,
    dtype: DType,
    geometry: Geometry,
}

impl NdArray {
    /// Opens the array at `path`.
    ///
    /// # Errors
    /// As [`NdArray::from_frame`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::from_frame(Frame::open_with(path, &OpenOptions::default())?)
    }

    /// The array that a frame holds.
    ///
    /// # Errors
    /// `Usage` for a frame without the metalayer; `Malformed` where shapes and chunks contradict each other; `Unsupported` for a dtype
    /// that numpy does not have.
    pub fn from_frame(frame: Frame) -> Result<Self> {
        let _ = frame;
        Err(Error::unsupported("frames"))
    }

    /// The frame.
    #[must_use]
    pub fn frame(&self) -> &Frame {
        &self.frame
    }

    /// The metalayer.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The element type.
    #[must_use]
    pub fn dtype(&self) -> &DType {
        &self.dtype
    }

    /// Shapes of array, chunks and blocks.
    #[must_use]
    pub fn geometry(&self) -> &Geometry {
        &self.geometry
    }

    /// The elements of `region` in C order; only the blocks that it touches are decoded.
    ///
    /// # Errors
    /// `Usage` for a region of another shape; those of [`Frame::read_chunk_into`]; `Limit`.
    pub fn read(&self, region: &Region, options: &ReadOptions) -> Result<Array<'static>> {
        let _ = (region, options);
        Err(Error::unsupported("frames"))
    }

    /// As [`NdArray::read`], into memory of the caller's: as many bytes as the region has.
    ///
    /// # Errors
    /// As [`NdArray::read`]; `Usage` for another length.
    pub fn read_into(&self, region: &Region, dst: &mut [u8], options: &ReadOptions) -> Result<()> {
        let _ = (region, dst, options);
        Err(Error::unsupported("frames"))
    }
}
