//! What a file is, in one screen, and its metadata.

use container_core::dtype::ByteOrder;
use container_core::{Limits, Value};

use crate::file::File;
use crate::segments;
use crate::stacked::Facts;

/// More entries than this, and what lies between their chunks is left to `layout` and `verify`.
const MANY: u64 = 1 << 21;

/// More names than this are not all shown.
const NAMES: usize = 200;

pub(crate) fn details(file: &File, facts: &Facts, limits: &Limits) -> Vec<(String, Value)> {
    let (header, layout) = (file.header(), file.layout());
    let names: Vec<_> = file.names().iter().collect();
    let mut details: Vec<(&str, Value)> = vec![
        ("frames", file.nframes().into()),
        ("chunks", layout.entries().into()),
        ("names", (names.len() as u64).into()),
        ("index location", header.index_location.into()),
        ("index allocated entries", header.index_allocated_entries.into()),
        ("namelist location", header.namelist_location.into()),
        ("namelist allocated entries", header.namelist_allocated_entries.into()),
        ("schema", header.schema_name().into()),
        ("schema version", header.schema_version.to_string().into()),
        ("application", header.application_name().into()),
    ];
    if header.byte_order == ByteOrder::Big {
        details.push(("byte order", "big".into()));
    }
    if header.schema_name() == crate::hoomd::SCHEMA {
        let step = |frame: u64| number(file, frame, "configuration/step");
        if let Some(last) = file.nframes().checked_sub(1) {
            details.push(("first step", step(0).into()));
            details.push(("last step", step(last).into()));
        }
        details.push(("particles", number(file, 0, "particles/N").into()));
        details.push(("particle types", types(file).into()));
        let logs: Vec<Value> = names
            .iter()
            .filter(|name| name.starts_with("log/"))
            .take(NAMES)
            .map(|name| name.as_ref().into())
            .collect();
        details.push(("log", logs.into()));
    }
    let stored = facts.names.iter().flatten().map(|name| name.stored).fold(0, u64::saturating_add);
    details.push(("chunk bytes", stored.into()));
    if layout.entries() <= MANY
        && let Ok(waste) = segments::waste(file, limits)
    {
        details.push(("dead bytes", waste.dead.into()));
        details.push(("orphan bytes", waste.orphan.into()));
    }
    details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn meta(file: &File) -> Value {
    let header = file.header();
    let names = file.names().iter().map(|name| Value::from(name.into_owned())).collect::<Vec<_>>();
    let mut entries: Vec<(&str, Value)> = vec![
        ("application", header.application_name().into()),
        ("schema", header.schema_name().into()),
        ("schema_version", header.schema_version.to_string().into()),
        ("gsd_version", header.gsd_version.to_string().into()),
        ("frames", file.nframes().into()),
        ("names", names.into()),
    ];
    if header.schema_name() == crate::hoomd::SCHEMA {
        entries.push(("box", simulation_box(file).into()));
        entries.push(("types", types(file).into()));
    }
    Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect())
}

/// The number in a chunk of one, of frame 0 where the frame has none, 0 where that has none either.
fn number(file: &File, frame: u64, name: &str) -> u64 {
    let found = file.find_chunk(frame, name).or_else(|| file.find_chunk(0, name));
    let Some(entry) = found.filter(|entry| entry.n == 1 && entry.m == 1) else { return 0 };
    let bytes = file.read_chunk(&entry).unwrap_or_default();
    let mut word = [0; 8];
    if bytes.len() > word.len() {
        return 0;
    }
    match file.header().byte_order {
        ByteOrder::Little => {
            word[..bytes.len()].copy_from_slice(&bytes);
            u64::from_le_bytes(word)
        }
        ByteOrder::Big => {
            word[8 - bytes.len()..].copy_from_slice(&bytes);
            u64::from_be_bytes(word)
        }
    }
}

/// The box of frame 0.
fn simulation_box(file: &File) -> Vec<Value> {
    let found =
        file.find_chunk(0, "configuration/box").filter(|entry| entry.size().is_some_and(|size| size <= 48));
    let Some(entry) = found else { return [1.0, 1.0, 1.0, 0.0, 0.0, 0.0].map(Value::from).to_vec() };
    if let Ok(lengths) = file.read_elements::<f64>(&entry) {
        return lengths.iter().map(|length| Value::from(*length)).collect();
    }
    let lengths = file.read_elements::<f32>(&entry).unwrap_or_default();
    lengths.iter().map(|length| Value::from(f64::from(*length))).collect()
}

/// The types of frame 0.
fn types(file: &File) -> Vec<Value> {
    let found =
        file.find_chunk(0, "particles/types").filter(|entry| entry.n <= NAMES as u64 && entry.m <= 4096);
    let Some(entry) = found else { return vec!["A".into()] };
    let bytes = file.read_chunk(&entry).unwrap_or_default();
    let rows = bytes.chunks_exact(usize::try_from(entry.m).unwrap_or(1).max(1));
    let text = |row: &[u8]| {
        let end = row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Value::from(String::from_utf8_lossy(&row[..end]).into_owned())
    };
    rows.map(text).collect()
}
