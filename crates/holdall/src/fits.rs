//! Writing FITS images: one dataset as the primary image, several as image extensions that are called as their paths.
//!
//! The fastest axis comes first, as FITS has it: `NAXIS1` is the last axis of an array in C order, and column-major data are transposed,
//! so that a reader such as astropy shows the axes as they are here. Numbers are big-endian; unsigned ones are stored with `BZERO`, floats of two bytes as singles.
//! Every header has `CHECKSUM` and `DATASUM`. Metadata that are scalars become cards.
//!
//! Spec: FITS standard 4.0.

use std::io::SeekFrom;

use container_core::array::byte_len;
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::Container;
use container_core::dtype::{Kind, Order};
use container_core::format::{
    CodecSpec, Format, Input, Level, Output, Support, TargetOptions, WriteRequest, WriteSeek,
};
use container_core::interchange::DEFAULT_NAME;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Error, Progress, Result};

mod cards;
mod checksum;
mod image;
mod metadata;
mod read_back;

use cards::{Card, Header};
use checksum::Sum;
use image::Image;
use read_back::Written;

/// Headers and data are whole blocks of this many bytes.
const BLOCK: u64 = 2880;

/// FITS in the table of formats, as a target alone.
pub static FORMAT: Format = Format {
    extensions: &["fits", "fit", "fts"],
    // Readers show the storage order as C.
    order: Some(Order::C),
    support: &[Support {
        version: "4.0, images",
        read: Level::No,
        write: Level::Yes,
        verify: Level::No,
        repair: Level::No,
    }],
    codecs: &[CodecSpec::NONE],
    open_written: Some(open_written),
    import: Some(import),
    representable: Some(able),
    comparable_metadata: None,
    ..Format::new(
        "fits",
        "FITS",
        |_| false,
        |_, _| Err(Error::unsupported("FITS files are written, not read")),
    )
};

/// Opens a new file, to compare it with its source.
fn open_written(input: Input, job: &WriteRequest<'_>) -> Result<Box<dyn Container>> {
    let made_from = job
        .selection
        .iter()
        .map(|(index, region)| Ok((job.container.require(*index)?.path.clone(), region.shape().len())));
    Ok(Box::new(Written::open(input.into_source()?, &made_from.collect::<Result<Vec<_>>>()?)?))
}

/// A header and the data after it.
struct Unit<'a> {
    header: Header,
    /// `None` in a primary header before extensions.
    image: Option<Image<'a>>,
}

fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options.check_options("FITS", &[TargetOptions::AS_BYTES])?;
    if let Some((word, _)) = job.options.codec.as_ref().filter(|(word, _)| word != "none") {
        return Err(Error::usage(format!("FITS images have no codec {word:?} (none)")));
    }
    let mut losses = Vec::new();
    let units = units(job, &mut losses)?;
    for unit in &units {
        if let Some(image) = &unit.image {
            check_readable(job.container, image.index, image.region, &job.read)?;
        }
    }
    let total = units.iter().map(Unit::data_len).fold(0, u64::saturating_add);
    // A full disk shows before terabytes are on it.
    out.reserve(total)?;
    let mut stream = Stream { job, total, done: 0 };
    match out.as_seek() {
        Some(out) => units.iter().try_for_each(|unit| stream.patch(unit, out))?,
        // The sum of the data precedes them, and a pipe cannot be rewound.
        None => {
            stream.total = total.saturating_mul(2);
            for unit in &units {
                let mut sum = Sum::default();
                stream.data(unit, |bytes| {
                    sum.add(bytes);
                    Ok(())
                })?;
                out.write_all(&unit.header.to_bytes(&sum))?;
                stream.data(unit, |bytes| Ok(out.write_all(bytes)?))?;
            }
        }
    }
    Ok(losses)
}

/// Indices of datasets, each with the elements of it that are selected.
type Selection = Vec<(usize, Region)>;

/// The datasets that FITS images can hold, and the others as losses. All of them where it can hold none, which is an error later.
fn able(job: &WriteRequest<'_>) -> Result<(Selection, Vec<Loss>)> {
    let (mut kept, mut losses) = (Vec::new(), Vec::new());
    for (index, region) in job.selection {
        let dataset = job.container.require(*index)?;
        if !image::is_lacking(&dataset, region, job) {
            kept.push((*index, region.clone()));
            continue;
        }
        let is_bool = dataset.dtype.as_scalar().is_some_and(|scalar| scalar.kind == Kind::Bool);
        let hint = if is_bool { " (--as-bytes writes 0 and 1)" } else { "" };
        let what = format!("the dataset: FITS images have no elements of {}{hint}", dataset.dtype);
        losses.push(Loss { dataset: Some(dataset.path.clone()), what });
    }
    if kept.is_empty() { Ok((job.selection.to_vec(), Vec::new())) } else { Ok((kept, losses)) }
}

