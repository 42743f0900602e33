use super::*;
use container_core::container::{OpenOptions, ReadOptions};
use container_core::{ErrorKind, Limits, Result};
use std::path::Path;

fn table() -> Table {
    let mut table = Table::default();
    ["roman/meta/x", "/format", "roman/meta/x"].iter().for_each(|pointer| table.add(pointer));
    table
}

fn written(rows: &[Row], table: &Table) -> Vec<u8> {
    let mut writer = CatalogWriter::new(Vec::new(), table).unwrap();
    rows.iter().for_each(|row| writer.push(row.clone()).unwrap());
    writer.finish().unwrap()
}

fn read(bytes: &[u8]) -> Result<Vec<Row>> {
    CatalogReader::open(Box::new(bytes.to_vec()), &Limits::default())?.rows().collect()
}

fn rows() -> Vec<Row> {
    let full = Row {
        path: "a/b.asdf".into(),
        dataset: Some("roman/data".into()),
        format: Some("asdf".into()),
        shape: Some(vec![4096, u64::MAX]),
        dtype: Some("<f4".into()),
        chunks: Some(vec![]),
        codec: Some("none".into()),
        bytes: Some(u64::MAX),
        stored: Some(0),
        file_bytes: Some(1 << 40),
        modified: Some(-1),
        head_sha256: Some("0".repeat(64)),
        verdict: Some("sound".into()),
        message: None,
        checked: Some(i64::MAX),
        meta: vec![Some("é\n".into()), None],
    };
    let empty = Row { path: String::new(), meta: vec![None, Some(String::new())], ..Row::default() };
    let scalar = Row { shape: Some(vec![]), chunks: Some(vec![1, 2, 3]), ..full.clone() };
    vec![full, empty, scalar]
}

#[test]
fn rows_come_back() {
    let bytes = written(&rows(), &table());
    assert_eq!(read(&bytes).unwrap(), rows());
    let reader = CatalogReader::open(Box::new(bytes), &Limits::default()).unwrap();
    assert_eq!(reader.meta_columns(), ["roman/meta/x", "/format"]);
    assert!(COLUMNS.iter().all(|(name, _)| reader.has(name)) && !reader.has("roman/meta/x"));
    assert_eq!(read(&written(&[], &table())).unwrap(), []);
}

/// Several row groups, several pages, dictionaries that overflow, and lists across pages.
#[test]
fn many_rows_come_back() {
    let row = |number: u64| Row {
        path: format!("folder/{:06}.asdf", number / 3),
        dataset: (!number.is_multiple_of(7)).then(|| format!("data{}", number % 3)),
        shape: (!number.is_multiple_of(5)).then(|| vec![number; usize::try_from(number % 5).unwrap()]),
        bytes: (!number.is_multiple_of(11)).then_some(number),
        head_sha256: Some(format!("{number:064x}")),
        meta: vec![None, Some((number % 2).to_string())],
        ..Row::default()
    };
    let rows: Vec<Row> = (0..150_000).map(row).collect();
    let back = read(&written(&rows, &table())).unwrap();
    assert_eq!(back.len(), rows.len());
    assert!(back == rows);
}

#[test]
fn bytes_of_strangers_are_errors() {
    let bytes = written(&rows(), &table());
    for end in 0..bytes.len() {
        assert!(read(&bytes[..end]).is_err(), "{end}");
    }
    // Each byte in turn: an answer, whatever it is.
    let mut errors = 0;
    for at in 0..bytes.len() {
        for bit in [1, 0x10, 0x80, 0xff] {
            let mut other = bytes.clone();
            other[at] ^= bit;
            errors += usize::from(read(&other).is_err());
        }
    }
    assert!(errors > bytes.len() / 4, "{errors}");
}

/// A Parquet file of this footer.
fn with_footer(footer: &[u8]) -> Vec<u8> {
    let len = u32::try_from(footer.len()).unwrap().to_le_bytes();
    [b"PAR1", footer, &len, b"PAR1"].concat()
}

#[test]
fn footers_that_claim_much_are_refused_at_once() {
    // Of a schema, field 2: 2^62 elements; a million elements in one another, `{4: "", 5: 1}`; one that claims 2^31 children.
    let many = [0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x3f].to_vec();
    let nested = [&[0x29, 0xfc, 0x80, 0x20][..], &[0x48, 0, 0x15, 2, 0].repeat(4096), &[0]].concat();
    let children = [0x29, 0x1c, 0x48, 0, 0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0, 0].to_vec();
    for footer in [many, nested, children, Vec::new(), vec![0xff; 100]] {
        assert!(read(&with_footer(&footer)).is_err());
    }
    let mut long = with_footer(&[0]);
    let at = long.len() - 8;
    long[at..at + 4].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = read(&long).unwrap_err();
    assert!(error.to_string().contains("longer than the file"), "{error}");
}

