//! Descriptions of records and sub-arrays.

use std::collections::HashSet;

use super::super::{DType, Field, Kind, Record};
use super::excerpt;
use crate::python_literal::Literal;
use crate::{Error, Result};

/// Axes of a sub-array that numpy allows.
const MAX_NDIMS: usize = 64;

/// A record that grows field by field.
#[derive(Default)]
struct Builder {
    fields: Vec<Field>,
    /// Names and titles: numpy finds fields by either, so they share one space.
    names: HashSet<String>,
    /// End of the fields and the padding so far.
    end: usize,
}

impl Builder {
    /// Adds a field at `offset`. One without a name is called after its place in the description.
    fn push(
        &mut self,
        index: usize,
        name: (Option<&str>, &str),
        dtype: DType,
        shape: Vec<usize>,
        offset: usize,
    ) -> Result<()> {
        let (title, name) = name;
        let name = if name.is_empty() { format!("f{index}") } else { name.to_owned() };
        for name in [Some(name.as_str()), title].into_iter().flatten() {
            if !self.names.insert(name.to_owned()) {
                return Err(Error::malformed(format!("two fields are called {}", excerpt(name))));
            }
        }
        let len = byte_len(&dtype, &shape)?;
        self.reach(end_of(offset, len)?);
        self.fields.push(Field { name, title: title.map(str::to_owned), dtype, shape, offset });
        Ok(())
    }

    fn reach(&mut self, end: usize) {
        self.end = self.end.max(end);
    }

    fn finish(self) -> DType {
        DType::Record(Record { fields: self.fields, size: self.end })
    }
}

/// The list form: `[(name, type), (name, type, shape), …]`, each field right after the one before.
pub(super) fn from_list(items: &[Literal]) -> Result<DType> {
    let mut record = Builder::default();
    for (index, item) in items.iter().enumerate() {
        let (name, base, shape) = match item.items() {
            Some([name, base]) => (name, base, None),
            Some([name, base, shape]) => (name, base, Some(shape)),
            _ => return Err(Error::malformed("a field is neither (name, type) nor (name, type, shape)")),
        };
        let name = title_and_name(name)?;
        let (dtype, shape) = sub_array(base, shape)?;
        let opaque = matches!(&dtype, DType::Scalar(scalar) if scalar.kind == Kind::Void);
        if name == (None, "") && opaque {
            let end = end_of(record.end, byte_len(&dtype, &shape)?)?;
            record.reach(end);
        } else {
            let offset = record.end;
            record.push(index, name, dtype, shape, offset)?;
        }
    }
    Ok(record.finish())
}

/// The dict form: lists `names` and `formats`, perhaps `offsets`, `titles` and `itemsize`. Fields may overlap.
///
/// Spec: <https://numpy.org/doc/stable/reference/arrays.dtypes.html#specifying-and-constructing-data-types>
pub(super) fn from_dict(dict: &Literal) -> Result<DType> {
    let list = |key| dict.get(key).filter(|value| **value != Literal::None).map(Literal::items);
    let (Some(Some(names)), Some(Some(formats))) = (list("names"), list("formats")) else {
        return Err(Error::malformed("a type as a dict lacks its list of names or of formats"));
    };
    let optional = |key| match list(key) {
        None => Ok(None),
        Some(Some(items)) if items.len() == names.len() => Ok(Some(items)),
        Some(_) => {
            Err(Error::malformed(format!("{key} of a type: wrong number (expected one for each name)")))
        }
    };
    let (offsets, titles) = (optional("offsets")?, optional("titles")?);
    if formats.len() != names.len() {
        return Err(Error::malformed("formats of a type: wrong number (expected one for each name)"));
    }
    let size = dict.get("itemsize").filter(|value| **value != Literal::None);
    let is_aligned = matches!(dict.get("aligned"), Some(Literal::Bool(true)));
    if is_aligned && (offsets.is_none() || size.is_none()) {
        return Err(Error::unsupported("an aligned type without its offsets and itemsize"));
    }
    let mut record = Builder::default();
    for (index, (name, format)) in names.iter().zip(formats).enumerate() {
        let name = name.as_str().ok_or_else(|| Error::malformed("the name of a field is not text"))?;
        let title = titles.and_then(|titles| titles.get(index)).map_or(Ok(None), title)?;
        let (dtype, shape) = DType::from_descr(format)?;
        let offset = match offsets.and_then(|offsets| offsets.get(index)) {
            None => record.end,
            Some(offset) => {
                offset.as_usize().ok_or_else(|| Error::malformed("a field has no valid offset"))?
            }
        };
        record.push(index, (title, name), dtype, shape, offset)?;
    }
    if let Some(size) = size {
        let size = size.as_usize().filter(|&size| size >= record.end && isize::try_from(size).is_ok());
        let size = size.ok_or_else(|| Error::malformed("the fields of a type do not fit its itemsize"))?;
        record.reach(size);
    }
    Ok(record.finish())
}

