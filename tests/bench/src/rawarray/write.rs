//! Writing an array to a new file, left to the kernel or waited for.

use std::fs::File;
use std::io::{BufWriter, Write as _};
use std::path::Path;
use std::process::Command;
use std::rc::Rc;

use anyhow::{Result, ensure};
use container_core::write::Durability;
use rawarray::{Encoding, RawArray};
use reference_rawarray::RawArray as Reference;

use super::{Job, options};
use crate::harness::{Claim, Contender, Group, Run, Unit, timed};
use crate::scratch::check_end;

pub(super) fn write<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    // What a library has read is what it writes: memory of huge pages, which are faster to read from.
    let array = Rc::new(RawArray::read(job.plain_ra()?)?);
    job.numpy("hold", &[&job.plain_npy()?])?;
    Ok(vec![cached(job, &array)?, synced(job, &array)?, frames(job, &array)])
}

fn cached<'a>(job: &'a Job<'a>, array: &Rc<RawArray<f64>>) -> Result<Group<'a>> {
    let copy: Vec<f64> = RawArray::read(job.plain_ra()?)?.into();
    let reference: Reference<f64> = copy.into();
    let bytes = Rc::clone(array);
    let contenders = vec![
        ours(job, array, Durability::Cached),
        Contender::new("numpy.save", move || to_new_file(job, "npy", |path| job.numpy("save", &[path]))),
        Contender::new("rawarray 0.1.4", move || {
            to_new_file(job, "ra", |path| timed(|| Ok(reference.write(path)?), |()| Ok(None)))
        }),
        Contender::new("write_all", move || {
            to_new_file(job, "raw", |path| timed(|| write_all(path, &bytes).map(drop), |()| Ok(None)))
        }),
    ];
    let claims = vec![
        Claim::Speed("holdall", "numpy.save", Some(1.0)),
        Claim::Speed("holdall", "rawarray 0.1.4", None),
        Claim::Speed("holdall", "write_all", None),
    ];
    let title = "Write an array to a new file, without waiting for the disk".into();
    Ok(Group { title, unit: Unit::Rate(job.bytes as u64), contenders, claims })
}

fn synced<'a>(job: &'a Job<'a>, array: &Rc<RawArray<f64>>) -> Result<Group<'a>> {
    let bytes = Rc::clone(array);
    let source = job.plain_ra()?;
    let contenders = vec![
        ours(job, array, Durability::Synced),
        Contender::new("numpy.save, fsync", move || {
            to_new_file(job, "npy", |path| job.numpy("save_synced", &[path]))
        }),
        Contender::new("write_all, fsync", move || {
            to_new_file(job, "raw", |path| timed(|| Ok(write_all(path, &bytes)?.sync_all()?), |()| Ok(None)))
        }),
        Contender::new("cp, fsync", move || {
            to_new_file(job, "ra", |path| timed(|| copy_by_cp(&source, path), |()| Ok(None)))
        }),
    ];
    let claims =
        vec![Claim::Speed("holdall", "numpy.save, fsync", None), Claim::Speed("holdall", "cp, fsync", None)];
    let title = "Write an array to a new file, on the disk".into();
    Ok(Group { title, unit: Unit::Rate(job.bytes as u64), contenders, claims })
}

/// An array that grows by a small frame at a time.
fn frames<'a>(job: &'a Job<'a>, array: &Rc<RawArray<f64>>) -> Group<'a> {
    const FRAME: usize = 128;
    let (ours, plain) = (Rc::clone(array), Rc::clone(array));
    let contenders = vec![
        Contender::new("holdall Writer", move || {
            let write = |path: &Path| {
                let mut writer = rawarray::Writer::<f64>::create(path, &[FRAME as u64])?;
                for frame in ours.as_slice().chunks_exact(FRAME) {
                    writer.push(frame)?;
                }
                Ok(writer.finish_with(&[], Durability::Cached).map(drop)?)
            };
            to_new_file(job, "ra", |path| timed(|| write(path), |()| Ok(None)))
        }),
        Contender::new("BufWriter of 64 KiB", move || {
            let write = |path: &Path| {
                let mut writer = BufWriter::with_capacity(64 << 10, File::create_new(path)?);
                for frame in plain.as_slice().chunks_exact(FRAME) {
                    writer.write_all(bytemuck::cast_slice(frame))?;
                }
                Ok(writer.flush()?)
            };
            to_new_file(job, "raw", |path| timed(|| write(path), |()| Ok(None)))
        }),
    ];
    let claims = vec![Claim::Speed("holdall Writer", "BufWriter of 64 KiB", None)];
    let title = "Write frames of 1 KiB, one by one, without waiting for the disk".into();
    Group { title, unit: Unit::Rate(job.bytes as u64), contenders, claims }
}

fn ours<'a>(job: &'a Job<'a>, array: &Rc<RawArray<f64>>, durability: Durability) -> Contender<'a> {
    let array = Rc::clone(array);
    let mut options = options(Encoding::Plain);
    options.durability = durability;
    Contender::new("holdall", move || {
        to_new_file(job, "ra", |path| timed(|| Ok(array.write_with(path, &options)?), |()| Ok(None)))
    })
}

/// Has `write` make a file of a new name on a quiet disk, looks at what is in it, and removes it.
pub(super) fn to_new_file(
    job: &Job<'_>,
    extension: &str,
    write: impl FnOnce(&Path) -> Result<Run>,
) -> Result<Run> {
    to_new_file_of(job, extension, job.bytes as u64, write)
}

/// As [`to_new_file`], of an array of `len` bytes.
pub(super) fn to_new_file_of(
    job: &Job<'_>,
    extension: &str,
    len: u64,
    write: impl FnOnce(&Path) -> Result<Run>,
) -> Result<Run> {
    let path = job.scratch.fresh(extension);
    job.scratch.settle()?;
    let run = write(&path)?;
    let check = check_end(&path, len)?;
    std::fs::remove_file(&path)?;
    Ok(Run { check: Some(check), ..run })
}

fn write_all(path: &Path, array: &RawArray<f64>) -> Result<File> {
    let mut file = File::create_new(path)?;
    file.write_all(bytemuck::cast_slice(array.as_slice()))?;
    Ok(file)
}

/// `cp`, then fsync of the copy.
pub(super) fn copy_by_cp(source: &Path, target: &Path) -> Result<()> {
    let status = Command::new("cp").arg(source).arg(target).status()?;
    ensure!(status.success(), "cp: {status}");
    Ok(File::options().write(true).open(target)?.sync_all()?)
}
