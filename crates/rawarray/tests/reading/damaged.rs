//! Damaged files: reading, refusal and repair.

use container_core::container::{OpenOptions, ReadOptions, Tolerance};
use container_core::dtype::Order;
use container_core::format::Input;
use container_core::region::Region;
use container_core::report::RepairReport;
use container_core::source::SparseSource;
use container_core::{ErrorKind, Limits, Progress, Result};
use rawarray::{Encoding, FORMAT, Fault, File, RawArray, WriteOptions};

fn file(flags: u64, eltype: u64, elbyte: u64, size: u64, dims: &[u64], data: &[u8]) -> Vec<u8> {
    let words = [u64::from_le_bytes(*b"rawarray"), flags, eltype, elbyte, size, dims.len() as u64];
    let header = words.iter().chain(dims).flat_map(|word| word.to_le_bytes());
    header.chain(data.iter().copied()).collect()
}

fn open(bytes: &[u8]) -> File {
    File::from_source(Box::new(bytes.to_vec()), &OpenOptions::default()).unwrap()
}

fn repair(bytes: &[u8]) -> Result<(File, RepairReport)> {
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(bytes.to_vec()));
    let repair = FORMAT.repair.unwrap();
    let report = repair(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((open(&out), report))
}

fn bytes_of(file: &File) -> Vec<u8> {
    let array = file.read_all(&ReadOptions::default()).unwrap();
    array.bytes(Order::F, &Limits::default()).unwrap().into_owned()
}

/// A writer that died before it patched the size field; the zeros among the data are not dimensions.
#[test]
fn zero_size_field_is_repaired_from_the_dimensions() {
    let damaged = file(0, 2, 1, 0, &[4], &[0, 0, 7, 8, 0, 0, 0, 0]);
    assert!(matches!(open(&damaged).faults()[0], Fault::SizeMismatch { size: 0, expected: 4 }));
    let (repaired, _) = repair(&damaged).unwrap();
    assert_eq!((repaired.dims(), bytes_of(&repaired)), (&[4][..], vec![0, 0, 7, 8]));
    assert_eq!(*repaired.trailer().unwrap(), [0; 4]);
}

/// A block that decodes to 8 of 16 bytes, and a trailer whose bytes would decode to more.
#[test]
fn bytes_after_a_damaged_block_are_kept_as_trailer() {
    let block = [0x80, 1, 2, 3, 4, 5, 6, 7, 8];
    let damaged = file(2, 3, 4, 9, &[4], &[&block[..], b"\x01\x00\x40JUNK"].concat());
    let (repaired, report) = repair(&damaged).unwrap();
    assert_eq!((repaired.dims(), bytes_of(&repaired)), (&[2][..], vec![1, 2, 3, 4, 5, 6, 7, 8]));
    assert_eq!(*repaired.trailer().unwrap(), *b"\x01\x00\x40JUNK");
    assert_eq!(report.lost.len(), 1);
}

/// A block of eight bytes for eight elements, each byte of which is a varint as well.
#[test]
fn data_that_fit_both_encodings_are_refused_and_not_repaired() {
    let block = [0x10, 7, 1, 0, 0x30, 1, 2, 3];
    let ambiguous = file(2, 2, 1, 8, &[8], &block);
    assert!(matches!(open(&ambiguous).faults()[0], Fault::AmbiguousEncoding { .. }));
    assert!(open(&ambiguous).read_all(&ReadOptions::default()).is_err());
    assert!(repair(&ambiguous).is_err());
    let mut options = OpenOptions::default();
    options.assume_codec = Some("lz4".into());
    let file = File::from_source(Box::new(ambiguous), &options).unwrap();
    assert_eq!(bytes_of(&file), [7, 7, 7, 7, 7, 1, 2, 3]);
}

#[test]
fn present_elements_of_a_truncated_file_are_readable() {
    // 3 × 4 of u1, of which seven are there.
    let cut = open(&file(0, 2, 1, 12, &[3, 4], &[0, 1, 2, 3, 4, 5, 6]));
    let read = |text: &str| {
        let region = Region::parse(text, cut.dims()).unwrap();
        let array = cut.read(&region, &ReadOptions::default())?;
        Ok::<_, container_core::Error>(array.bytes(Order::F, &Limits::default())?.into_owned())
    };
    assert_eq!(read(":, :2").unwrap(), [0, 1, 2, 3, 4, 5]);
    assert_eq!(read("0, 2").unwrap(), [6]);
    let error = read("1, 2").unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Truncated { need: 12, have: 7 }));
    assert_eq!(error.range(), Some(64..76));
    assert!(read("...").is_err());
    let other = Region::whole(&[3, 5]);
    assert!(matches!(cut.read(&other, &ReadOptions::default()).unwrap_err().kind(), ErrorKind::Usage(_)));
}

