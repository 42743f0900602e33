//! A header with one wrong word. The words say most things twice: the size is the element's times the dimensions, and with header and
//! dimensions it is the length of the file.
#![deny(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation
)]

use container_core::dtype::ByteOrder;
use container_core::region::element_count;
use container_core::report::{RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{Limits, Result};

use crate::eltype::element_type;
use crate::fault::Fault;
use crate::header::{Eltype, FIXED_LEN, Flags, Header};
use crate::layout::Layout;

/// Dimensions that are read; more are no header.
const MOST: u64 = 64;

/// A header that may have been meant.
struct Meant {
    header: Header,
    dims: Vec<u64>,
    /// The word that is another one.
    word: String,
    at: u64,
    /// Whether header, dimensions and data are not the whole file, and how many bits of the word are others: the less the likelier.
    doubt: (bool, u32),
}

/// The words that are looked at, and the file.
struct Words<'a> {
    header: Header,
    dims: &'a [u64],
    file_len: u64,
    meant: Vec<Meant>,
}

impl Words<'_> {
    /// Takes note of a header in which `was` is `is`, if it makes sense, which it tells.
    fn consider(
        &mut self,
        word: &str,
        at: u64,
        header: Header,
        dims: Vec<u64>,
        (was, is): (u64, u64),
    ) -> bool {
        let end = end(&header);
        let makes_sense = was != is && fits(&header, &dims) && end.is_some_and(|end| end <= self.file_len);
        if makes_sense {
            let doubt = (end != Some(self.file_len), (was ^ is).count_ones());
            self.meant.push(Meant { header, dims, word: word.to_owned(), at, doubt });
        }
        makes_sense
    }
}

/// The source, with the header that it must have had: the one in which one word is another, all words fit each other, and fewer bits
/// changed than in any other such. Where there is none, or more than one, the source stays; so it does where the header makes sense, and
/// where the layout knows what was meant.
///
/// # Errors
/// Those of the source.
pub(super) fn mended(
    source: Box<dyn Source>,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Box<dyn Source>> {
    let file_len = source.len();
    let Ok(header) = Header::parse(&source.read(0..file_len.min(FIXED_LEN))?) else { return Ok(source) };
    let is_reshape = |fault: &Fault| matches!(fault, Fault::ReshapeBug { .. });
    if Layout::parse(&*source, limits)?.faults().iter().any(is_reshape) {
        return Ok(source);
    }
    let words = source.read(FIXED_LEN..file_len.min(FIXED_LEN.saturating_add(MOST.saturating_mul(8))))?;
    let words = header.parse_dims(&words);
    let dims = usize::try_from(header.ndims).ok().and_then(|count| words.get(..count));
    if header.size == 0 || dims.is_some_and(|dims| fits(&header, dims)) {
        return Ok(source);
    }
    let mut all = Words { header, dims: dims.unwrap_or_default(), file_len, meant: Vec::new() };
    if dims.is_some() {
        codes(&mut all);
        lens(&mut all);
    }
    for (count, at) in (0..=words.len()).zip(0_u64..) {
        let dims = words.get(..count).unwrap_or_default().to_vec();
        all.consider("ndims", 40, Header { ndims: at, ..header }, dims, (header.ndims, at));
    }
    let least = all.meant.iter().map(|one| one.doubt).min();
    let mut likely = all.meant.into_iter().filter(|one| Some(one.doubt) == least);
    let (Some(one), None) = (likely.next(), likely.next()) else { return Ok(source) };
    if one.header.size != header.size {
        // What follows from the dimensions is done by all repairs.
        return Ok(source);
    }
    let what = format!("{} as it must have been: with no other does the header make more sense", one.word);
    report.guessed.push(RepairItem::new(one.at..one.at.saturating_add(8), what));
    let Meant { header, dims, .. } = one;
    drop(words);
    Ok(Box::new(Overlay::new(source, header.to_bytes(&dims))))
}

/// Flags and type codes.
fn codes(all: &mut Words<'_>) {
    let (header, dims) = (all.header, all.dims);
    let flags = header.flags.0 & !header.flags.unknown();
    let one = Header { flags: Flags(flags), ..header };
    all.consider("flags", 8, one, dims.to_vec(), (header.flags.0, flags));
    for code in 0..=Eltype::BRAIN.0 {
        let one = Header { eltype: Eltype(code), ..header };
        all.consider("eltype", 16, one, dims.to_vec(), (header.eltype.0, code));
    }
}

/// The width of an element, the size and the dimensions, each as the others say.
fn lens(all: &mut Words<'_>) {
    let (header, dims) = (all.header, all.dims);
    let count = element_count(dims.iter().copied());
    let quotient = |parts: Option<u64>| {
        let parts = parts.filter(|parts| *parts > 0 && header.size.is_multiple_of(*parts))?;
        header.size.checked_div(parts)
    };
    let size = count.and_then(|count| count.checked_mul(header.elbyte));
    let is_size = size.is_some_and(|size| {
        all.consider("size", 32, Header { size, ..header }, dims.to_vec(), (header.size, size))
    });
    if let Some(elbyte) = quotient(count) {
        all.consider("elbyte", 24, Header { elbyte, ..header }, dims.to_vec(), (header.elbyte, elbyte));
    }
    if is_size {
        // Dimensions for which the file has the bytes are right.
        return;
    }
    for ((axis, stored), at) in dims.iter().enumerate().zip((FIXED_LEN..).step_by(8)) {
        let others = dims.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, len)| *len);
        let parts = element_count(others).and_then(|count| count.checked_mul(header.elbyte));
        let Some(len) = quotient(parts) else { continue };
        let mut dims = dims.to_vec();
        if let Some(place) = dims.get_mut(axis) {
            *place = len;
        }
        all.consider(&format!("dimension {axis}"), at, header, dims, (*stored, len));
    }
}

