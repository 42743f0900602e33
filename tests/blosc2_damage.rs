//! Cut at every byte and with every bit of header, index and trailer flipped, a frame gives an error, a finding, or the right data.

use std::ops::Range;

use container_core::format::Input;
use container_core::report::Verdict;

use crate::corpus::{Seen, format, options, see};
use crate::manifest::{Fixture, fixtures};

fn look(bytes: Vec<u8>) -> container_core::Result<Seen> {
    let file = (format("blosc2").open)(Input::bytes(Box::new(bytes)), &options())?;
    see(&*file)
}

/// Small frames of every kind: those built by hand, and every ninth of the others.
fn small_frames() -> Vec<Fixture> {
    let small = |it: &Fixture| {
        it.format == "blosc2"
            && it.verdict == "sound"
            && it.frame_version.is_some()
            && it.nbytes < Some(8000)
            && it.bytes().len() < 2500
    };
    let all: Vec<Fixture> = fixtures().into_iter().filter(small).collect();
    let chosen: Vec<Fixture> = all
        .into_iter()
        .enumerate()
        .filter(|(at, it)| it.path.contains("hand_") || at % 9 == 0)
        .map(|(_, it)| it)
        .collect();
    assert!(chosen.len() > 35, "only {} frames", chosen.len());
    chosen
}

fn codes(seen: &Seen) -> Vec<&'static str> {
    seen.report.findings.iter().map(|finding| finding.code).collect()
}

/// Compares the parts that have to be the same where no fault is found.
fn expect_same(what: &str, seen: &Seen, whole: &Seen) {
    if (&seen.dtype, &seen.shape) == (&whole.dtype, &whole.shape) && seen.others.len() == whole.others.len() {
        assert_eq!(seen.values, whole.values, "{what}");
        assert_eq!(seen.others, whole.others, "{what}");
    }
}

#[test]
fn truncated_frame_is_an_error_or_keeps_its_values() {
    for fixture in small_frames() {
        let bytes = fixture.bytes();
        let whole = look(bytes.clone()).expect("a sound file");
        let frame_len = bytes.len() - usize::try_from(fixture.trailing.unwrap_or(0)).expect("small");
        for cut in (0..bytes.len()).filter(|cut| *cut < 130 || bytes.len() - cut < 60 || cut % 13 == 0) {
            let name = format!("{} cut at {cut}", fixture.path);
            let Ok(seen) = look(bytes[..cut].to_vec()) else { continue };
            if cut >= frame_len {
                assert_eq!(seen.values, whole.values, "{name}");
                continue;
            }
            assert_eq!(seen.report.verdict(), Verdict::Damaged, "{name}: {:?}", seen.report.findings);
            // What is left may be read, and is then right.
            if seen.values.is_ok() && (&seen.dtype, &seen.shape) == (&whole.dtype, &whole.shape) {
                assert_eq!(seen.values, whole.values, "{name}");
            }
        }
    }
}

#[test]
fn a_flipped_bit_of_what_describes_the_frame_is_survived() {
    let (mut told, mut harmless) = (0_u32, 0_u32);
    for fixture in small_frames() {
        let bytes = fixture.bytes();
        let whole = look(bytes.clone()).expect("a sound file");
        for (at, is_shape) in described(&whole) {
            for bit in 0..8 {
                let mut flipped = bytes.clone();
                flipped[at] ^= 1 << bit;
                match look(flipped) {
                    Ok(seen) if codes(&seen) == codes(&whole) => {
                        harmless += 1;
                        // Other chunk shapes may fit the same chunks.
                        if is_shape {
                            continue;
                        }
                        expect_same(&format!("{} bit {bit} of byte {at}", fixture.path), &seen, &whole);
                    }
                    _ => told += 1,
                }
            }
        }
    }
    assert!(told > 2 * harmless, "{told} flips are told, {harmless} are not");
}

/// Every eleventh byte of header, index and trailer, and whether it is of the shape of an array. A flip in a chunk may be another chunk:
/// the format has no checksums.
fn described(seen: &Seen) -> impl Iterator<Item = (usize, bool)> {
    let of = |range: &Range<u64>| {
        usize::try_from(range.start).expect("small")..usize::try_from(range.end).expect("small")
    };
    let shapes = ["metalayer b2nd", "metalayer caterva"];
    let roles = ["header", "metalayers", "index", "trailer"];
    let mut bytes = Vec::new();
    for segment in &seen.layout {
        let is_shape = shapes.contains(&segment.role.as_str());
        if is_shape || roles.contains(&segment.role.as_str()) {
            bytes.extend(of(&segment.range).map(|at| (at, is_shape)));
        }
    }
    bytes.into_iter().step_by(11)
}
