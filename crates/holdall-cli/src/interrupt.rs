//! Ctrl-C and SIGTERM where something would be left behind: a directory is written under another name until it is whole, and only the process
//! that makes it can take that away. Files have no name before they are whole, so other verbs end at once.

#[cfg(unix)]
pub use signals::{asked, end, stop_at_ticks};

#[cfg(unix)]
mod signals {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, LazyLock};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    static ASKED: LazyLock<Arc<AtomicBool>> = LazyLock::new(Arc::default);
    static SIGNAL: LazyLock<Arc<AtomicUsize>> = LazyLock::new(Arc::default);

    /// From now on the first such signal stops the operation at the next tick of its meter; the second one ends the process.
    pub fn stop_at_ticks() {
        for (signal, number) in [(SIGINT, SIGINT as usize), (SIGTERM, SIGTERM as usize)] {
            // In this order: the first one finds the flag down. Where one cannot be had, it ends the process as ever.
            let taken = flag::register_usize(signal, Arc::clone(&SIGNAL), number)
                .and_then(|_| flag::register_conditional_default(signal, Arc::clone(&ASKED)))
                .and_then(|_| flag::register(signal, Arc::clone(&ASKED)));
            drop(taken);
        }
    }

    /// True once there was one.
    pub fn asked() -> bool {
        ASKED.load(Ordering::Relaxed)
    }

    /// Ends the process as the signal would have, so that a shell sees what became of it.
    pub fn end() {
        if let Ok(signal) = i32::try_from(SIGNAL.load(Ordering::Relaxed)) {
            // It returns where there was none.
            drop(low_level::emulate_default_handler(signal));
        }
    }
}

#[cfg(not(unix))]
pub fn stop_at_ticks() {}

#[cfg(not(unix))]
pub fn asked() -> bool {
    false
}

#[cfg(not(unix))]
pub fn end() {}
