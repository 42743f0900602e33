//! Kinds of text that are taken for containers: pages of servers, pointers of Git LFS, JSON, YAML, tables.

use super::Foreign;

const LFS: Foreign = Foreign {
    what: "a pointer of Git LFS, not the file itself",
    hint: "git lfs pull, which downloads the file",
};
const HTML: Foreign = Foreign {
    what: "an HTML page",
    hint: "a browser shows it: a server may have answered a download with an error or a login",
};
const XML: Foreign =
    Foreign { what: "an XML text", hint: "a server may have answered a download with an error: head FILE" };
const JSON: Foreign = Foreign {
    what: "a JSON text",
    hint: "Python's json.load reads it; numpy.save writes arrays that holdall converts",
};
const YAML: Foreign = Foreign {
    what: "a YAML text without the line #ASDF 1.0.0",
    hint: "asdf.AsdfFile(yaml.safe_load(open('FILE'))).write_to('NEW.asdf') in Python makes an ASDF file of it",
};
const TEXT: Foreign = Foreign {
    what: "a text",
    hint: "holdall pack --csv FILE NEW.asdf for a table of values, holdall pack --items lines FILE NEW.blp for lines",
};

/// The kind of a text by its first bytes; `None` for bytes that are not text.
pub(super) fn kind(head: &[u8]) -> Option<Foreign> {
    let text = match std::str::from_utf8(head) {
        Ok(text) => text,
        // A character may be cut at the end of the head.
        Err(error) if error.error_len().is_none() => {
            std::str::from_utf8(head.get(..error.valid_up_to())?).ok()?
        }
        Err(_) => return None,
    };
    let is_text = |c: char| !c.is_control() || matches!(c, '\t' | '\n' | '\r' | '\u{c}');
    if text.is_empty() || !text.chars().all(is_text) {
        return None;
    }
    let start = text.trim_start_matches('\u{feff}').trim_start();
    let begins = |word: &str| start.get(..word.len()).is_some_and(|start| start.eq_ignore_ascii_case(word));
    Some(match start {
        _ if begins("version https://git-lfs") => LFS,
        _ if begins("<!doctype html") || begins("<html") => HTML,
        _ if begins("<?xml") => XML,
        _ if begins("%YAML") || start.starts_with("---\n") => YAML,
        _ if start.starts_with('{') || start.starts_with('[') => JSON,
        _ => TEXT,
    })
}
