//! GSD files against gsd in C and Python, and the hoomd-gsd crate.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use gsd::{Commit, Durability, Version, Writer, WriterOptions};

use crate::harness::{Claim, Contender, Group, Run};
use crate::scratch::Scratch;
use interop::peer::Peer;

pub mod c_library;
mod find;
mod hoomd;
mod lens;
mod log;
mod open;
mod read;
mod write;

/// Input of every group.
pub struct Job<'a> {
    /// Folder of the files.
    pub scratch: &'a Scratch,
    /// gsd's Python modules.
    pub python: RefCell<Peer>,
    /// gsd's C library, where its source could be had.
    pub c: Option<RefCell<Peer>>,
    /// Of the frames that are written and read.
    pub percent: u64,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[
    ("write", write::write),
    ("flush", write::flush),
    ("read", read::read),
    ("find", find::find),
    ("open", open::open),
    ("ls", lens::list),
    ("log", log::log),
    ("hoomd", hoomd::decode),
    ("tensor", hoomd::time_series),
];

const POSITION: &str = "particles/position";
const OURS: &str = "holdall";
const C: &str = "gsd, C";
const PYTHON: &str = "gsd.fl, Python";
const CRATE: &str = "hoomd-gsd";

/// As in the peers.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

/// Whole numbers of two bits, so that sums are exact: the positions of `particles`, from any of 16 places on.
fn pool(particles: usize) -> Vec<f32> {
    let bits = (0..3 * particles as u64 + 64).map(|at| at.wrapping_mul(SPREAD) >> 40 & 3);
    bits.map(|bits| bits as f32).collect()
}

/// The sum, in 16 lanes, which any compiler puts into vector registers.
fn sum(values: &[f32]) -> f32 {
    let (blocks, rest) = values.as_chunks::<16>();
    let mut lanes = [0.0; 16];
    for block in blocks {
        for (lane, value) in lanes.iter_mut().zip(block) {
            *lane += value;
        }
    }
    lanes.iter().chain(rest).sum()
}

/// In which order things are visited.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Visit {
    Sequential,
    Random,
}

impl Visit {
    const BOTH: [Self; 2] = [Self::Sequential, Self::Random];

    const fn name(self) -> &'static str {
        match self {
            Self::Sequential => "sequential",
            Self::Random => "random",
        }
    }

    /// The `at`th of `count`.
    const fn index(self, at: u64, count: u64) -> u64 {
        match self {
            // No division where none is needed: it would take as long as half the search.
            Self::Sequential if at < count => at,
            Self::Sequential => at % count,
            Self::Random => (at.wrapping_mul(SPREAD) >> 32) % count,
        }
    }
}

impl Job<'_> {
    fn frames(&self, full: u64) -> u64 {
        (full * self.percent / 100).max(2)
    }

    fn python(&self, words: &[&str]) -> Result<Run> {
        Ok(self.python.borrow_mut().measure(words[0], &words[1..])?.into())
    }

    /// Adds the C library doing `words` to the contenders, if it is there.
    fn with_c<'a>(&'a self, group: &mut Group<'a>, name: &'static str, words: Vec<String>) {
        if let Some(c) = &self.c {
            group.contenders.push(Contender::new(name, move || {
                let words: Vec<&str> = words.iter().map(String::as_str).collect();
                c.borrow_mut().measure(words[0], &words[1..])
            }));
        } else {
            group.claims.retain(|claim| !matches!(claim, Claim::Speed(_, to, _) if *to == name));
        }
    }

    /// The path of the file `name`, made now if it is not there.
    fn made(&self, name: &str, make: impl FnOnce(&Path) -> Result<()>) -> Result<PathBuf> {
        let path = self.scratch.file(name);
        if !path.exists() {
            make(&path)?;
            self.scratch.settle()?;
        }
        Ok(path)
    }

    /// A trajectory as gsd itself lays it out: step and positions in each of `frames`.
    fn trajectory(&self, frames: u64, particles: usize) -> Result<PathBuf> {
        let name = format!("trajectory-{frames}-{particles}.gsd");
        self.made(&name, |path| {
            let words = [text(path)?, &frames.to_string(), &particles.to_string(), "0"];
            self.python.borrow_mut().measure("write", &words)?;
            Ok(())
        })
    }

    /// Frames with ten scalars each, `log/0` to `log/9`.
    fn scalars(&self, frames: u64) -> Result<PathBuf> {
        self.made(&format!("scalars-{frames}.gsd"), |path| {
            let names: Vec<String> = (0..find::NAMES).map(|at| format!("log/{at}")).collect();
            let mut writer = Writer::create(path, &quick(Commit::Every(100_000)))?;
            for frame in 0..frames {
                for name in &names {
                    writer.write_chunk(name, 1, 1, &[frame])?;
                }
                writer.end_frame()?;
            }
            Ok(writer.close()?)
        })
    }
}

/// Nothing waits for the disk: for files that are only made to be read.
fn quick(commit: Commit) -> WriterOptions {
    options(commit).with_durability(Durability::Cached)
}

fn options(commit: Commit) -> WriterOptions {
    WriterOptions::default().with_schema("bench", "hoomd", Version::new(1, 4)).with_commit(commit)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}

/// The words of a command.
fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}

/// A check of what was counted.
fn total(total: &f64) -> Result<Option<u64>> {
    Ok(Some(*total as u64))
}
