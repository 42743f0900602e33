//! Files and changes for crash tests.

use std::path::Path;

use asdf::Layout;
use asdf::container_core::dtype::{ByteOrder, DType, Kind};
use asdf::container_core::source::Source;
use asdf::container_core::{Error, Limits, Result};
use asdf::update::{CommitKind, UpdateOptions, Updater, read_through_journal};
use asdf::writer::{ArraySpec, Padding, Plan, WriteOptions};
use asdf::yaml::Yaml;
use crash_test::{Format, Opener, RecordingStorage, Script, random_bytes};

/// Content of a file: its tree, and the bytes of each block as stored, with its sizes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct State {
    pub tree: String,
    pub blocks: Vec<(Vec<u8>, u64, u64)>,
}

/// Content of a file. Layout, index and digests must be valid.
fn read(file: &dyn Source) -> Result<State> {
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

/// ASDF, as crash tests open its files.
#[derive(Clone, Copy, Debug)]
pub struct Asdf;

impl Format for Asdf {
    type State = State;

    const JOURNAL_SUFFIX: &'static str = ".asdfjournal";

    fn read(&self, file: &[u8]) -> Result<State> {
        read(&file)
    }

    fn read_path(&self, path: &Path) -> Result<State> {
        let file = Box::new(std::fs::read(path)?);
        read(&read_through_journal(path, file, &Limits::default())?)
    }

    fn reopen(&self, storage: RecordingStorage) -> Result<()> {
        update(&storage).map(drop)
    }
}

/// A script that starts with this file.
pub fn script(file: &[u8]) -> Script<Asdf> {
    Script::new(Asdf, RecordingStorage::with_journal(file))
}

/// A writer that changes the file with a journal.
pub fn update<'a>(storage: &RecordingStorage) -> Result<Updater<'a>> {
    Updater::open_storage(Box::new(storage.clone()), Box::new(storage.clone()), UpdateOptions::default())
}

/// Commits, and records the current contents of the file as completed.
pub fn commit(script: &mut Script<Asdf>, updater: &mut Updater<'_>, expected: CommitKind) {
    assert_eq!(updater.commit().unwrap(), expected);
    script.promise_change();
}

/// Checks both ways to find a journal.
pub fn check(script: &Script<Asdf>, what: &str) {
    script.check(&[Opener::PathReader, Opener::Writer], what);
}

pub fn bytes(len: usize) -> ArraySpec {
    ArraySpec::new(DType::new(Kind::Uint, 1, ByteOrder::Little), [len as u64])
}

/// A file with arrays of these numbers of bytes, and words in its tree.
pub fn file(lens: &[usize], words: usize, options: WriteOptions) -> Vec<u8> {
    let mut plan = Plan::new(options);
    let nodes: Vec<Yaml> = lens.iter().map(|len| plan.array(&bytes(*len)).unwrap()).collect();
    let words = Yaml::sequence((0..words).map(|word| Yaml::text(format!("word{word:04}"))));
    let tree =
        Yaml::mapping([("words", words), ("last", Yaml::text("a")), ("arrays", Yaml::sequence(nodes))]);
    let mut file = Vec::new();
    let mut writer = plan.start(tree, &mut file).unwrap();
    for (seed, len) in lens.iter().enumerate() {
        writer.write(&random_bytes(seed as u64, *len)).unwrap();
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

/// Adds an array of random bytes.
pub fn add(updater: &mut Updater<'_>, name: &str, seed: u64, len: usize) {
    let data = random_bytes(seed, len);
    let give = move |put: &mut dyn FnMut(&[u8]) -> Result<()>| data.chunks(1000).try_for_each(put);
    updater.add_array(name, &bytes(len), Box::new(give)).unwrap();
}

/// Changes the tree by its editor.
pub fn edit_words(updater: &mut Updater<'_>) {
    updater.set("last", &Yaml::text("another")).unwrap();
    updater.editor().remove("words/0").unwrap();
}