#[test]
fn file_opens_when_encoding_detection_exceeds_the_memory_limit() {
    let bytes = file(2, 2, 1, 1000, &[1000], &[1; 1000]);
    let mut sparse = SparseSource::new(bytes.len() as u64);
    // In two pieces, so that the source cannot lend the bytes.
    sparse.insert(0, &bytes[..500]).unwrap();
    sparse.insert(500, &bytes[500..]).unwrap();
    let mut options = OpenOptions::default();
    options.limits = Limits::default().with_memory(100);
    let file = File::from_source(Box::new(sparse.clone()), &options).unwrap();
    assert_eq!(file.dims(), [1000]);
    let error = file.read_all(&ReadOptions::default()).unwrap_err();
    assert!(matches!(error.kind(), ErrorKind::Limit { asked: 1000, allowed: 100, .. }));
    let lens = (FORMAT.open)(Input::bytes(Box::new(sparse)), &options).unwrap();
    let depth = container_core::container::CheckDepth::Full;
    let checked = lens.check(depth, &ReadOptions::default(), Progress::none());
    assert!(matches!(checked.unwrap_err().kind(), ErrorKind::Limit { .. }));
}

#[test]
fn a_wrong_size_field_is_read_leniently_where_the_values_are_there() {
    let bytes = file(0, 2, 1, 3, &[4], &[1, 2, 3, 4]);
    assert!(open(&bytes).read_all(&ReadOptions::default()).is_err());
    let mut options = OpenOptions::default();
    options.tolerance = Tolerance::Lenient;
    let file = File::from_source(Box::new(bytes), &options).unwrap();
    assert_eq!(bytes_of(&file), [1, 2, 3, 4]);
}

/// The dimensions of damaged bit arrays may ask for fewer words than there are; size field and file end contradict them.
#[test]
fn bit_words_beyond_the_dimensions_are_kept_as_trailer() {
    let words: Vec<u8> = (1..=16).collect();
    let (repaired, report) = repair(&file(6, 5, 8, 16, &[4, 13], &words)).unwrap();
    assert_eq!((repaired.dims(), &*repaired.trailer().unwrap()), (&[4, 13][..], &words[8..]));
    assert_eq!((report.guessed.len(), report.lost.len()), (0, 1), "{report:?}");
}

/// A missing or an extra word of the header may leave no elements at all, so that the stored data are dropped.
#[test]
fn dropped_encoded_data_is_reported_as_lost() {
    for (size, data) in [(96, &[1, 2, 3, 4, 0, 7][..]), (16, &[9, 1])] {
        let (repaired, report) = repair(&file(2, 1, 4, size, &[0, 2, 3], data)).unwrap();
        assert_eq!((repaired.dims(), report.lost.len()), (&[0, 2, 3][..], 1), "{report:?}");
    }
    let (_, report) = repair(&file(2, 1, 4, 5, &[0], &[])).unwrap();
    assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{report:?}");
}

/// The end of a block is where its last literals make the last of the elements.
#[test]
fn a_size_beyond_the_file_costs_no_trailer_behind_a_block() {
    let block = [0x50, 1, 2, 3, 4, 5, 1, 0, 0x40, 6, 7, 8, 9];
    let decoded_len = 5 + 4 + 4;
    for trailer in [&b"\xff\x00behind it\x01"[..], b"text", b""] {
        for size in [1 << 5 | 13, 0x6ba4, u64::MAX] {
            let stored = [&block, trailer].concat();
            let (repaired, report) = repair(&file(2, 0, 1, size, &[decoded_len], &stored)).unwrap();
            assert_eq!(
                (bytes_of(&repaired).len(), &*repaired.trailer().unwrap()),
                (13, trailer),
                "{report:?}"
            );
            assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{report:?}");
        }
    }
}

/// A byte joins two values, or the file is cut: the rest is not plain data with a trailer.
#[test]
fn damaged_varints_are_not_read_as_plain_bytes() {
    let values: Vec<u8> = (0..=255).collect();
    let stored: Vec<u8> =
        values.iter().flat_map(|&value| if value < 128 { vec![value] } else { vec![value, 1] }).collect();
    let mut joined = stored.clone();
    joined[20] |= 0x80;
    for (data, most) in [(&joined, 21), (&stored[..300].to_vec(), 256)] {
        let (repaired, report) = repair(&file(2, 2, 1, 256, &[256], data)).unwrap();
        let found = bytes_of(&repaired);
        assert!(found.len() < 256 && report.lost.len() == 1, "{report:?}");
        assert!(found.iter().zip(&values).take(most - 1).all(|(is, was)| is == was), "{report:?}");
    }
}

