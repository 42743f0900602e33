//! Machine output: one JSON object per line. Keys are only ever added.

use std::collections::HashMap;
use std::ops::Range;

use container_core::container::{Container, Dataset, Segment};
use container_core::dtype::DType;
use container_core::format::{Format, Level};
use container_core::python_literal::Literal;
use container_core::report::{Finding, Loss, RepairItem};
use container_core::{Error, Value};
use serde_json::{Map, Value as Json, json};

use crate::address::typed;
use crate::append::Appended;
use crate::convert::Conversion;
use crate::diff::Difference;
use crate::digest::ArrayDigest;
use crate::explode::Exploded;
use crate::extract::Extracted;
use crate::pack::Packing;
use crate::repair::Repaired;
use crate::repr;
use crate::verify::Verification;

/// `holdall.info/1`: the description of a file. `path` as the user named it.
#[must_use]
pub fn info_json(path: &str, container: &dyn Container) -> Json {
    let about = container.about();
    json!({
        "schema": "holdall.info/1",
        "path": path,
        "format": about.format,
        "version": about.version,
        "size": about.size,
        "complete": about.complete,
        "datasets": container.listed_count(),
        "details": entries_json(&about.details),
    })
}

/// `holdall.ls/1`: one dataset.
#[must_use]
pub fn ls_json(dataset: &Dataset) -> Json {
    json!({
        "schema": "holdall.ls/1",
        "path": typed(&dataset.path),
        "dtype": dtype_json(&dataset.dtype),
        "shape": dataset.shape,
        "order": dataset.order.letter(),
        "chunks": dataset.chunks,
        "codec": dataset.codec,
        "stored": dataset.stored,
        "logical": dataset.logical,
        "attributes": entries_json(&dataset.attributes),
    })
}

