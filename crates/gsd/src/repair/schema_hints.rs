//! Hints of the schema: roles of names, and likely names for chunks that lost theirs.

use std::borrow::Cow;
use std::ops::Range;

use container_core::report::RepairItem;

use super::damaged_file::DamagedFile;
use super::name_recovery::{PLACEHOLDER_PREFIX, is_readable};
use super::value_model::{ChunkRoles, scalar};
use crate::ChunkType;
use crate::header::{Header, Version};
use crate::hoomd::{self, schema};
use crate::index::IndexEntry;

/// Chunks of a name that are looked at.
const MAX_SAMPLES: usize = 16;

/// The ids of the names that say whether values can be true.
pub(super) fn chunk_roles(names: &[Vec<u8>]) -> ChunkRoles {
    let id = |wanted: &str| {
        let at = names.iter().position(|name| name == wanted.as_bytes());
        at.and_then(|at| u16::try_from(at).ok())
    };
    ChunkRoles {
        step: id("configuration/step"),
        lattice: id("configuration/box"),
        position: id("particles/position"),
    }
}

/// A name for chunks whose own is lost, by their form: that of the schema where it can be told, else `unknown/<id>`.
pub(super) fn placeholder(damaged: &DamagedFile<'_>, entries: &[IndexEntry], id: u16) -> Cow<'static, str> {
    let unknown = || Cow::Owned(format!("{PLACEHOLDER_PREFIX}{id}"));
    let schema = damaged.header.schema_name();
    if schema != hoomd::SCHEMA && is_readable(schema.as_bytes()) {
        return unknown();
    }
    let samples: Vec<&IndexEntry> = entries.iter().filter(|entry| entry.id == id).take(MAX_SAMPLES).collect();
    let Some(first) = samples.first() else { return unknown() };
    let one_form = samples.iter().all(|entry| (entry.m, entry.type_code) == (first.m, first.type_code));
    let values =
        || samples.iter().map(|entry| scalar(damaged, entry).ok().flatten()).collect::<Option<Vec<_>>>();
    // The largest number of rows in the frame is that of the particles.
    let frame = entries.iter().filter(|entry| entry.frame == first.frame).take(usize::from(u16::MAX));
    let particles = frame.filter(|entry| entry.m == 3).map(|entry| entry.n).max();
    let Some(chunk_type) = first.chunk_type().filter(|_| one_form) else { return unknown() };
    let name = match (chunk_type, first.n, first.m) {
        (ChunkType::Uint64, 1, 1)
            if values().is_some_and(|all| all.windows(2).all(|pair| pair[0] < pair[1])) =>
        {
            "configuration/step"
        }
        (ChunkType::Uint8, 1, 1)
            if values().is_some_and(|all| all.iter().all(|value| [2, 3].contains(value))) =>
        {
            "configuration/dimensions"
        }
        (ChunkType::Float | ChunkType::Double, 6, 1) => "configuration/box",
        (ChunkType::Uint32, 1, 1)
            if values().is_some_and(|all| all.first().copied() == particles.map(i128::from)) =>
        {
            "particles/N"
        }
        (ChunkType::Float | ChunkType::Double, n, 3) if Some(n) == particles => "particles/position",
        (ChunkType::Float | ChunkType::Double, n, 4) if Some(n) == particles => "particles/orientation",
        (ChunkType::Int32, n, 3) if Some(n) == particles => "particles/image",
        (ChunkType::Uint32, n, 1) if Some(n) == particles => "particles/typeid",
        (ChunkType::Int8, _, m) if m > 1 => "particles/types",
        _ => return unknown(),
    };
    Cow::Borrowed(name)
}

/// The header of the new file: application, schema and its version, with what could not be written as it was put right.
pub(super) fn header(damaged: &DamagedFile<'_>, names: &[Vec<u8>], guessed: &mut Vec<RepairItem>) -> Header {
    const APPLICATION: Range<usize> = 48..112;
    const SCHEMA: Range<usize> = 112..176;
    let mut header = damaged.header;
    let bytes = |range: Range<usize>| range.start as u64..range.end as u64;
    if let Err(text) = text(&header.application) {
        header.application = text;
        guessed.push(RepairItem::new(bytes(APPLICATION), "the application as far as the field is text"));
    }
    let listed = names.iter().filter_map(|name| std::str::from_utf8(name).ok());
    let hoomd_names = listed.filter(|name| schema::field(name).is_some()).count();
    if let Err(text) = text(&header.schema) {
        header.schema = text;
        if text[0] == 0 {
            let name = if hoomd_names > 0 { hoomd::SCHEMA } else { "none" };
            header.schema[..name.len()].copy_from_slice(name.as_bytes());
        }
        let what = format!("schema {:?}: the field is not all text", header.schema_name());
        guessed.push(RepairItem::new(bytes(SCHEMA), what));
    }
    // Asked of the name as it is written now: of one with a control character behind it the cut is the schema's.
    let is_hoomd = header.schema_name() == hoomd::SCHEMA;
    let version = header.schema_version;
    let in_use = match version.major() {
        1 => version.minor() <= 4,
        2..=9 => version.minor() <= 9,
        _ => false,
    };
    if is_hoomd && hoomd_names > 0 && !in_use {
        // The newest that every reader takes.
        header.schema_version = Version::new(1, 4);
        let what = format!("schema version {}, not {version}", header.schema_version);
        guessed.push(RepairItem::new(40..44, what));
    }
    header
}

/// Whether a field is text that ends within it; else the part of it that is.
pub(super) fn text(field: &[u8; 64]) -> Result<(), [u8; 64]> {
    let len = field.iter().position(|byte| *byte == 0).unwrap_or(64);
    let text = &field[..len];
    let valid = std::str::from_utf8(text).map_or_else(|error| error.valid_up_to(), str::len);
    let control = text[..valid].iter().position(u8::is_ascii_control);
    let good = control.unwrap_or(valid);
    if good == len && len < 64 {
        return Ok(());
    }
    let mut cut = [0; 64];
    let good = (0..=good.min(63)).rev().find(|at| std::str::from_utf8(&text[..*at]).is_ok()).unwrap_or(0);
    cut[..good].copy_from_slice(&text[..good]);
    Err(cut)
}
