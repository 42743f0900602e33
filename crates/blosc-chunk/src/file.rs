//! One chunk as a file: output of `blosc.compress` and `blosc2.compress2`, a `.cdata` file of C-Blosc, a chunk of a Zarr 2 array.
//!
//! Such a file has no signature. It is recognised by a header that is valid and whose `cbytes` is the length of the file.

use std::borrow::Cow;
use std::sync::OnceLock;

use container_core::array::{Array, StoredArray};
use container_core::block::Block;
use container_core::container::{
    About, CheckDepth, Container, Dataset, FileStructure, Interchange, OpenOptions, ReadOptions, Segment,
    Visibility, require,
};
use container_core::dtype::{DType, Kind, Order};
use container_core::format::{Format, Input, Level, Probe, Support};
use container_core::interchange::DEFAULT_NAME;
use container_core::region::Region;
use container_core::report::{BlockCounts, Finding, Report, Severity};
use container_core::source::{Source, check_range, into_vec};
use container_core::{Error, Limits, Progress, Result, Stop, Value};

use crate::{Chunk, Decoder, Header, Special};

const CODEC: &str = "blosc";

const READ: Level = Level::Yes;
const NO: Level = Level::No;

/// Files of one chunk in a table of formats.
pub const FORMAT: Format = Format {
    extensions: &["cdata"],
    support: &[
        Support { version: "Blosc 1 (chunk versions 1, 2)", read: READ, write: NO, verify: READ, repair: NO },
        Support {
            version: "Blosc 2 (chunk versions 3 to 6)",
            read: READ,
            write: NO,
            verify: READ,
            repair: NO,
        },
    ],
    ..Format::new(
        "blosc-chunk",
        "Blosc chunk",
        |probe: &Probe<'_>| probe.len.is_some_and(|len| is_chunk(probe.head, len)),
        open,
    )
};

/// Whether `head`, the first bytes of a file of `len` bytes, is the header of a chunk that takes up all of the file.
fn is_chunk(head: &[u8], len: u64) -> bool {
    let Ok(header) = Header::parse(head) else { return false };
    // Encoders store the data as they are where streams would be longer.
    let most = u64::from(header.nbytes).saturating_add(header.len() as u64);
    let is_possible = header.has_variable_blocks() || len <= most;
    let is_versioned = header.versionlz == 1 || header.compressor.0 >= 32;
    u64::from(header.cbytes) == len && is_possible && is_versioned
}

fn open(input: Input, options: &OpenOptions) -> Result<Box<dyn Container>> {
    Ok(Box::new(ChunkFile::new(input.into_source()?, options)?))
}

/// A file of one chunk.
struct ChunkFile {
    source: Box<dyn Source>,
    /// The bytes of the file, for a source that does not lend them.
    bytes: OnceLock<Vec<u8>>,
    header: Header,
    limits: Limits,
    datasets: [Dataset; 1],
    block: ChunkBlock,
}

impl ChunkFile {
    fn new(source: Box<dyn Source>, options: &OpenOptions) -> Result<Self> {
        let len = source.len();
        let head = source.read(0..len.min(Probe::LEN as u64))?;
        let header = Header::parse_with_starts(&head)?;
        if u64::from(header.cbytes) != len {
            return Err(Error::truncated(0..header.cbytes.into(), len).with_context("blosc chunk"));
        }
        drop(head);
        let (typesize, nbytes) = (u64::from(header.typesize), u64::from(header.nbytes));
        let (dtype, count) = if typesize > 1 && nbytes.is_multiple_of(typesize) {
            (DType::void(header.typesize.into()), nbytes / typesize)
        } else {
            (DType::native(Kind::Uint, 1), nbytes)
        };
        let dataset = Dataset {
            path: DEFAULT_NAME.to_owned(),
            dtype,
            shape: vec![count],
            order: Order::C,
            chunks: None,
            codec: codec(&header),
            stored: len,
            logical: nbytes,
            attributes: Vec::new(),
            visibility: Visibility::Always,
        };
        let block = ChunkBlock { len, decoded_len: nbytes };
        let limits = options.limits;
        Ok(Self { source, bytes: OnceLock::new(), header, limits, datasets: [dataset], block })
    }

    /// Returns the bytes of the file.
    fn bytes(&self) -> Result<Cow<'_, [u8]>> {
        let whole = 0..self.source.len();
        if let Some(bytes) = self.source.lend(whole.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        if let Some(bytes) = self.bytes.get() {
            return Ok(Cow::Borrowed(bytes));
        }
        self.limits.allocate(whole.end)?;
        let bytes = into_vec(self.source.read(whole)?, &self.limits)?;
        Ok(Cow::Borrowed(self.bytes.get_or_init(|| bytes)))
    }
}

impl std::fmt::Debug for ChunkFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkFile").field("header", &self.header).finish_non_exhaustive()
    }
}

/// The chunk as a block of the file.
struct ChunkBlock {
    len: u64,
    decoded_len: u64,
}

impl Block for ChunkBlock {
    fn range(&self) -> std::ops::Range<u64> {
        0..self.len
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        Some(CODEC)
    }
}

/// Returns the codec of the streams; `none` where the data are stored as they are.
fn codec(header: &Header) -> String {
    match (header.is_memcpyed(), header.special()) {
        (true, _) => "none".to_owned(),
        (_, Some(special)) => special_name(special).to_owned(),
        _ if header.nbytes == 0 => "none".to_owned(),
        _ => header.compressor.to_string(),
    }
}

