//! Fields that are set in a frame, as chunks to write.

use std::borrow::Cow;

use container_core::dtype::ByteOrder;
use container_core::{Error, Result};

use crate::ChunkType;
use crate::hoomd::read::{field_at, field_index};
use crate::hoomd::schema::{Container, Field};
use crate::hoomd::{FloatArray, Frame, GroupData, Scalars, Shape, SinglePrecision, string_table};

/// Numbers of particles, bonds …, in the order of [`Container::COUNTED`].
pub(crate) type Counts = [u32; Container::COUNTED.len()];

/// A field that is set in a frame to write.
#[derive(Clone, Debug)]
pub(crate) struct FrameField<'f> {
    /// Its index in the schema's table.
    pub(crate) at: usize,
    pub(crate) value: Value<'f>,
}

/// The value of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Value<'f> {
    /// Numbers, little-endian.
    Numbers { chunk_type: ChunkType, n: u64, m: u32, bytes: Cow<'f, [u8]> },
    /// A table of strings.
    Text(Cow<'f, [String]>),
    /// Shapes, as a table of JSON.
    Shapes(Cow<'f, [Shape]>),
}

impl FrameField<'_> {
    pub(crate) fn field(&self) -> &'static Field {
        field_at(self.at)
    }
}

impl Value<'_> {
    /// Type, shape and bytes of the chunk.
    ///
    /// # Errors
    /// `Usage` for shapes that are not JSON, and for strings that would be read back differently.
    pub(crate) fn chunk(&self) -> Result<(ChunkType, u64, u32, Cow<'_, [u8]>)> {
        let table = |texts: &[String]| {
            if texts.iter().any(|text| text.ends_with('\0')) {
                return Err(Error::usage("a string that ends with NUL would lose it"));
            }
            let (bytes, width) = string_table::bytes(texts);
            let m = u32::try_from(width).map_err(|_| Error::usage("a string of more than 2^32 bytes"))?;
            Ok((ChunkType::Int8, texts.len() as u64, m, Cow::Owned(bytes)))
        };
        match self {
            Self::Numbers { chunk_type, n, m, bytes } => Ok((*chunk_type, *n, *m, Cow::Borrowed(bytes))),
            Self::Text(texts) => table(texts),
            Self::Shapes(shapes) => table(&shapes.iter().map(Shape::to_json).collect::<Result<Vec<_>>>()?),
        }
    }

    /// True where reading gives this value although frame 0 and this frame lack the chunk.
    pub(crate) fn is_default(&self, field: &Field) -> bool {
        match self {
            Self::Numbers { chunk_type, bytes, .. } => {
                let row = field.default_row(*chunk_type, ByteOrder::Little);
                // Fixed chunks have all their values in one row.
                !row.is_empty() && bytes.chunks(row.len()).all(|one| one == row)
            }
            Self::Text(texts) => texts.iter().eq(field.default_text()),
            Self::Shapes(shapes) => shapes.iter().all(|shape| *shape == Shape::None),
        }
    }

    pub(crate) fn into_owned(self) -> Value<'static> {
        match self {
            Self::Numbers { chunk_type, n, m, bytes } => {
                Value::Numbers { chunk_type, n, m, bytes: Cow::Owned(bytes.into_owned()) }
            }
            Self::Text(texts) => Value::Text(Cow::Owned(texts.into_owned())),
            Self::Shapes(shapes) => Value::Shapes(Cow::Owned(shapes.into_owned())),
        }
    }
}

/// Numbers of particles, bonds … of a frame: its own, else those of frame 0.
pub(crate) fn counts(frame: &Frame<'_>, initial: &Counts) -> Counts {
    let said = [
        frame.particles.n,
        frame.bonds.n,
        frame.angles.n,
        frame.dihedrals.n,
        frame.impropers.n,
        frame.constraints.n,
        frame.pairs.n,
    ];
    std::array::from_fn(|at| said[at].unwrap_or(initial[at]))
}

