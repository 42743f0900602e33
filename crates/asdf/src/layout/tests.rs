//! Files assembled by hand, after the tables of docs/formats/asdf.md.

use super::*;
use container_core::ErrorKind;

const HEAD: &str = "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n";
const TREE: &str = "%YAML 1.1\n--- {}\n...\n";

/// A block with `data`, and room for `slack` bytes more.
fn block(data: &[u8], slack: usize) -> Vec<u8> {
    let used = data.len() as u64;
    let header = BlockHeaderFields { flags: 0, allocated: used + slack as u64, used, data: used };
    let mut bytes = header.bytes();
    bytes.extend_from_slice(data);
    bytes.resize(bytes.len() + slack, 0);
    bytes
}

struct BlockHeaderFields {
    flags: u32,
    allocated: u64,
    used: u64,
    data: u64,
}

impl BlockHeaderFields {
    fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"\xd3BLK\x00\x30".to_vec();
        bytes.extend_from_slice(&self.flags.to_be_bytes());
        bytes.extend_from_slice(&[0; 4]);
        for size in [self.allocated, self.used, self.data] {
            bytes.extend_from_slice(&size.to_be_bytes());
        }
        bytes.extend_from_slice(&[0; 16]);
        bytes
    }
}

fn file(parts: &[&[u8]]) -> Vec<u8> {
    parts.concat()
}

fn index(offsets: &[usize]) -> Vec<u8> {
    let lines: String = offsets.iter().map(|offset| format!("- {offset}\n")).collect();
    format!("#ASDF BLOCK INDEX\n%YAML 1.1\n---\n{lines}...\n").into_bytes()
}

fn parse(bytes: &[u8]) -> Layout {
    let layout = Layout::parse(&bytes, &Limits::default()).unwrap();
    check_tiles(&layout);
    layout
}

/// The parts follow one another without gaps or overlaps.
fn check_tiles(layout: &Layout) {
    let mut ranges = vec![
        layout.header.line.clone(),
        layout.header.comments.clone(),
        layout.before_tree.clone(),
        layout.padding.clone(),
        layout.trailing.clone(),
    ];
    ranges.extend(layout.tree.clone());
    ranges.extend(layout.index.clone());
    ranges.extend(layout.blocks.iter().map(|block| block.at..block.end));
    ranges.extend(layout.gaps.iter().map(|gap| gap.range.clone()));
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut at = 0;
    for range in &ranges {
        assert_eq!(range.start, at, "{ranges:?}");
        at = range.end;
    }
    assert_eq!(at, layout.size, "{ranges:?}");
}

fn codes(layout: &Layout) -> Vec<&'static str> {
    layout.faults.iter().map(Fault::code).collect()
}

#[test]
fn blocks_are_found_by_walking_and_the_index_is_proved() {
    let (first, second) = (block(&[1; 5], 3), block(&[2; 4], 0));
    let at = HEAD.len() + TREE.len() + 7;
    let list = index(&[at, at + first.len()]);
    let bytes = file(&[HEAD.as_bytes(), TREE.as_bytes(), b"padding", &first, &second, &list, b"\0\0\0"]);
    let layout = parse(&bytes);
    assert_eq!(codes(&layout), [""; 0]);
    assert_eq!(layout.index_state, IndexState::Valid);
    assert_eq!(layout.tree, Some(HEAD.len() as u64..(HEAD.len() + TREE.len()) as u64));
    assert_eq!(layout.offsets(), [at as u64, (at + first.len()) as u64]);
    let data: Vec<Range<u64>> = layout.blocks.iter().map(|block| block.data.clone()).collect();
    let start = at as u64 + 54;
    assert_eq!(data, [start..start + 5, start + 8 + 54..start + 8 + 54 + 4]);
    assert_eq!(layout.trailing, bytes.len() as u64 - 3..bytes.len() as u64);
    assert!(layout.is_complete());
}

