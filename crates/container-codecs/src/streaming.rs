//! Whole blocks through streaming libraries: fills one slice exactly, without a second buffer, and feeds an encoder pieces that its 32-bit
//! counters can hold.
//!
//! Streaming decoders stop both without input and without room, and only the end of the stream proves that the data were whole. So when the
//! slice is full the decoder gets one more byte to write to: if it writes there, the data are too long; if it stops without that, they are
//! cut.

// Zstandard and xz bring loops of their own, and take of this only how parts are read.
#![cfg_attr(not(any(feature = "zlib", feature = "bzip2")), allow(dead_code))]

use std::borrow::Cow;
use std::io;

use super::feed::Feed;
use super::shared::{make_room, wrong_length};
use container_core::codec::{Encoded, Take};
use container_core::{Error, Result, Stop};

/// A decoder of one stream that counts the bytes it reads and writes.
pub(super) trait Decoder {
    /// Decodes as far as `src` and `dst` allow; true at the end of the stream. Must read or write at least a byte unless it is stuck.
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault>;

    /// Bytes of this stream read so far.
    fn total_in(&self) -> u64;

    /// Bytes of this stream written so far.
    fn total_out(&self) -> u64;
}

/// Why a [`Decoder`] gave up.
pub(super) enum Fault {
    /// The encoded bytes are wrong.
    Damage(Cow<'static, str>),
    /// They are not to blame.
    Other(Error),
}

/// Decoded bytes between two checks of a request to stop, and most encoded bytes that a step is given: a millisecond of zlib's work.
const STEP: usize = 256 << 10;

/// The first [`STEP`] bytes.
pub(super) fn step_of(src: &[u8]) -> &[u8] {
    src.get(..STEP).unwrap_or(src)
}

/// A slice that is being filled from `src`.
pub(super) struct Filling<'a> {
    name: &'static str,
    src: &'a [u8],
    dst: &'a mut [u8],
    used: usize,
    made: usize,
    stop: Stop,
}

impl<'a> Filling<'a> {
    pub(super) const fn new(name: &'static str, src: &'a [u8], dst: &'a mut [u8]) -> Self {
        Self { name, src, dst, used: 0, made: 0, stop: Stop::never() }
    }

    /// The same, until `stop` is requested.
    #[cfg(feature = "zlib")]
    pub(super) const fn until(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Runs `decoder` from the first unused byte to the end of its stream.
    pub(super) fn run(&mut self, mut decoder: impl Decoder) -> Result<()> {
        let (first_used, first_made) = (self.used, self.made);
        loop {
            self.stop.check()?;
            let mut overflow = [0];
            let end = self.dst.len().min(self.made.saturating_add(STEP));
            let room = match self.dst.get_mut(self.made..end) {
                Some(room) if !room.is_empty() => room,
                _ => &mut overflow,
            };
            let step = decoder.step(step_of(self.src.get(self.used..).unwrap_or_default()), room);
            let used = advance(first_used, decoder.total_in());
            let made = advance(first_made, decoder.total_out());
            let stuck = (used, made) == (self.used, self.made);
            (self.used, self.made) = (used, made);
            let ended = step.map_err(|fault| self.failed(fault))?;
            if self.made > self.dst.len() {
                return Err(self.wrong("more found"));
            }
            if ended {
                return Ok(());
            }
            if stuck {
                return Err(self.wrong(format!("the encoded data end early, after {made}")));
            }
        }
    }

    /// Runs `decoder` until `dst` is full, whether or not the stream continues.
    #[cfg(feature = "zlib")]
    pub(super) fn run_prefix(&mut self, mut decoder: impl Decoder) -> Result<()> {
        while self.made < self.dst.len() {
            let room = self.dst.get_mut(self.made..).unwrap_or_default();
            let step = decoder.step(self.src.get(self.used..).unwrap_or_default(), room);
            let used = advance(0, decoder.total_in());
            let made = advance(0, decoder.total_out());
            let stuck = (used, made) == (self.used, self.made);
            (self.used, self.made) = (used, made);
            let ended = step.map_err(|fault| self.failed(fault))?;
            if (ended || stuck) && made < self.dst.len() {
                return Err(self.wrong(format!("only {made} found")));
            }
        }
        Ok(())
    }

    /// Whether encoded bytes are left.
    #[cfg(feature = "bzip2")]
    pub(super) const fn has_input(&self) -> bool {
        self.used < self.src.len()
    }

    /// Checks that all of `src` was used and all of `dst` was filled.
    pub(super) fn finish(self) -> Result<()> {
        if self.made < self.dst.len() {
            return Err(self.wrong(format!("only {} found", self.made)));
        }
        if self.used < self.src.len() {
            return Err(self.wrong(format!(
                "the encoded data end at byte {} of {}",
                self.used,
                self.src.len()
            )));
        }
        Ok(())
    }

    fn failed(&self, fault: Fault) -> Error {
        match fault {
            Fault::Damage(what) => {
                self.wrong(format!("{what}, near byte {} of {}", self.used, self.src.len()))
            }
            Fault::Other(error) => error,
        }
    }

    fn wrong(&self, problem: impl Into<Cow<'static, str>>) -> Error {
        wrong_length(self.name, self.dst.len(), problem)
    }
}

/// The wanted bytes of a stream, or of several in a row.
pub(super) struct Part<'a> {
    pub(super) name: &'static str,
    pub(super) src: Feed<'a>,
    /// Decoded bytes before the first that is wanted.
    pub(super) skip: u64,
    pub(super) dst: &'a mut [u8],
    pub(super) stop: Stop,
    /// Whether the wanted bytes are the last ones, so that the streams have to end after them.
    pub(super) to_end: bool,
}

