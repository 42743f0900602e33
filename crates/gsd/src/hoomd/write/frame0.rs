//! Frame 0 in the writer: the reference for later frames.

use std::borrow::Cow;

use container_core::write::storage::Storage;
use container_core::{Error, Result};

use crate::Writer;
use crate::hoomd::read::{FIELD_COUNT, field_index};
use crate::hoomd::schema::{Container, FIELDS};
use crate::hoomd::write::fields::{Counts, FrameField, Value};
use crate::hoomd::{Shape, string_table};

/// The fields that frame 0 stores.
pub(crate) struct Frame0 {
    values: [Option<Value<'static>>; FIELD_COUNT],
    /// Its numbers of particles, bonds …
    pub(crate) counts: Counts,
}

impl Frame0 {
    /// Returns frame 0 from the fields that were just written.
    pub(crate) fn of_frame(fields: Vec<FrameField<'_>>, counts: Counts) -> Self {
        let mut values = std::array::from_fn(|_| None);
        for given in fields {
            if let Some(place) = values.get_mut(given.at) {
                *place = Some(given.value.into_owned());
            }
        }
        Self { values, counts }
    }

    /// Reads frame 0 of the file that a writer has open.
    pub(crate) fn load<S: Storage>(writer: &Writer<S>) -> Result<Self> {
        let mut values = std::array::from_fn(|_| None);
        for (field, place) in FIELDS.iter().zip(&mut values) {
            // State is not inherited.
            if field.container == Container::State {
                continue;
            }
            let Some(entry) = writer.find_chunk(0, field.name)? else { continue };
            let named = |error: Error| {
                let error = error.with_context(format!("gsd frame 0 {}", field.name));
                match entry.byte_range() {
                    Some(range) => error.with_range(range),
                    None => error,
                }
            };
            let bytes = writer.read_chunk(&entry).map_err(named)?;
            let value = if field.is_text() {
                let texts = string_table::rows(&bytes, entry.n, entry.m).map_err(named)?;
                if field.name == "particles/type_shapes" {
                    let shapes = texts.iter().map(|json| Shape::parse(json)).collect::<Result<Vec<_>>>();
                    Value::Shapes(Cow::Owned(shapes.map_err(named)?))
                } else {
                    Value::Text(Cow::Owned(texts))
                }
            } else {
                let chunk_type = entry.chunk_type().ok_or_else(|| named(Error::malformed("no type")))?;
                Value::Numbers { chunk_type, n: entry.n, m: entry.m, bytes: Cow::Owned(bytes) }
            };
            *place = Some(value);
        }
        let mut initial = Self { values, counts: Counts::default() };
        for (container, at) in Container::COUNTED.into_iter().zip(0..) {
            let count = FIELDS.iter().position(|field| Some(field.name) == container.count_chunk());
            if let (Some(count), Some(place)) =
                (count.and_then(|at| initial.number(at)), initial.counts.get_mut(at))
            {
                *place = u32::try_from(count).map_err(|_| {
                    Error::malformed(format!("{count} in frame 0 is out of range"))
                        .with_context(container.name())
                })?;
            }
        }
        Ok(initial)
    }

    /// The value of a field that frame 0 has.
    pub(crate) fn value(&self, at: usize) -> Option<&Value<'static>> {
        self.values.get(at)?.as_ref()
    }

    /// Its time step.
    pub(crate) fn step(&self) -> u64 {
        self.number(const { field_index("configuration/step") }).unwrap_or(0)
    }

    /// A number that is there.
    fn number(&self, at: usize) -> Option<u64> {
        let Some(Value::Numbers { bytes, .. }) = self.value(at) else { return None };
        let mut word = [0; 8];
        word.iter_mut().zip(bytes.iter()).for_each(|(place, byte)| *place = *byte);
        Some(u64::from_le_bytes(word))
    }
}
