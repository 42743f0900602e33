//! The library's output for every fixture, in readable text, equals the committed text.
//!
//! `HOLDALL_GOLDENS=write` (as `cargo xtask goldens` sets it) writes the text anew; a change is then reviewed as a diff. What
//! the values have to be is the manifest's business: this holds the words still.

use std::fmt::Write as _;
use std::path::PathBuf;

use container_core::container::{CheckDepth, Container, Dataset, ReadOptions, Visibility, all_datasets};
use container_core::region::Region;
use container_core::{Limits, Progress};
use holdall::json;

use crate::corpus::open_fixture;
use crate::manifest::{Fixture, all_fixtures, formats, testdata};

/// Elements shown of each dataset.
const SHOWN: u64 = 8;

/// Datasets, and entries of the physical map, shown of each file.
const LINES: usize = 140;

fn golden(format: &str, kind: &str) -> PathBuf {
    testdata().join(format).join(format!("{kind}.golden.txt"))
}

fn describe(fixture: &Fixture) -> String {
    let mut text = format!("== {}\n   {}\n", fixture.path, fixture.about);
    match open_fixture(fixture) {
        Err(error) => _ = writeln!(text, "error: {error}"),
        Ok(file) => describe_file(&*file, &mut text),
    }
    text
}

fn describe_file(file: &dyn Container, text: &mut String) {
    let about = file.about();
    let details = about.details.iter().map(|(name, value)| format!("{name} {}", json::value_json(value)));
    let complete = if about.complete { "complete" } else { "incomplete" };
    _ = writeln!(text, "info: {} bytes, {complete}; {}", about.size, details.collect::<Vec<_>>().join(", "));
    // Blocks of ASDF files that arrays are made of have lines of their own.
    let is_block = |it: &Dataset| it.visibility == Visibility::Recursive && it.path.contains("blocks/");
    for (index, dataset) in all_datasets(file).filter(|(_, it)| !is_block(it)).take(LINES) {
        let shape = &dataset.shape;
        _ = writeln!(
            text,
            "dataset: {} {} {shape:?} {} {} {} -> {}",
            dataset.path,
            dataset.dtype,
            dataset.order.letter(),
            dataset.codec,
            dataset.stored,
            dataset.logical
        );
        _ = writeln!(text, "values: {}", first_values(file, index));
    }
    more(file.dataset_count(), "datasets", text);
    let layout = file.byte_map();
    for segment in layout.iter().take(LINES) {
        let part = part(segment.part.as_deref());
        _ = writeln!(text, "layout: {part}{}..{} {}", segment.range.start, segment.range.end, segment.role);
    }
    more(layout.len(), "ranges", text);
    match file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none()) {
        Err(error) => _ = writeln!(text, "check: error: {error}"),
        Ok(report) => {
            _ = writeln!(text, "check: {}", report.verdict().name());
            for finding in report.findings {
                let range = finding.range.unwrap_or(0..0);
                let severity = finding.severity.name();
                let part = part(finding.part.as_deref());
                _ = writeln!(
                    text,
                    "  {severity} {} {part}{}..{} {}",
                    finding.code, range.start, range.end, finding.message
                );
            }
        }
    }
}

/// The file of a folder, before the bytes in it.
fn part(name: Option<&str>) -> String {
    name.map(|name| format!("{name} ")).unwrap_or_default()
}

fn more(count: usize, what: &str, text: &mut String) {
    if count > LINES {
        _ = writeln!(text, "and {} more {what}", count - LINES);
    }
}

fn first_values(file: &dyn Container, index: usize) -> String {
    let dataset = file.require(index).expect("a dataset");
    let whole = Region::whole(&dataset.shape);
    let Some(piece) = whole.chunks(dataset.order, SHOWN).next() else { return "none".into() };
    match file.read(index, &piece, &ReadOptions::default()) {
        Err(error) => format!("error: {error}"),
        Ok(array) => {
            let bytes = array.bytes(dataset.order, &Limits::default()).expect("a few values");
            let mut items = Vec::new();
            for item in bytes.chunks(dataset.dtype.itemsize().max(1)) {
                let mut text = String::new();
                holdall::repr::write_item(&dataset.dtype, item, &mut text);
                items.push(text);
            }
            items.join(" ")
        }
    }
}

#[test]
#[cfg_attr(not(target_pointer_width = "64"), ignore = "what a machine cannot address is told differently")]
fn goldens() {
    let write = std::env::var("HOLDALL_GOLDENS").is_ok_and(|mode| mode == "write");
    let all = all_fixtures();
    for format in formats() {
        for kind in ["ok", "odd", "bad"] {
            let of_kind = |fixture: &&Fixture| {
                fixture.format == format && fixture.path.starts_with(&format!("{kind}/"))
            };
            let text: String = all.iter().filter(of_kind).map(describe).collect();
            let path = golden(&format, kind);
            if write {
                std::fs::write(&path, text).expect("a golden file is written");
                continue;
            }
            let committed = std::fs::read_to_string(&path).unwrap_or_default();
            let mut lines = text.lines().zip(committed.lines()).enumerate();
            if let Some((line, (now, then))) = lines.find(|(_, (now, then))| now != then) {
                let name = path.display();
                panic!(
                    "{name}:{}:\n  was {then}\n  now {now}\n(cargo xtask goldens writes it anew)",
                    line + 1
                );
            }
            assert_eq!(text.lines().count(), committed.lines().count(), "{}", path.display());
        }
    }
}
