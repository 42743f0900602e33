//! URIs of schemas: joined to the base URI, and split from their fragment (RFC 3986, section 5).

use container_core::json_pointer::unescape;

/// Resolves `reference` against `base`. A base without a path to join to, as `tag:` and `urn:`, takes fragments only.
pub(super) fn join(base: &str, reference: &str) -> String {
    let (document, _) = split_fragment(base);
    if reference.is_empty() {
        return document.to_owned();
    }
    if let Some(fragment) = reference.strip_prefix('#') {
        return if fragment.is_empty() { document.to_owned() } else { format!("{document}#{fragment}") };
    }
    if scheme(reference).is_some() {
        return reference.to_owned();
    }
    let Some((scheme, rest)) = scheme(document) else {
        // A base that is itself relative: as a folder and a file.
        let folder = document.rfind('/').and_then(|at| document.get(..=at)).unwrap_or("");
        return if reference.starts_with('/') {
            reference.to_owned()
        } else {
            format!("{folder}{reference}")
        };
    };
    let Some(after) = rest.strip_prefix("//") else { return reference.to_owned() };
    let (authority, path) = after.split_at(after.find('/').unwrap_or(after.len()));
    if let Some(network) = reference.strip_prefix("//") {
        return format!("{scheme}://{network}");
    }
    let (wanted, fragment) = match reference.split_once('#') {
        Some((path, fragment)) => (path, format!("#{fragment}")),
        None => (reference, String::new()),
    };
    let joined = if wanted.starts_with('/') {
        wanted.to_owned()
    } else {
        let folder = path.rfind('/').and_then(|at| path.get(..=at)).unwrap_or("/");
        format!("{folder}{wanted}")
    };
    format!("{scheme}://{authority}{}{fragment}", without_dots(&joined))
}

/// The document and the fragment: `http://a/b#/c` is `http://a/b` and `/c`.
pub(super) fn split_fragment(uri: &str) -> (&str, &str) {
    uri.split_once('#').unwrap_or((uri, ""))
}

/// The steps of a JSON pointer, with percent signs and `~1`, `~0` decoded; `None` where the fragment is a name.
pub(super) fn pointer(fragment: &str) -> Option<Vec<String>> {
    if fragment.is_empty() {
        return Some(Vec::new());
    }
    let steps = fragment.strip_prefix('/')?;
    Some(steps.split('/').map(|step| unescape(&percent_decoded(step)).into_owned()).collect())
}

/// Whether `uri` matches `pattern`: `*` is anything without a slash, `**` anything.
pub(super) fn matches(pattern: &str, uri: &str) -> bool {
    if !pattern.contains('*') {
        return pattern == uri;
    }
    let parts = glob(pattern);
    let text: Vec<char> = uri.chars().collect();
    // Marks the reachable places of the text. Each part moves all of them, so no pattern takes more than parts × characters.
    let mut reached = vec![false; text.len().saturating_add(1)];
    if let Some(first) = reached.first_mut() {
        *first = true;
    }
    for part in &parts {
        let mut next = vec![false; reached.len()];
        let mut carried = false;
        for at in 0..reached.len() {
            let here = reached.get(at).copied().unwrap_or(false);
            let before = at.checked_sub(1).and_then(|before| text.get(before));
            let set = match part {
                GlobPart::Literal(want) => {
                    before == Some(want)
                        && at.checked_sub(1).and_then(|before| reached.get(before)).copied().unwrap_or(false)
                }
                GlobPart::Any => {
                    carried |= here;
                    carried
                }
                GlobPart::WithinSegment => {
                    carried = here || (carried && before != Some(&'/'));
                    carried
                }
            };
            if let Some(slot) = next.get_mut(at) {
                *slot = set;
            }
        }
        reached = next;
    }
    reached.last().copied().unwrap_or(false)
}

enum GlobPart {
    Literal(char),
    WithinSegment,
    Any,
}

fn glob(pattern: &str) -> Vec<GlobPart> {
    let mut parts = Vec::new();
    let mut chars = pattern.chars().peekable();
    while let Some(next) = chars.next() {
        parts.push(match next {
            '*' if chars.next_if_eq(&'*').is_some() => GlobPart::Any,
            '*' => GlobPart::WithinSegment,
            other => GlobPart::Literal(other),
        });
    }
    parts
}

