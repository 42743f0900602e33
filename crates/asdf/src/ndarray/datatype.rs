//! Element types, as `core/datatype` spells them (ASDF standard 1.6.0, core schemas, ndarray).

use container_core::dtype::{ByteOrder, DType, Field, Kind, Record, Scalar};
use container_core::{Error, Result};

use super::{count, malformed};
use crate::yaml::{Collection, Int, Kind as NodeKind, Node, Scalar as YamlScalar, Yaml};

/// An element type, as the tree spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Datatype {
    /// The type in holdall's terms, in the array's byte order, fields in their own.
    pub dtype: DType,
    /// The array's byte order; little where the tree names none.
    pub byteorder: ByteOrder,
}

/// Most axes of a field, those of numpy's arrays: elements are read axis by axis.
const MAX_FIELD_AXES: usize = 64;

/// Names, kinds and bytes of the scalar types. The standard does not have the last three, which ASDF.jl and asdf-cxx write.
const SCALARS: [(&str, Kind, usize); 17] = [
    ("int8", Kind::Int, 1),
    ("int16", Kind::Int, 2),
    ("int32", Kind::Int, 4),
    ("int64", Kind::Int, 8),
    ("uint8", Kind::Uint, 1),
    ("uint16", Kind::Uint, 2),
    ("uint32", Kind::Uint, 4),
    ("uint64", Kind::Uint, 8),
    ("float16", Kind::Float, 2),
    ("float32", Kind::Float, 4),
    ("float64", Kind::Float, 8),
    ("complex64", Kind::Complex, 8),
    ("complex128", Kind::Complex, 16),
    ("bool8", Kind::Bool, 1),
    ("int128", Kind::Int, 16),
    ("uint128", Kind::Uint, 16),
    ("complex32", Kind::Complex, 4),
];

/// Number of entries of [`SCALARS`] that are in the standard.
const STANDARD_SCALAR_COUNT: usize = 14;

/// Maximum number of fields of a record, nested ones and items of sub-arrays not counted.
const MAX_FIELDS: usize = 1 << 16;

/// Maximum depth of nested records.
const MAX_DEPTH: usize = 32;

impl Datatype {
    /// Reads the type at `node` of an array with that byte order.
    ///
    /// # Errors
    /// `Malformed` for an invalid type; `Unsupported` for an unknown name.
    pub fn parse(node: Node<'_>, byteorder: ByteOrder) -> Result<Self> {
        let mut left = MAX_FIELDS;
        Ok(Self { dtype: parse(node, byteorder, 0, &mut left)?, byteorder })
    }

    /// The spelling of `dtype`: a name, a pair such as `[ascii, 5]`, or a list of fields, each with its byte order. The byte order
    /// of all else goes into the array's `byteorder`: [`Datatype::byteorder_of`]. Titles, which numpy's fields may have, are left out.
    ///
    /// # Errors
    /// `Unsupported` for types and gaps between fields that ASDF does not have.
    pub fn to_yaml(dtype: &DType) -> Result<Yaml> {
        match dtype {
            DType::Scalar(scalar) => scalar_to_yaml(scalar),
            DType::Record(record) => record_to_yaml(record),
        }
    }

    /// The byte order for an array's `byteorder`: a number's own, a record's first number's; big for types without one, as Python asdf writes it.
    #[must_use]
    pub fn byteorder_of(dtype: &DType) -> ByteOrder {
        fn find(dtype: &DType) -> Option<ByteOrder> {
            match dtype {
                DType::Scalar(scalar) => {
                    let other = match scalar.order {
                        ByteOrder::Little => ByteOrder::Big,
                        ByteOrder::Big => ByteOrder::Little,
                    };
                    (!dtype.is_in_order(other)).then_some(scalar.order)
                }
                DType::Record(record) => record.fields.iter().find_map(|field| find(&field.dtype)),
            }
        }
        find(dtype).unwrap_or(ByteOrder::Big)
    }

    /// `big` or `little`.
    #[must_use]
    pub const fn byteorder_name(order: ByteOrder) -> &'static str {
        match order {
            ByteOrder::Little => "little",
            ByteOrder::Big => "big",
        }
    }
}

/// Reads `big` or `little`.
pub(super) fn byteorder(node: Node<'_>) -> Result<ByteOrder> {
    match node.scalar() {
        Some(YamlScalar::Text("big")) => Ok(ByteOrder::Big),
        Some(YamlScalar::Text("little")) => Ok(ByteOrder::Little),
        _ => Err(malformed(node, "invalid byteorder (expected big or little)")),
    }
}

