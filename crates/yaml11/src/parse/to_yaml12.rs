//! Rewrites YAML 1.1 text as YAML 1.2 for the parser library. The length stays the same, so byte offsets are equal in both texts.
//!
//! Changed scalars get their values from the original text.

use std::borrow::Cow;
use std::ops::Range;

use super::spans;

/// The text for the parser library.
pub(crate) struct Yaml12Text<'t> {
    pub(crate) text: Cow<'t, str>,
    /// Offsets of the changed characters, in their order.
    changed: Vec<usize>,
}

impl<'t> Yaml12Text<'t> {
    /// Replaces three characters that end lines in YAML 1.1 but not in 1.2 (section 5.4 of either) by blanks and CR LF of the same length.
    pub(crate) fn replace_line_breaks(text: &'t str) -> Self {
        let changed: Vec<usize> = spans::yaml11_breaks(text).map(|(at, _)| at).collect();
        if changed.is_empty() {
            return Self { text: text.into(), changed };
        }
        let mut yaml12 = String::with_capacity(text.len());
        let mut from = 0;
        for (at, character) in spans::yaml11_breaks(text) {
            yaml12.push_str(text.get(from..at).unwrap_or_default());
            yaml12.push_str(if character == '\u{85}' { "\r\n" } else { " \r\n" });
            from = at.saturating_add(character.len_utf8());
        }
        yaml12.push_str(text.get(from..).unwrap_or_default());
        Self { text: yaml12.into(), changed }
    }

    /// In flow collections, libyaml takes a dash for plain text where the item ends after it, but YAML 1.2 has no such text. This puts a letter in
    /// its place. `None` without such a dash.
    pub(crate) fn replace_dashes(self) -> Option<Self> {
        let bytes = self.text.as_bytes();
        let is_text = |at: &usize| {
            let before = at.checked_sub(1).and_then(|at| bytes.get(at)).copied().unwrap_or(b' ');
            let after = bytes.get(at.saturating_add(1)).copied().unwrap_or_default();
            matches!(before, b' ' | b'\t' | b'\r' | b'\n' | b'[' | b'{' | b',' | b':')
                && matches!(after, b',' | b']' | b'}')
                && !self.is_directive(*at)
        };
        let found: Vec<usize> = memchr::memchr_iter(b'-', bytes).filter(is_text).collect();
        if found.is_empty() {
            return None;
        }
        let mut yaml12 = String::with_capacity(bytes.len());
        let mut from = 0;
        for at in &found {
            yaml12.push_str(self.text.get(from..*at).unwrap_or_default());
            yaml12.push('x');
            from = at.saturating_add(1);
        }
        yaml12.push_str(self.text.get(from..).unwrap_or_default());
        let mut changed = self.changed;
        changed.extend(found);
        changed.sort_unstable();
        Some(Self { text: yaml12.into(), changed })
    }

    fn is_directive(&self, at: usize) -> bool {
        let before = self.text.get(..at).unwrap_or_default();
        let line = before.rfind('\n').map_or(0, |at| at.saturating_add(1));
        before.get(line..).is_some_and(|line| line.starts_with('%'))
    }

    /// Whether something was changed in a range.
    pub(crate) fn is_changed(&self, range: &Range<usize>) -> bool {
        let first = self.changed.partition_point(|at| *at < range.start);
        self.changed.get(first).is_some_and(|at| *at < range.end)
    }
}