/// The headers and data units of the file, in order.
fn units<'a>(job: &WriteRequest<'a>, losses: &mut Vec<Loss>) -> Result<Vec<Unit<'a>>> {
    let mut units = Vec::new();
    let alone = job.selection.len() == 1;
    let (entries, rest) = metadata::of_file(job)?;
    losses.extend(rest);
    if !alone {
        let mut header = Header::default();
        header.push(Card::logical("SIMPLE", true));
        header.push(Card::integer("BITPIX", 8));
        header.push(Card::integer("NAXIS", 0));
        header.push(Card::logical("EXTEND", true));
        metadata::cards(&entries, &mut header, None, losses);
        units.push(Unit { header, image: None });
    }
    for (index, region) in job.selection {
        let dataset = &*job.container.require(*index)?;
        let image = Image::new(*index, region, dataset, job, losses)?;
        let mut header = Header::default();
        header.push(if alone { Card::logical("SIMPLE", true) } else { Card::text("XTENSION", "IMAGE   ") });
        header.push(Card::integer("BITPIX", image.bitpix));
        header.push(Card::integer("NAXIS", image.axes.len() as i128));
        for (number, len) in (1..).zip(&image.axes) {
            header.push(Card::integer(&format!("NAXIS{number}"), (*len).into()));
        }
        if !alone {
            header.push(Card::integer("PCOUNT", 0));
            header.push(Card::integer("GCOUNT", 1));
        }
        if image.zero != 0 {
            header.push(Card::integer("BSCALE", 1));
            header.push(Card::integer("BZERO", image.zero));
        }
        if !alone || dataset.path != DEFAULT_NAME {
            metadata::name(&dataset.path, &mut header, losses);
        }
        if alone {
            metadata::cards(&entries, &mut header, Some(dataset), losses);
        }
        let attributes: Vec<_> = dataset.metadata().cloned().collect();
        metadata::cards(&attributes, &mut header, Some(dataset), losses);
        units.push(Unit { header, image: Some(image) });
    }
    Ok(units)
}

impl Unit<'_> {
    /// Bytes of the data without the padding of the last block.
    fn data_len(&self) -> u64 {
        self.image.as_ref().map_or(0, |image| image.len)
    }
}

/// Data being written, with their progress.
struct Stream<'j, 'a> {
    job: &'j WriteRequest<'a>,
    total: u64,
    done: u64,
}

impl Stream<'_, '_> {
    /// Writes a unit; the header a second time when the sum of the data is complete.
    fn patch(&mut self, unit: &Unit<'_>, out: &mut dyn WriteSeek) -> Result<()> {
        let start = out.stream_position()?;
        out.write_all(&unit.header.to_bytes(&Sum::default()))?;
        let mut sum = Sum::default();
        self.data(unit, |bytes| {
            sum.add(bytes);
            Ok(out.write_all(bytes)?)
        })?;
        let end = out.stream_position()?;
        out.seek(SeekFrom::Start(start))?;
        out.write_all(&unit.header.to_bytes(&sum))?;
        out.seek(SeekFrom::Start(end))?;
        Ok(())
    }

    /// The bytes of the data unit, filled up to whole blocks.
    fn data(&mut self, unit: &Unit<'_>, mut sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let Some(image) = &unit.image else { return Ok(()) };
        let (before, total, progress) = (self.done, self.total, self.job.progress);
        let tick = |done: u64, _: u64| match progress.tick(before.saturating_add(done), total) {
            Ok(()) => std::ops::ControlFlow::Continue(()),
            Err(_) => std::ops::ControlFlow::Break(()),
        };
        let mut made = Vec::new();
        let (job, read) = (self.job, &self.job.read);
        for_each_chunk(
            job.container,
            image.index,
            image.region,
            Order::C,
            read,
            Progress::new(&tick),
            |run| {
                made.clear();
                made.extend_from_slice(run);
                image.encode(&mut made)?;
                sink(&made)
            },
        )?;
        self.done = before.saturating_add(image.len);
        let fill = image.len.next_multiple_of(BLOCK).saturating_sub(image.len);
        sink(&vec![0; usize::try_from(fill).unwrap_or(0)])
    }
}

/// Bytes of an image.
fn image_len(dtype: &container_core::dtype::DType, shape: &[u64], path: &str) -> Result<u64> {
    let len = byte_len(dtype, shape).filter(|len| len.checked_next_multiple_of(BLOCK).is_some());
    len.ok_or_else(|| Error::malformed(format!("{path} reaches past 2^64 bytes")))
}

#[cfg(test)]
mod tests;
