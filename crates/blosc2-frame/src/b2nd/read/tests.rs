use container_core::container::ReadOptions;
use container_core::dtype::Order;
use container_core::region::{AxisSelection, Kept, Region};
use proptest::prelude::*;

use super::*;
use crate::OpenOptions;
use blosc_chunk::{Compressor, Filter, Pipeline};
use build::{Making, indices, open, pipeline};

mod build;
mod far;
mod files;

fn options(threads: usize) -> ReadOptions {
    ReadOptions::default().with_threads(threads)
}

fn bytes(array: &NdArray, selection: &[Indices], threads: usize) -> Vec<u8> {
    let options = options(threads);
    array.read_orthogonal(selection, &options).unwrap().bytes(Order::C, &options.limits).unwrap().into_owned()
}

/// Returns the indices that are selected along an axis, one by one.
fn listed(indices: &Indices) -> Vec<u64> {
    match indices {
        Indices::List(list) => list.clone(),
        Indices::Slice(axis) => (0..axis.count)
            .map(|at| axis.start.wrapping_add_signed(axis.step.wrapping_mul(at as i64)))
            .collect(),
    }
}

/// Selects from `elements`, element by element.
fn naive(elements: &[u8], shape: &[u64], itemsize: usize, selection: &[Indices]) -> Vec<u8> {
    let lists: Vec<Vec<u64>> = selection.iter().map(listed).collect();
    let counts: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
    let mut found = Vec::new();
    for place in indices(&counts) {
        let number = place
            .iter()
            .zip(&lists)
            .zip(shape)
            .fold(0, |number, ((at, list), len)| number * *len as usize + list[*at as usize] as usize);
        found.extend_from_slice(&elements[number * itemsize..][..itemsize]);
    }
    found
}

fn slice(start: u64, step: i64, count: u64) -> Indices {
    Indices::Slice(AxisSelection { start, step, count, kept: Kept::Yes })
}

/// Makes a selection along an axis of `len`.
fn select(len: u64) -> BoxedStrategy<Indices> {
    if len == 0 {
        return Just(slice(0, 1, 0)).boxed();
    }
    let slices =
        (0..len, 1..=len, any::<bool>(), any::<u64>()).prop_map(move |(start, step, is_back, count)| {
            let (most, step) = if is_back {
                (start / step + 1, -(step as i64))
            } else {
                ((len - 1 - start) / step + 1, step as i64)
            };
            slice(start, step, count % (most + 1))
        });
    prop_oneof![
        2 => Just(slice(0, 1, len)),
        2 => (0..len).prop_map(|at| Indices::Slice(AxisSelection { start: at, step: 1, count: 1, kept: Kept::No })),
        2 => (0..len, 1..=len).prop_map(move |(start, count)| slice(start, 1, count.min(len - start))),
        2 => slices,
        1 => proptest::collection::vec(0..len, 0..10).prop_map(Indices::List),
    ]
    .boxed()
}

fn axis() -> impl Strategy<Value = (u64, u32, u32)> {
    (0_u64..24, 1_u32..12, 1_u32..8)
}

fn filters() -> impl Strategy<Value = Pipeline> {
    let two = |first, second| {
        let mut filters = pipeline(second);
        filters.0[4] = Filter::new(first, 0);
        filters
    };
    prop_oneof![
        Just(Pipeline::default()),
        Just(Pipeline::shuffle()),
        Just(pipeline(Filter::BITSHUFFLE)),
        Just(pipeline(Filter::DELTA)),
        Just(two(Filter::DELTA, Filter::SHUFFLE)),
        Just(two(Filter::SHUFFLE, Filter::BYTEDELTA)),
    ]
}

