//! Suggestions for names that do not exist: paths of datasets, keys of metadata, words of options, files.
//!
//! Names of a file are hostile, and there may be millions: the number of compared names, their length and the work of comparing are bounded.

use std::collections::BinaryHeap;

use container_core::Value;
use container_core::json_pointer::escape;

use crate::address::place;

/// Maximum number of suggestions.
pub const MAX_SUGGESTED: usize = 4;

/// Maximum number of names that are compared. 10^5 of them take about 20 ms.
pub(crate) const MAX_COMPARED: usize = 1 << 17;

/// Maximum length of a compared name, in bytes. Longer ones are never suggested.
const MAX_NAME_LEN: usize = 256;

/// Maximum work of one search: the sum of products of lengths, in bytes, of the parts whose edit distance is computed.
const MAX_WORK: usize = 1 << 26;

/// Likeness of a name: kinds from the nearest to the furthest, each with a distance.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Likeness {
    /// Equal but for case, and for the characters that separate words.
    Spelling,
    /// The one ends with the other, at a slash: `data` and `roman/data`.
    Suffix,
    /// Edit distance.
    Typo(usize),
    /// The same last name below another group.
    LastName(usize),
    /// Edit distance of the last names.
    LastTypo(usize),
    /// The one contains the other. The number of further characters.
    Part(usize),
}

/// The names that are most like `wanted`, the nearest first: at most [`MAX_SUGGESTED`]. Of equally near ones, the first come first.
pub fn nearest<S: AsRef<str>>(wanted: &str, names: impl IntoIterator<Item = S>) -> Vec<String> {
    let Some(wanted) = Spelled::new(wanted) else { return Vec::new() };
    let mut work = MAX_WORK;
    // The furthest of those kept is on top.
    let mut kept: BinaryHeap<(Likeness, usize, String)> = BinaryHeap::new();
    for (at, name) in names.into_iter().take(MAX_COMPARED).enumerate() {
        let name = name.as_ref();
        let Some(likeness) = Spelled::new(name).and_then(|name| wanted.likeness(&name, &mut work)) else {
            continue;
        };
        let is_full = kept.len() >= MAX_SUGGESTED;
        if is_full && kept.peek().is_some_and(|(furthest, ..)| *furthest <= likeness) {
            continue;
        }
        if kept.iter().any(|(_, _, known)| known == name) {
            continue;
        }
        if is_full {
            kept.pop();
        }
        kept.push((likeness, at, name.to_owned()));
    }
    kept.into_sorted_vec().into_iter().map(|(_, _, name)| name).collect()
}

/// The question for the user, of `count` names in all; `None` where no name is near.
pub fn did_you_mean<S: AsRef<str>>(
    wanted: &str,
    names: impl IntoIterator<Item = S>,
    count: usize,
) -> Option<String> {
    let names = nearest(wanted, names);
    let others = count.saturating_sub(names.len());
    let listed = names.iter().map(|name| crate::address::typed(name)).collect::<Vec<_>>().join(", ");
    match others {
        _ if names.is_empty() => None,
        0 => Some(format!("did you mean {listed}?")),
        1 => Some(format!("did you mean {listed}? (1 other)")),
        others => Some(format!("did you mean {listed}? ({others} others)")),
    }
}

/// The question whether another place of a tree is meant, where there is nothing at a JSON pointer: a sibling of the first step that is
/// missing, else any place.
#[must_use]
pub fn did_you_mean_place(tree: &Value, pointer: &str) -> Option<String> {
    let mut known = pointer;
    while tree.pointer(known).is_none() {
        known = known.rsplit_once('/').map_or("", |(above, _)| above);
    }
    let siblings = children(tree.pointer(known)?, known);
    let missing = pointer.get(known.len()..)?.trim_start_matches('/');
    let wanted = format!("{known}/{}", missing.split('/').next().unwrap_or_default());
    let places = |pointers: Vec<String>| {
        pointers.into_iter().map(|pointer| place(&pointer).to_owned()).collect::<Vec<_>>()
    };
    let siblings = places(siblings.map(|(pointer, _)| pointer).collect());
    if let Some(question) = did_you_mean(place(&wanted), &siblings, siblings.len()) {
        return Some(question);
    }
    did_you_mean(place(pointer), places(all_places(tree)), 0)
}

/// The parts of a value, each with its pointer.
fn children<'v>(value: &'v Value, pointer: &str) -> impl Iterator<Item = (String, &'v Value)> {
    let (entries, items) = match value {
        Value::Map(entries) => (entries.as_slice(), [].as_slice()),
        Value::List(items) => ([].as_slice(), items.as_slice()),
        _ => ([].as_slice(), [].as_slice()),
    };
    let named = entries.iter().map(|(key, value)| (escape(key).into_owned(), value));
    let numbered = items.iter().enumerate().map(|(number, value)| (number.to_string(), value));
    named.chain(numbered).take(MAX_COMPARED).map(move |(step, value)| (format!("{pointer}/{step}"), value))
}

