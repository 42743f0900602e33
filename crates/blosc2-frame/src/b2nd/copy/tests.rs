use container_core::array::Array;
use container_core::dtype::{DType, Order};
use container_core::{ErrorKind, Limits};
use proptest::prelude::*;

use super::super::write_array_to;
use super::*;
use crate::frame::Frame;

fn array(shape: &[u64], chunks: &[u32], blocks: &[u32], from: u16) -> NdArray {
    let count: u64 = shape.iter().product();
    let bytes: Vec<u8> = (from..).take(count as usize).flat_map(u16::to_le_bytes).collect();
    let dtype = DType::parse("<u2").unwrap();
    let array = Array::new(dtype, shape.to_vec(), Order::C, Cow::Borrowed(&bytes)).unwrap();
    let mut out = Vec::new();
    let mut options = options(chunks, blocks);
    options.vlmetalayers.push(("note".into(), vec![0xa1, b'x']));
    options.metalayers.set("own", vec![1, 2, 3]).unwrap();
    write_array_to(&mut out, &array, &options).unwrap();
    opened(out)
}

fn options(chunks: &[u32], blocks: &[u32]) -> NdOptions {
    let blocks = blocks.iter().zip(chunks).map(|(block, chunk)| *block.min(chunk)).collect();
    NdOptions { chunkshape: Some(chunks.to_vec()), blockshape: Some(blocks), ..NdOptions::default() }
}

fn opened(bytes: Vec<u8>) -> NdArray {
    NdArray::from_frame(Frame::from_bytes(bytes).unwrap()).unwrap()
}

fn elements(array: &NdArray) -> Vec<u8> {
    let read = array.read(&Region::whole(array.shape()), &ReadOptions::default()).unwrap();
    read.bytes(Order::C, &Limits::default()).unwrap().into_owned()
}

/// Makes an array of 0 to 3 axes, and other chunks and blocks for it.
fn case() -> impl Strategy<Value = Vec<(u64, [u32; 4])>> {
    prop::collection::vec((0_u64..9, [1_u32..5, 1_u32..5, 1_u32..5, 1_u32..5]), 0..4)
}

fn lens(axes: &[(u64, [u32; 4])], which: usize) -> Vec<u32> {
    axes.iter().map(|axis| axis.1[which]).collect()
}

proptest! {
    #[test]
    fn a_copy_with_other_chunks_has_the_same_elements(axes in case(), memory in 1_u64..2000) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let old = array(&shape, &lens(&axes, 0), &lens(&axes, 1), 1);
        let mut out = Vec::new();
        let mut options = options(&lens(&axes, 2), &lens(&axes, 3));
        // Little memory makes for short rows.
        options.limits = Limits::default().with_memory(memory.max(500));
        copy(&old, &mut out, &options, &ReadOptions::default()).unwrap();
        prop_assert_eq!(elements(&opened(out)), elements(&old));
    }

    #[test]
    fn joined_arrays_follow_each_other(axes in case(), others in prop::collection::vec((0_u64..9, any::<bool>()), 0..4), axis in 0_usize..3) {
        prop_assume!(!axes.is_empty());
        let axis = axis % axes.len();
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let mut arrays = vec![array(&shape, &lens(&axes, 0), &lens(&axes, 1), 1)];
        for (len, same) in &others {
            let mut shape = shape.clone();
            shape[axis] = *len;
            let which = if *same { 0 } else { 2 };
            arrays.push(array(&shape, &lens(&axes, which), &lens(&axes, which + 1), 1000 * arrays.len() as u16));
        }
        let mut out = Vec::new();
        let arrays: Vec<&NdArray> = arrays.iter().collect();
        let options = NdOptions::options_of(arrays[0]).unwrap();
        concatenate(&arrays, axis, &mut out, &options, &ReadOptions::default()).unwrap();
        let joined = opened(out);
        // What numpy.concatenate does, by its definition: for each index before the axis, a run of each array.
        let inner = |array: &NdArray| array.shape()[axis..].iter().product::<u64>() as usize * 2;
        let outer = shape[..axis].iter().product::<u64>() as usize;
        let all: Vec<Vec<u8>> = arrays.iter().map(|array| elements(array)).collect();
        let want: Vec<u8> = (0..outer)
            .flat_map(|at| arrays.iter().zip(&all).flat_map(move |(array, bytes)| &bytes[at * inner(array)..][..inner(array)]))
            .copied()
            .collect();
        prop_assert_eq!(elements(&joined), want);
    }

    #[test]
    fn axes_of_length_1_come_and_go(axes in case(), at in 0_usize..4, chunk in 1_u32..3) {
        let mut axes = axes;
        let at = at % (axes.len() + 1);
        let plain: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        axes.insert(at, (1, [chunk, 1, 1, 1]));
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let old = array(&shape, &lens(&axes, 0), &lens(&axes, 1), 1);
        let mut out = Vec::new();
        squeeze(&old, &[at], &mut out, &ReadOptions::default()).unwrap();
        let squeezed = opened(out);
        prop_assert_eq!(squeezed.shape(), &plain);
        prop_assert_eq!(elements(&squeezed), elements(&old));
        let mut out = Vec::new();
        expand_dims(&squeezed, at, &mut out, &ReadOptions::default()).unwrap();
        let expanded = opened(out);
        prop_assert_eq!(expanded.shape(), &shape);
        prop_assert_eq!(elements(&expanded), elements(&old));
    }
}

#[test]
fn copy_with_equal_options_reuses_encoded_chunks() {
    let old = array(&[6, 7], &[2, 3], &[2, 2], 1);
    let mut out = Vec::new();
    copy(&old, &mut out, &NdOptions::options_of(&old).unwrap(), &ReadOptions::default()).unwrap();
    let new = opened(out);
    assert_eq!(new.frame().header(), old.frame().header());
    assert_eq!(new.frame().metalayers(), old.frame().metalayers());
    assert_eq!(new.frame().vlmetalayer("note").unwrap().unwrap(), [0xa1, b'x']);
    for index in 0..old.frame().chunk_count() {
        assert_eq!(new.frame().chunk(index).unwrap(), old.frame().chunk(index).unwrap());
    }
}

#[test]
fn arrays_that_do_not_fit_are_not_joined() {
    let (one, other) = (array(&[2, 3], &[2, 3], &[2, 3], 1), array(&[2, 4], &[2, 3], &[2, 3], 1));
    let refused = |arrays: &[&NdArray], axis| {
        let result =
            concatenate(arrays, axis, &mut Vec::new(), &NdOptions::default(), &ReadOptions::default());
        assert!(matches!(result.unwrap_err().kind(), ErrorKind::Usage(_)));
    };
    refused(&[&one, &other], 0);
    refused(&[&one], 2);
    refused(&[], 0);
    let result = squeeze(&one, &[0], &mut Vec::new(), &ReadOptions::default());
    assert!(matches!(result.unwrap_err().kind(), ErrorKind::Usage(_)));
}
