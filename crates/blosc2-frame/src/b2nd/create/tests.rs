//! New arrays, as python-blosc2 4.14.1 writes them.

use container_core::ErrorKind;
use container_core::region::Region;

use super::super::{NdArray, NdWriter};
use super::*;
use crate::frame::Frame;
use crate::header::Header;

/// Frames of `blosc2.zeros((5, 7), dtype="i4", chunks=(4, 5), blocks=(2, 3))` and the like, by `to_cframe`.
mod python {
    pub const ZEROS: &str = "\
        9ea862326672616d6500d2000000a5cf0000000000000108a412005502d30000000000000180d30000000000000000d200000004d20000\
        0018d200000060d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003597000292d30000000000000005d3000000000000000792d200000004d20000000592d200000002d20000000300db000000033c6934\
        05011708200000002000000040000000000000000001000000000000000000000000000000000081000000000000008100000000000000\
        810000000000000081940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
    pub const FULL: &str = "\
        9ea862326672616d6500d2000000a5cf0000000000000198a412005502d30000000000000180d30000000000000090d200000004d20000\
        0018d200000060d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003597000292d30000000000000005d3000000000000000792d200000004d20000000592d200000002d20000000300db000000033c6934\
        05010504600000001800000024000000000000000000000000000000000000300700000005010504600000001800000024000000000000\
        00000000000000000000000030070000000501050460000000180000002400000000000000000000000000000000000030070000000501\
        05046000000018000000240000000000000000000000000000000000003007000000050117082000000020000000400000000000000000\
        01000000000000000000000000000000000000240000000000000048000000000000006c00000000000000940193cd0006de0000dc0000\
        ce00000023d80000000000000000000000000000000000";
    pub const NANS: &str = "\
        9ea862326672616d6500d2000000a5cf0000000000000108a412005502d30000000000000180d30000000000000000d200000004d20000\
        0018d200000060d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003597000292d30000000000000005d3000000000000000792d200000004d20000000592d200000002d20000000300db000000033c6634\
        05011708200000002000000040000000000000000001000000000000000000000000000000000082000000000000008200000000000000\
        820000000000000082940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
    pub const UNINIT: &str = "\
        9ea862326672616d6500d2000000a5cf0000000000000108a412005502d30000000000000180d30000000000000000d200000004d20000\
        0018d200000060d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003597000292d30000000000000005d3000000000000000792d200000004d20000000592d200000002d20000000300db000000033c6634\
        05011708200000002000000040000000000000000001000000000000000000000000000000000084000000000000008400000000000000\
        840000000000000084940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
    pub const SCALAR: &str = "\
        9ea862326672616d6500d20000007fcf00000000000000caa412005502d30000000000000004d30000000000000000d200000004d20000\
        0004d200000004d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        000f97000090909000db000000033c69340501070808000000080000002800000000000000000100000000000000000000000000000000\
        0081940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
    pub const EMPTY: &str = "\
        9ea862326672616d6500d2000000a5cf00000000000000c8a412005502d30000000000000000d30000000000000000d200000004d20000\
        000cd200000018d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003597000292d30000000000000000d3000000000000000592d200000002d20000000392d200000001d20000000300db000000033c6934\
        940193cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
    pub const TEXT: &str = "\
        9ea862326672616d6500d200000092cf00000000000000e5a412005502d30000000000000070d30000000000000000d20000001cd20000\
        0038d200000038d10000d10001c2d8060000000000010500000000000004000093cd0011de0001a462326e64d20000006bdc0001c60000\
        002297000191d3000000000000000391d20000000291d20000000200db000000033c553705010708100000001000000030000000000000\
        0000010000000000000000000000000000000000810000000000000081940193cd0006de0000dc0000ce00000023d80000000000000000\
        000000000000000000";
    pub const RECORD: &str = "\
        9ea862326672616d6500d2000000aacf00000000000000fda412005502d30000000000000024d30000000000000000d200000009d20000\
        0012d200000012d10000d10001c2d8060000000000010500000000000000000093cd0011de0001a462326e64d20000006bdc0001c60000\
        003a97000191d3000000000000000391d20000000291d20000000200db0000001b5b282761272c20273c693427292c20282773272c2027\
        533527295d0501070810000000100000003000000000000000000100000000000000000000000000000000008100000000000000819401\
        93cd0006de0000dc0000ce00000023d80000000000000000000000000000000000";
}