fn parse(node: Node<'_>, order: ByteOrder, depth: usize, left: &mut usize) -> Result<DType> {
    match node.kind() {
        NodeKind::Scalar => named(node, order),
        NodeKind::Sequence => match string(node, order)? {
            Some(dtype) => Ok(dtype),
            None => record(node, order, depth, left),
        },
        NodeKind::Mapping => Err(malformed(node, "a mapping is not a datatype")),
    }
}

fn named(node: Node<'_>, order: ByteOrder) -> Result<DType> {
    let name = node.text();
    match SCALARS.iter().find(|(known, _, _)| *known == name) {
        Some((_, kind, size)) => Ok(DType::new(kind.clone(), *size, order)),
        None => {
            let known: Vec<&str> =
                SCALARS.iter().take(STANDARD_SCALAR_COUNT).map(|(name, _, _)| *name).collect();
            let shown: String = name.chars().take(40).collect();
            let problem = format!("unknown datatype {shown:?} (expected one of: {})", known.join(", "));
            Err(Error::unsupported(problem).with_context("asdf datatype").with_range(super::place(node)))
        }
    }
}

/// `[ascii, 5]` and `[ucs4, 5]`. Such a pair takes precedence over a record of two fields.
fn string(node: Node<'_>, order: ByteOrder) -> Result<Option<DType>> {
    if node.len() != 2 {
        return Ok(None);
    }
    let (Some(name), Some(len)) = (node.item(0), node.item(1)) else { return Ok(None) };
    let (kind, width) = match (name.kind(), name.text()) {
        (NodeKind::Scalar, "ascii") => (Kind::Bytes, 1_usize),
        (NodeKind::Scalar, "ucs4") => (Kind::Unicode, 4),
        _ => return Ok(None),
    };
    let Some(YamlScalar::Int(number)) = len.scalar() else { return Ok(None) };
    let chars = match number {
        Int::Small(number) => usize::try_from(number).ok(),
        Int::Big(_) => None,
    };
    // No Rust allocation is larger than isize::MAX, so no element can be.
    let size = chars.and_then(|chars| chars.checked_mul(width)).filter(|&size| isize::try_from(size).is_ok());
    let size = size.ok_or_else(|| malformed(len, "a length of text that does not fit memory"))?;
    Ok(Some(DType::new(kind, size, order)))
}

/// Fields follow each other without alignment (ASDF standard 1.6.0, core schemas, ndarray).
fn record(node: Node<'_>, order: ByteOrder, depth: usize, left: &mut usize) -> Result<DType> {
    if depth >= MAX_DEPTH {
        return Err(malformed(node, format!("records within records (expected at most {MAX_DEPTH} levels)")));
    }
    if node.is_empty() {
        return Err(malformed(node, "a record without fields"));
    }
    *left = left.checked_sub(node.len()).ok_or_else(|| {
        Error::limit("fields of a record", (MAX_FIELDS as u64).saturating_add(1), MAX_FIELDS as u64)
            .with_range(super::place(node))
    })?;
    let mut fields: Vec<Field> = Vec::with_capacity(node.len());
    let mut names = std::collections::HashSet::new();
    let mut offset = 0_usize;
    for (at, item) in node.items().enumerate() {
        let (name, dtype, shape) = field(item, order, depth, left)?;
        // numpy's name of a field without one.
        let name = name.filter(|name| !name.is_empty()).map_or_else(|| format!("f{at}"), str::to_owned);
        if !names.insert(name.clone()) {
            return Err(malformed(item, format!("two fields are called {name:?}")));
        }
        let items = shape.iter().try_fold(1_usize, |product, len| product.checked_mul(*len));
        let len = items.and_then(|items| items.checked_mul(dtype.itemsize()));
        let end = len.and_then(|len| offset.checked_add(len)).filter(|&end| isize::try_from(end).is_ok());
        let end = end.ok_or_else(|| malformed(item, "a record that does not fit memory"))?;
        fields.push(Field { name, title: None, dtype, shape, offset });
        offset = end;
    }
    Ok(DType::Record(Record { fields, size: offset }))
}

type Named<'d> = (Option<&'d str>, DType, Vec<usize>);

