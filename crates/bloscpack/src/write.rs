//! Writing of files: options, and functions that write a whole one in one call.

use std::io::Read;
use std::path::Path;

use blosc_chunk::{
    BatchEncoder, BloscVersion, Compressor, Filter, Geometry, Params, Pipeline, Plugins, SplitMode,
};
use container_core::array::Array;
use container_core::write::{Durability, Overwrite};
use container_core::{Error, Limits, Result, Value};

use crate::ChecksumCode;
use crate::NumpyArray;
use crate::header::MAX_CHUNK;
use crate::metadata::MetadataOptions;
use crate::writer::Writer;

/// Maximum number of bytes that one chunk holds.
pub const MAX_CHUNK_SIZE: usize = MAX_CHUNK as usize;

/// Filter of the bytes of a block before its codec.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shuffle {
    /// No filter.
    None,
    /// Byte shuffle.
    #[default]
    Bytes,
    /// Bit shuffle.
    Bits,
}

impl Shuffle {
    /// The filter with a name of the command: `none`, `shuffle`, `bitshuffle`.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        match name {
            "none" => Some(Self::None),
            "shuffle" => Some(Self::Bytes),
            "bitshuffle" => Some(Self::Bits),
            _ => None,
        }
    }

    /// The pipeline of chunks. C-Blosc has its one filter in the last slot.
    fn pipeline(self) -> Pipeline {
        let mut pipeline = Pipeline::default();
        pipeline.0[5] = match self {
            Self::None => Filter::default(),
            Self::Bytes => Filter::new(Filter::SHUFFLE, 0),
            Self::Bits => Filter::new(Filter::BITSHUFFLE, 0),
        };
        pipeline
    }
}

/// Table of the chunks' offsets in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Offsets {
    /// The file has one, with room for chunks to be appended.
    #[default]
    Table,
    /// The file has none, so that it can be written to a stream of unknown length.
    None,
}

/// Treatment of elements at the border of two chunks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Straddle {
    /// Chunks hold whole elements; the requested size is rounded down.
    #[default]
    Never,
    /// Chunks have exactly the requested size, as in files of `blpk`.
    Allowed,
}

/// Options for encoding chunks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChunkOptions {
    /// The codec. The default is BloscLZ, as of `blpk`.
    pub compressor: Compressor,
    /// 0 (stored) to 9 (slowest). The default is 7, as of `blpk`.
    pub level: u8,
    /// The filter. The default is byte shuffle.
    pub shuffle: Shuffle,
    /// Bytes of an element. The filters have no use for one over 255, which is stored as 1.
    pub typesize: usize,
    /// The digest after each chunk, over the chunk as stored. The default is Adler-32.
    pub checksum: ChecksumCode,
    /// Maximum number of threads. The bytes of the file do not depend on it.
    pub threads: usize,
}

impl Default for ChunkOptions {
    fn default() -> Self {
        Self {
            compressor: Compressor::BLOSCLZ,
            level: 7,
            shuffle: Shuffle::Bytes,
            typesize: 8,
            checksum: ChecksumCode::ADLER32,
            threads: 1,
        }
    }
}

impl ChunkOptions {
    /// The same with another codec and level, 0 to 9.
    #[must_use]
    pub const fn with_codec(mut self, compressor: Compressor, level: u8) -> Self {
        self.compressor = compressor;
        self.level = level;
        self
    }

    /// The same with another filter.
    #[must_use]
    pub const fn with_shuffle(mut self, shuffle: Shuffle) -> Self {
        self.shuffle = shuffle;
        self
    }

    /// The same for elements of another size.
    #[must_use]
    pub const fn with_typesize(mut self, typesize: usize) -> Self {
        self.typesize = typesize;
        self
    }

    /// The same with another digest.
    #[must_use]
    pub const fn with_checksum(mut self, checksum: ChecksumCode) -> Self {
        self.checksum = checksum;
        self
    }

    /// The same on up to this many threads.
    #[must_use]
    pub const fn with_threads(mut self, threads: usize) -> Self {
        self.threads = threads;
        self
    }

    /// The typesize as stored in header and chunks.
    pub(crate) fn stored_typesize(&self) -> u8 {
        u8::try_from(self.typesize).unwrap_or(1).max(1)
    }

