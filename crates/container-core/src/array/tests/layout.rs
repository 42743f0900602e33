//! Layouts of arrays: strides, orders, bytes that are lent and copied, regions of stored arrays.

use std::borrow::Cow;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use crate::ErrorKind;
use crate::array::*;
use crate::dtype::Kind;

fn bytes(len: u8) -> Array<'static> {
    Array::new(u8::dtype(), vec![len.into()], Order::C, (0..len).collect::<Vec<u8>>().into()).unwrap()
}

fn of(shape: &[u64], order: Order, dtype: &str) -> Array<'static> {
    let dtype = DType::parse(dtype).unwrap();
    let len = byte_len(&dtype, shape).unwrap();
    let bytes: Vec<u8> = (0..=250).cycle().take(usize::try_from(len).unwrap()).collect();
    Array::new(dtype, shape.to_vec(), order, bytes.into()).unwrap()
}

fn read(array: &Array<'_>, order: Order) -> Vec<u8> {
    array.bytes(order, &Limits::default()).unwrap().into_owned()
}

#[test]
fn an_array_is_as_long_as_its_bytes() {
    let new = |shape: &[u64], len| {
        let bytes = Cow::Owned(vec![0; len]);
        Array::new(DType::parse("<u2").unwrap(), shape.to_vec(), Order::C, bytes).map(|array| array.len())
    };
    assert_eq!(new(&[2, 3], 12).unwrap(), 6);
    assert_eq!(new(&[], 2).unwrap(), 1);
    for len in [11, 13] {
        let error = new(&[2, 3], len).unwrap_err();
        assert_eq!(error.to_string(), format!("{len} bytes for <u2 of shape [2, 3]"));
    }
    assert!(new(&[u64::MAX, 3], 12).is_err());
}

#[test]
fn views_of_strides_are_refused_with_the_reason() {
    let view = |shape: &[u64], strides: &[i64]| {
        let bytes = Cow::Owned(vec![0; 8]);
        Array::strided(DType::parse("<u2").unwrap(), shape.to_vec(), strides.to_vec(), 2, bytes)
    };
    let error = |shape: &[u64], strides: &[i64]| view(shape, strides).unwrap_err().to_string();
    assert_eq!(error(&[2], &[1, 1]), "2 strides for 1 dimensions");
    assert_eq!(error(&[4], &[2]), "a view reaches outside its bytes");
    assert_eq!(error(&[3], &[-2]), "a view reaches outside its bytes");
    // 2 + 2 * 2 + 2 bytes, and 2 - 2: both ends are just within.
    assert_eq!(view(&[3], &[2]).unwrap().strides(), [2]);
    assert_eq!(view(&[2], &[-2]).unwrap().strides(), [-2]);
    let mixed = view(&[2, 3], &[-2, 2]).unwrap();
    assert_eq!((mixed.shape(), mixed.len(), mixed.is_empty()), (&[2, 3][..], 6, false));
    assert!(view(&[2, 0], &[-9, 99]).unwrap().is_empty());
}

#[test]
fn reversed_axes_move_no_byte() {
    let array = of(&[2, 3], Order::C, "<u2");
    let turned = array.clone().reversed_axes();
    assert_eq!((turned.shape(), turned.strides()), (&[3, 2][..], &[2, 6][..]));
    assert_eq!((array.strides(), read(&turned, Order::F)), (&[6, 2][..], read(&array, Order::C)));
    assert_eq!((array.memory_order(), turned.memory_order()), (Order::C, Order::F));
    // In both orders without gaps, and in neither.
    assert_eq!(bytes(5).memory_order(), Order::C);
    let gaps = turned.select(&Region::parse("::2", &[3, 2]).unwrap()).unwrap();
    assert!(!gaps.is_contiguous(Order::F) && !gaps.is_contiguous(Order::C));
    assert_eq!(gaps.memory_order(), Order::C);
}

