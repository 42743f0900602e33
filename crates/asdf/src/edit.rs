//! Tree edits that preserve all unrelated bytes of the YAML text: those of [`yaml11::edit`], and edits by values as people type them.

mod typed;

use container_core::{Error, Result};

use crate::TAG_PREFIX;
use crate::yaml::{Document, Yaml, YamlLimits};

pub use typed::{Replace, push_typed, set_typed, under_own_tag};
pub use yaml11::edit::{TreeEditor, replace_scalars};

/// Parses the text of a YAML 1.1 value, as in `meta --set PATH=VALUE`: `[1, two, !unit/unit-1.0.0 m]`. `!core/…` and `!unit/…` are short for tags of
/// the ASDF standard. An empty text is null.
///
/// # Errors
/// `Usage` for text that is not YAML; `Limit`.
pub fn parse_value(text: &str) -> Result<Yaml> {
    Yaml::from_node(typed_document(text)?.root()).map_err(of_typed_text)
}

/// The document of a value that was typed.
fn typed_document(text: &str) -> Result<Document> {
    // Indented, so that the first line cannot be a directive or the end of the document.
    let document = format!("%YAML 1.1\n%TAG ! {TAG_PREFIX}\n---\n {text}\n");
    Document::parse(document.as_bytes(), 0, &YamlLimits::default()).map_err(of_typed_text)
}

/// Turns the error into one about the typed text instead of a damaged file. Lines and bytes are left out, since they refer to the wrapped text.
fn of_typed_text(error: Error) -> Error {
    if !error.is_damage() {
        return Error::new(error.into_kind());
    }
    let message = error.kind().to_string();
    let placed = message.split_once(": ").filter(|(place, _)| place.starts_with("no YAML at line "));
    Error::usage(placed.map_or_else(|| message.clone(), |(_, why)| format!("no YAML: {why}")))
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