impl Part<'_> {
    /// Bytes that are dropped at a time: they stay in the cache.
    const DROPPED: usize = 64 << 10;

    /// Runs one decoder from `start` after another, up to the last byte that is wanted.
    pub(super) fn run<D: Decoder>(self, start: impl FnMut() -> Result<D>) -> Result<()> {
        self.run_passing(&mut |_| Ok(()), start)
    }

    /// As [`Part::run`]; bytes before the range go to `take`.
    ///
    /// Each round gives the decoder one step of input and room for its output: `dropped` before the range, then `dst`, then one byte of
    /// `overflow`, which shows data that are too long. At the end of a stream the next decoder starts where it stopped. A step without progress
    /// needs more input from the source.
    fn run_passing<D: Decoder>(
        self,
        take: &mut Take<'_>,
        mut start: impl FnMut() -> Result<D>,
    ) -> Result<()> {
        let Self { name, mut src, skip, dst, stop, to_end } = self;
        let all = skip.saturating_add(dst.len() as u64);
        let want = if to_end { usize::try_from(all).unwrap_or(usize::MAX) } else { dst.len() };
        let wrong = |problem: Cow<'static, str>| wrong_length(name, want, problem);
        let mut dropped =
            vec![0; usize::try_from(skip).map_or(Self::DROPPED, |skip| skip.min(Self::DROPPED))];
        let (len, mut first_used, mut first_made, mut decoder) = (src.len(), 0_u64, 0_u64, start()?);
        loop {
            stop.check()?;
            let used = first_used.saturating_add(decoder.total_in());
            let made = first_made.saturating_add(decoder.total_out());
            if made >= all && !to_end {
                return Ok(());
            }
            let mut overflow = [0];
            let room = match made.checked_sub(skip) {
                None => {
                    let left = usize::try_from(skip.saturating_sub(made)).unwrap_or(usize::MAX);
                    let len = left.min(dropped.len());
                    dropped.get_mut(..len).unwrap_or_default()
                }
                Some(at) => match usize::try_from(at).ok().and_then(|at| dst.get_mut(at..)) {
                    Some(room) if !room.is_empty() => {
                        let len = room.len().min(STEP);
                        room.get_mut(..len).unwrap_or_default()
                    }
                    _ => &mut overflow,
                },
            };
            let step = decoder.step(step_of(src.from(used)?), room);
            let now_used = first_used.saturating_add(decoder.total_in());
            let now_made = first_made.saturating_add(decoder.total_out());
            let ended = step.map_err(|fault| match fault {
                Fault::Damage(what) => wrong(format!("{what}, near byte {now_used} of {len}").into()),
                Fault::Other(error) => error,
            })?;
            if now_made > all {
                return Err(wrong("more found".into()));
            }
            if made < skip {
                let len = usize::try_from(now_made.saturating_sub(made)).unwrap_or(usize::MAX);
                take(dropped.get(..len).unwrap_or_default())?;
            }
            if ended && now_made < all && now_used >= len {
                return Err(wrong(format!("only {now_made} found").into()));
            }
            if ended && now_used >= len {
                return Ok(());
            }
            if ended {
                (first_used, first_made, decoder) = (now_used, now_made, start()?);
            } else if (now_used, now_made) == (used, made) && !src.extend(used)? {
                return Err(wrong(format!("the encoded data end early, after {made}").into()));
            }
        }
    }
}

/// Passes all that one decoder from `start` after another makes of `src` to `take`, and checks that it is as much as `encoded` is to hold.
pub(super) fn pass<D: Decoder>(
    name: &'static str,
    encoded: &Encoded<'_>,
    take: &mut Take<'_>,
    start: impl FnMut() -> Result<D>,
) -> Result<()> {
    let (src, skip) = (Feed::of(encoded)?, encoded.decoded_len);
    let stop = encoded.limits.stop;
    Part { name, src, skip, dst: &mut [], stop, to_end: true }.run_passing(take, start)
}

