use container_core::Limits;
use container_core::format::Input;
use container_core::report::Verdict;

use super::*;
use crate::FORMAT;

/// A chunk file of version 1 that stores its bytes as they are.
fn chunk_file(data: &[u8]) -> Vec<u8> {
    let len = u32::try_from(data.len()).unwrap();
    let sizes = [len, len.max(1), len + 16].into_iter().flat_map(u32::to_le_bytes);
    let head = b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0\x02\x01\x02\x01";
    head.iter().copied().chain(sizes).chain(data.iter().copied()).collect()
}

/// Seven `<u2` in chunks of three, as bcolz lays them out.
fn carray(root: &Path, dtype: &str) {
    std::fs::create_dir_all(root.join("meta")).unwrap();
    std::fs::create_dir_all(root.join("data")).unwrap();
    let storage = format!(
        r#"{{"dtype": "{dtype}", "cparams": {{"clevel": 5}}, "chunklen": 3, "expectedlen": 7, "dflt": 0}}"#
    );
    std::fs::write(root.join("meta/storage"), storage).unwrap();
    std::fs::write(root.join("meta/sizes"), r#"{"shape": [7], "nbytes": 14, "cbytes": 100}"#).unwrap();
    let bytes: Vec<u8> = (1..8_u16).flat_map(u16::to_le_bytes).collect();
    for (index, part) in bytes.chunks(6).enumerate() {
        std::fs::write(root.join(format!("data/__{index}.blp")), chunk_file(part)).unwrap();
    }
}

fn open(root: &Path) -> Result<Box<dyn Container>> {
    (FORMAT.open)(Input { source: None, path: Some(root.to_owned()) }, &OpenOptions::default())
}

fn values(container: &dyn Container, index: usize, region: &str) -> Result<Vec<u16>> {
    let region = Region::parse(region, &[7])?;
    let array = container.read(index, &region, &ReadOptions::default())?;
    Ok(array.elements::<u16>(Order::C, &Limits::default())?.into_owned())
}

#[test]
fn a_carray_is_one_array_and_a_ctable_one_for_each_column() {
    let root = tempfile::tempdir().unwrap();
    carray(root.path(), "uint16");
    let container = open(root.path()).unwrap();
    let data = &container.datasets()[0];
    assert_eq!(
        (data.path.as_str(), &data.shape[..], data.chunks.as_deref()),
        ("data", &[7][..], Some(&[3][..]))
    );
    assert_eq!(values(&*container, 0, "...").unwrap(), [1, 2, 3, 4, 5, 6, 7]);
    assert_eq!(values(&*container, 0, "2:4").unwrap(), [3, 4]);
    assert_eq!(values(&*container, 0, "::-3").unwrap(), [7, 4, 1]);
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    assert_eq!((report.verdict(), report.blocks.checked), (Verdict::Sound, 3));

    let root = tempfile::tempdir().unwrap();
    carray(&root.path().join("b"), "<u2");
    carray(&root.path().join("a"), "uint16");
    assert!(!is_bcolz(root.path()));
    std::fs::write(root.path().join("__rootdirs__"), "{}").unwrap();
    assert!(is_bcolz(root.path()));
    let container = open(root.path()).unwrap();
    let paths: Vec<&str> = container.datasets().iter().map(|dataset| dataset.path.as_str()).collect();
    assert_eq!(paths, ["a", "b"]);
    assert_eq!(values(&*container, 1, "6").unwrap(), [7]);
}

#[test]
fn a_table_keeps_few_chunk_files_open_whatever_the_number_of_its_columns() {
    let root = tempfile::tempdir().unwrap();
    for name in 'a'..='t' {
        carray(&root.path().join(name.to_string()), "<u2");
    }
    std::fs::write(root.path().join("__rootdirs__"), "{}").unwrap();
    let table = Directory::open(root.path(), &OpenOptions::default()).unwrap();
    for part in ["2:4", "3:5", "..."] {
        let rows: Vec<u16> = if part == "..." { (1..8).collect() } else { Vec::new() };
        for index in 0..20 {
            let found = values(&table, index, part).unwrap();
            assert!(rows.is_empty() || found == rows);
        }
    }
    assert_eq!(table.columns[7].open.lock().unwrap().len(), MAX_OPEN);
}

#[test]
fn damage_names_its_file_and_invalid_carrays_are_refused() {
    let root = tempfile::tempdir().unwrap();
    carray(root.path(), "uint16");
    std::fs::write(root.path().join("data/__1.blp"), chunk_file(b"abcd")).unwrap();
    let container = open(root.path()).unwrap();
    assert_eq!(values(&*container, 0, "0:3").unwrap(), [1, 2, 3]);
    assert_eq!(values(&*container, 0, "0:4").unwrap_err().file_name(), Some("data/__1.blp"));
    std::fs::remove_file(root.path().join("data/__2.blp")).unwrap();
    let container = open(root.path()).unwrap();
    assert!(!container.about().complete);
    let report = container.check(CheckDepth::Quick, &ReadOptions::default(), Progress::none()).unwrap();
    let parts: Vec<&str> = report.findings.iter().filter_map(|finding| finding.part.as_deref()).collect();
    assert_eq!((report.verdict(), parts), (Verdict::Damaged, vec!["data/__1.blp", "data/__2.blp"]));

    carray(root.path(), "object");
    assert!(matches!(open(root.path()).err().map(Error::into_kind), Some(crate::ErrorKind::Unsupported(_))));
    let empty = tempfile::tempdir().unwrap();
    assert!(!is_bcolz(empty.path()) && open(empty.path()).is_err());
}

/// Codes and datasets of the findings about a folder, and whether it is sound.
fn findings(root: &Path) -> (Vec<(&'static str, Option<String>)>, Verdict) {
    let container = open(root).unwrap();
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    let verdict = report.verdict();
    (report.findings.into_iter().map(|finding| (finding.code, finding.dataset)).collect(), verdict)
}

#[test]
fn a_column_that_the_table_names_and_lacks_is_an_error() {
    let root = tempfile::tempdir().unwrap();
    carray(&root.path().join("x"), "<u2");
    let list = |text: &str| std::fs::write(root.path().join("__rootdirs__"), text).unwrap();
    list(r#"{"names": ["x"]}"#);
    assert_eq!(findings(root.path()), (vec![], Verdict::Sound));
    list(r#"{"names": ["x", "y"]}"#);
    assert_eq!(findings(root.path()), (vec![("column_missing", Some("y".into()))], Verdict::Damaged));
    assert!(!open(root.path()).unwrap().about().complete);
    list(r#"{"names": []}"#);
    assert_eq!(findings(root.path()), (vec![("column_unlisted", Some("x".into()))], Verdict::Sound));
    list("{");
    assert_eq!(findings(root.path()), (vec![("column_list", None)], Verdict::Damaged));
    // A table all of whose columns are gone is one.
    std::fs::remove_dir_all(root.path().join("x")).unwrap();
    list(r#"{"names": ["x"]}"#);
    assert!(is_bcolz(root.path()));
    assert_eq!(findings(root.path()).1, Verdict::Damaged);
}

#[test]
fn uncounted_rows_and_ragged_columns_are_reported() {
    let root = tempfile::tempdir().unwrap();
    for name in ["x", "y"] {
        carray(&root.path().join(name), "<u2");
    }
    std::fs::write(root.path().join("__rootdirs__"), r#"{"names": ["x", "y"]}"#).unwrap();
    std::fs::write(root.path().join("y/meta/sizes"), r#"{"shape": [0], "nbytes": 0, "cbytes": 0}"#).unwrap();
    let y = Some("y".to_owned());
    assert_eq!(
        findings(root.path()),
        (vec![("ragged_columns", y.clone()), ("uncounted_chunks", y)], Verdict::Damaged)
    );
    // A single file: its values count.
    let (found, verdict) = findings(&root.path().join("y"));
    assert_eq!((found[0].0, verdict), ("uncounted_chunks", Verdict::Sound));
}

#[test]
fn counts_and_findings_of_all_chunk_files_are_added() {
    let root = tempfile::tempdir().unwrap();
    carray(root.path(), "uint16");
    // The second file holds another number of bytes, and the third one's chunk is too short for the block that it announces.
    std::fs::write(root.path().join("data/__1.blp"), chunk_file(b"abcd")).unwrap();
    let mut third = chunk_file(&[7, 0]);
    third[16 + 2] = 0;
    std::fs::write(root.path().join("data/__2.blp"), third).unwrap();
    let container = open(root.path()).unwrap();
    let expected = [("chunk_file", "data/__1.blp".to_owned()), ("undecodable_chunk", "data/__2.blp".into())];
    for (depth, checked, bad) in [(CheckDepth::Full, 2, 2), (CheckDepth::Quick, 0, 1)] {
        let report = container.check(depth, &ReadOptions::default(), Progress::none()).unwrap();
        assert_eq!(report.blocks, BlockCounts { total: 3, checked, bad });
        let found: Vec<_> = report.findings.iter().map(|it| (it.code, it.part.clone().unwrap())).collect();
        assert_eq!(found, expected[..usize::try_from(bad).unwrap()]);
        assert!(report.findings.iter().all(|it| it.dataset.as_deref() == Some("data")), "{report:?}");
        assert!(report.findings[0].message.contains("4 bytes (expected 6)"), "{report:?}");
    }
}

#[test]
fn listing_and_map_have_every_chunk_file() {
    let root = tempfile::tempdir().unwrap();
    carray(&root.path().join("x"), "<u2");
    carray(&root.path().join("y"), "<u2");
    std::fs::write(root.path().join("__rootdirs__"), r#"{"names": ["x", "y"]}"#).unwrap();
    let container = open(root.path()).unwrap();
    let about = container.about();
    // Files of 38, 38 and 34 bytes for each column.
    assert_eq!(
        (about.format, about.version.as_deref(), about.size, about.complete),
        ("bloscpack", Some("1"), 220, true)
    );
    let details = [("dialect".to_owned(), "bcolz ctable".into()), ("chunk files".into(), Value::from(6_u64))];
    assert_eq!(about.details, details);
    let dataset = &container.datasets()[1];
    assert_eq!((dataset.path.as_str(), dataset.codec.as_str()), ("y", "none"));
    assert_eq!((dataset.stored, dataset.logical), (110, 14));
    assert!(container.meta().unwrap().pointer("/y/storage/chunklen") == Some(&Value::Int(3)));
    let map = |container: &dyn Container| -> Vec<_> {
        let parts = container.byte_map().into_iter();
        parts.map(|it| (it.part.unwrap(), it.range, it.role, it.dataset.unwrap())).collect()
    };
    let part = |name: &str, index: u64, end| {
        (format!("{name}/data/__{index}.blp"), 0..end, "chunk file".to_owned(), name.to_owned())
    };
    let all = ["x", "y"].map(|name| [part(name, 0, 38), part(name, 1, 38), part(name, 2, 34)]).concat();
    assert_eq!(map(&*container), all);
    // Of a missing file there is nothing to show.
    std::fs::remove_file(root.path().join("y/data/__1.blp")).unwrap();
    assert_eq!(map(&*container).len(), 5);
    let container = open(root.path()).unwrap();
    assert_eq!(container.about().details[1].1, Value::from(5_u64));
    assert!(!container.about().complete);
    let single = open(&root.path().join("x")).unwrap().about();
    assert_eq!((single.details[0].1.clone(), single.complete), ("bcolz carray".into(), true));
}

/// The elements of a row are in the shape, or in the type alone.
#[test]
fn rows_of_several_elements_are_in_the_shape_or_in_the_type() {
    let root = tempfile::tempdir().unwrap();
    let write = |dtype: &str, shape: &str| {
        carray(root.path(), dtype);
        let sizes = format!(r#"{{"shape": {shape}, "nbytes": 12, "cbytes": 100}}"#);
        std::fs::write(root.path().join("meta/sizes"), sizes).unwrap();
        for (index, data) in [&b"abcdefghijkl"[..], b"mnop"].into_iter().enumerate() {
            std::fs::write(root.path().join(format!("data/__{index}.blp")), chunk_file(data)).unwrap();
        }
    };
    for (dtype, shape) in [("('<u2', (2,))", "[4, 2]"), ("('<u2', (2,))", "[4]"), ("<u2", "[4, 2]")] {
        write(dtype, shape);
        let container = open(root.path()).unwrap();
        let data = &container.datasets()[0];
        assert_eq!(
            (&data.shape[..], data.chunks.as_deref()),
            (&[4, 2][..], Some(&[3, 2][..])),
            "{dtype} {shape}"
        );
        let row = Region::parse("2:4", &[4, 2]).unwrap();
        let read = container.read(0, &row, &ReadOptions::default()).unwrap();
        assert_eq!(*read.bytes(Order::C, &Limits::default()).unwrap(), *b"ijklmnop");
    }
    // No rows need no chunks; others do.
    write("<u2", "[0]");
    let storage = |chunklen: &str| {
        let text = format!(r#"{{"dtype": "<u2", "chunklen": {chunklen}}}"#);
        std::fs::write(root.path().join("meta/storage"), text).unwrap();
    };
    storage("0");
    assert_eq!(open(root.path()).unwrap().datasets()[0].shape, [0]);
    std::fs::write(root.path().join("meta/sizes"), r#"{"shape": [1]}"#).unwrap();
    for chunklen in ["0", "-1", "2.5", "\"3\""] {
        storage(chunklen);
        let error = open(root.path()).err().unwrap();
        assert!(matches!(error.kind(), crate::ErrorKind::Malformed(_)), "{error}");
    }
    storage("1");
    assert_eq!(open(root.path()).unwrap().datasets()[0].chunks, Some(vec![1]));
    for shape in ["[]", "[1.5]", "3"] {
        std::fs::write(root.path().join("meta/sizes"), format!(r#"{{"shape": {shape}}}"#)).unwrap();
        let error = open(root.path()).err().unwrap();
        assert!(matches!(error.kind(), crate::ErrorKind::Malformed(_)), "{error}");
    }
}

/// Metadata of up to 16 MiB. Within it, a small limit on memory refuses the text itself.
#[test]
fn metadata_files_of_more_than_16_mib_are_not_read() {
    let root = tempfile::tempdir().unwrap();
    carray(root.path(), "<u2");
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 10);
    let list = root.path().join("__rootdirs__");
    std::fs::write(&list, "{}").unwrap();
    for (len, is_over) in [((16 << 20) + 1, true), (16 << 20, false)] {
        let sparse =
            |path: &Path| std::fs::File::options().write(true).open(path).unwrap().set_len(len).unwrap();
        sparse(&list);
        let problem = table_check::named(root.path(), &options.limits).unwrap_err();
        assert_eq!(problem.contains("1677721"), is_over, "{problem}");
        sparse(&root.path().join("meta/storage"));
        let error = Directory::open(root.path(), &options).err().unwrap();
        assert_eq!(error.to_string().contains("1677721"), is_over, "{error}");
    }
}

#[test]
fn lists_of_columns_are_lists_of_text() {
    let root = tempfile::tempdir().unwrap();
    let named = |text: &str| {
        std::fs::write(root.path().join("__rootdirs__"), text).unwrap();
        table_check::named(root.path(), &Limits::default())
    };
    assert_eq!(named(r#"{"names": ["a", "b"]}"#), Ok(Some(vec!["a".into(), "b".into()])));
    assert_eq!(named(r#"{"other": 1}"#), Ok(None));
    assert!(named(r#"{"names": ["a", 1]}"#).is_err() && named("[").is_err());
    assert!(!is_bcolz(root.path()));
    named(r#"{"names": []}"#).unwrap();
    assert!(!is_bcolz(root.path()) && open(root.path()).is_err());
    named(r#"{"names": ["a"]}"#).unwrap();
    assert!(is_bcolz(root.path()));
    std::fs::remove_file(root.path().join("__rootdirs__")).unwrap();
    assert_eq!(table_check::named(root.path(), &Limits::default()), Ok(None));
    // A list without columns of this name is one of no table.
    std::fs::create_dir_all(root.path().join("meta")).unwrap();
    std::fs::write(root.path().join("meta/storage"), "{}").unwrap();
    assert!(!is_bcolz(root.path()));
    std::fs::create_dir_all(root.path().join("data")).unwrap();
    assert!(is_bcolz(root.path()));
}

#[test]
fn chunk_files_beyond_the_rows_are_counted() {
    let root = tempfile::tempdir().unwrap();
    carray(root.path(), "<u2");
    let check = || {
        let container = open(root.path()).unwrap();
        container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap().findings
    };
    for name in ["__3.blp", "__4.blp", "__x.blp", "__5.txt"] {
        std::fs::write(root.path().join("data").join(name), chunk_file(b"ab")).unwrap();
    }
    let [found] = &check()[..] else { panic!("{:?}", check()) };
    assert_eq!(
        (found.code, found.part.as_deref(), found.dataset.as_deref()),
        ("uncounted_chunks", Some("data"), Some("data"))
    );
    assert!(found.message.contains("2 chunk files") && found.message.contains("7 rows"), "{found:?}");
    let lengths = table_check::of_lengths(&[("x", 7), ("y", 7), ("z", 6)]).unwrap();
    assert!(
        lengths.dataset.as_deref() == Some("z") && lengths.message.contains("7 rows, and z 6"),
        "{lengths:?}"
    );
    assert_eq!(table_check::of_lengths(&[("x", 7), ("y", 7)]), None);
}
