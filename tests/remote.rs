//! Requests and bytes that files on a server cost, counted on loopback against bounds.

#[path = "remote/asdf_blocks.rs"]
mod asdf_blocks;
#[path = "remote/blosc2_blocks.rs"]
mod blosc2_blocks;
#[path = "remote/fixtures.rs"]
mod fixtures;
#[path = "../crates/holdall-remote/tests/server/mod.rs"]
mod server;
#[path = "remote/trajectories.rs"]
mod trajectories;

use std::sync::Arc;

use container_core::Limits;
use container_core::container::{Container, OpenOptions, ReadOptions, all_datasets};
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

/// Bytes of a part of a dataset.
fn read(file: &dyn Container, path: &str, selection: &str) -> Vec<u8> {
    let number = file.find(path).unwrap();
    let region = Region::parse(selection, &file.require(number).unwrap().shape).unwrap();
    let array = file.read(number, &region, &ReadOptions::default()).unwrap();
    array.bytes(Order::C, &Limits::default()).unwrap().into_owned()
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

#[test]
fn cutouts_of_plain_images_take_few_requests() {
    const LEN: u64 = 4096 * 4096 * 4;
    let tree = "#ASDF 1.0.0\n%YAML 1.1\n--- !<tag:stsci.edu:asdf/core/asdf-1.1.0>\n\
         data: !<tag:stsci.edu:asdf/core/ndarray-1.0.0> \
         {source: 0, datatype: float32, byteorder: little, shape: [4096, 4096]}\n...\n";
    let mut asdf = tree.as_bytes().to_vec();
    asdf.extend(asdf_blocks::header([0; 4], LEN, LEN));
    let asdf = Holes::new(asdf.len() as u64 + LEN, vec![(0, asdf)]);
    let mut rawarray = b"rawarray".to_vec();
    [0, 3, 4, LEN, 2, 4096, 4096].iter().for_each(|word: &u64| rawarray.extend(word.to_le_bytes()));
    let rawarray = Holes::new(64 + LEN, vec![(0, rawarray)]);
    for (name, file) in [("asdf", asdf), ("rawarray", rawarray)] {
        let mut remote = Remote::new(file);
        let opened = remote.open();
        assert_eq!(info_json(name, opened.container.as_ref())["datasets"], 1);
        let listed = remote.cost();
        assert!(listed.requests <= 3 && listed.rounds <= 2 && listed.bytes <= 200_000, "{name}: {listed:?}");
        let values = read(opened.container.as_ref(), "data", "2000:2010, 3000:3010");
        assert_eq!(values, [0; 400]);
        let cutout = remote.cost();
        println!("{name}: cutout {cutout:?}");
        assert!(cutout.requests <= 6 && cutout.bytes <= 400_000, "{name}: {cutout:?}");
    }
}
