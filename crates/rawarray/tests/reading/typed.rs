//! The typed API, against values worked out here and bytes that an independent script wrote.

use std::path::{Path, PathBuf};

use container_core::container::{OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::source::Access;
use container_core::{ErrorKind, Limits};
use half::{bf16, f16};
use num_complex::Complex;
use rawarray::{Element, File, RawArray, WriteOptions, Writer};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray").join(name)
}

/// The example of the format's description: element k is k + i·(−1/k), column major, so the first is 0 − i∞.
#[test]
fn the_example_file_is_regenerated_to_the_byte() {
    let values: Vec<Complex<f32>> = (0..12_u8).map(f32::from).map(|k| Complex::new(k, -1.0 / k)).collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.ra");
    RawArray::new(vec![3, 4], values).unwrap().write(&path).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    assert_eq!(bytes, std::fs::read(fixture("ok/test.ra")).unwrap());
    let back = RawArray::<Complex<f32>>::open(&path).unwrap();
    assert_eq!(back.get(&[0, 0]).unwrap(), Complex::new(0.0, f32::NEG_INFINITY));
    assert_eq!(back.get(&[1, 2]).unwrap(), Complex::new(7.0, -1.0 / 7.0));
}

#[test]
fn plain_aligned_values_are_borrowed_from_the_map() {
    let file = RawArray::<i32>::open(fixture("ok/i4_3x4.ra")).unwrap();
    let view = file.view().unwrap();
    // The file is little-endian.
    let native = cfg!(target_endian = "little");
    assert_eq!(matches!(view, std::borrow::Cow::Borrowed(_)), native);
    assert_eq!(*view, *file.to_vec().unwrap());
    let column = file.slice(":, 2").unwrap();
    let column = column.elements::<i32>(Order::F, &Limits::default()).unwrap();
    assert_eq!(matches!(column, std::borrow::Cow::Borrowed(_)), native);
    assert_eq!(*column, view[6..9]);
}

#[test]
fn big_endian_values_arrive_in_the_order_of_the_machine() {
    for name in ["ok/be_i4_3x4.ra", "odd/native_be_i4_3x4.ra"] {
        let file = RawArray::<i32>::open(fixture(name)).unwrap();
        let want: Vec<i32> = (0..4).flat_map(|j| (0..3).map(move |i| 1000 * i + j)).collect();
        assert_eq!(*file.view().unwrap(), want, "{name}");
        assert_eq!(RawArray::<i32>::read(fixture(name)).unwrap().as_slice(), want, "{name}");
        assert_eq!(file.get(&[2, 3]).unwrap(), 2003);
    }
}

#[test]
fn another_element_type_is_refused_by_name() {
    let error = RawArray::<f32>::open(fixture("ok/i4_3x4.ra")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
    assert_eq!(error.to_string(), format!("the elements are <i4, not {}", f32::dtype()));
    assert!(RawArray::<u32>::read(fixture("ok/i4_3x4.ra")).is_err());
    assert!(RawArray::<i64>::read(fixture("ok/i4_3x4.ra")).is_err());
}

/// The user-defined structure of the format's description: 12 characters, a 4-byte and 8 8-byte numbers.
#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Foo {
    info: [u8; 12],
    index: u32,
    v: [f64; 8],
}

impl Element for Foo {}

#[test]
fn records_of_the_user_are_read_and_written_as_they_are() {
    let records: Vec<Foo> = (0..3_u8)
        .map(|k| Foo { info: [b'a' + k; 12], index: u32::from(k), v: [f64::from(k) / 3.0; 8] })
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("foo.ra");
    RawArray::from(records.clone()).write(&path).unwrap();
    let file = RawArray::<Foo>::open(&path).unwrap();
    assert_eq!((file.file().header().eltype.0, file.file().header().elbyte), (0, 80));
    assert_eq!(*file.view().unwrap(), records);
    // Opaque on this side too: the script's records have the same size.
    assert_eq!(RawArray::<Foo>::read(fixture("ok/v80_records.ra")).unwrap().dims().len(), 1);
}

#[derive(Clone, Copy, Debug, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
struct Wrong([u8; 79]);

impl Element for Wrong {}

#[test]
fn records_of_another_size_are_refused() {
    let error = RawArray::<Wrong>::open(fixture("ok/v80_records.ra")).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
}

