#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use std::borrow::Cow;

use super::*;
use crate::dtype::Kind;
use crate::region::Region;
use crate::source::SparseSource;
use proptest::prelude::*;

mod layout;

fn u16s(order: ByteOrder) -> DType {
    DType::new(Kind::Uint, 2, order)
}

/// 2 × 3, row major: [[0, 1, 2], [3, 4, 5]].
fn small(order: ByteOrder) -> Array<'static> {
    let bytes: Vec<u8> = (0..6_u16)
        .flat_map(|n| if order == ByteOrder::Big { n.to_be_bytes() } else { n.to_le_bytes() })
        .collect();
    Array::new(u16s(order), vec![2, 3], Order::C, Cow::Owned(bytes)).unwrap()
}

fn values(array: &Array<'_>, order: Order) -> Vec<u16> {
    array.elements::<u16>(order, &Limits::default()).unwrap().into_owned()
}

#[test]
fn elements_are_copied_in_the_requested_order() {
    for byte_order in [ByteOrder::Little, ByteOrder::Big] {
        let array = small(byte_order);
        assert_eq!(values(&array, Order::C), [0, 1, 2, 3, 4, 5]);
        assert_eq!(values(&array, Order::F), [0, 3, 1, 4, 2, 5]);
        assert_eq!(values(&array.clone().reversed_axes(), Order::F), [0, 1, 2, 3, 4, 5]);
    }
}

#[test]
fn selections_keep_numpy_semantics() {
    // numpy: np.arange(6).reshape(2, 3)[...]
    let pick = |text: &str| {
        let region = Region::parse(text, &[2, 3]).unwrap();
        let array = small(ByteOrder::Little).select(&region).unwrap();
        (array.shape().to_vec(), values(&array, Order::C))
    };
    assert_eq!(pick("1"), (vec![3], vec![3, 4, 5]));
    assert_eq!(pick(":, ::-2"), (vec![2, 2], vec![2, 0, 5, 3]));
    assert_eq!(pick("::-1, 1"), (vec![2], vec![4, 1]));
    assert_eq!(pick("0, 0"), (vec![], vec![0]));
    assert_eq!(pick("0:0"), (vec![0, 3], vec![]));
}

#[test]
fn aligned_native_elements_are_borrowed() {
    let words = [7_u64, 8, 9];
    let bytes = Cow::Borrowed(bytemuck::cast_slice(&words));
    let array = Array::new(u64::dtype(), vec![3], Order::F, bytes).unwrap();
    let elements = array.elements::<u64>(Order::C, &Limits::default().with_memory(0)).unwrap();
    assert!(matches!(elements, Cow::Borrowed([7, 8, 9])));
    assert!(array.elements::<i64>(Order::C, &Limits::default()).is_err());
    assert!(array.elements::<u32>(Order::C, &Limits::default()).is_err());
}

#[test]
fn misaligned_elements_are_copied() {
    let mut bytes = vec![0];
    for word in [1_u64, 2] {
        bytes.extend(word.to_ne_bytes());
    }
    let aligned_at = bytes.as_ptr().align_offset(8);
    let odd = if aligned_at == 1 { &bytes[..16] } else { &bytes[1..] };
    let array = Array::new(u64::dtype(), vec![2], Order::C, Cow::Borrowed(odd)).unwrap();
    let elements = array.elements::<u64>(Order::C, &Limits::default()).unwrap();
    assert_eq!(elements.len(), 2);
    assert!(matches!(elements, Cow::Owned(_)));
}

#[test]
fn a_region_of_another_array_is_refused() {
    let region = Region::whole(&[2, 4]);
    assert!(small(ByteOrder::Little).select(&region).is_err());
    assert!(small(ByteOrder::Little).select(&Region::whole(&[2])).is_err());
}

#[test]
fn an_array_without_elements_has_any_shape() {
    let array = Array::new(u16s(ByteOrder::Big), vec![1 << 63, 0, 9], Order::F, Cow::Owned(vec![])).unwrap();
    assert!(array.is_empty() && array.is_contiguous(Order::C));
    assert_eq!(array.bytes(Order::C, &Limits::default()).unwrap().len(), 0);
}

