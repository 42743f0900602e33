//! A damaged header line: as long as the one that all files have, and nearly the same; and comment lines that have lost their mark.

use container_core::report::{RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{ErrorKind, Result};

use crate::header::{Header, LINE, MAX_BYTES};
use crate::layout;

/// Bytes of it that may be wrong for it to be recognized.
const MAX_WRONG_BYTES: usize = 2;

/// The source, with the header line that it must have had where its own is none. One that tells of another version stays: nobody knows what
/// such a file says.
pub(super) fn repair_header(source: Box<dyn Source>, report: &mut RepairReport) -> Result<Box<dyn Source>> {
    let source = with_line(source, report)?;
    with_comments(source, report)
}

fn with_line(source: Box<dyn Source>, report: &mut RepairReport) -> Result<Box<dyn Source>> {
    let len = LINE.len() as u64;
    if source.len() < len {
        return Ok(source);
    }
    let head = source.read(0..source.len().min(len.saturating_add(1)))?.into_owned();
    let is_wrong =
        Header::parse(&head).is_err_and(|error| matches!(error.kind(), ErrorKind::WrongFormat { .. }));
    let wrong = head.iter().zip(LINE).filter(|(is, was)| is != was).count();
    if !is_wrong || wrong > MAX_WRONG_BYTES || !matches!(head.get(LINE.len()), None | Some(b'\n' | b'\r')) {
        return Ok(source);
    }
    let line = head.get(..LINE.len()).unwrap_or_default().escape_ascii();
    report.guessed.push(RepairItem::new(0..len, format!("the header line, which was \"{line}\"")));
    Ok(Box::new(Overlay::new(source, LINE.to_vec())))
}

/// The source with comments where other lines stand between the header line and the tree. Nothing moves.
fn with_comments(source: Box<dyn Source>, report: &mut RepairReport) -> Result<Box<dyn Source>> {
    let size = source.len();
    let head = source.read(0..size.min(MAX_BYTES))?;
    let Ok(header) = Header::parse(&head) else {
        drop(head);
        return Ok(source);
    };
    let at = header.comments.end;
    let first = usize::try_from(at).ok().and_then(|at| head.get(at..)).unwrap_or_default();
    // A tree, blanks before it, and padding.
    let is_sound = matches!(first.first(), None | Some(b'%' | b' ' | b'\t' | b'\r' | b'\n' | 0))
        || first.starts_with(b"---");
    drop(head);
    if is_sound {
        return Ok(source);
    }
    let Some(tree) = layout::tree::find_after_lines(&*source, at..size)? else { return Ok(source) };
    let mut all = source.read(0..tree)?.into_owned();
    let mut place = at;
    let mut lines = all.get_mut(usize::try_from(at).unwrap_or(usize::MAX)..).unwrap_or_default();
    while !lines.is_empty() {
        let len =
            lines.iter().position(|byte| *byte == b'\n').map_or(lines.len(), |end| end.saturating_add(1));
        let (line, rest) = lines.split_at_mut_checked(len).unwrap_or_default();
        lines = rest;
        let body = line.trim_ascii_end().len();
        let body = line.get_mut(..body).unwrap_or_default();
        let was = body.escape_ascii().to_string();
        if restore_comment(body) {
            let range = place..place.saturating_add(body.len() as u64);
            let what = format!("the line \"{}\", which was \"{was}\"", body.escape_ascii());
            report.guessed.push(RepairItem::new(range, what));
        }
        place = place.saturating_add(len as u64);
    }
    Ok(Box::new(Overlay::new(source, all)))
}

/// Makes a comment of a line: its first byte was another, or one was put before it. What is nearly the first line of a tree becomes that.
fn restore_comment(line: &mut [u8]) -> bool {
    const VERSION: &[u8] = b"%YAML 1.1";
    let near = line.iter().zip(VERSION).filter(|(is, was)| is != was).count() <= MAX_WRONG_BYTES;
    match line {
        [] | [b'#', ..] => return false,
        line if near && line.len() == VERSION.len() => line.copy_from_slice(VERSION),
        [_, b'#', ..] => {
            line.rotate_left(1);
            if let Some(last) = line.last_mut() {
                *last = b' ';
            }
        }
        [first, ..] => *first = b'#',
    }
    true
}
