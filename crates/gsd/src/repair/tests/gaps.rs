//! Entries that are gone between others, and bytes that are put in or taken out.

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
fn indistinguishable_frames_in_a_gap_are_reported_lost() {
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

/// Index or names are then not where the header and the chunks place them.
#[test]
fn bytes_that_were_put_in_or_taken_out_before_the_chunks_are_reported() {
    let (builder, _) = sample(20, 4, 20);
    let assert_refused = |file: Vec<u8>, what: &str| {
        let error = repaired(&file).unwrap_err();
        assert!(error.to_string().contains("bytes were inserted or removed"), "{what}: {error}");
    };
    for (place, count) in [(200, 3), (200, 64), (4000, 3), (4351, 1), (3000, 64)] {
        let mut file = builder.file.clone();
        file.splice(place..place, vec![0; count]);
        assert_refused(file, &format!("{count} in at {place}"));
        let mut file = builder.file.clone();
        file.drain(place..place + count);
        assert_refused(file, &format!("{count} out at {place}"));
    }
}
