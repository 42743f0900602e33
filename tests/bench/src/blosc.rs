//! Blosc chunks against C-Blosc2, as python-blosc2 brings it along, and the crate `blosc2-pure-rs`.
//!
//! Everybody decodes the chunks that C-Blosc2 made. One thread is measured in CPU time of the thread, which other work on
//! the machine does not disturb; two threads in wall time.

use std::fs;
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use rustix::time::{ClockId, clock_gettime};

use crate::scratch::Scratch;
use interop::peer::Peer;

mod data;
mod items;
mod matrix;
mod threads;

pub(crate) use data::field;

/// Input of every part.
pub struct Job<'a> {
    /// Folder of the files.
    pub scratch: &'a Scratch,
    /// C-Blosc2.
    pub peer: Peer,
    /// Bytes of each data set.
    pub bytes: usize,
    /// Rounds that count.
    pub rounds: usize,
}

/// Bytes of a chunk.
const CHUNK: usize = 4 << 20;

/// Runs the parts that are wanted, and shows each table as soon as it is there.
///
/// # Errors
/// Those of the contenders, and results that differ.
pub fn run(job: &mut Job<'_>, wants: &dyn Fn(&str) -> bool, show: &dyn Fn(&str)) -> Result<Vec<String>> {
    let sets = data::make(job)?;
    let mut tables = Vec::new();
    let mut keep = |table: String| {
        show(&table);
        tables.push(table);
    };
    let mut summary = matrix::Summary::default();
    for codec in ["blosclz", "lz4", "zlib", "zstd"] {
        if wants(codec) {
            keep(matrix::codec(job, &sets, codec, &mut summary)?);
        }
    }
    if !summary.is_empty() {
        keep(summary.table());
    }
    if wants("items") {
        keep(items::items(job, &sets)?);
    }
    if wants("threads") {
        keep(threads::threads(job, &sets)?);
    }
    Ok(tables)
}

/// Parameters of the chunks.
#[derive(Clone, Copy)]
struct Setting<'a> {
    codec: &'a str,
    filter: &'a str,
    level: u8,
    threads: usize,
}

/// Chunks of a data set, written by C-Blosc2.
struct Chunks {
    path: PathBuf,
    bytes: Vec<u8>,
}

impl Job<'_> {
    /// Has C-Blosc2 encode the first `len` bytes of `set`; the time, and the chunks' length.
    fn theirs_encode(&mut self, set: &data::Set, setting: Setting<'_>, target: &str) -> Result<(f64, usize)> {
        let (typesize, level) = (set.typesize.to_string(), setting.level.to_string());
        let (threads, chunk) = (setting.threads.to_string(), CHUNK.to_string());
        let args = [&set.path, &typesize, setting.codec, setting.filter, &level, &threads, &chunk, target];
        let fields = self.peer.ask("encode", &args)?;
        let [seconds, len] = fields.as_slice() else { anyhow::bail!("{fields:?}") };
        Ok((seconds.parse()?, len.parse()?))
    }

    /// The chunks that C-Blosc2 makes.
    fn chunks(&mut self, set: &data::Set, setting: Setting<'_>) -> Result<Chunks> {
        let path = self.scratch.fresh("chunks");
        self.theirs_encode(set, setting, path.to_str().context("a path that is no text")?)?;
        Ok(Chunks { bytes: fs::read(&path)?, path })
    }

    /// Has C-Blosc2 decode them.
    fn theirs_decode(&mut self, chunks: &Chunks, threads: usize) -> Result<(f64, u64)> {
        let path = chunks.path.to_str().context("a path that is no text")?;
        let fields = self.peer.ask("decode", &[path, &threads.to_string()])?;
        let [seconds, check] = fields.as_slice() else { anyhow::bail!("{fields:?}") };
        Ok((seconds.parse()?, check.parse()?))
    }

    /// Ends the peer's hold on files, and removes the chunks.
    fn forget(&mut self, chunks: &Chunks) -> Result<()> {
        self.peer.ask("forget", &[])?;
        Ok(fs::remove_file(&chunks.path)?)
    }
}

/// The chunks that lie one after the other in `bytes`.
fn split(bytes: &[u8]) -> Result<Vec<blosc_chunk::Chunk<'_>>> {
    let mut chunks = Vec::new();
    let mut rest = bytes;
    while !rest.is_empty() {
        let chunk = blosc_chunk::Chunk::parse(rest)?;
        rest = &rest[chunk.bytes().len()..];
        chunks.push(chunk);
    }
    ensure!(!chunks.is_empty(), "no chunks");
    Ok(chunks)
}

/// Returns the parameters of our chunks.
fn params(set: &data::Set, setting: Setting<'_>) -> Result<blosc_chunk::Params> {
    Ok(blosc_chunk::Params {
        blosc_version: blosc_chunk::BloscVersion::Blosc2,
        compressor: blosc_chunk::Compressor::from_name(setting.codec).context("no such codec")?,
        codec_meta: 0,
        level: setting.level,
        typesize: set.typesize,
        filters: match setting.filter {
            "none" => blosc_chunk::Pipeline::none(),
            filter => blosc_chunk::Pipeline::parse_words(&[filter])?,
        },
        split: blosc_chunk::SplitMode::ForwardCompat,
        blocksize: None,
        dictionary: false,
        threads: setting.threads,
    })
}

/// CPU seconds that this thread takes for `operation`.
pub(crate) fn cpu(operation: impl FnOnce() -> Result<()>) -> Result<f64> {
    let now = || {
        let time = clock_gettime(ClockId::ThreadCPUTime);
        Duration::new(time.tv_sec.cast_unsigned(), u32::try_from(time.tv_nsec).unwrap_or(0))
    };
    let start = now();
    operation()?;
    Ok((now() - start).as_secs_f64())
}

/// The sum of all whole words.
fn check(bytes: &[u8]) -> u64 {
    let (words, _) = bytes.as_chunks::<8>();
    words.iter().fold(0, |sum, word| sum.wrapping_add(u64::from_le_bytes(*word)))
}

/// The middle of some times.
fn median(times: &mut [f64]) -> f64 {
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
