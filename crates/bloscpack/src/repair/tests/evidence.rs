//! Evidence of every change, and what is reported because there is none.

use std::path::{Path, PathBuf};

use container_core::Limits;
use container_core::report::Evidence;

use super::moved::whats;
use super::{repair_bytes, sound, stored, values};
use crate::layout::Layout;
use crate::repair::*;
use crate::write::{Offsets, WriteOptions};

pub(super) const DOUBTFUL_METADATA: &str = "metadata: kept as read, although they do not match their digest";

fn fixtures(folder: &str) -> Vec<(PathBuf, Vec<u8>)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bloscpack").join(folder);
    let paths = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path());
    paths.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect()
}

fn fixture(name: &str) -> Vec<u8> {
    let all = fixtures("bad");
    all.into_iter().find(|(path, _)| path.ends_with(name)).unwrap().1
}

#[test]
fn every_change_of_a_fixture_names_its_evidence() {
    let mut changed = 0;
    for (path, bytes) in ["bad", "odd", "ok"].into_iter().flat_map(fixtures) {
        let input = Input::bytes(Box::new(bytes));
        let repaired = repair_to(input, &OpenOptions::default(), None, Progress::none());
        let Ok(report) = repaired else { continue };
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{}: {report:?}", path.display());
        let mut others = report.kept.iter().chain(&report.lost);
        assert!(others.all(|item| item.evidence.is_none()), "{}: {report:?}", path.display());
        changed += report.guessed.len();
    }
    assert!(changed > 50, "{changed}");
}

#[test]
fn a_shape_that_contradicts_whole_data_is_lost_and_no_byte_of_them() {
    for name in ["np_overflow.blp", "np_overflow_0.blp"] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert_eq!(values(&repaired).len(), 2000, "{name}");
        assert!(Layout::parse(&repaired, &Limits::default()).unwrap().numpy().is_none(), "{name}");
        let [what] = whats(&report.lost)[..] else { panic!("{name}: {report:?}") };
        assert!(what.starts_with("shape [") && report.guessed.is_empty(), "{name}: {report:?}");
    }
    for name in ["np_axes_70.blp", "np_dtype_unknown.blp", "np_negative.blp", "np_order.blp"] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert_eq!(values(&repaired).len(), 2000, "{name}");
        assert_eq!(
            whats(&report.lost),
            ["type and shape: not those of an array, the data become plain bytes"],
            "{name}"
        );
    }
    let (_, report) = repair_bytes(fixture("vl_shape_wrong.blp"));
    assert_eq!(whats(&report.lost), ["shape in the metadata: not one of 3 items"]);
}

/// The shape of a file that was appended to, and the end that bloscpack 0.11 lost, are damage of known kinds.
#[test]
fn shapes_left_by_known_writers_are_fitted_to_the_data() {
    for (name, lost) in [("np_too_short.blp", 0), ("np_bytes_lost.blp", 1), ("np_too_long.blp", 1)] {
        let (repaired, report) = repair_bytes(fixture(name));
        assert!(Layout::parse(&repaired, &Limits::default()).unwrap().numpy().is_some(), "{name}");
        let [item] = &report.guessed[..] else { panic!("{name}: {report:?}") };
        assert_eq!(
            (item.evidence, report.lost.len()),
            (Some(Evidence::KnownDamage), lost),
            "{name}: {report:?}"
        );
    }
}

#[test]
fn metadata_that_do_not_fit_their_digest_are_doubtful() {
    let (repaired, report) = repair_bytes(fixture("meta_digest.blp"));
    assert_eq!(values(&repaired).len(), 2000);
    assert_eq!(whats(&report.lost), [DOUBTFUL_METADATA]);
    assert!(whats(&report.kept).iter().all(|what| *what != "metadata"), "{report:?}");
}

