//! Files that are written by calls in any order, stopped anywhere, and read again.

use std::collections::BTreeMap;

use crash_test::{RecordingStorage, power_loss_states, process_kill_states};
use gsd::{
    ChunkAlignment, ChunkType, Commit, CommitScheme, ErrorKind, File, Strictness, Writer, WriterOptions,
};

use crate::feed::Feed;
use crate::gsd_file::{open, own_options};
use crate::mutate::XorShift;

/// A chunk: type, N, M, bytes.
type Chunk = (ChunkType, u64, u32, Vec<u8>);
type Frame = BTreeMap<String, Chunk>;

const NAMES: &[&str] = &[
    "a",
    "b",
    "a/shape",
    "particles/position",
    "log/x",
    "\u{e9}",
    "a name of more than sixty-three bytes, which the packed list has room for",
    "",
];

/// Frames given to the writer.
#[derive(Default)]
struct Model {
    ended: Vec<Frame>,
    pending: Frame,
    committed: usize,
}

impl Model {
    /// Frames that a reader is to find: trailing ones without chunks leave no trace.
    fn visible(&self, upto: usize) -> &[Frame] {
        let frames = &self.ended[..upto];
        let last = frames.iter().rposition(|frame| !frame.is_empty());
        &frames[..last.map_or(0, |last| last + 1)]
    }
}

/// Writes, perhaps in several sessions; each state that a crash could leave has to be one that was committed.
pub fn gsd_writer(data: &[u8]) {
    let mut feed = Feed::new(data);
    let mut numbers = XorShift::seeded(data);
    let mut options = WriterOptions::default();
    options.limits = own_options(Strictness::Strict).limits;
    options.scheme = feed.one_of(&[CommitScheme::Atomic, CommitScheme::Atomic, CommitScheme::Reference]);
    let storage = RecordingStorage::default();
    let mut model = Model::default();
    // Number of operations, and the frames committed by then.
    let mut promises: Vec<(usize, usize)> = Vec::new();
    let mut born = 0;
    for session in 0..1 + feed.below(3) {
        options.commit = feed.one_of(&[Commit::EveryFrame, Commit::Every(3), Commit::Manual]);
        options.alignment =
            feed.one_of(&[ChunkAlignment::Eight, ChunkAlignment::Packed, ChunkAlignment::SixtyFour]);
        options.maximum_write_buffer_size = feed.one_of(&[1 << 20, 1, 40, 300]);
        let made = if session == 0 {
            Writer::create_storage(storage.clone(), &options)
        } else {
            Writer::open_storage(storage.clone(), &options)
        };
        let mut writer = made.expect("nothing hinders it");
        if session == 0 {
            born = storage.operation_count();
        }
        assert_eq!(writer.nframes() as usize, model.ended.len());
        for _ in 0..feed.below(30) {
            step(&mut writer, &mut model, &mut feed);
            promises.push((storage.operation_count(), model.committed));
        }
        if feed.below(8) == 0 {
            drop(writer);
        } else if let Err(error) = writer.close() {
            assert!(options.scheme == CommitScheme::Reference, "{error}");
            return assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
        }
        model.pending.clear();
        let left = model.visible(model.ended.len()).len();
        model.ended.truncate(left);
        model.committed = left;
        let image = storage.image();
        let Ok(file) = open(&image, Strictness::Strict) else {
            // The reference's files with too many frames without chunks are not opened by any reader.
            assert!(options.scheme == CommitScheme::Reference && left == 0, "what was written does not open");
            return;
        };
        equal(&file, &model.ended);
        promises.push((storage.operation_count(), left));
    }
    // What a crash could leave takes far longer than writing.
    if options.scheme == CommitScheme::Atomic && numbers.below(4) == 0 {
        crashes(&storage, &model, &promises, born, &mut numbers);
    }
}

