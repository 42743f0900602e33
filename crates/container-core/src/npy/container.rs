//! [`Container`] for `.npy` files, and export of datasets of any container as `.npy` files.

use std::ops::Range;

use super::{Header, MAGIC, Writer};
use crate::array::{Array, StoredArray};
use crate::block::Block;
use crate::chunked_read::{check_readable, for_each_chunk};
use crate::container::{
    About, Axes, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions,
    Segment, Visibility,
};
use crate::dtype::{ByteOrder, DType, Field, Kind, Order, Record, Scalar};
use crate::format::{CodecSpec, Format, Input, Level, Output, Probe, Support, WriteRequest};
use crate::interchange::DEFAULT_NAME;
use crate::region::Region;
use crate::report::{BlockCounts, Loss, Report};
use crate::source::Source;
use crate::{Limits, Progress, Result, Value};

/// `.npy` in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["npy"],
    support: &[Support {
        version: "1.0, 2.0, 3.0",
        read: Level::Yes,
        write: Level::Yes,
        verify: Level::No,
        repair: Level::No,
    }],
    magics: &[MAGIC],
    opens_by_head: true,
    codecs: &[CodecSpec::NONE],
    import: Some(import),
    comparable_metadata: None,
    ..Format::new(
        "npy",
        "npy",
        |probe: &Probe<'_>| probe.head.starts_with(MAGIC),
        |input: Input, options: &OpenOptions| Ok(Box::new(Npy::new(input.into_source()?, options)?)),
    )
};

/// Treatment of bfloat16, which numpy lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Bfloat {
    /// Widened to `<f4`, exactly.
    #[default]
    Widened,
    /// Its bits, as `<u2`.
    Bits,
}

struct Npy {
    source: Box<dyn Source>,
    header: Header,
    limits: Limits,
    dataset: [Dataset; 1],
    elements: Elements,
}

/// The elements, as a block.
struct Elements {
    data_at: u64,
    len: u64,
}

impl Block for Elements {
    fn range(&self) -> Range<u64> {
        // The header checked that this does not overflow.
        self.data_at..self.data_at.saturating_add(self.len)
    }

    fn decoded_len(&self) -> u64 {
        self.len
    }

    fn codec(&self) -> Option<&str> {
        None
    }
}

impl Npy {
    fn new(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let header = Header::read(&source, &options.limits)?;
        let mut shape = header.shape.clone();
        let mut order = header.order;
        if options.axes == Axes::Reversed && order == Order::F {
            shape.reverse();
            order = Order::C;
        }
        let dataset = Dataset {
            path: DEFAULT_NAME.into(),
            dtype: header.dtype.clone(),
            shape,
            order,
            chunks: None,
            codec: "none".into(),
            stored: header.data_len,
            logical: header.data_len,
            attributes: Vec::new(),
            visibility: Visibility::Always,
        };
        let elements = Elements { data_at: header.data_at, len: header.data_len };
        Ok(Self { source, header, limits: options.limits, dataset: [dataset], elements })
    }
}

impl Container for Npy {
    fn about(&self) -> About {
        let (major, minor) = self.header.version;
        About {
            format: FORMAT.name,
            version: Some(format!("{major}.{minor}")),
            size: self.source.len(),
            // A file that is not does not open.
            complete: true,
            details: Vec::new(),
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(Vec::new()))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.dataset
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = self.dataset.get(index).ok_or_else(|| crate::Error::usage("no such dataset"))?;
        let stored = StoredArray {
            dtype: dataset.dtype.clone(),
            shape: dataset.shape.clone(),
            order: dataset.order,
            data_at: self.header.data_at,
        };
        stored.read(&self.source, region, &self.limits.with_stop(options.limits.stop), options.threads)
    }
}

impl FileStructure for Npy {
    fn blocks(&self) -> Vec<&dyn Block> {
        vec![&self.elements]
    }

    fn byte_map(&self) -> Vec<Segment> {
        let len = self.source.len();
        let end = self.elements.range().end.min(len);
        let data_at = self.header.data_at.min(end);
        let ranges = [(0..data_at, "header"), (data_at..end, "data"), (end..len, "trailer")];
        let segments = ranges.into_iter().filter(|(range, _)| !range.is_empty());
        let segment = |(range, role): (Range<u64>, &str)| {
            let block = (role == "data").then_some(self.elements.len);
            Segment {
                range,
                role: role.into(),
                codec: block.map(|_| "none".into()),
                stored: block,
                decoded: block,
                dataset: block.map(|_| DEFAULT_NAME.into()),
                ..Segment::default()
            }
        };
        segments.map(segment).collect()
    }

    fn check(&self, _depth: CheckDepth, _options: &ReadOptions, _progress: Progress<'_>) -> Result<Report> {
        // All faults of a `.npy` file already fail at opening.
        let blocks = BlockCounts { total: 1, ..BlockCounts::default() };
        Ok(Report::new(Vec::new(), blocks))
    }
}

impl Interchange for Npy {}

