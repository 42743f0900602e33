//! Changes a file in place: its tree, the data of its blocks, and the arrays that it has.
//!
//! All writes happen in [`Updater::commit`]. After a kill or a power failure at any point, the file is as it was before or as it is to be. A change
//! within one sector is one write; a change that fits in place goes through a journal next to the file; any other change writes a new file in the
//! place of the old one. All unchanged parts keep their bytes.

use std::path::{Path, PathBuf};

use container_core::write::Durability;
use container_core::write::journal::{Place as JournalPlace, recover};
use container_core::write::storage::{FileStorage, Storage, StorageSource};
use container_core::{Error, Limits, Result};

mod commit;
mod in_place;
pub mod stream;
#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::ptr_arg)]
mod tests;

pub use container_core::write::journal::JournalStore;
pub use in_place::read_through_journal;
pub(crate) use in_place::{KIND as JOURNAL, read_with_notice};

use crate::blocks::references::{self, SourceValue};
use crate::edit::{TreeEditor, replace_scalars};
use crate::fault::FaultKind;
use crate::layout::{Layout, StoredBlock};
use crate::tree::parse_tree;
use crate::writer::{ArraySpec, Plan, PlannedArray, WriteOptions};
use crate::yaml::{Document, Yaml, YamlLimits};
use in_place::ReplacedBlock;

/// Options for changes of files.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UpdateOptions {
    /// Options for writing new blocks: checksums, padding, alignment, threads. Standard, index and history follow the file.
    pub write: WriteOptions,
    /// Maximum number of bytes that are changed and added by a journal, which are in memory meanwhile; more are by a new file. 64 MiB by default.
    pub journal: u64,
    /// Bounds on the resources that a file may take.
    pub limits: Limits,
    /// Bounds on its tree.
    pub yaml: YamlLimits,
    /// Whether changes are on the disk when [`Updater::commit`] returns. Without that, the file has no guarantee after a power cut.
    pub durability: Durability,
}

impl Default for UpdateOptions {
    fn default() -> Self {
        Self {
            write: WriteOptions::default(),
            journal: 64 << 20,
            limits: Limits::default(),
            yaml: YamlLimits::default(),
            durability: Durability::Synced,
        }
    }
}

/// Kind of a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommitKind {
    /// There was no change.
    Unchanged,
    /// By one write within one sector.
    OneWrite,
    /// In place, with a journal.
    Journal,
    /// By a new file in the place of the old one, with all its blocks copied: the tree has outgrown its room, a block its place, or the
    /// change is over [`UpdateOptions::journal`]. A file without padding after its tree has room for a tree of its own length at most.
    NewFile,
}

/// Callback that supplies the data of an array, in pieces of any size.
pub type DataSource<'a> = Box<dyn FnOnce(&mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> + Send + 'a>;

/// A block that is to be added.
struct NewBlock<'a> {
    block: PlannedArray,
    data: DataSource<'a>,
}

/// Path and handle of a file.
struct FileLocation {
    path: PathBuf,
    opened: std::fs::File,
}

/// A file that is being changed. It is locked until this is dropped.
pub struct Updater<'a> {
    storage: Box<dyn Storage>,
    sidecar: Box<dyn JournalStore>,
    /// The reason for writing no journal: another file has its name.
    no_journal: Option<String>,
    /// `None` for storage that is not a file, where a change that does not fit in place cannot be written.
    file: Option<FileLocation>,
    options: UpdateOptions,
    layout: Layout,
    editor: TreeEditor,
    replaced: Vec<ReplacedBlock>,
    added: Vec<NewBlock<'a>>,
}

impl<'a> Updater<'a> {
    /// Opens the file at `path`, and completes a change that a crash interrupted.
    ///
    /// # Errors
    /// `Usage` where another program is changing the file; those of reading layout and tree; `Malformed` for a file without a tree or
    /// with an end missing; `Io`.
    pub fn open(path: impl AsRef<Path>, options: UpdateOptions) -> Result<Self> {
        let path = path.as_ref();
        let storage = FileStorage::open(path)?;
        let file = FileLocation { path: path.to_owned(), opened: storage.file().try_clone()? };
        let sidecar = Box::new(in_place::journal_store(path));
        let updater = Self::open_storage(Box::new(storage), sidecar, options)?;
        Ok(Self { file: Some(file), ..updater })
    }

