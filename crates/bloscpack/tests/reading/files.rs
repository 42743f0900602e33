//! Open files: their lengths, ranges, rows and chunks, and the errors of what they lack.

use bloscpack::{ErrorKind, FORMAT, File, ItemType, MetadataOptions, VarReader, encode_section};
use container_codecs::checksum::Algorithm;
use container_core::Limits;
use container_core::container::{Axes, Digests, ReadOptions, Tolerance};
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;

use crate::support::{
    VARCHAR, chunk, contents, lenient, lens, minimal, open, options, variable, version_3, with_offsets,
};

/// Version 3 of these chunks, each with its CRC-32.
fn digested(chunks: &[&[u8]], with_table: bool) -> Vec<u8> {
    let size = i32::try_from(chunks[0].len()).unwrap();
    let mut bytes = version_3(size, size, chunks.len().try_into().unwrap(), &[]);
    (bytes[5], bytes[6]) = (u8::from(with_table), 2);
    let mut at = (32 + 8 * chunks.len()) as u64;
    for data in chunks.iter().filter(|_| with_table) {
        bytes.extend(at.to_le_bytes());
        at += 20 + data.len() as u64;
    }
    for data in chunks {
        let stored = chunk(data);
        bytes.extend(&stored);
        bytes.extend(Algorithm::Crc32.digest(&stored).as_bytes().iter().rev());
    }
    bytes
}

#[test]
fn each_chunk_is_compared_with_its_own_digest() {
    let data: Vec<[u8; 2]> = (0..70).map(|at| [at, at]).collect();
    let data: Vec<&[u8]> = data.iter().map(|data| &data[..]).collect();
    let read = ReadOptions::default();
    for with_table in [false, true] {
        let whole = digested(&data, with_table);
        assert_eq!(contents(&File::from_bytes(whole.clone()).unwrap()).unwrap(), data.concat());
        for bad in [1, 63, 64, 65, 69] {
            let mut bytes = whole.clone();
            let at = bytes.len() - 22 * (70 - bad) + 16;
            bytes[at] ^= 1;
            let file = open(&bytes).unwrap();
            for index in 0..70 {
                let found = file.read_range(2 * index..2 * index + 2, &read);
                assert_eq!(found.is_err(), index == bad as u64, "chunk {index}, of which {bad} is damaged");
            }
            for threads in [1, 3, 8] {
                let error = file.read_range(0..140, &read.with_threads(threads)).unwrap_err();
                assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
                let start = at as u64 - 16;
                assert_eq!(error.range(), Some(start..start + 22));
                let good = file.read_range(0..2 * bad as u64, &read.with_threads(threads)).unwrap();
                assert_eq!(good, data[..bad].concat());
            }
            let mut ignore = ReadOptions::default();
            ignore.digests = Digests::Ignore;
            assert_eq!(file.read_range(0..140, &ignore).unwrap().len(), 140);
        }
    }
}

#[test]
fn lengths_and_ranges_are_those_of_the_data() {
    let file = open(&minimal()).unwrap();
    assert_eq!((file.len().unwrap(), file.is_empty().unwrap()), (15, false));
    assert!(open(&version_3(0, 0, 0, &[])).unwrap().is_empty().unwrap());
    let one = open(&version_3(1, 1, 1, &[b"x"])).unwrap();
    assert_eq!((one.len().unwrap(), one.is_empty().unwrap()), (1, false));
    let read = ReadOptions::default();
    assert!(file.read_range(15..15, &read).unwrap().is_empty());
    for range in [0..16, 15..16, 16..16] {
        let error = file.read_range(range.clone(), &read).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        assert!(error.to_string().contains(&format!("{}..{}", range.start, range.end)), "{error}");
    }
    #[allow(clippy::reversed_empty_ranges, reason = "what is refused")]
    let error = file.read_range(9..8, &read).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let mut some = [0; 3];
    file.read_range_into(6, &mut some, &read).unwrap();
    assert_eq!(some, *b"blo");
    assert!(file.read_range_into(13, &mut some, &read).is_err());
    assert!(format!("{file:?}").contains("nchunks: 1"), "{file:?}");
}

