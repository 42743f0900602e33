//! Repair of the fixtures: all that undamaged ones list is kept, and each change to a damaged one has its evidence.

use std::path::{Path, PathBuf};

use container_core::Progress;
use container_core::dtype::ByteOrder;
use container_core::report::RepairItem;
use gsd::repair::{RepairOptions, UncommittedFrames, repair_source};
use gsd::{File, IndexEntry, OpenOptions, Strictness};

fn fixtures(folders: &[&str]) -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd");
    let mut all: Vec<PathBuf> = folders
        .iter()
        .flat_map(|folder| std::fs::read_dir(root.join(folder)).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "gsd"))
        .collect();
    all.sort();
    assert!(all.len() > 100);
    all
}

fn strict(bytes: &[u8]) -> Option<File> {
    let options = OpenOptions::default().with_strictness(Strictness::Strict);
    File::from_source(Box::new(bytes.to_vec()), &options).ok()
}

/// The bytes of a chunk, little-endian.
fn bytes(file: &File, entry: &IndexEntry) -> Vec<u8> {
    let mut bytes = file.read_chunk(entry).unwrap().into_owned();
    if file.header().byte_order == ByteOrder::Big {
        let width = usize::try_from(entry.chunk_type().unwrap().size()).unwrap();
        bytes.chunks_exact_mut(width).for_each(<[u8]>::reverse);
    }
    bytes
}

#[test]
fn sound_files_are_kept_whole() {
    for path in fixtures(&["ok", "odd"]) {
        let file = std::fs::read(&path).unwrap();
        // Of entries for one chunk, the last is taken.
        let Some(whole) = strict(&file) else {
            assert!(path.file_name().unwrap().to_str().unwrap().starts_with("duplicate_"), "{path:?}");
            continue;
        };
        for uncommitted_frames in [UncommittedFrames::Checked, UncommittedFrames::Off] {
            let options = RepairOptions::default().with_uncommitted_frames(uncommitted_frames);
            let run = |file: &[u8]| {
                let mut out = Vec::new();
                let report = repair_source(&file, &options, Some(&mut out), Progress::none()).unwrap();
                let dry = repair_source(&file, &options, None, Progress::none()).unwrap();
                assert_eq!(report, dry, "{path:?}");
                (out, report)
            };
            let (once, report) = run(&file);
            // Bytes without an entry, and an application or a schema that is no text.
            let is_known = |item: &&RepairItem| {
                item.what.ends_with("that no entry describes")
                    || [Some(48..112), Some(112..176)].contains(&item.range)
            };
            let lost = report.lost.iter().filter(|item| !is_known(item));
            assert_eq!(lost.count(), 0, "{path:?} {report:?}");
            let fixed = strict(&once).unwrap();
            assert!(fixed.nframes() >= whole.nframes(), "{path:?} {report:?}");
            if uncommitted_frames == UncommittedFrames::Off {
                let counts = |file: &File| (file.nframes(), file.index().len());
                assert_eq!(counts(&fixed), counts(&whole), "{path:?}");
            }
            for entry in whole.index().iter() {
                let found = fixed.find_id(entry.frame, entry.id).unwrap();
                let form = |entry: &IndexEntry| (entry.n, entry.m, entry.type_code);
                assert_eq!(form(&found), form(&entry), "{path:?}");
                assert_eq!(bytes(&fixed, &found), bytes(&whole, &entry), "{path:?} {entry:?}");
                let name = whole.names().bytes(entry.id);
                // The second of two equal names may change.
                let first = whole.names().id(&whole.names().get(entry.id).unwrap()) == Some(entry.id);
                assert!(!first || fixed.names().bytes(entry.id) == name, "{path:?} {entry:?}");
            }
            let (twice, report) = run(&once);
            assert!(twice == once && report.lost.is_empty(), "{path:?} {report:?}");
        }
    }
}

#[test]
fn each_change_has_its_evidence() {
    let mut repaired = 0;
    for path in fixtures(&["ok", "odd", "bad"]) {
        let file = std::fs::read(&path).unwrap();
        for uncommitted_frames in [UncommittedFrames::Checked, UncommittedFrames::Off] {
            let options = RepairOptions::default().with_uncommitted_frames(uncommitted_frames);
            let Ok(report) = repair_source(&file, &options, None, Progress::none()) else { continue };
            repaired += 1;
            assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{path:?} {report:?}");
            let others = report.kept.iter().chain(&report.lost);
            assert!(others.into_iter().all(|item| item.evidence.is_none()), "{path:?} {report:?}");
        }
    }
    assert!(repaired > 400, "{repaired}");
}
