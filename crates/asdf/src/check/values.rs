//! Values that are none of their type: inline data, masks, truth values, characters.

use std::collections::BTreeSet;

use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, DType, Kind, Order};
use container_core::region::Region;
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Progress, Result};

use super::arrays::Set;
use super::some;
use crate::file::{ArrayEntry, File, is_kept};
use crate::ndarray::ByteSource;

/// Elements that are looked at at once.
const PIECE: u64 = 1 << 20;

/// Looks at the values of arrays that can be wrong. `bad` has the blocks whose bytes are known to be.
pub(super) fn findings(
    file: &File,
    set: &Set<'_>,
    bad: &BTreeSet<usize>,
    options: &ReadOptions,
    progress: Progress<'_>,
) -> Result<Vec<Finding>> {
    let mut findings = Vec::new();
    for (index, entry) in file.arrays().iter().enumerate() {
        progress.tick(index as u64, file.arrays().len() as u64)?;
        if file.block_of(&entry.array).is_ok_and(|block| bad.contains(&block.index))
            || set.is_told(file, &entry.array)
        {
            continue;
        }
        let problem = match look(file, index, entry, options) {
            Ok(problem) => problem,
            Err(error) if error.is_damage() => Some(error.kind().to_string()),
            // Other files, codecs and elements over the limit have findings of their own.
            Err(error) if matches!(error.kind(), ErrorKind::Missing(_) | ErrorKind::Cancelled) => {
                return Err(error);
            }
            Err(_) => None,
        };
        if let Some(problem) = problem {
            let at = file.tree().document().node(entry.array.node).range();
            let message = format!("{}: {problem}", entry.path);
            findings.push(Finding::new(Severity::Error, "array", message).at(at).dataset(entry.path.clone()));
        }
    }
    Ok(some(findings))
}

fn look(file: &File, index: usize, entry: &ArrayEntry, options: &ReadOptions) -> Result<Option<String>> {
    let Ok(geometry) = file.geometry(index) else { return Ok(None) };
    let whole = Region::whole(&geometry.shape);
    let inline = matches!(entry.array.source, ByteSource::Inline(_));
    if entry.array.mask.is_some() && file.wrong_mask(&entry.array).is_none() && !geometry.is_empty() {
        // One element tells whether the mask fits.
        let first = whole.pieces(Order::C, 1).next();
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
        .is_ok_and(|block| block.header.is_compressed() && !is_kept(block, limits));
    let most = if is_decoded_anew {
        PIECE.max(limits.memory / 4 / (geometry.dtype.itemsize() as u64).max(1))
    } else {
        PIECE
    };
    for piece in whole.pieces(Order::C, most) {
        let array = file.read_index(index, &piece, options)?;
        let bytes = array.bytes(Order::C, &options.limits)?;
        if let Some(problem) = wrong_value(&geometry.dtype, &bytes) {
            return Ok(Some(problem));
        }
    }
    Ok(None)
}

/// Whether some bytes are no value of the type.
pub(crate) fn has_wrong_values(dtype: &DType) -> bool {
    dtype.as_scalar().is_some_and(|scalar| matches!(scalar.kind, Kind::Bool | Kind::Unicode))
}

/// The first of the elements in `bytes` that is no value of the type, in words.
pub(crate) fn wrong_value(dtype: &DType, bytes: &[u8]) -> Option<String> {
    match dtype.as_scalar()?.kind {
        Kind::Bool => not_bool(bytes),
        Kind::Unicode => no_character(dtype, bytes),
        _ => None,
    }
}

/// Refuses elements of which one is no value of the type: a file with them is damaged.
///
/// # Errors
/// `Malformed`, of the array at `path`.
pub(crate) fn require_values(path: &str, dtype: &DType, bytes: &[u8]) -> Result<()> {
    wrong_value(dtype, bytes).map_or(Ok(()), |wrong| {
        let error = Error::malformed(format!("{wrong}, which no ASDF file holds")).context(path.to_owned());
        Err(error.hint("holdall cat --format raw, for the bytes as they are"))
    })
}

fn not_bool(bytes: &[u8]) -> Option<String> {
    let wrong = bytes.iter().find(|byte| **byte > 1)?;
    Some(format!("the byte {wrong} as a truth value"))
}

fn no_character(dtype: &DType, bytes: &[u8]) -> Option<String> {
    let big = dtype.as_scalar().is_some_and(|scalar| scalar.order == ByteOrder::Big);
    let code = |word: &[u8; 4]| if big { u32::from_be_bytes(*word) } else { u32::from_le_bytes(*word) };
    let (words, _) = bytes.as_chunks::<4>();
    let wrong = words.iter().map(code).find(|code| char::from_u32(*code).is_none())?;
    Some(format!("the number {wrong:#x}, which is no character"))
}
