//! Chunks that are proved but do not belong to the file, and damaged ones with a false size.

use container_core::Limits;
use container_core::dtype::{DType, Order};

use super::moved::{bare, whats, whole, without};
use super::{data, repair_bytes, sound, stored, values};
use crate::layout::Layout;
use crate::repair::*;
use crate::write::WriteOptions;
use crate::{ChecksumCode, NumpyArray};

#[test]
fn duplicate_chunks_never_replace_a_lost_chunk() {
    // Among the spare offsets, which are not read; chunk 0 has no header any more.
    let mut damaged = whole();
    damaged.copy_within(1360..1480, 500);
    damaged[1000] = 0;
    let (repaired, report) = repair_bytes(damaged);
    assert_eq!(values(&repaired), without(&[0]), "{report:?}");
    let lost = ["1 whole chunks without a number: left out", "chunk 0 is damaged: zeros in the new file"];
    assert_eq!(whats(&report.lost), lost);
    // Over the end of chunk 5 and the beginning of the next.
    for mut damaged in [whole(), bare()] {
        let first = damaged.len() - 1270;
        damaged.copy_within(first + 120..first + 240, first + 5 * 120 + 7);
        let (repaired, report) = repair_bytes(damaged);
        assert_eq!(values(&repaired), without(&[5, 6]), "{report:?}");
    }
}

/// In data that are all the same every chunk is a copy of the others, wherever it has moved to.
#[test]
fn chunks_that_are_all_the_same_are_found_where_they_have_moved() {
    let mut writer = crate::Writer::new(std::io::Cursor::new(Vec::new()), Some(1000), &stored()).unwrap();
    writer.push(&[7; 1000]).unwrap();
    let mut damaged = writer.complete().unwrap().0.into_inner();
    let place = damaged.len() - 7 * 120 - 50;
    damaged.insert(place, 1);
    let (repaired, report) = repair_bytes(damaged);
    let lost: Vec<usize> =
        values(&repaired).iter().enumerate().filter(|it| *it.1 == 0).map(|it| it.0).collect();
    assert_eq!(lost, (200..300).collect::<Vec<_>>(), "{report:?}");
}

#[test]
fn the_size_in_the_header_of_a_damaged_chunk_is_not_believed() {
    // Ten compressed chunks of 1000 bytes, and one of 500.
    let numpy = NumpyArray { dtype: DType::parse("<i2").unwrap(), shape: vec![1750, 3], order: Order::C };
    let bytes: Vec<u8> = (0..10_500_usize).map(|at| u8::try_from(at / 300 + 1).unwrap()).collect();
    for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32] {
        for base in [stored(), stored().for_array(&numpy)] {
            let mut options = WriteOptions { chunk_size: Some(1000), ..base };
            options.chunks = options.chunks.with_checksum(checksum);
            (options.chunks.level, options.chunks.typesize) = (9, 1);
            let mut writer =
                crate::Writer::new(std::io::Cursor::new(Vec::new()), Some(10_500), &options).unwrap();
            writer.push(&bytes).unwrap();
            let file = writer.complete().unwrap().0.into_inner();
            let layout = Layout::parse(&file, &Limits::default()).unwrap();
            for chunk in [0, 4, 9, 10] {
                let at = usize::try_from(layout.chunks()[chunk].range().start).unwrap();
                // One byte more, others more, and more than the limits allow.
                for (place, bit) in [(4, 1), (4, 0x10), (5, 0x10), (6, 1), (7, 0x40)] {
                    let mut damaged = file.clone();
                    damaged[at + place] ^= bit;
                    // Another field than the size, without a digest.
                    damaged[at + 8] ^= 3;
                    let (repaired, report) = repair_bytes(damaged);
                    let mut expected = bytes.clone();
                    expected[chunk * 1000..(chunk * 1000 + 1000).min(10_500)].fill(0);
                    assert!(values(&repaired) == expected, "{chunk} {place} {bit}: {report:?}");
                    assert_eq!(report.lost.len(), 1, "{chunk} {place} {bit}: {report:?}");
                    let after = Layout::parse(&repaired, &Limits::default()).unwrap();
                    assert_eq!(after.numpy(), layout.numpy());
                }
            }
        }
    }
}

#[test]
fn without_digests_the_chunk_that_swallows_the_next_one_is_the_damaged_one() {
    let mut options = stored();
    options.chunks = options.chunks.with_checksum(ChecksumCode::NONE);
    let file = sound(&options);
    let first = file.len() - 10 * 116 - 66;
    for many in [1, 8, 20] {
        let mut damaged = file.clone();
        damaged.drain(first + 2 * 116 + 50..first + 2 * 116 + 50 + many);
        let (repaired, report) = repair_bytes(damaged);
        assert_eq!(values(&repaired), without(&[2]), "{many}: {report:?}");
        assert_eq!(whats(&report.lost), ["chunk 2 is damaged: zeros in the new file"]);
    }
    // A chunk whose data look like a chunk is unchanged.
    let mut nested = data(1050);
    nested[210..226].copy_from_slice(&file[first..first + 16]);
    let mut writer = crate::Writer::new(std::io::Cursor::new(Vec::new()), Some(1050), &options).unwrap();
    writer.push(&nested).unwrap();
    let mut damaged = writer.complete().unwrap().0.into_inner();
    damaged[first + 5 * 116] = 0;
    nested[500..600].fill(0);
    assert_eq!(values(&repair_bytes(damaged).0), nested);
}

#[test]
fn a_header_of_zeros_does_not_make_an_empty_file() {
    let mut options = WriteOptions { chunk_size: Some(500), ..stored() };
    options.chunks.checksum = ChecksumCode::NONE;
    let mut damaged = sound(&options);
    damaged[15..].fill(0);
    let attempt = |file: &[u8]| {
        let mut out = Vec::new();
        let input = Input::bytes(Box::new(file.to_vec()));
        repair_to(input, &OpenOptions::default(), Some(&mut out), Progress::none())
    };
    assert!(attempt(&damaged).unwrap_err().is_damage());
    // Without a count, the left-out bytes are reported.
    damaged[7..].fill(0);
    assert_eq!(attempt(&damaged).unwrap().lost.len(), 1);
}
