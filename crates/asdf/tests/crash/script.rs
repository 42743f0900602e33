//! Scripts of changes, and what crashes in their course may leave.

use asdf::Layout;
use asdf::container_core::dtype::{ByteOrder, DType, Kind};
use asdf::container_core::source::Source;
use asdf::container_core::write::recording::{Operation, RecordingStorage};
use asdf::container_core::write::replay::{self, Crash};
use asdf::container_core::{Error, Limits, Result};
use asdf::update::{CommitKind, Updater, read_through_journal};
use asdf::writer::{ArraySpec, Padding, Plan, WriteOptions};
use asdf::yaml::Yaml;

use crate::disk::{Disk, parts};

/// Content of a file: its tree, and the bytes of each block as stored, with its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub tree: String,
    pub blocks: Vec<(Vec<u8>, u64, u64)>,
}

/// Reads the content of a file. Layout, index and digests must be valid.
pub fn read(file: &dyn Source) -> Result<State> {
    let layout = Layout::parse(file, &Limits::default())?;
    // A file may do without an index.
    if let Some(fault) = layout.faults.iter().find(|fault| fault.kind() != asdf::FaultKind::IndexAbsent) {
        return Err(fault.error());
    }
    let tree = file.read(layout.tree.clone().unwrap())?;
    let block = |block: &asdf::StoredBlock| {
        let data = file.read(block.data.clone())?.into_owned();
        match block.header.digest() {
            Some(digest) if digest != asdf::BlockHeader::ALGORITHM.digest(&data) => {
                return Err(Error::malformed("a digest that does not fit"));
            }
            _ => {}
        }
        Ok((data, block.header.data_size, block.header.allocated_size))
    };
    Ok(State {
        tree: String::from_utf8(tree.into_owned()).unwrap(),
        blocks: layout.blocks.iter().map(block).collect::<Result<_>>()?,
    })
}

/// Who looks at what a crash has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Looker {
    /// A reader that knows nothing of journals, as Python asdf.
    Plain,
    /// A reader of a path, which writes nothing.
    Path,
    /// A writer that goes on.
    Updater,
}

/// A file that is being changed, and what it was after each commit.
pub struct Script {
    pub disk: Disk,
    pub start: Vec<u8>,
    /// States that were promised, with the number of operations after which they were.
    pub promised: Vec<(usize, State)>,
    pub looker: Looker,
    folder: tempfile::TempDir,
}

impl Script {
    pub fn new(file: &[u8]) -> Self {
        let disk = Disk::new(file);
        let start = disk.0.image();
        let promised = vec![(0, read(&file.to_vec()).unwrap())];
        Self { disk, start, promised, looker: Looker::Path, folder: tempfile::tempdir().unwrap() }
    }

    /// Commits, and promises what is in the file now.
    pub fn commit(&mut self, updater: &mut Updater<'_>, expected: CommitKind) {
        assert_eq!(updater.commit().unwrap(), expected);
        self.promise();
    }

    pub fn promise(&mut self) {
        let image = self.disk.0.image();
        let state = read(&parts(&image).0.to_vec()).expect("a file opens between two commits");
        self.promised.push((self.disk.0.operation_count(), state));
    }

    fn look(&self, image: &[u8]) -> Result<State> {
        let (file, journal) = parts(image);
        match self.looker {
            Looker::Plain => read(&file.to_vec()),
            Looker::Path => {
                let path = self.folder.path().join("a.asdf");
                let beside = self.folder.path().join("a.asdf.asdfjournal");
                std::fs::write(&path, [])?;
                let _ = std::fs::remove_file(&beside);
                if let Some(journal) = journal {
                    std::fs::write(&beside, journal)?;
                }
                read(&read_through_journal(&path, Box::new(file.to_vec()), &Limits::default())?)
            }
            Looker::Updater => {
                let disk = Disk(RecordingStorage::new(image.to_vec()));
                drop(disk.update(true)?);
                let image = disk.0.image();
                // It has finished what was to be finished.
                if parts(&image).1.is_some() {
                    return Err(Error::malformed("a journal is left"));
                }
                read(&parts(&image).0.to_vec())
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
                Ok(_) => broken.push(format!("{}: neither old nor new", crash.what)),
                Err(error) => broken.push(format!("{}: {error}", crash.what)),
            }
        };
        replay::process_kill_states(&self.start, operations, &mut look);
        replay::power_loss_states(&self.start, operations, 7, &mut look);
        broken
    }

