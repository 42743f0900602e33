//! Sound GSD files go into new ones chunk by chunk, and their frames behind those of others.

use std::path::Path;

use container_core::dtype::ByteOrder;
use container_core::write::Durability;
use gsd::{ChunkType, File};
use holdall::address::Address;
use holdall::append::{Addition, AppendOptions, append};
use holdall::convert::{ConvertOptions, ConvertOutcome, convert};

use crate::manifest::{Fixture, all_fixtures};

pub fn gsd_fixtures() -> impl Iterator<Item = Fixture> {
    all_fixtures().into_iter().filter(|fixture| fixture.format == "gsd")
}

fn sound() -> impl Iterator<Item = Fixture> {
    gsd_fixtures().filter(|fixture| fixture.verdict == "sound")
}

fn copy(source: &Path, target: &Path) {
    let options = ConvertOptions { durability: Durability::Cached, ..ConvertOptions::default() };
    match convert(&whole(source), target, &options) {
        Ok(ConvertOutcome::Done(_)) => {}
        other => panic!("{}: {other:?}", source.display()),
    }
}

fn whole(path: &Path) -> Address {
    Address { file: path.to_owned(), dataset: None, selection: None }
}

type Chunk = (u64, String, Option<ChunkType>, u64, u32, Vec<u8>);

/// Frame, name, type, rows, columns and little-endian bytes of every chunk that a search finds, by frame and name.
fn chunks(file: &File) -> Vec<Chunk> {
    let found = (0..file.nframes()).flat_map(|frame| file.frame_chunks(frame));
    // Of a name that is listed twice, the first. A name that is not UTF-8 is not found by its replacement.
    let found =
        found.filter(|(name, entry)| file.find_chunk(entry.frame, name).is_none_or(|one| one == *entry));
    let found = found.map(|(_, entry)| entry);
    let mut all: Vec<_> = found
        .map(|entry| {
            let name = file.names().get(entry.id).expect("a name").into_owned();
            let mut bytes = file.read_chunk(&entry).expect("a chunk").into_owned();
            let dtype = file.stored_array(&entry).expect("a chunk").dtype;
            dtype.swap_to(ByteOrder::Little, &mut bytes).expect("whole elements");
            (entry.frame, name, entry.chunk_type(), entry.n, entry.m, bytes)
        })
        .collect();
    all.sort();
    all
}

fn opened(path: &Path) -> File {
    File::open(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

#[test]
fn a_copy_holds_the_same_chunks_and_no_more() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut count = 0;
    // A name that is listed twice is refused.
    let copied = |fixture: &Fixture| !fixture.path.contains("names_same");
    for fixture in sound().filter(copied) {
        let source = opened(&fixture.full_path);
        let target = folder.path().join("a.gsd");
        copy(&fixture.full_path, &target);
        let copied = opened(&target);
        assert_eq!(chunks(&source), chunks(&copied), "{}", fixture.path);
        let (one, other) = (source.header(), copied.header());
        assert_eq!(
            (one.schema, one.schema_version, one.application),
            (other.schema, other.schema_version, other.application),
            "{}",
            fixture.path
        );
        let names = |file: &File| file.names().iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>();
        assert_eq!(names(&source), names(&copied), "{}", fixture.path);
        // A second copy is the first one, byte for byte.
        let again = folder.path().join("b.gsd");
        copy(&target, &again);
        assert_eq!(std::fs::read(&target).expect("a"), std::fs::read(&again).expect("b"), "{}", fixture.path);
        std::fs::remove_file(&target).expect("a");
        std::fs::remove_file(&again).expect("b");
        count += 1;
    }
    assert!(count > 50, "only {count}");
}

#[test]
fn a_trajectory_comes_back_from_asdf_with_the_chunks_that_it_had() {
    let folder = tempfile::tempdir().expect("a folder");
    let (tree, target) = (folder.path().join("a.asdf"), folder.path().join("b.gsd"));
    let mut count = 0;
    for fixture in sound().filter(|fixture| fixture.path.starts_with("ok/")) {
        let source = opened(&fixture.full_path);
        copy(&fixture.full_path, &tree);
        copy(&tree, &target);
        let back = opened(&target);
        assert_eq!(chunks(&source), chunks(&back), "{}", fixture.path);
        let (one, other) = (source.header(), back.header());
        assert_eq!(
            (one.schema, one.schema_version, one.application, one.reserved),
            (other.schema, other.schema_version, other.application, other.reserved),
            "{}",
            fixture.path
        );
        let names = |file: &File| file.names().iter().map(std::borrow::Cow::into_owned).collect::<Vec<_>>();
        assert_eq!((names(&source), source.nframes()), (names(&back), back.nframes()), "{}", fixture.path);
        for path in [&tree, &target] {
            std::fs::remove_file(path).expect("a file");
        }
        count += 1;
    }
    assert!(count > 80, "only {count}");
}

#[test]
fn frames_are_added_behind_those_of_every_fixture() {
    let folder = tempfile::tempdir().expect("a folder");
    let target = folder.path().join("a.gsd");
    for fixture in sound() {
        let source = opened(&fixture.full_path);
        if source.header().byte_order == ByteOrder::Big {
            continue;
        }
        std::fs::write(&target, fixture.bytes()).expect("a copy");
        let frames = source.nframes();
        let before = chunks(&source);
        match append(&target, Addition::Datasets(&whole(&fixture.full_path)), &AppendOptions::default()) {
            Ok(_) => {}
            // Such names fit no file of layer 1.0, and a doubtful index takes no more entries.
            Err(error) if fixture.path.starts_with("odd/") => {
                assert_eq!(
                    std::fs::read(&target).expect("a.gsd"),
                    fixture.bytes(),
                    "{}: {error}",
                    fixture.path
                );
                continue;
            }
            Err(error) => panic!("{}: {error}", fixture.path),
        }
        let file = opened(&target);
        assert_eq!(file.nframes(), 2 * frames, "{}", fixture.path);
        let after = chunks(&file);
        let old: Vec<_> = after.iter().filter(|chunk| chunk.0 < frames).cloned().collect();
        assert_eq!(old, before, "{}", fixture.path);
        for (frame, name, chunk_type, n, m, bytes) in &before {
            let moved = (frame + frames, name.clone(), *chunk_type, *n, *m, bytes.clone());
            assert!(after.contains(&moved), "{}: frame {frame} {name}", fixture.path);
        }
    }
}
