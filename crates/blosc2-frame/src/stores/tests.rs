//! Stores against the fixtures, which python-blosc2 wrote, and against damaged copies of them.

use std::fs;
use std::path::{Path, PathBuf};

use container_codecs::checksum::Algorithm;
use container_core::ErrorKind;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::report::{Report, Verdict};
use container_core::{Limits, Progress, Value};

use super::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2").join(name)
}

fn opened(path: &Path) -> Result<Box<dyn Container>> {
    if path.is_dir() {
        let input = Input { source: None, path: Some(path.to_owned()) };
        return (crate::FORMAT.open)(input, &OpenOptions::default());
    }
    of_bytes(fs::read(path)?)
}

fn of_bytes(bytes: Vec<u8>) -> Result<Box<dyn Container>> {
    (crate::FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default())
}

fn paths(store: &dyn Container) -> Vec<String> {
    (0..store.listed_count()).map(|index| store.dataset(index).unwrap().path.clone()).collect()
}

/// Returns the SHA-256 of the values, as in the manifest of the fixtures.
fn values(store: &dyn Container, path: &str) -> String {
    let index = store.find(path).unwrap();
    let region = Region::whole(&store.dataset(index).unwrap().shape);
    let array = store.read(index, &region, &ReadOptions::default()).unwrap();
    let bytes = array.bytes(Order::C, &Limits::default()).unwrap();
    Algorithm::Sha256.digest(&bytes).to_string()
}

fn report(store: &dyn Container) -> Report {
    store.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap()
}

fn codes(store: &dyn Container) -> Vec<&'static str> {
    report(store).findings.iter().map(|finding| finding.code).collect()
}

// From testdata/blosc2/MANIFEST.toml.
const A: &str = "af6d3e4bf85a6940c7773c761d460fc78895ef75174c03b4d297857f11e6e25b";
const B: &str = "bb9f5f6f5ffc653283d7e35d34ac7ca3a1c2be44390554539b561be80ed40285";
const C: &str = "b14a13dc68f2cfac3539ecb269cdc75b7423a4ec866b481644e12370661e69e3";

#[test]
fn stores_of_every_kind_are_read_by_key() {
    for (name, keys) in [
        ("ok/dict_b2d.b2d", &[("a", A), ("b", B)][..]),
        ("ok/dict_b2z.b2z", &[("a", A), ("b", B)]),
        ("ok/embedded_b2d.b2d", &[("a", A), ("deep/b", B)]),
        ("ok/embedded_b2z.b2z", &[("a", A), ("deep/b", B)]),
        ("ok/tree_b2d.b2d", &[("a", A), ("group/b", B), ("group/deeper/c", C)]),
        ("ok/tree_b2z.b2z", &[("a", A), ("group/b", B), ("group/deeper/c", C)]),
        ("ok/tree_empty_b2d.b2d", &[]),
        ("ok/tree_empty_b2z.b2z", &[]),
        ("ok/embed.b2e", &[("a", A), ("group/b", B)]),
        ("odd/embed_deleted.b2e", &[("group/b", B)]),
    ] {
        let store = opened(&fixture(name)).unwrap();
        let want: Vec<&str> = keys.iter().map(|(key, _)| *key).collect();
        assert_eq!(paths(&*store), want, "{name}");
        assert_eq!(store.dataset_count(), keys.len(), "{name}");
        for (key, digest) in keys {
            assert_eq!(values(&*store, key), *digest, "{name} {key}");
            assert_eq!(store.find(&format!("/{key}")), store.find(key));
        }
        let odd: &[&str] = if name.starts_with("odd") { &["dead_space"] } else { &[] };
        assert_eq!(codes(&*store), odd, "{name}");
        assert!(store.about().complete);
        assert_eq!(store.find("nothing"), None);
    }
}

