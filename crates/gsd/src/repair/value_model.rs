//! Statistics of the values of committed frames, by which values of uncommitted chunks are judged.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::ops::Range;

use container_core::Result;
use container_core::dtype::ByteOrder;
use container_core::write::sectors::SECTOR;

use super::damaged_file::DamagedFile;
use crate::ChunkType;
use crate::index::IndexEntry;

/// Greatest growth of a step, as a multiple of the largest difference between committed steps.
const MAX_STEP_STRIDES: i128 = 1024;

/// Statistics of the values of one name.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChunkStats {
    type_code: u8,
    pub(super) largest: f64,
    pub(super) all_finite: bool,
    pub(super) subnormals: bool,
    /// No whole sector of it is zero, nor all of it.
    no_zeros: bool,
    text: bool,
}

/// Ids of the chunks with a known role: step, box, positions.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ChunkRoles {
    pub(super) step: Option<u16>,
    pub(super) lattice: Option<u16>,
    pub(super) position: Option<u16>,
}

/// Value statistics of committed frames, which later frames must agree with.
#[derive(Debug, Default)]
pub(super) struct ValueModel {
    looks: HashMap<u16, ChunkStats>,
    pub(super) chunk_roles: ChunkRoles,
    /// Lx, Ly, Lz, xy, xz, yz of the last frame that says so; `None` where positions are not all in it.
    lattice: Option<[f64; 6]>,
}

/// A chunk of one integer that rises from frame to frame, such as `configuration/step`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct StepCounter {
    pub(super) id: u16,
    last: i128,
    least: i128,
    most: i128,
}

impl StepCounter {
    /// Finds the number that rises in `frames` of entries: the step of the schema, else the first name that has one value in
    /// each of several frames. Of two frames alone it
    /// has to go on by the same difference.
    pub(super) fn find(
        damaged: &DamagedFile<'_>,
        frames: &[&[IndexEntry]],
        chunk_roles: ChunkRoles,
    ) -> Result<Option<Self>> {
        if let Some(step) = chunk_roles.step {
            // Absent, it is 0.
            let values = frames.iter().map(|frame| match frame.iter().find(|entry| entry.id == step) {
                Some(entry) => scalar(damaged, entry),
                None => Ok(Some(0)),
            });
            if let Some(values) = values.collect::<Result<Option<Vec<_>>>>()? {
                let rises = values.windows(2).all(|pair| pair[0] < pair[1]);
                if let Some(last) = values.last().filter(|_| rises) {
                    return Ok(Some(Self::of(step, *last, &values)));
                }
            }
        }
        let Some((last, _)) = frames.split_last().filter(|(_, before)| !before.is_empty()) else {
            return Ok(None);
        };
        for entry in last.iter().filter(|entry| entry.n == 1 && entry.m == 1).take(64) {
            let with_id = |frame: &&[IndexEntry]| frame.iter().find(|other| other.id == entry.id).copied();
            let Some(entries) = frames.iter().map(with_id).collect::<Option<Vec<_>>>() else { continue };
            let values = entries.iter().map(|entry| scalar(damaged, entry));
            let Some(values) = values.collect::<Result<Option<Vec<_>>>>()? else { continue };
            if let Some(last) = values.last().filter(|_| values.windows(2).all(|pair| pair[0] < pair[1])) {
                return Ok(Some(match values[..] {
                    [first, last] => Self::exact(entry.id, first, last),
                    _ => Self::of(entry.id, *last, &values),
                }));
            }
        }
        Ok(None)
    }

    fn of(id: u16, last: i128, values: &[i128]) -> Self {
        let stride = values.windows(2).map(|pair| pair[1] - pair[0]).max();
        Self {
            id,
            last,
            least: 1,
            most: stride.map_or(1 << 32, |stride| stride.saturating_mul(MAX_STEP_STRIDES)),
        }
    }

    fn exact(id: u16, first: i128, last: i128) -> Self {
        Self { id, last, least: last - first, most: last - first }
    }

