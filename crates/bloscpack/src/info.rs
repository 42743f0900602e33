//! The details that `info` shows of a file: those of `blpk info`, and the codecs and filters of the chunks.

use container_core::Value;

use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::file::File;
use crate::header::{Dialect, Options};
use crate::metadata::header::MetadataHeader;
use crate::offsets_index;

/// Maximum number of offsets that are shown, as in `blpk info`.
const MAX_SHOWN_OFFSETS: u64 = 5;

/// Maximum number of chunks whose headers are read for their codecs and filters, where opening did not read them.
const MAX_SAMPLED_CHUNKS: u64 = 8;

/// Maximum length of metadata that are shown here; longer ones only by the metadata commands.
const MAX_SHOWN_METADATA_LEN: usize = 4 << 10;

/// The details, in the order of the file.
pub(crate) fn details(file: &File) -> Vec<(String, Value)> {
    let header = file.header();
    let mut list = List::default();
    list.add("dialect", header.dialect.name());
    if !matches!(header.dialect, Dialect::P0 | Dialect::V1) {
        list.add("offsets", header.options.has(Options::OFFSETS));
        list.add("metadata", header.options.has(Options::METADATA));
        list.add("checksum", checksum(file));
        list.add("typesize", header.typesize);
        list.add("chunk size", i64::from(header.chunk_size));
        list.add("last chunk", i64::from(header.last_chunk));
    }
    list.add("chunks", header.nchunks);
    if header.dialect == Dialect::V3 {
        list.add("spare chunks", header.max_app_chunks);
    }
    let offsets = first_offsets(file);
    if !offsets.is_empty() {
        list.add("first offsets", offsets);
    }
    add_metadata(file, &mut list);
    if let Some(first) = file.first() {
        list.add("first chunk", Value::Map(first_chunk(first)));
    }
    add_all_chunks(file, &mut list);
    if header.dialect.is_variable_length() {
        add_items(file, &mut list);
    }
    list.0
}

#[derive(Default)]
struct List(Vec<(String, Value)>);

impl List {
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }
}

fn first_offsets(file: &File) -> Vec<Value> {
    let used = file.head().used_offsets();
    // A table that is cut by the end of the file is not used, and opening has not read it.
    let count = file.head().count().unwrap_or(0);
    if count.checked_mul(offsets_index::ENTRY) != Some(used.end.saturating_sub(used.start)) {
        return Vec::new();
    }
    let end = used.end.min(used.start.saturating_add(MAX_SHOWN_OFFSETS * offsets_index::ENTRY));
    let bytes = file.source().read(used.start..end.max(used.start)).unwrap_or_default();
    offsets_index::parse(&bytes).into_iter().map(Value::from).collect()
}

fn add_metadata(file: &File, list: &mut List) {
    let Some(metadata) = file.head().metadata() else { return };
    if let Some(header) = &metadata.header {
        list.add("metadata header", Value::Map(section(header)));
    }
    let len = metadata.json.as_ref().map_or(0, Vec::len);
    match &metadata.tree {
        Some(tree) if len <= MAX_SHOWN_METADATA_LEN => list.add("metadata values", tree.clone()),
        Some(_) => list.add("metadata values", format!("{len} bytes of JSON")),
        None => {}
    }
}

fn section(header: &MetadataHeader) -> Vec<(String, Value)> {
    let mut list = List::default();
    let format = String::from_utf8_lossy(&header.magic_format);
    list.add("format", format.trim_matches(['\0', ' ']));
    list.add("options", header.meta_options);
    list.add("checksum", header.meta_checksum.name());
    list.add(
        "codec",
        match header.meta_codec {
            0 => "none",
            1 => "zlib",
            _ => "unknown",
        },
    );
    list.add("level", header.meta_level);
    list.add("size", header.meta_size);
    list.add("max size", header.max_meta_size);
    list.add("stored size", header.meta_comp_size);
    list.add("user codec", String::from_utf8_lossy(&header.user_codec).trim_matches('\0'));
    list.0
}

