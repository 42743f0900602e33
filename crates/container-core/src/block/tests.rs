use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::codec::Codec;
use crate::{ErrorKind, Stop};

/// Reverses the bits of each byte.
pub(crate) struct Flip(pub(crate) &'static str);

impl Codec for Flip {
    fn name(&self) -> &str {
        self.0
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        if src.len() != dst.len() {
            return Err(Error::malformed("another length"));
        }
        dst.iter_mut().zip(src).for_each(|(dst, src)| *dst = !src);
        Ok(())
    }

    fn encode(&self, src: &[u8], _level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        out.extend(src.iter().map(|byte| !byte));
        Ok(())
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        len
    }
}

pub(crate) fn codecs() -> Codecs {
    let mut codecs = Codecs::none();
    codecs.register(Flip("flip"));
    codecs
}

/// The sum of all bytes.
#[derive(Clone, Default)]
struct Sum(u64);

impl Checksum for Sum {
    fn update(&mut self, bytes: &[u8]) {
        self.0 += bytes.iter().map(|byte| u64::from(*byte)).sum::<u64>();
    }

    fn fork(&self) -> Box<dyn Checksum> {
        Box::new(self.clone())
    }

    fn finish(self: Box<Self>) -> Digest {
        Digest::new(&self.0.to_be_bytes()[6..]).unwrap()
    }
}

struct Stored {
    range: Range<u64>,
    decoded_len: u64,
    codec: Option<&'static str>,
    sum: Option<(u16, Covers)>,
}

impl Stored {
    const fn plain(range: Range<u64>) -> Self {
        Self { decoded_len: range.end - range.start, range, codec: None, sum: None }
    }

    const fn flipped(range: Range<u64>) -> Self {
        Self { codec: Some("flip"), ..Self::plain(range) }
    }

    const fn with_sum(self, sum: u16, covers: Covers) -> Self {
        Self { sum: Some((sum, covers)), ..self }
    }
}

impl Block for Stored {
    fn range(&self) -> Range<u64> {
        self.range.clone()
    }

    fn decoded_len(&self) -> u64 {
        self.decoded_len
    }

    fn codec(&self) -> Option<&str> {
        self.codec
    }

    fn checksum(&self) -> Option<StoredChecksum> {
        let (sum, covers) = self.sum?;
        let digest = Digest::new(&sum.to_be_bytes()).unwrap();
        Some(StoredChecksum { algorithm: "sum", running: Box::new(Sum::default()), digest, covers })
    }
}

/// A source that lends nothing.
pub(crate) struct Copied(pub(crate) Vec<u8>);

impl Source for Copied {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

pub(crate) fn stopped() -> Stop {
    static ASKED: AtomicBool = AtomicBool::new(true);
    ASKED.store(true, Ordering::Relaxed);
    Stop::when(&ASKED)
}

pub(crate) const BYTES: [u8; 6] = [10, 11, 12, 13, 14, 15];

#[test]
fn a_block_is_lent_where_it_is_plain_and_decoded_where_not() {
    let (codecs, limits) = (codecs(), Limits::default());
    let (memory, copied) = (BYTES.to_vec(), Copied(BYTES.to_vec()));
    let plain = Stored::plain(1..4);
    assert_eq!((plain.part(), plain.checksum().is_none()), (None, true));
    let read = |source: &'static dyn Source, block: &Stored| {
        read_block(source, block, &codecs, &limits, 1)
            .map(|bytes| (matches!(bytes, Cow::Borrowed(_)), bytes.to_vec()))
    };
    let memory: &'static Vec<u8> = Box::leak(Box::new(memory));
    let copied: &'static Copied = Box::leak(Box::new(copied));
    assert_eq!(read(memory, &plain).unwrap(), (true, vec![11, 12, 13]));
    assert_eq!(read(copied, &plain).unwrap(), (false, vec![11, 12, 13]));
    for source in [memory as &'static dyn Source, copied] {
        assert_eq!(read(source, &Stored::flipped(1..3)).unwrap(), (false, vec![!11, !12]));
    }
}

#[test]
fn a_block_that_cannot_be_read_is_named_by_its_range() {
    let (codecs, limits) = (codecs(), Limits::default());
    let source = Copied(BYTES.to_vec());
    let error = |block: &Stored, limits: &Limits| {
        let by_read = read_block(&source, block, &codecs, limits, 1).unwrap_err();
        let checked = verify_block(&source, block, &codecs, limits, Progress::none());
        if limits.memory > 0 {
            assert_eq!(checked.unwrap_err().to_string(), by_read.to_string());
        }
        assert_eq!(by_read.range(), Some(block.range()), "{by_read}");
        by_read
    };
    let longer = Stored { decoded_len: 4, ..Stored::plain(1..4) };
    assert_eq!(error(&longer, &limits).to_string(), "plain block: 3 bytes (expected 4) (bytes 1..4)");
    assert!(matches!(error(&Stored::plain(4..7), &limits).kind(), ErrorKind::Truncated { need: 3, have: 2 }));
    let unknown = Stored { codec: Some("zip"), ..Stored::plain(1..4) };
    let unknown = error(&unknown, &limits);
    assert!(matches!(unknown.kind(), ErrorKind::Unsupported(_)));
    assert_eq!(unknown.to_string(), "unknown codec \"zip\" (expected one of: flip) (bytes 1..4)");
    let broken = Stored { decoded_len: 2, ..Stored::flipped(1..4) };
    assert!(matches!(error(&broken, &limits).kind(), ErrorKind::Malformed(_)));
    let none = limits.with_memory(0);
    assert!(matches!(error(&Stored::plain(1..4), &none).kind(), ErrorKind::Limit { asked: 3, .. }));
}

#[test]
fn a_block_is_decoded_into_memory_of_its_length_alone() {
    let (codecs, limits) = (codecs(), Limits::default());
    let mut three = [0; 3];
    for (block, want) in [(Stored::plain(2..5), [12, 13, 14]), (Stored::flipped(2..5), [!12, !13, !14])] {
        read_block_into(&BYTES.to_vec(), &block, &codecs, &limits, 1, &mut three).unwrap();
        assert_eq!(three, want);
        let error = read_block_into(&BYTES.to_vec(), &block, &codecs, &limits, 1, &mut [0; 2]).unwrap_err();
        assert_eq!(error.to_string(), "2 bytes for a block of 3");
    }
    let past = read_block_into(&BYTES.to_vec(), &Stored::plain(4..7), &codecs, &limits, 1, &mut three);
    assert!(matches!(past.unwrap_err().kind(), ErrorKind::Truncated { .. }));
    let longer = Stored { decoded_len: 3, ..Stored::plain(1..3) };
    let longer = read_block_into(&BYTES.to_vec(), &longer, &codecs, &limits, 1, &mut three);
    assert!(matches!(longer.unwrap_err().kind(), ErrorKind::Malformed(_)));
}

#[test]
fn a_digest_is_compared_with_the_bytes_that_it_covers() {
    let (codecs, source) = (codecs(), Copied(vec![1, 2, 3]));
    let verify = |block: Stored| {
        verify_block(&source, &block, &codecs, &Limits::default(), Progress::none())
            .map_err(|error| error.to_string())
    };
    let decoded = 254 + 253 + 252;
    for covers in [Covers::Stored, Covers::Decoded] {
        assert_eq!(verify(Stored::plain(0..3).with_sum(6, covers)), Ok(()));
    }
    assert_eq!(verify(Stored::plain(0..3)), Ok(()));
    assert_eq!(verify(Stored::flipped(0..3)), Ok(()));
    assert_eq!(verify(Stored::flipped(0..3).with_sum(6, Covers::Stored)), Ok(()));
    assert_eq!(verify(Stored::flipped(0..3).with_sum(decoded, Covers::Decoded)), Ok(()));
    assert_eq!(
        verify(Stored::plain(1..3).with_sum(6, Covers::Stored)),
        Err("sum: checksum differs: stored 0006, computed 0005 (bytes 1..3)".into())
    );
    let swapped = verify(Stored::flipped(0..3).with_sum(6, Covers::Decoded));
    assert_eq!(swapped, Err("sum: checksum differs: stored 0006, computed 02f7 (bytes 0..3)".into()));
    assert!(verify(Stored::flipped(0..3).with_sum(decoded, Covers::Stored)).is_err());
}

#[test]
fn the_stored_bytes_of_a_digest_are_within_the_limits_unless_they_are_lent() {
    let block = || Stored::flipped(0..3).with_sum(6, Covers::Stored);
    let stored = |source: &dyn Source, memory| {
        stored_bytes(source, 0..3, &Limits::default().with_memory(memory)).map(|bytes| bytes.to_vec())
    };
    assert_eq!(stored(&vec![1, 2, 3], 0).unwrap(), [1, 2, 3]);
    assert_eq!(stored(&Copied(vec![1, 2, 3]), 3).unwrap(), [1, 2, 3]);
    assert_eq!(stored(&Copied(vec![1, 2, 3]), 2).unwrap_err().range(), Some(0..3));
    let limits = Limits::default().with_stop(stopped());
    let error = verify_block(&vec![1, 2, 3], &block(), &codecs(), &limits, Progress::none()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled));
    let plain = Stored::plain(0..3);
    let error = verify_block(&vec![1, 2, 3], &plain, &codecs(), &limits, Progress::none()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Cancelled));
}

