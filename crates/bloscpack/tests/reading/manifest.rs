//! The fixtures, as the released tools of the format and scripts that are independent of this crate describe them.

use std::path::{Path, PathBuf};

use bloscpack::{FORMAT, Result};
use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::Input;
use container_core::region::Region;
use container_core::report::{RepairReport, Verdict};
use container_core::{Limits, Progress};
use serde::Deserialize;

/// Entry of `testdata/bloscpack/MANIFEST.toml`; the README next to it explains the fields.
#[derive(Clone, Debug, Deserialize)]
pub(crate) struct Fixture {
    pub(crate) path: String,
    verdict: String,
    codes: Vec<String>,
    dtype: Option<String>,
    shape: Option<Vec<u64>>,
    order: Option<String>,
    values: Option<String>,
    items: Option<Vec<String>>,
    trailing: Option<u64>,
    repaired_shape: Option<Vec<u64>>,
    repaired_values: Option<String>,
    repaired_items: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Manifest {
    file: Vec<Fixture>,
}

fn testdata() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/bloscpack")
}

pub(crate) fn fixtures() -> Vec<Fixture> {
    let text = std::fs::read_to_string(testdata().join("MANIFEST.toml")).unwrap();
    let manifest: Manifest = toml::from_str(&text).unwrap();
    assert!(manifest.file.len() > 300, "only {} fixtures", manifest.file.len());
    manifest.file
}

impl Fixture {
    pub(crate) fn bytes(&self) -> Vec<u8> {
        std::fs::read(testdata().join(&self.path)).unwrap()
    }

    fn repair(&self) -> Result<(Vec<u8>, RepairReport)> {
        repair(self.bytes())
    }
}

fn repair(bytes: Vec<u8>) -> Result<(Vec<u8>, RepairReport)> {
    let (input, mut out) = (Input::bytes(Box::new(bytes)), Vec::new());
    let report = FORMAT.repair.unwrap()(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((out, report))
}

fn open(bytes: Vec<u8>) -> Result<Box<dyn Container>> {
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default())
}

/// SHA-256 of the elements in stored order, numbers little-endian.
fn values(file: &dyn Container, index: usize) -> Result<String> {
    let dataset = &file.datasets()[index];
    let array = file.read(index, &Region::whole(&dataset.shape), &ReadOptions::default())?;
    let mut bytes = array.bytes(dataset.order, &Limits::default())?.into_owned();
    dataset.dtype.swap_to(ByteOrder::Little, &mut bytes)?;
    Ok(container_codecs::checksum::Algorithm::Sha256.digest(&bytes).to_string())
}

fn items(file: &dyn Container) -> Vec<String> {
    (0..file.datasets().len()).map(|index| values(file, index).unwrap()).collect()
}

#[test]
fn fixtures_have_the_findings_of_the_manifest() {
    for fixture in fixtures() {
        let path = &fixture.path;
        let Ok(file) = open(fixture.bytes()) else {
            assert_eq!(fixture.verdict, "unreadable", "{path}");
            continue;
        };
        let report = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
        assert_eq!(report.verdict().name(), fixture.verdict, "{path}: {report:?}");
        let mut codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
        let mut expected: Vec<&str> = fixture.codes.iter().map(String::as_str).collect();
        codes.sort_unstable();
        expected.sort_unstable();
        assert_eq!(codes, expected, "{path}: {report:?}");
        // Bytes after the last chunk, of which the manifest has the number.
        let trailing = file.byte_map().into_iter().find(|part| part.role == "trailing");
        let trailing = trailing.map(|part| part.range.end - part.range.start);
        assert!(fixture.trailing.is_none() || trailing == fixture.trailing, "{path}: {trailing:?}");
    }
}

#[test]
fn fixtures_have_the_values_of_the_manifest() {
    let mut compared = 0;
    for fixture in fixtures().iter().filter(|fixture| fixture.verdict != "unreadable") {
        let path = &fixture.path;
        let file = open(fixture.bytes()).unwrap();
        if let Some(expected) = &fixture.items {
            assert_eq!(&items(&*file), expected, "{path}");
        }
        if fixture.dtype.is_some() && fixture.repaired_shape.is_none() {
            let data = &file.datasets()[0];
            assert_eq!(Some(data.dtype.to_string()), fixture.dtype, "{path}");
            assert_eq!(Some(&data.shape), fixture.shape.as_ref(), "{path}");
            let order = if data.order == Order::F { "F" } else { "C" };
            assert!(fixture.order.as_deref().is_none_or(|expected| expected == order), "{path}");
        }
        let found = if file.datasets().is_empty() { None } else { Some(values(&*file, 0)) };
        match (&fixture.values, found) {
            (Some(expected), found) => {
                compared += 1;
                assert_eq!(found.unwrap().as_ref().ok(), Some(expected), "{path}");
            }
            // Damage leaves no values.
            (None, Some(found)) => assert!(found.is_err() || fixture.verdict != "damaged", "{path}"),
            (None, None) => {}
        }
    }
    assert!(compared > 250, "{compared}");
}

#[test]
fn repaired_fixtures_have_what_the_manifest_expects() {
    let mut compared = 0;
    for fixture in fixtures() {
        let path = &fixture.path;
        let is_expected = fixture.repaired_shape.is_some() || fixture.repaired_items.is_some();
        let (bytes, report) = match fixture.repair() {
            Ok(done) => done,
            Err(error) => {
                assert!(!is_expected && fixture.verdict != "sound", "{path}: {error}");
                continue;
            }
        };
        let file = open(bytes.clone()).unwrap();
        let check = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
        assert_eq!(check.verdict(), Verdict::Sound, "{path}: {:?}", check.findings);
        if let Some(expected) = &fixture.repaired_items {
            assert_eq!(&items(&*file), expected, "{path}: {report:?}");
        }
        if let Some(expected) = &fixture.repaired_shape {
            assert_eq!(&file.datasets()[0].shape, expected, "{path}: {report:?}");
            assert_eq!(values(&*file, 0).ok(), fixture.repaired_values, "{path}: {report:?}");
        }
        compared += usize::from(is_expected);
        if fixture.verdict == "sound" {
            assert!(report.lost.is_empty(), "{path}: {report:?}");
            if let (Some(expected), None) = (&fixture.values, &fixture.items) {
                assert_eq!(values(&*file, 0).as_ref().ok(), Some(expected), "{path}");
            }
        }
        // A second repair changes nothing.
        let (again, second) = repair(bytes.clone()).unwrap();
        assert!(again == bytes && second.guessed.is_empty() && second.lost.is_empty(), "{path}: {second:?}");
    }
    assert!(compared > 40, "{compared}");
}
