//! Array shape from the names of columns: the axes that `cat` writes out, and sub-arrays.

use std::collections::HashSet;

use container_core::dtype::{DType, Field, Record};
use container_core::{Error, Result};

use super::cell::too_wide;
use super::rows::Row;
use crate::export::{MAX_COLUMNS, record_names};

/// Number of columns at the start that are called `axis0`, `axis1` and so on, others following them; 0 where they are fewer than two.
pub(super) fn axes(names: &[String]) -> usize {
    let axes = names.iter().enumerate().take_while(|(axis, name)| **name == format!("axis{axis}")).count();
    if axes < 2 || axes == names.len() { 0 } else { axes }
}

/// Check whether the first columns count through an array in C order.
pub(super) struct Counter {
    last: Vec<u64>,
    most: Vec<u64>,
    rows: u64,
    /// Whether each row was further along than the one before.
    rising: bool,
}

impl Counter {
    pub(super) fn new(axes: usize) -> Self {
        Self { last: Vec::new(), most: vec![0; axes], rows: 0, rising: true }
    }

    pub(super) fn push(&mut self, row: &Row<'_>) {
        self.rows = self.rows.saturating_add(1);
        if !self.rising || self.most.is_empty() {
            return;
        }
        let place = row.cells().take(self.most.len()).map(index).collect::<Option<Vec<u64>>>();
        match place {
            Some(place) if self.rows == 1 || place > self.last => {
                self.most.iter_mut().zip(&place).for_each(|(most, at)| *most = (*most).max(*at));
                self.last = place;
            }
            _ => self.rising = false,
        }
    }

    /// The shape: as many places as rows, each further along than the one before, are all places in order.
    pub(super) fn shape(self) -> Option<Vec<u64>> {
        let shape: Vec<u64> = self.most.iter().map(|most| most.checked_add(1)).collect::<Option<_>>()?;
        let places = shape.iter().try_fold(1, |product: u64, len| product.checked_mul(*len))?;
        (!shape.is_empty() && self.rising && places == self.rows).then_some(shape)
    }
}

fn index(cell: &[u8]) -> Option<u64> {
    std::str::from_utf8(cell).ok()?.parse().ok()
}

/// A record of columns, packed. `p[0]`, `p[1]` and so on of one type, adjacent and complete in C order, are one field `p`.
///
/// # Errors
/// `Usage` for two of one name, `Unsupported` for more than records are written out with.
pub(super) fn record(columns: &[(String, DType)]) -> Result<DType> {
    if columns.len() > MAX_COLUMNS {
        return Err(too_wide());
    }
    let (mut fields, mut names) = (Vec::new(), HashSet::new());
    let mut offset = 0_usize;
    let mut rest = columns;
    while let [(name, dtype), others @ ..] = rest {
        let (name, shape, taken) = match sub_array(rest) {
            Some((name, shape, taken)) => (name.to_owned(), shape, taken),
            None => (name.clone(), Vec::new(), 1),
        };
        if !names.insert(name.clone()) {
            let problem = format!("two columns are called {name:?}");
            return Err(Error::usage(problem).with_hint("--header skip, to leave the names out"));
        }
        fields.push(Field { name, title: None, dtype: dtype.clone(), shape, offset });
        offset = offset.saturating_add(taken.saturating_mul(dtype.itemsize()));
        rest = others.get(taken.saturating_sub(1)..).unwrap_or_default();
    }
    Ok(DType::Record(Record { fields, size: offset }))
}

/// Use of the names of columns for an existing record.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Names {
    /// Its own, each in its place.
    Same,
    /// Any names, except the record's own in another place.
    InTheirOrder,
}

/// Compares the names of columns (none, or one for each) with those of the record that they become.
///
/// # Errors
/// `Usage`: a column with the name of another field, which would silently go into the wrong one.
pub(super) fn check_names(names: &[String], skipped: usize, record: &Record, asked: Names) -> Result<()> {
    let mut columns = Vec::new();
    record_names(record, "", &mut columns)?;
    let elsewhere: HashSet<&str> = columns.iter().map(String::as_str).collect();
    let names = names.iter().enumerate().map(|(at, name)| column_name(at, name));
    let is_wrong = |(_, (name, column)): &(usize, (String, &String))| {
        // As in `x, y`.
        let trimmed = name.trim_matches(' ');
        let is_own = name == *column || trimmed == *column;
        !is_own && (asked == Names::Same || elsewhere.contains(name.as_str()) || elsewhere.contains(trimmed))
    };
    let Some((at, (name, column))) = names.zip(&columns).enumerate().find(is_wrong) else { return Ok(()) };
    let number = at.saturating_add(skipped).saturating_add(1);
    let problem = format!("column {number} is called {name:?} (expected {column:?})");
    Err(Error::usage(problem).with_hint("--header skip, to take the columns by their places"))
}

/// Whether the names of columns are those of the record, in any order.
pub(super) fn are_names_of(record: &Record, names: &[String]) -> Result<bool> {
    let mut columns = Vec::new();
    record_names(record, "", &mut columns)?;
    let columns: HashSet<&str> = columns.iter().map(String::as_str).collect();
    let names: HashSet<&str> = names.iter().map(|name| name.trim_matches(' ')).collect();
    Ok(columns == names)
}

/// Name of the field of a column: columns without a name are called as in numpy.
pub(super) fn column_name(at: usize, name: &str) -> String {
    if name.is_empty() { format!("f{at}") } else { name.to_owned() }
}

/// The name, the shape and the number of columns of a sub-array that begins here.
fn sub_array(columns: &[(String, DType)]) -> Option<(&str, Vec<usize>, usize)> {
    let (first, dtype) = columns.first()?;
    let (name, place) = split(first)?;
    if place.iter().any(|at| *at != 0) {
        return None;
    }
    let mut last = place;
    let mut taken = 1_usize;
    let mut most = last.clone();
    for (other, _) in columns.iter().skip(1).take_while(|(_, other)| other == dtype) {
        let Some((_, place)) =
            split(other).filter(|(other, at)| *other == name && at.len() == last.len() && *at > last)
        else {
            break;
        };
        most.iter_mut().zip(&place).for_each(|(most, at)| *most = (*most).max(*at));
        last = place;
        taken = taken.saturating_add(1);
    }
    let shape: Vec<usize> = most.iter().map(|most| most.checked_add(1)).collect::<Option<_>>()?;
    let places = shape.iter().try_fold(1, |product: usize, len| product.checked_mul(*len))?;
    (places == taken).then_some((name, shape, taken))
}

/// `p[0][2]` as `p` and 0, 2.
fn split(name: &str) -> Option<(&str, Vec<usize>)> {
    let (base, indices) = name.split_at_checked(name.find('[')?)?;
    let indices = indices.strip_prefix('[')?.strip_suffix(']')?;
    let place = indices.split("][").map(|at| at.parse().ok()).collect::<Option<Vec<usize>>>()?;
    (!base.is_empty()).then_some((base, place))
}
