//! Writing one dataset of any container as an array in a frame, or another frame with all that it holds.

use container_core::chunked_read::{check_readable, for_each_chunk, require_present};
use container_core::container::{Axes, CheckDepth, Dataset, Digests, ReadOptions, Tolerance};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{OptionSpec, Output, WriteRequest};
use container_core::region::Region;
use container_core::report::{Finding, Loss, Severity};
use container_core::{Error, Progress, Result};

use crate::absent_values::{self, Absence};
use crate::b2nd::{MAX_DIMENSIONS, NAME, NdOptions, NdWriter, OLD_NAME, is_array, row_len};
use crate::check::GEOMETRY;
use crate::frame::Frame;
use crate::metadata::CHECKSUMS;
use crate::options::default_params;
use crate::tensor::{self, Tensor};

pub(crate) mod options;
pub(crate) mod sparse;
use crate::metadata::interchange;
use crate::{rewrite, verified_reads};

/// Writes the one selected dataset as a b2nd array, in C order, in its own byte order. All of another frame goes into the new one as it is:
/// arrays, super-chunks, chunks of different lengths, with their metalayers and user metadata.
pub(crate) fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options.check_options("Blosc2", &OptionSpec::names(options::OPTIONS))?;
    let frame = job.container.as_any().and_then(|native| native.downcast_ref::<Frame>());
    let job = &WriteRequest { read: reading(frame, job), ..*job };
    if let Some(frame) = frame.filter(|_| job.options.axes == Axes::AsStored && job.is_all())
        && (!options::is_other_partition(job.options) || !has_shape(frame))
    {
        for (index, region) in job.selection {
            require_present(job.container, *index, region)?;
        }
        require_geometry(job)?;
        return rewrite::rewrite(frame, job, out);
    }
    array(frame, job, out)
}

/// Refuses a frame whose shapes contradict its chunks: a copy would have the same contradiction.
fn require_geometry(job: &WriteRequest<'_>) -> Result<()> {
    let report = job.container.check(CheckDepth::Quick, &job.read, Progress::none())?;
    let is_wrong = |it: &Finding| it.severity == Severity::Error && GEOMETRY.contains(&it.code);
    let Some(finding) = report.findings.into_iter().find(is_wrong) else { return Ok(()) };
    let error = finding.range.into_iter().fold(Error::malformed(finding.message), Error::with_range);
    Err(error.with_hint("holdall repair FILE -o NEW"))
}

/// Options for reading the source: digests are compared, unless it was opened leniently and the copy is to have none.
fn reading(frame: Option<&Frame>, job: &WriteRequest<'_>) -> ReadOptions {
    let mut read = job.read;
    let is_lenient = |frame: &Frame| frame.options().placeholders == Tolerance::Lenient;
    let drops = job.options.get(options::CHECKSUM) == Some("none");
    read.digests = if drops && frame.is_some_and(is_lenient) { Digests::Ignore } else { Digests::Compare };
    read
}

/// True for arrays and packed tensors.
fn has_shape(frame: &Frame) -> bool {
    is_array(frame.metalayers()) || Tensor::is_described_by(frame, tensor::NAME)
}

/// Copies element by element. Metadata of a Blosc2 frame are kept.
fn array(frame: Option<&Frame>, job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let Target { dtype, shape, order, mut losses } = target(dataset, region, job.options.axes)?;
    let params = match frame {
        Some(frame) => rewrite::params(frame),
        None => default_params(dtype.itemsize()),
    };
    let mut options = NdOptions { params, limits: job.options.limits, ..NdOptions::default() };
    options.params.typesize = dtype.itemsize();
    options.params.blocksize = None;
    options.take_words(job.options, &dtype, &shape)?;
    options.params.threads = job.read.threads.max(1);
    if let Some(frame) = frame {
        // The new array has the values for which the old one stood in.
        let is_left = |name: &str| frame.absence().is_some() && absent_values::is_of_stand_in(name);
        for (name, value) in frame.metalayers().iter().filter(|(name, _)| *name != NAME && *name != OLD_NAME)
        {
            if !is_left(name) {
                options.metalayers.set(name, value.to_vec())?;
            }
        }
        options.vlmetalayers = user_metadata(frame)?;
        options.vlmetalayers.retain(|(name, _)| !is_left(name) && !Tensor::is_described_by(frame, name));
        let lost = frame.absence().and_then(Absence::loss);
        losses.extend(lost.map(|what| Loss { dataset: Some(dataset.path.clone()), what }));
    } else {
        let (tree, lost) = job.metadata()?;
        let has_digests = verified_reads::target_checksum(job.options, None)?.is_some();
        options.vlmetalayers = interchange::to_frame(tree, &mut options.metalayers, has_digests)?;
        losses.extend(lost);
    }
    options.checksums = verified_reads::target_checksum(job.options, frame)?;
    // Nothing is written for what a cut file merely claims.
    check_readable(job.container, index, region, &job.read)?;
    losses.extend(
        options::lossy(&options.params).map(|what| Loss { dataset: Some(dataset.path.clone()), what }),
    );
    write(job, &dtype, &shape, order, &options, out)?;
    if frame.is_none() {
        losses.extend(job.container.unexported_metadata(job.selection));
    }
    Ok(losses)
}

