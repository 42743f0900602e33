use container_core::Progress;
use container_core::container::OpenOptions;
use container_core::format::Input;

use super::*;
use crate::repair::repair_to;
use crate::{Encoding, RawArray, WriteOptions};

fn repaired(file: &[u8]) -> (Vec<u8>, RepairReport) {
    let (input, options) = (Input::bytes(Box::new(file.to_vec())), OpenOptions::default());
    let mut out = Vec::new();
    let report = repair_to(input, &options, Some(&mut out), Progress::none());
    report.map_or_else(|_| (Vec::new(), RepairReport::default()), |report| (out, report))
}

/// Whether the original of a flipped bit is open: the other byte order, another type of that width, or a size that is wrong in itself,
/// which another part reports.
fn is_open(word: usize, bit: u32) -> bool {
    matches!((word, bit), (1, 0) | (2, 0..=2) | (4, _))
}

#[test]
fn any_bit_of_a_header_that_no_other_word_allows_is_turned_back() {
    let values: Vec<i32> = (0..700).collect();
    let mut file = Vec::new();
    RawArray::new(vec![100, 7], values).unwrap().write_to(&mut file, &WriteOptions::default()).unwrap();
    any_bit(&file);
    file.extend_from_slice(b"behind it");
    any_bit(&file);
}

fn encoded(encoding: Encoding, dims: &[u64]) -> Vec<u8> {
    let count = i32::try_from(dims.iter().product::<u64>()).unwrap();
    let values: Vec<i32> = (0..count).map(|at| at / 5 % 90).collect();
    let mut file = Vec::new();
    let options = WriteOptions { encoding, ..WriteOptions::default() };
    RawArray::new(dims.to_vec(), values).unwrap().write_to(&mut file, &options).unwrap();
    file
}

/// The decoded length is as good evidence as the length of plain data.
#[test]
fn any_bit_of_a_header_over_a_block_or_varints_is_turned_back() {
    for encoding in [Encoding::Lz4, Encoding::Leb128] {
        let file = encoded(encoding, &[30, 100]);
        let (same, report) = repaired(&file);
        assert!(same == file && report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
        for word in 1..8 {
            for bit in (0..64).filter(|bit| !matches!((word, bit), (1, 0) | (2, 0..=2))) {
                let mut damaged = file.clone();
                damaged[word * 8 + bit / 8] ^= 1 << (bit % 8);
                let (out, report) = repaired(&damaged);
                if (encoding, word, bit) == (Encoding::Leb128, 1, 1) {
                    // A plain file that was cut has the same words.
                    assert!(!report.lost.is_empty());
                    continue;
                }
                let told = report.guessed.iter().any(|item| item.range.is_some()) && report.lost.is_empty();
                assert!(out == file && told, "{encoding:?}, word {word}, bit {bit}: {report:?}");
            }
        }
    }
}

/// Size and file say that there are 32 elements, and either of the dimensions may be the wrong one; or both are.
#[test]
fn all_elements_are_kept_where_it_is_not_known_which_dimension_is_wrong() {
    let values: Vec<i32> = (0..32).collect();
    let mut plain = Vec::new();
    RawArray::new(vec![4, 8], values).unwrap().write_to(&mut plain, &WriteOptions::default()).unwrap();
    for mut damaged in [plain, encoded(Encoding::Lz4, &[4, 8])] {
        for (first, second) in [(4, 4), (3, 3)] {
            // Of a block that may as well be damaged itself, two words of the header are not held for wrong.
            if (first, second) == (3, 3) && damaged[8] == 2 {
                continue;
            }
            (damaged[48], damaged[56]) = (first, second);
            let (out, report) = repaired(&damaged);
            assert_eq!((out[48], out[56], report.lost.len()), (32, 1, 1), "{report:?}");
            assert!(repaired(&out).1.lost.is_empty());
        }
    }
}

/// A block may be damaged itself.
#[test]
fn elements_that_a_block_has_and_the_dimensions_have_not_are_never_dropped_without_a_word() {
    let file = encoded(Encoding::Lz4, &[30, 100]);
    for (first, second) in [(31, 97), (7, 11), (30, 1)] {
        let mut damaged = file.clone();
        (damaged[48], damaged[56]) = (first, second);
        let (out, report) = repaired(&damaged);
        assert!(out == file || !report.lost.is_empty(), "{first} {second}: {report:?}");
    }
}

fn any_bit(file: &[u8]) {
    let (same, report) = repaired(file);
    assert!(same == file && report.guessed.is_empty() && report.lost.is_empty(), "{report:?}");
    for word in 1..8 {
        for bit in 0..64 {
            let mut damaged = file.to_vec();
            damaged[word * 8 + bit as usize / 8] ^= 1 << (bit % 8);
            let (out, report) = repaired(&damaged);
            if is_open(word, bit) {
                continue;
            }
            assert!(out == file && report.lost.is_empty(), "word {word}, bit {bit}: {report:?}");
            assert_eq!(report.guessed[0].range, Some(word as u64 * 8..word as u64 * 8 + 8));
        }
    }
    // A word of zeros, or of anything.
    for (word, value) in [(3, 0_u64), (5, 0), (6, 12_345), (7, u64::MAX), (3, u64::MAX), (1, 0xabcd_0000)] {
        let mut damaged = file.to_vec();
        damaged[word * 8..word * 8 + 8].copy_from_slice(&value.to_le_bytes());
        assert!(repaired(&damaged).0 == file, "word {word}");
    }
}

#[test]
fn what_is_cut_or_wrong_twice_stays() {
    let values: Vec<i32> = (0..700).collect();
    let mut file = Vec::new();
    RawArray::new(vec![100, 7], values).unwrap().write_to(&mut file, &WriteOptions::default()).unwrap();
    let mut twice = file.clone();
    (twice[24], twice[56]) = (5, 11);
    for damaged in [&file[..900], &twice, b"rawarray", b""] {
        let mut report = RepairReport::default();
        let source =
            with_corrected_header(Box::new(damaged.to_vec()), &Limits::default(), &mut report).unwrap();
        assert_eq!(&*source.read(0..damaged.len() as u64).unwrap(), damaged);
        assert_eq!(report, RepairReport::default());
    }
}

/// A few more varints than there are elements, and yet no plain data with a trailer: what is behind the place is not what it was.
#[test]
fn bytes_put_in_among_varints_do_not_make_plain_data_of_them() {
    let file = encoded(Encoding::Leb128, &[300]);
    let (at, element) = (file.len() - 100, file.len() - 60);
    for more in [&[1, 2][..], &[1; 8], &[1, 2, 0x83, 4, 5, 6, 7, 8, 9, 10, 11, 12]] {
        for at in [at, element] {
            let damaged = [&file[..at], more, &file[at..]].concat();
            let (out, report) = repaired(&damaged);
            assert!(!report.lost.is_empty(), "{more:?} at {at}: {report:?}");
            assert!(report.kept.iter().all(|item| !item.what.contains("trailer")), "{report:?}");
            assert!(out.is_empty() || out[8] == file[8], "{more:?} at {at}: {report:?}");
        }
    }
}
