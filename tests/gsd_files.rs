//! GSD files: the file layer opens what the reference opens, and holds what the independent script says.

use container_core::Progress;
use container_core::dtype::ByteOrder;
use gsd::repair::{RepairOptions, repair_source};
use gsd::{Defaults, File, Frames, OpenOptions, Rows, StackedChunks, Strictness};

use crate::corpus;
use crate::manifest::{Fixture, Visibility, all_fixtures, sha256};

pub fn gsd_fixtures() -> impl Iterator<Item = Fixture> {
    all_fixtures().into_iter().filter(|fixture| fixture.format == "gsd")
}

fn open(fixture: &Fixture, strictness: Strictness) -> gsd::Result<File> {
    File::from_source(Box::new(fixture.bytes()), &OpenOptions::default().with_strictness(strictness))
}

#[test]
fn the_compatible_policy_opens_what_the_reference_opens() {
    let mut problems = Vec::new();
    let mut refused = 0;
    for fixture in gsd_fixtures() {
        let Some(expected) = &fixture.reference else { continue };
        // Only we read what big-endian machines write.
        if fixture.path.contains("/be_") || fixture.path.contains("/hoomd_be") {
            continue;
        }
        // The last byte of the namelist is not looked at.
        if ["bad/names_last_byte.gsd", "bad/v1_name_unterminated.gsd"].contains(&fixture.path.as_str()) {
            continue;
        }
        refused += u64::from(expected == "refuses");
        let frames = open(&fixture, Strictness::Compatible).map(|file| file.nframes().to_string());
        if *frames.as_ref().map_or("refuses", String::as_str) != **expected {
            problems.push(format!("{}: {frames:?}, the reference: {expected}", fixture.path));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(refused > 40, "only {refused} refused");
}

/// The values of a dataset, as they are listed: of one frame's chunk, or of the chunk in every frame.
fn stored(file: &File, path: &str) -> Option<String> {
    let read = |frame: u64, name: &str| {
        let entry = file.find_chunk(frame, name)?;
        let mut bytes = file.read_chunk(&entry).expect("a chunk").into_owned();
        if file.header().byte_order == ByteOrder::Big {
            let dtype = file.stored_array(&entry).expect("a chunk").dtype;
            dtype.swap_to(ByteOrder::Little, &mut bytes).expect("whole elements");
        }
        Some(bytes)
    };
    // A chunk that is called like a path wins.
    let frames: Option<Vec<Vec<u8>>> = (0..file.nframes()).map(|frame| read(frame, path)).collect();
    let one = || {
        let (frame, name) = path.strip_prefix("frames/")?.split_once('/')?;
        read(frame.parse().ok()?, name)
    };
    frames.map(|frames| frames.concat()).or_else(one).map(|bytes| sha256(&bytes))
}

#[test]
fn stored_chunks_match_the_independent_script() {
    let mut problems = Vec::new();
    let mut count = 0;
    for fixture in gsd_fixtures() {
        let (Some(frames), Some(datasets)) = (fixture.frames, &fixture.datasets) else { continue };
        let file = match open(&fixture, Strictness::Compatible) {
            Ok(file) => file,
            Err(error) => {
                problems.push(format!("{}: {error}", fixture.path));
                continue;
            }
        };
        assert_eq!(file.nframes(), frames, "{}", fixture.path);
        for dataset in datasets {
            // `None` where some frame falls back on another: the schema's business.
            let Some(values) = stored(&file, &dataset.path) else { continue };
            count += 1;
            if values != dataset.values {
                problems.push(format!("{}: other values of {}", fixture.path, dataset.path));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 900, "only {count} datasets");
}

/// Returns type, shape and digest of a name in all frames, as in the manifest; the error's text where it does not stack.
fn stacked(file: &File, name: &str) -> Result<(String, Vec<u64>, String), String> {
    let stack = StackedChunks::new(file, name, &Frames::all(file), Defaults::Schema)
        .map_err(|error| error.to_string())?;
    let len = stack.byte_len(&Rows::All).expect("a length");
    let mut bytes = vec![0; usize::try_from(len).expect("a small file")];
    stack.read_into(&Rows::All, &mut bytes, 2).expect("values");
    stack.dtype().swap_to(ByteOrder::Little, &mut bytes).expect("whole elements");
    let (frames, n, m) = stack.extent();
    let shape = if m == 1 { vec![frames, n] } else { vec![frames, n, m.into()] };
    Ok((stack.dtype().to_string(), shape, sha256(&bytes)))
}

#[test]
fn stackable_names_match_the_independent_script() {
    let mut problems = Vec::new();
    let mut counts = [0, 0];
    for fixture in gsd_fixtures() {
        let Some(datasets) = &fixture.datasets else { continue };
        let file = open(&fixture, Strictness::Compatible).expect("a sound fixture");
        for id in 0..file.names().len() {
            let id = u16::try_from(id).expect("an id");
            let name = file.names().get(id).expect("a name").into_owned();
            // A shape beside a chunk is the lens's business, and a name without a chunk nobody's.
            let unused = (0..file.nframes()).all(|frame| file.find_id(frame, id).is_none());
            if unused || fixture.path.contains("/shape_") {
                continue;
            }
            let found = stacked(&file, &name);
            counts[usize::from(found.is_ok())] += 1;
            let expected = datasets.iter().find(|dataset| dataset.path == name);
            let expected = expected.map(|it| (it.dtype.clone(), it.shape.clone(), it.values.clone()));
            if found.as_ref().ok() != expected.as_ref() {
                problems.push(format!("{}: {name} is {found:?}, wanted {expected:?}", fixture.path));
            }
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(counts[0] > 50 && counts[1] > 900, "{counts:?}");
}

/// Lists the datasets of the file layer, where each name stacks or is in single frames.
fn shown(file: &File) -> Vec<Visibility> {
    let mut all = Vec::new();
    for id in 0..file.names().len() {
        let id = u16::try_from(id).expect("an id");
        let name = file.names().get(id).expect("a name").into_owned();
        if let Ok((dtype, shape, values)) = stacked(file, &name) {
            all.push(Visibility { path: name, dtype, shape, values });
            continue;
        }
        for (frame, entry) in (0..file.nframes()).filter_map(|frame| Some((frame, file.find_id(frame, id)?)))
        {
            let array = file.stored_array(&entry).expect("a chunk");
            let path = format!("frames/{frame}/{name}");
            let values = stored(file, &path).expect("a chunk");
            all.push(Visibility { path, dtype: array.dtype.to_string(), shape: array.shape, values });
        }
    }
    all.sort_by(|a, b| a.path.cmp(&b.path));
    all
}

/// Frames that could be brought back and are not: their data are there, and their entries are torn.
const NOT_BROUGHT_BACK: &str = "bad/torn_";

#[test]
fn repairs_bring_back_the_frames_that_the_independent_script_expects() {
    let mut problems = Vec::new();
    let mut count = 0;
    for fixture in gsd_fixtures() {
        let (Some(frames), Some(expected)) = (fixture.repaired_frames, &fixture.repaired_datasets) else {
            continue;
        };
        if fixture.path.starts_with(NOT_BROUGHT_BACK) {
            continue;
        }
        count += 1;
        let mut out = Vec::new();
        let source = fixture.bytes();
        let done = repair_source(&source, &RepairOptions::default(), Some(&mut out), Progress::none());
        if let Err(error) = done {
            problems.push(format!("{}: {error}", fixture.path));
            continue;
        }
        let file =
            File::from_source(Box::new(out), &OpenOptions::default().with_strictness(Strictness::Strict));
        let file = file.expect("a repaired file opens");
        let found = shown(&file);
        if file.nframes() != frames || &found != expected {
            let paths: Vec<&str> = found.iter().map(|it| it.path.as_str()).collect();
            problems.push(format!(
                "{}: {} frames of {paths:?}, wanted {frames}",
                fixture.path,
                file.nframes()
            ));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count > 25, "only {count} repairs");
}

#[test]
fn listings_match_the_independent_script() {
    let mut problems = Vec::new();
    for fixture in gsd_fixtures() {
        let Some(expected) = &fixture.datasets else { continue };
        let listing = |source| corpus::shown(&*corpus::open("gsd", source)?).map(corpus::as_listed);
        let found = listing(Box::new(fixture.bytes()));
        if found.as_ref().ok() != Some(expected) {
            let found: Result<Vec<_>, _> =
                found.map(|all| all.into_iter().filter(|it| !expected.contains(it)).collect());
            problems.push(format!("{}: {found:?}", fixture.path));
        }
    }
    assert!(problems.is_empty(), "{}", problems.join("\n"));
}
