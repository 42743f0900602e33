//! Operations, written into a slice that may be too short for them.

use super::{FAR, MAX_RUN};

/// What is written so far.
#[derive(Debug)]
pub(super) struct Output<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, at: 0 }
    }

    /// Marks the first run and gives the number of bytes written.
    pub(super) fn finish(self) -> usize {
        if let Some(first) = self.dst.first_mut() {
            *first |= 32;
        }
        self.at
    }

    /// Runs of literals. `None` when they do not fit.
    pub(super) fn literals(&mut self, literals: &[u8]) -> Option<()> {
        if literals.len() + literals.len().div_ceil(MAX_RUN) > self.dst.len() - self.at {
            return None;
        }
        for run in literals.chunks(MAX_RUN) {
            self.push(run.len() - 1);
            self.dst[self.at..self.at + run.len()].copy_from_slice(run);
            self.at += run.len();
        }
        Some(())
    }

    /// A match of `len` bytes, 3 at least, up to [`super::MAX_DISTANCE`] back. `None` when it does not fit.
    pub(super) fn copy(&mut self, len: usize, distance: usize) -> Option<()> {
        // Control byte, length, near or far distance.
        if 5 + len / 255 > self.dst.len() - self.at {
            return None;
        }
        let near = distance < FAR;
        let high = if near { (distance - 1) >> 8 } else { 31 };
        if len < 9 {
            self.push(((len - 2) << 5) | high);
        } else {
            self.push((7 << 5) | high);
            let full = (len - 9) / 255;
            self.dst[self.at..self.at + full].fill(255);
            self.at += full;
            self.push((len - 9) % 255);
        }
        if near {
            self.push((distance - 1) & 255);
        } else {
            self.push(255);
            self.push((distance - FAR) >> 8);
            self.push((distance - FAR) & 255);
        }
        Some(())
    }

    #[expect(clippy::cast_possible_truncation, reason = "callers give less than 256")]
    fn push(&mut self, byte: usize) {
        self.dst[self.at] = byte as u8;
        self.at += 1;
    }
}
