//! Tree edits that preserve all unrelated bytes of the YAML text.
//!
//! [`TreeEditor`] splices text: comments, blank lines, key order, quotes, the spelling of numbers, block and flow style, tags and anchors stay as
//! they are. The result is parsed again and compared, node by node, with the tree before; if anything but the named place differs, the edit is
//! refused and the text stays as it was.

use std::ops::Range;

use container_core::{Error, ErrorKind, Result};

use crate::{Document, Yaml};

mod block_style;
mod flow_style;
mod operations;
mod plan;
mod replace_scalars;
mod spans;
mod text;
mod verify;

use plan::{Plan, Splice};
pub use replace_scalars::replace_scalars;
#[cfg(test)]
pub(crate) use verify::is_value as holds_value;

/// A tree under edit. Each edit costs O(text).
///
/// Paths are those of [`Document::find`]: keys and indices with slashes between, `~1` and `~0` for slash and tilde. A path through an alias edits the
/// anchored node, so that every alias of it shows the edit.
///
/// Comments: one at the end of a line stays when the value on that line is set; a line of its own stays when a neighbour is removed. Comments within
/// a value go with it.
#[derive(Clone, Debug)]
pub struct TreeEditor {
    document: Document,
    /// Bytes at the beginning and at the end that were never touched; `None` before the first edit.
    kept: Option<(usize, usize)>,
}

impl TreeEditor {
    /// An editor of a document.
    #[must_use]
    pub const fn new(document: Document) -> Self {
        Self { document, kept: None }
    }

    /// Replaces the value at a path, or adds the last key of it to the mapping that the rest of it names. A key that a mapping has from another by
    /// `<<` is added to the mapping itself. `-` as the last step is the place after the last item of a sequence. The empty path is the root.
    ///
    /// An alias at the path is replaced itself; the anchored node stays. Anchors in `value` get other names where the document has theirs.
    ///
    /// # Errors
    /// `Usage` where there is no such place, where other places name what would go by an alias, where the text around has no room for the edit, or
    /// where the edit would change anything else; `Limit` as [`Document::parse`].
    pub fn set(&mut self, path: &str, value: &Yaml) -> Result<()> {
        self.put(path, value, |document, value| operations::set(document, path, value))
    }

    /// Puts an item into the sequence at a path, before the one at `index`, or after the last where `index` is their number.
    ///
    /// # Errors
    /// As [`TreeEditor::set`]; `Usage` too where there is no sequence, or `index` is more than the number of its items.
    pub fn insert(&mut self, path: &str, index: usize, value: &Yaml) -> Result<()> {
        self.put(path, value, |document, value| operations::insert(document, path, Some(index), value))
    }

    /// Puts an item after the last of the sequence at a path.
    ///
    /// # Errors
    /// As [`TreeEditor::insert`].
    pub fn push(&mut self, path: &str, value: &Yaml) -> Result<()> {
        self.put(path, value, |document, value| operations::insert(document, path, None, value))
    }

    /// Removes the key or item at a path, with the comments in its lines. All pairs of a duplicate key are removed. A collection that becomes empty
    /// is `{}` or `[]`.
    ///
    /// # Errors
    /// As [`TreeEditor::set`]; `Usage` for the root, and for keys that come from another mapping by `<<`.
    pub fn remove(&mut self, path: &str) -> Result<()> {
        let narrow = operations::remove(&self.document, path, false)?;
        if self.apply(narrow, path).is_ok() {
            return Ok(());
        }
        let wide = operations::remove(&self.document, path, true)?;
        self.apply(wide, path)
    }

    /// Renames the last key of a path.
    ///
    /// # Errors
    /// As [`TreeEditor::remove`]; `Usage` too where the mapping has the new key, or the old one twice.
    pub fn rename(&mut self, path: &str, key: &str) -> Result<()> {
        let plan = plan::rename(&self.document, path, key)?;
        self.apply(plan, path)
    }

