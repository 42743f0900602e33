use container_core::ErrorKind;
use container_core::report::Verdict;

use super::*;
use crate::{BloscVersion, Encoder, Params, Pipeline, SplitMode};

/// By python-blosc 1.11.4: `blosc.compress(b"hello bloscpack")`.
const HELLO: &[u8] = b"\x02\x01\x13\x08\x0f\0\0\0\x08\0\0\0\x1f\0\0\0hello bloscpack";

fn is_recognised(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(Probe::LEN)];
    (FORMAT.sniff)(&Probe { head, directory: None, len: Some(bytes.len() as u64) })
}

fn lens(bytes: &[u8]) -> Result<Box<dyn Container>> {
    open(Input::bytes(Box::new(bytes.to_vec())), &OpenOptions::default())
}

fn elements(bytes: &[u8], region: &str) -> Vec<u8> {
    let lens = lens(bytes).unwrap();
    let region = Region::parse(region, &lens.datasets()[0].shape).unwrap();
    let array = lens.read(0, &region, &ReadOptions::default()).unwrap();
    array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
}

fn check(bytes: &[u8]) -> Result<Report> {
    lens(bytes)?.check(CheckDepth::Full, &ReadOptions::default(), Progress::none())
}

fn encoded(data: &[u8], blosc_version: BloscVersion, compressor: crate::Compressor) -> Vec<u8> {
    let params = Params {
        blosc_version,
        compressor,
        codec_meta: 0,
        level: 5,
        typesize: 4,
        filters: Pipeline::shuffle(),
        split: SplitMode::default(),
        blocksize: Some(4096),
        dictionary: false,
        threads: 1,
    };
    let mut out = Vec::new();
    Encoder::new(params).unwrap().encode(data, &mut out).unwrap();
    out
}

#[test]
fn a_chunk_that_is_all_of_a_file_is_a_dataset_of_its_elements() {
    assert!(is_recognised(HELLO));
    let container = lens(HELLO).unwrap();
    let dataset = &container.datasets()[0];
    // 15 bytes are not whole elements of 8.
    assert_eq!((dataset.dtype.to_string(), &dataset.shape[..]), ("|u1".into(), &[15][..]));
    assert_eq!((dataset.codec.as_str(), dataset.stored, dataset.logical), ("none", 31, 15));
    assert_eq!(elements(HELLO, ":"), b"hello bloscpack");
    assert_eq!(elements(HELLO, "6:11"), b"blosc");
    assert_eq!(check(HELLO).unwrap().verdict(), Verdict::Sound);
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    for blosc_version in [BloscVersion::Blosc1, BloscVersion::Blosc2] {
        for compressor in [crate::Compressor::LZ4, crate::Compressor::ZLIB] {
            let file = encoded(&data, blosc_version, compressor);
            assert!(is_recognised(&file) && file.len() < data.len() / 2);
            let container = lens(&file).unwrap();
            let dataset = &container.datasets()[0];
            assert_eq!((dataset.dtype.to_string(), &dataset.shape[..]), ("|V4".into(), &[5000][..]));
            assert!(!container.is_typed(0));
            assert_eq!(elements(&file, ":"), data);
            assert_eq!(elements(&file, "1020:1030"), data[4 * 1020..4 * 1030]);
            assert_eq!(check(&file).unwrap().blocks, BlockCounts { total: 1, checked: 1, bad: 0 });
        }
    }
}

#[test]
fn recognition_requires_the_length_in_the_header() {
    assert!(!is_recognised(&HELLO[..30]) && !is_recognised(&[HELLO, b"\0"].concat()) && !is_recognised(b""));
    // The length of the file is unknown.
    assert!(!(FORMAT.sniff)(&Probe { head: HELLO, directory: None, len: None }));
    for (at, byte) in [(0, 0), (0, 7), (3, 0), (4, 0x10), (8, 0), (12, 0x1e)] {
        let mut other = HELLO.to_vec();
        other[at] = byte;
        assert!(!is_recognised(&other), "{at}");
    }
    let error = lens(&HELLO[..30]).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
}

