//! The first frame of a file whose entries never reached the disk: a writer was killed before its first commit.
//!
//! Names are listed in the order in which chunks are first written, so that the chunks of frame 0 are those of the first names, one
//! behind the other. The schema `hoomd` gives their types; N, the counts, and the texts themselves give their sizes. What the schema
//! leaves open is tried: how many names frame 0 has, single or double precision, and the shape of logs. A layout is taken where all
//! values can be true and a next frame, or the end of the file, follows.

use std::ops::Range;

use container_core::Result;
use container_core::report::RepairItem;

use super::damaged_file::DamagedFile;
use super::value_model::{ChunkRoles, all_inside, chunk_stats, read_lattice, scalar};
use super::{name_recovery, report, schema_hints};
use crate::ChunkType;
use crate::hoomd;
use crate::hoomd::schema::{Container, Rows};
use crate::index::IndexEntry;

/// Layouts of chunks that are looked at.
const MAX_STEPS: usize = 1 << 16;

/// Columns of a table of texts that are tried, and rows.
const MAX_COLUMNS: u64 = 256;
const MAX_ROWS: u64 = 64;

/// Steps that a frame may have: far fewer numbers than 64 bits of data.
const MAX_STEP: i128 = 1 << 48;

/// The chunks of frame 0 behind `blocks`, and what is said of them.
pub(super) fn find(
    damaged: &DamagedFile<'_>,
    blocks: &[Range<u64>],
) -> Result<Option<(Vec<IndexEntry>, RepairItem)>> {
    if damaged.header.schema_name() != hoomd::SCHEMA {
        return Ok(None);
    }
    let Some(found) = name_recovery::at_header_offset(damaged, 0)? else { return Ok(None) };
    let listed: Vec<Vec<u8>> = found.names.into_iter().map(Option::unwrap_or_default).collect();
    let names: Vec<String> = listed.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let start = blocks.iter().map(|block| block.end).max().unwrap_or(0);
    if names.is_empty() || start >= damaged.len {
        return Ok(None);
    }
    let mut search = FirstFrameSearch {
        damaged,
        names: &names,
        chunk_roles: schema_hints::chunk_roles(&listed),
        alignment: 1,
        steps: MAX_STEPS,
        best: None,
    };
    for alignment in [1, 8, 64] {
        search.alignment = alignment;
        search.extend(&mut Vec::new(), start)?;
        if search.best.is_some() {
            break;
        }
    }
    let Some((_, entries)) = search.best else { return Ok(None) };
    let end = entries.iter().filter_map(IndexEntry::byte_range).map(|range| range.end).max().unwrap_or(start);
    let what =
        format!("no entry is left: frame 0 has the first {} names, laid out by the schema", entries.len());
    Ok(Some((entries, RepairItem::new(start..end, what))))
}

/// The strength of the proof of a layout.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Proof {
    /// A step follows that is higher.
    Followed,
    /// All names are in the frame, and the file ends with it.
    AtEnd,
}

struct FirstFrameSearch<'s, 'a> {
    damaged: &'s DamagedFile<'a>,
    names: &'s [String],
    chunk_roles: ChunkRoles,
    alignment: u64,
    steps: usize,
    best: Option<(Proof, Vec<IndexEntry>)>,
}

impl FirstFrameSearch<'_, '_> {
    /// Tries every form of the next name behind the chunks so far.
    fn extend(&mut self, entries: &mut Vec<IndexEntry>, at: u64) -> Result<()> {
        // Of layouts that are proved as well, the one with the most names: the others end within the frame.
        if let Some(proof) = self.proof(entries, at)?
            && self.best.as_ref().is_none_or(|(best, other)| (*best, other.len()) < (proof, entries.len()))
        {
            self.best = Some((proof, entries.clone()));
        }
        let Some(name) = self.names.get(entries.len()) else { return Ok(()) };
        let Ok(id) = u16::try_from(entries.len()) else { return Ok(()) };
        let Some(at) = at.checked_next_multiple_of(self.alignment) else { return Ok(()) };
        for (chunk_type, n, m) in self.forms(name, entries, at)? {
            if self.steps == 0 {
                return Ok(());
            }
            self.steps -= 1;
            let location = i64::try_from(at).unwrap_or(i64::MAX);
            let entry = IndexEntry { frame: 0, n, location, m, id, type_code: chunk_type.code(), flags: 0 };
            let Some(range) = entry.byte_range().filter(|range| range.end <= self.damaged.len) else {
                continue;
            };
            if self.is_plausible(name, &entry, entries)? {
                entries.push(entry);
                self.extend(entries, range.end)?;
                entries.pop();
            }
        }
        Ok(())
    }

    /// Rates the proof of the frame that ends at `at`.
    fn proof(&self, entries: &[IndexEntry], at: u64) -> Result<Option<Proof>> {
        let name_of = |entry: &IndexEntry| self.names.get(usize::from(entry.id)).map(String::as_str);
        let has = |wanted: &str| entries.iter().any(|entry| name_of(entry) == Some(wanted));
        // Positions of particles are hardly ever the default.
        const POSITION: &str = "particles/position";
        let wanted =
            if self.names.iter().any(|name| name == POSITION) { POSITION } else { "configuration/box" };
        if !has(wanted) {
            return Ok(None);
        }
        let head = self.damaged.read(at..self.damaged.len.min(at.saturating_add(4096)))?;
        let is_zero = head.iter().all(|byte| *byte == 0);
        if is_zero && !report::holds_something(self.damaged, &(at..self.damaged.len))? {
            return Ok((entries.len() == self.names.len()).then_some(Proof::AtEnd));
        }
        let step = |location: u64| {
            let location = i64::try_from(location).unwrap_or(i64::MAX);
            let of = ChunkType::Uint64.code();
            scalar(self.damaged, &IndexEntry { n: 1, location, m: 1, type_code: of, ..IndexEntry::default() })
        };
        let own = entries.iter().find(|entry| Some(entry.id) == self.chunk_roles.step);
        let own = match own {
            Some(entry) => scalar(self.damaged, entry)?.unwrap_or(0),
            None => 0,
        };
        let next = at.checked_next_multiple_of(self.alignment).unwrap_or(at);
        let is_next = step(next)?.is_some_and(|step| own < step && step < MAX_STEP);
        Ok(is_next.then_some(Proof::Followed))
    }

