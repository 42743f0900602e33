//! ASDF files of several blocks on a server.

use std::fmt::Write as _;

use container_codecs::zlib::Zlib;
use container_core::codec::Codec as _;
use container_core::container::{all_datasets, visible_datasets};
use holdall::json::info_json;

use super::{Remote, read};
use crate::counted::Holes;

/// Header of a block.
pub(super) fn header(label: [u8; 4], used: u64, data: u64) -> Vec<u8> {
    let mut header = b"\xd3BLK\0\x30\0\0\0\0".to_vec();
    header.extend(label);
    [used, used, data].iter().for_each(|word| header.extend(word.to_be_bytes()));
    header.extend([0; 16]);
    header
}

/// An ASDF file of `count` plain blocks of `len` bytes, with an index. Each block begins with its number.
fn blocks(count: u64, len: u64) -> Holes {
    labelled(count, len, [0; 4], len)
}

/// The same with another label, and blocks whose arrays take `decoded` bytes.
fn labelled(count: u64, len: u64, label: [u8; 4], decoded: u64) -> Holes {
    let mut tree = "#ASDF 1.0.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n".to_owned();
    for number in 0..count {
        writeln!(
            tree,
            "a{number}: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> \
             {{source: {number}, datatype: uint64, byteorder: little, shape: [{}]}}",
            decoded / 8
        )
        .unwrap();
    }
    tree += "...\n";
    let (first, each) = (tree.len() as u64, len + 54);
    let mut index = "#ASDF BLOCK INDEX\n%YAML 1.1\n---\n".to_owned();
    (0..count).for_each(|number| writeln!(index, "- {}", first + number * each).unwrap());
    index += "...\n";
    let end = first + count * each;
    let len_of_file = end + index.len() as u64;
    let mut pieces = vec![(0, tree.into_bytes())];
    let block = |number: u64| [header(label, len, decoded), number.to_le_bytes().to_vec()].concat();
    pieces.extend((0..count).map(|number| (first + number * each, block(number))));
    pieces.push((end, index.into_bytes()));
    Holes::new(len_of_file, pieces)
}

#[test]
fn files_of_several_blocks_are_shown_by_their_index() {
    for count in [2, 3, 300] {
        let mut remote = Remote::new(blocks(count, 32 << 20));
        let opened = remote.open();
        let info = info_json("several", opened.container.as_ref());
        assert!(info["complete"] == true && info["datasets"] == count && info["details"]["blocks"] == count);
        let shown = remote.cost();
        println!("{count} blocks: info {shown:?}");
        assert!(shown.requests <= 3 && shown.rounds <= 2 && shown.bytes <= 200_000, "{count}: {shown:?}");
        // What the index leaves open is left out.
        assert_eq!(info["details"].get("stored bytes").is_some(), count <= 2, "{info}");
        let listed = visible_datasets(opened.container.as_ref());
        assert!(listed.map(|(_, dataset)| dataset.stored).all(|stored| stored == 32 << 20));
        let listed = remote.cost();
        println!("{count} blocks: ls {listed:?}");
        assert_eq!(listed.requests, 0, "{count}: {listed:?}");
        let last = read(opened.container.as_ref(), &format!("a{}", count - 1), "0");
        assert_eq!(last, (count - 1).to_le_bytes());
    }
}

#[test]
fn encoded_blocks_are_listed_by_their_headers() {
    for count in [2, 3, 300] {
        let mut remote = Remote::new(labelled(count, 16 << 20, *b"zlib", 32 << 20));
        let opened = remote.open();
        remote.cost();
        let listed: Vec<_> =
            visible_datasets(opened.container.as_ref()).map(|(_, one)| one.into_owned()).collect();
        assert_eq!(listed.len() as u64, count);
        assert!(
            listed.iter().all(|one| one.codec == "zlib" && one.stored == 16 << 20 && one.logical == 32 << 20)
        );
        let cost = remote.cost();
        println!("{count} encoded blocks: ls {cost:?}");
        assert!(cost.requests < count && cost.rounds <= 1, "{count}: {cost:?}");
        assert!(cost.bytes <= count * 54 + (64 << 10), "{count}: {cost:?}");
    }
}

