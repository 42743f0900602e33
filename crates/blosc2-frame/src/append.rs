//! Adding to the end of a frame, in place and in one commit: rows to an array, elements to a super-chunk, items to chunks of different
//! lengths.

use std::path::Path;

use container_core::array::{Array, byte_len};
use container_core::chunked_read::{check_readable, for_each_chunk};
use container_core::container::{Dataset, OpenOptions};
use container_core::dtype::Order;
use container_core::format::{ITEM_NAME, WriteRequest, item_order};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::report::Loss;
use container_core::write::Durability;
use container_core::{Error, Result};

use crate::b2nd::{NAME, NdEditor, OLD_NAME};
use crate::editor::{EditOptions, Editor};
use crate::header::ChunkSize;
use crate::import::options::{self, DICTIONARY, FILTER, SPLIT};
use crate::items::{Items, LAYER};
use crate::msgpack;
use crate::tensor::{self, Tensor};

/// Bytes of rows that are added at a time, where chunks are small.
const STEP_LEN: u64 = 16 << 20;

/// Appends for the table of formats. New data are encoded as the header specifies, unless the request has options.
pub(crate) fn append(
    path: &Path,
    open: &OpenOptions,
    job: &WriteRequest<'_>,
    durability: Durability,
) -> Result<Vec<Loss>> {
    job.options.check_append_options("Blosc2", &[FILTER, SPLIT, DICTIONARY])?;
    let options = EditOptions {
        limits: open.limits,
        threads: job.read.threads.max(1),
        // Of items that happen to be of one length the next one may be of another.
        variable_chunks: true,
        ..EditOptions::default()
    };
    let mut editor = Editor::open(path, &options)?;
    let are_items = editor.vlmetalayer_names().any(|name| name == LAYER);
    let params = options::apply(editor.params().clone(), job.options)?;
    let lossy = options::lossy(&params);
    if options::is_other_encoding(job.options) {
        editor.set_params(params)?;
    }
    let metalayers = editor.metalayers();
    let is_array = metalayers.get(NAME).or_else(|| metalayers.get(OLD_NAME)).is_some();
    let mut losses: Vec<Loss> = lossy.map(|what| Loss { dataset: None, what }).into_iter().collect();
    if let Some(kind) = metalayers.container_layer() {
        let problem =
            format!("cannot append to a frame with the metalayer {kind:?}, which python-blosc2 manages");
        return Err(Error::usage(problem));
    }
    if is_array {
        let array = NdEditor::from_editor(editor, &open.limits)?;
        if job.options.get(FILTER).is_some() {
            options::check_lossy(array.frame().params(), array.dtype())?;
        }
        rows(array, job, durability)?;
        losses.extend(job.container.losses());
    } else if are_items || editor.header().chunksize == ChunkSize::Variable || editor.header().variable_blocks
    {
        losses.extend(items(editor, job, durability)?);
    } else if let Some(stored) = editor.vlmetalayer(tensor::NAME)? {
        let grown = rows_of_tensor(&editor, &stored, job)?;
        editor.set_vlmetalayer(tensor::NAME, &grown)?;
        elements(editor, job, durability)?;
        losses.extend(job.container.losses());
    } else {
        losses.extend(elements(editor, job, durability)?);
        losses.extend(job.container.losses());
    }
    Ok(losses)
}

