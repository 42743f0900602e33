//! The list of files that a server shows, made at its start.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use container_core::{Error, Result};
use holdall::address::{file_name, is_url, shown};
use holdall::folder::is_sparse_frame;

use crate::job::{Flag, MAX_WAIT};
use crate::named_file::{MAX_FILES, NamedFile};
use crate::opened::Opened;

/// Files that stay open.
pub(crate) const MAX_OPEN: usize = 8;

/// Time between two looks whether a client that waits for an opening is still there.
const BEAT: Duration = Duration::from_millis(100);

/// An entry of the list.
pub(crate) struct Entry {
    /// Its name in the list, which no other has.
    pub(crate) name: String,
    /// Its path or URL.
    pub(crate) path: PathBuf,
    /// The folder that it may not leave; `None` for a URL, and for what was not there at the start.
    root: Option<PathBuf>,
    slot: Mutex<Slot>,
    /// Notified when an opening ends.
    opened: Condvar,
}

/// State of the open file of an entry.
#[derive(Default)]
pub(crate) enum Slot {
    /// It is not open.
    #[default]
    Closed,
    /// A reader opens it.
    Opening,
    /// It is open.
    Open(Arc<Opened>),
}

impl Entry {
    fn new(file: NamedFile, name: String) -> Self {
        let NamedFile { argument, path } = file;
        let is_here = !is_url(&path);
        let resolved = is_here.then(|| argument.canonicalize().ok()).flatten();
        // Links below a folder stay in it; a file that was named itself stays in its own folder.
        let root = match resolved {
            Some(folder) if path != argument || is_sparse_frame(&folder) => Some(folder),
            Some(file) => file.parent().map(Path::to_owned),
            None => None,
        };
        Self { name, path, root, slot: Mutex::default(), opened: Condvar::new() }
    }

    /// The place of the file now, with all links resolved.
    ///
    /// # Errors
    /// `Io` where it is gone, or a link leads out of its folder.
    pub(crate) fn resolved(&self) -> Result<PathBuf> {
        if is_url(&self.path) {
            return Ok(self.path.clone());
        }
        let resolved = self.path.canonicalize()?;
        if self.root.as_ref().is_some_and(|root| !resolved.starts_with(root)) {
            let error =
                std::io::Error::new(std::io::ErrorKind::PermissionDenied, "a link leads out of the folder");
            return Err(Error::from(error).with_hint("name the file itself to holdall serve"));
        }
        Ok(resolved)
    }

    /// Its name for commands and messages, without what may be secret.
    pub(crate) fn shown(&self) -> String {
        shown(&self.path)
    }

    /// The open file where `is_current`, or `None` for a caller that has to open it, and to call [`Entry::put`] whatever comes of it. Waits while another
    /// opens it.
    ///
    /// # Errors
    /// `Cancelled` where the client has left meanwhile; `Io` after a long wait.
    pub(crate) fn take(
        &self,
        is_current: impl Fn(&Opened) -> bool,
        flag: &Flag,
    ) -> Result<Option<Arc<Opened>>> {
        let start = Instant::now();
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match &*slot {
                Slot::Open(opened) if is_current(opened) => return Ok(Some(Arc::clone(opened))),
                Slot::Open(_) | Slot::Closed => {
                    let before = std::mem::replace(&mut *slot, Slot::Opening);
                    drop(slot);
                    drop(before);
                    return Ok(None);
                }
                Slot::Opening => {}
            }
            flag.stop().check()?;
            if start.elapsed() > MAX_WAIT {
                return Err(std::io::Error::new(
                    std::io::ErrorKind::TimedOut,
                    "the file is still being opened",
                )
                .into());
            }
            slot = self
                .opened
                .wait_timeout(slot, BEAT)
                .map_or_else(|error| error.into_inner().0, |(slot, _)| slot);
        }
    }

    /// Ends an opening, with the open file or without one.
    pub(crate) fn put(&self, opened: Option<Arc<Opened>>) {
        let next = opened.map_or(Slot::Closed, Slot::Open);
        let before = std::mem::replace(&mut *self.slot.lock().unwrap_or_else(PoisonError::into_inner), next);
        self.opened.notify_all();
        // Outside of the lock: to close a file may take a while.
        drop(before);
    }

    /// Closes the file, if it is open.
    fn close(&self) {
        let mut slot = self.slot.lock().unwrap_or_else(PoisonError::into_inner);
        let before = if matches!(*slot, Slot::Open(_)) { std::mem::take(&mut *slot) } else { Slot::Closed };
        drop(slot);
        drop(before);
    }
}

