use super::*;

use container_core::ErrorKind;

fn hex(text: &str) -> Vec<u8> {
    let pairs = text.as_bytes().chunks_exact(2).map(|pair| std::str::from_utf8(pair).unwrap());
    pairs.map(|pair| u8::from_str_radix(pair, 16).unwrap()).collect()
}

/// Decodes a stream of `height` by `width` with `cells`.
fn decoded(cell: u8, height: u8, width: u8, cells: &[u8]) -> Result<Vec<u8>> {
    let mut src = vec![2, height, 0, 0, 0, width, 0, 0, 0];
    src.extend(cells);
    let mut dst = vec![0xee; usize::from(height) * usize::from(width)];
    decode(&src, &mut dst, cell).map(|()| dst)
}

#[test]
fn streams_of_c_blosc2_come_back() {
    for (cell, stream, block) in [(4, STREAM_4, BLOCK_4), (8, STREAM_8, BLOCK_8)] {
        let (src, expected) = (hex(stream), hex(block));
        let mut dst = vec![0xee; expected.len()];
        decode(&src, &mut dst, cell).unwrap();
        assert_eq!(dst, expected, "cells of {cell}");
    }
}

#[test]
fn cells_of_four_take_rows_from_references() {
    let literal: Vec<u8> = (100..116).collect();
    let row = |n: usize| literal[4 * n..4 * n + 4].to_vec();
    let new = |n: u8| vec![n; 4];
    // The second cell, whose token is 17 bytes after the first's; its first literal byte is 16 before.
    let cases: Vec<(Vec<u8>, [Vec<u8>; 4])> = vec![
        (vec![0xC0, 16, 0], [row(0), row(1), row(2), row(3)]),
        (vec![0x40, 5], [new(5), new(5), new(5), new(5)]),
        (vec![28 << 3, 16, 0, 1, 1, 1, 1], [new(1), row(0), row(1), row(2)]),
        (vec![29 << 3, 12, 0, 1, 1, 1, 1], [row(1), row(2), row(3), new(1)]),
        (vec![30 << 3, 12, 0, 1, 1, 1, 1], [row(1), row(2), new(1), row(3)]),
        (vec![31 << 3, 16, 0, 1, 1, 1, 1], [row(0), new(1), row(1), row(2)]),
        (vec![128, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2], [new(1), new(2), row(2), row(3)]),
        (vec![128 + 8, 8, 0, 1, 1, 1, 1, 2, 2, 2, 2], [row(2), row(3), new(1), new(2)]),
        (vec![128 + 24, 16, 0, 1, 1, 1, 1, 2, 2, 2, 2], [row(0), new(1), new(2), row(1)]),
        (vec![128 + 32 + 16, 16, 0, 1, 1, 1, 1, 2, 2, 2, 2], [new(1), row(0), row(1), new(2)]),
        (vec![40, 16, 0, 8, 0], [row(0), row(1), row(2), row(3)]),
        (vec![56, 16, 0, 12, 0], [row(0), row(1), row(2), row(1)]),
    ];
    for (second, rows) in cases {
        let cells = [vec![0], literal.clone(), second.clone()].concat();
        let expected: Vec<u8> = (0..4).flat_map(|n| [row(n), rows[n].clone()].concat()).collect();
        assert_eq!(decoded(4, 4, 8, &cells).unwrap(), expected, "{second:?}");
    }
}

#[test]
fn cells_of_eight_take_rows_from_references() {
    let literal: Vec<u8> = (0..64).collect();
    for (token, count) in [(21, 3), (17, 2)] {
        for first in 0..=(8 - count) {
            let rest: Vec<u8> = (100..100 + 8 * (8 - count)).collect();
            let cells = [vec![0], literal.clone(), vec![token << 3 | first, 48, 0], rest.clone()].concat();
            let dst = decoded(8, 16, 8, &cells).unwrap();
            let (from, to) = (64 + 8 * usize::from(first), 64 + 8 * usize::from(first + count));
            assert_eq!(dst[from..to], literal[16..16 + 8 * usize::from(count)], "rows {first}..+{count}");
            assert_eq!([&dst[64..from], &dst[to..]].concat(), rest);
        }
    }
}

#[test]
fn cells_at_the_edges_are_clipped() {
    let cells = [&[0][..], &[9; 16], &[0, 1, 2, 3, 4], &[0x40, 8], &[0xC0, 20, 0]].concat();
    let dst = decoded(4, 5, 5, &cells).unwrap();
    assert_eq!(dst, [9, 9, 9, 9, 1, 9, 9, 9, 9, 2, 9, 9, 9, 9, 3, 9, 9, 9, 9, 4, 8, 8, 8, 8, 9]);
    assert!(decoded(4, 0, 5, &[]).unwrap().is_empty());
}

