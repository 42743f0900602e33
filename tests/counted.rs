//! Nothing reads more of a file than it needs: bytes are counted on their way out of files of a gibibyte, of which nearly all is holes.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use container_core::Result;
use container_core::container::{Container, OpenOptions, ReadOptions, all_datasets, visible_datasets};
use container_core::region::Region;
use container_core::source::Source;
use holdall::json::info_json;
use holdall::open::{Accept, open_source};

/// Bytes of values in each file.
const DATA: u64 = 1 << 30;
/// Bytes of values in each chunk, of the formats that have chunks.
const CHUNK: u32 = 1 << 20;
const CHUNKS: u64 = DATA / CHUNK as u64;

/// A file that is zeros but for some pieces, and counts what is asked of it.
pub(crate) struct Holes {
    len: u64,
    /// In order, apart from each other.
    pieces: Vec<(u64, Vec<u8>)>,
    read: Arc<AtomicU64>,
    reads: Arc<AtomicU64>,
}

impl Holes {
    pub(crate) fn new(len: u64, pieces: Vec<(u64, Vec<u8>)>) -> Self {
        Self { len, pieces, read: Arc::default(), reads: Arc::default() }
    }
}

impl Source for Holes {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let end = at + dst.len() as u64;
        if end > self.len {
            return Err(container_core::Error::truncated(at..end, self.len.saturating_sub(at)));
        }
        self.read.fetch_add(dst.len() as u64, Ordering::Relaxed);
        self.reads.fetch_add(1, Ordering::Relaxed);
        dst.fill(0);
        let first = self.pieces.partition_point(|(start, piece)| start + piece.len() as u64 <= at);
        for (start, piece) in self.pieces[first..].iter().take_while(|(start, _)| *start < end) {
            let both = at.max(*start)..end.min(start + piece.len() as u64);
            let index = |range: &Range<u64>, base: u64| {
                usize::try_from(range.start - base).unwrap()..usize::try_from(range.end - base).unwrap()
            };
            dst[index(&both, at)].copy_from_slice(&piece[index(&both, *start)]);
        }
        Ok(())
    }
}

pub(crate) fn rawarray() -> Holes {
    let mut head = b"rawarray".to_vec();
    let words = [0, 3, 4, DATA, 2, 1024, DATA / 4096];
    words.iter().for_each(|word: &u64| head.extend(word.to_le_bytes()));
    Holes::new(64 + DATA, vec![(0, head)])
}

/// One chunk, of one frame.
pub(crate) fn gsd() -> Holes {
    let mut head = 0x65DF_65DF_65DF_65DF_u64.to_le_bytes().to_vec();
    [256, 1, 288, 1].iter().for_each(|word: &u64| head.extend(word.to_le_bytes()));
    head.extend(0x0001_0000_u32.to_le_bytes());
    head.extend(0x0001_0000_u32.to_le_bytes());
    head.resize(256, 0);
    [0, DATA / 4, 4096].iter().for_each(|word: &u64| head.extend(word.to_le_bytes()));
    head.extend(1_u32.to_le_bytes());
    // The first name, f32, no flags.
    head.extend([0, 0, 9, 0]);
    head.extend(b"values");
    head.resize(288 + 64, 0);
    Holes::new(4096 + DATA, vec![(0, head)])
}

pub(crate) fn asdf() -> Holes {
    let tree = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.5.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
         values: !core/ndarray-1.0.0\n  source: 0\n  datatype: float32\n  byteorder: little\n  shape: [1024, {}]\n...\n",
        DATA / 4096
    );
    let mut head = tree.into_bytes();
    head.extend(b"\xd3BLK\0\x30\0\0\0\0\0\0\0\0");
    [DATA; 3].iter().for_each(|word| head.extend(word.to_be_bytes()));
    head.extend([0; 16]);
    Holes::new(head.len() as u64 + DATA, vec![(0, head)])
}

/// A header of a chunk that holds its bytes as they are.
fn stored_as_it_is(version: u8, flags: u8, header: u32, typesize: u8, nbytes: u32, block: u32) -> Vec<u8> {
    let mut chunk = vec![version, 1, flags, typesize];
    [nbytes, block, nbytes + header].iter().for_each(|word| chunk.extend(word.to_le_bytes()));
    chunk.resize(usize::try_from(header).unwrap(), 0);
    chunk
}

pub(crate) fn bloscpack() -> Holes {
    let mut head = b"blpk\x03\x01\0\x01".to_vec();
    [CHUNK, CHUNK].iter().for_each(|word| head.extend(word.to_le_bytes()));
    [CHUNKS, 0].iter().for_each(|word| head.extend(word.to_le_bytes()));
    let first = 32 + 8 * CHUNKS;
    let starts: Vec<u64> = (0..CHUNKS).map(|chunk| first + chunk * (16 + u64::from(CHUNK))).collect();
    starts.iter().for_each(|start| head.extend(start.to_le_bytes()));
    let mut pieces = vec![(0, head)];
    let chunk = stored_as_it_is(2, 0b10, 16, 1, CHUNK, 1 << 16);
    pieces.extend(starts.iter().map(|start| (*start, chunk.clone())));
    Holes::new(first + CHUNKS * (16 + u64::from(CHUNK)), pieces)
}

