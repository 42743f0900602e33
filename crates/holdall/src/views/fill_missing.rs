//! A view that gives missing elements values, for formats without masks.

use std::borrow::Cow;
use std::collections::HashMap;

use container_core::array::Array;
use container_core::container::{About, Container, Dataset, Interchange, ReadOptions, View, require};
use container_core::dtype::{ByteOrder, DType, Kind, Scalar};
use container_core::interchange::form_of;
use container_core::mask::{Hidden, places, scalars};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Result, Value};

use crate::csv::element;

/// Most bytes of masks that are read at once.
const PIECE: u64 = 1 << 20;

/// The view: missing floating-point numbers are NaN, missing dates NaT, other missing elements have their stored value; or all have one given
/// value. It has no masks itself.
pub struct Filled<'a> {
    inner: &'a dyn Container,
    fill: Option<&'a str>,
    /// The datasets with missing elements, by index.
    masked: HashMap<usize, Masked>,
}

/// The parts of a dataset that are filled.
struct Masked {
    path: String,
    dtype: DType,
    /// Number of elements with a missing scalar, and of all elements, in the selected regions.
    missing: u64,
    total: u64,
    /// The requested value in the type of each scalar that can be missing.
    fills: HashMap<Scalar, Vec<u8>>,
    /// Whether a type that keeps the stored value, and whether another type, has a missing scalar.
    is_kept: bool,
    is_filled: bool,
}

impl<'a> Filled<'a> {
    /// The view of `inner` for the datasets of `selection`; `None` where none of their elements is missing.
    ///
    /// # Errors
    /// As [`Filled::add`].
    pub fn new(
        inner: &'a dyn Container,
        selection: &[(usize, Region)],
        fill: Option<&'a str>,
        read: &ReadOptions,
    ) -> Result<Option<Self>> {
        let mut filled = Self::of(inner, fill);
        selection.iter().try_for_each(|(index, region)| filled.add(*index, region, read))?;
        Ok((!filled.masked.is_empty()).then_some(filled))
    }

    /// The view of `inner` before any dataset is filled. `fill` is the value of missing elements, as a cell of CSV.
    #[must_use]
    pub fn of(inner: &'a dyn Container, fill: Option<&'a str>) -> Self {
        Self { inner, fill, masked: HashMap::new() }
    }

    /// Fills the missing elements of a dataset. Its mask is read for `region`.
    ///
    /// # Errors
    /// `Usage` for a fill value that a type with missing elements does not hold; those of [`Container::mask`].
    pub fn add(&mut self, index: usize, region: &Region, read: &ReadOptions) -> Result<()> {
        if !self.inner.has_mask(index, read)? {
            return Ok(());
        }
        let seen = missing_of(self.inner, index, region, read)?;
        if seen.count > 0 {
            let new = Masked::new(&*self.inner.require(index)?, region, &seen, self.fill)?;
            self.masked.entry(index).and_modify(|known| known.add(&new)).or_insert(new);
        }
        Ok(())
    }

    /// The masks as losses: one for each dataset with missing elements.
    #[must_use]
    pub fn losses(&self) -> Vec<Loss> {
        let mut datasets: Vec<&Masked> = self.masked.values().collect();
        datasets.sort_by(|one, other| one.path.cmp(&other.path));
        datasets.into_iter().map(|masked| masked.loss(self.fill)).collect()
    }
}

/// The missing elements of a region.
struct Seen {
    count: u64,
    /// For each scalar, whether any element misses it.
    any: Vec<bool>,
}

fn missing_of(container: &dyn Container, index: usize, region: &Region, read: &ReadOptions) -> Result<Seen> {
    let dataset = container.require(index)?;
    let each = scalars(&dataset.dtype);
    let mut seen = Seen { count: 0, any: vec![false; each] };
    let most = PIECE.min(read.limits.memory / 4) / (dataset.dtype.itemsize() as u64).max(each as u64).max(1);
    for piece in region.chunks(dataset.order, most.max(1)) {
        let Some(mask) = container.mask(index, &piece, read)? else { continue };
        let hidden = Hidden::new(&mask, &dataset.dtype, dataset.order, &read.limits)?;
        seen.count = seen.count.saturating_add(hidden.count());
        for element in hidden.bytes().chunks_exact(each.max(1)) {
            seen.any.iter_mut().zip(element).for_each(|(any, byte)| *any |= *byte != 0);
        }
    }
    Ok(seen)
}

