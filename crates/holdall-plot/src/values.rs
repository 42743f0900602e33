//! Choice and reading of the values to draw.

use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::{Kind, Order, Scalar};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::threads::in_order;
use container_core::to_f64::{ComplexPart, is_number};
use container_core::{Error, Progress, Result, Value};

use crate::integer_base::beyond;

/// The data of a picture: a part of a dataset.
#[derive(Clone, Copy)]
pub struct PlotData<'a> {
    /// The file.
    pub container: &'a dyn Container,
    /// The dataset.
    pub index: usize,
    /// The part of it.
    pub region: &'a Region,
    /// Name in the title.
    pub name: &'a str,
    /// Part of complex numbers that is drawn.
    pub part: ComplexPart,
    /// Options for reading it.
    pub read: &'a ReadOptions,
    /// Callback for progress.
    pub progress: Progress<'a>,
}

impl PlotData<'_> {
    /// The axes that the region keeps, each with its number in the dataset.
    pub(crate) fn kept_axes(&self) -> Vec<(usize, AxisSelection)> {
        let axes = self.region.axes().iter().copied().enumerate();
        axes.filter(|(_, axis)| axis.kept == Kept::Yes).collect()
    }

    /// The scalar type of the elements.
    pub(crate) fn scalar(&self) -> Result<Scalar> {
        let dataset = self.container.require(self.index)?;
        let refused = |why: String| {
            Error::usage(format!("{} cannot be drawn: {why}", dataset.path)).with_hint(
                "a dataset of booleans, integers, floating-point or complex numbers or times, or a field of records; holdall ls lists them",
            )
        };
        match dataset.dtype.as_scalar() {
            Some(scalar) if is_number(scalar) => Ok(scalar.clone()),
            Some(Scalar { kind: Kind::Int | Kind::Uint | Kind::Float | Kind::Complex, .. }) => {
                Err(refused(format!("its elements are {}, which are too long to draw", dataset.dtype)))
            }
            Some(_) => Err(refused(format!("its elements are {}, not numbers", dataset.dtype))),
            None => Err(refused("its elements are records".into())),
        }
    }

    /// Whether the file marks some elements as missing.
    pub(crate) fn has_mask(&self) -> Result<bool> {
        self.container.has_mask(self.index, self.read)
    }

    /// The bytes of the one element that all repeat, where the file states that at once: terabytes of zeros need not be read.
    pub(crate) fn repeated(&self) -> Result<Option<Vec<u8>>> {
        if self.has_mask()? {
            return Ok(None);
        }
        Ok(self.container.repeated(self.index, self.region))
    }

    /// The value of [`PlotData::repeated`], relative to `base`.
    pub(crate) fn same(&self, base: i128) -> Result<Option<f64>> {
        let Some(element) = self.repeated()? else { return Ok(None) };
        let mut values = Vec::new();
        beyond(&self.scalar()?, &element, self.part, base, &mut values);
        Ok(values.first().copied())
    }

    /// Every value in C order, relative to `base`.
    pub(crate) fn all(&self, base: i128) -> Result<Vec<f64>> {
        let scalar = self.scalar()?;
        let array = self.container.read(self.index, self.region, self.read)?;
        self.read.limits.allocate(array.len().saturating_mul(8))?;
        let mut values = Vec::new();
        beyond(&scalar, &array.bytes(Order::C, &self.read.limits)?, self.part, base, &mut values);
        if let Some(mask) = self.container.mask(self.index, self.region, self.read)? {
            hide(&mut values, &mask.bytes(Order::C, &self.read.limits)?);
        }
        Ok(values)
    }

    /// As [`PlotData::bytes`], with values relative to `base`.
    pub(crate) fn pieces<T: Send>(
        &self,
        base: i128,
        order: Order,
        most: u64,
        work: impl Fn(u64, &Region, &[f64]) -> T + Sync,
        place: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let scalar = self.scalar()?;
        let of_values = |start, piece: &Region, stored: Stored<'_>| {
            let mut values = Vec::with_capacity(stored.bytes.len() / scalar.size);
            beyond(&scalar, stored.bytes, self.part, base, &mut values);
            hide(&mut values, stored.mask);
            work(start, piece, &values)
        };
        self.bytes(order, most, of_values, place)
    }

    /// Passes pieces of `most` bytes, in the order in which `order` stores the region, through `work` on several threads, and the results to
    /// `place` in their order. `work` receives the number of elements before the piece.
    pub(crate) fn bytes<T: Send>(
        &self,
        order: Order,
        most: u64,
        work: impl Fn(u64, &Region, Stored<'_>) -> T + Sync,
        mut place: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let scalar = self.scalar()?;
        let size = scalar.size as u64;
        let total = self.region.len().unwrap_or(u64::MAX).saturating_mul(size);
        let most = most.min(self.read.limits.memory / 16) / size;
        let mut pieces = self.region.chunks(order, most.max(1));
        let (mut before, mut done) = (0_u64, 0_u64);
        let one = self.read.with_threads(1);
        in_order(
            self.read.threads,
            || {
                Ok(pieces.next().map(|piece| {
                    let start = before;
                    before = before.saturating_add(piece.len().unwrap_or(0));
                    (start, piece)
                }))
            },
            |(start, piece)| {
                let array = self.container.read(self.index, &piece, &one)?;
                let bytes = array.bytes(order, &self.read.limits)?;
                let mask = self.container.mask(self.index, &piece, &one)?;
                let mask = mask.as_ref().map(|mask| mask.bytes(order, &self.read.limits)).transpose()?;
                let stored = Stored { bytes: &bytes, mask: mask.as_deref().unwrap_or_default() };
                Ok((work(start, &piece, stored), bytes.len() as u64))
            },
            |(made, len)| {
                done = done.saturating_add(len);
                self.progress.tick(done, total)?;
                place(made)
            },
        )
    }
}

