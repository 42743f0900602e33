use container_codecs::checksum::Algorithm;
use container_core::container::{Container, OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::region::Region;
use container_core::{ErrorKind, Limits};

use super::*;
use crate::blocks::header::BlockHeader;

/// `zlib.compress(b"ab" * 20)` of Python's zlib.
const ZLIB: [u8; 13] = [0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x24, 0x0a, 0x02, 0x00, 0x38, 0x7b, 0x0f, 0x3d];

fn block(flags: u32, compression: [u8; 4], stored: &[u8], data_size: u64) -> Vec<u8> {
    let len = stored.len() as u64;
    let header = BlockHeader {
        header_size: 48,
        flags,
        compression,
        allocated_size: len,
        used_size: len,
        data_size,
        checksum: Algorithm::Md5.digest(stored).as_bytes().try_into().unwrap(),
    };
    [&header.to_bytes()[..], stored].concat()
}

/// The text of a tree, or none, before three blocks: plain, zlib, streamed.
fn file(tree: &str) -> Vec<u8> {
    let start = format!("#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n{tree}").into_bytes();
    let streamed = block(1, [0; 4], b"rows", 0);
    [start, block(0, [0; 4], b"plain", 5), block(0, *b"zlib", &ZLIB, 40), streamed].concat()
}

const EMPTY: &str = "%YAML 1.1\n---\n{}\n...\n";

const OF_BLOCKS: &str = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\n\
    blocks: [!core/ndarray-1.1.0 {source: 1, datatype: int8, byteorder: big, shape: [2]}]\n...\n";

fn container(bytes: Vec<u8>) -> Box<dyn Container> {
    crate::open(Input::bytes(Box::new(bytes)), &OpenOptions::default(), crate::compression::codecs()).unwrap()
}

fn bytes(container: &dyn Container, path: &str) -> Option<Vec<u8>> {
    let index = container.find(path)?;
    let whole = Region::whole(&container.dataset(index)?.shape);
    let array = container.read(index, &whole, &ReadOptions::default()).unwrap();
    Some(array.bytes(Order::C, &Limits::default()).unwrap().into_owned())
}

#[test]
fn blocks_that_no_array_names_are_read_as_bytes() {
    for (tree, listed) in [(EMPTY, 0), ("", 3)] {
        let container = container(file(tree));
        assert_eq!((container.dataset_count(), container.listed_count()), (3, listed));
        for (number, expected) in [&b"plain"[..], &b"ab".repeat(20), b"rows"].iter().enumerate() {
            for path in [format!("blocks/{number}"), format!("~blocks/{number}")] {
                assert_eq!(bytes(&*container, &path).as_deref(), Some(*expected), "{path}");
            }
            let dataset = container.dataset(number).unwrap();
            assert_eq!(dataset.path, format!("blocks/{number}"));
            assert_eq!(dataset.dtype.to_string(), "|u1");
        }
        let part = Region::parse("36:", &[40]).unwrap();
        let array = container.read(1, &part, &ReadOptions::default()).unwrap();
        assert_eq!(&*array.bytes(Order::C, &Limits::default()).unwrap(), b"abab");
        for path in ["blocks", "blocks/", "blocks/3", "blocks/-1", "blocks/01", "blocks/+1", "block/0"] {
            assert_eq!(container.find(path), None, "{path}");
        }
    }
}

#[test]
fn an_entry_of_the_tree_wins_over_the_blocks() {
    let own = container(file(OF_BLOCKS));
    assert_eq!(own.listed_count(), 1);
    assert_eq!(bytes(&*own, "blocks/0").as_deref(), Some(&b"ab"[..]));
    assert_eq!(own.find("blocks/1"), None);
    assert_eq!(bytes(&*own, "~blocks/0").as_deref(), Some(&b"plain"[..]));
    let paths: Vec<String> = (0..4).map(|index| own.dataset(index).unwrap().path.clone()).collect();
    assert_eq!(paths, ["blocks/0", "~blocks/0", "~blocks/1", "~blocks/2"]);
    // A path that is not an array belongs to the tree as well.
    let other = container(file("%YAML 1.1\n---\nblocks: 1\n...\n"));
    assert_eq!((other.find("blocks/0"), other.find("~blocks/0")), (None, Some(0)));
}

#[test]
fn damaged_blocks_are_refused() {
    let mut damaged = file(EMPTY);
    let at = damaged.windows(5).position(|bytes| bytes == b"plain").unwrap();
    damaged[at] ^= 1;
    let whole = Region::whole(&[5]);
    let error = container(damaged.clone()).read(0, &whole, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }), "{error}");
    damaged.truncate(at + 3);
    let error = container(damaged).read(0, &whole, &ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { .. }), "{error}");
}

#[test]
fn info_counts_the_blocks_without_an_array() {
    for (tree, count) in [(EMPTY, Some(3_u64)), (OF_BLOCKS, Some(2)), ("", None)] {
        let about = container(file(tree)).about();
        let told = about.details.iter().find(|(name, _)| name == "blocks that no array names");
        assert_eq!(told.map(|(_, value)| value.clone()), count.map(Into::into));
    }
}
