//! Zstandard frames (RFC 8878), by the reference library.
//!
//! Everything goes through its one-shot calls, or in steps with an output that stays in its place. They decode straight into the destination, which
//! also is the history of matches. So the window that a frame declares costs no memory: the reference library allocates windows, and needs
//! `windowLogMax` to bound them, only when it streams.
//!
//! [`Zstd`] is the codec without state; [`Decompressor`] and [`Compressor`] keep theirs, for formats that hold many small
//! frames, and take dictionaries.

use std::io::{self, Cursor};
use std::ops::Range;

use ::zstd::bulk;
use ::zstd::zstd_safe::{
    self, CCtx, CParameter, DCtx, DParameter, InBuffer, OutBuffer, ResetDirective, zstd_sys::ZSTD_ErrorCode,
};

use super::feed::Feed;
use super::shared::{level_in, make_room, wrong_length};
use super::streaming::{Decoder, Fault, Part, count, pass, reach, step_of};
use container_core::codec::{Codec, Encoded, Take};
use container_core::{Error, Limits, Result, Stop};

/// Maximum number of bytes decoded by one call, which cannot be interrupted: a few milliseconds.
const MAX_AT_ONCE: usize = 8 << 20;

/// `zstd`: levels -7 (fastest) to 22, default 3, which level 0 means as well.
///
/// Reads any number of frames, skippable ones among them; writes one frame that states its content size, without a checksum.
#[derive(Clone, Copy, Debug, Default)]
pub struct Zstd;

impl Codec for Zstd {
    fn name(&self) -> &str {
        "zstd"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        fill(dst, src, |dst| zstd_safe::decompress(dst, src))
    }

    fn decode_until(&self, src: &[u8], dst: &mut [u8], stop: Stop) -> Result<()> {
        stop.check()?;
        if dst.len() > MAX_AT_ONCE && in_steps(src, dst, stop)? {
            return Ok(());
        }
        self.decode(src, dst)
    }

    /// Decodes from the start up to the end of `range`, on one thread, with the memory for a window if that is not all.
    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        encoded.check(&range, dst)?;
        if encoded.is_all(&range) {
            return self.decode_until(&encoded.bytes()?, dst, encoded.limits.stop);
        }
        let (src, to_end) = (Feed::of(encoded)?, range.end == encoded.decoded_len);
        Part { name: "zstd", src, skip: range.start, dst, stop: encoded.limits.stop, to_end }
            .run(|| Streaming::new(encoded.limits))
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        let level = level_in("zstd", level, -7..=22, 3)?;
        make_room(out, self.max_encoded_len(src.len()))?;
        let mut end = Cursor::new(&mut *out);
        end.set_position(u64::try_from(end.get_ref().len()).unwrap_or(u64::MAX));
        bulk::Compressor::new(level)?.compress_to_buffer(src, &mut end)?;
        Ok(())
    }

    /// Length from the headers of the frames, without decoding them; if one lacks it, by decoding all.
    fn decoded_len(&self, src: &[u8]) -> Result<Option<u64>> {
        match told_len(src) {
            Told::Len(len) => Ok(Some(len)),
            Told::Nothing => count(src, || Streaming::new(&Limits::default())),
            Told::Broken => Ok(None),
        }
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        pass("zstd", encoded, take, || Streaming::new(encoded.limits))
    }

    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        let src = &*encoded.bytes()?;
        reach(src, encoded.decoded_len, encoded.limits.stop, || || Streaming::new(encoded.limits)).map(Some)
    }

    fn told_len(&self, src: &[u8]) -> Option<u64> {
        match told_len(src) {
            Told::Len(len) => Some(len),
            Told::Nothing | Told::Broken => None,
        }
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        // For lengths that no slice has, the library answers with an error code.
        zstd_safe::compress_bound(len).max(len)
    }
}

/// Fills `dst` with the frames `src`, until `stop` is requested. False where that fails: a single call then finds the reason.
fn in_steps(src: &[u8], dst: &mut [u8], stop: Stop) -> Result<bool> {
    let mut context = DCtx::try_create().ok_or_else(out_of_memory)?;
    // The output is the window: no memory is taken for another one, however large the frame declares it.
    context.set_parameter(DParameter::StableOutBuffer(true)).map_err(refused)?;
    context.set_parameter(DParameter::WindowLogMax(MAX_WINDOW_LOG)).map_err(refused)?;
    let (mut rest, mut made) = (src, 0);
    loop {
        stop.check()?;
        let mut input = InBuffer::around(step_of(rest));
        let mut output = OutBuffer::around_pos(&mut *dst, made);
        let Ok(hint) = context.decompress_stream(&mut output, &mut input) else { return Ok(false) };
        let (used, now) = (input.pos(), output.pos());
        rest = rest.get(used..).unwrap_or_default();
        if hint == 0 && rest.is_empty() {
            return Ok(now == dst.len());
        }
        if (used, now) == (0, made) {
            return Ok(false);
        }
        made = now;
    }
}