#[test]
fn strides_of_single_indices_do_not_matter() {
    let array = of(&[4, 6], Order::C, "|u1");
    let one = array.clone().select(&Region::parse("2:3, 1:4", &[4, 6]).unwrap()).unwrap();
    assert!(one.is_contiguous(Order::C) && one.is_contiguous(Order::F));
    assert!(matches!(
        one.bytes(Order::F, &Limits::default().with_memory(0)).unwrap(),
        Cow::Borrowed([13, 14, 15])
    ));
    let two = array.select(&Region::parse("1:3, 1:4", &[4, 6]).unwrap()).unwrap();
    assert!(matches!(two.bytes(Order::C, &Limits::default()).unwrap(), Cow::Owned(_)));
    let error = two.bytes(Order::C, &Limits::default().with_memory(5)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 6, allowed: 5, .. }));
}

#[test]
fn the_parts_of_an_array_are_its_bytes_and_its_first_element() {
    let memory: Vec<u8> = (0..6).collect();
    let lent = Array::new(u8::dtype(), vec![6], Order::C, Cow::Borrowed(&memory[..])).unwrap();
    let back = lent.clone().select(&Region::parse("4:1:-1", &[6]).unwrap()).unwrap();
    assert_eq!(back.parts(), (&memory[..], 4, true));
    let owned = back.clone().into_owned(&Limits::default()).unwrap();
    assert_eq!((owned.parts(), read(&owned, Order::C)), ((&memory[..], 4, false), vec![4, 3, 2]));
    assert!(back.clone().into_owned(&Limits::default().with_memory(5)).is_err());
    assert!(owned.clone().into_owned(&Limits::default().with_memory(0)).is_ok());
    assert!(matches!(back.into_bytes(), Cow::Borrowed(_)) && matches!(owned.into_bytes(), Cow::Owned(_)));
    let none = lent.select(&Region::parse("6:", &[6]).unwrap()).unwrap();
    assert_eq!((none.parts().1, none.shape()), (0, &[0][..]));
}

#[test]
fn a_copy_goes_to_memory_of_its_length() {
    let array = of(&[2, 3], Order::C, "<u2");
    for len in [11, 13] {
        let error = array.copy_to(Order::C, &mut vec![0; len], Stop::never()).unwrap_err();
        assert_eq!(error.to_string(), format!("{len} bytes for <u2 of shape [2, 3]"));
    }
    let mut all = [0; 12];
    array.copy_to(Order::F, &mut all, Stop::never()).unwrap();
    assert_eq!(all, [0, 1, 6, 7, 2, 3, 8, 9, 4, 5, 10, 11]);
}

#[test]
fn strides_of_an_array_without_gaps_are_products_of_its_axes() {
    let strides = |shape: &[u64], order| contiguous_strides(shape, 2, order).unwrap();
    assert_eq!(strides(&[2, 3, 4], Order::C), [24, 8, 2]);
    assert_eq!(strides(&[2, 3, 4], Order::F), [2, 4, 12]);
    assert_eq!(strides(&[1 << 63, 0, 4], Order::C), [0, 0, 0]);
    assert_eq!(strides(&[], Order::C), [0_i64; 0]);
    let error = contiguous_strides(&[2, 1 << 62, 2], 2, Order::C).unwrap_err();
    assert_eq!(error.to_string(), "an array over 2^63 bytes");
    assert_eq!(byte_len(&DType::void(3), &[2, 5]), Some(30));
    assert_eq!(byte_len(&DType::void(3), &[1 << 63, 1]), None);
    assert_eq!(byte_len(&DType::void(3), &[1 << 63, 2]), None);
}

/// Elements that are opaque in Rust keep the bytes of the file, whatever its byte order.
#[test]
fn opaque_elements_are_not_swapped() {
    let big =
        Array::new(DType::parse(">u4").unwrap(), vec![2], Order::C, vec![0, 0, 0, 1, 0, 0, 0, 2].into());
    let big = big.unwrap();
    let limits = Limits::default();
    assert_eq!(*big.elements::<[u8; 4]>(Order::C, &limits).unwrap(), [[0, 0, 0, 1], [0, 0, 0, 2]]);
    assert_eq!(*big.elements::<u32>(Order::C, &limits).unwrap(), [1, 2]);
    let mut swapped = [0, 0, 0, 1];
    swap_to_native::<[u8; 4]>(big.dtype(), &mut swapped, Stop::never()).unwrap();
    assert_eq!(swapped, [0, 0, 0, 1]);
    static ASKED: AtomicBool = AtomicBool::new(true);
    let stopped = swap_to_native::<u32>(big.dtype(), &mut swapped, Stop::when(&ASKED));
    assert!(matches!(stopped.unwrap_err().kind(), ErrorKind::Cancelled));
}

