//! LZ4 frames: blocks with a header, an end mark and checksums.
//!
//! Blocks that do not refer to each other are decoded on threads and skipped without being decoded; others one after the
//! other. Written frames are not needed by any format here.
//!
//! Spec: <https://github.com/lz4/lz4/blob/dev/doc/lz4_Frame_format.md>

use std::borrow::Cow;
use std::hash::Hasher as _;
use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use lz4_flex::block::{decompress_into, decompress_into_with_dict};
use twox_hash::XxHash32;

use super::{BlockEnd, block_shape};
use crate::feed::on_front;
use crate::shared::wrong_length;
use container_core::codec::{Codec, Encoded, Take};
use container_core::source::try_zeroed_vec;
use container_core::threads::on_threads;
use container_core::{Error, ErrorKind, Limits, Result};
use header::{Frame, StoredBlock};

mod header;

/// Longest distance of a match, in bytes.
const WINDOW: usize = 64 << 10;

/// `lz4f`: one or more LZ4 frames, skippable ones among them. Only reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Lz4Frame;

impl Lz4Frame {
    /// Whether `src` begins as a frame does.
    #[must_use]
    pub fn is_frame(src: &[u8]) -> bool {
        src.starts_with(&header::MAGIC)
    }
}

impl Codec for Lz4Frame {
    fn name(&self) -> &str {
        "lz4f"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let (want, limits) = (dst.len(), &Limits::default());
        Reading { src, skip: 0, want, dst, to_end: true, limits, threads: 1, passing: None }.run()
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        encoded.check(&range, dst)?;
        let Encoded { decoded_len, limits, threads, .. } = *encoded;
        let want = usize::try_from(decoded_len).unwrap_or(usize::MAX);
        let to_end = range.end == decoded_len;
        on_front(encoded, range.end, |src, is_all| {
            let dst = &mut *dst;
            let read =
                Reading { src, skip: range.start, want, dst, to_end, limits, threads, passing: None }.run();
            match read {
                // Further encoded bytes may complete it.
                Err(error) if !is_all && !matches!(error.kind(), ErrorKind::Cancelled) => Ok(false),
                read => read.map(|()| true),
            }
        })
        .map(drop)
    }

    /// Block after block, on one thread.
    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        let src = &*encoded.bytes()?;
        let Encoded { decoded_len: skip, limits, .. } = *encoded;
        let want = usize::try_from(skip).unwrap_or(usize::MAX);
        let passing = Some(Passing { take, content: XxHash32::with_seed(0) });
        Reading { src, skip, want, dst: &mut [], to_end: true, limits, threads: 1, passing }.run()
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("LZ4 frames are only read").with_hint("lz4 writes the same data in blocks"))
    }

    fn max_encoded_len(&self, _len: usize) -> usize {
        0
    }
}

/// The bytes of a range, being read.
struct Reading<'a> {
    src: &'a [u8],
    /// Decoded bytes before the range.
    skip: u64,
    dst: &'a mut [u8],
    /// Whether the range ends where the data do.
    to_end: bool,
    /// Total decoded length, for messages.
    want: usize,
    limits: &'a Limits,
    threads: usize,
    /// Receiver of the bytes before the range, if any.
    passing: Option<Passing<'a>>,
}

/// Bytes that are passed on.
struct Passing<'a> {
    take: &'a mut Take<'a>,
    /// Checksum of the content of the frame so far.
    content: XxHash32,
}

