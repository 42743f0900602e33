//! Time series: one quantity of many frames as one array.

use std::ops::{Bound, RangeBounds};

use container_core::array::Array;
use container_core::{Error, Result};

use crate::frames::Frames;
use crate::hoomd::Trajectory;
use crate::stacked::{Defaults, Rows, StackedChunks};

/// A read of one quantity in many frames, by the schema's rule for what a frame does not store. Made by [`Trajectory::time_series`];
/// values are read only when one of the last methods is called.
///
/// ```
/// # use gsd::Rows;
/// # use gsd::hoomd::Trajectory;
/// # fn time_series(path: &str) -> gsd::Result<()> {
/// let trajectory = Trajectory::open(path)?;
/// // Every tenth frame, the particles with the tags 5 and 7: an array of shape (frames, 2, 3).
/// let array = trajectory.time_series("particles/position").frames(.., 10)?.rows(Rows::List(&[5, 7])).threads(2).read()?;
/// println!("{:?}", array.shape());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy)]
#[must_use]
pub struct TimeSeries<'a> {
    trajectory: &'a Trajectory,
    name: &'a str,
    frames: Frames,
    rows: Rows<'a>,
    threads: usize,
}

impl Trajectory {
    /// The chunks called `name` in all frames, as one array: frames first, then rows (particles by tag, bonds …), then columns.
    pub fn time_series<'a>(&'a self, name: &'a str) -> TimeSeries<'a> {
        let frames = Frames::all(self.file());
        TimeSeries { trajectory: self, name, frames, rows: Rows::All, threads: 1 }
    }
}

impl<'a> TimeSeries<'a> {
    /// Every `step`th frame of a range, the first included.
    ///
    /// # Errors
    /// `Usage` for a step of 0 and for a range that ends past the last frame or runs backwards.
    pub fn frames(mut self, range: impl RangeBounds<u64>, step: u64) -> Result<Self> {
        let all = self.trajectory.len();
        let start = match range.start_bound() {
            Bound::Included(start) => *start,
            Bound::Excluded(start) => start.saturating_add(1),
            Bound::Unbounded => 0,
        };
        let end = match range.end_bound() {
            Bound::Included(end) => end.saturating_add(1),
            Bound::Excluded(end) => *end,
            Bound::Unbounded => all,
        };
        if start > end || end > all {
            return Err(Error::usage(format!(
                "frames {start} to {end} are outside the file (expected up to {all})"
            )));
        }
        self.frames = Frames::range(start..end).by(step)?;
        Ok(self)
    }

    /// These rows of each frame: tags of particles.
    pub const fn rows(mut self, rows: Rows<'a>) -> Self {
        self.rows = rows;
        self
    }

    /// On up to `threads` threads.
    pub const fn threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// Reads them in their type in the file, C order, in the byte order of the file.
    ///
    /// # Errors
    /// `Usage` where the frames do not hold one type and shape, naming the first frame that differs, and for rows past the last;
    /// as [`StackedChunks::new`] and [`StackedChunks::read`].
    pub fn read(self) -> Result<Array<'static>> {
        self.stack()?.read(&self.rows, self.threads)
    }

    /// Reads real numbers as double precision, whichever precision each frame has. Returns the shape (frames, rows, columns), with
    /// columns of 1, and the values in C order.
    ///
    /// # Errors
    /// As [`TimeSeries::read`]; `Usage` for integers and text.
    pub fn read_f64(self) -> Result<([u64; 3], Vec<f64>)> {
        let stack =
            StackedChunks::of_floats(self.trajectory.file(), self.name, &self.frames, Defaults::Schema)?;
        let (frames, _, columns) = stack.extent();
        let rows = stack.row_count(&self.rows)?;
        Ok(([frames, rows, columns.into()], stack.read_f64(&self.rows, self.threads)?))
    }

    /// Returns the locations of the values, for reads into the caller's memory.
    ///
    /// # Errors
    /// As [`StackedChunks::new`].
    pub fn stack(self) -> Result<StackedChunks<'a>> {
        StackedChunks::new(self.trajectory.file(), self.name, &self.frames, Defaults::Schema)
    }
}