fn field<'d>(node: Node<'d>, order: ByteOrder, depth: usize, left: &mut usize) -> Result<Named<'d>> {
    let depth = depth.saturating_add(1);
    if node.kind() != NodeKind::Mapping {
        return Ok((None, parse(node, order, depth, left)?, Vec::new()));
    }
    let order = node.get("byteorder").map(byteorder).transpose()?.unwrap_or(order);
    let datatype = node.get("datatype").ok_or_else(|| malformed(node, "a field without a datatype"))?;
    let dtype = parse(datatype, order, depth, left)?;
    let shape = match node.get("shape") {
        None => Vec::new(),
        Some(shape) if shape.kind() == NodeKind::Sequence => {
            let len = |item| {
                let len = count(item)?;
                usize::try_from(len).map_err(|_| malformed(item, "an axis that does not fit memory"))
            };
            if shape.len() > MAX_FIELD_AXES {
                return Err(malformed(shape, "a field of more than 64 axes"));
            }
            shape.items().map(len).collect::<Result<_>>()?
        }
        Some(other) => return Err(malformed(other, "invalid shape of a field (expected a list)")),
    };
    let name = match node.get("name") {
        None => None,
        Some(name) if name.kind() == NodeKind::Scalar => Some(name.text()),
        Some(other) => return Err(malformed(other, "invalid name of a field (expected text)")),
    };
    Ok((name, dtype, shape))
}

fn scalar_to_yaml(scalar: &Scalar) -> Result<Yaml> {
    let text = |name: &str, len: usize| {
        let items = vec![Yaml::text(name), Yaml::int(i128::try_from(len).unwrap_or(i128::MAX))];
        Yaml::Sequence(items, Some(Collection::Flow))
    };
    match scalar.kind {
        Kind::Bytes => return Ok(text("ascii", scalar.size)),
        Kind::Unicode if scalar.size.is_multiple_of(4) => return Ok(text("ucs4", scalar.size / 4)),
        _ => {}
    }
    let mut standard = SCALARS.iter().take(STANDARD_SCALAR_COUNT);
    match standard.find(|(_, kind, size)| *kind == scalar.kind && *size == scalar.size) {
        Some((name, _, _)) => Ok(Yaml::text(*name)),
        None => {
            let dtype = DType::Scalar(scalar.clone());
            let what = match scalar.kind {
                Kind::Datetime(_) | Kind::Timedelta(_) => "times",
                Kind::Void => "opaque bytes",
                Kind::Float | Kind::Complex => "floating-point numbers of that size",
                Kind::BFloat => "bfloat16",
                _ => "such numbers",
            };
            let hint = match scalar.kind {
                Kind::Datetime(_) | Kind::Timedelta(_) => "store them as int64, and their unit in the tree",
                _ => "store them as another type, or as uint8 with one more axis",
            };
            Err(Error::unsupported(format!("ASDF has no {what} ({dtype})")).with_hint(hint))
        }
    }
}

fn record_to_yaml(record: &Record) -> Result<Yaml> {
    let mut fields = Vec::with_capacity(record.fields.len());
    let mut end = 0_usize;
    for field in &record.fields {
        if field.offset != end {
            return Err(gap(&field.name));
        }
        let items = field.shape.iter().fold(1_usize, |product, len| product.saturating_mul(*len));
        end = end.saturating_add(items.saturating_mul(field.dtype.itemsize()));
        let mut pairs = vec![("name".to_owned(), Yaml::text(field.name.clone()))];
        pairs.push(("datatype".into(), Datatype::to_yaml(&field.dtype)?));
        let order = Datatype::byteorder_of(&field.dtype);
        pairs.push(("byteorder".into(), Yaml::text(Datatype::byteorder_name(order))));
        if !field.shape.is_empty() {
            let len = |len: &usize| Yaml::int(i128::try_from(*len).unwrap_or(i128::MAX));
            let shape = field.shape.iter().map(len).collect();
            pairs.push(("shape".into(), Yaml::Sequence(shape, Some(Collection::Flow))));
        }
        fields.push(Yaml::mapping(pairs));
    }
    if end != record.size {
        return Err(gap("the end of the record"));
    }
    // An empty record would read back as no datatype at all.
    if fields.is_empty() {
        return Err(Error::unsupported("ASDF has no records without fields"));
    }
    Ok(Yaml::Sequence(fields, None))
}

fn gap(before: &str) -> Error {
    let problem = format!("ASDF has no gaps between fields (found one before {before})");
    Error::unsupported(problem).with_hint("pack the records: one field right after the other")
}
