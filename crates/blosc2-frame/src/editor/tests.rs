use std::path::{Path, PathBuf};

use blosc_chunk::Special;
use container_core::ErrorKind;
use container_core::container::ReadOptions;
use container_core::write::journal::{Journal, Patch};
use container_core::write::storage::Storage;
use crash_test::{Operation, RecordingStorage};

use super::*;
use crate::header::Kind;
use crate::{Frame, FrameOptions, default_params};

fn ints(start: i32, count: i32) -> Vec<u8> {
    (start..start + count).flat_map(i32::to_le_bytes).collect()
}

/// Makes a chunk of 1000 numbers.
fn numbers(start: i32) -> Vec<u8> {
    ints(start, 1000)
}

fn new(kind: Kind) -> FrameOptions {
    let mut options = FrameOptions { params: default_params(4), kind, ..FrameOptions::default() };
    options.metalayers.set("m", b"old".to_vec()).unwrap();
    options
}

struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.b2frame");
    Place { _folder: folder, path }
}

fn read(path: &Path) -> Vec<Vec<u8>> {
    let frame = Frame::open(path).unwrap();
    (0..frame.chunk_count()).map(|index| frame.read_chunk(index, &ReadOptions::default()).unwrap()).collect()
}

fn commit(editor: &mut Editor) {
    editor.commit(Durability::Synced).unwrap();
}

const KINDS: [Kind; 2] = [Kind::Contiguous, Kind::Sparse];

/// Bytes that others have written between the metalayers and the end of a header: the bytes after it stay after it.
#[test]
fn a_header_may_be_longer_than_its_metalayers() {
    for kind in KINDS {
        for chunks in [0, 1] {
            let place = place();
            let mut editor = Editor::create(&place.path, new(kind), &EditOptions::default()).unwrap();
            (0..chunks).for_each(|_| editor.append(&numbers(0)).unwrap());
            commit(&mut editor);
            drop(editor);
            let file = match kind {
                Kind::Contiguous => place.path.clone(),
                Kind::Sparse => place.path.join(crate::sparse_directory::INDEX_NAME),
            };
            let mut bytes = std::fs::read(&file).unwrap();
            let value = bytes.windows(5).position(|part| part == [0xC6, 0, 0, 0, 3]).unwrap();
            bytes[value + 4] = 1;
            std::fs::write(&file, bytes).unwrap();

            let mut editor = Editor::open(&place.path, &EditOptions::default()).unwrap();
            editor.set_vlmetalayer("note", b"a note").unwrap();
            commit(&mut editor);
            editor.append(&numbers(1)).unwrap();
            commit(&mut editor);
            editor.delete(0, chunks).unwrap();
            commit(&mut editor);
            let frame = Frame::open(&place.path).unwrap();
            assert_eq!(read(&place.path), [numbers(1)]);
            assert_eq!(frame.metalayers().get("m"), Some(&b"o"[..]));
            editor.delete(0, 1).unwrap();
            commit(&mut editor);
            let frame = Frame::open(&place.path).unwrap();
            assert_eq!((frame.chunk_count(), frame.metalayers().get("m")), (0, Some(&b"o"[..])));
            assert_eq!(frame.vlmetalayer("note").unwrap().unwrap(), b"a note");
        }
    }
}

