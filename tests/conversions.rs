//! Every sound fixture converts to `.npy` and back, and to every form of its own format, with its values.

use std::path::Path;

use container_core::container::{Axes, OpenOptions};
use container_core::format::TargetOptions;
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};

use crate::corpus::{as_listed, elements, format, open, shown};
use crate::gsd_conversions::gsd_fixtures;
use crate::manifest::{Fixture, fixtures, sha256};

fn address(path: &Path) -> Address {
    Address { file: path.to_owned(), dataset: None, selection: None }
}

fn run(source: &Path, target: &Path, change: impl FnOnce(&mut ConvertOptions<'_>)) -> Vec<String> {
    let mut options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
    change(&mut options);
    match convert(&address(source), target, &options) {
        Ok(ConvertOutcome::Done(done)) => done.losses.into_iter().map(|loss| loss.what).collect(),
        Ok(ConvertOutcome::Differs(differences)) => panic!("{}: {differences:?}", source.display()),
        Err(error) => panic!("{}: {error}", source.display()),
    }
}

fn values(format: &str, path: &Path) -> (Vec<u64>, String, String) {
    let bytes = std::fs::read(path).expect("a target");
    let file = open(format, Box::new(bytes)).expect("a target opens");
    let dataset = file.require(0).expect("data");
    let values = sha256(&elements(&*file, 0).expect("values"));
    (dataset.shape.clone(), dataset.dtype.to_string(), values)
}

fn sound() -> impl Iterator<Item = Fixture> {
    fixtures().into_iter().filter(|fixture| fixture.verdict == "sound")
}

/// Those of one array, not of items, frames or leaves.
fn arrays() -> impl Iterator<Item = Fixture> {
    let flat =
        |fixture: &Fixture| fixture.items.is_none() && !["asdf", "gsd"].contains(&fixture.format.as_str());
    sound().filter(move |fixture| flat(fixture) && (fixture.format != "blosc2" || fixture.values.is_some()))
}

/// The usual extension of a fixture's format.
fn extension(fixture: &Fixture) -> &'static str {
    format(&fixture.format).extensions[0]
}

#[test]
fn every_sound_fixture_goes_to_npy_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    // numpy has no axis that long.
    for fixture in arrays().filter(|fixture| fixture.path != "ok/empty_2e63x0x5.ra") {
        let npy = folder.path().join("a.npy");
        let back = folder.path().join("b").with_extension(extension(&fixture));
        let losses = run(&fixture.full_path, &npy, |_| ());
        let widened = fixture.dtype.as_deref() == Some("bfloat16");
        assert_eq!(losses.iter().any(|loss| loss.contains("float32")), widened, "{}", fixture.path);
        assert_eq!(
            losses.iter().any(|loss| loss.contains("trailer")),
            fixture.trailer.is_some(),
            "{}",
            fixture.path
        );
        run(&npy, &back, |_| ());
        let (shape, _, digest) = values(&fixture.format, &back);
        assert_eq!(Some(shape), fixture.shape, "{}", fixture.path);
        if !widened {
            assert_eq!(Some(digest), fixture.values, "{}", fixture.path);
        }
        std::fs::remove_file(npy).expect("the target");
        std::fs::remove_file(back).expect("the target");
    }
}

#[test]
fn every_sound_fixture_is_rewritten_with_its_trailer() {
    let folder = tempfile::tempdir().expect("a folder");
    for fixture in sound().filter(|fixture| fixture.format == "rawarray") {
        let target = folder.path().join("a.ra");
        let codec = fixture.encoding.clone().filter(|encoding| encoding != "plain");
        let losses = run(&fixture.full_path, &target, |options| {
            options.import.codec = codec.clone().map(|name| (name, None));
        });
        assert!(losses.iter().all(|loss| loss.contains("bfloat16")), "{}: {losses:?}", fixture.path);
        let (shape, _, digest) = values(&fixture.format, &target);
        assert_eq!(
            (Some(shape), Some(digest)),
            (fixture.shape.clone(), fixture.values.clone()),
            "{}",
            fixture.path
        );
        // Little-endian files come out as they went in, but for the freedom that LZ4 has.
        let little = fixture.dtype.as_ref().is_some_and(|dtype| !dtype.starts_with('>'));
        let plain_header =
            !fixture.codes.iter().any(|code| code == "big_endian_header" || code == "bits_beyond_count");
        let flagged_single = fixture.path.contains("be_u1") || fixture.path.contains("bits_flag");
        if little && plain_header && !flagged_single && codec.as_deref() != Some("lz4") {
            let bytes = std::fs::read(&target).expect("the target");
            assert_eq!(Some(sha256(&bytes)), fixture.sha256, "{} changed", fixture.path);
        }
        std::fs::remove_file(target).expect("the target");
    }
}