#[test]
fn missing_chunks_differ_from_those_that_never_were() {
    let read = ReadOptions::default();
    let file = open(&version_3(4, 2, 2, &[b"abcd", b"ef"])).unwrap();
    assert_eq!(file.read_chunk(1, &read).unwrap(), b"ef");
    let error = file.read_chunk(2, &read).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains('2'), "{error}");
    assert!(matches!(file.block(2).unwrap_err().kind(), ErrorKind::Usage(_)));
    // Announced, but not there.
    let cut = open(&version_3(4, 2, 4, &[b"abcd", b"efgh"])).unwrap();
    for (index, is_announced) in [(1, true), (2, true), (3, true), (4, false), (u64::MAX, false)] {
        match cut.read_chunk(index, &read) {
            Ok(bytes) => assert!(index == 1 && bytes == b"efgh"),
            Err(error) => {
                assert_eq!(
                    matches!(error.kind(), ErrorKind::Truncated { .. }),
                    is_announced,
                    "{index}: {error}"
                );
            }
        }
    }
}

#[test]
fn errors_and_files_have_their_names() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("some.blp");
    let name = path.display().to_string();
    assert_eq!(File::open(&path).unwrap_err().file_name(), Some(name.as_str()));
    std::fs::write(&path, b"BLP2").unwrap();
    assert_eq!(File::open(&path).unwrap_err().file_name(), Some(name.as_str()));
    std::fs::write(&path, minimal()).unwrap();
    let file = File::open_with(&path, &options(Tolerance::Lenient)).unwrap();
    assert_eq!(contents(&file).unwrap(), b"hello bloscpack");
    assert_eq!(file.dataset().unwrap().read::<u8>().unwrap().as_slice(), b"hello bloscpack");
    let error = file.dataset().unwrap().read::<f64>().unwrap_err();
    assert_eq!(error.file_name(), Some(name.as_str()), "{error}");
}

#[test]
fn rows_are_those_of_the_first_axis() {
    let json = br#"{"dtype":"'<u2'","shape":[3,2],"order":"C","container":"numpy"}"#;
    let mut bytes = version_3(8, 4, 2, &[]);
    bytes[5] = 2;
    bytes.extend(encode_section(json, &MetadataOptions::default()).unwrap());
    bytes.extend([chunk(b"abcdefgh"), chunk(b"ijkl")].concat());
    let file = open(&bytes).unwrap();
    let read = ReadOptions::default();
    let rows = |range| -> Vec<u8> {
        file.rows(range, &read).unwrap().bytes(Order::C, &Limits::default()).unwrap().into_owned()
    };
    assert_eq!(
        (rows(0..3), rows(1..2), rows(2..3)),
        (b"abcdefghijkl".to_vec(), b"efgh".to_vec(), b"ijkl".to_vec())
    );
    assert_eq!(file.rows(3..3, &read).unwrap().shape(), [0, 2]);
    for range in [0..4, 3..4, 4..4] {
        let error = file.rows(range, &read).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)) && error.to_string().contains('3'), "{error}");
    }
    let lens = lens(&bytes).unwrap();
    assert!(matches!(lens.read(1, &Region::whole(&[3, 2]), &read).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert_eq!(lens.read(0, &Region::whole(&[3, 2]), &read).unwrap().shape(), [3, 2]);
}

/// Bytes of a typesize that divides them are elements of it; that of the first chunk, where the header has none.
#[test]
fn bytes_are_elements_of_the_typesize_where_it_divides_them() {
    let of = |typesize: u8, own: u8| {
        let mut bytes = version_3(12, 12, 1, &[b"abcdefghijkl"]);
        (bytes[7], bytes[35]) = (typesize, own);
        let array = open(&bytes).unwrap().array_type().unwrap();
        (array.dtype.to_string(), array.shape[0])
    };
    for (typesize, own, expected) in [
        (4, 1, ("|V4", 3)),
        (12, 1, ("|V12", 1)),
        (1, 4, ("|u1", 12)),
        (5, 4, ("|u1", 12)),
        (0, 6, ("|V6", 2)),
    ] {
        assert_eq!(of(typesize, own), (expected.0.to_owned(), expected.1), "{typesize} {own}");
    }
}

/// By their own shape they need more bytes than there are.
#[test]
fn arrays_of_too_few_bytes_are_an_error_with_the_fault() {
    let json = br#"{"dtype":"'|u1'","shape":[9],"order":"C","container":"numpy"}"#;
    let mut bytes = version_3(4, 4, 2, &[]);
    bytes[5] = 2;
    bytes.extend(encode_section(json, &MetadataOptions::default()).unwrap());
    bytes.extend([chunk(b"abcd"), chunk(b"efgh")].concat());
    let file = open(&bytes).unwrap();
    let error = file.read_all(&ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Malformed(_)) && error.hint().is_some(), "{error}");
    assert_eq!(file.rows(0..8, &ReadOptions::default()).unwrap().shape(), [8]);
    assert!(file.rows(0..9, &ReadOptions::default()).is_err());
    // The metadata of a lenient reader are as uncertain, and its data as short.
    assert!(lenient(&bytes).unwrap().read_all(&ReadOptions::default()).is_err());
}

