//! Every sound frame and array, through the library's own interface: its header, metadata, chunks, blocks and values are those that
//! the independent script says.

use std::fmt::Write as _;

use blosc2_frame::b2nd::{NAME, NdArray, OLD_NAME};
use blosc2_frame::{ChunkSize, Frame, OpenOptions};
use container_core::Limits;
use container_core::container::ReadOptions;
use container_core::dtype::{ByteOrder, Order};
use container_core::region::Region;

use crate::manifest::{Fixture, Metalayer, all_fixtures, sha256};

/// Bytes of values that are read of a frame; more are there to be refused.
const MAX_VALUE_BYTES: u64 = 1 << 24;

/// Those that are one frame.
fn frames() -> impl Iterator<Item = Fixture> {
    all_fixtures().into_iter().filter(|it| it.format == "blosc2" && it.frame_version.is_some())
}

/// Checks all fixtures, at least `least` of them, and panics with the problems of all that `check` rejects.
fn expect_all(fixtures: impl Iterator<Item = Fixture>, check: fn(&Fixture), least: usize) {
    let mut problems = String::new();
    let mut count = 0;
    for fixture in fixtures {
        count += 1;
        if let Err(problem) = std::panic::catch_unwind(|| check(&fixture)) {
            let text = problem.downcast_ref::<String>().cloned().unwrap_or_default();
            _ = writeln!(problems, "{}: {text}", fixture.path);
        }
    }
    assert!(problems.is_empty(), "{problems}");
    assert!(count >= least, "only {count}");
}

fn open(fixture: &Fixture) -> Frame {
    Frame::open(&fixture.full_path).unwrap_or_else(|error| panic!("{error}"))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        _ = write!(text, "{byte:02x}");
        text
    })
}

#[test]
fn headers_and_metadata_match_the_script() {
    expect_all(frames(), headers_and_metadata, 250);
}

