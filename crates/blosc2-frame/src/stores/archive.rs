//! The zip file of a `.b2z`. Its members are frames, stored and not deflated, so that they are read in place.
//!
//! The crate `rawzip` locates the members; this module decides which of them are valid. The central directory counts, as it does for
//! Python's `zipfile`; a member is used where its local header agrees, no other member shares its bytes, and it is stored plainly.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use container_core::report::{Finding, Severity};
use container_core::source::Source;
use container_core::{Error, Limits, Result};
use rawzip::{CompressionMethod, ReaderAt, ZipArchive, ZipLocator};

use super::slice_source::Shared;

/// Bytes of a local header before its name.
const LOCAL_HEADER_LEN: u64 = 30;

/// Room for one entry of the central directory with the longest name, extra field and comment.
const MAX_ENTRY_LEN: usize = 46 + 3 * 0xffff;

/// Largest number of bytes between the last record and the end of a zip file: its comment.
const MAX_COMMENT_LEN: u64 = 0xffff;

/// A file in the zip file.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    /// Its name in the central directory.
    pub(crate) name: String,
    /// Range from its local header to its data.
    pub(crate) header: Range<u64>,
    /// Its data.
    pub(crate) data: Range<u64>,
    /// CRC-32 of its data.
    pub(crate) crc: u32,
    /// The reason that it cannot be read, if any.
    pub(crate) refused: Option<&'static str>,
}

/// Contents of a zip file.
pub(crate) struct Archive {
    /// The zip file.
    pub(crate) source: Shared,
    /// Its files in the order of the central directory.
    pub(crate) members: Vec<Member>,
    /// The central directory and what follows.
    pub(crate) directory: Range<u64>,
    /// Its faults and oddities.
    pub(crate) findings: Vec<Finding>,
}

impl Archive {
    /// Reads the central directory and every local header.
    ///
    /// # Errors
    /// `Malformed` without a central directory, and where it cannot be read; `Limit`; those of the source.
    pub(crate) fn read(source: &Shared, limits: &Limits) -> Result<Self> {
        let mut room = vec![0; MAX_ENTRY_LEN];
        let len = source.len();
        let archive = ZipLocator::new()
            .max_search_space(MAX_COMMENT_LEN.saturating_add(22))
            .locate_in_reader(Bytes(&**source), &mut room, len)
            .map_err(|(_, error)| located(error, len))?;
        let directory = archive.directory_offset()..archive.end_offset();
        if directory.start > directory.end || directory.end > len {
            let error = Error::malformed("the central directory is not within the file");
            return Err(error.with_range(directory.start.min(len)..len).with_context("zip"));
        }
        // An entry takes its own bytes, its name once more, and a few words.
        limits.allocate((directory.end.saturating_sub(directory.start)).saturating_mul(8))?;
        let (members, findings) = (Vec::new(), Vec::new());
        let mut own = Self { source: Arc::clone(source), members, directory, findings };
        own.read_members(&archive, &mut room)?;
        own.report_shared_bytes();
        own.report_duplicates();
        Ok(own)
    }

    /// Reads the members, and refuses those that cannot be read in place.
    ///
    /// Each entry of the central directory is compared with its local header. A member is refused if it is encrypted, deflated or of two
    /// sizes, if its local header is missing or has another name, or if its name is not a path below the store. Directories count only
    /// for the number of entries.
    ///
    /// # Errors
    /// `Malformed` for an unreadable entry; those of the source.
    fn read_members(&mut self, archive: &ZipArchive<Bytes<'_>>, room: &mut [u8]) -> Result<()> {
        let whole = self.directory.clone();
        let mut directories = 0_u64;
        let mut entries = archive.entries(room);
        loop {
            let entry = match entries.next_entry() {
                Ok(Some(entry)) => entry,
                Ok(None) => break,
                Err(error) => {
                    let error = of_source(error)?;
                    let problem = format!("an entry of the central directory cannot be read: {error}");
                    return Err(Error::malformed(problem).with_range(whole).with_context("zip"));
                }
            };
            let place = entry.central_directory_offset();
            let place = place..place.saturating_add(46);
            let path = entry.file_path();
            let name = String::from_utf8_lossy(path.as_ref()).into_owned();
            let stored = entry.compression_method() == CompressionMethod::STORE;
            let plain = !entry.flags().is_encrypted();
            let (size, decoded) = (entry.compressed_size_hint(), entry.uncompressed_size_hint());
            let (start, crc) = (entry.local_header_offset(), entry.crc32());
            let mut member = Member { name, header: start..start, data: start..start, crc, refused: None };
            let data = match archive.get_entry(entry.wayfinder()) {
                Ok(local) => Some(local.compressed_data_range()),
                Err(error) => match of_source(error) {
                    Err(error) if !error.is_damage() => return Err(error),
                    _ => None,
                },
            };
            let (refused, code, severity) = match data {
                _ if !plain => (Some("it is encrypted"), "zip_encrypted", Severity::Warning),
                _ if !stored => (
                    Some("it is deflated (only stored members can be read in place)"),
                    "zip_deflated",
                    Severity::Warning,
                ),
                None => (
                    Some("its local header is not at the offset of the central directory"),
                    "zip_local",
                    Severity::Error,
                ),
                Some((_, end)) if end > self.directory.start => {
                    (Some("it reaches into the central directory"), "zip_local", Severity::Error)
                }
                _ if size != decoded => (Some("it has two sizes"), "zip_size", Severity::Error),
                _ if !is_key_path(&member.name) => {
                    (Some("its name is not a path below the store"), "zip_name", Severity::Warning)
                }
                _ if !same_name(archive.get_ref().0, start, path.as_ref())? => {
                    (Some("its local header has another name"), "zip_local", Severity::Error)
                }
                _ => (None, "", Severity::Note),
            };
            if let Some((start, end)) = data
                && end <= self.directory.start
            {
                member.header.end = start;
                member.data = start..end;
            }
            if let Some(why) = refused.filter(|_| !entry.is_dir()) {
                let range = if member.data.is_empty() { place } else { member.data.clone() };
                self.add_finding(severity, code, range, format!("{}: {why}", member.name));
            }
            member.refused = refused;
            if entry.is_dir() {
                directories = directories.saturating_add(1);
            } else {
                self.members.push(member);
            }
        }
        let (hint, count) = (archive.entries_hint(), self.members.len() as u64);
        if hint != count.saturating_add(directories) {
            let message = format!("the end of the zip file declares {hint} members (found {count})");
            self.add_finding(Severity::Warning, "zip_count", whole, message);
        }
        Ok(())
    }

