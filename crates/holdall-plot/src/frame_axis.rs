//! Axes of indices, and of the frames of a trajectory by their time steps.

use container_core::Result;
use container_core::dtype::Order;
use container_core::region::{AxisSelection, Kept, Region};
use container_core::to_f64::{ComplexPart, is_number, to_f64};

use crate::frame::Axis;
use crate::scale::Stretch;
use crate::values::PlotData;

/// The dataset with the step of each frame, in the schema `hoomd` of GSD.
const STEP: &str = "configuration/step";

/// Greatest step that doubles do not round.
const MAX_STEP: f64 = 9_007_199_254_740_992.0;

/// The axis of indices of a selection: a value covers the unit around its index.
pub(crate) fn index_axis(subject: &PlotData<'_>, number: usize, selection: &AxisSelection) -> Result<Axis> {
    let (start, step) = (selection.start as f64, selection.step as f64);
    let end = start + step * (selection.count as f64);
    let label = if is_of_frames(subject, number)? { "frame".into() } else { format!("axis {number}") };
    let half = step / 2.0;
    Ok(Axis { low: start - half, high: end - half, base: 0, label, whole: true, stretch: Stretch::Linear })
}

/// Whether an axis of the dataset counts frames.
fn is_of_frames(subject: &PlotData<'_>, number: usize) -> Result<bool> {
    let dataset = subject.container.require(subject.index)?;
    Ok(number == 0 && subject.container.has_frame_axis(&dataset))
}

/// The axis of the rows of lines: their indices, or the steps of frames.
pub(crate) struct RowAxis {
    /// The first and the last row are at its ends.
    pub(crate) axis: Axis,
    start: f64,
    step: f64,
    /// The place of each row, where they are not equally far from each other.
    places: Vec<f64>,
}

impl RowAxis {
    /// The axis `number` of the dataset, of which `rows` are selected. Steps are its places where they rise or fall throughout; with
    /// `is_even`, only where they do so evenly.
    ///
    /// # Errors
    /// Those of reading steps.
    pub(crate) fn of(
        subject: &PlotData<'_>,
        number: usize,
        rows: &AxisSelection,
        is_even: bool,
    ) -> Result<Self> {
        if rows.count == 1 {
            let axis = index_axis(subject, number, rows)?;
            return Ok(Self { axis, start: rows.start as f64, step: 1.0, places: Vec::new() });
        }
        let (start, step) = (rows.start as f64, rows.step as f64);
        let axis = |low: f64, high: f64, label: String| Axis {
            low,
            high,
            base: 0,
            label,
            whole: true,
            stretch: Stretch::Linear,
        };
        if !is_of_frames(subject, number)? {
            let end = start + step * (rows.count - 1) as f64;
            return Ok(Self {
                axis: axis(start, end, format!("axis {number}")),
                start,
                step,
                places: Vec::new(),
            });
        }
        let steps = steps(subject, rows)?;
        if let (Some(gap), [first, .., last]) = (even(&steps), steps.as_slice()) {
            let axis = axis(*first, *last, "step".into());
            return Ok(Self { axis, start: *first, step: gap, places: Vec::new() });
        }
        if let [first, .., last] = steps.as_slice()
            && is_sorted(&steps)
            && !is_even
        {
            return Ok(Self { axis: axis(*first, *last, "step".into()), start, step, places: steps });
        }
        let end = start + step * (rows.count - 1) as f64;
        Ok(Self { axis: axis(start, end, "frame".into()), start, step, places: Vec::new() })
    }

    /// The place of a row on the axis, from 0 to 1.
    pub(crate) fn at(&self, row: usize) -> f64 {
        let value = self.places.get(row).copied();
        self.axis.at(value.unwrap_or(self.start + self.step * row as f64))
    }
}

/// The distance between steps, where it is the same for all of them.
fn even(steps: &[f64]) -> Option<f64> {
    let [first, second, ..] = steps else { return None };
    let gap = second - first;
    (gap != 0.0 && steps.iter().zip(steps.get(1..).unwrap_or_default()).all(|(one, next)| next - one == gap))
        .then_some(gap)
}

/// Whether steps rise, or fall, throughout.
fn is_sorted(steps: &[f64]) -> bool {
    let pairs = || steps.iter().zip(steps.get(1..).unwrap_or_default());
    pairs().all(|(one, next)| one < next) || pairs().all(|(one, next)| one > next)
}

/// The steps of the selected frames; none where the file has not one for each.
fn steps(subject: &PlotData<'_>, rows: &AxisSelection) -> Result<Vec<f64>> {
    let container = subject.container;
    let frames = container.require(subject.index)?.shape.first().copied();
    let Some(index) = container.find(STEP) else { return Ok(Vec::new()) };
    let dataset = container.require(index)?;
    let Some(scalar) = dataset.dtype.as_scalar().filter(|scalar| is_number(scalar)) else {
        return Ok(Vec::new());
    };
    if !container.has_frame_axis(&dataset)
        || dataset.shape.first().copied() != frames
        || dataset.shape.iter().skip(1).any(|count| *count != 1)
    {
        return Ok(Vec::new());
    }
    let mut axes = Region::whole(&dataset.shape).axes().to_vec();
    if let Some(first) = axes.first_mut() {
        *first = AxisSelection { kept: Kept::Yes, ..*rows };
    }
    let region = Region::new(axes, &dataset.shape)?;
    subject.read.limits.allocate(rows.count.saturating_mul(16))?;
    let array = container.read(index, &region, subject.read)?;
    let mut steps = Vec::new();
    to_f64(scalar, &array.bytes(Order::C, &subject.read.limits)?, ComplexPart::Abs, &mut steps);
    let are_exact = steps.iter().all(|step| step.abs() <= MAX_STEP);
    Ok(if are_exact && steps.len() as u64 == rows.count { steps } else { Vec::new() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_are_places_where_they_are_in_order() {
        assert_eq!((even(&[0.0, 5.0, 10.0]), even(&[9.0, 6.0, 3.0])), (Some(5.0), Some(-3.0)));
        assert_eq!(
            (even(&[0.0, 5.0, 9.0]), even(&[1.0, 1.0]), even(&[1.0]), even(&[])),
            (None, None, None, None)
        );
        assert!(is_sorted(&[0.0, 5.0, 9.0]) && is_sorted(&[9.0, 5.0, 0.0]));
        // A run that began anew.
        assert!(!is_sorted(&[0.0, 5.0, 3.0]) && !is_sorted(&[0.0, 0.0]));
    }
}
