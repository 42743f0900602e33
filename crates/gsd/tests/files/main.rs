//! The file layer on whole files: elements, the reference's bytes, repairs of what is sound.

mod elements;
mod reference;
mod repair;
