//! Handling of Ctrl-C, SIGTERM and SIGHUP while a directory is written: it has a temporary name until it is complete, and only this process can
//! remove it. Files are unnamed until they are complete, so other verbs end at once.

#[cfg(unix)]
mod lost_pages;

#[cfg(unix)]
pub use lost_pages::end_on_lost_pages;
#[cfg(unix)]
pub use signals::{asked, end, leave_to_pager, stop_at_ticks};

#[cfg(unix)]
mod signals {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

    /// Installs handlers: the first such signal stops the operation at the next tick of its meter; the second one ends the process.
    pub fn stop_at_ticks() {
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            if signal == SIGHUP && is_ignored(signal) {
                continue;
            }
            let number = usize::try_from(signal).unwrap_or_default();
            // In this order: the first one finds the flag down. Where one cannot be had, it ends the process as ever.
            let taken = flag::register_usize(signal, Arc::clone(&SIGNAL), number)
                .and_then(|_| flag::register_conditional_default(signal, Arc::clone(&ASKED)))
                .and_then(|_| flag::register(signal, Arc::clone(&ASKED)));
            drop(taken);
        }
    }

    /// Leaves Ctrl-C to the pager, which stops its own search by it: this process ends when the pager does.
    pub fn leave_to_pager() {
        drop(flag::register(SIGINT, Arc::default()));
    }

    /// True for a signal that the process was started to ignore, as by `nohup`, and where that cannot be determined.
    fn is_ignored(signal: i32) -> bool {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).unwrap_or(u64::MAX);
        mask >> (signal - 1) & 1 == 1
    }

    /// True once there was one.
    pub fn asked() -> bool {
        ASKED.load(Ordering::Relaxed)
    }

    /// Ends the process as the signal would have, so that a shell sees the signal.
    pub fn end() {
        if let Ok(signal) = i32::try_from(SIGNAL.load(Ordering::Relaxed)) {
            // It returns if no signal has arrived.
            drop(low_level::emulate_default_handler(signal));
        }
    }
}

#[cfg(not(unix))]
pub fn end_on_lost_pages() {}

#[cfg(not(unix))]
pub fn stop_at_ticks() {}

#[cfg(not(unix))]
pub fn leave_to_pager() {}

#[cfg(not(unix))]
pub fn asked() -> bool {
    false
}

#[cfg(not(unix))]
pub fn end() {}
