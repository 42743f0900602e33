//! Groups of particles: `bonds/`, `angles/`, `dihedrals/`, `impropers/`, `pairs/`, `constraints/`.

use std::borrow::Cow;

use bytemuck::Pod;
use container_core::Result;

use crate::hoomd::Scalars;
use crate::hoomd::read::{FrameView, field_index};
use crate::hoomd::schema::Container;

/// Groups of K particles each: bonds and special pairs (2), angles (3), dihedrals and impropers (4). `None` means frame 0's value
/// (for `typeid` and `group` only where frame 0 has as many groups), else the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct GroupData<'a, const K: usize> {
    /// Number of groups. `None` for as many as in frame 0, in frame 0 for none.
    pub n: Option<u32>,
    /// Names of the types, each different. Default none.
    pub types: Option<Cow<'a, [String]>>,
    /// Index of each group's type. Default 0.
    pub typeid: Option<Cow<'a, [u32]>>,
    /// Tags of each group's particles. Default 0.
    pub group: Option<Cow<'a, [[u32; K]]>>,
}

impl<const K: usize> GroupData<'_, K> {
    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> GroupData<'static, K> {
        GroupData {
            n: self.n,
            types: self.types.map(|types| Cow::Owned(types.into_owned())),
            typeid: self.typeid.map(|rows| Cow::Owned(rows.into_owned())),
            group: self.group.map(|rows| Cow::Owned(rows.into_owned())),
        }
    }
}

/// Constraints: pairs of particles at fixed distances. `None` means frame 0's value (for `value` and `group` only where frame 0 has
/// as many constraints), else the default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ConstraintData<'a> {
    /// Number of constraints. `None` for as many as in frame 0, in frame 0 for none.
    pub n: Option<u32>,
    /// Distances, in units of length. Default 0.
    pub value: Option<Scalars<'a>>,
    /// Tags of the two particles. Default 0.
    pub group: Option<Cow<'a, [[u32; 2]]>>,
}

impl ConstraintData<'_> {
    /// The same, independent of what it borrows from.
    #[must_use]
    pub fn into_owned(self) -> ConstraintData<'static> {
        ConstraintData {
            n: self.n,
            value: self.value.map(Scalars::into_owned),
            group: self.group.map(|rows| Cow::Owned(rows.into_owned())),
        }
    }
}

/// The groups of one container of a frame, read field by field.
#[derive(Clone, Copy)]
pub struct GroupsView<'f, 't, const K: usize> {
    frame: &'f FrameView<'t>,
    container: Container,
    /// Places of types, typeid and group.
    places: [usize; 3],
}

impl<'t, const K: usize> GroupsView<'_, 't, K>
where
    [u32; K]: Pod,
{
    /// Number of groups.
    ///
    /// # Errors
    /// As [`FrameView::count`].
    pub fn n(&self) -> Result<u32> {
        self.frame.count(self.container)
    }

    /// Names of the types.
    ///
    /// # Errors
    /// `Malformed` for a chunk that is not a UTF-8 table; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn types(&self) -> Result<Cow<'t, [String]>> {
        self.frame.type_names(self.places[0])
    }

    /// Index of each group's type.
    ///
    /// # Errors
    /// `Malformed` for a chunk of another type or shape; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn typeid(&self) -> Result<Cow<'t, [u32]>> {
        self.frame.rows(self.places[1])
    }

    /// Tags of each group's particles. Where the file stores i32, as `gsd.hoomd` up to 5.0.0 wrote them, a negative tag comes
    /// out as one above 2^31.
    ///
    /// # Errors
    /// As [`GroupsView::typeid`].
    pub fn group(&self) -> Result<Cow<'t, [[u32; K]]>> {
        self.frame.rows(self.places[2])
    }

    /// Every field, read.
    ///
    /// # Errors
    /// As the methods for the fields.
    pub fn read(&self) -> Result<GroupData<'t, K>> {
        Ok(GroupData {
            n: Some(self.n()?),
            types: Some(self.types()?),
            typeid: Some(self.typeid()?),
            group: Some(self.group()?),
        })
    }

    /// The fields that the frame itself stores; the others are `None`.
    ///
    /// # Errors
    /// As the methods for the fields.
    pub fn read_stored(&self) -> Result<GroupData<'t, K>> {
        let stored = self.places.map(|at| self.frame.is_stored(at));
        let count = self.container.count_chunk().and_then(|name| self.frame.stored(name));
        Ok(GroupData {
            n: if count.is_some() { Some(self.n()?) } else { None },
            types: if stored[0] { Some(self.types()?) } else { None },
            typeid: if stored[1] { Some(self.typeid()?) } else { None },
            group: if stored[2] { Some(self.group()?) } else { None },
        })
    }
}

