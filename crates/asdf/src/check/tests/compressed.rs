//! Compressed blocks.

use std::sync::Arc;

use container_codecs::zlib::Zlib;
use container_core::codec::{Codec, Encoded, Take};

use super::*;

/// Compressed blocks are decoded, however many there are, even where their digests fit.
#[test]
fn many_compressed_blocks_are_each_decoded() {
    let data = b"ab".repeat(20);
    let blocks: Vec<(&[u8], &[u8])> = (0..20).map(|_| (&ZLIB[..], &data[..])).collect();
    let good = file(&blocks, *b"zlib", |_, _| {});
    let legacy: [u8; 16] = Algorithm::Md5.digest(&data).as_bytes().try_into().unwrap();
    let odd = file(&blocks, *b"zlib", |at, header| match at {
        3 | 17 => header.data_size = 41,
        5 => header.checksum = legacy,
        _ => {}
    });
    for threads in [1, 3, 40] {
        let found = report(&good, CheckDepth::Full, threads);
        assert_eq!((codes(&found), found.blocks), (vec![], BlockCounts { total: 20, checked: 20, bad: 0 }));
        let found = report(&odd, CheckDepth::Full, threads);
        let damaged = [("undecodable_block", Some("a3")), ("undecodable_block", Some("a17"))];
        assert_eq!(codes(&found), [&damaged[..], &[("legacy_checksum", Some("a5"))]].concat());
        assert_eq!(found.blocks, BlockCounts { total: 20, checked: 20, bad: 2 });
    }
}

/// zlib, with a record of how many blocks were decoded at once, and how many in pieces.
#[derive(Clone, Default)]
struct Recorded(Arc<[AtomicUsize; 2]>);

impl Recorded {
    fn add(&self, is_in_pieces: bool) {
        self.0[usize::from(is_in_pieces)].fetch_add(1, Ordering::Relaxed);
    }
}

impl Codec for Recorded {
    fn name(&self) -> &str {
        "zlib"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        Zlib.decode(src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.add(false);
        Zlib.decode_range(encoded, range, dst)
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        self.add(true);
        Zlib.decode_in_pieces(encoded, take)
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        Zlib.encode(src, level, out)
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        Zlib.max_encoded_len(len)
    }
}

/// The blocks that are checked at a time share a quarter of the memory: what is larger than its share is decoded in pieces.
#[test]
fn blocks_are_decoded_at_once_within_a_quarter_of_memory() {
    const MEMORY: u64 = 400_000;
    let checked = |len: u32, count: usize, threads: usize| {
        let data: Vec<u8> = (0..len).map(|at| (at / 3 % 251).to_le_bytes()[0]).collect();
        let mut stored = Vec::new();
        Zlib.encode(&data, None, &mut stored).unwrap();
        let made = file(&vec![(&stored[..], &data[..]); count], *b"zlib", |_, _| {});
        let bytes = made.source().read(0..made.source().len()).unwrap().into_owned();
        let recorded = Recorded::default();
        let mut codecs = crate::compression::codecs();
        codecs.register(recorded.clone());
        let file = File::from_bytes(bytes, crate::OpenOptions::default().with_codecs(codecs)).unwrap();
        let limits = container_core::Limits::default().with_memory(MEMORY);
        let options = ReadOptions::default().with_limits(limits).with_threads(threads);
        let found =
            check(&file, None, &of_blocks(&file), CheckDepth::Full, &options, Progress::none()).unwrap();
        assert_eq!(found.verdict(), Verdict::Sound);
        [0, 1].map(|kind| recorded.0[kind].load(Ordering::Relaxed))
    };
    assert_eq!(checked(100_000, 1, 1), [1, 0]);
    assert_eq!(checked(100_001, 1, 1), [0, 1]);
    assert_eq!(checked(100_000, 2, 1), [2, 0]);
    assert_eq!(checked(50_000, 2, 2), [2, 0]);
    assert_eq!(checked(50_001, 2, 2), [0, 2]);
    // A thread without a block needs no share.
    assert_eq!(checked(50_000, 2, 8), [2, 0]);
}