#[test]
fn memory_is_bounded() {
    let rows: Vec<Row> = (0..20_000)
        .map(|number| Row { path: format!("{number:0>500}"), meta: vec![None; 2], ..Row::default() })
        .collect();
    let bytes = written(&rows, &table());
    let open = |memory| CatalogReader::open(Box::new(bytes.clone()), &Limits::default().with_memory(memory));
    let error = open(1000).map(|_| ()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    let error = open(1 << 20).unwrap().rows().collect::<Result<Vec<_>>>().unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
    assert_eq!(open(256 << 20).unwrap().rows().count(), 20_000);
}

fn described(path: &Path, table: &Table) -> Described {
    let want = Want { verdict: true, head: true };
    rows_of(path, table, want, &OpenOptions::default(), &ReadOptions::default())
}

#[test]
fn a_file_has_rows_whatever_it_is() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("a.ra");
    let bytes = crate::testing::ra_bytes();
    std::fs::write(&path, &bytes).unwrap();
    let mut table = Table::default();
    table.add("dims/0");
    table.add("nosuch");
    let [row] = &described(&path, &table).rows[..] else { panic!("one row") };
    assert_eq!(row.path, path.to_str().unwrap());
    assert_eq!((row.dataset.as_deref(), row.format.as_deref()), (Some("data"), Some("rawarray")));
    assert_eq!((row.file_bytes, row.verdict.as_deref()), (Some(bytes.len() as u64), Some("sound")));
    assert!(row.meta[0].is_some() && row.meta[1].is_none());
    assert!(row.modified.unwrap() <= row.checked.unwrap());
    // By sha2, of the registry's, as the CLI's tests have it by Python's hashlib.
    assert_eq!(row.head_sha256.as_ref().map(String::len), Some(64));

    std::fs::write(&path, &bytes[..bytes.len() - 1]).unwrap();
    let [row] = &described(&path, &table).rows[..] else { panic!("one row") };
    assert_eq!(row.verdict.as_deref(), Some("damaged"));
    assert!(row.message.is_some() && row.dataset.is_some());

    std::fs::write(&path, b"neither").unwrap();
    let read = described(&path, &table);
    let [row] = &read.rows[..] else { panic!("one row") };
    assert_eq!((row.verdict.as_deref(), &row.dataset, &row.format), (Some("unreadable"), &None, &None));
    assert!(read.error.is_some() && row.meta == [None, None] && row.file_bytes == Some(7));
}

#[test]
fn rows_are_kept_while_length_and_time_are_the_same() {
    let table = table();
    let row = |path: &str, verdict: &str| Row {
        path: path.into(),
        file_bytes: Some(5),
        modified: Some(1_000_000),
        checked: Some(3_000_000),
        verdict: Some(verdict.into()),
        meta: vec![None, None],
        ..Row::default()
    };
    let young = Row { checked: Some(2_999_999), ..row("young", "sound") };
    let rows = [
        row("a", "sound"),
        row("a", "sound"),
        row("b", "damaged"),
        row("c", "unreadable"),
        young,
        row("d", "sound"),
        row("a", "sound"),
    ];
    let open =
        |rows: &[Row]| CatalogReader::open(Box::new(written(rows, &table)), &Limits::default()).unwrap();
    let catalog = open(&rows);
    let previous = Previous::of(&catalog, &table).unwrap().unwrap();
    let stamp = Stamp { len: Some(5), modified: Some(1_000_000) };
    for (path, stamp, is_current) in [
        ("b", stamp, true),
        ("d", stamp, true),
        ("b", Stamp { len: Some(6), ..stamp }, false),
        ("b", Stamp { modified: Some(1_000_001), ..stamp }, false),
        ("b", Stamp::default(), false),
        // Its rows are in two places; it could not be read; it may have changed in the second in which it was read; it is not there.
        ("a", stamp, false),
        ("c", stamp, false),
        ("young", stamp, false),
        ("e", stamp, false),
    ] {
        assert_eq!(previous.is_current(path, stamp), is_current, "{path} {stamp:?}");
    }
    let mut kept = previous.rows(&catalog);
    let mut taken = Vec::new();
    let mut take = |path: &str| {
        kept.take(path, |row| {
            taken.push(row);
            Ok(())
        })
    };
    // In the order of the catalogue alone.
    assert!(take("b").unwrap() && take("d").unwrap() && !take("b").unwrap());
    assert_eq!(taken, [rows[2].clone(), rows[5].clone()]);
    let other = Table { options: "lenient".into(), ..table.clone() };
    assert!(Previous::of(&catalog, &other).unwrap().is_none());
}