#[test]
fn editor_sees_changes_at_once_and_readers_after_the_commit() {
    for kind in KINDS {
        let place = place();
        let mut editor = Editor::create(&place.path, new(kind), &EditOptions::default()).unwrap();
        let mut model: Vec<Vec<u8>> = Vec::new();
        let mut committed = model.clone();
        let zeros = vec![0; 4000];
        let nan = 0x7FC0_0000_u32.to_le_bytes().repeat(1000);
        type Change = (fn(&mut Editor) -> Result<()>, fn(&mut Vec<Vec<u8>>));
        let changes: [Change; 12] = [
            (|editor| editor.append(&numbers(0)), |model| model.push(numbers(0))),
            (
                |editor| editor.append_all(&[&numbers(1), &[0; 4000], &numbers(2)]),
                |model| {
                    model.extend([numbers(1), vec![0; 4000], numbers(2)]);
                },
            ),
            (|editor| editor.insert(1, &numbers(3)), |model| model.insert(1, numbers(3))),
            (
                |editor| editor.insert_special(0, Special::Zeros, 4000, 3),
                |model| {
                    model.splice(0..0, vec![vec![0; 4000]; 3]).for_each(drop);
                },
            ),
            (|editor| editor.update(1, &numbers(4)), |model| model[1] = numbers(4)),
            (|editor| editor.update(4, &[0; 4000]), |model| model[4] = vec![0; 4000]),
            (
                |editor| editor.update_all(&[(0, &numbers(9)), (2, &numbers(8))]),
                |model| {
                    model[0] = numbers(9);
                    model[2] = numbers(8);
                },
            ),
            (|editor| editor.delete(2, 2), |model| _ = model.drain(2..4)),
            (|editor| editor.append(&ints(5, 10)), |model| model.push(ints(5, 10))),
            (
                |editor| editor.reorder(&[1, 0, 4, 3, 2, 5, 6].map(|index| index)),
                |model| {
                    model.swap(0, 1);
                    model.swap(2, 4);
                },
            ),
            (|editor| editor.update(6, &ints(5, 999)), |model| model[6] = ints(5, 999)),
            (
                |editor| editor.update_special(3, Special::Nan),
                |model| {
                    model[3] = 0x7FC0_0000_u32.to_le_bytes().repeat(1000);
                },
            ),
        ];
        for (number, (change, same)) in changes.into_iter().enumerate() {
            if number == 9 {
                let order: Vec<u64> = (0..editor.chunk_count()).collect();
                assert_eq!(order.len(), 7, "the order below is one of 7");
            }
            change(&mut editor).unwrap();
            same(&mut model);
            let own: Vec<Vec<u8>> =
                (0..editor.chunk_count()).map(|index| editor.read_chunk(index).unwrap()).collect();
            assert!(own == model, "{kind:?}, change {number}");
            assert!(read(&place.path) == committed, "{kind:?}, change {number} is seen too early");
            if number % 3 == 2 {
                commit(&mut editor);
                committed = model.clone();
                assert!(read(&place.path) == committed, "{kind:?}, change {number}");
            }
        }
        assert_eq!((&model[3], model.contains(&zeros)), (&nan, true));
        let frame = Frame::open(&place.path).unwrap();
        assert_eq!(frame.header().nbytes, model.iter().map(Vec::len).sum::<usize>() as u64);
        assert_eq!(frame.header().version, 2);
    }
}

#[test]
fn sizes_vary_where_the_options_allow_it() {
    for kind in KINDS {
        let place = place();
        let mut editor = Editor::create(&place.path, new(kind), &EditOptions::default()).unwrap();
        editor.append(&numbers(0)).unwrap();
        editor.insert_special(1, Special::Zeros, 4000, 2).unwrap();
        editor.append(&ints(0, 7)).unwrap();
        commit(&mut editor);
        for refused in [
            editor.append(&numbers(1)),
            editor.insert(0, &ints(0, 1)),
            editor.update(0, &ints(0, 1)),
            editor.reorder(&[3, 0, 1, 2]),
            editor.insert_special(4, Special::Zeros, 4000, 1),
        ] {
            assert!(matches!(refused.unwrap_err().kind(), ErrorKind::Usage(_)));
        }
        assert!(!editor.is_changed());
        drop(editor);
        let options = EditOptions { variable_chunks: true, ..EditOptions::default() };
        let mut editor = Editor::open(&place.path, &options).unwrap();
        editor.reorder(&[3, 0, 1, 2]).unwrap();
        editor.append(&ints(1, 3)).unwrap();
        editor.append(&[0; 9]).unwrap();
        editor.insert_special(0, Special::Nan, 8, 2).unwrap();
        editor.update_special(3, Special::Zeros).unwrap();
        editor.delete(4, 1).unwrap();
        commit(&mut editor);
        let nan = 0x7FC0_0000_u32.to_le_bytes().repeat(2);
        let want = [nan.clone(), nan, ints(0, 7), vec![0; 4000], vec![0; 4000], ints(1, 3), vec![0; 9]];
        assert!(read(&place.path) == want, "{kind:?}");
        let frame = Frame::open(&place.path).unwrap();
        let header = frame.header();
        assert_eq!((header.version, header.chunksize), (3, ChunkSize::Variable));
        assert_eq!(header.nbytes, want.iter().map(Vec::len).sum::<usize>() as u64);
        assert!(frame.layout().offsets().iter().all(|offset| matches!(offset, Offset::Stored(_))));
    }
}

