//! Damage to files that are made by hand, and what comes back.
#![allow(clippy::arithmetic_side_effects, reason = "a test")]

use super::*;
use container_codecs::checksum::Algorithm;
use container_core::container::StaleChecksums;

mod encoded_block;
mod find_blocks;
mod header_lines;
mod reports;
mod text_tool;

const HEAD: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n# kept\n";

/// A tree of arrays of i64: name, block, shape.
fn tree(arrays: &[(&str, usize, &str)]) -> String {
    let mut text = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n".to_owned();
    for (name, block, shape) in arrays {
        text.push_str(&format!(
            "{name}: !core/ndarray-1.1.0\n  source: {block}\n  datatype: int64\n  byteorder: little # as here\n  shape: {shape}\n"
        ));
    }
    text.push_str("...\n");
    text
}

fn numbers(count: i64) -> Vec<u8> {
    (0..count).flat_map(|number| (number * 7).to_le_bytes()).collect()
}

fn block(data: &[u8], slack: usize) -> Vec<u8> {
    let mut bytes = b"\xd3BLK\x00\x30\0\0\0\0\0\0\0\0".to_vec();
    for size in [data.len() + slack, data.len(), data.len()] {
        bytes.extend_from_slice(&(size as u64).to_be_bytes());
    }
    bytes.extend_from_slice(Algorithm::Md5.digest(data).as_bytes());
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len() + slack, 0);
    bytes
}

fn index(offsets: &[usize]) -> Vec<u8> {
    let lines: String = offsets.iter().map(|offset| format!("- {offset}\n")).collect();
    format!("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n{lines}...\n").into_bytes()
}

struct Made {
    bytes: Vec<u8>,
    blocks: Vec<usize>,
    index: usize,
}

/// Three blocks of 10, 12 and 4 numbers.
fn file() -> Made {
    let tree = tree(&[("one", 0, "[10]"), ("two", 1, "[3, 4]"), ("three", 2, "[2, 2]")]);
    let mut bytes = [HEAD.as_bytes(), tree.as_bytes(), b"\0\0\0\0"].concat();
    let mut blocks = Vec::new();
    for (count, slack) in [(10, 0), (12, 32), (4, 0)] {
        blocks.push(bytes.len());
        bytes.extend(block(&numbers(count), slack));
    }
    let at = bytes.len();
    bytes.extend(index(&blocks));
    Made { bytes, blocks, index: at }
}

fn repaired_with(bytes: &[u8], digests: StaleChecksums) -> Result<(Vec<u8>, RepairReport)> {
    let mut options = OpenOptions::default();
    options.stale_checksums = digests;
    let input = || Input::bytes(Box::new(bytes.to_vec()));
    let mut out = Vec::new();
    let report = repair_to(input(), &options, Some(&mut out), Progress::none())?;
    let dry = repair_to(input(), &options, None, Progress::none())?;
    assert_eq!(report, dry);
    Ok((out, report))
}

fn repaired(bytes: &[u8]) -> (Vec<u8>, RepairReport) {
    let (out, report) = repaired_with(bytes, StaleChecksums::Keep).unwrap();
    // What is repaired needs no repair.
    let (again, _) = repaired_with(&out, StaleChecksums::Keep).unwrap();
    assert!(again == out, "a second repair changes what the first wrote");
    (out, report)
}