    /// Reports members that share bytes: with them a small file can claim to be a large one.
    fn report_shared_bytes(&mut self) {
        let mut order: Vec<usize> = (0..self.members.len()).collect();
        order.sort_by_key(|&at| self.members.get(at).map(|member| member.header.start));
        let mut last: Option<(usize, u64)> = None;
        let mut shared = Vec::new();
        for &at in &order {
            let Some(member) = self.members.get(at) else { continue };
            let range = member.header.start..member.data.end;
            if range.is_empty() {
                // Its place is unknown.
                continue;
            }
            if let Some((before, end)) = last
                && range.start < end
            {
                shared.extend([before, at]);
            }
            if last.is_none_or(|(_, end)| range.end > end) {
                last = Some((at, range.end));
            }
        }
        shared.sort_unstable();
        shared.dedup();
        for at in shared {
            let Some(member) = self.members.get_mut(at) else { continue };
            member.refused = Some("it shares bytes with another member");
            let (range, name) = (member.data.clone(), member.name.clone());
            let message = format!("{name}: it shares bytes with another member");
            self.add_finding(Severity::Error, "zip_overlap", range, message);
        }
    }

    fn report_duplicates(&mut self) {
        let mut last = HashMap::new();
        let mut doubles = Vec::new();
        for (at, member) in self.members.iter().enumerate() {
            if let Some(before) = last.insert(member.name.clone(), at) {
                doubles.push(before);
            }
        }
        for at in doubles {
            let Some(member) = self.members.get_mut(at) else { continue };
            // As Python has it: of two members of one name the later one is meant.
            member.refused.get_or_insert("duplicate name");
            let (range, name) = (member.data.clone(), member.name.clone());
            let message = format!("{name}: duplicate name, readers find the later member");
            self.add_finding(Severity::Warning, "zip_double", range, message);
        }
    }

    fn add_finding(&mut self, severity: Severity, code: &'static str, range: Range<u64>, message: String) {
        self.findings.push(Finding::new(severity, code, message).at(range));
    }
}

/// True for a name that is a path below the store, written as `zipfile` does: no way up, no root, no drive, and text
/// for certain.
pub(crate) fn is_key_path(name: &str) -> bool {
    let plain = |part: &str| !matches!(part, "" | "." | "..");
    let drive = name.as_bytes().get(1) == Some(&b':');
    name.split('/').all(plain) && !drive && !name.contains(['\\', '\0', '\u{fffd}'])
}

/// Whether the local header at `at` exists and has the name in the central directory.
fn same_name(source: &dyn Source, at: u64, name: &[u8]) -> Result<bool> {
    let start = at.saturating_add(LOCAL_HEADER_LEN);
    let len = source.read(at.saturating_add(26)..at.saturating_add(28))?;
    let len = <[u8; 2]>::try_from(&*len).map_or(0, u16::from_le_bytes);
    if usize::from(len) != name.len() {
        return Ok(false);
    }
    Ok(*source.read(start..start.saturating_add(name.len() as u64))? == *name)
}

/// Returns the error of the source if that is the cause, such as bytes that are yet to be fetched; `Ok` for a fault of the
/// zip file.
fn of_source(error: rawzip::Error) -> Result<rawzip::Error> {
    match error.into_kind() {
        rawzip::ErrorKind::IO(error) => match error.downcast::<Error>() {
            Ok(error) => Err(error),
            Err(error) => Ok(error.into()),
        },
        kind => Ok(kind.into()),
    }
}

fn located(error: rawzip::Error, len: u64) -> Error {
    let error = match of_source(error) {
        Ok(error) => error,
        Err(own) => return own,
    };
    match error.kind() {
        rawzip::ErrorKind::MissingEndOfCentralDirectory => {
            // The expected length is unknown.
            Error::malformed("a zip file without its central directory at the end")
                .with_range(0..len)
                .with_context("zip")
        }
        _ => Error::malformed(format!("a zip file whose end cannot be read: {error}"))
            .with_range(0..len)
            .with_context("zip"),
    }
}

/// A source as `rawzip` reads it.
struct Bytes<'a>(&'a dyn Source);

impl ReaderAt for Bytes<'_> {
    fn read_at(&self, buf: &mut [u8], offset: u64) -> std::io::Result<usize> {
        let left = self.0.len().saturating_sub(offset);
        let len = usize::try_from(left).unwrap_or(usize::MAX).min(buf.len());
        let Some(part) = buf.get_mut(..len) else { return Ok(0) };
        self.0.read_into(offset, part)?;
        Ok(len)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