pub(crate) fn blosc2() -> Holes {
    const HEAD: u64 = 97;
    let offsets_at = HEAD + CHUNKS * (32 + u64::from(CHUNK));
    let mut end = stored_as_it_is(5, 0b111, 32, 8, u32::try_from(8 * CHUNKS).unwrap(), 8 * 1024);
    (0..CHUNKS).for_each(|chunk| end.extend((chunk * (32 + u64::from(CHUNK))).to_le_bytes()));
    end.extend(b"\x94\x01\x93\xcd\0\x06\xde\0\0\xdc\0\0\xce\0\0\0\x23\xd8\0");
    end.extend([0; 16]);
    let len = offsets_at + end.len() as u64;
    let mut head = b"\x9e\xa8b2frame\0\xd2\0\0\0\x61\xcf".to_vec();
    head.extend(len.to_be_bytes());
    head.extend(b"\xa4\x12\0\x55\x02\xd3");
    head.extend(DATA.to_be_bytes());
    head.push(0xd3);
    head.extend((CHUNKS * (32 + u64::from(CHUNK))).to_be_bytes());
    head.extend(b"\xd2\0\0\0\x01\xd2\0\x01\0\0\xd2");
    head.extend(CHUNK.to_be_bytes());
    head.extend(b"\xd1\0\x01\xd1\0\x01\xc2\xd8\x06");
    head.extend([0; 16]);
    head.extend(b"\x93\xcd\0\x07\xde\0\0\xdc\0\0");
    assert_eq!(head.len() as u64, HEAD);
    let mut pieces = vec![(0, head)];
    let chunk = stored_as_it_is(5, 0b111, 32, 1, CHUNK, 1 << 16);
    pieces.extend((0..CHUNKS).map(|index| (HEAD + index * (32 + u64::from(CHUNK)), chunk.clone())));
    pieces.push((offsets_at, end));
    Holes::new(len, pieces)
}

/// A format, a file of it, and most bytes.
type Bounds = (&'static str, fn() -> Holes, [u64; 3]);

/// Most bytes that may be read for `info`, for `ls` beyond that, and for a slice of 4 KiB beyond that.
///
/// Bloscpack's offsets take 8 KiB, and so does Blosc2's index. A slice of either is out of one chunk, which is read whole.
const MAX_COUNTS: [Bounds; 5] = [
    ("asdf", asdf, [8 << 10, 0, 4 << 10]),
    ("blosc2", blosc2, [12 << 10, 0, (1 << 20) + 4096]),
    ("bloscpack", bloscpack, [12 << 10, 0, (1 << 20) + 4096]),
    ("gsd", gsd, [8 << 10, 0, 8 << 10]),
    ("rawarray", rawarray, [1 << 10, 0, 4 << 10]),
];

/// Most reads for all three together, whatever the number of chunks.
const MAX_READS: [(&str, u64); 2] = [("blosc2", 10), ("bloscpack", 10)];

#[test]
fn reads_stay_within_the_expected_byte_counts() {
    let mut table = String::new();
    let mut over = Vec::new();
    for (name, make, most) in MAX_COUNTS {
        let source = make();
        let (read, reads) = (Arc::clone(&source.read), Arc::clone(&source.reads));
        let taken = || read.swap(0, Ordering::Relaxed);
        let opened = open_source(Box::new(source), None, Accept::Containers, &OpenOptions::default());
        let opened = opened.unwrap_or_else(|error| panic!("{name}: {error}"));
        let file = opened.container.as_ref();
        assert_eq!(opened.format.name, name);
        let info = info_json(name, file);
        let codecs: Vec<String> = visible_datasets(file)
            .map(|(_, dataset)| dataset.into_owned().codec)
            .chain(file.checksums())
            .collect();
        assert!(info["complete"] == true && info["datasets"] == 1 && !codecs.is_empty(), "{info}");
        let for_info = taken();
        assert_eq!(all_datasets(file).map(|(_, dataset)| dataset.logical).max(), Some(DATA), "{name}");
        let for_listing = taken();
        slice(file);
        // Chunks of one size are judged by the header of the file, others by their offsets.
        if name == "blosc2" || name == "bloscpack" {
            assert!(file.has_small_blocks(4 << 20) && !file.has_small_blocks(1 << 19));
        }
        let for_slice = taken();
        let reads = reads.load(Ordering::Relaxed);
        writeln!(table, "| {name} | {for_info} | {for_listing} | {for_slice} | {reads} |").unwrap();
        if MAX_READS.iter().any(|(own, most)| *own == name && reads > *most)
            || for_info > most[0]
            || for_listing > most[1]
            || for_slice > most[2]
        {
            over.push(name);
        }
    }
    println!("| format | `info` | `ls` | 4 KiB out of the middle | reads |\n|---|---|---|---|---|\n{table}");
    assert!(over.is_empty(), "read more than they need: {over:?}\n{table}");
}

/// Reads 4 KiB near the middle, which are zeros.
pub(crate) fn slice(file: &dyn Container) {
    let shape = file.require(0).unwrap().shape.clone();
    let selection = match shape.len() {
        1 => "500000:501024",
        _ => "500, 1000:2024",
    };
    // Of bytes rather than numbers there are four times as many; a frame comes before what is in it.
    let selection = match (file.about().format, shape.len()) {
        ("gsd", _) => "0, 500000:501024",
        ("blosc2" | "bloscpack", 1) => "500000:504096",
        ("rawarray", _) => ":, 1000",
        _ => selection,
    };
    let region = Region::parse(selection, &shape).unwrap();
    let array = file.read(0, &region, &ReadOptions::default()).unwrap();
    let order = file.require(0).unwrap().order;
    let bytes = array.bytes(order, &container_core::Limits::default()).unwrap();
    assert!(bytes.iter().all(|byte| *byte == 0) && !bytes.is_empty());
}