#[test]
fn a_sound_file_is_copied() {
    let made = file();
    let (out, report) = repaired(&made.bytes);
    assert!(out == made.bytes);
    assert!(report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
}

#[test]
fn an_index_is_made_where_it_is_missing_or_wrong() {
    let made = file();
    let blocks = &made.bytes[..made.index];
    let shifted: Vec<usize> = made.blocks.iter().map(|at| at - 3).collect();
    for index in [vec![], index(&shifted), index(&made.blocks[..2]), b"#ASDF BLOCK INDEX\n--- [a".to_vec()] {
        let (out, report) = repaired(&[blocks, &index].concat());
        assert!(out == made.bytes, "{}", String::from_utf8_lossy(&index));
        assert!(report.lost.is_empty(), "{report:?}");
    }
}

/// The sizes of a streamed block may be anything, so nothing proves another size of its header.
#[test]
fn the_header_size_of_a_streamed_block_is_not_made_up() {
    let tree = tree(&[("all", 0, "['*']")]);
    let head = [HEAD.as_bytes(), tree.as_bytes()].concat();
    let mut block = block(&numbers(6), 0);
    block[9] = 1;
    block[14..38].fill(0x21);
    let mut bytes = [&head[..], &block].concat();
    bytes[head.len() + 5] = 0;
    let (_, report) = repaired(&bytes);
    assert!(report.guessed.iter().all(|item| !item.what.contains("header_size")), "{report:?}");
    assert!(!report.lost.is_empty(), "{report:?}");
}

/// A header without a digest that is wrong in one field has the value that the other fields and the next structure leave; one that is wrong
/// in two may have any.
#[test]
fn two_wrong_fields_of_a_header_without_a_digest_stay() {
    let mut made = file();
    for at in &made.blocks {
        made.bytes[at + 38..at + 54].fill(0);
    }
    let at = made.blocks[0];
    for field in [22, 30] {
        let mut damaged = made.bytes.clone();
        damaged[at + field + 7] ^= 0x10;
        let (out, report) = repaired(&damaged);
        assert!(out == made.bytes && report.lost.is_empty(), "{field}: {report:?}");
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{report:?}");
    }
    for fields in [&[14, 22][..], &[22, 30], &[14, 30], &[14, 22, 30]] {
        let mut damaged = made.bytes.clone();
        for (bit, field) in fields.iter().enumerate() {
            damaged[at + field + 7] ^= 0x10 << bit;
        }
        let (_, report) = repaired(&damaged);
        assert!(!report.lost.is_empty(), "{fields:?}: {report:?}");
    }
}

#[test]
fn every_correction_of_a_damaged_fixture_names_its_evidence() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/bad");
    let mut corrected = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok(bytes) = std::fs::read(&path) else { continue };
        let input = Input::bytes(Box::new(bytes));
        let Ok(report) = repair_to(input, &OpenOptions::default(), None, Progress::none()) else { continue };
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{}: {report:?}", path.display());
        corrected += report.guessed.len();
    }
    assert!(corrected > 20, "{corrected}");
}

/// Reports for the arrays of a block that is cut by the end of the file: an axis that runs backwards, within the existing bytes and outside of them,
/// and one that no block would hold.
#[test]
fn negative_strides_and_huge_shapes_of_a_cut_block_are_reported() {
    let array = |name: &str, rest: &str| {
        format!("{name}: !core/ndarray-1.1.0 {{source: 0, datatype: int64, byteorder: little, {rest}}}\n")
    };
    let tree = [
        "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n".to_owned(),
        array("there", "shape: [4], offset: 24, strides: [-8]"),
        array("gone", "shape: [6], offset: 40, strides: [-8]"),
        array("never", "shape: [4294967296, 4294967296]"),
        "...\n".to_owned(),
    ];
    let mut bytes = [HEAD.as_bytes(), tree.concat().as_bytes(), &block(&numbers(6), 0)].concat();
    bytes.truncate(bytes.len() - 12);
    let (out, report) = repaired(&bytes);
    let lost: Vec<&str> = report.lost.iter().map(|item| item.what.as_str()).collect();
    assert!(lost.iter().any(|what| what.starts_with("never: unreadable array")), "{lost:?}");
    assert!(lost.contains(&"gone: all of it, replaced by null"), "{lost:?}");
    assert!(!lost.iter().any(|what| what.starts_with("there")), "{lost:?}");
    assert!(String::from_utf8_lossy(&out).contains("\ngone: null\nnever: "), "{report:?}");
}

/// The start, purpose and length of a block follow from its neighbours and its digest.
#[test]
fn damaged_headers_are_read_as_they_were() {
    let made = file();
    for (number, at) in made.blocks.iter().enumerate() {
        let fields = (0..6).chain(14..38);
        for byte in fields {
            // Another change of each byte in each block.
            let flip = [0x01, 0x80, 0xff][(byte + number) % 3];
            let mut bytes = made.bytes.clone();
            bytes[at + byte] ^= flip;
            let (out, report) = repaired(&bytes);
            assert!(out == made.bytes, "block {number}, byte {byte}, {flip:#x}: {report:?}");
            assert!(!report.guessed.is_empty() && report.lost.is_empty());
        }
        let mut bytes = made.bytes.clone();
        bytes[at + 9] ^= 1;
        let (out, report) = repaired(&bytes);
        assert!(out == made.bytes, "block {number}, streamed: {report:?}");
        // A whole header, of which the index alone knows.
        let mut bytes = made.bytes.clone();
        bytes[*at..at + 54].fill(b'x');
        let (_, report) = repaired(&bytes);
        let lost: Vec<&str> = report.lost.iter().map(|item| &item.what[..]).collect();
        assert!(lost[0].starts_with(&format!("block {number}: listed in the block index")), "{lost:?}");
        assert_eq!(lost.len(), 2, "{lost:?}");
    }
}