/// Lengths in the heads of frames.
enum Told {
    /// Total length of all frames.
    Len(u64),
    /// A frame does not state its length.
    Nothing,
    /// The bytes are not frames to the end.
    Broken,
}

/// Sums the stated lengths frame by frame. Skippable ones have length 0.
fn told_len(src: &[u8]) -> Told {
    let (mut rest, mut total) = (src, 0_u64);
    loop {
        let len = match zstd_safe::get_frame_content_size(rest) {
            Ok(Some(len)) => len,
            Ok(None) => return Told::Nothing,
            Err(_) => return Told::Broken,
        };
        total = total.saturating_add(len);
        let next = zstd_safe::find_frame_compressed_size(rest).ok().filter(|len| *len > 0);
        match next.and_then(|len| rest.get(len..)) {
            Some([]) => return Told::Len(total),
            Some(next) => rest = next,
            None => return Told::Broken,
        }
    }
}

/// The binary logarithm of the largest window that the library takes.
const MAX_WINDOW_LOG: u32 = if usize::BITS < 64 { 30 } else { 31 };

/// A frame that is decoded in pieces.
struct Streaming {
    context: DCtx<'static>,
    total_in: u64,
    total_out: u64,
}

impl Streaming {
    fn new(limits: &Limits) -> Result<Self> {
        let mut context = DCtx::try_create().ok_or_else(out_of_memory)?;
        // The library supports windows of 1 KiB to 2 GiB.
        let most = limits.memory.max(1).ilog2().clamp(10, MAX_WINDOW_LOG);
        context.set_parameter(DParameter::WindowLogMax(most)).map_err(refused)?;
        Ok(Self { context, total_in: 0, total_out: 0 })
    }
}

impl Decoder for Streaming {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        let (mut input, mut output) = (InBuffer::around(src), OutBuffer::around(dst));
        let step = self.context.decompress_stream(&mut output, &mut input);
        self.total_in = self.total_in.saturating_add(input.pos() as u64);
        self.total_out = self.total_out.saturating_add(output.pos() as u64);
        step.map(|hint| hint == 0).map_err(|code| match explained(code) {
            Some(error) => Fault::Other(error),
            None => Fault::Damage(zstd_safe::get_error_name(code).into()),
        })
    }

    fn total_in(&self) -> u64 {
        self.total_in
    }

    fn total_out(&self) -> u64 {
        self.total_out
    }
}

/// Decodes many streams of frames with one context, and with a dictionary if it is given one.
pub struct Decompressor(DCtx<'static>);

impl Decompressor {
    /// A decoder without a dictionary.
    ///
    /// # Errors
    /// `Io` when memory runs out.
    pub fn new() -> Result<Self> {
        DCtx::try_create().map(Self).ok_or_else(out_of_memory)
    }

    /// Copies `dictionary`, trained or any other bytes, for everything decoded from now on; empty for none.
    ///
    /// # Errors
    /// `Malformed` when it begins as a trained one and is not sound.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<()> {
        // The library reports "no memory" for a damaged dictionary, too.
        let unsound = |_| Error::malformed("invalid zstd dictionary");
        self.0.load_dictionary(dictionary).map(drop).map_err(unsound)
    }

    /// Decodes the frames `src` into `dst`, filling it exactly and using all of `src`.
    ///
    /// # Errors
    /// As [`Zstd`]'s.
    pub fn decode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        fill(dst, src, |dst| self.0.decompress(dst, src))
    }
}

impl std::fmt::Debug for Decompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Decompressor").finish_non_exhaustive()
    }
}

/// Encodes one frame from data that come in pieces, at one level. The frame lacks a checksum, and depends on the data alone, however they
/// are cut.
pub struct FrameEncoder(CCtx<'static>);

impl FrameEncoder {
    /// An encoder at `level`, -7 to 22, default 3. `len` is the total number of bytes, if it is known: the frame then states it, which some
    /// readers require.
    ///
    /// # Errors
    /// `Usage` for an invalid level, `Io` when memory runs out.
    pub fn new(level: Option<i32>, len: Option<u64>) -> Result<Self> {
        let level = level_in("zstd", level, -7..=22, 3)?;
        let mut context = CCtx::try_create().ok_or_else(out_of_memory)?;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(refused)?;
        context.set_pledged_src_size(len).map_err(refused)?;
        Ok(Self(context))
    }

    /// Takes the next bytes, and appends the finished output to `out`.
    ///
    /// # Errors
    /// `Usage` when there are more than were announced, `Io` when the library fails.
    pub fn push(&mut self, src: &[u8], out: &mut Vec<u8>) -> Result<()> {
        let mut input = InBuffer::around(src);
        while input.pos() < src.len() {
            self.step(out, |context, output| context.compress_stream(output, &mut input))?;
        }
        Ok(())
    }

    /// Appends the rest of the frame to `out`.
    ///
    /// # Errors
    /// `Usage` when there were fewer bytes than announced, `Io` when the library fails.
    pub fn finish(mut self, out: &mut Vec<u8>) -> Result<()> {
        while self.step(out, CCtx::end_stream)? > 0 {}
        Ok(())
    }

    fn step(
        &mut self,
        out: &mut Vec<u8>,
        run: impl FnOnce(&mut CCtx<'static>, &mut OutBuffer<'_, Vec<u8>>) -> zstd_safe::SafeResult,
    ) -> Result<usize> {
        make_room(out, CCtx::out_size())?;
        let end = out.len();
        run(&mut self.0, &mut OutBuffer::around_pos(out, end)).map_err(|code| {
            if is(code, ZSTD_ErrorCode::ZSTD_error_srcSize_wrong) {
                Error::usage("the number of bytes differs from the announced one")
            } else {
                refused(code)
            }
        })
    }
}

impl std::fmt::Debug for FrameEncoder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("FrameEncoder").finish_non_exhaustive()
    }
}

