//! Metadata interchange with other formats: application and schema, which frames store which chunks, and in the other
//! direction metadata of other formats, which are JSON in a chunk of their own.
//!
//! A stacked dataset has every frame, with the values that the schema fills in. `stored` lists the frames whose chunks are in the file, so
//! that a conversion back writes exactly those.

mod comparable;

use std::collections::HashMap;

use container_core::interchange::{self, Forms};
use container_core::region::{Kept, Region};
use container_core::{Error, Result, Value};

use crate::ChunkType;
use crate::chunk_shape::SHAPE_SUFFIX;
use crate::datasets::{DatasetIndex, StoredDataset};
use crate::file::File;
use crate::header::{Header, Version, name_field};

pub(crate) use comparable::comparable;

/// The chunk of frame 0 that holds metadata of other formats: UTF-8 JSON, an object.
pub(crate) const METADATA: &str = "holdall/metadata";

/// Maximum number of bytes of such a chunk that are read.
const MAX_METADATA_LEN: u64 = 1 << 26;

/// Key of the format's own entries.
pub(crate) const OWN: &str = "gsd";

/// Keys below `OWN` where the format wrote it. With any other key, `OWN` is a user's.
const OWN_KEYS: [&str; 8] =
    ["application", "schema", "schema_version", "reserved", "frames", "names", "stored", "chunks"];

/// Returns the metadata that a file carries with the selected datasets. A user's key with the name of the format's own replaces it.
pub(crate) fn of_file(file: &File, datasets: &DatasetIndex, selection: &[(usize, Region)]) -> Result<Value> {
    let mut entries = match metadata(file)? {
        Some(Value::Map(entries)) => entries,
        _ => Vec::new(),
    };
    if entries.iter().any(|(key, _)| key == OWN) {
        return Ok(Value::Map(entries));
    }
    if is_plain(file) {
        return Ok(Value::Map(entries));
    }
    let header = file.header();
    let mut own = vec![
        ("application".to_owned(), field(&header.application, &header.application_name())),
        ("schema".to_owned(), field(&header.schema, &header.schema_name())),
        ("schema_version".to_owned(), header.schema_version.to_string().into()),
    ];
    if header.reserved != [0; 80] {
        own.push(("reserved".to_owned(), header.reserved.to_vec().into()));
    }
    own.extend(frames(file, datasets, selection).unwrap_or_default());
    entries.push((OWN.to_owned(), Value::Map(own)));
    Ok(Value::Map(entries))
}

/// A text of the header; as its bytes where a writer would not produce these: 64 without a NUL, invalid UTF-8, or more bytes after the
/// first NUL.
fn field(bytes: &[u8; 64], text: &str) -> Value {
    match name_field("", text) {
        Ok(own) if own == *bytes => text.into(),
        _ => bytes.to_vec().into(),
    }
}

/// The bytes of a text of the header.
fn field_bytes(value: &Value) -> Option<[u8; 64]> {
    match value {
        Value::Text(text) => name_field("", text).ok(),
        Value::Bytes(bytes) => bytes.as_slice().try_into().ok(),
        _ => None,
    }
}

/// True for arrays that a conversion put into one frame: the header and names carry no further information.
fn is_plain(file: &File) -> bool {
    let header = file.header();
    let is_ours = header.schema_name() == crate::import::SCHEMA
        && header.application_name().starts_with(crate::import::WRITER)
        && header.reserved == [0; 80];
    is_ours && file.nframes() <= 1
}

/// True where a user's metadata keep those of the file from being carried.
pub(crate) fn is_hidden(file: &File) -> bool {
    !is_plain(file) && matches!(metadata(file), Ok(Some(tree)) if tree.get(OWN).is_some())
}

/// True where every name is UTF-8 and listed once, so that names identify the chunks.
pub(crate) fn has_clear_names(file: &File) -> bool {
    (0..=u16::MAX).take(file.names().len()).all(|id| {
        let name = file.names().bytes(id).and_then(|bytes| std::str::from_utf8(bytes).ok());
        name.is_some_and(|name| file.names().id(name) == Some(id))
    })
}