#[test]
fn damage_within_a_chunk_is_found() {
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let mut file = encoded(&data, BloscVersion::Blosc1, crate::Compressor::ZLIB);
    let last = file.len() - 1;
    file[last] ^= 0x55;
    assert!(is_recognised(&file));
    let report = check(&file).unwrap();
    assert_eq!((report.verdict(), report.blocks.bad), (Verdict::Damaged, 1));
    assert_eq!(report.findings[0].code, "undecodable_chunk");
    // The start of a block outside of the chunk.
    file[last] ^= 0x55;
    file[16..20].fill(0xff);
    assert_eq!(check(&file).unwrap().verdict(), Verdict::Damaged);
}

#[test]
fn empty_and_oversized_chunks_are_read_within_the_limits() {
    let empty = b"\x02\x01\x12\x01\0\0\0\0\x01\0\0\0\x10\0\0\0";
    assert!(is_recognised(empty));
    assert_eq!((elements(empty, ":"), check(empty).unwrap().verdict()), (vec![], Verdict::Sound));
    // A chunk of 32 bytes that claims a gigabyte of zeros.
    let mut zeros = b"\x05\x01\x05\x08\0\0\0\x40\0\0\x10\0\x20\0\0\0".to_vec();
    zeros.resize(31, 0);
    zeros.push(0x10);
    assert!(is_recognised(&zeros));
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(1 << 20);
    let container = open(Input::bytes(Box::new(zeros)), &options).unwrap();
    let whole = Region::whole(&container.datasets()[0].shape);
    assert!(container.read(0, &whole, &ReadOptions::default()).is_err());
    let few = Region::parse("5:7", &container.datasets()[0].shape).unwrap();
    assert_eq!(
        &*container
            .read(0, &few, &ReadOptions::default())
            .unwrap()
            .bytes(Order::C, &Limits::default())
            .unwrap(),
        [0; 16]
    );
}

/// A source that lends no bytes, as one of HTTP.
struct Remote(Vec<u8>);

impl Source for Remote {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

/// Special values of 32 bytes that are all of a file.
fn special(code: u8, value: &[u8]) -> Vec<u8> {
    let cbytes = 32 + u8::try_from(value.len()).unwrap();
    let mut bytes = vec![5, 1, 5, 4, 40, 0, 0, 0, 40, 0, 0, 0, cbytes, 0, 0, 0];
    bytes.resize(31, 0);
    bytes.push(code << 4);
    bytes.extend(value);
    bytes
}

#[test]
fn codecs_are_named_and_special_values_by_their_kind() {
    let name = |bytes: &[u8]| lens(bytes).unwrap().datasets()[0].codec.clone();
    for (code, value, expected) in
        [(1, &b""[..], "zeros"), (2, b"", "nan"), (3, b"abcd", "repeated value"), (4, b"", "uninitialised")]
    {
        let file = special(code, value);
        assert!(is_recognised(&file), "{expected}");
        assert_eq!(name(&file), expected);
        assert_eq!(check(&file).unwrap().verdict(), Verdict::Sound);
    }
    assert_eq!(elements(&special(3, b"abcd"), "2:4"), b"abcdabcd");
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    assert_eq!(name(&encoded(&data, BloscVersion::Blosc2, crate::Compressor::ZSTD)), "zstd");
    // By python-blosc 1.11.4: `blosc.compress(b"", typesize=4)`, without the bit of stored bytes.
    assert_eq!(name(b"\x02\x01\x11\x04\0\0\0\0\x01\0\0\0\x10\0\0\0"), "none");
}

#[test]
fn the_header_is_described_field_by_field() {
    let about = |bytes: &[u8]| lens(bytes).unwrap().about();
    let detail = |about: &About, name: &str| {
        about.details.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone()).unwrap()
    };
    let hello = about(HELLO);
    assert_eq!(
        (hello.format, hello.version.as_deref(), hello.size, hello.complete),
        ("blosc-chunk", Some("2"), 31, true)
    );
    let expected: [(&str, Value); 10] = [
        ("header", "Blosc 1".into()),
        ("flags", "0x13".into()),
        ("codec", "none".into()),
        ("filters", "shuffle".into()),
        ("blocks", 2_u64.into()),
        ("streams", "not split".into()),
        ("typesize", 8_u8.into()),
        ("nbytes", 15_u32.into()),
        ("blocksize", 8_u32.into()),
        ("cbytes", 31_u32.into()),
    ];
    assert_eq!(hello.details.len(), expected.len());
    for (name, value) in expected {
        assert_eq!(detail(&hello, name), value, "{name}");
    }
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let blosc2 = about(&encoded(&data, BloscVersion::Blosc2, crate::Compressor::LZ4));
    assert_eq!((detail(&blosc2, "header"), detail(&blosc2, "streams")), ("Blosc 2".into(), "split".into()));
    assert_eq!((blosc2.version.as_deref(), detail(&blosc2, "blocks")), (Some("5"), 5_u64.into()));
    let container = lens(HELLO).unwrap();
    assert_eq!(container.meta().unwrap(), Value::Map(vec![]));
    assert_eq!(container.records_dtype(0), Some(false));
    assert_eq!(container.datasets()[0].path, DEFAULT_NAME);
    let file = ChunkFile::new(Box::new(HELLO.to_vec()), &OpenOptions::default()).unwrap();
    assert!(format!("{file:?}").starts_with("ChunkFile { header: Header { version: 2,"), "{file:?}");
}

