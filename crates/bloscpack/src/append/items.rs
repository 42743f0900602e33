//! Appending items to a variable-length file: it is written anew, its chunks copied with the gaps between them.

use std::path::Path;

use container_core::chunked_read::for_each_chunk;
use container_core::container::{Dataset, OpenOptions};
use container_core::dtype::Order;
use container_core::format::{ITEM_NAME, WriteRequest, item_order};
use container_core::region::Region;
use container_core::report::Loss;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result, Value};

use super::{AppendOptions, ExistingFile, row_len};
use crate::ItemType;
use crate::items::writer::{VarOptions, VarWriter};
use crate::write::ChunkOptions;
use crate::writer::OrderedOutput;

/// Appends items to the variable-length file at `path`. With `names` among its metadata, new items are called by their
/// number.
///
/// # Errors
/// `Usage` for a file of another kind, for items that do not match the declared type, and while another program writes to
/// the file; the first error of a file that is damaged; `Io`. The file is then unchanged.
pub fn append_items<T: AsRef<[u8]>>(
    path: impl AsRef<Path>,
    items: &[T],
    options: &AppendOptions,
) -> Result<()> {
    let mut open = OpenOptions::default();
    open.limits = options.limits;
    let old = ExistingFile::open(path.as_ref(), &open)?;
    if !old.layout.header().dialect.is_variable_length() {
        return Err(Error::usage("this file has no items; bytes can be appended to it"));
    }
    let chunks = options.apply(old.own_options());
    let first = old.layout.chunks().len() as u64;
    let names = (first..).take(items.len()).map(|number| number.to_string()).collect();
    old.grow_items(&chunks, names, options.durability, |writer| {
        items.iter().try_for_each(|item| writer.push(item))
    })
}

/// Appends each dataset as an item, named by the attribute `name`, or else by its path.
pub(super) fn append_datasets(
    old: &ExistingFile,
    job: &WriteRequest<'_>,
    chunks: &ChunkOptions,
    durability: Durability,
) -> Result<Vec<Loss>> {
    let mut names = Vec::new();
    let mut named = Vec::new();
    for (index, _) in job.selection {
        let dataset = &*job.container.require(*index)?;
        let name = name_of(dataset);
        named.extend(name.clone());
        names.push(name.unwrap_or_else(|| dataset.path.clone()));
    }
    let mut losses = Vec::new();
    let elements = match old.layout.item_type() {
        Some(ItemType::Ragged(dtype)) => Some(dtype),
        _ => None,
    };
    for (index, region) in job.selection {
        let dataset = &*job.container.require(*index)?;
        elements.as_ref().map(|dtype| item_order(dataset, dtype)).transpose()?;
        if region.shape().len() != 1 {
            let what = format!("shape {:?}: an item has one axis", region.shape());
            losses.push(Loss { dataset: Some(dataset.path.clone()), what });
        }
    }
    if !named.is_empty() && old.names().is_none() {
        let what = format!("the names of {} items, such as {:?}", named.len(), named[0]);
        losses.push(Loss { dataset: None, what });
    }
    let total = job.selection.len() as u64;
    old.grow_items(chunks, names, durability, |writer| {
        let mut item = Vec::new();
        for (done, (index, region)) in (1..).zip(job.selection) {
            read_item(job, *index, region, &mut item)?;
            let dataset = &*job.container.require(*index)?;
            let order = elements.as_ref().map(|dtype| item_order(dataset, dtype)).transpose()?;
            if let Some(order) = order.flatten() {
                dataset.dtype.swap_to(order, &mut item)?;
            }
            writer.push(&item)?;
            job.progress.tick(done, total)?;
        }
        Ok(())
    })?;
    Ok(losses)
}

fn name_of(dataset: &Dataset) -> Option<String> {
    dataset.attributes.iter().find_map(|(key, value)| match value {
        Value::Text(name) if key == ITEM_NAME => Some(name.clone()),
        _ => None,
    })
}

/// The bytes of a dataset, row by row.
pub(crate) fn read_item(
    job: &WriteRequest<'_>,
    index: usize,
    region: &Region,
    item: &mut Vec<u8>,
) -> Result<()> {
    let dataset = &*job.container.require(index)?;
    let len = if region.is_empty() { 0 } else { row_len(&dataset.dtype, &region.shape())? };
    job.read.limits.allocate(len)?;
    item.clear();
    let quiet = container_core::Progress::none();
    for_each_chunk(job.container, index, region, Order::C, &job.read, quiet, |bytes| {
        item.extend_from_slice(bytes);
        Ok(())
    })
}

impl ExistingFile {
    /// The names of the items, if the metadata have one for each item.
    fn names(&self) -> Option<Vec<String>> {
        let Some(Value::List(names)) = self.layout.tree()?.get("names") else { return None };
        let names = names.iter().map(|name| match name {
            Value::Text(name) => Some(name.clone()),
            _ => None,
        });
        names.collect::<Option<Vec<_>>>().filter(|names| names.len() == self.layout.chunks().len())
    }

    /// Options with which a rewritten file has the metadata of this one.
    pub(crate) fn var_options(&self, chunks: &ChunkOptions) -> VarOptions {
        VarOptions {
            chunks: chunks.clone(),
            items: self.layout.item_type().unwrap_or(ItemType::Bytes),
            names: self.names(),
            base: Some(self.layout.tree().cloned().unwrap_or(Value::Null)),
            ..VarOptions::default()
        }
    }

    /// Writes the file with more items, of these names, which `feed` pushes.
    fn grow_items(
        &self,
        chunks: &ChunkOptions,
        names: Vec<String>,
        durability: Durability,
        feed: impl FnOnce(&mut VarWriter<AtomicFile>) -> Result<()>,
    ) -> Result<()> {
        let count = (self.layout.chunks().len() as u64).saturating_add(names.len() as u64);
        let mut options = self.var_options(chunks);
        if let Some(all) = &mut options.names {
            all.extend(names);
        }
        let out = AtomicFile::create(&self.path, Overwrite::Replace)?;
        let mut sink = OrderedOutput::new(out, Some(&options.head(count)?))?;
        let entries = self.layout.chunks();
        if let Some(first) = entries.iter().map(|entry| entry.range().start).min() {
            let starts = entries.iter().map(|entry| entry.range().start);
            sink.take_over_gaps(self.storage.file(), first..self.layout.file_len(), starts)?;
        }
        let mut writer = VarWriter::over(sink, &options, Some(count))?;
        feed(&mut writer)?;
        self.replace_by(writer.complete()?.0, durability)
    }
}