/// The first of 64 dimensions is there, and a byte of the second.
#[test]
fn repair_refuses_a_file_truncated_within_its_dimensions() {
    let whole = file(0, 1, 2, 2, &[1; 64], &[5, 0]);
    // Two bytes after so many dimensions are the bytes of one element.
    for cut in (49..whole.len() - 2).filter(|cut| cut % 8 != 2) {
        assert!(repair(&whole[..cut]).is_err(), "{cut}");
    }
}

fn encoded(encoding: Encoding, dims: &[u64]) -> Vec<u8> {
    let count = i32::try_from(dims.iter().product::<u64>()).unwrap();
    let values: Vec<i32> = (0..count).map(|at| at / 5 % 90).collect();
    let mut file = Vec::new();
    let mut options = WriteOptions::default();
    options.encoding = encoding;
    RawArray::new(dims.to_vec(), values).unwrap().write_to(&mut file, &options).unwrap();
    file
}

/// The size in a header follows from the other words and the end of the data. So does the number of dimensions of plain data, which a reshape leaves
/// wrong. Byte order and type have no second record.
#[test]
fn header_damage_is_reported_and_only_size_and_ndims_are_corrected() {
    for encoding in [Encoding::Plain, Encoding::Lz4, Encoding::Leb128] {
        let file = encoded(encoding, &[30, 100]);
        for word in 1..8_u64 {
            for bit in (0..64_u64).filter(|bit| !matches!((word, bit), (1, 0) | (2, 0..=2))) {
                let mut damaged = file.clone();
                damaged[usize::try_from(word * 8 + bit / 8).unwrap()] ^= 1 << (bit % 8);
                let Ok((repaired, report)) = repair(&damaged) else { continue };
                let name = format!("{encoding:?}, word {word}, bit {bit}: {report:?}");
                if word == 4 || (encoding, word) == (Encoding::Plain, 5) {
                    let found = (repaired.dims(), bytes_of(&repaired));
                    assert_eq!(found, (&[30, 100][..], bytes_of(&open(&file))), "{name}");
                    assert_eq!((report.guessed.len(), report.lost.len()), (1, 0), "{name}");
                    assert_eq!(report.guessed[0].range, Some(word * 8..word * 8 + 8), "{name}");
                } else {
                    assert!(report.guessed.is_empty() && !report.lost.is_empty(), "{name}");
                }
            }
        }
    }
}

/// Size field and end of the file both give 32 elements, and the dimensions give fewer or more.
#[test]
fn all_elements_are_kept_where_dimensions_contradict_size_and_data() {
    for encoding in [Encoding::Plain, Encoding::Lz4] {
        let file = encoded(encoding, &[4, 8]);
        for (dims, kept) in [
            ([4, 4], [32, 1]),
            ([3, 3], [32, 1]),
            ([2, 8], [32, 1]),
            // Of elements that fill the leading dimensions, the last one is taken for the wrong one.
            ([4, 9], [4, 8]),
            ([8, 8], [8, 4]),
            ([5, 8], [32, 1]),
            ([0xff, 0xff], [32, 1]),
        ] {
            let mut damaged = file.clone();
            (damaged[48], damaged[56]) = (dims[0], dims[1]);
            let (repaired, report) = repair(&damaged).unwrap();
            assert_eq!((repaired.dims(), report.lost.len()), (&kept[..], 1), "{report:?}");
            assert_eq!(bytes_of(&repaired), bytes_of(&open(&file)));
            assert_eq!(report.lost[0].range, Some(48..64));
        }
    }
}

/// Values after the place have changed, and are not plain data with a trailer.
#[test]
fn bytes_put_in_among_varints_do_not_make_plain_data_of_them() {
    let file = encoded(Encoding::Leb128, &[300]);
    let (at, element) = (file.len() - 100, file.len() - 60);
    for more in [&[1, 2][..], &[1; 8], &[1, 2, 0x83, 4, 5, 6, 7, 8, 9, 10, 11, 12]] {
        for at in [at, element] {
            let damaged = [&file[..at], more, &file[at..]].concat();
            let (repaired, report) = repair(&damaged).unwrap();
            assert!(!report.lost.is_empty(), "{more:?} at {at}: {report:?}");
            assert_eq!((repaired.encoding(), &*repaired.trailer().unwrap()), (Encoding::Leb128, &[][..]));
        }
    }
}

#[test]
fn every_correction_of_a_damaged_fixture_names_its_evidence() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/rawarray/bad");
    let mut corrected = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let Ok((_, report)) = repair(&std::fs::read(&path).unwrap()) else { continue };
        assert!(report.guessed.iter().all(|item| item.evidence.is_some()), "{}: {report:?}", path.display());
        corrected += report.guessed.len();
    }
    assert!(corrected > 10, "{corrected}");
}
