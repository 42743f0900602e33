//! The external files that arrays and references name, and the set of all of them. A name in a file is untrusted: it may only refer to regular files
//! below one folder, and never to the network.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Component, Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};

use container_core::{Error, Limits, Result};

use super::File;
use crate::file::open_options::{ExternalFiles, OpenOptions};
use crate::ndarray::ByteSource;

/// The files that have been opened. They stay open as long as the file that names them, so that their bytes can be lent.
#[derive(Default)]
pub(super) struct OpenFiles {
    by_uri: Mutex<HashMap<String, usize>>,
    /// The number of the last one that was used, plus one.
    last: AtomicUsize,
    slots: OnceLock<Box<[OnceLock<Box<File>>]>>,
}

impl OpenFiles {
    fn get_open(&self, uri: &str) -> Option<&File> {
        let index = *self.by_uri.lock().unwrap_or_else(PoisonError::into_inner).get(uri)?;
        let file = self.slots.get()?.get(index)?.get()?;
        self.release_others(index, &file.options.limits);
        Some(file)
    }

    /// Drops the decoded bytes of the other files, where all of it takes more than one file may hold.
    fn release_others(&self, index: usize, limits: &Limits) {
        let number = index.saturating_add(1);
        if self.last.swap(number, Ordering::Relaxed) == number {
            return;
        }
        if self.held_len() > limits.memory / 2 {
            self.files().filter(|(at, _)| *at != index).for_each(|(_, file)| file.cache().forget());
        }
    }

    /// Bytes that all of them hold decoded.
    pub(super) fn held_len(&self) -> u64 {
        self.files().map(|(_, file)| file.cache().held_len()).fold(0, u64::saturating_add)
    }

    fn files(&self) -> impl Iterator<Item = (usize, &File)> {
        let slots = self.slots.get().into_iter().flat_map(|slots| slots.iter());
        slots.enumerate().filter_map(|(at, slot)| Some((at, &**slot.get()?)))
    }

    /// Keeps a file, unless another thread was first.
    fn insert_open(&self, uri: &str, file: File, most: usize) -> Result<&File> {
        let slots = self.slots.get_or_init(|| (0..most).map(|_| OnceLock::new()).collect());
        let mut by_uri = self.by_uri.lock().unwrap_or_else(PoisonError::into_inner);
        let index = by_uri.get(uri).copied().unwrap_or(by_uri.len());
        let too_many = || Error::limit("other files", index as u64 + 1, most as u64);
        let slot = slots.get(index).ok_or_else(too_many)?;
        by_uri.insert(uri.to_owned(), index);
        drop(by_uri);
        let file = slot.get_or_init(|| Box::new(file));
        self.release_others(index, &file.options.limits);
        Ok(file)
    }
}

impl File {
    /// The file that a URI in this one names, opened once with the options of this one. The fragment is ignored.
    ///
    /// # Errors
    /// `Unsupported` for names that [`OpenOptions::external`] does not allow: other schemes, absolute names, folders above; `Limit` for too many
    /// files, or too many in a row; `Io`, and those of [`File::open_with`].
    pub fn external(&self, uri: &str) -> Result<&Self> {
        let uri = uri.split_once('#').map_or(uri, |(uri, _)| uri);
        if uri.is_empty() {
            return Ok(self);
        }
        if let Some(file) = self.others.get_open(uri) {
            return Ok(file);
        }
        let (most, deep) = (self.options.max_external_files, self.options.max_external_depth);
        let deeper = deep.checked_sub(1).ok_or_else(|| Error::limit("files that name one another", 1, 0))?;
        let (path, root) = self.resolve(uri)?;
        let named = |error: Error| error.in_file(uri.to_owned());
        // A file that is not regular may block, or have no end.
        let kind = std::fs::metadata(&path).map_err(|error| named(error.into()))?;
        if !kind.is_file() {
            return Err(named(Error::unsupported("not a regular file")));
        }
        let mut options = OpenOptions { external: ExternalFiles::Under(root), ..self.options.clone() };
        (options.max_external_files, options.max_external_depth) = (most, deeper);
        let file = Self::open_with(&path, options).map_err(named)?;
        self.others.insert_open(uri, file, most)
    }

