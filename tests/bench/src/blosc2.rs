//! Blosc2 frames and arrays against C-Blosc2, python-blosc2, blosc2-pure-rs, and Zarr arrays by zarrs.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use blosc_chunk::{Compressor, Params, SplitMode};
use blosc2_frame::default_params;

use crate::blosc::cpu;
use crate::harness::{Contender, Run};
use crate::scratch::Scratch;
use interop::peer::Peer;

mod data;
mod frames;
mod open;
mod peers;
mod slices;
mod whole;

/// Input of every group.
pub struct Job<'a> {
    /// Folder of the files.
    scratch: &'a Scratch,
    c: RefCell<Peer>,
    python: RefCell<Peer>,
    pure: RefCell<Peer>,
    zarrs: RefCell<Peer>,
    /// Bytes of a frame; an array has half of them.
    bytes: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<crate::harness::Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[
    ("write", frames::write),
    ("read", frames::read),
    ("open", open::open),
    ("array", whole::write),
    ("slices", slices::random),
    ("repeat", slices::repeated),
    ("memory", slices::memory),
    ("whole", whole::read),
];

const OURS: &str = "holdall";
const OURS_TWO: &str = "holdall, 2 threads";
const C: &str = "C-Blosc2";
const C_TWO: &str = "C-Blosc2, 2 threads";
const C_MAPPED: &str = "C-Blosc2, mapped";
const PYTHON: &str = "python-blosc2";
const PYTHON_TWO: &str = "python-blosc2, 2 threads";
const PURE: &str = "blosc2-pure-rs";
const PURE_TWO: &str = "blosc2-pure-rs, 2 threads";
const ZARRS: &str = "zarrs";
const ZARRS_TWO: &str = "zarrs, 2 threads";

/// Bytes of a chunk of a frame.
const CHUNK: usize = 4 << 20;

/// Elements of an array's chunks and blocks along each axis.
const CHUNKS: [u32; 3] = [32, 128, 128];
const BLOCKS: [u32; 3] = [4, 128, 128];

impl<'a> Job<'a> {
    /// Starts the others; `python` is there already.
    ///
    /// # Errors
    /// When one of them cannot be started.
    pub fn new(scratch: &'a Scratch, mut python: Peer, bytes: usize) -> Result<Self> {
        let c = peers::c(scratch, &mut python)?;
        let (pure, zarrs) = (peers::program("blosc2_pure_peer")?, peers::program("zarrs_peer")?);
        let [c, python, pure, zarrs] = [c, python, pure, zarrs].map(RefCell::new);
        Ok(Self { scratch, c, python, pure, zarrs, bytes })
    }
}

/// Returns the parameters of chunks: the defaults of C-Blosc2.
fn params(codec: &str, level: u8, typesize: usize, threads: usize) -> Result<Params> {
    let mut params = default_params(typesize);
    params.compressor = Compressor::from_name(codec).context("no such codec")?;
    params.level = level;
    params.split = SplitMode::ForwardCompat;
    params.threads = threads;
    Ok(params)
}

/// Runs `work` on the clock that counts: CPU time of this thread for one thread, wall time for more.
fn clocked(threads: usize, work: impl FnOnce() -> Result<()>) -> Result<f64> {
    if threads == 1 {
        return cpu(work);
    }
    let start = std::time::Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64())
}

/// One that has `peer` do `words`.
fn other<'a>(name: &'static str, peer: &'a RefCell<Peer>, words: &[&str]) -> Contender<'a> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Contender::new(name, move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        peer.borrow_mut().measure(words[0], &words[1..])
    })
}

/// One that has `peer` write what does not stay; `{}` is the file's name in `words`.
fn writing<'a>(
    job: &'a Job<'a>,
    name: &'static str,
    peer: &'a RefCell<Peer>,
    words: &[&str],
) -> Contender<'a> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Contender::new(name, move || {
        let target = job.scratch.fresh("other");
        job.scratch.settle()?;
        let path = text(&target)?;
        let words: Vec<&str> = words.iter().map(|word| if word == "{}" { path } else { word }).collect();
        let run = peer.borrow_mut().measure(words[0], &words[1..]);
        if target.is_dir() {
            std::fs::remove_dir_all(&target)?;
        } else {
            std::fs::remove_file(&target)?;
        }
        run
    })
}

/// The path of what is `name`, made now if it is not there.
fn made(job: &Job<'_>, name: &str, make: impl FnOnce(&Path) -> Result<Run>) -> Result<PathBuf> {
    let path = job.scratch.file(name);
    if !path.exists() {
        make(&path)?;
        job.scratch.settle()?;
    }
    Ok(path)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}

/// The sum of all whole words, as in the peers.
fn check(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<4>();
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from(u32::from_le_bytes(*word))))
}

/// "4x4x4".
fn sizes<T: std::fmt::Display>(sizes: &[T]) -> String {
    sizes.iter().map(T::to_string).collect::<Vec<_>>().join("x")
}
