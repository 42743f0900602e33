//! Requests and bytes that files on a server cost, counted on loopback against bounds.

#[path = "../crates/holdall-remote/tests/server/mod.rs"]
mod server;

use std::fmt::Write as _;
use std::sync::Arc;

use container_core::Limits;
use container_core::array::Array;
use container_core::container::{OpenOptions, ReadOptions, all_datasets};
use container_core::dtype::Order;
use container_core::region::Region;
use container_core::source::Source;
use holdall::OpenFile;
use holdall::json::info_json;
use holdall::open::{Accept, open_source};
use holdall_remote::{CachedSource, RemoteOptions, RemoteUrl, Traffic};
use server::{Answer, Server};

use crate::counted::{Holes, asdf, blosc2, bloscpack, gsd, rawarray, slice};

/// A file on a server, and what it costs.
struct Remote {
    server: Server,
    source: Arc<CachedSource>,
    before: Traffic,
}

impl Remote {
    fn new(file: Holes) -> Self {
        let len = usize::try_from(file.len()).unwrap();
        let server = Server::new(move |_, request| {
            Answer::part_of(len, request, "ETag: \"1\"\r\n", |range| {
                let mut bytes = vec![0; range.len()];
                file.read_into(range.start as u64, &mut bytes).unwrap();
                bytes
            })
        });
        let url = RemoteUrl::parse(&server.url("/file")).unwrap();
        let source = holdall_remote::open(&url, &RemoteOptions::default()).unwrap();
        Self { server, source: Arc::new(source), before: Traffic::default() }
    }

    fn open(&self) -> OpenFile {
        let source = Box::new(Arc::clone(&self.source));
        open_source(source, None, Accept::Containers, &OpenOptions::default()).unwrap()
    }

    /// Requests, rounds and bytes since the last call.
    fn cost(&mut self) -> Traffic {
        let (now, before) = (self.source.traffic(), self.before);
        self.before = now;
        assert_eq!(self.server.requests().len() as u64, now.requests);
        let mut cost = now;
        cost.requests -= before.requests;
        cost.rounds -= before.rounds;
        cost.bytes -= before.bytes;
        cost
    }
}

