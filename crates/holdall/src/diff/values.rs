//! Comparing the elements of two datasets, piece by piece.

use std::borrow::Cow;

use container_core::array::{Array, byte_len};
use container_core::chunked_read::{check_readable, chunk_len};
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::{ByteOrder, DType, Kind, Order, Scalar};
use container_core::mask::Hidden;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::{Error, Result};
use half::f16;

use super::{DiffOptions, Retyped, first, second};
use crate::repr::{field_bytes, part, write_masked};
use crate::views::drop_frame_axis::without_frame_axis;

mod bytes;
mod close;
mod packed;

use close::Tolerance;

/// Characters of a value that a message shows.
const MAX_SHOWN: usize = 60;

/// One of the two sides of a comparison.
pub(super) struct Side<'a> {
    container: &'a dyn Container,
    index: usize,
    dataset: Cow<'a, Dataset>,
    pub(super) region: &'a Region,
}

impl<'a> Side<'a> {
    /// `None` where the index is out of range.
    pub(super) fn new(container: &'a dyn Container, index: usize, region: &'a Region) -> Option<Self> {
        Some(Self { container, index, dataset: container.dataset(index)?, region })
    }

    pub(super) fn dataset(&self) -> &Dataset {
        &self.dataset
    }

    /// The region without the axis of a single frame, where there is one.
    pub(super) fn without_frame_axis(&self) -> Option<Region> {
        without_frame_axis(self.container, self.index, self.region)
    }

    /// The same dataset, another region of it.
    pub(super) fn with_region<'b>(&'b self, region: &'b Region) -> Side<'b> {
        Side { container: self.container, index: self.index, dataset: Cow::Borrowed(&*self.dataset), region }
    }

    /// The elements of a part of the region.
    fn read(&self, piece: &Region, options: &ReadOptions) -> Result<Array<'a>> {
        let region = Region::new(within(self.region, piece)?, &self.dataset().shape)?;
        self.container.read(self.index, &region, &options.for_region(self.region, &self.dataset().shape))
    }

    /// The mask of a part of the region.
    fn mask(&self, piece: &Region, order: Order, options: &ReadOptions) -> Result<Option<Hidden>> {
        let region = Region::new(within(self.region, piece)?, &self.dataset().shape)?;
        let mask = self.container.mask(self.index, &region, options)?;
        mask.map(|mask| Hidden::new(&mask, &self.dataset().dtype, order, &options.limits)).transpose()
    }

    fn prove(&self, options: &ReadOptions) -> Result<()> {
        let options = options.for_region(self.region, &self.dataset().shape);
        check_readable(self.container, self.index, self.region, &options)
    }

    fn byte_len(&self) -> u64 {
        byte_len(&self.dataset().dtype, &self.region.shape()).unwrap_or(u64::MAX)
    }
}

/// Compares pairs of datasets, and reports progress.
pub(super) struct Ruler<'a> {
    options: &'a DiffOptions<'a>,
    tolerance: Option<Tolerance>,
    retyped: Retyped,
    done: u64,
    total: u64,
}

