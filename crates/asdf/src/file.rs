//! An open file: its tree, its arrays, its blocks.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use container_core::report::Severity;
use container_core::source::{Source, open_path};
use container_core::{Error, Limits, Result};

use crate::fault::{Fault, FaultKind};
use crate::file::open_options::{OpenOptions, Strictness};
use crate::layout::{Layout, StoredBlock};
use crate::ndarray::{Geometry, NdArray};
use crate::tree::{Tree, parse_tree};
use crate::yaml::{Document, DuplicateKeys, Node, NodeId};

mod array_faults;
mod arrays;
mod blocks;
pub(crate) mod external;
mod listed_blocks;
mod mask;
pub(crate) mod open_options;
mod read;
pub mod reference;

pub(crate) use array_faults::WRONG_MASK;
use blocks::Cache;
pub(crate) use blocks::{is_cacheable, is_same_file};
use external::OpenFiles;
use listed_blocks::ListedBlocks;

/// First name of the path of a block.
const BLOCKS_KEY: &str = "blocks";

/// Character before the name of a block where the tree has an entry [`BLOCKS_KEY`]. No path of an array begins with it: it escapes `0` or `1`.
const ESCAPE_CHAR: char = '~';

/// An open ASDF file. It is read through `&self`, from any number of threads.
pub struct File {
    /// The path that it was opened at.
    path: Option<PathBuf>,
    source: Box<dyn Source>,
    /// The layout; where `listed` has the blocks, without them.
    front: Layout,
    /// Blocks of a far file by its index.
    listed: Option<ListedBlocks>,
    /// The layout with the blocks of `listed`, once their headers had to be read.
    walked: OnceLock<Layout>,
    tree: Tree,
    arrays: Vec<ArrayEntry>,
    /// Whether the root of the tree has an entry with the name of the blocks' datasets.
    names_blocks: OnceLock<bool>,
    /// Geometry of each array, computed on first use.
    geometries: Vec<OnceLock<Geometry>>,
    paths: OnceLock<HashMap<String, usize>>,
    /// Faults of the tree: invalid nodes with the tag of an array, and duplicate keys. Faults of the layout are there.
    tree_faults: Vec<Fault>,
    /// Arrays that cannot be read, each with its path.
    unlisted: Vec<(String, Fault)>,
    folder: Option<PathBuf>,
    options: OpenOptions,
    cache: Cache,
    /// Index of the first fault of the layout that may have lost a block.
    first_loss: OnceLock<Option<usize>>,
    others: OpenFiles,
}

/// An array of the tree with its path.
#[derive(Clone, Debug, PartialEq)]
pub struct ArrayEntry {
    /// Its path: `roman/data`. An array that is reached by two has two entries. Of an array that is the whole tree it is `.`.
    pub path: String,
    /// The array as the tree describes it.
    pub array: NdArray,
}

impl File {
    /// Opens the file at `path`.
    ///
    /// # Errors
    /// `WrongFormat`, `Unsupported`, `Malformed` for a tree that cannot be read, `Limit`, `Io`.
    pub fn open(path: impl AsRef<Path>) -> Result<Self> {
        Self::open_with(path, OpenOptions::default())
    }

    /// Opens the file at `path` with options: ASDF's own, or those of every format.
    ///
    /// # Errors
    /// As [`File::open`]; under [`Strictness::Strict`] the first fault that is a warning or an error.
    pub fn open_with(path: impl AsRef<Path>, options: impl Into<OpenOptions>) -> Result<Self> {
        let (path, options) = (path.as_ref(), options.into());
        let named = |error: Error| error.in_file(path.display().to_string());
        let source = open_path(path, options.access, &options.limits).map_err(named)?;
        // An unfinished change in a journal is read as if it were complete.
        let source = crate::update::read_through_journal(path, source, &options.limits).map_err(named)?;
        let folder = match path.parent() {
            Some(folder) if folder.as_os_str().is_empty() => Some(Path::new(".")),
            other => other,
        };
        let mut file = Self::from_source(source, folder, options).map_err(named)?;
        file.path = Some(path.to_path_buf());
        Ok(file)
    }

