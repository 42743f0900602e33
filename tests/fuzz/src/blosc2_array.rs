//! Arrays: parts of files of any bytes, and of files made here, against elements picked one by one.

use std::borrow::Cow;

use blosc2_frame::b2nd::{Geometry, Indices, NdArray, NdOptions, write_array_to};
use blosc2_frame::blosc_chunk::{Compressor, Filter, Pipeline};
use blosc2_frame::{Frame, default_params};
use container_core::ErrorKind;
use container_core::array::Array;
use container_core::container::Tolerance;
use container_core::dtype::{DType, Order};
use container_core::region::Region;

use crate::blosc2_file::open;
use crate::feed::Feed;
use crate::lens::look_at_error;
use crate::options::read_options;
use crate::values::{bytes_of, pick, region};

/// Most bytes that an array may have for all of it to be put together element by element.
const MAX_ARRAY_BYTES: u64 = 1 << 16;

/// A file of any bytes as an array.
pub fn blosc2_array(data: &[u8]) {
    let mut feed = Feed::derived(data);
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let Ok(frame) = open(data, tolerance) else { continue };
        match NdArray::from_frame(frame) {
            Ok(array) => look(&array, &mut feed),
            Err(error) => look_at_error(&error),
        }
    }
}

/// An array of any shape, chunks and blocks.
pub fn blosc2_slices(data: &[u8]) {
    let mut feed = Feed::new(data);
    let axes = feed.below(4);
    // Short, so that it runs often: three chunks along an axis, and more than one block in each, show as much as many.
    let shape: Vec<u64> = (0..axes).map(|_| feed.below(9) as u64).collect();
    let chunks: Vec<u32> = (0..axes).map(|_| 1 + feed.below(6) as u32).collect();
    let blocks = chunks.iter().map(|chunk| 1 + feed.below(*chunk as usize) as u32).collect();
    let itemsize = feed.one_of(&[1, 2, 3, 4, 8, 12, 17, 300]);
    let mut options = NdOptions::default();
    options.params = default_params(itemsize);
    options.params.compressor =
        feed.one_of(&[Compressor::BLOSCLZ, Compressor::LZ4, Compressor::ZLIB, Compressor::ZSTD]);
    options.params.level = feed.below(6) as u8;
    options.params.filters = pipeline(&mut feed);
    options.chunkshape = Some(chunks);
    options.blockshape = Some(blocks);
    let len = shape.iter().product::<u64>() as usize * itemsize;
    if len as u64 > MAX_ARRAY_BYTES {
        return;
    }
    let bytes = if feed.below(4) == 0 { vec![0; len] } else { feed.fill(len) };
    let dtype = DType::void(itemsize);
    let array = Array::new(dtype, shape.clone(), Order::C, Cow::Borrowed(&bytes)).expect("a whole array");
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &options).expect("an array like any other");
    let frame = Frame::from_bytes(file).expect("what was written");
    let array = NdArray::from_frame(frame).expect("what was written");
    assert_eq!(array.shape(), shape);
    let read = array.read(&Region::whole(&shape), &read_options()).expect("what was written");
    assert!(bytes_of(&read, Order::C).as_ref() == Some(&bytes), "all of it");
    look(&array, &mut feed);
}

fn pipeline(feed: &mut Feed<'_>) -> Pipeline {
    let mut filters = Pipeline::default();
    let last = feed.one_of(&[0, 1, 2, 3, 35]);
    if last != 0 {
        filters.0[5] = Filter::new(last, 0);
    }
    if feed.below(4) == 0 {
        filters.0[4] = Filter::new(3, 0);
    }
    filters
}