#[test]
fn magics_and_header_sizes_are_repaired_without_an_index() {
    let made = file();
    let bytes = &made.bytes[..made.index];
    for (number, at) in made.blocks.iter().enumerate() {
        for byte in 0..6 {
            let mut bytes = bytes.to_vec();
            bytes[at + byte] ^= 0x80;
            let (out, report) = repaired(&bytes);
            assert!(out == made.bytes, "block {number}, byte {byte}: {report:?}");
        }
    }
}

/// More files within a block than are tried as ends of it.
#[test]
fn files_within_a_block_are_its_data() {
    let within = file().bytes.repeat(20);
    let tree = tree(&[("two", 1, "[10]")]);
    let start = [HEAD.as_bytes(), tree.as_bytes()].concat();
    let mut bytes = start.clone();
    let mut blocks = Vec::new();
    for data in [within.clone(), numbers(10), numbers(4)] {
        blocks.push(bytes.len());
        bytes.extend(block(&data, 0));
    }
    let end = bytes.len();
    bytes.extend(index(&blocks));
    // Flags that mean nothing, beside an index that is right.
    let mut flags = bytes.clone();
    flags[blocks[0] + 8] = 0x3F;
    let (out, report) = repaired(&flags);
    assert!(out == flags, "{report:?}");
    // Without an index, and with a size that leads astray.
    let mut astray = bytes[..end].to_vec();
    astray[blocks[1] + 14] ^= 0x40;
    let (out, report) = repaired(&astray);
    assert!(out == bytes, "{report:?}");
}

#[test]
fn data_with_a_checksum_mismatch_is_kept_and_reported() {
    let made = file();
    let mut bytes = made.bytes.clone();
    bytes[made.blocks[1] + 60] ^= 4;
    let (out, report) = repaired(&bytes);
    assert!(out == bytes);
    assert_eq!(report.lost.len(), 1);
    let (out, report) = repaired_with(&bytes, StaleChecksums::Renew).unwrap();
    assert_eq!(report.lost.len(), 1);
    let data = made.blocks[1] + 54;
    assert_eq!(out[data - 16..data], *Algorithm::Md5.digest(&bytes[data..data + 96]).as_bytes());
    assert!(out[data..] == bytes[data..]);
}

/// The digest of no bytes fits the least header as well, and what is then behind it looks like the beginning of a block.
#[test]
fn long_headers_of_empty_blocks_stay_as_they_are() {
    let array = "a: !core/ndarray-1.1.0 {source: 1, datatype: int64, byteorder: little, shape: [99]}\n";
    let tree = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{array}...\n");
    let mut long = block(&[], 0);
    let rest = [b"?".as_slice(), b"\xd3BLK\x00\x30", &[0; 8], &[b'?'; 59]].concat();
    long[4..6].copy_from_slice(&(48_u16 + u16::try_from(rest.len()).unwrap()).to_be_bytes());
    let blocks = [long, rest, block(&numbers(6), 0)].concat();
    let (out, report) = repaired(&[HEAD.as_bytes(), tree.as_bytes(), &blocks].concat());
    assert!(out.windows(blocks.len()).any(|part| part == blocks), "{report:?}");
    assert_eq!(report.guessed.len(), 0, "{report:?}");
}

#[test]
fn bytes_outside_every_structure_are_removed() {
    let made = file();
    let (blocks, index) = made.bytes.split_at(made.index);
    let (out, report) = repaired(&[blocks, b"junk", index, b"more"].concat());
    assert!(out == made.bytes);
    assert!(
        report.guessed.iter().any(|item| item.what.starts_with("bytes after the block index")),
        "{report:?}"
    );
    let at = made.blocks[1];
    let (out, _) = repaired(&[&blocks[..at], b"between", &blocks[at..]].concat());
    assert!(out == made.bytes);
}