/// Adds rows to an array: the axes but the first agree.
fn rows(mut array: NdEditor, job: &WriteRequest<'_>, durability: Durability) -> Result<()> {
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let own = array.shape().to_vec();
    let shape = region.shape();
    let Some((_, row)) = own.split_first() else {
        return Err(Error::usage("the file has a single value, which has no axis to append along"));
    };
    let Some((count, given)) = shape.split_first() else {
        return Err(Error::usage("a single value has no axis to append along"));
    };
    if row != given {
        let problem = format!("an array of shape {own:?} does not take {shape:?}");
        return Err(Error::usage(problem).with_hint("all axes but the first have to agree"));
    }
    let dtype = array.dtype().clone();
    let swap = dataset.dtype.order_for(&dtype)?;
    check_readable(job.container, index, region, &job.read)?;
    let axis = region.axes().iter().position(|axis| axis.kept == Kept::Yes);
    let axis = axis.ok_or_else(|| Error::usage("no axis"))?;
    let row_len = byte_len(&dtype, row).unwrap_or(u64::MAX);
    let chunk = array.geometry().chunkshape().first().map_or(1, |len| u64::from(*len)).max(1);
    let mut done = 0_u64;
    while done < *count {
        // Up to the end of a chunk, so that none is written twice.
        let to_edge = chunk - own.first().map_or(0, |len| (len + done) % chunk);
        let most = (STEP_LEN.min(job.options.limits.memory / 4) / row_len.max(1)).max(1) / chunk * chunk;
        let here = to_edge.saturating_add(most.saturating_sub(chunk)).max(1).min(*count - done);
        let part = part_of(region, axis, done, here, &dataset.shape)?;
        let read = job.container.read(index, &part, &job.read)?;
        let mut bytes = read.bytes(Order::C, &job.read.limits)?.into_owned();
        if let Some(order) = swap {
            dataset.dtype.swap_to(order, &mut bytes)?;
        }
        let mut lens = shape.clone();
        if let Some(first) = lens.first_mut() {
            *first = here;
        }
        array.append(0, &Array::new(dtype.clone(), lens, Order::C, bytes.into())?)?;
        done += here;
        job.progress.tick(done.saturating_mul(row_len), count.saturating_mul(row_len))?;
    }
    array.commit(durability)
}

/// Returns the description of a tensor to which the selected rows are added: the axes but the first agree.
fn rows_of_tensor(editor: &Editor, stored: &[u8], job: &WriteRequest<'_>) -> Result<Vec<u8>> {
    let tensor = Tensor::parse(stored, editor.header().nbytes, &job.options.limits)?;
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let shape = region.shape();
    let (Some((len, row)), Some((count, given))) = (tensor.shape.split_first(), shape.split_first()) else {
        return Err(Error::usage("a single value has no axis to append along"));
    };
    if row != given {
        let problem = format!("tensor of shape {:?}: cannot append {shape:?}", tensor.shape);
        return Err(Error::usage(problem).with_hint("all axes but the first have to agree"));
    }
    if dataset.dtype.order_for(&tensor.dtype)?.is_some() {
        let problem = format!("tensor of {}: cannot append {}", tensor.dtype, dataset.dtype);
        return Err(
            Error::usage(problem).with_hint("holdall convert FILE NEW.b2nd gives an array, which does")
        );
    }
    Tensor::with_rows(stored, len.saturating_add(*count), &job.options.limits)
}

/// Returns `count` indices of one axis of a region, from the number `first` on.
fn part_of(region: &Region, axis: usize, first: u64, count: u64, shape: &[u64]) -> Result<Region> {
    let mut axes: Vec<AxisSelection> = region.axes().to_vec();
    if let Some(axis) = axes.get_mut(axis) {
        let start = i128::from(axis.start) + i128::from(axis.step) * i128::from(first);
        axis.start = u64::try_from(start).unwrap_or(0);
        axis.count = count;
    }
    Region::new(axes, shape)
}

/// Adds elements to a super-chunk of chunks of one size. A last chunk that is shorter is filled up first.
fn elements(mut editor: Editor, job: &WriteRequest<'_>, durability: Durability) -> Result<Vec<Loss>> {
    let (index, region) = job.single()?;
    let dataset = &*job.container.require(index)?;
    let typesize = u64::from(editor.header().typesize).max(1);
    let added =
        byte_len(&dataset.dtype, &region.shape()).ok_or_else(|| Error::usage("more than 2^64 bytes"))?;
    if !added.is_multiple_of(typesize) && editor.header().nbytes.is_multiple_of(typesize) {
        return Err(Error::usage(format!("{added} bytes are not whole elements of {typesize}")));
    }
    check_readable(job.container, index, region, &job.read)?;
    let chunk_len = job.options.limits.allocate(editor.extension_len(added).unwrap_or(added))?;
    let count = editor.chunk_count();
    let held = editor.header().nbytes;
    let mut waiting: Vec<u8> = Vec::new();
    let mut short = None;
    if let Some(last) = count.checked_sub(1).filter(|_| !held.is_multiple_of(chunk_len as u64)) {
        waiting = editor.read_chunk(last)?;
        short = Some(last);
    }
    let mut put = |editor: &mut Editor, chunk: &[u8]| match short.take() {
        Some(last) => editor.update(last, chunk),
        None => editor.append(chunk),
    };
    for_each_chunk(job.container, index, region, Order::C, &job.read, job.progress, |bytes| {
        waiting.extend_from_slice(bytes);
        let whole = waiting.len() / chunk_len * chunk_len;
        waiting
            .get(..whole)
            .unwrap_or_default()
            .chunks(chunk_len)
            .try_for_each(|chunk| put(&mut editor, chunk))?;
        waiting.drain(..whole);
        Ok(())
    })?;
    if !waiting.is_empty() && added > 0 {
        put(&mut editor, &waiting)?;
    }
    editor.commit(durability)?;
    Ok(losses_of_plain(dataset, region, typesize))
}

