//! The container adapter of an open file, and its entry in the table of formats.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use blosc_chunk::Compressor;
use container_core::array::{Array, byte_len};
use container_core::block::{Block, for_each_piece};
use container_core::container::{
    About, Axes, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions,
    Segment, Visibility,
};
use container_core::dtype::Order;
use container_core::format::{Format, ITEM, ITEM_NAME, Input, ItemKind, Level, OptionSpec, Probe, Support};
use container_core::region::Region;
use container_core::report::{Loss, Report};
use container_core::source::Source;
use container_core::{Error, Progress, Result, Value};

use crate::check::{self, DATASET, item_path};
use crate::chunk_block::ChunkBlock;
use crate::chunk_table::{ChunkEntry, ChunkState};
use crate::file::File;
use crate::header::MAGIC;
use crate::items::item_type::{Elements, ItemType};
use crate::items::reader::names;
use crate::outline::Outline;
use crate::{append, bcolz, byte_map, import, info, items, repair};

const ALL: Level = Level::Yes;
const NO: Level = Level::No;

/// Bloscpack in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["blp"],
    support: &[
        Support { version: "version 3", read: ALL, write: ALL, verify: ALL, repair: ALL },
        Support {
            version: "version 4: variable length (proposal)",
            read: ALL,
            write: ALL,
            verify: ALL,
            repair: ALL,
        },
        Support {
            version: "version 3 (interim, 2012)",
            read: Level::Partly,
            write: NO,
            verify: ALL,
            repair: ALL,
        },
        Support { version: "version 2", read: ALL, write: NO, verify: ALL, repair: ALL },
        Support { version: "version 1, bcolz chunk files", read: ALL, write: NO, verify: ALL, repair: ALL },
        Support { version: "before versions (2012)", read: ALL, write: NO, verify: ALL, repair: ALL },
    ],
    magics: &[&MAGIC],
    codecs: Compressor::CODECS,
    options: &[
        OptionSpec::new("filter", "none|shuffle|bitshuffle"),
        OptionSpec::new("checksum", "none|adler32|crc32|md5|sha1|sha224|sha256|sha384|sha512"),
        OptionSpec::new("chunks", "SHAPE"),
        OptionSpec::new("offsets", "table|none"),
        OptionSpec::new("reserve", "N for items"),
    ],
    import: Some(import::import),
    change_metadata: Some(append::change_metadata),
    repair: Some(repair::repair_to),
    append: Some(append::append),
    pack: Some(items::pack),
    ..Format::new(
        "bloscpack",
        "Bloscpack",
        |probe: &Probe<'_>| probe.head.starts_with(&MAGIC) || probe.directory.is_some_and(bcolz::is_bcolz),
        open,
    )
};

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Container>> {
    if let Input { source: None, path: Some(root) } = &input {
        return Ok(Box::new(bcolz::Directory::open(root, options)?));
    }
    Ok(Box::new(BloscpackContainer::new(input, options)?))
}

/// Approximate memory of the description of one item, in bytes.
const DESCRIPTION: u64 = 512;

/// An open file as a container.
struct BloscpackContainer {
    file: File,
    /// Created on demand: there may be millions of items.
    datasets: OnceLock<Vec<Dataset>>,
    blocks: OnceLock<Vec<ChunkBlock>>,
}

impl BloscpackContainer {
    fn new(input: Input, options: &OpenOptions) -> Result<Self> {
        let file = File::from_source(input.into_source()?, options)?;
        Ok(Self { file, datasets: OnceLock::new(), blocks: OnceLock::new() })
    }

    fn is_variable(&self) -> bool {
        self.file.header().dialect.is_variable_length()
    }
}

impl Container for BloscpackContainer {
    fn about(&self) -> About {
        About {
            format: FORMAT.name,
            version: Some(self.file.header().dialect.version_byte().to_string()),
            size: self.file.head().file_len(),
            complete: self.file.head().is_complete(),
            details: info::details(&self.file),
        }
    }

    fn meta(&self) -> Result<Value> {
        match (self.file.metadata(), self.file.metadata_fault()) {
            (Some(tree), _) => Ok(tree.clone()),
            (None, Some(error)) => Err(error),
            (None, None) => Ok(Value::Map(Vec::new())),
        }
    }

