//! The tree of a damaged file: its text with the least changes that make it readable.

use container_core::report::{Evidence, RepairItem, RepairReport};
use container_core::source::Source;
use container_core::{Error, ErrorKind, Limits, Result};

use crate::fault::FaultKind;
use crate::layout::Layout;
use crate::tree::parse_tree;
use crate::yaml::{Document, YamlLimits};

/// Lines that are taken from the end of a tree one by one; after that, twice as many each time.
const MAX_SINGLE_STEPS: usize = 64;

/// The tree of the file; `None` where it has none, or nothing of it can be read.
pub(super) fn repair_tree(
    source: &dyn Source,
    layout: &Layout,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Option<Document>> {
    let Some(range) = layout.tree.clone() else { return Ok(None) };
    limits.allocate(range.end.saturating_sub(range.start))?;
    let bytes = source.read(range.clone())?;
    let has = |kind| layout.faults.iter().any(|fault| fault.kind() == kind);
    let mut text = decode_lossy(&bytes, range.start, report);
    let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
    if has(FaultKind::TreeUnterminated) {
        let len = text.trim_end_matches(['\0', ' ', '\t', '\r', '\n']).len();
        text.truncate(len);
        text.push_str(newline);
        // They may have been there, with blanks behind them.
        if !text.trim_end().ends_with("\n...") {
            text.push_str("...");
            text.push_str(newline);
        }
        let end = range.end..range.end;
        // Behind a tree that goes on to the end of what was written, a system may leave zeros.
        let is_padding = || layout.blocks.is_empty() && layout.padding.end == layout.size;
        let is_cut = range.end == layout.size || is_padding();
        if is_cut {
            // Whatever lines and blocks there were.
            report.lost.push(RepairItem::new(
                end.clone(),
                "everything after the tree: the file ends within the tree",
            ));
        }
        let evidence = if is_cut { Evidence::KnownDamage } else { Evidence::Walk };
        let what = "the tree ends here, without a line of three dots";
        report.guessed.push(RepairItem::new(end, what).with_evidence(evidence));
    } else if has(FaultKind::TreeEndBlanks) {
        let len = text.trim_end_matches([' ', '\t', '\r', '\n']).len();
        text.truncate(len);
        text.push_str(newline);
        let what = "the blanks after the end of the tree are left out";
        report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(Evidence::Walk));
    }
    if has(FaultKind::NoYamlDirective) && !text.starts_with("%YAML 1.") {
        text = with_version(&text, newline);
        // The header line says the version of the file format, and that says this one.
        let what = "the tree is YAML 1.1, by the version in the header line";
        report.guessed.push(RepairItem::new(range.clone(), what).with_evidence(Evidence::SecondCopy));
    }
    let error = match parse(&text) {
        Ok(document) => {
            report.kept.push(RepairItem::new(range, "tree"));
            return Ok(Some(document));
        }
        Err(error) if is_unreadable(&error) => error,
        Err(error) => return Err(error),
    };
    let at = error.range().map_or(text.len(), |range| usize::try_from(range.start).unwrap_or(text.len()));
    match first_lines(&text, at, newline)? {
        Some((document, kept)) => {
            // What was put before the text or left out of it moves the place by a few bytes.
            let from = range.start.saturating_add(kept as u64).min(range.end);
            report.kept.push(RepairItem::new(range.start..from, "the readable start of the tree"));
            let what = format!("the rest of the tree, which cannot be read: {}", error.kind());
            report.lost.push(RepairItem::new(from..range.end, what));
            Ok(Some(document))
        }
        None => {
            let what = format!("the tree, which cannot be read: {}", error.kind());
            report.lost.push(RepairItem::new(range, what));
            Ok(None)
        }
    }
}

/// The text with the line `%YAML 1.1` at its beginning, before all others.
fn with_version(text: &str, newline: &str) -> String {
    const VERSION_DIRECTIVE: &str = "%YAML 1.1";
    let mut lines = text.lines().take_while(|line| line.starts_with('%'));
    match lines.position(|line| line.split_ascii_whitespace().next() == Some("%YAML")) {
        // It was behind others.
        Some(at) => {
            let mut lines: Vec<&str> = text.split_inclusive('\n').collect();
            let line = lines.remove(at);
            [&[line], &lines[..]].concat().concat()
        }
        None => format!("{VERSION_DIRECTIVE}{newline}{text}"),
    }
}

/// Returns whether an error is due to the file, not to the machine or the limits.
fn is_unreadable(error: &Error) -> bool {
    error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_))
}

fn parse(text: &str) -> Result<Document> {
    parse_tree(text.as_bytes(), 0, &YamlLimits::default())
}

/// The text, with U+FFFD for each byte that no YAML holds.
fn decode_lossy(bytes: &[u8], at: u64, report: &mut RepairReport) -> String {
    let mut text = String::with_capacity(bytes.len());
    let mut place = at;
    for chunk in bytes.utf8_chunks() {
        for letter in chunk.valid().chars() {
            let odd = letter.is_control() && !matches!(letter, '\t' | '\n' | '\r' | '\u{85}' | '\0');
            if odd {
                report_replacement(place, letter.len_utf8(), report);
            }
            text.push(if odd { char::REPLACEMENT_CHARACTER } else { letter });
            place = place.saturating_add(letter.len_utf8() as u64);
        }
        for _ in chunk.invalid() {
            report_replacement(place, 1, report);
            text.push(char::REPLACEMENT_CHARACTER);
            place = place.saturating_add(1);
        }
    }
    text
}

fn report_replacement(at: u64, len: usize, report: &mut RepairReport) {
    let range = at..at.saturating_add(len as u64);
    report.lost.push(RepairItem::new(range, "bytes of the tree that are not text, replaced by U+FFFD"));
}

/// The document of the most lines from the start that can be read, of those that end before the line at `error`, and their length.
fn first_lines(text: &str, error: usize, newline: &str) -> Result<Option<(Document, usize)>> {
    let starts: Vec<usize> = std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at.saturating_add(1)))
        .take_while(|start| *start <= error)
        .collect();
    // Without the line that begins the document, what is left would be none: the next reader would take it for padding.
    let begin =
        starts.iter().position(|start| text.get(*start..).is_some_and(|line| line.starts_with("---")));
    let Some(begin) = begin.map(|line| line.saturating_add(1)) else { return Ok(None) };
    let (mut lines, mut step, mut tries) = (starts.len(), 1_usize, 0_usize);
    while lines > begin {
        let end = starts.get(lines.saturating_sub(1)).copied().unwrap_or_default();
        let part = text.get(..end).unwrap_or_default();
        if lines.saturating_sub(1) >= begin {
            match parse(&format!("{part}...{newline}")) {
                Ok(document) => return Ok(Some((document, end))),
                Err(error) if is_unreadable(&error) => {}
                Err(error) => return Err(error),
            }
        }
        tries = tries.saturating_add(1);
        if tries > MAX_SINGLE_STEPS {
            step = step.saturating_mul(2);
        }
        lines = lines.saturating_sub(step);
    }
    Ok(None)
}
