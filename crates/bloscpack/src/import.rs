//! Writing one dataset of any container as a Bloscpack file.

pub(crate) mod options;
pub(crate) mod same_format;

use container_core::array::byte_len;
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Axes, Dataset};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{Output, WriteRequest};
use container_core::region::{Region, element_count};
use container_core::report::Loss;
use container_core::{Error, Result};

use crate::NumpyArray;
use crate::metadata::to_python_json;
use crate::write::{MAX_CHUNK_SIZE, Offsets, WriteOptions};
use crate::writer::{Writer, with_seek};
use options::{CHECKSUM, FILTER};

/// Option word for the length of a chunk: indices along the slowest axis.
const CHUNKS: &str = "chunks";

/// Option word for the table of offsets: `table`, `none`.
const OFFSETS: &str = "offsets";

/// Writes the one selected dataset as version 3, with its type, shape and order as bloscpack keeps them for numpy. Byte order and
/// order of the axes stay, but for elements that become bytes, which are little-endian; no element is moved.
///
/// All items of a variable-length file become one again, and of other Bloscpack files all metadata are kept.
pub(crate) fn import(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    if same_format::is_all_items(job) {
        return same_format::import_items(job, out);
    }
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let (numpy, mut losses) = target(dataset, region, job.options.axes);
    let mut options = options(job, &numpy)?;
    // Bytes to which the caller gave a type become an array.
    let kept = same_format::metadata(job.container, dataset)
        .filter(|tree| !job.container.is_typed(index) || same_format::is_numpy(tree));
    if let Some(tree) = &kept {
        options.metadata = same_format::described(&job.options.with_metadata(tree.clone()), &numpy);
        let json = options.metadata.as_ref().map(to_python_json).transpose()?;
        options.json = json.map(String::into_bytes);
    } else {
        let (tree, lost) = job.metadata()?;
        losses.extend(lost);
        same_format::add(tree, &mut options);
    }
    let total = byte_len(&dataset.dtype, &numpy.shape);
    let total = total.ok_or_else(|| Error::malformed(format!("{} reaches past 2^64 bytes", dataset.path)))?;
    // Data that a truncated file lacks are an error, before the new file is started.
    check_readable(job.container, index, region, &job.read)?;
    with_seek(out, |out| {
        let mut writer = Writer::new(out, Some(total), &options)?;
        for_each_chunk(job.container, index, region, dataset.order, &job.read, job.progress, |bytes| {
            writer.push(&dataset.dtype.written_as(&numpy.dtype, bytes)?)
        })?;
        writer.complete().map(|_| ())
    })?;
    losses.extend(if kept.is_some() {
        same_format::losses(job.container)
    } else {
        job.container.unexported_metadata(job.selection)
    });
    Ok(losses)
}

/// Type, shape and order in the file, and the losses of the type.
fn target(dataset: &Dataset, region: &Region, axes: Axes) -> (NumpyArray, Vec<Loss>) {
    let mut shape = region.shape();
    let mut order = dataset.order;
    if axes == Axes::Reversed {
        shape.reverse();
        order = order.reversed();
    }
    // As numpy does: an array that is both counts as row-major.
    if shape.iter().filter(|len| **len != 1).count() < 2 {
        order = Order::C;
    }
    let size = dataset.dtype.itemsize();
    let foreign =
        dataset.dtype.as_scalar().is_some_and(|scalar| matches!(scalar.kind, Kind::BFloat | Kind::Opaque(_)));
    if !foreign {
        return (NumpyArray { dtype: dataset.dtype.clone(), shape, order }, Vec::new());
    }
    let kept = dataset.dtype.bytes_loss_message();
    let what = format!("the type {}, which numpy does not have: kept as {kept}", dataset.dtype);
    let loss = Loss { dataset: Some(dataset.path.clone()), what };
    (NumpyArray { dtype: DType::void(size), shape, order }, vec![loss])
}

fn options(job: &WriteRequest<'_>, numpy: &NumpyArray) -> Result<WriteOptions> {
    job.options.check_options("Bloscpack", &[FILTER, CHECKSUM, CHUNKS, OFFSETS])?;
    let mut options = WriteOptions::default().for_array(numpy);
    options.chunks = options::apply(options.chunks, job.options)?.with_threads(job.read.threads);
    options.chunk_size = chunk_size(job.options.get_some(CHUNKS), numpy)?;
    if let Some(size) = options.chunk_size {
        // The chunk uncompressed, and encoded.
        let whole = byte_len(&numpy.dtype, &numpy.shape).unwrap_or(u64::MAX);
        let taken = (size as u64).min(whole).saturating_mul(2);
        job.read.limits.allocate(taken).map_err(|error| error.with_hint("--chunks, for smaller ones"))?;
    }
    let offsets = [("table", Offsets::Table), ("none", Offsets::None)];
    options.offsets = job.options.choice("Bloscpack", OFFSETS, &offsets)?.unwrap_or(Offsets::Table);
    Ok(options)
}

/// Bytes of a chunk of so many indices along the slowest axis.
fn chunk_size(word: Option<&str>, numpy: &NumpyArray) -> Result<Option<usize>> {
    let Some(word) = word else { return Ok(None) };
    let slab = match (numpy.order, numpy.shape.as_slice()) {
        (Order::C, [_, slab @ ..]) | (Order::F, [slab @ .., _]) => slab,
        (_, []) => &[],
    };
    let slab = element_count(slab.iter().copied())
        .and_then(|count| count.checked_mul(numpy.dtype.itemsize().max(1) as u64));
    let rows: u64 = word.parse().ok().filter(|rows| *rows > 0).ok_or_else(|| {
        Error::usage(format!(
            "chunks of {word:?} (Bloscpack takes one number: indices along the slowest axis)"
        ))
    })?;
    let size = slab.and_then(|slab| slab.max(1).checked_mul(rows)).unwrap_or(u64::MAX);
    match usize::try_from(size) {
        Ok(size) if size <= MAX_CHUNK_SIZE => Ok(Some(size)),
        _ => Err(Error::usage(format!("chunks of {size} bytes (expected at most {MAX_CHUNK_SIZE})"))),
    }
}

#[cfg(test)]
mod tests;
