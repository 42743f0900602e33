//! Comparison of two files: shapes, types, values, and the metadata where the formats are equal.
//!
//! Storage is not compared: byte order, storage order, codec and chunks may differ.

use std::collections::{HashMap, HashSet};
use std::iter;

use container_core::container::{Container, Dataset, ReadOptions};
use container_core::json_pointer::{escape, unescape};
use container_core::region::Region;
use container_core::{Error, ErrorKind, Progress, Result, Value};

mod meta;
mod values;

pub(crate) use meta::compare as compare_trees;
use values::{Ruler, Side};

use crate::glob;
use crate::verify::first_damage;

/// Callback for a dataset that is skipped: its path, and the error.
pub type PassOver<'a> = &'a dyn Fn(&str, Error);

/// Rules of a comparison.
#[derive(Clone, Copy)]
pub struct DiffOptions<'a> {
    /// Relative tolerance: `|a - b| <= atol + rtol * |b|`. With both 0, values are compared bit by bit.
    pub rtol: f64,
    /// Absolute tolerance.
    pub atol: f64,
    /// Names that are passed over, with `*` and `?`: paths of datasets, keys or pointers of metadata.
    pub ignore: &'a [String],
    /// Options for reading values.
    pub read: ReadOptions,
    /// Called for each dataset that cannot be read; the others are then compared. Without it the first error ends the comparison.
    pub unreadable: Option<PassOver<'a>>,
    /// Called with `(done, total)` in bytes of the first container's elements.
    pub progress: Progress<'a>,
}

impl Default for DiffOptions<'_> {
    /// Compares bit by bit; the first unreadable dataset is an error.
    fn default() -> Self {
        let (read, progress) = (ReadOptions::default(), Progress::none());
        Self { rtol: 0.0, atol: 0.0, ignore: &[], read, unreadable: None, progress }
    }
}

/// One difference between two containers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The dataset; `None` for the file as a whole.
    pub dataset: Option<String>,
    /// Description of the difference, for people.
    pub what: String,
}

/// Compares parts of two containers, given by the index of each dataset and its region.
///
/// Datasets are paired by path; a single dataset on each side is a pair whatever the paths are. Values are equal if their bits are (so NaNs
/// by their payload, and -0.0 differs from 0.0). With a tolerance above 0 they may differ by it: then NaN equals NaN, complex numbers are
/// compared by the modulus of their difference, integers without rounding. Padding within records is ignored. Attributes are compared where
/// both containers have the same format, and so is metadata where all listed datasets are compared whole. Memory is bounded by the pieces
/// read.
///
/// # Errors
/// Those of reading, with the side named as the part, unless [`DiffOptions::unreadable`] takes them; `Malformed` where damage leaves no dataset to
/// choose; `Cancelled`.
pub fn diff(
    a: &dyn Container,
    a_sel: &[(usize, Region)],
    b: &dyn Container,
    b_sel: &[(usize, Region)],
    options: &DiffOptions<'_>,
) -> Result<Vec<Difference>> {
    // Damage that hides every dataset is an error, not equality.
    if let Some(error) = hidden(a, a_sel) {
        return Err(first(error));
    }
    if let Some(error) = hidden(b, b_sel) {
        return Err(second(error));
    }
    let same_format = a.about().format == b.about().format;
    let mut found = Vec::new();
    if same_format && meta::is_all(a, a_sel) && meta::is_all(b, b_sel) {
        let (of_a, of_b) = (a.logical_meta().map_err(first)?, b.logical_meta().map_err(second)?);
        let mut note = |what| found.push(Difference { dataset: None, what });
        meta::compare("metadata", &of_a, &of_b, options.ignore, &mut note);
        meta::compare_tags((a, &of_a), (b, &of_b), options.ignore, &mut note)?;
    }
    let attributes = if same_format { Attributes::Compared } else { Attributes::PassedOver };
    found.extend(compare_datasets(a, a_sel, b, b_sel, options, attributes, Retyped::Refused)?);
    Ok(found)
}

/// Comparison of datasets' attributes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Attributes {
    Compared,
    PassedOver,
}

/// Permission for the second to hold a type that its format lacks as another: bfloat16 as `f4`, bool as `u1`, any as its bytes.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Retyped {
    Refused,
    Allowed,
}

pub(crate) fn compare_datasets(
    a: &dyn Container,
    a_sel: &[(usize, Region)],
    b: &dyn Container,
    b_sel: &[(usize, Region)],
    options: &DiffOptions<'_>,
    attributes: Attributes,
    retyped: Retyped,
) -> Result<Vec<Difference>> {
    let a_sides = sides(a, a_sel, options.ignore);
    let b_sides = sides(b, b_sel, options.ignore);
    let mut ruler = Ruler::new(options, retyped, &a_sides);
    let mut found = Vec::new();
    if let ([_], [_]) = (a_sel, b_sel) {
        for (a, b) in a_sides.iter().zip(&b_sides) {
            pair(a, b, options, attributes, &mut ruler, &mut found)?;
        }
        return Ok(found);
    }
    let path_only = |side: &Side<'_>, place: &str| Difference {
        dataset: Some(side.dataset().path.clone()),
        what: format!("only in the {place}"),
    };
    // A file may hold millions of items.
    let (a_by_path, b_by_path) = (by_path(&a_sides), by_path(&b_sides));
    let mut respelled = HashSet::new();
    let respells = retyped == Retyped::Allowed || a.about().format != b.about().format;
    for (key, side) in numbered(&a_sides) {
        let spellings = if respells { spellings(key.0) } else { Vec::new() };
        let mut keys = iter::once(key).chain(spellings.iter().map(|path| (path.as_str(), key.1)));
        match keys.find_map(|key| b_by_path.get(&key).copied()) {
            Some(other) => {
                let other_path = other.dataset().path.as_str();
                if other_path != key.0 {
                    respelled.insert((other_path, key.1));
                }
                pair(side, other, options, attributes, &mut ruler, &mut found)?;
            }
            None => found.push(path_only(side, "first")),
        }
    }
    for (key, side) in numbered(&b_sides) {
        if !a_by_path.contains_key(&key) && !respelled.contains(&key) {
            found.push(path_only(side, "second"));
        }
    }
    Ok(found)
}