fn scheme(uri: &str) -> Option<(&str, &str)> {
    let (scheme, rest) = uri.split_once(':')?;
    let known = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
    (scheme.starts_with(|c: char| c.is_ascii_alphabetic()) && scheme.chars().all(known))
        .then_some((scheme, rest))
}

fn without_dots(path: &str) -> String {
    let mut kept: Vec<&str> = Vec::new();
    let mut steps = path.split('/').peekable();
    while let Some(step) = steps.next() {
        let last = steps.peek().is_none();
        match step {
            "." if last => kept.push(""),
            "." => {}
            ".." => {
                if kept.len() > 1 {
                    kept.pop();
                }
                if last {
                    kept.push("");
                }
            }
            other => kept.push(other),
        }
    }
    kept.join("/")
}

fn percent_decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut rest = bytes;
    while let Some((&first, after)) = rest.split_first() {
        let pair = after.get(..2).and_then(|pair| std::str::from_utf8(pair).ok());
        match pair.and_then(|pair| u8::from_str_radix(pair, 16).ok()) {
            Some(byte) if first == b'%' => {
                out.push(byte);
                rest = after.get(2..).unwrap_or(&[]);
            }
            _ => {
                out.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// RFC 3986, section 5.4, and the forms in the schemas of the standard.
    #[test]
    fn references_are_joined_to_their_base() {
        let base = "http://a/b/c/d";
        for (reference, want) in [
            ("g", "http://a/b/c/g"),
            ("./g", "http://a/b/c/g"),
            ("g/", "http://a/b/c/g/"),
            ("/g", "http://a/g"),
            ("//g", "http://g"),
            ("g#s", "http://a/b/c/g#s"),
            ("#s", "http://a/b/c/d#s"),
            ("", "http://a/b/c/d"),
            (".", "http://a/b/c/"),
            ("..", "http://a/b/"),
            ("../g", "http://a/b/g"),
            ("../../g", "http://a/g"),
            ("../../../g", "http://a/g"),
            ("g:h", "g:h"),
            ("#", "http://a/b/c/d"),
        ] {
            assert_eq!(join(base, reference), want, "{reference}");
        }
        assert_eq!(
            join("http://stsci.edu/schemas/asdf/fits/fits-1.1.0", "../core/ndarray-1.0.0#/anyOf/1"),
            "http://stsci.edu/schemas/asdf/core/ndarray-1.0.0#/anyOf/1"
        );
        assert_eq!(join("asdf://a.org/b/c-1.0.0", "d-1.0.0"), "asdf://a.org/b/d-1.0.0");
        assert_eq!(join("tag:a.org:b", "#/c"), "tag:a.org:b#/c");
        assert_eq!(join("", "#/definitions/a"), "#/definitions/a");
        assert_eq!(join("", "other.yaml"), "other.yaml");
    }

    #[test]
    fn stars_stop_at_slashes_unless_there_are_two() {
        for (pattern, uri, want) in [
            ("tag:a/b-1.0.0", "tag:a/b-1.0.0", true),
            ("tag:a/b-1.0.0", "tag:a/b-1.0.01", false),
            ("tag:a/b-1.*", "tag:a/b-1.0.0", true),
            ("tag:a/b-1.*", "tag:a/b-1.0.0/c", false),
            ("tag:a/**", "tag:a/b/c", true),
            ("tag:a/*/c", "tag:a/b/c", true),
            ("tag:a/*/c", "tag:a/b/b/c", false),
            ("**", "anything/at all", true),
            ("*", "", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "axxbyy", false),
            ("a.b*", "axb", false),
        ] {
            assert_eq!(matches(pattern, uri), want, "{pattern} {uri}");
        }
    }

    #[test]
    fn pointers_are_decoded() {
        assert_eq!(pointer(""), Some(vec![]));
        assert_eq!(pointer("/a~1b/c%25d/~0"), Some(vec!["a/b".into(), "c%d".into(), "~".into()]));
        assert_eq!(pointer("name"), None);
    }
}
