//! Datasets whose frame stores no chunk: the schema gives frame 0's chunk or the default value.
//!
//! They are not listed and take no memory: the dataset number encodes frame and name.

use container_core::container::{Dataset, Visibility};
use container_core::dtype::Order;

use crate::datasets::DatasetIndex;
use crate::file::File;
use crate::frames::Frames;
use crate::hoomd::schema::FIELDS;
use crate::index::IndexEntry;
use crate::stacked::StackedChunks;
use crate::stacked::names::{Listing, NameStats, attributes};

/// The name of a dataset that is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultName {
    /// A field of the schema, by its index there.
    Field(usize),
    /// A log, by its id.
    Log(u16),
}

/// A dataset that is not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DefaultDataset {
    /// A name of the schema that no frame has, in all of them.
    Stacked(usize),
    /// A name, by its id, that some frames store and that has no default: it is missing in the others.
    Partly(u16),
    /// A name in one frame that lacks it.
    Frame(u64, DefaultName),
}

/// Number of possible name ids, which have 16 bits.
const MAX_IDS: usize = 1 << 16;

/// Number of names that a frame can lack: fields of the schema, and one log for each id.
const NAMES_PER_FRAME: u64 = (FIELDS.len() + MAX_IDS) as u64;

impl DefaultDataset {
    /// Parses an address that no dataset of the file has.
    pub(crate) fn parse(file: &File, name_stats: &NameStats, path: &str) -> Option<Self> {
        let field = |name: &str| FIELDS.iter().position(|field| field.name == name);
        let id = file.names().id(path);
        if let Some((id, name)) = id.and_then(|id| Some((id, name_stats.get(id)?))) {
            let is_partly = name.alike
                && name.view == Listing::Apart
                && name_stats.shapes.get(usize::from(id)) == Some(&None);
            return (is_partly && name.frames < file.nframes()).then_some(Self::Partly(id));
        }
        if let Some(field) = field(path) {
            return Some(Self::Stacked(field));
        }
        let (frame, name) = path.strip_prefix("frames/")?.split_once('/')?;
        let number: u64 = frame.parse().ok().filter(|number: &u64| number.to_string() == frame)?;
        let log = || file.names().id(name).filter(|_| name.starts_with("log/")).map(DefaultName::Log);
        let name = field(name).map(DefaultName::Field).or_else(log)?;
        (number < file.nframes()).then_some(Self::Frame(number, name))
    }

    /// True for a name that only some frames have.
    pub(crate) const fn is_partly(self) -> bool {
        matches!(self, Self::Partly(_))
    }

    /// The number of the dataset, unique in the file.
    pub(crate) fn number(self) -> Option<usize> {
        let number = match self {
            Self::Stacked(field) => field as u64,
            Self::Partly(id) => FIELDS.len() as u64 + u64::from(id),
            Self::Frame(frame, name) => {
                let slot = match name {
                    DefaultName::Field(field) => field as u64,
                    DefaultName::Log(id) => FIELDS.len() as u64 + u64::from(id),
                };
                frame.checked_mul(NAMES_PER_FRAME)?.checked_add(slot)?.checked_add(NAMES_PER_FRAME)?
            }
        };
        usize::try_from(number).ok()
    }

    /// Returns the dataset with a number.
    pub(crate) fn of_number(number: usize) -> Option<Self> {
        let Some(id) = number.checked_sub(FIELDS.len()) else { return Some(Self::Stacked(number)) };
        if let Ok(id) = u16::try_from(id) {
            return Some(Self::Partly(id));
        }
        let rest = id.checked_sub(MAX_IDS)? as u64;
        let (frame, slot) = (rest / NAMES_PER_FRAME, usize::try_from(rest % NAMES_PER_FRAME).ok()?);
        let name = match slot.checked_sub(FIELDS.len()) {
            None => DefaultName::Field(slot),
            Some(id) => DefaultName::Log(u16::try_from(id).ok()?),
        };
        Some(Self::Frame(frame, name))
    }

    fn name(self, file: &File) -> Option<String> {
        match self {
            Self::Stacked(field) | Self::Frame(_, DefaultName::Field(field)) => {
                FIELDS.get(field).map(|field| field.name.to_owned())
            }
            Self::Partly(id) | Self::Frame(_, DefaultName::Log(id)) => {
                file.names().get(id).map(std::borrow::Cow::into_owned)
            }
        }
    }

    /// Returns the location of its values; `None` where the schema gives none, and for stored values.
    pub(crate) fn stack<'f>(self, file: &'f File, datasets: &DatasetIndex) -> Option<StackedChunks<'f>> {
        let (name, defaults) = (self.name(file)?, datasets.name_stats.defaults);
        if let Self::Partly(id) = self {
            return StackedChunks::with_gaps(
                file,
                &name,
                &Frames::all(file),
                &datasets.name_stats.get(id)?.first,
            )
            .ok();
        }
        if !defaults.applies(file) || file.nframes() == 0 {
            return None;
        }
        let id = file.names().id(&name);
        let frames = match self {
            Self::Stacked(_) if id.is_some_and(|id| datasets.name_stats.get(id).is_some()) => return None,
            Self::Stacked(_) => Frames::all(file),
            Self::Frame(frame, _) if id.is_some_and(|id| file.find_id(frame, id).is_some()) => return None,
            Self::Frame(frame, _) => Frames { start: frame, step: 1, count: 1 },
            Self::Partly(_) => return None,
        };
        StackedChunks::new(file, &name, &frames, defaults).ok()
    }

    /// The chunk of frame 0 that a frame has the values of.
    pub(crate) fn ancestor(self, file: &File, stack: &StackedChunks<'_>) -> Option<IndexEntry> {
        match self {
            Self::Stacked(_) | Self::Partly(_) => None,
            Self::Frame(..) => {
                stack.chunk_offset(0)?;
                file.find_chunk(0, &self.name(file)?)
            }
        }
    }

    /// Its dataset.
    pub(crate) fn dataset(self, file: &File, datasets: &DatasetIndex) -> Option<Dataset> {
        self.describe(file, datasets, &self.stack(file, datasets)?)
    }

    /// Its dataset, if its values are in `stack`.
    pub(crate) fn describe(
        self,
        file: &File,
        datasets: &DatasetIndex,
        stack: &StackedChunks<'_>,
    ) -> Option<Dataset> {
        let name = self.name(file)?;
        let (frames, n, m) = stack.extent();
        let mut shape = match self.ancestor(file, stack) {
            Some(entry) => datasets.name_stats.listed_shape(file, &entry),
            None if m == 1 => vec![n],
            None => vec![n, m.into()],
        };
        let path = match self {
            Self::Stacked(_) | Self::Partly(_) => {
                shape.insert(0, frames);
                name
            }
            Self::Frame(frame, _) => format!("frames/{frame}/{name}"),
        };
        Some(Dataset {
            path,
            dtype: stack.dtype(),
            logical: shape.iter().fold(stack.chunk_type().size(), |size, len| size.saturating_mul(*len)),
            shape,
            order: Order::C,
            chunks: None,
            codec: "none".to_owned(),
            stored: 0,
            attributes: attributes(stack.chunk_type()),
            visibility: Visibility::Recursive,
        })
    }
}

#[cfg(test)]
mod tests;
