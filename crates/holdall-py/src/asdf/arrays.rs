//! Arrays of a tree on their way into a file.

use std::sync::Arc;

use container_core::chunked_read::for_each_chunk;
use container_core::container::{Digests, ReadOptions};
use container_core::dtype::{DType, Order};
use container_core::region::Region;
use holdall::asdf::writer::{ArraySpec, Plan};
use holdall::asdf::yaml::Yaml;
use holdall::{Error, Limits, OpenFile, Progress, Result, Stop};
use pyo3::prelude::*;

use crate::errors::raise;
use crate::file::Core;
use crate::memory::Exported;

/// Bytes that are passed on between two looks at a request to stop.
const PIECE: usize = 4 << 20;

/// Most bytes of a mask that are read at once.
const MASK_PIECE: u64 = 1 << 20;

/// An array as `holdall.asdf._arrays` describes it.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
struct Item<'py> {
    /// `block`: it has one of its own; `view`: of the block of another item; `inline`: in the tree.
    form: String,
    dtype: String,
    shape: Vec<u64>,
    is_fortran: bool,
    /// The bytes in memory.
    buffer: Option<Bound<'py, PyAny>>,
    /// The dataset that has them.
    source: Option<(Bound<'py, Core>, usize)>,
    /// Whether the mask of the dataset is meant.
    is_mask: bool,
    codec: Option<(String, Option<i32>)>,
    /// The item that is its mask.
    mask: Option<usize>,
    /// The item whose block a view is of.
    base: usize,
    offset: u64,
    strides: Option<Vec<i64>>,
    /// Its placeholder in a tree that is read before it is written.
    object: Option<Py<PyAny>>,
}

/// The data of a block.
pub(super) struct Data {
    from: From,
    pub(super) len: u64,
}

enum From {
    Memory(Exported),
    Dataset { opened: Arc<OpenFile>, index: usize, order: Order, is_mask: bool, limits: Limits },
}

/// An array that was declared, and what it is in Python.
pub(super) struct Placed {
    pub(super) block: usize,
    pub(super) offset: u64,
    pub(super) strides: Option<Vec<i64>>,
    pub(super) shape: Vec<u64>,
    pub(super) dtype: DType,
    pub(super) object: Py<PyAny>,
}

impl Placed {
    pub(super) fn clone_ref(&self, py: Python<'_>) -> Self {
        Self {
            strides: self.strides.clone(),
            shape: self.shape.clone(),
            dtype: self.dtype.clone(),
            object: self.object.clone_ref(py),
            ..*self
        }
    }
}

/// Declared arrays and blocks.
pub(super) struct Declared {
    /// The node of each item.
    pub(super) nodes: Vec<Yaml>,
    /// The data of each new block.
    pub(super) data: Vec<Data>,
    pub(super) placed: Vec<Placed>,
}

/// Declares the arrays that were found in a tree.
///
/// # Errors
/// `UnsupportedError` for types that the standard has no name for; `UsageError`.
pub(super) fn declare(plan: &mut Plan, found: &Bound<'_, PyAny>) -> PyResult<Declared> {
    let mut made = Declared { nodes: Vec::new(), data: Vec::new(), placed: Vec::new() };
    let mut blocks = Vec::new();
    for item in found.getattr("items")?.try_iter()? {
        let item: Item<'_> = item?.extract()?;
        let spec = spec(&item, &made.nodes).map_err(raise)?;
        let mut block = None;
        let node = match item.form.as_str() {
            "inline" => {
                let bytes = item.buffer.as_ref().map_or_else(|| Ok(Exported::none()), Exported::new)?;
                plan.inline(&spec, bytes.bytes())
            }
            "view" => {
                block = blocks.get(item.base).copied().flatten();
                plan.view(block.unwrap_or(usize::MAX), &spec, item.offset, item.strides.as_deref())
            }
            _ => {
                block = Some(plan.block_count());
                plan.array(&spec)
            }
        };
        made.nodes.push(node.map_err(raise)?);
        if item.form == "block" {
            made.data.push(Data::new(&item, &spec)?);
        }
        if let (Some(block), Some(object)) = (block, item.object) {
            let (offset, strides, shape) = (item.offset, item.strides, item.shape);
            made.placed.push(Placed { block, offset, strides, shape, dtype: spec.dtype, object });
        }
        blocks.push(block);
    }
    Ok(made)
}

fn spec(item: &Item<'_>, nodes: &[Yaml]) -> Result<ArraySpec> {
    let order = if item.is_fortran { Order::F } else { Order::C };
    let mut spec = ArraySpec::new(DType::parse(&item.dtype)?, item.shape.clone()).order(order);
    if let Some((codec, level)) = &item.codec {
        spec = spec.encoded(codec, *level)?;
    }
    let mask = item.mask.and_then(|mask| nodes.get(mask)).cloned();
    Ok(match mask {
        Some(mask) => spec.masked(mask),
        None => spec,
    })
}

impl Data {
    fn new(item: &Item<'_>, spec: &ArraySpec) -> PyResult<Self> {
        let len = spec.given_len().map_err(raise)?;
        let from = match (&item.source, &item.buffer) {
            (Some((core, index)), _) => {
                let core = core.get();
                From::Dataset {
                    opened: Arc::clone(&core.opened),
                    index: *index,
                    order: spec.order,
                    is_mask: item.is_mask,
                    limits: core.limits,
                }
            }
            (None, Some(buffer)) => From::Memory(Exported::new(buffer)?),
            (None, None) => From::Memory(Exported::none()),
        };
        Ok(Self { from, len })
    }

    /// Passes the bytes on, in pieces.
    ///
    /// # Errors
    /// Those of reading a dataset and of `put`; `Cancelled`.
    pub(super) fn pass(
        &self,
        threads: usize,
        stop: Stop,
        put: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        match &self.from {
            From::Memory(bytes) => bytes.bytes().chunks(PIECE).try_for_each(|piece| {
                stop.check()?;
                put(piece)
            }),
            From::Dataset { opened, index, order, is_mask, limits } => {
                let container = &*opened.container;
                let region = Region::whole(&container.require(*index)?.shape);
                let mut options =
                    ReadOptions::default().with_threads(threads).with_limits(*limits).with_stop(stop);
                options.digests = Digests::Compare;
                if *is_mask {
                    return pass_mask(opened, *index, &region, *order, &options, put);
                }
                for_each_chunk(container, *index, &region, *order, &options, Progress::none(), put)
            }
        }
    }
}

fn pass_mask(
    opened: &OpenFile,
    index: usize,
    region: &Region,
    order: Order,
    options: &ReadOptions,
    put: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    for piece in region.chunks(order, MASK_PIECE) {
        options.limits.stop.check()?;
        let mask = opened.container.mask(index, &piece, options)?;
        let mask = mask.ok_or_else(|| Error::usage("the mask of a dataset is gone"))?;
        put(&mask.bytes(order, &options.limits)?)?;
    }
    Ok(())
}
