//! Errors of the source, such as those of a bad sector: they are errors, and never a finding, a loss or another value.

use asdf::FORMAT;
use asdf::container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use asdf::container_core::format::Input;
use asdf::container_core::region::Region;
use asdf::container_core::report::{RepairReport, Report};
use asdf::container_core::source::Source;
use asdf::container_core::{ErrorKind, Progress, Result};

use crate::manifest::fixtures;

/// Bytes of which one cannot be read.
#[derive(Clone)]
struct BadSector {
    bytes: Vec<u8>,
    at: Option<u64>,
}

impl Source for BadSector {
    fn len(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn read_into(&self, at: u64, dst: &mut [u8]) -> Result<()> {
        let range = at..at + dst.len() as u64;
        if self.at.is_some_and(|bad| range.contains(&bad)) {
            return Err(std::io::Error::other("bad sector").into());
        }
        self.bytes.read_into(at, dst)
    }
}

fn check(source: &BadSector) -> Result<Report> {
    let file = (FORMAT.open)(Input::bytes(Box::new(source.clone())), &OpenOptions::default())?;
    file.check(CheckDepth::Full, &ReadOptions::default(), Progress::none())
}

fn repair(source: &BadSector) -> Result<(Vec<u8>, RepairReport)> {
    let (input, mut out) = (Input::bytes(Box::new(source.clone())), Vec::new());
    let report = FORMAT.repair.unwrap()(input, &OpenOptions::default(), Some(&mut out), Progress::none())?;
    Ok((out, report))
}

fn values(source: &BadSector) -> Result<Vec<Vec<u8>>> {
    let file = (FORMAT.open)(Input::bytes(Box::new(source.clone())), &OpenOptions::default())?;
    (0..file.listed_count())
        .map(|index| {
            let dataset = file.require(index)?;
            let array = file.read(index, &Region::whole(&dataset.shape), &ReadOptions::default())?;
            Ok(array.bytes(dataset.order, &OpenOptions::default().limits)?.into_owned())
        })
        .collect()
}

/// Compares with the result without the bad byte: it is the same where that byte is not needed, and otherwise the error of the source.
fn expect_same<T: PartialEq>(place: &str, expected: &Result<T>, found: Result<T>) {
    match (expected, found) {
        (Ok(expected), Ok(found)) => assert!(*expected == found, "{place}: another result"),
        (_, Err(error)) if matches!(error.kind(), ErrorKind::Io(_)) => {}
        (Err(expected), Err(found)) => assert_eq!(expected.to_string(), found.to_string(), "{place}"),
        (Ok(_), Err(error)) => panic!("{place}: {error}"),
        (Err(error), Ok(_)) => panic!("{place}: nothing instead of {error}"),
    }
}

#[test]
fn errors_of_the_source_are_errors_and_change_no_result() {
    let mut count = 0_u64;
    for fixture in fixtures().filter(|fixture| fixture.files.is_none()) {
        let whole = BadSector { bytes: std::fs::read(fixture.main_file()).unwrap(), at: None };
        let (expected, report, repaired) = (values(&whole), check(&whole), repair(&whole));
        for part in 1..=3 {
            count += 1;
            // Other places in each file.
            let at = (whole.len() * part / 4 + count * 7).min(whole.len().saturating_sub(1));
            let bad = BadSector { at: Some(at), ..whole.clone() };
            let place = |what: &str| format!("{what} of {}, byte {at}", fixture.path);
            expect_same(&place("values"), &expected, values(&bad));
            expect_same(&place("check"), &report, check(&bad));
            expect_same(&place("repair"), &repaired, repair(&bad));
        }
    }
    assert!(count > 1500, "{count}");
}
