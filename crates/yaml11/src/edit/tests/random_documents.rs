//! Documents as people write them: every style, comments everywhere, odd indentation. Each comes with the value that it holds.

use crate::{Collection, Yaml};

/// Bytes that decide the next output; zeros when they are used up, which choose the simplest.
pub(crate) struct Choices<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Choices<'b> {
    pub(crate) fn new(bytes: &'b [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        let byte = self.bytes.get(self.at).copied().unwrap_or(0);
        self.at += 1;
        usize::from(byte) * n / 256
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == n - 1
    }
}

/// Text with the value it holds.
pub(crate) struct RandomDocument {
    pub(crate) text: String,
    pub(crate) value: Yaml,
}

const WORDS: [&str; 8] = ["flux", "two words", "a.b/c", "x-1", "é日", "//", "1.6.0", "wave length"];
const QUOTED: [&str; 8] = ["yes", "", "a: b", "# no", "1e3", "it's", "[x", " lead"];

struct DocumentWriter<'c, 'b> {
    choices: &'c mut Choices<'b>,
    out: String,
    comments: usize,
    anchors: Vec<String>,
    /// Anchors of open collections may be named too.
    next_anchor: usize,
}

/// A document with a mapping or sequence as its root.
pub(crate) fn random_document(choices: &mut Choices<'_>) -> RandomDocument {
    let mut writer =
        DocumentWriter { choices, out: String::new(), comments: 0, anchors: Vec::new(), next_anchor: 0 };
    let header = writer.choices.below(3);
    if header > 0 {
        writer.out.push_str("%YAML 1.1\n%TAG ! tag:example.org:ab/\n");
    }
    writer.out.push_str("---");
    let value = writer.root();
    if writer.choices.below(4) > 0 || writer.out.ends_with("---") {
        writer.out.push_str("...\n");
    } else if writer.choices.one_in(2) && !writer.out.contains("- two\n") {
        // Literal text would lose its last line break.
        writer.out.pop();
    }
    let crlf = writer.choices.one_in(4);
    let text = if crlf { writer.out.replace('\n', "\r\n") } else { writer.out };
    RandomDocument { text, value }
}

impl DocumentWriter<'_, '_> {
    fn root(&mut self) -> Yaml {
        let tagged = self.out.contains("%TAG") && self.choices.one_in(2);
        if tagged {
            self.out.push_str(" !core/root-1.1.0");
        }
        let value = match self.choices.below(8) {
            0..=4 => self.block_mapping(None, false, 4),
            5..=6 => self.block_sequence(None, false, 4),
            _ => {
                self.out.push(' ');
                let value = self.flow(3, false);
                self.line_end();
                value
            }
        };
        if tagged { value.tagged("tag:example.org:ab/core/root-1.1.0") } else { value }
    }

    /// The end of a line, perhaps with a comment, and perhaps lines of comments and empty ones.
    fn line_end(&mut self) {
        match self.choices.below(8) {
            6 => self.comment(" "),
            7 => self.out.push_str("   "),
            _ => {}
        }
        self.out.push('\n');
        self.between();
    }

    fn comment(&mut self, before: &str) {
        self.comments += 1;
        let text = ["about - it", "a: b", "? what's", "[x, {y"][self.choices.below(4)];
        self.out.push_str(&format!("{before}# c{} {text}", self.comments));
    }

    /// Empty lines.
    fn between(&mut self) {
        match self.choices.below(12) {
            9 => self.out.push('\n'),
            10 => {
                self.comment("");
                self.out.push('\n');
            }
            11 => {
                self.comment("      ");
                self.out.push('\n');
            }
            _ => {}
        }
    }

    fn pad(&mut self, columns: usize) {
        self.out.push_str(&" ".repeat(columns));
    }

    fn key(&mut self, at: usize, flow: bool) -> Yaml {
        let base =
            if self.choices.one_in(4) { QUOTED[self.choices.below(8)] } else { WORDS[self.choices.below(8)] };
        let text = format!("{base}{at}");
        let quotes = base != WORDS[0] && base != WORDS[1] && base != WORDS[3] && base != WORDS[7];
        match self.choices.below(3) {
            _ if flow && quotes => self.single(&text),
            0 if QUOTED.contains(&base) => self.single(&text),
            0 => self.out.push_str(&text),
            1 => self.single(&text),
            _ => self.double(&text),
        }
        Yaml::text(text)
    }

    fn single(&mut self, text: &str) {
        self.out.push_str(&format!("'{}'", text.replace('\'', "''")));
    }

    fn double(&mut self, text: &str) {
        self.out.push_str(&format!(
            "\"{}\"",
            text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n")
        ));
    }

