//! Every sound Blosc2 fixture goes into a new frame as it is, and every array to `.npy` and back, with the values that the independent script
//! knows.

use std::path::Path;

use blosc2_frame::{Frame, Offset};
use container_core::container::{CheckDepth, ReadOptions};
use container_core::format::TargetOptions;
use container_core::write::Durability;
use container_core::{ErrorKind, Progress};
use holdall::address::Address;
use holdall::convert::{ConvertOptions, ConvertOutcome, ReadBack, convert};
use holdall::diff::{DiffOptions, diff};
use holdall::open::{Accept, open_with};

use crate::corpus::elements;
use crate::manifest::{Fixture, all_fixtures, sha256};

/// Bytes of values that are converted; more are there to be refused.
const MAX_VALUE_BYTES: u64 = 1 << 24;

fn frames() -> impl Iterator<Item = Fixture> {
    let fits = |it: &Fixture| {
        it.format == "blosc2"
            && it.verdict == "sound"
            && it.frame_version.is_some()
            && it.nbytes.is_some_and(|nbytes| nbytes <= MAX_VALUE_BYTES)
    };
    all_fixtures().into_iter().filter(fits)
}

fn whole(path: &Path) -> Address {
    Address { file: path.to_owned(), dataset: None, selection: None }
}

fn run(source: &Path, target: &Path, import: TargetOptions) -> container_core::Result<ConvertOutcome> {
    let options = ConvertOptions {
        durability: Durability::Cached,
        verify: ReadBack::Yes,
        import,
        ..ConvertOptions::default()
    };
    convert(&whole(source), target, &options)
}

fn done(fixture: &Fixture, result: container_core::Result<ConvertOutcome>) {
    match result {
        Ok(ConvertOutcome::Done(_)) => {}
        other => panic!("{}: {other:?}", fixture.path),
    }
}

/// Chunks and metadata of a frame.
fn contents(frame: &Frame) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = frame
        .metalayers()
        .iter()
        .flat_map(|(name, value)| [name.as_bytes().to_vec(), value.to_vec()])
        .collect();
    for name in frame.vlmetalayer_names() {
        all.extend([name.as_bytes().to_vec(), frame.vlmetalayer(name).expect("a value").unwrap_or_default()]);
    }
    all.extend(frame.chunks(&ReadOptions::default()).map(|chunk| chunk.expect("a chunk")));
    all
}

/// Arrays without values of their own, or without some of them.
fn is_stand_in(path: &str) -> bool {
    path.contains("expression") || path.contains("proxy")
}

#[test]
fn a_copy_of_a_frame_holds_the_same_and_no_dead_byte() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.b2frame");
    let mut count = 0;
    for fixture in frames() {
        let source = open_with(
            &fixture.full_path,
            Accept::Containers,
            &container_core::container::OpenOptions::default(),
        );
        let source = source.expect("a sound fixture").container;
        // Stores are other files, and what is computed has no values to be read back.
        if source.as_any().is_none() || is_stand_in(&fixture.path) {
            continue;
        }
        let import = TargetOptions::default();
        let options = ConvertOptions { durability: Durability::Cached, import, ..ConvertOptions::default() };
        match convert(&whole(&fixture.full_path), &target, &options) {
            // 17 pieces of user metadata, and names that are too long, are told as losses.
            Ok(ConvertOutcome::Done(_)) => {}
            other => panic!("{}: {other:?}", fixture.path),
        }
        let (old, new) = (Frame::open(&fixture.full_path), Frame::open(&target));
        let (old, new) = (old.expect("a sound fixture"), new.expect("a copy"));
        if !fixture.path.contains("17_vlmetas") && !fixture.path.contains("long_name") {
            assert_eq!(contents(&old), contents(&new), "{}", fixture.path);
        }
        assert!(new.scan_chunks().expect("a survey").dead.is_empty(), "{}", fixture.path);
        let stored = |frame: &Frame| {
            frame.layout().offsets().iter().filter(|offset| matches!(offset, Offset::Stored(_))).count()
        };
        // Zeros without a length get one.
        let salvaged = fixture.path.contains("variable_one_zeros");
        assert!(salvaged || stored(&new) <= stored(&old), "{}", fixture.path);
        let copy = open_with(&target, Accept::Containers, &container_core::container::OpenOptions::default());
        let copy = copy.expect("a copy").container;
        let report =
            copy.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).expect("a check");
        assert_eq!(report.verdict().name(), "sound", "{}: {:?}", fixture.path, report.findings);
        std::fs::remove_file(&target).expect("a copy");
        count += 1;
    }
    assert!(count > 200, "only {count}");
}

