//! Values of multi-line scalars (YAML 1.1, sections 5.4, 9.1 and 9.2): folds line breaks and replaces escapes.
//!
//! Five characters or pairs end lines. All but two of them mean the same; a line separator and a paragraph separator stay as they are and do not
//! become a blank.

/// The characters that end lines.
const BREAKS: [char; 5] = ['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}'];

/// The line break that `text` begins with: its bytes, and its value.
pub(crate) fn line_break(text: &str) -> Option<(usize, &'static str)> {
    Some(match text.as_bytes() {
        [b'\r', b'\n', ..] => (2, "\n"),
        [b'\r' | b'\n', ..] => (1, "\n"),
        [0xc2, 0x85, ..] => (2, "\n"),
        [0xe2, 0x80, 0xa8, ..] => (3, "\u{2028}"),
        [0xe2, 0x80, 0xa9, ..] => (3, "\u{2029}"),
        _ => return None,
    })
}

/// The first line of a text without its break, and the rest.
fn split_line(text: &str) -> (&str, &str) {
    text.split_at_checked(text.find(BREAKS).unwrap_or(text.len())).unwrap_or((text, ""))
}

/// Returns the text after its first line.
pub(crate) fn after_first_line(text: &str) -> &str {
    let (_, rest) = split_line(text);
    behind(rest, line_break(rest).map_or(0, |(len, _)| len))
}

fn behind(text: &str, len: usize) -> &str {
    text.get(len..).unwrap_or_default()
}

/// Takes the blanks and line breaks that `text` begins with, writes their value, and returns the rest.
fn gap<'t>(text: &'t str, out: &mut String) -> &'t str {
    let rest = text.trim_start_matches([' ', '\t']);
    let Some((len, first)) = line_break(rest) else {
        out.push_str(text.get(..text.len().saturating_sub(rest.len())).unwrap_or_default());
        return rest;
    };
    let start = out.len();
    let rest = more_breaks(behind(rest, len), out);
    if first != "\n" {
        out.insert_str(start, first);
    } else if out.len() == start {
        out.push(' ');
    }
    rest
}

/// Takes blanks and line breaks after a line break, each of which stays one.
fn more_breaks<'t>(text: &'t str, out: &mut String) -> &'t str {
    let mut rest = text;
    loop {
        rest = rest.trim_start_matches([' ', '\t']);
        let Some((len, meaning)) = line_break(rest) else { return rest };
        out.push_str(meaning);
        rest = behind(rest, len);
    }
}

/// Plain text, from its first character to its last.
pub(crate) fn plain(text: &str) -> String {
    fold(text, None, |_, _| None).unwrap_or_default()
}

/// Folds the content of a single-quoted scalar.
pub(crate) fn single(text: &str) -> String {
    let quote = |rest, out: &mut String| {
        out.push('\'');
        Some(behind(rest, 1))
    };
    fold(text, Some('\''), quote).unwrap_or_default()
}

/// Folds the content of a double-quoted scalar; `None` for an escape that YAML 1.1 does not have.
pub(crate) fn double(text: &str) -> Option<String> {
    fold(text, Some('\\'), escape)
}

/// Splits a text at its gaps and at marks. `special` handles each mark with the text that belongs to it; the text between is copied.
fn fold<'t>(
    text: &'t str,
    mark: Option<char>,
    special: impl Fn(&'t str, &mut String) -> Option<&'t str>,
) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let stops = |c: char| matches!(c, ' ' | '\t') || Some(c) == mark || BREAKS.contains(&c);
        let (run, stop) = rest.split_at_checked(rest.find(stops).unwrap_or(rest.len()))?;
        out.push_str(run);
        rest = if stop.starts_with(|c| Some(c) == mark) {
            special(behind(stop, 1), &mut out)?
        } else {
            gap(stop, &mut out)
        };
    }
    Some(out)
}

