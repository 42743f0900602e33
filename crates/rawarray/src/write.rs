//! Writes a file from front to back.

use std::path::Path;

use container_codecs::lz4::{Lz4, MAX_INPUT_LEN, block_shape};
use container_core::array::byte_len;
use container_core::codec::Codec;
use container_core::dtype::{ByteOrder, DType, Kind};
use container_core::format::Output;
use container_core::region::element_count;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Limits, Result};

use crate::Encoding;
use crate::bits::{Bits, stored_len};
use crate::header::{Eltype, Flags, Header};
use crate::leb128::Leb128;

/// Options for writing a file. Every RawArray library reads the default: little-endian, plain, no trailer.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct WriteOptions {
    /// Encoding of the elements.
    pub encoding: Encoding,
    /// Byte order of the elements. Big sets flag bit 0, which only holdall acts on.
    pub data_order: ByteOrder,
    /// Byte order of the header's own words. Only holdall reads a big-endian header; its data are big-endian as well.
    pub header_order: ByteOrder,
    /// Bytes after the data; `None` for those that the array came with. `ra.py`, MATLAB and the crate `rawarray` up to 0.1.4 refuse a file with any,
    /// C drops them; LEB128 has no room for them.
    pub trailer: Option<Vec<u8>>,
    /// Treatment of an existing file. The default replaces it, in one step.
    pub overwrite: Overwrite,
    /// Whether the file is on the disk when the call returns.
    pub durability: Durability,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            encoding: Encoding::Plain,
            data_order: ByteOrder::Little,
            header_order: ByteOrder::Little,
            trailer: None,
            overwrite: Overwrite::Replace,
            durability: Durability::Synced,
        }
    }
}

/// Description of the array to write, before the values.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub eltype: Eltype,
    /// Element type as stored, byte order included.
    pub dtype: DType,
    pub dims: Vec<u64>,
    pub encoding: Encoding,
    pub header_order: ByteOrder,
    /// Flag bit 0, for opaque elements whose byte order is only recorded.
    pub big_endian: BigEndian,
}

/// State of flag bit 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum BigEndian {
    Yes,
    No,
}

impl Target {
    /// Bytes of the elements before encoding.
    fn decoded_len(&self) -> Result<u64> {
        byte_len(&self.dtype, &self.dims).ok_or_else(|| {
            Error::usage(format!("{:?} elements of {} reach past 2^64 bytes", self.dims, self.dtype))
        })
    }

    /// The header, for data of `size` bytes as that field counts them.
    fn header(&self, size: u64) -> Header {
        let (encoded, elbyte) = match self.encoding {
            Encoding::Plain => (0, self.dtype.itemsize() as u64),
            Encoding::Lz4 | Encoding::Leb128 => (Flags::ENCODED, self.dtype.itemsize() as u64),
            Encoding::Bits => (Flags::ENCODED | Flags::BITS, 8),
        };
        let big = if self.big_endian == BigEndian::Yes { Flags::BIG_ENDIAN } else { 0 };
        let flags = Flags(encoded | big);
        let ndims = self.dims.len() as u64;
        Header { byte_order: self.header_order, flags, eltype: self.eltype, elbyte, size, ndims }
    }
}

/// Takes the values of a [`Target`] piece by piece and writes the file.
pub(crate) struct Encoder<'o> {
    out: &'o mut dyn Output,
    target: Target,
    expected: u64,
    taken: u64,
    step: Step,
}

/// Bytes of values whose varints are checked before they are written. More of them would pass for an LZ4 block of the same length only if they were
/// made to.
const MAX_VARINT_SAMPLE: u64 = 1 << 20;

enum Step {
    Plain {
        scratch: Vec<u8>,
    },
    /// All values are held: LZ4 has its length before it, and a few varints must not pass for LZ4.
    Whole {
        held: Vec<u8>,
    },
    Leb128 {
        codec: Leb128,
        encoded: Vec<u8>,
    },
    /// Up to 63 bits wait for their word.
    Bits {
        codec: Bits,
        held: Vec<u8>,
        encoded: Vec<u8>,
    },
}

