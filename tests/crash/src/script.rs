//! Scripts of changes to a file, and what a crash in their course may leave.

use std::path::Path;
use std::rc::Rc;

use container_core::{Error, Result};
use tempfile::TempDir;

use crate::states::{Crash, crash_states, torn_write_states};
use crate::storage::{Operation, RecordingStorage};

/// A format, as its crash tests open what is left of a file.
pub trait Format: Clone {
    /// Content of a file.
    type State: Clone + PartialEq;

    /// Follows the name of a file in that of its journal.
    const JOURNAL_SUFFIX: &'static str = "";

    /// Reads a file, without regard to a journal.
    ///
    /// # Errors
    /// Those of the reader, and every fault in the structure of the file.
    fn read(&self, file: &[u8]) -> Result<Self::State>;

    /// Reads the file at `path` and its journal, and changes neither.
    ///
    /// # Errors
    /// As [`Format::read`].
    fn read_path(&self, path: &Path) -> Result<Self::State> {
        self.read(&std::fs::read(path)?)
    }

    /// Opens a file for changes, and closes it.
    ///
    /// # Errors
    /// Those of the writer.
    fn reopen(&self, storage: RecordingStorage) -> Result<()> {
        drop(storage);
        Ok(())
    }
}

/// Who opens what a crash has left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opener {
    /// A reader that knows nothing of journals, as those of other implementations.
    Reader,
    /// A reader of a path, which finds a journal.
    PathReader,
    /// A writer, which completes the change that it finds in a journal.
    Writer,
}

/// A file that is being changed, and its content after each commit.
#[derive(Debug)]
pub struct Script<F: Format> {
    format: F,
    /// The file.
    pub storage: RecordingStorage,
    start: Vec<u8>,
    /// States that were promised, and the number of operations after which they were.
    promised: Vec<(usize, F::State)>,
    /// Whether kills tear writes within a sector: no disk does that, but a file may be on another machine.
    pub tears_anywhere: bool,
    folder: Rc<TempDir>,
}

impl<F: Format> Script<F> {
    /// A script that starts at the current state of a file, which is promised. A file that cannot be read yet promises nothing.
    ///
    /// # Panics
    /// If there is no room for temporary files.
    pub fn new(format: F, storage: RecordingStorage) -> Self {
        let folder = Rc::new(tempfile::tempdir().expect("a folder for temporary files"));
        Self::starting(format, storage, folder)
    }

    fn starting(format: F, storage: RecordingStorage, folder: Rc<TempDir>) -> Self {
        let promised = format.read(&storage.file()).map(|state| (0, state)).into_iter().collect();
        Self { format, start: storage.image(), storage, promised, tears_anywhere: false, folder }
    }

    /// Promises the current content of the file.
    ///
    /// # Panics
    /// If the file cannot be read.
    pub fn promise(&mut self) {
        let state = self.format.read(&self.storage.file());
        let state = state.unwrap_or_else(|error| panic!("between two commits: {error}"));
        self.promised.push((self.storage.operation_count(), state));
    }

    /// As [`Script::promise`], of content that is not that of the commit before.
    ///
    /// # Panics
    /// If the file cannot be read, or has not changed.
    pub fn promise_change(&mut self) {
        self.promise();
        let [.., (_, old), (_, new)] = &self.promised[..] else { return };
        assert!(old != new, "the commit changes nothing");
    }

    /// The content that commit `number` promised: 0 for the start.
    pub fn promised(&self, number: usize) -> &F::State {
        &self.promised[number].1
    }