/// Returns the number of frames, and the frames that store the chunks of the selected datasets; empty for parts of datasets.
fn frames(
    file: &File,
    datasets: &DatasetIndex,
    selection: &[(usize, Region)],
) -> Option<Vec<(String, Value)>> {
    if !has_clear_names(file) {
        return None;
    }
    let mut ids = Vec::new();
    for (index, region) in selection {
        let dataset = datasets.dataset(file, *index)?;
        let is_whole = region.is_whole(&dataset.shape) || is_of_one_frame(region, &dataset.shape);
        match datasets.stored(file, *index)? {
            StoredDataset::Stacked(id) if is_whole => ids.push(id),
            StoredDataset::Chunk(entry) if is_whole => ids.push(entry.id),
            _ => return None,
        }
    }
    let is_all = selection.len() == datasets.listed_count();
    let shapes = |id: &u16| datasets.name_stats.shapes.get(usize::from(*id)).copied().flatten();
    ids.sort_unstable();
    ids.dedup();
    let of_shapes: Vec<u16> = ids.iter().filter_map(shapes).collect();
    let is_named = |id: &u16| is_all || ids.contains(id) || of_shapes.contains(id);
    let all = (0..=u16::MAX).take(file.names().len()).filter(is_named);
    let names = all.filter_map(|id| file.names().get(id)).filter(|name| name != METADATA);
    let names: Vec<Value> = names.map(|name| name.into_owned().into()).collect();
    let mut told = vec![("frames".to_owned(), file.nframes().into()), ("names".to_owned(), names.into())];
    let stored = stored(file, datasets, &ids);
    if !stored.is_empty() {
        told.push(("stored".to_owned(), Value::Map(stored)));
    }
    if is_all {
        let own = file.names().id(METADATA);
        let chunks = file.found_entries().filter(|(_, entry)| Some(entry.id) != own).count();
        told.push(("chunks".to_owned(), (chunks as u64).into()));
    }
    Some(told)
}

/// True for all of the one frame, without the axis of frames.
fn is_of_one_frame(region: &Region, shape: &[u64]) -> bool {
    let ([first, rest @ ..], [1, inner @ ..]) = (region.axes(), shape) else { return false };
    let is_whole = |(axis, len): (&container_core::region::AxisSelection, &u64)| {
        axis.kept == Kept::Yes && (axis.start, axis.step, axis.count) == (0, 1, *len)
    };
    first.kept == Kept::No && rest.iter().zip(inner).all(is_whole)
}

/// Runs of frames, half-open, of the names that stack and are not in every frame.
fn stored(file: &File, datasets: &DatasetIndex, ids: &[u16]) -> Vec<(String, Value)> {
    let stacks = |id: &u16| matches!(datasets.name_stats.get(*id), Some(name) if matches!(name.view, crate::stacked::names::Listing::Stacked(_)));
    let partly = ids.iter().filter(|id| stacks(id));
    let partly =
        partly.filter(|id| datasets.name_stats.get(**id).is_some_and(|name| name.frames < file.nframes()));
    let mut runs: HashMap<u16, Vec<(u64, u64)>> = partly.map(|id| (*id, Vec::new())).collect();
    if runs.is_empty() {
        return Vec::new();
    }
    for entry in file.index().iter() {
        let Some(runs) = runs.get_mut(&entry.id) else { continue };
        let next = entry.frame.saturating_add(1);
        match runs.last_mut() {
            Some((_, end)) if *end == entry.frame => *end = next,
            Some((_, end)) if *end > entry.frame => {}
            _ => runs.push((entry.frame, next)),
        }
    }
    let run = |(start, end): (u64, u64)| Value::List(vec![start.into(), end.into()]);
    let named = ids.iter().filter_map(|id| {
        let name = file.names().get(*id)?.into_owned();
        Some((name, runs.remove(id)?.into_iter().map(run).collect::<Vec<_>>().into()))
    });
    named.collect()
}

/// The metadata of other formats that a file keeps.
fn metadata(file: &File) -> Result<Option<Value>> {
    let Some(entry) = file.find_chunk(0, METADATA) else { return Ok(None) };
    if entry.chunk_type() != Some(ChunkType::Uint8) || entry.size().is_none_or(|size| size > MAX_METADATA_LEN)
    {
        return Ok(None);
    }
    let bytes = file.read_chunk(&entry)?;
    let problem = |error| Error::malformed(format!("{METADATA}: invalid JSON: {error}"));
    let tree: Value = serde_json::from_slice(&bytes).map_err(problem)?;
    Ok(Some(interchange::unescape_top(interchange::from_json_value(interchange::escape_reserved(
        tree,
        Forms::Known,
    )))))
}

/// Metadata of other formats as the bytes of their chunk; `None` where there are no such metadata. Entries left below the format's own key
/// are a user's.
pub(crate) fn to_json(tree: &Value) -> Result<Option<Vec<u8>>> {
    if interchange::entries(tree).is_empty() {
        return Ok(None);
    }
    let tree = interchange::escape_top(tree.clone(), &|key, _| key == OWN);
    let json = serde_json::to_vec(&interchange::to_json_value(&tree));
    json.map(Some).map_err(|error| Error::usage(format!("metadata as JSON: {error}")))
}