    /// The path of the file that a URI in this one names, and the folder that it must be below, both with links resolved.
    ///
    /// # Errors
    /// As [`File::external`], without opening the file.
    pub fn external_path(&self, uri: &str) -> Result<PathBuf> {
        self.resolve(uri.split_once('#').map_or(uri, |(uri, _)| uri)).map(|(path, _)| path)
    }

    fn resolve(&self, uri: &str) -> Result<(PathBuf, PathBuf)> {
        let refused = |why: &str| {
            let shown: String = uri.chars().take(80).collect();
            Error::unsupported(format!("{shown:?} is not opened: {why}")).with_context("asdf external file")
        };
        let root = match (&self.options.external, &self.folder) {
            (ExternalFiles::Deny, _) => return Err(refused("external files are not allowed")),
            (ExternalFiles::Under(root), _) => root.as_path(),
            (ExternalFiles::SameFolder, Some(folder)) => folder.as_path(),
            (ExternalFiles::SameFolder, None) => return Err(refused("this file has no folder")),
        };
        let above = matches!(self.options.external, ExternalFiles::Under(_));
        let name = relative(uri, above).map_err(refused)?;
        let from = self.folder.as_deref().unwrap_or(root);
        let shown = uri.to_owned();
        let found = |path: &Path| {
            path.canonicalize()
                .map_err(|error| Error::from(error).in_file(shown.clone()).with_context("asdf external file"))
        };
        let (root, path) = (found(root)?, found(&from.join(name))?);
        // Links have been followed: the real path of the file decides.
        if !path.starts_with(&root) {
            return Err(refused("it is outside of the folder of this file"));
        }
        Ok((path, root))
    }
}

/// The relative path that a URI reference spells.
fn relative(uri: &str, above: bool) -> Result<PathBuf, &'static str> {
    let scheme = uri.find(':').filter(|colon| !uri.get(..*colon).unwrap_or_default().contains('/'));
    if scheme.is_some() {
        return Err("only plain relative names are allowed");
    }
    if uri.contains('?') {
        return Err("it has a query");
    }
    let name = percent_decoded(uri).ok_or("its percent-encoding is not valid text")?;
    if name.contains(['\0', '\\']) || name.starts_with('/') {
        return Err("only plain relative names are allowed");
    }
    let path = PathBuf::from(&name);
    let plain = |part: Component<'_>| match part {
        Component::Normal(_) | Component::CurDir => true,
        Component::ParentDir => above,
        Component::RootDir | Component::Prefix(_) => false,
    };
    if path.components().all(plain) { Ok(path) } else { Err("it is outside of the folder of this file") }
}

/// Text with `%41` and the like replaced (RFC 3986, section 2.1). `None` where the result is not UTF-8, or a percent sign has no two hexadecimal
/// digits after it.
pub(crate) fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let digit =
                    |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                let (high, low) = (digit(rest.next()?)?, digit(rest.next()?)?);
                high << 4 | low
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_plain_relative_names_are_names() {
        for (uri, path) in
            [("a.asdf", "a.asdf"), ("sub/a%20b.asdf", "sub/a b.asdf"), ("./x", "./x"), ("a%3Fb", "a?b")]
        {
            assert_eq!(relative(uri, false), Ok(PathBuf::from(path)), "{uri}");
        }
        for bad in [
            "/etc/passwd",
            "%2Fetc/passwd",
            "file:///x",
            "file:x",
            "http://host/x",
            "s3://a/b",
            "../x",
            "sub/../x",
            "%2e%2e/x",
            "a%00b",
            "a\\b",
            "C:x",
            "x?y",
            "%zz",
            "%4",
            "%ff",
            "//host/x",
        ] {
            assert!(relative(bad, false).is_err(), "{bad}");
        }
        assert_eq!(relative("../x", true), Ok(PathBuf::from("../x")));
    }
}
