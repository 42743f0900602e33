//! Output of this crate in each dialect, which equals, byte for byte, that of an independent script.

use std::path::{Path, PathBuf};

use container_core::ErrorKind;
use container_core::container::{OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::ByteOrder;
use rawarray::{Element, Encoding, File, RawArray, WriteOptions, write_bools};

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/rawarray").join(name)
}

/// Reads a fixture as `T` and writes it again with `options`.
fn rewrite<T: Element>(name: &str, options: &WriteOptions) -> Vec<u8> {
    let array = RawArray::<T>::read(fixture(name)).unwrap();
    let mut out = Vec::new();
    array.write_to(&mut out, options).unwrap();
    out
}

fn options(change: impl FnOnce(&mut WriteOptions)) -> WriteOptions {
    let mut options = WriteOptions::default();
    change(&mut options);
    options
}

#[test]
fn plain_and_big_endian_files_are_rewritten_to_the_byte() {
    let big = options(|options| options.data_order = ByteOrder::Big);
    let native = options(|options| options.header_order = ByteOrder::Big);
    let both = options(|options| {
        options.header_order = ByteOrder::Big;
        options.data_order = ByteOrder::Big;
    });
    let plain = WriteOptions::default();
    let same =
        |name: &str, bytes: Vec<u8>| assert_eq!(bytes, std::fs::read(fixture(name)).unwrap(), "{name}");
    same("ok/i4_2x3x4.ra", rewrite::<i32>("ok/i4_2x3x4.ra", &plain));
    same("ok/scalar_f8.ra", rewrite::<f64>("ok/scalar_f8.ra", &plain));
    same("odd/i16_4.ra", rewrite::<i128>("odd/i16_4.ra", &plain));
    same("odd/trailer_json.ra", {
        let array = File::open(fixture("odd/trailer_json.ra")).unwrap();
        assert!(!array.trailer().unwrap().is_empty());
        rewrite_any("odd/trailer_json.ra")
    });
    same("ok/be_i2_4.ra", rewrite::<i16>("ok/be_i2_4.ra", &big));
    same("ok/be_i4_3x4.ra", rewrite::<i32>("ok/be_i4_3x4.ra", &big));
    same("ok/be_i8_6.ra", rewrite::<i64>("ok/be_i8_6.ra", &big));
    same("ok/be_f2_12.ra", rewrite::<half::f16>("ok/be_f2_12.ra", &big));
    same("ok/be_f4_12.ra", rewrite::<f32>("ok/be_f4_12.ra", &big));
    same("ok/be_c8_6.ra", rewrite::<num_complex::Complex<f32>>("ok/be_c8_6.ra", &big));
    same("ok/be_c16_2x3.ra", rewrite::<num_complex::Complex<f64>>("ok/be_c16_2x3.ra", &big));
    same("odd/native_be_i4_3x4.ra", rewrite::<i32>("odd/native_be_i4_3x4.ra", &native));
    same("odd/native_be_f8_12.ra", rewrite::<f64>("odd/native_be_f8_12.ra", &native));
    same("odd/native_be_flag_f4_12.ra", rewrite::<f32>("odd/native_be_flag_f4_12.ra", &both));
}

/// Rewrites a file whose type is known only after opening.
fn rewrite_any(name: &str) -> Vec<u8> {
    let file = File::open(fixture(name)).unwrap();
    match file.dtype().unwrap().to_string().as_str() {
        "|u1" => rewrite::<u8>(name, &WriteOptions::default()),
        "<f4" => rewrite::<f32>(name, &WriteOptions::default()),
        "<f8" => rewrite::<f64>(name, &WriteOptions::default()),
        "<i4" => rewrite::<i32>(name, &WriteOptions::default()),
        "<c8" => rewrite::<num_complex::Complex<f32>>(name, &WriteOptions::default()),
        other => panic!("{name} holds {other}"),
    }
}

