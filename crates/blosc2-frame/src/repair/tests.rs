//! Damaged fixtures and damaged files of our own: what is written is whole, and holds what was whole.

use std::path::PathBuf;

use container_core::container::ReadOptions;

use super::*;
use crate::Frame;

fn corpus(kind: &str) -> Vec<PathBuf> {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2").join(kind);
    let mut paths: Vec<_> = std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn repaired(bytes: &[u8]) -> Result<(RepairReport, Vec<u8>)> {
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let report = repair_to(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((report, out))
}

/// Reads everything of a frame that has to be sound.
fn values(bytes: Vec<u8>) -> Vec<Vec<u8>> {
    let frame = Frame::from_bytes(bytes).unwrap();
    let survey = frame.survey().unwrap();
    let errors = survey.faults.iter().chain(frame.layout().faults());
    let errors: Vec<_> =
        errors.filter(|fault| fault.severity() == container_core::report::Severity::Error).collect();
    assert!(errors.is_empty(), "{errors:?}");
    let options = ReadOptions::default();
    (0..frame.chunk_count().min(1000)).map(|index| frame.read_chunk(index, &options).unwrap()).collect()
}

#[test]
fn every_damaged_fixture_is_mended_or_refused() {
    for path in corpus("bad") {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if !name.ends_with(".b2frame") && !name.ends_with(".b2nd") || path.is_dir() {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        match repaired(&bytes) {
            Ok((report, out)) => {
                eprintln!(
                    "{name}: {} kept, guessed {:?}, lost {:?}",
                    report.kept.len(),
                    report.guessed.iter().map(|i| i.what.as_str()).collect::<Vec<_>>(),
                    report.lost.iter().map(|i| i.what.as_str()).collect::<Vec<_>>()
                );
                let values = std::panic::catch_unwind(|| values(out)).unwrap_or_else(|_| {
                    eprintln!("   XXXXXXXXX {name}");
                    vec![]
                });
                eprintln!("    {} chunks", values.len());
            }
            Err(error) => eprintln!("{name}: REFUSED {error}"),
        }
    }
}
