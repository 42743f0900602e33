//! Parts of encoded blocks: number and extent of the decodings.

use std::sync::{Arc, Mutex};

use container_codecs::zlib::Zlib;
use container_core::codec::{Codec, Encoded, Take};
use container_core::container::{Digests, ReadOptions};
use container_core::region::{AxisSelection, Kept, Region};
use container_core::{Limits, Result};

use crate::{File, OpenOptions};

/// zlib, with a record of where each decoding ended.
#[derive(Clone, Default)]
struct Counting(Arc<Mutex<Vec<u64>>>);

impl Counting {
    fn ends(&self) -> Vec<u64> {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

impl Codec for Counting {
    fn name(&self) -> &str {
        "zlib"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap().push(dst.len() as u64);
        Zlib.decode(src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: std::ops::Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.0.lock().unwrap().push(range.end);
        Zlib.decode_range(encoded, range, dst)
    }

    fn decode_in_pieces(&self, encoded: &Encoded<'_>, take: &mut Take<'_>) -> Result<()> {
        let mut passed = 0;
        let done = Zlib.decode_in_pieces(encoded, &mut |piece| {
            passed += piece.len() as u64;
            take(piece)
        });
        self.0.lock().unwrap().push(passed);
        done
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        Zlib.encode(src, level, out)
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        Zlib.max_encoded_len(len)
    }
}

const ROWS: u64 = 200;
const ROW: u64 = 8000;

fn value(row: u64, column: u64) -> u8 {
    ((row * 7 + column / 3) % 251) as u8
}

fn open() -> (File, Counting) {
    let data: Vec<u8> = (0..ROWS).flat_map(|row| (0..ROW).map(move |column| value(row, column))).collect();
    let mut stored = Vec::new();
    Zlib.encode(&data, Some(1), &mut stored).unwrap();
    let tree = format!(
        "#ASDF 1.0.0\n#ASDF_STANDARD 1.6.0\n%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n\
         a: !core/ndarray-1.1.0 {{source: 0, datatype: uint8, shape: [{ROWS}, {ROW}]}}\n...\n"
    );
    let mut file = tree.into_bytes();
    file.extend(b"\xd3BLK\0\x30\0\0\0\0zlib");
    [stored.len() as u64, stored.len() as u64, data.len() as u64]
        .iter()
        .for_each(|word| file.extend(word.to_be_bytes()));
    file.extend([0; 16]);
    file.extend(stored);
    let counting = Counting::default();
    let mut codecs = crate::compression::codecs();
    codecs.register(counting.clone());
    (File::from_bytes(file, OpenOptions::default().with_codecs(codecs)).unwrap(), counting)
}

fn part(rows: std::ops::Range<u64>, columns: std::ops::Range<u64>) -> Region {
    let axis = |range: std::ops::Range<u64>| AxisSelection {
        start: range.start,
        step: 1,
        count: range.end - range.start,
        kept: Kept::Yes,
    };
    Region::new(vec![axis(rows), axis(columns)], &[ROWS, ROW]).unwrap()
}

fn reads(file: &File, rows: std::ops::Range<u64>, columns: std::ops::Range<u64>, limits: Limits) {
    let mut options = ReadOptions::default().with_limits(limits);
    options.digests = Digests::Ignore;
    let array = file.read("a", &part(rows.clone(), columns.clone()), &options).unwrap();
    let expected: Vec<u8> =
        rows.flat_map(|row| columns.clone().map(move |column| value(row, column))).collect();
    assert!(*array.bytes(container_core::dtype::Order::C, &Limits::default()).unwrap() == expected);
}

#[test]
fn a_cutout_is_decoded_once_and_no_further_than_its_last_element() {
    let (file, counting) = open();
    reads(&file, 20..30, 5..15, Limits::default());
    assert_eq!(counting.ends(), [29 * ROW + 15]);
    // Where the block does not fit into memory, and where the rows are too far apart for it.
    let (file, counting) = open();
    let small = Limits::default().with_memory(400_000);
    for _ in 0..2 {
        reads(&file, 20..30, 5..15, small);
        assert_eq!(counting.ends(), [29 * ROW + 15]);
    }
    reads(&file, 3..150, 7000..7010, small);
    let ends = counting.ends();
    let last = 149 * ROW + 7010;
    assert!(ends.len() == 1 && (last..last + (1 << 17)).contains(&ends[0]), "{ends:?}");
}

#[test]
fn many_cutouts_are_decoded_no_more_than_twice_in_all() {
    let (file, counting) = open();
    for row in 0..ROWS {
        reads(&file, row..row + 1, 0..10, Limits::default());
    }
    let ends = counting.ends();
    assert!(ends.iter().sum::<u64>() <= 2 * ROWS * ROW, "{ends:?}");
    // Pieces that follow one another are kept from the second on.
    let (file, counting) = open();
    for row in 0..ROWS {
        reads(&file, row..row + 1, 0..ROW, Limits::default());
    }
    assert_eq!(counting.ends(), [ROW, ROWS * ROW]);
}
