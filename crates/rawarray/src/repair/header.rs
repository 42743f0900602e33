//! A header with one wrong word. The words say most things twice: the size is the element's times the dimensions, and with header and
//! dimensions it is the length of the file. Of encoded data the block, or the number of integers, says the same ([`PayloadEvidence`]).

use container_core::dtype::ByteOrder;
use container_core::region::element_count;
use container_core::report::{RepairItem, RepairReport};
use container_core::source::{Overlay, Source};
use container_core::{Limits, Result};

use super::payload::PayloadEvidence;
use crate::eltype::element_type;
use crate::fault::Fault;
use crate::header::{Eltype, FIXED_LEN, Flags, Header};
use crate::layout::Layout;

/// Dimensions that are read; more are no header.
const MAX_DIMENSIONS: u64 = 64;

/// A candidate for the original header.
struct HeaderCandidate {
    header: Header,
    dims: Vec<u64>,
    /// The word that is another one.
    word: String,
    at: u64,
    /// Kind of the bytes after the data, and number of changed bits in the word: the lower, the likelier.
    doubt: (Rest, u32),
}

/// Kind of the bytes after the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Rest {
    /// Nothing: header, dimensions and data are the whole file.
    Nothing,
    /// Text, which data are not.
    Text,
    /// Any bytes.
    Bytes,
}

/// The words that are looked at, and the file.
struct Words<'a> {
    header: Header,
    dims: &'a [u64],
    payload: PayloadEvidence<'a>,
    candidates: Vec<HeaderCandidate>,
}

impl Words<'_> {
    /// Takes note of a header in which `was` is `is`, if it makes sense.
    fn consider(
        &mut self,
        word: &str,
        at: u64,
        header: Header,
        dims: Vec<u64>,
        (was, is): (u64, u64),
    ) -> Result<()> {
        if was != is
            && let Some(end) = self.end(&header, &dims)
        {
            let doubt = (self.rest(end)?, (was ^ is).count_ones());
            self.candidates.push(HeaderCandidate { header, dims, word: word.to_owned(), at, doubt });
        }
        Ok(())
    }

    /// Returns the end of the data, if the words of a header agree and the file has the bytes.
    fn end(&mut self, header: &Header, dims: &[u64]) -> Option<u64> {
        let file_len = self.payload.file_len();
        let end = if fits(header, dims) { end(header) } else { self.payload.end(header, dims) };
        end.filter(|end| *end <= file_len)
    }

    fn rest(&self, end: u64) -> Result<Rest> {
        if end == self.payload.file_len() {
            return Ok(Rest::Nothing);
        }
        Ok(if self.payload.is_text_from(end)? { Rest::Text } else { Rest::Bytes })
    }
}

/// The source, with the header that it must have had: the one in which one word is another, all words fit each other and the data, and fewer
/// bits changed than in any other such. Where there is none, the source stays; so it does where the header makes sense, and where the
/// layout knows what was meant. Where size and file say that there are more elements than the dimensions, and not which of these is wrong,
/// all elements are kept along the first.
///
/// # Errors
/// Those of the source.
pub(super) fn with_corrected_header(
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
    let words =
        source.read(FIXED_LEN..file_len.min(FIXED_LEN.saturating_add(MAX_DIMENSIONS.saturating_mul(8))))?;
    let words = header.parse_dims(&words);
    let dims = usize::try_from(header.ndims).ok().and_then(|count| words.get(..count));
    if header.size == 0 || dims.is_some_and(|dims| fits(&header, dims)) {
        return Ok(source);
    }
    let Some(one) = likely(&*source, header, dims, &words, limits)? else { return Ok(source) };
    let range = one.at..one.at.saturating_add(8);
    match one.word.as_str() {
        "" => {
            let was = dims.unwrap_or_default();
            let what = format!(
                "the dimensions {was:?}, of which size and data say that one is wrong, and not which: all elements are kept, as {:?}",
                one.dims
            );
            let end = header.dims_end().unwrap_or(u64::MAX);
            report.lost.push(RepairItem::new(FIXED_LEN..end, what));
        }
        word => {
            let what = format!("{word} as it must have been: with no other does the header make more sense");
            report.guessed.push(RepairItem::new(range, what));
        }
    }
    let head = one.header.to_bytes(&one.dims);
    drop(words);
    Ok(Box::new(Overlay::new(source, head)))
}

