//! Findings: their codes, severities, ranges and numbers.

use std::ops::Range;

use asdf::container_core::container::CheckDepth;
use asdf::container_core::report::{Finding, Severity};

use crate::support::{HEAD, block, block_with, check, empty, file, tree};

/// The findings of a check.
fn found(bytes: &[u8]) -> Vec<Finding> {
    check(bytes, CheckDepth::Full).findings
}

/// The finding with this code, which is at this range.
fn expect(bytes: &[u8], code: &str, severity: Severity, range: Range<u64>) -> Finding {
    let all = found(bytes);
    let one = all.iter().find(|finding| finding.code == code);
    let one = one.unwrap_or_else(|| panic!("no {code}: {all:?}")).clone();
    assert_eq!((one.severity, one.range.clone()), (severity, Some(range)), "{one:?}");
    one
}

fn codes(bytes: &[u8]) -> Vec<&'static str> {
    found(bytes).iter().map(|finding| finding.code).collect()
}

use Severity::{Error, Note, Warning};

#[test]
fn odd_header_lines_are_at_their_line() {
    let text = |head: &str| format!("{head}%YAML 1.1\n--- {{}}\n...\n").into_bytes();
    let version = expect(&text("#ASDF 1.1.0\n#ASDF_STANDARD 1.6.0\n"), "version", Note, 0..12);
    assert!(version.message.contains("1.1.0"), "{version:?}");
    expect(&text("#ASDF 1.0.0\n#ASDF_STANDARD one\n"), "standard", Warning, 12..31);
    let standard = expect(&text("#ASDF 1.0.0\n#ASDF_STANDARD 1.8.0\n"), "standard", Warning, 12..33);
    assert!(standard.message.contains("1.8.0"), "{standard:?}");
    expect(&text("#ASDF 1.0.0\n#ASDF_STANDARD 2.1.0\n"), "standard", Warning, 12..33);
    for minor in 0..8 {
        assert_eq!(codes(&text(&format!("#ASDF 1.0.0\n#ASDF_STANDARD 1.{minor}.0\n"))), [""; 0], "{minor}");
    }
}

/// The tree begins at byte 33.
#[test]
fn faults_around_the_tree_are_where_they_begin() {
    let with = |text: &str| format!("{HEAD}{text}").into_bytes();
    expect(&with("\n  %YAML 1.1\n--- {}\n...\n"), "blank_before_tree", Warning, 33..36);
    expect(&with("x: 1\n%YAML 1.1\n--- {}\n...\n"), "junk_before_tree", Error, 33..38);
    expect(&with("a: 1\n"), "junk_before_tree", Error, 33..38);
    expect(&with("--- {}\n...\n"), "no_yaml_directive", Warning, 33..36);
    expect(&with("%YAML 1.1\n--- {}\n"), "tree_unterminated", Error, 33..50);
    expect(&with("%YAML 1.1\n--- {}\n...  \n"), "tree_end_blanks", Warning, 48..56);
    expect(&with("%YAML 1.1\n--- {}\n...\n\0x\n"), "junk_after_tree", Warning, 55..57);
    expect(
        &with("%YAML 1.1\n--- {}\n...\nx\n#ASDF BLOCK INDEX\n--- []\n...\n"),
        "junk_after_tree",
        Warning,
        54..56,
    );
    let unread = expect(&with("%YAML 1.1\n--- [\n...\n"), "tree", Error, 47..48);
    assert_eq!(unread.dataset, None);
    // Padding after the tree, and before the first block of a file without one.
    let padded = [&empty()[..], b"\0\0\0", &block(b"a")].concat();
    let room = expect(&padded, "padding", Note, 54..57);
    assert!(room.message.contains('3'), "{room:?}");
    let bare = [HEAD.as_bytes(), b"\0\0", &block(b"a")].concat();
    expect(&bare, "padding_without_tree", Warning, 33..35);
    assert!(!codes(&bare).contains(&"padding"));
}