impl<'o> Encoder<'o> {
    /// Writes the header.
    ///
    /// # Errors
    /// `Usage` where RawArray or the encoding cannot hold the type, `Limit` where LZ4 would have to hold too much, `Io`.
    pub(crate) fn start(out: &'o mut dyn Output, target: Target, limits: &Limits) -> Result<Self> {
        let expected = target.decoded_len()?;
        if target.dtype.itemsize() == 0 && element_count(target.dims.iter().copied()) != Some(0) {
            return Err(Error::usage("RawArray has no elements of 0 bytes"));
        }
        let cannot = || {
            let what = format!("{} cannot hold {}", target.encoding.name(), target.dtype);
            Error::usage(what).with_hint("every type can be stored with none or lz4")
        };
        let order = if target.big_endian == BigEndian::Yes { ByteOrder::Big } else { target.header_order };
        let (step, size) = match target.encoding {
            Encoding::Plain => (Step::Plain { scratch: Vec::new() }, Some(expected)),
            Encoding::Lz4 => {
                let len = limits.allocate(expected)?;
                if len > MAX_INPUT_LEN {
                    let what = format!("an LZ4 block holds at most {MAX_INPUT_LEN} bytes, these are {len}");
                    return Err(Error::unsupported(what).with_hint("--codec none"));
                }
                limits.allocate(expected.saturating_add(Lz4.max_encoded_len(len) as u64))?;
                let mut held = Vec::new();
                let refused = |_| Error::out_of_memory(expected, limits.memory);
                held.try_reserve_exact(len).map_err(refused)?;
                (Step::Whole { held }, None)
            }
            Encoding::Leb128 if expected <= MAX_VARINT_SAMPLE => {
                Leb128::new(&target.dtype).ok_or_else(cannot)?;
                (Step::Whole { held: Vec::new() }, None)
            }
            Encoding::Leb128 => {
                let codec = Leb128::new(&target.dtype).ok_or_else(cannot)?;
                (Step::Leb128 { codec, encoded: Vec::new() }, Some(expected))
            }
            Encoding::Bits
                if target.eltype == Eltype::BFLOAT16 && target.dtype == DType::native(Kind::Bool, 1) =>
            {
                let codec = Bits { order };
                (Step::Bits { codec, held: Vec::new(), encoded: Vec::new() }, Some(stored_len(expected)))
            }
            Encoding::Bits => return Err(cannot()),
        };
        if let Some(size) = size {
            let header = target.header(size).to_bytes(&target.dims);
            out.write_all(&header)?;
        }
        Ok(Self { out, target, expected, taken: 0, step })
    }

    /// Allocates disk space for plain values. For a caller that has as many as the dimensions require.
    ///
    /// # Errors
    /// `Io` when the disk is full.
    pub(crate) fn reserve(&mut self) -> Result<()> {
        if self.target.encoding == Encoding::Plain { self.out.reserve(self.expected) } else { Ok(()) }
    }

    /// Takes whole elements of type `from`, which differs from the target's in byte order at most.
    ///
    /// # Errors
    /// `Usage` for more than the dimensions require; `Io`.
    pub(crate) fn push(&mut self, bytes: &[u8], from: &DType) -> Result<()> {
        self.taken = self.taken.saturating_add(bytes.len() as u64);
        if self.taken > self.expected {
            return Err(Error::usage("more values than the dimensions allow"));
        }
        let swap = from != &self.target.dtype;
        match &mut self.step {
            Step::Plain { .. } if !swap => self.out.write_all(bytes)?,
            Step::Plain { scratch } => {
                for piece in pieces(bytes, from) {
                    self.out.write_all(swapped(piece, from, &self.target.dtype, scratch)?)?;
                }
            }
            Step::Whole { held } => {
                let start = held.len();
                // Room for all of LZ4's was made at the start.
                held.extend_from_slice(bytes);
                reorder(from, &self.target.dtype, &mut held[start..])?;
            }
            Step::Leb128 { codec, encoded } => {
                let mut scratch = Vec::new();
                for piece in pieces(bytes, from) {
                    encoded.clear();
                    codec.encode(swapped(piece, from, &self.target.dtype, &mut scratch)?, None, encoded)?;
                    self.out.write_all(encoded)?;
                }
            }
            Step::Bits { codec, held, encoded } => {
                if bytes.iter().any(|byte| *byte > 1) {
                    return Err(
                        Error::usage("bits cannot hold bools other than 0 and 1").with_hint("--codec none")
                    );
                }
                held.extend_from_slice(bytes);
                let whole = held.len() / 64 * 64;
                encoded.clear();
                codec.encode(&held[..whole], None, encoded)?;
                held.drain(..whole);
                self.out.write_all(encoded)?;
            }
        }
        Ok(())
    }

