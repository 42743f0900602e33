//! Compressed arrays, read and written.

use std::path::Path;
use std::rc::Rc;

use anyhow::Result;
use asdf::File;
use asdf::writer::ArraySpec;
use asdf_rs::{ArrayElement, AsdfBuilder, AsdfFile, Compression};
use bytemuck::Pod;
use container_core::Limits;
use container_core::dtype::{DType, Order};
use container_core::region::Region;

use super::data::Noisy;
use super::write::to_new_file;
use super::{CRATE, Clock, Job, OURS, OURS_TWO, PYTHON, cached, python, text, timed, unproved, write_array};
use crate::harness::{Claim, Contender, Group, Run, Unit};
use crate::scratch::check;

/// The level of the others, where ours is another by default.
const OURS_THEIR_LEVEL: &str = "holdall, level 6";

/// A codec and what is expected of it.
struct Codec {
    label: &'static str,
    theirs: Compression,
    /// The level that the others have by default, where ours is another.
    their_level: Option<i32>,
    /// Rounds of those that take seconds for each.
    slow: usize,
    read: Vec<Claim>,
    write: Vec<Claim>,
}

pub(super) fn zlib<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let codec = Codec {
        label: "zlib",
        theirs: Compression::Zlib,
        their_level: Some(6),
        slow: 2,
        read: vec![Claim::Speed(OURS, PYTHON, Some(2.3)), Claim::Speed(OURS, CRATE, None)],
        write: vec![
            Claim::Speed(OURS, PYTHON, Some(5.0)),
            Claim::Speed(OURS_TWO, PYTHON, Some(9.0)),
            Claim::Speed(OURS, CRATE, None),
            Claim::Speed(OURS_THEIR_LEVEL, PYTHON, None),
            Claim::Speed(OURS_THEIR_LEVEL, CRATE, None),
        ],
    };
    groups(job, &codec)
}

pub(super) fn bzp2<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let claims = vec![
        Claim::Speed(OURS_TWO, PYTHON, Some(1.9)),
        Claim::Speed(OURS_TWO, CRATE, Some(1.9)),
        Claim::Speed(OURS, PYTHON, None),
    ];
    let codec = Codec {
        label: "bzp2",
        theirs: Compression::Bzp2,
        their_level: None,
        slow: 2,
        read: claims.clone(),
        write: claims,
    };
    groups(job, &codec)
}

pub(super) fn lz4<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let codec = Codec {
        label: "lz4",
        theirs: Compression::Lz4,
        their_level: None,
        slow: usize::MAX,
        read: vec![
            Claim::Speed(OURS_TWO, PYTHON, Some(3.0)),
            Claim::Speed(OURS_TWO, CRATE, None),
            Claim::Speed(OURS, PYTHON, None),
        ],
        write: vec![Claim::Speed(OURS_TWO, PYTHON, None), Claim::Speed(OURS, CRATE, None)],
    };
    groups(job, &codec)
}

fn groups<'a>(job: &'a Job<'a>, codec: &Codec) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for kind in Noisy::BOTH {
        groups.push(read(job, codec, kind)?);
        groups.push(write(job, codec, kind)?);
    }
    Ok(groups)
}

/// At most so many rounds, where that is a number.
fn paced(contender: Contender<'_>, rounds: usize) -> Contender<'_> {
    if rounds == usize::MAX { contender } else { contender.at_most(rounds) }
}

fn read<'a>(job: &'a Job<'a>, codec: &Codec, kind: Noisy) -> Result<Group<'a>> {
    let path = job.compressed(kind, codec.label)?;
    let shape = [(job.noisy_len() / kind.size()) as u64];
    let ours = |name: &'static str, threads: usize| {
        let path = path.clone();
        Contender::new(name, move || {
            let options = unproved(threads);
            let work = || {
                let file = File::open(&path)?;
                Ok(file.read("data", &Region::whole(&shape), &options)?.into_owned(&options.limits)?)
            };
            timed(Clock::of(threads), work, |array| {
                Ok(Some(check(&array.bytes(Order::C, &Limits::default())?)))
            })
        })
    };
    let theirs = path.clone();
    let contenders = vec![
        ours(OURS, 1),
        ours(OURS_TWO, 2),
        paced(
            Contender::new(CRATE, move || match kind {
                Noisy::Uint16 => read_theirs::<u16>(&theirs),
                Noisy::Float64 => read_theirs::<f64>(&theirs),
            }),
            codec.slow,
        ),
        paced(python(job, PYTHON, &["read", "cpu", text(&path)?]), codec.slow),
    ];
    Ok(Group {
        title: format!("Read noisy {}, {}", kind.name(), codec.label),
        unit: Unit::Rate(job.noisy_len() as u64),
        contenders,
        claims: codec.read.clone(),
    })
}

