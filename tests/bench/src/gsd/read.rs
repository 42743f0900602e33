//! Reading the positions of frames, in sequence and at random, where they are or into memory of one's own.

use std::path::Path;

use anyhow::{Context as _, Result};
use hoomd_gsd::file_layer::{GsdFile, Mode};

use super::{C, CRATE, Job, OURS, POSITION, PYTHON, Visit, sum, text, total, words};
use crate::harness::{Claim, Contender, Group, Unit, timed};

/// Frames of the file, the particles of each, and how many are read in a round.
const SIZES: &[(u64, usize, u64)] =
    &[(50_000, 10, 50_000), (10_000, 1000, 10_000), (200, 100_000, 400), (10, 2_000_000, 20)];

pub(super) fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for &(frames, particles, count) in SIZES {
        let path = job.trajectory(job.frames(frames), particles)?;
        for visit in Visit::BOTH {
            groups.push(summed(job, &path, particles, count, visit)?);
            groups.push(copied(job, &path, particles, count, visit)?);
        }
    }
    Ok(groups)
}

/// The sum of all values, which has to read them, but not to copy them.
fn summed<'a>(
    job: &'a Job<'a>,
    path: &Path,
    particles: usize,
    count: u64,
    visit: Visit,
) -> Result<Group<'a>> {
    let file = gsd::File::open(path)?;
    let ours = move || {
        let work = || {
            let mut all = 0.0;
            for at in 0..count {
                let frame = visit.index(at, file.nframes());
                let entry = file.find_chunk(frame, POSITION).context("no positions")?;
                all += f64::from(sum(&file.read_elements::<f32>(&entry)?));
            }
            Ok(all)
        };
        timed(work, total)
    };
    let theirs = GsdFile::open(path, Mode::Read)?;
    let theirs = move || {
        let work = || {
            let mut all = 0.0;
            for at in 0..count {
                let frame = visit.index(at, theirs.n_frames());
                let rows = theirs.iter_arrays::<f32, 3>(frame, POSITION)?;
                all += rows
                    .fold([0.0; 3], |sum, row| [0, 1, 2].map(|at| sum[at] + f64::from(row[at])))
                    .iter()
                    .sum::<f64>();
            }
            Ok(all)
        };
        timed(work, total)
    };
    let mut group = Group {
        title: format!("Sum up {count} frames of {particles} particles, {}", visit.name()),
        unit: Unit::Items(count, "frame"),
        contenders: vec![Contender::new(OURS, ours), Contender::new(CRATE, theirs)],
        claims: vec![Claim::Speed(OURS, C, Some(1.7)), Claim::Speed(OURS, CRATE, None)],
    };
    peers(job, &mut group, path, count, visit, "sum")?;
    Ok(group)
}

/// A copy of the values: into the same memory again and again where the library lets one choose.
fn copied<'a>(
    job: &'a Job<'a>,
    path: &Path,
    particles: usize,
    count: u64,
    visit: Visit,
) -> Result<Group<'a>> {
    let file = gsd::File::open(path)?;
    let mut values = vec![1.0_f32; 3 * particles];
    let ours = move || {
        let values = &mut values;
        let work = || {
            let mut all = 0.0;
            for at in 0..count {
                let frame = visit.index(at, file.nframes());
                let entry = file.find_chunk(frame, POSITION).context("no positions")?;
                file.read_chunk_into(&entry, values)?;
                all += f64::from(values[frame as usize % values.len()]);
            }
            Ok(all)
        };
        timed(work, total)
    };
    let theirs = GsdFile::open(path, Mode::Read)?;
    let theirs = move || {
        let work = || {
            let mut all = 0.0;
            for at in 0..count {
                let frame = visit.index(at, theirs.n_frames());
                let rows: Vec<[f32; 3]> = theirs.iter_arrays(frame, POSITION)?.collect();
                let values = rows.as_flattened();
                all += f64::from(values[frame as usize % values.len()]);
            }
            Ok(all)
        };
        timed(work, total)
    };
    let mut group = Group {
        title: format!("Copy {count} frames of {particles} particles, {}", visit.name()),
        unit: Unit::Items(count, "frame"),
        contenders: vec![Contender::new(OURS, ours), Contender::new(CRATE, theirs)],
        claims: vec![Claim::Speed(OURS, C, Some(1.0)), Claim::Speed(OURS, CRATE, None)],
    };
    peers(job, &mut group, path, count, visit, "copy")?;
    Ok(group)
}

fn peers<'a>(
    job: &'a Job<'a>,
    group: &mut Group<'a>,
    path: &Path,
    count: u64,
    visit: Visit,
    how: &'static str,
) -> Result<()> {
    let words = words(&["read", text(path)?, &count.to_string(), visit.name(), how]);
    job.with_c(group, C, words.clone());
    group.contenders.push(Contender::new(PYTHON, move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        job.python(&words)
    }));
    Ok(())
}
