use super::*;

fn entry(frame: u64, id: u16, range: Range<u64>) -> IndexEntry {
    let location = range.start.cast_signed();
    IndexEntry { frame, n: range.end - range.start, location, m: 1, id, type_code: 1, flags: 0 }
}

#[test]
fn entries_that_were_not_committed_are_kept_as_far_as_they_are_new_and_apart() {
    let listed =
        [entry(0, 0, 5000..5010), entry(0, 1, 5010..5020), entry(1, 0, 5020..5030), entry(0, 2, 300..300)];
    let blocks = [0..256, 256..4352, 4352..5000];
    let kept = |more: &[IndexEntry], at: Range<u64>| {
        let mut more = more.to_vec();
        keep_new(&mut more, &at, &listed[..3], &blocks);
        more.len()
    };
    let at = 6000..6064;
    let new = [entry(1, 1, 5030..5040), entry(2, 0, 5040..5050), entry(2, 1, 300..300)];
    assert_eq!(kept(&new, at.clone()), 3);
    // Up to the first that is listed, of an earlier frame, or lies over another or over a block.
    for wrong in [
        entry(1, 0, 5040..5050),
        entry(0, 7, 5040..5050),
        entry(2, 0, 5029..5040),
        entry(2, 0, 5000..5010),
        entry(2, 0, 4999..5000),
        IndexEntry { location: -1, ..entry(2, 0, 0..1) },
    ] {
        assert_eq!(kept(&[new[0], wrong, new[2]], at.clone()), 1, "{wrong:?}");
    }
    // Entries within a chunk or a block are data.
    for taken in [5000..5032, 5025..5060, 4990..5000, 4351..4352] {
        assert_eq!(kept(&new, taken), 0);
    }
    assert_eq!(kept(&new, 5030..5062), 3);
}

#[test]
fn chunks_are_apart_or_the_same_bytes_as_one_type() {
    let file = crate::repair::tests::build::Builder::hoomd().file;
    let damaged = DamagedFile::open(&file, container_core::Limits::default(), &mut Vec::new()).unwrap();
    let blocks = [0..256, 256..4352];
    let apart = |entries: &[IndexEntry]| are_disjoint(&damaged, entries, &blocks).unwrap();
    let one = entry(0, 0, 5000..5010);
    assert!(apart(&[]) && apart(&[one]) && apart(&[entry(0, 1, 5010..5020), one]));
    assert!(apart(&[one, entry(1, 0, 5000..5010)]) && apart(&[one, entry(1, 0, 5005..5005)]));
    assert!(!apart(&[one, IndexEntry { type_code: 5, ..one }]));
    assert!(!apart(&[one, entry(1, 0, 5009..5020)]) && !apart(&[one, entry(1, 0, 5000..5009)]));
    assert!(!apart(&[entry(0, 0, 4351..4360)]) && !apart(&[entry(0, 0, 256..4352)]));
}

#[test]
fn bytes_of_hidden_chunks_are_those_that_no_other_has() {
    let kept = [entry(0, 0, 5000..5010), entry(1, 0, 5020..5030)];
    let bytes: Vec<u8> =
        kept.iter().flat_map(|entry| entry.to_bytes(container_core::dtype::ByteOrder::Little)).collect();
    let kept = IndexBlock::new(&bytes, container_core::dtype::ByteOrder::Little);
    let gone = [
        entry(0, 0, 5040..5050),
        entry(0, 0, 5000..5010),
        entry(0, 1, 5020..5030),
        entry(0, 1, 5020..5030),
        entry(0, 2, 5020..5031),
        entry(0, 3, 5060..5060),
    ];
    assert_eq!(unshared_ranges(&gone, kept), [5020..5031, 5040..5050]);
}
