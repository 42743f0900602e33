//! Regions of an array: numpy's basic slicing, and its arithmetic.

use crate::dtype::Order;
use crate::{Error, Result};

mod hints;

/// Selection along one axis: `count` indices from `start` on, `step` apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxisSelection {
    /// First index.
    pub start: u64,
    /// Distance to the next index; may be negative, never 0.
    pub step: i64,
    /// Number of indices; every one of them is within the axis.
    pub count: u64,
    /// Presence of the axis in the result; a plain index drops it.
    pub kept: Kept,
}

/// Presence of an axis in the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kept {
    /// It stays, as `0:1` does.
    Yes,
    /// It is dropped, as `0` does.
    No,
}

/// A rectangular, perhaps strided part of an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    axes: Vec<AxisSelection>,
}

impl Region {
    /// All of an array of `shape`.
    #[must_use]
    pub fn whole(shape: &[u64]) -> Self {
        let axes = shape.iter().map(|len| AxisSelection { start: 0, step: 1, count: *len, kept: Kept::Yes });
        Self { axes: axes.collect() }
    }

    /// Parses numpy basic slicing without its brackets: `0:100, ::4`, `-1`, `...`. Missing axes are whole.
    ///
    /// # Errors
    /// `Usage` for bad syntax, too many axes, a step of 0, or a plain index outside the axis.
    pub fn parse(text: &str, shape: &[u64]) -> Result<Self> {
        let bad = |what: String| hints::add(Error::usage(what), text);
        Self::check_terms(text)?;
        let terms: Vec<&str> =
            if text.trim().is_empty() { Vec::new() } else { text.split(',').map(str::trim).collect() };
        // Python allows one trailing comma: `3,`.
        let terms = match terms.as_slice() {
            [head @ .., ""] if !head.is_empty() => head.to_vec(),
            all => all.to_vec(),
        };
        let dots = terms.iter().filter(|term| **term == "...").count();
        let named = terms.len() - dots;
        if dots > 1 || named > shape.len() {
            let problem = if dots > 1 { "more than one ...".into() } else { format!("{named} indices") };
            return Err(bad(format!("{problem} for an array of {} dimensions", shape.len())));
        }
        let mut region = Self::whole(shape);
        let mut axis = 0;
        for term in terms {
            if term == "..." {
                axis += shape.len() - named;
                continue;
            }
            let place = region.axes.get_mut(axis).ok_or_else(|| bad("too many indices".into()))?;
            *place = parse_axis(term, place.count)
                .map_err(|problem| bad(format!("axis {axis} of length {}: {problem}", place.count)))?;
            axis += 1;
        }
        Ok(region)
    }

    /// Refuses terms that numpy accepts between brackets but a selection does not: lists of indices, conditions, names of fields.
    ///
    /// # Errors
    /// `Usage`, naming which of them it is.
    pub fn check_terms(text: &str) -> Result<()> {
        let is_word = |word: &str| text.split(|c: char| !c.is_alphanumeric()).any(|part| part == word);
        let what = match () {
            () if text.contains(['<', '>', '=', '!', '&', '|', '~']) => "a condition",
            () if is_word("True") || is_word("False") => "a condition",
            () if text.contains(['\'', '"']) => "the name of a field",
            () if text.contains(['[', ']', '(', ')']) => "a list of indices",
            () => return Ok(()),
        };
        let problem = format!("a selection takes numbers, slices and ..., not {what}");
        Err(hints::add(Error::usage(problem), text))
    }

    /// Refuses a text that selects from no array, whatever its shape.
    ///
    /// # Errors
    /// `Usage`, as [`Region::check_terms`], and for a term that is neither an integer nor a slice.
    pub fn check_syntax(text: &str) -> Result<()> {
        Self::check_terms(text)?;
        let terms: Vec<&str> = text.split(',').map(str::trim).collect();
        let terms = match terms.as_slice() {
            [""] => &[],
            [head @ .., ""] => head,
            all => all,
        };
        let problem = terms.iter().filter(|term| **term != "...").find_map(|term| bounds(term).err());
        problem.map_or(Ok(()), |problem| Err(hints::add(Error::usage(problem), text)))
    }

