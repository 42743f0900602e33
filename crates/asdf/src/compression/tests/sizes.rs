//! Lengths that stored bytes cannot reach.

use super::*;

/// The most that ten bytes can decode to: 258 bytes for 2 bits of Deflate, 255 for one of LZ4, 128 KiB for four of zstd, and of bzip2 900 000 for twenty,
/// where runs expand five bytes to 259.
#[test]
fn stored_bytes_reach_no_more_than_their_codec_can() {
    let block = |label: &[u8; 4], data_size: u64| {
        let header = crate::BlockHeader {
            header_size: 48,
            flags: 0,
            compression: *label,
            allocated_size: 10,
            used_size: 10,
            data_size,
            checksum: [0; 16],
        };
        StoredBlock { index: 0, at: 0, header, data: 54..64, end: 64 }
    };
    let zstd = 10 * (128 << 10) / 4;
    let bzip2 = 10 * (900_000 / 5 * 259) / 20;
    for (label, most) in
        [(b"zlib", 10_320), (b"lz4\0", 2550), (b"lz4f", 2550), (b"zstd", zstd), (b"bzp2", bzip2)]
    {
        assert_eq!(size_contradiction(&block(label, most)), None, "{label:?}");
        let problem = size_contradiction(&block(label, most + 1)).unwrap();
        assert!(problem.contains("10 ") && problem.contains(&(most + 1).to_string()), "{problem}");
    }
    for label in [b"blsc", b"\0\0\0\0", b"what"] {
        assert_eq!(size_contradiction(&block(label, u64::MAX)), None, "{label:?}");
    }
}
