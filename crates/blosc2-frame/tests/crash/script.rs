//! Scripts of changes, and what crashes in their course may leave.

use blosc2_frame::blosc_chunk::Special;
use blosc2_frame::container_core::container::ReadOptions;
use blosc2_frame::container_core::write::recording::{Operation, RecordingStorage};
use blosc2_frame::container_core::write::replay::{self, Crash};
use blosc2_frame::container_core::{Error, Result};
use blosc2_frame::{Durability, Editor, Frame, FrameOptions, OpenOptions, Writer, default_params};

use crate::disk::{Disk, parts};

/// Contents of a frame: chunks, metalayers, user metadata.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub chunks: Vec<Vec<u8>>,
    pub metalayers: Vec<(String, Vec<u8>)>,
    pub user: Vec<(String, Vec<u8>)>,
}

/// Reads the contents of the frame that begins at byte `at` of `file`, or of the file at a path.
pub fn state(frame: &Frame) -> Result<State> {
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

pub fn read(file: &[u8], at: u64) -> Result<State> {
    state(&Frame::from_source(Box::new(file.to_vec()), at, &OpenOptions::default())?)
}

/// Who looks at what a crash has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looker {
    /// A reader that knows nothing of journals, as C-Blosc2.
    Plain,
    /// A reader of a path.
    Path,
    /// A writer that goes on.
    Editor,
}

/// A frame that is being changed, and what it was after each commit.
pub struct Script {
    pub disk: Disk,
    pub start: Vec<u8>,
    pub at: u64,
    /// States that were promised, with the number of operations after which they were.
    pub promised: Vec<(usize, State)>,
    pub looker: Looker,
    /// Whether writes are torn that stay within a sector: no disk does that, but a file may lie on another machine.
    pub torn: bool,
    folder: tempfile::TempDir,
}

impl Script {
    pub fn new(file: &[u8], at: u64) -> Self {
        let disk = Disk::new(file);
        let start = disk.0.image();
        let promised = vec![(0, read(file, at).unwrap())];
        let folder = tempfile::tempdir().unwrap();
        Self { disk, start, at, promised, looker: Looker::Plain, torn: false, folder }
    }

    /// Commits, and promises what is in the frame now.
    pub fn commit(&mut self, editor: &mut Editor, durability: Durability) {
        editor.commit(durability).unwrap();
        self.promise();
        if durability == Durability::Synced {
            let (done, _) = self.promised[self.promised.len() - 1];
            assert_eq!(
                self.disk.0.operations()[done - 1],
                Operation::Sync,
                "what is promised is on the disk"
            );
        }
    }

    pub fn promise(&mut self) {
        let image = self.disk.0.image();
        let state = read(parts(&image).0, self.at).expect("a frame opens between two commits");
        self.promised.push((self.disk.0.operation_count(), state));
    }

    fn look(&self, image: &[u8]) -> Result<State> {
        let (file, journal) = parts(image);
        match self.looker {
            Looker::Plain => read(file, self.at),
            Looker::Path => {
                let path = self.folder.path().join("a.b2frame");
                let beside = self.folder.path().join("a.b2frame.b2journal");
                std::fs::write(&path, file)?;
                let _ = std::fs::remove_file(&beside);
                if let Some(journal) = journal {
                    std::fs::write(&beside, journal)?;
                }
                state(&Frame::open_at(&path, self.at, &OpenOptions::default())?)
            }
            Looker::Editor => {
                let disk = Disk(RecordingStorage::new(image.to_vec()));
                drop(disk.edit(self.at, true)?);
                let image = disk.0.image();
                // It has finished what was to be finished.
                if parts(&image).1.is_some() {
                    return Err(Error::malformed("a journal is left"));
                }
                read(parts(&image).0, self.at)
            }
        }
    }

    /// Crashes that left something else than the last state promised, or the one after it.
    pub fn broken(&self) -> Vec<String> {
        self.broken_of(&self.disk.0.operations(), &self.promised)
    }

