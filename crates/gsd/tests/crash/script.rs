//! Files and frames for crash tests.

use crash_test::{Format, Opener, RecordingStorage, Script};
use gsd::{Commit, CommitScheme, Error, File, OpenOptions, Strictness, Version, Writer, WriterOptions};

/// Content of a file: for each frame its chunks by name, in the order of names.
pub type State = Vec<Vec<(String, Vec<u8>)>>;

pub fn read(image: &[u8]) -> gsd::Result<State> {
    read_as(image, Strictness::Strict)
}

/// Reads the content of a file, under a policy.
pub fn read_as(image: &[u8], strictness: Strictness) -> gsd::Result<State> {
    let options = OpenOptions::default().with_strictness(strictness);
    let file = File::from_source(Box::new(image.to_vec()), &options)?;
    let mut state: State = Vec::new();
    for entry in file.index().iter() {
        let frame = usize::try_from(entry.frame).unwrap_or(usize::MAX).min(image.len());
        state.resize(state.len().max(frame + 1), Vec::new());
        let name = file.names().get(entry.id).ok_or_else(|| Error::malformed("an entry without a name"))?;
        // Of two chunks of one name in a frame, readers find one.
        if file.find_id(entry.frame, entry.id) != Some(entry) {
            continue;
        }
        state[frame].push((name.into_owned(), file.read_chunk(&entry)?.into_owned()));
    }
    state.iter_mut().for_each(|chunks| chunks.sort());
    Ok(state)
}

/// GSD, as crash tests open its files.
#[derive(Clone, Copy, Debug)]
pub struct Gsd;

impl Format for Gsd {
    type State = State;

    fn read(&self, file: &[u8]) -> gsd::Result<State> {
        read(file)
    }
}

/// A script that starts with this file.
pub fn script(file: Vec<u8>) -> Script<Gsd> {
    Script::new(Gsd, RecordingStorage::new(file))
}

/// Checks that every crash leaves what was promised.
pub fn check(script: &Script<Gsd>, what: &str) {
    script.check(&[Opener::Reader], what);
}

pub fn options(scheme: CommitScheme, commit: Commit) -> WriterOptions {
    let mut options = WriterOptions::default()
        .with_schema("crash", "none", Version::new(1, 0))
        .with_scheme(scheme)
        .with_commit(commit);
    // Small enough to be full now and then.
    options.maximum_write_buffer_size = 900;
    options
}

/// Three or four small chunks, and each seventh frame one with a new name; now and then one that goes around the buffer.
pub fn write_frame(writer: &mut Writer<RecordingStorage>, name_len: usize) {
    let frame = writer.nframes();
    let byte = u8::try_from(frame % 251).unwrap() + 1;
    writer.write_chunk("step", 1, 1, &[frame + 1]).unwrap();
    writer.write_chunk("position", 5, 3, &[byte; 15]).unwrap();
    if frame.is_multiple_of(3) {
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
pub fn append(script: &mut Script<Gsd>, options: &WriterOptions, frames: u64, name_len: usize) {
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
pub fn made_by(scheme: CommitScheme, frames: u64) -> Vec<u8> {
    let storage = RecordingStorage::default();
    let options = options(scheme, Commit::Manual);
    let mut writer = Writer::create_storage(storage.clone(), &options).unwrap();
    (0..frames).for_each(|_| write_frame(&mut writer, 3));
    writer.close().unwrap();
    storage.image()
}
