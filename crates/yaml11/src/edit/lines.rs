//! Lines, columns, blanks and comments of a text.

/// The byte at `at`.
pub(super) fn byte(text: &str, at: usize) -> Option<u8> {
    text.as_bytes().get(at).copied()
}

/// Returns the end of the line of `at`: its line break, or the end of the text.
pub(super) fn end(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at.saturating_add(memchr::memchr2(b'\n', b'\r', rest).unwrap_or(rest.len()))
}

/// Start of the line after that of `at`.
pub(super) fn next(text: &str, at: usize) -> usize {
    let end = end(text, at);
    let rest = text.as_bytes().get(end..).unwrap_or_default();
    let len = match rest {
        [b'\r', b'\n', ..] => 2,
        [_, ..] => 1,
        [] => 0,
    };
    end.saturating_add(len)
}

/// Returns the start of the line of `at`.
pub(super) fn start(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    memchr::memrchr2(b'\n', b'\r', before).map_or(0, |at| at.saturating_add(1))
}

/// Characters of the line before `at`.
pub(super) fn column(text: &str, at: usize) -> usize {
    text.get(start(text, at)..at).unwrap_or_default().chars().count()
}

/// End of the blanks at `at`.
pub(super) fn skip_blanks(text: &str, at: usize) -> usize {
    let rest = text.as_bytes().get(at..).unwrap_or_default();
    at.saturating_add(rest.iter().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// Before the blanks that end at `at`.
pub(super) fn before_blanks(text: &str, at: usize) -> usize {
    let before = text.as_bytes().get(..at).unwrap_or_default();
    at.saturating_sub(before.iter().rev().take_while(|byte| matches!(byte, b' ' | b'\t')).count())
}

/// End of the blanks, line breaks and comments at `at`.
pub(super) fn skip_ignored(text: &str, at: usize) -> usize {
    let mut at = at;
    loop {
        at = skip_blanks(text, at);
        match byte(text, at) {
            Some(b'\n' | b'\r') => at = next(text, at),
            // The YAML library takes `#` for a comment after a blank only.
            Some(b'#') => at = end(text, at),
            _ => return at,
        }
    }
}

/// Returns the rest of the line from `at` if it contains only blanks or a comment.
pub(super) fn rest(text: &str, at: usize) -> Option<&str> {
    let rest = text.get(at..end(text, at))?;
    let content = rest.trim_start_matches([' ', '\t']);
    (content.is_empty() || content.starts_with('#')).then_some(rest)
}

/// The line break of the text.
pub(super) fn newline(text: &str) -> &'static str {
    let first = memchr::memchr(b'\n', text.as_bytes());
    let before = first.and_then(|at| at.checked_sub(1)).and_then(|at| byte(text, at));
    if before == Some(b'\r') { "\r\n" } else { "\n" }
}