fn unhex(text: &str) -> Vec<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).unwrap() as u8;
    text.as_bytes().chunks(2).map(|pair| digit(&pair[0]) << 4 | digit(&pair[1])).collect()
}

/// Checks that header, metalayers, places and bytes of chunks are those of python's frame. Python leaves the number of threads
/// out, and stores the index plainly where ours stores one repeated number.
fn assert_same(own: Vec<u8>, python: &str) {
    let (own, python) = (Frame::from_bytes(own).unwrap(), Frame::from_bytes(unhex(python)).unwrap());
    let header = Header { threads: (1, 1), frame_len: own.header().frame_len, ..python.header().clone() };
    assert_eq!(*own.header(), header);
    assert_eq!(own.metalayers(), python.metalayers());
    assert_eq!(own.layout().trailer(), python.layout().trailer());
    let places = |frame: &Frame| frame.layout().offsets().iter().collect::<Vec<_>>();
    assert_eq!(places(&own), places(&python));
    for index in 0..own.chunk_count() {
        assert_eq!(own.chunk(index).unwrap(), python.chunk(index).unwrap());
    }
}

fn options(chunks: &[u32], blocks: &[u32]) -> NdOptions {
    NdOptions { chunkshape: Some(chunks.to_vec()), blockshape: Some(blocks.to_vec()), ..NdOptions::default() }
}

fn filled(dtype: &str, shape: &[u64], fill: Fill<'_>, options: &NdOptions) -> Result<Vec<u8>> {
    let mut out = Vec::new();
    write_filled(&mut out, &DType::parse(dtype)?, shape, fill, options)?;
    Ok(out)
}

#[test]
fn filled_arrays_are_those_of_python() {
    let own = options(&[4, 5], &[2, 3]);
    let cases = [
        (python::ZEROS, "<i4", vec![5, 7], Fill::Zeros, own.clone()),
        (python::ZEROS, "<i4", vec![5, 7], Fill::Value(&[0; 4]), own.clone()),
        (python::FULL, "<i4", vec![5, 7], Fill::Value(&[7, 0, 0, 0]), own.clone()),
        (python::NANS, "<f4", vec![5, 7], Fill::Nan, own.clone()),
        (python::UNINIT, "<f4", vec![5, 7], Fill::Uninit, own),
        (python::SCALAR, "<i4", vec![], Fill::Zeros, options(&[], &[])),
        (python::EMPTY, "<i4", vec![0, 5], Fill::Zeros, options(&[2, 3], &[1, 3])),
        (python::TEXT, "<U7", vec![3], Fill::Zeros, options(&[2], &[2])),
        (python::RECORD, "[('a', '<i4'), ('s', 'S5')]", vec![3], Fill::Zeros, options(&[2], &[2])),
    ];
    for (want, dtype, shape, fill, options) in cases {
        assert_same(filled(dtype, &shape, fill, &options).unwrap(), want);
    }
}

/// Zeros that are written one by one take as little room as requested zeros.
#[test]
fn zeros_take_no_room_however_they_come() {
    let mut out = Vec::new();
    let dtype = DType::parse("<i4").unwrap();
    let mut writer = NdWriter::new(&mut out, &dtype, &[5, 7], &options(&[4, 5], &[2, 3])).unwrap();
    for _ in 0..140 {
        writer.push(&[0]).unwrap();
    }
    writer.finish().unwrap();
    assert_same(out, python::ZEROS);
}

/// 128 PiB.
#[test]
fn the_largest_array_of_zeros_is_as_small_as_any() {
    let options = options(&[1 << 30], &[1 << 28]);
    let frame = filled("|u1", &[1 << 57], Fill::Zeros, &options).unwrap();
    assert!(frame.len() < 300, "{}", frame.len());
}