#[test]
fn the_map_of_a_store_covers_every_byte() {
    for name in ["ok/dict_b2z.b2z", "ok/tree_b2z.b2z", "ok/table_b2z.b2z", "ok/embed.b2e"] {
        let store = opened(&fixture(name)).unwrap();
        let mut at = 0;
        for segment in store.byte_map() {
            assert_eq!(segment.range.start, at, "{name}");
            assert!(segment.range.end > at);
            at = segment.range.end;
        }
        assert_eq!(at, fs::metadata(fixture(name)).unwrap().len(), "{name}");
    }
    let store = opened(&fixture("ok/dict_b2d.b2d")).unwrap();
    let mut parts: Vec<(String, u64)> = Vec::new();
    for segment in store.byte_map() {
        let part = segment.part.unwrap();
        let key = match part.as_str() {
            "a.b2nd" => Some("a"),
            "b.b2nd" => Some("b"),
            _ => None,
        };
        assert_eq!(segment.dataset.as_deref(), key, "{part}");
        match parts.last_mut() {
            Some((last, end)) if *last == part => {
                assert_eq!(segment.range.start, *end);
                *end = segment.range.end;
            }
            _ => parts.push((part, segment.range.end)),
        }
    }
    let len = |name: &str| fs::metadata(fixture("ok/dict_b2d.b2d").join(name)).unwrap().len();
    let want = ["a.b2nd", "b.b2nd", "embed.b2e"].map(|name| (name.to_owned(), len(name)));
    assert_eq!(parts, want);
}

#[test]
fn attributes_are_those_of_groups() {
    for name in ["ok/tree_b2d.b2d", "ok/tree_b2z.b2z"] {
        let meta = opened(&fixture(name)).unwrap().meta().unwrap();
        assert_eq!(meta.pointer("/attributes/~1/title"), Some(&Value::from("a tree")), "{name}");
        assert_eq!(meta.pointer("/attributes/~1group/unit/scale/1"), Some(&Value::Float(2.5)));
        assert_eq!(meta.pointer("/attributes/~1group/unit/b"), Some(&Value::from("m")));
    }
}

#[test]
fn columns_of_tables_have_their_names() {
    for kind in ["b2d", "b2z"] {
        let store = opened(&fixture(&format!("ok/table_words_{kind}.{kind}"))).unwrap();
        let details = store.about().details;
        let detail = |name: &str| details.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone());
        assert_eq!(detail("kind"), Some(Value::from("CTable")));
        assert_eq!(detail("table").unwrap().get("rows"), Some(&Value::Int(3)));
        assert_eq!(codes(&*store), [""; 0]);
        let columns = (0..store.dataset_count()).filter_map(|index| {
            let dataset = store.dataset(index)?.into_owned();
            let text = |name: &str| match dataset.attributes.iter().find(|(own, _)| own == name)?.1.clone() {
                Value::Text(text) => Some(text),
                _ => None,
            };
            Some((dataset.path, text("column")?, text("holds")?))
        });
        let columns: Vec<_> =
            columns.map(|(path, column, holds)| format!("{path}: {column} {holds}")).collect();
        let want = [
            "_cols/kind: kind values",
            "_cols/number: number values",
            "_cols/word: word values",
            "_cols/kind_dict/chunks/0: kind dictionary",
            "_cols/word/chunks/0: word values",
        ];
        assert_eq!(columns, want);
        assert_eq!(store.find("number"), store.find("_cols/number"));
        assert!(store.find("number").is_some());
    }
}

/// Copies a directory for a test to change.
fn copied(name: &str) -> tempfile::TempDir {
    fn copy(from: &Path, to: &Path) {
        fs::create_dir_all(to).unwrap();
        for entry in fs::read_dir(from).unwrap() {
            let entry = entry.unwrap();
            let target = to.join(entry.file_name());
            if entry.file_type().unwrap().is_dir() {
                copy(&entry.path(), &target);
            } else {
                fs::copy(entry.path(), target).unwrap();
            }
        }
    }
    let root = tempfile::tempdir().unwrap();
    copy(&fixture(name), root.path());
    root
}

