//! Tree edits that preserve all unrelated bytes of the YAML text: those of [`yaml11::edit`], and edits by values as people type them.

mod parse_value;
mod typed;

use container_core::Result;

use crate::yaml::Yaml;

pub use typed::{Replace, push_typed, set_typed, under_own_tag};
pub use yaml11::edit::{TreeEditor, renumber_sources};

/// Parses the text of a YAML 1.1 value, as in `meta --set PATH=VALUE`: `[1, two, !unit/unit-1.0.0 m]`. `!core/…` and `!unit/…` are short for tags of
/// the ASDF standard. An empty text is null.
///
/// # Errors
/// `Usage` for text that is not YAML; `Limit`.
pub fn parse_value(text: &str) -> Result<Yaml> {
    parse_value::parse(text)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
