//! Verifying: every byte is read, and decoded where it is encoded.

use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Result, ensure};
use container_core::Progress;
use container_core::container::{CheckDepth, OpenOptions, ReadOptions};
use container_core::source::PIECE_LEN;
use holdall::verify::VerifyStatus;
use rawarray::{Encoding, RawArray};

use super::{Job, options};
use crate::harness::{Claim, Contender, Group, Unit, timed};

pub(super) fn verify<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let ra = job.plain_ra()?;
    let copy = ra.clone();
    let contenders = vec![
        Contender::new("holdall", move || timed(|| sound(&ra), |()| Ok(None))),
        Contender::new("read in pieces", move || timed(|| read_through(&copy), |()| Ok(None))),
    ];
    let claims = vec![Claim::Speed("holdall", "read in pieces", None)];
    let unit = Unit::Rate(job.bytes as u64);
    let plain = Group { title: "Verify a plain file".into(), unit, contenders, claims };
    Ok(vec![plain, encoded(job)?])
}

/// Integers of up to 20 bits, which both encodings make smaller.
fn encoded<'a>(job: &'a Job<'a>) -> Result<Group<'a>> {
    let numbers: Vec<u32> = job.values()[..job.bytes / 32].iter().map(|number| *number as u32).collect();
    let bytes = size_of_val(numbers.as_slice()) as u64;
    let array = RawArray::from(numbers);
    let mut contenders = Vec::new();
    for (name, encoding) in [("LZ4", Encoding::Lz4), ("LEB128", Encoding::Leb128)] {
        let path = job.made(&format!("{}.ra", encoding.name()), |path| {
            Ok(array.write_with(path, &options(encoding))?)
        })?;
        contenders.push(Contender::new(name, move || timed(|| sound(&path), |()| Ok(None))));
    }
    let title = format!("Verify an encoded file of {} MiB, decoded", bytes >> 20);
    Ok(Group { title, unit: Unit::Rate(bytes), contenders, claims: Vec::new() })
}

fn sound(path: &Path) -> Result<()> {
    let (open, read) = (OpenOptions::default(), ReadOptions::default());
    let verified = holdall::verify_with(path, CheckDepth::Full, &open, &read, Progress::none());
    ensure!(verified.verdict == VerifyStatus::Sound && verified.blocks.checked == 1, "{verified:?}");
    Ok(())
}

fn read_through(path: &Path) -> Result<()> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE_LEN];
    while file.read(&mut piece)? > 0 {}
    Ok(())
}
