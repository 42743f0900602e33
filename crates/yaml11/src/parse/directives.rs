//! The lines before `---` that begin with `%`.

/// Handles and prefixes of the `%TAG` lines.
pub(crate) fn tag_handles(text: &str) -> Vec<(String, String)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut handles = Vec::new();
    for line in text.split(['\n', '\r', '\u{85}', '\u{2028}', '\u{2029}']) {
        if let Some(rest) = line.strip_prefix("%TAG") {
            let mut words = rest.split_ascii_whitespace();
            if let (Some(handle), Some(prefix)) = (words.next(), words.next()) {
                handles.push((handle.to_owned(), prefix.to_owned()));
            }
        } else if !(line.starts_with(['%', '#']) || line.trim_ascii().is_empty()) {
            break;
        }
    }
    handles
}

/// Directives that libyaml does not read: of another name, or without a handle and a prefix. Each with its place in
/// the text.
#[must_use]
pub fn invalid_directives(text: &str) -> Vec<(std::ops::Range<usize>, &str)> {
    let (mut wrong, mut at) = (Vec::new(), 0_usize);
    for line in text.split_inclusive('\n') {
        let start = at;
        at = at.saturating_add(line.len());
        let line = line.trim_end_matches(['\n', '\r']);
        if line.starts_with('%') {
            if !is_directive(line) {
                wrong.push((start..start.saturating_add(line.len()), line));
            }
        } else if !(line.starts_with('#') || line.trim_ascii().is_empty()) {
            break;
        }
    }
    wrong
}

/// Whether a line is one of the two directives of YAML. The version in the first one is checked elsewhere.
fn is_directive(line: &str) -> bool {
    let mut words = line.split_ascii_whitespace();
    let least = match words.next() {
        Some("%YAML") => words.next().is_some(),
        Some("%TAG") => words.next().is_some_and(is_handle) && words.next().is_some(),
        _ => false,
    };
    least && words.next().is_none_or(|word| word.starts_with('#'))
}

fn is_handle(word: &str) -> bool {
    let inner = word.strip_prefix('!').map(|rest| rest.strip_suffix('!').unwrap_or(rest));
    let is_named = word.len() < 2 || word.ends_with('!');
    is_named
        && inner.is_some_and(|name| {
            name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'))
        })
}