    /// As [`Script::broken`], of other operations.
    pub fn broken_of(&self, operations: &[Operation], promised: &[(usize, State)]) -> Vec<String> {
        let mut broken = Vec::new();
        let mut look = |crash: &Crash<'_>| {
            let kept = promised.iter().filter(|(done, _)| *done <= crash.done).count();
            let allowed = &promised[kept - 1..=kept.min(promised.len() - 1)];
            match self.look(crash.image) {
                Ok(state) if allowed.iter().any(|(_, one)| *one == state) => {}
                Ok(state) => broken.push(format!("{}: {} chunks", crash.what, state.chunks.len())),
                Err(error) => broken.push(format!("{}: {error}", crash.what)),
            }
        };
        replay::process_kill_states(&self.start, operations, &mut look);
        if self.torn {
            replay::torn_write_states(&self.start, operations, &mut look);
        }
        replay::power_loss_states(&self.start, operations, 7, &mut look);
        broken
    }

    pub fn check(&self, what: &str) {
        assert!(self.promised.len() > 1, "{what} promises nothing");
        let differ = self.promised.windows(2).all(|pair| pair[0].1 != pair[1].1);
        assert!(differ, "{what}: a commit changes nothing");
        let broken = self.broken();
        assert!(broken.is_empty(), "{what}: {} broken states, first {:#?}", broken.len(), broken.first());
    }
}

/// A chunk of 100 numbers that do not repeat.
pub fn numbers(seed: u64) -> Vec<u8> {
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let step = |word: &mut u64| {
        *word ^= *word << 13;
        *word ^= *word >> 7;
        *word ^= *word << 17;
        *word
    };
    (0..100).flat_map(|_| step(&mut word).to_le_bytes()).collect()
}

/// A frame of `count` chunks with a metalayer `shape` of `metadata` bytes.
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

/// A metalayer that says how many chunks there are, at its beginning and at its end.
pub fn shape(count: u64, len: usize) -> Vec<u8> {
    let mut value = vec![0xab; len];
    value[..8].copy_from_slice(&count.to_be_bytes());
    value[len - 8..].copy_from_slice(&count.to_be_bytes());
    value
}

/// All kinds of changes; one commit each.
pub fn change_all(script: &mut Script, editor: &mut Editor, metadata: usize, durability: Durability) {
    editor.append(&numbers(100)).unwrap();
    script.commit(editor, durability);
    editor.update(0, &numbers(101)).unwrap();
    editor.update(1, &[0; 800]).unwrap();
    script.commit(editor, durability);
    editor.insert(1, &numbers(102)).unwrap();
    script.commit(editor, durability);
    editor.delete(0, 2).unwrap();
    script.commit(editor, durability);
    resize(editor, 3, metadata);
    script.commit(editor, durability);
    editor.set_vlmetalayer("about", &vec![b'x'; 700]).unwrap();
    script.commit(editor, durability);
    editor.remove_vlmetalayer("about");
    editor.set_vlmetalayer("other", b"y").unwrap();
    script.commit(editor, durability);
    let mut order: Vec<u64> = (0..editor.chunk_count()).collect();
    order.reverse();
    editor.reorder(&order).unwrap();
    script.commit(editor, durability);
    editor.append(&numbers(104)[..400]).unwrap();
    script.commit(editor, durability);
    editor.delete(0, editor.chunk_count()).unwrap();
    editor.set_metalayer("shape", shape(0, metadata)).unwrap();
    script.commit(editor, durability);
    editor.set_metalayer("more", vec![5; 200]).unwrap();
    script.commit(editor, durability);
    resize(editor, 2, metadata);
    script.commit(editor, durability);
}

/// As an array that grows: chunks, and the metalayer that says how many, in one commit.
pub fn resize(editor: &mut Editor, more: u64, metadata: usize) {
    editor.insert_special(editor.chunk_count(), Special::Nan, 800, more).unwrap();
    editor.append(&numbers(103)).unwrap();
    editor.set_metalayer("shape", shape(editor.chunk_count(), metadata)).unwrap();
}
