//! Converting between RawArray and `.npy`, which hold the same bytes where the order is the same.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Result, ensure};
use container_core::dtype::Order;
use container_core::write::Durability;
use holdall::Address;
use holdall::convert::ConvertOutcome;
use rawarray::{Encoding, RawArray};

use super::write::{copy_by_cp, to_new_file};
use super::{Job, convert_options, npy_file, options};
use crate::harness::{Claim, Contender, Group, Unit, timed};

pub(super) fn convert<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let ra = job.made("columns.ra", |path| {
        Ok(RawArray::new(job.shape().to_vec(), job.values())?.write_with(path, &options(Encoding::Plain))?)
    })?;
    let npy = job.made("columns.npy", |path| npy_file(path, &job.shape(), Order::F, &job.values()))?;
    let rows = job.made("rows.npy", |path| npy_file(path, &job.shape(), Order::C, &job.values()))?;
    let unit = Unit::Rate(job.bytes as u64);
    let synced = Group {
        title: "Convert, on the disk".into(),
        unit,
        contenders: vec![
            ours(job, "holdall, .ra to .npy", &ra, "npy", Durability::Synced),
            ours(job, "holdall, .npy to .ra", &npy, "ra", Durability::Synced),
            copy(job, "read, write, fsync", &ra, Durability::Synced),
            cp(job, &ra),
        ],
        claims: vec![
            Claim::Speed("holdall, .ra to .npy", "cp, fsync", Some(0.8)),
            Claim::Speed("holdall, .npy to .ra", "cp, fsync", Some(0.8)),
            Claim::Speed("holdall, .ra to .npy", "read, write, fsync", None),
        ],
    };
    let cached = Group {
        title: "Convert, without waiting for the disk".into(),
        unit,
        contenders: vec![
            ours(job, "holdall, .ra to .npy", &ra, "npy", Durability::Cached),
            copy(job, "read and write", &ra, Durability::Cached),
        ],
        claims: vec![Claim::Speed("holdall, .ra to .npy", "read and write", None)],
    };
    let transposed = Group {
        title: "Convert row-major .npy to column-major .ra, on the disk".into(),
        unit,
        contenders: vec![
            ours(job, "holdall", &rows, "ra", Durability::Synced),
            Contender::new("numpy.asfortranarray, tofile, fsync", move || {
                to_new_file(job, "raw", |path| job.numpy("to_fortran", &[&rows, path]))
            }),
        ],
        claims: vec![Claim::Speed("holdall", "numpy.asfortranarray, tofile, fsync", None)],
    };
    Ok(vec![synced, cached, transposed])
}

fn ours<'a>(
    job: &'a Job<'a>,
    name: &'static str,
    source: &Path,
    extension: &'static str,
    durability: Durability,
) -> Contender<'a> {
    let source = Address { file: source.to_owned(), dataset: None, selection: None };
    Contender::new(name, move || {
        to_new_file(job, extension, |path| {
            let convert = || Ok(holdall::convert(&source, path, &convert_options(durability))?);
            timed(convert, |outcome| {
                ensure!(
                    matches!(outcome, ConvertOutcome::Done(done) if done.losses.is_empty()),
                    "{outcome:?}"
                );
                Ok(None)
            })
        })
    })
}

fn copy<'a>(job: &'a Job<'a>, name: &'static str, source: &Path, durability: Durability) -> Contender<'a> {
    let source: PathBuf = source.to_owned();
    Contender::new(name, move || {
        to_new_file(job, "raw", |path| timed(|| copy_by_pieces(&source, path, durability), |()| Ok(None)))
    })
}

fn cp<'a>(job: &'a Job<'a>, source: &Path) -> Contender<'a> {
    let source: PathBuf = source.to_owned();
    Contender::new("cp, fsync", move || {
        to_new_file(job, "raw", |path| timed(|| copy_by_cp(&source, path), |()| Ok(None)))
    })
}

fn copy_by_pieces(source: &Path, target: &Path, durability: Durability) -> Result<()> {
    let (mut from, mut to) = (File::open(source)?, File::create_new(target)?);
    let mut piece = vec![0; 1 << 20];
    loop {
        let len = from.read(&mut piece)?;
        if len == 0 {
            break;
        }
        to.write_all(&piece[..len])?;
    }
    if durability == Durability::Synced {
        to.sync_all()?;
    }
    Ok(())
}