#[test]
fn one_array_of_thousands_takes_few_requests() {
    for len in [20_000, 1 << 20] {
        let mut remote = Remote::new(blocks(5000, len));
        let opened = remote.open();
        assert_eq!(opened.container.listed_count(), 5000);
        assert_eq!(read(opened.container.as_ref(), "a3210", "0"), 3210_u64.to_le_bytes());
        let first = remote.cost();
        println!("5000 blocks of {len}: {first:?}");
        assert!(first.requests <= 5 && first.bytes <= 3_000_000, "{first:?}");
        let middle = (len / 16).to_string();
        let mut remote = Remote::new(blocks(5000, len));
        assert_eq!(read(remote.open().container.as_ref(), "a3210", &middle), [0; 8]);
        let cutout = remote.cost();
        println!("5000 blocks of {len}, cutout: {cutout:?}");
        assert!(cutout.requests <= 5 && cutout.bytes <= 3_000_000, "{cutout:?}");
    }
}

#[test]
fn the_map_and_a_check_read_all_headers() {
    let mut remote = Remote::new(blocks(40, 1 << 20));
    let opened = remote.open();
    remote.cost();
    opened.container.read_structure().unwrap();
    let headers = remote.cost();
    assert!(headers.requests <= 40 && headers.rounds <= 2, "{headers:?}");
    let map = opened.container.byte_map();
    assert_eq!(map.iter().filter(|segment| segment.role == "block header").count(), 40);
    assert_eq!(remote.cost().requests, 0);
    let info = info_json("walked", opened.container.as_ref());
    assert_eq!(info["details"]["block index"], "proved");
    assert_eq!(all_datasets(opened.container.as_ref()).count(), 80);
}

/// Rows of 4 KiB of a block of 8 MiB, which zlib makes a little shorter. The block of a telescope's image would be larger; this one is quick to encode.
#[test]
fn rows_of_an_encoded_block_are_streamed() {
    const ROWS: u64 = 2048;
    const ROW: u64 = 4096;
    let mut seed = 1_u32;
    let rows: Vec<u8> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        u8::try_from(seed >> 26).unwrap()
    })
    .take(usize::try_from(ROWS * ROW).unwrap())
    .collect();
    let mut used = Vec::new();
    Zlib.encode(&rows, Some(1), &mut used).unwrap();
    let mut file = "#ASDF 1.0.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n\
         data: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> \
         {source: 0, datatype: uint8, byteorder: little, shape: [2048, 4096]}\n...\n"
        .as_bytes()
        .to_vec();
    file.extend(header(*b"zlib", used.len() as u64, ROWS * ROW));
    file.extend(&used);
    let mut remote = Remote::new(Holes::new(file.len() as u64, vec![(0, file)]));
    let opened = remote.open();
    remote.cost();
    let place = usize::try_from(100 * ROW).unwrap()..usize::try_from(110 * ROW).unwrap();
    assert!(read(opened.container.as_ref(), "data", "100:110") == rows[place]);
    let needed = used.len() as u64 * 110 / ROWS;
    let front = remote.cost();
    println!("rows of a zlib block: {front:?} of {needed}");
    // The read-ahead of a sequential reader is no more than what it has read.
    assert!(front.bytes <= 2 * needed && front.bytes <= used.len() as u64 / 4, "{front:?}");
    let place = usize::try_from(1000 * ROW).unwrap()..usize::try_from(1010 * ROW).unwrap();
    assert!(read(opened.container.as_ref(), "data", "1000:1010") == rows[place]);
    assert!(read(opened.container.as_ref(), "data", ":") == rows);
    // No byte twice.
    let rest = remote.cost();
    assert!(front.bytes + rest.bytes <= used.len() as u64 + (64 << 10), "{front:?}, then {rest:?}");
}