const fn special_name(special: Special) -> &'static str {
    match special {
        Special::Zeros => "zeros",
        Special::Nan => "nan",
        Special::Value => "repeated value",
        Special::Uninit => "uninitialised",
    }
}

impl Container for ChunkFile {
    fn about(&self) -> About {
        let header = &self.header;
        let blosc_version = if header.extended { "Blosc 2" } else { "Blosc 1" };
        let split = if header.is_split() { "split" } else { "not split" };
        let mut details: Vec<(String, Value)> = Vec::new();
        let mut add = |name: &str, value: Value| details.push((name.to_owned(), value));
        add("header", blosc_version.into());
        add("flags", format!("{:#04x}", header.flags).into());
        add("codec", codec(header).into());
        add("filters", header.filters.to_string().into());
        add("blocks", u64::from(header.block_count()).into());
        add("streams", split.into());
        add("typesize", header.typesize.into());
        add("nbytes", header.nbytes.into());
        add("blocksize", header.blocksize.into());
        add("cbytes", header.cbytes.into());
        About {
            format: FORMAT.name,
            version: Some(header.version.to_string()),
            size: self.source.len(),
            complete: true,
            details,
        }
    }

    fn meta(&self) -> Result<Value> {
        Ok(Value::Map(Vec::new()))
    }

    fn datasets(&self) -> &[Dataset] {
        &self.datasets
    }

    fn read(&self, index: usize, region: &Region, _options: &ReadOptions) -> Result<Array<'_>> {
        let dataset = require(self, index)?;
        let bytes = self.bytes()?;
        let chunk = Chunk::parse(&bytes)?;
        let stored = StoredArray {
            dtype: dataset.dtype.clone(),
            shape: dataset.shape.clone(),
            order: Order::C,
            data_at: 0,
        };
        let decoded = Decoded { chunk: &chunk, limits: self.limits };
        stored.read(&decoded, region, &self.limits, 1)?.into_owned(&self.limits)
    }
}

impl FileStructure for ChunkFile {
    fn blocks(&self) -> Vec<&dyn Block> {
        vec![&self.block]
    }

    fn byte_map(&self) -> Vec<Segment> {
        let len = self.source.len();
        let header = self.header.len() as u64;
        let mut parts = vec![Segment::plain(0..header, "header")];
        let has_streams = !self.header.is_memcpyed() && self.header.special().is_none();
        let starts = if has_streams { u64::from(self.header.block_count()).saturating_mul(4) } else { 0 };
        let data = header.saturating_add(starts).min(len);
        parts.push(Segment::plain(header..data, "block starts"));
        parts.push(Segment {
            codec: Some(codec(&self.header)),
            stored: Some(len - data),
            decoded: Some(self.header.nbytes.into()),
            dataset: Some(DEFAULT_NAME.to_owned()),
            ..Segment::plain(data..len, "data")
        });
        Segment::tile(parts, len, "unused")
    }

    /// # Errors
    /// `Unsupported` when the plugin of its codec or filter is missing: the chunk cannot be checked without it.
    fn check(&self, depth: CheckDepth, _options: &ReadOptions, progress: Progress<'_>) -> Result<Report> {
        let mut blocks = BlockCounts { total: 1, checked: 0, bad: 0 };
        let mut findings = Vec::new();
        match self.decode_all(depth, progress) {
            Ok(()) => blocks.checked = u64::from(depth == CheckDepth::Full),
            Err(error) if error.is_damage() => {
                blocks.bad = 1;
                let range = error.range().unwrap_or(0..self.source.len());
                let finding = Finding::new(Severity::Error, "undecodable_chunk", error.kind().to_string());
                findings.push(finding.at(range).dataset(DEFAULT_NAME));
            }
            Err(error) => return Err(error),
        }
        Ok(Report::new(findings, blocks))
    }
}

impl Interchange for ChunkFile {
    /// Returns false: a chunk has the length of its elements, not their type.
    fn records_dtype(&self, _index: usize) -> Option<bool> {
        Some(false)
    }
}

impl ChunkFile {
    /// Decodes every block, one after the other, so that memory stays at one.
    fn decode_all(&self, depth: CheckDepth, progress: Progress<'_>) -> Result<()> {
        let bytes = self.bytes()?;
        let chunk = Chunk::parse(&bytes)?;
        if depth == CheckDepth::Quick {
            return Ok(());
        }
        let mut decoder = Decoder::new().with_limits(self.limits);
        let mut room = Vec::new();
        for block in chunk.blocks() {
            progress.tick(block.start as u64, chunk.nbytes() as u64)?;
            self.limits.allocate(block.len() as u64)?;
            room.resize(block.len(), 0);
            decoder.decode_range(&chunk, block, &mut room)?;
        }
        Ok(())
    }
}

/// The decoded bytes of the chunk.
struct Decoded<'c> {
    chunk: &'c Chunk<'c>,
    limits: Limits,
}

impl Source for Decoded<'_> {
    fn len(&self) -> u64 {
        self.chunk.nbytes() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, self.len())?;
        let mut decoder = Decoder::new().with_limits(self.limits);
        if dst.len() == self.chunk.nbytes() {
            return decoder.decode(self.chunk, dst);
        }
        let place = |at: u64| usize::try_from(at).map_err(|_| Error::usage("a chunk of 2^32 bytes"));
        decoder.decode_range(self.chunk, place(range.start)?..place(range.end)?, dst)
    }

    /// Decodes in one go, which checks the request that the options have.
    fn read_until(&self, at: u64, dst: &mut [u8], _stop: Stop) -> Result<()> {
        self.read_into(at, dst)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
