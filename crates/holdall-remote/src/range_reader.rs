//! Objects that a program reads by its own means.

use container_core::Result;

use crate::store::{Failure, Opened, Pin, Store};

/// Reads ranges of one object by means of the program: a client library, a file object of Python.
pub trait RangeReader: Send + Sync {
    /// Length of the object in bytes.
    fn len(&self) -> u64;

    /// Whether the object is empty.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `dst` with the bytes from `at` on, which are within the object. Called from several threads at a time, up to
    /// [`RemoteOptions::max_in_flight`](crate::RemoteOptions::max_in_flight).
    ///
    /// # Errors
    /// Those of the program; they are not retried.
    fn read_range(&self, at: u64, dst: &mut [u8]) -> Result<()>;
}

impl Store for Box<dyn RangeReader> {
    fn head(&self, len: u64) -> Result<Opened, Failure> {
        let pin = Pin { len: self.as_ref().len(), ..Pin::default() };
        let mut head = vec![0; usize::try_from(len.min(pin.len)).unwrap_or(usize::MAX)];
        if !head.is_empty() {
            self.read_range(0, &mut head).map_err(Failure::fatal)?;
        }
        Ok(Opened { head, pin })
    }

    fn fetch(&self, at: u64, dst: &mut [u8], _: &Pin) -> Result<(), Failure> {
        self.read_range(at, dst).map_err(Failure::fatal)
    }
}
