//! Equality of values as JSON Schema has it: 1 is 1.0 but not true; the order of keys and tags do not count.

use std::collections::HashMap;
use std::collections::hash_map::DefaultHasher;
use std::hash::{Hash, Hasher};

use container_core::{Error, Result};

use super::WorkLimit;
use super::number::Number;
use crate::yaml::{Kind, Node, Scalar};

/// Maximum depth of collections that are compared; aliases can make cycles.
const MAX_DEPTH: usize = 512;

/// Whether the values of two nodes, perhaps of two documents, are equal.
pub(super) fn equal(one: Node<'_>, two: Node<'_>, work_limit: &mut WorkLimit) -> Result<bool> {
    equal_within(one, two, work_limit, MAX_DEPTH)
}

fn equal_within(one: Node<'_>, two: Node<'_>, work_limit: &mut WorkLimit, depth: usize) -> Result<bool> {
    work_limit.spend(1)?;
    let Some(deeper) = depth.checked_sub(1) else {
        return Err(Error::limit("collections within one another", MAX_DEPTH as u64 + 1, MAX_DEPTH as u64));
    };
    match (one.kind(), two.kind()) {
        (Kind::Scalar, Kind::Scalar) => Ok(equal_scalars(one, two)),
        (Kind::Sequence, Kind::Sequence) => {
            if one.len() != two.len() {
                return Ok(false);
            }
            for (one, two) in one.items().zip(two.items()) {
                if !equal_within(one, two, work_limit, deeper)? {
                    return Ok(false);
                }
            }
            Ok(true)
        }
        (Kind::Mapping, Kind::Mapping) => {
            let (ones, twos) = (one.pairs(), two.pairs());
            work_limit.spend(ones.len().saturating_add(twos.len()) as u64)?;
            if ones.len() != twos.len() {
                return Ok(false);
            }
            let by_key: HashMap<String, Node<'_>> =
                twos.into_iter().map(|(key, value)| (key_name(key), value)).collect();
            for (key, value) in ones {
                match by_key.get(&key_name(key)) {
                    Some(other) if equal_within(value, *other, work_limit, deeper)? => {}
                    _ => return Ok(false),
                }
            }
            Ok(true)
        }
        _ => Ok(false),
    }
}

fn equal_scalars(one: Node<'_>, two: Node<'_>) -> bool {
    match (Number::of(one), Number::of(two)) {
        (Some(one), Some(two)) => one.compare(&two) == Some(std::cmp::Ordering::Equal),
        (None, None) => one.scalar() == two.scalar(),
        _ => false,
    }
}

/// A name for a key: equal keys, and only these, have equal names. A text key is its own name.
pub(super) fn key_name(key: Node<'_>) -> String {
    match key.scalar() {
        Some(Scalar::Text(text)) => text.to_owned(),
        // Text in a tree cannot contain a NUL.
        Some(other) => format!("\0{other:?}"),
        None => format!("\0{:?}", key.target().id()),
    }
}

/// The first pair of items that are equal.
pub(super) fn first_repeated(
    sequence: Node<'_>,
    work_limit: &mut WorkLimit,
) -> Result<Option<(usize, usize)>> {
    let mut seen: HashMap<u64, Vec<(usize, Node<'_>)>> = HashMap::new();
    for (at, item) in sequence.items().enumerate() {
        let mut hasher = DefaultHasher::new();
        hash(item, &mut hasher, 4, work_limit)?;
        let alike = seen.entry(hasher.finish()).or_default();
        for (before, other) in alike.iter() {
            if equal(item, *other, work_limit)? {
                return Ok(Some((*before, at)));
            }
        }
        alike.push((at, item));
    }
    Ok(None)
}

/// Computes a hash that is the same for equal values, `depth` collections deep.
fn hash(node: Node<'_>, hasher: &mut DefaultHasher, depth: usize, work_limit: &mut WorkLimit) -> Result<()> {
    work_limit.spend(1)?;
    match node.kind() {
        Kind::Scalar => match Number::of(node) {
            // Zero has two spellings.
            Some(number) => (number.float() + 0.0).to_bits().hash(hasher),
            None => key_name(node).hash(hasher),
        },
        Kind::Sequence => {
            node.len().hash(hasher);
            if let Some(deeper) = depth.checked_sub(1) {
                for item in node.items() {
                    hash(item, hasher, deeper, work_limit)?;
                }
            }
        }
        Kind::Mapping => {
            let pairs = node.pairs();
            pairs.len().hash(hasher);
            let mut sum = 0u64;
            for (key, value) in pairs {
                let mut one = DefaultHasher::new();
                key_name(key).hash(&mut one);
                if let Some(deeper) = depth.checked_sub(1) {
                    hash(value, &mut one, deeper, work_limit)?;
                }
                sum = sum.wrapping_add(one.finish());
            }
            sum.hash(hasher);
        }
    }
    Ok(())
}
