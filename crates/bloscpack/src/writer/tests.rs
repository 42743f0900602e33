//! Files compared with those of bloscpack 0.16 with python-blosc 1.11.4, by their MD5: at level 0 the bytes do not depend on the
//! codec.

use std::io::Cursor;

use container_codecs::checksum::Algorithm;
use container_core::dtype::{DType, Order};
use container_core::format::Pipe;
use container_core::write::Overwrite;
use container_core::{ErrorKind, Limits, Value};

use super::*;
use crate::metadata::from_json;
use crate::write::{ChunkOptions, Shuffle, Straddle};
use crate::{ChecksumCode, Header, NumpyArray};

fn data(len: usize) -> Vec<u8> {
    (0..len).map(|at| u8::try_from((at * 7 + at / 251) % 256).unwrap()).collect()
}

fn stored(chunk_size: usize, typesize: usize, shuffle: Shuffle) -> WriteOptions {
    let chunks = ChunkOptions { level: 0, ..ChunkOptions::default() };
    let chunks = chunks.with_typesize(typesize).with_shuffle(shuffle);
    WriteOptions { chunks, chunk_size: Some(chunk_size), ..WriteOptions::default() }
}

/// The file, written with or without its length given.
fn file(bytes: &[u8], total: Option<u64>, options: &WriteOptions) -> Vec<u8> {
    let mut writer = Writer::new(Cursor::new(Vec::new()), total, options).unwrap();
    // In odd pieces.
    for piece in bytes.chunks(997) {
        writer.push(piece).unwrap();
    }
    let (out, len) = writer.complete().unwrap();
    assert_eq!(len, bytes.len() as u64);
    assert_eq!(out.position(), out.get_ref().len() as u64);
    out.into_inner()
}

fn md5(file: &[u8]) -> String {
    Algorithm::Md5.digest(file).to_string()
}

#[test]
fn stored_files_are_the_references_byte_for_byte() {
    let cases = [
        (0, 1000, 8, Shuffle::Bytes, 140, "a80027cc8126dbaf5ed0fbd9c124e70e"),
        (1, 1000, 8, Shuffle::Bytes, 141, "bfaedc47586706e2b803a5f1d0cadfad"),
        (127, 1000, 8, Shuffle::Bytes, 267, "736a625a57c713b60fafe221605acc50"),
        (1000, 1000, 8, Shuffle::Bytes, 1140, "2235921a457f72e1273da734d8967014"),
        (1001, 1000, 8, Shuffle::Bytes, 1249, "9920aeac465f8116d7d8e788f8765e13"),
        (3000, 1000, 4, Shuffle::Bits, 3356, "d4274446d1c84d445962ff5dfab25f6b"),
        (2500, 994, 7, Shuffle::None, 2856, "38f109851793bb6df908cbf318234861"),
        (70_000, 32_768, 1, Shuffle::Bytes, 70_356, "0d9698c1351b122f754c4b6046894b19"),
    ];
    for (len, chunk_size, typesize, shuffle, file_len, hash) in cases {
        let options = stored(chunk_size, typesize, shuffle);
        let known = file(&data(len), Some(len as u64), &options);
        assert_eq!((known.len(), md5(&known).as_str()), (file_len, hash), "{len} bytes");
        assert_eq!(file(&data(len), None, &options), known, "{len} bytes, not announced");
    }
}

