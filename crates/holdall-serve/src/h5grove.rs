//! The dialect of h5grove 4, which h5web's `H5GroveProvider` speaks: a file of any format as groups, datasets and attributes.
//!
//! An ASDF file is its tree: mappings and lists are groups, arrays datasets, scalars and lists of scalars datasets of their own. The datasets of
//! other formats are placed by their paths, and the metadata are attributes of the root. Names are steps of the paths that the command has, with
//! the same escapes; an empty name is `~e`.
//!
//! [`Entities`] answers `/meta`, `/attr` and `/paths`. A call of `/data` is planned by [`Entities::data`], and its answer is written by
//! [`Wanted::write`] in pieces.

use std::collections::HashMap;
use std::sync::OnceLock;

use container_core::container::Container;
use container_core::{Error, Limits, Result};
use serde_json::{Value as Json, json};

mod asdf_tree;
mod attributes;
mod curves;
mod data;
mod entity;
mod inline;
mod json_text;
mod names;
mod path_tree;
mod safe;
#[cfg(test)]
mod tests;
mod tiff;
mod types;

pub(crate) use data::{Format, Wanted};

use attributes::{Attribute, Attributes};
use entity::Entity;
use names::{container_path, entity_path, is_more, more, steps};
use path_tree::PathTree;

/// Maximum number of paths in an answer of `/paths`.
const MAX_PATHS: usize = 100_000;

/// Maximum number of datasets of a file whose digests are named.
const MAX_DIGESTS: usize = 10_000;

/// Maximum number of segments that are looked through for names of digests.
const MAX_SEGMENTS: usize = 100_000;

/// Children of a group.
#[derive(Debug, Default)]
struct Children {
    entries: Vec<(String, Entity)>,
    /// Number of further ones.
    unlisted: u64,
}

/// Entities of a file as h5grove names them, made once for an open file.
pub(crate) struct Entities {
    /// Datasets by path; `None` for a file that is its tree.
    paths: Option<PathTree>,
    /// Metadata of a file without a tree.
    root: OnceLock<Attributes>,
    /// Names of the digests of datasets, by path.
    digests: OnceLock<HashMap<String, String>>,
}

impl Entities {
    /// Places up to 20 000 datasets in groups; an ASDF tree is looked up node by node instead.
    pub(crate) fn new(container: &dyn Container) -> Self {
        let paths = asdf_tree::file(container).is_none().then(|| {
            let mut tree = PathTree::new(container);
            curves::add(container, &mut tree);
            tree
        });
        Self { paths, root: OnceLock::new(), digests: OnceLock::new() }
    }

    /// Answer of `/meta`: the entity and, of a group, its children without theirs.
    ///
    /// # Errors
    /// `Absent` for a path without an entity.
    pub(crate) fn meta(&self, container: &dyn Container, path: &str) -> Result<Json> {
        let steps = steps(path);
        let entity = self.require(container, path)?;
        let digest = |path: &str| self.digest(container, path);
        let name = steps.last().copied().unwrap_or_default();
        let mut described = entity.describe(container, name, &digest);
        if let (Entity::Group(_), Some(map)) = (&entity, described.as_object_mut()) {
            let Children { mut entries, mut unlisted } = self.children(container, &steps);
            if unlisted > 0 || entries.len() > names::MAX_CHILDREN {
                let kept = names::MAX_CHILDREN.saturating_sub(1);
                let cut = entries.len().saturating_sub(kept);
                unlisted = unlisted.saturating_add(u64::try_from(cut).unwrap_or(u64::MAX));
                entries.truncate(kept);
                entries.push((more(unlisted), rest()));
            }
            let children = entries.iter().map(|(name, entity)| entity.describe(container, name, &digest));
            map.insert("children".to_owned(), children.collect());
        }
        Ok(described)
    }

    /// Answer of `/attr`: all attributes of an entity.
    ///
    /// # Errors
    /// As [`Entities::meta`].
    pub(crate) fn attributes(&self, container: &dyn Container, path: &str) -> Result<Json> {
        let entity = self.require(container, path)?;
        Ok(entity.attributes(container, &|path| self.digest(container, path)).values())
    }

