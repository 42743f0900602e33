//! Random documents: their nodes are those that PyYAML makes of them.

use std::fmt::Write as _;

use asdf::yaml::{Document, YamlLimits};
use serde_json::json;

use crate::nodes;
use crate::peers::{Release, peer};
use crate::random::{Random, cases};

/// A document in the making.
pub struct Maker<'r> {
    pub random: &'r mut Random,
    pub out: String,
    /// Names of anchors, and whether they name a mapping, a sequence or a scalar.
    anchors: Vec<(String, char)>,
    /// Whether merge keys, scalars by alias and keys that stand twice may be there.
    pub wild: bool,
    keys: u64,
}

const PLAIN: [&str; 24] = [
    "word",
    "two words",
    "1",
    "-5",
    "2.5",
    "yes",
    "null",
    "~",
    "1e3",
    "0x1F",
    "1:30",
    "2001-12-14",
    "a-b",
    "a:b",
    "x#y",
    "-x",
    ".inf",
    "http://x/y?z=1",
    "é",
    "=",
    "017",
    "1_000",
    "'",
    "a\"b",
];

impl<'r> Maker<'r> {
    pub fn new(random: &'r mut Random, wild: bool) -> Self {
        Self { random, out: String::new(), anchors: Vec::new(), wild, keys: 0 }
    }

    /// A whole document with directives, a mapping as its root, and comments.
    pub fn document(&mut self) {
        self.out.push_str("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n%TAG !x! tag:example.org,2000:\n");
        self.out.push_str(self.random.pick(&[
            "---\n",
            "--- !core/asdf-1.1.0\n",
            "--- # a comment\n",
            "--- !x!y-1.0.0\n",
        ]));
        let count = 1 + self.random.below(5);
        self.pairs(0, 3, count);
        self.out.push_str("...\n");
    }

