//! Selections in numpy's notation, against Python's own rules applied one index at a time.

use container_core::region::{AxisSelection, Kept, Region};

use crate::feed::Feed;
use crate::lens::look_at_error;

/// Text of any kind gives a region that fits, or an error; text that is made to mean something gives just that.
pub fn region_parse(data: &[u8]) {
    let mut feed = Feed::new(data);
    let shape: Vec<u64> = (0..feed.below(5)).map(|_| length(&mut feed)).collect();
    if feed.flag() {
        let text = String::from_utf8_lossy(feed.rest());
        match Region::parse(&text, &shape) {
            Ok(region) => fits(&region, &shape),
            Err(error) => look_at_error(&error),
        }
        return;
    }
    let terms: Vec<Term> = (0..feed.below(shape.len() + 1)).map(|_| term(&mut feed)).collect();
    let dots = feed.flag().then(|| feed.below(terms.len() + 1));
    let mut words: Vec<String> = terms.iter().map(Term::text).collect();
    if let Some(at) = dots {
        words.insert(at, "...".to_owned());
    }
    let text = words.join(feed.one_of(&[",", ", ", " ,"]));
    let parsed = Region::parse(&text, &shape);
    match expected(&terms, dots, &shape) {
        None => assert!(parsed.is_err(), "{text} of {shape:?}: {parsed:?}"),
        Some(axes) => {
            let region = parsed.unwrap_or_else(|error| panic!("{text} of {shape:?}: {error}"));
            fits(&region, &shape);
            let found: Vec<_> = region.axes().iter().map(listed).collect();
            assert_eq!(found, axes, "{text} of {shape:?}");
        }
    }
}

fn length(feed: &mut Feed<'_>) -> u64 {
    match feed.below(8) {
        0 => feed.word(),
        _ => feed.below(12) as u64,
    }
}

/// Checks that a parsed region passes the check of explicit selections.
fn fits(region: &Region, shape: &[u64]) {
    let again = Region::new(region.axes().to_vec(), shape);
    assert_eq!(again.ok().as_ref(), Some(region));
}

enum Term {
    Index(i64),
    Slice(Option<i64>, Option<i64>, Option<i64>),
}

fn term(feed: &mut Feed<'_>) -> Term {
    let number = |feed: &mut Feed<'_>| match feed.below(16) {
        0 => feed.one_of(&[i64::MIN, i64::MAX, 1 << 40, -(1 << 40)]),
        _ => feed.below(30) as i64 - 15,
    };
    let perhaps = |feed: &mut Feed<'_>| if feed.flag() { Some(number(feed)) } else { None };
    match feed.below(4) {
        0 => Term::Index(number(feed)),
        _ => Term::Slice(perhaps(feed), perhaps(feed), perhaps(feed)),
    }
}

impl Term {
    fn text(&self) -> String {
        let number = |value: &Option<i64>| value.map_or(String::new(), |value| value.to_string());
        match self {
            Self::Index(index) => index.to_string(),
            Self::Slice(start, stop, None) => format!("{}:{}", number(start), number(stop)),
            Self::Slice(start, stop, step) => format!("{}:{}:{}", number(start), number(stop), number(step)),
        }
    }

    /// Whether the axis stays, and every index that is selected of `len`; `None` where Python raises an error. Lengths beyond
    /// what can be listed are cut, which the caller knows.
    fn indices(&self, len: u64) -> Option<(Kept, Vec<u64>)> {
        let len = i128::from(len);
        let from_end = |at: i64| if at < 0 { i128::from(at) + len } else { at.into() };
        match self {
            Self::Index(index) => {
                let at = from_end(*index);
                (0..len).contains(&at).then(|| (Kept::No, vec![at as u64]))
            }
            Self::Slice(start, stop, step) => {
                let step = i128::from(step.unwrap_or(1));
                if step == 0 {
                    return None;
                }
                let (first, last) = if step > 0 { (0, len) } else { (len - 1, -1) };
                let (low, high) = (first.min(last), first.max(last));
                let mut at = start.map_or(first, |at| from_end(at).max(low).min(high));
                let stop = stop.map_or(last, |at| from_end(at).max(low).min(high));
                let mut indices = Vec::new();
                while if step > 0 { at < stop } else { at > stop } {
                    indices.push(at as u64);
                    at += step;
                    if indices.len() > LISTED {
                        break;
                    }
                }
                Some((Kept::Yes, indices))
            }
        }
    }
}

/// Most indices that are compared one by one.
const LISTED: usize = 40;

fn listed(axis: &AxisSelection) -> (Kept, Vec<u64>) {
    let indices = (0..axis.count).take(LISTED + 1);
    let indices = indices.map(|at| axis.start.wrapping_add_signed(axis.step.wrapping_mul(at.cast_signed())));
    (axis.kept, indices.collect())
}

fn expected(terms: &[Term], dots: Option<usize>, shape: &[u64]) -> Option<Vec<(Kept, Vec<u64>)>> {
    let free = shape.len().checked_sub(terms.len())?;
    let whole = Term::Slice(None, None, None);
    let mut all: Vec<&Term> = terms.iter().collect();
    // Axes that are not named are whole: where the dots stand, or at the end.
    let at = dots.unwrap_or(terms.len());
    all.splice(at..at, (0..free).map(|_| &whole));
    all.into_iter().zip(shape).map(|(term, len)| term.indices(*len)).collect()
}
