//! ASDF files against Python asdf, the crate asdf-rs, and what numpy and OpenSSL take for the bytes alone.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result};
use asdf::writer::{ArraySpec, Plan, WriteOptions};
use asdf::yaml::Yaml;
use container_core::container::{Digests, ReadOptions};
use container_core::write::{Durability, Overwrite};

use crate::blosc::cpu;
use crate::harness::{Contender, Group, Run};
use crate::scratch::Scratch;
use interop::peer::Peer;

mod codecs;
mod data;
mod edit;
mod open;
mod read;
mod tree;
mod verify;
mod write;

/// Input of every group.
pub struct Job<'a> {
    /// Folder of the files.
    pub scratch: &'a Scratch,
    /// Python asdf.
    pub python: RefCell<Peer>,
    /// Bytes of a plain array; one that is compressed has a quarter of them.
    pub bytes: usize,
}

/// Makes groups that belong together.
pub type Groups = for<'a> fn(&'a Job<'a>) -> Result<Vec<Group<'a>>>;

/// All groups, by the word that selects them.
pub const GROUPS: &[(&str, Groups)] = &[
    ("open", open::open),
    ("read", read::read),
    ("borrow", read::borrow),
    ("verify", verify::verify),
    ("write", write::write),
    ("zlib", codecs::zlib),
    ("bzp2", codecs::bzp2),
    ("lz4", codecs::lz4),
    ("tree", tree::tree),
    ("inline", tree::inline),
    ("edit", edit::edit),
];

const OURS: &str = "holdall";
const OURS_TWO: &str = "holdall, 2 threads";
const CRATE: &str = "asdf-rs";
const PYTHON: &str = "Python asdf";

/// Clock of the measurement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Clock {
    /// That of the CPU, of one thread: other work on the machine does not disturb it.
    Cpu,
    /// Elapsed time.
    Wall,
}

impl Clock {
    const fn of(threads: usize) -> Self {
        if threads == 1 { Self::Cpu } else { Self::Wall }
    }
}

/// Runs `operation` and makes the check from its result, which is dropped after the clock has stopped.
fn timed<T>(
    clock: Clock,
    operation: impl FnOnce() -> Result<T>,
    check: impl FnOnce(&T) -> Result<Option<u64>>,
) -> Result<Run> {
    let mut result = None;
    let work = || {
        result = Some(operation()?);
        Ok(())
    };
    let seconds = match clock {
        Clock::Cpu => cpu(work)?,
        Clock::Wall => {
            let start = Instant::now();
            work()?;
            start.elapsed().as_secs_f64()
        }
    };
    Ok(Run { seconds, check: check(result.as_ref().context("no result")?)? })
}

/// The mean of `count` runs of an operation that is too short to be measured alone.
fn mean(count: u32, mut operation: impl FnMut() -> Result<()>) -> Result<Run> {
    let seconds = cpu(|| (0..count).try_for_each(|_| operation()))?;
    Ok(Run { seconds: seconds / f64::from(count), check: None })
}

/// Python doing `words`.
fn python<'a>(job: &'a Job<'a>, name: &'static str, words: &[&str]) -> Contender<'a> {
    let words: Vec<String> = words.iter().map(|word| (*word).to_owned()).collect();
    Contender::new(name, move || {
        let words: Vec<&str> = words.iter().map(String::as_str).collect();
        job.python(&words)
    })
}

impl Job<'_> {
    fn python(&self, words: &[&str]) -> Result<Run> {
        Ok(self.python.borrow_mut().measure(words[0], &words[1..])?.into())
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
}

/// Plain bytes are compared with nothing, as the others do by default.
fn unproved(threads: usize) -> ReadOptions {
    let mut options = ReadOptions::default().with_threads(threads);
    options.digests = Digests::Ignore;
    options
}

/// Nothing waits for the disk.
fn cached(threads: usize) -> WriteOptions {
    let mut options = WriteOptions::default();
    options.threads = threads;
    options.durability = Durability::Cached;
    options
}

/// Writes a file of one array, `data`.
fn write_array(path: &Path, spec: &ArraySpec, bytes: &[u8], options: WriteOptions) -> Result<()> {
    let mut plan = Plan::new(options);
    let node = plan.array(spec)?;
    let mut writer = plan.create(Yaml::mapping([("data", node)]), path, Overwrite::Refuse)?;
    writer.write(bytes)?;
    Ok(writer.finish()?)
}

fn text(path: &Path) -> Result<&str> {
    path.to_str().context("a path that is no text")
}
