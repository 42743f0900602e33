//! Times, units, tables and FITS headers (the standard's core until 1.5, manifest astronomy since).

use container_core::Result;

use super::{get_non_null, get_text, invalid, require_key, text};
use crate::ndarray::NdArray;
use crate::yaml::{Int, Kind, Node, Scalar};

/// `time/time`: the value as it is stored, with its format and scale, unconverted.
#[derive(Clone, Debug)]
pub struct Time<'f> {
    /// The instants.
    pub value: TimeValue<'f>,
    /// `iso`, `yday`, `byear`, `jyear`, `decimalyear`, `jd`, `mjd`, `gps`, `unix`, `utime`, `tai_seconds`, `cxcsec`, `galexsec`, `unix_tai`, or any
    /// other text in the tree. If absent, the format that the text has, of the four that have a form of their own.
    pub format: Option<&'f str>,
    /// The format that the value was first made of.
    pub base_format: Option<&'f str>,
    /// `utc`, `tai`, `tcb`, `tcg`, `tdb`, `tt`, `ut1`, or any other text in the tree; `utc` for text without one. `None` where the format decides.
    pub scale: Option<&'f str>,
    /// Location of the observer.
    pub location: Option<Node<'f>>,
}

/// Instants as they are stored.
#[derive(Clone, Debug)]
pub enum TimeValue<'f> {
    /// Text.
    Text(&'f str),
    /// A number.
    Number(f64),
    /// An array of numbers or text.
    Array(NdArray),
    /// Text in lists.
    List(Node<'f>),
}

impl<'f> Time<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let explicit = node.kind() == Kind::Mapping && node.get("value").is_some();
        let stored = if explicit { require_key(node, "value")? } else { node };
        let value = match stored.kind() {
            Kind::Mapping => TimeValue::Array(NdArray::parse(stored)?),
            Kind::Sequence if stored.tag().is_some_and(NdArray::is_tag) => {
                TimeValue::Array(NdArray::parse(stored)?)
            }
            Kind::Sequence => TimeValue::List(stored),
            Kind::Scalar => match number(stored).filter(|_| explicit) {
                Some(number) => TimeValue::Number(number),
                None => TimeValue::Text(stored.text()),
            },
        };
        let own = |key| if explicit { get_text(node, key) } else { Ok(None) };
        let sample = match &value {
            TimeValue::Text(text) => Some(*text),
            TimeValue::List(list) => first_text(*list),
            _ => None,
        };
        Ok(Self {
            format: own("format")?.or_else(|| sample.map(looks_like)),
            base_format: own("base_format")?,
            scale: own("scale")?.or_else(|| sample.map(|_| "utc")),
            location: explicit.then(|| get_non_null(node, "location")).flatten(),
            value,
        })
    }
}

/// Maximum depth of lists that are searched for times.
const MAX_DEPTH: usize = 64;

fn first_text(list: Node<'_>) -> Option<&str> {
    let mut here = list;
    for _ in 0..MAX_DEPTH {
        match here.kind() {
            Kind::Scalar => return Some(here.text()),
            Kind::Sequence => here = here.item(0)?,
            Kind::Mapping => return None,
        }
    }
    None
}

/// The format of text, of the four that have a form of their own.
fn looks_like(text: &str) -> &'static str {
    let year = text.trim_start_matches('-').find(|mark: char| !mark.is_ascii_digit());
    match text.chars().next() {
        Some('B') => "byear",
        Some('J') => "jyear",
        _ if year.is_some_and(|at| {
            text.trim_start_matches('-').get(at..).is_some_and(|rest| rest.starts_with(':'))
        }) =>
        {
            "yday"
        }
        _ => "iso",
    }
}

#[allow(clippy::cast_precision_loss, reason = "the standard promises no more than doubles for times")]
fn number(node: Node<'_>) -> Option<f64> {
    match node.scalar()? {
        Scalar::Float(number) => Some(number),
        Scalar::Int(Int::Small(number)) => Some(number as f64),
        Scalar::Int(Int::Big(digits)) => digits.parse().ok(),
        _ => None,
    }
}