    fn datasets(&self) -> &[Dataset] {
        self.datasets.get_or_init(|| if self.is_variable() { items(&self.file) } else { array(&self.file) })
    }

    fn read(&self, index: usize, region: &Region, options: &ReadOptions) -> Result<Array<'_>> {
        if self.is_variable() {
            return self.file.read_item(index as u64, region, options);
        }
        if index > 0 {
            return Err(Error::usage(format!("no dataset {index}")));
        }
        if !self.is_reversed() {
            return self.file.read(region, options);
        }
        let shape = self.file.array_type()?.shape;
        Ok(self.file.read(&region.reversed(&shape)?, options)?.reversed_axes())
    }
}

impl FileStructure for BloscpackContainer {
    fn blocks(&self) -> Vec<&dyn Block> {
        let blocks = self.blocks.get_or_init(|| {
            let whole = |chunk: &&ChunkEntry| chunk.state() == ChunkState::Whole;
            let mut chunks: Vec<&ChunkEntry> = self.file.chunks().iter().filter(whole).collect();
            chunks.sort_by_key(|chunk| chunk.range().start);
            let read = |chunk| ChunkBlock::read(self.file.source(), self.file.header(), chunk).ok();
            chunks.into_iter().filter_map(read).collect()
        });
        blocks.iter().map(|block| block as &dyn Block).collect()
    }

    fn has_small_blocks(&self, most: u64) -> bool {
        if let Some(outline) = self.file.outline() {
            let entries = (0..outline.count()).filter_map(|index| outline.entry(index));
            return entries.map(|entry| entry.range()).all(|range| range.end - range.start <= most);
        }
        self.file.chunks().iter().all(|chunk| chunk.range().end - chunk.range().start <= most)
    }

    fn byte_map(&self) -> Vec<Segment> {
        byte_map::segments(&self.file)
    }

    fn checksums(&self) -> BTreeSet<String> {
        if self.file.outline().is_none() {
            return self.byte_map().into_iter().filter_map(|segment| segment.checksum).collect();
        }
        let header = self.file.head().metadata().and_then(|metadata| metadata.header);
        let codes = [Some(self.file.header().checksum), header.map(|header| header.meta_checksum)];
        let stored = codes.into_iter().flatten().filter(|code| code.digest_len() > 0);
        stored.map(|code| code.name().to_owned()).collect()
    }

    fn check(&self, depth: CheckDepth, options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        check::check(&self.file, depth, options, progress)
    }
}

impl Interchange for BloscpackContainer {
    fn records_dtype(&self, _index: usize) -> Option<bool> {
        (!self.is_variable() && self.file.numpy().is_none()).then_some(false)
    }

    fn losses(&self) -> Vec<Loss> {
        let mut losses = Vec::new();
        let mut lose = |what: String| losses.push(Loss { dataset: None, what });
        match self.file.metadata() {
            Some(Value::Map(entries)) => {
                let carried: &[&str] = match (self.file.numpy(), self.file.head().item_type()) {
                    (Some(_), _) => &["dtype", "shape", "order", "container"],
                    (None, Some(ItemType::Ragged(_))) => &["dtype", "shape"],
                    (None, _) => &[],
                };
                let lost = entries.iter().map(|(key, _)| key.as_str()).filter(|key| !carried.contains(key));
                let lost: Vec<&str> = lost.collect();
                if !lost.is_empty() {
                    lose(format!("metadata: {}", lost.join(", ")));
                }
            }
            Some(_) => lose("metadata".to_owned()),
            None => {}
        }
        let trailing = self.file.head().trailing();
        // Zeros after the last item are space reserved for it.
        let is_room = self.is_variable() && is_zero(self.file.source(), trailing.clone());
        if !trailing.is_empty() && !is_room {
            lose(format!("{} bytes after the last chunk", trailing.end - trailing.start));
        }
        losses
    }

    fn export_metadata(&self, _selection: &[(usize, Region)]) -> Result<Value> {
        match self.file.metadata_fault() {
            Some(error) if self.file.metadata().is_none() => Err(error),
            _ => Ok(import::same_format::carried(self.file.metadata(), self.file.numpy().is_some())),
        }
    }

