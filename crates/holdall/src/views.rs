//! Containers that present another one in a different way, without a copy of its values.

pub(crate) mod assume_dtype;
pub(crate) mod drop_frame_axis;
pub mod field;
pub mod fill_missing;
pub mod named_source;
pub(crate) mod reverse_axes;
