//! `holdall tree`: metadata and datasets as one tree.

use std::collections::HashMap;
use std::ffi::OsString;
use std::io::Write;

use container_core::Value;
use container_core::container::{Container, Dataset, Visibility, visible_datasets};
use container_core::json_pointer::escape;
use holdall::address::{Address, place, pointer};
use holdall::glob;
use holdall::open::Accept;

use super::{chosen, open, shown};
use crate::errors::{ErrorContext, Outcome, Result};
use crate::format_value::{MAX_DEPTH, one_line, parts, scalar, shape, type_name};
use crate::many_files::{Folders, each_address, expand_all};
use crate::options::OpenAnywhereArgs;
use crate::output::{Console, DIM, Out, STRONG, printable, to_stderr};

/// Show metadata and datasets as a tree
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Through a pipe every node is a tab-separated row: path, type, value. A path is what follows FILE:: in an address, and what `meta` takes. With --grep or --type only the nodes that match are \
shown, with those above them; no match is exit code 1. Of several files, and of a folder, each row begins with a column more, the file, and as grep has it one match in any of \
them is exit code 0. Tags, which ASDF has, stand before the value; an array stands where it is in the tree.

Examples:
  holdall tree scan.ra
  holdall tree --depth 2 scan.ra
  holdall tree --grep 'dim*' --type list scan.ra
  holdall tree --type '!core/ndarray-*' image.asdf
  holdall tree --grep F158 /data/archive")]
pub struct Args {
    /// Files, FILE::PATH, or folders with all containers below; `-` is standard input
    ///
    /// PATH may be a dataset, a group or a place of the metadata.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<OsString>,

    /// Levels to show
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// Only nodes whose name, tag or value has this text
    ///
    /// Upper or lower case; with * or ? the whole of one fits it as a pattern.
    #[arg(long, value_name = "PATTERN")]
    grep: Option<String>,

    /// Only nodes of a type: dataset, map, text, '<f4', '!unit/*'
    ///
    /// One of dataset, map, list, text, int, float, bool, bytes, null, a dtype such as '<f4', or a tag such as '!unit/unit-*'.
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,

    #[command(flatten)]
    open: OpenAnywhereArgs,
}

pub fn run(args: &Args, console: &mut Console) -> Result<Outcome> {
    let addresses =
        expand_all(&args.files, &args.open.options(console.limits, console.formats), Folders::Searched);
    let (count, name) = (addresses.all.len(), addresses.all.first().map(|named| shown(&named.address.file)));
    let mut shown_any = false;
    each_address(addresses, console, |address, are_several, console| {
        shown_any |= show(args, address, are_several, shown_any, console)?;
        Ok(())
    })?;
    if !shown_any && (args.grep.is_some() || args.kind.is_some()) {
        let name = name.filter(|_| count == 1).unwrap_or_else(|| format!("{count} files"));
        to_stderr(&format!("holdall: {}: nothing matches", printable(&name)));
        return Ok(Outcome::No);
    }
    Ok(Outcome::Yes)
}

/// Shows a file; whether there is anything to show, where only matches are wanted.
fn show(
    args: &Args,
    address: &Address,
    are_several: bool,
    shown_before: bool,
    console: &mut Console,
) -> Result<bool> {
    let opened =
        open(&address.file, Accept::Containers, &args.open.options(console.limits, console.formats))?;
    let container = opened.container.as_ref();
    let nodes = if address.dataset.is_none() && address.selection.is_none() {
        nodes(container, args.depth).on(shown(&address.file))?
    } else {
        match chosen(address, container, Visibility::Always) {
            Ok(datasets) => {
                let (mut nodes, most) = (Vec::new(), most_levels(args.depth));
                datasets.for_each(|dataset| grow_dataset(&dataset, 1, most, &mut nodes));
                nodes
            }
            Err(failure) => match subtree(address, container, args.depth).on(shown(&address.file))? {
                Some(nodes) => nodes,
                None => return Err(failure),
            },
        }
    };
    let kept = prune(&nodes, |node| args.wants(node));
    let file = shown(&address.file);
    if kept.is_empty() && (args.grep.is_some() || args.kind.is_some()) {
        return Ok(false);
    }
    if console.out.is_for_people() {
        if shown_before {
            writeln!(console.out)?;
        }
        draw(&heading(&file, container), &kept, &mut console.out)?;
    } else {
        for node in &kept {
            let text = node.shown();
            let row = [&file, node.path.as_str(), node.kind, &text];
            console.out.row(if are_several { &row } else { &row[1..] })?;
        }
    }
    Ok(true)
}