fn read_theirs<T: ArrayElement + Pod>(path: &Path) -> Result<Run> {
    let work = || Ok(AsdfFile::open(path)?.read_array_of::<T>("data")?);
    timed(Clock::Cpu, work, |values| Ok(Some(check(bytemuck::cast_slice(values)))))
}

fn write<'a>(job: &'a Job<'a>, codec: &Codec, kind: Noisy) -> Result<Group<'a>> {
    let (bytes, raw) = job.noisy(kind)?;
    let (label, theirs, expected) = (codec.label, codec.theirs, check(&bytes));
    let bytes = Rc::new(bytes);
    let count = (bytes.len() / kind.size()) as u64;
    let spec = ArraySpec::new(DType::parse(kind.dtype())?, [count]).compressed(label, None);
    let ours = |name: &'static str, spec: &ArraySpec, threads: usize| {
        let bytes = Rc::clone(&bytes);
        let mut seen = false;
        let spec = spec.clone();
        Contender::new(name, move || {
            let write = |path: &Path| {
                let work = || write_array(path, &spec, &bytes, cached(threads));
                timed(Clock::of(threads), work, |()| Ok(None))
            };
            to_new_file(job, expected, &mut seen, write)
        })
    };
    let sample = job.made(&format!("ours-{}-{label}.asdf", kind.name()), |path| {
        write_array(path, &spec, &bytes, cached(2))
    })?;
    let ratio = |path: &Path| Ok::<_, anyhow::Error>(bytes.len() as f64 / path.metadata()?.len() as f64);
    let ratios = (ratio(&sample)?, ratio(&job.compressed(kind, label)?)?);
    let copy = Rc::clone(&bytes);
    let (mut crate_seen, mut python_seen) = (false, false);
    let mut contenders = vec![
        ours(OURS, &spec, 1),
        ours(OURS_TWO, &spec, 2),
        paced(
            Contender::new(CRATE, move || {
                let write = |path: &Path| match kind {
                    Noisy::Uint16 => write_theirs::<u16>(path, &copy, theirs),
                    Noisy::Float64 => write_theirs::<f64>(path, &copy, theirs),
                };
                to_new_file(job, expected, &mut crate_seen, write)
            }),
            codec.slow,
        ),
        paced(
            Contender::new(PYTHON, move || {
                job.python(&["hold", text(&raw)?, kind.dtype()])?;
                let write = |path: &Path| job.python(&["write", "cpu", text(path)?, label]);
                to_new_file(job, expected, &mut python_seen, write)
            }),
            codec.slow,
        ),
    ];
    if let Some(level) = codec.their_level {
        contenders.push(ours(OURS_THEIR_LEVEL, &spec.compressed(label, Some(level)), 1));
    }
    Ok(Group {
        title: format!("Write noisy {}, {label}; ratio {:.3}, Python {:.3}", kind.name(), ratios.0, ratios.1),
        unit: Unit::Rate(job.noisy_len() as u64),
        contenders,
        claims: codec.write.clone(),
    })
}

fn write_theirs<T: ArrayElement + Pod>(path: &Path, bytes: &[u8], codec: Compression) -> Result<Run> {
    let values: Vec<T> = bytemuck::pod_collect_to_vec(bytes);
    let work = || {
        let mut builder = AsdfBuilder::new().with_compression(codec);
        builder.set_array("data", &values)?;
        Ok(builder.write_to_path(path)?)
    };
    timed(Clock::Cpu, work, |()| Ok(None))
}
