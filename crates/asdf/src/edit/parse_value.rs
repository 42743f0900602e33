//! Parses values from the command line.

use container_core::{Error, Result};

use crate::yaml::{Document, Yaml, YamlLimits};

/// As [`super::parse_value()`].
pub(super) fn parse(text: &str) -> Result<Yaml> {
    Yaml::from_node(document(text)?.root()).map_err(typed)
}

/// The document of a value that was typed.
pub(super) fn document(text: &str) -> Result<Document> {
    // Indented, so that the first line cannot be a directive or the end of the document.
    let document = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n {text}\n");
    Document::parse(document.as_bytes(), 0, &YamlLimits::default()).map_err(typed)
}

/// Turns the error into one about the typed text instead of a damaged file. Lines and bytes are left out, since they refer to the wrapped text.
fn typed(error: Error) -> Error {
    if !error.is_damage() {
        return Error::new(error.into_kind());
    }
    let message = error.kind().to_string();
    let placed = message.split_once(": ").filter(|(place, _)| place.starts_with("no YAML at line "));
    Error::usage(placed.map_or_else(|| message.clone(), |(_, why)| format!("no YAML: {why}")))
}
