//! Deliberately wrong commits that the crash harness must detect.

use blosc2_frame::blosc_chunk::Encoder;
use blosc2_frame::container_core::write::storage::Storage;
use blosc2_frame::{Frame, Offset, Offsets, default_params};
use crash_test::RecordingStorage;

/// Appends a chunk in the order of C-Blosc2: over the old index, then the new index, the header, the trailer.
pub fn append(storage: &mut RecordingStorage, data: &[u8]) {
    let frame = Frame::from_bytes(storage.file()).unwrap();
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
    storage.write_at(chunk_at, &chunk).unwrap();
    storage.write_at(index_at, &index).unwrap();
    storage.write_at(0, &header.encode()).unwrap();
    storage.write_at(trailer_at, &trailer).unwrap();
    storage.set_len(header.frame_len).unwrap();
    storage.sync().unwrap();
}