    /// Answer of `/paths`: the path of a group and those of all entities below it, 100 000 of the file at most.
    ///
    /// # Errors
    /// As [`Entities::meta`].
    pub(crate) fn paths(&self, container: &dyn Container, base: &str, limits: &Limits) -> Result<Json> {
        self.require(container, base)?;
        let all = match (&self.paths, asdf_tree::file(container)) {
            (None, Some(file)) => asdf_tree::paths(file, MAX_PATHS, limits),
            (Some(tree), _) => tree.paths(MAX_PATHS),
            (None, None) => vec!["/".to_owned()],
        };
        let base = base.trim_end_matches('/');
        let below = |path: &String| {
            base.is_empty()
                || path.strip_prefix(base).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        Ok(json!(all.into_iter().filter(below).collect::<Vec<_>>()))
    }

    /// Plans the answer of `/data`.
    ///
    /// # Errors
    /// `Absent` for a path without an entity; `Usage` for a group, a selection that does not fit, and a type that the format lacks.
    pub(crate) fn data(
        &self,
        container: &dyn Container,
        path: &str,
        selection: Option<&str>,
        (format, flatten, safe): (Format, bool, bool),
    ) -> Result<Wanted> {
        let entity = self.require(container, path)?;
        let selection = selection.map(str::trim).filter(|selection| !selection.is_empty());
        Wanted::new(container, entity, selection, (format, flatten, safe))
            .map_err(|error| error.with_context(path.to_owned()))
    }

    /// The dataset at an h5grove path, with the selection that the entity is of it; `None` for all other entities.
    pub(crate) fn find(
        &self,
        container: &dyn Container,
        path: &str,
    ) -> Option<(usize, Option<&'static str>)> {
        match self.resolve(container, &steps(path))? {
            Entity::Dataset { index, part, .. } => Some((index, part.selection())),
            _ => None,
        }
    }

    /// The h5grove path of a dataset.
    pub(crate) fn path_of(&self, container: &dyn Container, index: usize) -> String {
        let placed = self.paths.as_ref().and_then(|tree| tree.path_of(index));
        placed.unwrap_or_else(|| {
            container.dataset(index).map_or_else(|| "/".to_owned(), |dataset| entity_path(&dataset.path))
        })
    }

    fn require(&self, container: &dyn Container, path: &str) -> Result<Entity> {
        self.resolve(container, &steps(path))
            .ok_or_else(|| Error::absent(format!("{path} is not a valid path in this file")))
    }

    fn resolve(&self, container: &dyn Container, steps: &[&str]) -> Option<Entity> {
        if steps.is_empty() && self.paths.is_some() {
            let known = self.root.get().cloned();
            return Some(Entity::Group(known.unwrap_or_else(|| match container.meta() {
                Ok(meta) => self.root.get_or_init(|| root(&meta)).clone(),
                // It may be read at the next look.
                Err(error) => Attributes::error(&error),
            })));
        }
        self.named(container, steps).or_else(|| {
            let (last, above) = steps.split_last()?;
            if is_more(last) {
                return Some(rest());
            }
            let masked: Vec<&str> = above.iter().copied().chain([last.strip_suffix(".mask")?]).collect();
            match self.named(container, &masked)? {
                Entity::Dataset { index, .. } if entity::has_mask_entity(container, index) => {
                    Some(Entity::Mask { index })
                }
                _ => None,
            }
        })
    }

    /// The entity of a node or a dataset.
    fn named(&self, container: &dyn Container, steps: &[&str]) -> Option<Entity> {
        let own = match (&self.paths, asdf_tree::file(container)) {
            (Some(tree), _) => tree.resolve(steps),
            (None, Some(file)) => asdf_tree::resolve(file, container, steps),
            (None, None) => None,
        };
        // Datasets that are not placed, and parts of others, have their paths.
        own.or_else(|| container.find(&container_path(steps)).map(Entity::dataset))
    }

    fn children(&self, container: &dyn Container, steps: &[&str]) -> Children {
        match (&self.paths, asdf_tree::file(container)) {
            (Some(tree), _) => tree.children(container, steps),
            (None, Some(file)) => asdf_tree::children(file, container, steps),
            (None, None) => Children::default(),
        }
    }

    /// The name of the digest of a dataset. A far file is not read further for it.
    fn digest(&self, container: &dyn Container, path: &str) -> Option<String> {
        let digests = self.digests.get_or_init(|| {
            let mut found = HashMap::new();
            if container.dataset_count() > MAX_DIGESTS || container.codecs().is_none() {
                return found;
            }
            let mut left = MAX_SEGMENTS;
            // Ends early in a file of very many segments: digests are then named for the first ones alone.
            let _ = container.for_each_segment(&mut |segment| {
                left = left.checked_sub(1).ok_or_else(Error::cancelled)?;
                if let (Some(dataset), Some(digest)) = (segment.dataset, segment.checksum) {
                    found.entry(dataset).or_insert(digest);
                }
                Ok(())
            });
            found
        });
        digests.get(path).cloned()
    }
}

/// The metadata of a file without a tree.
fn root(meta: &container_core::Value) -> Attributes {
    let mut attributes = Attributes::default();
    if let container_core::Value::Map(entries) = meta {
        attributes.extend(entries);
    }
    attributes
}

/// The entity that stands for children which are not listed.
fn rest() -> Entity {
    let mut attributes = Attributes::default();
    attributes.push(Attribute::text(
        "note",
        "These entries are not listed. The command shows them all: holdall ls",
    ));
    Entity::Group(attributes)
}