#[test]
fn files_of_a_gibibyte_are_listed_and_sliced_with_few_requests() {
    /// A format, a file of it, and the most bytes of a slice: what it reads of the file, each of its two places with 64 KiB.
    type Case = (&'static str, fn() -> Holes, u64);
    let cases: [Case; 5] = [
        ("asdf", asdf, 400 << 10),
        ("blosc2", blosc2, (1 << 20) + (400 << 10)),
        ("bloscpack", bloscpack, (1 << 20) + (400 << 10)),
        ("gsd", gsd, 400 << 10),
        ("rawarray", rawarray, 400 << 10),
    ];
    for (name, make, most) in cases {
        let mut remote = Remote::new(make());
        let opened = remote.open();
        let info = info_json(name, opened.container.as_ref());
        assert!(info["complete"] == true && info["datasets"] == 1, "{info}");
        assert!(all_datasets(&*opened.container).count() > 0);
        let listed = remote.cost();
        println!("{name}: info and ls {listed:?}");
        assert!(listed.requests <= 3 && listed.rounds <= 2 && listed.bytes <= 200_000, "{name}: {listed:?}");
        slice(opened.container.as_ref());
        let sliced = remote.cost();
        println!("{name}: slice {sliced:?}");
        assert!(sliced.requests <= 6 && sliced.bytes <= most, "{name}: {sliced:?}");
    }
}

/// Bytes of the positions of a frame of [`trajectory`].
const POSITIONS: u64 = 100_000 * 12;

/// A GSD file of `frames` frames with positions and a logged number each, which are zeros.
fn trajectory(frames: u64) -> Holes {
    let data_at = 256 + frames * 2 * 32 + 64;
    let mut head = 0x65DF_65DF_65DF_65DF_u64.to_le_bytes().to_vec();
    [256, frames * 2, 256 + frames * 2 * 32, 1].iter().for_each(|word: &u64| head.extend(word.to_le_bytes()));
    [0x0001_0000_u32, 0x0002_0000].iter().for_each(|word| head.extend(word.to_le_bytes()));
    head.resize(256, 0);
    for frame in 0..frames {
        let at = data_at + frame * (POSITIONS + 8);
        for (id, at, n, m, kind) in [(0_u16, at, 100_000_u64, 3_u32, 9_u8), (1, at + POSITIONS, 1, 1, 10)] {
            [frame, n, at].iter().for_each(|word| head.extend(word.to_le_bytes()));
            head.extend(m.to_le_bytes());
            head.extend(id.to_le_bytes());
            head.extend([kind, 0]);
        }
    }
    head.extend(b"particles/position\0log/e\0");
    head.resize(usize::try_from(data_at).unwrap(), 0);
    Holes::new(data_at + frames * (POSITIONS + 8), vec![(0, head)])
}

#[test]
fn frames_and_logs_of_a_trajectory_take_one_round_each() {
    const FRAMES: u64 = 1000;
    let index = FRAMES * 2 * 32;
    let mut remote = Remote::new(trajectory(FRAMES));
    let opened = remote.open();
    let file = opened.container.as_ref();
    let read = |path: &str, selection: &str| {
        let number = file.find(path).unwrap();
        let region = Region::parse(selection, &file.require(number).unwrap().shape).unwrap();
        let array = file.read(number, &region, &ReadOptions::default()).unwrap();
        array.bytes(Order::C, &Limits::default()).unwrap().len() as u64
    };
    assert_eq!(read("particles/position", "700"), POSITIONS);
    let frame = remote.cost();
    assert!(frame.requests <= 4 && frame.bytes <= index + POSITIONS * 11 / 10 + (128 << 10), "{frame:?}");
    assert_eq!(read("log/e", ":"), FRAMES * 8);
    let log = remote.cost();
    assert!(log.rounds <= 2 && log.requests <= FRAMES && log.bytes <= FRAMES * 8, "{log:?}");
    assert_eq!(read("particles/position", "::400"), 3 * POSITIONS);
    let frames = remote.cost();
    assert!(frames.rounds <= 1 && frames.bytes <= 3 * POSITIONS, "{frames:?}");
}

/// An ASDF file of `count` blocks of a mebibyte, with an index.
fn blocks(count: u64) -> Holes {
    let mut tree = "#ASDF 1.0.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n".to_owned();
    for number in 0..count {
        writeln!(
            tree,
            "a{number}: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> \
             {{source: {number}, datatype: uint8, byteorder: little, shape: [1048576]}}"
        )
        .unwrap();
    }
    tree += "...\n";
    let mut header = b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0".to_vec();
    [1_u64 << 20; 3].iter().for_each(|word| header.extend(word.to_be_bytes()));
    header.extend([0; 16]);
    let (first, each) = (tree.len() as u64, header.len() as u64 + (1 << 20));
    let mut index = "#ASDF BLOCK INDEX\n%YAML 1.1\n---\n".to_owned();
    (0..count).for_each(|number| writeln!(index, "- {}", first + number * each).unwrap());
    index += "...\n";
    let end = first + count * each;
    let len = end + index.len() as u64;
    let mut pieces = vec![(0, tree.into_bytes())];
    pieces.extend((0..count).map(|number| (first + number * each, header.clone())));
    pieces.push((end, index.into_bytes()));
    Holes::new(len, pieces)
}

#[test]
fn blocks_that_an_index_lists_take_no_trip_each() {
    let mut remote = Remote::new(blocks(300));
    let opened = remote.open();
    assert_eq!(opened.container.listed_count(), 300);
    let opening = remote.cost();
    // The head, the rest of the tree, the index, and all headers together.
    assert!(opening.rounds <= 4 && opening.requests <= 304, "{opening:?}");
    let number = opened.container.find("a200").unwrap();
    let region = Region::parse("500000:500100", &[1 << 20]).unwrap();
    opened.container.read(number, &region, &ReadOptions::default()).unwrap();
    let read = remote.cost();
    assert!(read.requests <= 1 && read.bytes <= 65_536, "{read:?}");
}

#[test]
fn chunks_of_a_slice_are_fetched_in_one_round() {
    // 64 chunks of 256 KiB that no codec makes shorter.
    let mut seed = 1_u64;
    let numbers: Vec<u64> = std::iter::repeat_with(|| {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        seed ^ (seed >> 33)
    })
    .take(128 * 128 * 128)
    .collect();
    let array = Array::from_elements(&numbers, &[128, 128, 128]).unwrap();
    let mut options = blosc2_frame::b2nd::NdOptions::default();
    options.chunkshape = Some(vec![32, 32, 32]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2nd");
    blosc2_frame::b2nd::write_array(&path, &array, &options).unwrap();
    let bytes = std::fs::read(&path).unwrap();
    let mut remote = Remote::new(Holes::new(bytes.len() as u64, vec![(0, bytes)]));
    let opened = remote.open();
    remote.cost();
    let region = Region::parse("25:35, 25:35, 25:35", &[128, 128, 128]).unwrap();
    let read = opened.container.read(0, &region, &ReadOptions::default()).unwrap();
    let expected = array.select(&region).unwrap();
    let values = |array: &Array<'_>| array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    assert_eq!(values(&read), values(&expected));
    let slice = remote.cost();
    assert!(slice.rounds <= 1 && slice.requests <= 8, "{slice:?}");
    // Eight chunks of 256 KiB, and the gaps that are fetched along.
    assert!(slice.bytes <= 8 * (256 << 10) * 11 / 10, "{slice:?}");
}