#[test]
fn the_byte_map_has_header_starts_and_data() {
    let parts = |bytes: &[u8]| {
        let container = lens(bytes).unwrap();
        let blocks = container.blocks();
        let block = (blocks[0].range(), blocks[0].decoded_len(), blocks[0].codec().map(str::to_owned));
        assert_eq!((blocks.len(), block.0, block.2.as_deref()), (1, 0..bytes.len() as u64, Some("blosc")));
        let map = container.byte_map();
        for segment in &map {
            let is_data = segment.role == "data";
            assert_eq!(segment.decoded, is_data.then_some(block.1));
            assert_eq!(segment.stored, is_data.then_some(segment.range.end - segment.range.start));
            assert_eq!(segment.dataset.as_deref(), is_data.then_some(DEFAULT_NAME));
            assert_eq!(segment.codec, is_data.then(|| container.datasets()[0].codec.clone()));
        }
        let roles = map.iter().map(|segment| (segment.role.clone(), segment.range.clone()));
        (block.1, roles.collect::<Vec<_>>())
    };
    let named = |parts: &[(&str, std::ops::Range<u64>)]| -> Vec<(String, std::ops::Range<u64>)> {
        parts.iter().map(|(role, range)| ((*role).to_owned(), range.clone())).collect()
    };
    assert_eq!(parts(HELLO), (15, named(&[("header", 0..16), ("data", 16..31)])));
    assert_eq!(parts(&special(1, b"")), (40, named(&[("header", 0..32)])));
    assert_eq!(parts(&special(3, b"abcd")), (40, named(&[("header", 0..32), ("data", 32..36)])));
    // Five blocks of 4096 bytes at most.
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let file = encoded(&data, BloscVersion::Blosc2, crate::Compressor::LZ4);
    let len = file.len() as u64;
    let expected = named(&[("header", 0..32), ("block starts", 32..52), ("data", 52..len)]);
    assert_eq!(parts(&file), (20_000, expected));
    // A table that ends past the file ends with it.
    let mut cut = file;
    cut.truncate(40);
    cut[12] = 40;
    cut[13] = 0;
    assert_eq!(parts(&cut), (20_000, named(&[("header", 0..32), ("block starts", 32..40)])));
}

#[test]
fn a_quick_check_reads_the_table_and_decodes_no_block() {
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let mut file = encoded(&data, BloscVersion::Blosc1, crate::Compressor::ZLIB);
    let last = file.len() - 1;
    file[last] ^= 0x55;
    let check = |file: &[u8], depth| {
        lens(file).unwrap().check(depth, &ReadOptions::default(), Progress::none()).unwrap()
    };
    let quick = check(&file, CheckDepth::Quick);
    assert_eq!(
        (quick.verdict(), quick.blocks),
        (Verdict::Sound, BlockCounts { total: 1, checked: 0, bad: 0 })
    );
    let full = check(&file, CheckDepth::Full);
    assert_eq!(full.blocks, BlockCounts { total: 1, checked: 0, bad: 1 });
    let finding = &full.findings[0];
    let range = finding.range.clone().unwrap();
    assert!(range.start > 36 && range.end == file.len() as u64, "{range:?}");
    assert_eq!((finding.dataset.as_deref(), finding.severity), (Some(DEFAULT_NAME), Severity::Error));
    // A table past the end.
    file.truncate(24);
    file[12..16].copy_from_slice(&[24, 0, 0, 0]);
    let quick = check(&file, CheckDepth::Quick);
    assert_eq!(quick.findings[0].range, Some(16..24));
}