    /// A region from explicit selections, checked against `shape`.
    ///
    /// # Errors
    /// `Usage` when the number of axes differs or an index is outside its axis.
    pub fn new(axes: Vec<AxisSelection>, shape: &[u64]) -> Result<Self> {
        if axes.len() != shape.len() {
            return Err(Error::usage(format!("{} selections for {} dimensions", axes.len(), shape.len())));
        }
        for (axis, len) in axes.iter().zip(shape) {
            let last = i128::from(axis.start) + i128::from(axis.step) * (i128::from(axis.count) - 1).max(0);
            let inside = |at: i128| (0..i128::from(*len)).contains(&at);
            if axis.count > 0 && (axis.step == 0 || !inside(axis.start.into()) || !inside(last)) {
                return Err(Error::usage(format!("a selection reaches outside an axis of length {len}")));
            }
        }
        Ok(Self { axes })
    }

    /// The same selections along the axes of an array of `shape`, which are those of this region's array in reverse.
    ///
    /// # Errors
    /// As [`Region::new`].
    pub fn reversed(&self, shape: &[u64]) -> Result<Self> {
        Self::new(self.axes.iter().rev().copied().collect(), shape)
    }

    /// The selections, one for each axis of the array.
    #[must_use]
    pub fn axes(&self) -> &[AxisSelection] {
        &self.axes
    }

    /// Shape of the result: the counts of the kept axes.
    #[must_use]
    pub fn shape(&self) -> Vec<u64> {
        self.axes.iter().filter(|axis| axis.kept == Kept::Yes).map(|axis| axis.count).collect()
    }

    /// A part of the selection. `parts` gives for each kept axis the first index and the number of indices, counted within the selection.
    /// Dropped axes, and those after the last part, are unchanged.
    ///
    /// # Errors
    /// `Usage` for a part that reaches outside.
    pub fn sub_region(&self, parts: &[(u64, u64)]) -> Result<Self> {
        let mut parts = parts.iter();
        let axes = self.axes.iter().map(|axis| {
            let Some((start, count)) = (axis.kept == Kept::Yes).then(|| parts.next()).flatten() else {
                return Ok(*axis);
            };
            if start.checked_add(*count).is_none_or(|end| end > axis.count) {
                let problem = format!("{count} indices from {start} on, of {} that are selected", axis.count);
                return Err(Error::usage(problem));
            }
            // Where there are any, it is between the first and the last of the axis.
            let first = i128::from(axis.start) + i128::from(axis.step) * i128::from(*start);
            Ok(AxisSelection { start: u64::try_from(first).unwrap_or(0), count: *count, ..*axis })
        });
        Ok(Self { axes: axes.collect::<Result<_>>()? })
    }

    /// Number of elements selected; `None` beyond 2^64.
    #[must_use]
    pub fn len(&self) -> Option<u64> {
        element_count(self.axes.iter().map(|axis| axis.count))
    }

    /// True where the selection is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.axes.iter().any(|axis| axis.count == 0)
    }

    /// True where the region is all of an array of `shape`, in order.
    #[must_use]
    pub fn is_whole(&self, shape: &[u64]) -> bool {
        *self == Self::whole(shape)
    }

    /// Cuts the region into parts of at most `most` elements each (at least one), in the order in which an array of
    /// this region is stored: joining the parts' elements in `order` gives the region's elements in `order`.
    /// Along all but one axis a part is whole or a single index.
    #[must_use]
    pub fn chunks(&self, order: Order, most: u64) -> Chunks {
        // Slowest axis first.
        let mut axes: Vec<usize> = (0..self.axes.len()).collect();
        if order == Order::F {
            axes.reverse();
        }
        // Whole fast axes as long as they fit; the next one is cut; the slower ones are walked.
        let mut inner = 1_u64;
        let mut cut = axes.len();
        while cut > 0 {
            let count = self.axes[axes[cut - 1]].count;
            match inner.checked_mul(count) {
                Some(product) if product <= most.max(1) => inner = product,
                _ => break,
            }
            cut -= 1;
        }
        let step = (most.max(1) / inner.max(1)).max(1);
        Chunks { region: self.clone(), axes, cut, step, at: vec![0; cut], done: self.is_empty() }
    }
}

