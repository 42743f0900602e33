//! Options for tables of text.

use std::path::Path;

use container_core::ErrorKind;
use container_core::dtype::DType;
use holdall::csv::{Csv, Header};

use crate::errors::{Failure, Result};

/// Options for a table of text.
#[derive(Clone, Debug, clap::Args)]
pub struct TableArgs {
    /// SOURCE is a table of text, a row on each line
    #[arg(long, conflicts_with = "items")]
    pub csv: bool,

    /// First row: auto, names, skip or none
    #[arg(
        long,
        value_name = "WHAT",
        default_value = "auto",
        hide_possible_values = true,
        conflicts_with = "items"
    )]
    header: HeaderIs,

    /// Character between cells, or `tab`
    #[arg(long, value_name = "CHAR", default_value = ",", value_parser = delimiter, conflicts_with = "items")]
    delimiter: u8,
}

/// Meaning of the first row of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum HeaderIs {
    /// Names, if it is text alone above a column that is not
    Auto,
    /// The names of the columns
    Names,
    /// Left out
    Skip,
    /// Values
    None,
}

fn delimiter(text: &str) -> std::result::Result<u8, String> {
    match text.as_bytes() {
        b"tab" | b"\\t" => Ok(b'\t'),
        // Quotes and line ends have their own meaning in CSV.
        [byte] if byte.is_ascii() && !b"\"\r\n".contains(byte) => Ok(*byte),
        _ => Err("one character of ASCII, or tab".into()),
    }
}

impl TableArgs {
    /// Options for reading the table, whose cells are of `dtype` where that is given.
    pub fn csv(&self, dtype: Option<&DType>) -> Csv {
        let header = match self.header {
            HeaderIs::Auto => Header::Auto,
            HeaderIs::Names => Header::Names,
            HeaderIs::Skip => Header::Skip,
            HeaderIs::None => Header::None,
        };
        Csv { dtype: dtype.cloned(), header, delimiter: self.delimiter }
    }

    /// Refuses what is said of tables alone, for `verb` of a source that is none: `are_elements` by another option, or without the name of one.
    pub fn check(&self, verb: &str, source: &Path, are_elements: bool) -> Result<()> {
        let is_default = self.header == HeaderIs::Auto && self.delimiter == b',';
        if is_default || self.csv || (!are_elements && has_name_of_table(source)) {
            return Ok(());
        }
        let problem = format!("{verb}: --header and --delimiter are for tables; with --csv, SOURCE is one");
        Err(Failure::usage(problem))
    }
}

/// Whether what could not be opened, for `error`, is a table: nothing in one says so but its name.
pub fn is_table(error: &holdall::Error, path: &Path) -> bool {
    is_wrong_format(error) && has_name_of_table(path)
}

fn has_name_of_table(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"))
}

/// Whether a source is no container.
pub fn is_wrong_format(error: &holdall::Error) -> bool {
    matches!(error.kind(), ErrorKind::WrongFormat { .. })
}
