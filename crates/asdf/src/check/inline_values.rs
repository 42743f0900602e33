//! Checks values against their type: inline data, masks, truth values, characters.

use std::collections::BTreeSet;

use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Field, Kind, Order};
use container_core::region::Region;
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Progress, Result};

use super::arrays::CheckedSet;
use super::limit_findings;
use crate::file::{ArrayEntry, File, is_cacheable};
use crate::ndarray::ByteSource;

/// Bytes of elements that are checked at once.
const MAX_PIECE_LEN: u64 = 4 << 20;

/// Checks the values of types that have invalid bytes. Arrays in the blocks of `bad`, which are damaged, are skipped.
pub(super) fn findings(
    file: &File,
    set: &CheckedSet<'_>,
    bad: &BTreeSet<usize>,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        progress.tick(index as u64, file.arrays().len() as u64)?;
        if file.block_of(&entry.array).is_ok_and(|block| bad.contains(&block.index))
            || set.is_reported(file, &entry.array)
        {
            continue;
        }
        let problem = match check_array(file, index, entry, options) {
            Ok(problem) => problem,
            Err(error) if error.is_damage() => Some(error.kind().to_string()),
            // Elements over the limit, codecs and other files have findings of their own.
            Err(error) if matches!(error.kind(), ErrorKind::Io(_)) && file.is_external(&entry.array) => None,
            Err(error) if error.is_transient() => return Err(error),
            Err(_) => None,
        };
        if let Some(problem) = problem {
            let at = file.tree().document().node(entry.array.node).range();
            let message = format!("{}: {problem}", entry.path);
            findings.push(Finding::new(Severity::Error, "array", message).at(at).dataset(entry.path.clone()));
        }
    }
    Ok(limit_findings(findings))
}

fn check_array(
    file: &File,
    index: usize,
    entry: &ArrayEntry,
    options: &ReadOptions,
) -> Result<Option<String>> {
    let Ok(geometry) = file.geometry(index) else { return Ok(None) };
    let whole = Region::whole(&geometry.shape);
    let inline = matches!(entry.array.source, ByteSource::Inline(_));
    if entry.array.mask.is_some() && file.wrong_mask(&entry.array).is_none() && !geometry.is_empty() {
        // One element is enough to check that the mask fits.
        let first = whole.chunks(Order::C, 1).next();
        if let Some(first) = first {
            file.mask_of(&entry.array, &first, options)?;
        }
    }
    if !has_wrong_values(&geometry.dtype) && !inline {
        return Ok(None);
    }
    let limits = &options.limits;
    let is_decoded_anew = file
        .block_of(&entry.array)
        .is_ok_and(|block| block.header.is_compressed() && !is_cacheable(block, limits));
    let most = if is_decoded_anew { MAX_PIECE_LEN.max(limits.memory / 4) } else { MAX_PIECE_LEN };
    let itemsize = (geometry.dtype.itemsize() as u64).max(1);
    for piece in whole.chunks(Order::C, (most / itemsize).max(1)) {
        let array = file.read_index(index, &piece, options)?;
        let bytes = array.bytes(Order::C, &options.limits)?;
        if let Some(problem) = wrong_value(&geometry.dtype, &bytes) {
            return Ok(Some(problem));
        }
    }
    Ok(None)
}

/// Whether the type, or one of its fields, has invalid bytes.
pub(crate) fn has_wrong_values(dtype: &DType) -> bool {
    match dtype {
        DType::Scalar(scalar) => matches!(scalar.kind, Kind::Bool | Kind::Unicode),
        DType::Record(record) => record.fields.iter().any(|field| has_wrong_values(&field.dtype)),
    }
}

/// Describes the first element in `bytes` that is invalid for its type; in records, that of the first such field.
pub(crate) fn wrong_value(dtype: &DType, bytes: &[u8]) -> Option<String> {
    match dtype {
        DType::Scalar(scalar) => match scalar.kind {
            Kind::Bool => not_bool(bytes),
            Kind::Unicode => no_character(dtype, bytes),
            _ => None,
        },
        DType::Record(record) => {
            let fields = record.fields.iter().filter(|field| has_wrong_values(&field.dtype));
            fields.into_iter().find_map(|field| wrong_in_field(record.size, field, bytes))
        }
    }
}