    /// Opens a storage, where a change that does not fit in place is refused.
    ///
    /// # Errors
    /// As [`Updater::open`].
    pub fn open_storage(
        mut storage: Box<dyn Storage>,
        mut sidecar: Box<dyn JournalStore>,
        options: UpdateOptions,
    ) -> Result<Self> {
        let place = recover(&mut *storage, &mut *sidecar, &in_place::KIND, &options.limits)?;
        let no_journal = match place {
            JournalPlace::Free => None,
            JournalPlace::Taken(reason) => Some(reason),
        };
        let (layout, editor) = read(&*storage, &options)?;
        Ok(Self {
            storage,
            sidecar,
            no_journal,
            file: None,
            options,
            layout,
            editor,
            replaced: Vec::new(),
            added: Vec::new(),
        })
    }

    /// Layout of the file, as it was when the file was opened or last committed.
    #[must_use]
    pub const fn layout(&self) -> &Layout {
        &self.layout
    }

    /// The tree as it is to be.
    #[must_use]
    pub const fn tree(&self) -> &Document {
        self.editor.document()
    }

    /// The tree, to be edited.
    pub const fn editor(&mut self) -> &mut TreeEditor {
        &mut self.editor
    }

    /// Replaces the text of the whole tree by a document with its directives and `...`.
    ///
    /// # Errors
    /// Those of [`Document::parse`]; `Usage` for a text without the final dots, without which readers would read past the tree.
    pub fn set_text(&mut self, text: &str) -> Result<()> {
        if !text.trim_end().ends_with("\n...") {
            return Err(Error::usage("missing end of the tree (expected a line of three dots)")
                .with_context("asdf tree"));
        }
        let document = parse_tree(text.as_bytes(), 0, &self.options.yaml)?;
        self.editor = TreeEditor::new(document);
        Ok(())
    }

    /// Replaces the data of a block. Its codec and its place stay; the tree is the caller's to change.
    ///
    /// # Errors
    /// `Usage` for a block that there is not, or a streamed one; those of its codec.
    pub fn replace_block(&mut self, index: usize, data: &[u8]) -> Result<()> {
        let block = self.block(index)?;
        let found = references::find_references(self.editor.document(), &self.options.limits)?;
        let itemsize = references::itemsize(self.editor.document(), &found, index, self.layout.blocks.len());
        let replaced = ReplacedBlock::new(block, data, itemsize, &self.options)?;
        self.replaced.retain(|other| other.index != index);
        self.replaced.push(replaced);
        Ok(())
    }

    /// Adds an array: its node at `path` in the tree, and a block after the others. `data` is called at the commit, and passes on the bytes as
    /// [`ArraySpec`] has them.
    ///
    /// # Errors
    /// `Usage` after a streamed block, after a gap, and for an impossible path; `Unsupported` for an element type without a name.
    pub fn add_array(&mut self, path: &str, spec: &ArraySpec, data: DataSource<'a>) -> Result<()> {
        self.set_with(path, |plan, _| Ok((plan.array(spec)?, vec![data])))
    }

