#![allow(clippy::ptr_arg, clippy::single_range_in_vec_init)]

use std::iter::once;

use container_core::Limits;

use super::*;
use crate::repair::tests::build::Builder;

fn entry(frame: u64, id: u16, range: Range<u64>) -> IndexEntry {
    let location = range.start.cast_signed();
    IndexEntry { frame, n: range.end - range.start, location, m: 1, id, type_code: 1, flags: 0 }
}

fn keys(list: &[(u64, u16)]) -> Vec<IndexEntry> {
    list.iter().map(|(frame, id)| entry(*frame, *id, 300..301)).collect()
}

fn with<T>(file: &Vec<u8>, test: impl FnOnce(&DamagedFile<'_>) -> T) -> T {
    test(&DamagedFile::open(file, Limits::default(), &mut Vec::new()).unwrap())
}

#[test]
fn frames_start_where_their_number_changes() {
    let entries = keys(&[(0, 0), (0, 1), (2, 0), (3, 0), (3, 1), (3, 2)]);
    let starts = starts(&entries);
    assert_eq!(starts, [0, 2, 3]);
    let ids = |at| frame_set(&entries, &starts, at).iter().map(|entry| entry.id).collect::<Vec<_>>();
    assert_eq!([0, 1, 2, 3].map(ids), [vec![0, 1], vec![0], vec![0, 1, 2], vec![]]);
    assert_eq!(super::starts(&[]), [0_usize; 0]);
}

#[test]
fn a_part_of_a_frame_has_some_of_its_names_and_not_all() {
    let of = |ids: &[u16]| keys(&ids.iter().map(|id| (0, *id)).collect::<Vec<_>>());
    let part = |one: &[u16], other: &[u16]| is_part(&of(one), &of(other));
    assert!(part(&[1, 3], &[1, 2, 3]) && part(&[], &[1]) && part(&[3], &[1, 3]));
    assert!(
        !part(&[1, 3], &[1, 3])
            && !part(&[1, 4], &[1, 2, 3])
            && !part(&[1, 2, 3], &[1, 2])
            && !part(&[], &[])
    );
}

#[test]
fn ranges_that_meet_are_joined() {
    assert_eq!(joined(vec![5..6, 0..2, 2..3, 8..12, 9..10, 12..13]), [0..3, 5..6, 8..13]);
    assert_eq!(joined(vec![3..4, 0..2]), [0..2, 3..4]);
    assert_eq!(joined(vec![]), []);
}

#[test]
fn gaps_lie_between_the_frames_of_the_chunks_around_them() {
    let file = vec_of(1000);
    let found = |entries: &[IndexEntry], blocks: &[Range<u64>]| {
        let found = with(&file, |damaged| gaps(damaged, entries, blocks).unwrap());
        found.into_iter().map(|gap| (gap.range, gap.before, gap.behind)).collect::<Vec<_>>()
    };
    // Chunks of frames 0, 0, 1 and 3, and two blocks between them.
    let entries = [
        entry(0, 0, 310..320),
        entry(0, 1, 330..340),
        entry(1, 0, 340..350),
        entry(3, 0, 500..600),
        // Without bytes, a chunk is nowhere.
        entry(2, 0, 420..420),
    ];
    let expected = [
        (300..310, None, Some(0)),
        (320..330, Some(0), Some(0)),
        (350..400, Some(1), Some(3)),
        (410..500, Some(1), Some(3)),
        (600..900, Some(3), None),
        (950..1000, Some(3), None),
    ];
    assert_eq!(found(&entries, &[0..300, 400..410, 900..950]), expected);
    assert_eq!(found(&[], &[0..300]), [(300..1000, None, None)]);
    // A chunk within another one leaves no gap, and to the end of the file none either.
    let nested = [entry(0, 0, 300..600), entry(1, 0, 400..500), entry(2, 0, 600..1000)];
    assert_eq!(found(&nested, &[0..300]), []);
}

/// A file of so many bytes with a header.
fn vec_of(len: usize) -> Vec<u8> {
    let builder = Builder::hoomd();
    let mut file = builder.file;
    file.resize(len, 0);
    file
}

#[test]
fn padding_is_less_than_a_page_of_zeros() {
    let mut file = vec_of(10_000);
    file[9000] = 1;
    let padding = |range: Range<u64>| with(&file, |damaged| is_padding(damaged, &range).unwrap());
    assert!(padding(4400..8495) && padding(8999..9000) && padding(9001..9002));
    assert!(!padding(4400..8496) && !padding(8999..9001));
}

#[test]
fn a_block_begins_with_an_entry_or_a_name() {
    let mut file = vec_of(10_000);
    file[5000..5032]
        .copy_from_slice(&entry(0, 0, 5100..5101).to_bytes(container_core::dtype::ByteOrder::Little));
    file[6000..6004].copy_from_slice(b"abc\0");
    file[7000..7003].copy_from_slice(b"ab\0");
    file[8000..8006].copy_from_slice(b"abc\x01d\0");
    let block = |range: Range<u64>| with(&file, |damaged| is_block(damaged, &range).unwrap());
    assert!(block(5000..5032) && block(5000..9000) && block(6000..6003) && block(6000..6004));
    // Part of an entry, a name of two letters, one with a control character, zeros.
    assert!(
        !block(5000..5031)
            && !block(6000..6002)
            && !block(7000..7003)
            && !block(8000..8006)
            && !block(9000..9100)
    );
}

/// Frames 0 to 5 of three chunks, all of them with their bytes one after the other from 6000 on, and what is known to be lost.
fn incomplete(
    gone: impl Fn(&IndexEntry) -> bool,
    invalid: &[(u64, Option<u64>)],
    hoomd: bool,
) -> (Vec<u64>, Vec<Range<u64>>) {
    let mut file = vec_of(7000);
    let chunk = |at: u64| entry(at / 3, (at % 3) as u16, 6000 + 10 * at..6010 + 10 * at);
    file[6000..6180].fill(7);
    file.truncate(6180);
    let entries: Vec<IndexEntry> = (0..18).map(chunk).filter(|entry| !gone(entry)).collect();
    let slots = |(before, behind): &(u64, Option<u64>)| InvalidSlots {
        range: 256..288,
        why: "unknown type",
        frames: (*before, *behind),
    };
    let invalid_slots: Vec<InvalidSlots> = invalid.iter().map(slots).collect();
    let evidence =
        LossEvidence { invalid_slots: &invalid_slots, dropped: &[], unsorted: 0, cut: &BTreeSet::new() };
    with(&file, |damaged| {
        let gaps = gaps(damaged, &entries, once(0..6000).collect::<Vec<_>>().as_slice()).unwrap();
        let found = incomplete_frames(damaged, &entries, &gaps, &evidence, hoomd).unwrap();
        (found.partial.into_iter().collect(), found.gone)
    })
}

#[test]
fn frames_that_lack_chunks_are_told_from_those_that_are_gone() {
    let lost = |frame: u64, ids: Range<u16>| {
        move |entry: &IndexEntry| entry.frame == frame && ids.contains(&entry.id)
    };
    for hoomd in [true, false] {
        // Without an invalid slot nothing is known to be lost.
        assert_eq!(incomplete(lost(2, 1..2), &[], hoomd), (vec![], vec![]));
        assert_eq!(incomplete(lost(2, 1..2), &[(2, Some(2))], hoomd), (vec![2], vec![]));
        assert_eq!(incomplete(lost(2, 0..1), &[(1, Some(2))], hoomd), (vec![2], vec![]));
        assert_eq!(incomplete(lost(2, 2..3), &[(2, Some(3))], hoomd), (vec![2], vec![]));
        assert_eq!(incomplete(lost(2, 0..3), &[(1, Some(3))], hoomd), (vec![], vec![2..3]));
        let two = |entry: &IndexEntry| [2, 3].contains(&entry.frame);
        assert_eq!(incomplete(two, &[(1, Some(4))], hoomd), (vec![], vec![2..4]));
        let apart = |entry: &IndexEntry| [1, 4].contains(&entry.frame);
        assert_eq!(incomplete(apart, &[(0, Some(2)), (3, Some(5))], hoomd), (vec![], vec![1..2, 4..5]));
    }
}
