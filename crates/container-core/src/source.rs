//! Random access to bytes, wherever they are.
//!
//! A [`Source`] is shared by `&self`, so parallel reads need no lock. Memory and maps lend their bytes;
//! files and remote stores copy them. Parsers are written once, against this trait.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use crate::threads::on_threads;
use crate::{Error, Limits, Result, Stop};

mod addresses;
mod file;
mod joined;
#[cfg(feature = "mmap")]
mod lazy_mmap;
#[cfg(feature = "mmap")]
#[allow(unsafe_code)]
mod mmap;
mod offset;
mod open;
mod passing;
mod patched;
mod prefetch;
#[cfg(feature = "mmap")]
mod probe_then_mmap;
mod sparse;

pub use addresses::Addresses;
pub use file::FileSource;
pub(crate) use file::read_exact_at;
pub use joined::Joined;
#[cfg(feature = "mmap")]
pub use mmap::MmapSource;
pub use offset::Behind;
pub use open::{
    Access, open_path, open_path_lazy_mmap, open_path_probed_mmap, open_path_to_pass, read_stream,
};
pub use passing::Passing;
pub use patched::Overlay;
pub use prefetch::prefetch_in_turns;
pub use sparse::{SparseSource, drive};

/// Pieces in which large data are passed through: they stay in the second-level cache.
pub const PIECE_LEN: usize = 512 << 10;

/// Bytes that are copied between two checks of a request to stop: some milliseconds.
pub const STOP_LEN: usize = 8 << 20;

/// Bytes at absolute offsets. All ranges are half-open and absolute.
pub trait Source: Send + Sync {
    /// Length in bytes at the time of opening.
    fn len(&self) -> u64;

    /// True for a source without bytes.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `dst` with the bytes from `at` on.
    ///
    /// # Errors
    /// `Truncated` when the source ends before; `Missing` where a sparse source has a hole; `Io`.
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()>;

    /// Fills `dst` with the bytes from `at` on, in pieces of [`STOP_LEN`], until `stop` is requested. Sources that decode for each read, so that
    /// one large read is better than several, check a request of their own instead.
    ///
    /// # Errors
    /// As [`Source::read_into`]; `Cancelled`.
    fn read_until(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        stop.check()?;
        if dst.len() <= STOP_LEN {
            return self.read_into(at, dst);
        }
        let mut at = at;
        for piece in dst.chunks_mut(STOP_LEN) {
            stop.check()?;
            self.read_into(at, piece)?;
            at = at.saturating_add(piece.len() as u64);
        }
        Ok(())
    }

    /// The bytes of `range` without a copy, where the source holds them in memory.
    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        let _ = range;
        None
    }

    /// The bytes of `range`: borrowed where possible, else copied. The caller bounds the length of the copy.
    ///
    /// # Errors
    /// As [`Source::read_into`]; `Usage` when the range runs backwards.
    fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
        check_range(&range, self.len())?;
        if let Some(bytes) = self.lend(range.clone()) {
            return Ok(Cow::Borrowed(bytes));
        }
        let mut bytes = try_zeroed_vec(range.end - range.start, &Limits::default())?;
        self.read_into(range.start, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    /// Announces ranges that are read next. A far source fetches them together, neighbours in one request.
    ///
    /// Returns how many of the ranges, from the first on, can be read without a further trip: a far source holds a bounded number of bytes, so
    /// that callers read those and announce the rest ([`prefetch_in_turns`]). At least one where `ranges` is not empty. Near sources do nothing.
    /// The answer of a read never depends on what was announced.
    ///
    /// # Errors
    /// As [`Source::read_into`].
    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        Ok(ranges.len())
    }

    /// Whether a read may cost a trip to another machine: readers of such a source announce what they read, and read only what they need.
    fn is_far(&self) -> bool {
        false
    }
}

impl Source for [u8] {
    fn len(&self) -> u64 {
        // A slice's length fits u64 on every platform Rust has.
        self.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at.saturating_add(dst.len() as u64);
        check_range(&range, Source::len(self))?;
        dst.copy_from_slice(self.lend(range).unwrap_or_default());
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        self.get(usize::try_from(range.start).ok()?..usize::try_from(range.end).ok()?)
    }
}

