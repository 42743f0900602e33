//! Reading a catalogue, row by row.

use container_core::source::Source;
use container_core::{Error, Limits, Result};

use super::footer::{Column, Footer, Physical, RowGroup};
use super::pages::{Cell, Pages};
use super::row::{COLUMNS, Form, KEY, Row};

/// Maximum number of rows: a run of equal values takes a few bytes, however long it is.
const MAX_ROWS: u64 = 1 << 27;

/// A catalogue that is open for reading.
pub struct CatalogReader {
    source: Box<dyn Source>,
    limits: Limits,
    footer: Footer,
    /// The columns of the file that are read, each with its place in a row.
    columns: Vec<(usize, Target)>,
    /// Names of the columns of metadata.
    meta: Vec<String>,
}

/// The place of a value in a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Target {
    /// The number of one of [`COLUMNS`].
    Own(usize),
    /// The number of one of the columns of metadata.
    Meta(usize),
}

impl CatalogReader {
    /// Opens a catalogue. Columns other than those of [`COLUMNS`] are metadata where they are texts, and else passed over.
    ///
    /// # Errors
    /// `Malformed` for what is no Parquet file; `Unsupported` for one that is not a catalogue: without `path`, or with columns of other types;
    /// `Limit`; those of the source.
    pub fn open(source: Box<dyn Source>, limits: &Limits) -> Result<Self> {
        let footer = Footer::read(&*source, limits)?;
        let rows = footer.groups.iter().fold(0_u64, |sum, group| sum.saturating_add(group.rows));
        if rows > MAX_ROWS {
            return Err(Error::limit("rows of a catalogue", rows, MAX_ROWS));
        }
        let mut columns: Vec<(usize, Target)> = Vec::new();
        let mut meta = Vec::new();
        for (at, column) in footer.columns.iter().enumerate() {
            let Some(name) = column.path.first() else { continue };
            let own = COLUMNS.iter().position(|(own, _)| own == name);
            match own {
                Some(number) => {
                    let form = COLUMNS.get(number).map(|(_, form)| *form);
                    if !form.is_some_and(|form| fits(column, form)) {
                        return Err(not_one(&format!("its column {name} has another type")));
                    }
                    if columns.iter().any(|(_, target)| *target == Target::Own(number)) {
                        return Err(not_one(&format!("it has two columns {name}")));
                    }
                    columns.push((at, Target::Own(number)));
                }
                None if fits(column, Form::Text) => {
                    columns.push((at, Target::Meta(meta.len())));
                    meta.push(name.clone());
                }
                None => {}
            }
        }
        if !columns.iter().any(|(_, target)| *target == Target::Own(0)) {
            return Err(not_one("it has no column path"));
        }
        Ok(Self { source, limits: *limits, footer, columns, meta })
    }

    /// The names of the columns of metadata.
    #[must_use]
    pub fn meta_columns(&self) -> &[String] {
        &self.meta
    }

    /// True where the table has this one of [`COLUMNS`].
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        let is_it = |number: usize| COLUMNS.get(number).is_some_and(|(own, _)| *own == name);
        self.columns.iter().any(|(_, target)| matches!(target, Target::Own(number) if is_it(*number)))
    }

    /// The text that the writer put beside the table about how it was made.
    pub(super) fn text(&self) -> Option<&str> {
        let text = self.footer.texts.iter().find(|(key, _)| key == KEY);
        text.map(|(_, text)| text.as_str())
    }

    /// The rows, one after the other. After an error there are none.
    #[must_use]
    pub fn rows(&self) -> Rows<'_> {
        self.rows_with(|_| true)
    }

    /// The rows with only some of [`COLUMNS`], by name, and without metadata; the others have nothing.
    pub(super) fn rows_of<'a>(&'a self, names: &[&str]) -> Rows<'a> {
        self.rows_with(|target| match target {
            Target::Own(number) => COLUMNS.get(number).is_some_and(|(name, _)| names.contains(name)),
            Target::Meta(_) => false,
        })
    }

    fn rows_with(&self, wants: impl Fn(Target) -> bool) -> Rows<'_> {
        let columns = self.columns.iter().filter(|(_, target)| wants(*target)).copied().collect();
        Rows { reader: self, groups: self.footer.groups.iter(), columns, pages: Vec::new(), left: 0 }
    }
}

