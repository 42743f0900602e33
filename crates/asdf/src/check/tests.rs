mod compressed;

use super::*;
use crate::blocks::header::BlockHeader;
use crate::datasets::of_blocks;
use container_codecs::checksum::Algorithm;
use container_core::ErrorKind;
use container_core::container::MetadataText as _;
use container_core::report::Verdict;
use container_core::source::PIECE_LEN;
use std::ops::ControlFlow;

/// A tree of arrays of bytes, the block of each with these data, and the index.
fn file(blocks: &[(&[u8], &[u8])], label: [u8; 4], spoil: impl Fn(usize, &mut BlockHeader)) -> File {
    let mut bytes =
        b"#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n".to_vec();
    for (at, (_, data)) in blocks.iter().enumerate() {
        let node = format!(
            "a{at}: !core/ndarray-1.1.0 {{source: {at}, datatype: uint8, byteorder: big, shape: [{}]}}\n",
            data.len()
        );
        bytes.extend_from_slice(node.as_bytes());
    }
    bytes.extend_from_slice(b"...\n");
    let mut offsets = Vec::new();
    for (at, (stored, data)) in blocks.iter().enumerate() {
        let mut header = BlockHeader {
            header_size: 48,
            flags: 0,
            compression: label,
            allocated_size: stored.len() as u64,
            used_size: stored.len() as u64,
            data_size: data.len() as u64,
            checksum: Algorithm::Md5.digest(stored).as_bytes().try_into().unwrap(),
        };
        spoil(at, &mut header);
        offsets.push(bytes.len() as u64);
        bytes.extend_from_slice(&header.to_bytes());
        bytes.extend_from_slice(stored);
    }
    bytes.extend_from_slice(crate::BlockIndex { offsets }.to_text().as_bytes());
    File::from_bytes(bytes, crate::OpenOptions::default()).unwrap()
}

fn report(file: &File, depth: CheckDepth, threads: usize) -> Report {
    let datasets = of_blocks(file);
    check(file, None, &datasets, depth, &ReadOptions::default().with_threads(threads), Progress::none())
        .unwrap()
}

fn codes(report: &Report) -> Vec<(&'static str, Option<&str>)> {
    report.findings.iter().map(|finding| (finding.code, finding.dataset.as_deref())).collect()
}

/// `zlib.compress(b"ab" * 20)` of Python's zlib.
const ZLIB: [u8; 13] = [0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x24, 0x0a, 0x02, 0x00, 0x38, 0x7b, 0x0f, 0x3d];

#[test]
fn several_plain_blocks_are_compared_side_by_side() {
    let data: Vec<Vec<u8>> = (0..11).map(|at| vec![at; 1000 + usize::from(at)]).collect();
    let blocks: Vec<(&[u8], &[u8])> = data.iter().map(|data| (&data[..], &data[..])).collect();
    let good = file(&blocks, [0; 4], |_, _| {});
    let bad = file(&blocks, [0; 4], |at, header| header.checksum[3] ^= u8::from(at == 4 || at == 10));
    for threads in [1, 2, 3, 20] {
        let found = report(&good, CheckDepth::Full, threads);
        assert_eq!((codes(&found), found.blocks), (vec![], BlockCounts { total: 11, checked: 11, bad: 0 }));
        let found = report(&bad, CheckDepth::Full, threads);
        assert_eq!(codes(&found), [("checksum", Some("a4")), ("checksum", Some("a10"))]);
        assert_eq!(found.blocks, BlockCounts { total: 11, checked: 11, bad: 2 });
        let block = &bad.blocks()[4];
        assert_eq!(found.findings[0].range, Some(block.at..block.data.end));
    }
    let quick = report(&bad, CheckDepth::Quick, 1);
    assert_eq!((quick.verdict(), quick.blocks.checked), (Verdict::Sound, 0));
}

