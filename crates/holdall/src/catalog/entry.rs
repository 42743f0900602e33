//! The rows of a file.

use std::fs::{self, File};
use std::io::Read as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use container_codecs::checksum::Algorithm;
use container_core::container::{CheckDepth, Container, Dataset, OpenOptions, ReadOptions, visible_datasets};
use container_core::report::{Severity, Verdict};
use container_core::{Error, ErrorKind, Progress, Value};

use super::row::{Row, Stamp, Table};
use crate::address::{is_url, shown, typed};
use crate::json::{dtype_json, value_json};
use crate::open::{Accept, OpenFile, open_with, open_with_head};
use crate::verify::VerifyStatus;

/// Bytes at the start of a file that [`Row::head_sha256`] is of.
pub const HEAD_LEN: u64 = 4096;

/// Maximum length of a value of metadata in bytes.
const MAX_META: usize = 64 << 10;

/// Maximum number of datasets of a file that have rows. A GSD file whose chunks do not stack may have millions.
const MAX_DATASETS: usize = 100_000;

/// Folders within a container that is a directory.
const MAX_DEPTH: usize = 16;

/// Parts of a row that take time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Want {
    /// [`Row::verdict`], by a quick check.
    pub verdict: bool,
    /// [`Row::head_sha256`].
    pub head: bool,
}

/// A file, as rows.
#[derive(Debug)]
pub struct Described {
    /// A row for each dataset; one without a dataset for a file that has none, or cannot be read.
    pub rows: Vec<Row>,
    /// The error for a file that cannot be read.
    pub error: Option<Error>,
}

impl Described {
    /// True where a larger limit on memory would show more.
    #[must_use]
    pub fn is_short(&self) -> bool {
        self.error.as_ref().is_some_and(|error| matches!(error.kind(), ErrorKind::Limit { .. }))
    }
}

impl Stamp {
    /// The stamp of a file, or of all files of a directory; of a URL it has nothing.
    #[must_use]
    pub fn of(path: &Path) -> Self {
        if is_url(path) {
            return Self::default();
        }
        let Ok(about) = path.metadata() else { return Self::default() };
        if !about.is_dir() {
            return Self { len: Some(about.len()), modified: about.modified().ok().and_then(micros) };
        }
        let mut stamp = Self { len: Some(0), modified: about.modified().ok().and_then(micros) };
        match stamp.add_folder(path, MAX_DEPTH) {
            Some(()) => stamp,
            None => Self::default(),
        }
    }

    fn add_folder(&mut self, folder: &Path, depth: usize) -> Option<()> {
        let deeper = depth.checked_sub(1)?;
        for entry in fs::read_dir(folder).ok()? {
            let entry = entry.ok()?;
            // A link's own stamp, so that none leads around.
            let about = entry.metadata().ok()?;
            self.modified = self.modified.max(about.modified().ok().and_then(micros));
            if about.is_dir() {
                self.add_folder(&entry.path(), deeper)?;
            } else {
                self.len = self.len?.checked_add(about.len());
            }
        }
        Some(())
    }
}

/// Microseconds since 1970, before it negative.
fn micros(time: SystemTime) -> Option<i64> {
    match time.duration_since(UNIX_EPOCH) {
        Ok(after) => i64::try_from(after.as_micros()).ok(),
        Err(before) => i64::try_from(before.duration().as_micros()).ok().map(|micros| -micros),
    }
}

/// The row of a file that cannot be read.
#[must_use]
pub fn unreadable_row(path: &Path, table: &Table, error: &Error) -> Row {
    let mut message = error.kind().to_string();
    if let Some(context) = error.context() {
        message = format!("{context}: {message}");
    }
    Row {
        path: shown(path),
        verdict: Some(VerifyStatus::Unreadable.name().to_owned()),
        message: Some(message),
        checked: micros(SystemTime::now()),
        meta: vec![None; table.pointers.len()],
        ..Row::default()
    }
}

