//! Parses the values of keywords.

use container_core::{Error, Result};
use regex::{Regex, RegexBuilder};

use super::equal::key_name;
use super::number::Number;
use crate::yaml::{Kind, Node, Scalar};

/// Maximum number of bytes that a compiled pattern may take.
const MAX_PATTERN_BYTES: usize = 1 << 20;

/// The types of JSON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Type {
    Array,
    Boolean,
    Integer,
    Null,
    Number,
    Object,
    String,
}

impl Type {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Array => "array",
            Self::Boolean => "boolean",
            Self::Integer => "integer",
            Self::Null => "null",
            Self::Number => "number",
            Self::Object => "object",
            Self::String => "string",
        }
    }

    pub(super) fn of(name: &str) -> Option<Self> {
        [Self::Array, Self::Boolean, Self::Integer, Self::Null, Self::Number, Self::Object, Self::String]
            .into_iter()
            .find(|kind| kind.name() == name)
    }
}

/// An error about a value in a schema.
pub(super) fn invalid(node: Node<'_>, what: &'static str) -> Error {
    let span = node.span();
    Error::malformed(what).with_context("schema").with_range(span.start as u64..span.end as u64)
}

pub(super) fn list(node: Node<'_>) -> Result<impl ExactSizeIterator<Item = Node<'_>>> {
    if node.kind() == Kind::Sequence { Ok(node.items()) } else { Err(invalid(node, "not a list")) }
}

pub(super) fn pairs(node: Option<Node<'_>>) -> Result<Vec<(Node<'_>, Node<'_>)>> {
    match node {
        None => Ok(Vec::new()),
        Some(node) if node.kind() == Kind::Mapping => Ok(node.pairs()),
        Some(node) => Err(invalid(node, "not a mapping")),
    }
}

pub(super) fn text(node: Node<'_>) -> Result<&str> {
    match node.kind() {
        Kind::Scalar => Ok(node.text()),
        _ => Err(invalid(node, "not text")),
    }
}

pub(super) fn names(node: Node<'_>) -> Result<Vec<String>> {
    list(node)?.map(|item| text(item).map(|_| key_name(item))).collect()
}

pub(super) fn types(node: Node<'_>) -> Result<Vec<Type>> {
    let one = |node: Node<'_>| {
        Type::of(text(node)?).ok_or_else(|| invalid(node, "not a type of JSON Schema draft-04"))
    };
    if node.kind() == Kind::Scalar { Ok(vec![one(node)?]) } else { list(node)?.map(one).collect() }
}

pub(super) fn number(node: Node<'_>) -> Result<Number> {
    Number::of(node).ok_or_else(|| invalid(node, "not a number"))
}

pub(super) fn count(node: Node<'_>) -> Result<u64> {
    match Number::of(node) {
        Some(Number::Int(value)) => u64::try_from(value).map_err(|_| invalid(node, "a negative count")),
        _ => Err(invalid(node, "not a count")),
    }
}

/// The truth value of a keyword; false where it is absent.
pub(super) fn flag(schema: Node<'_>, keyword: &str) -> Result<bool> {
    match schema.get(keyword).map(|node| (node, node.scalar())) {
        None => Ok(false),
        Some((_, Some(Scalar::Bool(value)))) => Ok(value),
        Some((node, _)) => Err(invalid(node, "neither true nor false")),
    }
}

pub(super) fn pattern(node: Node<'_>) -> Result<Regex> {
    let source = text(node)?;
    let built =
        RegexBuilder::new(source).size_limit(MAX_PATTERN_BYTES).dfa_size_limit(MAX_PATTERN_BYTES).build();
    built.map_err(|error| match error {
        regex::Error::CompiledTooBig(limit) => {
            Error::limit("bytes of a pattern", limit as u64 + 1, limit as u64)
        }
        _ => invalid(node, "invalid pattern")
            .with_hint("patterns support neither look-around nor back-references"),
    })
}
