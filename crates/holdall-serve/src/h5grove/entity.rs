//! Entities of a file, and their descriptions in `/meta`.

use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::{DType, Kind};
use container_core::mask::mask_dtype;
use container_core::region::Region;
use container_core::{Result, Value};
use serde_json::{Value as Json, json};

use super::attributes::{Attribute, Attributes};
use super::inline::Inline;
use super::types::type_json;

/// A group, a dataset, or a place that has neither.
#[derive(Clone, Debug)]
pub(super) enum Entity {
    /// A group. Its children are asked for apart.
    Group(Attributes),
    /// A dataset of the container, or a part of one.
    Dataset {
        /// Its index.
        index: usize,
        /// The part.
        part: Part,
        /// Attributes in addition to the dataset's own.
        attributes: Attributes,
    },
    /// The mask of a dataset.
    Mask {
        /// Index of the dataset.
        index: usize,
    },
    /// A value of the metadata.
    Value(Inline, Attributes),
    /// A value of the metadata by its shape and type alone, in the list of a group.
    Described {
        /// Its shape.
        shape: Json,
        /// Its type.
        kind: Json,
        /// Its attributes.
        attributes: Attributes,
    },
    /// An array that no dataset shows, with the reason.
    Unresolved(String),
}

/// Part of a dataset that an entity shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// All of it.
    Whole,
    /// The first column of two axes: one number a frame.
    FirstColumn,
}

impl Part {
    /// The selection in the command's words, without brackets; `None` for all.
    pub(super) const fn selection(self) -> Option<&'static str> {
        match self {
            Self::Whole => None,
            Self::FirstColumn => Some(":,0"),
        }
    }

    /// # Errors
    /// `Usage` for a dataset without such a part.
    pub(super) fn region(self, shape: &[u64]) -> Result<Region> {
        self.selection().map_or_else(|| Ok(Region::whole(shape)), |text| Region::parse(text, shape))
    }
}

impl Entity {
    /// A dataset without further attributes.
    pub(super) fn dataset(index: usize) -> Self {
        Self::Dataset { index, part: Part::Whole, attributes: Attributes::default() }
    }

    /// The description without children. `digest` names the digest of a dataset, by its path.
    pub(super) fn describe(
        &self,
        container: &dyn Container,
        name: &str,
        digest: &dyn Fn(&str) -> Option<String>,
    ) -> Json {
        match self {
            Self::Group(attributes) => {
                json!({ "name": name, "kind": "group", "attributes": attributes.entries() })
            }
            Self::Unresolved(target) => json!({ "name": name, "kind": "soft_link", "target_path": target }),
            Self::Value(value, attributes) => {
                plain(name, &value.shape_json(), &value.type_json(), &attributes.entries())
            }
            Self::Described { shape, kind, attributes } => plain(name, shape, kind, &attributes.entries()),
            Self::Mask { index } => {
                let Some(dataset) = container.dataset(*index) else { return opaque(name) };
                let kind = mask_type(container, *index, &dataset);
                plain(name, &json!(dataset.shape), &type_json(&kind, None), &json!([]))
            }
            Self::Dataset { index, part, .. } => {
                let Some(dataset) = container.dataset(*index) else { return opaque(name) };
                let Ok(region) = part.region(&dataset.shape) else { return opaque(name) };
                let tag = dataset.attributes.iter().find_map(|(name, value)| match value {
                    Value::Text(text) if name == "datatype" => Some(text.as_str()),
                    _ => None,
                });
                let attributes = self.attributes(container, digest).entries();
                let kind = type_json(&dataset.dtype, tag);
                let mut described = plain(name, &json!(region.shape()), &kind, &attributes);
                if let (Part::Whole, Some(map)) = (part, described.as_object_mut()) {
                    let chunks = dataset.chunks.as_ref().filter(|chunks| chunks.len() == dataset.shape.len());
                    map.insert("chunks".to_owned(), json!(chunks));
                    map.insert("filters".to_owned(), filters(&dataset.codec));
                }
                described
            }
        }
    }

    /// All attributes.
    pub(super) fn attributes(
        &self,
        container: &dyn Container,
        digest: &dyn Fn(&str) -> Option<String>,
    ) -> Attributes {
        match self {
            Self::Group(attributes) | Self::Value(_, attributes) | Self::Described { attributes, .. } => {
                attributes.clone()
            }
            Self::Dataset { index, attributes, .. } => {
                let mut all = attributes.clone();
                let Some(dataset) = container.dataset(*index) else { return all };
                all.extend(&dataset.attributes);
                if dataset.codec != "none" {
                    all.push(Attribute::text("codec", &dataset.codec));
                }
                if let Some(digest) = digest(&dataset.path) {
                    all.push(Attribute::text("digest", &digest));
                }
                all
            }
            Self::Mask { .. } | Self::Unresolved(_) => Attributes::default(),
        }
    }
}

/// Type of the mask of a dataset: a truth value, or one for each scalar of a record.
pub(super) fn mask_type(container: &dyn Container, index: usize, dataset: &Dataset) -> DType {
    let own = empty_mask(container, index, &dataset.shape);
    own.filter(|dtype| dtype.as_scalar().is_none())
        .map_or_else(|| DType::native(Kind::Bool, 1), |_| mask_dtype(&dataset.dtype))
}

fn empty_mask(container: &dyn Container, index: usize, shape: &[u64]) -> Option<DType> {
    let whole = Region::whole(shape);
    let none = whole.axes().iter().map(|axis| container_core::region::AxisSelection { count: 0, ..*axis });
    let none = Region::new(none.collect(), shape).ok()?;
    let mask = container.mask(index, &none, &ReadOptions::default()).ok()??;
    Some(mask.dtype().clone())
}

/// True if the mask of a dataset is an entity next to it: floats show missing elements as NaN.
pub(super) fn has_mask_entity(container: &dyn Container, index: usize) -> bool {
    let is_float = |dataset: &Dataset| {
        let scalar = dataset.dtype.as_scalar();
        scalar.is_some_and(|scalar| matches!(scalar.kind, Kind::Float | Kind::BFloat))
    };
    container.dataset(index).is_some_and(|dataset| !is_float(&dataset))
        && container.has_mask(index, &ReadOptions::default()).unwrap_or(false)
}

fn plain(name: &str, shape: &Json, kind: &Json, attributes: &Json) -> Json {
    json!({
        "attributes": attributes, "chunks": null, "filters": null, "kind": "dataset", "name": name,
        "shape": shape, "type": kind,
    })
}

/// The description of a dataset that cannot be described: an error would break the page of its group.
fn opaque(name: &str) -> Json {
    plain(name, &json!([]), &type_json(&DType::void(0), None), &json!([]))
}

/// The codec as a filter of HDF5, by its registered number where it has one.
fn filters(codec: &str) -> Json {
    let id = match codec {
        "none" => return Json::Null,
        "zlib" => 1,
        "bzp2" | "bzip2" => 307,
        "blosc" => 32001,
        "lz4" => 32004,
        "zfp" => 32013,
        "zstd" => 32015,
        "blosc2" => 32026,
        _ => 0,
    };
    json!([{ "id": id, "name": codec }])
}
