//! Headers, shapes and chunks that claim what others contradict.
#![allow(clippy::cast_possible_truncation, reason = "small numbers made here")]

use container_codecs::checksum::Algorithm;
use container_core::array::Array;
use container_core::container::CheckDepth;
use container_core::dtype::{DType, Order};
use container_core::region::Region;

use super::*;
use crate::b2nd::{Meta, NAME, NdArray, NdOptions, write_array_to};

/// Makes ten by nine elements in chunks of four by three.
fn array() -> Vec<u8> {
    let bytes: Vec<u8> = (0..90).map(|at: u8| at.wrapping_mul(37)).collect();
    let array = Array::new(DType::parse("|u1").unwrap(), vec![10, 9], Order::C, bytes.into()).unwrap();
    let options = NdOptions { chunkshape: Some(vec![4, 3]), ..NdOptions::default() };
    let mut file = Vec::new();
    write_array_to(&mut file, &array, &options).unwrap();
    file
}

#[test]
fn a_shape_that_header_and_index_contradict_is_lost_and_no_chunk() {
    let sound = array();
    let place = sound.windows(9).position(|bytes| bytes == [0xd3, 0, 0, 0, 0, 0, 0, 0, 10]).unwrap() + 1;
    let own = chunks(sound.clone(), "array");
    // One bit of either axis, and more of them.
    let bits = (5..62).flat_map(|bit| [(0, 10 ^ 1 << bit), (1, 9 ^ 1 << bit)]);
    for (at, len) in bits.chain([(0, 10_000_007), (1, 10_000_003)]) {
        let mut bytes = sound.clone();
        bytes[place + 9 * at..][..8].copy_from_slice(&u64::to_be_bytes(len));
        let (report, out) = repaired(&bytes).unwrap();
        assert!(report.guessed.is_empty() && report.lost.len() == 1, "{at} {len}: {report:?}");
        assert!(report.lost[0].what.starts_with("shape of the array: "), "{at} {len}: {report:?}");
        assert_eq!(chunks(out.clone(), "array"), own);
        assert_eq!(Frame::from_bytes(out).unwrap().metalayers().get(NAME), None);
    }
}

/// A metalayer with the name but without the contents of an array's, and the array's own next to it, under a name with another byte
/// or a former name.
#[test]
fn the_shape_is_where_it_fits_the_chunks_whatever_else_has_its_name() {
    let sound = array();
    let frame = Frame::from_bytes(sound.clone()).unwrap();
    let own = frame.metalayers().get(NAME).unwrap().to_vec();
    let mut other = Meta::parse(&own).unwrap();
    other.chunkshape = vec![5, 5];
    for (name, fits) in [("b3nd", true), ("caterva", true), ("b2nd ", false)] {
        for wrong in [vec![0xc0], other.encode()] {
            let mut options = FrameOptions { params: default_params(1), ..FrameOptions::default() };
            options.metalayers.set("first", vec![1]).unwrap();
            options.metalayers.set(name, own.clone()).unwrap();
            options.metalayers.set(NAME, wrong).unwrap();
            let mut bytes = Vec::new();
            let mut writer = Writer::new(&mut bytes, options).unwrap();
            for index in 0..frame.chunk_count() {
                writer.append(&frame.read_chunk(index, &ReadOptions::default()).unwrap()).unwrap();
            }
            writer.finish().unwrap();
            let (report, out) = repaired(&bytes).unwrap();
            assert_eq!(chunks(out.clone(), name), chunks(sound.clone(), name));
            let mended = Frame::from_bytes(out.clone()).unwrap();
            let holder = if name == "caterva" { name } else { NAME };
            assert_eq!(mended.metalayers().get(holder), fits.then_some(&own[..]), "{name}: {report:?}");
            assert_eq!(mended.metalayers().get("first"), Some(&[1][..]));
            let what = if fits { "metalayer \"b2nd\": " } else { "shape of the array: " };
            assert!(report.lost.len() == 1 && report.lost[0].what.starts_with(what), "{name}: {report:?}");
            let (report, again) = repaired(&out).unwrap();
            assert!(
                again == out && report.lost.is_empty() && report.guessed.is_empty(),
                "{name}: {report:?}"
            );
        }
    }
}

