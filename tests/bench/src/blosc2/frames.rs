//! Frames, written and read as a whole.

use std::fs;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use anyhow::Result;
use blosc2_frame::{Frame, FrameOptions, OpenOptions, Writer};
use container_core::container::ReadOptions;
use container_core::write::{AtomicFile, Durability, Overwrite};

use super::{C, C_MAPPED, C_TWO, CHUNK, Job, OURS, OURS_TWO, PURE, PURE_TWO};
use super::{check, clocked, other, params, text, writing};
use crate::harness::{Claim, Contender, Group, Run, Unit};

/// Codecs and levels.
const SETTINGS: &[(&str, u8)] = &[("lz4", 5), ("blosclz", 5), ("zstd", 1)];

fn write_ours(values: &[u8], target: &Path, codec: &str, level: u8, threads: usize) -> Result<()> {
    let mut options = FrameOptions::default();
    options.params = params(codec, level, 8, threads)?;
    let mut file = AtomicFile::create(target, Overwrite::Refuse)?;
    let mut writer = Writer::new(&mut file, options)?;
    writer.append_all(&values.chunks(CHUNK).collect::<Vec<_>>())?;
    writer.finish()?;
    Ok(file.commit(Durability::Cached)?)
}

pub(super) fn write<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let (values, raw) = job.values()?;
    let values = Rc::new(values);
    let mut groups = Vec::new();
    for &(codec, level) in SETTINGS {
        let ours = |name: &'static str, threads: usize| {
            let values = Rc::clone(&values);
            Contender::new(name, move || {
                let target = job.scratch.fresh("b2frame");
                job.scratch.settle()?;
                let seconds = clocked(threads, || write_ours(&values, &target, codec, level, threads))?;
                fs::remove_file(&target)?;
                Ok(Run { seconds, check: None })
            })
        };
        let (raw, level_word, chunk) = (text(&raw)?, level.to_string(), CHUNK.to_string());
        let theirs = |threads| ["write", raw, "{}", codec, &level_word, threads, &chunk];
        let target = job.scratch.fresh("b2frame");
        write_ours(&values, &target, codec, level, 1)?;
        let ratio =
            |path: &Path| Ok::<_, anyhow::Error>(values.len() as f64 / fs::metadata(path)?.len() as f64);
        let ratios = (ratio(&target)?, ratio(&job.frame(codec, level)?)?);
        fs::remove_file(&target)?;
        groups.push(Group {
            title: format!("Write a frame: {codec} {level}; ratio {:.3}, C-Blosc2 {:.3}", ratios.0, ratios.1),
            unit: Unit::Rate(job.bytes as u64),
            contenders: vec![
                ours(OURS, 1),
                ours(OURS_TWO, 2),
                writing(job, C, &job.c, &theirs("1")),
                writing(job, C_TWO, &job.c, &theirs("2")),
                writing(job, PURE, &job.pure, &theirs("1")).at_most(2),
                writing(job, PURE_TWO, &job.pure, &theirs("2")).at_most(2),
            ],
            claims: vec![
                Claim::Speed(OURS, C, Some(1.0)),
                Claim::Speed(OURS_TWO, C_TWO, Some(1.0)),
                Claim::Speed(OURS, PURE, None),
            ],
        });
    }
    Ok(groups)
}

pub(super) fn read<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let mut groups = Vec::new();
    for &(codec, level) in SETTINGS {
        let path = job.frame(codec, level)?;
        groups.push(read_one(job, &path, &format!("{codec} {level}"), "file")?);
    }
    let path = job.frame("lz4", 5)?;
    groups.push(read_one(job, &path, "lz4 5, in memory", "memory")?);
    Ok(groups)
}

/// Into memory that is in use, opening included.
fn read_one<'a>(job: &'a Job<'a>, path: &Path, title: &str, access: &'static str) -> Result<Group<'a>> {
    let bytes = job.bytes as u64;
    // Nobody pays for the file's bytes: C-Blosc2 borrows them too.
    let held = Arc::new(if access == "memory" { fs::read(path)? } else { Vec::new() });
    let ours = |name: &'static str, threads: usize| {
        let (path, held) = (path.to_owned(), Arc::clone(&held));
        let mut out = vec![1; job.bytes];
        Contender::new(name, move || {
            let options = ReadOptions::default().with_threads(threads);
            let seconds = clocked(threads, || {
                let frame = if access == "memory" {
                    Frame::from_source(Box::new(Arc::clone(&held)), 0, &OpenOptions::default())?
                } else {
                    Frame::open(&path)?
                };
                Ok(frame.read_into(0..bytes, &mut out, &options)?)
            })?;
            Ok(Run { seconds, check: Some(check(&out)) })
        })
    };
    let path_word = text(path)?;
    let theirs = |threads, access| ["read", path_word, threads, access];
    let mut contenders = vec![
        ours(OURS, 1),
        ours(OURS_TWO, 2),
        other(C, &job.c, &theirs("1", access)),
        other(C_TWO, &job.c, &theirs("2", access)),
    ];
    let mut claims = vec![Claim::Speed(OURS, C, None), Claim::Speed(OURS_TWO, C_TWO, Some(1.3))];
    if access == "file" {
        contenders.push(other(C_MAPPED, &job.c, &theirs("1", "mapped")));
        contenders.push(other(PURE, &job.pure, &theirs("1", access)).at_most(2));
        contenders.push(other(PURE_TWO, &job.pure, &theirs("2", access)).at_most(2));
        claims.push(Claim::Speed(OURS, PURE, None));
    }
    Ok(Group {
        title: format!("Read a frame as a whole into memory in use: {title}"),
        unit: Unit::Rate(bytes),
        contenders,
        claims,
    })
}
