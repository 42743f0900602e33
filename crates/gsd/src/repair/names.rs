//! The names of chunks: from the namelist, from another place that holds one, or as placeholders.

use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use container_core::Result;
use container_core::report::{Evidence, RepairItem, RepairReport};

use super::damaged_file::DamagedFile;
use super::entries::Edges;
use super::index;
use crate::header::{self, Header, NAMELIST_ENTRY_LEN};
use crate::hoomd::{self, schema};
use crate::index::IndexEntry;
use crate::namelist::NameList;

/// Greatest length of a namelist in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Prefix of placeholders for lost names.
const PLACEHOLDER_PREFIX: &str = "unknown/";

/// Lists of names that a search keeps.
const MAX_LISTS: usize = 4096;

/// Distance in bytes from the place in the header within which a list that nothing else places is the file's own, moved.
const MAX_SHIFT: u64 = 4096;

/// Names by id, `None` where one is lost, and the bytes that they were found in.
#[derive(Clone, Debug, Default)]
pub(super) struct RecoveredNames {
    pub(super) names: Vec<Option<Vec<u8>>>,
    pub(super) range: Range<u64>,
    /// Set where this is not what the header says.
    pub(super) guess: Option<RepairItem>,
    /// True where the names are taken as they are, whatever bytes they have.
    pub(super) as_listed: bool,
}

impl RecoveredNames {
    fn new(names: &NameList, start: u64) -> Self {
        let ids = (0..=u16::MAX).take(names.len());
        let names_by_id = ids.map(|id| names.bytes(id).map(<[u8]>::to_vec)).collect();
        Self {
            names: names_by_id,
            range: start..start.saturating_add(names.used_len()),
            guess: None,
            as_listed: false,
        }
    }
}

/// The namelist that the header points at, where it is one: names for every id, zeros behind them.
pub(super) fn at_header_offset(damaged: &DamagedFile<'_>, needed: usize) -> Result<Option<RecoveredNames>> {
    let Some(range) = damaged.header.namelist_range().filter(|range| range.end <= damaged.len) else {
        return Ok(None);
    };
    if range.start < header::LEN || range.end - range.start > MAX_BYTES {
        return Ok(None);
    }
    let bytes = damaged.read(range.clone())?;
    let names = NameList::parse(&bytes, damaged.header.is_v1());
    let used = usize::try_from(names.used_len()).unwrap_or(usize::MAX);
    let clean = bytes.get(used..).is_some_and(|rest| rest.iter().all(|byte| *byte == 0));
    // Where something is behind them as well, any name that begins within another is cut.
    let cut = first_is_cut(damaged, &names, range.start)?
        || (!clean && needed > 0 && text_start(damaged, range.start)? < range.start);
    let sound = names.len() >= needed && !cut && (clean || (needed > 0 && are_plausible(&names)));
    Ok(sound.then(|| RecoveredNames { as_listed: clean, ..RecoveredNames::new(&names, range.start) }))
}

/// The names of a sound file, with room for those that uncommitted entries need.
pub(super) fn listed(names: &NameList, damaged: &DamagedFile<'_>, needed: usize) -> RecoveredNames {
    let mut found =
        RecoveredNames { as_listed: true, ..RecoveredNames::new(names, damaged.header.namelist_location) };
    found.names.resize(found.names.len().max(needed), None);
    found
}

