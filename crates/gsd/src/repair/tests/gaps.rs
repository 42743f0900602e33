//! Entries that are gone between others, and bytes that are put in or taken out in front of all chunks.

use container_core::dtype::ByteOrder;

use super::build::*;
use crate::ChunkType;
use crate::header::Version;

/// The entries `gone` out of the index at 256, later ones moved up or not.
fn without(file: &[u8], gone: std::ops::Range<usize>, moved: bool) -> Vec<u8> {
    let (start, end, index_end) = (256 + 32 * gone.start, 256 + 32 * gone.end, 4352);
    let mut file = file.to_vec();
    if moved {
        file.copy_within(end..index_end, start);
        file[index_end - (end - start)..index_end].fill(0);
    } else {
        file[start..end].fill(0);
    }
    file
}

#[test]
fn frames_between_others_are_brought_back_by_their_form() {
    let (builder, whole) = sample(40, 4, 40);
    // Frame 0 has five chunks, each later one three.
    let entries = |frame: usize| 5 + 3 * (frame - 1);
    for (moved, first, last) in [(true, 20, 24), (false, 20, 24), (true, 30, 30), (true, 10, 37)] {
        let file = without(&builder.file, entries(first)..entries(last + 1), moved);
        let (new, report) = repaired(&file).unwrap();
        assert_eq!(new, whole, "{report:?}");
        let what = format!("frames {first} to {last}, {} chunks", 3 * (last + 1 - first));
        assert!(report.guessed.iter().any(|item| item.what.starts_with(&what)), "{report:?}");
        assert!(!report.lost.iter().any(|item| item.what.starts_with("frame")), "{report:?}");

        let (new, report) = committed(&file).unwrap();
        assert!(new.len() < whole.len() || new[first].is_empty());
        assert!(report.lost.iter().any(|item| item.what.contains("no entry is left")), "{report:?}");
    }
}

#[test]
fn frames_between_others_that_nothing_tells_apart_are_lost() {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..20_u8 {
        builder.chunk("a", ChunkType::Uint8, 7, 1, &[frame + 1; 7]).end_frame();
    }
    builder.flush();
    let file = without(&builder.file, 8..11, true);
    let (new, report) = repaired(&file).unwrap();
    assert_eq!(new, frames(&file).unwrap());
    let [lost] = report.lost.as_slice() else { panic!("{report:?}") };
    let start = 5376 + 7 * 8;
    assert_eq!(lost.range, Some(start..start + 21));
    assert!(lost.what.starts_with("frames 8 to 10: no entry is left"), "{}", lost.what);
}

#[test]
fn chunks_are_read_where_bytes_put_in_before_the_names_moved_them() {
    let (builder, whole) = sample(20, 4, 20);
    for (place, count) in [(4000, 3), (4351, 1), (3000, 64)] {
        let mut file = builder.file.clone();
        file.splice(place..place, vec![0; count]);
        let (new, report) = repaired(&file).unwrap();
        assert_eq!(new, whole, "{report:?}");
        let what = format!("names and chunks lie {count} bytes behind their place");
        assert!(report.guessed.iter().any(|item| item.what.starts_with(&what)), "{report:?}");

        // The last chunk seems to be past the end; what is left has its values.
        let mut file = builder.file.clone();
        file.drain(place..place + count);
        let (new, report) = repaired(&file).unwrap();
        assert!(new.len() >= whole.len() - 3, "{report:?}");
        assert_eq!(new, whole[..new.len()], "{report:?}");
        let what = format!("names and chunks lie {count} bytes before their place");
        assert!(report.guessed.iter().any(|item| item.what.starts_with(&what)), "{report:?}");
    }
}

#[test]
fn frames_behind_bytes_that_were_put_in_or_taken_out_are_read_where_they_lie() {
    let (builder, whole) = sample(20, 4, 20);
    let end = builder.file.len();
    // The step and its chunks: frame 0 has 28 bytes more.
    let frame = |frame: usize| end - (20 - frame) * (8 + 48 + 8);
    for (place, torn) in [(frame(6) + 20, 6), (frame(12), 11), (frame(3) + 8, 3)] {
        for count in [1, 2, 7, 8, 64, 500] {
            let mut left = whole.clone();
            left.remove(torn);
            let mut file = builder.file.clone();
            file.splice(place..place, (0..count).map(|at: usize| (at * 37) as u8 | 1));
            let (new, report) = repaired(&file).unwrap();
            assert_eq!(new, left, "{place}, {count} in: {report:?}");
            let what = format!("the chunks behind frame {torn} lie {count} bytes behind");
            assert!(report.guessed.iter().any(|item| item.what.starts_with(&what)), "{report:?}");
            assert!(!report.lost.is_empty(), "{report:?}");
        }
        for count in [1, 2, 7, 8, 20] {
            let mut file = builder.file.clone();
            file.drain(place..place + count);
            let (new, report) = repaired(&file).unwrap();
            // Where a frame begins, it is the next that lacks bytes.
            let bad = new.iter().filter(|frame| !whole.contains(frame)).count();
            assert!(bad == 0 && new.len() + 2 >= whole.len(), "{place}, {count} out: {report:?}");
        }
    }
}