    /// Writes the held bytes, and the trailer through `trailer`.
    ///
    /// # Errors
    /// `Usage` when values are missing, `Io`.
    pub(crate) fn finish(self) -> Result<&'o mut dyn Output> {
        if self.taken != self.expected {
            let problem = format!(
                "wrong number of bytes: {} (expected {} from the dimensions)",
                self.taken, self.expected
            );
            return Err(Error::usage(problem));
        }
        match self.step {
            Step::Plain { .. } | Step::Leb128 { .. } => {}
            Step::Whole { held } => {
                let mut target = self.target;
                let mut encoded = Vec::new();
                let varints = Leb128::new(&target.dtype);
                let (size, ambiguous) = match varints.filter(|_| target.encoding == Encoding::Leb128) {
                    Some(codec) => {
                        codec.encode(&held, None, &mut encoded)?;
                        let block = encoded.get(..held.len());
                        let len = held.len() as u64;
                        (held.len(), block.is_some_and(|block| block_shape(block, len).is_exactly(len)))
                    }
                    None => {
                        Lz4.encode(&held, None, &mut encoded)?;
                        // Only a block as long as the values can pass for varints (`encoding::tell`).
                        (encoded.len(), encoded.len() == held.len() && varints.is_some())
                    }
                };
                let mut size = size as u64;
                if ambiguous {
                    // The encoding saves hardly any bytes, so the values are written plainly.
                    target.encoding = Encoding::Plain;
                    encoded = held;
                    size = self.expected;
                }
                let header = target.header(size);
                self.out.write_all(&header.to_bytes(&target.dims))?;
                self.out.write_all(&encoded)?;
            }
            Step::Bits { codec, held, mut encoded } => {
                encoded.clear();
                codec.encode(&held, None, &mut encoded)?;
                self.out.write_all(&encoded)?;
            }
        }
        Ok(self.out)
    }
}

/// Elements of at most half a mebibyte, so that a swapped copy stays in the cache.
fn pieces<'a>(bytes: &'a [u8], dtype: &DType) -> std::slice::Chunks<'a, u8> {
    let item = dtype.itemsize().max(1);
    bytes.chunks(((512 << 10) / item).max(1) * item)
}

fn swapped<'a>(bytes: &'a [u8], from: &DType, to: &DType, scratch: &'a mut Vec<u8>) -> Result<&'a [u8]> {
    if from == to {
        return Ok(bytes);
    }
    scratch.clear();
    scratch.extend_from_slice(bytes);
    reorder(from, to, scratch)?;
    Ok(scratch)
}

fn reorder(from: &DType, to: &DType, bytes: &mut [u8]) -> Result<()> {
    if from == to {
        return Ok(());
    }
    // The two types are equal except for byte order; opaque ones have none.
    let big = *to == from.with_order(ByteOrder::Big);
    from.swap_to(if big { ByteOrder::Big } else { ByteOrder::Little }, bytes)
}

/// Writes a whole array whose bytes are in memory.
pub(crate) fn write_values(
    out: &mut dyn Output,
    eltype: Eltype,
    native: &DType,
    dims: &[u64],
    bytes: &[u8],
    own_trailer: &[u8],
    options: &WriteOptions,
) -> Result<()> {
    let trailer = options.trailer.as_deref().unwrap_or(own_trailer);
    if options.encoding == Encoding::Leb128 && !trailer.is_empty() {
        return Err(Error::usage("LEB128 data run to the end of the file and leave no room for a trailer"));
    }
    let big = options.header_order == ByteOrder::Big || options.data_order == ByteOrder::Big;
    if eltype == Eltype::USER && big {
        return Err(Error::usage("user-defined elements cannot change their byte order"));
    }
    // A big-endian header means big-endian data.
    let order = if options.header_order == ByteOrder::Big { ByteOrder::Big } else { options.data_order };
    let target = Target {
        eltype,
        dtype: native.with_order(order),
        dims: dims.to_vec(),
        encoding: options.encoding,
        header_order: options.header_order,
        big_endian: if options.data_order == ByteOrder::Big { BigEndian::Yes } else { BigEndian::No },
    };
    let mut encoder = Encoder::start(out, target, &Limits::default())?;
    encoder.reserve()?;
    encoder.push(bytes, native)?;
    encoder.finish()?.write_all(trailer)?;
    Ok(())
}

/// Writes bools, column major: as bytes of eltype 5 (RawArray.jl's Bool), or as a bit array with [`Encoding::Bits`].
///
/// No bool type of RawArray is read by every library. For one that is, write bytes instead: `RawArray<u8>`.
///
/// # Errors
/// `Usage` when the dimensions do not multiply to the number of bools, or the file exists and may not be replaced; `Io`.
pub fn write_bools(
    path: impl AsRef<Path>,
    dims: &[u64],
    bools: &[bool],
    options: &WriteOptions,
) -> Result<()> {
    let mut file = AtomicFile::create(path, options.overwrite)?;
    let bytes = bytemuck::cast_slice(bools);
    write_values(&mut file, Eltype::BFLOAT16, &DType::native(Kind::Bool, 1), dims, bytes, &[], options)?;
    file.commit(options.durability)
}
