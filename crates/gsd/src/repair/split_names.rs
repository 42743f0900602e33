//! Splits names that were merged because the NUL between them was overwritten.
//!
//! Then there is a name fewer than the ids that entries have, and every later name would stand for its neighbour's chunks. The byte is known by
//! being one bit away from a NUL, and by what it parts: two names of the schema, or names at all.

use std::collections::BTreeSet;

use container_core::Result;
use container_core::report::RepairItem;

use super::damaged_file::DamagedFile;
use super::entries;
use super::index;
use super::name_recovery::{self, are_plausible, is_readable, is_schema_name};
use crate::hoomd;
use crate::namelist::NameList;

/// Number of names that a list may lack: a list that lacks more has probably another kind of damage.
const MAX_NAMES: usize = 16;

/// The places of bytes that were NULs between names, as many as names are missing; none where nothing tells which.
pub(super) fn find(damaged: &DamagedFile<'_>) -> Result<Vec<u64>> {
    let Some(found) = name_recovery::at_header_offset(damaged, 0)?.filter(|found| found.as_listed) else {
        return Ok(Vec::new());
    };
    if damaged.header.is_v1() || found.names.is_empty() {
        return Ok(Vec::new());
    }
    let entries = entries::collect(damaged, damaged.index_block(), None)?.entries;
    let listed = found.names.len();
    let ids: BTreeSet<usize> = entries.iter().map(|entry| usize::from(entry.id)).collect();
    let likely = (listed..).take_while(|id| ids.contains(id)).count();
    let proved = index::needed_names(damaged, &entries)?.saturating_sub(listed);
    if !(1..=MAX_NAMES).contains(&likely) {
        return Ok(Vec::new());
    }
    let list = damaged.read(found.range.clone())?;
    let is_hoomd = damaged.header.schema_name() == hoomd::SCHEMA;
    let is_bit = |byte: u8| byte.is_power_of_two();
    // One entry with an id too many may be what is damaged; not where the names say themselves that they are two.
    let mut places = Vec::new();
    if is_hoomd {
        places = parts(&list, &is_bit, &is_schema_name, false);
    }
    if places.is_empty() {
        places = parts(&list, &is_bit, &is_readable, true);
    }
    let is_shown = !places.is_empty();
    if !is_shown && is_hoomd {
        places = parts(&list, &|_| true, &is_schema_name, false);
    } else if !is_shown {
        places = parts(&list, &is_bit, &is_readable, false);
    }
    let missing = if is_shown { likely } else { proved };
    let mut mended = list.to_vec();
    places.iter().filter_map(|at| mended.get_mut(*at).map(|byte| *byte = 0)).for_each(drop);
    let all = NameList::parse(&mended, false);
    let fits = places.len() == missing && all.len() == listed.saturating_add(missing) && are_plausible(&all);
    let places = places.into_iter().map(|at| found.range.start.saturating_add(at as u64));
    Ok(if fits { places.collect() } else { Vec::new() })
}

/// Bytes of a list where a name can be parted; of those that are no text alone where `ruined` is set, since a name may have spaces.
fn parts(
    list: &[u8],
    is_nul: &dyn Fn(u8) -> bool,
    is_name: &dyn Fn(&[u8]) -> bool,
    ruined: bool,
) -> Vec<usize> {
    let mut places: Vec<usize> = Vec::new();
    let mut start = 0_usize;
    for name in list.split(|byte| *byte == 0) {
        if !ruined || !is_readable(name) {
            places.extend(cuts(name, is_nul, is_name).map(|at| start.saturating_add(at)));
        }
        start = start.saturating_add(name.len()).saturating_add(1);
    }
    places
}

/// Finds the positions where a name can be split in two.
fn cuts(
    name: &[u8],
    is_nul: &dyn Fn(u8) -> bool,
    is_name: &dyn Fn(&[u8]) -> bool,
) -> impl Iterator<Item = usize> {
    let parted = |at: &usize| match (name.get(..*at), name.get(*at..).and_then(<[u8]>::split_first)) {
        (Some(one), Some((byte, other))) => is_nul(*byte) && is_name(one) && is_name(other),
        _ => false,
    };
    let cuts: Vec<usize> = (1..name.len()).filter(parted).collect();
    cuts.into_iter()
}

/// Whether a name may be two of the schema that ran into one.
pub(super) fn may_be_merged(name: &[u8]) -> bool {
    cuts(name, &|_| true, &is_schema_name).next().is_some()
}

/// Reports the split names.
pub(super) fn report(damaged: &DamagedFile<'_>, places: &[u64]) -> Result<Vec<RepairItem>> {
    let item = |at: &u64| {
        let was = damaged.read(*at..*at + 1)?.first().copied().unwrap_or_default();
        let what = format!(
            "a NUL between two names, which was 0x{was:02X}: entries have more ids than there are names"
        );
        Ok(RepairItem::new(*at..*at + 1, what))
    };
    places.iter().map(item).collect()
}
