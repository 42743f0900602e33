//! Lost pages of mapped files (SIGBUS): another process has cut the file, or its disk fails.

use std::sync::atomic::{AtomicBool, Ordering};

use crate::errors::Outcome;

const MESSAGE: &[u8] = b"holdall: a file became shorter while it was read, or its disk failed (SIGBUS)\n  \
    try: again when no other process writes to it\n";

/// Set by the thread that reports the error: several may access lost pages at once.
static IS_TOLD: AtomicBool = AtomicBool::new(false);

/// Installs a handler that ends the command with an error and its exit code, instead of a signal, when a mapped page is lost.
///
/// Files are unnamed until they are complete, so no partial file remains. Where a folder is made, files are read by position
/// ([`Access::Positioned`](container_core::source::Access::Positioned)), which gives an error that can be handled.
///
/// The handler of the standard library, which `signal-hook` would call first, removes itself at such a signal: a second thread at a lost page
/// would then end the process. So this one replaces it.
#[expect(unsafe_code, reason = "the one signal handler of the command")]
pub fn end_on_lost_pages() {
    // SAFETY: all bytes 0 are a valid sigaction, whose mask is then made empty and whose handler is a function of the type that is called without
    // SA_SIGINFO. The handler makes two system calls, write and _exit, that POSIX allows in one; it takes no lock, does not allocate and does not
    // return, so no state that it interrupts is seen again.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        let handler: extern "C" fn(libc::c_int) = handle;
        action.sa_sigaction = handler as libc::sighandler_t;
        libc::sigemptyset(&raw mut action.sa_mask);
        // Where this fails the signal ends the process, as ever.
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut());
    }
}

#[expect(unsafe_code, reason = "_exit takes any number")]
extern "C" fn handle(_signal: libc::c_int) {
    while IS_TOLD.swap(true, Ordering::Relaxed) {
        // The first thread ends the process.
        std::hint::spin_loop();
    }
    // A failed message does not change the exit.
    let _ = rustix::io::write(rustix::stdio::stderr(), MESSAGE);
    // SAFETY: it ends the process without running any of its code.
    unsafe { libc::_exit(Outcome::CouldNot.code().into()) }
}
