#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
// Pictures have a few thousand pixels: numbers of pixels and values of data are doubles here.
#![allow(clippy::cast_precision_loss)]

mod bar;
mod bent;
mod bound;
mod counting;
mod distinct;
mod encode;
mod envelope;
mod font;
mod frame;
mod heatmap;
mod legend;
mod lines;
mod numerals;
mod offset;
mod palette;
mod particles;
mod plan;
mod raster;
mod reduce;
mod scale;
mod scene;
mod shorten;
mod snapshot;
mod spheres;
mod term;
#[cfg(test)]
mod texts;
mod ticks;
mod upright;
mod values;

pub use bound::Bound;
pub use distinct::distinct;
pub use encode::{png, svg};
pub use frame::Style;
pub use heatmap::{Colors, Origin, heatmap};
pub use lines::{MAX_LINES, histogram, lines};
pub use palette::{Palette, names};
pub use particles::{View, counted, particles};
pub use raster::raster;
pub use scale::{Range, Stretch, place};
pub use scene::{Anchor, Direction, Item, Pixels, Rect, Rgba, Scene};
pub use snapshot::{Field, Snapshot, frames_of_particles};
pub use term::{Protocol, sequences};
pub use values::{Subject, region_text, sliced, unit};

/// A picture, and what was chosen for it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// What is drawn.
    pub scene: Scene,
    /// The ends of colours or of the axis of values; `None` without a finite value.
    pub range: Option<Range>,
    /// Intervals of a histogram.
    pub bins: Option<usize>,
    /// Remarks for a reader of the picture.
    pub notes: Vec<String>,
}
