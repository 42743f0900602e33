//! Base that is subtracted from integers, so that doubles distinguish neighbours.

use container_core::Result;
use container_core::dtype::{ByteOrder, Kind, Scalar};
use container_core::to_f64::{ComplexPart, is_beyond_f64, to_f64};

use crate::range_end::Bound;
use crate::scale::Range;
use crate::values::{PIECE, PlotData, Stored};

/// True of integers and times that doubles may round.
fn is_long(scalar: &Scalar) -> bool {
    matches!(
        (&scalar.kind, scalar.size),
        (Kind::Int | Kind::Uint | Kind::Datetime(_) | Kind::Timedelta(_), 8)
    )
}

/// Appends the elements as doubles, relative to `base`, which is 0 except for integers of 8 bytes.
pub(crate) fn beyond(scalar: &Scalar, bytes: &[u8], part: ComplexPart, base: i128, out: &mut Vec<f64>) {
    if base == 0 || !is_long(scalar) {
        return to_f64(scalar, bytes, part, out);
    }
    let distance = |value: Option<i128>| value.map_or(f64::NAN, |value| (value - base) as f64);
    out.extend(integers(scalar, bytes).map(distance));
}

/// Integers of 8 bytes; `None` for NaT.
fn integers<'b>(scalar: &Scalar, bytes: &'b [u8]) -> impl Iterator<Item = Option<i128>> + 'b {
    let (is_unsigned, order) = (scalar.kind == Kind::Uint, scalar.order);
    let is_time = matches!(scalar.kind, Kind::Datetime(_) | Kind::Timedelta(_));
    bytes.as_chunks::<8>().0.iter().map(move |item| {
        let bits = match order {
            ByteOrder::Little => u64::from_le_bytes(*item),
            ByteOrder::Big => u64::from_be_bytes(*item),
        };
        let value = if is_unsigned { bits.into() } else { bits.cast_signed().into() };
        // The least integer is not a time.
        Some(value).filter(|_| !is_time || bits != 1 << 63)
    })
}

/// The least and the greatest of integers of 8 bytes.
pub(crate) fn extremes(scalar: &Scalar, stored: Stored<'_>) -> Option<(i128, i128)> {
    if !is_long(scalar) {
        return None;
    }
    // The mask is empty, or has a byte for each.
    let mask = stored.mask.iter().copied().chain(std::iter::repeat(0));
    let shown = integers(scalar, stored.bytes).zip(mask).filter(|(_, masked)| *masked == 0);
    shown.filter_map(|(value, _)| value).fold(None, |found, value| wider(found, Some((value, value))))
}

fn wider(one: Option<(i128, i128)>, other: Option<(i128, i128)>) -> Option<(i128, i128)> {
    match (one, other) {
        (Some((low, high)), Some((other_low, other_high))) => {
            Some((low.min(other_low), high.max(other_high)))
        }
        (one, other) => one.or(other),
    }
}

/// The integer that values are counted from, and the extremes found with it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counting {
    pub(crate) base: i128,
    is_long: bool,
    /// The least and the greatest integer, where one of them is beyond doubles.
    extremes: Option<(i128, i128)>,
}

impl Counting {
    /// Chooses it by the requested range, or by the data: one pass over integers of 8 bytes, none for other types.
    pub(crate) fn of(subject: &PlotData<'_>, range: Range) -> Result<Self> {
        let scalar = subject.scalar()?;
        if !is_long(&scalar) {
            return Ok(Self::default());
        }
        if let Range::Fixed(low, _) = range {
            return Ok(Self { base: low.base(), is_long: true, extremes: None });
        }
        if let Some(element) = subject.repeated()? {
            let stored = Stored { bytes: &element, mask: &[] };
            return Ok(Self::between(extremes(&scalar, stored)));
        }
        let mut found = None;
        let order = subject.container.require(subject.index)?.order;
        subject.bytes(
            order,
            PIECE,
            |_, _, stored| extremes(&scalar, stored),
            |more| {
                found = wider(found, more);
                Ok(())
            },
        )?;
        Ok(Self::between(found))
    }

    /// For integers of 8 bytes with these extremes.
    pub(crate) fn between(extremes: Option<(i128, i128)>) -> Self {
        let extremes = extremes.filter(|(low, high)| is_beyond_f64(*low) || is_beyond_f64(*high));
        let base = extremes.map_or(0, |(low, _)| if is_beyond_f64(low) { low } else { 0 });
        Self { base, is_long: true, extremes }
    }

    /// The ends of a range, of values that are counted from the base.
    pub(crate) fn bounds(&self, range: Range, ends: (f64, f64)) -> (Bound, Bound) {
        match range {
            Range::Fixed(low, high) => (low, high),
            _ => (self.bound(ends.0), self.bound(ends.1)),
        }
    }

    fn bound(&self, beyond: f64) -> Bound {
        let (low, high) = self.extremes.unzip();
        // Far from the base, a double may represent the greatest integer.
        let same = |extreme: &i128| (*extreme - self.base) as f64 == beyond;
        match low.filter(same).or(high.filter(same)) {
            Some(extreme) => Bound::integer(extreme),
            None => Bound::at(self.base, beyond),
        }
    }

    /// True where a picture with these ends as its range counts from the same integer.
    pub(crate) fn is_settled(&self, (low, _): (Bound, Bound)) -> bool {
        !self.is_long || low.base() == self.base
    }
}
