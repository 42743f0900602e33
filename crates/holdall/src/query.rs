//! Conditions on datasets: comparisons of metadata and of the columns of a catalogue, joined by `and`, `or` and `not`.
//!
//! ```text
//! condition  = conjunct  { ("or"  | "|") conjunct }
//! conjunct   = negation  { ("and" | "&") negation }
//! negation   = ("not" | "~") negation | "(" condition ")" | comparison
//! comparison = name ("==" | "!=" | "<" | "<=" | ">" | ">=") value | "exists" name | name "exists"
//! ```
//!
//! A name is a column (`format`, `shape[0]`), or a pointer into the metadata of the file (`roman/meta/exposure/start`). A value is a number, a date, or
//! text. Where there is no value, no comparison holds. `docs/many-files.md` has the rules. Length and depth are bounded, and nothing is run.

mod date;
mod parse;
mod token;
mod value;

use std::cmp::Ordering;

use container_core::{Error, Result};

use crate::catalog::{COLUMNS, CatalogReader, Row, Table};
use crate::nearest::did_you_mean;
use value::{Literal, Number};

/// A condition, parsed.
#[derive(Debug)]
pub struct Query {
    condition: Condition,
    pointers: Vec<String>,
}

/// A node of a condition.
#[derive(Debug, PartialEq)]
enum Condition {
    Any(Vec<Condition>),
    All(Vec<Condition>),
    Not(Box<Condition>),
    Exists(Subject),
    Compare(Subject, Comparison, Literal),
}

/// The value on the left of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Subject {
    /// The number of one of [`COLUMNS`].
    Column(usize),
    /// The length of an axis; negative ones are counted from the end.
    Axis(i64),
    /// The number of axes.
    Dimensions,
    /// The number of one of [`Query::pointers`].
    Meta(usize),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Comparison {
    Equal,
    Different,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

impl Comparison {
    /// Whether values compare so. Those that cannot be compared are different.
    fn holds(self, order: Option<Ordering>) -> bool {
        match (self, order) {
            (Self::Equal, order) => order == Some(Ordering::Equal),
            (Self::Different, order) => order != Some(Ordering::Equal),
            (_, None) => false,
            (Self::Less, Some(order)) => order.is_lt(),
            (Self::LessOrEqual, Some(order)) => order.is_le(),
            (Self::Greater, Some(order)) => order.is_gt(),
            (Self::GreaterOrEqual, Some(order)) => order.is_ge(),
        }
    }
}

/// The question whether one of [`COLUMNS`] is meant by the name of metadata. A path of several steps is none.
fn like_a_column(name: &str) -> Option<String> {
    let columns = COLUMNS.iter().map(|(column, _)| *column).chain(["ndim"]);
    if name.contains('/') { None } else { did_you_mean(name, columns, 0) }
}

/// Numbers of the columns of metadata of a catalogue, for the pointers of a condition.
#[derive(Debug)]
pub struct Binding(Vec<usize>);

impl Query {
    /// Parses a condition.
    ///
    /// # Errors
    /// `Usage`, with the column of the text; `Limit` for one that is too long or too deep.
    pub fn parse(text: &str) -> Result<Self> {
        let mut parser = parse::Parser::new(text)?;
        let condition = parser.condition()?;
        Ok(Self { condition, pointers: parser.pointers })
    }

    /// The pointers into metadata, with the slash at the start.
    #[must_use]
    pub fn pointers(&self) -> &[String] {
        &self.pointers
    }

    /// True where one of [`COLUMNS`] is compared.
    #[must_use]
    pub fn uses(&self, column: &str) -> bool {
        self.condition.any(&|subject| match subject {
            Subject::Column(number) => COLUMNS.get(number).is_some_and(|(name, _)| *name == column),
            Subject::Axis(_) | Subject::Dimensions => column == "shape",
            Subject::Meta(_) => false,
        })
    }

    /// The single name of a pointer that is like one of [`COLUMNS`], with the question whether that is meant: for a condition that nothing fits.
    #[must_use]
    pub fn misspelt(&self) -> Option<(&str, String)> {
        let mut names = self.pointers.iter().map(|pointer| Table::column_of(pointer));
        names.find_map(|name| Some((name, like_a_column(name)?)))
    }

    /// Finds the columns of a catalogue for the pointers.
    ///
    /// # Errors
    /// `Usage` where the catalogue lacks one.
    pub fn bind(&self, catalog: &CatalogReader) -> Result<Binding> {
        for (name, _) in COLUMNS {
            if self.uses(name) && !catalog.has(name) {
                return Err(Error::usage(format!("the catalogue has no column {name}")));
            }
        }
        let find = |pointer: &String| {
            let name = Table::column_of(pointer);
            catalog.meta_columns().iter().position(|column| column == name).ok_or_else(|| {
                let hint = format!("holdall catalog --meta '{name}' …, which makes one with it");
                Error::usage(format!("the catalogue has no column {name}"))
                    .with_hint(like_a_column(name).unwrap_or(hint))
            })
        };
        self.pointers.iter().map(find).collect::<Result<_>>().map(Binding)
    }

    /// True for a row that was made for [`Query::pointers`].
    #[must_use]
    pub fn fits(&self, row: &Row) -> bool {
        self.condition.fits(row, &|number| row.meta.get(number)?.as_deref())
    }

    /// True for a row of a catalogue.
    #[must_use]
    pub fn fits_bound(&self, row: &Row, binding: &Binding) -> bool {
        self.condition.fits(row, &|number| row.meta.get(*binding.0.get(number)?)?.as_deref())
    }
}

type Meta<'a, 'r> = &'a dyn Fn(usize) -> Option<&'r str>;

impl Condition {
    fn any(&self, is: &dyn Fn(Subject) -> bool) -> bool {
        match self {
            Self::Any(parts) | Self::All(parts) => parts.iter().any(|part| part.any(is)),
            Self::Not(part) => part.any(is),
            Self::Exists(subject) | Self::Compare(subject, ..) => is(*subject),
        }
    }

    fn fits<'r>(&self, row: &'r Row, meta: Meta<'_, 'r>) -> bool {
        match self {
            Self::Any(parts) => parts.iter().any(|part| part.fits(row, meta)),
            Self::All(parts) => parts.iter().all(|part| part.fits(row, meta)),
            Self::Not(part) => !part.fits(row, meta),
            Self::Exists(subject) => subject.value(row, meta).is_some(),
            Self::Compare(subject, comparison, literal) => {
                let value = subject.value(row, meta);
                value.is_some_and(|value| comparison.holds(literal.order_of(&value)))
            }
        }
    }
}

