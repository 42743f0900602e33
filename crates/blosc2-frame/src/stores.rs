//! Stores of python-blosc2, read-only: many frames under keys.
//!
//! | ending | contents |
//! |---|---|
//! | `.b2z` | a zip file whose members are frames, stored and not deflated, read in place |
//! | `.b2d` | a directory of frames |
//! | `.b2e` | an EmbedStore: one frame of bytes that holds other frames |
//!
//! A `.b2z` or `.b2d` is a DictStore, a TreeStore (groups have attributes) or a CTable (a table of columns); small values and references
//! to servers are in its `embed.b2e`. The key of a leaf is its path without its extension. References of a store are not opened, and its
//! contents are never run as code.
//!
//! Spec: docs/formats/blosc2.md, "Stores".

use std::path::Path;
use std::sync::Arc;

use container_core::container::Container;
use container_core::format::Input;
use container_core::report::{Finding, Severity};
use container_core::source::{Access, open_path};
use container_core::{Error, Result};

use crate::journal;

#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod archive;
mod byte_map;
mod check;
mod container;
mod ctable;
mod describe;
mod directory;
#[deny(clippy::arithmetic_side_effects, clippy::indexing_slicing)]
mod embed_store;
mod leaf;
mod open_frames;
mod slice_source;
mod sniff;
#[cfg(test)]
mod tests;

use archive::Archive;
use container::{Kind, Store};
use directory::Walk;
use leaf::{EMBED, LEAF_LEN, LeafLocation, Leaves};
use open_frames::Bytes;
use slice_source::{ReopenedFile, Shared};

pub(crate) use embed_store::{MARKS, is_embed};
pub(crate) use open_frames::{OpenContainer, Opener};
pub(crate) use sniff::sniff;

/// The format's name in machine output.
const FORMAT: &str = "blosc2";

/// Opens an input that [`sniff`] accepts: a zip file of frames, or a directory of them.
///
/// # Errors
/// `WrongFormat` for a store without frames; `Malformed` for a zip file without its directory; `Io`; `Limit`. A leaf that cannot be
/// opened is not an error: the others are listed, and a check reports it.
pub(crate) fn open(
    input: Input,
    options: &container_core::container::OpenOptions,
    open_container: OpenContainer,
) -> Result<Box<dyn Container>> {
    let store = match (input.source, &input.path) {
        (Some(source), _) => open_zip(&Arc::from(source), options, open_container)?,
        (None, Some(path)) => open_directory(path, options, open_container)?,
        (None, None) => return Err(Error::usage("no file to open")),
    };
    Ok(Box::new(store))
}

/// Opens the EmbedStore that the frame at the start of `source` is, by [`is_embed`].
///
/// # Errors
/// `Io`, `Missing`, `Cancelled`. Other failures are found by a check.
pub(crate) fn open_embed(
    source: Shared,
    options: &container_core::container::OpenOptions,
    open_container: OpenContainer,
) -> Result<Box<dyn Container>> {
    let len = source.len();
    let mut leaves = Leaves::new(options, open_container);
    let place = LeafLocation { part: None, range: 0..len, inside: None };
    leaves.take("", place, Bytes::Within(source, 0..len))?;
    Ok(Box::new(Store::new(Kind::Embed, len, leaves)?))
}

