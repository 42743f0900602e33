//! Every sound ASDF file, through the library's own interface: its parts, blocks and nodes are those that the independent script says.

use std::collections::HashMap;
use std::fmt::Write as _;
use std::path::PathBuf;

use asdf::compression;
use asdf::yaml::{Document, Int, Kind, Node, NodeId, Scalar, Timestamp, YamlLimits};
use asdf::{ChecksumStatus, IndexState, Layout};
use container_core::Limits;

use crate::manifest::{self, Fixture, StoredBlock, all_fixtures, sha256};

fn sound() -> impl Iterator<Item = Fixture> {
    all_fixtures().into_iter().filter(|it| it.format == "asdf" && it.verdict == "sound")
}

/// The file that is to be opened.
fn main_file(fixture: &Fixture) -> PathBuf {
    fixture.main.as_ref().map_or_else(|| fixture.full_path.clone(), |main| fixture.full_path.join(main))
}

/// Checks all fixtures, at least `least` of them, and panics with the problems of all that `check` rejects.
fn expect_all(fixtures: impl Iterator<Item = Fixture>, check: fn(&Fixture, &[u8]), least: usize) {
    let mut problems = String::new();
    let mut count = 0;
    for fixture in fixtures {
        count += 1;
        let bytes = std::fs::read(main_file(&fixture)).expect("a fixture");
        if let Err(problem) = std::panic::catch_unwind(|| check(&fixture, &bytes)) {
            let text = problem.downcast_ref::<String>().cloned();
            let text = text.or_else(|| problem.downcast_ref::<&str>().map(|it| (*it).to_owned()));
            _ = writeln!(problems, "{}: {}", fixture.path, text.unwrap_or_default());
        }
    }
    assert!(problems.is_empty(), "{problems}");
    assert!(count >= least, "only {count}");
}

#[test]
fn layout_parts_match_the_script() {
    expect_all(sound(), parts, 300);
}

fn parts(fixture: &Fixture, bytes: &[u8]) {
    let layout = Layout::parse(&bytes.to_vec(), &Limits::default()).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Some(layout.header.version.to_string()), fixture.version, "version");
    // The script has the word as it stands; the library only what is a version.
    let standard = fixture.standard.as_ref().filter(|it| it.as_str() != "one");
    assert_eq!(layout.header.standard.map(|it| it.to_string()).as_ref(), standard, "standard");
    assert_eq!(layout.tree.as_ref().map(|it| [it.start, it.end]), fixture.tree, "tree");
    let blocks: Vec<_> = layout.blocks.iter().map(|it| fields(it, None, None)).collect();
    let expected = fixture.stored_blocks.clone().unwrap_or_default().into_iter();
    let expected: Vec<_> = expected.map(|it| StoredBlock { checksum: None, decoded: None, ..it }).collect();
    assert_eq!(blocks, expected, "blocks");
    assert_eq!(layout.index.as_ref().map(|it| [it.start, it.end]), fixture.index, "index");
    if fixture.codes.is_empty() {
        assert_eq!(layout.faults, [], "faults");
        assert_eq!(layout.index_state == IndexState::Valid, fixture.index.is_some(), "index");
    }
}

fn fields(block: &asdf::StoredBlock, checksum: Option<&str>, decoded: Option<String>) -> StoredBlock {
    StoredBlock {
        start: block.at,
        header_size: block.header.header_size,
        flags: block.header.flags,
        label: block.label().unwrap_or_default().to_owned(),
        allocated: block.header.allocated_size,
        used: block.header.used_size,
        size: block.header.data_size,
        checksum: checksum.map(str::to_owned),
        decoded,
    }
}

#[test]
fn block_contents_match_the_script() {
    expect_all(sound().filter(|it| it.stored_blocks.is_some()), blocks, 250);
}

fn blocks(fixture: &Fixture, bytes: &[u8]) {
    let (source, limits) = (bytes.to_vec(), Limits::default());
    let layout = Layout::parse(&source, &limits).unwrap_or_else(|error| panic!("{error}"));
    let codecs = compression::codecs();
    for (block, expected) in layout.blocks.iter().zip(fixture.stored_blocks.as_ref().expect("blocks")) {
        let Some(sha) = &expected.decoded else { continue };
        let stored = usize::try_from(block.data.start).expect("small");
        if bytes[stored..].get(2..9) == Some(b"b2frame") {
            // Frames are another crate's; the façade, through which `corpus` reads, knows them.
            assert!(["bls2", "bsc2"].contains(&expected.label.as_str()));
            continue;
        }
        let mut data = vec![0; usize::try_from(block.data_size()).expect("small")];
        let whole = 0..block.data_size();
        compression::read_range(&source, block, &codecs, &limits, 2, whole, &mut data)
            .unwrap_or_else(|error| panic!("block {}: {error}", block.index));
        assert_eq!(&sha256(&data), sha, "block {}", block.index);
        // Any part is that part of the whole.
        let len = data.len();
        for (start, end) in [(0, len.min(1)), (len / 3, len / 2), (len / 2, len), (len, len)] {
            let mut part = vec![0; end - start];
            let range = start as u64..end as u64;
            compression::read_range(&source, block, &codecs, &limits, 1, range, &mut part)
                .unwrap_or_else(|error| panic!("block {}, {start}..{end}: {error}", block.index));
            assert_eq!(part, data[start..end], "block {}, {start}..{end}", block.index);
        }
        let state = asdf::checksum_status(&source, block, &codecs, &limits, 2);
        let state = state.unwrap_or_else(|error| panic!("block {}: {error}", block.index));
        let expected = expected.checksum.as_deref();
        let name = if matches!(state, ChecksumStatus::Bad { .. }) { "wrong" } else { state.name() };
        assert_eq!(Some(name), expected, "checksum of block {}", block.index);
    }
}