#[test]
fn arrays_of_a_cut_block_keep_their_whole_rows() {
    let made = file();
    let start = made.blocks[1] + 54;
    for (have, rows) in [(95, 2), (64, 2), (63, 1), (32, 1), (31, 0), (0, 0)] {
        let (out, report) = repaired(&made.bytes[..start + have]);
        let text = String::from_utf8_lossy(&out).into_owned();
        if rows > 0 {
            assert!(
                text.contains(&format!("byteorder: little # as here\n  shape: [{rows}, 4]\n")),
                "{have}: {text}"
            );
        } else {
            assert!(text.contains("data: []") && text.contains("[0, 4]"), "{have}: {text}");
        }
        // The block behind is gone.
        assert!(text.contains("shape: [0, 2]"), "{have}: {text}");
        let data = out.windows(54).position(|bytes| bytes.starts_with(b"\xd3BLK") && bytes[21] != 80);
        let data = data.unwrap() + 54;
        assert_eq!(out[data..data + have], made.bytes[start..start + have]);
        assert_eq!(out[data - 16..data], *Algorithm::Md5.digest(&out[data..data + have]).as_bytes());
        assert!(report.lost.iter().any(|item| item.what.starts_with("three: ")), "{report:?}");
    }
}

#[test]
fn a_tree_is_kept_as_far_as_it_can_be_read() {
    let made = file();
    let end = made.bytes.windows(4).position(|bytes| bytes == b"...\n").unwrap();
    // Without its dots.
    let (out, report) = repaired(&[&made.bytes[..end], &made.bytes[end + 4..made.index]].concat());
    assert!(report.lost.is_empty(), "{report:?}");
    assert!(out.windows(5).any(|bytes| bytes == b"\n...\n"));
    // Cut in its last array.
    let (out, report) = repaired(&made.bytes[..end - 10]);
    assert!(!report.guessed.is_empty());
    let text = String::from_utf8_lossy(&out).into_owned();
    assert!(text.ends_with("...\n") && text.contains("one: "), "{text}");
    // A bracket that nothing closes, before the last array.
    let at = made.bytes.windows(5).position(|bytes| bytes == b"three").unwrap();
    let (out, report) = repaired(&[&made.bytes[..at], b"x: [1, 2\n", &made.bytes[at..]].concat());
    assert!(report.lost.iter().any(|item| item.what.starts_with("the rest of the tree")), "{report:?}");
    let text = String::from_utf8_lossy(&out).into_owned();
    assert!(text.contains("two: ") && !text.contains("three: "), "{text}");
    assert!(report.kept.iter().any(|item| item.what.contains("block 2, not referenced")), "{report:?}");
    // A byte that is no text.
    let mut bytes = made.bytes.clone();
    bytes[end - 3] = 0xff;
    let (_, report) = repaired(&bytes);
    assert_eq!(report.lost[0].range, Some(end as u64 - 3..end as u64 - 2));
}

/// Every seventh byte: other bytes of the header in each block.
#[test]
fn files_that_are_cut_or_changed_anywhere_are_repaired_or_refused() {
    let made = file();
    for len in (0..made.bytes.len()).step_by(7) {
        if let Ok((out, _)) = repaired_with(&made.bytes[..len], StaleChecksums::Keep) {
            assert!(
                !Layout::parse(&out, &container_core::Limits::default())
                    .is_ok_and(|layout| !layout.is_complete())
            );
        }
    }
    for at in (0..made.bytes.len()).step_by(7) {
        let mut bytes = made.bytes.clone();
        bytes[at] ^= 0x55;
        if let Ok((out, _)) = repaired_with(&bytes, StaleChecksums::Renew) {
            let layout = Layout::parse(&out, &container_core::Limits::default()).unwrap();
            assert!(layout.is_complete(), "byte {at}");
        }
    }
}

#[test]
fn repair_removes_all_stray_bytes_in_one_pass() {
    let tree = format!("{HEAD}{}", tree(&[("one", 0, "[0]")]));
    for bytes in [
        format!("{HEAD}%YAML "),
        format!("{HEAD}%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n"),
        format!("{tree}x"),
        format!("{tree}  \n\0\0junk"),
        format!("{tree}\0junk#ASDF BLOCK INDEX\n%YAML 1.1\n---\n- 5\n...\n"),
        format!("{HEAD}%YAML 1.1\n---\na: 5\n...\n\0junk"),
    ] {
        let (first, report) = repaired(bytes.as_bytes());
        assert!(!report.guessed.is_empty() || !report.lost.is_empty(), "{bytes:?}");
        let (_, second) = repaired_with(&first, StaleChecksums::Keep).unwrap();
        assert!(second.guessed.is_empty(), "{bytes:?}: {second:?}");
    }
}