/// Reads by index arithmetic alone: the reference for every faster path.
fn naive(shape: &[u64], order: Order, region: &Region, target: Order, item: usize) -> Vec<u8> {
    let mut axes: Vec<usize> = (0..shape.len()).collect();
    if target == Order::C {
        axes.reverse();
    }
    let mut out = Vec::new();
    let total = region.len().unwrap();
    for flat in 0..total {
        let mut rest = flat;
        let mut index = vec![0; shape.len()];
        for axis in &axes {
            let selection = region.axes()[*axis];
            index[*axis] = (selection.start as i64 + selection.step * (rest % selection.count) as i64) as u64;
            rest /= selection.count;
        }
        let mut at = 0;
        let stored: Vec<usize> =
            if order == Order::C { (0..shape.len()).collect() } else { (0..shape.len()).rev().collect() };
        for axis in stored {
            at = at * shape[axis] + index[axis];
        }
        out.extend((0..item).map(|byte| (at as usize * item + byte) as u8));
    }
    out
}

proptest! {
    #[test]
    fn every_path_gives_the_same_elements(
        shape in prop::collection::vec(1_u64..if cfg!(miri) { 4 } else { 9 }, 0..5),
        picks in prop::collection::vec((0_u64..9, 0_u64..9, 1_u64..4, any::<bool>(), any::<bool>()), 5),
        f_order in any::<bool>(),
        item in prop::sample::select(vec![1_usize, 2, 3, 4, 8, 16]),
    ) {
        let order = if f_order { Order::F } else { Order::C };
        let axes = shape.iter().zip(&picks).map(|(len, (a, b, step, back, drop))| {
            let (low, high) = (a.min(b) % len, a.max(b) % len);
            let (low, high) = (low.min(high), low.max(high));
            if *drop {
                return AxisSelection { start: low, step: 1, count: 1, kept: Kept::No };
            }
            let count = (high - low) / step + 1;
            let last = low + (count - 1) * step;
            let step = *step as i64;
            let (start, step) = if *back { (last, -step) } else { (low, step) };
            AxisSelection { start, step, count, kept: Kept::Yes }
        });
        let region = Region::new(axes.collect(), &shape).unwrap();
        let len = shape.iter().product::<u64>() as usize * item;
        let bytes: Vec<u8> = (0..len).map(|at| at as u8).collect();
        let stored = StoredArray { dtype: DType::void(item), shape: shape.clone(), order, data_at: 3 };
        let file = [&[0; 3][..], &bytes].concat();
        let mut sparse = SparseSource::new(file.len() as u64);
        for (at, byte) in file.iter().enumerate() {
            sparse.insert(at as u64, &[*byte]).unwrap();
        }
        let limits = Limits::default();
        for source in [&file as &dyn Source, &sparse] {
            let array = stored.read(source, &region, &limits, 2).unwrap();
            prop_assert_eq!(array.shape(), region.shape());
            for target in [Order::C, Order::F] {
                let got = array.bytes(target, &limits).unwrap();
                prop_assert_eq!(&*got, &naive(&shape, order, &region, target, item)[..]);
            }
        }
    }
}

use crate::array::StoredArray;
use crate::region::{AxisSelection, Kept};

#[test]
fn large_transpositions_and_sparse_rows_are_right() {
    let shape = if cfg!(miri) { [41, 33, 5] } else { [301, 203, 5] };
    let count: u64 = shape.iter().product();
    let words: Vec<u32> = (0..count as u32).collect();
    let stored = StoredArray { dtype: u32::dtype(), shape: shape.to_vec(), order: Order::C, data_at: 0 };
    let bytes: Vec<u8> = bytemuck::cast_slice(&words).to_vec();
    let array = stored.read(&bytes, &Region::whole(&shape), &Limits::default(), 1).unwrap();
    let turned = array.elements::<u32>(Order::F, &Limits::default()).unwrap();
    for (at, value) in turned.iter().enumerate() {
        let at = at as u64;
        let [rows, columns, _] = shape;
        let (i, j, k) = (at % rows, at / rows % columns, at / rows / columns);
        assert_eq!(u64::from(*value), (i * columns + j) * 5 + k);
    }
}

