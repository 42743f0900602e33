//! Values of the types that the standard defines, by their tags: of any version whose first number is the published one. Tags that are
//! not known here stay what they are, nodes of the tree.

use container_core::{Error, Result};

use crate::File;
use crate::ndarray::{NdArray, place};
use crate::yaml::{Kind, Node, Scalar};

mod astronomy;
mod integer;
mod meta;

pub use crate::ndarray::complex::{self, Complex};
pub use astronomy::{Card, Column, DefUnit, Hdu, Quantity, Table, Time, TimeValue};
pub use integer::Integer;
pub use meta::{ExtensionMetadata, ExternalArray, History, HistoryEntry, Software};

/// A value by its tag.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Value<'f> {
    /// `core/ndarray`
    NdArray(NdArray),
    /// `core/complex`
    Complex(Complex),
    /// `core/integer`
    Integer(Integer),
    /// `core/constant`: a value that is not to be changed.
    Constant(Node<'f>),
    /// `core/externalarray`
    ExternalArray(ExternalArray<'f>),
    /// `core/software`
    Software(Software<'f>),
    /// `core/history_entry`
    HistoryEntry(HistoryEntry<'f>),
    /// `core/extension_metadata`
    ExtensionMetadata(ExtensionMetadata<'f>),
    /// `core/subclass_metadata`: the name of a class.
    SubclassMetadata(&'f str),
    /// `core/column`, `table/column`
    Column(Column<'f>),
    /// `core/table`, `table/table`
    Table(Table<'f>),
    /// `fits/fits`: headers with their data.
    Fits(Vec<Hdu<'f>>),
    /// `time/time`
    Time(Time<'f>),
    /// `unit/unit`: a unit in the spelling of FITS or VOUnit.
    Unit(&'f str),
    /// `unit/quantity`
    Quantity(Quantity<'f>),
    /// `unit/defunit`
    DefUnit(DefUnit<'f>),
    /// A node without a tag, or of an unknown tag.
    Other(Node<'f>),
}

/// The name and first version number of one of the standard's tags: `core/complex`, 1.
fn standard(tag: &str) -> Option<(&str, u32)> {
    let (name, version) = tag.strip_prefix("tag:stsci.edu:asdf/")?.rsplit_once('-')?;
    let numbers: Vec<u32> = version.split('.').map(|number| number.parse().ok()).collect::<Option<_>>()?;
    match numbers.as_slice() {
        [first, _, _] => Some((name, *first)),
        _ => None,
    }
}

impl<'f> Value<'f> {
    /// The value of `node`, which is of that file's tree.
    ///
    /// # Errors
    /// `Malformed` for a node that does not fit its tag, with the range of its text; those of reading the words of a `core/integer`.
    pub fn from_node(node: Node<'f>, file: &'f File) -> Result<Self> {
        let Some((name, 1)) = node.tag().and_then(standard) else { return Ok(Self::Other(node)) };
        Ok(match name {
            "core/ndarray" => Self::NdArray(NdArray::parse(node)?),
            "core/complex" => {
                let number = complex::parse(text(node)?);
                Self::Complex(number.ok_or_else(|| invalid(node, "not a complex number"))?)
            }
            "core/integer" => Self::Integer(Integer::read(node, file)?),
            "core/constant" => Self::Constant(node),
            "core/externalarray" => Self::ExternalArray(ExternalArray::parse(node)?),
            "core/software" => Self::Software(Software::parse(node)?),
            "core/history_entry" => Self::HistoryEntry(HistoryEntry::parse(node)?),
            "core/extension_metadata" => Self::ExtensionMetadata(ExtensionMetadata::parse(node)?),
            "core/subclass_metadata" => Self::SubclassMetadata(require_key(node, "name").and_then(text)?),
            "core/column" | "table/column" => Self::Column(Column::parse(node)?),
            "core/table" | "table/table" => Self::Table(Table::parse(node)?),
            "fits/fits" => Self::Fits(Hdu::parse_all(node)?),
            "time/time" => Self::Time(Time::parse(node)?),
            "unit/unit" => Self::Unit(text(node)?),
            "unit/quantity" => Self::Quantity(Quantity::parse(node)?),
            "unit/defunit" => Self::DefUnit(DefUnit::parse(node)?),
            _ => Self::Other(node),
        })
    }
}

impl File {
    /// The value of the node at `path` by its tag.
    ///
    /// # Errors
    /// `Usage` for an absent path; as [`Value::from_node`].
    pub fn value(&self, path: &str) -> Result<Value<'_>> {
        let node = self.tree().find(path);
        Value::from_node(node.ok_or_else(|| Error::usage(format!("no node at {path}")))?, self)
    }

    /// Reads the library that wrote the file: `asdf_library` of the tree.
    ///
    /// # Errors
    /// `Malformed` where it is something else than software.
    pub fn library(&self) -> Result<Option<Software<'_>>> {
        self.tree().root().get("asdf_library").map(Software::parse).transpose()
    }

    /// Reads the changes of the file and the extensions that wrote it: `history` of the tree, in its older form (a list) or the newer (a mapping).
    ///
    /// # Errors
    /// `Malformed` where it is neither.
    pub fn history(&self) -> Result<History<'_>> {
        self.tree().root().get("history").map_or_else(|| Ok(History::default()), History::parse)
    }
}

/// The text of a scalar.
fn text(node: Node<'_>) -> Result<&str> {
    if node.kind() == Kind::Scalar {
        Ok(node.text())
    } else {
        Err(invalid(node, "a list or mapping (expected text)"))
    }
}

/// A value that has to be there.
fn require_key<'d>(node: Node<'d>, key: &str) -> Result<Node<'d>> {
    get_non_null(node, key).ok_or_else(|| invalid(node, format!("missing key {key}")))
}

/// A value that is there and not null.
fn get_non_null<'d>(node: Node<'d>, key: &str) -> Option<Node<'d>> {
    node.get(key).filter(|value| !matches!(value.scalar(), Some(Scalar::Null)))
}

fn get_text<'d>(node: Node<'d>, key: &str) -> Result<Option<&'d str>> {
    get_non_null(node, key).map(text).transpose()
}

fn invalid(node: Node<'_>, problem: impl Into<String>) -> Error {
    let context =
        node.tag().and_then(standard).map_or_else(|| "asdf tree".into(), |(name, _)| format!("asdf {name}"));
    Error::malformed(problem.into()).with_context(context).with_range(place(node))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic)]
mod tests;
