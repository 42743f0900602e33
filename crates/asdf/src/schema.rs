//! Validation against schemas: JSON Schema draft-04 with the keywords that ASDF adds (ASDF standard 1.6.0, "ASDF schemas").
//!
//! The schemas and manifests of the standard, versions 1.0.0 to 1.7.0, are part of the library; validation never fetches any. Others are added with
//! [`Schemas::add`]. Every value with a tag is validated against the schemas that the manifests name for it, and the root against a schema of the
//! caller's, if there is one.
//!
//! Validation follows Python asdf where it differs from draft-04. Keywords next to a `$ref` count. `format` checks no text, but makes a date pass as
//! a string. A mapping with a `$ref` is a reference to a value elsewhere and is not checked. Patterns are searched for, not anchored; they support
//! neither look-around nor back-references, and `$` is the end of the text alone.

use std::collections::BTreeMap;
use std::ops::Range;
use std::rc::Rc;

use container_core::{Error, Result};

use crate::header::Version;
use crate::tree::parse_tree;
use crate::yaml::{Document, Kind, Node, YamlLimits};

mod array;
mod assertions;
mod compiled;
mod equal;
mod keyword_values;
mod manifest;
mod messages;
mod number;
mod resource;
mod traverse;
mod uri;
mod validate;

use compiled::CompiledSchemas;
use resource::Resources;
use validate::Validator;

/// The metaschema of a schema that names none.
const METASCHEMA: &str = "http://stsci.edu/schemas/yaml-schema/draft-01";

/// Schemas and manifests in addition to those of the standard.
#[derive(Clone, Debug, Default)]
pub struct Schemas {
    documents: BTreeMap<String, Rc<Document>>,
}

impl Schemas {
    /// None.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a schema or manifest and returns its URI: its `id`, or `name` without one. It replaces any of the same URI, even the standard's. The tags
    /// of a manifest (a resource with `tags`) become known with it.
    ///
    /// # Errors
    /// `Malformed` for text that is not YAML, a root that is not a mapping, or a keyword with an invalid value, with the range in `text` and the name
    /// as part; `Limit` for text beyond 16 MiB.
    pub fn add(&mut self, text: &[u8], name: &str) -> Result<String> {
        let document = resource::parse(text, name)?;
        let id = document
            .root()
            .get("id")
            .filter(|id| id.kind() == Kind::Scalar)
            .map(|id| id.text().trim_end_matches('#'));
        let uri = id.filter(|id| !id.is_empty()).unwrap_or(name).to_owned();
        let is_manifest = document.root().get("tags").is_some_and(|tags| tags.kind() == Kind::Sequence);
        let before = self.documents.insert(uri.clone(), Rc::new(document));
        if !is_manifest {
            let mut schemas = CompiledSchemas::new(Resources::new(self));
            let read = schemas
                .find(&uri, &mut WorkLimit::new(Options::default().max_steps))
                .and_then(|_| schemas.read_all());
            if let Err(error) = read {
                match before {
                    Some(before) => self.documents.insert(uri, before),
                    None => self.documents.remove(&uri),
                };
                return Err(error.in_file(name.to_owned()));
            }
        }
        Ok(uri)
    }

    /// The URIs of the resources that were added, in ascending order.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.documents.keys().map(String::as_str)
    }
}

/// The URIs of the standard's resources that are part of the library, in ascending order.
pub fn standard_resources() -> impl Iterator<Item = &'static str> {
    manifest::RESOURCES.iter().map(|(uri, _)| *uri)
}

/// The text of a resource of the standard.
#[must_use]
pub fn standard_resource(uri: &str) -> Option<&'static str> {
    manifest::find(uri)
}

/// Options of a validation.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct Options<'a> {
    /// Version of the standard, which decides what tags are known. `None`: 1.6.0, for a tree without a file. A file without a version has
    /// [`Version::FIRST_STANDARD`].
    pub standard: Option<Version>,
    /// Schemas and manifests in addition to the standard's.
    pub schemas: Option<&'a Schemas>,
    /// URI of a schema for the root: a result of [`Schemas::add`], or one of the standard's.
    pub custom: Option<&'a str>,
    /// Maximum number of violations that are reported.
    pub max_violations: usize,
    /// Limit of steps: one for each check of a value by a schema, and one for each item or key visited.
    pub max_steps: u64,
}

impl Default for Options<'_> {
    fn default() -> Self {
        Self { standard: None, schemas: None, custom: None, max_violations: 1000, max_steps: 1_000_000_000 }
    }
}

impl<'a> Options<'a> {
    /// For a version of the standard.
    #[must_use]
    pub const fn standard(mut self, version: Option<Version>) -> Self {
        self.standard = version;
        self
    }

    /// Adds schemas, and optionally selects one for the root.
    #[must_use]
    pub const fn with(mut self, schemas: &'a Schemas, custom: Option<&'a str>) -> Self {
        self.schemas = Some(schemas);
        self.custom = custom;
        self
    }
}

/// A value that does not fit a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The value's path in the tree: `roman/meta/0`; empty for the root.
    pub path: String,
    /// Its bytes in the text of the tree.
    pub range: Range<usize>,
    /// URI of the schema.
    pub schema: String,
    /// JSON pointer to the keyword in the schema: `/properties/shape/type`.
    pub pointer: String,
    /// Description of the violation, as a sentence about the value: "is a string, not of type integer".
    pub message: String,
}