impl<'a> Ruler<'a> {
    pub(super) fn new(options: &'a DiffOptions<'a>, retyped: Retyped, sides: &[Side<'_>]) -> Self {
        let total = sides.iter().map(Side::byte_len).fold(0, u64::saturating_add);
        Self { options, tolerance: Tolerance::new(options.rtol, options.atol), retyped, done: 0, total }
    }

    pub(super) fn is_comparable(&self, a: &DType, b: &DType) -> bool {
        is_same_type(a, b) || (self.retyped == Retyped::Allowed && is_retyped(a, b))
    }

    /// Counts a dataset whose values are not compared.
    pub(super) fn skip(&mut self, side: &Side<'_>) -> Result<()> {
        self.tick(side.byte_len())
    }

    fn tick(&mut self, len: u64) -> Result<()> {
        self.done = self.done.saturating_add(len);
        self.options.progress.tick(self.done, self.total)
    }

    /// The difference between two datasets of one shape and comparable types; `None` if they are equal.
    pub(super) fn compare(&mut self, a: &Side<'_>, b: &Side<'_>) -> Result<Option<String>> {
        let shape = a.region.shape();
        let limits = &self.options.read.limits;
        let (order, budget) = match (a.dataset().order, b.dataset().order) {
            // Two sides, and their converted copies where types differ.
            (one, other) if one == other => (one, chunk_len(true, limits) / 2),
            _ => (Order::C, chunk_len(false, limits) / 2),
        };
        let (a_type, b_type) = (&a.dataset().dtype, &b.dataset().dtype);
        let common = Common::of(a_type, b_type);
        let itemsize = a_type.itemsize().max(b_type.itemsize()).max(1);
        let mut tally = Tally::default();
        // Errors of the files show even without elements to compare.
        a.prove(&self.options.read).map_err(first)?;
        b.prove(&self.options.read).map_err(second)?;
        if side_is_void(a_type, b_type) {
            return Ok(None);
        }
        let is_masked = a.container.has_mask(a.index, &self.options.read).map_err(first)?
            || b.container.has_mask(b.index, &self.options.read).map_err(second)?;
        for piece in Region::whole(&shape).chunks(order, budget / itemsize as u64) {
            let a_piece = a.read(&piece, &self.options.read).map_err(first)?;
            let b_piece = b.read(&piece, &self.options.read).map_err(second)?;
            let a_bytes = a_piece.bytes(order, limits).map_err(first)?;
            let b_bytes = b_piece.bytes(order, limits).map_err(second)?;
            let len = a_bytes.len() as u64;
            let masks = if is_masked {
                [
                    a.mask(&piece, order, &self.options.read).map_err(first)?,
                    b.mask(&piece, order, &self.options.read).map_err(second)?,
                ]
            } else {
                [None, None]
            };
            let [a_mask, b_mask] = masks.each_ref().map(|mask| mask.as_ref().filter(|mask| mask.any()));
            if a_type != b_type || a_bytes != b_bytes || a_mask.is_some() || b_mask.is_some() {
                let a_bytes = common.bring(a_type, a_bytes)?;
                let b_bytes = common.bring(b_type, b_bytes)?;
                // Masked elements are not values.
                let a_bytes = shown_bytes(&common.dtype, a_bytes, a_mask);
                let b_bytes = shown_bytes(&common.dtype, b_bytes, b_mask);
                if a_bytes != b_bytes || a_mask != b_mask {
                    let sides = [(&*a_bytes, a_mask), (&*b_bytes, b_mask)];
                    tally.count(&common.dtype, sides, &piece, order, self.tolerance);
                }
            }
            self.tick(len)?;
        }
        Ok(tally.into_message(&common.dtype, &shape))
    }
}

/// Elements with zeros where they are missing.
fn shown_bytes<'b>(dtype: &DType, bytes: Cow<'b, [u8]>, mask: Option<&Hidden>) -> Cow<'b, [u8]> {
    let Some(mask) = mask else { return bytes };
    let mut bytes = bytes.into_owned();
    mask.fill(dtype, &mut bytes, &|_, part| part.fill(0));
    Cow::Owned(bytes)
}

/// Whether elements of two types have the same meaning, byte order aside. Types that numpy lacks are compared by size.
fn is_same_type(a: &DType, b: &DType) -> bool {
    let (a, b) = (a.with_order(ByteOrder::Little), b.with_order(ByteOrder::Little));
    a == b || a.to_string() == b.to_string()
}

/// True where the second type replaces the first in a format that lacks it: a wider one, or its bytes.
fn is_retyped(a: &DType, b: &DType) -> bool {
    (is_narrow(a) && is_single(b))
        || (is_bool(a) && is_byte(b))
        || b.to_string() == DType::void(a.itemsize()).to_string()
        || packed::is_packed(a, b)
}

/// True for elements without bytes, of which a file may claim any number.
fn side_is_void(a: &DType, b: &DType) -> bool {
    a.itemsize() == 0 && b.itemsize() == 0
}

fn is_bfloat(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::BFloat)
}

/// A floating-point number of two bytes.
fn is_narrow(dtype: &DType) -> bool {
    let is_half = |scalar: &Scalar| scalar.kind == Kind::Float && scalar.size == 2;
    is_bfloat(dtype) || dtype.as_scalar().is_some_and(is_half)
}

fn is_bool(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Bool)
}

fn is_byte(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Uint && scalar.size == 1)
}

fn is_single(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Float && scalar.size == 4)
}

/// A part of a region, in the indices of the whole.
fn within(region: &Region, piece: &Region) -> Result<Vec<AxisSelection>> {
    let mut pieces = piece.axes().iter();
    let axes = region.axes().iter().map(|axis| {
        if axis.kept == Kept::No {
            return Ok(*axis);
        }
        let piece = pieces.next().ok_or_else(|| Error::usage("a piece of another region"))?;
        let start = i128::from(axis.start) + i128::from(axis.step) * i128::from(piece.start);
        let start = u64::try_from(start).map_err(|_| Error::usage("a piece outside its region"))?;
        Ok(AxisSelection { start, count: piece.count, ..*axis })
    });
    axes.collect()
}

/// The type in which two datasets are compared.
struct Common {
    dtype: DType,
}

impl Common {
    fn of(a: &DType, b: &DType) -> Self {
        let is_second = (is_narrow(a) && is_single(b)) || packed::is_packed(a, b);
        let dtype = if is_second { b } else { a };
        Self { dtype: dtype.with_order(ByteOrder::Little) }
    }