#[test]
fn references_stay_inside_the_stream_and_before_the_token() {
    let first = [&[0][..], &[9; 16]].concat();
    for (second, at) in [
        // Into the header, before the stream, at itself, of a longer run than there is in between.
        (vec![0xC0, 18, 0], 27),
        (vec![0xC0, 0xff, 0xff], 27),
        (vec![0xC0, 0, 0], 27),
        (vec![0xC0, 15, 0], 27),
        (vec![224, 11, 0, 1, 2, 3, 4], 27),
        (vec![40, 8, 0, 7, 0], 29),
    ] {
        let error = decoded(4, 4, 8, &[first.clone(), second].concat()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Malformed(_)));
        assert_eq!(error.range().map(|range| range.start), Some(at));
    }
}

#[test]
fn other_geometry_tokens_and_lengths_are_refused() {
    let header = |axes: u8, height: i32, width: i32| {
        [vec![axes], height.to_le_bytes().to_vec(), width.to_le_bytes().to_vec(), vec![0x40, 1]].concat()
    };
    decode(&header(2, 4, 4), &mut [0; 16], 4).unwrap();
    for src in [header(3, 4, 4), header(2, 4, 5), header(2, -4, -4), header(2, i32::MAX, i32::MAX)] {
        assert!(matches!(decode(&src, &mut [0; 16], 4).unwrap_err().kind(), ErrorKind::Malformed(_)));
    }
    assert!(matches!(
        decode(&header(2, 4, 4), &mut [0; 16], 5).unwrap_err().kind(),
        ErrorKind::Unsupported(_)
    ));
    for token in [1, 39, 64 + 1, 127, 129, 191, 192 + 1, 223] {
        assert!(decoded(4, 4, 4, &[token]).is_err(), "{token}");
    }
    // Rows that the cell does not have, rows of a cell at the edge, a byte too many.
    assert!(decoded(8, 8, 8, &[21 << 3 | 6]).is_err());
    assert!(decoded(4, 3, 4, &[128, 8, 0]).is_err());
    assert!(decoded(4, 4, 4, &[0x40, 1, 1]).is_err());
}

#[test]
fn streams_cut_anywhere_are_errors() {
    let src = hex(STREAM_4);
    for len in 0..src.len() {
        let error = decode(&src[..len], &mut [0; 567], 4).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { .. } | ErrorKind::Malformed(_)), "{len}");
    }
}

/// A block of 21 by 27 bytes by C-Blosc2 3.3.5, cells of 4.
const STREAM_4: &str = "\
    02150000001b00000000dc9cc541ce1eac085e0b6b3b4d8ea36c4007e00e0017348a4d801100dc9cc5410776d4cc88240001\
    a7330a4d8ea36ce82f00827b262f0060da1f798df95e0b6b4d8ea300dc9cc54152afadd18047903a92bfc1f5001f3ad2912b\
    8ba25f40c0fb217e5f2e6ec065004007e066003cf335af806900dc9cc5417cb69bff00dc9cc5ce1eac883a704d8ea3e88900\
    541b3829808800d1b2e9d331a2ec9400dc9cc541a7ca0ef4d7ec16cfd46e2fc400283bace7ef470afad04d13434d568a7cc0\
    bd004007005833f8ce1eac5e0b6b4d8ea380c700dc9cc54123e2a0ee88da0046278c704d8ea36ce8e500076ba7d480e400d7\
    a947684dc92e9a00dc9cc5416e3523ca1577a4e322aafd260052c1c394e68a976b17a9991077807fef00dc9cc5ce1eac5e0b\
    6b4d8ea34007e024015f34df23802701dc9cc5410d691484883a0198602d7b4d8ea36ce8450171ace8ca804401ec0df861ef\
    9ead0500dc9cc506f25ad27cfc04257200deae10ec00dc9cc541000707070700c4e034e500dc9cc54100dc9cc54100dc9cc5";

