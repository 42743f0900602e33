//! Announcing more ranges than a far source holds at once.

use std::ops::Range;

use super::Source;
use crate::Result;

/// Calls `read` for each of `ranges`, with its position among them, after announcing it to the source ([`Source::prefetch`]): as many at a time as the
/// source holds.
///
/// # Errors
/// As [`Source::prefetch`]; those of `read`.
pub fn prefetch_in_turns(
    source: &dyn Source,
    ranges: &[Range<u64>],
    mut read: impl FnMut(usize, &Range<u64>) -> Result<()>,
) -> Result<()> {
    let mut next = 0;
    while let Some(rest) = ranges.get(next..).filter(|rest| !rest.is_empty()) {
        // A source that counts none would be asked for the same ranges without end.
        let held = source.prefetch(rest)?.clamp(1, rest.len());
        for (at, range) in rest.iter().enumerate().take(held) {
            read(next.saturating_add(at), range)?;
        }
        next = next.saturating_add(held);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};

    use super::*;
    use crate::source::{Behind, Overlay};

    /// Records the ranges that are announced, and holds at most `held` of them.
    struct Far {
        announced: Mutex<Vec<Vec<Range<u64>>>>,
        held: usize,
    }

    impl Far {
        fn new(held: usize) -> Arc<Self> {
            Arc::new(Self { announced: Mutex::default(), held })
        }

        fn announced(&self) -> Vec<Vec<Range<u64>>> {
            std::mem::take(&mut self.announced.lock().unwrap())
        }
    }

    impl Source for Far {
        fn len(&self) -> u64 {
            100
        }

        fn read_into(&self, _: u64, dst: &mut [u8]) -> Result<()> {
            dst.fill(0);
            Ok(())
        }

        fn prefetch(&self, ranges: &[Range<u64>]) -> Result<usize> {
            self.announced.lock().unwrap().push(ranges.to_vec());
            Ok(self.held.min(ranges.len()))
        }

        fn is_far(&self) -> bool {
            true
        }
    }

    #[test]
    fn ranges_that_a_source_does_not_hold_are_announced_again() {
        let ranges = [0..1, 5..6, 9..12];
        for (held, turns) in [(3, vec![3]), (2, vec![3, 1]), (1, vec![3, 2, 1]), (0, vec![3, 2, 1])] {
            let source = Far::new(held);
            let mut read = Vec::new();
            prefetch_in_turns(&*source, &ranges, |at, range| {
                read.push((at, range.clone()));
                Ok(())
            })
            .unwrap();
            assert_eq!(read, [(0, 0..1), (1, 5..6), (2, 9..12)]);
            assert_eq!(source.announced().iter().map(Vec::len).collect::<Vec<_>>(), turns, "{held} held");
        }
        let source = Far::new(3);
        prefetch_in_turns(&*source, &[], |_, _| panic!("no range")).unwrap();
        assert!(source.announced().is_empty());
    }

    #[test]
    fn sources_around_another_pass_on_what_is_announced() {
        let far = Far::new(9);
        let behind = Behind::new(Arc::clone(&far), 10);
        assert!(behind.is_far());
        assert_eq!(behind.prefetch(&[0..1, 20..25]).unwrap(), 2);
        assert_eq!(far.announced(), [[10..11, 30..35]]);
        let overlay = Overlay::new(Arc::clone(&far), vec![1]);
        assert!(overlay.is_far() && Source::is_far(&(Box::new(overlay) as Box<dyn Source>)));
        let overlay: &dyn Source = &Overlay::new(Arc::clone(&far), vec![1]);
        assert_eq!(overlay.prefetch(&[3..4]).unwrap(), 1);
        assert_eq!(far.announced(), [[3..4]]);
        // Near sources hold everything.
        let near = vec![0; 9];
        assert!(!near.is_far());
        assert_eq!(near.prefetch(&[0..1, 2..3]).unwrap(), 2);
    }
}
