//! Labels, lengths and sizes of encoded blocks that one bit has changed.

use super::*;
use crate::blocks::header::BlockHeader;
use crate::layout::StoredBlock;
use crate::repair::encoded_block::Tools;
use container_codecs::bzip2::Bzip2;
use container_core::Limits;
use container_core::codec::{Codec, Encoded};
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A file of one array of 50 numbers, encoded.
fn encoded(label: &str, slack: usize) -> (Vec<u8>, usize) {
    let tree = tree(&[("one", 0, "[50]")]);
    let head = [HEAD.as_bytes(), tree.as_bytes()].concat();
    let mut data = Vec::new();
    if label.is_empty() {
        data = numbers(50);
    } else {
        compression::encode(label, &numbers(50), &Default::default(), &mut data).unwrap();
    }
    let mut block = block(&data, slack);
    block[10..14].copy_from_slice(&[label.as_bytes(), &[0; 4]].concat()[..4]);
    block[30..38].copy_from_slice(&400_u64.to_be_bytes());
    ([&head[..], &block, &index(&[head.len()])].concat(), head.len())
}

#[test]
fn a_label_with_a_wrong_bit_is_the_nearest_that_decodes() {
    for label in ["zlib", "bzp2", "lz4", "zstd", "blsc"] {
        let (sound, at) = encoded(label, 0);
        for has_digest in [true, false] {
            let mut sound = sound.clone();
            if !has_digest {
                sound[at + 38..at + 54].fill(0);
            }
            // Of blocks without a digest every third.
            for bit in (0..32).step_by(if has_digest { 1 } else { 3 }) {
                let mut damaged = sound.clone();
                damaged[at + 10 + bit / 8] ^= 1 << (bit % 8);
                let (out, report) = repaired(&damaged);
                assert!(out == sound, "{label} {bit}: {report:?}");
                assert!(report.lost.is_empty() && report.guessed.len() == 1, "{label} {bit}: {report:?}");
            }
        }
        let mut damaged = sound.clone();
        damaged[at + 11] ^= 0x75;
        assert!(repaired(&damaged).0 == sound, "{label}: a whole byte");
    }
}

/// Any bytes are plain data, so they are no evidence for a block without a label.
#[test]
fn uncompressed_block_with_a_label_is_left_unchanged_and_reported() {
    let (sound, at) = encoded("", 0);
    for bit in 0..32 {
        let mut damaged = sound.clone();
        damaged[at + 10 + bit / 8] ^= 1 << (bit % 8);
        let (out, report) = repaired(&damaged);
        assert!(out == damaged && report.guessed.is_empty() && !report.lost.is_empty(), "{bit}: {report:?}");
    }
}

#[test]
fn a_label_of_the_decoded_digest_is_found_too() {
    let (mut sound, at) = encoded("zlib", 0);
    sound[at + 38..at + 54].copy_from_slice(Algorithm::Md5.digest(&numbers(50)).as_bytes());
    let mut damaged = sound.clone();
    damaged[at + 10] ^= 0x20;
    let (out, report) = repaired(&damaged);
    assert!(out == sound && report.lost.is_empty(), "{report:?}");
}

#[test]
fn unknown_codecs_are_kept_and_invalid_labels_are_lost() {
    let (sound, at) = encoded("zlib", 0);
    let mut vendor = sound.clone();
    vendor[at + 10..at + 14].copy_from_slice(b"abcd");
    let (out, report) = repaired(&vendor);
    assert!(out == vendor && report.guessed.is_empty(), "{report:?}");
    // The new file is damaged to `verify`, because an array is in the block.
    assert!(report.lost.len() == 1 && report.lost[0].what.starts_with("block 0: "), "{report:?}");
    assert!(report.kept.iter().any(|item| item.what.contains("unknown codec \"abcd\"")), "{report:?}");
    // No name of anything, and nothing that any codec decodes.
    let mut none = sound;
    none[at + 10..at + 14].copy_from_slice(b"\x01\x02\x03\x04");
    let end = none.len() - 42;
    none[end - 8..end].fill(0xff);
    let digest = Algorithm::Md5.digest(&none[at + 54..end]);
    none[at + 38..at + 54].copy_from_slice(digest.as_bytes());
    let (out, report) = repaired(&none);
    assert!(out == none && report.lost.len() == 1, "{report:?}");
    // Nor does the digest fit.
    vendor[at + 56] ^= 1;
    let (out, report) = repaired(&vendor);
    assert!(out == vendor && report.lost.len() == 2, "{report:?}");
}