/// Lends nothing, and counts the reads.
struct Positioned(Vec<u8>, Mutex<Vec<(u64, usize)>>);

impl Source for Positioned {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.lock().unwrap().push((at, dst.len()));
        self.0.read_into(at, dst)
    }
}

fn stored(shape: &[u64], order: Order) -> StoredArray {
    StoredArray { dtype: DType::parse("<u2").unwrap(), shape: shape.to_vec(), order, data_at: 7 }
}

#[test]
fn a_stored_array_has_its_range_within_what_offsets_can_be() {
    assert_eq!(stored(&[2, 3], Order::C).range().unwrap(), 7..19);
    assert_eq!(stored(&[0, 3], Order::C).range().unwrap(), 7..7);
    for shape in [[1 << 63, 1], [1 << 40, 1 << 40], [u64::MAX / 2, 1]] {
        let error = stored(&shape, Order::C).range().unwrap_err();
        assert_eq!((error.to_string().as_str(), error.is_damage()), ("the array ends past 2^64", true));
    }
    let most = StoredArray { data_at: u64::MAX - 12, ..stored(&[2, 3], Order::C) };
    assert_eq!(most.range().unwrap(), u64::MAX - 12..u64::MAX);
}

/// The reads that a region of 4 × 40 000 elements takes, and its bytes against those of a lending source.
#[test]
#[cfg_attr(miri, ignore = "long data")]
fn rows_far_apart_are_read_one_by_one_and_near_ones_at_once() {
    let shape = [4, 40_000];
    let file: Vec<u8> = (0..=250).cycle().take(7 + 2 * 160_000).collect();
    let source = Positioned(file.clone(), Mutex::default());
    let limits = Limits::default();
    let reads = |text: &str, order| {
        let (shape, region) = match order {
            Order::C => (shape, Region::parse(text, &shape).unwrap()),
            Order::F => ([40_000, 4], Region::parse(text, &[40_000, 4]).unwrap()),
        };
        let stored = stored(&shape, order);
        let lent = stored.read(&file, &region, &limits, 1).unwrap();
        let copied = stored.read(&source, &region, &limits, 1).unwrap();
        assert_eq!(copied.shape(), region.shape(), "{text}");
        for target in [Order::C, Order::F] {
            assert!(read(&copied, target) == read(&lent, target), "{text} in {target:?}");
        }
        std::mem::take(&mut *source.1.lock().unwrap())
    };
    // The whole array at once, and one row.
    assert_eq!(reads("...", Order::C), [(7, 320_000)]);
    assert_eq!(reads("1", Order::C), [(80_007, 80_000)]);
    assert_eq!(reads("1:3", Order::C), [(80_007, 160_000)]);
    // Far apart, backwards.
    assert_eq!(reads("::-1, 5", Order::C), [(240_017, 2), (160_017, 2), (80_017, 2), (17, 2)]);
    assert_eq!(reads("2:4, 100:200", Order::C), [(160_207, 200), (240_207, 200)]);
    assert_eq!(reads("0, 9:3:-2", Order::C), [(17, 10)]);
    assert_eq!(reads("100:200, 2:4", Order::F), [(160_207, 200), (240_207, 200)]);
    assert_eq!(reads("1:3, 39990:", Order::C), [(159_987, 20), (239_987, 20)]);
    // Nearly dense: one read of the span.
    assert_eq!(reads("0:2, ::2", Order::C), [(7, 159_998)]);
    assert_eq!(reads("0, ::30000", Order::C), [(7, 60_002)]);
    assert_eq!(reads("0:0", Order::C), []);
}

