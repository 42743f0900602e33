//! The keywords `ndim`, `max_ndim` and `datatype` of arrays: the rank, and whether its elements can be cast without loss
//! (ASDF standard 1.6.0, `asdf-schema-1.1.0`; "safe" casting is NumPy's).

use container_core::{Error, Result};

use super::WorkLimit;
use super::keyword_values::invalid;
use super::number::Number;
use crate::ndarray::NdArray;
use crate::yaml::{Kind, Node, Scalar};

/// Maximum depth of lists in inline data or datatypes.
const MAX_DEPTH: usize = 64;

/// Class of a number type; the order is that of NumPy's casts within a kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Bool,
    Unsigned,
    Signed,
    Float,
    Complex,
}

/// A datatype as a tree or schema spells it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum DatatypeSpec {
    Number(&'static str),
    /// Characters, and whether each takes four bytes.
    Text {
        wide: bool,
        length: u64,
    },
    Record(Vec<Field>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    name: Option<String>,
    byteorder: Option<String>,
    shape: Option<Vec<u64>>,
    datatype: DatatypeSpec,
}

/// Name, kind and bytes of each number.
const NUMBERS: &[(&str, Class, u32)] = &[
    ("bool8", Class::Bool, 1),
    ("int8", Class::Signed, 1),
    ("int16", Class::Signed, 2),
    ("int32", Class::Signed, 4),
    ("int64", Class::Signed, 8),
    ("uint8", Class::Unsigned, 1),
    ("uint16", Class::Unsigned, 2),
    ("uint32", Class::Unsigned, 4),
    ("uint64", Class::Unsigned, 8),
    ("float16", Class::Float, 2),
    ("float32", Class::Float, 4),
    ("float64", Class::Float, 8),
    ("complex64", Class::Complex, 8),
    ("complex128", Class::Complex, 16),
];

impl DatatypeSpec {
    /// Reads a datatype.
    ///
    /// # Errors
    /// `Malformed` for an invalid datatype, with the range of its text.
    pub(super) fn parse(node: Node<'_>) -> Result<Self> {
        Self::within(node, MAX_DEPTH)
    }

    fn within(node: Node<'_>, depth: usize) -> Result<Self> {
        let Some(deeper) = depth.checked_sub(1) else {
            return Err(Error::limit("datatypes within one another", MAX_DEPTH as u64 + 1, MAX_DEPTH as u64));
        };
        if node.kind() == Kind::Scalar {
            let known = NUMBERS.iter().find(|(name, ..)| *name == node.text());
            return known
                .map(|(name, ..)| Self::Number(name))
                .ok_or_else(|| invalid(node, "not a datatype of the standard"));
        }
        if node.kind() != Kind::Sequence {
            return Err(invalid(node, "not a datatype of the standard"));
        }
        // `[ascii, 5]` could be two fields of a record; it is the text type.
        if let (2, Some(first), Some(second)) = (node.len(), node.item(0), node.item(1))
            && let (Some(wide), Some(length)) = (string_kind(first), whole(second))
        {
            return Ok(Self::Text { wide, length });
        }
        node.items().map(|item| Field::parse(item, deeper)).collect::<Result<_>>().map(Self::Record)
    }

    /// Whether elements of this datatype can be cast to `wanted` without loss, as by `numpy.can_cast(…, "safe")`. Byte orders and names of fields do
    /// not count.
    pub(super) fn fits(&self, wanted: &Self) -> bool {
        match (self, wanted) {
            (Self::Number(have), Self::Number(want)) => number_fits(have, want),
            // NumPy takes length 0 for any length.
            (Self::Number(have), Self::Text { length, .. }) => *length == 0 || spelled_in(have) <= *length,
            (Self::Text { wide: have, length: one }, Self::Text { wide: want, length: two }) => {
                (*want || !*have) && (*two == 0 || one <= two)
            }
            (Self::Record(have), Self::Record(want)) => {
                have.len() == want.len() && have.iter().zip(want).all(|(have, want)| have.fits(want))
            }
            _ => false,
        }
    }
}

impl Field {
    fn parse(node: Node<'_>, depth: usize) -> Result<Self> {
        if node.kind() != Kind::Mapping {
            let datatype = DatatypeSpec::within(node, depth)?;
            return Ok(Self { name: None, byteorder: None, shape: None, datatype });
        }
        let Some(datatype) = node.get("datatype") else {
            return Err(invalid(node, "a field without a datatype"));
        };
        let text = |key: &str| node.get(key).map(|value| value.text().to_owned());
        let shape = match node.get("shape") {
            None => None,
            Some(shape) => {
                let sizes = shape
                    .items()
                    .map(|size| whole(size).ok_or_else(|| invalid(size, "not the length of an axis")));
                Some(sizes.collect::<Result<Vec<u64>>>()?)
            }
        };
        Ok(Self {
            name: text("name"),
            byteorder: text("byteorder"),
            shape,
            datatype: DatatypeSpec::within(datatype, depth)?,
        })
    }

    fn fits(&self, wanted: &Self) -> bool {
        let axes = |field: &Self| field.shape.clone().unwrap_or_default();
        let (have, want) = (axes(self), axes(wanted));
        // One element fills an array of any shape.
        (have.is_empty() || have == want) && self.datatype.fits(&wanted.datatype)
    }
}

impl std::fmt::Display for DatatypeSpec {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(name) => f.write_str(name),
            Self::Text { wide, length } => write!(f, "[{}, {length}]", if *wide { "ucs4" } else { "ascii" }),
            Self::Record(fields) => {
                let fields: Vec<String> = fields.iter().map(|field| field.datatype.to_string()).collect();
                write!(f, "a record of ({})", fields.join(", "))
            }
        }
    }
}

