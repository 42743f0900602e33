//! Regressions from fuzzing, by the bytes that showed them.

use container_core::container::{Axes, CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::format::{Format, Input, TargetOptions, WriteRequest};
use container_core::region::Region;
use container_core::report::Verdict;
use container_core::{ErrorKind, Limits, Progress, Result, npy};
use rawarray::{Encoding, FORMAT, File, RawArray, WriteOptions};

/// A file of one dimension.
fn file(flags: u64, eltype: u64, elbyte: u64, size: u64, len: u64, data: &[u8]) -> Vec<u8> {
    let words = [u64::from_le_bytes(*b"rawarray"), flags, eltype, elbyte, size, 1, len];
    let header = words.iter().flat_map(|word| word.to_le_bytes());
    header.chain(data.iter().copied()).collect()
}

fn open(format: &Format, bytes: &[u8]) -> Box<dyn Container> {
    (format.open)(Input::bytes(Box::new(bytes.to_vec())), &OpenOptions::default()).unwrap()
}

/// The whole of the first dataset as a RawArray file.
fn rewrite(container: &dyn Container, options: &TargetOptions) -> Result<Vec<u8>> {
    let selection = [(0, Region::whole(&container.datasets()[0].shape))];
    let (read, progress) = (ReadOptions::default(), Progress::none());
    let job = WriteRequest { container, selection: &selection, options, read, progress };
    let mut out = Vec::new();
    FORMAT.import.unwrap()(&job, &mut out)?;
    Ok(out)
}

/// Eight zeros as one literal run, and as eight varints of which the first has two bytes. The C library writes the first.
#[test]
fn size_field_distinguishes_an_lz4_block_from_varints() {
    let bytes = file(2, 2, 1, 9, 8, &[0x80, 0, 0, 0, 0, 0, 0, 0, 0]);
    let opened = File::from_bytes(bytes).unwrap();
    assert_eq!(opened.encoding(), Encoding::Lz4);
    let values = opened.read_all(&ReadOptions::default()).unwrap();
    assert_eq!(*values.bytes(Order::F, &Limits::default()).unwrap(), [0; 8]);
    assert!(opened.faults().is_empty(), "{:?}", opened.faults());
}

/// A block of ten bytes for twenty elements, and a trailer of ten: twenty varints.
#[test]
fn a_trailer_does_not_make_varints_of_an_lz4_block() {
    let block = [0x1a, 7, 1, 0, 0x50, 7, 7, 7, 7, 7];
    let bytes = file(2, 2, 1, 10, 20, &[&block[..], b"{\"a\": 12}\n"].concat());
    let opened = File::from_bytes(bytes).unwrap();
    assert_eq!((opened.encoding(), &*opened.trailer().unwrap()), (Encoding::Lz4, &b"{\"a\": 12}\n"[..]));
    let values = opened.read_all(&ReadOptions::default()).unwrap();
    assert_eq!(*values.bytes(Order::F, &Limits::default()).unwrap(), [7; 20]);
}

/// The size field is ambiguous if block and values are equally long, so integers are then stored plainly.
#[test]
fn an_lz4_block_as_long_as_its_integers_is_not_written() {
    let fixture = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/rawarray/ok/lz4_f4_same_size.ra");
    let floats = RawArray::<f32>::read(fixture).unwrap();
    let mut options = WriteOptions::default();
    options.encoding = Encoding::Lz4;
    let written = |bytes: Vec<u8>| File::from_bytes(bytes).unwrap().encoding();
    let mut bytes = Vec::new();
    floats.write_to(&mut bytes, &options).unwrap();
    assert_eq!(written(bytes), Encoding::Lz4);
    let integers: Vec<u32> = floats.as_slice().iter().map(|float| float.to_bits()).collect();
    let mut bytes = Vec::new();
    RawArray::from(integers).write_to(&mut bytes, &options).unwrap();
    assert_eq!(written(bytes), Encoding::Plain);
}

/// Opaque numbers have a byte order all the same: whole, or by part.
#[test]
fn big_endian_numbers_of_odd_widths_are_rewritten_little_endian() {
    let stored: Vec<u8> = (0..32).collect();
    for (eltype, elbyte, part) in [(1, 32, 32), (2, 32, 32), (3, 16, 16), (4, 32, 16), (1, 2, 2)] {
        let bytes = file(1, eltype, elbyte, 32, 32 / elbyte, &stored);
        let container = open(&FORMAT, &bytes);
        let little: Vec<u8> = stored.chunks(part).flat_map(|part| part.iter().rev().copied()).collect();
        let want = file(0, eltype, elbyte, 32, 32 / elbyte, &little);
        assert_eq!(rewrite(&*container, &TargetOptions::default()).unwrap(), want, "eltype {eltype}");
    }
}

/// User records cannot be swapped, so the flag stays, and is set where only the byte order of the header gave it.
#[test]
fn the_byte_order_of_user_records_is_not_forgotten() {
    let flagged = file(1, 0, 8, 16, 2, &[7; 16]);
    assert_eq!(rewrite(&*open(&FORMAT, &flagged), &TargetOptions::default()).unwrap(), flagged);
    let words = [u64::from_le_bytes(*b"rawarray"), 0, 0, 8, 16, 1, 2];
    let native: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).chain([7; 16]).collect();
    assert_eq!(rewrite(&*open(&FORMAT, &native), &TargetOptions::default()).unwrap(), flagged);
}

