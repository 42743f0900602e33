use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use super::*;
use crate::codec::{Codec, decode_by_range};
use crate::{ErrorKind, Stop};

/// Reverses the bits of each byte.
struct Flip(&'static str);

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

fn codecs() -> Codecs {
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
struct Copied(Vec<u8>);

impl Source for Copied {
    fn len(&self) -> u64 {
        self.0.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        self.0.read_into(at, dst)
    }
}

fn stopped() -> Stop {
    static ASKED: AtomicBool = AtomicBool::new(true);
    ASKED.store(true, Ordering::Relaxed);
    Stop::when(&ASKED)
}

const BYTES: [u8; 6] = [10, 11, 12, 13, 14, 15];

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

#[test]
fn the_last_codec_of_a_name_wins() {
    struct Zeros;
    impl Codec for Zeros {
        fn name(&self) -> &str {
            "flip"
        }
        fn decode(&self, _src: &[u8], dst: &mut [u8]) -> Result<()> {
            dst.fill(0);
            Ok(())
        }
        fn encode(&self, _src: &[u8], _level: Option<i32>, _out: &mut Vec<u8>) -> Result<()> {
            Ok(())
        }
        fn max_encoded_len(&self, _len: usize) -> usize {
            0
        }
    }
    let mut codecs = codecs();
    codecs.register(Flip("other"));
    codecs.register(Zeros);
    assert_eq!(codecs.names().collect::<Vec<_>>(), ["flip", "other", "flip"]);
    assert_eq!(format!("{codecs:?}"), r#"["flip", "other", "flip"]"#);
    let mut dst = [7; 2];
    codecs.get("flip").unwrap().decode(&[1, 2], &mut dst).unwrap();
    assert_eq!(dst, [0, 0]);
    let none = Codecs::none();
    assert_eq!(none.get("x").err().unwrap().to_string(), "unknown codec \"x\" (expected one of: )");
}

fn encoded<'a>(source: &'a dyn Source, limits: &'a Limits, threads: usize) -> Encoded<'a> {
    Encoded { source, range: 1..5, decoded_len: 4, limits, threads }
}

#[test]
fn a_codec_decodes_ranges_and_pieces_by_way_of_the_whole() {
    let limits = Limits::default();
    let source = BYTES.to_vec();
    let encoded = encoded(&source, &limits, 1);
    let codec = Flip("flip");
    let mut all = [0; 4];
    codec.decode_range(&encoded, 0..4, &mut all).unwrap();
    assert_eq!(all, [!11, !12, !13, !14]);
    let mut two = [0; 2];
    codec.decode_range(&encoded, 1..3, &mut two).unwrap();
    assert_eq!(two, [!12, !13]);
    let error = codec.decode_range(&encoded, 1..4, &mut two).unwrap_err();
    assert_eq!(error.to_string(), "buffer of 2 bytes for bytes 1..4 of 4");
    let mut pieces = Vec::new();
    codec
        .decode_in_pieces(&encoded, &mut |piece| {
            pieces.push(piece.to_vec());
            Ok(())
        })
        .unwrap();
    assert_eq!(pieces, [all]);
    assert_eq!(codec.decoded_len(&BYTES).unwrap(), None);
    assert_eq!((codec.reach(&encoded).unwrap(), codec.told_len(&BYTES)), (None, None));
    let mut three = [0; 3];
    decode_by_range(&codec, &[1, 2, 3], &mut three).unwrap();
    assert_eq!(three, [!1, !2, !3]);
    let cancelled = codec.decode_until(&[1], &mut [0], stopped());
    assert!(matches!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled));
    codec.decode_until(&[1], &mut two[..1], Stop::never()).unwrap();
    assert_eq!(two[0], !1);
}

#[test]
fn encoded_bytes_are_lent_or_copied_within_the_limits() {
    let limits = Limits::default().with_memory(4);
    let (memory, copied) = (BYTES.to_vec(), Copied(BYTES.to_vec()));
    let lent = encoded(&memory, &limits, 1);
    assert!(matches!(lent.bytes().unwrap(), Cow::Borrowed([11, 12, 13, 14])));
    let copy = encoded(&copied, &limits, 1);
    assert!(matches!(copy.bytes().unwrap(), Cow::Owned(bytes) if bytes == [11, 12, 13, 14]));
    assert_eq!(*copy.part(2..4).unwrap(), [12, 13]);
    assert!(matches!(copy.part(4..7).unwrap_err().kind(), ErrorKind::Truncated { need: 3, have: 2 }));
    let error = copy.part(0..5).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 5, allowed: 4, .. }));
    assert_eq!(error.range(), Some(0..5));
    let limits = limits.with_stop(stopped());
    let cancelled = encoded(&copied, &limits, 1).bytes();
    assert!(matches!(cancelled.unwrap_err().kind(), ErrorKind::Cancelled));
    let text = format!("{lent:?}");
    assert!(text.starts_with("Encoded { range: 1..5, decoded_len: 4, limits: Limits {"), "{text}");
    assert!(text.ends_with("threads: 1, .. }"), "{text}");
}

