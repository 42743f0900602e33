//! False claims of a chunk, row by row of the list of traps: the kind of the error, and the bytes it is about.

use blosc_chunk::{Chunk, Decoder};
use container_core::{ErrorKind, Limits, Result};

/// Makes a 32-byte header: flags, typesize, nbytes, blocksize, the three bytes of codec and flags at 22, 30 and 31; then the
/// rest.
fn chunk(flags: u8, typesize: u8, sizes: [u32; 2], more: [u8; 3], rest: &[u8]) -> Vec<u8> {
    let cbytes = u32::try_from(32 + rest.len()).unwrap();
    let mut bytes = vec![if more[1] == 1 { 6 } else { 5 }, 1, flags, typesize];
    bytes.extend([sizes[0], sizes[1], cbytes].into_iter().flat_map(u32::to_le_bytes));
    bytes.resize(32, 0);
    [bytes[22], bytes[30], bytes[31]] = more;
    bytes.extend(rest);
    bytes
}

/// Encodes little-endian words.
fn words(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

/// Makes one unsplit block of 64 bytes, typesize 1, in one stream.
fn stream(format: u8, size: u32, stream: &[u8]) -> Vec<u8> {
    let codec = [0, 1, 3, 4, 5][usize::from(format)];
    let rest = [&words(&[36, size])[..], stream].concat();
    chunk(0x15 | format << 5, 1, [64, 64], [codec, 0, 0], &rest)
}

fn coded(format: u8, bytes: &[u8]) -> Vec<u8> {
    stream(format, u32::try_from(bytes.len()).unwrap(), bytes)
}

fn decode(bytes: &[u8]) -> Result<Vec<u8>> {
    let chunk = Chunk::parse(bytes)?;
    let mut dst = vec![0; chunk.nbytes()];
    Decoder::new().decode(&chunk, &mut dst)?;
    Ok(dst)
}

fn patched(mut bytes: Vec<u8>, at: usize, patch: &[u8]) -> Vec<u8> {
    bytes[at..at + patch.len()].copy_from_slice(patch);
    bytes
}

/// Makes a stored stream without damage.
fn sound() -> Vec<u8> {
    coded(0, &[7; 64])
}

#[track_caller]
fn malformed(trap: &str, bytes: &[u8], range: std::ops::Range<u64>) {
    let error = decode(bytes).expect_err(trap);
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{trap}: {error}");
    assert_eq!(error.range(), Some(range), "{trap}: {error}");
}

#[test]
fn the_sound_one_decodes() {
    assert_eq!(decode(&sound()).unwrap(), [7; 64]);
}

#[test]
fn inconsistent_headers_are_refused() {
    let over = patched(sound(), 12, &words(&[200]));
    let error = decode(&over).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 200, have: 104 }), "{error}");
    assert_eq!(error.range(), Some(0..200));
    malformed("cbytes < 32", &patched(sound(), 12, &words(&[31])), 12..16);
    malformed("typesize 0", &patched(sound(), 3, &[0]), 3..4);
    malformed("blocksize 0", &patched(sound(), 8, &words(&[0])), 8..12);
    malformed("blocksize over 512 MiB", &patched(sound(), 8, &words(&[536_866_817])), 8..12);
    malformed("blocksize negative", &patched(sound(), 8, &words(&[u32::MAX])), 8..12);
    malformed("nbytes negative", &patched(sound(), 4, &words(&[1 << 31])), 4..8);
    malformed("lazy", &patched(sound(), 31, &[8]), 31..32);
    malformed("dictionary for BloscLZ", &patched(sound(), 31, &[1]), 31..32);
    malformed("memcpyed, cbytes", &patched(sound(), 2, &[7]), 12..16);
    for (at, patch) in [(30, 2), (31, 4), (31, 0x50), (2, 0xb5), (0, 7)] {
        let error = decode(&patched(sound(), at, &[patch])).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "byte {at}: {error}");
        assert_eq!(error.range(), Some(at as u64..at as u64 + 1));
    }
}

#[test]
fn invalid_block_starts_are_malformed() {
    for start in [0, 31, 32, 35, 101, 104, 1 << 31, u32::MAX] {
        malformed("bstart", &patched(sound(), 32, &words(&[start])), 32..36);
    }
    // 2 GiB in blocks of one byte.
    malformed("nblocks", &chunk(0x15, 1, [0x7fff_ffdf, 1], [0; 3], &[0; 40]), 32..72);
}

