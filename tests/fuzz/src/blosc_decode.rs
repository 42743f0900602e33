//! Blosc chunks of any bytes: whole, in parts, on threads.

use std::mem::{Discriminant, discriminant};
use std::ops::Range;

use blosc_chunk::{Chunk, Decoder, Geometry, Header};
use container_core::{Error, ErrorKind, Limits, Result};

use crate::feed::Feed;
use crate::lens::look_at_error;

/// Most bytes that are decoded as a whole.
const MAX_DECODED: usize = 1 << 15;

/// Memory limit of a block, in bytes. Far more than [`MAX_DECODED`] is announced in a few bytes.
const MEMORY: u64 = 4 << 20;

/// Whatever way is taken, the bytes are the same; nothing is taken from outside of the chunk, and nothing is left out.
pub fn blosc_chunk_decode(data: &[u8]) {
    let mut feed = Feed::derived(data);
    let header = Header::parse_with_starts(data);
    let chunk = match Chunk::parse(data) {
        Ok(chunk) => chunk,
        Err(error) => return look_at_error(&error),
    };
    let header = header.expect("the chunk has one");
    assert_eq!(chunk.header(), &header);
    encodes_again(&header);
    assert!(chunk.bytes().len() == header.cbytes as usize && data.starts_with(chunk.bytes()));
    assert_eq!(chunk.nbytes(), header.nbytes as usize);
    let mut looked = 0;
    for (index, block) in chunk.blocks().enumerate().take(1 << 12) {
        assert_eq!((block.start, block.len()), (looked, chunk.block_len(index)));
        looked = block.end;
    }
    assert!(looked == chunk.nbytes() || chunk.block_count() > 1 << 12 || looked == 0);
    let mut plain = Reading::new(&chunk, Geometry::default());
    plain.all_ways(&mut feed);
    let shape = (0..feed.below(4)).map(|_| 1 + feed.below(16)).collect();
    let typesize = feed.one_of(&[None, Some(1), Some(4), Some(300)]);
    let mut shaped = Reading::new(&chunk, Geometry { typesize, blockshape: shape });
    shaped.all_ways(&mut feed);
}

/// Checks that a header that was parsed and written parses as the same.
fn encodes_again(header: &Header) {
    let mut bytes = Vec::new();
    header.encode(&mut bytes);
    assert_eq!(bytes.len(), header.len());
    assert_eq!(&Header::parse(&bytes).expect("what was written"), header);
}

/// Returns kind and range of an error. Not libzstd's reason, which depends on what the context decoded before.
fn told(error: &Error) -> (Discriminant<ErrorKind>, Option<Range<u64>>) {
    (discriminant(error.kind()), error.range())
}

struct Reading<'c, 'a> {
    chunk: &'c Chunk<'a>,
    decoder: Decoder,
    geometry: Geometry,
}

impl<'c, 'a> Reading<'c, 'a> {
    fn new(chunk: &'c Chunk<'a>, geometry: Geometry) -> Self {
        Self { chunk, decoder: decoder(&geometry), geometry }
    }

    fn all_ways(&mut self, feed: &mut Feed<'_>) {
        let len = self.chunk.nbytes();
        if len > MAX_DECODED {
            return self.far(feed);
        }
        let whole = self.whole();
        self.threads(&whole, feed);
        self.ranges(&whole, feed);
        self.blocks(&whole, feed);
        assert!(self.decoder.decode(self.chunk, &mut vec![0; len + 1]).is_err());
        let past = self.decoder.decode_range(self.chunk, len..len + 1, &mut [0]);
        assert!(matches!(past.unwrap_err().kind(), ErrorKind::Usage(_)));
    }

    /// A few bytes of a chunk that says it holds many.
    fn far(&mut self, feed: &mut Feed<'_>) {
        let len = self.chunk.nbytes();
        for _ in 0..4 {
            let start = feed.word() as usize % len;
            let end = (start + feed.below(1 << 10)).min(len);
            let mut dst = vec![0xa5; end - start];
            if let Err(error) = self.decoder.decode_range(self.chunk, start..end, &mut dst) {
                known(&error);
            }
        }
    }

    /// All bytes, which no earlier content of the destination shows through.
    fn whole(&mut self) -> Result<Vec<u8>> {
        let decode = |decoder: &mut Decoder, fill| {
            let mut dst = vec![fill; self.chunk.nbytes()];
            decoder.decode(self.chunk, &mut dst).map(|()| dst)
        };
        let kept = decode(&mut self.decoder, 0xa5);
        let fresh = decode(&mut decoder(&self.geometry), 0x5a);
        match (&kept, &fresh) {
            (Ok(kept), Ok(fresh)) => assert!(kept == fresh, "not all of the destination is filled"),
            (Err(kept), Err(fresh)) => {
                known(kept);
                let range = kept.range().unwrap_or(0..0);
                assert!(range.start <= range.end, "{kept}");
                assert_eq!(told(kept), told(fresh));
            }
            _ => panic!("used before {kept:?}, fresh {fresh:?}"),
        }
        kept
    }