/// A check decodes block by block, and a missing plugin is no damage.
#[test]
fn checks_take_the_memory_of_a_block_and_report_missing_plugins() {
    let data: Vec<u8> = (0..50_000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let file = encoded(&data, BloscVersion::Blosc2, crate::Compressor::LZ4);
    let open = |bytes: &[u8], memory: u64| {
        let mut options = OpenOptions::default();
        options.limits = Limits::default().with_memory(memory);
        ChunkFile::new(Box::new(bytes.to_vec()), &options).unwrap()
    };
    let check = |file: &ChunkFile| file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none());
    assert_eq!(check(&open(&file, 4096)).unwrap().blocks.checked, 1);
    assert!(matches!(check(&open(&file, 4095)).unwrap_err().kind(), ErrorKind::Limit { .. }));
    let seen = std::sync::Mutex::new(Vec::new());
    let progress = |done: u64, total: u64| {
        seen.lock().unwrap().push((done, total));
        std::ops::ControlFlow::Continue(())
    };
    let file = open(&file, 1 << 20);
    file.check(CheckDepth::Full, &ReadOptions::default(), Progress::new(&progress)).unwrap();
    let seen = seen.into_inner().unwrap();
    assert!(
        seen.contains(&(0, 200_000))
            && seen.iter().all(|(done, total)| done % 4096 == 0 && *total == 200_000),
        "{seen:?}"
    );

    let mut plugin = encoded(&data, BloscVersion::Blosc2, crate::Compressor::LZ4);
    plugin[2] = plugin[2] & 0x1f | 6 << 5;
    plugin[22] = 200;
    let error = check(&open(&plugin, 1 << 20)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{error}");
}

#[test]
fn bytes_that_are_not_lent_are_read_once_within_the_limits() {
    let data: Vec<u8> = (0..5000_u32).flat_map(|number| (number / 3).to_le_bytes()).collect();
    let file = encoded(&data, BloscVersion::Blosc2, crate::Compressor::LZ4);
    let mut options = OpenOptions::default();
    let remote = ChunkFile::new(Box::new(Remote(file.clone())), &options).unwrap();
    let region = Region::parse("1020:1030", &[5000]).unwrap();
    for _ in 0..2 {
        let array = remote.read(0, &region, &ReadOptions::default()).unwrap();
        assert_eq!(&*array.bytes(Order::C, &Limits::default()).unwrap(), &data[4 * 1020..4 * 1030]);
    }
    assert_eq!(remote.bytes.get(), Some(&file));
    options.limits = Limits::default().with_memory(file.len() as u64 - 1);
    let remote = ChunkFile::new(Box::new(Remote(file)), &options).unwrap();
    let error = remote.read(0, &region, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { .. }), "{error}");
}

#[test]
fn recognition_requires_a_length_and_a_codec_that_encoders_write() {
    // More bytes than stored data would take: 15 of data in a chunk that is said not to be stored.
    let mut longer = [HELLO, &[0; 1]].concat();
    longer[2] = 0x11;
    longer[12] = 32;
    assert!(!is_recognised(&longer));
    longer.pop();
    longer[12] = 31;
    assert!(is_recognised(&longer));
    // Versions of streams are those of plugins.
    let mut versioned = encoded(&[7; 5000], BloscVersion::Blosc2, crate::Compressor::LZ4);
    versioned[1] = 2;
    assert!(!is_recognised(&versioned));
    for code in [31, 32, 200] {
        versioned[22] = code;
        assert_eq!(is_recognised(&versioned), code >= 32, "{code}");
    }
}