/// Writes the one selected dataset: same shape, values, order and, as far as numpy has it, type.
fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options.check_options("npy", &[])?;
    job.options.codec("npy", FORMAT.codecs)?;
    if job.options.axes == Axes::Reversed {
        let problem = "npy stores both axis orders: reversed axes are not needed";
        return Err(
            crate::Error::usage(problem).with_hint("reverse the axes of the source when it is opened")
        );
    }
    let (index, region) = job.single()?;
    let mut losses = export(job.container, index, region, Bfloat::Widened, &job.read, job.progress, out)?;
    losses.extend(job.container.losses());
    for loss in job.container.unexported_metadata(job.selection) {
        if !losses.contains(&loss) {
            losses.push(loss);
        }
    }
    Ok(losses)
}

/// Writes `region` of a dataset as a `.npy` file and returns which types numpy lacks. Memory is bounded by a piece.
///
/// Byte order and order of storage are kept. Types that are opaque only to numpy (128-bit integers, complex32) are written little-endian,
/// because the file cannot record their order.
///
/// # Errors
/// Those of reading the dataset; `Unsupported` for types that numpy cannot describe; `Io`.
pub fn export(
    container: &dyn Container,
    index: usize,
    region: &Region,
    bfloat: Bfloat,
    read: &ReadOptions,
    progress: Progress<'_>,
    out: &mut (impl Output + ?Sized),
) -> Result<Vec<Loss>> {
    let dataset = &*container.require(index)?;
    let (stored, order) = (&dataset.dtype, dataset.order);
    let (written, change) = numpy_type(stored, bfloat)?;
    let shape = region.shape();
    let len = crate::array::byte_len(&written, &shape).unwrap_or(0);
    // A truncated file must not cause an allocation or output of its claimed size.
    check_readable(container, index, region, read)?;
    out.reserve(len)?;
    let mut file = Writer::new(&mut *out, &written, &shape, order)?;
    let mut scratch = Vec::new();
    for_each_chunk(container, index, region, order, read, progress, |run| match change {
        Change::None => file.write(run),
        Change::Widen(byte_order) => file.write(&widened(run, byte_order)),
        Change::Swap => {
            scratch.clear();
            scratch.extend_from_slice(run);
            stored.swap_to(ByteOrder::Little, &mut scratch)?;
            file.write(&scratch)
        }
    })?;
    file.finish()?;
    let what = match change {
        Change::Widen(_) => Some("bfloat16 is widened to float32".to_owned()),
        _ if !is_known(stored) => Some(format!("numpy has no type for the elements: written as {written}")),
        _ if stored.has_bfloat() => Some("bfloat16 is written as its bits".to_owned()),
        _ => None,
    };
    Ok(what.map(|what| Loss { dataset: Some(dataset.path.clone()), what }).into_iter().collect())
}

/// Change of the bytes of an element.
#[derive(Clone, Copy)]
enum Change {
    None,
    /// bfloat16 in this byte order becomes `<f4`.
    Widen(ByteOrder),
    /// Conversion to little-endian.
    Swap,
}

fn numpy_type(stored: &DType, bfloat: Bfloat) -> Result<(DType, Change)> {
    if bfloat == Bfloat::Widened && stored.has_bfloat() {
        return match stored.as_scalar() {
            Some(Scalar { kind: Kind::BFloat, order, .. }) => {
                Ok((DType::new(Kind::Float, 4, ByteOrder::Little), Change::Widen(*order)))
            }
            _ => Err(crate::Error::unsupported("numpy has no bfloat16, which is in these records")
                .with_hint("--as-stored writes its bits as <u2")),
        };
    }
    if is_known(stored) || stored.is_in_order(ByteOrder::Little) {
        return Ok((bits_of_bfloat(stored), Change::None));
    }
    Ok((bits_of_bfloat(&stored.with_order(ByteOrder::Little)), Change::Swap))
}

/// True where numpy has every part, or stores its bits as integers, so that the header records the byte order.
fn is_known(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => scalar.kind == Kind::BFloat || dtype.is_plain_numpy(),
        DType::Record(record) => record.fields.iter().all(|field| is_known(&field.dtype)),
    }
}

fn bits_of_bfloat(dtype: &DType) -> DType {
    match dtype {
        DType::Scalar(Scalar { kind: Kind::BFloat, size, order }) => DType::new(Kind::Uint, *size, *order),
        DType::Scalar(_) => dtype.clone(),
        DType::Record(record) => {
            let fields = record.fields.iter();
            let fields = fields.map(|field| Field { dtype: bits_of_bfloat(&field.dtype), ..field.clone() });
            DType::Record(Record { fields: fields.collect(), size: record.size })
        }
    }
}

/// bfloat16 in `order` as little-endian singles. NaN keeps its payload.
fn widened(run: &[u8], order: ByteOrder) -> Vec<u8> {
    let (items, _) = run.as_chunks::<2>();
    let bits = items.iter().map(|item| match order {
        ByteOrder::Little => u16::from_le_bytes(*item),
        ByteOrder::Big => u16::from_be_bytes(*item),
    });
    bits.flat_map(|bits| (u32::from(bits) << 16).to_le_bytes()).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
