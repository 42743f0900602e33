//! The examples that schemas carry: a sentence, perhaps a version of the standard, and a piece of a tree.

use container_core::Result;

use super::{Options, Report, Schemas, resource, validate};
use crate::header::Version;
use crate::tree::parse_tree;
use crate::yaml::{Kind, Node, YamlLimits};

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
    let mut resources = resource::Resources::new(schemas);
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
