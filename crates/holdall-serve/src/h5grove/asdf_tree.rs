//! Entities of an ASDF file: the nodes of its tree, looked up one by one.

use std::collections::HashSet;

use container_core::container::Container;
use container_core::json_pointer::escape;
use container_core::{Error, Limits, Value};
use holdall::asdf::yaml::{Int, Kind, Node, Scalar, YAML_TAG_PREFIX};
use holdall::asdf::{File, NdArray, TAG_PREFIX};

use super::Children;
use super::attributes::{Attribute, Attributes};
use super::entity::{Entity, Part, has_mask_entity};
use super::inline::Inline;
use super::names::{MAX_CHILDREN, container_path, entity_path, name};

/// Items of the longest list that is a dataset: a longer one is a group. Every alias of a list is looked through again.
const MAX_LIST: usize = 100_000;

/// Bytes of texts that are copied for one entity: aliases make any number of them.
const MAX_COPIED: usize = 64 << 20;

/// The file, where its tree has entities: one that can be read, and is a mapping or a list.
pub(super) fn file(container: &dyn Container) -> Option<&File> {
    let file = container.as_any()?.downcast_ref::<File>()?;
    file.require_tree().ok()?;
    let root = file.tree().root();
    // The blocks of a file without a tree are listed as datasets.
    let is_only_blocks = root.is_empty() && container.listed_count() > 0;
    (root.kind() != Kind::Scalar && !is_array(root) && !is_only_blocks).then_some(file)
}

/// The node at the steps of a path; of an array its dataset.
pub(super) fn resolve(file: &File, container: &dyn Container, steps: &[&str]) -> Option<Entity> {
    if steps.is_empty() {
        return Some(Entity::Group(attributes(file.tree().root())));
    }
    let path = container_path(steps);
    let node = file.tree().find(&format!("/{path}"))?;
    Some(entity(node, &path, Form::Whole, &mut |path| container.find(path)))
}

/// The children of a group.
pub(super) fn children(file: &File, container: &dyn Container, steps: &[&str]) -> Children {
    let path = container_path(steps);
    let node =
        if steps.is_empty() { Some(file.tree().root()) } else { file.tree().find(&format!("/{path}")) };
    let mut children = Children::default();
    let Some(node) = node.filter(|node| !is_array(*node)) else { return children };
    // As the container names it: the first step of an empty key begins with no slash.
    let above = if steps.is_empty() { String::new() } else { format!("{path}/") };
    let mut indices = Indices { file, container, next: 0 };
    let mut add = |step: String, node: Node<'_>| {
        let own = entity(node, &format!("{above}{step}"), Form::Listed, &mut |path| indices.find(path));
        let masked = match own {
            Entity::Dataset { index, .. } => has_mask_entity(container, index).then_some(index),
            _ => None,
        };
        children.entries.push((name(&step).into_owned(), own));
        if let Some(index) = masked {
            children.entries.push((format!("{step}.mask"), Entity::Mask { index }));
        }
    };
    let mut seen = HashSet::new();
    match node.kind() {
        Kind::Sequence => {
            for (index, item) in node.items().enumerate().take(MAX_CHILDREN) {
                add(index.to_string(), item);
            }
        }
        _ => {
            // A mapping that is cut is as written: to find the effective pairs takes a table of all of them.
            let pairs: Vec<_> = if node.len() > MAX_CHILDREN {
                let is_merge = |key: Node<'_>| matches!(key.scalar(), Some(Scalar::Merge));
                node.entries().filter(|(key, _)| !is_merge(*key)).take(MAX_CHILDREN).collect()
            } else {
                node.pairs()
            };
            for (key, value) in pairs.into_iter().take(MAX_CHILDREN) {
                let Some(key) = key.key_text() else { continue };
                let step = escape(&key).into_owned();
                if seen.insert(step.clone()) {
                    add(step, value);
                }
            }
        }
    }
    let rest = node.len().saturating_sub(MAX_CHILDREN);
    children.unlisted = u64::try_from(rest).unwrap_or(u64::MAX);
    children
}

/// Number of arrays that are looked through for the one of the next node before the table of all paths is made.
const MAX_SKIPPED: usize = 1000;

/// Indices of datasets in the order of the tree: those of neighbours are near each other.
struct Indices<'f> {
    file: &'f File,
    container: &'f dyn Container,
    next: usize,
}