/// Makes two chunks that are encoded with byte shuffle.
fn shuffled(checksums: bool) -> Vec<u8> {
    let mut out = Vec::new();
    let options = FrameOptions {
        params: default_params(4),
        checksums: checksums.then(|| Algorithm::from_name("crc32").unwrap()),
        ..FrameOptions::default()
    };
    let mut writer = Writer::new(&mut out, options).unwrap();
    for number in 1..3_usize {
        writer.append(&(0..2000).map(|at| (at % 7 * 31 * number) as u8).collect::<Vec<_>>()).unwrap();
    }
    writer.finish().unwrap();
    out
}

#[test]
fn a_filter_that_does_not_exist_is_damage() {
    let sound = shuffled(false);
    let own = chunks(sound.clone(), "sound");
    let start = Frame::from_bytes(sound.clone()).unwrap().layout().chunks().start as usize;
    for (slot, filter) in [(0, 16), (0, 64), (0, 128), (5, 5), (5, 129), (5, 31)] {
        let mut bytes = sound.clone();
        bytes[start + 16 + slot] = filter;
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(chunks(out, "filter"), [vec![0; 2000], own[1].clone()], "{slot} {filter}: {report:?}");
        assert!(report.guessed.is_empty() && report.lost[0].what.starts_with("chunk 0"), "{report:?}");
    }
    // The header of the frame has it too, or a check calls it damage.
    for (filter, in_header) in [(200, false), (100, true)] {
        let mut bytes = sound.clone();
        bytes[start + 16 + 2] = filter;
        if in_header {
            bytes[71 + 2] = filter;
        }
        let (report, out) = repaired(&bytes).unwrap();
        let list = if in_header { &report.kept } else { &report.lost };
        let is_copied = list.iter().any(|item| item.what.contains("copied as it is"));
        assert!(is_copied && report.guessed.is_empty(), "{report:?}");
        assert_eq!(report.lost.is_empty(), in_header, "{report:?}");
        assert_eq!(Frame::from_bytes(out).unwrap().chunk(0).unwrap()[18], filter);
    }
}

#[test]
fn digests_prove_the_filters_that_the_frame_has() {
    let sound = shuffled(true);
    let own = chunks(sound.clone(), "sound");
    let start = Frame::from_bytes(sound.clone()).unwrap().layout().chunks().start as usize;
    for (slot, filter) in [(0, 16), (5, 2), (5, 0), (1, 200)] {
        let mut bytes = sound.clone();
        bytes[start + 16 + slot] = filter;
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(out, sound, "{slot} {filter}: {report:?}");
        assert_eq!(chunks(out, "filter"), own);
        let evidence: Vec<_> = report.guessed.iter().map(|item| item.evidence).collect();
        assert!(evidence == [Some(Evidence::Digest)] && report.lost.is_empty(), "{report:?}");
    }
}