/// Returns type and shape of a dataset, as losses where it is appended as plain bytes.
fn losses_of_plain(dataset: &Dataset, region: &Region, typesize: u64) -> Vec<Loss> {
    let dtype = &dataset.dtype;
    let is_plain = dtype.is_void() || (dtype.itemsize() == 1 && typesize == 1);
    if is_plain && region.shape().len() == 1 {
        return Vec::new();
    }
    let what = format!("type {dtype} and shape {:?}: the file has plain elements", region.shape());
    vec![Loss { dataset: Some(dataset.path.clone()), what }]
}

/// Adds each dataset as a chunk, by the name that it has in the attribute `name`, or else by its path.
fn items(mut editor: Editor, job: &WriteRequest<'_>, durability: Durability) -> Result<Vec<Loss>> {
    if editor.header().variable_blocks {
        return Err(Error::usage("cannot append to chunks whose blocks have different lengths"));
    }
    let stored = editor.vlmetalayer(LAYER)?;
    let known = stored.as_deref().and_then(|bytes| msgpack::to_value(bytes, &job.options.limits).ok());
    let known = known.as_ref().map(Items::from_value);
    let mut names = known.as_ref().and_then(|items| items.names.clone());
    let (mut losses, mut names_lost) = (Vec::new(), false);
    let total = job.selection.len() as u64;
    for (done, (index, region)) in (1..).zip(job.selection) {
        let dataset = &*job.container.require(*index)?;
        let mut item = item_bytes(job, *index, region)?;
        let elements = known.as_ref().and_then(|items| items.dtype.as_ref());
        if let Some(dtype) = elements {
            if let Some(order) = item_order(dataset, dtype)? {
                dataset.dtype.swap_to(order, &mut item)?;
            }
            if !item.len().is_multiple_of(dtype.itemsize().max(1)) {
                let problem = format!("{} bytes are not whole elements of {dtype}", item.len());
                return Err(Error::usage(problem).with_context(dataset.path.clone()));
            }
        }
        if known.as_ref().is_some_and(|items| items.is_text) && std::str::from_utf8(&item).is_err() {
            return Err(Error::usage(format!("{}: not UTF-8 (the file contains texts)", dataset.path)));
        }
        editor.append(&item)?;
        if elements.is_none() || region.shape().len() != 1 {
            losses.extend(losses_of_plain(dataset, region, 1));
        }
        let name =
            dataset.attributes.iter().find(|(key, _)| key == ITEM_NAME).map(|(_, value)| value.clone());
        match (&mut names, name) {
            (Some(names), Some(container_core::Value::Text(name))) => names.push(name),
            (Some(names), _) => names.push(dataset.path.clone()),
            (None, Some(name)) if !names_lost => {
                names_lost = true;
                let what = format!("the names of items, such as {name:?}");
                losses.push(Loss { dataset: None, what });
            }
            (None, _) => {}
        }
        job.progress.tick(done, total)?;
    }
    if let (Some(known), true) = (known, names.is_some()) {
        let items = Items { names, ..known };
        editor.set_vlmetalayer(LAYER, &items.encode()?)?;
    }
    editor.commit(durability)?;
    Ok(losses)
}

/// Reads the bytes of a dataset, row by row.
fn item_bytes(job: &WriteRequest<'_>, index: usize, region: &Region) -> Result<Vec<u8>> {
    let array = job.container.read(index, region, &job.read)?;
    Ok(array.bytes(Order::C, &job.read.limits)?.into_owned())
}

#[cfg(test)]
mod tests;