    fn unexported_metadata(&self, _selection: &[(usize, Region)]) -> Vec<Loss> {
        import::same_format::losses(self)
    }
}

/// Whether a range consists of zeros; false where it cannot be read.
fn is_zero(source: &dyn Source, range: std::ops::Range<u64>) -> bool {
    let mut zeros = true;
    let read = for_each_piece(source, range, Progress::none(), |piece| {
        zeros &= piece.iter().all(|byte| *byte == 0);
        Ok(())
    });
    zeros && read.is_ok()
}

impl BloscpackContainer {
    /// Whether the axes of a column-major array are shown in reverse.
    fn is_reversed(&self) -> bool {
        let column_major = self.file.numpy().is_some_and(|numpy| numpy.order == Order::F);
        column_major && self.file.options().axes == Axes::Reversed
    }
}

/// The one array of a file of chunks of one size.
fn array(file: &File) -> Vec<Dataset> {
    let Ok(array) = file.array_type() else { return Vec::new() };
    let itemsize = array.dtype.itemsize() as u64;
    let chunk_size = u64::try_from(file.header().chunk_size).unwrap_or(0);
    // An outline exists only for several chunks.
    let chunk_size = match file.outline().map_or_else(|| file.chunks(), |_| &[]) {
        [only] => only.nbytes().into(),
        _ => chunk_size,
    };
    let chunks = match array.shape.as_slice() {
        [_] if itemsize > 0 && chunk_size > 0 && chunk_size.is_multiple_of(itemsize) => {
            Some(vec![chunk_size / itemsize])
        }
        _ => None,
    };
    let logical = byte_len(&array.dtype, &array.shape).unwrap_or(0);
    let mut shape = array.shape;
    let mut order = array.order;
    if order == Order::F && file.options().axes == Axes::Reversed {
        shape.reverse();
        order = Order::C;
    }
    let stored = || {
        let chunks = file.chunks().iter().map(|chunk| chunk.range().end - chunk.range().start);
        chunks.fold(0, u64::saturating_add)
    };
    vec![Dataset {
        path: DATASET.to_owned(),
        dtype: array.dtype,
        shape,
        order,
        chunks,
        codec: info::codecs(file),
        stored: file.outline().map_or_else(stored, Outline::stored),
        logical,
        // The storage is not a property of the values, so that it does not count as a difference between two files.
        attributes: Vec::new(),
        visibility: Visibility::Always,
    }]
}

/// The items of a variable-length file, as many as the memory limit allows.
fn items(file: &File) -> Vec<Dataset> {
    let names = names(file);
    let item_type = file.layout().item_type();
    let most = usize::try_from(file.options().limits.memory / 4 / DESCRIPTION).unwrap_or(usize::MAX);
    let describe = |(index, chunk): (usize, &ChunkEntry)| {
        let Elements { dtype, count, is_declared } = Elements::of(item_type.as_ref(), chunk.nbytes());
        let kind = match &item_type {
            Some(ItemType::Text) => ItemKind::Text,
            _ if is_declared => ItemKind::Numbers,
            _ => ItemKind::Bytes,
        };
        let kind = (ITEM.to_owned(), Value::from(kind.word()));
        let name = names.as_ref().and_then(|names| names.get(index));
        let name = name.map(|name| (ITEM_NAME.to_owned(), Value::from(name.as_str())));
        let declared = match &item_type {
            Some(ItemType::Ragged(dtype)) => Some(("dtype".to_owned(), dtype.to_string().into())),
            _ => None,
        };
        let attributes = [kind].into_iter().chain(name).chain(declared).collect();
        Dataset {
            path: item_path(index as u64),
            dtype,
            shape: vec![count],
            order: Order::C,
            chunks: None,
            codec: chunk.codec().to_owned(),
            stored: chunk.range().end - chunk.range().start,
            logical: chunk.nbytes().into(),
            attributes,
            visibility: Visibility::Always,
        }
    };
    file.chunks().iter().enumerate().take(most).map(describe).collect()
}