#[test]
fn valid_absent_legacy_and_wrong_checksums_are_distinguished() {
    let data = b"ab".repeat(20);
    let with =
        |checksum: [u8; 16]| file(&[(&ZLIB, &data)], *b"zlib", move |_, header| header.checksum = checksum);
    let of = |bytes: &[u8]| -> [u8; 16] { Algorithm::Md5.digest(bytes).as_bytes().try_into().unwrap() };
    let found =
        |file: &File| report(file, CheckDepth::Full, 1).findings.first().map(|it| (it.code, it.severity));
    assert_eq!(found(&with(of(&ZLIB))), None);
    assert_eq!(found(&with([0; 16])), None);
    assert_eq!(found(&with(of(&data))), Some(("legacy_checksum", Severity::Note)));
    assert_eq!(found(&with([1; 16])), Some(("checksum", Severity::Error)));
}

#[test]
fn a_block_whose_digest_fits_its_first_bytes_is_not_streamed() {
    let of = |spoil: fn(usize, &mut BlockHeader)| {
        let found = report(&file(&[(b"twelve bytes", b"twelve bytes")], [0; 4], spoil), CheckDepth::Full, 1);
        found.findings.into_iter().map(|found| (found.code, found.severity)).collect::<Vec<_>>()
    };
    assert_eq!(of(|_, _| {}), []);
    // The index after the block's twelve bytes is reported, too.
    let index = ("index_forbidden", Severity::Warning);
    let told = [("block_flags", Severity::Warning), index];
    assert_eq!(of(|_, header| header.flags = 1), told);
    let one_size_left = |_: usize, header: &mut BlockHeader| {
        (header.flags, header.used_size, header.data_size) = (1, 0, u64::MAX);
    };
    assert_eq!(of(one_size_left), told);
    // As Python asdf writes a streamed block, and a block whose digest matches no size.
    assert_eq!(of(|_, header| (header.flags, header.checksum) = (1, [0; 16])), [index]);
    assert_eq!(of(|_, header| (header.flags, header.checksum[0]) = (1, !header.checksum[0])), [index]);
}

#[test]
fn wrong_data_size_is_reported_once_as_an_undecodable_block() {
    let data = b"ab".repeat(20);
    for size in [39, 41, 1 << 40, u64::MAX] {
        let file = file(&[(&ZLIB, &data)], *b"zlib", |_, header| header.data_size = size);
        let found = report(&file, CheckDepth::Full, 1);
        assert_eq!(codes(&found), [("undecodable_block", Some("a0"))], "{size}");
    }
    let unknown = file(&[(&ZLIB, &data)], *b"what", |_, _| {});
    assert_eq!(codes(&report(&unknown, CheckDepth::Full, 1)), [("compression", Some("a0"))]);
    assert_eq!(codes(&report(&unknown, CheckDepth::Quick, 1)), []);
}

/// A block that no array names needs no codec, but a label that is not a name has been changed.
#[test]
fn invalid_compression_label_of_an_unreferenced_block_is_a_warning() {
    let data = b"ab".repeat(20);
    let of = |label: &[u8; 4]| {
        let header = BlockHeader {
            header_size: 48,
            flags: 0,
            compression: *label,
            allocated_size: 40,
            used_size: 40,
            data_size: 40,
            checksum: [0; 16],
        };
        let bytes = [b"#ASDF 1.0.0\n", &header.to_bytes()[..], &data].concat();
        let file = File::from_bytes(bytes, crate::OpenOptions::default()).unwrap();
        let found = report(&file, CheckDepth::Full, 1).findings;
        found.into_iter().map(|one| (one.code, one.severity)).collect::<Vec<_>>()
    };
    assert!(!of(b"what").iter().any(|found| found.0 == "compression"));
    assert!(of(b"zl- ").contains(&("compression", Severity::Warning)));
}

fn of_tree(tree: &str) -> Report {
    let text = format!("#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n{tree}...\n");
    report(&File::from_bytes(text.into_bytes(), crate::OpenOptions::default()).unwrap(), CheckDepth::Full, 1)
}