/// Compares what is read with what the chunks hold.
fn look(array: &NdArray, feed: &mut Feed<'_>) {
    let shape = array.shape().to_vec();
    let size = array.dtype().itemsize();
    let Some(elements) = elements(array) else {
        // Whatever can be read at all.
        for _ in 0..4 {
            let part = region(&shape, feed);
            if let Err(error) = array.read(&part, &read_options()) {
                look_at_error(&error);
            }
        }
        return;
    };
    let read = array.read(&Region::whole(&shape), &read_options()).expect("all chunks can be read");
    assert!(bytes_of(&read, Order::C).as_ref() == Some(&elements), "{:?}", array.geometry());
    for _ in 0..6 {
        let part = region(&shape, feed);
        let read = array.read(&part, &read_options()).expect("all chunks can be read");
        assert_eq!(read.shape(), part.shape());
        if let Some(expected) = pick(&elements, &shape, size, &part) {
            assert!(bytes_of(&read, Order::C) == Some(expected), "{part:?} {:?}", array.geometry());
        }
    }
    if shape.contains(&0) {
        return;
    }
    let lists: Vec<Vec<u64>> =
        shape.iter().map(|len| (0..feed.below(5)).map(|_| feed.word() % len).collect()).collect();
    let selection: Vec<Indices> = lists.iter().cloned().map(Indices::List).collect();
    let read = match array.read_orthogonal(&selection, &read_options()) {
        // Lists name elements again and again, so that the result may be larger than the array.
        Err(error) if matches!(error.kind(), ErrorKind::Limit { .. }) => {
            let count: usize = lists.iter().map(Vec::len).product();
            assert!(count * size > elements.len(), "{error}: {lists:?} {:?}", array.geometry());
            return;
        }
        read => read.expect("all chunks can be read"),
    };
    let expected = combine(&elements, &shape, size, &lists);
    assert!(bytes_of(&read, Order::C) == Some(expected), "{lists:?} {:?}", array.geometry());
}

/// Every combination of the indices, in C order.
fn combine(elements: &[u8], shape: &[u64], size: usize, lists: &[Vec<u64>]) -> Vec<u8> {
    let mut places: Vec<u64> = vec![0];
    for (list, len) in lists.iter().zip(shape) {
        places = places.iter().flat_map(|place| list.iter().map(move |at| place * len + at)).collect();
    }
    places.iter().flat_map(|place| &elements[*place as usize * size..][..size]).copied().collect()
}

/// All elements in C order, each found in its chunk by division alone. `None` where a chunk cannot be read, or for many.
fn elements(array: &NdArray) -> Option<Vec<u8>> {
    let geometry = array.geometry();
    let size = geometry.itemsize();
    let count = array.shape().iter().try_fold(1_u64, |count, len| count.checked_mul(*len))?;
    if count.checked_mul(size as u64)? > MAX_ARRAY_BYTES || geometry.chunk_count() > 64 {
        return None;
    }
    if count > 0 && geometry.chunk_count().checked_mul(geometry.chunk_bytes())? > 16 * MAX_ARRAY_BYTES {
        return None;
    }
    let read = |chunk| array.frame().read_chunk(chunk, &read_options()).ok();
    let chunks = (0..geometry.chunk_count()).map(read).collect::<Option<Vec<_>>>()?;
    let mut all = Vec::new();
    for number in 0..count {
        let (chunk, at) = place(geometry, number);
        all.extend_from_slice(chunks.get(chunk)?.get(at * size..(at + 1) * size)?);
    }
    Some(all)
}

/// The chunk of an element, and its place there.
fn place(geometry: &Geometry, number: u64) -> (usize, usize) {
    let (mut rest, mut at) = (number, Vec::new());
    for len in geometry.shape().iter().rev() {
        at.push(rest % len);
        rest /= len;
    }
    at.reverse();
    let (mut chunk, mut block, mut inside) = (0_u64, 0_u64, 0_u64);
    for (axis, at) in at.into_iter().enumerate() {
        let chunk_len = u64::from(geometry.chunkshape()[axis]);
        let block_len = u64::from(geometry.blockshape()[axis]);
        let within = at % chunk_len;
        chunk = chunk * geometry.shape()[axis].div_ceil(chunk_len) + at / chunk_len;
        block = block * chunk_len.div_ceil(block_len) + within / block_len;
        inside = inside * block_len + within % block_len;
    }
    let items: u64 = geometry.blockshape().iter().map(|len| u64::from(*len)).product();
    (chunk as usize, (block * items + inside) as usize)
}
