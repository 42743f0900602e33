//! The schemas and manifests of the ASDF standard, as its package has them, with their metaschema; the schemas of each tag, by version of the standard
//! (`extension_manifest-1.0.0`).

use std::collections::HashMap;

use container_core::Result;

use super::Schemas;
use super::resource::parse;
use crate::header::Version;
use crate::yaml::{Document, Kind, Node};

/// The schemas of each tag.
#[derive(Debug, Default)]
pub(super) struct Tags {
    by_tag: HashMap<String, Known>,
}

/// Entry of a tag in a manifest.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) schemas: Vec<String>,
    /// Whether a manifest for this version of the standard has the tag.
    pub(super) current: bool,
}

impl Tags {
    /// The tags of all manifests; those for `standard` take precedence.
    pub(super) fn of(standard: Version, added: &Schemas) -> Result<Self> {
        let mut all = Self::default();
        for uri in manifests() {
            if let Some(text) = find(uri) {
                all.add(&parse(text.as_bytes(), uri)?, standard);
            }
        }
        for document in added.documents.values() {
            all.add(document, standard);
        }
        Ok(all)
    }

    pub(super) fn get(&self, tag: &str) -> Option<&Known> {
        self.by_tag.get(tag)
    }

    fn add(&mut self, manifest: &Document, standard: Version) {
        let root = manifest.root();
        let Some(tags) = root.get("tags").filter(|tags| tags.kind() == Kind::Sequence) else { return };
        let current = root.get("asdf_standard_requirement").is_none_or(|wanted| is_met(wanted, standard));
        for tag in tags.items() {
            let (Some(uri), Some(schema)) = (tag.get("tag_uri"), tag.get("schema_uri")) else { continue };
            let schemas = match schema.kind() {
                Kind::Sequence => schema.items().map(|one| one.text().to_owned()).collect(),
                _ => vec![schema.text().to_owned()],
            };
            let known = Known { schemas, current };
            match self.by_tag.get_mut(uri.text()) {
                Some(have) if have.current || !current => {}
                Some(have) => *have = known,
                None => {
                    self.by_tag.insert(uri.text().to_owned(), known);
                }
            }
        }
    }
}

/// A version, or bounds on it: `gt`, `gte`, `lt`, `lte`.
fn is_met(wanted: Node<'_>, standard: Version) -> bool {
    let version = |node: Node<'_>| Version::parse(node.text());
    if wanted.kind() == Kind::Scalar {
        return version(wanted) == Some(standard);
    }
    wanted.pairs().into_iter().all(|(key, bound)| match (key.text(), version(bound)) {
        ("gt", Some(bound)) => standard > bound,
        ("gte", Some(bound)) => standard >= bound,
        ("lt", Some(bound)) => standard < bound,
        ("lte", Some(bound)) => standard <= bound,
        _ => true,
    })
}

/// A resource: its URI and its text.
pub(super) type Embedded = (&'static str, &'static str);

macro_rules! resources {
    ($($uri:literal $path:literal)*) => { &[$(($uri, include_str!(concat!("../../schemas/", $path)))),*] };
}

