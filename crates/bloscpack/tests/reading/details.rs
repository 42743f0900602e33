//! Details, byte maps and datasets of files made by hand.

use std::collections::BTreeSet;

use bloscpack::{MetadataOptions, encode_section, to_json};
use container_core::Value;
use container_core::report::Severity;

use crate::support::{VARCHAR, check, chunk, lens, minimal, open, variable, version_3, with_offsets};

/// The details as JSON text, which has them in their order.
fn details(bytes: &[u8]) -> String {
    to_json(&Value::Map(lens(bytes).unwrap().about().details)).unwrap()
}

fn detail(bytes: &[u8], name: &str) -> Option<String> {
    let details = lens(bytes).unwrap().about().details;
    details.iter().find(|(key, _)| key == name).map(|(_, value)| to_json(value).unwrap())
}

/// Version 3 with this metadata section, and one chunk of two bytes.
fn with_section(section: &[u8]) -> Vec<u8> {
    let mut bytes = version_3(2, 2, 1, &[]);
    bytes[5] = 2;
    bytes.extend(section);
    bytes.extend(chunk(b"ab"));
    bytes
}

/// The fields of the description's 155 bytes: 15 bytes of data in a chunk of 31.
#[test]
fn details_of_the_minimal_file_are_its_fields() {
    let expected = r#"{"dialect":"3","offsets":true,"metadata":false,"checksum":"adler32","typesize":8,"chunk size":15,"last chunk":15,"chunks":1,"spare chunks":10,"first offsets":[120],"first chunk":{"version":2,"flags":"0x13","codec":"none","filter":"shuffle","blocks":"not split","typesize":8,"nbytes":15,"blocksize":8,"cbytes":31},"codecs":{"none":1},"filters":{"shuffle":1},"stored bytes":31,"decoded bytes":15,"ratio":0.484}"#;
    assert_eq!(details(&minimal()), expected);
}