#[test]
fn a_leaf_that_is_damaged_leaves_the_others() {
    let root = copied("ok/dict_b2d.b2d");
    fs::write(root.path().join("a.b2nd"), b"\x9e\xa8b2frame\0 and no more").unwrap();
    let store = opened(root.path()).unwrap();
    assert_eq!(paths(&*store), ["b"]);
    assert_eq!(values(&*store, "b"), B);
    let report = report(&*store);
    assert_eq!(report.verdict(), Verdict::Damaged);
    let finding = &report.findings[0];
    assert_eq!((finding.code, finding.part.as_deref()), ("leaf_unreadable", Some("a.b2nd")));
    assert_eq!(finding.dataset.as_deref(), Some("a"));
    assert!(!store.about().complete);
}

#[test]
fn a_store_without_its_embed_store_is_read_with_a_warning() {
    let root = copied("ok/dict_b2d.b2d");
    fs::remove_file(root.path().join("embed.b2e")).unwrap();
    let store = opened(root.path()).unwrap();
    assert_eq!(paths(&*store), ["a", "b"]);
    assert_eq!(codes(&*store), ["store_no_embed"]);
}

#[test]
fn leaves_of_one_key_are_all_found() {
    let root = copied("ok/dict_b2d.b2d");
    fs::copy(root.path().join("b.b2nd"), root.path().join("a.b2f")).unwrap();
    let store = opened(root.path()).unwrap();
    assert_eq!(paths(&*store), ["a", "a.b2nd", "b"]);
    assert_eq!(codes(&*store), ["store_double"]);
    assert_eq!(values(&*store, "a.b2nd"), A);
}

#[test]
fn a_flipped_byte_in_a_zip_file_fails_its_digest() {
    let mut bytes = fs::read(fixture("ok/dict_b2z.b2z")).unwrap();
    // In the first member's header: a number of threads, which changes no value.
    let frame = bytes.windows(10).position(|ten| ten == crate::header::MAGIC).unwrap();
    bytes[frame + 64] ^= 1;
    let store = of_bytes(bytes).unwrap();
    assert_eq!(paths(&*store), ["a", "b"]);
    assert_eq!((values(&*store, "a"), values(&*store, "b")), (A.to_owned(), B.to_owned()));
    let report = report(&*store);
    assert_eq!(report.findings.iter().map(|finding| finding.code).collect::<Vec<_>>(), ["zip_crc"]);
    assert!(report.findings[0].range.clone().unwrap().contains(&(frame as u64)));
}

#[test]
fn directories_and_files_without_a_store_are_refused() {
    let kind = |result: Result<Box<dyn Container>>| result.err().unwrap().into_kind();
    let empty = tempfile::tempdir().unwrap();
    assert!(matches!(kind(opened(empty.path())), ErrorKind::WrongFormat { .. }));
    fs::write(empty.path().join("notes.txt"), b"nothing").unwrap();
    assert!(matches!(kind(opened(empty.path())), ErrorKind::WrongFormat { .. }));
    assert!(matches!(kind(of_bytes(b"PK\x03\x04".to_vec())), ErrorKind::Malformed(_)));
}

#[test]
fn every_cut_and_flip_is_survived() {
    for name in ["ok/embedded_b2z.b2z", "ok/embed.b2e"] {
        let whole = fs::read(fixture(name)).unwrap();
        let survive = |bytes: Vec<u8>| {
            let Ok(store) = of_bytes(bytes) else { return };
            for index in 0..store.dataset_count() {
                let shape = store.dataset(index).unwrap().shape.clone();
                let _ = store.read(index, &Region::whole(&shape), &ReadOptions::default());
            }
            let _ = store.byte_map();
        };
        for at in (0..whole.len()).step_by(3) {
            let mut bytes = whole.clone();
            bytes[at] ^= 0x55;
            survive(bytes);
            survive(whole[..at].to_vec());
        }
    }
}

