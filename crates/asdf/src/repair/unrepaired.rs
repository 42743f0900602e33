//! Reports errors of the tree that repair cannot fix: only its author knows the intended values.

use std::ops::Range;
use std::sync::Arc;

use container_core::array::contiguous_strides;
use container_core::codec::Codecs;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::report::{Finding, RepairItem, RepairReport, Severity};
use container_core::source::Source;
use container_core::{ErrorKind, Limits, Progress, Result};

use super::plan_blocks::PlannedBlock;
use crate::check;
use crate::datasets::of_blocks;
use crate::file::open_options::Strictness;
use crate::file::{File, WRONG_MASK, is_same_file};
use crate::ndarray::geometry::Rows;
use crate::ndarray::{ByteSource, Geometry, NdArray, inline};
use crate::yaml::{Document, Node};

/// Most items of a kind that are told.
const MAX_REPORTED: usize = 100;

/// Reports invalid nodes, and arrays that do not fit their blocks although these are intact. `old` is the text of the tree in the damaged
/// file, from byte `start`; `short` are the blocks that the report has already.
pub(super) fn report_unrepaired_nodes(
    document: &Document,
    old: &[u8],
    start: u64,
    parts: &[PlannedBlock],
    short: &[usize],
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<()> {
    // The text may have been mended somewhere: behind that, places are others.
    let same = document.text().bytes().zip(old).take_while(|(new, old)| new == *old).count() as u64;
    let place = |range: Range<u64>| {
        (range.end <= same).then(|| start.saturating_add(range.start)..start.saturating_add(range.end))
    };
    let mut items = Vec::new();
    for finding in check::tree::findings(document, limits)? {
        if finding.severity == Severity::Error {
            let range = finding.range.and_then(place);
            items.push(RepairItem::new(range, format!("{}; left unchanged", finding.message)));
        }
    }
    document.walk(false, limits, &mut |path, node| {
        if !node.is_alias()
            && node.tag().is_some_and(NdArray::is_tag)
            && let Some(problem) = problem(node, parts, short, limits)?
        {
            let name = if path.is_empty() { "the array" } else { path };
            let what = format!("{name}: unreadable array left unchanged: {problem}");
            items.push(RepairItem::new(place(node.range()), what));
        }
        Ok(true)
    })?;
    let more = items.len().saturating_sub(MAX_REPORTED);
    items.truncate(MAX_REPORTED);
    report.lost.extend(items);
    if more > 0 {
        let what = format!("{more} more invalid nodes of the tree");
        report.lost.push(RepairItem::of_file(what));
    }
    Ok(())
}

/// Reports as lost every error that a check of the new file finds and the report does not have yet: unknown codecs of blocks that are
/// kept, elements that are no values of their type.
///
/// # Errors
/// `Cancelled`, and those of the source. A check that the limits end lists nothing.
pub(super) fn report_damage_of_new_file(
    new: Arc<dyn Source>,
    options: &OpenOptions,
    codecs: &Codecs,
    report: &mut RepairReport,
    progress: Progress<'_>,
) -> Result<()> {
    let open =
        crate::OpenOptions::from(options).with_codecs(codecs.clone()).with_strictness(Strictness::Lenient);
    let Ok(file) = File::from_source(Box::new(new), None, open) else { return Ok(()) };
    let mut read = ReadOptions::default();
    read.limits = options.limits;
    let checked = check::check(&file, None, &of_blocks(&file), CheckDepth::Full, &read, progress);
    let found = match checked {
        Ok(found) => found.findings,
        Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => return Ok(()),
        Err(error) => return Err(error),
    };
    let mut items = Vec::new();
    for finding in found.into_iter().filter(|finding| finding.severity == Severity::Error) {
        if is_listed(&finding, report) {
            continue;
        }
        items.push(RepairItem::of_file(format!("{}; left unchanged", finding.message)));
    }
    report.lost.extend(items);
    Ok(())
}

/// Whether what is lost of a dataset, or of the block or array that a message begins with, is in the report.
fn is_listed(finding: &Finding, report: &RepairReport) -> bool {
    let message = &finding.message;
    let subject = match message.split_once(": ").map(|(block, _)| block) {
        Some(block) if block.starts_with("block ") => Some(block),
        _ => match message.strip_prefix("the mask of ") {
            Some(rest) => rest.strip_suffix(WRONG_MASK),
            None => message.split(' ').next(),
        },
    };
    let names = [finding.dataset.as_deref(), subject];
    let is_of = |what: &str, name: &str| {
        what.strip_prefix(name).is_some_and(|rest| rest.starts_with([':', ' ', ',']))
    };
    report.lost.iter().any(|item| {
        // Of the tree as a whole nothing more is to be said.
        item.what.starts_with("the tree") || names.iter().flatten().any(|name| is_of(&item.what, name))
    })
}

/// Reports the other files that hold arrays of the tree: repair does not read them, and readers expect them next to the new file.
///
/// # Errors
/// `Limit`.
pub(super) fn report_external_arrays(
    document: &Document,
    limits: &Limits,
    report: &mut RepairReport,
) -> Result<()> {
    /// Most file names in the report.
    const MAX_NAMED_FILES: usize = 4;
    let (mut names, mut more) = (Vec::<String>::new(), false);
    document.walk(false, limits, &mut |_, node| {
        if !node.is_alias()
            && node.tag().is_some_and(NdArray::is_tag)
            && let Ok(NdArray { source: ByteSource::External(uri), .. }) = NdArray::parse(node)
            && !is_same_file(&uri)
            && !names.contains(&uri)
        {
            more |= names.len() == MAX_NAMED_FILES;
            if names.len() < MAX_NAMED_FILES {
                names.push(uri);
            }
        }
        Ok(true)
    })?;
    if !names.is_empty() {
        let more = if more { " and others" } else { "" };
        let what = format!(
            "arrays in other files, {}{more}: left unchanged, readers expect them next to the new file",
            names.join(", ")
        );
        report.kept.push(RepairItem::of_file(what));
    }
    Ok(())
}

/// Finds the reason why the array at `node` cannot be read from blocks that are whole.
fn problem(
    node: Node<'_>,
    parts: &[PlannedBlock],
    short: &[usize],
    limits: &Limits,
) -> Result<Option<String>> {
    let array = match NdArray::parse(node) {
        Ok(array) => array,
        // A type that is not known here may be damage, too: nobody reads it.
        Err(error) if error.is_damage() || matches!(error.kind(), ErrorKind::Unsupported(_)) => {
            return Ok(Some(error.kind().to_string()));
        }
        Err(_) => return Ok(None),
    };
    let result = match &array.source {
        ByteSource::External(_) => return Ok(None),
        ByteSource::Inline(_) => check_inline(node, &array, limits),
        ByteSource::Block(number) => {
            let index = match usize::try_from(*number) {
                Ok(index) => Some(index),
                Err(_) => {
                    usize::try_from(number.unsigned_abs()).ok().and_then(|back| parts.len().checked_sub(back))
                }
            };
            // An array of a block that there is not is told of where arrays are cut.
            let Some((index, part)) = index.and_then(|index| Some((index, parts.get(index)?))) else {
                return Ok(None);
            };
            // Where arrays are cut it is told what of a short block is missing; here, what no block would hold.
            let is_stated = array.shape.first().is_none_or(Option::is_some);
            let len = if short.contains(&index) && is_stated { u64::MAX } else { part.data_size() };
            Geometry::of_block(&array, len, Rows::Stated, limits).map(|_| ())
        }
    };
    Ok(match result {
        Err(error) if error.is_damage() => Some(error.kind().to_string()),
        _ => {
            array.wrong_mask(node.document()).map(|_| "its mask is neither a number nor an array".to_owned())
        }
    })
}

fn check_inline(node: Node<'_>, array: &NdArray, limits: &Limits) -> Result<()> {
    let data = node.get("data").unwrap_or(node);
    let shape: Vec<u64> = array.shape.iter().map(|axis| axis.unwrap_or(0)).collect();
    let dtype = match &array.datatype {
        Some(datatype) => datatype.dtype.clone(),
        None => inline::infer(data, &shape, limits)?,
    };
    // Lists that name each other may hold more than anything could.
    contiguous_strides(&shape, dtype.itemsize(), Order::C)?;
    inline::read(data, &shape, &dtype, limits).map(|_| ())
}