    /// Opens bytes from any source. External files are searched for below `folder`, if there is one.
    ///
    /// # Errors
    /// As [`File::open_with`].
    pub fn from_source(
        source: Box<dyn Source>,
        folder: Option<&Path>,
        options: impl Into<OpenOptions>,
    ) -> Result<Self> {
        let options = options.into();
        let (mut layout, offsets) = match options.strictness {
            Strictness::Compatible => Layout::parse_listed(&source, &options.limits)?,
            Strictness::Strict | Strictness::Lenient => (Layout::parse(&source, &options.limits)?, None),
        };
        let mut tree_faults = Vec::new();
        let document = match document(&source, &layout, &options) {
            Err(error) if error.is_damage() && options.strictness == Strictness::Lenient => {
                let place = error.range().or_else(|| layout.tree.clone()).unwrap_or_default();
                let message = format!("the tree cannot be read: {}", error.kind());
                tree_faults.push(Fault::new(FaultKind::TreeUnreadable, place, message));
                parse_tree(b"{}", 0, &options.yaml)?
            }
            other => other?,
        };
        if options.strictness == Strictness::Strict || options.duplicate_keys == DuplicateKeys::Refuse {
            document.refuse_duplicate_keys()?;
        }
        let arrays::FoundArrays { entries: arrays, unlisted } = arrays::find(&document, &options)?;
        let is_listed = offsets.is_some();
        let listed = offsets.and_then(|offsets| ListedBlocks::new(offsets, &arrays));
        if is_listed && listed.is_none() {
            layout = Layout::parse(&source, &options.limits)?;
        }
        let file = Self {
            path: None,
            source,
            front: layout,
            listed,
            walked: OnceLock::new(),
            tree: Tree::new(document),
            geometries: arrays.iter().map(|_| OnceLock::new()).collect(),
            arrays,
            names_blocks: OnceLock::new(),
            paths: OnceLock::new(),
            tree_faults,
            unlisted,
            folder: folder.map(Path::to_path_buf),
            options,
            cache: Cache::default(),
            first_loss: OnceLock::new(),
            others: OpenFiles::default(),
        };
        if file.options.strictness == Strictness::Strict {
            let of_arrays = file.array_faults();
            let mut all = file.faults().chain(&of_arrays);
            if let Some(fault) = all.find(|fault| fault.severity() != Severity::Note) {
                return Err(fault.error());
            }
        }
        Ok(file)
    }

    /// Opens bytes in memory.
    ///
    /// # Errors
    /// As [`File::open_with`].
    pub fn from_bytes(bytes: Vec<u8>, options: impl Into<OpenOptions>) -> Result<Self> {
        Self::from_source(Box::new(bytes), None, options)
    }

    /// The tree. A file without one has an empty mapping.
    #[must_use]
    pub const fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Layout of the file: ranges of all its parts. Where the headers of the blocks of a far file cannot be read, which [`File::read_layout`] reports,
    /// it has no blocks.
    #[must_use]
    pub fn layout(&self) -> &Layout {
        self.read_layout().unwrap_or(&self.front)
    }

    /// The bytes of the file.
    #[must_use]
    pub fn source(&self) -> &dyn Source {
        &*self.source
    }

    /// The blocks.
    #[must_use]
    pub fn blocks(&self) -> &[StoredBlock] {
        &self.layout().blocks
    }

    /// Options that the file was opened with.
    #[must_use]
    pub const fn options(&self) -> &OpenOptions {
        &self.options
    }

    /// The folder to which names of other files are relative.
    #[must_use]
    pub fn folder(&self) -> Option<&Path> {
        self.folder.as_deref()
    }

    /// The arrays of the tree, in its order: every node with the tag of an array, once for each path to it. The mask of an array is one of its own:
    /// `data/mask`. Where aliases would make more than a million entries, each array is listed at its own place alone.
    #[must_use]
    pub fn arrays(&self) -> &[ArrayEntry] {
        &self.arrays
    }

    /// The position in [`File::arrays`] of the first entry of each array, by its node.
    #[must_use]
    pub fn arrays_by_node(&self) -> HashMap<NodeId, usize> {
        let entries = self.arrays.iter().enumerate().rev();
        entries.map(|(index, entry)| (entry.array.node, index)).collect()
    }

