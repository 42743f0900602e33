//! Blocks that are found by their checksums alone, and the bytes between them that are left out.

use super::*;
use crate::container::FORMAT;
use container_core::container::{CheckDepth, ReadOptions};
use container_core::report::Verdict;

/// Whether `verify` finds no damage.
fn is_sound(bytes: &[u8]) -> bool {
    let container = (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &OpenOptions::default()).unwrap();
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    report.verdict() == Verdict::Sound
}

/// A file of one block, and where that begins.
fn single() -> (Vec<u8>, usize) {
    let head = [HEAD.as_bytes(), tree(&[("one", 0, "[10]")]).as_bytes()].concat();
    ([&head[..], &block(&numbers(10), 0), &index(&[head.len()])].concat(), head.len())
}

/// Nothing else has a magic to walk from.
#[test]
fn the_only_block_of_a_file_without_an_index_is_found_without_its_magic() {
    let (sound, at) = single();
    let end = at + 54 + 80;
    for magic in [*b"\xd3BLJ", *b"\xd2BLK", [0; 4], *b"junk"] {
        for padding in [&b""[..], b"\0\0\0\0\0\0\0", b"  \n"] {
            let sound = [&sound[..at], padding, &sound[at..end], &index(&[at + padding.len()])].concat();
            let mut damaged = sound[..end + padding.len()].to_vec();
            damaged[at + padding.len()..][..4].copy_from_slice(&magic);
            let (out, report) = repaired(&damaged);
            assert!(out == sound && report.lost.is_empty(), "{magic:?} {padding:?}: {report:?}");
        }
    }
}

/// Blocks that are looked for by their magics have one before them whose magic is gone: the next repair would take it up.
#[test]
fn block_without_magic_is_restored_before_blocks_found_by_magic() {
    let head = [HEAD.as_bytes(), b"%YAML 1.1\n---\na: 1\n...\n"].concat();
    let mut first = block(&numbers(3), 0);
    first[..4].copy_from_slice(b"-\xbd\xb3\xb4");
    let mut second = block(&numbers(12), 0);
    second[16..24].fill(0x24);
    let bytes = [&head[..], &first, &second, &block(&numbers(5), 0)].concat();
    let (out, report) = repaired(&bytes);
    assert!(out[head.len()..].starts_with(b"\xd3BLK"), "{report:?}");
    assert_eq!(Layout::parse(&out, &container_core::Limits::default()).unwrap().blocks.len(), 3);
}

/// Bytes after a block whose sizes are wiped belong to it if its digest proves it.
#[test]
fn block_sizes_are_recovered_from_the_digest() {
    let made = file();
    for bytes in [&made.bytes[..], &made.bytes[..made.index]] {
        // The second has bytes set aside, of which nothing tells.
        for at in [made.blocks[0], made.blocks[2]] {
            for (from, to) in [(14, 38), (0, 4)] {
                let mut damaged = bytes.to_vec();
                damaged[at + from..at + to].fill(0);
                let (out, report) = repaired(&damaged);
                assert!(out == made.bytes && report.lost.is_empty(), "{at} {from}: {report:?}");
            }
        }
    }
}

/// An index is no data, and neither is what stands behind the blocks where none is missing.
#[test]
fn losses_are_limited_to_damage_that_verify_reports() {
    let made = file();
    let (blocks, index) = made.bytes.split_at(made.index);
    let mut marker = index.to_vec();
    marker[3] ^= 1;
    let mut backwards = index.to_vec();
    backwards.reverse();
    let between = {
        let (first, rest) = blocks.split_at(made.blocks[1]);
        let moved: Vec<usize> =
            made.blocks.iter().map(|at| if *at < made.blocks[1] { *at } else { at + 4 }).collect();
        [first, b"junk", rest, &super::index(&moved)].concat()
    };
    for bytes in [
        [blocks, &marker].concat(),
        [blocks, &backwards].concat(),
        [blocks, &index[..10]].concat(),
        [blocks, b"junk"].concat(),
        [blocks, b"junk", index].concat(),
        [blocks, b"\0\0junk", index, b"more"].concat(),
        between,
    ] {
        let (out, report) = repaired(&bytes);
        assert!(out == made.bytes, "{report:?}");
        assert!(is_sound(&bytes) && report.lost.is_empty(), "{report:?}");
        let left = report.guessed.iter().filter(|item| item.what.contains("left out")).count();
        assert!(left >= 1, "{report:?}");
    }
    // Arrays behind bytes that may have been a block are other arrays, perhaps.
    let at = made.blocks[1];
    let doubtful = [&blocks[..at], b"between", &blocks[at..]].concat();
    let (_, report) = repaired(&doubtful);
    assert!(!is_sound(&doubtful) && report.lost.len() == 1, "{report:?}");
}