impl Masked {
    fn new(dataset: &Dataset, region: &Region, seen: &Seen, fill: Option<&str>) -> Result<Self> {
        let mut fills = HashMap::new();
        let (mut is_kept, mut is_filled) = (false, false);
        for ((_, scalar), _) in places(&dataset.dtype).into_iter().zip(&seen.any).filter(|(_, any)| **any) {
            let Some(text) = fill else {
                let has_own = missing_value(scalar).is_some();
                is_filled |= has_own;
                is_kept |= !has_own;
                continue;
            };
            is_filled = true;
            if !fills.contains_key(scalar) {
                let bytes = element(text, scalar).ok_or_else(|| {
                    let dtype = DType::Scalar(scalar.clone());
                    Error::usage(format!("{}: invalid fill value {text:?} for {dtype}", dataset.path))
                })?;
                fills.insert(scalar.clone(), bytes);
            }
        }
        Ok(Self {
            path: dataset.path.clone(),
            dtype: dataset.dtype.clone(),
            missing: seen.count,
            total: region.len().unwrap_or(u64::MAX),
            fills,
            is_kept,
            is_filled,
        })
    }

    fn add(&mut self, other: &Self) {
        self.missing = self.missing.saturating_add(other.missing);
        self.total = self.total.saturating_add(other.total);
        self.fills.extend(other.fills.clone());
        self.is_kept |= other.is_kept;
        self.is_filled |= other.is_filled;
    }

    fn loss(&self, fill: Option<&str>) -> Loss {
        let Self { missing, total, .. } = self;
        let becomes = match (fill, self.is_filled, self.is_kept) {
            (Some(text), ..) => format!("each is {text}"),
            (None, true, false) => format!("each is {}", self.own_name()),
            (None, false, _) => "each has its stored value (--fill VALUE for another)".to_owned(),
            (None, true, true) => {
                format!(
                    "floats are {}, others have their stored values (--fill VALUE for another)",
                    self.own_name()
                )
            }
        };
        let verb = if *missing == 1 { "is" } else { "are" };
        let what = format!("mask: {missing} of {total} elements {verb} missing (null or masked); {becomes}");
        Loss { dataset: Some(self.path.clone()), what }
    }

    fn own_name(&self) -> &'static str {
        let is_time = |scalar: &Scalar| matches!(scalar.kind, Kind::Datetime(_) | Kind::Timedelta(_));
        match self.dtype.as_scalar() {
            Some(scalar) if is_time(scalar) => "NaT",
            _ => "NaN",
        }
    }

    /// Writes the value for a missing scalar.
    fn put(&self, scalar: &Scalar, to: &mut [u8]) {
        let bytes = self.fills.get(scalar).cloned().or_else(|| missing_value(scalar));
        if let Some(bytes) = bytes.filter(|bytes| bytes.len() == to.len()) {
            to.copy_from_slice(&bytes);
        }
    }

    /// The fill value as metadata, if it is one number: a mask that is this number hides the filled elements.
    fn number(&self, fill: Option<&str>) -> Option<Value> {
        let scalar = self.dtype.as_scalar()?;
        match fill {
            None => matches!(scalar.kind, Kind::Float | Kind::BFloat | Kind::Complex)
                .then_some(Value::Float(f64::NAN)),
            Some(text) => match text.trim().parse::<i128>() {
                Ok(whole) => Some(Value::Int(whole)),
                Err(_) => text.trim().parse().ok().map(Value::Float),
            },
        }
    }
}

/// The bytes of a missing scalar for types with such a value: NaN, NaT; NaN with an imaginary part of 0 for complex numbers, as in
/// `numpy.ma.MaskedArray.filled(nan)`.
fn missing_value(scalar: &Scalar) -> Option<Vec<u8>> {
    let nan = |size: usize| -> Option<Vec<u8>> {
        let mut little = match size {
            2 => 0x7e00_u16.to_le_bytes().to_vec(),
            4 => f32::NAN.to_le_bytes().to_vec(),
            8 => f64::NAN.to_le_bytes().to_vec(),
            _ => return None,
        };
        if scalar.order == ByteOrder::Big {
            little.reverse();
        }
        Some(little)
    };
    match scalar.kind {
        Kind::Float => nan(scalar.size),
        Kind::BFloat => {
            let bits = 0x7fc0_u16;
            Some(
                if scalar.order == ByteOrder::Big { bits.to_be_bytes() } else { bits.to_le_bytes() }.to_vec(),
            )
        }
        Kind::Complex => {
            let mut both = nan(scalar.size / 2)?;
            both.resize(scalar.size, 0);
            Some(both)
        }
        Kind::Datetime(_) | Kind::Timedelta(_) if scalar.size == 8 => {
            let least = i64::MIN;
            Some(
                if scalar.order == ByteOrder::Big { least.to_be_bytes() } else { least.to_le_bytes() }
                    .to_vec(),
            )
        }
        _ => None,
    }
}

