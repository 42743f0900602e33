//! The leaves of a store: frames, each with a key, wherever their bytes are.

use std::ops::Range;
use std::sync::Arc;

use container_core::container::{self, Container};
use container_core::report::{Finding, Severity};
use container_core::{Error, ErrorKind, Result};

use super::embed_store::{self, EmbedMap};
use super::open_frames::{Bytes, LazyFrame, OpenContainer, OpenFrames};
use super::slice_source::{DecodedSource, Shared};
use crate::frame::Frame;

/// EmbedStores within EmbedStores that are looked into.
pub(crate) const MAX_NESTED: usize = 4;

/// Bytes that a leaf takes that is not open, about.
pub(crate) const LEAF_LEN: u64 = 1 << 10;

/// Largest EmbedStore that is decoded at once and kept, in bytes; of larger ones each leaf is decoded as it is read.
const MAX_CACHED_EMBED: u64 = 16 << 20;

/// The name of the EmbedStore in a store, and of the file that it is in.
pub(crate) const EMBED: &str = "embed.b2e";

/// Role of a leaf.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Role {
    /// Its values.
    Data,
    /// Its user metadata, which are the attributes of the group that contains it.
    Attributes,
    /// Other leaves, which are listed by themselves.
    Embed,
}

/// Location of a leaf.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LeafLocation {
    /// The file, in a directory.
    pub(crate) part: Option<String>,
    /// Bytes of the file; of a leaf in an EmbedStore those of the EmbedStore.
    pub(crate) range: Range<u64>,
    /// Bytes of what the EmbedStore decodes to.
    pub(crate) inside: Option<Range<u64>>,
}

impl LeafLocation {
    /// Keeps a failure to read the leaf with it, so that the other leaves remain accessible.
    ///
    /// # Errors
    /// `Missing` and `Cancelled`; `Io` of a store in one file, whose leaves are all on the failing disk.
    pub(crate) fn keep<T>(&self, read: Result<T>) -> Result<Result<T>> {
        match read {
            Err(error) if matches!(error.kind(), ErrorKind::Io(_)) && self.part.is_some() => Ok(Err(error)),
            Err(error) if error.is_transient() => Err(error),
            read => Ok(read),
        }
    }
}

/// Returns the severity of a leaf that cannot be read: undecided where the limits or the disk are the reason.
pub(crate) fn severity_of(error: &Error) -> Severity {
    if error.is_interruption() { Severity::Unchecked } else { Severity::Error }
}

/// A frame in a store.
pub(crate) struct Leaf {
    /// Its key without the slash at the start.
    pub(crate) key: String,
    /// The file, member or embedded key that it is.
    pub(crate) file: String,
    pub(crate) role: Role,
    pub(crate) place: LeafLocation,
    /// True where a finding already reports why it cannot be opened.
    pub(crate) is_reported: bool,
    /// Datasets that are listed, and all of them.
    pub(crate) listed: usize,
    pub(crate) count: usize,
    frame: Result<LazyFrame>,
}

impl Leaf {
    /// Returns the container of the frame; `None` where it cannot be opened.
    pub(crate) fn container(&self) -> Option<Arc<dyn Container>> {
        self.open().ok()
    }

    /// Returns the error of opening it, if any.
    pub(crate) fn error(&self) -> Option<&Error> {
        self.frame.as_ref().err()
    }

    /// Opens the frame seen by itself.
    ///
    /// # Errors
    /// `Usage` where it could not be opened with the store; those of opening it again.
    pub(crate) fn open(&self) -> Result<Arc<dyn Container>> {
        self.frame.as_ref().map_err(|_| Error::usage("no such dataset"))?.open()
    }

    /// Returns a copy of the error of opening it, if any: of the same kind, with `what` before its text.
    pub(crate) fn error_copy(&self, what: &str) -> Option<Error> {
        let error = self.error()?;
        let problem = format!("{what}{}", error.kind());
        let copy = match error.kind() {
            ErrorKind::Limit { what: of, asked, allowed } => {
                Error::limit(format!("{what}{of}"), *asked, *allowed)
            }
            ErrorKind::Io(io) => std::io::Error::new(io.kind(), problem).into(),
            ErrorKind::Unsupported(_) => Error::unsupported(problem),
            _ => Error::malformed(problem),
        };
        Some(error.range().into_iter().fold(copy, Error::with_range))
    }

