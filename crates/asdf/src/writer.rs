//! New files: the tree first, then the data, in bounded memory.
//!
//! ```
//! use asdf::container_core::dtype::{DType, Kind};
//! use asdf::writer::{ArraySpec, Plan, WriteOptions};
//! use asdf::yaml::Yaml;
//!
//! let mut plan = Plan::new(WriteOptions::default());
//! let counts = plan.array(&ArraySpec::new(DType::native(Kind::Uint, 4), [2, 3]))?;
//! let tree = Yaml::mapping([("title", Yaml::text("two rows")), ("counts", counts)]);
//! let mut bytes = Vec::new();
//! let mut writer = plan.start(tree, &mut bytes)?;
//! for row in [[1_u32, 2, 3], [4, 5, 6]] {
//!     writer.write(&row.map(u32::to_ne_bytes).concat())?;
//! }
//! writer.finish()?;
//! assert!(bytes.starts_with(b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n"));
//! # Ok::<(), asdf::container_core::Error>(())
//! ```

use std::collections::VecDeque;

use container_core::array::Array;
use container_core::dtype::{DType, Element};
use container_core::format::Output;
use container_core::write::AtomicFile;
use container_core::{Error, Result};

pub(crate) mod assemble;
pub(crate) mod block;
pub(crate) mod copy_bytes;
pub(crate) mod datatype;
pub(crate) mod digest;
pub(crate) mod encode;
pub(crate) mod inline;
pub(crate) mod options;
pub(crate) mod output;
mod pack_records;
mod plan;
pub(crate) mod root;
#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::ptr_arg)]
mod tests;

pub use options::{NewHistoryEntry, Padding, WriteOptions};
pub use plan::{ArraySpec, Plan};

use crate::blocks::index::BlockIndex;
use block::{BlockParts, OpenBlock};
use output::Target;
use plan::Planned;
pub(crate) use plan::PlannedArray;

/// A file that is being written: the tree is written, and data are taken in the order in which their arrays were declared.
///
/// The file appears under its path when [`Writer::finish`] returns. A writer that is dropped before leaves no file.
pub struct Writer<'o> {
    target: Target<'o>,
    options: WriteOptions,
    planned: VecDeque<Planned>,
    open: Option<(OpenBlock, Option<u64>)>,
    /// Offset of the next block, from the start of the file.
    at: u64,
    offsets: Vec<u64>,
    streamed: bool,
    /// Element type of the current array; `None` for a streamed one.
    dtype: Option<DType>,
}

impl<'o> Writer<'o> {
    fn to_file(file: AtomicFile, options: WriteOptions, planned: Vec<Planned>, head: &str) -> Result<Self> {
        Self::new(Target::File(Box::new(file)), options, planned, head)
    }

    fn to_output(
        out: &'o mut dyn Output,
        options: WriteOptions,
        planned: Vec<Planned>,
        head: &str,
    ) -> Result<Self> {
        Self::new(Target::Output(out), options, planned, head)
    }

    fn new(target: Target<'o>, options: WriteOptions, planned: Vec<Planned>, head: &str) -> Result<Self> {
        let mut target = target;
        let len = head.len() as u64;
        let padding = if planned.is_empty() { 0 } else { options.padding.after(len) };
        if let Some(total) = known_len(&planned, &options) {
            target.output().reserve(total.saturating_add(len).saturating_add(padding))?;
        }
        target.write(head.as_bytes())?;
        target.fill(padding)?;
        let mut writer = Self {
            target,
            options,
            planned: planned.into(),
            open: None,
            at: len + padding,
            offsets: Vec::new(),
            streamed: false,
            dtype: None,
        };
        writer.next_block()?;
        Ok(writer)
    }

