//! Scalars: the choice of a style, and the lines of each style.

use std::fmt::Write as _;

use container_core::Result;

use super::quote::{Styles, is_misread, is_printable};
use super::{Emitter, NodeContext, NodePosition, scalar_text, tag};
use crate::{Int, ScalarStyle, Yaml};

/// Base64 characters of `!!binary` in a line (RFC 2045).
const BASE64_LINE: usize = 76;

impl Emitter<'_> {
    pub(super) fn scalar(&mut self, value: &Yaml, tag: Option<&str>, context: NodeContext) -> Result<()> {
        let text = match value {
            Yaml::Text(text, style) => return self.text(text, *style, tag, context),
            Yaml::Binary(bytes) => return self.binary(bytes, tag, context),
            Yaml::Bool(value) => value.to_string(),
            Yaml::Int(Int::Small(value)) => {
                return self.number(tag, |out| match i64::try_from(*value) {
                    // The formatter of wider numbers takes several times as long.
                    Ok(value) => _ = write!(out, "{value}"),
                    Err(_) => _ = write!(out, "{value}"),
                });
            }
            Yaml::Float(value) => return self.number(tag, |out| scalar_text::push_float(*value, out)),
            Yaml::Int(value) => scalar_text::int(value)?,
            Yaml::Timestamp(value) => scalar_text::timestamp(value)?,
            _ => "null".to_owned(),
        };
        self.tag(tag)?;
        self.token(&text);
        Ok(())
    }

    /// Writes a number; it is ASCII, so each byte is one column.
    fn number(&mut self, tag: Option<&str>, push: impl FnOnce(&mut String)) -> Result<()> {
        self.tag(tag)?;
        self.token("");
        let start = self.out.len();
        push(&mut self.out);
        self.column = self.column.saturating_add(self.out.len().saturating_sub(start));
        Ok(())
    }

    fn text(
        &mut self,
        text: &str,
        wish: Option<ScalarStyle>,
        tag: Option<&str>,
        context: NodeContext,
    ) -> Result<()> {
        let own = tag.and_then(|tag| tag.strip_prefix(tag::YAML_TAG_PREFIX));
        // Without quotes these already have their meaning, and readers do not support the tags.
        if matches!((own, text), (Some("merge"), "<<") | (Some("value"), "=")) {
            self.token(text);
            return Ok(());
        }
        // Under a foreign tag every scalar is text. `!!str` has the same effect, and so have quotes alone.
        let is_text = tag.is_some_and(|tag| tag != "!") && own.is_none_or(|own| own != "str");
        let tag = tag.filter(|tag| own != Some("str") && *tag != "!");
        self.tag(tag)?;
        let style = style(text, wish, is_text, context);
        let breaks = context.place != NodePosition::SimpleKey;
        match style {
            ScalarStyle::Plain => self.unquoted(text, context, breaks),
            ScalarStyle::SingleQuoted => self.single_quoted(text, context, breaks),
            ScalarStyle::DoubleQuoted => self.double_quoted(text, context, breaks),
            ScalarStyle::Literal => self.literal(text, context),
            ScalarStyle::Folded => self.folded(text, context),
        }
        Ok(())
    }

    fn binary(&mut self, bytes: &[u8], tag: Option<&str>, context: NodeContext) -> Result<()> {
        let own = format!("{}binary", tag::YAML_TAG_PREFIX);
        self.tag(Some(tag.unwrap_or(&own)))?;
        let text = scalar_text::base64(bytes);
        if text.is_empty() || context.flow || context.place == NodePosition::SimpleKey {
            self.double_quoted(&text, context, false);
            return Ok(());
        }
        let mut lines = String::new();
        let mut rest = text.as_str();
        while let Some((line, after)) =
            rest.split_at_checked(rest.len().min(BASE64_LINE)).filter(|(line, _)| !line.is_empty())
        {
            lines.push_str(line);
            lines.push('\n');
            rest = after;
        }
        self.literal(&lines, context);
        Ok(())
    }

    /// Writes plain words; breaks lines at single blanks past the width.
    fn unquoted(&mut self, text: &str, context: NodeContext, breaks: bool) {
        self.token("");
        self.words(text, context, breaks, |word| word.to_owned().into());
    }

    fn single_quoted(&mut self, text: &str, context: NodeContext, breaks: bool) {
        self.token("'");
        self.words(text, context, breaks, |word| {
            if word.contains('\'') { word.replace('\'', "''").into() } else { word.into() }
        });
        self.write("'");
    }

    fn words<'t>(
        &mut self,
        text: &'t str,
        context: NodeContext,
        breaks: bool,
        spell: impl Fn(&'t str) -> std::borrow::Cow<'t, str>,
    ) {
        if !breaks || self.column.saturating_add(text.len()) <= self.options.width || !text.contains(' ') {
            self.write(&spell(text));
            return;
        }
        let mut words = text.split(' ').peekable();
        let mut last = "";
        let mut first = true;
        while let Some(word) = words.next() {
            if !first {
                let is_single = !last.is_empty() && !word.is_empty();
                let is_end = words.peek().is_none() && word.is_empty();
                if is_single && !is_end && self.column > self.options.width {
                    self.line(context.deeper_text());
                } else {
                    self.write(" ");
                }
            }
            self.write(&spell(word));
            last = word;
            first = false;
        }
    }

    fn double_quoted(&mut self, text: &str, context: NodeContext, breaks: bool) {
        self.token("\"");
        let mut after_blank = true;
        let mut chars = text.chars().peekable();
        while let Some(c) = chars.next() {
            if c == ' ' {
                let next = chars.peek().copied();
                if breaks && !after_blank && next.is_some() && self.column > self.options.width {
                    self.line(context.deeper_text());
                    if next == Some(' ') {
                        // A blank at the start of a line would be folded away.
                        self.write("\\");
                    }
                } else {
                    self.write(" ");
                }
                after_blank = true;
                continue;
            }
            after_blank = false;
            self.escaped(c);
        }
        self.write("\"");
    }

    fn escaped(&mut self, c: char) {
        let short = match c {
            '"' => "\\\"",
            '\\' => "\\\\",
            '\0' => "\\0",
            '\u{7}' => "\\a",
            '\u{8}' => "\\b",
            '\t' => "\\t",
            '\n' => "\\n",
            '\u{b}' => "\\v",
            '\u{c}' => "\\f",
            '\r' => "\\r",
            '\u{1b}' => "\\e",
            '\u{85}' => "\\N",
            '\u{2028}' => "\\L",
            '\u{2029}' => "\\P",
            _ => "",
        };
        if !short.is_empty() {
            self.write(short);
        } else if is_printable(c) {
            self.out.push(c);
            self.column = self.column.saturating_add(1);
        } else {
            let mut text = String::new();
            let code = u32::from(c);
            let _ = match code {
                0..=0xff => write!(text, "\\x{code:02X}"),
                0x100..=0xffff => write!(text, "\\u{code:04X}"),
                _ => write!(text, "\\U{code:08X}"),
            };
            self.write(&text);
        }
    }

    /// Writes a literal scalar. The chomping indicator in its header says whether the text ends with a line break.
    fn literal(&mut self, text: &str, context: NodeContext) {
        self.token("|");
        for line in self.header(text).split('\n') {
            self.block_newline();
            if !line.is_empty() {
                self.pad(context.deeper_text());
                self.write(line);
            }
        }
        self.newline();
    }

    /// Writes a folded scalar; each line break is doubled, because a single one reads as a blank.
    fn folded(&mut self, text: &str, context: NodeContext) {
        self.token(">");
        for (at, line) in self.header(text).split('\n').enumerate() {
            self.block_newline();
            if !line.is_empty() {
                if at > 0 {
                    self.newline();
                }
                self.pad(context.deeper_text());
                self.words(line, context, true, Into::into);
            }
        }
        self.newline();
    }

    /// Writes the chomping indicator, and returns the text without its last line break.
    fn header<'t>(&mut self, text: &'t str) -> &'t str {
        let Some(text) = text.strip_suffix('\n') else {
            self.write("-");
            return text;
        };
        text
    }
}