fn step(writer: &mut Writer<RecordingStorage>, model: &mut Model, feed: &mut Feed<'_>) {
    match feed.below(12) {
        0..=5 => write(writer, model, feed),
        6..=8 => {
            writer.end_frame().map_or_else(
                |error| refused(&error),
                |()| {
                    model.ended.push(std::mem::take(&mut model.pending));
                },
            );
            model.committed = writer.committed_frames() as usize;
        }
        9 => {
            writer.flush().unwrap_or_else(|error| refused(&error));
            model.committed = writer.committed_frames() as usize;
        }
        10 => {
            writer.discard_frame().expect("it can be given up");
            model.pending.clear();
        }
        _ => {
            if model.ended.is_empty() {
                return;
            }
            let frame = feed.below(model.ended.len());
            let name = feed.one_of(NAMES);
            let found = writer.find_chunk(frame as u64, name).expect("memory");
            let known = model.ended[frame].get(name);
            if let (Some(found), Some(known)) = (&found, known) {
                assert_eq!((found.n, found.m, found.chunk_type()), (known.1, known.2, Some(known.0)));
                assert!(writer.read_chunk(found).expect("memory") == known.3);
            }
            assert!(found.is_none() || known.is_some(), "{name} of frame {frame}");
            assert!(
                found.is_some() || known.is_none() || frame >= model.committed,
                "{name} of frame {frame}"
            );
        }
    }
}

fn refused(error: &gsd::Error) {
    assert!(matches!(error.kind(), ErrorKind::Usage(_)), "{error}");
}

fn write(writer: &mut Writer<RecordingStorage>, model: &mut Model, feed: &mut Feed<'_>) {
    let name = feed.one_of(NAMES);
    let chunk_type = feed.one_of(&ChunkType::ALL);
    let (n, m) = (feed.below(9) as u64, feed.below(4) as u32);
    let n = if feed.below(20) == 0 { 200 } else { n };
    let bytes = feed.fill((n * u64::from(m) * chunk_type.size()) as usize);
    let written = writer.write_chunk_bytes(name, chunk_type, n, m, &bytes);
    let fine = m > 0 && !name.is_empty() && !model.pending.contains_key(name);
    assert_eq!(written.is_ok(), fine, "{name:?}: {written:?}");
    match written {
        Ok(()) => _ = model.pending.insert(name.to_owned(), (chunk_type, n, m, bytes)),
        Err(error) => refused(&error),
    }
}

fn equal(file: &File, frames: &[Frame]) {
    assert_eq!(file.nframes() as usize, frames.len());
    let count: usize = frames.iter().map(BTreeMap::len).sum();
    assert_eq!(file.index().len(), count);
    for (at, frame) in (0..).zip(frames) {
        for (name, (chunk_type, n, m, bytes)) in frame {
            let found = file.find_chunk(at, name).unwrap_or_else(|| panic!("{name} of frame {at}"));
            assert_eq!((found.n, found.m, found.chunk_type()), (*n, *m, Some(*chunk_type)));
            assert!(*file.read_chunk(&found).expect("it was written") == **bytes, "{name} of frame {at}");
        }
    }
}

/// Kills and power cuts, some of them.
fn crashes(
    storage: &RecordingStorage,
    model: &Model,
    promises: &[(usize, usize)],
    born: usize,
    numbers: &mut XorShift,
) {
    let operations = storage.operations();
    // Each state is parsed and compared, so a few of many.
    let share = 1 + operations.len() / 8;
    let seed = numbers.next();
    let mut look = |done: usize, image: &[u8], what: &str| {
        if done < born || numbers.below(share) > 0 {
            return;
        }
        let file = open(image, Strictness::Strict).unwrap_or_else(|error| {
            let told: Vec<String> = operations.iter().map(ToString::to_string).collect();
            panic!("{what}: {error}\n{}\nborn {born}", told.join("\n"))
        });
        let kept =
            promises.iter().take_while(|(count, _)| *count <= done).last().map_or(0, |(_, kept)| *kept);
        let found = file.nframes() as usize;
        assert!(
            found >= model.visible(kept.min(model.ended.len())).len(),
            "{what}: {found} frames of {kept}"
        );
        assert!(found <= model.ended.len(), "{what}: {found} frames");
        equal(&file, model.visible(found));
    };
    process_kill_states(&[], &operations, |crash| look(crash.done, crash.image, &crash.what));
    if storage.operations().len() < 60 {
        power_loss_states(&[], &operations, seed, |crash| look(crash.done, crash.image, &crash.what));
    }
}
