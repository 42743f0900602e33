use container_core::container::{OpenOptions, ReadOptions, Tolerance};

use super::*;
use crate::file::File;
use crate::write::{ChunkOptions, WriteOptions};
use crate::{ChecksumCode, Writer};

/// Ten chunks of 200 bytes and one of 140, of which the second can be encoded.
fn sample(checksum: ChecksumCode) -> (Vec<u8>, Vec<u8>) {
    let noise = |at: usize| (at.wrapping_mul(2_654_435_761) >> 7) as u8;
    let plain: Vec<u8> = (0..2140).map(|at| if at / 200 == 1 { 7 } else { noise(at) }).collect();
    let chunks = ChunkOptions { checksum, typesize: 1, ..ChunkOptions::default() };
    let options =
        WriteOptions { chunks, chunk_size: Some(200), max_app_chunks: Some(1), ..WriteOptions::default() };
    let mut out = std::io::Cursor::new(Vec::new());
    let mut writer = Writer::new(&mut out, Some(2140), &options).unwrap();
    writer.push(&plain).unwrap();
    writer.complete().unwrap();
    (out.into_inner(), plain)
}

fn open(bytes: &[u8]) -> Option<File> {
    File::from_source(Box::new(bytes.to_vec()), &OpenOptions::default()).ok()
}

#[test]
fn sound_file_is_read_without_scanning_all_chunks() {
    for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32] {
        let (bytes, plain) = sample(checksum);
        let file = open(&bytes).unwrap();
        let outline = file.outline().unwrap();
        assert_eq!((outline.count(), outline.codec()), (11, "blosclz"));
        let entries: Vec<_> = (0..11).filter_map(|index| outline.entry(index)).collect();
        for range in [0..2140, 0..1, 395..805, 1999..2140, 2140..2140] {
            let read = file.read_range(range.clone(), &ReadOptions::default()).unwrap();
            assert_eq!(read, plain[range.start as usize..range.end as usize], "{range:?}");
        }
        assert!(file.outline().is_some());
        let stored = file.outline().unwrap().stored();
        let same = |(own, all): (&ChunkEntry, &ChunkEntry)| {
            (own.range(), own.data(), own.state()) == (all.range(), all.data(), all.state())
        };
        assert!(entries.iter().zip(file.chunks()).all(same) && file.chunks().len() == 11);
        let all = file.chunks().iter().map(|chunk| chunk.range().end - chunk.range().start).sum::<u64>();
        assert_eq!(stored, all);
    }
}

/// Offsets that overlap, go backwards or point past the end of the file, chunks of other lengths: values are the same as after reading
/// all chunk headers.
#[test]
fn damaged_files_read_the_same_with_and_without_a_full_scan() {
    let options = ReadOptions::default();
    for checksum in [ChecksumCode::NONE, ChecksumCode::ADLER32] {
        let (bytes, _) = sample(checksum);
        let sound = open(&bytes).unwrap();
        let places = sound.chunks().iter().flat_map(|chunk| chunk.range().start..chunk.range().start + 16);
        let places: Vec<u64> = (0..sound.layout().offsets().end).chain(places).collect();
        for place in places {
            for change in [1_u8, 0x10, 0x80, 0xff] {
                let mut bytes = bytes.clone();
                bytes[place as usize] ^= change;
                let (Some(quick), Some(all)) = (open(&bytes), open(&bytes)) else { continue };
                all.full_layout().unwrap();
                for range in [0..2140, 0..200, 200..600, 350..351, 1980..2140] {
                    let read = |file: &File| file.read_range(range.clone(), &options);
                    match (read(&quick), read(&all)) {
                        (Ok(quick), Ok(all)) => {
                            assert!(quick == all, "byte {place} ^ {change:#x}: {range:?}");
                        }
                        (Err(_), Err(_)) => {}
                        // Another chunk is damaged, which makes the offsets of all uncertain.
                        (Ok(_), Err(_)) => assert!(range != (0..2140), "byte {place} ^ {change:#x}"),
                        (Err(error), Ok(_)) => panic!("byte {place} ^ {change:#x}: {range:?}: {error}"),
                    }
                }
            }
        }
    }
}

/// A file of chunks of these many bytes, which are stored as they are, with a table of offsets.
fn plain(sizes: [i32; 2], lens: &[usize]) -> Vec<u8> {
    let mut file = b"blpk\x03\x01\0\x01".to_vec();
    file.extend(sizes.map(i32::to_le_bytes).concat());
    file.extend([lens.len() as u64, 0].map(u64::to_le_bytes).concat());
    let mut at = (32 + 8 * lens.len()) as u64;
    for len in lens {
        file.extend(at.to_le_bytes());
        at += 16 + *len as u64;
    }
    for len in lens {
        let sizes = [*len, (*len).max(1), len + 16].map(|size| (size as u32).to_le_bytes());
        file.extend([&[2, 1, 2, 1][..], &sizes.concat(), &vec![7; *len]].concat());
    }
    file
}

