//! Encodes data in segments, on threads, and joins them in their order.

use std::fmt;
use std::io::Write;

use container_codecs::checksum::Algorithm;
use container_codecs::{bzip2, zlib};
use container_core::Result;
use container_core::checksum::Checksum;
use container_core::threads::in_order;

use super::Sizes;
use crate::compression::lz4_chunks;

/// Bytes of a zlib segment: large enough that its five extra bytes do not matter, and small enough that few segments occupy all threads.
const ZLIB_LEN: usize = 512 << 10;

/// Bytes that fill most bzip2 blocks; runs make them longer.
const BZIP2_LEN: usize = 900_000;

/// Kind of the segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// Parts of one zlib stream.
    Zlib,
    /// Blocks of one bzip2 stream.
    Bzip2,
    /// Chunks of LZ4.
    Lz4,
}

/// A block that is encoded in segments.
pub(super) struct Segments {
    kind: Kind,
    level: Option<i32>,
    zlib: zlib::Segments,
    cutter: bzip2::Cutter,
    joiner: Joiner,
    /// The end of the data before those of the next call.
    before: Vec<u8>,
}

/// Joins segments into one stream.
struct Joiner {
    kind: Kind,
    zlib: zlib::Segments,
    /// Checksum of a zlib stream.
    adler32: Option<Box<dyn Checksum>>,
    bzip2: bzip2::Joined,
    is_begun: bool,
}

impl Segments {
    /// An encoder without data.
    pub(super) fn new(kind: Kind, level: Option<i32>) -> Result<Self> {
        let of = |this: Kind| level.filter(|_| kind == this);
        let zlib = zlib::Segments::new(of(Kind::Zlib))?;
        if kind == Kind::Lz4 {
            // It has no levels, and rejects one here.
            lz4_chunks::encode_chunk(&[], level, &mut Vec::new())?;
        }
        let joiner = Joiner {
            kind,
            zlib,
            adler32: (kind == Kind::Zlib).then(|| Algorithm::Adler32.start()),
            bzip2: bzip2::Joined::new(of(Kind::Bzip2))?,
            is_begun: false,
        };
        let cutter = bzip2::Cutter::new(of(Kind::Bzip2))?;
        Ok(Self { kind, level, zlib, cutter, joiner, before: Vec::new() })
    }

    /// Bytes of a usual segment.
    pub(super) const fn least_len(&self) -> usize {
        match self.kind {
            Kind::Zlib => ZLIB_LEN,
            Kind::Bzip2 => BZIP2_LEN,
            Kind::Lz4 => lz4_chunks::CHUNK_LEN,
        }
    }

    /// Bytes that occupy all threads for a while.
    pub(super) const fn batch_len(&self, threads: usize) -> usize {
        // One byte more shows that a segment is not the last.
        let each = if threads > 1 { threads.saturating_mul(4) } else { 1 };
        self.least_len().saturating_mul(each).saturating_add(1)
    }

    /// Encodes the whole segments of `data`, or all of it where it is the last; returns the number of their bytes. The caller passes the rest again.
    pub(super) fn encode(
        &mut self,
        data: &[u8],
        is_last: bool,
        threads: usize,
        out: &mut dyn Write,
        sizes: &mut Sizes,
    ) -> Result<usize> {
        let Self { kind, level, zlib, cutter, joiner, before } = self;
        let (kind, level) = (*kind, *level);
        let (mut taken, mut is_over) = (0, false);
        let next = || {
            let (start, rest) = (taken, &data[taken..]);
            let len = match kind {
                Kind::Zlib => (rest.len() > ZLIB_LEN).then_some(ZLIB_LEN),
                Kind::Bzip2 => cutter.cut(rest),
                Kind::Lz4 => (rest.len() >= lz4_chunks::CHUNK_LEN).then_some(lz4_chunks::CHUNK_LEN),
            };
            if is_over || (len.is_none() && !is_last) {
                return Ok(None);
            }
            is_over = len.is_none();
            taken += len.unwrap_or(rest.len());
            // A zlib stream has to be ended; the others need no segment without data.
            Ok((start < taken || kind == Kind::Zlib).then_some((start, taken, is_over)))
        };
        let work = |(start, end, is_last): (usize, usize, bool)| {
            let segment = &data[start..end];
            let mut made = Vec::new();
            match kind {
                Kind::Zlib => {
                    let before = if start == 0 { &**before } else { &data[..start] };
                    zlib.encode(before, segment, is_last, &mut made)?;
                }
                Kind::Bzip2 => made = bzip2::encode_block(level, segment)?,
                Kind::Lz4 => lz4_chunks::encode_chunk(segment, level, &mut made)?,
            }
            Ok((segment, made))
        };
        let used = &mut sizes.used;
        *used += joiner.begin(out)?;
        in_order(threads, next, work, |(segment, made)| {
            *used += joiner.join(segment, &made, out)?;
            Ok(())
        })?;
        if is_last {
            *used += joiner.finish(out)?;
        }
        if kind == Kind::Zlib {
            // Segments are longer than the window, all but the last.
            let end = &data[..taken];
            if !end.is_empty() {
                *before = end[end.len().saturating_sub(zlib::WINDOW)..].to_vec();
            }
        }
        Ok(taken)
    }
}

impl Joiner {
    /// Writes the start of the stream, once.
    fn begin(&mut self, out: &mut dyn Write) -> Result<u64> {
        if self.kind != Kind::Zlib || self.is_begun {
            return Ok(0);
        }
        self.is_begun = true;
        let header = self.zlib.header();
        out.write_all(&header)?;
        Ok(header.len() as u64)
    }

    /// Writes the next segment; returns the number of bytes written.
    fn join(&mut self, segment: &[u8], made: &[u8], out: &mut dyn Write) -> Result<u64> {
        if self.kind == Kind::Bzip2 {
            self.bzip2.push(made)?;
            return Ok(self.bzip2.flush(out)?);
        }
        if let Some(adler32) = &mut self.adler32 {
            adler32.update(segment);
        }
        out.write_all(made)?;
        Ok(made.len() as u64)
    }

    /// Writes the end of the stream.
    fn finish(&mut self, out: &mut dyn Write) -> Result<u64> {
        if self.kind == Kind::Bzip2 {
            self.bzip2.finish();
            return Ok(self.bzip2.flush(out)?);
        }
        let Some(adler32) = self.adler32.take() else { return Ok(0) };
        // Digests are in the order in which they are printed, which is that of RFC 1950.
        let trailer = adler32.finish();
        out.write_all(trailer.as_bytes())?;
        Ok(trailer.as_bytes().len() as u64)
    }
}

impl fmt::Debug for Segments {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Segments")
            .field("kind", &self.kind)
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}
