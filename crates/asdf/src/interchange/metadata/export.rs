//! Exports nodes of the tree as values and forms.

use std::collections::HashSet;

use container_core::container::Dataset;
use container_core::interchange::{MORE, PREFIX, WHOLE, form, unescape_top};
use container_core::json_pointer::escape;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Limits, Result, Value};

use super::{ENTRIES, HISTORY, LIBRARY, ROOT_ANCHOR, ROOT_KEYS, STORAGE};
use crate::file::File;
use crate::ndarray::NdArray;
use crate::tree::timestamp;
use crate::yaml::{Int, Yaml};

/// Bytes that a node takes on its way, about.
const NODE_SIZE: u64 = 128;

/// The tree without its arrays, except for the places of selected ones that their paths do not give.
///
/// # Errors
/// `Limit` for a tree that memory or depth do not allow.
pub(crate) fn export_metadata(file: &File, selection: &[(usize, Region)], limits: &Limits) -> Result<Value> {
    let document = file.tree().document();
    limits
        .allocate((document.len() as u64).saturating_mul(NODE_SIZE))
        .map_err(|error| error.with_context("asdf tree"))?;
    let mut root = Yaml::from_node(file.tree().root())?;
    let mut anchor = None;
    let pairs = loop {
        root = match root {
            Yaml::Tagged(_, inner) => *inner,
            Yaml::Anchored(name, inner) => {
                anchor = Some(name);
                *inner
            }
            Yaml::Mapping(pairs, _) => break pairs,
            // No tree of the standard: kept as it is.
            other => {
                let whole = Walk::new(file, selection).value(other, "", false);
                return Ok(Value::Map(whole.map(|whole| (WHOLE.to_owned(), whole)).into_iter().collect()));
            }
        };
    };
    let mut walk = Walk::new(file, selection);
    let (mut entries, mut others) = (Vec::new(), Vec::new());
    for (key, value) in pairs {
        let name = match &key {
            Yaml::Text(name, _) if !is_ours(name) => name,
            _ => {
                let path = escape(&key_step(&key)).into_owned();
                let key = walk.value(key, "", false).unwrap_or(Value::Null);
                let before = i128::try_from(entries.len()).unwrap_or(i128::MAX);
                let value = walk.value(value, &path, false);
                others.extend(value.map(|value| Value::List(vec![key, value, Value::Int(before)])));
                continue;
            }
        };
        let value = match name.as_str() {
            LIBRARY => continue,
            HISTORY => history(value).and_then(|history| walk.value(history, HISTORY, false)),
            _ => walk.value(value, &escape(name), walk.path_names_key(name)),
        };
        entries.extend(value.map(|value| (name.clone(), value)));
    }
    if !others.is_empty() {
        entries.push((ROOT_KEYS.to_owned(), Value::List(others)));
    }
    entries.extend(anchor.map(|name| (ROOT_ANCHOR.to_owned(), Value::Text(name))));
    Ok(unescape_top(Value::Map(entries)))
}

/// True for a key of carried metadata that no conversion to ASDF writes at the top: in an ASDF file it is the user's.
fn is_ours(name: &str) -> bool {
    name.starts_with(PREFIX) && ![MORE, WHOLE].contains(&name)
}

/// The losses of selected arrays whose mask is an array that is not selected.
pub(crate) fn lost_masks(file: &File, datasets: &[Dataset], selection: &[(usize, Region)]) -> Vec<Loss> {
    let selected: HashSet<usize> = selection.iter().map(|(index, _)| *index).collect();
    let lost = selection.iter().filter_map(|(index, _)| {
        let path = &datasets.get(*index)?.path;
        let mask = format!("{path}/mask");
        let found = file.find_array(&mask)?;
        let what = format!("mask {mask}, which is not selected");
        (!selected.contains(&found)).then(|| Loss { dataset: Some(path.clone()), what })
    });
    lost.collect()
}

/// Returns the history entries that the user wrote: a list before version 1.2.0 of the standard, then the entries of a mapping.
fn history(value: Yaml) -> Option<Yaml> {
    match value {
        Yaml::Sequence(items, style) => Some(Yaml::mapping([(ENTRIES, Yaml::Sequence(items, style))])),
        Yaml::Mapping(mut pairs, style) => {
            pairs.retain(|(key, _)| !matches!(key, Yaml::Text(key, _) if key == "extensions"));
            (!pairs.is_empty()).then_some(Yaml::Mapping(pairs, style))
        }
        other => Some(other),
    }
}

struct Walk<'f> {
    file: &'f File,
    selected: HashSet<usize>,
    /// Anchors of arrays that are not carried at their place.
    gone: HashSet<String>,
    /// Whether the arrays were chunks of GSD, as an entry of the tree records.
    was_gsd: bool,
}

impl<'f> Walk<'f> {
    fn new(file: &'f File, selection: &[(usize, Region)]) -> Self {
        let selected = selection.iter().map(|(index, _)| *index).collect();
        let was_gsd = file.tree().find("gsd").is_some_and(|own| own.get("names").is_some());
        Self { file, selected, gone: HashSet::new(), was_gsd }
    }

