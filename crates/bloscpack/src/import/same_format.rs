//! Bloscpack files as sources: content that other formats lack is kept.

use container_core::container::{Container, Dataset};
use container_core::format::{Output, WriteRequest};
use container_core::interchange::{self, Forms};
use container_core::report::Loss;
use container_core::{Error, Result, Value};

use super::{CHUNKS, OFFSETS};
use crate::append::read_item;
use crate::import::options::{self, CHECKSUM, FILTER};
use crate::items::writer::{VarOptions, VarWriter, with_entry};
use crate::write::WriteOptions;
use crate::writer::with_seek;
use crate::{ItemType, NumpyArray};

/// Prefix of the paths of items.
const ITEMS: &str = "items/";

/// The metadata of another Bloscpack file; `None` for other formats, and for one item among several, which they do not describe.
pub(super) fn metadata(container: &dyn Container, dataset: &Dataset) -> Option<Value> {
    if container.about().format != crate::FORMAT.name || dataset.path.starts_with(ITEMS) {
        return None;
    }
    container.meta().ok()
}

/// Metadata that describe `numpy`, where the source described an array, and keep its other entries. A file of plain bytes stays
/// one; without metadata it has none.
pub(super) fn described(tree: &Value, numpy: &NumpyArray) -> Option<Value> {
    let Value::Map(entries) = tree else { return Some(tree.clone()) };
    if !is_numpy(tree) {
        return (!entries.is_empty()).then(|| tree.clone());
    }
    let Value::Map(new) = numpy.to_metadata() else { return Some(tree.clone()) };
    Some(new.into_iter().fold(tree.clone(), |tree, (key, value)| with_entry(&tree, &key, value)))
}

/// True where metadata describe an array.
pub(super) fn is_numpy(tree: &Value) -> bool {
    tree.get("container") == Some(&Value::from("numpy"))
}

/// Keys by which numpy arrays are described.
const NUMPY: [&str; 4] = ["dtype", "shape", "order", "container"];

/// The metadata for another format, without the description of an array.
pub(crate) fn carried(metadata: Option<&Value>, is_numpy: bool) -> Value {
    let own = match metadata {
        None => return Value::Map(Vec::new()),
        Some(Value::Map(entries)) => {
            let more = entries.iter().filter(|(key, _)| !is_numpy || !NUMPY.contains(&key.as_str()));
            Value::Map(more.cloned().collect())
        }
        Some(other) => other.clone(),
    };
    interchange::unescape_top(interchange::from_json_value(interchange::escape_reserved(own, Forms::Known)))
}

/// Adds metadata of another format to the description of an array.
pub(super) fn add(tree: Value, options: &mut WriteOptions) {
    let tree = interchange::escape_top(tree, &|key, _| NUMPY.contains(&key));
    if interchange::entries(&tree).is_empty() {
        return;
    }
    let mut all = match options.metadata.take() {
        Some(Value::Map(described)) => described,
        _ => Vec::new(),
    };
    if let Value::Map(entries) = interchange::to_json_value(&tree) {
        all.extend(entries);
    }
    options.metadata = Some(Value::Map(all));
}

/// Losses that remain: bytes without content.
pub(crate) fn losses(container: &dyn Container) -> Vec<Loss> {
    let mut losses = container.losses();
    losses.retain(|loss| !loss.what.starts_with("metadata"));
    losses
}

/// True where all items of a variable-length file are selected.
pub(super) fn is_all_items(job: &WriteRequest<'_>) -> bool {
    let container = job.container;
    let datasets = container.datasets();
    container.about().format == crate::FORMAT.name
        && (datasets.first().is_some_and(|first| first.path.starts_with(ITEMS))
            || (datasets.is_empty() && container.about().version.as_deref() == Some("4")))
        && job.is_all()
}

/// Writes the items of another variable-length file, with its metadata.
pub(super) fn import_items(job: &WriteRequest<'_>, out: &mut dyn Output) -> Result<Vec<Loss>> {
    job.options.check_options("Bloscpack", &[FILTER, CHECKSUM, CHUNKS, OFFSETS])?;
    if let Some(word) = [CHUNKS, OFFSETS].into_iter().find(|word| job.options.get(word).is_some()) {
        return Err(Error::usage(format!("{word} cannot be set for a variable-length file")));
    }
    let tree = job.options.with_metadata(job.container.meta()?);
    let is_bare = matches!(&tree, Value::Map(entries) if entries.is_empty());
    let items = ItemType::from_metadata(&tree).unwrap_or(ItemType::Bytes);
    let usual = match &items {
        ItemType::Ragged(dtype) => VarOptions::rows(dtype.clone()),
        _ => VarOptions::default(),
    };
    let chunks = options::apply(usual.chunks.clone(), job.options)?.with_threads(job.read.threads);
    let options = VarOptions { chunks, items, base: Some(if is_bare { Value::Null } else { tree }), ..usual };
    let count = job.selection.len() as u64;
    with_seek(out, |out| {
        let mut writer = VarWriter::new(out, Some(count), &options)?;
        let mut item = Vec::new();
        for (done, (index, region)) in (1..).zip(job.selection) {
            read_item(job, *index, region, &mut item)?;
            writer.push(&item)?;
            job.progress.tick(done, count)?;
        }
        writer.complete().map(|_| ())
    })?;
    Ok(losses(job.container))
}
