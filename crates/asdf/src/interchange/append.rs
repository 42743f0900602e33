//! Appends rows to the streamed array of a file.

use std::path::{Path, PathBuf};

use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::OpenOptions;
use container_core::dtype::{DType, Order};
use container_core::format::WriteRequest;
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{Error, Result};

use crate::File;
use crate::check::inline_values::require_values;
use crate::compression::wanted_codec;
use crate::ndarray::{ByteSource, NdArray};
use crate::update::UpdateOptions;
use crate::update::stream::Appender;

/// Appends the rows of the one selected dataset to the array in the streamed block of the file at `path`. After an error the new rows are removed; an
/// interrupted append may leave some complete rows.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &WriteRequest<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    job.options.check_append_options("ASDF", &[])?;
    if wanted_codec(job.options)?.is_some() {
        return Err(Error::usage("a streamed block has no codec").with_hint("leave out --codec"));
    }
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let options = UpdateOptions { limits: open.limits, durability, ..UpdateOptions::default() };
    let mut appender = match external(path, open)? {
        Some((place, named, array)) => Appender::open_external(&place, &named, &array, &options)?,
        None => Appender::open(path, &options).map_err(|error| match error.hint() {
            Some(_) => error,
            None => error.with_hint(
                "holdall convert FILE NEW.b2nd: rows can be appended to Blosc2 and Bloscpack files",
            ),
        })?,
    };
    let (own, row) = row_type(path, open, appender.array())?;
    let shape = region.shape();
    if shape.get(1..) != Some(&row[..]) {
        let problem = format!("{} has rows of shape {row:?}: cannot append {shape:?}", appender.array());
        return Err(Error::usage(problem).with_hint("all axes but the first have to agree"));
    }
    let swap = dataset.dtype.order_for(&own)?;
    check_readable(job.container, index, region, &job.read)?;
    let mut swapped = Vec::new();
    let pushed = for_each_chunk(job.container, index, region, Order::C, &job.read, job.progress, |bytes| {
        require_values(&dataset.path, &dataset.dtype, bytes)?;
        let Some(order) = swap else { return appender.append(bytes) };
        swapped.clear();
        swapped.extend_from_slice(bytes);
        dataset.dtype.swap_to(order, &mut swapped)?;
        appender.append(&swapped)
    });
    if let Err(error) = pushed.and_then(|()| appender.commit(durability)) {
        return Err(match appender.rollback() {
            Ok(()) => error.rolled_back(),
            // The rows stay in the file.
            Err(_) if error.is_after_change() => error,
            Err(other) => other,
        });
    }
    Ok(job.container.losses())
}

/// Finds the external file whose streamed block holds the only unbounded array of this file (exploded form). Returns its path with the array's path
/// and description; `None` where this file has a streamed block itself, or no unbounded array.
///
/// # Errors
/// `Usage` where several other files are meant.
fn external(path: &Path, open: &OpenOptions) -> Result<Option<(PathBuf, String, NdArray)>> {
    let file = File::open_with(path, open)?;
    if file.blocks().last().is_some_and(|block| block.header.is_streamed()) {
        return Ok(None);
    }
    let mut found: Option<(PathBuf, String, NdArray)> = None;
    for entry in file.arrays() {
        let ByteSource::External(uri) = &entry.array.source else { continue };
        if !file.is_external(&entry.array) || entry.array.shape.first().is_none_or(Option::is_some) {
            continue;
        }
        let place = file.external_path(uri)?;
        match &found {
            Some((known, other, _)) if *known != place => {
                let problem = format!("{other} and {} are streamed in different files", entry.path);
                return Err(Error::usage(problem).with_hint(
                    "holdall implode FILE puts all blocks into one file, which can be appended to",
                ));
            }
            Some(_) => {}
            None => found = Some((place, entry.path.clone(), entry.array.clone())),
        }
    }
    Ok(found)
}

/// Element type and shape of a row of the array.
fn row_type(path: &Path, open: &OpenOptions, array: &str) -> Result<(DType, Vec<u64>)> {
    let file = File::open_with(path, open)?;
    let index = file.find_array(array).ok_or_else(|| Error::usage(format!("no array {array}")))?;
    let geometry = file.geometry(index)?;
    if geometry.order() != Some(Order::C) && !geometry.is_empty() {
        let problem = format!("cannot append to {array}: its strides are not those of C order");
        return Err(Error::usage(problem).with_hint("convert the file first"));
    }
    Ok((geometry.dtype.clone(), geometry.shape.get(1..).unwrap_or_default().to_vec()))
}

#[cfg(test)]
mod tests;