#[test]
fn yaml_that_readers_interpret_differently_is_reported() {
    for (tree, expected) in [
        ("a: 1\nb: {c: 1, 'c': 2}\n", &["duplicate_key"][..]),
        ("1: a\n'1': b\n", &[]),
        ("? [1]\n: 2\n", &["tree"]),
        ("a: !!int word\n", &["tree"]),
        ("a: !!map [1]\n", &["tree"]),
        ("<<: 5\n", &["tree"]),
        ("a: &x {b: 1}\nc: {<<: *x, d: 2}\n", &[]),
        ("a: {$ref: '#/b'}\n", &["reference"]),
        ("a: {$ref: '#/b'}\nb: 1\n", &[]),
        ("a: {<<: [1]}\n", &["tree"]),
        ("? !core/complex-1.0.0 1+1j\n: 2\n", &["tree"]),
        ("a: !!str {=: 1}\n", &[]),
        ("a: !!int {=: x}\n", &["tree"]),
        ("a: !!timestamp {=: 2020-01-02}\n", &["tree"]),
        ("a: !!python/tuple [1]\n", &[]),
        ("a: 2020-13-02\n", &["tree"]),
        ("a: '2020-13-02'\n", &[]),
        ("a: 0x_\n", &["tree"]),
    ] {
        let found = of_tree(tree);
        let codes: Vec<&str> = found.findings.iter().map(|finding| finding.code).collect();
        assert_eq!(codes, expected, "{tree}");
    }
}

/// The verdict of `asdf.open` of Python asdf 6.0.0 with PyYAML 6 on each: read, or refused.
#[test]
fn tags_of_collections_are_judged_as_python_asdf_reads_them() {
    for read in [
        "!!omap [{a: 1}]",
        "!!omap []",
        "!!omap [{a: 1}, {a: 2}]",
        "!!omap [!!omap {a: 1}]",
        "!!omap [!foo {a: 1}, !!str {b: 1}, !!set {c}]",
        "!!pairs [{a: 1}]",
        "!!pairs [!!omap {a: 1}, {[1]: 2}]",
        "!!set {a, b}",
        "!!set {a: 1}",
        "!!set {<<: {a: 1}}",
        "!!binary AAH/",
        "!!binary {=: AAH/}",
        "!!timestamp '2020-1-2'",
        "!!seq [1]",
        "!!map {a: 1}",
        "!!str {=: {=: a}}",
        "{? !!str {=: a} : 2}",
        "!!null x",
    ] {
        let found = of_tree(&format!("v: {read}\n"));
        assert_eq!(codes(&found), [], "{read}");
    }
    for refused in [
        "!!omap [{a: 1, b: 2}]",
        "!!omap {a: 1}",
        "!!omap a",
        "!!omap",
        "!!omap [1]",
        "!!omap [{}]",
        "!!omap [{[1]: 2}]",
        "!!omap [{a: !!int x}]",
        "!!omap [{<<: {a: 1}}]",
        "!!pairs {a: 1}",
        "!!pairs [1]",
        "!!pairs [{a: 1, b: 2}]",
        "!!set [a]",
        "!!set {[1]: 2}",
        "!!binary 'AA*A'",
        "!!binary [a]",
        "!!timestamp x",
        "!!timestamp {a: 1}",
        "!!seq {a: 1}",
        "!!map [a]",
        "!!str [a]",
        "!!str {a: 1}",
        "!!str {=: [a]}",
        "{? !!set {} : 2}",
        "{? !foo a : 2}",
        "{? !!int x : 2}",
    ] {
        let found = of_tree(&format!("v: {refused}\n"));
        assert_eq!(codes(&found), [("tree", None)], "{refused}");
    }
}

#[test]
fn values_that_their_type_does_not_have_are_damage() {
    let two = b"\x01\x02".as_slice();
    let all = file(&[(two, two)], [0; 4], |_, _| {});
    let mut source = all.source().read(0..all.layout().size).unwrap().into_owned();
    let text = String::from_utf8_lossy(&source).into_owned();
    let at = text.find("uint8").unwrap();
    source[at..at + 5].copy_from_slice(b"bool8");
    let bools = File::from_bytes(source, crate::OpenOptions::default()).unwrap();
    assert_eq!(codes(&report(&bools, CheckDepth::Full, 1)), [("array", Some("a0"))]);
    let inline = of_tree("a: !core/ndarray-1.1.0 {data: [1, 300], datatype: uint8}\n");
    assert_eq!(codes(&inline), [("array", Some("a"))]);
}

