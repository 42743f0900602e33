//! Splits a file into several and joins them: the tree in one, each block in another next to it (ASDF standard 1.6.0, file layout, "Exploded form").
//!
//! Only the values of `source` in the tree change, so that it can be edited by hand in between; blocks keep their stored bytes, labels, sizes and
//! digests.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use container_core::format::Output;
use container_core::write::storage::require_at;
use container_core::write::{AtomicFile, Durability, Overwrite};
use container_core::{Error, Result};

use crate::blocks::references::{
    BlockReference, SourceValue, find_references, refuse_chunk_block_maps, resolve_index,
};
use crate::edit::replace_scalars;
use crate::file::File;
use crate::file::external::external_paths;
use crate::layout::{Layout, StoredBlock};
use crate::writer::assemble::{Assembly, AssemblyBlock, BlockPadding, head_and_tree, require_intact};
use crate::writer::{Padding, Plan, WriteOptions};
use crate::yaml::{NodeId, Yaml};

/// Result of [`explode`] or [`implode`]: the files that were written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExplodeReport {
    /// The files, that of the tree last.
    pub files: Vec<PathBuf>,
    /// Blocks that no array names, and that were left out.
    pub dropped: Vec<usize>,
}

/// Writes the tree of a file to `target`, and each of its blocks to a file next to it: `x.asdf` has its blocks in `x0000.asdf`, `x0001.asdf` and so
/// on. External blocks of its arrays follow, since their names are relative to the old folder. A streamed block stays streamed, so that rows can be
/// appended to its file. On an error, new files are removed and existing ones are unchanged: files are replaced when all are written.
///
/// # Errors
/// `Usage` where a file exists and may not be replaced, or is named by the source, or a name is not text; `Malformed`, `Truncated` for a damaged
/// file; `Unsupported` where blocks cannot be given other names; those of [`File::external`]; `Io`.
pub fn explode(
    file: &File,
    target: &Path,
    overwrite: Overwrite,
    durability: Durability,
    options: &WriteOptions,
) -> Result<ExplodeReport> {
    let mut writing = FileBatch { overwrite, durability, waiting: Vec::new(), made: Vec::new(), late: None };
    let result = explode_all(file, target, options, &mut writing);
    if result.is_err() {
        for path in &writing.made {
            let _ = std::fs::remove_file(path);
        }
    }
    match (result, writing.late) {
        (Ok(_), Some(late)) => Err(late),
        (result, _) => result,
    }
}

/// Files that are written together: either all are renamed to their paths, or none.
struct FileBatch {
    overwrite: Overwrite,
    durability: Durability,
    /// Written, in the place of others.
    waiting: Vec<AtomicFile>,
    /// Files that have their name, which did not exist before.
    made: Vec<PathBuf>,
    /// The first error of a file after its rename.
    late: Option<Error>,
}

impl FileBatch {
    fn start(&self, path: &Path) -> Result<AtomicFile> {
        AtomicFile::create(path, self.overwrite)
    }

    /// Renames a complete file to its path, unless another file has that path: then this one waits.
    fn end(&mut self, path: &Path, file: AtomicFile) -> Result<()> {
        if path.symlink_metadata().is_ok() {
            self.waiting.push(file);
            return Ok(());
        }
        let own = file.file().try_clone()?;
        let done = self.commit(file);
        // The last step may fail after the rename. A file that another program has put there meanwhile must not be removed.
        if done.is_ok() || (cfg!(unix) && require_at(&own, path).is_ok()) {
            self.made.push(path.to_owned());
        }
        done
    }

    /// Renames a file to its path. An error after that is kept for the end, so that the other files are still written.
    fn commit(&mut self, file: AtomicFile) -> Result<()> {
        match file.commit(self.durability) {
            Err(error) if error.is_after_change() => {
                self.late.get_or_insert(error);
                Ok(())
            }
            done => done,
        }
    }

    fn replace(&mut self) -> Result<()> {
        std::mem::take(&mut self.waiting).into_iter().try_for_each(|file| self.commit(file))
    }
}

