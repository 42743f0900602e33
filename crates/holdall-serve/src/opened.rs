//! Open files, which are opened anew when they have changed.

use std::path::Path;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use container_core::Result;
use container_core::container::{Container, OpenOptions};
use container_core::source::Access;
use holdall::address::is_url;
use holdall::{Accept, OpenFile};

use crate::files::Entry;
use crate::h5grove::Entities;
use crate::server::State;

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

/// Length and time of the last change of a file; of one at a URL nothing, since it stays what it was or fails.
pub(crate) fn stamp(path: &Path) -> Result<String> {
    if is_url(path) {
        return Ok(String::new());
    }
    let found = path.metadata()?;
    let changed =
        found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok()).unwrap_or_default();
    Ok(format!("{}-{}", found.len(), changed.as_nanos()))
}

/// Options for files that others may write to meanwhile: a mapped one that is cut would end the server.
pub(crate) fn options(state: &State) -> OpenOptions {
    let mut options = state.options.open.clone();
    options.limits = state.limits();
    options.access = Access::Positioned;
    options
}

/// The file of an entry, opened where it is not, or has changed. Others that ask for it meanwhile wait.
///
/// # Errors
/// Those of the format; `Io` where the file is gone, or a link leads out of its folder.
pub(crate) fn open(state: &State, entry: &Entry, number: usize) -> Result<Arc<Opened>> {
    let path = entry.resolved()?;
    let stamp = stamp(&path)?;
    let opened = {
        let mut slot = entry.slot();
        match slot.as_ref().filter(|opened| opened.stamp == stamp) {
            Some(opened) => Arc::clone(opened),
            None => {
                *slot = None;
                let file = holdall::open_with(&path, Accept::ContainersAndArrays, &options(state))?;
                let entities = Entities::new(file.container.as_ref());
                let opened = Arc::new(Opened { file, entities, stamp });
                *slot = Some(Arc::clone(&opened));
                opened
            }
        }
    };
    state.files.used(number);
    Ok(opened)
}
