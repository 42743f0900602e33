//! Writing trajectories: step and positions in each frame, everything on the disk at the end.

use std::path::Path;
use std::rc::Rc;

use anyhow::{Context as _, Result, ensure};
use gsd::{ChunkAlignment, Commit, CommitScheme, Writer, WriterOptions};
use hoomd_gsd::file_layer::GsdFile;

use super::{C, CRATE, Job, OURS, POSITION, PYTHON, options, pool, sum, text, words};
use crate::harness::{Claim, Contender, Group, Run, Unit, timed};

/// Frames, and the particles of each.
const SIZES: &[(u64, usize)] = &[(50_000, 10), (10_000, 1000), (200, 100_000)];

const REFERENCE: &str = "holdall, gsd's scheme";
const UNSYNCED: &str = "holdall, not synced";

#[derive(Clone, Copy, PartialEq, Eq)]
enum When {
    AtTheEnd,
    EveryFrame,
}

impl When {
    const fn word(self) -> &'static str {
        match self {
            Self::AtTheEnd => "0",
            Self::EveryFrame => "1",
        }
    }

    const fn commit(self) -> Commit {
        match self {
            Self::AtTheEnd => Commit::Manual,
            Self::EveryFrame => Commit::EveryFrame,
        }
    }
}

pub(super) fn write<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for &(full, particles) in SIZES {
        let frames = job.frames(full);
        let title = format!("Write {frames} frames of {particles} particles, committed at the end");
        let mut group = group(job, title, frames, particles, When::AtTheEnd);
        let unsynced = options(Commit::Manual).with_durability(gsd::Durability::Cached);
        group.contenders.push(ours(job, UNSYNCED, frames, particles, unsynced));
        group.claims = vec![
            Claim::Speed(OURS, C, Some(1.0)),
            Claim::Speed(OURS, CRATE, Some(1.0)),
            Claim::Speed(OURS, PYTHON, (particles == 10).then_some(10.0)),
            Claim::Speed(REFERENCE, C, None),
        ];
        with_c(job, &mut group, frames, particles, When::AtTheEnd);
        groups.push(group);
    }
    Ok(groups)
}

pub(super) fn flush<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (frames, particles) = (job.frames(200), 1000);
    let title = format!("Write {frames} frames of {particles} particles, each committed");
    let mut group = group(job, title, frames, particles, When::EveryFrame);
    group.claims = vec![
        Claim::Speed(OURS, C, Some(1.0)),
        Claim::Speed(OURS, CRATE, None),
        Claim::Speed(OURS, PYTHON, None),
    ];
    with_c(job, &mut group, frames, particles, When::EveryFrame);
    Ok(vec![group])
}

fn group<'a>(job: &'a Job<'a>, title: String, frames: u64, particles: usize, when: When) -> Group<'a> {
    let atomic = options(when.commit());
    let mut reference = atomic.clone().with_scheme(CommitScheme::Reference);
    reference.alignment = ChunkAlignment::Packed;
    let counts = [frames.to_string(), particles.to_string()];
    let python = Contender::new(PYTHON, move || {
        to_new_file(job, frames, particles, |path| {
            job.python(&["write", text(path)?, &counts[0], &counts[1], when.word()])
        })
    });
    let values = Rc::new(pool(particles));
    let theirs = Contender::new(CRATE, move || {
        to_new_file(job, frames, particles, |path| {
            timed(|| by_crate(path, frames, particles, &values, when), |()| Ok(None))
        })
    });
    let contenders = vec![
        ours(job, OURS, frames, particles, atomic),
        ours(job, REFERENCE, frames, particles, reference),
        theirs,
        python,
    ];
    Group { title, unit: Unit::Items(frames, "frame"), contenders, claims: Vec::new() }
}

fn with_c<'a>(job: &'a Job<'a>, group: &mut Group<'a>, frames: u64, particles: usize, when: When) {
    if let Some(c) = &job.c {
        let counts = words(&[&frames.to_string(), &particles.to_string()]);
        group.contenders.insert(
            2,
            Contender::new(C, move || {
                to_new_file(job, frames, particles, |path| {
                    let words = [text(path)?, &counts[0], &counts[1], when.word()];
                    Ok(c.borrow_mut().measure("write", &words)?.into())
                })
            }),
        );
    } else {
        group.claims.retain(|claim| !matches!(claim, Claim::Speed(_, to, _) if *to == C));
    }
}

fn ours<'a>(
    job: &'a Job<'a>,
    name: &'static str,
    frames: u64,
    particles: usize,
    options: WriterOptions,
) -> Contender<'a> {
    let values = pool(particles);
    Contender::new(name, move || {
        to_new_file(job, frames, particles, |path| {
            let write = || {
                let mut writer = Writer::create(path, &options)?;
                for frame in 0..frames {
                    writer.write_chunk("configuration/step", 1, 1, &[frame])?;
                    let shift = frame as usize % 16;
                    let positions = &values[shift..shift + 3 * particles];
                    writer.write_chunk(POSITION, particles as u64, 3, positions)?;
                    writer.end_frame()?;
                }
                Ok(writer.close()?)
            };
            timed(write, |()| Ok(None))
        })
    })
}

fn by_crate(path: &Path, frames: u64, particles: usize, values: &[f32], when: When) -> Result<()> {
    let mut file = GsdFile::create_new(path, "bench", "hoomd", (1, 4))?;
    for frame in 0..frames {
        file.write_scalars("configuration/step", [frame])?;
        let shift = frame as usize % 16;
        let (positions, _) = values[shift..shift + 3 * particles].as_chunks::<3>();
        file.write_arrays(POSITION, positions.iter().copied())?;
        file.end_frame()?;
        if when == When::EveryFrame {
            file.sync_all()?;
        }
    }
    Ok(file.sync_all()?)
}

/// Has `write` make a file of a new name, looks whether it holds what it should, and removes it.
fn to_new_file(
    job: &Job<'_>,
    frames: u64,
    particles: usize,
    write: impl FnOnce(&Path) -> Result<Run>,
) -> Result<Run> {
    let path = job.scratch.fresh("gsd");
    job.scratch.settle()?;
    let run = write(&path)?;
    let file = gsd::File::open(&path)?;
    ensure!(file.nframes() == frames, "{} frames", file.nframes());
    let mut check = 0;
    for frame in [0, frames / 3, frames - 1] {
        let entry = file.find_chunk(frame, POSITION).context("no positions")?;
        ensure!((entry.n, entry.m) == (particles as u64, 3), "{entry:?}");
        check = check * 31 + sum(&file.read_elements(&entry)?) as u64;
    }
    drop(file);
    std::fs::remove_file(&path)?;
    Ok(Run { check: Some(check), ..run })
}
