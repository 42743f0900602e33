//! The plan of a new file: arrays are declared and the tree is built with their nodes before any data come.

use std::path::Path;

use container_core::array::Array;
use container_core::dtype::{DType, Kind, Order};
use container_core::format::Output;
use container_core::write::{AtomicFile, Overwrite};
use container_core::{Error, Result};

use super::block::BlockParts;
use super::datatype::{datatype, packed_size};
use super::options::WriteOptions;
use super::root::{ndarray_tag, root};
use super::{Writer, inline};
use crate::compression::codec_of_name;
use crate::tree::emit_options;
use crate::yaml::{Collection, Yaml, emit_document};

/// An array to be written: its description in the tree, and the storage of its block.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ArraySpec {
    /// Element type. Padding within records is not written: the standard has no offsets of fields.
    pub dtype: DType,
    /// Length of each axis.
    pub shape: Vec<u64>,
    /// Order of the axes in the data that will be written. F order is stored as strides.
    pub order: Order,
    /// Label and level of the codec; `None` stores the bytes as they are.
    pub compression: Option<(String, Option<i32>)>,
    /// Mask: a number, or the node of an array of bool8.
    pub mask: Option<Yaml>,
}

impl ArraySpec {
    /// An array in C order, stored as it is.
    #[must_use]
    pub fn new(dtype: DType, shape: impl Into<Vec<u64>>) -> Self {
        Self { dtype, shape: shape.into(), order: Order::C, compression: None, mask: None }
    }

    /// An array of the type and shape of `array`, in F order if it is so in memory and not in C order, without a codec.
    #[must_use]
    pub fn of(array: &Array<'_>) -> Self {
        Self::new(array.dtype().clone(), array.shape()).order(array.memory_order())
    }

    /// The same in another order.
    #[must_use]
    pub fn order(mut self, order: Order) -> Self {
        self.order = order;
        self
    }

    /// The same with a codec: a label as on disk (`zlib`, `bzp2`, `lz4`, `zstd`, `blsc`), and its level.
    #[must_use]
    pub fn compressed(mut self, label: impl Into<String>, level: Option<i32>) -> Self {
        self.compression = Some((label.into(), level));
        self
    }

    /// The same with a codec by the command's word (`none`, `zlib`, `bzp2`, `lz4`, `zstd`, `blosc`), and its level.
    ///
    /// # Errors
    /// `Usage` for another word, and for a level of `none`.
    pub fn encoded(mut self, codec: &str, level: Option<i32>) -> Result<Self> {
        let found = codec_of_name(codec, level)?;
        self.compression = found.map(|(label, level)| (label.to_owned(), level));
        Ok(self)
    }

    /// The same with a mask.
    #[must_use]
    pub fn masked(mut self, mask: Yaml) -> Self {
        self.mask = Some(mask);
        self
    }

    /// Bytes of the data that the writer takes.
    ///
    /// # Errors
    /// `Usage` past 2^64.
    pub fn given_len(&self) -> Result<u64> {
        self.product(self.dtype.itemsize() as u64)
    }

    /// Bytes of the decoded block: fewer than the writer takes where records have padding.
    ///
    /// # Errors
    /// `Usage` past 2^64.
    pub fn data_len(&self) -> Result<u64> {
        self.product(packed_size(&self.dtype))
    }

    fn product(&self, itemsize: u64) -> Result<u64> {
        if self.shape.contains(&0) {
            return Ok(0);
        }
        let product = self.shape.iter().try_fold(itemsize, |product, len| product.checked_mul(*len));
        product.ok_or_else(|| Error::usage("an array of more than 2^64 bytes"))
    }

    /// Bytes from element to element along each axis, if they differ from C order.
    fn strides(&self) -> Result<Option<Vec<i64>>> {
        if self.order == Order::C || self.shape.len() < 2 || self.data_len()? == 0 {
            return Ok(None);
        }
        let mut step = packed_size(&self.dtype);
        let mut strides = Vec::with_capacity(self.shape.len());
        for len in &self.shape {
            strides.push(i64::try_from(step).map_err(|_| Error::usage("strides of more than 2^63 bytes"))?);
            step = step.saturating_mul(*len);
        }
        Ok(Some(strides))
    }
}

/// A block that is going to be written.
#[derive(Clone, Debug)]
pub(super) enum Planned {
    /// The data of an array.
    Array(PlannedArray),
    /// Rows of `row` bytes, to the end of the file.
    Streamed { row: u64 },
}

impl Planned {
    /// Element type of the array; `None` for rows.
    pub(super) const fn dtype(&self) -> Option<&DType> {
        match self {
            Self::Array(array) => Some(&array.dtype),
            Self::Streamed { .. } => None,
        }
    }
}