#[test]
fn bytes_do_not_depend_on_pieces_nor_threads() {
    let dtype = DType::parse("<u2").unwrap();
    let elements: Vec<u8> = (0..30_u16 * 40).flat_map(|n| n.wrapping_mul(n).to_le_bytes()).collect();
    let array = Array::new(dtype.clone(), vec![30, 40], Order::C, elements.as_slice().into()).unwrap();
    let mut options = options(&[7, 9], &[3, 4]);
    let mut want = Vec::new();
    write_array_to(&mut want, &array, &options).unwrap();
    for (len, threads) in [(1, 1), (7, 2), (500, 3), (10_000, 4)] {
        options.params.threads = threads;
        let mut out = Vec::new();
        let mut writer = NdWriter::new(&mut out, &dtype, &[30, 40], &options).unwrap();
        for piece in elements.chunks(len) {
            writer.push(piece).unwrap();
        }
        writer.finish().unwrap();
        assert_eq!(out, want, "pieces of {len} on {threads} threads");
    }
}

/// Boxes of one chunk, some, a row, several rows, all.
#[test]
fn elements_that_come_in_boxes_make_the_same_frame() {
    let dtype = DType::parse("<u2").unwrap();
    let shape = [4_u64, 12, 11];
    let numbers = (0..4 * 12 * 11_u16).map(|n| n.wrapping_mul(n));
    let elements: Vec<u8> = numbers.flat_map(u16::to_le_bytes).collect();
    let array = Array::new(dtype.clone(), shape.to_vec(), Order::C, elements.as_slice().into()).unwrap();
    for chunks in [[4, 3, 2], [1, 5, 3], [3, 12, 4], [1, 1, 1]] {
        let options = options(&chunks, &[1, 1, 1]);
        let mut want = Vec::new();
        write_array_to(&mut want, &array, &options).unwrap();
        let chunk = chunks.iter().product::<u32>() * 2;
        let mut counts = Vec::new();
        let mut bounds = [0, u64::from(chunk) * 2, 200, 400, 1000, u64::MAX];
        bounds.sort_unstable();
        for most in bounds {
            let mut out = Vec::new();
            let mut writer = NdWriter::boxes(&mut out, &dtype, &shape, &options, most).unwrap();
            let mut count = 0;
            while let Some((origin, lens)) = writer.next_box() {
                let parts: Vec<(u64, u64)> = origin.into_iter().zip(lens).collect();
                let part = array.clone().select(&Region::whole(&shape).sub_region(&parts).unwrap()).unwrap();
                let bytes = part.bytes(Order::C, &Limits::default()).unwrap();
                assert!(bytes.len() as u64 <= most.max(chunk.into()), "{most} {parts:?}");
                // A box that has begun is still the one that comes.
                writer.push(&bytes[..1]).unwrap();
                assert_eq!(writer.next_box().unwrap().0[0], parts[0].0);
                writer.push(&bytes[1..]).unwrap();
                count += 1;
            }
            writer.finish().unwrap();
            assert_eq!(out, want, "{chunks:?} {most}");
            counts.push(count);
        }
        let most =
            u64::from((4_u32.div_ceil(chunks[0])) * 12_u32.div_ceil(chunks[1]) * 11_u32.div_ceil(chunks[2]));
        assert_eq!((counts[0], counts.last()), (most, Some(&1)));
        assert!(counts.is_sorted_by(|a, b| a >= b) && counts[0] > counts[4], "{counts:?}");
    }
}

#[test]
fn an_array_gets_as_many_elements_as_it_has() {
    let usage = |error: Error| assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let dtype = DType::parse("<u2").unwrap();
    let mut out = Vec::new();
    let mut writer = NdWriter::new(&mut out, &dtype, &[3], &NdOptions::default()).unwrap();
    writer.push(&[0; 5]).unwrap();
    usage(writer.finish().unwrap_err());
    let mut out = Vec::new();
    let mut writer = NdWriter::new(&mut out, &dtype, &[3], &NdOptions::default()).unwrap();
    usage(writer.push(&[0; 7]).unwrap_err());
    usage(writer.push(&[0]).unwrap_err());
    usage(writer.finish().unwrap_err());
    usage(filled("<u2", &[3], Fill::Value(&[1]), &NdOptions::default()).unwrap_err());
    usage(filled("<i4", &[3], Fill::Nan, &NdOptions::default()).unwrap_err());
}