/// The parts of a region in storage order; see [`Region::chunks`].
#[derive(Clone, Debug)]
pub struct Chunks {
    region: Region,
    /// All axes, slowest first.
    axes: Vec<usize>,
    /// The axes before this place are walked; the last of those is cut into runs of `step`.
    cut: usize,
    step: u64,
    at: Vec<u64>,
    done: bool,
}

impl Iterator for Chunks {
    type Item = Region;

    fn next(&mut self) -> Option<Region> {
        if self.done {
            return None;
        }
        let mut piece = self.region.clone();
        for place in 0..self.cut {
            let axis = &mut piece.axes[self.axes[place]];
            let width = if place + 1 == self.cut { self.step } else { 1 };
            let width = width.min(axis.count - self.at[place]);
            let first = i128::from(axis.start) + i128::from(axis.step) * i128::from(self.at[place]);
            axis.start = u64::try_from(first).unwrap_or(0);
            axis.count = width;
        }
        self.done = true;
        for place in (0..self.cut).rev() {
            let count = self.region.axes[self.axes[place]].count;
            let width = if place + 1 == self.cut { self.step } else { 1 };
            self.at[place] = self.at[place].saturating_add(width);
            if self.at[place] < count {
                self.done = false;
                break;
            }
            self.at[place] = 0;
        }
        Some(piece)
    }
}

/// Product of the dimensions; `None` beyond 2^64. A zero makes it 0 whatever the others are.
#[must_use]
pub fn element_count(shape: impl Iterator<Item = u64> + Clone) -> Option<u64> {
    if shape.clone().any(|len| len == 0) {
        return Some(0);
    }
    shape.into_iter().try_fold(1_u64, u64::checked_mul)
}

/// The integers of one term of a selection, between its colons; `None` for one that is left out.
fn bounds(term: &str) -> std::result::Result<Vec<Option<i128>>, String> {
    let number = |text: &str| -> std::result::Result<Option<i128>, String> {
        let text = text.trim();
        if text.is_empty() {
            return Ok(None);
        }
        let parsed = text.parse::<i64>().map_err(|_| match text {
            "None" | "newaxis" | "np.newaxis" | "numpy.newaxis" => "a selection makes no new axes".to_owned(),
            _ => format!("{text:?} is not an index"),
        })?;
        Ok(Some(parsed.into()))
    };
    let numbers = term.split(':').map(number).collect::<std::result::Result<Vec<_>, _>>()?;
    match numbers[..] {
        [None] => Err("an index is missing".into()),
        [_, _, Some(0)] => Err("the step is 0".into()),
        _ if numbers.len() > 3 => Err(format!("{term:?} has more than two colons")),
        _ => Ok(numbers),
    }
}

/// One term of a selection, by Python's rules for `slice.indices`.
fn parse_axis(term: &str, len: u64) -> std::result::Result<AxisSelection, String> {
    let length = i128::from(len);
    let (start, stop, step) = match bounds(term)?[..] {
        [Some(index)] => {
            let from = if index < 0 { index + length } else { index };
            let start = u64::try_from(from).ok().filter(|start| *start < len);
            let start = start.ok_or_else(|| match len.checked_sub(1) {
                Some(last) => format!("index {index} is outside (0 to {last}, or -{len} to -1 from the end)"),
                None => format!("index {index} is outside (the axis is empty)"),
            })?;
            return Ok(AxisSelection { start, step: 1, count: 1, kept: Kept::No });
        }
        [start, stop] => (start, stop, 1),
        [start, stop, step] => (start, stop, step.unwrap_or(1)),
        _ => return Err("an index is missing".into()),
    };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let clamp = |at: i128| (if at < 0 { at + length } else { at }).clamp(low, high);
    let start = start.map_or(if step > 0 { low } else { high }, clamp);
    let stop = stop.map_or(if step > 0 { high } else { low }, clamp);
    let span = if step > 0 { stop - start } else { start - stop };
    let count = if span <= 0 { 0 } else { (span - 1) / step.abs() + 1 };
    let fits = |value: i128| u64::try_from(value).unwrap_or(0);
    let step = i64::try_from(step).map_err(|_| "the step is too large")?;
    Ok(AxisSelection { start: fits(start), step, count: fits(count), kept: Kept::Yes })
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;
