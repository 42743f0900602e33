//! ASDF-specific access for the façade: YAML tags, the tree as text, and edits by JSON pointer. Used by programs that open every format through
//! `Container`.

use std::collections::HashMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use container_core::container::{MetadataText, ReadOptions};
use container_core::format::{MetaChange, MetadataChanges};
use container_core::report::{Finding, Severity};
use container_core::{Error, Limits, Result};

use crate::edit::{parse_value, push_typed, set_typed};
use crate::file::external;
use crate::interchange::metadata::value;
use crate::schema::{self, NoteKind, Options, Schemas};
use crate::tree::emit_options;
use crate::update::{UpdateOptions, Updater};
use crate::yaml::{Document, Yaml, emit_document};
use crate::{File, Version, checksum_status, to_yaml};

impl MetadataText for File {
    fn tags(&self) -> Result<HashMap<String, String>> {
        value::tags(self.tree().root(), &Limits::default())
    }

    fn logical_tags(&self) -> Result<HashMap<String, String>> {
        value::logical_tags(self.tree().root(), &Limits::default())
    }

    /// A YAML 1.1 document that PyYAML reads as the same values; for the empty pointer the text of the tree as it is in the file.
    fn node_text(&self, pointer: &str) -> Result<Option<String>> {
        if self.unread_tree().is_some() {
            // Its text can still be shown, with replacement characters for invalid UTF-8.
            let Some(range) = self.front().tree.clone().filter(|_| pointer.is_empty()) else {
                return self.require_tree().map(|()| None);
            };
            self.options().limits.allocate(range.end.saturating_sub(range.start))?;
            return Ok(Some(String::from_utf8_lossy(&self.source().read(range)?).into_owned()));
        }
        if pointer.is_empty() {
            return Ok(Some(self.tree().document().text().to_owned()));
        }
        let node = if pointer.starts_with('/') { self.tree().find(pointer) } else { None };
        node.map(|node| emit_document(&Yaml::from_node(node)?, &emit_options())).transpose()
    }

    fn whole_text(&self, options: &ReadOptions) -> Result<Vec<u8>> {
        to_yaml(self, options)
    }

    fn validate(&self, custom: Option<(&[u8], &str)>) -> Result<Vec<Finding>> {
        validate_tree(self.tree().document(), self.front().header.standard_or_first(), custom)
    }
}

/// The paths of the other files that the file at `path` consists of: those that its arrays and references name, and those that these name. Absent
/// files are left out, damaged ones are not.
#[must_use]
pub fn other_files(file: &File, path: &Path) -> Vec<PathBuf> {
    external::external_paths(file, Some(path)).into_iter().collect()
}

/// Changes the tree of the file at `path` in place, in the order of `changes`, all or none. Every other byte of the tree stays, and no block is read.
/// Returns notes on tags that go, and on values that YAML 1.1 reads as another type than they seem to have.
///
/// # Errors
/// `Usage` for a pointer without a target, or an edit that would change anything else, for a mapping or an array that would go unless it is
/// permitted, and for a value that is not YAML; those of opening the file; `Io`.
pub fn change_metadata(path: &Path, changes: &MetadataChanges<'_>) -> Result<Vec<String>> {
    let mut options = UpdateOptions::default();
    (options.limits, options.durability) = (changes.open.limits, changes.durability);
    let mut notes = Vec::new();
    let mut updater = Updater::open(path, options)?;
    for change in changes.list {
        match change {
            MetaChange::Set { pointer, value } => {
                parse_value(value).map_err(|error| error.with_context(format!("the value for {pointer}")))?;
                require_pointer(pointer)?;
                let editor = updater.editor();
                notes.extend(match pointer.strip_suffix("/-") {
                    Some(list) => push_typed(editor, list, value)?,
                    None => set_typed(editor, pointer, value, changes.replace)?,
                });
            }
            MetaChange::Unset { pointer } => {
                require_pointer(pointer)?;
                updater.remove(pointer)?;
            }
        }
    }
    updater.commit().map(|_| notes)
}

/// Makes sure that a text is a JSON pointer to a part of a tree: `/key/0`.
///
/// # Errors
/// `Usage` for another text, and for the empty pointer, which is the whole.
pub fn require_pointer(pointer: &str) -> Result<()> {
    let is_escaped = pointer.split('~').skip(1).all(|rest| rest.starts_with(['0', '1']));
    if pointer.starts_with('/') && is_escaped {
        return Ok(());
    }
    let hint = if is_escaped { "/key/0" } else { "~0 for a tilde, ~1 for a slash within a key" };
    Err(Error::usage(format!("{pointer:?} is not a JSON pointer to a part of the tree")).with_hint(hint))
}

/// Validates a tree, in a file of a version of the standard, against the schemas of its tags, and its root against a schema of the caller's, given by
/// its text and name. Violations are errors with the code `schema`, since the check was asked for.
///
/// # Errors
/// `Malformed` for an invalid schema of the caller's, with its name as part; `Limit`.
pub fn validate_tree(
    document: &Document,
    standard: Version,
    custom: Option<(&[u8], &str)>,
) -> Result<Vec<Finding>> {
    let mut schemas = Schemas::new();
    let custom = custom.map(|(text, name)| schemas.add(text, name)).transpose()?;
    let options = Options::default().standard(Some(standard)).with(&schemas, custom.as_deref());
    let report = schema::validate(document, &options)?;
    let at = |range: Range<usize>| {
        let place = |at: usize| document.base().saturating_add(at as u64);
        place(range.start)..place(range.end)
    };
    let path = |path: String| if path.is_empty() { "the tree".to_owned() } else { path };
    let mut findings = Vec::new();
    for violation in report.violations {
        let message = format!(
            "{} {} ({}#{})",
            path(violation.path),
            violation.message,
            violation.schema,
            violation.pointer
        );
        findings.push(Finding::new(Severity::Error, "schema", message).at(at(violation.range)));
    }
    for note in report.notes {
        let (severity, code) = match note.kind {
            NoteKind::UnknownTag => (Severity::Note, "unknown_tag"),
            NoteKind::OtherStandard => (Severity::Note, "other_standard"),
            NoteKind::LargeInteger => (Severity::Warning, "large_integer"),
            NoteKind::Key => (Severity::Warning, "key_type"),
            NoteKind::MissingSchema => (Severity::Warning, "missing_schema"),
        };
        let more = if note.count > 1 { format!(" ({} values)", note.count) } else { String::new() };
        let message = format!("{}: {}{more}", path(note.path), note.message);
        findings.push(Finding::new(severity, code, message).at(at(note.range)));
    }
    if !report.complete {
        let message = "more violations of a schema, which are not listed".to_owned();
        findings.push(Finding::new(Severity::Error, "schema", message));
    }
    Ok(findings)
}

/// Compares the digests of all blocks with their bytes, those of decoded data as well.
///
/// # Errors
/// `Checksum` for the first that matches neither; those of the source.
pub fn check_digests(file: &File, options: &ReadOptions) -> Result<()> {
    let codecs = &file.options().codecs;
    for block in file.blocks().iter().filter(|block| block.is_whole()) {
        let state = checksum_status(file.source(), block, codecs, &options.limits, options.threads)?;
        state.into_result(block)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests;