    /// Returns the error of opening it alone.
    pub(crate) fn into_error(self) -> Option<Error> {
        self.frame.err()
    }
}

/// Leaves as they are found.
pub(crate) struct Leaves<'a> {
    pub(crate) options: &'a container::OpenOptions,
    pub(crate) open_frames: Arc<OpenFrames>,
    pub(crate) leaves: Vec<Leaf>,
    /// Keys whose values are on a server, and where.
    pub(crate) references: Vec<(String, String)>,
    pub(crate) findings: Vec<Finding>,
}

impl<'a> Leaves<'a> {
    /// Creates an empty list.
    pub(crate) fn new(options: &'a container::OpenOptions, open_container: OpenContainer) -> Self {
        let open_frames = Arc::new(OpenFrames::new(options, open_container));
        Self { options, open_frames, leaves: Vec::new(), references: Vec::new(), findings: Vec::new() }
    }

    /// Opens a leaf. A failure is kept with the leaf, so that the others remain accessible.
    ///
    /// # Errors
    /// `Missing` and `Cancelled`; `Io` of a store in one file.
    pub(crate) fn take(&mut self, file: &str, place: LeafLocation, bytes: Bytes) -> Result<()> {
        let key = if file == EMBED { file } else { key_of(file) };
        self.take_nested(key.to_owned(), file.to_owned(), place, bytes, 0)
    }

    /// Records a leaf whose file cannot be opened, which a finding has reported.
    pub(crate) fn add_refused(&mut self, file: &str, place: LeafLocation, why: &'static str) {
        let (key, file) = (key_of(file).to_owned(), file.to_owned());
        let role = role_of(&key);
        let frame = Err(Error::unsupported(why));
        self.leaves.push(Leaf { key, file, role, place, is_reported: true, listed: 0, count: 0, frame });
    }

    /// Keeps a leaf of a file whose bytes cannot be reached.
    pub(crate) fn lose(&mut self, file: &str, place: LeafLocation, error: Error) {
        self.lose_nested(key_of(file).to_owned(), file.to_owned(), place, error);
    }

    fn lose_nested(&mut self, key: String, file: String, place: LeafLocation, error: Error) {
        let role = role_of(&key);
        self.leaves.push(Leaf {
            key,
            file,
            role,
            place,
            is_reported: false,
            listed: 0,
            count: 0,
            frame: Err(error),
        });
    }

    fn take_nested(
        &mut self,
        key: String,
        file: String,
        place: LeafLocation,
        bytes: Bytes,
        depth: usize,
    ) -> Result<()> {
        let mut role = role_of(&key);
        let closed = LazyFrame::new(bytes, &self.open_frames);
        let opened = place.keep(closed.open())?;
        if let Ok(container) = &opened
            && container.as_any().and_then(|native| native.downcast_ref()).is_some_and(embed_store::is_embed)
            && let Ok(frame) = place.keep(closed.frame())?
        {
            role = Role::Embed;
            self.add_embedded(&key, &place, frame, depth)?;
        }
        let (listed, count) =
            opened.as_ref().map_or((0, 0), |container| (container.listed_count(), container.dataset_count()));
        let frame = opened.map(|_| closed);
        self.leaves.push(Leaf { key, file, role, place, is_reported: false, listed, count, frame });
        Ok(())
    }

