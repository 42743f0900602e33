//! Work on many files: finds them, handles several at a time, and reports in the order in which they were named.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Condvar, Mutex, PoisonError, RwLock, mpsc};

use container_core::Limits;
use container_core::container::OpenOptions;
use holdall::address::Address;
use holdall::folder::{Found, containers, is_plain_folder, is_sparse_frame};
use holdall::open::is_stream;

use crate::errors::{Failure, Result};
use crate::output::{Console, to_stderr};
use crate::progress::{ProgressReporter, ShowProgress};

/// A file to work on, a folder that cannot be listed, or a file that cannot be read.
#[derive(Debug)]
pub struct Named {
    /// The path as the user gave it.
    pub path: PathBuf,
    /// Why the folder cannot be listed, or the file not be read.
    pub unreadable: Option<Failure>,
}

/// Work on one file.
pub trait OneFile: Sync {
    /// The path of the file.
    fn path(&self) -> &Path;
}

impl OneFile for Named {
    fn path(&self) -> &Path {
        &self.path
    }
}

impl From<Found> for Named {
    fn from(found: Found) -> Self {
        match found {
            Found::Container(path) => Self { path, unreadable: None },
            Found::Unreadable(path, error) => {
                let subject = Some(holdall::address::shown(&path));
                Self { path, unreadable: Some(Failure { subject, error }) }
            }
        }
    }
}

/// The files that arguments name: for a folder those below it, and itself where it is a container; for a pattern or a folder in a bucket those that fit. A
/// folder without any stays, and opening it gives the error.
pub fn expand(named: &[PathBuf], options: &OpenOptions) -> Vec<Named> {
    let formats = options.formats;
    let mut files = Vec::with_capacity(named.len());
    for path in named {
        if let Some(listed) = list(path, options) {
            files.extend(listed);
            continue;
        }
        let is_plain = is_plain_folder(path, formats);
        // Below other containers are their parts.
        let below = match is_plain || is_sparse_frame(path) {
            true => containers(path, formats),
            false => Vec::new(),
        };
        if !is_plain || below.is_empty() {
            files.push(Named { path: path.clone(), unreadable: None });
        }
        files.extend(below.into_iter().map(Named::from));
    }
    files
}

/// The files that the address of a pattern or a folder in a bucket names; `None` for other addresses.
pub fn list(address: &Path, options: &OpenOptions) -> Option<Vec<Named>> {
    let extensions: Vec<&str> =
        holdall::formats::containers(options.formats).flat_map(|format| format.extensions).copied().collect();
    let listed = options.addresses.as_ref()?.list(address, &extensions, &options.limits)?;
    Some(match listed {
        Ok(paths) => paths.into_iter().map(|path| Named { path, unreadable: None }).collect(),
        Err(error) => vec![Named::from(Found::Unreadable(address.to_owned(), error))],
    })
}

/// An address that arguments name, or a file below a folder that they name.
#[derive(Debug)]
pub struct NamedAddress {
    /// The address.
    pub address: Address,
    /// Why the folder cannot be listed, or the file not be read.
    pub unreadable: Option<Failure>,
}

impl OneFile for NamedAddress {
    fn path(&self) -> &Path {
        &self.address.file
    }
}

/// Addresses to work on in turn.
pub struct NamedAddresses {
    /// One after the other.
    pub all: Vec<NamedAddress>,
    /// True where arguments name several files, or a folder, whatever is below it: then the output names the file.
    pub are_several: bool,
}

/// Treatment of a folder that an argument names without a dataset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folders {
    /// The files below it are meant, as [`expand`] finds them.
    Searched,
    /// It is opened itself: a container that is a directory, or an error.
    Opened,
}

/// The addresses of the arguments, those of a pattern in a bucket once for each file that fits.
pub fn expand_all(named: &[OsString], options: &OpenOptions, folders: Folders) -> NamedAddresses {
    let mut are_several = named.len() > 1;
    let mut addresses = Vec::with_capacity(named.len());
    for typed in named {
        let address = Address::parse_os(typed);
        let files = match list(&address.file, options) {
            Some(listed) => listed,
            None if folders == Folders::Opened
                || address.dataset.is_some()
                || address.selection.is_some() =>
            {
                addresses.push(NamedAddress { address, unreadable: None });
                continue;
            }
            None => expand(std::slice::from_ref(&address.file), options),
        };
        are_several |= !matches!(&files[..], [Named { path, unreadable: None }] if *path == address.file);
        addresses.extend(files.into_iter().map(|Named { path, unreadable }| NamedAddress {
            address: Address { file: path, ..address.clone() },
            unreadable,
        }));
    }
    NamedAddresses { all: addresses, are_several }
}

/// Runs `show` on each address in turn, with whether there are several. Of several, one without an answer does not hide the others.
///
/// # Errors
/// Those of writing, and that of a single address.
pub fn each_address(
    addresses: NamedAddresses,
    console: &mut Console,
    mut show: impl FnMut(&Address, bool, &mut Console) -> Result<()>,
) -> Result<()> {
    let NamedAddresses { all, are_several } = addresses;
    let mut before: Option<PathBuf> = None;
    for NamedAddress { address, unreadable } in all {
        let shown = match unreadable {
            Some(failure) => Err(failure),
            None => show(&address, are_several, console),
        };
        match shown {
            Err(failure) if failure.subject.is_some() && are_several => {
                console.fail(&failure.after_file(before.as_deref(), &address.file));
            }
            other => other?,
        }
        before = Some(address.file);
    }
    Ok(())
}

