use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::tests::{for_each_vector, noise};
use crate::zlib::Zlib;
use container_core::codec::Codec;
use container_core::{ErrorKind, Limits};

/// A source that never lends and counts the bytes that are read.
struct Counted<'a>(&'a [u8], AtomicU64);

impl Source for Counted<'_> {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
}

/// Encoded bytes of more windows than one, and their decoded bytes: streams of other implementations, one after the other.
fn for_each_long(mut check: impl FnMut(&dyn Codec, &[u8], &[u8])) {
    let data = noise(1 << 20);
    let mut encoded = Vec::new();
    Zlib.encode(&data, Some(1), &mut encoded).unwrap();
    check(&Zlib, &encoded, &data);
    for_each_vector(|codec, src, data| {
        // Zlib streams and LZ4 blocks cannot be repeated; repeated empty input stays empty.
        let times = (1 << 20) / src.len() + 1;
        if matches!(codec.name(), "zlib" | "lz4") || data.is_empty() || data.len() * times > 32 << 20 {
            return;
        }
        check(codec, &src.repeat(times), &data.repeat(times));
    });
}

/// Decodes a range of `src` by position; returns the number of bytes read as well.
fn read(codec: &dyn Codec, src: &[u8], len: usize, range: Range<usize>) -> (Result<Vec<u8>>, u64) {
    let (source, limits) = (Counted(src, AtomicU64::new(0)), Limits::default());
    let encoded = Encoded {
        source: &source,
        range: 0..src.len() as u64,
        decoded_len: len as u64,
        limits: &limits,
        threads: 2,
    };
    let mut dst = vec![0; range.len()];
    let done = codec.decode_range(&encoded, range.start as u64..range.end as u64, &mut dst);
    (done.map(|()| dst), source.1.into_inner())
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn a_part_is_read_from_no_more_than_the_bytes_up_to_its_end() {
    let mut names = std::collections::BTreeSet::new();
    for_each_long(|codec, src, data| {
        let len = data.len();
        for (from, to) in [(0, 1), (10, len / 100), (len / 4, len / 4 + 10), (len / 2, len / 2 + len / 50)] {
            let (part, count) = read(codec, src, len, from..to);
            assert!(part.unwrap() == data[from..to], "{}, {from}..{to}", codec.name());
            let share = src.len() as u64 * to as u64 / len as u64;
            // The window or front that is read last, which is in proportion to those before.
            let most = share + share.max(128 << 10);
            assert!(
                count <= most.min(src.len() as u64),
                "{}, {from}..{to}: {count} of {}",
                codec.name(),
                src.len()
            );
        }
        let (all, count) = read(codec, src, len, 0..len);
        assert!(all.unwrap() == data && count == src.len() as u64, "{}", codec.name());
        let (end, count) = read(codec, src, len, len - 7..len);
        assert!(end.unwrap() == data[len - 7..] && count <= src.len() as u64, "{}", codec.name());
        names.insert(codec.name().to_owned());
    });
    assert!(["bzp2", "lz4f", "xz", "zlib", "zstd"].iter().all(|name| names.contains(*name)), "{names:?}");
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn pieces_are_made_of_bytes_that_are_read_once() {
    for_each_long(|codec, src, data| {
        let (source, limits) = (Counted(src, AtomicU64::new(0)), Limits::default());
        let encoded = Encoded {
            source: &source,
            range: 0..src.len() as u64,
            decoded_len: data.len() as u64,
            limits: &limits,
            threads: 1,
        };
        let mut all = Vec::new();
        let mut take = |piece: &[u8]| {
            all.extend_from_slice(piece);
            Ok(())
        };
        codec.decode_in_pieces(&encoded, &mut take).unwrap();
        assert!(all == data, "{}", codec.name());
        assert_eq!(source.1.into_inner(), src.len() as u64, "{}", codec.name());
    });
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn damage_after_a_part_is_ignored_and_damage_within_it_is_reported() {
    for_each_long(|codec, src, data| {
        let len = data.len();
        let mut cut = src.to_vec();
        let from = src.len() / 4 * 3;
        cut[from..].fill(0x55);
        let (part, _) = read(codec, &cut, len, len / 10..len / 5);
        assert!(part.unwrap() == data[len / 10..len / 5], "{}", codec.name());
        // Blocks of LZ4 without a digest may decode to anything, and so may codes of Deflate.
        if !matches!(codec.name(), "lz4f" | "zlib") {
            let error = read(codec, &cut, len, len - 10..len - 1).0.unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{}: {error}", codec.name());
        }
        // Bytes that end too early, however they are read.
        let error = read(codec, &src[..from], len, len - 10..len).0.unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{}: {error}", codec.name());
    });
}

/// Bytes that are handed over two by two, as a decoder requests more than a window has.
#[test]
fn a_decoder_that_takes_no_less_gets_more() {
    let src = noise(300 << 10);
    let source = Counted(&src, AtomicU64::new(0));
    let limits = Limits::default();
    let encoded =
        Encoded { source: &source, range: 5..src.len() as u64, decoded_len: 1, limits: &limits, threads: 1 };
    let mut feed = Feed::of(&encoded).unwrap();
    assert!(feed.from(10).unwrap() == &src[15..15 + (64 << 10)]);
    let mut known = feed.from(40).unwrap().len();
    while feed.extend(40).unwrap() {
        let now = feed.from(40).unwrap();
        assert!(now.len() > known && now == &src[45..45 + now.len()]);
        known = now.len();
    }
    assert!(feed.from(40).unwrap() == &src[45..] && feed.from(feed.len()).unwrap().is_empty());
}
