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