fn making() -> impl Strategy<Value = Making> {
    let codec = prop_oneof![
        Just(Compressor::LZ4),
        Just(Compressor::BLOSCLZ),
        Just(Compressor::ZSTD),
        Just(Compressor::ZLIB)
    ];
    let axes = proptest::collection::vec(axis(), 0..4);
    let itemsize = proptest::sample::select(vec![1_usize, 2, 3, 4, 8, 12, 16, 17, 300]);
    let special = proptest::option::weighted(0.3, 0_u64..4);
    let blocksize = proptest::option::weighted(0.1, 1_usize..200);
    (axes, itemsize, codec, filters(), 0_u8..7, special, blocksize).prop_map(
        |(axes, itemsize, compressor, filters, level, special, blocksize)| Making {
            shape: axes.iter().map(|axis| axis.0).collect(),
            chunkshape: axes.iter().map(|axis| axis.1).collect(),
            blockshape: axes.iter().map(|axis| axis.2.min(axis.1)).collect(),
            itemsize,
            compressor,
            level,
            filters,
            // Whole elements, so that streams and filters agree about them.
            blocksize: blocksize.map(|elements| elements * itemsize),
            special,
        },
    )
}

fn case() -> impl Strategy<Value = (Making, Vec<Vec<Indices>>)> {
    making().prop_flat_map(|making| {
        let one: Vec<_> = making.shape.iter().map(|len| select(*len)).collect();
        (Just(making), proptest::collection::vec(one, 3))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 4 } else { 120 }))]

    /// Whatever the geometry, the codec, the threads and what is in the cache already.
    #[test]
    fn selections_read_the_same_as_single_elements((making, selections) in case(), threads in 1_usize..4, cache in prop_oneof![Just(0_u64), Just(2_000), Just(1 << 20)]) {
        let (frame, elements) = making.make();
        let array = NdArray::from_frame(open(frame, cache)).unwrap();
        for selection in selections.iter().chain(&selections).chain(&selections) {
            let want = naive(&elements, &making.shape, making.itemsize, selection);
            prop_assert_eq!(&bytes(&array, selection, threads), &want);
            // Memory that is not zeros is overwritten all the same.
            let mut dst = vec![0xdd; want.len()];
            array.read_orthogonal_into(selection, &mut dst, &options(threads)).unwrap();
            prop_assert_eq!(&dst, &want);
        }
    }
}

/// Large enough for threads: a result that is cut along each axis, the first of them or another.
#[test]
fn threads_read_what_one_reads() {
    for (shape, chunks, blocks) in [
        (vec![500, 300], vec![100, 80], vec![30, 80]),
        (vec![2, 450, 180], vec![2, 90, 100], vec![2, 9, 100]),
        (vec![1, 1, 150_000], vec![1, 1, 50_000], vec![1, 1, 700]),
        (vec![150_000], vec![100_001], vec![1000]),
    ] {
        let making = Making::new(&shape, &chunks, &blocks, 8);
        let (frame, elements) = making.make();
        let array = NdArray::from_frame(open(frame, 0)).unwrap();
        let whole: Vec<Indices> = shape.iter().map(|len| slice(0, 1, *len)).collect();
        let back: Vec<Indices> = shape.iter().map(|len| slice(len - 1, -1, *len)).collect();
        let list: Vec<Indices> = shape
            .iter()
            .map(|len| Indices::List((0..*len).rev().map(|at| at ^ 1).filter(|at| at < len).collect()))
            .collect();
        for selection in [&whole, &back, &list] {
            let want = naive(&elements, &shape, 8, selection);
            for threads in [1, 2, 5] {
                assert!(bytes(&array, selection, threads) == want, "{shape:?} {threads}");
            }
        }
    }
}

/// C-Blosc2's `getitem` takes as many elements as a block has for a whole block, wherever they begin.
#[test]
fn as_many_elements_as_a_block_has_from_anywhere() {
    let making = Making::new(&[256], &[128], &[32], 4);
    let (frame, elements) = making.make();
    let array = NdArray::from_frame(open(frame, 0)).unwrap();
    for start in 0..=224 {
        let found = bytes(&array, &[slice(start, 1, 32)], 1);
        assert_eq!(found, elements[start as usize * 4..][..128], "from {start}");
    }
}