impl NodeContext {
    /// Indentation of the lines of a block scalar.
    const fn deeper_text(self) -> usize {
        match self.indent {
            Some(indent) => indent.saturating_add(2),
            None => 2,
        }
    }
}

/// The style of a text: the wanted one if it can be read back, else a similar one. `is_text` where a tag makes it text.
fn style(text: &str, wish: Option<ScalarStyle>, is_text: bool, context: NodeContext) -> ScalarStyle {
    let styles = Styles::of(text);
    let block = !context.flow && context.place != NodePosition::SimpleKey;
    match wish {
        Some(ScalarStyle::DoubleQuoted) => ScalarStyle::DoubleQuoted,
        Some(ScalarStyle::SingleQuoted) if styles.single => ScalarStyle::SingleQuoted,
        Some(ScalarStyle::Literal) if block && styles.literal => ScalarStyle::Literal,
        Some(ScalarStyle::Folded) if block && styles.folded => ScalarStyle::Folded,
        None | Some(ScalarStyle::Plain) => {
            let plain = if context.flow { styles.flow_plain } else { styles.block_plain };
            if plain && (is_text || !is_misread(text)) {
                ScalarStyle::Plain
            } else if styles.single {
                ScalarStyle::SingleQuoted
            } else if block && styles.literal {
                ScalarStyle::Literal
            } else {
                ScalarStyle::DoubleQuoted
            }
        }
        Some(_) => ScalarStyle::DoubleQuoted,
    }
}