/// The fields set in a frame, in the order in which `gsd.hoomd` writes them, their rows compared with `counts`.
///
/// # Errors
/// `Usage` for another number of rows than there are particles, bonds …
pub(crate) fn fields<'f>(frame: &'f Frame<'_>, counts: &Counts) -> Result<Vec<FrameField<'f>>> {
    let mut list = FieldList { given: Vec::with_capacity(16) };
    let configuration = &frame.configuration;
    let simulation_box = configuration.simulation_box.as_ref();
    list.number(const { field_index("configuration/step") }, ChunkType::Uint64, configuration.step);
    let dimensions = configuration.dimensions.or_else(|| simulation_box.map(dimensions_of));
    list.number(
        const { field_index("configuration/dimensions") },
        ChunkType::Uint8,
        dimensions.map(u64::from),
    );
    list.reals(const { field_index("configuration/box") }, 6, simulation_box)?;

    let [particles, bonds, angles, dihedrals, impropers, constraints, pairs] = *counts;
    let (n, data) = (particles, &frame.particles);
    list.number(const { field_index("particles/N") }, ChunkType::Uint32, data.n.map(u64::from));
    list.text(const { field_index("particles/types") }, data.types.as_deref());
    list.rows(const { field_index("particles/typeid") }, n, data.typeid.as_deref())?;
    list.reals(const { field_index("particles/mass") }, n, data.mass.as_ref())?;
    list.reals(const { field_index("particles/charge") }, n, data.charge.as_ref())?;
    list.reals(const { field_index("particles/diameter") }, n, data.diameter.as_ref())?;
    list.rows(const { field_index("particles/body") }, n, data.body.as_deref())?;
    list.reals(const { field_index("particles/moment_inertia") }, n, data.moment_inertia.as_ref())?;
    list.reals(const { field_index("particles/position") }, n, data.position.as_ref())?;
    list.reals(const { field_index("particles/orientation") }, n, data.orientation.as_ref())?;
    list.reals(const { field_index("particles/velocity") }, n, data.velocity.as_ref())?;
    list.reals(const { field_index("particles/angmom") }, n, data.angmom.as_ref())?;
    list.rows(const { field_index("particles/image") }, n, data.image.as_deref())?;
    if let Some(shapes) = &data.type_shapes {
        let value = Value::Shapes(Cow::Borrowed(shapes));
        list.given.push(FrameField { at: const { field_index("particles/type_shapes") }, value });
    }

    list.groups(const { group_field_index("bonds/N", "bonds/group") }, bonds, &frame.bonds)?;
    list.groups(const { group_field_index("angles/N", "angles/group") }, angles, &frame.angles)?;
    list.groups(const { group_field_index("dihedrals/N", "dihedrals/group") }, dihedrals, &frame.dihedrals)?;
    list.groups(const { group_field_index("impropers/N", "impropers/group") }, impropers, &frame.impropers)?;
    let data = &frame.constraints;
    list.number(const { field_index("constraints/N") }, ChunkType::Uint32, data.n.map(u64::from));
    list.reals(const { field_index("constraints/value") }, constraints, data.value.as_ref())?;
    list.rows(const { field_index("constraints/group") }, constraints, data.group.as_deref())?;
    list.groups(const { group_field_index("pairs/N", "pairs/group") }, pairs, &frame.pairs)?;
    Ok(list.given)
}

/// Index of the first of four consecutive fields of a group: N, types, typeid, group.
const fn group_field_index(n: &str, group: &str) -> usize {
    let first = field_index(n);
    assert!(field_index(group) == first + 3);
    first
}

/// 2 for a box without an Lz, else 3: the default of `gsd.hoomd`.
fn dimensions_of(simulation_box: &Scalars<'_>) -> u8 {
    let flat = match simulation_box {
        FloatArray::F32(values) => values.get(2).is_some_and(|lz| *lz == 0.0),
        FloatArray::F64(values) => values.get(2).is_some_and(|lz| *lz == 0.0),
    };
    if flat { 2 } else { 3 }
}

struct FieldList<'f> {
    given: Vec<FrameField<'f>>,
}

impl<'f> FieldList<'f> {
    fn number(&mut self, at: usize, chunk_type: ChunkType, value: Option<u64>) {
        let Some(value) = value else { return };
        let mut bytes = value.to_le_bytes().to_vec();
        bytes.truncate(usize::try_from(chunk_type.size()).unwrap_or(8));
        let value = Value::Numbers { chunk_type, n: 1, m: 1, bytes: Cow::Owned(bytes) };
        self.given.push(FrameField { at, value });
    }

    fn text(&mut self, at: usize, texts: Option<&'f [String]>) {
        if let Some(texts) = texts {
            self.given.push(FrameField { at, value: Value::Text(Cow::Borrowed(texts)) });
        }
    }

    /// Rows of integers.
    fn rows<T: bytemuck::Pod>(&mut self, at: usize, n: u32, rows: Option<&'f [T]>) -> Result<()> {
        let Some(rows) = rows else { return Ok(()) };
        self.array(at, n, rows.len(), field_at(at).chunk_type, bytemuck::cast_slice(rows))
    }

    fn reals<S: SinglePrecision>(
        &mut self,
        at: usize,
        n: u32,
        values: Option<&'f FloatArray<'_, S>>,
    ) -> Result<()> {
        let Some(values) = values else { return Ok(()) };
        let chunk_type = if values.as_f32().is_some() { ChunkType::Float } else { ChunkType::Double };
        self.array(at, n, values.len(), chunk_type, values.bytes())
    }

    fn groups<const K: usize>(&mut self, first: usize, n: u32, data: &'f GroupData<'_, K>) -> Result<()>
    where
        [u32; K]: bytemuck::Pod,
    {
        self.number(first, ChunkType::Uint32, data.n.map(u64::from));
        self.text(first + 1, data.types.as_deref());
        self.rows(first + 2, n, data.typeid.as_deref())?;
        self.rows(first + 3, n, data.group.as_deref())
    }

    fn array(&mut self, at: usize, n: u32, len: usize, chunk_type: ChunkType, bytes: &'f [u8]) -> Result<()> {
        let field = field_at(at);
        if len as u64 != u64::from(n) {
            let problem = format!("{len} rows (expected {n})");
            let what = field.name;
            return Err(Error::usage(problem)
                .with_context(what)
                .with_hint(format!("set {}/N", field.container.name())));
        }
        let value = Value::Numbers {
            chunk_type,
            n: n.into(),
            m: field.columns,
            bytes: to_little_endian(bytes, chunk_type),
        };
        self.given.push(FrameField { at, value });
        Ok(())
    }
}

/// Bytes of elements of this machine in little-endian order.
pub(crate) fn to_little_endian(bytes: &[u8], chunk_type: ChunkType) -> Cow<'_, [u8]> {
    if cfg!(target_endian = "little") {
        return Cow::Borrowed(bytes);
    }
    let mut swapped = bytes.to_vec();
    let width = usize::try_from(chunk_type.size()).unwrap_or(1);
    swapped.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    Cow::Owned(swapped)
}