/// Whether the keywords of arrays apply to a node: in Python asdf, only with this tag.
pub(super) fn is_array(node: Node<'_>) -> bool {
    node.tag().is_some_and(NdArray::is_tag)
}

/// Number of axes: of `shape`, or of the nested lists. `None` without either.
pub(super) fn ndim(array: Node<'_>) -> Option<u64> {
    match array.kind() {
        Kind::Sequence => Some(nesting(array)),
        Kind::Scalar => None,
        Kind::Mapping => match (array.get("shape"), array.get("data")) {
            (Some(shape), _) => Some(shape.len() as u64),
            (None, data) => data.map(nesting),
        },
    }
}

/// The datatype in the tree, or that of the inline data; `None` without either.
///
/// # Errors
/// As [`DatatypeSpec::parse`]; `Limit`.
pub(super) fn datatype(array: Node<'_>, work_limit: &mut WorkLimit) -> Result<Option<DatatypeSpec>> {
    let data = match array.kind() {
        Kind::Sequence => Some(array),
        Kind::Scalar => None,
        Kind::Mapping => match array.get("datatype") {
            Some(datatype) => return DatatypeSpec::parse(datatype).map(Some),
            None => array.get("data"),
        },
    };
    data.map(|data| inferred(data, work_limit)).transpose()
}

fn nesting(data: Node<'_>) -> u64 {
    let mut axes = 0u64;
    let mut node = Some(data);
    while let Some(list) = node.filter(|node| node.kind() == Kind::Sequence && axes < MAX_DEPTH as u64) {
        axes = axes.saturating_add(1);
        node = list.item(0);
    }
    axes
}

