#![allow(clippy::ptr_arg)]

use container_core::Limits;

use super::*;
use crate::Version;
use crate::repair::tests::build::Builder;

/// Chunks of a type, each in a frame of its own.
fn chunks(order: ByteOrder, of: ChunkType, n: u64, data: &[Vec<u8>]) -> (Vec<u8>, Vec<IndexEntry>) {
    let mut builder = Builder::new("none", Version::new(2, 1), order);
    for bytes in data {
        builder.chunk("a", of, n, 1, bytes).end_frame();
    }
    builder.flush();
    let file = crate::File::from_source(Box::new(builder.file.clone()), &Default::default()).unwrap();
    let entries = file.index().iter().collect();
    (builder.file, entries)
}

fn with<T>(file: &Vec<u8>, test: impl FnOnce(&DamagedFile<'_>) -> T) -> T {
    test(&DamagedFile::open(file, Limits::default(), &mut Vec::new()).unwrap())
}

#[test]
fn a_scalar_is_one_integer_of_any_type_and_byte_order() {
    for order in [ByteOrder::Little, ByteOrder::Big] {
        let value = |of: ChunkType, n: u64, bytes: &[u8]| {
            let (file, entries) = chunks(order, of, n, &[bytes.to_vec()]);
            with(&file, |damaged| scalar(damaged, &entries[0]).unwrap())
        };
        assert_eq!(value(ChunkType::Uint8, 1, &[200]), Some(200));
        assert_eq!(value(ChunkType::Int8, 1, &[200]), Some(-56));
        assert_eq!(value(ChunkType::Int8, 1, &[127]), Some(127));
        assert_eq!(value(ChunkType::Uint16, 1, &0xFFFE_u16.to_le_bytes()), Some(0xFFFE));
        assert_eq!(value(ChunkType::Int16, 1, &(-2_i16).to_le_bytes()), Some(-2));
        assert_eq!(value(ChunkType::Uint32, 1, &u32::MAX.to_le_bytes()), Some(u32::MAX.into()));
        assert_eq!(value(ChunkType::Int32, 1, &i32::MIN.to_le_bytes()), Some(i32::MIN.into()));
        assert_eq!(value(ChunkType::Uint64, 1, &u64::MAX.to_le_bytes()), Some(u64::MAX.into()));
        assert_eq!(value(ChunkType::Int64, 1, &i64::MIN.to_le_bytes()), Some(i64::MIN.into()));
        assert_eq!(value(ChunkType::Uint16, 2, &[1, 0, 2, 0]), None);
        assert_eq!(value(ChunkType::Float, 1, &[0; 4]), None);
        assert_eq!(value(ChunkType::Character, 1, b"a"), None);
    }
    let (file, entries) = chunks(ByteOrder::Little, ChunkType::Uint64, 1, &[vec![1; 8]]);
    let cut = file[..file.len() - 1].to_vec();
    assert_eq!(with(&cut, |damaged| scalar(damaged, &entries[0]).unwrap()), None);
    let row = IndexEntry { n: 1, m: 2, type_code: ChunkType::Uint32.code(), ..entries[0] };
    assert_eq!(with(&file, |damaged| scalar(damaged, &row).unwrap()), None);
}

/// The counter of frames that have these steps, and the numbers of 0 to 10^12 in powers of ten after which it goes on.
fn counter(of: ChunkType, values: &[u64], step: Option<u16>) -> Option<(i128, i128, i128)> {
    let size = usize::try_from(of.size()).unwrap();
    let data: Vec<Vec<u8>> = values.iter().map(|value| value.to_le_bytes()[..size].to_vec()).collect();
    let (file, entries) = chunks(ByteOrder::Little, of, 1, &data);
    let frames: Vec<&[IndexEntry]> = entries.iter().map(std::slice::from_ref).collect();
    let found = with(&file, |damaged| StepCounter::find(damaged, &frames, step).unwrap())?;
    assert_eq!(found.id, 0);
    Some((found.last, found.least, found.most))
}

#[test]
fn steps_may_grow_by_a_thousand_times_as_much_as_before() {
    let named = |values: &[u64]| counter(ChunkType::Uint64, values, Some(0));
    // After one frame by any 32 bits.
    assert_eq!(named(&[7]), Some((7, 1, 1 << 32)));
    assert_eq!(named(&[10, 20]), Some((20, 1, 10 * 1024)));
    assert_eq!(named(&[10, 20, 50]), Some((50, 1, 30 * 1024)));
    assert_eq!(named(&[10, 50, 60]), Some((60, 1, 40 * 1024)));
    // Steps that do not rise are no counter.
    assert_eq!(named(&[10, 20, 20]), None);
    assert_eq!(named(&[10, 20, 19]), None);
}

#[test]
fn without_a_step_any_number_that_rises_counts_frames() {
    let any = |of, values: &[u64]| counter(of, values, None);
    // After two frames alone by the same difference.
    assert_eq!(any(ChunkType::Uint32, &[10, 14]), Some((14, 4, 4)));
    assert_eq!(any(ChunkType::Uint32, &[10, 14, 16]), Some((16, 1, 4 * 1024)));
    assert_eq!(any(ChunkType::Int64, &[1, 2, 3]), Some((3, 1, 1024)));
    // One frame shows nothing, and numbers of two bytes are not taken.
    assert_eq!(any(ChunkType::Uint32, &[10]), None);
    assert_eq!(any(ChunkType::Uint16, &[10, 14, 16]), None);
    assert_eq!(any(ChunkType::Float, &[10, 14, 16]), None);
    assert_eq!(any(ChunkType::Uint32, &[10, 14, 14]), None);
}

#[test]
fn a_counter_goes_on_within_its_bounds() {
    let data: Vec<Vec<u8>> = [5_u64, 6, 25, 26, 4].iter().map(|value| value.to_le_bytes().to_vec()).collect();
    let (file, entries) = chunks(ByteOrder::Little, ChunkType::Uint64, 1, &data);
    let counter = StepCounter { id: 0, last: 5, least: 1, most: 20 };
    let next = |at: usize| with(&file, |damaged| counter.advance(damaged, &entries[at]).unwrap());
    let after = |last| Some(StepCounter { last, ..counter });
    assert_eq!([0, 1, 2, 3, 4].map(next), [None, after(6), after(25), None, None]);
}

#[test]
fn chunks_with_a_sector_of_zeros_did_not_reach_the_disk() {
    // A chunk over three sectors of 512 bytes, from 5632 to 7168, and parts of others around them.
    let unwritten = |len: u64, set: &[usize]| {
        let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
        builder.file.resize(5500, 0);
        builder
            .chunk("a", ChunkType::Uint8, len, 1, &vec![1; usize::try_from(len).unwrap()])
            .end_frame()
            .flush();
        let mut file = builder.file;
        file[5500..].fill(0);
        set.iter().for_each(|at| file[*at] = 1);
        let entry = IndexEntry { n: len, location: 5500, m: 1, type_code: 1, ..IndexEntry::default() };
        with(&file, |damaged| is_unwritten(damaged, &entry).unwrap())
    };
    // All of it; but short ones may hold zeros.
    assert!(unwritten(12, &[]) && !unwritten(11, &[]) && !unwritten(0, &[]));
    assert!(!unwritten(12, &[5500]) && !unwritten(12, &[5511]));
    assert!(unwritten(1668, &[]));
    // A whole sector, the first or the last.
    assert!(unwritten(1668, &[5500, 6144, 6656]) && unwritten(1668, &[5500, 5632, 6144]));
    // None, although more than 512 zeros are in a row.
    assert!(!unwritten(1668, &[5500, 5632, 6655, 6656]) && !unwritten(1668, &[5632, 6144, 7167]));
    // A part of a sector at either end.
    assert!(!unwritten(132, &[5631]) && !unwritten(644, &[5500, 6143]));
}

#[test]
fn frames_are_taken_whose_chunks_reached_the_disk_as_those_before_did() {
    let full = vec![1; 16];
    let data = [full.clone(), vec![0; 16], full];
    let (file, entries) = chunks(ByteOrder::Little, ChunkType::Uint8, 16, &data);
    let accepts = |before: &[usize], at: usize| {
        let before: Vec<&[IndexEntry]> = before.iter().map(|at| &entries[*at..=*at]).collect();
        with(&file, |damaged| {
            let written = WrittenNames::of(damaged, &before).unwrap();
            written.accept(damaged, &entries[at..=at]).unwrap()
        })
    };
    assert!(accepts(&[0], 2) && !accepts(&[0], 1));
    // The last one before had zeros, too.
    assert!(accepts(&[0, 1], 1) && !accepts(&[1, 0], 1) && accepts(&[], 1));
}
