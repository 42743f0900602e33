//! The axis of frames, in a file that has one frame: arrays of other formats do not have it.

use container_core::container::Container;
use container_core::region::{Kept, Region};

/// The region without the axis of frames; `None` without such an axis, or for several frames.
pub(crate) fn without_frame_axis(container: &dyn Container, index: usize, region: &Region) -> Option<Region> {
    let dataset = container.dataset(index)?;
    if dataset.shape.first() != Some(&1) || !container.has_frame_axis(&dataset) {
        return None;
    }
    let mut axes = region.axes().to_vec();
    let axis = axes.first_mut().filter(|axis| axis.kept == Kept::Yes && axis.count == 1)?;
    axis.kept = Kept::No;
    Region::new(axes, &dataset.shape).ok()
}

/// The selection as another format shows it: without the axes of single frames.
pub(crate) fn without_frame_axes(container: &dyn Container, selection: &mut [(usize, Region)]) {
    for (index, region) in selection {
        if let Some(inner) = without_frame_axis(container, *index, region) {
            *region = inner;
        }
    }
}
