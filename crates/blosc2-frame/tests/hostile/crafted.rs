//! Frames made part by part, and the results of all operations that read them.

use std::time::{Duration, Instant};

use blosc2_frame::{
    ChunkSize, Error, ErrorKind, FORMAT, Frame, Header, Kind, Limits, Metalayers, OpenOptions, Trailer,
};
use container_core::Progress;
use container_core::container::{self, CheckDepth, Container, ReadOptions, Tolerance, all_datasets};
use container_core::format::Input;
use container_core::region::Region;

/// Maximum memory that a file may request, in bytes.
pub(crate) const MEMORY: u64 = 64 << 20;

/// Longer than any of it takes on a busy machine without optimisation; those of big-endian processors are emulated.
const MAX_TIME: Duration = Duration::from_secs(if cfg!(target_endian = "big") { 600 } else { 60 });

/// The parts of a frame. Lengths of the header that are not set otherwise follow from them.
pub(crate) struct Parts {
    pub(crate) header: Header,
    pub(crate) metalayers: Metalayers,
    pub(crate) section: Vec<u8>,
    pub(crate) index: Vec<u8>,
}

impl Parts {
    /// Creates a frame of elements of one byte in chunks of `chunksize`.
    pub(crate) fn new(nbytes: u64, chunksize: u32) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/blosc2/ok/three_chunks.b2frame");
        let header = Header {
            version: 2,
            kind: Kind::Contiguous,
            nbytes,
            typesize: 1,
            blocksize: 0,
            chunksize: ChunkSize::Fixed(chunksize),
            has_vlmetalayers: false,
            ..Frame::open(path).unwrap().header().clone()
        };
        Self { header, metalayers: Metalayers::new(), section: Vec::new(), index: Vec::new() }
    }

    pub(crate) fn bytes(mut self) -> Vec<u8> {
        let (metalayers, trailer) = (self.metalayers.encode(), Trailer::default().encode());
        let header_len = 87 + metalayers.len();
        self.header.header_len = u32::try_from(header_len).unwrap();
        self.header.cbytes = self.section.len() as u64;
        self.header.frame_len = (header_len + self.section.len() + self.index.len() + trailer.len()) as u64;
        [self.header.encode(), metalayers, self.section, self.index, trailer].concat()
    }
}

/// Returns the header of a chunk.
pub(crate) fn chunk_head(
    flags: u8,
    typesize: u8,
    nbytes: u32,
    blocksize: u32,
    cbytes: u32,
    last: u8,
) -> Vec<u8> {
    let mut head = vec![5, 1, flags, typesize];
    for word in [nbytes, blocksize, cbytes] {
        head.extend(word.to_le_bytes());
    }
    head.resize(31, 0);
    head.push(last);
    head
}

/// Makes a stored chunk of so many zeros, which takes 32 bytes.
pub(crate) fn zeros(nbytes: u32) -> Vec<u8> {
    chunk_head(5, 1, nbytes, nbytes.min(1 << 20), 32, 0x10)
}

/// Makes a chunk that holds these bytes as they are.
pub(crate) fn plain(typesize: u8, bytes: &[u8]) -> Vec<u8> {
    let len = u32::try_from(bytes.len()).unwrap();
    [chunk_head(7, typesize, len, len.max(1), len + 32, 0), bytes.to_vec()].concat()
}

/// Makes an index of these offsets.
pub(crate) fn index(offsets: &[i64]) -> Vec<u8> {
    plain(8, &offsets.iter().flat_map(|offset| offset.to_le_bytes()).collect::<Vec<u8>>())
}

/// Makes an index of `count` times the same offset, in 40 bytes.
pub(crate) fn same_index(count: u32, offset: i64) -> Vec<u8> {
    let mut chunk = chunk_head(5, 8, count * 8, 1 << 14, 40, 0x30);
    chunk.extend(offset.to_le_bytes());
    chunk
}

pub(crate) fn own_options(tolerance: Tolerance) -> OpenOptions {
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(MEMORY);
    options.tolerance = tolerance;
    options
}

pub(crate) fn lens(bytes: &[u8]) -> blosc2_frame::Result<Box<dyn Container>> {
    (FORMAT.open)(Input::bytes(Box::new(bytes.to_vec())), &container_options())
}

