//! Answers of `/data`: elements as JSON, in binary, or as a file of numpy's or TIFF.

use container_core::array::byte_len;
use container_core::chunked_read::for_each_masked_chunk;
use container_core::container::{Container, ReadOptions};
use container_core::dtype::{DType, Order};
use container_core::npy::Header;
use container_core::region::{Kept, Region, element_count};
use container_core::{Error, Limits, Progress, Result};

use super::entity::{Entity, mask_type};
use super::inline::Inline;
use super::json_text::{SubArrays, write_element, write_text};
use super::safe::{Conversion, fill_missing};
use super::tiff;

/// Maximum number of bytes that are converted at once.
const BLOCK_LEN: usize = 1 << 20;

/// Bytes of a piece of JSON, from which on it is passed on.
const TEXT_LEN: usize = 1 << 20;

/// Maximum number of bytes of a piece of an answer.
const PIECE_LEN: usize = 4 << 20;

/// Maximum number of elements without bytes, and of empty lists, that are spelled out: a file may claim any number of them.
const MAX_EMPTY: u64 = 1 << 20;

/// Encoding of an answer, h5grove's `format`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Format {
    /// JSON.
    #[default]
    Json,
    /// The elements alone.
    Bin,
    /// A `.npy` file.
    Npy,
    /// A TIFF file of one plane.
    Tiff,
}

impl Format {
    /// Parses the value of the parameter.
    ///
    /// # Errors
    /// `Usage` for other words, with h5grove's message.
    pub(crate) fn parse(word: &str) -> Result<Self> {
        match word {
            "json" => Ok(Self::Json),
            "bin" => Ok(Self::Bin),
            "npy" => Ok(Self::Npy),
            "tiff" => Ok(Self::Tiff),
            _ => {
                Err(Error::usage(format!("Unsupported encoding {word}")).with_hint("json, bin, npy or tiff"))
            }
        }
    }
}

/// The elements that a call of `/data` reads, and their encoding.
#[derive(Debug)]
pub(crate) struct Wanted {
    source: Source,
    /// Lengths of the axes that the selection leaves; `None` for a null.
    shape: Option<Vec<u64>>,
    /// Type of the elements as stored.
    dtype: DType,
    encoding: Encoding,
    format: Format,
}

#[derive(Debug)]
enum Source {
    Dataset { index: usize, region: Region },
    Mask { index: usize, region: Region },
    Inline(Inline),
}

#[derive(Debug)]
enum Encoding {
    Json { flatten: bool },
    Binary { header: Vec<u8>, conversion: Conversion },
}

impl Wanted {
    /// # Errors
    /// As [`Entities::data`](super::Entities::data).
    pub(super) fn new(
        container: &dyn Container,
        entity: Entity,
        selection: Option<&str>,
        (format, flatten, safe): (Format, bool, bool),
    ) -> Result<Self> {
        let (source, shape, dtype) = match entity {
            Entity::Group(_) | Entity::Unresolved(_) | Entity::Described { .. } => {
                return Err(Error::usage("not a dataset"));
            }
            Entity::Dataset { index, part, .. } => {
                let dataset = container.require(index)?;
                let region = narrowed(&part.region(&dataset.shape)?, selection, &dataset.shape)?;
                let shape = region.shape();
                (Source::Dataset { index, region }, Some(shape), dataset.dtype.clone())
            }
            Entity::Mask { index } => {
                let dataset = container.require(index)?;
                let region = narrowed(&Region::whole(&dataset.shape), selection, &dataset.shape)?;
                let (shape, dtype) = (region.shape(), mask_type(container, index, &dataset));
                (Source::Mask { index, region }, Some(shape), dtype)
            }
            Entity::Value(value, _) => {
                let whole = value.shape().map(<[u64]>::to_vec);
                let value = match (&whole, selection) {
                    (Some(shape), Some(text)) => {
                        value.select(&Region::parse(text, shape)?, &Limits::default())?
                    }
                    _ => value,
                };
                let shape = value.shape().map(<[u64]>::to_vec);
                let dtype = match &value {
                    Inline::Fixed { dtype, .. } => dtype.clone(),
                    Inline::Null | Inline::Texts { .. } => DType::void(0),
                };
                (Source::Inline(value), shape, dtype)
            }
        };
        let is_fixed = !matches!(source, Source::Inline(Inline::Null | Inline::Texts { .. }));
        if format != Format::Json && !is_fixed {
            return Err(Error::usage("Unsupported encoding for non-numeric content").with_hint("format=json"));
        }
        let of = shape.as_deref().unwrap_or_default();
        let stored = || match () {
            () if safe => Conversion::safe(&dtype),
            () if of.is_empty() => Ok(Conversion::scalar(&dtype)),
            () => Ok(Conversion::none(&dtype)),
        };
        let encoding = match format {
            Format::Json => Encoding::Json { flatten },
            Format::Bin => Encoding::Binary { header: Vec::new(), conversion: stored()? },
            Format::Npy => {
                // numpy lacks bfloat16.
                let conversion = if dtype.has_bfloat() { Conversion::safe(&dtype)? } else { stored()? };
                Encoding::Binary { header: Header::to_bytes(conversion.dtype(), of, Order::C)?, conversion }
            }
            Format::Tiff => {
                let conversion = Conversion::safe(&dtype)?;
                Encoding::Binary { header: tiff::header(conversion.dtype(), of)?, conversion }
            }
        };
        Ok(Self { source, shape, dtype, encoding, format })
    }

