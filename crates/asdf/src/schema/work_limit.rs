//! Limit on the work of one validation.

use container_core::{Error, Result};

/// Number of steps that are left.
#[derive(Clone, Copy, Debug)]
pub(super) struct WorkLimit {
    allowed: u64,
    left: u64,
}

impl WorkLimit {
    pub(super) const fn new(allowed: u64) -> Self {
        Self { allowed, left: allowed }
    }

    /// Takes `steps`: one for each check of a value, one for each item visited.
    pub(super) fn spend(&mut self, steps: u64) -> Result<()> {
        match self.left.checked_sub(steps) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Error::limit("steps of validation", self.allowed.saturating_add(1), self.allowed)
                .with_hint(
                    "a schema or tree that multiplies itself is refused; for a large tree allow more steps",
                )),
        }
    }
}