#[test]
fn arrays_go_to_numpys_files_and_back_through_other_codecs_and_chunks() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = |name: &str| folder.path().join(name);
    let mut count = 0;
    for fixture in frames() {
        let (Some(values), Some(shape)) = (&fixture.values, &fixture.shape) else { continue };
        let is_array = Frame::open(&fixture.full_path).expect("a frame").metalayers().get("b2nd").is_some();
        if !is_array || is_stand_in(&fixture.path) {
            continue;
        }
        done(&fixture, run(&fixture.full_path, &at("a.npy"), TargetOptions::default()));
        let mut import = TargetOptions::default();
        import.codec = Some(("lz4".to_owned(), Some(1 + count % 9)));
        import.extra = vec![("filter".into(), "bitshuffle".into()), ("checksum".into(), "crc32".into())];
        if !shape.is_empty() && !shape.contains(&0) {
            let chunks: Vec<String> = shape.iter().map(|len| (len / 2 + 1).min(*len).to_string()).collect();
            import.extra.push(("chunks".into(), chunks.join(",")));
        }
        done(&fixture, run(&at("a.npy"), &at("b.b2nd"), import));
        let back =
            open_with(&at("b.b2nd"), Accept::Containers, &container_core::container::OpenOptions::default());
        let back = back.expect("an array").container;
        assert_eq!(sha256(&elements(&*back, 0).expect("values")), *values, "{}", fixture.path);
        assert_eq!(back.require(0).expect("data").shape, *shape, "{}", fixture.path);
        let source = open_with(
            &fixture.full_path,
            Accept::Containers,
            &container_core::container::OpenOptions::default(),
        );
        let source = source.expect("a sound fixture").container;
        let select = |file: &dyn container_core::container::Container| {
            whole(Path::new("-")).select(file).expect("one dataset")
        };
        let ignored = ["/*".to_owned()];
        let options = DiffOptions { ignore: &ignored, ..DiffOptions::default() };
        let found =
            diff(&*source, &select(&*source), &*back, &select(&*back), &options).expect("a comparison");
        assert_eq!(found, [], "{}", fixture.path);
        for name in ["a.npy", "b.b2nd"] {
            std::fs::remove_file(at(name)).expect("a file");
        }
        count += 1;
    }
    assert!(count > 80, "only {count}");
}

/// Filters that round have done so: in other blocks they would change the values once more.
#[test]
fn arrays_keep_their_values_in_other_chunks_and_under_another_codec() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.b2nd");
    let (mut count, mut rounded) = (0, 0);
    for fixture in frames() {
        let Some(shape) = fixture.shape.as_ref().filter(|shape| !shape.is_empty() && !shape.contains(&0))
        else {
            continue;
        };
        let frame = Frame::open(&fixture.full_path).expect("a frame");
        if frame.metalayers().get("b2nd").is_none() || is_stand_in(&fixture.path) {
            continue;
        }
        let mut import = TargetOptions::default();
        import.codec = Some(("lz4".to_owned(), Some(1)));
        done(&fixture, run(&fixture.full_path, &target, import.clone()));
        std::fs::remove_file(&target).expect("a copy");
        let chunks: Vec<String> = shape.iter().map(|len| (len / 2 + 1).min(*len).to_string()).collect();
        import.extra = vec![("chunks".into(), chunks.join(","))];
        done(&fixture, run(&fixture.full_path, &target, import));
        std::fs::remove_file(&target).expect("a copy");
        rounded += usize::from(frame.header().filters.is_lossy());
        count += 1;
    }
    assert!(count > 80 && rounded > 1, "only {count}, {rounded} of them rounded");
}

#[test]
fn conversion_refuses_frames_with_damaged_values() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.b2frame");
    let (mut count, mut passed) = (0, Vec::new());
    let damaged = |it: &Fixture| it.format == "blosc2" && it.verdict == "damaged" && it.values.is_none();
    for fixture in all_fixtures().into_iter().filter(damaged) {
        let options = ConvertOptions { durability: Durability::Cached, ..ConvertOptions::default() };
        match convert(&whole(&fixture.full_path), &target, &options) {
            Err(error) => assert!(!matches!(error.kind(), ErrorKind::Io(_)), "{}: {error}", fixture.path),
            Ok(_) => passed.push(fixture.path.clone()),
        }
        assert!(!target.exists() || passed.contains(&fixture.path), "{}", fixture.path);
        _ = std::fs::remove_file(&target);
        count += 1;
    }
    // Damage beside the values, each of which was decoded: a header of Blosc1, bytes behind a chunk, a sum that is wrong, and leaves of a
    // store beside the one that is left.
    let beside = [
        "bad/chunk_16.b2frame",
        "bad/chunk_cbytes_long.b2frame",
        "bad/sparse_long.b2frame",
        "bad/variable_nbytes.b2frame",
        "bad/zip_offset_max.b2z",
        "bad/zip_size_max.b2z",
    ];
    assert_eq!(passed, beside);
    assert!(count > 80, "only {count}");
}
