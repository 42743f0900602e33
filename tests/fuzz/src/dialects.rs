//! RawArray files that are written and read again, and varints by the book.

use std::io::Cursor;

use container_core::ErrorKind;
use container_core::container::OpenOptions;
use container_core::dtype::{ByteOrder, Element, Kind, Order};
use half::{bf16, f16};
use num_complex::Complex;
use rawarray::{Eltype, Encoding, File, Flags, Header, RawArray, TypedFile, WriteOptions, Writer};

use crate::feed::Feed;
use crate::options::{open_options, read_options};

/// Writes arrays in any type, shape, encoding and byte order, and reads them back.
pub fn rawarray_roundtrip(data: &[u8]) {
    let mut feed = Feed::new(data);
    match feed.below(18) {
        0 => of::<i8>(&mut feed),
        1 => of::<i16>(&mut feed),
        2 => of::<i32>(&mut feed),
        3 => of::<i64>(&mut feed),
        4 => of::<i128>(&mut feed),
        5 => of::<u16>(&mut feed),
        6 => of::<u32>(&mut feed),
        7 => of::<u64>(&mut feed),
        8 => of::<u128>(&mut feed),
        9 => of::<f16>(&mut feed),
        10 => of::<f32>(&mut feed),
        11 => of::<f64>(&mut feed),
        12 => of::<bf16>(&mut feed),
        13 => of::<Complex<f16>>(&mut feed),
        14 => of::<Complex<f32>>(&mut feed),
        15 => of::<Complex<f64>>(&mut feed),
        _ => of::<u8>(&mut feed),
    }
}

fn of<T: Element>(feed: &mut Feed<'_>) {
    let dims: Vec<u64> = (0..feed.below(5)).map(|_| feed.below(7) as u64).collect();
    let count = dims.iter().product::<u64>() as usize;
    let mut options = WriteOptions::default();
    options.encoding = feed.one_of(&Encoding::ALL);
    options.data_order = order(feed);
    options.header_order = order(feed);
    options.trailer = if feed.flag() { None } else { Some(vec![7; feed.below(40)]) };
    let values: Vec<T> = bytemuck::pod_collect_to_vec(&feed.fill(count * size_of::<T>()));
    let array = RawArray::new(dims, values).expect("as many values as the dimensions say");
    let mut file = Vec::new();
    if let Err(error) = array.write_to(&mut file, &options) {
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(matches!(options.encoding, Encoding::Leb128 | Encoding::Bits), "{error}");
        return;
    }
    reads_back(&file, &array, &options);
    if options.encoding == Encoding::Plain && file.len() > 48 {
        streams_the_same(&array);
    }
}

fn order(feed: &mut Feed<'_>) -> ByteOrder {
    feed.one_of(&[ByteOrder::Little, ByteOrder::Big])
}

fn reads_back<T: Element>(bytes: &[u8], array: &RawArray<T>, options: &WriteOptions) {
    let open =
        |how: &OpenOptions| File::from_source(Box::new(bytes.to_vec()), how).and_then(TypedFile::<T>::new);
    let file = match open(&open_options()) {
        Ok(file) => file,
        Err(error) => {
            // LEB128 data that are an LZ4 block as well, of the very length that the header gives.
            let both =
                options.encoding == Encoding::Leb128 && error.to_string().contains("choose the encoding");
            assert!(both, "what was written cannot be read: {error}");
            let mut assuming = open_options();
            assuming.assume_codec = Some("leb128".to_owned());
            open(&assuming).expect("it was written so")
        }
    };
    assert_eq!(file.dims(), array.dims());
    // A block as long as the values is not written: it could be taken for LEB128.
    let is_plain = options.encoding == Encoding::Lz4 && file.file().encoding() == Encoding::Plain;
    assert!(is_plain || file.file().encoding() == options.encoding);
    assert_eq!(
        *file.file().trailer().expect("it is in memory"),
        *options.trailer.clone().unwrap_or_default()
    );
    let read = file.to_vec().expect("what was written");
    assert!(bytemuck::cast_slice::<T, u8>(&read) == bytemuck::cast_slice::<T, u8>(array.as_slice()));
    if options.header_order == ByteOrder::Little && options.data_order == ByteOrder::Little {
        assert_eq!(file.file().header().byte_order, ByteOrder::Little);
        assert!(!file.file().header().flags.has(Flags::BIG_ENDIAN));
    }
}