    /// The content of an image.
    fn open(&self, opener: Opener, image: &[u8]) -> Result<F::State> {
        let storage = self.storage.with_image(image.to_vec());
        match opener {
            Opener::Reader => self.format.read(&storage.file()),
            Opener::PathReader => {
                let path = self.folder.path().join("a");
                let journal = self.folder.path().join(format!("a{}", F::JOURNAL_SUFFIX));
                let _ = std::fs::remove_file(&journal);
                // A new file: some file systems wait for the disk where one is truncated and written again.
                let _ = std::fs::remove_file(&path);
                std::fs::write(&path, storage.file())?;
                if let Some(bytes) = storage.journal() {
                    std::fs::write(journal, bytes)?;
                }
                self.format.read_path(&path)
            }
            Opener::Writer => {
                self.format.reopen(storage.clone())?;
                match storage.journal() {
                    Some(_) => Err(Error::malformed("a journal is left")),
                    None => self.format.read(&storage.file()),
                }
            }
        }
    }

    /// Lists the crashes after which `opener` finds neither the last state promised nor the one after it.
    #[must_use]
    pub fn broken(&self, opener: Opener) -> Vec<String> {
        self.broken_in(opener, &self.storage.operations(), |done| done)
    }

    /// As [`Script::broken`], if the sync `number` had not been done.
    ///
    /// # Panics
    /// If there are not so many syncs.
    #[must_use]
    pub fn broken_without_sync(&self, opener: Opener, number: usize) -> Vec<String> {
        let mut operations = self.storage.operations();
        let left_out = self.syncs()[number];
        operations.remove(left_out);
        self.broken_in(opener, &operations, |done| done - usize::from(done > left_out))
    }

    /// Indices of the syncs among the operations.
    #[must_use]
    pub fn syncs(&self) -> Vec<usize> {
        let operations = self.storage.operations();
        (0..operations.len()).filter(|index| operations[*index] == Operation::Sync).collect()
    }

    /// `done_of` gives the number of these operations after which a state is promised, from that of all.
    fn broken_in(
        &self,
        opener: Opener,
        operations: &[Operation],
        done_of: impl Fn(usize) -> usize,
    ) -> Vec<String> {
        let mut broken = Vec::new();
        let last = self.promised.len() - 1;
        let mut look = |crash: &Crash<'_>| {
            let kept = self.promised.iter().filter(|(done, _)| done_of(*done) <= crash.done).count();
            let allowed = &self.promised[kept.saturating_sub(1)..=kept.min(last)];
            match self.open(opener, crash.image) {
                Ok(state) if allowed.iter().any(|(_, one)| *one == state) => {}
                // A file that is being created does not have to open yet.
                Err(_) if kept == 0 => {}
                Ok(_) => broken.push(format!("{}: neither old nor new", crash.what)),
                Err(error) => broken.push(format!("{}: {error}", crash.what)),
            }
        };
        crash_states(&self.start, operations, 7, &mut look);
        if self.tears_anywhere {
            torn_write_states(&self.start, operations, &mut look);
        }
        broken
    }

    /// Checks that each opener finds what was promised, whatever the crash.
    ///
    /// # Panics
    /// If one does not.
    pub fn check(&self, openers: &[Opener], what: &str) {
        assert!(self.promised.len() > 1, "{what} promises nothing");
        for opener in openers {
            let broken = self.broken(*opener);
            let (count, first) = (broken.len(), broken.first());
            assert!(broken.is_empty(), "{what}, {opener:?}: {count} broken states, first {first:#?}");
        }
    }

    /// Calls `go_on` for every `step`th crash, with a script that a writer starts there: what it finds is promised.
    ///
    /// # Panics
    /// If the writer cannot open what the crash left, or the script has fewer than 50 crashes.
    pub fn after_crashes(&self, step: usize, mut go_on: impl FnMut(Self, &Crash<'_>)) {
        let mut count = 0_usize;
        crash_states(&self.start, &self.storage.operations(), 3, |crash| {
            count += 1;
            if count.is_multiple_of(step) {
                let storage = self.storage.with_image(crash.image.to_vec());
                let mut script = Self::starting(self.format.clone(), storage, Rc::clone(&self.folder));
                let state = self.open(Opener::Writer, crash.image);
                script.promised = state.map(|state| vec![(0, state)]).expect("a writer opens the file");
                go_on(script, crash);
            }
        });
        assert!(count > 50, "{count} crashes");
    }
}