/// An index after a file without blocks, or one that lists others.
#[test]
fn faults_of_the_index_are_at_the_index() {
    let one = file(&empty(), &[block(b"abc")]);
    let start = 54 + 57;
    let end = one.len() as u64;
    assert_eq!(codes(&one), ["unreferenced_block"]);
    let mut stale = one.clone();
    let digit = stale.len() - 6;
    stale[digit] = b'6';
    let found = expect(&stale, "stale_index", Note, start..end);
    assert!(found.message.contains("56") && found.message.contains("54"), "{found:?}");
    let none = [empty(), block(b"abc")].concat();
    expect(&none, "no_index", Note, start..start);
    let more = [none.clone(), file(b"", &[])].concat();
    let stale = expect(&more, "stale_index", Note, start..more.len() as u64);
    assert!(stale.message.contains('0') && stale.message.contains('1'), "{stale:?}");
    let unread = [&none[..], b"#ASDF BLOCK INDEX\n--- [a]\n...\n"].concat();
    expect(&unread, "index", Warning, start..unread.len() as u64);
    let forbidden = [empty(), file(b"", &[])].concat();
    expect(&forbidden, "index_forbidden", Warning, 54..forbidden.len() as u64);
    let after = [&one[..], b"\0\0x"].concat();
    expect(&after, "junk_after_index", Warning, end + 2..end + 3);
    let nuls = [&one[..], b"\0\0\0"].concat();
    let room = expect(&nuls, "padding", Note, end..end + 3);
    assert!(room.message.contains('3'), "{room:?}");
    let junk = [&none[..], b"\0\0junk"].concat();
    expect(&junk, "junk_after_blocks", Warning, start + 2..start + 6);
    let between = [&none[..], b"\0\0\0", &one[usize::try_from(start).unwrap()..]].concat();
    expect(&between, "junk_after_blocks", Warning, start..start + 3);
}

#[test]
fn faults_of_blocks_are_at_their_header_or_their_bytes() {
    let with = |data: &[u8], change: fn(&mut asdf::BlockHeader)| file(&empty(), &[block_with(data, change)]);
    let flags = with(b"abc", |header| header.flags = 0x12);
    let told = expect(&flags, "block_flags", Warning, 60..64);
    assert!(told.message.contains("0x12"), "{told:?}");
    let used = with(b"abc", |header| (header.used_size, header.data_size) = (9, 9));
    let told = expect(&used, "used_over_allocated", Error, 54..108);
    assert!(told.message.contains('9') && told.message.contains('3'), "{told:?}");
    let sizes = with(b"abcdefg", |header| header.data_size = 5);
    let told = expect(&sizes, "plain_sizes", Error, 54..108);
    assert!(told.message.contains('5') && told.message.contains('7'), "{told:?}");
    let streamed = block_with(b"abc", |header| (header.flags, header.compression) = (1, *b"zlib"));
    expect(&[empty(), streamed].concat(), "streamed_compressed", Error, 54..108);
    let short = with(b"abc", |header| header.header_size = 47);
    expect(&short, "block_header", Error, 54..108);
    expect(&[empty(), block(b"abc")].concat()[..100], "block_header", Error, 54..108);
    let long = block_with(b"", |header| header.header_size = 60);
    expect(&[&empty()[..], &long].concat(), "block_header", Error, 54..120);
    expect(&[empty(), block(b"abcdef")].concat()[..112], "truncated", Error, 108..114);
    let room = block_with(b"abc", |header| header.allocated_size = 9);
    expect(&[empty(), room.clone()].concat(), "truncated", Error, 108..117);
    let unused = [&room[..], &[0; 6]].concat();
    let told = expect(&file(&empty(), &[unused]), "padding", Note, 111..117);
    assert!(told.message.contains('6') && told.message.contains("block 0"), "{told:?}");
    let gap = file(&empty(), &[[&block(b"abc")[..], b"12"].concat(), block(b"x")]);
    let told = expect(&gap, "gap", Warning, 111..113);
    assert!(told.message.contains('2') && told.message.contains('1'), "{told:?}");
    let spare = expect(&file(&empty(), &[block(b"abc")]), "unreferenced_block", Note, 54..111);
    assert!(spare.message.contains("block 0"), "{spare:?}");
}

/// An array of three bytes in block `source`, at the path `a`.
fn array(source: &str) -> Vec<u8> {
    tree(&format!(
        "a: !core/ndarray-1.1.0 {{source: {source}, datatype: uint8, byteorder: big, shape: [3]}}\n"
    ))
    .into_bytes()
}

