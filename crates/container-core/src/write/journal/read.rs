//! Reading of a file that has a journal next to it. The file is not changed.

use std::path::Path;

use super::{FileJournalStore, Found, Journal, JournalKind, JournalStore, NOT_ABOUT, NOT_WHOLE, State};
use crate::container::Segment;
use crate::report::{Finding, Severity};
use crate::source::{Overlay, Source};
use crate::{Limits, Result, Value};

/// A journal next to an opened file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// The name of the journal, without its folder.
    pub name: String,
    /// Bytes of the journal.
    pub len: u64,
    /// Whether it belongs to the file: else it is ignored.
    pub is_pending: bool,
    /// Its effect, for people.
    pub message: String,
}

impl Notice {
    /// The finding of a check: a warning with the code `pending_journal` or `foreign_journal`.
    #[must_use]
    pub fn finding(&self) -> Finding {
        let code = if self.is_pending { "pending_journal" } else { "foreign_journal" };
        let mut finding = Finding::new(Severity::Warning, code, self.message.clone());
        finding.part = Some(self.name.clone());
        finding
    }

    /// The entry of [`About::details`](crate::container::About::details).
    #[must_use]
    pub fn detail(&self) -> (String, Value) {
        ("journal".to_owned(), Value::from(self.message.as_str()))
    }

    /// The entry of a physical map: a part of its own.
    #[must_use]
    pub fn segment(&self) -> Segment {
        let role = if self.is_pending { "pending journal" } else { "foreign journal" };
        Segment { part: Some(self.name.clone()), ..Segment::plain(0..self.len, role) }
    }
}

/// Opens the file at `path` as its journal requires, and describes the journal. `source` is the file as it is on disk.
///
/// # Errors
/// `Io`; `Limit` for a journal over the limits; those of the source.
pub fn open_recovered(
    path: &Path,
    kind: &JournalKind,
    source: Box<dyn Source>,
    limits: &Limits,
) -> Result<(Box<dyn Source>, Option<Notice>)> {
    let sidecar = FileJournalStore::beside(path, kind);
    let found = sidecar.read(limits)?;
    let name = sidecar.path().file_name().unwrap_or_default().to_string_lossy().into_owned();
    let notice =
        |len: u64, is_pending: bool, message: String| Notice { name: name.clone(), len, is_pending, message };
    let foreign =
        |len: u64, reason: &str| notice(len, false, format!("the journal {name} is ignored: {reason}"));
    let bytes = match found {
        Found::Absent => return Ok((source, None)),
        Found::Foreign(reason) => {
            let len = sidecar.path().symlink_metadata().map_or(0, |about| about.len());
            return Ok((source, Some(foreign(len, &reason))));
        }
        Found::Journal(bytes) => bytes,
    };
    let len = bytes.len() as u64;
    let Some(journal) = Journal::parse(&bytes, kind) else {
        return Ok((source, Some(foreign(len, NOT_WHOLE))));
    };
    let pending = |effect: String| {
        let rest = "the next change of the file by this program resolves it";
        Some(notice(len, true, format!("the journal {name} contains an unfinished change: {effect}; {rest}")))
    };
    Ok(match journal.state(&*source)? {
        State::Other => (source, Some(foreign(len, NOT_ABOUT))),
        State::Old => (source, pending("not begun, the file is read as it was before".to_owned())),
        State::New => (source, pending("applied in full".to_owned())),
        State::Cut => {
            let (old, now) = (journal.old_len, source.len());
            let effect =
                format!("bytes {old}..{now} were being added, and the file is read up to byte {old}");
            (Box::new(Overlay::patched(source, Vec::new()).cut(old)), pending(effect))
        }
        State::Torn => {
            let effect = "applied in part: the file is read as changed, but other programs read a mixture of old and new bytes";
            let pending = pending(effect.to_owned());
            let new_len = journal.new_len;
            let patches = journal.patches.into_iter().map(|patch| (patch.at, patch.new)).collect();
            (Box::new(Overlay::patched(source, patches).cut(new_len)), pending)
        }
    })
}
