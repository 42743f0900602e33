//! The fixtures, as Python asdf and scripts that are independent of this crate describe them: findings, datasets, layout, blocks, repairs.

use std::borrow::Cow;
use std::collections::BTreeSet;

use crate::manifest::{Fixture, Listed, StoredBlock, fixtures, sha256};
use asdf::container_core::container::{
    CheckDepth, Container, Dataset, OpenOptions, ReadOptions, visible_datasets,
};
use asdf::container_core::dtype::{ByteOrder, Order};
use asdf::container_core::format::Input;
use asdf::container_core::region::Region;
use asdf::container_core::report::{RepairReport, Severity};
use asdf::container_core::source::{Access, open_path};
use asdf::container_core::{Limits, Progress, Result};
use asdf::{ChecksumStatus, FORMAT, IndexState, Layout, compression};

fn open(fixture: &Fixture) -> Result<Box<dyn Container>> {
    let path = fixture.main_file();
    let source = open_path(&path, Access::Auto, &Limits::default())?;
    (FORMAT.open)(Input { source: Some(source), path: Some(path) }, &OpenOptions::default())
}

fn open_bytes(bytes: Vec<u8>) -> Result<Box<dyn Container>> {
    (FORMAT.open)(Input::bytes(Box::new(bytes)), &OpenOptions::default())
}

/// The datasets of a plain listing, by path; values that cannot be read are the error's text.
fn listed(file: &dyn Container) -> Vec<Listed> {
    let values = |index: usize| -> Result<String> {
        let dataset = file.require(index)?;
        let array = file.read(index, &Region::whole(&dataset.shape), &ReadOptions::default())?;
        let mut bytes = array.bytes(Order::C, &Limits::default())?.into_owned();
        dataset.dtype.swap_to(ByteOrder::Little, &mut bytes)?;
        Ok(sha256(&bytes))
    };
    let one = |(index, dataset): (usize, Cow<'_, Dataset>)| Listed {
        path: dataset.path.clone(),
        dtype: dataset.dtype.to_string(),
        shape: dataset.shape.clone(),
        values: values(index).unwrap_or_else(|error| error.to_string()),
    };
    let mut all: Vec<Listed> = visible_datasets(file).map(one).collect();
    all.sort_by(|one, next| one.path.cmp(&next.path));
    all
}

/// The first dataset that is not as expected.
fn difference(found: &[Listed], expected: &[Listed]) -> Option<String> {
    let missing = expected.iter().find(|it| !found.contains(it));
    match missing {
        Some(missing) => {
            let there = found.iter().find(|it| it.path == missing.path);
            Some(format!("expected {missing:?}, found {there:?}"))
        }
        None if found.len() == expected.len() => None,
        None => Some(format!("{} datasets (expected {})", found.len(), expected.len())),
    }
}

/// Runs `check` for each fixture and panics with the problems of all.
fn for_all(fixtures: impl Iterator<Item = Fixture>, least: usize, check: fn(&Fixture) -> Result<(), String>) {
    let mut count = 0;
    let problems: Vec<String> = fixtures
        .inspect(|_| count += 1)
        .filter_map(|fixture| check(&fixture).err().map(|problem| format!("{}: {problem}", fixture.path)))
        .collect();
    assert!(problems.is_empty(), "{}", problems.join("\n"));
    assert!(count >= least, "{count}");
}

#[test]
fn fixtures_have_the_findings_of_the_manifest() {
    for_all(fixtures(), 500, |fixture| {
        let Ok(file) = open(fixture) else {
            return if fixture.verdict == "unreadable" { Ok(()) } else { Err("unreadable".to_owned()) };
        };
        let report = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none());
        let report = report.map_err(|error| error.to_string())?;
        let mut codes: Vec<&str> = report.findings.iter().map(|finding| finding.code).collect();
        let mut expected: Vec<&str> = fixture.codes.iter().map(String::as_str).collect();
        codes.sort_unstable();
        expected.sort_unstable();
        let is_right = codes == expected && report.verdict().name() == fixture.verdict;
        if is_right { Ok(()) } else { Err(format!("{} {report:?}", report.verdict().name())) }
    });
}

/// Also of external files, and of blocks without digests.
#[test]
fn checksums_are_those_of_the_byte_map() {
    for_all(fixtures(), 500, |fixture| {
        let Ok(file) = open(fixture) else { return Ok(()) };
        let of_map: BTreeSet<String> =
            file.byte_map().into_iter().filter_map(|segment| segment.checksum).collect();
        let own = file.checksums();
        if own == of_map { Ok(()) } else { Err(format!("{own:?} and {of_map:?}")) }
    });
}

#[test]
fn fixtures_have_the_datasets_of_the_manifest() {
    for_all(fixtures().filter(|it| it.datasets.is_some()), 350, |fixture| {
        let file = open(fixture).map_err(|error| error.to_string())?;
        let Some(expected) = fixture.listed() else { return Ok(()) };
        difference(&listed(&*file), &expected).map_or(Ok(()), Err)
    });
}

fn fields(block: &asdf::StoredBlock) -> StoredBlock {
    StoredBlock {
        start: block.at,
        header_size: block.header.header_size,
        flags: block.header.flags,
        label: block.label().unwrap_or_default().to_owned(),
        allocated: block.header.allocated_size,
        used: block.header.used_size,
        size: block.header.data_size,
        checksum: None,
        decoded: None,
    }
}