/// `unit/quantity`: a number or an array, and its unit.
#[derive(Clone, Debug)]
pub struct Quantity<'f> {
    /// The node of the value: a number, or an array.
    pub value: Node<'f>,
    /// The array, where the value is one.
    pub array: Option<NdArray>,
    /// The unit.
    pub unit: &'f str,
}

impl<'f> Quantity<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let value = require_key(node, "value")?;
        let array = (value.kind() != Kind::Scalar).then(|| NdArray::parse(value)).transpose()?;
        Ok(Self { value, array, unit: text(require_key(node, "unit")?)? })
    }
}

/// `unit/defunit`: a unit of a name of its own.
#[derive(Clone, Debug)]
pub struct DefUnit<'f> {
    /// The new name.
    pub name: &'f str,
    /// Equivalent unit; `None` for a base unit.
    pub unit: Option<&'f str>,
}

impl<'f> DefUnit<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        Ok(Self { name: text(require_key(node, "name")?)?, unit: get_text(node, "unit")? })
    }
}

/// A column of a table.
#[derive(Clone, Debug)]
pub struct Column<'f> {
    /// Its name.
    pub name: &'f str,
    /// The node of its values: an array, or a quantity or time that holds one.
    pub data: Node<'f>,
    /// Its description.
    pub description: Option<&'f str>,
    /// Its unit.
    pub unit: Option<&'f str>,
    /// Any other metadata.
    pub meta: Option<Node<'f>>,
}

impl<'f> Column<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        Ok(Self {
            name: text(require_key(node, "name")?)?,
            data: require_key(node, "data")?,
            description: get_text(node, "description")?,
            unit: get_text(node, "unit")?,
            meta: get_non_null(node, "meta"),
        })
    }
}

/// A table of columns.
#[derive(Clone, Debug)]
pub struct Table<'f> {
    /// Its columns, in order.
    pub columns: Vec<Column<'f>>,
    /// Any other metadata.
    pub meta: Option<Node<'f>>,
}

impl<'f> Table<'f> {
    pub(super) fn parse(node: Node<'f>) -> Result<Self> {
        let columns = require_key(node, "columns")?;
        if columns.kind() != Kind::Sequence {
            return Err(invalid(columns, "the columns are not a list"));
        }
        Ok(Self {
            columns: columns.items().map(Column::parse).collect::<Result<_>>()?,
            meta: get_non_null(node, "meta"),
        })
    }
}

/// A header of FITS with its data.
#[derive(Clone, Debug)]
pub struct Hdu<'f> {
    /// The cards, in order.
    pub header: Vec<Card<'f>>,
    /// The node of the data: an array, or a table.
    pub data: Option<Node<'f>>,
}

/// A card of a FITS header; all of it absent for a blank one.
#[derive(Clone, Debug)]
pub struct Card<'f> {
    /// Keyword; empty for one that is only a comment.
    pub keyword: Option<&'f str>,
    /// The node of its value.
    pub value: Option<Node<'f>>,
    /// Comment: the text after the slash.
    pub comment: Option<&'f str>,
}

impl<'f> Hdu<'f> {
    pub(super) fn parse_all(node: Node<'f>) -> Result<Vec<Self>> {
        if node.kind() != Kind::Sequence {
            return Err(invalid(node, "not a list of headers"));
        }
        node.items().map(Self::parse).collect()
    }

    fn parse(node: Node<'f>) -> Result<Self> {
        let header = require_key(node, "header")?;
        if header.kind() != Kind::Sequence {
            return Err(invalid(header, "the header is not a list of cards"));
        }
        Ok(Self {
            header: header.items().map(Card::parse).collect::<Result<_>>()?,
            data: get_non_null(node, "data"),
        })
    }
}

impl<'f> Card<'f> {
    fn parse(node: Node<'f>) -> Result<Self> {
        if node.kind() != Kind::Sequence || node.len() > 3 {
            return Err(invalid(node, "the card is not a list of keyword, value and comment"));
        }
        let keyword = node.item(0).map(text).transpose()?;
        Ok(Self { keyword, value: node.item(1), comment: node.item(2).map(text).transpose()? })
    }
}