fn open_zip(
    source: &Shared,
    options: &container_core::container::OpenOptions,
    open_container: OpenContainer,
) -> Result<Store> {
    let size = source.len();
    let mut archive = Archive::read(source, &options.limits)?;
    options.limits.allocate((archive.members.len() as u64).saturating_mul(LEAF_LEN))?;
    let mut leaves = Leaves::new(options, open_container);
    leaves.findings.append(&mut archive.findings);
    // Of two members of one key python-blosc2 finds the later one, which is therefore first here.
    for member in archive.members.iter().rev() {
        let place = LeafLocation { part: None, range: member.data.clone(), inside: None };
        let named = directory::has_leaf_extension(&member.name) || member.name == EMBED;
        match member.refused {
            Some(why) if named => leaves.add_refused(&member.name, place, why),
            Some(_) => {}
            None if named || starts_like_a_frame(source, member)? => {
                let bytes = Bytes::Within(Arc::clone(source), member.data.clone());
                leaves.take(&member.name, place, bytes)?;
            }
            None => {
                let message = format!("{}: a member that is not a frame", member.name);
                leaves
                    .findings
                    .push(Finding::new(Severity::Note, "store_stray", message).at(member.data.clone()));
            }
        }
    }
    if leaves.leaves.is_empty() {
        return Err(Error::wrong_format("a Blosc2 store: no member of the zip file is a frame"));
    }
    if leaves.leaves.iter().all(|leaf| leaf.is_reported)
        && let Some(leaf) = leaves.leaves.pop()
        && let (range, file) = (leaf.place.range.clone(), leaf.file.clone())
        && let Some(error) = leaf.into_error()
    {
        let error = error.with_range(range).with_context(file);
        return Err(error.with_hint("unzip it into a directory, and open that"));
    }
    report_missing_references(&mut leaves);
    Store::new(Kind::Zip(archive), size, leaves)
}

fn starts_like_a_frame(source: &Shared, member: &archive::Member) -> Result<bool> {
    let start = member.data.start;
    let magic = start..start.saturating_add(crate::header::MAGIC.len() as u64);
    Ok(magic.end <= member.data.end && *source.read(magic)? == crate::header::MAGIC)
}

fn open_directory(
    root: &Path,
    options: &container_core::container::OpenOptions,
    open_container: OpenContainer,
) -> Result<Store> {
    let walk = Walk::new(root)?;
    if walk.files.is_empty() {
        return Err(Error::wrong_format("a Blosc2 store: no frame in the directory"));
    }
    options.limits.allocate((walk.files.len() as u64).saturating_mul(LEAF_LEN))?;
    let mut leaves = Leaves::new(options, open_container);
    leaves.findings = walk.findings;
    let mut size = 0_u64;
    let many = walk.files.len();
    for file in walk.files {
        size = size.saturating_add(file.len);
        let place = LeafLocation { part: Some(file.part.clone()), range: 0..file.len, inside: None };
        if file.sparse {
            leaves.take(&file.part, place, Bytes::At(file.path))?;
            continue;
        }
        match file_source(&file.path, file.len, many, options) {
            Ok(source) => {
                let len = source.len();
                leaves.take(
                    &file.part,
                    LeafLocation { range: 0..len, ..place },
                    Bytes::Within(source, 0..len),
                )?;
            }
            Err(error) => leaves.lose(&file.part, place, error),
        }
    }
    report_missing_references(&mut leaves);
    Store::new(Kind::Directory, size, leaves)
}

/// Opens a file of `len` bytes, one of `many`. A process gets about a thousand open files, and 65 thousand maps.
fn file_source(
    path: &Path,
    len: u64,
    many: usize,
    options: &container_core::container::OpenOptions,
) -> Result<Shared> {
    let most = if options.access == Access::Auto { 16_000 } else { 256 };
    if many > most && options.access != Access::Memory {
        return Ok(Arc::new(ReopenedFile { path: path.to_owned(), len }));
    }
    let source = open_path(path, options.access, &options.limits)?;
    Ok(Arc::from(journal::recovered(path, source, &options.limits)?))
}

/// Reports a missing EmbedStore: python-blosc2 opens no store without one, even an empty one.
fn report_missing_references(leaves: &mut Leaves<'_>) {
    if !leaves.leaves.iter().any(|leaf| leaf.file == EMBED) {
        let message = format!("missing {EMBED}, without which python-blosc2 does not open a store");
        leaves.findings.push(Finding::new(Severity::Warning, "store_no_embed", message));
    }
}
