//! Tables of text: numpy and Python's csv module write them for `pack`, and read those of `cat`.

use std::path::{Path, PathBuf};
use std::process::Command;

use container_core::container::{OpenOptions, ReadOptions};
use container_core::dtype::DType;
use holdall::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack};
use holdall::csv::Csv;
use holdall::export::{AsStored, ExportFormat};
use holdall::open::Accept;
use interop::peer::{python, script};
use tempfile::tempdir;

fn peer(command: &str, folder: &Path) -> String {
    let output = Command::new(python().unwrap())
        .arg(script("csv_cases.py"))
        .arg(command)
        .arg(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// The arrays that the peer wrote tables of.
fn arrays(folder: &Path) -> Vec<PathBuf> {
    let all = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut all: Vec<PathBuf> = all.filter(|path| path.extension().is_some_and(|end| end == "npy")).collect();
    all.sort();
    assert_eq!(all.len(), 20);
    all
}

#[test]
fn csv_from_python_packs_to_the_numpy_array() {
    let (folder, place) = (tempdir().unwrap(), tempdir().unwrap());
    peer("write", folder.path());
    for array in arrays(folder.path()) {
        let dtype = std::fs::read_to_string(array.with_extension("dtype")).ok();
        let csv = Csv { dtype: dtype.map(|dtype| DType::parse(&dtype).unwrap()), ..Csv::default() };
        let target = place.path().join(array.file_name().unwrap());
        let options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
        let outcome = holdall::pack_csv(&array.with_extension("csv"), &csv, &target, &options);
        assert!(matches!(outcome, Ok(ConvertOutcome::Done(_))), "{}: {outcome:?}", array.display());
        let (ours, numpys) = (std::fs::read(&target).unwrap(), std::fs::read(&array).unwrap());
        assert!(ours == numpys, "{}", array.display());
    }
}

#[test]
fn python_reads_the_tables_that_are_written() {
    let folder = tempdir().unwrap();
    peer("write", folder.path());
    let all = arrays(folder.path());
    for array in &all {
        let address = Address { file: array.clone(), dataset: None, selection: None };
        let opened = holdall::open_with(array, Accept::ContainersAndArrays, &OpenOptions::default()).unwrap();
        let selection = address.select(&*opened.container).unwrap();
        let [(index, region)] = selection.as_slice() else { panic!("{selection:?}") };
        let mut out = Vec::new();
        let read = ReadOptions::default();
        let (as_stored, progress) = (AsStored::No, holdall::Progress::none());
        holdall::export(
            &*opened.container,
            *index,
            region,
            ExportFormat::Csv,
            as_stored,
            &read,
            progress,
            &mut out,
        )
        .unwrap();
        std::fs::write(array.with_extension("csv"), out).unwrap();
    }
    assert_eq!(peer("read", folder.path()), all.len().to_string());
}
