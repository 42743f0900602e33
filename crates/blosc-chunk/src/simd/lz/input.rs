//! Data that are searched for matches: reads of whole words with one comparison each, and copies that may overshoot.
#![allow(unsafe_code)]

/// Data of which whole words are read anywhere.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a> {
    /// Eight bytes at least.
    bytes: &'a [u8],
    /// Offset of the last eight bytes.
    last: usize,
}

impl<'a> Input<'a> {
    /// Creates an input; `None` for fewer than eight bytes.
    #[inline]
    pub(crate) fn new(bytes: &'a [u8]) -> Option<Self> {
        Some(Self { bytes, last: bytes.len().checked_sub(8)? })
    }

    /// Returns all of its bytes.
    #[inline]
    pub(crate) fn bytes(self) -> &'a [u8] {
        self.bytes
    }

    /// Returns eight bytes at `at`, the first in the low bits; `None` when there are fewer.
    #[inline]
    pub(crate) fn word(self, at: usize) -> Option<u64> {
        if at > self.last {
            return None;
        }
        // SAFETY: `at + 8 <= bytes.len()` by the line above.
        Some(u64::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u64>().read_unaligned() }))
    }

    /// Returns four bytes at `at`, the first in the low bits.
    ///
    /// # Panics
    /// When there are fewer than eight.
    #[inline]
    pub(crate) fn half(self, at: usize) -> u32 {
        assert!(at <= self.last, "eight bytes of the text");
        // SAFETY: `at + 8 <= bytes.len()` by the line above.
        u32::from_le(unsafe { self.bytes.as_ptr().add(at).cast::<u32>().read_unaligned() })
    }

    /// Counts the bytes from `later` on, and before `end`, that equal those from `earlier` on.
    ///
    /// # Panics
    /// Unless `earlier <= later <= end`, and `end` is in the text.
    #[inline(always)]
    pub(crate) fn common(self, earlier: usize, later: usize, end: usize) -> usize {
        assert!(earlier <= later && later <= end && end <= self.bytes.len(), "places of the text");
        let len = end - later;
        let mut same = 0;
        // Most are short, so that the first word comes before the wide steps.
        if len >= 8 {
            // SAFETY: `later + 8 <= end`, which is in the text, and `earlier` is not after `later`.
            let difference = unsafe { self.difference(earlier, later) };
            if difference != 0 {
                return (difference.trailing_zeros() / 8) as usize;
            }
            same = 8;
        }
        while same + 32 <= len {
            let at = self.bytes.as_ptr();
            // SAFETY: `later + same + 32 <= end`, which is in the text, and `earlier` is not after `later`.
            let equal = unsafe {
                at.add(earlier + same).cast::<[u8; 32]>().read()
                    == at.add(later + same).cast::<[u8; 32]>().read()
            };
            if !equal {
                break;
            }
            same += 32;
        }
        while same + 8 <= len {
            // SAFETY: `later + same + 8 <= end`, which is in the text, and `earlier` is not after `later`.
            let difference = unsafe { self.difference(earlier + same, later + same) };
            if difference != 0 {
                return same + (difference.trailing_zeros() / 8) as usize;
            }
            same += 8;
        }
        while same < len && self.bytes[earlier + same] == self.bytes[later + same] {
            same += 1;
        }
        same
    }

    /// Returns the differing bits of the eight bytes at `a` and at `b`, the first byte in the low bits.
    ///
    /// # Safety
    /// `a + 8` and `b + 8` are not over the length.
    #[inline(always)]
    unsafe fn difference(self, a: usize, b: usize) -> u64 {
        let at = self.bytes.as_ptr();
        // SAFETY: the caller's.
        let (a, b) =
            unsafe { (at.add(a).cast::<u64>().read_unaligned(), at.add(b).cast::<u64>().read_unaligned()) };
        u64::from_le(a ^ b)
    }

    /// Copies the bytes from `from` to `to` of the text to `at` of `dst`, where up to 15 bytes more may change.
    ///
    /// # Panics
    /// When they are not in the text, or do not fit.
    #[inline(always)]
    pub(crate) fn copy(self, from: usize, to: usize, dst: &mut [u8], at: usize) {
        assert!(from <= to && to <= self.bytes.len(), "places of the text");
        let len = to - from;
        if self.bytes.len() - to < 16 || dst.len() < 16 || at > dst.len() - 16 || len > dst.len() - 16 - at {
            dst[at..at + len].copy_from_slice(&self.bytes[from..to]);
            return;
        }
        let mut done = 0;
        while done < len {
            // SAFETY: `done < len`, and both sides have 16 bytes more than `len`; a text and a `&mut` do not overlap.
            unsafe {
                let part = self.bytes.as_ptr().add(from + done).cast::<[u8; 16]>().read();
                dst.as_mut_ptr().add(at + done).cast::<[u8; 16]>().write(part);
            }
            done += 16;
        }
    }

    /// Writes the bytes from `from` to `to` of the text to `at` of `dst` as runs of up to 32, each after a byte that is one less
    /// than its length, and returns the end of the last one. Up to 31 bytes more may change.
    ///
    /// # Panics
    /// When they are not in the text, or do not fit.
    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "runs are short")]
    pub(crate) fn copy_runs(self, from: usize, to: usize, dst: &mut [u8], at: usize) -> usize {
        const RUN: usize = 32;
        assert!(from <= to && to <= self.bytes.len(), "places of the text");
        let len = to - from;
        let end = at + len + len.div_ceil(RUN);
        assert!(at <= end && end <= dst.len(), "places of the output");
        if self.bytes.len() - to < RUN || dst.len() - end < RUN {
            let mut at = at;
            for run in self.bytes[from..to].chunks(RUN) {
                dst[at] = (run.len() - 1) as u8;
                dst[at + 1..=at + run.len()].copy_from_slice(run);
                at += 1 + run.len();
            }
            return end;
        }
        let (mut from, mut at) = (from, at);
        while from < to {
            let run = (to - from).min(RUN);
            // SAFETY: `from < to`, and there are 32 bytes more after `to` and after `end`; a text and a `&mut` do not
            // overlap.
            unsafe {
                *dst.as_mut_ptr().add(at) = (run - 1) as u8;
                let part = self.bytes.as_ptr().add(from).cast::<[u8; RUN]>().read();
                dst.as_mut_ptr().add(at + 1).cast::<[u8; RUN]>().write(part);
            }
            from += run;
            at += 1 + run;
        }
        end
    }
}
