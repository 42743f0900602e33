//! What a repair brings back is what the independent script expects, and the result is sound.

use container_core::container::{OpenOptions, ReadOptions};
use container_core::format::Input;
use container_core::report::Verdict;
use container_core::{Progress, container::Depth};

use crate::corpus::{elements, format, open};
use crate::manifest::{Fixture, fixtures, sha256};

fn repaired(fixture: &Fixture) -> container_core::Result<(Vec<u8>, container_core::report::RepairReport)> {
    let repair = format(&fixture.format).repair.expect("a format with fixtures repairs");
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(fixture.bytes()));
    let report = repair(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((out, report))
}

#[test]
fn repairs_bring_back_what_the_independent_script_expects() {
    let mut problems = Vec::new();
    let mut count = 0;
    for fixture in fixtures().iter().filter(|fixture| fixture.repaired_shape.is_some()) {
        count += 1;
        let (bytes, _) = match repaired(fixture) {
            Ok(done) => done,
            Err(error) => {
                problems.push(format!("{}: {error}", fixture.path));
                continue;
            }
        };
        let file = open(&fixture.format, Box::new(bytes)).expect("a repaired file opens");
        let shape = Some(file.datasets()[0].shape.clone());
        let values = elements(&*file, 0).map(|bytes| sha256(&bytes)).ok();
        if shape != fixture.repaired_shape || values != fixture.repaired_values {
            problems.push(format!("{}: {shape:?}, wanted {:?}", fixture.path, fixture.repaired_shape));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 20, "only {count} repairs");
}

#[test]
fn whatever_is_repaired_is_sound_and_every_sound_file_survives() {
    for fixture in fixtures() {
        let Ok((bytes, report)) = repaired(&fixture) else {
            assert_ne!(fixture.verdict, "sound", "{}", fixture.path);
            continue;
        };
        let file = open(&fixture.format, Box::new(bytes)).expect("a repaired file opens");
        let check = file.check(Depth::Full, &ReadOptions::default(), Progress::none()).expect("a check");
        assert_eq!(check.verdict(), Verdict::Sound, "{}: {:?}", fixture.path, check.findings);
        if fixture.verdict == "sound" {
            assert!(report.lost.is_empty() && report.guessed.is_empty(), "{}: {report:?}", fixture.path);
            let values = sha256(&elements(&*file, 0).expect("values"));
            assert_eq!(Some(values), fixture.values, "{}", fixture.path);
            assert_eq!(file.datasets().get(1).map(|trailer| trailer.logical), fixture.trailer);
        }
    }
}
