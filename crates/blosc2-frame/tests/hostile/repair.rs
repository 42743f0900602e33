//! Files that are made to keep a repair busy.

use std::time::{Duration, Instant};

use blosc2_frame::{FORMAT, Frame};
use container_core::Progress;
use container_core::format::Input;

use crate::crafted::{Parts, chunk_head, container_options, index, plain, same_index, zeros};

fn repair(bytes: Vec<u8>) -> blosc2_frame::Result<Vec<u8>> {
    let began = Instant::now();
    let mut out = Vec::new();
    let repair = FORMAT.repair.unwrap();
    let done = repair(Input::bytes(Box::new(bytes)), &container_options(), Some(&mut out), Progress::none());
    assert!(began.elapsed() < Duration::from_secs(60), "{:?}", began.elapsed());
    done.map(|_| out)
}

/// 45 bytes that look like an index and decode to 60 MiB of offsets, many times: only some of them are decoded.
#[test]
fn repair_skips_thousands_of_decoy_indexes() {
    let nbytes = 60 << 20;
    let mut decoy = chunk_head(0x15, 8, nbytes, nbytes, 41, 0);
    decoy.extend(36_u32.to_le_bytes());
    decoy.extend((-0x77_i32).to_le_bytes());
    decoy.push(1);
    let mut parts = Parts::new(200, 100);
    parts.section = [plain(1, &[1; 100]), plain(1, &[2; 100]), decoy.repeat(4000)].concat();
    // An index that cannot be read.
    parts.index = vec![0xff; 48];
    let fixed = repair(parts.bytes()).unwrap();
    let frame = Frame::from_bytes(fixed).unwrap();
    let options = container_core::container::ReadOptions::default();
    assert_eq!(frame.read_chunk(1, &options).unwrap(), [2; 100]);
}

/// Chunks of 32 bytes that claim to be 2 GiB each are kept, and none is filled.
#[test]
fn thousands_of_chunks_of_two_gibibytes() {
    let (count, len) = (2000_u32, 0x7fff_ff00_u32);
    let mut parts = Parts::new(u64::from(count) * u64::from(len), len);
    parts.section = zeros(len).repeat(count as usize);
    parts.index = index(&(0..i64::from(count)).map(|at| at * 32).collect::<Vec<_>>());
    let fixed = repair(parts.bytes()).unwrap();
    assert_eq!(Frame::from_bytes(fixed).unwrap().chunk_count(), 2000);
}

/// A repair without a target does not promise chunks that cannot be written.
#[test]
fn chunks_of_no_length() {
    let mut parts = Parts::new(0, 1);
    parts.header.chunksize = blosc2_frame::ChunkSize::Unset;
    parts.header.nbytes = 400;
    parts.index = same_index(4, i64::MIN | 1 << 56);
    let bytes = parts.bytes();
    let dry = FORMAT.repair.unwrap()(
        Input::bytes(Box::new(bytes.clone())),
        &container_options(),
        None,
        Progress::none(),
    );
    assert_eq!(dry.unwrap_err().range(), Some(57..62));
    assert!(repair(bytes).is_err());
}

/// A value of a metalayer with a shorter length than C-Blosc2 writes, and bytes after it.
#[test]
fn metalayers_of_another_writer() {
    let mut parts = Parts::new(100, 100);
    parts.metalayers.set("name", vec![7; 9]).unwrap();
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let mut bytes = parts.bytes();
    let at = bytes.windows(5).position(|window| window == [0xc6, 0, 0, 0, 9]).unwrap();
    bytes[at..at + 3].copy_from_slice(&[0xc4, 1, 7]);
    let fixed = Frame::from_bytes(repair(bytes).unwrap()).unwrap();
    assert_eq!(fixed.metalayers().get("name"), Some(&[7][..]));
    let options = container_core::container::ReadOptions::default();
    assert_eq!(fixed.read_chunk(0, &options).unwrap(), [1; 100]);
}

/// Elements that no encoder takes: the bytes are brought back all the same.
#[test]
fn elements_of_a_gibibyte() {
    let mut parts = Parts::new(100, 100);
    parts.header.typesize = 1 << 30;
    parts.section = plain(1, &[1; 100]);
    parts.index = index(&[0]);
    let fixed = Frame::from_bytes(repair(parts.bytes()).unwrap()).unwrap();
    let options = container_core::container::ReadOptions::default();
    assert_eq!(fixed.read_chunk(0, &options).unwrap(), [1; 100]);
}