/// Names the referenced blocks in their order, builds the text of the tree with these names, then writes the blocks and, last, the tree.
fn explode_all(
    file: &File,
    target: &Path,
    options: &WriteOptions,
    writing: &mut FileBatch,
) -> Result<ExplodeReport> {
    let mut done = ExplodeReport::default();
    let (source, layout, document) = (file.source(), file.layout(), file.tree().document());
    require_intact(layout)?;
    refuse_chunk_block_maps(document, file.limits())?;
    let (head, _) = head_and_tree(source, layout)?;
    let stem = target.file_stem().and_then(|stem| stem.to_str());
    let stem = stem.ok_or_else(|| {
        Error::usage(format!("{}: the file name is missing or not UTF-8", target.display()))
    })?;
    let found = find_references(document, file.limits())?;
    let others = others(file, &found)?;
    let mut names: Vec<Option<String>> = vec![None; layout.blocks.len() + others.len()];
    let places = found.iter().map(|found| place(file, found, &others)).collect::<Result<Vec<_>>>()?;
    for place in &places {
        if let Some(name) = names.get_mut(*place) {
            *name = Some(String::new());
        }
    }
    for (number, name) in names.iter_mut().flatten().enumerate() {
        *name = format!("{stem}{number:04}.asdf");
    }
    let mut changes: Vec<(NodeId, Yaml)> = Vec::new();
    for (found, place) in found.iter().zip(&places) {
        if let Some(name) = names.get(*place).and_then(Option::as_ref) {
            changes.push((found.source, Yaml::text(percent_encoded(name))));
        }
    }
    let paths = names.iter().flatten().map(|name| target.with_file_name(name));
    refuse_parts(file, paths.chain([target.to_owned()]))?;
    let text = replace_scalars(document, &changes)?;
    let options = WriteOptions { standard: layout.header.standard_or_first(), ..options.clone() };
    let own = layout.blocks.iter().map(|block| (file, block));
    for ((from, block), name) in own.chain(others.iter().map(|other| (other.file, other.block))).zip(&names) {
        let Some(name) = name else {
            done.dropped.push(block.index);
            continue;
        };
        let path = target.with_file_name(name);
        let mut out = writing.start(&path)?;
        let tree = Plan::new(WriteOptions { extensions: false, history: Vec::new(), ..options.clone() });
        write(&[], &tree.text(Yaml::mapping::<String>([]))?, &[piece(from, block)], &options, &mut out)?;
        writing.end(&path, out)?;
        done.files.push(path);
    }
    let mut out = writing.start(target)?;
    write(&head, text.text(), &[], &options, &mut out)?;
    writing.replace()?;
    writing.end(target, out)?;
    writing.replace()?;
    done.files.push(target.to_owned());
    Ok(done)
}

/// Writes a file with all the external blocks of its arrays. Its own blocks come first, then those of other files by the numbers in their names, or
/// in the order of the tree.
///
/// # Errors
/// Those of [`File::external`]; `Malformed` for another file without a block, and for damaged ones; `Unsupported` where blocks cannot be given other
/// numbers; `Io`. Returns the number of blocks that were brought in.
pub fn implode(file: &File, options: &WriteOptions, out: &mut dyn Output) -> Result<usize> {
    let (layout, document) = (file.layout(), file.tree().document());
    require_intact(layout)?;
    let (head, _) = head_and_tree(file.source(), layout)?;
    let found = find_references(document, file.limits())?;
    let others = others(file, &found)?;
    let own = layout.blocks.len();
    let count = own + others.len();
    let mut changes = Vec::new();
    for found in &found {
        let new = match &found.named {
            SourceValue::Uri(_) => place(file, found, &others)?,
            SourceValue::Block(number) => match resolve_index(*number, own) {
                Some(index) if resolve_index(*number, count) != Some(index) => index,
                _ => continue,
            },
        };
        changes.push((found.source, Yaml::int(new as u64)));
    }
    let text = replace_scalars(document, &changes)?;
    let mut pieces: Vec<AssemblyBlock<'_>> = layout.blocks.iter().map(|block| piece(file, block)).collect();
    pieces.extend(others.iter().map(|other| piece(other.file, other.block)));
    write(&head, text.text(), &pieces, options, out)?;
    Ok(others.len())
}