#[test]
fn straddle_and_verbatim_json_options_match_the_reference() {
    let mut options = stored(1001, 8, Shuffle::Bytes);
    options.straddle = Straddle::Allowed;
    let options = options.with_metadata_json(r#"{"a":[1.0,NaN],"\u00e9":null}"#);
    let file = file(&data(3000), Some(3000), &options);
    assert_eq!((file.len(), md5(&file).as_str()), (3682, "19f492d36ff3a40c937d93ab415d54bb"));
}

#[test]
fn all_nine_checksums_without_offsets_are_the_references() {
    let hashes = [
        "eb3bf1a5e966f9216e5aec1db232e2f4",
        "58ba4f8bfe32cf8b777c7a0ea73fd845",
        "3fd683227439d291f9759040bca832c2",
        "49daf90ff7ece398b97b8eae16d57427",
        "655857e35cbea816e7e783321b9bdd34",
        "aab4aa24577cf7d8d7750a69be097b24",
        "6abc57262f4a759a563210c72045cb1f",
        "1bb13a2f0c57de9c11b2563c72d6934c",
        "924d1b89c4938b88563dff690b7c1afe",
    ];
    for (code, hash) in (0..).zip(hashes) {
        let mut options = stored(200, 4, Shuffle::Bytes);
        options.chunks.checksum = ChecksumCode(code);
        options.offsets = Offsets::None;
        for total in [Some(500), None] {
            assert_eq!(md5(&file(&data(500), total, &options)), hash, "checksum {code}");
        }
    }
}

#[test]
fn metadata_matches_the_reference_apart_from_zlib_output() {
    let cases = [
        ("{}", "fb62b19cd30bc68adce549293eee1c47"),
        ("[1,2]", "23e38872210d609332d3c0a2cd943079"),
        (r#"{"a":"é","b":[null,true,1.5]}"#, "0e4464ec68a757466ff7bdcaa06b8122"),
    ];
    for (json, hash) in cases {
        let mut options = stored(200, 4, Shuffle::Bytes);
        options.metadata = Some(from_json(json.as_bytes(), &Limits::default()).unwrap().0);
        assert_eq!(md5(&file(&data(100), Some(100), &options)), hash, "{json}");
    }
    // With zlib the fields are the same: 308 bytes of text, ten times as much room.
    let mut options = stored(200, 4, Shuffle::Bytes);
    options.metadata = Some(Value::Map(vec![("k".into(), "x".repeat(300).into())]));
    let file = file(&data(100), Some(100), &options);
    assert_eq!(file.len(), 3356);
    assert_eq!(file[32..52], *b"JSON\0\0\0\0\x00\x01\x01\x06\x34\x01\0\0\x08\x0c\0\0");
}

#[test]
fn arrays_of_either_order_are_the_references() {
    let bytes: Vec<u8> = (0..12_u8).flat_map(|number| f64::from(number).to_le_bytes()).collect();
    let columns: Vec<u8> = [0, 4, 8, 1, 5, 9, 2, 6, 10, 3, 7, 11_u8]
        .into_iter()
        .flat_map(|number| f64::from(number).to_le_bytes())
        .collect();
    let cases = [
        (Order::C, bytes, "c2e2a9e91f20fb9ba56e7df7e3f56971"),
        (Order::F, columns, "f3d1df3f15322ac14befb730ba9a68f6"),
    ];
    for (order, bytes, hash) in cases {
        let numpy = NumpyArray { dtype: DType::parse("<f8").unwrap(), shape: vec![3, 4], order };
        let mut options = WriteOptions::default().for_array(&numpy);
        options.chunks.level = 0;
        let file = file(&bytes, Some(96), &options);
        assert_eq!(file.len(), 902);
        let head =
            b"blpk\x03\x03\x01\x08\x60\0\0\0\x60\0\0\0\x01\0\0\0\0\0\0\0\x0a\0\0\0\0\0\0\0JSON\0\0\0\0\0\x01";
        assert_eq!(file[..42], *head);
        // Text, room for it, and all that follows the section. What is between is up to zlib.
        assert_eq!(file[43..52], *b"\x06\x3f\0\0\0\x76\x02\0\0");
        assert_eq!(md5(&file[698..]), hash, "{order:?}");
    }
}

#[test]
fn chunk_size_is_rounded_down_to_whole_elements() {
    // bloscpack 0.11 to 0.14 wrote 994 + 994 + 500 bytes of these.
    let bytes = file(&data(2500), Some(2500), &stored(1000, 7, Shuffle::Bytes));
    let header = Header::parse(&bytes).unwrap();
    assert_eq!((header.chunk_size, header.last_chunk, header.nchunks), (994, 512, 3));
    assert_eq!(header.decoded_len(), Some(2500));
    // An element longer than the chunk that was asked for.
    let header = Header::parse(&file(&data(40), None, &stored(5, 9, Shuffle::Bytes))).unwrap();
    assert_eq!((header.chunk_size, header.last_chunk, header.nchunks), (9, 4, 5));
}

#[test]
fn the_bytes_do_not_depend_on_the_threads_or_on_the_pieces() {
    let bytes: Vec<u8> = (0..300_000_u32).flat_map(|at| (at / 3 * 7 % 4099).to_le_bytes()).collect();
    let options = |threads| {
        let chunks = ChunkOptions::default().with_typesize(4).with_threads(threads);
        WriteOptions { chunks, chunk_size: Some(100_000), ..WriteOptions::default() }
    };
    let len = Some(bytes.len() as u64);
    let one = file(&bytes, len, &options(1));
    for threads in [2, 3, 8] {
        assert!(file(&bytes, len, &options(threads)) == one, "{threads} threads");
        let mut writer = Writer::new(Cursor::new(Vec::new()), None, &options(threads)).unwrap();
        writer.push(&bytes[..10]).unwrap();
        assert_eq!(writer.push_all(&mut &bytes[10..]).unwrap(), bytes.len() as u64 - 10);
        assert!(writer.complete().unwrap().0.into_inner() == one, "{threads} threads, read");
    }
    assert!(one.len() < bytes.len());
}

#[test]
fn aborted_write_leaves_placeholder_offsets_and_counts() {
    let options = stored(100, 4, Shuffle::None);
    let mut out = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut out, Some(1000), &options).unwrap();
    writer.push(&data(900)).unwrap();
    drop(writer);
    let written = out.into_inner();
    assert_eq!(Header::parse(&written).unwrap().nchunks, 10);
    assert_eq!(written[32..32 + 110 * 8], [0xff; 880]);

    // Without a table the header itself is the placeholder.
    let mut options = options;
    options.offsets = Offsets::None;
    let mut out = Cursor::new(Vec::new());
    drop(Writer::new(&mut out, None, &options).unwrap());
    let header = Header::parse(out.get_ref()).unwrap();
    assert_eq!((header.nchunks, header.last_chunk, header.max_app_chunks), (-1, -1, 0));

    // With one, and without the length, no byte has been written.
    options.offsets = Offsets::Table;
    let mut out = Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut out, None, &options).unwrap();
    writer.push(&data(900)).unwrap();
    drop(writer);
    assert!(out.get_ref().is_empty());
}

