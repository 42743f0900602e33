//! A progress bar on a terminal, for operations of more than half a second.

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use container_core::Progress;
use indicatif::{ProgressBar, ProgressStyle};

use crate::interrupt;

/// Receives the progress of an operation; shows it where a person waits for it.
pub struct ProgressReporter {
    what: String,
    unit: Unit,
    started: Instant,
    shown: ShowProgress,
    bar: OnceLock<ProgressBar>,
    cancelled: AtomicBool,
}

/// Unit of the progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    Bytes,
    Things,
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

    fn with_unit(what: String, unit: Unit, shown: ShowProgress) -> Self {
        let shown = if std::io::stderr().is_terminal() { shown } else { ShowProgress::Never };
        Self {
            what,
            unit,
            started: Instant::now(),
            shown,
            bar: OnceLock::new(),
            cancelled: AtomicBool::new(false),
        }
    }

    /// Takes note of `done` of `total`.
    pub fn tick(&self, done: u64, total: u64) -> ControlFlow<()> {
        if self.cancelled.load(Ordering::Relaxed) || interrupt::asked() {
            return ControlFlow::Break(());
        }
        if self.shown == ShowProgress::OnTerminal && self.started.elapsed() >= Self::PATIENCE {
            let bar = self.bar.get_or_init(|| self.make_bar(total));
            bar.set_length(total);
            bar.set_position(done);
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

    fn make_bar(&self, total: u64) -> ProgressBar {
        let bar =
            ProgressBar::new(total).with_message(self.what.clone()).with_elapsed(self.started.elapsed());
        let template = match self.unit {
            Unit::Bytes => {
                "{msg} {wide_bar} {binary_bytes}/{binary_total_bytes} {binary_bytes_per_sec} {eta}"
            }
            Unit::Things => "{msg} {wide_bar} {pos}/{len} {per_sec} {eta}",
        };
        // The template is a constant; were it wrong, the plain bar would do.
        bar.with_style(
            ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
        )
    }
}

impl Drop for ProgressReporter {
    fn drop(&mut self) {
        self.clear();
    }
}
