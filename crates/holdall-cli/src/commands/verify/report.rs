//! Findings for people: those that are alike in one line.

use std::io::Write;
use std::ops::Range;

use container_core::report::{Finding, Severity};
use holdall::address::typed;
use holdall::verify::{Verification, VerifyStatus};

use super::blocks;
use crate::errors::Result;
use crate::format_value;
use crate::output::{Console, DIM, ERROR, OK, WARN, printable};

/// Number of findings of one severity and code that are listed one by one.
const MAX_ALIKE: usize = 3;

/// Treatment of many findings of one severity and code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// More than [`MAX_ALIKE`] are one line.
    Summed,
    /// Each has its line.
    All,
}

/// Shows a file and its findings.
pub fn show(verification: &Verification, listing: Listing, console: &mut Console) -> Result<()> {
    let paint = console.out.paint;
    let style = if verification.verdict == VerifyStatus::Sound { OK } else { ERROR };
    let verdict = paint.with(style, verification.verdict.name());
    // Otherwise "sound" would promise more than it can.
    let none = if verification.without_checksums { ", the file has no checksums" } else { "" };
    let blocks = blocks(verification).map(|blocks| format!(" ({blocks}{none})")).unwrap_or_default();
    let blocks = paint.with(DIM, &blocks).into_owned();
    writeln!(console.out, "{}: {verdict}{blocks}", printable(&verification.path))?;
    let mut is_summed = false;
    for alike in groups(&verification.findings) {
        let severity = paint.with(style_of(alike.first.severity), alike.first.severity.name()).into_owned();
        if listing == Listing::All || alike.count <= MAX_ALIKE {
            for finding in alike.of(&verification.findings) {
                let place = place(&finding.part, finding.range.as_ref(), finding.dataset.as_deref());
                let place = if place.is_empty() { place } else { format!(" ({place})") };
                writeln!(
                    console.out,
                    "  {severity} {}: {}{}",
                    finding.code,
                    printable(&finding.message),
                    printable(&place)
                )?;
            }
        } else {
            is_summed = true;
            writeln!(console.out, "  {severity} {}", printable(&alike.line()))?;
        }
    }
    if is_summed {
        writeln!(console.out, "  {}", paint.with(DIM, "(--all lists every finding)"))?;
    }
    Ok(())
}

const fn style_of(severity: Severity) -> anstyle::Style {
    match severity {
        Severity::Error => ERROR,
        Severity::Warning | Severity::Unchecked => WARN,
        Severity::Note => DIM,
    }
}

/// Part, bytes and dataset, as far as they are known.
fn place(part: &Option<String>, range: Option<&Range<u64>>, dataset: Option<&str>) -> String {
    let bytes = range.map(|range| format!("bytes {}", format_value::range(range)));
    let dataset = dataset.map(|dataset| typed(dataset).to_owned());
    let places: Vec<String> = [part.clone(), bytes, dataset].into_iter().flatten().collect();
    places.join(", ")
}

/// Findings of one severity and code.
#[derive(Debug)]
struct Alike<'f> {
    first: &'f Finding,
    count: usize,
    /// The least range with those of all, where they are in one file.
    span: Option<Range<u64>>,
}

/// The groups of findings, in the order of their first ones.
fn groups(findings: &[Finding]) -> Vec<Alike<'_>> {
    // Formats have some dozens of codes.
    let mut groups: Vec<Alike<'_>> = Vec::new();
    for finding in findings {
        let is_alike = |group: &&mut Alike<'_>| is_like(group.first, finding);
        match groups.iter_mut().find(is_alike) {
            Some(group) => {
                group.count += 1;
                group.span = match (&group.span, &finding.range) {
                    (Some(span), Some(range)) if group.first.part == finding.part => {
                        Some(span.start.min(range.start)..span.end.max(range.end))
                    }
                    _ => None,
                };
            }
            None => groups.push(Alike { first: finding, count: 1, span: finding.range.clone() }),
        }
    }
    groups
}

fn is_like(one: &Finding, other: &Finding) -> bool {
    (one.severity, one.code) == (other.severity, other.code)
}

impl<'f> Alike<'f> {
    /// The findings of the group.
    fn of(&self, findings: &'f [Finding]) -> impl Iterator<Item = &'f Finding> {
        let first = self.first;
        findings.iter().filter(move |finding| is_like(first, finding))
    }

    /// The group in one line: how many, the first of them, and the bytes that all are within.
    fn line(&self) -> String {
        let Finding { code, message, part, range, dataset, .. } = self.first;
        let place = place(part, range.as_ref(), dataset.as_deref());
        let place = if place.is_empty() { place } else { format!(" ({place})") };
        let within =
            self.span.as_ref().map(|span| format!("; all within bytes {}", format_value::range(span)));
        format!("{} × {code}, the first: {message}{place}{}", self.count, within.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, code: &'static str, at: Option<Range<u64>>) -> Finding {
        let mut finding = Finding::new(severity, code, format!("about {code}"));
        finding.range = at;
        finding
    }

    #[test]
    fn findings_of_one_severity_and_code_are_alike() {
        let note = |code, at| finding(Severity::Note, code, at);
        let mut part = note("b", Some(3..9));
        part.part = Some("x.1".into());
        let findings = [
            finding(Severity::Error, "a", Some(5..6)),
            note("a", Some(40..60)),
            note("b", Some(7..8)),
            note("a", Some(10..20)),
            part,
            note("c", None),
            note("c", Some(1..2)),
        ];
        let groups = groups(&findings);
        let shown: Vec<_> =
            groups.iter().map(|group| (group.first.code, group.count, group.span.clone())).collect();
        assert_eq!(shown, [("a", 1, Some(5..6)), ("a", 2, Some(10..60)), ("b", 2, None), ("c", 2, None)]);
        let line = groups.iter().map(Alike::line).nth(1);
        assert_eq!(
            line.as_deref(),
            Some("2 × a, the first: about a (bytes 40..60); all within bytes 10..60")
        );
        assert_eq!(groups[1].of(&findings).count(), 2);
    }
}