#[test]
fn metadata_change_with_chunks_or_without() {
    for kind in KINDS {
        let place = place();
        let mut editor = Editor::create(&place.path, new(kind), &EditOptions::default()).unwrap();
        editor.set_metalayer("later", vec![7; 600]).unwrap();
        editor.set_vlmetalayer("a", b"1").unwrap();
        commit(&mut editor);
        let frame = Frame::open(&place.path).unwrap();
        assert_eq!(frame.metalayers().get("later"), Some(&[7; 600][..]));
        assert_eq!(frame.vlmetalayer("a").unwrap().unwrap(), b"1");
        assert!(frame.layout().faults().is_empty(), "{:?}", frame.layout().faults());
        editor.append(&numbers(0)).unwrap();
        assert!(editor.set_metalayer("m", b"longer".to_vec()).is_err());
        assert!(editor.set_metalayer("n", b"new".to_vec()).is_err());
        editor.set_metalayer("m", b"new".to_vec()).unwrap();
        editor.set_vlmetalayer("b", &[3; 5000]).unwrap();
        assert!(editor.remove_vlmetalayer("a") && !editor.remove_vlmetalayer("a"));
        commit(&mut editor);
        let frame = Frame::open(&place.path).unwrap();
        assert_eq!(frame.metalayers().get("m"), Some(&b"new"[..]));
        assert_eq!(frame.vlmetalayer_names().collect::<Vec<_>>(), ["b"]);
        assert_eq!(frame.vlmetalayer("b").unwrap().unwrap(), [3; 5000]);
        editor.remove_vlmetalayer("b");
        editor.delete(0, 1).unwrap();
        commit(&mut editor);
        let frame = Frame::open(&place.path).unwrap();
        assert_eq!((frame.chunk_count(), frame.header().has_vlmetalayers), (0, false));
        // Removed values make room for other metadata, and for other chunks.
        editor.set_metalayer("m", b"longer".to_vec()).unwrap();
        editor.append(&numbers(5)).unwrap();
        commit(&mut editor);
        assert!(read(&place.path) == [numbers(5)]);
        assert_eq!(Frame::open(&place.path).unwrap().metalayers().get("m"), Some(&b"longer"[..]));
    }
}

#[test]
fn blocks_of_different_lengths_stay_among_themselves() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append_blocks(&[b"one", b"three"]).unwrap();
    editor.append_blocks(&[b"a"]).unwrap();
    assert!(editor.append(b"one").is_err() && editor.update(0, b"onethree").is_err());
    assert!(editor.insert_special(0, Special::Zeros, 8, 1).is_err());
    editor.append_blocks(&[b"after a shorter one"]).unwrap();
    commit(&mut editor);
    assert!(read(&place.path) == [&b"onethree"[..], b"a", b"after a shorter one"]);
}

