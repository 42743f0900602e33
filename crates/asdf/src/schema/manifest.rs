//! Manifests: the schemas of each tag, by version of the standard (`extension_manifest-1.0.0`).

use std::collections::HashMap;

use container_core::Result;

use super::resource::parse;
use super::{Schemas, embedded};
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
        for uri in embedded::manifests() {
            if let Some(text) = embedded::find(uri) {
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
