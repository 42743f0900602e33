//! A few items out of a chunk.

use anyhow::{Context as _, Result, ensure};
use blosc_chunk::Decoder;
use blosc2_pure_rs::compress::{DContext, DParams};

use super::data::Set;
use super::{Job, Setting, check, cpu, median, split};

/// Places that one round reads at.
const PLACES: usize = 400;

/// Items between two places: all over the chunk, in no order.
const STRIDE: usize = 104_729;

/// Reads of 1 to 64 items, at level 5 with shuffle, whose blocks are split into streams.
pub(super) fn items(job: &mut Job<'_>, sets: &[Set]) -> Result<String> {
    let mut text = "### Reading items of one chunk, level 5, shuffle: µs for each place\n\n".to_owned();
    text += "| data, codec, items | holdall | C-Blosc2 | × C | goal | blosc2-pure-rs |\n|---|---:|---:|---:|---|---:|\n";
    let mut ratios = Vec::new();
    for set in sets {
        for codec in ["blosclz", "lz4"] {
            for count in [1, 16, 64] {
                let [ours, theirs, pure] = places(job, set, codec, count)?;
                ratios.push(theirs / ours);
                text += &format!(
                    "| {}, {codec}, {count} | {:.2} | {:.2} | {:.2} | | {:.2} |\n",
                    set.name,
                    ours * 1e6,
                    theirs * 1e6,
                    theirs / ours,
                    pure * 1e6
                );
            }
        }
    }
    let mean = (ratios.iter().map(|ratio| ratio.ln()).sum::<f64>() / ratios.len() as f64).exp();
    let told = if mean >= 1.7 { "met" } else { "**missed**" };
    text += &format!("| geometric mean | | | {mean:.2} | ≥ 1.7: {told} | |\n");
    Ok(text)
}

fn places(job: &mut Job<'_>, set: &Set, codec: &str, count: usize) -> Result<[f64; 3]> {
    let chunks = job.chunks(set, Setting { codec, filter: "shuffle", level: 5, threads: 1 })?;
    let parts = split(&chunks.bytes)?;
    let chunk = parts.first().context("no chunk")?;
    let (mut decoder, pure) = (Decoder::new(), DContext::new(DParams::default()));
    let all = chunk.header().nbytes as usize / set.typesize;
    let places: Vec<usize> = (0..PLACES).map(|at| at * STRIDE % (all - count)).collect();
    let path = chunks.path.to_str().context("a path that is no text")?;
    let mut times = [const { Vec::new() }; 3];
    let mut out = vec![0; count * set.typesize];
    for round in 0..=job.rounds {
        let ours = cpu(|| {
            for place in &places {
                let start = place * set.typesize;
                decoder.decode_range(chunk, start..start + out.len(), &mut out)?;
            }
            Ok(())
        })?;
        let words = [count.to_string(), PLACES.to_string(), STRIDE.to_string()];
        let fields = job.peer.ask("getitem", &[path, &words[0], &words[1], &words[2]])?;
        let [seconds, sum] = fields.as_slice() else { anyhow::bail!("{fields:?}") };
        let slow = cpu(|| {
            for place in &places {
                pure.get_items_into(chunk.bytes(), *place, count, &mut out).map_err(anyhow::Error::msg)?;
            }
            Ok(())
        })?;
        if round == 0 {
            let mut all = 0_u64;
            for place in &places {
                let start = place * set.typesize;
                decoder.decode_range(chunk, start..start + out.len(), &mut out)?;
                ensure!(out == set.bytes[start..start + out.len()], "different values");
                all = all.wrapping_add(out.iter().map(|byte| u64::from(*byte)).sum());
            }
            ensure!(sum.parse::<u64>()? == all, "C-Blosc2 reads other values");
        } else {
            times[0].push(ours / PLACES as f64);
            times[1].push(seconds.parse()?);
            times[2].push(slow / PLACES as f64);
        }
    }
    let _ = check(&out);
    job.forget(&chunks)?;
    Ok(times.map(|mut times| median(&mut times)))
}
