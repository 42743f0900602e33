//! The chunks of the `hoomd` schema, one table: names, types, shapes, defaults, and the source of absent ones.
//!
//! Spec: "HOOMD Schema", versions 1.0 to 1.4 and 2.0. A chunk that a frame lacks is that of frame 0, for the quantities of
//! particles, bonds and so on only where the frame has as many of them as frame 0; else it is the default.

use container_core::dtype::ByteOrder;
use container_core::source::try_zeroed_vec;
use container_core::{Limits, Result};

use crate::ChunkType::{self, Character, Double, Float, Int8, Int32, Uint8, Uint32, Uint64};
use crate::header::Version;

/// First schema with `pairs/`.
pub const V1_1: Version = Version::new(1, 1);
/// First schema with `state/hpmc/`.
pub const V1_2: Version = Version::new(1, 2);
/// First schema with `state/hpmc/sphere/orientable`.
pub const V1_3: Version = Version::new(1, 3);
/// First schema with `log/` and `particles/type_shapes`.
pub const V1_4: Version = Version::new(1, 4);
/// First schema whose real numbers may be f64, and which has no `state/`.
pub const V2_0: Version = Version::new(2, 0);

/// The groups of chunks, the first part of their names, in the order in which `gsd.hoomd` writes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Container {
    /// `configuration/`: time step, dimensions, box.
    Configuration,
    /// `particles/`.
    Particles,
    /// `bonds/`: groups of 2 particles.
    Bonds,
    /// `angles/`: groups of 3.
    Angles,
    /// `dihedrals/`: groups of 4.
    Dihedrals,
    /// `impropers/`: groups of 4.
    Impropers,
    /// `constraints/`: groups of 2 with a distance.
    Constraints,
    /// `pairs/`: special pairs, groups of 2.
    Pairs,
    /// `state/`: shapes and move sizes of HPMC integrators, schema 1.2 to 1.4.
    State,
    /// `log/`: quantities logged by users.
    Log,
}

impl Container {
    /// Containers with a count, in writing order.
    pub const COUNTED: [Self; 7] = [
        Self::Particles,
        Self::Bonds,
        Self::Angles,
        Self::Dihedrals,
        Self::Impropers,
        Self::Constraints,
        Self::Pairs,
    ];

    /// The first part of the chunks' names.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Configuration => "configuration",
            Self::Particles => "particles",
            Self::Bonds => "bonds",
            Self::Angles => "angles",
            Self::Dihedrals => "dihedrals",
            Self::Impropers => "impropers",
            Self::Constraints => "constraints",
            Self::Pairs => "pairs",
            Self::State => "state",
            Self::Log => "log",
        }
    }

    /// The count chunk: `particles/N`, `bonds/N` … `None` for configuration, state and log.
    #[must_use]
    pub const fn count_chunk(self) -> Option<&'static str> {
        match self {
            Self::Particles => Some("particles/N"),
            Self::Bonds => Some("bonds/N"),
            Self::Angles => Some("angles/N"),
            Self::Dihedrals => Some("dihedrals/N"),
            Self::Impropers => Some("impropers/N"),
            Self::Constraints => Some("constraints/N"),
            Self::Pairs => Some("pairs/N"),
            Self::Configuration | Self::State | Self::Log => None,
        }
    }

    /// Particles per group: 2, 3, 4, 4, 2, 2; 0 for containers that are not groups.
    #[must_use]
    pub const fn group_size(self) -> u32 {
        match self {
            Self::Bonds | Self::Constraints | Self::Pairs => 2,
            Self::Angles => 3,
            Self::Dihedrals | Self::Impropers => 4,
            Self::Configuration | Self::Particles | Self::State | Self::Log => 0,
        }
    }
}

/// Number of rows of a chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Rows {
    /// This many.
    Fixed(u64),
    /// One per particle, bond …: the N of its container.
    N,
    /// One per type of its container; of the particles' for [`Container::State`].
    Types,
    /// The sum of the chunk `state/…/N` of the same state: vertices of all types, one type after the other.
    Vertices,
}