/// As [`wrong_value`], of one field of records of `size` bytes.
fn wrong_in_field(size: usize, field: &Field, bytes: &[u8]) -> Option<String> {
    let count = field.shape.iter().try_fold(1_usize, |count, axis| count.checked_mul(*axis))?;
    let len = field.dtype.itemsize().checked_mul(count)?;
    let place = field.offset..field.offset.checked_add(len)?;
    let mut records = bytes.chunks_exact(size.max(1));
    let wrong = records.find_map(|record| wrong_value(&field.dtype, record.get(place.clone())?))?;
    Some(format!("field {:?}: {wrong}", field.name))
}

/// Returns an error for an element that is invalid for its type: a file with it is damaged.
///
/// # Errors
/// `Malformed`, of the array at `path`.
pub(crate) fn require_values(path: &str, dtype: &DType, bytes: &[u8]) -> Result<()> {
    wrong_value(dtype, bytes).map_or(Ok(()), |wrong| {
        let error =
            Error::malformed(format!("{wrong}, which ASDF cannot store")).with_context(path.to_owned());
        Err(error.with_hint("holdall cat --format raw shows the stored bytes"))
    })
}

fn not_bool(bytes: &[u8]) -> Option<String> {
    let wrong = bytes.iter().find(|byte| **byte > 1)?;
    Some(format!("the byte {wrong} is not a truth value (expected 0 or 1)"))
}

fn no_character(dtype: &DType, bytes: &[u8]) -> Option<String> {
    let big = dtype.as_scalar().is_some_and(|scalar| scalar.order == ByteOrder::Big);
    let code = |word: &[u8; 4]| if big { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) };
    let (words, _) = bytes.as_chunks::<4>();
    let wrong = words.iter().map(code).find(|code| char::from_u32(*code).is_none())?;
    Some(format!("the number {wrong:#x} is not a character"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wrong(dtype: &str, bytes: &[u8]) -> Option<String> {
        let dtype = DType::parse(dtype).unwrap();
        assert!(has_wrong_values(&dtype) || wrong_value(&dtype, bytes).is_none());
        wrong_value(&dtype, bytes)
    }

    /// A truth value is 0 or 1, and a character no surrogate and not above U+10FFFF.
    #[test]
    fn invalid_elements_are_found_in_either_order_and_in_any_record() {
        assert_eq!(wrong("|b1", &[0, 1, 1]), None);
        assert!(wrong("|b1", &[0, 1, 2]).unwrap().contains('2'));
        let code = |code: u32| [u32::to_le_bytes(0x61), code.to_le_bytes()].concat();
        for valid in [0, 0xd7ff, 0xe000, 0x0010_ffff] {
            assert_eq!(wrong("<U2", &code(valid)), None, "{valid:#x}");
        }
        for invalid in [0xd800, 0xdfff, 0x0011_0000] {
            assert!(wrong("<U2", &code(invalid)).unwrap().contains(&format!("{invalid:#x}")));
            let big: Vec<u8> = code(invalid).chunks(4).flat_map(|word| word.iter().rev().copied()).collect();
            assert!(wrong(">U2", &big).unwrap().contains(&format!("{invalid:#x}")));
        }
        let records = "[('a', '<i2'), ('b', '|b1', (2,)), ('c', [('d', '|b1')])]";
        assert_eq!(wrong(records, &[9, 9, 1, 0, 1, 8, 8, 0, 1, 1]), None);
        assert!(wrong(records, &[9, 9, 1, 0, 1, 8, 8, 0, 7, 1]).unwrap().contains("\"b\""));
        assert!(wrong(records, &[9, 9, 1, 0, 5, 8, 8, 0, 1, 1]).unwrap().contains("\"d\""));
        for other in ["<i4", "<f8", "|S4", "[('a', '<i2'), ('b', '<u2')]"] {
            assert_eq!(wrong(other, &[0xff; 8]), None, "{other}");
        }
        let error = require_values("a/b", &DType::parse("|b1").unwrap(), &[3]).unwrap_err();
        assert!(error.is_damage() && error.hint().is_some() && error.to_string().contains("a/b"), "{error}");
        assert!(require_values("a/b", &DType::parse("|b1").unwrap(), &[1]).is_ok());
    }
}
