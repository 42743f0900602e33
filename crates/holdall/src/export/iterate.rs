//! Walking through the elements of a region, one by one or in runs.

use std::borrow::Cow;
use std::io::Write;

use container_core::chunked_read::{for_each_chunk, for_each_masked_chunk};
use container_core::container::{Container, Dataset, ReadOptions};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::{Error, Progress, Result};

/// Maximum number of elements without bytes that are spelled out one by one, as they take no space in a file.
const MAX_EMPTY: u64 = 1 << 20;

/// Bytes of text that are gathered before they are written.
const GATHERED: usize = 64 << 10;

/// Iteration over a region of a dataset.
pub(super) struct Walk<'a> {
    pub(super) dataset: Cow<'a, Dataset>,
    /// Length of each axis that is kept.
    pub(super) shape: Vec<u64>,
    container: &'a dyn Container,
    index: usize,
    region: &'a Region,
    read: &'a ReadOptions,
    progress: Progress<'a>,
}

impl<'a> Walk<'a> {
    pub(super) fn new(
        container: &'a dyn Container,
        index: usize,
        region: &'a Region,
        read: &'a ReadOptions,
        progress: Progress<'a>,
    ) -> Result<Self> {
        let dataset = container.require(index)?;
        Ok(Self { dataset, shape: region.shape(), container, index, region, read, progress })
    }

    /// The bytes of the elements in `order`, as stored, in runs of whole elements.
    pub(super) fn runs(&self, order: Order, sink: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        for_each_chunk(self.container, self.index, self.region, order, self.read, self.progress, sink)
    }

    /// Every element in C order, with its mask: a byte for each of its scalars, or empty where none is missing.
    pub(super) fn items(&self, mut sink: impl FnMut(&[u8], &[u8]) -> Result<()>) -> Result<()> {
        let size = self.dataset.dtype.itemsize();
        if size > 0 && self.container.has_mask(self.index, self.read)? {
            let Self { container, index, region, read, progress, .. } = *self;
            return for_each_masked_chunk(
                container,
                index,
                region,
                Order::C,
                read,
                progress,
                |run, hidden| {
                    let mut items = run.chunks_exact(size).enumerate();
                    items.try_for_each(|(at, item)| sink(item, hidden.map_or(&[], |hidden| hidden.of(at))))
                },
            );
        }
        if size > 0 {
            return self.runs(Order::C, |run| run.chunks_exact(size).try_for_each(|item| sink(item, &[])));
        }
        let count = self.region.len().unwrap_or(u64::MAX);
        if count > MAX_EMPTY {
            return Err(Error::limit("number of elements without bytes", count, MAX_EMPTY));
        }
        (0..count).try_for_each(|_| sink(&[], &[]))
    }
}

/// The indices of the elements in C order.
pub(super) struct Odometer {
    pub(super) at: Vec<u64>,
    shape: Vec<u64>,
}

impl Odometer {
    pub(super) fn new(shape: &[u64]) -> Self {
        Self { at: vec![0; shape.len()], shape: shape.to_vec() }
    }

    /// Goes to the next element, and returns the number of axes (the last ones) that end with the one it leaves.
    pub(super) fn step(&mut self) -> usize {
        for (ended, (at, len)) in self.at.iter_mut().zip(&self.shape).rev().enumerate() {
            *at += 1;
            if *at < *len {
                return ended;
            }
            *at = 0;
        }
        self.at.len()
    }
}

/// Output of text, gathered into larger pieces.
pub(super) struct Gathered<'a> {
    pub(super) text: String,
    out: &'a mut dyn Write,
}

impl<'a> Gathered<'a> {
    pub(super) fn new(out: &'a mut dyn Write) -> Self {
        Self { text: String::with_capacity(GATHERED + 1024), out }
    }

    /// Writes the gathered text, if it is enough.
    pub(super) fn pass(&mut self) -> Result<()> {
        if self.text.len() < GATHERED { Ok(()) } else { self.finish() }
    }

    /// Writes the gathered text.
    pub(super) fn finish(&mut self) -> Result<()> {
        self.out.write_all(self.text.as_bytes())?;
        self.text.clear();
        Ok(())
    }
}