    fn scalar(&mut self) -> Yaml {
        match self.choices.below(9) {
            0 => {
                let number = self.choices.below(1000);
                self.out.push_str(&number.to_string());
                Yaml::int(number as i128)
            }
            1 => {
                self.out.push_str(["0x1F", "1_000", "017"][self.choices.below(3)]);
                let text = self.out.rsplit([' ', '[', '{', ',', ':']).next().unwrap().to_owned();
                Yaml::int(match text.as_str() {
                    "0x1F" => 31,
                    "017" => 15,
                    _ => 1000,
                })
            }
            2 => {
                self.out.push_str("1.50");
                Yaml::Float(1.5)
            }
            3 => {
                self.out.push_str("yes");
                Yaml::Bool(true)
            }
            4 => {
                self.out.push('~');
                Yaml::Null
            }
            5 => {
                let text = QUOTED[self.choices.below(8)];
                self.single(text);
                Yaml::text(text)
            }
            6 => {
                let text = format!("{}\nnext", QUOTED[self.choices.below(8)]);
                self.double(&text);
                Yaml::text(text)
            }
            _ => {
                let text = [WORDS[0], WORDS[1], WORDS[3], WORDS[7]][self.choices.below(4)];
                self.out.push_str(text);
                Yaml::text(text)
            }
        }
    }

    fn anchor(&mut self) -> Option<String> {
        if !self.choices.one_in(8) {
            return None;
        }
        self.next_anchor += 1;
        let name = format!("a{}", self.next_anchor);
        self.out.push_str(&format!("&{name} "));
        self.anchors.push(name.clone());
        Some(name)
    }

    fn alias(&mut self) -> Option<Yaml> {
        if self.anchors.is_empty() || !self.choices.one_in(6) {
            return None;
        }
        let name = self.anchors[self.choices.below(self.anchors.len())].clone();
        self.out.push_str(&format!("*{name}"));
        Some(Yaml::Alias(name))
    }

    /// On one line, or over several with comments if `lines`.
    fn flow(&mut self, depth: usize, lines: bool) -> Yaml {
        let is_mapping = self.choices.one_in(2);
        self.out.push(if is_mapping { '{' } else { '[' });
        let count = self.choices.below(4);
        let mut items = Vec::new();
        let mut pairs = Vec::new();
        for at in 0..count {
            if at > 0 {
                self.out.push(',');
                self.gap(lines);
            } else if self.choices.one_in(3) {
                self.gap(lines);
            }
            if is_mapping {
                let key = self.key(at, true);
                match self.choices.below(8) {
                    6 => {
                        pairs.push((key, Yaml::Null));
                        continue;
                    }
                    7 => {
                        self.out.push_str(": ");
                        pairs.push((key, Yaml::Null));
                        continue;
                    }
                    _ => self.out.push_str(": "),
                }
                let value = self.flow_node(depth, lines);
                pairs.push((key, value));
            } else {
                let item = self.flow_node(depth, lines);
                items.push(item);
            }
        }
        if count > 0 && self.choices.one_in(5) {
            self.out.push(',');
        }
        if self.choices.one_in(4) {
            self.gap(lines);
        }
        self.out.push(if is_mapping { '}' } else { ']' });
        if is_mapping {
            Yaml::Mapping(pairs, Some(Collection::Flow))
        } else {
            Yaml::Sequence(items, Some(Collection::Flow))
        }
    }

    fn gap(&mut self, lines: bool) {
        match self.choices.below(6) {
            4 if lines => self.out.push_str("\n                                        "),
            5 if lines => {
                self.comment(" ");
                self.out.push_str("\n                                        ");
            }
            3 => {}
            2 => self.out.push_str("  "),
            _ => self.out.push(' '),
        }
    }

    fn flow_node(&mut self, depth: usize, lines: bool) -> Yaml {
        if let Some(alias) = self.alias() {
            return alias;
        }
        let anchor = self.anchor();
        let value =
            if depth == 0 || self.choices.below(3) < 2 { self.scalar() } else { self.flow(depth - 1, lines) };
        anchored(anchor, value)
    }