#[test]
fn uncommitted_changes_are_rolled_back() {
    for kind in KINDS {
        let place = place();
        let mut editor = Editor::create(&place.path, new(kind), &EditOptions::default()).unwrap();
        editor.append(&numbers(0)).unwrap();
        commit(&mut editor);
        let size = |path: &Path| match kind {
            Kind::Contiguous => path.metadata().unwrap().len(),
            Kind::Sparse => std::fs::read_dir(path).unwrap().count() as u64,
        };
        let before = size(&place.path);
        editor.append(&numbers(1)).unwrap();
        assert!(size(&place.path) > before);
        // Another one cannot be opened meanwhile.
        let error = Editor::open(&place.path, &EditOptions::default()).err().unwrap();
        assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        drop(editor);
        assert_eq!(size(&place.path), before);
        assert!(read(&place.path) == [numbers(0)]);
    }
}

#[test]
fn files_of_a_sparse_frame_come_under_new_numbers_and_go() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Sparse), &EditOptions::default()).unwrap();
    editor.append_all(&[&numbers(0), &numbers(1), &numbers(2)]).unwrap();
    commit(&mut editor);
    let names = || {
        let mut names: Vec<String> = place
            .path
            .read_dir()
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    };
    editor.update(1, &numbers(3)).unwrap();
    assert_eq!(
        names(),
        ["00000000.chunk", "00000001.chunk", "00000002.chunk", "00000003.chunk", "chunks.b2frame"]
    );
    commit(&mut editor);
    assert_eq!(names(), ["00000000.chunk", "00000002.chunk", "00000003.chunk", "chunks.b2frame"]);
    editor.delete(0, 2).unwrap();
    commit(&mut editor);
    assert_eq!(names(), ["00000002.chunk", "chunks.b2frame"]);
    let frame = Frame::open(&place.path).unwrap();
    assert_eq!(frame.header().cbytes, place.path.join("00000002.chunk").metadata().unwrap().len());
    assert!(frame.layout().faults().is_empty());
}

#[test]
fn bytes_behind_a_frame_survive() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append(&numbers(0)).unwrap();
    commit(&mut editor);
    drop(editor);
    let frame = std::fs::read(&place.path).unwrap();
    std::fs::write(&place.path, [&frame[..], b"precious"].concat()).unwrap();
    let mut editor = Editor::open(&place.path, &EditOptions::default()).unwrap();
    editor.append(&numbers(1)).unwrap();
    commit(&mut editor);
    let after = std::fs::read(&place.path).unwrap();
    assert_eq!(&after[frame.len()..][..8], b"precious");
    assert!(read(&place.path) == [numbers(0), numbers(1)]);

    // In a larger file they may be another's.
    let inside = RecordingStorage::new([&[9; 77][..], &frame, b"precious"].concat());
    let error = Editor::open_storage(Box::new(inside), 77, &EditOptions::default()).err().unwrap();
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
    let last = RecordingStorage::new([&[9; 77][..], &frame].concat());
    let mut editor = Editor::open_storage(Box::new(last.clone()), 77, &EditOptions::default()).unwrap();
    editor.append(&numbers(1)).unwrap();
    commit(&mut editor);
    let image = last.image();
    assert_eq!(image[..77], [9; 77]);
    let frame = Frame::from_bytes(image[77..].to_vec()).unwrap();
    assert_eq!(frame.read_chunk(1, &ReadOptions::default()).unwrap(), numbers(1));
}

#[test]
fn a_failed_write_poisons_the_editor() {
    let storage = RecordingStorage::new({
        let mut bytes = Vec::new();
        let mut writer = crate::Writer::new(&mut bytes, new(Kind::Contiguous)).unwrap();
        writer.append(&numbers(0)).unwrap();
        writer.finish().unwrap();
        bytes
    });
    let before = storage.image();
    let full = before.len() as u64 + 20;
    let mut editor = Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap();
    storage.set_room(Some(full));
    assert!(matches!(editor.append(&numbers(1)).unwrap_err().kind(), ErrorKind::Io(_)));
    storage.set_room(None);
    for refused in [editor.append(&numbers(1)), editor.commit(Durability::Synced), editor.delete(0, 1)] {
        assert!(matches!(refused.unwrap_err().kind(), ErrorKind::Usage(_)));
    }
    drop(editor);
    // What was written of the chunk goes.
    assert!(storage.image() == before);
    let frame = Frame::from_bytes(storage.image()).unwrap();
    assert_eq!(frame.read_chunk(0, &ReadOptions::default()).unwrap(), numbers(0));

    // There is room for the chunk, and not for the index after it.
    let mut editor = Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap();
    editor.append(&numbers(1)).unwrap();
    assert!(storage.image().len() > before.len());
    storage.set_room(Some(storage.image().len() as u64 + 4));
    assert!(matches!(editor.commit(Durability::Synced).unwrap_err().kind(), ErrorKind::Io(_)));
    storage.set_room(None);
    drop(editor);
    assert!(storage.image() == before);
}