#[test]
fn a_region_of_a_file_that_was_cut_is_read_where_it_is_whole() {
    let stored = stored(&[4, 3], Order::C);
    let file: Vec<u8> = (0..20).collect();
    let source = Positioned(file.clone(), Mutex::default());
    let limits = Limits::default();
    for source in [&file as &dyn Source, &source] {
        let read_part = |text: &str| {
            let region = Region::parse(text, &[4, 3]).unwrap();
            stored.read(source, &region, &limits, 1).map(|array| read(&array, Order::C))
        };
        assert_eq!(read_part("0:2").unwrap(), (7..19).collect::<Vec<u8>>());
        assert_eq!(read_part("1, ::-1").unwrap(), [17, 18, 15, 16, 13, 14]);
        let error = read_part("2").unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Truncated { need: 6, have: 1 }), "{error}");
    }
    let region = Region::whole(&[4, 4]);
    let error = stored.read(&file, &region, &limits, 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    let small = limits.with_memory(5);
    let error = stored.read(&source, &Region::parse("1", &[4, 3]).unwrap(), &small, 1).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 6, .. }));
}

/// Every width of element, by single columns, runs, and transpositions of more than one tile.
#[test]
fn elements_of_any_width_are_gathered() {
    for (size, item) in [1, 2, 3, 4, 8, 16, 20].into_iter().zip(0_usize..) {
        let shape = [40_u64, 37];
        let array = Array::new(
            DType::void(size),
            shape.to_vec(),
            Order::C,
            (0..size * 1480).map(|at| (at * 7 / 3 % 251) as u8).collect::<Vec<u8>>().into(),
        )
        .unwrap();
        let all = read(&array, Order::C);
        let at = |row: usize, column: usize| &all[(row * 37 + column) * size..][..size];
        for (text, rows, columns) in [
            ("...", (0..40).collect::<Vec<_>>(), (0..37).collect::<Vec<_>>()),
            ("::3, ::-2", (0..40).step_by(3).collect(), (0..37).rev().step_by(2).collect()),
            ("5:38, 3:36", (5..38).collect(), (3..36).collect()),
            ("7:8, 1:", vec![7], (1..37).collect()),
            (":, 4:5", (0..40).collect(), vec![4]),
        ] {
            let part = array.clone().select(&Region::parse(text, &shape).unwrap()).unwrap();
            let want = |by_rows: bool| -> Vec<u8> {
                let pairs = || rows.iter().flat_map(|row| columns.iter().map(move |column| (*row, *column)));
                let turned = columns.iter().flat_map(|column| rows.iter().map(move |row| (*row, *column)));
                let places: Vec<(usize, usize)> = if by_rows { pairs().collect() } else { turned.collect() };
                places.into_iter().flat_map(|(row, column)| at(row, column).to_vec()).collect()
            };
            assert!(read(&part, Order::C) == want(true), "{text} of {size} bytes ({item})");
            assert!(read(&part, Order::F) == want(false), "{text} of {size} bytes turned ({item})");
        }
    }
}

/// One axis of more than the bytes between two checks of a stop, with gaps.
#[test]
#[cfg_attr(miri, ignore = "long data")]
fn a_long_column_is_gathered_in_parts() {
    let count = STOP_LEN as u64 + 5;
    let bytes: Vec<u8> = (0..2 * count).map(|at| (at % 251) as u8).collect();
    let array = Array::strided(u8::dtype(), vec![count], vec![2], 1, Cow::Borrowed(&bytes)).unwrap();
    let copy = read(&array, Order::C);
    assert!(copy.iter().zip(bytes.chunks(2)).all(|(copy, pair)| *copy == pair[1]));
    let wide = Array::strided(DType::void(32), vec![3], vec![-40], 90, Cow::Borrowed(&bytes)).unwrap();
    let want: Vec<u8> = [90, 50, 10].iter().flat_map(|at| bytes[*at..at + 32].to_vec()).collect();
    assert_eq!(read(&wide, Order::C), want);
}

#[test]
fn elements_without_bytes_are_gathered_at_once() {
    let array = Array::new(DType::void(0), vec![1 << 40, 3], Order::C, Cow::Owned(vec![])).unwrap();
    array.copy_to(Order::F, &mut [], Stop::never()).unwrap();
    assert_eq!(array.len(), 3 << 40);
    assert_eq!(Kind::Void, array.dtype().as_scalar().unwrap().kind);
}
