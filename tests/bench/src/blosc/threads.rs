//! Two threads: ours take a chunk each, C-Blosc2's share the blocks of one chunk.

use std::time::Instant;

use anyhow::{Result, ensure};
use blosc_chunk::{Decoder, Encoder};

use super::data::Set;
use super::{CHUNK, Job, Setting, median, params, split};

const THREADS: usize = 2;

/// Level 5, shuffle and bitshuffle.
pub(super) fn threads(job: &mut Job<'_>, sets: &[Set]) -> Result<String> {
    let mut text = "### Two threads, level 5: GB/s of wall time (× C)\n\n".to_owned();
    text += "| data, codec, filter | encode | decode |\n|---|---:|---:|\n";
    let (mut encodes, mut decodes) = (Vec::new(), Vec::new());
    for set in sets {
        for codec in ["blosclz", "lz4", "zlib", "zstd"] {
            for filter in ["shuffle", "bitshuffle"] {
                let [our_encode, our_decode, encode, decode] =
                    cell(job, set, Setting { codec, filter, level: 5, threads: THREADS })?;
                let rate = |seconds: f64| set.bytes.len() as f64 / seconds / 1e9;
                text += &format!(
                    "| {}, {codec}, {filter} | {:.2} ({:.2}) | {:.2} ({:.2}) |\n",
                    set.name,
                    rate(our_encode),
                    encode / our_encode,
                    rate(our_decode),
                    decode / our_decode
                );
                encodes.push(encode / our_encode);
                decodes.push(decode / our_decode);
            }
        }
    }
    let mean =
        |ratios: &[f64]| (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let told = if mean(&decodes) >= 1.2 { "met" } else { "**missed**" };
    text += &format!(
        "| geometric mean against C-Blosc2 | {:.2} × | {:.2} × (≥ 1.2: {told}) |\n",
        mean(&encodes),
        mean(&decodes)
    );
    Ok(text)
}

fn cell(job: &mut Job<'_>, set: &Set, setting: Setting<'_>) -> Result<[f64; 4]> {
    let chunks = job.chunks(set, setting)?;
    let parts = split(&chunks.bytes)?;
    let mut out = vec![1; set.bytes.len()];
    let mut times = [const { Vec::new() }; 4];
    let encoders = || -> Result<Vec<Encoder>> {
        (0..THREADS).map(|_| Ok(Encoder::new(params(set, Setting { threads: 1, ..setting })?)?)).collect()
    };
    let (mut encoders, mut decoders) =
        (encoders()?, [const { None }; THREADS].map(|_: Option<()>| Decoder::new()));
    for round in 0..=job.rounds {
        let start = Instant::now();
        encode(&mut encoders, &set.bytes)?;
        let our_encode = start.elapsed().as_secs_f64();
        let (encoded, _) = job.theirs_encode(set, setting, "-")?;
        let start = Instant::now();
        decode(&mut decoders, &parts, &mut out)?;
        let our_decode = start.elapsed().as_secs_f64();
        ensure!(out == set.bytes, "different values");
        let (decoded, _) = job.theirs_decode(&chunks, THREADS)?;
        if round > 0 {
            let seconds = [our_encode, our_decode, encoded, decoded];
            times.iter_mut().zip(seconds).for_each(|(times, seconds)| times.push(seconds));
        }
    }
    job.forget(&chunks)?;
    Ok(times.map(|mut times| median(&mut times)))
}

fn encode(encoders: &mut [Encoder], bytes: &[u8]) -> Result<()> {
    let pieces: Vec<&[u8]> = bytes.chunks(CHUNK).collect();
    std::thread::scope(|scope| {
        let share = pieces.len().div_ceil(encoders.len());
        let workers = encoders.iter_mut().zip(pieces.chunks(share)).map(|(encoder, pieces)| {
            scope.spawn(move || -> Result<()> {
                let mut made = Vec::new();
                for piece in pieces {
                    made.clear();
                    encoder.encode(piece, &mut made)?;
                }
                Ok(())
            })
        });
        let workers: Vec<_> = workers.collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })
}

fn decode(decoders: &mut [Decoder], parts: &[blosc_chunk::Chunk<'_>], out: &mut [u8]) -> Result<()> {
    std::thread::scope(|scope| {
        let share = parts.len().div_ceil(decoders.len());
        let mut rest = out;
        let mut workers = Vec::new();
        for (decoder, parts) in decoders.iter_mut().zip(parts.chunks(share)) {
            let len = parts.iter().map(|part| part.header().nbytes as usize).sum();
            let (own, after) = rest.split_at_mut(len);
            rest = after;
            workers.push(scope.spawn(move || -> Result<()> {
                let mut rest = own;
                for part in parts {
                    let (now, after) = rest.split_at_mut(part.header().nbytes as usize);
                    decoder.decode(part, now)?;
                    rest = after;
                }
                Ok(())
            }));
        }
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })
}
