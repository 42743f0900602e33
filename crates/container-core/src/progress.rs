//! Telling how far a long operation is, and stopping it.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::{Error, Result};

/// A callback that receives `(done, total)` in bytes and may ask to stop. Shared by threads.
#[derive(Clone, Copy)]
pub struct Progress<'a>(&'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync));

impl<'a> Progress<'a> {
    /// Calls `tick` now and then.
    #[must_use]
    pub const fn new(tick: &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync)) -> Self {
        Self(tick)
    }

    /// A progress callback that does nothing.
    #[must_use]
    pub fn none() -> Self {
        Self(&|_, _| ControlFlow::Continue(()))
    }

    /// Reports `done` of `total` bytes.
    ///
    /// # Errors
    /// `Cancelled` when the callback breaks.
    pub fn tick(&self, done: u64, total: u64) -> Result<()> {
        match (self.0)(done, total) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err(Error::cancelled()),
        }
    }
}

/// A request to stop a running operation, made from another thread or a signal handler by setting a flag. Loops over data check it between
/// two blocks, and within long ones.
///
/// ```
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use container_core::Stop;
///
/// static ASKED: AtomicBool = AtomicBool::new(false);
/// let stop = Stop::when(&ASKED);
/// assert!(stop.check().is_ok());
/// ASKED.store(true, Ordering::Relaxed);
/// assert!(stop.check().is_err() && Stop::never().check().is_ok());
/// ```
#[derive(Clone, Copy, Debug, Default)]
pub struct Stop(Option<&'static AtomicBool>);

impl Stop {
    /// No request, ever.
    #[must_use]
    pub const fn never() -> Self {
        Self(None)
    }

    /// A request once `flag` is true. The flag lives as long as the program, so that options stay plain values: a static, or one that is
    /// leaked once and used again.
    #[must_use]
    pub const fn when(flag: &'static AtomicBool) -> Self {
        Self(Some(flag))
    }

    /// This request, or else `other`.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        if self.0.is_some() { self } else { other }
    }

    /// Passes until there is a request.
    ///
    /// # Errors
    /// `Cancelled` from then on.
    #[inline]
    pub fn check(self) -> Result<()> {
        match self.0 {
            Some(flag) if flag.load(Ordering::Relaxed) => Err(Error::cancelled()),
            _ => Ok(()),
        }
    }
}

impl PartialEq for Stop {
    /// True for the same flag.
    fn eq(&self, other: &Self) -> bool {
        match (self.0, other.0) {
            (None, None) => true,
            (Some(a), Some(b)) => std::ptr::eq(a, b),
            _ => false,
        }
    }
}

impl Eq for Stop {}