/// Names for ids below `needed` from wherever they are; `gaps` are bytes that nothing else is known to use. Committed entries have ids below
/// `committed`.
///
/// # Errors
/// `Malformed` where a list is close to its place and not where index and chunks end: then they are not at theirs either.
pub(super) fn find(
    damaged: &DamagedFile<'_>,
    (entries, blocks): (&[IndexEntry], &[Range<u64>]),
    (needed, committed): (usize, usize),
    gaps: &[Range<u64>],
) -> Result<RecoveredNames> {
    if let Some(found) = at_header_offset(damaged, needed)? {
        return Ok(found);
    }
    let stated_at = damaged.header.namelist_location;
    let v1 = damaged.header.is_v1();
    let edges = Edges::of(entries, blocks);
    let room = damaged.header.namelist_allocated_entries.checked_mul(NAMELIST_ENTRY_LEN);
    let is_placed = |found: &RecoveredNames| {
        let range = &found.range;
        let end = room.and_then(|room| range.start.checked_add(room)).unwrap_or(range.end).max(range.end);
        // A chunk that begins with zeros and is off looks aligned: then the last one does not end with the file.
        edges.meet(damaged, &(range.start..end), edges.end_at(damaged.len))
    };
    let moved = |found: RecoveredNames, evidence: Evidence| {
        let what =
            format!("{} names, of a namelist at another location than in the header", found.names.len());
        let guess = RepairItem::new(found.range.clone(), what).with_evidence(evidence);
        RecoveredNames { guess: Some(guess), ..found }
    };
    let begin = text_start(damaged, stated_at)?.max(edges.end_before(stated_at));
    for (place, v1) in [(begin, v1), (stated_at, v1), (stated_at, !v1)] {
        let block = damaged.clip(Some(place..place.saturating_add(MAX_BYTES)));
        if place < header::LEN || block.is_empty() {
            continue;
        }
        let bytes = damaged.read(block.clone())?;
        let names = NameList::parse(until_empty_name(&bytes, v1), v1);
        let cut = first_is_cut(damaged, &names, block.start)?;
        if names.len() >= needed.max(1) && !cut && are_plausible(&names) {
            let found = RecoveredNames::new(&names, block.start);
            if place != stated_at && !is_placed(&found)? {
                return Err(index::misplaced("namelist", &found.range));
            }
            return Ok(moved(found, if place == stated_at { Evidence::Index } else { Evidence::Walk }));
        }
    }
    if needed == 0 {
        return Ok(RecoveredNames::default());
    }
    let mut lists = Vec::new();
    for gap in gaps {
        for window in damaged.windows(gap.clone(), 1 << 20) {
            let (start, bytes) = window?;
            search(&bytes, start, v1, needed, &mut lists);
        }
    }
    // Names in the room of the list follow others that are gone, where the last chunk is where it should be.
    let stated = damaged.header.namelist_range().unwrap_or_default();
    let has_lost_first_names =
        |found: &RecoveredNames| stated.contains(&found.range.start) && edges.end_at(damaged.len);
    let mut best: Option<RecoveredNames> = None;
    for found in lists {
        if is_placed(&found)? {
            if best.as_ref().is_none_or(|best| best.names.len() <= found.names.len()) {
                best = Some(found);
            }
        } else if found.range.start.abs_diff(stated_at) <= MAX_SHIFT && !has_lost_first_names(&found) {
            return Err(index::misplaced("namelist", &found.range));
        }
    }
    match best {
        Some(found) => Ok(moved(found, Evidence::Walk)),
        None => with_hole(damaged, needed, committed),
    }
}

/// The part of a block up to the first empty name: what follows need not be looked at.
fn until_empty_name(bytes: &[u8], v1: bool) -> &[u8] {
    if v1 {
        let slots = bytes.as_chunks::<64>().0.iter().take_while(|slot| slot_name(slot).is_some()).count();
        return bytes.get(..slots * 64).unwrap_or_default();
    }
    let end = bytes.windows(2).position(|pair| pair == [0, 0]);
    bytes.get(..end.map_or(bytes.len(), |end| end + 1)).unwrap_or_default()
}

fn slot_name(slot: &[u8; 64]) -> Option<&[u8]> {
    let len = slot.iter().position(|byte| *byte == 0)?;
    let (name, rest) = slot.split_at(len);
    (len > 0 && rest.iter().all(|byte| *byte == 0)).then_some(name)
}

/// True for names as programs choose them: text without control characters, each once.
fn are_plausible(names: &NameList) -> bool {
    let mut seen = HashSet::new();
    (0..=u16::MAX)
        .take(names.len())
        .all(|id| names.bytes(id).is_some_and(|name| is_readable(name) && seen.insert(name)))
}

/// True for text without control characters.
pub(super) fn is_readable(name: &[u8]) -> bool {
    std::str::from_utf8(name).is_ok_and(|name| !name.is_empty() && !name.chars().any(char::is_control))
}

/// Finds the start of the text that contains a position, if it is within 64 bytes.
fn text_start(damaged: &DamagedFile<'_>, at: u64) -> Result<u64> {
    if at <= header::LEN || at > damaged.len {
        return Ok(at);
    }
    let before = damaged.read(at.saturating_sub(64).max(header::LEN)..at)?;
    let head = before.iter().rev().take_while(|byte| byte.is_ascii_graphic()).count();
    Ok(at - head as u64)
}

/// True where the list begins within a name of the schema, so that the pointer to it is off by a few bytes.
fn first_is_cut(damaged: &DamagedFile<'_>, names: &NameList, start: u64) -> Result<bool> {
    let Some(first) = names.bytes(0).filter(|_| start > header::LEN) else { return Ok(false) };
    let before = damaged.read(text_start(damaged, start)?..start)?;
    let whole = [&before[..], first].concat();
    Ok(!before.is_empty() && is_schema_name(&whole) && !is_schema_name(first))
}