/// The walk shows nothing of it: what is set aside is as it was.
#[test]
fn a_used_size_with_a_wrong_bit_is_what_fits_the_digest() {
    for (label, slack) in [("zlib", 0), ("zstd", 0), ("lz4", 7), ("bzp2", 4000)] {
        let (sound, at) = encoded(label, slack);
        let size = u64::from_be_bytes(sound[at + 22..at + 30].try_into().unwrap());
        for bit in (0..u64::BITS).filter(|bit| size ^ (1 << bit) <= size + slack as u64) {
            let mut damaged = sound.clone();
            damaged[at + 22..at + 30].copy_from_slice(&(size ^ (1 << bit)).to_be_bytes());
            let (out, report) = repaired(&damaged);
            assert!(out == sound, "{label} {bit}: {report:?}");
            assert!(report.lost.is_empty() && report.guessed.len() == 1, "{label} {bit}: {report:?}");
        }
    }
}

/// A writer that did not say what it wrote: nothing else can be told, and the rest of the file is repaired.
#[test]
fn exabyte_data_size_with_a_matching_digest_is_reported_as_lost() {
    let (mut damaged, at) = encoded("zlib", 0);
    damaged[at + 10..at + 14].copy_from_slice(b"xz\0\0");
    damaged[at + 30] = 0x10;
    let (out, report) = repaired(&damaged);
    assert!(out == damaged && report.lost.len() == 1, "{report:?}");
}

/// bzip2 that counts how often a part is asked for.
struct Counted(Arc<AtomicUsize>);

impl Codec for Counted {
    fn name(&self) -> &str {
        "bzp2"
    }

    fn decode(&self, src: &[u8], dst: &mut [u8]) -> Result<()> {
        Bzip2.decode(src, dst)
    }

    fn decode_range(&self, encoded: &Encoded<'_>, range: Range<u64>, dst: &mut [u8]) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Bzip2.decode_range(encoded, range, dst)
    }

    fn encode(&self, src: &[u8], level: Option<i32>, out: &mut Vec<u8>) -> Result<()> {
        Bzip2.encode(src, level, out)
    }

    fn reach(&self, encoded: &Encoded<'_>) -> Result<Option<u64>> {
        Bzip2.reach(encoded)
    }

    fn max_encoded_len(&self, len: usize) -> usize {
        Bzip2.max_encoded_len(len)
    }
}

/// Of a block that says it holds exabytes, what there is of it is found by decoding it once, not once for each power of two: a few hundred
/// bytes may decode to as much as memory holds.
#[test]
fn data_size_is_determined_by_decoding_once() {
    let mut data = Vec::new();
    compression::encode("bzp2", &[7; 3_000_000], &Default::default(), &mut data).unwrap();
    data.truncate(data.len() - 6);
    let used_size = data.len() as u64;
    let header = BlockHeader {
        header_size: 48,
        flags: 0,
        compression: *b"bzp2",
        allocated_size: used_size,
        used_size,
        data_size: 1 << 60,
        checksum: [0; 16],
    };
    let block = StoredBlock { index: 0, at: 0, header, data: 0..used_size, end: used_size };
    let asked = Arc::new(AtomicUsize::new(0));
    let mut codecs = compression::codecs();
    codecs.register(Counted(Arc::clone(&asked)));
    let limits = Limits::default();
    let tools = Tools { source: &data, codecs: &codecs, limits: &limits, digests: StaleChecksums::Keep };
    assert_eq!(crate::repair::encoded_block::decodable_len(&block, 1 << 60, &tools).unwrap(), 3_000_000);
    assert_eq!(asked.load(Ordering::Relaxed), 2);
}

#[test]
fn array_with_an_unknown_datatype_is_reported() {
    let (sound, _) = encoded("", 0);
    let at = sound.windows(5).position(|part| part == b"int64").unwrap();
    let mut damaged = sound;
    damaged[at + 2] = b'T';
    let (out, report) = repaired(&damaged);
    assert!(out == damaged && report.lost.len() == 1, "{report:?}");
    assert!(report.lost[0].what.starts_with("one: unreadable array left unchanged: "), "{report:?}");
}

/// The digest is that of the stored bytes: it says nothing of the label, so the bytes must not become values under none.
#[test]
fn a_label_that_is_wiped_is_the_one_that_decodes_to_the_size_of_the_data() {
    for label in ["zlib", "bzp2", "lz4", "zstd", "blsc"] {
        let (sound, at) = encoded(label, 0);
        for has_digest in [true, false] {
            let mut sound = sound.clone();
            if !has_digest {
                sound[at + 38..at + 54].fill(0);
            }
            for fill in [0, 0xff] {
                let mut damaged = sound.clone();
                damaged[at + 10..at + 14].fill(fill);
                let (out, report) = repaired(&damaged);
                assert!(out == sound, "{label} {fill}: {report:?}");
                assert!(report.lost.is_empty() && report.guessed.len() == 1, "{label} {fill}: {report:?}");
                let what = &report.guessed[0].what;
                assert!(what.contains(&format!("compression corrected to {label:?}")), "{what}");
            }
        }
    }
}

