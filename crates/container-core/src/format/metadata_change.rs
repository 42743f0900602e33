//! Changes of metadata in place, by JSON pointer.

use std::fmt;

use crate::container::OpenOptions;
use crate::json_pointer::unescape;
use crate::write::Durability;
use crate::{Error, Result, Value};

/// A change of metadata, by JSON pointer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum MetaChange {
    /// The value at a pointer: for ASDF YAML 1.1 in flow style, else JSON, or text that does not begin as JSON. A missing entry is created where its
    /// parent exists; `/list/-` appends. An existing tag stays, unless the value has one.
    Set {
        /// The JSON pointer.
        pointer: String,
        /// The new value.
        value: String,
    },
    /// Removes the node at the pointer.
    Unset {
        /// The JSON pointer.
        pointer: String,
    },
}

/// Permission for a value to take the place of a mapping or of an array.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Replace {
    /// Only that of scalars, and of lists of scalars.
    #[default]
    Scalars,
    /// Any value.
    Anything,
}

/// Changes of the metadata of one file.
#[derive(Clone, Copy)]
pub struct MetadataChanges<'a> {
    /// The changes, in order.
    pub list: &'a [MetaChange],
    /// Permission for values to take the place of mappings and arrays.
    pub replace: Replace,
    /// Options for opening the file.
    pub open: &'a OpenOptions,
    /// Guarantee about the disk when the change returns.
    pub durability: Durability,
    /// Parser of the text of a value, for formats without a notation of their own.
    pub parse: fn(&str) -> Result<Value>,
}

impl fmt::Debug for MetadataChanges<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("MetadataChanges").field(&self.list).finish()
    }
}

impl MetadataChanges<'_> {
    /// Applies the changes to a tree, in order. A missing entry is created where its parent exists, in the tree itself and in `root`, the map
    /// below which the file has its metadata; `/list/-` appends.
    ///
    /// # Errors
    /// `Usage` for a pointer that finds no place to change; those of `parse`.
    pub fn apply(&self, mut tree: Value, root: Option<&str>) -> Result<Value> {
        for change in self.list {
            match change {
                MetaChange::Set { pointer, value } => {
                    let value = (self.parse)(value).map_err(|error| error.with_context(pointer.clone()))?;
                    if let (Some(root), Value::Map(entries)) = (root, &mut tree)
                        && pointer
                            .strip_prefix('/')
                            .and_then(|rest| rest.strip_prefix(root))
                            .is_some_and(|rest| rest.starts_with('/'))
                        && !entries.iter().any(|(key, _)| key == root)
                    {
                        entries.push((root.to_owned(), Value::Map(Vec::new())));
                    }
                    set(&mut tree, pointer, value)?;
                }
                MetaChange::Unset { pointer } => unset(&mut tree, pointer)?,
            }
        }
        Ok(tree)
    }
}

/// The parent of the pointer's target, and the last step.
fn holder<'v>(tree: &'v mut Value, pointer: &str) -> Result<(&'v mut Value, String)> {
    let steps = pointer
        .strip_prefix('/')
        .ok_or_else(|| Error::usage(format!("{pointer:?} is not a JSON pointer")).with_hint("/name"))?;
    let mut steps: Vec<String> = steps.split('/').map(|step| unescape(step).into_owned()).collect();
    let last = steps.pop().unwrap_or_default();
    let mut at = tree;
    for step in steps {
        let next = match at {
            Value::Map(entries) => entries.iter_mut().find(|(key, _)| *key == step).map(|(_, value)| value),
            Value::List(items) => step.parse().ok().and_then(|index: usize| items.get_mut(index)),
            _ => None,
        };
        at = next.ok_or_else(|| Error::usage(format!("{pointer}: no parent {step:?}")))?;
    }
    Ok((at, last))
}

fn set(tree: &mut Value, pointer: &str, value: Value) -> Result<()> {
    let (holder, last) = holder(tree, pointer)?;
    match holder {
        Value::Map(entries) => match entries.iter_mut().find(|(key, _)| *key == last) {
            Some((_, old)) => *old = value,
            None => entries.push((last, value)),
        },
        Value::List(items) if last == "-" => items.push(value),
        Value::List(items) => match last.parse().ok().and_then(|index: usize| items.get_mut(index)) {
            Some(old) => *old = value,
            None => return Err(Error::usage(format!("{pointer}: the list has {} items", items.len()))),
        },
        _ => return Err(Error::usage(format!("{pointer}: its parent is neither a map nor a list"))),
    }
    Ok(())
}

fn unset(tree: &mut Value, pointer: &str) -> Result<()> {
    let (holder, last) = holder(tree, pointer)?;
    let found = match holder {
        Value::Map(entries) => {
            let place = entries.iter().position(|(key, _)| *key == last);
            place.map(|place| drop(entries.remove(place)))
        }
        Value::List(items) => {
            let place = last.parse().ok().filter(|place: &usize| *place < items.len());
            place.map(|place| drop(items.remove(place)))
        }
        _ => None,
    };
    found.ok_or_else(|| Error::usage(format!("{pointer}: not found")))
}
