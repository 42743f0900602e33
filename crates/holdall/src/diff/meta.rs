//! Comparing trees of metadata.

use std::collections::{HashMap, HashSet};

use container_core::container::{Container, MetadataText};
use container_core::interchange::named_entries;
use container_core::json_pointer::{escape, unescape};
use container_core::region::Region;
use container_core::{Result, Value};

use crate::glob;
use crate::json::value_json;

/// Characters of a value that a message shows.
const MAX_SHOWN: usize = 60;

/// True where everything that is listed is chosen, whole.
pub(super) fn is_all(container: &dyn Container, chosen: &[(usize, Region)]) -> bool {
    let is_whole = |(index, region): &&(usize, Region)| {
        container.dataset(*index).is_some_and(|dataset| region.is_whole(&dataset.shape))
    };
    let whole: HashSet<usize> = chosen.iter().filter(is_whole).map(|(index, _)| *index).collect();
    (0..container.listed_count()).all(|index| whole.contains(&index))
}

/// Calls `note` for every difference between two trees. The order of keys is ignored.
pub(crate) fn compare(what: &str, a: &Value, b: &Value, ignore: &[String], note: &mut dyn FnMut(String)) {
    Comparison { what, ignore, note }.values("", a, b);
}

/// Calls `note` for values that both trees have under different tags.
pub(super) fn compare_tags(
    (a, of_a): (&dyn Container, &Value),
    (b, of_b): (&dyn Container, &Value),
    ignore: &[String],
    note: &mut dyn FnMut(String),
) -> Result<()> {
    let tags =
        |container: &dyn Container| container.metadata_text().map(MetadataText::logical_tags).transpose();
    let (Some(a), Some(b)) = (tags(a).map_err(super::first)?, tags(b).map_err(super::second)?) else {
        return Ok(());
    };
    let mut pointers: Vec<&String> =
        a.keys().chain(b.keys().filter(|pointer| !a.contains_key(*pointer))).collect();
    pointers.sort();
    let is_ignored = |pointer: &str| {
        let ends = pointer.match_indices('/').map(|(at, _)| at).skip(1).chain([pointer.len()]);
        let mut steps = ends.filter_map(|end| pointer.get(..end));
        steps.any(|above| {
            let key = above.rsplit_once('/').map_or(above, |(_, key)| key);
            glob::any(ignore, above) || glob::any(ignore, &unescape(key))
        })
    };
    for pointer in pointers {
        let is_there = |tree: &Value| tree.pointer(pointer).is_some();
        let (one, other) = (a.get(pointer), b.get(pointer));
        if one == other || !is_there(of_a) || !is_there(of_b) || is_ignored(pointer) {
            continue;
        }
        let shown = |tag: Option<&String>| tag.map_or("none", String::as_str).to_owned();
        note(format!("metadata {pointer}: tag: {} and {}", shown(one), shown(other)));
    }
    Ok(())
}

struct Comparison<'a> {
    what: &'a str,
    ignore: &'a [String],
    note: &'a mut dyn FnMut(String),
}

impl Comparison<'_> {
    fn values(&mut self, pointer: &str, a: &Value, b: &Value) {
        match (a, b) {
            (Value::Map(_), Value::Map(_)) => {
                let (a, b) = (numbered(a), numbered(b));
                let there: HashMap<(&str, usize), &Value> = b.iter().copied().collect();
                for (key, value) in &a {
                    self.entry(pointer, key.0, Some(value), there.get(key).copied());
                }
                let here: HashSet<(&str, usize)> = a.iter().map(|(key, _)| *key).collect();
                for (key, value) in b.iter().filter(|(key, _)| !here.contains(key)) {
                    self.entry(pointer, key.0, None, Some(value));
                }
            }
            (Value::List(a), Value::List(b)) => {
                for at in 0..a.len().max(b.len()) {
                    self.entry(pointer, &at.to_string(), a.get(at), b.get(at));
                }
            }
            _ if is_same(a, b) => {}
            _ => self.tell(pointer, &format!("{} and {}", shown(a), shown(b))),
        }
    }

    fn entry(&mut self, pointer: &str, key: &str, a: Option<&Value>, b: Option<&Value>) {
        let pointer = format!("{pointer}/{}", escape(key));
        if glob::any(self.ignore, key) || glob::any(self.ignore, &pointer) {
            return;
        }
        match (a, b) {
            (Some(a), Some(b)) => self.values(&pointer, a, b),
            (Some(a), None) => self.tell(&pointer, &format!("only in the first: {}", shown(a))),
            (None, Some(b)) => self.tell(&pointer, &format!("only in the second: {}", shown(b))),
            (None, None) => {}
        }
    }

    fn tell(&mut self, pointer: &str, problem: &str) {
        let name = format!("{} {pointer}", self.what);
        (self.note)(format!("{}: {problem}", name.trim_end()));
    }
}

/// The entries of a map, each with the number of earlier entries of the same name. Keys of different kinds can have the same text, as the
/// number 1 and the text, and each is compared with its counterpart.
fn numbered(map: &Value) -> Vec<((&str, usize), &Value)> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    let entries = named_entries(map).unwrap_or_default().into_iter();
    let numbered = entries.map(|(key, value)| {
        let count = counts.entry(key).or_default();
        *count += 1;
        ((key, *count), value)
    });
    numbered.collect()
}

/// Leaves are the same where their kind and their bits are; one NaN is as good as another.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Float(a), Value::Float(b)) => a.to_bits() == b.to_bits() || (a.is_nan() && b.is_nan()),
        _ => a == b,
    }
}

fn shown(value: &Value) -> String {
    let text = value_json(value).to_string();
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