#[test]
fn block_check_reports_progress_per_piece_and_can_be_cancelled() {
    let data = vec![7; 3 * PIECE_LEN + 5];
    let plain = file(&[(&data, &data)], [0; 4], |_, _| {});
    let undigested = file(&[(&data, &data)], [0; 4], |_, header| header.checksum = [0; 16]);
    for file in [plain, undigested] {
        let told = Mutex::new(Vec::new());
        let run = |stop_at: u64| {
            told.lock().unwrap().clear();
            let tick = |done: u64, total: u64| {
                told.lock().unwrap().push((done, total));
                if done < stop_at { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
            };
            let options = ReadOptions::default().with_threads(1);
            check(&file, None, &of_blocks(&file), CheckDepth::Full, &options, Progress::new(&tick))
        };
        run(u64::MAX).unwrap();
        let (piece, total) = (PIECE_LEN as u64, data.len() as u64);
        let expected = [piece, 2 * piece, 3 * piece, total].map(|done| (done, total));
        // The steps that follow are checks of arrays, which add no bytes.
        assert_eq!(told.lock().unwrap()[..4], expected);
        let left = run(2 * piece).unwrap_err();
        assert!(matches!(left.kind(), ErrorKind::Cancelled), "{left}");
        assert_eq!(told.lock().unwrap().len(), 2);
    }
}

/// All bytes of a block are checked even where it is larger than the permitted memory.
#[test]
fn a_block_larger_than_memory_is_checked_in_pieces() {
    // A chunk of LZ4 has 4 MiB, and a window of zstd as many; the others are decoded in small pieces.
    for (label, count, memory) in [
        ("lz4", 1_400_000_u32, 5 << 20),
        ("zstd", 1_400_000, 5 << 20),
        ("zlib", 200_000, 500_000),
        ("bzp2", 200_000, 500_000),
    ] {
        let data: Vec<u8> = (0..count).flat_map(|k| (k / 7).to_le_bytes()).collect();
        let mut stored = Vec::new();
        crate::compression::encode(label, &data, &Default::default(), &mut stored).unwrap();
        let name: [u8; 4] = [label.as_bytes(), b"\0"].concat()[..4].try_into().unwrap();
        let checked = |legacy: bool, missing: usize| {
            let stored = &stored[..stored.len() - missing];
            let file = file(&[(stored, &data)], name, |_, header| {
                let digested = if legacy { &data } else { stored };
                header.checksum = Algorithm::Md5.digest(digested).as_bytes().try_into().unwrap();
            });
            let limits = container_core::Limits::default().with_memory(memory);
            let options = ReadOptions::default().with_limits(limits).with_threads(2);
            check(&file, None, &of_blocks(&file), CheckDepth::Full, &options, Progress::none()).unwrap()
        };
        assert_eq!(checked(false, 0).verdict(), Verdict::Sound, "{label}");
        assert!(codes(&checked(true, 0)).iter().any(|(code, _)| *code == "legacy_checksum"), "{label}");
        let report = checked(false, 3);
        assert!(codes(&report).iter().any(|(code, _)| *code == "undecodable_block"), "{label}: {report:?}");
    }
}

/// A length beyond any memory is damage where the bytes themselves declare another one.
#[test]
fn data_size_beyond_memory_is_damage() {
    let data = [7_u8; 1000];
    for label in ["zstd", "lz4", "blsc", "zlib", "bzp2"] {
        let mut stored = Vec::new();
        crate::compression::encode(label, &data, &Default::default(), &mut stored).unwrap();
        let name: [u8; 4] = [label.as_bytes(), b"\0"].concat()[..4].try_into().unwrap();
        for size in [1 << 40, 1 << 62, u64::MAX] {
            let file = file(&[(&stored, &data)], name, |_, header| header.data_size = size);
            let report = report(&file, CheckDepth::Full, 1);
            assert_eq!(report.verdict(), Verdict::Damaged, "{label} {size}: {report:?}");
        }
    }
}

#[test]
fn yaml_directives_that_python_refuses_are_reported() {
    let bytes = b"#ASDF 1.0.0\n%YAML 1.1\n%TAg ! tag:stsci.edu:asdf/\n---\na: 1\n...\n".to_vec();
    let file = File::from_bytes(bytes, crate::OpenOptions::default()).unwrap();
    assert!(codes(&report(&file, CheckDepth::Full, 1)).contains(&("tree", None)));
}

#[test]
fn metadata_of_a_tree_that_cannot_be_read_are_an_error() {
    use container_core::format::Input;
    let text = "%YAML 1.1\n---\nk: -\nb: 1\n...\n";
    let bytes = format!("#ASDF 1.0.0\n{text}").into_bytes();
    let open = crate::FORMAT.open;
    let container = open(Input::bytes(Box::new(bytes)), &Default::default()).unwrap();
    for meta in [container.meta(), container.logical_meta()] {
        assert!(meta.unwrap_err().to_string().contains("the tree cannot be read: "));
    }
    let details = container.about().details;
    let told = details.iter().find(|(name, _)| name == "tree").unwrap();
    let starts = |text: &str| text.starts_with("cannot be read: ");
    assert!(matches!(&told.1, container_core::Value::Text(text) if starts(text)), "{told:?}");
    let file: &File = container.as_any().unwrap().downcast_ref().unwrap();
    assert_eq!(file.node_text("").unwrap().unwrap(), text);
    assert!(file.node_text("/k").is_err());
}

#[test]
fn a_first_block_without_its_magic_is_damage_where_its_digest_fits() {
    let sound = file(&[(b"first", b"first"), (b"second", b"second")], [0; 4], |_, _| {});
    let bytes = sound.source().read(0..sound.source().len()).unwrap();
    let index = sound.layout().index.clone().unwrap();
    let first = sound.blocks()[0].at;
    let of = |byte: usize| {
        let mut bytes = bytes[..usize::try_from(index.start).unwrap()].to_vec();
        bytes[usize::try_from(first).unwrap() + byte] ^= 4;
        report(&File::from_bytes(bytes, crate::OpenOptions::default()).unwrap(), CheckDepth::Full, 1)
    };
    for byte in 0..4 {
        let report = of(byte);
        let found = report.findings.iter().find(|finding| finding.code == "block_magic").unwrap();
        assert_eq!((found.severity, &found.range), (Severity::Error, &Some(first..first + 59)));
    }
    // Without a match, the bytes may as well be padding.
    let mut twice = bytes[..usize::try_from(index.start).unwrap()].to_vec();
    let at = usize::try_from(first).unwrap();
    twice[at] ^= 4;
    twice[at + 54] ^= 1;
    let report =
        report(&File::from_bytes(twice, crate::OpenOptions::default()).unwrap(), CheckDepth::Full, 1);
    assert!(!codes(&report).iter().any(|(code, _)| *code == "block_magic"), "{report:?}");
}

/// The software that wrote a file is not metadata, nor is a history that contains only extensions.
#[test]
fn history_with_only_extensions_is_excluded_from_logical_metadata() {
    let logical = |tree: &str| {
        let text = format!("#ASDF 1.0.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n{tree}...\n");
        let input = container_core::format::Input::bytes(Box::new(text.into_bytes()));
        (crate::FORMAT.open)(input, &container_core::container::OpenOptions::default())
            .unwrap()
            .logical_meta()
            .unwrap()
    };
    assert_eq!(logical("a: 1\nhistory: {extensions: [{x: 1}]}\n"), logical("a: 1\n"));
    let entry = "history: {extensions: [{x: 1}], entries: [{description: d}]}\n";
    assert_ne!(logical(&format!("a: 1\n{entry}")), logical("a: 1\n"));
}
