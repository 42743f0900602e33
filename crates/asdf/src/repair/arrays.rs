//! Arrays whose blocks are not whole: the rows that are there, and nothing in the place of those that are not.

use std::collections::HashMap;
use std::ops::Range;

use container_core::report::{RepairItem, RepairReport};
use container_core::{ErrorKind, Limits, Result};

use crate::compression::salvage::Hole;
use crate::edit::TreeEditor;
use crate::ndarray::{ByteSource, NdArray};
use crate::yaml::{Collection, Document, Node, Yaml};

/// Most holes of a block that are told for each array.
const MAX_HOLES: usize = 100;

/// Most changes of the tree that are made one by one.
const MAX_EDITS: usize = 1000;

/// A block of the new file that has fewer decoded bytes than the old one said.
#[derive(Clone, Debug)]
pub(super) struct ShortBlock {
    /// Its number in the new file.
    pub(super) index: usize,
    /// Decoded bytes that are there.
    pub(super) have: u64,
    /// Range of the block in the damaged file.
    pub(super) range: Range<u64>,
    /// Of those that are there, which are zeros in the place of what is lost.
    pub(super) holes: Vec<Hole>,
}

impl ShortBlock {
    /// A block of which the first `have` bytes are there.
    pub(super) const fn new(index: usize, have: u64, range: Range<u64>) -> Self {
        Self { index, have, range, holes: Vec::new() }
    }
}

/// An array of the tree that lies in a block of this file.
pub(super) struct BlockArray {
    path: String,
    array: NdArray,
    /// The block, from 0.
    pub(super) block: i64,
}

/// Every array of the tree that lies in a block, each once.
pub(super) fn block_arrays(document: &Document, limits: &Limits) -> Result<Vec<BlockArray>> {
    let mut found = Vec::new();
    document.walk(false, limits, &mut |path, node| {
        if !node.is_alias() && node.tag().is_some_and(NdArray::is_tag) {
            // What cannot be read as an array is left as it is.
            if let Ok(array) = NdArray::parse(node)
                && let ByteSource::Block(block) = array.source
            {
                found.push(BlockArray { path: path.to_owned(), array, block });
            }
        }
        Ok(true)
    })?;
    Ok(found)
}

/// Cuts the arrays in short blocks to whole rows. An array of which no row is there becomes one of no rows without a block; one without
/// rows, a single value or one whose axes run backwards, becomes null.
pub(super) fn cut_to_rows(
    document: Document,
    short: &[ShortBlock],
    count: usize,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<Document> {
    let arrays = block_arrays(&document, limits)?;
    let short: HashMap<usize, &ShortBlock> = short.iter().map(|short| (short.index, short)).collect();
    let mut edits = Vec::new();
    for placed in &arrays {
        let count = i64::try_from(count).unwrap_or(i64::MAX);
        let index = if placed.block < 0 { placed.block.saturating_add(count) } else { placed.block };
        let known = usize::try_from(index).ok().and_then(|index| short.get(&index).copied());
        if let Some(short) = known {
            report.lost.extend(hole_items(placed, short));
        }
        let (have, range) = match known {
            Some(short) => (short.have, short.range.clone()),
            // The file ends before the block begins.
            None if index >= count || index < 0 => (0, 0..0),
            None => continue,
        };
        let rows = rows_within(&placed.array, have);
        if matches!(rows, None | Some(AvailableRows::All)) && known.is_none() {
            // It has no rows that could be taken away, and cannot be read all the same.
            let name = if placed.path.is_empty() { "the array" } else { &placed.path };
            let what = format!("{name}: missing block {}, array left unchanged", placed.block);
            report.lost.push(RepairItem::of_file(what));
        }
        let Some(rows) = rows else { continue };
        if !matches!(rows, AvailableRows::All) {
            edits.push(Edit { placed, rows, range: (!range.is_empty()).then_some(range) });
        }
    }
    apply_edits(document, &edits, report)
}

/// Lists the rows of an array that have elements in the holes of its block.
fn hole_items(placed: &BlockArray, short: &ShortBlock) -> Vec<RepairItem> {
    let BlockArray { path, array, .. } = placed;
    let name = if path.is_empty() { "the array" } else { path };
    let size = array.datatype.as_ref().map_or(1, |datatype| datatype.dtype.itemsize()) as u64;
    let mut lens: Vec<u64> = array.shape.iter().map(|len| len.unwrap_or(1)).collect();
    let strides = strides(array, &lens, size);
    let mut items = Vec::new();
    for Hole { data, stored } in short.holes.iter().take(MAX_HOLES) {
        let rows = strides.as_ref().and_then(|strides| {
            let (first, of) = (*strides.first()?, array.shape.first()?.unwrap_or(u64::MAX));
            *lens.first_mut()? = 1;
            let row = lens.iter().zip(strides).try_fold(size, |row, (len, stride)| {
                row.checked_add(len.checked_sub(1)?.checked_mul(*stride)?)
            })?;
            // A row is within `row` bytes from where it begins.
            let begin = data.start.saturating_sub(array.offset).saturating_add(1).saturating_sub(row);
            let end = data.end.saturating_sub(array.offset);
            let from = begin.checked_div(first)?.saturating_add(u64::from(begin.checked_rem(first)? > 0));
            let to = end.checked_div(first)?.saturating_add(u64::from(end.checked_rem(first)? > 0)).min(of);
            Some((from, to, array.shape.first()?.is_none()))
        });
        let what = match rows {
            Some((from, to, _)) if from >= to => continue,
            Some((from, to, is_streamed)) => {
                let of = if is_streamed {
                    String::new()
                } else {
                    format!(" of {}", array.shape.first().copied().flatten().unwrap_or(0))
                };
                format!("{name}: lost elements of rows {from}..{to}{of}, replaced by zeros")
            }
            // Its axes run backwards, or it has none.
            None => format!("{name}: lost elements, if any, replaced by zeros"),
        };
        items.push(RepairItem::new(stored.clone(), what));
    }
    if let Some(more) = short.holes.len().checked_sub(MAX_HOLES).filter(|more| *more > 0) {
        items.push(RepairItem::new(
            short.range.clone(),
            format!("{name}: lost elements in {more} more byte ranges"),
        ));
    }
    items
}

/// A change of the tree because of an array.
struct Edit<'a> {
    placed: &'a BlockArray,
    rows: AvailableRows,
    range: Option<Range<u64>>,
}