#[test]
fn faults_of_blocks_name_the_array_in_them() {
    let start = array("0").len() as u64;
    let good = file(&array("0"), &[block(b"abc")]);
    assert_eq!(codes(&good), [""; 0]);
    let report = check(&good, CheckDepth::Full);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (1, 1, 0));
    assert_eq!(check(&good, CheckDepth::Quick).blocks.checked, 0);
    let bad = file(&array("0"), &[block_with(b"abc", |header| header.checksum[0] ^= 1)]);
    let told = expect(&bad, "checksum", Error, start..start + 57);
    assert_eq!(told.dataset.as_deref(), Some("a"));
    let report = check(&bad, CheckDepth::Full);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (1, 1, 1));
    assert_eq!(check(&bad, CheckDepth::Quick).blocks.bad, 0);
    let unknown = file(&array("0"), &[block_with(b"abc", |header| header.compression = *b"what")]);
    let told = expect(&unknown, "compression", Error, start..start + 57);
    assert!(told.dataset.as_deref() == Some("a") && told.message.contains("what"), "{told:?}");
    let zlib = file(&array("0"), &[block_with(b"abc", |header| header.compression = *b"zlib")]);
    let told = expect(&zlib, "undecodable_block", Error, start..start + 57);
    assert_eq!(told.dataset.as_deref(), Some("a"));
    let sizes = file(&array("0"), &[block_with(b"abc", |header| header.data_size = 2)]);
    assert_eq!(expect(&sizes, "plain_sizes", Error, start..start + 54).dataset.as_deref(), Some("a"));
    // A block without a valid header is one of the bad ones.
    let headless = file(&array("0"), &[block_with(b"abc", |header| header.header_size = 1)]);
    let report = check(&headless, CheckDepth::Full);
    assert_eq!((report.blocks.total, report.blocks.checked, report.blocks.bad), (1, 0, 1));
}

/// The node of the array is at its range in the file.
#[test]
fn faults_of_arrays_are_at_their_node() {
    let at = |bytes: &[u8]| {
        let start = bytes.windows(3).position(|it| it == b"a: ").unwrap() as u64 + 3;
        let end = bytes.windows(5).position(|it| it == b"\n...\n").unwrap() as u64;
        start..end
    };
    let two = array("2");
    let missing = file(&two, &[block(b"abc")]);
    let told = expect(&missing, "array", Error, at(&two));
    assert_eq!(told.dataset.as_deref(), Some("a"));
    // The last block, counted from the end.
    assert_eq!(codes(&file(&array("-1"), &[block(b"abc")])), [""; 0]);
    assert_eq!(codes(&file(&array("-2"), &[block(b"abc"), block(b"d")])), ["unreferenced_block"]);
    let short = file(&array("0"), &[block(b"ab")]);
    assert_eq!(expect(&short, "array", Error, at(&short)).dataset.as_deref(), Some("a"));
    let external = file(&array("other.asdf"), &[]);
    let told = found(&external).into_iter().find(|finding| finding.code == "external").unwrap();
    assert_eq!((told.dataset.as_deref(), told.range), (Some("a"), Some(at(&external))));
    let zero = tree(
        "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [3], strides: [0]}\n",
    );
    let zero = file(zero.as_bytes(), &[block(b"abc")]);
    assert_eq!(expect(&zero, "zero_stride", Warning, at(&zero)).dataset.as_deref(), Some("a"));
    let unread = tree("a: !core/ndarray-1.1.0 {source: 0, datatype: uint7, byteorder: big, shape: [3]}\n");
    let told = found(&file(unread.as_bytes(), &[block(b"abc")]));
    assert!(told.iter().any(|it| it.code == "array" && it.message.contains("uint7")), "{told:?}");
}

#[test]
fn oddities_of_the_tree_are_at_their_node() {
    let text = tree("a: 1\nb: 2\na: 3\n");
    let start = text.rfind("a: 3").unwrap() as u64;
    let told = expect(text.as_bytes(), "duplicate_key", Warning, start..start + 1);
    assert!(told.message.contains("\"a\""), "{told:?}");
    let text = tree("a: !!int word\n");
    let start = text.find("!!int").unwrap() as u64;
    expect(text.as_bytes(), "tree", Error, start..start + 10);
    let text = tree("a: {$ref: '#/b'}\n");
    let start = text.find("{$ref").unwrap() as u64;
    let told = expect(text.as_bytes(), "reference", Note, start..start + 13);
    assert!(told.message.contains("#/b"), "{told:?}");
    // More than a hundred of one kind are counted.
    let many: String = (0..130).map(|at| format!("k{at}: {{$ref: '#/nothing'}}\n")).collect();
    let all = found(tree(&many).as_bytes());
    assert_eq!(all.len(), 101);
    let last = all.iter().find(|finding| finding.range.is_none()).unwrap();
    assert!(last.code == "reference" && last.message.contains("30"), "{last:?}");
    let few: String = (0..100).map(|at| format!("k{at}: {{$ref: '#/nothing'}}\n")).collect();
    assert_eq!(found(tree(&few).as_bytes()).len(), 100);
}