#[test]
fn block_listed_only_in_the_index_is_the_only_loss() {
    let made = file();
    let (end, lost) = (made.index, made.index as u64..(made.index + 64) as u64);
    let offsets = [&made.blocks[..], &[end]].concat();
    let bytes = [&made.bytes[..end], &[0; 64], &index(&offsets)].concat();
    let (out, report) = repaired(&bytes);
    assert_eq!(out[..end], made.bytes[..end]);
    assert_eq!(report.lost.len(), 1, "{report:?}");
    assert_eq!(report.lost[0].range, Some(lost.clone()));
    assert!(report.guessed.iter().all(|item| !item.what.contains("left out")), "{report:?}");
    for item in &report.kept {
        let range = item.range.clone().unwrap_or(0..0);
        assert!(range.end <= lost.start || range.start >= lost.end, "{report:?}");
    }
}

/// The length in the header is of no use to a decoder, and not covered by the digest.
#[test]
fn the_data_size_of_an_encoded_block_follows_from_its_bytes() {
    let tree = tree(&[("one", 0, "[50]")]);
    let head = [HEAD.as_bytes(), tree.as_bytes()].concat();
    for label in ["zlib", "bzp2", "lz4", "zstd", "blsc"] {
        let mut encoded = Vec::new();
        compression::encode(label, &numbers(50), &Default::default(), &mut encoded).unwrap();
        let mut block = block(&encoded, 0);
        block[10..14].copy_from_slice(&[label.as_bytes(), b"\0"].concat()[..4]);
        block[30..38].copy_from_slice(&400_u64.to_be_bytes());
        let sound = [&head[..], &block, &index(&[head.len()])].concat();
        assert!(repaired(&sound).0 == sound, "{label}");
        for has_digest in [true, false] {
            let mut sound = sound.clone();
            if !has_digest {
                sound[head.len() + 38..head.len() + 54].fill(0);
            }
            for size in [399, 401, 1, 400 | 1 << 40, 1 << 62] {
                let mut damaged = sound.clone();
                damaged[head.len() + 30..head.len() + 38].copy_from_slice(&u64::to_be_bytes(size));
                let (out, report) = repaired(&damaged);
                assert!(out == sound, "{label} {size}: {report:?}");
                assert!(report.lost.is_empty() && report.guessed.len() == 1, "{label} {size}: {report:?}");
            }
        }
    }
}

/// A damaged block that says it holds exabytes is lost, not more than memory.
#[test]
fn block_with_an_impossible_size_leaves_the_other_block_intact() {
    let tree = tree(&[("one", 0, "[10]"), ("two", 1, "[10]")]);
    let head = [HEAD.as_bytes(), tree.as_bytes()].concat();
    let mut odd = block(&numbers(10), 0);
    odd[10..14].copy_from_slice(b"zstd");
    odd[30] = 0x10;
    odd[60] ^= 1;
    let at = [head.len(), head.len() + odd.len()];
    let (out, report) = repaired(&[&head[..], &odd, &block(&numbers(10), 0), &index(&at)].concat());
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    assert_eq!(file.read_block(1, &Default::default()).unwrap()[..], numbers(10));
    assert!(report.lost.iter().any(|item| item.what.contains("block 0")), "{report:?}");
}

#[test]
fn a_header_line_with_wrong_bytes_is_what_all_files_have() {
    let made = file();
    for (place, byte) in [(10, 0x70), (6, b'x'), (7, b','), (0, b'!')] {
        let mut damaged = made.bytes.clone();
        damaged[place] = byte;
        let (out, report) = repaired(&damaged);
        assert!(out == made.bytes, "{report:?}");
        assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{report:?}");
    }
    // Another version is another format, and other text is no header.
    let mut newer = made.bytes.clone();
    newer[6] = b'2';
    let mut other = made.bytes;
    other[..3].copy_from_slice(b"no ");
    for bytes in [newer, other] {
        assert!(repaired_with(&bytes, StaleChecksums::Keep).is_err());
    }
}

