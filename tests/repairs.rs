//! Repairs restore what the independent script expects, and the result is undamaged.

use container_core::container::{OpenOptions, ReadOptions};
use container_core::format::{Input, Probe};
use container_core::report::{Severity, Verdict};
use container_core::{ErrorKind, Progress, container::CheckDepth, magic};

use crate::corpus::{as_listed, elements, format, items, open, shown};
use crate::manifest::{Fixture, Visibility, sha256};

/// Those of formats that are repaired: `holdall formats` says which.
fn fixtures() -> Vec<Fixture> {
    let of_all = crate::manifest::fixtures().into_iter();
    of_all.filter(|fixture| format(&fixture.format).repair.is_some()).collect()
}

fn repaired(fixture: &Fixture) -> container_core::Result<(Vec<u8>, container_core::report::RepairReport)> {
    let repair = format(&fixture.format).repair.expect("the format repairs");
    let mut out = Vec::new();
    let input = Input::bytes(Box::new(fixture.bytes()));
    let report = repair(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((out, report))
}

#[test]
fn repairs_bring_back_what_the_independent_script_expects() {
    let mut problems = Vec::new();
    let mut count = 0;
    for fixture in fixtures().iter().filter(|fixture| {
        fixture.repaired_shape.is_some()
            || fixture.repaired_items.is_some()
            || fixture.repaired_datasets.is_some()
    }) {
        count += 1;
        let (bytes, _) = match repaired(fixture) {
            Ok(done) => done,
            Err(error) => {
                problems.push(format!("{}: {error}", fixture.path));
                continue;
            }
        };
        let file = open(&fixture.format, Box::new(bytes)).expect("a repaired file opens");
        if let Some(expected) = &fixture.repaired_items {
            if &items(&*file) != expected {
                problems.push(format!("{}: other items", fixture.path));
            }
            continue;
        }
        if let Some(expected) = &fixture.repaired_datasets {
            let found = as_listed(shown(&*file).expect("a listing"));
            if &found != expected {
                problems.push(format!("{}: {}", fixture.path, difference(&found, expected)));
            }
            continue;
        }
        let shape = Some(file.require(0).expect("data").shape.clone());
        let values = elements(&*file, 0).map(|bytes| sha256(&bytes)).ok();
        if shape != fixture.repaired_shape || values != fixture.repaired_values {
            problems.push(format!("{}: {shape:?}, wanted {:?}", fixture.path, fixture.repaired_shape));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 20, "only {count} repairs");
}

/// The first dataset that is not as expected.
fn difference(found: &[Visibility], expected: &[Visibility]) -> String {
    match expected.iter().find(|it| !found.contains(it)) {
        Some(missing) => {
            let there = found.iter().find(|it| it.path == missing.path);
            format!("{} {:?} is {there:?}", missing.path, missing.shape)
        }
        None => format!("{} datasets, wanted {}", found.len(), expected.len()),
    }
}

/// As files are written: little-endian.
fn little(datasets: &[Visibility]) -> Vec<Visibility> {
    datasets.iter().map(|it| Visibility { dtype: it.dtype.replace('>', "<"), ..it.clone() }).collect()
}

/// A wrong byte among those by which the format is known.
#[test]
fn damaged_magic_is_repaired_without_loss() {
    let mut tried = std::collections::BTreeMap::new();
    for (number, fixture) in fixtures().iter().filter(|it| it.verdict == "sound").enumerate() {
        let Ok((whole, before)) = repaired(fixture) else { continue };
        let (format, mut bytes) = (format(&fixture.format), fixture.bytes());
        let Some(magic) = format.magics.iter().find(|magic| bytes.starts_with(magic)) else { continue };
        bytes[number % magic.len()] ^= 1 << (number % 8);
        // Another version of ASDF is another line, and no damage.
        if (format.sniff)(&Probe { head: &bytes, directory: None, len: None }) {
            continue;
        }
        // The evidence for the header line of an ASDF file is what follows: of one without a tree or blocks there is none.
        let is_header_alone = ["head_alone", "head_cr", "head_line", "head_standard"];
        if is_header_alone.iter().any(|name| fixture.path == format!("ok/{name}.asdf")) {
            continue;
        }
        let Some(meant) = magic::closest_magic(&bytes, format.magics) else { continue };
        assert_eq!(meant, *magic, "{}", fixture.path);
        let mut out = Vec::new();
        let input = Input::bytes(Box::new(bytes));
        let repair = format.repair.expect("the format repairs");
        let report = repair(input, &OpenOptions::default(), Some(&mut out), Progress::none());
        let report = report.unwrap_or_else(|error| panic!("{}: {error}", fixture.path));
        assert!(out == whole, "{}: {report:?}", fixture.path);
        let told = report.guessed.iter().any(|item| item.range == Some(0..magic.len() as u64));
        // GSD: bytes behind the last frame are a loss only where something else is wrong, too.
        let mut lost = report.lost.iter().filter(|item| !item.what.ends_with("that no entry describes"));
        assert!(told && lost.all(|item| before.lost.contains(item)), "{}: {report:?}", fixture.path);
        *tried.entry(format.name).or_insert(0) += 1;
    }
    assert_eq!(tried.len(), 5, "{tried:?}");
    assert!(tried.values().all(|count| *count > 20), "{tried:?}");
}

#[test]
fn whatever_is_repaired_is_sound_and_every_sound_file_survives() {
    let mut problems = Vec::new();
    for fixture in fixtures() {
        if let Err(problem) = std::panic::catch_unwind(|| expect_sound_repair(&fixture)) {
            let text = problem.downcast_ref::<String>().cloned().unwrap_or_default();
            problems.push(format!("{}: {text}", fixture.path));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}

fn expect_sound_repair(fixture: &Fixture) {
    let (bytes, report) = match repaired(fixture) {
        Ok(done) => done,
        Err(error) => {
            // Stores of several frames are not repaired as a whole.
            let of_many = matches!(error.kind(), ErrorKind::Unsupported(_)) && fixture.path.ends_with(".b2z");
            assert!(fixture.verdict != "sound" || of_many, "{error}");
            return;
        }
    };
    let file = open(&fixture.format, Box::new(bytes)).expect("a repaired file opens");
    let check = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()).expect("a check");
    // What nobody here can decode is copied as it is.
    let unknown = ["bad/chunk_instrumented.b2frame"];
    // Of a store that is a frame, the frame is mended, and not what it says of the values in it.
    let is_store = fixture.path.ends_with(".b2e") && fixture.verdict != "sound";
    if is_store || unknown.iter().any(|path| fixture.path.ends_with(path)) {
        return;
    }
    // What a tree says of its arrays is its author's, and blocks that nobody can decode are copied as they are.
    let is_as_before = |code: &str| fixture.codes.iter().any(|before| before == code);
    if fixture.format == "asdf" && check.verdict() != Verdict::Sound {
        let remain = check.findings.iter().filter(|it| it.severity == Severity::Error);
        let known = ["array", "tree", "checksum", "undecodable_block", "compression", "streamed_compressed"];
        let new: Vec<_> = remain.filter(|it| !known.contains(&it.code) || !is_as_before(it.code)).collect();
        assert!(fixture.verdict != "sound" && new.is_empty(), "{new:?}");
        return;
    }
    assert_eq!(check.verdict(), Verdict::Sound, "{:?}", check.findings);
    if fixture.verdict != "sound" {
        return;
    }
    // What is salvaged is compared elsewhere.
    if fixture.repaired_datasets.is_some() {
        return;
    }
    // Files older than today's version are written anew, and odd ones straightened.
    let as_it_is =
        fixture.codes.is_empty() && !report.guessed.iter().any(|it| it.what.contains(": written as"));
    // Bytes that no entry of a GSD file names, or names twice, and those between blocks of ASDF, are told of and left behind.
    let left_behind = ["asdf", "gsd"].contains(&fixture.format.as_str()) && !fixture.codes.is_empty();
    // So are bytes after a frame, all of which is kept.
    let left_behind = left_behind || (fixture.format == "blosc2" && is_as_before("trailing_bytes"));
    assert!(
        (report.lost.is_empty() || left_behind) && (report.guessed.is_empty() || !as_it_is),
        "{report:?}"
    );
    if let Some(expected) = &fixture.items {
        assert_eq!(&items(&*file), expected);
        return;
    }
    if fixture.format == "gsd" {
        let Some(expected) = &fixture.datasets else { return };
        let found = as_listed(shown(&*file).expect("a listing"));
        assert!(found == little(expected), "{}", difference(&found, &little(expected)));
        return;
    }
    if let Some(expected) = fixture.listed().filter(|_| fixture.values.is_none()) {
        let found = as_listed(shown(&*file).expect("a listing"));
        assert!(found == expected, "{}", difference(&found, &expected));
        return;
    }
    let Some(expected) = &fixture.values else { return };
    assert_eq!(&sha256(&elements(&*file, 0).expect("values")), expected);
    let trailer = file.find("trailer").and_then(|index| file.dataset(index));
    assert_eq!(trailer.map(|trailer| trailer.logical), fixture.trailer);
}
