//! Repairs come to what the manifest of the corpus expects, and keep what is sound.

use blosc2_frame::FORMAT;
use container_codecs::checksum::Algorithm;
use container_core::container::{CheckDepth, Container, OpenOptions, ReadOptions};
use container_core::dtype::{ByteOrder, Order};
use container_core::format::Input;
use container_core::region::Region;
use container_core::report::{RepairReport, Severity};
use container_core::{Limits, Progress};

use crate::container::sound;
use crate::manifest::{Fixture, fixtures};

fn repaired(fixture: &Fixture) -> blosc2_frame::Result<(RepairReport, Vec<u8>)> {
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(std::fs::read(fixture.full_path())?));
    let report = FORMAT.repair.unwrap()(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((report, out))
}

/// Opens a repaired frame, which has no finding of an error.
fn opened(bytes: Vec<u8>, path: &str) -> Box<dyn Container> {
    let container = (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default()).unwrap();
    let report = container.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).unwrap();
    let is_sound = report.findings.iter().all(|finding| finding.severity < Severity::Error);
    assert!(is_sound, "{path}: {:?}", report.findings);
    container
}

fn values(container: &dyn Container) -> (Vec<u64>, String) {
    let dataset = container.dataset(0).unwrap();
    let array = container.read(0, &Region::whole(&dataset.shape), &ReadOptions::default()).unwrap();
    let mut bytes = array.bytes(Order::C, &Limits::default()).unwrap().into_owned();
    dataset.dtype.swap_to(ByteOrder::Little, &mut bytes).unwrap();
    (dataset.shape.clone(), Algorithm::Sha256.digest(&bytes).to_string())
}

#[test]
fn damaged_frames_have_the_values_that_are_left_of_them() {
    let mut count = 0;
    for fixture in fixtures() {
        let (Some(shape), Some(expected)) = (&fixture.repaired_shape, &fixture.repaired_values) else {
            continue;
        };
        count += 1;
        let (report, bytes) = repaired(&fixture).unwrap_or_else(|error| panic!("{}: {error}", fixture.path));
        assert_eq!(
            values(&*opened(bytes, &fixture.path)),
            (shape.clone(), expected.clone()),
            "{}",
            fixture.path
        );
        // Every correction, guess and loss is one of bytes of the file.
        let len = std::fs::metadata(fixture.full_path()).unwrap().len();
        for item in report.guessed.iter().chain(&report.lost) {
            let range = item.range.clone().unwrap_or(0..0);
            assert!(range.start <= range.end && range.start <= len, "{}: {item:?}", fixture.path);
        }
    }
    assert_eq!(count, 81);
}

#[test]
fn sound_frames_are_kept() {
    let has_values = |it: &Fixture| it.values.is_some() && it.full_path().is_file();
    for fixture in sound().into_iter().filter(has_values) {
        let path = &fixture.path;
        let before = crate::container::open(&fixture);
        let region = Region::whole(&before.dataset(0).unwrap().shape);
        let (report, bytes) = repaired(&fixture).unwrap_or_else(|error| panic!("{path}: {error}"));
        assert!(report.guessed.is_empty() || path.starts_with("odd/"), "{path}: {report:?}");
        // Bytes after the frame have no place in a new one.
        assert!(report.lost.len() <= usize::from(fixture.trailing.is_some()), "{path}: {report:?}");
        // Chunks that follow one another are one line.
        let blocks = before.blocks().len() as u64;
        if path.starts_with("ok/") && Some(blocks) == fixture.nchunks && blocks > 1 {
            let line = format!("chunks 0 to {}", blocks - 1);
            assert!(report.kept.iter().any(|item| item.what == line), "{path}: {report:?}");
        }
        for name in fixture.vlmeta.iter().flatten().map(|layer| &layer.name) {
            let is_kept = |what: &str| what.starts_with("user metadata: ") && what.contains(name.as_str());
            assert!(report.kept.iter().any(|item| is_kept(&item.what)), "{path} {name}: {report:?}");
        }
        let after = opened(bytes, path);
        if before.absence(0, &region).is_none() {
            let expected = (fixture.shape.clone().unwrap(), fixture.values.clone().unwrap());
            assert_eq!(values(&*after), expected, "{path}");
        }
        let names = |it: &dyn Container| it.logical_meta().unwrap();
        assert_eq!(names(&*after), names(&*before), "{path}");
    }
}