/// `holdall.verify/1`: the outcome for one file.
#[must_use]
pub fn verify_json(verification: &Verification) -> Json {
    let blocks = verification.blocks;
    json!({
        "schema": "holdall.verify/1",
        "path": verification.path,
        "format": verification.format,
        "verdict": verification.verdict.name(),
        "blocks": { "total": blocks.total, "checked": blocks.checked, "bad": blocks.bad },
        "findings": verification.findings.iter().map(finding_json).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &Finding) -> Json {
    let (start, end) = bounds(finding.range.as_ref());
    json!({
        "severity": finding.severity.name(),
        "code": finding.code,
        "part": finding.part,
        "start": start,
        "end": end,
        "dataset": finding.dataset.as_deref().map(typed),
        "message": finding.message,
    })
}

/// `holdall.layout/1`: one range of the physical map.
#[must_use]
pub fn layout_json(segment: &Segment) -> Json {
    json!({
        "schema": "holdall.layout/1",
        "part": segment.part,
        "start": segment.range.start,
        "end": segment.range.end,
        "role": segment.role,
        "codec": segment.codec,
        "stored": segment.stored,
        "decoded": segment.decoded,
        "checksum": segment.checksum,
        "dataset": segment.dataset.as_deref().map(typed),
    })
}

/// `holdall.convert/1`: the converted datasets and the losses. Paths as the user named them.
#[must_use]
pub fn convert_json(source: &str, target: &str, conversion: &Conversion) -> Json {
    let line = json!({
        "schema": "holdall.convert/1",
        "source": source,
        "target": target,
        "format": conversion.target_format,
        "datasets": conversion.datasets,
        "losses": losses_json(&conversion.losses),
    });
    with_warning(line, conversion.warning.as_deref())
}

/// The line with the error of the last sync, where there is one.
fn with_warning(mut line: Json, warning: Option<&str>) -> Json {
    if let Some(warning) = warning {
        line["warning"] = warning.into();
    }
    line
}

fn losses_json(losses: &[Loss]) -> Json {
    losses
        .iter()
        .map(|loss| json!({ "dataset": loss.dataset.as_deref().map(typed), "what": loss.what }))
        .collect()
}

/// `holdall.pack/1`: the packed items. Paths as the user named them.
#[must_use]
pub fn pack_json(sources: &[String], target: &str, packing: &Packing) -> Json {
    let kind = packing.kind.word();
    let mut line = json!({
        "schema": "holdall.pack/1",
        "sources": sources,
        "target": target,
        "format": packing.target_format,
        "items": packing.items,
        "kind": kind,
    });
    if let Some(dtype) = &packing.dtype {
        line["dtype"] = dtype_json(dtype);
    }
    with_warning(line, packing.warning.as_deref())
}

/// `holdall.extract/1`: one file that was written. `source` as the user named it.
#[must_use]
pub fn extract_json(source: &str, file: &Extracted) -> Json {
    json!({
        "schema": "holdall.extract/1",
        "source": source,
        "dataset": typed(&file.dataset),
        "target": file.path.display().to_string(),
        "bytes": file.bytes,
        "refused_name": file.refused_name,
    })
}

/// `holdall.explode/1`: the files that an explosion or implosion wrote, that of the tree last.
#[must_use]
pub fn explode_json(source: &str, done: &Exploded) -> Json {
    let targets: Vec<String> = done.files.iter().map(|path| path.display().to_string()).collect();
    json!({ "schema": "holdall.explode/1", "source": source, "targets": targets, "losses": done.losses })
}

/// `holdall.append/1`: the data added to a file. Paths as the user named them.
#[must_use]
pub fn append_json(sources: &[String], target: &str, appended: &Appended) -> Json {
    let line = json!({
        "schema": "holdall.append/1",
        "sources": sources,
        "target": target,
        "format": appended.format,
        "datasets": appended.datasets,
        "losses": losses_json(&appended.losses),
    });
    with_warning(line, appended.warning.as_deref())
}

/// `holdall.repair/1`: the parts that a repair kept, guessed and lost. `target` is null in a dry run.
#[must_use]
pub fn repair_json(source: &str, target: Option<&str>, repaired: &Repaired) -> Json {
    let report = &repaired.report;
    let items = |items: &[RepairItem]| items.iter().map(repair_item_json).collect::<Vec<_>>();
    let line = json!({
        "schema": "holdall.repair/1",
        "source": source,
        "target": target,
        "kept": items(&report.kept),
        "guessed": items(&report.guessed),
        "lost": items(&report.lost),
    });
    with_warning(line, repaired.warning.as_deref())
}

fn repair_item_json(item: &RepairItem) -> Json {
    let (start, end) = bounds(item.range.as_ref());
    let mut line = json!({ "start": start, "end": end, "what": item.what });
    if let Some(evidence) = item.evidence {
        line["evidence"] = evidence.name().into();
    }
    line
}

/// `holdall.diff/1`: whether two files hold the same, where not, and which datasets could not be read.
#[must_use]
pub fn diff_json(a: &str, b: &str, differences: &[Difference], unreadable: &[(String, Error)]) -> Json {
    let list = differences
        .iter()
        .map(|one| json!({ "dataset": one.dataset.as_deref().map(typed), "what": one.what }));
    let unread = unreadable
        .iter()
        .map(|(dataset, error)| json!({ "dataset": typed(dataset), "what": error.to_string() }));
    json!({
        "schema": "holdall.diff/1",
        "a": a,
        "b": b,
        "same": differences.is_empty() && unreadable.is_empty(),
        "differences": list.collect::<Vec<_>>(),
        "unreadable": unread.collect::<Vec<_>>(),
    })
}

/// `holdall.digest/1`: the digest of one array, by address, file and dataset; `array` is `None` where it could not be read. Paths as the
/// user named them.
#[must_use]
pub fn digest_json(
    (address, file, dataset): (&str, &str, Option<&str>),
    array: Option<&ArrayDigest>,
) -> Json {
    json!({
        "schema": "holdall.digest/1",
        "address": address,
        "path": file,
        "dataset": dataset.map(typed),
        "dtype": array.map(|array| dtype_json(&array.dtype)),
        "shape": array.map(|array| &array.shape),
        "algorithm": "sha256",
        "digest": array.map(|array| array.digest.to_string()),
    })
}

/// `holdall.formats/1`: the support for each version of a format: `yes`, `partly` or `no`.
#[must_use]
pub fn format_json(format: &Format) -> Json {
    let word = |level| match level {
        Level::Yes => "yes",
        Level::Partly => "partly",
        Level::No => "no",
    };
    let versions = format.support.iter().map(|support| {
        json!({
            "version": support.version,
            "read": word(support.read),
            "write": word(support.write),
            "verify": word(support.verify),
            "repair": word(support.repair),
        })
    });
    json!({
        "schema": "holdall.formats/1",
        "format": format.name,
        "title": format.title,
        "extensions": format.extensions,
        "versions": versions.collect::<Vec<_>>(),
    })
}

/// A type in numpy's words: the text of `dtype.str`, or the list of fields.
#[must_use]
pub fn dtype_json(dtype: &DType) -> Json {
    literal_json(&dtype.descr())
}

/// Converts a type's description, which consists of text, numbers, lists and tuples. The latter two become arrays.
fn literal_json(literal: &Literal) -> Json {
    match literal {
        Literal::None => Json::Null,
        Literal::Bool(value) => (*value).into(),
        Literal::Int(value) => integer_json(*value),
        Literal::Float(value) => float_json(*value),
        Literal::Str(text) => text.as_str().into(),
        Literal::Bytes(bytes) => String::from_utf8_lossy(bytes).into(),
        Literal::List(items) | Literal::Tuple(items) => items.iter().map(literal_json).collect(),
        Literal::Dict(pairs) => {
            let named = pairs.iter().filter_map(|(key, value)| Some((key.as_str()?, value)));
            named.map(|(key, value)| (key.to_owned(), literal_json(value))).collect::<Map<_, _>>().into()
        }
    }
}

/// Metadata. Integers beyond 64 bits are text, as are `NaN`, `Infinity` and `-Infinity`; bytes are `{"bytes": "00ff"}`. Keys with the same
/// text, as `1` and `"1"` of a YAML tree, are numbered from the second on: `1 (2)`.
#[must_use]
pub fn value_json(value: &Value) -> Json {
    match value {
        Value::Null => Json::Null,
        Value::Bool(value) => (*value).into(),
        Value::Int(value) => integer_json(*value),
        Value::Float(value) => float_json(*value),
        Value::Text(text) => text.as_str().into(),
        Value::Bytes(bytes) => {
            let mut digits = String::new();
            repr::hex(bytes, &mut digits);
            json!({ "bytes": digits })
        }
        Value::List(items) => items.iter().map(value_json).collect(),
        Value::Map(entries) => entries_json(entries),
        // The tree is open to new kinds of values; those that this build lacks are not guessed.
        _ => Json::Null,
    }
}

fn entries_json(entries: &[(String, Value)]) -> Json {
    let mut map = Map::with_capacity(entries.len());
    // How many of each key there are so far.
    let mut counts: HashMap<&str, u64> = entries.iter().map(|(key, _)| (key.as_str(), 0)).collect();
    for (key, value) in entries {
        let name = |count| if count == 1 { key.clone() } else { format!("{key} ({count})") };
        let mut count = counts.get(key.as_str()).map_or(1, |count| count + 1);
        // It may be another's.
        while count > 1 && counts.contains_key(name(count).as_str()) {
            count += 1;
        }
        counts.insert(key, count);
        map.insert(name(count), value_json(value));
    }
    map.into()
}

fn integer_json(value: i128) -> Json {
    match (i64::try_from(value), u64::try_from(value)) {
        (Ok(narrow), _) => narrow.into(),
        (_, Ok(narrow)) => narrow.into(),
        _ => value.to_string().into(),
    }
}

fn float_json(value: f64) -> Json {
    match special_float(value) {
        Some(word) => word.into(),
        None => value.into(),
    }
}

/// The words for the numbers that JSON lacks.
pub(crate) fn special_float(value: f64) -> Option<&'static str> {
    if value.is_nan() {
        Some("NaN")
    } else if value.is_infinite() {
        Some(if value > 0.0 { "Infinity" } else { "-Infinity" })
    } else {
        None
    }
}

fn bounds(range: Option<&Range<u64>>) -> (Option<u64>, Option<u64>) {
    (range.map(|range| range.start), range.map(|range| range.end))
}

#[cfg(test)]
mod tests;
