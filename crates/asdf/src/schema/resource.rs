//! Schema documents, found by URI: those of the standard, those a caller adds, and schemas within them that have an `id` of their own.

use std::collections::HashMap;
use std::rc::Rc;

use container_core::json_pointer::escape;
use container_core::{Error, Result};

use super::WorkLimit;
use super::uri::{join, pointer, split_fragment};
use super::{Schemas, manifest};
use crate::tree::parse_tree;
use crate::yaml::{Document, Kind, Node, NodeId, YamlLimits};

/// Keywords whose values hold data, never schemas.
const DATA_KEYWORDS: &[&str] = &["enum", "const", "default", "examples", "required"];

/// Keywords whose keys are names, even where they spell a keyword.
const NAME_KEYWORDS: &[&str] = &["properties", "patternProperties", "definitions", "dependencies"];

/// A document with the base of its relative references.
#[derive(Clone, Debug)]
pub(super) struct Resource {
    pub(super) uri: String,
    pub(super) document: Rc<Document>,
}

/// Location of a schema.
#[derive(Clone, Debug)]
pub(super) struct Place {
    pub(super) resource: usize,
    pub(super) node: NodeId,
    /// Base URI of relative references within the schema.
    pub(super) base: Rc<str>,
    /// From the root of the document: `/properties/shape`.
    pub(super) pointer: String,
}

/// Resources that were used, read once.
#[derive(Debug)]
pub(super) struct Resources<'s> {
    added: &'s Schemas,
    all: Vec<Resource>,
    by_uri: HashMap<String, Option<usize>>,
    ids: HashMap<String, Place>,
}

impl<'s> Resources<'s> {
    pub(super) fn new(added: &'s Schemas) -> Self {
        Self { added, all: Vec::new(), by_uri: HashMap::new(), ids: HashMap::new() }
    }

    pub(super) fn get(&self, index: usize) -> Option<&Resource> {
        self.all.get(index)
    }

    pub(super) fn document(&self, index: usize) -> Option<Rc<Document>> {
        self.all.get(index).map(|resource| Rc::clone(&resource.document))
    }

    /// The schema at an absolute URI; `None` where there is none.
    pub(super) fn find(&mut self, uri: &str, work_limit: &mut WorkLimit) -> Result<Option<Place>> {
        let (document, fragment) = split_fragment(uri);
        let start = match self.load(document)? {
            Some(resource) => self.root(resource),
            None => self.ids.get(document).cloned(),
        };
        let Some(start) = start else { return Ok(None) };
        match pointer(fragment) {
            Some(steps) => self.walk(start, &steps, work_limit),
            None => Ok(self.ids.get(uri).cloned()),
        }
    }

    /// The resource of that URI, read on first use.
    pub(super) fn load(&mut self, uri: &str) -> Result<Option<usize>> {
        if let Some(known) = self.by_uri.get(uri) {
            return Ok(*known);
        }
        let document = match self.added.documents.get(uri) {
            Some(document) => Some(Rc::clone(document)),
            None => match manifest::find(uri) {
                Some(text) => Some(Rc::new(parse(text.as_bytes(), uri)?)),
                None => None,
            },
        };
        let index = document.map(|document| {
            self.all.push(Resource { uri: uri.to_owned(), document });
            self.all.len().saturating_sub(1)
        });
        self.by_uri.insert(uri.to_owned(), index);
        if let Some(index) = index {
            self.collect_ids(index);
        }
        Ok(index)
    }

    fn root(&self, resource: usize) -> Option<Place> {
        let found = self.all.get(resource)?;
        let root = found.document.root();
        Some(Place {
            resource,
            node: root.target().id(),
            base: base_of(&found.uri, root).into(),
            pointer: String::new(),
        })
    }

    fn walk(&self, start: Place, steps: &[String], work_limit: &mut WorkLimit) -> Result<Option<Place>> {
        let Some(document) = self.document(start.resource) else { return Ok(None) };
        let mut place = start;
        // A key of `properties` is a name, not a keyword.
        let mut names = false;
        for step in steps {
            let node = document.node(place.node);
            work_limit.spend(node.len() as u64)?;
            let next = match node.kind() {
                Kind::Mapping => node.get(step),
                Kind::Sequence => step.parse().ok().and_then(|at| node.item(at)),
                Kind::Scalar => None,
            };
            let Some(next) = next else { return Ok(None) };
            names = !names && NAME_KEYWORDS.contains(&step.as_str());
            place.pointer.push('/');
            place.pointer.push_str(&escape(step));
            place.node = next.target().id();
            if !names {
                place.base = base_of(&place.base, next).into();
            }
        }
        Ok(Some(place))
    }

    /// Schemas within a document that have a name of their own.
    fn collect_ids(&mut self, resource: usize) {
        let Some(document) = self.document(resource) else { return };
        let Some(root) = self.root(resource) else { return };
        // Aliases are left out, and with them cycles.
        let mut open = vec![(Place { base: self.uri(resource).into(), ..root }, false)];
        while let Some((place, names)) = open.pop() {
            let node = document.node(place.node);
            let base = if names { Rc::clone(&place.base) } else { base_of(&place.base, node).into() };
            if !names && let Some(id) = id(node) {
                let whole = join(&place.base, id);
                self.ids.entry(whole).or_insert_with(|| Place { base: Rc::clone(&base), ..place.clone() });
            }
            let within = |step: &str, node: Node<'_>| Place {
                resource,
                node: node.id(),
                base: Rc::clone(&base),
                pointer: format!("{}/{}", place.pointer, escape(step)),
            };
            for (at, item) in node.items().enumerate().filter(|(_, item)| !item.is_alias()) {
                open.push((within(&at.to_string(), item), false));
            }
            for (key, value) in node.entries().filter(|(_, value)| !value.is_alias()) {
                let name = key.text();
                if value.kind() != Kind::Scalar && (names || !DATA_KEYWORDS.contains(&name)) {
                    open.push((within(name, value), !names && NAME_KEYWORDS.contains(&name)));
                }
            }
        }
    }

    fn uri(&self, resource: usize) -> &str {
        self.all.get(resource).map_or("", |resource| resource.uri.as_str())
    }
}

/// The text of `id`. Next to a `$ref` it is ignored (JSON Schema draft-04, core, section 8).
fn id(node: Node<'_>) -> Option<&str> {
    if node.kind() != Kind::Mapping || node.get("$ref").is_some_and(|node| node.kind() == Kind::Scalar) {
        return None;
    }
    node.get("id").filter(|id| id.kind() == Kind::Scalar).map(Node::text)
}

/// Returns the base URI of references within a schema.
pub(super) fn base_of(outer: &str, schema: Node<'_>) -> String {
    match id(schema) {
        // A bare name is an anchor in this document.
        Some(id) if !id.starts_with('#') => split_fragment(&join(outer, id)).0.to_owned(),
        _ => outer.to_owned(),
    }
}

/// Reads a schema.
pub(super) fn parse(text: &[u8], name: &str) -> Result<Document> {
    // Schemas are small; a longer text is not one.
    let mut limits = YamlLimits::default();
    (limits.bytes, limits.nodes) = (16 << 20, 2_000_000);
    let document = parse_tree(text, 0, &limits).map_err(|error| error.in_file(name.to_owned()))?;
    if document.root().kind() != Kind::Mapping {
        return Err(Error::malformed("the schema is not a mapping").in_file(name.to_owned()));
    }
    Ok(document)
}
