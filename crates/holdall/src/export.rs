//! The values of a dataset as text, CSV, JSON, raw bytes or `.npy`: the output of `cat`. All stream in bounded memory.

use std::io::Write;
use std::path::Path;

use container_core::chunked_read::check_readable;
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::Order;
use container_core::format::Pipe;
use container_core::npy;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Progress, Result};

use crate::extract::is_text;
use crate::views::fill_missing::Filled;

mod aligned;
mod char_arrays;
mod csv;
mod iterate;
mod json;
mod raw_bytes;
mod text_bytes;
mod text_table;

pub use aligned::{Page, Shown, export_aligned};
pub(crate) use csv::{MAX_COLUMNS, has_columns, record_names};

/// A form in which values leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// Rows for people: the last axis along the line, a blank line between planes; one value a line for one axis. Items of
    /// text are text, and so are arrays of characters, whose last axis is along the line.
    Text,
    /// Comma-separated: a column for one axis, rows for two; for more, the indices and the value. Records give a column
    /// for each field, under a line of their names.
    Csv,
    /// Nested lists. Complex numbers are `[re, im]`, records are objects, bytes are hexadecimal text. Numbers that JSON lacks are text:
    /// `"NaN"`, `"Infinity"`, integers beyond 64 bits.
    Json,
    /// The elements alone, row by row (C order), little-endian.
    Raw,
    /// A `.npy` file; column-major data stay so.
    Npy,
}

impl ExportFormat {
    /// All of them.
    pub const ALL: [Self; 5] = [Self::Text, Self::Csv, Self::Json, Self::Raw, Self::Npy];

    /// `text`, `csv`, `json`, `raw` or `npy`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Csv => "csv",
            Self::Json => "json",
            Self::Raw => "raw",
            Self::Npy => "npy",
        }
    }

    /// The order in which it takes the elements of a dataset in `stored` order.
    #[must_use]
    pub const fn order(self, stored: Order) -> Order {
        match self {
            Self::Npy => stored,
            _ => Order::C,
        }
    }

    /// The form called `name`.
    ///
    /// # Errors
    /// `Usage`, listing the names.
    pub fn by_name(name: &str) -> Result<Self> {
        Self::ALL.into_iter().find(|format| format.name() == name).ok_or_else(|| {
            let names = Self::ALL.map(Self::name).join(", ");
            Error::usage(format!("unknown form of output {name:?} (expected one of: {names})"))
        })
    }

    /// The form for the extension of a file name; `None` for other extensions.
    #[must_use]
    pub fn for_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        match extension.as_str() {
            "txt" => Some(Self::Text),
            "bin" => Some(Self::Raw),
            other => Self::ALL.into_iter().find(|format| format.name() == other),
        }
    }
}

/// Form in `.npy` files of the types that numpy lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum AsStored {
    /// bfloat16 becomes `<f4`, which holds every value of it.
    #[default]
    No,
    /// The bits of bfloat16 as `<u2`.
    Yes,
}

/// The least number of bytes that [`export`] writes for a region: the space needed on a disk.
#[must_use]
pub fn least_len(dataset: &Dataset, region: &Region, format: ExportFormat) -> u64 {
    let count = region.len().unwrap_or(u64::MAX);
    match format {
        ExportFormat::Raw | ExportFormat::Npy => count.saturating_mul(dataset.dtype.itemsize() as u64),
        // A character at least: texts may be empty, but their lines end.
        ExportFormat::Text | ExportFormat::Csv | ExportFormat::Json => count,
    }
}

/// Writes the elements of `region` of a dataset to `out`. `as_stored` concerns [`ExportFormat::Npy`] alone.
///
/// Missing elements are `--` as text, an empty cell as CSV and null as JSON. The other forms cannot mark them: they have the values of
/// [`Filled`], which is a loss.
///
/// # Errors
/// Those of [`Container::read`] and `Io` from `out`, which then holds a part of the values; `Unsupported` for values that the form cannot
/// hold; `Limit` for an array without bytes that claims very many elements; `Cancelled`.
#[expect(clippy::too_many_arguments, reason = "each is a choice of its own of the command line's")]
pub fn export(
    container: &dyn Container,
    index: usize,
    region: &Region,
    format: ExportFormat,
    as_stored: AsStored,
    read: &ReadOptions,
    progress: Progress<'_>,
    out: &mut dyn Write,
) -> Result<Vec<Loss>> {
    let read = &read.for_region(region, &container.require(index)?.shape);
    let filled = match format {
        ExportFormat::Raw | ExportFormat::Npy => {
            Filled::new(container, &[(index, region.clone())], None, read)?
        }
        ExportFormat::Text | ExportFormat::Csv | ExportFormat::Json => None,
    };
    let losses = filled.as_ref().map(Filled::losses).unwrap_or_default();
    let container = filled.as_ref().map_or(container, |filled| filled as &dyn Container);
    // Output starts only if the data can be read.
    check_readable(container, index, region, read)?;
    let walk = iterate::Walk::new(container, index, region, read, progress)?;
    match format {
        ExportFormat::Text if is_text(&walk.dataset) => text_bytes::write(&walk, out)?,
        ExportFormat::Text if char_arrays::are_characters(&walk.dataset) => char_arrays::write(&walk, out)?,
        ExportFormat::Text => text_table::write(&walk, out)?,
        ExportFormat::Csv => csv::write(&walk, out)?,
        ExportFormat::Json => json::write(&walk, out)?,
        ExportFormat::Raw => raw_bytes::write(&walk, out)?,
        ExportFormat::Npy => {
            let bfloat = match as_stored {
                AsStored::No => npy::Bfloat::Widened,
                AsStored::Yes => npy::Bfloat::Bits,
            };
            // Types that numpy lacks are written as opaque bytes, as their dtype shows.
            npy::export(container, index, region, bfloat, read, progress, &mut Pipe(&mut *out))?;
        }
    }
    out.flush()?;
    Ok(losses)
}

#[cfg(test)]
mod tests;
