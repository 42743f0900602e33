//! Validation of a frame before it is written.

use std::borrow::Cow;

use crate::hoomd::read::{field_at, field_index};
use crate::hoomd::schema::Container;
use crate::hoomd::validate::{
    Grade, Problem, bad_tag, bad_typeid, duplicate_names, improper_box, largest, not_finite, outside_box,
    shape_count,
};
use crate::hoomd::write::fields::{Counts, FrameField, Value};
use crate::hoomd::write::frame0::Frame0;
use crate::hoomd::{Frame, SimulationBox};

/// Checks the fields of a frame against each other and against those that it inherits from frame 0.
pub(crate) fn check(
    frame: &Frame<'_>,
    fields: &[FrameField<'_>],
    counts: &Counts,
    initial: Option<&Frame0>,
    last_step: Option<u64>,
) -> Vec<Problem> {
    let context = Context { fields, counts, initial };
    let mut problems = Vec::new();
    if let (Some(step), Some(last)) = (frame.configuration.step, last_step)
        && step <= last
    {
        let message = format!("step {step} comes after step {last}");
        problems.push(Problem::new(Grade::Warning, "step_order", "configuration/step", message));
    }
    check_box(frame, &context, &mut problems);
    for (container, first) in [
        (Container::Particles, field_index("particles/N")),
        (Container::Bonds, field_index("bonds/N")),
        (Container::Angles, field_index("angles/N")),
        (Container::Dihedrals, field_index("dihedrals/N")),
        (Container::Impropers, field_index("impropers/N")),
        (Container::Pairs, field_index("pairs/N")),
    ] {
        let (types, typeid, group) = (first + 1, first + 2, first + 3);
        problems
            .extend(context.text(types, true).and_then(|names| duplicate_names(field_at(types).name, names)));
        if context.is_given(types) || context.is_given(typeid) {
            let count =
                context.text(types, false).map_or(field_at(types).default_text().len(), <[String]>::len);
            let ids = context.words(typeid, container);
            problems.extend(ids.and_then(|ids| bad_typeid(field_at(typeid).name, &ids, count)));
        }
        if container != Container::Particles {
            problems.extend(context.tags(group, container));
        }
    }
    problems.extend(context.tags(field_index("constraints/group"), Container::Constraints));
    if let Some(shapes) = &frame.particles.type_shapes {
        let types = context.text(field_index("particles/types"), false).map_or(1, <[String]>::len);
        problems.extend(shape_count(shapes.len(), types));
    }
    check_finite(frame, &mut problems);
    problems
}

fn check_box(frame: &Frame<'_>, context: &Context<'_, '_>, problems: &mut Vec<Problem>) {
    let simulation_box = context.simulation_box();
    let problem = improper_box(&simulation_box);
    let proper = problem.is_none();
    if context.is_given(field_index("configuration/box"))
        || context.is_given(field_index("configuration/dimensions"))
    {
        problems.extend(problem);
    }
    if let Some(positions) = &frame.particles.position
        && proper
    {
        problems.extend(outside_box(positions, &simulation_box));
    }
}

fn check_finite(frame: &Frame<'_>, problems: &mut Vec<Problem>) {
    let data = &frame.particles;
    let scalars = [
        ("particles/mass", &data.mass),
        ("particles/charge", &data.charge),
        ("particles/diameter", &data.diameter),
        ("constraints/value", &frame.constraints.value),
    ];
    problems.extend(scalars.into_iter().filter_map(|(name, values)| not_finite(name, values.as_ref()?)));
    let vectors = [
        ("particles/moment_inertia", &data.moment_inertia),
        ("particles/position", &data.position),
        ("particles/velocity", &data.velocity),
    ];
    problems.extend(vectors.into_iter().filter_map(|(name, values)| not_finite(name, values.as_ref()?)));
    let quaternions = [("particles/orientation", &data.orientation), ("particles/angmom", &data.angmom)];
    problems.extend(quaternions.into_iter().filter_map(|(name, values)| not_finite(name, values.as_ref()?)));
}

/// Fields of a frame, its own and those of frame 0.
struct Context<'c, 'f> {
    fields: &'c [FrameField<'f>],
    counts: &'c Counts,
    initial: Option<&'c Frame0>,
}

impl Context<'_, '_> {
    fn is_given(&self, at: usize) -> bool {
        self.fields.iter().any(|given| given.at == at)
    }

    fn count(&self, container: Container) -> u32 {
        let at = Container::COUNTED.iter().position(|one| *one == container);
        at.and_then(|at| self.counts.get(at)).copied().unwrap_or(0)
    }

    /// The value of a field, frame 0's where the frame lacks it.
    fn value(&self, at: usize) -> Option<&Value<'_>> {
        match self.fields.iter().find(|given| given.at == at) {
            Some(given) => Some(&given.value),
            None => self.initial.and_then(|initial| initial.value(at)),
        }
    }

    fn text(&self, at: usize, given_only: bool) -> Option<&[String]> {
        if given_only && !self.is_given(at) {
            return None;
        }
        match self.value(at)? {
            Value::Text(texts) => Some(texts),
            Value::Numbers { .. } | Value::Shapes(_) => None,
        }
    }

    /// Ids or tags, frame 0's where N is the same.
    fn words(&self, at: usize, container: Container) -> Option<Cow<'_, [u32]>> {
        let Value::Numbers { n, bytes, .. } = self.value(at)? else { return None };
        if *n != u64::from(self.count(container)) {
            return None;
        }
        if cfg!(target_endian = "little")
            && let Ok(words) = bytemuck::try_cast_slice(bytes)
        {
            return Some(Cow::Borrowed(words));
        }
        Some(bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect())
    }

    fn tags(&self, at: usize, container: Container) -> Option<Problem> {
        if !self.is_given(at) && !self.is_given(field_index("particles/N")) {
            return None;
        }
        let tags = self.words(at, container)?;
        bad_tag(field_at(at).name, largest(&tags), self.count(Container::Particles))
    }

    fn simulation_box(&self) -> SimulationBox {
        let mut found = SimulationBox::default();
        if let Some(Value::Numbers { chunk_type, bytes, .. }) = self.value(field_index("configuration/box")) {
            let values: Vec<f64> = match chunk_type {
                crate::ChunkType::Double => {
                    bytes.as_chunks().0.iter().map(|word| f64::from_le_bytes(*word)).collect()
                }
                _ => bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word).into()).collect(),
            };
            if let Some(values) = values.first_chunk() {
                found = SimulationBox::new(*values, 3);
            }
        }
        if let Some(Value::Numbers { bytes, .. }) = self.value(field_index("configuration/dimensions")) {
            found.dimensions = bytes.first().copied().unwrap_or(3);
        }
        found
    }
}
