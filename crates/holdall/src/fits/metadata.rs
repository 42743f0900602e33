//! Metadata as cards: scalars that fit in one.

use container_core::container::Dataset;
use container_core::format::WriteRequest;
use container_core::report::Loss;
use container_core::{Result, Value};

use crate::attributes::{self, Entries};

use super::cards::{Card, CardValue, Header};

/// Names that a loss lists before it only counts.
const MAX_LISTED: usize = 1000;

/// Keywords that describe data storage or the header itself. Entries of these names are written under `HIERARCH`.
const RESERVED: [&str; 22] = [
    "SIMPLE", "XTENSION", "BITPIX", "NAXIS", "EXTEND", "PCOUNT", "GCOUNT", "GROUPS", "BSCALE", "BZERO",
    "BLANK", "BUNIT", "EXTNAME", "EXTVER", "EXTLEVEL", "INHERIT", "CHECKSUM", "DATASUM", "COMMENT",
    "HISTORY", "CONTINUE", "END",
];

/// The metadata of the file, without the arrays, and the losses that FITS cannot avoid.
pub(super) fn of_file(job: &WriteRequest<'_>) -> Result<Entries> {
    attributes::of(job.container, job.selection)
}

/// The name of an extension.
pub(super) fn name(path: &str, header: &mut Header, losses: &mut Vec<Loss>) {
    let card = Card::new("EXTNAME", &CardValue::Text(path.to_owned()));
    if card.is_none_or(|card| !header.push(card)) {
        losses.push(Loss {
            dataset: Some(path.to_owned()),
            what: "its name, which does not fit a card".into(),
        });
    }
}

/// Adds a card for each entry that is a scalar and fits; entries of maps get the map's name as a prefix. Others are losses. The attribute
/// `unit` of an image is its BUNIT.
pub(super) fn cards(
    entries: &[(String, Value)],
    header: &mut Header,
    image: Option<&Dataset>,
    losses: &mut Vec<Loss>,
) {
    let mut lost = Vec::new();
    for (key, value) in entries {
        if let (Some(_), "unit" | "units", Value::Text(unit)) = (image, key.as_str(), value)
            && let Some(card) = Card::new("BUNIT", &CardValue::Text(unit.clone()))
            && header.push(card)
        {
            continue;
        }
        add(&mut vec![key.as_str()], value, header, &mut lost);
    }
    if lost.is_empty() {
        return;
    }
    let more = lost.len().saturating_sub(MAX_LISTED);
    lost.truncate(MAX_LISTED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    let what = format!("metadata that do not fit a card: {}{more}", lost.join(", "));
    losses.push(Loss { dataset: image.map(|image| image.path.clone()), what });
}

/// Recurses as deep as the tree is, which its reader has bounded.
fn add<'a>(steps: &mut Vec<&'a str>, value: &'a Value, header: &mut Header, lost: &mut Vec<String>) {
    if let Value::Map(entries) = value
        && !entries.is_empty()
    {
        for (key, value) in entries {
            steps.push(key);
            add(steps, value, header, lost);
            steps.pop();
        }
        return;
    }
    let card = keyword(steps).and_then(|key| Card::new(&key, &scalar(value)?));
    if card.is_none_or(|card| !header.push(card)) {
        lost.push(steps.join("/"));
    }
}

/// The keyword, or the words after `HIERARCH`; `None` for names with characters that cards lack.
fn keyword(steps: &[&str]) -> Option<String> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let words = steps.iter().flat_map(|step| step.split(' '));
    let words: Vec<String> = words
        .map(|word| (!word.is_empty() && word.chars().all(fits)).then(|| word.to_ascii_uppercase()))
        .collect::<Option<_>>()?;
    let reserved = |word: &str| {
        RESERVED.contains(&word) || word.strip_prefix("NAXIS").is_some_and(|rest| rest.parse::<u32>().is_ok())
    };
    match words.as_slice() {
        // A second word makes it no keyword of the standard.
        [word] if reserved(word) => Some(format!("HOLDALL {word}")),
        words => Some(words.join(" ")),
    }
}

fn scalar(value: &Value) -> Option<CardValue> {
    Some(match value {
        Value::Bool(value) => CardValue::Plain(if *value { "T" } else { "F" }.into()),
        Value::Int(value) => CardValue::Plain(value.to_string()),
        Value::Float(value) if value.is_finite() => CardValue::Plain(real(*value)),
        // Trailing blanks are insignificant in a card.
        Value::Text(text) if !text.ends_with(' ') => CardValue::Text(text.clone()),
        _ => return None,
    })
}

/// The shortest digits that give the number again, with a point and the letter E.
fn real(value: f64) -> String {
    let text = format!("{value:?}");
    match text.split_once('e') {
        Some((digits, exponent)) if digits.contains('.') => format!("{digits}E{exponent}"),
        Some((digits, exponent)) => format!("{digits}.0E{exponent}"),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_standard_or_hierarch_keywords() {
        assert_eq!(keyword(&["gain"]).unwrap(), "GAIN");
        assert_eq!(keyword(&["roman", "meta", "exposure time"]).unwrap(), "ROMAN META EXPOSURE TIME");
        assert_eq!(keyword(&["naxis1"]).unwrap(), "HOLDALL NAXIS1");
        assert_eq!(keyword(&["größe"]), None);
        assert_eq!(keyword(&["a=b"]), None);
    }

    #[test]
    fn numbers_have_a_point() {
        for (value, text) in [(1.5, "1.5"), (1e300, "1.0E300"), (-2.5e-10, "-2.5E-10"), (3.0, "3.0")] {
            assert_eq!(real(value), text);
        }
    }
}