/// Takes the escape after a backslash, writes its value, and returns the rest.
fn escape<'t>(text: &'t str, out: &mut String) -> Option<&'t str> {
    if let Some((len, _)) = line_break(text) {
        return Some(more_breaks(behind(text, len), out));
    }
    let mut rest = text.chars();
    let mark = rest.next()?;
    let digits = match mark {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    };
    out.push(match mark {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '/' | '\\' => mark,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        'x' | 'u' | 'U' => {
            let digits = rest.as_str().get(..digits)?;
            let hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| hex)?)?
        }
        _ => return None,
    });
    Some(behind(rest.as_str(), digits))
}

/// Chomping: treatment of the line breaks at the end of a literal or folded scalar.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Chomp {
    Strip,
    Clip,
    Keep,
}

/// The first line of a literal or folded text.
pub(crate) struct BlockScalarHeader {
    pub(crate) folded: bool,
    pub(crate) chomp: Chomp,
    /// The digit for the indentation of the lines.
    pub(crate) given: Option<usize>,
    /// Bytes of its marks.
    pub(crate) len: usize,
}

impl BlockScalarHeader {
    /// The marks that `text` begins with; `None` where it has none, or more than are possible.
    pub(crate) fn of(text: &str) -> Option<Self> {
        let mut header = Self { folded: text.starts_with('>'), chomp: Chomp::Clip, given: None, len: 1 };
        if !text.starts_with(['|', '>']) {
            return None;
        }
        for byte in text.bytes().skip(1).take(2) {
            match byte {
                b'+' | b'-' if header.chomp == Chomp::Clip => {
                    header.chomp = if byte == b'+' { Chomp::Keep } else { Chomp::Strip };
                }
                b'1'..=b'9' if header.given.is_none() => {
                    header.given = Some(usize::from(byte.wrapping_sub(b'0')));
                }
                _ => break,
            }
            header.len = header.len.saturating_add(1);
        }
        Some(header)
    }
}

/// Columns of the first line that is not empty. `None` without one, or where an empty line before it is longer, which readers take for a fault.
pub(crate) fn indentation(lines: &str) -> Option<usize> {
    let (mut rest, mut longest) = (lines, 0);
    loop {
        let text = rest.trim_start_matches(' ');
        let indent = rest.len().saturating_sub(text.len());
        match line_break(text) {
            Some((len, _)) => {
                longest = longest.max(indent);
                rest = behind(text, len);
            }
            None if text.is_empty() => return None,
            None => return (indent >= longest).then_some(indent),
        }
    }
}

/// A literal or folded text of which `lines` are all lines after the header, up to the first that is indented less than `indent` columns, and perhaps
/// more.
pub(crate) fn block(lines: &str, indent: usize, header: &BlockScalarHeader) -> String {
    let mut out = String::with_capacity(lines.len());
    let (mut rest, mut end, mut after_blank) = (lines, "", false);
    let mut empty = String::new();
    loop {
        // Empty lines, and the indentation of the next one.
        let mut blanks = rest.bytes().take_while(|byte| *byte == b' ').count();
        while let Some((len, meaning)) = line_break(behind(rest, blanks.min(indent))) {
            empty.push_str(meaning);
            rest = behind(rest, blanks.min(indent).saturating_add(len));
            blanks = rest.bytes().take_while(|byte| *byte == b' ').count();
        }
        let content = behind(rest, blanks.min(indent));
        if blanks < indent || content.is_empty() {
            break;
        }
        let is_blank = content.starts_with([' ', '\t']);
        if header.folded && end == "\n" && !after_blank && !is_blank {
            if empty.is_empty() {
                out.push(' ');
            }
        } else {
            out.push_str(end);
        }
        out.push_str(&empty);
        empty.clear();
        after_blank = is_blank;
        let (line, after_first_line) = split_line(content);
        out.push_str(line);
        let Some((len, meaning)) = line_break(after_first_line) else {
            end = "";
            break;
        };
        (rest, end) = (behind(after_first_line, len), meaning);
    }
    if header.chomp != Chomp::Strip {
        out.push_str(end);
    }
    if header.chomp == Chomp::Keep {
        out.push_str(&empty);
    }
    out
}