    /// Replaces the values at several paths at once, in the time of one edit. All of them must be there. No place may be within another.
    ///
    /// # Errors
    /// As [`TreeEditor::set`]. The text is unchanged then.
    pub fn set_all<'y>(&mut self, values: impl IntoIterator<Item = (&'y str, &'y Yaml)>) -> Result<()> {
        let plan = operations::set_all(&self.document, values)?;
        self.apply(plan, "")
    }

    /// The text as it is now.
    #[must_use]
    pub fn text(&self) -> &str {
        self.document.text()
    }

    /// The document as it is now.
    #[must_use]
    pub const fn document(&self) -> &Document {
        &self.document
    }

    /// The document as it is now.
    #[must_use]
    pub fn into_document(self) -> Document {
        self.document
    }

    /// The bytes of [`TreeEditor::text`] within which it differs from the text before the first edit; all before and all after are as they
    /// were. Empty, at the end, before any edit.
    #[must_use]
    pub fn changed(&self) -> Range<usize> {
        let len = self.text().len();
        self.kept.map_or(len..len, |(before, after)| {
            before.min(len)..len.saturating_sub(after).max(before.min(len))
        })
    }

    /// Makes an edit with a value.
    fn put(
        &mut self,
        path: &str,
        value: &Yaml,
        plan: impl for<'y> Fn(&Document, &'y Yaml) -> Result<Plan<'y>>,
    ) -> Result<()> {
        let first = plan(&self.document, value)?;
        let Err(error) = self.apply(first, path) else { return Ok(()) };
        // Literal text would take an indented comment after it for a line of its own.
        let quoted = text::quoted(value).filter(|_| matches!(error.kind(), ErrorKind::Usage(_)));
        let Some(quoted) = quoted else { return Err(error) };
        let second = plan(&self.document, &quoted)?;
        self.apply(second, path)
    }

    /// Splices, reads again, proves.
    fn apply(&mut self, mut plan: Plan<'_>, path: &str) -> Result<()> {
        let text = self.document.text();
        plan.splices.sort_by_key(|splice| (splice.range.start, splice.range.end));
        let refused = || {
            let message = format!("the edit of {path:?} would change other values, and was not made");
            Error::usage(message).with_hint("set the whole mapping or sequence that contains it")
        };
        let mut new = String::with_capacity(text.len());
        let mut at = 0;
        for Splice { range, text: inserted } in &plan.splices {
            new.push_str(text.get(at..range.start).ok_or_else(refused)?);
            new.push_str(inserted);
            at = range.end;
        }
        new.push_str(text.get(at..).ok_or_else(refused)?);
        let mut verified = self.verified_document(&new, &plan)?;
        let is_at_end = plan.splices.last().is_some_and(|splice| splice.range.end == text.len());
        if verified.is_none() && is_at_end && !new.ends_with('\n') {
            // Literal text has its last line break only if there is one.
            new.push_str(spans::newline(text));
            verified = self.verified_document(&new, &plan)?;
        }
        let document = verified.ok_or_else(refused)?;
        let first = plan.splices.first().map_or(text.len(), |splice| splice.range.start);
        let last = plan.splices.last().map_or(text.len(), |splice| splice.range.end);
        let (before, after) = self.kept.unwrap_or((usize::MAX, usize::MAX));
        self.kept = Some((before.min(first), after.min(text.len().saturating_sub(last))));
        self.document = document;
        Ok(())
    }

    /// The document of a text, if it matches the plan.
    fn verified_document(&self, text: &str, plan: &Plan<'_>) -> Result<Option<Document>> {
        match Document::parse_from(self.document.origin(), text.as_bytes(), self.document.limits()) {
            Ok(document) => Ok(verify::holds(&self.document, &document, &plan.outcomes).then_some(document)),
            Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// Whether values at several paths can be set at once.
#[cfg(test)]
pub(crate) fn can_set<'y>(
    document: &Document,
    values: impl IntoIterator<Item = (&'y str, &'y Yaml)>,
) -> bool {
    operations::set_all(document, values).is_ok()
}

#[cfg(test)]
mod tests;