/// C-Blosc2 decodes blocks but the first without the one that DELTA refers to.
#[test]
fn parts_of_chunks_under_delta() {
    for filters in [pipeline(Filter::DELTA), {
        let mut both = pipeline(Filter::SHUFFLE);
        both.0[0] = Filter::new(Filter::DELTA, 0);
        both
    }] {
        let making = Making { filters, ..Making::new(&[64, 64], &[32, 32], &[8, 16], 4) };
        let (frame, elements) = making.make();
        let array = NdArray::from_frame(open(frame, 1 << 20)).unwrap();
        // Cold, then kept, then from what was kept.
        for _ in 0..3 {
            for selection in [
                [slice(40, 1, 2), slice(50, 1, 3)],
                [slice(0, 1, 64), slice(33, 1, 1)],
                [slice(9, 1, 1), slice(0, 1, 64)],
            ] {
                assert_eq!(bytes(&array, &selection, 1), naive(&elements, &[64, 64], 4, &selection));
            }
        }
    }
}

/// Chunks that differ from the header's parameters for new chunks, in a read that is cut within them.
#[test]
fn chunks_of_other_blocks_are_decoded_once() {
    let plain = Making::new(&[300, 600], &[300, 200], &[10, 200], 8);
    let delta = pipeline(Filter::DELTA);
    for making in [Making { blocksize: Some(5000), ..plain.clone() }, Making { filters: delta, ..plain }] {
        let (mut frame, elements) = making.make();
        // The filters of the frame: those of its chunks are in the chunks.
        frame[71..77].fill(0);
        let array = NdArray::from_frame(open(frame, 0)).unwrap();
        for threads in [1, 3] {
            assert!(bytes(&array, &[slice(0, 1, 300), slice(0, 1, 600)], threads) == elements, "{making:?}");
        }
    }
}

#[test]
fn arrays_of_16_and_0_dimensions_are_read() {
    let making = Making::new(&[2; 16], &[2; 16], &[1; 16], 1);
    let (frame, elements) = making.make();
    let array = NdArray::from_frame(open(frame, 0)).unwrap();
    let region = Region::parse("1, ..., ::-1", &[2; 16]).unwrap();
    let options = options(1);
    let read = array.read(&region, &options).unwrap();
    assert_eq!(read.shape(), [2; 15]);
    let want = naive(&elements, &[2; 16], 1, &super::super::select::of_region(&region));
    assert_eq!(read.bytes(Order::C, &options.limits).unwrap(), want);

    let (frame, elements) = Making::new(&[], &[], &[], 5).make();
    let array = NdArray::from_frame(open(frame, 0)).unwrap();
    let read = array.read(&Region::whole(&[]), &options).unwrap();
    assert_eq!(
        (read.shape(), read.bytes(Order::C, &options.limits).unwrap().as_ref()),
        (&[][..], &elements[..])
    );
}

#[test]
fn an_array_of_zeros_is_read_without_a_chunk() {
    let making = Making { special: Some(0), ..Making::new(&[0, 5], &[1, 5], &[1, 5], 4) };
    let (frame, _) = making.make();
    let array = NdArray::from_frame(open(frame, 0)).unwrap();
    let read = array.read(&Region::whole(&[0, 5]), &options(2)).unwrap();
    assert_eq!((read.shape(), read.is_empty()), (&[0, 5][..], true));
}

