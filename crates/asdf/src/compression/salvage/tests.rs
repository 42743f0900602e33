use super::*;
use container_codecs::bzip2::Bzip2;
use container_core::Error;

/// Test data that differ in every place.
fn numbers(len: u32) -> Vec<u8> {
    (0..len).flat_map(|at| (at.wrapping_mul(2_654_435_761) >> 9).to_le_bytes()).collect()
}

fn run(label: &str, stored: &[u8], decoded_len: usize, whole: bool) -> Option<Salvaged> {
    let limits = Limits::default();
    let decoded_len = decoded_len as u64;
    let encoded =
        Encoded { source: &stored, range: 0..stored.len() as u64, decoded_len, limits: &limits, threads: 1 };
    salvage(label, &encoded, whole).unwrap()
}

/// One hole.
fn once(hole: Range<u64>) -> Vec<Range<u64>> {
    std::iter::once(hole).collect()
}

/// Checks that the salvaged bytes equal the data, except in holes, which are zeros; returns the holes.
fn check(label: &str, stored: &[u8], data: &[u8]) -> (usize, Vec<Range<u64>>) {
    let salvaged = run(label, stored, data.len(), true).unwrap();
    let mut expected = data[..salvaged.bytes.len()].to_vec();
    let holes: Vec<Range<u64>> = salvaged.holes.iter().map(|hole| hole.data.clone()).collect();
    for hole in &holes {
        expected[hole.start as usize..hole.end as usize].fill(0);
    }
    assert!(salvaged.bytes == expected, "{label}: {holes:?}");
    (salvaged.bytes.len(), holes)
}

/// Chunks of 1000 bytes, and where each begins.
fn lz4_chunks(data: &[u8]) -> (Vec<u8>, Vec<usize>) {
    let (mut stored, mut starts) = (Vec::new(), Vec::new());
    for piece in data.chunks(1000) {
        starts.push(stored.len());
        lz4_chunks::encode_chunk(piece, None, &mut stored).unwrap();
    }
    (stored, starts)
}

#[test]
fn chunks_around_a_damaged_one_keep_their_places() {
    let data = [numbers(600), vec![7; 900], numbers(300)].concat();
    let (stored, starts) = lz4_chunks(&data);
    let last = starts.len() - 1;
    assert_eq!(check("lz4", &stored, &data), (data.len(), vec![]));
    for (number, start) in starts.iter().enumerate() {
        let hole = number as u64 * 1000..(number as u64 * 1000 + 1000).min(data.len() as u64);
        let outcome = match number == last {
            true => (hole.start as usize, vec![]),
            false => (data.len(), vec![hole.clone()]),
        };
        // Its length as stored, its length decoded.
        for byte in (*start..start + 4).chain(start + 4..start + 8) {
            for flip in [1, 0x10, 0xff] {
                let mut bad = stored.clone();
                bad[byte] ^= flip;
                assert_eq!(check("lz4", &bad, &data), outcome, "chunk {number}, byte {byte}, {flip}");
            }
        }
        let mut bad = stored.clone();
        bad[start + 8..start + 12].fill(0);
        assert_eq!(check("lz4", &bad, &data), outcome, "chunk {number}");
    }
}

#[test]
fn of_a_cut_payload_the_first_chunks_are_there() {
    let data = numbers(900);
    let (stored, starts) = lz4_chunks(&data);
    for len in 0..stored.len() {
        let salvaged = run("lz4", &stored[..len], data.len(), false).unwrap();
        let whole = starts.iter().skip(1).filter(|start| **start <= len).count() * 1000;
        assert!(salvaged.bytes == data[..whole] && salvaged.holes.is_empty(), "{len}");
    }
}