/// The list.
pub(crate) struct Files {
    pub(crate) entries: Vec<Entry>,
    /// Numbers of the entries that are open, the latest last.
    open: Mutex<Vec<usize>>,
}

impl Files {
    pub(crate) fn new(files: Vec<NamedFile>) -> Self {
        let mut taken = HashMap::new();
        let entries = files.into_iter().take(MAX_FILES).map(|file| {
            let name = free_name(&name_of(&file), &mut taken);
            Entry::new(file, name)
        });
        Self { entries: entries.collect(), open: Mutex::default() }
    }

    /// The number of the entry with a name.
    pub(crate) fn find(&self, name: &str) -> Option<usize> {
        self.entries.iter().position(|entry| entry.name == name)
    }

    /// Notes the use of an entry, and closes the one that was used least recently where too many are open.
    pub(crate) fn used(&self, number: usize) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|other| *other != number);
        open.push(number);
        let last = if open.len() > MAX_OPEN { Some(open.remove(0)) } else { None };
        drop(open);
        if let Some(entry) = last.and_then(|last| self.entries.get(last)) {
            // Reads that have it go on.
            entry.close();
        }
    }
}

/// The name of a file: within the folder that was named, or its own.
fn name_of(file: &NamedFile) -> String {
    let within = file.path.strip_prefix(&file.argument).ok().filter(|rest| !rest.as_os_str().is_empty());
    match within {
        Some(rest) => {
            rest.components().map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
        }
        None => file_name(&file.path)
            .map_or_else(|| shown(&file.path), |name| name.to_string_lossy().into_owned()),
    }
}

/// The name, with a number where another file has it. `taken` has the last number of each name.
fn free_name(name: &str, taken: &mut HashMap<String, u64>) -> String {
    let mut number = taken.get(name).copied().unwrap_or(0);
    let free = loop {
        number = number.saturating_add(1);
        let free = if number == 1 { name.to_owned() } else { format!("{name} ({number})") };
        if !taken.contains_key(&free) {
            break free;
        }
    };
    taken.insert(name.to_owned(), number);
    taken.entry(free.clone()).or_insert(1);
    free
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

    fn named(argument: &Path, path: &Path) -> NamedFile {
        NamedFile { argument: argument.to_owned(), path: path.to_owned() }
    }

    #[test]
    fn names_are_within_the_folder_and_of_one_file_each() {
        let files = [("d", "d/x/a.ra"), ("d", "d/b.ra"), ("e/b.ra", "e/b.ra"), ("f/b.ra", "f/b.ra")];
        let files = files.map(|(argument, path)| named(argument.as_ref(), path.as_ref()));
        let list = Files::new(files.into());
        let names: Vec<&str> = list.entries.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["x/a.ra", "b.ra", "b.ra (2)", "b.ra (3)"]);
        assert_eq!((list.find("b.ra (2)"), list.find("../b.ra")), (Some(2), None));
    }

    #[test]
    #[cfg(unix)]
    fn links_are_resolved_at_each_opening_and_may_not_lead_out() {
        let base = tempfile::tempdir().unwrap();
        let (folder, secret) = (base.path().join("d"), base.path().join("secret.ra"));
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(&secret, b"x").unwrap();
        std::fs::write(folder.join("a.ra"), b"x").unwrap();
        std::os::unix::fs::symlink(folder.join("a.ra"), folder.join("l.ra")).unwrap();
        let list =
            Files::new(vec![named(&folder, &folder.join("l.ra")), named(&folder, &folder.join("a.ra"))]);
        let link = list.entries.first().unwrap();
        assert_eq!(link.resolved().unwrap(), folder.join("a.ra").canonicalize().unwrap());
        std::fs::remove_file(folder.join("l.ra")).unwrap();
        std::os::unix::fs::symlink(&secret, folder.join("l.ra")).unwrap();
        let refused = link.resolved().unwrap_err();
        assert!(refused.to_string().contains("leads out"), "{refused}");
        std::fs::remove_file(folder.join("l.ra")).unwrap();
        assert!(link.resolved().is_err());
        // A file that was named by a link may be another one of that folder later.
        std::os::unix::fs::symlink(folder.join("a.ra"), base.path().join("latest.ra")).unwrap();
        let latest = base.path().join("latest.ra");
        assert!(Files::new(vec![named(&latest, &latest)]).entries.first().unwrap().resolved().is_ok());
    }
}
