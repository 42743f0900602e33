//! Operations, written into a slice that may be too short for them.

use super::{MAX_RUN, MIN_FAR_DISTANCE};
use crate::simd::lz::Input;

/// Output written so far.
#[derive(Debug)]
pub(super) struct Output<'a> {
    dst: &'a mut [u8],
    at: usize,
}

impl<'a> Output<'a> {
    pub(super) fn new(dst: &'a mut [u8]) -> Self {
        Self { dst, at: 0 }
    }

    /// Marks the first run and returns the number of bytes written.
    pub(super) fn finish(self) -> usize {
        if let Some(first) = self.dst.first_mut() {
            *first |= 32;
        }
        self.at
    }

    /// Writes the bytes from `from` to `to` of the text as runs of literals. `None` when they do not fit.
    #[inline(always)]
    pub(super) fn literals(&mut self, text: Input<'_>, from: usize, to: usize) -> Option<()> {
        if to - from + (to - from).div_ceil(MAX_RUN) > self.dst.len() - self.at {
            return None;
        }
        self.at = text.copy_runs(from, to, self.dst, self.at);
        Some(())
    }

    /// Writes a match of `len` bytes, 3 at least, up to [`super::MAX_DISTANCE`] back. `None` when it does not fit.
    #[inline(always)]
    pub(super) fn copy(&mut self, len: usize, distance: usize) -> Option<()> {
        let near = distance < MIN_FAR_DISTANCE;
        let more = if len < 9 { 0 } else { 1 + (len - 9) / 255 };
        if 2 + more + if near { 0 } else { 2 } > self.dst.len() - self.at {
            return None;
        }
        let high = if near { (distance - 1) >> 8 } else { 31 };
        if len < 9 && near {
            let both = self.dst[self.at..].first_chunk_mut().expect("two bytes are free");
            *both = [byte(((len - 2) << 5) | high), byte((distance - 1) & 255)];
            self.at += 2;
            return Some(());
        }
        if len < 9 {
            self.push(((len - 2) << 5) | high);
        } else {
            self.push((7 << 5) | high);
            let mut rest = len - 9;
            while rest >= 255 {
                self.push(255);
                rest -= 255;
            }
            self.push(rest);
        }
        if near {
            self.push((distance - 1) & 255);
        } else {
            self.push(255);
            self.push((distance - MIN_FAR_DISTANCE) >> 8);
            self.push((distance - MIN_FAR_DISTANCE) & 255);
        }
        Some(())
    }

    #[inline(always)]
    fn push(&mut self, value: usize) {
        self.dst[self.at] = byte(value);
        self.at += 1;
    }
}

/// Returns the low eight bits, which are all there is.
#[inline(always)]
#[expect(clippy::cast_possible_truncation, reason = "callers give less than 256")]
fn byte(value: usize) -> u8 {
    value as u8
}
