//! Reading one frame: the chunk that each field is read from, and its values.

mod load;

use std::borrow::Cow;
use std::ops::Range;

use container_core::{Error, Result};

use crate::header::Version;
use crate::hoomd::schema::{Container, FIELDS, Field, Fit, Inherit, Rows};
use crate::hoomd::trajectory::TrajectoryState;
use crate::hoomd::{Shape, string_table};
use crate::index::IndexEntry;
use crate::{ChunkType, File};

pub(crate) use load::AlignedValues;

/// Number of chunks that the schema defines.
pub(crate) const FIELD_COUNT: usize = FIELDS.len();

/// Place of a chunk in [`FIELDS`]; a name that is not there does not compile.
#[allow(clippy::indexing_slicing, reason = "evaluated by the compiler")]
pub(crate) const fn field_index(name: &str) -> usize {
    let (mut at, name) = (0, name.as_bytes());
    while at < FIELDS.len() {
        let other = FIELDS[at].name.as_bytes();
        let mut same = 0;
        while same < name.len() && name.len() == other.len() && name[same] == other[same] {
            same += 1;
        }
        if same == name.len() && name.len() == other.len() {
            return at;
        }
        at += 1;
    }
    panic!("no such chunk in the schema")
}

/// Positions of the fields of one frame in the index.
#[derive(Clone, Debug)]
pub(crate) struct FieldSlots {
    /// Entries of the frame.
    entries: Range<usize>,
    /// By field: its entry among those of the frame, counted from 1; 0 where the frame does not store it.
    at: [u32; FIELD_COUNT],
}

impl FieldSlots {
    pub(crate) fn of_frame(file: &File, fields: &[u8], frame: u64) -> Self {
        let entries = file.frame_entries(frame);
        let mut at = [0; FIELD_COUNT];
        for (entry, count) in file.index().slice(entries.clone()).iter().zip(1_u32..) {
            let field = fields.get(usize::from(entry.id)).copied().unwrap_or(u8::MAX);
            let Some(slot) = at.get_mut(usize::from(field)) else { continue };
            // Of several chunks with one name the reference's search decides.
            let twice = *slot != 0 && file.find_id(frame, entry.id) != Some(entry);
            if !twice {
                *slot = count;
            }
        }
        Self { entries, at }
    }

    pub(crate) fn entries(&self) -> Range<usize> {
        self.entries.clone()
    }

    pub(crate) fn entry(&self, file: &File, field: usize) -> Option<IndexEntry> {
        let at = usize::try_from(*self.at.get(field)?).ok()?.checked_sub(1)?;
        file.index().get(self.entries.start.checked_add(at)?)
    }
}

/// The source of a field's values in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FieldSource {
    /// A chunk of the frame.
    Stored(IndexEntry),
    /// A chunk of frame 0.
    Frame0(IndexEntry),
    /// The default, where frame 0's is the default too and has as many rows.
    SharedDefault,
    /// The default.
    Default,
}

/// One frame, read field by field on demand. A field that the frame does not store is that of frame 0, or the default: see [`Inherit`].
///
/// Arrays are borrowed where the file is mapped, the chunk aligned and of this machine's byte order, and where
/// they are frame 0's; else they are copies.
pub struct FrameView<'t> {
    file: &'t File,
    core: &'t TrajectoryState,
    index: u64,
    slots: FieldSlots,
}

impl<'t> FrameView<'t> {
    pub(crate) fn new(file: &'t File, core: &'t TrajectoryState, index: u64) -> Self {
        let slots = match index {
            0 => core.initial.clone(),
            _ => FieldSlots::of_frame(file, core.fields(), index),
        };
        Self { file, core, index, slots }
    }

    /// Number of the frame.
    #[must_use]
    pub fn index(&self) -> u64 {
        self.index
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &'t File {
        self.file
    }

    /// Version of the schema.
    #[must_use]
    pub fn schema_version(&self) -> Version {
        self.file.header().schema_version
    }