#[test]
fn a_file_within_a_block_is_not_looked_at() {
    let inner = file(&[HEAD.as_bytes(), TREE.as_bytes(), &block(&[1; 9], 0), &index(&[54])]);
    let outer = block(&inner, 0);
    let at = HEAD.len() + TREE.len();
    let bytes = file(&[HEAD.as_bytes(), TREE.as_bytes(), &outer, &index(&[at])]);
    let layout = parse(&bytes);
    assert_eq!((layout.blocks.len(), layout.index_state), (1, IndexState::Valid));
    // The same without an index of its own: that of the inner file is not taken.
    let layout = parse(&bytes[..at + outer.len()]);
    assert_eq!((layout.index_state, codes(&layout)), (IndexState::Absent, vec!["no_index"]));
}

#[test]
fn block_index_that_contradicts_the_blocks_is_invalid() {
    let one = block(&[1; 5], 0);
    let at = HEAD.len() + TREE.len();
    for (list, why) in [
        (index(&[at - 1]), "entry 0 is"),
        (index(&[at, at]), "entry 1 differs: 2 are listed"),
        (index(&[]), "0 are listed (expected 1, one for each block)"),
        (b"#ASDF BLOCK INDEX\n--- [a]\n...\n".to_vec(), "not a list of offsets"),
    ] {
        let layout = parse(&file(&[HEAD.as_bytes(), TREE.as_bytes(), &one, &list]));
        assert_eq!(layout.index_state, IndexState::Invalid, "{why}");
        assert_eq!(layout.offsets(), [at as u64]);
        assert!(layout.faults[0].message().contains(why), "{}", layout.faults[0].message());
    }
    let layout = parse(&file(&[HEAD.as_bytes(), TREE.as_bytes(), &one, b"junk", &index(&[at])]));
    assert_eq!((layout.index_state, codes(&layout)), (IndexState::Invalid, vec!["junk_after_blocks"]));
    let layout = parse(&file(&[HEAD.as_bytes(), TREE.as_bytes(), &one, &index(&[at]), b"\0x"]));
    assert_eq!((layout.index_state, codes(&layout)), (IndexState::Valid, vec!["junk_after_index"]));
}

#[test]
fn trees_end_at_their_dots_and_nowhere_else() {
    let tree = |text: &str| {
        let layout = parse(format!("{HEAD}{text}").as_bytes());
        let tree = layout.tree.clone().map(|tree| tree.end - HEAD.len() as u64);
        (tree, codes(&layout))
    };
    assert_eq!(tree("%YAML 1.1\n---\na: |\n  ...\nb: x...\n...\n\0\0"), (Some(37), vec![]));
    assert_eq!(tree("%YAML 1.1\r\n---\r\na: 1\r\n...\r\n"), (Some(27), vec![]));
    assert_eq!(tree("%YAML 1.1\n--- 1\n..."), (Some(19), vec![]));
    assert_eq!(tree("%YAML 1.1\n--- 1\n...x\n...\n"), (Some(25), vec![]));
    assert_eq!(tree("%YAML 1.1\n--- 1\n... \n"), (Some(21), vec!["tree_end_blanks"]));
    assert_eq!(tree("%YAML 1.1\n--- 1\n"), (Some(16), vec!["tree_unterminated"]));
    assert_eq!(tree("%YAML 1.1\n--- 1\n\0\0"), (Some(16), vec!["tree_unterminated"]));
    assert_eq!(tree("--- 1\n...\n"), (Some(10), vec!["no_yaml_directive"]));
    assert_eq!(tree("\n  %YAML 1.1\n--- 1\n...\n"), (Some(23), vec!["blank_before_tree"]));
    assert_eq!(tree(""), (None, vec![]));
    assert_eq!(tree("a: 1\n"), (None, vec!["junk_before_tree"]));
    assert_eq!(
        tree("%YAML 1.1\n--- 1\n...\n#ASDF BLOCK INDEX\n%YAML 1.1\n--- []\n...\n").1,
        ["index_forbidden"]
    );
}

