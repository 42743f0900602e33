use std::ops::Range;

use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::{DType, Order};
use container_core::{ErrorKind, Value};

mod evidence;
mod false_chunks;
mod moved;

use super::*;
use crate::header::Dialect;
use crate::header::Header;
use crate::items::writer::{VarOptions, VarWriter};
use crate::layout::Layout;
use crate::metadata::MetadataOptions;
use crate::write::{Offsets, WriteOptions};
use crate::{ChecksumCode, NumpyArray, VarReader, Writer};

pub(super) fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
}

/// Ten chunks of 100 bytes and one of 50, stored plainly, so that each takes its bytes, 16 before and 4 after: the first one
/// starts at 32 + 11 * 11 * 8 = 1000.
pub(super) fn sound(options: &WriteOptions) -> Vec<u8> {
    let bytes = data(1050);
    let mut writer = Writer::new(std::io::Cursor::new(Vec::new()), Some(1050), options).unwrap();
    writer.push(&bytes).unwrap();
    writer.complete().unwrap().0.into_inner()
}

pub(super) fn stored() -> WriteOptions {
    let mut options = WriteOptions { chunk_size: Some(100), ..WriteOptions::default() };
    options.chunks.level = 0;
    options.chunks.typesize = 1;
    options
}

/// The repaired file, which has to be without a fault, and the report.
pub(super) fn repair_bytes(file: Vec<u8>) -> (Vec<u8>, RepairReport) {
    let mut out = Vec::new();
    let dry =
        repair_to(Input::bytes(Box::new(file.clone())), &OpenOptions::default(), None, Progress::none())
            .unwrap();
    let report =
        repair_to(Input::bytes(Box::new(file)), &OpenOptions::default(), Some(&mut out), Progress::none())
            .unwrap();
    assert_eq!(dry, report);
    let layout = Layout::parse(&out, &Limits::default()).unwrap();
    assert!(layout.faults().is_empty(), "{:?}", layout.faults());
    (out, report)
}

/// Whether repair fails because no data can be recovered.
pub(super) fn repair_fails(file: &[u8]) -> bool {
    let input = Input::bytes(Box::new(file.to_vec()));
    repair_to(input, &OpenOptions::default(), None, Progress::none()).is_err()
}

pub(super) fn values(file: &[u8]) -> Vec<u8> {
    let file = crate::File::from_source(Box::new(file.to_vec()), &OpenOptions::default()).unwrap();
    file.read_range(0..file.len().unwrap(), &ReadOptions::default()).unwrap()
}

pub(super) fn ranges(items: &[RepairItem]) -> Vec<Range<u64>> {
    items.iter().filter_map(|item| item.range.clone()).collect()
}

#[test]
fn a_sound_file_comes_out_as_it_was() {
    let sound = sound(&stored());
    let (repaired, report) = repair_bytes(sound.clone());
    assert!(repaired == sound);
    assert_eq!(ranges(&report.kept), [0..32, 1000..2270]);
    assert!(report.guessed.is_empty() && report.lost.is_empty());
}

#[test]
fn offsets_are_rebuilt_and_placeholders_filled_in() {
    let whole = sound(&stored());
    let mut unset = whole.clone();
    unset[32..1000].fill(0xff);
    let mut wrong = whole.clone();
    wrong[40..48].copy_from_slice(&5_i64.to_le_bytes());
    for damaged in [unset, wrong] {
        let (repaired, report) = repair_bytes(damaged);
        assert!(repaired == whole);
        assert!(!report.guessed.is_empty() && report.lost.is_empty());
    }
    // A stream whose header was never completed.
    let streamed = sound(&WriteOptions { offsets: Offsets::None, ..stored() });
    let mut unfinished = streamed;
    unfinished[12..24].fill(0xff);
    let (repaired, report) = repair_bytes(unfinished);
    assert!(repaired == whole);
    assert!(report.lost.is_empty(), "{report:?}");
}

#[test]
fn a_truncated_end_is_dropped() {
    let whole = sound(&stored());
    // Within the payload of chunk 7, and within the digest of chunk 4.
    let cuts = [
        (1900, 744, 2, 1840..1960),
        (1000 + 5 * 120 - 1, 500, 1, 1480..1600),
        (1840 + 16, 700, 2, 1840..1960),
    ];
    for (cut, len, lost, place) in cuts {
        let (repaired, report) = repair_bytes(whole[..cut].to_vec());
        assert_eq!(values(&repaired), data(len), "cut at {cut}");
        // A chunk that is cut within its digest keeps its data, without a proof.
        let told = if lost > 1 { &report.lost } else { &report.guessed };
        assert!(told.iter().any(|item| item.range.as_ref() == Some(&place)), "{report:?}");
        assert_eq!(report.lost.len(), lost, "{:?}", report.lost);
        assert!(report.lost[lost - 1].what.ends_with("not found"), "{:?}", report.lost);
    }
    // Between two chunks.
    let (repaired, _) = repair_bytes(whole[..1360].to_vec());
    assert_eq!(values(&repaired), data(300));
}

