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
fn names_are_parted_where_a_bit_of_the_nul_between_them_is_set() {
    for builder in [sample(1, 4, 1).0, sample(5, 4, 5).0] {
        let whole = frames(&builder.file).unwrap();
        for (at, bit) in inner(&builder.file).into_iter().flat_map(|at| (0..8).map(move |bit| (at, bit))) {
            let mut file = builder.file.clone();
            file[at] ^= 1 << bit;
            let (new, report) = repaired(&file).unwrap();
            let place = at as u64..at as u64 + 1;
            assert!(new == whole && report.lost.is_empty(), "{at} {bit}: {report:?}");
            assert!(matches!(&report.guessed[..], [item] if item.range == Some(place)), "{report:?}");
        }
    }
}

/// A space and an at are bytes of names, too, and one bit away from a NUL.
#[test]
fn where_nothing_tells_which_names_ran_into_one_they_are_lost() {
    for (builder, bytes) in
        [(plain("a third", 1), &b""[..]), (plain("a third", 6), b""), (plain("a-third", 6), b"Az/\xFF")]
    {
        let whole = frames(&builder.file).unwrap();
        let mut parted = 0;
        for at in inner(&builder.file) {
            for byte in (0..8).map(|bit| 1 << bit).chain(bytes.iter().copied()) {
                let mut file = builder.file.clone();
                file[at] = byte;
                let (new, report) = repaired(&file).unwrap();
                assert_nothing_is_shifted(&new, &whole, &format!("{at} {byte}: {report:?}"));
                if new == whole {
                    assert!(report.lost.is_empty() && report.guessed.len() == 1, "{at} {byte}: {report:?}");
                    parted += 1;
                } else {
                    assert!(!report.lost.is_empty(), "{at} {byte}: {report:?}");
                }
            }
        }
        assert!(parted >= 15, "{parted}");
    }
}

#[test]
fn lost_names_are_told_as_lost() {
    let mut builder = plain("third", 3);
    builder.file[4352..5376].fill(0);
    let (new, report) = repaired(&builder.file).unwrap();
    assert!(new.len() == 3 && new[2].contains_key("unknown/3"), "{report:?}");
    let lost = report.lost.iter().filter(|item| item.what.ends_with("stands for it")).count();
    assert_eq!(lost, 4, "{report:?}");
}

/// Then the room of the names reaches into the first chunk.
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
            let moved = file.len() + 64;
            file.resize(moved, 0);
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