#[test]
#[cfg_attr(miri, ignore = "makes 8 MiB, byte by byte")]
fn a_thin_region_of_a_file_reads_little() {
    struct Counting(Vec<u8>, std::sync::atomic::AtomicU64);
    impl Source for Counting {
        fn len(&self) -> u64 {
            self.0.len() as u64
        }
        fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
            self.1.fetch_add(dst.len() as u64, std::sync::atomic::Ordering::Relaxed);
            self.0.read_into(at, dst)
        }
    }
    let source = Counting((0..8 << 20).map(|at| (at / 4096) as u8).collect(), 0.into());
    let stored = StoredArray { dtype: u8::dtype(), shape: vec![2048, 4096], order: Order::C, data_at: 0 };
    let region = Region::parse("::1024, 0:16", &[2048, 4096]).unwrap();
    let array = stored.read(&source, &region, &Limits::default(), 1).unwrap();
    assert_eq!(array.elements::<u8>(Order::C, &Limits::default()).unwrap().len(), 32);
    assert!(source.1.into_inner() <= 32 + 2 * WASTE_TEST, "reads far more than the region");
}

const WASTE_TEST: u64 = 64 << 10;

#[test]
fn strides_of_the_callers_reach_only_what_is_there() {
    let bytes: Vec<u8> = (0..12).collect();
    let view = |shape: &[u64], strides: &[i64], origin| {
        let dtype = DType::native(Kind::Uint, 1);
        Array::strided(dtype, shape.to_vec(), strides.to_vec(), origin, Cow::Borrowed(&bytes))
    };
    let read =
        |array: Result<Array<'_>>| array.unwrap().bytes(Order::C, &Limits::default()).unwrap().into_owned();
    assert_eq!(read(view(&[2, 3], &[4, 2], 1)), [1, 3, 5, 5, 7, 9]);
    assert_eq!(read(view(&[3], &[-5], 11)), [11, 6, 1]);
    assert_eq!(read(view(&[2, 2], &[0, 1], 7)), [7, 8, 7, 8]);
    assert_eq!(read(view(&[], &[], 11)), [11]);
    assert_eq!(read(view(&[1 << 63, 0], &[1 << 40, 1], 99)), [0_u8; 0]);
    for (shape, strides, origin) in [
        (vec![4], vec![4], 0),
        (vec![3], vec![-5], 9),
        (vec![2], vec![1, 1], 0),
        (vec![u64::MAX, u64::MAX], vec![i64::MAX, i64::MAX], 0),
        (vec![u64::MAX], vec![i64::MIN], 0),
        (vec![1], vec![1], 12),
    ] {
        assert!(view(&shape, &strides, origin).is_err(), "{shape:?} {strides:?} {origin}");
    }
}

/// Every kind of copy checks the request: runs, columns, transpositions, and more axes.
#[test]
fn copies_end_after_a_stop_request() {
    let flag: &'static std::sync::atomic::AtomicBool = Box::leak(Box::default());
    flag.store(true, std::sync::atomic::Ordering::Relaxed);
    let limits = Limits::default().with_stop(Stop::when(flag));
    let big = cfg!(not(miri));
    let shapes = [vec![60, 70], vec![20, 3, 30], if big { vec![3 * STOP_LEN as u64] } else { vec![9, 9] }];
    for shape in shapes {
        let len: u64 = shape.iter().product();
        let dtype = DType::native(Kind::Uint, 1);
        let array = |order| Array::new(dtype.clone(), shape.clone(), order, vec![1; len as usize].into());
        let every_other: Vec<String> = shape.iter().map(|_| "::2".to_owned()).collect();
        let region = Region::parse(&every_other.join(","), &shape).unwrap();
        for array in [array(Order::F).unwrap(), array(Order::C).unwrap().select(&region).unwrap()] {
            let mut dst = vec![0; array.len() as usize];
            let small = dst.len() < STOP_LEN && array.shape().len() == 1;
            if small || array.is_contiguous(Order::C) && array.shape().len() > 1 {
                continue;
            }
            let copied = array.copy_to(Order::C, &mut dst, limits.stop);
            assert!(matches!(copied.unwrap_err().kind(), crate::ErrorKind::Cancelled), "{shape:?}");
            assert!(dst.iter().all(|byte| *byte == 0), "{shape:?}");
        }
    }
}