/// Neither bfloat16 nor bool nor bits, so there is nothing to read, not even of an empty array.
#[test]
fn an_empty_array_of_an_impossible_type_is_damaged_as_well_as_unreadable() {
    let container = open(&FORMAT, &file(0, 5, 0, 0, 0, &[]));
    assert_eq!(container.datasets(), []);
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!((report.verdict(), report.blocks.bad), (Verdict::Damaged, 1));
    assert_eq!(report.findings[0].code, "impossible_elbyte");
    // With elements it is reported once.
    let container = open(&FORMAT, &file(0, 5, 0, 0, 3, &[]));
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!(report.findings.iter().filter(|finding| finding.code == "impossible_elbyte").count(), 1);
}

#[test]
fn elements_of_no_bytes_are_refused_not_written_unreadably() {
    for (descr, shape) in [("|V0", "(3,)"), ("|S0", "()"), ("<U0", "(2, 4611686018427387904)")] {
        let dict = format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}");
        let header = format!("{dict:<117}\n");
        let bytes = [&b"\x93NUMPY\x01\0\x76\0"[..], header.as_bytes()].concat();
        let container = open(&npy::FORMAT, &bytes);
        for axes in [Axes::AsStored, Axes::Reversed] {
            let mut options = TargetOptions::default();
            options.axes = axes;
            let error = rewrite(&*container, &options).unwrap_err();
            assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{descr}: {error}");
        }
    }
    // An array without elements has no elements without bytes either.
    let empty = file(0, 0, 0, 0, 0, &[]);
    assert_eq!(rewrite(&*open(&FORMAT, &empty), &TargetOptions::default()).unwrap(), empty);
}

/// Five varints of one byte each that are also an LZ4 block of five bytes.
#[test]
fn varints_that_would_pass_for_an_lz4_block_are_not_written() {
    let values = vec![0x10_u8, 5, 1, 0, 0];
    let mut options = WriteOptions::default();
    options.encoding = Encoding::Leb128;
    let mut bytes = Vec::new();
    RawArray::from(values.clone()).write_to(&mut bytes, &options).unwrap();
    let file = File::from_bytes(bytes).unwrap();
    assert_eq!(file.encoding(), Encoding::Plain);
    let array = file.read_all(&ReadOptions::default()).unwrap();
    assert_eq!(*array.bytes(Order::F, &Limits::default()).unwrap(), *values);
}