/// The streaming writer makes the file that the other one makes.
fn streams_the_same<T: Element>(array: &RawArray<T>) {
    let Some((_, slab)) = array.dims().split_last() else { return };
    let Ok(mut writer) = Writer::<T, _>::new(Cursor::new(Vec::new()), slab) else { return };
    for piece in array.as_slice().chunks(5) {
        writer.push(piece).expect("memory");
    }
    let (out, dims) = writer.complete(b"end").expect("whole slabs");
    assert_eq!(dims, array.dims());
    let mut plain = Vec::new();
    let mut options = WriteOptions::default();
    options.trailer = Some(b"end".to_vec());
    array.write_to(&mut plain, &options).expect("memory");
    assert!(out.into_inner() == plain);
}

/// Varints decode to what the description of LEB128 says, or not at all.
pub fn rawarray_leb128(data: &[u8]) {
    let mut feed = Feed::new(data);
    let eltype = feed.one_of(&[Eltype::INT, Eltype::UINT, Eltype::BFLOAT16]);
    let width = if eltype == Eltype::BFLOAT16 { 1 } else { 1 + feed.below(16) };
    let (byte_order, flags) = (order(&mut feed), u64::from(feed.flag()));
    let count = feed.below(64);
    let varints = feed.rest();
    let header = Header {
        byte_order,
        flags: Flags(flags | Flags::ENCODED),
        eltype,
        elbyte: width as u64,
        size: (width * count) as u64,
        ndims: 1,
    };
    let file = [&header.to_bytes(&[count as u64]), varints].concat();
    let mut options = open_options();
    options.assume_codec = Some("leb128".to_owned());
    let file = File::from_source(Box::new(file), &options).expect("the header is sound");
    let signed = eltype == Eltype::INT;
    let expected = by_the_book(varints, count, width, signed);
    match (file.read_all(&read_options()), expected) {
        (Ok(array), Some(expected)) => {
            let mut values = array.bytes(Order::F, &crate::options::limits()).expect("no copy").into_owned();
            let kind = if signed { Kind::Int } else { Kind::Uint };
            let dtype = container_core::dtype::DType::new(kind, width, file.layout().data_order());
            dtype.swap_to(ByteOrder::Little, &mut values).expect("whole values");
            assert_eq!(values, expected);
        }
        (Err(error), None) => assert!(error.is_damage(), "{error}"),
        (have, expected) => panic!("{have:?} is to be {expected:?}"),
    }
}

/// Little-endian values, bit by bit: seven of each byte, the lowest first; then zig-zag. `None` for data that are not exactly
/// `count` values of `width` bytes, in no more groups than the widest of them takes.
fn by_the_book(mut varints: &[u8], count: usize, width: usize, signed: bool) -> Option<Vec<u8>> {
    let mut values = Vec::new();
    for _ in 0..count {
        let len = varints.iter().position(|byte| *byte < 0x80)? + 1;
        let (groups, rest) = varints.split_at(len);
        varints = rest;
        let mut bits: Vec<bool> =
            groups.iter().flat_map(|byte| (0..7).map(move |bit| byte >> bit & 1 == 1)).collect();
        let spare = bits.len().saturating_sub(width * 8);
        if spare >= 7 || bits.iter().rev().take(spare).any(|bit| *bit) {
            return None;
        }
        bits.resize(width * 8, false);
        if signed {
            let negative = bits.remove(0);
            bits.push(false);
            bits.iter_mut().for_each(|bit| *bit ^= negative);
        }
        values.extend(
            bits.chunks(8).map(|byte| byte.iter().rev().fold(0, |all, bit| all << 1 | u8::from(*bit))),
        );
    }
    varints.is_empty().then_some(values)
}