/// The datatype of inline data: characters where any item is a text, else the widest kind of number that occurs.
fn inferred(data: Node<'_>, work_limit: &mut WorkLimit) -> Result<DatatypeSpec> {
    let (mut longest, mut widest) = (None, None::<(Class, &'static str)>);
    let mut open = vec![(data, 0usize)];
    while let Some((node, depth)) = open.pop() {
        work_limit.spend(1)?;
        if node.kind() == Kind::Sequence {
            if depth > MAX_DEPTH {
                return Err(Error::limit("lists within one another", depth as u64, MAX_DEPTH as u64));
            }
            open.extend(node.items().map(|item| (item, depth.saturating_add(1))));
            continue;
        }
        let found = match node.scalar() {
            Some(Scalar::Bool(_)) => (Class::Bool, "bool8"),
            Some(Scalar::Int(_)) => (Class::Signed, int_name(node)),
            Some(Scalar::Float(_)) => (Class::Float, "float64"),
            Some(Scalar::Text(text)) => {
                if node.tag().is_some_and(|tag| tag.starts_with("tag:stsci.edu:asdf/core/complex-")) {
                    (Class::Complex, "complex128")
                } else {
                    longest = longest.max(Some(text.chars().count() as u64));
                    continue;
                }
            }
            _ => continue,
        };
        let rank = |class: Class| {
            [Class::Bool, Class::Signed, Class::Float, Class::Complex].iter().position(|one| *one == class)
        };
        if widest
            .is_none_or(|(class, name)| rank(found.0) > rank(class) || (found.0 == class && name != "uint64"))
        {
            widest = Some(found);
        }
    }
    Ok(match (longest, widest) {
        (Some(length), _) => DatatypeSpec::Text { wide: true, length },
        (None, Some((_, name))) => DatatypeSpec::Number(name),
        // NumPy's for an empty list.
        (None, None) => DatatypeSpec::Number("float64"),
    })
}

fn int_name(node: Node<'_>) -> &'static str {
    match Number::of(node) {
        Some(Number::Int(value)) if i64::try_from(value).is_ok() => "int64",
        _ => "uint64",
    }
}

fn string_kind(node: Node<'_>) -> Option<bool> {
    match node.scalar()? {
        Scalar::Text("ascii") => Some(false),
        Scalar::Text("ucs4") => Some(true),
        _ => None,
    }
}

fn whole(node: Node<'_>) -> Option<u64> {
    match Number::of(node)? {
        Number::Int(value) => u64::try_from(value).ok(),
        _ => None,
    }
}

fn number_fits(have: &str, want: &str) -> bool {
    let of = |name: &str| {
        NUMBERS.iter().find(|(known, ..)| *known == name).map(|(_, class, bytes)| (*class, *bytes))
    };
    let (Some((have, from)), Some((want, to))) = (of(have), of(want)) else { return false };
    // Bytes of the float whose digits hold every integer of that size, 8 at most: NumPy lets 64 bits go.
    let float_of = |bytes: u32| bytes.saturating_mul(2).min(8);
    match (have, want) {
        (Class::Bool, _) => true,
        (_, Class::Bool) => false,
        (Class::Unsigned, Class::Signed) => to > from,
        (Class::Unsigned, Class::Unsigned) | (Class::Signed, Class::Signed) => to >= from,
        (Class::Float, Class::Float) | (Class::Complex, Class::Complex) => to >= from,
        (Class::Unsigned | Class::Signed, Class::Float) => to >= float_of(from),
        (Class::Unsigned | Class::Signed, Class::Complex) => to / 2 >= float_of(from),
        (Class::Float, Class::Complex) => to / 2 >= from,
        _ => false,
    }
}

/// Characters that NumPy sets aside for a number of that type.
fn spelled_in(name: &str) -> u64 {
    match name {
        "bool8" | "uint16" => 5,
        "int8" => 4,
        "int16" => 6,
        "int32" => 11,
        "int64" => 21,
        "uint8" => 3,
        "uint32" => 10,
        "uint64" => 20,
        "complex64" | "complex128" => 64,
        _ => 32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Results of NumPy 2's `can_cast(one, other, "safe")` for every pair of numbers.
    #[test]
    fn numbers_are_cast_as_numpy_does() {
        let order = NUMBERS.iter().map(|(name, ..)| *name).collect::<Vec<_>>();
        for (have, want) in [
            ("bool8", "11111111111111"),
            ("int8", "01111000011111"),
            ("int16", "00111000001111"),
            ("int32", "00011000000101"),
            ("int64", "00001000000101"),
            ("uint8", "00111111111111"),
            ("uint16", "00011011101111"),
            ("uint32", "00001001100101"),
            ("uint64", "00000000100101"),
            ("float16", "00000000011111"),
            ("float32", "00000000001111"),
            ("float64", "00000000000101"),
            ("complex64", "00000000000011"),
            ("complex128", "00000000000001"),
        ] {
            let got: String = order.iter().map(|to| if number_fits(have, to) { '1' } else { '0' }).collect();
            assert_eq!(got, want, "{have}");
        }
    }
}
