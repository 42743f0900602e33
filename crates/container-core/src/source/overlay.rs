//! A source whose first bytes are other ones: a header as it must have been.

use std::ops::Range;

use super::Source;
use crate::Result;

/// Another source, but for its first bytes. It is as long as it was.
pub struct Overlay<S> {
    source: S,
    head: Vec<u8>,
}

impl<S: Source> Overlay<S> {
    /// `source` with `head` in the place of its first bytes; what of `head` is behind its end is not seen.
    pub const fn new(source: S, head: Vec<u8>) -> Self {
        Self { source, head }
    }

    /// Puts `head` in the place of the one before.
    pub fn set_head(&mut self, head: Vec<u8>) {
        self.head = head;
    }
}

impl<S: Source> Source for Overlay<S> {
    fn len(&self) -> u64 {
        self.source.len()
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.source.read_into(at, dst)?;
        let head = usize::try_from(at).ok().and_then(|at| self.head.get(at..)).unwrap_or_default();
        dst.iter_mut().zip(head).for_each(|(to, from)| *to = *from);
        Ok(())
    }

    fn lend(&self, range: Range<u64>) -> Option<&[u8]> {
        if range.start < self.head.len() as u64 { None } else { self.source.lend(range) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_bytes_are_others_however_they_are_read() {
        let source = Overlay::new(b"0123456789".to_vec(), b"abc".to_vec());
        for start in 0..10_u8 {
            for end in start..=10 {
                let read = source.read(start.into()..end.into()).unwrap();
                assert_eq!(&*read, &b"abc3456789"[start.into()..end.into()]);
            }
        }
        assert!(source.lend(2..5).is_none() && source.lend(3..5) == Some(b"34"));
        assert!(source.read(5..11).is_err());
        let mut other = source;
        other.set_head(b"x".to_vec());
        assert_eq!(&*other.read(0..3).unwrap(), b"x12");
        let short = Overlay::new(b"01".to_vec(), b"abc".to_vec());
        assert_eq!((short.len(), &*short.read(0..2).unwrap()), (2, &b"ab"[..]));
    }
}