/// True for names of the `hoomd` schema.
fn is_schema_name(name: &[u8]) -> bool {
    let container = name.split(|byte| *byte == b'/').next().unwrap_or_default();
    name.contains(&b'/') && hoomd_containers().any(|known| known.as_bytes() == container)
}

fn hoomd_containers() -> impl Iterator<Item = &'static str> {
    use hoomd::schema::Container;
    let others = [Container::Configuration, Container::State, Container::Log];
    others.into_iter().chain(Container::COUNTED).map(Container::name)
}

/// Adds the lists of at least `needed` names in `bytes`.
fn search(bytes: &[u8], start: u64, v1: bool, needed: usize, lists: &mut Vec<RecoveredNames>) {
    let usual = |byte: u8| byte.is_ascii_alphanumeric() || b"_/.:+- ".contains(&byte);
    let mut at = 0;
    while at < bytes.len() {
        let Some(skip) = bytes[at..].iter().position(|byte| usual(*byte)) else { return };
        at += skip;
        let rest = &bytes[at..];
        let mut used = 0;
        let mut count = 0_usize;
        if v1 {
            let named =
                |slot: &&[u8; 64]| slot_name(slot).is_some_and(|name| name.iter().all(|byte| usual(*byte)));
            count = rest.as_chunks::<64>().0.iter().take_while(named).count();
            used = count * 64;
        } else {
            while let Some(len) = rest[used..].iter().position(|byte| !usual(*byte)) {
                if len == 0 || rest[used + len] != 0 || count == crate::MAX_NAMES {
                    break;
                }
                used += len + 1;
                count += 1;
            }
        }
        if count >= needed {
            let names = NameList::parse(&rest[..used], v1);
            if are_plausible(&names) && lists.len() < MAX_LISTS {
                lists.push(RecoveredNames::new(&names, start + at as u64));
            }
        }
        let word = rest.iter().position(|byte| !usual(*byte)).unwrap_or(rest.len());
        at += used.max(word).max(1);
    }
}

/// The namelist that the header points at with the names that are left in it, where some were overwritten with zeros.
fn with_hole(damaged: &DamagedFile<'_>, needed: usize, committed: usize) -> Result<RecoveredNames> {
    let block = damaged.clip(damaged.header.namelist_range());
    let block = block.start..block.end.min(block.start.saturating_add(MAX_BYTES));
    let mut names: Vec<Option<Vec<u8>>> = vec![None; needed];
    if block.start >= header::LEN {
        let bytes = damaged.read(block.clone())?;
        if damaged.header.is_v1() {
            for (name, slot) in names.iter_mut().zip(bytes.as_chunks::<64>().0) {
                *name = slot_name(slot).filter(|name| is_readable(name)).map(<[u8]>::to_vec);
            }
        } else {
            // Of a list that was cut with the file, those that are left are in their place.
            let is_cut = damaged.header.namelist_range().is_none_or(|range| range.end > damaged.len);
            fill_before_hole(&bytes, &mut names, if is_cut { 0 } else { committed });
        }
    }
    let left = names.iter().flatten().count();
    let what = format!("{left} of {needed} names are left");
    let guess = RepairItem::new(block.clone(), what).with_evidence(Evidence::Index);
    let guess = Some(guess).filter(|_| left > 0);
    Ok(RecoveredNames { names, range: block.start..block.start, guess, as_listed: false })
}

/// Sets the names before the first empty one, whose ids are counted from the first. The last of them may have lost its end, unless the
/// schema has it. Where the list ends with fewer names than committed entries need, two may have become one: then the names up to the
/// first that the schema does not have are in their place.
fn fill_before_hole(bytes: &[u8], names: &mut [Option<Vec<u8>>], committed: usize) {
    let in_schema = |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| schema::field(name).is_some());
    // A name without its NUL is cut.
    let last = bytes.iter().rposition(|byte| *byte == 0).unwrap_or(0);
    let bytes = bytes.get(..last).unwrap_or_default();
    let before: Vec<&[u8]> =
        bytes.split(|byte| *byte == 0).take_while(|name| is_readable(name)).take(names.len()).collect();
    let len: usize = before.iter().map(|name| name.len() + 1).sum();
    let has_hole = bytes.get(len..).is_some_and(|rest| rest.iter().any(|byte| *byte != 0));
    let is_short = !has_hole && before.len() < committed;
    let in_place = before
        .iter()
        .enumerate()
        .take_while(|(at, name)| in_schema(name) || (!is_short && (!has_hole || at + 1 < before.len())));
    for (slot, (_, name)) in names.iter_mut().zip(in_place) {
        *slot = Some(name.to_vec());
    }
}

