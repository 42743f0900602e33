//! Every file that a crash of an editor may leave opens in both releases of python-blosc2: as the frame before a commit, or the one after.

use blosc2_frame::blosc_chunk::Special;
use blosc2_frame::{EditOptions, Editor, FrameOptions, Writer, default_params, msgpack};
use container_core::write::{AtomicFile, Durability, Overwrite};
use crash_test::{RecordingStorage, crash_states};
use serde_json::{Value, json};

use crate::peers::{Peer, folder, put};
use crate::random::cases;

/// Bytes of a chunk.
const CHUNK: usize = 2000;

/// Content of a frame: values, and user metadata.
type State = (Vec<u8>, Value);

fn chunk(seed: usize) -> Vec<u8> {
    (0..CHUNK).map(|at| (at * at / (seed + 3) + seed) as u8).collect()
}

/// A frame of three chunks.
fn start() -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("start.b2frame");
    let mut out = AtomicFile::create(&path, Overwrite::Refuse).unwrap();
    let mut options = FrameOptions::default();
    options.params = default_params(4);
    let mut writer = Writer::new(&mut out, options).unwrap();
    for seed in 0..3 {
        writer.append(&chunk(seed)).unwrap();
    }
    writer.finish().unwrap();
    out.commit(Durability::Cached).unwrap();
    std::fs::read(path).unwrap()
}

fn note(editor: &mut Editor, text: &str) {
    editor.set_vlmetalayer("note", &msgpack::to_msgpack(text).unwrap()).unwrap();
}

/// Changes, commit by commit.
const CHANGES: [fn(&mut Editor); 6] = [
    |editor| editor.append(&chunk(10)).unwrap(),
    |editor| editor.update(1, &chunk(11)).unwrap(),
    |editor| note(editor, "some text"),
    |editor| {
        editor.insert(0, &chunk(12)).unwrap();
        editor.update_special(2, Special::Zeros).unwrap();
    },
    |editor| {
        editor.delete(1, 2).unwrap();
        note(editor, "a longer text than there was");
    },
    |editor| editor.reorder(&[2, 1, 0]).unwrap(),
];

fn state(editor: &Editor) -> State {
    let values: Vec<Vec<u8>> = (0..editor.chunk_count()).map(|at| editor.read_chunk(at).unwrap()).collect();
    let note: Option<Value> =
        editor.vlmetalayer("note").unwrap().map(|bytes| msgpack::from_msgpack(&bytes).unwrap());
    (values.concat(), note.map_or(json!({}), |note| json!({ "note": note })))
}

#[test]
fn images_of_crashes_are_the_old_frame_or_the_new_one_to_both_releases() {
    let start = start();
    let storage = RecordingStorage::new(start.clone());
    let mut editor = Editor::open_storage(Box::new(storage.clone()), 0, &EditOptions::default()).unwrap();
    let mut states = vec![state(&editor)];
    let mut ends = vec![0];
    for change in CHANGES {
        change(&mut editor);
        editor.commit(Durability::Synced).unwrap();
        states.push(state(&editor));
        ends.push(storage.operations().len());
    }
    drop(editor);
    let operations = storage.operations();
    let mut images: Vec<(Vec<u8>, usize, String)> = Vec::new();
    crash_states(&start, &operations, 9, |crash| {
        images.push((crash.image.to_vec(), crash.done, crash.what.clone()));
    });
    let every = (images.len() as u64 / cases(250)).max(1);
    let folder = folder();
    let mut peers = Peer::both();
    let mut seen = vec![0; states.len()];
    for (number, (image, done, what)) in images.iter().enumerate() {
        if !(number as u64).is_multiple_of(every) {
            continue;
        }
        let path = put(&folder, "a.b2frame", image);
        let peer = &mut peers[number / every as usize % 2];
        let (_, values) = peer.read(&path);
        let found = (values, peer.info(&path)["vlmeta"].clone());
        let promised = ends.iter().rposition(|end| end <= done).unwrap();
        let at = states.iter().position(|state| *state == found);
        let at = at.unwrap_or_else(|| panic!("{what}: to {:?} it is none of the frames", peer.release));
        assert!(at >= promised && at <= promised + 1, "{what}: {at}, but {promised} was promised");
        seen[at] += 1;
    }
    assert!(seen.iter().all(|count| *count > 2), "{seen:?} of {} images", images.len());
}
