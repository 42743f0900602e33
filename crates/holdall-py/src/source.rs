//! Bytes of a Python object, by a function that reads ranges.

use holdall::remote::RangeReader;
use holdall::{Error, Result};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// A function `(start, stop) -> bytes` of a known length. The interpreter's lock is taken for each range that is asked for, and for nothing else.
pub(crate) struct Ranges {
    read: Py<PyAny>,
    len: u64,
}

impl Ranges {
    pub(crate) const fn new(read: Py<PyAny>, len: u64) -> Self {
        Self { read, len }
    }
}

impl RangeReader for Ranges {
    fn len(&self) -> u64 {
        self.len
    }

    /// Asks Python. Its exception is the cause of the error's text.
    fn read_range(&self, start: u64, dst: &mut [u8]) -> Result<()> {
        let stop = start.saturating_add(dst.len() as u64);
        let got = Python::attach(|py| -> PyResult<usize> {
            let got = self.read.bind(py).call1((start, stop))?;
            let bytes = got
                .cast::<PyBytes>()
                .map_err(|_| PyTypeError::new_err("read() did not return bytes"))?
                .as_bytes();
            if bytes.len() == dst.len() {
                dst.copy_from_slice(bytes);
            }
            Ok(bytes.len())
        });
        match got {
            Ok(len) if len == dst.len() => Ok(()),
            Ok(len) => {
                let text = format!("the file object returned {len} bytes (expected {})", dst.len());
                Err(Error::from(std::io::Error::other(text)).with_range(start..stop))
            }
            // Ctrl-C while Python read.
            Err(raised) if Python::attach(|py| raised.is_instance_of::<PyKeyboardInterrupt>(py)) => {
                Err(Error::cancelled())
            }
            Err(raised) => {
                let text = format!("the file object raised {raised}");
                Err(Error::from(std::io::Error::other(text)).with_range(start..stop))
            }
        }
    }
}
