//! Bytes inserted or deleted in the header, among the chunks, or before the namelist: all bytes after them are shifted.

pub(super) mod chunks;
pub(super) mod header;
pub(super) mod namelist;
