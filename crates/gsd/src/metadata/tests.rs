use container_core::container::{Container, OpenOptions};
use container_core::format::Input;

use super::*;
use crate::container::FORMAT;
use crate::import::SCHEMA;
use crate::writer::sequential::{NewChunk, Plan, to_vec};

fn map(entries: &[(&str, Value)]) -> Value {
    Value::Map(entries.iter().map(|(key, value)| ((*key).to_owned(), value.clone())).collect())
}

/// Returns the metadata that a file with these metadata carries, and the number of losses.
fn carried(tree: &Value, frames: u64) -> (Value, usize) {
    let plan = Plan::new("holdall 1", SCHEMA, Version::new(1, 0)).unwrap();
    let json = to_json(tree).unwrap().unwrap();
    let mut chunks: Vec<NewChunk<'_>> = vec![(0, METADATA, ChunkType::Uint8, json.len() as u64, 1, &json)];
    chunks.extend((0..frames).map(|frame| (frame, "a", ChunkType::Uint8, 2, 1, &[1, 2][..])));
    let bytes = to_vec(plan, &chunks).unwrap();
    let container = (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap();
    (container.export_metadata(&[]).unwrap(), container.unexported_metadata(&[]).len())
}

#[test]
fn a_key_of_the_user_that_is_called_as_the_formats_own_is_kept() {
    let header = [("application", "x".into()), ("schema", "y".into()), ("schema_version", "1.0".into())];
    let more = map(&[&header[..], &[("other", 5_i64.into())]].concat());
    let like = *Plan::new("x", SCHEMA, Version::new(1, 0)).unwrap().header();
    let run = map(&[("file", "run.gsd".into()), ("n", 3_i64.into())]);
    for value in [run, more, "text".into(), Value::List(vec![1_i64.into(), 2_i64.into()]), Value::Null] {
        let tree = map(&[("b", 1_i64.into()), (OWN, value)]);
        assert!(super::header(&tree, &like).is_none());
        assert_eq!(carried(&tree, 1), (tree.clone(), 0));
        // The value that it replaces is reported.
        assert_eq!(carried(&tree, 2), (tree.clone(), 1));
    }
    assert!(super::header(&map(&[(OWN, map(&header))]), &like).is_some());
}

fn list(items: &[i64]) -> Value {
    Value::List(items.iter().map(|item| (*item).into()).collect())
}

#[test]
fn runs_of_frames_are_half_open() {
    let runs = [(2, 4), (4, 5), (9, 12)];
    let within: Vec<u64> = (0..14).filter(|frame| is_within(Some(&runs), *frame)).collect();
    assert_eq!(within, [2, 3, 4, 9, 10, 11]);
    assert!(is_within(None, 7) && !is_within(Some(&[]), 0));
}

/// The chunks that carried metadata describe, with one entry as another.
fn chunks_of(key: &str, value: Value) -> Option<Chunks> {
    let runs = Value::List(vec![list(&[0, 1]), list(&[3, 5])]);
    let own = [
        ("frames", 5_i64.into()),
        ("names", Value::List(vec!["a".into(), "a/shape".into(), "b".into()])),
        ("stored", map(&[("b", runs)])),
        ("chunks", 12_i64.into()),
    ];
    let own: Vec<_> = own.into_iter().filter(|(name, _)| *name != key).chain([(key, value)]).collect();
    Chunks::of(&map(&[(OWN, map(&own))]))
}

#[test]
fn carried_chunks_are_found_by_path_and_by_frame() {
    let mut chunks = chunks_of("application", "x".into()).unwrap();
    assert_eq!((chunks.frames, chunks.count), (5, Some(12)));
    assert_eq!(chunks.names, ["a", "a/shape", "b"]);
    assert_eq!((chunks.stored("a"), chunks.stored("b")), (None, Some(&[(0, 1), (3, 5)][..])));
    assert!(chunks.has_shape("a") && !chunks.has_shape("b"));
    assert_eq!(chunks.find("a"), Some((None, "a")));
    assert_eq!(chunks.find("frames/4/a/shape"), Some((Some(4), "a/shape")));
    for none in ["c", "frames/5/a", "frames/x/a", "frames/1/c", "frames/1", "1/a"] {
        assert_eq!(chunks.find(none), None, "{none}");
    }
    assert_eq!(chunks.forget_stored(), ["b"]);
    assert_eq!(chunks.stored("b"), None);
}

#[test]
fn metadata_that_describe_no_chunks_are_not_taken_for_some() {
    assert!(Chunks::of(&map(&[])).is_none() && Chunks::of(&map(&[(OWN, "text".into())])).is_none());
    let runs = |runs: &[&[i64]]| map(&[("b", Value::List(runs.iter().map(|run| list(run)).collect()))]);
    for (key, value, is_some) in [
        ("frames", "5".into(), false),
        ("frames", (-1_i64).into(), false),
        ("names", list(&[1]), false),
        ("names", "a".into(), false),
        ("chunks", "many".into(), true),
        ("stored", runs(&[&[0, 1], &[1, 2]]), true),
        ("stored", runs(&[&[0, 2], &[1, 3]]), false),
        ("stored", runs(&[&[3, 4], &[0, 1]]), false),
        ("stored", runs(&[&[1, 1]]), false),
        ("stored", runs(&[&[2, 1]]), false),
        ("stored", runs(&[&[0, 1, 2]]), false),
        ("stored", runs(&[&[-1, 2]]), false),
        ("stored", runs(&[]), true),
    ] {
        assert_eq!(chunks_of(key, value.clone()).is_some(), is_some, "{key} {value:?}");
    }
    // A number of chunks that is none is not compared.
    assert_eq!(chunks_of("chunks", "many".into()).unwrap().count, None);
}

#[test]
fn headers_are_taken_from_metadata_of_the_formats_own_keys_alone() {
    let like = *Plan::new("x", SCHEMA, Version::new(1, 0)).unwrap().header();
    let of = |changes: &[(&str, Value)]| {
        let own = [("application", "a".into()), ("schema", "s".into()), ("schema_version", "2.7".into())];
        let kept = own.into_iter().filter(|(key, _)| changes.iter().all(|(other, _)| other != key));
        let own: Vec<(&str, Value)> = kept.chain(changes.iter().cloned()).collect();
        header(&map(&[(OWN, map(&own))]), &like)
    };
    let plain = of(&[]).unwrap();
    assert_eq!((plain.application_name().as_str(), plain.schema_name().as_str()), ("a", "s"));
    assert_eq!((plain.schema_version, plain.reserved), (Version::new(2, 7), [0; 80]));
    assert_eq!((plain.namelist_location, plain.gsd_version), (like.namelist_location, like.gsd_version));
    // Text that no writer makes is kept as its bytes, and so are reserved ones.
    let odd = of(&[("schema", vec![b'x'; 64].into()), ("reserved", vec![3_u8; 80].into())]).unwrap();
    assert_eq!((odd.schema, odd.reserved), ([b'x'; 64], [3; 80]));
    for wrong in [
        ("application", "x".repeat(64).as_str().into()),
        ("application", vec![b'x'; 63].into()),
        ("schema", 3_i64.into()),
        ("schema_version", "2".into()),
        ("schema_version", "2.x".into()),
        ("schema_version", 2.7.into()),
        ("reserved", vec![3_u8; 79].into()),
        ("reserved", "text".into()),
        ("unknown", "x".into()),
    ] {
        assert!(of(std::slice::from_ref(&wrong)).is_none(), "{wrong:?}");
    }
}

/// A file with a chunk of metadata, as a lens.
fn with_metadata(kind: ChunkType, bytes: &[u8], reserved: u8) -> Box<dyn Container> {
    let mut plan = Plan::new("other", "s", Version::new(1, 2)).unwrap();
    if reserved > 0 {
        plan = Plan::like(&Header { reserved: [reserved; 80], ..*plan.header() });
    }
    let n = bytes.len() as u64 / kind.size();
    let chunks: [NewChunk<'_>; 2] =
        [(0, METADATA, kind, n, 1, bytes), (0, "a", ChunkType::Uint8, 1, 1, &[7])];
    (FORMAT.open)(Input::bytes(Box::new(to_vec(plan, &chunks).unwrap())), &OpenOptions::default()).unwrap()
}

#[test]
fn metadata_of_a_file_are_its_header_frames_and_json() {
    let own = |more: &[(&str, Value)]| {
        let header: [(&str, Value); 3] =
            [("application", "other".into()), ("schema", "s".into()), ("schema_version", "1.2".into())];
        (OWN, map(&[&header[..], more].concat()))
    };
    let whole = Region::whole(&[1, 1]);
    let chunks: [(&str, Value); 3] =
        [("frames", 1_i64.into()), ("names", Value::List(vec!["a".into()])), ("chunks", 1_i64.into())];
    let file = with_metadata(ChunkType::Uint8, b"{\"k\": [1, 2]}", 0);
    let all = file.export_metadata(&[(0, whole.clone())]).unwrap();
    assert_eq!(all, map(&[("k", list(&[1, 2])), own(&chunks)]));
    // Of a part of a dataset, the frames are not told.
    let part = Region::parse("0, :0", &[1, 1]).unwrap();
    assert_eq!(file.export_metadata(&[(0, part)]).unwrap(), map(&[("k", list(&[1, 2])), own(&[])]));
    // All of the one frame, without the axis of frames, is whole.
    let frame = Region::parse("0", &[1, 1]).unwrap();
    assert_eq!(file.export_metadata(&[(0, frame)]).unwrap(), all);
    let reserved: (&str, Value) = ("reserved", vec![9_u8; 80].into());
    let file = with_metadata(ChunkType::Uint8, b"{}", 9);
    let expected = map(&[own(&[&[reserved][..], &chunks].concat())]);
    assert_eq!(file.export_metadata(&[(0, whole.clone())]).unwrap(), expected);
    // Of another type it is no metadata.
    let file = with_metadata(ChunkType::Int8, b"{\"k\": 1}", 0);
    assert_eq!(file.export_metadata(&[(0, whole.clone())]).unwrap(), map(&[own(&chunks)]));
    let error = with_metadata(ChunkType::Uint8, b"{", 0).export_metadata(&[(0, whole)]).unwrap_err();
    assert!(error.to_string().contains("holdall/metadata: invalid JSON"), "{error}");
}

/// Bytes with spaces after them, as many as a test likes.
struct Spaced(Vec<u8>, u64);

impl container_core::source::Source for Spaced {
    fn len(&self) -> u64 {
        self.1
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        for (byte, at) in dst.iter_mut().zip(usize::try_from(at).unwrap()..) {
            *byte = self.0.get(at).copied().unwrap_or(b' ');
        }
        Ok(())
    }
}

/// A chunk of more than 64 MiB is none of ours, and is not read.
#[test]
fn larger_chunks_of_that_name_are_not_read_as_metadata() {
    let plan = Plan::new("other", "s", Version::new(1, 2)).unwrap();
    let mut bytes = to_vec(plan, &[(0, METADATA, ChunkType::Uint8, 2, 1, b"{}")]).unwrap();
    let index = File::from_source(Box::new(bytes.clone()), &Default::default()).unwrap();
    let entry = usize::try_from(index.header().index_location).unwrap();
    bytes.truncate(bytes.len() - 2);
    let n = (1_u64 << 26) + 1;
    bytes[entry + 8..entry + 16].copy_from_slice(&n.to_le_bytes());
    let len = bytes.len() as u64 + n;
    let file = File::from_source(Box::new(Spaced(bytes, len)), &Default::default()).unwrap();
    assert_eq!(metadata(&file).unwrap(), None);
}