    /// The position in [`File::arrays`] of the array at `path`.
    #[must_use]
    pub fn find_array(&self, path: &str) -> Option<usize> {
        let paths = self.paths.get_or_init(|| {
            let entries = self.arrays.iter().enumerate();
            entries.map(|(index, entry)| (entry.path.clone(), index)).collect()
        });
        // An exact path comes first; below an empty key of the root paths begin with a slash, as JSON pointers do.
        paths.get(path).or_else(|| paths.get(path.strip_prefix('/')?)).copied()
    }

    /// The array at `path`.
    ///
    /// # Errors
    /// `Usage` for an absent path.
    pub fn array(&self, path: &str) -> Result<&ArrayEntry> {
        let entry = self.find_array(path).and_then(|index| self.arrays.get(index));
        entry.ok_or_else(|| match self.tree.find(path) {
            Some(node) if node.tag().is_some_and(NdArray::is_tag) => {
                let error = NdArray::parse(node).err();
                error
                    .unwrap_or_else(|| Error::usage(format!("the array {path} is listed under another path")))
            }
            Some(_) => Error::usage(format!("{path} is not an array")),
            None => Error::usage(format!("no node at {path}")),
        })
    }

    /// Whether the root of the tree has the entry `blocks`.
    pub(crate) fn has_blocks_entry(&self) -> bool {
        *self.names_blocks.get_or_init(|| self.tree.root().get(BLOCKS_KEY).is_some())
    }

    /// The index of the block at `path`. An entry `blocks` of the tree is found instead, unless the path begins with a tilde.
    pub(crate) fn find_block(&self, path: &str) -> Option<usize> {
        let number = match path.strip_prefix(ESCAPE_CHAR) {
            Some(path) => path,
            None if self.has_blocks_entry() => return None,
            None => path,
        };
        let number = number.strip_prefix(BLOCKS_KEY)?.strip_prefix('/')?;
        let index: usize = number.parse().ok().filter(|index: &usize| index.to_string() == number)?;
        (index < self.block_count()).then(|| self.arrays().len().saturating_add(index))
    }

    /// The path of the block of that number.
    pub(crate) fn block_path(&self, number: usize) -> String {
        match self.has_blocks_entry() {
            true => format!("{ESCAPE_CHAR}{BLOCKS_KEY}/{number}"),
            false => format!("{BLOCKS_KEY}/{number}"),
        }
    }

    /// Lists the faults that were found on opening the file: those of its layout, then those of its tree.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        let of_arrays = self.unlisted.iter().map(|(_, fault)| fault);
        self.layout().faults.iter().chain(&self.tree_faults).chain(of_arrays)
    }

    /// The arrays that are not in [`File::arrays`] because they cannot be read: the path of each, and the reason.
    pub fn unlisted_arrays(&self) -> impl Iterator<Item = (&str, Error)> {
        self.unlisted.iter().map(|(path, fault)| (path.as_str(), fault.error()))
    }

    /// The fault of a tree that could not be read, in a file that was opened without it.
    pub(crate) fn unread_tree(&self) -> Option<&Fault> {
        self.tree_faults.iter().find(|fault| fault.kind() == FaultKind::TreeUnreadable)
    }

    /// Checks that the tree is the one of the file: under [`Strictness::Lenient`] an empty tree replaces one that cannot be read.
    ///
    /// # Errors
    /// `Malformed` for a tree that could not be read.
    pub fn require_tree(&self) -> Result<()> {
        self.unread_tree().map_or(Ok(()), |fault| Err(fault.error()))
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(crate) fn node(&self, array: &NdArray) -> Node<'_> {
        self.tree.document().node(array.node)
    }
}

impl std::fmt::Debug for File {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("File")
            .field("header", &self.front.header)
            .field("arrays", &self.arrays.len())
            .field("blocks", &self.block_count())
            .finish_non_exhaustive()
    }
}

/// Reads the tree. A file without one has an empty mapping.
fn document(source: &dyn Source, layout: &Layout, options: &OpenOptions) -> Result<Document> {
    let Some(range) = layout.tree.clone() else { return parse_tree(b"{}", 0, &options.yaml) };
    let len = range.end.saturating_sub(range.start);
    if len > options.yaml.bytes {
        return Err(Error::limit("bytes of a tree", len, options.yaml.bytes).with_range(range));
    }
    options.limits.allocate(len).map_err(|error| error.with_range(range.clone()))?;
    parse_tree(&source.read(range.clone())?, range.start, &options.yaml)
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss
)]
mod tests;