impl Indices<'_> {
    fn find(&mut self, path: &str) -> Option<usize> {
        let near = self.file.arrays().iter().enumerate().skip(self.next).take(MAX_SKIPPED);
        let found = near.into_iter().find(|(_, entry)| entry.path == path).map(|(index, _)| index);
        // A view of the file may have other indices.
        let is_own =
            |index: &usize| self.container.dataset(*index).is_some_and(|dataset| dataset.path == path);
        let index = found.filter(is_own).or_else(|| self.container.find(path))?;
        self.next = index;
        Some(index)
    }
}

/// The paths of all entities, at most `most` of them.
pub(super) fn paths(file: &File, most: usize, limits: &Limits) -> Vec<String> {
    let mut paths = vec!["/".to_owned()];
    let mut look = |path: &str, node: Node<'_>| {
        if paths.len() >= most {
            return Err(Error::cancelled());
        }
        if !path.is_empty() {
            paths.push(entity_path(path));
        }
        Ok(!is_array(node) && !is_list_of_scalars(node))
    };
    // Ends early where there are more paths than that.
    let _ = file.tree().document().walk(false, limits, &mut look);
    paths
}

fn is_array(node: Node<'_>) -> bool {
    node.tag().is_some_and(NdArray::is_tag)
}

fn is_list_of_scalars(node: Node<'_>) -> bool {
    node.kind() == Kind::Sequence
        && node.len() <= MAX_LIST
        && node.items().all(|item| item.kind() == Kind::Scalar)
}

/// The extent to which the values of the tree are read for an entity.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Type and shape alone, for the list of a group.
    Listed,
    /// The values, too.
    Whole,
}

fn entity(node: Node<'_>, path: &str, form: Form, index_of: &mut dyn FnMut(&str) -> Option<usize>) -> Entity {
    let attributes = attributes(node);
    if is_array(node) {
        return match index_of(path) {
            Some(index) => Entity::Dataset { index, part: Part::Whole, attributes },
            None => Entity::Unresolved(format!(
                "the array {path} is listed under another path, or cannot be read"
            )),
        };
    }
    let is_list = is_list_of_scalars(node);
    if node.kind() != Kind::Scalar && !is_list {
        return Entity::Group(attributes);
    }
    let copied = |total: usize, item: Node<'_>| total.saturating_add(item.text().len());
    let len = if is_list { node.items().fold(0, copied) } else { copied(0, node) };
    if form == Form::Whole && len > MAX_COPIED {
        return Entity::Unresolved(format!("{path} has {len} bytes of text: holdall meta prints it"));
    }
    let read = |item: Node<'_>| item.scalar().map(|scalar| value(item, scalar, form));
    let inline = match is_list {
        true => Some(Inline::list(&node.items().filter_map(read).collect::<Vec<_>>())),
        // The length of bytes is a part of their type.
        false => node.scalar().and_then(|scalar| {
            let form = if matches!(scalar, Scalar::Binary(_)) { Form::Whole } else { form };
            Inline::scalar(&value(node, scalar, form))
        }),
    };
    match (inline, form) {
        (None, _) => Entity::Group(attributes),
        (Some(inline), Form::Whole) => Entity::Value(inline, attributes),
        (Some(inline), Form::Listed) => {
            Entity::Described { shape: inline.shape_json(), kind: inline.type_json(), attributes }
        }
    }
}

/// The tag of a node as its attribute, in the short spelling of files.
fn attributes(node: Node<'_>) -> Attributes {
    let mut attributes = Attributes::default();
    if let Some(tag) = node.tag().filter(|tag| *tag != "!") {
        let short = match (tag.strip_prefix(TAG_PREFIX), tag.strip_prefix(YAML_TAG_PREFIX)) {
            (Some(own), _) => format!("!{own}"),
            (_, Some(own)) => format!("!!{own}"),
            _ => tag.to_owned(),
        };
        attributes.push(Attribute::text("tag", &short));
    }
    attributes
}

/// The value of a scalar; for a list of a group, texts and bytes are empty.
fn value(node: Node<'_>, scalar: Scalar<'_>, form: Form) -> Value {
    match scalar {
        Scalar::Null => Value::Null,
        Scalar::Bool(value) => value.into(),
        Scalar::Int(Int::Small(value)) => value.into(),
        Scalar::Float(value) => value.into(),
        Scalar::Binary(bytes) if form == Form::Whole => bytes.into(),
        Scalar::Binary(_) => Vec::<u8>::new().into(),
        _ if form == Form::Whole => node.text().into(),
        _ => "".into(),
    }
}