#[test]
fn commit_without_changes_skips_all_writes() {
    let mut bytes = Vec::new();
    crate::Writer::new(&mut bytes, new(Kind::Contiguous)).unwrap().finish().unwrap();
    let storage = RecordingStorage::new(bytes);
    let mut editor = Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap();
    commit(&mut editor);
    editor.set_metalayer("m", b"old".to_vec()).unwrap();
    editor.insert_special(0, Special::Zeros, 4, 0).unwrap();
    editor.delete(0, 0).unwrap();
    commit(&mut editor);
    assert_eq!(storage.operations(), []);
    editor.append(&numbers(0)).unwrap();
    editor.commit(Durability::Cached).unwrap();
    assert!(storage.operations().iter().all(|operation| matches!(operation, Operation::Write { .. })));
}

#[test]
fn another_program_that_writes_is_noticed() {
    let mut bytes = Vec::new();
    crate::Writer::new(&mut bytes, new(Kind::Contiguous)).unwrap().finish().unwrap();
    let storage = RecordingStorage::new(bytes);
    let mut other = storage.clone();
    let mut editor = Editor::open_storage(Box::new(storage), 0, &EditOptions::default()).unwrap();
    editor.append(&numbers(0)).unwrap();
    Storage::write_at(&mut other, 20, &[1]).unwrap();
    let error = editor.commit(Durability::Synced).unwrap_err();
    assert!(error.to_string().contains("another program"), "{error}");
}

#[test]
fn appended_chunks_use_the_current_parameters() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append(&numbers(0)).unwrap();
    let lz4 = Params { compressor: blosc_chunk::Compressor::LZ4, ..editor.params().clone() };
    assert!(editor.set_params(Params { typesize: 8, ..lz4.clone() }).is_err());
    editor.set_params(lz4).unwrap();
    editor.append(&numbers(1)).unwrap();
    commit(&mut editor);
    let frame = Frame::open(&place.path).unwrap();
    let codecs = [0, 1].map(|index| frame.chunk_header(index).unwrap().compressor.name());
    assert_eq!((codecs, frame.header().compressor.name()), (["zstd", "lz4"], "zstd"));
    assert!(read(&place.path) == [numbers(0), numbers(1)]);
}

#[test]
fn readers_that_ask_for_it_wait_for_the_sidecar_lock() {
    for kind in KINDS {
        let place = place();
        let options = EditOptions { lock: Locking::JournalStore, ..EditOptions::default() };
        let mut editor = Editor::create(&place.path, new(kind), &options).unwrap();
        editor.append(&numbers(0)).unwrap();
        commit(&mut editor);
        let path = place.path.clone();
        let locked = crate::OpenOptions { lock: Locking::JournalStore, ..crate::OpenOptions::default() };
        let reader = std::thread::spawn(move || Frame::open_with(path, &locked).unwrap().chunk_count());
        // Others see what is committed, and do not wait.
        assert_eq!(read(&place.path).len(), 1);
        std::thread::sleep(std::time::Duration::from_millis(50));
        assert!(!reader.is_finished());
        editor.append(&numbers(1)).unwrap();
        commit(&mut editor);
        drop(editor);
        assert_eq!(reader.join().unwrap(), 2);
    }
}

