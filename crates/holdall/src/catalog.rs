//! Catalogues: a Parquet table with a row for each dataset of many files.
//!
//! [`rows_of`] describes a file, [`CatalogWriter`] (an error without the feature `catalog`) writes the rows, [`CatalogReader`] reads them again, also from a file of a
//! stranger: in bounded memory, whatever its row groups claim. [`Previous`] has the rows of files that have not changed since.
//! [`COLUMNS`] lists the columns, which `docs/many-files.md` explains.

mod entry;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod footer;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod levels;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod pages;
mod previous;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod read;
mod row;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod thrift;
#[cfg(feature = "catalog")]
mod write;
#[cfg(not(feature = "catalog"))]
mod write_absent;

pub use entry::{Described, HEAD_LEN, Want, rows_of, unreadable_row};
pub use footer::begins_as_parquet;
pub use previous::{Previous, PreviousRows};
pub use read::CatalogReader;
pub use row::{COLUMNS, Form, Row, Stamp, Table};
#[cfg(feature = "catalog")]
pub use write::CatalogWriter;
#[cfg(not(feature = "catalog"))]
pub use write_absent::CatalogWriter;

#[cfg(all(test, feature = "catalog", feature = "rawarray"))]
#[allow(clippy::unwrap_used)]
mod tests;
