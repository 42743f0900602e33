//! Values of the types that the standard defines, by their tags.

pub mod complex;
