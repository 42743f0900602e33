//! Sequences, written into a slice that may be too short for them.

use super::MIN_MATCH;
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

    /// Bytes written.
    pub(super) fn len(&self) -> usize {
        self.at
    }

    /// Writes the literals from `from` to `to` of the text, and a match of `len` bytes, 4 at least. `None` when they do not
    /// fit.
    #[inline(always)]
    pub(super) fn sequence(
        &mut self,
        text: Input<'_>,
        from: usize,
        to: usize,
        offset: u16,
        len: usize,
    ) -> Option<()> {
        let (literals, extra) = (to - from, len - MIN_MATCH);
        // One byte for the token, two for the offset, one for each length, and one for the token that must follow.
        let need = 6 + literals + literals / 255 + extra / 255;
        if need > self.dst.len() - self.at {
            return None;
        }
        let token = self.at;
        self.at += 1;
        if literals < 15 {
            self.dst[token] = byte((literals << 4) | extra.min(15));
        } else {
            self.dst[token] = byte(0xf0 | extra.min(15));
            self.length(literals - 15);
        }
        text.copy(from, to, self.dst, self.at);
        self.at += literals;
        self.dst[self.at..self.at + 2].copy_from_slice(&offset.to_le_bytes());
        self.at += 2;
        if extra >= 15 {
            self.length(extra - 15);
        }
        Some(())
    }

    /// Writes the last sequence, of literals alone. `None` when they do not fit.
    pub(super) fn last(&mut self, literals: &[u8]) -> Option<()> {
        let mut need = 1 + literals.len();
        if literals.len() >= 15 {
            need += 1 + (literals.len() - 15) / 255;
        }
        if need > self.dst.len() - self.at {
            return None;
        }
        let high = literals.len().min(15);
        self.dst[self.at] = byte(high << 4);
        self.at += 1;
        if high == 15 {
            self.length(literals.len() - 15);
        }
        self.dst[self.at..self.at + literals.len()].copy_from_slice(literals);
        self.at += literals.len();
        Some(())
    }

    #[inline]
    fn length(&mut self, rest: usize) {
        let mut rest = rest;
        while rest >= 255 {
            self.dst[self.at] = 255;
            self.at += 1;
            rest -= 255;
        }
        self.dst[self.at] = byte(rest);
        self.at += 1;
    }
}

/// Returns the low eight bits, which are all there is.
#[expect(clippy::cast_possible_truncation, reason = "callers give less than 256")]
fn byte(value: usize) -> u8 {
    value as u8
}
