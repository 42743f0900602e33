//! Files made to harm, one test for each published way to harm a reader: an error or a finding, never a panic, and soon.
//!
//! Elsewhere: one fault at a time, its code and place, in `policies/faults.rs`; every cut and every changed byte in
//! `policies/bit_flips.rs`; physics (ids, tags, boxes, shapes, JSON, logs of other types) in `hoomd/validate.rs` by the fixtures of
//! `testdata/gsd/odd`; files that grow while they are read, and writers without permission, in `processes.rs`.

mod crafted;
mod file;
mod schema;