#[test]
fn pieces_grow_with_the_threads_up_to_a_share_of_the_memory() {
    let source = BYTES.to_vec();
    let piece = |memory, threads| {
        let limits = Limits::default().with_memory(memory);
        encoded(&source, &limits, threads).piece_len()
    };
    assert_eq!((piece(1 << 40, 0), piece(1 << 40, 1), piece(1 << 40, 3)), (16 << 20, 16 << 20, 48 << 20));
    assert_eq!((piece(400, 3), piece(7, 1), piece(0, 1)), (100, 1, 1));
}

#[test]
fn a_part_fits_the_decoded_bytes_and_its_memory() {
    let limits = Limits::default();
    let source = BYTES.to_vec();
    let encoded = encoded(&source, &limits, 1);
    assert!(encoded.is_all(&(0..4)) && !encoded.is_all(&(0..3)) && !encoded.is_all(&(1..4)));
    for (start, end, len) in [(0, 4, 4), (4, 4, 0), (1, 3, 2)] {
        encoded.check(&(start..end), &vec![0; len]).unwrap();
    }
    for (start, end, len) in [(0, 5, 5), (3, 1, 0), (0, 4, 3), (1, 3, 3)] {
        let error = encoded.check(&(start..end), &vec![0; len]).unwrap_err();
        let want = format!("buffer of {len} bytes for bytes {start}..{end} of 4");
        assert_eq!(error.to_string(), want);
    }
    let mut three = [9; 3];
    encoded
        .part_of_whole(1..4, &mut three, |whole| {
            assert_eq!(*whole, [0; 4]);
            whole.copy_from_slice(&[5, 6, 7, 8]);
            Ok(())
        })
        .unwrap();
    assert_eq!(three, [6, 7, 8]);
    // All of it is decoded in place, without other memory.
    let none = limits.with_memory(0);
    let in_place = Encoded { limits: &none, ..encoded };
    let fill = |whole: &mut [u8]| {
        whole.fill(3);
        Ok(())
    };
    let mut four = [0; 4];
    in_place.part_of_whole(0..4, &mut four, fill).unwrap();
    assert_eq!(four, [3; 4]);
    assert!(in_place.part_of_whole(0..3, &mut three, fill).is_err());
}

#[test]
fn a_digest_prints_its_bytes_and_has_at_most_64() {
    let digest = Digest::new(&[0, 255, 16]).unwrap();
    assert_eq!((digest.to_string().as_str(), digest.as_bytes()), ("00ff10", &[0, 255, 16][..]));
    assert_eq!(format!("{digest:?}"), "Digest(00ff10)");
    assert_ne!(digest, Digest::new(&[0, 255, 16, 0]).unwrap());
    let most: Vec<u8> = (0..64).collect();
    assert_eq!(Digest::new(&most).unwrap().as_bytes(), most);
    assert!(matches!(Digest::new(&[0; 65]).unwrap_err().kind(), ErrorKind::Usage(_)));
    assert!(Digest::new(&[0; 256]).is_err());
    assert_eq!(Digest::new(&[]).unwrap().as_bytes(), [0_u8; 0]);
}