/// Dots across two of the pieces in which the tree is read.
#[test]
fn long_trees_end_at_their_dots() {
    for len in (1 << 18) - 40..(1 << 18) + 10 {
        let text = format!("{HEAD}%YAML 1.1\n--- {}\n...\nrest", "a".repeat(len));
        let layout = parse(text.as_bytes());
        assert_eq!(layout.tree.clone().map(|tree| tree.end), Some(text.len() as u64 - 4), "{len}");
    }
}

#[test]
fn a_tree_without_end_stops_at_the_first_block() {
    let layout = parse(&file(&[HEAD.as_bytes(), b"%YAML 1.1\n--- 1\n", &block(&[1], 0)]));
    assert_eq!(codes(&layout), ["tree_unterminated", "no_index"]);
    assert_eq!(layout.blocks.len(), 1);
    assert!(!layout.is_complete());
}

#[test]
fn files_without_a_tree_have_blocks() {
    let one = block(&[1], 0);
    let layout = parse(&file(&[HEAD.as_bytes(), &one, &index(&[HEAD.len()])]));
    assert_eq!((layout.tree.clone(), codes(&layout)), (None, vec![]));
    let layout = parse(&file(&[HEAD.as_bytes(), b"\0\0", &one]));
    assert_eq!(codes(&layout), ["padding_without_tree", "no_index"]);
}

#[test]
fn the_last_block_may_be_streamed() {
    let header = BlockHeaderFields { flags: 1, allocated: 0, used: 0, data: 0 }.bytes();
    let inner = block(&[3], 0);
    let bytes = file(&[HEAD.as_bytes(), TREE.as_bytes(), &block(&[1], 0), &header, b"rows", &inner]);
    let layout = parse(&bytes);
    assert_eq!(codes(&layout), [""; 0]);
    assert_eq!((layout.blocks.len(), layout.blocks[1].data_size()), (2, 4 + inner.len() as u64));
    let mut compressed = bytes.clone();
    let at = HEAD.len() + TREE.len() + 55 + 10;
    compressed[at..at + 4].copy_from_slice(b"zlib");
    assert_eq!(codes(&parse(&compressed)), ["streamed_compressed"]);
}

#[test]
fn sizes_that_contradict_are_faults() {
    let with = |header: BlockHeaderFields| {
        parse(&file(&[
            HEAD.as_bytes(),
            TREE.as_bytes(),
            &header.bytes(),
            &[7; 10],
            &index(&[HEAD.len() + TREE.len()]),
        ]))
    };
    let layout = with(BlockHeaderFields { flags: 0, allocated: 10, used: 12, data: 12 });
    assert_eq!(codes(&layout), ["used_over_allocated"]);
    let layout = with(BlockHeaderFields { flags: 6, allocated: 10, used: 10, data: 9 });
    assert_eq!(codes(&layout), ["block_flags", "plain_sizes"]);
    for allocated in [1 << 63, u64::MAX, 10_000] {
        let layout = with(BlockHeaderFields { flags: 0, allocated, used: allocated, data: allocated });
        assert_eq!(codes(&layout), ["truncated", "no_index"]);
        assert!(!layout.blocks[0].is_whole());
        assert_eq!(layout.blocks[0].end, layout.size);
    }
}

#[test]
fn blocks_behind_damage_are_found_again() {
    let one = block(&[1; 30], 0);
    let mut bad = block(&[2; 30], 0);
    bad[5] = 47;
    let at = HEAD.len() + TREE.len();
    let bytes = file(&[HEAD.as_bytes(), TREE.as_bytes(), &one, &bad, &one, b"between", &one, b"behind"]);
    let layout = parse(&bytes);
    let places: Vec<u64> = [0, 2 * one.len(), 3 * one.len() + 7].iter().map(|by| (at + by) as u64).collect();
    assert_eq!(layout.offsets(), places);
    assert_eq!(codes(&layout), ["block_header", "gap", "junk_after_blocks", "no_index"]);
}

