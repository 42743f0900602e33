//! Slices of an array: small and flat ones, at random places or always at the same one.

use std::fs;
use std::path::Path;

use anyhow::Result;
use blosc2_frame::b2nd::NdArray;
use blosc2_frame::{Frame, OpenOptions};
use container_core::container::ReadOptions;
use container_core::region::Region;

use super::{C, C_MAPPED, Job, OURS, OURS_TWO, PURE, PYTHON, ZARRS, check, clocked, other, sizes, text};
use crate::harness::{Claim, Contender, Group, Run, Unit};

/// As in the peers.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;
const CHECKED: usize = 4;

/// Name of a slice, its length along each axis, the number of reads in a round, and whether it counts as a small one.
const SLICES: &[(&str, [u64; 3], usize, bool)] = &[
    ("cubes", [4, 4, 4], 128, true),
    ("cubes", [16, 16, 16], 64, true),
    ("rows", [1, 1, 512], 64, true),
    ("columns", [128, 1, 1], 64, true),
    ("planes", [1, 512, 512], 16, false),
];

/// Their titles, and none that goes farther than the array.
fn all(job: &Job<'_>) -> impl Iterator<Item = (String, [u64; 3], usize, bool)> {
    let shape = job.shape();
    SLICES.iter().map(move |&(name, widths, count, small)| {
        let mut widths = widths;
        for (width, size) in widths.iter_mut().zip(shape) {
            *width = size.min(*width);
        }
        let [deep, high, wide] = widths;
        (format!("{name} of {deep} × {high} × {wide}"), widths, count, small)
    })
}

const CACHED: &str = "holdall, with its cache";

pub(super) fn random<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for codec in ["lz4", "zstd"] {
        let (path, zarr) = (job.array(codec)?, job.zarr(codec)?);
        for (name, widths, count, small) in all(job) {
            let mut contenders = vec![
                ours(OURS, job, &path, widths, Some(count), Held::Nothing, 1)?,
                ours(CACHED, job, &path, widths, Some(count), Held::Cache, 1)?,
            ];
            if !small {
                contenders.push(ours(OURS_TWO, job, &path, widths, Some(count), Held::Nothing, 2)?);
            }
            contenders.extend(others(job, &path, &zarr, widths, Some(count))?);
            if codec == "lz4" {
                let words = ["slices", text(&path)?, "1", &sizes(&widths), "random", "4", "file"];
                contenders.push(other(PURE, &job.pure, &words).at_most(1));
            }
            groups.push(Group {
                title: format!("Read {name} at random places: {codec}, µs for each"),
                unit: Unit::Time,
                contenders,
                claims: vec![
                    Claim::Speed(OURS, C, small.then_some(2.0)),
                    Claim::Speed(OURS, C_MAPPED, None),
                    Claim::Speed(OURS, ZARRS, small.then_some(5.0)),
                ],
            });
        }
    }
    Ok(groups)
}

pub(super) fn repeated<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (path, zarr) = (job.array("lz4")?, job.zarr("lz4")?);
    let mut groups = Vec::new();
    for (name, widths, _, small) in all(job) {
        let mut contenders = vec![ours(OURS, job, &path, widths, None, Held::Cache, 1)?];
        contenders.extend(others(job, &path, &zarr, widths, None)?);
        groups.push(Group {
            title: format!("Read one of the {name} again and again: lz4, µs for each"),
            unit: Unit::Time,
            contenders,
            claims: vec![Claim::Speed(OURS, C, small.then_some(20.0)), Claim::Speed(OURS, ZARRS, None)],
        });
    }
    Ok(groups)
}

pub(super) fn memory<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let path = job.array("lz4")?;
    let mut groups = Vec::new();
    for (name, widths, count, small) in all(job) {
        let words = ["slices", text(&path)?, "1", &sizes(&widths), "random", &count.to_string(), "memory"];
        groups.push(Group {
            title: format!("Read {name} at random places of an array in memory: lz4, µs for each"),
            unit: Unit::Time,
            contenders: vec![
                ours(OURS, job, &path, widths, Some(count), Held::File, 1)?,
                other(C, &job.c, &words),
            ],
            claims: vec![Claim::Speed(OURS, C, small.then_some(2.0))],
        });
    }
    Ok(groups)
}

fn others<'a>(
    job: &'a Job<'a>,
    path: &Path,
    zarr: &Path,
    widths: [u64; 3],
    random: Option<usize>,
) -> Result<Vec<Contender<'a>>> {
    let (path, zarr, widths) = (text(path)?, text(zarr)?, sizes(&widths));
    let (order, count) = (if random.is_some() { "random" } else { "same" }, random.unwrap_or(16).to_string());
    let words = |path, access| ["slices", path, "1", &widths, order, &count, access];
    Ok(vec![
        other(C, &job.c, &words(path, "file")),
        other(C_MAPPED, &job.c, &words(path, "mapped")),
        other(PYTHON, &job.python, &words(path, "file")),
        other(ZARRS, &job.zarrs, &words(zarr, "file")),
    ])
}

/// Data in memory before a read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Held {
    /// No decoded block is kept.
    Nothing,
    /// Decoded blocks are kept, as many as by default.
    Cache,
    /// The file, and no decoded block.
    File,
}

fn ours<'a>(
    name: &'static str,
    job: &Job<'_>,
    path: &Path,
    widths: [u64; 3],
    random: Option<usize>,
    held: Held,
    threads: usize,
) -> Result<Contender<'a>> {
    let mut options = OpenOptions::default();
    if held != Held::Cache {
        options.cache = 0;
    }
    let frame =
        if held == Held::File { from_memory(path, &options)? } else { Frame::open_with(path, &options)? };
    let array = NdArray::from_frame(frame)?;
    let shape = job.shape();
    let mut out = vec![1; widths.iter().product::<u64>() as usize * 4];
    // So many that the time is long enough to be measured.
    let count = random.unwrap_or(if out.len() > 1 << 16 { 256 } else { 4096 });
    let places = (0..count as u64).map(|at| region(if random.is_some() { at } else { 0 }, &shape, &widths));
    let places = places.collect::<Result<Vec<_>>>()?;
    Ok(Contender::new(name, move || {
        let read = ReadOptions::default().with_threads(threads);
        let mut sum = 0_u64;
        for place in &places[..if random.is_some() { CHECKED } else { 1 }] {
            array.read_into(place, &mut out, &read)?;
            sum = sum.wrapping_add(check(&out));
        }
        let seconds = clocked(threads, || {
            for place in &places {
                array.read_into(place, &mut out, &read)?;
            }
            Ok(())
        })?;
        Ok(Run { seconds: seconds / count as f64, check: Some(sum) })
    }))
}

fn from_memory(path: &Path, options: &OpenOptions) -> Result<Frame> {
    Ok(Frame::from_source(Box::new(fs::read(path)?), 0, options)?)
}

/// The `at`th place.
fn region(at: u64, shape: &[u64], widths: &[u64]) -> Result<Region> {
    let axes = (1..).zip(shape.iter().zip(widths)).map(|(axis, (size, width))| {
        let first = ((at * 3 + axis).wrapping_mul(SPREAD) >> 32) % (size - width + 1);
        format!("{first}:{}", first + width)
    });
    Ok(Region::parse(&axes.collect::<Vec<_>>().join(","), shape)?)
}