macro_rules! forward {
    ($($(#[$doc:meta])* ($($generics:tt)*) $type:ty;)+) => {$(
        impl<$($generics)*> Source for $type {
            fn len(&self) -> u64 {
                Source::len(&**self)
            }
            fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
                (**self).read_into(at, dst)
            }
            fn read_until(&self, at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
                (**self).read_until(at, dst, stop)
            }
            fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
                (**self).lend(range)
            }
            fn read(&self, range: Range<u64>) -> Result<Cow<'_, [u8]>> {
                Source::read(&**self, range)
            }
            fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
                (**self).prefetch(ranges)
            }
            fn is_far(&self) -> bool {
                (**self).is_far()
            }
        }
    )+};
}

forward! {
    () Vec<u8>;
    (S: Source + ?Sized) &S;
    (S: Source + ?Sized) Box<S>;
    (S: Source + ?Sized) Arc<S>;
}

/// Checks a half-open range against a length.
///
/// # Errors
/// `Usage` when it runs backwards, `Truncated` when it ends past `len`.
pub fn check_range(range: &Range<u64>, len: u64) -> Result<()> {
    if range.start > range.end {
        return Err(Error::usage(format!("byte range {}..{} runs backwards", range.start, range.end)));
    }
    if range.end > len {
        return Err(Error::truncated(range.clone(), len.saturating_sub(range.start)));
    }
    Ok(())
}

/// Zeroed memory for `len` elements that the kernel may back with huge pages.
///
/// Touching fresh 4 KiB pages costs several times the copy that fills them, and the allocator does not ask for
/// larger ones by itself.
///
/// # Errors
/// `Limit` when it would be over [`Limits::memory`], or when the machine cannot provide the memory.
pub fn try_zeroed_vec<T: bytemuck::Pod>(len: u64, limits: &Limits) -> Result<Vec<T>> {
    let bytes = len.saturating_mul(size_of::<T>() as u64);
    limits.allocate(bytes)?;
    let refused = || Error::out_of_memory(bytes, limits.memory);
    let count = usize::try_from(len).map_err(|_| refused())?;
    #[cfg_attr(not(feature = "mmap"), expect(unused_mut, reason = "only advice needs it"))]
    let mut memory: Vec<T> = bytemuck::allocation::try_zeroed_vec(count).map_err(|()| refused())?;
    #[cfg(feature = "mmap")]
    mmap::advise_huge_pages(bytemuck::cast_slice_mut(&mut memory));
    Ok(memory)
}

/// A copy of bytes that the caller holds, in memory that may be refused.
///
/// # Errors
/// As [`try_zeroed_vec`].
pub fn try_copy(bytes: &[u8], limits: &Limits) -> Result<Vec<u8>> {
    let mut copy = try_zeroed_vec(bytes.len() as u64, limits)?;
    bytes.read_until(0, &mut copy, limits.stop)?;
    Ok(copy)
}

/// The bytes of a `Cow`, copied within `limits` only where they are borrowed.
///
/// # Errors
/// As [`try_zeroed_vec`].
pub fn into_vec(bytes: Cow<'_, [u8]>, limits: &Limits) -> Result<Vec<u8>> {
    match bytes {
        Cow::Borrowed(bytes) => try_copy(bytes, limits),
        Cow::Owned(bytes) => Ok(bytes),
    }
}

/// Fills `dst` from `at` on, on up to `threads` threads, until `stop` is requested. With 1, no thread is started.
///
/// # Errors
/// As [`Source::read_into`]; `Cancelled`.
pub fn read_parallel(source: &dyn Source, at: u64, dst: &mut [u8], threads: usize, stop: Stop) -> Result<()> {
    // Below this a thread costs more than it copies. A multiple of the huge page, so that threads share none.
    const MIN_SHARE_LEN: usize = 8 << 20;
    let share = dst.len().div_ceil(threads.max(1)).next_multiple_of(2 << 20).max(MIN_SHARE_LEN);
    if threads <= 1 || dst.len() <= share {
        return source.read_until(at, dst, stop);
    }
    let threads = threads.min(dst.len().div_ceil(share));
    // Each takes the next share until none is left.
    let shares = Mutex::new((at, dst.chunks_mut(share)));
    let work = || {
        loop {
            let (start, piece) = {
                let mut next = shares.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(piece) = next.1.next() else { return Ok(()) };
                let start = next.0;
                next.0 = start.saturating_add(piece.len() as u64);
                (start, piece)
            };
            source.read_until(start, piece, stop)?;
        }
    };
    on_threads(threads, &work)
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
mod tests;
