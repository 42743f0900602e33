//! The external files of a file: those that its arrays name, and those that these name, each once.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

use crate::file::File;
use crate::file::external::percent_decoded;
use crate::ndarray::ByteSource;

/// Paths of the files that arrays and references of `file` name, and those that these files name in turn, whether they can be opened or not.
pub(crate) fn external_paths(file: &File, path: Option<&Path>) -> BTreeSet<PathBuf> {
    let mut places = BTreeSet::new();
    for part in FileSet::open(file, path).all {
        let arrays = part.file.arrays().iter().filter(|entry| part.file.is_external(&entry.array));
        let mut uris: HashSet<String> = arrays
            .filter_map(|entry| match &entry.array.source {
                ByteSource::External(uri) => Some(uri.clone()),
                _ => None,
            })
            .collect();
        let references = part.file.find_references().unwrap_or_default();
        // Most point to another node of the same tree.
        uris.extend(
            references.into_iter().map(|reference| reference.uri).filter(|uri| !uri.starts_with('#')),
        );
        places.extend(uris.iter().filter_map(|uri| part.file.external_path(uri).ok()));
    }
    places
}

/// A file of a [`FileSet`].
pub(crate) struct FileSetMember<'f> {
    pub(crate) file: &'f File,
    /// Its name, from the folder of the first file; `None` for that one.
    pub(crate) name: Option<String>,
    /// The first array of the first file that is in its first block.
    pub(crate) dataset: Option<String>,
    /// Whether an array of any file of the set names its first block by the name of the file.
    pub(crate) is_named: bool,
}

/// A file with its external files, as far as they can be opened.
pub(crate) struct FileSet<'f> {
    /// The first is the one that names the others.
    pub(crate) all: Vec<FileSetMember<'f>>,
    by_path: HashMap<PathBuf, usize>,
    folder: Option<PathBuf>,
}

impl<'f> FileSet<'f> {
    /// Opens the files that arrays name, as [`File::external`] allows it. `path` is the place of `file`, where it has one: files may name it in turn.
    pub(crate) fn open(file: &'f File, path: Option<&Path>) -> Self {
        let own = path.and_then(|path| path.canonicalize().ok());
        let folder = file.folder().and_then(|folder| folder.canonicalize().ok());
        let first = FileSetMember { file, name: None, dataset: None, is_named: false };
        let by_path = own.into_iter().map(|path| (path, 0)).collect();
        let mut parts = Self { all: vec![first], by_path, folder };
        let mut at = 0;
        while let Some(from) = parts.all.get(at).map(|part| part.file) {
            let mut known: HashMap<&str, Option<usize>> = HashMap::new();
            for entry in from.arrays() {
                let ByteSource::External(uri) = &entry.array.source else { continue };
                if from.is_external(&entry.array) {
                    let index = *known.entry(uri).or_insert_with(|| parts.find_or_open(from, uri));
                    if let Some(part) = index.and_then(|index| parts.all.get_mut(index)) {
                        part.is_named = true;
                        if at == 0 && part.dataset.is_none() {
                            part.dataset = Some(entry.path.clone());
                        }
                    }
                }
            }
            at = at.saturating_add(1);
        }
        parts
    }

    fn find_or_open(&mut self, from: &'f File, uri: &str) -> Option<usize> {
        let path = from.external_path(uri).ok()?;
        if let Some(index) = self.by_path.get(&path) {
            return Some(*index);
        }
        let file = from.external(uri).ok()?;
        let name = Some(self.name(&path, uri));
        let index = self.all.len();
        self.all.push(FileSetMember { file, name, dataset: None, is_named: true });
        self.by_path.insert(path, index);
        Some(index)
    }

    /// The position of the file that a URI in `from` names, if it could be opened.
    pub(crate) fn find(&self, from: &File, uri: &str) -> Option<usize> {
        self.by_path.get(&from.external_path(uri).ok()?).copied()
    }

    /// Returns the name of a file relative to the folder of the first one: its path from there, or the decoded URI.
    pub(crate) fn name(&self, path: &Path, uri: &str) -> String {
        let inside = self.folder.as_ref().and_then(|folder| path.strip_prefix(folder).ok());
        match inside {
            Some(inside) => inside.display().to_string(),
            None => percent_decoded(uri).unwrap_or_else(|| uri.to_owned()),
        }
    }
}