/// Most files whose results wait for that of a file before them, which may come from a slow server.
const MAX_EARLY: usize = 1024;

/// Number of files that have been reported, for which workers wait.
#[derive(Default)]
struct Reported {
    count: Mutex<usize>,
    moved: Condvar,
}

impl Reported {
    fn set(&self, count: usize) {
        *self.count.lock().unwrap_or_else(PoisonError::into_inner) = count;
        self.moved.notify_all();
    }

    /// Waits until a file is near the next report.
    fn wait_for(&self, at: usize) {
        let count = self.count.lock().unwrap_or_else(PoisonError::into_inner);
        let is_far = |count: &mut usize| at >= count.saturating_add(MAX_EARLY);
        drop(self.moved.wait_while(count, is_far));
    }
}

/// Settings for the work on one file.
pub struct Share<'a> {
    /// Threads for this file.
    pub threads: usize,
    /// Its share of the memory, or all of it.
    pub limits: Limits,
    /// Progress of this file.
    pub meter: &'a ProgressReporter,
}

/// Runs `look` on each file, several at a time, and reports on them in order. Each has its share of the memory; one for which that was too
/// little is run again alone, with all of it.
///
/// Each worker takes the next file, under a read lock; a rerun takes the write lock, and so waits for the others. Results arrive in any order and
/// wait in `early` until their turn; a worker that is [`MAX_EARLY`] files ahead of the next report waits, too. Without threads, files are handled one after the other, with all of the memory.
///
/// # Errors
/// Those of the reports; the others are not made then.
pub fn in_order<'f, F: OneFile, T: Send>(
    files: &'f [F],
    jobs: usize,
    limits: Limits,
    look: impl Fn(&'f F, &Share<'_>) -> T + Sync,
    is_short: impl Fn(&T) -> bool + Sync,
    mut report: impl FnMut(T) -> Result<()>,
) -> Result<()> {
    // Standard input can be read only once, and a file that is run again needs it again.
    let streams = files.iter().any(|file| is_stream(file.path()));
    let workers = if streams { 1 } else { jobs.min(files.len()) };
    let threads = (jobs / workers.max(1)).max(1);
    let one = |file: &'f F, limits, meter: &ProgressReporter| look(file, &Share { threads, limits, meter });
    let share = limits.with_memory(limits.memory / workers.max(1) as u64);
    let (next, alone, reported) = (AtomicUsize::new(0), RwLock::new(()), Reported::default());
    let quiet = ProgressReporter::new("", ShowProgress::Never);
    let (sender, receiver) = mpsc::channel::<(usize, T)>();
    let work = |sender: mpsc::Sender<(usize, T)>| {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(file) = files.get(at) else { return };
            reported.wait_for(at);
            let shared = alone.read();
            let mut seen = one(file, share, &quiet);
            drop(shared);
            if is_short(&seen) {
                let _alone = alone.write();
                seen = one(file, limits, &quiet);
            }
            if sender.send((at, seen)).is_err() {
                return;
            }
        }
    };
    if workers > 1 {
        let all_told = std::thread::scope(|scope| {
            let work = &work;
            let spawn = |sender| std::thread::Builder::new().spawn_scoped(scope, move || work(sender));
            // Fewer threads do as well.
            let running = (0..workers).filter(|_| spawn(sender.clone()).is_ok()).count();
            drop(sender);
            if running == 0 {
                return Ok(false);
            }
            let meter =
                ProgressReporter::counting(format!("{} files", files.len()), ShowProgress::OnTerminal);
            let (mut early, mut due) = (BTreeMap::new(), 0);
            for (count, (at, seen)) in receiver.iter().enumerate() {
                let _ = meter.tick(count as u64 + 1, files.len() as u64);
                early.insert(at, seen);
                while let Some(seen) = early.remove(&due) {
                    due += 1;
                    if let Err(failure) = report(seen) {
                        // The receiver is gone.
                        next.store(files.len(), Ordering::Relaxed);
                        quiet.cancel();
                        reported.set(usize::MAX);
                        return Err(failure);
                    }
                }
                reported.set(due);
            }
            Ok(true)
        })?;
        if all_told {
            return Ok(());
        }
    }
    for file in files {
        let meter = ProgressReporter::new(
            crate::output::printable(&holdall::address::shown(file.path())),
            ShowProgress::OnTerminal,
        );
        report(one(file, limits, &meter))?;
    }
    Ok(())
}

/// A last line for people, on standard error, for more than one file: the number of files by result.
pub fn summary(files: usize, counts: &[(&str, usize)]) {
    if files < 2 {
        return;
    }
    let counts = counts.iter().filter(|(_, count)| *count > 0);
    let counts: Vec<String> = counts.map(|(what, count)| format!("{count} {what}")).collect();
    to_stderr(&format!("{files} files: {}", counts.join(", ")));
}

#[cfg(test)]
#[allow(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::arithmetic_side_effects)]
mod tests;