/// Elements as they are stored.
#[derive(Clone, Copy)]
pub(crate) struct Stored<'b> {
    pub(crate) bytes: &'b [u8],
    /// A byte for each element, not 0 for a missing one; empty if none is missing.
    pub(crate) mask: &'b [u8],
}

/// Missing values are drawn as NaN is.
fn hide(values: &mut [f64], mask: &[u8]) {
    let masked = values.iter_mut().zip(mask).filter(|(_, masked)| **masked != 0);
    masked.for_each(|(value, _)| *value = f64::NAN);
}

/// Bytes of a piece that is read at once.
pub(crate) const PIECE: u64 = 4 << 20;

/// The region with its kept axes of more than one index cut down to `most`: each of the others at one index, that of `slice` or else the
/// middle one. Row-major data lose the leading axes, column-major data the last. Also returns the choices, as `axis=index` within the
/// region.
///
/// # Errors
/// `Usage` for an axis or index that does not exist.
pub fn sliced(
    region: &Region,
    dataset: &Dataset,
    slices: &[(usize, i64)],
    most: usize,
) -> Result<(Region, Vec<(usize, u64)>)> {
    let mut axes: Vec<AxisSelection> = region.axes().to_vec();
    let kept: Vec<usize> = (0..axes.len()).filter(|axis| axes[*axis].kept == Kept::Yes).collect();
    let mut chosen: Vec<(usize, u64)> = Vec::new();
    for (axis, index) in slices {
        let Some(place) = kept.get(*axis).and_then(|axis| axes.get(*axis)) else {
            return Err(Error::usage(format!("--slice: no axis {axis} (there are {} axes)", kept.len())));
        };
        if chosen.iter().any(|(taken, _)| taken == axis) {
            return Err(Error::usage(format!("--slice: axis {axis} is cut twice")));
        }
        let from = if *index < 0 { i128::from(*index) + i128::from(place.count) } else { (*index).into() };
        let found = u64::try_from(from).ok().filter(|found| *found < place.count);
        let outside = || {
            Error::usage(format!("--slice: index {index} is outside axis {axis} of length {}", place.count))
        };
        chosen.push((*axis, found.ok_or_else(outside)?));
    }
    let is_wide =
        |axis: usize| kept.get(axis).and_then(|at| axes.get(*at)).is_some_and(|axis| axis.count > 1);
    let mut free: Vec<usize> =
        (0..kept.len()).filter(|axis| chosen.iter().all(|(taken, _)| taken != axis)).collect();
    if dataset.order == Order::F {
        free.reverse();
    }
    // Axes of one index go first, wherever they are.
    let mut surplus = free.len().saturating_sub(most);
    for wide in [false, true] {
        for axis in free.iter().copied().filter(|axis| is_wide(*axis) == wide) {
            if surplus > 0 {
                chosen.push((
                    axis,
                    kept.get(axis).and_then(|at| axes.get(*at)).map_or(0, |axis| axis.count / 2),
                ));
                surplus -= 1;
            }
        }
    }
    chosen.sort_unstable();
    chosen.dedup_by_key(|(axis, _)| *axis);
    for (axis, index) in &chosen {
        if let Some(axis) = kept.get(*axis).and_then(|at| axes.get_mut(*at)) {
            let start = i128::from(axis.start) + i128::from(axis.step) * i128::from(*index);
            let start = u64::try_from(start).unwrap_or(0);
            *axis = AxisSelection { start, step: 1, count: 1, kept: Kept::No };
        }
    }
    Ok((Region::new(axes, &dataset.shape)?, chosen))
}

