//! Repairs the `%YAML` and `%TAG` lines of a tree, and the `---` after them.

use container_core::report::{RepairItem, RepairReport};

use crate::yaml::is_directive;

/// The lines that nearly all files have.
const KNOWN_DIRECTIVES: [&str; 2] = ["%YAML 1.1", "%TAG ! tag:stsci.edu:asdf/"];

/// Start of the root's tag in nearly every tree, after `---`.
const ROOT_TAG_PREFIX: &str = " !core/asdf-";

/// Letters of a line, or of its name, that may be wrong.
const MAX_WRONG_LETTERS: usize = 2;

/// The text with directives that can be read, and with the marks where the document begins. What is not nearly one of them stays. The tree
/// begins at byte `at`.
pub(super) fn repair_directives(text: &str, at: u64, report: &mut RepairReport) -> String {
    let (mut repaired, mut taken) = (String::new(), 0_usize);
    for line in text.split_inclusive('\n') {
        let body = line.trim_end_matches(['\n', '\r']);
        let is_other = body.trim_ascii().is_empty() || body.starts_with('#');
        let is_sound = is_other || (is_directive(body) && !is_other_version(body));
        let better = if is_sound { Some(body.to_owned()) } else { closest_directive(body) };
        let Some(better) = better.filter(|_| !body.starts_with("---")) else { break };
        if better != body {
            let start = at.saturating_add(taken as u64);
            let range = start..start.saturating_add(body.len() as u64);
            report.guessed.push(RepairItem::new(range, format!("the line {better:?}, which was {body:?}")));
        }
        repaired.push_str(&better);
        repaired.push_str(line.get(body.len()..).unwrap_or_default());
        taken = taken.saturating_add(line.len());
        if better.starts_with("---") {
            break;
        }
    }
    repaired + text.get(taken..).unwrap_or_default()
}

/// Readers refuse every version but two.
fn is_other_version(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    words.next() == Some("%YAML") && !matches!(words.next(), Some("1.1" | "1.2"))
}

fn closest_directive(line: &str) -> Option<String> {
    if let Some(known) = KNOWN_DIRECTIVES.into_iter().find(|known| is_near(line, known)) {
        return Some(known.to_owned());
    }
    let split = |len: usize| line.char_indices().nth(len).map(|(at, _)| line.split_at(at));
    let named = ["%YAML", "%TAG"].into_iter().find_map(|name| {
        let (was, rest) = split(name.len())?;
        let line = format!("{name}{rest}");
        (is_near(was, name) && is_directive(&line) && !is_other_version(&line)).then_some(line)
    });
    let marks = || {
        let (was, rest) = split(3)?;
        let is_root = rest.starts_with(ROOT_TAG_PREFIX) && wrong_letters(was, "---") == 1;
        is_root.then(|| format!("---{rest}"))
    };
    named.or_else(marks)
}

/// Whether a line is as long as one that is known, and nearly the same.
pub(super) fn is_near(line: &str, known: &str) -> bool {
    line.chars().count() == known.len() && wrong_letters(line, known) <= MAX_WRONG_LETTERS
}

fn wrong_letters(line: &str, known: &str) -> usize {
    line.chars().zip(known.chars()).filter(|(is, was)| is != was).count()
}