#[test]
fn every_truncation_after_the_header_parses() {
    let (first, second) = (block(&[1; 5], 3), block(&[2; 4], 0));
    let at = HEAD.len() + TREE.len();
    let list = index(&[at, at + first.len()]);
    let bytes = file(&[HEAD.as_bytes(), TREE.as_bytes(), &first, &second, &list]);
    for len in 0..bytes.len() {
        match Layout::parse(&&bytes[..len], &Limits::default()) {
            Err(error) => {
                assert!(
                    len < HEAD.len() && matches!(error.kind(), ErrorKind::WrongFormat { .. }),
                    "{len}: {error}"
                );
            }
            Ok(layout) => check_tiles(&layout),
        }
    }
}

#[test]
fn more_blocks_than_memory_are_refused() {
    let bytes = file(&[HEAD.as_bytes(), &block(&[], 0).repeat(1000)]);
    let kind = |memory| {
        Layout::parse(&&bytes[..], &Limits::default().with_memory(memory))
            .map_err(container_core::Error::into_kind)
    };
    assert!(matches!(kind(10_000), Err(ErrorKind::Limit { .. })));
    assert_eq!(kind(1 << 20).unwrap().blocks.len(), 1000);
}

/// A block whose header is gone is in the index alone, and the blocks after it have other numbers than in the tree.
#[test]
fn a_block_that_only_the_index_lists_is_missing() {
    let (front, len) = (b"#ASDF 1.0.0\n%YAML 1.1\n--- {}\n...\n", block(&[1; 4], 0).len());
    let at: [usize; 4] = std::array::from_fn(|number| front.len() + number * len);
    let bytes = |offsets: &[usize], lost: &[usize]| {
        let mut bytes = file(&[front, &block(&[1; 4], 0), &block(&[2; 4], 0), &block(&[3; 4], 0)]);
        lost.iter().for_each(|number| bytes[at[*number]..at[number + 1]].fill(0));
        bytes.extend(index(offsets));
        bytes
    };
    let missing = |bytes: Vec<u8>| -> Vec<(u64, Option<u64>)> {
        let layout = parse(&bytes);
        let faults = layout.faults.iter().filter(|fault| fault.kind() == FaultKind::BlockMissing);
        faults.map(|fault| (fault.range().start, fault.index())).collect()
    };
    for number in 0..3 {
        assert_eq!(missing(bytes(&at[..3], &[number])), [(at[number] as u64, Some(number as u64))]);
    }
    assert_eq!(missing(bytes(&at[..3], &[0, 1])).len(), 2);
    // An index from before an edit by hand, of places within blocks, in no order, or beyond the blocks proves no missing block.
    assert_eq!(missing(bytes(&at[..3], &[])), []);
    assert_eq!(missing(bytes(&at[..2], &[2])), []);
    assert_eq!(missing(bytes(&[at[0], at[0] + 54, at[1], at[2]], &[])), []);
    assert_eq!(missing(bytes(&[at[1], at[0], at[2]], &[2])), []);
    assert_eq!(missing(bytes(&[at[0], at[1], at[2], at[3]], &[])), []);
    assert_eq!(missing(bytes(&[0, at[1], at[2]], &[0])), []);
}

