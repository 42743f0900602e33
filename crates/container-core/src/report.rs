//! Results of a check.

use std::collections::HashSet;
use std::ops::Range;

/// Severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Odd but legal.
    Note,
    /// Likely to trouble some reader; the values are valid.
    Warning,
    /// Undecided: bytes whose codec or filter is a missing plugin, or that limits or a disk kept from being read.
    Unchecked,
    /// Damage: something is missing, contradictory or does not fit its digest.
    Error,
}

impl Severity {
    /// `note`, `warning`, `unchecked` or `error`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Unchecked => "unchecked",
            Self::Error => "error",
        }
    }
}

/// One finding of a check.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Finding {
    /// Its severity.
    pub severity: Severity,
    /// A stable name for programs, in `snake_case`; each format documents its own.
    pub code: &'static str,
    /// The file of a multi-file container.
    pub part: Option<String>,
    /// Absolute, half-open byte range. A truncation's is the range that the file claims.
    pub range: Option<Range<u64>>,
    /// Path of the dataset that it concerns.
    pub dataset: Option<String>,
    /// The sentence for people.
    pub message: String,
}

impl Finding {
    /// A finding without a place.
    pub fn new(severity: Severity, code: &'static str, message: impl Into<String>) -> Self {
        Self { severity, code, part: None, range: None, dataset: None, message: message.into() }
    }

    /// Adds the byte range.
    #[must_use]
    pub fn at(mut self, range: Range<u64>) -> Self {
        self.range = Some(range);
        self
    }

    /// Adds the dataset.
    #[must_use]
    pub fn dataset(mut self, path: impl Into<String>) -> Self {
        self.dataset = Some(path.into());
        self
    }
}

/// The outcome of a check in one word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// No error; notes and warnings are allowed.
    Sound,
    /// No error in the checked parts, and at least one part that could not be checked.
    Unchecked,
    /// Some finding is an error.
    Damaged,
}

impl Verdict {
    /// `sound`, `unchecked` or `damaged`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Unchecked => "unchecked",
            Self::Damaged => "damaged",
        }
    }
}

/// Numbers of blocks that a check met.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BlockCounts {
    /// Blocks in the file.
    pub total: u64,
    /// Blocks whose bytes were read and decoded or compared with a digest.
    pub checked: u64,
    /// Blocks that failed.
    pub bad: u64,
}

/// Everything that a check found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Findings, errors first, each severity in file order.
    pub findings: Vec<Finding>,
    /// The blocks that were checked.
    pub blocks: BlockCounts,
}

/// Removes findings that are equal to an earlier one.
fn drop_repeated(findings: &mut Vec<Finding>) {
    let mut seen = HashSet::with_capacity(findings.len());
    let is_new: Vec<bool> = findings.iter().map(|finding| seen.insert(finding)).collect();
    let mut is_new = is_new.into_iter();
    findings.retain(|_| is_new.next().unwrap_or(true));
}

impl Report {
    /// A report of `findings`, sorted, each once: two checks may find the same.
    #[must_use]
    pub fn new(mut findings: Vec<Finding>, blocks: BlockCounts) -> Self {
        // Stable: findings of one severity and place keep the order in which they were made.
        findings.sort_by_key(|finding| {
            (std::cmp::Reverse(finding.severity), finding.range.as_ref().map_or(0, |range| range.start))
        });
        drop_repeated(&mut findings);
        Self { findings, blocks }
    }

    /// The same report with more findings.
    #[must_use]
    pub fn with(self, more: impl IntoIterator<Item = Finding>) -> Self {
        let Self { mut findings, blocks } = self;
        findings.extend(more);
        Self::new(findings, blocks)
    }

    /// Damaged if any finding is an error, else unchecked if any is of something that could not be checked.
    #[must_use]
    pub fn verdict(&self) -> Verdict {
        match self.findings.iter().map(|finding| finding.severity).max() {
            Some(Severity::Error) => Verdict::Damaged,
            Some(Severity::Unchecked) => Verdict::Unchecked,
            _ => Verdict::Sound,
        }
    }
}

/// A loss of a conversion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loss {
    /// The dataset that it concerns; `None` for the file as a whole.
    pub dataset: Option<String>,
    /// Description of the loss, for people.
    pub what: String,
}

/// Report of a repair, item by item with byte ranges of the input.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RepairReport {
    /// Items that were carried over as they were.
    pub kept: Vec<RepairItem>,
    /// Changes that were made to carry items over, each with its [`Evidence`].
    pub guessed: Vec<RepairItem>,
    /// Items that could not be brought back.
    pub lost: Vec<RepairItem>,
}

/// One line of a [`RepairReport`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RepairItem {
    /// Bytes of the damaged file.
    pub range: Option<Range<u64>>,
    /// Description of the item, for people.
    pub what: String,
    /// The reason why a change is right; `None` for items that are kept or lost.
    pub evidence: Option<Evidence>,
}

