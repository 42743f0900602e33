use super::*;

fn entry(frame: u64, range: Range<u64>) -> IndexEntry {
    let location = range.start.cast_signed();
    IndexEntry { frame, n: range.end - range.start, location, m: 1, id: 0, type_code: 1, flags: 0 }
}

fn lines(items: Vec<RepairItem>) -> Vec<(Option<Range<u64>>, String)> {
    items.into_iter().map(|item| (item.range, item.what)).collect()
}

#[test]
fn frames_that_follow_one_another_are_one_line() {
    let told = |entries: &[IndexEntry]| {
        let mut frames = Frames::new("goes", "go");
        entries.iter().for_each(|entry| frames.add(entry));
        lines(frames.items())
    };
    let all = [
        entry(0, 300..310),
        entry(1, 290..295),
        entry(1, 320..330),
        entry(3, 500..510),
        entry(7, 600..610),
        entry(7, 610..620),
    ];
    let expected = [
        (Some(290..330), "frames 0 to 1, 3 chunks, go".to_owned()),
        (Some(500..510), "frame 3, 1 chunk, goes".to_owned()),
        (Some(600..620), "frame 7, 2 chunks, goes".to_owned()),
    ];
    assert_eq!(told(&all), expected);
    let mut plain = Frames::new("", "");
    plain.add(&all[0]);
    assert_eq!(lines(plain.items()), [(Some(300..310), "frame 0, 1 chunk".to_owned())]);
    // A thousand lines; the last one stands for all that follow.
    let apart: Vec<IndexEntry> = (0..1002).map(|at| entry(2 * at, 300 + at..301 + at)).collect();
    let found = told(&apart);
    assert_eq!((found.len(), &found[998].1), (1000, &"frame 1996, 1 chunk, goes".to_owned()));
    assert_eq!(found[999], (Some(1299..1302), "frames 1998 to 2002, 3 chunks, go".to_owned()));
}

#[test]
fn invalid_slots_side_by_side_are_one_line() {
    let slots = |range: Range<u64>, why| InvalidSlots { range, why, frames: (0, None) };
    let told = lines(invalid_slots(&[
        slots(256..288, "one"),
        slots(288..352, "one"),
        slots(352..384, "other"),
        slots(416..448, "other"),
    ]));
    let expected = [
        (Some(256..352), "3 index entries: one".to_owned()),
        (Some(352..384), "1 index entries: other".to_owned()),
        (Some(416..448), "1 index entries: other".to_owned()),
    ];
    assert_eq!(told, expected);
    // More than a thousand are one line.
    let slots_apart = |count: u64| -> Vec<InvalidSlots> {
        (0..count).map(|at| slots(256 + 64 * at..288 + 64 * at, "one")).collect()
    };
    assert_eq!(invalid_slots(&slots_apart(1000)).len(), 1000);
    let many = lines(invalid_slots(&slots_apart(1001)));
    assert_eq!(many, [(Some(256..288 + 64 * 1000), "1001 index entries: one".to_owned())]);
}

#[test]
fn dropped_entries_are_told_by_name_and_frame() {
    let one = |at: u64, id| DroppedEntry {
        entry: IndexEntry { id, ..entry(at, 300 + at..310 + at) },
        why: "twice",
        replaced: false,
    };
    let names = [b"a".to_vec(), b"b\xFF".to_vec()];
    let told = lines(dropped(&[one(3, 0), one(4, 1), one(5, 2)], &names));
    let expected = [
        (Some(303..313), "a of frame 3: twice".to_owned()),
        (Some(304..314), "b\u{FFFD} of frame 4: twice".to_owned()),
        (Some(305..315), " of frame 5: twice".to_owned()),
    ];
    assert_eq!(told, expected);
    let many = |count| dropped(&(0..count).map(|at| one(at, 0)).collect::<Vec<_>>(), &names);
    assert_eq!(many(1000).len(), 1000);
    let found = lines(many(1003));
    assert_eq!((found.len(), found.last().unwrap()), (1001, &(None, "3 more chunks".to_owned())));
}

#[test]
fn lost_frames_are_told_by_their_numbers() {
    assert_eq!(lost_frames(&(4..5)), RepairItem::of_file("frame 4: no entry is left"));
    assert_eq!(lost_frames(&(4..7)), RepairItem::of_file("frames 4 to 6: no entry is left"));
    let what = "frames 4 to 6: no entry is left, and their 50 bytes cannot be separated";
    assert_eq!(missing(&(4..7), 500..550), RepairItem::new(500..550, what));
    let what = "50 bytes between frames that no entry describes";
    assert_eq!(lost_frame_data(500..550), RepairItem::new(500..550, what));
    let found = [entry(4, 500..510), entry(5, 510..550)];
    let what = "frames 4 to 5, 2 chunks: no entry is left, found by the form of the frames before";
    let item = RepairItem::new(500..550, what).with_evidence(Evidence::CommittedFrame);
    assert_eq!(between(&found, &(4..6), 500..550), item);
}

#[test]
fn a_form_is_told_by_the_names_of_its_first_frame() {
    let names = [b"step".to_vec(), b"position".to_vec(), b"energy".to_vec()];
    let with_id = |id, entry: IndexEntry| IndexEntry { id, ..entry };
    let found =
        [with_id(0, entry(4, 510..518)), with_id(2, entry(4, 500..510)), with_id(1, entry(5, 518..530))];
    let what = "no committed frame has the form of later ones: step, energy";
    assert_eq!(form(&found, &names), RepairItem::new(500..518, what).with_evidence(Evidence::Walk));
}

#[test]
fn bytes_that_are_not_zero_are_something() {
    let mut file = crate::repair::tests::build::Builder::hoomd().file;
    file[5000] = 1;
    let damaged = DamagedFile::open(&file, container_core::Limits::default(), &mut Vec::new()).unwrap();
    let holds = |range: Range<u64>| holds_something(&damaged, &range).unwrap();
    assert!(
        holds(5000..5001)
            && holds(4900..5001)
            && !holds(4900..5000)
            && !holds(5001..5100)
            && !holds(5000..5000)
    );
}
