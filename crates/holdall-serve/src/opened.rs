//! Open files, which are opened anew when they have changed.

use std::fs::Metadata;
use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use container_core::Result;
use container_core::container::{Container, OpenOptions};
use container_core::source::Access;
use holdall::address::{is_url, shown};
use holdall::{Accept, OpenFile};

use crate::files::Entry;
use crate::h5grove::Entities;
use crate::job::Flag;
use crate::server::State;

/// Files of a directory that are looked at for changes.
const MAX_PARTS: usize = 100_000;

/// An open file.
pub(crate) struct Opened {
    pub(crate) file: OpenFile,
    pub(crate) entities: Entities,
    /// A text that changes when the file does.
    pub(crate) stamp: String,
}

impl Opened {
    pub(crate) fn container(&self) -> &dyn Container {
        self.file.container.as_ref()
    }
}

/// Length and time of the last change of a file, and of the files in it where it is a directory; of one at a URL nothing, since it stays what it was or
/// fails.
pub(crate) fn stamp(path: &Path) -> Result<String> {
    if is_url(path) {
        return Ok(String::new());
    }
    let own = path.metadata()?;
    let (mut len, mut changed) = (own.len(), nanos(&own));
    if own.is_dir() {
        for entry in path.read_dir()?.take(MAX_PARTS).flatten() {
            if let Ok(part) = entry.metadata() {
                len = len.wrapping_add(part.len());
                changed = changed.max(nanos(&part));
            }
        }
    }
    Ok(format!("{len}-{changed}"))
}

/// Time of the last change in nanoseconds since 1970.
fn nanos(found: &Metadata) -> u128 {
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    since.unwrap_or_default().as_nanos()
}

/// Options for files that others may write to meanwhile: a mapped one that is cut would end the server.
pub(crate) fn options(state: &State) -> OpenOptions {
    let mut options = state.options.open.clone();
    options.limits = state.limits_of_a_file();
    options.access = Access::Positioned;
    options
}

/// The file of an entry, opened where it is not, or has changed. Others that ask for it meanwhile wait.
///
/// # Errors
/// Those of the format; `Io` where the file is gone, or a link leads out of its folder; `Cancelled` where the client has left while it waited.
pub(crate) fn open(state: &State, entry: &Entry, number: usize, flag: &Flag) -> Result<Arc<Opened>> {
    let path = entry.resolved()?;
    let stamp = stamp(&path)?;
    let opened = match entry.take(|opened| opened.stamp == stamp, flag)? {
        Some(opened) => opened,
        None => {
            let mut opening = Opening(Some(entry));
            // Answers do not show where on this machine a file is.
            let file = holdall::open_with(&path, Accept::ContainersAndArrays, &options(state))
                .map_err(|error| error.without_file(&shown(&path)))?;
            let entities = Entities::new(file.container.as_ref());
            let opened = Arc::new(Opened { file, entities, stamp });
            opening.end(Arc::clone(&opened));
            opened
        }
    };
    state.files.used(number);
    Ok(opened)
}

/// An opening, which ends for those who wait also where it fails or panics.
struct Opening<'e>(Option<&'e Entry>);

impl Opening<'_> {
    fn end(&mut self, opened: Arc<Opened>) {
        if let Some(entry) = self.0.take() {
            entry.put(Some(opened));
        }
    }
}

impl Drop for Opening<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.0.take() {
            entry.put(None);
        }
    }
}
