#![doc = include_str!("../README.md")]
#![cfg_attr(not(test), deny(clippy::expect_used, clippy::unwrap_used))]
#![forbid(unsafe_code)]
// Pictures have a few thousand pixels: numbers of pixels and values of data are doubles here.
#![allow(clippy::cast_precision_loss)]

mod axis_offset;
mod bodies;
mod bonds;
mod categorical_palette;
mod colorbar;
mod downsample;
mod ellipsis;
mod encode;
mod envelope;
mod font;
mod frame;
mod frame_axis;
mod heatmap;
mod hint;
mod integer_base;
mod layout;
mod legend;
mod lines;
#[cfg(test)]
mod npy_data;
mod number_format;
mod palette;
mod particles;
mod pdf;
mod range_end;
mod raster;
mod rgb;
mod scale;
mod scene;
mod shapes;
mod snapshot;
mod spheres;
mod terminal_image;
#[cfg(test)]
mod text_boxes;
mod ticks;
mod ticks_nonlinear;
mod values;
mod y_axis;

pub use categorical_palette::distinct;
pub use encode::{png, svg};
pub use frame::Style;
pub use heatmap::{Colors, Origin, heatmap};
pub use lines::{MAX_LINES, histogram, lines};
pub use palette::{Palette, names};
pub use particles::{View, counted, particles};
pub use pdf::pdf;
pub use range_end::Bound;
pub use raster::raster;
pub use rgb::{is_colored, rgb};
pub use scale::{Range, Stretch, place};
pub use scene::{Anchor, Direction, Item, Pixels, Rect, Rgba, Scene};
pub use shapes::Shape;
pub use snapshot::{Field, Snapshot, frames_of_particles};
pub use terminal_image::{Protocol, sequences};
pub use values::{PlotData, region_text, sliced, unit};

/// A picture, and the choices made for it.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The picture.
    pub scene: Scene,
    /// The ends of colours or of the axis of values; `None` without a finite value.
    pub range: Option<Range>,
    /// Intervals of a histogram.
    pub bins: Option<usize>,
    /// Remarks for a reader of the picture.
    pub notes: Vec<String>,
}