    /// The clock after `entry`, if its value can be the next.
    pub(super) fn advance(self, damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<Option<Self>> {
        let value = scalar(damaged, entry)?;
        let good = value.filter(|value| {
            let difference = value.saturating_sub(self.last);
            self.least <= difference && difference <= self.most
        });
        Ok(good.map(|value| Self { last: value, ..self }))
    }
}

/// The value of a chunk of one integer.
pub(super) fn scalar(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<Option<i128>> {
    let Some(range) =
        entry.byte_range().filter(|range| entry.n == 1 && entry.m == 1 && range.end <= damaged.len)
    else {
        return Ok(None);
    };
    let mut bytes = damaged.read(range)?.into_owned();
    if damaged.order() == ByteOrder::Big {
        bytes.reverse();
    }
    let signed = match entry.chunk_type() {
        Some(ChunkType::Int8 | ChunkType::Int16 | ChunkType::Int32 | ChunkType::Int64) => true,
        Some(ChunkType::Uint8 | ChunkType::Uint16 | ChunkType::Uint32 | ChunkType::Uint64) => false,
        _ => return Ok(None),
    };
    let negative = signed && bytes.last().is_some_and(|byte| *byte >= 0x80);
    let mut wide = [if negative { 0xFF } else { 0 }; 16];
    wide[..bytes.len()].copy_from_slice(&bytes);
    Ok(Some(i128::from_le_bytes(wide)))
}

impl ValueModel {
    /// Looks at the last chunk of each name in `frames`.
    pub(super) fn of(
        damaged: &DamagedFile<'_>,
        frames: &[&[IndexEntry]],
        chunk_roles: ChunkRoles,
    ) -> Result<Self> {
        let mut expected = Self { chunk_roles, ..Self::default() };
        let entries = || frames.iter().rev().flat_map(|frame| frame.iter());
        for entry in entries() {
            if let Entry::Vacant(vacant) = expected.looks.entry(entry.id) {
                vacant.insert(chunk_stats(damaged, entry)?);
            }
        }
        let last = |id: Option<u16>| entries().find(|entry| Some(entry.id) == id);
        if let (Some(lattice), Some(position)) = (last(chunk_roles.lattice), last(chunk_roles.position)) {
            let lattice = read_lattice(damaged, lattice)?;
            if let Some(lattice) = lattice
                && all_inside(damaged, position, &lattice)?
            {
                expected.lattice = Some(lattice);
            }
        }
        Ok(expected)
    }

    /// Expects nothing of the values of `id`, of which something else is known.
    pub(super) fn ignore(&mut self, id: u16) {
        self.looks.remove(&id);
    }

    /// Whether `entries`, chunks of one frame, hold what such chunks held before.
    pub(super) fn accepts(&self, damaged: &DamagedFile<'_>, entries: &[IndexEntry]) -> Result<bool> {
        let mut lattice = self.lattice;
        for entry in entries {
            if Some(entry.id) == self.chunk_roles.lattice {
                let Some(found) = read_lattice(damaged, entry)? else { return Ok(false) };
                lattice = lattice.map(|_| found);
            }
        }
        for entry in entries {
            let known = self.looks.get(&entry.id);
            if !self.accepts_chunk(damaged, entry, known)? {
                return Ok(false);
            }
            if let Some(lattice) = lattice.filter(|_| Some(entry.id) == self.chunk_roles.position)
                && !all_inside(damaged, entry, &lattice)?
            {
                return Ok(false);
            }
        }
        Ok(true)
    }

    fn accepts_chunk(
        &self,
        damaged: &DamagedFile<'_>,
        entry: &IndexEntry,
        known: Option<&ChunkStats>,
    ) -> Result<bool> {
        let found = chunk_stats(damaged, entry)?;
        let usual = ChunkStats {
            type_code: entry.type_code,
            largest: f64::MAX,
            all_finite: true,
            subnormals: false,
            no_zeros: Some(entry.id) == self.chunk_roles.position,
            text: true,
        };
        let known = known.unwrap_or(&usual);
        let room = (known.largest * 1024.0).max(f64::from(1 << 20));
        Ok(found.type_code == known.type_code
            && (found.all_finite || !known.all_finite)
            && (known.subnormals || !found.subnormals)
            && (found.no_zeros || !known.no_zeros)
            && (found.text || !known.text)
            && found.largest <= room)
    }
}

pub(super) fn chunk_stats(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<ChunkStats> {
    let mut look = ChunkStats {
        type_code: entry.type_code,
        largest: 0.0,
        all_finite: true,
        subnormals: false,
        no_zeros: true,
        text: true,
    };
    let range = entry.byte_range().unwrap_or(0..0);
    let chunk_type = entry.chunk_type();
    if chunk_type == Some(ChunkType::Character) {
        look.text = std::str::from_utf8(&damaged.read(range.clone())?).is_ok();
    }
    look.no_zeros = !zeros(damaged, &range)?;
    for_numbers(damaged, entry, |_, value| {
        look.all_finite &= value.is_finite();
        look.subnormals |= match chunk_type {
            Some(ChunkType::Float) => value != 0.0 && value.abs() < f64::from(f32::MIN_POSITIVE),
            _ => value.is_subnormal(),
        };
        if value.is_finite() {
            look.largest = look.largest.max(value.abs());
        }
        true
    })?;
    Ok(look)
}

/// Whether a whole sector within `range` is zero, or all of a range of some numbers.
fn zeros(damaged: &DamagedFile<'_>, range: &Range<u64>) -> Result<bool> {
    if range.end - range.start < 12 {
        return Ok(false);
    }
    let mut all = true;
    let mut at = range.start;
    for window in damaged.windows(range.clone(), 0) {
        let (start, bytes) = window?;
        let mut rest = &bytes[..];
        at = at.max(start);
        while !rest.is_empty() {
            let len = usize::try_from(SECTOR - at % SECTOR).unwrap_or(1).min(rest.len());
            let (sector, behind) = rest.split_at(len);
            let zero = sector.iter().all(|byte| *byte == 0);
            if zero && len as u64 == SECTOR {
                return Ok(true);
            }
            all &= zero;
            at += len as u64;
            rest = behind;
        }
    }
    Ok(all)
}

/// Calls `each` with the position and value of every number of a chunk until it says no. Characters are none.
fn for_numbers(
    damaged: &DamagedFile<'_>,
    entry: &IndexEntry,
    mut each: impl FnMut(u64, f64) -> bool,
) -> Result<()> {
    let Some((chunk_type, range)) = entry.chunk_type().zip(entry.byte_range()) else { return Ok(()) };
    let order = damaged.order();
    let mut at = 0;
    for window in damaged.windows(range, 0) {
        let (_, bytes) = window?;
        macro_rules! numbers {
            ($type:ty) => {
                for bytes in bytes.as_chunks::<{ size_of::<$type>() }>().0 {
                    let number = match order {
                        ByteOrder::Little => <$type>::from_le_bytes(*bytes),
                        ByteOrder::Big => <$type>::from_be_bytes(*bytes),
                    };
                    #[allow(clippy::cast_precision_loss, clippy::cast_lossless)]
                    if !each(at, number as f64) {
                        return Ok(());
                    }
                    at += 1;
                }
            };
        }
        match chunk_type {
            ChunkType::Uint16 => numbers!(u16),
            ChunkType::Uint32 => numbers!(u32),
            ChunkType::Uint64 => numbers!(u64),
            ChunkType::Int16 => numbers!(i16),
            ChunkType::Int32 => numbers!(i32),
            ChunkType::Int64 => numbers!(i64),
            ChunkType::Float => numbers!(f32),
            ChunkType::Double => numbers!(f64),
            ChunkType::Uint8 | ChunkType::Int8 | ChunkType::Character => {}
        }
    }
    Ok(())
}

/// The six numbers of a box, if they are one.
pub(super) fn read_lattice(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<Option<[f64; 6]>> {
    let mut lattice = [0.0; 6];
    let real = matches!(entry.chunk_type(), Some(ChunkType::Float | ChunkType::Double));
    if !real || entry.n.checked_mul(u64::from(entry.m)) != Some(6) {
        return Ok(None);
    }
    for_numbers(damaged, entry, |at, value| {
        if let Some(slot) = usize::try_from(at).ok().and_then(|at| lattice.get_mut(at)) {
            *slot = value;
        }
        true
    })?;
    let [lx, ly, lz, ..] = lattice;
    let good = lattice.iter().all(|value| value.is_finite()) && lx > 0.0 && ly > 0.0 && lz >= 0.0;
    Ok(good.then_some(lattice))
}

/// Whether all positions are in the box, give or take what rounding does.
pub(super) fn all_inside(damaged: &DamagedFile<'_>, entry: &IndexEntry, lattice: &[f64; 6]) -> Result<bool> {
    let real = matches!(entry.chunk_type(), Some(ChunkType::Float | ChunkType::Double));
    if !real || entry.m != 3 {
        return Ok(false);
    }
    let [lx, ly, lz, xy, xz, yz] = *lattice;
    let within = |value: f64, length: f64| value.abs() <= length * 0.5 * (1.0 + 1e-4);
    let mut inside = true;
    let mut place = [0.0; 3];
    for_numbers(damaged, entry, |at, value| {
        let axis = usize::try_from(at % 3).unwrap_or(0);
        place[axis] = value;
        if axis == 2 {
            let [x, y, z] = place;
            let flat = lz == 0.0 && z.abs() < 1e-3 * lx;
            inside = (flat || within(z, lz))
                && within(y - yz * z, ly)
                && within(x - (xz - xy * yz) * z - xy * y, lx);
        }
        inside
    })?;
    Ok(inside)
}
