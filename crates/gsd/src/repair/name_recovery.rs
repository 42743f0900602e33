//! Recovers the names of chunks: from the namelist, from another place that holds one, or as placeholders.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ops::Range;

use container_core::Result;
use container_core::report::{RepairItem, RepairReport};

use super::damaged_file::DamagedFile;
use super::split_names;
use crate::header::{self, INDEX_ENTRY_LEN};
use crate::hoomd;
use crate::namelist::NameList;

/// Greatest length of a namelist in bytes.
const MAX_BYTES: u64 = 64 << 20;

/// Prefix of placeholders for lost names.
pub(super) const PLACEHOLDER_PREFIX: &str = "unknown/";

/// Offset of the namelist in a new file of the reference: after an index of 128 entries.
const REFERENCE_NAMELIST_AT: u64 = header::LEN + 128 * INDEX_ENTRY_LEN;

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
pub(super) fn find(
    damaged: &DamagedFile<'_>,
    needed: usize,
    committed: usize,
    gaps: &[Range<u64>],
) -> Result<RecoveredNames> {
    if let Some(found) = at_header_offset(damaged, needed)? {
        return Ok(found);
    }
    let stated_at = damaged.header.namelist_location;
    let v1 = damaged.header.is_v1();
    let moved = |found: RecoveredNames| {
        let what = format!("{} names, where a namelist was found", found.names.len());
        RecoveredNames { guess: Some(RepairItem::new(found.range.clone(), what)), ..found }
    };
    let begin = text_start(damaged, stated_at)?;
    for (place, v1) in [(begin, v1), (stated_at, v1), (stated_at, !v1), (REFERENCE_NAMELIST_AT, v1)] {
        let block = damaged.clip(Some(place..place.saturating_add(MAX_BYTES)));
        if place < header::LEN || block.is_empty() {
            continue;
        }
        let bytes = damaged.read(block.clone())?;
        let names = NameList::parse(until_empty_name(&bytes, v1), v1);
        let cut = first_is_cut(damaged, &names, block.start)?;
        if names.len() >= needed.max(1) && !cut && are_plausible(&names) {
            return Ok(moved(RecoveredNames::new(&names, block.start)));
        }
    }
    if needed == 0 {
        return Ok(RecoveredNames::default());
    }
    let mut best: Option<(usize, RecoveredNames)> = None;
    let stated = damaged.clip(damaged.header.namelist_range());
    for gap in gaps {
        // What is left in the block itself is looked at below: there ids count.
        let around = [gap.start..gap.end.min(stated.start), gap.start.max(stated.end)..gap.end];
        for part in around.into_iter().filter(|part| part.start < part.end) {
            for window in damaged.windows(part, 1 << 20) {
                let (start, bytes) = window?;
                search(&bytes, start, v1, needed, &mut best);
            }
        }
    }
    if let Some((_, found)) = best {
        return Ok(moved(found));
    }
    with_hole(damaged, needed, committed)
}

