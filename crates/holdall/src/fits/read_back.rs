//! The images of a file that was just written, for a comparison with their source; it does not read other files.

use std::borrow::Cow;
use std::collections::HashMap;

use container_core::array::{Array, StoredArray};
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, ReadOptions, Segment, Visibility,
};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use container_core::report::{BlockCounts, Report};
use container_core::source::Source;
use container_core::{Error, Progress, Result, Value};

use super::BLOCK;
use super::cards::WIDTH;

/// Images, called as the datasets that they were made from.
pub(crate) struct Written {
    source: Box<dyn Source>,
    datasets: Vec<Dataset>,
    images: Vec<Image>,
}

struct Image {
    stored: StoredArray,
    /// Half the range is to be added, or taken off: the highest bit is the other one.
    is_shifted: bool,
}

impl Written {
    /// Looks through the headers of `source`; `made_from` has the path and the number of axes of each dataset, in order.
    ///
    /// # Errors
    /// `Malformed` where there are other images than those, or headers that no image has; those of the source.
    pub(crate) fn open(source: Box<dyn Source>, made_from: &[(String, usize)]) -> Result<Self> {
        let (mut datasets, mut images) = (Vec::new(), Vec::new());
        let mut names = made_from.iter();
        let mut at = 0;
        while at < source.len() {
            let (cards, end) = cards(&*source, at)?;
            at = end;
            let Some(mut image) = image(&cards, end)? else { continue };
            let range = image.stored.range()?;
            let unnamed = || Error::malformed("more images than datasets").with_range(range.clone());
            let (path, axes) = names.next().ok_or_else(unnamed)?;
            if *axes == 0 && image.stored.shape == [1] {
                // FITS lacks arrays without axes.
                image.stored.shape.clear();
            }
            let len = range.end.saturating_sub(range.start);
            at = range.start.saturating_add(len.next_multiple_of(BLOCK));
            datasets.push(Dataset {
                path: path.clone(),
                dtype: image.stored.dtype.clone(),
                shape: image.stored.shape.clone(),
                order: Order::C,
                chunks: None,
                codec: "none".into(),
                stored: len,
                logical: len,
                attributes: Vec::new(),
                visibility: Visibility::Always,
            });
            images.push(image);
        }
        if at != source.len() || names.next().is_some() {
            return Err(Error::malformed("fewer images than datasets, or the last one is cut"));
        }
        Ok(Self { source, datasets, images })
    }
}

/// The whole numbers among the cards from byte `at` on, by keyword, and the end of the blocks of the header.
fn cards(source: &dyn Source, at: u64) -> Result<(HashMap<String, i128>, u64)> {
    let mut cards = HashMap::new();
    let mut start = at;
    loop {
        let end = start.saturating_add(BLOCK);
        let block = source.read(start..end)?;
        start = end;
        for card in block.chunks_exact(WIDTH) {
            let (key, value) = card.split_at(8);
            let key = String::from_utf8_lossy(key).trim_end().to_owned();
            if key == "END" {
                return Ok((cards, start));
            }
            let number = value.strip_prefix(b"= ").and_then(|value| std::str::from_utf8(value).ok());
            if let Some(number) = number.and_then(|number| number.trim().parse().ok()) {
                cards.insert(key, number);
            }
        }
    }
}

/// Description of the data after a header; `None` without data.
fn image(cards: &HashMap<String, i128>, data_at: u64) -> Result<Option<Image>> {
    let absent = |key: &str| Error::malformed(format!("a header without {key}")).with_range(data_at..data_at);
    let card = |key: &str| cards.get(key).copied().ok_or_else(|| absent(key));
    let count = card("NAXIS")?;
    if count == 0 {
        return Ok(None);
    }
    let zero = cards.get("BZERO").copied().unwrap_or(0);
    let (dtype, is_shifted) = match (card("BITPIX")?, zero) {
        (8, 0) => ("|u1", false),
        (8, -128) => ("|i1", true),
        (16, 0) => (">i2", false),
        (16, 0x8000) => (">u2", true),
        (32, 0) => (">i4", false),
        (32, 0x8000_0000) => (">u4", true),
        (64, 0) => (">i8", false),
        (64, 0x8000_0000_0000_0000) => (">u8", true),
        (-32, 0) => (">f4", false),
        (-64, 0) => (">f8", false),
        other => return Err(Error::malformed(format!("unsupported BITPIX and BZERO {other:?}"))),
    };
    let axes = (1..=count).rev().map(|axis| {
        let key = format!("NAXIS{axis}");
        u64::try_from(card(&key)?).map_err(|_| absent(&key))
    });
    let (dtype, shape) = (DType::parse(dtype)?, axes.collect::<Result<Vec<_>>>()?);
    Ok(Some(Image { stored: StoredArray { dtype, shape, order: Order::C, data_at }, is_shifted }))
}

impl Container for Written {
    fn about(&self) -> About {
        let size = self.source.len();
        About { format: super::FORMAT.name, version: None, size, complete: true, details: Vec::new() }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(Vec::new()))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let image = self.images.get(index).ok_or_else(|| Error::usage(format!("no image {index}")))?;
        let array = image.stored.read(&self.source, region, &options.limits, options.threads)?;
        if !image.is_shifted {
            return Ok(array);
        }
        let shape = array.shape().to_vec();
        let mut bytes = array.bytes(Order::C, &options.limits)?.into_owned();
        let size = image.stored.dtype.itemsize().max(1);
        bytes.iter_mut().step_by(size).for_each(|byte| *byte ^= 0x80);
        Array::new(image.stored.dtype.clone(), shape, Order::C, Cow::Owned(bytes))
    }
}

impl FileStructure for Written {
    fn blocks(&self) -> Vec<&dyn Block> {
        Vec::new()
    }

    fn byte_map(&self) -> Vec<Segment> {
        Vec::new()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        Ok(Report::new(Vec::new(), BlockCounts::default()))
    }
}

impl Interchange for Written {}