/// Source of the value of a chunk that a frame lacks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Inherit {
    /// Frame 0's chunk, else the default.
    Always,
    /// Frame 0's chunk where the container has the same N in both frames, else the default.
    IfSameN,
    /// None: `state/` is not inherited.
    Never,
}

/// Agreement of a stored type with the schema.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fit {
    /// As the schema defines it.
    Exact,
    /// Different from the schema, but unambiguous and written by published programs: i32 groups (`gsd.hoomd` up to 5.0.0), u8 string tables
    /// (hoomd-gsd), other integers of the same width, f64 in schema 1.x.
    Readable,
    /// Of another kind.
    Wrong,
}

/// One chunk of the schema.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Field {
    /// Name of the chunk.
    pub name: &'static str,
    /// The container that it belongs to.
    pub container: Container,
    /// Element type. [`ChunkType::Float`] may be [`ChunkType::Double`] from schema 2.0 on. [`ChunkType::Int8`] is a table of strings, one
    /// per row, NUL-padded UTF-8.
    pub chunk_type: ChunkType,
    /// Number of rows.
    pub rows: Rows,
    /// Number of columns; 0 for any, the width of a table of strings.
    pub columns: u32,
    /// Values of one row by default (all rows of a [`Rows::Fixed`] chunk). Empty for strings, see [`Field::default_text`],
    /// and for fields without a default.
    pub default: &'static [i8],
    /// Source of its value where it is absent.
    pub inherits: Inherit,
    /// First schema version that has it.
    pub since: Version,
}

impl Field {
    /// True for tables of strings.
    #[must_use]
    pub const fn is_text(&self) -> bool {
        self.columns == 0
    }

    /// True where the values may be f64 in schema 2.0.
    #[must_use]
    pub const fn is_real(&self) -> bool {
        matches!(self.chunk_type, Float)
    }

    /// The strings of an absent table: `["A"]` for types of particles, `["{}"]`, one for each type, for their shapes, else none.
    #[must_use]
    pub fn default_text(&self) -> &'static [&'static str] {
        match self.name {
            "particles/types" => &["A"],
            "particles/type_shapes" => &["{}"],
            _ => &[],
        }
    }

    /// Compares `found` with the type of the schema of version `schema`.
    #[must_use]
    pub fn fit(&self, found: ChunkType, schema: Version) -> Fit {
        let integer = |of: ChunkType| !matches!(of, Float | Double | Character);
        if found == self.chunk_type {
            Fit::Exact
        } else if self.is_text() {
            if found.size() == 1 { Fit::Readable } else { Fit::Wrong }
        } else if self.is_real() && found == Double {
            if schema >= V2_0 { Fit::Exact } else { Fit::Readable }
        } else if integer(found) && integer(self.chunk_type) {
            // Single numbers are widened; arrays are borrowed from the file, so their width has to be the same.
            let scalar = self.rows == Rows::Fixed(1);
            if scalar || found.size() == self.chunk_type.size() { Fit::Readable } else { Fit::Wrong }
        } else {
            Fit::Wrong
        }
    }

    /// Bytes of one default row in elements of `chunk_type`, or of all rows of a [`Rows::Fixed`] chunk: `[1, 0, 0, 0]` of an
    /// orientation, `"A\0"` for types. Empty for fields without a default.
    #[must_use]
    pub fn default_row(&self, chunk_type: ChunkType, order: ByteOrder) -> Vec<u8> {
        if self.is_text() {
            return self.default_text().iter().flat_map(|text| text.bytes().chain([0])).collect();
        }
        let element = |value: i8| -> Vec<u8> {
            let wide = i64::from(value);
            let mut bytes = match chunk_type {
                Float => f32::from(value).to_le_bytes().to_vec(),
                Double => f64::from(value).to_le_bytes().to_vec(),
                // Two's complement: the low bytes of a wide integer are those of a narrow one.
                other => {
                    wide.to_le_bytes().into_iter().take(usize::try_from(other.size()).unwrap_or(8)).collect()
                }
            };
            if order == ByteOrder::Big {
                bytes.reverse();
            }
            bytes
        };
        self.default.iter().flat_map(|value| element(*value)).collect()
    }

    /// Shape of the default for `n` particles, bonds, types …: (rows, columns).
    #[must_use]
    pub fn default_shape(&self, n: u64) -> (u64, u32) {
        match (self.rows, self.name) {
            (_, "particles/types") => (1, 2),
            (_, "particles/type_shapes") => (n, 3),
            _ if self.is_text() => (0, 1),
            (Rows::Fixed(rows), _) => (rows, self.columns),
            _ => (n, self.columns),
        }
    }

    /// As [`Field::default_shape`], with at least two columns of text: gsd.hoomd cannot read a table of one column.
    #[must_use]
    pub fn written_shape(&self, n: u64) -> (u64, u32) {
        let (rows, columns) = self.default_shape(n);
        (rows, if self.is_text() { columns.max(2) } else { columns })
    }

    /// Bytes of the default of a chunk of `n` rows (see [`Field::default_shape`]), in elements of `chunk_type`, C order.
    ///
    /// # Errors
    /// `Limit`: `n` may come from an untrusted file.
    pub fn default_bytes(
        &self,
        n: u64,
        chunk_type: ChunkType,
        order: ByteOrder,
        limits: &Limits,
    ) -> Result<Vec<u8>> {
        let row = self.default_row(chunk_type, order);
        let rows = if matches!(self.rows, Rows::Fixed(_)) { 1 } else { self.default_shape(n).0 };
        if row.is_empty() {
            return Ok(Vec::new());
        }
        let mut bytes: Vec<u8> = try_zeroed_vec(rows.saturating_mul(row.len() as u64), limits)?;
        if row.iter().any(|byte| *byte != 0) {
            bytes.chunks_exact_mut(row.len()).for_each(|place| place.copy_from_slice(&row));
        }
        Ok(bytes)
    }
}

