//! Verifying a file of any format: the outcome is always a value, never an error.

use std::path::Path;

use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::report::{BlockCounts, Finding, Severity, Verdict};
use container_core::source::Access;
use container_core::{Error, ErrorKind, Progress, Result};

use crate::concurrent_writer;
use crate::open::{Accept, Pass, passes, recognise, recognise_to_pass};

/// Result of checking one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verification {
    /// The file, as the user named it.
    pub path: String,
    /// Its format by its machine name; `None` where it was not recognised.
    pub format: Option<&'static str>,
    /// The outcome in one word.
    pub verdict: VerifyStatus,
    /// The blocks that were checked.
    pub blocks: BlockCounts,
    /// Findings, errors first.
    pub findings: Vec<Finding>,
    /// True of a sound file without checksums, in which a changed value of plain data goes unnoticed.
    pub without_checksums: bool,
}

impl Verification {
    /// The result for a file that could not be opened or read, with the error as its one finding.
    #[must_use]
    pub fn unreadable(path: &Path, error: &Error) -> Self {
        Self { findings: vec![unreadable(error)], ..Self::new(path) }
    }

    /// True where a request to stop ended the check: nothing is known about the file. The one finding has the code `cancelled`.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.findings.iter().any(|finding| finding.code == CANCELLED)
    }

    /// The initial result of a file.
    fn new(path: &Path) -> Self {
        Self {
            path: crate::address::shown(path),
            format: None,
            verdict: VerifyStatus::Unreadable,
            blocks: BlockCounts::default(),
            findings: Vec::new(),
            without_checksums: false,
        }
    }
}

/// The outcome of a check: a [`Verdict`], or that the file could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum VerifyStatus {
    /// No error; notes and warnings are allowed.
    Sound,
    /// Some finding is an error.
    Damaged,
    /// No error in the checked parts; some need a codec or filter that is not available, or are in a file that limits or a disk keep from being read.
    Unchecked,
    /// The format was not recognised, or the file could not be opened or read.
    Unreadable,
}

impl VerifyStatus {
    /// `sound`, `damaged`, `unchecked` or `unreadable`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Sound => "sound",
            Self::Damaged => "damaged",
            Self::Unchecked => "unchecked",
            Self::Unreadable => "unreadable",
        }
    }
}

/// The code of the finding of a check that was stopped.
const CANCELLED: &str = "cancelled";

/// Checks all of the container at `path` (`-` for standard input) with the default options. An error of opening or reading is a finding with the
/// code `unreadable`, at the range of the error; a request to stop is one with the code `cancelled`.
#[must_use]
pub fn verify(path: impl AsRef<Path>) -> Verification {
    let (open, read) = (OpenOptions::default(), ReadOptions::default());
    verify_with(path.as_ref(), CheckDepth::Full, &open, &read, Progress::none())
}

/// Checks the container at `path` with options, as [`verify`] does.
#[must_use]
pub fn verify_with(
    path: &Path,
    depth: CheckDepth,
    open: &OpenOptions,
    read: &ReadOptions,
    progress: Progress<'_>,
) -> Verification {
    let look = || look(path, depth, open, read, progress);
    // Another process may be writing to it.
    concurrent_writer::look(path, look, |seen| seen.verdict != VerifyStatus::Sound)
}

fn look(
    path: &Path,
    depth: CheckDepth,
    open: &OpenOptions,
    read: &ReadOptions,
    progress: Progress<'_>,
) -> Verification {
    let mut verification = Verification::new(path);
    let checked = |container: &dyn Container| -> Result<_> {
        let report = container.check(depth, read, progress)?;
        let without_checksums = report.verdict() == Verdict::Sound && container.checksums().is_empty();
        Ok((report, without_checksums))
    };
    let done = recognise_to_pass(path, Accept::Containers, open).and_then(|(format, input, pass)| {
        verification.format = Some(format.name);
        let container = (format.open)(input, open)?;
        // As fast as through a map, and a bad disk is an error instead of a signal.
        match pass {
            Pass::Switch(passing) if depth == CheckDepth::Full && passes(&*container, None) => {
                passing.read_by_position();
            }
            Pass::Reopen if depth == CheckDepth::Full && passes(&*container, None) => {
                let mut by_position = open.clone();
                by_position.access = Access::Positioned;
                let (_, input) = recognise(path, Accept::Containers, &by_position)?;
                return checked((format.open)(input, &by_position)?.as_ref());
            }
            // The source stays mapped, and stops recording lent ranges.
            other => drop(other),
        }
        checked(container.as_ref())
    });
    match done {
        Ok((report, without_checksums)) => {
            verification.without_checksums = without_checksums;
            verification.verdict = match report.verdict() {
                Verdict::Sound => VerifyStatus::Sound,
                Verdict::Unchecked => VerifyStatus::Unchecked,
                Verdict::Damaged => VerifyStatus::Damaged,
            };
            verification.blocks = report.blocks;
            verification.findings = report.findings;
        }
        Err(error) => verification.findings.push(unreadable(&error)),
    }
    verification
}