#[test]
fn every_sound_array_is_rewritten_in_its_own_format() {
    let folder = tempfile::tempdir().expect("a folder");
    for fixture in arrays() {
        let target = folder.path().join("a").with_extension(extension(&fixture));
        run(&fixture.full_path, &target, |_| ());
        let (shape, dtype, digest) = values(&fixture.format, &target);
        assert_eq!(
            (Some(shape), Some(digest)),
            (fixture.shape.clone(), fixture.values.clone()),
            "{}",
            fixture.path
        );
        // RawArray has but one way of saying that bytes are bits, and one byte order unless asked.
        if fixture.format != "rawarray" {
            assert_eq!(Some(dtype), fixture.dtype, "{}", fixture.path);
        }
        std::fs::remove_file(target).expect("the target");
    }
}

#[test]
fn reversed_dimensions_move_no_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let (npy, back) = (folder.path().join("a.npy"), folder.path().join("b.ra"));
    let fixture = sound().find(|fixture| fixture.path == "ok/i4_2x3x4.ra").expect("a fixture");
    let mut open = OpenOptions::default();
    open.axes = Axes::Reversed;
    run(&fixture.full_path, &npy, |options| options.open = open);
    let (shape, _, digest) = values("npy", &npy);
    assert_eq!((shape, Some(digest)), (vec![4, 3, 2], fixture.values.clone()));
    let mut import = TargetOptions::default();
    import.axes = Axes::Reversed;
    run(&npy, &back, |options| options.import = import);
    assert_eq!(Some(sha256(&std::fs::read(&back).expect("the target"))), fixture.sha256);
}

#[test]
fn format_options_select_the_dialect() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.ra");
    let word = |name: &str, word: &str, value: &str| {
        let fixture = sound().find(|fixture| fixture.path == name).expect("a fixture");
        let losses = run(&fixture.full_path, &target, |options| {
            options.overwrite = container_core::write::Overwrite::Replace;
            options.import.extra = vec![(word.into(), value.into())];
        });
        let bytes = std::fs::read(&target).expect("the target");
        (fixture, bytes, losses)
    };
    // What comes out is what the script wrote.
    let (fixture, bytes, _) = word("ok/be_i4_3x4.ra", "byte-order", "big");
    assert_eq!(Some(sha256(&bytes)), fixture.sha256);
    let (fixture, bytes, losses) = word("odd/trailer_json.ra", "trailer", "drop");
    assert_eq!(bytes.len() as u64, fixture.bytes().len() as u64 - fixture.trailer.expect("a trailer"));
    assert!(losses.is_empty(), "{losses:?}");
    let (fixture, bytes, losses) = word("ok/bool_9.ra", "bool", "uint8");
    assert_eq!((bytes[16], bytes[24], &bytes[56..]), (2, 1, &fixture.bytes()[56..]));
    assert_eq!(losses.len(), 1);
}

#[test]
fn bits_hold_bools_as_bools_alone() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = sound().find(|fixture| fixture.path == "ok/bool_9.ra").expect("a fixture");
    let mut options = ConvertOptions::default();
    options.import.codec = Some(("bits".into(), None));
    options.import.extra = vec![("bool".into(), "uint8".into())];
    let target = folder.path().join("a.ra");
    assert!(convert(&address(&fixture.full_path), &target, &options).is_err());
    assert!(!target.exists());
}

