//! Kernels that use the vector instructions of the machine: the only unsafe code of this crate.

pub(crate) mod lz;