/// Pointers of a tree, those of higher levels first; as many as are compared.
fn all_places(tree: &Value) -> Vec<String> {
    let mut found: Vec<(String, &Value)> = children(tree, "").collect();
    let mut at = 0;
    while let Some((pointer, value)) = found.get(at).cloned() {
        if found.len() >= MAX_COMPARED {
            break;
        }
        // Long pointers are not compared.
        if pointer.len() <= MAX_NAME_LEN {
            found.extend(children(value, &pointer));
        }
        at = at.saturating_add(1);
    }
    found.into_iter().map(|(pointer, _)| pointer).collect()
}

/// A name as it is compared.
struct Spelled {
    /// In lower case, with one separator of names and one of words.
    plain: String,
    /// The letters, digits and others in it, a bit each.
    letters: u32,
    chars: usize,
}

impl Spelled {
    /// `None` for names that are too long, or empty.
    fn new(name: &str) -> Option<Self> {
        if name.len() > MAX_NAME_LEN {
            return None;
        }
        let plain: String = name.trim_matches('/').chars().flat_map(char::to_lowercase).map(plain).collect();
        let chars = plain.chars().count();
        let letters = plain.bytes().fold(0, |letters, byte| letters | 1_u32.wrapping_shl(u32::from(byte)));
        (chars > 0).then_some(Self { plain, letters, chars })
    }

    fn likeness(&self, name: &Self, work: &mut usize) -> Option<Likeness> {
        if self.plain == name.plain {
            return Some(Likeness::Spelling);
        }
        if ends_with(&name.plain, &self.plain) || ends_with(&self.plain, &name.plain) {
            return Some(Likeness::Suffix);
        }
        let (own_group, own_last) = split(&self.plain);
        let (group, last) = split(&name.plain);
        let lasts = || Some((Self::new(own_last)?, Self::new(last)?));
        // Within one group the last names decide: a long common start makes no two names alike.
        let typo = match own_group == group && !group.is_empty() {
            true => lasts().and_then(|(own, other)| distance(&own, &other, work)),
            false => distance(self, name, work),
        };
        if let Some(distance) = typo {
            return Some(Likeness::Typo(distance));
        }
        if own_last == last && !last.bytes().all(|byte| byte.is_ascii_digit()) {
            return Some(Likeness::LastName(own_group.len().abs_diff(group.len())));
        }
        if own_group != group
            && let Some((own, other)) = lasts()
            && let Some(distance) = distance(&own, &other, work)
        {
            return Some(Likeness::LastTypo(distance));
        }
        let is_part = |short: &Self, long: &Self| short.chars > 2 && long.plain.contains(&short.plain);
        let is_part = is_part(self, name)
            || is_part(name, self)
            || lasts().is_some_and(|(own, other)| is_part(&own, &other) || is_part(&other, &own));
        is_part.then(|| Likeness::Part(self.chars.abs_diff(name.chars)))
    }
}

/// Separators that people confuse are one: `a.b`, `a\b` and `a/b`, `a-b`, `a b` and `a_b`.
const fn plain(c: char) -> char {
    match c {
        '.' | '\\' | ':' => '/',
        '-' | ' ' => '_',
        other => other,
    }
}

fn ends_with(long: &str, short: &str) -> bool {
    long.strip_suffix(short).is_some_and(|before| before.ends_with('/'))
}

/// The group and the last name of a path.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// The edit distance (with transpositions) of two names, where that is small. Names that differ in length or letters by more are not compared.
fn distance(a: &Spelled, b: &Spelled, work: &mut usize) -> Option<usize> {
    let limit = (a.chars / 3).clamp(1, 5);
    // Each edit changes at most two of the sets' bits.
    let differing = usize::try_from((a.letters ^ b.letters).count_ones()).unwrap_or(usize::MAX);
    if a.chars.abs_diff(b.chars) > limit || differing > limit.saturating_mul(2) {
        return None;
    }
    // One character is replaced in every name of one character.
    if a.chars.min(b.chars) < 2 {
        return None;
    }
    // The distance is that of the parts that differ, which are short in series of names.
    let (a, b) = different_parts(&a.plain, &b.plain);
    *work = work.checked_sub(a.len().saturating_mul(b.len()))?;
    Some(strsim::osa_distance(a, b)).filter(|distance| *distance <= limit)
}