    /// Takes the next bytes of the current array, in the order of its spec, in pieces of any size. Bytes beyond its end are those of the next array.
    ///
    /// # Errors
    /// `Usage` where all arrays have their bytes; `Io`. The writer cannot be used after an error.
    pub fn write(&mut self, bytes: &[u8]) -> Result<()> {
        let mut bytes = bytes;
        while !bytes.is_empty() {
            let Some((open, _)) = &mut self.open else {
                return Err(Error::usage(format!("{} bytes more than the arrays have", bytes.len())));
            };
            let (now, later) = match open.remaining() {
                Some(left) => bytes.split_at(usize::try_from(left).unwrap_or(usize::MAX).min(bytes.len())),
                None => (bytes, &[][..]),
            };
            open.write(now, &mut self.target)?;
            bytes = later;
            self.next_block()?;
        }
        Ok(())
    }

    /// Takes the next elements of the current array: all of them, or some, in the order of its spec. Their bytes are swapped where the spec has the
    /// other byte order.
    ///
    /// # Errors
    /// As [`Writer::write`]; `Usage` for elements of another type than the spec's.
    pub fn write_elements<T: Element>(&mut self, elements: &[T]) -> Result<()> {
        self.write_array(&Array::from_elements(elements, &[elements.len()])?)
    }

    /// Takes the elements of `array`, in the order that [`ArraySpec::of`] has for it.
    ///
    /// # Errors
    /// As [`Writer::write_elements`]; `Limit` where elements with gaps between them cannot be gathered in memory.
    pub fn write_array(&mut self, array: &Array<'_>) -> Result<()> {
        let order = self.dtype.as_ref().map_or(Ok(None), |planned| array.dtype().order_for(planned))?;
        let bytes = array.bytes(array.memory_order(), &self.options.limits)?;
        let Some(order) = order else { return self.write(&bytes) };
        let mut swapped = bytes.into_owned();
        array.dtype().swap_to(order, &mut swapped)?;
        self.write(&swapped)
    }

    /// Number of arrays whose data have all come.
    #[must_use]
    pub fn complete(&self) -> usize {
        self.offsets.len() - usize::from(self.open.is_some())
    }

    /// Writes the index, and renames the file to its path.
    ///
    /// # Errors
    /// `Usage` where an array lacks data, or a streamed one ends within a row; those of [`AtomicFile::commit`]; `Io`.
    pub fn finish(mut self) -> Result<()> {
        if let Some((open, row)) = self.open.take() {
            self.at += open.end(row, &self.options, &mut self.target)?;
        }
        if self.options.index && !self.offsets.is_empty() && !self.streamed {
            let text = BlockIndex { offsets: std::mem::take(&mut self.offsets) }.to_text();
            self.target.write(text.as_bytes())?;
        }
        match self.target {
            Target::File(file) => file.commit(self.options.durability),
            Target::Output(out) => Ok(out.flush()?),
        }
    }

    /// Ends blocks that have all their bytes, and begins the next one that needs any.
    fn next_block(&mut self) -> Result<()> {
        loop {
            match self.open.take() {
                Some((open, row)) if open.is_full() => {
                    self.at += open.end(row, &self.options, &mut self.target)?;
                }
                None => {}
                open => {
                    self.open = open;
                    return Ok(());
                }
            }
            let Some(planned) = self.planned.pop_front() else { return Ok(()) };
            self.dtype = planned.dtype().cloned();
            let (parts, row) = self.parts(planned)?;
            self.offsets.push(self.at);
            self.streamed = row.is_some();
            let open = OpenBlock::start(self.at, parts, &self.options, &mut self.target)?;
            self.open = Some((open, row));
        }
    }

    fn parts(&self, planned: Planned) -> Result<(BlockParts, Option<u64>)> {
        match planned {
            Planned::Streamed { row } => {
                let parts = BlockParts { given: None, data: 0, packer: None, encoder: None, label: [0; 4] };
                Ok((parts, Some(row)))
            }
            Planned::Array(array) => Ok((array.parts(&self.options)?, None)),
        }
    }
}

/// Bytes of the blocks, if all of them are stored plainly.
fn known_len(planned: &[Planned], options: &WriteOptions) -> Option<u64> {
    planned.iter().try_fold(0_u64, |total, planned| match planned {
        Planned::Array(array) if array.compression.is_none() => {
            let padding = options.padding.after(array.data);
            total.checked_add(array.data)?.checked_add(padding)?.checked_add(100)
        }
        _ => None,
    })
}