impl Container for Filled<'_> {
    fn about(&self) -> About {
        self.inner.about()
    }

    fn meta(&self) -> Result<Value> {
        self.inner.meta()
    }

    fn logical_meta(&self) -> Result<Value> {
        self.inner.logical_meta()
    }

    fn absence(&self, index: usize, region: &Region) -> Option<Error> {
        self.inner.absence(index, region)
    }

    fn datasets(&self) -> &[Dataset] {
        self.inner.datasets()
    }

    fn dataset_count(&self) -> usize {
        self.inner.dataset_count()
    }

    fn listed_count(&self) -> usize {
        self.inner.listed_count()
    }

    fn dataset(&self, index: usize) -> Option<Cow<'_, Dataset>> {
        self.inner.dataset(index)
    }

    fn find(&self, path: &str) -> Option<usize> {
        self.inner.find(path)
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let array = self.inner.read(index, region, options)?;
        let Some(masked) = self.masked.get(&index) else { return Ok(array) };
        let Some(mask) = self.inner.mask(index, region, options)? else { return Ok(array) };
        let order = require(self, index)?.order;
        let hidden = Hidden::new(&mask, &masked.dtype, order, &options.limits)?;
        if !hidden.any() {
            return Ok(array);
        }
        let (dtype, shape) = (array.dtype().clone(), array.shape().to_vec());
        let mut bytes = array.bytes(order, &options.limits)?.into_owned();
        hidden.fill(&dtype, &mut bytes, &|scalar, part| masked.put(scalar, part));
        Array::new(dtype, shape, order, Cow::Owned(bytes))
    }

    fn repeated(&self, index: usize, region: &Region) -> Option<Vec<u8>> {
        if self.masked.contains_key(&index) { None } else { self.inner.repeated(index, region) }
    }

    fn check_readable(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<()> {
        self.inner.check_readable(index, region, options)?;
        if self.masked.contains_key(&index) {
            return container_core::chunked_read::check_furthest_readable(self, index, region, options);
        }
        Ok(())
    }

    fn mask(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Option<Array<'static>>> {
        if self.masked.contains_key(&index) { Ok(None) } else { self.inner.mask(index, region, options) }
    }
}

impl View for Filled<'_> {
    fn inner(&self) -> &dyn Container {
        self.inner
    }
}

impl Interchange for Filled<'_> {
    fn left_out(&self, index: usize) -> Vec<Loss> {
        self.inner.left_out(index)
    }

    fn records_dtype(&self, index: usize) -> Option<bool> {
        self.inner.records_dtype(index)
    }

    fn has_frame_axis(&self, dataset: &Dataset) -> bool {
        self.inner.has_frame_axis(dataset)
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = self.inner.losses();
        // [`Filled::losses`] reports the mask itself.
        losses.retain(|loss| {
            let is_masked = |path: &str| self.masked.values().any(|masked| masked.path == path);
            !(loss.dataset.as_deref().is_some_and(is_masked) && loss.what.starts_with("mask "))
        });
        losses
    }

    fn export_metadata(&self, selection: &[(usize, Region)]) -> Result<Value> {
        let mut tree = self.inner.export_metadata(selection)?;
        for masked in self.masked.values() {
            if let Some(number) = masked.number(self.fill) {
                set_mask(&mut tree, &masked.path, &number);
            }
        }
        Ok(tree)
    }

    fn unexported_metadata(&self, selection: &[(usize, Region)]) -> Vec<Loss> {
        self.inner.unexported_metadata(selection)
    }
}

/// Replaces the number that masks the array of a path in carried metadata.
fn set_mask(value: &mut Value, path: &str, number: &Value) {
    let is_place = |value: &Value| match form_of(value) {
        Some(("array", array)) => matches!(array.get("path"), Some(Value::Text(own)) if own == path),
        _ => false,
    };
    let here = is_place(value);
    match value {
        Value::Map(entries) if here => {
            let more = entries.iter_mut().find_map(|(_, array)| match array {
                Value::Map(array) => array.iter_mut().find(|(key, _)| key == "more").map(|(_, more)| more),
                _ => None,
            });
            if let Some(Value::Map(more)) = more
                && let Some((_, mask)) = more.iter_mut().find(|(key, _)| key == "mask")
                && matches!(mask, Value::Int(_) | Value::Float(_))
            {
                *mask = number.clone();
            }
        }
        Value::Map(entries) => entries.iter_mut().for_each(|(_, value)| set_mask(value, path, number)),
        Value::List(items) => items.iter_mut().for_each(|value| set_mask(value, path, number)),
        _ => {}
    }
}
