//! Every cut, and every byte changed: no read panics or takes memory over its limits, and the tolerances agree.

use blosc2_frame::{Frame, Limits, OpenOptions, Result};
use container_core::container::{ReadOptions, Tolerance};

use crate::manifest::testdata;

/// Far more than these files need, and far less than they can claim.
const MEMORY: u64 = 1 << 20;

/// Chunks that are checked; a damaged index may claim millions.
const MAX_CHUNKS: u64 = 12;

const FILES: &[&str] = &[
    "ok/three_chunks.b2frame",
    "ok/hand_variable.b2frame",
    "ok/hand_vl_blocks.b2frame",
    "ok/hand_special_kinds.b2frame",
    "ok/hand_two_metalayers.b2nd",
    "ok/hand_no_chunks.b2frame",
    "odd/variable_one_zeros.b2frame",
    "odd/vlmeta_flag.b2frame",
];

fn options(tolerance: Tolerance) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(MEMORY);
    options.tolerance = tolerance;
    options
}

/// Results of reading one frame: the chunks, their blocks, the data as a whole, the user metadata.
type Read = (Vec<Result<Vec<u8>, String>>, Result<Vec<u8>, String>, Vec<Result<Option<Vec<u8>>, String>>);

fn everything(frame: &Frame) -> Read {
    let limits = Limits::default().with_memory(MEMORY);
    let options = ReadOptions::default().with_limits(limits);
    let text = |error: blosc2_frame::Error| error.to_string();
    let mut chunks = Vec::new();
    for index in 0..frame.chunk_count().min(MAX_CHUNKS) {
        let bytes = frame.read_chunk(index, &options);
        if let (Ok(bytes), Ok(count)) = (&bytes, frame.block_count(index)) {
            for block in 0..count.min(MAX_CHUNKS) {
                assert!(
                    frame.read_block(index, block, &options).is_ok_and(|block| block.len() <= bytes.len())
                );
            }
            let entry = frame.chunk_entry(index).unwrap();
            let source = frame.block_source(&entry).unwrap();
            let block = container_core::block::read_block(&*source, &entry, frame.codecs(), &limits, 1);
            assert_eq!(*block.unwrap(), **bytes);
        }
        assert!(frame.chunk(index).is_ok() || bytes.is_err());
        chunks.push(bytes.map_err(text));
    }
    let whole = frame.read_range(0..frame.data_len(), &options).map_err(text);
    let _ = (frame.read_items(1..3, &options), frame.to_cframe());
    let scan = frame.scan_chunks();
    assert!(scan.is_ok_and(|scan| scan.chunks.len() as u64 <= frame.chunk_count()));
    let names = frame.vlmetalayer_names();
    let values = names.map(|name| frame.vlmetalayer(name).map_err(text)).collect();
    (chunks, whole, values)
}

/// Compares the results of a strict and a lenient reader of the bytes.
fn check(bytes: &[u8], what: &str) -> Option<Read> {
    let open = |tolerance| Frame::from_source(Box::new(bytes.to_vec()), 0, &options(tolerance));
    let lenient = open(Tolerance::Lenient).map(|frame| (everything(&frame), frame));
    match open(Tolerance::Strict) {
        Ok(frame) => {
            let (lenient, _) = lenient.unwrap_or_else(|error| panic!("{what}: {error}"));
            let strict = everything(&frame);
            assert_eq!(strict, lenient, "{what}");
            Some(strict)
        }
        Err(error) => {
            if let Ok((_, frame)) = lenient {
                assert!(frame.layout().blocking(Tolerance::Strict).is_some(), "{what}: {error}");
            }
            None
        }
    }
}

#[test]
fn every_truncation_is_reported() {
    for path in FILES {
        let bytes = std::fs::read(testdata().join(path)).unwrap();
        assert!(
            check(&bytes, path)
                .is_some_and(|(chunks, whole, _)| { chunks.iter().all(Result::is_ok) && whole.is_ok() }),
            "{path}"
        );
        for len in 0..bytes.len() {
            assert!(check(&bytes[..len], &format!("{path} cut at {len}")).is_none(), "{path} cut at {len}");
        }
    }
}

#[test]
fn every_byte_may_be_another() {
    for path in FILES {
        let bytes = std::fs::read(testdata().join(path)).unwrap();
        for at in 0..bytes.len() {
            for value in [bytes[at] ^ 0x10, bytes[at] ^ 0x80, 0xff] {
                let mut changed = bytes.clone();
                changed[at] = value;
                check(&changed, &format!("{path} byte {at} is {value:#04x}"));
            }
        }
    }
}

/// A frame of 172 bytes that claims half an exabyte opens at once, and returns any part of it.
#[test]
fn unstored_chunks_use_no_memory() {
    use blosc2_frame::blosc_chunk::Special;
    use blosc2_frame::{ChunkSize, Header, Offset, Offsets};

    let path = testdata().join("ok/three_chunks.b2frame");
    let original = Frame::open(path).unwrap();
    let (count, chunk) = (200_000_000_u64, 0x7fff_0000_u32);
    let mut index = Vec::new();
    let value = Offset::Special(Special::Zeros).to_raw().to_le_bytes();
    // A chunk that repeats the value: 40 bytes.
    let nbytes = u32::try_from(count * 8).unwrap();
    index.extend([5, 1, 5, 8]);
    for word in [nbytes, 1 << 20, 40] {
        index.extend(word.to_le_bytes());
    }
    index.extend([0; 15]);
    index.push(0x30);
    index.extend(value);
    let trailer = original.layout().trailer().encode();
    let metalayers = original.metalayers().encode();
    let header = Header {
        header_len: u32::try_from(87 + metalayers.len()).unwrap(),
        frame_len: (87 + metalayers.len() + index.len() + trailer.len()) as u64,
        nbytes: count * u64::from(chunk),
        cbytes: 0,
        chunksize: ChunkSize::Fixed(chunk),
        ..original.header().clone()
    };
    let bytes = [header.encode(), metalayers, index, trailer].concat();
    let frame = Frame::from_source(Box::new(bytes), 0, &options(Tolerance::Strict)).unwrap();
    assert!(matches!(frame.layout().offsets(), Offsets::Same(Offset::Special(Special::Zeros), 200_000_000)));
    let options = ReadOptions::default();
    let at = header.nbytes - 5000;
    assert_eq!(frame.read_range(at..at + 5000, &options).unwrap(), [0; 5000]);
    assert_eq!(frame.scan_chunks().unwrap().special, [count, 0, 0]);
    assert!(frame.read_range(0..header.nbytes, &options).is_err());
    assert!(frame.read_chunk(0, &options).is_err(), "2 GiB are over the limit");
}
