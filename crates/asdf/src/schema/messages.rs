//! Messages of violations.

use super::keyword_values::Type;
use super::number::Number;
use crate::yaml::{Kind, Node, Scalar};

/// Maximum number of characters of a value that are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// Maximum number of names or reasons that are listed.
const MAX_LISTED: usize = 6;

/// Formats a value for a message.
pub(super) fn value(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Sequence => format!("a list of {} items", node.len()),
        Kind::Mapping => format!("a mapping of {} keys", node.len()),
        Kind::Scalar => match node.scalar() {
            Some(Scalar::Text(text)) => format!("`{}`", shortened(text, MAX_SHOWN_CHARS)),
            Some(Scalar::Null) => "null".into(),
            _ => shortened(node.text(), MAX_SHOWN_CHARS),
        },
    }
}

pub(super) fn number(number: &Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Big(digits) => shortened(digits, MAX_SHOWN_CHARS),
        Number::Float(value) => value.to_string(),
    }
}

/// The tag in the text, or YAML's tag for such a value.
pub(super) fn tag(node: Node<'_>) -> &str {
    if let Some(tag) = node.tag() {
        return tag;
    }
    match (node.kind(), node.scalar()) {
        (Kind::Mapping, _) => "tag:yaml.org,2002:map",
        (Kind::Sequence, _) => "tag:yaml.org,2002:seq",
        (_, Some(Scalar::Null)) => "tag:yaml.org,2002:null",
        (_, Some(Scalar::Bool(_))) => "tag:yaml.org,2002:bool",
        (_, Some(Scalar::Int(_))) => "tag:yaml.org,2002:int",
        (_, Some(Scalar::Float(_))) => "tag:yaml.org,2002:float",
        (_, Some(Scalar::Timestamp(_))) => "tag:yaml.org,2002:timestamp",
        (_, Some(Scalar::Binary(_))) => "tag:yaml.org,2002:binary",
        _ => "tag:yaml.org,2002:str",
    }
}

pub(super) fn wrong_type(node: Node<'_>, types: &[Type]) -> String {
    let have = match (node.kind(), node.scalar()) {
        (Kind::Mapping, _) => "an object",
        (Kind::Sequence, _) => "an array",
        (_, Some(Scalar::Null)) => "null",
        (_, Some(Scalar::Bool(_))) => "a boolean",
        (_, Some(Scalar::Int(_))) => "an integer",
        (_, Some(Scalar::Float(_))) => "a number",
        (_, Some(Scalar::Timestamp(_))) => "a date",
        (_, Some(Scalar::Binary(_))) => "binary data",
        _ => "a string",
    };
    let names: Vec<String> = types.iter().map(|kind| kind.name().to_owned()).collect();
    format!("is {have}, not of type {}", names.join(" or "))
}

pub(super) fn beyond(node: Node<'_>, side: &str, bound: &Number) -> String {
    format!("{} is {side} {}", value(node), number(bound))
}

pub(super) fn axes(have: Option<u64>, wanted: &str) -> String {
    match have {
        Some(1) => format!("has 1 dimension (expected {wanted})"),
        Some(have) => format!("has {have} dimensions (expected {wanted})"),
        None => format!("has no shape (expected {wanted} dimensions)"),
    }
}

pub(super) fn lacks(keys: &[&str]) -> String {
    format!(
        "lacks {}",
        some_of(&keys.iter().map(|key| format!("`{}`", shortened(key, MAX_SHOWN_CHARS))).collect::<Vec<_>>())
    )
}

pub(super) fn refuses(keys: &[String]) -> String {
    format!(
        "has {}, which is not allowed",
        some_of(&keys.iter().map(|key| format!("`{}`", shortened(key, MAX_SHOWN_CHARS))).collect::<Vec<_>>())
    )
}

pub(super) fn fits_several(which: &[usize], of: usize) -> String {
    let which: Vec<String> = which.iter().map(ToString::to_string).collect();
    format!(
        "matches {} of {of} alternatives (expected exactly one, found numbers {})",
        which.len(),
        some_of(&which)
    )
}

pub(super) fn fits_none(reasons: &[String], of: usize) -> String {
    match reasons {
        [one] => format!("matches none of {of} alternatives; the nearest fails because it {one}"),
        many => format!("matches none of {of} alternatives: {}", listed(many)),
    }
}

/// Message for a value of a kind that fits no alternative.
pub(super) fn of_no_kind(reasons: &[String]) -> String {
    if reasons.is_empty() { "matches no alternative".into() } else { format!("{NO_KIND}{}", listed(reasons)) }
}

pub(super) fn is_of_no_kind(message: &str) -> bool {
    message.starts_with(NO_KIND)
}

const NO_KIND: &str = "is not allowed here: ";

fn listed(reasons: &[String]) -> String {
    let more = if reasons.len() > MAX_LISTED { "; …" } else { "" };
    let listed: Vec<&str> = reasons.iter().take(MAX_LISTED).map(String::as_str).collect();
    format!("{}{more}", listed.join("; "))
}

/// The first of several names.
pub(super) fn some_of(names: &[String]) -> String {
    let listed: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    if more == 0 { listed.join(", ") } else { format!("{} and {more} more", listed.join(", ")) }
}

/// A reason about a value at a path within the value of the message.
pub(super) fn reason(within: &str, message: &str) -> String {
    let message = shortened(message.strip_prefix(NO_KIND).unwrap_or(message), 160);
    if within.is_empty() { message } else { format!("`{}` {message}", shortened(within, MAX_SHOWN_CHARS)) }
}

/// The first characters of a text, in one line.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().nth(most).is_some() { format!("{line}…") } else { line }
}