/// Whether the words of a header of plain data say one thing.
fn fits(header: &Header, dims: &[u64]) -> bool {
    let is_plain = header.flags.0 & !Flags::BIG_ENDIAN == 0;
    let bytes = element_count(dims.iter().copied()).and_then(|count| count.checked_mul(header.elbyte));
    let has_type = element_type(header, ByteOrder::Little).is_ok();
    is_plain && has_type && header.elbyte > 0 && bytes == Some(header.size)
}

/// Where the data end.
fn end(header: &Header) -> Option<u64> {
    let data_at = header.ndims.checked_mul(8)?.checked_add(FIXED_LEN)?;
    data_at.checked_add(header.size)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests {
    use container_core::Progress;
    use container_core::container::OpenOptions;
    use container_core::format::Input;

    use super::super::repair_to;
    use super::*;
    use crate::{RawArray, WriteOptions};

    fn repaired(file: &[u8]) -> (Vec<u8>, RepairReport) {
        let (input, options) = (Input::bytes(Box::new(file.to_vec())), OpenOptions::default());
        let mut out = Vec::new();
        let report = repair_to(input, &options, Some(&mut out), Progress::none());
        report.map_or_else(|_| (Vec::new(), RepairReport::default()), |report| (out, report))
    }

    /// What a flip of the bit may as well have been before: the other byte order, a form that is encoded, another type of that width, a
    /// size that is wrong in itself, or fewer elements.
    fn is_open(word: usize, bit: u32) -> bool {
        let shape = [100_u64, 7];
        let was_set = word.checked_sub(6).is_some_and(|axis| shape[axis] >> bit & 1 == 1);
        matches!((word, bit), (1, 0..=2) | (2, 0..=2) | (4, _)) || was_set
    }

    #[test]
    fn any_bit_of_a_header_that_no_other_word_allows_is_turned_back() {
        let values: Vec<i32> = (0..700).collect();
        let mut file = Vec::new();
        RawArray::new(vec![100, 7], values).unwrap().write_to(&mut file, &WriteOptions::default()).unwrap();
        any_bit(&file);
        file.extend_from_slice(b"behind it");
        any_bit(&file);
    }

    fn any_bit(file: &[u8]) {
        let (same, report) = repaired(file);
        assert!(same == file && report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
        for word in 1..8 {
            for bit in 0..64 {
                let mut damaged = file.to_vec();
                damaged[word * 8 + bit as usize / 8] ^= 1 << (bit % 8);
                let (out, report) = repaired(&damaged);
                if is_open(word, bit) {
                    continue;
                }
                assert!(out == file && report.lost.is_empty(), "word {word}, bit {bit}: {report:?}");
                assert_eq!(report.guessed[0].range, Some(word as u64 * 8..word as u64 * 8 + 8));
            }
        }
        // A word of zeros, or of anything.
        for (word, value) in [(3, 0_u64), (5, 0), (6, 12_345), (7, u64::MAX), (3, u64::MAX), (1, 0xabcd_0000)]
        {
            let mut damaged = file.to_vec();
            damaged[word * 8..word * 8 + 8].copy_from_slice(&value.to_le_bytes());
            assert!(repaired(&damaged).0 == file, "word {word}");
        }
    }

    #[test]
    fn what_is_cut_or_wrong_twice_stays() {
        let values: Vec<i32> = (0..700).collect();
        let mut file = Vec::new();
        RawArray::new(vec![100, 7], values).unwrap().write_to(&mut file, &WriteOptions::default()).unwrap();
        let mut twice = file.clone();
        (twice[24], twice[56]) = (5, 11);
        for damaged in [&file[..900], &twice, b"rawarray", b""] {
            let mut report = RepairReport::default();
            let source = mended(Box::new(damaged.to_vec()), &Limits::default(), &mut report).unwrap();
            assert_eq!(&*source.read(0..damaged.len() as u64).unwrap(), damaged);
            assert_eq!(report, RepairReport::default());
        }
    }
}