impl Edit<'_> {
    /// Finds the path and the new value of the change of the array at `node`. `None` for an array that must not change.
    fn change(&self, node: Option<Node<'_>>) -> Result<Option<(String, Yaml)>> {
        let path = &self.placed.path;
        Ok(match self.rows {
            AvailableRows::All => None,
            AvailableRows::First(rows, _) if rows > 0 => {
                Some((format!("{path}/shape/0"), Yaml::int(i128::from(rows))))
            }
            AvailableRows::First(..) => {
                let value = node.map(without_rows).transpose()?.flatten();
                value.map(|value| (path.clone(), value))
            }
            AvailableRows::None => Some((path.clone(), Yaml::Null)),
        })
    }

    /// True where the array is replaced as a whole, with what is within it.
    fn is_whole(&self) -> bool {
        !matches!(self.rows, AvailableRows::First(rows, _) if rows > 0)
    }
}

/// Marks the changes of an array within one that is replaced as a whole; `None` where one of those is not in a mask, which would go with it.
fn in_masks(edits: &[Edit<'_>]) -> Option<Vec<bool>> {
    // The arrays within one stand right behind it.
    let (mut outer, mut found) = (None::<&str>, Vec::with_capacity(edits.len()));
    for edit in edits {
        let path = edit.placed.path.as_str();
        let rest = match outer {
            Some("") => Some(path),
            Some(outer) => path.strip_prefix(outer).and_then(|rest| rest.strip_prefix('/')),
            None => None,
        };
        match rest {
            Some(rest) if rest == "mask" || rest.starts_with("mask/") => found.push(true),
            Some(_) => return None,
            None => {
                outer = edit.is_whole().then_some(path);
                found.push(false);
            }
        }
    }
    Some(found)
}

/// Makes the changes, all at once where that can be done. An array that an alias names, be it within itself, stays as it is where it would go
/// as a whole, and so does one whose keys are those of another mapping.
fn apply_edits(document: Document, edits: &[Edit<'_>], report: &mut RepairReport) -> Result<Document> {
    let mut values = Vec::new();
    let in_masks = in_masks(edits);
    if in_masks.is_some() {
        for edit in edits {
            values.push(edit.change(Some(document.node(edit.placed.array.node)))?);
        }
    }
    let mut editor = TreeEditor::new(document);
    let mut failed = None;
    let all = in_masks.is_some_and(|in_masks| {
        // A mask goes with the array that it masks.
        let changes =
            values.iter().zip(in_masks).filter(|(_, is_in_mask)| !is_in_mask).map(|(value, _)| value);
        let changes = changes.flatten().map(|(path, value)| (path.as_str(), value));
        match editor.set_all(changes) {
            Err(error) if !matches!(error.kind(), ErrorKind::Usage(_)) => failed = Some(error),
            other => return other.is_ok(),
        }
        false
    });
    if let Some(error) = failed {
        return Err(error);
    }
    // From the end, so that paths stay good, and what is replaced has what is within it as that is now.
    for (at, edit) in edits.iter().enumerate().rev() {
        let made = if all {
            values.get(at).is_some_and(Option::is_some)
        } else if edits.len().saturating_sub(at) > MAX_EDITS {
            // Each takes the time of reading the tree.
            false
        } else {
            match edit.change(editor.document().find(&edit.placed.path))? {
                None => false,
                Some((path, value)) => match editor.set(&path, &value) {
                    Ok(()) => true,
                    Err(error) if matches!(error.kind(), ErrorKind::Usage(_)) => false,
                    Err(error) => return Err(error),
                },
            }
        };
        let path = &edit.placed.path;
        let name = if path.is_empty() { "the array" } else { path };
        let item = |what: String| RepairItem::new(edit.range.clone(), what);
        let stays = if made { "" } else { "; the tree contains a different value, which other nodes share" };
        match edit.rows {
            AvailableRows::All => {}
            AvailableRows::First(rows, of) if rows > 0 => {
                report.kept.push(item(format!("{name}: the first {rows} of {of} rows")));
                report.lost.push(item(format!("{name}: {} of {of} rows{stays}", of.saturating_sub(rows))));
            }
            AvailableRows::First(_, of) => report.lost.push(item(format!("{name}: all of {of} rows{stays}"))),
            AvailableRows::None if made => {
                report.lost.push(item(format!("{name}: all of it, replaced by null")));
            }
            AvailableRows::None => report.lost.push(item(format!("{name}: all of it{stays}"))),
        }
    }
    Ok(editor.into_document())
}

/// Rows of an array that are within the first bytes of its block.
enum AvailableRows {
    All,
    /// So many rows of so many.
    First(u64, u64),
    /// Nothing, and it has no rows.
    None,
}

/// `None` where the array's length follows from its block anyway, and where no block would hold it.
fn rows_within(array: &NdArray, have: u64) -> Option<AvailableRows> {
    let lens: Vec<u64> = array.shape.iter().map(|len| len.unwrap_or(0)).collect();
    if array.shape.first().is_some_and(Option::is_none) {
        return None;
    }
    if lens.contains(&0) {
        return Some(AvailableRows::All);
    }
    let size = array.datatype.as_ref().map_or(1, |datatype| datatype.dtype.itemsize()) as u64;
    let Some(strides) = strides(array, &lens, size) else {
        return if array.strides.is_some() { backward_rows_within(array, &lens, size, have) } else { None };
    };
    let reach = |lens: &[u64]| {
        lens.iter().zip(&strides).try_fold(array.offset.checked_add(size)?, |reach, (len, stride)| {
            reach.checked_add(len.checked_sub(1)?.checked_mul(*stride)?)
        })
    };
    if reach(&lens).is_some_and(|reach| reach <= have) {
        return Some(AvailableRows::All);
    }
    let (Some(first), Some(of)) = (strides.first(), lens.first()) else { return Some(AvailableRows::None) };
    let mut row = lens.clone();
    if let Some(first) = row.first_mut() {
        *first = 1;
    }
    let rows = match reach(&row) {
        Some(one) if one <= have => {
            have.saturating_sub(one).checked_div(*first).map_or(*of, |more| more.saturating_add(1))
        }
        _ => 0,
    };
    Some(AvailableRows::First(rows.min(*of), *of))
}

/// As [`rows_within`], of an array with axes that run backwards. `None` where it reaches before its block: no block would hold it.
fn backward_rows_within(array: &NdArray, lens: &[u64], size: u64, have: u64) -> Option<AvailableRows> {
    let (mut first, mut last) = (i128::from(array.offset), i128::from(array.offset));
    for (len, stride) in lens.iter().zip(array.strides.as_deref()?) {
        let way = i128::from(len.checked_sub(1)?).checked_mul(i128::from(*stride))?;
        let end = if way < 0 { &mut first } else { &mut last };
        *end = end.checked_add(way)?;
    }
    let within = last.checked_add(i128::from(size))? <= i128::from(have);
    (first >= 0).then_some(if within { AvailableRows::All } else { AvailableRows::None })
}

/// The strides in bytes, where none is negative; others have no first rows to keep, and count as of none here.
fn strides(array: &NdArray, lens: &[u64], size: u64) -> Option<Vec<u64>> {
    if let Some(strides) = &array.strides {
        return strides.iter().map(|stride| u64::try_from(*stride).ok()).collect();
    }
    let mut strides = vec![size; lens.len()];
    let mut step = size;
    for (stride, len) in strides.iter_mut().zip(lens).rev() {
        *stride = step;
        step = step.checked_mul(*len)?;
    }
    Some(strides)
}

/// The array without rows and without a block, under its tag, with the keys that do not say where its elements are. `None` for one that an
/// alias within it names: the alias would bring what was there before along.
fn without_rows(node: Node<'_>) -> Result<Option<Yaml>> {
    if matches!(Yaml::from_node(node)?, Yaml::Anchored(..)) {
        return Ok(None);
    }
    let data = (Yaml::text("data"), Yaml::Sequence(Vec::new(), Some(Collection::Flow)));
    let mut pairs = vec![data];
    for (key, value) in node.entries() {
        let value = match key.text() {
            "source" | "offset" | "strides" | "byteorder" | "mask" => continue,
            "shape" => {
                let mut shape = vec![Yaml::int(0)];
                for len in value.items().skip(1) {
                    shape.push(Yaml::from_node(len)?);
                }
                Yaml::Sequence(shape, Some(Collection::Flow))
            }
            _ => Yaml::from_node(value)?,
        };
        pairs.push((Yaml::from_node(key)?, value));
    }
    Ok(Some(Yaml::Mapping(pairs, None).tagged(node.tag().unwrap_or_default())))
}