#[test]
fn more_or_less_than_announced_is_refused_and_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.blp");
    let refused = |error: Error| assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let mut writer = Writer::create(&path, Some(10), &WriteOptions::default()).unwrap();
    refused(writer.push(&data(11)).unwrap_err());
    refused(writer.push(&data(1)).unwrap_err());
    refused(writer.finish().unwrap_err());
    let mut writer = Writer::create(&path, Some(10), &WriteOptions::default()).unwrap();
    refused(writer.push_all(&mut &data(11)[..]).unwrap_err());
    drop(writer);
    let mut writer = Writer::create(&path, Some(10), &WriteOptions::default()).unwrap();
    writer.push(&data(9)).unwrap();
    refused(writer.finish().unwrap_err());
    for chunk_size in [0, crate::MAX_CHUNK_SIZE + 1] {
        let options = WriteOptions { chunk_size: Some(chunk_size), ..WriteOptions::default() };
        refused(crate::write(&path, b"x", &options).unwrap_err());
    }
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);

    crate::write(&path, b"x", &WriteOptions::default()).unwrap();
    let first = std::fs::read(&path).unwrap();
    refused(crate::write(&path, b"y", &WriteOptions::default()).unwrap_err());
    assert_eq!(std::fs::read(&path).unwrap(), first);
    let options = WriteOptions { overwrite: Overwrite::Replace, ..WriteOptions::default() };
    crate::write(&path, b"y", &options).unwrap();
    assert_ne!(std::fs::read(&path).unwrap(), first);
}

/// A reader and a writer that fail after so many bytes.
struct Broken {
    left: usize,
    at: u64,
}

impl Broken {
    fn take(&mut self, len: usize) -> std::io::Result<usize> {
        let len = len.min(self.left);
        self.left -= len;
        self.at += len as u64;
        if len == 0 { Err(std::io::ErrorKind::StorageFull.into()) } else { Ok(len) }
    }
}

impl Read for Broken {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        self.take(buffer.len())
    }
}

impl Write for Broken {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.take(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl Seek for Broken {
    fn seek(&mut self, _: std::io::SeekFrom) -> std::io::Result<u64> {
        Ok(self.at)
    }
}

#[test]
fn a_failure_anywhere_is_an_error_and_leaves_no_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a.blp");
    let reader = Broken { left: 5000, at: 0 };
    let error = crate::compress(reader, &path, Some(9000), &stored(1000, 1, Shuffle::None)).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Io(_)));
    assert_eq!(std::fs::read_dir(&directory).unwrap().count(), 0);
    for left in (0..10_200).step_by(300) {
        let failed = Writer::new(Broken { left, at: 0 }, Some(9000), &stored(1000, 1, Shuffle::None))
            .and_then(|mut writer| {
                writer.push(&data(9000))?;
                writer.complete()
            });
        assert!(matches!(failed.map(|_| ()).unwrap_err().kind(), ErrorKind::Io(_)), "{left}");
    }
}

#[test]
fn a_pipe_gets_the_same_file() {
    let (bytes, options) = (data(5000), stored(1000, 4, Shuffle::Bytes));
    let write = |out: &mut dyn container_core::format::WriteSeek| {
        let mut writer = Writer::new(out, Some(5000), &options)?;
        writer.push(&bytes)?;
        writer.complete().map(|_| ())
    };
    let mut pipe = Pipe(Vec::new());
    with_seek(&mut pipe, write).unwrap();
    assert_eq!(pipe.0, file(&bytes, Some(5000), &options));
}
