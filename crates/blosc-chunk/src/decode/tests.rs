//! Chunks that other programs wrote, and damaged ones.

use super::*;

mod runs;
mod stop;
mod stored;

/// Returns the bytes that `hex` spells; blanks do not count.
fn unhex(hex: &str) -> Vec<u8> {
    let digits: Vec<u8> =
        hex.chars().filter_map(|c| c.to_digit(16)).map(|d| u8::try_from(d).unwrap()).collect();
    digits.chunks_exact(2).map(|pair| pair[0] << 4 | pair[1]).collect()
}

fn decode(bytes: &[u8]) -> Result<Vec<u8>> {
    let chunk = Chunk::parse(bytes)?;
    let mut dst = vec![0xA5; chunk.nbytes()];
    Decoder::new().decode(&chunk, &mut dst)?;
    Ok(dst)
}

fn int32s(count: i32) -> Vec<u8> {
    (0..count).flat_map(i32::to_le_bytes).collect()
}

/// Returns the vectors by C-Blosc2 3.3.5, see the comments; text is quoted as it is.
fn vectors() -> Vec<(&'static str, Vec<u8>, Vec<u8>)> {
    let abc: Vec<u8> = [&b"abc".repeat(13)[..], b"defghijklmnop"].concat().repeat(2);
    let range = (0..40_u8).map(|k| format!("{k:02x}")).collect::<String>();
    let split = format!(
        "05012504a0000000a00000005c000000 01000000000001000000000000000000 24000000 28000000 {range} \
         000000000000000000000000"
    );
    vec![
        ("lz4, shuffle in slot 0, split", unhex(&split), int32s(40)),
        (
            "lz4, delta and shuffle, blocks of 64",
            unhex(
                "05013d04a00000004000000075000000030100000000010000000000000000002c000000500000006300000020000000\
                 ff0600010301070103010f0103010701030100000000000500135000000000000f0000001b1001001f00010017500000\
                 0000000e000000132001001e000100500000000000",
            ),
            int32s(40),
        ),
        (
            "lz4, shuffle and bytedelta",
            unhex(
                "05012504a0000000a0000000400000000123000000000100000400000000000024000000\
                 0c0000002f000101000e500101010101000000000000000000000000",
            ),
            int32s(40),
        ),
        (
            "zstd, 191 bytes of elements of 4 in a block of 188 and one of 3, which the header does not tell",
            unhex(
                "05019504bf000000bf000000660000000000000000000500000000000000000028000000 5f000000 33000000\
                 28b52ffd20bc550100e800000102030405060708090a0b0c0d0e0f101112131414141414141414149810f8060010667c725c19\
                 03000000141515",
            ),
            (0..191).map(|at| at / 9).collect(),
        ),
        (
            "lz4, split, 259 bytes in a block of 256 and one of 3",
            unhex(
                "05012504030100000301000097000000010000000000010000000000000000002800000090000000\
                 160000001b0001001b0301001b06010016090100500909090909 160000001b0101001b0401001b070100160a0100500a0a0a0a0a\
                 160000001b0201001b0501001b080100160b0100500b0b0b0b0b 160000001b0301001b0601001b090100160c0100500c0c0c0c0c\
                 030000000c0d0e",
            ),
            (0..259_u16).map(|at| u8::try_from(at / 64 * 3 + at % 4).unwrap()).collect(),
        ),
        (
            "blosclz, no filter",
            unhex(
                "0501150168000000680000004d000000 00000000000000000000000000000000 24000000 25000000\
                 25616263616263 e01705 0d636465666768696a6b6c6d6e6f70 e0172d 804e e00233 026e6f70",
            ),
            abc,
        ),
        (
            "a repeated f64",
            unhex("05010508500000005000000028000000000000000000000000000000000000300000000000001e40"),
            7.5_f64.to_le_bytes().repeat(10),
        ),
        (
            "the same, with the bit of instrumented chunks, which it has no streams for",
            unhex("05010508500000005000000028000000000000000000000000000000000000b00000000000001e40"),
            7.5_f64.to_le_bytes().repeat(10),
        ),
        (
            "runs of bytes",
            unhex(
                "0501850 8401f0000401f000046000000 00000000000105000000000000000000 24000000\
                 00000000 00000000 00000000 00000000 00000000 00000000 e2ffffff01 c0ffffff01",
            ),
            7.5_f64.to_le_bytes().repeat(1000),
        ),
        (
            "blosc1: a copy with leftover flags",
            unhex("020113080f000000080000001f000000 68656c6c6f20626c6f73637061636b"),
            b"hello bloscpack".to_vec(),
        ),
    ]
}

#[test]
fn chunks_of_c_blosc_decode() {
    for (name, bytes, want) in vectors() {
        assert_eq!(decode(&bytes).unwrap_or_else(|error| panic!("{name}: {error}")), want, "{name}");
    }
}

#[test]
fn decode_whole_refuses_wrong_lengths_and_trailing_bytes() {
    let (_, mut stored, data) = vectors().swap_remove(0);
    let mut back = vec![0; data.len()];
    Decoder::new().decode_whole(&stored, &mut back).unwrap();
    assert_eq!(back, data);
    let is_malformed = |src: &[u8], len: usize| {
        let error = Decoder::new().decode_whole(src, &mut vec![0; len]).unwrap_err();
        matches!(error.kind(), container_core::ErrorKind::Malformed(_))
    };
    assert!(is_malformed(&stored, data.len() + 1) && is_malformed(&stored, 0));
    stored.push(0);
    assert!(is_malformed(&stored, data.len()));
}
