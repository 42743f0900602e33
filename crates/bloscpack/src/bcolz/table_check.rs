//! Consistency of a table: its list of columns, their lengths, and surplus chunk files.

use std::collections::BTreeSet;
use std::path::Path;

use container_core::report::{Finding, Severity};
use container_core::{Limits, Value};

use super::{Column, MAX_METADATA, ROOTDIRS};
use crate::metadata::from_json;

/// The columns that the table lists, in its order; `None` without such a list.
///
/// # Errors
/// The reason why the list cannot be read.
pub(super) fn named(root: &Path, limits: &Limits) -> Result<Option<Vec<String>>, String> {
    let path = root.join(ROOTDIRS);
    let Ok(found) = std::fs::metadata(&path) else { return Ok(None) };
    if found.len() > MAX_METADATA {
        return Err(format!("{ROOTDIRS} has {} bytes", found.len()));
    }
    let json = std::fs::read(&path).map_err(|error| format!("{ROOTDIRS}: {error}"))?;
    let (tree, _) = from_json(&json, limits).map_err(|error| format!("{ROOTDIRS}: {error}"))?;
    let Some(Value::List(names)) = tree.get("names") else { return Ok(None) };
    let text = |name: &Value| match name {
        Value::Text(name) => Some(name.clone()),
        _ => None,
    };
    let names = names.iter().map(text).collect::<Option<Vec<_>>>();
    names.map(Some).ok_or_else(|| format!("{ROOTDIRS}: names that are not text"))
}

/// Listed columns that are missing, and columns that are not listed.
pub(super) fn of_names(named: &Result<Option<Vec<String>>, String>, there: &[String]) -> Vec<Finding> {
    let names = match named {
        Ok(None) => return Vec::new(),
        Ok(Some(names)) => names,
        Err(problem) => return vec![Finding::new(Severity::Error, "column_list", problem.as_str())],
    };
    let missing = names.iter().filter(|name| !there.contains(name)).map(|name| {
        let message = format!("the table lists the column {name}, but has no carray of that name");
        Finding::new(Severity::Error, "column_missing", message).dataset(name.as_str())
    });
    let listed: BTreeSet<&String> = names.iter().collect();
    let more = there.iter().filter(|name| !listed.contains(name)).map(|name| {
        let message = format!("the column {name} is not in the list of the table");
        Finding::new(Severity::Warning, "column_unlisted", message).dataset(name.as_str())
    });
    missing.chain(more).collect()
}

/// Columns of different lengths: bcolz does not open such a table.
pub(super) fn of_lengths(columns: &[(&str, u64)]) -> Option<Finding> {
    let (first, rows) = columns.first()?;
    let (other, others) = columns.iter().find(|(_, others)| others != rows)?;
    let message = format!("the column {first} has {rows} rows, and {other} {others}");
    Some(Finding::new(Severity::Error, "ragged_columns", message).dataset(*other))
}

impl Column {
    /// Chunk files after those of the shape: rows that were never flushed, or that a trim left.
    pub(super) fn uncounted(&self) -> Option<Finding> {
        let entries = std::fs::read_dir(&self.data).into_iter().flatten().filter_map(Result::ok);
        let number = |name: std::ffi::OsString| -> Option<u64> {
            name.to_str()?.strip_prefix("__")?.strip_suffix(".blp")?.parse().ok()
        };
        let more =
            entries.filter_map(|entry| number(entry.file_name())).filter(|number| *number >= self.needed);
        let count = more.count();
        let rows = self.shape.first().copied().unwrap_or(0);
        let message =
            format!("{count} chunk files after the {rows} rows of the sizes: rows that were never flushed");
        let finding = Finding::new(Severity::Warning, "uncounted_chunks", message);
        (count > 0).then_some(Finding { part: Some(self.part.clone()), ..finding })
    }
}