#[test]
fn a_damaged_chunk_in_the_middle_becomes_zeros() {
    let whole = sound(&stored());
    for place in [1120 + 50, 1120 + 118] {
        let mut damaged = whole.clone();
        damaged[place] ^= 0x10;
        let (repaired, report) = repair_bytes(damaged);
        let mut expected = data(1050);
        expected[100..200].fill(0);
        assert_eq!(values(&repaired), expected);
        assert_eq!(ranges(&report.lost), std::iter::once(1120..1240).collect::<Vec<_>>());
        assert_eq!(ranges(&report.kept), [0..32, 1000..1120, 1240..2270]);
    }
    // Without a valid header: the offsets give the positions of the other chunks, the header the length of this one.
    let mut damaged = whole;
    damaged[1120..1136].fill(0);
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!(values(&repaired)[200..], data(1050)[200..]);
    assert_eq!(values(&repaired)[100..200], [0; 100]);
    assert_eq!(report.lost.len(), 1);
}

#[test]
fn metadata_that_can_be_read_are_kept_and_shapes_are_cut_to_whole_rows() {
    let numpy = NumpyArray { dtype: DType::parse("<i2").unwrap(), shape: vec![175, 3], order: Order::C };
    let mut options = stored().for_array(&numpy);
    options.chunks.level = 0;
    let whole = sound(&options);
    let layout = Layout::parse(&whole, &Limits::default()).unwrap();
    let metadata = layout.metadata().unwrap().clone();

    let mut digest = whole.clone();
    digest[usize::try_from(metadata.digest.start).unwrap()] ^= 1;
    let (repaired, report) = repair_bytes(digest);
    assert!(repaired == whole && report.guessed.is_empty() && report.lost.len() == 1, "{report:?}");
    assert!(!ranges(&report.kept).contains(&metadata.range));

    // Six whole chunks and a bit: 600 bytes are 100 rows of 6.
    let seventh = usize::try_from(layout.chunks()[6].range().start).unwrap();
    let (repaired, report) = repair_bytes(whole[..seventh + 7].to_vec());
    let file = crate::File::from_source(Box::new(repaired.clone()), &OpenOptions::default()).unwrap();
    assert_eq!((file.numpy().unwrap().shape.as_slice(), values(&repaired)), (&[100, 3][..], data(600)));
    assert!(report.lost.iter().any(|item| item.what.starts_with("75 of 175 rows")), "{:?}", report.lost);
    // Five chunks are 83 rows and 2 bytes.
    let sixth = usize::try_from(layout.chunks()[5].range().start).unwrap();
    let (repaired, _) = repair_bytes(whole[..sixth].to_vec());
    let file = crate::File::from_source(Box::new(repaired.clone()), &OpenOptions::default()).unwrap();
    assert_eq!((file.numpy().unwrap().shape.as_slice(), values(&repaired)), (&[83, 3][..], data(498)));

    // Invalid JSON leaves plain bytes.
    let mut text = whole;
    let payload = usize::try_from(metadata.payload.start).unwrap();
    text[payload..payload + 9].fill(b'?');
    let (repaired, report) = repair_bytes(text);
    assert_eq!(values(&repaired), data(1050));
    assert!(ranges(&report.lost).contains(&metadata.range));
}