impl Reading<'_> {
    fn run(mut self) -> Result<()> {
        if self.src.is_empty() {
            return Err(self.wrong("the encoded data are empty"));
        }
        let (mut at, mut made) = (0, 0);
        while at < self.src.len() && (self.to_end || made < self.end()) {
            if let Some(next) = header::skippable(self.src, at).map_err(|problem| self.wrong(problem))? {
                at = next;
                continue;
            }
            let frame = Frame::parse(self.src, at).map_err(|problem| self.wrong(problem))?;
            if frame.has_dictionary {
                return Err(Error::unsupported("this LZ4 frame needs a dictionary"));
            }
            (at, made) = self.frame(&frame, made)?;
        }
        if made < self.end() {
            return Err(self.wrong(format!("only {made} found")));
        }
        Ok(())
    }

    /// Reads the wanted part of one frame, whose first byte is the decoded byte `start`; returns its end, encoded and decoded.
    fn frame(&mut self, frame: &Frame, start: u64) -> Result<(usize, u64)> {
        if let Some(passing) = &mut self.passing {
            passing.content = XxHash32::with_seed(0);
        }
        let ended = if frame.independent {
            match self.full_blocks(frame, start)? {
                Some(ended) => ended,
                None => self.one_by_one(frame, start)?,
            }
        } else {
            self.one_by_one(frame, start)?
        };
        let Some((at, made)) = ended else { return Ok((self.src.len(), self.end())) };
        if frame.content_len.is_some_and(|len| len != made.saturating_sub(start)) {
            let problem = format!("a frame declares {} bytes", frame.content_len.unwrap_or(0));
            return Err(self.wrong(problem));
        }
        if !frame.content_checksum {
            return Ok((at, made));
        }
        let stored =
            header::word(self.src, at).ok_or_else(|| self.wrong("the content checksum is missing"))?;
        if self.passing.as_ref().is_some_and(|passing| passing.content.finish_32() != stored) {
            return Err(self.wrong("the content checksum differs"));
        }
        // Of a frame that is not read as a whole the checksum cannot be computed.
        let whole = start.checked_sub(self.skip).zip(made.checked_sub(self.skip));
        let whole =
            whole.and_then(|(start, end)| Some(usize::try_from(start).ok()?..usize::try_from(end).ok()?));
        if let Some(content) = whole.and_then(|whole| self.dst.get(whole))
            && header::checksum_until(content, self.limits.stop)? != stored
        {
            return Err(self.wrong("the content checksum differs"));
        }
        Ok((at.saturating_add(4), made))
    }

    /// Reads a whole frame on the assumption that every block but the last is full, as writers make them that are given all data at once:
    /// all offsets then follow from the block size, and threads can share the work. `None` where that does not hold.
    fn full_blocks(&mut self, frame: &Frame, start: u64) -> Result<Option<Option<(usize, u64)>>> {
        if self.threads <= 1 || self.skip > start || !self.to_end {
            return Ok(None);
        }
        let mut blocks = Vec::new();
        let mut at = frame.blocks_at;
        while let Some(block) = self.block(frame, at)? {
            at = block.next;
            blocks.push(block);
        }
        at = at.saturating_add(4);
        let Some(room) =
            usize::try_from(start.saturating_sub(self.skip)).ok().and_then(|first| self.dst.get_mut(first..))
        else {
            return Ok(None);
        };
        let before = frame.block_max.saturating_mul(blocks.len().saturating_sub(1));
        let content = match frame.content_len {
            Some(len) => usize::try_from(len).unwrap_or(usize::MAX),
            // Without it, only one frame that fills all of the room will do.
            None => room.len(),
        };
        let last = content.checked_sub(before).filter(|last| *last > 0 && *last <= frame.block_max);
        let (Some(_), Some(room)) = (last, room.get_mut(..content)) else { return Ok(None) };
        let (src, stop) = (self.src, self.limits.stop);
        let work = Mutex::new(blocks.iter().zip(room.chunks_mut(frame.block_max)));
        let other = Mutex::new(false);
        let take = || {
            loop {
                stop.check()?;
                let Some((block, room)) = work.lock().unwrap_or_else(PoisonError::into_inner).next() else {
                    return Ok(());
                };
                let fits = block.check(src).is_ok()
                    && match src.get(block.data.clone()).unwrap_or_default() {
                        bytes if block.is_plain => {
                            let fits = bytes.len() == room.len();
                            if fits {
                                room.copy_from_slice(bytes);
                            }
                            fits
                        }
                        bytes => decompress_into(bytes, room).is_ok_and(|made| made == room.len()),
                    };
                if !fits {
                    *other.lock().unwrap_or_else(PoisonError::into_inner) = true;
                    return Ok(());
                }
            }
        };
        on_threads(self.threads.min(blocks.len().max(1)), &take)?;
        // The sequential decoder finds the fault again, and describes it.
        let other = other.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok((!other).then(|| Some((at, start.saturating_add(content as u64)))))
    }

    /// Reads one block after the other, up to the end of the frame or, `None`, of the range.
    fn one_by_one(&mut self, frame: &Frame, start: u64) -> Result<Option<(usize, u64)>> {
        let (mut at, mut made) = (frame.blocks_at, start);
        // The window, and room for a block after it.
        let mut scratch: Vec<u8> = Vec::new();
        let mut known = 0_usize;
        loop {
            self.limits.stop.check()?;
            if made >= self.end() && !self.to_end {
                return Ok(None);
            }
            let Some(block) = self.block(frame, at)? else { return Ok(Some((at.saturating_add(4), made))) };
            at = block.next;
            block.check(self.src).map_err(|problem| self.wrong(problem))?;
            let bytes = self.src.get(block.data.clone()).unwrap_or_default();
            // An independent block before the range need not be decoded.
            if frame.independent && made < self.skip && self.passing.is_none() {
                let len = self.decoded_len(&block, bytes, frame)?;
                if made.saturating_add(len) <= self.skip {
                    made = made.saturating_add(len);
                    continue;
                }
            }
            if scratch.is_empty() {
                scratch = try_zeroed_vec(WINDOW.saturating_add(frame.block_max) as u64, self.limits)?;
            }
            let (window, room) = scratch.split_at_mut(WINDOW);
            let history =
                window.get(WINDOW.saturating_sub(known)..).filter(|_| !frame.independent).unwrap_or_default();
            let len = if block.is_plain {
                room.get_mut(..bytes.len()).map(|room| room.copy_from_slice(bytes)).map(|()| bytes.len())
            } else {
                decompress_into_with_dict(bytes, room, history).ok()
            };
            let len = len.filter(|len| *len <= frame.block_max);
            let len =
                len.ok_or_else(|| self.wrong(format!("a damaged block at byte {}", block.data.start)))?;
            let made_before = made;
            made = made.saturating_add(len as u64);
            if made > self.end() && self.to_end {
                return Err(self.wrong("more found"));
            }
            self.keep(made_before, room.get(..len).unwrap_or_default())?;
            if !frame.independent {
                known = known.saturating_add(len).min(WINDOW);
                scratch.copy_within(len..len.saturating_add(WINDOW), 0);
            }
        }
    }

    /// Copies the wanted part of the decoded bytes from `start` on, or passes them on.
    fn keep(&mut self, start: u64, bytes: &[u8]) -> Result<()> {
        if let Some(Passing { take, content }) = &mut self.passing {
            content.write(bytes);
            return take(bytes);
        }
        let from = usize::try_from(self.skip.saturating_sub(start)).unwrap_or(usize::MAX);
        let to = usize::try_from(start.saturating_sub(self.skip)).unwrap_or(usize::MAX);
        if let (Some(bytes), Some(room)) = (bytes.get(from..), self.dst.get_mut(to..)) {
            let len = bytes.len().min(room.len());
            if let (Some(room), Some(bytes)) = (room.get_mut(..len), bytes.get(..len)) {
                room.copy_from_slice(bytes);
            }
        }
        Ok(())
    }

    fn decoded_len(&self, block: &StoredBlock, bytes: &[u8], frame: &Frame) -> Result<u64> {
        if block.is_plain {
            return Ok(bytes.len() as u64);
        }
        let shape = block_shape(bytes, frame.block_max as u64);
        if shape.end == BlockEnd::Complete {
            return Ok(shape.decoded_len);
        }
        Err(self.wrong(format!("a damaged block at byte {}", block.data.start)))
    }

    /// The block at `at`; `None` at the end mark.
    fn block(&self, frame: &Frame, at: usize) -> Result<Option<StoredBlock>> {
        frame.block(self.src, at).map_err(|problem| self.wrong(problem))
    }

    /// End of the range of decoded bytes.
    fn end(&self) -> u64 {
        self.skip.saturating_add(self.dst.len() as u64)
    }

    fn wrong(&self, problem: impl Into<Cow<'static, str>>) -> Error {
        wrong_length("lz4 frame", self.want, problem)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests;