#[test]
fn blocks_of_an_array_are_of_one_length() {
    let bytes: Vec<u8> = (0..200).map(|at: u8| at.wrapping_mul(at)).collect();
    let array = Array::new(DType::parse("|u1").unwrap(), vec![200], Order::C, bytes.into()).unwrap();
    let (chunkshape, blockshape) = (Some(vec![100]), Some(vec![50]));
    let mut options = NdOptions { chunkshape, blockshape, ..NdOptions::default() };
    options.params.level = 0;
    let mut sound = Vec::new();
    write_array_to(&mut sound, &array, &options).unwrap();
    let start = Frame::from_bytes(sound.clone()).unwrap().layout().chunks().start as usize;
    for length in [51, 99, 50 | 1 << 16, 100] {
        let mut bytes = sound.clone();
        bytes[start + 8..start + 12].copy_from_slice(&u32::to_le_bytes(length));
        let file = (FORMAT.open)(Input::bytes(Box::new(bytes.clone())), &OpenOptions::default()).unwrap();
        for depth in [CheckDepth::Quick, CheckDepth::Full] {
            let found = file.check(depth, &ReadOptions::default(), Progress::none()).unwrap();
            assert_eq!(found.findings[0].code, "geometry", "{length}: {found:?}");
        }
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(out, sound, "{length}: {report:?}");
        let item = &report.guessed[0];
        assert!(item.what.starts_with("chunk 0: blocksize corrected to 50"), "{report:?}");
        assert_eq!(item.evidence, Some(Evidence::SecondCopy));
    }
}

/// Headers that C-Blosc2 or python-blosc2 refuse to open, and read once they are repaired.
#[test]
fn headers_refused_by_c_blosc2_are_reported_and_repaired() {
    let sound = shuffled(false);
    for (at, byte, code) in [
        (26, 0x40, "frame_type"),
        (71, 16, "filters_unknown"),
        (76, 65, "filters_unknown"),
        (76, 128, "filters_unknown"),
        (83, 0x80, "filters_unknown"),
    ] {
        let mut bytes = sound.clone();
        bytes[at] = byte;
        let frame = Frame::from_bytes(bytes.clone()).unwrap();
        let faults: Vec<_> =
            frame.layout().faults().iter().map(|fault| (fault.code(), fault.severity())).collect();
        assert_eq!(faults, [(code, Severity::Warning)], "{at} {byte}");
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(out, sound, "{at} {byte}: {report:?}");
        assert_eq!(report.guessed.len(), usize::from(at > 26), "{report:?}");
    }
}

#[test]
fn the_metalayer_of_an_array_gets_its_name_back() {
    let sound = array();
    let place = sound.windows(4).position(|bytes| bytes == b"b2nd").unwrap();
    for (at, name) in [(0, b'c'), (1, b'3'), (2, b'N'), (3, b'`')] {
        let mut bytes = sound.clone();
        bytes[place + at] = name;
        let frame = Frame::from_bytes(bytes.clone()).unwrap();
        assert_eq!(frame.layout().faults()[0].code(), "metalayers");
        let (report, out) = repaired(&bytes).unwrap();
        assert_eq!(out, sound, "{report:?}");
        let [item] = &report.guessed[..] else { panic!("{report:?}") };
        assert!(item.what.contains("\"b2nd\"") && report.lost.is_empty(), "{report:?}");
        assert_eq!(item.evidence, Some(Evidence::SecondCopy), "{report:?}");
    }
    // Another value is the user's own.
    let mut options = FrameOptions::default();
    options.metalayers.set("b2Nd", vec![1]).unwrap();
    let mut bytes = Vec::new();
    Writer::new(&mut bytes, options).unwrap().finish().unwrap();
    let (report, out) = repaired(&bytes).unwrap();
    assert!(report.guessed.is_empty() && report.lost.is_empty() && out == bytes, "{report:?}");
}

#[test]
fn unknown_dtype_format_is_left_unchanged() {
    let sound = array();
    let place = sound.windows(5).position(|bytes| bytes == [0xdb, 0, 0, 0, 3]).unwrap() - 1;
    let mut bytes = sound;
    bytes[place] = 0x40;
    let (report, out) = repaired(&bytes).unwrap();
    assert!(out == bytes && report.guessed.is_empty(), "{report:?}");
}

