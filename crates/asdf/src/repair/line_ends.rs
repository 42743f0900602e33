//! White space at ends of lines that a text tool took out of binary data, or put into them: CRLF made LF and LF made CRLF, blanks at ends
//! of lines stripped, a last newline added or removed.
//!
//! The length that the data had and a digest of them prove where bytes belong. The search goes over the ends of lines from the first to
//! the last; what is before a change is hashed once for all that follows it. Few changes are tried anywhere, many only at all ends of
//! lines but a few.

use container_codecs::checksum::Algorithm;
use container_core::Result;
use container_core::checksum::{Checksum, Digest};

/// Changes that are tried at any place: more are as many combinations as nobody waits for.
const MAX_CHANGES: usize = 6;

/// Newlines at the end that are tried to have been more.
const MAX_LAST: usize = 4096;

/// Part of the budget that a try takes beside its bytes.
const TRY: u64 = 64;

/// Blanks that tools strip, most often the first.
const BLANKS: [&[u8]; 5] = [b" ", b"\t", b"\r", b"\x0b", b"\x0c"];

/// One change: at a place of the bytes that are there, some of them go and others come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineEndChange {
    /// Place of the change.
    pub at: usize,
    /// Bytes from there on that were added.
    pub removed: usize,
    /// Bytes that were taken.
    pub inserted: Vec<u8>,
}

/// The proof that bytes are those that were written.
pub enum Proof<'a> {
    /// Their digest.
    Digest(Algorithm, Digest),
    /// A look at all of them.
    Look(&'a mut dyn FnMut(&[u8]) -> Result<bool>),
}

/// The changes that make `len` bytes with a proof out of `bytes`, in their order; `None` where none do, or none that were tried before
/// `budget`, a number of bytes to be hashed or looked at, was spent. `is_end`: the file ends with them.
///
/// # Errors
/// Those of the look.
pub fn undo(
    bytes: &[u8],
    len: usize,
    is_end: bool,
    proof: &mut Proof<'_>,
    budget: &mut u64,
) -> Result<Option<Vec<LineEndChange>>> {
    for mode in modes(bytes, len, is_end) {
        let mut search = Search { bytes, mode: &mode, proof, budget, chosen: Vec::new() };
        if search.run()? {
            let chosen = std::mem::take(&mut search.chosen);
            return Ok(Some(mode.changes(&chosen, bytes.len())));
        }
    }
    Ok(None)
}

/// The bytes with changes made.
#[must_use]
pub fn changed(bytes: &[u8], changes: &[LineEndChange]) -> Vec<u8> {
    let mut made = Vec::with_capacity(bytes.len());
    let mut from = 0;
    for change in changes {
        made.extend_from_slice(bytes.get(from..change.at).unwrap_or_default());
        made.extend_from_slice(&change.inserted);
        from = change.at.saturating_add(change.removed);
    }
    made.extend_from_slice(bytes.get(from..).unwrap_or_default());
    made
}

