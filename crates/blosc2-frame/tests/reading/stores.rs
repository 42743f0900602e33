//! Stores of python-blosc2: their datasets by the manifest, and what is shown of them.

use std::ops::ControlFlow;
use std::sync::Mutex;

use blosc2_frame::{ErrorKind, FORMAT};
use container_codecs::checksum::Algorithm;
use container_core::container::{CheckDepth, Container, Defaults, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::Input;
use container_core::region::Region;
use container_core::{Limits, Progress, Value};

use crate::container::{open, open_with};
use crate::manifest::{fixtures, testdata};

fn named(name: &str) -> Box<dyn Container> {
    open(fixtures().iter().find(|it| it.path == name).unwrap())
}

fn detail(store: &dyn Container, name: &str) -> Option<Value> {
    store.about().details.into_iter().find(|(own, _)| own == name).map(|(_, value)| value)
}

#[test]
fn datasets_of_stores_are_those_of_the_manifest() {
    let mut count = 0;
    for fixture in fixtures() {
        let Some(expected) = &fixture.datasets else { continue };
        count += 1;
        let (store, path) = (open(&fixture), &fixture.path);
        let listed: Vec<String> =
            (0..store.listed_count()).map(|index| store.dataset(index).unwrap().path.clone()).collect();
        assert_eq!(listed, expected.iter().map(|it| it.path.clone()).collect::<Vec<_>>(), "{path}");
        for (index, expected) in expected.iter().enumerate() {
            let dataset = store.dataset(index).unwrap().into_owned();
            assert_eq!(
                (dataset.dtype.to_string(), &dataset.shape),
                (expected.dtype.clone(), &expected.shape)
            );
            for spelled in [expected.path.clone(), format!("/{}", expected.path)] {
                assert_eq!(store.find(&spelled), Some(index), "{path} {spelled}");
            }
            let region = Region::whole(&dataset.shape);
            let array = store.read(index, &region, &ReadOptions::default()).unwrap();
            let mut bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
            dataset.dtype.swap_to(ByteOrder::Little, &mut bytes).unwrap();
            assert_eq!(Algorithm::Sha256.digest(&bytes).to_string(), expected.values, "{path}");
            assert!(store.absence(index, &region).is_none() && store.repeated(index, &region).is_none());
            assert!(store.mask(index, &region, &ReadOptions::default()).unwrap().is_none());
            // Those that are made at once are the same.
            assert_eq!(store.datasets()[index], dataset, "{path}");
        }
        let end = store.dataset_count();
        assert!(store.dataset(end).is_none() && store.absence(end, &Region::whole(&[1])).is_none());
        let error = store.read(end, &Region::whole(&[1]), &ReadOptions::default()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{path}: {error}");
    }
    assert_eq!(count, 11);
}

#[test]
fn details_have_kind_leaves_groups_and_tables() {
    for (name, store, kind, leaves, groups) in [
        ("ok/tree_b2z.b2z", "b2z", "TreeStore", 3, Some(2)),
        ("ok/tree_b2d.b2d", "b2d", "TreeStore", 3, Some(2)),
        ("ok/tree_empty_b2d.b2d", "b2d", "TreeStore", 0, Some(1)),
        ("ok/dict_b2z.b2z", "b2z", "DictStore", 2, None),
        ("ok/embedded_b2d.b2d", "b2d", "DictStore", 2, None),
        ("ok/embed.b2e", "b2e", "EmbedStore", 2, None),
    ] {
        let container = named(name);
        let about = container.about();
        assert_eq!((about.format, about.version, about.complete), ("blosc2", None, true), "{name}");
        assert_eq!(detail(&*container, "store"), Some(store.into()), "{name}");
        assert_eq!(detail(&*container, "kind"), Some(kind.into()), "{name}");
        assert_eq!(detail(&*container, "leaves"), Some(Value::Int(leaves)), "{name}");
        assert_eq!(detail(&*container, "groups with attributes"), groups.map(Value::Int), "{name}");
        for absent in ["table", "on servers", "unreadable"] {
            assert_eq!(detail(&*container, absent), None, "{name}");
        }
        assert!(!about.details.iter().any(|(name, _)| name.starts_with("values of")), "{name}");
    }
    let table = named("ok/table_nulls.b2z");
    let found = detail(&*table, "table").unwrap();
    // Six live rows, and one that was deleted.
    assert_eq!((found.get("rows"), found.get("deleted")), (Some(&Value::Int(6)), Some(&Value::Int(1))));
    // As many as the schema has.
    let schema = table.meta().unwrap().pointer("/tables/~1").cloned().unwrap();
    let Some(Value::List(columns)) = schema.get("columns") else { panic!("{schema:?}") };
    assert_eq!(found.get("columns"), Some(&Value::from(columns.len() as u64)));
    assert_eq!(detail(&*table, "kind"), Some("CTable".into()));
    let expressions = named("ok/expressions.b2e");
    let values = |key: &str| format!("{:?}", detail(&*expressions, &format!("values of {key}")));
    assert!(values("expression").contains("computed"), "{}", values("expression"));
    assert!(values("proxy").contains("was not fetched"), "{}", values("proxy"));
    assert_eq!(values("plain"), "None");
    // One of three files that is no frame.
    let folder = tempfile::tempdir().unwrap();
    for name in ["b.b2nd", "embed.b2e"] {
        let from = testdata().join("ok/dict_b2d.b2d").join(name);
        std::fs::copy(from, folder.path().join(name)).unwrap();
    }
    std::fs::write(folder.path().join("a.b2nd"), b"\x9e\xa8b2frame\0 and no more").unwrap();
    let input = Input { source: None, path: Some(folder.path().to_owned()) };
    let broken = (FORMAT.open)(input, &OpenOptions::default()).unwrap();
    let Some(Value::List(unreadable)) = detail(&*broken, "unreadable") else { panic!() };
    assert!(matches!(&unreadable[..], [Value::Text(text)] if text.starts_with("a.b2nd: ")), "{unreadable:?}");
    assert!(!broken.about().complete);
}

#[test]
fn absent_values_of_leaves_are_refused() {
    let store = named("ok/expressions.b2e");
    for (key, is_there) in [("plain", true), ("expression", false), ("proxy", false)] {
        let index = store.find(key).unwrap();
        let region = Region::whole(&store.dataset(index).unwrap().shape);
        assert_eq!(store.absence(index, &region).is_none(), is_there, "{key}");
        assert_eq!(store.read(index, &region, &ReadOptions::default()).is_ok(), is_there, "{key}");
        if let Some(error) = store.absence(index, &region) {
            assert!(matches!(error.kind(), ErrorKind::Unsupported(_)) && error.hint().is_some(), "{error}");
        }
    }
    let what: Vec<String> =
        store.losses().into_iter().map(|loss| format!("{:?} {}", loss.dataset, loss.what)).collect();
    let of = |key: &str| what.iter().filter(|it| it.starts_with(&format!("Some({key:?}) values"))).count();
    assert_eq!((of("plain"), of("expression"), of("proxy")), (0, 1, 1), "{what:?}");
}

#[test]
fn losses_are_attributes_and_schemas() {
    let what = |losses: Vec<container_core::report::Loss>| -> Vec<String> {
        losses.into_iter().map(|loss| loss.what).collect()
    };
    for name in ["ok/tree_b2z.b2z", "ok/tree_b2d.b2d"] {
        let tree = named(name);
        let found = what(tree.losses());
        assert!(found.contains(&"attributes of the group /".to_owned()), "{found:?}");
        assert!(found.contains(&"attributes of the group /group".to_owned()), "{found:?}");
        // They are carried as metadata.
        assert_eq!(what(tree.unexported_metadata(&[(0, Region::whole(&[5, 7]))])), [""; 0]);
    }
    assert_eq!(what(named("ok/dict_b2z.b2z").losses()), [""; 0]);
    let table = named("ok/table_words_b2z.b2z");
    let schema = "the schema of the table /".to_owned();
    assert!(what(table.losses()).contains(&schema));
    assert!(what(table.unexported_metadata(&[(0, Region::whole(&[3]))])).contains(&schema));
}

#[test]
fn metadata_are_a_tree_by_key() {
    let keys = |value: Option<&Value>| -> Vec<String> {
        let Some(Value::Map(entries)) = value else { return Vec::new() };
        entries.iter().map(|(key, _)| key.clone()).collect()
    };
    let tree = named("ok/tree_b2z.b2z");
    let meta = tree.meta().unwrap();
    assert_eq!(keys(meta.get("attributes")), ["/", "/group"]);
    assert_eq!(keys(meta.get("leaves")), ["/a", "/group/b", "/group/deeper/c"]);
    assert!(meta.get("embedded").is_some() && meta.get("tables").is_none());
    let logical = tree.logical_meta().unwrap();
    assert_eq!(logical.get("attributes"), meta.get("attributes"));
    assert!(logical.get("embedded").is_none());
    assert_eq!(logical.pointer("/leaves/~1a/b2nd"), None);
    assert!(meta.pointer("/leaves/~1a/b2nd").is_some());
    // Of one leaf, or of all by their keys; attributes of groups go along.
    let one = tree.export_metadata(&[(0, Region::whole(&[5, 7]))]).unwrap();
    assert_eq!(one.pointer("/blosc2/attributes/~1/title"), Some(&"a tree".into()));
    assert_eq!(keys(one.pointer("/blosc2/attributes")), ["/", "/group"]);
    let table = named("ok/table_words_b2d.b2d");
    assert_eq!(keys(table.meta().unwrap().get("tables")), ["/"]);
    // Metalayers of a leaf are carried under its key, where there are several.
    let store = named("ok/expressions.b2e");
    let selection: Vec<(usize, Region)> = (0..store.listed_count())
        .map(|index| (index, Region::whole(&store.dataset(index).unwrap().shape)))
        .collect();
    let all = store.export_metadata(&selection).unwrap();
    assert!(keys(all.pointer("/blosc2/leaves")).iter().all(|key| key.starts_with('/')), "{all:?}");
}

#[test]
fn zip_files_are_mapped_by_members_under_their_digest() {
    let store = named("ok/dict_b2z.b2z");
    assert_eq!(store.checksums().into_iter().collect::<Vec<_>>(), ["crc32"]);
    let map = store.byte_map();
    let count = |role: &str| map.iter().filter(|segment| segment.role == role).count();
    // Two arrays and the EmbedStore.
    assert_eq!((count("local header"), count("central directory"), count("header")), (3, 1, 3));
    for segment in &map {
        let is_zip = ["local header", "central directory", "unused"].contains(&segment.role.as_str());
        assert_eq!(segment.checksum.is_none(), is_zip, "{segment:?}");
        assert!(segment.part.is_none(), "{segment:?}");
    }
    let of = |key: &str| map.iter().filter(|segment| segment.dataset.as_deref() == Some(key)).count();
    assert!(of("a") > 0 && of("b") > 0);
    let directory = named("ok/dict_b2d.b2d");
    assert!(directory.checksums().is_empty());
    assert!(directory.byte_map().iter().all(|segment| segment.checksum.is_none()));
    for store in [&store, &directory] {
        let blocks = store.blocks();
        assert!(!blocks.is_empty());
        let largest = blocks.iter().map(|block| block.range().end - block.range().start).max().unwrap();
        assert!(store.has_small_blocks(u64::from(u32::MAX)) && !store.has_small_blocks(largest / 4));
        for block in blocks {
            let own = store.byte_map();
            let same = |range: std::ops::Range<u64>, part: Option<&str>| {
                range.start == block.range().start && part == block.part()
            };
            let chunk =
                own.iter().find(|it| same(it.range.clone(), it.part.as_deref()) && it.role == "chunk");
            assert_eq!(chunk.and_then(|chunk| chunk.decoded), Some(block.decoded_len()));
            assert!(block.codec().is_some());
        }
    }
    let parts: Vec<String> =
        directory.blocks().iter().filter_map(|block| block.part().map(str::to_owned)).collect();
    assert!(parts.contains(&"a.b2nd".to_owned()) && parts.contains(&"b.b2nd".to_owned()), "{parts:?}");
}

#[test]
fn checks_go_through_every_leaf_and_report_how_far_they_are() {
    for name in ["ok/dict_b2z.b2z", "ok/tree_b2d.b2d", "ok/embed.b2e", "ok/embedded_b2z.b2z"] {
        let store = named(name);
        let size = store.about().size;
        let seen = Mutex::new(Vec::new());
        let note = |done: u64, total: u64| {
            seen.lock().unwrap().push((done, total));
            ControlFlow::Continue(())
        };
        let check = |depth, progress| store.check(depth, &ReadOptions::default(), progress);
        let full = check(CheckDepth::Full, Progress::new(&note)).unwrap();
        let seen = seen.lock().unwrap().clone();
        assert_eq!(seen[0].0, 0, "{name}");
        assert!(seen.iter().all(|(done, total)| done <= total && *total >= size), "{name}: {seen:?}");
        // Leaves that are files of their own make up the size.
        if name.contains("dict") || name.contains("tree") {
            assert!(seen.is_sorted() && seen.iter().all(|(_, total)| *total == size), "{name}: {seen:?}");
            assert!(seen.last().unwrap().0 > size / 4, "{name}: {seen:?}");
        }
        let quick = check(CheckDepth::Quick, Progress::none()).unwrap();
        assert_eq!((full.blocks.checked, full.blocks.bad), (full.blocks.total, 0), "{name}");
        assert_eq!((quick.blocks.total, quick.blocks.checked), (full.blocks.total, 0), "{name}");
        assert!(full.blocks.total > 0, "{name}");
        let error = check(CheckDepth::Full, Progress::new(&|_, _| ControlFlow::Break(()))).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Cancelled), "{name}: {error}");
    }
}

/// Stored arrays, on request: leaves of columns, and records of live rows.
#[test]
fn stored_arrays_of_tables_are_listed_with_plain_options() {
    let fixture = fixtures().into_iter().find(|it| it.path == "ok/table_nulls.b2z").unwrap();
    let mut options = OpenOptions::default();
    options.defaults = Defaults::StoredOnly;
    let plain = open_with(&fixture, &options).unwrap();
    let shown = open(&fixture);
    assert!(plain.dataset_count() >= shown.listed_count());
    let rows = detail(&*plain, "table").unwrap();
    assert_eq!(rows.get("deleted"), None);
    for index in 0..shown.listed_count() {
        let dataset = shown.dataset(index).unwrap();
        // Rows that were deleted are passed over.
        assert_eq!(dataset.shape[0], 6, "{}", dataset.path);
        assert_eq!(shown.find(&dataset.path), Some(index));
    }
}
