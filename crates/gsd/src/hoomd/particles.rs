//! Particles: `particles/`.

use std::borrow::Cow;

use container_core::Result;

use crate::hoomd::read::{FrameView, field_index};
use crate::hoomd::schema::Container;
use crate::hoomd::{FloatArray, Quaternions, Scalars, Shape, Vectors};

macro_rules! particles {
    ($($field:ident: $type:ident, $place:literal, $read:ident, $owned:expr, $doc:literal;)+) => {
        /// Quantities of particles, one row per particle in the order of tags. `None` means frame 0's value where frame 0 has as
        /// many particles, else the default.
        #[derive(Clone, Debug, Default, PartialEq)]
        pub struct ParticleData<'a> {
            /// Number of particles. `None` for as many as in frame 0, in frame 0 for none.
            pub n: Option<u32>,
            /// Names of the types, each different. `None` for those of frame 0, whatever N is; by default `["A"]`.
            pub types: Option<Cow<'a, [String]>>,
            /// Shapes, one for each type. `None` for those of frame 0, whatever N is; by default none.
            pub type_shapes: Option<Cow<'a, [Shape]>>,
            $(#[doc = $doc] pub $field: Option<particles!(@type $type 'a)>,)+
        }

        impl ParticleData<'_> {
            /// The same, independent of what it borrows from.
            #[must_use]
            pub fn into_owned(self) -> ParticleData<'static> {
                ParticleData {
                    n: self.n,
                    types: self.types.map(|types| Cow::Owned(types.into_owned())),
                    type_shapes: self.type_shapes.map(|shapes| Cow::Owned(shapes.into_owned())),
                    $($field: self.$field.map($owned),)+
                }
            }
        }

        impl<'t> ParticlesView<'_, 't> {
            $(
                #[doc = $doc]
                ///
                /// # Errors
                /// `Malformed` for a chunk of another type or shape; as [`File::read_chunk`](crate::File::read_chunk).
                pub fn $field(&self) -> Result<particles!(@type $type 't)> {
                    self.frame.$read(const { field_index($place) })
                }
            )+

            /// Every field, read.
            ///
            /// # Errors
            /// As the methods for the fields.
            pub fn read(&self) -> Result<ParticleData<'t>> {
                Ok(ParticleData {
                    n: Some(self.n()?),
                    types: Some(self.types()?),
                    type_shapes: Some(self.type_shapes()?),
                    $($field: Some(self.$field()?),)+
                })
            }

            /// The fields that the frame itself stores; the others are `None`.
            ///
            /// # Errors
            /// As the methods for the fields.
            pub fn read_stored(&self) -> Result<ParticleData<'t>> {
                let stored = |at| self.frame.is_stored(at);
                Ok(ParticleData {
                    n: if stored(const { field_index("particles/N") }) { Some(self.n()?) } else { None },
                    types: if stored(const { field_index("particles/types") }) { Some(self.types()?) } else { None },
                    type_shapes: if stored(const { field_index("particles/type_shapes") }) {
                        Some(self.type_shapes()?)
                    } else {
                        None
                    },
                    $($field: if stored(const { field_index($place) }) { Some(self.$field()?) } else { None },)+
                })
            }
        }
    };
    (@type Ids $life:lifetime) => { Cow<$life, [u32]> };
    (@type Bodies $life:lifetime) => { Cow<$life, [i32]> };
    (@type Images $life:lifetime) => { Cow<$life, [[i32; 3]]> };
    (@type $reals:ident $life:lifetime) => { $reals<$life> };
}

/// The particles of a frame, read field by field.
#[derive(Clone, Copy)]
pub struct ParticlesView<'f, 't> {
    frame: &'f FrameView<'t>,
}

impl<'t> FrameView<'t> {
    /// The particles.
    #[must_use]
    pub fn particles(&self) -> ParticlesView<'_, 't> {
        ParticlesView { frame: self }
    }
}

particles! {
    typeid: Ids, "particles/typeid", rows, |rows| Cow::Owned(rows.into_owned()),
        "Index of each particle's type. Default 0.";
    mass: Scalars, "particles/mass", reals, FloatArray::into_owned, "Masses. Default 1.";
    charge: Scalars, "particles/charge", reals, FloatArray::into_owned, "Charges. Default 0.";
    diameter: Scalars, "particles/diameter", reals, FloatArray::into_owned, "Diameters, in units of length. Default 1.";
    body: Bodies, "particles/body", rows, |rows| Cow::Owned(rows.into_owned()),
        "The composite body that a particle belongs to, −1 for none. Default −1.";
    moment_inertia: Vectors, "particles/moment_inertia", reals, FloatArray::into_owned,
        "Moments of inertia about the body's axes, mass × length². Default 0.";
    position: Vectors, "particles/position", reals, FloatArray::into_owned,
        "Positions within the box, in units of length. Default 0.";
    orientation: Quaternions, "particles/orientation", reals, FloatArray::into_owned,
        "Orientations: unit quaternions, the real part first. Default 1, 0, 0, 0.";
    velocity: Vectors, "particles/velocity", reals, FloatArray::into_owned, "Velocities, length / time. Default 0.";
    angmom: Quaternions, "particles/angmom", reals, FloatArray::into_owned,
        "Angular momenta as quaternions. Default 0.";
    image: Images, "particles/image", rows, |rows| Cow::Owned(rows.into_owned()),
        "How often each particle has crossed the boundaries. Default 0.";
}

impl<'t> ParticlesView<'_, 't> {
    /// Number of particles.
    ///
    /// # Errors
    /// As [`FrameView::count`].
    pub fn n(&self) -> Result<u32> {
        self.frame.count(Container::Particles)
    }

    /// Names of the types.
    ///
    /// # Errors
    /// `Malformed` for a chunk that is not a UTF-8 table; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn types(&self) -> Result<Cow<'t, [String]>> {
        self.frame.type_names(const { field_index("particles/types") })
    }

    /// Shapes of the types.
    ///
    /// # Errors
    /// `Malformed` for rows that are not JSON objects; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn type_shapes(&self) -> Result<Cow<'t, [Shape]>> {
        self.frame.shapes()
    }
}
