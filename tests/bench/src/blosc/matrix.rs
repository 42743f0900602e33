//! Codec by filter by level by data: encode and decode, one thread.

use anyhow::{Result, ensure};
use blosc_chunk::{Decoder, Encoder};
use blosc2_pure_rs::compress::{CContext, CParams, DContext, DParams};

use super::data::Set;
use super::{CHUNK, Job, Setting, check, cpu, median, params, split};

/// Results of all codecs: `(codec, filter)` with the speeds relative to C-Blosc2's.
#[derive(Default)]
pub(super) struct Summary(Vec<Cell>);

/// The results of one codec, filter, level and data set; seconds are medians.
struct Cell {
    codec: String,
    filter: String,
    bytes: usize,
    ours: Sides,
    theirs: Sides,
    pure: Sides,
}

/// Seconds and stored bytes of one contender.
#[derive(Default)]
struct Sides {
    encode: f64,
    decode: f64,
    stored: usize,
}

/// The table of one codec.
pub(super) fn codec(job: &mut Job<'_>, sets: &[Set], codec: &str, summary: &mut Summary) -> Result<String> {
    let mut text = format!("### {codec}: one thread, chunks of {} MiB\n\n", CHUNK >> 20);
    text += "| data, filter, level | encode GB/s (× C) | decode GB/s (× C) | ratio (C's) | blosc2-pure-rs encode, decode × C |\n";
    text += "|---|---:|---:|---:|---:|\n";
    for set in sets {
        for filter in ["shuffle", "bitshuffle"] {
            for level in [1, 5, 9] {
                let slow = level == 9 && matches!(codec, "zlib" | "zstd");
                // A quarter of a minute for each round of the slowest is enough.
                let (len, rounds) =
                    if slow { (CHUNK, 2.min(job.rounds)) } else { (set.bytes.len(), job.rounds) };
                let head = set.head(job, len)?;
                let cell = cell(job, &head, Setting { codec, filter, level, threads: 1 }, rounds)?;
                std::fs::remove_file(&head.path)?;
                text += &cell.line(set.name, level);
                summary.0.push(cell);
            }
        }
    }
    Ok(text)
}

fn cell(job: &mut Job<'_>, set: &Set, setting: Setting<'_>, rounds: usize) -> Result<Cell> {
    let chunks = job.chunks(set, setting)?;
    let parts = split(&chunks.bytes)?;
    let (mut decoder, mut encoder) = (Decoder::new(), Encoder::new(params(set, setting)?)?);
    let (mut out, mut made) = (vec![1; set.bytes.len()], Vec::new());
    let mut times = [const { Vec::new() }; 6];
    let (mut ours, mut theirs, mut pure) = (Sides::default(), Sides::default(), Sides::default());
    for round in 0..=rounds {
        let (encoded, stored) = job.theirs_encode(set, setting, "-")?;
        theirs.stored = stored;
        made.clear();
        let our_encode = cpu(|| {
            for piece in set.bytes.chunks(CHUNK) {
                encoder.encode(piece, &mut made)?;
            }
            Ok(())
        })?;
        ours.stored = made.len();
        let (pure_encode, stored) = pure_encode(set, setting)?;
        pure.stored = stored;
        let (decoded, theirs_check) = job.theirs_decode(&chunks, 1)?;
        let our_decode = cpu(|| {
            let mut rest = &mut out[..];
            for part in &parts {
                let (now, after) = rest.split_at_mut(part.header().nbytes as usize);
                decoder.decode(part, now)?;
                rest = after;
            }
            Ok(())
        })?;
        ensure!(out == set.bytes && theirs_check == check(&out), "different values");
        let pure_decode = pure_decode(&parts, &mut out)?;
        if round > 0 {
            let seconds = [our_encode, our_decode, encoded, decoded, pure_encode, pure_decode];
            times.iter_mut().zip(seconds).for_each(|(times, seconds)| times.push(seconds));
        }
    }
    prove(set, &made)?;
    job.forget(&chunks)?;
    [ours.encode, ours.decode, theirs.encode, theirs.decode, pure.encode, pure.decode] =
        times.map(|mut times| median(&mut times));
    let (codec, filter) = (setting.codec.to_owned(), setting.filter.to_owned());
    Ok(Cell { codec, filter, bytes: set.bytes.len(), ours, theirs, pure })
}

/// Ours are not only small and fast.
fn prove(set: &Set, made: &[u8]) -> Result<()> {
    let mut back = Vec::new();
    for part in split(made)? {
        let start = back.len();
        back.resize(start + part.header().nbytes as usize, 0);
        Decoder::new().decode(&part, &mut back[start..])?;
    }
    ensure!(back == set.bytes, "our chunks hold other values");
    Ok(())
}