    /// Whether a path gives its key exactly: other formats have no escapes in steps, but GSD has names of its own.
    fn path_names_key(&self, key: &str) -> bool {
        self.was_gsd || !key.contains(['/', '~'])
    }

    /// `None` for arrays that are not selected or whose path gives their place, and mappings of nothing else. `path_is_known` is true where all
    /// ancestors are mappings.
    fn value(&mut self, value: Yaml, path: &str, path_is_known: bool) -> Option<Value> {
        Some(match value {
            Yaml::Null => Value::Null,
            Yaml::Bool(value) => Value::Bool(value),
            Yaml::Int(Int::Small(value)) => Value::Int(value),
            Yaml::Int(Int::Big(digits)) => form("int", digits),
            Yaml::Float(value) => Value::Float(value),
            Yaml::Text(text, _) => Value::Text(text),
            Yaml::Timestamp(time) => form("timestamp", timestamp(&time)),
            Yaml::Binary(bytes) => Value::Bytes(bytes),
            Yaml::Sequence(items, _) => {
                let items = items.into_iter().enumerate();
                let items = items.map(|(at, item)| self.value(item, &format!("{path}/{at}"), false));
                // The others keep their places.
                Value::List(items.map(|item| item.unwrap_or(Value::Null)).collect())
            }
            Yaml::Mapping(pairs, _) => return self.mapping(pairs, path, path_is_known),
            Yaml::Tagged(tag, inner) if NdArray::is_tag(&tag) => {
                return self.array(*inner, path, path_is_known);
            }
            Yaml::Tagged(tag, inner) => {
                let inner = self.value(*inner, path, false)?;
                form("tag", vec![tag.into(), inner])
            }
            Yaml::Anchored(name, inner) => match self.value(*inner, path, false) {
                Some(inner) => form("anchor", vec![name.into(), inner]),
                None => {
                    self.gone.insert(name);
                    return None;
                }
            },
            Yaml::Alias(name) if self.gone.contains(&name) => {
                return if path_is_known { None } else { self.place(path, Vec::new()) };
            }
            Yaml::Alias(name) => form("alias", name),
        })
    }

    fn mapping(&mut self, pairs: Vec<(Yaml, Yaml)>, path: &str, path_is_known: bool) -> Option<Value> {
        let mut seen = HashSet::new();
        let plain = |key: &Yaml| match key {
            Yaml::Text(key, _) => !key.starts_with(PREFIX) && seen.insert(key.clone()),
            _ => false,
        };
        let is_plain = pairs.iter().map(|(key, _)| key).all(plain);
        let had_any = !pairs.is_empty();
        if is_plain {
            let mut entries = Vec::new();
            for (key, value) in pairs {
                let Yaml::Text(key, _) = key else { continue };
                let value = self.value(
                    value,
                    &format!("{path}/{}", escape(&key)),
                    path_is_known && self.path_names_key(&key),
                );
                entries.extend(value.map(|value| (key, value)));
            }
            // A mapping of arrays only is made again from their paths.
            return (!had_any || !entries.is_empty() || !path_is_known).then_some(Value::Map(entries));
        }
        let mut kept = Vec::new();
        for (key, value) in pairs {
            let step = key_step(&key);
            let key = self.value(key, "", false).unwrap_or(Value::Null);
            if let Some(value) = self.value(value, &format!("{path}/{}", escape(&step)), false) {
                kept.push(Value::List(vec![key, value]));
            }
        }
        Some(form("pairs", kept))
    }

    fn array(&mut self, inner: Yaml, path: &str, path_is_known: bool) -> Option<Value> {
        let mut more = Vec::new();
        if let Yaml::Mapping(pairs, _) = inner {
            for (key, value) in pairs {
                let Yaml::Text(key, _) = key else { continue };
                if STORAGE.contains(&key.as_str()) {
                    continue;
                }
                let value = self.value(value, &format!("{path}/{}", escape(&key)), false);
                more.extend(value.map(|value| (key, value)));
            }
        }
        if path_is_known && more.is_empty() { None } else { self.place(path, more) }
    }

    /// The form that keeps the place of a selected array.
    fn place(&self, path: &str, more: Vec<(String, Value)>) -> Option<Value> {
        let path = path.trim_start_matches('/');
        self.file.find_array(path).filter(|index| self.selected.contains(index))?;
        let mut entries = vec![("path".to_owned(), Value::from(path))];
        if !more.is_empty() {
            entries.push(("more".to_owned(), Value::Map(more)));
        }
        Some(form("array", Value::Map(entries)))
    }
}

/// A key as a step of a path.
fn key_step(key: &Yaml) -> String {
    match key {
        Yaml::Text(text, _) => text.clone(),
        Yaml::Null => "null".to_owned(),
        Yaml::Bool(value) => value.to_string(),
        Yaml::Int(Int::Small(value)) => value.to_string(),
        Yaml::Int(Int::Big(digits)) => digits.clone(),
        Yaml::Tagged(_, inner) | Yaml::Anchored(_, inner) => key_step(inner),
        // Such a key is named by its text, which is not available here.
        _ => String::new(),
    }
}