/// NaN in a byte order or width without a mark in the index.
#[test]
fn nan_is_nan_in_every_type_that_has_it() {
    use container_core::container::ReadOptions;
    use container_core::region::Region;
    let types: [(&str, &[u8]); 4] = [
        ("<f2", &[0, 0x7e]),
        (">f4", &[0x7f, 0xc0, 0, 0]),
        ("<f8", &[0, 0, 0, 0, 0, 0, 0xf8, 0x7f]),
        (">f8", &[0x7f, 0xf8, 0, 0, 0, 0, 0, 0]),
    ];
    for (dtype, nan) in types {
        let frame = filled(dtype, &[3], Fill::Nan, &NdOptions::default()).unwrap();
        let array = NdArray::from_frame(Frame::from_bytes(frame).unwrap()).unwrap();
        let read = array.read(&Region::whole(&[3]), &ReadOptions::default()).unwrap();
        assert_eq!(*read.bytes(Order::C, &Limits::default()).unwrap(), nan.repeat(3), "{dtype}");
    }
}

/// C-Blosc2 3.3.5 does not read such a block back, so it is not written.
#[test]
fn cells_larger_than_blocks_are_refused() {
    use blosc_chunk::Pipeline;
    let mut options = options(&[4, 4], &[2, 4]);
    options.params.filters = Pipeline::parse_words(&["ndcell:3", "shuffle"]).unwrap();
    let error = filled("<i4", &[4, 4], Fill::Zeros, &options).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    options.blockshape = Some(vec![3, 4]);
    filled("<i4", &[4, 4], Fill::Zeros, &options).unwrap();
}

/// Elements of this machine go to arrays of either byte order, in pieces of any length.
#[test]
fn pushed_elements_are_in_the_order_of_the_array() {
    let elements: Vec<i16> = (0..35).map(|at| at * 300 - 2000).collect();
    let little: Vec<u8> = elements.iter().flat_map(|element| element.to_le_bytes()).collect();
    let big: Vec<u8> = elements.iter().flat_map(|element| element.to_be_bytes()).collect();
    for (dtype, expected) in [("<i2", &little), (">i2", &big)] {
        for piece in [1, 7, 8, 35] {
            let options = NdOptions { chunkshape: Some(vec![2, 5]), ..NdOptions::default() };
            let mut out = Vec::new();
            let mut writer =
                NdWriter::new(&mut out, &DType::parse(dtype).unwrap(), &[5, 7], &options).unwrap();
            assert_eq!(writer.geometry().chunk_grid(), [3, 2]);
            // Rows of chunks: two rows, two, and the last one.
            assert_eq!(writer.next_box(), Some((vec![0, 0], vec![2, 7])));
            elements.chunks(piece).for_each(|piece| writer.push_elements(piece).unwrap());
            assert_eq!(writer.next_box(), None);
            let error = writer.push_elements(&[1_i16]).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
            // After an error nothing is written.
            assert!(writer.push(&[]).is_err() && writer.finish().is_err());
            let mut out = Vec::new();
            let mut writer =
                NdWriter::new(&mut out, &DType::parse(dtype).unwrap(), &[5, 7], &options).unwrap();
            elements.chunks(piece).for_each(|piece| writer.push_elements(piece).unwrap());
            writer.finish().unwrap();
            let array = NdArray::from_frame(Frame::from_bytes(out).unwrap()).unwrap();
            let mut found = vec![0; 70];
            array.read_into(&Region::whole(&[5, 7]), &mut found, &Default::default()).unwrap();
            assert_eq!(&found, expected, "{dtype} {piece}");
            assert_eq!(array.into_frame().chunk_count(), 6);
        }
    }
    let options = NdOptions::default();
    let mut out = Vec::new();
    let mut writer = NdWriter::new(&mut out, &DType::parse("<i2").unwrap(), &[4], &options).unwrap();
    let error = writer.push_elements(&[1_i32, 2]).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    writer.push_elements(&[1_i16]).unwrap();
    assert!(writer.finish().is_err(), "elements are missing");
}
