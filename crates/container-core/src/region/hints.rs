//! Next steps for selections that numpy or another program takes, and an address does not.

use crate::Error;

/// Maximum number of addresses that stand for a list of indices.
const MAX_ADDRESSES: usize = 4;

/// The error of a selection, with its text, and with the next step where the mistake is a known one.
pub(super) fn add(error: Error, text: &str) -> Error {
    let error = error.with_context(format!("selection [{text}]"));
    match next_step(text) {
        Some(step) => error.with_hint(step),
        None => error,
    }
}

fn next_step(text: &str) -> Option<String> {
    let text = text.trim();
    let terms = || text.split(',').map(str::trim);
    let is_condition = text.contains(['<', '>', '=', '!', '&', '|', '~'])
        || text.split(|c: char| !c.is_alphanumeric()).any(|word| word == "True" || word == "False");
    if is_condition {
        return Some(
            "numpy in Python: holdall.open('FILE')['PATH'][...] is an array, which takes conditions".into(),
        );
    }
    if text.contains("slice(") {
        return Some("FILE::PATH[START:STOP:STEP]".into());
    }
    if let Some(list) = list(text) {
        return Some(list);
    }
    let ranges = terms().filter_map(|term| {
        let (start, stop) = term.split_once("..").or_else(|| term.split_once('-'))?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        (is_number(start) && is_number(stop))
            .then(|| format!("FILE::PATH[{start}:{stop}], which is without {stop}"))
    });
    if let Some(range) = ranges.into_iter().next() {
        return Some(range);
    }
    if terms().any(|term| matches!(term, "None" | "newaxis" | "np.newaxis" | "numpy.newaxis")) {
        return Some("the selection without it: axes of length 1 are added by the program that reads".into());
    }
    if terms().any(|term| {
        term.parse::<f64>().is_ok_and(|number| number.is_finite() && term.contains(['.', 'e', 'E']))
    }) {
        return Some("whole numbers, which count elements from 0".into());
    }
    let is_name = |term: &str| {
        let term = term.trim_matches(['\'', '"']);
        term.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && term.chars().all(|c| c.is_alphanumeric() || c == '_')
    };
    if terms().any(is_name) {
        return Some(
            "holdall cat FILE::PATH --format csv, which has a column for each field of records".into(),
        );
    }
    if text.contains(';') || text.split_whitespace().nth(1).is_some_and(|_| !text.contains([',', ':'])) {
        return Some("commas between the axes: FILE::PATH[0, 1:3]".into());
    }
    None
}

/// The next step for a list of indices: a slice with their step, or an address for each.
fn list(text: &str) -> Option<String> {
    if !text.contains(['[', ']', '(', ')']) {
        return None;
    }
    let inside = text.strip_prefix(['[', '(']).and_then(|rest| rest.strip_suffix([']', ')']));
    let numbers: Option<Vec<i64>> =
        inside.and_then(|inside| inside.split(',').map(|number| number.trim().parse().ok()).collect());
    let general = || "a slice with a step, FILE::PATH[1:8:2], or an address for each index".to_owned();
    let Some(numbers) = numbers else { return Some(general()) };
    if let [first, second, .., last] = numbers[..]
        && let Some(step) = second.checked_sub(first).filter(|step| *step > 0)
        && numbers.windows(2).all(|pair| matches!(pair, [a, b] if b.checked_sub(*a) == Some(step)))
        && first >= 0
        && let Some(end) = last.checked_add(1)
    {
        let step = if step == 1 { String::new() } else { format!(":{step}") };
        return Some(format!("FILE::PATH[{first}:{end}{step}]"));
    }
    if numbers.len() > MAX_ADDRESSES {
        return Some(general());
    }
    let addresses = numbers.iter().map(|number| format!("FILE::PATH[{number}]"));
    Some(format!("an address for each: {}", addresses.collect::<Vec<_>>().join(" ")))
}