#[test]
fn only_files_of_nine_chunks_that_fit_their_header_are_outlined() {
    let lens = |last: usize| [vec![4; 8], vec![last]].concat();
    let is_outlined = |bytes: &[u8]| open(bytes).unwrap().outline().is_some();
    assert!(is_outlined(&plain([4, 4], &lens(4))) && is_outlined(&plain([4, 1], &lens(1))));
    assert!(!is_outlined(&plain([4, 4], &[4; 8])));
    // A last chunk that is empty or larger, or of another length than the header has.
    assert!(!is_outlined(&plain([4, 0], &lens(0))) && !is_outlined(&plain([4, 5], &lens(5))));
    assert!(!is_outlined(&plain([4, 3], &lens(2))));
    let patched = |at: usize, with: &[u8]| {
        let mut bytes = plain([4, 4], &lens(4));
        bytes[at..at + with.len()].copy_from_slice(with);
        bytes
    };
    // Version 2 has a table as well. Files without one, with faults of the header, and with other bytes after them have no outline.
    assert!(is_outlined(&patched(4, &[2])));
    for (at, with) in [(5, &[0][..]), (6, &[1]), (24, &[1]), (32, &[105]), (40, &[0]), (31, &[0xff])] {
        assert!(!is_outlined(&patched(at, with)), "{at}");
    }
    assert!(!is_outlined(&[patched(4, &[3]), vec![0]].concat()));
    // The first and the last chunk have headers that fit.
    for chunk in [0, 8] {
        assert!(!is_outlined(&patched(104 + 20 * chunk + 4, &[3])), "{chunk}");
    }
    let mut lenient = OpenOptions::default();
    lenient.tolerance = Tolerance::Lenient;
    let whole = Box::new(patched(4, &[3]));
    assert!(File::from_source(whole, &lenient).unwrap().outline().is_none());
}

/// At most 32 bytes of header, the longest there is.
#[test]
fn chunks_are_as_long_as_their_data_allow() {
    let offsets = |lens: [u64; 9]| {
        let mut bytes = plain([4, 4], &[4; 9]);
        let chunks = bytes.split_off(104);
        let mut at = 104;
        for (index, len) in lens.iter().enumerate() {
            bytes[32 + 8 * index..40 + 8 * index].copy_from_slice(&u64::to_le_bytes(at));
            let own = &chunks[20 * index..20 * index + 20];
            bytes.extend(own.iter().copied().chain(std::iter::repeat(0)).take(*len as usize));
            at += len;
        }
        open(&bytes).unwrap().outline().is_some()
    };
    for (len, expected) in [(20, true), (36, true), (37, false)] {
        assert_eq!(offsets([20, len, 20, 20, 20, 20, 20, 20, 20]), expected, "{len}");
    }
}

#[test]
fn chunks_are_found_by_the_bytes_that_they_hold() {
    let file = open(&plain([4, 2], &[vec![4; 9], vec![2]].concat())).unwrap();
    let outline = file.outline().unwrap();
    let found: Vec<u64> = [0, 3, 4, 35, 36, 37, 40, 44, 4000].map(|at| outline.find(at)).to_vec();
    assert_eq!(found, [0, 0, 1, 8, 9, 9, 10, 10, 10]);
    assert_eq!((outline.count(), outline.stored(), outline.codec()), (10, 198, "none"));
    let last = outline.entry(9).unwrap();
    assert_eq!((last.range(), last.data(), last.nbytes()), (292..310, 36..38, 2));
    assert_eq!(outline.entry(10), None);
    assert_eq!((outline.first().range(), outline.first().blocksize), (112..132, 4));
}

/// Of chunks stored as they are, the first that takes less than that names the codec.
#[test]
fn codec_is_that_of_the_first_compressed_chunk() {
    let (bytes, _) = sample(ChecksumCode::NONE);
    let second = open(&bytes).unwrap().outline().unwrap().entry(1).unwrap().range().start as usize;
    assert_eq!(open(&bytes).unwrap().outline().unwrap().codec(), "blosclz");
    let mut zstd = bytes;
    zstd[second + 2] |= 4 << 5;
    assert_eq!(open(&zstd).unwrap().outline().unwrap().codec(), "zstd");
}
