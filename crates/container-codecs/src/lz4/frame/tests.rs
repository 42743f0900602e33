use super::header::checksum;
use super::*;
use container_core::ErrorKind;

fn noise(len: usize) -> Vec<u8> {
    let mut x = 1_u32;
    let mut next = || {
        x = x.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        x.to_be_bytes()[0]
    };
    (0..len).map(|at| if at / 1000 % 2 == 0 { next() } else { (at / 300).to_le_bytes()[0] }).collect()
}

/// A frame by hand, from blocks of the block codec: `lens` bytes of `data` each.
fn frame(data: &[u8], lens: &[usize], flags: u8) -> Vec<u8> {
    let mut out = MAGIC_AND.to_vec();
    let mut descriptor = vec![0x40 | flags, 0x40];
    if flags & 8 != 0 {
        descriptor.extend((data.len() as u64).to_le_bytes());
    }
    out.extend(&descriptor);
    out.push(checksum(&descriptor).to_le_bytes()[1]);
    let mut rest = data;
    for len in lens {
        let (block, next) = rest.split_at(*len);
        rest = next;
        let mut encoded = Vec::new();
        super::super::Lz4.encode(block, None, &mut encoded).unwrap();
        let plain = encoded.len() >= block.len();
        let bytes = if plain { block } else { &encoded };
        let mark = if plain { 1 << 31 } else { 0 };
        out.extend((u32::try_from(bytes.len()).unwrap() | mark).to_le_bytes());
        out.extend(bytes);
        if flags & 0x10 != 0 {
            out.extend(checksum(bytes).to_le_bytes());
        }
    }
    out.extend([0; 4]);
    if flags & 4 != 0 {
        out.extend(checksum(data).to_le_bytes());
    }
    out
}

const MAGIC_AND: [u8; 4] = [0x04, 0x22, 0x4d, 0x18];

fn read(src: &[u8], len: usize, range: Range<usize>, threads: usize) -> Result<Vec<u8>> {
    let mut dst = vec![0xaa; range.len()];
    let limits = Limits::default();
    let source = &src;
    let encoded =
        Encoded { source, range: 0..src.len() as u64, decoded_len: len as u64, limits: &limits, threads };
    Lz4Frame.decode_range(&encoded, range.start as u64..range.end as u64, &mut dst).map(|()| dst)
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn every_range_of_full_and_of_short_blocks_is_the_same_bytes() {
    let data = noise(200_000);
    let full = [65536, 65536, 65536, 3392];
    let short = [10, 65536, 30_000, 1, 65536, 38_917];
    for lens in [&full[..], &short] {
        for flags in [0x20, 0x20 | 8, 0x20 | 0x10 | 4, 0x20 | 8 | 4] {
            let src = frame(&data, lens, flags);
            for threads in [1, 3] {
                for range in
                    [0..200_000, 0..1, 70_000..70_001, 65_536..131_072, 199_999..200_000, 0..0, 5..199_000]
                {
                    let part = read(&src, data.len(), range.clone(), threads).unwrap();
                    assert!(part == data[range.clone()], "{lens:?} {flags:#x} {range:?}");
                }
            }
        }
    }
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn frames_may_follow_each_other_and_be_skipped() {
    let data = noise(100_000);
    let mut src = frame(&data[..70_000], &[65536, 4464], 0x28);
    src.extend([0x5f, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 1, 2, 3]);
    src.extend(frame(&data[70_000..], &[30_000], 0x24));
    for threads in [1, 2] {
        assert!(read(&src, data.len(), 0..data.len(), threads).unwrap() == data);
        assert!(read(&src, data.len(), 69_990..70_010, threads).unwrap() == data[69_990..70_010]);
    }
    assert!(read(&src, data.len() + 1, 0..data.len() + 1, 1).is_err());
    assert!(read(&src, data.len() - 1, 0..data.len() - 1, 1).is_err());
}

#[test]
fn every_cut_and_every_changed_byte_is_found() {
    let data = noise(1200);
    let src = frame(&data, &[500, 700], 0x20 | 0x10 | 8 | 4);
    let step = if cfg!(miri) { 83 } else { 1 };
    for threads in [1, 2] {
        for len in (0..src.len()).step_by(step) {
            assert!(read(&src[..len], data.len(), 0..data.len(), threads).is_err(), "cut to {len}");
        }
        for at in (0..src.len()).step_by(step) {
            let mut changed = src.clone();
            changed[at] ^= 0x10;
            if let Ok(read) = read(&changed, data.len(), 0..data.len(), threads) {
                assert!(read == data, "byte {at}");
            }
        }
    }
    let mut longer = src.clone();
    longer.push(0);
    let error = read(&longer, data.len(), 0..data.len(), 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
}
