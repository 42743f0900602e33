//! Check that a target that was read back carries the metadata of its source.

use container_core::container::Container;
use container_core::format::WriteRequest;
use container_core::interchange::{NAME, entries, form_of, limit_depth, remove_key, with_dataset_name};
use container_core::json_pointer::unescape;
use container_core::region::Region;
use container_core::report::Loss;
use container_core::{Result, Value};

use crate::diff::{Difference, compare_trees};

/// The format whose tree records the places of arrays.
const ASDF: &str = "asdf";
/// The format whose cards are not read back.
const FITS: &str = "fits";

/// Key of GSD's own metadata, and the parts of it that every GSD file has.
const GSD: &str = "gsd";
const OF_HEADER: [&str; 3] = ["application", "schema", "schema_version"];

/// Key of RawArray's own metadata.
const RAWARRAY: &str = "rawarray";

/// First words of losses after which no metadata are expected in the target.
const LOST: [&str; 2] = ["metadata", "trailer"];

/// Differences between the carried metadata of source and target. Between files of the same format, the format's own import carries more,
/// which its tests cover.
pub(super) fn compare(
    task: &WriteRequest<'_>,
    target: &dyn Container,
    target_selection: &[(usize, Region)],
    losses: &[Loss],
) -> Result<Vec<Difference>> {
    let is_lost = losses.iter().any(|loss| LOST.iter().any(|lost| loss.what.starts_with(lost)));
    let format = target.about().format;
    if is_lost
        || format == FITS
        || format == task.container.about().format
        || format == container_core::npy::FORMAT.name
    {
        return Ok(Vec::new());
    }
    let (mut source, _) = task.metadata()?;
    let (mut written, _) = limit_depth(target.export_metadata(target_selection)?);
    if let [(index, _)] = target_selection {
        written = with_dataset_name(written, &target.require(*index)?.path);
    }
    if format == ASDF {
        written = without_places(written, &source);
    }
    if format == GSD {
        // The one frame that is left is not named.
        (source, written) = (without_frame(source), without_frame(written));
        let header = source.get(GSD).map(header);
        (source, written) = match header {
            Some(header) => (with_header(source, header), {
                let header = written.get(GSD).map(self::header).unwrap_or_default();
                with_header(written, header)
            }),
            None => (source, remove_key(written, GSD)),
        };
    }
    if [ASDF, GSD].contains(&format) {
        written = with_name_of(written, &source);
    }
    // Types that numpy has and RawArray does not are opaque there, with their code next to them.
    if source.get(RAWARRAY).is_none() {
        written = remove_key(written, RAWARRAY);
    }
    let mut found = Vec::new();
    compare_trees("metadata", &source, &written, &[], &mut |what| {
        found.push(Difference { dataset: None, what });
    });
    Ok(found)
}

/// The tree without top-level places of arrays that the source lacks: the tree itself records them.
fn without_places(written: Value, source: &Value) -> Value {
    let Value::Map(mut all) = written else { return written };
    all.retain(|(key, value)| {
        let is_place = matches!(form_of(value), Some(("array", array)) if array.get("more").is_none());
        !is_place || source.get(key).is_some()
    });
    Value::Map(all)
}

/// The tree with the name that the source has, where that means the same: a path of ASDF has slashes and tildes within its steps escaped, other
/// names have them so or as they are.
fn with_name_of(written: Value, source: &Value) -> Value {
    let (Some(Value::Text(own)), Some(Value::Text(name))) = (written.get(NAME), source.get(NAME)) else {
        return written;
    };
    let meant = |path: &str| [path.to_owned(), unescape(path).into_owned()];
    let is_same = meant(own).iter().any(|own| meant(name).contains(own));
    if is_same { with_dataset_name(written, name) } else { written }
}

/// The name of one dataset without the frame that it was in.
fn without_frame(tree: Value) -> Value {
    let name = match tree.get(NAME) {
        Some(Value::Text(name)) => name.strip_prefix("frames/").and_then(|rest| rest.split_once('/')),
        _ => None,
    };
    match name.map(|(_, name)| name.to_owned()) {
        Some(name) => with_dataset_name(remove_key(tree, NAME), &name),
        None => tree,
    }
}

fn header(own: &Value) -> Vec<(String, Value)> {
    entries(own).iter().filter(|(key, _)| OF_HEADER.contains(&key.as_str())).cloned().collect()
}

fn with_header(tree: Value, header: Vec<(String, Value)>) -> Value {
    match remove_key(tree, GSD) {
        Value::Map(mut entries) => {
            entries.push((GSD.to_owned(), Value::Map(header)));
            Value::Map(entries)
        }
        other => other,
    }
}