fn pure_encode(set: &Set, setting: Setting<'_>) -> Result<(f64, usize)> {
    let params = params(set, setting)?;
    let context = CContext::new(CParams {
        compcode: params.compressor.0,
        clevel: setting.level,
        typesize: i32::try_from(set.typesize)?,
        filters: params.filters.0.map(|filter| filter.id),
        ..CParams::default()
    });
    let mut out = vec![1; CHUNK + 64];
    let mut stored = 0;
    let seconds = cpu(|| {
        for piece in set.bytes.chunks(CHUNK) {
            stored += context.compress_into(piece, &mut out).map_err(anyhow::Error::msg)?;
        }
        Ok(())
    })?;
    Ok((seconds, stored))
}

fn pure_decode(parts: &[blosc_chunk::Chunk<'_>], out: &mut [u8]) -> Result<f64> {
    let context = DContext::new(DParams::default());
    cpu(|| {
        let mut rest = out;
        for part in parts {
            let (now, after) = rest.split_at_mut(part.header().nbytes as usize);
            context.decompress_into(part.bytes(), now).map_err(anyhow::Error::msg)?;
            rest = after;
        }
        Ok(())
    })
}

impl Cell {
    fn line(&self, set: &str, level: u8) -> String {
        let rate = |seconds: f64| self.bytes as f64 / seconds / 1e9;
        let ratio = |sides: &Sides| self.bytes as f64 / sides.stored as f64;
        format!(
            "| {set}, {}, {level} | {:.2} ({:.2}) | {:.2} ({:.2}) | {:.2} ({:.2}) | {:.2}, {:.2} |\n",
            self.filter,
            rate(self.ours.encode),
            self.theirs.encode / self.ours.encode,
            rate(self.ours.decode),
            self.theirs.decode / self.ours.decode,
            ratio(&self.ours),
            ratio(&self.theirs),
            self.theirs.encode / self.pure.encode,
            self.theirs.decode / self.pure.decode,
        )
    }
}

impl Summary {
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Geometric means over data and levels, with the goals.
    pub(super) fn table(&self) -> String {
        let mut text = "### All data and levels: geometric means against C-Blosc2, one thread\n\n".to_owned();
        text += "| codec, filter | encode | goal | decode | goal | stored bytes | blosc2-pure-rs encode, decode |\n";
        text += "|---|---:|---|---:|---|---:|---:|\n";
        for codec in ["blosclz", "lz4", "zlib", "zstd"] {
            for filter in ["shuffle", "bitshuffle"] {
                let cells: Vec<&Cell> =
                    self.0.iter().filter(|cell| cell.codec == codec && cell.filter == filter).collect();
                if !cells.is_empty() {
                    text += &line(codec, filter, &cells);
                }
            }
        }
        text
    }
}

fn line(codec: &str, filter: &str, cells: &[&Cell]) -> String {
    let mean = |of: &dyn Fn(&Cell) -> f64| {
        (cells.iter().map(|cell| of(cell).ln()).sum::<f64>() / cells.len() as f64).exp()
    };
    let encode = mean(&|cell| cell.theirs.encode / cell.ours.encode);
    let decode = mean(&|cell| cell.theirs.decode / cell.ours.decode);
    let encode_goal = if codec == "blosclz" { 1.15 } else { 0.95 };
    let bits = filter == "bitshuffle" && matches!(codec, "blosclz" | "lz4") && has_gfni();
    let decode_goal = if bits {
        1.3
    } else if codec == "zstd" {
        0.97
    } else {
        1.0
    };
    let told =
        |value: f64, goal: f64| format!("≥ {goal}: {}", if value >= goal { "met" } else { "**missed**" });
    format!(
        "| {codec}, {filter} | {encode:.2} × | {} | {decode:.2} × | {} | {:.3} × | {:.2} ×, {:.2} × |\n",
        told(encode, encode_goal),
        told(decode, decode_goal),
        mean(&|cell| cell.ours.stored as f64 / cell.theirs.stored as f64),
        mean(&|cell| cell.theirs.encode / cell.pure.encode),
        mean(&|cell| cell.theirs.decode / cell.pure.decode),
    )
}

#[cfg(target_arch = "x86_64")]
fn has_gfni() -> bool {
    std::arch::is_x86_feature_detected!("gfni")
}

#[cfg(not(target_arch = "x86_64"))]
fn has_gfni() -> bool {
    false
}
