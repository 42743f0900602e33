//! The lock file of C-Blosc2, between processes: who comes second waits, and sees what the first did.

use std::path::Path;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use blosc2_frame::{EditOptions, Editor, Frame, FrameOptions, Locking, OpenOptions};
use container_core::container::ReadOptions;
use container_core::write::Durability;
use serde_json::json;

use crate::peers::{Peer, Release, folder};

/// Long enough for what does not wait.
const SOON: Duration = Duration::from_millis(400);

/// Long enough for anything.
const LATE: Duration = Duration::from_secs(25);

fn locked() -> EditOptions {
    let mut options = EditOptions::default();
    options.lock = Locking::JournalStore;
    options
}

fn append(path: &Path, data: &[u8]) {
    let mut editor = Editor::open(path, &locked()).unwrap();
    editor.append(data).unwrap();
    editor.commit(Durability::Cached).unwrap();
}

fn open(path: &Path) -> Frame {
    let mut options = OpenOptions::default();
    options.lock = Locking::JournalStore;
    Frame::open_with(path, &options).unwrap()
}

fn contents(path: &Path) -> Vec<Vec<u8>> {
    open(path).chunks(&ReadOptions::default()).map(Result::unwrap).collect()
}

fn start(path: &Path) -> Peer {
    drop(Editor::create(path, FrameOptions::default(), &EditOptions::default()).unwrap());
    append(path, b"one.");
    let mut peer = Peer::start(Release::Newest);
    peer.ask("open", json!({"path": path, "handle": "h", "mode": "a", "locking": true}));
    peer
}

#[test]
fn an_editor_waits_until_python_lets_go() {
    let folder = folder();
    let path = folder.path().join("a.b2frame");
    let mut peer = start(&path);
    peer.ask("mutate", json!({"handle": "h", "steps": [["lock"], ["append", {"hex": "74776f2e"}]]}));
    let (done, is_done) = mpsc::channel();
    let editing = thread::spawn({
        let path = path.clone();
        move || {
            append(&path, b"3333");
            done.send(()).unwrap();
        }
    });
    assert!(is_done.recv_timeout(SOON).is_err(), "ours did not wait");
    peer.ask("mutate", json!({"handle": "h", "steps": [["append", {"hex": "74687265"}], ["unlock"]]}));
    is_done.recv_timeout(LATE).unwrap();
    editing.join().unwrap();
    assert_eq!(contents(&path), [b"one.", b"two.", b"thre", b"3333"]);
}

#[test]
fn python_waits_until_an_editor_is_gone_and_sees_what_it_did() {
    let folder = folder();
    let path = folder.path().join("a.b2frame");
    let mut peer = start(&path);
    // It has read the frame, so that it has something to forget.
    assert_eq!(peer.ask("read", json!({"handle": "h"}))["nchunks"], 1);
    let mut editor = Editor::open(&path, &locked()).unwrap();
    editor.append(b"two.").unwrap();
    let (done, is_done) = mpsc::channel();
    let asking = thread::spawn(move || {
        peer.ask("mutate", json!({"handle": "h", "steps": [["append", {"hex": "74687265"}]]}));
        done.send(()).unwrap();
        peer
    });
    assert!(is_done.recv_timeout(SOON).is_err(), "python did not wait");
    editor.commit(Durability::Cached).unwrap();
    drop(editor);
    is_done.recv_timeout(LATE).unwrap();
    let mut peer = asking.join().unwrap();
    assert_eq!(contents(&path), [b"one.", b"two.", b"thre"]);
    let raw = folder.path().join("raw");
    assert_eq!(peer.ask("read", json!({"handle": "h", "raw": raw}))["nchunks"], 3);
    assert_eq!(std::fs::read(raw).unwrap(), b"one.two.thre");
}

/// In turns, each with a handle that stays open: nobody works on what was before.
#[test]
fn handles_that_stay_open_follow_the_other_writer() {
    let folder = folder();
    let path = folder.path().join("a.b2frame");
    let mut peer = start(&path);
    let mut frame = Frame::open(&path).unwrap();
    let mut expected = b"one.".to_vec();
    let raw = folder.path().join("raw");
    for turn in 0..12_u8 {
        let data = [b'0' + turn; 4];
        expected.extend(data);
        if turn % 2 == 0 {
            append(&path, &data);
        } else {
            let hex = crate::peers::hex(&data);
            peer.ask("mutate", json!({"handle": "h", "steps": [["append", {"hex": hex}]]}));
        }
        assert!(frame.refresh().unwrap(), "turn {turn}");
        let len = frame.data_len();
        assert_eq!(frame.read_range(0..len, &ReadOptions::default()).unwrap(), expected);
        // Its number of chunks is that of its last look, and reading the number is no look.
        peer.ask("mutate", json!({"handle": "h", "steps": [["refresh"]]}));
        assert_eq!(peer.ask("read", json!({"handle": "h", "raw": raw}))["nchunks"], 2 + turn);
        assert_eq!(std::fs::read(&raw).unwrap(), expected, "turn {turn}");
    }
}

/// A frame that is open with the lock shares it, which python-blosc2 does as long as it reads.
#[test]
fn python_reads_a_frame_that_is_open_and_waits_to_write() {
    let folder = folder();
    let path = folder.path().join("a.b2frame");
    let mut peer = start(&path);
    let frame = open(&path);
    assert_eq!(peer.ask("read", json!({"handle": "h"}))["nchunks"], 1);
    let (done, is_done) = mpsc::channel();
    let asking = thread::spawn(move || {
        peer.ask("mutate", json!({"handle": "h", "steps": [["append", {"hex": "74776f2e"}]]}));
        done.send(()).unwrap();
    });
    assert!(is_done.recv_timeout(SOON).is_err(), "python did not wait");
    drop(frame);
    is_done.recv_timeout(LATE).unwrap();
    asking.join().unwrap();
    assert_eq!(contents(&path), [b"one.", b"two."]);
}
