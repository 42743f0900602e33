//! Writes an array of unknown length without holding it in memory.

use std::io::{BufWriter, Seek, SeekFrom, Write};
use std::marker::PhantomData;
use std::path::Path;

use container_core::dtype::{ByteOrder, Element};
use container_core::region::element_count;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result};

use crate::eltype::eltype_of;
use crate::header::{Eltype, Flags, Header};

/// Writes an array whose last dimension grows as values come. The header is patched at the end.
///
/// Values come in column-major order; `slab` gives all dimensions but the last. Only the values of one call, and 64 KiB of small ones, are in memory.
///
/// ```
/// use rawarray::{RawArray, Writer};
/// # fn main() -> std::io::Result<()> {
/// # let folder = tempfile::tempdir()?;
/// # std::env::set_current_dir(&folder)?;
/// // Frames of 2 × 3, as many as there will be.
/// let mut writer = Writer::<f32>::create("frames.ra", &[2, 3])?;
/// for frame in 0..4_u8 {
///     writer.push(&[f32::from(frame); 6])?;
/// }
/// assert_eq!(writer.finish()?, [2, 3, 4]);
/// assert_eq!(RawArray::<f32>::open("frames.ra")?.get(&[1, 2, 3])?, 3.0);
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct Writer<T, W: Write + Seek = AtomicFile> {
    /// Gathers small pushes: copying them costs less than a system call for each.
    out: BufWriter<W>,
    /// Offset of the header in `out`.
    start: u64,
    slab: Vec<u64>,
    slab_len: u64,
    count: u64,
    /// An earlier write failed: the contents of the file are unknown.
    failed: bool,
    element: PhantomData<fn(T)>,
}

impl<T: Element> Writer<T, AtomicFile> {
    /// Starts a file that appears at `path` when it is finished, replacing an existing one in one step. A writer that is dropped before leaves no
    /// file.
    ///
    /// # Errors
    /// `Usage` when the slab has no elements or is over 2^64; `Io`.
    pub fn create(path: impl AsRef<Path>, slab: &[u64]) -> Result<Self> {
        Self::new(AtomicFile::create(path, Overwrite::Replace)?, slab)
    }

    /// Completes the file and puts it in its place, synced; returns its dimensions.
    ///
    /// # Errors
    /// `Usage` when the last slab is not whole; `Io`. No file appears then.
    pub fn finish(self) -> Result<Vec<u64>> {
        self.finish_with(&[], Durability::Synced)
    }

    /// Completes the file with a trailer after the data.
    ///
    /// # Errors
    /// As [`Writer::finish`].
    pub fn finish_with(self, trailer: &[u8], durability: Durability) -> Result<Vec<u64>> {
        let (file, dims) = self.complete(trailer)?;
        file.commit(durability)?;
        Ok(dims)
    }
}

impl<T: Element, W: Write + Seek> Writer<T, W> {
    /// Starts an array at the current position of `out`. Until it is complete its header has 0 elements.
    ///
    /// # Errors
    /// `Usage` when the slab has no elements or is over 2^64; `Io`.
    pub fn new(mut out: W, slab: &[u64]) -> Result<Self> {
        let slab_len = element_count(slab.iter().copied()).filter(|len| *len > 0);
        let slab_len = slab_len.ok_or_else(|| Error::usage(format!("a slab of {slab:?} has no elements")))?;
        let start = out.stream_position()?;
        let out = BufWriter::with_capacity(64 << 10, out);
        let mut writer =
            Self { out, start, slab: slab.to_vec(), slab_len, count: 0, failed: false, element: PhantomData };
        let header = writer.header();
        writer.out.write_all(&header)?;
        Ok(writer)
    }

    /// Appends values, column major. They need not be whole slabs.
    ///
    /// # Errors
    /// `Io`, perhaps for values of an earlier call; `Usage` over 2^64 bytes.
    pub fn push(&mut self, values: &[T]) -> Result<()> {
        let count = self.count.checked_add(values.len() as u64);
        let room = count.and_then(|count| count.checked_mul(size_of::<T>().max(1) as u64));
        let count =
            count.filter(|_| room.is_some()).ok_or_else(|| Error::usage("an array over 2^64 bytes"))?;
        self.failed = true;
        let dtype = T::dtype();
        if dtype.is_in_order(ByteOrder::Little) {
            self.out.write_all(bytemuck::cast_slice(values))?;
        } else {
            for piece in values.chunks(64 << 10) {
                self.out.write_all(&dtype.little_endian(bytemuck::cast_slice(piece))?)?;
            }
        }
        self.failed = false;
        self.count = count;
        Ok(())
    }

    /// Number of values so far.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.count
    }

    /// True before the first value.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Patches the header, writes the trailer, and returns the output, positioned after it, with the dimensions. Bytes that the output held beyond
    /// are left there, and would be taken for trailer.
    ///
    /// # Errors
    /// `Usage` when the last slab is not whole; `Io`.
    pub fn complete(mut self, trailer: &[u8]) -> Result<(W, Vec<u64>)> {
        if self.failed {
            return Err(Error::usage("an earlier write failed, so values are missing"));
        }
        if !self.count.is_multiple_of(self.slab_len) {
            let problem = format!("{} values are not whole slabs of {}", self.count, self.slab_len);
            return Err(Error::usage(problem));
        }
        self.out.write_all(trailer)?;
        let end = self.out.stream_position()?;
        let header = self.header();
        self.out.seek(SeekFrom::Start(self.start))?;
        self.out.write_all(&header)?;
        self.out.seek(SeekFrom::Start(end))?;
        let dims = self.dims();
        let out = self.out.into_inner().map_err(|failed| Error::from(failed.into_error()))?;
        Ok((out, dims))
    }

    fn dims(&self) -> Vec<u64> {
        [&self.slab[..], &[self.count / self.slab_len]].concat()
    }

    fn header(&self) -> Vec<u8> {
        let dims = self.dims();
        let header = Header {
            byte_order: ByteOrder::Little,
            flags: Flags::default(),
            eltype: eltype_of(&T::dtype()).unwrap_or(Eltype::USER),
            elbyte: size_of::<T>() as u64,
            // Checked with every push.
            size: self.count.saturating_mul(size_of::<T>() as u64),
            ndims: dims.len() as u64,
        };
        header.to_bytes(&dims)
    }
}
