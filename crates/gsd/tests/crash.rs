//! Every state in which a crash can leave a file opens as one that was committed, with all of its data.
//!
//! Scripts are written to a storage that records, and the record is replayed: stopped after every operation and in the middle of
//! writes, and with any subset of sectors between two syncs. What the writer had promised by then must be there.

use container_core::write::recording::{Operation, RecordingStorage};
use container_core::write::replay::{self, Crash};
use gsd::{Commit, File, OpenOptions, Policy, Scheme, Version, Writer, WriterOptions};

/// What a file holds: for each frame its chunks by name, in the order of names.
type State = Vec<Vec<(String, Vec<u8>)>>;

fn read(image: &[u8]) -> gsd::Result<State> {
    let strict = OpenOptions::default().with_policy(Policy::Strict);
    let file = File::from_source(Box::new(image.to_vec()), &strict)?;
    (0..file.nframes())
        .map(|frame| {
            let entries = file.frame_entries(frame).filter_map(|at| file.index().get(at));
            let chunks = entries.map(|entry| {
                let name = file.names().get(entry.id).map(|name| name.into_owned());
                let bytes = file.read_chunk(&entry)?.into_owned();
                Ok((name.expect("strict files have a name for each entry"), bytes))
            });
            let mut chunks: Vec<_> = chunks.collect::<gsd::Result<_>>()?;
            chunks.sort();
            Ok(chunks)
        })
        .collect()
}

/// A file that is being written, and what it was after each commit.
struct Script {
    storage: RecordingStorage,
    start: Vec<u8>,
    /// States that were promised, with the number of operations after which they were.
    promised: Vec<(usize, State)>,
    torn: Torn,
}

/// Which writes a kill tears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Torn {
    /// Those that span sectors.
    Sectors,
    /// All of more than 32 bytes. The header's are shorter, unless the version of the file changes as well.
    Anywhere,
}

impl Script {
    /// Nothing has been promised of `start` but what is in it.
    fn new(start: Vec<u8>) -> Self {
        let promised = read(&start).map(|state| (0, state)).into_iter().collect();
        Self { storage: RecordingStorage::new(start.clone()), start, promised, torn: Torn::Sectors }
    }

    /// What is in the file now is promised.
    fn promise(&mut self) {
        let state = read(&self.storage.image()).expect("a file between two commits opens");
        self.promised.push((self.storage.operation_count(), state));
    }

    /// Crashes that left something else than the last state promised, or the one after it.
    fn broken(&self) -> Vec<String> {
        let operations = self.storage.operations();
        let mut broken = Vec::new();
        let mut look = |crash: &Crash<'_>| {
            let kept = self.promised.iter().filter(|(done, _)| *done <= crash.done).count();
            let allowed = self.promised.get(kept.saturating_sub(1)..=kept.min(self.promised.len() - 1));
            match read(crash.image) {
                Ok(state) if allowed.is_some_and(|some| some.iter().any(|(_, one)| *one == state)) => {}
                // A file that is being made does not have to be one yet.
                Err(_) if kept == 0 => {}
                Ok(state) => broken.push(format!("{}: {} frames", crash.what, state.len())),
                Err(error) => broken.push(format!("{}: {error}", crash.what)),
            }
        };
        replay::kill_images(&self.start, &operations, &mut look);
        if self.torn == Torn::Anywhere {
            replay::torn_images(&self.start, &operations, &mut look);
        }
        replay::power_images(&self.start, &operations, 4, &mut look);
        broken
    }

    fn check(&self, what: &str) {
        assert!(self.promised.len() > 1, "{what} promises nothing");
        let broken = self.broken();
        assert!(broken.is_empty(), "{what}: {} broken states, first {:#?}", broken.len(), broken.first());
    }
}

fn options(scheme: Scheme, commit: Commit) -> WriterOptions {
    let mut options = WriterOptions::default()
        .with_schema("crash", "none", Version::new(1, 0))
        .with_scheme(scheme)
        .with_commit(commit);
    // Small enough to be full now and then.
    options.maximum_write_buffer_size = 900;
    options
}

/// Three or four small chunks, and each seventh frame one with a new name; now and then one that goes around the buffer.
fn write_frame(writer: &mut Writer<RecordingStorage>, name_len: usize) {
    let frame = writer.nframes();
    let byte = u8::try_from(frame % 251).unwrap() + 1;
    writer.write_chunk("step", 1, 1, &[frame + 1]).unwrap();
    writer.write_chunk("position", 5, 3, &[byte; 15]).unwrap();
    if frame % 3 == 0 {
        writer.write_chunk("log/energy", 1, 1, &[f64::from(byte)]).unwrap();
    }
    if frame % 7 == 6 {
        let name = format!("log/{frame}/{}", "n".repeat(name_len));
        writer.write_chunk(&name, 3, 1, &[byte; 3]).unwrap();
    }
    if frame % 11 == 10 {
        writer.write_chunk("large", 1300, 1, &[byte; 1300]).unwrap();
    }
    writer.end_frame().unwrap();
}

