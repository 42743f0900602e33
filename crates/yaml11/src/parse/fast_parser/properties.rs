//! Node properties (tags and anchors), and aliases.

use std::collections::HashMap;
use std::ops::Range;

use super::FastParser;

/// Properties of a node: its tag and anchor.
#[derive(Clone, Copy, Default)]
pub(super) struct ParsedProperties {
    /// The number of the tag, or 0.
    pub(super) tag: u32,
    /// The bytes of the anchor with its mark, or 0 and 0.
    anchor: (usize, usize),
    /// The first byte, where there is any.
    start: usize,
    /// End of the last one, or 0.
    pub(super) end: usize,
}

impl ParsedProperties {
    pub(super) const fn is_empty(self) -> bool {
        self.end == 0
    }

    /// Returns the first byte of a node whose content begins at `start`.
    pub(super) const fn head(self, start: usize) -> usize {
        if self.end == 0 { start } else { self.start }
    }
}

/// The `%TAG` lines.
#[derive(Default)]
pub(super) struct Tags<'t> {
    /// Prefix of each handle.
    handles: HashMap<&'t str, &'t str>,
    buffer: String,
}

/// The characters of tags whose end and spelling all versions of YAML agree on.
fn is_tag_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(byte, b'-' | b'_' | b'.' | b'/' | b':' | b'+' | b'~' | b'@' | b'=' | b'*')
}

impl<'t> Tags<'t> {
    /// Takes `%TAG handle prefix`.
    pub(super) fn directive(&mut self, line: &'t str) -> Option<()> {
        let (handle, prefix) = line.strip_prefix("%TAG ")?.split_once(' ')?;
        let name = handle.strip_prefix('!')?;
        let name = if name.is_empty() { name } else { name.strip_suffix('!')? };
        let known = self.handles.contains_key(handle);
        let plain = name.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if known
            || !plain
            || prefix.is_empty()
            || !prefix.starts_with(|first: char| first.is_ascii_alphanumeric())
            || !prefix.bytes().all(|byte| is_tag_byte(byte) || byte == b',')
        {
            return None;
        }
        self.handles.insert(handle, prefix);
        Some(())
    }

    fn whole(&mut self, handle: &str, suffix: &str) -> Option<&str> {
        let prefix = match (self.handles.get(handle), handle) {
            (Some(prefix), _) => prefix,
            (None, "!") => "!",
            (None, "!!") => "tag:yaml.org,2002:",
            _ => return None,
        };
        self.buffer.clear();
        self.buffer.push_str(prefix);
        self.buffer.push_str(suffix);
        Some(&self.buffer)
    }
}

impl FastParser<'_> {
    /// The number of the tag that begins here.
    fn tag(&mut self) -> Option<u32> {
        let start = self.at;
        let rest = self.bytes.get(start..)?;
        let len =
            rest.iter().position(|byte| !is_tag_byte(*byte) && !matches!(byte, b'!' | b'<' | b'>' | b','))?;
        let text = self.text.get(start..start.saturating_add(len))?;
        let id = if let Some(whole) = text.strip_prefix("!<").and_then(|text| text.strip_suffix('>')) {
            if whole.is_empty() || !whole.bytes().all(|byte| is_tag_byte(byte) || byte == b',') {
                return None;
            }
            self.builder.tag(whole)
        } else {
            let handle = text.rfind('!')?.saturating_add(1);
            let (handle, suffix) = text.split_at_checked(handle)?;
            if suffix.is_empty() || !suffix.bytes().all(is_tag_byte) {
                return None;
            }
            self.builder.tag(self.tags.whole(handle, suffix)?)
        };
        self.at = start.saturating_add(len);
        matches!(self.byte(self.at), Some(b' ' | b'\n')).then_some(id)
    }

    /// The name after `&` or `*`, of the letters that all versions of YAML agree on; returns its bytes with the mark.
    fn name(&mut self) -> Option<Range<usize>> {
        let start = self.at;
        let name = self.bytes.get(start.saturating_add(1)..)?;
        let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
        let len = name.iter().position(|byte| !is_letter(byte)).unwrap_or(name.len());
        self.at = start.saturating_add(1).saturating_add(len);
        (len > 0).then_some(start..self.at)
    }

    /// The tag and the anchor that begin here, in either order, added to those on lines before.
    pub(super) fn properties(&mut self, before: ParsedProperties) -> Option<ParsedProperties> {
        let mut all = before;
        loop {
            let start = self.at;
            match self.byte(start) {
                Some(b'!') if all.tag == 0 => all.tag = self.tag()?,
                Some(b'&') if all.anchor == (0, 0) => {
                    let name = self.name()?;
                    if !matches!(self.byte(self.at), Some(b' ' | b'\n')) {
                        return None;
                    }
                    all.anchor = (name.start, name.end);
                }
                Some(b'!' | b'&') => return None,
                _ => return Some(all),
            }
            if all.end == 0 {
                all.start = start;
            }
            all.end = self.at;
            let end = self.at;
            self.skip_spaces();
            if !matches!(self.byte(self.at), Some(b'!' | b'&')) {
                self.at = end;
                return Some(all);
            }
        }
    }

    /// Gives the node that was read last its anchor.
    pub(super) fn anchor(&mut self, before: ParsedProperties) -> Option<()> {
        let (start, end) = before.anchor;
        if end > 0 { self.builder.anchor(start..end).ok() } else { Some(()) }
    }

    /// The alias that begins here, for which there is an end of the line to come, or in flow collections that of the item.
    pub(super) fn alias(&mut self, in_flow: bool) -> Option<()> {
        let range = self.name()?;
        match self.byte(self.at) {
            None | Some(b' ' | b'\n') => {}
            Some(b',' | b']' | b'}') if in_flow => {}
            _ => return None,
        }
        self.builder.alias(range).ok()
    }
}
