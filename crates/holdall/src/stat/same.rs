//! Pieces that need not be read, because the file states that all their elements are equal. They are counted by their lengths, so that the
//! time for terabytes of zeros depends only on the number of pieces.

use container_core::region::{Chunks, Region};

/// Maximum number of pieces counted between two checks for cancellation.
const MAX_RUN: usize = 1 << 16;

/// Work on some pieces.
pub(super) enum Job {
    /// A piece to be read.
    Read(Region),
    /// Pieces that are not.
    Same(Run),
}

/// Pieces of one element over and over.
pub(super) struct Run {
    /// The bytes of the element.
    pub(super) element: Vec<u8>,
    /// Elements of each piece, and how many such pieces there are one after the other.
    pub(super) lens: Vec<(u64, u64)>,
}

/// The pieces of a region, those that need not be read taken together.
pub(super) struct Jobs<F> {
    pieces: Chunks,
    /// The element that all of the region repeats.
    whole: Option<Vec<u8>>,
    repeated: F,
    /// A piece that ended a run.
    held: Option<(Region, Option<Vec<u8>>)>,
}

impl<F: Fn(&Region) -> Option<Vec<u8>>> Jobs<F> {
    pub(super) fn new(pieces: Chunks, whole: Option<Vec<u8>>, repeated: F) -> Self {
        Self { pieces, whole, repeated, held: None }
    }

    pub(super) fn next(&mut self) -> Option<Job> {
        let mut run: Option<Run> = None;
        for _ in 0..MAX_RUN {
            let Some((piece, element)) = self.held.take().or_else(|| self.piece()) else { break };
            let Some(element) = element else {
                let Some(run) = run else { return Some(Job::Read(piece)) };
                self.held = Some((piece, None));
                return Some(Job::Same(run));
            };
            let len = piece.len().unwrap_or(0);
            match &mut run {
                None => run = Some(Run { element, lens: vec![(len, 1)] }),
                Some(run) if run.element == element => match run.lens.last_mut() {
                    Some((last, times)) if *last == len => *times += 1,
                    _ => run.lens.push((len, 1)),
                },
                Some(_) => {
                    self.held = Some((piece, Some(element)));
                    break;
                }
            }
        }
        run.map(Job::Same)
    }

    fn piece(&mut self) -> Option<(Region, Option<Vec<u8>>)> {
        let piece = self.pieces.next()?;
        let element = self.whole.clone().or_else(|| (self.repeated)(&piece));
        Some((piece, element))
    }
}