#[test]
fn a_header_across_sectors_is_finished_by_whoever_opens_it() {
    let place = place();
    let mut frame = new(Kind::Contiguous);
    frame.metalayers.set("long", vec![1; 1500]).unwrap();
    let mut editor = Editor::create(&place.path, frame, &EditOptions::default()).unwrap();
    editor.append(&numbers(0)).unwrap();
    commit(&mut editor);
    let old = std::fs::read(&place.path).unwrap();
    editor.append(&numbers(1)).unwrap();
    editor.set_metalayer("long", vec![2; 1500]).unwrap();
    commit(&mut editor);
    drop(editor);
    let beside = place.path.with_file_name("a.b2frame.b2journal");
    assert!(!beside.exists());
    let new = std::fs::read(&place.path).unwrap();
    // What a power cut leaves: the first sector is the new one, others of the header are the old ones.
    let torn = [&new[..512], &old[512..1700], &new[1700..]].concat();
    let change = Patch::between(0, &old[..1700], &new[..1700]).unwrap();
    let len = new.len() as u64;
    let journal = Journal::new(len, len, vec![change]).unwrap().encode(&crate::journal::KIND);
    std::fs::write(&place.path, &torn).unwrap();
    let state = |path: &Path| {
        let frame = Frame::open(path).unwrap();
        (frame.chunk_count(), frame.metalayers().get("long").unwrap().to_vec())
    };
    assert_ne!(state(&place.path), (2, vec![2; 1500]), "without the journal it is neither");
    std::fs::write(&beside, &journal).unwrap();
    assert_eq!(state(&place.path), (2, vec![2; 1500]));
    assert!(beside.exists(), "a reader writes nothing");
    drop(Editor::open(&place.path, &EditOptions::default()).unwrap());
    assert!(!beside.exists() && std::fs::read(&place.path).unwrap() == new);
    // One about an earlier file has no effect, and stays: none of these writes needs another.
    let mut editor = Editor::open(&place.path, &EditOptions::default()).unwrap();
    editor.append(&numbers(2)).unwrap();
    commit(&mut editor);
    drop(editor);
    std::fs::write(&beside, &journal).unwrap();
    assert_eq!(state(&place.path), (3, vec![2; 1500]));
    let before = std::fs::read(&place.path).unwrap();
    let mut editor = Editor::open(&place.path, &EditOptions::default()).unwrap();
    editor.set_metalayer("long", vec![3; 1500]).unwrap();
    let refused = editor.commit(Durability::Synced).unwrap_err();
    assert!(refused.to_string().contains("exists already"), "{refused}");
    drop(editor);
    assert!(std::fs::read(&place.path).unwrap() == before && std::fs::read(&beside).unwrap() == journal);
}

/// Found by fuzzing: the editor gave zeros where an element is cut, the frame the bytes of a NaN.
#[test]
fn a_chunk_of_nan_that_ends_within_an_element_is_the_same_to_all() {
    let mut bytes = Vec::new();
    let options = FrameOptions { params: default_params(8), ..FrameOptions::default() };
    let mut writer = crate::Writer::new(&mut bytes, options).unwrap();
    writer.append(&[7; 32]).unwrap();
    writer.append(&[7; 19]).unwrap();
    writer.finish().unwrap();
    let storage = RecordingStorage::new(bytes);
    let mut editor = Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap();
    editor.offsets.set(1, Offset::Special(Special::Nan)).unwrap();
    editor.changed = true;
    let own = editor.read_chunk(1).unwrap();
    editor.commit(Durability::Cached).unwrap();
    let frame = Frame::from_source(Box::new(storage.image()), 0, &crate::OpenOptions::default()).unwrap();
    assert_eq!(frame.read_chunk(1, &ReadOptions::default()).unwrap(), own);
    let nan = f64::from_bits(0x7FF8_0000_0000_0000).to_le_bytes().repeat(3);
    assert_eq!(own, nan[..19]);
}