/// All resources, by URI in ascending order.
pub(super) const RESOURCES: &[Embedded] = resources![
    "asdf://asdf-format.org/astronomy/manifests/astronomy-1.0.0" "stable/manifests/asdf-format.org/astronomy/astronomy-1.0.0.yaml"
    "asdf://asdf-format.org/astronomy/manifests/astronomy-1.1.0" "stable/manifests/asdf-format.org/astronomy/astronomy-1.1.0.yaml"
    "asdf://asdf-format.org/astronomy/manifests/astronomy-1.2.0" "stable/manifests/asdf-format.org/astronomy/astronomy-1.2.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.0.0" "stable/manifests/asdf-format.org/core/core-1.0.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.1.0" "stable/manifests/asdf-format.org/core/core-1.1.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.2.0" "stable/manifests/asdf-format.org/core/core-1.2.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.3.0" "stable/manifests/asdf-format.org/core/core-1.3.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.4.0" "stable/manifests/asdf-format.org/core/core-1.4.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.5.0" "stable/manifests/asdf-format.org/core/core-1.5.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.6.0" "stable/manifests/asdf-format.org/core/core-1.6.0.yaml"
    "asdf://asdf-format.org/core/manifests/core-1.7.0" "unstable/manifests/asdf-format.org/core/core-1.7.0.yaml"
    "asdf://asdf-format.org/core/schemas/extension_manifest-1.0.0" "stable/schemas/asdf-format.org/core/extension_manifest-1.0.0.yaml"
    "http://json-schema.org/draft-04/schema" "json-schema.org/draft-04.json"
    "http://stsci.edu/schemas/asdf/asdf-schema-1.0.0" "stable/schemas/stsci.edu/asdf/asdf-schema-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/asdf-schema-1.1.0" "stable/schemas/stsci.edu/asdf/asdf-schema-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/core/asdf-1.0.0" "stable/schemas/stsci.edu/asdf/core/asdf-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/asdf-1.1.0" "stable/schemas/stsci.edu/asdf/core/asdf-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/core/column-1.0.0" "stable/schemas/stsci.edu/asdf/core/column-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/complex-1.0.0" "stable/schemas/stsci.edu/asdf/core/complex-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/constant-1.0.0" "stable/schemas/stsci.edu/asdf/core/constant-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/datatype-1.0.0" "stable/schemas/stsci.edu/asdf/core/datatype-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/extension_metadata-1.0.0" "stable/schemas/stsci.edu/asdf/core/extension_metadata-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/externalarray-1.0.0" "stable/schemas/stsci.edu/asdf/core/externalarray-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/history_entry-1.0.0" "stable/schemas/stsci.edu/asdf/core/history_entry-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/integer-1.0.0" "stable/schemas/stsci.edu/asdf/core/integer-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/integer-1.1.0" "stable/schemas/stsci.edu/asdf/core/integer-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/core/integer-1.2.0" "unstable/schemas/stsci.edu/asdf/core/integer-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/core/ndarray-1.0.0" "stable/schemas/stsci.edu/asdf/core/ndarray-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/ndarray-1.1.0" "stable/schemas/stsci.edu/asdf/core/ndarray-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/core/ndarray-1.2.0" "unstable/schemas/stsci.edu/asdf/core/ndarray-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/core/software-1.0.0" "stable/schemas/stsci.edu/asdf/core/software-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/subclass_metadata-1.0.0" "stable/schemas/stsci.edu/asdf/core/subclass_metadata-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/core/table-1.0.0" "stable/schemas/stsci.edu/asdf/core/table-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/fits/fits-1.0.0" "stable/schemas/stsci.edu/asdf/fits/fits-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/fits/fits-1.1.0" "stable/schemas/stsci.edu/asdf/fits/fits-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/fits/fits-1.2.0" "stable/schemas/stsci.edu/asdf/fits/fits-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/table/column-1.1.0" "stable/schemas/stsci.edu/asdf/table/column-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/table/column-1.2.0" "stable/schemas/stsci.edu/asdf/table/column-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/table/table-1.1.0" "stable/schemas/stsci.edu/asdf/table/table-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/table/table-1.2.0" "stable/schemas/stsci.edu/asdf/table/table-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/time/time-1.0.0" "stable/schemas/stsci.edu/asdf/time/time-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/time/time-1.1.0" "stable/schemas/stsci.edu/asdf/time/time-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/time/time-1.2.0" "stable/schemas/stsci.edu/asdf/time/time-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/time/time-1.3.0" "stable/schemas/stsci.edu/asdf/time/time-1.3.0.yaml"
    "http://stsci.edu/schemas/asdf/time/time-1.4.0" "stable/schemas/stsci.edu/asdf/time/time-1.4.0.yaml"
    "http://stsci.edu/schemas/asdf/transform/domain-1.0.0" "stable/schemas/stsci.edu/asdf/transform/domain-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/transform/transform-1.0.0" "stable/schemas/stsci.edu/asdf/transform/transform-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/unit/defunit-1.0.0" "stable/schemas/stsci.edu/asdf/unit/defunit-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/unit/quantity-1.1.0" "stable/schemas/stsci.edu/asdf/unit/quantity-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/unit/quantity-1.2.0" "stable/schemas/stsci.edu/asdf/unit/quantity-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/unit/quantity-1.3.0" "stable/schemas/stsci.edu/asdf/unit/quantity-1.3.0.yaml"
    "http://stsci.edu/schemas/asdf/unit/unit-1.0.0" "stable/schemas/stsci.edu/asdf/unit/unit-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/celestial_frame-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/celestial_frame-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/celestial_frame-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/celestial_frame-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/composite_frame-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/composite_frame-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/composite_frame-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/composite_frame-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/frame-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/frame-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/frame-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/frame-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/icrs_coord-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/icrs_coord-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/spectral_frame-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/spectral_frame-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/spectral_frame-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/spectral_frame-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/step-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/step-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/step-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/step-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/step-1.2.0" "stable/schemas/stsci.edu/asdf/wcs/step-1.2.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/wcs-1.0.0" "stable/schemas/stsci.edu/asdf/wcs/wcs-1.0.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/wcs-1.1.0" "stable/schemas/stsci.edu/asdf/wcs/wcs-1.1.0.yaml"
    "http://stsci.edu/schemas/asdf/wcs/wcs-1.2.0" "stable/schemas/stsci.edu/asdf/wcs/wcs-1.2.0.yaml"
    "http://stsci.edu/schemas/yaml-schema/draft-01" "stable/schemas/stsci.edu/yaml-schema/draft-01.yaml"
];

/// The text of the resource of that URI.
pub(super) fn find(uri: &str) -> Option<&'static str> {
    let at = RESOURCES.binary_search_by(|(have, _)| (*have).cmp(uri)).ok()?;
    RESOURCES.get(at).map(|(_, text)| *text)
}

/// The URIs of the manifests.
pub(super) fn manifests() -> impl Iterator<Item = &'static str> {
    RESOURCES.iter().map(|(uri, _)| *uri).filter(|uri| uri.contains("/manifests/"))
}