pub(crate) fn container_options() -> container::OpenOptions {
    let mut options = container::OpenOptions::default();
    options.limits = Limits::default().with_memory(MEMORY);
    options
}

/// Returns whether it opens by either tolerance, and the codes of a full check. Also checks that a frame that opens can be described
/// and read or returns errors, that the map covers the file, and that no step takes long.
pub(crate) fn said(bytes: &[u8]) -> ([bool; 2], Vec<&'static str>) {
    let began = Instant::now();
    let limits = Limits::default().with_memory(MEMORY);
    let options = ReadOptions::default().with_limits(limits);
    let opens = [Tolerance::Strict, Tolerance::Lenient].map(|tolerance| {
        match Frame::from_source(Box::new(bytes.to_vec()), 0, &own_options(tolerance)) {
            Ok(frame) => {
                look(&frame, &options);
                true
            }
            Err(error) => {
                expected(&error);
                false
            }
        }
    });
    let codes = match lens(bytes) {
        Ok(lens) => {
            through(&*lens, bytes.len() as u64, &options);
            match lens.check(CheckDepth::Full, &options, Progress::none()) {
                Ok(report) => report.findings.iter().map(|finding| finding.code).collect(),
                Err(error) => {
                    expected(&error);
                    vec!["not checked"]
                }
            }
        }
        Err(error) => {
            expected(&error);
            vec!["not opened"]
        }
    };
    let repair = FORMAT.repair.unwrap();
    let source = Input::bytes(Box::new(bytes.to_vec()));
    if let Err(error) = repair(source, &container_options(), None, Progress::none()) {
        expected(&error);
    }
    assert!(began.elapsed() < MAX_TIME, "{:?}", began.elapsed());
    let mut codes = codes;
    codes.sort_unstable();
    codes.dedup();
    (opens, codes)
}

fn look(frame: &Frame, options: &ReadOptions) {
    let check = |result: blosc2_frame::Result<()>| {
        if let Err(error) = result {
            expected(&error);
        }
    };
    let last = frame.chunk_count().saturating_sub(4);
    for index in (0..frame.chunk_count()).take(8).chain(last..frame.chunk_count()) {
        check(frame.read_chunk(index, options).map(|_| ()));
        check(frame.read_block(index, 0, options).map(|_| ()));
        check(frame.chunk_header(index).map(|_| ()));
    }
    let len = frame.data_len();
    for start in [0, len / 2, len.saturating_sub(100)] {
        check(frame.read_range(start..len.min(start + 100), options).map(|_| ()));
    }
    let names: Vec<String> = frame.vlmetalayer_names().map(str::to_owned).collect();
    names.iter().for_each(|name| check(frame.vlmetalayer(name).map(|_| ())));
    check(frame.scan_chunks().map(|_| ()));
    check(frame.attributes().map(|_| ()));
}

fn through(lens: &dyn Container, len: u64, options: &ReadOptions) {
    assert_eq!(lens.about().size, len);
    let mut end = 0;
    let walked = lens.for_each_segment(&mut |segment| {
        assert_eq!(segment.range.start, end, "{}", segment.role);
        assert!(segment.range.end > end, "{}", segment.role);
        end = segment.range.end;
        Ok(())
    });
    assert!(walked.is_err() || end == len, "the map ends at {end} of {len}");
    if let Err(error) = lens.meta() {
        expected(&error);
    }
    for (at, dataset) in all_datasets(lens).take(8) {
        if let Err(error) = lens.read(at, &Region::whole(&dataset.shape), options) {
            expected(&error);
        }
    }
}

/// Kinds of errors that bytes can cause, with a range if one is known.
pub(crate) fn expected(error: &Error) {
    use ErrorKind::{Limit, Malformed, Truncated, Unsupported, WrongFormat};
    let kind = error.kind();
    assert!(
        matches!(kind, WrongFormat { .. } | Truncated { .. } | Malformed(_) | Unsupported(_) | Limit { .. }),
        "{error:?}"
    );
    assert!(error.range().is_none_or(|range| range.start <= range.end), "{error:?}");
}