/// A value of a row.
enum Value<'r> {
    Text(&'r str),
    Number(Number),
    /// Microseconds since 1970.
    Time(i64),
    DType(&'r str),
    /// Only whether it is there counts.
    Lengths,
}

impl Subject {
    fn value<'r>(self, row: &'r Row, meta: Meta<'_, 'r>) -> Option<Value<'r>> {
        let count = |count: u64| Value::Number(Number::Integer(count.into()));
        match self {
            Self::Meta(number) => meta(number).map(Value::Text),
            Self::Dimensions => row.shape.as_ref().map(|shape| count(shape.len() as u64)),
            Self::Axis(axis) => {
                let shape = row.shape.as_ref()?;
                let axis = match usize::try_from(axis) {
                    Ok(axis) => axis,
                    Err(_) => shape.len().checked_sub(usize::try_from(axis.unsigned_abs()).ok()?)?,
                };
                shape.get(axis).copied().map(count)
            }
            Self::Column(number) => match COLUMNS.get(number)?.0 {
                "path" => Some(Value::Text(&row.path)),
                "dataset" => row.dataset.as_deref().map(Value::Text),
                "format" => row.format.as_deref().map(Value::Text),
                "shape" => row.shape.as_ref().map(|_| Value::Lengths),
                "dtype" => row.dtype.as_deref().map(Value::DType),
                "chunks" => row.chunks.as_ref().map(|_| Value::Lengths),
                "codec" => row.codec.as_deref().map(Value::Text),
                "bytes" => row.bytes.map(count),
                "stored" => row.stored.map(count),
                "file_bytes" => row.file_bytes.map(count),
                "modified" => row.modified.map(Value::Time),
                "head_sha256" => row.head_sha256.as_deref().map(Value::Text),
                "verdict" => row.verdict.as_deref().map(Value::Text),
                "message" => row.message.as_deref().map(Value::Text),
                "checked" => row.checked.map(Value::Time),
                _ => None,
            },
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests;