#[test]
fn nodes_are_what_pyyaml_makes_of_them() {
    expect_all(sound().filter(|it| it.nodes.is_some()), nodes, 50);
}

fn nodes(fixture: &Fixture, bytes: &[u8]) {
    let [start, end] = fixture.tree.expect("a tree");
    let text = &bytes[usize::try_from(start).expect("small")..usize::try_from(end).expect("small")];
    let document =
        Document::parse(text, start, &YamlLimits::default()).unwrap_or_else(|error| panic!("{error}"));
    let mut found = Vec::new();
    visit(document.root(), "", &mut HashMap::new(), &mut found);
    let mut expected = fixture.nodes.clone().expect("nodes");
    found.sort_by(|a, b| (&a.path, &a.is).cmp(&(&b.path, &b.is)));
    expected.sort_by(|a, b| (&a.path, &a.is).cmp(&(&b.path, &b.is)));
    let mut problems = String::new();
    for it in found.iter().filter(|it| !expected.contains(it)) {
        _ = write!(problems, "\n  found {it:?}");
    }
    for it in expected.iter().filter(|it| !found.contains(it)) {
        _ = write!(problems, "\n  not found {it:?}");
    }
    assert!(problems.is_empty(), "{problems}");
    assert_eq!(found.len(), expected.len());
}

fn visit(node: Node<'_>, path: &str, seen: &mut HashMap<NodeId, String>, found: &mut Vec<manifest::Node>) {
    let node = node.target();
    let says = |is: String| manifest::Node { path: path.to_owned(), is };
    let is_collection = node.kind() != Kind::Scalar;
    if is_collection && let Some(first) = seen.get(&node.id()) {
        found.push(says(format!("alias of {first}")));
        return;
    }
    if is_collection {
        seen.insert(node.id(), path.to_owned());
    }
    let below = |key: &str| {
        let key = key.replace('~', "~0").replace('/', "~1");
        if path.is_empty() { key } else { format!("{path}/{key}") }
    };
    match node.kind() {
        Kind::Scalar => found.push(says(scalar(node))),
        Kind::Sequence => {
            found.push(says(collection(node, "seq")));
            for (at, item) in node.items().enumerate() {
                visit(item, &below(&at.to_string()), seen, found);
            }
        }
        Kind::Mapping => {
            found.push(says(collection(node, "map")));
            for (key, value) in node.pairs() {
                visit(value, &below(key.text()), seen, found);
            }
        }
    }
}

fn collection(node: Node<'_>, kind: &str) -> String {
    let usual = format!("tag:yaml.org,2002:{kind}");
    match node.tag().filter(|tag| *tag != usual && *tag != "!") {
        Some(tag) => format!("{tag} {kind}"),
        None => kind.to_owned(),
    }
}

fn scalar(node: Node<'_>) -> String {
    let own = |tag: &&str| !tag.starts_with("tag:yaml.org,2002:") && *tag != "!";
    if let Some(tag) = node.tag().filter(own) {
        return format!("{tag} {}", node.text());
    }
    match node.scalar().expect("a scalar") {
        Scalar::Null => "null".to_owned(),
        Scalar::Bool(value) => format!("bool {value}"),
        Scalar::Int(Int::Small(value)) => format!("int {value}"),
        Scalar::Int(Int::Big(digits)) => format!("int {digits}"),
        Scalar::Float(value) if value.is_nan() => "float nan".to_owned(),
        Scalar::Float(value) => format!("float {:016x}", value.to_bits()),
        Scalar::Text(text) => format!("str {text}"),
        Scalar::Timestamp(time) => format!("timestamp {}", iso(&time)),
        Scalar::Binary(bytes) => {
            bytes.iter().fold("binary ".to_owned(), |text, byte| format!("{text}{byte:02x}"))
        }
        Scalar::Merge => "tag:yaml.org,2002:merge <<".to_owned(),
        Scalar::Default => "tag:yaml.org,2002:value =".to_owned(),
    }
}

/// As Python's `isoformat`.
fn iso(time: &Timestamp) -> String {
    let mut text = format!("{:04}-{:02}-{:02}", time.year, time.month, time.day);
    let Some((hour, minute, second, micros)) = time.time else { return text };
    _ = write!(text, "T{hour:02}:{minute:02}:{second:02}");
    if micros > 0 {
        _ = write!(text, ".{micros:06}");
    }
    if let Some(offset) = time.offset {
        let sign = if offset < 0 { '-' } else { '+' };
        let minutes = offset.abs();
        _ = write!(text, "{sign}{:02}:{:02}", minutes / 60, minutes % 60);
    }
    text
}