/// Two texts without their common start and end.
fn different_parts<'t>(a: &'t str, b: &'t str) -> (&'t str, &'t str) {
    let start = a.char_indices().zip(b.chars()).find(|((_, a), b)| a != b).map(|((at, _), _)| at);
    let start = start.unwrap_or(a.len().min(b.len()));
    let (a, b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    let pairs = a.chars().rev().zip(b.chars().rev()).take_while(|(a, b)| a == b);
    let end: usize = pairs.map(|(c, _)| c.len_utf8()).fold(0, usize::saturating_add);
    let cut = |text: &'t str| text.get(..text.len().saturating_sub(end)).unwrap_or_default();
    (cut(a), cut(b))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(wanted: &str, names: &[&str]) -> Vec<String> {
        nearest(wanted, names)
    }

    #[test]
    fn spelling_comes_before_suffixes_typos_and_parts() {
        let names = ["roman/data", "roman/dq", "roman/err", "Data", "roman/meta/exposure", "other/date"];
        assert_eq!(found("data", &names), ["Data", "roman/data", "other/date"]);
        for misspelt in ["ROMAN/DATA", "roman.data", "/roman/data/", "roman/dta", "roman/daat"] {
            assert_eq!(found(misspelt, &names)[0], "roman/data", "{misspelt}");
        }
        assert_eq!(found("raomn/data", &names[..3]), ["roman/data"]);
        assert_eq!(found("roman/metadata", &["roman/data", "roman/dq"]), ["roman/data"]);
        // A long common start makes no two names alike.
        assert_eq!(found("survey/images/x", &["survey/images/dq", "survey/images/y"]), [""; 0]);
        assert_eq!(found("x/y/err", &names), ["roman/err"]);
        assert_eq!(found("exposur", &names), ["roman/meta/exposure"]);
        assert_eq!(found("image/position", &["position", "velocity"]), ["position"]);
        assert_eq!(found("zstdd", &["none", "zlib", "zstd"]), ["zstd"]);
        assert!(found("quite different", &names).is_empty());
        assert!(found("", &names).is_empty() && found("/", &names).is_empty());
        assert!(found("x", &["y", "z"]).is_empty());
        assert_eq!(found("X", &["y", "x"]), ["x"]);
        assert_eq!(found("größe", &["grösze", "Größe"]), ["Größe"]);
        assert_eq!(found("größen", &["größem", "Größe"]), ["größem", "Größe"]);
    }

    #[test]
    fn the_first_few_are_named_once_and_the_others_counted() {
        let names: Vec<String> = (0..20).map(|number| format!("value{number}")).collect();
        assert_eq!(nearest("valu3", &names)[0], "value3");
        assert_eq!(nearest("value", &names), ["value0", "value1", "value2", "value3"]);
        assert_eq!(nearest("a/x", ["b/x", "b/x", "c/x"]), ["b/x", "c/x"]);
        let question = did_you_mean("value", &names, names.len());
        assert_eq!(question.as_deref(), Some("did you mean value0, value1, value2, value3? (16 others)"));
        assert_eq!(did_you_mean("dat", ["data"], 1).as_deref(), Some("did you mean data?"));
        assert_eq!(did_you_mean("dat", ["data", "x"], 2).as_deref(), Some("did you mean data? (1 other)"));
        assert_eq!(did_you_mean("dat", ["x"], 1), None);
    }

    #[test]
    fn places_are_looked_for_among_siblings_and_then_everywhere() {
        let map = |entries: &[(&str, Value)]| {
            Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
        };
        let meta = map(&[("exposure", Value::Int(1)), ("a/b", Value::Int(2))]);
        let tree = map(&[
            ("roman", map(&[("meta", meta), ("list", vec![Value::Int(3)].into())])),
            ("x", Value::Null),
        ]);
        let question = |pointer| did_you_mean_place(&tree, pointer);
        assert_eq!(question("/roman/mta").as_deref(), Some("did you mean roman/meta? (1 other)"));
        assert_eq!(question("/roman/mta/exposure").as_deref(), Some("did you mean roman/meta? (1 other)"));
        assert_eq!(question("/Roman").as_deref(), Some("did you mean roman? (1 other)"));
        assert_eq!(question("/exposure").as_deref(), Some("did you mean roman/meta/exposure?"));
        assert_eq!(question("/roman/meta/a/b").as_deref(), Some("did you mean roman/meta/a~1b? (1 other)"));
        assert_eq!(question("/quite/other").as_deref(), None);
        assert_eq!(did_you_mean_place(&Value::Null, "/a"), None);
    }

    #[test]
    fn the_distance_is_that_of_the_whole_names() {
        for (a, b) in [
            ("detector_054321_dat", "detector_054321_data"),
            ("detector_054321_data", "detector_004321_data"),
            ("abab", "ab"),
            ("größe", "grösse"),
            ("abcd", "abdc"),
            ("aaaa", "aa"),
            ("xaby", "xbay"),
            ("same", "same"),
        ] {
            let (own, other) = different_parts(a, b);
            assert_eq!(strsim::osa_distance(own, other), strsim::osa_distance(a, b), "{a} {b}");
        }
    }

    #[test]
    fn hostile_names_are_passed_over_in_bounded_time() {
        let start = std::time::Instant::now();
        let long = "a".repeat(1 << 20);
        assert!(nearest(&long, [&long]).is_empty());
        // Names that all pass the comparison of lengths and letters.
        let wanted = "ab".repeat(30);
        let names = (0..1_000_000).map(|_| "ba".repeat(30));
        assert!(nearest(&wanted, names).len() <= 1);
        let endless = std::iter::repeat("data");
        assert_eq!(nearest("date", endless), ["data"]);
        // Without the bounds it takes minutes.
        assert!(start.elapsed().as_secs() < 60, "{:?}", start.elapsed());
    }
}