/// The constraints of a frame, read field by field.
#[derive(Clone, Copy)]
pub struct ConstraintsView<'f, 't> {
    frame: &'f FrameView<'t>,
}

const VALUE: usize = field_index("constraints/value");
const GROUP: usize = field_index("constraints/group");

impl<'t> ConstraintsView<'_, 't> {
    /// Number of constraints.
    ///
    /// # Errors
    /// As [`FrameView::count`].
    pub fn n(&self) -> Result<u32> {
        self.frame.count(Container::Constraints)
    }

    /// Distances, in units of length.
    ///
    /// # Errors
    /// `Malformed` for a chunk of another type or shape; as [`File::read_chunk`](crate::File::read_chunk).
    pub fn value(&self) -> Result<Scalars<'t>> {
        self.frame.reals(VALUE)
    }

    /// Tags of the two particles of each.
    ///
    /// # Errors
    /// As [`ConstraintsView::value`].
    pub fn group(&self) -> Result<Cow<'t, [[u32; 2]]>> {
        self.frame.rows(GROUP)
    }

    /// Every field, read.
    ///
    /// # Errors
    /// As the methods for the fields.
    pub fn read(&self) -> Result<ConstraintData<'t>> {
        Ok(ConstraintData { n: Some(self.n()?), value: Some(self.value()?), group: Some(self.group()?) })
    }

    /// The fields that the frame itself stores; the others are `None`.
    ///
    /// # Errors
    /// As the methods for the fields.
    pub fn read_stored(&self) -> Result<ConstraintData<'t>> {
        let stored = |at| self.frame.is_stored(at);
        Ok(ConstraintData {
            n: if stored(const { field_index("constraints/N") }) { Some(self.n()?) } else { None },
            value: if stored(VALUE) { Some(self.value()?) } else { None },
            group: if stored(GROUP) { Some(self.group()?) } else { None },
        })
    }
}

macro_rules! containers {
    ($($method:ident, $container:ident, $size:literal, $types:literal, $typeid:literal, $group:literal, $doc:literal;)+) => {
        impl<'t> FrameView<'t> {
            $(
                #[doc = $doc]
                #[must_use]
                pub fn $method(&self) -> GroupsView<'_, 't, $size> {
                    let places = const { [field_index($types), field_index($typeid), field_index($group)] };
                    GroupsView { frame: self, container: Container::$container, places }
                }
            )+

            /// The distance constraints.
            #[must_use]
            pub fn constraints(&self) -> ConstraintsView<'_, 't> {
                ConstraintsView { frame: self }
            }
        }
    };
}

containers! {
    bonds, Bonds, 2, "bonds/types", "bonds/typeid", "bonds/group", "The bonds.";
    angles, Angles, 3, "angles/types", "angles/typeid", "angles/group", "The angles.";
    dihedrals, Dihedrals, 4, "dihedrals/types", "dihedrals/typeid", "dihedrals/group", "The dihedrals.";
    impropers, Impropers, 4, "impropers/types", "impropers/typeid", "impropers/group", "The impropers.";
    pairs, Pairs, 2, "pairs/types", "pairs/typeid", "pairs/group", "The special pairs.";
}