fn most_levels(depth: Option<usize>) -> usize {
    depth.unwrap_or(MAX_DEPTH).min(MAX_DEPTH)
}

/// The nodes of all metadata and of the datasets that a plain listing shows.
///
/// # Errors
/// Those of the metadata.
pub fn nodes(container: &dyn Container, depth: Option<usize>) -> container_core::Result<Vec<Node>> {
    let (mut nodes, most) = (Vec::new(), most_levels(depth));
    let tags = holdall::yaml_text::tags(container)?;
    let meta = container.meta()?;
    let dataset = |path: &str| Some(container.dataset(container.find(path)?)?.into_owned());
    let has_tag = |path: &str| tags.contains_key(&format!("/{path}"));
    let (mut parts, mut others) = (HashMap::<String, Vec<Dataset>>::new(), Vec::new());
    for (_, dataset) in visible_datasets(container) {
        // Arrays with a tag are in the tree, and parts of one of them below it.
        if has_tag(&dataset.path) {
            continue;
        }
        let is_array = |path: &&str| has_tag(path) && container.find(path).is_some();
        let whole = above(&dataset.path).find(is_array).map(str::to_owned);
        match whole {
            Some(whole) => parts.entry(whole).or_default().push(dataset.into_owned()),
            None => others.push(dataset),
        }
    }
    Growth { dataset: &dataset, parts, tags: &tags, most, nodes: &mut nodes }.grow(&meta, "", 1);
    others.iter().for_each(|dataset| grow_dataset(dataset, 1, most, &mut nodes));
    Ok(nodes)
}

/// The nodes at and below a place of the metadata; `None` for an address of none.
///
/// # Errors
/// Those of the metadata.
fn subtree(
    address: &Address,
    container: &dyn Container,
    depth: Option<usize>,
) -> container_core::Result<Option<Vec<Node>>> {
    let Some(path) = address.dataset.as_deref().filter(|_| address.selection.is_none()) else {
        return Ok(None);
    };
    let pointer = pointer(path);
    let (top, below) = (place(&pointer), format!("{}/", place(&pointer)));
    let mut nodes = nodes(container, None)?;
    nodes.retain(|node| node.path == top || node.path.starts_with(&below));
    let Some(above) = nodes.first().map(|node| node.depth.saturating_sub(1)) else { return Ok(None) };
    nodes.iter_mut().for_each(|node| node.depth = node.depth.saturating_sub(above));
    nodes.retain(|node| node.depth <= most_levels(depth));
    Ok(Some(nodes))
}

/// The paths above a path, the nearest first.
fn above(path: &str) -> impl Iterator<Item = &str> {
    path.rmatch_indices('/').filter_map(|(end, _)| path.get(..end))
}

fn heading(file: &str, container: &dyn Container) -> String {
    format!("{file} ({})", container.about().format)
}

impl Args {
    fn wants(&self, node: &Node) -> bool {
        let tag = node.tag.as_deref().unwrap_or_default();
        let grep = self.grep.as_ref().is_none_or(|pattern| {
            fits(pattern, &node.name) || fits(pattern, &node.text) || fits(pattern, tag)
        });
        let is_tag = |kind: &str| kind.starts_with('!') && fits(kind, tag);
        let kind = self
            .kind
            .as_ref()
            .is_none_or(|kind| kind == node.kind || node.dtype.as_ref() == Some(kind) || is_tag(kind));
        grep && kind
    }
}

