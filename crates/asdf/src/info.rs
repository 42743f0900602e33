//! Keys and values of `info`.

use std::collections::BTreeMap;

use container_core::Value;

use crate::check::arrays::spare_count;
use crate::compression::codec_name;
use crate::digest;
use crate::file::File;
use crate::header::STANDARD;
use crate::layout::{IndexState, StoredBlock};
use crate::ndarray::ByteSource;
use crate::yaml::{Kind, Node};

/// Names of extensions, and comment lines, that are shown.
const MAX_NAMES: usize = 20;

/// Length of the line that names the standard, if it ends in CR LF right after the version. Other comments of this length are listed.
const MAX_STANDARD_LINE: u64 = 22;

/// Limit of the comment bytes that are read.
const MAX_COMMENT_BYTES: u64 = 64 << 10;

pub(crate) fn details(file: &File) -> Vec<(String, Value)> {
    let (layout, root) = (file.front(), file.tree().root());
    let mut list = List::default();
    list.add("standard", layout.header.standard.map(|version| version.to_string()));
    if layout.header.standard.is_none() {
        list.add("standard taken", layout.header.standard_or_first().to_string());
    }
    comments(file, &mut list);
    list.add("written by", software(root.get("asdf_library")));
    if let Some(fault) = file.unread_tree() {
        // The fault of the tree is shown here because no dataset shows it.
        let message = fault.message();
        list.add("tree", message.strip_prefix("the tree ").unwrap_or(message).to_owned());
    }
    let tree = layout.tree.clone().unwrap_or(0..0);
    list.add("tree bytes", tree.end.saturating_sub(tree.start));
    list.add("padding bytes", layout.padding.end.saturating_sub(layout.padding.start));
    list.add("arrays", file.arrays().len() as u64);
    let external: Vec<Value> = {
        let mut names: Vec<&str> = file
            .arrays()
            .iter()
            .filter_map(|entry| match &entry.array.source {
                ByteSource::External(uri) => Some(uri.as_str()),
                _ => None,
            })
            .collect();
        names.sort_unstable();
        names.dedup();
        names.into_iter().take(MAX_NAMES).map(Value::from).collect()
    };
    if !external.is_empty() {
        list.add("external files", external);
    }
    list.add("blocks", file.block_count() as u64);
    if file.is_listed() {
        // The rest is in the headers of the blocks, which are not read for it.
        list.add("block index", "unproved");
        history(root.get("history"), &mut list);
        return list.0;
    }
    let layout = file.layout();
    let unnamed = spare_count(file);
    if unnamed > 0 {
        list.add("blocks that no array names", unnamed as u64);
    }
    if !layout.blocks.is_empty() {
        blocks(&layout.blocks, &mut list);
        let index = match layout.index_state {
            IndexState::Valid => "proved",
            IndexState::Absent => "absent",
            IndexState::Invalid => "stale",
        };
        list.add("block index", index);
    }
    history(root.get("history"), &mut list);
    list.0
}

#[derive(Default)]
struct List(Vec<(String, Value)>);

impl List {
    fn add(&mut self, name: &str, value: impl Into<Value>) {
        self.0.push((name.to_owned(), value.into()));
    }
}

/// The comment lines of the header, but for the one that names the standard.
fn comments(file: &File, list: &mut List) {
    let header = &file.front().header;
    let range = header.comments.clone();
    if range.end.saturating_sub(range.start) <= MAX_STANDARD_LINE && header.standard.is_some() {
        return;
    }
    let bytes = file.source().read(range.start..range.end.min(range.start.saturating_add(MAX_COMMENT_BYTES)));
    let Ok(bytes) = bytes else { return };
    let lines = bytes.split(|byte| *byte == b'\n').map(<[u8]>::trim_ascii_end);
    let is_other = |line: &&[u8]| !line.is_empty() && !line.starts_with(STANDARD);
    let mut others = lines.filter(is_other).map(|line| Value::from(&*String::from_utf8_lossy(line)));
    let shown: Vec<Value> = others.by_ref().take(MAX_NAMES).collect();
    if !shown.is_empty() {
        list.add("comments", shown);
    }
    let more = others.count();
    if more > 0 {
        list.add("more comments", more as u64);
    }
}

/// Name and version, as `core/software` has them.
fn software(node: Option<Node<'_>>) -> Option<String> {
    let node = node?;
    let name = node.get("name")?.text().to_owned();
    Some(match node.get("version").map(Node::text) {
        Some(version) if !version.is_empty() => format!("{name} {version}"),
        _ => name,
    })
}

fn blocks(blocks: &[StoredBlock], list: &mut List) {
    let mut codecs: BTreeMap<&str, u64> = BTreeMap::new();
    for block in blocks {
        *codecs.entry(codec_name(block.label())).or_default() += 1;
    }
    let codecs = codecs.into_iter().map(|(word, count)| (word.to_owned(), count.into())).collect();
    list.add("block codecs", Value::Map(codecs));
    let with_digest = blocks.iter().filter(|block| digest::expected(block).is_some()).count();
    if with_digest > 0 {
        list.add("blocks with checksum", with_digest as u64);
    }
    if blocks.iter().any(|block| block.header.is_streamed()) {
        list.add("streamed", true);
    }
    let sum = |size: fn(&StoredBlock) -> u64| blocks.iter().map(size).fold(0, u64::saturating_add);
    let stored = sum(|block| block.data.end.saturating_sub(block.data.start));
    let decoded = sum(StoredBlock::data_size);
    list.add("stored bytes", stored);
    list.add("decoded bytes", decoded);
    let unused = sum(|block| block.end.saturating_sub(block.data.end));
    if unused > 0 {
        list.add("allocated and not used", unused);
    }
}

/// Adds the number of entries of the history, and the extensions that wrote the file.
fn history(node: Option<Node<'_>>, list: &mut List) {
    let Some(node) = node else { return };
    let entries = if node.kind() == Kind::Sequence { Some(node) } else { node.get("entries") };
    let entries = entries.map_or(0, Node::len);
    if entries > 0 {
        list.add("history entries", entries as u64);
    }
    let Some(extensions) = node.get("extensions") else { return };
    let name = |node: Node<'_>| {
        let name = node.get("extension_uri").or_else(|| node.get("extension_class"))?;
        Some(Value::from(name.text()))
    };
    let names: Vec<Value> = extensions.items().filter_map(name).take(MAX_NAMES).collect();
    if !names.is_empty() {
        list.add("extensions", names);
    }
}