/// The header that was meant, if it is another, and not only in the size: what follows from the dimensions is done by all repairs. Its word
/// has no name where it is not known which dimension it is.
fn likely(
    source: &dyn Source,
    header: Header,
    dims: Option<&[u64]>,
    words: &[u64],
    limits: &Limits,
) -> Result<Option<HeaderCandidate>> {
    let payload = PayloadEvidence::new(source, &header, limits)?;
    let mut all = Words { header, dims: dims.unwrap_or_default(), payload, candidates: Vec::new() };
    if dims.is_some_and(|dims| all.end(&header, dims).is_some()) {
        return Ok(None);
    }
    if dims.is_some() {
        codes(&mut all)?;
        lens(&mut all)?;
    }
    for (count, at) in (0..=words.len()).zip(0_u64..) {
        let dims = words.get(..count).unwrap_or_default().to_vec();
        all.consider("ndims", 40, Header { ndims: at, ..header }, dims, (header.ndims, at))?;
    }
    if dims.is_none() && header.ndims <= MAX_DIMENSIONS {
        // A file that ends within so many dimensions was cut, sooner than that what follows fewer of them is a trailer.
        all.candidates.retain(|one| one.doubt.0 != Rest::Bytes);
    }
    let least = all.candidates.iter().map(|one| one.doubt).min();
    let (mut best, others): (Vec<HeaderCandidate>, Vec<HeaderCandidate>) =
        std::mem::take(&mut all.candidates).into_iter().partition(|one| Some(one.doubt) == least);
    drop(others);
    let same_size = |one: &HeaderCandidate| one.header.size == header.size;
    // A block is as long as the size says, whatever the dimensions do.
    let is_block = header.flags.has(Flags::ENCODED);
    if best.len() == 1 && best.iter().all(|one| is_block || same_size(one)) {
        return Ok(best.pop());
    }
    // The file says that the size is right, or nothing is.
    let is_exact =
        best.iter().all(|one| same_size(one) && one.header.ndims == header.ndims) && best.len() > 1;
    // Text behind the data is a trailer that the size counts as well.
    let is_contradicted =
        end(&header) == Some(all.payload.file_len()) && least.is_none_or(|(rest, _)| rest == Rest::Bytes);
    Ok(if is_exact || is_contradicted { flat(&mut all) } else { None })
}

/// All elements along the first dimension, where the dimensions have fewer.
fn flat(all: &mut Words<'_>) -> Option<HeaderCandidate> {
    let header = all.header;
    let len = all
        .payload
        .decoded_len(&header)
        .or_else(|| (header.flags.0 & !Flags::BIG_ENDIAN == 0).then_some(header.size))?;
    let count = len.checked_div(header.elbyte).filter(|_| len.is_multiple_of(header.elbyte))?;
    let was = element_count(all.dims.iter().copied())?;
    let mut dims = vec![1; all.dims.len()];
    *dims.first_mut()? = count;
    if was >= count || all.end(&header, &dims).is_none() {
        return None;
    }
    Some(HeaderCandidate { header, dims, word: String::new(), at: FIXED_LEN, doubt: (Rest::Nothing, 0) })
}

/// Flags and type codes.
fn codes(all: &mut Words<'_>) -> Result<()> {
    let (header, dims) = (all.header, all.dims);
    let order = header.flags.0 & Flags::BIG_ENDIAN;
    // Of floats that are marked as encoded and are not, the layout knows.
    let is_known =
        header.flags.has(Flags::ENCODED) && matches!(header.eltype, Eltype::FLOAT | Eltype::COMPLEX);
    let plain = if is_known { header.flags.0 } else { order };
    for flags in [plain, order | Flags::ENCODED] {
        let one = Header { flags: Flags(flags), ..header };
        all.consider("flags", 8, one, dims.to_vec(), (header.flags.0, flags))?;
    }
    // Varints that are cut, or of which one was joined to the next or made two, are no plain data before a trailer.
    if all.payload.is_nearly_varints(&header, dims) {
        all.candidates.retain(|one| one.doubt.0 != Rest::Bytes);
    }
    for code in 0..=Eltype::BFLOAT16.0 {
        let one = Header { eltype: Eltype(code), ..header };
        all.consider("eltype", 16, one, dims.to_vec(), (header.eltype.0, code))?;
    }
    Ok(())
}

