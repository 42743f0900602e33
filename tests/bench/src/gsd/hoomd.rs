//! Whole frames of the hoomd schema, and the positions of all frames as one array.

use std::path::{Path, PathBuf};

use anyhow::Result;
use gsd::hoomd::Trajectory;
use gsd::{Commit, Defaults, Frames, Rows, StackedChunks, Writer};

use super::{Job, OURS, POSITION, pool, quick, sum, text, total};
use crate::harness::{Claim, Contender, Group, Unit, timed};

const PYTHON: &str = "gsd.hoomd, Python";
const COPIED: &str = "holdall, copied";
const CHUNKS: &str = "gsd.fl, Python";
const THREADS: &str = "holdall, 2 threads";

/// Writes the frames of a simulation: all fields in frame 0, those that change in the others.
fn simulation(job: &Job<'_>, frames: u64, particles: usize) -> Result<PathBuf> {
    job.made(&format!("simulation-{frames}-{particles}.gsd"), |path| {
        let (values, n) = (pool(particles), particles as u64);
        let mut writer = Writer::create(path, &quick(Commit::Every(1000)))?;
        for frame in 0..frames {
            let shift = frame as usize % 16;
            writer.write_chunk("configuration/step", 1, 1, &[frame * 100])?;
            if frame == 0 {
                writer.write_chunk("configuration/box", 6, 1, &[9_f32, 9.0, 9.0, 0.0, 0.0, 0.0])?;
                writer.write_chunk("particles/N", 1, 1, &[particles as u32])?;
                writer.write_chunk("particles/types", 2, 2, b"A\0B\0".map(|byte| byte as i8).as_slice())?;
                let types: Vec<u32> = (0..particles as u32).map(|at| at % 2).collect();
                writer.write_chunk("particles/typeid", n, 1, &types)?;
                writer.write_chunk("particles/mass", n, 1, &values[..particles])?;
            }
            writer.write_chunk(POSITION, n, 3, &values[shift..shift + 3 * particles])?;
            writer.write_chunk("particles/velocity", n, 3, &values[..3 * particles])?;
            writer.write_chunk("particles/image", n, 3, &vec![0_i32; 3 * particles])?;
            writer.write_chunk("log/energy", 1, 1, &[frame as f64])?;
            writer.end_frame()?;
        }
        Ok(writer.close()?)
    })
}

pub(super) fn decode<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for (full, particles) in [(10_000, 10), (10_000, 1000), (200, 100_000)] {
        let frames = job.frames(full);
        let path = simulation(job, frames, particles)?;
        let ours = |owned: bool| -> Result<_> {
            let trajectory = Trajectory::open(&path)?;
            Ok(move || {
                let work = || {
                    let mut all = 0.0;
                    for at in 0..frames as i64 {
                        let frame = trajectory.get(at)?;
                        all += if owned { touched(&frame.into_owned()) } else { touched(&frame) };
                    }
                    Ok(all)
                };
                timed(work, total)
            })
        };
        let count = frames.to_string();
        let file = path.clone();
        let python = move || job.python(&["decode", text(&file)?, &count]);
        groups.push(Group {
            title: format!("Read {frames} whole frames of {particles} particles by the hoomd schema"),
            unit: Unit::Items(frames, "frame"),
            contenders: vec![
                Contender::new(OURS, ours(false)?),
                Contender::new(COPIED, ours(true)?),
                Contender::new(PYTHON, python).at_most(3),
            ],
            claims: vec![Claim::Speed(OURS, PYTHON, Some(20.0)), Claim::Speed(COPIED, PYTHON, None)],
        });
    }
    Ok(groups)
}

/// The step and one coordinate, as in the peer.
fn touched(frame: &gsd::hoomd::Frame<'_>) -> f64 {
    let position = frame.particles.position.as_ref().and_then(|positions| positions.as_f32()?.last());
    frame.configuration.step.unwrap_or(0) as f64
        + position.map_or(f64::NAN, |position| f64::from(position[0]))
}

pub(super) fn time_series<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (frames, particles) = (job.frames(10_000), 1000);
    let path = simulation(job, frames, particles)?;
    let rows = [("of all particles", particles as u64), ("of 10 particles in 1000", 10)];
    rows.into_iter().map(|(which, rows)| one_tensor(job, &path, which, frames, rows)).collect()
}

fn one_tensor<'a>(job: &'a Job<'a>, path: &Path, which: &str, frames: u64, rows: u64) -> Result<Group<'a>> {
    let ours = |threads: usize| {
        let path = path.to_owned();
        move || {
            let read = || {
                let file = gsd::File::open(&path)?;
                let stack = StackedChunks::new(&file, POSITION, &Frames::all(&file), Defaults::Schema)?;
                Ok(stack.read(&Rows::Strided { start: 0, step: 1, count: rows }, threads)?)
            };
            timed(read, |array| {
                let limits = gsd::Limits::default();
                let values = array.elements::<f32>(container_core::dtype::Order::C, &limits)?;
                Ok(Some(
                    values.chunks(3 * rows as usize).map(|frame| f64::from(sum(frame))).sum::<f64>() as u64
                ))
            })
        }
    };
    let python = |command: &'static str| {
        let (path, rows) = (path.to_owned(), rows.to_string());
        move || job.python(&[command, text(&path)?, &rows])
    };
    Ok(Group {
        title: format!("Positions {which} in {frames} frames as one array"),
        unit: Unit::Rate(frames * rows * 12),
        contenders: vec![
            Contender::new(OURS, ours(1)),
            Contender::new(THREADS, ours(2)),
            Contender::new(CHUNKS, python("tensor_fl")),
            Contender::new(PYTHON, python("tensor")).at_most(2),
        ],
        claims: vec![
            Claim::Speed(OURS, CHUNKS, None),
            Claim::Speed(THREADS, CHUNKS, None),
            Claim::Speed(OURS, PYTHON, None),
        ],
    })
}
