#![allow(clippy::ptr_arg, clippy::single_range_in_vec_init)]

use super::*;
use crate::repair::tests::build::Builder;

fn entry(frame: u64, id: u16) -> IndexEntry {
    IndexEntry { frame, n: 1, location: 300, m: 1, id, type_code: 1, flags: 0 }
}

/// A file of 10000 bytes without names, and with entries at some places.
fn file(runs: &[(usize, &[(u64, u16)])], version: crate::Version) -> Vec<u8> {
    let builder = Builder::new("none", version, container_core::dtype::ByteOrder::Little);
    let mut file = builder.file;
    file.resize(file.len().max(20_000), 0);
    for (at, keys) in runs {
        for (slot, (frame, id)) in keys.iter().enumerate() {
            let at = at + 32 * slot;
            file[at..at + 32].copy_from_slice(&entry(*frame, *id).to_bytes(builder.header.byte_order));
        }
    }
    file
}

fn with<T>(file: &Vec<u8>, test: impl FnOnce(&DamagedFile<'_>) -> T) -> T {
    test(&DamagedFile::open(file, container_core::Limits::default(), &mut Vec::new()).unwrap())
}

const V2: crate::Version = crate::Version::new(2, 1);

#[test]
fn names_that_entries_need_are_those_of_the_list_and_of_ids_right_after_it() {
    let mut listed = file(&[], V2);
    listed[4352..4358].copy_from_slice(b"a\0b\0c\0");
    let needed = |file: &Vec<u8>, keys: &[(u64, u16)]| {
        let entries: Vec<IndexEntry> = keys.iter().map(|(frame, id)| entry(*frame, *id)).collect();
        with(file, |damaged| needed_names(damaged, &entries).unwrap())
    };
    for (keys, count) in [
        (&[][..], 3),
        (&[(0, 0), (0, 1), (0, 2), (1, 0)], 3),
        // Once, it may be damaged; twice it is a name that the list lacks.
        (&[(0, 0), (0, 1), (0, 2), (1, 3)], 3),
        (&[(0, 0), (0, 1), (0, 2), (1, 3), (2, 3)], 4),
        // In the first frame, each id after the one before.
        (&[(0, 0), (0, 1), (0, 2), (0, 3), (1, 0)], 4),
        (&[(0, 0), (0, 1), (0, 3), (0, 2), (1, 0)], 3),
        (&[(0, 0), (0, 1), (0, 2), (1, 3), (1, 0)], 3),
        // Not right after the list.
        (&[(0, 0), (0, 1), (0, 2), (1, 4), (2, 4)], 3),
        (&[(0, 0), (0, 1), (0, 2), (1, 3), (2, 3), (3, 4), (4, 4), (5, 0), (5, 1)], 5),
        // Half of the entries do not agree with the list: the ids below their number count.
        (&[(0, 0), (0, 9)], 1),
        (&[(0, 0), (1, 5), (2, 5)], 1),
        (&[(0, 3), (1, 3), (2, 3), (3, 3), (4, 3)], 4),
    ] {
        assert_eq!(needed(&listed, keys), count, "{keys:?}");
    }
    let nameless = file(&[], V2);
    assert_eq!(needed(&nameless, &[]), 0);
    assert_eq!(needed(&nameless, &[(0, 0), (0, 1), (0, 7)]), 2);
    assert_eq!(needed(&nameless, &[(0, 0), (0, 2), (1, 3)]), 3);
}

fn run(range: Range<u64>, first: (u64, u16), last: (u64, u16)) -> Run {
    Run { range, first, last }
}

#[test]
fn runs_of_entries_are_found_at_any_byte_and_sorted_by_length() {
    let file = file(
        &[
            (6001, &[(0, 0), (0, 1), (1, 0)]),
            (7000, &[(4, 2), (5, 0)]),
            // Alone, and equal to the one before.
            (8000, &[(7, 0)]),
            (9000, &[(7, 0), (7, 0)]),
            (10_003, &[(2, 0), (2, 1), (3, 0)]),
        ],
        V2,
    );
    with(&file, |damaged| {
        let runs = index_runs(damaged, &[256..20_000]).unwrap();
        let three = |at: u64, first, last| run(at..at + 96, first, last);
        let expected =
            [three(10_003, (2, 0), (3, 0)), three(6001, (0, 0), (1, 0)), run(7000..7064, (4, 2), (5, 0))];
        assert_eq!(runs, expected);
        // Only in the gaps, and not across them.
        let runs = index_runs(damaged, &[6001..6065, 7000..7064, 10_035..10_099]).unwrap();
        let expected = [
            run(10_035..10_099, (2, 1), (3, 0)),
            run(7000..7064, (4, 2), (5, 0)),
            run(6001..6065, (0, 0), (0, 1)),
        ];
        assert_eq!(runs, expected);
    });
}

/// A single entry counts right after the header, where a file has its first index.
#[test]
fn one_entry_is_a_run_at_the_usual_place_of_the_index() {
    for (at, count) in [(256, 1), (257, 0)] {
        with(&file(&[(at, &[(0, 0)])], V2), |damaged| {
            assert_eq!(index_runs(damaged, &[256..20_000]).unwrap().len(), count, "{at}");
        });
    }
}

#[test]
fn entries_follow_one_another_by_frame_and_name_or_in_old_files_by_frame() {
    let followers = |version| {
        let file = file(&[], version);
        with(&file, |damaged| {
            [(3, 1), (3, 2), (3, 3), (4, 0), (2, 9)]
                .map(|(frame, id)| follows(damaged, (3, 2), &entry(frame, id)))
        })
    };
    assert_eq!(followers(V2), [false, false, true, true, false]);
    assert_eq!(followers(crate::Version::new(1, 0)), [true, true, true, true, false]);
    let before = |version, key: (u64, u16), location: i64| {
        let next = entry(3, 2);
        let before = IndexEntry { location, ..entry(key.0, key.1) };
        with(&file(&[], version), |damaged| precedes(damaged, &before, &next))
    };
    assert!(before(V2, (3, 1), 400) && before(V2, (2, 7), 400));
    assert!(
        !before(V2, (3, 2), 200)
            && !before(V2, (3, 3), 200)
            && !before(V2, (1, 0), 200)
            && !before(V2, (4, 0), 200)
    );
    let v1 = crate::Version::new(1, 0);
    assert!(before(v1, (3, 9), 299) && before(v1, (2, 9), 400));
    assert!(!before(v1, (3, 1), 300) && !before(v1, (1, 1), 200));
}

#[test]
fn a_block_is_made_of_runs_that_lie_as_one_index_and_are_in_order() {
    let longest = run(1000..1320, (5, 0), (14, 0));
    let block = |others: &[Run]| block_of(&[std::slice::from_ref(&longest), others].concat());
    assert_eq!(block_of(&[]), None);
    assert_eq!(block(&[]), Some(1000..1320));
    // After it, with ruined slots between.
    assert_eq!(block(&[run(1352..1416, (15, 0), (16, 0))]), Some(1000..1416));
    assert_eq!(block(&[run(1640..1704, (15, 0), (16, 0))]), Some(1000..1704));
    // More ruined slots than good ones.
    assert_eq!(block(&[run(1672..1736, (15, 0), (16, 0))]), Some(1000..1320));
    // Out of step, next to it, out of order.
    assert_eq!(block(&[run(1353..1417, (15, 0), (16, 0))]), Some(1000..1320));
    assert_eq!(block(&[run(1320..1384, (15, 0), (16, 0))]), Some(1000..1320));
    assert_eq!(block(&[run(1352..1416, (14, 0), (16, 0))]), Some(1000..1320));
    // Before it.
    assert_eq!(block(&[run(904..968, (1, 0), (4, 9))]), Some(904..1320));
    assert_eq!(block(&[run(904..968, (1, 0), (5, 0))]), Some(1000..1320));
    assert_eq!(block(&[run(905..969, (1, 0), (4, 9))]), Some(1000..1320));
    // On both sides, each joined to what has been joined.
    let more = [
        run(1448..1512, (17, 0), (18, 0)),
        run(904..968, (3, 0), (4, 9)),
        run(1352..1416, (15, 0), (16, 0)),
        run(808..872, (1, 0), (2, 0)),
    ];
    assert_eq!(block(&more), Some(808..1512));
    let crossed = [run(1352..1416, (17, 0), (18, 0)), run(1448..1512, (15, 0), (16, 0))];
    assert_eq!(block(&crossed), Some(1000..1416));
}

#[test]
fn entries_right_before_a_block_belong_to_it() {
    let file =
        file(&[(256, &[(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)]), (1000, &[(4, 0), (6, 0), (7, 0)])], V2);
    with(&file, |damaged| {
        let start = |at: u64| with_slots_before(damaged, at..4352).unwrap().start;
        assert_eq!([256, 288, 320, 384].map(start), [256; 4]);
        // Without an entry at its start it stays.
        assert_eq!([416, 300].map(start), [416, 300]);
        // A frame is missing between.
        assert_eq!([1032, 1064].map(start), [1032, 1032]);
    });
}

#[test]
fn entries_after_a_full_index_are_taken_while_they_continue_it() {
    let after = |more: &[(u64, u16)]| {
        let file = file(&[(256, &[(0, 0), (0, 1), (1, 0), (1, 1)]), (384, more)], V2);
        with(&file, |damaged| {
            let found = entries::collect(damaged, 256..384, None).unwrap();
            let more = entries_after_index(damaged, &found, &(256..384)).unwrap();
            more.map_or(0, |more| more.entries.len())
        })
    };
    assert_eq!(after(&[]), 0);
    assert_eq!(after(&[(2, 0), (2, 1), (3, 0)]), 3);
    // A name that is new, once; a frame that is the next.
    assert_eq!(after(&[(2, 2), (3, 3)]), 2);
    assert_eq!(after(&[(2, 3)]), 0);
    assert_eq!(after(&[(1, 2), (2, 0), (4, 0)]), 2);
    assert_eq!(after(&[(1, 1)]), 0);
    assert_eq!(after(&[(3, 0)]), 0);
    // Not after an index with free slots.
    let file = file(&[(256, &[(0, 0), (0, 1)]), (352, &[(1, 0)])], V2);
    with(&file, |damaged| {
        let found = entries::collect(damaged, 256..320, None).unwrap();
        assert!(entries_after_index(damaged, &found, &(256..352)).unwrap().is_none());
    });
}

#[test]
fn a_larger_copy_of_the_index_has_more_entries() {
    let more = [(0, 0), (0, 1), (1, 0), (1, 1), (2, 0)];
    let other = [(0, 0), (0, 2), (1, 0), (1, 1), (2, 0)];
    let newer_entries = |copies: &[(usize, &[(u64, u16)])], gap: Range<u64>| {
        let file = file(&[&[(256, &more[..3])], copies].concat(), V2);
        with(&file, |damaged| {
            let gap = Gap { range: gap, before: Some(1), behind: None };
            let found = newer(damaged, &(256..352), &[gap]).unwrap();
            found.map(|found| found.entries.iter().map(|entry| (entry.frame, entry.id)).collect::<Vec<_>>())
        })
    };
    assert_eq!(newer_entries(&[(9001, &more)], 8000..20_000), Some(vec![(1, 1), (2, 0)]));
    assert_eq!(newer_entries(&[(9001, &more)], 9001..9161), Some(vec![(1, 1), (2, 0)]));
    // A copy of the same length, one that differs, and one outside of the gap.
    assert_eq!(newer_entries(&[(9001, &more[..3])], 8000..20_000), None);
    assert_eq!(newer_entries(&[(9001, &other)], 8000..20_000), None);
    assert_eq!(newer_entries(&[(7001, &more)], 8000..20_000), None);
    assert_eq!(newer_entries(&[(9001, &other), (10_001, &more)], 8000..20_000), Some(vec![(1, 1), (2, 0)]));
}