    fn threads(&mut self, whole: &Result<Vec<u8>>, feed: &mut Feed<'_>) {
        let mut dst = vec![0x5a; self.chunk.nbytes()];
        let threads = feed.threads();
        match (self.decoder.decode_parallel(self.chunk, &mut dst, threads), whole) {
            (Ok(()), Ok(whole)) => assert!(dst == *whole, "{threads} threads"),
            (Err(error), Err(single)) => assert_eq!(told(&error), told(single)),
            (one, other) => panic!("{threads} threads {one:?}, one {other:?}"),
        }
    }

    fn ranges(&mut self, whole: &Result<Vec<u8>>, feed: &mut Feed<'_>) {
        let len = self.chunk.nbytes();
        for turn in 0..10 {
            let (start, end) = match turn {
                0 => (0, len),
                1 => (len, len),
                _ => {
                    let start = feed.word() as usize % (len + 1);
                    let most = if turn < 6 { 40 } else { len };
                    (start, start + feed.word() as usize % (most.min(len - start) + 1))
                }
            };
            let mut dst = vec![0xa5; end - start];
            match (self.decoder.decode_range(self.chunk, start..end, &mut dst), whole) {
                (Ok(()), Ok(whole)) => assert!(dst == whole[start..end], "{start}..{end} of {len}"),
                // Not all of a damaged block need be looked at for a part of it.
                (Ok(()), Err(error)) => assert!((start, end) != (0, len) || len == 0, "whole {error}"),
                (Err(error), Err(_)) => known(&error),
                (Err(error), Ok(_)) => panic!("{start}..{end} of {len}: {error}"),
            }
        }
    }

    /// Pieces of the block `index`.
    fn runs(&mut self, index: usize, whole: &Result<Vec<u8>>, feed: &mut Feed<'_>) {
        let block = self.chunk.blocks().nth(index).expect("it is below the count");
        let mut runs = Vec::new();
        let mut at = 0;
        for _ in 0..feed.below(20) {
            let start = at + feed.word() as usize % (block.len() / 8 + 2);
            at = start + feed.below(30);
            if at > block.len() {
                break;
            }
            runs.push(start..at);
        }
        let mut dst = vec![0xa5; runs.iter().map(ExactSizeIterator::len).sum()];
        match (self.decoder.decode_runs(self.chunk, index, &runs, &mut dst), whole) {
            (Ok(()), Ok(whole)) => {
                let want: Vec<u8> =
                    runs.iter().flat_map(|run| &whole[block.clone()][run.clone()]).copied().collect();
                assert!(dst == want, "block {index} {runs:?}");
            }
            (Ok(()), Err(_)) => {}
            (Err(error), Ok(_)) => panic!("block {index} {runs:?}: {error}"),
            (Err(error), Err(_)) => known(&error),
        }
    }

    fn blocks(&mut self, whole: &Result<Vec<u8>>, feed: &mut Feed<'_>) {
        let len = self.chunk.nbytes();
        let wanted: Vec<bool> = (0..self.chunk.block_count()).map(|_| feed.flag()).collect();
        let mut dst = vec![0xa5; len];
        let decoded = self.decoder.decode_blocks(self.chunk, |index| wanted[index], &mut dst);
        for (index, block) in self.chunk.blocks().enumerate() {
            let untouched = dst[block.clone()].iter().all(|byte| *byte == 0xa5);
            assert!(wanted[index] || untouched, "block {index} was not wanted");
            if let (true, Ok(()), Ok(whole)) = (wanted[index], &decoded, whole) {
                assert!(dst[block.clone()] == whole[block], "block {index}");
            }
        }
        if let Err(error) = &decoded {
            assert!(whole.is_err(), "{error}");
        }
        let mut bad = false;
        let count = self.chunk.block_count();
        for turn in 0..count.min(32) {
            let index = if count <= 32 { turn } else { feed.word() as usize % count };
            let block = self.chunk.blocks().nth(index).expect("it is below the count");
            let mut dst = vec![0x5a; block.len()];
            match (self.decoder.decode_block(self.chunk, index, &mut dst), whole) {
                (Ok(()), Ok(whole)) => assert!(dst == whole[block], "block {index}"),
                (Ok(()), Err(_)) => {}
                (Err(error), Ok(_)) => panic!("block {index}: {error}"),
                (Err(error), Err(_)) => {
                    known(&error);
                    bad = true;
                }
            }
            self.runs(index, whole, feed);
        }
        let none_or_many = count == 0 || count > 32;
        assert!(bad || whole.is_ok() || none_or_many, "every block decodes, but not all of them: {whole:?}");
        assert!(self.decoder.decode_block(self.chunk, count, &mut []).is_err());
    }
}

fn decoder(geometry: &Geometry) -> Decoder {
    Decoder::new().with_geometry(geometry.clone()).with_limits(Limits::default().with_memory(MEMORY))
}

fn known(error: &Error) {
    look_at_error(error);
    let kind = error.kind();
    let is_known = matches!(
        kind,
        ErrorKind::Malformed(_)
            | ErrorKind::Unsupported(_)
            | ErrorKind::Limit { .. }
            | ErrorKind::Truncated { .. }
    );
    assert!(is_known, "{error}");
}
