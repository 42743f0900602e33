//! Exchange with other formats and with programs that open every format: import, metadata, appended rows, trees without blocks.

pub(crate) mod append;
pub mod facade;
pub(crate) mod import;
pub(crate) mod inline_export;
pub(crate) mod metadata;