/// A file that was cut before its index has the shape of its array, unless its header counts as many chunks as there are.
#[test]
fn a_cut_array_keeps_its_shape_where_its_header_counts_other_chunks() {
    let data: Vec<u8> = (0..6 * 100_u32).map(|at| (at / 7 * 3) as u8).collect();
    let dtype = DType::parse("|u1").unwrap();
    let array = Array::new(dtype, vec![6, 100], Order::C, data.clone().into()).unwrap();
    let options = NdOptions { chunkshape: Some(vec![2, 100]), ..Default::default() };
    let mut sound = Vec::new();
    write_array_to(&mut sound, &array, &options).unwrap();
    let ends: Vec<u64> = Frame::from_bytes(sound.clone())
        .unwrap()
        .scan_chunks()
        .unwrap()
        .chunks
        .iter()
        .map(|it| it.range.end)
        .collect();
    // Chunks that are left, bytes by the header, and whether these are the ones that are left.
    for (kept, nbytes, is_all) in [
        (1, 600_i64, false),
        (1, 400, false),
        (1, 200, true),
        (2, 600, false),
        (2, 200, false),
        (2, 400, true),
    ] {
        let mut cut = sound[..ends[kept - 1] as usize].to_vec();
        cut[30..38].copy_from_slice(&nbytes.to_be_bytes());
        let (report, out) = repaired(&cut).unwrap_or_else(|error| panic!("{kept} {nbytes}: {error}"));
        let what = format!("{kept} {nbytes}: {report:?}");
        let lost = |text: &str| report.lost.iter().any(|item| item.what.contains(text));
        assert_eq!(
            (lost("shape of the array: "), lost("chunks of 3: not found")),
            (is_all, !is_all),
            "{what}"
        );
        let frame = Frame::from_bytes(out).unwrap();
        let there = 200 * kept;
        if is_all {
            let all = frame.read_range(0..frame.data_len(), &ReadOptions::default()).unwrap();
            assert!(all == data[..there], "{what}");
            continue;
        }
        let mended = NdArray::from_frame(frame).expect(&what);
        assert_eq!(mended.shape(), [6, 100], "{what}");
        let mut all = vec![1; 600];
        mended.read_into(&Region::whole(&[6, 100]), &mut all, &ReadOptions::default()).unwrap();
        assert!(all[..there] == data[..there] && all[there..].iter().all(|byte| *byte == 0), "{what}");
    }
}

/// Header and shape agree, and the index has a chunk more.
#[test]
fn chunks_beyond_the_shape_of_an_array_are_left_out() {
    let data: Vec<u8> = (0..6 * 100_u32).map(|at| (at / 7 * 3) as u8).collect();
    let dtype = DType::parse("|u1").unwrap();
    let array = Array::new(dtype, vec![6, 100], Order::C, data.clone().into()).unwrap();
    let options = NdOptions { chunkshape: Some(vec![2, 100]), ..NdOptions::default() };
    let mut bytes = Vec::new();
    write_array_to(&mut bytes, &array, &options).unwrap();
    let place = bytes.windows(9).position(|bytes| bytes == [0xd3, 0, 0, 0, 0, 0, 0, 0, 6]).unwrap();
    for (rows, beyond) in [(4_u8, 1), (2, 2)] {
        let mut claimed = bytes.clone();
        claimed[place + 8] = rows;
        claimed[30..38].copy_from_slice(&(u64::from(rows) * 100).to_be_bytes());
        let (report, out) = repaired(&claimed).unwrap_or_else(|error| panic!("{rows}: {error}"));
        let line = format!("{beyond} chunks beyond the {} of the shape: left out", rows / 2);
        assert!(report.lost.iter().any(|item| item.what == line), "{rows}: {report:?}");
        let mended = NdArray::from_frame(Frame::from_bytes(out).unwrap()).unwrap();
        let shape = [u64::from(rows), 100];
        assert_eq!(mended.shape(), shape, "{report:?}");
        let mut all = vec![1; usize::from(rows) * 100];
        mended.read_into(&Region::whole(&shape), &mut all, &ReadOptions::default()).unwrap();
        assert!(all == data[..all.len()], "{report:?}");
    }
}
