//! Exports a file as YAML without blocks: every array is inline.

use std::collections::HashMap;

use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::{Error, Result};

use crate::edit::TreeEditor;
use crate::file::File;
use crate::header::Version;
use crate::ndarray::ByteSource;
use crate::writer::root::ndarray_tag;
use crate::writer::{ArraySpec, Plan, WriteOptions};
use crate::yaml::{NodeId, Yaml};

/// The file as text alone: its header and comment lines, and its tree with the elements of every array in place of its source. The rest of the tree
/// stays as it is, byte for byte. External arrays are included.
///
/// # Errors
/// `Usage` for an array of more elements than a tree should hold, for one that cannot be replaced because something else names a part of
/// it, and for a file without a tree; those of reading the arrays.
pub fn to_yaml(file: &File, options: &ReadOptions) -> Result<Vec<u8>> {
    if file.front().tree.is_none() {
        return Err(Error::usage("a file without a tree has no arrays to put into the tree"));
    }
    let standard = file.front().header.standard_or_first();
    let inliner = Inliner {
        file,
        indices: file.arrays().iter().enumerate().map(|(index, entry)| (entry.array.node, index)).collect(),
        standard,
        options,
    };
    let document = file.tree().document();
    let mut values = Vec::new();
    // Each array at its own node, not at its aliases; an array within one is written with it.
    document.walk(false, &options.limits, &mut |path, node| {
        let index = (!node.is_alias()).then(|| inliner.indices.get(&node.id())).flatten();
        let Some(value) = index.and_then(|index| inliner.value(*index).transpose()) else { return Ok(true) };
        // The path of an empty key is that of the root, its pointer is not.
        let is_root = node.id() == document.root().id();
        values.push((if is_root { String::new() } else { format!("/{path}") }, value?));
        Ok(false)
    })?;
    let is_named = |path: &str| document.find(path).is_some_and(|node| node.anchor().is_some());
    let (named, others): (Vec<_>, Vec<_>) = values.into_iter().partition(|(path, _)| is_named(path));
    let mut editor = TreeEditor::new(document.clone());
    editor.set_all(others.iter().map(|(path, value)| (path.as_str(), value)))?;
    // A node with aliases stays where it is, and changes inside.
    for (path, value) in &named {
        set_pairs(&mut editor, path, value)?;
    }
    let mut text = file.source().read(0..file.front().header.comments.end)?.into_owned();
    text.extend_from_slice(editor.text().as_bytes());
    Ok(text)
}

/// Replaces the pairs of the array at a pointer by those of another, and takes out those of its storage.
fn set_pairs(editor: &mut TreeEditor, path: &str, value: &Yaml) -> Result<()> {
    let below = |key: &str| format!("{path}/{key}");
    if let Yaml::Tagged(_, value) = value
        && let Yaml::Mapping(pairs, _) = &**value
    {
        for (key, value) in pairs {
            if let Yaml::Text(key, _) = key {
                editor.set(&below(key), value)?;
            }
        }
    }
    for key in ["source", "offset", "strides", "byteorder"].map(below) {
        if editor.document().find(&key).is_some() {
            editor.remove(&key)?;
        }
    }
    Ok(())
}

struct Inliner<'f> {
    file: &'f File,
    indices: HashMap<NodeId, usize>,
    standard: Version,
    options: &'f ReadOptions,
}