/// Makes an EmbedStore of these bytes and this map.
fn embed_store(data: &[u8], map: &[u8]) -> Vec<u8> {
    let mut options = crate::FrameOptions::default();
    options.metalayers.set("b2embed", b"\x81\xa7version\x01".to_vec()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = crate::Writer::new(&mut bytes, options).unwrap();
    writer.append(data).unwrap();
    writer.set_vlmetalayer("estore_metadata", map).unwrap();
    writer.finish().unwrap();
    bytes
}

/// Makes a map of keys to offsets and lengths, as msgpack.
fn map_of(entries: &[(&str, u64, u64)]) -> Vec<u8> {
    let place = |offset: u64, length: u64| {
        Value::Map(vec![("offset".into(), offset.into()), ("length".into(), length.into())])
    };
    let map = entries.iter().map(|(key, offset, length)| ((*key).to_owned(), place(*offset, *length)));
    let metadata = Value::Map(vec![("embed_map".into(), Value::Map(map.collect()))]);
    crate::msgpack::from_value(&metadata).unwrap()
}

#[test]
fn stores_within_stores_are_looked_into_and_end() {
    let inner = fs::read(fixture("ok/embed.b2e")).unwrap();
    let mut frame = inner.clone();
    for depth in 1..8 {
        frame = embed_store(&frame, &map_of(&[("/n", 0, frame.len() as u64)]));
        let store = of_bytes(frame.clone()).unwrap();
        if depth < leaf::MAX_NESTED {
            let key = format!("{}a", "n/".repeat(depth));
            assert_eq!(values(&*store, &key), A, "{key}");
            assert_eq!(codes(&*store), [""; 0]);
        } else {
            assert_eq!(store.dataset_count(), 0, "{depth}");
            assert_eq!(codes(&*store), ["store_depth"], "{depth}");
        }
    }
}

#[test]
fn invalid_map_entries_affect_only_their_own_leaf() {
    let frame = fs::read(fixture("ok/dict_b2d.b2d/b.b2nd")).unwrap();
    let len = frame.len() as u64;
    let lies = [
        ("/far", 1 << 60, 8),
        ("/long", 0, 1 << 60),
        ("/past", 0, len + 1),
        ("/short", 0, len - 1),
        ("/odd", 1, 9),
    ];
    for lie in lies {
        let store = of_bytes(embed_store(&frame, &map_of(&[("/b", 0, len), lie]))).unwrap();
        assert_eq!(values(&*store, "b"), B);
        let report = report(&*store);
        assert_eq!(report.verdict(), Verdict::Damaged);
        let key = &lie.0[1..];
        assert!(report.findings.iter().all(|finding| finding.dataset.as_deref() == Some(key)), "{report:?}");
        if key != "short" {
            assert_eq!(paths(&*store), ["b"], "{lie:?}");
            assert_eq!(report.findings[0].code, "leaf_unreadable");
        }
    }
    let store = of_bytes(embed_store(&frame, b"\xc0")).unwrap();
    assert_eq!(codes(&*store), ["embed_map"]);
}

#[test]
fn remote_references_are_listed_without_fetching() {
    let frame = fs::read(fixture("ok/dict_b2d.b2d/b.b2nd")).unwrap();
    let text = |text: &str| Value::Text(text.to_owned());
    let there =
        Value::Map(vec![("urlbase".into(), text("https://host/")), ("path".into(), text("@public/x"))]);
    let map = Value::Map(vec![("embed_map".into(), Value::Map(vec![("/c".into(), there)]))]);
    let store = of_bytes(embed_store(&frame, &crate::msgpack::from_value(&map).unwrap())).unwrap();
    assert_eq!(store.dataset_count(), 0);
    let meta = store.meta().unwrap();
    assert_eq!(meta.pointer("/references/~1c"), Some(&text("https://host/ @public/x")));
    // The unreferenced frame is a hole.
    assert_eq!(codes(&*store), ["dead_space"]);
}

#[test]
fn store_with_only_deflated_members_is_refused_with_a_hint() {
    let mut bytes = fs::read(fixture("ok/dict_b2z.b2z")).unwrap();
    let deflate = |bytes: &mut Vec<u8>, most: usize| {
        let entries: Vec<usize> =
            (0..bytes.len() - 4).filter(|at| bytes[*at..].starts_with(b"PK\x01\x02")).take(most).collect();
        for at in entries {
            bytes[at + 10] = 8;
        }
    };
    deflate(&mut bytes, 1);
    let store = of_bytes(bytes.clone()).unwrap();
    assert_eq!(store.dataset_count(), 1);
    assert_eq!(codes(&*store), ["zip_deflated"]);
    deflate(&mut bytes, 9);
    let error = of_bytes(bytes).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)));
    assert!(error.hint().is_some());
}

