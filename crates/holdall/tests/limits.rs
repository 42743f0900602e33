//! The limits that a file is opened with bound the reading of its datasets.

use std::path::Path;

use holdall::convert::{ConvertOptions, ConvertOutcome};
use holdall::open::{Accept, open_with};
use holdall::{Address, Limits, OpenOptions, ReadOptions};

/// Elements of the array in each file, one byte each.
const LEN: usize = 1 << 20;

fn written(folder: &Path, name: &str) -> std::path::PathBuf {
    let source = folder.join("zeros.npy");
    let header = format!("{{'descr': '|u1', 'fortran_order': False, 'shape': ({LEN},), }}");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend(u16::try_from(header.len()).unwrap().to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.resize(bytes.len() + LEN, 0);
    std::fs::write(&source, bytes).unwrap();
    let target = folder.join(name);
    let outcome = holdall::convert(&Address::file(&source), &target, &ConvertOptions::default()).unwrap();
    assert!(matches!(outcome, ConvertOutcome::Done(_)), "{name}");
    target
}

#[test]
fn a_file_with_a_low_limit_gives_no_large_array() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.asdf", "a.gsd", "a.b2nd", "a.blp", "a.ra"] {
        let path = written(folder.path(), name);
        let mut options = OpenOptions::default();
        options.limits = Limits::default().with_memory(LEN as u64 / 4);
        let file = open_with(&path, Accept::Containers, &options).unwrap();
        let dataset = file.datasets().next().unwrap();
        let error = dataset.read::<u8>().unwrap_err();
        assert!(matches!(error.kind(), holdall::ErrorKind::Limit { .. }), "{name}: {error}");
        // Chunks are decoded whole.
        if !["a.b2nd", "a.blp"].contains(&name) {
            // Frames are the first axis of GSD.
            let few = if dataset.shape().len() == 2 { "0, 0:4" } else { "0:4" };
            assert_eq!(dataset.read_region::<u8>(few).unwrap().as_slice(), [0; 4], "{name}");
        }
        // Who gives other limits has those.
        let file = holdall::open(&path).unwrap();
        let low = ReadOptions::default().with_limits(options.limits);
        assert_eq!(file.datasets().next().unwrap().read::<u8>().unwrap().len(), LEN, "{name}");
        assert!(file.datasets().next().unwrap().with_options(low).read::<u8>().is_err(), "{name}");
    }
}
