//! bzip2 streams decoded block by block, on threads.

use std::ops::Range;

use ::bzip2::{Decompress, Status};

use super::block::Unpacker;
use super::scan::{Found, Odd, Scan};
use crate::shared::make_room;
use container_core::threads::{Pool, in_order};
use container_core::{Error, ErrorKind, Result, Stop};

/// Less than this is decoded before a thread is started.
const MIN_THREAD_LEN: usize = 64 << 10;

/// Decodes the bytes `range` of `decoded_len` into `dst`, which is as long. False where that failed, or a block decodes to more than `most`
/// bytes. The sequential decoder then finds the fault: it goes from bit to bit and is not misled by data that only resemble a block.
///
/// # Errors
/// `Io` when memory runs out; `Cancelled`, before the next block, once `stop` is requested.
pub(super) fn decode_range(
    src: &[u8],
    decoded_len: u64,
    most: u64,
    range: Range<u64>,
    dst: &mut [u8],
    threads: usize,
    stop: Stop,
) -> Result<bool> {
    let threads = if src.len() < MIN_THREAD_LEN { 1 } else { threads };
    let idle = Pool::<Unpacker>::default();
    let to_end = range.end == decoded_len;
    let most = most.min(decoded_len);
    let mut scan = Scan::new(src);
    let mut made = 0_u64;
    let mut is_over = false;
    while !is_over && (made < range.end || to_end) {
        // As many blocks as are needed if each is full. Whether more are shows when these are decoded.
        let needed = range.end.saturating_sub(made).div_ceil(scan.block_len().max(1)).max(1);
        let mut left = if to_end { u64::MAX } else { needed };
        let next = || {
            stop.check()?;
            if left == 0 {
                return Ok(None);
            }
            left = left.saturating_sub(1);
            let found = scan.next().map_err(|Odd| odd())?;
            is_over = found.is_none();
            Ok(found)
        };
        let work = |found: Found| {
            let mut unpacker = idle.take().unwrap_or_default();
            let Found { bits, level } = &found;
            let most_text = usize::from(level.saturating_sub(b'0')).saturating_mul(100_000);
            if unpacker.unpack(src, bits, most_text, most).is_none() {
                decode(src, &found, most, &mut unpacker.out)?;
            }
            Ok(unpacker)
        };
        let place = |unpacker: Unpacker| {
            let start = made;
            made = made.saturating_add(unpacker.out.len() as u64);
            if made > decoded_len {
                return Err(odd());
            }
            keep(&unpacker.out, start, range.start, dst);
            idle.put(unpacker);
            Ok(())
        };
        let threads = usize::try_from(needed).map_or(threads, |needed| threads.min(needed));
        let done = in_order(threads, next, work, place);
        match done.map_err(Error::into_kind) {
            Ok(()) => {}
            Err(ErrorKind::Malformed(_)) => return Ok(false),
            Err(kind) => return Err(Error::new(kind)),
        }
    }
    Ok(made >= range.end && (!to_end || made == decoded_len))
}

/// Copies the overlap of `bytes`, which start at `start`, with the range that starts at `first`.
fn keep(bytes: &[u8], start: u64, first: u64, dst: &mut [u8]) {
    let from = usize::try_from(first.saturating_sub(start)).unwrap_or(usize::MAX);
    let to = usize::try_from(start.saturating_sub(first)).unwrap_or(usize::MAX);
    if let (Some(bytes), Some(room)) = (bytes.get(from..), dst.get_mut(to..)) {
        let len = bytes.len().min(room.len());
        if let (Some(bytes), Some(room)) = (bytes.get(..len), room.get_mut(..len)) {
            room.copy_from_slice(bytes);
        }
    }
}

/// Sets `out` to the bytes of one block, at most `most`, as the library decodes them.
pub(super) fn decode(src: &[u8], found: &Found, most: u64, out: &mut Vec<u8>) -> Result<()> {
    let stream = found.stream(src).ok_or_else(odd)?;
    let mut decoder = Decompress::new(false);
    out.clear();
    // Nearly all blocks; those of long runs decode to fifty times as much.
    make_room(out, 1 << 20)?;
    loop {
        let used = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX);
        let before = (used, out.len());
        let status =
            decoder.decompress_vec(stream.get(used..).unwrap_or_default(), out).map_err(|_| odd())?;
        let now = usize::try_from(decoder.total_in()).unwrap_or(usize::MAX);
        match status {
            Status::StreamEnd if now == stream.len() => return Ok(()),
            Status::StreamEnd => return Err(odd()),
            Status::MemNeeded => return Err(std::io::Error::from(std::io::ErrorKind::OutOfMemory).into()),
            _ => {}
        }
        if out.len() as u64 > most {
            return Err(odd());
        }
        if out.len() == out.capacity() {
            let more = most.saturating_sub(out.len() as u64).saturating_add(1);
            make_room(out, out.len().min(usize::try_from(more).unwrap_or(usize::MAX)))?;
        } else if (now, out.len()) == before {
            return Err(odd());
        }
    }
}

fn odd() -> Error {
    Error::malformed("bzip2 blocks cannot be separated")
}