fn not_one(why: &str) -> Error {
    Error::unsupported(format!("the table is not a catalogue: {why}"))
}

/// True for a column that holds values of a form.
fn fits(column: &Column, form: Form) -> bool {
    let is_list = column.max_repetition == 1 && column.path.len() <= 3;
    let is_flat = column.max_repetition == 0 && column.path.len() == 1;
    match form {
        Form::Text => is_flat && column.physical == Physical::Bytes,
        Form::Bytes | Form::Time => is_flat && matches!(column.physical, Physical::Int64 | Physical::Int32),
        Form::Lengths => is_list && matches!(column.physical, Physical::Int64 | Physical::Int32),
    }
}

/// Rows of a catalogue.
pub struct Rows<'a> {
    reader: &'a CatalogReader,
    groups: std::slice::Iter<'a, RowGroup>,
    columns: Vec<(usize, Target)>,
    /// Those of [`Rows::columns`], in the row group at hand.
    pages: Vec<Pages<'a>>,
    /// Rows of the row group that are left.
    left: u64,
}

impl Rows<'_> {
    fn row(&mut self) -> Result<Option<Row>> {
        while self.left == 0 {
            let Some(group) = self.groups.next() else { return Ok(None) };
            self.left = group.rows;
            self.pages.clear();
            let reader = self.reader;
            // Each holds a page and a dictionary.
            let share = reader.limits.memory.checked_div(self.columns.len().max(1) as u64).unwrap_or(0);
            for (at, _) in &self.columns {
                let (column, chunk) = (reader.footer.columns.get(*at), group.chunks.get(*at));
                let (Some(column), Some(chunk)) = (column, chunk) else { continue };
                let limits = reader.limits.with_memory(share);
                self.pages.push(Pages::new(&*reader.source, column, chunk, limits)?);
            }
        }
        self.left = self.left.saturating_sub(1);
        let mut row = Row { meta: vec![None; self.reader.meta.len()], ..Row::default() };
        for ((_, target), pages) in self.columns.iter().zip(&mut self.pages) {
            put(&mut row, *target, pages.next()?)?;
        }
        Ok(Some(row))
    }
}

impl Iterator for Rows<'_> {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Result<Row>> {
        let row = self.row();
        if row.is_err() {
            self.groups = [].iter();
            self.left = 0;
        }
        row.transpose()
    }
}

/// Puts a value into its place.
fn put(row: &mut Row, target: Target, cell: Cell) -> Result<()> {
    let name = match target {
        Target::Meta(number) => {
            if let Some(place) = row.meta.get_mut(number) {
                *place = text(cell);
            }
            return Ok(());
        }
        Target::Own(number) => COLUMNS.get(number).map_or("", |(name, _)| *name),
    };
    match name {
        "path" => row.path = text(cell).ok_or_else(|| Error::malformed("a row without a path"))?,
        "dataset" => row.dataset = text(cell),
        "format" => row.format = text(cell),
        "shape" => row.shape = lengths(cell)?,
        "dtype" => row.dtype = text(cell),
        "chunks" => row.chunks = lengths(cell)?,
        "codec" => row.codec = text(cell),
        "bytes" => row.bytes = unsigned(&cell),
        "stored" => row.stored = unsigned(&cell),
        "file_bytes" => row.file_bytes = unsigned(&cell),
        "modified" => row.modified = signed(&cell),
        "head_sha256" => row.head_sha256 = text(cell),
        "verdict" => row.verdict = text(cell),
        "message" => row.message = text(cell),
        "checked" => row.checked = signed(&cell),
        _ => {}
    }
    Ok(())
}

fn text(cell: Cell) -> Option<String> {
    match cell {
        Cell::Text(text) => Some(text),
        _ => None,
    }
}

fn signed(cell: &Cell) -> Option<i64> {
    match cell {
        Cell::Int(value) => Some(*value),
        _ => None,
    }
}

/// An unsigned integer, which is stored as a signed one of the same bits.
fn unsigned(cell: &Cell) -> Option<u64> {
    signed(cell).map(i64::cast_unsigned)
}

fn lengths(cell: Cell) -> Result<Option<Vec<u64>>> {
    match cell {
        Cell::List(items) => Ok(Some(items.into_iter().map(i64::cast_unsigned).collect())),
        Cell::Null => Ok(None),
        _ => Err(Error::malformed("a list is not one")),
    }
}