#[test]
fn leb128_files_are_rewritten_to_the_byte() {
    let leb128 = options(|options| options.encoding = Encoding::Leb128);
    let same =
        |name: &str, bytes: Vec<u8>| assert_eq!(bytes, std::fs::read(fixture(name)).unwrap(), "{name}");
    same("ok/leb128_i1_256.ra", rewrite::<i8>("ok/leb128_i1_256.ra", &leb128));
    same("ok/leb128_u1_256.ra", rewrite::<u8>("ok/leb128_u1_256.ra", &leb128));
    same("ok/leb128_i2_vectors.ra", rewrite::<i16>("ok/leb128_i2_vectors.ra", &leb128));
    same("ok/leb128_i4_2x3x4.ra", rewrite::<i32>("ok/leb128_i4_2x3x4.ra", &leb128));
    same("ok/leb128_u8.ra", rewrite::<u64>("ok/leb128_u8.ra", &leb128));
    same("odd/leb128_i16.ra", rewrite::<i128>("odd/leb128_i16.ra", &leb128));
    same("odd/leb128_u16.ra", rewrite::<u128>("odd/leb128_u16.ra", &leb128));
    let error = RawArray::from(vec![1.0_f32]).write_to(&mut Vec::new(), &leb128).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)));
}

#[test]
fn bools_are_rewritten_to_the_byte_as_bytes_and_as_bits() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.ra");
    let bits = options(|options| options.encoding = Encoding::Bits);
    let plain = WriteOptions::default();
    let cases = [
        ("ok/bits_0.ra", &bits),
        ("ok/bits_1.ra", &bits),
        ("ok/bits_63.ra", &bits),
        ("ok/bits_64.ra", &bits),
        ("ok/bits_65.ra", &bits),
        ("ok/bits_5x13.ra", &bits),
        ("ok/bool_9.ra", &plain),
    ];
    for (name, options) in cases {
        let file = File::open(fixture(name)).unwrap();
        let bools = file.to_bools(&ReadOptions::default()).unwrap();
        write_bools(&path, file.dims(), &bools, options).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(fixture(name)).unwrap(), "{name}");
    }
    let numbers = File::open(fixture("ok/u1_256.ra")).unwrap();
    assert!(numbers.to_bools(&ReadOptions::default()).is_err());
}

#[test]
fn lz4_is_written_as_one_block_that_reads_back() {
    let lz4 = options(|options| {
        options.encoding = Encoding::Lz4;
        options.data_order = ByteOrder::Big;
        options.trailer = Some(b"kept".to_vec());
    });
    let array = RawArray::new(vec![100, 50], vec![3_i32; 5000]).unwrap();
    let mut bytes = Vec::new();
    array.write_to(&mut bytes, &lz4).unwrap();
    assert!(bytes.len() < 500, "{} bytes", bytes.len());
    let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
    assert_eq!((file.encoding(), &*file.trailer().unwrap()), (Encoding::Lz4, &b"kept"[..]));
    let typed = rawarray::TypedFile::<i32>::new(file).unwrap();
    assert_eq!(*typed.view().unwrap(), *array.as_slice());
    assert_eq!(typed.get(&[99, 49]).unwrap(), 3);
}

#[test]
fn an_encoding_can_be_assumed_and_unknown_ones_are_refused() {
    let open = |name: &str, codec: &str| {
        let mut options = OpenOptions::default();
        options.assume_codec = Some(codec.into());
        File::open_with(fixture(name), &options)
    };
    assert_eq!(open("ok/leb128_i4.ra", "leb128").unwrap().encoding(), Encoding::Leb128);
    let wrong = open("ok/leb128_i4.ra", "lz4").unwrap();
    assert!(wrong.read_all(&ReadOptions::default()).is_err());
    assert!(matches!(open("ok/leb128_i4.ra", "zstd").unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn writer_errors_are_accepted_leniently_and_refused_strictly() {
    let lenient = |name: &str| {
        let mut options = OpenOptions::default();
        options.tolerance = Tolerance::Lenient;
        File::open_with(fixture(name), &options).unwrap()
    };
    for (name, dims) in [("bad/rust_new_f4.ra", &[0][..]), ("bad/flag_on_raw_f4.ra", &[10])] {
        let strict = File::open(fixture(name)).unwrap();
        assert!(strict.read_all(&ReadOptions::default()).unwrap_err().is_damage(), "{name}");
        let file = lenient(name);
        assert_eq!(file.dims(), dims, "{name}");
        let values = file.read_all(&ReadOptions::default()).unwrap();
        assert_eq!(values.len(), dims.iter().product::<u64>(), "{name}");
    }
    // Truncation is not a mistake that can be read as it was meant.
    assert!(lenient("bad/truncated_leb128.ra").read_all(&ReadOptions::default()).is_err());
}
