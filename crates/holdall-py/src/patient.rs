//! Work that Ctrl-C ends and whose progress is reported.
//!
//! The work runs on a thread of its own. The thread that called waits without the interpreter's lock, wakes every few milliseconds, lets
//! Python handle its signals and calls the caller's function for progress: both happen where Python expects them, and an exception of either
//! sets the flag that the work looks at.

use std::fs::File;
use std::io::Read as _;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, mpsc};
use std::time::Duration;

use container_core::format::{Format, Probe};
use holdall::open::sniff;
use holdall::{Accept, Progress, Stop};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;

/// Time between two looks at signals: a tenth of what a person takes for at once.
const BEAT: Duration = Duration::from_millis(20);

/// Longest wait for work that was told to stop, so that what it cleans up is gone when the exception arrives.
const GRACE: Duration = Duration::from_millis(60);

/// Bytes of files that are opened on the thread that calls: opening takes some milliseconds for each MiB at most (a tree of YAML). Another thread
/// costs 40 µs where cores are idle, and 130 to 600 µs were measured where they were busy.
const SMALL_FILE: u64 = 1 << 20;

/// The function of the caller for progress.
pub(crate) type Told<'a, 'py> = Option<&'a Bound<'py, PyAny>>;

/// Flags that no work uses. They are leaked, one for each call that ever ran beside others, because options that hold them are plain values.
static FLAGS: Mutex<Vec<&'static AtomicBool>> = Mutex::new(Vec::new());

/// A flag of [`FLAGS`] for as long as some work runs.
struct Flag(&'static AtomicBool);

impl Flag {
    fn take() -> Self {
        let free = FLAGS.lock().unwrap_or_else(PoisonError::into_inner).pop();
        Self(free.unwrap_or_else(|| Box::leak(Box::default())))
    }
}

impl Drop for Flag {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Relaxed);
        FLAGS.lock().unwrap_or_else(PoisonError::into_inner).push(self.0);
    }
}

/// Progress of the work, as its thread last reported it.
#[derive(Default)]
struct Beat {
    done: AtomicU64,
    total: AtomicU64,
}

/// Runs `work` as the module's text says, and gives what it returns. `told` is called with `(done, total)` where that has changed.
///
/// # Errors
/// What a signal handler or `told` raises; `RuntimeError` where the work panicked.
pub(crate) fn patiently<T: Send + 'static>(
    py: Python<'_>,
    told: Told<'_, '_>,
    work: impl FnOnce(Progress<'_>, Stop) -> T + Send + 'static,
) -> PyResult<T> {
    let beat = Arc::new(Beat::default());
    let flag = Flag::take();
    let asked = flag.0;
    let (send, mut receive) = mpsc::channel();
    let theirs = Arc::clone(&beat);
    std::thread::Builder::new().name("holdall".into()).spawn(move || {
        let flag = flag;
        let tick = |done, total| {
            theirs.done.store(done, Ordering::Relaxed);
            theirs.total.store(total, Ordering::Relaxed);
            if flag.0.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        // Nobody may be listening any more.
        let _ = send.send(work(Progress::new(&tick), Stop::when(flag.0)));
    })?;
    let mut last = (0, 0);
    let mut tell = || -> PyResult<()> {
        let now = (beat.done.load(Ordering::Relaxed), beat.total.load(Ordering::Relaxed));
        if let Some(told) = told.filter(|_| now != last) {
            last = now;
            told.call1(now)?;
        }
        Ok(())
    };
    loop {
        // A receiver is not shared between threads: it goes in and comes back.
        let (heard, back) = py.detach(move || (receive.recv_timeout(BEAT), receive));
        receive = back;
        let raised = match heard {
            Ok(result) => {
                tell()?;
                return Ok(result);
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => {
                return Err(PyRuntimeError::new_err("holdall: an internal error; please report it"));
            }
            Err(mpsc::RecvTimeoutError::Timeout) => py.check_signals().and_then(|()| tell()),
        };
        if let Err(raised) = raised {
            asked.store(true, Ordering::Relaxed);
            py.detach(move || drop(receive.recv_timeout(GRACE)));
            return Err(raised);
        }
    }
}

/// Runs `work` as [`patiently`] does where it `is_long`, and else on this thread, without the interpreter's lock.
///
/// # Errors
/// As [`patiently`].
pub(crate) fn patiently_if<T: Send + 'static>(
    py: Python<'_>,
    is_long: bool,
    work: impl FnOnce(Stop) -> T + Send + 'static,
) -> PyResult<T> {
    if is_long {
        patiently(py, None, move |_, stop| work(stop))
    } else {
        Ok(py.detach(|| work(Stop::never())))
    }
}

/// Opens the file at `path` by `open`: on this thread where it is small or has all in its head, and else as [`patiently`] does.
///
/// # Errors
/// As [`patiently`].
pub(crate) fn opening<T: Send + 'static>(
    py: Python<'_>,
    path: &Path,
    open: impl FnOnce() -> T + Send + 'static,
) -> PyResult<T> {
    let is_short = std::fs::metadata(path)
        .is_ok_and(|meta| meta.is_file() && (meta.len() < SMALL_FILE || opens_by_head(path, meta.len())));
    patiently_if(py, !is_short, move |_| open())
}

/// True for a file of a format that needs no more than its head to be opened.
fn opens_by_head(path: &Path, len: u64) -> bool {
    let mut head = Vec::new();
    let read = File::open(path).and_then(|file| file.take(Probe::LEN as u64).read_to_end(&mut head));
    let probe = Probe { head: &head, directory: None, len: Some(len) };
    read.is_ok()
        && sniff(&probe, Accept::ContainersAndArrays, &[]).is_ok_and(|format: &Format| format.opens_by_head)
}