    /// A node after a `-`, `?` or `:` at `indent` columns. Ends the line.
    fn node(&mut self, indent: usize, in_mapping: bool, compact: bool, depth: usize) -> Yaml {
        if self.choices.one_in(10) {
            // An absent value.
            self.line_end();
            return Yaml::Null;
        }
        let before = self.out.len();
        self.out.push_str(if self.choices.one_in(8) { "   " } else { " " });
        if let Some(alias) = self.alias() {
            self.line_end();
            return alias;
        }
        let anchor = self.anchor();
        let tag = self.choices.one_in(10);
        if tag {
            self.out.push_str("!<tag:x.org/t-1.0.0> ");
        }
        let bare = anchor.is_none() && !tag;
        let kind = if depth == 0 { self.choices.below(6) } else { self.choices.below(12) };
        let value = match kind {
            // Under a tag every scalar is text.
            0..=2 if tag => {
                self.out.push_str("tagged");
                self.line_end();
                Yaml::text("tagged")
            }
            0..=2 => {
                if bare && self.choices.one_in(8) {
                    self.out.push('\n');
                    self.pad(indent + 1);
                }
                let value = self.scalar();
                self.line_end();
                value
            }
            3 => {
                self.out.push_str(["|\n", "|-\n", "|  # c\n"][self.choices.below(3)]);
                let strips = self.out.ends_with("-\n");
                let indent = indent + 1 + self.choices.below(3);
                for line in ["line: one # no comment\n", "\n", "  - two\n"] {
                    if line != "\n" {
                        self.pad(indent);
                    }
                    self.out.push_str(line);
                }
                if self.choices.one_in(3) {
                    self.out.push('\n');
                }
                self.between_dedented();
                Yaml::text(if strips {
                    "line: one # no comment\n\n  - two"
                } else {
                    "line: one # no comment\n\n  - two\n"
                })
            }
            4..=5 => {
                let lines = self.choices.one_in(3);
                let value = self.flow(depth.min(2), lines);
                self.line_end();
                value
            }
            6..=9 => {
                self.trim(before, bare, compact);
                self.block_mapping(Some((indent, in_mapping)), bare && compact, depth - 1)
            }
            _ => {
                self.trim(before, bare, compact);
                self.block_sequence(Some((indent, in_mapping)), bare && compact, depth - 1)
            }
        };
        let value = if tag { value.tagged("tag:x.org/t-1.0.0") } else { value };
        anchored(anchor, value)
    }

    fn trim(&mut self, before: usize, bare: bool, compact: bool) {
        if bare && !compact {
            self.out.truncate(before);
        } else if !bare {
            self.out.truncate(self.out.trim_end().len());
        }
    }

    /// After literal text a comment would belong to it if it were indented.
    fn between_dedented(&mut self) {
        if self.choices.one_in(6) {
            self.comment("");
            self.out.push('\n');
        }
    }

    /// The columns of a collection within another, and whether it begins on this line.
    fn place(&mut self, within: Option<(usize, bool)>, compact: bool, may_be_flush: bool) -> (usize, bool) {
        let Some((indent, in_mapping)) = within else {
            self.line_end();
            return (0, false);
        };
        if compact && self.choices.below(4) > 0 {
            // `- a: 1`: the columns that the line has already.
            let line = self.out.rsplit('\n').next().unwrap();
            return (line.chars().count(), true);
        }
        if compact {
            self.out.truncate(self.out.trim_end().len());
        }
        self.line_end();
        let flush = may_be_flush && in_mapping && self.choices.below(3) < 2;
        (if flush { indent } else { indent + 1 + self.choices.below(4) }, false)
    }

    fn block_mapping(&mut self, within: Option<(usize, bool)>, compact: bool, depth: usize) -> Yaml {
        let (indent, mut on_line) = self.place(within, compact, false);
        let mut pairs = Vec::new();
        for at in 0..1 + self.choices.below(4) {
            if !on_line {
                self.pad(indent);
            }
            on_line = false;
            if self.choices.one_in(10) {
                self.out.push_str("? ");
                let key = self.key(at, false);
                self.out.push('\n');
                self.pad(indent);
                self.out.push(':');
                let value = self.node(indent, false, true, depth);
                pairs.push((key, value));
                continue;
            }
            let key = self.key(at, false);
            self.out.push(':');
            let value = self.node(indent, true, false, depth);
            pairs.push((key, value));
        }
        Yaml::Mapping(pairs, None)
    }

    fn block_sequence(&mut self, within: Option<(usize, bool)>, compact: bool, depth: usize) -> Yaml {
        let (indent, mut on_line) = self.place(within, compact, true);
        let mut items = Vec::new();
        for _ in 0..1 + self.choices.below(4) {
            if !on_line {
                self.pad(indent);
            }
            on_line = false;
            self.out.push('-');
            let item = self.node(indent, false, true, depth);
            items.push(item);
        }
        Yaml::Sequence(items, None)
    }
}

fn anchored(anchor: Option<String>, value: Yaml) -> Yaml {
    match anchor {
        Some(name) => Yaml::Anchored(name, Box::new(value)),
        None => value,
    }
}