    fn bring<'b>(&self, from: &DType, bytes: Cow<'b, [u8]>) -> Result<Cow<'b, [u8]>> {
        if packed::is_packed(from, &self.dtype) {
            let bytes = Cow::Owned(packed::pack(from, &bytes));
            return self.bring(&from.packed(), bytes);
        }
        if let Some(scalar) = from.as_scalar()
            && is_narrow(from)
            && is_single(&self.dtype)
        {
            return Ok(Cow::Owned(widened(&bytes, scalar)));
        }
        from.little_endian(bytes)
    }
}

/// Floating-point numbers of two bytes as little-endian singles, which hold each of their values.
fn widened(run: &[u8], scalar: &Scalar) -> Vec<u8> {
    let (items, _) = run.as_chunks::<2>();
    let bits = items.iter().map(|item| match scalar.order {
        ByteOrder::Little => u16::from_le_bytes(*item),
        ByteOrder::Big => u16::from_be_bytes(*item),
    });
    if scalar.kind == Kind::BFloat {
        return bits.flat_map(|bits| (u32::from(bits) << 16).to_le_bytes()).collect();
    }
    bits.flat_map(|bits| f16::from_bits(bits).to_f32().to_le_bytes()).collect()
}

/// Number of elements that differ, and the first of them in C order.
#[derive(Default)]
struct Tally {
    differing: u64,
    first: Option<(Vec<u64>, [Element; 2])>,
}

/// Bytes of an element, and those of its mask, if it has any.
type Element = (Vec<u8>, Vec<u8>);

impl Tally {
    /// Adds a piece, which is stored in `order` in both.
    fn count(
        &mut self,
        dtype: &DType,
        [(a, a_mask), (b, b_mask)]: [(&[u8], Option<&Hidden>); 2],
        piece: &Region,
        order: Order,
        tolerance: Option<Tolerance>,
    ) {
        let size = dtype.itemsize().max(1);
        for (at, (one, other)) in a.chunks_exact(size).zip(b.chunks_exact(size)).enumerate() {
            let [one_mask, other_mask] =
                [a_mask, b_mask].map(|mask| mask.map_or(&[][..], |mask| mask.of(at)));
            let same_mask = one_mask == other_mask || is_nothing(one_mask) && is_nothing(other_mask);
            if same_mask && (one == other || is_same(dtype, one, other, tolerance)) {
                continue;
            }
            self.differing += 1;
            // In C order the first that is met is the first.
            if order == Order::C && self.first.is_some() {
                continue;
            }
            let index = index_of(at as u64, piece, order);
            if self.first.as_ref().is_none_or(|(first, _)| index < *first) {
                let element = |bytes: &[u8], mask: &[u8]| (bytes.to_vec(), mask.to_vec());
                self.first = Some((index, [element(one, one_mask), element(other, other_mask)]));
            }
        }
    }

    fn into_message(self, dtype: &DType, shape: &[u64]) -> Option<String> {
        let (index, [a, b]) = self.first?;
        let (a, b) = (shown(dtype, &a), shown(dtype, &b));
        if shape.is_empty() {
            return Some(format!("value: {a} and {b}"));
        }
        let total = shape.iter().copied().fold(1, u64::saturating_mul);
        Some(format!("values: {} of {total} differ, the first at {index:?}: {a} and {b}", self.differing))
    }
}

/// The index tuple of element `at` of a piece, counted in `order`.
fn index_of(at: u64, piece: &Region, order: Order) -> Vec<u64> {
    let mut rest = at;
    let mut index: Vec<u64> = piece.axes().iter().map(|axis| axis.start).collect();
    let mut place = |index: &mut u64, axis: &AxisSelection| {
        *index += rest % axis.count;
        rest /= axis.count;
    };
    let axes = index.iter_mut().zip(piece.axes());
    match order {
        Order::C => axes.rev().for_each(|(index, axis)| place(index, axis)),
        Order::F => axes.for_each(|(index, axis)| place(index, axis)),
    }
    index
}

/// Whether two elements, little-endian, are the same. Padding between fields is ignored.
fn is_same(dtype: &DType, a: &[u8], b: &[u8], tolerance: Option<Tolerance>) -> bool {
    let record = match dtype {
        DType::Scalar(scalar) => return a == b || tolerance.is_some_and(|within| within.holds(scalar, a, b)),
        DType::Record(record) => record,
    };
    record.fields.iter().all(|field| {
        let (a, b) = (field_bytes(field, a), field_bytes(field, b));
        if a == b {
            return true;
        }
        let count = field.shape.iter().copied().fold(1, usize::saturating_mul);
        (0..count).all(|at| is_same(&field.dtype, part(a, at, count), part(b, at, count), tolerance))
    })
}

fn is_nothing(mask: &[u8]) -> bool {
    mask.iter().all(|byte| *byte == 0)
}

fn shown(dtype: &DType, (item, mask): &Element) -> String {
    let mut text = String::new();
    write_masked(dtype, item, mask, &mut text);
    if let Some((end, _)) = text.char_indices().nth(MAX_SHOWN) {
        text.truncate(end);
        text.push('…');
    }
    text
}