/// Removed and inserted bytes at an end of a line.
type Edit = (usize, &'static [u8]);

/// A change at none of the places.
const NOTHING: Edit = (0, b"");

/// Places with a change that most have, and a number of exceptions.
struct Mode {
    places: Vec<usize>,
    /// Change of the places that are no exceptions.
    usual: Edit,
    /// Changes of an exception.
    others: Vec<Edit>,
    exceptions: usize,
    /// Whether a place can be several exceptions.
    repeats: bool,
    /// Bytes at the end that go.
    cut: usize,
    /// Bytes at the end that come.
    more: Vec<u8>,
}

impl Mode {
    fn new(places: Vec<usize>, usual: Edit, others: Vec<Edit>, exceptions: usize) -> Self {
        Self { places, usual, others, exceptions, repeats: false, cut: 0, more: Vec::new() }
    }

    /// All changes of `len` bytes, with the exceptions that were chosen: positions of places, and of what is done there.
    fn changes(&self, chosen: &[(usize, usize)], len: usize) -> Vec<LineEndChange> {
        let mut changes: Vec<LineEndChange> = Vec::new();
        let mut push = |at: usize, (removed, inserted): Edit| match changes.last_mut() {
            Some(last) if last.at == at => last.inserted.extend_from_slice(inserted),
            _ if (removed, inserted) == NOTHING => {}
            _ => changes.push(LineEndChange { at, removed, inserted: inserted.to_vec() }),
        };
        let mut left = chosen;
        for (place, at) in self.places.iter().enumerate() {
            let here = left.iter().take_while(|(other, _)| *other == place).count();
            let (own, rest) = left.split_at(here);
            left = rest;
            for (_, other) in own {
                push(*at, self.others.get(*other).copied().unwrap_or(NOTHING));
            }
            if own.is_empty() {
                push(*at, self.usual);
            }
        }
        if self.cut > 0 || !self.more.is_empty() {
            let at = len.saturating_sub(self.cut);
            changes.push(LineEndChange { at, removed: self.cut, inserted: self.more.clone() });
        }
        changes
    }
}

/// Candidate changes of the bytes, the most likely first.
fn modes(bytes: &[u8], len: usize, is_end: bool) -> Vec<Mode> {
    let newlines = bytes.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
    let newlines: Vec<usize> = newlines.map(|(at, _)| at).collect();
    let mut modes = Vec::new();
    if let Some(missing) = len.checked_sub(bytes.len()).filter(|missing| *missing > 0) {
        // CRLF made LF, where all or few were CRLF.
        let count = newlines.len();
        if missing <= MAX_CHANGES.min(count) {
            modes.push(Mode::new(newlines.clone(), NOTHING, vec![(0, b"\r")], missing));
        } else if missing <= count && count - missing <= MAX_CHANGES {
            modes.push(Mode::new(newlines.clone(), (0, b"\r"), vec![NOTHING], count - missing));
        }
        if is_end && missing <= MAX_LAST {
            let ends = [b"\n".repeat(missing), b"\r\n".repeat(missing / 2)];
            for more in ends.into_iter().filter(|more| more.len() == missing) {
                modes.push(Mode { more, ..Mode::new(Vec::new(), NOTHING, Vec::new(), 0) });
            }
        }
        if missing <= MAX_CHANGES {
            let mut places = newlines;
            places.extend(is_end.then_some(bytes.len()));
            for blanks in [&BLANKS[..1], &BLANKS[..]] {
                let others = blanks.iter().map(|blank| (0, *blank)).collect();
                modes.push(Mode { repeats: true, ..Mode::new(places.clone(), NOTHING, others, missing) });
            }
        }
        return modes;
    }
    let added = bytes.len() - len;
    if added == 0 {
        return modes;
    }
    // LF made CRLF, and perhaps a last newline.
    let is_crlf = |at: &usize| at.checked_sub(1).and_then(|before| bytes.get(before)) == Some(&b'\r');
    let places: Vec<usize> = newlines.iter().filter(|at| is_crlf(at)).map(|at| at - 1).collect();
    for cut in 0..=added.min(if is_end { 2 } else { 0 }) {
        let kept = bytes.len() - cut;
        if !bytes[kept..].iter().all(|byte| matches!(byte, b'\r' | b'\n')) {
            break;
        }
        let places: Vec<usize> = places.iter().copied().filter(|at| *at < kept).collect();
        let (gone, count) = (added - cut, places.len());
        let remove: Edit = (1, b"");
        if gone <= MAX_CHANGES.min(count) {
            modes.push(Mode { cut, ..Mode::new(places, NOTHING, vec![remove], gone) });
        } else if gone <= count && count - gone <= MAX_CHANGES {
            modes.push(Mode { cut, ..Mode::new(places, remove, vec![NOTHING], count - gone) });
        }
    }
    modes
}

struct Search<'a, 'p> {
    bytes: &'a [u8],
    mode: &'a Mode,
    proof: &'a mut Proof<'p>,
    budget: &'a mut u64,
    chosen: Vec<(usize, usize)>,
}

/// Bytes so far.
struct Sofar {
    /// Their digest, where that is the proof.
    digest: Option<Box<dyn Checksum>>,
    /// Bytes that were taken from those that are there.
    taken: usize,
}

impl Search<'_, '_> {
    fn run(&mut self) -> Result<bool> {
        let digest = match &*self.proof {
            Proof::Digest(algorithm, _) => Some(algorithm.start()),
            Proof::Look(_) => None,
        };
        self.from(0, Sofar { digest, taken: 0 }, self.mode.exceptions)
    }

    /// Whether `left` more exceptions from a place on make the bytes that were written. They are in `chosen` then.
    fn from(&mut self, first: usize, mut sofar: Sofar, left: usize) -> Result<bool> {
        if left == 0 {
            return self.end(first, sofar);
        }
        let mode = self.mode;
        for (place, at) in mode.places.iter().enumerate().skip(first) {
            if !mode.repeats && mode.places.len() - place < left {
                break;
            }
            self.copy(&mut sofar, *at);
            for (number, edit) in mode.others.iter().enumerate() {
                if *self.budget == 0 {
                    return Ok(false);
                }
                *self.budget = self.budget.saturating_sub(TRY);
                let digest = sofar.digest.as_ref().map(|digest| digest.fork());
                let mut other = Sofar { digest, taken: sofar.taken };
                Self::edit(&mut other, *edit);
                self.chosen.push((place, number));
                let next = if mode.repeats { place } else { place + 1 };
                if self.from(next, other, left - 1)? {
                    return Ok(true);
                }
                self.chosen.pop();
            }
            Self::edit(&mut sofar, mode.usual);
        }
        Ok(false)
    }

    /// Takes the bytes up to a place.
    fn copy(&mut self, sofar: &mut Sofar, to: usize) {
        let bytes = self.bytes.get(sofar.taken..to).unwrap_or_default();
        if let Some(digest) = &mut sofar.digest {
            digest.update(bytes);
            *self.budget = self.budget.saturating_sub(bytes.len() as u64);
        }
        sofar.taken = sofar.taken.max(to);
    }

    fn edit(sofar: &mut Sofar, (removed, inserted): Edit) {
        if let Some(digest) = &mut sofar.digest {
            digest.update(inserted);
        }
        sofar.taken = sofar.taken.saturating_add(removed);
    }

    /// Takes the rest, and looks whether all is as it was.
    fn end(&mut self, first: usize, mut sofar: Sofar) -> Result<bool> {
        let mode = self.mode;
        let kept = self.bytes.len().saturating_sub(mode.cut);
        if let Proof::Look(look) = &mut *self.proof {
            let made = changed(self.bytes, &mode.changes(&self.chosen, self.bytes.len()));
            *self.budget = self.budget.saturating_sub(made.len() as u64);
            return look(&made);
        }
        if mode.usual != NOTHING {
            for at in mode.places.iter().skip(first) {
                self.copy(&mut sofar, *at);
                Self::edit(&mut sofar, mode.usual);
            }
        }
        self.copy(&mut sofar, kept);
        let Some(mut digest) = sofar.digest else { return Ok(false) };
        digest.update(&mode.more);
        let digest = digest.finish();
        Ok(matches!(&*self.proof, Proof::Digest(_, expected) if *expected == digest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the original comes back from the spoiled bytes, by its digest and by its looks.
    fn comes_back(original: &[u8], spoiled: &[u8], is_end: bool) {
        for algorithm in [Algorithm::Md5, Algorithm::Adler32, Algorithm::Sha256] {
            let mut proof = Proof::Digest(algorithm, algorithm.digest(original));
            let changes = undo(spoiled, original.len(), is_end, &mut proof, &mut (1 << 24)).unwrap();
            let changes = changes.unwrap_or_else(|| panic!("{original:?} of {spoiled:?}"));
            assert_eq!(changed(spoiled, &changes), original);
        }
        let mut look = |bytes: &[u8]| Ok(bytes == original);
        let mut proof = Proof::Look(&mut look);
        let changes = undo(spoiled, original.len(), is_end, &mut proof, &mut (1 << 24)).unwrap();
        assert_eq!(changed(spoiled, &changes.unwrap()), original);
    }

    fn replaced(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
        let mut made = Vec::new();
        let mut at = 0;
        while at < bytes.len() {
            if bytes[at..].starts_with(from) {
                made.extend_from_slice(to);
                at += from.len();
            } else {
                made.push(bytes[at]);
                at += 1;
            }
        }
        made
    }

    #[test]
    fn changes_by_text_tools_are_reverted() {
        let few = b"a\nb\r\nc\n\n\r\n\xff\r\r\nd\ne";
        let all = b"one\r\ntwo\r\nthree\r\nfour\nfive\r\nsix\r\nseven\r\neight\r\nnine\r\nten\r\n";
        let none = b"\n\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
        for bytes in [&few[..], all, none] {
            for is_end in [false, true] {
                let lf = replaced(bytes, b"\r\n", b"\n");
                if lf != bytes {
                    comes_back(bytes, &lf, is_end);
                }
                // As Windows writes text, and as git checks it out.
                comes_back(bytes, &replaced(bytes, b"\n", b"\r\n"), is_end);
                comes_back(bytes, &replaced(&lf, b"\n", b"\r\n"), is_end);
            }
        }
        comes_back(b"a \nb\t\x0b\nc\n", b"a\nb\nc\n", false);
        comes_back(b"a  \t\nb \nc\nd", b"a\nb\nc\nd", false);
        // At the end of a file.
        comes_back(b"ab \t", b"ab", true);
        comes_back(b"ab\n\n\n\n\n\n\n\n\n", b"ab\n", true);
        comes_back(b"ab\r\n\r\n", b"ab", true);
        comes_back(b"ab", b"ab\n", true);
        comes_back(b"a\nb", b"a\r\nb\r\n", true);
    }

    #[test]
    fn undo_requires_a_matching_digest_and_respects_its_budget() {
        let digest = Algorithm::Md5.digest(b"other");
        let run = |bytes: &[u8], len: usize, mut budget: u64| {
            let mut proof = Proof::Digest(Algorithm::Md5, digest);
            let found = undo(bytes, len, true, &mut proof, &mut budget).unwrap();
            (found, budget)
        };
        assert_eq!(run(b"a\nb\n", 4, 1000), (None, 1000));
        assert_eq!(run(b"", 0, 1000).0, None);
        assert_eq!(run(b"a\n\r\nb", usize::MAX / 2, 1000).0, None);
        assert_eq!(run(b"a\r\n\r\nb", 1, 1000).0, None);
        // As many combinations as there are atoms: the budget ends it.
        assert_eq!(run(&b"\n".repeat(100_000), 100_006, 1 << 22), (None, 0));
        assert_eq!(run(&b"\r\n".repeat(100_000), 200_000 - 5, 1 << 22), (None, 0));
    }
}