#[test]
fn every_element_type_survives_a_round_trip() {
    fn check<T: Element + PartialEq + std::fmt::Debug>(values: &[T], code: u64) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.ra");
        RawArray::from(values).write(&path).unwrap();
        let file = RawArray::<T>::open(&path).unwrap();
        assert_eq!(file.file().header().eltype.0, code);
        assert_eq!(*file.view().unwrap(), *values);
        assert_eq!(RawArray::<T>::read(&path).unwrap().as_slice(), values);
    }
    check(&[i8::MIN, 0, i8::MAX], 1);
    check(&[i16::MIN, 1], 1);
    check(&[i64::MIN, i64::MAX], 1);
    check(&[i128::MIN, -1, i128::MAX], 1);
    check(b"text", 2);
    check(&[u128::MAX, 1 << 70], 2);
    check(&[f16::from_f32(1.5), f16::NEG_INFINITY], 3);
    check(&[f64::MIN_POSITIVE, -0.0], 3);
    check(&[Complex::new(f16::ONE, f16::MAX)], 4);
    check(&[Complex::new(1.0_f64, -2.0)], 4);
    check(&[bf16::from_f32(3.0), bf16::MAX], 5);
}

#[test]
fn scalars_and_empty_arrays_keep_their_shape() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    for (dims, values) in [(vec![], vec![7.5]), (vec![0], vec![]), (vec![3, 0, 1 << 40], vec![])] {
        RawArray::new(dims.clone(), values.clone()).unwrap().write(&path).unwrap();
        let back = RawArray::<f64>::read(&path).unwrap();
        assert_eq!((back.dims(), back.as_slice()), (&dims[..], &values[..]));
    }
    assert!(RawArray::new(vec![], Vec::<f32>::new()).is_err());
    assert!(RawArray::new(vec![2, 2], vec![1_u8; 3]).is_err());
    assert!(RawArray::new(vec![1 << 63, 2], vec![1_u8; 3]).is_err());
}

#[test]
fn reshape_keeps_the_values_and_counts_the_dimensions() {
    // The mistake that the header's own reshape bug comes from.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let mut array = RawArray::from((0..12_u8).collect::<Vec<u8>>());
    array.reshape(vec![3, 4]).unwrap();
    assert!(array.reshape(vec![5]).is_err());
    assert_eq!(array.get(&[2, 1]), Some(&5));
    assert_eq!(array.get(&[3, 0]), None);
    assert_eq!(array.get(&[0]), None);
    array.write(&path).unwrap();
    let file = File::open(&path).unwrap();
    assert_eq!((file.header().ndims, file.dims()), (2, &[3, 4][..]));
    assert!(file.faults().is_empty());
}

#[test]
fn trailers_are_kept_set_and_dropped() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let mut array = RawArray::<u8>::from(vec![1, 2]);
    array.set_trailer(b"{\"te\": 5}".to_vec());
    array.write(&path).unwrap();
    let back = RawArray::<u8>::read(&path).unwrap();
    assert_eq!((back.as_slice(), back.trailer()), (&[1, 2][..], &b"{\"te\": 5}"[..]));
    assert_eq!(*File::open(&path).unwrap().trailer().unwrap(), *b"{\"te\": 5}");
    back.write_with(&path, &WriteOptions::default()).unwrap();
    assert_eq!(RawArray::<u8>::read(&path).unwrap().trailer(), back.trailer());
    let mut dropped = WriteOptions::default();
    dropped.trailer = Some(Vec::new());
    back.write_with(&path, &dropped).unwrap();
    assert!(RawArray::<u8>::read(&path).unwrap().trailer().is_empty());
}

