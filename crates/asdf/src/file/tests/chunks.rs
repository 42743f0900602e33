//! Blocks of chunks, read row by row.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::*;

/// A source that counts reads of a chunk's payload: heads have 20 bytes.
struct Counted(Vec<u8>, Arc<AtomicU64>);

impl Source for Counted {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }
    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        if dst.len() > 1000 {
            self.1.fetch_add(1, Ordering::Relaxed);
        }
        self.0.read_into(at, dst)
    }
}

#[test]
fn a_column_decodes_each_chunk_of_lz4_once() {
    let data: Vec<u8> = (0..9_u32 << 20).map(|at| (at.wrapping_mul(at) >> 11) as u8).collect();
    let tree = "%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n---\na: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [3072, 3072]}\n...\n";
    let bytes = [b"#ASDF 1.0.0\n", tree.as_bytes(), &encoded("lz4", &data)].concat();
    let reads = Arc::new(AtomicU64::new(0));
    let source = Box::new(Counted(bytes, Arc::clone(&reads)));
    let file = File::from_source(source, None, OpenOptions::default()).unwrap();
    let mut options = ReadOptions::default();
    options.digests = Digests::Ignore;
    // Rows of 3072 bytes do not end with chunks of 4 MiB.
    for (selection, columns) in [(":, 3000", 3000..3001), ("::2, 5:9", 5..9), ("1000:2000", 0..3072)] {
        reads.store(0, Ordering::Relaxed);
        let region = Region::parse(selection, &[3072, 3072]).unwrap();
        let got = file.read("a", &region, &options).unwrap();
        let step = if selection.starts_with("::2") { 2 } else { 1 };
        let rows = if columns.len() == 3072 { 1000..2000 } else { 0..3072 };
        let want: Vec<u8> = rows
            .step_by(step)
            .flat_map(|row| data[row * 3072 + columns.start..row * 3072 + columns.end].to_vec())
            .collect();
        assert!(got.bytes(Order::C, &options.limits).unwrap()[..] == want, "{selection}");
        assert!(reads.load(Ordering::Relaxed) <= 4, "{selection}: {reads:?}");
    }
}