#[test]
fn progress_of_a_check_reaches_the_end() {
    let ticks = Mutex::new(Vec::new());
    let tick = |done, total| {
        ticks.lock().unwrap().push((done, total));
        std::ops::ControlFlow::Continue(())
    };
    let (codecs, limits) = (codecs(), Limits::default());
    verify_block(&vec![1, 2, 3], &Stored::flipped(1..3), &codecs, &limits, Progress::new(&tick)).unwrap();
    verify_block(&vec![1, 2, 3], &Stored::plain(1..3), &codecs, &limits, Progress::new(&tick)).unwrap();
    assert_eq!(*ticks.lock().unwrap(), [(2, 2), (2, 2)]);
    let stop = |_, _| std::ops::ControlFlow::Break(());
    let error = verify_block(&vec![1], &Stored::plain(0..1), &codecs, &limits, Progress::new(&stop));
    assert!(matches!(error.unwrap_err().kind(), ErrorKind::Cancelled));
}

#[test]
#[cfg_attr(miri, ignore = "long data")]
fn bytes_pass_in_pieces_that_join_to_all_of_them() {
    let bytes: Vec<u8> = (0..=250).cycle().take(2 * PIECE_LEN + 9).collect();
    let ticks = Mutex::new(Vec::new());
    let tick = |done, total| {
        ticks.lock().unwrap().push((done, total));
        std::ops::ControlFlow::Continue(())
    };
    let (mut lens, mut joined) = (Vec::new(), Vec::new());
    let range = 2..bytes.len() as u64 - 1;
    for_each_piece(&bytes, range.clone(), Progress::new(&tick), |piece| {
        lens.push(piece.len());
        joined.extend_from_slice(piece);
        Ok(())
    })
    .unwrap();
    assert_eq!(lens, [PIECE_LEN, PIECE_LEN, 6]);
    assert!(joined == bytes[2..bytes.len() - 1]);
    let (piece, total) = (PIECE_LEN as u64, range.end - range.start);
    assert_eq!(*ticks.lock().unwrap(), [(piece, total), (2 * piece, total), (total, total)]);
    let mut calls = 0;
    for_each_piece(&bytes, 5..5, Progress::none(), |_| {
        calls += 1;
        Ok(())
    })
    .unwrap();
    assert_eq!(calls, 0);
    let past = for_each_piece(&bytes, 0..bytes.len() as u64 + 1, Progress::none(), |_| Ok(()));
    assert!(matches!(past.unwrap_err().kind(), ErrorKind::Truncated { .. }));
    let sum: u64 = bytes.iter().map(|byte| u64::from(*byte)).sum();
    let block = Stored::plain(0..bytes.len() as u64).with_sum(sum as u16, Covers::Stored);
    verify_block(&bytes, &block, &codecs(), &Limits::default(), Progress::none()).unwrap();
    let block = Stored::flipped(0..bytes.len() as u64).with_sum(sum as u16, Covers::Stored);
    verify_block(&bytes, &block, &codecs(), &Limits::default(), Progress::none()).unwrap();
}