/// A region in numpy's words: `3, :, ::2`; empty for all of it.
#[must_use]
pub fn region_text(region: &Region, shape: &[u64]) -> String {
    if region.is_whole(shape) {
        return String::new();
    }
    let terms: Vec<String> = region
        .axes()
        .iter()
        .zip(shape)
        .map(|(axis, len)| match axis.kept {
            Kept::No => axis.start.to_string(),
            Kept::Yes if axis.start == 0 && axis.step == 1 && axis.count == *len => ":".into(),
            Kept::Yes if axis.count == 0 => "0:0".into(),
            Kept::Yes => {
                let end = i128::from(axis.start) + i128::from(axis.step) * i128::from(axis.count);
                let end = if end < 0 { String::new() } else { end.min((*len).into()).to_string() };
                let step = if axis.step == 1 { String::new() } else { format!(":{}", axis.step) };
                format!("{}:{end}{step}", axis.start)
            }
        })
        .collect();
    terms.join(", ")
}

/// The unit of a dataset: named by its attributes (`unit`, `units` or `BUNIT`), by an entry next to it in the tree, as quantities of ASDF have
/// it, by the metadata next to it (`meta/bunit_NAME` of JWST's data models; `meta/unit`, for floating-point numbers), or by the metadata
/// of the array of which the file consists (vlmeta of Blosc2).
#[must_use]
pub fn unit(container: &dyn Container, dataset: &Dataset) -> Option<String> {
    if let Some(unit) = named_unit(&dataset.attributes) {
        return Some(unit);
    }
    let meta = container.meta().ok()?;
    let (parent, name) = match dataset.path.rsplit_once('/') {
        Some((parent, name)) => (meta.pointer(&format!("/{parent}"))?, name),
        None => (&meta, dataset.path.as_str()),
    };
    let Value::Map(beside) = parent else { return None };
    let map = |name: &str| match beside.iter().find(|(key, _)| key == name) {
        Some((_, Value::Map(entries))) => entries.as_slice(),
        _ => &[],
    };
    let own = format!("bunit_{name}");
    let is_own = |(key, _): &&(String, Value)| *key == own;
    let of_name = map("meta").iter().find(is_own).and_then(|(_, value)| text(value));
    let is_real = dataset
        .dtype
        .as_scalar()
        .is_some_and(|scalar| matches!(scalar.kind, Kind::Float | Kind::BFloat | Kind::Complex));
    // The unit of an image is not that of its flags.
    named_unit(beside)
        .or(of_name)
        .or_else(|| named_unit(map("meta")).filter(|_| is_real))
        .or_else(|| named_unit(map("vlmeta")))
}

fn named_unit(entries: &[(String, Value)]) -> Option<String> {
    let found = entries.iter().find(|(name, _)| matches!(name.as_str(), "unit" | "units" | "BUNIT"));
    found.and_then(|(_, value)| text(value))
}

/// A text that is not blank.
fn text(value: &Value) -> Option<String> {
    match value {
        Value::Text(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use container_core::container::Visibility;
    use container_core::dtype::DType;

    fn dataset(shape: &[u64], order: Order) -> Dataset {
        Dataset {
            path: "data".into(),
            dtype: DType::parse("<f4").unwrap(),
            shape: shape.to_vec(),
            order,
            chunks: None,
            codec: "none".into(),
            stored: 0,
            logical: 0,
            attributes: vec![],
            visibility: Visibility::Always,
        }
    }

    fn cut(shape: &[u64], order: Order, slices: &[(usize, i64)]) -> String {
        let region = Region::whole(shape);
        let (region, _) = sliced(&region, &dataset(shape, order), slices, 2).unwrap();
        region_text(&region, shape)
    }

    #[test]
    fn middle_of_the_slow_axes_is_drawn_by_default() {
        assert_eq!(cut(&[5, 6, 7], Order::C, &[]), "2, :, :");
        assert_eq!(cut(&[5, 6, 7, 8], Order::F, &[]), ":, :, 3, 4");
        assert_eq!(cut(&[5, 6, 7], Order::C, &[(2, -1)]), ":, :, 6");
        assert_eq!(cut(&[5, 1, 6, 7], Order::C, &[(0, 1)]), "1, 0, :, :");
        assert_eq!(cut(&[5, 6, 1], Order::C, &[]), ":, :, 0");
        assert_eq!(cut(&[5, 6], Order::C, &[]), "");
        let region = Region::whole(&[5, 6]);
        for bad in [&[(2, 0)][..], &[(0, 5)], &[(0, -6)], &[(0, 1), (0, 2)], &[(0, 1), (1, 1), (0, 1)]] {
            assert!(sliced(&region, &dataset(&[5, 6], Order::C), bad, 2).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn a_selection_reads_as_it_was_written() {
        let shape = [10, 20];
        for text in ["2:8:3, :", "5, 0:10", ":, 19::-1"] {
            let region = Region::parse(text, &shape).unwrap();
            let again = Region::parse(&region_text(&region, &shape), &shape).unwrap();
            assert_eq!(region, again, "{text}");
        }
    }
}
