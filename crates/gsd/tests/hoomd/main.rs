//! The schema `hoomd` on the fixtures: read, validated, written.

mod read;
mod validate;
mod write;
