//! The released crate `rawarray` 0.1.4 and ours read each other's files.

use std::fmt::Debug;
use std::panic::catch_unwind;
use std::path::Path;

use container_core::ErrorKind;
use container_core::container::{OpenOptions, ReadOptions, Tolerance};
use half::{bf16, f16};
use num_complex::Complex;
use rawarray::{Element, Fault, File, RawArray, WriteOptions};
use reference_rawarray::{RawArray as Reference, RawArrayFile, RawArrayType};
use tempfile::tempdir;

/// Dimensions of 24 values, of one, and of none.
const DIMS: &[(&[u64], usize)] = &[
    (&[24], 24),
    (&[4, 6], 24),
    (&[2, 3, 4], 24),
    (&[1, 24, 1], 24),
    (&[], 1),
    (&[1], 1),
    (&[0], 0),
    (&[3, 0, 2], 0),
];

/// Every type that both know: all of the reference's.
trait Both: Element + RawArrayType + PartialEq + Debug {
    fn from_number(number: u8) -> Self;
}

macro_rules! both {
    ($($type:ty: $make:expr;)+) => {
        $(impl Both for $type {
            fn from_number(number: u8) -> Self {
                let make: fn(u8) -> Self = $make;
                make(number)
            }
        })+

        fn for_every_type(test: &mut dyn FnMut(&str, &dyn Fn(&Path))) {
            $(test(stringify!($type), &each::<$type>);)+
        }
    };
}

both! {
    i8: |n| -(n as i8);
    i16: |n| -300 * i16::from(n);
    i32: |n| -70_000 * i32::from(n);
    i64: |n| i64::MIN + i64::from(n);
    i128: |n| i128::MIN + i128::from(n);
    u8: |n| 255 - n;
    u16: |n| u16::MAX - u16::from(n);
    u32: |n| u32::MAX - u32::from(n);
    u64: |n| u64::MAX - u64::from(n);
    u128: |n| u128::MAX - u128::from(n);
    f16: |n| f16::from_f32(f32::from(n) / 4.0);
    bf16: |n| bf16::from_f32(f32::from(n) / 4.0);
    f32: |n| 1.0 / f32::from(n);
    f64: |n| 1.0 / f64::from(n);
    Complex<f32>: |n| Complex::new(f32::from(n), -1.0 / f32::from(n));
    Complex<f64>: |n| Complex::new(f64::from(n), -1.0 / f64::from(n));
}

fn each<T: Both>(folder: &Path) {
    for (dims, count) in DIMS {
        let values: Vec<T> = (0..*count).map(|at| T::from_number(at as u8)).collect();
        they_read_and_rewrite_ours(folder, dims, &values);
    }
    for count in [0, 1, 24] {
        let values: Vec<T> = (0..count).map(T::from_number).collect();
        we_read_and_rewrite_theirs(folder, &values);
    }
}

fn they_read_and_rewrite_ours<T: Both>(folder: &Path, dims: &[u64], values: &[T]) {
    let (ours, theirs) = (folder.join("ours.ra"), folder.join("theirs.ra"));
    RawArray::new(dims.to_vec(), values.to_vec()).unwrap().write(&ours).unwrap();
    let read = Reference::<T>::read(&ours).unwrap();
    assert_eq!(read.dims(), dims);
    assert_eq!(read.data(), values);
    read.write(&theirs).unwrap();
    assert_eq!(bytes(&theirs), bytes(&ours), "{dims:?}");
}

fn we_read_and_rewrite_theirs<T: Both>(folder: &Path, values: &[T]) {
    let (ours, theirs) = (folder.join("ours.ra"), folder.join("theirs.ra"));
    Reference::from(values.to_vec()).write(&theirs).unwrap();
    let read = RawArray::<T>::read(&theirs).unwrap();
    assert_eq!(read.dims(), [values.len() as u64]);
    assert_eq!(read.as_slice(), values);
    assert_eq!(RawArray::<T>::open(&theirs).unwrap().view().unwrap(), values);
    read.write(&ours).unwrap();
    assert_eq!(bytes(&ours), bytes(&theirs));
}

