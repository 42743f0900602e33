//! Frames of any bytes, changed in place, against a list of what they are to hold.

use blosc2_frame::blosc_chunk::Special;
use blosc2_frame::{
    Durability, EditOptions, Editor, ErrorKind, Frame, FrameOptions, Result, Writer, default_params,
};
use container_core::container::Tolerance;
use crash_test::RecordingStorage;

use crate::blosc2_file::open;
use crate::feed::Feed;
use crate::lens::look_at_error;
use crate::options::{read_options, small_options};

/// Most chunks and bytes that are kept in mind.
const MAX_REMEMBERED: u64 = 1 << 16;
const MAX_CHUNKS: u64 = 64;

/// Expected content of the frame: chunks, where they can be read, and user metadata.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    chunks: Vec<Option<Vec<u8>>>,
    notes: Vec<(String, Option<Vec<u8>>)>,
}

impl Model {
    fn of(frame: &Frame) -> Option<Self> {
        if frame.chunk_count() > MAX_CHUNKS || frame.data_len() > MAX_REMEMBERED {
            return None;
        }
        let chunks = (0..frame.chunk_count()).map(|at| frame.read_chunk(at, &read_options()).ok()).collect();
        let names: Vec<String> = frame.vlmetalayer_names().map(str::to_owned).collect();
        let note = |name: String| {
            let value = frame.vlmetalayer(&name).ok().flatten();
            (name, value)
        };
        Some(Self { chunks, notes: names.into_iter().map(note).collect() })
    }
}

/// The first byte says how many there are that make choices; what follows is the frame, or nothing for an empty one.
pub fn blosc2_editor(data: &[u8]) {
    let Some((count, rest)) = data.split_first() else { return };
    let (script, frame) = rest.split_at(rest.len().min((*count).into()));
    let mut feed = Feed::new(script);
    let start = if frame.is_empty() { empty(&mut feed) } else { frame.to_vec() };
    let Ok(before) = open(&start, Tolerance::Strict) else {
        let storage = Box::new(RecordingStorage::new(start.clone()));
        assert!(Editor::open_storage(storage, 0, &edit_options(&mut feed)).is_err(), "damaged, and edited");
        return;
    };
    let Some(mut model) = Model::of(&before) else { return };
    let storage = RecordingStorage::new(start.clone());
    for _ in 0..1 + feed.below(2) {
        let mut editor = match Editor::open_storage(Box::new(storage.clone()), 0, &edit_options(&mut feed)) {
            Ok(editor) => editor,
            Err(error) => return look_at_error(&error),
        };
        // The frame's own parameters may be those of a codec or filter that loses something.
        let typesize = editor.header().typesize as usize;
        if let Err(error) = editor.set_params(default_params(typesize)) {
            return look_at_error(&error);
        }
        for _ in 0..feed.below(12) {
            step(&mut editor, &mut model, &mut feed);
            assert_eq!(editor.chunk_count(), model.chunks.len() as u64);
            if feed.below(4) == 0 && commit(&mut editor, &storage, &model).is_none() {
                return;
            }
        }
        if commit(&mut editor, &storage, &model).is_none() {
            return;
        }
    }
}

fn edit_options(feed: &mut Feed<'_>) -> EditOptions {
    let mut options = EditOptions::default();
    options.limits = small_options().limits;
    options.variable_chunks = feed.flag();
    options
}

fn empty(feed: &mut Feed<'_>) -> Vec<u8> {
    let mut options = FrameOptions::default();
    options.params = default_params(feed.one_of(&[1, 4, 8, 3, 300]));
    options.variable_chunks = feed.below(4) == 0;
    let mut file = Vec::new();
    let writer = Writer::new(&mut file, options).expect("options like any others");
    writer.finish().expect("memory");
    file
}