#[test]
fn a_store_of_many_files_opens_them_as_they_are_read() {
    let root = copied("ok/dict_b2d.b2d");
    for number in 0..400 {
        fs::copy(root.path().join("b.b2nd"), root.path().join(format!("n{number:03}.b2nd"))).unwrap();
    }
    let mut options = OpenOptions::default();
    options.access = Access::Positioned;
    let input = Input { source: None, path: Some(root.path().to_owned()) };
    let store = (crate::FORMAT.open)(input, &options).unwrap();
    assert_eq!(store.listed_count(), 402);
    assert_eq!((values(&*store, "n399"), values(&*store, "a")), (B.to_owned(), A.to_owned()));
}

/// Makes an EmbedStore of `count` leaves, all of the same bytes.
fn of_many(count: usize) -> Vec<u8> {
    let frame = fs::read(fixture("ok/dict_b2d.b2d/b.b2nd")).unwrap();
    let keys: Vec<String> = (0..count).map(|number| format!("/n{number:03}")).collect();
    let places: Vec<_> = keys.iter().map(|key| (key.as_str(), 0, frame.len() as u64)).collect();
    embed_store(&frame, &map_of(&places))
}

#[test]
fn number_of_cached_open_frames_is_bounded() {
    let bytes = of_many(300);
    let (len, options) = (bytes.len() as u64, OpenOptions::default());
    let mut leaves = Leaves::new(&options, crate::container::open_container);
    let place = LeafLocation { part: None, range: 0..len, inside: None };
    leaves.take("", place, Bytes::Within(Arc::new(bytes), 0..len)).unwrap();
    let cache = Arc::clone(&leaves.open_frames);
    let store = Store::new(Kind::Embed, len, leaves).unwrap();
    assert_eq!(store.listed_count(), 300);
    for _ in 0..2 {
        for number in 0..300 {
            assert_eq!(values(&store, &format!("n{number:03}")), B);
        }
    }
    assert_eq!(cache.counts(), [open_frames::MAX_OPEN, 1]);
    assert_eq!(codes(&store), [""; 0]);
}

#[test]
fn a_store_of_more_leaves_than_the_limit_on_memory_has_room_for_is_refused() {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(100 << 10);
    let store = (crate::FORMAT.open)(Input::bytes(Box::new(of_many(90))), &options).unwrap();
    assert_eq!(store.listed_count(), 90);
    let store = (crate::FORMAT.open)(Input::bytes(Box::new(of_many(120))), &options).unwrap();
    assert_eq!(codes(&*store), ["embed_data"]);
    let root = copied("ok/dict_b2d.b2d");
    for number in 0..120 {
        fs::copy(root.path().join("b.b2nd"), root.path().join(format!("n{number:03}.b2nd"))).unwrap();
    }
    let input = Input { source: None, path: Some(root.path().to_owned()) };
    let error = (crate::FORMAT.open)(input, &options).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

#[test]
fn an_object_array_of_equal_objects_has_a_dataset_for_each() {
    let mut options = crate::FrameOptions::default();
    options.metalayers.set("vlarray", b"\x82\xa7version\x01\xaaserializer\xa7msgpack".to_vec()).unwrap();
    let mut bytes = Vec::new();
    let mut writer = crate::Writer::new(&mut bytes, options).unwrap();
    for object in [b"\xa1a", b"\xa1b"] {
        writer.append(object).unwrap();
    }
    writer.finish().unwrap();
    let objects = of_bytes(bytes).unwrap();
    assert_eq!(paths(&*objects), ["chunks/0", "chunks/1"]);
    let read = objects.read(1, &Region::whole(&[2]), &ReadOptions::default()).unwrap();
    assert_eq!(&*read.bytes(Order::C, &Limits::default()).unwrap(), b"\xa1b");
}
