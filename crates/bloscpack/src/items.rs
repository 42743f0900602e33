//! Variable-length files: one item per chunk.

pub(crate) mod item_type;
mod pack;
pub(crate) mod reader;
mod replace;
pub(crate) mod writer;

pub use item_type::ItemType;
pub(crate) use pack::pack;
pub use reader::VarReader;
pub use replace::{InPlace, Replaced, replace};
pub use writer::{VarOptions, VarWriter};