    /// Returns the parameters for the chunk encoder.
    pub(crate) fn params(&self) -> Result<Params> {
        if self.level > 9 {
            return Err(Error::usage(format!("Blosc has no level {} (expected 0 to 9)", self.level)));
        }
        Ok(Params {
            blosc_version: BloscVersion::Blosc1,
            compressor: self.compressor,
            codec_meta: 0,
            level: self.level,
            typesize: self.stored_typesize().into(),
            filters: self.shuffle.pipeline(),
            // Accepted by every reader, including releases before 1.14.
            split: SplitMode::ForwardCompat,
            blocksize: None,
            dictionary: false,
            threads: self.threads.max(1),
        })
    }

    /// Returns the encoders of these chunks.
    pub(crate) fn encoder(&self) -> Result<BatchEncoder> {
        let mut encoder = BatchEncoder::new(self.params()?, Geometry::default(), Plugins::new());
        encoder.encoder()?;
        Ok(encoder)
    }
}

/// Options for writing a file. The default makes the files that `blpk compress` makes.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Encoding of chunks.
    pub chunks: ChunkOptions,
    /// Bytes of every chunk but the last, before encoding; see [`Straddle`]. `None` is 1 MiB.
    pub chunk_size: Option<usize>,
    /// Whether `chunk_size` is rounded down to whole elements.
    pub straddle: Straddle,
    /// Whether there is a table of offsets.
    pub offsets: Offsets,
    /// Room in that table for chunks to be appended. `None` is ten times as many as there are chunks.
    pub max_app_chunks: Option<u64>,
    /// Metadata: any value that JSON can represent.
    pub metadata: Option<Value>,
    /// The metadata text of another file, where `metadata` cannot represent it.
    pub(crate) json: Option<Vec<u8>>,
    /// Encoding of the metadata.
    pub metadata_options: MetadataOptions,
    /// Treatment of an existing file.
    pub overwrite: Overwrite,
    /// Whether the file is on the disk when the call returns.
    pub durability: Durability,
}

impl WriteOptions {
    /// Metadata as JSON text, which is stored byte for byte instead of `metadata`.
    #[must_use]
    pub fn with_metadata_json(mut self, json: impl Into<Vec<u8>>) -> Self {
        self.json = Some(json.into());
        self
    }

    /// Bytes of a chunk: whole elements, at least one, unless they may straddle.
    pub(crate) fn chunk_size(&self) -> Result<usize> {
        let asked = self.chunk_size.unwrap_or(1 << 20);
        let typesize = match self.straddle {
            Straddle::Never => self.chunks.typesize.max(1),
            Straddle::Allowed => 1,
        };
        let size = (asked / typesize).max(1).saturating_mul(typesize);
        if asked == 0 || asked > MAX_CHUNK_SIZE || size > MAX_CHUNK_SIZE {
            let problem = format!("chunks of {} bytes (expected 1 to {MAX_CHUNK_SIZE})", asked.max(size));
            return Err(Error::usage(if asked == 0 { "chunks of 0 bytes".to_owned() } else { problem }));
        }
        Ok(size)
    }

    /// The same for an array: elements of its size, its type, shape and order as metadata.
    #[must_use]
    pub fn for_array(mut self, numpy: &NumpyArray) -> Self {
        self.chunks.typesize = numpy.dtype.itemsize().max(1);
        self.metadata = Some(numpy.to_metadata());
        self
    }
}