/// Not everyone asks for the lock: C-Blosc2 does not.
#[test]
fn concurrent_writes_by_other_programs_are_preserved() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append(&numbers(0)).unwrap();
    commit(&mut editor);
    drop(editor);
    let storage = RecordingStorage::new(std::fs::read(&place.path).unwrap());
    let theirs = RecordingStorage::new(storage.image());
    let open = |storage: &RecordingStorage| {
        Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap()
    };
    let (mut editor, mut late, mut other) = (open(&storage), open(&storage), open(&theirs));
    late.append(&numbers(9)).unwrap();
    other.append(&numbers(1)).unwrap();
    commit(&mut other);
    drop(other);
    let image = theirs.image();
    storage.clone().write_at(0, &image).unwrap();
    let refused = editor.append(&numbers(2)).and_then(|()| editor.commit(Durability::Synced)).unwrap_err();
    assert!(refused.to_string().contains("another program"), "{refused}");
    drop(editor);
    assert!(storage.image() == image);
    // One that wrote at the same place is detected at its commit, and changes no other data.
    late.commit(Durability::Synced).unwrap_err();
    drop(late);
    assert!(storage.image() == image);
}

#[test]
fn a_request_to_stop_ends_what_runs_and_keeps_what_was_done() {
    static ASKED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append(&numbers(1)).unwrap();
    editor.set_stop(Stop::when(&ASKED));
    editor.append(&numbers(2)).unwrap();
    ASKED.store(true, std::sync::atomic::Ordering::Relaxed);
    let is_cancelled = |error: &Error| matches!(error.kind(), ErrorKind::Cancelled);
    assert!(is_cancelled(&editor.append(&numbers(3)).unwrap_err()));
    assert!(is_cancelled(&editor.read_chunk(0).unwrap_err()));
    editor.set_stop(Stop::never());
    commit(&mut editor);
    assert_eq!(read(&place.path), [numbers(1), numbers(2)]);
}

#[test]
fn an_encoded_chunk_is_one_that_another_frame_takes() {
    let (one, other) = (place(), place());
    let mut editor = Editor::create(&one.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append_all(&[&numbers(1), &[0; 4000]]).unwrap();
    let mut copy = Editor::create(&other.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    for index in 0..2 {
        copy.append_chunk(&editor.encoded_chunk(index).unwrap()).unwrap();
    }
    assert!(editor.encoded_chunk(2).is_err());
    commit(&mut copy);
    assert_eq!(read(&other.path), [numbers(1), vec![0; 4000]]);
}

#[test]
fn chunks_that_are_replaced_before_they_are_committed_take_no_room() {
    let place = place();
    let mut editor = Editor::create(&place.path, new(Kind::Contiguous), &EditOptions::default()).unwrap();
    editor.append_all(&[&numbers(0), &numbers(0), &numbers(0)]).unwrap();
    commit(&mut editor);
    let before = std::fs::metadata(&place.path).unwrap().len();
    let noise =
        |seed: i32| -> Vec<u8> { (0..1000).flat_map(|i: i32| (i * i * seed).to_le_bytes()).collect() };
    for (step, index) in (1..100).zip([1, 2, 0].into_iter().cycle()) {
        editor.update(index, &noise(step)).unwrap();
        assert_eq!(editor.read_chunk(index).unwrap(), noise(step));
    }
    assert_eq!(read(&place.path), vec![numbers(0); 3]);
    commit(&mut editor);
    let after = std::fs::metadata(&place.path).unwrap().len();
    assert!(after < before + 5 * 4100, "{after}");
    assert_eq!(Frame::open(&place.path).unwrap().layout().end(), after);
    assert_eq!(read(&place.path), [noise(99), noise(97), noise(98)]);
    // Those of the last commit stay until the next one.
    editor.update(0, &noise(5)).unwrap();
    assert_eq!(read(&place.path), [noise(99), noise(97), noise(98)]);
}