#[test]
fn huge_special_values_decode_and_invalid_ones_are_malformed() {
    let zeros = chunk(5, 1, [0x7fff_ffdf, 1 << 20], [0, 0, 0x10], &[]);
    let mut part = [9; 5];
    let parsed = Chunk::parse(&zeros).unwrap();
    Decoder::new().decode_range(&parsed, 0x7fff_0000..0x7fff_0005, &mut part).unwrap();
    assert_eq!(part, [0; 5]);
    malformed("zeros with bytes", &chunk(5, 1, [64, 64], [0, 0, 0x10], b"x"), 12..16);
    malformed("NaN with a typesize of 2 (expected 4 or 8)", &chunk(5, 2, [64, 64], [0, 0, 0x20], &[]), 3..4);
    malformed("half a NaN", &chunk(5, 4, [66, 64], [0, 0, 0x20], &[]), 4..8);
    for value in [&b""[..], b"abc", &[1; 65]] {
        malformed("repeated value", &chunk(5, 1, [64, 64], [0, 0, 0x30], value), 12..16);
    }
}

#[test]
fn invalid_dictionary_sizes_are_malformed() {
    for size in [0, 5, (128 << 10) + 1, u32::MAX] {
        let rest = [&words(&[44, size])[..], &[0; 4]].concat();
        malformed("dsize", &chunk(0x35, 1, [64, 64], [1, 0, 1], &rest), 36..40);
    }
    let cut = chunk(0x35, 1, [64, 64], [1, 0, 1], &words(&[44]));
    malformed("no dsize", &cut, 36..40);
}

#[test]
fn inconsistent_variable_length_blocks_are_malformed() {
    let two = |starts: [u32; 2], lens: [u32; 2], nbytes: u32| {
        let rest = [words(&starts), words(&lens[..1]), vec![1; 4], words(&lens[1..]), vec![2; 4]].concat();
        chunk(0x35, 1, [nbytes, 2], [1, 1, 0], &rest)
    };
    assert_eq!(decode(&two([40, 48], [4, 4], 8)).unwrap(), [1, 1, 1, 1, 2, 2, 2, 2]);
    malformed("wrong sum", &two([40, 48], [4, 4], 9), 4..8);
    malformed("falling starts", &two([48, 40], [4, 4], 8), 32..36);
    malformed("equal starts", &two([40, 40], [4, 4], 8), 32..36);
    malformed("an empty block", &two([40, 48], [0, 8], 8), 40..44);
    malformed("a sum past 2^32", &two([40, 48], [u32::MAX, 9], 8), 40..44);
}

#[test]
fn invalid_streams_are_malformed() {
    malformed("csize past the chunk", &stream(0, 65, &[7; 64]), 36..40);
    malformed("csize 2^31 - 1", &stream(0, 0x7fff_ffff, &[7; 64]), 36..40);
    malformed("a run of no byte", &stream(0, (-256_i32).cast_unsigned(), &[1; 64]), 36..40);
    malformed("an unknown token", &stream(0, (-5_i32).cast_unsigned(), &[2]), 36..41);
    malformed("no token", &stream(0, (-5_i32).cast_unsigned(), &[]), 36..41);
    // Streams: kind alone is the same for all codecs, the place is within the stream.
    // By Python: `zlib.compress(bytes(65))`.
    let zeros_zlib = b"\x78\x9c\x63\x60\xa0\x10\x00\x00\x00\x41\x00\x01";
    for (trap, format, bytes) in [
        ("BloscLZ: distance past the start", 0, &b"\x20a\xe0\x10\x09\x00a"[..]),
        ("BloscLZ: run of lengths without end", 0, b"\x20a\xe0\xff\xff\xff"),
        ("BloscLZ: ends in a match", 0, b"\x20a\xe0\x35\x00"),
        ("BloscLZ: one byte too many", 0, b"\x20a\xe0\x36\x00\x00a"),
        ("LZ4: offset 0", 1, b"\x1fa\0\0\x20\x10a"),
        ("LZ4: offset past the start", 1, b"\x1fa\x02\0\x20\x10a"),
        ("LZ4: cut", 1, b"\xf0\xff"),
        ("zlib: longer than the block", 3, zeros_zlib),
        ("zlib: no zlib", 3, b"no zlib at all"),
        ("zstd: no frame", 4, b"no frame at all"),
    ] {
        let bytes = coded(format, bytes);
        let error = decode(&bytes).expect_err(trap);
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{trap}: {error}");
        let range = error.range().unwrap();
        assert!(range.start >= 40 && range.end == bytes.len() as u64, "{trap}: {error}");
    }
    // Magic, a window of 2^41 bytes, and an empty block.
    let error = decode(&coded(4, b"\x28\xb5\x2f\xfd\0\xf8\x01\0\0")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
    assert_eq!(error.range(), Some(40..49));
}

/// Few bytes that claim to be one block of 512 MiB.
#[test]
fn blocks_are_held_against_the_limit() {
    let rest = [&words(&[36, 4])[..], b"\x1fa\x01\0"].concat();
    let bytes = chunk(0x34 | 1, 1, [536_866_816, 536_866_816], [1, 0, 0], &rest);
    let chunk = Chunk::parse(&bytes).unwrap();
    let mut decoder = Decoder::new().with_limits(Limits::default().with_memory(1 << 20));
    let error = decoder.decode_range(&chunk, 0..9, &mut [0; 9]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}