/// Arrays that nobody knows of may have been in what is left out.
#[test]
fn bytes_behind_the_blocks_of_a_lost_tree_are_lost() {
    let made = file();
    let mut damaged = [&made.bytes[..made.index], b"junk"].concat();
    let at = damaged.windows(5).position(|part| part == b"three").unwrap();
    damaged[at] = b'[';
    let (_, report) = repaired(&damaged);
    let lost = report.lost.iter().filter(|item| item.what.starts_with("4 bytes outside every block")).count();
    assert_eq!(lost, 1, "{report:?}");
}

/// Without the rest of its header a block may seem to be streamed, and would take the others for its data.
#[test]
fn a_header_of_other_bytes_takes_up_no_blocks() {
    let made = file();
    let at = made.blocks[0];
    let mut damaged = made.bytes[..made.index].to_vec();
    damaged[at + 6..at + 54].fill(b'q');
    let (out, report) = repaired(&damaged);
    let file = crate::File::from_bytes(out, crate::OpenOptions::default()).unwrap();
    assert_eq!(file.read_block(1, &Default::default()).unwrap()[..], numbers(12), "{report:?}");
    assert_eq!(file.read_block(2, &Default::default()).unwrap()[..], numbers(4), "{report:?}");
}

#[test]
fn a_file_that_ends_within_its_tree_has_lost_what_stood_behind() {
    let made = file();
    let end = made.bytes.windows(4).position(|bytes| bytes == b"...\n").unwrap();
    let one = made.bytes.windows(3).position(|bytes| bytes == b"one").unwrap();
    for cut in [one, end, end + 1] {
        let (out, report) = repaired(&made.bytes[..cut]);
        let lost =
            report.lost.iter().filter(|item| item.what.ends_with("the file ends within the tree")).count();
        assert_eq!(lost, 1, "{cut}: {report:?}");
        assert!(!is_sound(&made.bytes[..cut]));
        assert!(repaired(&out).1.lost.len() < report.lost.len());
    }
    // Only the line is gone.
    let (out, report) = repaired(&[&made.bytes[..end], &made.bytes[end + 4..]].concat());
    assert!(report.lost.is_empty() && is_sound(&out), "{report:?}");
}

/// Copied without its block, it would bring the array that it was along, whose elements are gone.
#[test]
fn an_array_within_itself_stays_as_it_is() {
    let text = tree(&[("one", 0, "[10]"), ("two", 1, "[3]")]);
    let text = text.replace("one: !", "one: &a !").replace("  shape: [10]\n", "  shape: [10]\n  own: [*a]\n");
    let sound = [HEAD.as_bytes(), text.as_bytes(), &block(&numbers(10), 0), &block(&numbers(3), 0)].concat();
    let (out, report) = repaired(&sound[..HEAD.len() + text.len() + 54 + 7]);
    let mended = String::from_utf8_lossy(&out).into_owned();
    assert!(mended.contains("shape: [10]\n  own: [*a]\n") && mended.contains("shape: [0]"), "{mended}");
    let is_told = |text: &str| report.lost.iter().any(|item| item.what.starts_with(text));
    assert!(is_told("one: all of 10 rows; the tree contains a different value"), "{report:?}");
    assert!(is_told("two: all of 3 rows") && report.lost.len() == 3, "{report:?}");
}

/// The copy without a block is one of what is within it now, not of what was.
#[test]
fn arrays_within_an_array_lose_their_rows_with_it() {
    let inner = "{source: 1, datatype: int64, byteorder: little, shape: [3]}";
    for key in ["own", "mask"] {
        let text = tree(&[("one", 0, "[10]"), ("two", 1, "[3]")]);
        let text = text.replace("[10]\n", &format!("[10]\n  {key}: !core/ndarray-1.1.0 {inner}\n"));
        let sound =
            [HEAD.as_bytes(), text.as_bytes(), &block(&numbers(10), 0), &block(&numbers(3), 0)].concat();
        let (out, report) = repaired(&sound[..HEAD.len() + text.len() + 54 + 7]);
        let mended = String::from_utf8_lossy(&out).into_owned();
        assert!(!mended.contains("[3]") && !mended.contains("[10]"), "{mended}");
        assert_eq!(mended.matches("shape: [0]").count(), if key == "own" { 3 } else { 2 }, "{mended}");
        let inner = format!("one/{key}: all of 3 rows");
        assert!(report.lost.iter().any(|item| item.what == inner), "{report:?}");
    }
}
