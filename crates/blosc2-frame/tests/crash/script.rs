//! Frames and changes for crash tests.

use std::path::Path;

use blosc2_frame::blosc_chunk::Special;
use blosc2_frame::container_core::container::ReadOptions;
use blosc2_frame::{
    Durability, EditOptions, Editor, Frame, FrameOptions, OpenOptions, Result, Writer, default_params,
};
use crash_test::{Format, Operation, RecordingStorage, Script, random_bytes};

/// Contents of a frame: chunks, metalayers, user metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub chunks: Vec<Vec<u8>>,
    pub metalayers: Vec<(String, Vec<u8>)>,
    pub user: Vec<(String, Vec<u8>)>,
}

fn state(frame: &Frame) -> Result<State> {
    let chunk = |index| frame.read_chunk(index, &ReadOptions::default());
    let user = |name: &str| Ok((name.to_owned(), frame.vlmetalayer(name)?.unwrap_or_default()));
    Ok(State {
        chunks: (0..frame.chunk_count()).map(chunk).collect::<Result<_>>()?,
        metalayers: frame
            .metalayers()
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_vec()))
            .collect(),
        user: frame.vlmetalayer_names().map(user).collect::<Result<_>>()?,
    })
}

/// A frame that starts at this offset of its file, as crash tests open it.
#[derive(Clone, Copy, Debug)]
pub struct FrameAt(pub u64);

impl Format for FrameAt {
    type State = State;

    const JOURNAL_SUFFIX: &'static str = ".b2journal";

    fn read(&self, file: &[u8]) -> Result<State> {
        state(&Frame::from_source(Box::new(file.to_vec()), self.0, &OpenOptions::default())?)
    }

    fn read_path(&self, path: &Path) -> Result<State> {
        state(&Frame::open_at(path, self.0, &OpenOptions::default())?)
    }

    fn reopen(&self, storage: RecordingStorage) -> Result<()> {
        edit(&storage, self.0).map(drop)
    }
}

/// Makes a script that starts with a file whose frame starts at this offset.
pub fn script(file: &[u8], at: u64) -> Script<FrameAt> {
    Script::new(FrameAt(at), RecordingStorage::with_journal(file))
}

/// Opens an editor of a frame, with a journal.
pub fn edit(storage: &RecordingStorage, at: u64) -> Result<Editor> {
    let (file, journal) = (Box::new(storage.clone()), Box::new(storage.clone()));
    Editor::open_storage_with(file, journal, at, &EditOptions::default())
}

/// Commits, and promises what is in the frame now.
pub fn commit(script: &mut Script<FrameAt>, editor: &mut Editor, durability: Durability) {
    editor.commit(durability).unwrap();
    script.promise_change();
    if durability == Durability::Synced {
        let operations = script.storage.operations();
        assert_eq!(operations.last(), Some(&Operation::Sync), "what is promised is on the disk");
    }
}

/// Makes a chunk of 100 numbers that do not repeat.
pub fn numbers(seed: u64) -> Vec<u8> {
    random_bytes(seed, 800)
}

/// Makes a frame of `count` chunks with a metalayer `shape` of `metadata` bytes.
pub fn frame(count: u64, metadata: usize) -> Vec<u8> {
    let mut options = FrameOptions::default();
    options.params = default_params(8);
    options.metalayers.set("shape", shape(count, metadata)).unwrap();
    let mut bytes = Vec::new();
    let mut writer = Writer::new(&mut bytes, options).unwrap();
    (0..count).for_each(|seed| writer.append(&numbers(seed)).unwrap());
    writer.set_vlmetalayer("about", b"a frame").unwrap();
    writer.finish().unwrap();
    bytes
}

/// Makes a metalayer with the number of chunks at its beginning and at its end.
pub fn shape(count: u64, len: usize) -> Vec<u8> {
    let mut value = vec![0xab; len];
    value[..8].copy_from_slice(&count.to_be_bytes());
    value[len - 8..].copy_from_slice(&count.to_be_bytes());
    value
}

/// Makes all kinds of changes; one commit each.
pub fn change_all(
    script: &mut Script<FrameAt>,
    editor: &mut Editor,
    metadata: usize,
    durability: Durability,
) {
    editor.append(&numbers(100)).unwrap();
    commit(script, editor, durability);
    editor.update(0, &numbers(101)).unwrap();
    editor.update(1, &[0; 800]).unwrap();
    commit(script, editor, durability);
    editor.insert(1, &numbers(102)).unwrap();
    commit(script, editor, durability);
    editor.delete(0, 2).unwrap();
    commit(script, editor, durability);
    resize(editor, 3, metadata);
    commit(script, editor, durability);
    editor.set_vlmetalayer("about", &vec![b'x'; 700]).unwrap();
    commit(script, editor, durability);
    editor.remove_vlmetalayer("about");
    editor.set_vlmetalayer("other", b"y").unwrap();
    commit(script, editor, durability);
    let mut order: Vec<u64> = (0..editor.chunk_count()).collect();
    order.reverse();
    editor.reorder(&order).unwrap();
    commit(script, editor, durability);
    editor.append(&numbers(104)[..400]).unwrap();
    commit(script, editor, durability);
    editor.delete(0, editor.chunk_count()).unwrap();
    editor.set_metalayer("shape", shape(0, metadata)).unwrap();
    commit(script, editor, durability);
    editor.set_metalayer("more", vec![5; 200]).unwrap();
    commit(script, editor, durability);
    resize(editor, 2, metadata);
    commit(script, editor, durability);
}

/// As an array that grows: chunks, and the metalayer with their number, in one commit.
pub fn resize(editor: &mut Editor, more: u64, metadata: usize) {
    editor.insert_special(editor.chunk_count(), Special::Nan, 800, more).unwrap();
    editor.append(&numbers(103)).unwrap();
    editor.set_metalayer("shape", shape(editor.chunk_count(), metadata)).unwrap();
}
