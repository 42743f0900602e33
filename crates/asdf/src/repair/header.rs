//! A damaged header line: as long as the one that all files have, and nearly the same.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use container_core::report::{RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{ErrorKind, Result};

use crate::header::{Header, LINE};

/// Bytes of it that may be wrong for it to be recognized.
const MOST_WRONG: usize = 2;

/// The source, with the header line that it must have had where its own is none. One that tells of another version stays: nobody knows what
/// such a file says.
pub(super) fn mended(source: Box<dyn Source>, report: &mut RepairReport) -> Result<Box<dyn Source>> {
    let len = LINE.len() as u64;
    if source.len() < len {
        return Ok(source);
    }
    let head = source.read(0..source.len().min(len.saturating_add(1)))?.into_owned();
    let is_wrong =
        Header::parse(&head).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongFormat { .. }));
    let wrong = head.iter().zip(LINE).filter(|(is, was)| is != was).count();
    if !is_wrong || wrong > MOST_WRONG || !matches!(head.get(LINE.len()), None | Some(b'\n' | b'\r')) {
        return Ok(source);
    }
    let line = head.get(..LINE.len()).unwrap_or_default().escape_ascii();
    report.guessed.push(RepairItem::new(0..len, format!("the header line, which was \"{line}\"")));
    Ok(Box::new(Overlay::new(source, LINE.to_vec())))
}
