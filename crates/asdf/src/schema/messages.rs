//! Messages of violations.

use super::keyword_values::Type;
use super::number::Number;
use crate::yaml::{Kind, Node, Scalar};

/// Maximum number of characters of a value that are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// Maximum number of names or reasons that are listed.
const MAX_LISTED: usize = 6;

/// Formats a value for a message.
pub(super) fn value(node: Node<'_>) -> String {
    match node.kind() {
        Kind::Sequence => format!("a list of {} items", node.len()),
        Kind::Mapping => format!("a mapping of {} keys", node.len()),
        Kind::Scalar => match node.scalar() {
            Some(Scalar::Text(text)) => format!("`{}`", shortened(text, MAX_SHOWN_CHARS)),
            Some(Scalar::Null) => "null".into(),
            _ => shortened(node.text(), MAX_SHOWN_CHARS),
        },
    }
}

pub(super) fn number(number: &Number) -> String {
    match number {
        Number::Int(value) => value.to_string(),
        Number::Big(digits) => shortened(digits, MAX_SHOWN_CHARS),
        Number::Float(value) => value.to_string(),
    }
}

/// The tag in the text, or YAML's tag for such a value.
pub(super) fn tag(node: Node<'_>) -> &str {
    if let Some(tag) = node.tag() {
        return tag;
    }
    match (node.kind(), node.scalar()) {
        (Kind::Mapping, _) => "tag:yaml.org,2002:map",
        (Kind::Sequence, _) => "tag:yaml.org,2002:seq",
        (_, Some(Scalar::Null)) => "tag:yaml.org,2002:null",
        (_, Some(Scalar::Bool(_))) => "tag:yaml.org,2002:bool",
        (_, Some(Scalar::Int(_))) => "tag:yaml.org,2002:int",
        (_, Some(Scalar::Float(_))) => "tag:yaml.org,2002:float",
        (_, Some(Scalar::Timestamp(_))) => "tag:yaml.org,2002:timestamp",
        (_, Some(Scalar::Binary(_))) => "tag:yaml.org,2002:binary",
        _ => "tag:yaml.org,2002:str",
    }
}

pub(super) fn wrong_type(node: Node<'_>, types: &[Type]) -> String {
    let have = match (node.kind(), node.scalar()) {
        (Kind::Mapping, _) => "an object",
        (Kind::Sequence, _) => "an array",
        (_, Some(Scalar::Null)) => "null",
        (_, Some(Scalar::Bool(_))) => "a boolean",
        (_, Some(Scalar::Int(_))) => "an integer",
        (_, Some(Scalar::Float(_))) => "a number",
        (_, Some(Scalar::Timestamp(_))) => "a date",
        (_, Some(Scalar::Binary(_))) => "binary data",
        _ => "a string",
    };
    let names: Vec<String> = types.iter().map(|kind| kind.name().to_owned()).collect();
    format!("is {have}, not of type {}", names.join(" or "))
}

pub(super) fn beyond(node: Node<'_>, side: &str, bound: &Number) -> String {
    format!("{} is {side} {}", value(node), number(bound))
}

pub(super) fn axes(have: Option<u64>, wanted: &str) -> String {
    match have {
        Some(1) => format!("has 1 dimension (expected {wanted})"),
        Some(have) => format!("has {have} dimensions (expected {wanted})"),
        None => format!("has no shape (expected {wanted} dimensions)"),
    }
}

pub(super) fn lacks(keys: &[&str]) -> String {
    format!(
        "lacks {}",
        some_of(&keys.iter().map(|key| format!("`{}`", shortened(key, MAX_SHOWN_CHARS))).collect::<Vec<_>>())
    )
}

pub(super) fn refuses(keys: &[String]) -> String {
    format!(
        "has {}, which is not allowed",
        some_of(&keys.iter().map(|key| format!("`{}`", shortened(key, MAX_SHOWN_CHARS))).collect::<Vec<_>>())
    )
}

pub(super) fn fits_several(which: &[usize], of: usize) -> String {
    let which: Vec<String> = which.iter().map(ToString::to_string).collect();
    format!(
        "matches {} of {of} alternatives (expected exactly one, found numbers {})",
        which.len(),
        some_of(&which)
    )
}

pub(super) fn fits_none(reasons: &[String], of: usize) -> String {
    match reasons {
        [one] => format!("matches none of {of} alternatives; the nearest fails because it {one}"),
        many => format!("matches none of {of} alternatives: {}", listed(many)),
    }
}

/// Message for a value of a kind that fits no alternative.
pub(super) fn of_no_kind(reasons: &[String]) -> String {
    if reasons.is_empty() { "matches no alternative".into() } else { format!("{NO_KIND}{}", listed(reasons)) }
}

pub(super) fn is_of_no_kind(message: &str) -> bool {
    message.starts_with(NO_KIND)
}

const NO_KIND: &str = "is not allowed here: ";

fn listed(reasons: &[String]) -> String {
    let more = if reasons.len() > MAX_LISTED { "; …" } else { "" };
    let listed: Vec<&str> = reasons.iter().take(MAX_LISTED).map(String::as_str).collect();
    format!("{}{more}", listed.join("; "))
}

