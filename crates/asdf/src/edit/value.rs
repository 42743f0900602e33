//! Values as people type them.

use container_core::{Error, Result};

use crate::yaml::{Document, Yaml, YamlLimits};

/// As [`super::parse_value`].
pub(super) fn parse(text: &str) -> Result<Yaml> {
    // Indented, so that nothing in the first line is a directive or the end of the document.
    let document = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n {text}\n");
    // Ranges would be those of this text, which is nowhere.
    let without_place = |error: Error| Error::new(error.into_kind()).context("the value");
    let document = Document::parse(document.as_bytes(), 0, &YamlLimits::default()).map_err(without_place)?;
    Yaml::of(document.root()).map_err(without_place)
}
