//! Summary of a file, and its metadata.

use container_core::dtype::{ByteOrder, Order};
use container_core::{Limits, Result, Value};

use crate::byte_map;
use crate::file::File;
use crate::frames::Frames;
use crate::stacked::names::{NameStats, skip_file_errors};
use crate::stacked::{Defaults, Rows, StackedChunks};

/// Maximum number of entries for which the bytes between chunks are examined; above it that is left to `layout` and `verify`.
const MAX_EXAMINED_ENTRIES: u64 = 1 << 21;

const COUNT: &str = "particles/N";

/// Maximum number of names that are shown.
const NAMES: usize = 200;

pub(crate) fn details(file: &File, name_stats: &NameStats, limits: &Limits) -> Vec<(String, Value)> {
    let (header, layout) = (file.header(), file.layout());
    let names: Vec<_> = file.names().iter().collect();
    let mut details: Vec<(&str, Value)> = vec![
        ("frames", file.nframes().into()),
        ("chunks", layout.entries().into()),
        ("names", (names.len() as u64).into()),
        ("schema", header.schema_name().into()),
        ("schema version", header.schema_version.to_string().into()),
        ("application", header.application_name().into()),
    ];
    if header.byte_order == ByteOrder::Big {
        details.push(("byte order", "big".into()));
    }
    if header.schema_name() == crate::hoomd::SCHEMA {
        if let Some(last) = file.nframes().checked_sub(1) {
            for (what, frame) in [("first step", 0), ("last step", last)] {
                details.extend(number(file, frame, "configuration/step").map(|step| (what, step.into())));
            }
        }
        details.extend(number(file, 0, COUNT).map(|count| ("particles", count.into())));
        if let Some((least, most)) = counts(file, name_stats).filter(|(least, most)| least != most) {
            details.push(("least particles", least.into()));
            details.push(("most particles", most.into()));
        }
        details.extend(types(file).ok().map(|types| ("particle types", types.into())));
        let logs: Vec<Value> = names
            .iter()
            .filter(|name| name.starts_with("log/"))
            .take(NAMES)
            .map(|name| name.as_ref().into())
            .collect();
        details.push(("log", logs.into()));
    }
    let stored = name_stats.names.iter().flatten().map(|name| name.stored).fold(0, u64::saturating_add);
    details.push(("chunk bytes", stored.into()));
    if layout.entries() <= MAX_EXAMINED_ENTRIES
        && let Ok(waste) = byte_map::waste(file, limits)
    {
        details.push(("dead bytes", waste.dead.into()));
        details.push(("orphan bytes", waste.orphan.into()));
    }
    details.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// Returns the metadata that every file has. The positions of its blocks are part of the map only, so that copies with another layout
/// compare equal.
///
/// # Errors
/// Those of the source.
pub(crate) fn meta(file: &File) -> Result<Value> {
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
        entries.push(("box", simulation_box(file)?.into()));
        entries.push(("types", types(file)?.into()));
    }
    Ok(Value::Map(entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()))
}

/// The number in a chunk of one element; frame 0's where the frame lacks it, 0 where frame 0 lacks it, too. `None` where it cannot be read.
fn number(file: &File, frame: u64, name: &str) -> Option<u64> {
    let found = file.find_chunk(frame, name).or_else(|| file.find_chunk(0, name));
    let Some(entry) = found else { return Some(0) };
    if (entry.n, entry.m) != (1, 1) {
        return None;
    }
    let bytes = file.read_chunk(&entry).ok()?;
    let mut word = [0; 8];
    match file.header().byte_order {
        ByteOrder::Little => {
            word.get_mut(..bytes.len())?.copy_from_slice(&bytes);
            Some(u64::from_le_bytes(word))
        }
        ByteOrder::Big => {
            word.get_mut(8_usize.checked_sub(bytes.len())?..)?.copy_from_slice(&bytes);
            Some(u64::from_be_bytes(word))
        }
    }
}

/// The smallest and the largest number of particles of a frame, where a frame after the first stores it.
fn counts(file: &File, name_stats: &NameStats) -> Option<(u32, u32)> {
    let name = name_stats.get(file.names().id(COUNT)?)?;
    if name.frames == 1 && name.first.frame == 0 {
        return None;
    }
    let stack = StackedChunks::like(file, COUNT, &Frames::all(file), Defaults::Schema, &name.first).ok()?;
    let all = stack.read(&Rows::All, 1).ok()?;
    let counts = all.elements::<u32>(Order::C, &file.options().limits).ok()?;
    counts.iter().copied().min().zip(counts.iter().copied().max())
}

/// The box of frame 0; empty where the chunk is not a box.
fn simulation_box(file: &File) -> Result<Vec<Value>> {
    let found =
        file.find_chunk(0, "configuration/box").filter(|entry| entry.size().is_some_and(|size| size <= 48));
    let Some(entry) = found else { return Ok([1.0, 1.0, 1.0, 0.0, 0.0, 0.0].map(Value::from).to_vec()) };
    if let Some(lengths) = skip_file_errors(file.read_elements::<f64>(&entry))? {
        return Ok(lengths.iter().map(|length| Value::from(*length)).collect());
    }
    let lengths = skip_file_errors(file.read_elements::<f32>(&entry))?.unwrap_or_default();
    Ok(lengths.iter().map(|length| Value::from(f64::from(*length))).collect())
}

/// The types of frame 0.
fn types(file: &File) -> Result<Vec<Value>> {
    let found =
        file.find_chunk(0, "particles/types").filter(|entry| entry.n <= NAMES as u64 && entry.m <= 4096);
    let Some(entry) = found else { return Ok(vec!["A".into()]) };
    let bytes = skip_file_errors(file.read_chunk(&entry))?.unwrap_or_default();
    let rows = bytes.chunks_exact(usize::try_from(entry.m).unwrap_or(1).max(1));
    let text = |row: &[u8]| {
        let end = row.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        Value::from(String::from_utf8_lossy(&row[..end]).into_owned())
    };
    Ok(rows.map(text).collect())
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing)]
mod tests;