#[test]
fn older_versions_become_version_3() {
    let whole = sound(&WriteOptions { offsets: Offsets::None, ..stored() });
    // Version 1: 16 bytes, no digests.
    let mut plain = stored();
    plain.chunks.checksum = ChecksumCode::NONE;
    plain.offsets = Offsets::None;
    let chunks = sound(&plain)[32..].to_vec();
    let version_1 = [b"blpk\x01\0\0\0\x0b\0\0\0\0\0\0\0".to_vec(), chunks].concat();
    let (repaired, report) = repair_bytes(version_1);
    assert_eq!(values(&repaired), data(1050));
    assert_eq!(Header::parse(&repaired).unwrap().dialect, Dialect::V3);
    assert!(report.guessed.iter().any(|item| item.what.contains("version 3")));
    // Version 2, with the last chunk longer than the others, which version 3 does not have.
    let two = |sizes: [&[u8]; 2]| {
        let mut file = b"blpk\x02\0\x01\x01\x64\0\0\0\xc8\0\0\0\x02\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0".to_vec();
        for bytes in sizes {
            let options = WriteOptions { offsets: Offsets::None, chunk_size: Some(200), ..stored() };
            let mut writer =
                Writer::new(std::io::Cursor::new(Vec::new()), Some(bytes.len() as u64), &options).unwrap();
            writer.push(bytes).unwrap();
            file.extend(&writer.complete().unwrap().0.into_inner()[32..]);
        }
        file
    };
    let (repaired, _) = repair_bytes(two([&data(300)[..100], &data(300)[100..]]));
    assert_eq!(values(&repaired), data(300));
    assert_eq!(Header::parse(&repaired).unwrap().nchunks, 3);
    assert_eq!(whole[4], 3);
}

#[test]
fn items_keep_their_numbers() {
    let names = |names: &[&str]| Some(names.iter().map(|name| (*name).to_owned()).collect());
    let options = VarOptions { names: names(&["a", "b", "c"]), reserve: 5, ..VarOptions::text() };
    let mut writer = VarWriter::new(std::io::Cursor::new(Vec::new()), None, &options).unwrap();
    for item in ["first", "second", "third"] {
        writer.push(item).unwrap();
    }
    let whole = writer.complete().unwrap().0.into_inner();
    let layout = Layout::parse(&whole, &Limits::default()).unwrap();
    let start = |index: usize| usize::try_from(layout.chunks()[index].range().start).unwrap();
    let items = |file: Vec<u8>| -> Vec<String> {
        let reader = VarReader::from_source(Box::new(file), &OpenOptions::default()).unwrap();
        (0..reader.len()).map(|index| reader.text(index).unwrap()).collect()
    };

    let mut damaged = whole.clone();
    damaged[start(1) + 17] ^= 1;
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!(items(repaired), ["first", "", "third"]);
    assert_eq!((report.lost.len(), report.kept.len()), (1, 4));

    let (repaired, _) = repair_bytes(whole[..start(2) + 3].to_vec());
    let reader = VarReader::from_source(Box::new(repaired.clone()), &OpenOptions::default()).unwrap();
    assert_eq!(reader.names().unwrap(), ["a", "b"]);
    assert_eq!(reader.file().metadata().unwrap().get("shape"), Some(&vec![Value::from(2_u64)].into()));
    assert_eq!(items(repaired), ["first", "second"]);

    // Version byte 3, as a writer would set it that follows the proposal's text alone; and unset offsets, without gaps.
    let mut as_3 = whole;
    as_3[4] = 3;
    assert_eq!(items(repair_bytes(as_3).0), ["first", "second", "third"]);
    let options = VarOptions { reserve: 0, ..options };
    let mut writer = VarWriter::new(std::io::Cursor::new(Vec::new()), None, &options).unwrap();
    for item in ["first", "second", "third"] {
        writer.push(item).unwrap();
    }
    let whole = writer.complete().unwrap().0.into_inner();
    let table = Layout::parse(&whole, &Limits::default()).unwrap().offsets();
    let mut unset = whole.clone();
    unset[usize::try_from(table.start).unwrap()..usize::try_from(table.end).unwrap()].fill(0xff);
    assert!(repair_bytes(unset.clone()).0 == whole);
    unset[16..24].fill(0xff);
    assert!(repair_bytes(unset).0 == whole);
}