fn bytes(path: &Path) -> Vec<u8> {
    std::fs::read(path).unwrap()
}

#[test]
fn every_type_of_the_reference_is_read_and_rewritten_to_the_same_bytes_both_ways() {
    let mut types = Vec::new();
    for_every_type(&mut |name, each| {
        each(tempdir().unwrap().path());
        types.push(name.to_owned());
    });
    assert_eq!(types.len(), 16);
}

#[test]
fn header_fields_are_at_the_offsets_of_the_reference() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.ra");
    RawArray::new(vec![3, 2], vec![1.5_f32; 6]).unwrap().write(&path).unwrap();
    let mut file = RawArrayFile::valid_open(&path).unwrap();
    let words: Vec<u64> = (1..8).map(|word| file.u64_at(word * 8).unwrap()).collect();
    // Flags, eltype, elbyte, size, ndims, dims.
    assert_eq!(words, [0, 3, 4, 24, 2, 3, 2]);
}

/// `reshape` changes the dimensions and not their number.
#[test]
fn files_reshaped_by_the_reference_are_recognised_and_repaired() {
    let folder = tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    let values: Vec<u16> = (100..124).collect();
    RawArray::new(vec![2, 3, 4], values.clone()).unwrap().write(at("three.ra")).unwrap();
    let one = || Reference::from(values.clone());
    let three = || Reference::<u16>::read(at("three.ra")).unwrap();
    for (number, (mut array, ndims, dims)) in
        [(one(), 1, vec![4, 6]), (one(), 1, vec![2, 3, 4]), (three(), 3, vec![24]), (three(), 3, vec![6, 4])]
            .into_iter()
            .enumerate()
    {
        let (broken, repaired) = (at(&format!("{number}.ra")), at(&format!("{number}-repaired.ra")));
        array.reshape(dims.clone());
        array.write(&broken).unwrap();
        let file = File::open(&broken).unwrap();
        assert!(
            file.faults().contains(&&Fault::ReshapeBug { ndims, dims: dims.clone() }),
            "{:?}",
            file.faults()
        );
        assert!(RawArray::<u16>::read(&broken).is_err());
        rawarray::repair(&broken, &repaired).unwrap();
        let back = RawArray::<u16>::read(&repaired).unwrap();
        assert_eq!((back.dims(), back.as_slice()), (&dims[..], &values[..]));
        // The reference reads the repaired file, and not its own.
        assert_eq!(Reference::<u16>::read(&repaired).unwrap().data(), values);
        assert!(catch_unwind(|| Reference::<u16>::read(&broken)).is_err());
    }
}

/// A file without dimensions is a scalar, but this one has no element.
#[test]
fn a_new_array_of_the_reference_is_empty_when_read_leniently() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("new.ra");
    Reference::<f32>::new().write(&path).unwrap();
    let file = File::open(&path).unwrap();
    assert!(file.faults().contains(&&Fault::EmptyWithoutDims { elbyte: 4 }), "{:?}", file.faults());
    let error = RawArray::<f32>::read(&path).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)), "{error}");
    let mut options = OpenOptions::default();
    options.tolerance = Tolerance::Lenient;
    let array = RawArray::<f32>::read_with(&path, &options, &ReadOptions::default()).unwrap();
    assert!(array.is_empty());
    assert!(catch_unwind(|| Reference::<f32>::read(&path)).is_err());
}

/// The failure is the reason why none is written by default.
#[test]
fn the_reference_fails_on_a_trailer() {
    let folder = tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let mut options = WriteOptions::default();
    options.trailer = Some(b"{}".to_vec());
    RawArray::from(vec![1_u8, 2]).write_with(&path, &options).unwrap();
    assert!(catch_unwind(|| Reference::<u8>::read(&path)).is_err());
    assert_eq!(RawArray::<u8>::read(&path).unwrap().trailer(), b"{}");
}