/// Encodes many frames with one context, at one level, and with a dictionary if one is given. Each frame states its content size, lacks a
/// checksum, and depends on the source alone.
pub struct Compressor(CCtx<'static>);

impl Compressor {
    /// An encoder at `level`, -7 to 22; 0 is 3.
    ///
    /// # Errors
    /// `Usage` for an invalid level, `Io` when memory runs out.
    pub fn new(level: i32) -> Result<Self> {
        let level = level_in("zstd", Some(level), -7..=22, 3)?;
        let mut context = CCtx::try_create().ok_or_else(out_of_memory)?;
        context.set_parameter(CParameter::CompressionLevel(level)).map_err(refused)?;
        Ok(Self(context))
    }

    /// Copies `dictionary`, trained or any other bytes, for every frame from now on; empty for none. It is digested once, at
    /// the level of this encoder.
    ///
    /// # Errors
    /// `Io` when the library refuses it.
    pub fn set_dictionary(&mut self, dictionary: &[u8]) -> Result<()> {
        self.0.load_dictionary(dictionary).map(drop).map_err(refused)
    }

    /// Writes the frame of `src` to the front of `dst`, and gives its length; `None` when it is longer than `dst`, which then
    /// holds unspecified bytes.
    ///
    /// # Errors
    /// `Io` when the library fails in any other way.
    pub fn encode(&mut self, src: &[u8], dst: &mut [u8]) -> Result<Option<usize>> {
        match self.0.compress2(dst, src) {
            Ok(made) => Ok(Some(made)),
            Err(code) => {
                self.0.reset(ResetDirective::SessionOnly).map_err(refused)?;
                if is(code, ZSTD_ErrorCode::ZSTD_error_dstSize_tooSmall) {
                    Ok(None)
                } else {
                    Err(refused(code))
                }
            }
        }
    }
}

impl std::fmt::Debug for Compressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Compressor").finish_non_exhaustive()
    }
}

/// Trains a dictionary of at most `max_len` bytes for data like `samples`, which are stored contiguously with the lengths `sizes`; `None`
/// when training fails.
#[must_use]
pub fn train(samples: &[u8], sizes: &[usize], max_len: usize) -> Option<Vec<u8>> {
    ::zstd::dict::from_continuous(samples, sizes, max_len).ok().filter(|made| !made.is_empty())
}

/// Runs `decode`, and checks that it fills `dst` exactly.
fn fill(dst: &mut [u8], src: &[u8], decode: impl FnOnce(&mut [u8]) -> zstd_safe::SafeResult) -> Result<()> {
    // The library takes no bytes at all for no frames at all.
    if src.is_empty() {
        return Err(wrong_length("zstd", dst.len(), "the encoded data are empty"));
    }
    let made = decode(dst).map_err(|code| failed(code, dst.len()))?;
    if made < dst.len() {
        return Err(wrong_length("zstd", dst.len(), format!("only {made} found")));
    }
    Ok(())
}

fn out_of_memory() -> Error {
    io::Error::from(io::ErrorKind::OutOfMemory).into()
}

/// The error for a fault that no data can cause.
fn refused(code: usize) -> Error {
    if is(code, ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        out_of_memory()
    } else {
        io::Error::other(zstd_safe::get_error_name(code)).into()
    }
}

/// The library's codes are the negative of a stable enumeration.
const fn is(code: usize, known: ZSTD_ErrorCode) -> bool {
    code.wrapping_neg() == known as usize
}

/// The error for a failed decoding, by the library's code.
fn failed(code: usize, want: usize) -> Error {
    explained(code).unwrap_or_else(|| wrong_length("zstd", want, zstd_safe::get_error_name(code)))
}

/// Errors for which the data are not to blame.
fn explained(code: usize) -> Option<Error> {
    if is(code, ZSTD_ErrorCode::ZSTD_error_dictionary_wrong) {
        Some(Error::unsupported("these zstd data need a dictionary"))
    } else if is(code, ZSTD_ErrorCode::ZSTD_error_frameParameter_windowTooLarge) {
        Some(Error::unsupported(
            "these zstd data need a larger window than the library has, or than the limit on memory leaves",
        ))
    } else if is(code, ZSTD_ErrorCode::ZSTD_error_memory_allocation) {
        Some(out_of_memory())
    } else {
        None
    }
}
