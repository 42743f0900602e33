//! Logs of a GSD file as NXdata groups, which h5web draws as curves over the step.

use container_core::container::Container;
use container_core::dtype::DType;

use super::attributes::{Attribute, Attributes};
use super::entity::{Entity, Part};
use super::path_tree::PathTree;
use super::types::Class;

/// Maximum number of curves.
const MAX_CURVES: usize = 10_000;

const STEP: &str = "configuration/step";

/// Adds the group `curves`: for each log that is one number a frame a group with its `value` and `step`.
pub(super) fn add(container: &dyn Container, tree: &mut PathTree) {
    if container.about().format != "gsd" {
        return;
    }
    let mut group = None;
    let frames = |index: usize| {
        let dataset = container.dataset(index)?;
        match *dataset.shape.as_slice() {
            [frames, 1] if is_number(&dataset.dtype) => Some(frames),
            _ => None,
        }
    };
    let step = container.find(STEP).and_then(|index| Some((index, frames(index)?)));
    // Logs that stack are held ready: chunks apart are no curves.
    for (index, dataset) in container.datasets().iter().enumerate() {
        let Some(name) = dataset.path.strip_prefix("log/") else { continue };
        let Some(count) = frames(index) else { continue };
        if index >= MAX_CURVES {
            return;
        }
        let curves =
            *group.get_or_insert_with(|| tree.add(0, "curves", Entity::Group(Attributes::default())));
        let mut attributes = Attributes::default();
        attributes.push(Attribute::text("NX_class", "NXdata"));
        attributes.push(Attribute::text("signal", "value"));
        let step = step.filter(|(_, steps)| *steps == count).map(|(step, _)| step);
        if step.is_some() {
            attributes.push(Attribute::texts("axes", &["step"]));
        }
        let name = name.replace('/', ".");
        let name = if name.is_empty() { "log" } else { &name };
        let curve = tree.add(curves, name, Entity::Group(attributes));
        tree.add(curve, "value", column(index));
        if let Some(step) = step {
            tree.add(curve, "step", column(step));
        }
    }
}

fn is_number(dtype: &DType) -> bool {
    let class = dtype.as_scalar().map(Class::of);
    matches!(class, Some(Class::Bool | Class::Integer { .. } | Class::Float))
}

fn column(index: usize) -> Entity {
    Entity::Dataset { index, part: Part::FirstColumn, attributes: Attributes::default() }
}