    /// Takes the leaves of an EmbedStore.
    ///
    /// # Errors
    /// As [`Leaves::take`].
    fn add_embedded(&mut self, key: &str, place: &LeafLocation, frame: Frame, depth: usize) -> Result<()> {
        if depth >= MAX_NESTED {
            let message = format!("{MAX_NESTED} stores within stores: this one is not read");
            self.add_finding(Severity::Error, "store_depth", key, place, message);
            return Ok(());
        }
        let map = match place.keep(EmbedMap::read(&frame))? {
            Ok(map) => map,
            Err(error) => {
                let message = format!("its contents cannot be read: {error}");
                self.add_finding(severity_of(&error), "embed_map", key, place, message);
                return Ok(());
            }
        };
        let len = frame.header().nbytes;
        let holes = map.holes(len);
        if holes > 0 {
            let message = format!("{holes} unused bytes, where values were removed");
            self.add_finding(Severity::Note, "dead_space", key, place, message);
        }
        // The store's own EmbedStore puts no prefix before its keys.
        let below = if key == EMBED || key.is_empty() { String::new() } else { format!("{key}/") };
        let outer = if key.is_empty() { EMBED } else { key };
        let most = (self.leaves.len() as u64).saturating_add(map.0.len() as u64).saturating_mul(LEAF_LEN);
        let source = self.options.limits.allocate(most).and_then(|_| self.decoded(frame, len));
        let source = match place.keep(source)? {
            Ok(source) => source,
            Err(error) => {
                self.add_finding(severity_of(&error), "embed_data", key, place, error.to_string());
                return Ok(());
            }
        };
        for (own, value) in map.0 {
            let key = format!("{below}{}", own.trim_start_matches('/'));
            let file = format!("{}/{}", outer, own.trim_start_matches('/'));
            match value {
                embed_store::Value::Here(range) if range.end <= len => {
                    let place = LeafLocation { inside: Some(range.clone()), ..place.clone() };
                    let bytes = Bytes::Within(Arc::clone(&source), range);
                    self.take_nested(key, file, place, bytes, depth + 1)?;
                }
                embed_store::Value::Here(range) => {
                    let problem =
                        format!("it ends at byte {}, outside the {len} bytes of the store", range.end);
                    let place = LeafLocation { inside: Some(range), ..place.clone() };
                    self.lose_nested(key, file, place, Error::malformed(problem));
                }
                embed_store::Value::Elsewhere(reference) => self.references.push((key, reference)),
                embed_store::Value::Nowhere => {
                    let place = LeafLocation { inside: Some(0..0), ..place.clone() };
                    let error = Error::malformed("the store does not contain its offset");
                    self.lose_nested(key, file, place, error);
                }
            }
        }
        Ok(())
    }

    /// Returns the decoded bytes of an EmbedStore: at once where it is small, else as it is read.
    fn decoded(&self, frame: Frame, len: u64) -> Result<Shared> {
        let limits = self.options.limits;
        let lazy: Shared = Arc::new(DecodedSource { frame: Arc::new(frame), limits });
        if len > MAX_CACHED_EMBED || len > limits.memory {
            return Ok(lazy);
        }
        // Where some of it is damaged, the rest is still read piece by piece.
        let mut bytes = container_core::source::try_zeroed_vec(len, &limits)?;
        Ok(match lazy.read_into(0, &mut bytes) {
            Ok(()) => Arc::new(bytes),
            Err(error) if error.is_interruption() => return Err(error),
            Err(_) => lazy,
        })
    }

    fn add_finding(
        &mut self,
        severity: Severity,
        code: &'static str,
        key: &str,
        place: &LeafLocation,
        message: String,
    ) {
        let message = if key.is_empty() { message } else { format!("{key}: {message}") };
        let mut finding = Finding::new(severity, code, message).at(place.range.clone());
        finding.part.clone_from(&place.part);
        self.findings.push(finding);
    }
}

fn role_of(key: &str) -> Role {
    let name = key.rsplit('/').next().unwrap_or(key);
    if name == "__vlmeta__" { Role::Attributes } else { Role::Data }
}

/// Returns the key of a file: its path without its last extension, as Python's `os.path.splitext` takes it off.
pub(crate) fn key_of(part: &str) -> &str {
    let name_at = part.rfind('/').map_or(0, |slash| slash + 1);
    let name = part.get(name_at..).unwrap_or_default();
    // Dots that a name begins with begin no extension.
    let body = name.len() - name.trim_start_matches('.').len();
    match name.rfind('.') {
        Some(dot) if dot > body => part.get(..name_at + dot).unwrap_or(part),
        _ => part,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_paths_without_their_last_extension() {
        // By os.path.splitext of Python 3.13.
        for (part, key) in [
            ("a.b2nd", "a"),
            ("g/b.c/x", "g/b.c/x"),
            ("_cols/name.utf8.b2nd", "_cols/name.utf8"),
            (".b2f", ".b2f"),
            ("g/..b2f", "g/..b2f"),
            ("g/.a.b2f", "g/.a"),
            ("g/a.", "g/a"),
        ] {
            assert_eq!(key_of(part), key, "{part}");
        }
    }
}
