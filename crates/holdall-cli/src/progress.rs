//! A progress bar on a terminal, for operations of more than half a second.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use container_core::Progress;
use indicatif::{BinaryBytes, ProgressBar, ProgressState, ProgressStyle};

use crate::interrupt;

mod window;

use window::{Window, short_time};

/// Receives the progress of an operation; shows it where a person waits for it.
pub struct ProgressReporter {
    what: String,
    unit: Unit,
    started: Instant,
    shown: ShowProgress,
    window: Arc<Mutex<Window>>,
    bar: OnceLock<ProgressBar>,
    cancelled: AtomicBool,
}

/// Unit of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Things,
    /// Parts of phases that count different things.
    Share,
}

/// Permission to show a bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShowProgress {
    /// Permitted if standard error is a terminal.
    OnTerminal,
    /// Never: something else is written to the same terminal.
    Never,
}

impl ProgressReporter {
    /// Delay before the bar appears.
    const PATIENCE: Duration = Duration::from_millis(500);

    /// A meter for `what`, from now on, in bytes.
    pub fn new(what: impl Into<String>, shown: ShowProgress) -> Self {
        Self::with_unit(what.into(), Unit::Bytes, shown)
    }

    /// As [`ProgressReporter::new`], for a count of items.
    pub fn counting(what: impl Into<String>, shown: ShowProgress) -> Self {
        Self::with_unit(what.into(), Unit::Things, shown)
    }

    /// As [`ProgressReporter::new`], for an operation of phases that count different things, of which only the share is shown.
    pub fn of_phases(what: impl Into<String>, shown: ShowProgress) -> Self {
        Self::with_unit(what.into(), Unit::Share, shown)
    }

    fn with_unit(what: String, unit: Unit, shown: ShowProgress) -> Self {
        let shown = if std::io::stderr().is_terminal() { shown } else { ShowProgress::Never };
        let started = Instant::now();
        Self {
            what,
            unit,
            started,
            shown,
            window: Arc::new(Mutex::new(Window::new(started))),
            bar: OnceLock::new(),
            cancelled: AtomicBool::new(false),
        }
    }

    /// Takes note of `done` of `total`.
    pub fn tick(&self, done: u64, total: u64) -> ControlFlow<()> {
        if self.cancelled.load(Ordering::Relaxed) || interrupt::asked() {
            return ControlFlow::Break(());
        }
        if self.shown == ShowProgress::OnTerminal {
            let (now, mut window) = (Instant::now(), locked(&self.window));
            window.note(now, done, total);
            let (done, total) = (window.done(), window.total());
            // The bar takes the lock when it is drawn.
            drop(window);
            if now.duration_since(self.started) >= Self::PATIENCE {
                let bar = self.bar.get_or_init(|| self.make_bar());
                bar.update(|state| {
                    // Of an unknown amount no part is done.
                    state.set_len(total.unwrap_or(u64::MAX));
                    state.set_pos(done);
                });
            }
        }
        ControlFlow::Continue(())
    }

    /// Stops the operation at its next tick.
    pub fn cancel(&self) {
        self.cancelled.store(true, Ordering::Relaxed);
    }

    /// Runs an operation that reports to this meter, and removes the bar.
    pub fn watch<T>(&self, operation: impl FnOnce(Progress<'_>) -> T) -> T {
        let tick = |done, total| self.tick(done, total);
        let result = operation(Progress::new(&tick));
        self.clear();
        result
    }

    fn clear(&self) {
        if let Some(bar) = self.bar.get() {
            bar.finish_and_clear();
        }
    }

    fn make_bar(&self) -> ProgressBar {
        let bar = ProgressBar::new(0).with_message(self.what.clone());
        let (unit, counted) = (self.unit, Arc::clone(&self.window));
        let text = move |_: &ProgressState, out: &mut dyn std::fmt::Write| {
            let _ = out.write_str(&numbers(unit, &locked(&counted), Instant::now()));
        };
        // The template is a constant; were it wrong, the plain bar would do.
        let style = ProgressStyle::with_template("{msg} {wide_bar} {numbers}")
            .unwrap_or_else(|_| ProgressStyle::default_bar());
        let bar = bar.with_style(style.with_key("numbers", text));
        // A source that stalls is shown, too.
        bar.enable_steady_tick(Duration::from_millis(500));
        bar
    }
}

fn locked(window: &Mutex<Window>) -> MutexGuard<'_, Window> {
    window.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Text after the bar: `1.5 MiB/3.0 MiB 512.0 KiB/s eta 3s`.
fn numbers(unit: Unit, window: &Window, now: Instant) -> String {
    let count = |count: u64| match unit {
        Unit::Bytes => BinaryBytes(count).to_string(),
        Unit::Things | Unit::Share => count.to_string(),
    };
    let mut words = Vec::new();
    match (unit, window.total()) {
        (Unit::Share, None) => {}
        (Unit::Share, Some(total)) => {
            let percent = u128::from(window.done()) * 100 / u128::from(total.max(1));
            words.push(format!("{percent}%"));
        }
        (_, None) => words.push(count(window.done())),
        (_, Some(total)) => words.push(format!("{}/{}", count(window.done()), count(total))),
    }
    match (unit, window.rate(now)) {
        (Unit::Bytes, Some(rate)) => words.push(format!("{}/s", BinaryBytes(rate / 1000))),
        (Unit::Things, Some(rate)) => words.push(format!("{}.{}/s", rate / 1000, rate % 1000 / 100)),
        _ => {}
    }
    words.extend(window.eta(now).map(|left| format!("eta {}", short_time(left))));
    words.join(" ")
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.clear();
    }
}
