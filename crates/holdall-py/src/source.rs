//! Bytes of a Python object, by a function that reads ranges.

use std::sync::{Mutex, PoisonError};

use container_core::source::{Source, check_range};
use holdall::{Error, Result, Stop};
use pyo3::exceptions::{PyKeyboardInterrupt, PyTypeError};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

/// Bytes of a page: what a request to an object store costs in time is some hundred of these.
const PAGE: u64 = 64 << 10;

/// Most bytes of a request that may be ended between two of them.
const MAX_REQUEST: usize = 64 << 20;

/// Most pages that are kept: 16 MiB.
const MAX_PAGES: usize = 256;

/// A function `(start, stop) -> bytes` of a known length, with the pages that were read last. The interpreter's lock is taken for each
/// range that is asked for, and for nothing else.
pub(crate) struct Ranges {
    read: Py<PyAny>,
    len: u64,
    /// The one that was used last is the last.
    pages: Mutex<Vec<(u64, Vec<u8>)>>,
}

impl Ranges {
    pub(crate) const fn new(read: Py<PyAny>, len: u64) -> Self {
        Self { read, len, pages: Mutex::new(Vec::new()) }
    }

    /// Asks Python. Its exception is the cause of the error's text.
    fn fetch(&self, start: u64, dst: &mut [u8]) -> Result<()> {
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

    /// Copies what `page` has of the bytes from `at` on to `dst`, and says how many that were.
    fn copy_of(&self, page: u64, at: u64, dst: &mut [u8]) -> Result<usize> {
        let start = page * PAGE;
        let copy = |bytes: &[u8], dst: &mut [u8]| {
            let from = usize::try_from(at - start).unwrap_or(usize::MAX);
            let there = bytes.get(from..).unwrap_or_default();
            let count = there.len().min(dst.len());
            dst[..count].copy_from_slice(&there[..count]);
            count
        };
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = pages.iter().position(|(number, _)| *number == page) {
            let found = pages.remove(found);
            let count = copy(&found.1, dst);
            pages.push(found);
            return Ok(count);
        }
        drop(pages);
        let len = usize::try_from(PAGE.min(self.len - start)).unwrap_or(usize::MAX);
        let mut bytes = vec![0; len];
        self.fetch(start, &mut bytes)?;
        let count = copy(&bytes, dst);
        let mut pages = self.pages.lock().unwrap_or_else(PoisonError::into_inner);
        if pages.len() >= MAX_PAGES {
            pages.remove(0);
        }
        pages.push((page, bytes));
        Ok(count)
    }
}

impl Source for Ranges {
    fn len(&self) -> u64 {
        self.len
    }

    fn read_into(&self, mut at: u64, mut dst: &mut [u8]) -> Result<()> {
        check_range(&(at..at.saturating_add(dst.len() as u64)), self.len)?;
        // What is as large as a page passes once, and by itself.
        if dst.len() as u64 >= PAGE {
            return self.fetch(at, dst);
        }
        while !dst.is_empty() {
            let count = self.copy_of(at / PAGE, at, dst)?;
            if count == 0 {
                return Err(Error::truncated(at..at.saturating_add(dst.len() as u64), 0));
            }
            at += count as u64;
            dst = &mut dst[count..];
        }
        Ok(())
    }

    /// A request takes about as long for few bytes as for many: each is larger than a piece of a file.
    fn read_until(&self, mut at: u64, dst: &mut [u8], stop: Stop) -> Result<()> {
        for piece in dst.chunks_mut(MAX_REQUEST) {
            stop.check()?;
            self.read_into(at, piece)?;
            at += piece.len() as u64;
        }
        Ok(())
    }
}