    /// Bytes of the answer, where they follow from the shape; `None` for JSON, and beyond 2^64.
    pub(crate) fn len(&self) -> Option<u64> {
        match &self.encoding {
            Encoding::Json { .. } => None,
            Encoding::Binary { header, conversion } => {
                let elements = byte_len(conversion.dtype(), self.shape.as_deref().unwrap_or_default())?;
                elements.checked_add(u64::try_from(header.len()).ok()?)
            }
        }
    }

    /// Bytes of the elements as stored, by which the length of JSON can be judged: `u64::MAX` beyond 2^64.
    pub(crate) fn stored_len(&self) -> u64 {
        let shape = self.shape.as_deref().unwrap_or_default();
        byte_len(&self.dtype, shape).unwrap_or(u64::MAX)
    }

    /// The `Content-Type` of the answer.
    pub(crate) const fn content_type(&self) -> &'static str {
        match self.format {
            Format::Json => "application/json",
            Format::Bin | Format::Npy => "application/octet-stream",
            Format::Tiff => "image/tiff",
        }
    }

    /// The name of the file that a browser saves an export under.
    pub(crate) const fn file_name(&self) -> Option<&'static str> {
        match self.format {
            Format::Json | Format::Bin => None,
            Format::Npy => Some("data.npy"),
            Format::Tiff => Some("data.tiff"),
        }
    }

    /// Passes the answer to `out` in pieces of 4 MiB at most.
    ///
    /// # Errors
    /// Those of reading, and of `out`; `Limit` for JSON of very many elements without bytes.
    pub(crate) fn write(
        &self,
        container: &dyn Container,
        read: &ReadOptions,
        out: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        match &self.encoding {
            Encoding::Json { flatten } => self.write_json(container, read, *flatten, out),
            Encoding::Binary { header, conversion } => {
                if !header.is_empty() {
                    out(header.clone())?;
                }
                self.for_each_block(container, read, &mut |block| {
                    let converted = conversion.apply(block)?;
                    pieces(converted, out)
                })
            }
        }
    }

    fn write_json(
        &self,
        container: &dyn Container,
        read: &ReadOptions,
        flatten: bool,
        out: &mut dyn FnMut(Vec<u8>) -> Result<()>,
    ) -> Result<()> {
        let Some(shape) = &self.shape else { return out(b"null".to_vec()) };
        let count = element_count(shape.iter().copied()).unwrap_or(u64::MAX);
        let flat = [count];
        let axes = if flatten && !shape.is_empty() { &flat[..] } else { shape };
        let mut text = JsonLists::new(axes);
        if count == 0 {
            text.empty()?;
            return out(text.out.into_bytes());
        }
        let dtype = &self.dtype;
        let sub_arrays = if flatten { SubArrays::Flat } else { SubArrays::Nested };
        match &self.source {
            Source::Inline(Inline::Texts { texts, .. }) => {
                for item in texts {
                    text.item(|out| write_text(item, out));
                    text.pass(out)?;
                }
            }
            // Items without bytes are in no block.
            _ if dtype.itemsize() == 0 => {
                if count > MAX_EMPTY {
                    return Err(Error::limit("elements without bytes", count, MAX_EMPTY));
                }
                self.for_each_block(container, read, &mut |_| Ok(()))?;
                for _ in 0..count {
                    text.item(|out| write_element(dtype, &[], sub_arrays, out));
                    text.pass(out)?;
                }
            }
            _ => self.for_each_block(container, read, &mut |block| {
                for item in block.chunks_exact(dtype.itemsize()) {
                    text.item(|out| write_element(dtype, item, sub_arrays, out));
                    text.pass(out)?;
                }
                Ok(())
            })?,
        }
        out(text.out.into_bytes())
    }

    /// Calls `sink` with the elements in C order, in the byte order of their type, missing floats as NaN: whole elements, about 1 MiB at a time.
    fn for_each_block(
        &self,
        container: &dyn Container,
        read: &ReadOptions,
        sink: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let size = self.dtype.itemsize().max(1);
        let items = BLOCK_LEN.checked_div(size).unwrap_or(1).max(1);
        let block_len = items.saturating_mul(size);
        match &self.source {
            Source::Inline(Inline::Fixed { bytes, .. }) => bytes.chunks(block_len).try_for_each(sink),
            Source::Inline(_) => Ok(()),
            Source::Dataset { index, region } => {
                let pass = |bytes: &[u8], hidden: Option<&container_core::mask::Hidden>| {
                    let filled = hidden.filter(|hidden| hidden.any()).map(|hidden| {
                        let mut filled = bytes.to_vec();
                        fill_missing(&self.dtype, hidden, &mut filled);
                        filled
                    });
                    filled.as_deref().unwrap_or(bytes).chunks(block_len).try_for_each(&mut *sink)
                };
                let read = read.for_region(region, &container.require(*index)?.shape);
                for_each_masked_chunk(container, *index, region, Order::C, &read, Progress::none(), pass)
            }
            Source::Mask { index, region } => {
                for piece in region.chunks(Order::C, u64::try_from(items).unwrap_or(1)) {
                    read.limits.stop.check()?;
                    match container.mask(*index, &piece, read)? {
                        Some(mask) if mask.dtype().itemsize() == self.dtype.itemsize() => {
                            sink(&mask.bytes(Order::C, &read.limits)?)?;
                        }
                        Some(mask) => {
                            return Err(Error::malformed(format!("a mask of {}", mask.dtype())));
                        }
                        None => {
                            let len = byte_len(&self.dtype, &piece.shape()).unwrap_or(u64::MAX);
                            sink(&vec![0; read.limits.allocate(len)?])?;
                        }
                    }
                }
                Ok(())
            }
        }
    }
}