/// The chunk of the schema called `name`; `None` for logs and for names outside the schema.
#[must_use]
pub fn field(name: &str) -> Option<&'static Field> {
    FIELDS.iter().find(|field| field.name == name)
}

/// Returns the source of the value of any chunk that a frame lacks: logs are inherited, names outside the schema are not.
#[must_use]
pub fn inherits(name: &str) -> Inherit {
    match field(name) {
        Some(field) => field.inherits,
        None if name.starts_with("log/") => Inherit::Always,
        None => Inherit::Never,
    }
}

const fn field_of(
    container: Container,
    name: &'static str,
    chunk_type: ChunkType,
    rows: Rows,
    columns: u32,
    default: &'static [i8],
) -> Field {
    let inherits = match rows {
        _ if matches!(container, Container::State) => Inherit::Never,
        Rows::N => Inherit::IfSameN,
        _ => Inherit::Always,
    };
    let since = match container {
        Container::Pairs => V1_1,
        Container::State => V1_2,
        _ => Version::new(1, 0),
    };
    Field { name, container, chunk_type, rows, columns, default, inherits, since }
}

const fn text(container: Container, name: &'static str) -> Field {
    field_of(container, name, Int8, Rows::Types, 0, &[])
}

const fn count(container: Container, name: &'static str) -> Field {
    field_of(container, name, Uint32, Rows::Fixed(1), 1, &[0])
}

const fn particle(name: &'static str, chunk_type: ChunkType, columns: u32, default: &'static [i8]) -> Field {
    field_of(Container::Particles, name, chunk_type, Rows::N, columns, default)
}

const fn typeid(container: Container, name: &'static str) -> Field {
    field_of(container, name, Uint32, Rows::N, 1, &[0])
}

const fn group(container: Container, name: &'static str, default: &'static [i8]) -> Field {
    field_of(container, name, Uint32, Rows::N, container.group_size(), default)
}

const fn state(name: &'static str, chunk_type: ChunkType, rows: Rows, columns: u32) -> Field {
    field_of(Container::State, name, chunk_type, rows, columns, &[])
}

const fn since(mut field: Field, version: Version) -> Field {
    field.since = version;
    field
}

use Container as C;