/// The specification has no index after a streamed block (file layout, "Block index"). Other writers append one nevertheless.
#[test]
fn index_after_a_streamed_block_is_excluded_from_its_data() {
    let streamed = BlockHeaderFields { flags: 1, allocated: 0, used: 0, data: 0 }.bytes();
    let first = HEAD.len() + TREE.len();
    let second = first + 54 + 3;
    let with =
        |tail: &[u8]| file(&[HEAD.as_bytes(), TREE.as_bytes(), &block(b"abc", 0), &streamed, b"rows", tail]);
    let end = (second + 54 + 4) as u64;
    for offsets in [&[first, second][..], &[first]] {
        for nuls in [&b""[..], &[0; 9]] {
            let bytes = with(&[&index(offsets), nuls].concat());
            let layout = parse(&bytes);
            let index_end = bytes.len() - nuls.len();
            assert_eq!((layout.blocks[1].data.end, layout.blocks[1].end), (end, end));
            assert_eq!(layout.index, Some(end..index_end as u64));
            assert_eq!(layout.index_state, IndexState::Invalid);
            let forbidden = layout.faults.iter().filter(|fault| fault.kind() == FaultKind::IndexForbidden);
            assert_eq!(forbidden.count(), 1, "{:?}", layout.faults);
        }
    }
    // An index that lists other blocks, or does not end the file, may be that of a file among the rows.
    let others = [
        (index(&[second]), 0),
        (index(&[first, second, second + 58]), 0),
        (index(&[first, second + 1]), 0),
        (index(&[first + 7, second + 7]), 1),
        ([&index(&[first, second])[..], b"more"].concat(), 0),
    ];
    for (tail, told) in others {
        let bytes = with(&tail);
        let layout = parse(&bytes);
        assert_eq!((layout.blocks[1].end, &layout.index), (bytes.len() as u64, &None));
        let kinds: Vec<FaultKind> = layout.faults.iter().map(Fault::kind).collect();
        assert_eq!(kinds, vec![FaultKind::IndexForbidden; told]);
    }
}

/// The header is read in pieces that grow, and a line may end with a piece or go on in the next.
#[test]
fn comments_of_any_length_are_before_the_tree() {
    for len in [4094_usize, 4095, 4096, 4097, 8200, 32_767, 32_768, 32_769, 300_000] {
        for lines in [1, 2, 7] {
            let mut comments = b"#".repeat(len - 12);
            (1..=lines).for_each(|line| comments[(len - 12) * line / lines - 1] = b'\n');
            let bytes = file(&[b"#ASDF 1.0.0\n", &comments, b"# more\n", TREE.as_bytes()]);
            let layout = parse(&bytes);
            assert_eq!(layout.header.comments, 12..len as u64 + 7, "{len} {lines}");
            assert_eq!(layout.tree, Some(len as u64 + 7..bytes.len() as u64), "{len} {lines}");
        }
    }
}

/// A source on another machine, with the ranges that were announced.
struct Far(Vec<u8>, std::sync::Mutex<Vec<Range<u64>>>);

impl Source for Far {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
    fn is_far(&self) -> bool {
        true
    }
    fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
        self.1.lock().unwrap().extend_from_slice(ranges);
        Ok(ranges.len())
    }
}

/// Of each block that the index lists, the 54 bytes of its header.
#[test]
fn headers_of_a_far_file_are_announced_by_its_index() {
    let at = HEAD.len() + TREE.len();
    let blocks = [block(&[1; 100], 0), block(&[2; 200], 8), block(&[3; 70_000], 0)];
    let starts = [at, at + 154, at + 154 + 262];
    let begin = file(&[HEAD.as_bytes(), TREE.as_bytes(), &blocks.concat()]);
    let announced = |list: &[u8]| {
        let far = Far(file(&[&begin, list]), std::sync::Mutex::default());
        let layout = Layout::parse(&far, &Limits::default()).unwrap();
        assert_eq!(layout.offsets(), starts.map(|start| start as u64));
        // Beside the end of the file, where the index is.
        let mut headers = far.1.into_inner().unwrap();
        headers.retain(|range| range.end - range.start == 54);
        headers.sort_by_key(|range| range.start);
        headers.dedup();
        headers
    };
    let headers = |starts: &[usize]| -> Vec<Range<u64>> {
        starts.iter().map(|start| *start as u64..*start as u64 + 54).collect()
    };
    assert_eq!(announced(&index(&starts)), headers(&starts));
    assert_eq!(announced(&file(&[&index(&starts), b"\0\0\0"])), headers(&starts));
    // The first is read to find the second, which comes in one round with the end of the file.
    assert_eq!(announced(b""), headers(&starts[1..2]));
    // What it lists is read only where it is true.
    assert_eq!(announced(&index(&[7, starts[1]])), headers(&[7, starts[1]]));
}
