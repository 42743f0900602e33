//! Writes tags: by a handle where that reads back as the tag, else in full.

use std::fmt::Write as _;

use container_core::{Error, Result};

/// Prefix of the tag handle `!!` unless a directive defines another.
pub const YAML_TAG_PREFIX: &str = "tag:yaml.org,2002:";

/// The text of a tag under these handles (with their marks, and their prefixes).
///
/// # Errors
/// `Usage` for an empty tag, or one with control characters.
pub(super) fn spell(tag: &str, handles: &[(String, String)]) -> Result<String> {
    if tag.is_empty() || tag.chars().any(char::is_control) {
        return Err(Error::usage(format!(
            "the tag {tag:?} is empty or has control characters, which YAML does not allow"
        )));
    }
    if tag == "!" {
        return Ok(tag.to_owned());
    }
    let is_given = |handle: &str| handles.iter().any(|(given, _)| given == handle);
    let defaults = [("!", "!"), ("!!", YAML_TAG_PREFIX)].into_iter().filter(|(handle, _)| !is_given(handle));
    let known = handles.iter().map(|(handle, prefix)| (handle.as_str(), prefix.as_str())).chain(defaults);
    // The longest prefix leaves the shortest text.
    let best = known
        .filter_map(|(handle, prefix)| Some((handle, prefix.len(), tag.strip_prefix(prefix)?)))
        .filter(|(_, _, suffix)| !suffix.is_empty() && suffix.bytes().all(is_shorthand))
        .max_by_key(|(_, len, _)| *len);
    if let Some((handle, _, suffix)) = best {
        return Ok(format!("{handle}{suffix}"));
    }
    let mut text = String::from("!<");
    for byte in tag.bytes() {
        if is_shorthand(byte) || matches!(byte, b'!' | b'?' | b',' | b'[' | b']') {
            text.push(char::from(byte));
        } else {
            // Readers replace escapes, so that a percent sign is escaped too.
            let _ = write!(text, "%{byte:02X}");
        }
    }
    text.push('>');
    Ok(text)
}

/// Bytes that every reader takes for a part of a shorthand tag, in flow collections too. A `!` would end another handle; a comma and brackets
/// belong to flow collections; `%` begins an escape.
const fn is_shorthand(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || matches!(
            byte,
            b'-' | b'_'
                | b'.'
                | b'/'
                | b';'
                | b':'
                | b'@'
                | b'&'
                | b'='
                | b'+'
                | b'$'
                | b'~'
                | b'*'
                | b'\''
                | b'('
                | b')'
        )
}

/// True for names that every reader takes for an anchor.
pub(crate) fn is_anchor(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}