/// A selection within a part of a dataset.
fn narrowed(part: &Region, selection: Option<&str>, shape: &[u64]) -> Result<Region> {
    let Some(text) = selection else { return Ok(part.clone()) };
    let chosen = Region::parse(text, &part.shape())?;
    let mut chosen = chosen.axes().iter();
    // The kept axes of a part are whole.
    let axes = part.axes().iter().map(|axis| match axis.kept {
        Kept::Yes => chosen.next().copied().unwrap_or(*axis),
        Kept::No => *axis,
    });
    Region::new(axes.collect(), shape)
}

/// Passes bytes on in pieces.
fn pieces(bytes: Vec<u8>, out: &mut dyn FnMut(Vec<u8>) -> Result<()>) -> Result<()> {
    if bytes.len() <= PIECE_LEN {
        return out(bytes);
    }
    bytes.chunks(PIECE_LEN).try_for_each(|piece| out(piece.to_vec()))
}

/// Items in nested lists, as text.
struct JsonLists {
    axes: Vec<u64>,
    /// Index of the next item.
    at: Vec<u64>,
    out: String,
}

impl JsonLists {
    fn new(axes: &[u64]) -> Self {
        Self { axes: axes.to_vec(), at: vec![0; axes.len()], out: "[".repeat(axes.len()) }
    }

    /// Appends an item with the brackets and the comma after it.
    fn item(&mut self, write: impl FnOnce(&mut String)) {
        write(&mut self.out);
        let mut ended = 0_usize;
        for (at, len) in self.at.iter_mut().zip(&self.axes).rev() {
            *at = at.saturating_add(1);
            if *at < *len {
                break;
            }
            *at = 0;
            ended = ended.saturating_add(1);
        }
        self.out.extend(std::iter::repeat_n(']', ended));
        if ended < self.axes.len() {
            self.out.push(',');
            self.out.extend(std::iter::repeat_n('[', ended));
        }
    }

    /// Passes the text on where it is long enough.
    fn pass(&mut self, out: &mut dyn FnMut(Vec<u8>) -> Result<()>) -> Result<()> {
        if self.out.len() < TEXT_LEN {
            return Ok(());
        }
        pieces(std::mem::take(&mut self.out).into_bytes(), out)
    }

    /// Replaces the text by that of an array without items: lists around empty ones.
    fn empty(&mut self) -> Result<()> {
        let outer: Vec<u64> = self.axes.iter().copied().take_while(|len| *len > 0).collect();
        let count = outer.iter().copied().fold(1, u64::saturating_mul);
        if count > MAX_EMPTY {
            return Err(Error::limit("empty lists", count, MAX_EMPTY));
        }
        let innermost = "[]".to_owned();
        self.out = outer.iter().rev().fold(innermost, |inner, len| {
            let len = usize::try_from(*len).unwrap_or(usize::MAX);
            format!("[{}]", vec![inner; len].join(","))
        });
        Ok(())
    }
}
