//! xz files as blocks (<https://tukaani.org/xz/xz-file-format.txt>), by lzma-rust2.

use std::io;
use std::ops::Range;

use lzma_rust2::{Action, Status, XzStream};

use super::feed::Feed;
use super::streaming::{Decoder, Fault, Part, pass, reach};
use container_core::codec::{Codec, Encoded, Take};
use container_core::{Error, Limits, Result, Stop};

/// `xz`: any number of xz streams, with stream padding. Only reads.
#[derive(Clone, Copy, Debug, Default)]
pub struct Xz;

impl Codec for Xz {
    fn name(&self) -> &str {
        "xz"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        let limits = Limits::default();
        let (len, src) = (src.len(), Feed::all(src));
        Part { name: "xz", src, skip: 0, dst, stop: Stop::never(), to_end: true }
            .run(|| Ok(Streaming::new(len, &limits)))
    }

    /// Decodes from the start up to the end of `range`, on one thread.
    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        encoded.check(&range, dst)?;
        let (src, to_end) = (Feed::of(encoded)?, range.end == encoded.decoded_len);
        let len = usize::try_from(src.len()).unwrap_or(usize::MAX);
        Part { name: "xz", src, skip: range.start, dst, stop: encoded.limits.stop, to_end }
            .run(|| Ok(Streaming::new(len, encoded.limits)))
    }

    fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
        Err(Error::unsupported("xz data are only read").with_hint("zstd or bzp2 compress about as well"))
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        let len =
            usize::try_from(encoded.range.end.saturating_sub(encoded.range.start)).unwrap_or(usize::MAX);
        pass("xz", encoded, take, || Ok(Streaming::new(len, encoded.limits)))
    }

    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        let src = &*encoded.bytes()?;
        reach(src, encoded.decoded_len, encoded.limits.stop, || {
            || Ok(Streaming::new(src.len(), encoded.limits))
        })
        .map(Some)
    }

    fn max_encoded_len(&self, _len: usize) -> usize {
        0
    }
}

/// All streams of a source: the library goes from one to the next.
struct Streaming {
    stream: XzStream,
    src_len: usize,
    /// The limit on memory.
    memory: u64,
}

impl Streaming {
    fn new(src_len: usize, limits: &Limits) -> Self {
        // The dictionary, which the data declare, takes most of the memory.
        let most = u32::try_from(limits.memory >> 10).unwrap_or(u32::MAX);
        Self { stream: XzStream::new_mem_limit(true, most), src_len, memory: limits.memory }
    }
}

impl Decoder for Streaming {
    fn step(&mut self, src: &[u8], dst: &mut [u8]) -> Result<bool, Fault> {
        let seen = self.stream.total_in().saturating_add(src.len() as u64);
        let action = if seen < self.src_len as u64 { Action::Run } else { Action::Finish };
        match self.stream.process(src, dst, action) {
            // Streams may follow each other, so only the end of the source is the end.
            Ok(result) => Ok(result.status == Status::StreamEnd),
            Err(error) if error.kind() == io::ErrorKind::OutOfMemory => {
                let needed = u64::from(self.stream.memory_usage().unwrap_or(0)).saturating_mul(1024);
                Err(Fault::Other(Error::limit("memory in bytes for xz data", needed, self.memory)))
            }
            Err(error) if error.kind() == io::ErrorKind::Unsupported => {
                Err(Fault::Other(Error::unsupported(format!("xz data: {error}"))))
            }
            Err(error) => Err(Fault::Damage(error.to_string().into())),
        }
    }

    fn total_in(&self) -> u64 {
        self.stream.total_in()
    }

    fn total_out(&self) -> u64 {
        self.stream.total_out()
    }
}