#[test]
fn the_memory_limit_holds_for_what_is_written_too() {
    let folder = tempfile::tempdir().expect("a folder");
    let fixture = sound().find(|fixture| fixture.path == "ok/f4_3x4.ra").expect("a fixture");
    let mut options = ConvertOptions::default();
    options.import.codec = Some(("lz4".into(), None));
    options.open.limits = container_core::Limits::default().with_memory(50);
    let error =
        convert(&address(&fixture.full_path), &folder.path().join("a.ra"), &options).expect_err("a limit");
    assert!(matches!(error.kind(), container_core::ErrorKind::Limit { .. }), "{error}");
}

/// The datasets that a GSD file lists, one at a time.
#[test]
fn datasets_of_frames_go_to_npy_and_back() {
    let folder = tempfile::tempdir().expect("a folder");
    let (npy, back) = (folder.path().join("a.npy"), folder.path().join("b.gsd"));
    let mut count = 0;
    for fixture in gsd_fixtures().filter(|fixture| fixture.verdict == "sound") {
        // A file of a hundred names does not tell more than a few of them.
        for dataset in fixture.datasets.iter().flatten().take(6) {
            let name = format!("{} of {}", dataset.path, fixture.path);
            let mut source = address(&fixture.full_path);
            source.dataset = Some(dataset.path.clone());
            convert_one(&source, &npy, &[]);
            let (shape, _, digest) = values("npy", &npy);
            // Of one frame, an array is what is in it.
            let stacked = !dataset.path.starts_with("frames/");
            let bare =
                if stacked && fixture.frames == Some(1) { &dataset.shape[1..] } else { &dataset.shape };
            assert_eq!((shape.as_slice(), digest.as_str()), (bare, dataset.values.as_str()), "{name}");
            // Text is no type of arrays that come in.
            if dataset.dtype != "|S1" {
                let frames = stacked && fixture.frames != Some(1);
                convert_one(
                    &Address { file: npy.clone(), dataset: None, selection: None },
                    &back,
                    if frames { &["frames"] } else { &[] },
                );
                let (shape, _, digest) = values("gsd", &back);
                let expected = if frames { dataset.shape.clone() } else { [&[1], bare].concat() };
                assert_eq!((shape, digest.as_str()), (expected, dataset.values.as_str()), "{name}");
                std::fs::remove_file(&back).expect("the target");
            }
            std::fs::remove_file(&npy).expect("the target");
            count += 1;
        }
    }
    assert!(count > 600, "only {count} datasets");
}

fn convert_one(source: &Address, target: &Path, words: &[&str]) {
    let mut options = ConvertOptions { verify: ReadBack::Yes, ..ConvertOptions::default() };
    options.import.extra = words.iter().map(|&word| (word.into(), String::new())).collect();
    match convert(source, target, &options) {
        Ok(ConvertOutcome::Done(_)) => {}
        Ok(ConvertOutcome::Differs(differences)) => panic!("{}: {differences:?}", target.display()),
        Err(error) => panic!("{:?} to {}: {error}", source.dataset, target.display()),
    }
}

/// A GSD file rewritten lists what it listed, little-endian.
#[test]
fn every_sound_file_of_frames_is_rewritten() {
    let folder = tempfile::tempdir().expect("a folder");
    for fixture in gsd_fixtures().filter(|fixture| fixture.verdict == "sound") {
        let Some(expected) = &fixture.datasets else { continue };
        let target = folder.path().join("a.gsd");
        run(&fixture.full_path, &target, |_| ());
        let file = open("gsd", Box::new(std::fs::read(&target).expect("the target"))).expect("it opens");
        let mut found = as_listed(shown(&*file).expect("a listing"));
        let mut wanted = expected.clone();
        for it in found.iter_mut().chain(&mut wanted) {
            it.dtype = it.dtype.replace('>', "<");
        }
        assert_eq!(found, wanted, "{}", fixture.path);
        std::fs::remove_file(target).expect("the target");
    }
}