#[test]
fn chunks_that_contradict_the_shape_are_refused() {
    let (frame, _) = Making::new(&[10], &[4], &[2], 4).make();
    // The shape in the metalayer: after the markers of the list and of the number.
    let at = frame.windows(4).position(|window| window == b"b2nd").unwrap();
    let shape_at = at + frame[at..].windows(3).position(|window| window == [0x97, 0, 1]).unwrap() + 5;
    assert_eq!(frame[shape_at..shape_at + 8], 10_u64.to_be_bytes());
    for (place, value) in [(shape_at + 7, 13), (shape_at + 8 + 5, 5), (shape_at + 8 + 5 + 6, 3)] {
        let mut frame = frame.clone();
        frame[place] = value;
        let error = NdArray::from_frame(open(frame, 0)).map(|_| ()).unwrap_err();
        assert!(matches!(error.kind(), container_core::ErrorKind::Malformed(_)), "{error}");
        assert!(error.hint().is_some() && error.range().is_some(), "{error}");
    }
}

/// Whatever a byte is changed to, there is an error or there are elements, and memory stays within its limit.
#[test]
fn changed_bytes_end_in_errors_or_elements() {
    let making = Making { special: Some(0), ..Making::new(&[9, 7], &[4, 5], &[2, 3], 4) };
    let (frame, elements) = making.make();
    let limits = Limits::default().with_memory(1 << 20);
    let (mut sound, mut refused) = (0, 0);
    for at in 0..frame.len() {
        for change in [0x01, 0x80, 0xff] {
            let mut frame = frame.clone();
            frame[at] ^= change;
            let options = OpenOptions { limits, ..OpenOptions::default() };
            let array = Frame::from_source(Box::new(frame), 0, &options).and_then(NdArray::from_frame);
            let Ok(array) = array else {
                refused += 1;
                continue;
            };
            let options = ReadOptions::default().with_limits(limits);
            let all = array.read(&Region::whole(array.shape()), &options);
            match all.and_then(|all| Ok(all.bytes(Order::C, &limits)?.into_owned())) {
                Ok(bytes) => sound += usize::from(bytes == elements),
                Err(_) => refused += 1,
            }
            let corner: Vec<Indices> = array.shape().iter().map(|len| slice(len - 1, 1, 1)).collect();
            let _ = array.read_orthogonal(&corner, &options);
        }
    }
    assert!(sound > 100 && refused > 500, "{sound} {refused}");
}

/// Includes cached blocks, and changes that no header shows.
#[test]
fn a_refresh_shows_what_another_program_wrote() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("array.b2nd");
    let part = [slice(1, 1, 2)];
    let want = |elements: &[u8]| elements[4..12].to_vec();
    let (short, short_elements) = Making::new(&[20], &[10], &[5], 4).make();
    let (long, long_elements) = Making { special: Some(0), ..Making::new(&[30], &[10], &[5], 4) }.make();
    std::fs::write(&path, short).unwrap();
    let mut array = NdArray::open(&path).unwrap();
    for _ in 0..3 {
        assert_eq!(bytes(&array, &part, 1), want(&short_elements));
    }
    assert!(!array.refresh().unwrap());
    // A new file in the place of the old one, which stays as it is for who has it open.
    let new = dir.path().join("new");
    std::fs::write(&new, long).unwrap();
    std::fs::rename(&new, &path).unwrap();
    assert_eq!((array.shape(), bytes(&array, &part, 1)), (&[20][..], want(&short_elements)));
    assert!(array.refresh().unwrap());
    assert_eq!((array.shape(), bytes(&array, &part, 1)), (&[30][..], want(&long_elements)));
    assert_ne!(want(&short_elements), want(&long_elements));
}

#[test]
fn many_read_at_once() {
    let making = Making::new(&[64, 64, 16], &[32, 32, 16], &[8, 8, 16], 4);
    let (frame, elements) = making.make();
    let array = NdArray::from_frame(open(frame, 200_000)).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4_u64 {
            let (array, elements) = (&array, &elements);
            scope.spawn(move || {
                for round in 0..200_u64 {
                    let at = (round * 7 + thread * 13) % 60;
                    let selection = [slice(at, 1, 4), slice(60 - at, 1, 4), slice(round % 12, 1, 4)];
                    assert_eq!(bytes(array, &selection, 1), naive(elements, &[64, 64, 16], 4, &selection));
                }
            });
        }
    });
}
