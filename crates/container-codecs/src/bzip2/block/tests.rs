use super::super::blocks::encode_block;
use super::super::scan::Scan;
use super::*;

fn random(len: usize, mask: u32) -> Vec<u8> {
    let mut x = 3_u32;
    let next = |_| {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (x >> 20 & mask).to_le_bytes()[0]
    };
    (0..len).map(next).collect()
}

/// The one block of a stream by the library, as it comes back.
fn unpacked(unpacker: &mut Unpacker, stream: &[u8], most: u64) -> Option<()> {
    let found = Scan::new(stream).next().ok()??;
    unpacker.unpack(stream, &found.bits, 900_000, most)
}

/// Blocks of the library's encoder never fall back to the library.
#[test]
fn blocks_of_the_library_come_back() {
    let mut unpacker = Unpacker::default();
    let words: Vec<u8> = random(40_000, 7)
        .iter()
        .flat_map(|at| [&b"the "[..], b"sky ", b"is", b"\n"][usize::from(at % 4)])
        .copied()
        .collect();
    for data in [
        b"a".to_vec(),
        b"aaaa".to_vec(),
        b"hello, hello".to_vec(),
        (0..=255).collect(),
        random(300, 255),
        random(100_000, 255),
        random(400_000, 15),
        random(60_000, 1),
        words,
        vec![0; 3_000_000],
        b"abc".repeat(20_000),
        random(70_000, 255).repeat(3),
        // Codes of all lengths: each byte half as often as the one before.
        (0..60_000_u32).map(|at| at.trailing_zeros().to_le_bytes()[0]).collect(),
    ] {
        let stream = encode_block(None, &data).unwrap();
        let len = data.len() as u64;
        assert!(unpacked(&mut unpacker, &stream, len).is_some(), "{len}");
        assert!(unpacker.out == data, "{len}");
        assert!(unpacked(&mut unpacker, &stream, len - 1).is_none(), "{len}");
    }
}

/// Python: `bz2.compress(b"If Peter Piper picked a peck of pickled peppers, where's the peck?", 1)`.
#[test]
fn a_block_of_the_c_library_comes_back() {
    let text = b"If Peter Piper picked a peck of pickled peppers, where's the peck?";
    let stream = [
        0x42, 0x5a, 0x68, 0x31, 0x31, 0x41, 0x59, 0x26, 0x53, 0x59, 0x18, 0x1e, 0xd1, 0xb8, 0x00, 0x00, 0x07,
        0x1f, 0x80, 0x40, 0x84, 0x00, 0x00, 0x80, 0x20, 0x40, 0x00, 0x2f, 0x6c, 0xdc, 0x80, 0x20, 0x00, 0x48,
        0x6a, 0x68, 0x7a, 0xa6, 0x65, 0x36, 0xa6, 0x68, 0x41, 0xa8, 0xd0, 0x68, 0x34, 0x34, 0x64, 0x68, 0x6f,
        0x9b, 0x14, 0xa9, 0xda, 0x99, 0xd9, 0x96, 0x55, 0x19, 0x08, 0x32, 0xbb, 0x16, 0x89, 0xf1, 0x0a, 0x44,
        0x70, 0xf4, 0x83, 0xd0, 0x15, 0xc0, 0x7a, 0x10, 0xd4, 0x03, 0xec, 0xa4, 0x3e, 0x2e, 0xe4, 0x8a, 0x70,
        0xa1, 0x20, 0x30, 0x3d, 0xa3, 0x70,
    ];
    let mut unpacker = Unpacker::default();
    unpacked(&mut unpacker, &stream, 1000).unwrap();
    assert_eq!(unpacker.out, text);
}

#[test]
fn no_damage_passes() {
    let data: Vec<u8> = random(300, 31);
    let stream = encode_block(Some(1), &data).unwrap();
    let mut unpacker = Unpacker::default();
    let mut is_refused = |stream: &[u8], range: &Range<u64>| {
        let done = unpacker.unpack(stream, range, 100_000, 300);
        // A flipped bit in a code that no byte uses has no effect.
        assert!(done.is_none() || unpacker.out == data);
        done.is_none()
    };
    let range = Scan::new(&stream).next().ok().flatten().unwrap().bits;
    assert!(!is_refused(&stream, &range));
    let flips = range.clone().filter(|bit| {
        let (byte, bit) = (usize::try_from(bit / 8).unwrap(), bit % 8);
        let mut damaged = stream.clone();
        damaged[byte] ^= 0x80 >> bit;
        is_refused(&damaged, &range)
    });
    assert!(flips.count() > stream.len() * 6);
    for end in range.start..range.end {
        assert!(is_refused(&stream, &(range.start..end)), "{end}");
        let len = usize::try_from(end / 8).unwrap();
        assert!(is_refused(&stream[..len], &range), "{end}");
    }
    // Whatever follows a head, it ends.
    for seed in 0..40_u8 {
        let mut noise = stream[..14].to_vec();
        noise.extend(random(3000, 255).iter().map(|byte| byte.rotate_left(u32::from(seed % 8)) ^ seed));
        assert!(is_refused(&noise, &(32..noise.len() as u64 * 8)));
    }
}