/// Subject of a [`Note`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum NoteKind {
    /// A tag that no manifest names.
    UnknownTag,
    /// A tag of another version of the standard. Its schema is used.
    OtherStandard,
    /// A schema that is referred to and not there.
    MissingSchema,
    /// An integer beyond the 64 bits of a literal.
    LargeInteger,
    /// A key that is neither text nor integer nor truth value, which the standard forbids since 1.6.0.
    Key,
}

/// An oddity that does not make a tree invalid.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    /// Subject of the note.
    pub kind: NoteKind,
    /// Path of the first value with it.
    pub path: String,
    /// Bytes of that value in the text of the tree.
    pub range: Range<usize>,
    /// The tag, URI, literal or key.
    pub about: String,
    /// A sentence.
    pub message: String,
    /// Number of values with the same note.
    pub count: u64,
}

/// Result of validation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Report {
    /// In the order of the tree; those of a custom schema last. Empty for a valid tree.
    pub violations: Vec<Violation>,
    /// In the order of the tree.
    pub notes: Vec<Note>,
    /// False if there may be more than the reported ones.
    pub complete: bool,
}

impl Report {
    /// True without any violation.
    #[must_use]
    pub const fn is_valid(&self) -> bool {
        self.violations.is_empty()
    }
}

/// Validates a tree against the schemas of its tags and the caller's.
///
/// # Errors
/// `Malformed` for an invalid schema, with its URI as part; `Limit` where schema and tree together ask for too much work.
pub fn validate(document: &Document, options: &Options<'_>) -> Result<Report> {
    traverse::validate(document, options)
}

/// Validates a schema against its metaschema: the one in its `$schema`, else the YAML metaschema. `uri` is a result of [`Schemas::add`], or one of
/// the standard's.
///
/// # Errors
/// `Usage` for an unknown URI, of the schema or its metaschema; `Malformed` and `Limit` as for [`validate()`].
pub fn check_schema(uri: &str, schemas: &Schemas) -> Result<Report> {
    let mut resources = Resources::new(schemas);
    let document = resources.load(uri)?.and_then(|index| resources.document(index));
    let Some(document) = document else { return Err(Error::usage(format!("unknown schema {uri}"))) };
    let meta = document
        .root()
        .get("$schema")
        .map_or(METASCHEMA, |named| named.text())
        .trim_end_matches('#')
        .to_owned();
    let mut validator =
        Validator::new(CompiledSchemas::new(resources), WorkLimit::new(Options::default().max_steps));
    // Here `$ref` is a keyword, not a reference to a value elsewhere.
    validator.skips_references = false;
    let Some(schema) = validator.find(&meta)? else {
        return Err(Error::usage(format!("unknown metaschema {meta}")));
    };
    let mut report = Report { complete: true, ..Report::default() };
    validator.validate("", document.root(), schema, &mut report.violations)?;
    Ok(report)
}

/// An example of a schema.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Example {
    /// Description of the example.
    pub description: String,
    /// The version of the standard that it is written for, if it names one (`asdf-standard-1.6.0`).
    pub standard: Option<Version>,
    /// The YAML, without directives: tags are short for those of `tag:stsci.edu:asdf/`.
    pub text: String,
}

/// The examples of a schema, in order. `uri` is a result of [`Schemas::add`], or one of the standard's; empty for an unknown one.
///
/// # Errors
/// Those of reading the schema.
pub fn examples(uri: &str, schemas: &Schemas) -> Result<Vec<Example>> {
    let mut resources = Resources::new(schemas);
    let document = resources.load(uri)?.and_then(|index| resources.document(index));
    let Some(document) = document else { return Ok(Vec::new()) };
    let Some(list) = document.root().get("examples").filter(|list| list.kind() == Kind::Sequence) else {
        return Ok(Vec::new());
    };
    let mut all = Vec::new();
    for example in list.items() {
        let parts: Vec<_> =
            example.items().filter(|part| part.kind() == Kind::Scalar).map(Node::text).collect();
        if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
            let standard = parts.iter().find_map(|part| Version::parse(part.strip_prefix("asdf-standard-")?));
            all.push(Example { description: (*first).to_owned(), standard, text: (*last).to_owned() });
        }
    }
    Ok(all)
}

impl Example {
    /// Validates the example against the schemas of its tags only.
    ///
    /// # Errors
    /// Those of [`Document::parse`] and [`validate()`].
    pub fn validate(&self, schemas: &Schemas) -> Result<Report> {
        let text = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n{}\n...\n", self.text);
        let document = parse_tree(text.as_bytes(), 0, &YamlLimits::default())?;
        validate(&document, &Options::default().standard(self.standard).with(schemas, None))
    }
}

/// Number of steps that are left.
#[derive(Clone, Copy, Debug)]
struct WorkLimit {
    allowed: u64,
    left: u64,
}

impl WorkLimit {
    const fn new(allowed: u64) -> Self {
        Self { allowed, left: allowed }
    }

    /// Takes `steps`: one for each check of a value, one for each item visited.
    fn spend(&mut self, steps: u64) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::limit("steps of validation", self.allowed.saturating_add(1), self.allowed)
                .with_hint(
                    "a schema or tree that multiplies itself is refused; for a large tree allow more steps",
                )),
        }
    }
}

#[cfg(test)]
mod tests;