/// The block of an array that is going to be written.
#[derive(Clone, Debug)]
pub(crate) struct PlannedArray {
    dtype: DType,
    /// Bytes that will be given.
    given: u64,
    /// Bytes that this comes to decoded.
    pub(crate) data: u64,
    pub(super) compression: Option<(String, Option<i32>)>,
}

impl PlannedArray {
    /// The parts of the block.
    pub(crate) fn parts(&self, options: &WriteOptions) -> Result<BlockParts> {
        BlockParts::of_array(&self.dtype, self.given, self.data, self.compression.as_ref(), options)
    }
}

/// A file that is being planned.
///
/// Each declaration returns the node of the array. The caller puts the nodes into the tree, wherever and as often as it likes. Then [`Plan::create`]
/// or [`Plan::start`] writes the tree, and the [`Writer`] takes the data in the order of declaration.
#[derive(Clone, Debug)]
pub struct Plan {
    options: WriteOptions,
    blocks: Vec<Planned>,
}

impl Plan {
    /// An empty plan.
    #[must_use]
    pub const fn new(options: WriteOptions) -> Self {
        Self { options, blocks: Vec::new() }
    }

    /// Options that the file is written with.
    #[must_use]
    pub const fn options(&self) -> &WriteOptions {
        &self.options
    }

    /// Declares an array in a block of its own. The writer takes its data after those of the arrays before.
    ///
    /// # Errors
    /// `Unsupported` for an element type without a name in the standard; `Usage` after a streamed array.
    pub fn array(&mut self, spec: &ArraySpec) -> Result<Yaml> {
        self.room_for_block()?;
        let node = self.node(Yaml::int(self.blocks.len() as u64), spec, spec.strides()?, 0)?;
        self.blocks.push(Planned::Array(PlannedArray {
            dtype: spec.dtype.clone(),
            given: spec.given_len()?,
            data: spec.data_len()?,
            compression: spec.compression.clone(),
        }));
        Ok(node)
    }

    /// Declares a block that the file has already.
    pub(crate) fn declare_stored(&mut self, data: u64, is_streamed: bool) {
        let dtype = DType::native(Kind::Uint, 1);
        self.blocks.push(match is_streamed {
            true => Planned::Streamed { row: 1 },
            false => Planned::Array(PlannedArray { dtype, given: data, data, compression: None }),
        });
    }

    /// Declares a block that was planned before.
    pub(crate) fn declare_planned(&mut self, array: PlannedArray) {
        self.blocks.push(Planned::Array(array));
    }

    /// Number of declared blocks: the number of the next one.
    #[must_use]
    pub fn block_count(&self) -> usize {
        self.blocks.len()
    }

    /// The arrays that were declared from block `first` on.
    ///
    /// # Errors
    /// `Usage` for a streamed one.
    pub(crate) fn into_arrays_from(self, first: usize) -> Result<Vec<PlannedArray>> {
        let arrays = self.blocks.into_iter().skip(first).map(|block| match block {
            Planned::Array(array) => Ok(array),
            Planned::Streamed { .. } => Err(Error::usage("a streamed array cannot be added to a file")),
        });
        arrays.collect()
    }

    /// Another view of the block with a number: its own type, shape and strides, from byte `offset` of the decoded data on. Order and compression of
    /// `spec` are ignored.
    ///
    /// # Errors
    /// As [`Plan::array`]; `Usage` for a view that reaches past its block, for strides of zero, and for a block that is not declared.
    pub fn view(&self, block: usize, spec: &ArraySpec, offset: u64, strides: Option<&[i64]>) -> Result<Yaml> {
        let Some(Planned::Array(array)) = self.blocks.get(block) else {
            return Err(Error::usage(format!("no array has been declared in block {block}")));
        };
        check_view(spec, offset, strides, array.data)?;
        self.node(Yaml::int(block as u64), spec, strides.map(<[i64]>::to_vec), offset)
    }

    /// An array whose elements are stored in the tree. `bytes` are those of the elements in the order of `spec`.
    ///
    /// # Errors
    /// As [`Plan::array`]; `Usage` where there are fewer or more bytes, for invalid text, and for an array that a tree cannot hold.
    pub fn inline(&self, spec: &ArraySpec, bytes: &[u8]) -> Result<Yaml> {
        inline::node(spec, bytes, self.options.standard)
    }

    /// Declares the array whose rows continue to the end of the file: its first axis has no length. It is the last block. Compression and the first
    /// length of `spec` are ignored.
    ///
    /// # Errors
    /// As [`Plan::array`]; `Usage` for an array without axes, and for a second one.
    pub fn streamed(&mut self, spec: &ArraySpec) -> Result<Yaml> {
        self.room_for_block()?;
        let Some((first, rest)) = spec.shape.split_first() else {
            return Err(Error::usage("a streamed array without an axis (expected at least one)"));
        };
        let _ = first;
        let row = ArraySpec { shape: rest.to_vec(), order: Order::C, ..spec.clone() };
        if row.dtype.itemsize() as u64 != packed_size(&row.dtype) {
            return Err(Error::unsupported("records with padding in a streamed array"));
        }
        let len = row.data_len()?;
        if len == 0 {
            return Err(Error::usage("a streamed array whose rows have no bytes"));
        }
        self.blocks.push(Planned::Streamed { row: len });
        let mut shape = vec![Yaml::text("*")];
        shape.extend(rest.iter().map(|len| Yaml::int(*len)));
        self.node_of_shape(Yaml::int(-1), &row, Yaml::Sequence(shape, Some(Collection::Flow)), None, 0)
    }

