//! Every frame of the corpus, compared with its manifest.

use blosc2_frame::{ChunkSize, ErrorKind, Frame, OpenOptions};
use container_codecs::checksum::Algorithm;
use container_core::container::{ReadOptions, Tolerance};
use container_core::report::Severity;
use container_core::source::Access;

use crate::manifest::{Fixture, fixtures};

fn sha256(bytes: &[u8]) -> String {
    Algorithm::Sha256.digest(bytes).to_string()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn open(fixture: &Fixture, access: Access) -> blosc2_frame::Result<Frame> {
    let mut options = OpenOptions::default();
    options.access = access;
    match fixture.offset {
        Some(at) => Frame::open_at(fixture.full_path(), at, &options),
        None => Frame::open_with(fixture.full_path(), &options),
    }
}

/// Compares the fields of the header.
fn compare_header(frame: &Frame, fixture: &Fixture) {
    let (header, path) = (frame.header(), &fixture.path);
    assert_eq!(Some(header.version), fixture.frame_version, "{path}");
    assert_eq!(Some(header.typesize), fixture.typesize, "{path}");
    assert_eq!(Some(header.nbytes), fixture.nbytes, "{path}");
    assert_eq!(Some(header.cbytes), fixture.cbytes, "{path}");
    assert_eq!(Some(frame.chunk_count()), fixture.nchunks, "{path}");
    let chunksize = match header.chunksize {
        ChunkSize::Unset => -1,
        ChunkSize::Fixed(len) => i64::from(len),
        ChunkSize::Variable => 0,
    };
    assert_eq!(Some(chunksize), fixture.chunksize, "{path}");
}

fn compare_metadata(frame: &Frame, fixture: &Fixture) {
    let path = &fixture.path;
    let expected = fixture.meta.as_deref().unwrap_or_default();
    let found: Vec<(String, String)> =
        frame.metalayers().iter().map(|(name, value)| (name.to_owned(), hex(value))).collect();
    let expected: Vec<(String, String)> =
        expected.iter().map(|it| (it.name.clone(), it.hex.clone())).collect();
    assert_eq!(found, expected, "{path}");
    let expected = fixture.vlmeta.as_deref().unwrap_or_default();
    let names: Vec<&str> = frame.vlmetalayer_names().collect();
    assert_eq!(names, expected.iter().map(|it| it.name.as_str()).collect::<Vec<_>>(), "{path}");
    for named in expected {
        let value = frame.vlmetalayer(&named.name).unwrap().unwrap();
        assert_eq!(hex(&value), named.hex, "{path} {}", named.name);
    }
}

fn compare_values(frame: &Frame, fixture: &Fixture) {
    let path = &fixture.path;
    let options = ReadOptions::default().with_threads(2);
    let chunks: Vec<Vec<u8>> = frame.chunks(&options).collect::<Result<_, _>>().unwrap();
    let joined = frame.read_range(0..frame.data_len(), &options).unwrap();
    assert!(joined == chunks.concat(), "{path}");
    if let Some(expected) = &fixture.chunk_values {
        let found: Vec<String> = chunks.iter().map(|chunk| sha256(chunk)).collect();
        assert_eq!(found, *expected, "{path}");
    } else if let Some(expected) =
        fixture.values.as_ref().filter(|_| !fixture.is_array() && !fixture.is_big_endian())
    {
        assert_eq!(sha256(&joined), *expected, "{path}");
    }
    for (index, chunk) in (0_u64..).zip(&chunks) {
        assert_eq!(frame.chunk_len(index).unwrap(), chunk.len() as u64, "{path}");
        let count = frame.block_count(index).unwrap();
        let blocks: Vec<Vec<u8>> =
            (0..count).map(|block| frame.read_block(index, block, &options).unwrap()).collect();
        assert!(blocks.concat() == *chunk, "{path} chunk {index}");
        assert!(frame.read_block(index, count, &options).is_err(), "{path} chunk {index}");
        if let Some(sizes) = &fixture.block_sizes {
            let found: Vec<u64> = blocks.iter().map(|block| block.len() as u64).collect();
            assert_eq!(found, sizes[usize::try_from(index).unwrap()], "{path} chunk {index}");
        }
        let middle = chunk.len() / 3..chunk.len() - chunk.len() / 4;
        let mut part = vec![7; middle.len()];
        frame.read_chunk_into(index, middle.clone(), &mut part, &options).unwrap();
        assert!(part == chunk[middle], "{path} chunk {index}");
        let entry = frame.chunk_entry(index).unwrap();
        let source = frame.block_source(&entry).unwrap();
        let limits = options.limits;
        let block = container_core::block::read_block(&*source, &entry, frame.codecs(), &limits, 1).unwrap();
        assert!(*block == **chunk, "{path} chunk {index}");
    }
    // Items that begin in one chunk and end in another.
    let count = frame.item_count();
    let len = frame.data_len().checked_div(count).unwrap_or(0);
    for (start, stop) in [(count / 7, count - count / 5), (count / 2, count / 2), (count, count)] {
        let items = frame.read_items(start..stop, &options).unwrap();
        let from = usize::try_from(start * len).unwrap();
        assert!(items == joined[from..from + items.len()], "{path}");
        assert_eq!(items.len() as u64, (stop - start) * len, "{path}");
    }
    assert!(frame.read_items(0..count + 1, &options).is_err(), "{path}");
}

/// Returns the sound frames that this build has the codecs for.
fn sound() -> Vec<Fixture> {
    let has_codec = |it: &Fixture| cfg!(feature = "zfp") || !it.path.contains("/zfp_");
    let is_sound = |it: &Fixture| it.is_small_frame() && it.verdict == "sound";
    fixtures().into_iter().filter(|it| is_sound(it) && has_codec(it)).collect()
}

#[test]
fn sound_fixtures_match_their_recorded_contents() {
    let mut seen = 0;
    for fixture in sound() {
        for access in [Access::Auto, Access::Positioned] {
            let frame = open(&fixture, access).unwrap_or_else(|error| panic!("{}: {error}", fixture.path));
            compare_header(&frame, &fixture);
            compare_metadata(&frame, &fixture);
            compare_values(&frame, &fixture);
        }
        seen += 1;
    }
    assert!(seen > 200, "{seen}");
}

/// Headers, metalayers and trailers are written as they were read, byte by byte.
#[test]
fn heads_and_trailers_are_written_as_they_were() {
    // C-Blosc2 keeps the empty index that it has; this one was made without.
    for fixture in sound() {
        let frame = open(&fixture, Access::Auto).unwrap();
        let layout = frame.layout();
        let source = frame.source();
        let head = [frame.header().encode(), frame.metalayers().encode()].concat();
        assert!(source.read(layout.header_range()).unwrap() == head, "{}", fixture.path);
        let trailer = layout.trailer().encode();
        assert!(source.read(layout.trailer_range()).unwrap() == trailer, "{}", fixture.path);
    }
}

/// A copy as one run of bytes is the same frame, byte for byte where it was one.
#[test]
fn frames_are_copied() {
    for fixture in sound() {
        let frame = open(&fixture, Access::Auto).unwrap();
        let bytes = frame.to_cframe().unwrap();
        if fixture.full_path().is_file() {
            let start = usize::try_from(frame.layout().start()).unwrap();
            let file = std::fs::read(fixture.full_path()).unwrap();
            assert!(file[start..start + bytes.len()] == bytes, "{}", fixture.path);
        }
        let copy = Frame::from_bytes(bytes).unwrap_or_else(|error| panic!("{}: {error}", fixture.path));
        assert_eq!(copy.metalayers(), frame.metalayers(), "{}", fixture.path);
        let options = ReadOptions::default();
        for (ours, theirs) in copy.chunks(&options).zip(frame.chunks(&options)) {
            assert!(ours.unwrap() == theirs.unwrap(), "{}", fixture.path);
        }
        assert_eq!(copy.chunk_count(), frame.chunk_count(), "{}", fixture.path);
    }
}

/// Findings about arrays are the arrays' own.
const OF_ARRAYS: &[&str] = &["padding"];

#[test]
fn sound_fixtures_report_exactly_the_expected_faults() {
    for fixture in sound() {
        let frame = open(&fixture, Access::Auto).unwrap();
        let scan = frame.scan_chunks().unwrap();
        let mut codes: Vec<&str> =
            frame.layout().faults().iter().chain(&scan.faults).map(blosc2_frame::Fault::code).collect();
        // Deleted entries of a store are reported by the store.
        let expected = fixture.codes.iter().filter(|_| !fixture.path.ends_with(".b2e")).map(String::as_str);
        let mut expected: Vec<&str> = expected.filter(|code| !OF_ARRAYS.contains(code)).collect();
        codes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(codes, expected, "{}: {:?} {:?}", fixture.path, frame.layout().faults(), scan.faults);
    }
}

/// Files whose faults a reader of chunks does not find: arrays and stores find them.
const OF_OTHERS: &[&str] = &["bad/tensor_", "bad/array_", "bad/embed_", "bad/zip_"];

/// Files whose changed bytes make no visible difference: a byte of a stored stream, the size of the only block.
const UNNOTICED: &[&str] = &["bad/block_magic.b2frame", "bad/vlmeta_chunk.b2frame"];

/// Collects the problems of a frame from every query of it.
fn problems(frame: &Frame) -> Vec<String> {
    let options = ReadOptions::default();
    let scan = frame.scan_chunks().unwrap();
    let faults = frame.layout().faults().iter().chain(&scan.faults);
    let mut found: Vec<String> = faults
        .filter(|fault| fault.severity() == Severity::Error)
        .map(|fault| format!("{}: {}", fault.code(), fault.message()))
        .collect();
    for index in 0..frame.chunk_count().min(100) {
        let is_small = frame.chunk_len(index).is_ok_and(|len| len < 1 << 20);
        let error = frame.read_chunk(index, &options).err().filter(|_| is_small);
        found.extend(error.map(|error| error.to_string()));
    }
    for name in frame.vlmetalayer_names() {
        found.extend(frame.vlmetalayer(name).err().map(|error| error.to_string()));
    }
    found
}

/// Damage is refused, at the latest when what is damaged is read; lenient readers get as far as they can.
#[test]
fn damaged_fixtures_are_reported() {
    let of_others = |it: &&Fixture| {
        UNNOTICED.contains(&it.path.as_str()) || OF_OTHERS.iter().any(|start| it.path.starts_with(start))
    };
    let all = fixtures();
    let bad: Vec<&Fixture> = all.iter().filter(|it| it.verdict != "sound" && !of_others(it)).collect();
    assert!(bad.len() > 130, "{}", bad.len());
    for fixture in bad {
        let mut lenient = OpenOptions::default();
        lenient.tolerance = Tolerance::Lenient;
        let strict = Frame::open(fixture.full_path());
        match Frame::open_with(fixture.full_path(), &lenient) {
            Ok(frame) => {
                assert!(!problems(&frame).is_empty(), "{}", fixture.path);
                let blocking = frame.layout().blocking(Tolerance::Strict);
                assert_eq!(blocking.is_some(), strict.is_err(), "{}", fixture.path);
            }
            Err(error) => {
                assert!(!matches!(error.kind(), ErrorKind::Io(_)), "{}: {error}", fixture.path);
                assert!(strict.is_err(), "{}", fixture.path);
            }
        }
    }
}