/// A line of the tree.
pub struct Node {
    /// Its level; those of the first are at 1.
    pub depth: usize,
    /// The place as addresses spell it: a JSON pointer without its first slash.
    pub path: String,
    /// Its key, number or path.
    pub name: String,
    /// `dataset`, `map`, `list`, `text`, `int`, `float`, `bool`, `bytes` or `null`.
    pub kind: &'static str,
    /// Its value on one line; nothing for a map or a list.
    pub text: String,
    /// The type of a dataset.
    pub dtype: Option<String>,
    /// Its tag in the file.
    pub tag: Option<String>,
}

impl Node {
    /// Text after the name.
    fn shown(&self) -> String {
        match &self.tag {
            Some(tag) => format!("{tag} {}", self.text),
            None => self.text.clone(),
        }
    }
}

/// A tree of metadata as it becomes lines.
struct Growth<'a> {
    /// The dataset of a path.
    dataset: &'a dyn Fn(&str) -> Option<Dataset>,
    /// Datasets that are parts of others, by the path of the whole.
    parts: HashMap<String, Vec<Dataset>>,
    tags: &'a HashMap<String, String>,
    most: usize,
    nodes: &'a mut Vec<Node>,
}

impl Growth<'_> {
    /// Adds the parts of `value`, each followed by its own.
    fn grow(&mut self, value: &Value, path: &str, depth: usize) {
        if depth > self.most {
            return;
        }
        for (name, part) in parts(value) {
            let path = format!("{path}/{}", escape(&name));
            let tag = self.tags.get(&path).cloned();
            // Where nodes have tags, the paths of datasets are theirs.
            let dataset = tag.as_ref().and_then(|_| (self.dataset)(path.strip_prefix('/')?));
            if let Some(dataset) = dataset {
                let at = self.nodes.len();
                grow_dataset(&dataset, depth, self.most, self.nodes);
                if let Some(node) = self.nodes.get_mut(at) {
                    (node.name, node.tag) = (name, tag);
                }
                for part in self.parts.remove(&dataset.path).unwrap_or_default() {
                    let at = self.nodes.len();
                    grow_dataset(&part, depth + 1, self.most, self.nodes);
                    if let Some(node) = self.nodes.get_mut(at) {
                        node.name = part.path.get(dataset.path.len() + 1..).unwrap_or(&part.path).to_owned();
                    }
                }
                continue;
            }
            let (kind, text) = (type_name(part), scalar(part));
            self.nodes.push(Node {
                depth,
                path: place(&path).to_owned(),
                name,
                kind,
                text,
                dtype: None,
                tag,
            });
            self.grow(part, &path, depth + 1);
        }
    }
}

fn grow_dataset(dataset: &Dataset, depth: usize, most: usize, nodes: &mut Vec<Node>) {
    if most < depth {
        return;
    }
    let dtype = dataset.dtype.to_string();
    let text = format!("{dtype} {} {} {}", shape(&dataset.shape), dataset.order.letter(), dataset.codec);
    let path = dataset.path.clone();
    nodes.push(Node {
        depth,
        path: path.clone(),
        name: path.clone(),
        kind: "dataset",
        text,
        dtype: Some(dtype),
        tag: None,
    });
    let depth = depth + 1;
    let attributes = dataset.attributes.iter().filter(|_| most >= depth);
    for (name, value) in attributes {
        let path = format!("{path}/{}", escape(name));
        let (kind, text) = (type_name(value), one_line(value, 1000));
        nodes.push(Node { depth, path, name: name.clone(), kind, text, dtype: None, tag: None });
    }
}