    /// Sets a value with new arrays in it. `make` is given a plan in which the blocks of the file are declared, and the tree; it declares the arrays,
    /// whose blocks are added after the others. It returns the value with their nodes, and, in the order of declaration, the producers of their data,
    /// which are called at the commit. Views of new blocks, and arrays that the value has more than once, are as in a new file.
    ///
    /// # Errors
    /// Those of `make`; as [`TreeEditor::set`]; where an array was declared, as [`Updater::add_array`]; `Usage` for another number of producers than
    /// of arrays, and for a streamed array. The updater is unchanged then.
    pub fn set_with(
        &mut self,
        path: &str,
        make: impl FnOnce(&mut Plan, &TreeEditor) -> Result<(Yaml, Vec<DataSource<'a>>)>,
    ) -> Result<()> {
        let mut plan = self.plan();
        for block in &self.layout.blocks {
            plan.declare_stored(block.header.data_size, block.header.is_streamed());
        }
        self.added.iter().for_each(|added| plan.declare_planned(added.block.clone()));
        let count = plan.block_count();
        let (value, data) = make(&mut plan, &self.editor)?;
        let blocks = plan.into_arrays_from(count)?;
        if blocks.len() != data.len() {
            let problem = format!("data for {} arrays (expected {}, as declared)", data.len(), blocks.len());
            return Err(Error::usage(problem));
        }
        if blocks.is_empty() {
            return self.editor.set(path, &value);
        }
        // A reader would not find a block after these bytes, and a block over them would destroy them.
        if let Some(junk) = self.layout.faults.iter().find(|fault| fault.kind() == FaultKind::JunkAfterBlocks)
        {
            let problem = "cannot add an array: bytes outside every block follow the last one";
            return Err(Error::usage(problem)
                .with_context("asdf file")
                .with_range(junk.range())
                .with_hint("defragment the file first"));
        }
        let before = self.editor.clone();
        let set = self.count_from_the_start(count).and_then(|()| self.editor.set(path, &value));
        if let Err(error) = set {
            self.editor = before;
            return Err(error);
        }
        self.added.extend(blocks.into_iter().zip(data).map(|(block, data)| NewBlock { block, data }));
        Ok(())
    }

    /// Adds an array whose elements are stored in the tree.
    ///
    /// # Errors
    /// As [`Plan::inline`], and for a path that cannot be.
    pub fn add_inline(&mut self, path: &str, spec: &ArraySpec, bytes: &[u8]) -> Result<()> {
        let node = self.plan().inline(spec, bytes)?;
        self.editor.set(path, &node)
    }

    /// Sets the value at a path.
    ///
    /// # Errors
    /// As [`TreeEditor::set`].
    pub fn set(&mut self, path: &str, value: &Yaml) -> Result<()> {
        self.editor.set(path, value)
    }

    /// Removes the value at a path. A block that no array names any more stays where it is.
    ///
    /// # Errors
    /// As [`TreeEditor::remove`].
    pub fn remove(&mut self, path: &str) -> Result<()> {
        self.editor.remove(path)
    }

    fn block(&self, index: usize) -> Result<&StoredBlock> {
        let block = self.layout.blocks.get(index);
        block
            .ok_or_else(|| Error::usage(format!("no block {index} (there are {})", self.layout.blocks.len())))
    }

    fn plan(&self) -> Plan {
        let mut options = self.options.write.clone();
        options.standard = self.layout.header.standard_or_first();
        Plan::new(options)
    }

    /// Replaces block numbers from the end by numbers from the start, since they would name other blocks after one is added.
    fn count_from_the_start(&mut self, count: usize) -> Result<()> {
        let document = self.editor.document();
        let mut changes = Vec::new();
        for found in references::find_references(document, &self.options.limits)? {
            if let (SourceValue::Block(..0), Some(block)) = (&found.named, found.block(count)) {
                changes.push((found.source, Yaml::int(block as u64)));
            }
        }
        if !changes.is_empty() {
            self.editor = TreeEditor::new(replace_scalars(document, &changes)?);
        }
        Ok(())
    }
}

/// Layout and tree of a storage.
fn read(storage: &dyn Storage, options: &UpdateOptions) -> Result<(Layout, TreeEditor)> {
    let source = StorageSource::new(storage)?;
    let layout = Layout::parse(&source, &options.limits)?;
    if !layout.is_complete() {
        let fault =
            layout.faults.iter().find(|fault| fault.severity() == container_core::report::Severity::Error);
        return Err(fault.map_or_else(|| Error::malformed("the file ends early"), crate::Fault::error));
    }
    let Some(tree) = layout.tree.clone() else {
        return Err(
            Error::usage("a file without a tree cannot be changed in place").with_context("asdf tree")
        );
    };
    let text = container_core::source::Source::read(&source, tree.clone())?;
    let document = parse_tree(&text, tree.start, &options.yaml)?;
    Ok((layout, TreeEditor::new(document)))
}
