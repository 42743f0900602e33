//! Names that ran into one another, and names that are gone.

use container_core::dtype::ByteOrder;

use super::build::*;
use crate::ChunkType;
use crate::header::Version;

/// Offsets of the NULs between the names of a file.
fn inner(file: &[u8]) -> Vec<usize> {
    let end = 4352 + file[4352..5376].iter().rposition(|byte| *byte != 0).unwrap();
    (4352..end).filter(|at| file[*at] == 0).collect()
}

fn plain(third: &str, count: u8) -> Builder {
    let mut builder = Builder::new("none", Version::new(2, 1), ByteOrder::Little);
    for frame in 0..count {
        for (id, name) in ["first", "b", third, "fourth@"].into_iter().enumerate() {
            builder.chunk(name, ChunkType::Uint16, 1, 1, &[frame, id as u8]);
        }
        builder.end_frame();
    }
    builder.flush();
    builder
}

/// Chunks that the repair names are named as they were.
fn assert_nothing_is_shifted(new: &[Frame], whole: &[Frame], what: &str) {
    for (new, whole) in new.iter().zip(whole) {
        for (name, chunk) in new.iter().filter(|(name, _)| !name.starts_with("unknown/")) {
            assert_eq!(whole.get(name), Some(chunk), "{what}: {name}");
        }
    }
}

#[test]
fn names_that_ran_into_one_another_are_lost() {
    for builder in [sample(1, 4, 1).0, sample(5, 4, 5).0, plain("a third", 1), plain("a-third", 6)] {
        let whole = frames(&builder.file).unwrap();
        for at in inner(&builder.file) {
            for byte in (0..8).map(|bit| 1 << bit).chain(*b"Az/\xFF") {
                let mut file = builder.file.clone();
                file[at] = byte;
                let (new, report) = repaired(&file).unwrap();
                assert_nothing_is_shifted(&new, &whole, &format!("{at} {byte}: {report:?}"));
                assert!(new.len() == whole.len() && !report.lost.is_empty(), "{at} {byte}: {report:?}");
            }
        }
    }
}

#[test]
fn lost_names_are_replaced_and_reported() {
    let mut builder = plain("third", 3);
    builder.file[4352..5376].fill(0);
    let (new, report) = repaired(&builder.file).unwrap();
    assert!(new.len() == 3 && new[2].contains_key("unknown/3"), "{report:?}");
    let lost = report.lost.iter().filter(|item| item.what.contains("is lost, replaced by")).count();
    assert_eq!(lost, 4, "{report:?}");
}

#[test]
fn names_begin_where_the_first_does_that_they_are_pointed_into() {
    for builder in [sample(5, 4, 5).0, plain("third", 3)] {
        let mut builder = builder;
        let whole = frames(&builder.file).unwrap();
        // Not at the usual place.
        let (place, room) = (builder.header.namelist_location as usize, 1024);
        let names = builder.file[place..place + room].to_vec();
        builder.file[place..place + room].fill(0);
        for by in 1..4 {
            let mut file = builder.file.clone();
            // Right behind a chunk, whose last byte may be a letter.
            let moved = file.len();
            file.extend(&names);
            file.extend([5; 64]);
            let mut header = builder.header;
            header.namelist_location = (moved + by) as u64;
            file[..256].copy_from_slice(&header.to_bytes());
            let (new, report) = repaired(&file).unwrap();
            assert_eq!(new, whole, "{by}: {report:?}");
            assert!(!report.guessed.is_empty(), "{by}: {report:?}");
        }
    }
}