/// The first of several names.
pub(super) fn some_of(names: &[String]) -> String {
    let listed: Vec<&str> = names.iter().take(MAX_LISTED).map(String::as_str).collect();
    let more = names.len().saturating_sub(MAX_LISTED);
    if more == 0 { listed.join(", ") } else { format!("{} and {more} more", listed.join(", ")) }
}

/// A reason about a value at a path within the value of the message.
pub(super) fn reason(within: &str, message: &str) -> String {
    let message = shortened(message.strip_prefix(NO_KIND).unwrap_or(message), 160);
    if within.is_empty() { message } else { format!("`{}` {message}", shortened(within, MAX_SHOWN_CHARS)) }
}

/// The first characters of a text, in one line.
pub(super) fn shortened(text: &str, most: usize) -> String {
    let line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).take(most).collect();
    if text.chars().nth(most).is_some() { format!("{line}…") } else { line }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::yaml::{Document, YamlLimits};

    fn with<T>(text: &str, look: impl Fn(Node<'_>) -> T) -> T {
        let text = format!("%YAML 1.1\n--- {text}\n...\n");
        look(Document::parse(text.as_bytes(), 0, &YamlLimits::default()).unwrap().root())
    }

    /// The types of JSON Schema draft-04, and those that YAML has besides.
    #[test]
    fn values_are_named_by_their_type() {
        for (text, name, yaml) in [
            ("{a: 1}", "object", "map"),
            ("[1]", "array", "seq"),
            ("null", "null", "null"),
            ("yes", "boolean", "bool"),
            ("5", "integer", "int"),
            ("5.5", "number", "float"),
            ("2001-12-14", "date", "timestamp"),
            ("!!binary aGk=", "binary", "binary"),
            ("x", "string", "str"),
        ] {
            let message = with(text, |node| wrong_type(node, &[Type::Integer, Type::Null]));
            assert!(message.contains(name) && message.ends_with("integer or null"), "{text}: {message}");
            assert_eq!(
                with(text, |node| tag(node).to_owned()),
                format!("tag:yaml.org,2002:{yaml}"),
                "{text}"
            );
        }
        assert_eq!(with("!own x", |node| tag(node).to_owned()), "!own");
    }

    #[test]
    fn values_are_shown_short() {
        for (text, shown) in [
            ("[1, 2, 3]", "3"),
            ("{a: 1, b: 2}", "2"),
            ("null", "null"),
            ("5.50", "5.50"),
            ("'a\tb'", "`a b`"),
        ] {
            assert!(with(text, value).contains(shown), "{text}: {}", with(text, value));
        }
        // Forty characters, and one more.
        let (most, more) = ("x".repeat(40), "x".repeat(41));
        assert_eq!((shortened(&most, 40), shortened(&more, 40)), (most.clone(), format!("{most}…")));
        assert_eq!(
            (number(&Number::Int(-5)), number(&Number::Float(0.5))),
            ("-5".to_owned(), "0.5".to_owned())
        );
        assert_eq!(number(&Number::Big("9".repeat(41))), format!("{}…", "9".repeat(40)));
    }

    /// Six are listed, and the others counted.
    #[test]
    fn names_and_reasons_are_listed_up_to_six() {
        let names = |count: usize| (0..count).map(|at| format!("n{at}")).collect::<Vec<_>>();
        assert_eq!(some_of(&names(6)), "n0, n1, n2, n3, n4, n5");
        let more = some_of(&names(8));
        assert!(
            more.starts_with("n0, n1, n2, n3, n4, n5 ") && more.contains('2') && !more.contains("n6"),
            "{more}"
        );
        let reasons = |count| fits_none(&names(count), count);
        assert!(reasons(6).ends_with("n5") && reasons(6).contains('6'), "{}", reasons(6));
        assert!(reasons(7).ends_with('…') && !reasons(7).contains("n6"), "{}", reasons(7));
        assert!(reasons(1).contains("n0"), "{}", reasons(1));
        let several = fits_several(&[1, 3], 4);
        assert!(["2", "4", "1, 3"].iter().all(|part| several.contains(part)), "{several}");
        for (message, part) in [
            (lacks(&["a", "b"]), "`a`, `b`"),
            (refuses(&names(1)), "`n0`"),
            (axes(Some(1), "at most 3"), "1 "),
            (axes(Some(2), "at most 3"), "2 "),
            (axes(None, "3"), "3"),
        ] {
            assert!(message.contains(part), "{message}");
        }
        assert!(with("7", |node| beyond(node, "above", &Number::Int(5))).contains("7 is above 5"));
        // The words that introduce several reasons are left out.
        assert!(is_of_no_kind(&of_no_kind(&names(2))) && !is_of_no_kind(&of_no_kind(&[])));
        assert_eq!(reason("", &of_no_kind(&names(2))), "n0; n1");
        assert_eq!(reason("a/b", "n0"), "`a/b` n0");
        assert!(reason("", &"x".repeat(161)).ends_with("x…"));
    }
}
