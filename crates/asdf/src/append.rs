//! Adding rows to the streamed array of a file.

use std::path::Path;

use container_core::container::OpenOptions;
use container_core::dtype::{DType, Order};
use container_core::format::Import;
use container_core::report::Loss;
use container_core::stream::{for_each_run, prove};
use container_core::write::Durability;
use container_core::{Error, Result};

use crate::File;
use crate::stream::Appender;
use crate::update::UpdateOptions;
use crate::words;

/// Appends the rows of the one selected dataset to the array in the streamed block of the file at `path`. Where it fails the rows are taken back;
/// a kill may leave some of them, whole.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &Import<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    job.options.allow_words_of_append("ASDF", &[])?;
    if words::codec(job.options)?.is_some() {
        return Err(Error::usage("a streamed block has no codec").hint("leave out --codec"));
    }
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let options = UpdateOptions { limits: open.limits, durability, ..UpdateOptions::default() };
    let mut appender = Appender::open(path, &options).map_err(|error| {
        error.hint("holdall convert FILE NEW.b2nd: such a file grows, and so do Bloscpack files")
    })?;
    let (own, row) = row_type(path, open, appender.array())?;
    let shape = region.shape();
    if shape.get(1..) != Some(&row[..]) {
        let problem = format!("{} has rows of shape {row:?}, and takes no {shape:?}", appender.array());
        return Err(Error::usage(problem).hint("all axes but the first have to agree"));
    }
    let swap = dataset.dtype.order_for(&own)?;
    prove(job.container, index, region, &job.read)?;
    let mut swapped = Vec::new();
    let pushed = for_each_run(job.container, index, region, Order::C, &job.read, job.progress, |bytes| {
        let Some(order) = swap else { return appender.append(bytes) };
        swapped.clear();
        swapped.extend_from_slice(bytes);
        dataset.dtype.swap_to(order, &mut swapped)?;
        appender.append(&swapped)
    });
    if let Err(error) = pushed.and_then(|()| appender.commit(durability)) {
        appender.take_back()?;
        return Err(error);
    }
    Ok(job.container.losses())
}

/// Element type and shape of a row of the array.
fn row_type(path: &Path, open: &OpenOptions, array: &str) -> Result<(DType, Vec<u64>)> {
    let file = File::open_with(path, open)?;
    let index = file.find_array(array).ok_or_else(|| Error::usage(format!("there is no array {array}")))?;
    let geometry = file.geometry(index)?;
    if geometry.order() != Some(Order::C) && !geometry.is_empty() {
        let problem = format!("the rows of {array} have strides of their own");
        return Err(Error::usage(problem).hint("convert the file first"));
    }
    Ok((geometry.dtype.clone(), geometry.shape.get(1..).unwrap_or_default().to_vec()))
}
