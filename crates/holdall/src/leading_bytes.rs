//! Bytes before a file: an HTTP response header, padding, a byte order mark.
//!
//! Detection fails for such a file, since formats are detected by their first bytes. Errors state where one begins, and [`crate::repair`]
//! reads it from there.

use std::path::PathBuf;
use std::sync::Arc;

use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::format::{Format, Input, Probe};
use container_core::report::Verdict;
use container_core::source::{Behind, Source};
use container_core::{Error, ErrorKind, Progress, Result};

use crate::foreign::Foreign;
use crate::formats::containers;
use crate::open::repair_command;

/// Number of bytes in which a file is searched for.
const MAX_PREFIX_LEN: usize = 64 << 10;

/// Maximum number of magics that are tried as the start of a file. Most may be false: text about a format contains its magic.
const MAX_CANDIDATES: usize = 16;

/// A file that does not begin with its first byte.
pub(crate) struct Found {
    /// Offset of its first byte, from 1 on.
    pub(crate) at: u64,
    pub(crate) format: &'static Format,
    /// Its bytes.
    pub(crate) input: Input,
}

/// The first place of `source` where a sound file begins, else one where a file begins that can be repaired.
pub(crate) fn find(
    source: &Arc<dyn Source>,
    path: Option<&PathBuf>,
    open: &OpenOptions,
) -> Result<Option<Found>> {
    let repairs = |format: &'static Format, input| {
        let Some(repair) = format.repair else { return Ok(false) };
        is_passed(repair(input, open, None, Progress::none()).map(|_| true))
    };
    let sound = find_where(source, path, open, |format, input| is_sound(format, input, open))?;
    sound.map_or_else(|| find_where(source, path, open, repairs), |found| Ok(Some(found)))
}

/// The answer of a look at a candidate: no for errors about its bytes, and for what its bytes claim over the limits.
///
/// # Errors
/// Those of the source, and `Cancelled`.
fn is_passed(answer: Result<bool>) -> Result<bool> {
    match answer {
        Err(error) if error.is_transient() => Err(error),
        answer => Ok(answer.unwrap_or(false)),
    }
}

/// True for a file whose structure is sound.
///
/// # Errors
/// As [`is_passed`].
fn is_sound(format: &'static Format, input: Input, open: &OpenOptions) -> Result<bool> {
    let check = |container: Box<dyn Container>| {
        container.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none())
    };
    let report = (format.open)(input, open).and_then(check);
    is_passed(report.map(|report| report.verdict() == Verdict::Sound))
}

/// The first offset of `source` from which `is_one` accepts the bytes as a file of the format.
fn find_where(
    source: &Arc<dyn Source>,
    path: Option<&PathBuf>,
    open: &OpenOptions,
    is_one: impl Fn(&'static Format, Input) -> Result<bool>,
) -> Result<Option<Found>> {
    let head = source.read(0..source.len().min((MAX_PREFIX_LEN + Probe::LEN) as u64))?.into_owned();
    let begins = |at: &usize| {
        let head = &head[*at..];
        let head = &head[..head.len().min(Probe::LEN)];
        let fits = |format: &&'static Format| (format.sniff)(&Probe { head, directory: None, len: None });
        containers(open.formats).find(fits).map(|format| (*at as u64, format))
    };
    for (at, format) in (1..head.len().min(MAX_PREFIX_LEN)).filter_map(|at| begins(&at)).take(MAX_CANDIDATES)
    {
        let input = || {
            let source: Box<dyn Source> = Box::new(Behind::new(Arc::clone(source), at));
            Input { source: Some(source), path: path.cloned() }
        };
        if format.repair.is_some() && is_one(format, input())? {
            return Ok(Some(Found { at, format, input: input() }));
        }
    }
    Ok(None)
}

/// The error for bytes that begin as no file does, with where one begins.
pub(crate) fn tell(
    error: Error,
    source: Box<dyn Source>,
    path: Option<&PathBuf>,
    open: &OpenOptions,
) -> Error {
    let ErrorKind::WrongFormat { expected } = error.kind() else { return error };
    // A FITS file of which more is to be said than its first bytes show.
    match Foreign::of_fits(&*source) {
        Err(failure) if failure.is_transient() => return failure,
        Ok(Some(foreign)) => return foreign.explain(Error::wrong_format(expected.clone())),
        _ if error.hint().is_some() => return error,
        _ => {}
    }
    let head = source.read(0..source.len().min(Probe::LEN as u64)).map(|head| Foreign::of_text(&head));
    match Foreign::of_source(&*source) {
        Err(failure) if failure.is_transient() => return failure,
        Ok(Some(foreign)) => return foreign.explain(error),
        _ => {}
    }
    // Only a sound one: text about formats would else be taken for files of them.
    match find_where(&source.into(), path, open, |format, input| is_sound(format, input, open)) {
        Err(failure) if failure.is_transient() => failure,
        Ok(Some(Found { at, format, .. })) => {
            let place = format!("the {} file begins at byte {at}", format.title);
            error.with_context(place).with_hint(repair_command(format))
        }
        _ => match head {
            Ok(Some(text)) => text.explain(error),
            _ => error,
        },
    }
}
