//! Frames and stores of any bytes: opening by either tolerance, and looking at all there is.

use blosc2_frame::{FORMAT, Frame, OpenOptions};
use container_core::container::{Tolerance, all_datasets};
use container_core::format::Input;
use container_core::report::Severity;

use crate::feed::Feed;
use crate::lens::{look_at_error, look_through};
use crate::options::{read_options, small_options};

/// Most bytes that all datasets of a file may hold, for all of them to be read many times.
const MAX_DATASET_BYTES: u64 = 1 << 17;

/// Chunks that are looked at one by one; an index of a few bytes may speak of millions.
const MAX_CHUNKS: u64 = 24;

pub(crate) fn own_options(tolerance: Tolerance) -> OpenOptions {
    let mut options = OpenOptions::default();
    // What is stored is what is compared, whatever it stands for.
    options.placeholders = Tolerance::Lenient;
    options.limits = small_options().limits;
    options.tolerance = tolerance;
    options
}

pub(crate) fn open(data: &[u8], tolerance: Tolerance) -> blosc2_frame::Result<Frame> {
    Frame::from_source(Box::new(data.to_vec()), 0, &own_options(tolerance))
}

/// Opens the bytes as a frame in every way and looks at all there is.
pub fn blosc2_open(data: &[u8]) {
    let mut feed = Feed::derived(data);
    let (strict, lenient) = (open(data, Tolerance::Strict), open(data, Tolerance::Lenient));
    for frame in [&strict, &lenient] {
        match frame {
            Ok(frame) => native(frame, data, &mut feed),
            Err(error) => look_at_error(error),
        }
    }
    match (&strict, &lenient) {
        (Ok(strict), Ok(lenient)) => same(strict, lenient),
        (Ok(_), Err(error)) => panic!("strict opens no more than lenient: {error}"),
        (Err(error), Ok(lenient)) => {
            let told = lenient.layout().faults().iter().any(|fault| fault.severity() == Severity::Error);
            assert!(told, "strict does not open it, and lenient sees nothing wrong: {error}");
        }
        (Err(_), Err(_)) => {}
    }
    through(data, &mut feed);
}

/// Zip files and EmbedStores, through the lens.
pub fn blosc2_store(data: &[u8]) {
    through(data, &mut Feed::derived(data));
}

fn through(data: &[u8], feed: &mut Feed<'_>) {
    for tolerance in [Tolerance::Strict, Tolerance::Lenient] {
        let mut options = small_options();
        options.tolerance = tolerance;
        let lens = match (FORMAT.open)(Input::bytes(Box::new(data.to_vec())), &options) {
            Ok(lens) => lens,
            Err(error) => {
                look_at_error(&error);
                continue;
            }
        };
        let held =
            all_datasets(&*lens).take(65).map(|(_, dataset)| dataset.logical).fold(0, u64::saturating_add);
        if lens.dataset_count() <= 64 && held <= MAX_DATASET_BYTES {
            look_through(&*lens, data.len() as u64, tolerance, feed);
        }
    }
}

/// Two ways to open a frame give the same.
fn same(strict: &Frame, lenient: &Frame) {
    assert_eq!((strict.header(), strict.chunk_count()), (lenient.header(), lenient.chunk_count()));
    assert_eq!(strict.metalayers(), lenient.metalayers());
    for index in 0..strict.chunk_count().min(MAX_CHUNKS) {
        let (one, other) =
            (strict.read_chunk(index, &read_options()), lenient.read_chunk(index, &read_options()));
        assert_eq!(one.ok(), other.ok(), "chunk {index}");
    }
}

/// The format's own interface.
fn native(frame: &Frame, data: &[u8], feed: &mut Feed<'_>) {
    let len = data.len() as u64;
    let layout = frame.layout();
    assert_eq!(layout.file_len(), len);
    for range in [layout.header_range(), layout.chunks(), layout.index(), layout.trailer_range()] {
        assert!(range.start <= range.end, "{range:?}");
    }
    let options = read_options();
    let mut joined = Some(Vec::new());
    for index in 0..frame.chunk_count().min(MAX_CHUNKS) {
        match frame.read_chunk(index, &options) {
            Ok(chunk) => {
                parts(frame, index, &chunk, feed);
                if let Some(joined) = &mut joined {
                    joined.extend(chunk);
                }
            }
            Err(error) => {
                look_at_error(&error);
                joined = None;
            }
        }
    }
    let whole = frame.read_range(0..frame.data_len(), &options);
    if let Err(error) = &whole {
        look_at_error(error);
    }
    if let (Some(joined), true) = (joined, frame.chunk_count() <= MAX_CHUNKS)
        && joined.len() as u64 == frame.data_len()
    {
        assert!(whole.is_ok_and(|whole| whole == joined), "the data are its chunks");
    }
    let scan = frame.scan_chunks().expect("no limit is so low");
    for chunk in &scan.chunks {
        assert!(layout.chunks().start <= chunk.range.start && chunk.range.end <= layout.chunks().end);
    }
    assert!(scan.dead.iter().all(|range| range.start < range.end && range.end <= len));
    for fault in scan.faults.iter().chain(layout.faults()) {
        assert!(fault.range().start <= fault.range().end && !fault.message().is_empty(), "{fault:?}");
    }
    let names: Vec<String> = frame.vlmetalayer_names().map(str::to_owned).collect();
    for name in &names {
        match frame.vlmetalayer(name) {
            Ok(value) => assert!(value.is_some()),
            Err(error) => look_at_error(&error),
        }
    }
    if let Err(error) = frame.attributes() {
        look_at_error(&error);
    }
    if let Ok(bytes) = frame.to_cframe() {
        assert!(data.starts_with(&bytes) || frame.header().kind == blosc2_frame::Kind::Sparse);
    }
}

/// Parts of a chunk, and its blocks, are parts of the whole.
fn parts(frame: &Frame, index: u64, chunk: &[u8], feed: &mut Feed<'_>) {
    let options = read_options();
    let stored = frame.chunk(index).expect("it has been read");
    assert!(stored.len() >= 16);
    let start = feed.word() as usize % (chunk.len() + 1);
    let end = start + feed.word() as usize % (chunk.len() - start + 1);
    let mut part = vec![0; end - start];
    frame.read_chunk_into(index, start..end, &mut part, &options).expect("a part of what can be read");
    assert!(part == chunk[start..end], "bytes {start}..{end} of chunk {index}");
    let beyond = 0..chunk.len() + 1;
    assert!(frame.read_chunk_into(index, beyond, &mut vec![0; chunk.len() + 1], &options).is_err());
    let count = frame.block_count(index).expect("it has been read");
    if count <= 64 {
        let mut blocks = Vec::new();
        for block in 0..count {
            blocks.extend(frame.read_block(index, block, &options).expect("a block of what can be read"));
        }
        assert!(blocks == chunk, "the blocks of chunk {index}");
    }
    assert!(frame.read_block(index, count, &options).is_err());
}
