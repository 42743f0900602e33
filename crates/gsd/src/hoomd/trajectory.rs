//! A file of schema `hoomd` as a list of frames.

use std::ops::RangeBounds;
use std::path::Path;
use std::sync::OnceLock;

use container_core::{Error, Result};

use crate::header::Version;
use crate::hoomd::read::{AlignedValues, FIELD_COUNT, FieldSlots, FrameView};
use crate::hoomd::schema::{Container, FIELDS};
use crate::hoomd::{Frame, SCHEMA, Shape};
use crate::{File, OpenOptions};

/// Marker for chunk ids of names that are not fields of the schema.
pub(crate) const NO_FIELD: u8 = u8::MAX;

/// An open file of schema `hoomd`, read as a list of frames. Frames and their fields are read on demand; values that later frames
/// share with frame 0 are read once.
///
/// ```
/// # use gsd::hoomd::Trajectory;
/// # fn first_and_last(path: &str) -> gsd::Result<()> {
/// let trajectory = Trajectory::open(path)?;
/// for frame in trajectory.frames(.., 10)? {
///     let positions = frame.particles().position()?.into_f64();
///     println!("{} {:?}", frame.step()?, positions.first());
/// }
/// # Ok(())
/// # }
/// ```
pub struct Trajectory {
    file: File,
    core: TrajectoryState,
}

/// State that all frames of a file share.
pub(crate) struct TrajectoryState {
    /// Index in [`FIELDS`] by chunk id.
    fields: Vec<u8>,
    /// Chunks called `log/…`: id and name without `log/`, by rising id.
    logs: Vec<(u16, String)>,
    /// Chunks of frame 0.
    pub(crate) initial: FieldSlots,
    /// Values of frame 0, those of defaults included, read when they are first inherited.
    shared: [OnceLock<AlignedValues>; FIELD_COUNT],
    types: [OnceLock<Vec<String>>; Container::COUNTED.len()],
    shapes: OnceLock<Vec<Shape>>,
}

impl Trajectory {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// As [`File::open`]; as [`Trajectory::from_file`].
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, &OpenOptions::default())
    }

    /// Opens the file at `path` with options.
    ///
    /// # Errors
    /// As [`File::open`]; as [`Trajectory::from_file`].
    pub fn open_with(path: impl AsRef<Path>, options: &OpenOptions) -> Result<Self> {
        Self::from_file(File::open_with(path, options)?)
    }

    /// Reads an open file as a trajectory.
    ///
    /// # Errors
    /// `WrongFormat` for another schema, `Unsupported` for a version of it that is not 1.x or 2.x.
    pub fn from_file(file: File) -> Result<Self> {
        let core = TrajectoryState::new(&file)?;
        Ok(Self { file, core })
    }

    /// The file.
    #[must_use]
    pub fn file(&self) -> &File {
        &self.file
    }

    /// Another handle of the file.
    #[must_use]
    pub fn into_file(self) -> File {
        self.file
    }

    /// Number of frames.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.file.nframes()
    }

    /// True without frames.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Version of the schema.
    #[must_use]
    pub fn schema_version(&self) -> Version {
        self.file.header().schema_version
    }

    /// Names of logged quantities, without `log/`, in the order of the namelist. A frame may lack some of them.
    pub fn log_names(&self) -> impl ExactSizeIterator<Item = &str> {
        self.core.logs.iter().map(|(_, name)| name.as_str())
    }

    /// Frame `index`, before any of its chunks is read.
    ///
    /// # Errors
    /// `Usage` past the last frame.
    pub fn frame(&self, index: u64) -> Result<FrameView<'_>> {
        if index >= self.len() {
            return Err(Error::usage(format!("no frame {index} (there are {})", self.len())));
        }
        Ok(FrameView::new(&self.file, &self.core, index))
    }

    /// Frame `index`, counted from the end where it is below 0, with every field read; see [`FrameView::to_frame`].
    ///
    /// # Errors
    /// `Usage` outside the frames; as [`FrameView::to_frame`].
    pub fn get(&self, index: i64) -> Result<Frame<'_>> {
        let wanted = if index < 0 { i128::from(index) + i128::from(self.len()) } else { i128::from(index) };
        match u64::try_from(wanted) {
            Ok(wanted) => self.frame(wanted)?.to_frame(),
            Err(_) => Err(Error::usage(format!("no frame {index} (there are {})", self.len()))),
        }
    }

    /// All frames in order.
    pub fn iter(&self) -> impl ExactSizeIterator<Item = FrameView<'_>> + DoubleEndedIterator {
        self.pick(0, self.len(), 1)
    }

    /// Every `step`th frame of a range, the first included.
    ///
    /// # Errors
    /// `Usage` for a step of 0 and for a range that ends past the last frame or runs backwards.
    pub fn frames(
        &self,
        range: impl RangeBounds<u64>,
        step: u64,
    ) -> Result<impl ExactSizeIterator<Item = FrameView<'_>> + DoubleEndedIterator> {
        use std::ops::Bound::{Excluded, Included, Unbounded};
        let start = match range.start_bound() {
            Included(start) => *start,
            Excluded(start) => start.saturating_add(1),
            Unbounded => 0,
        };
        let end = match range.end_bound() {
            Included(end) => end.saturating_add(1),
            Excluded(end) => *end,
            Unbounded => self.len(),
        };
        if step == 0 || start > end || end > self.len() {
            let problem =
                format!("frames {start} to {end} by {step} are outside the file (there are {})", self.len());
            return Err(Error::usage(problem));
        }
        Ok(self.pick(start, end, step))
    }

    fn pick(
        &self,
        start: u64,
        end: u64,
        step: u64,
    ) -> impl ExactSizeIterator<Item = FrameView<'_>> + DoubleEndedIterator {
        // The number of frames is at most that of index entries, which are in memory.
        let count = usize::try_from((end - start).div_ceil(step)).unwrap_or(usize::MAX);
        (0..count).map(move |at| FrameView::new(&self.file, &self.core, start + at as u64 * step))
    }

    pub(crate) fn core(&self) -> &TrajectoryState {
        &self.core
    }
}