    /// An array in the first block of another file, by a URI that is relative to this one.
    ///
    /// # Errors
    /// As [`Plan::array`].
    pub fn external(&self, spec: &ArraySpec, uri: &str) -> Result<Yaml> {
        self.node(Yaml::text(uri), spec, spec.strides()?, 0)
    }

    /// Writes the tree to a file that appears at `path` when all data are written and [`Writer::finish`] has returned.
    ///
    /// # Errors
    /// Those of [`AtomicFile::create`]; `Usage` for a tree that is not a mapping or that YAML cannot hold; `Io`.
    pub fn create(self, tree: Yaml, path: impl AsRef<Path>, overwrite: Overwrite) -> Result<Writer<'static>> {
        let text = self.text(tree)?;
        Writer::to_file(AtomicFile::create(path, overwrite)?, self.options, self.blocks, &text)
    }

    /// Writes the tree to an output. For one that cannot be patched, as a pipe, each block is gathered first, in memory or in a temporary file
    /// without a name.
    ///
    /// # Errors
    /// As [`Plan::create`].
    pub fn start(self, tree: Yaml, out: &mut dyn Output) -> Result<Writer<'_>> {
        let text = self.text(tree)?;
        Writer::to_output(out, self.options, self.blocks, &text)
    }

    /// Header lines and tree.
    pub(crate) fn text(&self, tree: Yaml) -> Result<String> {
        let root = root(tree, &self.options)?;
        let tree = emit_document(&root, &emit_options())?;
        Ok(format!("#ASDF 1.0.0\n#ASDF_STANDARD {}\n{tree}", self.options.standard))
    }

    fn room_for_block(&self) -> Result<()> {
        match self.blocks.last() {
            Some(Planned::Streamed { .. }) => {
                Err(Error::usage("cannot declare a block after a streamed array"))
            }
            _ => Ok(()),
        }
    }

    fn node(&self, source: Yaml, spec: &ArraySpec, strides: Option<Vec<i64>>, offset: u64) -> Result<Yaml> {
        let shape = spec.shape.iter().map(|len| Yaml::int(*len)).collect();
        self.node_of_shape(source, spec, Yaml::Sequence(shape, Some(Collection::Flow)), strides, offset)
    }

    fn node_of_shape(
        &self,
        source: Yaml,
        spec: &ArraySpec,
        shape: Yaml,
        strides: Option<Vec<i64>>,
        offset: u64,
    ) -> Result<Yaml> {
        let (datatype, byteorder) = datatype(&spec.dtype, self.options.standard)?;
        // In the order of Python asdf.
        let mut pairs = vec![("source", source)];
        pairs.extend(spec.mask.clone().map(|mask| ("mask", mask)));
        pairs.extend([("datatype", datatype), ("byteorder", Yaml::text(byteorder)), ("shape", shape)]);
        if offset > 0 {
            pairs.push(("offset", Yaml::int(offset)));
        }
        if let Some(strides) = strides {
            let strides = strides.into_iter().map(Yaml::int).collect();
            pairs.push(("strides", Yaml::Sequence(strides, Some(Collection::Flow))));
        }
        Ok(Yaml::mapping(pairs).tagged(ndarray_tag(self.options.standard)))
    }
}

/// Checks that every element is within `len` bytes.
fn check_view(spec: &ArraySpec, offset: u64, strides: Option<&[i64]>, len: u64) -> Result<()> {
    let outside = || Error::usage("a view that reaches past its block");
    if spec.shape.contains(&0) {
        return Ok(());
    }
    let (mut least, mut most) = (i128::from(offset), i128::from(offset));
    match strides {
        None => most += i128::from(spec.data_len()?),
        Some(strides) if strides.len() != spec.shape.len() || strides.contains(&0) => {
            return Err(Error::usage("invalid strides (expected one for each axis, not zero)"));
        }
        Some(strides) => {
            for (len, stride) in spec.shape.iter().zip(strides) {
                let reach = i128::from(*len - 1).checked_mul(i128::from(*stride)).ok_or_else(outside)?;
                if reach < 0 { least += reach } else { most += reach }
            }
            most += i128::from(packed_size(&spec.dtype));
        }
    }
    if least < 0 || most > i128::from(len) { Err(outside()) } else { Ok(()) }
}
