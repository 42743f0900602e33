//! Small files that claim much, or the impossible: deep, wide, large once they are decoded, proved and yet unreadable, twice the same.

use container_codecs::checksum::Algorithm;

use crate::support::rawarray_with_flags;

/// Each with a name.
pub fn all() -> Vec<(&'static str, Vec<u8>)> {
    vec![
        ("dims.ra", rawarray_with_flags(0, 2, 1, &[1 << 32, 1 << 32, 0, u64::MAX], &[])),
        ("ndims.ra", {
            let mut bytes = rawarray_with_flags(0, 2, 1, &[], &[]);
            bytes[40..48].copy_from_slice(&(1_u64 << 61).to_le_bytes());
            bytes
        }),
        ("lists.asdf", asdf(&format!("a: {}{}", "[".repeat(100_000), "]".repeat(100_000)))),
        ("lists_open.asdf", asdf(&format!("a: {}", "[".repeat(1_000_000)))),
        ("maps.asdf", asdf(&format!("a: {}", "{a: ".repeat(200_000)))),
        ("blocks.asdf", asdf(&"- ".repeat(200_000))),
        ("keys.asdf", asdf(&format!("a: {}", "? ".repeat(200_000)))),
        ("laughs.asdf", asdf(&laughs(30))),
        ("laughs_array.asdf", {
            let tree = format!("{}array: !core/ndarray-1.0.0\n  data: *l29\n  datatype: uint8\n", laughs(30));
            asdf(&tree)
        }),
        ("many_maps.asdf", asdf(&(0..20_000).map(|key| format!("k{key}: {{}}\n")).collect::<String>())),
        ("zero_strides.asdf", {
            let array = "a: !core/ndarray-1.0.0\n  source: 0\n  datatype: float64\n  byteorder: little\n  \
                         shape: [4294967296, 4294967296]\n  strides: [0, 0]\n";
            let mut bytes = asdf(array);
            bytes.extend(block(b"\0\0\0\0", 8, 8, &[0; 8]));
            bytes
        }),
        ("claims.asdf", {
            let array = "a: !core/ndarray-1.0.0\n  source: 0\n  datatype: uint8\n  byteorder: little\n  \
                         shape: [1152921504606846976]\n";
            let mut bytes = asdf(array);
            bytes.extend(block(b"zlib", 11, 1 << 60, b"x\x9c\x03\0\0\0\0\x01\0\0\0"));
            bytes
        }),
        ("proved.asdf", {
            let array = "a: !core/ndarray-1.0.0\n  source: 0\n  datatype: uint8\n  byteorder: little\n  shape: [64]\n";
            let mut bytes = asdf(array);
            let data = [0x55; 32];
            let mut proved = block(b"zlib", 32, 64, &data);
            let digest = Algorithm::Md5.digest(&data);
            proved[38..54].copy_from_slice(digest.as_bytes());
            bytes.extend(proved);
            bytes
        }),
        ("twice.gsd", twice()),
        ("index.gsd", gsd(1 << 56, 1 << 56)),
        ("names.gsd", gsd(1, 1 << 57)),
        ("wraps.gsd", gsd((u64::MAX / 32) + 2, (u64::MAX / 64) + 2)),
        ("chunks.blp", bloscpack(i64::MAX, 0)),
        ("apps.blp", bloscpack(1 << 60, i64::MAX)),
        ("zeros.b2frame", zeros(1 << 30, 8)),
        ("zeros_many.b2frame", zeros(1 << 10, 1 << 25)),
    ]
}

fn asdf(tree: &str) -> Vec<u8> {
    let head =
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n";
    format!("{head}{tree}\n...\n").into_bytes()
}

/// An anchor of ten words, then `depth - 1` more, each ten times the one before.
fn laughs(depth: usize) -> String {
    let mut tree = format!("l0: &l0 [{}]\n", ["1"; 10].join(", "));
    for level in 1..depth {
        let before = format!("*l{}", level - 1);
        tree += &format!("l{level}: &l{level} [{}]\n", vec![before; 10].join(", "));
    }
    tree
}