impl Inliner<'_> {
    /// An array with its elements; `None` where they are inline already.
    fn value(&self, index: usize) -> Result<Option<Yaml>> {
        let document = self.file.tree().document();
        let array = self.file.arrays().get(index).map(|entry| &entry.array);
        let Some(array) = array.filter(|array| !matches!(array.source, ByteSource::Inline(_))) else {
            return Ok(None);
        };
        let values = self.file.read_index(index, &self.file.whole(index)?, self.options)?;
        let mut spec = ArraySpec::new(values.dtype().clone(), values.shape());
        if array.mask.is_some()
            && let Some(mask) = document.node(array.node).get("mask")
        {
            let index = (!mask.is_alias()).then(|| self.indices.get(&mask.id())).flatten();
            let inlined = index.map_or(Ok(None), |index| self.value(*index))?;
            spec.mask = Some(inlined.map_or_else(|| Yaml::from_node(mask), Ok)?);
        }
        // A tag of a later version than the header's is kept.
        let tag = document.node(array.node).tag();
        let is_later = tag.is_some_and(|tag| tag == ndarray_tag(Version::LAST_STANDARD));
        let standard = if is_later { Version::LAST_STANDARD } else { self.standard };
        let plan = Plan::new(WriteOptions { standard, ..WriteOptions::default() });
        plan.inline(&spec, &values.bytes(Order::C, &self.options.limits)?).map(Some)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_are_put_into_the_tree_and_all_else_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.asdf");
        let mut plan = Plan::new(WriteOptions::default());
        let dtype = container_core::dtype::DType::parse("<i2").unwrap();
        let spec = ArraySpec::new(dtype, [2, 2]);
        let array = plan.array(&spec).unwrap();
        let tree = Yaml::mapping([("a", array), ("b", Yaml::text("yes"))]);
        let mut writer = plan.create(tree, &path, container_core::write::Overwrite::Refuse).unwrap();
        writer.write(&[1, 0, 2, 0, 3, 0, 255, 255]).unwrap();
        writer.finish().unwrap();
        let file = File::open(&path).unwrap();
        let text = String::from_utf8(to_yaml(&file, &ReadOptions::default()).unwrap()).unwrap();
        assert!(text.starts_with("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n"), "{text}");
        assert!(text.contains("[1, 2]") && text.contains("[3, -1]") && text.contains("b: 'yes'"), "{text}");
        assert!(!text.contains("source") && text.ends_with("...\n"), "{text}");
        let back = File::from_bytes(text.into_bytes(), crate::OpenOptions::default()).unwrap();
        let whole = back.whole(0).unwrap();
        let values = back.read("a", &whole, &ReadOptions::default()).unwrap();
        let limits = container_core::Limits::default();
        assert_eq!(*values.elements::<i16>(Order::C, &limits).unwrap(), [1, 2, 3, -1]);
    }

    #[test]
    fn arrays_that_are_named_twice_or_mask_another_stay_so() {
        let tree = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: &one !core/ndarray-1.1.0\n  source: 0\n  datatype: int8\n  byteorder: little\n  shape: [2]\n  mask: !core/ndarray-1.1.0 {source: 0, datatype: bool8, byteorder: little, shape: [2]}\nb: *one # kept\n...\n";
        let mut bytes = [b"#ASDF 1.0.0\n", tree.as_bytes(), b"\xd3BLK\x00\x30", &[0; 8][..]].concat();
        (0..3).for_each(|_| bytes.extend_from_slice(&2_u64.to_be_bytes()));
        bytes.extend_from_slice(&[0; 16]);
        bytes.extend_from_slice(&[1, 0]);
        let file = File::from_bytes(bytes, crate::OpenOptions::default()).unwrap();
        let text = String::from_utf8(to_yaml(&file, &ReadOptions::default()).unwrap()).unwrap();
        assert!(text.contains("a: &one !core/ndarray-1.1.0") && text.contains("b: *one # kept\n"), "{text}");
        assert!(text.contains("[true, false]") && !text.contains("source"), "{text}");
        let back = File::from_bytes(text.into_bytes(), crate::OpenOptions::default()).unwrap();
        let mask = back.mask("b", &back.whole(0).unwrap(), &ReadOptions::default()).unwrap().unwrap();
        assert_eq!(*mask.bytes(Order::C, &container_core::Limits::default()).unwrap(), [1, 0]);
    }

    /// Python asdf 6.0.0 takes such a file as one of standard 1.0.0, which does not have `ndarray-1.1.0`.
    #[test]
    fn a_file_that_names_no_standard_gets_arrays_of_the_first() {
        let tree = |tag: &str, datatype: &str| {
            format!(
                "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.0.0\na: !core/{tag} {{source: 0, datatype: {datatype}, byteorder: little, shape: [1]}}\n...\n"
            )
        };
        let text = |head: &str, tag: &str, datatype: &str| {
            let mut bytes =
                [head.as_bytes(), tree(tag, datatype).as_bytes(), b"\xd3BLK\x00\x30", &[0; 8]].concat();
            (0..3).for_each(|_| bytes.extend_from_slice(&2_u64.to_be_bytes()));
            bytes.extend_from_slice(&[0; 16]);
            bytes.extend_from_slice(&[0, 60]);
            let file = File::from_bytes(bytes, crate::OpenOptions::default()).unwrap();
            String::from_utf8(to_yaml(&file, &ReadOptions::default()).unwrap()).unwrap()
        };
        for head in
            ["#ASDF 1.0.0\n", "#ASDF 1.0.0\n#ASDF_STANDARD one\n", "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n"]
        {
            let text = text(head, "ndarray-1.0.0", "int16");
            assert!(text.contains("!core/ndarray-1.0.0") && text.contains("15360"), "{text}");
        }
        // The array keeps its own version, and with it the types of that version.
        let text = text("#ASDF 1.0.0\n", "ndarray-1.1.0", "float16");
        assert!(text.contains("!core/ndarray-1.1.0") && text.contains("float16"), "{text}");
    }
}