/// Names that can be written: those of the caller, those that were found, placeholders for lost ones. Adds to `report` each that is not as
/// found.
pub(super) fn choose(
    found: RecoveredNames,
    wanted: &BTreeMap<u16, String>,
    report: &mut RepairReport,
) -> Vec<Vec<u8>> {
    let mut taken: HashSet<Vec<u8>> = wanted
        .values()
        .map(|name| name.clone().into_bytes())
        .chain(found.names.iter().flatten().cloned())
        .collect();
    let mut used: HashSet<Vec<u8>> = HashSet::new();
    let mut names = Vec::with_capacity(found.names.len());
    let at = found.range.start;
    for (id, name) in (0_u16..).zip(found.names) {
        // A name of file layer 1.0 may have been cut within a character.
        let name = name.map(|name| match std::str::from_utf8(&name) {
            Err(error) if !found.as_listed && error.error_len().is_none() => {
                name[..error.valid_up_to()].to_vec()
            }
            _ => name,
        });
        let chosen = match (wanted.get(&id), name) {
            (Some(name), _) => {
                let what = format!("name {id} is {name:?}, as requested");
                report.kept.push(RepairItem::new(at..at, what));
                name.clone().into_bytes()
            }
            (None, Some(name))
                if !name.is_empty()
                    && (found.as_listed || std::str::from_utf8(&name).is_ok())
                    && !used.contains(&name) =>
            {
                name
            }
            (None, old) => {
                let mut new = format!("{PLACEHOLDER_PREFIX}{id}");
                while taken.contains(new.as_bytes()) {
                    new.push('_');
                }
                let what = match old {
                    None => format!("name {id} is lost, replaced by {new:?}"),
                    Some(old) => {
                        let old = String::from_utf8_lossy(&old).into_owned();
                        format!("name {id}, {old:?}, is a duplicate or not text, replaced by {new:?}")
                    }
                };
                let item = RepairItem::new(at..at, what);
                if found.as_listed {
                    // The list itself has the name twice, or not yet.
                    report.guessed.push(item.with_evidence(Evidence::Index));
                } else {
                    report.lost.push(item);
                }
                new.into_bytes()
            }
        };
        taken.insert(chosen.clone());
        used.insert(chosen.clone());
        names.push(chosen);
    }
    names
}

/// The header of the new file: application and schema as far as they are text.
pub(super) fn header(damaged: &DamagedFile<'_>, names: &[Vec<u8>], report: &mut RepairReport) -> Header {
    let mut header = damaged.header;
    if let Err(text) = text(&header.application) {
        let item = |what: &str| RepairItem::new(48..112, what);
        if is_filled(&header.application) {
            let item = item("the application fills its field: its end is left out, for the NUL after it");
            report.guessed.push(item.with_evidence(Evidence::KnownDamage));
        } else {
            report.lost.push(item("the bytes after the text of the application"));
        }
        header.application = text;
    }
    if let Err(text) = text(&header.schema) {
        let filled = is_filled(&header.schema);
        header.schema = text;
        let is_hoomd = names
            .iter()
            .any(|name| std::str::from_utf8(name).is_ok_and(|name| schema::field(name).is_some()));
        if text[0] == 0 {
            let name = if is_hoomd { hoomd::SCHEMA } else { "none" };
            header.schema[..name.len()].copy_from_slice(name.as_bytes());
        }
        let what = format!("schema {:?}: the field is not all text", header.schema_name());
        let item = RepairItem::new(112..176, what);
        // Names of the schema show which it is.
        if is_hoomd && header.schema_name() == hoomd::SCHEMA {
            report.guessed.push(item.with_evidence(Evidence::Index));
        } else if filled {
            report.guessed.push(item.with_evidence(Evidence::KnownDamage));
        } else {
            report.lost.push(item);
        }
    }
    header
}

/// True for text without the NUL that ends it: a longer one, cut to the field.
fn is_filled(field: &[u8; 64]) -> bool {
    !field.contains(&0) && (61..=64).any(|len| field.get(..len).is_some_and(is_readable))
}

/// Checks that a field is text that ends within it; gives the part of it that is.
fn text(field: &[u8; 64]) -> std::result::Result<(), [u8; 64]> {
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

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]
mod tests;
