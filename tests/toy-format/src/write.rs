//! New files: of datasets of any container, and of items.

use container_core::chunked_read::for_each_chunk;
use container_core::format::{OptionSpec, Output, Pack, WriteRequest};
use container_core::report::Loss;
use container_core::{DType, Order, Result};

use crate::record::{MAGIC, head, sum_of};

/// Writes the selected datasets.
///
/// # Errors
/// `Usage` for options of other formats; `Unsupported` for names and shapes that are too long; those of reading; `Io`.
pub(crate) fn import(request: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    let format = &crate::FORMAT;
    request.options.check_options(format.title, &OptionSpec::names(format.options))?;
    request.options.choice(format.title, "colour", &[("red", ()), ("blue", ())])?;
    request.options.codec(format.title, format.codecs)?;
    out.write_all(MAGIC)?;
    for (index, region) in request.selection {
        let dataset = &*request.container.require(*index)?;
        out.write_all(&head(None, &dataset.path, &dataset.dtype, &region.shape())?)?;
        let mut sum = 0_u64;
        let container = request.container;
        for_each_chunk(container, *index, region, Order::C, &request.read, request.progress, |bytes| {
            sum = sum.wrapping_add(sum_of(bytes));
            Ok(out.write_all(bytes)?)
        })?;
        out.write_all(&sum.to_le_bytes())?;
    }
    let (metadata, mut losses) = request.metadata()?;
    losses.extend(container_core::interchange::losses(&container_core::interchange::remove_key(
        metadata,
        container_core::interchange::NAME,
    )));
    Ok(losses)
}

/// Writes items, which are called by their number or their name.
///
/// # Errors
/// As [`import`].
pub(crate) fn pack(pack: Pack<'_>, out: &mut dyn Output) -> Result<()> {
    let Pack { items, kind, dtype, names, .. } = pack;
    out.write_all(MAGIC)?;
    let bytes = DType::parse("|u1")?;
    let dtype = dtype.unwrap_or(&bytes);
    for (number, item) in items.enumerate() {
        let item = item?;
        let name = names.and_then(|names| names.get(number).cloned());
        let shape = [item.len() as u64 / dtype.itemsize().max(1) as u64];
        out.write_all(&head(Some(kind), &name.unwrap_or_else(|| number.to_string()), dtype, &shape)?)?;
        out.write_all(&item)?;
        out.write_all(&sum_of(&item).to_le_bytes())?;
    }
    Ok(())
}
