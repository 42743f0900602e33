//! Restores the msgpack markers of a header: bytes that are the same in every frame. Without them no field between them is readable.

use container_core::Result;
use container_core::report::RepairReport;
use container_core::source::{Overlay, Source};

use super::item;
use crate::header::{FIXED_LEN, Header, MAGIC};

/// Marker before each field, by offset.
const MARKERS: [(usize, u8); 11] = [
    (10, 0xd2),
    (15, 0xcf),
    (24, 0xa4),
    (29, 0xd3),
    (38, 0xd3),
    (47, 0xd2),
    (52, 0xd2),
    (57, 0xd2),
    (62, 0xd1),
    (65, 0xd1),
    (69, 0xd8),
];

/// Place and values of the marker for user metadata: false or true.
const HAS_VLMETALAYERS: (usize, [u8; 2]) = (68, [0xc2, 0xc3]);

/// Number of the twelve markers that may be wrong: with more, the numbers may not be in their places either.
const MAX_WRONG_MARKERS: usize = 4;

/// Returns the source with the markers that every frame has, where some are others and the rest of the header can be read
/// with them.
///
/// # Errors
/// Those of the source.
pub(super) fn with_corrected_markers(
    source: Box<dyn Source>,
    report: &mut RepairReport,
) -> Result<Box<dyn Source>> {
    let head = source.read(0..source.len().min(FIXED_LEN as u64))?.into_owned();
    if head.len() < FIXED_LEN || !head.starts_with(&MAGIC) {
        return Ok(source);
    }
    let mut other = head.clone();
    for (at, marker) in MARKERS {
        if let Some(byte) = other.get_mut(at) {
            *byte = marker;
        }
    }
    let (at, markers) = HAS_VLMETALAYERS;
    if let Some(byte) = other.get_mut(at).filter(|byte| !markers.contains(byte)) {
        // The trailer shows whether there are any.
        *byte = 0xc3;
    }
    let wrong: Vec<usize> =
        head.iter().zip(&other).enumerate().filter(|(_, (is, was))| is != was).map(|(at, _)| at).collect();
    let (Some(first), Some(last)) = (wrong.first(), wrong.last()) else { return Ok(source) };
    if wrong.len() > MAX_WRONG_MARKERS
        || !Header::parse_any(&other).is_ok_and(|(_, impossible)| impossible.is_empty())
    {
        return Ok(source);
    }
    let what = format!("{} msgpack markers of the header, as every frame has them", wrong.len());
    report.guessed.push(item(*first as u64..(*last as u64).saturating_add(1), what));
    Ok(Box::new(Overlay::new(source, other)))
}