    /// Lists the failures if the sync `left_out` is not done.
    pub fn broken_without(&self, left_out: usize) -> Vec<String> {
        let mut operations = self.disk.0.operations();
        assert_eq!(operations.remove(left_out), Operation::Sync);
        let moved = |(done, state): &(usize, State)| (done - usize::from(*done > left_out), state.clone());
        let promised: Vec<_> = self.promised.iter().map(moved).collect();
        self.broken_of(&operations, &promised)
    }

    pub fn check(&mut self, what: &str) {
        assert!(self.promised.len() > 1, "{what} promises nothing");
        let differ = self.promised.windows(2).all(|pair| pair[0].1 != pair[1].1);
        assert!(differ, "{what}: a commit changes nothing");
        for looker in [Looker::Path, Looker::Updater] {
            self.looker = looker;
            let broken = self.broken();
            assert!(
                broken.is_empty(),
                "{what}, {looker:?}: {} broken states, first {:#?}",
                broken.len(),
                broken.first()
            );
        }
    }
}

/// Bytes that do not repeat.
pub fn noise(seed: u64, len: usize) -> Vec<u8> {
    let mut word = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut step = || {
        word ^= word << 13;
        word ^= word >> 7;
        word ^= word << 17;
        word
    };
    std::iter::repeat_with(|| step().to_le_bytes()).flatten().take(len).collect()
}

pub fn bytes(len: usize) -> ArraySpec {
    ArraySpec::new(DType::new(Kind::Uint, 1, ByteOrder::Little), [len as u64])
}

/// A file with arrays of so many bytes, and words in its tree.
pub fn file(lens: &[usize], words: usize, options: WriteOptions) -> Vec<u8> {
    let mut plan = Plan::new(options);
    let nodes: Vec<Yaml> = lens.iter().map(|len| plan.array(&bytes(*len)).unwrap()).collect();
    let words = Yaml::sequence((0..words).map(|word| Yaml::text(format!("word{word:04}"))));
    let tree =
        Yaml::mapping([("words", words), ("last", Yaml::text("a")), ("arrays", Yaml::sequence(nodes))]);
    let mut file = Vec::new();
    let mut writer = plan.start(tree, &mut file).unwrap();
    for (seed, len) in lens.iter().enumerate() {
        writer.write(&noise(seed as u64, *len)).unwrap();
    }
    writer.finish().unwrap();
    file
}

pub fn padded() -> WriteOptions {
    let mut options = WriteOptions::default();
    options.padding = Padding::Factor(1.1);
    options
}

/// Replaces words in the text of the tree.
pub fn edit(updater: &mut Updater<'_>, from: &str, to: &str) {
    let text = updater.tree().text();
    assert!(text.contains(from), "{text}");
    let text = text.replace(from, to);
    updater.set_text(&text).unwrap();
}

/// Adds an array of noise.
pub fn add(updater: &mut Updater<'_>, name: &str, seed: u64, len: usize) {
    let data = noise(seed, len);
    let give = move |put: &mut dyn FnMut(&[u8]) -> Result<()>| data.chunks(1000).try_for_each(put);
    updater.add_array(name, &bytes(len), Box::new(give)).unwrap();
}

/// Changes the tree by its editor.
pub fn edit_words(updater: &mut Updater<'_>) {
    updater.set("last", &Yaml::text("another")).unwrap();
    updater.editor().remove("words/0").unwrap();
}
