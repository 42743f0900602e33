//! Variable-length files.

use bloscpack::{ErrorKind, ItemType, VarReader};
use container_core::Value;
use container_core::container::{ReadOptions, Tolerance};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::{Limits, Result};

use crate::support::{VARCHAR, check, chunk, codes, lens, options, variable};

fn reader(bytes: &[u8]) -> Result<VarReader> {
    VarReader::from_source(Box::new(bytes.to_vec()), &options(Tolerance::Strict))
}

fn texts(bytes: &[u8]) -> Vec<String> {
    let reader = reader(bytes).unwrap();
    (0..reader.len()).map(|index| reader.text(index).unwrap()).collect()
}

fn expected() -> Vec<String> {
    vec!["hello".into(), String::new(), "bloscpack ".repeat(42)]
}

#[test]
fn items_are_found_in_any_order_with_gaps_between_them() {
    let plain = variable(VARCHAR, &[0, 1, 2], 0);
    assert_eq!((texts(&plain), codes(&plain)), (expected(), vec![]));
    let unsorted = variable(VARCHAR, &[2, 0, 1], 0);
    assert_eq!((texts(&unsorted), codes(&unsorted)), (expected(), vec![]));
    let gaps = variable(VARCHAR, &[1, 2, 0], 7);
    assert_eq!((texts(&gaps), codes(&gaps)), (expected(), vec!["reserved_room", "trailing_bytes"]));
    let reader = reader(&plain).unwrap();
    assert_eq!(
        (reader.item_type(), reader.item_len(2), reader.item_len(3)),
        (Some(&ItemType::Text), Some(420), None)
    );
    let all: Vec<Vec<u8>> = reader.iter().map(Result::unwrap).collect();
    assert_eq!(all.concat(), expected().concat().as_bytes());
    assert!(matches!(reader.item(3).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert!(reader.elements::<f64>(0).is_err());
}

#[test]
fn the_lens_lists_items_and_reads_parts_of_them() {
    let metadata = r#"{"dtype": "blob", "shape": [3], "others": [], "names": ["a", "b/c", "d"]}"#;
    let lens = lens(&variable(metadata, &[1, 2, 0], 3)).unwrap();
    let paths: Vec<&str> = lens.datasets().iter().map(|dataset| dataset.path.as_str()).collect();
    assert_eq!(paths, ["items/0", "items/1", "items/2"]);
    let last = &lens.datasets()[2];
    assert_eq!(
        (last.dtype.to_string(), &last.shape[..], last.codec.as_str()),
        ("|u1".into(), &[420][..], "blosclz")
    );
    assert_eq!(last.attributes, [("item".into(), Value::from("bytes")), ("name".into(), "d".into())]);
    let text = expected().remove(2).into_bytes();
    for (region, want) in
        [("10:25", &text[10..25]), ("5", &text[5..6]), (":", &text[..]), ("419:", &text[419..])]
    {
        let region = Region::parse(region, &[420]).unwrap();
        let part = lens.read(2, &region, &ReadOptions::default()).unwrap();
        assert_eq!(*part.bytes(Order::C, &Limits::default()).unwrap(), *want);
    }
    let details = lens.about().details;
    let detail = |name: &str| details.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone());
    assert_eq!(detail("items"), Some(3_u8.into()));
    assert_eq!(detail("overhead bytes per item"), Some(28_u8.into()));
    assert_eq!(lens.losses()[0].what, "metadata: dtype, shape, others, names");
}

#[test]
fn ragged_rows_come_out_as_values() {
    let metadata = r#"{"dtype": "vlen:>i2", "shape": [2], "others": []}"#;
    let mut file = b"blpk\x04\x07\0\x02\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0".to_vec();
    file.extend(u32::try_from(metadata.len()).unwrap().to_le_bytes());
    file.extend([0; 4]);
    file.extend(metadata.as_bytes());
    let first = file.len() as u64 + 16;
    file.extend(first.to_le_bytes());
    file.extend((first + 20).to_le_bytes());
    file.extend(chunk(&[0, 1, 2, 0]));
    file.extend(chunk(&[0, 1, 2]));
    let reader = reader(&file).unwrap();
    assert_eq!(reader.elements::<i16>(0).unwrap(), [1, 512]);
    assert!(matches!(reader.elements::<i16>(1).unwrap_err().kind(), ErrorKind::Malformed(_)));
    assert!(matches!(reader.elements::<f32>(0).unwrap_err().kind(), ErrorKind::Usage(_)));
    // The dataset has them in their type, and as bytes where they are not whole elements.
    assert_eq!(codes(&file), ["item_elements"]);
    let lens = lens(&file).unwrap();
    let types: Vec<_> =
        lens.datasets().iter().map(|item| (item.dtype.to_string(), item.shape.clone())).collect();
    assert_eq!(types, [(">i2".to_owned(), vec![2]), ("|u1".to_owned(), vec![3])]);
    let kinds = lens.datasets().iter().map(|item| item.attributes[0].1.clone());
    assert_eq!(kinds.collect::<Vec<_>>(), [Value::from("numbers"), Value::from("bytes")]);
    for (index, region, shape, want) in
        [(0, "1:", 2, &[2, 0][..]), (0, ":", 2, &[0, 1, 2, 0]), (1, "1:", 3, &[1, 2])]
    {
        let region = Region::parse(region, &[shape]).unwrap();
        let part = lens.read(index, &region, &ReadOptions::default()).unwrap();
        assert_eq!(*part.bytes(Order::C, &Limits::default()).unwrap(), *want);
    }
}

/// The example of the proposal has a shape of its own and Python's quotes.
#[test]
fn metadata_of_the_proposal_are_read_with_a_warning() {
    let quotes = "{'dtype': 'varchar', 'shape': [1024], 'others': []}";
    let bytes = variable(quotes, &[0, 1, 2], 0);
    assert_eq!((texts(&bytes), codes(&bytes)), (expected(), vec!["item_count", "metadata_spelling"]));
    let bytes = variable("{", &[0, 1, 2], 0);
    assert_eq!(codes(&bytes), ["metadata_unreadable"]);
    assert_eq!(reader(&bytes).unwrap().item(0).unwrap(), b"hello");
}

#[test]
fn undefined_versions_and_options_are_refused() {
    let good = variable(VARCHAR, &[0, 1, 2], 0);
    let with = |version: u8, options: u8| {
        let mut bytes = good.clone();
        bytes[4..6].copy_from_slice(&[version, options]);
        bytes
    };
    assert_eq!(codes(&with(4, 3))[0], "undefined_options");
    assert_eq!(codes(&with(4, 6))[0], "offsets_missing");
    assert_eq!(codes(&with(4, 15))[0], "undefined_options");
    assert_eq!(codes(&with(3, 7)), ["proposal_version"]);
    assert_eq!(codes(&with(2, 7))[0], "undefined_options");
    for bytes in [with(4, 3), with(4, 6)] {
        assert!(matches!(
            reader(&bytes).unwrap_err().kind(),
            ErrorKind::Unsupported(_) | ErrorKind::Malformed(_)
        ));
    }
    // The proposal gives no number of the version, and that of the header that it changes is 3.
    assert_eq!(texts(&with(3, 7)), expected());
}

#[test]
fn offsets_that_share_a_chunk_or_leave_the_file_are_errors() {
    let good = variable(VARCHAR, &[0, 1, 2], 0);
    let table = 32 + VARCHAR.len();
    let with = |index: usize, offset: i64| {
        let mut bytes = good.clone();
        bytes[table + 8 * index..table + 8 * index + 8].copy_from_slice(&offset.to_le_bytes());
        bytes
    };
    let second = i64::try_from(table + 24 + 25).unwrap();
    let twice = with(0, second);
    assert_eq!(codes(&twice), ["chunk_overlap", "reserved_room"]);
    assert!(reader(&twice).unwrap().item(0).is_err());
    assert_eq!(reader(&twice).unwrap().item(2).unwrap().len(), 420);
    // What one offset lost, the walk finds.
    for lost in [-1, -2, 5, i64::MIN] {
        let bytes = with(1, lost);
        assert_eq!((texts(&bytes), codes(&bytes)), (expected(), vec!["offset_mismatch"]), "{lost}");
    }
    let beyond = with(1, i64::MAX);
    assert_eq!(check(&beyond).findings[0].severity.name(), "error");
    let mut unset = good.clone();
    unset[table..table + 24].fill(0xff);
    assert_eq!((texts(&unset), codes(&unset)), (expected(), vec!["offsets_unset"]));
    assert!(!lens(&unset).unwrap().about().complete);
}

/// "Again, -1 denotes that the number of is unknown": the proposal's table of offsets ends where the first chunk starts.
#[test]
fn items_of_an_unknown_number_are_counted_by_their_offsets() {
    let table = 32 + VARCHAR.len();
    for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
        let mut bytes = variable(VARCHAR, &order, 0);
        bytes[16..24].fill(0xff);
        assert_eq!((texts(&bytes), codes(&bytes)), (expected(), vec!["unfinished"]), "{order:?}");
        assert_eq!(lens(&bytes).unwrap().datasets().len(), 3);
    }
    let mut bytes = variable(VARCHAR, &[0, 1, 2], 0);
    bytes[16..24].fill(0xff);
    // Unset offsets: the walk finds the chunks, as long as one offset gives the end of the table.
    for unset in [0..1, 1..2, 2..3, 0..2, 1..3, 0..3] {
        let mut some = bytes.clone();
        some[table + 8 * unset.start..table + 8 * unset.end].fill(0xff);
        assert_eq!(texts(&some), expected(), "{unset:?}");
    }
    // Offsets that do not point to a chunk are ignored.
    for offset in [0, 40, i64::MAX, -2] {
        let mut bad = bytes.clone();
        bad[table..table + 8].copy_from_slice(&offset.to_le_bytes());
        assert!(reader(&bad).map_or(true, |reader| reader.text(0).is_ok() || reader.is_empty()), "{offset}");
    }
}