/// Number of bytes that one decoder from `start` after another makes of all of `src`. `None` where they cannot.
pub(super) fn count<D: Decoder>(src: &[u8], start: impl FnMut() -> Result<D>) -> Result<Option<u64>> {
    let Walked { made, is_whole } = walk(src, u64::MAX, u64::MAX, Stop::never(), start)?;
    Ok(is_whole.then_some(made))
}

/// Number of bytes, at most `most`, that one decoder after another makes of `src` before it fails. `starts` makes the decoders, for a walk from the
/// start of `src`.
pub(super) fn reach<D: Decoder, S: FnMut() -> Result<D>>(
    src: &[u8],
    most: u64,
    stop: Stop,
    starts: impl Fn() -> S,
) -> Result<u64> {
    let Walked { made, is_whole } = walk(src, most, u64::MAX, stop, starts())?;
    if is_whole || made == most {
        return Ok(made);
    }
    // A step that fails may have made bytes without reporting how many.
    let most = most.min(made.saturating_add(Part::DROPPED as u64));
    walk(src, most, made, stop, starts()).map(|walked| walked.made)
}

/// End of a walk.
struct Walked {
    made: u64,
    /// Whether it used all of its source, and the last stream ended there.
    is_whole: bool,
}

/// Decodes up to `most` bytes without keeping them: many at a time, from `slow` on one by one.
fn walk<D: Decoder>(
    src: &[u8],
    most: u64,
    slow: u64,
    stop: Stop,
    mut start: impl FnMut() -> Result<D>,
) -> Result<Walked> {
    let mut dropped = vec![0; Part::DROPPED];
    let (mut first_used, mut first_made) = (0_usize, 0_u64);
    while let Some(mut decoder) = start().map(Some).or_else(none_if_damage)? {
        loop {
            stop.check()?;
            let before = (decoder.total_in(), decoder.total_out());
            let (used, made) = (advance(first_used, before.0), first_made.saturating_add(before.1));
            let left = slow.saturating_sub(made).max(1).min(most.saturating_sub(made));
            if left == 0 {
                return Ok(Walked { made, is_whole: false });
            }
            let len = usize::try_from(left).map_or(dropped.len(), |left| left.min(dropped.len()));
            let room = dropped.get_mut(..len).unwrap_or_default();
            let ended = match decoder.step(step_of(src.get(used..).unwrap_or_default()), room) {
                Ok(ended) => ended,
                Err(Fault::Damage(_)) => return Ok(Walked { made, is_whole: false }),
                Err(Fault::Other(error)) => return Err(error),
            };
            let used = advance(first_used, decoder.total_in());
            let made = first_made.saturating_add(decoder.total_out());
            if ended {
                (first_used, first_made) = (used, made);
                break;
            }
            if (decoder.total_in(), decoder.total_out()) == before {
                return Ok(Walked { made, is_whole: false });
            }
        }
        if first_used >= src.len() {
            return Ok(Walked { made: first_made, is_whole: true });
        }
    }
    // The bytes after the end are not a stream.
    Ok(Walked { made: first_made, is_whole: false })
}

fn none_if_damage<T>(error: Error) -> Result<Option<T>> {
    if error.is_damage() { Ok(None) } else { Err(error) }
}

/// `start + total`, both of which are lengths within slices.
fn advance(start: usize, total: u64) -> usize {
    start.saturating_add(usize::try_from(total).unwrap_or(usize::MAX))
}

/// An encoder of one stream that counts the bytes it reads.
pub(super) trait Encoder {
    /// Encodes as far as `src` and the spare capacity of `out` allow; true at the end of the stream, which follows the last byte of the
    /// last piece.
    fn step(&mut self, src: &[u8], is_last: bool, out: &mut Vec<u8>) -> io::Result<bool>;

    /// Bytes read so far.
    fn total_in(&self) -> u64;
}

/// zlib and bzip2 count a call's input in 32 bits. The crates around them clip a longer one to 4 GiB, and with the flag for the last piece
/// the libraries would end the stream there: the rest would be lost.
pub(super) const PIECE_LEN: usize = 1 << 30;

/// Appends the one stream that `encoder` makes of `src`, showing it `piece_len` bytes at most at a time.
pub(super) fn encode_in_pieces(
    mut encoder: impl Encoder,
    src: &[u8],
    piece_len: usize,
    out: &mut Vec<u8>,
) -> Result<()> {
    let mut rest = src;
    loop {
        let piece = rest.get(..piece_len).unwrap_or(rest);
        let before = encoder.total_in();
        if encoder.step(piece, piece.len() == rest.len(), out)? {
            return Ok(());
        }
        let used = advance(0, encoder.total_in().saturating_sub(before));
        rest = rest.get(used..).unwrap_or_default();
        if out.len() == out.capacity() {
            make_room(out, 1 << 16)?;
        }
    }
}

#[cfg(all(test, feature = "zlib"))]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