/// The heads of chunks say as many bytes as the header, and are no proof that the chunks hold them.
#[test]
fn chunks_that_cannot_be_decoded_are_not_kept_because_of_their_heads() {
    for label in ["lz4", "zstd", "blsc"] {
        for has_digest in [true, false] {
            let (mut damaged, at) = encoded(label, 0);
            // What fits its digest and cannot be decoded was written so.
            let used = u64::from_be_bytes(damaged[at + 22..at + 30].try_into().unwrap());
            let end = at + 54 + usize::try_from(used).unwrap();
            damaged[end - 40..end].fill(0xff);
            let digest = Algorithm::Md5.digest(&damaged[at + 54..end]);
            damaged[at + 38..at + 54].copy_from_slice(if has_digest { digest.as_bytes() } else { &[0; 16] });
            let (_, report) = repaired(&damaged);
            assert!(!report.lost.is_empty(), "{label} {has_digest}: {report:?}");
        }
    }
}

#[test]
fn streamed_flag_of_a_compressed_block_is_cleared_or_reported() {
    for label in ["zlib", "lz4", "bzp2"] {
        let (sound, at) = encoded(label, 0);
        let marker = sound.windows(17).position(|part| part == b"#ASDF BLOCK INDEX").unwrap();
        for has_digest in [true, false] {
            let mut sound = sound.clone();
            if !has_digest {
                sound[at + 38..at + 54].fill(0);
            }
            let mut damaged = sound[..marker].to_vec();
            damaged[at + 9] ^= 1;
            let (out, report) = repaired(&damaged);
            assert!(out == sound && report.lost.is_empty(), "{label} {has_digest}: {report:?}");
            // Nothing tells what such a block was.
            damaged[marker - 9..].fill(0xff);
            let (out, report) = repaired(&damaged);
            assert!(out == damaged, "{label} {has_digest}: {report:?}");
            let what = &report.lost[0].what;
            assert!(what.starts_with("block 0: streamed with a codec"), "{label}: {what}");
        }
    }
    // Sizes of zero, as a streamed block has them, are no evidence that it was another.
    let (mut empty, at) = encoded("zlib", 0);
    empty.truncate(at + 54);
    empty[at + 9] = 1;
    empty[at + 14..at + 54].fill(0);
    let (out, report) = repaired(&empty);
    assert!(out == empty && report.guessed.is_empty(), "{report:?}");
    assert!(
        report.lost.iter().any(|item| item.what.starts_with("block 0: streamed with a codec")),
        "{report:?}"
    );
    // A wrong bit in the label of a streamed block: any bytes are plain data.
    let (mut damaged, at) = encoded("", 0);
    damaged.truncate(at + 54 + 400);
    damaged[at + 9] = 1;
    damaged[at + 14..at + 54].fill(0);
    damaged[at + 11] = 0x40;
    let (out, report) = repaired(&damaged);
    assert!(out == damaged && report.lost.len() == 1, "{report:?}");
}

/// Python asdf before 5.3 wrote digests of the decoded bytes. They are right, and are replaced only on request.
#[test]
fn digests_of_decoded_bytes_are_renewed_on_request() {
    // `zlib.compress(b"ab" * 20)` of Python's zlib.
    let zlib = [0x78, 0x9c, 0x4b, 0x4c, 0x4a, 0x24, 0x0a, 0x02, 0x00, 0x38, 0x7b, 0x0f, 0x3d];
    let array = "a: !core/ndarray-1.1.0 {source: 0, datatype: uint8, byteorder: big, shape: [40]}\n";
    let tree = format!("%YAML 1.1\n%TAG ! tag:stsci.edu:asdf/\n--- !core/asdf-1.1.0\n{array}...\n");
    let mut block = block(&zlib, 0);
    block[10..14].copy_from_slice(b"zlib");
    block[30..38].copy_from_slice(&40_u64.to_be_bytes());
    let at = HEAD.len() + tree.len();
    let with = |digest: &[u8]| {
        let mut block = block.clone();
        block[38..54].copy_from_slice(digest);
        [HEAD.as_bytes(), tree.as_bytes(), &block, &index(&[at])].concat()
    };
    let (stored, decoded) = (Algorithm::Md5.digest(&zlib), Algorithm::Md5.digest(&b"ab".repeat(20)));
    let (legacy, today) = (with(decoded.as_bytes()), with(stored.as_bytes()));
    let place = Some(at as u64..(at + 54 + zlib.len()) as u64);
    for (bytes, digests, expected) in [
        (&legacy, StaleChecksums::Keep, &legacy),
        (&legacy, StaleChecksums::Renew, &today),
        (&today, StaleChecksums::Renew, &today),
    ] {
        let (out, report) = repaired_with(bytes, digests).unwrap();
        assert!(out == *expected, "{report:?}");
        assert!(report.lost.is_empty() && report.guessed.is_empty(), "{report:?}");
        assert!(report.kept.iter().any(|item| item.range == place), "{report:?}");
    }
}