/// Ranges of the decoder count from the start of the chunk.
#[test]
fn errors_of_the_decoder_are_at_their_place_in_the_file() {
    let mut bytes = version_3(40, 40, 2, &[&[7; 40], &[8; 40]]);
    bytes[88 + 2] = 0;
    let file = open(&bytes).unwrap();
    for range in [40..80, 41..42, 0..80] {
        let error = file.read_range(range, &ReadOptions::default()).unwrap_err();
        let found = error.range().unwrap();
        assert!(found.start >= 88 && found.end <= 144, "{error}");
    }
    assert_eq!(file.read_range(0..40, &ReadOptions::default()).unwrap(), [7; 40]);
}

#[test]
fn items_have_lengths_names_and_options() {
    let reader = |bytes: Vec<u8>| VarReader::from_source(Box::new(bytes), &options(Tolerance::Strict));
    let metadata = r#"{"dtype": "varchar", "shape": [3], "names": ["a", "b", "c"]}"#;
    let items = reader(variable(metadata, &[0, 1, 2], 0)).unwrap();
    assert_eq!((items.len(), items.is_empty(), items.item_type()), (3, false, Some(&ItemType::Text)));
    assert_eq!(items.names().unwrap(), ["a", "b", "c"]);
    assert_eq!([0, 1, 2, 3].map(|index| items.item_len(index)), [Some(5), Some(0), Some(420), None]);
    for names in [r#"["a", "b"]"#, r#"["a", "b", 1]"#, r#""abc""#] {
        let metadata = format!(r#"{{"dtype": "varchar", "names": {names}}}"#);
        assert_eq!(reader(variable(&metadata, &[0, 1, 2], 0)).unwrap().names(), None, "{names}");
    }
    let mut none = b"blpk\x04\x05\0\x01\xff\xff\xff\xff\xff\xff\xff\xff".to_vec();
    none.extend([0; 16]);
    let none = reader(none).unwrap();
    assert_eq!((none.len(), none.is_empty(), none.item_type()), (0, true, None));
    assert!(matches!(reader(minimal()).unwrap_err().kind(), ErrorKind::Usage(_)));
    // A damaged item is read where its digest is ignored.
    let mut damaged = variable(VARCHAR, &[0, 1, 2], 0);
    let at = 32 + VARCHAR.len() + 24 + 16;
    damaged[at] = b'H';
    let items = reader(damaged.clone()).unwrap();
    assert!(matches!(items.item(0).unwrap_err().kind(), ErrorKind::Checksum { .. }));
    let mut ignore = ReadOptions::default();
    ignore.digests = Digests::Ignore;
    assert_eq!(reader(damaged.clone()).unwrap().with_options(ignore).text(0).unwrap(), "Hello");
    damaged[at] = 0xff;
    let error = reader(damaged).unwrap().with_options(ignore).text(0).unwrap_err();
    assert!(
        matches!(error.kind(), ErrorKind::Malformed(_)) && error.to_string().contains("item 0"),
        "{error}"
    );
}

/// By offsets, a chunk whose header is impossible ends where the next begins, unless its own length is within that.
#[test]
fn bad_chunks_end_before_the_next_one() {
    let bytes = with_offsets(&[b"ab", b"cd", b"ef"]);
    let second = 56 + 18;
    for (cbytes, end) in [(18_u32, 92), (17, 91), (30, 92), (3, 92), (0, 92)] {
        let mut bad = bytes.clone();
        bad[second + 3] = 0;
        bad[second + 12..second + 16].copy_from_slice(&cbytes.to_le_bytes());
        let file = open(&bad).unwrap();
        let ranges: Vec<_> = file.chunks().iter().map(bloscpack::ChunkEntry::range).collect();
        assert_eq!(ranges, [56..74, 74..end, 92..110], "{cbytes}");
        let data: Vec<_> = file.chunks().iter().map(bloscpack::ChunkEntry::data).collect();
        assert_eq!(data, [0..2, 2..4, 4..6], "{cbytes}");
        assert_eq!(file.read_range(4..6, &ReadOptions::default()).unwrap(), b"ef");
    }
}

/// Of the versions that need a decision of the caller, the hint names the option; of damage it names the repair.
#[test]
fn hints_name_what_helps() {
    let hint = |bytes: &[u8]| {
        let error = open(bytes).unwrap().read_chunk(1, &ReadOptions::default()).unwrap_err();
        error.hint().unwrap_or_default().to_owned()
    };
    let items = variable(VARCHAR, &[0, 1, 2], 0);
    let mut bare = items.clone();
    bare[5] = 6;
    assert!(hint(&bare).contains("--lenient"), "{}", hint(&bare));
    let mut cut = items;
    cut[4] = 3;
    cut.pop();
    assert!(hint(&cut).contains("--lenient"), "{}", hint(&cut));
    let short = version_3(4, 2, 2, &[b"abcd"]);
    assert!(hint(&short).contains("repair"), "{}", hint(&short));
}

#[test]
fn column_major_arrays_are_shown_with_their_axes_reversed_on_request() {
    let json = br#"{"dtype":"'|u1'","shape":[2,3],"order":"F","container":"numpy"}"#;
    let mut bytes = version_3(6, 6, 1, &[]);
    bytes[5] = 2;
    bytes.extend(encode_section(json, &MetadataOptions::default()).unwrap());
    bytes.extend(chunk(b"abcdef"));
    let shown = |bytes: &[u8], axes: Axes, region: &str| {
        let mut open = options(Tolerance::Strict);
        open.axes = axes;
        let lens = (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &open).unwrap();
        let dataset = lens.datasets()[0].clone();
        let region = Region::parse(region, &dataset.shape).unwrap();
        let array = lens.read(0, &region, &ReadOptions::default()).unwrap();
        (dataset.shape, dataset.order, array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
    };
    assert_eq!(shown(&bytes, Axes::AsStored, ":"), (vec![2, 3], Order::F, b"acebdf".to_vec()));
    assert_eq!(shown(&bytes, Axes::Reversed, ":"), (vec![3, 2], Order::C, b"abcdef".to_vec()));
    assert_eq!(shown(&bytes, Axes::Reversed, "1:,1"), (vec![3, 2], Order::C, b"df".to_vec()));
    // Row-major arrays, and bytes, are as they are stored.
    let rows = [
        &bytes[..32],
        &encode_section(
            &json.map(|byte| if byte == b'F' { b'C' } else { byte }),
            &MetadataOptions::default(),
        )
        .unwrap(),
        &chunk(b"abcdef"),
    ]
    .concat();
    assert_eq!(shown(&rows, Axes::Reversed, ":"), (vec![2, 3], Order::C, b"abcdef".to_vec()));
}

/// Each takes 512 bytes of a quarter of the memory.
#[test]
fn items_are_listed_as_far_as_memory_goes() {
    let listed = |memory: u64| {
        let mut open = options(Tolerance::Strict);
        open.limits = Limits::default().with_memory(memory);
        let bytes = variable("{}", &[0, 1, 2], 0);
        let lens = (FORMAT.open)(Input::bytes(Box::new(bytes)), &open).unwrap();
        lens.datasets().len()
    };
    assert_eq!([4095, 4096, 6143, 6144, 1 << 20].map(listed), [1, 2, 2, 3, 3]);
}

#[test]
fn the_format_has_every_operation() {
    assert_eq!(
        (FORMAT.name, FORMAT.extensions, FORMAT.magics),
        ("bloscpack", &["blp"][..], &[&b"blpk"[..]][..])
    );
    let words: Vec<&str> = FORMAT.options.iter().map(|option| option.name).collect();
    assert_eq!(words, ["filter", "checksum", "chunks", "offsets", "reserve"]);
    assert_eq!(FORMAT.support.len(), 6);
    assert!(!FORMAT.codecs.is_empty());
    assert!(FORMAT.import.is_some() && FORMAT.append.is_some() && FORMAT.pack.is_some());
    assert!(FORMAT.repair.is_some() && FORMAT.change_metadata.is_some());
}
