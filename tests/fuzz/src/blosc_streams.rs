//! BloscLZ and LZ4 streams, in chunks that hold nothing else, against lz4_flex and against BloscLZ's description.

use blosc_chunk::{Chunk, Decoder};
use container_codecs::lz4::block_shape;

use crate::feed::Feed;
use crate::lens::look_at_error;

/// Most bytes that are decoded.
const MAX_DECODED: usize = 1 << 17;

/// A stream decodes to what another decoder makes of it, or fails as there; so does its start.
pub fn blosclz_lz4_streams(data: &[u8]) {
    let mut feed = Feed::new(data);
    let (is_old, off) = (feed.flag(), feed.below(3));
    let dictionary = if feed.flag() { Vec::new() } else { long(feed.below(64), &mut feed) };
    let stream = feed.rest();
    let blosclz = by_the_book(stream);
    let len = blosclz.len() + off;
    compare(&Parts { format: 0, is_old, stream, dictionary: &[], len }, &blosclz.checked(len), &mut feed);
    let shape = block_shape(stream, MAX_DECODED as u64);
    let len = shape.decoded_len as usize + off;
    let mut dst = vec![0; len];
    let whole = lz4_flex::block::decompress_into(stream, &mut dst).is_ok_and(|made| made == len);
    compare(&Parts { format: 1, is_old, stream, dictionary: &[], len }, &whole.then_some(dst), &mut feed);
    if !dictionary.is_empty() {
        // Offsets that reach into the dictionary end the walk, so the length is a choice.
        let len = if feed.flag() { len } else { feed.below(1 << 12) };
        let mut dst = vec![0; len];
        let made = lz4_flex::block::decompress_into_with_dict(stream, &mut dst, &dictionary);
        let whole = made.is_ok_and(|made| made == len).then_some(dst);
        let dictionary = &dictionary;
        compare(&Parts { format: 1, is_old: false, stream, dictionary, len }, &whole, &mut feed);
    }
}

/// A dictionary of `len` bytes, or of many more.
fn long(len: usize, feed: &mut Feed<'_>) -> Vec<u8> {
    let seed = feed.fill(len.max(1));
    let len = if len == 63 { 70_000 } else { len };
    seed.iter().copied().cycle().take(len).collect()
}

struct Parts<'a> {
    format: u8,
    is_old: bool,
    stream: &'a [u8],
    dictionary: &'a [u8],
    len: usize,
}

impl Parts<'_> {
    /// One block of one stream of single bytes.
    fn chunk(&self) -> Vec<u8> {
        let flags = self.format << 5 | 0x10;
        let mut chunk = if self.is_old { vec![2, 1, flags, 1] } else { vec![5, 1, flags | 5, 1] };
        let head = if self.is_old { 16 } else { 32 };
        let prefix = if self.dictionary.is_empty() { 0 } else { 4 + self.dictionary.len() };
        let start = head + 4 + prefix;
        let word = |number: usize| (number as u32).to_le_bytes();
        for number in [self.len, self.len, start + 4 + self.stream.len()] {
            chunk.extend(word(number));
        }
        if !self.is_old {
            chunk.extend([0, 0, 0, 0, 0, 0, self.format, 0, 0, 0, 0, 0, 0, 0, 0, u8::from(prefix > 0)]);
        }
        chunk.extend(word(start));
        if prefix > 0 {
            chunk.extend(word(self.dictionary.len()));
            chunk.extend(self.dictionary);
        }
        chunk.extend(word(self.stream.len()));
        chunk.extend(self.stream);
        chunk
    }
}

fn compare(parts: &Parts<'_>, expected: &Option<Vec<u8>>, feed: &mut Feed<'_>) {
    // A stream is shorter than what it holds, or it is stored.
    if parts.len > MAX_DECODED || parts.stream.len() >= parts.len || parts.stream.is_empty() {
        return;
    }
    let bytes = parts.chunk();
    let chunk = Chunk::parse(&bytes).expect("a chunk like any other");
    let mut decoder = Decoder::new();
    let mut dst = vec![0xa5; parts.len];
    match (decoder.decode(&chunk, &mut dst), expected) {
        (Ok(()), Some(expected)) => assert!(dst == *expected, "format {}", parts.format),
        (Err(error), None) => {
            look_at_error(&error);
            assert!(error.is_damage());
            let range = error.range().expect("the stream");
            assert!(range.end as usize == bytes.len() && range.start <= range.end, "{error}");
        }
        (have, expected) => panic!("format {}: {have:?}, to be {:?}", parts.format, expected.is_some()),
    }
    let Some(expected) = expected else { return };
    for _ in 0..3 {
        let start = feed.word() as usize % parts.len;
        let end = start + feed.word() as usize % (parts.len - start + 1);
        let mut dst = vec![0xa5; end - start];
        decoder.decode_range(&chunk, start..end, &mut dst).expect("a part of what decodes");
        assert!(dst == expected[start..end], "format {}, {start}..{end}", parts.format);
    }
}

/// Decoded bytes of a BloscLZ stream, up to its first error or past [`MAX_DECODED`].
struct Decoded {
    bytes: Vec<u8>,
    complete: bool,
}

impl Decoded {
    fn len(&self) -> usize {
        self.bytes.len()
    }

    fn checked(self, len: usize) -> Option<Vec<u8>> {
        (self.complete && self.bytes.len() == len).then_some(self.bytes)
    }
}

fn by_the_book(stream: &[u8]) -> Decoded {
    let mut bytes = Vec::new();
    let complete = runs(&mut stream.iter().copied(), &mut bytes).is_some();
    Decoded { bytes, complete }
}

/// Control bytes: up to 31 a run of literals, else the length of a match in the upper bits and its distance in the lower ones. The
/// stream ends after literals.
fn runs(src: &mut (impl ExactSizeIterator<Item = u8> + Clone), out: &mut Vec<u8>) -> Option<()> {
    let mut control = usize::from(src.next()? & 31);
    while out.len() <= MAX_DECODED {
        if control < 32 {
            for _ in 0..=control {
                out.push(src.next()?);
            }
            if src.len() == 0 {
                return Some(());
            }
        } else {
            let (mut len, high) = ((control >> 5) - 1, (control & 31) << 8);
            if len == 6 {
                loop {
                    let more = src.next()?;
                    len += usize::from(more);
                    if more != 255 {
                        break;
                    }
                }
            }
            let low = usize::from(src.next()?);
            let mut distance = high + low + 1;
            if low == 255 && high == 31 << 8 {
                distance = usize::from(src.next()?) * 256 + usize::from(src.next()?) + 8192;
            }
            let from = out.len().checked_sub(distance)?;
            for at in from..from + len + 3 {
                out.push(out[at]);
            }
        }
        control = usize::from(src.next()?);
    }
    None
}