/// `None` where the frame has what cannot be committed: the rest says nothing.
fn commit(editor: &mut Editor, storage: &RecordingStorage, model: &Model) -> Option<()> {
    if let Err(error) = editor.commit(Durability::Synced) {
        look_at_error(&error);
        assert!(!matches!(error.kind(), ErrorKind::Io(_)), "memory: {error}");
        return None;
    }
    let frame = open(&storage.image(), Tolerance::Strict).expect("what was committed opens");
    let found = Model::of(&frame)?;
    assert_eq!((&found.notes, found.chunks.len()), (&model.notes, model.chunks.len()));
    for (at, (found, told)) in found.chunks.iter().zip(&model.chunks).enumerate() {
        // A chunk of another length than the header says can be read once each has its own.
        assert!(told.is_none() || found == told, "chunk {at}");
    }
    Some(())
}

fn step(editor: &mut Editor, model: &mut Model, feed: &mut Feed<'_>) {
    let count = model.chunks.len();
    let held = model.chunks.iter().flatten().map(Vec::len).sum::<usize>() as u64;
    let at = feed.below(count + 2);
    let known = count as u64;
    match feed.below(10) {
        0..=2 if held < MAX_REMEMBERED / 2 && known < MAX_CHUNKS / 2 => {
            let data = content(editor, feed);
            if done(editor.insert(at.min(count) as u64, &data)) {
                model.chunks.insert(at.min(count), Some(data));
            }
        }
        3 | 4 => {
            let data = content(editor, feed);
            let done = done(editor.update(at as u64, &data));
            assert!(!done || at < count);
            if done {
                model.chunks[at] = Some(data);
            }
        }
        5 => {
            let many = feed.below(3);
            if done(editor.delete(at as u64, many as u64)) {
                model.chunks.drain(at..at + many);
            }
        }
        6 => {
            let mut order: Vec<u64> = (0..known).collect();
            if count > 1 {
                order.swap(at % count, feed.below(count));
            }
            if feed.below(6) == 0 {
                order.push(0);
            }
            if done(editor.reorder(&order)) {
                let old = std::mem::take(&mut model.chunks);
                model.chunks = order.iter().map(|from| old[*from as usize].clone()).collect();
            }
        }
        7 => {
            let special = feed.one_of(&[Special::Zeros, Special::Uninit, Special::Value]);
            if done(editor.update_special(at as u64, special)) {
                let len = editor.chunk_len(at as u64).expect("it is there") as usize;
                model.chunks[at] = Some(vec![0; len]);
            }
        }
        8 => {
            let name = feed.one_of(&["a", "note", "attrs", "", "a name of more than thirty-one bytes"]);
            let value = {
                let len = feed.below(40);
                feed.fill(len)
            };
            if done(editor.set_vlmetalayer(name, &value)) {
                match model.notes.iter_mut().find(|(own, _)| own == name) {
                    Some((_, own)) => *own = Some(value),
                    None => model.notes.push((name.to_owned(), Some(value))),
                }
            }
        }
        _ => {
            let name = feed.one_of(&["a", "note"]);
            let place = model.notes.iter().position(|(own, _)| own == name);
            assert_eq!(editor.remove_vlmetalayer(name), place.is_some());
            place.map(|place| model.notes.remove(place));
        }
    }
    let at = feed.below(count + 2) as u64;
    match (editor.read_chunk(at), model.chunks.get(at as usize)) {
        (Ok(read), Some(expected)) => {
            assert!(expected.as_ref().is_none_or(|expected| read == *expected), "chunk {at}");
        }
        (Ok(_), None) => panic!("there is no chunk {at}"),
        (Err(error), expected) => {
            look_at_error(&error);
            // A chunk of zeros may be longer than what there is room for here.
            let limit = matches!(error.kind(), ErrorKind::Limit { .. });
            assert!(limit || !matches!(expected, Some(Some(_))), "chunk {at}: {error}");
        }
    }
}

/// Bytes for a chunk: mostly as many as the others have.
fn content(editor: &Editor, feed: &mut Feed<'_>) -> Vec<u8> {
    let usual = match editor.header().chunksize {
        blosc2_frame::ChunkSize::Fixed(len) if u64::from(len) < MAX_REMEMBERED / 8 => len as usize,
        _ => 64,
    };
    let len = if feed.below(4) == 0 { feed.below(200) } else { usual };
    if feed.below(4) == 0 { vec![0; len] } else { feed.fill(len) }
}

fn done(result: Result<()>) -> bool {
    if let Err(error) = &result {
        look_at_error(error);
    }
    result.is_ok()
}