impl RepairItem {
    /// An item about `range`, or without a range.
    pub fn new(range: impl Into<Option<Range<u64>>>, what: impl Into<String>) -> Self {
        Self { range: range.into(), what: what.into(), evidence: None }
    }

    /// An item about the file as a whole.
    pub fn of_file(what: impl Into<String>) -> Self {
        Self::new(None::<Range<u64>>, what)
    }

    /// The same with the evidence of the change.
    #[must_use]
    pub const fn with_evidence(mut self, evidence: Evidence) -> Self {
        self.evidence = Some(evidence);
        self
    }
}

/// Evidence for a change that a repair made: in the file, and independent of the damaged field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Evidence {
    /// A digest fits the bytes as they are after the change.
    Digest,
    /// The same value is in the file a second time.
    SecondCopy,
    /// The structures that follow begin where the change puts them, up to the end of the file.
    Walk,
    /// An index, a table of offsets or a list of names that was not damaged.
    Index,
    /// A frame that was committed before, with which the change agrees.
    CommittedFrame,
    /// Damage of a documented kind, recognised by its form: a truncation, a killed writer, a text tool, a field that a certain writer gets
    /// wrong.
    KnownDamage,
}

impl Evidence {
    /// `digest`, `second copy`, `walk`, `index`, `committed frame` or `known damage`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Digest => "digest",
            Self::SecondCopy => "second copy",
            Self::Walk => "walk",
            Self::Index => "index",
            Self::CommittedFrame => "committed frame",
            Self::KnownDamage => "known damage",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(severity: Severity, at: Option<u64>, message: &str) -> Finding {
        let finding = Finding::new(severity, "code", message);
        match at {
            Some(at) => finding.at(at..at + 1),
            None => finding,
        }
    }

    #[test]
    fn errors_come_first_and_each_severity_in_file_order() {
        let blocks = BlockCounts { total: 3, checked: 2, bad: 1 };
        let report = Report::new(
            vec![
                finding(Severity::Note, Some(1), "a"),
                finding(Severity::Error, Some(9), "b"),
                finding(Severity::Error, None, "c"),
                finding(Severity::Warning, Some(5), "d"),
                finding(Severity::Error, Some(9), "e"),
            ],
            blocks,
        );
        let messages = |report: &Report| -> String {
            report.findings.iter().map(|finding| finding.message.as_str()).collect()
        };
        assert_eq!((messages(&report).as_str(), report.blocks), ("cbeda", blocks));
        let more =
            report.with([finding(Severity::Unchecked, None, "f"), finding(Severity::Error, Some(3), "g")]);
        assert_eq!((messages(&more).as_str(), more.blocks), ("cgbefda", blocks));
    }

    #[test]
    fn the_verdict_is_that_of_the_worst_finding() {
        let verdict = |severities: &[Severity]| {
            let findings = severities.iter().map(|severity| finding(*severity, None, "x")).collect();
            Report::new(findings, BlockCounts::default()).verdict()
        };
        use Severity::{Error, Note, Unchecked, Warning};
        assert_eq!(verdict(&[]), Verdict::Sound);
        assert_eq!(verdict(&[Note, Warning]), Verdict::Sound);
        assert_eq!(verdict(&[Note, Unchecked, Warning]), Verdict::Unchecked);
        assert_eq!(verdict(&[Error, Unchecked]), Verdict::Damaged);
        assert_eq!(
            [Verdict::Sound, Verdict::Unchecked, Verdict::Damaged].map(Verdict::name),
            ["sound", "unchecked", "damaged"]
        );
        assert_eq!(
            [Note, Warning, Unchecked, Error].map(Severity::name),
            ["note", "warning", "unchecked", "error"]
        );
    }

    #[test]
    fn findings_and_items_carry_what_they_concern() {
        let finding = Finding::new(Severity::Note, "odd", "x").at(1..2).dataset("a/b");
        assert_eq!(
            (finding.range, finding.dataset.as_deref(), finding.part),
            (Some(1..2), Some("a/b"), None)
        );
        let item = RepairItem::new(3..4, "a chunk").with_evidence(Evidence::Walk);
        assert_eq!((item.range, item.evidence), (Some(3..4), Some(Evidence::Walk)));
        let item = RepairItem::of_file("all");
        assert_eq!((item.range, item.what.as_str(), item.evidence), (None, "all", None));
        let all = [
            Evidence::Digest,
            Evidence::SecondCopy,
            Evidence::Walk,
            Evidence::Index,
            Evidence::CommittedFrame,
            Evidence::KnownDamage,
        ];
        let names = ["digest", "second copy", "walk", "index", "committed frame", "known damage"];
        assert_eq!(all.map(Evidence::name), names);
    }
}
