//! Deliberately wrong commits that the crash harness must detect.

use blosc2_frame::blosc_chunk::Encoder;
use blosc2_frame::container_core::write::recording::Operation;
use blosc2_frame::container_core::write::storage::Storage;
use blosc2_frame::{Frame, Offset, Offsets, default_params};

use crate::disk::{Disk, JOURNAL, parts};
use crate::script::Script;

/// Appends a chunk in the order of C-Blosc2: over the old index, then the new index, the header, the trailer.
pub fn append(disk: &mut Disk, data: &[u8]) {
    let image = disk.0.image();
    let frame = Frame::from_bytes(parts(&image).0.to_vec()).unwrap();
    let layout = frame.layout();
    let mut chunk = Vec::new();
    Encoder::new(default_params(8)).unwrap().encode(data, &mut chunk).unwrap();
    let mut header = layout.header().clone();
    let mut numbers: Vec<i64> = layout.offsets().iter().map(Offset::to_raw).collect();
    numbers.push(header.cbytes.cast_signed());
    let mut index = Vec::new();
    Offsets::Each(numbers).encode(&mut index).unwrap();
    let trailer = layout.trailer().encode();
    let chunk_at = u64::from(header.header_len) + header.cbytes;
    header.cbytes += chunk.len() as u64;
    header.nbytes += data.len() as u64;
    let index_at = chunk_at + chunk.len() as u64;
    let trailer_at = index_at + index.len() as u64;
    header.frame_len = trailer_at + trailer.len() as u64;
    let disk = &mut disk.0;
    disk.write_at(JOURNAL + chunk_at, &chunk).unwrap();
    disk.write_at(JOURNAL + index_at, &index).unwrap();
    disk.write_at(JOURNAL, &header.encode()).unwrap();
    disk.write_at(JOURNAL + trailer_at, &trailer).unwrap();
    disk.set_len(JOURNAL + header.frame_len).unwrap();
    disk.sync().unwrap();
}

/// Lists the failures where the operation `left_out` is not done.
pub fn broken_without(script: &Script, left_out: usize) -> Vec<String> {
    let mut operations = script.disk.0.operations();
    assert_eq!(operations.remove(left_out), Operation::Sync);
    let promised = script.promised.iter().map(|(done, state)| {
        let moved = usize::from(*done > left_out);
        (done - moved, state.clone())
    });
    script.broken_of(&operations, &promised.collect::<Vec<_>>())
}