/// A range, the first word of its description, and the evidence.
type Told = (std::ops::Range<u64>, &'static str, Evidence);

/// Sizes follow from the chunks themselves, offsets and counts from the walk.
#[test]
fn corrections_are_reported_at_their_field() {
    let whole = sound(&stored());
    let bare = sound(&WriteOptions { offsets: Offsets::None, ..stored() });
    let patched = |bytes: &[u8], at: usize, with: &[u8]| {
        let mut bytes = bytes.to_vec();
        bytes[at..at + with.len()].copy_from_slice(with);
        bytes
    };
    let (walk, copy) = (Evidence::Walk, Evidence::SecondCopy);
    let cases: [(Vec<u8>, &[Told]); 9] = [
        (patched(&whole, 32, &[0xff; 968]), &[(32..120, "offsets", walk)]),
        (patched(&whole, 40, &[5]), &[(40..48, "offsets", walk)]),
        (patched(&bare, 8, &[0xff; 4]), &[(8..16, "sizes", copy)]),
        (patched(&bare, 12, &[0xff; 4]), &[(8..16, "sizes", copy)]),
        (patched(&bare, 16, &[0xff; 8]), &[(16..24, "number", walk)]),
        (patched(&bare, 8, &[0xff; 16]), &[(16..24, "number", walk), (8..16, "sizes", copy)]),
        // The first chunk and the last one have other sizes than the header.
        (patched(&bare, 8, &[90]), &[(36..40, "sizes", copy)]),
        (patched(&bare, 12, &[40]), &[(1236..1240, "sizes", copy)]),
        ([&bare[..], &[1; 9]].concat(), &[(1302..1311, "bytes", walk)]),
    ];
    for (index, (bytes, expected)) in cases.into_iter().enumerate() {
        let (repaired, report) = repair_bytes(bytes);
        assert!(values(&repaired) == values(&whole) && report.lost.is_empty(), "case {index}: {report:?}");
        let told: Vec<Told> = report
            .guessed
            .iter()
            .map(|item| {
                let word = expected.iter().find(|it| item.what.starts_with(it.1)).map_or("", |it| it.1);
                (item.range.clone().unwrap(), word, item.evidence.unwrap())
            })
            .collect();
        assert_eq!(told, expected, "case {index}: {report:?}");
    }
    let (_, report) = repair_bytes(patched(&bare, 16, &[0xff; 8]));
    assert!(report.guessed[0].what.ends_with("11"), "{report:?}");
}

#[test]
fn neighbours_are_kept_as_one_and_lost_ones_are_named() {
    let mut two = sound(&stored());
    (two[1360 + 50], two[1480 + 50]) = (0, 0);
    let (_, report) = repair_bytes(two.clone());
    let item = |range: std::ops::Range<u64>, what: &str| RepairItem::new(range, what);
    let kept = [item(0..32, "header"), item(1000..1360, "chunks 0 to 2"), item(1600..2270, "chunks 5 to 10")];
    assert_eq!(report.kept, kept);
    let zeros = |number: u64| {
        let what = format!("chunk {number} is damaged: zeros in the new file");
        item(1000 + 120 * number..1120 + 120 * number, &what)
    };
    assert_eq!((report.lost, report.guessed), (vec![zeros(3), zeros(4)], vec![]));
    // One chunk between two that are lost.
    two[1480 + 50] = sound(&stored())[1480 + 50];
    two[1600 + 50] = 0;
    assert_eq!(repair_bytes(two).1.kept[2], item(1480..1600, "chunk 4"));
}

/// A type that numpy does not have, and text that is no JSON.
#[test]
fn unusable_metadata_are_lost_at_their_place() {
    let array = br#"{"dtype":"x","shape":[1],"order":"C","container":"numpy"}"#;
    let file = |json: &[u8]| {
        let level = crate::MetadataOptions { level: None, ..crate::MetadataOptions::default() };
        sound(&WriteOptions { json: Some(json.to_vec()), metadata_options: level, ..stored() })
    };
    let (repaired, report) = repair_bytes(file(array));
    let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
    assert!(layout.numpy().is_none() && layout.tree().unwrap().get("container").is_none());
    let range = 64..64 + array.len() as u64;
    assert_eq!(report.lost[0].range, Some(range), "{report:?}");
    let mut text = file(br#"{"a":1}"#);
    text[64] = b'?';
    let (repaired, report) = repair_bytes(text);
    assert_eq!(report.lost, [RepairItem::new(32..32 + 32 + 70 + 4, "metadata")]);
    assert!(Layout::parse(&repaired, &Limits::default()).unwrap().metadata().is_none());
}

/// Versions before 2 may have several chunks of no bytes, version 3 one alone.
#[test]
fn empty_chunks_become_one() {
    let empty = b"\x02\x01\x02\x01\0\0\0\0\x01\0\0\0\x10\0\0\0";
    let file = [&b"blpk\x01\0\0\0\x02\0\0\0\0\0\0\0"[..], empty, empty].concat();
    let (repaired, _) = repair_bytes(file);
    let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
    assert_eq!((layout.header().nchunks, layout.data_len()), (1, Some(0)));
}

/// More rows than the sizes in the header make were never there, unless each chunk but the last lost a part of an element, as in bloscpack 0.11 to 0.14.
#[test]
fn shapes_of_more_rows_than_were_written_are_lost() {
    let file = |rows: u64, typesize: usize| {
        let dtype = container_core::dtype::DType::parse("|u1").unwrap();
        let numpy = crate::NumpyArray { dtype, shape: vec![rows], order: container_core::dtype::Order::C };
        let mut options = stored().for_array(&numpy);
        options.chunks.typesize = typesize;
        sound(&options)
    };
    // 1050 bytes in eleven chunks.
    for (rows, typesize, is_fitted) in [
        (1100, 1, false),
        (1051, 4, false),
        (1080, 4, true),
        (1090, 4, false),
        (1100, 5, false),
        (1100, 10, true),
    ] {
        let (repaired, report) = repair_bytes(file(rows, typesize));
        let layout = Layout::parse(&repaired, &Limits::default()).unwrap();
        let shape = layout.numpy().map(|numpy| numpy.shape.clone());
        assert_eq!(shape, is_fitted.then(|| vec![1050]), "{rows} {typesize}: {report:?}");
        assert_eq!((values(&repaired).len(), report.lost.len()), (1050, 1), "{rows} {typesize}: {report:?}");
        assert_eq!(report.guessed.len(), usize::from(is_fitted), "{rows} {typesize}: {report:?}");
    }
    // Without the sizes, the end may be missing.
    let mut unknown = file(1100, 1);
    unknown[12..16].fill(0xff);
    let layout = Layout::parse(&repair_bytes(unknown).0, &Limits::default()).unwrap();
    assert_eq!(layout.numpy().map(|numpy| numpy.shape.clone()), Some(vec![1050]));
}