#[test]
fn the_directive_of_the_version_comes_first() {
    let made = file();
    let text = |from: &str, to: &str| {
        let at = made.bytes.windows(from.len()).position(|part| part == from.as_bytes()).unwrap();
        [&made.bytes[..at], to.as_bytes(), &made.bytes[at + from.len()..]].concat()
    };
    let (yaml, tag) = ("%YAML 1.1\n", "%TAG ! tag:stsci.edu:asdf/\n");
    let missing = text(yaml, "");
    let behind = text(&[yaml, tag].concat(), &[tag, yaml].concat());
    // One of another name is none.
    let (out, _) = repaired(&text(yaml, "%YAML= 1.1\n"));
    assert!(out.windows(11).any(|part| part == b"\n%YAML 1.1\n".as_slice()));
    for damaged in [missing, behind] {
        let layout = Layout::parse(&damaged, &container_core::Limits::default()).unwrap();
        assert!(layout.faults.iter().any(|fault| fault.kind() == FaultKind::NoYamlDirective));
        let (out, report) = repaired(&damaged);
        assert!(out == made.bytes, "{report:?}");
    }
}

/// A file that ends where a block does says nothing of those behind; the tree does. An array that could do without elements could not be read either.
#[test]
fn empty_arrays_of_missing_blocks_are_reported() {
    let tree = tree(&[("one", 0, "[50]"), ("none", 1, "[0]")]);
    let head = [HEAD.as_bytes(), tree.as_bytes(), &block(&numbers(50), 0)].concat();
    let (out, report) = repaired(&head);
    assert!(report.lost.iter().any(|item| item.what.starts_with("none: missing block 1")), "{report:?}");
    assert!(report.lost.len() == 1 && out.starts_with(&head), "{report:?}");
    let streamed = tree.replace("[0]", "['*']");
    let (_, report) = repaired(&[HEAD.as_bytes(), streamed.as_bytes(), &block(&numbers(50), 0)].concat());
    assert_eq!(report.lost.len(), 1, "{report:?}");
}

/// After a system crash, bytes that were not written are zeros.
#[test]
fn a_tree_that_goes_over_into_zeros_is_as_one_that_is_cut() {
    let Made { bytes, .. } = file();
    let tree_end = bytes.windows(5).position(|part| part == b"\n...\n").unwrap();
    for cut in [tree_end - 30, tree_end - 1] {
        let mut zeros = bytes[..cut].to_vec();
        zeros.resize(bytes.len(), 0);
        let (_, report) = repaired(&zeros);
        assert!(
            report.lost.iter().any(|item| item.what.contains("ends within the tree")),
            "{cut}: {report:?}"
        );
    }
}

/// Python asdf refuses what is no comment between header and tree.
#[test]
fn tree_without_its_first_lines_is_removed_and_reported() {
    for rest in [&[][..], &block(&numbers(50), 0)] {
        let bytes = [HEAD.as_bytes(), b"one: 1\ntwo: [1, 2]\n...\n", rest].concat();
        let (out, report) = repaired(&bytes);
        assert!(report.lost.len() == 1 && report.lost[0].what.starts_with("the tree: "), "{report:?}");
        assert_eq!(report.lost[0].range, Some(HEAD.len() as u64..HEAD.len() as u64 + 23));
        assert!(out.starts_with(&[HEAD.as_bytes(), rest].concat()));
    }
}

/// Repaired into another folder, such a file finds none of them.
#[test]
fn files_with_the_arrays_of_an_exploded_set_are_named() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/asdf/ok/exploded/set.asdf");
    let bytes = std::fs::read(path).unwrap();
    let (out, report) = repaired(&bytes);
    assert!(out == bytes && report.lost.is_empty(), "{report:?}");
    let told = report.kept.iter().find(|item| item.what.starts_with("arrays in other files, "));
    assert!(told.is_some_and(|item| item.what.contains("set0000.asdf")), "{report:?}");
}

/// Bytes that are no value of their type stay, as nobody has others; a file with them is damaged before and after.
#[test]
fn invalid_elements_are_reported_as_lost() {
    for (datatype, shape, data, told) in
        [("bool8", 4, &[0_u8, 1, 4, 0][..], "the byte 4"), ("[ucs4, 1]", 1, &[0, 0, 0x11, 0], "0x110000")]
    {
        let tree = format!(
            "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\na: !core/ndarray-1.1.0 {{source: 0, datatype: {datatype}, byteorder: little, shape: [{shape}]}}\n...\n"
        );
        let bytes = [b"#ASDF 1.0.0\n", tree.as_bytes(), &block(data, 0)].concat();
        let (_, report) = repaired(&bytes);
        let lost: Vec<&str> = report.lost.iter().map(|item| &*item.what).collect();
        assert!(matches!(lost[..], [only] if only.starts_with("a: ") && only.contains(told)), "{lost:?}");
    }
}
