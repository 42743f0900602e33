//! No verb decodes a compressed block twice, decodes past the last row that is wanted, or reads stored bytes twice for values and digest.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};

use asdf::BlockHeader;
use container_codecs::zlib::Zlib;
use container_core::codec::{Codec, Encoded, Take};
use container_core::container::{Container, Digests, OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::region::Region;
use container_core::source::Source;
use container_core::{Progress, Result};
use holdall::export::{AsStored, ExportFormat, export};

const ROWS: u64 = 40;
const COLUMNS: u64 = 10_000;

/// zlib, with a record of the decoded byte at which each decoding ended.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<u64>>>);

impl Codec for Counting {
    fn name(&self) -> &str {
        "zlib"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap().push(dst.len() as u64);
        Zlib.decode(src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap().push(range.end);
        Zlib.decode_range(encoded, range, dst)
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        self.0.lock().unwrap().push(encoded.decoded_len);
        Zlib.decode_in_pieces(encoded, take)
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        Zlib.encode(src, level, out)
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        Zlib.max_encoded_len(len)
    }
}

/// A file that is read by position, and counts the bytes that are read.
struct Counted(Vec<u8>, Arc<AtomicU64>);

impl Source for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.1.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.0.read_into(at, dst)
    }
}

/// A file with an array of 40 rows of 80 KB, as big as one block, compressed, with a digest.
struct File {
    container: Box<dyn Container>,
    ends: Counting,
    read: Arc<AtomicU64>,
    stored: u64,
}

fn open(datatype: &str, columns: u64) -> File {
    static STORED: OnceLock<Vec<u8>> = OnceLock::new();
    let stored = STORED.get_or_init(|| {
        let data: Vec<u8> = (0..ROWS * COLUMNS).flat_map(|at| (at / 7 + at % 3).to_le_bytes()).collect();
        let mut stored = Vec::new();
        Zlib.encode(&data, Some(1), &mut stored).unwrap();
        stored
    });
    let tree = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
         a: !core/ndarray-1.1.0 {{source: 0, datatype: {datatype}, byteorder: little, shape: [{ROWS}, {columns}]}}\n...\n"
    );
    let header = BlockHeader {
        header_size: 48,
        flags: 0,
        compression: *b"zlib",
        allocated_size: stored.len() as u64,
        used_size: stored.len() as u64,
        data_size: ROWS * COLUMNS * 8,
        checksum: BlockHeader::ALGORITHM.digest(stored).as_bytes().try_into().unwrap(),
    };
    let file = [tree.as_bytes(), &header.to_bytes(), stored].concat();
    let (ends, read) = (Counting::default(), Arc::<AtomicU64>::default());
    let mut codecs = asdf::compression::codecs();
    codecs.register(ends.clone());
    let input = Input::bytes(Box::new(Counted(file, Arc::clone(&read))));
    let container = asdf::open(input, &OpenOptions::default(), codecs).unwrap();
    read.store(0, Ordering::Relaxed);
    File { container, ends, read, stored: stored.len() as u64 }
}

impl File {
    /// The ends of all decodings since the last call.
    fn ends(&self) -> Vec<u64> {
        std::mem::take(&mut *self.ends.0.lock().unwrap())
    }
}

const FORMATS: [ExportFormat; 5] =
    [ExportFormat::Text, ExportFormat::Csv, ExportFormat::Json, ExportFormat::Raw, ExportFormat::Npy];

#[test]
fn a_cutout_is_decoded_once_and_no_further_than_its_last_element_in_every_form() {
    let row = COLUMNS * 8;
    let record = "[{name: x, datatype: int32}, {name: y, datatype: int32}]";
    let parts = [
        ("0:10, 0:10", 9 * row + 80),
        ("5", 6 * row),
        ("20:30, 9000:9010", 29 * row + 9010 * 8),
        ("3:37:7, 4", 31 * row + 40),
        ("::-1, 17", 39 * row + 18 * 8),
        (":, :", ROWS * row),
    ];
    for (selection, end) in parts {
        for datatype in ["int64", record] {
            for format in FORMATS {
                for digests in [Digests::Ignore, Digests::Whole] {
                    let file = open(datatype, COLUMNS);
                    let region = Region::parse(selection, &[ROWS, COLUMNS]).unwrap();
                    let mut read = ReadOptions::default().with_threads(2);
                    read.digests = digests;
                    let mut out = Vec::new();
                    let container = &*file.container;
                    let none = Progress::none();
                    let done = export(container, 0, &region, format, AsStored::No, &read, none, &mut out);
                    if done.is_err() {
                        // JSON and CSV have no form for some records: nothing was decoded for nothing.
                        assert!(file.ends().len() <= 1);
                        continue;
                    }
                    assert_eq!(file.ends(), [end], "{selection}, {datatype}, {format:?}, {digests:?}");
                    // By position no more is read than the decoding took, and nothing twice.
                    let read = file.read.load(Ordering::Relaxed);
                    assert!(read <= file.stored, "{selection}: {read} of {} bytes", file.stored);
                }
            }
        }
    }
}

#[test]
fn numbers_and_digests_of_values_are_made_of_one_decoding() {
    let whole = [ROWS * COLUMNS * 8];
    let read = ReadOptions::default().with_threads(2);
    let region = Region::whole(&[ROWS, COLUMNS]);
    let file = open("int64", COLUMNS);
    holdall::stat::stat(&*file.container, 0, &region, &read, Progress::none()).unwrap();
    assert_eq!((file.ends(), file.read.load(Ordering::Relaxed)), (whole.to_vec(), file.stored));
    let file = open("int64", COLUMNS);
    holdall::digest::digest(&*file.container, 0, &region, &read, Progress::none()).unwrap();
    assert_eq!((file.ends(), file.read.load(Ordering::Relaxed)), (whole.to_vec(), file.stored));
}

#[test]
fn repeated_reads_reuse_decoded_data() {
    let file = open("int64", COLUMNS);
    let read = ReadOptions::default();
    let region = Region::parse("10:20, 0:10", &[ROWS, COLUMNS]).unwrap();
    container_core::chunked_read::check_readable(&*file.container, 0, &region, &read).unwrap();
    assert_eq!(file.ends(), [(19 * COLUMNS + 10) * 8]);
    for row in 10..20 {
        let region = Region::parse(&format!("{row}, 0:10"), &[ROWS, COLUMNS]).unwrap();
        file.container.read(0, &region, &read).unwrap();
    }
    assert_eq!(file.ends(), [0; 0]);
}