#[test]
fn details_of_items_count_codecs_and_filters_of_all_chunks() {
    let bytes = variable(VARCHAR, &[0, 1, 2], 0);
    let at = 32 + VARCHAR.len() + 24;
    let offsets = format!("[{},{},{}]", at, at + 25, at + 25 + 20);
    // 21 + 16 + 43 stored bytes hold 5 + 0 + 420.
    let expected = r#"{"dialect":"4 (variable length)","offsets":true,"metadata":true,"checksum":"adler32","typesize":1,"chunk size":-1,"last chunk":-1,"chunks":3,"first offsets":OFFSETS,"metadata values":{"dtype":"varchar","shape":[3],"others":[]},"first chunk":{"version":2,"flags":"0x13","codec":"none","filter":"shuffle","blocks":"not split","typesize":1,"nbytes":5,"blocksize":5,"cbytes":21},"codecs":{"none":2,"blosclz":1},"filters":{"shuffle":2,"none":1},"stored bytes":80,"decoded bytes":425,"ratio":5.313,"items":3,"item type":"varchar","overhead bytes per item":28}"#;
    assert_eq!(details(&bytes), expected.replace("OFFSETS", &offsets));
    let mut none = b"blpk\x04\x05\0\x01\xff\xff\xff\xff\xff\xff\xff\xff".to_vec();
    none.extend([0; 16]);
    assert!(details(&none).ends_with(r#""chunks":0,"items":0}"#), "{}", details(&none));
}

#[test]
fn details_of_older_versions_have_the_fields_of_their_headers() {
    let v1 = [&b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0"[..], &chunk(b"abcd")].concat();
    let rest = r#""first chunk":{"version":2,"flags":"0x02","codec":"none","filter":"none","blocks":"split","typesize":1,"nbytes":4,"blocksize":4,"cbytes":20},"codecs":{"none":1},"filters":{"none":1},"stored bytes":20,"decoded bytes":4,"ratio":0.2}"#;
    assert_eq!(details(&v1), format!(r#"{{"dialect":"1","chunks":1,{rest}"#));
    let p0 = [&b"blpk\x01\0\0\0"[..], &chunk(b"abcd")].concat();
    assert_eq!(details(&p0), format!(r#"{{"dialect":"0 (before versions)","chunks":1,{rest}"#));
    let mut v2 = version_3(4, 4, 1, &[b"abcd"]);
    v2[4] = 2;
    let head = r#"{"dialect":"2","offsets":false,"metadata":false,"checksum":"none","typesize":1,"chunk size":4,"last chunk":4,"chunks":1"#;
    assert_eq!(details(&v2), format!("{head},{rest}"));
    // Without chunks there are no codecs and sizes.
    let none = version_3(0, 0, 0, &[]);
    assert!(details(&none).ends_with(r#""chunks":0,"spare chunks":0}"#), "{}", details(&none));
}

/// A chunk of Blosc2 has no split bit.
#[test]
fn details_of_a_blosc2_chunk_name_its_pipeline() {
    let zeros = b"\x05\x01\x05\x01\x08\0\0\0\x08\0\0\0\x20\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\x10";
    let mut bytes = version_3(8, 8, 1, &[]);
    bytes.extend(zeros);
    let expected = r#"{"version":5,"flags":"0x05","codec":"blosclz","filter":"blosc2 pipeline","typesize":1,"nbytes":8,"blocksize":8,"cbytes":32}"#;
    assert_eq!(detail(&bytes, "first chunk").unwrap(), expected);
}

/// The first five offsets, as `blpk info` shows them, of chunks that take 18 bytes each.
#[test]
fn at_most_five_offsets_are_shown() {
    for (count, expected) in [(1, "[40]"), (5, "[72,90,108,126,144]"), (6, "[80,98,116,134,152]")] {
        let data = vec![&b"ab"[..]; count];
        assert_eq!(detail(&with_offsets(&data), "first offsets").unwrap(), expected, "{count}");
    }
}

/// From nine chunks on only the first header is read.
#[test]
fn codecs_of_many_chunks_are_not_counted() {
    let eight = with_offsets(&[&b"ab"[..]; 8]);
    assert_eq!(detail(&eight, "codecs").unwrap(), r#"{"none":8}"#);
    let nine = with_offsets(&[&b"ab"[..]; 9]);
    for name in ["codecs", "filters"] {
        assert_eq!(detail(&nine, name).unwrap(), "null", "{name}");
    }
    assert_eq!(detail(&nine, "stored bytes").unwrap(), "162");
    assert_eq!(detail(&nine, "decoded bytes").unwrap(), "18");
    assert_eq!(detail(&nine, "ratio").unwrap(), "0.111");
}

#[test]
fn metadata_headers_are_listed_field_by_field() {
    let mut options = MetadataOptions::default();
    (options.level, options.max_meta_size) = (None, Some(9));
    let section = encode_section(b"[7]", &options).unwrap();
    let expected = r#"{"format":"JSON","options":0,"checksum":"adler32","codec":"none","level":0,"size":3,"max size":9,"stored size":3,"user codec":""}"#;
    assert_eq!(detail(&with_section(&section), "metadata header").unwrap(), expected);
    for (code, name) in [(1, r#""codec":"zlib""#), (2, r#""codec":"unknown""#)] {
        let mut other = section.clone();
        other[10] = code;
        let found = detail(&with_section(&other), "metadata header").unwrap();
        assert!(found.contains(name), "{found}");
    }
    let mut named = section;
    named[..8].copy_from_slice(b"JSON    ");
    named[8] = 3;
    named[24..32].copy_from_slice(b"lz\0\0\0\0\0\0");
    let found = detail(&with_section(&named), "metadata header").unwrap();
    assert!(found.starts_with(r#"{"format":"JSON","options":3,"#), "{found}");
    assert!(found.ends_with(r#""user codec":"lz"}"#), "{found}");
}

/// Up to 4096 bytes of text.
#[test]
fn long_metadata_are_not_shown_as_values() {
    let json = |len: usize| format!("\"{}\"", "x".repeat(len - 2));
    let section = |len| encode_section(json(len).as_bytes(), &MetadataOptions::default()).unwrap();
    assert_eq!(detail(&with_section(&section(4096)), "metadata values").unwrap(), json(4096));
    assert_eq!(detail(&with_section(&section(4097)), "metadata values").unwrap(), "\"4097 bytes of JSON\"");
}

/// Items without digests and metadata: 24 bytes each of overhead, of which two are half of 96 bytes.
#[test]
fn small_items_come_with_advice() {
    let file = |lens: [usize; 2]| {
        let mut bytes = b"blpk\x04\x05\0\x01\xff\xff\xff\xff\xff\xff\xff\xff\x02\0\0\0\0\0\0\0".to_vec();
        bytes.extend([0; 8]);
        bytes.extend([48, 64 + lens[0] as u64].map(u64::to_le_bytes).concat());
        bytes.extend([chunk(&vec![1; lens[0]]), chunk(&vec![2; lens[1]])].concat());
        bytes
    };
    assert_eq!(detail(&file([8, 8]), "overhead bytes per item").unwrap(), "24");
    assert_eq!(detail(&file([8, 8]), "advice"), None);
    assert!(detail(&file([8, 6]), "advice").is_some());
}

/// Codec and filter bits of a chunk's flags, as c-blosc's README gives them: the codec in bits 5 to 7, bit 1 for data as they are.
#[test]
fn codecs_of_a_dataset_are_those_of_its_chunks_by_their_flags() {
    let file = |flags: [u8; 2]| {
        let mut bytes = version_3(40, 40, 2, &[&[7; 40], &[8; 40]]);
        for (index, flags) in flags.into_iter().enumerate() {
            bytes[32 + 56 * index + 2] = flags;
        }
        bytes
    };
    for (flags, expected) in [
        ([0x02, 0x02], "none"),
        ([0x00, 0x02], "blosclz"),
        ([0x20, 0x00], "lz4+blosclz"),
        ([0x40, 0x42], "snappy"),
        ([0x60, 0x61], "zlib"),
        ([0x80, 0x84], "zstd"),
        ([0x80, 0x60], "zstd+zlib"),
    ] {
        assert_eq!(lens(&file(flags)).unwrap().datasets()[0].codec, expected, "{flags:x?}");
    }
    let filters: Vec<&str> = [0_u8, 1, 4, 5]
        .into_iter()
        .map(|flags| open(&file([flags, 2])).unwrap().chunks()[0].filter())
        .collect();
    assert_eq!(filters, ["none", "shuffle", "bitshuffle", "shuffle"]);
}

#[test]
fn datasets_have_chunks_and_sizes() {
    // Ten chunks of two bytes and one of one, with and without the table that makes their headers unnecessary.
    let data: Vec<&[u8]> = std::iter::repeat_n(&b"ab"[..], 10).chain([&b"c"[..]]).collect();
    for bytes in [version_3(2, 1, 11, &data), with_offsets(&data)] {
        let lens = lens(&bytes).unwrap();
        let [dataset] = lens.datasets() else { panic!("{:?}", lens.datasets()) };
        assert_eq!((dataset.path.as_str(), &dataset.shape[..]), ("data", &[21][..]));
        assert_eq!((dataset.chunks.as_deref(), dataset.stored, dataset.logical), (Some(&[2][..]), 197, 21));
        assert_eq!(lens.about().size, bytes.len() as u64);
        assert_eq!(lens.about().version.as_deref(), Some("3"));
    }
    // Elements that chunks do not hold whole have no chunk shape; one chunk has its own length.
    let mut torn = version_3(4, 2, 2, &[b"abcd", b"ef"]);
    torn[7] = 3;
    let dataset = |bytes: &[u8]| lens(bytes).unwrap().datasets()[0].clone();
    assert_eq!((dataset(&torn).dtype.to_string(), dataset(&torn).chunks), ("|V3".to_owned(), None));
    torn[7] = 2;
    assert_eq!((dataset(&torn).shape, dataset(&torn).chunks), (vec![3], Some(vec![2])));
    assert_eq!(dataset(&version_3(9, 9, 1, &[b"abcd"])).chunks, Some(vec![4]));
    assert_eq!(dataset(&version_3(0, 0, 0, &[])).chunks, None);
    // Items have no chunks, and take what their own chunk takes.
    let lens = lens(&variable(VARCHAR, &[2, 0, 1], 5)).unwrap();
    let sizes: Vec<_> = lens.datasets().iter().map(|item| (item.stored, item.logical)).collect();
    assert_eq!(sizes, [(21, 5), (16, 0), (43, 420)]);
    assert_eq!(lens.datasets()[0].attributes, [("item".to_owned(), Value::from("text"))]);
}

#[test]
fn ragged_items_declare_their_type() {
    let ragged = variable(r#"{"dtype": "vlen:<u2", "shape": [3], "others": []}"#, &[0, 1, 2], 0);
    let lens = lens(&ragged).unwrap();
    let declared = [("item".to_owned(), "numbers".into()), ("dtype".to_owned(), Value::from("<u2"))];
    assert_eq!(lens.datasets()[2].attributes, declared);
    assert_eq!(
        (lens.datasets()[2].dtype.to_string(), &lens.datasets()[2].shape[..]),
        ("<u2".into(), &[210][..])
    );
    assert_eq!(lens.datasets()[0].attributes[0].1, Value::from("bytes"));
}

#[test]
fn byte_map_has_every_field_with_its_role() {
    let mut options = MetadataOptions::default();
    options.max_meta_size = Some(90);
    let json = br#"{"a": "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"}"#;
    let section = encode_section(json, &options).unwrap();
    let mut bytes = version_3(2, 1, 2, &[]);
    bytes[5] = 3;
    bytes[24] = 1;
    bytes.extend(&section);
    let start = bytes.len() as u64;
    bytes.extend([start + 24, start + 42, u64::MAX].map(u64::to_le_bytes).concat());
    bytes.extend([chunk(b"ab"), chunk(b"c")].concat());
    bytes.extend(b"left");
    let map = lens(&bytes).unwrap().byte_map();
    let roles: Vec<(u64, &str)> = map.iter().map(|part| (part.range.start, part.role.as_str())).collect();
    let payload = u64::from(u32::from_le_bytes(section[20..24].try_into().unwrap()));
    let expected = [
        (0, "magic"),
        (4, "version"),
        (5, "options"),
        (6, "checksum"),
        (7, "typesize"),
        (8, "chunk-size"),
        (12, "last-chunk"),
        (16, "nchunks"),
        (24, "max-app-chunks"),
        (32, "metadata header"),
        (64, "metadata"),
        (64 + payload, "metadata padding"),
        (154, "metadata digest"),
        (158, "offsets"),
        (174, "spare offsets"),
        (182, "chunk"),
        (200, "chunk"),
        (217, "trailing"),
    ];
    assert_eq!(roles, expected);
    let metadata = &map[10];
    assert_eq!((metadata.stored, metadata.decoded), (Some(payload), Some(json.len() as u64)));
    assert_eq!((metadata.codec.as_deref(), metadata.checksum.as_deref()), (Some("zlib"), Some("adler32")));
    assert_eq!(metadata.dataset, None);
    let first = &map[15];
    assert_eq!((first.stored, first.decoded), (Some(18), Some(2)));
    assert_eq!((first.codec.as_deref(), first.checksum.as_deref()), (Some("none"), None));
    assert_eq!(first.dataset.as_deref(), Some("data"));
}

#[test]
fn byte_map_of_other_versions_has_their_header() {
    let starts = |bytes: &[u8]| -> Vec<(u64, String)> {
        let map = lens(bytes).unwrap().byte_map();
        map.into_iter().take_while(|part| part.role != "chunk").map(|it| (it.range.start, it.role)).collect()
    };
    let names = |all: &[(u64, &str)]| -> Vec<(u64, String)> {
        all.iter().map(|(at, role)| (*at, (*role).to_owned())).collect()
    };
    let p0 = [&b"blpk\x01\0\0\0"[..], &chunk(b"abcd")].concat();
    assert_eq!(starts(&p0), names(&[(0, "magic"), (4, "nchunks")]));
    let v1 = [&b"blpk\x01\0\0\0\x01\0\0\0\0\0\0\0"[..], &chunk(b"abcd")].concat();
    assert_eq!(starts(&v1), names(&[(0, "magic"), (4, "version"), (5, "reserved"), (8, "nchunks")]));
    let mut v2 = version_3(4, 4, 1, &[b"abcd"]);
    v2[4] = 2;
    assert_eq!(starts(&v2)[7..], names(&[(16, "nchunks"), (24, "reserved")]));
    let items = variable(VARCHAR, &[0, 1, 2], 0);
    let table = 32 + VARCHAR.len() as u64;
    let expected = [(24, "meta-size"), (28, "reserved"), (32, "metadata"), (table, "offsets")];
    assert_eq!(starts(&items)[8..], names(&expected));
    let map = lens(&items).unwrap().byte_map();
    let item = map.iter().find(|part| part.role == "digest").unwrap();
    assert_eq!((item.dataset.as_deref(), item.range.end - item.range.start), (Some("items/0"), 4));
    let item = map.iter().find(|part| part.role == "chunk").unwrap();
    assert_eq!((item.dataset.as_deref(), item.checksum.as_deref()), (Some("items/0"), Some("adler32")));
    let metadata = map.iter().find(|part| part.role == "metadata").unwrap();
    assert_eq!((&metadata.codec, &metadata.checksum), (&None, &None));
}

/// A chunk whose header is impossible has a place, and no codec.
#[test]
fn byte_map_has_no_decoded_length_of_a_bad_chunk() {
    let mut bytes = with_offsets(&[b"ab", b"cd", b"ef"]);
    // Its typesize is 0.
    bytes[56 + 18 + 3] = 0;
    let map = lens(&bytes).unwrap().byte_map();
    let chunks: Vec<_> = map.iter().filter(|part| part.role == "chunk").collect();
    assert_eq!(chunks.len(), 3);
    assert_eq!((chunks[1].range.clone(), chunks[1].stored), (74..92, Some(18)));
    assert_eq!((&chunks[1].codec, chunks[1].decoded), (&None, None));
    assert_eq!(chunks[2].decoded, Some(2));
    let report = check(&bytes);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (3, 2, 1));
}

#[test]
fn checksums_are_those_of_chunks_and_metadata() {
    let names = |bytes: &[u8]| lens(bytes).unwrap().checksums();
    let set = |all: &[&str]| -> BTreeSet<String> { all.iter().map(|name| (*name).to_owned()).collect() };
    assert_eq!(names(&minimal()), set(&["adler32"]));
    assert_eq!(names(&with_offsets(&[&b"ab"[..]; 3])), set(&[]));
    assert_eq!(names(&with_offsets(&[&b"ab"[..]; 12])), set(&[]));
    let mut options = MetadataOptions::default();
    options.checksum = bloscpack::ChecksumCode(3);
    let section = encode_section(b"[7]", &options).unwrap();
    assert_eq!(names(&with_section(&section)), set(&["md5"]));
    // The same where no chunk is read.
    let mut many = version_3(2, 2, 9, &[]);
    (many[5], many[6]) = (3, 2);
    many.extend(&section);
    let first = many.len() as u64 + 72;
    many.extend((0..9).flat_map(|index| (first + 22 * index).to_le_bytes()));
    let stored = chunk(b"ab");
    let digest = container_codecs::checksum::Algorithm::Crc32.digest(&stored);
    let stored: Vec<u8> = stored.into_iter().chain(digest.as_bytes().iter().rev().copied()).collect();
    many.extend(stored.repeat(9));
    assert_eq!(names(&many), set(&["crc32", "md5"]));
    assert_eq!(check(&many).findings, []);
}

#[test]
fn small_blocks_are_no_longer_than_asked() {
    for bytes in [version_3(2, 2, 12, &[&b"ab"[..]; 12]), with_offsets(&[&b"ab"[..]; 12])] {
        let lens = lens(&bytes).unwrap();
        assert!(lens.has_small_blocks(18) && !lens.has_small_blocks(17));
        assert_eq!(lens.blocks().len(), 12);
        assert_eq!((lens.blocks()[1].decoded_len(), lens.blocks()[1].codec()), (2, Some("blosc")));
    }
}

#[test]
fn only_plain_bytes_can_be_given_a_record_type() {
    let json = br#"{"dtype":"'|u1'","shape":[2],"order":"C","container":"numpy"}"#;
    let array = with_section(&encode_section(json, &MetadataOptions::default()).unwrap());
    assert_eq!(lens(&minimal()).unwrap().records_dtype(0), Some(false));
    assert_eq!(lens(&array).unwrap().records_dtype(0), None);
    assert_eq!(lens(&variable(VARCHAR, &[0, 1, 2], 0)).unwrap().records_dtype(0), None);
}

#[test]
fn losses_are_the_entries_that_no_array_has_and_the_bytes_after_the_chunks() {
    let whats = |bytes: &[u8]| -> Vec<String> {
        lens(bytes).unwrap().losses().into_iter().map(|loss| loss.what).collect()
    };
    let none = Vec::<String>::new();
    assert_eq!(whats(&minimal()), none);
    assert_eq!(whats(&[minimal(), vec![0; 7]].concat()), ["7 bytes after the last chunk"]);
    let json = br#"{"dtype":"'|u1'","shape":[2],"order":"C","container":"numpy","who":1,"what":2}"#;
    let section = encode_section(json, &MetadataOptions::default()).unwrap();
    assert_eq!(whats(&with_section(&section)), ["metadata: who, what"]);
    let list = encode_section(b"[1]", &MetadataOptions::default()).unwrap();
    assert_eq!(whats(&with_section(&list)), ["metadata"]);
    let ragged = r#"{"dtype": "vlen:|u1", "shape": [3], "others": []}"#;
    assert_eq!(whats(&variable(ragged, &[0, 1, 2], 0)), ["metadata: others"]);
    // Zeros after the last item are room for it; other bytes are lost.
    let bare = |tail: &[u8]| [variable(r#"{"dtype": "vlen:|u1"}"#, &[0, 1, 2], 0), tail.to_vec()].concat();
    assert_eq!(whats(&bare(&[0; 5])), none);
    assert_eq!(whats(&bare(&[0, 0, 1, 0])), ["4 bytes after the last chunk"]);
}

#[test]
fn metadata_that_cannot_be_read_are_an_error_and_none_are_an_empty_map() {
    assert_eq!(lens(&minimal()).unwrap().meta().unwrap(), Value::Map(Vec::new()));
    assert_eq!(lens(&minimal()).unwrap().export_metadata(&[]).unwrap(), Value::Map(Vec::new()));
    let mut section = encode_section(br#"{"a": 1}"#, &MetadataOptions::default()).unwrap();
    let tree = Value::Map(vec![("a".to_owned(), Value::Int(1))]);
    assert_eq!(lens(&with_section(&section)).unwrap().meta().unwrap(), tree);
    assert_eq!(lens(&with_section(&section)).unwrap().export_metadata(&[]).unwrap(), tree);
    section[32..40].fill(b'?');
    let lens = lens(&with_section(&section)).unwrap();
    for error in [lens.meta().unwrap_err(), lens.export_metadata(&[]).unwrap_err()] {
        assert!(error.is_damage(), "{error}");
    }
    let found = check(&with_section(&section)).findings;
    assert!(found.iter().all(|finding| finding.severity == Severity::Error), "{found:?}");
}
