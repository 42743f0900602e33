//! Compressed blocks.

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
