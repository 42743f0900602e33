//! Bloscpack files against the Python tool of that name.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use anyhow::{Context as _, Result};
use blosc_chunk::Compressor;
use bloscpack::{ChecksumCode, ChunkOptions, WriteOptions};
use container_core::array::Array;
use container_core::container::{Digests, ReadOptions};
use container_core::dtype::{Element as _, Order};
use container_core::npy;
use container_core::write::Durability;

use crate::blosc::field;
use crate::harness::{Claim, Contender, Group, Run, Unit, timed};
use crate::scratch::{Scratch, check};
use interop::peer::Peer;

/// Input of every group.
pub struct Job<'a> {
    /// Folder of the files.
    pub scratch: &'a Scratch,
    /// The Python tool.
    pub peer: RefCell<Peer>,
    /// Bytes of the array.
    pub bytes: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[("pack", pack), ("unpack", unpack)];

/// Codec, level and digest; the first are the tool's defaults.
const SETTINGS: &[(&str, u8, &str)] = &[
    ("blosclz", 7, "adler32"),
    ("blosclz", 7, "None"),
    ("lz4", 5, "adler32"),
    ("zstd", 1, "adler32"),
    ("zlib", 5, "adler32"),
];

fn pack<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let source = job.npy()?;
    let values = Rc::new(job.values());
    let mut groups = Vec::new();
    for &(codec, level, checksum) in SETTINGS {
        let ours = |threads: usize| {
            let values = Rc::clone(&values);
            move || {
                let target = job.scratch.fresh("blp");
                let shape = vec![values.len() as u64 / 8];
                let array = Array::new(f64::dtype(), shape, Order::C, values.as_slice().into())?;
                job.scratch.settle()?;
                let options = options(codec, level, checksum, threads)?;
                let run = timed(|| Ok(bloscpack::write_array(&target, &array, &options)?), |()| Ok(None))?;
                std::fs::remove_file(&target)?;
                Ok(run)
            }
        };
        let theirs = |threads: &'static str| {
            let source = source.clone();
            move || {
                let target = job.scratch.fresh("blp");
                job.scratch.settle()?;
                let level = level.to_string();
                let run =
                    job.peer(&["pack", threads, codec, &level, checksum, text(&source)?, text(&target)?])?;
                std::fs::remove_file(&target)?;
                Ok(run)
            }
        };
        let title = format!("Pack: {codec} {level}, digest {checksum}");
        groups.push(group(job, title, ours(1), ours(2), theirs("1"), theirs("2"), [1.2, 1.9]));
    }
    Ok(groups)
}

fn unpack<'a>(job: &'a Job<'a>) -> Result<Vec<Group<'a>>> {
    let source = job.npy()?;
    let mut groups = Vec::new();
    for &(codec, level, checksum) in SETTINGS {
        let path = job.scratch.file(&format!("{codec}-{level}-{checksum}.blp"));
        let words = level.to_string();
        job.peer(&["pack", "1", codec, &words, checksum, text(&source)?, text(&path)?])?;
        job.scratch.settle()?;
        let ours = |threads: usize| {
            let path = path.clone();
            move || {
                let mut options = ReadOptions::default().with_threads(threads);
                options.digests = Digests::Compare;
                timed(
                    || Ok(bloscpack::File::open(&path)?.read_all(&options)?),
                    |array| Ok(Some(check(&array.bytes(Order::C, &options.limits)?))),
                )
            }
        };
        let theirs = |threads: &'static str| {
            let path = path.clone();
            move || job.peer(&["unpack", threads, text(&path)?])
        };
        let title = format!("Unpack: {codec} {level}, digest {checksum}");
        groups.push(group(job, title, ours(1), ours(2), theirs("1"), theirs("2"), [1.2, 2.0]));
    }
    Ok(groups)
}

/// Both, on one thread and on two.
fn group<'a>(
    job: &Job<'_>,
    title: String,
    one: impl FnMut() -> Result<Run> + 'a,
    two: impl FnMut() -> Result<Run> + 'a,
    theirs_one: impl FnMut() -> Result<Run> + 'a,
    theirs_two: impl FnMut() -> Result<Run> + 'a,
    goals: [f64; 2],
) -> Group<'a> {
    let contenders = vec![
        Contender::new("holdall", one),
        Contender::new("holdall, 2 threads", two),
        Contender::new("bloscpack", theirs_one),
        Contender::new("bloscpack, 2 threads", theirs_two),
    ];
    let claims = vec![
        Claim::Speed("holdall", "bloscpack", Some(goals[0])),
        Claim::Speed("holdall, 2 threads", "bloscpack, 2 threads", Some(goals[1])),
    ];
    Group { title, unit: Unit::Rate(job.bytes as u64), contenders, claims }
}

fn options(codec: &str, level: u8, checksum: &str, threads: usize) -> Result<WriteOptions> {
    let digest = if checksum == "None" { ChecksumCode::NONE } else { ChecksumCode::ADLER32 };
    let mut options = WriteOptions::default();
    options.chunks = ChunkOptions::default()
        .with_codec(Compressor::from_name(codec).context("no such codec")?, level)
        .with_checksum(digest)
        .with_threads(threads);
    options.durability = Durability::Cached;
    Ok(options)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}

impl Job<'_> {
    fn values(&self) -> Vec<u8> {
        field(self.bytes / 8)
    }

    /// The array as the tool reads it.
    fn npy(&self) -> Result<PathBuf> {
        let path = self.scratch.file("field.npy");
        if !path.exists() {
            let mut file = File::create(&path)?;
            file.write_all(&npy::Header::to_bytes(&f64::dtype(), &[self.bytes as u64 / 8], Order::C)?)?;
            file.write_all(&self.values())?;
            self.scratch.settle()?;
        }
        Ok(path)
    }

    fn peer(&self, words: &[&str]) -> Result<Run> {
        let fields = self.peer.borrow_mut().ask(words[0], &words[1..])?;
        let [seconds, check] = fields.as_slice() else { anyhow::bail!("{words:?}: {fields:?}") };
        let check = if check == "-" { None } else { Some(check.parse()?) };
        Ok(Run { seconds: seconds.parse()?, check })
    }
}