#[test]
fn blocks_of_bzip2_are_proved_from_both_ends() {
    let data: Vec<u8> = numbers(80_000);
    let mut stored = Vec::new();
    Bzip2.encode(&data, Some(1), &mut stored).unwrap();
    let (len, holes) = check("bzp2", &stored, &data);
    assert_eq!((len, holes.len()), (data.len(), 0));
    for at in (10..stored.len() - 20).step_by(stored.len() / 15) {
        let mut bad = stored.clone();
        bad[at] ^= 0x40;
        let (len, holes) = check("bzp2", &bad, &data);
        let lost: u64 =
            holes.iter().map(|hole| hole.end - hole.start).sum::<u64>() + (data.len() - len) as u64;
        assert!(holes.len() < 2 && lost > 0 && lost <= 200_000, "byte {at}: {len}, {holes:?}");
        let cut = run("bzp2", &stored[..at], data.len(), false).unwrap();
        assert!(cut.bytes == data[..cut.bytes.len()] && cut.holes.is_empty() && cut.is_proved, "{at}");
    }
}

#[test]
fn blosc_blocks_are_salvaged_by_their_block_starts() {
    let data = numbers(1_000_000);
    let mut stored = Vec::new();
    super::super::Blosc::default().encode(&data, None, &mut stored).unwrap();
    assert_eq!(check("blsc", &stored, &data), (data.len(), vec![]));
    let header = Header::parse(&stored).unwrap();
    let block = u64::from(header.blocksize);
    assert!(block < data.len() as u64 / 3);
    // The start of the second block.
    let mut bad = stored.clone();
    bad[20..24].fill(0xff);
    assert_eq!(check("blsc", &bad, &data), (data.len(), once(block..2 * block)));
    for len in (0..stored.len()).step_by(stored.len() / 12) {
        let Some(cut) = run("blsc", &stored[..len], data.len(), false) else { continue };
        assert!(cut.holes.is_empty(), "{len}: {:?}", cut.holes);
        assert!(cut.bytes == data[..cut.bytes.len()], "{len}");
    }
    let cut = run("blsc", &stored[..stored.len() - 10], data.len(), false).unwrap();
    assert!(cut.bytes.len() as u64 >= data.len() as u64 - 2 * block);
    // Each after its length.
    let mut counted = Vec::new();
    let mut starts = Vec::new();
    for piece in data.chunks(1_500_000) {
        let mut chunk = Vec::new();
        super::super::Blosc::default().encode(piece, None, &mut chunk).unwrap();
        starts.push(counted.len());
        counted.extend_from_slice(&u32::try_from(chunk.len()).unwrap().to_be_bytes());
        counted.extend_from_slice(&chunk);
    }
    assert_eq!(check("blsc", &counted, &data), (data.len(), vec![]));
    let mut bad = counted.clone();
    bad[starts[1]] ^= 0x80;
    assert_eq!(check("blsc", &bad, &data), (data.len(), once(1_500_000..3_000_000)));
}

#[test]
fn salvage_excludes_sequential_codecs() {
    for label in ["zlib", "zstd", "xz", "lz4f", "bsc2"] {
        assert!(run(label, &[0; 40], 8, true).is_none(), "{label}");
    }
    assert!(run("lz4", &[0x04, 0x22, 0x4d, 0x18, 0, 0], 8, true).is_none());
    for label in ["lz4", "bzp2", "blsc"] {
        assert!(run(label, &[1; 40], 8, true).is_none_or(|salvaged| salvaged.bytes.is_empty()), "{label}");
    }
}

/// Damage and codecs that are unknown leave a hole; for want of memory, and after a request to stop, nothing was read.
#[test]
fn only_damage_leaves_holes() {
    assert!(is_read(Ok(())).unwrap());
    let damage = [
        Error::malformed("x"),
        Error::truncated(0..4, 2),
        Error::unsupported("x"),
        Error::new(ErrorKind::Checksum { stored: "a".into(), computed: "b".into() }),
    ];
    for error in damage {
        assert!(!is_read(Err(error)).unwrap());
    }
    for error in [
        Error::limit("bytes", 2, 1),
        Error::cancelled(),
        Error::usage("x"),
        std::io::Error::other("x").into(),
    ] {
        assert!(is_read(Err(error)).is_err());
    }
}