/// Its decoded bytes.
const BLOCK_4: &str = "\
    dc9cc5410707070717348a4ddc9cc541dc9cc541dc9cc54160da1fce1eac0807070707ce1eac080776d4ccce1eac08ce1eac\
    08798df95e0b6b3b070707075e0b6b3b5e0b6b3b01a7330a5e0b6b3b5e0b6b4d8ea36c070707074d8ea36c4d8ea36c4d8ea3\
    6c827b262f4d8ea3dc9cc5411f3ad291dc9cc541070707073cf335afdc9cc541dc9cc552afadd12b8ba25fce1eac08070707\
    07ce1eac087cb69bffce1eac8047903a40c0fb215e0b6b3b070707075e0b6b3b5e0b6b3b883a7092bfc1f57e5f2e6e4d8ea3\
    6c070707074d8ea36c4d8ea36c4d8ea3dc9cc541d1b2e9d3dc9cc541283bace7dc9cc541070707075833f8ce1eac0831a2ec\
    94a7ca0ef4ef470aface1eac0807070707ce1eac5e0b6b3b5e0b6b3bd7ec16cfd04d13435e0b6b3b070707075e0b6b541b38\
    294d8ea36cd46e2fc44d568a7c4d8ea36c070707074d8ea3dc9cc541dc9cc541dc9cc541d7a94768dc9cc54152c1c394dc9c\
    c523e2a0eece1eac08ce1eac084dc92e9a6e3523cae68a976bce1eac5e0b6b3b46278c705e0b6b3b5e0b6b3b1577a4e317a9\
    99105e0b6b4d8ea36c4d8ea36c076ba7d44d8ea36c22aafd2677807fef4d8ea3070707075f34df23dc9cc541dc9cc541dc9c\
    c541ec0df861dc9cc507070707ce1eac080d691484ce1eac08ce1eac08ef9ead0506f25a070707075e0b6b3b5e0b6b3b9860\
    2d7b5e0b6b3b5e0b6b3bd27cfc070707074d8ea36c4d8ea36c4d8ea36c71ace8ca4d8ea36c042572deae10ecdc9cc5410707\
    0707c4e034e5dc9cc541dc9cc541dc9cc5";

/// The same with cells of 8.
const STREAM_8: &str = "\
    02150000001b00000000d6e86a9d2d31e959d69366a74c6991be6e881af90fdab1263c1a3edafb9b88f9406fa92d0309f3c4\
    421590a4709048bd92f1003c0b7b1bc02e33c0179223feee4007a93a0096caba33fc04e7a3406fa92d0309f3c4421590a470\
    9048bd92f1003c0b7b1bc02e33c0179223feee00d6e86a5852f46e881a3c1a3e406fa942159092f1002e33c0ab6e00d6e86a\
    9d2d31e959d69366a74c6991bee557ccf0a090c0e692f1003c0b7b1bc02e33c0179223feeea8b100edecdae6ee7f7395406f\
    a92d0309f3c4421590a4709048bd92f1003c0b7b1bc02e33c0179223feeeaacc008088110562f25126be8d97aeadc98f8a42\
    1590a4709048bd92f1003c0b7b1bc02e33c0179223feee00d6e86af3a3436e881a3c1a3ed1da8cfc26c97a852d867d0b0039\
    781516678e065088d79677202977dfc56d8f056e44ca62430670236a4b61561770954c1e520c7600d6e86a9d2d31e959d693\
    66a74c6991be6e881af90fdab1263c1a3edafb9b88f9406fa92d0309f3c40007070707070707070707070707070707070707\
    070707070707070707070707070707070707070707003e98bad693666e881a3c1a3e406fa9";

/// Its decoded bytes.
const BLOCK_8: &str = "\
    d6e86a9d2d31e959070707070707070796caba33fc04e7a3d6e86ad69366a74c6991be0707070707070707d69366a74c6991\
    be5852f46e881af90fdab12607070707070707076e881af90fdab1266e881a3c1a3edafb9b88f907070707070707073c1a3e\
    dafb9b88f93c1a3e406fa92d0309f3c40707070707070707406fa92d0309f3c4406fa9421590a4709048bd07070707070707\
    07421590a4709048bd42159092f1003c0b7b1bc0070707070707070792f1003c0b7b1bc092f1002e33c0179223feee070707\
    07070707072e33c0179223feee2e33c0d6e86a9d2d31e959d6e86a9d2d31e9598088110562f25126d6e86ad69366a74c6991\
    bed69366a74c6991bebe8d97aeadc98f8af3a343e557ccf0a090c0e66e881af90fdab1266e881af90fdab1266e881a3c1a3e\
    dafb9b88f9edecdae6ee7f73953c1a3edafb9b88f93c1a3e406fa92d0309f3c4406fa92d0309f3c4406fa92d0309f3c4d1da\
    8c421590a4709048bd421590a4709048bd421590a4709048bdfc26c992f1003c0b7b1bc092f1003c0b7b1bc092f1003c0b7b\
    1bc07a852d2e33c0179223feee2e33c0179223feee2e33c0179223feee867d0b39781516678e0650d6e86a9d2d31e9590707\
    0707070707073e98ba88d79677202977dfd69366a74c6991be0707070707070707d69366c56d8f056e44ca626e881af90fda\
    b12607070707070707076e881a430670236a4b61563c1a3edafb9b88f907070707070707073c1a3e1770954c1e520c76406f\
    a92d0309f3c40707070707070707406fa9";