    pub(crate) fn core(&self) -> &'t TrajectoryState {
        self.core
    }

    /// The chunk that this frame itself stores for a field of the schema, by its name.
    #[must_use]
    pub fn stored(&self, name: &str) -> Option<IndexEntry> {
        let at = FIELDS.iter().position(|field| field.name == name)?;
        self.slots.entry(self.file(), at)
    }

    /// Number of particles, bonds … of the frame; 0 for containers without a count.
    ///
    /// # Errors
    /// `Malformed` where the chunk is not one number of 0 to 2^32 − 1; as [`File::read_chunk`].
    pub fn count(&self, container: Container) -> Result<u32> {
        let at = match container {
            Container::Particles => const { field_index("particles/N") },
            Container::Bonds => const { field_index("bonds/N") },
            Container::Angles => const { field_index("angles/N") },
            Container::Dihedrals => const { field_index("dihedrals/N") },
            Container::Impropers => const { field_index("impropers/N") },
            Container::Constraints => const { field_index("constraints/N") },
            Container::Pairs => const { field_index("pairs/N") },
            Container::Configuration | Container::State | Container::Log => return Ok(0),
        };
        self.scalar(at)
    }

    /// Entries of the frame in the index.
    pub(crate) fn entries(&self) -> Range<usize> {
        self.slots.entries()
    }

    /// True where the frame itself stores the field at `at`.
    pub(crate) fn is_stored(&self, at: usize) -> bool {
        self.stored_at(at).is_some()
    }

    /// The chunk that the frame itself stores for the field at `at`.
    pub(crate) fn stored_at(&self, at: usize) -> Option<IndexEntry> {
        self.slots.entry(self.file(), at)
    }

    /// Returns the source of the value of the field at `at`: a stored chunk, another frame or the default.
    pub(crate) fn field_source(&self, at: usize) -> Result<FieldSource> {
        if let Some(entry) = self.slots.entry(self.file(), at) {
            return Ok(FieldSource::Stored(entry));
        }
        let field = field_at(at);
        let same = match field.inherits {
            Inherit::Always => true,
            Inherit::Never => return Ok(FieldSource::Default),
            Inherit::IfSameN => self.has_initial_count(field.container)?,
        };
        let initial = self.core.initial.entry(self.file(), at);
        Ok(match (same, initial) {
            (true, Some(entry)) => FieldSource::Frame0(entry),
            (true, None) => FieldSource::SharedDefault,
            (false, _) => FieldSource::Default,
        })
    }

    fn has_initial_count(&self, container: Container) -> Result<bool> {
        let stored = container.count_chunk().and_then(|name| self.stored(name));
        if self.index == 0 || stored.is_none() {
            return Ok(true);
        }
        Ok(self.count(container)? == FrameView::new(self.file, self.core, 0).count(container)?)
    }

    /// A single number, of any integer type that holds it.
    pub(crate) fn scalar<T: TryFrom<i128>>(&self, at: usize) -> Result<T> {
        let field = field_at(at);
        let value = match self.field_source(at)? {
            FieldSource::Stored(entry) | FieldSource::Frame0(entry) => self.number(field, &entry)?,
            FieldSource::SharedDefault | FieldSource::Default => {
                field.default.first().copied().map_or(0, i128::from)
            }
        };
        T::try_from(value).map_err(|_| self.field_error(field, None, format!("{value} is out of range")))
    }

    fn number(&self, field: &Field, entry: &IndexEntry) -> Result<i128> {
        let chunk_type = self.fitting_type(field, entry)?;
        if entry.n.checked_mul(entry.m.into()) != Some(1) {
            let problem = format!("found {} × {} numbers (expected one)", entry.n, entry.m);
            return Err(self.field_error(field, Some(entry), problem));
        }
        let bytes = self.file().read_chunk(entry).map_err(|error| error.with_context(field.name))?;
        Ok(chunk_type.integer(&bytes, self.file().header().byte_order))
    }

    /// Describes the problem of a single integer of another type than the schema's: the schema's type cannot hold it, so that frames that
    /// need it cannot be read.
    pub(crate) fn range_problem(&self, field: &Field, entry: &IndexEntry) -> Result<Option<String>> {
        let bits = match field.chunk_type {
            _ if field.rows != Rows::Fixed(1) || field.columns != 1 => return Ok(None),
            ChunkType::Uint8 => u8::BITS,
            ChunkType::Uint32 => u32::BITS,
            ChunkType::Uint64 => u64::BITS,
            _ => return Ok(None),
        };
        if entry.chunk_type() == Some(field.chunk_type) {
            return Ok(None);
        }
        let (value, most) = (self.number(field, entry)?, (1_i128 << bits) - 1);
        Ok((!(0..=most).contains(&value)).then(|| format!("{value} (expected 0 to {most})")))
    }

    /// Compares the memory of all defaults with the limits, for callers that read every field: a large N takes no space in a file.
    pub(crate) fn check_defaults(&self) -> Result<()> {
        /// Up to this number of rows they take no more than a few mebibytes.
        const MAX_CACHED_ROWS: u32 = 1 << 16;
        let mut counts = [0; Container::COUNTED.len()];
        for (container, count) in Container::COUNTED.into_iter().zip(&mut counts) {
            *count = self.count(container)?;
        }
        if counts.iter().all(|count| *count <= MAX_CACHED_ROWS) {
            return Ok(());
        }
        let mut total = 0_u64;
        for (at, field) in FIELDS.iter().enumerate().filter(|(_, field)| field.rows == Rows::N) {
            if matches!(self.field_source(at)?, FieldSource::Default | FieldSource::SharedDefault) {
                let row = u64::from(field.columns).saturating_mul(8);
                total = total.saturating_add(row.saturating_mul(self.count(field.container)?.into()));
            }
        }
        self.file().options().limits.allocate(total).map(|_| ())
    }

    /// Number of rows of the field in this frame; `None` where the schema leaves them open.
    fn row_count(&self, field: &Field) -> Result<Option<u64>> {
        Ok(match field.rows {
            Rows::Fixed(rows) => Some(rows),
            Rows::N => Some(self.count(field.container)?.into()),
            Rows::Types | Rows::Vertices => None,
        })
    }

    /// Compares a chunk's type and shape with the schema.
    fn check(&self, field: &Field, entry: &IndexEntry, row_len: usize) -> Result<()> {
        let chunk_type = self.fitting_type(field, entry)?;
        if let Some(problem) = self.shape_problem(field, entry)? {
            return Err(self.field_error(field, Some(entry), problem));
        }
        let row = if matches!(field.rows, Rows::Fixed(_)) { 1 } else { u64::from(field.columns) };
        if chunk_type.size().checked_mul(row) != Some(row_len as u64) {
            return Err(self.field_error(field, Some(entry), format!("rows of {row} {}", chunk_type.name())));
        }
        Ok(())
    }

    /// Describes the problem of a chunk's shape; `None` for a valid shape, and where the schema leaves the rows open.
    pub(crate) fn shape_problem(&self, field: &Field, entry: &IndexEntry) -> Result<Option<String>> {
        let Some(rows) = self.row_count(field)? else { return Ok(None) };
        let (columns, m) = (u64::from(field.columns), u64::from(entry.m));
        let size = entry.n.checked_mul(m);
        // The six numbers of a box may be a column or a row.
        let fixed = matches!(field.rows, Rows::Fixed(_)) && size == rows.checked_mul(columns);
        let empty = rows == 0 && size == Some(0);
        if fixed || empty || (entry.n == rows && m == columns) {
            return Ok(None);
        }
        Ok(Some(format!("{} × {m} (expected {rows} × {columns})", entry.n)))
    }

    /// The type of a chunk, where the schema has it or a published writer uses it.
    fn fitting_type(&self, field: &Field, entry: &IndexEntry) -> Result<ChunkType> {
        let schema = self.schema_version();
        match entry.chunk_type() {
            Some(found) if field.fit(found, schema) != Fit::Wrong => Ok(found),
            found => {
                let found = found.map_or("no type", ChunkType::name);
                let problem = format!("{found} (expected {} by the schema)", field.chunk_type.name());
                Err(self.field_error(field, Some(entry), problem))
            }
        }
    }

    /// Type names of a container.
    pub(crate) fn type_names(&self, at: usize) -> Result<Cow<'t, [String]>> {
        let field = field_at(at);
        match self.field_source(at)? {
            FieldSource::Stored(entry) => Ok(Cow::Owned(self.text_rows(field, &entry)?)),
            FieldSource::Frame0(entry) => {
                let Some(cell) = self.core.shared_types(field.container) else {
                    return Ok(Cow::Owned(self.text_rows(field, &entry)?));
                };
                if let Some(names) = cell.get() {
                    return Ok(Cow::Borrowed(names));
                }
                let names = self.text_rows(field, &entry)?;
                Ok(Cow::Borrowed(cell.get_or_init(|| names)))
            }
            FieldSource::SharedDefault | FieldSource::Default => {
                Ok(Cow::Owned(field.default_text().iter().map(|text| (*text).to_owned()).collect()))
            }
        }
    }

    pub(crate) fn shapes(&self) -> Result<Cow<'t, [Shape]>> {
        const AT: usize = field_index("particles/type_shapes");
        let field = field_at(AT);
        let parse = |entry: &IndexEntry| -> Result<Vec<Shape>> {
            let rows = self.text_rows(field, entry)?;
            let shapes = rows.iter().map(|json| Shape::parse(json));
            shapes.collect::<Result<_>>().map_err(|error| self.place_error(error, field, Some(entry)))
        };
        match self.field_source(AT)? {
            FieldSource::Stored(entry) => Ok(Cow::Owned(parse(&entry)?)),
            FieldSource::Frame0(entry) => {
                let cell = self.core.shared_shapes();
                if let Some(shapes) = cell.get() {
                    return Ok(Cow::Borrowed(shapes));
                }
                let shapes = parse(&entry)?;
                Ok(Cow::Borrowed(cell.get_or_init(|| shapes)))
            }
            FieldSource::SharedDefault | FieldSource::Default => {
                let types = self.type_names(const { field_index("particles/types") })?.len();
                Ok(Cow::Owned(vec![Shape::None; types]))
            }
        }
    }

    fn text_rows(&self, field: &Field, entry: &IndexEntry) -> Result<Vec<String>> {
        self.fitting_type(field, entry)?;
        let bytes =
            self.file().read_chunk(entry).map_err(|error| self.place_error(error, field, Some(entry)))?;
        // Rows of one byte, or of none, take far less space in the file.
        self.file().options().limits.allocate(entry.n.saturating_mul(size_of::<String>() as u64))?;
        string_table::rows(&bytes, entry.n, entry.m)
            .map_err(|error| self.place_error(error, field, Some(entry)))
    }

    fn field_error(&self, field: &Field, entry: Option<&IndexEntry>, problem: String) -> Error {
        self.place_error(Error::malformed(problem), field, entry)
    }

    fn place_error(&self, error: Error, field: &Field, entry: Option<&IndexEntry>) -> Error {
        let error = error.with_context(format!("gsd frame {} {}", self.index, field.name));
        match entry.and_then(IndexEntry::byte_range) {
            Some(range) => error.with_range(range),
            None => error,
        }
    }
}

/// The field at an index that [`field_index`] returned.
pub(crate) fn field_at(at: usize) -> &'static Field {
    const FIRST: &Field = &FIELDS[0];
    FIELDS.get(at).unwrap_or(FIRST)
}
