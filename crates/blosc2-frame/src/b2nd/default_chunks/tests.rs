use container_core::ErrorKind;
use proptest::prelude::*;

use super::*;
use crate::options::default_params;

fn shapes(shape: &[u64], itemsize: usize, params: &Params) -> (Vec<u32>, Vec<u32>) {
    let geometry = partition(shape, itemsize, params, None, None).unwrap();
    (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec())
}

fn fast() -> Params {
    Params { compressor: Compressor::LZ4, ..default_params(1) }
}

/// Computed by hand from the rules in the module documentation.
#[test]
fn axes_are_filled_from_the_last() {
    let zstd = default_params(1);
    // All of it: 10 000 elements of 4 bytes.
    assert_eq!(shapes(&[100, 100], 4, &zstd), (vec![100, 100], vec![100, 100]));
    // 16 MiB are 209 rows of 80 000 bytes; 200 divides 10 000. 512 KiB are 6 rows; 5 divides 200.
    assert_eq!(shapes(&[10_000, 10_000], 8, &zstd), (vec![200, 10_000], vec![5, 10_000]));
    // 8 MiB are 104 rows, 100 divides; 256 KiB are 3 rows, 2 divides.
    assert_eq!(shapes(&[10_000, 10_000], 8, &fast()), (vec![100, 10_000], vec![2, 10_000]));
    // 1 MiB for a block at level 9: 13 rows, 10 divides 200.
    let best = Params { level: 9, ..zstd.clone() };
    assert_eq!(shapes(&[10_000, 10_000], 8, &best), (vec![200, 10_000], vec![10, 10_000]));
    // 4 Mi elements of a billion: 239 parts, of which none divides, but 250 of 4 million do.
    assert_eq!(shapes(&[1_000_000_000], 4, &zstd), (vec![4_000_000], vec![125_000]));
    // A prime axis: 26 parts of 4 038 462 or one less.
    assert_eq!(shapes(&[104_999_999], 4, &zstd).0, [4_038_462]);
    // An element larger than any target is a block and a chunk of its own.
    assert_eq!(shapes(&[7, 3], 64 << 20, &zstd), (vec![1, 1], vec![1, 1]));
}

#[test]
fn an_axis_that_may_grow_counts_as_endless() {
    // 131 rows would do for a block; 33 parts of 4194 are of 128 at most.
    let (chunks, blocks) = shapes(&[0, 1000], 4, &default_params(1));
    assert_eq!((chunks, blocks), (vec![4194, 1000], vec![128, 1000]));
    assert_eq!(shapes(&[], 4, &default_params(1)), (vec![], vec![]));
}

#[test]
fn requested_shapes_are_kept_and_defaults_fit_them() {
    let zstd = default_params(1);
    let given = |chunks: Option<&[u32]>, blocks: Option<&[u32]>| {
        let geometry = partition(&[1000, 1000], 4, &zstd, chunks, blocks).unwrap();
        (geometry.chunkshape().to_vec(), geometry.blockshape().to_vec())
    };
    assert_eq!(given(Some(&[300, 7]), Some(&[11, 7])), (vec![300, 7], vec![11, 7]));
    assert_eq!(given(Some(&[900, 900]), None), (vec![900, 900], vec![100, 900]));
    // 16 MiB and more: all of it, though the last block sticks out.
    assert_eq!(given(None, Some(&[30, 30])), (vec![1000, 1000], vec![30, 30]));
    assert_eq!(given(None, Some(&[2000, 30])), (vec![2000, 1000], vec![2000, 30]));
}

#[test]
fn impossible_chunk_shapes_are_usage_errors() {
    let zstd = default_params(1);
    let refused = |shape: &[u64], itemsize, chunks: Option<&[u32]>, blocks: Option<&[u32]>| {
        let error = partition(shape, itemsize, &zstd, chunks, blocks).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    };
    refused(&[1; 17], 1, None, None);
    refused(&[10], 0, None, None);
    refused(&[10], 1, Some(&[1, 1]), None);
    refused(&[10], 1, Some(&[0]), None);
    refused(&[10], 1, Some(&[4]), Some(&[5]));
    refused(&[1 << 40], 1, Some(&[0x7fff_ffff]), None);
    refused(&[1 << 40], 1, Some(&[0x7fff_0000]), Some(&[0x7fff_0000]));
    refused(&[u64::MAX, u64::MAX], 1, None, None);
    refused(&[1 << 62], 8, None, None);
}

proptest! {
    #[test]
    fn every_choice_is_legal_and_near_its_target(
        shape in prop::collection::vec(0_u64..5000, 0..5),
        itemsize in 1_usize..40,
    ) {
        let params = default_params(1);
        let geometry = partition(&shape, itemsize, &params, None, None).unwrap();
        let items = |lens: &[u32]| lens.iter().map(|len| u64::from(*len)).product::<u64>() * itemsize as u64;
        prop_assert!(items(geometry.chunkshape()) <= 16 << 20);
        prop_assert!(items(geometry.blockshape()) <= 512 << 10);
        // Blocks that stick out of their chunk cost little.
        prop_assert!(geometry.chunk_bytes() <= items(geometry.chunkshape()) * 2);
        // An array that fits into one chunk has one.
        if shape.iter().product::<u64>() * (itemsize as u64) <= 16 << 20 {
            prop_assert!(geometry.chunk_count() <= 1);
        }
        // From blocks alone, chunks that hold them are derived.
        let blocks = geometry.blockshape();
        let around = partition(&shape, itemsize, &params, None, Some(blocks)).unwrap();
        prop_assert_eq!(around.blockshape(), blocks);
        prop_assert!(items(around.chunkshape()) <= 16 << 20);
    }
}