fn first_chunk(chunk: &ChunkEntry) -> Vec<(String, Value)> {
    let mut list = List::default();
    list.add("version", chunk.version);
    list.add("flags", format!("{:#04x}", chunk.flags));
    list.add("codec", chunk.codec());
    list.add("filter", chunk.filter());
    if !chunk.is_blosc2() {
        // A set bit means that blocks are not split; `blpk info` prints it inverted.
        list.add("blocks", if chunk.flags & 0x10 == 0 { "split" } else { "not split" });
    }
    list.add("typesize", chunk.typesize);
    list.add("nbytes", chunk.nbytes());
    list.add("blocksize", chunk.blocksize);
    list.add("cbytes", chunk.cbytes);
    list.0
}

fn whole(file: &File) -> impl Iterator<Item = &ChunkEntry> {
    file.chunks().iter().filter(|chunk| chunk.state() == ChunkState::Whole)
}

fn add_all_chunks(file: &File, list: &mut List) {
    let counted = |word: fn(&ChunkEntry) -> &'static str| {
        let mut counts: Vec<(String, u64)> = Vec::new();
        for chunk in whole(file) {
            match counts.iter_mut().find(|(known, _)| known == word(chunk)) {
                Some((_, count)) => *count += 1,
                None => counts.push((word(chunk).to_owned(), 1)),
            }
        }
        Value::Map(counts.into_iter().map(|(word, count)| (word, count.into())).collect())
    };
    if let Some(outline) = file.outline().filter(|outline| outline.count() > MAX_SAMPLED_CHUNKS) {
        list.add("codecs", Value::Null);
        list.add("filters", Value::Null);
        let decoded = file.head().data_len().unwrap_or(0);
        list.add("stored bytes", outline.stored());
        list.add("decoded bytes", decoded);
        list.add("ratio", ratio(decoded, outline.stored()));
        return;
    }
    if whole(file).next().is_none() {
        return;
    }
    list.add("codecs", counted(ChunkEntry::codec));
    list.add("filters", counted(ChunkEntry::filter));
    let stored: u64 = whole(file).map(|chunk| u64::from(chunk.cbytes)).sum();
    let decoded: u64 = whole(file).map(|chunk| u64::from(chunk.nbytes())).sum();
    list.add("stored bytes", stored);
    list.add("decoded bytes", decoded);
    list.add("ratio", ratio(decoded, stored));
}

fn add_items(file: &File, list: &mut List) {
    let count = file.chunks().len() as u64;
    list.add("items", count);
    if let Some(item_type) = file.layout().item_type() {
        list.add("item type", item_type.to_string());
    }
    if count == 0 {
        return;
    }
    // A header and an offset for each, and its digest.
    let each = 16 + offsets_index::ENTRY + file.header().digest_len();
    list.add("overhead bytes per item", each);
    let overhead = each.saturating_mul(count);
    if overhead > file.layout().file_len() / 2 {
        let advice = "above half of the file is overhead: a Blosc2 frame with blocks of variable length holds items this \
                      small in less, and so do two arrays, of the joined items and of their ends";
        list.add("advice", advice);
    }
}

/// Rounds to three digits after the point.
#[allow(clippy::cast_precision_loss, reason = "three digits are left of it")]
fn ratio(decoded: u64, stored: u64) -> f64 {
    (decoded as f64 / stored.max(1) as f64 * 1000.0).round() / 1000.0
}

/// The codecs of all chunks by the command's words; chunks stored as they are count only where all of them are. Of many chunks the codec of the
/// first that has one.
pub(crate) fn codecs(file: &File) -> String {
    if let Some(outline) = file.outline() {
        return outline.codec().to_owned();
    }
    joined(whole(file).map(ChunkEntry::codec))
}

fn joined(words: impl Iterator<Item = &'static str>) -> String {
    let mut known: Vec<&str> = Vec::new();
    for word in words.filter(|word| *word != "none") {
        if !known.contains(&word) {
            known.push(word);
        }
    }
    if known.is_empty() { "none".to_owned() } else { known.join("+") }
}

/// Name of the checksum of the chunks.
pub(crate) fn checksum(file: &File) -> &'static str {
    if file.header().digest_len() == 0 && file.header().checksum.is_known() {
        return "none";
    }
    file.header().checksum.name()
}