/// Every chunk of the schema, in the order in which `gsd.hoomd` writes them; logs have names of their own.
pub const FIELDS: &[Field] = &[
    field_of(C::Configuration, "configuration/step", Uint64, Rows::Fixed(1), 1, &[0]),
    field_of(C::Configuration, "configuration/dimensions", Uint8, Rows::Fixed(1), 1, &[3]),
    field_of(C::Configuration, "configuration/box", Float, Rows::Fixed(6), 1, &[1, 1, 1, 0, 0, 0]),
    count(C::Particles, "particles/N"),
    text(C::Particles, "particles/types"),
    typeid(C::Particles, "particles/typeid"),
    particle("particles/mass", Float, 1, &[1]),
    particle("particles/charge", Float, 1, &[0]),
    particle("particles/diameter", Float, 1, &[1]),
    particle("particles/body", Int32, 1, &[-1]),
    particle("particles/moment_inertia", Float, 3, &[0, 0, 0]),
    particle("particles/position", Float, 3, &[0, 0, 0]),
    particle("particles/orientation", Float, 4, &[1, 0, 0, 0]),
    particle("particles/velocity", Float, 3, &[0, 0, 0]),
    particle("particles/angmom", Float, 4, &[0, 0, 0, 0]),
    particle("particles/image", Int32, 3, &[0, 0, 0]),
    since(text(C::Particles, "particles/type_shapes"), V1_4),
    count(C::Bonds, "bonds/N"),
    text(C::Bonds, "bonds/types"),
    typeid(C::Bonds, "bonds/typeid"),
    group(C::Bonds, "bonds/group", &[0; 2]),
    count(C::Angles, "angles/N"),
    text(C::Angles, "angles/types"),
    typeid(C::Angles, "angles/typeid"),
    group(C::Angles, "angles/group", &[0; 3]),
    count(C::Dihedrals, "dihedrals/N"),
    text(C::Dihedrals, "dihedrals/types"),
    typeid(C::Dihedrals, "dihedrals/typeid"),
    group(C::Dihedrals, "dihedrals/group", &[0; 4]),
    count(C::Impropers, "impropers/N"),
    text(C::Impropers, "impropers/types"),
    typeid(C::Impropers, "impropers/typeid"),
    group(C::Impropers, "impropers/group", &[0; 4]),
    count(C::Constraints, "constraints/N"),
    field_of(C::Constraints, "constraints/value", Float, Rows::N, 1, &[0]),
    group(C::Constraints, "constraints/group", &[0; 2]),
    count(C::Pairs, "pairs/N"),
    text(C::Pairs, "pairs/types"),
    typeid(C::Pairs, "pairs/typeid"),
    group(C::Pairs, "pairs/group", &[0; 2]),
    state("state/hpmc/integrate/d", Double, Rows::Fixed(1), 1),
    state("state/hpmc/integrate/a", Double, Rows::Fixed(1), 1),
    state("state/hpmc/sphere/radius", Float, Rows::Types, 1),
    since(state("state/hpmc/sphere/orientable", Uint8, Rows::Types, 1), V1_3),
    state("state/hpmc/ellipsoid/a", Float, Rows::Types, 1),
    state("state/hpmc/ellipsoid/b", Float, Rows::Types, 1),
    state("state/hpmc/ellipsoid/c", Float, Rows::Types, 1),
    state("state/hpmc/convex_polyhedron/N", Uint32, Rows::Types, 1),
    state("state/hpmc/convex_polyhedron/vertices", Float, Rows::Vertices, 3),
    state("state/hpmc/convex_spheropolyhedron/N", Uint32, Rows::Types, 1),
    state("state/hpmc/convex_spheropolyhedron/vertices", Float, Rows::Vertices, 3),
    state("state/hpmc/convex_spheropolyhedron/sweep_radius", Float, Rows::Types, 1),
    state("state/hpmc/convex_polygon/N", Uint32, Rows::Types, 1),
    state("state/hpmc/convex_polygon/vertices", Float, Rows::Vertices, 2),
    state("state/hpmc/convex_spheropolygon/N", Uint32, Rows::Types, 1),
    state("state/hpmc/convex_spheropolygon/vertices", Float, Rows::Vertices, 2),
    state("state/hpmc/convex_spheropolygon/sweep_radius", Float, Rows::Types, 1),
    state("state/hpmc/simple_polygon/N", Uint32, Rows::Types, 1),
    state("state/hpmc/simple_polygon/vertices", Float, Rows::Vertices, 2),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_are_those_of_the_schema() {
        let limits = Limits::default();
        let bytes = |name: &str, n, of| field(name).unwrap().default_bytes(n, of, ByteOrder::Little, &limits);
        let floats = |name: &str, n| {
            let bytes = bytes(name, n, Float).unwrap();
            bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word)).collect::<Vec<_>>()
        };
        assert_eq!(floats("particles/orientation", 2), [1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(floats("configuration/box", 7), [1.0, 1.0, 1.0, 0.0, 0.0, 0.0]);
        assert_eq!(floats("particles/position", 1), [0.0; 3]);
        assert_eq!(floats("particles/mass", 3), [1.0; 3]);
        assert_eq!(bytes("particles/mass", 1, Double).unwrap(), 1_f64.to_le_bytes());
        assert_eq!(bytes("particles/body", 2, Int32).unwrap(), [0xFF; 8]);
        assert_eq!(bytes("configuration/dimensions", 0, Uint8).unwrap(), [3]);
        assert_eq!(bytes("particles/types", 9, Int8).unwrap(), b"A\0");
        assert_eq!(bytes("particles/type_shapes", 2, Int8).unwrap(), b"{}\0{}\0");
        assert!(bytes("bonds/types", 3, Int8).unwrap().is_empty());
        let big = field("particles/mass").unwrap().default_row(Float, ByteOrder::Big);
        assert_eq!(big, 1_f32.to_be_bytes());
        let little = Limits::default().with_memory(1 << 20);
        assert!(
            field("particles/mass").unwrap().default_bytes(u64::MAX, Float, ByteOrder::Big, &little).is_err()
        );
    }

    #[test]
    fn every_default_has_one_row_and_every_name_its_container() {
        for field in FIELDS {
            let rows = if let Rows::Fixed(rows) = field.rows { rows } else { 1 };
            let none = field.is_text() || field.container == C::State;
            let values = if none { 0 } else { rows * u64::from(field.columns) };
            assert_eq!(field.default.len() as u64, values, "{}", field.name);
            let first = field.name.split('/').next();
            assert_eq!(first, Some(field.container.name()));
            assert_eq!(FIELDS.iter().filter(|other| other.name == field.name).count(), 1, "{}", field.name);
        }
        for container in C::COUNTED {
            assert!(field(container.count_chunk().unwrap()).is_some());
        }
    }

    #[test]
    fn only_quantities_of_particles_and_groups_need_the_same_n() {
        let always =
            ["particles/N", "particles/types", "particles/type_shapes", "configuration/step", "log/a/b"];
        assert!(always.iter().all(|name| inherits(name) == Inherit::Always));
        let same =
            ["particles/position", "particles/body", "bonds/group", "constraints/value", "pairs/typeid"];
        assert!(same.iter().all(|name| inherits(name) == Inherit::IfSameN));
        let never = ["state/hpmc/sphere/radius", "particles/unknown", "data"];
        assert!(never.iter().all(|name| inherits(name) == Inherit::Never));
    }

    #[test]
    fn types_that_other_writers_use_are_readable() {
        let fit = |name: &str, of, major, minor| field(name).unwrap().fit(of, Version::new(major, minor));
        assert_eq!(fit("particles/mass", Double, 2, 0), Fit::Exact);
        assert_eq!(fit("particles/mass", Double, 1, 4), Fit::Readable);
        assert_eq!(fit("particles/mass", Int32, 2, 0), Fit::Wrong);
        assert_eq!(fit("bonds/group", Int32, 1, 4), Fit::Readable);
        assert_eq!(fit("bonds/group", Uint64, 1, 4), Fit::Wrong);
        assert_eq!(fit("particles/types", Uint8, 1, 4), Fit::Readable);
        assert_eq!(fit("configuration/step", Uint32, 1, 0), Fit::Readable);
        assert_eq!(fit("configuration/step", Float, 1, 0), Fit::Wrong);
        assert_eq!(fit("state/hpmc/integrate/d", Double, 1, 2), Fit::Exact);
    }
}