/// The other files that arrays name, in the order in which their blocks are added.
fn others<'f>(file: &'f File, found: &[BlockReference]) -> Result<Vec<Other<'f>>> {
    let mut others: Vec<Other<'_>> = Vec::new();
    for found in found {
        if let SourceValue::Uri(uri) = &found.named {
            let from = file.external(uri)?;
            let same = others.iter().any(|other| std::ptr::eq(other.file, from));
            if !std::ptr::eq(from, file) && !same {
                others.push(Other::new(uri, from)?);
            }
        }
    }
    let numbered: Option<Vec<u64>> = others.iter().map(|other| number_of(&other.uri)).collect();
    if numbered.is_some() && others.windows(2).all(|pair| base_of(&pair[0].uri) == base_of(&pair[1].uri)) {
        others.sort_by_key(|other| number_of(&other.uri));
    }
    Ok(others)
}

/// The position of an array's block among those of the file and then of the others.
fn place(file: &File, found: &BlockReference, others: &[Other<'_>]) -> Result<usize> {
    let own = file.layout().blocks.len();
    let (place, number) = match &found.named {
        SourceValue::Block(number) => (found.block(own), *number),
        SourceValue::Uri(uri) => {
            let from = file.external(uri)?;
            match others.iter().position(|other| std::ptr::eq(other.file, from)) {
                Some(other) => return Ok(own + other),
                // The file itself, by an empty name.
                None => (resolve_index(0, own), 0),
            }
        }
    };
    place.ok_or_else(|| {
        let what = format!("{}: source {number} is not a block of its file", found.path);
        Error::malformed(what).with_context("asdf tree")
    })
}

/// # Errors
/// `Usage` for the first path of a file that `file` names.
fn refuse_parts(file: &File, paths: impl Iterator<Item = PathBuf>) -> Result<()> {
    let mut parts: Option<HashSet<PathBuf>> = None;
    for path in paths {
        let Ok(place) = path.canonicalize() else { continue };
        if parts.get_or_insert_with(|| external_paths(file, None).into_iter().collect()).contains(&place) {
            let problem = format!("{} is a part of the source", path.display());
            return Err(Error::usage(problem).with_hint("write to another folder"));
        }
    }
    Ok(())
}

/// A file whose first block is brought in.
struct Other<'f> {
    uri: String,
    file: &'f File,
    block: &'f StoredBlock,
}

impl<'f> Other<'f> {
    fn new(uri: &str, file: &'f File) -> Result<Self> {
        let named = |error: Error| error.in_file(uri.to_owned());
        let layout: &Layout = file.layout();
        require_intact(layout).map_err(named)?;
        let block = layout.blocks.first().ok_or_else(|| named(Error::malformed("the file has no block")))?;
        Ok(Self { uri: uri.to_owned(), file, block })
    }
}

fn piece<'f>(file: &'f File, block: &StoredBlock) -> AssemblyBlock<'f> {
    AssemblyBlock { source: file.source(), block: block.clone(), recoded: None }
}

/// Writes head, tree and blocks. A streamed block stays streamed if it is the last.
fn write(
    head: &[u8],
    text: &str,
    pieces: &[AssemblyBlock<'_>],
    options: &WriteOptions,
    out: &mut dyn Output,
) -> Result<()> {
    let assembly = Assembly {
        block_padding: BlockPadding::Keep,
        padding: Padding::None,
        index: options.index,
        digests: None,
        options,
    };
    let mut writing = assembly.start(head, text, !pieces.is_empty(), out)?;
    for (number, piece) in pieces.iter().enumerate() {
        writing.block(piece, number + 1 == pieces.len())?;
    }
    writing.finish()
}

/// The number at the end of a name from [`explode`]: at least four digits.
fn number_of(uri: &str) -> Option<u64> {
    let stem = uri.strip_suffix(".asdf")?;
    let digits = stem.get(base_of(uri)?.len()..)?;
    (digits.len() >= 4).then(|| digits.parse().ok()).flatten()
}

/// A name without the digits at its end.
fn base_of(uri: &str) -> Option<&str> {
    uri.strip_suffix(".asdf").map(|stem| stem.trim_end_matches(|digit: char| digit.is_ascii_digit()))
}

/// A file name as a URI reference.
fn percent_encoded(name: &str) -> String {
    let mut uri = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'-' | b'.' | b'_' | b'~' => uri.push(char::from(byte)),
            _ => uri.push_str(&format!("%{byte:02X}")),
        }
    }
    uri
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, clippy::ptr_arg)]
mod tests;
