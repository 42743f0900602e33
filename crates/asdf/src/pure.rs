//! A file without blocks: every array in the tree.

use container_core::array::Array;
use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::{Error, Result};

use crate::edit::TreeEditor;
use crate::file::File;
use crate::header::Version;
use crate::ndarray::{ByteSource, Mask};
use crate::writer::{ArraySpec, Plan, WriteOptions};
use crate::yaml::Yaml;

/// The file as text alone: its header and comment lines, and its tree with the elements of every array in place of its source. All else
/// of the tree stays as it is, byte for byte. Arrays of other files are put in too.
///
/// Costs O(text) for each array.
///
/// # Errors
/// `Usage` for an array of more elements than a tree should hold, and for a file without a tree; those of reading the arrays.
pub fn to_yaml(file: &File, options: &ReadOptions) -> Result<Vec<u8>> {
    if file.layout().tree.is_none() {
        return Err(Error::usage("a file without a tree has no arrays that could be put into it"));
    }
    let standard = file.layout().header.standard.unwrap_or(Version { major: 1, minor: 6, patch: 0 });
    let mut editor = TreeEditor::new(file.tree().document().clone());
    let write = WriteOptions { standard, ..WriteOptions::default() };
    let plan = Plan::new(write);
    let mut done = Vec::new();
    // From the end, so that a mask is in the tree before the array that has it.
    for (index, entry) in file.arrays().iter().enumerate().rev() {
        let array = &entry.array;
        // What an alias names is written where it stands.
        if matches!(array.source, ByteSource::Inline(_)) || done.contains(&array.node) {
            continue;
        }
        done.push(array.node);
        let path = own_path(file, index);
        let values = file.read_index(index, &file.whole(index)?, options)?;
        let mask = match &array.mask {
            None => None,
            Some(Mask::Value(node)) => Some(Yaml::of(editor_node(file, *node))?),
            Some(Mask::Array(_)) => {
                let masked = editor.document().find(&path).and_then(|node| node.get("mask"));
                masked.map(Yaml::of).transpose()?
            }
        };
        editor.set(&path, &node(&plan, &values, mask, options)?)?;
    }
    let comments = 0..file.layout().header.comments.end;
    let mut text = file.source().read(comments)?.into_owned();
    text.extend_from_slice(editor.text().as_bytes());
    Ok(text)
}

fn editor_node(file: &File, node: crate::yaml::NodeId) -> crate::yaml::Node<'_> {
    file.tree().document().node(node)
}

/// The path of an array that does not lead through an alias.
fn own_path(file: &File, index: usize) -> String {
    let Some(entry) = file.arrays().get(index) else { return String::new() };
    let same = file.arrays().iter().filter(|other| other.array.node == entry.array.node);
    let direct = same.map(|other| &other.path).find(|path| {
        let document = file.tree().document();
        let mut at = 0;
        let mut parts = path.match_indices('/').map(|(at, _)| at).chain([path.len()]);
        parts.all(|end| {
            at = end;
            document.find(path.get(..at).unwrap_or_default()).is_some_and(|node| !node.is_alias())
        })
    });
    let path = direct.unwrap_or(&entry.path);
    if path == "." { String::new() } else { path.clone() }
}

fn node(plan: &Plan, values: &Array<'_>, mask: Option<Yaml>, options: &ReadOptions) -> Result<Yaml> {
    let bytes = values.bytes(Order::C, &options.limits)?;
    let mut spec = ArraySpec::new(values.dtype().clone(), values.shape());
    spec.mask = mask;
    plan.inline(&spec, &bytes)
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
}