/// The width of an element, the size and the dimensions, each as the others and the data say.
fn lens(all: &mut Words<'_>) -> Result<()> {
    let (header, dims) = (all.header, all.dims);
    let count = element_count(dims.iter().copied());
    let decoded = all.payload.decoded_len(&header);
    let quotient = |len: u64, parts: Option<u64>| {
        let parts = parts.filter(|parts| *parts > 0 && len.is_multiple_of(*parts))?;
        len.checked_div(parts)
    };
    let by_dims = count.and_then(|count| count.checked_mul(header.elbyte));
    let by_file = all.payload.file_len().checked_sub(header.dims_end().unwrap_or(u64::MAX));
    let by_block = by_dims.and_then(|len| all.payload.block_len(&header, len));
    let mut sizes = [by_dims, by_file.filter(|_| header.flags.has(Flags::ENCODED)), by_block].to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    for size in sizes.into_iter().flatten() {
        let one = Header { size, ..header };
        // A block ends where the size says, unless the file does earlier, or a bit of the size makes it end elsewhere.
        let is_likely = header.size > size || (header.size ^ size).count_ones() == 1;
        if is_likely || all.payload.decoded_len(&one).is_none() {
            all.consider("size", 32, one, dims.to_vec(), (header.size, size))?;
        }
    }
    // Of plain data and LEB128 the size counts the elements, of LZ4 what the block decodes to. A block that is damaged may decode to fewer,
    // where that takes more than a bit of the header.
    let is_less = decoded.is_some_and(|len| by_dims.is_none_or(|by_dims| len < by_dims));
    for (len, is_block) in [(Some(header.size), false), (decoded, true)] {
        let Some(len) = len else { continue };
        let is_likely = |was: u64, is: u64| !(is_block && is_less) || (was ^ is).count_ones() == 1;
        if let Some(elbyte) = quotient(len, count).filter(|is| is_likely(header.elbyte, *is)) {
            let one = Header { elbyte, ..header };
            all.consider("elbyte", 24, one, dims.to_vec(), (header.elbyte, elbyte))?;
        }
        for ((axis, stored), at) in dims.iter().enumerate().zip((FIXED_LEN..).step_by(8)) {
            let others = dims.iter().enumerate().filter(|(other, _)| *other != axis).map(|(_, len)| *len);
            let parts = element_count(others).and_then(|count| count.checked_mul(header.elbyte));
            let Some(is) = quotient(len, parts).filter(|is| is_likely(*stored, *is)) else { continue };
            let mut dims = dims.to_vec();
            if let Some(place) = dims.get_mut(axis) {
                *place = is;
            }
            all.consider(&format!("dimension {axis}"), at, header, dims, (*stored, is))?;
        }
        // Both are the same, and so are the headers that they lead to.
        if decoded == Some(header.size) {
            break;
        }
    }
    Ok(())
}

/// Whether the words of a header of plain data say one thing.
fn fits(header: &Header, dims: &[u64]) -> bool {
    let is_plain = header.flags.0 & !Flags::BIG_ENDIAN == 0;
    let bytes = element_count(dims.iter().copied()).and_then(|count| count.checked_mul(header.elbyte));
    let has_type = element_type(header, ByteOrder::Little).is_ok();
    is_plain && has_type && header.elbyte > 0 && bytes == Some(header.size)
}

/// Returns the end of data for which the size field counts the stored bytes.
fn end(header: &Header) -> Option<u64> {
    header.dims_end()?.checked_add(header.size)
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