/// Bytes of elements that are held at once, at most, where the source can be read in boxes. A single chunk may take more.
const MAX_HELD_LEN: u64 = 64 << 20;

/// Writes the elements of the one selected dataset, little-endian if they become bytes. They are written in the order of the source, as
/// long as a row of chunks is small, else box by box: the first chunk may need all of an array whose chunks are long along the first
/// axis.
fn write(
    job: &WriteRequest<'_>,
    dtype: &DType,
    shape: &[u64],
    order: Order,
    options: &NdOptions,
    out: &mut dyn Output,
) -> Result<()> {
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    // What is encoded in one piece, or in runs without regard to shape, is decoded anew for each box.
    let is_direct = dataset.codec == "none" || dataset.chunks.is_some();
    let most = job.read.limits.memory / 4;
    let most = if is_direct { most.min(MAX_HELD_LEN) } else { most };
    let geometry = options.geometry(shape, dtype.itemsize())?;
    if row_len(&geometry) <= most {
        let mut writer = NdWriter::new(out, dtype, shape, options)?;
        for_each_chunk(job.container, index, region, order, &job.read, job.progress, |bytes| {
            writer.push(&dataset.dtype.written_as(dtype, bytes)?)
        })?;
        return writer.finish();
    }
    let mut writer = NdWriter::boxes(out, dtype, shape, options, most)?;
    let total = shape.iter().fold(dtype.itemsize() as u64, |len, axis| len.saturating_mul(*axis));
    let mut done = 0;
    while let Some((origin, lens)) = writer.next_box() {
        let mut parts: Vec<(u64, u64)> = origin.into_iter().zip(lens).collect();
        if order == Order::F {
            parts.reverse();
        }
        let array = job.container.read(index, &region.sub_region(&parts)?, &job.read)?;
        let bytes = array.bytes(order, &job.read.limits)?;
        writer.push(&dataset.dtype.written_as(dtype, &bytes)?)?;
        done += bytes.len() as u64;
        job.progress.tick(done, total)?;
    }
    writer.finish()
}

/// Returns the user metadata of a frame, less the digests of its chunks.
pub(crate) fn user_metadata(frame: &Frame) -> Result<Vec<(String, Vec<u8>)>> {
    let mut all = Vec::new();
    for name in frame.vlmetalayer_names().filter(|name| *name != CHECKSUMS) {
        if let Some(value) = frame.vlmetalayer(name)? {
            all.push((name.to_owned(), value));
        }
    }
    Ok(all)
}

/// Target of the conversion of a dataset.
struct Target {
    dtype: DType,
    shape: Vec<u64>,
    /// The order in which elements are taken.
    order: Order,
    losses: Vec<Loss>,
}

fn target(dataset: &Dataset, region: &Region, axes: Axes) -> Result<Target> {
    let mut shape = region.shape();
    let order = match axes {
        Axes::AsStored => Order::C,
        Axes::Reversed => {
            shape.reverse();
            Order::F
        }
    };
    if shape.len() > MAX_DIMENSIONS {
        let problem =
            format!("{}: {} dimensions (expected at most {MAX_DIMENSIONS})", dataset.path, shape.len());
        return Err(Error::usage(problem));
    }
    let size = dataset.dtype.itemsize();
    if size == 0 {
        let problem = format!(
            "{}: elements of {} have no bytes, which Blosc2 cannot store",
            dataset.path, dataset.dtype
        );
        return Err(Error::unsupported(problem));
    }
    let scalar = dataset.dtype.as_scalar();
    let foreign = scalar.is_some_and(|scalar| matches!(scalar.kind, Kind::BFloat | Kind::Opaque(_)));
    if !foreign {
        return Ok(Target { dtype: dataset.dtype.clone(), shape, order, losses: Vec::new() });
    }
    let kept = dataset.dtype.bytes_loss_message();
    let what = format!("the type {}, which numpy does not have: kept as {kept}", dataset.dtype);
    let losses = vec![Loss { dataset: Some(dataset.path.clone()), what }];
    Ok(Target { dtype: DType::void(size), shape, order, losses })
}
