//! `/api/particles`: one frame of particles, as buffers for a graphics card.

use container_core::container::{Container, ReadOptions};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::to_f64::{ComplexPart, to_f64};
use holdall_plot::Snapshot;
use serde_json::json;

use crate::reply::{Failure, Reply};
use crate::routes::Call;

/// Most particles of an answer; of more, every n-th.
const MAX_PARTICLES: usize = 2_000_000;

/// Datasets of particles that are no field to colour them by.
const NOT_FIELDS: [&str; 4] = ["N", "position", "typeid", "types"];

pub(crate) fn answer(call: &Call<'_>, reply: &mut Reply) -> Result<(), Failure> {
    let opened = call.opened()?;
    let (container, read) = (opened.container(), call.job.read());
    let frame = call.query.number("frame", 0_u64)?;
    let snapshot = Snapshot::read(container, frame, call.query.get("field"), &read)?;
    let total = snapshot.positions.len();
    let every = total.div_ceil(MAX_PARTICLES).max(1);
    let count = total.div_ceil(every);
    // Bonds are between numbers of particles, which a part of them does not keep.
    let bonds = if every == 1 { bonds(container, frame, total, &read)? } else { Vec::new() };
    let field = snapshot.field.as_ref().map(|field| {
        let finite = || field.values.iter().copied().filter(|value| value.is_finite());
        let low = finite().fold(f64::INFINITY, f64::min);
        let high = finite().fold(f64::NEG_INFINITY, f64::max);
        let ends = if low <= high { (low, high) } else { (0.0, 0.0) };
        json!({ "label": field.label, "low": ends.0, "high": ends.1 })
    });
    let head = json!({
        "count": count, "of": total, "every": every, "frame": snapshot.frame, "frames": snapshot.frames,
        "step": snapshot.step, "dimensions": snapshot.dimensions, "box": snapshot.cell, "types": snapshot.names,
        "fields": fields(container), "field": field, "bonds": bonds.len() / 2,
    });
    let mut body = head.to_string().into_bytes();
    // What follows the line begins at a multiple of four, as the arrays of a page want it.
    body.resize(body.len().next_multiple_of(4) + 3, b' ');
    body.push(b'\n');
    read.limits.allocate((count as u64).saturating_mul(21).saturating_add(bonds.len() as u64 * 4))?;
    let mut float = |value: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "for a graphics card")]
        body.extend((value as f32).to_le_bytes());
    };
    snapshot.positions.iter().step_by(every).flatten().for_each(|value| float(*value));
    snapshot.diameters.iter().step_by(every).for_each(|value| float(*value));
    if let Some(field) = &snapshot.field {
        field.values.iter().step_by(every).for_each(|value| float(*value));
    }
    bonds.iter().for_each(|number| body.extend(number.to_le_bytes()));
    body.extend(snapshot.types.iter().step_by(every).map(|number| u8::try_from(*number).unwrap_or(u8::MAX)));
    reply.whole("application/octet-stream", body)
}

/// Names of datasets by which particles can be coloured.
fn fields(container: &dyn Container) -> Vec<String> {
    let all = (0..container.listed_count().min(1000)).filter_map(|index| container.dataset(index));
    let named = all.filter(|dataset| {
        let name = dataset.path.strip_prefix("particles/");
        name.is_some_and(|name| !name.contains('/') && !NOT_FIELDS.contains(&name))
            && dataset.shape.len() <= 3
    });
    named.map(|dataset| dataset.path.clone()).collect()
}

/// Numbers of the particles at the two ends of each bond of a frame; those of bonds that name other particles are left out.
fn bonds(
    container: &dyn Container,
    frame: u64,
    particles: usize,
    read: &ReadOptions,
) -> Result<Vec<u32>, Failure> {
    let Some(index) = container.find(&format!("frames/{frame}/bonds/group")) else { return Ok(Vec::new()) };
    let dataset = container.require(index)?;
    let (true, Some(scalar)) = (matches!(dataset.shape[..], [_, 2]), dataset.dtype.as_scalar()) else {
        return Ok(Vec::new());
    };
    let array = container.read(index, &Region::whole(&dataset.shape), read)?;
    let mut values = Vec::new();
    to_f64(scalar, &array.bytes(Order::C, &read.limits)?, ComplexPart::default(), &mut values);
    let limit = u32::try_from(particles).unwrap_or(u32::MAX);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "compared with the limit")]
    let number = |value: f64| (value >= 0.0 && value < f64::from(limit)).then_some(value as u32);
    let pairs = values.as_chunks::<2>().0.iter();
    Ok(pairs.filter_map(|[a, b]| Some([number(*a)?, number(*b)?])).flatten().collect())
}