/// The header described by carried metadata; `None` where they describe no header.
pub(crate) fn header(tree: &Value, like: &Header) -> Option<Header> {
    let own = tree.get(OWN)?;
    if interchange::entries(own).iter().any(|(key, _)| !OWN_KEYS.contains(&key.as_str())) {
        return None;
    }
    let text = |key: &str| match own.get(key) {
        Some(Value::Text(text)) => Some(text.as_str()),
        _ => None,
    };
    let (major, minor) = text("schema_version")?.split_once('.')?;
    let reserved = match own.get("reserved") {
        Some(Value::Bytes(bytes)) => bytes.as_slice().try_into().ok()?,
        Some(_) => return None,
        None => [0; 80],
    };
    Some(Header {
        application: field_bytes(own.get("application")?)?,
        schema: field_bytes(own.get("schema")?)?,
        schema_version: Version::new(major.parse().ok()?, minor.parse().ok()?),
        reserved,
        ..*like
    })
}

/// Chunks of an earlier file that the new file restores.
#[derive(Debug)]
pub(crate) struct Chunks {
    pub(crate) frames: u64,
    /// In the order of their ids.
    pub(crate) names: Vec<String>,
    stored: HashMap<String, Vec<(u64, u64)>>,
    /// Number of chunks of the earlier file.
    pub(crate) count: Option<u64>,
}

impl Chunks {
    /// `None` where carried metadata do not describe chunks.
    pub(crate) fn of(tree: &Value) -> Option<Self> {
        let own = tree.get(OWN)?;
        let number = |value: &Value| match value {
            Value::Int(value) => u64::try_from(*value).ok(),
            _ => None,
        };
        let list = |value: &Value| match value {
            Value::List(items) => Some(items.clone()),
            _ => None,
        };
        let text = |value: &Value| match value {
            Value::Text(text) => Some(text.clone()),
            _ => None,
        };
        let run = |value: &Value| match list(value)?.as_slice() {
            [start, end] => Some((number(start)?, number(end)?)),
            _ => None,
        };
        let mut stored = HashMap::new();
        for (name, runs) in own.get("stored").map(interchange::entries).unwrap_or_default() {
            let runs = list(runs)?.iter().map(run).collect::<Option<Vec<_>>>()?;
            let rising = runs.windows(2).all(|pair| matches!(pair, [(_, end), (start, _)] if end <= start));
            if !rising || runs.iter().any(|(start, end)| start >= end) {
                return None;
            }
            stored.insert(name.clone(), runs);
        }
        Some(Self {
            frames: number(own.get("frames")?)?,
            names: list(own.get("names")?)?.iter().map(text).collect::<Option<Vec<_>>>()?,
            stored,
            count: own.get("chunks").and_then(number),
        })
    }

    /// Forgets in which frames names are stored. Returns the names for which that was recorded.
    pub(crate) fn forget_stored(&mut self) -> Vec<String> {
        std::mem::take(&mut self.stored).into_keys().collect()
    }

    /// The frames that store the chunks of a name; `None` for all.
    pub(crate) fn stored(&self, name: &str) -> Option<&[(u64, u64)]> {
        self.stored.get(name).map(Vec::as_slice)
    }

    /// The name that a path means: its own, or that of one frame.
    pub(crate) fn find<'p>(&self, path: &'p str) -> Option<(Option<u64>, &'p str)> {
        let known = |name: &str| self.names.iter().any(|own| own == name);
        if known(path) {
            return Some((None, path));
        }
        let (frame, name) = path.strip_prefix("frames/")?.split_once('/')?;
        let frame = frame.parse().ok().filter(|frame| *frame < self.frames)?;
        known(name).then_some((Some(frame), name))
    }

    /// Whether the shape of a name's chunks is stored in a second chunk.
    pub(crate) fn has_shape(&self, name: &str) -> bool {
        self.names.iter().any(|own| own.strip_suffix(SHAPE_SUFFIX) == Some(name))
    }
}

/// True for a frame within ascending runs.
pub(crate) fn is_within(runs: Option<&[(u64, u64)]>, frame: u64) -> bool {
    let Some(runs) = runs else { return true };
    let at = runs.partition_point(|(_, end)| *end <= frame);
    runs.get(at).is_some_and(|(start, _)| *start <= frame)
}

#[cfg(test)]
mod tests;
