//! numpy's `.npy` file: a header, then the elements of one array.
//!
//! ```text
//! 0    6  magic           93 'N' 'U' 'M' 'P' 'Y'
//! 6    2  version         1.0, 2.0 or 3.0
//! 8    2  header_len      u16, little-endian; from version 2.0 on 4 bytes
//! 10   …  header          a Python dict with descr, fortran_order and shape; latin-1, in version 3.0 UTF-8;
//!                         filled with spaces and one line end to a multiple of 64 bytes
//! …    …  elements        in C order, or column by column
//! ```
//!
//! [`Header`] reads and makes the first part; [`Writer`] streams a file with bounded memory. Arrays of Python objects
//! are pickles after such a header: they are refused.
//!
//! Spec: <https://numpy.org/doc/stable/reference/generated/numpy.lib.format.html>

use crate::dtype::{DType, Order};

mod container;
mod header;
mod write;

pub use container::{Bfloat, FORMAT, export};
pub use write::Writer;

/// The first bytes of every `.npy` file.
pub const MAGIC: &[u8; 6] = b"\x93NUMPY";

/// Header of a `.npy` file, before the elements.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Header {
    /// Major and minor version of the format.
    pub version: (u8, u8),
    /// Element type, with its byte order.
    pub dtype: DType,
    /// Length of each axis, the first index first, whatever the order of storage.
    pub shape: Vec<u64>,
    /// The order of the axes in the file.
    pub order: Order,
    /// Offset of the first element.
    pub data_at: u64,
    /// Bytes of all elements.
    pub data_len: u64,
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