impl TrajectoryState {
    /// Finds frame 0's chunks, and which chunks are the schema's.
    pub(crate) fn new(file: &File) -> Result<Self> {
        let header = file.header();
        if header.schema_name() != SCHEMA {
            return Err(Error::wrong_format("a GSD file of schema hoomd").with_range(112..176));
        }
        let version = header.schema_version;
        if !(Version::new(1, 0)..Version::new(3, 0)).contains(&version) {
            let problem = format!("unsupported version {version} of the schema hoomd (expected 1.x or 2.x)");
            return Err(Error::unsupported(problem).with_range(40..44));
        }
        let mut fields = vec![NO_FIELD; file.names().len()];
        for (field, at) in FIELDS.iter().zip(0_u8..) {
            // A name that is listed twice counts by its first id.
            if let Some(place) = file.names().id(field.name).and_then(|id| fields.get_mut(usize::from(id))) {
                *place = at;
            }
        }
        let logs = (0..=u16::MAX).zip(file.names().iter());
        let logs = logs.filter_map(|(id, name)| Some((id, name.strip_prefix("log/")?.to_owned()))).collect();
        let initial = FieldSlots::of_frame(file, &fields, 0);
        let shared = std::array::from_fn(|_| OnceLock::new());
        let types = std::array::from_fn(|_| OnceLock::new());
        Ok(Self { fields, logs, initial, shared, types, shapes: OnceLock::new() })
    }

    pub(crate) fn fields(&self) -> &[u8] {
        &self.fields
    }

    pub(crate) fn logs(&self) -> &[(u16, String)] {
        &self.logs
    }

    pub(crate) fn shared(&self, field: usize) -> Option<&OnceLock<AlignedValues>> {
        self.shared.get(field)
    }

    pub(crate) fn shared_types(&self, container: Container) -> Option<&OnceLock<Vec<String>>> {
        let at = Container::COUNTED.iter().position(|one| *one == container)?;
        self.types.get(at)
    }

    pub(crate) fn shared_shapes(&self) -> &OnceLock<Vec<Shape>> {
        &self.shapes
    }
}
