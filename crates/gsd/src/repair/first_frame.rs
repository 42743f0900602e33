//! The first frame of a file whose entries never reached the disk: a writer was killed before its first commit.
//!
//! Names are listed in the order in which chunks are first written, so that the chunks of frame 0 are those of the first names, one
//! behind the other. The schema `hoomd` gives their types; N, the counts, and the texts themselves give their sizes. What the schema
//! leaves open is tried: how many names frame 0 has, single or double precision, and the shape of logs. A layout is taken where a next
//! frame, or the end of the file, follows, and where it is the only one of so many names.

use std::cmp::Ordering;
use std::ops::Range;

use container_core::Result;
use container_core::dtype::ByteOrder;
use container_core::report::{Evidence, RepairItem};

use super::damaged_file::DamagedFile;
use super::step_counter::scalar;
use super::{names, report};
use crate::ChunkType;
use crate::hoomd;
use crate::hoomd::schema::{Container, Rows};
use crate::index::IndexEntry;

/// Layouts of chunks that are looked at.
const MAX_STEPS: usize = 1 << 16;

/// Columns of a table of texts that are tried, and rows.
const MAX_COLUMNS: u64 = 256;
const MAX_ROWS: u64 = 64;

/// Bound of integers in a first frame: as integers, the bits of real numbers from 1e-5 on are beyond it.
const MAX_INTEGER: i64 = 900_000_000;

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
    let Some(found) = names::at_header_offset(damaged, 0)? else { return Ok(None) };
    let listed: Vec<Vec<u8>> = found.names.into_iter().map(Option::unwrap_or_default).collect();
    let names: Vec<String> = listed.iter().map(|name| String::from_utf8_lossy(name).into_owned()).collect();
    let start = blocks.iter().map(|block| block.end).max().unwrap_or(0);
    if names.is_empty() || start >= damaged.len {
        return Ok(None);
    }
    let mut search = FirstFrameSearch {
        damaged,
        names: &names,
        step: step_id(&listed),
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
    let Some((_, entries, true)) = search.best else { return Ok(None) };
    let end = entries.iter().filter_map(IndexEntry::byte_range).map(|range| range.end).max().unwrap_or(start);
    let what =
        format!("no entry is left: frame 0 has the first {} names, laid out by the schema", entries.len());
    Ok(Some((entries, RepairItem::new(start..end, what).with_evidence(Evidence::KnownDamage))))
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
    step: Option<u16>,
    alignment: u64,
    steps: usize,
    /// The best layout, and whether there is no other as good.
    best: Option<(Proof, Vec<IndexEntry>, bool)>,
}

impl FirstFrameSearch<'_, '_> {
    /// Tries every form of the next name behind the chunks so far.
    fn extend(&mut self, entries: &mut Vec<IndexEntry>, at: u64) -> Result<()> {
        // Of layouts that are proved as well, the one with the most names: the others end within the frame.
        if let Some(proof) = self.proof(entries, at)? {
            let best = self.best.as_ref().map(|(best, other, _)| (*best, other.len()));
            match best.cmp(&Some((proof, entries.len()))) {
                Ordering::Less => self.best = Some((proof, entries.clone(), true)),
                Ordering::Equal => self.best.iter_mut().for_each(|(.., is_single)| *is_single = false),
                Ordering::Greater => {}
            }
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
            if self.is_possible(name, &entry)? {
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
        let own = entries.iter().find(|entry| Some(entry.id) == self.step);
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
                if !names::is_readable(text) || rest.is_empty() || rest.iter().any(|byte| *byte != 0) {
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

    /// Whether the values of a chunk are of its type and, where the schema says so, within its bounds.
    fn is_possible(&self, name: &str, entry: &IndexEntry) -> Result<bool> {
        let damaged = self.damaged;
        let value = || scalar(damaged, entry);
        Ok(match name {
            "configuration/step" => value()?.is_some_and(|step| (0..MAX_STEP).contains(&step)),
            "configuration/dimensions" => matches!(value()?, Some(2 | 3)),
            _ if name.ends_with("/N") => value()?.is_some_and(|count| count <= i128::from(damaged.len)),
            "particles/position" => entry.n > 0 && is_of_type(damaged, entry)?,
            _ if name.ends_with("/types") || name.ends_with("/type_shapes") => true,
            _ => is_of_type(damaged, entry)?,
        })
    }
}

/// The id of the step in the schema `hoomd`.
pub(super) fn step_id(names: &[Vec<u8>]) -> Option<u16> {
    let at = names.iter().position(|name| name == b"configuration/step");
    at.and_then(|at| u16::try_from(at).ok())
}

/// Whether numbers are of their type: an integer read as a real number is subnormal, and a real number read as an integer is beyond
/// [`MAX_INTEGER`].
fn is_of_type(damaged: &DamagedFile<'_>, entry: &IndexEntry) -> Result<bool> {
    let Some((chunk_type, range)) = entry.chunk_type().zip(entry.byte_range()) else { return Ok(false) };
    for window in damaged.windows(range, 0) {
        let (_, bytes) = window?;
        macro_rules! all {
            ($type:ty, $is_good:expr) => {
                bytes.as_chunks::<{ size_of::<$type>() }>().0.iter().all(|bytes| {
                    let number = match damaged.order() {
                        ByteOrder::Little => <$type>::from_le_bytes(*bytes),
                        ByteOrder::Big => <$type>::from_be_bytes(*bytes),
                    };
                    $is_good(number)
                })
            };
        }
        let is_good = match chunk_type {
            ChunkType::Float => all!(f32, |one: f32| one == 0.0 || one.is_normal()),
            ChunkType::Double => all!(f64, |one: f64| one == 0.0 || one.is_normal()),
            ChunkType::Uint32 => all!(u32, |one: u32| i64::from(one) < MAX_INTEGER),
            ChunkType::Int32 => all!(i32, |one: i32| i64::from(one).abs() < MAX_INTEGER),
            ChunkType::Uint64 => all!(u64, |one: u64| one < MAX_INTEGER.unsigned_abs()),
            ChunkType::Int64 => all!(i64, |one: i64| one.unsigned_abs() < MAX_INTEGER.unsigned_abs()),
            _ => true,
        };
        if !is_good {
            return Ok(false);
        }
    }
    Ok(true)
}