/// Spellings that a target may have for the path of a dataset, if it lacks the path itself. Steps of an ASDF path have escapes, and where one
/// name begins another (`a` and `a/b`) the whole path is one step. On the way back both are undone.
fn spellings(path: &str) -> Vec<String> {
    let steps = path.replace('~', "~0");
    let mut all = vec![escape(path).into_owned()];
    if steps != path {
        all.insert(0, steps);
    }
    all.push(unescape(path).into_owned());
    all.retain(|spelling| spelling != path);
    all
}

/// The path of each side, and how many of that path are before it: damage can give one path to several.
fn numbered<'s, 'a>(sides: &'s [Side<'a>]) -> impl Iterator<Item = ((&'s str, usize), &'s Side<'a>)> {
    let mut seen: HashMap<&str, usize> = HashMap::with_capacity(sides.len());
    sides.iter().map(move |side| {
        let path = side.dataset().path.as_str();
        let count = seen.entry(path).or_default();
        *count += 1;
        ((path, *count), side)
    })
}

fn by_path<'s, 'a>(sides: &'s [Side<'a>]) -> HashMap<(&'s str, usize), &'s Side<'a>> {
    numbered(sides).collect()
}

fn sides<'a>(
    container: &'a dyn Container,
    chosen: &'a [(usize, Region)],
    ignore: &[String],
) -> Vec<Side<'a>> {
    let sides = chosen.iter().filter_map(|(index, region)| Side::new(container, *index, region));
    sides.filter(|side| !glob::any(ignore, &side.dataset().path)).collect()
}

/// Compares a pair, or skips it where the caller accepts unreadable ones.
fn pair(
    a: &Side<'_>,
    b: &Side<'_>,
    options: &DiffOptions<'_>,
    attributes: Attributes,
    ruler: &mut Ruler<'_>,
    found: &mut Vec<Difference>,
) -> Result<()> {
    match (compare_pair(a, b, options, attributes, ruler, found), options.unreadable) {
        (Err(error), Some(unreadable)) if !matches!(error.kind(), ErrorKind::Cancelled) => {
            unreadable(&a.dataset().path, error);
            Ok(())
        }
        (done, _) => done,
    }
}

fn compare_pair(
    a: &Side<'_>,
    b: &Side<'_>,
    options: &DiffOptions<'_>,
    attributes: Attributes,
    ruler: &mut Ruler<'_>,
    found: &mut Vec<Difference>,
) -> Result<()> {
    let (one, other) = (a.dataset(), b.dataset());
    let mut note = |what| found.push(Difference { dataset: Some(one.path.clone()), what });
    if attributes == Attributes::Compared {
        let map = |dataset: &Dataset| Value::Map(dataset.metadata().cloned().collect());
        meta::compare("attribute", &map(one), &map(other), options.ignore, &mut note);
    }
    // An array of another format equals the contents of the one frame.
    let as_they_are = a.region.shape() == b.region.shape() || ruler.are_bytes_of(a, b);
    let bare = |side: &Side<'_>, other: &Side<'_>| {
        let more = side.region.shape().len() > other.region.shape().len();
        if more && !as_they_are { side.without_frame_axis() } else { None }
    };
    let (a_bare, b_bare) = (bare(a, b), bare(b, a));
    let a = &a.with_region(a_bare.as_ref().unwrap_or(a.region));
    let b = &b.with_region(b_bare.as_ref().unwrap_or(b.region));
    if ruler.are_bytes_of(a, b) {
        found.extend(
            ruler.compare_bytes(a, b)?.map(|what| Difference { dataset: Some(one.path.clone()), what }),
        );
        return Ok(());
    }
    let (a_shape, b_shape) = (a.region.shape(), b.region.shape());
    if a_shape != b_shape {
        note(format!("shape: {a_shape:?} and {b_shape:?}"));
    }
    let is_comparable = ruler.is_comparable(&one.dtype, &other.dtype);
    if !is_comparable {
        note(format!("dtype: {} and {}", one.dtype, other.dtype));
    }
    if a_shape == b_shape && is_comparable {
        if let Some(what) = ruler.compare(a, b)? {
            note(what);
        }
    } else {
        ruler.skip(a)?;
    }
    Ok(())
}

fn hidden(container: &dyn Container, chosen: &[(usize, Region)]) -> Option<Error> {
    if chosen.is_empty() { first_damage(container) } else { None }
}

fn first(error: Error) -> Error {
    of_side(error, "the first file")
}

fn second(error: Error) -> Error {
    of_side(error, "the second file")
}

/// An error of reading a side, which is named unless the error has its file's name.
fn of_side(error: Error, side: &'static str) -> Error {
    if error.subject().is_some() { error } else { error.in_file(side) }
}

#[cfg(test)]
mod tests;