#[test]
fn layouts_of_sound_fixtures_are_those_of_the_manifest() {
    for_all(fixtures().filter(|it| it.verdict == "sound"), 300, |fixture| {
        let bytes = std::fs::read(fixture.main_file()).unwrap();
        let layout = Layout::parse(&bytes, &Limits::default()).map_err(|error| error.to_string())?;
        // The manifest has the word as it is written; the library only a version.
        let standard = fixture.standard.as_ref().filter(|word| word.as_str() != "one");
        let blocks: Vec<_> = layout.blocks.iter().map(fields).collect();
        let expected = fixture.stored_blocks.iter().flatten();
        let expected: Vec<_> =
            expected.map(|it| StoredBlock { checksum: None, decoded: None, ..it.clone() }).collect();
        let range = |range: &std::ops::Range<u64>| [range.start, range.end];
        let is_right = Some(layout.header.version.to_string()) == fixture.version
            && layout.header.standard.map(|it| it.to_string()).as_ref() == standard
            && layout.tree.as_ref().map(range) == fixture.tree
            && layout.index.as_ref().map(range) == fixture.index
            && blocks == expected
            && (!fixture.codes.is_empty()
                || (layout.faults.is_empty()
                    && (layout.index_state == IndexState::Valid) == fixture.index.is_some()));
        if is_right { Ok(()) } else { Err(format!("{layout:?}")) }
    });
}

#[test]
fn blocks_of_sound_fixtures_decode_to_the_bytes_of_the_manifest() {
    let with_blocks = fixtures().filter(|it| it.verdict == "sound" && it.stored_blocks.is_some());
    for_all(with_blocks, 240, |fixture| {
        let (source, limits) = (std::fs::read(fixture.main_file()).unwrap(), Limits::default());
        let layout = Layout::parse(&source, &limits).map_err(|error| error.to_string())?;
        let codecs = compression::codecs();
        for (block, expected) in layout.blocks.iter().zip(fixture.stored_blocks.iter().flatten()) {
            let Some(sha) = &expected.decoded else { continue };
            let read = |range: std::ops::Range<u64>, threads: usize| {
                let mut data = vec![0; usize::try_from(range.end - range.start).unwrap()];
                compression::read_range(&source, block, &codecs, &limits, threads, range, &mut data)
                    .map(|()| data)
                    .map_err(|error| format!("block {}: {error}", block.index))
            };
            let size = block.data_size();
            let data = read(0..size, 2)?;
            if &sha256(&data) != sha {
                return Err(format!("block {} has other bytes", block.index));
            }
            // Any part is that part of the whole.
            for range in [0..size.min(1), size / 3..size / 2, size / 2..size, size..size] {
                let part = usize::try_from(range.start).unwrap()..usize::try_from(range.end).unwrap();
                if read(range.clone(), 1)? != data[part] {
                    return Err(format!("block {}, bytes {range:?}", block.index));
                }
            }
            let state = asdf::checksum_status(&source, block, &codecs, &limits, 2);
            let state = state.map_err(|error| error.to_string())?;
            let name = if matches!(state, ChecksumStatus::Bad { .. }) { "wrong" } else { state.name() };
            if Some(name) != expected.checksum.as_deref() {
                return Err(format!("block {}: checksum {name}", block.index));
            }
        }
        Ok(())
    });
}

fn repair(bytes: Vec<u8>) -> Result<(Vec<u8>, RepairReport)> {
    let (input, mut out) = (Input::bytes(Box::new(bytes)), Vec::new());
    let report = FORMAT.repair.unwrap()(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((out, report))
}

/// Faults of a tree that only its author can correct, and blocks without a codec for them.
const REMAINING: [&str; 6] =
    ["array", "tree", "checksum", "undecodable_block", "compression", "streamed_compressed"];

#[test]
fn repaired_fixtures_are_sound_and_have_the_datasets_of_the_manifest() {
    for_all(fixtures().filter(|it| it.files.is_none()), 500, |fixture| {
        let (bytes, report) = match repair(std::fs::read(fixture.main_file()).unwrap()) {
            Ok(done) => done,
            Err(error) if fixture.verdict == "sound" || fixture.repaired_datasets.is_some() => {
                return Err(error.to_string());
            }
            Err(_) => return Ok(()),
        };
        let file = open_bytes(bytes.clone()).map_err(|error| error.to_string())?;
        let check = file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none());
        let check = check.map_err(|error| error.to_string())?;
        let mut errors = check.findings.iter().filter(|it| it.severity == Severity::Error);
        let was_there = |code: &str| fixture.codes.iter().any(|before| before == code);
        if !errors.all(|it| REMAINING.contains(&it.code) && was_there(it.code)) {
            return Err(format!("{check:?}"));
        }
        if let Some(expected) = &fixture.repaired_datasets {
            return difference(&listed(&*file), expected).map_or(Ok(()), Err);
        }
        if fixture.verdict != "sound" {
            return Ok(());
        }
        if fixture.codes.is_empty() && !report.lost.is_empty() {
            return Err(format!("{report:?}"));
        }
        let Some(expected) = fixture.listed() else { return Ok(()) };
        if let Some(problem) = difference(&listed(&*file), &expected) {
            return Err(problem);
        }
        // A second repair changes nothing.
        let (again, _) = repair(bytes.clone()).map_err(|error| error.to_string())?;
        if again == bytes { Ok(()) } else { Err("another repair changes it".to_owned()) }
    });
}