/// Writes bytes to a new file at `path`.
///
/// ```
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # let path = folder.path().join("a.blp");
/// bloscpack::write(&path, b"some bytes", &bloscpack::WriteOptions::default())?;
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Usage` for options that make no sense, and for an existing file that may not be replaced; `Io`. No file appears then.
pub fn write(path: impl AsRef<Path>, bytes: &[u8], options: &WriteOptions) -> Result<()> {
    let mut writer = Writer::create(path, Some(bytes.len() as u64), options)?;
    writer.push(bytes)?;
    writer.finish()?;
    Ok(())
}

/// Writes an array, as bloscpack's `pack_ndarray_to_file` does: column-major where it is stored so, else row-major; in its own
/// byte order.
///
/// # Errors
/// As [`write()`]; `Limit` where elements that are not contiguous cannot be gathered in memory.
pub fn write_array(path: impl AsRef<Path>, array: &Array<'_>, options: &WriteOptions) -> Result<()> {
    let order = array.memory_order();
    let numpy = NumpyArray { dtype: array.dtype().clone(), shape: array.shape().to_vec(), order };
    let bytes = array.bytes(order, &Limits::default())?;
    write(path, &bytes, &options.clone().for_array(&numpy))
}

/// Compresses all bytes of `reader` into a new file at `path`; returns the number of bytes read. With `total` given
/// beforehand the file is written straight through, else see [`Writer`].
///
/// # Errors
/// As [`write()`]; `Usage` when there are not `total` bytes; `Io` of the reader.
pub fn compress(
    mut reader: impl Read,
    path: impl AsRef<Path>,
    total: Option<u64>,
    options: &WriteOptions,
) -> Result<u64> {
    let mut writer = Writer::create(path, total, options)?;
    writer.push_all(&mut reader)?;
    writer.finish()
}

#[cfg(test)]
mod tests {
    use container_core::ErrorKind;
    use container_core::dtype::{DType, Order};

    use super::*;

    #[test]
    fn chunk_sizes_are_whole_elements_within_the_bounds() {
        let size = |chunk_size, typesize, straddle| {
            let chunks = ChunkOptions::default().with_typesize(typesize);
            WriteOptions { chunks, chunk_size, straddle, ..WriteOptions::default() }.chunk_size()
        };
        for (asked, typesize, straddle, expected) in [
            (None, 8, Straddle::Never, 1 << 20),
            (None, 3, Straddle::Never, (1 << 20) - 1),
            (Some(1000), 7, Straddle::Never, 994),
            (Some(1000), 7, Straddle::Allowed, 1000),
            (Some(1000), 0, Straddle::Never, 1000),
            (Some(5), 9, Straddle::Never, 9),
            (Some(MAX_CHUNK_SIZE), 1, Straddle::Never, MAX_CHUNK_SIZE),
            (Some(1), MAX_CHUNK_SIZE, Straddle::Never, MAX_CHUNK_SIZE),
        ] {
            assert_eq!(size(asked, typesize, straddle).unwrap(), expected, "{asked:?} {typesize}");
        }
        for (asked, typesize) in
            [(0, 1), (MAX_CHUNK_SIZE + 1, 1), (MAX_CHUNK_SIZE + 1, 4), (9, MAX_CHUNK_SIZE + 1)]
        {
            let error = size(Some(asked), typesize, Straddle::Never).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
            let number = if asked == 0 { "0 bytes" } else { "2147483632" };
            assert!(error.to_string().contains(number), "{error}");
        }
    }

    #[test]
    fn parameters_are_those_of_the_options() {
        let options =
            ChunkOptions::default().with_codec(Compressor::ZSTD, 9).with_threads(0).with_typesize(255);
        let params = options.params().unwrap();
        assert_eq!((params.compressor, params.level), (Compressor::ZSTD, 9));
        assert_eq!((params.typesize, params.threads), (255, 1));
        assert_eq!(options.clone().with_threads(3).params().unwrap().threads, 3);
        // Longer elements are stored as bytes, and so are those of no bytes.
        for typesize in [0, 256] {
            assert_eq!(options.clone().with_typesize(typesize).params().unwrap().typesize, 1);
        }
        let error = options.with_codec(Compressor::ZSTD, 10).params().unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains("10"), "{error}");
        let filters = [Shuffle::None, Shuffle::Bytes, Shuffle::Bits].map(|shuffle| shuffle.pipeline().0[5]);
        let filter = |code| Filter::new(code, 0);
        assert_eq!(filters, [Filter::default(), filter(Filter::SHUFFLE), filter(Filter::BITSHUFFLE)]);
    }

    #[test]
    fn elements_of_no_bytes_are_written_as_bytes() {
        let numpy = NumpyArray { dtype: DType::parse("|S0").unwrap(), shape: vec![3], order: Order::C };
        let options = WriteOptions::default().for_array(&numpy);
        assert_eq!((options.chunks.typesize, options.metadata), (1, Some(numpy.to_metadata())));
    }

    /// The order of an array in memory is the one that it is stored in.
    #[test]
    fn arrays_are_written_in_the_order_that_they_have() {
        let directory = tempfile::tempdir().unwrap();
        for (order, name) in [(Order::C, "c.blp"), (Order::F, "f.blp")] {
            let path = directory.path().join(name);
            let bytes: Vec<u8> = (0..6).collect();
            let array =
                Array::new(DType::parse("|u1").unwrap(), vec![2, 3], order, bytes.clone().into()).unwrap();
            write_array(&path, &array, &WriteOptions::default()).unwrap();
            let file = crate::File::open(&path).unwrap();
            assert_eq!((file.numpy().unwrap().order, &file.numpy().unwrap().shape[..]), (order, &[2, 3][..]));
            assert_eq!(file.read_range(0..6, &Default::default()).unwrap(), bytes);
        }
        let path = directory.path().join("bytes.blp");
        assert_eq!(compress(&b"abc"[..], &path, None, &WriteOptions::default()).unwrap(), 3);
        assert_eq!(crate::File::open(&path).unwrap().len().unwrap(), 3);
    }
}
