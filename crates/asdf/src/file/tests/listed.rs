//! Far files that are opened by their index: values are those of the walk from header to header, whatever the index lists.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use crate::blocks::index::{BlockIndex, MARKER};

/// A far source that counts reads.
#[derive(Clone)]
struct Far(Arc<Vec<u8>>, Arc<AtomicU64>);

impl Source for Far {
    fn len(&self) -> u64 {
        Source::len(&*self.0)
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.fetch_add(1, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
    fn is_far(&self) -> bool {
        true
    }
}

/// A file of these blocks with an array of 100 bytes for each of `numbers`, and an index of the offsets that `list` makes of the right ones.
fn indexed(numbers: &[i64], blocks: &[Vec<u8>], list: impl FnOnce(&mut Vec<u64>)) -> Vec<u8> {
    let tree: String = numbers
        .iter()
        .enumerate()
        .map(|(at, number)| {
            format!("a{at}: !core/ndarray-1.0.0 {{source: {number}, datatype: uint8, byteorder: little, shape: [100]}}\n")
        })
        .collect();
    let mut file = bytes(&tree, &[]);
    let mut offsets = Vec::new();
    for block in blocks {
        offsets.push(file.len() as u64);
        file.extend(block);
    }
    list(&mut offsets);
    file.extend(BlockIndex { offsets }.to_text().bytes());
    file
}

/// Blocks of 100 bytes that are all different.
fn hundreds(count: u8) -> Vec<Vec<u8>> {
    (0..count).map(|value| plain(&[value + 1; 100])).collect()
}

fn far(bytes: &[u8]) -> File {
    let source = Far(Arc::new(bytes.to_vec()), Arc::default());
    File::from_source(Box::new(source), None, OpenOptions::default()).unwrap()
}

/// Values of each array; `None` for one that cannot be read.
fn values(file: &File) -> Vec<Option<Vec<u8>>> {
    (0..file.arrays().len()).map(|index| value(file, index)).collect()
}

fn value(file: &File, index: usize) -> Option<Vec<u8>> {
    let region = file.whole(index).ok()?;
    let array = file.read_index(index, &region, &ReadOptions::default()).ok()?;
    Some(array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
}

/// Asserts that each array of the far file, read first in a file of its own and then with all others, is that of the near file.
fn same_as_near(bytes: &[u8], what: &str) {
    let near = File::from_bytes(bytes.to_vec(), OpenOptions::default()).unwrap();
    let expected = values(&near);
    assert_eq!(values(&far(bytes)), expected, "{what}");
    for (index, expected) in expected.iter().enumerate() {
        assert_eq!(&value(&far(bytes), index), expected, "{what}: array {index}");
    }
    let walked = far(bytes);
    assert_eq!((walked.layout(), walked.block_count()), (near.layout(), near.blocks().len()), "{what}");
}

#[test]
fn blocks_of_a_proven_index_are_read_without_the_others() {
    let bytes = indexed(&[0, 1, 2, -1], &hundreds(4), |_| {});
    let source = Far(Arc::new(bytes.clone()), Arc::default());
    let file = File::from_source(Box::new(source.clone()), None, OpenOptions::default()).unwrap();
    assert!(file.is_listed() && file.block_count() == 4);
    let before = source.1.load(Ordering::Relaxed);
    assert_eq!(value(&file, 2).unwrap(), [3; 100]);
    // The header, and the values.
    assert_eq!(source.1.load(Ordering::Relaxed) - before, 2);
    assert!(file.is_listed());
    same_as_near(&bytes, "an index that is right");
    assert_eq!(file.blocks().len(), 4);
    assert!(!file.is_listed());
}

#[test]
fn wrong_offsets_of_an_index_give_no_other_values() {
    for entry in 0..4 {
        for by in [-54_i64, -1, 1, 54, 154, 1 << 40] {
            let bytes = indexed(&[0, 1, 2, 3], &hundreds(4), |offsets| {
                offsets[entry] = offsets[entry].saturating_add_signed(by);
            });
            same_as_near(&bytes, &format!("entry {entry} moved by {by}"));
        }
        let bytes = indexed(&[0, 1, 2, 3], &hundreds(4), |offsets| offsets.swap(entry, (entry + 1) % 4));
        same_as_near(&bytes, &format!("entry {entry} swapped with the next"));
        let bytes = indexed(&[0, 1, 2, 3], &hundreds(4), |offsets| offsets[entry] = offsets[(entry + 1) % 4]);
        same_as_near(&bytes, &format!("entry {entry} is the next"));
    }
}

#[test]
fn too_few_entries_of_an_index_give_no_other_values() {
    // Blocks that no array names hide from the count of entries that one is missing.
    for (count, numbers) in
        [(4, vec![0, 1, 2, 3]), (5, vec![0, 1, 2, 3]), (5, vec![0, 1, 2, -1]), (6, vec![3, 2, 1, 0])]
    {
        for entry in 0..usize::from(count) {
            let bytes = indexed(&numbers, &hundreds(count), |offsets| _ = offsets.remove(entry));
            same_as_near(&bytes, &format!("{count} blocks without entry {entry}"));
        }
    }
}

#[test]
fn blocks_within_the_data_of_a_block_are_not_listed() {
    // A file within a block has magics of its own. These end where the block ends, or another one begins.
    let mut data = [7; 100];
    data[..70].copy_from_slice(&plain(&[9; 16]));
    data[30..].copy_from_slice(&plain(&[8; 16]));
    for inside in [0, 30] {
        let blocks = [plain(&[1; 100]), plain(&data), plain(&[2; 100]), plain(&[3; 100])];
        for numbers in [vec![0, 1, 2, 3], vec![0, 1, 2, 3, 4], vec![4, 3, 2, 1, 0]] {
            let list = |offsets: &mut Vec<u64>| offsets.insert(2, offsets[1] + 54 + inside);
            same_as_near(&indexed(&numbers, &blocks, list), "one entry more");
            let list = |offsets: &mut Vec<u64>| offsets[2] = offsets[1] + 54 + inside;
            same_as_near(&indexed(&numbers, &blocks, list), "an entry inside of a block");
        }
    }
}

#[test]
fn encoded_blocks_are_proven_by_the_headers_before_them() {
    let encoded: Vec<_> = (0..6).map(|value| encoded("zlib", &[value; 100])).collect();
    same_as_near(&indexed(&[0, 1, 2, 3, 4, 5], &encoded, |_| {}), "an index that is right");
    for entry in 0..6 {
        // The entries that are left have as many arrays, and an entry may be in the gap of two.
        let bytes = indexed(&[0, 1, 2, 3, 4], &encoded, |offsets| _ = offsets.remove(entry));
        same_as_near(&bytes, &format!("without entry {entry}"));
    }
}

#[test]
fn damaged_headers_of_far_blocks_are_damaged_blocks() {
    let bytes = indexed(&[0, 1, 2, 3], &hundreds(4), |_| {});
    let index = memchr::memmem::find(&bytes, MARKER).unwrap();
    let at = |block: usize| index - (4 - block) * 154;
    // A size field of a header that is used; the magic of one.
    for (block, field) in [(1, 16), (1, 24), (1, 32), (2, 0), (3, 20), (3, 4)] {
        let mut bytes = bytes.clone();
        bytes[at(block) + field] ^= 0x10;
        let (far, near) = (far(&bytes), File::from_bytes(bytes, OpenOptions::default()).unwrap());
        for (index, expected) in values(&near).into_iter().enumerate() {
            let read = value(&far, index);
            // A block after a damaged one is found by the index where the walk cannot name it.
            let right = Some(vec![u8::try_from(index + 1).unwrap(); 100]);
            assert!(read == expected || read == right && expected.is_none(), "block {block}, array {index}");
        }
        assert_eq!(value(&far, block), value(&near, block), "block {block}, field {field}");
    }
}