fn headers_and_metadata(fixture: &Fixture) {
    let frame = open(fixture);
    let header = frame.header();
    assert_eq!(Some(header.version), fixture.frame_version, "version");
    assert_eq!(Some(header.typesize), fixture.typesize, "typesize");
    assert_eq!(Some(header.nbytes), fixture.nbytes, "nbytes");
    assert_eq!(Some(header.cbytes), fixture.cbytes, "cbytes");
    let chunksize = match header.chunksize {
        ChunkSize::Unset => -1,
        ChunkSize::Variable => 0,
        ChunkSize::Fixed(len) => i64::from(len),
    };
    assert_eq!(Some(chunksize), fixture.chunksize, "chunksize");
    assert_eq!(Some(frame.chunk_count()), fixture.nchunks, "nchunks");
    let one = |name: &str, value: &[u8]| Metalayer { name: name.to_owned(), hex: hex(value) };
    let fixed = frame.metalayers().iter().map(|(name, value)| one(name, value)).collect();
    assert_eq!(Some(fixed), fixture.meta, "meta");
    let user = frame.vlmetalayer_names().map(|name| {
        let value = frame.vlmetalayer(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        one(name, &value.expect("a name that was listed"))
    });
    assert_eq!(Some(user.collect()), fixture.vlmeta, "vlmeta");
}

#[test]
fn frame_values_match_the_script() {
    let plain =
        |it: &Fixture| it.chunks.is_none() && it.nbytes.is_some_and(|nbytes| nbytes < MAX_VALUE_BYTES);
    expect_all(frames().filter(plain), values_of_frame, 150);
}

fn values_of_frame(fixture: &Fixture) {
    let frame = open(fixture);
    let options = ReadOptions::default();
    let chunks: Vec<Vec<u8>> = (0..frame.chunk_count())
        .map(|index| {
            assert_eq!(
                frame.chunk_len(index).ok(),
                frame.read_chunk(index, &options).ok().map(|it| it.len() as u64)
            );
            frame.read_chunk(index, &options).unwrap_or_else(|error| panic!("chunk {index}: {error}"))
        })
        .collect();
    if let Some(expected) = &fixture.chunk_values {
        assert_eq!(&chunks.iter().map(|chunk| sha256(chunk)).collect::<Vec<_>>(), expected);
    } else if fixture.values.is_some() && !fixture.dtype.as_ref().is_some_and(|dtype| dtype.starts_with('>'))
    {
        // The manifest has values little-endian.
        assert_eq!(Some(sha256(&chunks.concat())), fixture.values, "by chunks");
        let whole = frame.read_range(0..frame.data_len(), &options).expect("the whole");
        assert_eq!(Some(sha256(&whole)), fixture.values, "by range");
    }
    for (index, sizes) in (0_u64..).zip(fixture.block_sizes.iter().flatten()) {
        let count = frame.block_count(index).expect("blocks");
        let blocks: Vec<Vec<u8>> =
            (0..count).map(|block| frame.read_block(index, block, &options).expect("a block")).collect();
        assert_eq!(&blocks.iter().map(Vec::len).collect::<Vec<_>>(), sizes, "chunk {index}");
        assert_eq!(blocks.concat(), chunks[usize::try_from(index).expect("few")], "chunk {index}");
    }
}

#[test]
fn every_range_of_a_frame_is_a_part_of_the_whole() {
    let plain = |it: &Fixture| {
        it.chunks.is_none() && it.values.is_some() && it.nbytes.is_some_and(|nbytes| nbytes < MAX_VALUE_BYTES)
    };
    expect_all(frames().filter(plain), ranges_of_frame, 150);
}

fn ranges_of_frame(fixture: &Fixture) {
    let frame = open(fixture);
    let options = ReadOptions::default();
    let whole = frame.read_range(0..frame.data_len(), &options).expect("the whole");
    let len = whole.len();
    for start in (0..len).step_by(37 + len / 40) {
        for size in [1, 7, 100, 999, len] {
            let end = (start + size).min(len);
            let part = frame.read_range(start as u64..end as u64, &options).expect("a range");
            assert_eq!(part, whole[start..end], "{start}..{end}");
        }
    }
}

#[test]
fn array_values_match_the_script() {
    // That of an expression has none.
    let has_values = |it: &Fixture| it.chunks.is_some() && it.values.is_some();
    expect_all(frames().filter(has_values), values_of_array, 120);
}

fn values_of_array(fixture: &Fixture) {
    let array = NdArray::open(&fixture.full_path).unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(Some(array.shape()), fixture.shape.as_deref(), "shape");
    assert_eq!(Some(array.dtype().to_string()), fixture.dtype, "dtype");
    assert_eq!(Some(array.geometry().chunkshape()), fixture.chunks.as_deref(), "chunks");
    assert_eq!(Some(array.geometry().blockshape()), fixture.blocks.as_deref(), "blocks");
    let read = array.read(&Region::whole(array.shape()), &ReadOptions::default());
    let values = read.unwrap_or_else(|error| panic!("{error}"));
    let mut bytes = values.bytes(Order::C, &Limits::default()).expect("bytes").into_owned();
    array.dtype().swap_to(ByteOrder::Little, &mut bytes).expect("little-endian");
    assert_eq!(Some(sha256(&bytes)), fixture.values, "values");
    let frame = array.into_frame();
    let meta = frame.metalayers().get(NAME).or_else(|| frame.metalayers().get(OLD_NAME));
    assert!(meta.is_some(), "an array has its metalayer");
}

#[test]
fn frames_in_larger_files_are_found_at_their_offset() {
    let mut count = 0;
    for fixture in all_fixtures() {
        let Some(at) = fixture.offset else { continue };
        count += 1;
        let frame = Frame::open_at(&fixture.full_path, at, &OpenOptions::default()).expect("a frame");
        assert_eq!(frame.chunk_count(), 4, "{}", fixture.path);
        let bytes = fixture.bytes();
        let start = usize::try_from(at).expect("small");
        let alone = Frame::from_bytes(bytes[start..].to_vec()).expect("a frame");
        let options = ReadOptions::default();
        assert_eq!(
            frame.read_range(0..frame.data_len(), &options).expect("values"),
            alone.read_range(0..alone.data_len(), &options).expect("values")
        );
        assert!(Frame::open(&fixture.full_path).is_err(), "there is no frame at the start");
    }
    assert!(count > 0, "no fixture of a frame inside a file");
}
