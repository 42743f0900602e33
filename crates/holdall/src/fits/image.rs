//! Elements in FITS.

use container_core::container::Dataset;
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::format::WriteRequest;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, ErrorKind, Result};
use half::f16;

use super::image_len;

/// Axes that FITS has at most.
const MAX_AXES: usize = 999;

/// An image: type and axes as FITS has them, and how its bytes are made.
pub(super) struct Image<'a> {
    pub(super) index: usize,
    pub(super) region: &'a Region,
    pub(super) bitpix: i128,
    /// `BZERO`: the offset that is added to the stored number.
    pub(super) zero: i128,
    /// Lengths, the fastest axis first.
    pub(super) axes: Vec<u64>,
    /// Bytes.
    pub(super) len: u64,
    dtype: DType,
    /// Whether elements of two bytes become singles, which can represent all their values.
    is_widened: bool,
}

impl<'a> Image<'a> {
    /// # Errors
    /// `Unsupported` for types that FITS images lack, naming formats that have them.
    pub(super) fn new(
        index: usize,
        region: &'a Region,
        dataset: &Dataset,
        job: &WriteRequest<'_>,
        losses: &mut Vec<Loss>,
    ) -> Result<Self> {
        let dtype = dataset.dtype.clone();
        let mut lose = |what: String| losses.push(Loss { dataset: Some(dataset.path.clone()), what });
        let kind = dtype.as_scalar().map(|scalar| (&scalar.kind, scalar.size));
        let (bitpix, zero) = match kind {
            Some((Kind::Uint, 1)) => (8, 0),
            Some((Kind::Int, 1)) => (8, -128),
            Some((Kind::Int, 2)) => (16, 0),
            Some((Kind::Uint, 2)) => (16, 1 << 15),
            Some((Kind::Int, 4)) => (32, 0),
            Some((Kind::Uint, 4)) => (32, 1 << 31),
            Some((Kind::Int, 8)) => (64, 0),
            Some((Kind::Uint, 8)) => (64, 1 << 63),
            Some((Kind::Float, 2 | 4) | (Kind::BFloat, 2)) => (-32, 0),
            Some((Kind::Float, 8)) => (-64, 0),
            Some((Kind::Bool, 1)) if job.options.as_bytes() => {
                lose(format!("the type {dtype}, kept as unsigned bytes"));
                (8, 0)
            }
            _ => return Err(lacks(dataset)),
        };
        let is_widened = matches!(kind, Some((Kind::Float | Kind::BFloat, 2)));
        let mut axes = region.shape();
        axes.reverse();
        if axes.len() > MAX_AXES {
            return Err(Error::unsupported(format!("{}: FITS has up to {MAX_AXES} axes", dataset.path)));
        }
        let stored = if is_widened { &DType::native(Kind::Float, 4) } else { &dtype };
        let len = image_len(stored, &axes, &dataset.path)?;
        if axes.is_empty() {
            // No axis would be no data.
            lose("the shape without axes: FITS has one of length 1".into());
            axes.push(1);
        }
        Ok(Self { index, region, bitpix, zero, axes, len, dtype, is_widened })
    }

    /// Makes of elements as they are stored those of FITS.
    ///
    /// # Errors
    /// As [`DType::swap_to`].
    pub(super) fn encode(&self, items: &mut Vec<u8>) -> Result<()> {
        if self.is_widened {
            let singles = widened(&self.dtype, items).into_iter().flat_map(f32::to_be_bytes);
            *items = singles.collect();
            return Ok(());
        }
        self.dtype.swap_to(ByteOrder::Big, items)?;
        if self.zero != 0 {
            // Half the range less, or more: the highest bit, in the first byte, is the other one.
            items.iter_mut().step_by(self.dtype.itemsize().max(1)).for_each(|byte| *byte ^= 0x80);
        }
        Ok(())
    }
}

/// Numbers of two bytes as singles.
fn widened(dtype: &DType, items: &[u8]) -> Vec<f32> {
    let scalar = dtype.as_scalar();
    let is_big = scalar.is_some_and(|scalar| scalar.order == ByteOrder::Big);
    let is_half = scalar.is_some_and(|scalar| scalar.kind == Kind::Float);
    let (items, _) = items.as_chunks::<2>();
    let bits =
        items.iter().map(|item| if is_big { u16::from_be_bytes(*item) } else { u16::from_le_bytes(*item) });
    bits.map(
        |bits| if is_half { f16::from_bits(bits).to_f32() } else { f32::from_bits(u32::from(bits) << 16) },
    )
    .collect()
}

/// Whether FITS images lack the type of a dataset's elements.
pub(super) fn is_lacking(dataset: &Dataset, region: &Region, job: &WriteRequest<'_>) -> bool {
    match Image::new(0, region, dataset, job, &mut Vec::new()) {
        Err(error) => matches!(error.kind(), ErrorKind::Unsupported(_)),
        Ok(_) => false,
    }
}

fn lacks(dataset: &Dataset) -> Error {
    let error =
        Error::unsupported(format!("{}: FITS images have no elements of {}", dataset.path, dataset.dtype));
    let is_bool = dataset.dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Bool);
    error.with_hint(if is_bool {
        "--as-bytes writes 0 and 1; or another format, such as .asdf or .npy"
    } else {
        "another format, such as .asdf or .npy"
    })
}
