//! Telling how far a long operation is, and stopping it.

use std::ops::ControlFlow;

use crate::{Error, Result};

/// A callback that is told `(done, total)` in bytes and may ask to stop. Shared by threads.
#[derive(Clone, Copy)]
pub struct Progress<'a>(&'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync));

impl<'a> Progress<'a> {
    /// Calls `tick` now and then.
    #[must_use]
    pub const fn new(tick: &'a (dyn Fn(u64, u64) -> ControlFlow<()> + Sync)) -> Self {
        Self(tick)
    }

    /// Tells nobody.
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