/// The first error of a container's structure, to explain why it cannot be read. `None` where the structure is sound, or cannot be checked.
#[must_use]
pub fn first_damage(container: &dyn Container) -> Option<Error> {
    damage(container, CheckDepth::Quick, &ReadOptions::default()).ok()?
}

/// The first error that a check finds.
///
/// # Errors
/// Those that keep the check from running.
pub(crate) fn damage(
    container: &dyn Container,
    depth: CheckDepth,
    options: &ReadOptions,
) -> Result<Option<Error>> {
    let report = container.check(depth, options, Progress::none())?;
    let finding = report.findings.into_iter().find(|finding| finding.severity == Severity::Error);
    Ok(finding.map(|finding| {
        let error = Error::malformed(finding.message);
        let error = finding.range.into_iter().fold(error, Error::with_range);
        finding.part.into_iter().fold(error, Error::in_file)
    }))
}

/// The error as a finding; its place is the finding's, so the message does not repeat it.
fn unreadable(error: &Error) -> Finding {
    let mut message = error.kind().to_string();
    if let Some(context) = error.context() {
        message = format!("{context}: {message}");
    }
    let code = if matches!(error.kind(), ErrorKind::Cancelled) { CANCELLED } else { "unreadable" };
    let mut finding = Finding::new(Severity::Error, code, message);
    finding.part = error.file_name().map(Into::into);
    finding.range = error.range();
    finding
}

#[cfg(test)]
mod tests {
    use std::ops::ControlFlow;
    use std::sync::atomic::AtomicBool;

    use container_core::Stop;

    use super::*;

    fn outcome(path: &Path) -> Verification {
        verify_with(
            path,
            CheckDepth::Full,
            &OpenOptions::default(),
            &ReadOptions::default(),
            Progress::none(),
        )
    }

    #[test]
    fn unreadable_paths_have_an_outcome() {
        let directory = tempfile::tempdir().unwrap();
        let text = directory.path().join("a.txt");
        std::fs::write(&text, b"hello").unwrap();
        for path in [&text, &directory.path().join("missing"), &directory.path().to_owned()] {
            let outcome = outcome(path);
            assert_eq!((outcome.verdict, outcome.format), (VerifyStatus::Unreadable, None));
            assert_eq!(outcome.findings.len(), 1);
            assert_eq!(outcome.findings[0].code, "unreadable");
            assert_eq!(outcome.path, path.to_str().unwrap());
        }
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_stopped_check_is_cancelled() {
        static STOP: AtomicBool = AtomicBool::new(true);
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.ra");
        std::fs::write(&path, crate::testing::ra_bytes()).unwrap();
        let (open, mut read) = (OpenOptions::default(), ReadOptions::default());
        let never = Progress::new(&|_, _| ControlFlow::Break(()));
        let by_progress = verify_with(&path, CheckDepth::Full, &open, &read, never);
        let mut stopped = open.clone();
        stopped.limits = stopped.limits.with_stop(Stop::when(&STOP));
        read = read.with_limits(stopped.limits);
        let by_flag = verify_with(&path, CheckDepth::Full, &stopped, &read, Progress::none());
        for outcome in [by_progress, by_flag] {
            assert!(outcome.is_cancelled() && outcome.verdict == VerifyStatus::Unreadable, "{outcome:?}");
        }
        assert!(!outcome(&path).is_cancelled());
    }

    #[test]
    fn first_damage_is_an_error_with_its_range() {
        let sound = crate::testing::Memory::new();
        assert!(first_damage(&sound).is_none());
        let error = first_damage(&sound.damaged("x")).unwrap();
        assert_eq!((error.is_damage(), error.range()), (true, Some(16..48)));
    }

    #[cfg(feature = "rawarray")]
    #[test]
    fn a_file_is_sound_damaged_or_unreadable() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a");
        let verdict = |bytes: &[u8]| {
            std::fs::write(&path, bytes).unwrap();
            outcome(&path)
        };
        let file = crate::testing::ra_bytes();
        let sound = verdict(&file);
        assert_eq!((sound.verdict, sound.format), (VerifyStatus::Sound, Some("rawarray")));
        assert_eq!((sound.blocks.total, sound.blocks.bad, sound.findings.len()), (1, 0, 0));
        let cut = verdict(&file[..70]);
        assert_eq!((cut.verdict, cut.format), (VerifyStatus::Damaged, Some("rawarray")));
        // The data segment, as the file claims it.
        assert_eq!(cut.findings[0].range, Some(64..76));
        let shorter = verdict(&file[..20]);
        assert_eq!((shorter.verdict, shorter.format), (VerifyStatus::Unreadable, Some("rawarray")));
        // An array file is not a container.
        let array = verdict(&crate::testing::npy_bytes("|u1", "False", "(1,)", &[1]));
        assert_eq!((array.verdict, array.format), (VerifyStatus::Unreadable, None));
    }

    #[test]
    fn an_unreadable_range_is_the_findings_not_the_messages() {
        let finding = unreadable(&Error::truncated(48..168, 64).with_context("dims").in_file("x.blk"));
        assert_eq!((finding.range, finding.part.as_deref()), (Some(48..168), Some("x.blk")));
        assert_eq!(finding.message, "dims: file ends early: need 120 bytes, 64 present");
    }
}