/// The part of a block up to the first empty name: what follows need not be looked at.
pub(super) fn until_empty_name(bytes: &[u8], v1: bool) -> &[u8] {
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
pub(super) fn are_plausible(names: &NameList) -> bool {
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
pub(super) fn is_schema_name(name: &[u8]) -> bool {
    let container = name.split(|byte| *byte == b'/').next().unwrap_or_default();
    name.contains(&b'/') && hoomd_containers().any(|known| known.as_bytes() == container)
}

fn hoomd_containers() -> impl Iterator<Item = &'static str> {
    use hoomd::schema::Container;
    let others = [Container::Configuration, Container::State, Container::Log];
    others.into_iter().chain(Container::COUNTED).map(Container::name)
}

/// Looks for lists of at least `needed` names in `bytes`. More names of the schema are better, then more names.
fn search(bytes: &[u8], start: u64, v1: bool, needed: usize, best: &mut Option<(usize, RecoveredNames)>) {
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
            let listed = (0..=u16::MAX).take(names.len()).filter_map(|id| names.bytes(id));
            let score = listed.filter(|name| is_schema_name(name)).count() * crate::MAX_NAMES + count;
            if are_plausible(&names) && best.as_ref().is_none_or(|(other, _)| *other <= score) {
                *best = Some((score, RecoveredNames::new(&names, start + at as u64)));
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
    let mut left = 0;
    let is_hoomd = damaged.header.schema_name() == hoomd::SCHEMA;
    if block.start >= header::LEN {
        let bytes = damaged.read(block.clone())?;
        if damaged.header.is_v1() {
            for (name, slot) in names.iter_mut().zip(bytes.as_chunks::<64>().0) {
                *name = slot_name(slot).filter(|name| is_readable(name)).map(<[u8]>::to_vec);
            }
            left = names.iter().flatten().count();
        } else {
            left = fill_around_hole(&bytes, &mut names, committed, is_hoomd);
        }
    }
    let what = format!("{left} of {needed} names are left");
    let guess = Some(RepairItem::new(block.clone(), what));
    Ok(RecoveredNames { names, range: block.start..block.start, guess, as_listed: false })
}

/// Names before the hole count from the first id, names behind it from the last. How many are set. Where there is no hole, and fewer names
/// than committed entries need, the last are gone or two ran into one, behind which every name is another's: only those in front stay that
/// cannot be two.
fn fill_around_hole(bytes: &[u8], names: &mut [Option<Vec<u8>>], committed: usize, is_hoomd: bool) -> usize {
    let in_schema =
        |name: &[u8]| std::str::from_utf8(name).is_ok_and(|name| hoomd::schema::field(name).is_some());
    let used = bytes.len() - bytes.iter().rev().take_while(|byte| **byte == 0).count();
    let listed: Vec<&[u8]> = bytes.get(..used).unwrap_or_default().split(|byte| *byte == 0).collect();
    if used > 0 && listed.iter().all(|name| !name.is_empty()) {
        let is_short = listed.len() < committed;
        let is_one = |(at, name): &(usize, &&[u8])| {
            let is_last = at + 1 == listed.len();
            in_schema(name)
                || (is_hoomd && !is_last && is_schema_name(name) && !split_names::may_be_merged(name))
        };
        let in_place = listed.iter().enumerate().take_while(|one| !is_short || is_one(one));
        let mut set = 0;
        for (slot, (_, name)) in names.iter_mut().zip(in_place).filter(|(_, (_, name))| is_readable(name)) {
            *slot = Some(name.to_vec());
            set += 1;
        }
        return set;
    }
    let whole = |name: &&[u8]| is_readable(name);
    let mut parts = bytes.split(|byte| *byte == 0);
    let before: Vec<&[u8]> = parts.by_ref().take_while(|name| is_readable(name)).collect();
    let behind: Vec<&[u8]> = parts.filter(|name| !name.is_empty()).collect();
    if before.len() + behind.len() > names.len() || !behind.iter().all(whole) {
        return 0;
    }
    let tail = names.len() - behind.len();
    let places = (0..before.len()).chain(tail..names.len());
    let all = before.len() + behind.len() == names.len();
    let mut set = 0;
    for (place, name) in places.zip(before.iter().chain(&behind)) {
        // Beside the hole a name may have lost its end or its beginning.
        let beside = place + 1 == before.len() || place == tail;
        let name = name.to_vec();
        let proved = !beside || in_schema(&name);
        if let Some(slot) = names.get_mut(place).filter(|_| proved || (all && bytes.first() != Some(&0))) {
            *slot = Some(name);
            set += 1;
        }
    }
    set
}

/// Names that can be written: what the caller says, what was found, placeholders. Fills `report` with what is not as found: names that
/// are made up for lost ones are lost, those that the form of chunks tells are guessed, as are those that were not written yet.
pub(super) fn choose(
    found: RecoveredNames,
    wanted: &BTreeMap<u16, String>,
    placeholder: impl Fn(u16) -> Cow<'static, str>,
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
                let what = format!("name {id} is {name:?}, as asked for");
                report.guessed.push(RepairItem::new(at..at, what));
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
                let mut new = match &old {
                    None => placeholder(id).into_owned(),
                    Some(_) => format!("{PLACEHOLDER_PREFIX}{id}"),
                };
                if taken.contains(new.as_bytes()) {
                    new = format!("{PLACEHOLDER_PREFIX}{id}");
                }
                while taken.contains(new.as_bytes()) {
                    new.push('_');
                }
                let what = match old {
                    None => format!("name {id} is lost: {new:?} stands for it"),
                    Some(old) => {
                        let old = String::from_utf8_lossy(&old).into_owned();
                        format!("name {id}, {old:?}, cannot be told from others: {new:?} stands for it")
                    }
                };
                let is_told = found.as_listed || !new.starts_with(PLACEHOLDER_PREFIX);
                let items = if is_told { &mut report.guessed } else { &mut report.lost };
                items.push(RepairItem::new(at..at, what));
                new.into_bytes()
            }
        };
        taken.insert(chosen.clone());
        used.insert(chosen.clone());
        names.push(chosen);
    }
    names
}
