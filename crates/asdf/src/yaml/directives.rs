//! The lines before `---` that begin with `%`.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

/// Handles and prefixes of the `%TAG` lines.
pub(super) fn tag_handles(text: &str) -> Vec<(String, String)> {
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
