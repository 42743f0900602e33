//! Assertions that need no other schema.

use std::cmp::Ordering;

use super::compiled::Check;
use super::keyword_values::Type;
use super::number::Number;
use super::uri::matches;
use super::{array, messages};
use crate::yaml::{Kind, Node, Scalar};

/// Result of a check. The error has a message unless a nested schema has reported one.
pub(super) type CheckResult = Result<(), Option<String>>;

pub(super) fn fails_if(fails: bool, message: impl FnOnce() -> String) -> CheckResult {
    if fails { Err(Some(message())) } else { Ok(()) }
}

/// The checks without nested schemas. A value of another type than a keyword is about passes it.
pub(super) fn simple(node: Node<'_>, check: &Check) -> CheckResult {
    let number = || Number::of(node);
    let length = || match node.scalar() {
        Some(Scalar::Text(text)) => Some(text.chars().count() as u64),
        _ => None,
    };
    let items = (node.kind() == Kind::Sequence).then(|| node.len() as u64);
    let count =
        |have: Option<u64>, fails: fn(&u64, &u64) -> bool, bound: u64, what: &str, side: &str| match have {
            Some(have) if fails(&have, &bound) => {
                Err(Some(format!("has {have} {what} (expected at {side} {bound})")))
            }
            _ => Ok(()),
        };
    let keys = || (node.kind() == Kind::Mapping).then(|| node.pairs().len() as u64);
    match check {
        Check::Types(types, date_time) => {
            // Python asdf does not take a date without a time of day for text.
            let date = *date_time
                && types.contains(&Type::String)
                && matches!(node.scalar(), Some(Scalar::Timestamp(when)) if when.time.is_some());
            fails_if(!date && !types.iter().any(|wanted| is_of(node, *wanted)), || {
                messages::wrong_type(node, types)
            })
        }
        Check::MultipleOf(unit) => match number() {
            Some(value) if !value.is_multiple_of(unit) => Err(Some(format!(
                "{} is not a multiple of {}",
                messages::value(node),
                messages::number(unit)
            ))),
            _ => Ok(()),
        },
        // NaN does not compare with any bound.
        Check::Minimum(bound, excluded) => match number().and_then(|value| value.compare(bound)) {
            Some(Ordering::Less) => Err(Some(messages::beyond(node, "below", bound))),
            Some(Ordering::Equal) if *excluded => Err(Some(messages::beyond(node, "not above", bound))),
            _ => Ok(()),
        },
        Check::Maximum(bound, excluded) => match number().and_then(|value| value.compare(bound)) {
            Some(Ordering::Greater) => Err(Some(messages::beyond(node, "above", bound))),
            Some(Ordering::Equal) if *excluded => Err(Some(messages::beyond(node, "not below", bound))),
            _ => Ok(()),
        },
        Check::MinLength(least) => count(length(), u64::lt, *least, "characters", "least"),
        Check::MaxLength(most) => count(length(), u64::gt, *most, "characters", "most"),
        Check::MinItems(least) => count(items, u64::lt, *least, "items", "least"),
        Check::MaxItems(most) => count(items, u64::gt, *most, "items", "most"),
        Check::MinProperties(least) => count(keys(), u64::lt, *least, "keys", "least"),
        Check::MaxProperties(most) => count(keys(), u64::gt, *most, "keys", "most"),
        Check::Pattern(pattern) => match node.scalar() {
            Some(Scalar::Text(text)) if !pattern.is_match(text) => Err(Some(format!(
                "{} does not match the pattern {}",
                messages::value(node),
                messages::shortened(pattern.as_str(), 60)
            ))),
            _ => Ok(()),
        },
        Check::Tag(wanted) => {
            let have = messages::tag(node);
            fails_if(!matches(wanted, have), || format!("has tag {have} (expected {wanted})"))
        }
        Check::Ndim(wanted) if array::is_array(node) => {
            let have = array::ndim(node);
            fails_if(have != Some(*wanted), || messages::axes(have, &wanted.to_string()))
        }
        Check::MaxNdim(most) if array::is_array(node) => {
            let have = array::ndim(node);
            fails_if(have.is_none_or(|have| have > *most), || {
                messages::axes(have, &format!("at most {most}"))
            })
        }
        _ => Ok(()),
    }
}

fn is_of(node: Node<'_>, wanted: Type) -> bool {
    match wanted {
        // A set is a mapping in YAML, and has no type in JSON.
        Type::Object => node.kind() == Kind::Mapping && node.tag() != Some("tag:yaml.org,2002:set"),
        Type::Array => node.kind() == Kind::Sequence,
        Type::Boolean => matches!(node.scalar(), Some(Scalar::Bool(_))),
        Type::Null => matches!(node.scalar(), Some(Scalar::Null)),
        Type::Integer => matches!(node.scalar(), Some(Scalar::Int(_))),
        Type::Number => matches!(node.scalar(), Some(Scalar::Int(_) | Scalar::Float(_))),
        Type::String => matches!(node.scalar(), Some(Scalar::Text(_) | Scalar::Merge | Scalar::Default)),
    }
}
