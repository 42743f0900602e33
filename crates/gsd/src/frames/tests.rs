use proptest::prelude::*;

use super::*;
use crate::stacked::{Defaults, Rows, StackedChunks};
use crate::writer::sequential::{NewChunk, Plan, to_vec};
use crate::{ChunkType, OpenOptions, Version};

proptest! {
    #[test]
    fn slots_and_frames_are_inverse(start in 0..50_u64, step in -5..6_i64, count in 0..20_u64) {
        prop_assume!(step != 0);
        let frames = Frames { start, step, count };
        let listed: Vec<Option<u64>> = (0..count).map(|slot| frames.frame(slot)).collect();
        for frame in 0..200 {
            let slot = listed.iter().position(|one| *one == Some(frame)).map(|slot| slot as u64);
            prop_assert_eq!(frames.slot(frame), slot);
            prop_assert!(slot.is_none() || !listed.iter().all(Option::is_some) || frames.span().contains(&frame));
        }
    }
}

#[test]
fn frames_further_apart_are_every_nth_of_these() {
    let of = |start, step, count| Frames { start, step, count };
    // As `range(3, 3 + 2 * 7, 2)[::3]` in Python.
    assert_eq!(of(3, 2, 7).by(3).unwrap(), of(3, 6, 3));
    assert_eq!(of(3, 2, 6).by(3).unwrap(), of(3, 6, 2));
    assert_eq!(of(9, -2, 5).by(2).unwrap(), of(9, -4, 3));
    assert_eq!(of(9, 1, 0).by(5).unwrap(), of(9, 5, 0));
    assert_eq!(of(9, 1, 5).by(1).unwrap(), of(9, 1, 5));
    for step in [0, 1 << 63, u64::MAX] {
        let error = of(0, 1, 5).by(step).unwrap_err();
        assert_eq!(error.to_string(), format!("every {step}th frame"));
    }
    assert!(of(0, 4, 5).by(1 << 61).is_err());
}

#[test]
fn spans_reach_from_the_lowest_to_the_highest_frame() {
    let span = |start, step, count| Frames { start, step, count }.span();
    assert_eq!(span(3, 2, 4), 3..10);
    assert_eq!(span(9, -3, 3), 3..10);
    assert_eq!(span(5, 7, 1), 5..6);
    assert_eq!(span(5, 7, 0), 0..0);
    // They end below 0.
    assert_eq!(span(2, -3, 2), 0..0);
    assert_eq!(Frames::range(4..9), Frames { start: 4, step: 1, count: 5 });
    assert_eq!(Frames::range(9..9).count, 0);
}

/// A file whose frames have the chunks `a`, `b` and `c` of two bytes: the frame, and the place of the name.
fn file(frames: u8) -> File {
    let data: Vec<[u8; 2]> = (0..frames).flat_map(|frame| (0..3).map(move |name| [frame, name])).collect();
    let chunk = |at: usize| -> NewChunk<'_> {
        ((at / 3) as u64, ["a", "b", "c"][at % 3], ChunkType::Uint8, 2, 1, &data[at])
    };
    let chunks: Vec<NewChunk<'_>> = (0..data.len()).map(chunk).collect();
    let bytes = to_vec(Plan::new("test", "none", Version::new(1, 0)).unwrap(), &chunks).unwrap();
    File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap()
}

#[test]
fn frames_outside_a_file_are_refused_with_their_number() {
    let file = file(5);
    let check =
        |start, step, count| Frames { start, step, count }.check(&file).map_err(|error| error.to_string());
    for (start, step, count) in [(0, 1, 5), (4, -1, 5), (4, 3, 1), (0, 4, 2), (3, 0, 0), (9, 1, 0), (0, 1, 0)]
    {
        assert_eq!(check(start, step, count), Ok(()), "{start} {step} {count}");
    }
    for (start, step, count) in
        [(0, 1, 6), (5, 1, 1), (4, -1, 6), (0, 5, 2), (3, 0, 1), (3, 0, 2), (0, i64::MAX, 3)]
    {
        let told = format!("{count} frames from {start} on, by {step}, are outside a file of 5 frames");
        assert_eq!(check(start, step, count), Err(told));
    }
}

/// Few frames are searched for one by one, many are found in one sweep of the index; either gives the chunks of these frames.
#[test]
fn chunks_are_found_by_searches_as_by_a_sweep() {
    let file = file(200);
    for (start, step, count) in
        [(10, 150, 2), (160, -150, 2), (0, 1, 200), (199, -1, 200), (7, 1, 1), (0, 199, 2)]
    {
        let frames = Frames { start, step, count };
        for (which, name) in ["a", "b", "c"].into_iter().enumerate() {
            let stack = StackedChunks::new(&file, name, &frames, Defaults::StoredOnly).unwrap();
            let array = stack.read(&Rows::All, 1).unwrap();
            let found = array.bytes(container_core::Order::C, &file.options().limits).unwrap();
            let expected: Vec<u8> = (0..count)
                .flat_map(|slot| {
                    [u8::try_from(frames.frame(slot).unwrap()).unwrap(), u8::try_from(which).unwrap()]
                })
                .collect();
            assert_eq!(*found, *expected, "{frames:?} {name}");
        }
        // Several names at once, in the order of their ids and in another.
        for ids in [[0, 1, 2], [2, 0, 1]] {
            let mut found = Vec::new();
            sweep(&file, &ids, &frames, |slot, which, entry| {
                found.push((slot, which, entry.frame, entry.id));
                Ok(())
            })
            .unwrap();
            found.sort_unstable();
            let expected: Vec<_> = (0..count)
                .flat_map(|slot| {
                    (0..3).map(move |which| (slot, which, frames.frame(slot).unwrap(), ids[which]))
                })
                .collect();
            assert_eq!(found, expected, "{frames:?}");
        }
    }
}

/// A chunk that no search finds is not visited, so that it may have another shape.
#[test]
fn of_two_chunks_of_one_name_in_a_frame_one_is_visited() {
    // Entries of frame 1 renamed to `b`: the reference's search finds one of them.
    let plain = file(3);
    let bytes = plain.source().read(0..plain.source().len()).unwrap().into_owned();
    let index = usize::try_from(plain.header().index_location).unwrap();
    for renamed in [[1, 1, 2], [0, 1, 1], [1, 1, 1]] {
        let mut bytes = bytes.clone();
        for (at, id) in renamed.into_iter().enumerate() {
            bytes[index + 32 * (3 + at) + 28] = id;
        }
        let file = File::from_source(Box::new(bytes), &OpenOptions::default()).unwrap();
        let mut found = Vec::new();
        sweep(&file, &[1], &Frames::all(&file), |slot, _, entry| {
            found.push((slot, entry.location));
            Ok(())
        })
        .unwrap();
        let searched: Vec<_> =
            (0..3).map(|frame| (frame, file.find_id(frame, 1).unwrap().location)).collect();
        assert_eq!(found, searched, "{renamed:?}");
    }
}