#[test]
fn an_array_of_files_opens_element_by_element() {
    let outer = File::open(fixture("ok/v_nested_files.ra")).unwrap();
    assert_eq!(outer.len().unwrap(), 3);
    let first = outer.element_file(0).unwrap();
    assert!(first.faults().is_empty());
    for index in 0..3 {
        let inner = outer.element_file(index).unwrap();
        assert_eq!(inner.layout().file_len(), outer.header().elbyte);
        assert!(inner.read_all(&ReadOptions::default()).is_ok());
    }
    assert!(matches!(outer.element_file(3).unwrap_err().kind(), ErrorKind::Usage(_)));
    let flat = File::open(fixture("ok/u1_256.ra")).unwrap();
    assert!(matches!(flat.element_file(0).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn the_streaming_writer_grows_the_last_dimension() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.ra");
    let mut writer = Writer::<u16>::create(&path, &[2, 3]).unwrap();
    assert!(writer.is_empty());
    for piece in [&[0, 1, 2][..], &[3, 4, 5, 6], &[], &[7, 8, 9, 10, 11]] {
        writer.push(piece).unwrap();
    }
    assert_eq!((writer.is_empty(), writer.len()), (false, 12));
    assert!(!path.exists(), "a file appears before it is complete");
    assert_eq!(writer.finish().unwrap(), [2, 3, 2]);
    let whole = folder.path().join("b.ra");
    RawArray::new(vec![2, 3, 2], (0..12).collect::<Vec<u16>>()).unwrap().write(&whole).unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&whole).unwrap());

    let mut torn = Writer::<u16>::create(folder.path().join("c.ra"), &[2, 3]).unwrap();
    torn.push(&[1]).unwrap();
    assert!(torn.finish().is_err());
    assert!(!folder.path().join("c.ra").exists());
    assert!(Writer::<u16>::create(folder.path().join("d.ra"), &[2, 0]).is_err());

    // Into any seekable output, from its current position.
    let mut out = std::io::Cursor::new(b"before".to_vec());
    out.set_position(6);
    let mut writer = Writer::<u8, _>::new(out, &[]).unwrap();
    writer.push(&[9; 4]).unwrap();
    let (out, dims) = writer.complete(b"after").unwrap();
    assert_eq!(dims, [4]);
    let inner = File::from_source(Box::new(out.into_inner()[6..].to_vec()), &OpenOptions::default()).unwrap();
    assert_eq!((inner.dims(), &*inner.trailer().unwrap()), (&[4][..], &b"after"[..]));
}

#[test]
fn limits_bound_what_is_copied() {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(8);
    options.access = Access::Positioned;
    let error = RawArray::<f64>::read_with(fixture("ok/f8_12.ra"), &options, &ReadOptions::default());
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Limit { asked: 96, allowed: 8, .. }));
    // A map lends the values without a copy.
    options.access = Access::Auto;
    let file = File::open_with(fixture("ok/f8_12.ra"), &options).unwrap();
    assert_eq!(file.read_all(&ReadOptions::default()).unwrap().len(), 12);
}

#[derive(Clone, Copy, Debug, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(transparent)]
struct Opaque([u8; 8]);

impl Element for Opaque {}

#[test]
fn opaque_elements_are_as_stored_however_they_are_read() {
    let path = fixture("ok/be_f8_12.ra");
    let file = RawArray::<Opaque>::open(&path).unwrap();
    let stored = std::fs::read(&path).unwrap();
    let first = Opaque(stored[56..64].try_into().unwrap());
    let slice = file.slice("0:1").unwrap();
    let sliced = slice.elements::<Opaque>(Order::F, &Limits::default()).unwrap()[0];
    let all = [file.view().unwrap()[0], file.to_vec().unwrap()[0], file.get(&[0]).unwrap(), sliced];
    assert_eq!(all, [first; 4]);
    let mut big = WriteOptions::default();
    big.data_order = container_core::dtype::ByteOrder::Big;
    let error = RawArray::from(vec![first]).write_to(&mut Vec::new(), &big).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
}

#[test]
fn a_writer_that_failed_once_does_not_finish() {
    struct Full(std::io::Cursor<Vec<u8>>);
    impl std::io::Write for Full {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            if bytes.len() == 80_000 {
                return Err(std::io::ErrorKind::StorageFull.into());
            }
            self.0.write(bytes)
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    impl std::io::Seek for Full {
        fn seek(&mut self, to: std::io::SeekFrom) -> std::io::Result<u64> {
            self.0.seek(to)
        }
    }
    let mut writer = Writer::<u16, _>::new(Full(std::io::Cursor::new(Vec::new())), &[2]).unwrap();
    // More than a writer gathers.
    assert!(writer.push(&[1; 40_000]).is_err());
    assert_eq!(writer.len(), 0);
    assert!(writer.complete(b"").is_err());
}

#[test]
fn errors_of_opening_name_the_file() {
    let error = RawArray::<u8>::read("no/such/file.ra").unwrap_err();
    assert_eq!(error.file_name(), Some("no/such/file.ra"));
}