/// A block of ASDF with the least header and no checksum.
fn block(codec: &[u8; 4], used: u64, size: u64, data: &[u8]) -> Vec<u8> {
    let mut bytes = b"\xd3BLK\0\x30\0\0\0\0".to_vec();
    bytes.extend(codec);
    [used, used, size].iter().for_each(|word| bytes.extend(word.to_be_bytes()));
    bytes.extend([0; 16]);
    bytes.extend(data);
    bytes
}

/// A header of GSD 2.0 that claims `index` and `names` entries, and one zero entry of each kind.
fn gsd(index: u64, names: u64) -> Vec<u8> {
    let mut bytes = 0x65DF_65DF_65DF_65DF_u64.to_le_bytes().to_vec();
    [256, index, 320, names].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend(0x0001_0004_u32.to_le_bytes());
    bytes.extend(0x0002_0000_u32.to_le_bytes());
    bytes.resize(512, 0);
    bytes
}

/// Two chunks of one name in one frame, of one byte and of two.
fn twice() -> Vec<u8> {
    let mut bytes = gsd(2, 1);
    for (entry, rows) in bytes[256..].chunks_exact_mut(32).zip([1_u64, 2]) {
        entry[8..16].copy_from_slice(&rows.to_le_bytes());
        entry[16..24].copy_from_slice(&448_u64.to_le_bytes());
        // One column, the first name, u8.
        entry[24..32].copy_from_slice(&[1, 0, 0, 0, 0, 0, 1, 0]);
    }
    bytes[320..324].copy_from_slice(b"name");
    bytes
}

/// A header of Bloscpack with `chunks` chunks, and `room` for more.
fn bloscpack(chunks: i64, room: i64) -> Vec<u8> {
    let mut bytes = b"blpk\x03\x01\0\x08".to_vec();
    [1 << 20, 1 << 20].iter().for_each(|word: &i32| bytes.extend(word.to_le_bytes()));
    [chunks, room].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.resize(256, 0xff);
    bytes
}

/// A frame of Blosc2 of `chunks` chunks, all of zeros: none is stored, and the offset of all is stored once.
fn zeros(chunk: i32, chunks: i32) -> Vec<u8> {
    let mut bytes = b"\x9e\xa8b2frame\0\xd2\0\0\0\x61\xcf".to_vec();
    bytes.extend((97_u64 + 40 + 35).to_be_bytes());
    bytes.extend(b"\xa4\x12\0\x55\x02\xd3");
    bytes.extend((i64::from(chunk) * i64::from(chunks)).to_be_bytes());
    bytes.push(0xd3);
    bytes.extend(0_i64.to_be_bytes());
    bytes.extend(b"\xd2\0\0\0\x01\xd2\0\0\0\0\xd2");
    bytes.extend(chunk.to_be_bytes());
    bytes.extend(b"\xd1\0\x01\xd1\0\x01\xc2\xd8\x06\0\0\0\0\0\x01\x05");
    bytes.extend([0; 9]);
    bytes.extend(b"\x93\xcd\0\x07\xde\0\0\xdc\0\0");
    // The chunk of offsets: elements of eight bytes, all the same, as marked in the last byte of its header.
    bytes.extend(b"\x05\x01\x17\x08");
    [chunks * 8, chunks * 8, 40].iter().for_each(|word| bytes.extend(word.to_le_bytes()));
    bytes.extend([0; 15]);
    bytes.push(0x30);
    bytes.extend([0, 0, 0, 0, 0, 0, 0, 0x81]);
    bytes.extend(b"\x94\x01\x93\xcd\0\x06\xde\0\0\xdc\0\0\xce\0\0\0\x23\xd8\0");
    bytes.extend([0; 16]);
    bytes
}
