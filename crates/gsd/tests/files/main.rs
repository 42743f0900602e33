//! The file layer on whole files: elements, the reference's bytes, repairs of undamaged files.

mod elements;
mod reference;
mod repair;