#[test]
fn unrepairable_files_are_refused_without_output() {
    let directory = tempfile::tempdir().unwrap();
    let (input, output) = (directory.path().join("a.blp"), directory.path().join("b.blp"));
    let whole = sound(&stored());
    // Either of them alone would follow from the rest.
    let mut both = whole.clone();
    (both[5], both[6]) = (both[5] | 0x80, 9);
    let cases = [b"BLP2".to_vec(), whole[..20].to_vec(), whole[..1000].to_vec(), both];
    for damaged in cases {
        std::fs::write(&input, &damaged).unwrap();
        let error = repair(&input, &output).unwrap_err();
        assert!(!matches!(error.kind(), ErrorKind::Io(_) | ErrorKind::Usage(_)), "{error}");
        assert!(!output.exists());
        assert_eq!(std::fs::read(&input).unwrap(), damaged);
    }
    std::fs::write(&input, &whole[..2000]).unwrap();
    assert!(!repair(&input, &output).unwrap().lost.is_empty());
    assert!(matches!(repair(&input, &output).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn any_cut_and_any_flip_in_the_head_give_a_sound_file_or_an_error() {
    let whole = sound(&stored());
    let attempt = |damaged: Vec<u8>| {
        let mut out = Vec::new();
        let repaired = repair_to(
            Input::bytes(Box::new(damaged)),
            &OpenOptions::default(),
            Some(&mut out),
            Progress::none(),
        );
        if repaired.is_ok() {
            let layout = Layout::parse(&out, &Limits::default()).unwrap();
            assert!(layout.faults().is_empty(), "{:?}", layout.faults());
        }
    };
    (0..whole.len()).step_by(7).for_each(|cut| attempt(whole[..cut].to_vec()));
    for place in (0..48).chain(1000..1020) {
        for bit in 0..8 {
            let mut damaged = whole.clone();
            damaged[place] ^= 1 << bit;
            attempt(damaged);
        }
    }
}

/// Metadata that only Python reads are unchanged, byte for byte.
#[test]
fn metadata_that_need_no_repair_are_not_respelt() {
    for json in [r#"{"a":NaN, "b":[-Infinity]}"#, r#"{"a":"\ud800"}"#, r#"{"a":1180591620717411303424}"#] {
        let options = WriteOptions { json: Some(json.as_bytes().to_vec()), ..stored() };
        let mut file = sound(&options);
        // A bit of the size of the last chunk.
        file[12] ^= 1;
        let mut out = Vec::new();
        repair_to(Input::bytes(Box::new(file)), &OpenOptions::default(), Some(&mut out), Progress::none())
            .unwrap();
        let layout = Layout::parse(&out, &Limits::default()).unwrap();
        assert_eq!(layout.metadata().unwrap().json.as_deref(), Some(json.as_bytes()));
        assert!(layout.faults().iter().all(|fault| fault.kind() == FaultKind::MetadataSpelling));
        assert_eq!(values(&out), data(1050));
    }
}

#[test]
fn bytes_of_a_python_literal_are_text_in_json() {
    let fixed = sound(&WriteOptions { json: Some(br#"{"a":"0123456789"}"#.to_vec()), ..stored() });
    let items = {
        let cursor = std::io::Cursor::new(Vec::new());
        let mut writer = VarWriter::new(cursor, None, &VarOptions::text()).unwrap();
        writer.push("item").unwrap();
        writer.complete().unwrap().0.into_inner()
    };
    for file in [fixed, items] {
        let metadata = Layout::parse(&file, &Limits::default()).unwrap().metadata().unwrap().clone();
        let place =
            usize::try_from(metadata.payload.start).unwrap()..usize::try_from(metadata.payload.end).unwrap();
        let mut literal = br"{'a':b'\xe9\n'".to_vec();
        literal.resize(place.len() - 1, b' ');
        literal.push(b'}');
        let mut file = file;
        file[place].copy_from_slice(&literal);
        let (repaired, report) = repair_bytes(file);
        let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
        assert_eq!(layout.tree().unwrap().get("a"), Some(&Value::from("\u{e9}\n")));
        // The digest, where there is one, is that of the metadata before.
        let doubtful = [evidence::DOUBTFUL_METADATA];
        let expected = if metadata.digest.is_empty() { &[][..] } else { &doubtful };
        assert_eq!(moved::whats(&report.lost), expected);
        assert!(
            report.guessed.iter().any(|item| item.what.starts_with("metadata: bytes, which")),
            "{report:?}"
        );
    }
}

/// A claim that bytes hid is one only where it holds: no byte of the data is cut for it.
#[test]
fn numpy_claim_with_a_bytes_repr_is_kept_only_if_its_shape_fits() {
    for (shape, is_array) in [("[10,105]", true), ("[7,100]", false), ("[7,300]", false), ("7", false)] {
        let text = format!(r#"{{"dtype":"'|u1'","shape":{shape},"order":"C","container":b"numpy","x":1}}"#);
        let (mut json, room) = (text.replace("b\"", "\""), text.len());
        json.extend(std::iter::repeat_n(' ', room - json.len()));
        let options = WriteOptions {
            json: Some(json.into_bytes()),
            metadata_options: MetadataOptions { level: None, ..MetadataOptions::default() },
            ..stored()
        };
        let mut file = sound(&options);
        let payload = Layout::parse(&file, &Limits::default()).unwrap().metadata().unwrap().payload.clone();
        let place = usize::try_from(payload.start).unwrap()..usize::try_from(payload.end).unwrap();
        file[place].copy_from_slice(text.as_bytes());
        let (repaired, report) = repair_bytes(file);
        assert_eq!(values(&repaired), data(1050), "{shape}: {report:?}");
        let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
        assert_eq!(layout.numpy().is_some(), is_array, "{shape}: {report:?}");
        assert_eq!(layout.tree().unwrap().get("x"), Some(&Value::Int(1)));
        assert_eq!(moved::whats(&report.lost), [evidence::DOUBTFUL_METADATA], "{shape}");
        assert_eq!(report.guessed.iter().any(|item| item.what.contains("without the claim")), !is_array);
    }
}

/// Metadata with further entries besides an impossible shape.
#[test]
fn impossible_shape_is_removed_and_other_metadata_kept() {
    let json = br#"{"dtype":"'|u1'","shape":[4,100],"order":"C","container":"numpy","who":"me"}"#;
    let (repaired, report) = repair_bytes(sound(&WriteOptions { json: Some(json.to_vec()), ..stored() }));
    assert_eq!(values(&repaired), data(1050));
    let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
    assert_eq!(layout.tree().unwrap().get("who"), Some(&Value::from("me")), "{report:?}");
    assert!(layout.numpy().is_none() && report.lost.len() == 1, "{report:?}");
}

#[test]
fn item_metadata_is_unchanged_when_no_item_is_lost() {
    let options = VarOptions { reserve: 3, ..VarOptions::text() };
    let mut writer = VarWriter::new(std::io::Cursor::new(Vec::new()), None, &options).unwrap();
    for item in ["a", "b", "c", "d"] {
        writer.push(item).unwrap();
    }
    let whole = writer.complete().unwrap().0.into_inner();
    // The metadata are at byte 32; as long as before.
    let old = br#"{"dtype":"varchar","shape":[4],"others":[]}"#;
    assert_eq!(whole[32..75], old[..]);
    for (text, kept) in [
        (r#"{"dtype":"varchar","shape":[2,2]}          "#, r#"{"dtype":"varchar","shape":[2,2]}"#),
        (r#"{"dtype":"varchar","names":[1,2,3,4,5]}    "#, r#"{"dtype":"varchar","names":[1,2,3,4,5]}"#),
        (r#"{"dtype":"varchar","shape":[2,3],"x":1}    "#, r#"{"dtype":"varchar","shape":[4],"x":1}"#),
    ] {
        let mut other = whole.clone();
        other[32..75].copy_from_slice(text.as_bytes());
        let (repaired, _) = repair_bytes(other);
        assert_eq!(std::str::from_utf8(&repaired[32..32 + kept.len()]).unwrap(), kept);
    }
}

#[test]
fn unknown_tail_after_an_unknown_chunk_count_is_reported_as_lost() {
    let options = WriteOptions { offsets: Offsets::None, ..stored() };
    let mut file = sound(&options);
    let layout = Layout::parse(&file, &Limits::default()).unwrap();
    let place = |index: usize| layout.chunks()[index].range();
    let (fourth, last) = (place(3), place(10));
    // A stream whose length was not recorded.
    file[16..24].fill(0xff);
    file[12..16].fill(0xff);
    let codes = |file: &[u8]| -> Vec<_> {
        let layout = Layout::parse(&file, &Limits::default()).unwrap();
        layout.faults().iter().map(|fault| (fault.kind(), fault.range())).collect()
    };
    let is_tail = |file: &[u8]| codes(file).into_iter().find(|(kind, _)| *kind == FaultKind::UnknownTail);
    assert_eq!(is_tail(&file), None);
    // An overwritten chunk header, and the chunks after it.
    let at = usize::try_from(fourth.start).unwrap();
    let mut damaged = file.clone();
    damaged[at..at + 16].fill(0);
    assert_eq!(is_tail(&damaged), Some((FaultKind::UnknownTail, fourth.start..file.len() as u64)));
    // The only chunk after it is damaged as well: the search finds none.
    let mut short = file;
    let at = usize::try_from(last.start).unwrap();
    short[at..at + 16].fill(0);
    let (repaired, report) = repair_bytes(short.clone());
    assert_eq!(values(&repaired), data(1000));
    let lost = ranges(&report.lost);
    assert!(lost.len() == 1 && lost[0] == (last.start..short.len() as u64), "{report:?}");
}