/// Appends `frames` frames, and promises what each commit leaves.
fn append(script: &mut Script, options: &WriterOptions, frames: u64, name_len: usize) {
    let mut writer = Writer::open_storage(script.storage.clone(), options).unwrap();
    let last = writer.nframes() + frames;
    let mut committed = writer.committed_frames();
    while writer.nframes() < last {
        write_frame(&mut writer, name_len);
        if writer.committed_frames() > committed {
            committed = writer.committed_frames();
            script.promise();
        }
    }
    writer.close().unwrap();
    script.promise();
}

/// A file of so many frames.
fn made_by(scheme: Scheme, frames: u64) -> Vec<u8> {
    let storage = RecordingStorage::default();
    let options = options(scheme, Commit::Manual);
    let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
    (0..frames).for_each(|_| write_frame(&mut writer, 3));
    writer.close().unwrap();
    storage.image()
}

#[test]
fn a_new_file_and_its_frames() {
    for commit in [Commit::EveryFrame, Commit::Every(20), Commit::Manual] {
        let mut script = Script::new(Vec::new());
        let options = options(Scheme::Atomic, commit);
        drop(Writer::create_storage(script.storage.clone(), &options).unwrap());
        script.promise();
        append(&mut script, &options, 70, 3);
        script.torn = Torn::Anywhere;
        script.check(&format!("{commit:?}"));
    }
}

#[test]
fn names_that_outgrow_their_room() {
    let mut script = Script::new(made_by(Scheme::Atomic, 3));
    append(&mut script, &options(Scheme::Atomic, Commit::EveryFrame), 60, 300);
    script.check("long names");
}

#[test]
fn an_index_that_outgrows_its_room() {
    let mut script = Script::new(made_by(Scheme::Atomic, 120));
    append(&mut script, &options(Scheme::Atomic, Commit::EveryFrame), 40, 3);
    script.check("a moved index");
}

#[test]
fn frames_behind_those_of_the_reference() {
    for frames in [0, 1, 30, 60] {
        let mut script = Script::new(made_by(Scheme::Reference, frames));
        append(&mut script, &options(Scheme::Atomic, Commit::EveryFrame), 9, 3);
        script.check(&format!("{frames} frames of the reference"));
    }
}

#[test]
fn frames_behind_ones_without_chunks() {
    let mut script = Script::new(made_by(Scheme::Atomic, 2));
    let mut writer =
        Writer::open_storage(script.storage.clone(), &options(Scheme::Atomic, Commit::EveryFrame)).unwrap();
    for frame in 0..60_u8 {
        if frame >= 20 {
            writer.write_chunk("a", 1, 1, &[frame]).unwrap();
            writer.write_chunk("b", 1, 1, &[frame]).unwrap();
        }
        writer.end_frame().unwrap();
        script.promise();
    }
    writer.close().unwrap();
    script.check("frames without chunks");
}

/// The harness has to find what is wrong: the reference's order of writing, and commits that forget to sync.
#[test]
fn writers_that_can_be_torn_are_found_out() {
    let mut script = Script::new(made_by(Scheme::Reference, 30));
    append(&mut script, &options(Scheme::Reference, Commit::EveryFrame), 10, 3);
    let broken = script.broken();
    assert!(broken.iter().any(|what| what.starts_with("killed")), "no kill found");
    assert!(broken.iter().any(|what| what.starts_with("power")), "no power cut found");

    let mut script = Script::new(made_by(Scheme::Atomic, 30));
    append(&mut script, &options(Scheme::Atomic, Commit::EveryFrame).with_sync(gsd::Sync::Never), 10, 3);
    let broken = script.broken();
    assert!(broken.iter().all(|what| what.starts_with("power")), "{broken:#?}");
    assert!(!broken.is_empty(), "nothing was synced, and nothing was found");
    // What survives without syncs is what the end of the process leaves.
    assert!(script.storage.operations().iter().all(|operation| *operation != Operation::Sync));
}

fn fixture(name: &str) -> Vec<u8> {
    let folder = std::path::PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../testdata/gsd/ok");
    std::fs::read(folder.join(format!("{name}.gsd"))).unwrap()
}

#[test]
fn files_of_older_versions_before_and_after_their_upgrade() {
    for name in ["v1_0_frames", "v1_small", "v1_types", "v1_write_order", "v03_small", "v20_small"] {
        let mut script = Script::new(fixture(name));
        append(&mut script, &options(Scheme::Atomic, Commit::EveryFrame), 9, 3);
        let mut writer =
            Writer::open_storage(script.storage.clone(), &options(Scheme::Atomic, Commit::EveryFrame))
                .unwrap();
        writer.upgrade().unwrap();
        assert!(!writer.header().is_v1());
        script.promise();
        write_frame(&mut writer, 80);
        script.promise();
        writer.close().unwrap();
        script.check(name);
    }
}

#[test]
fn a_file_that_is_truncated() {
    for start in [made_by(Scheme::Atomic, 40), made_by(Scheme::Reference, 40), fixture("v1_small")] {
        let mut script = Script::new(start);
        let mut writer =
            Writer::open_storage(script.storage.clone(), &options(Scheme::Atomic, Commit::EveryFrame))
                .unwrap();
        writer.truncate().unwrap();
        assert_eq!(script.storage.image().len(), 512);
        script.promise();
        for _ in 0..8 {
            write_frame(&mut writer, 3);
            script.promise();
        }
        writer.close().unwrap();
        script.check("truncated");
    }
}
