//! Arrays that python-blosc2 wrote, and some made by hand. The conformance tests compare their values with numpy's; here parts
//! are compared with chunks that were decoded whole.

use std::path::{Path, PathBuf};

use container_core::ErrorKind;
use container_core::container::Tolerance;
use proptest::test_runner::{Config, TestRunner};

use super::build::{Making, indices};
use super::*;
use crate::options::OpenOptions;

/// Returns the paths of all arrays in the corpus that are sound.
fn paths() -> Vec<PathBuf> {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/blosc2");
    let files = ["ok", "odd"].into_iter().flat_map(|dir| std::fs::read_dir(corpus.join(dir)).unwrap());
    let mut paths: Vec<PathBuf> = files.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "b2nd"));
    paths.sort();
    paths
}

/// Returns the elements of an array in C order, from chunks that are decoded whole, by the formulas of the specification.
fn by_chunks(array: &NdArray) -> Result<Vec<u8>> {
    let geometry = array.geometry();
    let (chunks, blocks) = (geometry.chunkshape(), geometry.blockshape());
    let making = Making::new(geometry.shape(), chunks, blocks, geometry.itemsize());
    let decoded = array.frame().chunks(&options(1)).collect::<Result<Vec<_>>>()?;
    let places = indices(geometry.shape()).map(|index| making.place(&index));
    Ok(places.flat_map(|(chunk, at)| decoded[chunk][at..at + geometry.itemsize()].to_vec()).collect())
}

#[test]
fn parts_of_files_are_parts_of_their_chunks() {
    let (mut read, mut unsupported) = (0, Vec::new());
    for path in paths() {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        // The stored bytes, even if they stand in for other values.
        let options = OpenOptions { placeholders: Tolerance::Lenient, ..OpenOptions::default() };
        let array = match Frame::open_with(&path, &options).and_then(NdArray::from_frame) {
            Ok(array) => array,
            Err(error) => {
                assert!(
                    matches!(error.kind(), ErrorKind::Unsupported(_) | ErrorKind::Usage(_)),
                    "{name}: {error}"
                );
                unsupported.push(name);
                continue;
            }
        };
        let elements = match by_chunks(&array) {
            Ok(elements) => elements,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::Unsupported(_)), "{name}: {error}");
                unsupported.push(name);
                continue;
            }
        };
        let shape = array.shape().to_vec();
        let whole: Vec<Indices> = shape.iter().map(|len| slice(0, 1, *len)).collect();
        assert!(bytes(&array, &whole, 2) == elements, "{name}");
        let axes: Vec<_> = shape.iter().map(|len| select(*len)).collect();
        let config = Config { cases: 12, failure_persistence: None, ..Config::default() };
        let result = TestRunner::new(config).run(&axes, |selection| {
            prop_assert!(
                bytes(&array, &selection, 1)
                    == naive(&elements, &shape, array.dtype().itemsize(), &selection)
            );
            Ok(())
        });
        result.unwrap_or_else(|error| panic!("{name}: {error}"));
        read += 1;
    }
    println!("{read} read, not {unsupported:?}");
    assert!(read > 50, "{read} files were read, not {unsupported:?}");
}