    /// The types and shapes that a chunk of a name may have.
    fn forms(&self, name: &str, entries: &[IndexEntry], at: u64) -> Result<Vec<(ChunkType, u64, u32)>> {
        let count = |of: Container| -> Result<u64> {
            let id = of.count_chunk().and_then(|chunk| self.names.iter().position(|name| name == chunk));
            let entry = id.and_then(|id| entries.get(id));
            let value = entry.map(|entry| scalar(self.damaged, entry)).transpose()?.flatten();
            Ok(value.and_then(|value| u64::try_from(value).ok()).unwrap_or(0))
        };
        let reals = |n: u64, m: u32| vec![(ChunkType::Float, n, m), (ChunkType::Double, n, m)];
        let Some(field) = hoomd::schema::field(name) else {
            if !name.starts_with("log/") {
                return Ok(Vec::new());
            }
            let particles = count(Container::Particles)?;
            let mut forms = vec![
                (ChunkType::Double, 1, 1),
                (ChunkType::Double, 6, 1),
                (ChunkType::Double, 3, 1),
                (ChunkType::Int64, 1, 1),
            ];
            if name.starts_with("log/particles/") {
                let each = [
                    (ChunkType::Double, 1),
                    (ChunkType::Double, 3),
                    (ChunkType::Double, 6),
                    (ChunkType::Float, 3),
                    (ChunkType::Float, 1),
                ];
                forms = each.into_iter().map(|(of, m)| (of, particles, m)).collect();
            }
            return Ok(forms);
        };
        let m = field.default_shape(1).1;
        Ok(match field.rows {
            Rows::Types if field.is_text() => {
                self.text_table_shapes(at)?.into_iter().map(|(n, m)| (ChunkType::Int8, n, m)).collect()
            }
            Rows::Types | Rows::Vertices => Vec::new(),
            Rows::Fixed(n) if field.is_real() => reals(n, m),
            Rows::Fixed(n) => vec![(field.chunk_type, n, m)],
            Rows::N if field.is_real() => reals(count(field.container)?, m),
            Rows::N => vec![(field.chunk_type, count(field.container)?, m)],
        })
    }

    /// Rows and columns of the tables of texts that may begin at `at`: as wide as the longest text and one more.
    fn text_table_shapes(&self, at: u64) -> Result<Vec<(u64, u32)>> {
        let end = at.saturating_add(MAX_COLUMNS * MAX_ROWS).min(self.damaged.len);
        let bytes = self.damaged.read(at..end)?;
        let mut found = Vec::new();
        for columns in 2..=MAX_COLUMNS {
            let width = usize::try_from(columns).unwrap_or(usize::MAX);
            let mut longest = 0;
            for (row, text) in (1..=MAX_ROWS).zip(bytes.chunks_exact(width)) {
                let len = text.iter().position(|byte| *byte == 0).unwrap_or(width);
                let (text, rest) = text.split_at(len);
                if !name_recovery::is_readable(text) || rest.is_empty() || rest.iter().any(|byte| *byte != 0)
                {
                    break;
                }
                longest = longest.max(len);
                if longest + 1 == width {
                    found.push((row, u32::try_from(columns).unwrap_or(u32::MAX)));
                }
            }
        }
        Ok(found)
    }

    /// Whether the values of a chunk can be true.
    fn is_plausible(&self, name: &str, entry: &IndexEntry, entries: &[IndexEntry]) -> Result<bool> {
        let damaged = self.damaged;
        let value = || scalar(damaged, entry);
        Ok(match name {
            "configuration/step" => value()?.is_some_and(|step| (0..MAX_STEP).contains(&step)),
            "configuration/dimensions" => matches!(value()?, Some(2 | 3)),
            "configuration/box" => read_lattice(damaged, entry)?.is_some(),
            _ if name.ends_with("/N") => value()?.is_some_and(|count| count <= i128::from(damaged.len)),
            "particles/position" => {
                let lattice = entries.iter().find(|entry| Some(entry.id) == self.chunk_roles.lattice);
                let lattice = lattice.map(|entry| read_lattice(damaged, entry)).transpose()?.flatten();
                match lattice {
                    Some(lattice) => entry.n > 0 && all_inside(damaged, entry, &lattice)?,
                    None => is_plain(damaged, entry)?,
                }
            }
            _ if name.ends_with("/types") || name.ends_with("/type_shapes") => true,
            _ => is_plain(damaged, entry)?,
        })
    }
}

/// Whether numbers are such as are written: finite, not tiny, and none of integers without bound.
fn is_plain(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<bool> {
    let look = chunk_stats(damaged, entry)?;
    let most = match entry.chunk_type() {
        Some(ChunkType::Float | ChunkType::Double) => 1e30,
        _ => 1e9,
    };
    Ok(look.all_finite && !look.subnormals && look.largest < most)
}
