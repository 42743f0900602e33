#![allow(clippy::ptr_arg, clippy::single_range_in_vec_init)]

use container_core::Limits;
use container_core::dtype::ByteOrder;

use super::*;
use crate::repair::tests::build::Builder;

fn entry(frame: u64, id: u16, range: Range<u64>) -> IndexEntry {
    let location = range.start.cast_signed();
    IndexEntry { frame, n: range.end - range.start, location, m: 1, id, type_code: 1, flags: 0 }
}

fn found(entries: &[IndexEntry]) -> CollectedEntries {
    CollectedEntries { entries: entries.to_vec(), ..CollectedEntries::default() }
}

fn dropped(entry: IndexEntry, why: &'static str, replaced: bool) -> DroppedEntry {
    DroppedEntry { entry, why, replaced }
}

fn with<T>(file: &Vec<u8>, test: impl FnOnce(&DamagedFile<'_>) -> T) -> T {
    test(&DamagedFile::open(file, Limits::default(), &mut Vec::new()).unwrap())
}

/// An index of slots: entries, zeros, and entries of an unknown type.
fn collected(slots: &[Option<IndexEntry>], names: Option<usize>) -> CollectedEntries {
    let mut file = Builder::hoomd().file;
    for (at, slot) in slots.iter().enumerate() {
        let bytes = slot.unwrap_or_default().to_bytes(ByteOrder::Little);
        file[256 + 32 * at..288 + 32 * at].copy_from_slice(&bytes);
    }
    with(&file, |damaged| collect(damaged, 256..4352, names).unwrap())
}

#[test]
fn invalid_slots_are_told_with_the_frames_around_them() {
    let good = |frame, id| Some(entry(frame, id, 5000..5001));
    let bad = |frame, id| Some(IndexEntry { type_code: 99, ..entry(frame, id, 5000..5001) });
    let invalid = |slots: Range<u64>, why, frames| InvalidSlots {
        range: 256 + 32 * slots.start..256 + 32 * slots.end,
        why,
        frames,
    };
    let all = collected(&[good(0, 0), good(0, 1), good(1, 0)], None);
    assert_eq!((all.entries.len(), all.used, all.invalid_slots), (3, 256..352, vec![]));
    // Two of one kind are one run; zeros between entries are a hole.
    let slots = [good(0, 0), bad(0, 1), bad(1, 0), None, good(3, 0), None, None, good(3, 1)];
    let all = collected(&slots, None);
    let expected = [
        invalid(1..3, "unknown type", (0, Some(3))),
        invalid(3..4, "an empty slot", (0, Some(3))),
        invalid(5..7, "an empty slot", (3, Some(3))),
    ];
    assert_eq!((all.invalid_slots.as_slice(), all.used), (&expected[..], 256..512));
    assert_eq!(all.invalid_slots[0].slots(), 2);
    // At the end they may be of any later frame, and zeros before them are none of them.
    let all = collected(&[good(0, 0), None, bad(5, 0), bad(5, 1)], None);
    assert_eq!(all.invalid_slots, [invalid(2..4, "unknown type", (0, None))]);
    assert_eq!(all.used, 256..288);
    // A frame below the one before.
    let all = collected(&[good(4, 0), bad(0, 0), good(2, 0)], None);
    assert_eq!(all.invalid_slots, [invalid(1..2, "unknown type", (4, Some(4)))]);
    // A name that the list lacks.
    let all = collected(&[good(0, 0), good(0, 1), good(0, 2)], Some(2));
    assert_eq!(all.invalid_slots, [invalid(2..3, "a name that is not in the namelist", (0, None))]);
    assert_eq!(all.entries.len(), 2);
}

#[test]
fn frames_with_chunks_before_and_after_the_end_are_cut() {
    let good = |frame, id| Some(entry(frame, id, 5000..5001));
    let past = |frame, id| Some(entry(frame, id, 5000..50_000));
    let cut = |slots: &[Option<IndexEntry>]| collected(slots, None).cut.into_iter().collect::<Vec<_>>();
    assert_eq!(cut(&[good(0, 0), past(0, 1), past(1, 0)]), [0]);
    assert_eq!(cut(&[good(0, 0), past(1, 0), good(1, 1)]), [1]);
    assert_eq!(cut(&[good(0, 0), past(1, 0), good(2, 1)]), [0_u64; 0]);
    assert_eq!(cut(&[past(0, 0)]), [0_u64; 0]);
    let all = collected(&[good(0, 0), past(0, 1)], None);
    assert_eq!(all.invalid_slots[0].why, PAST_END);
}

#[test]
fn of_several_entries_for_one_chunk_the_last_written_is_kept() {
    let (old, new) = (entry(0, 1, 5000..5008), entry(0, 1, 5100..5108));
    let others = [entry(0, 0, 4900..4908), entry(1, 0, 5200..5208)];
    for pair in [[old, new], [new, old]] {
        let mut all = found(&[others[0], pair[0], pair[1], others[1]]);
        let gone = sort(&mut all, false);
        assert_eq!(all.entries, [others[0], new, others[1]]);
        assert_eq!(gone, [dropped(old, "written again later", true)]);
        assert_eq!(all.unsorted, 1);
    }
    // The same entry twice is one.
    let mut all = found(&[others[0], old, old, others[1]]);
    assert_eq!(sort(&mut all, false), []);
    assert_eq!(all.entries, [others[0], old, others[1]]);
}

#[test]
fn entries_out_of_order_are_sorted_and_counted() {
    let chunk = |frame: u64, id: u16| {
        let at = 5000 + 20 * frame + 10 * u64::from(id);
        entry(frame, id, at..at + 10)
    };
    let sorted: Vec<IndexEntry> = (0..4).flat_map(|frame| [chunk(frame, 0), chunk(frame, 1)]).collect();
    let unsorted = |order: &[usize], v1| {
        let mut all = found(&order.iter().map(|at| sorted[*at]).collect::<Vec<_>>());
        assert_eq!(sort(&mut all, v1), []);
        assert_eq!(all.entries, sorted);
        all.unsorted
    };
    assert_eq!(unsorted(&[0, 1, 2, 3, 4, 5, 6, 7], false), 0);
    assert_eq!(unsorted(&[1, 0, 2, 3, 5, 4, 6, 7], false), 2);
    assert_eq!(unsorted(&[4, 5, 6, 7, 0, 1, 2, 3], false), 1);
    // In old files entries of a frame are in the order of writing.
    assert_eq!(unsorted(&[1, 0, 2, 3, 5, 4, 6, 7], true), 0);
    assert_eq!(unsorted(&[2, 3, 0, 1, 5, 4, 6, 7], true), 1);
}

#[test]
fn entries_of_another_frame_than_the_chunks_around_theirs_are_dropped() {
    let chunk = |frame: u64, at: u64| entry(frame, at as u16, 5000 + 10 * at..5010 + 10 * at);
    // The third chunk lies in frame 1, and is said to be of frame 7, listed at its end.
    let wrong = chunk(7, 2);
    let others = [chunk(0, 0), chunk(1, 1), chunk(1, 3), chunk(2, 4)];
    let mut all = found(&[others[0], wrong, others[1], others[2], others[3]]);
    let gone = sort(&mut all, false);
    assert_eq!(gone, [dropped(wrong, "a frame that differs from that of the chunks around it", false)]);
    assert_eq!(all.entries, others);
    // Of an index in order, places say nothing.
    let mut all = found(&[others[0], others[1], others[2], others[3], wrong]);
    assert_eq!(sort(&mut all, false), []);
}

#[test]
fn chunks_that_lie_over_others_or_in_blocks_are_dropped() {
    let blocks = [0..256, 256..4352, 4352..5000];
    let check = |entries: &[IndexEntry]| {
        let mut all = entries.to_vec();
        let gone = remove_overlapping(&mut all, &blocks);
        assert_eq!(all.len() + gone.len(), entries.len());
        gone.into_iter().map(|gone| (gone.entry.id, gone.why, gone.replaced)).collect::<Vec<_>>()
    };
    let (block, overlap) = ("a chunk in the index or the namelist", "a chunk that overlaps another");
    let sound = [entry(0, 0, 5000..5010), entry(0, 1, 5010..5020), entry(0, 2, 5020..5030)];
    assert_eq!(check(&sound), []);
    // The same bytes may have two entries, and none may have any place.
    assert_eq!(check(&[sound[0], sound[1], entry(0, 3, 5010..5020), entry(0, 4, 300..300)]), []);
    for range in [4999..5000, 4000..4001, 255..256, 4990..5010] {
        assert_eq!(check(&[sound[0], entry(0, 7, range)]), [(7, block, false)]);
    }
    // The one that meets its neighbours stays.
    assert_eq!(check(&[sound[0], sound[1], sound[2], entry(0, 7, 5012..5018)]), [(7, overlap, false)]);
    assert_eq!(check(&[sound[0], sound[1], sound[2], entry(0, 7, 5005..5012)]), [(7, overlap, false)]);
    // Neither does, or both do.
    let both = [(8, overlap, false), (9, overlap, false)];
    assert_eq!(check(&[entry(0, 8, 6000..6010), entry(0, 9, 6005..6015)]), both);
    // A long one over several.
    let long = [sound[0], entry(0, 7, 5010..5100), sound[1], sound[2]];
    assert_eq!(check(&long)[0], (7, overlap, false));
}

#[test]
fn edges_are_where_chunks_and_blocks_begin_and_end() {
    let edges =
        Edges::of(&[entry(0, 0, 5000..5010), entry(0, 1, 5020..5030), entry(0, 2, 9000..9000)], &[0..256]);
    assert_eq!(
        [0, 255, 256, 5009, 5010, 5029, 9999].map(|at| edges.end_before(at)),
        [0, 0, 256, 256, 5010, 5010, 5030]
    );
    assert_eq!([256, 5010, 5030, 5031].map(|at| edges.end_at(at)), [false, false, true, false]);
    let score = |range: Range<u64>| edges.score(&entry(0, 9, range));
    assert_eq!([score(5010..5020), score(5010..5019), score(5011..5020), score(5011..5019)], [2, 1, 1, 0]);
}

#[test]
fn blocks_meet_a_neighbour_directly_or_across_aligning_zeros() {
    let mut file = Builder::hoomd().file;
    file.resize(10_000, 0);
    file[9021] = 1;
    let edges = Edges::of(&[entry(0, 0, 6000..6010), entry(0, 1, 8000..8010), entry(0, 2, 9000..9020)], &[]);
    let meet =
        |block: Range<u64>, aligned| with(&file, |damaged| edges.meet(damaged, &block, aligned).unwrap());
    for aligned in [true, false] {
        assert!(meet(6010..6100, aligned) && meet(7900..8000, aligned));
        assert!(!meet(6013..6100, aligned) && !meet(7901..7930, aligned));
    }
    // 6016 is the next multiple of 8 and of 64, 6144 of 512, 8192 of 4096; 9024 of 8, with a byte set before it.
    for (at, is_aligned) in
        [(6016, true), (6080, false), (6144, true), (8192, true), (6024, false), (9024, false)]
    {
        assert_eq!(meet(at..at + 20, true), is_aligned, "{at}");
        assert!(!meet(at..at + 20, false), "{at}");
    }
}

#[test]
fn ruins_at_the_end_are_none_where_the_index_cannot_be_any_more() {
    let slots = |range: Range<u64>, why, behind| InvalidSlots { range, why, frames: (0, behind) };
    let end = |invalid: InvalidSlots, names: Range<u64>, claimed| {
        let mut all = found(&[entry(0, 0, 5000..5010)]);
        all.used = 256..288;
        all.invalid_slots = vec![invalid];
        let ended = end_block(&mut all, &names, claimed);
        assert_eq!(ended.is_some(), all.invalid_slots.is_empty());
        ended
    };
    let names = 4352..4400;
    assert_eq!(end(slots(288..352, "unknown type", None), names.clone(), true), None);
    assert_eq!(end(slots(4320..4352, "unknown type", None), names.clone(), true), None);
    assert_eq!(end(slots(4320..4353, "unknown type", None), names.clone(), true), Some(288));
    assert_eq!(end(slots(4320..4353, "unknown type", Some(1)), names.clone(), true), None);
    // Without an end in the file, only chunks that are cut are those of entries.
    assert_eq!(end(slots(288..320, "unknown type", None), names.clone(), false), Some(288));
    assert_eq!(end(slots(288..320, PAST_END, None), names, false), None);
    // The first chunk is the bound, too.
    assert_eq!(end(slots(4992..5000, "unknown type", None), 0..0, true), None);
    assert_eq!(end(slots(4992..5024, "unknown type", None), 0..0, true), Some(288));
}