/// The nodes that are wanted, and those above them.
fn prune(nodes: &[Node], wants: impl Fn(&Node) -> bool) -> Vec<&Node> {
    // Backwards: a node's parent is the next one that is a level higher.
    let mut parent = 0;
    let mut kept: Vec<&Node> = Vec::new();
    for node in nodes.iter().rev() {
        if wants(node) || node.depth == parent {
            parent = node.depth - 1;
            kept.push(node);
        }
    }
    kept.reverse();
    kept
}

fn draw(heading: &str, nodes: &[&Node], out: &mut Out) -> std::io::Result<()> {
    let paint = out.paint;
    writeln!(out, "{}", paint.with(STRONG, &printable(heading)))?;
    let last = last_of_their_siblings(nodes);
    // Whether the line of each level continues below.
    let mut goes_on: Vec<bool> = Vec::new();
    for (node, last) in nodes.iter().zip(last) {
        goes_on.truncate(node.depth - 1);
        let rails: String = goes_on.iter().map(|goes_on| if *goes_on { "│   " } else { "    " }).collect();
        goes_on.push(!last);
        let branch = if last { "└── " } else { "├── " };
        let name = printable(&node.name);
        let text: String = match node.kind {
            "dataset" => node.shown(),
            _ => one_line(&Value::Text(node.shown()), 100),
        };
        let name = paint.with(STRONG, &name);
        writeln!(out, "{}{name}  {}", paint.with(DIM, &format!("{rails}{branch}")), printable(&text))?;
    }
    Ok(())
}

fn last_of_their_siblings(nodes: &[&Node]) -> Vec<bool> {
    // Backwards: the first node met at a level, since a higher one, is the last of its siblings.
    let mut met: Vec<bool> = Vec::new();
    let mut last: Vec<bool> = Vec::with_capacity(nodes.len());
    for node in nodes.iter().rev() {
        met.truncate(node.depth + 1);
        met.resize(node.depth + 1, false);
        last.push(!std::mem::replace(&mut met[node.depth], true));
    }
    last.reverse();
    last
}

/// Whether `text` holds `pattern`, or fits it where it has `*` or `?`; the case of letters does not count.
fn fits(pattern: &str, text: &str) -> bool {
    let (pattern, text) = (pattern.to_lowercase(), text.to_lowercase());
    if pattern.contains(['*', '?']) { glob::fits(&pattern, &text) } else { text.contains(&pattern) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_fit_whole_names_and_plain_text_any_part() {
        for (pattern, text, fit) in [
            ("im", "DIMS", true),
            ("d*s", "dims", true),
            ("d*s", "dimst", false),
            ("?ims", "dims", true),
            ("*a*b*", "xxayyb", true),
            ("a*bc", "abbc", true),
            ("", "", true),
            ("*", "", true),
            ("?", "", false),
        ] {
            assert_eq!(fits(pattern, text), fit, "{pattern} {text}");
        }
    }

    #[test]
    fn matching_nodes_are_shown_with_their_ancestors() {
        let value = Value::Map(vec![
            ("a".into(), Value::Map(vec![("x".into(), Value::Int(1)), ("y".into(), Value::Int(2))])),
            ("b".into(), Value::Map(vec![("x/1".into(), vec![Value::Int(3)].into())])),
            ("c".into(), Value::Null),
        ]);
        let mut nodes = Vec::new();
        let parts = HashMap::new();
        let mut growth =
            Growth { dataset: &|_| None, parts, tags: &HashMap::new(), most: 9, nodes: &mut nodes };
        growth.grow(&value, "", 1);
        let paths = |wanted: &str| -> Vec<&str> {
            prune(&nodes, |node| node.text == wanted).iter().map(|node| node.path.as_str()).collect()
        };
        assert_eq!(paths("2"), ["a", "a/y"]);
        assert_eq!(paths("3"), ["b", "b/x~11", "b/x~11/0"]);
        assert_eq!(paths("nothing"), [""; 0]);
        let all = prune(&nodes, |_| true);
        assert_eq!(last_of_their_siblings(&all), [false, false, true, false, true, true, true]);
    }
}
