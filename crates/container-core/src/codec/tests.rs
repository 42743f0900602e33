use std::borrow::Cow;

use super::*;
use crate::block::tests::{BYTES, Copied, Flip, codecs, stopped};
use crate::source::Source;
use crate::{ErrorKind, Limits};

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