/// Describes a file: opens it once, and reads no values.
#[must_use]
pub fn rows_of(path: &Path, table: &Table, want: Want, open: &OpenOptions, read: &ReadOptions) -> Described {
    let checked = micros(SystemTime::now());
    let stamp = Stamp::of(path);
    let mut head = None;
    let opened = match is_url(path) {
        // One request serves both.
        true => open_with_head(path, Accept::Containers, open, HEAD_LEN).map(|(opened, bytes)| {
            head = want.head.then_some(bytes);
            opened
        }),
        false => {
            head = want.head.then(|| first_bytes(path)).flatten();
            open_with(path, Accept::Containers, open)
        }
    };
    let mut file =
        Row { path: shown(path), checked, file_bytes: stamp.len, modified: stamp.modified, ..Row::default() };
    file.head_sha256 = head.map(|head| {
        let mut running = Algorithm::Sha256.start();
        running.update(&head);
        running.finish().to_string()
    });
    match opened {
        Ok(opened) => Described { rows: datasets(&opened, file, table, want, read), error: None },
        Err(error) => {
            let unreadable = unreadable_row(path, table, &error);
            file.verdict = unreadable.verdict;
            file.message = unreadable.message;
            file.meta = unreadable.meta;
            Described { rows: vec![file], error: Some(error) }
        }
    }
}

/// The first bytes of a file; `None` for a directory.
fn first_bytes(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD_LEN).read_to_end(&mut head).ok()?;
    Some(head)
}

fn datasets(opened: &OpenFile, mut file: Row, table: &Table, want: Want, read: &ReadOptions) -> Vec<Row> {
    let container = &*opened.container;
    file.format = Some(container.about().format.to_owned());
    file.file_bytes = file.file_bytes.or_else(|| Some(container.about().size));
    let mut messages = Vec::new();
    if want.verdict {
        let (verdict, message) = quick_check(container, read);
        file.verdict = Some(verdict.name().to_owned());
        messages.extend(message);
    }
    file.meta = metadata(container, table, &mut messages);
    let count = container.listed_count();
    if count > MAX_DATASETS {
        messages.push(format!("only {MAX_DATASETS} of {count} datasets have rows"));
    }
    file.message = messages.into_iter().next();
    if count == 0 {
        return vec![file];
    }
    let listed = visible_datasets(container).take(MAX_DATASETS);
    listed.map(|(_, dataset)| with_dataset(file.clone(), &dataset)).collect()
}

fn with_dataset(file: Row, dataset: &Dataset) -> Row {
    let dtype = match dtype_json(&dataset.dtype) {
        serde_json::Value::String(text) => text,
        fields => fields.to_string(),
    };
    Row {
        dataset: Some(typed(&dataset.path).to_owned()),
        shape: Some(dataset.shape.clone()),
        dtype: Some(dtype),
        chunks: dataset.chunks.clone(),
        codec: Some(dataset.codec.clone()),
        bytes: Some(dataset.logical),
        stored: Some(dataset.stored),
        ..file
    }
}

/// The outcome of a check of the structure, and its first error.
fn quick_check(container: &dyn Container, read: &ReadOptions) -> (VerifyStatus, Option<String>) {
    match container.check(CheckDepth::Quick, read, Progress::none()) {
        Err(error) => (VerifyStatus::Unreadable, Some(error.kind().to_string())),
        Ok(report) => {
            let verdict = match report.verdict() {
                Verdict::Sound => VerifyStatus::Sound,
                Verdict::Unchecked => VerifyStatus::Unchecked,
                Verdict::Damaged => VerifyStatus::Damaged,
            };
            let first = report
                .findings
                .iter()
                .find(|finding| matches!(finding.severity, Severity::Error | Severity::Unchecked));
            (verdict, first.map(|finding| format!("{}: {}", finding.code, finding.message)))
        }
    }
}

/// The values at the pointers of a table.
fn metadata(container: &dyn Container, table: &Table, messages: &mut Vec<String>) -> Vec<Option<String>> {
    let none = || vec![None; table.pointers.len()];
    if table.pointers.is_empty() {
        return none();
    }
    let meta = match container.meta() {
        Ok(meta) => meta,
        Err(error) => {
            messages.push(format!("metadata: {}", error.kind()));
            return none();
        }
    };
    // A value shown as text may be a tree for pointers into it, as a trailer of RawArray.
    let mut within: Option<Value> = None;
    let mut text = |pointer: &String| {
        let found = match meta.pointer(pointer) {
            Some(found) => found,
            None => within
                .get_or_insert_with(|| container.logical_meta().unwrap_or(Value::Null))
                .pointer(pointer)?,
        };
        let text = value_text(found)?;
        if text.len() > MAX_META {
            messages.push(format!("{pointer}: longer than {MAX_META} bytes, left out"));
            return None;
        }
        Some(text)
    };
    table.pointers.iter().map(&mut text).collect()
}

/// A value of metadata as a catalogue has it: text as it is, nothing for null, all else as JSON.
fn value_text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::Text(text) => Some(text.clone()),
        other => match value_json(other) {
            serde_json::Value::String(text) => Some(text),
            json => Some(json.to_string()),
        },
    }
}
