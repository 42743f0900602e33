//! Flow collections, nested or not, on one line or several.

use super::FastParser;
use super::properties::ParsedProperties;
use crate::Collection;
use crate::parse::arena::Shape;

impl FastParser<'_> {
    /// The flow collection that begins here, to its end. Each turn of the loop takes one token, without recursion; `before` has the properties of the
    /// next node.
    pub(super) fn flow(&mut self, before: ParsedProperties) -> Option<()> {
        // For each open collection, whether it is a mapping.
        let mut open: Vec<bool> = Vec::new();
        let mut before = before;
        loop {
            let byte = self.byte(self.at)?;
            match byte {
                b'[' | b'{' => {
                    self.open_flow(byte == b'{', std::mem::take(&mut before))?;
                    open.push(byte == b'{');
                }
                b']' | b'}' if before.is_empty() => {
                    // Empty, or a comma before the end.
                    if *open.last()? != (byte == b'}') {
                        return None;
                    }
                    if self.close_flow(&mut open)? {
                        return Some(());
                    }
                }
                b'!' | b'&' => {
                    before = self.properties(before)?;
                    self.skip_lines()?;
                    continue;
                }
                b'*' if before.is_empty() => {
                    self.alias(true)?;
                    if self.after_item(&mut open)? {
                        return Some(());
                    }
                }
                _ => {
                    let scalar = self.scalar(true)?;
                    let scalar = self.goes_on(scalar, true)?;
                    self.push(scalar, std::mem::take(&mut before))?;
                    if self.after_item(&mut open)? {
                        return Some(());
                    }
                }
            }
            self.skip_lines()?;
            // The key of the next pair, up to where its value begins.
            if open.last() == Some(&true) && self.byte(self.at)? != b'}' {
                let start = self.at;
                let scalar = self.scalar(true)?;
                let is_long = scalar.is_long;
                self.push(scalar, ParsedProperties::default())?;
                self.skip_spaces();
                let colon = self.at.saturating_add(1);
                if self.byte(self.at) != Some(b':')
                    || is_long
                    || !self.is_blank(colon)
                    || colon.saturating_sub(start) > 1000
                {
                    return None;
                }
                self.at = colon;
                self.skip_lines()?;
                if matches!(self.byte(self.at)?, b'}' | b']' | b',') {
                    return None;
                }
            }
        }
    }

    fn open_flow(&mut self, is_mapping: bool, before: ParsedProperties) -> Option<()> {
        let style = Collection::Flow;
        let shape = if is_mapping { Shape::Mapping(style) } else { Shape::Sequence(style) };
        self.builder.open(shape, before.head(self.at), self.at, before.tag).ok()?;
        self.anchor(before)?;
        self.at = self.at.saturating_add(1);
        Some(())
    }

    /// Takes the closing mark, and the text after the collection as that after an item of the one around it; true after the outermost.
    fn close_flow(&mut self, open: &mut Vec<bool>) -> Option<bool> {
        self.at = self.at.saturating_add(1);
        self.builder.close(Some(self.at));
        open.pop();
        if open.is_empty() { Some(true) } else { self.after_item(open) }
    }

    /// Takes the comma after an item, or the closing marks there; true after the outermost.
    fn after_item(&mut self, open: &mut Vec<bool>) -> Option<bool> {
        loop {
            self.skip_lines()?;
            match (self.byte(self.at)?, open.last()?) {
                (b',', _) => {
                    self.at = self.at.saturating_add(1);
                    return Some(false);
                }
                (b']', false) | (b'}', true) => {
                    self.at = self.at.saturating_add(1);
                    self.builder.close(Some(self.at));
                    open.pop();
                    if open.is_empty() {
                        return Some(true);
                    }
                }
                // Plain text that continues, a pair in a sequence, an error.
                _ => return None,
            }
        }
    }

    /// Passes over blanks, ends of lines and comments; possible marks of the document are left to the library.
    fn skip_lines(&mut self) -> Option<()> {
        loop {
            match self.byte(self.at)? {
                b' ' => self.at = self.at.saturating_add(1),
                b'\n' => {
                    self.at = self.at.saturating_add(1);
                    if matches!(self.byte(self.at)?, b'-' | b'.' | b'%') {
                        return None;
                    }
                }
                b'#' => {
                    // Without a blank before it, not all readers take `#` for a comment.
                    let before = self.at.checked_sub(1).and_then(|at| self.byte(at));
                    if !matches!(before, Some(b' ' | b'\n')) {
                        return None;
                    }
                    let rest = self.bytes.get(self.at..)?;
                    self.at = self.at.saturating_add(memchr::memchr(b'\n', rest)?);
                }
                _ => return Some(()),
            }
        }
    }
}