    /// Pairs of a block mapping, a line each or more.
    fn pairs(&mut self, indent: usize, depth: u64, count: u64) {
        let blanks = " ".repeat(indent);
        if self.wild && self.random.chance(1) {
            let mappings: Vec<String> = self.named('m');
            if !mappings.is_empty() {
                let name =
                    self.random.pick(&mappings.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
                _ = writeln!(self.out, "{blanks}<<: *{name}");
            }
        }
        for _ in 0..count {
            if self.random.chance(1) {
                self.out.push_str(self.random.pick(&["\n", "# a comment\n", "   # another: comment\n"]));
            }
            let key = self.key();
            _ = write!(self.out, "{blanks}{key}:");
            self.node(indent, depth);
        }
    }

    fn key(&mut self) -> String {
        self.keys += 1;
        let number = if self.wild { self.random.below(12) } else { self.keys };
        match self.random.below(6) {
            0 => format!("'key {number}'"),
            1 => format!("\"key\\t{number}\""),
            2 => format!("{number}"),
            3 => format!("key {number}"),
            4 => format!("a/b~{number}"),
            _ => format!("key{number}"),
        }
    }

    fn named(&self, kind: char) -> Vec<String> {
        self.anchors.iter().filter(|(_, it)| *it == kind).map(|(name, _)| name.clone()).collect()
    }

    /// A tag, an anchor, or neither.
    fn properties(&mut self, kind: char) -> (String, Option<String>) {
        let tag = match (self.random.below(12), kind) {
            (0, _) => "!core/thing-1.0.0 ",
            (1, _) => "!x!thing-1.2.3 ",
            (2, _) => "!<tag:example.org,2000:verbatim> ",
            (3, 's') => "!!str ",
            (3, 'q') => "!!seq ",
            (3, 'm') => "!!map ",
            (4, _) => "!local ",
            _ => "",
        };
        let name = self.random.chance(2).then(|| format!("a{}", self.out.len()));
        let anchor = name.as_ref().map(|name| format!("&{name} ")).unwrap_or_default();
        let text = if self.random.chance(5) { format!("{anchor}{tag}") } else { format!("{tag}{anchor}") };
        (text, name)
    }

    /// A node behind `key:` or `-`, to the end of its last line. What it holds is indented by more than `indent`.
    fn node(&mut self, indent: usize, depth: u64) {
        let kind = if depth == 0 { self.random.below(5) } else { self.random.below(10) };
        match kind {
            0 if self.random.chance(7) => {
                let mut names = self.named('m');
                names.extend(self.named('q'));
                if self.wild {
                    names.extend(self.named('s'));
                }
                if names.is_empty() {
                    self.out.push_str(" []");
                } else {
                    let name =
                        self.random.pick(&names.iter().map(String::as_str).collect::<Vec<_>>()).to_owned();
                    _ = write!(self.out, " *{name}");
                }
                self.end_of_line();
            }
            0..=2 => {
                let (text, name) = self.properties('s');
                let scalar = self.scalar();
                _ = write!(self.out, " {text}{scalar}");
                self.end_of_line();
                self.anchors.extend(name.map(|name| (name, 's')));
            }
            3 => {
                let (text, name) = self.properties('s');
                _ = write!(self.out, " {text}");
                self.lines(indent);
                self.anchors.extend(name.map(|name| (name, 's')));
            }
            4 | 5 => {
                self.out.push(' ');
                self.flow(indent, depth.min(2));
                self.end_of_line();
            }
            6 | 7 => {
                let (text, name) = self.properties('q');
                self.line_behind(&text);
                // A sequence may stand right below its key.
                let step = if self.random.chance(5) { 2 } else { 3 };
                let count = 1 + self.random.below(3);
                for _ in 0..count {
                    _ = write!(self.out, "{}-", " ".repeat(indent + step));
                    self.node(indent + step, depth - 1);
                }
                self.anchors.extend(name.map(|name| (name, 'q')));
            }
            _ => {
                let (text, name) = self.properties('m');
                self.line_behind(&text);
                let step = 1 + self.random.below(4) as usize;
                let count = 1 + self.random.below(3);
                self.pairs(indent + step, depth - 1, count);
                self.anchors.extend(name.map(|name| (name, 'm')));
            }
        }
    }

    fn line_behind(&mut self, properties: &str) {
        let text = properties.trim_end();
        if !text.is_empty() {
            _ = write!(self.out, " {text}");
        }
        self.end_of_line();
    }

    fn end_of_line(&mut self) {
        self.out.push_str(self.random.pick(&["\n", "\n", "\n", "\n", " # why: so\n", "  \n", "\n\n"]));
    }

    fn scalar(&mut self) -> String {
        match self.random.below(5) {
            0 | 1 => self.random.pick(&PLAIN[..22]).to_owned(),
            2 => format!(
                "'{}'",
                self.random.pick(&["", "it''s", "a: b", " # no comment ", "yes", "*x", "two\n\n     lines"])
            ),
            3 => format!(
                "\"{}\"",
                self.random.pick(&[
                    "",
                    "\\\"",
                    "tab\\tx",
                    "\\u00e9\\x41",
                    "a\\\n      b",
                    "no\n      yes",
                    "\\  ",
                    "\\N\\L"
                ])
            ),
            _ => format!("{} {}", self.random.pick(&PLAIN[..16]), self.random.below(1000)),
        }
    }

    /// Literal or folded text.
    fn lines(&mut self, indent: usize) {
        let mark = self.random.pick(&["|", ">", "|-", ">-", "|+", ">+"]);
        let step = 1 + self.random.below(4) as usize;
        // A first line that begins with blanks needs to be told how many are indentation.
        let given = self.random.chance(3);
        let first = if given {
            self.random.pick(&["  x", " - y", "z"])
        } else {
            self.random.pick(&["x", "- y", "a: b", "# no comment"])
        };
        _ = write!(self.out, "{mark}{}", if given { step.to_string() } else { String::new() });
        self.out.push_str(self.random.pick(&["\n", " # a comment\n"]));
        let blanks = " ".repeat(indent + step);
        _ = writeln!(self.out, "{blanks}{first}");
        for _ in 0..self.random.below(4) {
            match self.random.pick(&["", "text", "   more", "two words  ", "é", "\ttab"]) {
                "" => self.out.push('\n'),
                line => _ = writeln!(self.out, "{blanks}{line}"),
            }
        }
    }

    /// A flow collection, without the end of its line.
    fn flow(&mut self, indent: usize, depth: u64) {
        let is_mapping = self.random.chance(5);
        let (text, name) = self.properties(if is_mapping { 'm' } else { 'q' });
        self.out.push_str(&text);
        self.out.push(if is_mapping { '{' } else { '[' });
        let count = self.random.below(4);
        for at in 0..count {
            if at > 0 {
                let far = format!(",\n{}", " ".repeat(indent + 1 + self.random.below(5) as usize));
                let comment = format!(", # more\n{}", " ".repeat(indent + 2));
                self.out.push_str(self.random.pick(&[", ", " , ", &far, &comment]));
            }
            if is_mapping {
                let key = self.key();
                _ = write!(self.out, "{key}: ");
            }
            if depth > 0 && self.random.chance(3) {
                self.flow(indent, depth - 1);
            } else {
                let (text, name) = self.properties('s');
                let scalar = self.random.pick(&[
                    "1",
                    "2.5",
                    "word",
                    "'quoted, text'",
                    "\"x\\ny\"",
                    "yes",
                    "~",
                    "two words",
                    "2001-12-14",
                ]);
                _ = write!(self.out, "{text}{scalar}");
                self.anchors.extend(name.map(|name| (name, 's')));
            }
        }
        self.out.push_str(if count > 0 { self.random.pick(&["", " ", ","]) } else { "" });
        self.out.push(if is_mapping { '}' } else { ']' });
        self.anchors.extend(name.map(|name| (name, if is_mapping { 'm' } else { 'q' })));
    }
}

/// Whether both read a text, and what one of them says of it that the other does not.
fn compare(text: &str) -> (bool, bool, Vec<String>) {
    let theirs = peer(Release::Newest).try_ask("yaml", json!({ "text": text }));
    let ours = Document::parse(text.as_bytes(), 0, &YamlLimits::default());
    match (&ours, &theirs) {
        (Ok(ours), Ok(theirs)) => {
            let problems = nodes::differences(&nodes::of(ours), &nodes::of_answer(&theirs["nodes"]));
            (true, true, problems)
        }
        (Ok(_), Err(error)) => (true, false, vec![format!("PyYAML refuses it: {error}")]),
        (Err(error), Ok(_)) => (false, true, vec![format!("refused: {error}")]),
        (Err(_), Err(_)) => (false, false, Vec::new()),
    }
}

#[test]
fn documents_have_the_nodes_that_pyyaml_sees() {
    let mut random = Random::new(6);
    let (mut read, mut problems) = (0, Vec::new());
    for _ in 0..cases(1000) {
        let mut maker = Maker::new(&mut random, true);
        maker.document();
        let text = maker.out;
        let (ours, theirs, found) = compare(&text);
        read += usize::from(ours && theirs);
        if !found.is_empty() {
            problems.push(format!("{found:#?}\n{text}"));
        }
    }
    assert!(problems.is_empty(), "{}:\n{}", problems.len(), problems[..problems.len().min(5)].join("\n"));
    assert!(read > 800, "only {read} are documents");
}
