//! Reading and verifying blocks of each kind: plain, encoded, with digests of either form.

use std::borrow::Cow;
use std::ops::Range;

use container_codecs::checksum::Algorithm;
use container_codecs::{built_in, zlib::Zlib};
use container_core::block::{Block, Covers, StoredChecksum, read_block, verify_block};
use container_core::checksum::Digest;
use container_core::codec::{Codec, Codecs};
use container_core::source::PIECE_LEN;
use container_core::{Error, ErrorKind, Limits, Progress, Result};

struct Stored {
    range: Range<u64>,
    decoded_len: u64,
    codec: Option<&'static str>,
    checksum: Option<(Digest, Covers)>,
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
        self.checksum.map(|(digest, covers)| Algorithm::Md5.stored(digest, covers))
    }
}

fn verify(file: &[u8], block: &Stored) -> Result<()> {
    verify_block(&file, block, &built_in(), &Limits::default(), Progress::none())
}

fn digest(covers: Covers, bytes: &[u8]) -> Option<(Digest, Covers)> {
    Some((Algorithm::Md5.digest(bytes), covers))
}

#[test]
fn digests_cover_their_declared_bytes() {
    let data = vec![7_u8; if cfg!(miri) { 100 } else { 2 * PIECE_LEN + 5 }];
    let mut file = b"head".to_vec();
    Zlib.encode(&data, None, &mut file).unwrap();
    let range = 4..file.len() as u64;
    let encoded = |checksum| Stored {
        range: range.clone(),
        decoded_len: data.len() as u64,
        codec: Some("zlib"),
        checksum,
    };
    verify(&file, &encoded(None)).unwrap();
    verify(&file, &encoded(digest(Covers::Stored, &file[4..]))).unwrap();
    verify(&file, &encoded(digest(Covers::Decoded, &data))).unwrap();
    let error = verify(&file, &encoded(digest(Covers::Stored, &data))).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Checksum { .. }));
    assert_eq!(error.range(), Some(range.clone()));

    let plain = |checksum| Stored {
        range: 1..data.len() as u64,
        decoded_len: data.len() as u64 - 1,
        codec: None,
        checksum,
    };
    verify(&data, &plain(digest(Covers::Stored, &data[1..]))).unwrap();
    verify(&data, &plain(digest(Covers::Decoded, &data[1..]))).unwrap();
    assert!(verify(&data, &plain(digest(Covers::Stored, &data))).is_err());
}

#[test]
fn plain_blocks_are_lent_and_encoded_ones_decoded() {
    let limits = Limits::default();
    let plain = Stored { range: 1..4, decoded_len: 3, codec: None, checksum: None };
    let file = [9, 1, 2, 3];
    let source = &file[..];
    let bytes = read_block(&source, &plain, &Codecs::none(), &limits.with_memory(0), 1);
    assert!(bytes.is_ok_and(|bytes| matches!(bytes, Cow::Borrowed([1, 2, 3]))));
    let kind = |block: Stored, limits: Limits| {
        let read = read_block(&source, &block, &built_in(), &limits, 1).map(|_| ());
        read.map_err(Error::into_kind).unwrap_err()
    };
    let block = |range, decoded_len, codec| Stored { range, decoded_len, codec, checksum: None };
    assert!(matches!(kind(block(1..9, 8, None), limits), ErrorKind::Truncated { need: 8, have: 3 }));
    assert!(matches!(kind(block(1..4, 4, None), limits), ErrorKind::Malformed(_)));
    assert!(matches!(kind(block(0..4, 4, Some("nix")), limits), ErrorKind::Unsupported(_)));
    assert!(matches!(kind(block(0..4, 4, Some("zlib")), limits), ErrorKind::Malformed(_)));
    assert!(matches!(kind(block(0..4, 9, Some("zlib")), limits.with_memory(8)), ErrorKind::Limit { .. }));
}