/// A type and the shape of a sub-array of it; a sub-array of sub-arrays is one of more axes.
pub(super) fn sub_array(base: &Literal, shape: Option<&Literal>) -> Result<(DType, Vec<usize>)> {
    let mut dims = match shape {
        None => Vec::new(),
        Some(shape) => {
            let bad = || Error::malformed("the shape of a sub-array is not a tuple of lengths");
            lengths_of(shape).ok_or_else(bad)?
        }
    };
    let (dtype, inner) = DType::from_descr(base)?;
    dims.extend(inner);
    if dims.len() > MAX_NDIMS {
        return Err(Error::malformed(format!("a sub-array has more than {MAX_NDIMS} axes")));
    }
    byte_len(&dtype, &dims)?;
    Ok((dtype, dims))
}

fn lengths_of(shape: &Literal) -> Option<Vec<usize>> {
    // numpy keeps the lengths of a sub-array in C ints.
    let length = |literal: &Literal| literal.as_usize().filter(|&len| i32::try_from(len).is_ok());
    match shape {
        Literal::Int(_) => Some(vec![length(shape)?]),
        _ => shape.items()?.iter().map(length).collect(),
    }
}

fn title_and_name(name: &Literal) -> Result<(Option<&str>, &str)> {
    let no_name = || Error::malformed("the name of a field is not text");
    match name.items() {
        Some([first, name]) => Ok((title(first)?, name.as_str().ok_or_else(no_name)?)),
        Some(_) => Err(no_name()),
        None => Ok((None, name.as_str().ok_or_else(no_name)?)),
    }
}

fn title(title: &Literal) -> Result<Option<&str>> {
    match title {
        Literal::None => Ok(None),
        Literal::Str(title) => Ok(Some(title)),
        _ => Err(Error::malformed("the title of a field is not text")),
    }
}

fn too_large() -> Error {
    Error::malformed("an element is larger than memory can address")
}

/// Bytes of a sub-array. An axis of length 0 makes it empty, but the others must not overflow even so: readers
/// multiply them in any order.
fn byte_len(dtype: &DType, shape: &[usize]) -> Result<usize> {
    let mut len = dtype.itemsize().max(1);
    for &dim in shape.iter().filter(|&&dim| dim > 0) {
        len = len.checked_mul(dim).filter(|&len| isize::try_from(len).is_ok()).ok_or_else(too_large)?;
    }
    let is_empty = dtype.itemsize() == 0 || shape.contains(&0);
    Ok(if is_empty { 0 } else { len })
}

fn end_of(offset: usize, len: usize) -> Result<usize> {
    offset.checked_add(len).filter(|&end| isize::try_from(end).is_ok()).ok_or_else(too_large)
}

/// numpy's list, or `None` where a field starts before the end of the previous one.
pub(super) fn to_list(record: &Record) -> Option<Literal> {
    let mut list = Vec::with_capacity(record.fields.len());
    let mut end = 0;
    let pad_to = |list: &mut Vec<Literal>, end: usize, offset: usize| {
        let gap = offset.checked_sub(end)?;
        if gap > 0 {
            list.push(Literal::Tuple(vec![Literal::Str(String::new()), DType::void(gap).descr()]));
        }
        Some(())
    };
    for field in &record.fields {
        pad_to(&mut list, end, field.offset)?;
        let name = Literal::Str(field.name.clone());
        let name = match &field.title {
            Some(title) => Literal::Tuple(vec![Literal::Str(title.clone()), name]),
            None => name,
        };
        let mut item = vec![name, field.dtype.descr()];
        if !field.shape.is_empty() {
            item.push(Literal::Tuple(lengths(&field.shape)));
        }
        list.push(Literal::Tuple(item));
        end = field.offset.checked_add(byte_len(&field.dtype, &field.shape).ok()?)?;
    }
    pad_to(&mut list, end, record.size)?;
    Some(Literal::List(list))
}

/// The dict with names, formats, offsets and itemsize.
pub(super) fn to_dict(record: &Record) -> Literal {
    let key = |text: &str| Literal::Str(text.into());
    let of = |item: fn(&Field) -> Literal| Literal::List(record.fields.iter().map(item).collect());
    let format = |field: &Field| match field.shape.as_slice() {
        [] => field.dtype.descr(),
        shape => Literal::Tuple(vec![field.dtype.descr(), Literal::Tuple(lengths(shape))]),
    };
    let mut pairs = vec![
        (key("names"), of(|field| Literal::Str(field.name.clone()))),
        (key("formats"), of(format)),
        (key("offsets"), of(|field| length(field.offset))),
    ];
    if record.fields.iter().any(|field| field.title.is_some()) {
        let titles = of(|field| field.title.clone().map_or(Literal::None, Literal::Str));
        pairs.push((key("titles"), titles));
    }
    pairs.push((key("itemsize"), length(record.size)));
    Literal::Dict(pairs)
}

fn lengths(shape: &[usize]) -> Vec<Literal> {
    shape.iter().map(|&len| length(len)).collect()
}

fn length(len: usize) -> Literal {
    // Every usize fits i128.
    Literal::Int(i128::try_from(len).unwrap_or(i128::MAX))
}
