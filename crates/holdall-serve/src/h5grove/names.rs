//! Names of entities: steps of a path, with slashes escaped as in addresses of the command.

use std::borrow::Cow;

/// Maximum number of children of a group in an answer. The last of more stands for the rest.
pub(super) const MAX_CHILDREN: usize = 1000;

/// The name of an entity without one: h5web has no empty names, and no escape of JSON pointers has an `e`.
const EMPTY: &str = "~e";

/// The steps of an h5grove path; none for the root.
pub(super) fn steps(path: &str) -> Vec<&str> {
    let path = path.strip_prefix('/').unwrap_or(path);
    let path = path.strip_suffix('/').unwrap_or(path);
    if path.is_empty() { Vec::new() } else { path.split('/').collect() }
}

/// The path of a dataset or node in the container for the steps of an h5grove path.
pub(super) fn container_path(steps: &[&str]) -> String {
    let steps: Vec<&str> = steps.iter().map(|step| if *step == EMPTY { "" } else { step }).collect();
    steps.join("/")
}

/// A step of a container's path as a name.
pub(super) fn name(step: &str) -> Cow<'_, str> {
    if step.is_empty() { EMPTY.into() } else { step.into() }
}

/// An h5grove path for the path of a dataset in its container.
pub(super) fn entity_path(path: &str) -> String {
    joined(path.split('/'))
}

/// The path of names below the root.
pub(super) fn joined<'s>(names: impl Iterator<Item = &'s str>) -> String {
    let mut path = String::new();
    for step in names {
        path.push('/');
        path.push_str(&name(step));
    }
    path
}

/// Name of the entity that stands for `count` children.
pub(super) fn more(count: u64) -> String {
    let digits = count.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && digits.len().saturating_sub(at).is_multiple_of(3) {
            grouped.push(' ');
        }
        grouped.push(digit);
    }
    format!("… {grouped} more")
}

/// Whether a name is one of [`more`].
pub(super) fn is_more(name: &str) -> bool {
    let count = name.strip_prefix("… ").and_then(|name| name.strip_suffix(" more"));
    count.is_some_and(|count| count.chars().all(|letter| letter.is_ascii_digit() || letter == ' '))
}
