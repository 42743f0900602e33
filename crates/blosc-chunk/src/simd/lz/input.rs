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

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes that do not repeat within 251.
    fn text(len: usize) -> Vec<u8> {
        (0..len).map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    #[test]
    fn copies_change_15_bytes_more_at_most() {
        let text = text(100);
        let input = Input::new(&text).unwrap();
        let step = if cfg!(miri) { 7 } else { 1 };
        for from in [0, 1, 16, 40] {
            for to in (from..=text.len()).step_by(step) {
                let len = to - from;
                for (at, room) in [(0, 0), (3, 0), (0, 15), (5, 16), (1, 17), (2, 40)] {
                    let mut dst = vec![0xee; at + len + room];
                    input.copy(from, to, &mut dst, at);
                    assert_eq!(dst[at..at + len], text[from..to], "{from}..{to} to {at}");
                    assert!(dst[..at].iter().all(|byte| *byte == 0xee), "{from}..{to} to {at}");
                    assert!(dst.iter().skip(at + len + 15).all(|byte| *byte == 0xee), "{from}..{to} to {at}");
                }
            }
        }
    }

    #[test]
    fn runs_have_their_length_and_change_31_bytes_more_at_most() {
        let text = text(200);
        let input = Input::new(&text).unwrap();
        let step = if cfg!(miri) { 17 } else { 1 };
        for from in [0, 1, 64] {
            for to in (from..=text.len()).step_by(step) {
                let mut expected = Vec::new();
                for run in text[from..to].chunks(32) {
                    expected.push(u8::try_from(run.len() - 1).unwrap());
                    expected.extend(run);
                }
                for (at, room) in [(0, 0), (3, 0), (0, 31), (5, 32), (1, 33), (2, 70)] {
                    let mut dst = vec![0xee; at + expected.len() + room];
                    let end = input.copy_runs(from, to, &mut dst, at);
                    assert_eq!(end, at + expected.len(), "{from}..{to} to {at}");
                    assert_eq!(dst[at..end], expected, "{from}..{to} to {at}");
                    assert!(dst[..at].iter().all(|byte| *byte == 0xee), "{from}..{to} to {at}");
                    assert!(dst.iter().skip(end + 31).all(|byte| *byte == 0xee), "{from}..{to} to {at}");
                }
            }
        }
    }

    #[test]
    fn equal_bytes_are_counted_up_to_the_end() {
        let step = if cfg!(miri) { 13 } else { 1 };
        for same in (0..90).step_by(step) {
            for after in [0, 1, 7, 8, 9, 31, 32, 40] {
                // The same bytes twice, and others after each.
                let mut bytes = text(same);
                bytes.push(1);
                bytes.extend(vec![0xfe; after]);
                let later = bytes.len();
                bytes.extend(text(same));
                bytes.push(2);
                bytes.extend(vec![0xfe; after]);
                let Some(input) = Input::new(&bytes) else { continue };
                assert_eq!(input.common(0, later, bytes.len()), same, "{after} after");
                for end in [later, later + same / 2, later + same] {
                    assert_eq!(input.common(0, later, end), end - later, "{same} to {end}");
                }
            }
        }
    }

    #[test]
    fn words_need_eight_bytes() {
        let bytes = text(20);
        assert!(Input::new(&bytes[..7]).is_none());
        let input = Input::new(&bytes).unwrap();
        assert_eq!(input.bytes(), bytes);
        assert_eq!(input.word(12), Some(u64::from_le_bytes(bytes[12..20].try_into().unwrap())));
        assert_eq!(input.half(12), u32::from_le_bytes(bytes[12..16].try_into().unwrap()));
        assert_eq!((input.word(13), input.word(usize::MAX)), (None, None));
        let refused: [&(dyn Fn() -> usize + std::panic::RefUnwindSafe); 3] =
            [&|| input.half(13) as usize, &|| input.common(5, 3, 20), &|| input.common(0, 5, 21)];
        assert!(refused.into_iter().all(|call| std::panic::catch_unwind(call).is_err()));
    }
}
